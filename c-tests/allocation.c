/* Who allocates and who does not, and what happens when there is no memory.
 *
 * The program brings its own malloc, which the library finds before the one of the C library. */
#include "test.h"

#include "allocator.h"

static int allocations;
static int out_of_memory;
/* There is memory for so many allocations, -1: for all; and for none larger than this. */
static int fail_after = -1, fail_from;
static size_t largest = SIZE_MAX;

/* Counts, and tells whether there is memory. */
static int may_allocate(size_t size)
{
    const int has_memory = !out_of_memory && (fail_after < 0 || allocations < fail_after) && size <= largest;
    allocations++;
    if (!has_memory) errno = ENOMEM;
    return has_memory;
}

static const double ranks[PICOLLO_SUMMARY_PERCENTILES] = {
    0, 1, 5, 10, 25, 50, 75, 90, 92.5, 95, 97.5, 99, 99.9, 99.99, 99.999, 100,
};

static void reading_allocates_nothing(void)
{
    static char text[8192];
    static picollo_bucket buckets[30000];
    picollo_histogram *histogram = NULL;
    picollo_snapshot *snapshot;
    picollo_percentile percentiles[16];
    picollo_summary summary;
    uint64_t values[16], state = 1;
    size_t length = 0;
    double rank = 0;
    int before;
    /* Every 64-bit value at 0.001. */
    CHECK_OK(picollo_histogram_create(NULL, &histogram));
    before = allocations;
    for (int i = 0; i < 100000; i++) {
        const uint64_t magnitude = next_random(&state) >> 58;
        picollo_histogram_record(histogram, next_random(&state) >> magnitude);
    }
    picollo_histogram_record_corrected(histogram, 1000000, 7);
    CHECK_U64(before, allocations);
    snapshot = snapshot_of(histogram);
    CHECK(allocations > before);

    before = allocations;
    CHECK_OK(picollo_snapshot_percentiles(snapshot, ranks, 16, PICOLLO_VALUE_MIDPOINT, percentiles));
    CHECK_U64(before, allocations);
    CHECK_OK(picollo_snapshot_percentile_values(snapshot, ranks, 16, PICOLLO_VALUE_MIDPOINT, values));
    CHECK_OK(picollo_snapshot_update(snapshot, 1));
    CHECK_OK(picollo_snapshot_update(snapshot, 0));
    CHECK_OK(picollo_snapshot_summary(snapshot, PICOLLO_VALUE_MIDPOINT, &summary));
    CHECK_OK(picollo_snapshot_rank_of_value(snapshot, 5, 1, &rank));
    CHECK_OK(picollo_snapshot_buckets(snapshot, 0, buckets, 30000, &length));
    CHECK_OK(picollo_histogram_add(histogram, snapshot, 0, NULL));
    CHECK_OK(picollo_histogram_reset(histogram));
    for (uint32_t format = 0; format < 4; format++) {
        CHECK_OK(picollo_summary_format(&summary, "t", format, text, sizeof text, &length));
        CHECK_OK(picollo_summary_format_diff(&summary, &summary, "t", "a", "b", format, text, sizeof text, &length));
    }
    CHECK_U64(before, allocations);
    picollo_snapshot_free(snapshot);
    picollo_histogram_free(histogram);
}

static void no_memory_is_a_status(void)
{
    picollo_histogram *histogram = NULL, *none = NULL;
    picollo_snapshot *snapshot = NULL;
    picollo_summary summary;
    CHECK_OK(picollo_histogram_create(NULL, &histogram));
    picollo_histogram_record(histogram, 5);
    out_of_memory = 1;
    {
        const picollo_status created = picollo_histogram_create(NULL, &none);
        const picollo_status read = picollo_snapshot_create(histogram, &snapshot);
        const picollo_status summarised = picollo_histogram_summary(histogram, PICOLLO_VALUE_MIDPOINT, &summary);
        out_of_memory = 0;
        CHECK_STATUS(PICOLLO_ERR_OUT_OF_MEMORY, created);
        CHECK_STATUS(PICOLLO_ERR_OUT_OF_MEMORY, read);
        CHECK_STATUS(PICOLLO_ERR_OUT_OF_MEMORY, summarised);
        CHECK(none == NULL && snapshot == NULL);
    }
    CHECK_OK(picollo_histogram_summary(histogram, PICOLLO_VALUE_MIDPOINT, &summary));
    CHECK_U64(1, summary.total_count);
    picollo_histogram_free(histogram);
}

/* Encoding and decoding where each allocation in turn is the first to fail: a status and no output. */
static void interchange_without_memory(void)
{
    static const char log[] =
        "1,1,1,HISTFAAAADN4nJNpmSzMwMAgxAABzFCaEURcm7yEwf4DRICJiZGFlWk//wnG1QJMTJv/MjIBAMP3CLI=\n";
    picollo_histogram_options options = default_options();
    picollo_histogram *histogram = NULL;
    picollo_snapshot *snapshot;
    static char buffer[65536];
    options.significant_digits = 3;
    options.max_trackable = 1000000000;
    CHECK_OK(picollo_histogram_create(&options, &histogram));
    for (uint64_t value = 1; value < 100000; value *= 2) picollo_histogram_record(histogram, value);
    snapshot = snapshot_of(histogram);
    for (int call = 0; call < 11; call++) {
        for (fail_from = 1;; fail_from++) {
            picollo_snapshot *out = NULL;
            picollo_log_reader *reader = NULL;
            picollo_log_interval interval;
            picollo_status status = PICOLLO_OK;
            size_t length = 77, written = 0;
            if (call >= 3 && call <= 5) {
                const uint32_t encoding = (uint32_t)call - 3;
                CHECK_OK(picollo_snapshot_encode(snapshot, encoding, buffer, sizeof buffer, &written));
            }
            if (call == 6) CHECK_OK(picollo_snapshot_encode_base64(snapshot, 1, buffer, sizeof buffer, &written));
            if (call == 10) CHECK_OK(picollo_log_reader_create(log, sizeof log - 1, &reader));
            /* The compressor cannot be told that there is no memory for it, so the library makes sure before that there
             * is: here what is scarce is memory in large pieces. */
            if (call == 1 || call == 8) largest = (size_t)8 << fail_from;
            else fail_after = allocations + fail_from - 1;
            switch (call) {
            case 0: case 1: case 2:
                status = picollo_snapshot_encode(snapshot, (uint32_t)call, buffer, sizeof buffer, &length);
                break;
            case 3: case 4: case 5: case 6: status = picollo_snapshot_decode(buffer, written, 0, &out); break;
            case 7: status = picollo_snapshot_corrected(snapshot, 7, &out); break;
            case 8: status = picollo_log_format_interval(snapshot, 1, 1, "t", buffer, sizeof buffer, &length); break;
            case 9: status = picollo_log_reader_create(log, sizeof log - 1, &reader); break;
            case 10:
                status = picollo_log_reader_next(reader, &interval);
                if (status == PICOLLO_OK) status = picollo_log_reader_decode(reader, &out);
                break;
            }
            fail_after = -1;
            largest = SIZE_MAX;
            picollo_log_reader_free(reader);
            picollo_snapshot_free(out);
            if (status == PICOLLO_OK) break;
            CHECK_STATUS(PICOLLO_ERR_OUT_OF_MEMORY, status);
            CHECK(out == NULL && length == 77 && (call != 9 || reader == NULL));
            if (fail_from > 100) break;
        }
        /* Plain encodings need no memory. */
        CHECK(call == 0 || call == 2 ? fail_from == 1 : fail_from > 1 && fail_from < 100);
    }
    picollo_snapshot_free(snapshot);
    picollo_histogram_free(histogram);
}

/* Exemplars and requests where each allocation in turn is the first to fail: a status, and nothing has changed. */
static void metrics_without_memory(void)
{
    static const picollo_label labels[] = {{"a", "b"}, {"service.name", "c"}};
    static char bytes[8192], again[8192];
    picollo_metric_options metric = PICOLLO_METRIC_OPTIONS_INIT;
    picollo_otlp_options options = PICOLLO_OTLP_OPTIONS_INIT;
    picollo_metric_exemplar exemplar;
    picollo_registry *registry = NULL;
    picollo_histogram *histogram = create(0.001, 0, 100000);
    picollo_metric_counter *counter = NULL;
    uint64_t id = 0;
    memset(&exemplar, 0, sizeof exemplar);
    exemplar.value = 5;
    exemplar.trace_id[3] = 1;
    exemplar.labels = options.resource = metric.labels = labels;
    exemplar.labels_length = options.resource_length = metric.labels_length = 2;
    options.temporality = PICOLLO_TEMPORALITY_DELTA;
    metric.name = "x";
    metric.max_buckets = 3;
    CHECK_OK(picollo_registry_create(&registry));
    CHECK_OK(picollo_registry_add(registry, histogram, &metric, NULL, 0, &id));
    metric.name = "y";
    CHECK_OK(picollo_registry_add_counter(registry, &metric, &counter, NULL));
    for (int call = 0; call < 3; call++) {
        for (fail_from = 1;; fail_from++) {
            picollo_otlp_export *otlp = NULL;
            picollo_status status = PICOLLO_OK;
            size_t length = 0, after = 0;
            if (call == 2) {
                CHECK_OK(picollo_otlp_export_create(&options, &otlp));
                picollo_histogram_record_n(histogram, 5, 2);
                CHECK_OK(picollo_otlp_export_update(otlp, registry));
                CHECK_OK(picollo_otlp_export_accept(otlp));
                /* In fewer buckets than all are, and so in finer ones. */
                for (uint64_t value = 1; value < 100000; value *= 3) picollo_histogram_record(histogram, value);
                CHECK_OK(picollo_otlp_export_update(otlp, registry));
                CHECK_OK(picollo_otlp_export_request(otlp, bytes, sizeof bytes, &length));
                picollo_metric_counter_add(counter, 1);
            }
            fail_after = allocations + fail_from - 1;
            if (call == 0) status = picollo_registry_set_exemplars(registry, id, &exemplar, 1);
            if (call == 1) status = picollo_otlp_export_create(&options, &otlp);
            if (call == 2) status = picollo_otlp_export_update(otlp, registry);
            fail_after = -1;
            if (call == 2) {
                CHECK_OK(picollo_otlp_export_request(otlp, again, sizeof again, &after));
                CHECK(status == PICOLLO_OK || (after == length && memcmp(bytes, again, length) == 0));
                CHECK_OK(picollo_otlp_export_accept(otlp));
            }
            picollo_otlp_export_free(otlp);
            if (status == PICOLLO_OK) break;
            CHECK_STATUS(PICOLLO_ERR_OUT_OF_MEMORY, status);
            CHECK(call != 1 || otlp == NULL);
            if (fail_from > 1000) break;
        }
        CHECK(fail_from > 3 && fail_from < 1000);
    }
    picollo_metric_counter_free(counter);
    picollo_registry_free(registry);
    picollo_histogram_free(histogram);
}

int main(void)
{
    RUN(reading_allocates_nothing);
    RUN(no_memory_is_a_status);
    RUN(interchange_without_memory);
    RUN(metrics_without_memory);
    return report();
}
