/* The cost of scopes of a collector of exemplars, compared with plain ones. Nothing is slow, or a checkpoint of the
 * kernel's accounts is due, or all are slow, with and without a thread's optional sources. Prints a table.
 *
 *   make -C c-tests bench-exemplars */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <picollo_all.h>

#define BLOCKS 2001
#define SHORT 2000
#define LONG 20000
#define SINGLE 1001

static picollo_histogram *histogram;
static double plain[BLOCKS], collected[BLOCKS];

static double now(void) { return (double)picollo_clock_ticks(PICOLLO_CLOCK_MONOTONIC); }

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The quantile of the times at this fraction. */
static double quantile(double *times, size_t length, double part)
{
    qsort(times, length, sizeof times[0], ascending);
    return times[(size_t)(part * (double)(length - 1))];
}

static picollo_exemplars *create(uint64_t threshold, uint32_t flags)
{
    picollo_exemplars_options options = PICOLLO_EXEMPLARS_OPTIONS_INIT;
    options.threshold = threshold;
    options.flags = flags;
    options.rate = 1000000000;
    picollo_exemplars *exemplars;
    if (picollo_exemplars_create(histogram, &options, &exemplars, NULL) != PICOLLO_OK) exit(1);
    return exemplars;
}

/* The nanoseconds of each scope. */
static double of_plain(int count)
{
    const double start = now();
    for (int i = 0; i < count; i++) {
        picollo_scope scope;
        picollo_scope_begin(histogram, PICOLLO_CLOCK_TSC, PICOLLO_UNIT_NANOS, &scope);
        picollo_scope_end(&scope);
    }
    return (now() - start) / count;
}

static double of_collected(picollo_exemplars *exemplars, int count)
{
    const double start = now();
    for (int i = 0; i < count; i++) {
        picollo_exemplar_scope scope;
        picollo_exemplars_begin(exemplars, &scope);
        picollo_exemplars_end(exemplars, &scope);
    }
    return (now() - start) / count;
}

/* Alternately, so that both run on the machine in the same state. */
static void by_turns(picollo_exemplars *exemplars, int count)
{
    for (int block = 0; block < BLOCKS; block++) {
        plain[block] = of_plain(count);
        collected[block] = of_collected(exemplars, count);
    }
}

static void spin(double nanos)
{
    for (const double end = now() + nanos; now() < end;) {}
}

/* Scopes that begin when the last checkpoint is too old, compared with others: the difference of the medians. */
static double of_checkpoint(picollo_exemplars *exemplars)
{
    for (int block = 0; block < SINGLE; block++) {
        spin(1e6);
        collected[block] = of_collected(exemplars, 1);
        plain[block] = of_collected(exemplars, 1);
    }
    return quantile(collected, SINGLE, 0.5) - quantile(plain, SINGLE, 0.5);
}

/* The end of a scope that took 100 us, including a clock reading. */
static double of_end(picollo_exemplars *exemplars)
{
    for (int block = 0; block < SINGLE; block++) {
        picollo_exemplar_scope scope;
        picollo_exemplars_begin(exemplars, &scope);
        spin(1e5);
        const double start = now();
        picollo_exemplars_end(exemplars, &scope);
        collected[block] = now() - start;
    }
    return quantile(collected, SINGLE, 0.5);
}

struct slow {
    uint32_t flags;
    double nanos;
    int has_ring;
    picollo_status prepared;
    picollo_error error;
};

/* All are slow, on a new thread that has only what these flags give it. */
static void *of_slow(void *argument)
{
    struct slow *slow = argument;
    picollo_exemplars *exemplars = create(1, slow->flags);
    static char json[1 << 20];
    size_t length;
    slow->prepared = picollo_exemplars_prepare_thread(exemplars, &slow->error);
    of_collected(exemplars, 10);
    slow->nanos = of_end(exemplars);
    if (picollo_exemplars_collect(exemplars, NULL) != PICOLLO_OK ||
        picollo_exemplars_format(exemplars, PICOLLO_TEXT_JSON, json, sizeof json, &length) != PICOLLO_OK)
        exit(1);
    slow->has_ring = strstr(json, "\"off_nanos\":0") != NULL;
    picollo_exemplars_free(exemplars);
    return NULL;
}

static struct slow on_a_thread(uint32_t flags)
{
    struct slow slow = {.flags = flags};
    pthread_t thread;
    if (pthread_create(&thread, NULL, of_slow, &slow) != 0 || pthread_join(thread, NULL) != 0) exit(1);
    return slow;
}

static void row(const char *what, double nanos)
{
    printf("%-72s %8.*f %s\n", what, nanos < 1000 ? 1 : 2, nanos < 1000 ? nanos : nanos / 1000, nanos < 1000 ? "ns" : "us");
}

int main(void)
{
    if (picollo_histogram_create(NULL, &histogram) != PICOLLO_OK) return 1;
    picollo_exemplars *exemplars = create(1000000000, 0);
    of_collected(exemplars, LONG);
    /* The fastest tenth of short blocks had no checkpoint. */
    by_turns(exemplars, SHORT);
    const double scope = quantile(plain, BLOCKS, 0.1);
    row("a plain scope", scope);
    row("one of a collector that is not slow: more than a plain one", quantile(collected, BLOCKS, 0.1) - scope);
    by_turns(exemplars, LONG);
    row("  with the checkpoints that it takes", quantile(collected, BLOCKS, 0.5) - quantile(plain, BLOCKS, 0.5));
    row("a checkpoint: more than a scope without", of_checkpoint(exemplars));
    const double fast = of_end(exemplars);

    const struct slow accounts = on_a_thread(PICOLLO_EXEMPLARS_NO_RING), ring = on_a_thread(0),
                      counters = on_a_thread(PICOLLO_EXEMPLARS_NO_RING | PICOLLO_EXEMPLARS_COUNTERS);
    row("a slow scope, the evidence of which is taken and kept: more than another", accounts.nanos - fast);
    if (ring.has_ring)
        row("  of a thread that has a ring: more than without", ring.nanos - accounts.nanos);
    else
        printf("SKIPPED a slow scope of a thread that has a ring: none can be opened here\n");
    if (counters.prepared == PICOLLO_OK)
        row("  of a thread that has counters: more than without", counters.nanos - accounts.nanos);
    else
        printf("SKIPPED a slow scope of a thread that has counters: %s\n", counters.error.message);
    picollo_exemplars_free(exemplars);
    picollo_histogram_free(histogram);
    return 0;
}
