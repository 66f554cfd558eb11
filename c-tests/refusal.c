/* Performance counters: invalid names and options, and the messages of a machine without a PMU. */
#include "session.h"

static void missing_counters_are_explained(void)
{
    const picollo_event events[2] = {parse("page-faults"), parse("cycles")};
    picollo_session_options options = session_options();
    picollo_session *session = (picollo_session *)&options;
    picollo_perf_info info;
    picollo_error error;
    picollo_status status;
    CHECK_OK(picollo_perf_probe(&info, &error));
    memset(&error, 0xee, sizeof error);
    status = picollo_session_create(NULL, events, 2, &session, &error);
    if (status == PICOLLO_OK) {
        picollo_reading readings[2];
        CHECK(info.pmu_available == 1);
        picollo_work_add_chain_256(1000);
        CHECK_OK(picollo_session_read(session, PICOLLO_READ_AUTO, NULL));
        CHECK_OK(readings_of(session, 1, readings, 2));
        CHECK(readings[1].value > 200000);
        picollo_session_free(session);
        SKIPPED("this machine counts cycles, so nothing is missing");
        return;
    }
    printf("SKIPPED the count of cycles: %s\n", error.message);
    CHECK_U64(0, info.pmu_available);
    CHECK(strlen(info.explanation) > 20 && strlen(info.explanation) < sizeof info.explanation);
    CHECK(session == (picollo_session *)&options);
    CHECK_STATUS(status, error.status);
    CHECK(error.event_index == 1 && error.os_errno != 0);
    CHECK(strlen(error.message) > 20 && strlen(error.message) < sizeof error.message);
    CHECK(strstr(error.message, "CpuCycles") != NULL);

    /* It can be skipped instead, and is never a zero. */
    options.flags = PICOLLO_SESSION_SKIP_UNAVAILABLE;
    session = open_events(&options, events, 2);
    if (session != NULL) {
        picollo_event_info event_info;
        picollo_reading readings[2];
        for (int i = 0; i < 3; i++) {
            CHECK_OK(picollo_session_read(session, PICOLLO_READ_AUTO, &error));
            CHECK_OK(picollo_session_record(session, 1));
        }
        CHECK_OK(readings_of(session, 1, readings, 2));
        CHECK_STATUS(PICOLLO_OK, readings[0].status);
        CHECK_STATUS(status, readings[1].status);
        CHECK_OK(picollo_session_event_info(session, 1, &event_info));
        CHECK_STATUS(status, event_info.status);
        CHECK(event_info.os_errno != 0 && strlen(event_info.message) > 20);
        CHECK_U64(3, event_info.not_counted_count);
        /* An empty histogram would look like a measurement. */
        picollo_histogram *histogram = NULL;
        CHECK_STATUS(status, picollo_session_histogram_ref(session, 1, &histogram));
        CHECK(histogram == NULL);
        CHECK_OK(picollo_session_histogram_ref(session, 0, &histogram));
        picollo_histogram_free(histogram);
        picollo_session_free(session);
    }
}

static void event_names(void)
{
    picollo_event event = parse("instructions:u");
    picollo_error error;
    CHECK_TEXT("Hardware:Instructions:u", event.name);
    CHECK(event.scale == 1 && event.modifiers == PICOLLO_EVENT_USER);
    CHECK(parse("r01c2").config == 0x1c2 && parse("r01c2").type == 4);
    event = parse("mem:0x1000/8:w");
    CHECK(event.type == 5 && event.config1 == 0x1000 && event.config2 == 8);
    memset(&event, 0xee, sizeof event);
    memset(&error, 0xee, sizeof error);
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_event_parse("mem:zz/8:w", &event, &error));
    CHECK(error.status == PICOLLO_ERR_INVALID_ARGUMENT && error.event_index == -1 && error.os_errno == 0 && error.reserved == 0);
    CHECK(strlen(error.message) > 10);
    CHECK_STATUS(PICOLLO_ERR_NO_SUCH_EVENT, picollo_event_parse("no-such-event", &event, &error));
    CHECK(strstr(error.message, "no-such-event") != NULL);
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_event_parse("\xff\xfe", &event, &error));
    CHECK_STATUS(PICOLLO_ERR_NO_SUCH_EVENT, picollo_event_parse("no-such-event", &event, NULL));
    CHECK_U64(UINT64_C(0xeeeeeeeeeeeeeeee), event.config);
}

static picollo_status try_create(const picollo_session_options *options, const picollo_event *events, size_t length)
{
    picollo_session *const untouched = (picollo_session *)events;
    picollo_session *session = untouched;
    picollo_error error;
    const picollo_status status = picollo_session_create(options, events, length, &session, &error);
    if (status == PICOLLO_OK) {
        picollo_session_free(session);
    } else {
        CHECK(session == untouched);
        CHECK_STATUS(status, error.status);
        CHECK(strlen(error.message) > 5);
    }
    return status;
}

/* One of each error that the interface itself detects; native tests what sessions do. */
static void bad_options(void)
{
    static picollo_event events[PICOLLO_SESSION_MAX_EVENTS + 1];
    static const struct {
        uint32_t flags, counter_bits, reserved;
        int32_t thread, cpu;
        picollo_status status;
    } wrong[] = {
        {1u << 9, 0, 0, 0, 0, PICOLLO_ERR_UNSUPPORTED},      {0, 0, 1, 0, 0, PICOLLO_ERR_UNSUPPORTED},
        {0, 16, 0, 0, 0, PICOLLO_ERR_INVALID_ARGUMENT},      {0, 0, 0, -1, 0, PICOLLO_ERR_INVALID_ARGUMENT},
        {0, 0, 0, -2, 0, PICOLLO_ERR_INVALID_ARGUMENT},      {PICOLLO_SESSION_ON_CPU, 0, 0, 0, -1, PICOLLO_ERR_INVALID_ARGUMENT},
        {0, 0, 0, 0, -1, PICOLLO_OK}, /* not read without ON_CPU */
    };
    for (size_t i = 0; i < PICOLLO_SESSION_MAX_EVENTS + 1; i++) events[i] = parse("page-faults");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        picollo_session_options options = session_options();
        options.flags = wrong[i].flags;
        options.counter_bits = wrong[i].counter_bits;
        options.reserved = wrong[i].reserved;
        options.thread = wrong[i].thread;
        options.cpu = wrong[i].cpu;
        CHECK_STATUS(wrong[i].status, try_create(&options, events, 1));
    }
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, try_create(NULL, events, 0));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, try_create(NULL, events, PICOLLO_SESSION_MAX_EVENTS + 1));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, try_create(NULL, events, SIZE_MAX));
    CHECK_OK(try_create(NULL, events, PICOLLO_SESSION_MAX_EVENTS));
    events[0].modifiers = 1u << 20;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, try_create(NULL, events, 1));
    events[0] = parse("page-faults");
    events[0].reserved = 1;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, try_create(NULL, events, 1));
    /* A name without a terminating NUL. */
    events[0] = parse("page-faults");
    memset(events[0].name, 'x', sizeof events[0].name);
    memset(events[0].unit, 0xff, sizeof events[0].unit);
    CHECK_OK(try_create(NULL, events, 1));
}

int main(void)
{
    RUN(missing_counters_are_explained);
    RUN(event_names);
    RUN(bad_options);
    return report();
}
