/* Many threads record: every mode, threads that come and go, and histograms that do. */
#include "test.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <picollo_inline.h>

static picollo_histogram *create_mode(uint32_t mode, uint32_t counter_bits)
{
    picollo_histogram_options options = default_options();
    options.mode = mode;
    options.counter_bits = counter_bits;
    options.relative_error = 0.01;
    options.min_trackable = 10;
    options.max_trackable = 100000;
    return create_from(&options);
}

static void start(pthread_t *thread, void *(*body)(void *), void *argument)
{
    if (pthread_create(thread, NULL, body, argument) != 0) abort();
}

static void run_on_a_thread(void *(*body)(void *), void *argument)
{
    pthread_t thread;
    start(&thread, body, argument);
    CHECK(pthread_join(thread, NULL) == 0);
}

#define RECORDS 200000

static void *record_in_every_way(void *argument)
{
    picollo_histogram *const histogram = (picollo_histogram *)argument;
    uint64_t values[100];
    for (uint64_t i = 0; i < 100; i++) values[i] = i * 20;
    for (int i = 0; i < rounds(RECORDS); i += 200) {
        for (int j = 0; j < 80; j++) picollo_histogram_record(histogram, 10 + (uint64_t)(j * i) % 1000);
        picollo_histogram_record_n(histogram, 500, 20);
        picollo_histogram_record_batch(histogram, values, 100);
    }
    return NULL;
}

static void threads_lose_nothing(void)
{
    for (uint32_t mode = PICOLLO_MODE_INTERLOCKED; mode <= PICOLLO_MODE_PER_CPU; mode++) {
        if (mode == PICOLLO_MODE_SINGLE_WRITER) continue;
        for (uint32_t bits = mode == PICOLLO_MODE_PER_CPU ? 64 : 32; bits <= 64; bits += 32) {
            const uint64_t each = (uint64_t)(rounds(RECORDS) + 199) / 200;
            picollo_histogram *const histogram = create_mode(mode, bits);
            pthread_t threads[4];
            picollo_counts counts;
            for (int i = 0; i < 4; i++) start(&threads[i], record_in_every_way, histogram);
            for (int i = 0; i < 4; i++) CHECK(pthread_join(threads[i], NULL) == 0);
            counts = counts_of(histogram);
            CHECK_U64(4 * each, counts.underflow);
            CHECK_U64(0, counts.overflow);
            if (mode == PICOLLO_MODE_SCALABLE) {
                picollo_summary summary;
                const double error = (double)counts.total / (double)(4 * each * 199) - 1;
                CHECK(fabs(error) < 0.02);
                CHECK_OK(picollo_histogram_summary(histogram, PICOLLO_VALUE_MIDPOINT, &summary));
                CHECK(summary.flags == PICOLLO_SUMMARY_APPROXIMATE);
            } else {
                CHECK_U64(4 * each * 199, counts.total);
            }
            CHECK_OK(picollo_histogram_reset(histogram));
            CHECK_U64(0, counts_of(histogram).total);
            picollo_histogram_free(histogram);
        }
    }
}

#define MANY 2000000

static pthread_barrier_t together;

static void *record_many(void *argument)
{
    pthread_barrier_wait(&together);
    for (int i = 0; i < rounds(MANY); i++) picollo_histogram_record((picollo_histogram *)argument, (uint64_t)i % 4);
    return NULL;
}

/* What a first program does: no options, and two threads. A single writer would lose about half of it on two cores. */
static void the_default_is_for_any_number_of_threads(void)
{
    picollo_histogram_options options = default_options();
    picollo_histogram_array *array;
    picollo_histogram *histograms[3];
    CHECK(pthread_barrier_init(&together, NULL, 2) == 0);
    CHECK_OK(picollo_histogram_create(NULL, &histograms[0]));
    options.storage = PICOLLO_STORAGE_SPARSE;
    CHECK_OK(picollo_histogram_create(&options, &histograms[1]));
    CHECK_OK(picollo_histogram_array_create(NULL, 2, &array));
    CHECK_OK(picollo_histogram_array_ref(array, 1, &histograms[2]));
    for (int i = 0; i < 3; i++) {
        pthread_t threads[2];
        picollo_counts counts;
        for (int t = 0; t < 2; t++) start(&threads[t], record_many, histograms[i]);
        for (int t = 0; t < 2; t++) CHECK(pthread_join(threads[t], NULL) == 0);
        counts = counts_of(histograms[i]);
        CHECK_U64(2 * (uint64_t)rounds(MANY), counts.total);
        CHECK_U64(0, counts.lost);
        picollo_histogram_free(histograms[i]);
    }
    picollo_histogram_array_free(array);
}

#define ALIVE 8

static picollo_histogram *shared;
static pthread_barrier_t barrier;

static void *record_beside_others(void *unused)
{
    picollo_histogram_record(shared, 100);
    pthread_barrier_wait(&barrier);
    picollo_histogram_record(shared, 1000);
    return unused;
}

static void ten_thousand_threads_take_the_memory_of_eight(void)
{
    const int waves = rounds(10000 / ALIVE);
    pthread_t threads[ALIVE];
    size_t after_the_first = 0, empty;
    shared = create_mode(PICOLLO_MODE_THREAD_LOCAL, 0);
    empty = footprint_of(shared);
    CHECK(pthread_barrier_init(&barrier, NULL, ALIVE) == 0);
    for (int wave = 0; wave < waves; wave++) {
        for (int i = 0; i < ALIVE; i++) start(&threads[i], record_beside_others, NULL);
        for (int i = 0; i < ALIVE; i++) CHECK(pthread_join(threads[i], NULL) == 0);
        if (wave == 0) after_the_first = footprint_of(shared);
    }
    CHECK(after_the_first > empty);
    CHECK_U64(after_the_first, footprint_of(shared));
    CHECK_U64((uint64_t)(2 * ALIVE * waves), counts_of(shared).total);
    picollo_histogram_free(shared);
    pthread_barrier_destroy(&barrier);
}

/* What a thread is given to record into, one after another. */
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

static void histograms_come_and_go_while_a_thread_lives(void)
{
    pthread_t thread;
    CHECK(pthread_barrier_init(&turn, NULL, 2) == 0);
    start(&thread, record_into_what_is_given, NULL);
    for (int round = 0; round < rounds(5000); round++) {
        given = create_mode(PICOLLO_MODE_THREAD_LOCAL, round % 2 == 0 ? 32 : 64);
        pthread_barrier_wait(&turn);
        pthread_barrier_wait(&turn);
        if (round % 3 == 0) picollo_histogram_record(given, 100);
        CHECK_U64(round % 3 == 0 ? 2 : 1, counts_of(given).total);
        picollo_histogram_free(given);
    }
    given = NULL;
    pthread_barrier_wait(&turn);
    CHECK(pthread_join(thread, NULL) == 0);
    pthread_barrier_destroy(&turn);
}

#define HISTOGRAMS 100

static picollo_histogram *many[HISTOGRAMS];

static void *record_into_many(void *argument)
{
    uint64_t state = (uint64_t)(uintptr_t)argument;
    for (int i = 0; i < rounds(100000); i++) {
        const uint64_t value = next_random(&state) >> 40;
        picollo_histogram_record(many[value % HISTOGRAMS], 10 + value % 1000);
    }
    return NULL;
}

static void many_histograms_at_once(void)
{
    pthread_t threads[4];
    uint64_t total = 0;
    for (int i = 0; i < HISTOGRAMS; i++) many[i] = create_mode(PICOLLO_MODE_THREAD_LOCAL, 0);
    for (uintptr_t i = 0; i < 4; i++) start(&threads[i], record_into_many, (void *)(i + 1));
    for (int i = 0; i < 4; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    for (int i = 0; i < HISTOGRAMS; i++) {
        total += counts_of(many[i]).total;
        picollo_histogram_free(many[i]);
    }
    CHECK_U64((uint64_t)(4 * rounds(100000)), total);
}

static pthread_key_t key;

/* Called for what a thread left at the key, after all thread-local objects of C++ and of the library are gone. */
static void record_at_the_end(void *histogram)
{
    for (int i = 0; i < 10; i++) picollo_histogram_record((picollo_histogram *)histogram, 700);
}

static void *leave_it_to_the_key(void *histogram)
{
    pthread_setspecific(key, histogram);
    return NULL;
}

static void *record_and_leave_it_to_the_key(void *histogram)
{
    picollo_histogram_record((picollo_histogram *)histogram, 70);
    return leave_it_to_the_key(histogram);
}

static void records_in_the_last_moments_of_threads(void)
{
    const int threads = rounds(5000);
    picollo_histogram *histogram = create_mode(PICOLLO_MODE_THREAD_LOCAL, 0);
    size_t bytes;
    CHECK(pthread_key_create(&key, record_at_the_end) == 0);
    for (int i = 0; i < threads; i++) run_on_a_thread(record_and_leave_it_to_the_key, histogram);
    CHECK_U64((uint64_t)(11 * threads), counts_of(histogram).total);
    bytes = footprint_of(histogram);
    picollo_histogram_free(histogram);

    /* The same as the first that a thread ever records. glibc keeps 32 bytes for each such thread for ever: it accepts
     * destructors then that it will not run. */
    if (SANITIZED || is_quick()) {
        SKIPPED("the first record of a thread in a destructor of a key leaks in glibc, as checkers would say");
        pthread_key_delete(key);
        return;
    }
    histogram = create_mode(PICOLLO_MODE_THREAD_LOCAL, 0);
    for (int i = 0; i < threads; i++) run_on_a_thread(leave_it_to_the_key, histogram);
    CHECK_U64((uint64_t)(10 * threads), counts_of(histogram).total);
    CHECK_U64(bytes, footprint_of(histogram));
    picollo_histogram_free(histogram);
    pthread_key_delete(key);
}

struct job {
    picollo_histogram *histogram;
    picollo_recorder recorder;
    uint64_t number;
};

static void *take_a_recorder(void *argument)
{
    struct job *const job = (struct job *)argument;
    CHECK_OK(picollo_histogram_recorder(job->histogram, PICOLLO_INLINE_VERSION, &job->recorder));
    return NULL;
}

static void *record_inline(void *argument)
{
    struct job *const job = (struct job *)argument;
    const picollo_recorder recorder = job->recorder;
    for (uint64_t i = 0; i < job->number; i++) picollo_recorder_record(&recorder, i % 200000);
    return NULL;
}

static void recorders_of_a_thread_local_histogram(void)
{
    for (uint32_t bits = 32; bits <= 64; bits += 32) {
        picollo_histogram *const histogram = create_mode(PICOLLO_MODE_THREAD_LOCAL, bits);
        const uint64_t number = (uint64_t)rounds(1000000);
        struct job jobs[4];
        pthread_t threads[4];
        picollo_counts counts;
        size_t bytes;
        for (int i = 0; i < 4; i++) {
            jobs[i].histogram = histogram;
            jobs[i].number = number;
            /* Each is taken by a thread that is gone when another records through it. */
            run_on_a_thread(take_a_recorder, &jobs[i]);
            for (int j = 0; j < i; j++) CHECK(jobs[j].recorder.counters != jobs[i].recorder.counters);
        }
        for (int i = 0; i < 4; i++) start(&threads[i], record_inline, &jobs[i]);
        for (int i = 0; i < 4; i++) CHECK(pthread_join(threads[i], NULL) == 0);
        counts = counts_of(histogram);
        CHECK_U64(4 * number, counts.total + counts.underflow + counts.overflow);
        CHECK_U64(0, counts.lost);
        CHECK(counts.underflow >= 40);
        bytes = footprint_of(histogram);
        picollo_recorder_release(&jobs[0].recorder);
        CHECK_U64(4 * number, counts.total + counts.underflow + counts.overflow);
        /* What was released is used again. */
        run_on_a_thread(take_a_recorder, &jobs[0]);
        CHECK_U64(bytes, footprint_of(histogram));
        for (int i = 1; i < 4; i++) picollo_recorder_release(&jobs[i].recorder);
        /* The last one keeps the histogram. */
        picollo_histogram_free(histogram);
        run_on_a_thread(record_inline, &jobs[0]);
        counts = counts_of(histogram);
        CHECK_U64(5 * number, counts.total + counts.underflow + counts.overflow);
        picollo_recorder_release(&jobs[0].recorder);
    }
}

static void on_alarm(int signal)
{
    (void)signal;
    picollo_histogram_record(shared, 50);
    picollo_histogram_record(shared, 5);
    given = shared;
}

/* A signal handler that interrupts records: interlocked counts both. */
static void signal_handlers_record(void)
{
    struct sigaction action;
    struct itimerval often, never;
    uint64_t recorded = 0, handled;
    picollo_counts counts;
    memset(&action, 0, sizeof action);
    memset(&often, 0, sizeof often);
    memset(&never, 0, sizeof never);
    action.sa_handler = on_alarm;
    often.it_interval.tv_usec = often.it_value.tv_usec = 50;
    for (uint32_t bits = 32; bits <= 64; bits += 32) {
        shared = create_mode(PICOLLO_MODE_INTERLOCKED, bits);
        CHECK(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &often, NULL) == 0);
        recorded = 0;
        for (uint64_t more = 1; more != 0; recorded++) {
            picollo_histogram_record(shared, 50);
            if (recorded % 1000 == 999) more = counts_of(shared).underflow < (uint64_t)rounds(1000);
        }
        /* One may be on its way still. */
        CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0 && signal(SIGALRM, SIG_IGN) != SIG_ERR);
        counts = counts_of(shared);
        handled = counts.underflow;
        CHECK(handled >= (uint64_t)rounds(1000));
        CHECK_U64(recorded + handled, counts.total);
        picollo_histogram_free(shared);
    }
}

/* Memory that processes share: made here, found and recorded into there, read and reset here. */
static void processes_share_a_histogram(void)
{
    picollo_histogram_options options = default_options();
    picollo_histogram *histogram = NULL;
    picollo_snapshot *snapshot;
    picollo_counts counts;
    size_t size = 0, alignment = 0;
    void *memory;
    pid_t children[2];
    uint64_t sum = 0;
    const uint64_t each = (uint64_t)rounds(1000000);
    options.mode = PICOLLO_MODE_INTERLOCKED;
    options.relative_error = 0.01;
    CHECK_OK(picollo_histogram_required_size(&options, &size, &alignment));
    memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) abort();
    CHECK_OK(picollo_histogram_init_in(memory, size, &options, &histogram));
    snapshot = snapshot_of(histogram);
    fflush(stdout);
    for (int i = 0; i < 2; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            picollo_histogram *found = NULL;
            if (picollo_histogram_attach(memory, size, &found) != PICOLLO_OK) _exit(1);
            for (uint64_t record = 0; record < each; record++) picollo_histogram_record(found, record);
            picollo_histogram_free(found);
            _exit(0);
        }
    }
    for (int left = 2; left > 0;) {
        int status = 0;
        if (waitpid(-1, &status, WNOHANG) > 0) {
            CHECK(status == 0);
            left--;
        }
        CHECK_OK(picollo_snapshot_update(snapshot, 1));
        CHECK_OK(picollo_snapshot_counts(snapshot, &counts));
        sum += counts.total;
        CHECK_OK(picollo_histogram_reset(histogram));
    }
    CHECK_OK(picollo_snapshot_update(snapshot, 1));
    CHECK_OK(picollo_snapshot_counts(snapshot, &counts));
    CHECK_U64(2 * each, sum + counts.total);
    picollo_snapshot_free(snapshot);
    picollo_histogram_free(histogram);
    munmap(memory, size);
}

/* The child of a fork goes on: its threads get what the threads that the fork left behind had. */
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
    start(&thread, record_into_what_is_given, NULL);
    given = shared = create_mode(PICOLLO_MODE_THREAD_LOCAL, 0);
    pthread_barrier_wait(&turn);
    pthread_barrier_wait(&turn);
    picollo_histogram_record(shared, 100);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        const size_t bytes = footprint_of(shared);
        picollo_histogram_record(shared, 100);
        run_on_a_thread(record_in_every_way, shared);
        _exit(footprint_of(shared) <= bytes + bytes / 2 && counts_of(shared).total > 3 ? 0 : 1);
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
    RUN(threads_lose_nothing);
    RUN(the_default_is_for_any_number_of_threads);
    RUN(ten_thousand_threads_take_the_memory_of_eight);
    RUN(histograms_come_and_go_while_a_thread_lives);
    RUN(many_histograms_at_once);
    RUN(records_in_the_last_moments_of_threads);
    RUN(recorders_of_a_thread_local_histogram);
    RUN(signal_handlers_record);
    RUN(processes_share_a_histogram);
    RUN(a_child_goes_on);
    return report();
}
