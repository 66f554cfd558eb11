/* The library is loaded while threads live, recorded into, and unloaded before the threads end. */
#include <pthread.h>
#include <unistd.h>

#include "loaded.h"
#include "test.h"

static picollo_status (*histogram_create)(const picollo_histogram_options *, picollo_histogram **);
static void (*histogram_record)(picollo_histogram *, uint64_t);
static picollo_status (*histogram_summary)(picollo_histogram *, uint32_t, const double *, size_t, picollo_percentile *, picollo_summary *);
static void (*histogram_free)(picollo_histogram *);

static void *load_and_find(void)
{
    void *const library = load();
    find(library, "picollo_histogram_create", &histogram_create);
    find(library, "picollo_histogram_record", &histogram_record);
    find(library, "picollo_histogram_summary", &histogram_summary);
    find(library, "picollo_histogram_free", &histogram_free);
    return library;
}

#define THREADS 8
#define RECORDS 1000

static picollo_histogram *histogram;
static pthread_barrier_t barrier;
static int stop;

/* These threads began before the library was loaded, and end after it was unloaded. */
static void *record_and_outlive(void *is_busy)
{
    volatile uint64_t work = 0;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < RECORDS; i++) histogram_record(histogram, 100);
    pthread_barrier_wait(&barrier);
    while (is_busy != NULL && !__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) work++;
    pthread_barrier_wait(&barrier);
    return NULL;
}

static void load_and_unload(uint32_t mode, void *is_busy, int number)
{
    for (int round = 0; round < number; round++) {
        picollo_histogram_options options = default_options();
        picollo_summary summary;
        pthread_t threads[THREADS];
        void *library;
        __atomic_store_n(&stop, 0, __ATOMIC_RELEASE);
        CHECK(pthread_barrier_init(&barrier, NULL, THREADS + 1) == 0);
        for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, record_and_outlive, is_busy) == 0);
        library = load_and_find();
        options.mode = mode;
        options.relative_error = 0.05;
        CHECK(histogram_create(&options, &histogram) == PICOLLO_OK);
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
        /* Every second time also by the main thread, which never ends. */
        if (round % 2 == 1) histogram_record(histogram, 100);
        CHECK(histogram_summary(histogram, PICOLLO_VALUE_MIDPOINT, NULL, 0, NULL, &summary) == PICOLLO_OK);
        CHECK_U64(THREADS * RECORDS + (uint64_t)(round % 2), summary.total_count);
        histogram_free(histogram);
        CHECK(dlclose(library) == 0);
        /* Long enough for eight threads to run on a few processors. */
        if (is_busy != NULL) usleep(50000);
        __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
        pthread_barrier_wait(&barrier);
        for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
        pthread_barrier_destroy(&barrier);
    }
}

static void threads_outlive_the_library(void)
{
    load_and_unload(PICOLLO_MODE_THREAD_LOCAL, NULL, 2 * rounds(50));
}

/* After a thread's last record, the kernel reads its leftover state at the next interruption of the thread; here, some
 * time after the library was unloaded. */
static void the_kernel_outlives_it_too(void)
{
    load_and_unload(PICOLLO_MODE_PER_CPU, &stop, rounds(20) + 1);
}

int main(void)
{
    RUN(the_kernel_outlives_it_too);
    RUN(threads_outlive_the_library);
    return report();
}
