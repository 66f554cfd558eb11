/* Registries: what a scrape reads, what is refused, and threads. With an argument it writes one text, for a parser. */
#include "registry.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void a_scrape(void)
{
    static const picollo_label labels[] = {{"path", "/a\"b"}, {"method", "GET"}};
    static const uint64_t bounds[] = {1023, 65535};
    picollo_registry *const registry = registry_of();
    picollo_histogram *const histogram = create(0.01, 0, 100000);
    picollo_metric_options metric = metric_of("request_seconds", labels, 2);
    uint64_t id = 0;
    char *text;
    metric.help = "How long, \"really\"";
    metric.unit = "seconds";
    metric.divisor = 1e6;
    metric.created_unix_nanos = UINT64_C(1500000000250000000);
    CHECK_OK(picollo_registry_add(registry, histogram, &metric, bounds, 2, &id));
    CHECK(id != 0);
    for (uint64_t i = 0; i < 1000; i++) picollo_histogram_record(histogram, 1000 + i);
    picollo_histogram_free(histogram);
    text = text_of(registry);
    CHECK(strstr(text, "le=\"+Inf\"} 0\n") != NULL);
    free(text);
    CHECK_OK(picollo_registry_update(registry));
    text = text_of(registry);
    *strstr(text, "request_seconds_sum") = 0;
    CHECK_TEXT("# TYPE request_seconds histogram\n"
               "# UNIT request_seconds seconds\n"
               "# HELP request_seconds How long, \\\"really\\\"\n"
               "request_seconds_bucket{method=\"GET\",path=\"/a\\\"b\",le=\"0.001023\"} 24\n"
               "request_seconds_bucket{method=\"GET\",path=\"/a\\\"b\",le=\"0.065535\"} 1000\n"
               "request_seconds_bucket{method=\"GET\",path=\"/a\\\"b\",le=\"+Inf\"} 1000\n"
               "request_seconds_count{method=\"GET\",path=\"/a\\\"b\"} 1000\n",
               text);
    CHECK(strstr(text + strlen(text) + 1, "_created{method=\"GET\",path=\"/a\\\"b\"} 1500000000.250\n# EOF\n") != NULL);
    free(text);
    CHECK_OK(picollo_registry_remove(registry, id));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_remove(registry, id));
    text = text_of(registry);
    CHECK_TEXT("# EOF\n", text);
    free(text);
    picollo_registry_free(registry);
}

static void what_is_refused(void)
{
    static const picollo_label le[] = {{"le", "1"}}, latin[] = {{"a", "\xe9"}}, twice[] = {{"a", "1"}, {"a", "2"}};
    static const uint64_t descending[] = {5, 4};
    static const double infinite[] = {1, INFINITY};
    picollo_registry *const registry = registry_of();
    picollo_histogram *const histogram = create(0.01, 0, 100000);
    picollo_double_histogram *doubles = NULL;
    picollo_metric_options metrics[7], metric = metric_of("x", NULL, 0);
    char *text;
    CHECK_OK(picollo_double_histogram_create(NULL, &doubles));
    CHECK_OK(picollo_registry_add(registry, histogram, &metric, NULL, 0, NULL));
    metrics[0] = metric;
    metrics[1] = metric_of("x_sum", NULL, 0);
    metrics[2] = metric_of("y z", NULL, 0);
    metrics[3] = metric_of("y", le, 1);
    metrics[4] = metric_of("y", latin, 1);
    metrics[5] = metric_of("y", twice, 2);
    metrics[6] = metric_of("y", NULL, 0);
    metrics[6].unit = "seconds";
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++) {
        CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_add(registry, histogram, &metrics[i], NULL, 0, NULL));
        CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_add_double(registry, doubles, &metrics[i], NULL, 0, NULL));
    }
    metric = metric_of("y", NULL, 0);
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_add(registry, histogram, &metric, descending, 2, NULL));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_add_double(registry, doubles, &metric, infinite, 2, NULL));
    metric.flags = PICOLLO_METRIC_SUMMARY << 1;
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_registry_add(registry, histogram, &metric, NULL, 0, NULL));
    metric.flags = 0;
    metric.reserved = 1;
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_registry_add(registry, histogram, &metric, NULL, 0, NULL));
    metric.reserved = 0;
    metric.struct_size = 8;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_add(registry, histogram, &metric, NULL, 0, NULL));
    metric.struct_size = sizeof metric;
    metric.labels_length = UINT64_MAX;
    metric.labels = le;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_add(registry, histogram, &metric, NULL, 0, NULL));
    text = text_of(registry);
    CHECK(strstr(text, "y_") == NULL);
    free(text);
    picollo_double_histogram_free(doubles);
    picollo_histogram_free(histogram);
    picollo_registry_free(registry);
}

static picollo_registry *shared_registry;
static picollo_histogram *shared_histogram;

static void *record_and_scrape(void *number)
{
    const picollo_label label = {"thread", (const char *)number};
    picollo_metric_options metric = metric_of("shared", &label, 1);
    for (int i = 0; i < rounds(2000); i++) {
        uint64_t id = 0;
        char text[8192];
        size_t length;
        CHECK_OK(picollo_registry_add(shared_registry, shared_histogram, &metric, NULL, 0, &id));
        picollo_histogram_record(shared_histogram, (uint64_t)i);
        CHECK_OK(picollo_registry_update(shared_registry));
        CHECK_OK(picollo_registry_encode(shared_registry, PICOLLO_EXPOSITION_OPENMETRICS, text, sizeof text, &length));
        CHECK(length >= 6 && memcmp(text + length - 6, "# EOF\n", 6) == 0);
        CHECK_OK(picollo_registry_remove(shared_registry, id));
    }
    return NULL;
}

static void any_thread(void)
{
    static char numbers[3][2] = {"0", "1", "2"};
    picollo_histogram_options options = default_options();
    pthread_t threads[3];
    options.mode = PICOLLO_MODE_INTERLOCKED;
    options.relative_error = 0.1;
    options.max_trackable = 10000;
    CHECK_OK(picollo_histogram_create(&options, &shared_histogram));
    shared_registry = registry_of();
    for (int i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, record_and_scrape, numbers[i]) == 0);
    for (int i = 0; i < 3; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    picollo_registry_free(shared_registry);
    picollo_histogram_free(shared_histogram);
}

/* Histograms of all sorts, empty ones among them, with awkward labels. */
static int write_a_text(void)
{
    static const picollo_label labels[] = {{"path", "/\"quoted\"\\back\nnew, {line}"}, {"b", ""}, {"c", "\xc3\xa9"}};
    static const double bounds[] = {-1, 0, 0.25, 1e9};
    picollo_registry *const registry = registry_of();
    picollo_histogram *const first = create(0.01, 10, 100000), *const empty = create(0.001, 0, 0);
    picollo_double_histogram *doubles = NULL;
    picollo_metric_options metric = metric_of("request_seconds", labels, 3);
    char *text;
    metric.unit = "seconds";
    metric.help = "How \\ \"long\"\nreally";
    metric.divisor = 1e9;
    CHECK_OK(picollo_registry_add(registry, first, &metric, NULL, 0, NULL));
    metric.labels_length = 2;
    CHECK_OK(picollo_registry_add(registry, empty, &metric, NULL, 0, NULL));
    CHECK_OK(picollo_double_histogram_create(NULL, &doubles));
    metric = metric_of("skew", NULL, 0);
    metric.flags = PICOLLO_METRIC_NO_CREATED;
    CHECK_OK(picollo_registry_add_double(registry, doubles, &metric, bounds, 4, NULL));
    metric = metric_of("ratio", NULL, 0);
    CHECK_OK(picollo_registry_add_double(registry, doubles, &metric, NULL, 0, NULL));
    for (uint64_t i = 0; i < 200000; i += 7) picollo_histogram_record(first, i);
    for (int i = 0; i < 1000; i++) picollo_double_histogram_record(doubles, i * 0.001);
    picollo_double_histogram_record(doubles, NAN);
    CHECK_OK(picollo_registry_update(registry));
    text = text_of(registry);
    fputs(text, stdout);
    free(text);
    picollo_registry_free(registry);
    picollo_double_histogram_free(doubles);
    picollo_histogram_free(empty);
    picollo_histogram_free(first);
    return test_failures;
}

/* What a writer of a shared segment does from its start to its end, in a process of its own. */
static void write_and_end(int file, size_t size, const picollo_histogram_options *options, uint64_t before, uint64_t after)
{
    int status = -1;
    const pid_t child = fork();
    if (child == 0) {
        void *const memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        picollo_histogram *histogram = NULL;
        if (memory == MAP_FAILED || picollo_histogram_init_in(memory, size, options, &histogram) != PICOLLO_OK) _exit(1);
        picollo_histogram_record_n(histogram, 500, before);
        if (picollo_histogram_reset(histogram) != PICOLLO_OK) _exit(2);
        picollo_histogram_record_n(histogram, 500, after);
        _exit(0);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* An exporter that maps a segment, reads it and unmaps it, while its writer starts again each time. */
static void a_segment_whose_writer_starts_again(void)
{
    static const struct {
        uint64_t before, after;
        const char *count;
    } generations[] = {{1000, 70, "\nlatency_count 70\n"}, {5, 30, "\nlatency_count 30\n"}, {400, 0, "\nlatency_count 0\n"}};
    picollo_histogram_options options = default_options();
    picollo_registry *const registry = registry_of();
    picollo_metric_options metric = metric_of("latency", NULL, 0);
    FILE *const file = tmpfile();
    size_t size = 0, align = 0;
    void *place = NULL;
    if (is_quick()) {
        SKIPPED("in the child, memcheck misses what belonged to the parent");
        picollo_registry_free(registry);
        if (file != NULL) fclose(file);
        return;
    }
    metric.flags = PICOLLO_METRIC_SINCE_RESET;
    options.max_trackable = 1000;
    CHECK_OK(picollo_histogram_required_size(&options, &size, &align));
    CHECK(file != NULL && ftruncate(fileno(file), (off_t)size) == 0);
    for (size_t i = 0; i < sizeof generations / sizeof generations[0]; i++) {
        picollo_histogram *histogram = NULL;
        uint64_t id = 0;
        char *text;
        void *memory;
        write_and_end(fileno(file), size, &options, generations[i].before, generations[i].after);
        memory = mmap(place, size, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
        CHECK(memory != MAP_FAILED);
        if (place != NULL && memory != place) printf("SKIPPED: the system maps the segment elsewhere\n");
        place = memory;
        CHECK_OK(picollo_histogram_attach(memory, size, &histogram));
        CHECK_OK(picollo_registry_add(registry, histogram, &metric, NULL, 0, &id));
        CHECK_OK(picollo_registry_update(registry));
        text = text_of(registry);
        CHECK(strstr(text, generations[i].count) != NULL);
        free(text);
        CHECK_OK(picollo_registry_remove(registry, id));
        picollo_histogram_free(histogram);
        CHECK(munmap(memory, size) == 0);
    }
    picollo_registry_free(registry);
    fclose(file);
}

/* A reset changes nothing, unless asked for. */
static void since_the_beginning(void)
{
    picollo_registry *const registry = registry_of();
    picollo_histogram *const histogram = create(0.01, 0, 100000);
    picollo_metric_options metric = metric_of("all", NULL, 0);
    char *text;
    CHECK_OK(picollo_registry_add(registry, histogram, &metric, NULL, 0, NULL));
    metric.name = "some";
    metric.flags = PICOLLO_METRIC_SINCE_RESET;
    CHECK_OK(picollo_registry_add(registry, histogram, &metric, NULL, 0, NULL));
    picollo_histogram_record_n(histogram, 5, 7);
    CHECK_OK(picollo_histogram_reset(histogram));
    picollo_histogram_record(histogram, 5);
    CHECK_OK(picollo_registry_update(registry));
    text = text_of(registry);
    CHECK(strstr(text, "\nall_count 8\n") != NULL && strstr(text, "\nsome_count 1\n") != NULL);
    free(text);
    picollo_histogram_free(histogram);
    picollo_registry_free(registry);
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) return write_a_text();
    RUN(a_scrape);
    RUN(what_is_refused);
    RUN(any_thread);
    RUN(a_segment_whose_writer_starts_again);
    RUN(since_the_beginning);
    return report();
}
