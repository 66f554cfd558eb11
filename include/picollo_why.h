/* Generated from ffi/src by ci/describe.sh; change it there. */
/*
 * Picollo: why was it slow?
 *
 * A collector keeps the slowest observations of a histogram, each with the reason and with an identifier of yours:
 *
 * - Make it once: picollo_exemplars_create.
 * - Around each request: picollo_exemplars_begin, _end. If _end returns PICOLLO_EXEMPLAR_KEPT, link the observation
 *   to the request: _annotate.
 * - From time to time: picollo_exemplars_collect ends an interval. Then _format writes its causes and its slowest
 *   observations as text, JSON or HTML.
 *
 * What holds for every function is at the end of picollo.h.
 */
#ifndef PICOLLO_WHY_H
#define PICOLLO_WHY_H

#include "picollo.h"
#include "picollo_metrics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------------------------------------------------------
 * The structs and constants of collectors of exemplars.
 */

/** Off the CPU by its own call: a lock, a disk, another process, sleep. */
#define PICOLLO_CAUSE_OWN_WAITING 1
/** Runnable but not running: preempted, or woken late. */
#define PICOLLO_CAUSE_RUN_QUEUE 2
/** The same, but the thread's group was throttled at some time. Its quota of CPU time may be the reason. */
#define PICOLLO_CAUSE_RUN_QUEUE_OR_QUOTA 3
/** Not running because the group's quota of CPU time was used up. */
#define PICOLLO_CAUSE_THROTTLED 4
/** Off the CPU; the reason is unknown. */
#define PICOLLO_CAUSE_OFF_CPU 5
/** Handling page faults. */
#define PICOLLO_CAUSE_PAGE_FAULTS 6
/** More instructions than usual. Only known with PICOLLO_EXEMPLARS_COUNTERS. */
#define PICOLLO_CAUSE_MORE_INSTRUCTIONS 7
/** More cycles per instruction than usual. Only known if they are counted. */
#define PICOLLO_CAUSE_SLOWER_INSTRUCTIONS 8

/** On the CPU for longer, for an unknown reason. This includes page faults if their times are unknown, and time
 * that a hypervisor took. */
#define PICOLLO_CAUSE_ON_CPU 9
/** Not in any of the accounts. */
#define PICOLLO_CAUSE_UNEXPLAINED 10
/** No cause makes up more than half. */
#define PICOLLO_CAUSE_SEVERAL 11
/** There is no evidence, or nothing to compare it with. */
#define PICOLLO_CAUSE_NOT_KNOWN 12

/** These fields of the evidence are known: window_nanos, cpu_nanos, the numbers of switches
 * and page faults. */
#define PICOLLO_KNOWN_ACCOUNTS (1 << 0)
/** run_delay_nanos is known. */
#define PICOLLO_KNOWN_RUN_DELAY (1 << 1)
/** throttled is known: the thread's group has a quota of CPU time. */
#define PICOLLO_KNOWN_QUOTA (1 << 2)
/** off_nanos and preempted_nanos are known: the window has no gaps. */
#define PICOLLO_KNOWN_RING (1 << 3)
/** fault_nanos is known. */
#define PICOLLO_KNOWN_FAULT_TIMES (1 << 4)
/** instructions and cycles are known: they were counted all the time. */
#define PICOLLO_KNOWN_COUNTERS (1 << 5)

/** Nothing is missing: there is evidence. In counts read from JSON: evidence is missing, and the JSON does not
 * name the reason. */
#define PICOLLO_MISSING_NOTHING 0
/** It was timed elsewhere, or by an event loop. */
#define PICOLLO_MISSING_TIMED_ELSEWHERE 1
/** It ended on another thread than it began on. */
#define PICOLLO_MISSING_OTHER_THREAD 2
/** It began before a fork. */
#define PICOLLO_MISSING_FORKED 3
/** Too many observations were slow at the same time: it was kept without examination. */
#define PICOLLO_MISSING_TOO_MANY 4
/** It contained so many other scopes that its beginning was overwritten. */
#define PICOLLO_MISSING_OVERWRITTEN 5
/** The numbers of the system contradict each other. */
#define PICOLLO_MISSING_CONTRADICTORY 6
/** The system has no such accounting. */
#define PICOLLO_MISSING_UNSUPPORTED 7
/** Do not use the kernel's records of context switches, which make some times more precise. */
#define PICOLLO_EXEMPLARS_NO_RING (1 << 0)

/** Let the kernel record page faults too, if it allows that, so their times are known. Each then takes about a
 * microsecond more. */
#define PICOLLO_EXEMPLARS_FAULT_TIMES (1 << 2)

/** Let each examined thread count its instructions and cycles in user space, if it may, to distinguish more work from
 * slower work. Creating a collector tries this once. It then opens a session of counters, which is slow if it is the
 * first of the process. A thread's first examined observation then allocates a few kilobytes and opens two
 * descriptors; preparing the thread does so earlier. */
#define PICOLLO_EXEMPLARS_COUNTERS (1 << 3)

/** Ignore the field slowest, and keep no list of the slowest. The collector keeps the latest observation of each
 * octave (power of two) of values, and the causes of slow observations. */
#define PICOLLO_EXEMPLARS_NO_SLOWEST (1 << 1)
/** picollo_exemplars_end and _offer return this if the observation is kept. */
#define PICOLLO_EXEMPLAR_KEPT 1
/** An unknown CPU. */
#define PICOLLO_CPU_UNKNOWN 4294967295

/** Collects the slowest observations of a histogram and the reasons for their slowness. */
typedef struct picollo_exemplars picollo_exemplars;

/** Options of a collector. */
typedef struct picollo_exemplars_options {
    uint32_t struct_size;
    uint32_t flags; /**< PICOLLO_EXEMPLARS_.... */
    /** An observation is slow if its recorded value is above this. 0: the 99th percentile of the previous interval.
     * In the first interval, the slowest that are kept count as slow. */
    uint64_t threshold;
    uint32_t unit; /**< Unit of what scopes record, PICOLLO_UNIT_...; 0: nanoseconds. */
    uint32_t slowest; /**< How many of the slowest are kept, up to 65,536; 0: 16. */
    /** Number of threads whose descriptors, rings and counters are kept at the same time; 0: 64. For further threads,
     * waiting is not divided into causes. */
    uint32_t threads;
    /** Number of slow observations per second that a thread examines; 0: 1,000. Of further ones only the largest is
     * kept. */
    uint32_t rate;
    /** Number of ordinary observations per second that are examined, to learn what is usual; 0: 20, at most
     * 1,000,000. */
    uint32_t controls;
    uint32_t reserved;
} picollo_exemplars_options;
#define PICOLLO_EXEMPLARS_OPTIONS_INIT {sizeof(picollo_exemplars_options), 0, 0, 0, 0, 0, 0, 0, 0}

/** Links an observation to its request. All zero: no link. */
typedef struct picollo_exemplar_context {
    uint8_t trace_id[16]; /**< The trace, as in W3C's traceparent. */
    uint8_t span_id[8]; /**< The span in the trace. */
    uint64_t words[2]; /**< Free for the caller. */
} picollo_exemplar_context;

/** An observation that was kept. Unknown numbers (see known) are 0. */
typedef struct picollo_exemplar {
    uint64_t value; /**< The value as recorded. */
    uint64_t wall_nanos; /**< Its duration; 0 if values are not times. */
    uint64_t unix_nanos; /**< Its beginning, in nanoseconds since 1970. */
    /** Length of the window of evidence: from a checkpoint of its thread to its end. The checkpoint is up to 300
     * microseconds before its beginning, or more if it contains many other observations. */
    uint64_t window_nanos;
    uint64_t cpu_nanos; /**< Time in the window that the thread ran. */
    uint64_t run_delay_nanos; /**< Time that it was runnable without a CPU. */
    uint64_t off_nanos; /**< Time that it was off the CPU. */
    uint64_t preempted_nanos; /**< Part of off_nanos during which it did not wait for anything. */
    uint64_t fault_nanos; /**< Time to handle page faults. */
    /** Part of its duration in excess of what is usual for its cause; 0 with PICOLLO_CAUSE_SEVERAL and _NOT_KNOWN. */
    uint64_t excess_nanos;
    uint64_t instructions; /**< Instructions of the thread in user space, in the window. */
    uint64_t cycles; /**< Cycles of the thread in user space, in the window. */
    double usual_ipc; /**< Usual instructions per cycle of its kind; 0 if unknown. */
    uint64_t reserved;
    picollo_exemplar_context context; /**< The link to its request. */
    uint32_t cause; /**< The reason for its slowness or duration: PICOLLO_CAUSE_.... */
    uint32_t known; /**< Which fields are known: PICOLLO_KNOWN_.... */
    uint32_t missing; /**< Why there is no evidence: PICOLLO_MISSING_.... */
    uint32_t label; /**< Its kind. */
    int32_t thread; /**< The kernel's id of the thread on which it ended. */
    uint32_t cpu; /**< The CPU on which it ended, or PICOLLO_CPU_UNKNOWN. */
    uint32_t voluntary; /**< Voluntary context switches: the thread waited. */
    uint32_t involuntary; /**< Involuntary context switches: the thread was preempted. */
    uint32_t minor_faults; /**< Page faults without a read from disk. */
    uint32_t major_faults; /**< Page faults with a read from disk. */
    uint32_t throttled; /**< How often its group was throttled since the last check. */
    uint32_t is_slow; /**< Whether it is above the threshold of its interval. */
} picollo_exemplar;

/** An interval that has ended. */
typedef struct picollo_exemplar_interval {
    uint64_t begin_unix_nanos; /**< Its beginning, in nanoseconds since 1970. */
    uint64_t end_unix_nanos; /**< Its end, in nanoseconds since 1970. */
    /** Observations above this were slow, as recorded. 0 if the threshold was unknown: then the slowest are. */
    uint64_t threshold;
    uint64_t observations; /**< Number of recorded observations. */
    uint64_t slow; /**< Number of slow observations. */
    uint64_t known; /**< Number of slow observations with a known cause. */
    uint64_t controls; /**< Number of ordinary observations examined so far. */
    uint64_t excess_nanos; /**< Total excess of all slow observations over the usual. */
    uint64_t length; /**< Number of observations that are kept. */
} picollo_exemplar_interval;

/** The share of a cause in an interval's excess. */
typedef struct picollo_exemplar_share {
    double share; /**< 0 to 1; 0 for PICOLLO_CAUSE_SEVERAL and _NOT_KNOWN. */
    uint64_t excess_nanos; /**< Its excess in all slow observations with known evidence. */
    uint64_t observations; /**< Number of observations that it made slow. */
    uint64_t typical_nanos; /**< Median of its excess in these observations. */
} picollo_exemplar_share;

/** A running measurement. It may be copied, because the library keeps no pointer to it. Its fields are private to the
 * library, except label and, for event loops, thread. */
typedef struct picollo_exemplar_scope {
    uint64_t start; /**< Ticks at the beginning. */
    uint64_t due; /**< Ticks after which it is kept for its octave; 0 for a control. */
    uint64_t checkpoint; /**< The thread's checkpoint at the beginning. */
    uint64_t number; /**< Number of the exemplar that it became; 0: it became none. */
    uint64_t reserved[3]; /**< 0. */
    /** The thread on which it began. Set it to NULL if others work on this thread until the end, as in event loops.
     * Then the thread's work is not attributed to this observation. */
    void *thread;
    void *exemplars; /**< Its collector; NULL once it has ended. */
    /** Kind of the observation, which the caller sets before the end; 0 at the beginning. Each of up to 16 kinds has
     * its own usual values. */
    uint32_t label;
    uint32_t is_control; /**< Whether it is a control. */
} picollo_exemplar_scope;

/* ----------------------------------------------------------------------------------------------------------
 * Exemplars that explain: the slowest observations of a histogram, the links to their requests, and where their time
 * went.
 *
 *     picollo_exemplars *exemplars;
 *     if (picollo_exemplars_create(latency, NULL, &exemplars, &error) != PICOLLO_OK) puts(error.message), exit(1);
 *
 *     picollo_exemplar_scope scope;                              (each request)
 *     picollo_exemplars_begin(exemplars, &scope);
 *     work();
 *     if (picollo_exemplars_end(exemplars, &scope) == PICOLLO_EXEMPLAR_KEPT) {
 *         picollo_exemplar_context context = {.words = {request}};
 *         picollo_exemplars_annotate(exemplars, &scope, &context);
 *     }
 *
 *     picollo_exemplars_collect(exemplars, NULL);                (now and then)
 *     picollo_exemplars_format(exemplars, PICOLLO_TEXT_HUMAN, text, sizeof text, &length);
 *
 * A scope records its duration, as picollo_scope_end does. If it was slow, its thread examines it at once. The
 * kernel reports how long the thread ran, how long it blocked, and how long it was runnable without a CPU. A random
 * sample of ordinary observations shows what is usual, and the largest excess is the cause. This needs no
 * privileges, no PMU, and no other thread. With a PMU, PICOLLO_EXEMPLARS_COUNTERS distinguishes more work from
 * slower work. Linux only.
 *
 * Every 100 to 300 microseconds the beginning of a scope reads the thread's accounting, which takes at most 1 % of its time.
 * Only picollo_exemplars_annotate and _collect make a thread wait for another. In the child of a fork a collector
 * starts anew. If another thread of the parent was changing the collector, calls in the child return
 * PICOLLO_ERR_FORKED.
 */

/** Makes a collector, which records into a histogram and observes the records.
 *
 * Cost: allocates everything that it will keep: about 700 KB, and 200 bytes per slowest observation. */
PICOLLO_STATUS picollo_exemplars_create(picollo_histogram *histogram,
    const picollo_exemplars_options *options, picollo_exemplars **out, picollo_error *error);

/** Begins a measurement. Does nothing if out is NULL. If exemplars is NULL, nothing will be recorded.
 *
 * Requires: exemplars outlives the scope.
 * Ownership: nothing to free; a scope that never ends records nothing.
 * Threads: any thread. A scope that ends on another thread is recorded, but without evidence about its time.
 * Cost: hot. One reading of the clock; about a microsecond more if the thread's last checkpoint is older than 100 to
 *   300 microseconds. */
void picollo_exemplars_begin(picollo_exemplars *exemplars, picollo_exemplar_scope *out);

/** Ends a measurement, records its duration, and keeps it if it is slow or an example of its octave of values. Ending
 * it again does nothing.
 *
 * Requires: scope was begun, with the same exemplars.
 * Returns: PICOLLO_EXEMPLAR_KEPT or 0; 0 for NULL (exemplars, scope). Only kept observations need a context from
 *   picollo_exemplars_annotate.
 * Threads: as picollo_histogram_record on the collector's histogram.
 * Cost: hot. One reading of the clock, a conversion, a record and two comparisons; about 2 microseconds if it is
 *   slow. */
uint32_t picollo_exemplars_end(picollo_exemplars *exemplars, picollo_exemplar_scope *scope);

/** Links an observation that is kept to its request.
 *
 * Requires: picollo_exemplars_end returned PICOLLO_EXEMPLAR_KEPT for scope.
 * Returns: PICOLLO_OK, also if slower observations have replaced it; PICOLLO_ERR_FORKED.
 * Cost: searches the kept observations; waits for another thread that is using them. */
PICOLLO_STATUS picollo_exemplars_annotate(picollo_exemplars *exemplars, const picollo_exemplar_scope *scope,
    const picollo_exemplar_context *context);

/** Records a value that was timed elsewhere, and keeps it as picollo_exemplars_end does, but without evidence about
 * its thread.
 *
 * Requires: value is in the collector's unit; context may be NULL.
 * Returns: PICOLLO_EXEMPLAR_KEPT or 0; 0 for NULL (exemplars).
 * Threads: as picollo_histogram_record on the collector's histogram.
 * Cost: a record and a few nanoseconds; if it is slow, as picollo_exemplars_end. */
uint32_t picollo_exemplars_offer(picollo_exemplars *exemplars, uint64_t value,
    const picollo_exemplar_context *context);

/** Prepares the calling thread, which its first slow observation would do otherwise. It opens
 * /proc/thread-self/schedstat, which separates waiting from the run queue, and with PICOLLO_EXEMPLARS_COUNTERS the
 * thread's counters.
 *
 * Returns: PICOLLO_ERR_UNSUPPORTED if that file is unavailable, or the limit of threads in the options is reached;
 *   PICOLLO_ERR_BUSY if that limit is reached for counters; for other errors of counters as picollo_session_create.
 *   The collector works without what is missing. PICOLLO_ERR_OUT_OF_MEMORY.
 * Cost: a system call, and about 14 KB until the thread ends; with counters as picollo_session_create. */
PICOLLO_STATUS picollo_exemplars_prepare_thread(picollo_exemplars *exemplars, picollo_error *error);

/** Ends the interval and begins the next one. The calls below read the interval that has ended.
 *
 * Returns: PICOLLO_ERR_OUT_OF_MEMORY, or PICOLLO_ERR_BUSY if the histogram cannot be read now. Then nothing is lost:
 *   the next call ends the same interval, or a longer one. PICOLLO_ERR_FORKED.
 * Cost: reads the histogram, allocates memory for the next interval, and judges the observations of this one. */
PICOLLO_STATUS picollo_exemplars_collect(picollo_exemplars *exemplars, picollo_error *error);

/** Reports the counts of the interval that has ended.
 *
 * Returns: PICOLLO_ERR_EMPTY before the first picollo_exemplars_collect; PICOLLO_ERR_FORKED. */
PICOLLO_STATUS picollo_exemplars_interval(const picollo_exemplars *exemplars, picollo_exemplar_interval *out);

/** Reports the share of a cause in the excess.
 *
 * Requires: cause is PICOLLO_CAUSE_....
 * Returns: as picollo_exemplars_interval. */
PICOLLO_STATUS picollo_exemplars_share(const picollo_exemplars *exemplars, uint32_t cause,
    picollo_exemplar_share *out);

/** Reports one of the observations that the ended interval kept: the slowest first, then the latest of each octave of
 * values.
 *
 * Returns: PICOLLO_END after the last; otherwise as picollo_exemplars_interval. */
PICOLLO_STATUS picollo_exemplars_get(const picollo_exemplars *exemplars, size_t index, picollo_exemplar *out);

/** Writes the interval that has ended. PICOLLO_TEXT_HUMAN has the answer, the causes, and the slowest observations
 * with the links to their requests. PICOLLO_TEXT_MARKDOWN has the same in tables. PICOLLO_TEXT_HTML is a section
 * with bars for a page or notebook; it refers to nothing outside and takes over the page's style. PICOLLO_TEXT_JSON
 * has everything exactly, as picollo report reads it.
 *
 * Requires: format is one of these four. HTML has at most 50,000 bytes.
 * Returns: PICOLLO_ERR_UNSUPPORTED for other formats; otherwise as picollo_exemplars_interval. */
PICOLLO_STATUS picollo_exemplars_format(const picollo_exemplars *exemplars, uint32_t format, char *buffer,
    size_t capacity, size_t *out_length);

/** Replaces the exemplars of a registry's histogram by the observations that the ended interval kept: with their
 * traces, and their known causes as the label cause.
 *
 * Requires: id is that of the histogram's entry in registry.
 * Returns: PICOLLO_ERR_EMPTY as picollo_exemplars_interval; otherwise as picollo_registry_set_exemplars. */
PICOLLO_STATUS picollo_exemplars_publish(const picollo_exemplars *exemplars, picollo_registry *registry,
    uint64_t id, picollo_error *error);

/** Frees a collector.
 *
 * Requires: none of its scopes is running. */
void picollo_exemplars_free(picollo_exemplars *exemplars);

#ifdef __cplusplus
}
#endif

#endif /* PICOLLO_WHY_H */
