/* Getting started: two distributions, their summaries, and their differences.
 *
 *   cc getting_started.c $(pkg-config --cflags --libs picollo)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <picollo.h>

/* Exits with an explanation if a call fails. */
static void must(picollo_status status, const char *what)
{
    if (status == PICOLLO_OK) return;
    fprintf(stderr, "%s: %s\n", what, picollo_status_str(status));
    exit(1);
}

/* Example: response times of a service in microseconds. Most are short, some wait for others. */
static uint64_t response_time(uint64_t *state, uint64_t base, uint64_t spread, uint64_t divisor)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const uint64_t waiting = (*state >> 20) % 64;
    return base + (*state >> 40) % spread + waiting * waiting * waiting / divisor;
}

int main(void)
{
    /* Zero selects the default of every option. Here we know the range, and 1 % is enough. */
    picollo_histogram_options options = PICOLLO_HISTOGRAM_OPTIONS_INIT;
    options.relative_error = 0.01;
    options.min_trackable = 2000;
    options.max_trackable = 12000;

    picollo_histogram *before, *after;
    must(picollo_histogram_create(&options, &before), "create");
    must(picollo_histogram_create(&options, &after), "create");

    /* Recording cannot fail. Values out of range are counted separately. */
    uint64_t state = 1;
    for (int i = 0; i < 100000; i++) picollo_histogram_record(before, response_time(&state, 1990, 1500, 40));
    state = 2;
    for (int i = 0; i < 150000; i++) picollo_histogram_record(after, response_time(&state, 1800, 1700, 36));

    enum { RANKS = PICOLLO_DEFAULT_RANKS_LENGTH };
    static const double ranks[] = PICOLLO_DEFAULT_RANKS;
    picollo_percentile percentiles_before[RANKS], percentiles_after[RANKS];
    picollo_summary summary_before, summary_after;
    must(picollo_histogram_summary(before, PICOLLO_VALUE_MIDPOINT, ranks, RANKS, percentiles_before, &summary_before), "summary");
    must(picollo_histogram_summary(after, PICOLLO_VALUE_MIDPOINT, ranks, RANKS, percentiles_after, &summary_after), "summary");

    char text[4096];
    size_t length;
    must(picollo_summary_format(&summary_before, "Before", PICOLLO_TEXT_MARKDOWN, text, sizeof text, &length), "text");
    puts(text);
    must(picollo_summary_format(&summary_after, "After", PICOLLO_TEXT_MARKDOWN, text, sizeof text, &length), "text");
    puts(text);
    must(picollo_summary_format_diff(&summary_before, &summary_after, "What changed", "Before", "After",
                                     PICOLLO_TEXT_MARKDOWN, text, sizeof text, &length),
         "text");
    puts(text);

    /* On one line, for a log. */
    must(picollo_summary_format(&summary_before, "Before", PICOLLO_TEXT_LINE, text, sizeof text, &length), "text");
    puts(text);

    /* The opposite question: how many were done within 5 ms? */
    picollo_snapshot *snapshot;
    double rank;
    must(picollo_snapshot_create(after, &snapshot), "snapshot");
    must(picollo_snapshot_rank_of_value(snapshot, 5000, 1, &rank), "rank");
    printf("%.2f %% of the second took at most 5,000 us.\n", rank);

    /* In any order: the snapshot keeps its histogram alive. */
    picollo_histogram_free(before);
    picollo_histogram_free(after);
    picollo_snapshot_free(snapshot);
    return 0;
}
