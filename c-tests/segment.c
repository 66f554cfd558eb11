/* Segments from C: published in five lines, and shared with forked workers and other processes. Refusals give a
 * reason. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "test.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char place[] = "/dev/shm/picollo-c-XXXXXX";
static picollo_error error;

static char paths[8][256];
static size_t made;

/* The library keeps everything that forked children may still use. */
static void remove_place(void)
{
    while (made > 0) (void)unlink(paths[--made]);
    (void)rmdir(place);
}

static picollo_segment *segment_of(const char *name)
{
    picollo_segment *segment = NULL;
    picollo_segment_options options = PICOLLO_SEGMENT_OPTIONS_INIT;
    options.name = name;
    options.max_bytes = 8 << 20;
    CHECK_OK(picollo_segment_create(&options, &segment, &error));
    size_t length = 0;
    CHECK_OK(picollo_segment_path(segment, paths[made++], sizeof paths[0], &length));
    return segment;
}

static void workers_share_what_is_published(void)
{
    const picollo_label labels[] = {{"route", "/pay"}, {"method", "GET"}};
    picollo_metric_options metric = PICOLLO_METRIC_OPTIONS_INIT;
    /* In a static, where checkers find it at the end of the forked children too. */
    static picollo_segment *segment;
    picollo_histogram *latency = NULL, *same = NULL;
    picollo_metric_counter *striped = NULL, *again = NULL;
    picollo_segment *attached = NULL;
    uint64_t count = 0;
    segment = segment_of("checkout");
    metric.name = "request";
    metric.unit = "ns";
    metric.help = "How long they take";
    metric.labels = labels;
    metric.labels_length = 2;
    CHECK_OK(picollo_segment_histogram(segment, &metric, NULL, &latency, &error));
    picollo_histogram_record_n(latency, 1000000, 5);
    metric.name = "striped";
    metric.flags = PICOLLO_METRIC_STRIPED;
    CHECK_OK(picollo_segment_counter(segment, &metric, &striped, &error));
    picollo_metric_counter_add(striped, 4);
    metric.flags = 0;
    CHECK_STATUS(PICOLLO_ERR_INCOMPATIBLE, picollo_segment_counter(segment, &metric, &again, &error));
    CHECK(strstr(error.message, "another name or label") != NULL);

    /* A second handle, like one in another process. */
    CHECK_OK(picollo_segment_attach(paths[made - 1], &attached, &error));
    metric.name = "request";
    CHECK_OK(picollo_segment_histogram(attached, &metric, NULL, &same, &error));
    CHECK_U64(5, counts_of(same).total);
    metric.name = "striped";
    metric.flags = PICOLLO_METRIC_STRIPED;
    CHECK_OK(picollo_segment_counter(attached, &metric, &again, &error));
    metric.flags = 0;
    CHECK_OK(picollo_metric_counter_read(again, &count));
    CHECK_U64(4, count);
    picollo_segment_free(attached);
    picollo_metric_counter_free(again);

    /* Forked workers that inherit it or request it. */
    for (int worker = 0; worker < 4; worker++) {
        const pid_t child = fork();
        if (child == 0) {
            picollo_histogram *own = NULL;
            metric.name = "request";
            const int found = picollo_segment_histogram(segment, &metric, NULL, &own, NULL) == PICOLLO_OK && own == latency;
            for (int i = 0; i < 1000; i++) picollo_histogram_record(worker % 2 ? latency : own, 2000000);
            for (int i = 0; i < 1000; i++) picollo_metric_counter_add(striped, 1);
            _exit(found ? 0 : 1);
        }
        int status = -1;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    CHECK_U64(4005, counts_of(latency).total);
    CHECK_OK(picollo_metric_counter_read(striped, &count));
    CHECK_U64(4004, count);
    /* In any order. */
    picollo_segment_free(segment);
    picollo_histogram_record(latency, 1);
    picollo_histogram_free(same);
    picollo_histogram_free(latency);
    picollo_metric_counter_add(striped, 1);
    CHECK_OK(picollo_metric_counter_read(striped, &count));
    CHECK_U64(4005, count);
    picollo_metric_counter_free(striped);
}

static void refusals_say_why(void)
{
    picollo_metric_options metric = PICOLLO_METRIC_OPTIONS_INIT;
    picollo_histogram_options options = PICOLLO_HISTOGRAM_OPTIONS_INIT;
    picollo_segment_options odd = PICOLLO_SEGMENT_OPTIONS_INIT;
    picollo_segment *const segment = segment_of("refusals"), *other = NULL;
    picollo_histogram *histogram = NULL;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_segment_histogram(segment, &metric, NULL, &histogram, &error));
    CHECK(strstr(error.message, "has a name") != NULL);
    metric.name = "x";
    options.mode = PICOLLO_MODE_THREAD_LOCAL;
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_segment_histogram(segment, &metric, &options, &histogram, &error));
    CHECK(strstr(error.message, "use the default mode") != NULL);
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_segment_attach(NULL, &other, &error));
    odd.flags = 16;
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_segment_create(&odd, &other, &error));
    odd.flags = 0;
    odd.name = "a/b";
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_segment_create(&odd, &other, &error));
    odd.name = "x";
    odd.directory = "/dev/null";
    CHECK_STATUS(PICOLLO_ERR_PERMISSION, picollo_segment_create(&odd, &other, &error));
    CHECK(histogram == NULL && other == NULL);
    picollo_segment_free(segment);
    picollo_segment_free(NULL);
}

static void what_is_retired_is_gone(void)
{
    picollo_metric_options metric = PICOLLO_METRIC_OPTIONS_INIT;
    picollo_segment *const segment = segment_of("retired");
    picollo_histogram *first = NULL, *second = NULL;
    uint64_t bytes = 0, fewer = 0;
    metric.name = "x";
    CHECK_OK(picollo_segment_histogram(segment, &metric, NULL, &first, &error));
    CHECK_OK(picollo_segment_retire(segment, &metric, &error));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_segment_retire(segment, &metric, &error));
    CHECK(strstr(error.message, "nothing of that name") != NULL);
    CHECK_OK(picollo_segment_histogram(segment, &metric, NULL, &second, &error));
    CHECK(first != second);
    CHECK_OK(picollo_segment_estimate(NULL, 0, &bytes));
    CHECK_OK(picollo_segment_estimate(NULL, PICOLLO_SEGMENT_INTERLOCKED, &fewer));
    CHECK(fewer <= bytes && fewer > 18000);
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_segment_estimate(NULL, PICOLLO_SEGMENT_KEEP, &fewer));
    picollo_segment_free(segment);
}

int main(void)
{
    if (mkdtemp(place) == NULL || setenv("PICOLLO_DIR", place, 1) != 0) {
        SKIPPED("no directory in /dev/shm");
        return 0;
    }
    atexit(remove_place);
    /* Forked children end with _exit, and do not get here. */
    RUN(workers_share_what_is_published);
    RUN(refusals_say_why);
    RUN(what_is_retired_is_gone);
    return report();
}
