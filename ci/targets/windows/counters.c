/* Without performance counters, every call on them says so, with an explanation. */
#include "test.h"

static void no_counters(void)
{
    static picollo_event event;
    static picollo_perf_info info;
    static picollo_error error;
    static picollo_event_info event_info;
    picollo_session *session = NULL;

    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_event_parse("cycles", &event, &error));
    CHECK(error.status == PICOLLO_ERR_UNSUPPORTED && error.message[0] != 0);
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_session_create(NULL, &event, 1, &session, &error));
    CHECK(session == NULL && error.message[0] != 0);
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_session_create(NULL, &event, 1, &session, NULL));
    CHECK_OK(picollo_perf_probe(&info, &error));
    CHECK(info.pmu_available == 0 && info.user_read_available == 0 && info.explanation[0] != 0);
    CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, picollo_session_event_info(NULL, 0, &event_info));
    picollo_session_free(NULL);
    printf("%s\n", info.explanation);
}

static void clocks(void)
{
    uint64_t hertz = 0, before, after;
    CHECK_OK(picollo_clock_init());
    CHECK_OK(picollo_clock_frequency(PICOLLO_CLOCK_TSC, &hertz));
    CHECK(hertz > 1000);
    before = picollo_clock_ticks(PICOLLO_CLOCK_TSC);
    picollo_work_add_chain_256(100000);
    after = picollo_clock_ticks(PICOLLO_CLOCK_TSC);
    /* 25.6 million dependent additions. */
    CHECK(picollo_clock_convert(PICOLLO_CLOCK_TSC, after - before, PICOLLO_UNIT_MICROS) >= 1000);
}

static void thread_local_and_wall_clock(void)
{
    picollo_histogram_options options = {0};
    picollo_histogram *histogram = NULL;
    picollo_summary summary;
    options.struct_size = sizeof options;
    options.mode = PICOLLO_MODE_THREAD_LOCAL;
    CHECK_OK(picollo_histogram_create(&options, &histogram));
    for (uint64_t value = 0; value < 1000; value++) picollo_histogram_record(histogram, value);
    CHECK_OK(picollo_histogram_summary(histogram, PICOLLO_VALUE_MIDPOINT, NULL, 0, NULL, &summary));
    CHECK_U64(1000, summary.total_count);
    CHECK(summary.timestamp_unix_nanos > 1600000000000000000u);
    picollo_histogram_free(histogram);
}

int main(void)
{
    RUN(no_counters);
    RUN(clocks);
    RUN(thread_local_and_wall_clock);
    return report();
}
