/* Tests that call each function which computes or formats, once or a few times. The text beside such a file has the
 * results, a part for each test here. Core tests which results are right. These tests check the way through the interface:
 * arguments, fields, statuses, and buffer contents.
 *
 *   histogram            compares
 *   histogram --write    writes histogram.txt anew */
#ifndef PICOLLO_TEST_GOLDEN_H
#define PICOLLO_TEST_GOLDEN_H

#include <stdarg.h>

#include "test.h"

#define U "%" PRIu64

static char said[1 << 18], text[1 << 16];
static size_t said_length, statuses_end;

static inline void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    said_length += (size_t)vsnprintf(said + said_length, sizeof said - said_length, format, arguments);
    va_end(arguments);
    if (said_length >= sizeof said) abort();
}

/* Ten digits, on which all platforms agree. */
static inline void numbers(const char *what, size_t length, const double *values)
{
    say("%s", what);
    for (size_t i = 0; i < length; i++) {
        if (isnan(values[i])) say(" nan");
        else say(" %.10g", values[i]);
    }
    say("\n");
}
#define NUMBERS(what, ...)                                                                          \
    do {                                                                                            \
        const double values_[] = {__VA_ARGS__};                                                     \
        numbers(what, sizeof values_ / sizeof *values_, values_);                                   \
    } while (0)

/* Consecutive statuses are on one line. */
static inline void say_status(picollo_status status)
{
    const int follows = said_length > 0 && said_length == statuses_end;
    said_length -= (size_t)follows;
    say(follows ? " %d\n" : "%d\n", (int)status);
    statuses_end = said_length;
}
#define STATUS(call) say_status(call)

/* A function that formats: called for the length, with room for all except the NUL, and with enough room. */
#define FORMAT(function, ...)                                                                       \
    do {                                                                                            \
        size_t needed_ = 0, length_ = 0;                                                            \
        CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, function(__VA_ARGS__, NULL, 0, &needed_));       \
        if (needed_ + 2 > sizeof text) abort();                                                     \
        memset(text, 0x5a, needed_ + 2);                                                            \
        CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, function(__VA_ARGS__, text, needed_, &length_)); \
        CHECK(length_ == needed_ && text[0] == 0 && text[1] == 0x5a);                               \
        CHECK_OK(function(__VA_ARGS__, text, needed_ + 1, &length_));                               \
        CHECK(length_ == needed_ && strlen(text) == needed_ && text[needed_ + 1] == 0x5a);          \
    } while (0)
#define TEXT(function, ...)                                                                         \
    do {                                                                                            \
        FORMAT(function, __VA_ARGS__);                                                              \
        say("%s\n", text);                                                                          \
    } while (0)
/* Texts that are long, or have digits that differ between platforms: prints the beginning, and checks for required
 * parts. */
#define LONG_TEXT(found, function, ...)                                                               \
    do {                                                                                            \
        FORMAT(function, __VA_ARGS__);                                                              \
        CHECK(strstr(text, found) != NULL);                                                         \
        say("%.100s\n", text);                                                                       \
    } while (0)

/* A function that lists structs. */
#define LIST(type, show, function, ...)                                                             \
    do {                                                                                            \
        size_t needed_ = 0, length_ = 0;                                                            \
        type *list_;                                                                                \
        CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, function(__VA_ARGS__, NULL, 0, &needed_));       \
        list_ = (type *)malloc((needed_ + 1) * sizeof(type));                                       \
        memset(list_, 0x5a, (needed_ + 1) * sizeof(type));                                          \
        CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, function(__VA_ARGS__, list_, needed_ - 1, &length_)); \
        CHECK(length_ == needed_ && *(unsigned char *)list_ == 0x5a);                               \
        CHECK_OK(function(__VA_ARGS__, list_, needed_, &length_));                                  \
        CHECK(length_ == needed_ && *(unsigned char *)(list_ + needed_) == 0x5a);                   \
        for (size_t i_ = 0; i_ < needed_; i_++) show(&list_[i_]);                                   \
        free(list_);                                                                                \
    } while (0)

static inline void show_bucket(const picollo_bucket *one)
{
    say("bucket " U " " U " step " U " count " U " at " U " " U "\n", one->lower, one->upper, one->step, one->count, one->storage_index, one->logical_index);
}

static inline void show_counts(const picollo_snapshot *snapshot)
{
    picollo_counts counts;
    CHECK_OK(picollo_snapshot_counts(snapshot, &counts));
    say("counts " U " below " U " above " U " lost " U "\n", counts.total, counts.underflow, counts.overflow, counts.lost);
}

/* 1 ..= 100, and three each of those that are not counted in range. */
static inline picollo_histogram *hundred(void)
{
    picollo_histogram *const histogram = create(0.1, 3, 95);
    for (uint64_t value = 1; value <= 100; value++) picollo_histogram_record(histogram, value);
    return histogram;
}


static inline picollo_snapshot *only_snapshot(picollo_histogram *histogram)
{
    picollo_snapshot *const snapshot = snapshot_of(histogram);
    picollo_histogram_free(histogram);
    return snapshot;
}

static inline void show_buckets(const picollo_snapshot *snapshot)
{
    LIST(picollo_bucket, show_bucket, picollo_snapshot_buckets, snapshot, 1);
}

static inline picollo_summary summary_of(int second)
{
    static picollo_percentile percentiles[2][RANKS];
    picollo_histogram *const histogram = example(second);
    picollo_summary summary;
    CHECK_OK(SUMMARIZE(histogram, histogram, PICOLLO_VALUE_MIDPOINT, percentiles[second], &summary));
    summary.timestamp_unix_nanos = UINT64_C(1500000000250000000);
    picollo_histogram_free(histogram);
    return summary;
}

static char golden[1 << 18];
static FILE *golden_file;

/* Reads the text beside this file, wherever it was compiled. */
static inline void golden_begin(int number, const char *source)
{
    char path[4096];
    snprintf(path, sizeof path, "%.*stxt", (int)strlen(source) - 1, source);
    golden_file = fopen(path, number == 1 ? "rb" : "wb");
    if (golden_file == NULL || (number == 1 && fread(golden, 1, sizeof golden - 1, golden_file) == 0)) {
        fprintf(stderr, "cannot open %s\n", path);
        exit(1);
    }
}

static inline void compare_part(const char *name, void (*part)(void))
{
    char head[64];
    const char *expected;
    size_t line = 1, same = 0;
    said_length = statuses_end = 0;
    said[0] = text[0] = 0;
    part();
    snprintf(head, sizeof head, "== %s\n", name);
    if (golden[0] == 0) {
        fprintf(golden_file, "%s%s", head, said);
        return;
    }
    expected = strstr(golden, head);
    CHECK(expected != NULL);
    if (expected == NULL) return;
    expected += strlen(head);
    while (said[same] != 0 && said[same] == expected[same]) line += said[same++] == '\n';
    /* The next part begins where this one ends. */
    if (said[same] != 0 || (expected[same] != 0 && strncmp(expected + same, "== ", 3) != 0)) {
        while (same > 0 && said[same - 1] != '\n') same--;
        fprintf(stderr, "%s, line %d is\n%.200s\nexpected\n%.200s\n", name, (int)line, said + same, expected + same);
        test_failures++;
    }
}
/* The part is a test like any other. */
#define GOLDEN(part) RUN_AS(#part, compare_part(#part, part))

#endif /* PICOLLO_TEST_GOLDEN_H */
