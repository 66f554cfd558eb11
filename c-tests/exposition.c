/* What is written of a registry: formats, names of any bytes, counters and gauges, exemplars, and what collectors accept. */
#include "registry.h"

#include <pthread.h>

/* Whatever bytes: what is no UTF-8 is refused wherever it stands, and what is stays on its line. */
static void any_bytes(void)
{
    static const char *const bad[] = {"\xff", "a\x80", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "a\xc3"};
    static const char *const no_names[] = {"a\x01", "a\n", "a\"b", "a\\b", "a{b", "a=b", "\xc3\xa9", "a\x7f", " "};
    static const picollo_label labels[] = {{"a", "\x01\r\n\t\x1b\"\\}\x7f\xef\xbb\xbf\xf4\x8f\xbf\xbf # {"}};
    picollo_registry *const registry = registry_of();
    picollo_metric_counter *counter = NULL;
    picollo_metric_options metric;
    unsigned char bytes[4096];
    size_t length = 0;
    char *text;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const picollo_label named = {bad[i], "b"}, valued = {"b", bad[i]};
        for (int place = 0; place < 5; place++) {
            metric = metric_of(place == 0 ? bad[i] : "x", place == 1 ? &named : &valued, place == 1 || place == 2);
            if (place == 3) metric.help = bad[i];
            if (place == 4) metric.unit = bad[i];
            CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_add_counter(registry, &metric, &counter, NULL));
        }
    }
    for (size_t i = 0; i < sizeof no_names / sizeof no_names[0]; i++) {
        const picollo_label named = {no_names[i], "b"};
        metric = metric_of(no_names[i], NULL, 0);
        CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_add_counter(registry, &metric, &counter, NULL));
        metric = metric_of("x", &named, 1);
        CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_add_counter(registry, &metric, &counter, NULL));
    }
    CHECK(counter == NULL);
    metric = metric_of("x", labels, 1);
    metric.help = labels[0].value;
    metric.flags = PICOLLO_METRIC_NO_CREATED;
    CHECK_OK(picollo_registry_add_counter(registry, &metric, &counter, NULL));
    text = text_of(registry);
    CHECK_TEXT("# TYPE x counter\n"
               "# HELP x \x01\r\\n\t\x1b\\\"\\\\}\x7f\xef\xbb\xbf\xf4\x8f\xbf\xbf # {\n"
               "x_total{a=\"\x01\r\\n\t\x1b\\\"\\\\}\x7f\xef\xbb\xbf\xf4\x8f\xbf\xbf # {\"} 0\n# EOF\n", text);
    free(text);
    /* Elsewhere than in text as they are, twice: the value and the help. */
    for (uint32_t format = PICOLLO_EXPOSITION_PROMETHEUS_PROTOBUF; format <= PICOLLO_EXPOSITION_OTLP; format++) {
        const size_t size = strlen(labels[0].value);
        int found = 0;
        CHECK_OK(picollo_registry_encode(registry, format, bytes, sizeof bytes, &length));
        for (size_t at = 0; at + size <= length; at++) found += memcmp(bytes + at, labels[0].value, size) == 0;
        CHECK(found == 2);
    }
    picollo_metric_counter_free(counter);
    picollo_registry_free(registry);
}

static void *count(void *counter)
{
    for (int i = 0; i < 10000; i++) picollo_metric_counter_add((picollo_metric_counter *)counter, 2);
    return NULL;
}

static void counters_and_gauges(void)
{
    picollo_registry *const registry = registry_of();
    picollo_metric_options metric = metric_of("hits_total", NULL, 0);
    picollo_metric_counter *counter = NULL;
    picollo_metric_gauge *gauge = NULL;
    pthread_t thread;
    uint64_t id = 0, hits = 0;
    double depth = 0;
    char *text;
    metric.flags = PICOLLO_METRIC_NO_CREATED;
    CHECK_OK(picollo_registry_add_counter(registry, &metric, &counter, &id));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_add_counter(registry, &metric, &counter, NULL));
    metric.name = "queue.depth";
    CHECK_OK(picollo_registry_add_gauge(registry, &metric, &gauge, NULL));
    CHECK(pthread_create(&thread, NULL, count, counter) == 0);
    (void)count(counter);
    CHECK(pthread_join(thread, NULL) == 0);
    picollo_metric_gauge_set(gauge, 3);
    picollo_metric_gauge_add(gauge, -0.5);
    CHECK_OK(picollo_registry_update(registry));
    text = text_of(registry);
    CHECK_TEXT("# TYPE hits counter\nhits_total 40000\n# TYPE queue_depth gauge\nqueue_depth 2.5\n# EOF\n", text);
    free(text);
    /* In any order: what is left counts on. */
    CHECK(picollo_metric_counter_retain(counter) == counter && picollo_metric_counter_retain(NULL) == NULL);
    CHECK(picollo_metric_gauge_retain(gauge) == gauge && picollo_metric_gauge_retain(NULL) == NULL);
    CHECK_OK(picollo_registry_remove(registry, id));
    picollo_metric_counter_free(counter);
    picollo_registry_free(registry);
    picollo_metric_gauge_free(gauge);
    picollo_metric_counter_add(counter, 1);
    picollo_metric_gauge_add(gauge, 1);
    CHECK_OK(picollo_metric_counter_read(counter, &hits));
    CHECK_OK(picollo_metric_gauge_read(gauge, &depth));
    CHECK(hits == 40001 && depth == 3.5);
    picollo_metric_counter_free(counter);
    picollo_metric_gauge_free(gauge);
}

/* All formats, in two passes; what is in them is for the tests in Rust and Python. */
static void formats(void)
{
    picollo_registry *const registry = registry_of();
    picollo_histogram *const histogram = create(0.01, 0, 100000);
    picollo_metric_options metric = metric_of("latency", NULL, 0);
    size_t lengths[4] = {0}, length = 0;
    unsigned char bytes[8192];
    metric.flags = PICOLLO_METRIC_NATIVE | PICOLLO_METRIC_NO_CREATED;
    metric.max_buckets = 4;
    CHECK_OK(picollo_registry_add(registry, histogram, &metric, NULL, 0, NULL));
    for (uint64_t i = 0; i < 1000; i++) picollo_histogram_record(histogram, i * i);
    CHECK_OK(picollo_registry_update(registry));
    for (uint32_t format = PICOLLO_EXPOSITION_OPENMETRICS; format <= PICOLLO_EXPOSITION_OTLP; format++) {
        CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_registry_encode(registry, format, NULL, 0, &lengths[format]));
        memset(bytes, 0x5a, sizeof bytes);
        CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_registry_encode(registry, format, bytes, lengths[format] - 1, &length));
        CHECK(length == lengths[format] && bytes[0] == 0x5a);
        CHECK_OK(picollo_registry_encode(registry, format, bytes, sizeof bytes, &length));
        CHECK(length == lengths[format] && bytes[length] == 0x5a && bytes[0] != 0x5a);
    }
    CHECK(lengths[PICOLLO_EXPOSITION_PROMETHEUS_TEXT] + strlen("# EOF\n") == lengths[PICOLLO_EXPOSITION_OPENMETRICS]);
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_encode(registry, PICOLLO_EXPOSITION_OTLP + 1, NULL, 0, &length));
    picollo_histogram_free(histogram);
    picollo_registry_free(registry);
}

static void negotiation(void)
{
    static const struct {
        const char *accept, *content_type;
        uint32_t format;
    } cases[] = {
        {NULL, "text/plain; version=0.0.4; charset=utf-8", PICOLLO_EXPOSITION_PROMETHEUS_TEXT},
        {"\xff;q=\xfe", "text/plain; version=0.0.4; charset=utf-8", PICOLLO_EXPOSITION_PROMETHEUS_TEXT},
        {"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
         "application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=underscores", PICOLLO_EXPOSITION_OPENMETRICS},
        {"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,*/*;q=0.1",
         "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited",
         PICOLLO_EXPOSITION_PROMETHEUS_PROTOBUF},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t format = 77;
        size_t length = 0;
        char type[128];
        CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_registry_negotiate(cases[i].accept, &format, NULL, 0, &length));
        CHECK(format == 77 && length == strlen(cases[i].content_type));
        CHECK_OK(picollo_registry_negotiate(cases[i].accept, &format, type, sizeof type, &length));
        CHECK(format == cases[i].format);
        CHECK_TEXT(cases[i].content_type, type);
    }
}

/* A summary has quantiles instead of buckets. */
static void summaries(void)
{
    static const picollo_label quantile[] = {{"quantile", "1"}};
    picollo_registry *const registry = registry_of();
    picollo_histogram *const histogram = create(0.01, 0, 100000);
    picollo_metric_options metric = metric_of("x", quantile, 1);
    char *text;
    metric.flags = PICOLLO_METRIC_SUMMARY | PICOLLO_METRIC_NO_CREATED;
    metric.divisor = 10;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_add(registry, histogram, &metric, NULL, 0, NULL));
    metric.labels_length = 0;
    CHECK_OK(picollo_registry_add(registry, histogram, &metric, NULL, 0, NULL));
    for (uint64_t value = 1; value <= 40; value++) picollo_histogram_record(histogram, value);
    CHECK_OK(picollo_registry_update(registry));
    text = text_of(registry);
    CHECK_TEXT("# TYPE x summary\nx{quantile=\"0.5\"} 2.0\nx{quantile=\"0.9\"} 3.6\nx{quantile=\"0.99\"} 4.0\n"
               "x{quantile=\"0.999\"} 4.0\nx_count 40\nx_sum 82.0\n# EOF\n", text);
    free(text);
    picollo_histogram_free(histogram);
    picollo_registry_free(registry);
}

/* The last value at a path of field numbers of a message: a varint, eight bytes, or the bytes at *found; the number of them. */
static int dig(const unsigned char *bytes, size_t length, const int *path, uint64_t *value, const unsigned char **found)
{
    int number_of = 0;
    size_t at = 0;
    while (at < length) {
        uint64_t key = 0, word = 0;
        for (int shift = 0, more = 1; more; shift += 7) more = bytes[at] >> 7, key |= (uint64_t)(bytes[at++] & 127) << shift;
        if ((key & 7) == 1) {
            memcpy(&word, bytes + at, 8);
            at += 8;
        } else {
            for (int shift = 0, more = 1; more; shift += 7) more = bytes[at] >> 7, word |= (uint64_t)(bytes[at++] & 127) << shift;
        }
        if ((int)(key >> 3) == path[0]) {
            if (path[1] != 0) number_of += dig(bytes + at, (size_t)word, path + 1, value, found);
            else *value = word, *found = bytes + at, number_of++;
        }
        if ((key & 7) == 2) at += (size_t)word;
    }
    CHECK(at == length);
    return number_of;
}

/* The only value at a path. */
static uint64_t dug(const unsigned char *bytes, size_t length, const int *path)
{
    uint64_t value = 0;
    const unsigned char *found;
    CHECK(dig(bytes, length, path, &value, &found) == 1);
    return value;
}

static void exemplars(void)
{
    static const picollo_label shop[] = {{"who", "a\"b"}}, again[] = {{"trace_id", "x"}}, latin[] = {{"a", "\xe9"}};
    static const uint64_t bounds[] = {10, 100};
    static const unsigned char trace[16] = {0x0a, 0xf7, 0x65, 0x19, 0x16, 0xcd, 0x43, 0xdd, 0x84, 0x48, 0xeb, 0x21, 0x1c, 0x80, 0x31, 0x9c};
    picollo_registry *const registry = registry_of();
    picollo_histogram *const histogram = create(0.01, 0, 100000);
    picollo_metric_counter *counter = NULL;
    picollo_metric_gauge *gauge = NULL;
    picollo_metric_options metric = metric_of("x", NULL, 0);
    picollo_metric_exemplar list[4];
    unsigned char bytes[4096];
    const unsigned char *found = NULL;
    char many[110], *text;
    uint64_t id = 0, total = 0, of_gauge = 0, value = 0;
    size_t length = 0;
    metric.flags = PICOLLO_METRIC_NO_CREATED;
    metric.divisor = 10;
    CHECK_OK(picollo_registry_add(registry, histogram, &metric, bounds, 2, &id));
    metric.name = "y";
    CHECK_OK(picollo_registry_add_counter(registry, &metric, &counter, &total));
    metric.name = "z";
    CHECK_OK(picollo_registry_add_gauge(registry, &metric, &gauge, &of_gauge));
    memset(list, 0, sizeof list);
    list[0].value = 7;
    list[0].unix_nanos = UINT64_C(1500000000250000000);
    memcpy(list[0].trace_id, trace, sizeof trace);
    list[0].span_id[7] = 0xff;
    list[0].labels = shop;
    list[0].labels_length = 1;
    /* Earlier, in the same bucket. */
    list[1].value = 8;
    list[1].unix_nanos = UINT64_C(1400000000000000000);
    list[2].value = 1e6;
    CHECK_OK(picollo_registry_set_exemplars(registry, id, list, 3));
    CHECK_OK(picollo_registry_set_exemplars(registry, total, list, 1));
    text = text_of(registry);
    CHECK_TEXT("# TYPE x histogram\n"
               "x_bucket{le=\"1.0\"} 0 # {span_id=\"00000000000000ff\",trace_id=\"0af7651916cd43dd8448eb211c80319c\",who=\"a\\\"b\"} 0.7 "
               "1500000000.250\n"
               "x_bucket{le=\"10.0\"} 0\n"
               "x_bucket{le=\"+Inf\"} 0 # {} 100000.0\n"
               "x_count 0\n"
               "x_sum 0.0\n"
               "# TYPE y counter\n"
               "y_total 0.0 # {span_id=\"00000000000000ff\",trace_id=\"0af7651916cd43dd8448eb211c80319c\",who=\"a\\\"b\"} 0.7 "
               "1500000000.250\n"
               "# TYPE z gauge\n"
               "z 0.0\n"
               "# EOF\n", text);
    free(text);
    CHECK_OK(picollo_registry_encode(registry, PICOLLO_EXPOSITION_OTLP, bytes, sizeof bytes, &length));
    {
        /* Of the three of a histogram: values, and the identifiers that one has. */
        const int values[] = {1, 2, 2, 10, 1, 11, 3, 0}, spans[] = {1, 2, 2, 10, 1, 11, 4, 0}, traces[] = {1, 2, 2, 10, 1, 11, 5, 0};
        CHECK(dig(bytes, length, values, &value, &found) == 3);
        CHECK(dig(bytes, length, spans, &value, &found) == 1 && value == 8 && found[7] == 0xff);
        CHECK(dig(bytes, length, traces, &value, &found) == 1 && value == 16 && memcmp(found, trace, 16) == 0);
    }
    CHECK_OK(picollo_registry_encode(registry, PICOLLO_EXPOSITION_PROMETHEUS_TEXT, bytes, sizeof bytes, &length));
    CHECK(memchr(bytes + 20, '{', length - 20) != NULL && strstr((const char *)bytes, " # {") == NULL);

    /* What is refused changes nothing. */
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_registry_set_exemplars(registry, of_gauge, list, 1));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_set_exemplars(registry, 77, list, 1));
    CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, picollo_registry_set_exemplars(registry, id, NULL, 1));
    memset(many, 'a', sizeof many);
    many[66] = 0;
    for (int wrong = 0; wrong < 7; wrong++) {
        const picollo_label crowd[] = {{"w", many}}, crowded[] = {{"w", many + 2}};
        picollo_metric_exemplar bad = list[0];
        picollo_status expected = PICOLLO_ERR_INVALID_ARGUMENT;
        if (wrong == 0) bad.value = NAN;
        if (wrong == 1) bad.value = -INFINITY;
        if (wrong == 2) bad.labels = again;
        if (wrong == 3) bad.labels = latin;
        /* 63 are taken: 65 more fit, and 66 do not. */
        if (wrong == 4) bad.labels = crowd;
        if (wrong == 5) bad.labels = NULL, expected = PICOLLO_ERR_NULL_POINTER;
        if (wrong == 6) bad.labels = crowded, expected = PICOLLO_OK;
        CHECK_STATUS(expected, picollo_registry_set_exemplars(registry, total, &bad, 1));
        if (wrong == 5) CHECK_OK(picollo_registry_encode(registry, PICOLLO_EXPOSITION_OPENMETRICS, bytes, sizeof bytes, &length));
    }
    text = text_of(registry);
    CHECK(strstr(text, ",w=\"aaaa") != NULL && strstr(text, "le=\"+Inf\"} 0 # {} 100000.0\n") != NULL);
    free(text);
    CHECK_OK(picollo_registry_set_exemplars(registry, id, NULL, 0));
    CHECK_OK(picollo_registry_set_exemplars(registry, total, NULL, 0));
    text = text_of(registry);
    CHECK(strstr(text, " # ") == NULL);
    free(text);
    picollo_metric_gauge_free(gauge);
    picollo_metric_counter_free(counter);
    picollo_histogram_free(histogram);
    picollo_registry_free(registry);
}

static size_t request_of(const picollo_otlp_export *otlp, unsigned char *bytes, size_t capacity)
{
    size_t length = 0, again = 0;
    const picollo_status asked = picollo_otlp_export_request(otlp, NULL, 0, &length);
    CHECK(asked == (length == 0 ? PICOLLO_OK : PICOLLO_ERR_BUFFER_TOO_SMALL) && length <= capacity);
    CHECK_OK(picollo_otlp_export_request(otlp, bytes, capacity, &again));
    CHECK(length == again);
    return length;
}

/* A collector that is away for a while: what it accepts adds up to what was counted. */
static void differences(void)
{
    static const picollo_label resource[] = {{"service.name", "shop"}, {"host", ""}};
    static const int count[] = {1, 2, 2, 7, 1, 6, 0}, start[] = {1, 2, 2, 7, 1, 2, 0}, temporality[] = {1, 2, 2, 7, 2, 0};
    static const int attributes[] = {1, 1, 1, 1, 0}, observations[] = {1, 2, 2, 10, 1, 4, 0}, now[] = {1, 2, 2, 7, 1, 3, 0};
    picollo_otlp_options options = PICOLLO_OTLP_OPTIONS_INIT;
    picollo_registry *const registry = registry_of();
    picollo_histogram *const histogram = create(0.01, 0, 100000);
    picollo_metric_counter *counter = NULL;
    picollo_metric_options metric = metric_of("hits", NULL, 0);
    picollo_otlp_export *delta = NULL, *all = NULL, *refused = NULL;
    unsigned char bytes[4096];
    const unsigned char *found = NULL;
    uint64_t arrived = 0, total = 0, value = 0, end = 7;
    size_t length;
    metric.created_unix_nanos = end;
    CHECK_OK(picollo_registry_add_counter(registry, &metric, &counter, NULL));
    metric.name = "latency";
    CHECK_OK(picollo_registry_add(registry, histogram, &metric, NULL, 0, NULL));
    options.temporality = PICOLLO_TEMPORALITY_DELTA + 1;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_otlp_export_create(&options, &refused));
    options.temporality = PICOLLO_TEMPORALITY_DELTA;
    options.resource_length = 1;
    CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, picollo_otlp_export_create(&options, &refused));
    options.struct_size = 8;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_otlp_export_create(&options, &refused));
    options.struct_size = sizeof options;
    options.resource = resource;
    options.resource_length = 2;
    CHECK_OK(picollo_otlp_export_create(&options, &delta));
    CHECK_OK(picollo_otlp_export_create(NULL, &all));
    CHECK(refused == NULL && request_of(delta, bytes, sizeof bytes) == 0);
    CHECK_STATUS(PICOLLO_ERR_EMPTY, picollo_otlp_export_accept(delta));
    for (int round = 1; round < 20; round++) {
        picollo_metric_counter_add(counter, (uint64_t)round);
        picollo_histogram_record_n(histogram, 500, (uint64_t)round);
        total += (uint64_t)round;
        CHECK_OK(picollo_otlp_export_update(delta, registry));
        length = request_of(delta, bytes, sizeof bytes);
        CHECK(dig(bytes, length, attributes, &value, &found) == 2 && value == 4 && memcmp(found, "host", 4) == 0);
        CHECK_U64(PICOLLO_TEMPORALITY_DELTA == 1, dug(bytes, length, temporality));
        CHECK_U64(end, dug(bytes, length, start));
        CHECK_U64(total - arrived, dug(bytes, length, count));
        CHECK_U64(total - arrived, dug(bytes, length, observations));
        if (round % 3 != 1) continue;
        /* What is counted meanwhile is not in it. */
        end = dug(bytes, length, now);
        arrived += dug(bytes, length, count);
        picollo_metric_counter_add(counter, 5);
        picollo_histogram_record_n(histogram, 5, 5);
        total += 5;
        CHECK_OK(picollo_otlp_export_accept(delta));
        CHECK_STATUS(PICOLLO_ERR_EMPTY, picollo_otlp_export_accept(delta));
        CHECK(request_of(delta, bytes, sizeof bytes) == 0);
        CHECK_OK(picollo_otlp_export_update(all, registry));
        length = request_of(all, bytes, sizeof bytes);
        CHECK(dig(bytes, length, attributes, &value, &found) == 0);
        CHECK_U64(2, dug(bytes, length, temporality));
        CHECK_U64(7, dug(bytes, length, start));
        CHECK_U64(total, dug(bytes, length, count));
        CHECK_OK(picollo_otlp_export_accept(all));
    }
    /* In any order. */
    picollo_registry_free(registry);
    CHECK(request_of(delta, bytes, sizeof bytes) == 0);
    picollo_otlp_export_free(delta);
    picollo_otlp_export_free(all);
    picollo_otlp_export_free(NULL);
    picollo_metric_counter_free(counter);
    picollo_histogram_free(histogram);
}

int main(void)
{
    RUN(any_bytes);
    RUN(counters_and_gauges);
    RUN(formats);
    RUN(negotiation);
    RUN(summaries);
    RUN(exemplars);
    RUN(differences);
    return report();
}
