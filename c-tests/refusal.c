/* Performance counters: names and options that are none, and what a machine without a PMU has to say. */
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

    /* It can be left out instead, and is never a zero. */
    options.flags = PICOLLO_SESSION_SKIP_UNAVAILABLE;
    session = open_events(&options, events, 2);
    if (session != NULL) {
        picollo_event_info event_info;
        picollo_reading readings[2];
        picollo_histogram *histogram = NULL;
        picollo_summary summary;
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
        CHECK_OK(picollo_session_histogram_ref(session, 1, &histogram));
        CHECK_OK(picollo_histogram_summary(histogram, PICOLLO_VALUE_MIDPOINT, &summary));
        CHECK_U64(0, summary.total_count);
        picollo_histogram_free(histogram);
        picollo_session_free(session);
    }
}

static void event_names(void)
{
    static const char *const bad[] = {"", "   ", "mem:0x10/3:w", "mem:zz/8:w"};
    picollo_event event;
    picollo_error error;
    event = parse("cycles");
    CHECK_TEXT("Hardware:CpuCycles", event.name);
    event = parse("Hardware:CpuCycles");
    CHECK_TEXT("Hardware:CpuCycles", event.name);
    event = parse("branch-misses");
    CHECK_TEXT("Hardware:BranchMisses", event.name);
    CHECK_U64(0x1c2, parse("r01c2").config);
    CHECK_U64(4, parse("r01c2").type);
    CHECK_U64(PICOLLO_EVENT_USER, parse("instructions:u").modifiers);
    CHECK(parse("cycles").scale == 1);
    memset(&event, 0xee, sizeof event);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        memset(&error, 0xee, sizeof error);
        CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_event_parse(bad[i], &event, &error));
        CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, error.status);
        CHECK(error.event_index == -1 && error.os_errno == 0 && error.reserved == 0 && strlen(error.message) > 10);
    }
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

static void bad_options(void)
{
    struct newer {
        picollo_session_options known;
        uint64_t unknown[4];
    } newer;
    static picollo_event events[PICOLLO_SESSION_MAX_EVENTS + 1];
    for (size_t i = 0; i < PICOLLO_SESSION_MAX_EVENTS + 1; i++) events[i] = parse("page-faults");
    memset(&newer, 0, sizeof newer);
    for (uint32_t size = 0; size < sizeof newer.known; size++) {
        newer.known.struct_size = size;
        CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, try_create(&newer.known, events, 1));
    }
    newer.known.struct_size = sizeof newer;
    CHECK_OK(try_create(&newer.known, events, 1));
    newer.unknown[3] = 1;
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, try_create(&newer.known, events, 1));
    newer.known.struct_size = UINT32_MAX;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, try_create(&newer.known, events, 1));

    newer.known = session_options();
    newer.known.flags = 1u << 9;
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, try_create(&newer.known, events, 1));
    newer.known = session_options();
    newer.known.reserved = 1;
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, try_create(&newer.known, events, 1));
    newer.known = session_options();
    newer.known.counter_bits = 16;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, try_create(&newer.known, events, 1));
    newer.known = session_options();
    newer.known.thread = -1;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, try_create(&newer.known, events, 1));
    newer.known.thread = -2;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, try_create(&newer.known, events, 1));
    newer.known.thread = 0;
    newer.known.cpu = -1;
    CHECK_OK(try_create(&newer.known, events, 1)); /* not read without ON_CPU */
    newer.known.flags = PICOLLO_SESSION_ON_CPU;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, try_create(&newer.known, events, 1));

    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, try_create(NULL, events, 0));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, try_create(NULL, events, PICOLLO_SESSION_MAX_EVENTS + 1));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, try_create(NULL, events, SIZE_MAX));
    CHECK_OK(try_create(NULL, events, PICOLLO_SESSION_MAX_EVENTS));
    events[0].modifiers = 1u << 20;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, try_create(NULL, events, 1));
    events[0] = parse("page-faults");
    events[0].reserved = 1;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, try_create(NULL, events, 1));
    /* A name without an end. */
    events[0] = parse("page-faults");
    memset(events[0].name, 'x', sizeof events[0].name);
    memset(events[0].unit, 0xff, sizeof events[0].unit);
    CHECK_OK(try_create(NULL, events, 1));
}

static void nulls(void)
{
    const picollo_event event = parse("page-faults");
    picollo_session *session = open_events(NULL, &event, 1), *out = NULL;
    picollo_event copy;
    picollo_event_info info;
    picollo_perf_info perf;
    picollo_reading reading;
    picollo_histogram *histogram = NULL;
    picollo_error error;
    size_t length = 77;
    memset(&error, 0, sizeof error);
    CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, picollo_event_parse(NULL, &copy, &error));
    CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, error.status);
    CHECK(strlen(error.message) > 5);
    CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, picollo_event_parse("cycles", NULL, &error));
    CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, picollo_event_parse(NULL, NULL, NULL));
    CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, picollo_perf_probe(NULL, &error));
    CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, picollo_perf_probe(NULL, NULL));
    CHECK_OK(picollo_perf_probe(&perf, NULL));
    CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, picollo_session_create(NULL, NULL, 1, &out, &error));
    CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, picollo_session_create(NULL, &event, 1, NULL, &error));
    CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, picollo_session_length(NULL, &length));
    CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, picollo_session_event(NULL, 0, &copy));
    CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, picollo_session_event_info(NULL, 0, &info));
    CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, picollo_session_enable(NULL, &error));
    CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, picollo_session_disable(NULL, NULL));
    CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, picollo_session_calibrate(NULL, &error));
    CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, picollo_session_read(NULL, PICOLLO_READ_AUTO, &error));
    CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, picollo_session_record(NULL, 1));
    CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, readings_of(NULL, 1, &reading, 1));
    CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, picollo_session_reset(NULL, NULL));
    CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, picollo_session_histogram_ref(NULL, 0, &histogram));
    picollo_session_free(NULL);
    if (session == NULL) return;
    CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, picollo_session_length(session, NULL));
    CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, picollo_session_event(session, 0, NULL));
    CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, picollo_session_event_info(session, 0, NULL));
    CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, readings_of(session, 1, NULL, 1));
    CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, picollo_session_histogram_ref(session, 0, NULL));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_session_event(session, 1, &copy));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_session_event_info(session, SIZE_MAX, &info));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_session_read(session, 2, &error));
    CHECK(out == NULL && histogram == NULL && length == 77);
    picollo_session_free(session);
}

int main(void)
{
    RUN(missing_counters_are_explained);
    RUN(event_names);
    RUN(bad_options);
    RUN(nulls);
    return report();
}
