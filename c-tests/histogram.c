/* Recording, resets, and counting in memory of every kind. */
#include "test.h"

static uint64_t count_at(picollo_histogram *histogram, uint64_t value)
{
    picollo_bucket bucket;
    picollo_snapshot *snapshot = snapshot_of(histogram);
    memset(&bucket, 0xee, sizeof bucket);
    CHECK_OK(picollo_snapshot_bucket_of(snapshot, value, &bucket));
    picollo_snapshot_free(snapshot);
    return bucket.count;
}

static void defaults_track_every_value(void)
{
    picollo_histogram *histogram = NULL;
    picollo_counts counts;
    size_t bytes = 0;
    CHECK_OK(picollo_histogram_create(NULL, &histogram));
    picollo_histogram_record(histogram, 0);
    picollo_histogram_record(histogram, UINT64_MAX);
    counts = counts_of(histogram);
    CHECK_U64(2, counts.total);
    CHECK_U64(0, counts.underflow + counts.overflow + counts.lost);
    CHECK_OK(picollo_histogram_footprint(histogram, &bytes));
    /* 28,672 counters of 64 bits and their baseline, and a little around them. */
    CHECK(bytes >= 28672 * 16 && bytes < 28672 * 16 + 1024);
    picollo_histogram_free(histogram);
}

static void layouts_of_the_manual(void)
{
    static const struct {
        double error;
        uint64_t min, max, first, last, counters;
    } rows[] = {
        {0.01, 10000, 30000, 526, 629, 104},
        {0.001, 0, UINT64_MAX, 0, 28671, 28672},
        {0.0001, 100, 200, 100, 200, 101},
        {0.01, 50, 100, 50, 100, 51},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        picollo_histogram *histogram = create(rows[i].error, rows[i].min, rows[i].max);
        picollo_snapshot *snapshot = snapshot_of(histogram);
        picollo_bucket first, last;
        size_t length = 0;
        CHECK_OK(picollo_snapshot_bucket_of(snapshot, rows[i].min, &first));
        CHECK_OK(picollo_snapshot_bucket_of(snapshot, rows[i].max, &last));
        CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_snapshot_buckets(snapshot, 0, NULL, 0, &length));
        CHECK_U64(rows[i].first, first.logical_index);
        CHECK_U64(rows[i].last, last.logical_index);
        CHECK_U64(0, first.storage_index);
        CHECK_U64(rows[i].counters, last.storage_index + 1);
        CHECK_U64(rows[i].counters, length);
        picollo_snapshot_free(snapshot);
        picollo_histogram_free(histogram);
    }
}

static void out_of_range_is_counted_apart(void)
{
    picollo_histogram *histogram = create(0.01, 2000, 12000);
    picollo_counts counts;
    picollo_histogram_record(histogram, 1999);
    picollo_histogram_record_n(histogram, 0, 2);
    picollo_histogram_record(histogram, 12032);
    picollo_histogram_record_n(histogram, UINT64_MAX, 4);
    /* 12,031 is in the bucket of 12,000. */
    picollo_histogram_record(histogram, 12031);
    counts = counts_of(histogram);
    CHECK_U64(1, counts.total);
    CHECK_U64(3, counts.underflow);
    CHECK_U64(5, counts.overflow);
    CHECK_U64(0, counts.lost);
    picollo_histogram_free(histogram);
}

static void all_ways_to_record_agree(void)
{
    static uint64_t values[10000];
    picollo_histogram *one = create(0.001, 0, 1000000), *batch = create(0.001, 0, 1000000);
    picollo_snapshot *a, *b;
    static picollo_bucket buckets_a[20000], buckets_b[20000];
    size_t length_a = 0, length_b = 0;
    uint64_t state = 7;
    for (size_t i = 0; i < 10000; i++) values[i] = next_random(&state) >> (24 + i % 40);
    for (size_t i = 0; i < 10000; i++) {
        if (i % 3 == 0) picollo_histogram_record(one, values[i]);
        else picollo_histogram_record_n(one, values[i], 1);
    }
    picollo_histogram_record_n(one, 5, 0);
    picollo_histogram_record_batch(batch, values, 7777);
    picollo_histogram_record_batch(batch, values + 7777, 10000 - 7777);
    picollo_histogram_record_batch(batch, values, 0);
    picollo_histogram_record_batch(batch, NULL, 0);
    a = snapshot_of(one);
    b = snapshot_of(batch);
    CHECK_OK(picollo_snapshot_buckets(a, 1, buckets_a, 20000, &length_a));
    CHECK_OK(picollo_snapshot_buckets(b, 1, buckets_b, 20000, &length_b));
    CHECK_U64(length_a, length_b);
    CHECK(length_a > 100);
    CHECK(memcmp(buckets_a, buckets_b, length_a * sizeof buckets_a[0]) == 0);
    picollo_snapshot_free(a);
    picollo_snapshot_free(b);
    picollo_histogram_free(one);
    picollo_histogram_free(batch);
}

static void corrected_recording_adds_what_was_missed(void)
{
    picollo_histogram *histogram = create(0.001, 0, 100000);
    /* 1000, and 900, 800, ... 100. */
    picollo_histogram_record_corrected(histogram, 1000, 100);
    CHECK_U64(10, counts_of(histogram).total);
    for (uint64_t value = 100; value <= 1000; value += 100) CHECK_U64(1, count_at(histogram, value));
    picollo_histogram_record_corrected(histogram, 50, 100);
    picollo_histogram_record_corrected(histogram, 5000, 0);
    CHECK_U64(12, counts_of(histogram).total);
    /* The work is bounded however many values are missing. */
    picollo_histogram_record_corrected(histogram, UINT64_MAX, 1);
    CHECK(counts_of(histogram).overflow > UINT64_C(1) << 63);
    picollo_histogram_free(histogram);
}

static void exact_bounds(void)
{
    picollo_histogram *histogram = create(0.01, 2000, 12000);
    picollo_counts counts;
    CHECK_OK(picollo_histogram_record_in_range(histogram, 2000, 2000, 12000));
    CHECK_OK(picollo_histogram_record_in_range(histogram, 12000, 2000, 12000));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_histogram_record_in_range(histogram, 12001, 2000, 12000));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_histogram_record_in_range(histogram, 1999, 2000, 12000));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_histogram_record_in_range(histogram, 20000, 0, 30000));
    counts = counts_of(histogram);
    CHECK_U64(2, counts.total);
    CHECK_U64(1, counts.underflow);
    CHECK_U64(2, counts.overflow);
    picollo_histogram_free(histogram);
}

static void reset_starts_anew(void)
{
    picollo_histogram *histogram = example(0);
    picollo_histogram_options options = default_options();
    picollo_histogram *fixed = NULL;
    CHECK_U64(99940, counts_of(histogram).total);
    CHECK_OK(picollo_histogram_reset(histogram));
    CHECK_U64(0, counts_of(histogram).total);
    CHECK_U64(0, counts_of(histogram).underflow);
    picollo_histogram_record(histogram, 3000);
    picollo_histogram_record(histogram, 1);
    CHECK_U64(1, counts_of(histogram).total);
    CHECK_U64(1, counts_of(histogram).underflow);
    picollo_histogram_free(histogram);

    options.flags = PICOLLO_HISTOGRAM_NO_LIVE_RESET;
    CHECK_OK(picollo_histogram_create(&options, &fixed));
    picollo_histogram_record(fixed, 1);
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_histogram_reset(fixed));
    CHECK_U64(1, counts_of(fixed).total);
    picollo_histogram_free(fixed);
}

static void narrow_counters_tell_what_they_lose(void)
{
    picollo_histogram_options options = default_options();
    picollo_histogram *histogram = NULL;
    picollo_counts counts;
    options.counter_bits = 32;
    CHECK_OK(picollo_histogram_create(&options, &histogram));
    picollo_histogram_record_n(histogram, 5, UINT32_MAX);
    CHECK_U64(UINT32_MAX, counts_of(histogram).total);
    picollo_histogram_record(histogram, 5);
    counts = counts_of(histogram);
    /* Whole: what the cell shows and what is told of as lost. */
    CHECK_U64(UINT64_C(1) << 32, counts.total + counts.lost);
    picollo_histogram_free(histogram);
}

static void each_owner_frees_its_reference(void)
{
    static unsigned char room[32768 + 63];
    void *const memory = room + (64 - (uintptr_t)room % 64) % 64;
    picollo_histogram *histogram = create(0.1, 0, 1000), *placed = NULL;
    picollo_histogram_options options = default_options();
    CHECK(picollo_histogram_retain(NULL) == NULL);
    CHECK(picollo_histogram_retain(histogram) == histogram);
    picollo_histogram_free(histogram);
    picollo_histogram_record(histogram, 5);
    CHECK_U64(1, counts_of(histogram).total);
    picollo_histogram_free(histogram);
    /* References to one in the caller's memory are not counted. */
    options.relative_error = 0.1;
    options.max_trackable = 1000;
    CHECK_OK(picollo_histogram_init_in(memory, 32768, &options, &placed));
    CHECK(picollo_histogram_retain(placed) == placed);
    picollo_histogram_free(placed);
    picollo_histogram_free(placed);
    picollo_histogram_record(placed, 5);
    CHECK_U64(1, counts_of(placed).total);
}

static void adding_a_snapshot(void)
{
    picollo_histogram *source = example(0), *same = create(0.01, 2000, 12000), *coarse = create(0.1, 0, 1000000);
    picollo_snapshot *snapshot = snapshot_of(source);
    CHECK_OK(picollo_histogram_add(same, snapshot, 0, NULL));
    CHECK_OK(picollo_histogram_add(same, snapshot, 0, NULL));
    CHECK_U64(2 * 99940, counts_of(same).total);
    CHECK_U64(2 * 60, counts_of(same).underflow);
    CHECK_U64(2 * count_at(source, 9152), count_at(same, 9152));
    CHECK_OK(picollo_histogram_add(coarse, snapshot, 0, NULL));
    CHECK_U64(99940, counts_of(coarse).total);
    CHECK_U64(60, counts_of(coarse).underflow);
    picollo_snapshot_free(snapshot);
    picollo_histogram_free(source);
    picollo_histogram_free(same);
    picollo_histogram_free(coarse);
}

static void versions(void)
{
    CHECK(picollo_abi_version() == PICOLLO_ABI_VERSION);
    CHECK_TEXT("0.1.0", picollo_version());
    CHECK_TEXT("ok", picollo_status_str(PICOLLO_OK));
    CHECK_TEXT("unknown status", picollo_status_str(1));
    CHECK_TEXT("unknown status", picollo_status_str(INT32_MIN));
    for (picollo_status status = -15; status < 0; status++) CHECK(strlen(picollo_status_str(status)) > 8);
}

int main(void)
{
    RUN(defaults_track_every_value);
    RUN(layouts_of_the_manual);
    RUN(out_of_range_is_counted_apart);
    RUN(all_ways_to_record_agree);
    RUN(corrected_recording_adds_what_was_missed);
    RUN(exact_bounds);
    RUN(reset_starts_anew);
    RUN(narrow_counters_tell_what_they_lose);
    RUN(each_owner_frees_its_reference);
    RUN(adding_a_snapshot);
    RUN(versions);
    return report();
}
