/* Why was this one slow? A service with three hidden problems, and a collector that names them, with the ids of the
 * affected requests.
 *
 *   why_slow [SECONDS]        default: 3
 */
#define _GNU_SOURCE
#include <picollo_perf.h>
#include <picollo_why.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { NEIGHBOURS = 3, EXPORT_BYTES = 24 << 20 };
static atomic_int closing;

static uint64_t now(void) { return picollo_clock_ticks(PICOLLO_CLOCK_MONOTONIC); }

static void sleep_for(uint64_t nanos)
{
    nanosleep(&(struct timespec){(time_t)(nanos / 1000000000u), (long)(nanos % 1000000000u)}, NULL);
}

/* Every request does this: 200 to 400 microseconds. */
static void render(uint64_t request)
{
    picollo_work_add_chain_256(1500 + request * 7919 % 1500);
}

/* The first problem: sometimes the row is not in the cache, and the database is slow. */
static void look_up(uint64_t request)
{
    if (request % 61 == 0) sleep_for(14000000);
}

/* The second problem: somebody runs reports on the same CPU, twice a second. */
static void *reports(void *unused)
{
    while (!atomic_load(&closing)) {
        sleep_for(500000000);
        for (const uint64_t end = now() + 20000000; now() < end;) {}
    }
    return unused;
}

/* The third problem: an export into a new buffer each time, whose pages must all be found, cleared and mapped first. */
static void export(uint64_t request)
{
    if (request % 97 != 0) return;
    char *const buffer = mmap(NULL, EXPORT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (buffer == MAP_FAILED) return;
    for (size_t at = 0; at < EXPORT_BYTES; at += 4096) buffer[at] = 1;
    munmap(buffer, EXPORT_BYTES);
}

static int fail(const char *what, const picollo_error *error)
{
    return fprintf(stderr, "%s: %s\n", what, error->message), 1;
}

int main(int count, char **arguments)
{
    const uint64_t end = now() + (uint64_t)((count > 1 ? atof(arguments[1]) : 3) * 1e9);
    picollo_exemplars_options options = PICOLLO_EXEMPLARS_OPTIONS_INIT;
    picollo_histogram *latency;
    picollo_exemplars *exemplars;
    picollo_error error;
    options.threshold = 5000000; /* The promised limit: 5 ms. */
    if (picollo_histogram_create(NULL, &latency) != PICOLLO_OK) return 1;
    if (picollo_exemplars_create(latency, &options, &exemplars, &error) != PICOLLO_OK) return fail("exemplars", &error);

    /* All of it runs on one CPU. */
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    pthread_t neighbours[NEIGHBOURS];
    for (int i = 0; i < NEIGHBOURS; i++) pthread_create(&neighbours[i], NULL, reports, NULL);

    for (uint64_t request = 1; now() < end; request++) {
        picollo_exemplar_scope scope;
        picollo_exemplars_begin(exemplars, &scope);
        look_up(request);
        export(request);
        render(request);
        /* Only observations that are slow, or kept for another reason, look up their context. */
        if (picollo_exemplars_end(exemplars, &scope) == PICOLLO_EXEMPLAR_KEPT) {
            const picollo_exemplar_context context = {.words = {request}};
            picollo_exemplars_annotate(exemplars, &scope, &context);
        }
    }

    static char text[65536];
    size_t length;
    picollo_exemplars_collect(exemplars, &error);
    picollo_exemplars_format(exemplars, PICOLLO_TEXT_HUMAN, text, sizeof text, &length);
    puts(text);

    atomic_store(&closing, 1);
    for (int i = 0; i < NEIGHBOURS; i++) pthread_join(neighbours[i], NULL);
    picollo_exemplars_free(exemplars);
    picollo_histogram_free(latency);
    return 0;
}
