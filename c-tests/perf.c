/* picollo_perf.h. Software events and breakpoints, which every kernel counts exactly; invalid names and options; the
 * messages of a machine without a PMU. */
#include "test.h"

#include <sys/wait.h>
#include <unistd.h>

static volatile uint64_t watched;

static picollo_event watch(void)
{
    char spec[64];
    snprintf(spec, sizeof spec, "mem:0x%" PRIxPTR "/8:w", (uintptr_t)&watched);
    return parse(spec);
}

static void write_times(int times)
{
    for (int i = 0; i < times; i++) watched = (uint64_t)i;
}

static void exact_counts(void)
{
    /* In about two of fifty runs, a virtual machine lost writes here, or trapped on its own; without memcheck, in none
     * of hundreds. */
    if (is_quick()) {
        printf("SKIPPED exact_counts: under memcheck, debug registers are not dependable on virtual machines\n");
        return;
    }
    const picollo_event events[2] = {watch(), watch()};
    picollo_session *session = open_events(NULL, events, 2);
    picollo_reading readings[3];
    picollo_histogram *histogram = NULL;
    picollo_percentile percentiles[RANKS];
    picollo_summary summary;
    size_t length = 0;
    if (session == NULL) return;
    CHECK_STATUS(PICOLLO_ERR_EMPTY, picollo_session_record(session, 1));
    CHECK_STATUS(PICOLLO_ERR_EMPTY, readings_of(session, 1, readings, 2));

    write_times(1234);
    CHECK_OK(picollo_session_read(session, PICOLLO_READ_AUTO, NULL));
    memset(readings, 0xee, sizeof readings);
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, readings_of(session, 1, readings, 1));
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_session_readings(session, 1, NULL, 0, &length));
    CHECK_U64(2, length);
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, readings_of(session, 2, readings, 2));
    CHECK_U64(UINT64_C(0xeeeeeeeeeeeeeeee), readings[0].value);
    CHECK_OK(readings_of(session, 1, readings, 3));
    CHECK_U64(1234, readings[0].value);
    CHECK_U64(1234, readings[0].raw);
    CHECK_U64(1234, readings[1].value);
    CHECK_U64(UINT64_C(0xeeeeeeeeeeeeeeee), readings[2].value);
    CHECK_STATUS(PICOLLO_OK, readings[0].status);
    CHECK(readings[0].time_running > 0 && readings[0].time_running <= readings[0].time_enabled);

    /* Only once for each read. */
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_session_record(session, 2));
    CHECK_OK(picollo_session_record(session, 1));
    CHECK_STATUS(PICOLLO_ERR_EMPTY, picollo_session_record(session, 1));
    write_times(66);
    CHECK_OK(picollo_session_read(session, PICOLLO_READ_SYSCALL, NULL));
    CHECK_OK(readings_of(session, 1, readings, 2));
    CHECK_U64(66, readings[0].value);
    CHECK_OK(readings_of(session, 0, readings, 2));
    CHECK_U64(1300, readings[0].value);
    CHECK_OK(picollo_session_record(session, 1));

    CHECK_OK(picollo_session_histogram_ref(session, 1, &histogram));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_session_histogram_ref(session, 2, &histogram));
    CHECK_OK(SUMMARIZE(histogram, histogram, PICOLLO_VALUE_LOWER, percentiles, &summary));
    CHECK_U64(2, summary.total_count);
    CHECK_U64(66, summary.percentiles[0].value);
    CHECK_U64(1234, summary.percentiles[RANKS - 1].value);

    /* A reset sets a new base, and clears the histograms. */
    CHECK_OK(picollo_session_reset(session, NULL));
    CHECK_OK(SUMMARIZE(histogram, histogram, PICOLLO_VALUE_LOWER, percentiles, &summary));
    CHECK_U64(0, summary.total_count);
    CHECK_STATUS(PICOLLO_ERR_EMPTY, picollo_session_record(session, 0));
    write_times(7);
    CHECK_OK(picollo_session_read(session, PICOLLO_READ_AUTO, NULL));
    CHECK_OK(readings_of(session, 0, readings, 2));
    CHECK_U64(7, readings[0].value);
    CHECK_OK(picollo_session_record(session, 0));

    /* The histogram outlives its session. */
    picollo_session_free(session);
    CHECK_OK(SUMMARIZE(histogram, histogram, PICOLLO_VALUE_LOWER, percentiles, &summary));
    CHECK_U64(1, summary.total_count);
    picollo_histogram_free(histogram);
}

static void forks(void)
{
    const picollo_event event = watch();
    picollo_session *session = open_events(NULL, &event, 1);
    picollo_reading reading;
    pid_t child;
    int child_status = -1;
    if (session == NULL) return;
    write_times(3);
    child = fork();
    if (child == 0) {
        picollo_event_info info;
        picollo_event copy;
        picollo_histogram *histogram;
        const picollo_status refused[] = {
            picollo_session_read(session, PICOLLO_READ_AUTO, NULL), picollo_session_read(session, PICOLLO_READ_SYSCALL, NULL),
            picollo_session_record(session, 1), readings_of(session, 1, &reading, 1),
            picollo_session_enable(session, NULL), picollo_session_disable(session, NULL),
            picollo_session_calibrate(session, NULL), picollo_session_reset(session, NULL),
            picollo_session_event(session, 0, &copy), picollo_session_event_info(session, 0, &info),
            picollo_session_histogram_ref(session, 0, &histogram),
        };
        int wrong = 0;
        for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) wrong += refused[i] != PICOLLO_ERR_FORKED;
        picollo_session_free(session);
        _exit(wrong);
    }
    CHECK(child > 0 && waitpid(child, &child_status, 0) == child);
    CHECK(WIFEXITED(child_status) && WEXITSTATUS(child_status) == 0);
    /* The parent's counters still count. */
    write_times(4);
    CHECK_OK(picollo_session_read(session, PICOLLO_READ_AUTO, NULL));
    CHECK_OK(readings_of(session, 1, &reading, 1));
    CHECK_U64(7, reading.value);
    picollo_session_free(session);
}

static void opened_by_name(void)
{
    static const char *const specs[] = {"page-faults", "Software:TaskClock"}, *const wrong[] = {"page-faults", "page-faults:q"},
                      *const none[] = {"page-faults", NULL};
    const char *many[PICOLLO_SESSION_MAX_EVENTS + 1];
    const picollo_session_options options = session_options();
    picollo_session *session = NULL;
    picollo_error error;
    picollo_event event;
    memset(&error, 0, sizeof error);
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_session_open(wrong, 2, &options, &session, &error));
    CHECK(error.event_index == 1 && error.message[0] != 0);
    CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, picollo_session_open(none, 2, NULL, &session, &error));
    CHECK(error.event_index == 1);
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_session_open(specs, 0, NULL, &session, NULL));
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) many[i] = "page-faults";
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_session_open(many, sizeof many / sizeof *many, NULL, &session, &error));
    CHECK(error.message[0] != 0 && session == NULL);
    if (picollo_session_open(specs, 2, &options, &session, &error) != PICOLLO_OK) {
        printf("SKIPPED: cannot count here: %s\n", error.message);
        return;
    }
    CHECK_OK(picollo_session_event(session, 1, &event));
    CHECK_TEXT("Software:TaskClock", event.name);
    picollo_session_free(session);
}

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
    RUN(opened_by_name);
    RUN(exact_counts);
    RUN(forks);
    RUN(missing_counters_are_explained);
    RUN(event_names);
    RUN(bad_options);
    return report();
}
