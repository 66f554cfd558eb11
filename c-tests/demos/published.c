/* A service that others watch: picollo top, picollo show shop, picollo serve. It sorts and sums orders of varying size,
 * and publishes each duration in the five lines that begin with `picollo_segment_create`.
 *
 *   published [SECONDS]        default: 10
 */
#include <picollo_segment.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t now(void) { return picollo_clock_ticks(PICOLLO_CLOCK_MONOTONIC); }

static int ascending(const void *a, const void *b)
{
    const unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return (x > y) - (x < y);
}

static unsigned random_number(void)
{
    static unsigned seed = 1;
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

/* Most orders are small, one in a hundred is large. */
static void order(void)
{
    static unsigned items[20000];
    const unsigned count = random_number() % 100 == 0 ? 20000 : 500 + random_number() % 1500;
    for (unsigned i = 0; i < count; i++) items[i] = random_number();
    qsort(items, count, sizeof *items, ascending);
}

static void list(void)
{
    static volatile unsigned sum;
    for (unsigned i = 0; i < 2000 + random_number() % 4000; i++) sum += i;
}

int main(int argc, char **argv)
{
    const uint64_t end = now() + (uint64_t)(argc > 1 ? atof(argv[1]) * 1e9 : 10e9);
    const picollo_label routes[] = {{"route", "/order"}, {"route", "/list"}};
    picollo_histogram *latency[2];
    picollo_segment *segment;
    picollo_error error;

    picollo_metric_options metric = {.struct_size = sizeof metric, .name = "request", .unit = "ns", .labels_length = 1};
    picollo_status status = picollo_segment_create(NULL, &segment, &error);
    for (int i = 0; i < 2 && status == PICOLLO_OK; i++) {
        metric.labels = &routes[i];
        status = picollo_segment_histogram(segment, &metric, NULL, &latency[i], &error);
    }
    if (status != PICOLLO_OK) return fprintf(stderr, "published: %s\n", error.message), 1;

    while (now() < end) {
        const int is_list = random_number() % 4 != 0;
        const uint64_t start = now();
        if (is_list) list(); else order();
        picollo_histogram_record(latency[is_list], now() - start);
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    return 0;
}
