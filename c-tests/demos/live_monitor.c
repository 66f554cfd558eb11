/* Live monitor: one thread works and records, another prints a line per second about the new records. Neither waits for
 * the other.
 *
 *   live_monitor [SECONDS]        default: 3
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <picollo.h>

static picollo_histogram *histogram;
static atomic_bool stop;

/* Work of varying duration: sums of square roots, occasionally a hundred times as many. */
static void work(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    const unsigned steps = (*seed >> 16) % 100 == 0 ? 20000 : 100 + (*seed >> 20) % 200;
    volatile double sum = 0;
    for (unsigned i = 0; i < steps; i++) sum += sqrt(i);
}

static void *writer(void *unused)
{
    unsigned seed = 1;
    while (!atomic_load(&stop)) {
        const uint64_t start = picollo_clock_ticks(PICOLLO_CLOCK_MONOTONIC);
        work(&seed);
        picollo_histogram_record(histogram, picollo_clock_ticks(PICOLLO_CLOCK_MONOTONIC) - start);
    }
    return unused;
}

static int fail(const char *what, picollo_status status)
{
    fprintf(stderr, "%s: %s\n", what, picollo_status_str(status));
    return 1;
}

int main(int argc, char **argv)
{
    const int seconds = argc > 1 ? atoi(argv[1]) : 3;
    picollo_snapshot *snapshot;
    picollo_status status = picollo_histogram_create(NULL, &histogram);
    if (status != PICOLLO_OK) return fail("histogram", status);
    status = picollo_snapshot_create(histogram, &snapshot);
    if (status != PICOLLO_OK) return fail("snapshot", status);

    pthread_t thread;
    if (pthread_create(&thread, NULL, writer, NULL) != 0) return 1;

    enum { RANKS = PICOLLO_DEFAULT_RANKS_LENGTH };
    static const double ranks[] = PICOLLO_DEFAULT_RANKS;
    picollo_percentile percentiles[RANKS];
    picollo_summary summary;
    char text[512], title[32];
    size_t length;
    for (int second = 1; second <= seconds; second++) {
        const struct timespec pause = {1, 0};
        nanosleep(&pause, NULL);
        /* Takes the records since the last update; allocates nothing. */
        status = picollo_snapshot_update(snapshot, PICOLLO_SINCE_PREVIOUS);
        if (status != PICOLLO_OK) return fail("update", status);
        picollo_snapshot_summary(snapshot, PICOLLO_VALUE_MIDPOINT, ranks, RANKS, percentiles, &summary);
        snprintf(title, sizeof title, "%d s, ns", second);
        picollo_summary_format(&summary, title, PICOLLO_TEXT_LINE, text, sizeof text, &length);
        puts(text);
        fflush(stdout);
    }
    atomic_store(&stop, 1);
    pthread_join(thread, NULL);

    /* The deltas did not change the total. */
    picollo_histogram_format(histogram, "All, ns", PICOLLO_TEXT_LINE, text, sizeof text, &length);
    puts(text);
    picollo_snapshot_free(snapshot);
    picollo_histogram_free(histogram);
    return 0;
}
