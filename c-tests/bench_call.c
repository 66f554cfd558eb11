/* What recording costs from C: through the shared library, and inlined, beside a call of an empty function in a shared
 * library of the same kind. All on the same values, by turns, so that they meet the same machine; medians of the rounds.
 *
 *   make -C c-tests bench
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <picollo.h>
#include <picollo_inline.h>

#define VALUES 65536
#define ROUNDS 301

void bench_empty(void *histogram, uint64_t value);

static uint64_t values[VALUES];
static picollo_histogram *histogram;
static picollo_recorder recorder;

static void call_empty(void)
{
    for (size_t i = 0; i < VALUES; i++) bench_empty(histogram, values[i]);
}

static void call_record(void)
{
    for (size_t i = 0; i < VALUES; i++) picollo_histogram_record(histogram, values[i]);
}

static void inline_record(void)
{
    for (size_t i = 0; i < VALUES; i++) picollo_recorder_record(&recorder, values[i]);
}

/* A recorder of the loop's own: its address does not escape, so that the compiler keeps its fields in registers. */
static void inline_record_own(void)
{
    const picollo_recorder own = recorder;
    for (size_t i = 0; i < VALUES; i++) picollo_recorder_record(&own, values[i]);
}

static void record_batch(void)
{
    picollo_histogram_record_batch(histogram, values, VALUES);
}

static const struct {
    const char *name;
    void (*run)(void);
} ways[] = {
    {"empty exported function", call_empty},
    {"picollo_histogram_record, single writer", call_record},
    {"picollo_recorder_record", inline_record},
    {"  with a recorder of its own", inline_record_own},
    {"picollo_histogram_record_batch", record_batch},
};
#define WAYS (sizeof ways / sizeof ways[0])

static double nanos[WAYS][ROUNDS];

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(void)
{
    picollo_histogram_options options = {0};
    /* Skewed over 1 ..= 7.7e9: the same number of values in every factor of two, as latencies have it. */
    uint64_t x = 1;
    for (size_t i = 0; i < VALUES; i++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const uint64_t magnitude = (x >> 58) % 34, fraction = (x >> 20) & ((UINT64_C(1) << 33) - 1);
        values[i] = 1 + (fraction >> (33 - magnitude)) % UINT64_C(7700000000);
    }
    options.struct_size = sizeof options;
    options.mode = PICOLLO_MODE_SINGLE_WRITER;
    if (picollo_histogram_create(&options, &histogram) != PICOLLO_OK) return 1;
    if (picollo_histogram_recorder(histogram, PICOLLO_INLINE_VERSION, &recorder) != PICOLLO_OK) return 1;

    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t way = 0; way < WAYS; way++) {
            const double start = now();
            ways[way].run();
            nanos[way][round] = (now() - start) / VALUES;
        }
    }

    printf("%-32s %8s %8s\n", "", "ns", "ratio");
    for (size_t way = 0; way < WAYS; way++) {
        qsort(nanos[way], ROUNDS, sizeof nanos[way][0], compare);
        const double median = nanos[way][ROUNDS / 2];
        printf("%-32s %8.2f %8.2f\n", ways[way].name, median, median / nanos[0][ROUNDS / 2]);
    }

    /* Every way but the empty one counted everything. */
    picollo_summary summary;
    if (picollo_histogram_summary(histogram, PICOLLO_VALUE_MIDPOINT, &summary) != PICOLLO_OK) return 1;
    if (summary.total_count != (uint64_t)(WAYS - 1) * ROUNDS * VALUES) return 1;
    picollo_recorder_release(&recorder);
    picollo_histogram_free(histogram);
    return 0;
}
