/* What a viewer costs the program that it watches: a million records at a time into a histogram of a segment, with a viewer beside it that
 * takes all of it every second, and without, in turn. Prints medians of 15 rounds each, and their ratio.
 *
 *   bench_segment [SECONDS of a round]          default: 2 */
#include <picollo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 15
#define RECORDS 1000000

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median time of a record, in nanoseconds. */
static double round_of(picollo_histogram *histogram, double seconds)
{
    static double times[100000];
    size_t length = 0;
    const double end = now() + seconds;
    while (now() < end && length < sizeof times / sizeof times[0]) {
        const double start = now();
        for (uint64_t i = 0; i < RECORDS; i++) picollo_histogram_record(histogram, 1 + i % 100000);
        times[length++] = (now() - start) / RECORDS * 1e9;
    }
    qsort(times, length, sizeof times[0], ascending);
    return times[length / 2];
}

static void view(const char *path)
{
    picollo_viewer *viewer;
    picollo_snapshot *snapshot = NULL;
    if (picollo_viewer_open(path, &viewer, NULL) != PICOLLO_OK) _exit(1);
    for (;;) {
        size_t length = 0;
        if (picollo_viewer_refresh(viewer, NULL) != PICOLLO_OK || picollo_viewer_length(viewer, &length) != PICOLLO_OK) _exit(1);
        if (picollo_viewer_snapshot(viewer, 0, PICOLLO_SINCE_PREVIOUS, &snapshot, NULL) != PICOLLO_OK) _exit(1);
        sleep(1);
    }
}

int main(int count, char **arguments)
{
    const double seconds = count > 1 ? atof(arguments[1]) : 2;
    static const struct {
        const char *name;
        uint32_t mode;
    } modes[] = {{"default", PICOLLO_MODE_INTERLOCKED}, {"single_writer", PICOLLO_MODE_SINGLE_WRITER}};
    picollo_segment *segment;
    picollo_error error;
    char path[4096];
    size_t length;
    if (picollo_segment_create(NULL, &segment, &error) != PICOLLO_OK) return puts(error.message), 1;
    if (picollo_segment_path(segment, path, sizeof path, &length) != PICOLLO_OK) return 1;
    for (size_t mode = 0; mode < sizeof modes / sizeof modes[0]; mode++) {
        double times[2][ROUNDS], ratios[ROUNDS];
        picollo_metric_options metric = PICOLLO_METRIC_OPTIONS_INIT;
        picollo_histogram_options options = PICOLLO_HISTOGRAM_OPTIONS_INIT;
        picollo_histogram *histogram;
        metric.name = modes[mode].name;
        options.mode = modes[mode].mode;
        options.relative_error = 0.01;
        options.max_trackable = UINT64_C(3600000000000);
        if (picollo_segment_histogram(segment, &metric, &options, &histogram, &error) != PICOLLO_OK) return puts(error.message), 1;
        for (int i = 0; i < ROUNDS; i++) {
            pid_t viewer;
            int status;
            times[0][i] = round_of(histogram, seconds);
            viewer = fork();
            if (viewer == 0) view(path);
            times[1][i] = round_of(histogram, seconds);
            kill(viewer, SIGKILL);
            if (waitpid(viewer, &status, 0) != viewer || !WIFSIGNALED(status)) return puts("the viewer failed"), 1;
            ratios[i] = times[1][i] / times[0][i];
        }
        for (int i = 0; i < 2; i++) qsort(times[i], ROUNDS, sizeof times[i][0], ascending);
        qsort(ratios, ROUNDS, sizeof ratios[0], ascending);
        printf("%-14s alone %.3f ns, viewed %.3f ns, median of the ratios %.4f\n", metric.name, times[0][ROUNDS / 2],
               times[1][ROUNDS / 2], ratios[ROUNDS / 2]);
    }
    return unlink(path);
}
