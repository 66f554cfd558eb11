/* Sparse histograms: small while mostly empty, the same counts as dense ones, a limit, and what is lost to it. */
#include "test.h"

#include <pthread.h>

static picollo_histogram *sparse(uint32_t mode, uint32_t counter_bits, uint32_t flags, uint64_t max_bytes)
{
    picollo_histogram_options options = default_options();
    options.mode = mode;
    options.storage = PICOLLO_STORAGE_SPARSE;
    options.counter_bits = counter_bits;
    options.flags = flags;
    options.max_bytes = max_bytes;
    return create_from(&options);
}

static void ten_values_take_little(void)
{
    for (uint32_t bits = 32; bits <= 64; bits += 32) {
        picollo_histogram_options options = default_options();
        picollo_histogram *const histogram = sparse(PICOLLO_MODE_INTERLOCKED, bits, 0, 0), *dense = NULL;
        options.counter_bits = bits;
        CHECK_OK(picollo_histogram_create(&options, &dense));
        for (int i = 0; i < 10; i++) picollo_histogram_record(histogram, UINT64_C(3) << (6 * i));
        CHECK(footprint_of(histogram) * 20 < footprint_of(dense));
        picollo_histogram_free(dense);
        picollo_histogram_free(histogram);
    }
}

static void as_dense_ones_count(void)
{
    for (uint32_t mode = PICOLLO_MODE_INTERLOCKED; mode <= PICOLLO_MODE_SINGLE_WRITER; mode++) {
        picollo_histogram *const histogram = sparse(mode, 64, 0, 0), *const dense = create(0.001, 0, UINT64_MAX);
        picollo_snapshot *first, *second;
        uint64_t state = 1;
        for (int i = 0; i < 10000; i++) {
            const uint64_t value = next_random(&state) >> (i % 64);
            picollo_histogram_record(histogram, value);
            picollo_histogram_record(dense, value);
            if (i == 5000) {
                CHECK_OK(picollo_histogram_reset(histogram));
                CHECK_OK(picollo_histogram_reset(dense));
            }
        }
        first = snapshot_of(histogram);
        second = snapshot_of(dense);
        for (double rank = 0; rank <= 100; rank += 0.5) {
            uint64_t a = 1, b = 2;
            CHECK_OK(picollo_snapshot_percentile_values(first, &rank, 1, PICOLLO_VALUE_MIDPOINT, &a));
            CHECK_OK(picollo_snapshot_percentile_values(second, &rank, 1, PICOLLO_VALUE_MIDPOINT, &b));
            CHECK_U64(b, a);
        }
        CHECK_U64(4999, counts_of(histogram).total);
        picollo_snapshot_free(second);
        picollo_snapshot_free(first);
        picollo_histogram_free(dense);
        picollo_histogram_free(histogram);
    }
}

static void a_limit_holds_and_what_does_not_fit_is_lost(void)
{
    picollo_histogram_options options = default_options();
    picollo_histogram *histogram = sparse(PICOLLO_MODE_INTERLOCKED, 64, 0, 0), *none = NULL;
    const size_t empty = footprint_of(histogram);
    size_t one;
    picollo_counts counts;
    picollo_histogram_record(histogram, 5);
    one = footprint_of(histogram) - empty;
    picollo_histogram_free(histogram);

    /* Less than an empty one takes. */
    options.mode = PICOLLO_MODE_INTERLOCKED;
    options.storage = PICOLLO_STORAGE_SPARSE;
    options.max_bytes = empty - 1;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_histogram_create(&options, &none));
    CHECK(none == NULL);

    histogram = sparse(PICOLLO_MODE_INTERLOCKED, 64, 0, empty + 2 * one);
    for (int i = 0; i < 5; i++) picollo_histogram_record_n(histogram, UINT64_C(1) << (10 * i), 10);
    picollo_histogram_record(histogram, 1);
    CHECK_U64(empty + 2 * one, footprint_of(histogram));
    counts = counts_of(histogram);
    CHECK_U64(21, counts.total);
    CHECK_U64(30, counts.lost);
    /* A reset needs room for the baseline of what was counted, and there is none. */
    CHECK_STATUS(PICOLLO_ERR_OUT_OF_MEMORY, picollo_histogram_reset(histogram));
    CHECK_U64(21, counts_of(histogram).total);
    picollo_histogram_free(histogram);

    /* With room it works, and starts the lost ones anew, too. */
    histogram = sparse(PICOLLO_MODE_INTERLOCKED, 64, 0, empty + 2 * one + 100);
    picollo_histogram_record(histogram, 1);
    CHECK_OK(picollo_histogram_reset(histogram));
    picollo_histogram_record(histogram, UINT64_MAX);
    counts = counts_of(histogram);
    CHECK(counts.total == 0 && counts.lost == 1);
    picollo_histogram_free(histogram);

    /* Dense storage has its size from the beginning, whatever the limit says. */
    options.storage = PICOLLO_STORAGE_DENSE;
    options.max_bytes = 1;
    CHECK_OK(picollo_histogram_create(&options, &none));
    picollo_histogram_free(none);
}

static void what_it_does_not_offer(void)
{
    static const uint32_t modes[] = {PICOLLO_MODE_THREAD_LOCAL, PICOLLO_MODE_SCALABLE, PICOLLO_MODE_PER_CPU};
    picollo_histogram_options options = default_options();
    picollo_histogram *histogram = NULL;
    picollo_recorder recorder;
    size_t size = 77, align = 77;
    options.storage = PICOLLO_STORAGE_SPARSE;
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_histogram_required_size(&options, &size, &align));
    for (int i = 0; i < 3; i++) {
        options.mode = modes[i];
        CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_histogram_create(&options, &histogram));
    }
    histogram = sparse(PICOLLO_MODE_SINGLE_WRITER, 64, PICOLLO_HISTOGRAM_NO_LIVE_RESET, 0);
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_histogram_recorder(histogram, PICOLLO_INLINE_VERSION, &recorder));
    picollo_histogram_record(histogram, 5);
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_histogram_reset(histogram));
    picollo_histogram_free(histogram);
}

static picollo_histogram *shared_histogram;

static void *touch(void *unused)
{
    for (int i = 0; i < rounds(100000); i++) picollo_histogram_record(shared_histogram, (uint64_t)i * 977);
    return unused;
}

static void threads_touch_the_same_chunks(void)
{
    pthread_t threads[4];
    shared_histogram = sparse(PICOLLO_MODE_INTERLOCKED, 64, 0, 0);
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, touch, NULL) == 0);
    for (int i = 0; i < 4; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK_U64(4 * (uint64_t)rounds(100000), counts_of(shared_histogram).total);
    picollo_histogram_free(shared_histogram);
}

int main(void)
{
    RUN(ten_values_take_little);
    RUN(as_dense_ones_count);
    RUN(a_limit_holds_and_what_does_not_fit_is_lost);
    RUN(what_it_does_not_offer);
    RUN(threads_touch_the_same_chunks);
    return report();
}
