/* Ways through the counts of a snapshot, and what lies between and inside its buckets. */
#include "buffers.h"

/* How many observations are in buckets up to and including a value's. */
static uint64_t count_to(const struct snapshot *snapshot, uint64_t value)
{
    uint64_t count = 0;
    for (size_t i = 0; i < snapshot->now.length && snapshot->now.list[i].lower <= value; i++) count += snapshot->now.list[i].count;
    return count;
}

/* The upper end of the last bucket with counts; the snapshot has some. */
static uint64_t highest_of(const struct snapshot *snapshot)
{
    size_t last = snapshot->now.length;
    while (last > 0 && snapshot->now.list[last - 1].count == 0) last--;
    return last == 0 ? 0 : bucket_upper(&snapshot->source->rule, snapshot->now.list[last - 1].lower);
}

static void check_steps(struct world *world, const struct snapshot *snapshot, const picollo_step *steps, size_t length)
{
    const uint64_t total = total_of(&snapshot->now);
    const struct rule *const rule = &snapshot->source->rule;
    uint64_t from = 0, before = 0;
    for (size_t i = 0; i < length; i++) {
        SAME(from, steps[i].from);
        SAME(count_to(snapshot, steps[i].to), steps[i].cumulative_count);
        SAME(steps[i].cumulative_count - before, steps[i].added_count);
        REQUIRE(fabs(steps[i].rank - (double)steps[i].cumulative_count / (double)total * 100) < 1e-9);
        /* Once everything is covered, what follows goes no further than that bucket. */
        if (i > 0 && before == total) REQUIRE(from < bucket_upper(rule, from < rule->highest ? from : rule->highest));
        from = steps[i].to;
        before = steps[i].cumulative_count;
    }
    SAME(total, before);
    REQUIRE((length == 0) == (total == 0));
}

static void op_linear(struct world *world)
{
    const struct snapshot *const snapshot = exact_snapshot(world);
    uint64_t width = any_value(world), end;
    picollo_step *steps;
    size_t length = 0;
    if (snapshot == NULL) return;
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, length, picollo_snapshot_linear_steps(snapshot->handle, 0, NULL, 0, &length));
    /* So many that nobody gets them; slow, as they are counted. */
    if (highest_of(snapshot) >> 25 > 0 && rarely(world, 2000))
        REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, length, picollo_snapshot_linear_steps(snapshot->handle, 1, NULL, 0, &length));
    if (width <= highest_of(snapshot) / 300) width = highest_of(snapshot) / (2 + choose(world, 299)) + 1;
#define LINEAR(out, capacity, length) picollo_snapshot_linear_steps(snapshot->handle, width, out, capacity, length)
    LISTS(steps, length, LINEAR);
    if (PLANTED(5) && length > 1) steps[1].added_count++;
    check_steps(world, snapshot, steps, length);
    end = width - 1;
    for (size_t i = 0; i < length; i++) {
        SAME(end, steps[i].to);
        REQUIRE(steps[i].rank_level == steps[i].rank);
        end = end > UINT64_MAX - width ? UINT64_MAX : end + width;
    }
    free(steps);
}

static void op_logarithmic(struct world *world)
{
    static const double bases[] = {2, 10, 1.5, 1.1, 3.7, 1e6}, bad[] = {1, 0.5, 0, -2, NAN, INFINITY};
    const struct snapshot *const snapshot = exact_snapshot(world);
    const uint64_t first = 1 + choose(world, 1 << choose(world, 30));
    const double base = bases[choose(world, 6)], no_base = bad[choose(world, 6)];
    double level = (double)first;
    picollo_step *steps;
    size_t length = 0;
    if (snapshot == NULL) return;
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, length, picollo_snapshot_logarithmic_steps(snapshot->handle, 0, base, NULL, 0, &length));
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, length, picollo_snapshot_logarithmic_steps(snapshot->handle, first, no_base, NULL, 0, &length));
#define LOGARITHMIC(out, capacity, length) picollo_snapshot_logarithmic_steps(snapshot->handle, first, base, out, capacity, length)
    LISTS(steps, length, LOGARITHMIC);
    check_steps(world, snapshot, steps, length);
    for (size_t i = 0; i < length; i++, level *= base) {
        SAME(level >= 18446744073709551616.0 ? UINT64_MAX : (uint64_t)level - 1, steps[i].to);
        REQUIRE(steps[i].rank_level == steps[i].rank);
    }
    free(steps);
}

/* Whether a bucket with counts ends there. */
static int is_an_end(const struct snapshot *snapshot, uint64_t value)
{
    for (size_t i = 0; i < snapshot->now.length; i++) {
        if (snapshot->now.list[i].count > 0 && bucket_upper(&snapshot->source->rule, snapshot->now.list[i].lower) == value) return 1;
    }
    return 0;
}

static void op_percentile_steps(struct world *world)
{
    const struct snapshot *const snapshot = exact_snapshot(world);
    const uint32_t ticks = 1 + (uint32_t)choose(world, rarely(world, 16) ? 500 : 12);
    picollo_step *steps;
    size_t length = 0;
    if (snapshot == NULL) return;
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, length, picollo_snapshot_percentile_steps(snapshot->handle, 0, NULL, 0, &length));
#define PERCENTILES(out, capacity, length) picollo_snapshot_percentile_steps(snapshot->handle, ticks, out, capacity, length)
    LISTS(steps, length, PERCENTILES);
    const uint64_t total = total_of(&snapshot->now);
    uint64_t from = 0, before = 0;
    double due = 0, ticked = ticks;
    for (size_t i = 0; i < length; i++) {
        const picollo_step *const step = &steps[i];
        const int is_last = i + 1 == length;
        SAME(from, step->from);
        SAME(count_to(snapshot, step->to), step->cumulative_count);
        SAME(step->cumulative_count - before, step->added_count);
        REQUIRE(is_an_end(snapshot, step->to));
        REQUIRE(step->rank_level == (is_last ? 100 : due));
        /* The first bucket that gets there. */
        REQUIRE(step->rank >= step->rank_level - 1e-9);
        if (step->to > from && !is_last) {
            const uint64_t below = count_to(snapshot, bucket_lower(&snapshot->source->rule, step->to) - 1);
            REQUIRE(bucket_lower(&snapshot->source->rule, step->to) == 0 || below == 0 || (double)below / (double)total * 100 < step->rank_level + 1e-9);
        }
        from = step->to;
        before = step->cumulative_count;
        while (due < 100 && 100 - due <= 100 * ticks / ticked / 2) ticked *= 2;
        due += 100 / (2 * ticked);
    }
    SAME(total, before);
    REQUIRE((length == 0) == (total == 0));
    if (length > 0) SAME(highest_of(snapshot), steps[length - 1].to);
    free(steps);
}

static void op_count_between(struct world *world)
{
    const struct snapshot *const snapshot = exact_snapshot(world);
    uint64_t ends[2] = {any_value(world), any_value(world)}, count, expected = 0;
    if (snapshot == NULL) return;
    if (ends[0] > ends[1] && !rarely(world, 8)) {
        const uint64_t lowest = ends[1];
        ends[1] = ends[0];
        ends[0] = lowest;
    }
    for (size_t i = 0; i < snapshot->now.length && ends[0] <= ends[1]; i++) {
        const uint64_t lower = snapshot->now.list[i].lower, upper = bucket_upper(&snapshot->source->rule, lower);
        if (upper >= ends[0] && lower <= ends[1]) expected += snapshot->now.list[i].count;
    }
    REFUSED(PICOLLO_ERR_NULL_POINTER, count, picollo_snapshot_count_between(NULL, ends[0], ends[1], &count));
    EXPECT(PICOLLO_OK, picollo_snapshot_count_between(snapshot->handle, ends[0], ends[1], &count));
    SAME(expected, count);
}

/* Whether of the counts of a bucket, with so many before it, those up to a value reach a rank of so many eighths of a percent. */
static int reaches(uint64_t before, uint64_t count, uint64_t values, uint64_t step, uint64_t eighths, uint64_t total)
{
    return ((unsigned __int128)before * step + (unsigned __int128)count * values) * 800 >= (unsigned __int128)eighths * total * step;
}

static void op_interpolated(struct world *world)
{
    static const double bad[] = {-0.001, 100.001, NAN, INFINITY};
    const struct snapshot *const snapshot = exact_snapshot(world);
    const size_t length = (size_t)choose(world, 70);
    uint64_t total, eighths[70], values[70];
    double ranks[71] = {0};
    if (snapshot == NULL) return;
    total = total_of(&snapshot->now);
    for (size_t i = 0; i < length; i++) ranks[i] = (double)(eighths[i] = choose(world, 801)) / 8;
    memset(values, UNTOUCHED, sizeof values);
    EXPECT(length > 0 && total == 0 ? PICOLLO_ERR_EMPTY : PICOLLO_OK, picollo_snapshot_interpolated_percentiles(snapshot->handle, ranks, length, values));
    REQUIRE(is_untouched(values, total == 0 ? 0 : length * sizeof *values, sizeof values));
    for (size_t i = 0; i < length && total > 0 && total >> 40 == 0; i++) {
        const uint64_t lower = bucket_lower(&snapshot->source->rule, values[i]), step = bucket_step(&snapshot->source->rule, lower);
        const uint64_t before = lower == 0 ? 0 : count_to(snapshot, lower - 1), count = count_to(snapshot, lower) - before;
        REQUIRE(count > 0);
        /* Products are to fit into 128 bits. */
        if (step >> 56 > 0) continue;
        REQUIRE(reaches(before, count, values[i] - lower + 1, step, eighths[i], total));
        REQUIRE((values[i] == lower ? before == 0 || !reaches(before, 0, 0, step, eighths[i], total)
                                    : !reaches(before, count, values[i] - lower, step, eighths[i], total)));
    }
    ranks[length] = bad[choose(world, 4)];
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, values, picollo_snapshot_interpolated_percentiles(snapshot->handle, ranks, length + 1, values));
}

const struct operation step_operations[] = {
    {"linear_steps", op_linear, 4},
    {"logarithmic_steps", op_logarithmic, 4},
    {"percentile_steps", op_percentile_steps, 4},
    {"count_between", op_count_between, 4},
    {"interpolated_percentiles", op_interpolated, 4},
    {NULL, NULL, 0},
};
