/* One thread writes; others read, reset and free meanwhile; all of them add to a registry and scrape it. */
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

static picollo_registry *registry;

static void *record_and_scrape(void *number)
{
    const picollo_label label = {"thread", (const char *)number};
    picollo_metric_options metric = PICOLLO_METRIC_OPTIONS_INIT;
    metric.name = "shared";
    metric.labels = &label;
    metric.labels_length = 1;
    for (int i = 0; i < rounds(2000); i++) {
        uint64_t id = 0;
        char text[8192];
        size_t length;
        CHECK_OK(picollo_registry_add(registry, histogram, &metric, NULL, 0, &id));
        picollo_histogram_record(histogram, (uint64_t)i);
        CHECK_OK(picollo_registry_update(registry));
        CHECK_OK(picollo_registry_encode(registry, PICOLLO_EXPOSITION_OPENMETRICS, text, sizeof text, &length));
        CHECK(length >= 6 && memcmp(text + length - 6, "# EOF\n", 6) == 0);
        CHECK_OK(picollo_registry_remove(registry, id));
    }
    return NULL;
}

static void registries_are_for_any_thread(void)
{
    static char numbers[3][2] = {"0", "1", "2"};
    picollo_histogram_options options = default_options();
    pthread_t threads[3];
    options.mode = PICOLLO_MODE_INTERLOCKED;
    options.relative_error = 0.1;
    options.max_trackable = 10000;
    CHECK_OK(picollo_histogram_create(&options, &histogram));
    CHECK_OK(picollo_registry_create(&registry));
    for (int i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, record_and_scrape, numbers[i]) == 0);
    for (int i = 0; i < 3; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    picollo_registry_free(registry);
    picollo_histogram_free(histogram);
}

int main(void)
{
    RUN(deltas_add_up_beside_a_writer_and_resets);
    RUN(references_are_counted_on_all_threads);
    RUN(registries_are_for_any_thread);
    return report();
}
