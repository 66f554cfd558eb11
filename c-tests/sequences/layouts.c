/* Layouts: what options promise, histograms and snapshots keep, worked out by division. */
#include "buffers.h"

/* The number of buckets below a value's, were there no range. */
static uint64_t index_of(const struct rule *rule, uint64_t value)
{
    uint64_t blocks = 0;
    for (uint64_t step = bucket_step(rule, value); step > rule->unit; step /= 2) blocks++;
    return blocks * rule->block + value / bucket_step(rule, value);
}

static uint32_t digits_of(const struct rule *rule)
{
    for (uint32_t digits = 1; digits <= 5; digits++) {
        if (rule_of(0, digits, 0, 0).block == rule->block) return digits;
    }
    return 0;
}

static void check_layout(struct world *world, const struct rule *rule, const picollo_layout *layout)
{
    uint64_t unit = 0;
    SAME(rule->lowest, bucket_lower(rule, layout->min_trackable));
    SAME(rule->highest, bucket_upper(rule, layout->max_trackable));
    SAME(index_of(rule, rule->lowest), layout->first_index);
    SAME(index_of(rule, rule->highest) - layout->first_index + 1, layout->length);
    SAME(rule->block, UINT64_C(1) << layout->block_scale);
    EXPECT(PICOLLO_OK, picollo_layout_unit(layout, &unit));
    SAME(rule->unit, unit);
    REQUIRE(layout->relative_error == 0.5 / (double)rule->block);
    SAME(digits_of(rule), layout->significant_digits);
}

static void check_values(struct world *world, const struct rule *rule, const picollo_layout *layout)
{
    const uint64_t a = any_value(world), b = rarely(world, 2) ? any_value(world) : a ^ (1 + choose(world, 255));
    const int in_range = a >= rule->lowest && a <= rule->highest;
    picollo_bucket bucket, other;
    EXPECT(PICOLLO_OK, picollo_layout_bucket_of(layout, a, &bucket));
    if (PLANTED(6)) bucket.lower++;
    SAME(bucket_lower(rule, a), bucket.lower);
    SAME(bucket_upper(rule, a), bucket.upper);
    SAME(bucket_step(rule, a), bucket.step);
    SAME(index_of(rule, a), bucket.logical_index);
    SAME(in_range ? index_of(rule, a) - layout->first_index : UINT64_MAX, bucket.storage_index);
    SAME(0, bucket.count);
    EXPECT(PICOLLO_OK, picollo_layout_bucket_of(layout, b, &other));
    SAME(bucket_lower(rule, a) == bucket_lower(rule, b), bucket.lower == other.lower);
}

/* Numbers that no layout has. */
static void op_nonsense(struct world *world)
{
    picollo_layout layout;
    picollo_bucket bucket;
    picollo_status status;
    memset(&layout, 0, sizeof layout);
    layout.min_trackable = any_value(world);
    layout.max_trackable = any_value(world);
    layout.block_scale = (uint32_t)choose(world, rarely(world, 2) ? 0 : 80);
    layout.first_index = choose(world, 0);
    layout.length = choose(world, 0);
    memset(&bucket, UNTOUCHED, sizeof bucket);
    status = picollo_layout_bucket_of(&layout, any_value(world), &bucket);
    REQUIRE(status == PICOLLO_OK || (status == PICOLLO_ERR_INVALID_ARGUMENT && is_untouched(&bucket, 0, sizeof bucket)));
    if (layout.block_scale > 63 || layout.min_trackable >= layout.max_trackable) EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, status);
    layout.block_scale = 64 + (uint32_t)choose(world, 1000);
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, bucket, picollo_layout_bucket_of(&layout, 1, &bucket));
    REFUSED(PICOLLO_ERR_NULL_POINTER, bucket, picollo_layout_bucket_of(NULL, 1, &bucket));
}

/* What options promise is what a histogram is. */
static void op_options(struct world *world)
{
    const struct asked asked = ask(world);
    const picollo_histogram_options *const options = rarely(world, 16) ? NULL : &asked.options;
    struct rule rule;
    picollo_layout layout;
    picollo_footprint estimate;
    picollo_histogram *histogram = NULL;
    size_t bytes = 0, align = 0;
    const picollo_status status = options == NULL ? PICOLLO_OK : picollo_histogram_create(options, &histogram);
    picollo_error error;
    memset(&error, 0, sizeof error);
    if (status == PICOLLO_ERR_INVALID_ARGUMENT || status == PICOLLO_ERR_UNSUPPORTED) {
        EXPECT(status, picollo_histogram_explain(options, &error));
        REQUIRE(error.status == status && strlen(error.message) > 20);
        REFUSED(status, layout, picollo_layout_of_options(options, &layout));
        REFUSED(status, estimate, picollo_histogram_estimate(options, &estimate));
        return;
    }
    rule = options == NULL ? rule_of(0, 0, 0, 0) : rule_of_options(options);
    EXPECT(PICOLLO_OK, picollo_layout_of_options(options, &layout));
    check_layout(world, &rule, &layout);
    check_values(world, &rule, &layout);
    EXPECT(PICOLLO_OK, picollo_histogram_estimate(options, &estimate));
    EXPECT(PICOLLO_OK, picollo_histogram_explain(options, rarely(world, 2) ? NULL : &error));
    REQUIRE(error.message[0] == 0);
    SAME(layout.length, estimate.counters);
    REQUIRE(estimate.max_bytes >= estimate.initial_bytes);
    if (histogram == NULL) return;
    EXPECT(PICOLLO_OK, picollo_histogram_footprint(histogram, &bytes));
    SAME(estimate.initial_bytes, bytes);
    EXPECT(PICOLLO_OK, picollo_snapshot_required_size(histogram, &bytes, &align));
    SAME(estimate.snapshot_bytes, bytes);
    picollo_histogram_record(histogram, rule.lowest);
    EXPECT(PICOLLO_OK, picollo_histogram_footprint(histogram, &bytes));
    REQUIRE(bytes <= estimate.max_bytes && bytes <= estimate.initial_bytes + estimate.step_bytes);
    picollo_histogram_free(histogram);
}

/* Another range of it, and an empty snapshot there. */
static void check_made(struct world *world, const struct rule *rule, const picollo_layout *layout)
{
    const uint64_t a = any_value(world), b = any_value(world), lowest = a < b ? a : b, highest = a < b ? b : a;
    struct rule other = *rule;
    picollo_layout ranged, told;
    picollo_snapshot *made = NULL;
    picollo_counts counts;
    uint64_t unit = 0;
    double ratio = 0;
    REFUSED(PICOLLO_ERR_NULL_POINTER, unit, picollo_layout_unit(NULL, &unit));
    if (lowest == highest || highest < rule->unit) {
        REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, ranged, picollo_layout_with_range(layout, lowest, highest, &ranged));
        return;
    }
    EXPECT(PICOLLO_OK, picollo_layout_with_range(layout, lowest, highest, &ranged));
    other.lowest = bucket_lower(&other, lowest);
    other.highest = bucket_upper(&other, highest);
    check_layout(world, &other, &ranged);
    check_values(world, &other, &ranged);
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, told, picollo_layout_with_range(layout, highest, lowest, &told));
    if (ranged.length > 100000) return;
    EXPECT(PICOLLO_OK, picollo_snapshot_create_from_layout(&ranged, &made));
    EXPECT(PICOLLO_OK, picollo_snapshot_layout(made, &told));
    check_layout(world, &other, &told);
    EXPECT(PICOLLO_OK, picollo_snapshot_counts(made, &counts));
    SAME(0, counts.total + counts.underflow + counts.overflow + counts.lost);
    EXPECT(PICOLLO_OK, picollo_snapshot_value_ratio(made, &ratio));
    REQUIRE(ratio == 1);
    EXPECT(PICOLLO_ERR_UNSUPPORTED, picollo_snapshot_update(made, PICOLLO_SINCE_RESET));
    picollo_snapshot_free(made);
    ranged.length++;
    made = NULL;
    /* It may be that of a smaller unit. */
    if (picollo_layout_unit(&ranged, &unit) == PICOLLO_OK) {
        REQUIRE(unit < rule->unit);
        return;
    }
    EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_create_from_layout(&ranged, &made));
    REQUIRE(made == NULL);
}

static void op_kept(struct world *world)
{
    const size_t slot = pick(world);
    const struct snapshot *const snapshot = any_snapshot(world);
    picollo_layout layout;
    REFUSED(PICOLLO_ERR_NULL_POINTER, layout, picollo_histogram_layout(NULL, &layout));
    REFUSED(PICOLLO_ERR_NULL_POINTER, layout, picollo_snapshot_layout(NULL, &layout));
    if (world->histograms[slot] != NULL) {
        EXPECT(PICOLLO_OK, picollo_histogram_layout(world->histograms[slot], &layout));
        check_layout(world, &world->histogram_models[slot]->rule, &layout);
        check_values(world, &world->histogram_models[slot]->rule, &layout);
        check_made(world, &world->histogram_models[slot]->rule, &layout);
    }
    if (snapshot != NULL) {
        EXPECT(PICOLLO_OK, picollo_snapshot_layout(snapshot->handle, &layout));
        check_layout(world, &snapshot->source->rule, &layout);
        check_values(world, &snapshot->source->rule, &layout);
        check_made(world, &snapshot->source->rule, &layout);
    }
}

const struct operation layout_operations[] = {
    {"layout of nonsense", op_nonsense, 2},
    {"layout_of_options", op_options, 4},
    {"layout", op_kept, 5},
    {NULL, NULL, 0},
};
