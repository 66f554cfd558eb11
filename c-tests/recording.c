/* A malloc that counts its sizes in thread-local histograms, one for each class of sizes, while the library's registry
 * of such histograms grows. Each record comes from inside one of the library's own allocations. */
#include "test.h"

#include <pthread.h>
#include <unistd.h>

#include "allocator.h"

/* Small sizes, the size of a histogram, and the rest. */
enum { CLASSES = 36, HISTOGRAMS = 200, SECONDS = 120 };

static picollo_histogram *sizes[CLASSES];
static uint64_t asked[CLASSES];
static size_t size_of_a_histogram;
static __thread int records;

static int class_of(size_t size)
{
    if (size == size_of_a_histogram) return 0;
    int class_ = 1;
    while (size > 1 && class_ < CLASSES - 1) {
        size /= 2;
        class_++;
    }
    return class_;
}

static int may_allocate(size_t size)
{
    const int class_ = class_of(size);
    if (records && sizes[class_] != NULL) {
        __atomic_fetch_add(&asked[class_], 1, __ATOMIC_RELAXED);
        picollo_histogram_record(sizes[class_], size);
    }
    return 1;
}

static picollo_histogram *thread_local_histogram(void)
{
    picollo_histogram_options options = default_options();
    options.mode = PICOLLO_MODE_THREAD_LOCAL;
    options.relative_error = 0.1;
    options.max_trackable = 1 << 30;
    return create_from(&options);
}

/* A thread without records makes a histogram, and records the allocations of that. */
static void *make_one(void *argument)
{
    records = 1;
    *(picollo_histogram **)argument = thread_local_histogram();
    records = 0;
    return NULL;
}

/* Its first records, for blocks of all sizes. */
static void *allocate(void *argument)
{
    (void)argument;
    for (int round = 0; round < 50; round++) {
        records = 1;
        for (int shift = 0; shift < 14; shift++) {
            void *volatile block = malloc((size_t)1 << shift);
            free(block);
        }
        records = 0;
    }
    return NULL;
}

static void whatever_is_allocated_may_be_recorded(void)
{
    static picollo_histogram *made[HISTOGRAMS], *between[64];
    pthread_t thread, others[2];
    size_t footprint;
    sizes[0] = thread_local_histogram();
    footprint = footprint_of(sizes[0]);
    /* The histograms in between get the low indices in the tables of threads. */
    for (int i = 0; i < 64; i++) between[i] = thread_local_histogram();
    for (int i = 1; i < CLASSES; i++) sizes[i] = thread_local_histogram();
    size_of_a_histogram = footprint;
    for (int i = 0; i < HISTOGRAMS; i++) {
        CHECK(pthread_create(&thread, NULL, make_one, &made[i]) == 0);
        CHECK(pthread_create(&others[0], NULL, allocate, NULL) == 0);
        CHECK(pthread_create(&others[1], NULL, allocate, NULL) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
        for (int other = 0; other < 2; other++) CHECK(pthread_join(others[other], NULL) == 0);
    }
    for (int i = 0; i < HISTOGRAMS; i++) picollo_histogram_free(made[i]);
    for (int i = 0; i < 64; i++) picollo_histogram_free(between[i]);
    uint64_t all = 0;
    for (int i = 0; i < CLASSES; i++) {
        const picollo_counts counts = counts_of(sizes[i]);
        CHECK_U64(asked[i], counts.total + counts.overflow);
        CHECK_U64(0, counts.lost);
        all += asked[i];
    }
    CHECK(asked[0] >= HISTOGRAMS && all > HISTOGRAMS * 2);
    for (int i = 0; i < CLASSES; i++) {
        picollo_histogram *const histogram = sizes[i];
        sizes[i] = NULL;
        picollo_histogram_free(histogram);
    }
}

int main(void)
{
    /* A hanging test is ended, and fails. */
    alarm(SECONDS);
    RUN(whatever_is_allocated_may_be_recorded);
    return report();
}
