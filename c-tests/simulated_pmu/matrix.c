/* Sessions on the simulated PMU: every reading is held against the truth, in every scenario and for every width of counter.
 * A reading is right, or it says what is wrong with it; and the statistics tell that it was taken the way it should be. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../test.h"
#include "simulated_pmu.h"

#define MOST 12

/* A session and what is known of it. */
struct bench {
    picollo_session *session;
    size_t length;
    uint64_t before[MOST]; /* the truth at the last reading */
    int was_reset;         /* since then */
    int was_moved;         /* something since then republished the pages */
    simulated_pmu_statistics start;
    uint64_t fast, clean, scaled, resynced, not_counted, stale;
};

static simulated_pmu_statistics statistics(void)
{
    simulated_pmu_statistics now;
    simulated_pmu_get_statistics(&now);
    return now;
}

static simulated_pmu_options machine(uint32_t width, uint32_t user_time)
{
    simulated_pmu_options options;
    memset(&options, 0, sizeof options);
    options.width = width;
    options.counters = 4;
    options.user_reads = 1;
    options.user_time = user_time;
    return options;
}

static picollo_status try_open(struct bench *bench, uint32_t flags, const char *const *names, size_t length, picollo_error *error)
{
    picollo_event events[MOST];
    picollo_session_options options;
    memset(bench, 0, sizeof *bench);
    memset(&options, 0, sizeof options);
    options.struct_size = sizeof options;
    options.flags = flags;
    for (size_t i = 0; i < length; i++) CHECK_OK(picollo_event_parse(names[i], &events[i], error));
    bench->length = length;
    return picollo_session_create(&options, events, length, &bench->session, error);
}

static void set_truth(struct bench *bench)
{
    for (size_t i = 0; i < bench->length; i++) bench->before[i] = simulated_pmu_truth((uint32_t)i);
    bench->was_reset = bench->was_moved = 0;
}

static void open_bench(struct bench *bench, uint32_t flags, const char *const *names, size_t length)
{
    picollo_error error;
    memset(&error, 0, sizeof error);
    CHECK_OK(try_open(bench, flags, names, length, &error));
    if (bench->session == NULL) {
        fprintf(stderr, "no session: %s\n", error.message);
        exit(1);
    }
    set_truth(bench);
    bench->start = statistics();
}

static void close_bench(struct bench *bench)
{
    const simulated_pmu_statistics now = statistics();
    CHECK_U64(0, now.resets);
    CHECK_U64(0, now.foreign_rdpmcs);
    picollo_session_free(bench->session);
    CHECK_U64(0, statistics().open_events);
}

/* Reads, and holds all readings against the truth. Stops at the first lie: a hundred thousand of them help nobody. */
static int read_and_check(struct bench *bench, uint32_t how)
{
    picollo_reading readings[MOST];
    picollo_error error;
    if (picollo_session_read(bench->session, how, &error) != PICOLLO_OK) {
        fprintf(stderr, "read: %s\n", error.message);
        CHECK(!"read");
        return 0;
    }
    CHECK_OK(readings_of(bench->session, 1, readings, bench->length));
    for (size_t i = 0; i < bench->length; i++) {
        const picollo_reading *reading = &readings[i];
        const uint64_t truth = simulated_pmu_truth((uint32_t)i);
        const int resync = (reading->flags & PICOLLO_READING_RESYNC) != 0;
        const uint64_t expected = resync ? truth : truth - bench->before[i];
        int right = 1;
        if (reading->status == PICOLLO_ERR_NOT_COUNTED) {
            /* Nothing was counted, and it says so instead of saying 0. */
            right = truth == bench->before[i] || bench->was_reset;
            bench->not_counted++;
        } else {
            right = reading->status == PICOLLO_OK && reading->raw == expected;
        }
        /* A reset is told, and nothing else is taken for one. */
        if (resync && !bench->was_reset) right = 0;
        if (!resync && bench->was_reset && truth < bench->before[i]) right = 0;
        /* Clean: nothing happened in between. */
        if ((reading->flags & PICOLLO_READING_CLEAN) && bench->was_moved) right = 0;
        if (reading->time_running > reading->time_enabled) right = 0;
        if (!(reading->flags & PICOLLO_READING_SCALED) && reading->status == PICOLLO_OK && reading->value != reading->raw) right = 0;
        if (!right) {
            fprintf(stderr, "event %zu: raw %" PRIu64 ", truth %" PRIu64 " (was %" PRIu64 "), flags %#x, status %d, reset %d, moved %d\n",
                    i, reading->raw, expected, bench->before[i], reading->flags, reading->status, bench->was_reset, bench->was_moved);
            CHECK(!"a lie");
            return 0;
        }
        bench->fast += (reading->flags & PICOLLO_READING_FAST) != 0;
        bench->clean += (reading->flags & PICOLLO_READING_CLEAN) != 0;
        bench->scaled += (reading->flags & PICOLLO_READING_SCALED) != 0;
        bench->stale += (reading->flags & PICOLLO_READING_TIMES_STALE) != 0;
        bench->resynced += resync;
        bench->before[i] = truth;
    }
    bench->was_reset = bench->was_moved = 0;
    return 1;
}

/* ── the matrix ───────────────────────────────────────────────────────────────────────────────────────── */

static const char *const GROUP[2] = {"cycles", "instructions"};

/* Readings of each scenario: 100,000, or as many as SIMULATED_PMU_READS says. */
static int reads_of_each(void)
{
    const char *const text = getenv("SIMULATED_PMU_READS");
    const int reads = text == NULL ? 100000 : atoi(text);
    return rounds(reads < 1000 ? 1000 : reads);
}

enum { MID_READ = 1, HIDDEN_INDEX = 2, NO_USER_READS = 4, SHORT_PERIOD = 8, ALSO_SYSCALLS = 16, IDLE = 32 };

struct scenario {
    const char *name;
    int action; /* now and then between readings */
    int how;
    int one_in; /* of so many readings */
};

static const struct scenario SCENARIOS[] = {
    {"normal", SIMULATED_PMU_NOTHING, 0, 1},
    {"normal, system calls in between", SIMULATED_PMU_NOTHING, ALSO_SYSCALLS, 1},
    {"idle, system calls in between", SIMULATED_PMU_NOTHING, ALSO_SYSCALLS | IDLE, 1},
    {"short period", SIMULATED_PMU_NOTHING, SHORT_PERIOD, 1},
    {"index 0", SIMULATED_PMU_SWITCH, HIDDEN_INDEX, 10},
    {"no user reads", SIMULATED_PMU_SWITCH, NO_USER_READS, 10},
    {"reset by another holder", SIMULATED_PMU_RESET, 0, 20},
    {"reset in the middle of a reading", SIMULATED_PMU_RESET, MID_READ, 20},
    {"rotate", SIMULATED_PMU_ROTATE, 0, 5},
    {"rotate in the middle of a reading", SIMULATED_PMU_ROTATE, MID_READ, 5},
    {"re-arm", SIMULATED_PMU_REARM, 0, 3},
    {"re-arm in the middle of a reading", SIMULATED_PMU_REARM, MID_READ, 3},
    {"migrate", SIMULATED_PMU_MIGRATE, 0, 5},
    {"migrate in the middle of a reading", SIMULATED_PMU_MIGRATE, MID_READ, 5},
    {"read by another holder", SIMULATED_PMU_FOREIGN_READ, 0, 2},
    {"mapped by another holder", SIMULATED_PMU_SILENCE, 0, 5},
};

static void run_scenario(const struct scenario *scenario, uint32_t width, uint32_t user_time)
{
    simulated_pmu_options options = machine(width, user_time);
    options.hidden = (scenario->how & HIDDEN_INDEX) != 0;
    options.user_reads = (scenario->how & NO_USER_READS) == 0;
    if (scenario->how & SHORT_PERIOD) options.period = 20;
    /* For groups that take turns there must be more events than counters. */
    const int rotates = scenario->action == SIMULATED_PMU_ROTATE;
    static const char *const MANY[6] = {"branches", "branch-misses", "cache-misses", "cache-references", "bus-cycles", "L1-dcache-loads"};
    options.counters = rotates ? 3 : 4;
    simulated_pmu_reset(&options);

    struct bench bench;
    open_bench(&bench, 0, rotates ? MANY : GROUP, rotates ? 6 : 2);
    const int reads = reads_of_each() + 1;
    uint64_t random = width + user_time, moves = 0;
    for (int i = 0; i < reads; i++) {
        /* Small numbers, now and then a large one, now and then more than the counter holds. */
        const uint64_t r = next_random(&random) >> 33;
        uint64_t n = r % 1000;
        if (r % 256 == 1) n = (UINT64_C(1) << (width - 3)) + r;
        if (r % 1024 == 2) n = (UINT64_C(3) << width) + r;
        if (scenario->how & SHORT_PERIOD && n > 1 << 22) n = 1 << 22;
        /* Every interval without a count must be told from one in which nothing could be counted. */
        if (scenario->how & IDLE && n < UINT64_C(1) << (width - 3)) n = 0;
        /* A reset that was made up for by the next reading cannot be told: see to it that it was not. */
        const int acts = scenario->action != SIMULATED_PMU_NOTHING && i % scenario->one_in == scenario->one_in - 1;
        const int resets = acts && scenario->action == SIMULATED_PMU_RESET;
        simulated_pmu_count(resets && !(scenario->how & MID_READ) ? n + 2000 : n);
        if (resets) {
            if (!read_and_check(&bench, PICOLLO_READ_AUTO)) break;
        }
        if (acts) {
            if (scenario->how & MID_READ) simulated_pmu_act_at(1 + (uint32_t)(r % 4), scenario->action);
            else simulated_pmu_act(scenario->action);
            bench.was_reset = scenario->action == SIMULATED_PMU_RESET;
            bench.was_moved = scenario->action != SIMULATED_PMU_FOREIGN_READ && !(scenario->how & MID_READ);
            moves++;
            if (!(scenario->how & MID_READ)) simulated_pmu_count(resets ? r % 1000 : r % 7);
        }
        if (scenario->how & ALSO_SYSCALLS && i % 3 == 0 && !read_and_check(&bench, PICOLLO_READ_SYSCALL)) break;
        if (!read_and_check(&bench, PICOLLO_READ_AUTO)) break;
        if (scenario->how & MID_READ) {
            /* What was set off may come to pass in a later reading. */
            simulated_pmu_act_at(0, SIMULATED_PMU_NOTHING);
        }
    }

    const simulated_pmu_statistics now = statistics();
    const uint64_t rdpmcs = now.rdpmcs - bench.start.rdpmcs, calls = now.reads - bench.start.reads;
    printf("width %u, times %u, %-36s %8" PRIu64 " rdpmc %7" PRIu64 " read(2) %8" PRIu64 " fast %8" PRIu64 " clean %6" PRIu64
           " scaled %6" PRIu64 " not counted %5" PRIu64 " resync\n",
           width, user_time, scenario->name, rdpmcs, calls, bench.fast, bench.clean, bench.scaled, bench.not_counted, bench.resynced);
    const uint64_t values = (uint64_t)reads * bench.length;
    if (scenario->how & (HIDDEN_INDEX | NO_USER_READS)) {
        CHECK_U64(0, rdpmcs);
        CHECK_U64(0, bench.fast);
        CHECK_U64((uint64_t)reads, calls);
    } else if (scenario->action == SIMULATED_PMU_NOTHING && !(scenario->how & ALSO_SYSCALLS)) {
        /* The kernel is asked when the page was re-armed and the page has no times, or never. */
        CHECK(bench.fast * 10 >= values * 9);
        CHECK(calls * 10 < (uint64_t)reads);
    } else if (!rotates && scenario->action != SIMULATED_PMU_RESET && !(scenario->how & ALSO_SYSCALLS)) {
        /* A page that shows a counter that was read, and not written since, is one that the kernel must be asked about. */
        const int shows_raw = scenario->action == SIMULATED_PMU_SILENCE;
        if (user_time && !shows_raw) CHECK(calls * 10 < (uint64_t)reads);
        CHECK(calls <= moves * 2 + (uint64_t)reads / 50);
    }
    if (scenario->action == SIMULATED_PMU_RESET && !(scenario->how & MID_READ)) CHECK(bench.resynced > 0);
    if (scenario->how & ALSO_SYSCALLS) CHECK(bench.fast > 0);
    if (rotates) CHECK(bench.scaled + bench.not_counted > 0);
    if (!rotates) CHECK_U64(0, bench.scaled + bench.not_counted);
    close_bench(&bench);
}

static const struct scenario *the_scenario;
static uint32_t the_width, the_time;
static void scenario_of_the_matrix(void) { run_scenario(the_scenario, the_width, the_time); }

static void run_matrix(void)
{
    static const uint32_t widths[3] = {32, 40, 48};
    for (size_t i = 0; i < sizeof SCENARIOS / sizeof SCENARIOS[0]; i++) {
        for (size_t w = 0; w < 3; w++) {
            for (the_time = 0; the_time < 2; the_time++) {
                the_scenario = &SCENARIOS[i];
                the_width = widths[w];
                RUN(scenario_of_the_matrix);
            }
        }
    }
}

/* ── opening ──────────────────────────────────────────────────────────────────────────────────────────── */

static void pinned_without_room(void)
{
    static const uint32_t widths[3] = {32, 40, 48};
    for (size_t w = 0; w < 3; w++) {
        const simulated_pmu_options options = machine(widths[w], 0);
        simulated_pmu_reset(&options);
        simulated_pmu_refuse_pinned(1);
        struct bench bench;
        open_bench(&bench, PICOLLO_SESSION_PINNED, GROUP, 2);
        for (size_t i = 0; i < 2; i++) {
            picollo_event_info info;
            CHECK_OK(picollo_session_event_info(bench.session, i, &info));
            CHECK(info.flags & PICOLLO_EVENT_INFO_UNPINNED);
            CHECK(info.flags & PICOLLO_EVENT_INFO_FAST);
            CHECK(strstr(info.message, "pinned") != NULL);
        }
        const int reads = reads_of_each();
        for (int i = 0; i < reads; i++) {
            simulated_pmu_count((uint64_t)i);
            if (!read_and_check(&bench, PICOLLO_READ_AUTO)) break;
        }
        /* Where counters overflow, the kernel is asked now and then. */
        CHECK(bench.fast * 10 >= (uint64_t)reads * 2 * 9);
        close_bench(&bench);
    }
}

static void pinned_with_room(void)
{
    const simulated_pmu_options options = machine(48, 1);
    simulated_pmu_reset(&options);
    struct bench bench;
    open_bench(&bench, PICOLLO_SESSION_PINNED, GROUP, 2);
    picollo_event_info info;
    CHECK_OK(picollo_session_event_info(bench.session, 0, &info));
    CHECK(!(info.flags & PICOLLO_EVENT_INFO_UNPINNED));
    simulated_pmu_count(7);
    read_and_check(&bench, PICOLLO_READ_AUTO);
    close_bench(&bench);
}

/* Another thread enables it, or reads it after it was pushed off, and its events are opened again: for the opener. */
static void *enable_elsewhere(void *argument)
{
    picollo_error error;
    CHECK_OK(picollo_session_enable(((struct bench *)argument)->session, &error));
    return NULL;
}

static void *disable_elsewhere(void *argument)
{
    picollo_error error;
    CHECK_OK(picollo_session_disable(((struct bench *)argument)->session, &error));
    return NULL;
}

static void *read_by_system_call(void *argument)
{
    picollo_error error;
    CHECK_OK(picollo_session_read(((struct bench *)argument)->session, PICOLLO_READ_SYSCALL, &error));
    return NULL;
}

static void elsewhere(void *(*body)(void *), struct bench *bench)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, body, bench) == 0);
    pthread_join(thread, NULL);
}

static void another_thread_does_not_count_itself(void)
{
    for (int later = 0; later < 2; later++) {
        const simulated_pmu_options options = machine(48, 1);
        simulated_pmu_reset(&options);
        struct bench bench;
        picollo_error error;
        CHECK_OK(try_open(&bench, PICOLLO_SESSION_PINNED | PICOLLO_SESSION_DISABLED, GROUP, 2, &error));
        if (later) CHECK_OK(picollo_session_enable(bench.session, &error));
        simulated_pmu_refuse_pinned(1);
        simulated_pmu_act(SIMULATED_PMU_SWITCH);
        elsewhere(later ? read_by_system_call : enable_elsewhere, &bench);
        picollo_event_info info;
        CHECK_OK(picollo_session_event_info(bench.session, 0, &info));
        CHECK((info.flags & PICOLLO_EVENT_INFO_UNPINNED) && (info.flags & PICOLLO_EVENT_INFO_FAST));
        CHECK_OK(picollo_session_reset(bench.session, &error));
        for (int i = 0; i < 100; i++) {
            picollo_reading readings[2];
            simulated_pmu_count_on((int32_t)syscall(SYS_gettid), 3);
            /* Nobody's: of no thread that is counted. */
            simulated_pmu_count_on(-5, 1000);
            CHECK_OK(picollo_session_read(bench.session, PICOLLO_READ_AUTO, &error));
            CHECK_OK(readings_of(bench.session, 1, readings, 2));
            CHECK_OK(readings[0].status);
            CHECK_U64(3, readings[0].raw);
            CHECK_U64(6, readings[1].raw);
            CHECK(i == 0 || (readings[0].flags & PICOLLO_READING_FAST));
        }
        close_bench(&bench);
    }
}

/* Opening again fails for one group: the other is read in user space as before. */
static void a_failed_reopening_leaves_the_others(void)
{
    static const char *const names[4] = {"branches", "branch-misses", "cache-misses", "cache-references"};
    for (int later = 0; later < 2; later++) {
        simulated_pmu_options options = machine(48, 1);
        options.counters = 2;
        simulated_pmu_reset(&options);
        struct bench bench;
        picollo_error error;
        const uint32_t flags = PICOLLO_SESSION_PINNED | PICOLLO_SESSION_DISABLED | PICOLLO_SESSION_SKIP_UNAVAILABLE;
        CHECK_OK(try_open(&bench, flags, names, 4, &error));
        if (later) CHECK_OK(picollo_session_enable(bench.session, &error));
        simulated_pmu_refuse_pinned(1);
        simulated_pmu_act(SIMULATED_PMU_SWITCH);
        simulated_pmu_fail_open(2, EBUSY);
        if (later) CHECK_OK(picollo_session_read(bench.session, PICOLLO_READ_AUTO, &error));
        else CHECK_OK(picollo_session_enable(bench.session, &error));
        CHECK_U64(2, statistics().open_events);
        for (size_t i = 0; i < 4; i++) {
            picollo_event_info info;
            CHECK_OK(picollo_session_event_info(bench.session, i, &info));
            CHECK((info.status == PICOLLO_OK) == (i >= 2) && info.os_errno == (i < 2 ? EBUSY : 0));
            CHECK(((info.flags & PICOLLO_EVENT_INFO_FAST) != 0) == (i >= 2));
        }
        CHECK_OK(picollo_session_read(bench.session, PICOLLO_READ_AUTO, &error));
        const uint64_t rdpmcs = statistics().rdpmcs, reads = statistics().reads;
        for (int i = 0; i < 100; i++) {
            picollo_reading readings[4];
            simulated_pmu_count(5);
            CHECK_OK(picollo_session_read(bench.session, PICOLLO_READ_AUTO, &error));
            CHECK_OK(readings_of(bench.session, 1, readings, 4));
            CHECK_STATUS(PICOLLO_ERR_OS, readings[0].status);
            CHECK_OK(readings[2].status);
            CHECK_U64(20, readings[2].raw);
            CHECK(readings[2].flags & PICOLLO_READING_FAST);
        }
        CHECK_U64(rdpmcs + 200, statistics().rdpmcs);
        CHECK_U64(reads, statistics().reads);
        close_bench(&bench);
    }
}

/* Started and stopped by another thread: the answer from before does not stand for what was counted in between. */
static void stopped_by_another_thread(void)
{
    for (uint32_t hidden = 0; hidden < 2; hidden++) {
        simulated_pmu_options options = machine(48, 1);
        options.hidden = hidden;
        simulated_pmu_reset(&options);
        struct bench bench;
        picollo_error error;
        picollo_reading readings[2];
        CHECK_OK(try_open(&bench, PICOLLO_SESSION_DISABLED, GROUP, 2, &error));
        for (int i = 0; i < 10; i++) {
            elsewhere(enable_elsewhere, &bench);
            simulated_pmu_count(100);
            elsewhere(disable_elsewhere, &bench);
            CHECK_OK(picollo_session_read(bench.session, PICOLLO_READ_AUTO, &error));
            CHECK_OK(readings_of(bench.session, 1, readings, 2));
            CHECK_OK(readings[0].status);
            CHECK_U64(100, readings[0].raw);
            CHECK_U64(200, readings[1].raw);
        }
        close_bench(&bench);
    }
}

static const int ERRORS[] = {ENOENT, EACCES, EPERM, ENOSYS, EINVAL, EOPNOTSUPP, ENODEV, ENXIO, EBUSY, EMFILE,
                             ENFILE, ENOSPC, E2BIG, ESRCH, EBADF, ENOMEM, EINTR, EAGAIN};

/* Each errno at each open: the session says which event and why, leaves nothing open, or counts right all the same. */
static void every_errno_at_every_open(void)
{
    static const char *const names[3] = {"cycles", "instructions", "branch-misses"};
    static const uint32_t widths[3] = {32, 40, 48};
    int failed = 0, survived = 0;
    for (size_t w = 0; w < 3; w++) {
        for (size_t e = 0; e < sizeof ERRORS / sizeof ERRORS[0]; e++) {
            for (uint32_t nth = 1; nth <= 3; nth++) {
                for (uint32_t flags = 0; flags <= PICOLLO_SESSION_SKIP_UNAVAILABLE; flags += PICOLLO_SESSION_SKIP_UNAVAILABLE) {
                    const simulated_pmu_options options = machine(widths[w], 1);
                    simulated_pmu_reset(&options);
                    simulated_pmu_fail_open(nth, ERRORS[e]);
                    struct bench bench;
                    picollo_error error;
                    memset(&error, 0, sizeof error);
                    const picollo_status status = try_open(&bench, flags, names, 3, &error);
                    if (status != PICOLLO_OK) {
                        failed++;
                        CHECK(flags == 0);
                        CHECK(bench.session == NULL);
                        CHECK(error.status == status && error.os_errno == ERRORS[e]);
                        CHECK(error.event_index == (int)nth - 1);
                        CHECK(strlen(error.message) > 20);
                        CHECK_U64(0, statistics().open_events);
                        continue;
                    }
                    survived++;
                    /* Those that are open count; one that is not says why. The truth is of open events only. */
                    picollo_event_info info[3];
                    uint32_t open = 0;
                    for (size_t i = 0; i < 3; i++) {
                        CHECK_OK(picollo_session_event_info(bench.session, i, &info[i]));
                        if (info[i].status == PICOLLO_OK) open++;
                        else CHECK(info[i].os_errno == ERRORS[e] && strlen(info[i].message) > 20 && i == nth - 1);
                    }
                    CHECK(open >= 2 && open == statistics().open_events);
                    picollo_reading readings[3];
                    for (int i = 0; i < 20; i++) {
                        uint64_t before[3], after[3];
                        CHECK_OK(picollo_session_read(bench.session, PICOLLO_READ_AUTO, &error));
                        for (uint32_t k = 0; k < open; k++) before[k] = simulated_pmu_truth(k);
                        simulated_pmu_count(1000 + (uint64_t)i);
                        CHECK_OK(picollo_session_read(bench.session, PICOLLO_READ_AUTO, &error));
                        for (uint32_t k = 0; k < open; k++) after[k] = simulated_pmu_truth(k);
                        CHECK_OK(readings_of(bench.session, 1, readings, 3));
                        uint32_t k = 0;
                        for (size_t j = 0; j < 3; j++) {
                            if (info[j].status != PICOLLO_OK) {
                                CHECK(readings[j].status == info[j].status);
                                continue;
                            }
                            CHECK_OK(readings[j].status);
                            CHECK_U64(after[k] - before[k], readings[j].raw);
                            k++;
                        }
                    }
                    picollo_session_free(bench.session);
                    CHECK_U64(0, statistics().open_events);
                }
            }
        }
    }
    printf("%d refused with an explanation, %d opened all the same\n", failed, survived);
    CHECK(failed > 50 && survived > 50);
}

/* A PMU with fewer counters than the group wants: more groups, told by the infos. */
static void a_small_pmu_makes_more_groups(void)
{
    static const char *const names[6] = {"branches", "branch-misses", "cache-misses", "cache-references", "bus-cycles", "cycles"};
    simulated_pmu_options options = machine(48, 1);
    options.counters = 2;
    simulated_pmu_reset(&options);
    struct bench bench;
    open_bench(&bench, 0, names, 6);
    picollo_event_info info;
    CHECK_OK(picollo_session_event_info(bench.session, 5, &info));
    CHECK(info.group == 2);
    close_bench(&bench);
}

/* ── who may read ─────────────────────────────────────────────────────────────────────────────────────── */

static void *read_elsewhere(void *argument)
{
    struct bench *bench = (struct bench *)argument;
    picollo_error error;
    CHECK_STATUS(PICOLLO_ERR_WRONG_THREAD, picollo_session_read(bench->session, PICOLLO_READ_AUTO, &error));
    CHECK(strstr(error.message, "thread") != NULL);
    for (int i = 0; i < 100; i++) {
        simulated_pmu_count(3);
        CHECK(read_and_check(bench, PICOLLO_READ_SYSCALL));
    }
    CHECK_OK(picollo_session_reset(bench->session, &error));
    return NULL;
}

static void another_thread(void)
{
    const simulated_pmu_options options = machine(48, 1);
    simulated_pmu_reset(&options);
    struct bench bench;
    open_bench(&bench, 0, GROUP, 2);
    read_and_check(&bench, PICOLLO_READ_AUTO);
    const uint64_t rdpmcs = statistics().rdpmcs;
    pthread_t thread;
    pthread_create(&thread, NULL, read_elsewhere, &bench);
    pthread_join(thread, NULL);
    CHECK_U64(rdpmcs, statistics().rdpmcs);
    set_truth(&bench);
    for (int i = 0; i < 100; i++) {
        simulated_pmu_count(5);
        CHECK(read_and_check(&bench, PICOLLO_READ_AUTO));
    }
    CHECK(statistics().rdpmcs > rdpmcs);
    close_bench(&bench);
}

/* Somebody else's events: the kernel would let them be mapped, and the counter read there would be our own. */
static void foreign_targets_are_never_read_in_user_space(void)
{
    const struct {
        uint32_t flags;
        int32_t thread, cpu;
    } targets[] = {{0, 1, 0}, {PICOLLO_SESSION_ON_CPU, 0, 0}, {PICOLLO_SESSION_ON_CPU, -1, 0}, {PICOLLO_SESSION_INHERIT, 0, 0}};
    for (size_t t = 0; t < sizeof targets / sizeof targets[0]; t++) {
        const simulated_pmu_options machine_options = machine(48, 1);
        simulated_pmu_reset(&machine_options);
        picollo_session_options options;
        picollo_event event;
        picollo_error error;
        picollo_session *session = NULL;
        memset(&options, 0, sizeof options);
        options.struct_size = sizeof options;
        options.flags = targets[t].flags;
        options.thread = targets[t].thread;
        options.cpu = targets[t].cpu;
        CHECK_OK(picollo_event_parse("cycles", &event, &error));
        CHECK_OK(picollo_session_create(&options, &event, 1, &session, &error));
        for (int i = 0; i < 100; i++) CHECK_OK(picollo_session_read(session, PICOLLO_READ_AUTO, &error));
        CHECK_U64(0, statistics().rdpmcs);
        CHECK_U64(0, statistics().maps);
        picollo_session_free(session);
    }
}

static void a_forked_child_keeps_off(void)
{
    const simulated_pmu_options options = machine(40, 0);
    simulated_pmu_reset(&options);
    struct bench bench;
    open_bench(&bench, 0, GROUP, 2);
    simulated_pmu_count(11);
    CHECK(read_and_check(&bench, PICOLLO_READ_AUTO));
    const simulated_pmu_statistics before = statistics();
    const pid_t child = fork();
    if (child == 0) {
        picollo_error error;
        picollo_reading readings[2];
        int wrong = picollo_session_read(bench.session, PICOLLO_READ_AUTO, &error) != PICOLLO_ERR_FORKED;
        wrong |= strstr(error.message, "fork") == NULL;
        wrong |= picollo_session_read(bench.session, PICOLLO_READ_SYSCALL, &error) != PICOLLO_ERR_FORKED;
        wrong |= readings_of(bench.session, 1, readings, 2) != PICOLLO_ERR_FORKED;
        wrong |= picollo_session_disable(bench.session, &error) != PICOLLO_ERR_FORKED;
        wrong |= picollo_session_reset(bench.session, &error) != PICOLLO_ERR_FORKED;
        _exit(wrong);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    const simulated_pmu_statistics after = statistics();
    CHECK(before.rdpmcs == after.rdpmcs && before.reads == after.reads && before.ioctls == after.ioctls);
    for (int i = 0; i < 100; i++) {
        simulated_pmu_count(13);
        CHECK(read_and_check(&bench, PICOLLO_READ_AUTO));
    }
    close_bench(&bench);
}

/* ── costs and times ──────────────────────────────────────────────────────────────────────────────────── */

static void overhead_is_that_of_the_path(void)
{
    simulated_pmu_options options = machine(48, 1);
    options.drift = 10;
    simulated_pmu_reset(&options);
    struct bench bench;
    static const char *const names[1] = {"cycles"};
    open_bench(&bench, PICOLLO_SESSION_SUBTRACT | PICOLLO_SESSION_ORDERED, names, 1);
    picollo_error error;
    CHECK_OK(picollo_session_calibrate(bench.session, &error));
    picollo_event_info info;
    CHECK_OK(picollo_session_event_info(bench.session, 0, &info));
    /* A pair of fast reads has one rdpmc in it, a pair of system calls has one of them. */
    CHECK_U64(10, info.overhead_fast);
    CHECK_U64(1000, info.overhead_syscall);
    picollo_reading reading;
    for (int i = 0; i < 100; i++) {
        CHECK_OK(picollo_session_read(bench.session, PICOLLO_READ_AUTO, &error));
        simulated_pmu_count(77);
        CHECK_OK(picollo_session_read(bench.session, PICOLLO_READ_AUTO, &error));
        CHECK_OK(readings_of(bench.session, 1, &reading, 1));
        CHECK_U64(87, reading.raw);
        CHECK_U64(77, reading.value);
        /* Ends of two kinds: nothing is subtracted that was not measured. */
        CHECK_OK(picollo_session_read(bench.session, PICOLLO_READ_SYSCALL, &error));
        CHECK_OK(readings_of(bench.session, 1, &reading, 1));
        CHECK_U64(reading.raw, reading.value);
        simulated_pmu_count(5);
        CHECK_OK(picollo_session_read(bench.session, PICOLLO_READ_SYSCALL, &error));
        CHECK_OK(readings_of(bench.session, 1, &reading, 1));
        CHECK_U64(1005, reading.raw);
        CHECK_U64(5, reading.value);
    }
    close_bench(&bench);
}

/* What stands still costs no system call. */
static void a_stopped_session_is_asked_once(void)
{
    const simulated_pmu_options options = machine(48, 0);
    simulated_pmu_reset(&options);
    struct bench bench;
    open_bench(&bench, 0, GROUP, 2);
    picollo_error error;
    picollo_reading readings[2];
    simulated_pmu_count(100);
    CHECK_OK(picollo_session_disable(bench.session, &error));
    simulated_pmu_count(1000);
    CHECK_OK(picollo_session_read(bench.session, PICOLLO_READ_AUTO, &error));
    CHECK_OK(readings_of(bench.session, 1, readings, 2));
    CHECK_U64(100, readings[0].raw);
    const simulated_pmu_statistics before = statistics();
    for (int i = 0; i < 1000; i++) {
        CHECK_OK(picollo_session_read(bench.session, PICOLLO_READ_AUTO, &error));
        CHECK_OK(readings_of(bench.session, 1, readings, 2));
        CHECK(readings[0].status == PICOLLO_ERR_NOT_COUNTED && readings[1].status == PICOLLO_ERR_NOT_COUNTED);
    }
    CHECK_U64(before.reads, statistics().reads);
    CHECK_OK(readings_of(bench.session, 0, readings, 2));
    CHECK_U64(100, readings[0].raw);
    CHECK_U64(200, readings[1].raw);
    CHECK_OK(picollo_session_enable(bench.session, &error));
    set_truth(&bench);
    simulated_pmu_count(50);
    CHECK(read_and_check(&bench, PICOLLO_READ_AUTO));
    close_bench(&bench);
}

/* Times of a reading in user space lie between those before and after it. */
static void times_go_on(void)
{
    for (uint32_t user_time = 0; user_time < 2; user_time++) {
        const simulated_pmu_options options = machine(48, user_time);
        simulated_pmu_reset(&options);
        struct bench bench;
        open_bench(&bench, 0, GROUP, 2);
        picollo_error error;
        picollo_reading readings[2];
        /* The base is taken at some time between the two starts, which a busy machine may put far apart. */
        uint64_t enabled[2], start[2], running;
        simulated_pmu_times(0, &start[0], &running);
        CHECK_OK(picollo_session_reset(bench.session, &error));
        simulated_pmu_times(0, &start[1], &running);
        for (int i = 0; i < 1000; i++) {
            simulated_pmu_count(9);
            simulated_pmu_times(0, &enabled[0], &running);
            CHECK_OK(picollo_session_read(bench.session, PICOLLO_READ_AUTO, &error));
            simulated_pmu_times(0, &enabled[1], &running);
            CHECK_OK(readings_of(bench.session, 0, readings, 2));
            /* Without the page's times, the two clocks differ by parts in a thousand. */
            const uint64_t slack = 1000000 + (enabled[1] - start[0]) / 100;
            CHECK(readings[0].time_enabled + slack >= enabled[0] - start[1]);
            CHECK(readings[0].time_enabled <= enabled[1] - start[0] + slack);
            CHECK(readings[0].time_enabled == readings[0].time_running);
            CHECK(!(readings[0].flags & PICOLLO_READING_TIMES_STALE));
        }
        close_bench(&bench);
    }
}

/* Software events beside hardware ones: read by system call, all together. */
static void software_events_beside(void)
{
    static const char *const names[3] = {"cycles", "page-faults", "instructions"};
    const simulated_pmu_options options = machine(48, 1);
    simulated_pmu_reset(&options);
    struct bench bench;
    open_bench(&bench, 0, names, 3);
    for (int i = 0; i < 1000; i++) {
        simulated_pmu_count((uint64_t)i);
        if (!read_and_check(&bench, PICOLLO_READ_AUTO)) break;
    }
    close_bench(&bench);
}

/* ── the instruction is not trusted blindly ───────────────────────────────────────────────────────────── */

static void auto_finds_the_fault_in_a_child(void)
{
    const simulated_pmu_options options = machine(48, 1);
    simulated_pmu_reset(&options);
    unsetenv("PICOLLO_RDPMC");
    struct bench bench;
    open_bench(&bench, 0, GROUP, 2);
    /* Here the instruction faults, and only the simulation's handler would make it good: the child has its own, which ends it. */
    picollo_event_info info;
    CHECK_OK(picollo_session_event_info(bench.session, 0, &info));
    CHECK(!(info.flags & PICOLLO_EVENT_INFO_FAST));
    picollo_perf_info machine_info;
    picollo_error error;
    CHECK_OK(picollo_perf_probe(&machine_info, &error));
    CHECK(machine_info.pmu_available == 1 && machine_info.user_read_available == 0);
    CHECK(strstr(machine_info.explanation, "the instruction faults") != NULL);
    for (int i = 0; i < 1000; i++) {
        simulated_pmu_count(3);
        CHECK(read_and_check(&bench, PICOLLO_READ_AUTO));
    }
    CHECK_U64(0, bench.fast);
    CHECK_U64(0, statistics().rdpmcs);
    CHECK(waitpid(-1, NULL, WNOHANG | __WALL) == -1 && errno == ECHILD);
    /* The child's event is gone with it: the simulation notices at the next open. */
    picollo_session_free(bench.session);
}

static void off_is_off(void)
{
    const simulated_pmu_options options = machine(48, 1);
    simulated_pmu_reset(&options);
    setenv("PICOLLO_RDPMC", "off", 1);
    struct bench bench;
    open_bench(&bench, 0, GROUP, 2);
    for (int i = 0; i < 1000; i++) {
        simulated_pmu_count(3);
        CHECK(read_and_check(&bench, PICOLLO_READ_AUTO));
    }
    CHECK_U64(0, statistics().rdpmcs);
    CHECK_U64(0, statistics().maps);
    close_bench(&bench);
    picollo_perf_info machine_info;
    picollo_error error;
    CHECK_OK(picollo_perf_probe(&machine_info, &error));
    CHECK(machine_info.pmu_available == 1 && machine_info.user_read_available == 0);
    CHECK(strstr(machine_info.explanation, "PICOLLO_RDPMC=off") != NULL);
}

static void in_a_child(void (*test)(void))
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        test();
        _exit(test_failures != 0);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void auto_in_a_child(void) { in_a_child(auto_finds_the_fault_in_a_child); }
static void off_in_a_child(void) { in_a_child(off_is_off); }

static void the_environment_is_read_once(void)
{
    const simulated_pmu_options options = machine(48, 1);
    for (int i = 0; i < 2; i++) {
        simulated_pmu_reset(&options);
        struct bench bench;
        open_bench(&bench, 0, GROUP, 2);
        picollo_event_info info;
        CHECK_OK(picollo_session_event_info(bench.session, 0, &info));
        CHECK(info.flags & PICOLLO_EVENT_INFO_FAST);
        close_bench(&bench);
        /* Too late. */
        setenv("PICOLLO_RDPMC", "off", 1);
    }
    setenv("PICOLLO_RDPMC", "force", 1);
}

static void by_system_call_only(void)
{
    const simulated_pmu_options options = machine(48, 1);
    simulated_pmu_reset(&options);
    struct bench bench;
    open_bench(&bench, PICOLLO_SESSION_SYSCALL_ONLY, GROUP, 2);
    picollo_event_info info;
    CHECK_OK(picollo_session_event_info(bench.session, 0, &info));
    CHECK(!(info.flags & PICOLLO_EVENT_INFO_FAST));
    for (int i = 0; i < 1000; i++) {
        simulated_pmu_count(3);
        CHECK(read_and_check(&bench, PICOLLO_READ_AUTO));
    }
    CHECK_U64(0, bench.fast);
    CHECK_U64(0, statistics().rdpmcs);
    CHECK_U64(0, statistics().maps);
    close_bench(&bench);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    /* Each policy in a process of its own: it is read once. */
    RUN(auto_in_a_child);
    RUN(off_in_a_child);
    setenv("PICOLLO_RDPMC", "force", 1);
    RUN(the_environment_is_read_once);
    RUN(by_system_call_only);
    RUN(pinned_without_room);
    RUN(pinned_with_room);
    RUN(another_thread_does_not_count_itself);
    RUN(a_failed_reopening_leaves_the_others);
    RUN(stopped_by_another_thread);
    RUN(every_errno_at_every_open);
    RUN(a_small_pmu_makes_more_groups);
    RUN(another_thread);
    RUN(foreign_targets_are_never_read_in_user_space);
    RUN(a_forked_child_keeps_off);
    RUN(overhead_is_that_of_the_path);
    RUN(a_stopped_session_is_asked_once);
    RUN(times_go_on);
    RUN(software_events_beside);
    run_matrix();
    return report();
}
