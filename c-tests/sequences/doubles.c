/* Histograms of doubles and their snapshots, of all finite values there are. */
#include "doubles.h"

#include <pthread.h>

static const double errors[] = {0.1, 0.05, 0.01, 0.001, 0.0001, 0, -1, NAN, 5};

struct doubles *doubles_of(struct world *world)
{
    if (world->doubles == NULL) world->doubles = (struct doubles *)calloc(1, sizeof *world->doubles);
    if (world->doubles == NULL) abort();
    return world->doubles;
}

static int by_value(const void *a, const void *b)
{
    const double first = ((const struct seen *)a)->value, second = ((const struct seen *)b)->value;
    return (first > second) - (first < second);
}

/* Sorts the observations, as the checks below want them. */
static void check_statistics(struct world *world, struct observations *observations, int bits, const picollo_double_statistics *statistics)
{
    const uint64_t count = count_observations(observations);
    struct exact_sum of_buckets;
    long double mean, squares = 0, largest = 0;
    if (has_any(observations)) qsort(observations->list, observations->length, sizeof *observations->list, by_value);
    SAME(count, statistics->count);
    SAME(observations->not_finite, statistics->not_finite);
    SAME(0, statistics->lost);
    REQUIRE(statistics->relative_error == ldexp(0.5, -bits));
    if (count == 0) {
        REQUIRE(statistics->sum == 0 && isnan(statistics->min) && isnan(statistics->max) && isnan(statistics->mean) && isnan(statistics->stddev));
        return;
    }
    memset(&of_buckets, 0, sizeof of_buckets);
    for (size_t i = 0; i < observations->length; i++) {
        add_exactly(&of_buckets, double_bucket_of(observations->list[i].value, bits).midpoint, observations->list[i].count);
    }
    mean = rounded_sum(&of_buckets, 0) / count;
    for (size_t i = 0; i < observations->length; i++) {
        const long double middle = double_bucket_of(observations->list[i].value, bits).midpoint;
        squares += observations->list[i].count * (middle - mean) * (middle - mean);
        largest = fmaxl(largest, fabsl(middle));
    }
    NEARLY(sqrtl(squares / count), statistics->stddev, 1e-9L * sqrtl(squares / count) + 1e-15L * largest + 1e-323L);
    const struct exact_sum *const sum = observations->exact ? &observations->sum : &of_buckets;
    NEARLY(rounded_sum(sum, 1), statistics->sum, 0);
    mean = rounded_sum(sum, 0) / count;
    NEARLY(mean, statistics->mean, 4e-16L * fabsl(mean) + 1e-323L);
    if (observations->exact) {
        REQUIRE(statistics->min == observations->min && statistics->max == observations->max);
    } else {
        REQUIRE(statistics->min == double_bucket_of(observations->list[0].value, bits).midpoint);
        REQUIRE(statistics->max == double_bucket_of(observations->list[observations->length - 1].value, bits).midpoint);
    }
}

static void check_summary(struct world *world, struct double_snapshot *snapshot)
{
    static const double ranks[] = {0, 1, 5, 10, 25, 50, 75, 90, 92.5, 95, 97.5, 99, 99.9, 99.99, 99.999, 100};
    picollo_double_summary summary;
    const uint64_t count = count_observations(&snapshot->seen);
    const uint32_t format = (uint32_t)choose(world, 6);
    const char *const title = any_title(world);
    char *text;
    size_t length;
    EXPECT(PICOLLO_OK, picollo_double_snapshot_summary(snapshot->handle, &summary));
    if (!snapshot->limited) {
        check_statistics(world, &snapshot->seen, snapshot->bits, &summary.statistics);
        for (size_t i = 0; i < PICOLLO_SUMMARY_PERCENTILES; i++) {
            const picollo_double_percentile *const percentile = &summary.percentiles[i];
            REQUIRE(percentile->rank == ranks[i]);
            REQUIRE(count == 0 ? percentile->target_count == 0 && isnan(percentile->value) : percentile->target_count >= 1 && percentile->target_count <= count);
            if (count == 0) continue;
            if (!snapshot->dotnet && ranks[i] == floor(ranks[i])) {
                const uint64_t target = (uint64_t)(((unsigned __int128)count * (unsigned)ranks[i] + 99) / 100);
                SAME(target == 0 ? 1 : target, percentile->target_count);
            }
            check_observation(world, &snapshot->seen, snapshot->bits, percentile->target_count, percentile->value);
        }
    }
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, length, picollo_double_summary_format(&summary, NO_TEXT, format, NULL, 0, &length));
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, length, picollo_double_summary_format(&summary, title, 6 + format, NULL, 0, &length));
#define FORMAT(buffer, capacity, length) picollo_double_summary_format(&summary, title, format, buffer, capacity, length)
    if (rarely(world, 4)) {
        FORMATS_INTO(text, FORMAT);
        check_form(world, format, text);
        free(text);
    }
}

static void check_buckets(struct world *world, struct double_snapshot *snapshot)
{
    const struct observations *const seen = &snapshot->seen;
    picollo_double_bucket *buckets;
    picollo_double_statistics statistics;
    size_t length, at = 0;
#define LIST(out, capacity, length) picollo_double_snapshot_buckets(snapshot->handle, out, capacity, length)
    LISTS(buckets, length, LIST);
    EXPECT(PICOLLO_OK, picollo_double_snapshot_statistics(snapshot->handle, &statistics));
    if (snapshot->limited) {
        /* What was lost is in nothing else; nothing is lost untold. */
        uint64_t count = 0;
        for (size_t i = 0; i < length; i++) count += buckets[i].count;
        SAME(statistics.count, count);
        SAME(count_observations(seen), statistics.count + statistics.lost);
        SAME(seen->not_finite, statistics.not_finite);
        if (count > 0) {
            REQUIRE(buckets[0].lower <= statistics.min && statistics.min <= buckets[0].upper);
            REQUIRE(buckets[length - 1].lower <= statistics.max && statistics.max <= buckets[length - 1].upper);
        }
        free(buckets);
        return;
    }
    for (size_t i = 0; i < seen->length; at++) {
        const picollo_double_bucket expected = double_bucket_of(seen->list[i].value, snapshot->bits);
        uint64_t count = 0;
        for (; i < seen->length && seen->list[i].value <= expected.upper; i++) count += seen->list[i].count;
        REQUIRE(at < length && buckets[at].lower == expected.lower && buckets[at].upper == expected.upper && buckets[at].midpoint == expected.midpoint);
        SAME(count, buckets[at].count);
    }
    SAME(at, length);
    free(buckets);
}

static void check_quantiles(struct world *world, struct double_snapshot *snapshot)
{
    static const double bad[] = {-0.001, 1.001, NAN, INFINITY, -INFINITY};
    uint64_t of_1024[9];
    double quantiles[9] = {0}, values[9];
    const size_t length = (size_t)choose(world, 9);
    const uint64_t count = count_observations(&snapshot->seen);
    for (size_t i = 0; i < length; i++) quantiles[i] = (double)(of_1024[i] = choose(world, 1025)) / 1024;
    if (snapshot->limited) return;
    memset(values, UNTOUCHED, sizeof values);
    EXPECT(count == 0 && length > 0 ? PICOLLO_ERR_EMPTY : PICOLLO_OK, picollo_double_snapshot_quantiles(snapshot->handle, quantiles, length, values));
    REQUIRE(is_untouched(values, count == 0 ? 0 : length * sizeof *values, sizeof values));
    for (size_t i = 0; i < length && count > 0; i++) {
        check_observation(world, &snapshot->seen, snapshot->bits, target_of(count, snapshot->dotnet, of_1024[i]), values[i]);
    }
    quantiles[length] = bad[choose(world, 5)];
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, values, picollo_double_snapshot_quantiles(snapshot->handle, quantiles, length + 1, values));
}

static void check(struct world *world, struct double_snapshot *snapshot)
{
    check_summary(world, snapshot);
    check_buckets(world, snapshot);
    check_quantiles(world, snapshot);
}

static void op_create(struct world *world)
{
    struct doubles *const doubles = doubles_of(world);
    const size_t slot = (size_t)choose(world, DOUBLES);
    picollo_double_options options = {.struct_size = sizeof options};
    picollo_double_histogram *histogram = NULL;
    struct double_model *model;
    size_t empty = 0;
    options.relative_error = errors[choose(world, sizeof errors / sizeof *errors)];
    options.flags = (uint32_t)choose(world, 4);
    if (doubles->number_of_all == MODELS) return;
    if (rarely(world, 4)) {
        /* Of those with a limit: at least what an empty one takes. */
        EXPECT(PICOLLO_OK, picollo_double_histogram_create(&options, &histogram));
        EXPECT(PICOLLO_OK, picollo_double_histogram_footprint(histogram, &empty));
        picollo_double_histogram_free(histogram);
        options.max_bytes = 1 + choose(world, empty - 1);
        REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, histogram, picollo_double_histogram_create(&options, &histogram));
        options.max_bytes = empty + choose(world, 40000);
    }
    if (rarely(world, 8)) {
        picollo_double_options bad = options;
        if (rarely(world, 2)) bad.struct_size = (uint32_t)choose(world, sizeof bad);
        else bad.flags |= 4u << choose(world, 30);
        REFUSED(bad.flags < 4 ? PICOLLO_ERR_INVALID_ARGUMENT : PICOLLO_ERR_UNSUPPORTED, histogram, picollo_double_histogram_create(&bad, &histogram));
    }
    EXPECT(PICOLLO_OK, picollo_double_histogram_create(&options, &histogram));
    model = (struct double_model *)calloc(1, sizeof *model);
    if (model == NULL) abort();
    model->bits = bits_of(options.relative_error);
    model->dotnet = (options.flags & PICOLLO_DOUBLE_DOTNET_RANKS) != 0;
    model->limited = options.max_bytes != 0;
    model->now.exact = (options.flags & PICOLLO_DOUBLE_EXACT_SUM) != 0;
    picollo_double_histogram_free(doubles->histograms[slot]);
    doubles->histograms[slot] = histogram;
    doubles->models[slot] = doubles->all[doubles->number_of_all++] = model;
}

static double any_double(struct world *world)
{
    const uint64_t bits = choose(world, 0);
    double value;
    switch (choose(world, 8)) {
    case 0: memcpy(&value, &bits, sizeof bits); return value;
    case 1: return ldexp((double)(bits >> 40), -1074);
    case 2: return (bits & 1) ? 0.0 : -0.0;
    case 3: return nextafter(ldexp(1, (int)(bits % 2046) - 1022), bits >> 63 ? 0 : INFINITY);
    case 4: return bits & 1 ? INFINITY : NAN;
    default: return (double)(int64_t)any_value(world) / 7;
    }
}

struct double_job {
    picollo_double_histogram *histogram;
    const double *values;
    size_t length;
    uint64_t count;
    int how;
};

static void *record(void *argument)
{
    const struct double_job *const job = (const struct double_job *)argument;
    for (size_t i = 0; i < job->length && job->how < 2; i++) {
        if (job->how == 0) picollo_double_histogram_record(job->histogram, job->values[i]);
        else picollo_double_histogram_record_n(job->histogram, job->values[i], job->count);
    }
    if (job->how == 2) picollo_double_histogram_record_batch(job->histogram, job->values, job->length);
    return NULL;
}

static void op_record(struct world *world)
{
    struct doubles *const doubles = doubles_of(world);
    const size_t slot = (size_t)choose(world, DOUBLES);
    const double near = any_double(world);
    double values[40];
    struct double_job job = {doubles->histograms[slot], values, (size_t)choose(world, rarely(world, 4) ? 40 : 6), 1, (int)choose(world, 3)};
    if (job.histogram == NULL || doubles->models[slot]->now.length > 2000) return;
    if (job.how == 1) job.count = rarely(world, 8) ? choose(world, UINT64_C(1) << 40) : choose(world, 100);
    for (size_t i = 0; i < job.length; i++) {
        values[i] = rarely(world, 3) ? any_double(world) : near * (1 + (double)choose(world, 64) / 1024);
        observe(&doubles->models[slot]->now, values[i], job.count);
    }
    if (PLANTED(2)) observe(&doubles->models[slot]->now, 5.5, 1);
    if (rarely(world, 16)) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, record, &job) != 0) abort();
        pthread_join(thread, NULL);
    } else {
        record(&job);
    }
    picollo_double_histogram_record_batch(job.histogram, NULL, 3);
    picollo_double_histogram_record_batch(NULL, values, 3);
}

static void start_anew(struct observations *observations)
{
    const int exact = observations->exact;
    forget_observations(observations);
    observations->exact = exact;
}

static void op_collect(struct world *world)
{
    struct doubles *const doubles = doubles_of(world);
    const size_t slot = (size_t)choose(world, DOUBLES);
    picollo_double_histogram *const histogram = doubles->histograms[slot];
    struct double_model *const model = doubles->models[slot];
    picollo_double_statistics statistics;
    const uint64_t of_1024 = choose(world, 1025);
    double quantiles[2] = {(double)of_1024 / 1024, 1.5}, value = 0;
    size_t bytes = 0;
    if (histogram == NULL) return;
    EXPECT(PICOLLO_OK, picollo_double_histogram_footprint(histogram, &bytes));
    REQUIRE(bytes >= 64);
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, statistics, picollo_double_histogram_collect(histogram, &quantiles[1], 1, &value, &statistics));
    REFUSED(PICOLLO_ERR_NULL_POINTER, statistics, picollo_double_histogram_collect(histogram, quantiles, 1, NULL, &statistics));
    EXPECT(PICOLLO_OK, picollo_double_histogram_collect(histogram, quantiles, 1, &value, &statistics));
    if (model->limited) {
        SAME(count_observations(&model->now), statistics.count + statistics.lost);
    } else {
        check_statistics(world, &model->now, model->bits, &statistics);
        if (statistics.count == 0) REQUIRE(isnan(value));
        else check_observation(world, &model->now, model->bits, target_of(statistics.count, model->dotnet, of_1024), value);
    }
    start_anew(&model->now);
}

/* One that there is: made now, if need be. */
static struct double_snapshot *a_snapshot(struct world *world)
{
    struct double_snapshot *const snapshot = &doubles_of(world)->snapshots[choose(world, DOUBLES)];
    if (snapshot->handle == NULL) {
        EXPECT(PICOLLO_OK, picollo_double_snapshot_create(NULL, &snapshot->handle));
        snapshot->bits = bits_of(0);
        snapshot->dotnet = snapshot->limited = 0;
    }
    return snapshot;
}

static void op_update(struct world *world)
{
    struct doubles *const doubles = doubles_of(world);
    struct double_snapshot *const snapshot = a_snapshot(world);
    const size_t slot = (size_t)choose(world, DOUBLES);
    const uint32_t collect = (uint32_t)choose(world, 2);
    struct double_model *const model = doubles->models[slot];
    if (doubles->histograms[slot] == NULL) return;
    EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_double_snapshot_update(snapshot->handle, doubles->histograms[slot], 2 + collect));
    if (!collect && rarely(world, 2)) {
        /* One that is made of it looks at the same. */
        picollo_double_snapshot_free(snapshot->handle);
        EXPECT(PICOLLO_OK, picollo_double_snapshot_create(doubles->histograms[slot], &snapshot->handle));
    } else {
        EXPECT(PICOLLO_OK, picollo_double_snapshot_update(snapshot->handle, doubles->histograms[slot], collect));
    }
    copy_observations(&snapshot->seen, &model->now);
    snapshot->bits = model->bits;
    snapshot->dotnet = model->dotnet;
    snapshot->limited = model->limited;
    if (collect) start_anew(&model->now);
    check(world, snapshot);
}

static void op_merge(struct world *world)
{
    struct double_snapshot *const into = a_snapshot(world), *const other = a_snapshot(world);
    if (into == other) {
        EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_double_snapshot_merge(into->handle, into->handle));
        return;
    }
    if (into->seen.length + other->seen.length > 4000 || into->limited || other->limited) return;
    EXPECT(PICOLLO_OK, picollo_double_snapshot_merge(into->handle, other->handle));
    if (!has_any(&into->seen) && into->seen.not_finite == 0) {
        copy_observations(&into->seen, &other->seen);
        into->bits = other->bits;
        into->dotnet = other->dotnet;
    } else {
        const int exact = into->seen.exact && other->seen.exact;
        merge_observations(&into->seen, &other->seen, other->bits);
        into->seen.exact = exact;
    }
    check(world, into);
}

static void op_add(struct world *world)
{
    struct doubles *const doubles = doubles_of(world);
    struct double_snapshot *const other = a_snapshot(world);
    const size_t slot = (size_t)choose(world, DOUBLES);
    if (doubles->histograms[slot] == NULL || other->limited || doubles->models[slot]->now.length + other->seen.length > 4000) return;
    EXPECT(PICOLLO_OK, picollo_double_histogram_add(doubles->histograms[slot], other->handle));
    merge_observations(&doubles->models[slot]->now, &other->seen, other->bits);
}

static void op_free(struct world *world)
{
    struct doubles *const doubles = doubles_of(world);
    const size_t slot = (size_t)choose(world, DOUBLES);
    REQUIRE(picollo_double_histogram_retain(doubles->histograms[slot]) == doubles->histograms[slot]);
    picollo_double_histogram_free(doubles->histograms[slot]);
    if (rarely(world, 2)) {
        picollo_double_histogram_free(doubles->histograms[slot]);
        doubles->histograms[slot] = NULL;
    } else {
        picollo_double_snapshot_free(doubles->snapshots[slot].handle);
        forget_observations(&doubles->snapshots[slot].seen);
        memset(&doubles->snapshots[slot], 0, sizeof doubles->snapshots[slot]);
    }
}

void end_doubles(struct world *world)
{
    struct doubles *const doubles = world->doubles;
    if (doubles == NULL) return;
    for (size_t i = 0; i < DOUBLES; i++) {
        picollo_double_histogram_free(doubles->histograms[i]);
        picollo_double_snapshot_free(doubles->snapshots[i].handle);
        forget_observations(&doubles->snapshots[i].seen);
    }
    for (size_t i = 0; i < doubles->number_of_all; i++) {
        forget_observations(&doubles->all[i]->now);
        free(doubles->all[i]);
    }
    free(doubles);
}

const struct operation double_operations[] = {
    {"double_histogram_create", op_create, 5},
    {"double_histogram_record", op_record, 16},
    {"double_histogram_collect", op_collect, 4},
    {"double_snapshot_update", op_update, 8},
    {"double_snapshot_merge", op_merge, 5},
    {"double_histogram_add", op_add, 4},
    {"double_free", op_free, 2},
    {NULL, NULL, 0},
};
