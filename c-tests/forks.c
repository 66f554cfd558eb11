/* Forks at awkward moments: while other threads hold the library's locks. The child has only the thread that forked;
 * locks of the others stay held forever. It must still record and read, and never hang. */
#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static flag_t stop;
static picollo_histogram *shared;
static picollo_registry *registry;

static picollo_histogram *create_thread_local(void)
{
    picollo_histogram_options options = default_options();
    picollo_histogram *histogram = NULL;
    options.mode = PICOLLO_MODE_THREAD_LOCAL;
    options.relative_error = 0.1;
    options.max_trackable = 1000;
    if (picollo_histogram_create(&options, &histogram) != PICOLLO_OK) return NULL;
    return histogram;
}

static void *record_once(void *histogram)
{
    picollo_histogram_record((picollo_histogram *)histogram, 5);
    return NULL;
}

/* Returns the first status that is not PICOLLO_OK. */
static picollo_status work_on_registry(void)
{
    static const uint64_t bounds[] = {10, 100};
    char text[4096];
    size_t length;
    uint64_t id;
    picollo_metric_options metric = PICOLLO_METRIC_OPTIONS_INIT;
    picollo_status status;
    metric.name = "shared";
    status = picollo_registry_update(registry);
    if (status == PICOLLO_OK) status = picollo_registry_encode(registry, PICOLLO_EXPOSITION_OPENMETRICS, text, sizeof text, &length);
    /* Refused, because it is already there. */
    if (status == PICOLLO_OK && picollo_registry_add(registry, shared, &metric, bounds, 2, &id) == PICOLLO_OK) abort();
    return status;
}

/* Takes and releases every lock: creates and frees histograms, threads and recorders. */
static void *disturb(void *unused)
{
    while (!stop) {
        picollo_histogram *const histogram = create_thread_local();
        picollo_recorder recorder;
        pthread_t thread;
        if (histogram == NULL) abort();
        picollo_histogram_record(histogram, 5);
        if (picollo_histogram_recorder(shared, PICOLLO_INLINE_VERSION, &recorder) == PICOLLO_OK) picollo_recorder_release(&recorder);
        if (pthread_create(&thread, NULL, record_once, shared) == 0) pthread_join(thread, NULL);
        picollo_histogram_free(histogram);
    }
    return unused;
}

static void *update_registry(void *unused)
{
    while (!stop && work_on_registry() == PICOLLO_OK) {}
    return unused;
}

/* The work of a child; exits with the number of the first failure, or with 100 if the registry is refused. */
static void be_the_child(picollo_histogram *fresh, uint64_t before)
{
    picollo_snapshot *snapshot = NULL;
    picollo_counts counts;
    picollo_histogram *own;
    pthread_t thread;
    picollo_status status;
    /* This ends a child that hangs. */
    alarm(60);
    /* The first record of this thread into this histogram takes the slow path, with its locks. */
    for (int i = 0; i < 10; i++) picollo_histogram_record(fresh, 5);
    if (pthread_create(&thread, NULL, record_once, fresh) != 0) _exit(2);
    pthread_join(thread, NULL);
    picollo_histogram_record(shared, 5);
    if (picollo_snapshot_create(fresh, &snapshot) != PICOLLO_OK) _exit(3);
    if (picollo_snapshot_counts(snapshot, &counts) != PICOLLO_OK || counts.total != before + 11) _exit(4);
    picollo_snapshot_free(snapshot);
    /* May be refused permanently here, but must not hang. */
    status = work_on_registry();
    if (status != PICOLLO_OK && status != PICOLLO_ERR_FORKED) _exit(5);
    if (work_on_registry() != status) _exit(6);
    picollo_registry_free(registry);
    own = create_thread_local();
    if (own != NULL) picollo_histogram_record(own, 5);
    picollo_histogram_free(own);
    picollo_histogram_free(fresh);
    picollo_histogram_free(shared);
    _exit(status == PICOLLO_OK ? 0 : 100);
}

static void children_of_busy_processes_go_on(void)
{
    const int number = rounds(1000);
    pthread_t threads[4];
    int signalled = 0, wrong = 0, refused = 0;
    picollo_metric_options metric = PICOLLO_METRIC_OPTIONS_INIT;
    if (SANITIZED) {
        SKIPPED("the locks of the sanitizers themselves do not survive such forks");
        return;
    }
    if (is_quick()) {
        SKIPPED("in the child, memcheck misses what belonged to the threads of the parent");
        return;
    }
    shared = create_thread_local();
    CHECK_OK(picollo_registry_create(&registry));
    metric.name = "shared";
    CHECK_OK(picollo_registry_add(registry, shared, &metric, NULL, 0, NULL));
    stop = 0;
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, i < 3 ? disturb : update_registry, NULL) == 0);
    fflush(stdout);
    for (int i = 0; i < number && signalled == 0; i++) {
        picollo_histogram *const fresh = create_thread_local();
        int status = 0;
        pid_t child;
        if (i % 2 == 1) record_once(fresh);
        child = fork();
        if (child == 0) be_the_child(fresh, (uint64_t)(i % 2));
        CHECK(child > 0);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
        signalled += WIFSIGNALED(status);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 100) {
            refused++;
            status = 0;
        }
        wrong += WIFEXITED(status) && WEXITSTATUS(status) != 0;
        if (status != 0) fprintf(stderr, "child %d: status %#x\n", i, (unsigned)status);
        picollo_histogram_free(fresh);
    }
    stop = 1;
    for (int i = 0; i < 4; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    picollo_registry_free(registry);
    picollo_histogram_free(shared);
    CHECK_U64(0, (uint64_t)signalled);
    CHECK_U64(0, (uint64_t)wrong);
    /* Otherwise the moment was not awkward. */
    CHECK(refused > 0 && refused < number);
    printf("%d of %d children were forked while another thread was at work on the registry\n", refused, number);
}

static picollo_histogram *interrupted;
static flag_t handled;

static void on_alarm(int number)
{
    (void)number;
    picollo_histogram_record(interrupted, 7);
    handled++;
}

/* Handlers interrupt reads and record into the histogram being read: every record is in one delta. */
static void signals_during_reads(void)
{
    struct sigaction action;
    struct itimerval often, never;
    memset(&action, 0, sizeof action);
    memset(&often, 0, sizeof often);
    memset(&never, 0, sizeof never);
    action.sa_handler = on_alarm;
    often.it_interval.tv_usec = often.it_value.tv_usec = 100;
    static const uint32_t modes[] = {PICOLLO_MODE_INTERLOCKED, PICOLLO_MODE_THREAD_LOCAL, PICOLLO_MODE_PER_CPU};
    for (int kind = 0; kind < 3; kind++) {
        const uint32_t mode = modes[kind];
        picollo_histogram_options options = default_options();
        picollo_snapshot *snapshot;
        picollo_summary summary;
        picollo_counts counts;
        uint64_t sum = 0;
        options.mode = mode;
        options.relative_error = 0.01;
        CHECK_OK(picollo_histogram_create(&options, &interrupted));
        snapshot = snapshot_of(interrupted);
        /* The first record of a thread may allocate, which a handler must not. */
        picollo_histogram_record(interrupted, 7);
        handled = 0;
        CHECK(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &often, NULL) == 0);
        while (handled < rounds(2000)) {
            CHECK_OK(picollo_snapshot_update(snapshot, 1));
            CHECK_OK(picollo_snapshot_counts(snapshot, &counts));
            sum += counts.total;
            CHECK_OK(picollo_histogram_summary(interrupted, PICOLLO_VALUE_MIDPOINT, NULL, 0, NULL, &summary));
            CHECK_OK(picollo_histogram_reset(interrupted));
        }
        CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0 && signal(SIGALRM, SIG_IGN) != SIG_ERR);
        CHECK_OK(picollo_snapshot_update(snapshot, 1));
        CHECK_OK(picollo_snapshot_counts(snapshot, &counts));
        sum += counts.total;
        CHECK_U64(1 + (uint64_t)handled, sum);
        picollo_snapshot_free(snapshot);
        picollo_histogram_free(interrupted);
    }
}

int main(void)
{
    RUN(children_of_busy_processes_go_on);
    RUN(signals_during_reads);
    return report();
}
