/* What programs do with the library, for tests in which something is scarce: memory, stack, or the life of a thread. Each
 * use gives back what it made, and any number of threads may run it. Sessions and benchmarks need Linux. */
#ifndef PICOLLO_TEST_USES_H
#define PICOLLO_TEST_USES_H

#include "test.h"

/* Whether calls may lack memory; otherwise each must succeed. */
static int may_lack_memory;

static int done(picollo_status status)
{
    if (status != PICOLLO_OK) CHECK_STATUS(may_lack_memory ? PICOLLO_ERR_OUT_OF_MEMORY : PICOLLO_OK, status);
    return status == PICOLLO_OK;
}

static picollo_histogram *made(uint32_t mode, uint32_t storage)
{
    picollo_histogram_options options = default_options();
    picollo_histogram *histogram = NULL;
    options.mode = mode;
    options.storage = storage;
    options.relative_error = 0.05;
    if (!done(picollo_histogram_create(&options, &histogram))) CHECK(histogram == NULL);
    return histogram;
}

/* Everything is counted, or counted as lost. */
static void record_and_read(uint32_t mode, uint32_t storage)
{
    picollo_histogram *const histogram = made(mode, storage);
    picollo_snapshot *snapshot = NULL;
    picollo_recorder recorder;
    picollo_summary summary;
    picollo_counts counts;
    const uint64_t batch[3] = {1, 2, 3};
    uint64_t number = 3;
    if (histogram == NULL) return;
    for (uint64_t value = 1; value != 0; value *= 16, number++) picollo_histogram_record(histogram, value);
    picollo_histogram_record_batch(histogram, batch, 3);
    memset(&recorder, 0, sizeof recorder);
    if (mode == PICOLLO_MODE_THREAD_LOCAL && done(picollo_histogram_recorder(histogram, PICOLLO_INLINE_VERSION, &recorder)))
        picollo_recorder_release(&recorder);
    if (done(picollo_snapshot_create(histogram, &snapshot))) {
        CHECK_OK(picollo_snapshot_counts(snapshot, &counts));
        CHECK_U64(number, counts.total + counts.lost);
        if (storage == PICOLLO_STORAGE_DENSE) CHECK_U64(0, counts.lost);
        (void)done(picollo_histogram_reset(histogram));
        picollo_snapshot_free(snapshot);
    }
    picollo_histogram_record_corrected(histogram, 1000000, 3000);
    (void)done(picollo_histogram_summary(histogram, PICOLLO_VALUE_MIDPOINT, NULL, 0, NULL, &summary));
    picollo_histogram_free(histogram);
}

static void single(void) { record_and_read(PICOLLO_MODE_SINGLE_WRITER, PICOLLO_STORAGE_DENSE); }
static void sparse(void) { record_and_read(PICOLLO_MODE_SINGLE_WRITER, PICOLLO_STORAGE_SPARSE); }
static void sparse_interlocked(void) { record_and_read(PICOLLO_MODE_INTERLOCKED, PICOLLO_STORAGE_SPARSE); }
static void interlocked(void) { record_and_read(PICOLLO_MODE_INTERLOCKED, PICOLLO_STORAGE_DENSE); }
static void thread_local_mode(void) { record_and_read(PICOLLO_MODE_THREAD_LOCAL, PICOLLO_STORAGE_DENSE); }
static void per_cpu(void) { record_and_read(PICOLLO_MODE_PER_CPU, PICOLLO_STORAGE_DENSE); }

static void copies(void)
{
    picollo_histogram *const histogram = made(PICOLLO_MODE_SINGLE_WRITER, PICOLLO_STORAGE_DENSE);
    picollo_snapshot *snapshot = NULL, *copy = NULL, *corrected = NULL, *empty = NULL;
    if (histogram == NULL) return;
    picollo_histogram_record(histogram, 100000);
    if (done(picollo_snapshot_create(histogram, &snapshot))) {
        picollo_layout layout;
        (void)done(picollo_snapshot_copy(snapshot, &copy));
        (void)done(picollo_snapshot_corrected(snapshot, 10000, &corrected));
        if (done(picollo_snapshot_layout(snapshot, &layout))) (void)done(picollo_snapshot_create_from_layout(&layout, &empty));
        if (empty != NULL) CHECK_OK(picollo_snapshot_merge(empty, snapshot, 0, NULL));
    }
    picollo_snapshot_free(copy);
    picollo_snapshot_free(corrected);
    picollo_snapshot_free(empty);
    picollo_snapshot_free(snapshot);
    picollo_histogram_free(histogram);
}

static void texts(void)
{
    static __thread char text[1 << 16];
    static __thread double ranks[200];
    static __thread picollo_percentile found[200];
    picollo_histogram *const histogram = made(PICOLLO_MODE_SINGLE_WRITER, PICOLLO_STORAGE_DENSE);
    picollo_snapshot *snapshot = NULL;
    picollo_percentile usual[RANKS];
    picollo_summary summary;
    picollo_comparison compared;
    size_t length;
    uint64_t state = 1;
    if (histogram == NULL) return;
    for (int i = 0; i < 10000; i++) picollo_histogram_record(histogram, next_example(&state, 0));
    for (int i = 0; i < 200; i++) ranks[i] = (i * 37) % 100;
    if (done(picollo_snapshot_create(histogram, &snapshot)) && done(SUMMARIZE(snapshot, snapshot, 0, usual, &summary)) &&
        done(picollo_compare(snapshot, snapshot, NULL, &compared))) {
        (void)done(picollo_snapshot_percentiles(snapshot, ranks, 200, 0, found));
        for (int form = 0; form < 4; form++) {
            (void)done(picollo_summary_format(&summary, "Title", text_form(form), text, sizeof text, &length));
            (void)done(picollo_summary_format_diff(&summary, &summary, "Title", "a", "b", text_form(form), text, sizeof text, &length));
            (void)done(picollo_comparison_format(&compared, &summary, &summary, "Title", "a", "b", text_form(form), text, sizeof text, &length));
        }
        (void)done(picollo_snapshot_format_hgrm(snapshot, 5, 1.0, 0, text, sizeof text, &length));
    }
    picollo_snapshot_free(snapshot);
    picollo_histogram_free(histogram);
}

/* A refused call writes nothing. */
static void encodings(void)
{
    static __thread char bytes[65536], text[65536];
    picollo_histogram_options options = default_options();
    picollo_histogram *histogram = NULL;
    picollo_snapshot *snapshot = NULL;
    options.significant_digits = 3;
    options.max_trackable = 1000000000;
    if (!done(picollo_histogram_create(&options, &histogram))) return;
    for (uint64_t value = 1; value < 100000; value *= 2) picollo_histogram_record(histogram, value);
    if (done(picollo_snapshot_create(histogram, &snapshot))) {
        picollo_log_reader *reader = NULL;
        picollo_log_interval interval;
        picollo_snapshot *decoded = NULL;
        size_t length;
        for (uint32_t encoding = 0; encoding < 3; encoding++) {
            length = 77;
            if (!done(picollo_snapshot_encode(snapshot, encoding, bytes, sizeof bytes, &length))) CHECK_U64(77, length);
            else if (done(picollo_snapshot_decode(bytes, length, 0, &decoded))) picollo_snapshot_free(decoded);
            if (done(picollo_snapshot_encode_base64(snapshot, encoding, text, sizeof text, &length)) &&
                done(picollo_snapshot_decode(text, length, 0, &decoded)))
                picollo_snapshot_free(decoded);
        }
        if (done(picollo_log_format_interval(snapshot, 1, 1, "t", text, sizeof text, &length)) && done(picollo_log_reader_create(text, length, &reader)) &&
            done(picollo_log_reader_next(reader, &interval)) && done(picollo_log_reader_decode(reader, 0, &decoded)))
            picollo_snapshot_free(decoded);
        picollo_log_reader_free(reader);
    }
    picollo_snapshot_free(snapshot);
    picollo_histogram_free(histogram);
}

static void doubles(void)
{
    picollo_double_options options = PICOLLO_DOUBLE_OPTIONS_INIT;
    picollo_double_histogram *histogram = NULL;
    picollo_double_snapshot *snapshot = NULL;
    picollo_double_statistics statistics;
    uint64_t number = 0;
    options.relative_error = 0.05;
    options.flags = PICOLLO_DOUBLE_EXACT_SUM;
    if (!done(picollo_double_histogram_create(&options, &histogram))) return;
    for (double value = 1e-9; value < 1e9; value *= -100, number++) picollo_double_histogram_record(histogram, value);
    if (done(picollo_double_histogram_collect(histogram, NULL, 0, NULL, &statistics))) CHECK_U64(number, statistics.count + statistics.lost);
    if (done(picollo_double_snapshot_create(NULL, &snapshot))) {
        picollo_double_histogram_record(histogram, 5);
        if (done(picollo_double_snapshot_update(snapshot, histogram, 1))) (void)done(picollo_double_histogram_add(histogram, snapshot));
    }
    picollo_double_snapshot_free(snapshot);
    picollo_double_histogram_free(histogram);
}

static void registries(void)
{
    static const uint64_t bounds[] = {10, 100};
    static const picollo_label labels[] = {{"path", "/"}};
    picollo_metric_exemplar exemplar;
    picollo_metric_options metric = PICOLLO_METRIC_OPTIONS_INIT;
    picollo_registry *registry = NULL;
    picollo_histogram *histogram = made(PICOLLO_MODE_SINGLE_WRITER, PICOLLO_STORAGE_DENSE);
    static __thread char text[8192];
    uint64_t id = 0;
    size_t length = 0;
    metric.name = "request_seconds";
    metric.labels = labels;
    metric.labels_length = 1;
    if (histogram != NULL && done(picollo_registry_create(&registry))) {
        if (done(picollo_registry_add(registry, histogram, &metric, bounds, 2, &id, NULL))) {
            memset(&exemplar, 0, sizeof exemplar);
            exemplar.value = 5;
            exemplar.trace_id[3] = 1;
            exemplar.labels = labels;
            exemplar.labels_length = 1;
            (void)done(picollo_registry_set_exemplars(registry, id, &exemplar, 1, NULL));
            (void)done(picollo_registry_update(registry));
            (void)done(picollo_registry_encode(registry, PICOLLO_EXPOSITION_OPENMETRICS, text, sizeof text, &length));
            CHECK_OK(picollo_registry_remove(registry, id));
        }
    }
    picollo_registry_free(registry);
    picollo_histogram_free(histogram);
}

static void sessions(void)
{
    picollo_session_options options = PICOLLO_SESSION_OPTIONS_INIT;
    picollo_event event;
    picollo_session *session = NULL;
    picollo_histogram *histogram = NULL;
    options.flags = PICOLLO_SESSION_SKIP_UNAVAILABLE;
    options.relative_error = 0.05;
    CHECK_OK(picollo_event_parse("page-faults", &event, NULL));
    if (!done(picollo_session_create(&options, &event, 1, &session, NULL))) return;
    CHECK_OK(picollo_session_read(session, PICOLLO_READ_SYSCALL, NULL));
    CHECK_OK(picollo_session_record(session, 1));
    (void)done(picollo_session_calibrate(session, NULL));
    CHECK_OK(picollo_session_histogram_ref(session, 0, &histogram));
    picollo_histogram_free(histogram);
    picollo_session_free(session);
}

/* Slow observations are counted, even if they are not kept. */
static void collectors(void)
{
    static __thread char text[65536];
    static const uint32_t forms[] = {PICOLLO_TEXT_HUMAN, PICOLLO_TEXT_MARKDOWN, PICOLLO_TEXT_JSON, PICOLLO_TEXT_HTML};
    picollo_exemplars_options options = PICOLLO_EXEMPLARS_OPTIONS_INIT;
    picollo_exemplar_context context = {{3}, {4}, {1, 2}};
    picollo_exemplar_interval interval;
    picollo_exemplars *exemplars = NULL;
    picollo_exemplar_scope scope;
    picollo_registry *registry = NULL;
    picollo_metric_options metric;
    uint64_t id;
    size_t length;
    picollo_histogram *const histogram = made(PICOLLO_MODE_INTERLOCKED, PICOLLO_STORAGE_DENSE);
    if (histogram == NULL) return;
    options.threshold = 1;
    options.slowest = 2;
    /* A ring takes none of the process's memory, and some systems refuse it. */
    options.flags = may_lack_memory ? PICOLLO_EXEMPLARS_NO_RING : 0;
    if (!done(picollo_exemplars_create(histogram, &options, &exemplars, NULL))) {
        CHECK(exemplars == NULL);
        picollo_histogram_free(histogram);
        return;
    }
    for (int i = 0; i < 20; i++) {
        picollo_exemplars_begin(exemplars, &scope);
        picollo_work_add_chain_256(40);
        if (picollo_exemplars_end(exemplars, &scope) == PICOLLO_EXEMPLAR_KEPT) CHECK_OK(picollo_exemplars_annotate(exemplars, &scope, &context));
    }
    (void)picollo_exemplars_offer(exemplars, 12345678, &context);
    /* The next call reports what this one could not. */
    if (done(picollo_exemplars_collect(exemplars, NULL)) || done(picollo_exemplars_collect(exemplars, NULL))) {
        CHECK_OK(picollo_exemplars_interval(exemplars, &interval));
        CHECK_U64(21, interval.observations);
        CHECK_U64(21, interval.slow);
        for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
            CHECK_OK(picollo_exemplars_format(exemplars, forms[i], text, sizeof text, &length));
        memset(&metric, 0, sizeof metric);
        metric.struct_size = sizeof metric;
        metric.name = "latency";
        if (done(picollo_registry_create(&registry)) && done(picollo_registry_add(registry, histogram, &metric, NULL, 0, &id, NULL)))
            (void)done(picollo_exemplars_publish(exemplars, registry, id, NULL));
        picollo_registry_free(registry);
    }
    picollo_exemplars_free(exemplars);
    picollo_histogram_free(histogram);
}

static void benchmarks(void)
{
    picollo_event event;
    picollo_benchmark *benchmark = NULL;
    uint32_t which;
    uint64_t repetitions;
    CHECK_OK(picollo_event_parse("page-faults", &event, NULL));
    if (!done(picollo_benchmark_create(NULL, &event, 1, &benchmark, NULL))) return;
    for (int i = 0; i < 20 && picollo_benchmark_next(benchmark, &which, &repetitions, NULL) == PICOLLO_OK; i++) {
        picollo_work_add_chain_256(1);
        (void)done(picollo_benchmark_done(benchmark, NULL));
    }
    picollo_benchmark_free(benchmark);
}

static const struct use {
    const char *name;
    void (*run)(void);
} uses[] = {
    {"a single writer", single}, {"sparse", sparse}, {"sparse, interlocked", sparse_interlocked}, {"interlocked", interlocked},
    {"thread-local", thread_local_mode}, {"by CPU", per_cpu}, {"copies", copies}, {"texts", texts}, {"encodings and logs", encodings},
    {"doubles", doubles}, {"registries", registries}, {"collectors", collectors}, {"sessions", sessions}, {"benchmarks", benchmarks},
};
enum { USES = sizeof uses / sizeof *uses };

#endif /* PICOLLO_TEST_USES_H */
