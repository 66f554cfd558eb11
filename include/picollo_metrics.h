/* Generated from ffi/src by ci/describe.sh; change it there. */
/*
 * Picollo: metrics for Prometheus, OpenTelemetry and similar systems.
 *
 * The first functions to know, by task:
 *
 * - Export histograms: picollo_registry_create, _add, _update, _encode.
 * - Count: picollo_registry_add_counter, picollo_metric_counter_add.
 * - Set a gauge: picollo_registry_add_gauge, picollo_metric_gauge_set.
 * - Serve them to scrapers: picollo_server_start, _stop.
 *
 * What holds for every function is at the end of picollo.h.
 */
#ifndef PICOLLO_METRICS_H
#define PICOLLO_METRICS_H

#include "picollo.h"
#include "picollo_double.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------------------------------------------------------
 * Registries: histograms, counters and gauges with names and labels, for Prometheus, OpenTelemetry and similar
 * systems.
 *
 *     picollo_registry *registry;
 *     const picollo_label labels[] = {{"method", "GET"}};
 *     const uint64_t bounds[] = {1000000, 10000000, 100000000};      (nanoseconds, as recorded)
 *     picollo_metric_options metric = PICOLLO_METRIC_OPTIONS_INIT;
 *     metric.name = "request_seconds";
 *     metric.unit = "seconds";
 *     metric.divisor = 1e9;
 *     metric.labels = labels;
 *     metric.labels_length = 1;
 *     picollo_registry_create(&registry);
 *     picollo_registry_add(registry, latency, &metric, bounds, 3, NULL);
 *     for each scrape, if no picollo_server answers them:
 *         picollo_registry_update(registry);
 *         picollo_registry_encode(registry, PICOLLO_EXPOSITION_OPENMETRICS, bytes, sizeof bytes, &length);
 *         send(bytes, length)
 *
 * An observation belongs to a bound if the midpoint of its histogram bucket is at or below the bound. So counts are
 * exact for bounds at which a histogram bucket ends, such as those one below a power of two. Otherwise only
 * observations within the relative error of the bound may be on the wrong side. Values below the range count as just
 * below it. Values above the range count only at +Inf. Lost and not finite observations, if there are any, have
 * separate counters, _lost and _not_finite.
 */

/** OpenMetrics text, application/openmetrics-text; version=1.0.0; charset=utf-8. */
#define PICOLLO_EXPOSITION_OPENMETRICS 0
/** Prometheus' text, text/plain; version=0.0.4; charset=utf-8. */
#define PICOLLO_EXPOSITION_PROMETHEUS_TEXT 1

/** Prometheus' Protocol Buffers, application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily;
 * encoding=delimited. Only this format has native histograms (PICOLLO_METRIC_NATIVE). */
#define PICOLLO_EXPOSITION_PROMETHEUS_PROTOBUF 2

/** OpenTelemetry's protocol, OTLP, application/x-protobuf: an ExportMetricsServiceRequest with cumulative counts and
 * exponential histograms. */
#define PICOLLO_EXPOSITION_OTLP 3
/** Omit the time at which counting began: no _created. */
#define PICOLLO_METRIC_NO_CREATED (1 << 0)

/** Give Prometheus a native histogram, of exponential buckets, in its Protocol Buffers. A server that reads these
 * then drops the buckets at bounds, with everything built on them, unless it is configured to keep both. */
#define PICOLLO_METRIC_NATIVE (1 << 1)
/** Write the counts since the histogram's last reset instead of all counts. Collectors see each reset as a restart. */
#define PICOLLO_METRIC_SINCE_RESET (1 << 2)

/** Give Prometheus a summary instead of buckets: the quantiles 0.5, 0.9, 0.99 and 0.999 of all counts. OTLP still has
 * exponential buckets. A label named quantile is refused. */
#define PICOLLO_METRIC_SUMMARY (1 << 3)

/** The counter has sixteen words and takes 1 KB. An addition goes to one of them, so threads seldom wait for each
 * other. The CPU chooses the word in a segment and if threads are registered for restartable sequences, and
 * otherwise the thread's stack. A read adds up the words. Histograms and gauges ignore this flag. */
#define PICOLLO_METRIC_STRIPED (1 << 4)

/** Histograms, counters and gauges with names and labels. The child of a fork can use it, unless another thread of
 * the parent was inside a call on it, or its server was answering. In that case all calls except
 * picollo_registry_free return PICOLLO_ERR_FORKED from then on. */
typedef struct picollo_registry picollo_registry;

/** A name and a value that distinguish metrics with the same name. The name consists of letters, digits and
 * underscores. It begins with neither a digit nor two underscores, and is not le. The value is any UTF-8. */
typedef struct picollo_label {
    const char *name; /**< Its name; NUL-terminated. */
    const char *value; /**< Its value; NUL-terminated. */
} picollo_label;

/** The description of a metric; only the name must be set. Strings are NUL-terminated UTF-8, and NULL means "".
 * Everything is copied. */
typedef struct picollo_metric_options {
    uint32_t struct_size;
    uint32_t flags; /**< PICOLLO_METRIC_... or 0. */
    /** Values and bounds are divided by this before they are written: 1e9 converts nanoseconds to seconds. 0: 1. */
    double divisor;
    uint64_t labels_length; /**< Number of labels. */
    uint64_t created_unix_nanos; /**< Time at which counting began, in nanoseconds since 1970. 0: now. */
    /** Letters, digits, underscores and colons; not a digit first: request_seconds. Dots, hyphens and slashes are for
     * OpenTelemetry; Prometheus sees underscores instead. Metrics of one kind may share a name, with different
     * labels. */
    const char *name;
    const char *help; /**< The meaning, for people; the same for all metrics of one name. */
    /** Such as seconds; the name must end with it, after an underscore. The same for all metrics of one name. */
    const char *unit;
    const picollo_label *labels; /**< The labels, in any order. */
    /** Largest number of exponential buckets with counts; more become coarser. 0: 320; UINT32_MAX: any number. */
    uint32_t max_buckets;
    uint32_t reserved;
} picollo_metric_options;
#define PICOLLO_METRIC_OPTIONS_INIT {sizeof(picollo_metric_options), 0, 0, 0, 0, NULL, NULL, NULL, NULL, 0, 0}

/** Makes an empty registry.
 *
 * Cost: an allocation. */
PICOLLO_STATUS picollo_registry_create(picollo_registry **out);

/** Frees a registry, and gives back its references to histograms. If a server uses it, this happens when that stops. */
void picollo_registry_free(picollo_registry *registry);

/** Adds a histogram. It is written as empty until the next update.
 *
 * Requires: bounds leads to up to 500 ascending values, as recorded: the largest values of the buckets. With a
 *   length of 0 they are one below each power of four in the histogram's range, which are exact. out_id is for
 *   picollo_registry_remove.
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT, with nothing changed, if a name, label, unit, bound or the divisor violates
 *   picollo_metric_options; if the name exists with the same labels; if kind, help or unit differ from those of the
 *   same name; and if the written name belongs to another metric, as x_count beside x, or a_b beside a.b. error names
 *   the argument, the rule and the value.
 * Ownership: the registry holds a reference to the histogram until you remove the histogram or free the registry.
 * Cost: allocates copies of its arguments. */
PICOLLO_STATUS picollo_registry_add(picollo_registry *registry, const picollo_histogram *histogram,
    const picollo_metric_options *metric, const uint64_t *bounds, size_t length, uint64_t *out_id,
    picollo_error *error);

/** Adds a histogram of doubles. Updates look at the counts since its last collection. Collecting it elsewhere
 * restarts the metric.
 *
 * Requires: as picollo_registry_add; the default bounds are the powers of ten from 1e-6 to 1e6. With negative bounds
 *   or values there is no _count and _sum, as the standard demands.
 * Otherwise: as picollo_registry_add. */
PICOLLO_STATUS picollo_registry_add_double(picollo_registry *registry,
    const picollo_double_histogram *histogram, const picollo_metric_options *metric, const double *bounds,
    size_t length, uint64_t *out_id, picollo_error *error);

/** Removes a metric.
 *
 * Requires: id is from picollo_registry_add or one of the other functions that add a metric.
 * Cost: searches the registry. */
PICOLLO_STATUS picollo_registry_remove(picollo_registry *registry, uint64_t id);

/** Takes the counts of all metrics, while others record and reset. For histograms these are all counts since they
 * were made, so collectors see no reset (except with PICOLLO_METRIC_SINCE_RESET). Each metric is read at one moment,
 * one after the other. If counts fell nevertheless, because a histogram of doubles was collected, the metric's
 * creation time becomes that of the previous update.
 *
 * Returns: PICOLLO_ERR_BUSY, as picollo_snapshot_update, or PICOLLO_ERR_OUT_OF_MEMORY if one metric failed: it keeps
 *   its previous counts, and all others are updated.
 * Threads: any thread; other calls on this registry wait.
 * Cost: two passes over all counters; the first time, allocates 16 bytes per counter for each layout. */
PICOLLO_STATUS picollo_registry_update(picollo_registry *registry);

/** Writes the counts of the last update, as bytes without a NUL, in text formats too.
 *
 * Requires: format is PICOLLO_EXPOSITION_.... An update or a new metric between asking for the length and writing
 *   may change the length.
 * Cost: less than a microsecond per bucket. */
PICOLLO_STATUS picollo_registry_encode(const picollo_registry *registry, uint32_t format, void *buffer,
    size_t capacity, size_t *out_length);

/** Chooses the format for a request by its Accept header, and writes the Content-Type of the response. The known
 * format with the largest q wins, and the first of equals. If the header names no known format, the choice is
 * Prometheus' text. It is never OTLP, which is sent and not scraped.
 *
 * Requires: accept is NUL-terminated, of any bytes; NULL means that there is no header. A capacity of 128 is enough.
 * Cost: a few nanoseconds per byte. */
PICOLLO_STATUS picollo_registry_negotiate(const char *accept, uint32_t *out_format, char *buffer,
    size_t capacity, size_t *out_length);

/* ----------------------------------------------------------------------------------------------------------
 * Counters and gauges of registries.
 *
 *     picollo_metric_counter *requests;
 *     picollo_metric_options metric = PICOLLO_METRIC_OPTIONS_INIT;
 *     metric.name = "requests";
 *     picollo_registry_add_counter(registry, &metric, &requests, NULL);
 *     for each request:
 *         picollo_metric_counter_add(requests, 1)
 *     picollo_metric_counter_free(requests)
 *
 * Each is one word in its own cache line. If many threads count all the time, request a striped counter
 * (PICOLLO_METRIC_STRIPED), or give each thread a counter with its own label.
 */

/** A counter of a registry or a segment. */
typedef struct picollo_metric_counter picollo_metric_counter;

/** A gauge of a registry. */
typedef struct picollo_metric_gauge picollo_metric_gauge;

/** Adds a new counter, at zero, to a registry. A final _total is not part of the name.
 *
 * Requires: out_id is for picollo_registry_remove. The metric's max_buckets and the flags for histograms are
 *   ignored.
 * Returns: as picollo_registry_add.
 * Ownership: free *out with picollo_metric_counter_free; the registry holds its own reference.
 * Cost: allocates copies of its arguments, and 128 bytes. */
PICOLLO_STATUS picollo_registry_add_counter(picollo_registry *registry, const picollo_metric_options *metric,
    picollo_metric_counter **out, uint64_t *out_id, picollo_error *error);

/** Adds a new gauge, at zero, to a registry.
 *
 * Ownership: free *out with picollo_metric_gauge_free; the registry holds its own reference.
 * Otherwise: as picollo_registry_add_counter. */
PICOLLO_STATUS picollo_registry_add_gauge(picollo_registry *registry, const picollo_metric_options *metric,
    picollo_metric_gauge **out, uint64_t *out_id, picollo_error *error);

/** Adds to a counter, modulo 2^64.
 *
 * Requires: counter is not NULL; this is not checked.
 * Threads: any thread, signal handlers.
 * Cost: an atomic addition. */
void picollo_metric_counter_add(picollo_metric_counter *counter, uint64_t count);

/** Reads a counter while others count.
 *
 * Cost: a load. */
PICOLLO_STATUS picollo_metric_counter_read(const picollo_metric_counter *counter, uint64_t *out);

/** Gives back one reference. A registry that has the counter continues to write it. */
void picollo_metric_counter_free(picollo_metric_counter *counter);

/** Sets a gauge.
 *
 * Requires: gauge is not NULL; this is not checked.
 * Threads: any thread, signal handlers.
 * Cost: a store. */
void picollo_metric_gauge_set(picollo_metric_gauge *gauge, double value);

/** Adds to a gauge; value may be negative. If several threads add at the same time, nothing is lost.
 *
 * Requires: gauge is not NULL; this is not checked.
 * Threads: any thread, signal handlers.
 * Cost: a compare-and-swap, repeated if another thread was first. */
void picollo_metric_gauge_add(picollo_metric_gauge *gauge, double value);

/** Reads a gauge while others set it.
 *
 * Cost: a load. */
PICOLLO_STATUS picollo_metric_gauge_read(const picollo_metric_gauge *gauge, double *out);

/** Gives back one reference. A registry that has the gauge continues to write it. */
void picollo_metric_gauge_free(picollo_metric_gauge *gauge);

/* ----------------------------------------------------------------------------------------------------------
 * Exemplars: observations that are written with a metric and lead further, for example to a trace.
 *
 *     picollo_metric_exemplar slowest = {0};
 *     slowest.value = nanoseconds;                (as recorded: divided as the metric is)
 *     slowest.unix_nanos = when;
 *     memcpy(slowest.trace_id, trace_id, sizeof slowest.trace_id);
 *     picollo_registry_set_exemplars(registry, id, &slowest, 1, NULL);
 *
 * OpenMetrics has the latest in each bucket. Prometheus' Protocol Buffers have these and, in native histograms, all
 * that have a time. OTLP has all of them, and Prometheus' older text has no exemplars.
 */

/** An observation that stands for others. Fields that are zero are left out. The names and values of its labels have
 * at most 128 characters together, which is the standard's limit. A trace's identifier takes 40 of them and a span's
 * 23. */
typedef struct picollo_metric_exemplar {
    double value; /**< The value as recorded. It is divided like the metric's values. */
    uint64_t unix_nanos; /**< Time of the observation, in nanoseconds since 1970; 0 if unknown. */
    uint8_t trace_id[16]; /**< The trace, as in W3C's traceparent; written as the label trace_id. */
    uint8_t span_id[8]; /**< The span in the trace; written as the label span_id. */
    const picollo_label *labels; /**< Further labels, with other names. */
    size_t labels_length; /**< Number of labels. */
} picollo_metric_exemplar;

/** Replaces the exemplars that are written with a metric. Everything is copied.
 *
 * Requires: id is that of a histogram or counter; exemplars is an array in any order; a length of 0 removes all.
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT, with nothing changed, for an unknown id, a value that is not finite, and
 *   labels that violate picollo_label, are repeated, or are too long; PICOLLO_ERR_UNSUPPORTED for gauges, which have
 *   no exemplars.
 * Cost: allocates copies of its arguments; every write of the metric searches them for each bound. */
PICOLLO_STATUS picollo_registry_set_exemplars(picollo_registry *registry, uint64_t id,
    const picollo_metric_exemplar *exemplars, size_t length, picollo_error *error);

/* ----------------------------------------------------------------------------------------------------------
 * Servers: a registry's metrics over HTTP, for scrapers.
 *
 *     picollo_server *server;
 *     if (picollo_server_start(registry, "127.0.0.1:9464", NULL, &server, &error) != PICOLLO_OK) puts(error.message), exit(1);
 *     ...
 *     picollo_server_stop(server);
 *
 * GET and HEAD of /metrics update the registry and answer in the format that the request's Accept header selects. A
 * server answers one request a connection, each in its own thread. It limits the number of connections, the size of
 * a request (8192 bytes) and its time, and drops clients that do not take their answer. No request changes anything.
 *
 * On a loopback address it refuses requests for other hosts than addresses, localhost and its options' hosts: a page
 * in a browser could send them. All users of the machine can connect to such an address; a Unix socket is for its
 * owner (mode 0600).
 *
 * The threads are named picollo-serve and picollo-answer. They take no signals, except for their faults. A
 * fork copies no threads: the parent continues to serve, and the child can only stop its copy.
 */

/** A server of a registry's metrics. */
typedef struct picollo_server picollo_server;

/** Options of a server. Strings are NUL-terminated UTF-8, and copied. */
typedef struct picollo_server_options {
    uint32_t struct_size;
    uint32_t connections; /**< Largest number of connections at the same time; more get a 503 at once. 0: 16. */
    /** Longest time to receive a request, up to 3600. Sending the answer may take twice as long. 0: 5. */
    double timeout_seconds;
    const char *path; /**< Path of the metrics, without a space and "#&<>?. The path / links to it. NULL: /metrics. */
    const char *hosts; /**< Further names of a server on a loopback address, separated by commas. NULL: none. */
} picollo_server_options;
#define PICOLLO_SERVER_OPTIONS_INIT {sizeof(picollo_server_options), 0, 0, NULL, NULL}

/** Starts a server. It updates the registry for each scrape.
 *
 * Requires: address is 127.0.0.1:9464 or another address with a port; a port, which is then one of 127.0.0.1; or
 *   unix:PATH. NULL means 127.0.0.1:9464. The system chooses the port if it is 0: see picollo_server_address.
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT for an invalid address or option; PICOLLO_ERR_OS if the address is in use or
 *   not of this machine, or no thread can start; PICOLLO_ERR_PERMISSION; PICOLLO_ERR_FORKED, as all calls on the
 *   registry. error explains them.
 * Ownership: free *out with picollo_server_stop. The server holds the registry, so you may free that first.
 * Cost: about ten system calls, and a thread. */
PICOLLO_STATUS picollo_server_start(picollo_registry *registry, const char *address,
    const picollo_server_options *options, picollo_server **out, picollo_error *error);

/** Reports the address of a server, with its port: 127.0.0.1:9464, or unix:PATH. */
PICOLLO_STATUS picollo_server_address(const picollo_server *server, char *buffer, size_t capacity,
    size_t *out_length);

/** Stops a server and frees it. Afterwards nobody listens, and none of its threads runs. Requests that are still
 * arriving get no answer. Answers that were begun have a second to arrive.
 *
 * In the child of a fork it only frees the child's copy: the parent continues to serve.
 *
 * Threads: any thread, once.
 * Cost: waits for the threads, for a second at most if metrics are quick to write. */
void picollo_server_stop(picollo_server *server);

#ifdef __cplusplus
}
#endif

#endif /* PICOLLO_METRICS_H */
