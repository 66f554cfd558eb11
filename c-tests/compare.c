/* Comparisons of snapshots and of series of blocks. The statistics themselves are tested where they are computed, and against
 * SciPy through Python; here it is the way through the interface. */
#include "test.h"

static picollo_compare_options default_compare_options(void)
{
    picollo_compare_options options;
    memset(&options, 0, sizeof options);
    options.struct_size = sizeof options;
    return options;
}

static int is_near(double expected, double actual, double tolerance)
{
    return fabs(expected - actual) <= tolerance;
}

static void the_examples(void)
{
    picollo_histogram *const before = example(0), *const after = example(1);
    picollo_snapshot *const a = snapshot_of(before), *const b = snapshot_of(after);
    picollo_comparison compared;
    picollo_quantile_interval interval;
    picollo_summary summary_a, summary_b;
    static char text[8192], again[8192];
    size_t length;

    CHECK_OK(picollo_compare(a, b, NULL, &compared));
    CHECK(compared.verdict == PICOLLO_VERDICT_SLOWER && compared.flags == PICOLLO_COMPARISON_OUT_OF_RANGE);
    CHECK(compared.difference == 96 && compared.margin == 36 && compared.bucket_width == 32);
    CHECK(compared.difference_lower > 36 && compared.difference_upper >= 96);
    CHECK(compared.smallest_detectable > compared.margin);
    CHECK(is_near(0.0785, compared.cohens_d, 5e-5) && is_near(0.0266, compared.cliffs_delta, 5e-5));
    CHECK(is_near(compared.common_language, (1 + compared.cliffs_delta) / 2, 1e-15));
    CHECK(compared.mann_whitney_p < 1e-28 && compared.ks_p < 1e-43);

    CHECK_OK(picollo_snapshot_quantile_interval(a, 0.5, 0, &interval));
    CHECK(memcmp(&interval, &compared.a, sizeof interval) == 0);
    CHECK(interval.lower <= interval.value && interval.value <= interval.upper);
    /* scipy.stats.binom.ppf([0.025, 0.975], 99940, 0.5), the latter and one. */
    CHECK_U64(49660, interval.lower_count);
    CHECK_U64(50281, interval.upper_count);
    CHECK(interval.coverage >= 0.95 && interval.coverage < 0.951);

    CHECK_OK(picollo_compare(b, a, NULL, &compared));
    CHECK(compared.verdict == PICOLLO_VERDICT_FASTER && compared.difference == -96);
    CHECK_OK(picollo_compare(a, a, NULL, &compared));
    CHECK(compared.verdict == PICOLLO_VERDICT_NO_EVIDENCE && (compared.flags & PICOLLO_COMPARISON_WITHIN_MARGIN) != 0);
    CHECK(compared.mann_whitney_p == 1 && compared.ks_p == 1 && compared.ks_distance == 0);

    CHECK_OK(picollo_compare(a, b, NULL, &compared));
    CHECK_OK(picollo_snapshot_summary(a, 0, &summary_a));
    CHECK_OK(picollo_snapshot_summary(b, 0, &summary_b));
    CHECK_OK(picollo_comparison_format(&compared, &summary_a, &summary_b, "Example", NULL, "", PICOLLO_TEXT_MARKDOWN, text,
                                       sizeof text, &length));
    CHECK_U64(strlen(text), length);
    CHECK(strncmp(text, "##### Example\n| Percentile |   Before |", 39) == 0);
    CHECK(strstr(text, "\n| P50            |  3,600 |  3,696 |   +96 (+2.7%) |\n") != NULL);
    CHECK(strstr(text, "\n| Verdict        |        |        |        slower |\n") != NULL);
    for (uint32_t format = 0; format < 4; format++) {
        CHECK_OK(picollo_comparison_format(&compared, &summary_a, &summary_b, "", "", "", format, text, sizeof text, &length));
        memset(again, 'x', sizeof again);
        CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_comparison_format(&compared, &summary_a, &summary_b, "", "", "",
                                                                             format, again, length, &length));
        CHECK(again[0] == 0 && again[1] == 'x');
        CHECK_OK(picollo_comparison_format(&compared, &summary_a, &summary_b, "", "", "", format, again, length + 1, &length));
        CHECK_TEXT(text, again);
    }
    length = 5;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_comparison_format(&compared, &summary_a, &summary_b, "", "", "", 6, text,
                                                                         sizeof text, &length));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_comparison_format(&compared, &summary_a, &summary_b, "", "\xff", "", 0,
                                                                         text, sizeof text, &length));
    /* Whatever a program puts into it. */
    memset(&compared, 0xff, sizeof compared);
    for (uint32_t format = 0; format < 4; format++)
        CHECK_OK(picollo_comparison_format(&compared, &summary_a, &summary_b, "", "", "", format, text, sizeof text, &length));

    picollo_snapshot_free(a);
    picollo_snapshot_free(b);
    picollo_histogram_free(before);
    picollo_histogram_free(after);
}

static void refused(void)
{
    picollo_histogram *const some = create(0.01, 1, 1000), *const none = create(0.01, 1, 1000);
    picollo_snapshot *a, *b;
    picollo_compare_options options = default_compare_options();
    picollo_comparison compared;
    picollo_quantile_interval interval;
    picollo_block_comparison blocks;
    const double wrong[] = {-0.5, 1, 2, NAN, INFINITY};
    const double one = 1;

    picollo_histogram_record_n(some, 100, 10);
    a = snapshot_of(some);
    b = snapshot_of(none);
    memset(&compared, 0x5a, sizeof compared);
    CHECK_STATUS(PICOLLO_ERR_EMPTY, picollo_compare(a, b, NULL, &compared));
    CHECK_STATUS(PICOLLO_ERR_EMPTY, picollo_compare(b, a, NULL, &compared));
    CHECK_STATUS(PICOLLO_ERR_EMPTY, picollo_snapshot_quantile_interval(b, 0.5, 0, &interval));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_quantile_interval(a, 0, 0, &interval));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_quantile_interval(a, wrong[i], 0, &interval));
        CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_quantile_interval(a, 0.5, wrong[i], &interval));
        options = default_compare_options();
        options.quantile = wrong[i];
        CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_compare(a, a, &options, &compared));
        options = default_compare_options();
        options.confidence = wrong[i];
        CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_compare(a, a, &options, &compared));
        CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_compare_blocks(&one, &one, 1, &options, &blocks));
    }
    options = default_compare_options();
    options.flags = 1;
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_compare(a, a, &options, &compared));
    options.flags = 0;
    options.struct_size = 40;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_compare(a, a, &options, &compared));
    CHECK(((unsigned char *)&compared)[17] == 0x5a);

    options = default_compare_options();
    options.absolute_threshold = 30;
    CHECK_OK(picollo_compare(a, a, &options, &compared));
    CHECK(compared.margin == 30);
    options.absolute_threshold = 0;
    options.relative_threshold = 0.5;
    CHECK_OK(picollo_compare(a, a, &options, &compared));
    CHECK(compared.margin == 50);
    options.relative_threshold = -1;
    options.quantile = 0.9999;
    CHECK_OK(picollo_compare(a, a, &options, &compared));
    CHECK(compared.margin == 1 && compared.flags == (PICOLLO_COMPARISON_TOO_FEW | PICOLLO_COMPARISON_MARGIN_IS_RESOLUTION));
    CHECK(isinf(compared.difference_lower) && isinf(compared.smallest_detectable) && compared.a.upper == UINT64_MAX);

    picollo_snapshot_free(a);
    picollo_snapshot_free(b);
    picollo_histogram_free(some);
    picollo_histogram_free(none);
}

static void layouts_that_differ(void)
{
    picollo_histogram *const fine = create(0.001, 1, 1000000), *const coarse = create(0.05, 1, UINT64_MAX);
    picollo_snapshot *a, *b;
    picollo_comparison compared;
    uint64_t state = 5;
    for (int i = 0; i < 10000; i++) {
        picollo_histogram_record(fine, 1000 + next_random(&state) % 1000);
        picollo_histogram_record(coarse, 1000 + next_random(&state) % 1000);
    }
    a = snapshot_of(fine);
    b = snapshot_of(coarse);
    CHECK_OK(picollo_compare(a, b, NULL, &compared));
    CHECK(compared.flags & PICOLLO_COMPARISON_LAYOUTS_DIFFER);
    CHECK(compared.verdict == PICOLLO_VERDICT_NO_EVIDENCE);
    /* Buckets that do not agree would make a distance of their own. */
    CHECK(compared.ks_p > 0.001 && compared.mann_whitney_p > 0.001);
    picollo_snapshot_free(a);
    picollo_snapshot_free(b);
    picollo_histogram_free(fine);
    picollo_histogram_free(coarse);
}

static void blocks(void)
{
    enum { LENGTH = 60 };
    double a[LENGTH], b[LENGTH];
    picollo_block_comparison compared;
    uint64_t state = 9;
    /* A machine that gets slower all the time; B is five per cent slower than A. */
    for (int i = 0; i < LENGTH; i++) {
        a[i] = 100 + i + (double)(next_random(&state) >> 60) / 16;
        b[i] = (100 + i) * 1.05 + (double)(next_random(&state) >> 60) / 16;
    }
    CHECK_OK(picollo_compare_blocks(a, b, LENGTH, NULL, &compared));
    CHECK(compared.verdict == PICOLLO_VERDICT_SLOWER && compared.block_count == LENGTH);
    CHECK(compared.difference > 5 && compared.difference < 9 && compared.difference_lower < compared.difference);
    CHECK(compared.coverage >= 0.95 && compared.inflation >= 1);
    CHECK_OK(picollo_compare_blocks(b, a, LENGTH, NULL, &compared));
    CHECK(compared.verdict == PICOLLO_VERDICT_FASTER);
    CHECK_OK(picollo_compare_blocks(a, a, LENGTH, NULL, &compared));
    CHECK(compared.verdict == PICOLLO_VERDICT_NO_EVIDENCE && compared.flags == PICOLLO_COMPARISON_WITHIN_MARGIN);
    CHECK_OK(picollo_compare_blocks(a, b, 5, NULL, &compared));
    CHECK((compared.flags & PICOLLO_COMPARISON_TOO_FEW) != 0 && isinf(compared.difference_upper));
    a[7] = NAN;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_compare_blocks(a, b, LENGTH, NULL, &compared));
}

static void runs(void)
{
    double earlier[] = {98, 99, 100, 101, 102};
    picollo_run_comparison compared;
    picollo_compare_options options = PICOLLO_COMPARE_OPTIONS_INIT;
    /* 4.604 standard deviations of one more value. */
    CHECK_OK(picollo_compare_runs(earlier, 5, 108.9, NULL, &compared));
    CHECK(compared.verdict == PICOLLO_VERDICT_NO_EVIDENCE && compared.run_count == 5 && compared.confidence == 0.99);
    CHECK_OK(picollo_compare_runs(earlier, 5, 109.1, NULL, &compared));
    CHECK(compared.verdict == PICOLLO_VERDICT_SLOWER && compared.mean == 100 && compared.highest == 102);
    CHECK_OK(picollo_compare_runs(earlier, 5, 90.9, NULL, &compared));
    CHECK(compared.verdict == PICOLLO_VERDICT_FASTER);
    options.confidence = 0.8;
    CHECK_OK(picollo_compare_runs(earlier, 5, 105, &options, &compared));
    CHECK(compared.verdict == PICOLLO_VERDICT_SLOWER);
    CHECK_OK(picollo_compare_runs(earlier, 4, 1000, NULL, &compared));
    CHECK((compared.flags & PICOLLO_COMPARISON_TOO_FEW) != 0 && compared.verdict == PICOLLO_VERDICT_NO_EVIDENCE);
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_compare_runs(earlier, 5, INFINITY, NULL, &compared));
}

int main(void)
{
    RUN(runs);
    RUN(the_examples);
    RUN(refused);
    RUN(layouts_that_differ);
    RUN(blocks);
    return report();
}
