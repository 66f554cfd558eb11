/* Layouts, estimates of memory, and steps. */
#include "interchange.h"

static picollo_histogram_options digit_options(uint32_t digits, uint64_t max)
{
    picollo_histogram_options options = default_options();
    options.significant_digits = digits;
    options.max_trackable = max;
    return options;
}

static void layouts(void)
{
    static const uint32_t scales[6] = {0, 4, 7, 10, 14, 17};
    picollo_layout layout, same;
    picollo_histogram *histogram;
    picollo_snapshot *snapshot;
    for (uint32_t digits = 1; digits <= 5; digits++) {
        const picollo_histogram_options options = digit_options(digits, UINT64_C(3600000000));
        CHECK_OK(picollo_layout_of_options(&options, &layout));
        CHECK_U64(scales[digits], layout.block_scale);
        CHECK_U64(digits, layout.significant_digits);
        CHECK_U64(0, layout.first_index);
        CHECK_U64(UINT64_C(3600000000), layout.max_trackable);
        CHECK(layout.relative_error == 0.5 / (double)(1u << scales[digits]));
        histogram = digits_histogram(digits, 0, UINT64_C(3600000000));
        CHECK_OK(picollo_histogram_layout(histogram, &same));
        CHECK(memcmp(&layout, &same, sizeof same) == 0);
        snapshot = only_snapshot(histogram);
        CHECK_OK(picollo_snapshot_layout(snapshot, &same));
        CHECK(memcmp(&layout, &same, sizeof same) == 0);
        picollo_snapshot_free(snapshot);
    }
    CHECK_OK(picollo_layout_of_options(NULL, &layout));
    CHECK_U64(28672, layout.length);
    CHECK_U64(0, layout.significant_digits);
    {
        picollo_histogram_options options = digit_options(6, 0);
        CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_layout_of_options(&options, &layout));
        CHECK_U64(28672, layout.length);
        options = default_options();
        options.relative_error = 0.01;
        options.min_trackable = 10000;
        options.max_trackable = 30000;
        CHECK_OK(picollo_layout_of_options(&options, &layout));
        CHECK_U64(526, layout.first_index);
        CHECK_U64(104, layout.length);
        /* What no histogram can be made of has no layout either. */
        options.counter_bits = 65;
        CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_layout_of_options(&options, &layout));
        options.counter_bits = 0;
        options.mode = PICOLLO_MODE_THREAD_LOCAL;
        options.storage = PICOLLO_STORAGE_SPARSE;
        CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_layout_of_options(&options, &layout));
        CHECK_U64(104, layout.length);
    }
}

/* Whether two values share a bucket. */
static int is_same_bucket(const picollo_layout *layout, uint64_t a, uint64_t b)
{
    picollo_bucket of_a, of_b;
    CHECK_OK(picollo_layout_bucket_of(layout, a, &of_a));
    CHECK_OK(picollo_layout_bucket_of(layout, b, &of_b));
    return of_a.lower == of_b.lower;
}

static void equivalent_values(void)
{
    const picollo_histogram_options options = digit_options(2, 1000);
    picollo_layout layout;
    picollo_bucket bucket;
    uint64_t state = 9;
    CHECK_OK(picollo_layout_of_options(&options, &layout));
    CHECK_OK(picollo_layout_bucket_of(&layout, 257, &bucket));
    CHECK(bucket.lower == 256 && bucket.upper == 257 && bucket.step == 2 && bucket.count == 0);
    CHECK_U64(256, bucket.storage_index);
    CHECK(is_same_bucket(&layout, 256, 257) && !is_same_bucket(&layout, 255, 256));
    /* Out of range too. */
    CHECK_OK(picollo_layout_bucket_of(&layout, UINT64_MAX, &bucket));
    CHECK(bucket.upper == UINT64_MAX && bucket.lower == UINT64_MAX - (UINT64_MAX >> 8) && bucket.storage_index == UINT64_MAX);
    CHECK(is_same_bucket(&layout, UINT64_MAX, UINT64_MAX - 5));
    for (int i = 0; i < 10000; i++) {
        const uint64_t magnitude = next_random(&state) >> 58, value = next_random(&state) >> magnitude;
        picollo_bucket next;
        CHECK_OK(picollo_layout_bucket_of(&layout, value, &bucket));
        CHECK(bucket.lower <= value && value <= bucket.upper && bucket.upper - bucket.lower + 1 == bucket.step);
        CHECK(is_same_bucket(&layout, bucket.lower, bucket.upper));
        if (bucket.upper == UINT64_MAX) continue;
        CHECK_OK(picollo_layout_bucket_of(&layout, bucket.upper + 1, &next));
        CHECK(next.lower == bucket.upper + 1 && next.logical_index == bucket.logical_index + 1);
    }
    layout.block_scale = 64;
    memset(&bucket, 0x5a, sizeof bucket);
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_layout_bucket_of(&layout, 1, &bucket));
    CHECK(bucket.step == UINT64_C(0x5a5a5a5a5a5a5a5a));
}

/* 5000 in an HdrHistogram of 3 digits whose lowest discernible value is 1024, which Java says is 4096 to 5119. */
#define UNIT_TEXT "HISTFAAAACB4nJNpmSzMwMDAxAABzBCKBUw6ALH9B4gIOxMAQyACyA=="

static void units(void)
{
    picollo_snapshot *snapshot = decoded(UNIT_TEXT, sizeof UNIT_TEXT - 1), *copy = NULL;
    picollo_layout layout, other;
    picollo_bucket bucket, next, *list;
    picollo_percentile percentile;
    uint64_t unit = 77, state = 3, at = 0;
    double median = 50;
    size_t length = 0;
    CHECK_OK(picollo_snapshot_layout(snapshot, &layout));
    CHECK(layout.significant_digits == 3 && layout.block_scale == 10 && layout.first_index == 0);
    CHECK_OK(picollo_layout_unit(&layout, &unit));
    CHECK_U64(1024, unit);
    CHECK_OK(picollo_layout_bucket_of(&layout, 5000, &bucket));
    CHECK(bucket.lower == 4096 && bucket.upper == 5119 && bucket.step == 1024 && bucket.storage_index == 4 && bucket.count == 0);
    list = buckets_of(snapshot, &length);
    CHECK(length == 1 && list[0].lower == 4096 && list[0].upper == 5119 && list[0].count == 1 && list[0].storage_index == 4);
    free(list);
    CHECK_OK(picollo_snapshot_percentiles(snapshot, &median, 1, PICOLLO_VALUE_UPPER, &percentile));
    CHECK_U64(5119, percentile.value);
    /* Buckets touch, and values are in them. */
    for (int i = 0; i < 10000; i++) {
        const uint64_t magnitude = next_random(&state) >> 58, value = next_random(&state) >> magnitude;
        CHECK_OK(picollo_layout_bucket_of(&layout, value, &bucket));
        CHECK(bucket.lower <= value && value <= bucket.upper && bucket.step >= 1024 && bucket.lower % bucket.step == 0);
        if (bucket.upper == UINT64_MAX) continue;
        CHECK_OK(picollo_layout_bucket_of(&layout, bucket.upper + 1, &next));
        CHECK(next.lower == bucket.upper + 1 && next.logical_index == bucket.logical_index + 1);
    }
    /* Another range. */
    CHECK_OK(picollo_layout_with_range(&layout, 0, UINT64_MAX, &other));
    CHECK_OK(picollo_layout_unit(&other, &unit));
    CHECK(unit == 1024 && other.block_scale == 10 && other.max_trackable == UINT64_MAX && other.length == 45 * 1024);
    CHECK_OK(picollo_layout_with_range(&other, layout.min_trackable, layout.max_trackable, &other));
    CHECK(memcmp(&layout, &other, sizeof layout) == 0);
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_layout_with_range(&layout, 0, 1023, &other));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_layout_with_range(&layout, 5000, 5000, &other));
    CHECK(memcmp(&layout, &other, sizeof layout) == 0);
    /* Copies, and what was decoded again. */
    for (uint32_t encoding = PICOLLO_ENCODING_HDR_V2; encoding <= PICOLLO_ENCODING_NATIVE; encoding++) {
        uint8_t *bytes = encoded(snapshot, encoding, &length);
        copy = decoded(bytes, length);
        CHECK(same_buckets(snapshot, copy) && same_counts(snapshot, copy));
        CHECK_OK(picollo_snapshot_layout(copy, &other));
        CHECK(memcmp(&layout, &other, sizeof layout) == 0);
        picollo_snapshot_free(copy);
        free(bytes);
    }
    CHECK_OK(picollo_snapshot_copy(snapshot, &copy));
    CHECK_OK(picollo_snapshot_layout(copy, &other));
    CHECK(memcmp(&layout, &other, sizeof layout) == 0);
    picollo_snapshot_free(copy);
    CHECK_OK(picollo_snapshot_count_between(snapshot, 5100, 5200, &at));
    CHECK_U64(1, at);
    /* Of everything else it is 1. */
    CHECK_OK(picollo_layout_of_options(NULL, &other));
    CHECK_OK(picollo_layout_unit(&other, &unit));
    CHECK_U64(1, unit);
    /* No unit has so many counters. */
    unit = 77;
    layout.length++;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_layout_unit(&layout, &unit));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_layout_bucket_of(&layout, 1, &bucket));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_layout_with_range(&layout, 0, 1 << 20, &other));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_create_from_layout(&layout, &copy));
    CHECK_U64(77, unit);
    picollo_snapshot_free(snapshot);
}

static void whole_arrays(void)
{
    picollo_histogram_options options = digit_options(3, 5000);
    picollo_layout layout;
    picollo_histogram *histogram;
    picollo_snapshot *snapshot;
    picollo_counts counts;
    options.flags = PICOLLO_HISTOGRAM_WHOLE_ARRAY;
    CHECK_OK(picollo_layout_of_options(&options, &layout));
    CHECK(layout.max_trackable == 8191 && layout.length == 4096);
    histogram = create_from(&options);
    picollo_histogram_record(histogram, 8191);
    picollo_histogram_record(histogram, 8192);
    snapshot = only_snapshot(histogram);
    CHECK_OK(picollo_snapshot_counts(snapshot, &counts));
    CHECK(counts.total == 1 && counts.overflow == 1);
    picollo_snapshot_free(snapshot);
    options.flags |= PICOLLO_HISTOGRAM_NO_LIVE_RESET;
    CHECK_OK(picollo_layout_of_options(&options, &layout));
    CHECK_U64(8191, layout.max_trackable);
    options.flags = 0;
    CHECK_OK(picollo_layout_of_options(&options, &layout));
    CHECK_U64(5000, layout.max_trackable);
}

static void estimates(void)
{
    static const struct {
        uint32_t mode, storage;
    } kinds[] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {0, 1}, {1, 1}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        for (uint32_t bits = 32; bits <= 64; bits += 32) {
            for (uint32_t flags = 0; flags <= PICOLLO_HISTOGRAM_NO_LIVE_RESET; flags++) {
                picollo_histogram_options options = digit_options(2, 1000000);
                picollo_histogram *histogram = NULL;
                picollo_footprint estimate;
                size_t size = 0, align = 0;
                picollo_layout layout;
                options.mode = kinds[i].mode;
                options.storage = kinds[i].storage;
                options.counter_bits = bits;
                options.flags = flags;
                CHECK_OK(picollo_histogram_estimate(&options, &estimate));
                CHECK_OK(picollo_layout_of_options(&options, &layout));
                CHECK_OK(picollo_histogram_create(&options, &histogram));
                CHECK_U64(layout.length, estimate.counters);
                CHECK_U64(footprint_of(histogram), estimate.initial_bytes);
                CHECK_OK(picollo_snapshot_required_size(histogram, &size, &align));
                CHECK_U64(size, estimate.snapshot_bytes);
                picollo_histogram_record(histogram, 5);
                if (options.storage == PICOLLO_STORAGE_SPARSE) {
                    if (flags == 0) CHECK_OK(picollo_histogram_reset(histogram));
                    CHECK_U64(estimate.initial_bytes + estimate.step_bytes, footprint_of(histogram));
                    for (uint64_t value = 0; value <= 1000000; value++) picollo_histogram_record(histogram, value);
                    if (flags == 0) CHECK_OK(picollo_histogram_reset(histogram));
                    CHECK_U64(estimate.max_bytes, footprint_of(histogram));
                } else if (options.mode == PICOLLO_MODE_THREAD_LOCAL) {
                    CHECK_U64(estimate.initial_bytes + estimate.step_bytes, footprint_of(histogram));
                    CHECK_U64(UINT64_MAX, estimate.max_bytes);
                } else {
                    CHECK_U64(0, estimate.step_bytes);
                    CHECK_U64(estimate.initial_bytes, estimate.max_bytes);
                }
                picollo_histogram_free(histogram);
            }
        }
    }
    {
        picollo_histogram_options options = default_options();
        picollo_footprint estimate;
        memset(&estimate, 0x5a, sizeof estimate);
        options.storage = PICOLLO_STORAGE_SPARSE;
        options.max_bytes = 100;
        CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_histogram_estimate(&options, &estimate));
        options.mode = PICOLLO_MODE_THREAD_LOCAL;
        CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_histogram_estimate(&options, &estimate));
        CHECK_U64(UINT64_C(0x5a5a5a5a5a5a5a5a), estimate.counters);
        options.mode = PICOLLO_MODE_SINGLE_WRITER;
        options.max_bytes = 100000;
        CHECK_OK(picollo_histogram_estimate(&options, &estimate));
        CHECK_U64(100000, estimate.max_bytes);
        CHECK_OK(picollo_histogram_estimate(NULL, &estimate));
        CHECK_U64(28672, estimate.counters);
    }
}

static void counts_between(void)
{
    picollo_histogram *histogram = digits_histogram(2, 0, 100000);
    picollo_snapshot *snapshot;
    uint64_t count = 77;
    for (uint64_t value = 0; value < 10000; value++) picollo_histogram_record(histogram, value);
    snapshot = only_snapshot(histogram);
    CHECK_OK(picollo_snapshot_count_between(snapshot, 0, UINT64_MAX, &count));
    CHECK_U64(10000, count);
    CHECK_OK(picollo_snapshot_count_between(snapshot, 10, 19, &count));
    CHECK_U64(10, count);
    /* Whole buckets of 32 at both ends. */
    CHECK_OK(picollo_snapshot_count_between(snapshot, 4100, 4129, &count));
    CHECK_U64(64, count);
    CHECK_OK(picollo_snapshot_count_between(snapshot, 20, 19, &count));
    CHECK_U64(0, count);
    CHECK_OK(picollo_snapshot_count_between(snapshot, UINT64_C(1) << 40, UINT64_MAX, &count));
    CHECK_U64(0, count);
    picollo_snapshot_free(snapshot);
}

/* HdrHistogram's own example: 10,000 values of 1000 and one of 100,000,000. */
static void steps(void)
{
    picollo_histogram *histogram = digits_histogram(3, 0, UINT64_C(3600000000));
    picollo_snapshot *snapshot, *none = only_snapshot(digits_histogram(3, 0, 1000));
    static picollo_step list[2048];
    size_t length = 0;
    picollo_histogram_record_n(histogram, 1000, 10000);
    picollo_histogram_record(histogram, 100000000);
    snapshot = only_snapshot(histogram);

    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_snapshot_linear_steps(snapshot, 100000, NULL, 0, &length));
    CHECK_U64(1000, length);
    memset(list, 0x5a, sizeof list);
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_snapshot_linear_steps(snapshot, 100000, list, 999, &length));
    CHECK(length == 1000 && list[0].to == UINT64_C(0x5a5a5a5a5a5a5a5a));
    CHECK_OK(picollo_snapshot_linear_steps(snapshot, 100000, list, 2048, &length));
    CHECK_U64(1000, length);
    CHECK(list[0].from == 0 && list[0].to == 99999 && list[0].added_count == 10000 && list[0].cumulative_count == 10000);
    CHECK(list[500].added_count == 0 && list[500].from == 49999999);
    CHECK(list[999].added_count == 1 && list[999].to == 99999999 && list[999].rank == 100);
    CHECK_U64(UINT64_C(0x5a5a5a5a5a5a5a5a), list[1000].to);

    CHECK_OK(picollo_snapshot_logarithmic_steps(snapshot, 10000, 2, list, 2048, &length));
    CHECK_U64(15, length);
    CHECK(list[0].to == 9999 && list[0].added_count == 10000 && list[1].to == 19999);
    CHECK(list[14].to == 163839999 && list[14].added_count == 1);

    CHECK_OK(picollo_snapshot_percentile_steps(snapshot, 5, list, 2048, &length));
    CHECK(length > 30 && list[0].rank_level == 0 && list[length - 1].rank_level == 100);
    CHECK(list[0].to == 1000 && list[0].added_count == 10000 && list[1].added_count == 0);
    CHECK_U64(10001, list[length - 1].cumulative_count);

    CHECK_OK(picollo_snapshot_linear_steps(none, 1, list, 2048, &length));
    CHECK_U64(0, length);
    CHECK_OK(picollo_snapshot_percentile_steps(none, 5, list, 2048, &length));
    CHECK_U64(0, length);
    length = 77;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_linear_steps(snapshot, 0, NULL, 0, &length));
    /* Too many. */
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_linear_steps(snapshot, 1, NULL, 0, &length));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_logarithmic_steps(snapshot, 0, 2, NULL, 0, &length));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_logarithmic_steps(snapshot, 1, 1, NULL, 0, &length));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_logarithmic_steps(snapshot, 1, NAN, NULL, 0, &length));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT,
                 picollo_snapshot_logarithmic_steps(snapshot, 1, 1.0000000001, NULL, 0, &length));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_percentile_steps(snapshot, 0, NULL, 0, &length));
    CHECK_U64(77, length);
    picollo_snapshot_free(snapshot);
    picollo_snapshot_free(none);
}

int main(void)
{
    RUN(layouts);
    RUN(equivalent_values);
    RUN(units);
    RUN(whole_arrays);
    RUN(estimates);
    RUN(counts_between);
    RUN(steps);
    return report();
}
