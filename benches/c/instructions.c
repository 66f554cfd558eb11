/* Repeats one hot path of the library, whose instructions ci/cost.sh instructions counts: instructions PATH TIMES */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <picollo_all.h>

#define VALUES 1000

static uint64_t values[VALUES];

/* The digits that HdrHistogram's encodings need. */
static uint32_t significant_digits;

static picollo_histogram *create(uint32_t mode, uint32_t bits, uint64_t max)
{
    picollo_histogram_options options = PICOLLO_HISTOGRAM_OPTIONS_INIT;
    options.mode = mode;
    options.counter_bits = bits;
    options.max_trackable = max;
    options.significant_digits = significant_digits;
    picollo_histogram *histogram;
    if (picollo_histogram_create(&options, &histogram) != PICOLLO_OK) exit(2);
    return histogram;
}

/* Creates a histogram in a file that others can read. */
static picollo_histogram *create_in_segment(void)
{
    picollo_segment_options options = PICOLLO_SEGMENT_OPTIONS_INIT;
    options.flags = PICOLLO_SEGMENT_INTERLOCKED;
    picollo_metric_options metric = PICOLLO_METRIC_OPTIONS_INIT;
    metric.name = "values";
    picollo_segment *segment;
    picollo_histogram *histogram;
    if (picollo_segment_create(&options, &segment, NULL) != PICOLLO_OK) exit(2);
    if (picollo_segment_histogram(segment, &metric, NULL, &histogram, NULL) != PICOLLO_OK) exit(2);
    return histogram;
}

static void record(picollo_histogram *histogram, long times)
{
    for (long time = 0; time < times; time++) {
        for (int i = 0; i < VALUES; i++) picollo_histogram_record(histogram, values[i]);
    }
}

/* Scopes that are not slow, with or without a collector. */
static void scopes(int is_collected, long times)
{
    picollo_histogram *histogram = create(PICOLLO_MODE_INTERLOCKED, 64, 0);
    picollo_exemplars_options options = PICOLLO_EXEMPLARS_OPTIONS_INIT;
    picollo_exemplars *exemplars;
    options.threshold = UINT64_C(1) << 40;
    options.controls = 1;
    if (picollo_exemplars_create(histogram, &options, &exemplars, NULL) != PICOLLO_OK) exit(2);
    for (long i = 0; i < times * VALUES; i++) {
        picollo_scope scope;
        picollo_exemplar_scope exemplar;
        if (is_collected) {
            picollo_exemplars_begin(exemplars, &exemplar);
            picollo_exemplars_end(exemplars, &exemplar);
        } else {
            picollo_scope_begin(histogram, PICOLLO_CLOCK_TSC, PICOLLO_UNIT_NANOS, &scope);
            picollo_scope_end(&scope);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    const char *path = argv[1];
    const long times = atol(argv[2]);
    uint64_t x = 1;
    for (int i = 0; i < VALUES; i++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        values[i] = (x >> 31) >> (x >> 20) % 33;
    }
    if (strcmp(path, "record") == 0) {
        record(create(PICOLLO_MODE_SINGLE_WRITER, 64, 0), times);
    } else if (strcmp(path, "record-32") == 0) {
        record(create(PICOLLO_MODE_SINGLE_WRITER, 32, 0), times);
    } else if (strcmp(path, "record-thread-local") == 0) {
        record(create(PICOLLO_MODE_THREAD_LOCAL, 64, 0), times);
    } else if (strcmp(path, "record-thread-local-32") == 0) {
        record(create(PICOLLO_MODE_THREAD_LOCAL, 32, 0), times);
    } else if (strcmp(path, "record-thread-local-17th") == 0) {
        /* Sixteen other histograms have the entries in the thread's storage. */
        for (int i = 0; i < 16; i++) create(PICOLLO_MODE_THREAD_LOCAL, 64, 0);
        record(create(PICOLLO_MODE_THREAD_LOCAL, 64, 0), times);
    } else if (strcmp(path, "record-interlocked-32") == 0) {
        record(create(PICOLLO_MODE_INTERLOCKED, 32, 0), times);
    } else if (strcmp(path, "record-interlocked") == 0) {
        record(create(PICOLLO_MODE_INTERLOCKED, 64, 0), times);
    } else if (strcmp(path, "record-per-cpu-without-areas") == 0) {
        /* The path without restartable sequences; ci/cost/assembly.py covers the path with them. */
        record(create(PICOLLO_MODE_PER_CPU, 64, 0), times);
    } else if (strcmp(path, "record-segment") == 0) {
        record(create_in_segment(), times);
    } else if (strcmp(path, "record-inline-c") == 0) {
        picollo_recorder recorder;
        picollo_histogram *histogram = create(PICOLLO_MODE_SINGLE_WRITER, 64, 0);
        if (picollo_histogram_recorder(histogram, PICOLLO_INLINE_VERSION, &recorder) != PICOLLO_OK) return 2;
        const picollo_writer writer = picollo_recorder_writer(&recorder);
        for (long time = 0; time < times; time++) {
            for (int i = 0; i < VALUES; i++) picollo_writer_record(writer, values[i]);
        }
    } else if (strcmp(path, "scopes") == 0 || strcmp(path, "exemplar-scopes") == 0) {
        scopes(path[0] == 'e', times);
    } else if (strncmp(path, "record-batch", 12) == 0) {
        const int is_alone = strcmp(path, "record-batch") == 0;
        picollo_histogram *histogram = create(is_alone ? PICOLLO_MODE_SINGLE_WRITER : PICOLLO_MODE_THREAD_LOCAL, 64, 0);
        for (long time = 0; time < times; time++) picollo_histogram_record_batch(histogram, values, VALUES);
    } else {
        /* The remaining paths read 16,384 counters. */
        if (strcmp(path, "encode-v2") == 0) significant_digits = 3;
        const int is_thread_local = strcmp(path, "snapshot-thread-local") == 0;
        picollo_histogram *histogram = create(is_thread_local ? PICOLLO_MODE_THREAD_LOCAL : PICOLLO_MODE_SINGLE_WRITER, 64,
                                              UINT64_C(0x7fffffffff));
        record(histogram, 1);
        if (significant_digits > 0) {
            /* Neighbors that all have counts, of one byte each and of two. */
            for (uint64_t value = 0; value < 2000; value++) picollo_histogram_record_n(histogram, value, value < 1000 ? 30 : 300);
        }
        picollo_snapshot *snapshot;
        if (picollo_snapshot_create(histogram, &snapshot) != PICOLLO_OK) return 2;
        static const double ranks[] = PICOLLO_DEFAULT_RANKS;
        enum { RANKS = PICOLLO_DEFAULT_RANKS_LENGTH };
        picollo_percentile percentiles[RANKS];
        picollo_summary summary;
        if (picollo_snapshot_summary(snapshot, PICOLLO_VALUE_MIDPOINT, ranks, RANKS, percentiles, &summary) != PICOLLO_OK) return 2;
        char text[8192];
        static uint8_t bytes[1 << 16];
        size_t length;
        for (long time = 0; time < times; time++) {
            picollo_status status = PICOLLO_ERR_INVALID_ARGUMENT;
            if (strcmp(path, "snapshot") == 0 || is_thread_local) {
                status = picollo_snapshot_update(snapshot, 0);
            } else if (strcmp(path, "snapshot-delta") == 0) {
                status = picollo_snapshot_update(snapshot, 1);
            } else if (strcmp(path, "encode-v2") == 0) {
                status = picollo_snapshot_encode(snapshot, PICOLLO_ENCODING_HDR_V2, bytes, sizeof bytes, &length);
            } else if (strcmp(path, "percentiles") == 0) {
                status = picollo_snapshot_percentiles(snapshot, ranks, RANKS, PICOLLO_VALUE_MIDPOINT, percentiles);
            } else if (strcmp(path, "summary") == 0) {
                status = picollo_snapshot_summary(snapshot, PICOLLO_VALUE_MIDPOINT, ranks, RANKS, percentiles, &summary);
            } else if (strcmp(path, "summary-text") == 0) {
                status = picollo_summary_format(&summary, "Title", PICOLLO_TEXT_MARKDOWN, text, sizeof text, &length);
            }
            if (status != PICOLLO_OK) return 2;
        }
    }
    return 0;
}
