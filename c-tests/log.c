/* Logs: what is read, however it was written, and what is written. */
#include "interchange.h"

#include <sys/resource.h>

/* A reader of a copy of the text that ends where it ends, so that memcheck notices a step outside. */
typedef struct log_text {
    char *text;
    picollo_log_reader *reader;
} log_text;

static log_text open_log(const char *text, size_t length)
{
    log_text log = {(char *)malloc(length > 0 ? length : 1), NULL};
    if (length > 0) memcpy(log.text, text, length);
    CHECK_OK(picollo_log_reader_create(log.text, length, &log.reader));
    if (log.reader == NULL) abort();
    return log;
}

static void close_log(log_text log)
{
    picollo_log_reader_free(log.reader);
    free(log.text);
}

/* Reads an interval and decodes its histogram; interval is written where both succeed. */
static picollo_status next_decoded(picollo_log_reader *reader, picollo_log_interval *interval, picollo_snapshot **snapshot)
{
    picollo_log_interval read;
    picollo_status status = picollo_log_reader_next(reader, &read);
    if (status == PICOLLO_OK) status = picollo_log_reader_decode(reader, snapshot);
    if (status == PICOLLO_OK) *interval = read;
    return status;
}

/* Reads an interval whose histogram is the golden one. */
static picollo_log_interval next_golden(picollo_log_reader *reader)
{
    picollo_log_interval interval;
    picollo_snapshot *snapshot = NULL;
    memset(&interval, 0, sizeof interval);
    CHECK_OK(next_decoded(reader, &interval, &snapshot));
    if (snapshot != NULL) CHECK_U64(108, total_of(snapshot));
    picollo_snapshot_free(snapshot);
    return interval;
}

static void at_the_end(picollo_log_reader *reader)
{
    picollo_log_interval interval;
    picollo_snapshot *snapshot = NULL;
    memset(&interval, 0x5a, sizeof interval);
    for (int i = 0; i < 2; i++) {
        CHECK_STATUS(PICOLLO_END, next_decoded(reader, &interval, &snapshot));
        CHECK_STATUS(PICOLLO_END, picollo_log_reader_next(reader, &interval));
        CHECK_STATUS(PICOLLO_ERR_EMPTY, picollo_log_reader_decode(reader, &snapshot));
    }
    CHECK(snapshot == NULL && interval.tag[0] == 0x5a);
}

static int near(double a, double b)
{
    return fabs(a - b) < 1e-6;
}

static void what_is_written_is_read(void)
{
    static const char tag_a[] = "A";
    picollo_snapshot *golden = golden_snapshot();
    picollo_log_interval interval;
    picollo_snapshot *snapshot = NULL;
    picollo_summary summary;
    log_text log;
    char text[4096];
    size_t length = 0, at;
    uint64_t bytes = 0, line = 0;
    double start = 0, base = 0;
    CHECK_OK(picollo_log_format_header(1441812279.474, "made by a test\r\non two lines", text, sizeof text, &at));
    CHECK_TEXT("#[Histogram log format version 1.3]\n#[made by a test]\n#[on two lines]\n"
               "#[StartTime: 1441812279.474 (seconds since epoch), Wed Sep 09 15:24:39 UTC 2015]\n"
               "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
               text);
    CHECK_U64(strlen(text), at);
    CHECK_OK(picollo_log_format_interval(golden, 0.127, 1.007, tag_a, text + at, sizeof text - at, &length));
    CHECK(strncmp(text + at, "Tag=A,0.127,1.007,123.470,HISTFAAA", 34) == 0);
    CHECK_U64(strlen(text + at), length);
    at += length;
    CHECK(text[at - 1] == '\n');
    CHECK_OK(picollo_log_format_interval(golden, 1441812280.608, 0.9995, NULL, text + at, sizeof text - at, &length));
    CHECK(strncmp(text + at, "1441812280.608,1.000,123.470,HISTFAAA", 37) == 0);
    at += length;

    log = open_log(text, at);
    CHECK_OK(picollo_log_reader_times(log.reader, &start, &base));
    CHECK(isnan(start) && isnan(base));
    CHECK_OK(next_decoded(log.reader, &interval, &snapshot));
    CHECK(near(interval.start_seconds, 1441812279.601) && near(interval.end_seconds, 1441812280.608));
    CHECK(near(interval.max, 123.47));
    CHECK_TEXT("A", interval.tag);
    CHECK_OK(picollo_log_reader_position(log.reader, &bytes, &line));
    CHECK_U64(6, line);
    CHECK_OK(picollo_log_reader_times(log.reader, &start, &base));
    CHECK(start == 1441812279.474 && base == 1441812279.474);
    CHECK_OK(picollo_log_reader_next(log.reader, &interval));
    CHECK_TEXT("", interval.tag);
    at_the_end(log.reader);
    CHECK_OK(picollo_log_reader_position(log.reader, &bytes, &line));
    CHECK_U64(at, bytes);
    close_log(log);
    /* It needs neither the reader nor the text. */
    CHECK(same_buckets(golden, snapshot));
    CHECK_OK(picollo_snapshot_summary(snapshot, PICOLLO_VALUE_MIDPOINT, &summary));
    CHECK_U64(UINT64_C(1441812280608000000), summary.timestamp_unix_nanos);
    picollo_snapshot_free(snapshot);
    picollo_snapshot_free(golden);
}

static void times(void)
{
    static const struct {
        const char *text;
        double start;
    } logs[] = {
        {"#[StartTime: 1441812279.5 (s)]\n#[BaseTime: 1441812000.25 (s)]\n1.5,1,1," GOLDEN_TEXT, 1441812001.75},
        {"#[StartTime: 1441812279.5 (s)]\n1.5,1,1," GOLDEN_TEXT, 1441812281.0},
        {"#[StartTime: 1441812279.5 (s)]\n1441812280,1,1," GOLDEN_TEXT, 1441812280.0},
        /* Out of order, but less than a year before the start. */
        {"#[StartTime: 1441812279.5 (s)]\n1441812000,1,1," GOLDEN_TEXT, 1441812000.0},
        {"#[Basetime: 10.000 (seconds since epoch)]\n5,1,1," GOLDEN_TEXT, 15.0},
        {"5.5,1,1," GOLDEN_TEXT, 5.5},
        {"-5.5,1,1," GOLDEN_TEXT, -5.5},
    };
    for (size_t i = 0; i < sizeof logs / sizeof logs[0]; i++) {
        log_text log = open_log(logs[i].text, strlen(logs[i].text));
        const picollo_log_interval interval = next_golden(log.reader);
        CHECK(near(logs[i].start, interval.start_seconds) && near(logs[i].start + 1, interval.end_seconds));
        at_the_end(log.reader);
        close_log(log);
    }
}

static void intervals_out_of_order(void)
{
    static const char text[] = "#[StartTime: 100 (s)]\n#[BaseTime: 0 (s)]\n"
                               "9,1,1," GOLDEN_TEXT "\nTag=b,3,2,1," GOLDEN_TEXT "\n9,1,1," GOLDEN_TEXT "\n";
    log_text log = open_log(text, sizeof text - 1);
    CHECK(near(9, next_golden(log.reader).start_seconds));
    CHECK(near(5, next_golden(log.reader).end_seconds));
    CHECK(near(9, next_golden(log.reader).start_seconds));
    at_the_end(log.reader);
    close_log(log);
}

static void liberal_in_what_is_read(void)
{
    static const char *const logs[] = {
        "5,1,1," GOLDEN_TEXT,
        "5,1,1," GOLDEN_TEXT "\r\n",
        "5,1,1," GOLDEN_TEXT "\r",
        "\xef\xbb\xbf" "5,1,1," GOLDEN_TEXT,
        "\n\n 5,1,1," GOLDEN_TEXT " \n\n",
        "5 1 1 " GOLDEN_TEXT,
        "5, 1, 1, " GOLDEN_TEXT,
        "5,1,," GOLDEN_TEXT,
        "5,1,anything," GOLDEN_TEXT,
        "# comment\n5,1,1," GOLDEN_TEXT "\n#[Another]\n",
        "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\r\n5,1,1," GOLDEN_TEXT,
        "#[StartTime: nonsense]\n#[BaseTime:]\n#\n5,1,1," GOLDEN_TEXT,
    };
    for (size_t i = 0; i < sizeof logs / sizeof logs[0]; i++) {
        log_text log = open_log(logs[i], strlen(logs[i]));
        CHECK(near(5, next_golden(log.reader).start_seconds));
        at_the_end(log.reader);
        close_log(log);
    }
}

static void empty_logs(void)
{
    static const char *const logs[] = {"", "\n", "#", "#[StartTime: 5 (s)]\n", "\xef\xbb\xbf"};
    log_text log;
    for (size_t i = 0; i < sizeof logs / sizeof logs[0]; i++) {
        log = open_log(logs[i], strlen(logs[i]));
        at_the_end(log.reader);
        close_log(log);
    }
    log.reader = NULL;
    CHECK_OK(picollo_log_reader_create(NULL, 0, &log.reader));
    at_the_end(log.reader);
    picollo_log_reader_free(log.reader);
}

static void broken_lines(void)
{
    static const char *const lines[] = {
        "5", "5,1", "5,1,1", "5,1,1,", "x,1,1," GOLDEN_TEXT, ",1,1," GOLDEN_TEXT, "inf,1,1," GOLDEN_TEXT,
        "Tag=A", "5,1,1,HISTF", "5,1,1,HISTFAAA", "5,1,1,*", "Tag=\xff,5,1,1," GOLDEN_TEXT,
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char text[512];
        picollo_log_interval interval;
        picollo_snapshot *snapshot = NULL;
        log_text log;
        snprintf(text, sizeof text, "%s\n7,1,1," GOLDEN_TEXT, lines[i]);
        memset(&interval, 0x5a, sizeof interval);
        log = open_log(text, strlen(text));
        CHECK_STATUS(PICOLLO_ERR_CORRUPT, next_decoded(log.reader, &interval, &snapshot));
        CHECK(snapshot == NULL && interval.tag[0] == 0x5a);
        /* One error, and reading goes on. */
        CHECK(near(7, next_golden(log.reader).start_seconds));
        at_the_end(log.reader);
        close_log(log);
    }
    {
        /* A tag that C could not tell from a shorter one. */
        static const char nul[] = "Tag=A\0B,5,1,1," GOLDEN_TEXT "\n7,1,1," GOLDEN_TEXT;
        picollo_log_interval interval;
        log_text log = open_log(nul, sizeof nul - 1);
        CHECK_STATUS(PICOLLO_ERR_CORRUPT, picollo_log_reader_next(log.reader, &interval));
        CHECK_OK(picollo_log_reader_next(log.reader, &interval));
        close_log(log);
    }
}

/* Every beginning of a log, and logs with bytes changed: an error or an interval, never more. */
static void damaged_logs(void)
{
    static const char text[] = "#[comment]\n#[StartTime: 1441812279.474 (seconds since epoch)]\r\n"
                               "Tag=A,0.127,1.007,2.769," GOLDEN_TEXT "\n1.134,0.999,2.442," GOLDEN_TEXT "\n";
    uint64_t state = 23;
    for (size_t i = 0; i < sizeof text - 1 + (size_t)rounds(5000); i++) {
        char damaged[sizeof text];
        size_t length = i < sizeof text ? i : sizeof text - 1;
        log_text log;
        picollo_status status;
        int calls = 0;
        memcpy(damaged, text, sizeof text);
        if (i >= sizeof text) {
            for (int j = 0; j < 3; j++) damaged[(next_random(&state) >> 33) % length] = (char)(next_random(&state) >> 56);
        }
        log = open_log(damaged, length);
        do {
            picollo_log_interval interval;
            picollo_snapshot *snapshot = NULL;
            status = next_decoded(log.reader, &interval, &snapshot);
            CHECK((status == PICOLLO_OK) == (snapshot != NULL));
            picollo_snapshot_free(snapshot);
        } while (status != PICOLLO_END && ++calls < 100);
        CHECK(calls <= 12);
        close_log(log);
    }
}

static void tags(void)
{
    char long_tag[400], line[800], text[512];
    picollo_log_interval interval;
    size_t length = 0;
    log_text log;
    /* 231 bytes fit, and a character is not cut: here one of two bytes straddles the end. */
    memset(long_tag, 'a', 300);
    long_tag[300] = 0;
    memcpy(long_tag + 230, "\xc3\xa4", 2);
    snprintf(line, sizeof line, "Tag=%s,5,1,1," GOLDEN_TEXT "\nTag=,5,1,1," GOLDEN_TEXT "\nTag=\xc3\xa4=b,5,1,1," GOLDEN_TEXT, long_tag);
    log = open_log(line, strlen(line));
    CHECK_STATUS(PICOLLO_ERR_EMPTY, picollo_log_reader_tag(log.reader, text, sizeof text, &length));
    CHECK_OK(picollo_log_reader_next(log.reader, &interval));
    CHECK_U64(230, strlen(interval.tag));
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_log_reader_tag(log.reader, text, 300, &length));
    CHECK_U64(300, length);
    CHECK_OK(picollo_log_reader_tag(log.reader, text, sizeof text, &length));
    CHECK_TEXT(long_tag, text);
    CHECK_OK(picollo_log_reader_next(log.reader, &interval));
    CHECK_TEXT("", interval.tag);
    CHECK_OK(picollo_log_reader_tag(log.reader, text, sizeof text, &length));
    CHECK_U64(0, length);
    interval = next_golden(log.reader);
    CHECK_TEXT("\xc3\xa4=b", interval.tag);
    close_log(log);
}

static void picking_from_a_log(void)
{
    static const char text[] = "1,1,1," GOLDEN_TEXT "\nTag=x,2,1,1,HISTF*\n3,1,1," GOLDEN_TEXT "\nnone\n";
    picollo_log_interval interval;
    picollo_snapshot *snapshot = NULL, *again = NULL;
    log_text log = open_log(text, sizeof text - 1);
    CHECK_STATUS(PICOLLO_ERR_EMPTY, picollo_log_reader_decode(log.reader, &snapshot));
    CHECK_OK(picollo_log_reader_next(log.reader, &interval));
    CHECK_OK(picollo_log_reader_decode(log.reader, &snapshot));
    CHECK_OK(picollo_log_reader_decode(log.reader, &again));
    CHECK(same_buckets(snapshot, again));
    picollo_snapshot_free(snapshot);
    picollo_snapshot_free(again);
    snapshot = NULL;
    /* A broken histogram is noticed when it is decoded. */
    CHECK_OK(picollo_log_reader_next(log.reader, &interval));
    CHECK_TEXT("x", interval.tag);
    CHECK_STATUS(PICOLLO_ERR_CORRUPT, picollo_log_reader_decode(log.reader, &snapshot));
    CHECK_OK(picollo_log_reader_set_max_counters(log.reader, 100));
    CHECK_OK(picollo_log_reader_next(log.reader, &interval));
    CHECK_STATUS(PICOLLO_ERR_OUT_OF_MEMORY, picollo_log_reader_decode(log.reader, &snapshot));
    CHECK_OK(picollo_log_reader_set_max_counters(log.reader, 0));
    CHECK_OK(picollo_log_reader_decode(log.reader, &snapshot));
    picollo_snapshot_free(snapshot);
    snapshot = NULL;
    CHECK_STATUS(PICOLLO_ERR_CORRUPT, picollo_log_reader_next(log.reader, &interval));
    CHECK_STATUS(PICOLLO_ERR_EMPTY, picollo_log_reader_decode(log.reader, &snapshot));
    CHECK(snapshot == NULL);
    close_log(log);
}

static void what_cannot_be_written(void)
{
    static const char *const bad_tags[] = {"a,b", "a b", "a\nb", "\xc2\x85", "\xe2\x80\xa8", "\x01", "\xff"};
    const double bad_times[] = {NAN, INFINITY, -INFINITY, 1e300};
    picollo_snapshot *golden = golden_snapshot(), *other = only_snapshot(create(0.001, 0, 1000));
    char text[1024] = "x";
    size_t length = 77, needed = 0;
    for (size_t i = 0; i < sizeof bad_tags / sizeof bad_tags[0]; i++) {
        CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT,
                     picollo_log_format_interval(golden, 0, 1, bad_tags[i], text, sizeof text, &length));
    }
    for (size_t i = 0; i < sizeof bad_times / sizeof bad_times[0]; i++) {
        CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT,
                     picollo_log_format_interval(golden, bad_times[i], 1, NULL, text, sizeof text, &length));
        CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT,
                     picollo_log_format_interval(golden, 0, bad_times[i], NULL, text, sizeof text, &length));
        if (i > 0) {
            CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT,
                         picollo_log_format_header(bad_times[i], NULL, text, sizeof text, &length));
        }
    }
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_log_format_header(0, "\xff", text, sizeof text, &length));
    CHECK_STATUS(PICOLLO_ERR_INCOMPATIBLE, picollo_log_format_interval(other, 0, 1, NULL, text, sizeof text, &length));
    CHECK(text[0] == 'x' && length == 77);
    /* Without a start. */
    CHECK_OK(picollo_log_format_header(NAN, NULL, text, sizeof text, &length));
    CHECK(strncmp(text, "#[Histogram log format version 1.3]\n\"StartTimestamp\"", 50) == 0);

    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_log_format_header(5, "c", NULL, 0, &needed));
    memset(text, 0x5a, sizeof text);
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_log_format_header(5, "c", text, needed, &length));
    CHECK(length == needed && text[0] == 0 && text[1] == 0x5a);
    CHECK_OK(picollo_log_format_header(5, "c", text, needed + 1, &length));
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_log_format_interval(golden, 0, 1, "t", NULL, 0, &needed));
    memset(text, 0x5a, sizeof text);
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_log_format_interval(golden, 0, 1, "t", text, needed, &length));
    CHECK(length == needed && text[0] == 0 && text[1] == 0x5a);
    CHECK_OK(picollo_log_format_interval(golden, 0, 1, "t", text, needed + 1, &length));
    CHECK(length == needed && text[needed] == 0 && text[needed + 1] == 0x5a);
    picollo_snapshot_free(golden);
    picollo_snapshot_free(other);
}

/* A line of 72 characters announces a histogram of 47 MB, which has a count at each end. It is made, but of that memory only what
 * has counts is touched. A limit refuses it. */
static void short_lines_touch_little_memory(void)
{
    enum { LINES = 100, PAGES = 100 };
    static const char line[] = "1,1,1,HISTFAAAACV4nJNpmSzMwMDAzgABrFCasf4/BNh/gAhwMn38/56VCQDogAzs\n";
    static char text[LINES * sizeof line];
    picollo_log_reader *reader;
    picollo_log_interval interval;
    picollo_snapshot *snapshot = NULL;
    picollo_counts counts;
    struct rusage before, after;
    int lines = 0;
    for (int i = 0; i < LINES; i++) memcpy(text + (size_t)i * (sizeof line - 1), line, sizeof line);
    CHECK_OK(picollo_log_reader_create(text, strlen(text), &reader));
    CHECK(getrusage(RUSAGE_SELF, &before) == 0);
    while (next_decoded(reader, &interval, &snapshot) == PICOLLO_OK) {
        CHECK_OK(picollo_snapshot_counts(snapshot, &counts));
        CHECK_U64(2, counts.total);
        picollo_snapshot_free(snapshot);
        lines++;
    }
    CHECK(getrusage(RUSAGE_SELF, &after) == 0);
    CHECK(lines == LINES);
    if (SANITIZED || is_quick()) {
        SKIPPED("sanitizers and memcheck touch all memory");
    } else {
        CHECK(after.ru_minflt - before.ru_minflt < LINES * PAGES);
    }
    picollo_log_reader_free(reader);

    CHECK_OK(picollo_log_reader_create(line, sizeof line - 1, &reader));
    CHECK_OK(picollo_log_reader_set_max_counters(reader, 1 << 20));
    CHECK_STATUS(PICOLLO_ERR_OUT_OF_MEMORY, next_decoded(reader, &interval, &snapshot));
    CHECK_STATUS(PICOLLO_END, next_decoded(reader, &interval, &snapshot));
    picollo_log_reader_free(reader);
}

/* ASCII in UTF-16, behind its mark. */
static size_t utf16(char *out, const char *text, int little)
{
    size_t length = 0;
    out[length++] = little ? '\xff' : '\xfe';
    out[length++] = little ? '\xfe' : '\xff';
    for (; *text != 0; text++) {
        out[length++] = little ? *text : 0;
        out[length++] = little ? 0 : *text;
    }
    return length;
}

static void texts_in_utf16(void)
{
    static const char text[] = "#[StartTime: 1441812279,474 (s)]\r\nTag=t,1,500,0,250,2,769," GOLDEN_TEXT "\r\n"
                               "5,000,1,000,1,000," GOLDEN_TEXT;
    char encoded_text[2 * sizeof text];
    for (int little = 0; little < 2; little++) {
        const size_t length = utf16(encoded_text, text, little);
        uint64_t bytes = 0, line = 0;
        picollo_log_interval interval;
        log_text log = open_log(encoded_text, length);
        interval = next_golden(log.reader);
        CHECK(near(1441812280.974, interval.start_seconds) && near(1441812281.224, interval.end_seconds) && near(2.769, interval.max));
        CHECK_TEXT("t", interval.tag);
        CHECK(near(1441812284.474, next_golden(log.reader).start_seconds));
        at_the_end(log.reader);
        /* Of the copy. */
        CHECK_OK(picollo_log_reader_position(log.reader, &bytes, &line));
        CHECK(bytes == sizeof text - 1 && line == 3);
        close_log(log);
        /* Cut in the last line (but for its padding), in the middle of a unit too: it is not there yet. */
        for (size_t cut = 3; cut < 20; cut++) {
            log = open_log(encoded_text, length - cut);
            interval = next_golden(log.reader);
            CHECK_TEXT("t", interval.tag);
            at_the_end(log.reader);
            CHECK_OK(picollo_log_reader_position(log.reader, &bytes, &line));
            CHECK(line == 2 && bytes == (size_t)(strstr(text, "5,000") - text));
            close_log(log);
        }
        log = open_log(encoded_text, 2);
        at_the_end(log.reader);
        close_log(log);
    }
}

/* What implementations of HdrHistogram write, each by its own rules. */
static void by_other_implementations(void)
{
    static const struct {
        const char *text;
        double start, end;
    } logs[] = {
        /* .NET, by culture: Austrian, Persian, Swedish, Arabic. */
        {"#[StartTime: 100,5 (s)]\n5,500,1,250,2,769," GOLDEN_TEXT "\n", 5.5, 6.75},
        {"5\xd9\xab""500,1\xd9\xab""250,2\xd9\xab""769," GOLDEN_TEXT "\n", 5.5, 6.75},
        {"\xe2\x88\x92""5.5,1,1," GOLDEN_TEXT "\n", -5.5, -4.5},
        {"\xd8\x9c-5.5,\xe2\x80\x8e""1,1," GOLDEN_TEXT "\n", -5.5, -4.5},
        /* C, which has the end where others have the length. */
        {"#[StartTime: 1441812279.5 (s)]\n1441812280.25,1441812282.5,1," GOLDEN_TEXT "\n", 1441812280.25, 1441812282.5},
        /* Others, with a time that is absolute. */
        {"#[StartTime: 1441812279.5 (s)]\n1441812280.25,2.25,1," GOLDEN_TEXT "\n", 1441812280.25, 1441812282.5},
        /* Java, without times. */
        {"9223372036854776.000,-9223372036854776.000,1," GOLDEN_TEXT "\n", 0, 0},
    };
    for (size_t i = 0; i < sizeof logs / sizeof logs[0]; i++) {
        log_text log = open_log(logs[i].text, strlen(logs[i].text));
        const picollo_log_interval interval = next_golden(log.reader);
        CHECK(near(logs[i].start, interval.start_seconds) && near(logs[i].end, interval.end_seconds));
        at_the_end(log.reader);
        close_log(log);
    }
}

/* Each has times of its own, and a mark in front. */
static void joined_logs(void)
{
    static const char text[] = "#[Histogram log format version 1.3]\n#[StartTime: 1000000000 (s)]\n1,1,1," GOLDEN_TEXT "\n"
                               "\xef\xbb\xbf#[Histogram log format version 1.3]\n#[StartTime: 1200000000 (s)]\n2,1,1," GOLDEN_TEXT "\n"
                               "#[Histogram log format version 1.3]\n1300000000,1,1," GOLDEN_TEXT "\n";
    log_text log = open_log(text, sizeof text - 1);
    double start = 0, base = 0;
    CHECK(near(1000000001, next_golden(log.reader).start_seconds));
    CHECK(near(1200000002, next_golden(log.reader).start_seconds));
    CHECK_OK(picollo_log_reader_times(log.reader, &start, &base));
    CHECK(near(1200000000, start) && near(1200000000, base));
    CHECK(near(1300000000, next_golden(log.reader).start_seconds));
    CHECK_OK(picollo_log_reader_times(log.reader, &start, &base));
    CHECK(near(1300000000, start) && base == 0);
    at_the_end(log.reader);
    close_log(log);
}

/* A last line is not there yet as long as it is cut, and so is a tail of NULs. */
static void logs_that_are_being_written(void)
{
    static const char whole[] = "1,1,1," GOLDEN_TEXT "\nTag=x,2,1,1," GOLDEN_TEXT;
    const size_t first = (size_t)(strchr(whole, '\n') - whole) + 1;
    uint64_t bytes = 0, line = 0;
    picollo_log_interval interval;
    log_text log;
    for (size_t length = first; length < sizeof whole - 1; length++) {
        log = open_log(whole, length);
        next_golden(log.reader);
        at_the_end(log.reader);
        CHECK_OK(picollo_log_reader_position(log.reader, &bytes, &line));
        CHECK(bytes == first && line == 1);
        close_log(log);
    }
    /* It is there, with or without a line end. */
    log = open_log(whole, sizeof whole - 1);
    next_golden(log.reader);
    interval = next_golden(log.reader);
    CHECK_TEXT("x", interval.tag);
    at_the_end(log.reader);
    close_log(log);
    {
        char text[sizeof whole + 1000];
        memset(text, 0, sizeof text);
        memcpy(text, whole, first);
        log = open_log(text, sizeof text);
        next_golden(log.reader);
        at_the_end(log.reader);
        CHECK_OK(picollo_log_reader_position(log.reader, &bytes, &line));
        CHECK(bytes == first && line == 1);
        close_log(log);
    }
}

static void comments_are_short(void)
{
    char comment[1000], text[2048];
    size_t length = 0;
    memset(comment, 'c', sizeof comment - 1);
    comment[sizeof comment - 1] = 0;
    CHECK_OK(picollo_log_format_header(5, comment, text, sizeof text, &length));
    CHECK(strncmp(text, "#[Histogram log format version 1.3]\n#[ccc", 41) == 0);
    for (const char *line = text; *line != 0;) {
        const size_t bytes = (size_t)(strchr(line, '\n') - line);
        CHECK(bytes <= 120);
        line += bytes + 1;
    }
}

int main(void)
{
    RUN(what_is_written_is_read);
    RUN(times);
    RUN(intervals_out_of_order);
    RUN(liberal_in_what_is_read);
    RUN(empty_logs);
    RUN(broken_lines);
    RUN(damaged_logs);
    RUN(tags);
    RUN(picking_from_a_log);
    RUN(what_cannot_be_written);
    RUN(short_lines_touch_little_memory);
    RUN(texts_in_utf16);
    RUN(by_other_implementations);
    RUN(joined_logs);
    RUN(logs_that_are_being_written);
    RUN(comments_are_short);
    return report();
}
