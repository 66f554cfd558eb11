/* picollo.h: histograms, snapshots, summaries and their texts; histograms and snapshots in the caller's memory; clocks,
 * conversions and scopes. */
#include "golden.h"

#include <time.h>

#ifdef _WIN32
#include <malloc.h>
#define aligned_alloc(align, size) _aligned_malloc(size, align)
#define free_aligned _aligned_free
#else
#define free_aligned free
#endif

static void show_percentile(const picollo_percentile *one)
{
    say("P%g " U " target " U " ", one->rank, one->value, one->target_count);
    show_bucket(&one->bucket);
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

/* Two values in two of eleven buckets. */
static picollo_histogram *few(void)
{
    picollo_histogram *const histogram = create(0.1, 14, 35);
    picollo_histogram_record_n(histogram, 16, 2);
    picollo_histogram_record(histogram, 34);
    return histogram;
}

static void versions(void)
{
    CHECK_U64(PICOLLO_ABI_VERSION, picollo_abi_version());
    char version[16];
    snprintf(version, sizeof version, "%d.%d.%d", PICOLLO_VERSION_MAJOR, PICOLLO_VERSION_MINOR, PICOLLO_VERSION_PATCH);
    CHECK_TEXT(version, picollo_version());
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
    TEXT(picollo_snapshot_format_hgrm, snapshot, 2, 10.0, PICOLLO_HGRM_COLUMNS);
    TEXT(picollo_snapshot_format_hgrm, snapshot, 2, 10.0, PICOLLO_HGRM_CSV);
    own_ranks();
    text[0] = 0x5a;
    STATUS(picollo_summary_format(&first, "\xff", PICOLLO_TEXT_LINE, text, sizeof text, &length));
    STATUS(picollo_summary_format(&first, "", 9, text, sizeof text, &length));
    STATUS(picollo_summary_format_diff(&first, &first, "\xff", "", "", PICOLLO_TEXT_LINE, text, sizeof text, &length));
    STATUS(picollo_summary_format_diff(&first, &first, "", "\xc3", "", PICOLLO_TEXT_LINE, text, sizeof text, &length));
    STATUS(picollo_summary_format_diff(&first, &first, "", "", "\xed\xa0\x80", PICOLLO_TEXT_LINE, text, sizeof text, &length));
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

/* A block of memory for an object, filled with garbage, and a guard after its end. */
static unsigned char *block_of(size_t size, size_t align)
{
    CHECK(size > 0 && align > 0 && (align & (align - 1)) == 0 && size % align == 0);
    unsigned char *const memory = (unsigned char *)aligned_alloc(align, size + align);
    if (memory == NULL) abort();
    memset(memory, 0xa5, size + align);
    return memory;
}

static void check_garbage(const unsigned char *memory, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) CHECK(memory[i] == 0xa5);
}

/* In the caller's memory. A refused call writes nothing. */
static void in_place(void)
{
    picollo_histogram_options options = default_options();
    size_t size = 0, align = 0, of_snapshot = 0, snapshot_align = 0, footprint;
    picollo_histogram *histogram = NULL, *other = NULL;
    picollo_snapshot *snapshot = NULL;
    picollo_counts counts;
    options.relative_error = 0.01;
    options.min_trackable = 100;
    options.max_trackable = 100000;
    CHECK_OK(picollo_histogram_required_size(&options, &size, &align));
    unsigned char *const memory = block_of(size, align), *const elsewhere = block_of(size, align);
    for (size_t offset = 1; offset < align; offset++) {
        CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_histogram_init_in(memory + offset, size, &options, &histogram));
        CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_histogram_attach(memory + offset, size, &histogram));
    }
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_histogram_init_in(memory, size - 1, &options, &histogram));
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_histogram_attach(memory, 64, &histogram));
    CHECK_STATUS(PICOLLO_ERR_CORRUPT, picollo_histogram_attach(memory, size, &histogram));
    CHECK(histogram == NULL);
    check_garbage(memory, 0, size + align);
    CHECK_OK(picollo_histogram_init_in(memory, size, &options, &histogram));
    footprint = footprint_of(histogram);
    CHECK((void *)histogram == (void *)memory && size == (footprint + align - 1) / align * align);
    for (uint64_t value = 0; value < 200000; value += 10) picollo_histogram_record(histogram, value);
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_histogram_attach(memory, size - align, &other));
    /* The image contains no pointers: it works at any address. */
    memcpy(elsewhere, memory, size);
    CHECK_OK(picollo_histogram_attach(elsewhere, size, &other));
    picollo_histogram_record(other, 5000);

    CHECK_OK(picollo_snapshot_required_size(other, &of_snapshot, &snapshot_align));
    unsigned char *const block = block_of(of_snapshot, snapshot_align);
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_snapshot_init_in(block, of_snapshot - 1, other, &snapshot));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_init_in(block + 8, of_snapshot, other, &snapshot));
    CHECK(snapshot == NULL);
    CHECK_OK(picollo_snapshot_init_in(block, of_snapshot, other, &snapshot));
    CHECK_OK(picollo_snapshot_counts(snapshot, &counts));
    CHECK_U64(20001, counts.total + counts.underflow + counts.overflow);
    CHECK_U64(10, counts.underflow);
    CHECK_OK(picollo_histogram_reset(other));
    CHECK_OK(picollo_snapshot_update(snapshot, 0));
    CHECK_OK(picollo_snapshot_counts(snapshot, &counts));
    CHECK_U64(0, counts.total);
    check_garbage(memory, size, size + align);
    check_garbage(block, of_snapshot, of_snapshot + snapshot_align);
    picollo_snapshot_free(snapshot);
    picollo_histogram_free(histogram);
    free_aligned(block);
    free_aligned(elsewhere);
    free_aligned(memory);
}

static void sleep_ms(long milliseconds)
{
    const struct timespec pause = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

static uint64_t frequency(uint32_t clock)
{
    uint64_t hertz = 0;
    CHECK_OK(picollo_clock_frequency(clock, &hertz));
    CHECK(hertz > 0);
    return hertz;
}

static void frequencies(void)
{
    uint64_t hertz = 77;
    CHECK_OK(picollo_clock_init());
    CHECK_U64(1000000000, frequency(PICOLLO_CLOCK_MONOTONIC));
    CHECK(frequency(PICOLLO_CLOCK_TSC) >= 1000000);
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_clock_frequency(2, &hertz));
    CHECK_U64(77, hertz);
    CHECK_U64(0, picollo_clock_ticks(2));
}

static void conversions(void)
{
    static const uint64_t units[] = {12345, 1000000000000, 1000000000, 1000000, 1000};
    static const uint32_t named[] = {PICOLLO_UNIT_TICKS, PICOLLO_UNIT_PICOS, PICOLLO_UNIT_NANOS, PICOLLO_UNIT_MICROS, PICOLLO_UNIT_MILLIS};
    for (uint32_t clock = 0; clock < 2; clock++) {
        for (int i = 0; i < 5; i++) CHECK_U64(units[i], picollo_clock_convert(clock, i == 0 ? 12345 : frequency(clock), named[i]));
        CHECK_U64(0, picollo_clock_convert(clock, 1000, 5));
    }
    CHECK_U64(0, picollo_clock_convert(2, 1000, PICOLLO_UNIT_TICKS));
}

/* The clock that nobody adjusts, if it exists. */
static uint64_t raw_nanos(void)
{
#ifdef CLOCK_MONOTONIC_RAW
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
#else
    return picollo_clock_ticks(PICOLLO_CLOCK_MONOTONIC);
#endif
}

static void clocks_run_and_agree(void)
{
    const uint64_t tsc = picollo_clock_ticks(PICOLLO_CLOCK_TSC);
    const uint64_t start = picollo_clock_ticks(PICOLLO_CLOCK_MONOTONIC), raw_start = raw_nanos();
    uint64_t inner, raw_inner, outer;
    sleep_ms(50);
    raw_inner = raw_nanos() - raw_start;
    inner = picollo_clock_ticks(PICOLLO_CLOCK_MONOTONIC) - start;
    outer = picollo_clock_convert(PICOLLO_CLOCK_TSC, picollo_clock_ticks(PICOLLO_CLOCK_TSC) - tsc, PICOLLO_UNIT_NANOS);
    CHECK(inner >= 50000000 && inner < UINT64_C(5000000000));
    /* One encloses the other; the frequency's guaranteed precision is 100 ppm. */
    CHECK(outer + outer / 5000 >= raw_inner);
}

static void scopes_record(void)
{
    picollo_histogram *histogram = create(0.001, 0, 0);
    picollo_percentile percentiles[RANKS];
    picollo_summary summary;
    picollo_scope scope;
    uint64_t elapsed;
    for (uint32_t clock = 0; clock < 2; clock++) {
        picollo_scope_begin(histogram, clock, PICOLLO_UNIT_MICROS, &scope);
        sleep_ms(10);
        elapsed = picollo_scope_end(&scope);
        CHECK(elapsed >= 9990 && elapsed < 5000000);
        /* A second end does not record again. */
        CHECK(picollo_scope_end(&scope) >= elapsed);
    }
    CHECK_OK(SUMMARIZE(histogram, histogram, PICOLLO_VALUE_MIDPOINT, percentiles, &summary));
    CHECK_U64(2, summary.total_count);
    CHECK(summary.percentiles[0].value >= 9900 && summary.percentiles[RANKS - 1].value < 5000000);

    /* Without a histogram it only measures. */
    picollo_scope_begin(NULL, PICOLLO_CLOCK_TSC, PICOLLO_UNIT_NANOS, &scope);
    sleep_ms(1);
    CHECK(picollo_scope_end(&scope) >= 999000);

    /* With an unknown clock or unit, nothing is recorded. */
    picollo_scope_begin(histogram, 2, PICOLLO_UNIT_NANOS, &scope);
    CHECK_U64(0, picollo_scope_end(&scope));
    picollo_scope_begin(histogram, PICOLLO_CLOCK_TSC, 5, &scope);
    CHECK_U64(0, picollo_scope_end(&scope));
    CHECK_OK(SUMMARIZE(histogram, histogram, PICOLLO_VALUE_MIDPOINT, percentiles, &summary));
    CHECK_U64(2, summary.total_count);

    /* A clock that seems to run backwards: no time has passed. */
    picollo_scope_begin(histogram, PICOLLO_CLOCK_MONOTONIC, PICOLLO_UNIT_NANOS, &scope);
    scope.start = UINT64_MAX;
    CHECK_U64(0, picollo_scope_end(&scope));
    picollo_histogram_free(histogram);
}

/* The shortest of many times, in picoseconds. */
static uint64_t shortest(uint64_t repetitions)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 300; i++) {
        picollo_scope scope;
        uint64_t elapsed;
        picollo_scope_begin(NULL, PICOLLO_CLOCK_TSC, PICOLLO_UNIT_PICOS, &scope);
        picollo_work_add_chain_256(repetitions);
        elapsed = picollo_scope_end(&scope);
        if (elapsed < best) best = elapsed;
    }
    return best;
}

static void known_work_takes_its_time(void)
{
    const uint64_t shorter = shortest(100), longer = shortest(1100);
    const uint64_t addition = (longer - shorter) / (1000 * 256);
    printf("an addition takes %" PRIu64 " ps\n", addition);
    picollo_work_add_chain_256(0);
    /* One cycle at 8 GHz, the fastest; emulators and checkers are slower, never faster. */
    CHECK(longer > shorter && addition >= 125);
}

int main(int number, char **arguments)
{
    (void)arguments;
    golden_begin(number, __FILE__);
    GOLDEN(versions);
    GOLDEN(options);
    GOLDEN(recording);
    GOLDEN(lifetimes);
    GOLDEN(reading);
    GOLDEN(merging);
    GOLDEN(texts);
    GOLDEN(hostile_structs);
    RUN(in_place);
    RUN(frequencies);
    RUN(conversions);
    RUN(clocks_run_and_agree);
    RUN(scopes_record);
    RUN(known_work_takes_its_time);
    return report();
}
