/* The cost of a reading, in instructions, through the exported functions of the shipped library: the CPU stops after
 * every instruction (the trap flag), and a handler counts. The count includes the counter read itself. It is exact, and
 * the same on every run and machine. */
#define _GNU_SOURCE
#include <signal.h>

#include "../test.h"
#include "simulated_pmu.h"

static volatile uint64_t steps;

static void on_step(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info, (void)context;
    steps++;
}

/* The instructions of a call, and those of the empty call that the measurement adds. */
static __attribute__((noinline)) uint64_t count_steps(void (*call)(picollo_session *), picollo_session *session)
{
    steps = 0;
    __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" : : : "memory", "cc");
    call(session);
    __asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" : : : "memory", "cc");
    return steps;
}

static __attribute__((noinline)) void nothing(picollo_session *session) { __asm__ volatile("" : : "r"(session) : "memory"); }
static __attribute__((noinline)) void read_fast(picollo_session *session)
{
    picollo_session_read(session, PICOLLO_READ_AUTO, NULL);
}
static __attribute__((noinline)) void record(picollo_session *session) { picollo_session_record(session, 1); }

static const char *const EVENTS[4] = {"cycles", "instructions", "branch-misses", "cache-misses"};

static void measure(size_t length, uint32_t user_time, uint64_t limit)
{
    simulated_pmu_options machine;
    memset(&machine, 0, sizeof machine);
    machine.width = 48;
    machine.counters = 4;
    machine.user_reads = 1;
    machine.user_time = user_time;
    simulated_pmu_reset(&machine);
    picollo_event events[4];
    picollo_session *session = NULL;
    picollo_error error;
    for (size_t i = 0; i < length; i++) CHECK_OK(picollo_event_parse(EVENTS[i], &events[i], &error));
    CHECK_OK(picollo_session_create(NULL, events, length, &session, &error));
    uint64_t least = UINT64_MAX, most = 0, recording = UINT64_MAX;
    const uint64_t empty = count_steps(nothing, session);
    for (int i = 0; i < 100; i++) {
        simulated_pmu_statistics before, after;
        simulated_pmu_count(100);
        simulated_pmu_get_statistics(&before);
        const uint64_t cost = count_steps(read_fast, session) - empty;
        simulated_pmu_get_statistics(&after);
        CHECK(after.rdpmcs - before.rdpmcs == length && after.reads == before.reads);
        picollo_reading readings[4];
        CHECK_OK(readings_of(session, 1, readings, length));
        CHECK(readings[0].raw == 100);
        /* The first pair does not have two fast ends. */
        if (i > 0) {
            if (cost < least) least = cost;
            if (cost > most) most = cost;
        }
        const uint64_t recorded = count_steps(record, session) - empty;
        if (recorded < recording) recording = recorded;
    }
    printf("picollo_session_read, %zu counter(s), times from the %s: %" PRIu64 " instructions (at most %" PRIu64
           "); picollo_session_record: %" PRIu64 "\n",
           length, user_time ? "page" : "clock", least, most, recording);
    CHECK(most <= limit);
    picollo_session_free(session);
}

static void one_counter(void) { measure(1, 1, 220); }
static void one_counter_own_clock(void) { measure(1, 0, 220); }
static void four_counters(void) { measure(4, 1, 440); }

int main(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_step;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &action, NULL);
    setenv("PICOLLO_RDPMC", "force", 1);
    RUN(one_counter);
    RUN(one_counter_own_clock);
    RUN(four_counters);
    return report();
}
