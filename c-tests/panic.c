/* Panics inside the library stop at its boundary. This needs a library built with --cfg picollo_plant_panic
 * (ci/sanitizers.sh), in which every call panics while PICOLLO_PLANT_PANIC is set; with others, it is skipped. */
#include "test.h"

static void panics_become_a_status(void)
{
    picollo_histogram *histogram = create(0.01, 0, 1000), *none = NULL;
    picollo_snapshot *snapshot = snapshot_of(histogram);
    picollo_session *session = NULL;
    picollo_event event;
    picollo_error error;
    picollo_summary summary;
    picollo_counts counts = {7, 7, 7, 7};
    picollo_scope scope;
    CHECK_OK(picollo_event_parse("page-faults", &event, &error));
    picollo_scope_begin(histogram, PICOLLO_CLOCK_MONOTONIC, PICOLLO_UNIT_NANOS, &scope);

    setenv("PICOLLO_PLANT_PANIC", "1", 1);
    CHECK_STATUS(PICOLLO_ERR_PANIC, picollo_histogram_create(NULL, &none));
    CHECK_STATUS(PICOLLO_ERR_PANIC, picollo_histogram_reset(histogram));
    CHECK_STATUS(PICOLLO_ERR_PANIC, picollo_snapshot_create(histogram, NULL));
    CHECK_STATUS(PICOLLO_ERR_PANIC, picollo_snapshot_update(snapshot, 0));
    CHECK_STATUS(PICOLLO_ERR_PANIC, picollo_snapshot_counts(snapshot, &counts));
    CHECK_STATUS(PICOLLO_ERR_PANIC, picollo_histogram_summary(histogram, PICOLLO_VALUE_MIDPOINT, NULL, 0, NULL, &summary));
    memset(&error, 0, sizeof error);
    CHECK_STATUS(PICOLLO_ERR_PANIC, picollo_session_create(NULL, &event, 1, &session, &error));
    CHECK(error.status == PICOLLO_ERR_PANIC && error.message[0] != 0);
    CHECK_STATUS(PICOLLO_ERR_PANIC, picollo_session_create(NULL, &event, 1, &session, NULL));
    CHECK_STATUS(PICOLLO_ERR_PANIC, picollo_server_start(NULL, NULL, NULL, NULL, &error));
    /* Functions without a status do nothing. */
    picollo_histogram_record_corrected(histogram, 5, 1);
    CHECK_U64(0, picollo_scope_end(&scope));
    CHECK_U64(0, picollo_clock_convert(PICOLLO_CLOCK_MONOTONIC, 1000, PICOLLO_UNIT_NANOS));
    picollo_histogram_free(histogram);
    picollo_snapshot_free(snapshot);
    CHECK(none == NULL && session == NULL && counts.total == 7);
    unsetenv("PICOLLO_PLANT_PANIC");

    /* Nothing has changed, and it still works. */
    picollo_histogram_record(histogram, 5);
    CHECK_OK(picollo_snapshot_update(snapshot, 0));
    CHECK_OK(picollo_snapshot_counts(snapshot, &counts));
    CHECK_U64(1, counts.total);
    picollo_snapshot_free(snapshot);
    picollo_histogram_free(histogram);
}

int main(void)
{
    picollo_status status;
    picollo_histogram *histogram = NULL;
    setenv("PICOLLO_PLANT_PANIC", "1", 1);
    status = picollo_histogram_create(NULL, &histogram);
    unsetenv("PICOLLO_PLANT_PANIC");
    if (status != PICOLLO_ERR_PANIC) {
        printf("SKIPPED: this library was not built to panic\n0 passed, 1 failed\n");
        return EXIT_FAILURE;
    }
    RUN(panics_become_a_status);
    return report();
}
