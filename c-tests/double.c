/* picollo_double.h. */
#include "golden.h"

static void show_double_bucket(const picollo_double_bucket *one)
{
    NUMBERS("bucket", one->lower, one->upper, one->midpoint, (double)one->count);
}

static void show_statistics(const picollo_double_statistics *one)
{
    say("count " U " not finite " U " lost " U "\n", one->count, one->not_finite, one->lost);
    NUMBERS("sum, min, max, mean, deviation, error", one->sum, one->min, one->max, one->mean, one->stddev, one->relative_error);
}

static void doubles(void)
{
    static const double batch[] = {-1.5, 0, 2.5, NAN}, quantiles[] = {0.5, 1}, bad[] = {0.5, 1.5};
    picollo_double_options how = PICOLLO_DOUBLE_OPTIONS_INIT;
    picollo_double_histogram *histogram = NULL;
    picollo_double_snapshot *snapshot = NULL, *other = NULL;
    picollo_double_statistics statistics;
    picollo_double_percentile usual[RANKS];
    picollo_double_summary summary;
    double found[2] = {7, 7};
    const double two[] = {0.5, 2};
    size_t bytes = 0;
    how.relative_error = 0.01;
    how.flags = PICOLLO_DOUBLE_EXACT_SUM | PICOLLO_DOUBLE_DOTNET_RANKS;
    CHECK_OK(picollo_double_histogram_create(&how, &histogram));
    picollo_double_histogram_record(histogram, 1e10);
    picollo_double_histogram_record_n(histogram, 0.1, 3);
    picollo_double_histogram_record_batch(histogram, batch, 4);
    CHECK_OK(picollo_double_histogram_footprint(histogram, &bytes));
    CHECK(bytes > 1000);
    CHECK_OK(picollo_double_snapshot_create(histogram, &snapshot));
    CHECK_OK(picollo_double_snapshot_create(NULL, &other));
    LIST(picollo_double_bucket, show_double_bucket, picollo_double_snapshot_buckets, snapshot);
    CHECK_OK(picollo_double_snapshot_statistics(snapshot, &statistics));
    show_statistics(&statistics);
    CHECK_OK(picollo_double_snapshot_quantiles(snapshot, quantiles, 2, found));
    NUMBERS("quantiles", found[0], found[1]);
    CHECK_OK(picollo_double_snapshot_summary(snapshot, default_ranks, RANKS, usual, &summary));
    show_statistics(&summary.statistics);
    for (int i = 0; i < RANKS; i += 5) {
        NUMBERS("percentile", summary.percentiles[i].rank, summary.percentiles[i].value, (double)summary.percentiles[i].target_count);
        show_double_bucket(&summary.percentiles[i].bucket);
    }
    for (int i = 0; i < 4; i++) LONG_TEXT("Title", picollo_double_summary_format, &summary, "Title", text_form(i));
    CHECK_OK(picollo_double_snapshot_merge(other, snapshot));
    CHECK_OK(picollo_double_snapshot_merge(other, snapshot));
    CHECK_OK(picollo_double_snapshot_statistics(other, &statistics));
    show_statistics(&statistics);
    CHECK_OK(picollo_double_histogram_collect(histogram, quantiles, 2, found, &statistics));
    show_statistics(&statistics);
    NUMBERS("quantiles", found[0], found[1]);
    CHECK_OK(picollo_double_histogram_add(histogram, other));
    CHECK_OK(picollo_double_snapshot_update(snapshot, histogram, PICOLLO_INTERVAL_COLLECT));
    CHECK_OK(picollo_double_snapshot_update(other, histogram, PICOLLO_INTERVAL_LOOK));
    CHECK_OK(picollo_double_snapshot_statistics(snapshot, &statistics));
    show_statistics(&statistics);
    CHECK_OK(picollo_double_snapshot_statistics(other, &statistics));
    show_statistics(&statistics);
    found[0] = 7;
    STATUS(picollo_double_snapshot_quantiles(other, quantiles, 1, found));
    STATUS(picollo_double_snapshot_quantiles(snapshot, bad, 2, found));
    STATUS(picollo_double_histogram_collect(histogram, bad, 2, found, &statistics));
    STATUS(picollo_double_snapshot_update(snapshot, histogram, 2));
    STATUS(picollo_double_snapshot_merge(snapshot, snapshot));
    CHECK(found[0] == 7);
    picollo_double_snapshot_free(other);
    picollo_double_snapshot_free(snapshot);
    picollo_double_histogram_free(histogram);
    histogram = NULL;
    how.max_bytes = 1;
    STATUS(picollo_double_histogram_create(&how, &histogram));
    how.flags = 4;
    STATUS(picollo_double_histogram_create(&how, &histogram));
    CHECK(histogram == NULL);
    how.max_bytes = 0;
    /* .NET's median of two values is the second. */
    for (how.flags = 0; how.flags <= PICOLLO_DOUBLE_DOTNET_RANKS; how.flags++) {
        CHECK_OK(picollo_double_histogram_create(&how, &histogram));
        picollo_double_histogram_record_batch(histogram, two, 2);
        CHECK_OK(picollo_double_histogram_collect(histogram, two, 1, found, &statistics));
        CHECK((found[0] > 1) == (how.flags == PICOLLO_DOUBLE_DOTNET_RANKS));
        picollo_double_histogram_free(histogram);
    }
}

int main(int number, char **arguments)
{
    (void)arguments;
    golden_begin(number, __FILE__);
    GOLDEN(doubles);
    return report();
}
