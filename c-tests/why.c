/* picollo_why.h: collectors of exemplars, used as in a program. */
#include "test.h"

#include <pthread.h>
#include <time.h>

static picollo_exemplars *collector_of(picollo_histogram *histogram, const picollo_exemplars_options *options)
{
    picollo_exemplars *exemplars = NULL;
    picollo_error error;
    const picollo_status status = picollo_exemplars_create(histogram, options, &exemplars, &error);
    CHECK_STATUS(PICOLLO_OK, status);
    if (status != PICOLLO_OK) puts(error.message);
    return exemplars;
}

static void work_for(uint64_t nanos)
{
    const uint64_t begin = picollo_clock_ticks(PICOLLO_CLOCK_MONOTONIC);
    while (picollo_clock_ticks(PICOLLO_CLOCK_MONOTONIC) - begin < nanos) {}
}

static void sleep_for(long nanos)
{
    const struct timespec time = {0, nanos};
    nanosleep(&time, NULL);
}

static void refused(void)
{
    picollo_histogram *histogram = create_from(NULL);
    const picollo_exemplars_options init = PICOLLO_EXEMPLARS_OPTIONS_INIT;
    for (int wrong = 0; wrong < 4; wrong++) {
        picollo_exemplars_options options = init;
        picollo_exemplars *exemplars = NULL;
        if (wrong == 0) options.reserved = 1;
        if (wrong == 1) options.flags = UINT32_C(1) << 31;
        if (wrong == 2) options.unit = 99;
        if (wrong == 3) options.slowest = 65537;
        const picollo_status expected = wrong < 2 ? PICOLLO_ERR_UNSUPPORTED : PICOLLO_ERR_INVALID_ARGUMENT;
        CHECK_STATUS(expected, picollo_exemplars_create(histogram, &options, &exemplars, NULL));
        CHECK(exemplars == NULL);
    }
    /* Without the slowest, only values above the threshold are kept. */
    picollo_exemplars_options options = init;
    options.flags = PICOLLO_EXEMPLARS_NO_SLOWEST;
    options.threshold = 1000;
    picollo_exemplars *exemplars = collector_of(histogram, &options);
    picollo_exemplar_interval interval;
    /* A thread's first value is always kept. */
    picollo_exemplars_offer(exemplars, 900, NULL);
    CHECK_U64(0, picollo_exemplars_offer(exemplars, 900, NULL));
    CHECK_U64(1, picollo_exemplars_offer(exemplars, 1000000, NULL));
    CHECK_OK(picollo_exemplars_collect(exemplars, NULL));
    CHECK_STATUS(PICOLLO_OK, picollo_exemplars_interval(exemplars, &interval));
    CHECK_U64(3, interval.observations);
    CHECK_U64(1, interval.slow);
    picollo_exemplars_free(exemplars);
    picollo_histogram_free(histogram);
}

/* One request among ordinary ones sleeps: it is the slowest, with its own time, and its identifier leads to it. */
static void the_slowest_has_its_request_and_its_time(void)
{
    picollo_histogram *histogram = create_from(NULL);
    picollo_exemplars *exemplars = collector_of(histogram, NULL);
    const picollo_status prepared = picollo_exemplars_prepare_thread(exemplars, NULL);
    CHECK(prepared == PICOLLO_OK || prepared == PICOLLO_ERR_UNSUPPORTED);
    for (uint64_t request = 1; request <= 1000; request++) {
        picollo_exemplar_scope scope;
        picollo_exemplars_begin(exemplars, &scope);
        work_for(20000);
        if (request == 750) sleep_for(200000000);
        if (picollo_exemplars_end(exemplars, &scope) == PICOLLO_EXEMPLAR_KEPT) {
            picollo_exemplar_context context;
            memset(&context, 0, sizeof context);
            context.words[0] = request;
            context.trace_id[0] = 0xab;
            CHECK_STATUS(PICOLLO_OK, picollo_exemplars_annotate(exemplars, &scope, &context));
        }
    }
    picollo_exemplar_interval interval;
    CHECK_STATUS(PICOLLO_ERR_EMPTY, picollo_exemplars_interval(exemplars, &interval));
    CHECK_STATUS(PICOLLO_OK, picollo_exemplars_collect(exemplars, NULL));
    CHECK_STATUS(PICOLLO_OK, picollo_exemplars_interval(exemplars, &interval));
    CHECK_U64(1000, interval.observations);
    CHECK_U64(0, interval.threshold);
    picollo_exemplar slowest;
    CHECK_STATUS(PICOLLO_OK, picollo_exemplars_get(exemplars, 0, &slowest));
    CHECK_U64(750, slowest.context.words[0]);
    CHECK_U64(0xab, slowest.context.trace_id[0]);
    CHECK(slowest.wall_nanos >= 200000000 && slowest.value == slowest.wall_nanos);
    CHECK(slowest.known & PICOLLO_KNOWN_ACCOUNTS);
    CHECK(slowest.cpu_nanos < slowest.window_nanos - 150000000 && slowest.voluntary > 0);
    if (prepared == PICOLLO_OK) {
        CHECK(slowest.known & PICOLLO_KNOWN_RUN_DELAY);
        /* If the machine lets it run afterwards. Under a checker so short a time gives few controls, and some of them
         * are among the slowest. */
        CHECK(slowest.cause == PICOLLO_CAUSE_OWN_WAITING || slowest.run_delay_nanos > 50000000 ||
              (slowest.cause == PICOLLO_CAUSE_NOT_KNOWN && interval.controls < 30));
    }
    double shares = 0;
    for (uint32_t cause = PICOLLO_CAUSE_OWN_WAITING; cause <= PICOLLO_CAUSE_NOT_KNOWN; cause++) {
        picollo_exemplar_share share;
        CHECK_OK(picollo_exemplars_share(exemplars, cause, &share));
        shares += share.share;
    }
    CHECK(shares == 0 || fabs(shares - 1) < 1e-9);
    picollo_registry *registry = NULL;
    picollo_metric_options metric = PICOLLO_METRIC_OPTIONS_INIT;
    uint64_t id = 0;
    metric.name = "requests";
    CHECK_OK(picollo_registry_create(&registry));
    CHECK_OK(picollo_registry_add(registry, histogram, &metric, NULL, 0, &id, NULL));
    CHECK_OK(picollo_exemplars_publish(exemplars, registry, id, NULL));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_exemplars_publish(exemplars, registry, id + 1, NULL));
    picollo_registry_free(registry);
    static char text[50001];
    size_t length;
    CHECK_OK(picollo_exemplars_format(exemplars, PICOLLO_TEXT_HUMAN, text, sizeof text, &length));
    CHECK(strstr(text, "id 750") != NULL && strstr(text, "The slowest") != NULL);
    CHECK_OK(picollo_exemplars_format(exemplars, PICOLLO_TEXT_HTML, text, sizeof text, &length));
    CHECK(strncmp(text, "<section class=\"picollo-slow\">", 30) == 0 && length == strlen(text) && strstr(text, "<td>750</td></tr>") != NULL);
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_exemplars_format(exemplars, PICOLLO_TEXT_HTML, text, length, &length));
    CHECK(text[0] == 0);
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_exemplars_format(exemplars, PICOLLO_TEXT_HTML + 1, text, sizeof text, &length));
    picollo_exemplars_free(exemplars);
    picollo_histogram_free(histogram);
}

#define THREADS 4
#define OFFERS 20000

static void *offer_many(void *shared)
{
    picollo_exemplars *const exemplars = (picollo_exemplars *)shared;
    for (uint64_t i = 1; i <= OFFERS; i++) {
        picollo_exemplars_offer(exemplars, i << 40, NULL);
        if (i % 100 == 0) {
            picollo_exemplar_scope scope;
            picollo_exemplars_begin(exemplars, &scope);
            picollo_exemplars_end(exemplars, &scope);
        }
    }
    return NULL;
}

/* Intervals end meanwhile. */
static void many_threads_are_in_one_interval_each_time(void)
{
    picollo_histogram *histogram = create_from(NULL);
    picollo_exemplars *exemplars = collector_of(histogram, NULL);
    pthread_t threads[THREADS];
    uint64_t observations = 0, largest = 0;
    for (int i = 0; i < THREADS; i++) CHECK_U64(0, pthread_create(&threads[i], NULL, offer_many, exemplars));
    for (int i = 0; i <= 20; i++) {
        if (i == 20) {
            for (int j = 0; j < THREADS; j++) CHECK_U64(0, pthread_join(threads[j], NULL));
        }
        picollo_exemplar_interval interval;
        picollo_exemplar slowest;
        CHECK_STATUS(PICOLLO_OK, picollo_exemplars_collect(exemplars, NULL));
        CHECK_STATUS(PICOLLO_OK, picollo_exemplars_interval(exemplars, &interval));
        observations += interval.observations;
        if (picollo_exemplars_get(exemplars, 0, &slowest) == PICOLLO_OK && slowest.value > largest) largest = slowest.value;
    }
    CHECK_U64(THREADS * (OFFERS + OFFERS / 100), observations);
    CHECK_U64((uint64_t)OFFERS << 40, largest);
    picollo_exemplars_free(exemplars);
    picollo_histogram_free(histogram);
}

static void nothing_is_taken_for_something(void)
{
    picollo_exemplar_scope scope;
    memset(&scope, 0xff, sizeof scope);
    picollo_exemplars_begin(NULL, &scope);
    CHECK(scope.exemplars == NULL);
    CHECK_U64(0, picollo_exemplars_end(NULL, &scope));
    picollo_exemplars_begin(NULL, NULL);
    CHECK_U64(0, picollo_exemplars_end(NULL, NULL));
    CHECK_U64(0, picollo_exemplars_offer(NULL, 1, NULL));
    picollo_exemplars_free(NULL);
}

int main(void)
{
    RUN(refused);
    RUN(the_slowest_has_its_request_and_its_time);
    RUN(many_threads_are_in_one_interval_each_time);
    RUN(nothing_is_taken_for_something);
    return report();
}
