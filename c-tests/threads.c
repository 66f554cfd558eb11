/* picollo.h on many threads. They record in every mode, also in their last moments; others read, reset and free meanwhile.
 * core/tests/threads/shards.rs tests what happens to their memory. */
#include "test.h"

#include <pthread.h>

static picollo_histogram *histogram;

static void *take_and_free(void *unused)
{
    for (int i = 0; i < rounds(2000); i++) {
        picollo_snapshot *first = snapshot_of(histogram), *second = snapshot_of(histogram);
        picollo_recorder recorder;
        CHECK_OK(picollo_histogram_recorder(histogram, PICOLLO_INLINE_VERSION, &recorder));
        picollo_snapshot_free(first);
        picollo_recorder_release(&recorder);
        picollo_snapshot_free(second);
    }
    return unused;
}

static void references_are_counted_on_all_threads(void)
{
    pthread_t threads[4];
    picollo_snapshot *last;
    picollo_counts counts;
    histogram = create_single_writer(0.1, 0, 1000);
    picollo_histogram_record(histogram, 5);
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, take_and_free, NULL) == 0);
    for (int i = 0; i < 4; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    last = snapshot_of(histogram);
    picollo_histogram_free(histogram);
    CHECK_OK(picollo_snapshot_update(last, 0));
    CHECK_OK(picollo_snapshot_counts(last, &counts));
    CHECK_U64(1, counts.total);
    picollo_snapshot_free(last);
}

static picollo_histogram *create_thread_local(void)
{
    picollo_histogram_options options = default_options();
    options.mode = PICOLLO_MODE_THREAD_LOCAL;
    options.relative_error = 0.01;
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

#define RECORDS 1000000

static pthread_barrier_t together;

static void *record_in_every_way(void *unused)
{
    uint64_t values[100];
    for (uint64_t i = 0; i < 100; i++) values[i] = i * 20;
    pthread_barrier_wait(&together);
    for (int i = 0; i < rounds(RECORDS); i += 200) {
        for (int j = 0; j < 80; j++) picollo_histogram_record(histogram, 10 + (uint64_t)(j * i) % 1000);
        picollo_histogram_record_n(histogram, 500, 20);
        picollo_histogram_record_batch(histogram, values, 100);
    }
    return unused;
}

/* The first is that of a typical first program, without options: a single writer would lose about half on two cores. */
static void threads_lose_nothing(void)
{
    static const struct {
        uint32_t mode, storage, bits;
    } kinds[] = {
        {PICOLLO_MODE_INTERLOCKED, PICOLLO_STORAGE_DENSE, 0},   {PICOLLO_MODE_INTERLOCKED, PICOLLO_STORAGE_SPARSE, 0},
        {PICOLLO_MODE_INTERLOCKED, PICOLLO_STORAGE_DENSE, 32},  {PICOLLO_MODE_INTERLOCKED, PICOLLO_STORAGE_DENSE, 64},
        {PICOLLO_MODE_THREAD_LOCAL, PICOLLO_STORAGE_DENSE, 32}, {PICOLLO_MODE_THREAD_LOCAL, PICOLLO_STORAGE_DENSE, 64},
        {PICOLLO_MODE_PER_CPU, PICOLLO_STORAGE_DENSE, 64},
    };
    const uint64_t each = (uint64_t)(rounds(RECORDS) + 199) / 200;
    CHECK(pthread_barrier_init(&together, NULL, 4) == 0);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        picollo_histogram_options options = default_options();
        pthread_t threads[4];
        picollo_counts counts;
        options.mode = kinds[i].mode;
        options.storage = kinds[i].storage;
        options.counter_bits = kinds[i].bits;
        options.min_trackable = 10;
        options.max_trackable = 100000;
        CHECK_OK(picollo_histogram_create(i == 0 ? NULL : &options, &histogram));
        for (int t = 0; t < 4; t++) start(&threads[t], record_in_every_way, NULL);
        for (int t = 0; t < 4; t++) CHECK(pthread_join(threads[t], NULL) == 0);
        counts = counts_of(histogram);
        CHECK_U64(i == 0 ? 0 : 4 * each, counts.underflow);
        CHECK_U64(4 * each * 200, counts.total + counts.underflow);
        CHECK_OK(picollo_histogram_reset(histogram));
        CHECK_U64(0, counts_of(histogram).total);
        picollo_histogram_free(histogram);
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
    picollo_histogram *histogram = create_thread_local();
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
    histogram = create_thread_local();
    for (int i = 0; i < threads; i++) run_on_a_thread(leave_it_to_the_key, histogram);
    CHECK_U64((uint64_t)(10 * threads), counts_of(histogram).total);
    CHECK_U64(bytes, footprint_of(histogram));
    picollo_histogram_free(histogram);
    pthread_key_delete(key);
}

int main(void)
{
    RUN(references_are_counted_on_all_threads);
    RUN(threads_lose_nothing);
    RUN(records_in_the_last_moments_of_threads);
    return report();
}
