/* Sessions on the simulated PMU: checks every reading against the truth, in every scenario and for every width of
 * counter. A reading is right, or it reports the error; and the statistics show that it was taken in the right way. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../test.h"
#include "simulated_pmu.h"

#define MOST 12

/* A session and the known state. */
struct bench {
    picollo_session *session;
    size_t length;
    uint64_t before[MOST]; /* the truth at the last reading */
    int was_reset;         /* since that reading */
    int was_moved;         /* something republished the pages since that reading */
    simulated_pmu_statistics start;
    uint64_t fast, clean, scaled, resynced, not_counted;
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

static void set_truth(struct bench *bench)
{
    for (size_t i = 0; i < bench->length; i++) bench->before[i] = simulated_pmu_truth((uint32_t)i);
    bench->was_reset = bench->was_moved = 0;
}

static void open_bench(struct bench *bench, simulated_pmu_options machine, uint32_t flags, const char *const *names, size_t length)
{
    picollo_error error;
    simulated_pmu_reset(&machine);
    picollo_session_options options = PICOLLO_SESSION_OPTIONS_INIT;
    options.flags = flags;
    memset(bench, 0, sizeof *bench);
    bench->length = length;
    if (picollo_session_open(names, length, &options, &bench->session, &error) != PICOLLO_OK) {
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

/* Reads, and checks all readings against the truth. Stops at the first wrong one: a hundred thousand of them help
 * nobody. */
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
            /* Nothing was counted, and the status reports that instead of a 0. */
            right = truth == bench->before[i] || bench->was_reset;
            bench->not_counted++;
        } else {
            right = reading->status == PICOLLO_OK && reading->raw == expected;
        }
        /* A reset is reported, and nothing else is mistaken for one. */
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
        bench->resynced += resync;
        bench->before[i] = truth;
    }
    bench->was_reset = bench->was_moved = 0;
    return 1;
}

/* Repeats: n units of work and a reading. */
static void count_and_read(struct bench *bench, int times, uint64_t n, uint32_t how)
{
    for (int i = 0; i < times; i++) {
        simulated_pmu_count(n);
        CHECK(read_and_check(bench, how));
    }
}

/* ── the matrix ───────────────────────────────────────────────────────────────────────────────────────── */

static const char *const GROUP[2] = {"cycles", "instructions"}, *const BESIDE[2] = {"cycles", "page-faults"};

/* Readings of each scenario: 100,000, or as many as SIMULATED_PMU_READS says. */
static int reads_of_each(void)
{
    const char *const text = getenv("SIMULATED_PMU_READS");
    const int reads = text == NULL ? 100000 : atoi(text);
    return rounds(reads < 1000 ? 1000 : reads);
}

enum { MID_READ = 1, HIDDEN_INDEX = 2, NO_USER_READS = 4, SHORT_PERIOD = 8, ALSO_SYSCALLS = 16, IDLE = 32, SOFTWARE = 64 };

struct scenario {
    const char *name;
    int action; /* occasionally, between readings */
    int how;
    int one_in; /* once in this many readings */
};

static const struct scenario SCENARIOS[] = {
    {"normal", SIMULATED_PMU_NOTHING, 0, 1},
    {"normal, system calls in between", SIMULATED_PMU_NOTHING, ALSO_SYSCALLS, 1},
    {"idle, system calls in between", SIMULATED_PMU_NOTHING, ALSO_SYSCALLS | IDLE, 1},
    {"short period", SIMULATED_PMU_NOTHING, SHORT_PERIOD, 1},
    {"index 0", SIMULATED_PMU_SWITCH, HIDDEN_INDEX, 10},
    {"no user reads", SIMULATED_PMU_SWITCH, NO_USER_READS, 10},
    {"a software event beside", SIMULATED_PMU_SWITCH, SOFTWARE, 10},
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
    /* Groups are multiplexed only if there are more events than counters. */
    const int rotates = scenario->action == SIMULATED_PMU_ROTATE;
    static const char *const MANY[6] = {"branches", "branch-misses", "cache-misses", "cache-references", "bus-cycles", "L1-dcache-loads"};
    options.counters = rotates ? 3 : 4;

    struct bench bench;
    open_bench(&bench, options, 0, rotates ? MANY : scenario->how & SOFTWARE ? BESIDE : GROUP, rotates ? 6 : 2);
    const int reads = reads_of_each() + 1;
    uint64_t random = width + user_time, moves = 0;
    for (int i = 0; i < reads; i++) {
        /* Small numbers, sometimes a large one, sometimes more than the counter holds. */
        const uint64_t r = next_random(&random) >> 33;
        uint64_t n = r % 1000;
        if (r % 256 == 1) n = (UINT64_C(1) << (width - 3)) + r;
        if (r % 1024 == 2) n = (UINT64_C(3) << width) + r;
        if (scenario->how & SHORT_PERIOD && n > 1 << 22) n = 1 << 22;
        /* An interval without counts must be distinguishable from one in which nothing could be counted. */
        if (scenario->how & IDLE && n < UINT64_C(1) << (width - 3)) n = 0;
        /* A reset cannot be detected if the next counts make up for it: prevent that. */
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
            /* The action may happen in a later reading. */
            simulated_pmu_act_at(0, SIMULATED_PMU_NOTHING);
        }
    }

    const simulated_pmu_statistics now = statistics();
    const uint64_t rdpmcs = now.rdpmcs - bench.start.rdpmcs, calls = now.reads - bench.start.reads;
    printf("width %u, times %u, %-36s %8" PRIu64 " rdpmc %7" PRIu64 " read(2) %8" PRIu64 " fast %8" PRIu64 " clean %6" PRIu64
           " scaled %6" PRIu64 " not counted %5" PRIu64 " resync\n",
           width, user_time, scenario->name, rdpmcs, calls, bench.fast, bench.clean, bench.scaled, bench.not_counted, bench.resynced);
    const uint64_t values = (uint64_t)reads * bench.length;
    if (scenario->how & (HIDDEN_INDEX | NO_USER_READS | SOFTWARE)) {
        CHECK_U64(0, rdpmcs);
        CHECK_U64(0, bench.fast);
        CHECK_U64((uint64_t)reads, calls);
    } else if (scenario->action == SIMULATED_PMU_NOTHING && !(scenario->how & ALSO_SYSCALLS)) {
        /* The kernel is called when the page was re-armed and has no times, or never. */
        CHECK(bench.fast * 10 >= values * 9);
        CHECK(calls * 10 < (uint64_t)reads);
    } else if (!rotates && scenario->action != SIMULATED_PMU_RESET && !(scenario->how & ALSO_SYSCALLS)) {
        /* If a counter was read and not written since, its page requires a system call. */
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

/* ── who may read ─────────────────────────────────────────────────────────────────────────────────────── */

/* Somebody else's events: the kernel would map them, but the counter read there would be our own. */
static void foreign_targets_are_never_read_in_user_space(void)
{
    const struct {
        uint32_t flags;
        int32_t thread, cpu;
    } targets[] = {{0, 1, 0}, {PICOLLO_SESSION_ON_CPU, 0, 0}, {PICOLLO_SESSION_ON_CPU, -1, 0}, {PICOLLO_SESSION_INHERIT, 0, 0}};
    for (size_t t = 0; t < sizeof targets / sizeof targets[0]; t++) {
        const simulated_pmu_options machine_options = machine(48, 1);
        simulated_pmu_reset(&machine_options);
        picollo_session_options options = PICOLLO_SESSION_OPTIONS_INIT;
        picollo_error error;
        picollo_session *session = NULL;
        options.flags = targets[t].flags;
        options.thread = targets[t].thread;
        options.cpu = targets[t].cpu;
        CHECK_OK(picollo_session_open(GROUP, 1, &options, &session, &error));
        for (int i = 0; i < 100; i++) CHECK_OK(picollo_session_read(session, PICOLLO_READ_AUTO, &error));
        CHECK_U64(0, statistics().rdpmcs);
        CHECK_U64(0, statistics().maps);
        picollo_session_free(session);
    }
}

static void a_forked_child_keeps_off(void)
{
    struct bench bench;
    open_bench(&bench, machine(40, 0), 0, GROUP, 2);
    simulated_pmu_count(11);
    CHECK(read_and_check(&bench, PICOLLO_READ_AUTO));
    const simulated_pmu_statistics before = statistics();
    const pid_t child = fork();
    if (child == 0) {
        picollo_error error;
        _exit(picollo_session_read(bench.session, PICOLLO_READ_AUTO, &error) != PICOLLO_ERR_FORKED || strstr(error.message, "fork") == NULL);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    const simulated_pmu_statistics after = statistics();
    CHECK(before.rdpmcs == after.rdpmcs && before.reads == after.reads && before.ioctls == after.ioctls);
    count_and_read(&bench, 100, 13, PICOLLO_READ_AUTO);
    close_bench(&bench);
}

/* ── costs ──────────────────────────────────────────────────────────────────────────────────── */

static void overhead_is_that_of_the_path(void)
{
    simulated_pmu_options options = machine(48, 1);
    options.drift = 10;
    struct bench bench;
    open_bench(&bench, options, PICOLLO_SESSION_SUBTRACT | PICOLLO_SESSION_ORDERED, GROUP, 1);
    picollo_error error;
    CHECK_OK(picollo_session_calibrate(bench.session, &error));
    picollo_event_info info;
    CHECK_OK(picollo_session_event_info(bench.session, 0, &info));
    /* A pair of fast reads contains one rdpmc, a pair of system calls contains one of them. */
    CHECK_U64(10, info.overhead_fast);
    CHECK_U64(1000, info.overhead_syscall);
    /* A reading of each kind after one of each kind: if the two ends differ in kind, no unmeasured overhead is
     * subtracted. */
    static const struct {
        uint32_t how;
        uint64_t work, raw, value;
    } steps[] = {{PICOLLO_READ_AUTO, 77, 87, 77}, {PICOLLO_READ_SYSCALL, 5, 1005, 1005}, {PICOLLO_READ_SYSCALL, 5, 1005, 5}};
    for (int i = 0; i < 100; i++) {
        CHECK_OK(picollo_session_read(bench.session, PICOLLO_READ_AUTO, &error));
        for (size_t step = 0; step < 3; step++) {
            picollo_reading reading;
            simulated_pmu_count(steps[step].work);
            CHECK_OK(picollo_session_read(bench.session, steps[step].how, &error));
            CHECK_OK(readings_of(bench.session, 1, &reading, 1));
            CHECK_U64(steps[step].raw, reading.raw);
            CHECK_U64(steps[step].value, reading.value);
        }
    }
    close_bench(&bench);
}

/* ── the instruction is not trusted blindly ───────────────────────────────────────────────────────────── */

static void auto_finds_the_fault_in_a_child(void)
{
    unsetenv("PICOLLO_RDPMC");
    struct bench bench;
    open_bench(&bench, machine(48, 1), 0, GROUP, 2);
    /* Here the instruction faults, and only the simulation's handler would handle it: the child's own handler ends
     * it. */
    picollo_event_info info;
    CHECK_OK(picollo_session_event_info(bench.session, 0, &info));
    CHECK(!(info.flags & PICOLLO_EVENT_INFO_FAST));
    picollo_perf_info machine_info;
    picollo_error error;
    CHECK_OK(picollo_perf_probe(&machine_info, &error));
    CHECK(machine_info.pmu_available == 1 && machine_info.user_read_available == 0);
    CHECK(strstr(machine_info.explanation, "the instruction faults") != NULL);
    count_and_read(&bench, 1000, 3, PICOLLO_READ_AUTO);
    CHECK_U64(0, bench.fast);
    CHECK_U64(0, statistics().rdpmcs);
    CHECK(waitpid(-1, NULL, WNOHANG | __WALL) == -1 && errno == ECHILD);
    /* The child's event is gone: the simulation notices at the next open. */
    picollo_session_free(bench.session);
}

static void off_is_off(void)
{
    setenv("PICOLLO_RDPMC", "off", 1);
    struct bench bench;
    open_bench(&bench, machine(48, 1), 0, GROUP, 2);
    count_and_read(&bench, 1000, 3, PICOLLO_READ_AUTO);
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

static void the_environment_is_read_once(void)
{
    for (int i = 0; i < 2; i++) {
        struct bench bench;
        open_bench(&bench, machine(48, 1), 0, GROUP, 2);
        picollo_event_info info;
        CHECK_OK(picollo_session_event_info(bench.session, 0, &info));
        CHECK(info.flags & PICOLLO_EVENT_INFO_FAST);
        close_bench(&bench);
        /* This is too late for the second session. */
        setenv("PICOLLO_RDPMC", "off", 1);
    }
    setenv("PICOLLO_RDPMC", "force", 1);
}

static void auto_in_a_child(void) { in_a_child(auto_finds_the_fault_in_a_child); }
static void off_in_a_child(void) { in_a_child(off_is_off); }

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    /* Each policy in a separate process, because it is read once. */
    RUN(auto_in_a_child);
    RUN(off_in_a_child);
    setenv("PICOLLO_RDPMC", "force", 1);
    RUN(the_environment_is_read_once);
    RUN(foreign_targets_are_never_read_in_user_space);
    RUN(a_forked_child_keeps_off);
    RUN(overhead_is_that_of_the_path);
    run_matrix();
    return report();
}
