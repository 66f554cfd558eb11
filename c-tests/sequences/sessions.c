/* Sessions of software events, which every machine has. */
#include "buffers.h"

static const char *const names[] = {
    "page-faults", "task-clock", "context-switches", "cpu-migrations", "cycles", "instructions:u", "Software:PageFaults",
};

static void op_create(struct world *world)
{
    picollo_session_options options = PICOLLO_SESSION_OPTIONS_INIT;
    picollo_event events[4];
    picollo_error error;
    const size_t length = (size_t)choose(world, 5), slot = (size_t)choose(world, 2);
    picollo_session *session = NULL;
    const picollo_session_options *asked;
    picollo_status status;
    options.flags = rarely(world, 3) ? (uint32_t)choose(world, 512) & ~(uint32_t)PICOLLO_SESSION_ON_CPU : PICOLLO_SESSION_SKIP_UNAVAILABLE;
    options.relative_error = 0.05;
    options.counter_bits = (uint32_t)choose(world, 3) * 32;
    const char *specs[4];
    for (size_t i = 0; i < 4; i++) {
        specs[i] = names[choose(world, 7)];
        if (picollo_event_parse(specs[i], &events[i], NULL) != PICOLLO_OK) return;
        /* Fields that no parser produces. */
        if (rarely(world, 16)) ((unsigned char *)&events[i])[choose(world, sizeof events[i])] = (unsigned char)choose(world, 256);
    }
    memset(&error, 0, sizeof error);
    asked = rarely(world, 8) ? NULL : &options;
    status = rarely(world, 2) ? picollo_session_open(specs, length, asked, &session, &error)
                              : picollo_session_create(asked, events, length, &session, &error);
    REQUIRE(status == PICOLLO_OK ? session != NULL : session == NULL && error.status == status && error.message[0] != 0);
    REQUIRE(status != PICOLLO_ERR_PANIC);
    if (status != PICOLLO_OK) return;
    picollo_session_free(world->sessions[slot]);
    world->sessions[slot] = session;
    world->session_records[slot] = 0;
    world->session_unknown[slot] = 0;
    world->session_errors[slot] = asked == NULL ? 0 : options.relative_error;
}

static void op_free(struct world *world)
{
    const size_t slot = (size_t)choose(world, 2);
    picollo_session_free(world->sessions[slot]);
    world->sessions[slot] = NULL;
}

/* Each record is in the histogram of an event, or is counted as not counted. */
static void check_records(struct world *world, size_t slot, size_t length)
{
    for (size_t i = 0; i < length && !world->session_unknown[slot]; i++) {
        picollo_histogram *histogram = NULL;
        picollo_event_info info;
        picollo_summary summary;
        EXPECT(PICOLLO_OK, picollo_session_event_info(world->sessions[slot], i, &info));
        const picollo_status status = picollo_session_histogram_ref(world->sessions[slot], i, &histogram);
        /* A skipped event has none. */
        REQUIRE(status == PICOLLO_OK || (status == info.status && histogram == NULL));
        memset(&summary, 0, sizeof summary);
        if (status == PICOLLO_OK) EXPECT(PICOLLO_OK, picollo_histogram_summary(histogram, 0, NULL, 0, NULL, &summary));
        if (PLANTED(6)) info.not_counted_count++;
        SAME(world->session_records[slot], summary.total_count + info.not_counted_count);
        REQUIRE(memchr(info.message, 0, sizeof info.message) != NULL && (info.status == PICOLLO_OK || summary.total_count == 0));
        picollo_histogram_free(histogram);
    }
}

static void op_use(struct world *world)
{
    const size_t slot = (size_t)choose(world, 2);
    picollo_session *const session = world->sessions[slot];
    picollo_reading readings[PICOLLO_SESSION_MAX_EVENTS];
    picollo_event event;
    picollo_event_info info;
    picollo_histogram *histogram = NULL;
    picollo_error error;
    picollo_status status;
    size_t length = 0, told = 0, index;
    const uint32_t deltas = (uint32_t)choose(world, 2);
    if (session == NULL) return;
    while (picollo_session_event(session, length, &event) == PICOLLO_OK) length++;
    REQUIRE(length > 0 && length <= 4);
    index = (size_t)choose(world, length);
    EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_session_event(session, length + index, &event));
    EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_session_event_info(session, SIZE_MAX - index, &info));
    EXPECT(PICOLLO_OK, picollo_session_event(session, index, &event));
    EXPECT(PICOLLO_OK, picollo_session_event_info(session, index, &info));
    switch (choose(world, 8)) {
    case 0:
        status = picollo_session_enable(session, &error);
        break;
    case 1:
        status = picollo_session_disable(session, &error);
        break;
    case 2:
        /* A calibration takes at least a millisecond. */
        status = rarely(world, 16) ? picollo_session_calibrate(session, NULL) : picollo_session_reset(session, &error);
        world->session_unknown[slot] = 1;
        break;
    case 3:
        EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_session_histogram_ref(session, length, &histogram));
        status = picollo_session_histogram_ref(session, index, &histogram);
        /* A skipped event has none. */
        REQUIRE(status == PICOLLO_OK || status == info.status);
        if (status == PICOLLO_OK) {
            /* Session histograms cover all 64-bit values. */
            const picollo_histogram_options options = {.struct_size = sizeof options, .relative_error = world->session_errors[slot]};
            struct model *const model = new_model(world, &options);
            /* Only the session writes it. */
            model->mode = PICOLLO_MODE_SINGLE_WRITER;
            model->exact = model->conserved = 0;
            keep_histogram(world, pick(world), histogram, model);
            world->session_unknown[slot] = 1;
        }
        status = PICOLLO_OK;
        break;
    case 4:
        EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_session_record(session, 2));
        status = picollo_session_record(session, deltas);
        REQUIRE(status == PICOLLO_OK || status == PICOLLO_ERR_EMPTY);
        world->session_records[slot] += status == PICOLLO_OK;
        check_records(world, slot, length);
        break;
    case 5:
        status = picollo_session_readings(session, deltas, readings, length, &told);
        if (status == PICOLLO_OK) SAME(length, told);
        EXPECT(status == PICOLLO_OK ? PICOLLO_ERR_BUFFER_TOO_SMALL : status,
               picollo_session_readings(session, deltas, readings, length - 1, &told));
        if (status == PICOLLO_OK) SAME(length, told);
        REQUIRE(status == PICOLLO_OK || status == PICOLLO_ERR_EMPTY);
        break;
    default:
        EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_session_read(session, 2, NULL));
        status = picollo_session_read(session, deltas, NULL);
        break;
    }
    REQUIRE(status != PICOLLO_ERR_PANIC && status != PICOLLO_ERR_NULL_POINTER);
}

const struct operation session_operations[] = {
    {"session_create", op_create, 3},
    {"session_free", op_free, 1},
    {"session", op_use, 16},
    {NULL, NULL, 0},
};
