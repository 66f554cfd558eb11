/* One thread writes; others read, reset and free beside it. */
#include "test.h"

#include <pthread.h>

#ifdef __cplusplus
#include <atomic>
typedef std::atomic<int> flag_t;
#else
#include <stdatomic.h>
typedef atomic_int flag_t;
#endif

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

/* Adds up deltas until everything was written, and then once more. */
static void *add_deltas(void *sums)
{
    picollo_counts *const sum = (picollo_counts *)sums;
    picollo_snapshot *const snapshot = snapshot_of(histogram);
    int last;
    CHECK_OK(picollo_snapshot_counts(snapshot, sum));
    do {
        picollo_counts counts;
        last = written;
        CHECK_OK(picollo_snapshot_update(snapshot, 1));
        CHECK_OK(picollo_snapshot_counts(snapshot, &counts));
        sum->total += counts.total;
        sum->underflow += counts.underflow;
        sum->lost += counts.lost;
    } while (!last);
    picollo_snapshot_free(snapshot);
    return NULL;
}

static void *reset_again_and_again(void *unused)
{
    while (!written) {
        const picollo_status status = picollo_histogram_reset(histogram);
        CHECK(status == PICOLLO_OK || status == PICOLLO_ERR_BUSY);
    }
    return unused;
}

static void deltas_add_up_beside_a_writer(void)
{
    for (uint32_t bits = 32; bits <= 64; bits += 32) {
        picollo_histogram_options options = default_options();
        picollo_counts sums[2];
        pthread_t writer, resetter, monitors[2];
        options.mode = PICOLLO_MODE_SINGLE_WRITER;
        options.counter_bits = bits;
        options.relative_error = 0.01;
        options.min_trackable = 100;
        written = 0;
        CHECK_OK(picollo_histogram_create(&options, &histogram));
        /* The first delta counts from the last reset, so the monitors start before there is one. */
        memset(sums, 0, sizeof sums);
        CHECK(pthread_create(&monitors[0], NULL, add_deltas, &sums[0]) == 0);
        CHECK(pthread_create(&monitors[1], NULL, add_deltas, &sums[1]) == 0);
        CHECK(pthread_create(&writer, NULL, write_values, NULL) == 0);
        CHECK(pthread_join(monitors[0], NULL) == 0 && pthread_join(monitors[1], NULL) == 0);
        CHECK(pthread_join(writer, NULL) == 0);
        for (int i = 0; i < 2; i++) {
            CHECK_U64((uint64_t)rounds(VALUES), sums[i].total + sums[i].underflow);
            CHECK(sums[i].underflow > sums[i].total / 20);
        }

        /* The same beside resets, from one snapshot taken before them. */
        written = 0;
        {
            picollo_snapshot *const snapshot = snapshot_of(histogram);
            picollo_counts counts, sum = {0, 0, 0, 0};
            CHECK(pthread_create(&resetter, NULL, reset_again_and_again, NULL) == 0);
            CHECK(pthread_create(&writer, NULL, write_values, NULL) == 0);
            for (int last = 0; !last;) {
                last = written;
                CHECK_OK(picollo_snapshot_update(snapshot, 1));
                CHECK_OK(picollo_snapshot_counts(snapshot, &counts));
                sum.total += counts.total;
                sum.underflow += counts.underflow;
            }
            CHECK_U64((uint64_t)rounds(VALUES), sum.total + sum.underflow);
            picollo_snapshot_free(snapshot);
            CHECK(pthread_join(resetter, NULL) == 0 && pthread_join(writer, NULL) == 0);
        }
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

int main(void)
{
    RUN(deltas_add_up_beside_a_writer);
    RUN(references_are_counted_on_all_threads);
    return report();
}
