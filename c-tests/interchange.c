/* Encodings: what others wrote and read, round trips, and data that is out to do harm. */
#include "interchange.h"

#define ENCODINGS 3

static void the_golden_vector(void)
{
    picollo_snapshot *snapshot = golden_snapshot(), *copy;
    picollo_summary summary;
    picollo_layout layout;
    size_t length;
    uint8_t *bytes = encoded(snapshot, PICOLLO_ENCODING_HDR_V2, &length);
    CHECK_U64(sizeof golden_bytes, length);
    CHECK(length == sizeof golden_bytes && memcmp(bytes, golden_bytes, length) == 0);
    copy = decoded(golden_bytes, sizeof golden_bytes);
    CHECK(same_buckets(snapshot, copy) && same_counts(snapshot, copy));
    CHECK_OK(picollo_snapshot_summary(copy, PICOLLO_VALUE_UPPER, &summary));
    CHECK_U64(108, summary.total_count);
    CHECK(fabs(summary.mean - 1143899.685185) < 1e-6 && fabs(summary.stddev - 11822525.659786) < 1e-6);
    CHECK_U64(123469823, summary.percentiles[15].value);
    CHECK_OK(picollo_snapshot_layout(copy, &layout));
    CHECK_U64(3, layout.significant_digits);
    CHECK_U64(UINT64_C(3600000000), layout.max_trackable);
    picollo_snapshot_free(copy);
    free(bytes);
    picollo_snapshot_free(snapshot);
}

/* The golden counts as HdrHistogram's earlier encodings have them: words of 4 bytes, V1 and V0. */
static void earlier_encodings(void)
{
    picollo_snapshot *golden, *copy;
    const uint8_t counts[8] = {1, 1, 0, 2, 0, 0, 0, 1};
    uint8_t v1[40 + 32], v0[32 + 32];
    picollo_histogram *histogram = digits_histogram(3, 0, UINT64_C(3600000000));
    picollo_histogram_record(histogram, 0);
    picollo_histogram_record(histogram, 1);
    picollo_histogram_record_n(histogram, 3, 2);
    picollo_histogram_record(histogram, 7);
    golden = only_snapshot(histogram);

    memcpy(v1, golden_bytes, 40);
    v1[3] = 0x41;
    v1[7] = 32;
    memset(v0, 0, sizeof v0);
    memcpy(v0, "\x1c\x84\x93\x48\0\0\0\3", 8);
    memcpy(v0 + 8, golden_bytes + 16, 16);
    for (int i = 0; i < 8; i++) {
        const uint8_t word[4] = {0, 0, 0, counts[i]};
        memcpy(v1 + 40 + 4 * i, word, 4);
        memcpy(v0 + 32 + 4 * i, word, 4);
    }
    copy = decoded(v1, sizeof v1);
    CHECK(same_buckets(golden, copy));
    picollo_snapshot_free(copy);
    copy = decoded(v0, sizeof v0);
    CHECK(same_buckets(golden, copy));
    picollo_snapshot_free(copy);
    picollo_snapshot_free(golden);
}

static void base64(void)
{
    static const char padded[] = " \r\n\t" GOLDEN_TEXT "\n ";
    picollo_snapshot *golden = golden_snapshot(), *copy = decoded(padded, sizeof padded - 1);
    char text[1024];
    size_t length = 0, needed = 0;
    CHECK(same_buckets(golden, copy));
    picollo_snapshot_free(copy);
    /* Padding may be missing. */
    copy = decoded(GOLDEN_TEXT, sizeof GOLDEN_TEXT - 2);
    CHECK(same_buckets(golden, copy));
    picollo_snapshot_free(copy);
    for (uint32_t encoding = 0; encoding < ENCODINGS; encoding++) {
        memset(text, 0x5a, sizeof text);
        CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_snapshot_encode_base64(golden, encoding, NULL, 0, &needed));
        CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL,
                     picollo_snapshot_encode_base64(golden, encoding, text, needed, &length));
        CHECK_U64(needed, length);
        CHECK(text[0] == 0 && text[1] == 0x5a);
        CHECK_OK(picollo_snapshot_encode_base64(golden, encoding, text, needed + 1, &length));
        CHECK(length == needed && strlen(text) == needed && text[needed + 1] == 0x5a);
        if (encoding == PICOLLO_ENCODING_HDR_V2_COMPRESSED) CHECK(strncmp(text, "HISTFAAA", 8) == 0);
        copy = decoded(text, length);
        CHECK(same_buckets(golden, copy) && same_counts(golden, copy));
        picollo_snapshot_free(copy);
    }
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_encode_base64(golden, 3, text, sizeof text, &length));
    picollo_snapshot_free(golden);
}

static void round_trips_at_all_digits(void)
{
    uint64_t state = 3;
    for (uint32_t digits = 0; digits <= 5; digits++) {
        for (int round = 0; round < 6; round++) {
            picollo_histogram *histogram = digits_histogram(digits == 0 ? PICOLLO_ZERO_DIGITS : digits, round, UINT64_C(1) << (13 + 10 * (round % 3)));
            picollo_snapshot *snapshot;
            const uint64_t number = round == 5 ? 0 : next_random(&state) >> 52;
            for (uint64_t i = 0; i < number; i++) {
                const uint64_t magnitude = next_random(&state) >> 58, value = next_random(&state) >> magnitude;
                picollo_histogram_record_n(histogram, value % (UINT64_C(1) << 34), next_random(&state) >> 40);
            }
            snapshot = only_snapshot(histogram);
            for (uint32_t encoding = 0; encoding < ENCODINGS; encoding++) {
                size_t length;
                uint8_t *bytes = encoded(snapshot, encoding, &length);
                picollo_snapshot *copy = decoded(bytes, length);
                CHECK(same_buckets(snapshot, copy));
                CHECK_U64(total_of(snapshot), total_of(copy));
                if (encoding == PICOLLO_ENCODING_NATIVE) CHECK(same_counts(snapshot, copy));
                picollo_snapshot_free(copy);
                free(bytes);
            }
            picollo_snapshot_free(snapshot);
        }
    }
}

/* What only the native encoding has room for. */
static void native_keeps_everything(void)
{
    picollo_histogram *histogram = create(0.01, 2000, 12000);
    picollo_snapshot *snapshot, *copy;
    picollo_layout layout, copied;
    picollo_summary a, b;
    size_t length = 77;
    uint8_t *bytes;
    picollo_histogram_record_n(histogram, 5, 3);
    picollo_histogram_record_n(histogram, 50000, 4);
    picollo_histogram_record_n(histogram, 3000, UINT64_MAX - 10);
    snapshot = only_snapshot(histogram);
    CHECK_STATUS(PICOLLO_ERR_INCOMPATIBLE, picollo_snapshot_encode(snapshot, PICOLLO_ENCODING_HDR_V2, NULL, 0, &length));
    CHECK_STATUS(PICOLLO_ERR_INCOMPATIBLE,
                 picollo_snapshot_encode(snapshot, PICOLLO_ENCODING_HDR_V2_COMPRESSED, NULL, 0, &length));
    CHECK_STATUS(PICOLLO_ERR_INCOMPATIBLE,
                 picollo_snapshot_encode_base64(snapshot, PICOLLO_ENCODING_HDR_V2, NULL, 0, &length));
    CHECK_U64(77, length);
    bytes = encoded(snapshot, PICOLLO_ENCODING_NATIVE, &length);
    copy = decoded(bytes, length);
    CHECK(same_buckets(snapshot, copy) && same_counts(snapshot, copy));
    CHECK_OK(picollo_snapshot_layout(snapshot, &layout));
    CHECK_OK(picollo_snapshot_layout(copy, &copied));
    CHECK(memcmp(&layout, &copied, sizeof layout) == 0);
    CHECK_OK(picollo_snapshot_summary(snapshot, PICOLLO_VALUE_MIDPOINT, &a));
    CHECK_OK(picollo_snapshot_summary(copy, PICOLLO_VALUE_MIDPOINT, &b));
    CHECK(memcmp(&a, &b, sizeof a) == 0 && a.timestamp_unix_nanos > 0);
    picollo_snapshot_free(copy);
    free(bytes);
    picollo_snapshot_free(snapshot);

    /* A value of 2^63, in a layout of 3 digits. */
    histogram = digits_histogram(3, 0, 0);
    picollo_histogram_record(histogram, UINT64_C(1) << 63);
    snapshot = only_snapshot(histogram);
    CHECK_STATUS(PICOLLO_ERR_INCOMPATIBLE, picollo_snapshot_encode(snapshot, PICOLLO_ENCODING_HDR_V2, NULL, 0, &length));
    picollo_snapshot_free(snapshot);
}

static void lengths_of_buffers(void)
{
    picollo_snapshot *snapshot = golden_snapshot();
    for (uint32_t encoding = 0; encoding < ENCODINGS; encoding++) {
        size_t needed, length = 0;
        uint8_t *bytes = encoded(snapshot, encoding, &needed);
        memset(bytes, 0x5a, needed);
        for (size_t capacity = 0; capacity < needed; capacity += 1 + capacity / 3) {
            length = 0;
            CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL,
                         picollo_snapshot_encode(snapshot, encoding, bytes, capacity, &length));
            CHECK_U64(needed, length);
        }
        CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL,
                     picollo_snapshot_encode(snapshot, encoding, bytes, needed - 1, &length));
        for (size_t i = 0; i < needed; i++) CHECK(bytes[i] == 0x5a);
        CHECK_OK(picollo_snapshot_encode(snapshot, encoding, bytes, needed, &length));
        CHECK_U64(needed, length);
        CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT,
                     picollo_snapshot_encode(snapshot, encoding, bytes, SIZE_MAX, &length));
        free(bytes);
    }
    {
        size_t length = 77;
        CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_encode(snapshot, 3, NULL, 0, &length));
        CHECK_U64(77, length);
    }
    picollo_snapshot_free(snapshot);
}

/* Decodes what may be broken: a result that is whole, or a reason, and then no output. */
static picollo_status try_decode(const uint8_t *bytes, size_t length, uint64_t max_counters)
{
    /* In memory of exactly its length. */
    uint8_t *exact = (uint8_t *)malloc(length > 0 ? length : 1);
    picollo_snapshot *snapshot = NULL;
    picollo_status status;
    if (length > 0) memcpy(exact, bytes, length);
    status = picollo_snapshot_decode(exact, length, max_counters, &snapshot);
    if (status == PICOLLO_OK) {
        picollo_layout layout;
        CHECK_OK(picollo_snapshot_layout(snapshot, &layout));
        CHECK(layout.length <= max_counters);
        picollo_snapshot_free(snapshot);
    } else {
        CHECK(snapshot == NULL);
        CHECK(status == PICOLLO_ERR_CORRUPT || status == PICOLLO_ERR_OUT_OF_MEMORY ||
              status == PICOLLO_ERR_UNSUPPORTED);
    }
    free(exact);
    return status;
}

static void broken_data(void)
{
    picollo_snapshot *snapshot = golden_snapshot();
    uint64_t state = 17;
    for (uint32_t encoding = 0; encoding < ENCODINGS; encoding++) {
        size_t length;
        uint8_t *bytes = encoded(snapshot, encoding, &length);
        for (size_t cut = 0; cut < length; cut++) CHECK_STATUS(PICOLLO_ERR_CORRUPT, try_decode(bytes, cut, 100000));
        for (size_t bit = 0; bit < 8 * length; bit++) {
            picollo_status status;
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            status = try_decode(bytes, length, 100000);
            /* Checksums notice what matters: zlib's all but a few bits that mean nothing, our own all. */
            if (encoding == PICOLLO_ENCODING_NATIVE) CHECK(status != PICOLLO_OK);
            if (encoding == PICOLLO_ENCODING_HDR_V2_COMPRESSED && status == PICOLLO_OK) {
                picollo_snapshot *copy = decoded(bytes, length);
                CHECK(same_buckets(snapshot, copy));
                picollo_snapshot_free(copy);
            }
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        for (int i = 0; i < rounds(20000); i++) {
            uint8_t changed[256];
            memcpy(changed, bytes, length);
            for (int j = 0; j < 4; j++) changed[(next_random(&state) >> 33) % length] = (uint8_t)(next_random(&state) >> 56);
            try_decode(changed, (next_random(&state) >> 33) % (length + 1), 100000);
        }
        free(bytes);
    }
    for (int i = 0; i < rounds(20000); i++) {
        uint8_t noise[64];
        for (size_t j = 0; j < sizeof noise; j++) noise[j] = (uint8_t)(next_random(&state) >> 56);
        if (i % 2 == 0) memcpy(noise, golden_bytes, 4);
        try_decode(noise, (next_random(&state) >> 33) % (sizeof noise + 1), 100000);
    }
    CHECK_STATUS(PICOLLO_ERR_CORRUPT, try_decode(NULL, 0, 100000));
    CHECK_STATUS(PICOLLO_ERR_CORRUPT, try_decode((const uint8_t *)" ", 1, 100000));
    CHECK_STATUS(PICOLLO_ERR_CORRUPT, try_decode((const uint8_t *)"HISTF*", 6, 100000));
    picollo_snapshot_free(snapshot);
}

static void limits(void)
{
    picollo_snapshot *snapshot = golden_snapshot(), *copy = NULL;
    picollo_layout layout;
    CHECK_OK(picollo_snapshot_layout(snapshot, &layout));
    for (uint32_t encoding = 0; encoding < ENCODINGS; encoding++) {
        size_t length;
        uint8_t *bytes = encoded(snapshot, encoding, &length);
        CHECK_OK(try_decode(bytes, length, layout.length));
        CHECK_STATUS(PICOLLO_ERR_OUT_OF_MEMORY, try_decode(bytes, length, layout.length - 1));
        CHECK_STATUS(PICOLLO_ERR_OUT_OF_MEMORY, try_decode(bytes, length, 1));
        free(bytes);
    }
    {
        /* A range of all 62 bits that anyone can claim in 40 bytes: within the default, not within a limit. */
        uint8_t bytes[41];
        memcpy(bytes, golden_bytes, 40);
        memset(bytes + 24, 0xff, 8);
        bytes[24] = 0x7f;
        bytes[7] = 1;
        bytes[15] = 5;
        bytes[40] = 0;
        CHECK_STATUS(PICOLLO_ERR_OUT_OF_MEMORY, try_decode(bytes, sizeof bytes, 1000000));
        CHECK_OK(try_decode(bytes, sizeof bytes, PICOLLO_DEFAULT_MAX_COUNTERS));
        CHECK_OK(picollo_snapshot_decode(bytes, sizeof bytes, 0, &copy));
        picollo_snapshot_free(copy);
        /* A length that runs past the end, and a negative one. */
        bytes[7] = 2;
        CHECK_STATUS(PICOLLO_ERR_CORRUPT, try_decode(bytes, sizeof bytes, UINT64_MAX));
        bytes[4] = 0xff;
        CHECK_STATUS(PICOLLO_ERR_CORRUPT, try_decode(bytes, sizeof bytes, UINT64_MAX));
    }
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_decode(golden_bytes, SIZE_MAX, 0, &copy));
    picollo_snapshot_free(snapshot);
}

/* A zlib stream of a V2 header that tells of one byte of counts, with thousands of zeros behind it: it inflates no further
 * than the header said, and is refused. The blocks are stored, as deflate allows. */
static void more_than_was_announced(void)
{
    static uint8_t bytes[8 + 2 + 5 + 60000];
    const uint16_t size = 60000;
    const uint32_t stream = 2 + 5 + 60000;
    memcpy(bytes, "\x1c\x84\x93\x14", 4);
    for (int i = 0; i < 4; i++) bytes[4 + i] = (uint8_t)(stream >> (24 - 8 * i));
    memcpy(bytes + 8, "\x78\x01\x01", 3);
    bytes[11] = (uint8_t)size;
    bytes[12] = (uint8_t)(size >> 8);
    bytes[13] = (uint8_t)~bytes[11];
    bytes[14] = (uint8_t)~bytes[12];
    memcpy(bytes + 15, golden_bytes, 41);
    bytes[15 + 7] = 1;
    CHECK_STATUS(PICOLLO_ERR_CORRUPT, try_decode(bytes, sizeof bytes, 100000));
}

static void what_can_be_done_with_a_decoded_snapshot(void)
{
    picollo_snapshot *a = decoded(golden_bytes, sizeof golden_bytes);
    picollo_snapshot *b = decoded(GOLDEN_TEXT, sizeof GOLDEN_TEXT - 1);
    picollo_histogram *histogram = golden_histogram();
    picollo_snapshot *live = snapshot_of(histogram);
    double rank = 0;
    uint64_t value = 0;
    const double half = 50;
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_snapshot_update(a, 0));
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_snapshot_update(a, 1));
    CHECK_U64(108, total_of(a));
    CHECK_OK(picollo_snapshot_percentile_values(a, &half, 1, PICOLLO_VALUE_LOWER, &value));
    CHECK_U64(1000, value);
    CHECK_OK(picollo_snapshot_rank_of_value(a, 999, 0, &rank));
    CHECK(fabs(rank - 500.0 / 108) < 1e-9);
    CHECK_OK(picollo_snapshot_merge(a, b, 0, NULL));
    CHECK_OK(picollo_snapshot_merge(live, a, 0, NULL));
    CHECK_OK(picollo_snapshot_merge(a, live, 0, NULL));
    CHECK_U64(2 * 108 + 3 * 108, total_of(a));
    CHECK_OK(picollo_histogram_add(histogram, b, 0, NULL));
    CHECK_OK(picollo_snapshot_update(live, 0));
    CHECK_U64(216, total_of(live));
    picollo_snapshot_free(a);
    picollo_snapshot_free(b);
    picollo_snapshot_free(live);
    picollo_histogram_free(histogram);
}

static const char golden_columns[] =
    "       Value     Percentile TotalCount 1/(1-Percentile)\n\n"
    "       0.000 0.000000000000          1           1.00\n"
    "    1000.000 0.500000000000        105           2.00\n"
    "    1000.000 0.750000000000        105           4.00\n"
    "    1000.000 0.875000000000        105           8.00\n"
    "    1000.000 0.937500000000        105          16.00\n"
    "    1000.000 0.968750000000        105          32.00\n"
    "    2049.000 0.984375000000        107          64.00\n"
    "123469823.000 0.992187500000        108         128.00\n"
    "123469823.000 1.000000000000        108\n"
    "#[Mean    =  1143899.685, StdDeviation   = 11822525.660]\n"
    "#[Max     = 123469823.000, Total count    =          108]\n"
    "#[Buckets =           22, SubBuckets     =         2048]\n";

static void percentile_distributions(void)
{
    picollo_snapshot *golden = golden_snapshot(), *none = only_snapshot(digits_histogram(3, 0, 1000));
    char text[8192];
    size_t length = 0, needed = 0;
    CHECK_OK(picollo_snapshot_format_hgrm(golden, 1, 1.0, 0, text, sizeof text, &length));
    CHECK_TEXT(golden_columns, text);
    CHECK_U64(sizeof golden_columns - 1, length);
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_snapshot_format_hgrm(golden, 1, 0, 0, NULL, 0, &needed));
    CHECK_U64(length, needed);
    memset(text, 0x5a, sizeof text);
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_snapshot_format_hgrm(golden, 1, 0, 0, text, needed, &length));
    CHECK(text[0] == 0 && text[1] == 0x5a);
    CHECK_OK(picollo_snapshot_format_hgrm(golden, 1, 1000.0, 1, text, sizeof text, &length));
    CHECK(strncmp(text, "\"Value\",\"Percentile\",\"TotalCount\",\"1/(1-Percentile)\"\n0.000,0.000000000000,1,1.00\n", 80) == 0);
    CHECK(strstr(text, "\n1.000,0.500000000000,105,2.00\n") != NULL);
    CHECK(strstr(text, "\n123469.823,1.000000000000,108,Infinity\n") != NULL);
    /* The defaults, which are Java's. */
    CHECK_OK(picollo_snapshot_format_hgrm(golden, 0, 0, 0, text, sizeof text, &length));
    CHECK(strstr(text, "\n    1000.000 0.550000000000        105           2.22\n") != NULL);
    CHECK_OK(picollo_snapshot_format_hgrm(none, 0, 0, 0, text, sizeof text, &length));
    CHECK(strstr(text, "Total count    =            0]") != NULL);

    text[0] = 'x';
    length = 77;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_format_hgrm(golden, 5, NAN, 0, text, sizeof text, &length));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_format_hgrm(golden, 5, -1, 0, text, sizeof text, &length));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_format_hgrm(golden, 5, INFINITY, 0, text, sizeof text, &length));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_format_hgrm(golden, 5, 1, 2, text, sizeof text, &length));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT,
                 picollo_snapshot_format_hgrm(golden, 1000001, 1, 0, text, sizeof text, &length));
    CHECK(text[0] == 'x' && length == 77);
    picollo_snapshot_free(golden);
    picollo_snapshot_free(none);
}

/* A corrected copy counts what recording with the correction would have, where buckets hold one value each. */
static void corrected_copies(void)
{
    picollo_histogram *plain = digits_histogram(5, 10, 100000), *corrected = digits_histogram(5, 10, 100000);
    picollo_histogram *by_number = digits_histogram(5, 10, 100000), *by_batch = digits_histogram(5, 10, 100000);
    const uint64_t intervals[] = {0, 1, 7, 1000, 99999, UINT64_MAX};
    uint64_t state = 5;
    for (size_t i = 0; i < sizeof intervals / sizeof intervals[0]; i++) {
        picollo_snapshot *a, *copy = NULL, *b, *c, *d;
        for (int j = 0; j < 40; j++) {
            const uint64_t value = (next_random(&state) >> 33) % 120000;
            const uint64_t twice[2] = {value, value};
            const uint64_t in_range = value > 100000 ? 100000 : value;
            picollo_histogram_record_n(plain, in_range, 2);
            picollo_histogram_record_corrected(corrected, in_range, intervals[i]);
            picollo_histogram_record_corrected(corrected, in_range, intervals[i]);
            picollo_histogram_record_corrected_n(by_number, value, 2, intervals[i]);
            picollo_histogram_record_corrected_batch(by_batch, twice, 2, intervals[i]);
        }
        a = snapshot_of(plain);
        b = snapshot_of(corrected);
        c = snapshot_of(by_number);
        d = snapshot_of(by_batch);
        CHECK_OK(picollo_snapshot_corrected(a, intervals[i], &copy));
        CHECK(same_buckets(b, copy));
        CHECK(same_counts(c, d) && same_buckets(c, d));
        CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_snapshot_update(copy, 0));
        picollo_snapshot_free(a);
        picollo_snapshot_free(b);
        picollo_snapshot_free(c);
        picollo_snapshot_free(d);
        picollo_snapshot_free(copy);
        CHECK_OK(picollo_histogram_reset(plain));
        CHECK_OK(picollo_histogram_reset(corrected));
        CHECK_OK(picollo_histogram_reset(by_number));
        CHECK_OK(picollo_histogram_reset(by_batch));
    }
    picollo_histogram_free(plain);
    picollo_histogram_free(corrected);
    picollo_histogram_free(by_number);
    picollo_histogram_free(by_batch);
}

/* One value of an hour in nanoseconds, expected every nanosecond: 3.6e12 values are added, in no time. */
static void corrections_take_bounded_time(void)
{
    picollo_histogram *histogram = digits_histogram(3, 0, UINT64_C(3600000000000));
    picollo_snapshot *snapshot, *copy = NULL;
    picollo_histogram_record_corrected(histogram, UINT64_C(3600000000000), 1);
    snapshot = snapshot_of(histogram);
    CHECK_U64(UINT64_C(3600000000000), total_of(snapshot));
    CHECK_OK(picollo_snapshot_corrected(snapshot, 1000, &copy));
    CHECK(total_of(copy) > UINT64_C(3600000000000));
    picollo_snapshot_free(copy);
    picollo_snapshot_free(snapshot);
    picollo_histogram_free(histogram);
}

/* Java's DoubleHistogram: a header, an encoding of integers, and a ratio in it. */
static void histograms_of_doubles(void)
{
    uint8_t bytes[16 + sizeof golden_bytes] = {0x0c, 0x72, 0x12, 0x4e, 0, 0, 0, 3, 0, 0, 0, 0, 0, 1};
    const uint8_t half[8] = {0x3f, 0xe0};
    picollo_snapshot *golden = golden_snapshot(), *snapshot, *copy = NULL;
    double ratio = 77;
    memcpy(bytes + 16, golden_bytes, sizeof golden_bytes);
    memcpy(bytes + 16 + 32, half, sizeof half);
    snapshot = decoded(bytes, sizeof bytes);
    CHECK(same_buckets(golden, snapshot));
    CHECK_OK(picollo_snapshot_value_ratio(snapshot, &ratio));
    CHECK(ratio == 0.5);
    CHECK_OK(picollo_snapshot_copy(snapshot, &copy));
    CHECK_OK(picollo_snapshot_value_ratio(copy, &ratio));
    CHECK(ratio == 0.5);
    picollo_snapshot_free(copy);
    CHECK_OK(picollo_snapshot_corrected(snapshot, 1000, &copy));
    CHECK_OK(picollo_snapshot_value_ratio(copy, &ratio));
    CHECK(ratio == 0.5);
    picollo_snapshot_free(copy);
    CHECK_OK(picollo_snapshot_value_ratio(golden, &ratio));
    CHECK(ratio == 1);
    CHECK_OK(picollo_snapshot_merge(golden, snapshot, PICOLLO_PLACEMENT_MIDPOINT, NULL));
    CHECK_OK(picollo_snapshot_value_ratio(golden, &ratio));
    CHECK(ratio == 1);
    picollo_snapshot_free(snapshot);
    picollo_snapshot_free(golden);
    /* In front of what is none. */
    CHECK_STATUS(PICOLLO_ERR_CORRUPT, picollo_snapshot_decode(bytes, 16, 0, &copy));
    /* Without a checksum, by HdrHistogram.NET. */
    {
        static const char text[] = "HISTFAAAAB9YhZNpmSzMwMDAygABzFCaEUIJd9h/gLAUmX6zMgEA";
        snapshot = decoded(text, sizeof text - 1);
        CHECK_U64(2, total_of(snapshot));
        CHECK_OK(picollo_snapshot_value_ratio(snapshot, &ratio));
        CHECK(ratio == 1);
        picollo_snapshot_free(snapshot);
    }
}

/* All that there are, one after another. */
static void one_after_another(void)
{
    static const char text[] = " " GOLDEN_TEXT "\r\n";
    picollo_snapshot *golden = golden_snapshot(), *snapshot = NULL;
    uint8_t bytes[4096];
    size_t length = 0, ends[6], at = 0, taken = 0;
    for (uint32_t encoding = 0; encoding < ENCODINGS; encoding++) {
        size_t one = 0;
        CHECK_OK(picollo_snapshot_encode(golden, encoding, bytes + length, sizeof bytes - length, &one));
        ends[encoding] = length += one;
    }
    memcpy(bytes + length, text, sizeof text - 1);
    ends[3] = length += sizeof text - 1;
    /* Of doubles. */
    memset(bytes + length, 0, 16);
    memcpy(bytes + length, "\x0c\x72\x12\x4e", 4);
    memcpy(bytes + length + 16, golden_bytes, sizeof golden_bytes);
    ends[4] = length += 16 + sizeof golden_bytes;
    /* Compressed, and its checksum left out. */
    memcpy(bytes + length, bytes + ends[0], ends[1] - ends[0] - 4);
    bytes[length + 7] = (uint8_t)(bytes[length + 7] - 4);
    ends[5] = length += ends[1] - ends[0] - 4;
    for (int i = 0; i < 6; i++) {
        CHECK_OK(picollo_snapshot_decode_first(bytes + at, length - at, 0, &snapshot, &taken));
        at += taken;
        CHECK_U64(ends[i], at);
        CHECK(same_buckets(golden, snapshot));
        picollo_snapshot_free(snapshot);
    }
    /* Nothing is left; two bytes of the checksum, and the next in the place of the others. */
    snapshot = NULL;
    taken = 77;
    CHECK_STATUS(PICOLLO_ERR_CORRUPT, picollo_snapshot_decode_first(bytes + at, 0, 0, &snapshot, &taken));
    memmove(bytes + ends[1] - 2, bytes + ends[1], length - ends[1]);
    CHECK_STATUS(PICOLLO_ERR_CORRUPT, picollo_snapshot_decode_first(bytes + ends[0], length - 2 - ends[0], 0, &snapshot, &taken));
    bytes[ends[0] + 7] = (uint8_t)(bytes[ends[0] + 7] - 2);
    CHECK_STATUS(PICOLLO_ERR_CORRUPT, picollo_snapshot_decode_first(bytes + ends[0], length - 2 - ends[0], 0, &snapshot, &taken));
    CHECK_STATUS(PICOLLO_ERR_OUT_OF_MEMORY, picollo_snapshot_decode_first(bytes, length, 10, &snapshot, &taken));
    CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, picollo_snapshot_decode_first(bytes, length, 0, &snapshot, NULL));
    CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, picollo_snapshot_decode_first(bytes, length, 0, NULL, &taken));
    CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, picollo_snapshot_decode_first(NULL, length, 0, &snapshot, &taken));
    CHECK(snapshot == NULL && taken == 77);
    picollo_snapshot_free(golden);
}

/* As by the crate and by Java: 0, 1, and then a bucket for each power of two. */
static void no_digits_at_all(void)
{
    static const uint8_t expected[] = {
        0x1c, 0x84, 0x93, 0x13, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0x13, 0x88,
        0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 2, 2, 4, 2, 11, 2, 4,
    };
    picollo_histogram *histogram = digits_histogram(PICOLLO_ZERO_DIGITS, 0, 5000);
    const uint64_t values[] = {0, 1, 2, 3, 4, 1023, 1024, 2047};
    picollo_snapshot *snapshot;
    picollo_layout layout;
    size_t length;
    uint8_t *bytes;
    picollo_histogram_record_batch(histogram, values, 5);
    picollo_histogram_record_batch(histogram, values + 6, 2);
    picollo_histogram_record(histogram, 1023);
    CHECK_OK(picollo_histogram_layout(histogram, &layout));
    CHECK(layout.block_scale == 0 && layout.significant_digits == 0 && layout.length == 14 && layout.relative_error == 0.5);
    snapshot = only_snapshot(histogram);
    bytes = encoded(snapshot, PICOLLO_ENCODING_HDR_V2, &length);
    CHECK(length == sizeof expected && memcmp(bytes, expected, length) == 0);
    free(bytes);
    picollo_snapshot_free(snapshot);
}

int main(void)
{
    RUN(the_golden_vector);
    RUN(earlier_encodings);
    RUN(base64);
    RUN(round_trips_at_all_digits);
    RUN(native_keeps_everything);
    RUN(lengths_of_buffers);
    RUN(broken_data);
    RUN(limits);
    RUN(more_than_was_announced);
    RUN(what_can_be_done_with_a_decoded_snapshot);
    RUN(percentile_distributions);
    RUN(corrected_copies);
    RUN(corrections_take_bounded_time);
    RUN(histograms_of_doubles);
    RUN(one_after_another);
    RUN(no_digits_at_all);
    return report();
}
