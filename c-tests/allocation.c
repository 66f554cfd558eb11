/* Which calls allocate and which do not. starved.c tests calls without memory.
 *
 * The program has its own malloc, which the library finds before the C library's. */
#include "test.h"

#include <sys/resource.h>

#include "allocator.h"

static int allocations;

static int may_allocate(size_t size)
{
    (void)size;
    allocations++;
    return 1;
}

static const double *const ranks = default_ranks;

static void reading_allocates_nothing(void)
{
    static char text[8192];
    static picollo_bucket buckets[30000];
    picollo_histogram *histogram = NULL;
    picollo_snapshot *snapshot;
    picollo_percentile percentiles[RANKS];
    picollo_summary summary;
    uint64_t values[RANKS], state = 1;
    size_t length = 0;
    double rank = 0;
    int before;
    /* All 64-bit values at 0.001. */
    CHECK_OK(picollo_histogram_create(NULL, &histogram));
    before = allocations;
    for (int i = 0; i < 100000; i++) {
        const uint64_t magnitude = next_random(&state) >> 58;
        picollo_histogram_record(histogram, next_random(&state) >> magnitude);
    }
    picollo_histogram_record_corrected(histogram, 1000000, 7);
    CHECK_U64(before, allocations);
    snapshot = snapshot_of(histogram);
    CHECK(allocations > before);

    before = allocations;
    CHECK_OK(picollo_snapshot_percentiles(snapshot, ranks, 16, PICOLLO_VALUE_MIDPOINT, percentiles));
    CHECK_U64(before, allocations);
    CHECK_OK(picollo_snapshot_percentile_values(snapshot, ranks, 16, PICOLLO_VALUE_MIDPOINT, values));
    CHECK_OK(picollo_snapshot_update(snapshot, 1));
    CHECK_OK(picollo_snapshot_update(snapshot, 0));
    CHECK_OK(SUMMARIZE(snapshot, snapshot, PICOLLO_VALUE_MIDPOINT, percentiles, &summary));
    CHECK_OK(picollo_snapshot_rank_of_value(snapshot, 5, 1, &rank));
    CHECK_OK(picollo_snapshot_buckets(snapshot, 0, buckets, 30000, &length));
    CHECK_OK(picollo_histogram_add(histogram, snapshot, 0, NULL));
    CHECK_OK(picollo_histogram_reset(histogram));
    for (int form = 0; form < 4; form++) {
        CHECK_OK(picollo_summary_format(&summary, "t", text_form(form), text, sizeof text, &length));
        CHECK_OK(picollo_summary_format_diff(&summary, &summary, "t", "a", "b", text_form(form), text, sizeof text, &length));
    }
    CHECK_U64(before, allocations);
    picollo_snapshot_free(snapshot);
    picollo_histogram_free(histogram);
}

/* A line of 72 characters announces a histogram of 47 MB with a count at each end. It is made, but only the pages with
 * counts are touched. A limit refuses it. */
static void short_lines_touch_little_memory(void)
{
    enum { LINES = 100, PAGES = 100 };
    static const char line[] = "1,1,1,HISTFAAAACV4nJNpmSzMwMDAzgABrFCasf4/BNh/gAhwMn38/56VCQDogAzs\n";
    picollo_log_reader *reader;
    picollo_log_interval interval;
    picollo_snapshot *snapshot = NULL;
    struct rusage before, after;
    CHECK(getrusage(RUSAGE_SELF, &before) == 0);
    for (int i = 0; i < LINES; i++) {
        picollo_counts counts;
        CHECK_OK(picollo_log_reader_create(line, sizeof line - 1, &reader));
        CHECK_OK(picollo_log_reader_next(reader, &interval));
        CHECK_STATUS(PICOLLO_ERR_OUT_OF_MEMORY, picollo_log_reader_decode(reader, 1 << 20, &snapshot));
        CHECK_OK(picollo_log_reader_decode(reader, 0, &snapshot));
        CHECK_OK(picollo_snapshot_counts(snapshot, &counts));
        CHECK_U64(2, counts.total);
        picollo_snapshot_free(snapshot);
        CHECK_STATUS(PICOLLO_END, picollo_log_reader_next(reader, &interval));
        picollo_log_reader_free(reader);
    }
    CHECK(getrusage(RUSAGE_SELF, &after) == 0);
    CHECK(after.ru_minflt - before.ru_minflt < LINES * PAGES);
}

int main(void)
{
    RUN(reading_allocates_nothing);
    RUN(short_lines_touch_little_memory);
    return report();
}
