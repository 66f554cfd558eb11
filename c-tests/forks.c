/* Forks, also at awkward moments: while other threads hold the library's locks. The child has only the thread that forked;
 * locks of the others stay held forever. It must still record and read, and never hang. */
#include "test.h"

#include <errno.h>
#include <pthread.h>
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
    if (status == PICOLLO_OK && picollo_registry_add(registry, shared, &metric, bounds, 2, &id, NULL) == PICOLLO_OK) abort();
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
    CHECK_OK(picollo_registry_add(registry, shared, &metric, NULL, 0, NULL, NULL));
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

/* The histograms that a thread records into, in turn. */
static picollo_histogram *volatile given;
static pthread_barrier_t turn;

static void *record_into_what_is_given(void *unused)
{
    for (;;) {
        pthread_barrier_wait(&turn);
        if (given == NULL) return unused;
        picollo_histogram_record(given, 100);
        pthread_barrier_wait(&turn);
    }
}

/* The child of a fork continues: its threads get the counters of the threads that the fork left behind. */
static void a_child_goes_on(void)
{
    pid_t child;
    int status = -1;
    pthread_t thread;
    if (is_quick()) {
        SKIPPED("in the child, memcheck misses what belonged to the threads of the parent");
        return;
    }
#ifdef __SANITIZE_THREAD__
    SKIPPED("ThreadSanitizer starts no threads in the child of a fork");
    return;
#endif
    CHECK(pthread_barrier_init(&turn, NULL, 2) == 0);
    CHECK(pthread_create(&thread, NULL, record_into_what_is_given, NULL) == 0);
    shared = given = create_thread_local();
    pthread_barrier_wait(&turn);
    pthread_barrier_wait(&turn);
    picollo_histogram_record(shared, 100);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        const size_t bytes = footprint_of(shared);
        picollo_histogram_record(shared, 100);
        CHECK(pthread_create(&thread, NULL, record_once, shared) == 0 && pthread_join(thread, NULL) == 0);
        _exit(test_failures == 0 && footprint_of(shared) <= bytes + bytes / 2 && counts_of(shared).total == 4 ? 0 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK_U64(2, counts_of(shared).total);
    given = NULL;
    pthread_barrier_wait(&turn);
    CHECK(pthread_join(thread, NULL) == 0);
    picollo_histogram_free(shared);
}

int main(void)
{
    RUN(children_of_busy_processes_go_on);
    RUN(a_child_goes_on);
    return report();
}
