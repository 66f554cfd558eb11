/* Known work: 256 dependent additions take 256 cycles. What do the clocks and counters report?
 *
 * On a machine without performance counters it reports which are missing and why, and shows those that exist.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <picollo_perf.h>

#define COUNTERS 4
#define ROUNDS 10000
#define REPETITIONS 100

static const char *const counters[COUNTERS] = {"cycles", "branch-misses", "task-clock", "page-faults"};

static void must(picollo_status status, const char *what, const char *why)
{
    if (status == PICOLLO_OK) return;
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

/* Prints which counters are missing, and why. They stay in the session. */
static void explain_missing(const picollo_session *session)
{
    picollo_perf_info machine;
    picollo_perf_probe(&machine, NULL);
    int missing = 0;
    for (size_t i = 0; i < COUNTERS; i++) {
        picollo_event_info info;
        picollo_session_event_info(session, i, &info);
        if (info.status == PICOLLO_OK) continue;
        missing++;
        /* Without a PMU the reason is the same for all; the machine's explanation follows in full below. */
        printf("Not counted: %s: %s\n", counters[i], machine.pmu_available ? info.message : picollo_status_str(info.status));
    }
    if (missing > 0 && !machine.pmu_available) printf("Why: %s.\n", machine.explanation);
    if (missing > 0) puts("");
}

static void print_line(const picollo_histogram *histogram, const char *title)
{
    char text[1024];
    size_t length;
    if (picollo_histogram_format(histogram, title, PICOLLO_TEXT_LINE, text, sizeof text, &length) == PICOLLO_OK) puts(text);
}

int main(void)
{
    picollo_histogram *nanos, *ticks;
    if (picollo_histogram_create(NULL, &nanos) != PICOLLO_OK) return 1;
    if (picollo_histogram_create(NULL, &ticks) != PICOLLO_OK) return 1;
    picollo_error error;
    picollo_session *session;
    picollo_session_options options = PICOLLO_SESSION_OPTIONS_INIT;
    options.flags = PICOLLO_SESSION_SKIP_UNAVAILABLE;
    must(picollo_session_open(counters, COUNTERS, &options, &session, &error), "session", error.message);
    explain_missing(session);
    must(picollo_session_calibrate(session, &error), "calibrate", error.message);

    printf("%d times %d repetitions of 256 additions, each a cycle:\n", ROUNDS, REPETITIONS);
    for (int round = 0; round < ROUNDS; round++) {
        picollo_scope in_nanos, in_ticks;
        must(picollo_session_read(session, PICOLLO_READ_AUTO, &error), "read", error.message);
        picollo_scope_begin(nanos, PICOLLO_CLOCK_MONOTONIC, PICOLLO_UNIT_NANOS, &in_nanos);
        picollo_scope_begin(ticks, PICOLLO_CLOCK_TSC, PICOLLO_UNIT_TICKS, &in_ticks);
        picollo_work_add_chain_256(REPETITIONS);
        picollo_scope_end(&in_ticks);
        picollo_scope_end(&in_nanos);
        must(picollo_session_read(session, PICOLLO_READ_AUTO, &error), "read", error.message);
        /* Records the counts between the two reads, each event into its histogram. */
        picollo_session_record(session, PICOLLO_SINCE_PREVIOUS);
    }

    const double median[] = {50};
    picollo_percentile time;
    picollo_summary summary;
    picollo_histogram_summary(nanos, PICOLLO_VALUE_MIDPOINT, median, 1, &time, &summary);
    print_line(nanos, "Time, ns");
    const double per_addition = (double)time.value / (REPETITIONS * 256);
    print_line(ticks, "Time stamp counter");
    for (size_t i = 0; i < COUNTERS; i++) {
        picollo_event_info info;
        picollo_histogram *histogram;
        picollo_session_event_info(session, i, &info);
        if (picollo_session_histogram_ref(session, i, &histogram) != PICOLLO_OK) continue; /* skipped */
        print_line(histogram, counters[i]);
        picollo_histogram_free(histogram);
        printf("    of which a pair of reads is %" PRIu64 "\n", info.overhead_syscall);
    }
    printf("\nAn addition takes %.3f ns: that is a clock of about %.2f GHz.\n", per_addition, 1 / per_addition);

    picollo_session_free(session);
    picollo_histogram_free(nanos);
    picollo_histogram_free(ticks);
    return 0;
}
