/* Reading: percentiles, ranks, buckets, deltas, merging. */
#include "test.h"

static const double summary_ranks[PICOLLO_SUMMARY_PERCENTILES] = {
    0, 1, 5, 10, 25, 50, 75, 90, 92.5, 95, 97.5, 99, 99.9, 99.99, 99.999, 100,
};

static uint64_t total_of(const picollo_snapshot *snapshot)
{
    picollo_counts counts;
    memset(&counts, 0xee, sizeof counts);
    CHECK_OK(picollo_snapshot_counts(snapshot, &counts));
    return counts.total;
}

static void percentiles_of_the_example(void)
{
    static const uint64_t expected[] = {
        2008, 2064, 2288, 2448, 2928, 3600, 5472, 7456, 7840, 8256, 8768, 9152, 9664, 9792, 9792, 9792,
    };
    picollo_histogram *histogram = example(0);
    picollo_snapshot *snapshot = snapshot_of(histogram);
    picollo_percentile percentiles[16];
    uint64_t values[16];
    CHECK_OK(picollo_snapshot_percentiles(snapshot, summary_ranks, 16, PICOLLO_VALUE_MIDPOINT, percentiles));
    CHECK_OK(picollo_snapshot_percentile_values(snapshot, summary_ranks, 16, PICOLLO_VALUE_MIDPOINT, values));
    for (int i = 0; i < 16; i++) {
        CHECK(percentiles[i].rank == summary_ranks[i]);
        CHECK_U64(expected[i], percentiles[i].value);
        CHECK_U64(expected[i], values[i]);
    }
    CHECK_U64(98941, percentiles[11].target_count);
    CHECK_U64(9088, percentiles[11].bucket.lower);
    CHECK_U64(9215, percentiles[11].bucket.upper);
    CHECK_U64(128, percentiles[11].bucket.step);
    CHECK_U64(386, percentiles[11].bucket.count);
    CHECK_U64(138, percentiles[11].bucket.storage_index);
    CHECK_U64(519, percentiles[11].bucket.logical_index);
    CHECK_OK(picollo_snapshot_percentile_values(snapshot, summary_ranks, 16, PICOLLO_VALUE_LOWER, values));
    CHECK_U64(9088, values[11]);
    CHECK_OK(picollo_snapshot_percentile_values(snapshot, summary_ranks, 16, PICOLLO_VALUE_UPPER, values));
    CHECK_U64(9215, values[11]);
    picollo_snapshot_free(snapshot);
    picollo_histogram_free(histogram);
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* A naive oracle: sort the values, take the rank. */
static void percentiles_of_random_values(void)
{
    enum { LENGTH = 20011, RANKS = 150 };
    static uint64_t values[LENGTH];
    double ranks[RANKS];
    picollo_percentile percentiles[RANKS];
    picollo_histogram *histogram = create(0.01, 0, UINT64_MAX);
    picollo_snapshot *snapshot;
    uint64_t state = 3;
    for (int i = 0; i < LENGTH; i++) {
        const uint64_t magnitude = next_random(&state) >> 58;
        values[i] = next_random(&state) >> magnitude;
        picollo_histogram_record(histogram, values[i]);
    }
    qsort(values, LENGTH, sizeof values[0], compare);
    /* Thousandths of a per cent, in no order, more than are looked for in one pass. */
    for (int i = 0; i < RANKS; i++) ranks[i] = (double)((next_random(&state) >> 20) % 100001) / 1000;
    snapshot = snapshot_of(histogram);
    CHECK_OK(picollo_snapshot_percentiles(snapshot, ranks, RANKS, PICOLLO_VALUE_MIDPOINT, percentiles));
    for (int i = 0; i < RANKS; i++) {
        const uint64_t thousandths = (uint64_t)llround(ranks[i] * 1000);
        uint64_t target = (thousandths * LENGTH + 99999) / 100000;
        if (target == 0) target = 1;
        CHECK_U64(target, percentiles[i].target_count);
        CHECK(percentiles[i].bucket.lower <= values[target - 1] && values[target - 1] <= percentiles[i].bucket.upper);
        CHECK_U64(percentiles[i].bucket.lower + percentiles[i].bucket.step / 2, percentiles[i].value);
    }
    picollo_snapshot_free(snapshot);
    picollo_histogram_free(histogram);
}

static void bad_ranks(void)
{
    const double bad[] = {NAN, -1e-9, 100.0000001, INFINITY, -INFINITY};
    picollo_histogram *histogram = example(0);
    picollo_snapshot *snapshot = snapshot_of(histogram);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const double ranks[2] = {50, bad[i]};
        picollo_percentile out[2];
        uint64_t values[2] = {77, 77};
        memset(out, 0xee, sizeof out);
        CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT,
                     picollo_snapshot_percentiles(snapshot, ranks, 2, PICOLLO_VALUE_MIDPOINT, out));
        CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT,
                     picollo_snapshot_percentile_values(snapshot, ranks, 2, PICOLLO_VALUE_MIDPOINT, values));
        /* Nothing is written, not even for the good rank. */
        CHECK_U64(UINT64_C(0xeeeeeeeeeeeeeeee), out[0].value);
        CHECK_U64(77, values[0]);
    }
    {
        const double rank = 50;
        uint64_t value = 77;
        CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_percentile_values(snapshot, &rank, 1, 3, &value));
        CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT,
                     picollo_snapshot_percentile_values(snapshot, &rank, SIZE_MAX, 0, &value));
        CHECK_OK(picollo_snapshot_percentile_values(snapshot, NULL, 0, 0, NULL));
        CHECK_U64(77, value);
    }
    picollo_snapshot_free(snapshot);
    picollo_histogram_free(histogram);
}

static void nothing_recorded(void)
{
    picollo_histogram *histogram = create(0.01, 2000, 12000);
    picollo_snapshot *snapshot;
    picollo_summary summary;
    uint64_t value = 77;
    double rank = 50;
    size_t length = 77;
    /* Out of range is not recorded. */
    picollo_histogram_record(histogram, 1);
    snapshot = snapshot_of(histogram);
    CHECK_STATUS(PICOLLO_ERR_EMPTY, picollo_snapshot_percentile_values(snapshot, &rank, 1, 0, &value));
    CHECK_STATUS(PICOLLO_ERR_EMPTY, picollo_snapshot_rank_of_value(snapshot, 3000, 0, &rank));
    CHECK(value == 77 && rank == 50);
    CHECK_OK(picollo_snapshot_buckets(snapshot, 1, NULL, 0, &length));
    CHECK_U64(0, length);
    CHECK_OK(picollo_snapshot_summary(snapshot, PICOLLO_VALUE_MIDPOINT, &summary));
    CHECK_U64(0, summary.total_count);
    CHECK_U64(1, summary.underflow_count);
    CHECK(isnan(summary.mean) && isnan(summary.stddev));
    for (int i = 0; i < 16; i++) CHECK_U64(0, summary.percentiles[i].target_count);
    picollo_snapshot_free(snapshot);
    picollo_histogram_free(histogram);
}

static void summary_of_the_example(void)
{
    picollo_histogram *histogram = example(0);
    picollo_summary summary;
    CHECK_OK(picollo_histogram_summary(histogram, PICOLLO_VALUE_MIDPOINT, &summary));
    CHECK_U64(99940, summary.total_count);
    CHECK_U64(60, summary.underflow_count);
    CHECK_U64(0, summary.overflow_count);
    CHECK_U64(0, summary.lost_count);
    CHECK(fabs(summary.mean - 4332.91) < 0.005);
    CHECK(fabs(summary.stddev - 1870.75) < 0.005);
    CHECK(summary.relative_error == 0.0078125);
    CHECK_U64(2000, summary.min_trackable);
    CHECK_U64(12000, summary.max_trackable);
    CHECK_U64(PICOLLO_VALUE_MIDPOINT, summary.value_selection);
    CHECK_U64(0, summary.flags);
    /* After 2020, and before 2100. */
    CHECK(summary.timestamp_unix_nanos > UINT64_C(1577836800000000000));
    CHECK(summary.timestamp_unix_nanos < UINT64_C(4102444800000000000));
    CHECK_U64(9152, summary.percentiles[11].value);
    CHECK_OK(picollo_histogram_summary(histogram, PICOLLO_VALUE_UPPER, &summary));
    CHECK_U64(9215, summary.percentiles[11].value);
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_histogram_summary(histogram, 3, &summary));
    picollo_histogram_free(histogram);
}

static void ranks_of_values(void)
{
    picollo_histogram *histogram = create(0.01, 100, 1000000);
    picollo_snapshot *snapshot;
    double rank = -1;
    for (uint64_t value = 1000; value < 2000; value++) picollo_histogram_record(histogram, value);
    snapshot = snapshot_of(histogram);
    CHECK_OK(picollo_snapshot_rank_of_value(snapshot, 50, 0, &rank));
    CHECK(rank == 0);
    CHECK_OK(picollo_snapshot_rank_of_value(snapshot, UINT64_MAX, 0, &rank));
    CHECK(rank == 100);
    /* The bucket 1488 ..= 1503 is counted whole, or up to the value. */
    CHECK_OK(picollo_snapshot_rank_of_value(snapshot, 1490, 0, &rank));
    CHECK(fabs(rank - 50.4) < 1e-9);
    CHECK_OK(picollo_snapshot_rank_of_value(snapshot, 1490, 1, &rank));
    CHECK(fabs(rank - 49.1) < 1e-9);
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_rank_of_value(snapshot, 1490, 2, &rank));
    picollo_snapshot_free(snapshot);
    picollo_histogram_free(histogram);
}

static void lists_of_buckets(void)
{
    picollo_histogram *histogram = create(0.01, 0, 1000);
    picollo_snapshot *snapshot;
    picollo_bucket buckets[5];
    size_t length = 0;
    picollo_histogram_record(histogram, 3);
    picollo_histogram_record_n(histogram, 128, 2);
    picollo_histogram_record_n(histogram, 129, 5);
    picollo_histogram_record(histogram, 1000);
    snapshot = snapshot_of(histogram);

    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_snapshot_buckets(snapshot, 1, NULL, 0, &length));
    CHECK_U64(3, length);
    length = 77;
    CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, picollo_snapshot_buckets(snapshot, 1, NULL, 1, &length));
    CHECK_U64(77, length);
    memset(buckets, 0xee, sizeof buckets);
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_snapshot_buckets(snapshot, 1, buckets, 2, &length));
    CHECK_U64(3, length);
    CHECK_U64(UINT64_C(0xeeeeeeeeeeeeeeee), buckets[0].lower);
    CHECK_OK(picollo_snapshot_buckets(snapshot, 1, buckets, 3, &length));
    CHECK_U64(3, length);
    CHECK_U64(UINT64_C(0xeeeeeeeeeeeeeeee), buckets[3].lower);
    CHECK(buckets[0].lower == 3 && buckets[0].upper == 3 && buckets[0].step == 1 && buckets[0].count == 1);
    CHECK(buckets[1].lower == 128 && buckets[1].upper == 129 && buckets[1].step == 2 && buckets[1].count == 7);
    CHECK(buckets[2].lower == 1000 && buckets[2].upper == 1007 && buckets[2].count == 1);

    CHECK_OK(picollo_snapshot_bucket_of(snapshot, 129, &buckets[4]));
    CHECK(memcmp(&buckets[4], &buckets[1], sizeof buckets[1]) == 0);
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_bucket_of(snapshot, 1008, &buckets[4]));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_buckets(snapshot, 2, NULL, 0, &length));

    /* All of them touch, from the first to the last. */
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_snapshot_buckets(snapshot, 0, NULL, 0, &length));
    {
        picollo_bucket *all = (picollo_bucket *)malloc(length * sizeof *all);
        uint64_t next = 0, total = 0;
        CHECK_OK(picollo_snapshot_buckets(snapshot, 0, all, length, &length));
        for (size_t i = 0; i < length; i++) {
            CHECK_U64(next, all[i].lower);
            CHECK_U64(i, all[i].storage_index);
            next = all[i].upper + 1;
            total += all[i].count;
        }
        CHECK_U64(1008, next);
        CHECK_U64(9, total);
        free(all);
    }
    picollo_snapshot_free(snapshot);
    picollo_histogram_free(histogram);
}

static void deltas_add_up_across_resets(void)
{
    picollo_histogram *histogram = create(0.01, 100, 1000000);
    picollo_snapshot *deltas = snapshot_of(histogram), *since_reset = snapshot_of(histogram);
    uint64_t state = 11, recorded = 0, out_of_range = 0, sum = 0, sum_below = 0, after_reset = 0;
    for (int interval = 0; interval < 200; interval++) {
        picollo_counts counts;
        const uint64_t number = (next_random(&state) >> 40) % 50;
        for (uint64_t i = 0; i < number; i++) {
            const uint64_t value = (next_random(&state) >> 40) % 1000;
            picollo_histogram_record(histogram, value);
            if (value < 100) out_of_range++;
            else recorded++, after_reset++;
        }
        if (interval % 7 == 3) {
            CHECK_OK(picollo_histogram_reset(histogram));
            after_reset = 0;
        }
        CHECK_OK(picollo_snapshot_update(deltas, 1));
        CHECK_OK(picollo_snapshot_counts(deltas, &counts));
        sum += counts.total;
        sum_below += counts.underflow;
        CHECK_OK(picollo_snapshot_update(since_reset, 0));
        CHECK_U64(after_reset, total_of(since_reset));
    }
    CHECK(recorded > 1000 && out_of_range > 100);
    CHECK_U64(recorded, sum);
    CHECK_U64(out_of_range, sum_below);
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_update(deltas, 2));
    picollo_snapshot_free(deltas);
    picollo_snapshot_free(since_reset);
    picollo_histogram_free(histogram);
}

static void merging(void)
{
    picollo_histogram *first = example(0), *second = example(1);
    picollo_snapshot *a = snapshot_of(first), *b = snapshot_of(second);
    picollo_counts counts;
    picollo_bucket one, other, both;
    CHECK_OK(picollo_snapshot_bucket_of(a, 9152, &one));
    CHECK_OK(picollo_snapshot_bucket_of(b, 9152, &other));
    CHECK_OK(picollo_snapshot_merge(a, b, 0, NULL));
    CHECK_OK(picollo_snapshot_bucket_of(a, 9152, &both));
    CHECK_U64(one.count + other.count, both.count);
    CHECK_OK(picollo_snapshot_counts(a, &counts));
    CHECK_U64(99940 + 145798, counts.total);
    CHECK_U64(60 + 4202, counts.underflow);
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_merge(a, a, 0, NULL));
    CHECK_U64(99940 + 145798, total_of(a));
    /* An update replaces what was merged. */
    CHECK_OK(picollo_snapshot_update(a, 0));
    CHECK_U64(99940, total_of(a));
    picollo_snapshot_free(a);
    picollo_snapshot_free(b);
    picollo_histogram_free(first);
    picollo_histogram_free(second);
}

static void freed_in_any_order(void)
{
    picollo_histogram *histogram = example(0);
    picollo_snapshot *first = snapshot_of(histogram), *second = snapshot_of(histogram);
    picollo_histogram_free(histogram);
    /* The snapshots keep what they are of. */
    CHECK_OK(picollo_snapshot_update(first, 0));
    CHECK_U64(99940, total_of(first));
    picollo_snapshot_free(first);
    CHECK_OK(picollo_snapshot_update(second, 1));
    CHECK_U64(0, total_of(second));
    picollo_snapshot_free(second);
}

int main(void)
{
    RUN(percentiles_of_the_example);
    RUN(percentiles_of_random_values);
    RUN(bad_ranks);
    RUN(nothing_recorded);
    RUN(summary_of_the_example);
    RUN(ranks_of_values);
    RUN(lists_of_buckets);
    RUN(deltas_add_up_across_resets);
    RUN(merging);
    RUN(freed_in_any_order);
    return report();
}
