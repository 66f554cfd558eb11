/* A signal handler records into the histogram that its thread is recording into, or reading, at any instruction. Nothing
 * is lost, in the modes and on the processors for which the manual guarantees it. */
#include "test.h"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <picollo_inline.h>

enum { SIGNALS = 800, BURST = 20, SECONDS = 20, VALUE = 100 };

typedef void (*way)(uint64_t *number);

static picollo_histogram *histogram;
static picollo_recorder recorder;
static way handlers_way;
static volatile sig_atomic_t signals;
static uint64_t by_handler;

static void one(uint64_t *number)
{
    picollo_histogram_record(histogram, VALUE);
    ++*number;
}

static void several(uint64_t *number)
{
    picollo_histogram_record_n(histogram, VALUE, 3);
    *number += 3;
}

static void batch(uint64_t *number)
{
    static const uint64_t values[11] = {VALUE, VALUE, VALUE, VALUE, VALUE, VALUE, VALUE, VALUE, VALUE, VALUE, VALUE};
    picollo_histogram_record_batch(histogram, values, 11);
    *number += 11;
}

static void through_a_recorder(uint64_t *number)
{
    picollo_writer_record(picollo_recorder_writer(&recorder), VALUE);
    ++*number;
}

static void out_of_range(uint64_t *number)
{
    picollo_histogram_record(histogram, UINT64_MAX);
    ++*number;
}

static void on_signal(int number)
{
    (void)number;
    for (int i = 0; i < BURST; i++) handlers_way(&by_handler);
    signals++;
}

static double seconds(void) { return (double)picollo_clock_ticks(PICOLLO_CLOCK_MONOTONIC) * 1e-9; }

/* Records until many signals have interrupted it. */
static void storm(uint32_t mode, uint32_t bits, way way_of_main, way way_of_handler, const char *name)
{
    struct sigaction action, before;
    struct itimerval timer;
    picollo_counts counts;
    picollo_histogram_options options = default_options();
    uint64_t by_main = 0;
    const double deadline = seconds() + SECONDS;
    const int enough = is_quick() ? 20 : SIGNALS;
    options.mode = mode;
    options.counter_bits = bits;
    options.relative_error = 0.1;
    options.max_trackable = 1000;
    histogram = create_from(&options);
    memset(&recorder, 0, sizeof recorder);
    if (mode != PICOLLO_MODE_INTERLOCKED && mode != PICOLLO_MODE_PER_CPU)
        CHECK_OK(picollo_histogram_recorder(histogram, PICOLLO_INLINE_VERSION, &recorder));
    /* Except by CPU, handlers must not make a thread's first record. 32-bit cells wrap soon after. */
    if (mode != PICOLLO_MODE_PER_CPU) way_of_main(&by_main), way_of_handler(&by_main);
    if (bits == 32) {
        picollo_histogram_record_n(histogram, VALUE, UINT32_MAX - 50000);
        by_main += UINT32_MAX - 50000;
    }
    handlers_way = way_of_handler;
    signals = 0;
    by_handler = 0;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    CHECK(sigaction(SIGALRM, &action, &before) == 0);
    memset(&timer, 0, sizeof timer);
    timer.it_interval.tv_usec = timer.it_value.tv_usec = 50;
    CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
    while (signals < enough && seconds() < deadline) {
        if (mode == PICOLLO_MODE_PER_CPU && signals == 0) continue;
        for (int i = 0; i < 2000; i++) way_of_main(&by_main);
    }
    memset(&timer, 0, sizeof timer);
    CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
    CHECK(sigaction(SIGALRM, &before, NULL) == 0);
    CHECK(signals >= 20);
    picollo_recorder_release(&recorder);
    counts = counts_of(histogram);
    /* The events of a 32-bit cell that wrapped are among the lost. */
    if (counts.total + counts.overflow + counts.lost != by_main + by_handler) {
        fprintf(stderr, "%s: mode %u, %u bits, after %d signals: ", name, mode, bits, (int)signals);
        CHECK_U64(by_main + by_handler, counts.total + counts.overflow + counts.lost);
    }
    if (bits == 64) CHECK_U64(0, counts.lost);
    picollo_histogram_free(histogram);
}

static void shared_cells(void)
{
    static const struct {
        uint32_t mode, bits;
    } kinds[] = {{PICOLLO_MODE_INTERLOCKED, 32}, {PICOLLO_MODE_INTERLOCKED, 64}, {PICOLLO_MODE_PER_CPU, 64}};
    if (is_quick()) {
        SKIPPED("under memcheck, a signal comes before the last one is done with");
        return;
    }
    for (int i = 0; i < 3; i++) {
        storm(kinds[i].mode, kinds[i].bits, one, one, "one by one");
        storm(kinds[i].mode, kinds[i].bits, several, batch, "several and batches");
        storm(kinds[i].mode, kinds[i].bits, batch, one, "batches");
        storm(kinds[i].mode, kinds[i].bits, out_of_range, out_of_range, "out of range");
    }
}

static void the_threads_own_cells(void)
{
#if defined(__SANITIZE_THREAD__)
    SKIPPED("ThreadSanitizer makes several instructions of the one that adds");
#elif defined(__x86_64__)
    if (is_quick()) {
        SKIPPED("under memcheck, a signal comes before the last one is done with");
        return;
    }
    static const uint32_t modes[] = {PICOLLO_MODE_THREAD_LOCAL, PICOLLO_MODE_SINGLE_WRITER};
    for (int i = 0; i < 2; i++) {
        for (uint32_t bits = 32; bits <= 64; bits += 32) {
            storm(modes[i], bits, one, one, "one by one");
            storm(modes[i], bits, several, one, "several at once");
            storm(modes[i], bits, batch, one, "batches");
            storm(modes[i], bits, batch, several, "batches and several at once");
            storm(modes[i], bits, through_a_recorder, through_a_recorder, "through a recorder");
            storm(modes[i], bits, out_of_range, out_of_range, "out of range");
        }
    }
#else
    SKIPPED("a thread's handler may lose counts in the thread's own cells here, as the manual says");
#endif
}

static picollo_histogram *interrupted;
static flag_t handled;

static void on_alarm(int number)
{
    (void)number;
    picollo_histogram_record(interrupted, 7);
    handled++;
}

/* Handlers interrupt reads and record into the histogram being read: every record is in one delta. */
static void signals_during_reads(void)
{
    struct sigaction action;
    struct itimerval often, never;
    memset(&action, 0, sizeof action);
    memset(&often, 0, sizeof often);
    memset(&never, 0, sizeof never);
    action.sa_handler = on_alarm;
    often.it_interval.tv_usec = often.it_value.tv_usec = 100;
    static const uint32_t modes[] = {PICOLLO_MODE_INTERLOCKED, PICOLLO_MODE_THREAD_LOCAL, PICOLLO_MODE_PER_CPU};
    for (int kind = 0; kind < 3; kind++) {
        const uint32_t mode = modes[kind];
        picollo_histogram_options options = default_options();
        picollo_snapshot *snapshot;
        picollo_summary summary;
        picollo_counts counts;
        uint64_t sum = 0;
        options.mode = mode;
        options.relative_error = 0.01;
        CHECK_OK(picollo_histogram_create(&options, &interrupted));
        snapshot = snapshot_of(interrupted);
        /* The first record of a thread may allocate, which a handler must not. */
        picollo_histogram_record(interrupted, 7);
        handled = 0;
        CHECK(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &often, NULL) == 0);
        while (handled < rounds(2000)) {
            CHECK_OK(picollo_snapshot_update(snapshot, 1));
            CHECK_OK(picollo_snapshot_counts(snapshot, &counts));
            sum += counts.total;
            CHECK_OK(picollo_histogram_summary(interrupted, PICOLLO_VALUE_MIDPOINT, NULL, 0, NULL, &summary));
            CHECK_OK(picollo_histogram_reset(interrupted));
        }
        CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0 && signal(SIGALRM, SIG_IGN) != SIG_ERR);
        CHECK_OK(picollo_snapshot_update(snapshot, 1));
        CHECK_OK(picollo_snapshot_counts(snapshot, &counts));
        sum += counts.total;
        CHECK_U64(1 + (uint64_t)handled, sum);
        picollo_snapshot_free(snapshot);
        picollo_histogram_free(interrupted);
    }
}

int main(void)
{
    RUN(shared_cells);
    RUN(the_threads_own_cells);
    RUN(signals_during_reads);
    return report();
}
