/* What the tests of encodings and logs share. */
#ifndef PICOLLO_TEST_INTERCHANGE_H
#define PICOLLO_TEST_INTERCHANGE_H

#include "test.h"

/* The golden histogram of HdrHistogram's V2: 3 digits up to 3,600,000,000, and its encodings. */
static const uint8_t golden_bytes[58] = {
    0x1c, 0x84, 0x93, 0x13, 0x00, 0x00, 0x00, 0x12, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0xd6, 0x93, 0xa4, 0x00, 0x3f, 0xf0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x02, 0x02, 0x00, 0x04, 0x05, 0x02, 0xbf, 0x0f, 0xc8, 0x01, 0xab, 0x10, 0x02, 0x02, 0xb3, 0xfd, 0x01, 0x02,
};
#define GOLDEN_TEXT "HISTFAAAADN4nJNpmSzMwMAgxAABzFCaEURcm7yEwf4DRICJiZGFlWk//wnG1QJMTJv/MjIBAMP3CLI="

static inline picollo_histogram *digits_histogram(uint32_t digits, uint64_t min, uint64_t max)
{
    picollo_histogram_options options = default_options();
    options.significant_digits = digits;
    options.min_trackable = min;
    options.max_trackable = max;
    return create_from(&options);
}

static inline picollo_histogram *golden_histogram(void)
{
    picollo_histogram *histogram = digits_histogram(3, 0, UINT64_C(3600000000));
    const uint64_t values[] = {0, 1, 3, 3, 7, 2047, 2048, 123456789};
    picollo_histogram_record_batch(histogram, values, sizeof values / sizeof values[0]);
    picollo_histogram_record_n(histogram, 1000, 100);
    return histogram;
}

static inline uint64_t total_of(const picollo_snapshot *snapshot)
{
    picollo_counts counts;
    memset(&counts, 0xee, sizeof counts);
    CHECK_OK(picollo_snapshot_counts(snapshot, &counts));
    return counts.total;
}

/* A snapshot of the histogram, which is given up. */
static inline picollo_snapshot *only_snapshot(picollo_histogram *histogram)
{
    picollo_snapshot *snapshot = snapshot_of(histogram);
    picollo_histogram_free(histogram);
    return snapshot;
}

static inline picollo_snapshot *golden_snapshot(void)
{
    return only_snapshot(golden_histogram());
}

/* An encoding in memory of exactly its length, so that memcheck notices a step outside. */
static inline uint8_t *encoded(const picollo_snapshot *snapshot, uint32_t encoding, size_t *length)
{
    uint8_t *bytes;
    *length = 0;
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_snapshot_encode(snapshot, encoding, NULL, 0, length));
    bytes = (uint8_t *)malloc(*length > 0 ? *length : 1);
    CHECK_OK(picollo_snapshot_encode(snapshot, encoding, bytes, *length, length));
    return bytes;
}

static inline picollo_snapshot *decoded(const void *bytes, size_t length)
{
    picollo_snapshot *snapshot = NULL;
    CHECK_OK(picollo_snapshot_decode(bytes, length, 0, &snapshot));
    if (snapshot == NULL) abort();
    return snapshot;
}

static inline picollo_bucket *buckets_of(const picollo_snapshot *snapshot, size_t *length)
{
    picollo_bucket *buckets;
    picollo_status asked;
    *length = 0;
    asked = picollo_snapshot_buckets(snapshot, 1, NULL, 0, length);
    CHECK(asked == (*length == 0 ? PICOLLO_OK : PICOLLO_ERR_BUFFER_TOO_SMALL));
    buckets = (picollo_bucket *)malloc((*length + 1) * sizeof *buckets);
    CHECK_OK(picollo_snapshot_buckets(snapshot, 1, buckets, *length, length));
    return buckets;
}

/* Whether the same values were counted as often. */
static inline int same_buckets(const picollo_snapshot *a, const picollo_snapshot *b)
{
    size_t length_a, length_b;
    picollo_bucket *buckets_a = buckets_of(a, &length_a), *buckets_b = buckets_of(b, &length_b);
    int same = length_a == length_b;
    for (size_t i = 0; same && i < length_a; i++) {
        same = buckets_a[i].lower == buckets_b[i].lower && buckets_a[i].upper == buckets_b[i].upper &&
               buckets_a[i].count == buckets_b[i].count;
    }
    free(buckets_a);
    free(buckets_b);
    return same;
}

static inline int same_counts(const picollo_snapshot *a, const picollo_snapshot *b)
{
    picollo_counts counts_a, counts_b;
    CHECK_OK(picollo_snapshot_counts(a, &counts_a));
    CHECK_OK(picollo_snapshot_counts(b, &counts_b));
    return memcmp(&counts_a, &counts_b, sizeof counts_a) == 0;
}

#endif /* PICOLLO_TEST_INTERCHANGE_H */
