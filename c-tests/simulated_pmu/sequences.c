/* Sessions between two threads, in any order: created for the one or the other, enabled, stopped, reset, read and freed by either,
 * pinned, thrown off the PMU, opened again, while each of the threads does work of its own. Every value must be what the thread
 * that the session was opened for has done since, and nothing of the other's.
 *
 * Each sequence follows from its number, which is printed with all that was done when one fails. PICOLLO_SEQUENCES says how many
 * there are (5,000), PICOLLO_SEQUENCE which one is to be done alone. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../test.h"
#include "simulated_pmu.h"

enum { SUBJECTS = 3, MOST = 3 };

/* A session, and what is known of it. */
struct subject {
    picollo_session *session;
    size_t length;
    int opener;     /* which thread's, by its number */
    int32_t target; /* the id of the thread that it counts */
    int inherits, pinned, enabled;
    int thrown_off;     /* the PMU had no room: nothing is counted until it is noticed */
    int was_thrown_off; /* and noticed */
    int may_fail;       /* opening its events again was refused */
    uint64_t pending;   /* done by the target since the last reading, while it was counted */
    uint64_t total;     /* of all readings since the base */
};

/* cycles, instructions and branches count one, two and one times the work: config % 4 + 1. */
static const char *const NAMES[MOST] = {"cycles", "instructions", "branches"};
static const uint64_t RATES[MOST] = {1, 2, 1};
static picollo_event events[MOST];

static struct subject subjects[SUBJECTS];
static uint64_t random_state;
static int no_room; /* for pinned groups */
static uint32_t width, period;
static uint64_t readings_checked, fast_readings, thrown_off_readings, reopened, refusals;

static char history[1 << 14];
static size_t history_length;

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(history + history_length, sizeof history - history_length, format, arguments);
    va_end(arguments);
    if (length > 0 && history_length + (size_t)length < sizeof history) history_length += (size_t)length;
}

static uint32_t below(uint32_t n) { return (uint32_t)((next_random(&random_state) >> 33) % n); }
static int one_in(uint32_t n) { return below(n) == 0; }

/* ── two threads, of which one works at a time ────────────────────────────────────────────────────────── */

/* The first is the main thread; the second is replaced now and then, and each replacement has a number of its own. */
static int32_t ids[2];
static int numbers[2] = {0, 1};
static pthread_t second;
static sem_t wanted, done;
static void (*task)(int);
static int ending;

static int32_t thread_id(void) { return (int32_t)syscall(SYS_gettid); }

static void *work(void *unused)
{
    (void)unused;
    ids[1] = thread_id();
    sem_post(&done);
    for (;;) {
        while (sem_wait(&wanted) != 0) continue;
        if (ending) return NULL;
        task(1);
        sem_post(&done);
    }
}

static void start_second(void)
{
    ending = 0;
    numbers[1]++;
    if (pthread_create(&second, NULL, work, NULL) != 0) abort();
    while (sem_wait(&done) != 0) continue;
}

static void end_second(void)
{
    ending = 1;
    sem_post(&wanted);
    pthread_join(second, NULL);
}

static void on(int thread, void (*what)(int))
{
    if (thread == 0) {
        what(0);
        return;
    }
    task = what;
    sem_post(&wanted);
    while (sem_wait(&done) != 0) continue;
}

/* ── what they do ─────────────────────────────────────────────────────────────────────────────────────── */

static struct subject *subject;
static uint32_t how;

static void create_one(int thread)
{
    picollo_session_options options;
    picollo_error error;
    memset(subject, 0, sizeof *subject);
    memset(&options, 0, sizeof options);
    options.struct_size = sizeof options;
    options.relative_error = 0.25;
    if (!one_in(3)) options.flags |= PICOLLO_SESSION_PINNED;
    if (one_in(2)) options.flags |= PICOLLO_SESSION_DISABLED;
    if (one_in(8)) options.flags |= PICOLLO_SESSION_INHERIT;
    if (one_in(4)) options.flags |= PICOLLO_SESSION_ORDERED;
    if (one_in(8)) options.flags |= PICOLLO_SESSION_SKIP_UNAVAILABLE;
    /* Itself, by no name or by its own, or the other. */
    const uint32_t whom = below(4);
    options.thread = whom < 2 ? 0 : whom == 2 ? ids[thread] : ids[1 - thread];
    subject->length = 1 + below(MOST);
    subject->opener = numbers[thread];
    subject->target = options.thread == 0 ? ids[thread] : options.thread;
    subject->inherits = (options.flags & PICOLLO_SESSION_INHERIT) != 0;
    subject->enabled = (options.flags & PICOLLO_SESSION_DISABLED) == 0;
    subject->pinned = (options.flags & PICOLLO_SESSION_PINNED) != 0 && !(subject->enabled && no_room);
    note("thread %d creates %d: flags %#x, thread %d, %zu events\n", thread, (int)(subject - subjects), options.flags,
         options.thread, subject->length);
    CHECK_OK(picollo_session_create(&options, events, subject->length, &subject->session, &error));
}

static void free_one(int thread)
{
    note("thread %d frees %d\n", thread, (int)(subject - subjects));
    picollo_session_free(subject->session);
    subject->session = NULL;
}

/* A pinned group that was thrown off is pinned again if there is room, and this is the first time. */
static void notice(void)
{
    if (!subject->thrown_off) return;
    if (subject->enabled) {
        if (no_room || subject->was_thrown_off) {
            subject->pinned = 0;
            reopened++;
        }
        subject->thrown_off = 0;
    }
    subject->was_thrown_off = 1;
}

static int is_gone(int32_t id) { return id != ids[0] && id != ids[1]; }

static void enable_one(int thread)
{
    picollo_error error;
    note("thread %d enables %d\n", thread, (int)(subject - subjects));
    const picollo_status status = picollo_session_enable(subject->session, &error);
    if (status != PICOLLO_OK) {
        /* The thread has ended, so nothing is opened for it. */
        if (!subject->pinned || !no_room || !(is_gone(subject->target) || subject->may_fail)) CHECK_OK(status);
        note("  refused: %s\n", error.message);
        refusals++;
        free_one(thread);
        return;
    }
    if (is_gone(subject->target) && no_room) subject->may_fail = 1;
    if (no_room) subject->pinned = 0;
    subject->enabled = 1;
    subject->thrown_off = 0;
    subject->pending = subject->total = 0;
}

static void disable_one(int thread)
{
    picollo_error error;
    note("thread %d stops %d\n", thread, (int)(subject - subjects));
    CHECK_OK(picollo_session_disable(subject->session, &error));
    subject->enabled = 0;
}

static void reset_one(int thread)
{
    picollo_error error;
    note("thread %d resets %d\n", thread, (int)(subject - subjects));
    CHECK_OK(picollo_session_reset(subject->session, &error));
    if (is_gone(subject->target)) subject->may_fail = 1;
    notice();
    subject->pending = subject->total = 0;
}

static void read_one(int thread)
{
    picollo_error error;
    picollo_reading deltas[MOST], all[MOST];
    const int auto_here = numbers[thread] == subject->opener;
    const int is_auto = how == PICOLLO_READ_AUTO;
    /* Thrown off without room, it is opened again; now and then that is refused. */
    if (subject->thrown_off && no_room && subject->enabled && (auto_here || !is_auto) && one_in(4)) {
        simulated_pmu_fail_open(1 + below(4), EBUSY);
        subject->may_fail = 1;
        note("opening will be refused\n");
    }
    note("thread %d reads %d %s\n", thread, (int)(subject - subjects), is_auto ? "itself" : "by system call");
    if (is_auto && !auto_here) {
        CHECK_STATUS(PICOLLO_ERR_WRONG_THREAD, picollo_session_read(subject->session, how, &error));
        return;
    }
    CHECK_OK(picollo_session_read(subject->session, how, &error));
    simulated_pmu_fail_open(0, 0);
    if (is_gone(subject->target)) subject->may_fail = 1;
    CHECK_OK(readings_of(subject->session, 1, deltas, subject->length));
    CHECK_OK(readings_of(subject->session, 0, all, subject->length));
    const int off = subject->thrown_off;
    if (off) thrown_off_readings++;
    else subject->total += subject->pending;
    notice();
    const int own = is_auto && subject->target == ids[thread] && !subject->inherits;
    for (size_t i = 0; i < subject->length; i++) {
        const picollo_reading *delta = &deltas[i], *since = &all[i];
        readings_checked++;
        fast_readings += (delta->flags & PICOLLO_READING_FAST) != 0;
        if (delta->status != PICOLLO_OK && delta->status != PICOLLO_ERR_NOT_COUNTED) {
            /* Its events are closed, and it says why. */
            CHECK(subject->may_fail);
            note("  closed\n");
            refusals++;
            free_one(thread);
            return;
        }
        int right = 1;
        if (off) right = delta->status == PICOLLO_ERR_NOT_COUNTED;
        else if (delta->status == PICOLLO_OK) right = delta->raw == subject->pending * RATES[i] && delta->value == delta->raw;
        else right = subject->pending == 0;
        if (since->status == PICOLLO_OK) right &= since->raw == subject->total * RATES[i];
        else right &= subject->total == 0;
        if (!own && (delta->flags & PICOLLO_READING_FAST)) right = 0;
        if ((delta->flags | since->flags) & (PICOLLO_READING_RESYNC | PICOLLO_READING_SCALED)) right = 0;
        if (!right) {
            note("event %zu: status %d raw %" PRIu64 " flags %#x, since the base status %d raw %" PRIu64 "; done %" PRIu64
                 ", since the base %" PRIu64 ", off %d\n",
                 i, delta->status, delta->raw, delta->flags, since->status, since->raw, subject->pending * RATES[i],
                 subject->total * RATES[i], off);
            CHECK(!"what its thread has done");
        }
    }
    subject->pending = 0;
}

static void do_work(int thread)
{
    const uint64_t r = below(1 << 30);
    uint64_t n = 1 + r % 1000;
    /* Now and then more than the counter holds. */
    if (r % 64 == 1) n = (UINT64_C(3) << (period != 0 ? period : width)) + r;
    note("thread %d does %" PRIu64 "\n", thread, n);
    simulated_pmu_count_on(ids[thread], n);
    for (int i = 0; i < SUBJECTS; i++) {
        struct subject *s = &subjects[i];
        if (s->session != NULL && s->target == ids[thread] && s->enabled && !s->thrown_off) s->pending += n;
    }
}

static void change_room(void)
{
    no_room = !no_room;
    note("pinned groups find %s\n", no_room ? "no room" : "room");
    simulated_pmu_refuse_pinned((uint32_t)no_room);
    simulated_pmu_act(SIMULATED_PMU_SWITCH);
    for (int i = 0; i < SUBJECTS; i++) {
        struct subject *s = &subjects[i];
        if (s->session != NULL && no_room && s->enabled && s->pinned) s->thrown_off = 1;
    }
}

static void disturb(void)
{
    static const int actions[] = {SIMULATED_PMU_SWITCH, SIMULATED_PMU_REARM, SIMULATED_PMU_FOREIGN_READ, SIMULATED_PMU_MIGRATE,
                                  SIMULATED_PMU_SILENCE};
    const int action = actions[below(5)];
    if (one_in(2)) {
        const uint32_t k = 1 + below(4);
        note("action %d at rdpmc %u\n", action, k);
        simulated_pmu_act_at(k, action);
    } else {
        note("action %d\n", action);
        simulated_pmu_act(action);
    }
}

static void run_sequence(uint64_t number)
{
    random_state = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
    below(1);
    history_length = 0;
    static const uint32_t widths[3] = {32, 40, 48};
    simulated_pmu_options machine;
    memset(&machine, 0, sizeof machine);
    machine.width = width = widths[below(3)];
    machine.counters = 16; /* room for all, so that nothing is scaled */
    machine.user_reads = !one_in(8);
    machine.user_time = below(2);
    machine.hidden = one_in(16);
    machine.period = period = one_in(4) ? 20 + below(10) : 0;
    note("width %u, period %u, user reads %u, times %u, hidden %u\n", width, period, machine.user_reads, machine.user_time,
         machine.hidden);
    simulated_pmu_reset(&machine);
    no_room = 0;
    if (one_in(32)) {
        end_second();
        start_second();
    }
    const int steps = 4 + (int)below(30);
    for (int i = 0; i < steps && test_failures == 0; i++) {
        const int thread = (int)below(2);
        subject = &subjects[below(SUBJECTS)];
        const uint32_t what = below(100);
        if (what < 30) do_work(thread);
        else if (what < 34) change_room();
        else if (what < 38) disturb();
        else if (what == 38 && one_in(3)) {
            note("the second thread ends\n");
            end_second();
            start_second();
        } else if (subject->session == NULL) on(thread, create_one);
        else if (what < 70) {
            /* Some in a row: a reading in user space takes one before it that found out how. */
            for (uint32_t times = 1 + below(4); times > 0 && subject->session != NULL; times--) {
                how = one_in(4) ? PICOLLO_READ_SYSCALL : PICOLLO_READ_AUTO;
                const int opener = subject->opener == numbers[1];
                on(one_in(4) ? thread : opener, read_one);
                do_work((int)below(2));
            }
        } else if (what < 82) on(thread, enable_one);
        else if (what < 89) on(thread, disable_one);
        else if (what < 95) on(thread, reset_one);
        else on(thread, free_one);
    }
    for (int i = 0; i < SUBJECTS; i++) {
        subject = &subjects[i];
        if (subject->session != NULL) on((int)below(2), free_one);
    }
    simulated_pmu_statistics found;
    simulated_pmu_get_statistics(&found);
    CHECK_U64(0, found.foreign_rdpmcs);
    CHECK_U64(0, found.resets);
    CHECK_U64(0, found.open_events);
    if (test_failures != 0) fprintf(stderr, "sequence %" PRIu64 ":\n%s", number, history);
}

static void any_order_of_two_threads(void)
{
    const char *const alone = getenv("PICOLLO_SEQUENCE");
    const char *const many = getenv("PICOLLO_SEQUENCES");
    const uint64_t count = many != NULL ? strtoull(many, NULL, 0) : (uint64_t)rounds(5000);
    if (alone != NULL) {
        run_sequence(strtoull(alone, NULL, 0));
        return;
    }
    uint64_t number = 0;
    while (number < count && test_failures == 0) run_sequence(number++);
    printf("%" PRIu64 " sequences: %" PRIu64 " readings, %" PRIu64 " in user space, %" PRIu64 " found the session thrown off, %" PRIu64
           " times opened again, %" PRIu64 " times refused\n",
           number, readings_checked, fast_readings, thrown_off_readings, reopened, refusals);
    if (test_failures == 0 && count >= 1000) CHECK(fast_readings > count && thrown_off_readings > count / 100 && reopened > count / 200);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    setenv("PICOLLO_RDPMC", "force", 1);
    picollo_error error;
    for (size_t i = 0; i < MOST; i++) CHECK_OK(picollo_event_parse(NAMES[i], &events[i], &error));
    sem_init(&wanted, 0, 0);
    sem_init(&done, 0, 0);
    ids[0] = thread_id();
    start_second();
    RUN(any_order_of_two_threads);
    end_second();
    return report();
}
