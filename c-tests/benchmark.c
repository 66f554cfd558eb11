/* Benchmarks: the steps, made-up times, and once for real. */
#include "test.h"

#include <pthread.h>

static picollo_benchmark_options default_benchmark_options(void)
{
    picollo_benchmark_options options = PICOLLO_BENCHMARK_OPTIONS_INIT;
    /* Times are made up, or far apart: others may disturb. */
    options.flags = PICOLLO_BENCHMARK_KEEP_DISTURBED;
    return options;
}

static picollo_benchmark *create_benchmark(const picollo_benchmark_options *options)
{
    picollo_benchmark *benchmark = NULL;
    CHECK_OK(picollo_benchmark_create(options, NULL, 0, &benchmark, NULL));
    if (benchmark == NULL) abort();
    return benchmark;
}

static void made_up_times(void)
{
    picollo_benchmark_options options = default_benchmark_options();
    picollo_benchmark *benchmark;
    picollo_benchmark_outcome result;
    picollo_benchmark_counts counter;
    picollo_benchmark_disturbance noise;
    picollo_histogram *histogram = NULL;
    picollo_summary summary;
    picollo_status status;
    uint32_t which = 9;
    uint64_t repetitions = 9, state = 3;
    char order[256] = "", text[8192];
    size_t taken = 0, length;
    double progress = -1;
    picollo_error error;

    options.max_blocks = 30;
    options.repetitions = 10;
    options.precision = -1;
    options.warm_up_seconds = 1e-12;
    benchmark = create_benchmark(&options);
    CHECK_STATUS(PICOLLO_ERR_EMPTY, picollo_benchmark_result(benchmark, &result));
    CHECK_STATUS(PICOLLO_ERR_EMPTY, picollo_benchmark_noise(benchmark, &noise));
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_benchmark_format(benchmark, "", "", "", PICOLLO_TEXT_JSON, text, sizeof text, &length));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_benchmark_format(benchmark, "", "", "", 6, text, sizeof text, &length));
    CHECK_STATUS(PICOLLO_ERR_EMPTY, picollo_benchmark_format(benchmark, "", "", "", PICOLLO_TEXT_MARKDOWN, text, sizeof text, &length));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_benchmark_done(benchmark, NULL));
    memset(&error, 0, sizeof error);
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_benchmark_done(benchmark, &error));
    CHECK(error.status == PICOLLO_ERR_INVALID_ARGUMENT && strstr(error.message, "begun") != NULL);
    memset(&error, 0, sizeof error);
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_benchmark_done_after(benchmark, 1, &error));
    CHECK(error.status == PICOLLO_ERR_INVALID_ARGUMENT && error.message[0] != 0);
    while ((status = picollo_benchmark_next(benchmark, &which, &repetitions, NULL)) == PICOLLO_OK) {
        /* 100 ns a call of A, 110 ns of B, 20 ns for what surrounds ten of them. */
        const uint64_t call = which == PICOLLO_BENCHMARK_A ? 100000 : which == PICOLLO_BENCHMARK_B ? 110000 : 0;
        CHECK(repetitions == 10 && which <= 2);
        if (taken < sizeof order - 1) order[taken] = "ABe"[which];
        taken++;
        CHECK_OK(picollo_benchmark_done_after(benchmark, 20000 + call * repetitions + (next_random(&state) >> 54), NULL));
    }
    CHECK(status == PICOLLO_END && taken == 2 + 16 + 5 + 4 * 30);
    order[taken] = 0;
    /* The end is no error, and it stays the end. */
    memset(&error, 0x5a, sizeof error);
    which = 77;
    CHECK_STATUS(PICOLLO_END, picollo_benchmark_next(benchmark, &which, &repetitions, &error));
    CHECK(which == 77 && error.message[0] == 0x5a);
    CHECK(strncmp(order, "ABeeee", 6) == 0 && strstr(order, "eABBABAABABBABAAB") != NULL);
    CHECK_OK(picollo_benchmark_progress(benchmark, &progress));
    CHECK(progress == 1);
    CHECK_OK(picollo_benchmark_result(benchmark, &result));
    CHECK(result.blocks.block_count == 30 && result.sample_count == 60 && result.repetitions_a == 10);
    CHECK(fabs(result.blocks.median_a - 100000) < 200 && fabs(result.blocks.difference - 10000) < 200);
    CHECK(fabs(result.overhead_a - 20500) < 600 && fabs(result.overhead_b - 20500) < 600);
    CHECK(result.overhead_a == result.overhead_b && result.empty_count == 21);
    CHECK(result.overhead_error_a > 0 && result.overhead_error_a < 600 && result.flags == 0);
    CHECK(result.blocks.verdict == PICOLLO_VERDICT_SLOWER && result.blocks.flags == 0);
    /* One per cent of A is more than half a nanosecond here; rows that belong together agree. */
    CHECK(result.blocks.resolution == 500 && fabs(result.blocks.margin - 1000) < 5);
    CHECK(fabs(result.blocks.median_b - result.blocks.median_a - result.blocks.difference) < 1e-3);
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_benchmark_counter(benchmark, 0, &counter));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_benchmark_histogram_ref(benchmark, 2, &histogram));
    CHECK_OK(picollo_benchmark_histogram_ref(benchmark, PICOLLO_BENCHMARK_B, &histogram));
    CHECK_OK(picollo_benchmark_format(benchmark, "", "one", NULL, PICOLLO_TEXT_HUMAN, text, sizeof text, &length));
    CHECK(strstr(text, " one") != NULL && strstr(text, "\nblocks ") != NULL && strstr(text, "P99.999") == NULL && text[length - 1] != '\n');
    CHECK_OK(picollo_benchmark_format(benchmark, "ps", "one", NULL, PICOLLO_TEXT_MARKDOWN, text, sizeof text, &length));
    CHECK_U64(strlen(text), length);
    CHECK(strstr(text, " one | ") != NULL && strstr(text, " After | ") != NULL && strstr(text, "slower |") != NULL);
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL,
                 picollo_benchmark_format(benchmark, "ps", "one", NULL, PICOLLO_TEXT_MARKDOWN, text, length, &length));
    picollo_benchmark_free(benchmark);
    CHECK_OK(picollo_histogram_summary(histogram, 0, &summary));
    CHECK_U64(60, summary.total_count);
    picollo_histogram_free(histogram);
}

/* Half a nanosecond is below what can be told, unless it is asked for. */
static void resolution(void)
{
    static const double asked[] = {0, 1e-11, -1};
    char text[8192];
    size_t length;
    for (size_t i = 0; i < 3; i++) {
        picollo_benchmark_options options = default_benchmark_options();
        picollo_benchmark *benchmark;
        picollo_benchmark_outcome result;
        uint32_t which;
        uint64_t n, state = 5;
        options.max_blocks = 30;
        options.warm_up_seconds = 1e-12;
        options.resolution_seconds = asked[i];
        benchmark = create_benchmark(&options);
        while (picollo_benchmark_next(benchmark, &which, &n, NULL) == PICOLLO_OK) {
            const uint64_t call = which == PICOLLO_BENCHMARK_A ? 20100 : which == PICOLLO_BENCHMARK_B ? 20060 : 20000;
            CHECK_OK(picollo_benchmark_done_after(benchmark, call * n + (next_random(&state) >> 54), NULL));
        }
        CHECK_OK(picollo_benchmark_result(benchmark, &result));
        CHECK(result.repetitions_a == result.repetitions_b);
        CHECK(fabs(result.blocks.difference + 40) < 2 && fabs(result.blocks.median_a - 100) < 2);
        CHECK_OK(picollo_benchmark_format(benchmark, "ps", "", "", PICOLLO_TEXT_MARKDOWN, text, sizeof text, &length));
        if (i == 0) {
            const uint32_t below = PICOLLO_COMPARISON_MARGIN_IS_RESOLUTION | PICOLLO_COMPARISON_BELOW_RESOLUTION;
            CHECK(result.blocks.verdict == PICOLLO_VERDICT_NO_EVIDENCE && (result.blocks.flags & below) == below);
            CHECK(result.flags == (PICOLLO_BENCHMARK_NOTHING_A | PICOLLO_BENCHMARK_NOTHING_B));
            CHECK(strstr(text, "below what this measurement can tell") != NULL && strstr(text, "<500") != NULL);
        } else {
            CHECK(result.blocks.verdict == PICOLLO_VERDICT_FASTER && result.flags == 0);
            CHECK(result.blocks.resolution == (i == 1 ? 10 : 0));
        }
        picollo_benchmark_free(benchmark);
    }
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
    /* A program of before there was a resolution. */
    options = default_benchmark_options();
    options.struct_size = 72;
    options.resolution_seconds = NAN;
    CHECK_OK(picollo_benchmark_create(&options, NULL, 0, &benchmark, NULL));
    picollo_benchmark_free(benchmark);
    options.struct_size = sizeof options;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_benchmark_create(&options, NULL, 0, &benchmark, NULL));
}

static int is_known(double seconds)
{
    CHECK(isnan(seconds) || seconds >= 0);
    return !isnan(seconds);
}

/* Whatever this machine does meanwhile, what is said of it agrees: with itself, with the verdict and with the text. */
static void what_others_did(void)
{
    picollo_benchmark_options options = PICOLLO_BENCHMARK_OPTIONS_INIT;
    picollo_benchmark *benchmark;
    picollo_benchmark_outcome result;
    picollo_benchmark_disturbance noise;
    uint32_t which;
    uint64_t n;
    char text[8192];
    size_t length;
    options.max_blocks = 100;
    options.precision = -1;
    options.budget_seconds = 20;
    options.warm_up_seconds = 0.02;
    benchmark = create_benchmark(&options);
    while (picollo_benchmark_next(benchmark, &which, &n, NULL) == PICOLLO_OK) {
        if (which != PICOLLO_BENCHMARK_EMPTY) while (n--) picollo_work_add_chain_256(which == PICOLLO_BENCHMARK_A ? 20 : 60);
        CHECK_OK(picollo_benchmark_done(benchmark, NULL));
    }
    CHECK_OK(picollo_benchmark_result(benchmark, &result));
    CHECK_OK(picollo_benchmark_noise(benchmark, &noise));
    CHECK_OK(picollo_benchmark_format(benchmark, "ps", "", "", PICOLLO_TEXT_MARKDOWN, text, sizeof text, &length));
    CHECK_U64(100, noise.block_count);
    CHECK_U64(200, result.sample_count);
    CHECK_U64(noise.block_count, noise.left_out_count + result.blocks.block_count);
    CHECK(noise.left_out_count <= noise.disturbed_count && noise.disturbed_count <= noise.block_count && noise.reserved == 0);
    CHECK(noise.seconds > 0 && noise.seconds <= (double)result.elapsed / 1e12);
    if (is_known(noise.others_seconds)) CHECK(noise.cpu_count >= 1 && noise.others_seconds <= (noise.seconds + 0.1) * noise.cpu_count);
    if (is_known(noise.pressure_seconds)) CHECK(noise.pressure_seconds <= noise.seconds);
    if (is_known(noise.steal_seconds)) CHECK(noise.steal_seconds <= (noise.seconds + 0.1) * noise.cpu_count);
    CHECK(isnan(noise.frequency_low) == isnan(noise.frequency_high) && !(noise.frequency_low > noise.frequency_high));
    if (result.flags & PICOLLO_BENCHMARK_SIMULATED) {
        /* Valgrind's times say nothing, and nothing is said of them. */
        CHECK(result.blocks.verdict == PICOLLO_VERDICT_NO_EVIDENCE);
    } else if (result.blocks.flags & PICOLLO_COMPARISON_NOISY) {
        CHECK(result.blocks.verdict == PICOLLO_VERDICT_NO_EVIDENCE && noise.left_out_count == 0);
        CHECK(noise.disturbed_count > 0 && strstr(text, "unproven: noisy") != NULL && strstr(text, " disturbed") != NULL);
    } else {
        CHECK_U64(noise.disturbed_count, noise.left_out_count);
        CHECK(result.blocks.verdict == PICOLLO_VERDICT_SLOWER && strstr(text, "slower |") != NULL);
        CHECK((strstr(text, " left out") != NULL) == (noise.left_out_count != 0));
    }
    picollo_benchmark_free(benchmark);
}

static void *elsewhere(void *benchmark)
{
    uint32_t which;
    uint64_t n;
    picollo_error error;
    memset(&error, 0, sizeof error);
    CHECK_STATUS(PICOLLO_ERR_WRONG_THREAD, picollo_benchmark_next((picollo_benchmark *)benchmark, &which, &n, &error));
    CHECK(error.status == PICOLLO_ERR_WRONG_THREAD && error.message[0] != 0);
    return NULL;
}

/* What is wrong with its events, the benchmark explains. */
static void the_wrong_thread(void)
{
    picollo_event event;
    picollo_benchmark *benchmark = NULL;
    pthread_t thread;
    CHECK_OK(picollo_event_parse("page-faults", &event, NULL));
    CHECK_OK(picollo_benchmark_create(NULL, &event, 1, &benchmark, NULL));
    if (benchmark == NULL) return;
    CHECK(pthread_create(&thread, NULL, elsewhere, benchmark) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    picollo_benchmark_free(benchmark);
}

static void known_work_with_counters(void)
{
    picollo_benchmark_options options = default_benchmark_options();
    picollo_event events[2];
    picollo_benchmark *benchmark = NULL;
    picollo_benchmark_outcome result;
    picollo_benchmark_counts counter;
    char text[8192];
    size_t length;
    uint32_t which;
    uint64_t n;
    options.max_blocks = 30;
    options.precision = -1;
    options.warm_up_seconds = 0.005;
    options.budget_seconds = 20;
    CHECK_OK(picollo_event_parse("page-faults", &events[0], NULL));
    CHECK_OK(picollo_event_parse("instructions", &events[1], NULL));
    CHECK_OK(picollo_benchmark_create(&options, events, 2, &benchmark, NULL));
    if (benchmark == NULL) return;
    while (picollo_benchmark_next(benchmark, &which, &n, NULL) == PICOLLO_OK) {
        if (which == PICOLLO_BENCHMARK_A) while (n--) picollo_work_add_chain_256(50);
        else if (which == PICOLLO_BENCHMARK_B) while (n--) picollo_work_add_chain_256(100);
        CHECK_OK(picollo_benchmark_done(benchmark, NULL));
    }
    CHECK_OK(picollo_benchmark_result(benchmark, &result));
    if (result.flags & PICOLLO_BENCHMARK_SIMULATED) {
        /* Valgrind executes this: there is no verdict of times. */
        CHECK(result.flags == PICOLLO_BENCHMARK_SIMULATED && result.blocks.verdict == PICOLLO_VERDICT_NO_EVIDENCE);
        CHECK_OK(picollo_benchmark_format(benchmark, "", "", "", PICOLLO_TEXT_HUMAN, text, sizeof text, &length));
        CHECK(strstr(text, "times say nothing") != NULL && strstr(text, "slower") == NULL);
    } else {
        CHECK(result.blocks.verdict == PICOLLO_VERDICT_SLOWER);
    }
    CHECK(result.blocks.median_b > 1.3 * result.blocks.median_a && result.blocks.median_b < 4 * result.blocks.median_a);
    CHECK_OK(picollo_benchmark_counter(benchmark, 0, &counter));
    CHECK(counter.status == PICOLLO_OK && counter.a < 1 && counter.b < 1);
    CHECK_OK(picollo_benchmark_counter(benchmark, 1, &counter));
    if (counter.status == PICOLLO_OK) {
        CHECK(counter.b > 1.5 * counter.a);
    } else {
        SKIPPED("the count of instructions: there is no PMU");
        CHECK(isnan(counter.a) && isnan(counter.b));
    }
    picollo_benchmark_free(benchmark);
}

int main(void)
{
    RUN(made_up_times);
    RUN(resolution);
    RUN(what_others_did);
    RUN(refused);
    RUN(the_wrong_thread);
    RUN(known_work_with_counters);
    return report();
}
