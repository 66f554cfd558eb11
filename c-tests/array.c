/* Arrays of histograms: each one by itself, references that outlive the array, and neighbours written by two threads. */
#include "test.h"

#include <pthread.h>

#define LENGTH 100

static picollo_histogram_array *array_of(uint32_t mode, uint32_t storage, size_t length)
{
    picollo_histogram_options options = default_options();
    picollo_histogram_array *array = NULL;
    options.mode = mode;
    options.storage = storage;
    options.relative_error = 0.01;
    options.max_trackable = 100000;
    CHECK_OK(picollo_histogram_array_create(&options, length, &array));
    if (array == NULL) abort();
    return array;
}

static uint64_t total(picollo_histogram *histogram)
{
    picollo_summary summary;
    CHECK_OK(picollo_histogram_summary(histogram, PICOLLO_VALUE_MIDPOINT, &summary));
    return summary.total_count;
}

static void each_counts_by_itself(void)
{
    for (uint32_t mode = 0; mode < 4; mode++) {
        for (uint32_t storage = 0; storage < 2; storage++) {
            picollo_histogram_array *array;
            if (storage == PICOLLO_STORAGE_SPARSE && mode >= PICOLLO_MODE_THREAD_LOCAL) continue;
            array = array_of(mode, storage, LENGTH);
            CHECK_U64(LENGTH, picollo_histogram_array_length(array));
            for (size_t i = 0; i < LENGTH; i++) {
                for (size_t n = 0; n < i; n++) picollo_histogram_array_record(array, i, 1000 + i);
                picollo_histogram_record_n(picollo_histogram_array_borrow(array, i), 99999, 2);
            }
            picollo_histogram_array_record(array, LENGTH, 5);
            picollo_histogram_array_record(array, SIZE_MAX, 5);
            CHECK_OK(picollo_histogram_reset(picollo_histogram_array_borrow(array, 7)));
            for (size_t i = 0; i < LENGTH; i++) {
                CHECK_U64(i == 7 ? 0 : i + 2, total(picollo_histogram_array_borrow(array, i)));
            }
            picollo_histogram_array_free(array);
        }
    }
}

static void references_keep_the_array(void)
{
    picollo_histogram_array *array = array_of(PICOLLO_MODE_INTERLOCKED, PICOLLO_STORAGE_DENSE, 3);
    picollo_histogram *kept = NULL;
    picollo_snapshot *snapshot;
    picollo_counts counts;
    CHECK_OK(picollo_histogram_array_ref(array, 1, &kept));
    CHECK(kept == picollo_histogram_array_borrow(array, 1));
    snapshot = snapshot_of(picollo_histogram_array_borrow(array, 2));
    CHECK(picollo_histogram_array_retain(array) == array && picollo_histogram_array_retain(NULL) == NULL);
    picollo_histogram_array_free(array);
    picollo_histogram_array_record(array, 2, 5);
    picollo_histogram_array_free(array);
    picollo_histogram_record(kept, 5);
    CHECK_U64(1, total(kept));
    picollo_histogram_free(kept);
    CHECK_OK(picollo_snapshot_update(snapshot, 0));
    CHECK_OK(picollo_snapshot_counts(snapshot, &counts));
    CHECK_U64(1, counts.total);
    picollo_snapshot_free(snapshot);
}

static void recorders(void)
{
    picollo_histogram_array *array = array_of(PICOLLO_MODE_SINGLE_WRITER, PICOLLO_STORAGE_DENSE, 2);
    picollo_recorder recorder;
    CHECK_OK(picollo_histogram_recorder(picollo_histogram_array_borrow(array, 1), PICOLLO_INLINE_VERSION, &recorder));
    ((uint64_t *)recorder.counters)[3] += 4;
    CHECK_U64(0, total(picollo_histogram_array_borrow(array, 0)));
    CHECK_U64(4, total(picollo_histogram_array_borrow(array, 1)));
    picollo_histogram_array_free(array);
    picollo_recorder_release(&recorder);
}

static void arguments(void)
{
    picollo_histogram_array *array = NULL;
    picollo_histogram *histogram = NULL;
    picollo_histogram_options options = default_options();
    size_t one = 0, many = 0;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_histogram_array_create(NULL, 0, &array));
    CHECK_STATUS(PICOLLO_ERR_OUT_OF_MEMORY, picollo_histogram_array_create(NULL, SIZE_MAX, &array));
    options.mode = PICOLLO_MODE_SCALABLE;
    options.storage = PICOLLO_STORAGE_SPARSE;
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_histogram_array_create(&options, 2, &array));
    CHECK(array == NULL);
    array = array_of(PICOLLO_MODE_SINGLE_WRITER, PICOLLO_STORAGE_DENSE, 10);
    CHECK(picollo_histogram_array_borrow(array, 10) == NULL);
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_histogram_array_ref(array, 10, &histogram));
    CHECK(histogram == NULL);
    CHECK_OK(picollo_histogram_footprint(picollo_histogram_array_borrow(array, 0), &one));
    CHECK_OK(picollo_histogram_array_footprint(array, &many));
    CHECK_U64(64 + 10 * one, many);
    for (size_t i = 0; i < 10; i++) CHECK((uintptr_t)picollo_histogram_array_borrow(array, i) % 64 == 0);
    picollo_histogram_array_free(array);
}

static picollo_histogram_array *shared_array;

static void *write_own(void *index)
{
    picollo_histogram *kept = NULL;
    for (int i = 0; i < rounds(300000); i++) {
        picollo_histogram_array_record(shared_array, *(const size_t *)index, (uint64_t)i % 1000);
        if (i % 1000 == 0) {
            picollo_histogram_free(kept);
            CHECK_OK(picollo_histogram_array_ref(shared_array, (size_t)i % 4, &kept));
        }
    }
    picollo_histogram_free(kept);
    return NULL;
}

static void neighbours_have_writers_of_their_own(void)
{
    pthread_t threads[4];
    size_t indices[4];
    shared_array = array_of(PICOLLO_MODE_SINGLE_WRITER, PICOLLO_STORAGE_DENSE, 4);
    for (size_t i = 0; i < 4; i++) {
        indices[i] = i;
        CHECK(pthread_create(&threads[i], NULL, write_own, &indices[i]) == 0);
    }
    for (int i = 0; i < 4; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    for (size_t i = 0; i < 4; i++) CHECK_U64((uint64_t)rounds(300000), total(picollo_histogram_array_borrow(shared_array, i)));
    picollo_histogram_array_free(shared_array);
}

int main(void)
{
    RUN(each_counts_by_itself);
    RUN(references_keep_the_array);
    RUN(recorders);
    RUN(arguments);
    RUN(neighbours_have_writers_of_their_own);
    return report();
}
