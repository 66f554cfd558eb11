/* Calls each function that computes or formats, once or a few times. golden.txt has the results, a part for each test
 * here. Core tests which results are right. These tests check the way through the interface: arguments, fields,
 * statuses, and buffer contents.
 *
 *   golden            compares
 *   golden --write    prints all parts, as golden.txt should contain them */
#include "test.h"

#include <stdarg.h>

#define U "%" PRIu64

static char said[1 << 18], text[1 << 16];
static size_t said_length, statuses_end;

static void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    said_length += (size_t)vsnprintf(said + said_length, sizeof said - said_length, format, arguments);
    va_end(arguments);
    if (said_length >= sizeof said) abort();
}

/* Ten digits, on which all platforms agree. */
static void numbers(const char *what, size_t length, const double *values)
{
    say("%s", what);
    for (size_t i = 0; i < length; i++) {
        if (isnan(values[i])) say(" nan");
        else say(" %.10g", values[i]);
    }
    say("\n");
}
#define NUMBERS(what, ...)                                                                          \
    do {                                                                                            \
        const double values_[] = {__VA_ARGS__};                                                     \
        numbers(what, sizeof values_ / sizeof *values_, values_);                                   \
    } while (0)

/* Consecutive statuses are on one line. */
static void say_status(picollo_status status)
{
    const int follows = said_length > 0 && said_length == statuses_end;
    said_length -= (size_t)follows;
    say(follows ? " %d\n" : "%d\n", (int)status);
    statuses_end = said_length;
}
#define STATUS(call) say_status(call)

/* A function that formats: called for the length, with room for all except the NUL, and with enough room. */
#define FORMAT(function, ...)                                                                       \
    do {                                                                                            \
        size_t needed_ = 0, length_ = 0;                                                            \
        CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, function(__VA_ARGS__, NULL, 0, &needed_));       \
        if (needed_ + 2 > sizeof text) abort();                                                     \
        memset(text, 0x5a, needed_ + 2);                                                            \
        CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, function(__VA_ARGS__, text, needed_, &length_)); \
        CHECK(length_ == needed_ && text[0] == 0 && text[1] == 0x5a);                               \
        CHECK_OK(function(__VA_ARGS__, text, needed_ + 1, &length_));                               \
        CHECK(length_ == needed_ && strlen(text) == needed_ && text[needed_ + 1] == 0x5a);          \
    } while (0)
#define TEXT(function, ...)                                                                         \
    do {                                                                                            \
        FORMAT(function, __VA_ARGS__);                                                              \
        say("%s\n", text);                                                                          \
    } while (0)
/* Texts that are long, or have digits that differ between platforms: prints the beginning, and checks for required
 * parts. */
#define LONG_TEXT(found, function, ...)                                                               \
    do {                                                                                            \
        FORMAT(function, __VA_ARGS__);                                                              \
        CHECK(strstr(text, found) != NULL);                                                         \
        say("%.100s\n", text);                                                                       \
    } while (0)

/* A function that lists structs. */
#define LIST(type, show, function, ...)                                                             \
    do {                                                                                            \
        size_t needed_ = 0, length_ = 0;                                                            \
        type *list_;                                                                                \
        CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, function(__VA_ARGS__, NULL, 0, &needed_));       \
        list_ = (type *)malloc((needed_ + 1) * sizeof(type));                                       \
        memset(list_, 0x5a, (needed_ + 1) * sizeof(type));                                          \
        CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, function(__VA_ARGS__, list_, needed_ - 1, &length_)); \
        CHECK(length_ == needed_ && *(unsigned char *)list_ == 0x5a);                               \
        CHECK_OK(function(__VA_ARGS__, list_, needed_, &length_));                                  \
        CHECK(length_ == needed_ && *(unsigned char *)(list_ + needed_) == 0x5a);                   \
        for (size_t i_ = 0; i_ < needed_; i_++) show(&list_[i_]);                                   \
        free(list_);                                                                                \
    } while (0)

static void show_bucket(const picollo_bucket *one)
{
    say("bucket " U " " U " step " U " count " U " at " U " " U "\n", one->lower, one->upper, one->step, one->count, one->storage_index, one->logical_index);
}

static void show_percentile(const picollo_percentile *one)
{
    say("P%g " U " target " U " ", one->rank, one->value, one->target_count);
    show_bucket(&one->bucket);
}

static void show_counts(const picollo_snapshot *snapshot)
{
    picollo_counts counts;
    CHECK_OK(picollo_snapshot_counts(snapshot, &counts));
    say("counts " U " below " U " above " U " lost " U "\n", counts.total, counts.underflow, counts.overflow, counts.lost);
}

static void show_layout(const picollo_layout *one)
{
    say("layout " U " " U " from " U " length " U " error %.10g scale %u digits %u unit " U "\n", one->min_trackable, one->max_trackable, one->first_index,
        one->length, one->relative_error, one->block_scale, one->significant_digits, one->unit);
}

static void show_step(const picollo_step *one)
{
    say("step " U " " U " adds " U " to " U " rank %.10g of %.10g\n", one->from, one->to, one->added_count, one->cumulative_count, one->rank, one->rank_level);
}

static void show_merged(const picollo_merged *one)
{
    say("refined " U " below " U " above " U " lost " U "\n", one->refined, one->underflow, one->overflow, one->lost);
}

static void show_summary(const picollo_summary *one)
{
    say("summary " U " below " U " above " U " lost " U " range " U " " U " selection %u flags %u\n", one->total_count, one->underflow_count,
        one->overflow_count, one->lost_count, one->min_trackable, one->max_trackable, one->value_selection, one->flags);
    NUMBERS("mean, deviation, error", one->mean, one->stddev, one->relative_error);
    for (int i = 0; i < RANKS; i += 5) show_percentile(&one->percentiles[i]);
}

static void show_interval(const picollo_quantile_interval *one)
{
    NUMBERS("quantile", one->quantile, one->confidence, one->coverage);
    say("of " U " target " U " value " U " in " U " " U " middles " U " " U " counts " U " " U " width " U "\n", one->total_count, one->target_count,
        one->value, one->lower, one->upper, one->lower_midpoint, one->upper_midpoint, one->lower_count, one->upper_count, one->bucket_width);
}

static void show_double_bucket(const picollo_double_bucket *one)
{
    NUMBERS("bucket", one->lower, one->upper, one->midpoint, (double)one->count);
}

static void show_statistics(const picollo_double_statistics *one)
{
    say("count " U " not finite " U " lost " U "\n", one->count, one->not_finite, one->lost);
    NUMBERS("sum, min, max, mean, deviation, error", one->sum, one->min, one->max, one->mean, one->stddev, one->relative_error);
}

/* 1 ..= 100, and three each of those that are not counted in range. */
static picollo_histogram *hundred(void)
{
    picollo_histogram *const histogram = create(0.1, 3, 95);
    for (uint64_t value = 1; value <= 100; value++) picollo_histogram_record(histogram, value);
    return histogram;
}

/* Two values in two of eleven buckets. */
static picollo_histogram *few(void)
{
    picollo_histogram *const histogram = create(0.1, 14, 35);
    picollo_histogram_record_n(histogram, 16, 2);
    picollo_histogram_record(histogram, 34);
    return histogram;
}

static picollo_snapshot *only_snapshot(picollo_histogram *histogram)
{
    picollo_snapshot *const snapshot = snapshot_of(histogram);
    picollo_histogram_free(histogram);
    return snapshot;
}

static void show_buckets(const picollo_snapshot *snapshot)
{
    LIST(picollo_bucket, show_bucket, picollo_snapshot_buckets, snapshot, 1);
}

static void versions(void)
{
    CHECK_U64(PICOLLO_ABI_VERSION, picollo_abi_version());
    CHECK_TEXT("0.1.0", picollo_version());
    for (picollo_status status = 1; status >= -17; status--) say("%d %s\n", (int)status, picollo_status_str(status));
    say("%s %s %s\n", picollo_status_str(PICOLLO_END), picollo_status_str(PICOLLO_ERR_PANIC), picollo_status_str(INT32_MIN));
}

static void options(void)
{
    picollo_histogram_options asked = default_options();
    /* Unchanged on success. */
    picollo_error error;
    memset(&error, 0, sizeof error);
    error.status = 1;
    picollo_layout layout;
    picollo_footprint estimate;
    picollo_histogram *histogram;
    picollo_bucket bucket;
    size_t bytes = 0, size = 0, align = 0;
    CHECK_OK(picollo_layout_of_options(NULL, &layout));
    show_layout(&layout);
    asked.significant_digits = 2;
    asked.min_trackable = 100;
    asked.max_trackable = 10000;
    asked.unit = 5;
    asked.mode = PICOLLO_MODE_SINGLE_WRITER;
    asked.counter_bits = 32;
    CHECK_OK(picollo_layout_of_options(&asked, &layout));
    show_layout(&layout);
    CHECK_OK(picollo_layout_bucket_of(&layout, 1000, &bucket));
    show_bucket(&bucket);
    CHECK_OK(picollo_layout_bucket_of(&layout, 50, &bucket));
    show_bucket(&bucket);
    CHECK_OK(picollo_layout_with_range(&layout, 8, 500, &layout));
    show_layout(&layout);
    STATUS(picollo_layout_with_range(&layout, 500, 8, &layout));
    histogram = create_from(&asked);
    CHECK_OK(picollo_layout_of_options(&asked, &layout));
    show_layout(&layout);
    CHECK_OK(picollo_histogram_estimate(&asked, &estimate));
    CHECK_OK(picollo_histogram_footprint(histogram, &bytes));
    CHECK(estimate.counters == layout.length && estimate.initial_bytes == bytes && estimate.max_bytes == bytes && estimate.step_bytes == 0);
    CHECK_OK(picollo_snapshot_required_size(histogram, &size, &align));
    CHECK_U64(size, estimate.snapshot_bytes);
    CHECK_OK(picollo_histogram_required_size(&asked, &size, &align));
    CHECK(size > 0 && align == 64);
    picollo_histogram_free(histogram);

    CHECK_OK(picollo_histogram_explain(&asked, &error));
    say("[%s]\n", error.message);
    for (int wrong = 0; wrong < 9; wrong++) {
        asked = default_options();
        if (wrong == 0) asked.struct_size = 3;
        if (wrong == 1) asked.mode = 5;
        if (wrong == 2) asked.storage = 2;
        if (wrong == 3) asked.counter_bits = 7;
        if (wrong == 4) asked.significant_digits = 6;
        if (wrong == 5) asked.flags = 1u << 31;
        if (wrong == 6) asked.min_trackable = 10, asked.max_trackable = 5;
        if (wrong == 7) asked.storage = PICOLLO_STORAGE_SPARSE, asked.mode = PICOLLO_MODE_PER_CPU;
        if (wrong == 8) asked.counter_bits = 7, asked.mode = 9;
        histogram = NULL;
        const picollo_status status = picollo_histogram_explain(&asked, &error);
        say("%d %d %s\n", (int)status, (int)error.status, error.message);
        CHECK_STATUS(status, picollo_histogram_explain(&asked, NULL));
        CHECK_STATUS(status, picollo_histogram_create(&asked, &histogram));
        CHECK_STATUS(status, picollo_histogram_required_size(&asked, &size, &align));
        CHECK_STATUS(status, picollo_layout_of_options(&asked, &layout));
        CHECK_STATUS(status, picollo_histogram_estimate(&asked, &estimate));
        CHECK(histogram == NULL);
    }
}

static void recording(void)
{
    static const uint64_t batch[] = {10, 20, 30, 5000};
    picollo_histogram *const histogram = create(0.001, 1, 1000);
    picollo_snapshot *const snapshot = snapshot_of(histogram);
    picollo_histogram_record(histogram, 0);
    picollo_histogram_record_n(histogram, 40, 4);
    picollo_histogram_record_batch(histogram, batch, 4);
    picollo_histogram_record_batch(histogram, NULL, 0);
    picollo_histogram_record_corrected(histogram, 300, 100);
    picollo_histogram_record_corrected(histogram, 700, 400);
    picollo_histogram_record_corrected(histogram, 700, 400);
    STATUS(picollo_histogram_record_in_range(histogram, 50, 50, 60));
    STATUS(picollo_histogram_record_in_range(histogram, 49, 50, 60));
    STATUS(picollo_histogram_record_in_range(histogram, 61, 50, 60));
    CHECK_OK(picollo_snapshot_update(snapshot, PICOLLO_SINCE_PREVIOUS));
    show_counts(snapshot);
    show_buckets(snapshot);
    CHECK_OK(picollo_histogram_reset(histogram));
    picollo_histogram_record(histogram, 77);
    CHECK_OK(picollo_snapshot_update(snapshot, PICOLLO_SINCE_PREVIOUS));
    show_counts(snapshot);
    picollo_histogram_record(histogram, 78);
    CHECK_OK(picollo_snapshot_update(snapshot, PICOLLO_SINCE_RESET));
    show_counts(snapshot);
    STATUS(picollo_snapshot_update(snapshot, 2));
    picollo_snapshot_free(snapshot);
    picollo_histogram_free(histogram);
}

/* Each owner of a reference may use and release it, in any order. */
static void lifetimes(void)
{
    static unsigned char room[32768 + 63];
    void *const memory = room + (64 - (uintptr_t)room % 64) % 64;
    picollo_histogram *const histogram = hundred();
    picollo_histogram *placed = NULL;
    picollo_snapshot *first = snapshot_of(histogram), *second = snapshot_of(histogram);
    picollo_histogram_options asked = default_options();
    /* With any seed, no two histograms have the same identity. */
    picollo_seed_identities(7);
    CHECK(picollo_histogram_retain(NULL) == NULL && picollo_histogram_retain(histogram) == histogram);
    picollo_histogram_free(histogram);
    picollo_histogram_record(histogram, 50);
    picollo_histogram_free(histogram);
    /* The snapshots keep their histograms alive. */
    CHECK_OK(picollo_snapshot_update(first, PICOLLO_SINCE_RESET));
    show_counts(first);
    picollo_snapshot_free(first);
    CHECK_OK(picollo_snapshot_update(second, PICOLLO_SINCE_PREVIOUS));
    show_counts(second);
    picollo_snapshot_free(second);
    /* References to a histogram in the caller's memory are not counted. */
    asked.relative_error = 0.1;
    asked.max_trackable = 1000;
    CHECK_OK(picollo_histogram_init_in(memory, 32768, &asked, &placed));
    CHECK(picollo_histogram_retain(placed) == placed);
    picollo_histogram_free(placed);
    picollo_histogram_free(placed);
    picollo_histogram_record(placed, 5);
    CHECK_U64(1, counts_of(placed).total);
}

static void reading(void)
{
    static const double ranks[] = {100, 0, 12.5, 50}, bad[] = {50, 100.001};
    picollo_histogram *const histogram = hundred();
    picollo_snapshot *snapshot = snapshot_of(histogram), *const none = only_snapshot(create(0.1, 0, 1000)), *const small = only_snapshot(few());
    picollo_percentile percentiles[4];
    uint64_t values[4] = {7, 7, 7, 7}, count = 0;
    picollo_bucket bucket;
    picollo_layout layout;
    picollo_percentile usual[RANKS];
    picollo_summary summary;
    double rank;
    show_counts(snapshot);
    CHECK_OK(picollo_snapshot_percentiles(snapshot, ranks, 4, PICOLLO_VALUE_MIDPOINT, percentiles));
    for (int i = 0; i < 4; i++) show_percentile(&percentiles[i]);
    for (uint32_t selection = 0; selection < 3; selection++) {
        CHECK_OK(picollo_snapshot_percentile_values(snapshot, ranks, 4, selection, values));
        say("values " U " " U " " U " " U "\n", values[0], values[1], values[2], values[3]);
    }
    CHECK_OK(picollo_snapshot_interpolated_percentiles(snapshot, ranks, 4, values));
    say("interpolated " U " " U " " U " " U "\n", values[0], values[1], values[2], values[3]);
    for (uint32_t interpolate = 0; interpolate < 2; interpolate++) {
        CHECK_OK(picollo_snapshot_rank_of_value(snapshot, 65, interpolate, &rank));
        NUMBERS("rank", rank);
    }
    CHECK_OK(picollo_snapshot_bucket_of(snapshot, 65, &bucket));
    show_bucket(&bucket);
    CHECK_OK(picollo_snapshot_count_between(snapshot, 10, 19, &count));
    say("between " U "\n", count);
    CHECK_OK(picollo_snapshot_layout(snapshot, &layout));
    show_layout(&layout);
    CHECK_OK(SUMMARIZE(snapshot, snapshot, PICOLLO_VALUE_UPPER, usual, &summary));
    show_summary(&summary);
    CHECK_OK(SUMMARIZE(histogram, histogram, PICOLLO_VALUE_LOWER, usual, &summary));
    show_summary(&summary);
    CHECK(summary.timestamp_unix_nanos > UINT64_C(1577836800000000000) && summary.timestamp_unix_nanos < UINT64_C(4102444800000000000));
    LIST(picollo_bucket, show_bucket, picollo_snapshot_buckets, small, 0);
    LIST(picollo_step, show_step, picollo_snapshot_linear_steps, snapshot, 40);
    LIST(picollo_step, show_step, picollo_snapshot_logarithmic_steps, snapshot, 8, 4.0);
    LIST(picollo_step, show_step, picollo_snapshot_percentile_steps, snapshot, 2);

    /* Refused, and nothing is written. */
    values[0] = 7;
    percentiles[0].value = 7;
    STATUS(picollo_snapshot_percentile_values(snapshot, bad, 2, PICOLLO_VALUE_MIDPOINT, values));
    STATUS(picollo_snapshot_percentiles(snapshot, bad, 2, PICOLLO_VALUE_MIDPOINT, percentiles));
    STATUS(picollo_snapshot_interpolated_percentiles(snapshot, bad, 2, values));
    STATUS(picollo_snapshot_percentile_values(snapshot, ranks, 2, 3, values));
    STATUS(picollo_snapshot_percentile_values(snapshot, ranks, SIZE_MAX, PICOLLO_VALUE_MIDPOINT, values));
    STATUS(picollo_snapshot_percentile_values(none, ranks, 1, PICOLLO_VALUE_MIDPOINT, values));
    STATUS(picollo_snapshot_interpolated_percentiles(none, ranks, 1, values));
    STATUS(picollo_snapshot_rank_of_value(none, 65, 0, &rank));
    STATUS(picollo_snapshot_rank_of_value(snapshot, 65, 2, &rank));
    STATUS(picollo_snapshot_bucket_of(snapshot, 96, &bucket));
    STATUS(picollo_snapshot_summary(snapshot, 3, NULL, 0, NULL, &summary));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_summary(snapshot, PICOLLO_VALUE_MIDPOINT, bad, 2, percentiles, &summary));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_summary(none, PICOLLO_VALUE_MIDPOINT, bad, 2, percentiles, &summary));
    STATUS(picollo_histogram_summary(histogram, 3, NULL, 0, NULL, &summary));
    CHECK(values[0] == 7 && percentiles[0].value == 7);
    CHECK_OK(SUMMARIZE(snapshot, none, PICOLLO_VALUE_MIDPOINT, usual, &summary));
    show_summary(&summary);
    picollo_snapshot_free(small);
    picollo_snapshot_free(none);
    picollo_snapshot_free(snapshot);
    picollo_histogram_free(histogram);
}

static void merging(void)
{
    picollo_histogram *const fine = create(0.001, 900, 3000), *const coarse = create(0.1, 0, 100000);
    picollo_snapshot *into, *from, *copy = NULL;
    picollo_layout layout;
    picollo_merged merged;
    picollo_histogram_record_n(fine, 1001, 3);
    picollo_histogram_record_n(coarse, 1000, 64);
    picollo_histogram_record_n(coarse, 50, 2);
    picollo_histogram_record_n(coarse, 50000, 5);
    from = snapshot_of(coarse);
    for (uint32_t placement = 0; placement < 3; placement++) {
        into = snapshot_of(fine);
        CHECK_OK(picollo_snapshot_merge(into, from, placement, &merged));
        show_merged(&merged);
        show_counts(into);
        if (placement != PICOLLO_PLACEMENT_SPREAD) show_buckets(into);
        if (placement == PICOLLO_PLACEMENT_MIDPOINT) {
            CHECK_OK(picollo_snapshot_subtract(into, from, &merged));
            show_merged(&merged);
            show_counts(into);
            STATUS(picollo_snapshot_subtract(into, from, &merged));
        }
        picollo_snapshot_free(into);
    }
    STATUS(picollo_snapshot_merge(from, from, 0, NULL));
    STATUS(picollo_snapshot_merge(from, from, 3, NULL));
    CHECK_OK(picollo_histogram_add(fine, from, PICOLLO_PLACEMENT_LOW_ENDS, &merged));
    show_merged(&merged);
    CHECK_OK(picollo_snapshot_copy(from, &copy));
    STATUS(picollo_snapshot_update(copy, PICOLLO_SINCE_RESET));
    CHECK_OK(picollo_snapshot_layout(copy, &layout));
    into = NULL;
    CHECK_OK(picollo_snapshot_create_from_layout(&layout, &into));
    CHECK_OK(picollo_snapshot_merge(into, copy, 0, NULL));
    show_buckets(into);
    picollo_snapshot_free(into);
    picollo_snapshot_free(copy);
    CHECK_OK(picollo_snapshot_corrected(from, 20000, &copy));
    show_buckets(copy);
    picollo_snapshot_free(copy);
    layout.length++;
    copy = NULL;
    STATUS(picollo_snapshot_create_from_layout(&layout, &copy));
    CHECK(copy == NULL);
    picollo_snapshot_free(from);
    picollo_histogram_free(coarse);
    picollo_histogram_free(fine);
}

static picollo_summary summary_of(int second)
{
    static picollo_percentile percentiles[2][RANKS];
    picollo_histogram *const histogram = example(second);
    picollo_summary summary;
    CHECK_OK(SUMMARIZE(histogram, histogram, PICOLLO_VALUE_MIDPOINT, percentiles[second], &summary));
    summary.timestamp_unix_nanos = UINT64_C(1500000000250000000);
    picollo_histogram_free(histogram);
    return summary;
}

/* Percentiles at other ranks, and fewer of the usual ones: a text leaves out what it was not given. */
static void own_ranks(void)
{
    static const double ranks[] = {99, 12.5, 50};
    picollo_histogram *const histogram = example(0);
    picollo_percentile percentiles[3];
    picollo_summary summary;
    size_t length = 0, whole = 0;
    double deciles = 0;
    CHECK_OK(picollo_histogram_summary(histogram, PICOLLO_VALUE_MIDPOINT, ranks, 3, percentiles, &summary));
    CHECK(summary.percentiles == percentiles && summary.percentiles_length == 3 && percentiles[0].value > percentiles[2].value);
    for (int i = 0; i < 3; i++) deciles += percentiles[i].rank;
    CHECK(deciles == 161.5 && percentiles[1].value < percentiles[2].value && percentiles[1].target_count > 0);
    CHECK_OK(picollo_summary_format(&summary, "", PICOLLO_TEXT_MARKDOWN, text, sizeof text, &length));
    CHECK(strstr(text, "| 50 ") != NULL && strstr(text, "| 99 ") != NULL && strstr(text, "12.5") == NULL && strstr(text, "| 90 ") == NULL);
    CHECK_OK(picollo_summary_format(&summary, "", PICOLLO_TEXT_LINE, text, sizeof text, &length));
    CHECK(strstr(text, "P50=") != NULL && strstr(text, "P90=") == NULL);
    CHECK_OK(picollo_summary_format(&summary, "", PICOLLO_TEXT_HUMAN, text, sizeof text, &length));
    CHECK(strstr(text, "P99") != NULL);
    CHECK_OK(picollo_summary_format_diff(&summary, &summary, "", "a", "b", PICOLLO_TEXT_JSON, text, sizeof text, &length));
    CHECK(strstr(text, "\"rank\":50") != NULL && strstr(text, "\"rank\":90") == NULL);
    /* Without percentiles there are totals and moments. */
    CHECK_OK(picollo_histogram_summary(histogram, PICOLLO_VALUE_MIDPOINT, NULL, 0, NULL, &summary));
    CHECK(summary.percentiles == NULL && summary.percentiles_length == 0);
    CHECK_OK(picollo_summary_format(&summary, "", PICOLLO_TEXT_LINE, text, sizeof text, &length));
    CHECK(strstr(text, "Mean=") != NULL && strstr(text, "P50=") == NULL);
    CHECK_OK(picollo_histogram_format(histogram, "", PICOLLO_TEXT_LINE, text, sizeof text, &whole));
    CHECK(whole > length && strstr(text, "P50=") != NULL);
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_histogram_format(histogram, "", PICOLLO_TEXT_LINE, NULL, 0, &length));
    CHECK_U64(whole, length);
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_histogram_format(histogram, "", 9, text, sizeof text, &length));
    picollo_histogram_free(histogram);
}

static void texts(void)
{
    const picollo_summary first = summary_of(0), second = summary_of(1);
    picollo_snapshot *const snapshot = only_snapshot(few());
    size_t length = 77;
    for (int i = 0; i < 4; i++) {
        TEXT(picollo_summary_format, &first, "K\xc3\xa4se | *fett*", text_form(i));
        LONG_TEXT(text_form(i) == PICOLLO_TEXT_JSON ? "\"d_value\":0.078" : "later", picollo_summary_format_diff, &first, &second, "Example", NULL, "later",
                text_form(i));
    }
    TEXT(picollo_percentile_format, &first.percentiles[11]);
    TEXT(picollo_snapshot_format_buckets, snapshot, 1, PICOLLO_VALUE_UPPER);
    TEXT(picollo_snapshot_format_hgrm, snapshot, 2, 10.0, PICOLLO_HGRM_COLUMNS);
    TEXT(picollo_snapshot_format_hgrm, snapshot, 2, 10.0, PICOLLO_HGRM_CSV);
    own_ranks();
    text[0] = 0x5a;
    STATUS(picollo_summary_format(&first, "\xff", PICOLLO_TEXT_LINE, text, sizeof text, &length));
    STATUS(picollo_summary_format(&first, "", 9, text, sizeof text, &length));
    STATUS(picollo_summary_format_diff(&first, &first, "\xff", "", "", PICOLLO_TEXT_LINE, text, sizeof text, &length));
    STATUS(picollo_summary_format_diff(&first, &first, "", "\xc3", "", PICOLLO_TEXT_LINE, text, sizeof text, &length));
    STATUS(picollo_summary_format_diff(&first, &first, "", "", "\xed\xa0\x80", PICOLLO_TEXT_LINE, text, sizeof text, &length));
    STATUS(picollo_snapshot_format_buckets(snapshot, 2, 0, text, sizeof text, &length));
    STATUS(picollo_snapshot_format_buckets(snapshot, 1, 3, text, sizeof text, &length));
    STATUS(picollo_snapshot_format_hgrm(snapshot, 2, -1, 0, text, sizeof text, &length));
    CHECK(length == 77 && text[0] == 0x5a);
    picollo_snapshot_free(snapshot);
}

/* The program may put anything into the struct: the result is text, and no crash. */
static void hostile_structs(void)
{
    static picollo_percentile percentiles[RANKS];
    static picollo_summary summary, other;
    static picollo_comparison compared;
    uint64_t state = 5;
    size_t length;
    for (int round = 0; round < rounds(2000); round++) {
        for (size_t i = 0; i < sizeof summary; i++) ((unsigned char *)&summary)[i] = (unsigned char)(next_random(&state) >> 56);
        for (size_t i = 0; i < sizeof compared; i++) ((unsigned char *)&compared)[i] = (unsigned char)(next_random(&state) >> 56);
        for (size_t i = 0; i < sizeof percentiles; i++) ((unsigned char *)percentiles)[i] = (unsigned char)(next_random(&state) >> 56);
        for (int i = 0; i < RANKS; i += 1 + round % 3) percentiles[i].rank = default_ranks[i];
        memset(&other, round % 2 ? 0xff : 0, sizeof other);
        summary.percentiles = other.percentiles = percentiles;
        summary.percentiles_length = other.percentiles_length = RANKS;
        for (int i = 0; i < 4; i++) {
            CHECK_OK(picollo_summary_format(&summary, "t", text_form(i), text, sizeof text, &length));
            CHECK_U64(length, strlen(text));
            CHECK_OK(picollo_summary_format_diff(&other, &summary, "t", "a", "b", text_form(i), text, sizeof text, &length));
            CHECK_OK(picollo_comparison_format(&compared, &summary, &other, "t", "a", "b", text_form(i), text, sizeof text, &length));
        }
        CHECK_OK(picollo_percentile_format(&percentiles[round % RANKS], text, sizeof text, &length));
    }
}

static void encodings(void)
{
    static const uint64_t values[] = {0, 1, 3, 3, 7, 2047, 2048, 123456789};
    picollo_histogram_options asked = default_options();
    picollo_histogram *histogram;
    picollo_snapshot *snapshot, *copy = NULL, *other = only_snapshot(hundred());
    unsigned char bytes[1024];
    char base64[1024];
    size_t length = 0, needed = 0, taken = 0;
    double ratio = 0;
    asked.significant_digits = 3;
    asked.max_trackable = UINT64_C(3600000000);
    histogram = create_from(&asked);
    picollo_histogram_record_batch(histogram, values, sizeof values / sizeof values[0]);
    picollo_histogram_record_n(histogram, 1000, 100);
    snapshot = only_snapshot(histogram);
    CHECK_OK(picollo_snapshot_value_ratio(snapshot, &ratio));
    NUMBERS("ratio", ratio);
    for (uint32_t encoding = 0; encoding < 3; encoding++) {
        CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_snapshot_encode(snapshot, encoding, NULL, 0, &needed));
        bytes[0] = 0x5a;
        CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_snapshot_encode(snapshot, encoding, bytes, needed - 1, &length));
        CHECK(length == needed && bytes[0] == 0x5a);
        CHECK_OK(picollo_snapshot_encode(snapshot, encoding, bytes, needed, &length));
        /* The native encoding contains the time of recording, which varies. */
        if (encoding == PICOLLO_ENCODING_HDR_V2) for (size_t i = 0; i < length; i++) say("%02x", bytes[i]);
        say(" " U "\n", (uint64_t)length);
        FORMAT(picollo_snapshot_encode_base64, snapshot, encoding);
        if (encoding == PICOLLO_ENCODING_HDR_V2) say("%s\n", text);
        snprintf(base64, sizeof base64, " %s\n%s", text, text);
        CHECK_OK(picollo_snapshot_decode_first(base64, strlen(base64), 0, &copy, &taken));
        CHECK_U64(strlen(text) + 2, taken);
        picollo_snapshot_free(copy);
        CHECK_OK(picollo_snapshot_decode(bytes, length, 0, &copy));
        show_counts(copy);
        if (encoding == 0) show_buckets(copy);
        picollo_snapshot_free(copy);
        copy = NULL;
        STATUS(picollo_snapshot_decode(bytes, length - 1, 0, &copy));
        STATUS(picollo_snapshot_decode(bytes, length, 100, &copy));
        STATUS(picollo_snapshot_decode_first(bytes, length, 100, &copy, &taken));
        CHECK(copy == NULL);
    }
    STATUS(picollo_snapshot_encode(snapshot, 3, bytes, sizeof bytes, &length));
    STATUS(picollo_snapshot_encode(other, PICOLLO_ENCODING_HDR_V2, bytes, sizeof bytes, &length));
    STATUS(picollo_snapshot_encode_base64(other, PICOLLO_ENCODING_HDR_V2, base64, sizeof base64, &length));
    picollo_snapshot_free(other);
    picollo_snapshot_free(snapshot);
}

static void logs(void)
{
    picollo_histogram_options asked = default_options();
    picollo_histogram *histogram;
    picollo_snapshot *snapshot, *other = only_snapshot(hundred()), *read = NULL;
    picollo_log_reader *reader = NULL;
    picollo_log_interval interval;
    char log[2048];
    size_t length = 0;
    asked.significant_digits = 2;
    asked.max_trackable = 5000;
    histogram = create_from(&asked);
    picollo_histogram_record_n(histogram, 1234, 5);
    snapshot = only_snapshot(histogram);
    FORMAT(picollo_log_format_header, 1700000000.5, "two\nlines");
    strcpy(log, text);
    say("%s", strstr(text, "#[Histogram"));
    FORMAT(picollo_log_format_interval, snapshot, 0.25, 1.5, "tag");
    CHECK(strncmp(text, "Tag=tag,0.250,1.500,", 20) == 0);
    strcat(log, text);
    strcat(log, "no interval\n");
    FORMAT(picollo_log_format_interval, snapshot, 2, 1, NULL);
    strcat(log, text);
    CHECK_OK(picollo_log_reader_create(log, strlen(log), &reader));
    STATUS(picollo_log_reader_decode(reader, 0, &read));
    for (int i = 0; i < 4; i++) {
        const picollo_status status = picollo_log_reader_next(reader, &interval);
        say("%d [%s] " U " line " U "\n", (int)status, interval.tag, (uint64_t)interval.tag_length, interval.line);
        NUMBERS("times", interval.start_seconds, interval.end_seconds, interval.max, interval.log_start_seconds, interval.log_base_seconds);
        if (status != PICOLLO_OK) continue;
        STATUS(picollo_log_reader_decode(reader, 10, &read));
        CHECK_OK(picollo_log_reader_decode(reader, 0, &read));
        show_buckets(read);
        picollo_snapshot_free(read);
        read = NULL;
    }
    CHECK_U64(strlen(log), interval.position);
    picollo_log_reader_free(reader);
    /* A tag ends at a NUL here, and contains none. */
    FORMAT(picollo_log_format_interval, snapshot, 2, 1, "tag");
    text[5] = 0;
    CHECK_OK(picollo_log_reader_create(text, 6 + strlen(text + 6), &reader));
    CHECK_STATUS(PICOLLO_ERR_CORRUPT, picollo_log_reader_next(reader, &interval));
    picollo_log_reader_free(reader);
    STATUS(picollo_log_format_header(INFINITY, NULL, log, sizeof log, &length));
    STATUS(picollo_log_format_header(0, "\xff", log, sizeof log, &length));
    STATUS(picollo_log_format_interval(snapshot, NAN, 1, NULL, log, sizeof log, &length));
    STATUS(picollo_log_format_interval(snapshot, 0, NAN, NULL, log, sizeof log, &length));
    STATUS(picollo_log_format_interval(snapshot, 0, 1, "a,b", log, sizeof log, &length));
    STATUS(picollo_log_format_interval(other, 0, 1, NULL, log, sizeof log, &length));
    picollo_snapshot_free(other);
    picollo_snapshot_free(snapshot);
}

static void comparisons(void)
{
    static const double earlier[] = {98, 99, 100, 101, 102, 100, 99};
    double of_a[40], of_b[40];
    picollo_snapshot *const a = only_snapshot(example(0)), *const b = only_snapshot(example(1)), *const none = only_snapshot(create(0.1, 0, 1000));
    picollo_compare_options how = PICOLLO_COMPARE_OPTIONS_INIT;
    picollo_summary before = summary_of(0), after = summary_of(1);
    picollo_quantile_interval interval;
    picollo_comparison compared;
    picollo_block_comparison blocks;
    picollo_run_comparison runs;
    size_t length = 0;
    CHECK_OK(picollo_snapshot_quantile_interval(a, 0.9, 0.99, &interval));
    show_interval(&interval);
    how.quantile = 0.75;
    how.confidence = 0.9;
    how.relative_threshold = 0.02;
    CHECK_OK(picollo_compare(a, b, &how, &compared));
    show_interval(&compared.a);
    show_interval(&compared.b);
    NUMBERS("differs", compared.difference, compared.difference_lower, compared.difference_upper, compared.bucket_width, compared.margin,
            compared.smallest_detectable);
    NUMBERS("by ranks", compared.mann_whitney_u, compared.mann_whitney_z, compared.common_language, compared.cliffs_delta, compared.ks_distance, compared.cohens_d);
    CHECK(compared.mann_whitney_p < 1e-20 && compared.ks_p < 1e-20);
    say("verdict %u flags %u\n", compared.verdict, compared.flags);
    for (int i = 0; i < 4; i++)
        LONG_TEXT(text_form(i) == PICOLLO_TEXT_JSON ? "\"verdict\":\"slower\"" : "slower", picollo_comparison_format, &compared, &before, &after, "Title", "old",
                  "new", text_form(i));
    for (int i = 0; i < 40; i++) {
        of_a[i] = 100 + i % 7;
        of_b[i] = 104 + i % 5;
    }
    how.absolute_threshold = 1;
    CHECK_OK(picollo_compare_blocks(of_a, of_b, 40, &how, &blocks));
    NUMBERS("blocks", (double)blocks.block_count, blocks.confidence, blocks.coverage, blocks.median_a, blocks.median_b, blocks.difference, blocks.difference_lower,
            blocks.difference_upper, blocks.margin, blocks.smallest_detectable, blocks.lag1, blocks.inflation, blocks.resolution);
    say("verdict %u flags %u\n", blocks.verdict, blocks.flags);
    CHECK_OK(picollo_compare_runs(earlier, 7, 120, &how, &runs));
    NUMBERS("runs", (double)runs.run_count, runs.confidence, runs.alarm_bound, runs.mean, runs.deviation, runs.lowest, runs.highest, runs.value, runs.difference,
            runs.difference_lower, runs.difference_upper, runs.margin, runs.smallest_detectable, runs.lag1, runs.inflation, runs.resolution);
    say("verdict %u flags %u\n", runs.verdict, runs.flags);
    STATUS(picollo_compare(a, none, NULL, &compared));
    STATUS(picollo_snapshot_quantile_interval(none, 0.5, 0, &interval));
    STATUS(picollo_snapshot_quantile_interval(a, 1, 0, &interval));
    STATUS(picollo_comparison_format(&compared, &before, &after, "", "\xff", "", 0, text, sizeof text, &length));
    STATUS(picollo_comparison_format(&compared, &before, &after, "", "", "", 9, text, sizeof text, &length));
    of_a[7] = NAN;
    STATUS(picollo_compare_blocks(of_a, of_b, 40, NULL, &blocks));
    STATUS(picollo_compare_runs(earlier, 7, INFINITY, NULL, &runs));
    how.quantile = -1;
    STATUS(picollo_compare(a, b, &how, &compared));
    how.flags = 1;
    STATUS(picollo_compare(a, b, &how, &compared));
    picollo_snapshot_free(none);
    picollo_snapshot_free(b);
    picollo_snapshot_free(a);
}

static void figures(void)
{
    static const double counts[] = {3, 2, 5, 4, 9, 5};
    const double not_counted[] = {3, NAN};
    picollo_figure_estimate estimate;
    picollo_error error;
    CHECK_OK(picollo_figure_compute("ipc", "instructions  cycles ", counts, 3, 0.9, &estimate, &error));
    NUMBERS("ipc", estimate.value, estimate.lower, estimate.upper, estimate.confidence, (double)estimate.scopes);
    say("flags %u reserved %u\n", estimate.flags, estimate.reserved);
    STATUS(picollo_figure_compute("nonsense", "instructions cycles", counts, 3, 0, &estimate, &error));
    say("%s\n", error.message);
    STATUS(picollo_figure_compute("ipc", "cycles", counts, 6, 0, &estimate, &error));
    say("%s\n", error.message);
    /* The caller's event, not the figure's. */
    CHECK_STATUS(PICOLLO_ERR_NOT_COUNTED, picollo_figure_compute("ipc", "cycles instructions", not_counted, 1, 0, &estimate, &error));
    CHECK(error.event_index == 1);
}

static void pictures(void)
{
    picollo_snapshot *const snapshot = only_snapshot(hundred());
    const picollo_snapshot *const both[] = {snapshot, snapshot};
    static const char *const names[] = {"one & only", NULL};
    picollo_picture_options how = PICOLLO_PICTURE_OPTIONS_INIT;
    size_t length = 0;
    how.width = 500;
    how.height = 300;
    TEXT(picollo_snapshot_format_chart, snapshot, PICOLLO_PICTURE_PERCENTILES, "Title", "ns", 50, 3, PICOLLO_CHARACTERS_ASCII);
    TEXT(picollo_snapshot_format_chart, snapshot, PICOLLO_PICTURE_DENSITY, "Title", "ms", 40, 3, PICOLLO_CHARACTERS_UNICODE);
    TEXT(picollo_snapshot_format_chart, snapshot, PICOLLO_PICTURE_SPARKLINE, NULL, NULL, 20, 0, PICOLLO_CHARACTERS_UNICODE);
    for (uint32_t picture = 0; picture < 3; picture++)
        LONG_TEXT(picture == PICOLLO_PICTURE_HEAT_MAP ? "Title" : "one &amp; only", picollo_pictures_format_svg, both, names, 2, picture, "Title", "ns", &how);
    LONG_TEXT("one &amp; only", picollo_report_format_html, both, names, 2, "Report", "us");
    STATUS(picollo_snapshot_format_chart(snapshot, PICOLLO_PICTURE_HEAT_MAP, NULL, NULL, 0, 0, 0, text, sizeof text, &length));
    STATUS(picollo_snapshot_format_chart(snapshot, 0, "\xff", NULL, 0, 0, 0, text, sizeof text, &length));
    STATUS(picollo_snapshot_format_chart(snapshot, 0, NULL, NULL, 0, 0, 2, text, sizeof text, &length));
    STATUS(picollo_pictures_format_svg(both, names, 2, 9, NULL, NULL, NULL, text, sizeof text, &length));
    STATUS(picollo_report_format_html(both, names, 2, "\xff", NULL, text, sizeof text, &length));
    picollo_snapshot_free(snapshot);
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

/* Below the threshold all of them are exact. */
static void counters(void)
{
    uint64_t wide[3] = {0, 0, 0};
    uint32_t narrow[3] = {0, 0, UINT32_MAX};
    picollo_scalable_counter_add_n32(&narrow[0], 100, 7);
    picollo_scalable_counter_add_n64(&wide[0], 100, 7);
    picollo_capped_counter_add32(&narrow[1], 100005, 3, 0);
    picollo_capped_counter_add64(&wide[1], (UINT64_C(1) << 40) + 5, 3, 0);
    picollo_sensing_counter_add32(&narrow[2], 3, 4);
    picollo_sensing_counter_add64(&wide[2], 9, 4);
    for (int i = 0; i < 3; i++) say("%" PRIu32 " " U "\n", picollo_counter_read32(&narrow[i]), picollo_counter_read64(&wide[i]));
    say("%" PRIu32 " " U "\n", picollo_counter_read32(NULL), picollo_counter_read64(NULL));
    /* Above it they count in steps, correct on average: within seven times the deviation. */
    wide[0] = narrow[0] = 0;
    for (int i = 0; i < 1 << 20; i++) picollo_scalable_counter_add_n64(&wide[0], 1, 0), picollo_scalable_counter_add_n32(&narrow[0], 1, 0);
    CHECK(fabs((double)wide[0] / (1 << 20) - 1) < 0.063 && fabs((double)narrow[0] / (1 << 20) - 1) < 0.063);
    CHECK(wide[0] != 1 << 20 || narrow[0] != 1 << 20);
    /* Steps of at most one are exact. */
    wide[0] = narrow[0] = 0;
    for (int i = 0; i < 100000; i++) picollo_capped_counter_add64(&wide[0], 1, 3, 0), picollo_capped_counter_add32(&narrow[0], 1, 3, 0);
    CHECK(wide[0] == 100000 && narrow[0] == 100000);
}

/* The bytes that a registry writes: no NUL after them, nothing into too small a buffer. */
static size_t encode(const picollo_registry *registry, uint32_t format)
{
    size_t needed = 0, length = 0;
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_registry_encode(registry, format, NULL, 0, &needed));
    memset(text, 0x5a, needed + 1);
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_registry_encode(registry, format, text, needed - 1, &length));
    CHECK(length == needed && text[0] == 0x5a);
    CHECK_OK(picollo_registry_encode(registry, format, text, needed, &length));
    CHECK(length == needed && text[needed] == 0x5a);
    text[needed] = 0;
    return needed;
}

static void registries(void)
{
    static const picollo_label labels[] = {{"path", "/a\"b"}, {"method", "GET"}}, latin[] = {{"a", "\xe9"}}, who[] = {{"who", "a\"b"}};
    static const uint64_t bounds[] = {20, 50}, descending[] = {5, 4};
    static const double limits[] = {0.5, 2};
    static const char *const accepted[] = {NULL, "application/openmetrics-text;version=1.0.0,*/*;q=0.1", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"};
    const picollo_metric_options plain = PICOLLO_METRIC_OPTIONS_INIT;
    picollo_metric_options metric = plain;
    picollo_metric_exemplar exemplar;
    picollo_registry *registry = NULL;
    picollo_histogram *histogram = hundred();
    picollo_double_histogram *skew = NULL;
    picollo_metric_counter *counter = NULL;
    picollo_metric_gauge *gauge = NULL;
    uint64_t ids[4] = {0, 0, 0, 0}, count = 0, id = 77;
    uint64_t *const odd = (uint64_t *)(void *)((char *)ids + 1);
    uint32_t format = 77;
    size_t length;
    double value = 0;
    CHECK_OK(picollo_registry_create(&registry));
    CHECK_OK(picollo_double_histogram_create(NULL, &skew));
    picollo_double_histogram_record(skew, 1.5);
    metric.flags = PICOLLO_METRIC_NO_CREATED;
    metric.name = "request_seconds";
    metric.help = "How long, \"really\"";
    metric.unit = "seconds";
    metric.divisor = 1e3;
    metric.labels = labels;
    metric.labels_length = 2;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_add(registry, histogram, &metric, bounds, 2, odd));
    CHECK_OK(picollo_registry_add(registry, histogram, &metric, bounds, 2, &ids[0]));
    STATUS(picollo_registry_add(registry, histogram, &metric, bounds, 2, &id));
    metric.labels = latin;
    metric.labels_length = 1;
    STATUS(picollo_registry_add(registry, histogram, &metric, bounds, 2, &id));
    metric = plain;
    metric.flags = PICOLLO_METRIC_NO_CREATED;
    metric.name = "skew";
    STATUS(picollo_registry_add(registry, histogram, &metric, descending, 2, &id));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_add_double(registry, skew, &metric, limits, 2, odd));
    CHECK_OK(picollo_registry_add_double(registry, skew, &metric, limits, 2, &ids[1]));
    STATUS(picollo_registry_add_double(registry, skew, &metric, limits, 2, &id));
    metric.name = "hits";
    metric.flags = PICOLLO_METRIC_STRIPED | PICOLLO_METRIC_NO_CREATED;
    /* If the room for the id is invalid, the metric is not added: it can be added later. */
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_add_counter(registry, &metric, &counter, odd));
    CHECK_OK(picollo_registry_add_counter(registry, &metric, &counter, &ids[2]));
    metric.name = "depth";
    metric.flags = 0;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_add_gauge(registry, &metric, &gauge, odd));
    CHECK_OK(picollo_registry_add_gauge(registry, &metric, &gauge, &ids[3]));
    metric.name = "9";
    STATUS(picollo_registry_add_counter(registry, &metric, NULL, &id));
    metric.name = "summary";
    metric.flags = PICOLLO_METRIC_SUMMARY | PICOLLO_METRIC_NO_CREATED;
    CHECK_OK(picollo_registry_add(registry, histogram, &metric, NULL, 0, NULL));
    CHECK(id == 77 && ids[0] != 0 && ids[1] != ids[0] && ids[2] != ids[1] && ids[3] != ids[2]);
    /* The registry keeps its histograms alive. */
    picollo_histogram_free(histogram);
    picollo_double_histogram_free(skew);
    picollo_metric_counter_add(counter, 5);
    picollo_metric_gauge_set(gauge, 2.5);
    picollo_metric_gauge_add(gauge, -4);
    CHECK_OK(picollo_metric_counter_read(counter, &count));
    CHECK_OK(picollo_metric_gauge_read(gauge, &value));
    say("count " U "\n", count);
    NUMBERS("gauge", value);
    CHECK_OK(picollo_registry_update(registry));
    encode(registry, PICOLLO_EXPOSITION_OPENMETRICS);
    say("%s\n", text);
    memset(&exemplar, 0, sizeof exemplar);
    exemplar.value = 30;
    exemplar.unix_nanos = UINT64_C(1500000000250000000);
    exemplar.trace_id[0] = 0xab;
    exemplar.span_id[7] = 0xff;
    exemplar.labels = who;
    exemplar.labels_length = 1;
    CHECK_OK(picollo_registry_set_exemplars(registry, ids[0], &exemplar, 1));
    STATUS(picollo_registry_set_exemplars(registry, ids[3], &exemplar, 1));
    STATUS(picollo_registry_set_exemplars(registry, 12345, &exemplar, 1));
    exemplar.value = NAN;
    STATUS(picollo_registry_set_exemplars(registry, ids[0], &exemplar, 1));
    encode(registry, PICOLLO_EXPOSITION_OPENMETRICS);
    *strstr(strstr(text, " # {"), "\n") = 0;
    say("%s\n", strstr(text, " # {"));
    CHECK_OK(picollo_registry_set_exemplars(registry, ids[0], NULL, 0));
    for (int i = 0; i < 4; i++) CHECK_OK(i == 1 ? PICOLLO_OK : picollo_registry_remove(registry, ids[i]));
    STATUS(picollo_registry_remove(registry, ids[0]));
    encode(registry, PICOLLO_EXPOSITION_PROMETHEUS_TEXT);
    say("%.40s\n", text);
    length = encode(registry, PICOLLO_EXPOSITION_PROMETHEUS_PROTOBUF);
    for (size_t i = 0; i < length; i++) say("%02x", (unsigned char)text[i]);
    say("\n");
    encode(registry, PICOLLO_EXPOSITION_OTLP);
    CHECK(text[0] == 0x0a);
    STATUS(picollo_registry_encode(registry, 4, text, sizeof text, &length));
    for (int i = 0; i < 3; i++) {
        FORMAT(picollo_registry_negotiate, accepted[i], &format);
        say("%" PRIu32 " %s\n", format, text);
    }
    metric = plain;
    metric.name = "later";
    metric.flags = PICOLLO_METRIC_SINCE_RESET;
    metric.created_unix_nanos = UINT64_C(5000000000);
    histogram = hundred();
    CHECK_OK(picollo_registry_add(registry, histogram, &metric, bounds, 2, NULL));
    CHECK_OK(picollo_histogram_reset(histogram));
    picollo_histogram_record(histogram, 50);
    CHECK_OK(picollo_registry_update(registry));
    encode(registry, PICOLLO_EXPOSITION_OPENMETRICS);
    CHECK(strstr(text, "later_count 1\n") != NULL && strstr(text, "later_created 5.000\n") != NULL);
    picollo_histogram_free(histogram);
    picollo_registry_free(registry);
    /* Handles outlive their registry. */
    picollo_metric_counter_add(counter, 1);
    picollo_metric_counter_free(counter);
    picollo_metric_gauge_free(gauge);
}

static const struct {
    const char *name;
    void (*run)(void);
} parts[] = {
    {"versions", versions}, {"options", options},   {"recording", recording},     {"lifetimes", lifetimes},     {"reading", reading},
    {"merging", merging},   {"texts", texts},       {"hostile structs", hostile_structs}, {"encodings", encodings}, {"logs", logs},
    {"comparisons", comparisons}, {"figures", figures}, {"pictures", pictures}, {"doubles", doubles},     {"counters", counters},
    {"registries", registries},
};
static size_t part;
static char golden[1 << 18];

static void a_part_is_as_ever(void)
{
    char head[64];
    const char *expected;
    size_t line = 1, same = 0;
    said_length = statuses_end = 0;
    said[0] = 0;
    parts[part].run();
    snprintf(head, sizeof head, "== %s\n", parts[part].name);
    if (golden[0] == 0) {
        printf("%s%s", head, said);
        return;
    }
    expected = strstr(golden, head);
    CHECK(expected != NULL);
    if (expected == NULL) return;
    expected += strlen(head);
    while (said[same] != 0 && said[same] == expected[same]) line += said[same++] == '\n';
    /* The next part begins where this one ends. */
    if (said[same] != 0 || (expected[same] != 0 && strncmp(expected + same, "== ", 3) != 0)) {
        while (same > 0 && said[same - 1] != '\n') same--;
        fprintf(stderr, "%s, line %d is\n%.200s\nexpected\n%.200s\n", parts[part].name, (int)line, said + same, expected + same);
        test_failures++;
    }
}

int main(int number, char **arguments)
{
    /* The file beside this one, wherever it was compiled. */
    char path[sizeof __FILE__ + 2] = __FILE__;
    strcpy(path + strlen(path) - 1, "txt");
    (void)arguments;
    if (number == 1) {
        FILE *const file = fopen(path, "rb");
        if (file == NULL || fread(golden, 1, sizeof golden - 1, file) == 0) {
            fprintf(stderr, "cannot read %s\n", path);
            return 1;
        }
        fclose(file);
    }
    for (part = 0; part < sizeof parts / sizeof parts[0]; part++) RUN(a_part_is_as_ever);
    return number == 1 ? report() : tests_failed;
}
