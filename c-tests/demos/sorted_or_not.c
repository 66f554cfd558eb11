/* Sorted or not: the same sum over the same million bytes, before and after sorting them. The sum branches on each byte;
 * when they are sorted, the processor guesses right.
 */
#include <inttypes.h>

#include "counters.h"

#define BYTES 1000000
#define ROUNDS 100

static unsigned char bytes[BYTES];

/* The barrier keeps the compiler from doing without the branch (by a conditional move, or eight bytes at a time). */
static uint64_t sum_of_large(void)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < BYTES; i++) {
        if (bytes[i] >= 128) {
            __asm__ volatile("" : "+r"(sum));
            sum += bytes[i];
        }
    }
    return sum;
}

static int compare(const void *a, const void *b)
{
    return *(const unsigned char *)a - *(const unsigned char *)b;
}

enum { TIME, TICKS, FIRST_COUNTER, ROWS = FIRST_COUNTER + COUNTERS };
static const char *const names[FIRST_COUNTER] = {"Time, ns", "Time stamp counter"};

/* Fills in the summary of each row; those of counters that do not count stay empty. */
static uint64_t measure(picollo_session *session, picollo_summary summaries[ROWS])
{
    picollo_histogram *time[2];
    uint64_t sum = 0;
    memset(summaries, 0, ROWS * sizeof summaries[0]);
    for (int i = 0; i < 2; i++) {
        if (picollo_histogram_create(NULL, &time[i]) != PICOLLO_OK) exit(1);
    }
    picollo_session_reset(session, NULL);
    sum += sum_of_large(); /* warm up */
    for (int round = 0; round < ROUNDS; round++) {
        picollo_scope in_nanos, in_ticks;
        read_counters(session);
        picollo_scope_begin(time[0], PICOLLO_CLOCK_MONOTONIC, PICOLLO_UNIT_NANOS, &in_nanos);
        picollo_scope_begin(time[1], PICOLLO_CLOCK_TSC, PICOLLO_UNIT_TICKS, &in_ticks);
        sum += sum_of_large();
        picollo_scope_end(&in_ticks);
        picollo_scope_end(&in_nanos);
        read_counters(session);
        picollo_session_record(session, PICOLLO_SINCE_PREVIOUS);
    }
    for (int i = 0; i < 2; i++) {
        picollo_histogram_summary(time[i], PICOLLO_VALUE_MIDPOINT, &summaries[i]);
        picollo_histogram_free(time[i]);
    }
    for (size_t i = 0; i < COUNTERS; i++) summarise_counter(session, i, &summaries[FIRST_COUNTER + i]);
    return sum;
}

int main(void)
{
    static picollo_summary unsorted[ROWS], sorted[ROWS];
    picollo_session *session = open_counters();
    explain_missing(session);

    uint64_t x = 1;
    for (size_t i = 0; i < BYTES; i++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        bytes[i] = (unsigned char)(x >> 56);
    }
    const uint64_t sum = measure(session, unsorted);
    qsort(bytes, BYTES, 1, compare);
    if (measure(session, sorted) != sum) return 1;

    printf("The sum of %d bytes that are at least 128, %d times; medians:\n\n", BYTES, ROUNDS);
    printf("%-20s %14s %14s %8s\n", "", "not sorted", "sorted", "ratio");
    for (int row = 0; row < ROWS; row++) {
        const char *name = row < FIRST_COUNTER ? names[row] : counters[row - FIRST_COUNTER];
        if (unsorted[row].total_count == 0) {
            printf("%-20s %14s %14s\n", name, "not counted", "not counted");
            continue;
        }
        /* The sixth percentile of a summary is the median. */
        const uint64_t before = unsorted[row].percentiles[5].value, after = sorted[row].percentiles[5].value;
        printf("%-20s %14" PRIu64 " %14" PRIu64, name, before, after);
        if (after != 0) printf(" %8.2f", (double)before / (double)after);
        puts("");
    }

    char text[4096];
    size_t length;
    picollo_summary_format_diff(&unsorted[TIME], &sorted[TIME], "Time in ns, not sorted and sorted", "Not sorted", "Sorted",
                                PICOLLO_TEXT_MARKDOWN, text, sizeof text, &length);
    printf("\n%s", text);
    picollo_session_free(session);
    return 0;
}
