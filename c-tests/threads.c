/* picollo.h on many threads. They record in every mode, also in their last moments; others read, reset and free meanwhile.
 * core/tests/threads/shards.rs tests what happens to their memory. */
#include "test.h"

#include <pthread.h>

static picollo_histogram *histogram;
static flag_t written;

#define VALUES 3000000

static void *write_values(void *unused)
{
    uint64_t state = 1;
    const int number = rounds(VALUES);
    for (int i = 0; i < number; i++) picollo_histogram_record(histogram, (next_random(&state) >> 40) % 1000);
    written = 1;
    return unused;
}

static void *reset_again_and_again(void *unused)
{
    while (!written) {
        const picollo_status status = picollo_histogram_reset(histogram);
        CHECK(status == PICOLLO_OK || status == PICOLLO_ERR_BUSY);
    }
    return unused;
}

/* The deltas of one snapshot, taken before the first reset. */
static void deltas_add_up_beside_a_writer_and_resets(void)
{
    for (uint32_t bits = 32; bits <= 64; bits += 32) {
        picollo_histogram_options options = default_options();
        picollo_counts counts, sum = {0, 0, 0, 0};
        pthread_t writer, resetter;
        options.mode = PICOLLO_MODE_SINGLE_WRITER;
        options.counter_bits = bits;
        options.relative_error = 0.01;
        options.min_trackable = 100;
        written = 0;
        CHECK_OK(picollo_histogram_create(&options, &histogram));
        picollo_snapshot *const snapshot = snapshot_of(histogram);
        CHECK(pthread_create(&resetter, NULL, reset_again_and_again, NULL) == 0);
        CHECK(pthread_create(&writer, NULL, write_values, NULL) == 0);
        for (int last = 0; !last;) {
            last = written;
            CHECK_OK(picollo_snapshot_update(snapshot, PICOLLO_SINCE_PREVIOUS));
            CHECK_OK(picollo_snapshot_counts(snapshot, &counts));
            sum.total += counts.total;
            sum.underflow += counts.underflow;
        }
        CHECK(pthread_join(resetter, NULL) == 0 && pthread_join(writer, NULL) == 0);
        CHECK_U64((uint64_t)rounds(VALUES), sum.total + sum.underflow);
        CHECK(sum.underflow > sum.total / 20);
        picollo_snapshot_free(snapshot);
        picollo_histogram_free(histogram);
    }
}

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

int main(void)
{
    RUN(deltas_add_up_beside_a_writer_and_resets);
    RUN(references_are_counted_on_all_threads);
    RUN(threads_lose_nothing);
    RUN(the_default_is_for_any_number_of_threads);
    RUN(records_in_the_last_moments_of_threads);
    return report();
}
