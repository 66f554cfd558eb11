/* Histograms of doubles: errors, quantiles by both rules, intervals, text, and threads. */
#include "test.h"

#include <float.h>
#include <pthread.h>

static picollo_double_histogram *doubles(double relative_error, uint32_t flags, uint64_t max_bytes)
{
    picollo_double_options options;
    picollo_double_histogram *histogram = NULL;
    memset(&options, 0, sizeof options);
    options.struct_size = sizeof options;
    options.flags = flags;
    options.relative_error = relative_error;
    options.max_bytes = max_bytes;
    CHECK_OK(picollo_double_histogram_create(&options, &histogram));
    if (histogram == NULL) abort();
    return histogram;
}

static picollo_double_statistics collect(picollo_double_histogram *histogram)
{
    picollo_double_statistics statistics;
    memset(&statistics, 0, sizeof statistics);
    CHECK_OK(picollo_double_histogram_collect(histogram, NULL, 0, NULL, &statistics));
    return statistics;
}

static int within(double error, double expected, double actual)
{
    return fabs(actual - expected) <= error * fabs(expected);
}

static void every_value_within_the_error(void)
{
    static const double errors[] = {0.1, 0.01, 0.001, 0.0001};
    static const double middle[] = {0.5};
    uint64_t state = 1;
    for (size_t at = 0; at < sizeof errors / sizeof errors[0]; at++) {
        for (int i = 0; i < rounds(2000); i++) {
            /* A new one each time: collecting looks at all magnitudes that there ever were. */
            picollo_double_histogram *const histogram = doubles(errors[at], 0, 0);
            picollo_double_statistics statistics;
            const uint64_t bits = next_random(&state);
            double value, reported;
            memcpy(&value, &bits, sizeof value);
            /* Finite, and where the error has bits to be seen in. */
            if (!isfinite(value) || fabs(value) < DBL_MIN * 100000) value = 1.0 / (i + 1);
            picollo_double_histogram_record(histogram, value);
            CHECK_OK(picollo_double_histogram_collect(histogram, middle, 1, &reported, &statistics));
            CHECK(within(errors[at], value, reported));
            CHECK(reported == statistics.min && reported == statistics.max && reported == statistics.mean);
            CHECK_U64(1, statistics.count);
            CHECK(statistics.stddev == 0 && statistics.relative_error <= errors[at]);
            picollo_double_histogram_free(histogram);
        }
    }
}

static void nothing_is_no_number(void)
{
    static const double quantiles[] = {0, 0.5, 1};
    picollo_double_histogram *const histogram = doubles(0, 0, 0);
    picollo_double_snapshot *snapshot = NULL;
    picollo_double_statistics statistics;
    picollo_double_summary summary;
    double values[3] = {7, 7, 7};
    char text[256];
    size_t length = 77;
    CHECK_OK(picollo_double_histogram_collect(histogram, quantiles, 3, values, &statistics));
    CHECK(isnan(values[0]) && isnan(values[1]) && isnan(values[2]));
    CHECK(isnan(statistics.min) && isnan(statistics.max) && isnan(statistics.mean) && isnan(statistics.stddev));
    CHECK(statistics.sum == 0 && statistics.count == 0);
    CHECK_OK(picollo_double_snapshot_create(NULL, &snapshot));
    CHECK_STATUS(PICOLLO_ERR_EMPTY, picollo_double_snapshot_quantiles(snapshot, quantiles, 3, values));
    CHECK_OK(picollo_double_snapshot_quantiles(snapshot, NULL, 0, NULL));
    CHECK_OK(picollo_double_snapshot_summary(snapshot, &summary));
    CHECK(summary.statistics.count == 0 && summary.percentiles[0].target_count == 0);
    CHECK_OK(picollo_double_summary_format(&summary, "Nothing", PICOLLO_TEXT_LINE, text, sizeof text, &length));
    CHECK(strncmp(text, "Nothing: Total=0, Mean=n/a, P0=n/a", 34) == 0);
    CHECK_OK(picollo_double_snapshot_buckets(snapshot, NULL, 0, &length));
    CHECK_U64(0, length);
    picollo_double_snapshot_free(snapshot);
    picollo_double_histogram_free(histogram);
}

/* 1.0019 is reported as 1.0 there at an error of 0.001. */
static void what_dot_net_breaks_is_kept(void)
{
    static const double quantile = 0.5;
    for (uint32_t flags = 0; flags < 4; flags++) {
        picollo_double_histogram *const histogram = doubles(0.001, flags, 0);
        picollo_double_statistics statistics;
        double value;
        picollo_double_histogram_record(histogram, 1.0019);
        CHECK_OK(picollo_double_histogram_collect(histogram, &quantile, 1, &value, &statistics));
        CHECK(within(0.001, 1.0019, value) && value != 1.0);
        picollo_double_histogram_free(histogram);
    }
}

static void quantiles_by_both_rules(void)
{
    static const double quantiles[] = {0, 0.1, 0.25, 0.5, 0.75, 0.9, 1};
    /* Of 1 ..= 10, number max(1, ceil(q * 10)) from 1, and min(floor(q * 10), 9) from 0. */
    static const double nearest[] = {1, 1, 3, 5, 8, 9, 10}, dot_net[] = {1, 2, 3, 6, 8, 10, 10};
    for (uint32_t compatible = 0; compatible < 2; compatible++) {
        picollo_double_histogram *const histogram =
            doubles(0.0001, compatible ? PICOLLO_DOUBLE_DOTNET_RANKS : 0, 0);
        picollo_double_statistics statistics;
        double values[7];
        for (int value = 10; value > 0; value--) picollo_double_histogram_record(histogram, value);
        CHECK_OK(picollo_double_histogram_collect(histogram, quantiles, 7, values, &statistics));
        for (int i = 0; i < 7; i++) CHECK(within(0.0001, compatible ? dot_net[i] : nearest[i], values[i]));
        picollo_double_histogram_free(histogram);
    }
}

static void both_signs_zeros_and_what_is_not_finite(void)
{
    static const double values[] = {-2.5, -1e300, -0.0, 0.0, 1e-300, 4.0, NAN, INFINITY, -INFINITY};
    static const double zero[] = {0.5};
    picollo_double_histogram *const histogram = doubles(0.01, 0, 0);
    picollo_double_statistics statistics;
    double middle = 7;
    picollo_double_histogram_record_batch(histogram, values, sizeof values / sizeof values[0]);
    picollo_double_histogram_record_n(histogram, -2.5, 0);
    CHECK_OK(picollo_double_histogram_collect(histogram, zero, 1, &middle, &statistics));
    CHECK_U64(6, statistics.count);
    CHECK_U64(3, statistics.not_finite);
    CHECK_U64(0, statistics.lost);
    CHECK(middle == 0 && within(0.01, -1e300, statistics.min) && within(0.01, 4, statistics.max));
    CHECK(within(0.01, -1e300, statistics.sum));
    picollo_double_histogram_free(histogram);
}

static void exact_sums(void)
{
    picollo_double_histogram *const histogram = doubles(0.1, PICOLLO_DOUBLE_EXACT_SUM, 0);
    picollo_double_histogram *const second = doubles(0.1, PICOLLO_DOUBLE_EXACT_SUM, 0);
    picollo_double_snapshot *snapshot = NULL;
    picollo_double_statistics statistics;
    picollo_double_histogram_record(histogram, 1e300);
    picollo_double_histogram_record_n(histogram, 0.1, 10);
    picollo_double_histogram_record(histogram, -1e300);
    CHECK_OK(picollo_double_snapshot_create(NULL, &snapshot));
    CHECK_OK(picollo_double_snapshot_update(snapshot, histogram, 0));
    CHECK_OK(picollo_double_histogram_add(second, snapshot));
    statistics = collect(histogram);
    CHECK(statistics.sum == 1.0 && statistics.min == -1e300 && statistics.max == 1e300);
    statistics = collect(second);
    CHECK(statistics.sum == 1.0 && statistics.min == -1e300 && statistics.count == 12);
    picollo_double_snapshot_free(snapshot);
    picollo_double_histogram_free(second);
    picollo_double_histogram_free(histogram);
}

static void looking_leaves_and_collecting_takes(void)
{
    picollo_double_histogram *const histogram = doubles(0.01, 0, 0);
    picollo_double_snapshot *now = NULL, *all = NULL, *look = NULL;
    picollo_double_statistics statistics;
    picollo_double_bucket buckets[2];
    size_t length = 77;
    /* Each owner frees its own. */
    CHECK(picollo_double_histogram_retain(histogram) == histogram && picollo_double_histogram_retain(NULL) == NULL);
    picollo_double_histogram_free(histogram);
    CHECK_OK(picollo_double_snapshot_create(NULL, &now));
    CHECK_OK(picollo_double_snapshot_create(NULL, &all));
    for (int i = 0; i < 3; i++) {
        picollo_double_histogram_record_n(histogram, -1.5, 2);
        picollo_double_histogram_record(histogram, 1.5);
        CHECK_OK(picollo_double_snapshot_create(histogram, &look));
        CHECK_OK(picollo_double_snapshot_statistics(look, &statistics));
        CHECK_U64(3, statistics.count);
        picollo_double_snapshot_free(look);
        CHECK_OK(picollo_double_snapshot_update(now, histogram, 0));
        CHECK_OK(picollo_double_snapshot_update(now, histogram, 0));
        CHECK_OK(picollo_double_snapshot_update(now, histogram, 1));
        CHECK_OK(picollo_double_snapshot_statistics(now, &statistics));
        CHECK_U64(3, statistics.count);
        CHECK_OK(picollo_double_snapshot_merge(all, now));
    }
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_double_snapshot_update(now, histogram, 2));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_double_snapshot_merge(all, all));
    CHECK_OK(picollo_double_snapshot_update(now, histogram, 1));
    CHECK_OK(picollo_double_snapshot_statistics(now, &statistics));
    CHECK_U64(0, statistics.count);
    CHECK_OK(picollo_double_snapshot_statistics(all, &statistics));
    CHECK_U64(9, statistics.count);
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_double_snapshot_buckets(all, buckets, 1, &length));
    CHECK_U64(2, length);
    CHECK_OK(picollo_double_snapshot_buckets(all, buckets, 2, &length));
    CHECK(buckets[0].lower <= -1.5 && -1.5 <= buckets[0].upper && buckets[0].count == 6);
    CHECK(buckets[1].lower <= 1.5 && 1.5 <= buckets[1].upper && buckets[1].count == 3);
    picollo_double_snapshot_free(all);
    picollo_double_snapshot_free(now);
    picollo_double_histogram_free(histogram);
}

static void options_and_arguments(void)
{
    picollo_double_options options;
    picollo_double_histogram *histogram = NULL;
    picollo_double_statistics statistics;
    double values[2] = {7, 7};
    static const double bad[][2] = {{0.5, -0.01}, {1.01, 0.5}, {NAN, 0.5}};
    memset(&options, 0, sizeof options);
    options.struct_size = sizeof options - 1;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_double_histogram_create(&options, &histogram));
    options.struct_size = sizeof options;
    options.flags = 1u << 2;
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_double_histogram_create(&options, &histogram));
    options.flags = 0;
    options.max_bytes = 100;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_double_histogram_create(&options, &histogram));
    CHECK(histogram == NULL);
    CHECK_OK(picollo_double_histogram_create(NULL, &histogram));
    picollo_double_histogram_record(histogram, 3);
    memset(&statistics, 0x5a, sizeof statistics);
    for (int i = 0; i < 3; i++) {
        picollo_double_statistics untouched = statistics;
        CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT,
                     picollo_double_histogram_collect(histogram, bad[i], 2, values, &statistics));
        CHECK(memcmp(&untouched, &statistics, sizeof untouched) == 0 && values[0] == 7);
    }
    CHECK_U64(1, collect(histogram).count);
    picollo_double_histogram_free(histogram);
}

static void a_limit_holds_and_what_does_not_fit_is_lost(void)
{
    size_t empty, bytes;
    picollo_double_statistics statistics;
    picollo_double_histogram *histogram = doubles(0.001, 0, 0);
    CHECK_OK(picollo_double_histogram_footprint(histogram, &empty));
    picollo_double_histogram_free(histogram);
    /* Room for a page of rows and one row: 512 cells of 8 bytes for each of two intervals. */
    histogram = doubles(0.001, 0, empty + 512 + 8192);
    for (int i = 0; i < 10; i++) picollo_double_histogram_record(histogram, 1.5);
    for (int i = 0; i < 7; i++) picollo_double_histogram_record(histogram, 3.0);
    CHECK_OK(picollo_double_histogram_footprint(histogram, &bytes));
    CHECK(bytes <= empty + 512 + 8192 && bytes > empty);
    statistics = collect(histogram);
    CHECK_U64(10, statistics.count);
    CHECK_U64(7, statistics.lost);
    picollo_double_histogram_free(histogram);
}

/* Exact sums and extremes are those of what was counted. */
static void what_is_lost_is_in_nothing_else(void)
{
    const uint32_t exact = PICOLLO_DOUBLE_EXACT_SUM;
    const double values[] = {3.0, 1.5, -7.0};
    size_t empty;
    picollo_double_statistics statistics;
    picollo_double_snapshot *snapshot = NULL;
    picollo_double_histogram *other = doubles(0.001, exact, 0), *histogram = doubles(0.001, exact, 0);
    CHECK_OK(picollo_double_histogram_footprint(histogram, &empty));
    picollo_double_histogram_free(histogram);
    histogram = doubles(0.001, exact, empty + 512 + 8192);
    picollo_double_histogram_record(histogram, 1.5);
    picollo_double_histogram_record_n(histogram, 4.0, 6);
    picollo_double_histogram_record_batch(histogram, values, 3);
    statistics = collect(histogram);
    CHECK(statistics.count == 2 && statistics.lost == 8);
    CHECK(statistics.sum == 3.0 && statistics.mean == 1.5 && statistics.min == 1.5 && statistics.max == 1.5);
    /* Of a snapshot that does not fit whole, the middles of the buckets that do. */
    picollo_double_histogram_record_batch(other, values, 3);
    CHECK_OK(picollo_double_snapshot_create(NULL, &snapshot));
    CHECK_OK(picollo_double_snapshot_update(snapshot, other, 1));
    CHECK_OK(picollo_double_histogram_add(histogram, snapshot));
    statistics = collect(histogram);
    CHECK(statistics.count == 1 && statistics.lost == 2);
    CHECK(within(0.001, 1.5, statistics.sum) && statistics.min == statistics.sum && statistics.max == statistics.sum);
    picollo_double_snapshot_free(snapshot);
    picollo_double_histogram_free(other);
    picollo_double_histogram_free(histogram);
}

static void text(void)
{
    picollo_double_histogram *const histogram = doubles(0.01, 0, 0);
    picollo_double_snapshot *snapshot = NULL;
    picollo_double_summary summary;
    char small[8], table[8192];
    size_t needed = 0, length = 0;
    for (int i = 1; i <= 100; i++) picollo_double_histogram_record(histogram, i * 0.5);
    CHECK_OK(picollo_double_snapshot_create(NULL, &snapshot));
    CHECK_OK(picollo_double_snapshot_update(snapshot, histogram, 1));
    CHECK_OK(picollo_double_snapshot_summary(snapshot, &summary));
    CHECK(summary.percentiles[5].rank == 50 && within(0.01, 25, summary.percentiles[5].value));
    CHECK_U64(50, summary.percentiles[5].target_count);
    for (uint32_t format = 0; format < 4; format++) {
        CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_double_summary_format(&summary, "T", format, NULL, 0, &needed));
        CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL,
                     picollo_double_summary_format(&summary, "T", format, small, sizeof small, &length));
        CHECK(length == needed && small[0] == 0);
        CHECK_OK(picollo_double_summary_format(&summary, "T", format, table, needed + 1, &length));
        CHECK(length == needed && strlen(table) == needed);
    }
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_double_summary_format(&summary, "T", 6, table, sizeof table, &length));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT,
                 picollo_double_summary_format(&summary, "\xff", 0, table, sizeof table, &length));
    CHECK_OK(picollo_double_summary_format(&summary, "T", PICOLLO_TEXT_MARKDOWN, table, sizeof table, &length));
    CHECK(strstr(table, "| 50         |") != NULL && strstr(table, "| Sum:") != NULL);
    picollo_double_snapshot_free(snapshot);
    picollo_double_histogram_free(histogram);
}

#define WRITERS 3
#define RECORDS 400000

static picollo_double_histogram *shared_histogram;

static void *write_doubles(void *seed)
{
    uint64_t state = *(const uint64_t *)seed;
    const int number = rounds(RECORDS);
    for (int i = 0; i < number; i++) {
        const int value = (int)(next_random(&state) >> 40) % 1000 - 500;
        picollo_double_histogram_record(shared_histogram, value);
    }
    return NULL;
}

/* Every record is in exactly one interval, by its count and by its exact sum. */
static void collections_beside_writers(void)
{
    for (uint32_t exact = 0; exact < 2; exact++) {
        pthread_t writers[WRITERS];
        uint64_t seeds[WRITERS], total = 0;
        double sum = 0, truth = 0;
        shared_histogram = doubles(0.01, exact ? PICOLLO_DOUBLE_EXACT_SUM : 0, 0);
        for (uint64_t i = 0; i < WRITERS; i++) {
            seeds[i] = i + 1;
            CHECK(pthread_create(&writers[i], NULL, write_doubles, &seeds[i]) == 0);
        }
        for (int i = 0; i < 300; i++) {
            const picollo_double_statistics statistics = collect(shared_histogram);
            total += statistics.count;
            sum += statistics.sum;
        }
        for (int i = 0; i < WRITERS; i++) CHECK(pthread_join(writers[i], NULL) == 0);
        {
            const picollo_double_statistics statistics = collect(shared_histogram);
            total += statistics.count;
            sum += statistics.sum;
        }
        CHECK_U64((uint64_t)WRITERS * (uint64_t)rounds(RECORDS), total);
        for (uint64_t i = 0; i < WRITERS; i++) {
            uint64_t state = i + 1;
            for (int n = 0; n < rounds(RECORDS); n++) truth += (int)(next_random(&state) >> 40) % 1000 - 500;
        }
        if (exact) CHECK(sum == truth);
        picollo_double_histogram_free(shared_histogram);
    }
}

int main(void)
{
    RUN(every_value_within_the_error);
    RUN(nothing_is_no_number);
    RUN(what_dot_net_breaks_is_kept);
    RUN(quantiles_by_both_rules);
    RUN(both_signs_zeros_and_what_is_not_finite);
    RUN(exact_sums);
    RUN(looking_leaves_and_collecting_takes);
    RUN(options_and_arguments);
    RUN(a_limit_holds_and_what_does_not_fit_is_lost);
    RUN(what_is_lost_is_in_nothing_else);
    RUN(text);
    RUN(collections_beside_writers);
    return report();
}
