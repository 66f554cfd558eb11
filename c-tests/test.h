/* A minimal test framework: CHECK reports failures and continues; RUN counts tests; report prints the sum.
 * Every test file is compiled as C11 and as C++17. */
#ifndef PICOLLO_TEST_H
#define PICOLLO_TEST_H

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <picollo_all.h>

#ifdef __cplusplus
#include <atomic>
typedef std::atomic<int> flag_t;
#else
#include <stdatomic.h>
typedef atomic_int flag_t;
#endif

static int test_failures;
static int tests_passed;
static int tests_failed;

/* The usual percentiles, and a summary that has them. */
static const double default_ranks[] = PICOLLO_DEFAULT_RANKS;
enum { RANKS = PICOLLO_DEFAULT_RANKS_LENGTH };
#define SUMMARIZE(kind, of, selection, percentiles, out) \
    picollo_##kind##_summary(of, selection, default_ranks, RANKS, percentiles, out)

/* Fails the running test, and continues it. */
#define CHECK(condition)                                                                  \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            fprintf(stderr, "%s:%d: %s: failed: %s\n", __FILE__, __LINE__, __func__, #condition); \
            test_failures++;                                                              \
        }                                                                                 \
    } while (0)

/* The status of a call, printed if it differs. */
#define CHECK_STATUS(expected, call)                                                      \
    do {                                                                                  \
        const picollo_status status_ = (call);                                            \
        if (status_ != (expected)) {                                                      \
            fprintf(stderr, "%s:%d: %s: %s: %d (%s), expected %d (%s)\n", __FILE__, __LINE__, __func__, #call, \
                    (int)status_, picollo_status_str(status_), (int)(expected), picollo_status_str(expected)); \
            test_failures++;                                                              \
        }                                                                                 \
    } while (0)

#define CHECK_OK(call) CHECK_STATUS(PICOLLO_OK, call)

#define CHECK_U64(expected, actual)                                                       \
    do {                                                                                  \
        const uint64_t expected_ = (expected), actual_ = (actual);                        \
        if (expected_ != actual_) {                                                       \
            fprintf(stderr, "%s:%d: %s: %s is %" PRIu64 ", expected %" PRIu64 "\n", __FILE__, __LINE__, __func__, \
                    #actual, actual_, expected_);                                         \
            test_failures++;                                                              \
        }                                                                                 \
    } while (0)

#define CHECK_TEXT(expected, actual)                                                      \
    do {                                                                                  \
        const char *const expected_ = (expected), *const actual_ = (actual);              \
        if (strcmp(expected_, actual_) != 0) {                                            \
            fprintf(stderr, "%s:%d: %s: %s is\n%s\nexpected\n%s\n", __FILE__, __LINE__, __func__, #actual, actual_, \
                    expected_);                                                           \
            test_failures++;                                                              \
        }                                                                                 \
    } while (0)

#define RUN_AS(name, call)                                                                \
    do {                                                                                  \
        test_failures = 0;                                                                \
        call;                                                                             \
        if (test_failures == 0) {                                                         \
            tests_passed++;                                                               \
        } else {                                                                          \
            fprintf(stderr, "FAILED %s\n", name);                                         \
            tests_failed++;                                                               \
        }                                                                                 \
    } while (0)
#define RUN(test) RUN_AS(#test, test())

/* Under a sanitizer, memory has shadows, and touching it causes additional page faults. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* Reports what cannot be tested here. */
#define SKIPPED(why) printf("SKIPPED %s: %s\n", __func__, why)

static int report(void)
{
    printf("%d passed, %d failed\n", tests_passed, tests_failed);
    return tests_failed == 0 && tests_passed > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Under memcheck everything takes fifty times as long. */
static inline int is_quick(void)
{
    return getenv("PICOLLO_QUICK") != NULL;
}

/* The number of tries: fewer under a checker that slows everything down. */
static inline int rounds(int full)
{
    return is_quick() ? full / 50 : full;
}

/* Options with only defaults. */
static inline picollo_histogram_options default_options(void)
{
    const picollo_histogram_options options = PICOLLO_HISTOGRAM_OPTIONS_INIT;
    return options;
}

static inline picollo_histogram *create_from(const picollo_histogram_options *options)
{
    picollo_histogram *histogram = NULL;
    CHECK_OK(picollo_histogram_create(options, &histogram));
    if (histogram == NULL) abort();
    return histogram;
}

static inline picollo_histogram *create(double relative_error, uint64_t min, uint64_t max)
{
    picollo_histogram_options options = default_options();
    options.relative_error = relative_error;
    options.min_trackable = min;
    options.max_trackable = max;
    return create_from(&options);
}

/* For one recording thread, like a recorder. */
static inline picollo_histogram *create_single_writer(double relative_error, uint64_t min, uint64_t max)
{
    picollo_histogram_options options = default_options();
    options.mode = PICOLLO_MODE_SINGLE_WRITER;
    options.relative_error = relative_error;
    options.min_trackable = min;
    options.max_trackable = max;
    return create_from(&options);
}

static inline size_t footprint_of(const picollo_histogram *histogram)
{
    size_t bytes = 0;
    CHECK_OK(picollo_histogram_footprint(histogram, &bytes));
    return bytes;
}

static inline picollo_snapshot *snapshot_of(picollo_histogram *histogram)
{
    picollo_snapshot *snapshot = NULL;
    CHECK_OK(picollo_snapshot_create(histogram, &snapshot));
    if (snapshot == NULL) abort();
    return snapshot;
}

/* The counts of a histogram since its reset. */
static inline picollo_counts counts_of(picollo_histogram *histogram)
{
    picollo_counts counts;
    picollo_snapshot *snapshot = snapshot_of(histogram);
    memset(&counts, 0xee, sizeof counts);
    CHECK_OK(picollo_snapshot_counts(snapshot, &counts));
    picollo_snapshot_free(snapshot);
    return counts;
}

static inline picollo_event parse(const char *spec)
{
    picollo_event event;
    picollo_error error;
    memset(&event, 0, sizeof event);
    memset(&error, 0, sizeof error);
    if (picollo_event_parse(spec, &event, &error) != PICOLLO_OK) {
        fprintf(stderr, "%s: %s\n", spec, error.message);
        test_failures++;
    }
    return event;
}

static inline picollo_session_options session_options(void)
{
    const picollo_session_options options = PICOLLO_SESSION_OPTIONS_INIT;
    return options;
}

/* Opens events that every machine has; otherwise prints why not, and returns NULL. */
static inline picollo_session *open_events(const picollo_session_options *options, const picollo_event *events, size_t length)
{
    picollo_session *session = NULL;
    picollo_error error;
    memset(&error, 0, sizeof error);
    if (picollo_session_create(options, events, length, &session, &error) != PICOLLO_OK) {
        printf("SKIPPED: cannot count here: %s\n", error.message);
        return NULL;
    }
    return session;
}

/* Reads into room for this many; the library never writes more than fit. */
static inline picollo_status readings_of(const picollo_session *session, uint32_t since, picollo_reading *out, size_t capacity)
{
    size_t length = 0;
    const picollo_status status = picollo_session_readings(session, since, out, capacity, &length);
    CHECK(status != PICOLLO_OK || length <= capacity);
    return status;
}

/* The forms of text that all formatters of summaries and comparisons support, numbered from 0 to 3. */
static inline uint32_t text_form(int number)
{
    const uint32_t forms[] = {PICOLLO_TEXT_MARKDOWN, PICOLLO_TEXT_LINE, PICOLLO_TEXT_JSON, PICOLLO_TEXT_HUMAN};
    return forms[number];
}

/* A pseudo-random sequence. */
static inline uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state;
}

/* The values of the manual's two examples: the first with seed 1, the second with seed 2. */
static inline uint64_t next_example(uint64_t *state, int second)
{
    const uint64_t x = next_random(state), base = (x >> 20) % 64, cube = base * base * base;
    return second ? 1800 + (x >> 40) % 1700 + cube / 36 : 1990 + (x >> 40) % 1500 + cube / 40;
}

/* One of the manual's two examples, recorded. */
static inline picollo_histogram *example(int second)
{
    picollo_histogram *histogram = create(0.01, 2000, 12000);
    uint64_t state = second ? 2 : 1;
    for (int i = 0; i < (second ? 150000 : 100000); i++) picollo_histogram_record(histogram, next_example(&state, second));
    return histogram;
}

#endif /* PICOLLO_TEST_H */
