/* Why was this one slow, with counters: threads of a collector count instructions and cycles on the simulated PMU,
 * which has a planted number of them. Each thread is new, so that its counters end with it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../test.h"
#include "simulated_pmu.h"

enum { CYCLES, INSTRUCTIONS }; /* as the kernel numbers the generic events */

static const uint64_t MS = 1000000;

/* The work of a request: its time on the CPU, and its instructions and cycles. A millisecond of ordinary work is a
 * million cycles and two million instructions. */
struct work {
    double millis;
    uint64_t instructions, cycles;
    int act; /* during it */
};

static const struct work ORDINARY = {0.5, 1000000, 500000, SIMULATED_PMU_NOTHING};

static uint64_t cpu_nanos(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000 * MS + (uint64_t)time.tv_nsec;
}

static void run_for(double millis)
{
    const uint64_t end = cpu_nanos() + (uint64_t)(millis * 1e6);
    while (cpu_nanos() < end) continue;
}

static void count_half(const struct work *work)
{
    simulated_pmu_rate(INSTRUCTIONS, work->instructions / 2);
    simulated_pmu_rate(CYCLES, work->cycles / 2);
    simulated_pmu_count_on((int32_t)syscall(SYS_gettid), 1);
}

static void do_work(const struct work *work)
{
    run_for(work->millis / 2);
    count_half(work);
    if (work->act != SIMULATED_PMU_NOTHING) simulated_pmu_act(work->act);
    run_for(work->millis / 2);
    count_half(work);
    if (work->act == SIMULATED_PMU_OUT) simulated_pmu_act(SIMULATED_PMU_IN);
}

static uint64_t wall_nanos(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 * MS + (uint64_t)time.tv_nsec;
}

/* Time that the ordinary requests of this test were not on a CPU. */
static uint64_t disturbed_nanos;

static void request(picollo_exemplars *exemplars, const struct work *work)
{
    picollo_exemplar_scope scope;
    const uint64_t cpu = cpu_nanos(), wall = wall_nanos();
    picollo_exemplars_begin(exemplars, &scope);
    do_work(work);
    picollo_exemplars_end(exemplars, &scope);
    const uint64_t on_cpu = cpu_nanos() - cpu, all = wall_nanos() - wall;
    if (work == &ORDINARY && all > on_cpu) disturbed_nanos += all - on_cpu;
}

static picollo_exemplars *collector_of(uint32_t threads, uint32_t controls)
{
    picollo_histogram *histogram;
    picollo_exemplars *exemplars = NULL;
    picollo_error error;
    picollo_exemplars_options options = PICOLLO_EXEMPLARS_OPTIONS_INIT;
    options.flags = PICOLLO_EXEMPLARS_COUNTERS | PICOLLO_EXEMPLARS_NO_RING;
    options.threshold = 3 * MS;
    options.slowest = 256;
    options.controls = controls;
    options.threads = threads;
    CHECK_OK(picollo_histogram_create(NULL, &histogram));
    if (picollo_exemplars_create(histogram, &options, &exemplars, &error) != PICOLLO_OK) {
        fprintf(stderr, "no collector: %s\n", error.message);
        exit(1);
    }
    picollo_histogram_free(histogram);
    return exemplars;
}

static picollo_exemplars *collector(uint32_t threads) { return collector_of(threads, 1000); }

static simulated_pmu_options machine(uint32_t width, uint32_t user_reads)
{
    simulated_pmu_options options;
    memset(&options, 0, sizeof options);
    options.width = width;
    options.counters = 4;
    options.user_reads = user_reads;
    options.user_time = 1;
    return options;
}

static uint64_t number_of_open_events(void)
{
    simulated_pmu_statistics now;
    simulated_pmu_get_statistics(&now);
    return now.open_events;
}

/* On a machine that starts without history. */
static void on_a_thread(uint32_t width, uint32_t user_reads, void *(*body)(void *), const void *argument)
{
    const simulated_pmu_options options = machine(width, user_reads);
    simulated_pmu_reset(&options);
    pthread_t thread;
    if (pthread_create(&thread, NULL, body, (void *)(uintptr_t)argument) != 0 || pthread_join(thread, NULL) != 0) exit(2);
}

/* ── causes ───────────────────────────────────────────────────────────────────────────────────────────── */

struct plant {
    const char *name;
    struct work work;
    uint32_t cause;
    int is_known;
};

static const struct plant plants[] = {
    {"forty times the work", {20, 40000000, 20000000, SIMULATED_PMU_NOTHING}, PICOLLO_CAUSE_MORE_INSTRUCTIONS, 1},
    {"the same, on other counters in the middle", {20, 40000000, 20000000, SIMULATED_PMU_MIGRATE}, PICOLLO_CAUSE_MORE_INSTRUCTIONS, 1},
    {"forty times the cycles", {20, 1000000, 20000000, SIMULATED_PMU_REARM}, PICOLLO_CAUSE_SLOWER_INSTRUCTIONS, 1},
    {"neither: the kernel, or the clock", {20, 1000000, 500000, SIMULATED_PMU_NOTHING}, PICOLLO_CAUSE_ON_CPU, 1},
    {"off the PMU for half of it", {20, 40000000, 20000000, SIMULATED_PMU_OUT}, PICOLLO_CAUSE_ON_CPU, 0},
    {"set to 0 by others", {20, 40000000, 20000000, SIMULATED_PMU_RESET}, PICOLLO_CAUSE_ON_CPU, 0},
};

enum { JUDGED = 4, TRIES = 60 };

/* It skips three kinds. Some waited for a CPU, as others work here. Some ordinary requests became slow because the host
 * took their CPU (plants take 20 ms). Some began long after a checkpoint: each reading is a trap here, and checkpoints
 * are up to 4 ms apart. */
static int judge(picollo_exemplars *exemplars, const struct plant *plant)
{
    picollo_exemplar exemplar;
    int judged = 0;
    CHECK_OK(picollo_exemplars_collect(exemplars, NULL));
    for (size_t i = 0; picollo_exemplars_get(exemplars, i, &exemplar) == PICOLLO_OK; i++) {
        if (!exemplar.is_slow || exemplar.run_delay_nanos > MS / 10 || exemplar.wall_nanos > exemplar.cpu_nanos + MS / 5) continue;
        if (exemplar.wall_nanos < 19 * MS) continue;
        const uint64_t before = exemplar.window_nanos - exemplar.wall_nanos;
        if (exemplar.window_nanos > exemplar.wall_nanos + 2 * MS) continue;
        /* If ordinary requests waited, their spread is large, and a cause may be withheld. It is never another one. */
        if (exemplar.cause == PICOLLO_CAUSE_SEVERAL && disturbed_nanos > MS) continue;
        judged++;
        const int is_known = (exemplar.known & PICOLLO_KNOWN_COUNTERS) != 0;
        int is_right = exemplar.cause == plant->cause && is_known == plant->is_known && exemplar.usual_ipc > 1.99 && exemplar.usual_ipc < 2.01;
        /* The rest of the window belongs to the ordinary requests that ended in it. */
        const uint64_t others = before * 2 / MS + 1;
        const uint64_t instructions = plant->work.instructions, cycles = plant->work.cycles;
        if (is_known)
            is_right &= exemplar.instructions >= instructions && exemplar.instructions <= instructions + others * ORDINARY.instructions &&
                        exemplar.cycles >= cycles && exemplar.cycles <= cycles + others * ORDINARY.cycles;
        else
            is_right &= exemplar.instructions == 0 && exemplar.cycles == 0;
        /* An ordinary request takes 0.5 ms. The host may lengthen the plant, and its excess equally. The excess is a lower
         * bound: the time in the window before the plant is taken off it, with or without work in it. */
        const uint64_t least = exemplar.wall_nanos - MS / 2 - MS - before;
        is_right &= exemplar.excess_nanos >= least && exemplar.excess_nanos <= exemplar.wall_nanos + MS / 2;
        if (!is_right)
            fprintf(stderr, "%s: cause %u, known %#x, excess %" PRIu64 ", wall %" PRIu64 ", window %" PRIu64 ", cpu %" PRIu64 ", %" PRIu64 " instructions, %" PRIu64 " cycles, usual %f\n", plant->name,
                    exemplar.cause, exemplar.known, exemplar.excess_nanos, exemplar.wall_nanos, exemplar.window_nanos, exemplar.cpu_nanos, exemplar.instructions,
                    exemplar.cycles, exemplar.usual_ipc);
        CHECK(is_right);
    }
    return judged;
}

static void *ask(void *argument)
{
    const struct plant *const plant = argument;
    picollo_exemplars *const exemplars = collector(0);
    CHECK_U64(0, number_of_open_events());
    CHECK_OK(picollo_exemplars_prepare_thread(exemplars, NULL));
    CHECK_U64(2, number_of_open_events());
    disturbed_nanos = 0;
    for (int i = 0; i < 60; i++) request(exemplars, &ORDINARY);
    int judged = 0;
    for (int i = 0; i < TRIES && judged < JUDGED; i++) {
        for (int j = 0; j < 4; j++) request(exemplars, &ORDINARY);
        request(exemplars, &plant->work);
        judged += judge(exemplars, plant);
    }
    if (judged < JUDGED) printf("SKIPPED %s: others had the CPU\n", plant->name);
    picollo_exemplars_free(exemplars);
    return NULL;
}

static void causes_are_distinguished(void)
{
    for (unsigned i = 0; i < sizeof plants / sizeof *plants; i++)
        for (uint32_t user_reads = 0; user_reads < 2; user_reads++) {
            on_a_thread(i % 2 ? 48 : 32, user_reads, ask, &plants[i]);
            simulated_pmu_statistics now;
            simulated_pmu_get_statistics(&now);
            CHECK((now.rdpmcs > 100) == (user_reads != 0));
            CHECK_U64(0, now.foreign_rdpmcs);
            CHECK_U64(0, now.open_events);
        }
}

/* The instructions of every control are known, wherever it lies between two checkpoints. It need not take a checkpoint
 * as it begins. */
static void *know_soon(void *argument)
{
    picollo_exemplars *const before = collector(0), *const exemplars = collector_of(0, 1000000);
    picollo_exemplar exemplar;
    (void)argument;
    CHECK_OK(picollo_exemplars_prepare_thread(before, NULL));
    for (int i = 0; i < 60; i++) request(before, &ORDINARY);
    for (int i = 0; i < 8; i++) request(exemplars, &ORDINARY);
    request(exemplars, &plants[0].work);
    CHECK_OK(picollo_exemplars_collect(exemplars, NULL));
    CHECK_OK(picollo_exemplars_get(exemplars, 0, &exemplar));
    CHECK(exemplar.is_slow && exemplar.usual_ipc > 1.99 && exemplar.usual_ipc < 2.01);
    picollo_exemplars_free(exemplars);
    picollo_exemplars_free(before);
    return NULL;
}

static void what_is_usual_is_known_soon(void)
{
    on_a_thread(48, 1, know_soon, NULL);
}

/* ── threads and processes ────────────────────────────────────────────────────────────────────────────── */

static sem_t first_has, second_has_not;

static void *have_them_first(void *argument)
{
    CHECK_OK(picollo_exemplars_prepare_thread(argument, NULL));
    sem_post(&first_has);
    sem_wait(&second_has_not);
    return NULL;
}

static void only_as_many_threads_have_them(void)
{
    const simulated_pmu_options options = machine(48, 1);
    simulated_pmu_reset(&options);
    sem_init(&first_has, 0, 0);
    sem_init(&second_has_not, 0, 0);
    picollo_exemplars *const exemplars = collector(2);
    pthread_t first[2];
    for (int i = 0; i < 2; i++) {
        if (pthread_create(&first[i], NULL, have_them_first, exemplars) != 0) exit(2);
        sem_wait(&first_has);
    }
    CHECK_U64(4, number_of_open_events());
    CHECK(picollo_exemplars_prepare_thread(exemplars, NULL) != PICOLLO_OK);
    CHECK_U64(4, number_of_open_events());
    for (int i = 0; i < 2; i++) sem_post(&second_has_not);
    for (int i = 0; i < 2; i++) pthread_join(first[i], NULL);
    CHECK_U64(0, number_of_open_events());
    sem_post(&second_has_not);
    if (pthread_create(&first[0], NULL, have_them_first, exemplars) != 0 || pthread_join(first[0], NULL) != 0) exit(2);
    CHECK_U64(0, number_of_open_events());
    picollo_exemplars_free(exemplars);
}

/* Whether the next slow one has counts, and they are right. */
static int is_counted(picollo_exemplars *exemplars)
{
    picollo_exemplar exemplar;
    request(exemplars, &ORDINARY);
    request(exemplars, &plants[0].work);
    return picollo_exemplars_collect(exemplars, NULL) == PICOLLO_OK && picollo_exemplars_get(exemplars, 0, &exemplar) == PICOLLO_OK &&
           exemplar.known & PICOLLO_KNOWN_COUNTERS && exemplar.instructions >= plants[0].work.instructions &&
           exemplar.instructions <= plants[0].work.instructions * 3 / 2;
}

/* Closes descriptors that belong to others. */
static void *lose_them(void *argument)
{
    (void)argument;
    picollo_exemplars *const exemplars = collector(0);
    CHECK_OK(picollo_exemplars_prepare_thread(exemplars, NULL));
    CHECK(is_counted(exemplars));
    for (int fd = 512; fd < 514; fd++) syscall(SYS_close, fd);
    CHECK_U64(0, number_of_open_events());
    picollo_exemplar exemplar;
    request(exemplars, &plants[0].work);
    CHECK_OK(picollo_exemplars_collect(exemplars, NULL));
    CHECK_OK(picollo_exemplars_get(exemplars, 0, &exemplar));
    CHECK(exemplar.is_slow && !(exemplar.known & PICOLLO_KNOWN_COUNTERS));
    picollo_exemplars_free(exemplars);
    return NULL;
}

static void lost_ones_say_nothing(void)
{
    on_a_thread(48, 0, lose_them, NULL);
}

static void *have_a_child(void *argument)
{
    (void)argument;
    picollo_exemplars *const exemplars = collector(0);
    CHECK_OK(picollo_exemplars_prepare_thread(exemplars, NULL));
    CHECK(is_counted(exemplars));
    simulated_pmu_statistics before, after;
    simulated_pmu_get_statistics(&before);
    const pid_t child = fork();
    if (child == 0) {
        /* Observations that began before it opened its own have no counts. */
        _exit(is_counted(exemplars) || is_counted(exemplars) ? 0 : 1);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_U64(0, (uint64_t)(WIFEXITED(status) ? WEXITSTATUS(status) : 100));
    /* Another one ends without any measurement. */
    fflush(NULL);
    const pid_t idle = fork();
    if (idle == 0) exit(0);
    CHECK(waitpid(idle, &status, 0) == idle && status == 0);
    simulated_pmu_get_statistics(&after);
    CHECK_U64(before.closes, after.closes);
    CHECK_U64(0, after.foreign_rdpmcs);
    CHECK(is_counted(exemplars));
    picollo_exemplars_free(exemplars);
    return NULL;
}

static void a_child_has_its_own(void)
{
    on_a_thread(48, 1, have_a_child, NULL);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    setenv("PICOLLO_RDPMC", "force", 1);
    RUN(causes_are_distinguished);
    RUN(what_is_usual_is_known_soon);
    RUN(only_as_many_threads_have_them);
    RUN(lost_ones_say_nothing);
    RUN(a_child_has_its_own);
    return report();
}
