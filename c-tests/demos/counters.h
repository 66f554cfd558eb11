/* What the demos with performance counters share: a session of the events that this machine has, and their tables. */
#ifndef COUNTERS_H
#define COUNTERS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <picollo.h>

#define COUNTERS 4

static const char *const counters[COUNTERS] = {"cycles", "branch-misses", "task-clock", "page-faults"};

/* Opens all of them that can be counted. Those that cannot be stay in the session, and say why. */
static picollo_session *open_counters(void)
{
    picollo_error error;
    picollo_session *session;
    picollo_session_options options = PICOLLO_SESSION_OPTIONS_INIT;
    options.flags = PICOLLO_SESSION_SKIP_UNAVAILABLE;
    if (picollo_session_open(counters, COUNTERS, &options, &session, &error) != PICOLLO_OK) {
        fprintf(stderr, "no session: %s\n", error.message);
        exit(1);
    }
    return session;
}

/* Says which counters are missing, and why. */
static void explain_missing(const picollo_session *session)
{
    picollo_perf_info machine;
    picollo_perf_probe(&machine, NULL);
    int missing = 0;
    for (size_t i = 0; i < COUNTERS; i++) {
        picollo_event event;
        picollo_event_info info;
        picollo_session_event(session, i, &event);
        picollo_session_event_info(session, i, &info);
        if (info.status == PICOLLO_OK) continue;
        missing++;
        /* Without a PMU the reason is the same for all, and the machine's is told in full below. */
        const char *reason = machine.pmu_available ? info.message : picollo_status_str(info.status);
        printf("Not counted: %s (%s): %s\n", counters[i], event.name, reason);
    }
    if (missing > 0 && !machine.pmu_available) printf("Why: %s.\n", machine.explanation);
    if (missing > 0) puts("");
}

static void read_counters(picollo_session *session)
{
    picollo_error error;
    if (picollo_session_read(session, PICOLLO_READ_AUTO, &error) == PICOLLO_OK) return;
    fprintf(stderr, "read: %s\n", error.message);
    exit(1);
}

/* The summary of a counter's histogram; 0 where there is none. */
static int summarise_counter(picollo_session *session, size_t index, picollo_summary *out)
{
    picollo_histogram *histogram;
    if (picollo_session_histogram_ref(session, index, &histogram) != PICOLLO_OK) return 0;
    const picollo_status status = picollo_histogram_summary(histogram, PICOLLO_VALUE_MIDPOINT, out);
    picollo_histogram_free(histogram);
    return status == PICOLLO_OK && out->total_count > 0;
}

#endif /* COUNTERS_H */
