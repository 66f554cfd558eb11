/* picollo_log.h: encodings and logs. */
#include "golden.h"

static void encodings(void)
{
    static const uint64_t values[] = {0, 1, 3, 3, 7, 2047, 2048, 123456789};
    picollo_histogram_options asked = default_options();
    picollo_histogram *histogram;
    picollo_snapshot *snapshot, *copy = NULL, *other = only_snapshot(hundred());
    unsigned char bytes[1024];
    char base64[1024];
    size_t length = 0, needed = 0, taken = 0;
    double ratio = 0;
    asked.significant_digits = 3;
    asked.max_trackable = UINT64_C(3600000000);
    histogram = create_from(&asked);
    picollo_histogram_record_batch(histogram, values, sizeof values / sizeof values[0]);
    picollo_histogram_record_n(histogram, 1000, 100);
    snapshot = only_snapshot(histogram);
    CHECK_OK(picollo_snapshot_value_ratio(snapshot, &ratio));
    NUMBERS("ratio", ratio);
    for (uint32_t encoding = 0; encoding < 3; encoding++) {
        CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_snapshot_encode(snapshot, encoding, NULL, 0, &needed));
        bytes[0] = 0x5a;
        CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_snapshot_encode(snapshot, encoding, bytes, needed - 1, &length));
        CHECK(length == needed && bytes[0] == 0x5a);
        CHECK_OK(picollo_snapshot_encode(snapshot, encoding, bytes, needed, &length));
        /* The native encoding contains the time of recording, which varies. */
        if (encoding == PICOLLO_ENCODING_HDR_V2) for (size_t i = 0; i < length; i++) say("%02x", bytes[i]);
        say(" " U "\n", (uint64_t)length);
        FORMAT(picollo_snapshot_encode_base64, snapshot, encoding);
        if (encoding == PICOLLO_ENCODING_HDR_V2) say("%s\n", text);
        snprintf(base64, sizeof base64, " %s\n%s", text, text);
        CHECK_OK(picollo_snapshot_decode_first(base64, strlen(base64), 0, &copy, &taken));
        CHECK_U64(strlen(text) + 2, taken);
        picollo_snapshot_free(copy);
        CHECK_OK(picollo_snapshot_decode(bytes, length, 0, &copy));
        show_counts(copy);
        if (encoding == 0) show_buckets(copy);
        picollo_snapshot_free(copy);
        copy = NULL;
        STATUS(picollo_snapshot_decode(bytes, length - 1, 0, &copy));
        STATUS(picollo_snapshot_decode(bytes, length, 100, &copy));
        STATUS(picollo_snapshot_decode_first(bytes, length, 100, &copy, &taken));
        CHECK(copy == NULL);
    }
    STATUS(picollo_snapshot_encode(snapshot, 3, bytes, sizeof bytes, &length));
    STATUS(picollo_snapshot_encode(other, PICOLLO_ENCODING_HDR_V2, bytes, sizeof bytes, &length));
    STATUS(picollo_snapshot_encode_base64(other, PICOLLO_ENCODING_HDR_V2, base64, sizeof base64, &length));
    picollo_snapshot_free(other);
    picollo_snapshot_free(snapshot);
}

static void logs(void)
{
    picollo_histogram_options asked = default_options();
    picollo_histogram *histogram;
    picollo_snapshot *snapshot, *other = only_snapshot(hundred()), *read = NULL;
    picollo_log_reader *reader = NULL;
    picollo_log_interval interval;
    char log[2048];
    size_t length = 0;
    asked.significant_digits = 2;
    asked.max_trackable = 5000;
    histogram = create_from(&asked);
    picollo_histogram_record_n(histogram, 1234, 5);
    snapshot = only_snapshot(histogram);
    FORMAT(picollo_log_format_header, 1700000000.5, "two\nlines");
    strcpy(log, text);
    say("%s", strstr(text, "#[Histogram"));
    FORMAT(picollo_log_format_interval, snapshot, 0.25, 1.5, "tag");
    CHECK(strncmp(text, "Tag=tag,0.250,1.500,", 20) == 0);
    strcat(log, text);
    strcat(log, "no interval\n");
    FORMAT(picollo_log_format_interval, snapshot, 2, 1, NULL);
    strcat(log, text);
    CHECK_OK(picollo_log_reader_create(log, strlen(log), &reader));
    STATUS(picollo_log_reader_decode(reader, 0, &read));
    for (int i = 0; i < 4; i++) {
        const picollo_status status = picollo_log_reader_next(reader, &interval);
        say("%d [%s] " U " line " U "\n", (int)status, interval.tag, (uint64_t)interval.tag_length, interval.line);
        NUMBERS("times", interval.start_seconds, interval.end_seconds, interval.max, interval.log_start_seconds, interval.log_base_seconds);
        if (status != PICOLLO_OK) continue;
        STATUS(picollo_log_reader_decode(reader, 10, &read));
        CHECK_OK(picollo_log_reader_decode(reader, 0, &read));
        show_buckets(read);
        picollo_snapshot_free(read);
        read = NULL;
    }
    CHECK_U64(strlen(log), interval.position);
    picollo_log_reader_free(reader);
    /* A tag ends at a NUL here, and contains none. */
    FORMAT(picollo_log_format_interval, snapshot, 2, 1, "tag");
    text[5] = 0;
    CHECK_OK(picollo_log_reader_create(text, 6 + strlen(text + 6), &reader));
    CHECK_STATUS(PICOLLO_ERR_CORRUPT, picollo_log_reader_next(reader, &interval));
    picollo_log_reader_free(reader);
    STATUS(picollo_log_format_header(INFINITY, NULL, log, sizeof log, &length));
    STATUS(picollo_log_format_header(0, "\xff", log, sizeof log, &length));
    STATUS(picollo_log_format_interval(snapshot, NAN, 1, NULL, log, sizeof log, &length));
    STATUS(picollo_log_format_interval(snapshot, 0, NAN, NULL, log, sizeof log, &length));
    STATUS(picollo_log_format_interval(snapshot, 0, 1, "a,b", log, sizeof log, &length));
    STATUS(picollo_log_format_interval(other, 0, 1, NULL, log, sizeof log, &length));
    picollo_snapshot_free(other);
    picollo_snapshot_free(snapshot);
}

int main(int number, char **arguments)
{
    (void)arguments;
    golden_begin(number, __FILE__);
    GOLDEN(encodings);
    GOLDEN(logs);
    return report();
}
