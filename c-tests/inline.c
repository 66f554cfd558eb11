/* picollo_inline.h: recording without a call gives the same counts as the calls. */
#include "test.h"

#include <pthread.h>

#include <picollo_inline.h>

/* From 1000 to 50,000,000. */
static picollo_histogram_options narrow(uint32_t mode, uint32_t counter_bits)
{
    picollo_histogram_options options = default_options();
    options.mode = mode;
    options.counter_bits = counter_bits;
    options.relative_error = 0.01;
    options.min_trackable = 1000;
    options.max_trackable = 50000000;
    return options;
}

static void check_same(picollo_histogram *a, picollo_histogram *b)
{
    static picollo_bucket buckets_a[4096], buckets_b[4096];
    picollo_counts counts_a, counts_b;
    picollo_snapshot *of_a = snapshot_of(a), *of_b = snapshot_of(b);
    size_t length_a = 0, length_b = 0;
    CHECK_OK(picollo_snapshot_counts(of_a, &counts_a));
    CHECK_OK(picollo_snapshot_counts(of_b, &counts_b));
    CHECK_U64(counts_a.total, counts_b.total);
    CHECK_U64(counts_a.underflow, counts_b.underflow);
    CHECK_U64(counts_a.overflow, counts_b.overflow);
    CHECK_U64(counts_a.lost, counts_b.lost);
    CHECK_OK(picollo_snapshot_buckets(of_a, 1, buckets_a, 4096, &length_a));
    CHECK_OK(picollo_snapshot_buckets(of_b, 1, buckets_b, 4096, &length_b));
    CHECK_U64(length_a, length_b);
    CHECK(length_a > 10 && memcmp(buckets_a, buckets_b, length_a * sizeof buckets_a[0]) == 0);
    picollo_snapshot_free(of_a);
    picollo_snapshot_free(of_b);
}

static void check_recorder(const picollo_histogram_options *options)
{
    picollo_histogram *const called = create_from(options), *const inlined = create_from(options);
    picollo_recorder recorder;
    uint64_t state = 9;
    CHECK_OK(picollo_histogram_recorder(inlined, PICOLLO_INLINE_VERSION, &recorder));
    CHECK_U64(options->counter_bits, recorder.counter_bits);
    /* A recorder does not shift values: with a unit, they go to the library. */
    CHECK((recorder.length == 0) == (options->unit != 0));
    const picollo_writer writer = picollo_recorder_writer(&recorder);
    for (int i = 0; i < 170000; i++) {
        const uint64_t magnitude = next_random(&state) >> 58, bound = (uint64_t)i * 1000 - 1;
        const uint64_t value = i < 70000 ? bound : next_random(&state) >> magnitude;
        picollo_histogram_record(called, value);
        picollo_writer_record(writer, value);
    }
    check_same(called, inlined);
    const picollo_counts counts = counts_of(inlined);
    CHECK(counts.overflow > 1000 && counts.total > 1000 && (options->min_trackable == 0 || counts.underflow > 1000));
    picollo_recorder_release(&recorder);
    picollo_histogram_free(called);
    picollo_histogram_free(inlined);
}

static void same_counts_as_the_call(void)
{
    static const uint32_t modes[] = {PICOLLO_MODE_SINGLE_WRITER, PICOLLO_MODE_THREAD_LOCAL};
    for (size_t i = 0; i < 4; i++) {
        picollo_histogram_options options = narrow(modes[i / 2], i % 2 == 0 ? 32 : 64);
        check_recorder(&options);
        options.min_trackable = 0;
        options.unit = 20000;
        check_recorder(&options);
    }
}

struct share {
    const picollo_atomic_recorder *recorder;
    uint64_t seed;
};

static void *record_share(void *argument)
{
    const struct share *const share = (const struct share *)argument;
    const picollo_atomic_writer writer = picollo_atomic_recorder_writer(share->recorder);
    uint64_t state = share->seed;
    for (int i = 0; i < 100000; i++) {
        const uint64_t magnitude = next_random(&state) >> 58;
        picollo_atomic_writer_record(writer, next_random(&state) >> magnitude);
    }
    return NULL;
}

/* One recorder for all threads loses nothing. */
static void atomic_additions(void)
{
    for (int with_a_unit = 0; with_a_unit < 2; with_a_unit++) {
        picollo_histogram_options options = default_options();
        picollo_histogram *called, *inlined;
        picollo_atomic_recorder recorder;
        pthread_t threads[3];
        struct share shares[3];
        options.min_trackable = with_a_unit ? 0 : 1000;
        options.max_trackable = UINT64_C(1) << 40;
        options.unit = with_a_unit ? 1000 : 0;
        options.significant_digits = with_a_unit ? 2 : 0;
        options.relative_error = with_a_unit ? 0 : 0.01;
        called = create_from(&options);
        inlined = create_from(&options);
        CHECK_OK(picollo_histogram_atomic_recorder(inlined, PICOLLO_INLINE_VERSION, &recorder));
        CHECK((recorder.length == 0) == with_a_unit && recorder.histogram == inlined);
        for (size_t i = 0; i < 3; i++) {
            uint64_t state = 7 * i + 1;
            shares[i].recorder = &recorder;
            shares[i].seed = state;
            CHECK(pthread_create(&threads[i], NULL, record_share, &shares[i]) == 0);
            for (int j = 0; j < 100000; j++) {
                const uint64_t magnitude = next_random(&state) >> 58;
                picollo_histogram_record(called, next_random(&state) >> magnitude);
            }
        }
        for (size_t i = 0; i < 3; i++) CHECK(pthread_join(threads[i], NULL) == 0);
        check_same(called, inlined);
        picollo_histogram_free(called);
        picollo_histogram_free(inlined);
    }
}

static void wraps_are_reported(void)
{
    const picollo_histogram_options options = narrow(PICOLLO_MODE_SINGLE_WRITER, 32);
    picollo_histogram *const called = create_from(&options), *const inlined = create_from(&options);
    picollo_recorder recorder;
    CHECK_OK(picollo_histogram_recorder(inlined, PICOLLO_INLINE_VERSION, &recorder));
    const picollo_writer writer = picollo_recorder_writer(&recorder);
    for (uint64_t value = 1000; value < 12000; value += 1000) {
        picollo_histogram_record_n(called, value, UINT32_MAX - 1);
        picollo_histogram_record_n(inlined, value, UINT32_MAX - 1);
        for (int i = 0; i < 4; i++) {
            picollo_histogram_record(called, value);
            picollo_writer_record(writer, value);
        }
    }
    check_same(called, inlined);
    const picollo_counts counts = counts_of(inlined);
    CHECK_U64(11 * (UINT64_C(1) << 32), counts.lost);
    CHECK_U64(11 * 2, counts.total);
    picollo_recorder_release(&recorder);
    picollo_histogram_free(called);
    picollo_histogram_free(inlined);
}

static void keeps_its_histogram(void)
{
    picollo_histogram *histogram = create_single_writer(0.01, 0, 1000);
    picollo_snapshot *snapshot = snapshot_of(histogram);
    picollo_recorder recorder;
    picollo_counts counts;
    CHECK_OK(picollo_histogram_recorder(histogram, PICOLLO_INLINE_VERSION, &recorder));
    picollo_histogram_free(histogram);
    const picollo_writer writer = picollo_recorder_writer(&recorder);
    picollo_writer_record(writer, 5);
    picollo_writer_record(writer, 5000);
    CHECK_OK(picollo_snapshot_update(snapshot, 0));
    CHECK_OK(picollo_snapshot_counts(snapshot, &counts));
    CHECK(counts.total == 1 && counts.overflow == 1);
    picollo_snapshot_free(snapshot);
    picollo_writer_record(writer, 6);
    picollo_recorder_release(&recorder);
    /* A released recorder is cleared, and a second release does nothing. */
    CHECK(recorder.counters == NULL && recorder.histogram == NULL && recorder.length == 0);
    picollo_recorder_release(&recorder);
    picollo_recorder_release(NULL);
}

static void refused(void)
{
    picollo_histogram *histogram = create_single_writer(0.01, 0, 1000);
    picollo_recorder recorder;
    memset(&recorder, 0xee, sizeof recorder);
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_histogram_recorder(histogram, PICOLLO_INLINE_VERSION + 1, &recorder));
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_histogram_recorder(histogram, 0, &recorder));
    CHECK_U64(UINT64_C(0xeeeeeeeeeeeeeeee), recorder.length);
    picollo_histogram_free(histogram);
    /* For each mode: whether it has a recorder, and an atomic one. 32-bit counters have none, because the library
     * counts their wraps. */
    static const struct {
        uint32_t mode, bits;
        picollo_status status, atomic_status;
    } kinds[] = {
        {PICOLLO_MODE_INTERLOCKED, 64, PICOLLO_ERR_UNSUPPORTED, PICOLLO_OK},
        {PICOLLO_MODE_INTERLOCKED, 32, PICOLLO_ERR_UNSUPPORTED, PICOLLO_ERR_UNSUPPORTED},
        {PICOLLO_MODE_PER_CPU, 64, PICOLLO_ERR_UNSUPPORTED, PICOLLO_ERR_UNSUPPORTED},
        {PICOLLO_MODE_SINGLE_WRITER, 64, PICOLLO_OK, PICOLLO_ERR_UNSUPPORTED},
        {PICOLLO_MODE_THREAD_LOCAL, 64, PICOLLO_OK, PICOLLO_ERR_UNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const picollo_histogram_options options = narrow(kinds[i].mode, kinds[i].bits);
        picollo_atomic_recorder atomic;
        histogram = create_from(&options);
        CHECK_STATUS(kinds[i].status, picollo_histogram_recorder(histogram, PICOLLO_INLINE_VERSION, &recorder));
        CHECK_STATUS(kinds[i].atomic_status, picollo_histogram_atomic_recorder(histogram, PICOLLO_INLINE_VERSION, &atomic));
        CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_histogram_atomic_recorder(histogram, PICOLLO_INLINE_VERSION + 1, &atomic));
        if (kinds[i].status == PICOLLO_OK) picollo_recorder_release(&recorder);
        picollo_histogram_free(histogram);
    }
}

int main(void)
{
    RUN(same_counts_as_the_call);
    RUN(wraps_are_reported);
    RUN(atomic_additions);
    RUN(keeps_its_histogram);
    RUN(refused);
    return report();
}
