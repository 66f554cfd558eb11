/* Doubles, logs and benchmarks: freed by anyone in any order, with the right number of counts. Core tests their
 * results. */
#include "buffers.h"

static const double no_shares[] = {-0.5, 1.5, NAN, INFINITY};

#define DOUBLES 3

/* The number of values in each; core tests the values. */
struct doubles {
    picollo_double_histogram *histograms[DOUBLES];
    picollo_double_snapshot *snapshots[DOUBLES];
    uint64_t counts[DOUBLES], not_finite[DOUBLES], seen[DOUBLES], seen_not_finite[DOUBLES];
};

static void op_doubles(struct world *world)
{
    if (world->doubles == NULL) world->doubles = (struct doubles *)calloc(1, sizeof *world->doubles);
    if (world->doubles == NULL) abort();
    struct doubles *const all = world->doubles;
    const size_t i = (size_t)choose(world, DOUBLES), j = (size_t)choose(world, DOUBLES);
    picollo_double_options options = PICOLLO_DOUBLE_OPTIONS_INIT;
    picollo_double_statistics statistics;
    double share = 0.5, found, values[3];
    options.relative_error = (double)choose(world, 20) / 100;
    options.flags = (uint32_t)choose(world, 4);
    if (all->histograms[i] == NULL) {
        EXPECT(PICOLLO_OK, picollo_double_histogram_create(&options, &all->histograms[i]));
        all->counts[i] = all->not_finite[i] = 0;
    }
    if (all->snapshots[j] == NULL) {
        EXPECT(PICOLLO_OK, picollo_double_snapshot_create(NULL, &all->snapshots[j]));
        all->seen[j] = all->seen_not_finite[j] = 0;
    }
    switch (choose(world, 7)) {
    case 0:
        picollo_double_histogram_free(all->histograms[i]);
        picollo_double_snapshot_free(all->snapshots[j]);
        all->histograms[i] = NULL;
        all->snapshots[j] = NULL;
        return;
    case 1:
        EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_double_snapshot_update(all->snapshots[j], all->histograms[i], 2 + (uint32_t)choose(world, 99)));
        if (rarely(world, 2)) {
            picollo_double_snapshot_free(all->snapshots[j]);
            EXPECT(PICOLLO_OK, picollo_double_snapshot_create(all->histograms[i], &all->snapshots[j]));
        } else {
            EXPECT(PICOLLO_OK, picollo_double_snapshot_update(all->snapshots[j], all->histograms[i], PICOLLO_INTERVAL_LOOK));
        }
        all->seen[j] = all->counts[i];
        all->seen_not_finite[j] = all->not_finite[i];
        break;
    case 2:
        EXPECT(PICOLLO_OK, picollo_double_snapshot_update(all->snapshots[j], all->histograms[i], PICOLLO_INTERVAL_COLLECT));
        all->seen[j] = all->counts[i];
        all->seen_not_finite[j] = all->not_finite[i];
        all->counts[i] = all->not_finite[i] = 0;
        break;
    case 3:
        REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, statistics, picollo_double_histogram_collect(all->histograms[i], &no_shares[choose(world, 4)], 1, &found, &statistics));
        EXPECT(PICOLLO_OK, picollo_double_histogram_collect(all->histograms[i], &share, 1, &found, &statistics));
        SAME(all->counts[i], statistics.count);
        SAME(all->not_finite[i], statistics.not_finite);
        REQUIRE(isnan(found) == (statistics.count == 0));
        all->counts[i] = all->not_finite[i] = 0;
        break;
    case 4:
        EXPECT(PICOLLO_OK, picollo_double_histogram_add(all->histograms[i], all->snapshots[j]));
        all->counts[i] += all->seen[j];
        all->not_finite[i] += all->seen_not_finite[j];
        break;
    case 5:
        EXPECT(i != j && all->snapshots[i] != NULL ? PICOLLO_OK : i == j ? PICOLLO_ERR_INVALID_ARGUMENT : PICOLLO_ERR_NULL_POINTER,
               picollo_double_snapshot_merge(all->snapshots[j], all->snapshots[i]));
        if (i == j || all->snapshots[i] == NULL) break;
        all->seen[j] += all->seen[i];
        all->seen_not_finite[j] += all->seen_not_finite[i];
        break;
    default:
        for (uint64_t number = choose(world, 20); number > 0; number--) {
            const uint64_t bits = choose(world, 0), count = 1 + choose(world, 1000);
            memcpy(&values[0], &bits, sizeof bits);
            values[1] = ldexp((double)choose(world, 1000) - 500, (int)choose(world, 40) - 20);
            values[2] = no_shares[choose(world, 4)];
            picollo_double_histogram_record(all->histograms[i], values[1]);
            picollo_double_histogram_record_n(all->histograms[i], values[1], count);
            picollo_double_histogram_record_batch(all->histograms[i], values, 3);
            all->counts[i] += 1 + count;
            for (int k = 0; k < 3; k++) *(isfinite(values[k]) ? &all->counts[i] : &all->not_finite[i]) += 1;
        }
        break;
    }
    EXPECT(PICOLLO_OK, picollo_double_snapshot_statistics(all->snapshots[j], &statistics));
    SAME(all->seen[j] + (PLANTED(3) ? 1 : 0), statistics.count);
    SAME(all->seen_not_finite[j], statistics.not_finite);
    EXPECT(statistics.count == 0 ? PICOLLO_ERR_EMPTY : PICOLLO_OK, picollo_double_snapshot_quantiles(all->snapshots[j], &share, 1, &found));
}

/* A log with some bytes changed: an error or an interval for each line, and never more. */
static void op_damaged_log(struct world *world)
{
    const struct snapshot *const snapshot = exact_snapshot(world);
    const int damages = rarely(world, 2);
    char text[1 << 14] = "";
    picollo_log_reader *reader = NULL;
    picollo_status status;
    size_t length = 0, one = 0;
    int intervals = 0, calls = 0;
    EXPECT(PICOLLO_OK, picollo_log_format_header(1e9, any_title(world), text, sizeof text / 2, &length));
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, one, picollo_log_format_header(INFINITY, NULL, NULL, 0, &one));
    for (int i = 0; snapshot != NULL && i < 3; i++) {
        status = picollo_log_format_interval(snapshot->handle, i, 1, "a", text + length, sizeof text - length, &one);
        if (status == PICOLLO_OK) length += one, intervals++;
    }
    for (uint64_t changes = damages ? 1 + choose(world, 4) : 0; changes > 0; changes--) text[choose(world, length)] = (char)choose(world, 256);
    /* The text needs no terminator. */
    char *const exactly = (char *)malloc(length);
    if (exactly == NULL) abort();
    memcpy(exactly, text, length);
    EXPECT(PICOLLO_OK, picollo_log_reader_create(exactly, length, &reader));
    do {
        picollo_log_interval interval;
        picollo_snapshot *read = NULL;
        status = picollo_log_reader_next(reader, &interval);
        REQUIRE(status != PICOLLO_ERR_PANIC && strlen(interval.tag) == interval.tag_length && ++calls < 100);
        if (status != PICOLLO_OK) continue;
        const picollo_status decoded = picollo_log_reader_decode(reader, damages ? choose(world, 100000) : 0, &read);
        REQUIRE(decoded != PICOLLO_ERR_PANIC && (decoded == PICOLLO_OK) == (read != NULL));
        if (!damages) {
            picollo_counts counts;
            EXPECT(PICOLLO_OK, picollo_snapshot_counts(read, &counts));
            SAME(snapshot->now.in, counts.total + (PLANTED(4) ? 1 : 0));
            intervals--;
        }
        picollo_snapshot_free(read);
    } while (status != PICOLLO_END);
    if (!damages) SAME(0, (uint64_t)intervals);
    picollo_log_reader_free(reader);
    free(exactly);
}

/* Made-up times, equal for each side: as many samples as the blocks imply, and a histogram that outlives the
 * benchmark. */
static void op_benchmark(struct world *world)
{
    picollo_benchmark_options options = {.struct_size = sizeof options, .precision = -1, .warm_up_seconds = 1e-12, .budget_seconds = 1e5};
    picollo_benchmark *benchmark = NULL;
    picollo_benchmark_outcome result;
    picollo_histogram *histogram = NULL;
    picollo_event event;
    uint32_t which;
    uint64_t repetitions, left = choose(world, 120);
    picollo_status status = PICOLLO_OK;
    options.max_blocks = 1 + (uint32_t)choose(world, 12);
    options.repetitions = 1 + choose(world, 20);
    /* Other activity must not change the result. */
    options.flags = (uint32_t)choose(world, 2) | PICOLLO_BENCHMARK_KEEP_DISTURBED;
    EXPECT(PICOLLO_OK, picollo_event_parse("page-faults", &event, NULL));
    EXPECT(PICOLLO_OK, picollo_benchmark_create(&options, &event, (size_t)choose(world, 2), &benchmark, NULL));
    EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_benchmark_done_after(benchmark, 1, NULL));
    while (left-- > 0 && (status = picollo_benchmark_next(benchmark, &which, &repetitions, NULL)) == PICOLLO_OK) {
        SAME(options.repetitions, repetitions);
        if (rarely(world, 16)) continue;
        if (rarely(world, 100)) EXPECT(PICOLLO_OK, picollo_benchmark_done(benchmark, NULL));
        else EXPECT(PICOLLO_OK, picollo_benchmark_done_after(benchmark, 1000 * (1 + which % 2), NULL));
    }
    status = picollo_benchmark_result(benchmark, &result, NULL);
    EXPECT(PICOLLO_OK, picollo_benchmark_histogram_ref(benchmark, PICOLLO_BENCHMARK_B, &histogram));
    if (status == PICOLLO_OK) {
        picollo_summary summary;
        EXPECT(PICOLLO_OK, picollo_histogram_summary(histogram, 0, NULL, 0, NULL, &summary));
        SAME(result.sample_count + (PLANTED(5) ? 1 : 0), summary.total_count);
        SAME(2 * result.blocks.block_count, result.sample_count);
    } else {
        EXPECT(PICOLLO_ERR_EMPTY, status);
    }
    picollo_benchmark_free(benchmark);
    picollo_histogram_record(histogram, 5);
    picollo_histogram_free(histogram);
}

void end_doubles(struct world *world)
{
    if (world->doubles == NULL) return;
    for (size_t i = 0; i < DOUBLES; i++) {
        picollo_double_histogram_free(world->doubles->histograms[i]);
        picollo_double_snapshot_free(world->doubles->snapshots[i]);
    }
    free(world->doubles);
}

const struct operation other_operations[] = {
    {"doubles", op_doubles, 24},
    {"damaged log", op_damaged_log, 4},
    {"benchmark", op_benchmark, 2},
    {NULL, NULL, 0},
};
