/* Many threads record, in every mode, in their last moments and after a fork. core/tests/shards.rs tests what happens
 * to their memory. */
#include "test.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

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
        if (mode == PICOLLO_MODE_SINGLE_WRITER || mode == 3) continue; /* there is no mode 3 */
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
            CHECK_U64(4 * each * 199, counts.total);
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

/* A typical first program: no options, and two threads. A single writer would lose about half of it on two cores. */
static void the_default_is_for_any_number_of_threads(void)
{
    picollo_histogram_options options = default_options();
    picollo_histogram *histograms[2];
    CHECK(pthread_barrier_init(&together, NULL, 2) == 0);
    CHECK_OK(picollo_histogram_create(NULL, &histograms[0]));
    options.storage = PICOLLO_STORAGE_SPARSE;
    CHECK_OK(picollo_histogram_create(&options, &histograms[1]));
    for (int i = 0; i < 2; i++) {
        pthread_t threads[2];
        picollo_counts counts;
        for (int t = 0; t < 2; t++) start(&threads[t], record_many, histograms[i]);
        for (int t = 0; t < 2; t++) CHECK(pthread_join(threads[t], NULL) == 0);
        counts = counts_of(histograms[i]);
        CHECK_U64(2 * (uint64_t)rounds(MANY), counts.total);
        CHECK_U64(0, counts.lost);
        picollo_histogram_free(histograms[i]);
    }
}

static pthread_key_t key;

/* Runs for the value that a thread left at the key, after all thread-local objects of C++ and of the library are
 * gone. */
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

    /* The same, as the first record of a thread. glibc keeps 32 bytes for each such thread forever: it accepts
     * destructors then, but will not run them. */
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
    start(&thread, record_into_what_is_given, NULL);
    picollo_histogram *const shared = given = create_mode(PICOLLO_MODE_THREAD_LOCAL, 0);
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
    RUN(records_in_the_last_moments_of_threads);
    RUN(a_child_goes_on);
    return report();
}
