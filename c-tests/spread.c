/* Counts spread inside buckets: interpolated percentiles, and merging into finer buckets. */
#include "test.h"

static void interpolated_percentiles(void)
{
    /* 1024 ..= 1151 in one bucket of 128 at this error, with 128 observations as if one for each value. */
    picollo_histogram *const histogram = create(0.0625, 0, 10000);
    static const double ranks[] = {100, 50, 0, 25};
    static const double bad[] = {50, 101};
    uint64_t values[4] = {7, 7, 7, 7};
    picollo_snapshot *snapshot = snapshot_of(histogram);
    CHECK_STATUS(PICOLLO_ERR_EMPTY, picollo_snapshot_interpolated_percentiles(snapshot, ranks, 4, values));
    picollo_histogram_record_n(histogram, 1030, 128);
    CHECK_OK(picollo_snapshot_update(snapshot, 0));
    CHECK_OK(picollo_snapshot_interpolated_percentiles(snapshot, ranks, 4, values));
    CHECK_U64(1151, values[0]);
    CHECK_U64(1024 + 63, values[1]);
    CHECK_U64(1024, values[2]);
    CHECK_U64(1024 + 31, values[3]);
    for (int i = 0; i < 4; i++) {
        double rank;
        CHECK_OK(picollo_snapshot_rank_of_value(snapshot, values[i], 1, &rank));
        CHECK(rank >= ranks[i] && rank < ranks[i] + 1);
    }
    values[0] = 7;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_interpolated_percentiles(snapshot, bad, 2, values));
    CHECK_U64(7, values[0]);
    picollo_snapshot_free(snapshot);
    picollo_histogram_free(histogram);
}

/* From coarse buckets into fine ones: all counts arrive, in proportion, and some of them each way. */
static void merging_spreads(void)
{
    picollo_histogram *const coarse = create(0.0625, 0, 10000), *const fine = create(0.001, 0, 10000);
    picollo_histogram *const placed = create(0.001, 0, 10000), *const narrow = create(0.001, 1100, 1200);
    picollo_snapshot *from, *into;
    picollo_counts counts;
    picollo_bucket bucket;
    picollo_histogram_record_n(coarse, 1030, 1280);
    from = snapshot_of(coarse);

    into = snapshot_of(fine);
    CHECK_OK(picollo_snapshot_merge(into, from, 1, NULL));
    CHECK_OK(picollo_snapshot_counts(into, &counts));
    CHECK_U64(1280, counts.total);
    for (uint64_t value = 1024; value < 1152; value += 16) {
        CHECK_OK(picollo_snapshot_bucket_of(into, value, &bucket));
        CHECK_U64(10 * bucket.step, bucket.count);
    }
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_merge(into, into, 1, NULL));
    picollo_snapshot_free(into);

    CHECK_OK(picollo_histogram_add(fine, from, 1, NULL));
    CHECK_OK(picollo_histogram_add(placed, from, 0, NULL));
    into = snapshot_of(fine);
    CHECK_OK(picollo_snapshot_bucket_of(into, 1024, &bucket));
    CHECK_U64(10 * bucket.step, bucket.count);
    picollo_snapshot_free(into);
    into = snapshot_of(placed);
    CHECK_OK(picollo_snapshot_bucket_of(into, 1024 + 64, &bucket));
    CHECK_U64(1280, bucket.count);
    picollo_snapshot_free(into);

    /* What lies out of the range here is underflow, in proportion. */
    CHECK_OK(picollo_histogram_add(narrow, from, 1, NULL));
    into = snapshot_of(narrow);
    CHECK_OK(picollo_snapshot_counts(into, &counts));
    CHECK(counts.total + counts.underflow == 1280 && counts.underflow == 760);
    picollo_snapshot_free(into);

    picollo_snapshot_free(from);
    picollo_histogram_free(narrow);
    picollo_histogram_free(placed);
    picollo_histogram_free(fine);
    picollo_histogram_free(coarse);
}

int main(void)
{
    RUN(interpolated_percentiles);
    RUN(merging_spreads);
    return report();
}
