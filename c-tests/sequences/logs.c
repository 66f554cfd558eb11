/* Logs: what is written is read back, of whatever is broken nothing but an error comes. */
#include "buffers.h"

#define LINES 4

struct line {
    const struct snapshot *snapshot;
    double start, length;
    char tag[300];
};

static char *text_of(struct world *world, double start, const char *comment)
{
    char *text;
#define HEADER(buffer, capacity, length) picollo_log_format_header(start, comment, buffer, capacity, length)
    FORMATS_INTO(text, HEADER);
    return text;
}

static void append(char **text, const char *more)
{
    *text = (char *)realloc(*text, strlen(*text) + strlen(more) + 1);
    if (*text == NULL) abort();
    strcat(*text, more);
}

/* Appends a line, unless the encoding has no room for what is in the snapshot. */
static int write_line(struct world *world, char **text, const struct line *line)
{
    const picollo_snapshot *const snapshot = line->snapshot->handle;
    size_t length = 0;
    char *written;
    picollo_status status = picollo_log_format_interval(snapshot, line->start, line->length, line->tag, NULL, 0, &length);
    if (status == PICOLLO_ERR_INCOMPATIBLE) {
        EXPECT(status, picollo_snapshot_encode(snapshot, PICOLLO_ENCODING_HDR_V2_COMPRESSED, NULL, 0, &length));
        return 0;
    }
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, length, picollo_log_format_interval(snapshot, NAN, 1, NULL, NULL, 0, &length));
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, length, picollo_log_format_interval(snapshot, 1, 2e15, NULL, NULL, 0, &length));
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, length, picollo_log_format_interval(snapshot, 1, 1, "a,b", NULL, 0, &length));
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, length, picollo_log_format_interval(snapshot, 1, 1, NO_TEXT, NULL, 0, &length));
#define LINE(buffer, capacity, out) picollo_log_format_interval(snapshot, line->start, line->length, line->tag, buffer, capacity, out)
    FORMATS_INTO(written, LINE);
    REQUIRE(strchr(written, '\n') == written + strlen(written) - 1);
    append(text, written);
    free(written);
    return 1;
}

/* The counts that are read are those that were written; what was out of range is left out. */
static void check_read(struct world *world, const struct line *line, const picollo_snapshot *read)
{
    const struct counts *const expected = &line->snapshot->now;
    picollo_bucket *buckets;
    size_t length, at = 0;
#define BUCKETS(out, capacity, length) picollo_snapshot_buckets(read, 1, out, capacity, length)
    LISTS(buckets, length, BUCKETS);
    for (size_t i = 0; i < expected->length; i++) {
        if (expected->list[i].count == 0) continue;
        REQUIRE(at < length);
        SAME(expected->list[i].lower, buckets[at].lower);
        SAME(expected->list[i].count, buckets[at].count);
        at++;
    }
    SAME(at, length);
    free(buckets);
}

static void check_tag(struct world *world, const picollo_log_reader *reader, const char *tag, const char *cut)
{
    char *whole;
#define TAG(buffer, capacity, length) picollo_log_reader_tag(reader, buffer, capacity, length)
    FORMATS_INTO(whole, TAG);
    REQUIRE(strcmp(whole, tag) == 0 && strncmp(whole, cut, strlen(cut)) == 0);
    REQUIRE(strlen(cut) + 4 > PICOLLO_LOG_TAG_SIZE || strlen(cut) == strlen(tag));
    free(whole);
}

static void read_line(struct world *world, picollo_log_reader *reader, const struct line *line, double base)
{
    picollo_log_interval interval;
    picollo_snapshot *read = NULL;
    EXPECT(PICOLLO_OK, picollo_log_reader_next(reader, &interval));
    if (rarely(world, 2)) {
        EXPECT(PICOLLO_OK, picollo_log_reader_set_max_counters(reader, 1));
        /* No histogram has a single counter. */
        REFUSED(PICOLLO_ERR_OUT_OF_MEMORY, read, picollo_log_reader_decode(reader, &read));
        EXPECT(PICOLLO_OK, picollo_log_reader_set_max_counters(reader, 0));
    }
    EXPECT(PICOLLO_OK, picollo_log_reader_decode(reader, &read));
    if (PLANTED(8)) interval.end_seconds += 0.01;
    REQUIRE(fabs(interval.start_seconds - (base + line->start)) < 0.0006);
    REQUIRE(fabs(interval.end_seconds - (base + line->start + line->length)) < 0.0011);
    check_tag(world, reader, line->tag, interval.tag);
    check_read(world, line, read);
    picollo_snapshot_free(read);
}

static void at_the_end(struct world *world, picollo_log_reader *reader, uint64_t bytes, uint64_t lines)
{
    picollo_log_interval interval;
    picollo_snapshot *read;
    uint64_t at = 0, line = 0;
    size_t length;
    memset(&interval, UNTOUCHED, sizeof interval);
    EXPECT(PICOLLO_END, picollo_log_reader_next(reader, &interval));
    REQUIRE(is_untouched(&interval, 0, sizeof interval));
    REFUSED(PICOLLO_ERR_EMPTY, read, picollo_log_reader_decode(reader, &read));
    REFUSED(PICOLLO_ERR_EMPTY, length, picollo_log_reader_tag(reader, NULL, 0, &length));
    EXPECT(PICOLLO_OK, picollo_log_reader_position(reader, &at, &line));
    SAME(bytes, at);
    SAME(lines, line);
}

static void any_tag(struct world *world, char *tag)
{
    static const char *const parts[] = {"A", "\xc3\xa9", "=", "#", "\xe2\x82\xac", "[x]", "\""};
    tag[0] = 0;
    for (uint64_t left = choose(world, rarely(world, 4) ? 90 : 4); left > 0; left--) strcat(tag, parts[choose(world, 7)]);
}

static void op_round_trip(struct world *world)
{
    static const char *const comments[] = {NULL, "", "made\r\nby a test", "\xc3\xa9 [StartTime] \t"};
    const double start = rarely(world, 4) ? NAN : 1e9 + (double)choose(world, 1000000000) / 8;
    struct line lines[LINES];
    picollo_log_reader *reader = NULL;
    double told_start = 0, told_base = 0;
    size_t length = 0, number = 0;
    uint64_t ends = 0;
    char *text;
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, length, picollo_log_format_header(INFINITY, NULL, NULL, 0, &length));
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, length, picollo_log_format_header(1e15 * 2, NULL, NULL, 0, &length));
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, length, picollo_log_format_header(start, NO_TEXT, NULL, 0, &length));
    text = text_of(world, start, comments[choose(world, 4)]);
    for (uint64_t wanted = choose(world, LINES + 1); wanted > 0; wanted--) {
        struct line *const line = &lines[number];
        line->snapshot = exact_snapshot(world);
        /* With a start time, seconds since then; else since 1970. */
        line->start = (isnan(start) ? 1e9 : 0) + (double)choose(world, 1000000) / 1000;
        line->length = (double)choose(world, 100000) / 1000;
        any_tag(world, line->tag);
        if (line->snapshot != NULL && write_line(world, &text, line)) number++;
        if (rarely(world, 8)) append(&text, "# in between\n\n");
    }
    length = strlen(text);
    /* The text needs no end. */
    char *const exactly = (char *)malloc(length);
    if (exactly == NULL) abort();
    memcpy(exactly, text, length);
    for (size_t i = 0; i < length; i++) ends += text[i] == '\n';
    EXPECT(PICOLLO_ERR_NULL_POINTER, picollo_log_reader_create(NULL, 1, &reader));
    EXPECT(PICOLLO_OK, picollo_log_reader_create(exactly, length, &reader));
    EXPECT(PICOLLO_OK, picollo_log_reader_times(reader, &told_start, &told_base));
    REQUIRE(isnan(told_start) && isnan(told_base));
    for (size_t i = 0; i < number; i++) {
        read_line(world, reader, &lines[i], isnan(start) ? 0 : start);
        EXPECT(PICOLLO_OK, picollo_log_reader_times(reader, &told_start, &told_base));
        REQUIRE(fabs(told_start - (isnan(start) ? lines[0].start : start)) < 0.0006);
        REQUIRE(fabs(told_base - (isnan(start) ? 0 : start)) < 0.0006);
    }
    at_the_end(world, reader, length, ends);
    picollo_log_reader_free(reader);
    picollo_log_reader_free(NULL);
    free(exactly);
    free(text);
}

/* A log with some of its bytes changed: an error or an interval for each line, and never more. */
static void op_damaged(struct world *world)
{
    static const char log[] = "#[comment]\n#[StartTime: 1441812279.474 (seconds since epoch)]\r\n"
                              "Tag=A,0.127,1.007,2.769,HISTFAAAADN4nJNpmSzMwMAgxAABzFCaEURcm7yEwf4DRICJiZGFlWk//wnG1QJMTJv/MjIBAMP3CLI=\n"
                              "1.134,0.999,2.442,HISTFAAAADN4nJNpmSzMwMAgxAABzFCaEURcm7yEwf4DRICJiZGFlWk//wnG1QJMTJv/MjIBAMP3CLI=\n";
    size_t length = (size_t)choose(world, sizeof log);
    char *const text = (char *)malloc(length + 1);
    picollo_log_reader *reader = NULL;
    uint64_t bytes = 0, line = 0, last = 0, calls = 0;
    picollo_status status;
    if (text == NULL) abort();
    memcpy(text, log, length);
    for (uint64_t changes = choose(world, 4); length > 0 && changes > 0; changes--) text[choose(world, length)] = (char)choose(world, 256);
    /* By its mark; then positions are those in a copy. */
    const int is_utf16 = length > 1 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0);
    EXPECT(PICOLLO_OK, picollo_log_reader_create(text, length, &reader));
    EXPECT(PICOLLO_OK, picollo_log_reader_set_max_counters(reader, choose(world, 100000)));
    do {
        picollo_log_interval interval;
        picollo_snapshot *read = NULL;
        double start, base;
        status = picollo_log_reader_next(reader, &interval);
        REQUIRE(status != PICOLLO_ERR_PANIC);
        if (status == PICOLLO_OK) {
            const picollo_status decoded = picollo_log_reader_decode(reader, &read);
            REQUIRE(decoded != PICOLLO_ERR_PANIC && (decoded == PICOLLO_OK) == (read != NULL));
        }
        if (read != NULL) REQUIRE(memchr(interval.tag, 0, sizeof interval.tag) != NULL && interval.start_seconds == interval.start_seconds);
        EXPECT(PICOLLO_OK, picollo_log_reader_position(reader, &bytes, &line));
        EXPECT(PICOLLO_OK, picollo_log_reader_times(reader, &start, &base));
        REQUIRE(bytes >= last && (bytes <= length || is_utf16));
        last = bytes;
        picollo_snapshot_free(read);
    } while (status != PICOLLO_END && ++calls < 100);
    REQUIRE(calls <= 12);
    /* What was not read is a last line that is not there yet, or NULs. */
    if (bytes != length && !is_utf16) {
        size_t nuls = 0;
        while (bytes + nuls < length && text[bytes + nuls] == 0) nuls++;
        REQUIRE(bytes + nuls == length || (text[length - 1] != '\n' && text[length - 1] != '\r'));
    }
    picollo_log_reader_free(reader);
    free(text);
}

const struct operation log_operations[] = {
    {"log", op_round_trip, 4},
    {"damaged log", op_damaged, 3},
    {NULL, NULL, 0},
};
