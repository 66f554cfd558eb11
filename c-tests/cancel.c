/* Threads that are cancelled inside the library. A cancellation unwinds the stack by force, which Rust's frames do not
 * survive: the process would end. So no call is a cancellation point; it stays pending until the caller's own code. */
#include "test.h"

#include <dirent.h>
#include <pthread.h>
#include <unistd.h>

static int descriptors(void)
{
    DIR *const directory = opendir("/proc/self/fd");
    int count = 0;
    if (directory == NULL) return 0;
    while (readdir(directory) != NULL) count++;
    closedir(directory);
    return count;
}

/* The objects that the calls use. */
static picollo_histogram *histogram;
static picollo_snapshot *snapshot;
static picollo_registry *registry;

static void create_session(void)
{
    const picollo_event events[2] = {parse("page-faults"), parse("task-clock")};
    picollo_session *const session = open_events(NULL, events, 2);
    if (session != NULL) picollo_session_free(session);
}

/* Everything that a session can do. */
static void use_session(void)
{
    const picollo_event events[2] = {parse("page-faults"), parse("context-switches")};
    picollo_reading readings[2];
    picollo_session *const session = open_events(NULL, events, 2);
    if (session == NULL) return;
    for (int i = 0; i < 10; i++) {
        CHECK_OK(picollo_session_read(session, i % 2 ? PICOLLO_READ_AUTO : PICOLLO_READ_SYSCALL, NULL));
        CHECK_OK(readings_of(session, 1, readings, 2));
        CHECK_OK(picollo_session_record(session, 1));
    }
    CHECK_OK(picollo_session_disable(session, NULL));
    CHECK_OK(picollo_session_enable(session, NULL));
    CHECK_OK(picollo_session_calibrate(session, NULL));
    CHECK_OK(picollo_session_reset(session, NULL));
    picollo_session_free(session);
}

static void refuse_session(void)
{
    /* No machine has this: the explanation reads the kernel's files. */
    picollo_event event = parse("page-faults");
    picollo_error error;
    picollo_session *session = NULL;
    event.type = 999;
    CHECK_STATUS(PICOLLO_ERR_NO_SUCH_EVENT, picollo_session_create(NULL, &event, 1, &session, &error));
}

static void parse_events(void)
{
    picollo_event event;
    picollo_error error;
    CHECK_OK(picollo_event_parse("cycles", &event, &error));
    CHECK(picollo_event_parse("sched:sched_no_such", &event, &error) != PICOLLO_OK);
    CHECK(picollo_event_parse("no_such_pmu/event=1/", &event, &error) != PICOLLO_OK);
    (void)picollo_event_parse("msr/tsc/", &event, &error);
}

static void probe(void)
{
    picollo_perf_info info;
    CHECK_OK(picollo_perf_probe(&info, NULL));
}

static void benchmark(void)
{
    picollo_benchmark *benchmark = NULL;
    picollo_benchmark_options options = PICOLLO_BENCHMARK_OPTIONS_INIT;
    picollo_event event = parse("page-faults");
    picollo_error error;
    uint32_t which;
    uint64_t repetitions;
    CHECK_OK(picollo_benchmark_create(&options, &event, 1, &benchmark, &error));
    if (benchmark == NULL) return;
    for (int i = 0; i < 20; i++) {
        if (picollo_benchmark_next(benchmark, &which, &repetitions, NULL) != PICOLLO_OK) break;
        picollo_work_add_chain_256(1);
        CHECK_OK(picollo_benchmark_done(benchmark, NULL));
    }
    picollo_benchmark_free(benchmark);
}

static void use_clocks(void)
{
    uint64_t hertz = 0;
    CHECK_OK(picollo_clock_init());
    CHECK(picollo_clock_ticks(PICOLLO_CLOCK_TSC) != 0);
    CHECK_OK(picollo_clock_frequency(PICOLLO_CLOCK_TSC, &hertz));
    CHECK(picollo_clock_convert(PICOLLO_CLOCK_TSC, hertz, PICOLLO_UNIT_NANOS) > 0);
}

static void use_histograms(void)
{
    static const uint32_t modes[] = {PICOLLO_MODE_SINGLE_WRITER, PICOLLO_MODE_INTERLOCKED, PICOLLO_MODE_THREAD_LOCAL, PICOLLO_MODE_PER_CPU};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        picollo_histogram_options options = default_options();
        picollo_summary summary;
        picollo_histogram *own;
        picollo_snapshot *copy;
        options.mode = modes[i];
        own = create_from(&options);
        for (uint64_t value = 0; value < 1000; value++) picollo_histogram_record(own, value);
        copy = snapshot_of(own);
        CHECK_OK(picollo_histogram_summary(own, PICOLLO_VALUE_MIDPOINT, NULL, 0, NULL, &summary));
        CHECK_U64(1000, summary.total_count);
        CHECK_OK(picollo_histogram_reset(own));
        picollo_snapshot_free(copy);
        picollo_histogram_free(own);
        /* This thread's first record into a histogram that others use. */
        picollo_histogram_record(histogram, 5);
    }
}

static void use_registry(void)
{
    static const uint64_t bounds[] = {10, 100};
    char text[4096];
    size_t length;
    picollo_metric_options metric = PICOLLO_METRIC_OPTIONS_INIT;
    uint64_t id = 0;
    picollo_histogram *const own = create(0.1, 1, 1000);
    metric.name = "cancelled";
    /* Refused while another thread's is in the registry. */
    if (picollo_registry_add(registry, own, &metric, bounds, 2, &id) == PICOLLO_OK) {
        CHECK_OK(picollo_registry_update(registry));
        CHECK_OK(picollo_registry_encode(registry, PICOLLO_EXPOSITION_OPENMETRICS, text, sizeof text, &length));
        CHECK_OK(picollo_registry_remove(registry, id));
    }
    picollo_histogram_free(own);
}

static void use_logs(void)
{
    static char text[16384];
    picollo_log_reader *reader = NULL;
    picollo_snapshot *decoded = NULL;
    picollo_log_interval interval;
    size_t length = 0;
    char *const log = (char *)malloc(sizeof text);
    CHECK_OK(picollo_log_format_interval(snapshot, 0, 1, NULL, log, sizeof text, &length));
    CHECK_OK(picollo_log_reader_create(log, length, &reader));
    CHECK_OK(picollo_log_reader_next(reader, &interval));
    CHECK_OK(picollo_log_reader_decode(reader, 0, &decoded));
    picollo_snapshot_free(decoded);
    picollo_log_reader_free(reader);
    free(log);
}

static void (*const CALLS[])(void) = {
    use_clocks, create_session, use_session, refuse_session, parse_events, probe, benchmark, use_histograms, use_registry, use_logs,
};
enum { NUMBER = sizeof CALLS / sizeof CALLS[0] };

static flag_t finished;

/* The cancellation is pending from the beginning: the first call that acts on it ends the process, or leaves its work
 * undone. */
static void *call_while_cancelled(void *call)
{
    pthread_cancel(pthread_self());
    (*(void (*const *)(void))call)();
    finished = 1;
    pthread_testcancel();
    finished = 2;
    return NULL;
}

static void calls_do_not_act_on_a_pending_cancellation(void)
{
    const int before = descriptors();
    for (int i = 0; i < NUMBER; i++) {
        pthread_t thread;
        void *result = NULL;
        void (*call)(void) = CALLS[i];
        finished = 0;
        CHECK(pthread_create(&thread, NULL, call_while_cancelled, &call) == 0);
        CHECK(pthread_join(thread, &result) == 0);
        if (result != PTHREAD_CANCELED || finished != 1) {
            fprintf(stderr, "call %d: finished %d, cancelled %d\n", i, (int)finished, result == PTHREAD_CANCELED);
            test_failures++;
        }
    }
    CHECK(descriptors() == before);
}

static void *call_for_ever(void *call)
{
    for (;;) {
        (*(void (*const *)(void))call)();
        pthread_testcancel();
    }
    return NULL;
}

/* Other threads cancel them at any moment. */
static void threads_are_cancelled_at_any_moment(void)
{
    const int number = rounds(200), before = descriptors();
    uint64_t random = 1;
    for (int i = 0; i < number; i++) {
        pthread_t threads[2];
        for (int t = 0; t < 2; t++) {
            const size_t k = (next_random(&random) >> 33) % NUMBER;
            CHECK(pthread_create(&threads[t], NULL, call_for_ever, (void *)&CALLS[k]) == 0);
        }
        usleep((useconds_t)((next_random(&random) >> 33) % 300));
        for (int t = 0; t < 2; t++) {
            void *result = NULL;
            CHECK(pthread_cancel(threads[t]) == 0);
            CHECK(pthread_join(threads[t], &result) == 0);
            CHECK(result == PTHREAD_CANCELED);
        }
    }
    CHECK(descriptors() == before);
}

/* The caller's own setting is unchanged. */
static void the_state_is_left_as_it_was(void)
{
    int state = -1;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    create_session();
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    CHECK(state == PTHREAD_CANCEL_DISABLE);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    create_session();
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
    CHECK(state == PTHREAD_CANCEL_ENABLE);
}

int main(void)
{
    picollo_histogram_options options = default_options();
    picollo_histogram *logged;
    options.mode = PICOLLO_MODE_THREAD_LOCAL;
    histogram = create_from(&options);
    options = default_options();
    options.significant_digits = 2;
    options.max_trackable = 100000;
    logged = create_from(&options);
    for (uint64_t value = 0; value < 1000; value++) picollo_histogram_record(logged, value);
    snapshot = snapshot_of(logged);
    CHECK_OK(picollo_registry_create(&registry));
    RUN(calls_do_not_act_on_a_pending_cancellation);
    RUN(threads_are_cancelled_at_any_moment);
    RUN(the_state_is_left_as_it_was);
    picollo_registry_free(registry);
    picollo_snapshot_free(snapshot);
    picollo_histogram_free(logged);
    picollo_histogram_free(histogram);
    return report();
}
