/* Deliberate faults that a checker must find, one at a time. Each is inside the library, so a checker that ignores the
 * library is detected. ci/sanitizers.sh runs it before it trusts a clean result.
 *
 *   planted none|race|overflow|use-after-free|leak */
#include "test.h"

#include <pthread.h>

/* Updates of one snapshot must not overlap; these do. */
static void *update_again_and_again(void *snapshot)
{
    for (int i = 0; i < 1000; i++) (void)picollo_snapshot_update((picollo_snapshot *)snapshot, 0);
    return NULL;
}

static void race(picollo_snapshot *snapshot)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        if (pthread_create(&threads[i], NULL, update_again_and_again, snapshot) != 0) abort();
    }
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

/* Room for three, but the library gets a length of four. */
static void overflow(picollo_snapshot *snapshot)
{
    const double ranks[4] = {25, 50, 75, 100};
    uint64_t *const values = (uint64_t *)malloc(3 * sizeof *values);
    if (values == NULL) abort();
    (void)picollo_snapshot_percentile_values(snapshot, ranks, 4, PICOLLO_VALUE_MIDPOINT, values);
    free(values);
}

int main(int number, char **arguments)
{
    const char *const fault = number == 2 ? arguments[1] : "";
    picollo_histogram *histogram = create(0.01, 0, 1000);
    picollo_snapshot *snapshot;
    picollo_histogram_record(histogram, 5);
    snapshot = snapshot_of(histogram);
    if (strcmp(fault, "race") == 0) {
        race(snapshot);
    } else if (strcmp(fault, "overflow") == 0) {
        overflow(snapshot);
    } else if (strcmp(fault, "use-after-free") == 0) {
        picollo_histogram *volatile freed = histogram;
        picollo_snapshot_free(snapshot);
        picollo_histogram_free(histogram);
        (void)picollo_histogram_reset(freed);
        return 0;
    } else if (strcmp(fault, "leak") == 0) {
        histogram = create(0.01, 0, 2000);
    } else if (strcmp(fault, "none") != 0) {
        return 2;
    }
    picollo_snapshot_free(snapshot);
    /* The leaked one is not freed here. */
    if (strcmp(fault, "leak") != 0) picollo_histogram_free(histogram);
    histogram = NULL;
    tests_passed = 1;
    return report();
}
