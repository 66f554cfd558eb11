/* Two copies of the library in one process, one linked and one loaded: each has its own threads' shards, registry and
 * clocks, and neither disturbs the other. Linked with the static library. */
#include <pthread.h>

#include "loaded.h"
#include "test.h"

static picollo_status (*their_create)(const picollo_histogram_options *, picollo_histogram **);
static void (*their_record)(picollo_histogram *, uint64_t);
static picollo_status (*their_summary)(picollo_histogram *, uint32_t, const double *, size_t, picollo_percentile *, picollo_summary *);
static void (*their_free)(picollo_histogram *);
static picollo_status (*their_clock_init)(void);

static picollo_histogram *ours, *theirs;

#define RECORDS 20000

static void *record_into_both(void *unused)
{
    for (int i = 0; i < rounds(RECORDS); i++) {
        picollo_histogram_record(ours, 100);
        if (i % 2 == 0) their_record(theirs, 100);
    }
    return unused;
}

static void both_count_for_themselves(void)
{
    for (int round = 0; round < 20; round++) {
        void *const library = load();
        picollo_histogram_options options = default_options();
        picollo_summary summary;
        pthread_t threads[4];
        find(library, "picollo_histogram_create", &their_create);
        find(library, "picollo_histogram_record", &their_record);
        find(library, "picollo_histogram_summary", &their_summary);
        find(library, "picollo_histogram_free", &their_free);
        find(library, "picollo_clock_init", &their_clock_init);
        CHECK(their_create != picollo_histogram_create);
        CHECK_OK(picollo_clock_init());
        CHECK_OK(their_clock_init());
        options.relative_error = 0.05;
        options.mode = PICOLLO_MODE_THREAD_LOCAL;
        CHECK_OK(picollo_histogram_create(&options, &ours));
        options.mode = PICOLLO_MODE_THREAD_LOCAL;
        CHECK(their_create(&options, &theirs) == PICOLLO_OK);
        for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, record_into_both, NULL) == 0);
        for (int i = 0; i < 4; i++) CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK_OK(picollo_histogram_summary(ours, PICOLLO_VALUE_MIDPOINT, NULL, 0, NULL, &summary));
        CHECK_U64((uint64_t)(4 * rounds(RECORDS)), summary.total_count);
        CHECK(their_summary(theirs, PICOLLO_VALUE_MIDPOINT, NULL, 0, NULL, &summary) == PICOLLO_OK);
        CHECK_U64((uint64_t)(2 * rounds(RECORDS)), summary.total_count);
        their_free(theirs);
        picollo_histogram_free(ours);
        CHECK(dlclose(library) == 0);
    }
}

int main(void)
{
    RUN(both_count_for_themselves);
    return report();
}
