/* What histograms of doubles should hold: the values themselves, one by one, their buckets found by taking fractions apart, and
 * their sum in a number as wide as all doubles. */
#ifndef DOUBLES_H
#define DOUBLES_H

#include "buffers.h"
#include "exact_sum.h"

/* Observations of one interval. */
struct observations {
    struct seen {
        double value;
        uint64_t count;
    } *list;
    size_t length, room;
    uint64_t not_finite;
    struct exact_sum sum;
    double min, max;
    /* Sum and extremes are those of the values, not those of the middles of their buckets. */
    int exact;
};

struct double_model {
    /* Bits of the mantissa that tell buckets apart. */
    int bits;
    int dotnet;
    /* Memory may run out. */
    int limited;
    struct observations now;
};

struct double_snapshot {
    picollo_double_snapshot *handle;
    int bits, dotnet, limited;
    struct observations seen;
};

#define DOUBLES 3

struct doubles {
    picollo_double_histogram *histograms[DOUBLES];
    struct double_model *models[DOUBLES];
    struct double_snapshot snapshots[DOUBLES];
    struct double_model *all[MODELS];
    size_t number_of_all;
};

struct doubles *doubles_of(struct world *world);

static inline int bits_of(double relative_error)
{
    int bits = 0;
    if (!(relative_error > 0)) relative_error = 0.001;
    if (relative_error < 1e-4) relative_error = 1e-4;
    if (relative_error > 0.1) relative_error = 0.1;
    while (ldexp(0.5, -bits) > relative_error) bits++;
    return bits;
}

/* The bucket of a finite value. */
static inline picollo_double_bucket double_bucket_of(double value, int bits)
{
    picollo_double_bucket bucket = {0, 0, 0, 0};
    int exponent;
    const double fraction = frexp(fabs(value), &exponent);
    double width, half;
    if (value == 0) return bucket;
    bucket.lower = ldexp(floor(ldexp(fraction, bits + 1)), exponent - bits - 1);
    width = ldexp(1, exponent - bits - 1);
    half = ldexp(1, exponent - bits - 2);
    /* Buckets of subnormal numbers may have one value alone, or no other one in the middle. */
    bucket.upper = exponent - bits - 1 < -1074 ? bucket.lower : nextafter(bucket.lower + width, 0);
    bucket.midpoint = exponent - bits - 2 < -1074 ? bucket.lower : bucket.lower + half;
    if (value < 0) {
        const double lower = bucket.lower;
        bucket.lower = -bucket.upper;
        bucket.upper = -lower;
        bucket.midpoint = -bucket.midpoint;
    }
    return bucket;
}

static inline void forget_observations(struct observations *observations)
{
    free(observations->list);
    memset(observations, 0, sizeof *observations);
}

static inline void append_seen(struct observations *to, double value, uint64_t count)
{
    if (to->length == to->room) {
        to->room = to->room == 0 ? 16 : 2 * to->room;
        to->list = (struct seen *)realloc(to->list, to->room * sizeof *to->list);
        if (to->list == NULL) abort();
    }
    to->list[to->length++] = (struct seen){value, count};
}

static inline int has_any(const struct observations *observations)
{
    return observations->length > 0;
}

static inline void observe(struct observations *to, double value, uint64_t count)
{
    if (count == 0) return;
    if (!isfinite(value)) {
        to->not_finite += count;
        return;
    }
    to->min = has_any(to) ? fmin(to->min, value) : value;
    to->max = has_any(to) ? fmax(to->max, value) : value;
    append_seen(to, value, count);
    add_exactly(&to->sum, value, count);
}

static inline void copy_observations(struct observations *to, const struct observations *from)
{
    forget_observations(to);
    *to = *from;
    to->list = NULL;
    to->length = to->room = 0;
    for (size_t i = 0; i < from->length; i++) append_seen(to, from->list[i].value, from->list[i].count);
}

/* Adds what lies in buckets of so many bits: each count goes where the middle of its bucket is. */
static inline void merge_observations(struct observations *to, const struct observations *other, int bits)
{
    const int both_exact = to->exact && other->exact;
    const struct observations before = *to;
    for (size_t i = 0; i < other->length; i++) observe(to, double_bucket_of(other->list[i].value, bits).midpoint, other->list[i].count);
    to->not_finite += other->not_finite;
    if (both_exact && has_any(other)) {
        to->min = has_any(&before) ? fmin(before.min, other->min) : other->min;
        to->max = has_any(&before) ? fmax(before.max, other->max) : other->max;
        to->sum = before.sum;
        add_sums(&to->sum, &other->sum);
    }
}

static inline uint64_t count_observations(const struct observations *observations)
{
    uint64_t count = 0;
    for (size_t i = 0; i < observations->length; i++) count += observations->list[i].count;
    return count;
}

#define NEARLY(expected, actual, tolerance)                                                             \
    do {                                                                                                \
        const long double expected_ = (expected), actual_ = (actual);                                   \
        if (!(fabsl(expected_ - actual_) <= (long double)(tolerance)) && expected_ != actual_)          \
            FAIL("%s is %.20Lg, expected %.20Lg", #actual, actual_, expected_);                         \
    } while (0)

/* Whether a value stands for the observation of a number, counted from 1: within the error, and its bucket. */
static inline void check_observation(struct world *world, const struct observations *sorted, int bits, uint64_t target, double value)
{
    size_t at = 0;
    for (uint64_t sum = sorted->list[0].count; sum < target; sum += sorted->list[++at].count) {}
    const double meant = sorted->list[at].value;
    const picollo_double_bucket bucket = double_bucket_of(meant, bits);
    /* Exact extremes are nearer to the truth than what a merge of coarser buckets has left. */
    if (sorted->exact && ((value == sorted->min && bucket.midpoint < value) || (value == sorted->max && bucket.midpoint > value))) return;
    REQUIRE(bucket.lower <= value && value <= bucket.upper);
    NEARLY(meant, value, ldexpl(0.5L, -bits) * fabsl(meant));
}

static inline uint64_t target_of(uint64_t count, int dotnet, uint64_t of_1024)
{
    if (dotnet) {
        const double number = floor((double)of_1024 / 1024 * (double)count);
        return number >= (double)count ? count : (uint64_t)number + 1;
    }
    const uint64_t target = (uint64_t)(((unsigned __int128)of_1024 * count + 1023) / 1024);
    return target == 0 ? 1 : target;
}

#endif /* DOUBLES_H */
