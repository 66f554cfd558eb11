/* Generated from ffi/src by ci/describe.sh; change it there. */
/*
 * Picollo: histograms and performance counters.
 *
 * A histogram records 64-bit values and returns percentiles with a bounded relative error. A record takes a few
 * nanoseconds, or about one if a single thread writes. A session counts events of the processor and the kernel
 * (cycles, branch misses, page faults, ...), and each event has its own histogram.
 *
 *     #include <stdio.h>
 *     #include <picollo.h>
 *
 *     int main(void) {
 *         picollo_histogram *histogram;
 *         picollo_summary summary;
 *         char text[4096];
 *         size_t length;
 *         if (picollo_histogram_create(NULL, &histogram) != PICOLLO_OK) return 1;
 *         for (uint64_t value = 1; value <= 100000; value++) picollo_histogram_record(histogram, value);
 *         picollo_histogram_summary(histogram, PICOLLO_VALUE_MIDPOINT, &summary);
 *         picollo_summary_format(&summary, "Values", PICOLLO_TEXT_MARKDOWN, text, sizeof text, &length);
 *         fputs(text, stdout);
 *         picollo_histogram_free(histogram);
 *     }
 *
 * A dozen functions are enough to begin with. This list names them by task; each section of this file has more:
 *
 * - Record values: picollo_histogram_create, _record, _record_batch, _free.
 * - Time code: picollo_scope_begin, picollo_scope_end.
 * - Read percentiles: picollo_histogram_summary, picollo_summary_format; for intervals and all counts
 *   picollo_snapshot_create, _update, _percentile_values.
 * - Count cycles, misses, faults: picollo_session_open, _read, _record, _histogram_ref; picollo_perf_probe reports
 *   which events this machine can count.
 * - Decide whether B is faster than A: picollo_benchmark_create, _next, _done, _format; for recorded values
 *   picollo_compare.
 * - Draw: picollo_snapshot_format_chart in a terminal, picollo_pictures_format_svg, picollo_report_format_html.
 * - Explain slow observations: picollo_exemplars_create, _begin, _end, _collect, _format.
 * - Let others watch while the program runs: picollo_segment_create, _histogram; the command picollo top shows
 *   them.
 * - Serve Prometheus or OpenTelemetry: picollo_registry_create, _add, _encode.
 * - Store, send, merge: picollo_snapshot_encode, _decode, _merge; logs: picollo_log_format_interval,
 *   picollo_log_reader_create.
 * - Record without a call: picollo_inline.h. Record doubles: picollo_double_histogram_create.
 *
 * What holds for every function, unless it says otherwise:
 *
 * - Names are picollo_<thing>_<verb>. The order of parameters is: the thing itself, inputs, outputs, error.
 * - Threads: any number of threads may make a call at the same time, on the same object. "One at a time" means that
 *   the caller must exclude other calls; this holds for all calls on sessions. "Opening thread only" means the
 *   thread that made the object.
 * - Cost: the call is cheap. It allocates nothing, makes no system call and makes no pass over the counters. Freeing
 *   the last reference frees the memory. "Otherwise: as" another call means that call's text under all other labels.
 * - Errors: a call that can fail returns a picollo_status: PICOLLO_OK or a negative number. Recording cannot fail.
 *   "Returns" does not repeat PICOLLO_OK; PICOLLO_ERR_NULL_POINTER; PICOLLO_ERR_BUFFER_TOO_SMALL (calls with a
 *   capacity or size); PICOLLO_ERR_OUT_OF_MEMORY (calls that allocate); the errors of options, see below; and
 *   PICOLLO_ERR_INVALID_ARGUMENT for text that is not UTF-8, an unknown code, flag or index, and a number outside
 *   its documented range.
 * - Outputs are written only on success, except out_length if a buffer is too small. error is written only on
 *   failure.
 * - NULL is an error (PICOLLO_ERR_NULL_POINTER). A call without a status then does nothing. Hot functions do not
 *   check, and say so. NULL is allowed for options (all defaults), error, out_id, texts (empty), and arrays of
 *   length or capacity 0. "Requires" lists further cases. Pointers must be aligned for their type.
 * - Arrays: parameters that share one length have that many elements each and do not overlap.
 * - Codes: since is PICOLLO_SINCE_..., value_selection PICOLLO_VALUE_..., placement PICOLLO_PLACEMENT_..., clock
 *   PICOLLO_CLOCK_..., unit PICOLLO_UNIT_... if it is a number, format PICOLLO_TEXT_..., encoding
 *   PICOLLO_ENCODING_..., and non_empty_only PICOLLO_BUCKETS_....
 * - Ownership: handles are opaque. The caller owns every handle that a call returns and frees it once with _free,
 *   which ignores NULL. _retain adds a reference, which needs another _free, and returns the same handle; for NULL
 *   it returns NULL. An object keeps alive what it was made from, so objects may be freed in any order. A call that
 *   ends in _ref returns a reference to an existing object, for _free. The caller frees nothing else. After a call
 *   the library keeps no pointer to the caller's memory, except after _init_in, _attach and
 *   picollo_log_reader_create.
 * - Options begin with struct_size, and zero means the default. PICOLLO_..._OPTIONS_INIT sets the size and zeroes
 *   the rest. Options of older and newer headers work. A struct_size below that of the first version is
 *   PICOLLO_ERR_INVALID_ARGUMENT. A non-zero field or flag that this version does not know is
 *   PICOLLO_ERR_UNSUPPORTED. All other structs never change.
 * - Text, bytes and lists go into the caller's buffer completely or not at all. The parameters are buffer (lists:
 *   out), capacity in bytes (lists: elements) and out_length. *out_length is the whole length. If it exceeds
 *   capacity, the call returns PICOLLO_ERR_BUFFER_TOO_SMALL and writes nothing else, so a NULL buffer with capacity
 *   0 asks for the length. Text is UTF-8 and ends in a NUL, which needs a byte of capacity and is not part of
 *   *out_length. A text buffer that is too small but not empty then holds "".
 * - Ranges are closed: both ends belong to them.
 * - Signals: picollo_histogram_record, _record_n, _record_batch and recorders are async-signal-safe with dense
 *   storage, except for the first record of a thread in thread-local mode, which allocates. They take no lock and
 *   never wait. In a handler the default mode loses nothing; docs/abi.md covers the other modes.
 * - Forks: a child continues with its copies of histograms, snapshots and recorders. It can only free its copies of
 *   sessions. If the parent has several threads, see docs/abi.md.
 * - Cancellation: no call acts on pthread_cancel. The request stays pending until the caller's next cancellation
 *   point.
 * - Stack: recording, reading, text, encodings, logs and comparisons use less than 16 KiB, if the library was built
 *   with optimization.
 * - Unloading: the shared library stays loaded after dlclose. See docs/abi.md for the static library.
 * - Since: every function exists since version 0.1.
 */
#ifndef PICOLLO_H
#define PICOLLO_H

#include <stddef.h>
#include <stdint.h>

/* C++17 and C23 warn if a program ignores a status, unless it casts the call to void. In older languages gcc and clang warn in
 * spite of the cast, so this must be requested: define PICOLLO_WARN_UNUSED before you include this file. An empty definition of
 * PICOLLO_NODISCARD turns all these warnings off. */
#ifndef PICOLLO_NODISCARD
#if (defined(__cplusplus) && __cplusplus >= 201703L) || (defined(_MSVC_LANG) && _MSVC_LANG >= 201703L) || \
    (defined(__STDC_VERSION__) && __STDC_VERSION__ > 201710L)
#define PICOLLO_NODISCARD [[nodiscard]]
#elif defined(PICOLLO_WARN_UNUSED) && defined(__GNUC__)
#define PICOLLO_NODISCARD __attribute__((warn_unused_result))
#else
#define PICOLLO_NODISCARD
#endif
#endif
#define PICOLLO_STATUS PICOLLO_NODISCARD picollo_status

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------------------------------------------------------
 * Versions.
 */

/** Version of this interface. It increases when a program built against an older header would no longer work. */
#define PICOLLO_ABI_VERSION 2
/** Major version of this header: breaking changes. picollo_version returns the version of the library at run time. */
#define PICOLLO_VERSION_MAJOR 0
/** Minor version of this header: additions. */
#define PICOLLO_VERSION_MINOR 1
/** Patch version of this header: corrections. */
#define PICOLLO_VERSION_PATCH 0

/** Returns the ABI version of the library at run time. Compare it with PICOLLO_ABI_VERSION, the version at compile
 * time. It cannot fail. */
uint32_t picollo_abi_version(void);

/** Returns the version of the library at run time, such as "0.1.0": a static string, never NULL, not to be freed. */
const char *picollo_version(void);

/* ----------------------------------------------------------------------------------------------------------
 * Status and errors.
 *
 * Every call that can fail returns a picollo_status: PICOLLO_OK, which is 0, or one of the negative numbers below.
 * All negative numbers except PICOLLO_END are errors. Numbers are never reused; a later version may return new ones.
 * Every function that returns a status and is not hot may also return PICOLLO_ERR_PANIC. This is a defect of the
 * library; please report it.
 */

/** 0 is success. Negative numbers mean that the call delivered nothing. */
typedef int32_t picollo_status;

/** A failure with its explanation: what, why, and what to do about it. Holds its text by value, so that making one never
 * allocates. */
typedef struct picollo_error {
    /** What the call returned. */
    int32_t status;
    /** The errno of the system call that failed; 0: none. */
    int32_t os_errno;
    /** Which of the events given; -1: none. */
    int32_t event_index;
    /** 0. */
    uint32_t reserved;
    /** What happened, why, and what to do; NUL-terminated UTF-8. */
    char message[496];
} picollo_error;

/** Success. */
#define PICOLLO_OK 0
/** A series has ended: there is no next element. This is not an error. */
#define PICOLLO_END (-100)
/** A pointer is NULL that must not be. */
#define PICOLLO_ERR_NULL_POINTER (-1)
/** An argument is outside its documented range, or a pointer is not aligned for what it points to. */
#define PICOLLO_ERR_INVALID_ARGUMENT (-2)
/** The allocator had no memory; nothing was changed. */
#define PICOLLO_ERR_OUT_OF_MEMORY (-3)
/** The caller's buffer is too small; out_length, if there is one, reports the necessary size. */
#define PICOLLO_ERR_BUFFER_TOO_SMALL (-4)
/** This build, platform, mode or option does not offer it. */
#define PICOLLO_ERR_UNSUPPORTED (-5)
/** The layouts cannot be combined without loss, or the data were made by another version. */
#define PICOLLO_ERR_INCOMPATIBLE (-6)
/** Encoded data or an image in memory is malformed. */
#define PICOLLO_ERR_CORRUPT (-7)
/** Nothing was recorded or read, so there is nothing to report. */
#define PICOLLO_ERR_EMPTY (-8)
/** Only the thread that opened the session may do this. */
#define PICOLLO_ERR_WRONG_THREAD (-9)
/** The operating system refused; the errno says why. */
#define PICOLLO_ERR_OS (-10)
/** The operating system denied it for lack of rights. */
#define PICOLLO_ERR_PERMISSION (-11)
/** The event is unknown to this machine, or the machine offers no performance counters. */
#define PICOLLO_ERR_NO_SUCH_EVENT (-12)
/** The event was never scheduled in the interval, so its count is unknown rather than zero. */
#define PICOLLO_ERR_NOT_COUNTED (-13)
/** A bounded number of retries ran out against competing calls; try again. */
#define PICOLLO_ERR_BUSY (-14)

/** The object belongs to the parent of a fork, or another thread of the parent was changing it. Here it can only
 * be freed. */
#define PICOLLO_ERR_FORKED (-15)
/** A defect of the library, stopped at its boundary. */
#define PICOLLO_ERR_PANIC (-127)

/** Returns a short English sentence for a status, also for unknown numbers: a static string, never NULL, not to be
 * freed. */
const char *picollo_status_str(picollo_status status);

/* ----------------------------------------------------------------------------------------------------------
 * Handles.
 *
 * Their content is private. Functions such as _create return them, and _free takes them back.
 */

/** A benchmark of two pieces of code. */
typedef struct picollo_benchmark picollo_benchmark;

/** A histogram of doubles. */
typedef struct picollo_double_histogram picollo_double_histogram;

/** Counts of doubles in one interval.
 *
 * Any number of threads may make calls that take it as const. picollo_double_snapshot_update,
 * picollo_double_snapshot_merge (into it) and picollo_double_snapshot_free need exclusive access. */
typedef struct picollo_double_snapshot picollo_double_snapshot;

/** Collects the slowest observations of a histogram and the reasons for their slowness. */
typedef struct picollo_exemplars picollo_exemplars;

/** A histogram: a counted reference. picollo_histogram_retain adds one, picollo_histogram_free gives one back.
 * Everything made from a histogram, such as a snapshot, holds its own reference. */
typedef struct picollo_histogram picollo_histogram;

/** Reads a log of histograms (.hlog) in the caller's memory. */
typedef struct picollo_log_reader picollo_log_reader;

/** A counter of a registry or a segment. */
typedef struct picollo_metric_counter picollo_metric_counter;

/** A gauge of a registry. */
typedef struct picollo_metric_gauge picollo_metric_gauge;

/** Histograms, counters and gauges with names and labels. The child of a fork can use it, unless another thread of
 * the parent was inside a call on it. In that case all calls except picollo_registry_free return PICOLLO_ERR_FORKED
 * from then on. */
typedef struct picollo_registry picollo_registry;

/** A file in memory that holds histograms and counters for others to read. The segment and its histograms and
 * counters may be freed in any order. */
typedef struct picollo_segment picollo_segment;

/** Performance counters of one target. */
typedef struct picollo_session picollo_session;

/** Frozen counts with their totals. A snapshot holds a reference to its histogram, unless it was decoded, copied or
 * corrected.
 *
 * Any number of threads may make calls that take it as const. picollo_snapshot_update, picollo_snapshot_merge (into
 * it), picollo_snapshot_subtract (from it) and picollo_snapshot_free need exclusive access. */
typedef struct picollo_snapshot picollo_snapshot;

/* ----------------------------------------------------------------------------------------------------------
 * Histograms.
 *
 * A histogram counts 64-bit values in buckets whose width grows with the value, so every value has a bounded
 * relative error. Recording never fails, never waits and loses nothing silently: values out of range are counted
 * separately, as underflow and overflow. By default any number of threads record, and a record takes a few
 * nanoseconds. In single-writer mode it takes about one.
 *
 * Counts only grow. A reset stores the counts of its moment, and readers subtract them. So any number of threads may
 * read and reset while others record. By default a record is an atomic addition. Other modes serve a single writer
 * and many writers at high rates (PICOLLO_MODE_...).
 *
 *     picollo_histogram *latency;
 *     picollo_histogram_options options = PICOLLO_HISTOGRAM_OPTIONS_INIT;
 *     options.relative_error = 0.01;
 *     options.max_trackable = 1000000000;
 *     if (picollo_histogram_create(&options, &latency) != PICOLLO_OK) ...
 *     picollo_histogram_record(latency, 1234);
 *
 * To read a histogram, take a picollo_snapshot or directly a picollo_summary.
 */

/** All memory at once. The default. */
#define PICOLLO_STORAGE_DENSE 0
/** In small chunks, on first touch. */
#define PICOLLO_STORAGE_SPARSE 1

/** The default: any number of threads record, also in signal handlers, each by an atomic addition. Its only recorder
 * is picollo_atomic_recorder. */
#define PICOLLO_MODE_INTERLOCKED 0

/** One thread records at a time, and any number of threads read. A record is a plain addition and takes a third to a
 * fifth of the time. Two threads that record at the same time lose counts without notice. */
#define PICOLLO_MODE_SINGLE_WRITER 1
/** Many threads at high rates: a plain addition into the thread's own shard. */
#define PICOLLO_MODE_THREAD_LOCAL 2

/** Many threads at high rates, however many there are, and signal handlers. A record is a plain addition into the
 * shard of the current CPU, in a restartable sequence. This needs Linux on x86-64 and glibc 2.35 or later.
 * Otherwise, and in threads that are not registered for it, a record is an atomic addition, which is just as exact.
 * Each CPU that was recorded on has a shard; threads have none. Such histograms are dense, have 64-bit counters, and
 * live on the heap. They have no recorder (PICOLLO_ERR_UNSUPPORTED). */
#define PICOLLO_MODE_PER_CPU 4

/** Omits the room for resets. The histogram takes a third of the memory, and picollo_histogram_reset returns
 * PICOLLO_ERR_UNSUPPORTED. */
#define PICOLLO_HISTOGRAM_NO_LIVE_RESET (1 << 0)

/** Raises max_trackable to the largest value for which the array of an HdrHistogram with this max_trackable has room:
 * the end of a block, and at least two blocks. For 5,000 and 3 digits this is 8,191. picollo_layout_of_options
 * reports it. */
#define PICOLLO_HISTOGRAM_WHOLE_ARRAY (1 << 1)

/** For significant_digits: the buckets of an HdrHistogram with 0 significant digits, which are powers of two. (0 in
 * that field means that relative_error decides.) */
#define PICOLLO_ZERO_DIGITS 255

/** Options of a histogram.
 *
 * A narrower range far above zero, or a larger error, takes less memory: 28,672 counters for all 64-bit values at
 * 0.001, but 104 for 10,000 to 30,000 at 0.01. */
typedef struct picollo_histogram_options {
    uint32_t struct_size;
    /** PICOLLO_MODE_...: who may record, and how. 0: PICOLLO_MODE_INTERLOCKED. */
    uint32_t mode;
    /** PICOLLO_STORAGE_...: when memory is allocated. */
    uint32_t storage;
    /** Width of a counter: 32 or 64; 0: 64. If a 32-bit counter wraps around, the counts are reported as lost. */
    uint32_t counter_bits;
    /** Largest relative distance between a value and the midpoint of its bucket, clamped to 1e-6 ..= 0.1. 0, negative
     * or NaN: 0.001. The block size is the smallest power of two that is at least 0.5 / relative_error. */
    double relative_error;
    /** 1 ..= 5, or PICOLLO_ZERO_DIGITS: the buckets of an HdrHistogram with so many significant digits;
     * relative_error is ignored. 0: relative_error decides. */
    uint32_t significant_digits;
    /** PICOLLO_HISTOGRAM_NO_LIVE_RESET | PICOLLO_HISTOGRAM_WHOLE_ARRAY, or 0. */
    uint32_t flags;
    /** Smallest value to count; smaller values are underflow. It must be below max_trackable. */
    uint64_t min_trackable;
    /** Largest value to count; larger values are overflow. 0: UINT64_MAX. At both ends the whole bucket belongs to
     * the range. */
    uint64_t max_trackable;
    /** Sparse storage: limit of its memory; 0: no limit. Values that do not fit are counted as lost. */
    uint64_t max_bytes;
    /** HdrHistogram's lowest discernible value. Values are counted in units of the largest power of two that is at
     * most this, so small values need fewer counters. 0 or 1: no unit. At most max_trackable, and below 2^62 / block
     * size. With a unit a record takes longer: recorders have length 0 and call the library. */
    uint64_t unit;
} picollo_histogram_options;
#define PICOLLO_HISTOGRAM_OPTIONS_INIT {sizeof(picollo_histogram_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/** Makes an empty histogram on the heap.
 *
 * Returns: PICOLLO_ERR_UNSUPPORTED for options that this version does not offer.
 * Cost: allocates and zeroes 24 bytes per counter: 8 for the count and 16 for resets. Half for 32-bit counters, a
 *   third without live reset. */
PICOLLO_STATUS picollo_histogram_create(const picollo_histogram_options *options, picollo_histogram **out);

/** Reports which option picollo_histogram_create refuses, and why, in the error's message: "counter_bits is 7, and
 * has to be 0, 32 or 64". Makes nothing.
 *
 *     if (picollo_histogram_create(&options, &histogram) != PICOLLO_OK) {
 *         picollo_error error = {0};
 *         picollo_histogram_explain(&options, &error);
 *         fprintf(stderr, "%s\n", error.message);
 *     }
 *
 * Returns: PICOLLO_OK if the options are valid; otherwise what picollo_histogram_create returns. */
PICOLLO_STATUS picollo_histogram_explain(const picollo_histogram_options *options, picollo_error *error);

/** Reports how much memory picollo_histogram_init_in needs for the same options: 256 bytes, and three cells per
 * bucket, two of them for resets. With PICOLLO_HISTOGRAM_NO_LIVE_RESET it is one cell per bucket.
 *
 * Returns: as picollo_histogram_create; PICOLLO_ERR_UNSUPPORTED also for options that need the heap. */
PICOLLO_STATUS picollo_histogram_required_size(const picollo_histogram_options *options, size_t *out_size,
    size_t *out_align);

/** Makes an empty histogram in the caller's memory: static, on a stack, from another allocator, or shared between
 * processes. Other processes open it with picollo_histogram_attach. The histogram must be dense, and interlocked
 * (the default) or single-writer.
 *
 * Requires: memory has size bytes, is aligned as picollo_histogram_required_size reports, and has no other use until
 *   the histogram and everything made from it are freed.
 * Returns: as picollo_histogram_create.
 * Ownership: the memory stays the caller's. References to such a histogram are not counted: picollo_histogram_free
 *   does nothing, and the memory must outlive the snapshots, recorders and scopes.
 * Cost: zeroes the memory that it needs. */
PICOLLO_STATUS picollo_histogram_init_in(void *memory, size_t size, const picollo_histogram_options *options,
    picollo_histogram **out);

/** Seeds the identities of histograms, by which snapshots recognize them. A build without an operating system draws
 * identities only from this number (default 0) and a counter, so they are the same in every run. Call it first, with
 * a number that no other run uses, if histograms lie in memory that survives a restart or that processors share.
 * Other builds mix the number with their own sources. */
void picollo_seed_identities(uint64_t seed);

/** Opens a histogram that picollo_histogram_init_in made in this memory, in this or another process. The memory may
 * be at a different address in each process.
 *
 * Snapshots recognize a histogram by a 128-bit identity in its memory, whoever maps it and where. If
 * picollo_histogram_init_in makes another histogram in its place, snapshots see a new one. A copy of the memory has
 * the identity of the original. If both continue to be used, give each its own snapshots.
 *
 * Requires: as picollo_histogram_init_in; other writers to the memory use only this library.
 * Returns: PICOLLO_ERR_BUFFER_TOO_SMALL if the memory ends inside the histogram; PICOLLO_ERR_CORRUPT if there is no
 *   histogram, or a damaged one; PICOLLO_ERR_INCOMPATIBLE if another version or word size made it.
 * Ownership: as picollo_histogram_init_in.
 * Threads: any thread. In single-writer mode there is one writer among all processes. */
PICOLLO_STATUS picollo_histogram_attach(void *memory, size_t size, picollo_histogram **out);

/** Adds a reference. */
picollo_histogram *picollo_histogram_retain(picollo_histogram *histogram);

/** Gives back a reference. The last one frees the memory; snapshots, recorders and sessions hold their own. */
void picollo_histogram_free(picollo_histogram *histogram);

/** Counts one value. Values out of range are counted as underflow or overflow.
 *
 * This call is meant to be made millions of times per second. picollo_recorder and picollo_histogram_record_batch
 * save even the call.
 *
 * Requires: histogram is not NULL; this is not checked.
 * Threads: any thread, or one at a time with PICOLLO_MODE_SINGLE_WRITER. Readers and resets do not disturb it.
 * Cost: in single-writer mode about that of calling an empty function, 18 instructions on x86-64. In the default
 *   mode an atomic addition more. No lock. */
void picollo_histogram_record(picollo_histogram *histogram, uint64_t value);

/** Counts one value count times. A count of 0 does nothing. Counts that exceed a counter are reported as lost. If 64
 * bits wrap around, picollo_counts.lost is UINT64_MAX. picollo_histogram_record does not check for this, because a
 * wrap by single records takes centuries. It misses one only if record_n had filled the counter almost completely.
 *
 * Requires: histogram is not NULL; this is not checked.
 * Otherwise: as picollo_histogram_record. */
void picollo_histogram_record_n(picollo_histogram *histogram, uint64_t value, uint64_t count);

/** Counts every value of an array. The counts are those of picollo_histogram_record for each value, in less time.
 * Does nothing if histogram or values is NULL.
 *
 * Threads: as picollo_histogram_record.
 * Cost: about a nanosecond per value in single-writer mode, an atomic addition per value in the default mode. */
void picollo_histogram_record_batch(picollo_histogram *histogram, const uint64_t *values, size_t length);

/** Counts a value and corrects for coordinated omission. If value exceeds expected_interval, the call also counts the
 * values that a stalled caller did not send: value - interval, value - 2 * interval, ... down to the interval. An
 * expected_interval of 0 adds nothing. Does nothing if histogram is NULL.
 *
 * Threads: as picollo_histogram_record.
 * Cost: a record per added value, at most one per counter. */
void picollo_histogram_record_corrected(picollo_histogram *histogram, uint64_t value,
    uint64_t expected_interval);

/** Counts a value if it lies between exact bounds, which may be tighter than the buckets at the ends of the range.
 * Otherwise counts it as underflow or overflow, and reports that.
 *
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT if the value was counted as underflow or overflow.
 * Threads: as picollo_histogram_record.
 * Cost: slightly more than picollo_histogram_record. */
PICOLLO_STATUS picollo_histogram_record_in_range(picollo_histogram *histogram, uint64_t value, uint64_t min,
    uint64_t max);

/** Starts counting anew: later reads count from here. Writers are not disturbed, and each record is on exactly one
 * side of the reset. Deltas of snapshots are not affected. If a process is killed inside the call, or forks during
 * it, the reset did not happen.
 *
 * Returns: PICOLLO_ERR_UNSUPPORTED for a histogram made with PICOLLO_HISTOGRAM_NO_LIVE_RESET; PICOLLO_ERR_BUSY if
 *   another program overwrites the shared memory; with sparse storage also PICOLLO_ERR_OUT_OF_MEMORY, and nothing
 *   has changed.
 * Cost: copies all counters. */
PICOLLO_STATUS picollo_histogram_reset(picollo_histogram *histogram);

/** Reports the present size of the histogram in bytes, without its snapshots. */
PICOLLO_STATUS picollo_histogram_footprint(const picollo_histogram *histogram, size_t *out_bytes);

/* ----------------------------------------------------------------------------------------------------------
 * Recording without a call.
 *
 * A recorder holds what a record needs, so the compiler can inline it. Include picollo_inline.h and call
 * picollo_recorder_record. Bindings for other languages may do the same. This is the rule for a value v:
 *
 *     e     = 63 - block_scale - leading_zeros(v | (1 << block_scale))
 *     index = (e << block_scale) + (v >> e) - first_index              (modulo 2^64)
 *
 * If index < length, add one to cell number index (of counter_bits bits) by a relaxed atomic load and store.
 * Otherwise, or if a 32-bit cell is all ones, call picollo_histogram_record(histogram, v) instead. The counts are
 * the same. If one instruction adds, no signal handler can interrupt the addition. A 32-bit cell that is zero
 * afterwards has wrapped around: report it with picollo_histogram_record_n(histogram, v, 2^32), and leave the cell
 * as it is.
 *
 * A recorder adds without an atomic operation, so its mode must be requested:
 *
 *     options.mode = PICOLLO_MODE_THREAD_LOCAL;         (a recorder for each thread, or PICOLLO_MODE_SINGLE_WRITER: one)
 *     if (picollo_histogram_create(&options, &latency) != PICOLLO_OK) ...
 *     picollo_recorder recorder;
 *     if (picollo_histogram_recorder(latency, PICOLLO_INLINE_VERSION, &recorder) != PICOLLO_OK) ...
 *     picollo_recorder_record(&recorder, 1234);
 *     picollo_recorder_release(&recorder);
 *
 * For a histogram of the default mode that many threads share, use picollo_atomic_recorder. The rule is the same,
 * but one atomic addition increments the cell, and nothing is to be released.
 */

/** Version of the rule above and of picollo_recorder. */
#define PICOLLO_INLINE_VERSION 1

/** A recorder. One thread at a time may record through it, also alternately with picollo_histogram_record on the same
 * histogram.
 *
 * Do not change its fields. Copies are valid until the original is released. */
typedef struct picollo_recorder {
    /** Number of cells. 0 if the layout has a unit; then picollo_histogram_record takes every value. */
    uint64_t length;
    /** Logical index of the first cell. */
    uint64_t first_index;
    /** Binary logarithm of the block size. */
    uint32_t block_scale;
    /** Width of a cell, 32 or 64. */
    uint32_t counter_bits;
    /** The cells: uint32_t or uint64_t, by counter_bits. */
    void *counters;
    /** Takes the values that the cells cannot. */
    picollo_histogram *histogram;
    /** Private. */
    void *owner;
    void *reserved;
} picollo_recorder;

/** A recorder for a histogram that any number of threads record into.
 *
 * Do not change its fields. All threads may share it, and copies are valid. It borrows the histogram, and there is
 * nothing to release. */
typedef struct picollo_atomic_recorder {
    /** Number of cells. 0 if the layout has a unit; then picollo_histogram_record takes every value. */
    uint64_t length;
    /** Logical index of the first cell. */
    uint64_t first_index;
    /** Binary logarithm of the block size. */
    uint32_t block_scale;
    uint32_t reserved;
    /** The cells. */
    uint64_t *counters;
    /** Takes the values that the cells cannot. */
    picollo_histogram *histogram;
} picollo_atomic_recorder;

/** Fills in a recorder for a dense histogram in PICOLLO_MODE_SINGLE_WRITER or PICOLLO_MODE_THREAD_LOCAL. In
 * thread-local mode the recorder owns a shard until it is released, even if the thread ends.
 *
 * Requires: inline_version is PICOLLO_INLINE_VERSION at compile time.
 * Returns: PICOLLO_ERR_UNSUPPORTED for another inline_version, and for a mode or storage without recorder, such as
 *   the default PICOLLO_MODE_INTERLOCKED; PICOLLO_ERR_OUT_OF_MEMORY if there is no room for a shard.
 * Ownership: the recorder holds a reference to the histogram until picollo_recorder_release.
 * Cost: in thread-local mode it may allocate a shard. */
PICOLLO_STATUS picollo_histogram_recorder(picollo_histogram *histogram, uint32_t inline_version,
    picollo_recorder *out);

/** Fills in an atomic recorder for a dense histogram with 64-bit counters in PICOLLO_MODE_INTERLOCKED, the default.
 * Record with picollo_atomic_recorder_record of picollo_inline.h.
 *
 * Requires: inline_version is PICOLLO_INLINE_VERSION at compile time.
 * Returns: PICOLLO_ERR_UNSUPPORTED for another inline_version, any other mode or storage, and 32-bit counters,
 *   because the library must count their wraps.
 * Ownership: borrows the histogram: the caller keeps a reference while it records. */
PICOLLO_STATUS picollo_histogram_atomic_recorder(picollo_histogram *histogram, uint32_t inline_version,
    picollo_atomic_recorder *out);

/** Gives back the recorder's reference and shard, and clears the recorder. Does nothing if recorder is NULL or was
 * released.
 *
 * Requires: neither the recorder nor a copy of it is used to record any more.
 * Threads: any thread, once.
 * Cost: as picollo_histogram_free. */
void picollo_recorder_release(picollo_recorder *recorder);

/* ----------------------------------------------------------------------------------------------------------
 * Snapshots: reading a histogram.
 *
 * A snapshot holds the counts of a histogram at one moment, so everything read from it is consistent while recording
 * goes on. Make it once and update it as often as you like, without allocations:
 *
 *     picollo_snapshot *snapshot;
 *     picollo_snapshot_create(histogram, &snapshot);
 *     for (;;) {
 *         wait_a_second();
 *         picollo_snapshot_update(snapshot, PICOLLO_SINCE_PREVIOUS);
 *         ... picollo_snapshot_percentiles, picollo_snapshot_summary ...
 *     }
 *     picollo_snapshot_free(snapshot);
 *
 * Ranks are percentages, 0 to 100. The percentile at a rank is the first bucket whose cumulative count reaches
 * max(1, ceil(rank / 100 * total)). For ranks with up to nine decimals this is computed in integers. Underflow,
 * overflow and lost counts are excluded.
 */

/** lower + step / 2: at most step / 2 from every value of the bucket; exact if step is 1. */
#define PICOLLO_VALUE_MIDPOINT 0
/** The smallest value of the bucket. */
#define PICOLLO_VALUE_LOWER 1
/** The largest value of the bucket. */
#define PICOLLO_VALUE_UPPER 2
/** Counts since the reset; for sessions since the base. */
#define PICOLLO_SINCE_RESET 0
/** Counts since the previous update; for sessions between the last two reads. */
#define PICOLLO_SINCE_PREVIOUS 1
/** Include the value's own bucket completely. */
#define PICOLLO_RANK_WHOLE_BUCKETS 0
/** Include only the share of the value's own bucket up to the value. */
#define PICOLLO_RANK_INTERPOLATED 1
/** All buckets from the first to the last. */
#define PICOLLO_BUCKETS_ALL 0
/** Only buckets with counts. */
#define PICOLLO_BUCKETS_NON_EMPTY 1

/** A run of values that share one count. */
typedef struct picollo_bucket {
    /** Smallest value of the bucket. */
    uint64_t lower;
    /** Largest value of the bucket. The range is closed, so the last bucket can end at UINT64_MAX. */
    uint64_t upper;
    /** Number of values that share the count: upper - lower + 1. */
    uint64_t step;
    /** Number of observations. */
    uint64_t count;
    /** Index among the counters of its histogram. */
    uint64_t storage_index;
    /** Index among the counters of a histogram of the full range. */
    uint64_t logical_index;
} picollo_bucket;

/** Totals of a snapshot. They saturate at UINT64_MAX; percentiles use the exact totals. */
typedef struct picollo_counts {
    /** Observations in range. */
    uint64_t total;
    /** Observations below the range. */
    uint64_t underflow;
    /** Observations above the range. */
    uint64_t overflow;
    /** Observations missing from the numbers above, because a cell wrapped around or no memory was left for one. A
     * wrap loses 2^32 in 32-bit cells. In wider cells and in the numbers above it loses 2^64, so UINT64_MAX means
     * that many or more. */
    uint64_t lost;
} picollo_counts;

/** A percentile: the first bucket whose cumulative count reaches the rank's target. */
typedef struct picollo_percentile {
    /** The requested rank, 0 to 100. */
    double rank;
    /** The bucket's equivalent value. */
    uint64_t value;
    /** Nearest rank: max(1, ceil(rank / 100 * total)); saturates at UINT64_MAX. Zero only in the summary of an empty snapshot. */
    uint64_t target_count;
    /** The bucket, with its count. */
    picollo_bucket bucket;
} picollo_percentile;

/** Makes a snapshot and updates it with all counts since the reset.
 *
 * Returns: PICOLLO_ERR_BUSY if another program overwrites the shared memory.
 * Cost: allocates 16 bytes per counter, copies all counters. */
PICOLLO_STATUS picollo_snapshot_create(const picollo_histogram *histogram, picollo_snapshot **out);

/** Reports how much memory picollo_snapshot_init_in needs for this histogram. */
PICOLLO_STATUS picollo_snapshot_required_size(const picollo_histogram *histogram, size_t *out_size,
    size_t *out_align);

/** Makes a snapshot in the caller's memory, and updates it as picollo_snapshot_create does.
 *
 * Requires: memory has size bytes, is aligned as picollo_snapshot_required_size reports, and is neither moved nor
 *   used otherwise until picollo_snapshot_free.
 * Returns: as picollo_snapshot_create.
 * Ownership: the memory stays the caller's.
 * Cost: copies all counters. */
PICOLLO_STATUS picollo_snapshot_init_in(void *memory, size_t size, const picollo_histogram *histogram,
    picollo_snapshot **out);

/** Replaces the counts by new ones from the histogram, while writers and other readers continue. Each update is the
 * start of the next delta. Deltas add up to everything that was recorded; resets do not affect them.
 *
 * Returns: PICOLLO_ERR_UNSUPPORTED for a snapshot without histogram, such as a decoded one; PICOLLO_ERR_BUSY if
 *   another program overwrites the shared memory (PICOLLO_SINCE_RESET only). Then the snapshot is empty, and the
 *   next delta starts where it would have started.
 * Threads: any thread, one at a time per snapshot, also while others record and reset.
 * Cost: copies all counters: tens of microseconds for 28,672. */
PICOLLO_STATUS picollo_snapshot_update(picollo_snapshot *snapshot, uint32_t since);

/** Frees a snapshot and its reference to the histogram. The caller may reuse memory that it provided. */
void picollo_snapshot_free(picollo_snapshot *snapshot);

/** Reports the totals. */
PICOLLO_STATUS picollo_snapshot_counts(const picollo_snapshot *snapshot, picollo_counts *out);

/** Finds the percentiles at many ranks, in any order.
 *
 * Returns: PICOLLO_ERR_EMPTY if nothing was recorded.
 * Cost: one pass over the counters for ascending ranks, otherwise one per 64 ranks. */
PICOLLO_STATUS picollo_snapshot_percentiles(const picollo_snapshot *snapshot, const double *ranks,
    size_t length, uint32_t value_selection, picollo_percentile *out);

/** Finds the percentiles' values only.
 *
 * Otherwise: as picollo_snapshot_percentiles. */
PICOLLO_STATUS picollo_snapshot_percentile_values(const picollo_snapshot *snapshot, const double *ranks,
    size_t length, uint32_t value_selection, uint64_t *out);

/** Reports the percentage of observations at or below a value: those in buckets up to and including the value's own.
 * The result is 0 below the range and 100 above.
 *
 * Requires: interpolate is PICOLLO_RANK_WHOLE_BUCKETS or PICOLLO_RANK_INTERPOLATED.
 * Returns: PICOLLO_ERR_EMPTY if nothing was recorded.
 * Cost: one pass over the counters up to the value's. */
PICOLLO_STATUS picollo_snapshot_rank_of_value(const picollo_snapshot *snapshot, uint64_t value,
    uint32_t interpolate, double *out_rank);

/** Finds the bucket of a value, with its count.
 *
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT for a value out of range. */
PICOLLO_STATUS picollo_snapshot_bucket_of(const picollo_snapshot *snapshot, uint64_t value,
    picollo_bucket *out);

/** Lists the buckets with their counts, in ascending order.
 *
 * Cost: two passes over the counters. */
PICOLLO_STATUS picollo_snapshot_buckets(const picollo_snapshot *snapshot, uint32_t non_empty_only,
    picollo_bucket *out, size_t capacity, size_t *out_length);

/* ----------------------------------------------------------------------------------------------------------
 * Layouts: how values map to buckets, and what that costs.
 *
 * A layout is plain numbers. Options, histograms and snapshots have one. It describes values in all objects with the
 * same layout, and needs none of them.
 *
 * picollo_layout_bucket_of replaces three calls of HdrHistogram: the lowest, highest and median equivalent value are
 * the bucket's lower, upper, and lower + step / 2. The next non-equivalent value is upper + 1. The calls return
 * PICOLLO_ERR_INVALID_ARGUMENT for a layout that this library did not fill in.
 */

/** The rule that maps values to counters. */
typedef struct picollo_layout {
    /** Smallest value that is certainly counted. */
    uint64_t min_trackable;
    /** Largest value that is certainly counted. */
    uint64_t max_trackable;
    /** Logical index of the first counter. */
    uint64_t first_index;
    /** Number of counters. */
    uint64_t length;
    /** 0.5 / block size: the largest relative distance between a value and the midpoint of its bucket. With a unit
     * above 1 this holds from a block of units on; smaller values are at most half a unit away. */
    double relative_error;
    /** Binary logarithm of the block size. */
    uint32_t block_scale;
    /** Significant digits (1 ..= 5) of the HdrHistogram with these buckets. 0 if there is no such HdrHistogram, or if
     * it has 0 digits (then block_scale is 0). */
    uint32_t significant_digits;
    /** Unit of the first two blocks of buckets: 1, or a power of two if an HdrHistogram with such a lowest
     * discernible value was encoded. Values are divided by the unit, rounded down, and multiplied by it again. */
    uint64_t unit;
} picollo_layout;

/** The memory of a histogram, in bytes. */
typedef struct picollo_footprint {
    /** Number of counters of the layout. */
    uint64_t counters;
    /** Size of a new histogram. */
    uint64_t initial_bytes;
    /** Size of a growth step: a shard per thread that records at the same time (thread-local), a shard per CPU
     * (per-CPU), or a chunk of counters with its baseline (sparse). 0 if it does not grow. */
    uint64_t step_bytes;
    /** Largest possible size; UINT64_MAX if there is no limit. */
    uint64_t max_bytes;
    /** Size of a snapshot. */
    uint64_t snapshot_bytes;
} picollo_footprint;

/** Reports the layout of a histogram with these options.
 *
 * Returns: as picollo_histogram_create. */
PICOLLO_STATUS picollo_layout_of_options(const picollo_histogram_options *options, picollo_layout *out);

/** Reports the layout of a snapshot. */
PICOLLO_STATUS picollo_snapshot_layout(const picollo_snapshot *snapshot, picollo_layout *out);

/** Finds the bucket of a value, in range or not. Its count is 0. Its storage_index is UINT64_MAX if the value is out
 * of range. Two values share a bucket if their lower is the same.
 *
 * Requires: layout was filled in by this library; its relative_error, significant_digits and unit are ignored. */
PICOLLO_STATUS picollo_layout_bucket_of(const picollo_layout *layout, uint64_t value, picollo_bucket *out);

/** Computes the layout with the same blocks and unit over another range, to add up snapshots of several ranges
 * (picollo_snapshot_create_from_layout).
 *
 * Requires: as picollo_layout_bucket_of; min_trackable is below max_trackable; out may be layout.
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT also if max_trackable is below the unit. */
PICOLLO_STATUS picollo_layout_with_range(const picollo_layout *layout, uint64_t min_trackable,
    uint64_t max_trackable, picollo_layout *out);

/** Reports how much memory a histogram of any mode and storage will take, without making one. See also
 * picollo_histogram_required_size (for the caller's memory) and picollo_histogram_footprint (of an existing
 * histogram).
 *
 * Returns: as picollo_histogram_create. */
PICOLLO_STATUS picollo_histogram_estimate(const picollo_histogram_options *options, picollo_footprint *out);

/** Counts the observations between two values, both included, in whole buckets: all buckets that contain a value of
 * the range.
 *
 * Returns: PICOLLO_OK with 0 for an empty range, or one outside the snapshot's.
 * Cost: one pass over the counters of the range. */
PICOLLO_STATUS picollo_snapshot_count_between(const picollo_snapshot *snapshot, uint64_t lowest,
    uint64_t highest, uint64_t *out);

/* ----------------------------------------------------------------------------------------------------------
 * Steps through the counts of a snapshot, like HdrHistogram's iterators.
 *
 * A step ends at a value. It holds the counts of all buckets up to and including that value's, except those of
 * earlier steps. It never divides a bucket. Steps continue until they cover everything recorded; an empty snapshot
 * has no steps. picollo_snapshot_buckets lists single buckets.
 *
 * The functions fill an array. If it is too small, they report how many steps there are:
 *
 *     size_t length = 0;
 *     picollo_snapshot_linear_steps(snapshot, 1000, NULL, 0, &length);
 *     picollo_step *steps = malloc(length * sizeof *steps);
 *     picollo_snapshot_linear_steps(snapshot, 1000, steps, length, &length);
 */

/** Largest number of steps. Parameters that lead to more are PICOLLO_ERR_INVALID_ARGUMENT. */
#define PICOLLO_MAX_STEPS 16777216

/** A step of an iteration. */
typedef struct picollo_step {
    /** End of the previous step; 0 for the first. (HdrHistogram's valueIteratedFrom.) */
    uint64_t from;
    /** End of this step. Steps of percentiles end with a bucket. (valueIteratedTo.) */
    uint64_t to;
    /** Counts in this step; saturates at UINT64_MAX. */
    uint64_t added_count;
    /** Counts in this and all previous steps; saturates at UINT64_MAX. */
    uint64_t cumulative_count;
    /** The cumulative count as a percentage of all counts. */
    double rank;
    /** The percentage at which a step of percentiles was due; for other steps the same as rank. */
    double rank_level;
} picollo_step;

/** Lists steps of equal width, which end at width - 1, 2 * width - 1, ...
 *
 * Requires: width is not 0.
 * Cost: two passes over the counters and the steps. */
PICOLLO_STATUS picollo_snapshot_linear_steps(const picollo_snapshot *snapshot, uint64_t width,
    picollo_step *out, size_t capacity, size_t *out_length);

/** Lists steps of growing width, which end at first - 1, first * base - 1, first * base * base - 1, ..., rounded
 * down.
 *
 * Requires: first is not 0, base is above 1.
 * Otherwise: as picollo_snapshot_linear_steps. */
PICOLLO_STATUS picollo_snapshot_logarithmic_steps(const picollo_snapshot *snapshot, uint64_t first,
    double base, picollo_step *out, size_t capacity, size_t *out_length);

/** Lists steps of percentiles. Their distance halves with each half of the remaining distance to 100 %, and the last
 * one is at 100. Each ends with a bucket, and several may end with the same one. They are the rows of
 * picollo_snapshot_format_hgrm.
 *
 * Requires: ticks_per_half_distance is the number of steps in each half of the distance, not 0.
 * Otherwise: as picollo_snapshot_linear_steps. */
PICOLLO_STATUS picollo_snapshot_percentile_steps(const picollo_snapshot *snapshot,
    uint32_t ticks_per_half_distance, picollo_step *out, size_t capacity, size_t *out_length);

/* ----------------------------------------------------------------------------------------------------------
 * Inside a bucket: interpolation.
 *
 * A bucket has a count, but not the positions of its observations. Other calls report one value for the whole
 * bucket. These calls assume that the observations are evenly spread over it. For fine-grained measurements this is
 * mostly closer to the truth, and it is never off by more than the width of the bucket.
 */

/** Finds the interpolated percentiles at many ranks, in any order: the smallest value whose interpolated rank reaches
 * each. It is the inverse of picollo_snapshot_rank_of_value with PICOLLO_RANK_INTERPOLATED, and finds the same
 * buckets as picollo_snapshot_percentiles.
 *
 * Otherwise: as picollo_snapshot_percentiles. */
PICOLLO_STATUS picollo_snapshot_interpolated_percentiles(const picollo_snapshot *snapshot,
    const double *ranks, size_t length, uint64_t *out);

/* ----------------------------------------------------------------------------------------------------------
 * Merging: adds and subtracts snapshots of any layouts, and reports what could not be placed exactly.
 *
 * By default (PICOLLO_PLACEMENT_MIDPOINT) the count of each bucket goes, as a whole, to the bucket that contains its
 * midpoint. Between equal buckets, and into coarser ones, this is exact: the result is the same as if the values had
 * been recorded there, in whatever order you merge. Into finer buckets it is right within the error of the coarser
 * ones. Counts outside the target's range become its underflow or overflow, so nothing vanishes.
 */

/** The whole count of a bucket goes to the bucket of its midpoint. */
#define PICOLLO_PLACEMENT_MIDPOINT 0

/** The count of a bucket is divided in proportion among all buckets that share values with it. Rounding loses
 * nothing. */
#define PICOLLO_PLACEMENT_SPREAD 1

/** The whole count of a bucket goes to the bucket of its smallest value, as in the add of every HdrHistogram. So a
 * sum of intervals of a log equals HdrHistogram's. */
#define PICOLLO_PLACEMENT_LOW_ENDS 2

/** What happened to the counts that were added or subtracted. */
typedef struct picollo_merged {
    /** Counts that went to a finer bucket, within the error of the bucket that they came from. */
    uint64_t refined;
    /** Counts that were in the source's range and are an underflow here. */
    uint64_t underflow;
    /** Counts that were in the source's range and are an overflow here. */
    uint64_t overflow;
    /** Counts that did not fit, because no count exceeds UINT64_MAX. The result counts them as lost. */
    uint64_t lost;
} picollo_merged;

/** Adds all counts of another snapshot, of any layout; see picollo_histogram_add. Counts beyond 64 bits are reported
 * as lost. The next update replaces the sum.
 *
 * Requires: into and other are not the same snapshot; out may be NULL.
 * Threads: any thread, one at a time with into.
 * Cost: one pass over the counters of other. */
PICOLLO_STATUS picollo_snapshot_merge(picollo_snapshot *into, const picollo_snapshot *other,
    uint32_t placement, picollo_merged *out);

/** Subtracts all counts of another snapshot, of any layout, from where picollo_snapshot_merge would have put them.
 * This includes its underflow, overflow and lost counts. So it undoes a merge, or finds what an interval added to an
 * earlier one. The next update replaces the difference.
 *
 * Requires: from and other are not the same snapshot; out may be NULL.
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT, with nothing changed, if a count would fall below zero.
 * Threads: any thread, one at a time with from.
 * Cost: two passes over the counters of other. */
PICOLLO_STATUS picollo_snapshot_subtract(picollo_snapshot *from, const picollo_snapshot *other,
    picollo_merged *out);

/** Adds all counts of a snapshot, of any layout. This is exact if the buckets are the same, or coarser here. If they
 * are finer here, placement decides where each count goes. Counts outside the range become underflow or overflow;
 * underflow, overflow and lost counts are added to those here. Wraps of 32-bit counters are not in the report, but
 * snapshots report them as lost.
 *
 * Requires: out may be NULL.
 * Threads: as picollo_histogram_record.
 * Cost: one pass over the counters of the snapshot. */
PICOLLO_STATUS picollo_histogram_add(picollo_histogram *histogram, const picollo_snapshot *other,
    uint32_t placement, picollo_merged *out);

/** Makes an empty snapshot without a histogram, to merge others into, such as the intervals of a log.
 *
 * Requires: layout was filled in by this library; picollo_layout_with_range makes one for another range.
 * Cost: allocates 8 bytes per counter. */
PICOLLO_STATUS picollo_snapshot_create_from_layout(const picollo_layout *layout, picollo_snapshot **out);

/** Makes a copy without a histogram, to keep counts that the next update replaces, or to merge into.
 *
 * Cost: allocates 8 bytes per counter, copies all counters. */
PICOLLO_STATUS picollo_snapshot_copy(const picollo_snapshot *snapshot, picollo_snapshot **out);

/* ----------------------------------------------------------------------------------------------------------
 * Summaries: totals, moments and the usual percentiles.
 */

/** Number of percentiles in a summary, at the ranks 0 1 5 10 25 50 75 90 92.5 95 97.5 99 99.9 99.99 99.999 100. */
#define PICOLLO_SUMMARY_PERCENTILES 16

/** Totals, mean, deviation and sixteen percentiles of one snapshot. */
typedef struct picollo_summary {
    /** Observations in range; saturates at UINT64_MAX. */
    uint64_t total_count;
    /** Observations below the trackable range; not part of anything else here. */
    uint64_t underflow_count;
    /** Observations above the trackable range; not part of anything else here. */
    uint64_t overflow_count;
    /** Observations that were recorded but are missing from the buckets. */
    uint64_t lost_count;
    /** Mean of equivalent midpoints; NaN when empty. */
    double mean;
    /** Population standard deviation of equivalent midpoints; NaN when empty. */
    double stddev;
    /** The layout's stated error: 0.5 / block size. */
    double relative_error;
    /** Smallest value of the guaranteed range. */
    uint64_t min_trackable;
    /** Largest value of the guaranteed range. */
    uint64_t max_trackable;
    /** Time of the counts, in nanoseconds since 1970; 0 without a clock. */
    uint64_t timestamp_unix_nanos;
    /** PICOLLO_VALUE_...: which value of its bucket each percentile reports. */
    uint32_t value_selection;
    /** 0; reserved. */
    uint32_t flags;
    /** At the ranks of PICOLLO_SUMMARY_PERCENTILES, ascending. */
    picollo_percentile percentiles[PICOLLO_SUMMARY_PERCENTILES];
} picollo_summary;

/** Summarizes a snapshot. An empty one has a summary too: totals and targets are 0, mean and deviation are NaN.
 *
 * Cost: two passes over the counters: tens of microseconds for 28,672. */
PICOLLO_STATUS picollo_snapshot_summary(const picollo_snapshot *snapshot, uint32_t value_selection,
    picollo_summary *out);

/** Summarizes a histogram since its reset. The call makes a snapshot and frees it again. To summarize often, or
 * without allocations, keep a picollo_snapshot, update it, and use picollo_snapshot_summary.
 *
 * Returns: PICOLLO_ERR_BUSY if another program overwrites the shared memory.
 * Cost: allocates 16 bytes per counter temporarily; three passes over the counters. */
PICOLLO_STATUS picollo_histogram_summary(const picollo_histogram *histogram, uint32_t value_selection,
    picollo_summary *out);

/* ----------------------------------------------------------------------------------------------------------
 * Text.
 *
 * See "Text, bytes and lists" at the head of this file for the rules of buffers. To make enough room:
 *
 *     size_t length = 0;
 *     picollo_status status = picollo_summary_format(&summary, title, PICOLLO_TEXT_JSON, NULL, 0, &length);
 *     // status is PICOLLO_ERR_BUFFER_TOO_SMALL, as there is no buffer, and length is set.
 *     char *text = malloc(length + 1);
 *     status = picollo_summary_format(&summary, title, PICOLLO_TEXT_JSON, text, length + 1, &length); // PICOLLO_OK
 *
 * Text for people (PICOLLO_TEXT_HUMAN) uses the unit at the end of the title, in parentheses or after a comma:
 * "Latency (ns)", "Requests, us". "(ns)" is a unit without a title. The library knows ps, ns, us, ms, s and their
 * long names, bytes, cycles and instructions. Numbers with a known unit have three digits and a prefix, such as 4.51
 * us (with the letter mu) or 526 ns. All others are printed in full: 4,509,696. A summary:
 *
 *     Latency: 99,940 values, 60 below the range
 *         P50      P90      P99    P99.9      max     mean
 *     3.60 us  7.46 us  9.15 us  9.66 us  9.79 us  4.33 us
 *
 * Percentiles that the count cannot support, such as P99.9 of 92 values, are left out. Diffs, comparisons and
 * benchmarks begin with the answer in a sentence, which claims no more than the verdict.
 *
 * 4096 bytes are enough for the Markdown of any summary with a short title. Titles and names are escaped for the
 * format. Column widths count Unicode scalar values.
 */

/** A heading and a table, for reports and terminals. Numbers are grouped and rounded. */
#define PICOLLO_TEXT_MARKDOWN 0
/** One line without a line break, for logs. Numbers are grouped and rounded. */
#define PICOLLO_TEXT_LINE 1
/** One JSON object, for programs. Numbers are exact; missing values are null. */
#define PICOLLO_TEXT_JSON 2
/** A few lines for people, at most 80 columns wide, without a line break at the end. See "Text for people". */
#define PICOLLO_TEXT_HUMAN 4
/** Part of an HTML page: only for picollo_exemplars_format. For all other calls it is an unknown format. */
#define PICOLLO_TEXT_HTML 6

/** Writes a summary as text.
 *
 * Cost: microseconds for a line, tens of microseconds for a table. */
PICOLLO_STATUS picollo_summary_format(const picollo_summary *summary, const char *title, uint32_t format,
    char *buffer, size_t capacity, size_t *out_length);

/** Writes the changes from summary a, the older, to summary b, the newer, as text: the numbers of both, the changes
 * in per cent, and the D-value (Cohen's d: the difference of the means divided by the pooled standard deviation).
 *
 * Requires: if a name is empty, Markdown and the line read "Before" and "After".
 * Otherwise: as picollo_summary_format. */
PICOLLO_STATUS picollo_summary_format_diff(const picollo_summary *a, const picollo_summary *b,
    const char *title, const char *name_a, const char *name_b, uint32_t format, char *buffer, size_t capacity,
    size_t *out_length);

/** Writes a percentile as text: P99=9,152 [138 / 519]: [9,088, 9,216) 386. This shows rank and value; storage and
 * logical index of the bucket; its half-open range; its count. With a target_count of 0 the text is P99=n/a.
 *
 * Requires: a capacity of 192 is enough for any percentile of a snapshot.
 * Cost: a microsecond. */
PICOLLO_STATUS picollo_percentile_format(const picollo_percentile *percentile, char *buffer, size_t capacity,
    size_t *out_length);

/** Writes the buckets as text, one per line, in the form of picollo_percentile_format: P0.073=2,008 [0 / 381]:
 * [2,000, 2,016) 146. The line describes the middle observation of the bucket. Its number among all is before +
 * ceil(count / 2), and its rank is number / total * 100. So a single observation has rank 100.
 *
 * Cost: a microsecond per listed bucket. */
PICOLLO_STATUS picollo_snapshot_format_buckets(const picollo_snapshot *snapshot, uint32_t non_empty_only,
    uint32_t value_selection, char *buffer, size_t capacity, size_t *out_length);

/* ----------------------------------------------------------------------------------------------------------
 * Interchange: snapshots as bytes, for files, networks and the tools of HdrHistogram.
 *
 * The library writes three encodings. It reads these and HdrHistogram's older ones, as bytes or as base64.
 *
 *     size_t length = 0;
 *     picollo_snapshot_encode(snapshot, PICOLLO_ENCODING_NATIVE, NULL, 0, &length);
 *     void *bytes = malloc(length);
 *     picollo_snapshot_encode(snapshot, PICOLLO_ENCODING_NATIVE, bytes, length, &length);
 *     ...
 *     picollo_snapshot *copy;
 *     if (picollo_snapshot_decode(bytes, length, 0, &copy) != PICOLLO_OK) ...
 *
 * HdrHistogram's encodings hold only the counts of HdrHistogram's layouts (see significant_digits). They omit counts
 * out of range, lost counts, the smallest trackable value and the time. The native encoding holds everything.
 *
 * A decoded or corrected snapshot has no histogram. Everything can be read from it, and it can be merged into
 * another snapshot or another into it, but picollo_snapshot_update returns PICOLLO_ERR_UNSUPPORTED.
 */

/** HdrHistogram's V2. */
#define PICOLLO_ENCODING_HDR_V2 0

/** HdrHistogram's V2, compressed: what its logs hold. Without an allocator, or without the feature compression, it is
 * a valid zlib stream that is not compressed. */
#define PICOLLO_ENCODING_HDR_V2_COMPRESSED 1

/** Picollo's encoding: everything that a snapshot holds, with a checksum. The format is described in
 * docs/interchange.md. */
#define PICOLLO_ENCODING_NATIVE 2
/** Columns, with mean, deviation, maximum and total below. */
#define PICOLLO_HGRM_COLUMNS 0
/** Comma-separated values. */
#define PICOLLO_HGRM_CSV 1

/** Limit on the counters of a decoded snapshot if the caller sets none: 48 MiB of counts, enough for every
 * HdrHistogram with up to 5 significant digits. */
#define PICOLLO_DEFAULT_MAX_COUNTERS 6291456

/** Writes a snapshot as bytes.
 *
 * Returns: PICOLLO_ERR_INCOMPATIBLE if HdrHistogram's encodings cannot hold the snapshot: its blocks are not those
 *   of 0 to 5 significant digits, or a value or count is 2^63 or more; PICOLLO_ERR_OUT_OF_MEMORY (compressed only).
 * Cost: two passes over the counters. The compressed encoding allocates about 0.5 MB temporarily, and is made
 *   completely also to ask for its length. */
PICOLLO_STATUS picollo_snapshot_encode(const picollo_snapshot *snapshot, uint32_t encoding, void *buffer,
    size_t capacity, size_t *out_length);

/** Writes a snapshot as base64 text. The compressed encoding gives the HISTFAAA... of HdrHistogram's logs.
 *
 * Returns: as picollo_snapshot_encode, and PICOLLO_ERR_OUT_OF_MEMORY for every encoding.
 * Cost: as picollo_snapshot_encode; allocates the text temporarily. */
PICOLLO_STATUS picollo_snapshot_encode_base64(const picollo_snapshot *snapshot, uint32_t encoding,
    char *buffer, size_t capacity, size_t *out_length);

/** Makes a snapshot from encoded data: the native encoding, or HdrHistogram's V2, V1 or V0 of integers or doubles,
 * compressed or not. Base64 of any of them works too, and white space around it is ignored. The data determine the
 * encoding.
 *
 * Untrusted data is safe: it is checked completely before anything is made from it. No data makes this call crash,
 * hang, or allocate more than max_counters allows: 8 bytes per counter for the result, at most 18 more while it is
 * inflated, and the bytes of base64.
 *
 * Requires: bytes leads to length bytes; max_counters is the largest allowed number of counters, or 0 for
 *   PICOLLO_DEFAULT_MAX_COUNTERS.
 * Returns: PICOLLO_ERR_CORRUPT for unknown or damaged data; PICOLLO_ERR_OUT_OF_MEMORY if the result would have more
 *   than max_counters counters, or there is no memory; PICOLLO_ERR_UNSUPPORTED for a later version of the native
 *   encoding.
 * Cost: a few passes over the data; allocates the result, and memory to inflate and decode. */
PICOLLO_STATUS picollo_snapshot_decode(const void *bytes, size_t length, uint64_t max_counters,
    picollo_snapshot **out);

/** Makes a snapshot from the first of several consecutive encodings, as picollo_snapshot_decode does, and reports
 * where the next one begins. They may be of different kinds.
 *
 *     for (size_t at = 0, taken; at < length; at += taken) {
 *         if (picollo_snapshot_decode_first(bytes + at, length - at, 0, &snapshot, &taken) != PICOLLO_OK) break;
 *         ...
 *     }
 *
 * Each encoding begins with its length, and must have this length. An encoding without the checksum of its zlib
 * stream (HdrHistogram.NET) takes the length that it announces. One with part of the checksum is corrupt, whatever
 * follows. V0 without compression has counts to the end, so it takes everything. Base64 ends at white space, and
 * takes this as well.
 *
 * Requires: as picollo_snapshot_decode.
 * Returns: PICOLLO_OK, with *out_taken from 1 to length; otherwise as picollo_snapshot_decode, with nothing written.
 * Cost: as picollo_snapshot_decode; for base64 also the search for its end. */
PICOLLO_STATUS picollo_snapshot_decode_first(const void *bytes, size_t length, uint64_t max_counters,
    picollo_snapshot **out, size_t *out_taken);

/** Reports the factor for the values of a snapshot that was decoded from a histogram of doubles. HdrHistogram encodes
 * its DoubleHistogram as integers and a ratio. Copies keep the factor, but no encoding here holds it.
 *
 * Returns: PICOLLO_OK, with 1.0 for all other snapshots. The number is as the encoder wrote it: it may be anything. */
PICOLLO_STATUS picollo_snapshot_value_ratio(const picollo_snapshot *snapshot, double *out_ratio);

/** Writes the percentile distribution as HdrHistogram for Java does (.hgrm), for its plotters. The distance of the
 * rows halves with each half of the remaining distance to 100 %. Values are the upper ends of buckets, with as many
 * decimals as the layout has significant digits.
 *
 * Requires: ticks_per_half_distance is the number of rows in each half of the distance, at most 1,000,000, or 0 for
 *   5; value_scale, the divisor of values, is positive, or 0 for 1; csv is PICOLLO_HGRM_COLUMNS or PICOLLO_HGRM_CSV.
 * Returns: PICOLLO_OK, also for an empty snapshot, which has no rows.
 * Cost: two microseconds per row. */
PICOLLO_STATUS picollo_snapshot_format_hgrm(const picollo_snapshot *snapshot,
    uint32_t ticks_per_half_distance, double value_scale, uint32_t csv, char *buffer, size_t capacity,
    size_t *out_length);

/** Makes a copy that is corrected for coordinated omission, as picollo_histogram_record_corrected does for single
 * values. The upper end stands for a bucket, as in HdrHistogram. Counts out of range are copied, not corrected.
 *
 * Returns: PICOLLO_ERR_UNSUPPORTED if much is to be corrected and more than UINT64_MAX values were recorded.
 * Ownership: *out has no histogram.
 * Cost: at most that of sorting the counters, however many values are added; allocates 16 bytes per counter. */
PICOLLO_STATUS picollo_snapshot_corrected(const picollo_snapshot *snapshot, uint64_t expected_interval,
    picollo_snapshot **out);

/* ----------------------------------------------------------------------------------------------------------
 * Logs of histograms (.hlog): the format of HdrHistogram's log tools, with a line per interval.
 *
 * The whole log is in the caller's memory, read or mapped from its file:
 *
 *     picollo_log_reader *reader;
 *     picollo_log_interval interval;
 *     picollo_snapshot *snapshot;
 *     picollo_status status;
 *     if (picollo_log_reader_create(text, length, &reader) != PICOLLO_OK) return;
 *     while ((status = picollo_log_reader_next(reader, &interval)) == PICOLLO_OK || status == PICOLLO_ERR_CORRUPT) {
 *         if (status != PICOLLO_OK) continue;     (line interval.line cannot be read; reading goes on after it)
 *         ... interval.tag, interval.start_seconds: is it wanted? ...
 *         if (picollo_log_reader_decode(reader, 0, &snapshot) != PICOLLO_OK) continue;
 *         ... picollo_snapshot_percentiles(snapshot, ...) ...
 *         picollo_snapshot_free(snapshot);
 *     }
 *     picollo_log_reader_free(reader);
 *
 * Headers are optional and ignore case. Comments, legends and empty lines may be anywhere, and lines may end in any
 * way. Timestamps are absolute, or relative to a base time. Without BaseTime they are relative to StartTime if the
 * first timestamp is more than a year before it, as in Java. Without StartTime the first timestamp replaces it. A
 * version line or a StartTime after an interval begins another log, with its own times. Numbers may follow any
 * culture (.NET). The second field may be the end of the interval (C) instead of its length.
 *
 * picollo_log_format_header once, and picollo_log_format_interval for each interval, write a log as text.
 */

/** A line of a log, without its histogram. Unknown times are NaN. */
typedef struct picollo_log_interval {
    /** Start of the interval in seconds since 1970, or since the origin of the log's times. */
    double start_seconds;
    /** End of the interval. */
    double end_seconds;
    /** The largest value in millions, as written in the log; NaN if it is not a number. The histogram is more exact. */
    double max;
    /** Start of the log, in seconds since 1970. */
    double log_start_seconds;
    /** The number that is added to the timestamps of the log. */
    double log_base_seconds;
    /** Bytes of the log read so far (of the copy, if the text is in UTF-16). */
    uint64_t position;
    /** Number of the line that was read last, from 1. */
    uint64_t line;
    /** Tag that distinguishes histograms of the same time; "" without a tag. UTF-8, NUL-terminated. It belongs to the
     * reader, until the next interval is read. */
    const char *tag;
    /** Length of the tag in bytes. */
    size_t tag_length;
} picollo_log_interval;

/** Makes a reader of a log in UTF-8, or in UTF-16 of either byte order with a byte order mark (as HdrHistogram.NET
 * writes it). UTF-16 is copied once, as UTF-8.
 *
 * Requires: text is not NULL: it leads to length bytes, which do not change until the reader is freed. A NUL at the
 *   end is optional.
 * Ownership: *out borrows the text. Snapshots do not.
 * Cost: allocates the reader; reads nothing yet, but copies UTF-16. */
PICOLLO_STATUS picollo_log_reader_create(const char *text, size_t length, picollo_log_reader **out);

/** Reads the next interval, but does not decode its histogram: picollo_log_reader_decode does that for the intervals
 * that you select. So selecting from a large log by tag and time is cheap.
 *
 * The end of the log is also reported before a last line that is still being written: one without a line end that
 * cannot be read, or whose histogram is cut, even if only its padding is missing. Trailing NULs are the end, too.
 *
 * Returns: PICOLLO_END at the end of the log; PICOLLO_ERR_CORRUPT for a line that is not an interval: the next call
 *   continues after it (a damaged histogram is not noticed here); PICOLLO_ERR_OUT_OF_MEMORY for a tag;
 *   PICOLLO_ERR_NULL_POINTER (reader, out_interval), and nothing is read. After the first three *out_interval is
 *   written as well: position, line and the log's times, with NaN and "" for the interval.
 * Threads: any thread, one at a time with this reader.
 * Cost: that of reading a line; for a last line without a line end, also that of decoding it. */
PICOLLO_STATUS picollo_log_reader_next(picollo_log_reader *reader, picollo_log_interval *out_interval);

/** Decodes the histogram of the interval that was read last, any number of times. max_counters is as in
 * picollo_snapshot_decode. If the histogram holds no time, its time is the end of the interval.
 *
 * Returns: PICOLLO_ERR_EMPTY if no interval was read, the last line was not an interval, or at the end; otherwise as
 *   picollo_snapshot_decode.
 * Ownership: *out needs neither the reader nor the text.
 * Threads: any thread, one at a time with this reader.
 * Cost: as picollo_snapshot_decode. */
PICOLLO_STATUS picollo_log_reader_decode(const picollo_log_reader *reader, uint64_t max_counters,
    picollo_snapshot **out);

/** Frees a reader. The text is the caller's again; snapshots stay valid. */
void picollo_log_reader_free(picollo_log_reader *reader);

/** Writes the first lines of a log: the comment, the version of the format, StartTime, and the names of the fields.
 *
 * It writes no BaseTime: readers take timestamps to be relative to the start if the first one is more than a year
 * before it, and absolute otherwise. To be explicit, add a line "#[BaseTime: 0.000 (seconds since epoch)]", or
 * another number that is to be added to all timestamps.
 *
 * Requires: start_seconds is the start of the log in seconds since 1970, or NaN to omit it; comment has any number
 *   of lines.
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT for an infinite start_seconds, or one beyond 10^15.
 * Cost: microseconds. */
PICOLLO_STATUS picollo_log_format_header(double start_seconds, const char *comment, char *buffer,
    size_t capacity, size_t *out_length);

/** Writes the line of an interval, with its line break: the snapshot in PICOLLO_ENCODING_HDR_V2_COMPRESSED, as
 * base64.
 *
 * Requires: start_seconds is the start of the interval in seconds since 1970, or since the StartTime of the log (see
 *   picollo_log_format_header); length_seconds is its length; tag holds no comma, space, line end or control
 *   character except the tab.
 * Returns: PICOLLO_ERR_INCOMPATIBLE as picollo_snapshot_encode; PICOLLO_ERR_INVALID_ARGUMENT for such a tag, and for
 *   times that are infinite, NaN or beyond 10^15.
 * Cost: as picollo_snapshot_encode_base64, also to ask for the length. */
PICOLLO_STATUS picollo_log_format_interval(const picollo_snapshot *snapshot, double start_seconds,
    double length_seconds, const char *tag, char *buffer, size_t capacity, size_t *out_length);

/* ----------------------------------------------------------------------------------------------------------
 * Comparing: is B really faster than A, and by how much?
 *
 * A quantile of a snapshot is only an estimate; its interval shows how good. A comparison has the interval of the
 * difference between two quantiles, and a verdict. The verdict is faster or slower if the whole interval lies beyond
 * a margin. Otherwise there is no evidence. The margin is the larger of a threshold and of the resolution, such as
 * the width of a bucket. A comparison also has the tests of Mann and Whitney and of Kolmogorov and Smirnov, and
 * effect sizes. docs/comparing.md explains them.
 *
 *     picollo_comparison compared;
 *     if (picollo_compare(before, after, NULL, &compared) == PICOLLO_OK && compared.verdict == PICOLLO_VERDICT_SLOWER)
 *         printf("slower by %g to %g\n", compared.difference_lower, compared.difference_upper);
 *
 * All this assumes that observations are independent of each other. A histogram does not know their order. If you
 * measured in an order, in blocks of A and B next to each other, use picollo_compare_blocks.
 */

/** The interval of the difference reaches into the margin. This does not mean equal: see smallest_detectable. */
#define PICOLLO_VERDICT_NO_EVIDENCE 0
/** B's values are smaller, by more than the margin. */
#define PICOLLO_VERDICT_FASTER 1
/** B's values are larger, by more than the margin. */
#define PICOLLO_VERDICT_SLOWER 2
/** Set when there are too few observations for an end of an interval. */
#define PICOLLO_COMPARISON_TOO_FEW (1 << 0)
/** Set when the whole interval of the difference lies inside the margin: any difference is too small to matter. */
#define PICOLLO_COMPARISON_WITHIN_MARGIN (1 << 1)
/** Set when observations were out of range or lost. The numbers exclude them, on either side. */
#define PICOLLO_COMPARISON_OUT_OF_RANGE (1 << 2)
/** Set when the buckets of the two differ. Ranks are then compared by the coarser buckets. */
#define PICOLLO_COMPARISON_LAYOUTS_DIFFER (1 << 4)

/** Set when blocks depend on the blocks before them. The interval is wider for this reason, up to the whole range of
 * differences. */
#define PICOLLO_COMPARISON_AUTOCORRELATED (1 << 5)
/** Set when the margin is the resolution instead of a threshold: the option resolution, or the width of a bucket. */
#define PICOLLO_COMPARISON_MARGIN_IS_RESOLUTION (1 << 6)

/** Set when the whole interval of the difference lies inside the resolution. This measurement cannot decide whether the
 * two are equal or different. */
#define PICOLLO_COMPARISON_BELOW_RESOLUTION (1 << 7)
/** Set when other programs or the host disturbed too much of the measurement. The verdict is no evidence. */
#define PICOLLO_COMPARISON_NOISY (1 << 8)

/** Options of a comparison. */
typedef struct picollo_compare_options {
    uint32_t struct_size;
    /** 0. */
    uint32_t flags;
    /** Quantile to compare, between 0 and 1. 0: 0.5, the median. */
    double quantile;
    /** Confidence of the intervals, between 0 and 1. 0: 0.95. */
    double confidence;
    /** Differences up to this share of A's quantile do not matter. 0: 0.01, one per cent; negative: no such
     * threshold. */
    double relative_threshold;
    /** Differences up to this do not matter, in units of the values. */
    double absolute_threshold;
    /** Probability of detecting a difference of smallest_detectable, between 0 and 1. 0: 0.8. */
    double power;
    /** Differences up to this cannot be resolved, in units of the values. 0: only the width of buckets limits the
     * resolution. */
    double resolution;
} picollo_compare_options;
#define PICOLLO_COMPARE_OPTIONS_INIT {sizeof(picollo_compare_options), 0, 0, 0, 0, 0, 0, 0}

/** The difference between A and B in a series of pairs of blocks. */
typedef struct picollo_block_comparison {
    /** Pairs of blocks. */
    uint64_t block_count;
    /** The requested confidence, between 0 and 1. */
    double confidence;
    /** The confidence of this interval. */
    double coverage;
    /** The median of A's blocks, without the overhead if there is one. */
    double median_a;
    /** The median of B's blocks, without the overhead if there is one. */
    double median_b;
    /** The median of the differences within pairs, B minus A. */
    double difference;
    /** Lower end of its interval; minus infinity if there are too few blocks. */
    double difference_lower;
    /** Upper end of its interval; infinity if there are too few blocks. */
    double difference_upper;
    /** A difference must exceed this to count. */
    double margin;
    /** The true difference that is detected with the probability in the options (default 0.8); infinity if there are
     * too few blocks. */
    double smallest_detectable;
    /** The correlation of each difference with the next. */
    double lag1;
    /** The variance of their mean, divided by that of as many independent differences. */
    double inflation;
    /** PICOLLO_VERDICT_.... */
    uint32_t verdict;
    /** PICOLLO_COMPARISON_.... */
    uint32_t flags;
    /** The option resolution. Smaller numbers, whether A, B or the difference, are unknown. */
    double resolution;
} picollo_block_comparison;

/** A quantile of a snapshot, and the confidence interval for the quantile of the sampled distribution.
 *
 * The ends are order statistics: observations number lower_count and upper_count, in ascending order. The binomial
 * distribution determines them, whatever the distribution of the values; see picollo_snapshot_quantile_interval. */
typedef struct picollo_quantile_interval {
    /** The requested quantile, between 0 and 1. */
    double quantile;
    /** The requested confidence, between 0 and 1. */
    double confidence;
    /** The confidence of this interval. It is slightly higher than requested, because observations are discrete. It
     * is lower only if there are too few observations, so that an end is missing that is not a limit of all values. */
    double coverage;
    /** Observations in range. */
    uint64_t total_count;
    /** Number of the observation that is the quantile of the snapshot: the nearest rank. */
    uint64_t target_count;
    /** The midpoint of its bucket. */
    uint64_t value;
    /** The smallest value in the bucket of observation number lower_count; 0 if lower_count is 0. */
    uint64_t lower;
    /** The largest value in the bucket of observation number upper_count; UINT64_MAX if upper_count is 0. */
    uint64_t upper;
    /** The midpoint of the bucket that begins at lower; 0 if lower_count is 0. */
    uint64_t lower_midpoint;
    /** The midpoint of the bucket that ends at upper; UINT64_MAX if upper_count is 0. */
    uint64_t upper_midpoint;
    /** Number of the observation at the lower end; 0 if there are too few. */
    uint64_t lower_count;
    /** Number of the observation at the upper end; 0 if there are too few. */
    uint64_t upper_count;
    /** Width of the widest of the three buckets: the resolution of the snapshot. */
    uint64_t bucket_width;
} picollo_quantile_interval;

/** How snapshot B differs from snapshot A. See picollo_compare. */
typedef struct picollo_comparison {
    /** A's quantile and its interval. */
    picollo_quantile_interval a;
    /** B's quantile and its interval. */
    picollo_quantile_interval b;
    /** B's quantile minus A's, between midpoints. */
    double difference;
    /** Lower end of the difference's interval, between midpoints; minus infinity if there are too few observations. */
    double difference_lower;
    /** Upper end of the difference's interval, between midpoints; infinity if there are too few observations. */
    double difference_upper;
    /** Width of the widest bucket involved. The true difference may lie this much further out at either end. */
    double bucket_width;
    /** The interval must lie beyond this for a verdict: the larger of the threshold and the bucket width. */
    double margin;
    /** The true difference that a measurement with this number and spread of observations detects with the
     * probability in the options (default 0.8); infinity if there are too few. */
    double smallest_detectable;
    /** Mann and Whitney's U: the number of pairs in which B's value is larger; ties count half. */
    double mann_whitney_u;
    /** Distance of U from its expectation in standard deviations, with B's sign. */
    double mann_whitney_z;
    /** Two-sided probability of such a U if there were no difference. */
    double mann_whitney_p;
    /** The common-language effect: the probability that a value of B is larger than one of A; ties count half. */
    double common_language;
    /** Cliff's delta: the probability that a value of B is larger than one of A, minus the probability that it is
     * smaller. */
    double cliffs_delta;
    /** Kolmogorov and Smirnov's distance: the largest between the two cumulative distributions, at the ends of
     * buckets. */
    double ks_distance;
    /** Upper bound of the probability of such a distance if there were no difference. It is conservative, because it
     * ignores the buckets. */
    double ks_p;
    /** Cohen's d: the difference of the means divided by the pooled standard deviation; NaN if that is zero. */
    double cohens_d;
    /** PICOLLO_VERDICT_...: what it amounts to. */
    uint32_t verdict;
    /** PICOLLO_COMPARISON_.... */
    uint32_t flags;
} picollo_comparison;

/** The difference between a new run and earlier ones. */
typedef struct picollo_run_comparison {
    /** Number of earlier runs. */
    uint64_t run_count;
    /** The requested confidence, between 0 and 1: one minus the false positive rate on unchanged code. */
    double confidence;
    /** Upper bound of the false positive rate for any distribution of runs, if their order does not matter: 2 /
     * (run_count + 1). */
    double alarm_bound;
    /** The mean of the earlier runs. */
    double mean;
    /** The standard deviation of the earlier runs. */
    double deviation;
    /** The smallest of the earlier runs. */
    double lowest;
    /** The largest of the earlier runs. */
    double highest;
    /** The new run. */
    double value;
    /** The new run minus the mean. */
    double difference;
    /** Lower end of its interval; minus infinity if there are too few runs. */
    double difference_lower;
    /** Upper end of its interval; infinity if there are too few runs. */
    double difference_upper;
    /** A difference must exceed this to count. */
    double margin;
    /** The true difference that is detected with the probability in the options (default 0.8); infinity if there are
     * too few runs. */
    double smallest_detectable;
    /** The correlation of each run with the next. */
    double lag1;
    /** The variance of their mean, divided by that of as many independent runs. */
    double inflation;
    /** PICOLLO_VERDICT_.... */
    uint32_t verdict;
    /** PICOLLO_COMPARISON_.... */
    uint32_t flags;
    /** The option resolution. */
    double resolution;
} picollo_run_comparison;

/** Reports a quantile and its confidence interval for the distribution that was sampled. The ends of the interval are
 * order statistics, chosen by the binomial distribution, so the interval is exact for any distribution of values.
 *
 * Requires: quantile is strictly between 0 and 1; so is confidence, or it is 0 for 0.95.
 * Returns: PICOLLO_ERR_EMPTY if nothing was recorded.
 * Cost: one pass over the counters, and a few microseconds. */
PICOLLO_STATUS picollo_snapshot_quantile_interval(const picollo_snapshot *snapshot, double quantile,
    double confidence, picollo_quantile_interval *out);

/** Compares snapshot a, the older, with snapshot b, the newer. Their layouts may differ.
 *
 * Returns: PICOLLO_ERR_EMPTY if one of the two has no observations.
 * Cost: a few passes over the counters of both: tens to hundreds of microseconds, whatever the number of
 *   observations. */
PICOLLO_STATUS picollo_compare(const picollo_snapshot *a, const picollo_snapshot *b,
    const picollo_compare_options *options, picollo_comparison *out);

/** Compares two series of blocks by the differences within pairs: a[i] was measured next to b[i], such as times of A
 * and of B. Slow changes of the machine affect both. The result also shows whether the differences depend on each
 * other.
 *
 * Requires: a and b have finite elements; options.quantile is ignored: the median is compared.
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT for elements that are not finite; PICOLLO_ERR_EMPTY for a length of 0.
 * Cost: sorts three times; allocates 8 bytes per block temporarily. */
PICOLLO_STATUS picollo_compare_blocks(const double *a, const double *b, size_t length,
    const picollo_compare_options *options, picollo_block_comparison *out);

/** Compares a run with earlier runs of the same thing, the oldest first. Each run has one value, such as the median
 * of its measurements. The result shows whether the new value is beyond what the spread of the earlier ones
 * predicts. Runs on different days differ even if the code does not, and more observations within a run do not show
 * by how much.
 *
 * Requires: earlier has finite elements; options.quantile is ignored. The default confidence is 0.99: one in a
 *   hundred runs of unchanged code stands out if they are distributed normally, and otherwise at most 2 in length +
 *   1. With fewer than 5 earlier runs there is no interval, and PICOLLO_COMPARISON_TOO_FEW is set.
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT for values that are not finite; PICOLLO_ERR_EMPTY for a length of 0.
 * Cost: a few passes over the runs. */
PICOLLO_STATUS picollo_compare_runs(const double *earlier, size_t length, double value,
    const picollo_compare_options *options, picollo_run_comparison *out);

/** Writes a comparison as text: the changes from summary a to summary b, as picollo_summary_format_diff does, then
 * intervals, effect sizes and the verdict.
 *
 * Requires: a and b are summaries of the compared snapshots.
 * Otherwise: as picollo_summary_format_diff. */
PICOLLO_STATUS picollo_comparison_format(const picollo_comparison *comparison, const picollo_summary *a,
    const picollo_summary *b, const char *title, const char *name_a, const char *name_b, uint32_t format,
    char *buffer, size_t capacity, size_t *out_length);

/* ----------------------------------------------------------------------------------------------------------
 * Figures computed from counts of events, such as instructions per cycle, with confidence intervals.
 *
 *     const double counts[] = {3e6, 2e6, 5e6, 4e6}; (two scopes: instructions and cycles of each)
 *     picollo_figure_estimate ipc;
 *     if (picollo_figure_compute("ipc", "instructions cycles", counts, 2, 0, &ipc, NULL) == PICOLLO_OK)
 *         printf("%g instructions per cycle, %g to %g\n", ipc.value, ipc.lower, ipc.upper);
 *
 * docs/counters.md lists the figures with their events, and explains the intervals.
 */

/** There are too few scopes for an interval, fewer than two: its ends are NaN. */
#define PICOLLO_FIGURE_FEW_SCOPES (1 << 0)
/** In some scopes an event was not counted: they are left out. */
#define PICOLLO_FIGURE_PARTIAL (1 << 1)

/** A figure over many scopes: the figure of the sums of events, and the interval of its true value. */
typedef struct picollo_figure_estimate {
    /** The figure of the sums, not the mean of the scopes' figures. */
    double value;
    /** Lower end of the interval; NaN if there are too few scopes. */
    double lower;
    /** Upper end of the interval; NaN if there are too few scopes. */
    double upper;
    /** The requested confidence. */
    double confidence;
    /** Number of scopes. */
    uint64_t scopes;
    /** PICOLLO_FIGURE_.... */
    uint32_t flags;
    /** 0. */
    uint32_t reserved;
} picollo_figure_estimate;

/** Estimates a figure over many scopes, with the interval of the true one. It uses the sums of events, not the mean
 * of the scopes' figures. Scopes may have unequal sizes.
 *
 * Requires: figure is not NULL: the name of a figure; events is not NULL: the names of the columns, separated by
 *   spaces; values has a row for each of scopes scopes and a column for each event, with NaN for counts that are
 *   missing; confidence is strictly between 0 and 1, or 0 for 0.95.
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT if the name is unknown, the figure needs an event without column, or
 *   confidence is out of range; PICOLLO_ERR_NOT_COUNTED if an event was counted in no scope, and error names it;
 *   PICOLLO_ERR_EMPTY without scopes, and instead of a division by zero.
 * Cost: tens of nanoseconds per scope. */
PICOLLO_STATUS picollo_figure_compute(const char *figure, const char *events, const double *values,
    size_t scopes, double confidence, picollo_figure_estimate *out, picollo_error *error);

/* ----------------------------------------------------------------------------------------------------------
 * Pictures of snapshots: in a terminal, as SVG, and as a report in one HTML file. They are text, refer to nothing
 * outside, and allocate nothing. docs/pictures.md shows them.
 *
 *     const picollo_snapshot *both[] = {before, after};
 *     const char *titles[] = {"before", "after"};
 *     picollo_report_format_html(both, titles, 2, "Requests", "ns", NULL, 0, &length);
 *     char *html = malloc(length + 1);
 *     picollo_report_format_html(both, titles, 2, "Requests", "ns", html, length + 1, &length);
 *
 * Axes span the observations or slightly more, and are logarithmic if that is a wide range. An empty picture reads
 * "no observations". unit is the unit of the recorded values. With "ps", "ns", "us", "ms" and "s" the labels are
 * times. Any other unit is written at the axis. NULL and "" mean no unit.
 */

/** Light, or dark if the reader prefers that. */
#define PICOLLO_THEME_AUTO 0
/** On white. */
#define PICOLLO_THEME_LIGHT 1
/** On black. */
#define PICOLLO_THEME_DARK 2
/** The value at each percentile, on a scale on which every further nine (90, 99, 99.9, ...) has the same width. */
#define PICOLLO_PICTURE_PERCENTILES 0
/** The share of observations in each of many equal parts of the axis of values. */
#define PICOLLO_PICTURE_DENSITY 1

/** Snapshots as columns from left to right, values upwards, and the number of observations as color. Not for
 * terminals. */
#define PICOLLO_PICTURE_HEAT_MAP 2

/** The density on one line without a line break, for terminals only. It spans the smallest observation to the bucket
 * of P99.9 in equal parts of a logarithmic axis (a linear one for a narrow range). With more than a thousand
 * observations it omits the larger ones. A part without observations is a space. In ASCII the others are shades
 * (.:-=+*#%@). */
#define PICOLLO_PICTURE_SPARKLINE 3
/** Unicode's blocks and lines, of up to 3 bytes each. */
#define PICOLLO_CHARACTERS_UNICODE 0
/** Only ASCII, except for the caller's own texts. */
#define PICOLLO_CHARACTERS_ASCII 1

/** The look of an SVG. */
typedef struct picollo_picture_options {
    uint32_t struct_size;
    /** PICOLLO_THEME_... */
    uint32_t theme;
    /** In CSS pixels, limited to 200 ..= 4000. 0: 720. */
    uint32_t width;
    /** In CSS pixels, limited to 150 ..= 4000. 0: 400. */
    uint32_t height;
} picollo_picture_options;
#define PICOLLO_PICTURE_OPTIONS_INIT {sizeof(picollo_picture_options), 0, 0, 0}

/** Writes a chart with axes and labels, for a terminal.
 *
 * Requires: picture is PICOLLO_PICTURE_PERCENTILES, _DENSITY or _SPARKLINE; columns and rows are the size of the
 *   plot without labels, limited to 240 and 100, or 0 for 64 and 10; ascii is PICOLLO_CHARACTERS_.... A sparkline
 *   ignores title, unit and rows, and 0 columns means 40.
 * Cost: two passes over the counters, and a few microseconds per line. */
PICOLLO_STATUS picollo_snapshot_format_chart(const picollo_snapshot *snapshot, uint32_t picture,
    const char *title, const char *unit, uint32_t columns, uint32_t rows, uint32_t ascii, char *buffer,
    size_t capacity, size_t *out_length);

/** Writes a picture of one or more snapshots as an SVG document, which is also an element of HTML. It has a title,
 * axes, units, a legend, and colors for light and dark themes.
 *
 * Requires: snapshots and titles lead to length pointers each; titles may be NULL, and so may any of its elements;
 *   picture is PICOLLO_PICTURE_.... 64 KiB are mostly enough for curves of two snapshots.
 * Cost: a few passes over the counters of each snapshot, twice. */
PICOLLO_STATUS picollo_pictures_format_svg(const picollo_snapshot *const *snapshots,
    const char *const *titles, size_t length, uint32_t picture, const char *title, const char *unit,
    const picollo_picture_options *options, char *buffer, size_t capacity, size_t *out_length);

/** Writes a report on one or more snapshots as one HTML document. It has the findings in sentences, tables, pictures,
 * comparisons with the first snapshot, and the counts as JSON with their native encoding. It also has the date (to
 * the minute), host, command, kernel and processor, as far as they are known. It refers to nothing outside and runs
 * no script.
 *
 * Three or more snapshots also get a heat map. Curves and comparisons show only the first eight.
 *
 * Requires: as picollo_pictures_format_svg; titles may be NULL.
 * Cost: as for all its pictures and encodings, twice. */
PICOLLO_STATUS picollo_report_format_html(const picollo_snapshot *const *snapshots, const char *const *titles,
    size_t length, const char *title, const char *unit, char *buffer, size_t capacity, size_t *out_length);

/* ----------------------------------------------------------------------------------------------------------
 * Histograms of doubles: ratios, temperatures, money, clock skew.
 *
 * They count finite values of both signs and all magnitudes, each within a relative error; zero is exact. NaN and
 * infinities are counted separately, as not_finite, and affect nothing else. Any number of threads record, each by
 * one atomic addition, without a lock.
 *
 * Counts belong to an interval, which lasts from one picollo_double_histogram_collect to the next. Collecting takes
 * the counts out while recording goes on; each record is in exactly one interval.
 *
 *     picollo_double_histogram *skew;
 *     picollo_double_statistics statistics;
 *     const double quantiles[] = {0.5, 0.99};
 *     double values[2];
 *     picollo_double_histogram_create(NULL, &skew);
 *     picollo_double_histogram_record(skew, -0.25);
 *     picollo_double_histogram_collect(skew, quantiles, 2, values, &statistics);
 *
 * For buckets, summaries and text of an interval see picollo_double_snapshot.
 *
 * The first value of a magnitude allocates memory, so signal handlers must not record doubles.
 */

/** Quantiles as in the aggregator of .NET's metrics: of n values in ascending order, number min(max(0, floor(q * n)),
 * n - 1), counted from 0, with the product in floating point. Without this flag: number max(1, ceil(q * n)), counted
 * from 1, computed in integers, as all percentiles of this library. */
#define PICOLLO_DOUBLE_DOTNET_RANKS (1 << 0)

/** Keep sum, minimum and maximum exactly. The sum is rounded once, when it is read, whatever the order of additions.
 * A record then takes several atomic operations instead of one, and the histogram 26 KB more. */
#define PICOLLO_DOUBLE_EXACT_SUM (1 << 1)

/** Options of a histogram of doubles. */
typedef struct picollo_double_options {
    uint32_t struct_size;
    /** PICOLLO_DOUBLE_... or 0. */
    uint32_t flags;
    /** Largest relative distance between a value and what is reported for it, clamped to 1e-4 ..= 0.1. 0, negative or
     * NaN: 0.001. */
    double relative_error;
    /** Limit of all memory in bytes; 0: no limit. Values that do not fit are counted as lost. */
    uint64_t max_bytes;
} picollo_double_options;
#define PICOLLO_DOUBLE_OPTIONS_INIT {sizeof(picollo_double_options), 0, 0, 0}

/** Totals and moments of doubles. Numbers that do not exist are NaN. */
typedef struct picollo_double_statistics {
    /** Observations with a finite value; saturates at UINT64_MAX. */
    uint64_t count;
    /** Observations that were NaN or infinite; not part of anything else here. */
    uint64_t not_finite;
    /** Observations that found no memory for their bucket; not part of anything else here. */
    uint64_t lost;
    /** Sum of the buckets' midpoints, each within the relative error of its values; or exact and rounded once, if the
     * histogram keeps it. 0 if empty; infinite beyond the largest double. */
    double sum;
    /** Smallest value, within the relative error, or exact; NaN when empty. */
    double min;
    /** Largest value, within the relative error, or exact; NaN when empty. */
    double max;
    /** The sum divided by the count, computed without overflow; NaN if empty. */
    double mean;
    /** Population standard deviation of the midpoints; NaN when empty. */
    double stddev;
    /** The stated error of the layout. */
    double relative_error;
} picollo_double_statistics;

/** Makes an empty histogram of doubles.
 *
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT if max_bytes is too small for an empty histogram.
 * Cost: allocates about 1 KB. Later, by default, records allocate 8 KB per power of two with values, and 512 bytes
 *   per 64 powers. */
PICOLLO_STATUS picollo_double_histogram_create(const picollo_double_options *options,
    picollo_double_histogram **out);

/** Frees a histogram of doubles. Registries hold their own references. */
void picollo_double_histogram_free(picollo_double_histogram *histogram);

/** Counts one value.
 *
 * Requires: histogram is not NULL; this is not checked.
 * Threads: any thread; not signal handlers.
 * Cost: an atomic addition, a few nanoseconds; the first value of a magnitude allocates. See
 *   PICOLLO_DOUBLE_EXACT_SUM. */
void picollo_double_histogram_record(picollo_double_histogram *histogram, double value);

/** Counts one value count times. A count of 0 does nothing.
 *
 * Requires: histogram is not NULL; this is not checked.
 * Otherwise: as picollo_double_histogram_record. */
void picollo_double_histogram_record_n(picollo_double_histogram *histogram, double value, uint64_t count);

/** Counts every value of an array. Does nothing if histogram or values is NULL.
 *
 * Threads: as picollo_double_histogram_record.
 * Cost: as picollo_double_histogram_record for each value, without the call. */
void picollo_double_histogram_record_batch(picollo_double_histogram *histogram, const double *values,
    size_t length);

/** Takes out what was recorded since the last collection, and starts a new interval, while others record. Each record
 * is in this interval or the next. Records made before the call are in this one.
 *
 * Requires: quantiles are 0 ..= 1, in any order.
 * Returns: PICOLLO_OK, also if nothing was recorded: then the sum is 0, and values, extremes, mean and deviation are
 *   NaN; PICOLLO_ERR_BUSY if a thread is stopped for seconds while it collects. A failed call takes nothing out.
 * Cost: reads all existing counters, a few microseconds per power of two with values; allocates temporarily. */
PICOLLO_STATUS picollo_double_histogram_collect(picollo_double_histogram *histogram, const double *quantiles,
    size_t length, double *out_values, picollo_double_statistics *out_statistics);

/** Adds all counts of a snapshot, of any relative error. The count of each bucket goes to the bucket of its midpoint.
 * Sum and extremes stay exact if they are exact in both (PICOLLO_DOUBLE_EXACT_SUM) and no memory is missing.
 *
 * Threads: as picollo_double_histogram_record.
 * Cost: as picollo_double_histogram_record for each bucket with counts. */
PICOLLO_STATUS picollo_double_histogram_add(picollo_double_histogram *histogram,
    const picollo_double_snapshot *other);

/** Reports the present size of the histogram in bytes, without its snapshots. */
PICOLLO_STATUS picollo_double_histogram_footprint(const picollo_double_histogram *histogram,
    size_t *out_bytes);

/* ----------------------------------------------------------------------------------------------------------
 * Snapshots of doubles: an interval that you can read more than once.
 *
 * A snapshot holds the buckets with counts, and no reference to a histogram, so it may be taken from several
 * histograms in turn. Make it once and update it as often as you like:
 *
 *     picollo_double_snapshot *snapshot;
 *     picollo_double_summary summary;
 *     picollo_double_snapshot_create(NULL, &snapshot);            (empty)
 *     picollo_double_snapshot_update(snapshot, histogram, PICOLLO_INTERVAL_COLLECT);
 *     picollo_double_snapshot_summary(snapshot, &summary);
 *     picollo_double_summary_format(&summary, "Skew", PICOLLO_TEXT_MARKDOWN, text, sizeof text, &length);
 */

/** Copy the counts of the interval and leave them there. The copy may miss records that are made at the same time. */
#define PICOLLO_INTERVAL_LOOK 0
/** Take the counts of the interval out and start a new one, as picollo_double_histogram_collect does. */
#define PICOLLO_INTERVAL_COLLECT 1

/** A run of doubles that share one count. */
typedef struct picollo_double_bucket {
    /** Smallest value of the bucket. */
    double lower;
    /** Largest value of the bucket. */
    double upper;
    /** The reported value: the middle between the ends, within the error of every value in the bucket. */
    double midpoint;
    /** Number of observations. */
    uint64_t count;
} picollo_double_bucket;

/** A percentile of doubles. */
typedef struct picollo_double_percentile {
    /** The rank, 0 to 100: a hundred times the quantile. */
    double rank;
    /** The reported value of the observation; NaN in an empty summary. */
    double value;
    /** Number of the observation among all in ascending order, from 1; saturates at UINT64_MAX; 0 in an empty
     * summary. */
    uint64_t target_count;
    /** The bucket of the observation, with its count. */
    picollo_double_bucket bucket;
} picollo_double_percentile;

/** Totals, moments and sixteen percentiles of one interval. */
typedef struct picollo_double_summary {
    /** Totals and moments. */
    picollo_double_statistics statistics;
    /** At the ranks of PICOLLO_SUMMARY_PERCENTILES, ascending. */
    picollo_double_percentile percentiles[PICOLLO_SUMMARY_PERCENTILES];
} picollo_double_summary;

/** Makes a snapshot of a histogram's present interval, and leaves the counts there. Without a histogram it is empty,
 * for picollo_double_snapshot_merge and picollo_double_snapshot_update.
 *
 * Requires: histogram may be NULL.
 * Returns: PICOLLO_ERR_BUSY if a thread is stopped for seconds while it collects.
 * Ownership: *out holds no reference to the histogram.
 * Cost: allocates less than 1 KB, and room for the buckets with counts; reads all existing counters. */
PICOLLO_STATUS picollo_double_snapshot_create(const picollo_double_histogram *histogram,
    picollo_double_snapshot **out);

/** Frees a snapshot. */
void picollo_double_snapshot_free(picollo_double_snapshot *snapshot);

/** Replaces the counts by those of a histogram's present interval.
 *
 * Requires: collect is PICOLLO_INTERVAL_LOOK or PICOLLO_INTERVAL_COLLECT.
 * Returns: PICOLLO_OK, also if nothing was recorded; PICOLLO_ERR_OUT_OF_MEMORY and PICOLLO_ERR_BUSY (a thread is
 *   stopped for seconds while it collects). A failed call takes nothing out.
 * Threads: any thread, one at a time per snapshot, also while others record and collect.
 * Cost: reads all existing counters; keeps its memory for the next time. */
PICOLLO_STATUS picollo_double_snapshot_update(picollo_double_snapshot *snapshot,
    picollo_double_histogram *histogram, uint32_t collect);

/** Reports the totals, the sum, the extremes and the moments. Numbers that do not exist are NaN.
 *
 * Cost: two passes over the buckets with counts. */
PICOLLO_STATUS picollo_double_snapshot_statistics(const picollo_double_snapshot *snapshot,
    picollo_double_statistics *out);

/** Finds the values at quantiles, by the rule that the histogram was made with.
 *
 * Requires: quantiles are 0 ..= 1, in any order.
 * Returns: PICOLLO_ERR_EMPTY if nothing was recorded.
 * Cost: one pass over the buckets with counts per run of ascending quantiles. */
PICOLLO_STATUS picollo_double_snapshot_quantiles(const picollo_double_snapshot *snapshot,
    const double *quantiles, size_t length, double *out);

/** Summarizes: statistics and sixteen percentiles. An empty snapshot has a summary too: totals and targets are 0,
 * everything else is NaN.
 *
 * Cost: three passes over the buckets with counts. */
PICOLLO_STATUS picollo_double_snapshot_summary(const picollo_double_snapshot *snapshot,
    picollo_double_summary *out);

/** Lists the buckets with counts, in ascending order.
 *
 * Cost: one pass over them. */
PICOLLO_STATUS picollo_double_snapshot_buckets(const picollo_double_snapshot *snapshot,
    picollo_double_bucket *out, size_t capacity, size_t *out_length);

/** Adds the counts of another snapshot. If the relative errors differ, the count of each bucket goes to the bucket of
 * its midpoint, and the errors add up. Sum and extremes stay exact if both are exact. An empty snapshot becomes a
 * copy.
 *
 * Requires: into and other are not the same snapshot.
 * Returns: PICOLLO_ERR_OUT_OF_MEMORY, and nothing has changed.
 * Threads: any thread, one at a time with into.
 * Cost: sorts the buckets with counts of both. */
PICOLLO_STATUS picollo_double_snapshot_merge(picollo_double_snapshot *into,
    const picollo_double_snapshot *other);

/** Writes a summary of doubles as text, with the shortest digits that read back as the same double, in the formats of
 * picollo_summary_format. 8192 bytes are enough for the Markdown of any summary with a short title.
 *
 * Cost: tens of microseconds. */
PICOLLO_STATUS picollo_double_summary_format(const picollo_double_summary *summary, const char *title,
    uint32_t format, char *buffer, size_t capacity, size_t *out_length);

/* ----------------------------------------------------------------------------------------------------------
 * Registries: histograms, counters and gauges with names and labels, for Prometheus, OpenTelemetry and similar
 * systems.
 *
 *     picollo_registry *registry;
 *     const picollo_label labels[] = {{"method", "GET"}};
 *     const uint64_t bounds[] = {1000000, 10000000, 100000000};      (nanoseconds, as recorded)
 *     picollo_metric_options metric = PICOLLO_METRIC_OPTIONS_INIT;
 *     metric.name = "request_seconds";
 *     metric.unit = "seconds";
 *     metric.divisor = 1e9;
 *     metric.labels = labels;
 *     metric.labels_length = 1;
 *     picollo_registry_create(&registry);
 *     picollo_registry_add(registry, latency, &metric, bounds, 3, NULL);
 *     for each scrape:
 *         picollo_registry_update(registry);
 *         picollo_registry_encode(registry, PICOLLO_EXPOSITION_OPENMETRICS, bytes, sizeof bytes, &length);
 *         send(bytes, length)
 *
 * An observation belongs to a bound if the midpoint of its histogram bucket is at or below the bound. So counts are
 * exact for bounds at which a histogram bucket ends, such as those one below a power of two. Otherwise only
 * observations within the relative error of the bound may be on the wrong side. Values below the range count as just
 * below it. Values above the range count only at +Inf. Lost and not finite observations, if there are any, have
 * separate counters, _lost and _not_finite.
 */

/** OpenMetrics text, application/openmetrics-text; version=1.0.0; charset=utf-8. */
#define PICOLLO_EXPOSITION_OPENMETRICS 0
/** Prometheus' text, text/plain; version=0.0.4; charset=utf-8. */
#define PICOLLO_EXPOSITION_PROMETHEUS_TEXT 1

/** Prometheus' Protocol Buffers, application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily;
 * encoding=delimited. Only this format has native histograms (PICOLLO_METRIC_NATIVE). */
#define PICOLLO_EXPOSITION_PROMETHEUS_PROTOBUF 2

/** OpenTelemetry's protocol, OTLP, application/x-protobuf: an ExportMetricsServiceRequest with cumulative counts and
 * exponential histograms. */
#define PICOLLO_EXPOSITION_OTLP 3
/** Omit the time at which counting began: no _created. */
#define PICOLLO_METRIC_NO_CREATED (1 << 0)

/** Give Prometheus a native histogram, of exponential buckets, in its Protocol Buffers. A server that reads these
 * then drops the buckets at bounds, with everything built on them, unless it is configured to keep both. */
#define PICOLLO_METRIC_NATIVE (1 << 1)
/** Write the counts since the histogram's last reset instead of all counts. Collectors see each reset as a restart. */
#define PICOLLO_METRIC_SINCE_RESET (1 << 2)

/** Give Prometheus a summary instead of buckets: the quantiles 0.5, 0.9, 0.99 and 0.999 of all counts. OTLP still has
 * exponential buckets. A label named quantile is refused. */
#define PICOLLO_METRIC_SUMMARY (1 << 3)

/** The counter has sixteen words and takes 1 KB. An addition goes to one of them, so threads seldom wait for each
 * other. The CPU chooses the word in a segment and if threads are registered for restartable sequences, and
 * otherwise the thread's stack. A read adds up the words. Histograms and gauges ignore this flag. */
#define PICOLLO_METRIC_STRIPED (1 << 4)

/** A name and a value that distinguish metrics with the same name. The name consists of letters, digits and
 * underscores. It begins with neither a digit nor two underscores, and is not le. The value is any UTF-8. */
typedef struct picollo_label {
    /** Its name; NUL-terminated. */
    const char *name;
    /** Its value; NUL-terminated. */
    const char *value;
} picollo_label;

/** The description of a metric; only the name must be set. Strings are NUL-terminated UTF-8, and NULL means "".
 * Everything is copied. */
typedef struct picollo_metric_options {
    uint32_t struct_size;
    /** PICOLLO_METRIC_... or 0. */
    uint32_t flags;
    /** Values and bounds are divided by this before they are written: 1e9 converts nanoseconds to seconds. 0: 1. */
    double divisor;
    /** Number of labels. */
    uint64_t labels_length;
    /** Time at which counting began, in nanoseconds since 1970. 0: now. */
    uint64_t created_unix_nanos;
    /** Letters, digits, underscores and colons; not a digit first: request_seconds. Dots, hyphens and slashes are for
     * OpenTelemetry; Prometheus sees underscores instead. Metrics of one kind may share a name, with different
     * labels. */
    const char *name;
    /** The meaning, for people; the same for all metrics of one name. */
    const char *help;
    /** Such as seconds; the name must end with it, after an underscore. The same for all metrics of one name. */
    const char *unit;
    /** The labels, in any order. */
    const picollo_label *labels;
    /** Largest number of exponential buckets with counts; more become coarser. 0: 320; UINT32_MAX: any number. */
    uint32_t max_buckets;
    uint32_t reserved;
} picollo_metric_options;
#define PICOLLO_METRIC_OPTIONS_INIT {sizeof(picollo_metric_options), 0, 0, 0, 0, NULL, NULL, NULL, NULL, 0, 0}

/** Makes an empty registry.
 *
 * Cost: an allocation. */
PICOLLO_STATUS picollo_registry_create(picollo_registry **out);

/** Frees a registry, and gives back its references to histograms. */
void picollo_registry_free(picollo_registry *registry);

/** Adds a histogram. It is written as empty until the next update.
 *
 * Requires: bounds leads to up to 500 ascending values, as recorded: the largest values of the buckets. With a
 *   length of 0 they are one below each power of four in the histogram's range, which are exact. out_id is for
 *   picollo_registry_remove.
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT, with nothing changed, if a name, label, unit, bound or the divisor violates
 *   picollo_metric_options; if the name exists with the same labels; if kind, help or unit differ from those of the
 *   same name; and if the written name belongs to another metric, as x_count beside x, or a_b beside a.b.
 * Ownership: the registry holds a reference to the histogram until you remove the histogram or free the registry.
 * Cost: allocates copies of its arguments. */
PICOLLO_STATUS picollo_registry_add(picollo_registry *registry, const picollo_histogram *histogram,
    const picollo_metric_options *metric, const uint64_t *bounds, size_t length, uint64_t *out_id);

/** Adds a histogram of doubles. Updates look at the counts since its last collection. Collecting it elsewhere
 * restarts the metric.
 *
 * Requires: as picollo_registry_add; the default bounds are the powers of ten from 1e-6 to 1e6. With negative bounds
 *   or values there is no _count and _sum, as the standard demands.
 * Otherwise: as picollo_registry_add. */
PICOLLO_STATUS picollo_registry_add_double(picollo_registry *registry,
    const picollo_double_histogram *histogram, const picollo_metric_options *metric, const double *bounds,
    size_t length, uint64_t *out_id);

/** Removes a metric.
 *
 * Requires: id is from picollo_registry_add or one of the other functions that add a metric.
 * Cost: searches the registry. */
PICOLLO_STATUS picollo_registry_remove(picollo_registry *registry, uint64_t id);

/** Takes the counts of all metrics, while others record and reset. For histograms these are all counts since they
 * were made, so collectors see no reset (except with PICOLLO_METRIC_SINCE_RESET). Each metric is read at one moment,
 * one after the other. If counts fell nevertheless, because a histogram of doubles was collected, the metric's
 * creation time becomes that of the previous update.
 *
 * Returns: PICOLLO_ERR_BUSY, as picollo_snapshot_update, or PICOLLO_ERR_OUT_OF_MEMORY if one metric failed: it keeps
 *   its previous counts, and all others are updated.
 * Threads: any thread; other calls on this registry wait.
 * Cost: two passes over all counters; the first time, allocates 16 bytes per counter for each layout. */
PICOLLO_STATUS picollo_registry_update(picollo_registry *registry);

/** Writes the counts of the last update, as bytes without a NUL, in text formats too.
 *
 * Requires: format is PICOLLO_EXPOSITION_.... An update or a new metric between asking for the length and writing
 *   may change the length.
 * Cost: less than a microsecond per bucket. */
PICOLLO_STATUS picollo_registry_encode(const picollo_registry *registry, uint32_t format, void *buffer,
    size_t capacity, size_t *out_length);

/** Chooses the format for a request by its Accept header, and writes the Content-Type of the response. The known
 * format with the largest q wins, and the first of equals. If the header names no known format, the choice is
 * Prometheus' text. It is never OTLP, which is sent and not scraped.
 *
 * Requires: accept is NUL-terminated, of any bytes; NULL means that there is no header. A capacity of 128 is enough.
 * Cost: a few nanoseconds per byte. */
PICOLLO_STATUS picollo_registry_negotiate(const char *accept, uint32_t *out_format, char *buffer,
    size_t capacity, size_t *out_length);

/* ----------------------------------------------------------------------------------------------------------
 * Counters and gauges of registries.
 *
 *     picollo_metric_counter *requests;
 *     picollo_metric_options metric = PICOLLO_METRIC_OPTIONS_INIT;
 *     metric.name = "requests";
 *     picollo_registry_add_counter(registry, &metric, &requests, NULL);
 *     for each request:
 *         picollo_metric_counter_add(requests, 1)
 *     picollo_metric_counter_free(requests)
 *
 * Each is one word in its own cache line. If many threads count all the time, request a striped counter
 * (PICOLLO_METRIC_STRIPED), or give each thread a counter with its own label.
 */

/** Adds a new counter, at zero, to a registry. A final _total is not part of the name.
 *
 * Requires: out_id is for picollo_registry_remove. The metric's max_buckets and the flags for histograms are
 *   ignored.
 * Returns: as picollo_registry_add.
 * Ownership: free *out with picollo_metric_counter_free; the registry holds its own reference.
 * Cost: allocates copies of its arguments, and 128 bytes. */
PICOLLO_STATUS picollo_registry_add_counter(picollo_registry *registry, const picollo_metric_options *metric,
    picollo_metric_counter **out, uint64_t *out_id);

/** Adds a new gauge, at zero, to a registry.
 *
 * Ownership: free *out with picollo_metric_gauge_free; the registry holds its own reference.
 * Otherwise: as picollo_registry_add_counter. */
PICOLLO_STATUS picollo_registry_add_gauge(picollo_registry *registry, const picollo_metric_options *metric,
    picollo_metric_gauge **out, uint64_t *out_id);

/** Adds to a counter, modulo 2^64.
 *
 * Requires: counter is not NULL; this is not checked.
 * Threads: any thread, signal handlers.
 * Cost: an atomic addition. */
void picollo_metric_counter_add(picollo_metric_counter *counter, uint64_t count);

/** Reads a counter while others count.
 *
 * Cost: a load. */
PICOLLO_STATUS picollo_metric_counter_read(const picollo_metric_counter *counter, uint64_t *out);

/** Gives back one reference. A registry that has the counter continues to write it. */
void picollo_metric_counter_free(picollo_metric_counter *counter);

/** Sets a gauge.
 *
 * Requires: gauge is not NULL; this is not checked.
 * Threads: any thread, signal handlers.
 * Cost: a store. */
void picollo_metric_gauge_set(picollo_metric_gauge *gauge, double value);

/** Adds to a gauge; value may be negative. If several threads add at the same time, nothing is lost.
 *
 * Requires: gauge is not NULL; this is not checked.
 * Threads: any thread, signal handlers.
 * Cost: a compare-and-swap, repeated if another thread was first. */
void picollo_metric_gauge_add(picollo_metric_gauge *gauge, double value);

/** Reads a gauge while others set it.
 *
 * Cost: a load. */
PICOLLO_STATUS picollo_metric_gauge_read(const picollo_metric_gauge *gauge, double *out);

/** Gives back one reference. A registry that has the gauge continues to write it. */
void picollo_metric_gauge_free(picollo_metric_gauge *gauge);

/* ----------------------------------------------------------------------------------------------------------
 * Exemplars: observations that are written with a metric and lead further, for example to a trace.
 *
 *     picollo_metric_exemplar slowest = {0};
 *     slowest.value = nanoseconds;                (as recorded: divided as the metric is)
 *     slowest.unix_nanos = when;
 *     memcpy(slowest.trace_id, trace_id, sizeof slowest.trace_id);
 *     picollo_registry_set_exemplars(registry, id, &slowest, 1);
 *
 * OpenMetrics has the latest in each bucket. Prometheus' Protocol Buffers have these and, in native histograms, all
 * that have a time. OTLP has all of them, and Prometheus' older text has no exemplars.
 */

/** An observation that stands for others. Fields that are zero are left out. The names and values of its labels have
 * at most 128 characters together, which is the standard's limit. A trace's identifier takes 40 of them and a span's
 * 23. */
typedef struct picollo_metric_exemplar {
    /** The value as recorded. It is divided like the metric's values. */
    double value;
    /** Time of the observation, in nanoseconds since 1970; 0 if unknown. */
    uint64_t unix_nanos;
    /** The trace, as in W3C's traceparent; written as the label trace_id. */
    uint8_t trace_id[16];
    /** The span in the trace; written as the label span_id. */
    uint8_t span_id[8];
    /** Further labels, with other names. */
    const picollo_label *labels;
    /** Number of labels. */
    size_t labels_length;
} picollo_metric_exemplar;

/** Replaces the exemplars that are written with a metric. Everything is copied.
 *
 * Requires: id is that of a histogram or counter; exemplars is an array in any order; a length of 0 removes all.
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT, with nothing changed, for an unknown id, a value that is not finite, and
 *   labels that violate picollo_label, are repeated, or are too long; PICOLLO_ERR_UNSUPPORTED for gauges, which have
 *   no exemplars.
 * Cost: allocates copies of its arguments; every write of the metric searches them for each bound. */
PICOLLO_STATUS picollo_registry_set_exemplars(picollo_registry *registry, uint64_t id,
    const picollo_metric_exemplar *exemplars, size_t length);

/* ----------------------------------------------------------------------------------------------------------
 * Counters of one word that many threads share.
 *
 * The words are the caller's: uint32_t or uint64_t, aligned, zero at the beginning. While several threads use them,
 * they must use these functions only. The kinds trade accuracy for speed:
 *
 * - picollo_scalable_counter_...: exact up to a threshold of 2^threshold_bits. Above it they count in steps of 2^k
 *   with probability 2^-k, so threads contend less the higher the count is. The expected count is exact, and the
 *   relative standard deviation about 2^-((t + 1) / 2) * 1.15: 0.9 % for the default of 13 bits. (Dice, Lev and
 *   Moir, 2013.)
 * - picollo_capped_counter_...: the same with steps of at most 2^cap_bits, so the relative error falls again at high
 *   counts.
 * - picollo_sensing_counter_...: exact while threads do not meet; otherwise like the scalable one.
 *
 * For an exact counter of one word, use the language's atomic_fetch_add. A counter with PICOLLO_METRIC_STRIPED has
 * many words.
 *
 * Words of 32 bits count modulo 2^32. Each thread has a random generator, with another seed in each thread and each
 * process. The child of a fork continues with its parent's numbers.
 */

/** Default threshold of scalable counters: 2^13 = 8192. */
#define PICOLLO_SCALABLE_THRESHOLD_BITS 13

/** Counts one or many events approximately (see the head of this section). Whole steps are added directly; the rest
 * adds a step or nothing.
 *
 * Requires: counter is not NULL, which is not checked; threshold_bits is 1 ..= 31, or 0 for 13.
 * Threads: any thread, and signal handlers of threads that have counted before.
 * Cost: an atomic addition below the threshold; above it, increasingly often only a load and a random number. */
void picollo_scalable_counter_add_n32(uint32_t *counter, uint64_t count, uint32_t threshold_bits);

/** The same in 64 bits.
 *
 * Otherwise: as picollo_scalable_counter_add_n32. */
void picollo_scalable_counter_add_n64(uint64_t *counter, uint64_t count, uint32_t threshold_bits);

/** Counts events as picollo_scalable_counter_add_n32 does, in steps of at most 2^cap_bits. From a count of
 * 2^(threshold_bits + cap_bits) on the relative error is sqrt(2^cap_bits / count).
 *
 * Requires: as picollo_scalable_counter_add_n32; cap_bits is 0 ..= 31; 0 counts exactly, and 10 leaves little
 *   contention.
 * Otherwise: as picollo_scalable_counter_add_n32. */
void picollo_capped_counter_add32(uint32_t *counter, uint64_t count, uint32_t threshold_bits,
    uint32_t cap_bits);

/** The same in 64 bits.
 *
 * Otherwise: as picollo_capped_counter_add32. */
void picollo_capped_counter_add64(uint64_t *counter, uint64_t count, uint32_t threshold_bits,
    uint32_t cap_bits);

/** Counts events exactly unless another thread counts at the same moment; then as picollo_scalable_counter_add_n32.
 *
 * Cost: a compare-and-swap and, above the threshold, a random number; if it fails, at most an atomic addition.
 * Otherwise: as picollo_scalable_counter_add_n32. */
void picollo_sensing_counter_add32(uint32_t *counter, uint64_t count, uint32_t threshold_bits);

/** The same in 64 bits.
 *
 * Otherwise: as picollo_sensing_counter_add32. */
void picollo_sensing_counter_add64(uint64_t *counter, uint64_t count, uint32_t threshold_bits);

/** Reads a counter of any of these kinds while others count.
 *
 * Returns: the count, exact or approximate; 0 if counter is NULL.
 * Cost: a load. */
uint32_t picollo_counter_read32(const uint32_t *counter);

/** The same in 64 bits.
 *
 * Otherwise: as picollo_counter_read32. */
uint64_t picollo_counter_read64(const uint64_t *counter);

/* ----------------------------------------------------------------------------------------------------------
 * Segments: publish histograms and counters so that others can read them while the program runs.
 *
 * A segment is a file in memory that only this user can open. The command picollo reads the histograms in it from
 * outside, also after a crash. Recording costs the same as elsewhere. Linux only.
 *
 *     picollo_segment *segment;
 *     picollo_histogram *latency;
 *     picollo_metric_options metric = PICOLLO_METRIC_OPTIONS_INIT;
 *     metric.name = "request";
 *     metric.unit = "ns";
 *     if (picollo_segment_create(NULL, &segment, &error) != PICOLLO_OK) puts(error.message), exit(1);
 *     if (picollo_segment_histogram(segment, &metric, NULL, &latency, &error) != PICOLLO_OK) puts(error.message), exit(1);
 *     picollo_histogram_record(latency, 1234);
 *
 * The file lies in the directory of the options, or in PICOLLO_DIR; otherwise in $RUNTIME_DIRECTORY/picollo,
 * $XDG_RUNTIME_DIR/picollo or /dev/shm/picollo-UID. An orderly end of the process that made it removes the file,
 * unless that process has forked or others have attached the segment.
 *
 * Forked children write into the segments that they inherit; other processes attach. The same name and labels mean
 * the same histogram or counter. Segments stay mapped as long as the process lives.
 *
 * All calls here return PICOLLO_ERR_UNSUPPORTED on systems other than Linux. If they take an error, it explains what
 * to do.
 */

/** Keep the file at an orderly end. */
#define PICOLLO_SEGMENT_KEEP (1 << 0)
/** Allow a directory that is not in memory. Records may then wait for the disk. */
#define PICOLLO_SEGMENT_ON_DISK (1 << 1)

/** Histograms whose options name no mode have one set of cells with atomic additions, instead of one per CPU. This
 * takes less memory, and viewers read less. */
#define PICOLLO_SEGMENT_INTERLOCKED (1 << 2)

/** picollo_histogram_reset works for histograms in the segment, unless they were made with
 * PICOLLO_HISTOGRAM_NO_LIVE_RESET. They take three times the memory, and are interlocked if no mode is named.
 * Per-CPU histograms have no reset. */
#define PICOLLO_SEGMENT_LIVE_RESET (1 << 3)

/** Options of a segment. Strings are NUL-terminated UTF-8, and copied. */
typedef struct picollo_segment_options {
    uint32_t struct_size;
    /** PICOLLO_SEGMENT_... or 0. */
    uint32_t flags;
    /** Largest size of the file; 0: 128 MiB. It takes address space at once, but memory only as histograms are made. */
    uint64_t max_bytes;
    /** 1 to 64 letters, digits, _ and -. NULL: the name of the program. */
    const char *name;
    /** Directory of the file; it is made if it does not exist. NULL: see the head of this section. */
    const char *directory;
} picollo_segment_options;
#define PICOLLO_SEGMENT_OPTIONS_INIT {sizeof(picollo_segment_options), 0, 0, NULL, NULL}

/** Makes a segment of this process. Segments of the same name that nobody uses any more are removed.
 *
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT for an invalid name or size, or a name that this process uses already;
 *   PICOLLO_ERR_PERMISSION if others have access to the directory; PICOLLO_ERR_UNSUPPORTED if it is not in memory;
 *   PICOLLO_ERR_OUT_OF_MEMORY; PICOLLO_ERR_OS.
 * Cost: about ten system calls. */
PICOLLO_STATUS picollo_segment_create(const picollo_segment_options *options, picollo_segment **out,
    picollo_error *error);

/** Opens another process's segment for writing.
 *
 * Requires: path is NUL-terminated; NULL means the path in the environment variable PICOLLO_SEGMENT.
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT without a path; PICOLLO_ERR_PERMISSION if others have access to the file;
 *   PICOLLO_ERR_CORRUPT if it is not a segment; PICOLLO_ERR_INCOMPATIBLE if this build cannot use it;
 *   PICOLLO_ERR_BUSY while it is being removed; PICOLLO_ERR_OUT_OF_MEMORY; PICOLLO_ERR_OS.
 * Cost: about ten system calls. */
PICOLLO_STATUS picollo_segment_attach(const char *path, picollo_segment **out, picollo_error *error);

/** Frees the handle of a segment. The content stays, and so do the handles of histograms and counters in it. */
void picollo_segment_free(picollo_segment *segment);

/** Reports the path of a segment, for picollo_segment_attach in other processes. */
PICOLLO_STATUS picollo_segment_path(const picollo_segment *segment, char *buffer, size_t capacity,
    size_t *out_length);

/** Finds or makes the histogram with this name and these labels in a segment.
 *
 * Any thread of any process may record into it in PICOLLO_MODE_INTERLOCKED (the default) and PICOLLO_MODE_PER_CPU.
 * In the default mode the library chooses whether each CPU has its own cells. It does so on machines with up to 8
 * CPUs and restartable sequences. In single-writer mode only the thread that made it may record.
 *
 * Requires: options is NULL, or dense with 64 bits: interlocked, per-CPU or single-writer. If they specify no
 *   values, the range is 1 to 3600000000000, an hour in nanoseconds, with 1 %. The metric's max_buckets,
 *   PICOLLO_METRIC_NATIVE and PICOLLO_METRIC_SINCE_RESET are ignored.
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT for invalid options, names and labels; PICOLLO_ERR_INCOMPATIBLE if the name
 *   exists with another layout or mode, or is another thread's; PICOLLO_ERR_UNSUPPORTED for options that a segment
 *   does not offer; PICOLLO_ERR_OUT_OF_MEMORY if the segment is full; PICOLLO_ERR_BUSY if another process is stopped
 *   in this call; PICOLLO_ERR_CORRUPT; PICOLLO_ERR_OS. If the directory has only one entry left, the call returns
 *   the histogram picollo_overflow, of all values with 1 %, which all later callers share.
 * Ownership: free *out with picollo_histogram_free, which does not remove it. picollo_histogram_reset returns
 *   PICOLLO_ERR_UNSUPPORTED, except in a segment with PICOLLO_SEGMENT_LIVE_RESET.
 * Threads: any thread, also in forked children.
 * Cost: about ten system calls; takes the memory of the histogram. */
PICOLLO_STATUS picollo_segment_histogram(const picollo_segment *segment, const picollo_metric_options *metric,
    const picollo_histogram_options *options, picollo_histogram **out, picollo_error *error);

/** Finds the counter with this name and these labels in a segment, or makes one at zero. With PICOLLO_METRIC_STRIPED
 * it has many words, so neither threads nor forked workers wait for each other.
 *
 * Requires: fields of the metric for histograms are ignored.
 * Returns: as picollo_segment_histogram; PICOLLO_ERR_INCOMPATIBLE also if one is striped and the other is not.
 * Otherwise: as picollo_segment_histogram. */
PICOLLO_STATUS picollo_segment_counter(const picollo_segment *segment, const picollo_metric_options *metric,
    picollo_metric_counter **out, picollo_error *error);

/** Removes the histogram or counter with this name and these labels from a segment. New viewers do not see it, and
 * the next request for it makes a new one. Its memory and its place in the directory are not reused.
 *
 * Requires: only name and labels of the metric matter.
 * Returns: as picollo_segment_histogram; PICOLLO_ERR_INVALID_ARGUMENT also if the name does not exist, and
 *   PICOLLO_ERR_INCOMPATIBLE if it is another thread's.
 * Ownership: its handles stay valid; only they see what is recorded through them.
 * Threads: any thread, also in forked children.
 * Cost: about five system calls. */
PICOLLO_STATUS picollo_segment_retire(const picollo_segment *segment, const picollo_metric_options *metric,
    picollo_error *error);

/** Reports how many bytes a histogram takes in a segment, without its entry in the directory, which exists already.
 *
 * Requires: options as for picollo_segment_histogram; flags are those of the segment: 0,
 *   PICOLLO_SEGMENT_INTERLOCKED, PICOLLO_SEGMENT_LIVE_RESET, or both.
 * Returns: PICOLLO_ERR_UNSUPPORTED for other flags, and options that a segment does not offer;
 *   PICOLLO_ERR_INVALID_ARGUMENT. */
PICOLLO_STATUS picollo_segment_estimate(const picollo_histogram_options *options, uint32_t flags,
    uint64_t *out);

/* ----------------------------------------------------------------------------------------------------------
 * Clocks.
 *
 * Two clocks count ticks of an exactly known frequency, and both suit intervals. A read of the time stamp counter
 * takes a few nanoseconds, without a system call. If the machine has no counter with a constant rate, the monotonic
 * clock replaces it, also for frequency and conversion.
 *
 * A scope measures the time from its begin to its end, and records it:
 *
 *     picollo_scope scope;
 *     picollo_scope_begin(histogram, PICOLLO_CLOCK_TSC, PICOLLO_UNIT_NANOS, &scope);
 *     work();
 *     picollo_scope_end(&scope);
 */

/** CLOCK_MONOTONIC: nanoseconds since some point in the past. */
#define PICOLLO_CLOCK_MONOTONIC 0

/** The CPU's time stamp counter (aarch64: the virtual counter). If the machine has no counter with a constant
 * rate, this is the monotonic clock. Ticks, frequency and conversion change together, so times stay right. */
#define PICOLLO_CLOCK_TSC 1
/** The clock's own ticks. */
#define PICOLLO_UNIT_TICKS 0
/** Nanoseconds. */
#define PICOLLO_UNIT_NANOS 1
/** Microseconds. */
#define PICOLLO_UNIT_MICROS 2
/** Milliseconds. */
#define PICOLLO_UNIT_MILLIS 3
/** Picoseconds. */
#define PICOLLO_UNIT_PICOS 4

/** A running measurement. Its fields are private to the library. */
typedef struct picollo_scope {
    /** Ticks at the beginning. */
    uint64_t start;
    /** PICOLLO_CLOCK_.... */
    uint32_t clock;
    /** PICOLLO_UNIT_.... */
    uint32_t unit;
    /** The histogram to record into; NULL after the end. */
    picollo_histogram *histogram;
    void *reserved;
} picollo_scope;

/** Measures the frequency of the time stamp counter now. Scopes and conversions do not need this call.
 *
 * Returns: PICOLLO_OK, also if the monotonic clock replaces the counter; PICOLLO_ERR_UNSUPPORTED in a build without
 *   an operating system, which has no clock: its ticks are 0.
 * Threads: any thread, any number of times.
 * Cost: up to 20 milliseconds the first time, if the frequency must be measured. */
PICOLLO_STATUS picollo_clock_init(void);

/** Reads a clock.
 *
 * Returns: its ticks; 0 for an unknown clock.
 * Cost: ten to thirty nanoseconds. */
uint64_t picollo_clock_ticks(uint32_t clock);

/** Reads a clock in program order: after all instructions before the call, and before all instructions after it. With
 * picollo_clock_ticks, out-of-order execution may move the reading by about a hundred instructions.
 *
 * Returns: its ticks; 0 for an unknown clock.
 * Cost: ten to twenty nanoseconds more than picollo_clock_ticks, and the wait for earlier instructions. */
uint64_t picollo_clock_ticks_ordered(uint32_t clock);

/** Reports the number of ticks per second.
 *
 * Returns: PICOLLO_ERR_UNSUPPORTED as picollo_clock_init.
 * Cost: up to 20 milliseconds once, unless picollo_clock_init was called. */
PICOLLO_STATUS picollo_clock_frequency(uint32_t clock, uint64_t *out_hertz);

/** Converts a difference of ticks: exactly floor(ticks * units per second / frequency). In the first 20 milliseconds
 * after the first use of the time stamp counter, its frequency is still unknown. Then the system's clock converts a
 * difference of two readings, with an error of about 100 nanoseconds. No scope waits.
 *
 * Returns: the converted difference; UINT64_MAX if it does not fit into 64 bits; 0 for an unknown clock or unit.
 * Cost: at most a division of 128 bits. */
uint64_t picollo_clock_convert(uint32_t clock, uint64_t ticks, uint32_t unit);

/** Begins a measurement. Does nothing if out is NULL.
 *
 * Requires: histogram outlives the scope, or is NULL to measure without recording.
 * Ownership: nothing to free; a scope that never ends records nothing.
 * Threads: any thread; the scope may end on another one.
 * Cost: one reading of the clock, which comes last. */
void picollo_scope_begin(picollo_histogram *histogram, uint32_t clock, uint32_t unit, picollo_scope *out);

/** Ends a measurement and records it. Ending it again measures, but does not record.
 *
 * Requires: scope was begun.
 * Returns: the recorded time, in the scope's unit; 0 if scope is NULL. For an unknown clock or unit it records
 *   nothing and returns 0.
 * Threads: as picollo_histogram_record on the scope's histogram.
 * Cost: one reading of the clock, which comes first, a conversion and a record. */
uint64_t picollo_scope_end(picollo_scope *scope);

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
/** The accounts of the thread: window_nanos, cpu_nanos, switches and page faults. */
#define PICOLLO_KNOWN_ACCOUNTS (1 << 0)
/** run_delay_nanos. */
#define PICOLLO_KNOWN_RUN_DELAY (1 << 1)
/** throttled: the thread's group has a quota of CPU time. */
#define PICOLLO_KNOWN_QUOTA (1 << 2)
/** off_nanos and preempted_nanos, of a window without gaps. */
#define PICOLLO_KNOWN_RING (1 << 3)
/** fault_nanos. */
#define PICOLLO_KNOWN_FAULT_TIMES (1 << 4)
/** instructions and cycles, counted all the time. */
#define PICOLLO_KNOWN_COUNTERS (1 << 5)
/** There is evidence (in JSON, an unreported reason). */
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
 * slower work. Making a collector tries that once, which takes the time of the first session of a process. A
 * thread's first examined observation then allocates a few kilobytes and opens two descriptors; preparing the thread
 * does so earlier. */
#define PICOLLO_EXEMPLARS_COUNTERS (1 << 3)

/** Keep none of the slowest, whatever the field slowest holds: only the latest of each octave of values, and the
 * causes of slow observations. */
#define PICOLLO_EXEMPLARS_NO_SLOWEST (1 << 1)
/** picollo_exemplars_end and _offer return this if the observation is kept. */
#define PICOLLO_EXEMPLAR_KEPT 1
/** An unknown CPU. */
#define PICOLLO_CPU_UNKNOWN 4294967295

/** Options of a collector. */
typedef struct picollo_exemplars_options {
    uint32_t struct_size;
    /** PICOLLO_EXEMPLARS_.... */
    uint32_t flags;
    /** An observation above this is slow, as recorded. 0: the 99th percentile of the previous interval; in the first
     * interval only the slowest are. */
    uint64_t threshold;
    /** Unit of what scopes record, PICOLLO_UNIT_...; 0: nanoseconds. */
    uint32_t unit;
    /** How many of the slowest are kept, up to 65,536; 0: 16. */
    uint32_t slowest;
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

/** A running measurement. It may be copied, because the library keeps no pointer to it. Its fields are private to the
 * library, except label and, for event loops, thread. */
typedef struct picollo_exemplar_scope {
    /** Ticks at the beginning. */
    uint64_t start;
    /** Ticks after which it is kept for another reason; 0 for a control. */
    uint64_t due;
    /** The thread's checkpoint at the beginning. */
    uint64_t checkpoint;
    /** Number of the exemplar that it became; 0: it became none. */
    uint64_t number;
    uint64_t reserved[3];
    /** The thread on which it began. Set it to NULL if others work on this thread until the end, as in event loops.
     * Then the thread's work is not attributed to this observation. */
    void *thread;
    /** NULL once it has ended. */
    picollo_exemplars *exemplars;
    /** Kind of the observation, which the caller sets before the end; 0 at the beginning. Each of up to 16 kinds has
     * its own usual values. */
    uint32_t label;
    /** Whether it is a control. */
    uint32_t is_control;
} picollo_exemplar_scope;

/** Links an observation to its request. All zero: no link. */
typedef struct picollo_exemplar_context {
    /** Free for the caller. */
    uint64_t words[2];
    /** The trace, as in W3C's traceparent. */
    uint8_t trace_id[16];
    /** The span in the trace. */
    uint8_t span_id[8];
} picollo_exemplar_context;

/** An observation that was kept. Unknown numbers (see known) are 0. */
typedef struct picollo_exemplar {
    /** The value as recorded. */
    uint64_t value;
    /** Its duration; 0 if values are not times. */
    uint64_t wall_nanos;
    /** Its beginning, in nanoseconds since 1970. */
    uint64_t unix_nanos;
    /** Length of the window of evidence: from a checkpoint of its thread to its end. The checkpoint is up to 300
     * microseconds before its beginning, or more if it contains many other observations. */
    uint64_t window_nanos;
    /** Time in the window that the thread ran. */
    uint64_t cpu_nanos;
    /** Time that it was runnable without a CPU. */
    uint64_t run_delay_nanos;
    /** Time that it was off the CPU. */
    uint64_t off_nanos;
    /** Part of off_nanos during which it did not wait for anything. */
    uint64_t preempted_nanos;
    /** Time to handle page faults. */
    uint64_t fault_nanos;
    /** Part of its duration in excess of what is usual for its cause; 0 with PICOLLO_CAUSE_SEVERAL and _NOT_KNOWN. */
    uint64_t excess_nanos;
    /** Instructions of the thread in user space, in the window. */
    uint64_t instructions;
    /** Cycles of the thread in user space, in the window. */
    uint64_t cycles;
    /** Usual instructions per cycle of its kind; 0 if unknown. */
    double usual_ipc;
    uint64_t reserved;
    /** The link to its request. */
    picollo_exemplar_context context;
    /** The reason for its slowness or duration: PICOLLO_CAUSE_.... */
    uint32_t cause;
    /** Which fields are known: PICOLLO_KNOWN_.... */
    uint32_t known;
    /** Why there is no evidence: PICOLLO_MISSING_.... */
    uint32_t missing;
    /** Its kind. */
    uint32_t label;
    /** The kernel's id of the thread on which it ended. */
    int32_t thread;
    /** The CPU on which it ended, or PICOLLO_CPU_UNKNOWN. */
    uint32_t cpu;
    /** Voluntary context switches: the thread waited. */
    uint32_t voluntary;
    /** Involuntary context switches: the thread was preempted. */
    uint32_t involuntary;
    /** Page faults without a read from disk. */
    uint32_t minor_faults;
    /** Page faults with a read from disk. */
    uint32_t major_faults;
    /** How often its group was throttled since the last check. */
    uint32_t throttled;
    /** Whether it is above the threshold of its interval. */
    uint32_t is_slow;
} picollo_exemplar;

/** An interval that has ended. */
typedef struct picollo_exemplar_interval {
    /** Its beginning, in nanoseconds since 1970. */
    uint64_t begin_unix_nanos;
    /** Its end, in nanoseconds since 1970. */
    uint64_t end_unix_nanos;
    /** Observations above this were slow, as recorded. 0 if the threshold was unknown: then the slowest are. */
    uint64_t threshold;
    /** Number of recorded observations. */
    uint64_t observations;
    /** Number of slow observations. */
    uint64_t slow;
    /** Number of slow observations with a known cause. */
    uint64_t known;
    /** Number of ordinary observations examined so far. */
    uint64_t controls;
    /** Total excess of all slow observations over the usual. */
    uint64_t excess_nanos;
    /** Number of observations that are kept. */
    uint64_t length;
} picollo_exemplar_interval;

/** The share of a cause in an interval's excess. */
typedef struct picollo_exemplar_share {
    /** 0 to 1; 0 for PICOLLO_CAUSE_SEVERAL and _NOT_KNOWN. */
    double share;
    /** Its excess in all slow observations with known evidence. */
    uint64_t excess_nanos;
    /** Number of observations that it made slow. */
    uint64_t observations;
    /** Median of its excess in these observations. */
    uint64_t typical_nanos;
} picollo_exemplar_share;

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
 *         picollo_exemplar_context context = {{request}, {0}, {0}};
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
 * A scope that is not slow takes two readings of the clock, a record and four comparisons. Every 100 to 300
 * microseconds the beginning of a scope also reads the thread's accounting, which takes at most 1 % of its time.
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
    uint64_t id);

/** Frees a collector.
 *
 * Requires: none of its scopes is running. */
void picollo_exemplars_free(picollo_exemplars *exemplars);

/* ----------------------------------------------------------------------------------------------------------
 * Events that can be counted.
 */

/** Count in user space. Any of user, kernel and hypervisor overrides the session's choice. */
#define PICOLLO_EVENT_USER (1 << 0)
/** Count in the kernel. */
#define PICOLLO_EVENT_KERNEL (1 << 1)
/** Count in the hypervisor. */
#define PICOLLO_EVENT_HYPERVISOR (1 << 2)
/** Precision 0 to 3, times this: as p, pp and ppp of perf. Dropped if the machine does not offer it. */
#define PICOLLO_EVENT_PRECISE (1 << 3)
/** Both bits of the precision. */
#define PICOLLO_EVENT_PRECISE_MASK (3 << 3)
/** Do not count in guests. */
#define PICOLLO_EVENT_HOST (1 << 5)
/** Count in guests only. */
#define PICOLLO_EVENT_GUEST (1 << 6)
/** Do not count while idle. */
#define PICOLLO_EVENT_EXCLUDE_IDLE (1 << 7)

/** An event that can be counted. picollo_event_parse makes one, or fill in the fields. */
typedef struct picollo_event {
    /** The event's number within its type. */
    uint64_t config;
    /** Further configuration; the address of a breakpoint. */
    uint64_t config1;
    /** Further configuration; the length of a breakpoint. */
    uint64_t config2;
    /** Further configuration. */
    uint64_t config3;
    /** Value of one count in unit; 1 if the PMU does not define it. 0 means 1, for events that are filled in by hand. */
    double scale;
    /** The kernel's event type. */
    uint32_t type;
    /** Breakpoints: 1 read, 2 write, 3 both, 4 execute. */
    uint32_t bp_type;
    /** PICOLLO_EVENT_...; 0: the session's choice. */
    uint32_t modifiers;
    /** 0. */
    uint32_t reserved;
    /** Unit of the scaled count, NUL-terminated. */
    char unit[16];
    /** Display name, NUL-terminated. */
    char name[128];
} picollo_event;

/** What this machine can count. */
typedef struct picollo_perf_info {
    /** 1: CPU cycles can be counted here and now. */
    uint32_t pmu_available;
    /** 1: counters can be read in user space. */
    uint32_t user_read_available;
    /** Number of counters for one event each; 0 if unknown. */
    uint32_t fixed_counters;
    /** Number of counters for any event; 0 if unknown. */
    uint32_t programmable_counters;
    /** /proc/sys/kernel/perf_event_paranoid; INT32_MIN if it cannot be read. */
    int32_t paranoid;
    /** 1: under a hypervisor. */
    uint32_t hypervisor;
    /** Explains missing parts and how to get them; empty if nothing is missing. */
    char explanation[480];
} picollo_perf_info;

/** Finds the event that a text names:
 *
 * - generic events in perf's spelling or a plain one: cycles, instructions, branch-misses, page-faults, task-clock,
 *   L1-dcache-load-misses, L1D-read-miss; case, - and _ do not matter; display names such as Hardware:CpuCycles work
 *   too;
 * - raw events of the processor: r01c2;
 * - breakpoints: mem:0xADDRESS/8:w (length 1, 2, 4 or 8, by default 4; r, w, rw or x, by default rw);
 * - tracepoints: sched:sched_switch;
 * - events of any PMU that the kernel lists: cpu/event=0x3c,umask=0x1/, msr/tsc/;
 * - other names if libpfm4 is installed: the processor's own, such as MEM_LOAD_RETIRED.L1_MISS, with libpfm4's
 *   attributes (:c=2:u). The display name begins with the PMU and two colons, and means only the event of that PMU.
 *   A PMU that this processor cannot have is refused, unless the variable LIBPFM_FORCE_PMU names it.
 *
 * Modifiers may follow after a colon: u user, k kernel, h hypervisor, p to ppp precision, H host, G guest, I not
 * while idle. picollo_session_create determines whether the event can be counted.
 *
 * Requires: spec is not NULL.
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT for text that is not an event name, and for unknown modifiers;
 *   PICOLLO_ERR_NO_SUCH_EVENT if this machine does not know the event, with the nearest that it knows;
 *   PICOLLO_ERR_PERMISSION if the kernel's list of tracepoints is unreadable; PICOLLO_ERR_OUT_OF_MEMORY;
 *   PICOLLO_ERR_OS.
 * Cost: microseconds for generic events; others read files of the kernel. The first name that only libpfm4 knows
 *   loads libpfm.so.4, which takes about a millisecond and stays loaded. */
PICOLLO_STATUS picollo_event_parse(const char *spec, picollo_event *out, picollo_error *error);

/** Determines what this machine can count, what is missing, and how to get it.
 *
 * Returns: PICOLLO_OK, also if nothing can be counted: see out.
 * Cost: opens a counter and closes it again, and reads files of the kernel: about a millisecond. If counters can be
 *   read in user space, the first call also takes the time of a child process; see picollo_session_create. */
PICOLLO_STATUS picollo_perf_probe(picollo_perf_info *out, picollo_error *error);

/* ----------------------------------------------------------------------------------------------------------
 * Sessions: performance counters.
 *
 * A session opens events for one target and schedules them together if the processor has room. Each event has its
 * own histogram:
 *
 *     const char *const specs[] = {"cycles", "branch-misses"};
 *     picollo_error error;
 *     picollo_session *session;
 *     if (picollo_session_open(specs, 2, NULL, &session, &error) != PICOLLO_OK) puts(error.message), exit(1);
 *     for (...) {
 *         picollo_session_read(session, PICOLLO_READ_AUTO, NULL);
 *         work();
 *         picollo_session_read(session, PICOLLO_READ_AUTO, NULL);
 *         picollo_session_record(session, PICOLLO_SINCE_PREVIOUS);
 *     }
 *
 * picollo_session_create, _enable and _reset take a base: the values and times at which counting starts.
 * picollo_session_read takes a reading of all events. Deltas are between the last two readings; the first one is
 * since the base. picollo_session_record does not read. It records the last deltas, or the values since the base,
 * once per read. If an event was not counted, it records nothing, and the event's info counts such cases. A running
 * counter is never reset; it gets a new base.
 *
 * PICOLLO_READ_AUTO reads in user space if the kernel allows it. Once per process and kind of counter, a child
 * process tries the instruction first. If somebody forbids it later, while the session is in use, the next reading
 * raises SIGSEGV (on aarch64 SIGILL), which ends the process. This happens after writing 0 to /sys/devices/cpu/rdpmc
 * or kernel.perf_user_access, and after a move to another hypervisor. No check can prevent it, because there is no
 * warning. To exclude it, use PICOLLO_SESSION_SYSCALL_ONLY, or set the environment variable PICOLLO_RDPMC:
 *
 *     auto, on, 1   as above; the default
 *     off, 0        never read in user space; so does every value that is not listed here
 *     force         read in user space without trying it in a child: for simulators that handle the fault
 *
 * picollo_perf_probe reports whether counters are read in user space, and if not, why.
 *
 * Threads: PICOLLO_READ_AUTO and picollo_session_calibrate on the opening thread only; everything else on any
 *   thread, one at a time. In the child of a fork all calls except picollo_session_free return PICOLLO_ERR_FORKED,
 *   because the counters are the parent's.
 */

/** Keep the events of the first group on the processor's counters all the time, as far as possible. If it is not
 * possible, now or later, they are opened again without this flag and share counters. This is not an error, but sets
 * PICOLLO_EVENT_INFO_UNPINNED and a message. An interval that was lost by it is
 * NotCounted. Events without room in the first group are not pinned, and flagged too. */
#define PICOLLO_SESSION_PINNED (1 << 0)
/** Count in the kernel too. */
#define PICOLLO_SESSION_KERNEL (1 << 1)
/** Do not start counting at once. */
#define PICOLLO_SESSION_DISABLED (1 << 2)
/** Count the threads and processes that the target starts from now on, too. */
#define PICOLLO_SESSION_INHERIT (1 << 3)

/** Keep events that cannot be opened as entries with their status, never counted. If the kernel may not be counted,
 * count user space only, which the info shows. */
#define PICOLLO_SESSION_SKIP_UNAVAILABLE (1 << 4)
/** Fences around reads: everything before a read is counted, nothing after it. */
#define PICOLLO_SESSION_ORDERED (1 << 5)
/** Count on one CPU only. */
#define PICOLLO_SESSION_ON_CPU (1 << 6)
/** Subtract from values (not from raw ones) what reading adds, after a calibration has measured it. */
#define PICOLLO_SESSION_SUBTRACT (1 << 7)

/** Never read in user space, whatever the mode of a reading. No page is mapped, no child process tries the
 * instruction, and no clock is calibrated. Use it if no fault may end the program when somebody forbids user reads,
 * and to make sessions quickly. */
#define PICOLLO_SESSION_SYSCALL_ONLY (1 << 8)
/** Largest number of events in a session. A whole group's result then fits on the stack. */
#define PICOLLO_SESSION_MAX_EVENTS 64
/** In user space if that is possible and provably right, otherwise by system call. Opening thread only. */
#define PICOLLO_READ_AUTO 0
/** By system call, on any thread. */
#define PICOLLO_READ_SYSCALL 1
/** Read in user space; for a delta, at both ends. */
#define PICOLLO_READING_FAST (1 << 0)
/** Provably not descheduled since the previous read. */
#define PICOLLO_READING_CLEAN (1 << 1)
/** The event shared a counter with others, so the value is extrapolated. */
#define PICOLLO_READING_SCALED (1 << 2)
/** Another program reset the counter. The delta starts anew, and the counts just before the reset are missing. */
#define PICOLLO_READING_RESYNC (1 << 3)
/** The times are from the last system call, not from this moment. */
#define PICOLLO_READING_TIMES_STALE (1 << 4)
/** Counted only in user space, though more was requested. */
#define PICOLLO_EVENT_INFO_USER_ONLY (1 << 0)

/** Not kept on a counter all the time, though that was requested: never pinned, or pinned and lost once. The message
 * explains which. */
#define PICOLLO_EVENT_INFO_UNPINNED (1 << 1)
/** Counted by other means than a perf event. */
#define PICOLLO_EVENT_INFO_SUBSTITUTED (1 << 2)
/** Can be read in user space. */
#define PICOLLO_EVENT_INFO_FAST (1 << 3)
/** Opened, but the processor counts nothing. */
#define PICOLLO_EVENT_INFO_SILENT (1 << 4)

/** Options of a session. By default it counts the calling thread on any CPU, in user space, from the start. */
typedef struct picollo_session_options {
    uint32_t struct_size;
    /** PICOLLO_SESSION_.... */
    uint32_t flags;
    /** Relative error of the histograms, as in picollo_histogram_options; 0: 0.001. */
    double relative_error;
    /** 0: the calling thread; -1 with PICOLLO_SESSION_ON_CPU: everything on that CPU; otherwise the id of a thread,
     * as gettid returns it. */
    int32_t thread;
    /** The CPU with PICOLLO_SESSION_ON_CPU; otherwise ignored: any CPU. */
    int32_t cpu;
    /** Width of the histograms' counters: 32 or 64; 0: 64. */
    uint32_t counter_bits;
    uint32_t reserved;
} picollo_session_options;
#define PICOLLO_SESSION_OPTIONS_INIT {sizeof(picollo_session_options), 0, 0, 0, 0, 0, 0}

/** How an event is counted. */
typedef struct picollo_event_info {
    /** Records without a count. The histogram's total and this add up to the number of records. */
    uint64_t not_counted_count;
    /** Number of events that a pair of reads in user space adds, after a calibration. */
    uint64_t overhead_fast;
    /** Number of events that a pair of reads by system call adds, after a calibration. */
    uint64_t overhead_syscall;
    /** 0, or why the event is not open. */
    int32_t status;
    /** The errno of the reason, or 0. */
    int32_t os_errno;
    /** Events of one group are scheduled together. UINT32_MAX: in none. */
    uint32_t group;
    /** PICOLLO_EVENT_INFO_.... */
    uint32_t flags;
    /** Remarks about the event; empty if it is counted as requested. */
    char message[248];
} picollo_event_info;

/** One event's count over an interval. */
typedef struct picollo_reading {
    /** The count, extrapolated if the event was multiplexed, minus the overhead if the session subtracts it. */
    uint64_t value;
    /** The count as reported by the kernel. */
    uint64_t raw;
    /** Nanoseconds of the interval in which the event was enabled. */
    uint64_t time_enabled;
    /** Nanoseconds of the interval in which it was on the PMU. */
    uint64_t time_running;
    /** PICOLLO_READING_.... */
    uint32_t flags;
    /** PICOLLO_OK, PICOLLO_ERR_NOT_COUNTED, or why the event is not open. Anything but 0 means that there is no value. */
    int32_t status;
} picollo_reading;

/** Opens events, starts counting (unless PICOLLO_SESSION_DISABLED is set), and takes a base.
 *
 * The events keep their order and number, and an event may be given twice. Events without room beside the others get
 * a separate group and are scheduled alternately: see picollo_event_info.group.
 *
 * Requires: events leads to 1 to PICOLLO_SESSION_MAX_EVENTS events.
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT for options, events or their number outside their ranges;
 *   PICOLLO_ERR_UNSUPPORTED for unknown flags and options; and the reason why an event cannot be counted:
 *   PICOLLO_ERR_NO_SUCH_EVENT, PICOLLO_ERR_PERMISSION, PICOLLO_ERR_UNSUPPORTED, PICOLLO_ERR_OS. With
 *   PICOLLO_SESSION_SKIP_UNAVAILABLE such events stay as entries without counts instead. error names the event and
 *   explains what to do.
 * Threads: any thread, which becomes the opening thread.
 * Cost: a few system calls and the allocation of a histogram per event. If counters can be read in user space, the
 *   first session of a process also starts a child process that tries it. This takes a few hundred microseconds,
 *   because the child shares the memory. In a sandbox that refuses this it is forked, which takes about 0.1 s per GB
 *   in small pages. Another 2 to 50 ms are necessary if neither the kernel nor the processor reports the rate of its
 *   clock. Neither happens with PICOLLO_SESSION_SYSCALL_ONLY. */
PICOLLO_STATUS picollo_session_create(const picollo_session_options *options, const picollo_event *events,
    size_t length, picollo_session **out, picollo_error *error);

/** Opens events by name: picollo_event_parse for each, then picollo_session_create for all.
 *
 * Requires: specs leads to length names, 1 to PICOLLO_SESSION_MAX_EVENTS, as for picollo_event_parse.
 * Returns: as picollo_event_parse, also with PICOLLO_SESSION_SKIP_UNAVAILABLE, and as picollo_session_create. error
 *   names the event and explains what to do.
 * Threads: any thread, which becomes the opening thread.
 * Cost: that of both. */
PICOLLO_STATUS picollo_session_open(const char *const *specs, size_t length,
    const picollo_session_options *options, picollo_session **out, picollo_error *error);

/** Closes the events and frees the session. Histograms from picollo_session_histogram_ref stay valid.
 *
 * Threads: any thread; also in a child after a fork.
 * Cost: a few system calls per event. */
void picollo_session_free(picollo_session *session);

/** Reports the number of events, which is the number given. */
PICOLLO_STATUS picollo_session_length(const picollo_session *session, size_t *out);

/** Reports the event at an index, as it was given. */
PICOLLO_STATUS picollo_session_event(const picollo_session *session, size_t index, picollo_event *out);

/** Reports how an event is counted, or why it is not. */
PICOLLO_STATUS picollo_session_event_info(const picollo_session *session, size_t index,
    picollo_event_info *out);

/** Starts counting, and takes a new base. If the processor turns out to count nothing, this is not an error:
 * PICOLLO_EVENT_INFO_SILENT is set.
 *
 * Returns: PICOLLO_ERR_OS. If pinned events had to be opened again without pinning (PICOLLO_SESSION_PINNED) and that
 *   was refused, also PICOLLO_ERR_NO_SUCH_EVENT, PICOLLO_ERR_PERMISSION and PICOLLO_ERR_UNSUPPORTED. These events
 *   are then closed, as their infos show; with PICOLLO_SESSION_SKIP_UNAVAILABLE only the infos report it. After an
 *   error nothing counts.
 * Cost: a few system calls. */
PICOLLO_STATUS picollo_session_enable(picollo_session *session, picollo_error *error);

/** Stops counting. The counts can still be read.
 *
 * Returns: PICOLLO_ERR_OS.
 * Cost: a few system calls. */
PICOLLO_STATUS picollo_session_disable(picollo_session *session, picollo_error *error);

/** Measures how much a pair of reads adds to each event, and stores it in the infos. Previous readings and records
 * stay as they are, as if no time had passed.
 *
 * Returns: PICOLLO_ERR_UNSUPPORTED if the session counts another thread or a CPU, which reading does not slow down;
 *   PICOLLO_ERR_WRONG_THREAD; PICOLLO_ERR_OUT_OF_MEMORY; PICOLLO_ERR_OS.
 * Threads: opening thread only.
 * Cost: a few milliseconds. */
PICOLLO_STATUS picollo_session_calibrate(picollo_session *session, picollo_error *error);

/** Takes a reading of all events. If one fails, nothing changes.
 *
 * Requires: how is PICOLLO_READ_....
 * Returns: PICOLLO_OK, also if some events were not counted: see their readings; PICOLLO_ERR_WRONG_THREAD;
 *   PICOLLO_ERR_OS; PICOLLO_ERR_FORKED.
 * Threads: PICOLLO_READ_AUTO opening thread only; PICOLLO_READ_SYSCALL any thread, one at a time.
 * Cost: one system call per group, unless it reads in user space. If pinned events lost their counters, a few more,
 *   and an allocation if they must be opened again. */
PICOLLO_STATUS picollo_session_read(picollo_session *session, uint32_t how, picollo_error *error);

/** Records the last reading of each event into its histogram. An event that was not counted records nothing, and
 * picollo_event_info.not_counted_count grows.
 *
 * Returns: PICOLLO_ERR_EMPTY if nothing was read since the base, or since the last record.
 * Cost: a record per event. */
PICOLLO_STATUS picollo_session_record(picollo_session *session, uint32_t since);

/** Reports the last reading of each event. There are as many readings as events.
 *
 * Returns: PICOLLO_ERR_EMPTY before the first read since the base. */
PICOLLO_STATUS picollo_session_readings(const picollo_session *session, uint32_t since, picollo_reading *out,
    size_t capacity, size_t *out_length);

/** Takes a new base, and resets the histograms. The counters themselves continue.
 *
 * Returns: PICOLLO_ERR_OS, and nothing has changed; PICOLLO_ERR_BUSY if others reset the same histogram;
 *   PICOLLO_ERR_FORKED. After PICOLLO_ERR_BUSY the event that error names has kept its histogram and its
 *   not_counted_count, so these still add up to the records made. The base is new, and all other events are reset.
 *   Try again.
 * Cost: one system call per group, and a copy of all counters of the histograms. */
PICOLLO_STATUS picollo_session_reset(picollo_session *session, picollo_error *error);

/** Returns the histogram of an event, for reading. It is in single-writer mode, and picollo_session_record is the
 * writer.
 *
 * Requires: nobody else records into it.
 * Ownership: free *out with picollo_histogram_free; it outlives the session.
 * Threads: any thread, one at a time. The histogram may be read on any thread at any time. */
PICOLLO_STATUS picollo_session_histogram_ref(const picollo_session *session, size_t index,
    picollo_histogram **out);

/* ----------------------------------------------------------------------------------------------------------
 * Benchmarks: which of two pieces of code is faster.
 *
 * A and B run alternately, in blocks of four samples: A B B A or B A A B, chosen at random. Slow changes of the
 * machine affect both alike, and the differences within blocks decide. The benchmark returns what to run next, and
 * how often. It warms up. Then it finds the number of calls that makes a sample long enough for the clock. A and B
 * share one number, so the cost of calling cancels, unless they differ fourfold. It measures empty samples and
 * subtracts their time. It ends when the answer can no longer change, or the budget is spent:
 *
 *     picollo_benchmark *benchmark;
 *     picollo_benchmark_outcome result;
 *     picollo_benchmark_disturbance noise;
 *     uint32_t which;
 *     uint64_t n;
 *     picollo_benchmark_create(NULL, NULL, 0, &benchmark, NULL);
 *     while (picollo_benchmark_next(benchmark, &which, &n, NULL) == PICOLLO_OK) {
 *         if (which == PICOLLO_BENCHMARK_A) while (n--) a();
 *         else if (which == PICOLLO_BENCHMARK_B) while (n--) b();
 *         if (picollo_benchmark_done(benchmark, NULL) != PICOLLO_OK) break;
 *     }
 *     picollo_benchmark_result(benchmark, &result, &noise);
 *     if (result.blocks.flags & PICOLLO_COMPARISON_NOISY)
 *         printf("others took %.1f s of CPU time\n", noise.others_seconds);
 *
 * For PICOLLO_BENCHMARK_EMPTY run the code around the calls of a and b. Here this is a loop that takes no time. In a
 * language with slower loops it is a loop of calls that do nothing. Use the results of a and b, or the compiler may
 * remove the calls (PICOLLO_BENCHMARK_NOTHING_A). The address of a loop changes its time by a third and more. So run
 * a and b from one function that is not inlined and calls through a pointer. Or run each from a function that is
 * aligned to 64 bytes. The remaining two cycles per call are the resolution; smaller differences are not reported.
 * Times are in picoseconds per call.
 *
 * Between blocks the benchmark watches steal, CPU time and pressure of the machine, if the system reports them. A
 * block is disturbed if, in a tenth of a second or more around it, more than a twentieth of the time was taken: by
 * the host, or by other programs while something had to wait for a CPU. Disturbed blocks are left out. If more than
 * half are disturbed, all count: A and B alternate, so the disturbance affects both, and the width of the interval
 * shows it. If that interval is inconclusive, the comparison has PICOLLO_COMPARISON_NOISY and no verdict: a larger
 * budget may help. PICOLLO_BENCHMARK_KEEP_DISTURBED counts all blocks.
 *
 * Without a PMU, picollo compare --why counts the instructions of two programs exactly. Under Valgrind, times of
 * benchmarks are meaningless (PICOLLO_BENCHMARK_SIMULATED).
 */

/** Run A. */
#define PICOLLO_BENCHMARK_A 0
/** Run B. */
#define PICOLLO_BENCHMARK_B 1
/** Run as many empty calls: the part of every sample that belongs to neither A nor B. */
#define PICOLLO_BENCHMARK_EMPTY 2
/** Subtract nothing, for samples that are so long that their surroundings do not matter, such as whole processes. */
#define PICOLLO_BENCHMARK_NO_OVERHEAD (1 << 0)

/** Count disturbed blocks like all others. Use it if other programs belong to the measurement, such as a server that
 * A and B call. */
#define PICOLLO_BENCHMARK_KEEP_DISTURBED (1 << 1)
/** Set when the budget was spent before the smallest number of blocks was measured. */
#define PICOLLO_BENCHMARK_BUDGET_SPENT (1 << 0)
/** Set when the time of a call of A is below the resolution: it does nothing, or the compiler removed it. */
#define PICOLLO_BENCHMARK_NOTHING_A (1 << 1)
/** Set when the time of a call of B is below the resolution: it does nothing, or the compiler removed it. */
#define PICOLLO_BENCHMARK_NOTHING_B (1 << 2)
/** Set when it ran under Valgrind: its times are meaningless, and there is no verdict. */
#define PICOLLO_BENCHMARK_SIMULATED (1 << 3)

/** Options of a benchmark. */
typedef struct picollo_benchmark_options {
    /** sizeof(picollo_benchmark_options). */
    uint32_t struct_size;
    /** PICOLLO_BENCHMARK_NO_OVERHEAD and PICOLLO_BENCHMARK_KEEP_DISTURBED, or 0. */
    uint32_t flags;
    /** Smallest number of blocks, unless the budget is spent. 0: 20. */
    uint32_t min_blocks;
    /** Largest number of blocks. 0: 100,000. */
    uint32_t max_blocks;
    /** Calls per sample. 0: as many as fit into sample_seconds. */
    uint64_t repetitions;
    /** Time limit in seconds; a started sample is finished. 0: 5. At least one block, of four samples, is always
     * measured. If a call takes longer than the whole budget, its samples have one call each. */
    double budget_seconds;
    /** Seconds to warm up, for both together. 0: a tenth of the budget. */
    double warm_up_seconds;
    /** Seconds per sample, at most an eighth of the budget. 0: 0.0002, or a hundredth of the budget if that is less. */
    double sample_seconds;
    /** 0: it ends when the answer can no longer change. Positive: it ends when half the width of the difference's
     * interval is at most this share of A, or a tenth of the resolution. Negative: it ends only with the budget. */
    double precision;
    /** Confidence of the interval, between 0 and 1. 0: 0.95. */
    double confidence;
    /** Differences up to this share of A do not matter. 0: 0.01; negative: no such threshold. */
    double relative_threshold;
    /** Smallest difference in seconds per call that can be resolved. 0: half a nanosecond (two cycles, which the
     * address of a loop may change), or a hundredth of an empty call if that is more; 0 with
     * PICOLLO_BENCHMARK_NO_OVERHEAD. Negative: 0. */
    double resolution_seconds;
} picollo_benchmark_options;
#define PICOLLO_BENCHMARK_OPTIONS_INIT {sizeof(picollo_benchmark_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/** How often an event occurred per call. */
typedef struct picollo_benchmark_counts {
    /** Count of A without that of empty samples; NaN if nothing was counted. */
    double a;
    /** Count of B without that of empty samples; NaN if nothing was counted. */
    double b;
    /** 0, or why there is no count: the number of the status. */
    int32_t status;
    /** 0. */
    uint32_t reserved;
} picollo_benchmark_counts;

/** What else the machine did. Unknown numbers are NaN. */
typedef struct picollo_benchmark_disturbance {
    /** Measured blocks. */
    uint64_t block_count;
    /** Measured blocks that were disturbed from outside. */
    uint64_t disturbed_count;
    /** Measured blocks that were left out of the verdict. 0 if all count, because more than half were disturbed or
     * all were to be kept. */
    uint64_t left_out_count;
    /** Seconds that were watched: since the benchmark was made, with the warm-up. */
    double seconds;
    /** Seconds that the host took from the CPUs that the program may run on. */
    double steal_seconds;
    /** Seconds of CPU time that other programs took on these CPUs. */
    double others_seconds;
    /** Seconds in which something, this program or another, had to wait for a CPU. */
    double pressure_seconds;
    /** Lowest observed frequency of the CPU on which the benchmark was made, in hertz. */
    double frequency_low;
    /** Highest observed frequency of that CPU, in hertz. */
    double frequency_high;
    /** CPUs that the program may run on; 0: unknown. */
    uint32_t cpu_count;
    /** 0. */
    uint32_t reserved;
} picollo_benchmark_disturbance;

/** The results of a benchmark. Times are in picoseconds. */
typedef struct picollo_benchmark_outcome {
    /** The difference and the verdict, in picoseconds per call without the overhead. The two medians differ by
     * exactly the difference. They may be below zero if a call takes almost no time. */
    picollo_block_comparison blocks;
    /** Median time of an empty sample with A's number of calls, which was subtracted. */
    double overhead_a;
    /** Median time of an empty sample with B's number of calls, which was subtracted. */
    double overhead_b;
    /** Calls of A in each sample. */
    uint64_t repetitions_a;
    /** Calls of B in each sample: the same number, unless the two differ fourfold. */
    uint64_t repetitions_b;
    /** Samples of each side: two per block. */
    uint64_t sample_count;
    /** Since the benchmark was made. */
    uint64_t elapsed;
    /** Half the interval of overhead_a, at 95 %. */
    double overhead_error_a;
    /** Half the interval of overhead_b, at 95 %. */
    double overhead_error_b;
    /** Number of empty samples. */
    uint64_t empty_count;
    /** PICOLLO_BENCHMARK_.... */
    uint32_t flags;
    /** 0. */
    uint32_t reserved;
} picollo_benchmark_outcome;

/** Makes a benchmark, which may also count events on the calling thread. Unavailable events stay as entries without
 * counts.
 *
 * Requires: events leads to length events.
 * Returns: with events as picollo_session_create.
 * Threads: any thread, which becomes the opening thread.
 * Cost: allocates two histograms and some lists, reads two small files of the system; with events also as
 *   picollo_session_create. */
PICOLLO_STATUS picollo_benchmark_create(const picollo_benchmark_options *options, const picollo_event *events,
    size_t length, picollo_benchmark **out, picollo_error *error);

/** Frees a benchmark.
 *
 * Cost: with events a few system calls. */
void picollo_benchmark_free(picollo_benchmark *benchmark);

/** Reports what to run now, and begins a sample: the clock is read last. A sample that was begun but not ended is
 * discarded.
 *
 * Returns: PICOLLO_END at the end; with events as picollo_session_read.
 * Threads: opening thread only with events, else one at a time.
 * Cost: reads the clock; with events also as picollo_session_read. */
PICOLLO_STATUS picollo_benchmark_next(picollo_benchmark *benchmark, uint32_t *out_which,
    uint64_t *out_repetitions, picollo_error *error);

/** Ends the sample that was begun: the clock is read first.
 *
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT if no sample was begun; with events as picollo_session_read.
 * Threads: as picollo_benchmark_next.
 * Cost: reads the clock; now and then sorts the blocks. */
PICOLLO_STATUS picollo_benchmark_done(picollo_benchmark *benchmark, picollo_error *error);

/** Ends the sample that was begun with a time that the caller measured.
 *
 * Requires: picoseconds is the time of the whole sample.
 * Otherwise: as picollo_benchmark_done. */
PICOLLO_STATUS picollo_benchmark_done_after(picollo_benchmark *benchmark, uint64_t picoseconds,
    picollo_error *error);

/** Reports the spent share of the budget, 0 to 1. The benchmark may end long before it is 1.
 *
 * Threads: one at a time.
 * Cost: reads the clock. */
PICOLLO_STATUS picollo_benchmark_progress(const picollo_benchmark *benchmark, double *out);

/** Reports the results so far, and what else the machine did. Unknown numbers are NaN. On systems other than Linux
 * out_noise is unknown, and no block is disturbed.
 *
 * Requires: out_noise may be NULL.
 * Returns: PICOLLO_ERR_EMPTY before the first block is done; PICOLLO_ERR_OUT_OF_MEMORY.
 * Threads: one at a time.
 * Cost: sorts the blocks, unless the benchmark has ended. */
PICOLLO_STATUS picollo_benchmark_result(const picollo_benchmark *benchmark, picollo_benchmark_outcome *out,
    picollo_benchmark_disturbance *out_noise);

/** Reports how often an event occurred per call, by the event's index. The count has a status.
 *
 * Threads: one at a time. */
PICOLLO_STATUS picollo_benchmark_counter(const picollo_benchmark *benchmark, size_t index,
    picollo_benchmark_counts *out);

/** Returns the histogram of A's or B's samples in picoseconds per call, for reading. It is in single-writer mode, and
 * the benchmark is the writer.
 *
 * Requires: which is PICOLLO_BENCHMARK_A or PICOLLO_BENCHMARK_B; nobody else records into the histogram.
 * Ownership: *out outlives the benchmark.
 * Threads: one at a time. */
PICOLLO_STATUS picollo_benchmark_histogram_ref(const picollo_benchmark *benchmark, uint32_t which,
    picollo_histogram **out);

/** Writes the results: the changes in the times of samples, the verdict by blocks, and the counters.
 *
 * Requires: format is PICOLLO_TEXT_MARKDOWN or _HUMAN. Empty names read "Before" and "After".
 * Returns: PICOLLO_ERR_UNSUPPORTED for the other formats of PICOLLO_TEXT_...; PICOLLO_ERR_EMPTY before the first
 *   block is done.
 * Threads: one at a time.
 * Cost: allocates snapshots temporarily. */
PICOLLO_STATUS picollo_benchmark_format(const picollo_benchmark *benchmark, const char *title,
    const char *name_a, const char *name_b, uint32_t format, char *buffer, size_t capacity,
    size_t *out_length);

/* ----------------------------------------------------------------------------------------------------------
 * Known work: code whose cost is known in advance, to check clocks and counters.
 */

/** Runs repetitions times 256 dependent additions. Each takes one instruction and, on most processors, one cycle. The
 * loop takes two more instructions per repetition, which run in parallel with the chain.
 *
 * Cost: 256 cycles per repetition, on processors that add in one cycle. */
void picollo_work_add_chain_256(uint64_t repetitions);
#ifdef __cplusplus
}
#endif

#endif /* PICOLLO_H */
