/* picollo_metrics.h: registries, and their formats of exposition. */
#include "golden.h"

#include <pthread.h>

/* The bytes that a registry writes: no NUL after them, nothing into too small a buffer. */
static size_t encode(const picollo_registry *registry, uint32_t format)
{
    size_t needed = 0, length = 0;
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_registry_encode(registry, format, NULL, 0, &needed));
    memset(text, 0x5a, needed + 1);
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_registry_encode(registry, format, text, needed - 1, &length));
    CHECK(length == needed && text[0] == 0x5a);
    CHECK_OK(picollo_registry_encode(registry, format, text, needed, &length));
    CHECK(length == needed && text[needed] == 0x5a);
    text[needed] = 0;
    return needed;
}

static void registries(void)
{
    static const picollo_label labels[] = {{"path", "/a\"b"}, {"method", "GET"}}, latin[] = {{"a", "\xe9"}}, who[] = {{"who", "a\"b"}};
    static const uint64_t bounds[] = {20, 50}, descending[] = {5, 4};
    static const double limits[] = {0.5, 2};
    static const char *const accepted[] = {NULL, "application/openmetrics-text;version=1.0.0,*/*;q=0.1", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"};
    const picollo_metric_options plain = PICOLLO_METRIC_OPTIONS_INIT;
    picollo_metric_options metric = plain;
    picollo_metric_exemplar exemplar;
    picollo_registry *registry = NULL;
    picollo_histogram *histogram = hundred();
    picollo_double_histogram *skew = NULL;
    picollo_metric_counter *counter = NULL;
    picollo_metric_gauge *gauge = NULL;
    uint64_t ids[4] = {0, 0, 0, 0}, count = 0, id = 77;
    uint64_t *const odd = (uint64_t *)(void *)((char *)ids + 1);
    uint32_t format = 77;
    size_t length;
    double value = 0;
    CHECK_OK(picollo_registry_create(&registry));
    CHECK_OK(picollo_double_histogram_create(NULL, &skew));
    picollo_double_histogram_record(skew, 1.5);
    metric.flags = PICOLLO_METRIC_NO_CREATED;
    metric.name = "request_seconds";
    metric.help = "How long, \"really\"";
    metric.unit = "seconds";
    metric.divisor = 1e3;
    metric.labels = labels;
    metric.labels_length = 2;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_add(registry, histogram, &metric, bounds, 2, odd, NULL));
    CHECK_OK(picollo_registry_add(registry, histogram, &metric, bounds, 2, &ids[0], NULL));
    STATUS(picollo_registry_add(registry, histogram, &metric, bounds, 2, &id, NULL));
    metric.labels = latin;
    metric.labels_length = 1;
    STATUS(picollo_registry_add(registry, histogram, &metric, bounds, 2, &id, NULL));
    metric = plain;
    metric.flags = PICOLLO_METRIC_NO_CREATED;
    metric.name = "skew";
    STATUS(picollo_registry_add(registry, histogram, &metric, descending, 2, &id, NULL));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_add_double(registry, skew, &metric, limits, 2, odd, NULL));
    CHECK_OK(picollo_registry_add_double(registry, skew, &metric, limits, 2, &ids[1], NULL));
    STATUS(picollo_registry_add_double(registry, skew, &metric, limits, 2, &id, NULL));
    metric.name = "hits";
    metric.flags = PICOLLO_METRIC_STRIPED | PICOLLO_METRIC_NO_CREATED;
    /* If the room for the id is invalid, the metric is not added: it can be added later. */
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_add_counter(registry, &metric, &counter, odd, NULL));
    CHECK_OK(picollo_registry_add_counter(registry, &metric, &counter, &ids[2], NULL));
    metric.name = "depth";
    metric.flags = 0;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_add_gauge(registry, &metric, &gauge, odd, NULL));
    CHECK_OK(picollo_registry_add_gauge(registry, &metric, &gauge, &ids[3], NULL));
    metric.flags = UINT32_C(1) << 31;
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_registry_add_gauge(registry, &metric, &gauge, NULL, NULL));
    metric.flags = 0;
    metric.reserved = 1;
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_registry_add_gauge(registry, &metric, &gauge, NULL, NULL));
    metric.reserved = 0;
    metric.name = "9";
    STATUS(picollo_registry_add_counter(registry, &metric, NULL, &id, NULL));
    metric.name = "summary";
    metric.flags = PICOLLO_METRIC_SUMMARY | PICOLLO_METRIC_NO_CREATED;
    CHECK_OK(picollo_registry_add(registry, histogram, &metric, NULL, 0, NULL, NULL));
    CHECK(id == 77 && ids[0] != 0 && ids[1] != ids[0] && ids[2] != ids[1] && ids[3] != ids[2]);
    /* The registry keeps its histograms alive. */
    picollo_histogram_free(histogram);
    picollo_double_histogram_free(skew);
    picollo_metric_counter_add(counter, 5);
    picollo_metric_gauge_set(gauge, 2.5);
    picollo_metric_gauge_add(gauge, -4);
    CHECK_OK(picollo_metric_counter_read(counter, &count));
    CHECK_OK(picollo_metric_gauge_read(gauge, &value));
    say("count " U "\n", count);
    NUMBERS("gauge", value);
    CHECK_OK(picollo_registry_update(registry));
    encode(registry, PICOLLO_EXPOSITION_OPENMETRICS);
    say("%s\n", text);
    memset(&exemplar, 0, sizeof exemplar);
    exemplar.value = 30;
    exemplar.unix_nanos = UINT64_C(1500000000250000000);
    exemplar.trace_id[0] = 0xab;
    exemplar.span_id[7] = 0xff;
    exemplar.labels = who;
    exemplar.labels_length = 1;
    CHECK_OK(picollo_registry_set_exemplars(registry, ids[0], &exemplar, 1, NULL));
    STATUS(picollo_registry_set_exemplars(registry, ids[3], &exemplar, 1, NULL));
    STATUS(picollo_registry_set_exemplars(registry, 12345, &exemplar, 1, NULL));
    exemplar.value = NAN;
    STATUS(picollo_registry_set_exemplars(registry, ids[0], &exemplar, 1, NULL));
    encode(registry, PICOLLO_EXPOSITION_OPENMETRICS);
    *strstr(strstr(text, " # {"), "\n") = 0;
    say("%s\n", strstr(text, " # {"));
    CHECK_OK(picollo_registry_set_exemplars(registry, ids[0], NULL, 0, NULL));
    for (int i = 0; i < 4; i++) CHECK_OK(i == 1 ? PICOLLO_OK : picollo_registry_remove(registry, ids[i]));
    STATUS(picollo_registry_remove(registry, ids[0]));
    encode(registry, PICOLLO_EXPOSITION_PROMETHEUS_TEXT);
    say("%.40s\n", text);
    length = encode(registry, PICOLLO_EXPOSITION_PROMETHEUS_PROTOBUF);
    for (size_t i = 0; i < length; i++) say("%02x", (unsigned char)text[i]);
    say("\n");
    encode(registry, PICOLLO_EXPOSITION_OTLP);
    CHECK(text[0] == 0x0a);
    STATUS(picollo_registry_encode(registry, 4, text, sizeof text, &length));
    for (int i = 0; i < 3; i++) {
        FORMAT(picollo_registry_negotiate, accepted[i], &format);
        say("%" PRIu32 " %s\n", format, text);
    }
    metric = plain;
    metric.name = "later";
    metric.flags = PICOLLO_METRIC_SINCE_RESET;
    metric.created_unix_nanos = UINT64_C(5000000000);
    histogram = hundred();
    CHECK_OK(picollo_registry_add(registry, histogram, &metric, bounds, 2, NULL, NULL));
    CHECK_OK(picollo_histogram_reset(histogram));
    picollo_histogram_record(histogram, 50);
    CHECK_OK(picollo_registry_update(registry));
    encode(registry, PICOLLO_EXPOSITION_OPENMETRICS);
    CHECK(strstr(text, "later_count 1\n") != NULL && strstr(text, "later_created 5.000\n") != NULL);
    picollo_histogram_free(histogram);
    picollo_registry_free(registry);
    /* Handles outlive their registry. */
    picollo_metric_counter_add(counter, 1);
    picollo_metric_counter_free(counter);
    picollo_metric_gauge_free(gauge);
}

static picollo_registry *registry;
static picollo_histogram *histogram;

static void *record_and_scrape(void *number)
{
    const picollo_label label = {"thread", (const char *)number};
    picollo_metric_options metric = PICOLLO_METRIC_OPTIONS_INIT;
    metric.name = "shared";
    metric.labels = &label;
    metric.labels_length = 1;
    for (int i = 0; i < rounds(2000); i++) {
        uint64_t id = 0;
        char text[8192];
        size_t length;
        CHECK_OK(picollo_registry_add(registry, histogram, &metric, NULL, 0, &id, NULL));
        picollo_histogram_record(histogram, (uint64_t)i);
        CHECK_OK(picollo_registry_update(registry));
        CHECK_OK(picollo_registry_encode(registry, PICOLLO_EXPOSITION_OPENMETRICS, text, sizeof text, &length));
        CHECK(length >= 6 && memcmp(text + length - 6, "# EOF\n", 6) == 0);
        CHECK_OK(picollo_registry_remove(registry, id));
    }
    return NULL;
}

static void registries_are_for_any_thread(void)
{
    static char numbers[3][2] = {"0", "1", "2"};
    picollo_histogram_options options = default_options();
    pthread_t threads[3];
    options.mode = PICOLLO_MODE_INTERLOCKED;
    options.relative_error = 0.1;
    options.max_trackable = 10000;
    CHECK_OK(picollo_histogram_create(&options, &histogram));
    CHECK_OK(picollo_registry_create(&registry));
    for (int i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, record_and_scrape, numbers[i]) == 0);
    for (int i = 0; i < 3; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    picollo_registry_free(registry);
    picollo_histogram_free(histogram);
}

int main(int number, char **arguments)
{
    (void)arguments;
    golden_begin(number, __FILE__);
    GOLDEN(registries);
    RUN(registries_are_for_any_thread);
    return report();
}
