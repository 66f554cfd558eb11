/* Records through several builds of the library in one process, by turns: what a change to one path did to the ratios of the others.
 *
 *     gcc -O2 -pthread -Iinclude benches/against.c -o target/against
 *     target/against [-r ROUNDS] LIBRARY...
 *
 * One thread, then two, each on a CPU of its own, with 32,768 skewed values up to 7,716,549,600 and blocks of 1024. Medians of the
 * thread's CPU time in ns a value, the best, and the ratio to the single writer of the same library. */
#define _GNU_SOURCE
#include "picollo.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { VALUES = 32768, MODES = 5, MOST = 8 * MODES, MOST_ROUNDS = 10001 };

static const struct {
    const char *name;
    uint32_t mode;
    int shared, others;
} MODE[MODES] = {
    {"single writer", PICOLLO_MODE_SINGLE_WRITER, 0, 0},
    {"thread-local", PICOLLO_MODE_THREAD_LOCAL, 1, 0},
    {"per CPU", PICOLLO_MODE_PER_CPU, 1, 0},
    {"interlocked", PICOLLO_MODE_INTERLOCKED, 1, 0},
    /* For which threads have no entry in their storage. */
    {"thread-local, the seventeenth", PICOLLO_MODE_THREAD_LOCAL, 1, 15},
};

typedef void record_function(picollo_histogram *, uint64_t);
typedef picollo_status create_function(const picollo_histogram_options *, picollo_histogram **);

static struct contender {
    char name[80];
    record_function *record;
    picollo_histogram *of_thread[2];
    double times[MOST_ROUNDS];
} contenders[MOST];
static int number, rounds = 301, threads;
static uint64_t values[VALUES];
static pthread_barrier_t barrier;

static double own_time(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static __attribute__((noinline)) void record_all(const struct contender *contender, int thread)
{
    record_function *const record = contender->record;
    picollo_histogram *const histogram = contender->of_thread[thread];
    for (int i = 0; i < VALUES; i++) record(histogram, values[i]);
}

static void *work(void *argument)
{
    const int thread = (int)(intptr_t)argument;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(thread, &set);
    sched_setaffinity(0, sizeof set, &set);
    for (int i = 0; i < number; i++) record_all(&contenders[i], thread);
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < number; i++) {
            if (threads > 1) pthread_barrier_wait(&barrier);
            const double start = own_time();
            record_all(&contenders[i], thread);
            if (thread == 0) contenders[i].times[round] = (own_time() - start) / VALUES;
        }
    return NULL;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void add(const char *path)
{
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) fprintf(stderr, "%s\n", dlerror()), exit(1);
    create_function *const create = (create_function *)dlsym(library, "picollo_histogram_create");
    record_function *const record = (record_function *)dlsym(library, "picollo_histogram_record");
    if (create == NULL || record == NULL) fprintf(stderr, "%s: not Picollo\n", path), exit(1);
    for (int mode = 0; mode < MODES; mode++) {
        struct contender *const contender = &contenders[number];
        picollo_histogram_options options = PICOLLO_HISTOGRAM_OPTIONS_INIT;
        options.mode = MODE[mode].mode;
        options.counter_bits = 64;
        options.relative_error = 0.0005;
        options.max_trackable = 7716549600u;
        picollo_histogram *other;
        for (int i = 0; i < MODE[mode].others; i++)
            if (create(&options, &other) != PICOLLO_OK) exit(1);
        if (number == MOST || create(&options, &contender->of_thread[0]) != PICOLLO_OK) continue;
        contender->of_thread[1] = contender->of_thread[0];
        if (!MODE[mode].shared && create(&options, &contender->of_thread[1]) != PICOLLO_OK) continue;
        snprintf(contender->name, sizeof contender->name, "%s, %s", path, MODE[mode].name);
        contender->record = record;
        number++;
    }
}

int main(int argc, char **argv)
{
    uint64_t state = 1;
    for (int i = 0; i < VALUES; i++) {
        uint64_t random[2];
        for (int j = 0; j < 2; j++) random[j] = state = state * 6364136223846793005u + 1442695040888963407u;
        values[i] = (uint64_t)(((unsigned __int128)random[1] * 7716549600u) >> 64) >> (random[0] >> 32) % 33;
    }
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-r") == 0 && i + 1 < argc) rounds = atoi(argv[++i]);
        else add(argv[i]);
    }
    if (number == 0 || rounds < 1 || rounds > MOST_ROUNDS) {
        fprintf(stderr, "usage: %s [-r ROUNDS] LIBRARY...\n", argv[0]);
        return 2;
    }
    pthread_barrier_init(&barrier, NULL, 2);
    for (threads = 1; threads <= 2; threads++) {
        pthread_t thread[2];
        double single = 0;
        for (int i = 0; i < threads; i++) pthread_create(&thread[i], NULL, work, (void *)(intptr_t)i);
        for (int i = 0; i < threads; i++) pthread_join(thread[i], NULL);
        printf("%d thread%s%50s %8s %8s %8s\n", threads, threads == 1 ? "" : "s", "", "median", "best", "ratio");
        for (int i = 0; i < number; i++) {
            double *const times = contenders[i].times;
            qsort(times, (size_t)rounds, sizeof *times, by_size);
            if (strstr(contenders[i].name, MODE[0].name) != NULL) single = times[rounds / 2];
            printf("%-58s %8.2f %8.2f %8.2f\n", contenders[i].name, times[rounds / 2], times[0], times[rounds / 2] / single);
        }
    }
    return 0;
}
