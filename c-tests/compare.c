/* picollo_compare.h: comparisons and figures. Of benchmarks: the steps, with made-up times; picollo-bench tests the
 * computed results. */
#include "golden.h"

static void show_interval(const picollo_quantile_interval *one)
{
    NUMBERS("quantile", one->quantile, one->confidence, one->coverage);
    say("of " U " target " U " value " U " in " U " " U " middles " U " " U " counts " U " " U " width " U "\n", one->total_count, one->target_count,
        one->value, one->lower, one->upper, one->lower_midpoint, one->upper_midpoint, one->lower_count, one->upper_count, one->bucket_width);
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
    how.absolute_threshold = 3;
    how.power = 0.95;
    how.resolution = 2.5;
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
    CHECK_OK(picollo_figure_compute("ipc", "instructions cycles", counts, 3, 0, &estimate, NULL));
    CHECK(estimate.confidence == 0.95);
    STATUS(picollo_figure_compute("nonsense", "instructions cycles", counts, 3, 0, &estimate, &error));
    say("%s\n", error.message);
    STATUS(picollo_figure_compute("ipc", "cycles", counts, 6, 0, &estimate, &error));
    say("%s\n", error.message);
    /* The caller's event, not the figure's. */
    CHECK_STATUS(PICOLLO_ERR_NOT_COUNTED, picollo_figure_compute("ipc", "cycles instructions", not_counted, 1, 0, &estimate, &error));
    CHECK(error.event_index == 1);
}

static picollo_benchmark_options default_benchmark_options(void)
{
    picollo_benchmark_options options = PICOLLO_BENCHMARK_OPTIONS_INIT;
    /* The times are made up, or far apart, so disturbances do not matter. */
    options.flags = PICOLLO_BENCHMARK_KEEP_DISTURBED;
    options.max_blocks = 30;
    options.precision = -1;
    return options;
}

static void made_up_times(void)
{
    picollo_benchmark_options options = default_benchmark_options();
    picollo_benchmark *benchmark = NULL;
    picollo_benchmark_outcome result;
    picollo_benchmark_disturbance noise;
    picollo_benchmark_counts counter;
    picollo_histogram *histogram = NULL;
    picollo_status status;
    uint32_t which = 9;
    uint64_t repetitions = 9, state = 3;
    char text[8192];
    size_t taken = 0, length;
    picollo_error error;
    options.repetitions = 10;
    options.warm_up_seconds = 1e-12;
    options.resolution_seconds = 6e-10;
    CHECK_OK(picollo_benchmark_create(&options, NULL, 0, &benchmark, NULL));
    if (benchmark == NULL) abort();
    CHECK_STATUS(PICOLLO_ERR_EMPTY, picollo_benchmark_result(benchmark, &result, NULL));
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_benchmark_format(benchmark, "", "", "", PICOLLO_TEXT_JSON, text, sizeof text, &length));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_benchmark_format(benchmark, "", "", "", 6, text, sizeof text, &length));
    CHECK_STATUS(PICOLLO_ERR_EMPTY, picollo_benchmark_format(benchmark, "", "", "", PICOLLO_TEXT_MARKDOWN, text, sizeof text, &length));
    memset(&error, 0, sizeof error);
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_benchmark_done(benchmark, &error));
    CHECK(error.status == PICOLLO_ERR_INVALID_ARGUMENT && strstr(error.message, "begun") != NULL);
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_benchmark_done_after(benchmark, 1, NULL));
    while ((status = picollo_benchmark_next(benchmark, &which, &repetitions, NULL)) == PICOLLO_OK) {
        /* 100 ns a call of A, 110 ns of B, 20 ns of overhead for ten of them. */
        const uint64_t call = which == PICOLLO_BENCHMARK_A ? 100000 : which == PICOLLO_BENCHMARK_B ? 110000 : 0;
        CHECK(repetitions == 10 && which <= 2);
        taken++;
        CHECK_OK(picollo_benchmark_done_after(benchmark, 20000 + call * repetitions + (next_random(&state) >> 54), NULL));
    }
    CHECK(status == PICOLLO_END && taken == 2 + 16 + 5 + 4 * 30);
    /* The end is no error, and it is permanent. */
    memset(&error, 0x5a, sizeof error);
    which = 77;
    CHECK_STATUS(PICOLLO_END, picollo_benchmark_next(benchmark, &which, &repetitions, &error));
    CHECK(which == 77 && error.message[0] == 0x5a);
    CHECK_OK(picollo_benchmark_result(benchmark, &result, &noise));
    CHECK(noise.block_count == 30 && noise.left_out_count == 0 && noise.reserved == 0);
    CHECK(result.blocks.block_count == 30 && result.sample_count == 60 && result.repetitions_a == 10 && result.empty_count == 21);
    CHECK(fabs(result.blocks.median_a - 100000) < 200 && fabs(result.blocks.difference - 10000) < 200);
    CHECK(fabs(result.overhead_a - 20500) < 600 && fabs(result.overhead_b - 20500) < 600 && result.overhead_error_a > 0);
    CHECK(result.blocks.verdict == PICOLLO_VERDICT_SLOWER && result.blocks.flags == 0 && result.flags == 0 && fabs(result.blocks.resolution - 600) < 1);
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_benchmark_counter(benchmark, 0, &counter));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_benchmark_histogram_ref(benchmark, 2, &histogram));
    CHECK_OK(picollo_benchmark_histogram_ref(benchmark, PICOLLO_BENCHMARK_B, &histogram));
    CHECK_OK(picollo_benchmark_format(benchmark, "", "one", NULL, PICOLLO_TEXT_HUMAN, text, sizeof text, &length));
    CHECK(strstr(text, " one") != NULL && strstr(text, "\nblocks ") != NULL && text[length - 1] != '\n');
    CHECK_OK(picollo_benchmark_format(benchmark, "ps", "one", NULL, PICOLLO_TEXT_MARKDOWN, text, sizeof text, &length));
    CHECK_U64(strlen(text), length);
    CHECK(strstr(text, " one | ") != NULL && strstr(text, " After | ") != NULL && strstr(text, "slower |") != NULL);
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL,
                 picollo_benchmark_format(benchmark, "ps", "one", NULL, PICOLLO_TEXT_MARKDOWN, text, length, &length));
    picollo_benchmark_free(benchmark);
    CHECK_U64(60, counts_of(histogram).total);
    picollo_histogram_free(histogram);
}

static void refused(void)
{
    picollo_benchmark_options options = default_benchmark_options();
    picollo_benchmark *benchmark = NULL;
    picollo_error error;
    memset(&error, 0, sizeof error);
    options.budget_seconds = -1;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_benchmark_create(&options, NULL, 0, &benchmark, &error));
    CHECK(error.message[0] != 0);
    options = default_benchmark_options();
    options.flags = 4 | PICOLLO_BENCHMARK_NO_OVERHEAD;
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_benchmark_create(&options, NULL, 0, &benchmark, NULL));
    options.flags = 0;
    options.struct_size = 71;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_benchmark_create(&options, NULL, 0, &benchmark, NULL));
    CHECK(benchmark == NULL);
}

int main(int number, char **arguments)
{
    (void)arguments;
    golden_begin(number, __FILE__);
    GOLDEN(comparisons);
    GOLDEN(figures);
    picollo_benchmark *benchmark = NULL;
    if (picollo_benchmark_create(NULL, NULL, 0, &benchmark, NULL) == PICOLLO_ERR_UNSUPPORTED) {
        SKIPPED("there are no benchmarks on this system");
        return report();
    }
    picollo_benchmark_free(benchmark);
    RUN(made_up_times);
    RUN(refused);
    return report();
}
