/* Per-CPU histograms: threads that collide lose nothing, and if something they need is missing, they count in another way.
 * PICOLLO_PER_CPU_RECORDS sets the records of colliding threads (3,200,000; long form: 1e9). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The C library has this from glibc 2.35 on. */
#ifdef __cplusplus
extern "C" {
#endif
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));
#ifdef __cplusplus
}
#endif

static picollo_histogram_options options_by_cpu(void)
{
    picollo_histogram_options options = default_options();
    options.mode = PICOLLO_MODE_PER_CPU;
    options.relative_error = 0.01;
    options.max_trackable = 100000;
    return options;
}

static picollo_histogram *by_cpu(void)
{
    const picollo_histogram_options options = options_by_cpu();
    return create_from(&options);
}

static uint64_t total_of(picollo_histogram *histogram)
{
    return counts_of(histogram).total;
}

/* The number of shards of a histogram. */
static size_t shards_of(picollo_histogram *histogram)
{
    const picollo_histogram_options options = options_by_cpu();
    picollo_footprint footprint;
    CHECK_OK(picollo_histogram_estimate(&options, &footprint));
    return footprint.step_bytes == 0 ? 0 : (footprint_of(histogram) - (size_t)footprint.initial_bytes) / (size_t)footprint.step_bytes;
}

/* Whether this thread has an area. */
static int has_area(void)
{
#if defined(__x86_64__) && defined(__GLIBC__)
    int cpu;
    if (&__rseq_size == NULL || &__rseq_offset == NULL || __rseq_size == 0) return 0;
    memcpy(&cpu, (char *)__builtin_thread_pointer() + __rseq_offset + 4, sizeof cpu);
    return cpu >= 0;
#else
    return 0;
#endif
}

/* Removes this thread's area, as if the C library had not registered it. */
static void lose_area(void)
{
#if defined(__x86_64__) && defined(__GLIBC__) && defined(SYS_rseq)
    /* The kernel unregisters it only with the size of its registration. */
    for (unsigned size = 32; has_area() && size < 1024; size += 4)
        syscall(SYS_rseq, (char *)__builtin_thread_pointer() + __rseq_offset, size, 1, 0x53053053);
#endif
    CHECK(!has_area());
}

static void stay_on(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    /* If there is only one CPU, or we may not use that one, the thread stays where it is. */
    (void)sched_setaffinity(0, sizeof set, &set);
}

/* How many threads collide, and the counts in each of their turns. */
enum { FEW = 8, MANY = 64, A_TURN = 20 };

struct worker {
    picollo_histogram *histogram;
    int number, turns, without_area;
};

/* The number of turns of each thread. */
static int turns_of(int threads)
{
    const char *const records = getenv("PICOLLO_PER_CPU_RECORDS");
    const double all = records != NULL ? atof(records) : (double)rounds(3200000);
    return (int)(all / A_TURN / threads);
}

/* Four cells, so that threads collide in them; pinned in pairs, or moving. */
static void *record(void *argument)
{
    const struct worker *const worker = (const struct worker *)argument;
    uint64_t batch[16];
    for (uint64_t i = 0; i < 16; i++) batch[i] = i % 4;
    if (worker->without_area) lose_area();
    stay_on(worker->number / 2 % 2);
    for (int i = 0; i < worker->turns; i++) {
        if (worker->number % 2 == 1 && i % 16 == 0) stay_on((i / 16 + worker->number) % 2);
        picollo_histogram_record(worker->histogram, (uint64_t)i % 4);
        picollo_histogram_record_n(worker->histogram, (uint64_t)i % 4, 3);
        picollo_histogram_record_batch(worker->histogram, batch, 16);
    }
    return NULL;
}

/* Returns the number of their records. */
static uint64_t run_threads(picollo_histogram *histogram, int number, int without_area)
{
    pthread_t threads[MANY];
    struct worker workers[MANY];
    const int turns = turns_of(number);
    for (int i = 0; i < number; i++) {
        workers[i].histogram = histogram;
        workers[i].number = i;
        workers[i].turns = turns;
        /* So that threads of both kinds share each CPU. */
        workers[i].without_area = without_area && i % 4 < 2;
        CHECK(pthread_create(&threads[i], NULL, record, &workers[i]) == 0);
    }
    for (int i = 0; i < number; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(turns > 0);
    return (uint64_t)A_TURN * (uint64_t)number * (uint64_t)turns;
}

static void threads_and_memory_by_cpus(void)
{
    static const int numbers[] = {1, 2, FEW, MANY};
    picollo_histogram *const histogram = by_cpu();
    uint64_t counted = 0;
    CHECK_U64(0, shards_of(histogram));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        counted += run_threads(histogram, numbers[i], 0);
        CHECK_U64(counted, total_of(histogram));
    }
    counted += run_threads(histogram, MANY, 1);
    CHECK_U64(counted, total_of(histogram));
    /* All those threads, on two CPUs. */
    CHECK(shards_of(histogram) <= 2);
    if (has_area()) CHECK(shards_of(histogram) > 0);
    else SKIPPED("no restartable sequences here: by atomic additions only");
    picollo_histogram_free(histogram);
}

/* Like GLIBC_TUNABLES=glibc.pthread.rseq=0, which takes a new start of the program: see main. */
static void no_thread_has_an_area(void)
{
    picollo_histogram *const histogram = by_cpu();
    const picollo_histogram_options options = options_by_cpu();
    picollo_footprint footprint;
    CHECK(!has_area());
    const uint64_t counted = run_threads(histogram, FEW, 0);
    CHECK_U64(counted, total_of(histogram));
    CHECK_OK(picollo_histogram_estimate(&options, &footprint));
    CHECK(footprint.step_bytes == 0 && footprint.max_bytes == footprint.initial_bytes);
    picollo_histogram_free(histogram);
}

static const char *program;

static void without_areas(void)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        if (setenv("GLIBC_TUNABLES", "glibc.pthread.rseq=0", 1) == 0) execl(program, program, "without", (char *)NULL);
        _exit(127);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* No memory for a shard: all counts are atomic additions, and errno is unchanged. */
static void no_memory_for_a_shard(void)
{
    int status = 0;
    pid_t child;
    if (is_quick() || SANITIZED) {
        SKIPPED("a checker needs address space");
        return;
    }
    child = fork();
    if (child == 0) {
        picollo_histogram *const histogram = by_cpu();
        const struct rlimit none = {0, 0};
        picollo_counts counts;
        picollo_snapshot *const snapshot = snapshot_of(histogram);
        const size_t before = footprint_of(histogram);
        int unchanged;
        if (setrlimit(RLIMIT_AS, &none) != 0) _exit(2);
        errno = 12345;
        for (int i = 0; i < 1000; i++) picollo_histogram_record(histogram, 7);
        unchanged = errno == 12345;
        if (picollo_snapshot_update(snapshot, 0) != PICOLLO_OK || picollo_snapshot_counts(snapshot, &counts) != PICOLLO_OK) _exit(4);
        _exit(unchanged && before == footprint_of(histogram) && counts.total == 1000 ? 0 : 5);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(int argc, char **argv)
{
    program = argv[0];
    if (argc > 1) {
        RUN(no_thread_has_an_area);
        return report();
    }
    RUN(threads_and_memory_by_cpus);
    RUN(no_memory_for_a_shard);
    RUN(without_areas);
    return report();
}
