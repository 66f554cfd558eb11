/* Benchmarks of made-up times: what is asked for in which order, and what comes out, worked out from the same times. */
#include "buffers.h"

#define MOST_BLOCKS 12

struct benchmarked {
    picollo_benchmark *handle;
    uint64_t repetitions, overhead;
    size_t events, max_blocks;
    int no_overhead, begun, was_empty;
    /* Samples: of the warm-up, and those that count. */
    size_t warm_up, taken;
    uint32_t which;
    /* Picoseconds a call, of each side, in blocks. */
    double blocks[2][MOST_BLOCKS];
    /* The library has looked at its clock. */
    int timed;
};

static struct benchmarked *benchmarked_of(struct world *world)
{
    if (world->benchmarked == NULL) world->benchmarked = (struct benchmarked *)calloc(1, sizeof *world->benchmarked);
    if (world->benchmarked == NULL) abort();
    return world->benchmarked;
}

static picollo_status spoil(struct world *world, picollo_benchmark_options *options)
{
    static const double bad[] = {-1, NAN, INFINITY};
    switch (choose(world, 6)) {
    case 0: options->struct_size = (uint32_t)choose(world, 72); break;
    case 1: options->flags = 4u << choose(world, 30); return PICOLLO_ERR_UNSUPPORTED;
    case 2: options->budget_seconds = bad[choose(world, 3)]; break;
    case 3: options->warm_up_seconds = bad[choose(world, 3)]; break;
    case 4: options->confidence = bad[choose(world, 3)]; break;
    default: options->sample_seconds = bad[choose(world, 3)]; break;
    }
    return PICOLLO_ERR_INVALID_ARGUMENT;
}

static void op_create(struct world *world)
{
    static const char *const names[] = {"page-faults", "task-clock", "instructions"};
    struct benchmarked *const benchmarked = benchmarked_of(world);
    picollo_benchmark_options options = {.struct_size = sizeof options, .precision = -1, .warm_up_seconds = 1e-12, .budget_seconds = 1e5}, wrong;
    picollo_benchmark *benchmark = NULL;
    picollo_event events[2];
    picollo_error error;
    picollo_status status;
    picollo_benchmark_free(benchmarked->handle);
    picollo_benchmark_free(NULL);
    memset(benchmarked, 0, sizeof *benchmarked);
    options.max_blocks = 1 + (uint32_t)choose(world, MOST_BLOCKS);
    options.repetitions = 1 + choose(world, 20);
    /* What others do must not change what comes out. */
    options.flags = (uint32_t)choose(world, 2) | PICOLLO_BENCHMARK_KEEP_DISTURBED;
    benchmarked->events = rarely(world, 4) ? (size_t)choose(world, 3) : 0;
    for (size_t i = 0; i < benchmarked->events; i++) {
        if (picollo_event_parse(names[choose(world, 3)], &events[i], NULL) != PICOLLO_OK) benchmarked->events = 0;
    }
    wrong = options;
    status = spoil(world, &wrong);
    memset(&error, 0, sizeof error);
    REFUSED(status, benchmark, picollo_benchmark_create(&wrong, events, benchmarked->events, &benchmark, &error));
    REQUIRE(error.status == status && error.message[0] != 0);
    REFUSED(PICOLLO_ERR_NULL_POINTER, benchmark, picollo_benchmark_create(&options, NULL, 1, &benchmark, NULL));
    EXPECT(PICOLLO_OK, picollo_benchmark_create(&options, events, benchmarked->events, &benchmark, &error));
    benchmarked->handle = benchmark;
    benchmarked->repetitions = options.repetitions;
    benchmarked->max_blocks = options.max_blocks;
    benchmarked->no_overhead = (options.flags & PICOLLO_BENCHMARK_NO_OVERHEAD) != 0;
    benchmarked->overhead = benchmarked->no_overhead ? 0 : choose(world, 1000000);
}

/* What a sample is told to take is noted as it should be. */
static uint64_t time_of(struct world *world, struct benchmarked *benchmarked)
{
    const int counts = benchmarked->which != PICOLLO_BENCHMARK_EMPTY && benchmarked->warm_up >= 2 && (benchmarked->no_overhead || benchmarked->was_empty);
    const uint64_t calls = 1 + choose(world, 1000000), told = benchmarked->overhead + calls;
    if (benchmarked->which == PICOLLO_BENCHMARK_EMPTY) {
        benchmarked->was_empty = 1;
        return benchmarked->overhead;
    }
    if (!counts) {
        benchmarked->warm_up++;
        return told;
    }
    REQUIRE(benchmarked->which == (uint32_t)("ABBABAAB"[benchmarked->taken % 8] - 'A'));
    REQUIRE(benchmarked->taken / 4 < benchmarked->max_blocks);
    benchmarked->blocks[benchmarked->which][benchmarked->taken / 4] += (double)calls / (double)benchmarked->repetitions / 2;
    benchmarked->taken++;
    return told;
}

static void one_sample(struct world *world, struct benchmarked *benchmarked)
{
    uint32_t which = 77;
    uint64_t repetitions = 77, picoseconds;
    const int at_the_end = benchmarked->taken == 4 * benchmarked->max_blocks;
    if (!benchmarked->begun) {
        EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_benchmark_done(benchmarked->handle, NULL));
        EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_benchmark_done_after(benchmarked->handle, 1, NULL));
    }
    EXPECT(at_the_end ? PICOLLO_END : PICOLLO_OK, picollo_benchmark_next(benchmarked->handle, &which, &repetitions, NULL));
    if (at_the_end) {
        REQUIRE(which == 77 && repetitions == 77);
        return;
    }
    REQUIRE(which <= PICOLLO_BENCHMARK_EMPTY && (which != PICOLLO_BENCHMARK_EMPTY || !benchmarked->no_overhead));
    SAME(benchmarked->repetitions, repetitions);
    benchmarked->which = which;
    benchmarked->begun = 1;
    /* Forgotten, and begun again. */
    if (rarely(world, 16)) return;
    picoseconds = time_of(world, benchmarked);
    if (rarely(world, 200)) {
        picollo_work_add_chain_256(1);
        EXPECT(PICOLLO_OK, picollo_benchmark_done(benchmarked->handle, NULL));
        benchmarked->timed = 1;
    } else {
        EXPECT(PICOLLO_OK, picollo_benchmark_done_after(benchmarked->handle, picoseconds, NULL));
    }
    benchmarked->begun = 0;
}

static int by_value(const void *a, const void *b)
{
    const double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

static double median_of(double *values, size_t length)
{
    qsort(values, length, sizeof *values, by_value);
    return (values[(length - 1) / 2] + values[length / 2]) / 2;
}

static int is_near(double expected, double actual)
{
    return fabs(expected - actual) <= 1e-9 * (1 + fabs(expected));
}

static void check_result(struct world *world, const struct benchmarked *benchmarked)
{
    const size_t blocks = benchmarked->taken / 4;
    const char *const title = any_title(world), *const name = any_title(world);
    double a[MOST_BLOCKS], b[MOST_BLOCKS], differences[MOST_BLOCKS];
    picollo_benchmark_outcome result;
    picollo_benchmark_disturbance noise;
    size_t length;
    if (blocks == 0) {
        REFUSED(PICOLLO_ERR_EMPTY, noise, picollo_benchmark_noise(benchmarked->handle, &noise));
        REFUSED(PICOLLO_ERR_EMPTY, result, picollo_benchmark_result(benchmarked->handle, &result));
        REFUSED(PICOLLO_ERR_EMPTY, length, picollo_benchmark_format(benchmarked->handle, title, name, name, PICOLLO_TEXT_MARKDOWN, NULL, 0, &length));
        return;
    }
    EXPECT(PICOLLO_OK, picollo_benchmark_result(benchmarked->handle, &result));
    if (PLANTED(10)) result.sample_count++;
    SAME(blocks, result.blocks.block_count);
    EXPECT(PICOLLO_OK, picollo_benchmark_noise(benchmarked->handle, &noise));
    SAME(blocks, noise.block_count);
    SAME(0, noise.left_out_count);
    REQUIRE(noise.disturbed_count <= blocks && (noise.seconds >= 0 || isnan(noise.seconds)));
    SAME(2 * blocks, result.sample_count);
    SAME(benchmarked->repetitions, result.repetitions_a);
    SAME(benchmarked->repetitions, result.repetitions_b);
    REQUIRE(result.blocks.difference_lower <= result.blocks.difference && result.blocks.difference <= result.blocks.difference_upper);
    if (!benchmarked->timed) {
        REQUIRE(result.overhead_a == (double)benchmarked->overhead && result.overhead_b == (double)benchmarked->overhead);
        for (size_t i = 0; i < blocks; i++) {
            a[i] = benchmarked->blocks[0][i];
            b[i] = benchmarked->blocks[1][i];
            differences[i] = b[i] - a[i];
        }
        /* Moved apart or together, by as much either, so that they differ by the difference. */
        REQUIRE(is_near((median_of(a, blocks) + median_of(b, blocks)) / 2, (result.blocks.median_a + result.blocks.median_b) / 2));
        REQUIRE(is_near(median_of(differences, blocks), result.blocks.difference));
        REQUIRE(is_near(result.blocks.median_b - result.blocks.median_a, result.blocks.difference));
    }
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, length, picollo_benchmark_format(benchmarked->handle, NO_TEXT, name, name, PICOLLO_TEXT_MARKDOWN, NULL, 0, &length));
    for (uint32_t format = PICOLLO_TEXT_MARKDOWN + 1; format < 8; format++) {
        if (format == PICOLLO_TEXT_HUMAN || format == PICOLLO_TEXT_FULL) continue;
        const picollo_status refused = format <= PICOLLO_TEXT_CSV ? PICOLLO_ERR_UNSUPPORTED : PICOLLO_ERR_INVALID_ARGUMENT;
        REFUSED(refused, length, picollo_benchmark_format(benchmarked->handle, title, name, name, format, NULL, 0, &length));
    }
#define MARKDOWN(buffer, capacity, length) picollo_benchmark_format(benchmarked->handle, title, name, name, PICOLLO_TEXT_MARKDOWN, buffer, capacity, length)
    if (rarely(world, 8)) FORMATS(MARKDOWN);
#define HUMAN(buffer, capacity, length) picollo_benchmark_format(benchmarked->handle, title, name, name, people, buffer, capacity, length)
    const uint32_t people = rarely(world, 2) ? PICOLLO_TEXT_FULL : PICOLLO_TEXT_HUMAN;
    if (rarely(world, 8)) FORMATS(HUMAN);
}

static void check_parts(struct world *world, struct benchmarked *benchmarked)
{
    const uint32_t side = (uint32_t)choose(world, 2);
    picollo_benchmark_counts counter;
    picollo_histogram *histogram;
    picollo_summary summary;
    double progress = -1;
    EXPECT(PICOLLO_OK, picollo_benchmark_progress(benchmarked->handle, &progress));
    REQUIRE(progress >= 0 && progress <= 1 && (benchmarked->taken < 4 * benchmarked->max_blocks || progress == 1));
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, counter, picollo_benchmark_counter(benchmarked->handle, benchmarked->events, &counter));
    for (size_t i = 0; i < benchmarked->events; i++) {
        EXPECT(PICOLLO_OK, picollo_benchmark_counter(benchmarked->handle, i, &counter));
        REQUIRE(counter.status <= 0 && counter.status != PICOLLO_ERR_PANIC && (counter.status == 0 || (isnan(counter.a) && isnan(counter.b))));
    }
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, histogram, picollo_benchmark_histogram_ref(benchmarked->handle, 2 + side, &histogram));
    EXPECT(PICOLLO_OK, picollo_benchmark_histogram_ref(benchmarked->handle, side, &histogram));
    EXPECT(PICOLLO_OK, picollo_histogram_summary(histogram, 0, &summary));
    /* Those of whole blocks. */
    SAME(benchmarked->taken / 4 * 2, summary.total_count);
    picollo_histogram_free(histogram);
}

static void op_run(struct world *world)
{
    struct benchmarked *const benchmarked = benchmarked_of(world);
    if (benchmarked->handle == NULL) {
        if (!rarely(world, 3)) return;
        op_create(world);
    }
    for (uint64_t samples = choose(world, 90); samples > 0; samples--) one_sample(world, benchmarked);
    check_result(world, benchmarked);
    if (rarely(world, 4)) check_parts(world, benchmarked);
}

static void op_null(struct world *world)
{
    uint32_t which;
    uint64_t repetitions;
    double progress;
    picollo_benchmark_outcome result;
    picollo_benchmark_disturbance noise;
    picollo_benchmark_counts counter;
    picollo_histogram *histogram;
    size_t length;
    REFUSED(PICOLLO_ERR_NULL_POINTER, which, picollo_benchmark_next(NULL, &which, &repetitions, NULL));
    EXPECT(PICOLLO_ERR_NULL_POINTER, picollo_benchmark_done(NULL, NULL));
    EXPECT(PICOLLO_ERR_NULL_POINTER, picollo_benchmark_done_after(NULL, 1, NULL));
    REFUSED(PICOLLO_ERR_NULL_POINTER, progress, picollo_benchmark_progress(NULL, &progress));
    REFUSED(PICOLLO_ERR_NULL_POINTER, result, picollo_benchmark_result(NULL, &result));
    REFUSED(PICOLLO_ERR_NULL_POINTER, noise, picollo_benchmark_noise(NULL, &noise));
    REFUSED(PICOLLO_ERR_NULL_POINTER, counter, picollo_benchmark_counter(NULL, 0, &counter));
    REFUSED(PICOLLO_ERR_NULL_POINTER, histogram, picollo_benchmark_histogram_ref(NULL, 0, &histogram));
    REFUSED(PICOLLO_ERR_NULL_POINTER, length, picollo_benchmark_format(NULL, "", "", "", PICOLLO_TEXT_MARKDOWN, NULL, 0, &length));
}

void end_benchmark(struct world *world)
{
    if (world->benchmarked == NULL) return;
    picollo_benchmark_free(world->benchmarked->handle);
    free(world->benchmarked);
}

const struct operation benchmark_operations[] = {
    {"benchmark_create", op_create, 1},
    {"benchmark", op_run, 5},
    {"benchmark of nothing", op_null, 1},
    {NULL, NULL, 0},
};
