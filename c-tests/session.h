/* Shared code of the tests of performance counters. */
#ifndef PICOLLO_TEST_SESSION_H
#define PICOLLO_TEST_SESSION_H

#include "test.h"

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

#endif /* PICOLLO_TEST_SESSION_H */
