/* Generated from ffi/src by ci/describe.sh; change it there. */
/*
 * Picollo: histograms and performance counters.
 *
 * A histogram records 64-bit values in some nanoseconds each, in about one where a single thread writes, and answers
 * percentiles with a bounded relative error. A session counts what the processor and the kernel do (cycles, branch misses,
 * page faults, ...), each event into a histogram of its own.
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
 * To begin with, a dozen functions are enough. By what one wants to do, and each section begins with more:
 *
 * - Record values: picollo_histogram_create, _record, _record_batch, _free.
 * - Time code: picollo_scope_begin, picollo_scope_end.
 * - Read percentiles: picollo_histogram_summary, picollo_summary_format; all of the counts, an interval at a time:
 *   picollo_snapshot_create, _update, _percentile_values.
 * - Count cycles, misses, faults: picollo_session_open, _read, _record, _histogram_ref; picollo_perf_probe says what can be counted.
 * - Decide whether B is faster than A: picollo_benchmark_create, _next, _done, _format; of what was recorded: picollo_compare.
 * - See it: picollo_snapshot_format_chart in a terminal, picollo_pictures_format_svg, picollo_report_format_html.
 * - Know why some were slow: picollo_exemplars_create, _begin, _end, _collect, _format.
 * - Let others watch while the program runs: picollo_segment_create, _histogram; the command picollo top shows it.
 * - Serve Prometheus or OpenTelemetry: picollo_registry_create, _add, _encode.
 * - Keep, send, merge: picollo_snapshot_encode, _decode, _merge; logs: picollo_log_format_interval, picollo_log_reader_create.
 * - Record without a call: picollo_inline.h. Record doubles: picollo_double_histogram_create.
 *
 * What holds for every function, unless it says otherwise:
 *
 * - Names are picollo_<thing>_<verb>. Parameters come in the order: the thing itself, inputs, outputs, error detail.
 * - Errors: calls that can fail return a picollo_status, PICOLLO_OK or a negative number. Recording cannot fail. "Returns" leaves
 *   out PICOLLO_OK, PICOLLO_ERR_NULL_POINTER, PICOLLO_ERR_BUFFER_TOO_SMALL (of calls with a capacity or size),
 *   PICOLLO_ERR_OUT_OF_MEMORY (of those whose cost is to allocate), what is said of options below, and
 *   PICOLLO_ERR_INVALID_ARGUMENT for texts that are not UTF-8, for an unknown code, flag or index, and for a number outside the
 *   range that is given for it.
 * - Outputs are written only on success. Exceptions are out_length, which is also reported when a buffer is too small, and
 *   picollo_error, which is written only on failure.
 * - NULL is checked, and answered by PICOLLO_ERR_NULL_POINTER, or by doing nothing where there is no status. The hot
 *   functions that do not check say so. NULL may be passed for options (all defaults), error, out_id, texts (the empty one), arrays
 *   of length or capacity 0, and where "Requires" says so. Pointers must be aligned for their type.
 * - Ownership: handles are opaque. What comes out of a call is the caller's, who gives it back by _free, which takes NULL too, once.
 *   Where there may be several owners, _retain makes one reference more, for another _free, and returns the same handle, NULL for
 *   NULL. _free is the last call with its reference. What is made from a handle keeps what it needs alive, so things may be freed in
 *   any order. A call that hands out an existing handle ends in _ref: it gives a reference, for _free. Nothing else is the caller's
 *   to free, and the library keeps no pointer to the caller's memory after a call, but for _init_in, _attach and
 *   picollo_log_reader_create.
 * - Threads: where nothing is said, a call is an "any thread" call: several threads may make it at the same time on the same
 *   object. "One at a time" calls, as those on sessions, need the caller's exclusion; "opening thread only" is for the thread that
 *   made the object.
 * - Cost: where nothing is said, there is neither allocation nor system call, nor a pass over the counters. Freeing
 *   frees the memory when it was the last reference. "Otherwise: as" a call means what its page has under the other headings.
 * - Options begin with struct_size, and zero means the default: PICOLLO_..._OPTIONS_INIT sets the one and zeroes the rest.
 *   So options made for an older or a newer version of this header work: a struct_size below that of the first version is
 *   PICOLLO_ERR_INVALID_ARGUMENT, a non-zero field that this version does not know PICOLLO_ERR_UNSUPPORTED. All other
 *   structs never change.
 * - Text, bytes and lists go into the caller's buffer, whole or not at all. The parameters are buffer (of lists: out), capacity in
 *   bytes (of lists: elements) and out_length, in this order. *out_length is the length of all. Where that is more than capacity,
 *   the answer is PICOLLO_ERR_BUFFER_TOO_SMALL, and nothing else is written; so a buffer of NULL with a capacity of 0 asks for the
 *   length. Text is UTF-8 and NUL-terminated. The NUL takes a byte of capacity, and *out_length does not count it. A buffer that is
 *   too small for a text, but has room for a NUL, begins with one.
 * - Ranges are closed: both ends belong to them.
 * - Forks: a child continues with its copies of histograms, snapshots and recorders; its copies of sessions it can only
 *   free. If another thread of the parent was in the middle of its first record, of its end, or of making or freeing a
 *   thread-local histogram at that moment, new threads of the child record through counters that all share, exactly but more slowly,
 *   and the child can make no thread-local histogram: PICOLLO_ERR_UNSUPPORTED. Per-CPU histograms are not affected by forks. (Not
 *   the child of a vfork, nor another that shares its parent's memory, before it calls exec.)
 * - Cancellation: no call acts on pthread_cancel, which would unwind through the library. It stays pending, and acts at
 *   the next such point of the caller's code. (On Linux, with the deferred type, which is the default.)
 * - Signals: picollo_histogram_record and its _n, _batch and recorder forms are async-signal-safe with dense storage:
 *   they take no lock and never wait. Interlocked and per-CPU histograms lose nothing, anywhere. In single-writer and thread-local
 *   mode, and through a recorder, nothing is lost on x86-64, where one instruction adds (in single-writer mode as long as it is the
 *   writing thread that is interrupted). On other processors a handler that interrupts a record into the same histogram can lose a
 *   count silently there: use interlocked histograms. What allocates on first touch is not for handlers: sparse storage, histograms of
 *   doubles, and the first record of a thread in thread-local mode.
 * - Unloading: the shared library stays loaded after dlclose (-z nodelete): threads that recorded by CPU have left the kernel
 *   an address inside it. What the static library is linked into must not be unloaded either, once that was done.
 * - Stack: recording, reading, text, encodings, logs and comparisons take less than 16 KiB of it, in a library that is
 *   built with optimisation.
 */
#ifndef PICOLLO_H
#define PICOLLO_H

#include <stddef.h>
#include <stdint.h>

/* Statuses are not to be passed over: C++17 and C23 warn of it, but for calls behind (void). The attribute that gcc and clang have
 * for older languages warns in spite of (void), so it has to be asked for: by PICOLLO_WARN_UNUSED, defined before this file is
 * included. PICOLLO_NODISCARD defined as nothing is silent everywhere. */
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

/** Version of this interface, counted up when a program built against an older header would no longer work. */
#define PICOLLO_ABI_VERSION 2
/** The version that this header is of: breaking changes. picollo_version is that of the library which the program runs with. */
#define PICOLLO_VERSION_MAJOR 0
/** The version that this header is of: additions. */
#define PICOLLO_VERSION_MINOR 1
/** The version that this header is of: corrections. */
#define PICOLLO_VERSION_PATCH 0

/** The ABI version of the library that the program runs with. Compare it with PICOLLO_ABI_VERSION, the one that the
 * program was compiled for.
 *
 * Returns: the version; cannot fail. */
uint32_t picollo_abi_version(void);

/** The version of the library that the program runs with, such as "0.1.0".
 *
 * Returns: a static string; never NULL.
 * Ownership: the library's; do not free it. */
const char *picollo_version(void);

/* ----------------------------------------------------------------------------------------------------------
 * Status and errors.
 *
 * Every call that can fail returns a picollo_status: PICOLLO_OK, which is 0, or one of the negative numbers below. All of
 * those but PICOLLO_END are errors.
 * Numbers are never reused; a later version may return new ones. Each function lists what it returns. Any of them that
 * returns a status, and is not handed out as a hot one, may also return PICOLLO_ERR_PANIC, which is a defect of the
 * library and is worth a report.
 */

/** 0 is success; everything else is negative, and says that nothing was delivered. */
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

/** Done. */
#define PICOLLO_OK 0
/** There is no more: what is asked again and again for the next one has come to its end. No error. */
#define PICOLLO_END (-100)
/** A pointer is NULL that must not be. */
#define PICOLLO_ERR_NULL_POINTER (-1)
/** An argument is outside its documented range, or a pointer is not aligned for what it points to. */
#define PICOLLO_ERR_INVALID_ARGUMENT (-2)
/** The allocator had no memory; nothing was changed. */
#define PICOLLO_ERR_OUT_OF_MEMORY (-3)
/** The caller's buffer is too small; out_length, where there is one, says how much is needed. */
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
/** A session of the process that forked this one, or a registry that it was at work on: it can only be freed here. */
#define PICOLLO_ERR_FORKED (-15)
/** A defect of the library, stopped at its boundary. */
#define PICOLLO_ERR_PANIC (-127)

/** A short English sentence for a status.
 *
 * Returns: a static string, also for numbers that this version does not know; never NULL.
 * Ownership: the library's; do not free it. */
const char *picollo_status_str(picollo_status status);

/* ----------------------------------------------------------------------------------------------------------
 * Handles.
 *
 * What is behind them is private. They are made by _create and the like, and given back by _free.
 */

/** A benchmark of two pieces of code. */
typedef struct picollo_benchmark picollo_benchmark;

/** A histogram of doubles. */
typedef struct picollo_double_histogram picollo_double_histogram;

/** Counts of doubles, of one interval.
 *
 * Calls that take it as const may be made from any threads at once; picollo_double_snapshot_update,
 * picollo_double_snapshot_merge (into it) and picollo_double_snapshot_free must be alone with it. */
typedef struct picollo_double_snapshot picollo_double_snapshot;

/** Collects the slowest observations of a histogram, and why they were slow. */
typedef struct picollo_exemplars picollo_exemplars;

/** A histogram: a counted reference, which picollo_histogram_free gives back; picollo_histogram_retain makes one
 * more. Whatever is made from a histogram, such as a snapshot, holds a reference of its own, so that things may be
 * freed in any order. */
typedef struct picollo_histogram picollo_histogram;

/** Reads a log of histograms (.hlog) that is in the caller's memory. */
typedef struct picollo_log_reader picollo_log_reader;

/** A counter of a registry or a segment. */
typedef struct picollo_metric_counter picollo_metric_counter;

/** A gauge of a registry. */
typedef struct picollo_metric_gauge picollo_metric_gauge;

/** Histograms, counters and gauges with names and labels. All calls may be made from any threads at once. In
 * the child of a fork it can be used, unless another thread of the parent was in the middle of a call with it: then all
 * calls but picollo_registry_free are refused with PICOLLO_ERR_FORKED, for ever. */
typedef struct picollo_registry picollo_registry;

/** A file in memory that histograms and counters lie in, for others to read. It is freed in any order with what it gave out. */
typedef struct picollo_segment picollo_segment;

/** Performance counters of one target. */
typedef struct picollo_session picollo_session;

/** Frozen counts with their totals. Holds a reference to its histogram; one that was decoded or corrected has none.
 *
 * Calls that take it as const may be made from any threads at once; picollo_snapshot_update, picollo_snapshot_merge
 * (into it) and picollo_snapshot_free must be alone with it. */
typedef struct picollo_snapshot picollo_snapshot;

/* ----------------------------------------------------------------------------------------------------------
 * Histograms.
 *
 * A histogram counts 64-bit values in buckets whose width grows with the value, so that every value is known with a
 * bounded relative error. Recording never fails, waits, or loses anything silently: values out of range are counted apart, as
 * underflow and overflow. It takes some nanoseconds by default, which is right with any number of threads, and about one in
 * single-writer mode.
 *
 * Counts are only ever added to. A reset notes the counts of its moment, and readers subtract them. So any number of
 * threads may read and reset while others record. By default any number of threads may record, too, by an atomic addition;
 * modes for one writer, and for many at high rates, are asked for by name (PICOLLO_MODE_...).
 *
 *     picollo_histogram *latency;
 *     picollo_histogram_options options = PICOLLO_HISTOGRAM_OPTIONS_INIT;
 *     options.relative_error = 0.01;
 *     options.max_trackable = 1000000000;
 *     if (picollo_histogram_create(&options, &latency) != PICOLLO_OK) ...
 *     picollo_histogram_record(latency, 1234);
 *
 * To read a histogram, take a picollo_snapshot, or a picollo_summary straight away.
 */

/** All at once. The default. */
#define PICOLLO_STORAGE_DENSE 0
/** In small chunks, on first touch. */
#define PICOLLO_STORAGE_SPARSE 1

/** Right with any number of threads, and in signal handlers: an atomic addition. The default. It has no recorder but
 * picollo_atomic_recorder. */
#define PICOLLO_MODE_INTERLOCKED 0

/** One thread records at a time, any number of threads read: a plain addition, in a third to a fifth of the
 * time. Two threads that record at once lose counts, and nothing says so. */
#define PICOLLO_MODE_SINGLE_WRITER 1
/** Many threads at high rates: a plain addition into the thread's own shard. */
#define PICOLLO_MODE_THREAD_LOCAL 2

/** Many threads at high rates, however many they are, and signal handlers: a plain addition into the shard of the CPU that
 * the thread runs on, by a restartable sequence. That takes Linux on x86-64 and glibc 2.35 or later; elsewhere, and in threads that
 * are not registered for it, it is an atomic addition, just as exact. A shard for each CPU that was recorded on, none for threads.
 * Dense, with counters of 64 bits, on the heap; it has no recorder: PICOLLO_ERR_UNSUPPORTED. */
#define PICOLLO_MODE_PER_CPU 4
/** Leave out the room for a reset: a third of the memory; picollo_histogram_reset is PICOLLO_ERR_UNSUPPORTED. */
#define PICOLLO_HISTOGRAM_NO_LIVE_RESET (1 << 0)

/** Count up to the largest value that the array of an HdrHistogram with this max_trackable has room for: the end of a block, and two
 * blocks at least. 8,191 for 5,000 and 3 digits. picollo_layout_of_options tells it. */
#define PICOLLO_HISTOGRAM_WHOLE_ARRAY (1 << 1)

/** For significant_digits: the buckets of an HdrHistogram with 0 significant digits, which are powers of two. (0 there is the default of
 * relative_error.) */
#define PICOLLO_ZERO_DIGITS 255

/** What a histogram is made from.
 *
 * A range whose values lie far above zero, or a larger error, takes less memory: 28,672 counters for all 64-bit values
 * at 0.001, 104 for 10,000 to 30,000 at 0.01. */
typedef struct picollo_histogram_options {
    uint32_t struct_size;
    /** PICOLLO_MODE_...: who may record, and how. 0: PICOLLO_MODE_INTERLOCKED, any number of threads. */
    uint32_t mode;
    /** PICOLLO_STORAGE_...: when memory is allocated. */
    uint32_t storage;
    /** Width of a counter: 32 or 64; 0 means 64. A 32-bit counter that wraps is told of as a lost count. */
    uint32_t counter_bits;
    /** Largest distance between a value and the midpoint of its bucket, in proportion. 0, negative or NaN: 0.001;
     * clamped to 1e-6 ..= 0.1. The block size is the smallest power of two that is at least 0.5 / relative_error. */
    double relative_error;
    /** 1 ..= 5, or PICOLLO_ZERO_DIGITS: the buckets of an HdrHistogram with that many significant digits, whatever relative_error says.
     * 0: unused. */
    uint32_t significant_digits;
    /** PICOLLO_HISTOGRAM_NO_LIVE_RESET | PICOLLO_HISTOGRAM_WHOLE_ARRAY, or 0. */
    uint32_t flags;
    /** Smallest value to count; smaller ones are underflow. Below max_trackable. */
    uint64_t min_trackable;
    /** Largest value to count; larger ones are overflow. 0: UINT64_MAX. Both ends include the whole bucket they are in. */
    uint64_t max_trackable;
    /** Sparse storage: limit on its memory, 0 for none. What does not fit is counted as lost. */
    uint64_t max_bytes;
    /** HdrHistogram's lowest discernible value: values are counted in units of the largest power of two in it, so that those below a
     * block of units take fewer counters. 0 or 1: none. At most max_trackable, and below 2^62 / block size. Recording takes longer with a
     * unit: recorders have length 0, and call the library. */
    uint64_t unit;
} picollo_histogram_options;
#define PICOLLO_HISTOGRAM_OPTIONS_INIT {sizeof(picollo_histogram_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/** Makes an empty histogram on the heap.
 *
 * Returns: PICOLLO_ERR_UNSUPPORTED for what this version does not offer.
 * Cost: allocates and zeroes 16 bytes a counter (64-bit; half of that for 32-bit, and half without live reset). */
PICOLLO_STATUS picollo_histogram_create(const picollo_histogram_options *options, picollo_histogram **out);

/** Says which of the options picollo_histogram_create and its like refuse, and why, in the error's message: "counter_bits is 7, and
 * has to be 0, 32 or 64". Makes nothing.
 *
 *     if (picollo_histogram_create(&options, &histogram) != PICOLLO_OK) {
 *         picollo_error error = {0};
 *         picollo_histogram_explain(&options, &error);
 *         fprintf(stderr, "%s\n", error.message);
 *     }
 *
 * Requires: options as for picollo_histogram_create.
 * Returns: PICOLLO_OK where nothing speaks against them; otherwise what picollo_histogram_create returns.
 * Cost: microseconds. */
PICOLLO_STATUS picollo_histogram_explain(const picollo_histogram_options *options, picollo_error *error);

/** Tells how much memory picollo_histogram_init_in needs for the same options.
 *
 * Requires: options as for picollo_histogram_create.
 * Returns: as picollo_histogram_create, with PICOLLO_ERR_UNSUPPORTED also for what cannot live in the caller's
 *   memory.
 * Cost: none to speak of. (The size itself: 256 bytes, and three cells for each bucket, two of them for the baseline
 *   of resets, as everywhere; one cell with PICOLLO_HISTOGRAM_NO_LIVE_RESET.) */
PICOLLO_STATUS picollo_histogram_required_size(const picollo_histogram_options *options, size_t *out_size,
    size_t *out_align);

/** Makes an empty histogram in the caller's memory: static, on a stack, from another allocator, or shared between
 * processes, where the others use picollo_histogram_attach. Dense histograms, interlocked (the default) or with one writer.
 *
 * Requires: memory has size bytes, is aligned as picollo_histogram_required_size says, and is used for nothing else
 *   until the histogram and everything made from it are freed.
 * Returns: as picollo_histogram_create.
 * Ownership: the memory stays the caller's. References to such a histogram are not counted: picollo_histogram_free
 *   does nothing to it, and the memory has to outlive its snapshots, recorders and scopes.
 * Cost: zeroes the memory it needs. */
PICOLLO_STATUS picollo_histogram_init_in(void *memory, size_t size, const picollo_histogram_options *options,
    picollo_histogram **out);

/** Gives builds without an operating system something to draw the identities of histograms from, by which snapshots know
 * them: there they are drawn from this number, 0 unless given, and a counter, so that they are the same in every run. Give
 * one that no other run has, before anything is made or read, where histograms lie in memory that keeps its content over a
 * restart, or that processors share. Elsewhere it is mixed into what is at hand anyway. */
void picollo_seed_identities(uint64_t seed);

/** Opens a histogram that picollo_histogram_init_in made in this memory, in this process or another one. The memory may
 * be at another address in each process.
 *
 * Snapshots know a histogram by a number of 128 bits that is kept in the memory, whoever maps it and where. Where
 * picollo_histogram_init_in makes the next one in its place, it is a new one to them. A copy of the memory passes for the
 * original: of two that go on side by side, give each its own snapshots.
 *
 * Requires: as for picollo_histogram_init_in; whoever else can write to the memory is trusted to do so through this
 *   library only.
 * Returns: PICOLLO_ERR_BUFFER_TOO_SMALL for memory that ends inside the histogram; PICOLLO_ERR_CORRUPT when there is no histogram, or a damaged one;
 *   PICOLLO_ERR_INCOMPATIBLE when another version or word size made it.
 * Ownership: as for picollo_histogram_init_in.
 * Threads: any thread. In single-writer mode there is one writer among all processes. */
PICOLLO_STATUS picollo_histogram_attach(void *memory, size_t size, picollo_histogram **out);

/** Makes one reference more. */
picollo_histogram *picollo_histogram_retain(picollo_histogram *histogram);

/** Gives back one reference. The memory goes with the last one: snapshots, recorders and sessions hold theirs. */
void picollo_histogram_free(picollo_histogram *histogram);

/** Counts one value. Values out of range are counted as underflow or overflow.
 *
 * This is the call that is meant to be made millions of times a second; to save even the call, see picollo_recorder
 * and picollo_histogram_record_batch.
 *
 * Requires: histogram is not NULL; this is not checked.
 * Threads: any thread, unless the histogram was made with PICOLLO_MODE_SINGLE_WRITER: then one at a time. Beside any
 *   number of readers and resets.
 * Cost: in single-writer mode about that of calling an empty function, 18 instructions on x86-64; in the default
 *   mode an atomic addition more. No lock, allocation or system call. */
void picollo_histogram_record(picollo_histogram *histogram, uint64_t value);

/** Counts one value count times. A count of 0 does nothing. What a counter cannot hold is counted as lost: when 64 bits
 * wrap around, picollo_counts.lost is UINT64_MAX. (A value recorded by itself is not checked for that: 2^64 of them
 * take centuries. Should record_n have filled a counter to the last few, they are not counted there.)
 *
 * Requires: histogram is not NULL; this is not checked.
 * Otherwise: as picollo_histogram_record. */
void picollo_histogram_record_n(picollo_histogram *histogram, uint64_t value, uint64_t count);

/** Counts every value of an array. Same counts as calling picollo_histogram_record for each, in less time. Does nothing
 * when histogram or values is NULL.
 *
 * Requires: values leads to length values, aligned, which nobody changes meanwhile.
 * Threads: as picollo_histogram_record.
 * Cost: about a nanosecond a value in single-writer mode, an atomic addition a value in the default mode. */
void picollo_histogram_record_batch(picollo_histogram *histogram, const uint64_t *values, size_t length);

/** Counts a value and, when it is longer than the interval at which values were expected, also those that a stalled
 * caller did not send meanwhile: value - interval, value - 2 * interval, ... down to the interval (the correction for
 * coordinated omission). An expected_interval of 0 adds nothing. Does nothing when histogram is NULL.
 *
 * Threads: as picollo_histogram_record.
 * Cost: one record for each value added, at most one for each counter. */
void picollo_histogram_record_corrected(picollo_histogram *histogram, uint64_t value,
    uint64_t expected_interval);

/** Counts a value when it lies between exact bounds, which may be tighter than the buckets at the ends of the range.
 * Otherwise it is counted as underflow or overflow, and the caller is told.
 *
 * Returns: PICOLLO_OK when it was counted in a bucket; PICOLLO_ERR_INVALID_ARGUMENT when it was counted as underflow
 *   or overflow.
 * Threads: as picollo_histogram_record.
 * Cost: somewhat more than picollo_histogram_record. */
PICOLLO_STATUS picollo_histogram_record_in_range(picollo_histogram *histogram, uint64_t value, uint64_t min,
    uint64_t max);

/** Starts counting anew: later reads count from here. Writers are not disturbed, and each event is on exactly one side
 * of the reset. What snapshots report as deltas is not affected. A process that is killed inside the call, or a fork beside
 * it, leaves a reset that never happened.
 *
 * Returns: PICOLLO_ERR_UNSUPPORTED for a histogram made with PICOLLO_HISTOGRAM_NO_LIVE_RESET; PICOLLO_ERR_BUSY in
 *   shared memory that another program overwrites; with sparse storage also PICOLLO_ERR_OUT_OF_MEMORY, with nothing
 *   changed, where there is no room for the counts to start from.
 * Threads: any thread, at any time.
 * Cost: copies all counters. */
PICOLLO_STATUS picollo_histogram_reset(picollo_histogram *histogram);

/** Tells how much memory the histogram takes now, in bytes, without its snapshots. */
PICOLLO_STATUS picollo_histogram_footprint(const picollo_histogram *histogram, size_t *out_bytes);

/* ----------------------------------------------------------------------------------------------------------
 * Recording without a call.
 *
 * A recorder holds what a record needs, so that the compiler can inline it: include picollo_inline.h and use
 * picollo_recorder_record. Bindings to other languages may do the same; the rule is this, for a value v:
 *
 *     e     = 63 - block_scale - leading_zeros(v | (1 << block_scale))
 *     index = (e << block_scale) + (v >> e) - first_index              (modulo 2^64)
 *
 * If index < length, add one to cell number index (of counter_bits bits) by a relaxed atomic load and store.
 * Otherwise, and when a 32-bit cell is all ones, call picollo_histogram_record(histogram, v) instead. The counts are
 * the same. Where one instruction adds, a signal handler cannot come between: a 32-bit cell that is zero after it has
 * wrapped, which picollo_histogram_record_n(histogram, v, 2^32) tells, leaving the cell as it is.
 *
 * A recorder adds without an atomic operation, so a mode that has one is asked for by name:
 *
 *     options.mode = PICOLLO_MODE_THREAD_LOCAL;         (a recorder for each thread, or PICOLLO_MODE_SINGLE_WRITER: one)
 *     if (picollo_histogram_create(&options, &latency) != PICOLLO_OK) ...
 *     picollo_recorder recorder;
 *     if (picollo_histogram_recorder(latency, PICOLLO_INLINE_VERSION, &recorder) != PICOLLO_OK) ...
 *     picollo_recorder_record(&recorder, 1234);
 *     picollo_recorder_release(&recorder);
 *
 * Where many threads share one histogram of the default mode, picollo_atomic_recorder has its cells: the rule is the same,
 * but one is added to the cell by one atomic addition, and there is nothing to release.
 */

/** Version of the rule above and of picollo_recorder. */
#define PICOLLO_INLINE_VERSION 1

/** What recording without a call needs. One thread at a time may record through it, alone or by turns with
 * picollo_histogram_record on the same histogram.
 *
 * Do not change it. Copies are fine while the one that was filled in is not released. */
typedef struct picollo_recorder {
    /** Number of cells; 0 where the layout has a unit, so that every value is handed to picollo_histogram_record. */
    uint64_t length;
    /** Logical index of the first cell. */
    uint64_t first_index;
    /** Binary logarithm of the block size. */
    uint32_t block_scale;
    /** Width of a cell, 32 or 64. */
    uint32_t counter_bits;
    /** The cells: uint32_t or uint64_t, by counter_bits. */
    void *counters;
    /** Takes what the cells cannot. */
    picollo_histogram *histogram;
    /** Private. */
    void *owner;
    void *reserved;
} picollo_recorder;

/** What recording without a call needs, of a histogram that any number of threads record into.
 *
 * Do not change it. Copies are fine, and so is one for all threads. It borrows the histogram and has nothing to release. */
typedef struct picollo_atomic_recorder {
    /** Number of cells; 0 where the layout has a unit, so that every value is handed to picollo_histogram_record. */
    uint64_t length;
    /** Logical index of the first cell. */
    uint64_t first_index;
    /** Binary logarithm of the block size. */
    uint32_t block_scale;
    uint32_t reserved;
    /** The cells. */
    uint64_t *counters;
    /** Takes what the cells cannot. */
    picollo_histogram *histogram;
} picollo_atomic_recorder;

/** Fills in a recorder for a dense histogram made with PICOLLO_MODE_SINGLE_WRITER, or for one made with
 * PICOLLO_MODE_THREAD_LOCAL, where the recorder owns a shard until it is released, whatever happens to the thread.
 *
 * Requires: inline_version is PICOLLO_INLINE_VERSION, as the caller was compiled with.
 * Returns: PICOLLO_ERR_UNSUPPORTED for another inline_version, and for a mode or storage that has no recorder: the
 *   default mode, PICOLLO_MODE_INTERLOCKED, has none, so ask for PICOLLO_MODE_THREAD_LOCAL or
 *   PICOLLO_MODE_SINGLE_WRITER; PICOLLO_ERR_OUT_OF_MEMORY where there is no room for a shard.
 * Ownership: the recorder holds a reference to the histogram until picollo_recorder_release.
 * Threads: any thread; see picollo_recorder for its use.
 * Cost: none to speak of; in thread-local mode it may allocate a shard. */
PICOLLO_STATUS picollo_histogram_recorder(picollo_histogram *histogram, uint32_t inline_version,
    picollo_recorder *out);

/** Fills in an atomic recorder for a dense histogram with counters of 64 bits made with PICOLLO_MODE_INTERLOCKED, the
 * default. Record by picollo_atomic_recorder_record of picollo_inline.h.
 *
 * Requires: inline_version is PICOLLO_INLINE_VERSION, as the caller was compiled with.
 * Returns: PICOLLO_ERR_UNSUPPORTED for another inline_version, for any other mode or storage, and for counters of 32
 *   bits, whose wraps the library counts.
 * Ownership: borrows the histogram: whoever records keeps a reference to it. */
PICOLLO_STATUS picollo_histogram_atomic_recorder(picollo_histogram *histogram, uint32_t inline_version,
    picollo_atomic_recorder *out);

/** Gives back what the recorder holds, and clears it. NULL is allowed, and so is a recorder that was released; both do
 * nothing.
 *
 * Requires: neither the recorder nor a copy of it is used to record any more.
 * Threads: any thread, once.
 * Cost: as picollo_histogram_free. */
void picollo_recorder_release(picollo_recorder *recorder);

/* ----------------------------------------------------------------------------------------------------------
 * Snapshots: reading a histogram.
 *
 * A snapshot holds the counts of a histogram as they were at one moment, so that everything read from it agrees, while
 * recording goes on. It is made once and updated as often as one likes, without allocating:
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
 * max(1, ceil(rank / 100 * total)), decided in integers for ranks with up to nine decimals. Underflow, overflow and
 * lost counts are not part of it.
 */

/** lower + step / 2: at most step / 2 away from every value of the bucket; exact where step is 1. */
#define PICOLLO_VALUE_MIDPOINT 0
/** The smallest value of the bucket. */
#define PICOLLO_VALUE_LOWER 1
/** The largest value of the bucket. */
#define PICOLLO_VALUE_UPPER 2
/** What was counted since the reset; by a session since its base. */
#define PICOLLO_SINCE_RESET 0
/** What was counted since the previous update; by a session between the last two reads. */
#define PICOLLO_SINCE_PREVIOUS 1
/** Count the value's own bucket whole. */
#define PICOLLO_RANK_WHOLE_BUCKETS 0
/** Count of the value's own bucket the share up to where the value lies in it. */
#define PICOLLO_RANK_INTERPOLATED 1
/** All buckets from the first to the last. */
#define PICOLLO_BUCKETS_ALL 0
/** Buckets with counts only. */
#define PICOLLO_BUCKETS_NON_EMPTY 1

/** A run of values that share one count. */
typedef struct picollo_bucket {
    /** Smallest value of the bucket. */
    uint64_t lower;
    /** Largest value of the bucket: the range is closed, so that the last bucket can end at UINT64_MAX. */
    uint64_t upper;
    /** How many values share the count: upper - lower + 1. */
    uint64_t step;
    /** How many observations fell into it. */
    uint64_t count;
    /** Index among the counters of its histogram. */
    uint64_t storage_index;
    /** Index among the counters of a histogram of the full range. */
    uint64_t logical_index;
} picollo_bucket;

/** A percentile: the first bucket whose cumulative count reaches the rank's target. */
typedef struct picollo_percentile {
    /** The rank asked for, 0 to 100. */
    double rank;
    /** The bucket's equivalent value. */
    uint64_t value;
    /** Nearest rank: max(1, ceil(rank / 100 * total)); saturates at UINT64_MAX. Zero only in the summary of an empty snapshot. */
    uint64_t target_count;
    /** The bucket, with its count. */
    picollo_bucket bucket;
} picollo_percentile;

/** Totals of a snapshot. They saturate at UINT64_MAX; what is decided by a total, such as percentiles, is decided by the exact
 * one. */
typedef struct picollo_counts {
    /** Observations in range. */
    uint64_t total;
    /** Observations below the range. */
    uint64_t underflow;
    /** Observations above the range. */
    uint64_t overflow;
    /** Observations missing from the buckets, or from the two above: cells that wrapped around, or no memory for a cell. A wrap
     * leaves 2^32 behind for cells of 32 bits, and 2^64 for wider ones and for the counts above, which is told as UINT64_MAX:
     * so that then means as many, or more. */
    uint64_t lost;
} picollo_counts;

/** Makes a snapshot and updates it for the first time, to all counts since the reset.
 *
 * Returns: PICOLLO_ERR_BUSY in shared memory that another program overwrites.
 * Ownership: *out holds a reference to the histogram.
 * Cost: allocates 16 bytes a counter, copies all counters. */
PICOLLO_STATUS picollo_snapshot_create(const picollo_histogram *histogram, picollo_snapshot **out);

/** Tells how much memory picollo_snapshot_init_in needs for this histogram. */
PICOLLO_STATUS picollo_snapshot_required_size(const picollo_histogram *histogram, size_t *out_size,
    size_t *out_align);

/** Makes a snapshot in the caller's memory, and updates it for the first time.
 *
 * Requires: memory has size bytes, is aligned as picollo_snapshot_required_size says, and is used for nothing else,
 *   nor moved, until picollo_snapshot_free.
 * Returns: PICOLLO_ERR_BUSY in shared memory that another program overwrites.
 * Ownership: the memory stays the caller's; the reference to the histogram is given back by picollo_snapshot_free.
 * Cost: copies all counters. */
PICOLLO_STATUS picollo_snapshot_init_in(void *memory, size_t size, const picollo_histogram *histogram,
    picollo_snapshot **out);

/** Takes the counts of the histogram anew, while writers and other readers go on. Every update is where the next delta
 * starts from: deltas add up to all that was recorded, whatever was reset meanwhile.
 *
 * Requires: since is PICOLLO_SINCE_....
 * Returns: PICOLLO_ERR_UNSUPPORTED for a snapshot with no histogram behind it, such as a decoded one;
 *   PICOLLO_ERR_BUSY in shared memory that another program overwrites (PICOLLO_SINCE_RESET only): the snapshot is
 *   empty then, and the next delta starts where it would have.
 * Threads: any thread, one at a time with this snapshot, also while others record and reset.
 * Cost: copies all counters: tens of microseconds for 28,672. */
PICOLLO_STATUS picollo_snapshot_update(picollo_snapshot *snapshot, uint32_t since);

/** Frees a snapshot, and gives back its reference to the histogram. Memory that the
 * caller provided stays the caller's, to be reused. */
void picollo_snapshot_free(picollo_snapshot *snapshot);

/** Tells the totals. */
PICOLLO_STATUS picollo_snapshot_counts(const picollo_snapshot *snapshot, picollo_counts *out);

/** Finds the percentiles at many ranks, in any order.
 *
 * Requires: ranks and out have length elements each and do not overlap; value_selection is PICOLLO_VALUE_....
 * Returns: PICOLLO_ERR_EMPTY when nothing was recorded.
 * Cost: one pass over the counters for ranks in ascending order, otherwise one for every 64 ranks. */
PICOLLO_STATUS picollo_snapshot_percentiles(const picollo_snapshot *snapshot, const double *ranks,
    size_t length, uint32_t value_selection, picollo_percentile *out);

/** As picollo_snapshot_percentiles, the values alone.
 *
 * Otherwise: as picollo_snapshot_percentiles. */
PICOLLO_STATUS picollo_snapshot_percentile_values(const picollo_snapshot *snapshot, const double *ranks,
    size_t length, uint32_t value_selection, uint64_t *out);

/** Tells which percentage of the observations is at or below a value: those in buckets up to and including its own. 0
 * below the range, 100 above.
 *
 * Requires: interpolate is PICOLLO_RANK_WHOLE_BUCKETS or PICOLLO_RANK_INTERPOLATED.
 * Returns: PICOLLO_ERR_EMPTY when nothing was recorded.
 * Cost: one pass over the counters up to the value's. */
PICOLLO_STATUS picollo_snapshot_rank_of_value(const picollo_snapshot *snapshot, uint64_t value,
    uint32_t interpolate, double *out_rank);

/** Finds the bucket that a value falls into, with its count.
 *
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT for a value out of range. */
PICOLLO_STATUS picollo_snapshot_bucket_of(const picollo_snapshot *snapshot, uint64_t value,
    picollo_bucket *out);

/** Lists the buckets with their counts, in ascending order.
 *
 * Requires: non_empty_only is PICOLLO_BUCKETS_ALL or PICOLLO_BUCKETS_NON_EMPTY.
 * Cost: two passes over the counters. */
PICOLLO_STATUS picollo_snapshot_buckets(const picollo_snapshot *snapshot, uint32_t non_empty_only,
    picollo_bucket *out, size_t capacity, size_t *out_length);

/* ----------------------------------------------------------------------------------------------------------
 * Layouts: how values map to buckets, and what that costs.
 *
 * A layout is plain numbers. It is asked for before a histogram is made, of a histogram, or of a snapshot; what it tells
 * of values holds for all that are in the same layout, and needs neither.
 *
 * What HdrHistogram calls the lowest, highest and median equivalent value of a value are the lower, the upper, and
 * lower + step / 2 of its bucket, as picollo_layout_bucket_of tells it; the next non-equivalent value is upper + 1. A layout that
 * this library did not fill in is PICOLLO_ERR_INVALID_ARGUMENT.
 */

/** The rule that maps values to counters. */
typedef struct picollo_layout {
    /** Smallest value that is counted for sure. */
    uint64_t min_trackable;
    /** Largest value that is counted for sure. */
    uint64_t max_trackable;
    /** Logical index of the first counter. */
    uint64_t first_index;
    /** Number of counters. */
    uint64_t length;
    /** 0.5 / block size: the largest distance between a value and the midpoint of its bucket, in proportion. With a unit
     * above 1 from a block of units on; smaller values are at most half a unit away. */
    double relative_error;
    /** Binary logarithm of the block size. */
    uint32_t block_scale;
    /** Significant digits (1 ..= 5) of the HdrHistogram that has these buckets; 0 where there is none, or, with a block_scale of 0, one
     * of 0 digits. */
    uint32_t significant_digits;
    /** What the first two blocks of buckets count in: a power of two, 2 or more in what an HdrHistogram with such a lowest
     * discernible value encoded, and 1 otherwise. The layout is that of values divided by the unit, rounded down, and
     * multiplied by it again. */
    uint64_t unit;
} picollo_layout;

/** What a histogram takes, in bytes. */
typedef struct picollo_footprint {
    /** Number of counters of the layout. */
    uint64_t counters;
    /** When the histogram is made. */
    uint64_t initial_bytes;
    /** What it grows by: a shard for each thread that records at the same time (thread-local), for each CPU that is recorded
     * on (per-CPU), a chunk of counters and its baseline (sparse). 0 where it does not grow. */
    uint64_t step_bytes;
    /** The most it can come to; UINT64_MAX where nothing limits it. */
    uint64_t max_bytes;
    /** A snapshot of it. */
    uint64_t snapshot_bytes;
} picollo_footprint;

/** Tells the layout that a histogram with these options has.
 *
 * Requires: options as for picollo_histogram_create.
 * Returns: as picollo_histogram_create. */
PICOLLO_STATUS picollo_layout_of_options(const picollo_histogram_options *options, picollo_layout *out);

/** Tells the layout of a snapshot. */
PICOLLO_STATUS picollo_snapshot_layout(const picollo_snapshot *snapshot, picollo_layout *out);

/** Finds the bucket of a value, whether the value is in range or not: the values that cannot be told from it. Its count
 * is 0; its storage_index is UINT64_MAX when the value is out of range. Two values share a bucket when its lower is the
 * same of both.
 *
 * Requires: layout was filled in by this library; its relative_error, significant_digits and unit are not looked at. */
PICOLLO_STATUS picollo_layout_bucket_of(const picollo_layout *layout, uint64_t value, picollo_bucket *out);

/** Tells the layout with the same blocks and the same unit over another range: for sums of snapshots of several ranges
 * (picollo_snapshot_create_from_layout).
 *
 * Requires: as picollo_layout_bucket_of; min_trackable is below max_trackable; out may be layout.
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT also where max_trackable is below the unit. */
PICOLLO_STATUS picollo_layout_with_range(const picollo_layout *layout, uint64_t min_trackable,
    uint64_t max_trackable, picollo_layout *out);

/** Tells how much memory a histogram with these options will take, of any mode and storage, without making one.
 * (picollo_histogram_required_size tells it for memory of the caller's; picollo_histogram_footprint for a histogram that
 * is there.)
 *
 * Requires: options as for picollo_histogram_create.
 * Returns: as picollo_histogram_create. */
PICOLLO_STATUS picollo_histogram_estimate(const picollo_histogram_options *options, picollo_footprint *out);

/** Counts the observations between two values, of whole buckets: all that share a bucket with a value of the range, both
 * ends included.
 *
 * Returns: PICOLLO_OK, with 0 for a range that is empty or not in the snapshot's.
 * Cost: one pass over the counters of the range. */
PICOLLO_STATUS picollo_snapshot_count_between(const picollo_snapshot *snapshot, uint64_t lowest,
    uint64_t highest, uint64_t *out);

/* ----------------------------------------------------------------------------------------------------------
 * Steps: ways through the counts of a snapshot, as HdrHistogram's iterators have them.
 *
 * A step ends at a value, and holds the counts of all buckets up to and including that value's, as far as no step before
 * it does: a bucket is never divided. All go on until everything recorded is covered; an empty snapshot has none. (All
 * buckets, and those with counts, are listed by picollo_snapshot_buckets.)
 *
 * The functions fill an array, and tell how many steps there are where it is too small:
 *
 *     size_t length = 0;
 *     picollo_snapshot_linear_steps(snapshot, 1000, NULL, 0, &length);
 *     picollo_step *steps = malloc(length * sizeof *steps);
 *     picollo_snapshot_linear_steps(snapshot, 1000, steps, length, &length);
 */

/** Nobody gets more steps than this: parameters that ask for them are PICOLLO_ERR_INVALID_ARGUMENT. */
#define PICOLLO_MAX_STEPS 16777216

/** A step of an iteration. */
typedef struct picollo_step {
    /** Where the step before ended; 0 for the first. (HdrHistogram's valueIteratedFrom.) */
    uint64_t from;
    /** Where this one ends. Steps of percentiles end with a bucket. (valueIteratedTo.) */
    uint64_t to;
    /** Counts that came with this step; saturates at UINT64_MAX. */
    uint64_t added_count;
    /** Counts of this and all steps before; saturates at UINT64_MAX. */
    uint64_t cumulative_count;
    /** The percentage of all counts that is. */
    double rank;
    /** The percentage at which a step of percentiles was due; rank for the other steps. */
    double rank_level;
} picollo_step;

/** Lists steps of equal width: they end at width - 1, 2 * width - 1, ...
 *
 * Requires: width is not 0.
 * Cost: twice that of one pass over the counters and the steps. */
PICOLLO_STATUS picollo_snapshot_linear_steps(const picollo_snapshot *snapshot, uint64_t width,
    picollo_step *out, size_t capacity, size_t *out_length);

/** Lists steps of growing width: they end at first - 1, first * base - 1, first * base * base - 1, ..., rounded down.
 *
 * Requires: first is not 0, base is above 1.
 * Otherwise: as picollo_snapshot_linear_steps. */
PICOLLO_STATUS picollo_snapshot_logarithmic_steps(const picollo_snapshot *snapshot, uint64_t first,
    double base, picollo_step *out, size_t capacity, size_t *out_length);

/** Lists steps of percentiles, which get closer by half with each half of the distance to 100 %; the last one is at 100.
 * They end with a bucket each, and several may end with the same. These are the rows of picollo_snapshot_format_hgrm.
 *
 * Requires: ticks_per_half_distance is the number of steps in each half of the distance, not 0.
 * Otherwise: as picollo_snapshot_linear_steps. */
PICOLLO_STATUS picollo_snapshot_percentile_steps(const picollo_snapshot *snapshot,
    uint32_t ticks_per_half_distance, picollo_step *out, size_t capacity, size_t *out_length);

/* ----------------------------------------------------------------------------------------------------------
 * Inside a bucket: as if its observations lay evenly in it.
 *
 * A bucket tells how many observations lie between its ends, not where. Other calls report a value that stands for the
 * bucket. To spread its observations evenly over it is nearer to the truth where they are spread so, as those of
 * fine-grained measurements mostly are, and never further from it than the bucket is wide.
 */

/** Finds the interpolated percentiles at many ranks, in any order: for each the smallest value whose interpolated rank
 * reaches it. The inverse of picollo_snapshot_rank_of_value with PICOLLO_RANK_INTERPOLATED; in the same
 * buckets as picollo_snapshot_percentiles.
 *
 * Requires: ranks and out have length elements each and do not overlap.
 * Otherwise: as picollo_snapshot_percentiles. */
PICOLLO_STATUS picollo_snapshot_interpolated_percentiles(const picollo_snapshot *snapshot,
    const double *ranks, size_t length, uint64_t *out);

/* ----------------------------------------------------------------------------------------------------------
 * Merging: snapshots of any layouts, added and subtracted, with a report of what could not be placed exactly.
 *
 * Each bucket's count goes, whole, to the bucket that its midpoint falls into (PICOLLO_PLACEMENT_MIDPOINT). Between
 * the same buckets, and into coarser ones, that is exact: the result is what recording there would have given, in
 * whatever order things are merged. Into finer buckets it is right within the error of the coarser. What lies
 * outside the range is counted as underflow or overflow there; nothing vanishes.
 */

/** A bucket's count goes, whole, to the bucket of its midpoint. */
#define PICOLLO_PLACEMENT_MIDPOINT 0
/** A bucket's count is divided among all buckets that it has values of, in proportion, losing none to rounding. */
#define PICOLLO_PLACEMENT_SPREAD 1

/** A bucket's count goes, whole, to the bucket of its smallest value, as in the add of every HdrHistogram: a sum of intervals of a log
 * is theirs. */
#define PICOLLO_PLACEMENT_LOW_ENDS 2

/** What became of the counts that were added or subtracted. */
typedef struct picollo_merged {
    /** Counts that went to a finer bucket than they came from, within the error of theirs. */
    uint64_t refined;
    /** Counts that were in range there and are an underflow here. */
    uint64_t underflow;
    /** Counts that were in range there and are an overflow here. */
    uint64_t overflow;
    /** Counts for which a bucket had no room: no count goes above UINT64_MAX. They are among the lost of the result. */
    uint64_t lost;
} picollo_merged;

/** Adds all counts of another snapshot, of any layout, by the rule of picollo_histogram_add. What does not fit into 64
 * bits is counted as lost. The next update replaces what was merged.
 *
 * Requires: into and other are not the same snapshot; placement is PICOLLO_PLACEMENT_...; out is NULL, or leads to
 *   where a report goes of what could not be placed exactly.
 * Threads: any thread, one at a time with into.
 * Cost: one pass over the counters of other. */
PICOLLO_STATUS picollo_snapshot_merge(picollo_snapshot *into, const picollo_snapshot *other,
    uint32_t placement, picollo_merged *out);

/** Takes away all counts of another snapshot, of any layout, from where picollo_snapshot_merge would have put them; its
 * underflow, overflow and lost counts too. So it undoes a merge, and tells what an interval added to an earlier one. The
 * next update replaces what is left.
 *
 * Requires: from and other are not the same snapshot; out is NULL, or leads to where the report goes.
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT, with nothing changed, when there is less than is to be taken away.
 * Threads: any thread, one at a time with from.
 * Cost: two passes over the counters of other. */
PICOLLO_STATUS picollo_snapshot_subtract(picollo_snapshot *from, const picollo_snapshot *other,
    picollo_merged *out);

/** Adds all counts of a snapshot, of any layout. Exact where the buckets are the same, or coarser here; where they are
 * finer here, each count goes to the bucket that holds the midpoint of its own, or its low end, or is spread. What lies outside the range
 * here is counted as underflow or overflow; underflow, overflow and lost counts are added to theirs. What wraps around
 * 32-bit counters is not in the report: a snapshot has it among the lost.
 *
 * Requires: placement is PICOLLO_PLACEMENT_...; out may be NULL.
 * Threads: as picollo_histogram_record, which it is a kind of.
 * Cost: one pass over the counters of the snapshot. */
PICOLLO_STATUS picollo_histogram_add(picollo_histogram *histogram, const picollo_snapshot *other,
    uint32_t placement, picollo_merged *out);

/** Makes an empty snapshot, with no histogram behind it: to merge others into, such as the intervals of a log, in the layout of
 * one of them.
 *
 * Requires: layout was filled in by this library; see picollo_layout_with_range for another range.
 * Cost: allocates 8 bytes a counter. */
PICOLLO_STATUS picollo_snapshot_create_from_layout(const picollo_layout *layout, picollo_snapshot **out);

/** Makes a copy of a snapshot, with no histogram behind it: to keep what the next update replaces, and to merge into.
 *
 * Cost: allocates 8 bytes a counter, copies all counters. */
PICOLLO_STATUS picollo_snapshot_copy(const picollo_snapshot *snapshot, picollo_snapshot **out);

/* ----------------------------------------------------------------------------------------------------------
 * Summaries: what most people want to know.
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
    /** When the counts were taken, in nanoseconds since 1970; 0 where no clock was at hand. */
    uint64_t timestamp_unix_nanos;
    /** PICOLLO_VALUE_...: which value of its bucket each percentile reports. */
    uint32_t value_selection;
    /** 0; reserved. */
    uint32_t flags;
    /** At the ranks of PICOLLO_SUMMARY_PERCENTILES, ascending. */
    picollo_percentile percentiles[PICOLLO_SUMMARY_PERCENTILES];
} picollo_summary;

/** Summarises a snapshot. One without counts has a summary too: totals and targets 0, mean and deviation NaN.
 *
 * Requires: value_selection is PICOLLO_VALUE_....
 * Cost: two passes over the counters: tens of microseconds for 28,672. */
PICOLLO_STATUS picollo_snapshot_summary(const picollo_snapshot *snapshot, uint32_t value_selection,
    picollo_summary *out);

/** Summarises a histogram as it is now, since its reset. Makes a snapshot and frees it again: to summarise often, or
 * without allocating, keep a picollo_snapshot, update it and use picollo_snapshot_summary.
 *
 * Requires: value_selection is PICOLLO_VALUE_....
 * Returns: PICOLLO_ERR_BUSY in shared memory that another program overwrites.
 * Cost: allocates 16 bytes a counter for the time of the call; three passes over the counters. */
PICOLLO_STATUS picollo_histogram_summary(const picollo_histogram *histogram, uint32_t value_selection,
    picollo_summary *out);

/* ----------------------------------------------------------------------------------------------------------
 * Text.
 *
 * Text goes into the caller's buffer, UTF-8 with a NUL at the end. *out_length is its length in bytes, without the
 * NUL. When buffer is too small, the answer is PICOLLO_ERR_BUFFER_TOO_SMALL with the same *out_length, and of the
 * buffer only buffer[0] is written, with 0. So, to have room for sure:
 *
 *     size_t length = 0;
 *     picollo_status status = picollo_summary_format(&summary, title, PICOLLO_TEXT_JSON, NULL, 0, &length);
 *     // status is PICOLLO_ERR_BUFFER_TOO_SMALL, as there is no buffer, and length is set.
 *     char *text = malloc(length + 1);
 *     status = picollo_summary_format(&summary, title, PICOLLO_TEXT_JSON, text, length + 1, &length); // PICOLLO_OK
 *
 * Text for people (PICOLLO_TEXT_HUMAN) is in the unit that the title ends with, in parentheses or behind a
 * comma: "Latency (ns)", "Requests, us"; "(ns)" is a unit without a title. Known are ps, ns, us, ms, s and their long names, bytes,
 * cycles and instructions. Of those numbers have three digits and a prefix, 4.51 us (with the letter mu) or 526 ns; all others are
 * as they are, 4,509,696. A summary:
 *
 *     Latency: 99,940 values, 60 below the range
 *         P50      P90      P99    P99.9      max     mean
 *     3.60 us  7.46 us  9.15 us  9.66 us  9.79 us  4.33 us
 *
 * Percentiles that the count cannot support, as P99.9 of 92, are left out. Diffs, comparisons and benchmarks begin with the answer
 * in a sentence, which says no more than the verdict does.
 *
 * 4096 bytes are enough for the Markdown of any summary with a short title. Titles and names are NUL-terminated UTF-8;
 * NULL is the same as "". They are escaped for the format, and column widths count Unicode scalar values.
 */

/** A heading and a table, for reports and terminals. Numbers are grouped and rounded. */
#define PICOLLO_TEXT_MARKDOWN 0
/** One line without a line break, for logs. Numbers are grouped and rounded. */
#define PICOLLO_TEXT_LINE 1
/** One JSON object, for programs. Numbers are exact; what does not exist is null. */
#define PICOLLO_TEXT_JSON 2

/** A few lines for people, at most 80 columns wide, without a line break at the end: the answer first, short, with three digits
 * and units that fit. See "Text for people". */
#define PICOLLO_TEXT_HUMAN 4
/** A part of a page, in HTML: of picollo_exemplars_format alone. For all others it is an unknown format. */
#define PICOLLO_TEXT_HTML 6

/** Writes a summary as text.
 *
 * Requires: format is PICOLLO_TEXT_....
 * Cost: microseconds for a line, tens of microseconds for a table. */
PICOLLO_STATUS picollo_summary_format(const picollo_summary *summary, const char *title, uint32_t format,
    char *buffer, size_t capacity, size_t *out_length);

/** Writes what changed from summary a, the older, to summary b, the newer, as text: both their numbers, the changes
 * in per cent, and the D-value (Cohen's d: the difference of the means over the pooled standard deviation).
 *
 * Requires: format is PICOLLO_TEXT_.... Empty names read "Before" and "After" in Markdown and in a line.
 * Otherwise: as picollo_summary_format. */
PICOLLO_STATUS picollo_summary_format_diff(const picollo_summary *a, const picollo_summary *b,
    const char *title, const char *name_a, const char *name_b, uint32_t format, char *buffer, size_t capacity,
    size_t *out_length);

/** Writes a percentile as text: P99=9,152 [138 / 519]: [9,088, 9,216) 386. That is rank and value; storage and
 * logical index of the bucket; its range, half open; its count. With a target_count of 0 it is P99=n/a.
 *
 * Requires: a capacity of 192 is enough for any percentile of a snapshot.
 * Cost: a microsecond. */
PICOLLO_STATUS picollo_percentile_format(const picollo_percentile *percentile, char *buffer, size_t capacity,
    size_t *out_length);

/** Writes the buckets as text, each on a line of its own: P0.073=2,008 [0 / 381]: [2,000, 2,016) 146. As
 * picollo_percentile_format, for the observation in the middle of the bucket: its number among all is before +
 * ceil(count / 2), and its rank that number / total * 100. So an only observation is at rank 100.
 *
 * Requires: non_empty_only is PICOLLO_BUCKETS_ALL or PICOLLO_BUCKETS_NON_EMPTY; value_selection is
 *   PICOLLO_VALUE_....
 * Cost: a microsecond for each bucket listed. */
PICOLLO_STATUS picollo_snapshot_format_buckets(const picollo_snapshot *snapshot, uint32_t non_empty_only,
    uint32_t value_selection, char *buffer, size_t capacity, size_t *out_length);

/* ----------------------------------------------------------------------------------------------------------
 * Interchange: snapshots as bytes, for files, networks and the tools of HdrHistogram.
 *
 * Three encodings are written; these and HdrHistogram's older ones are read, as bytes or as base64.
 *
 *     size_t length = 0;
 *     picollo_snapshot_encode(snapshot, PICOLLO_ENCODING_NATIVE, NULL, 0, &length);
 *     void *bytes = malloc(length);
 *     picollo_snapshot_encode(snapshot, PICOLLO_ENCODING_NATIVE, bytes, length, &length);
 *     ...
 *     picollo_snapshot *copy;
 *     if (picollo_snapshot_decode(bytes, length, 0, &copy) != PICOLLO_OK) ...
 *
 * HdrHistogram's encodings hold the counts of its own layouts (see significant_digits) and nothing else: what was out of
 * range or lost, the smallest trackable value and the time are left out. The native one holds everything.
 *
 * A decoded or corrected snapshot has no histogram behind it: everything can be read from it, and it can be merged into
 * another one or another one into it, but picollo_snapshot_update is PICOLLO_ERR_UNSUPPORTED.
 */

/** HdrHistogram's V2. */
#define PICOLLO_ENCODING_HDR_V2 0

/** HdrHistogram's V2, compressed: what its logs hold. Without an allocator, or without the feature compression, it is
 * a valid zlib stream that is not compressed. */
#define PICOLLO_ENCODING_HDR_V2_COMPRESSED 1
/** Picollo's own: everything that a snapshot holds, with a checksum. The format is described in docs/interchange.md. */
#define PICOLLO_ENCODING_NATIVE 2
/** Columns, with mean, deviation, maximum and total below. */
#define PICOLLO_HGRM_COLUMNS 0
/** Comma-separated values. */
#define PICOLLO_HGRM_CSV 1

/** Limit on the counters of a decoded snapshot where the caller sets none: 48 MiB of counts, room for every HdrHistogram
 * of up to 5 significant digits. */
#define PICOLLO_DEFAULT_MAX_COUNTERS 6291456

/** Writes a snapshot as bytes, without a NUL at the end.
 *
 * Requires: encoding is PICOLLO_ENCODING_....
 * Returns: PICOLLO_ERR_INCOMPATIBLE for what HdrHistogram's encodings have no room for: blocks that are not those of
 *   0 to 5 significant digits, a value or a count of 2^63 or more; PICOLLO_ERR_OUT_OF_MEMORY (compressed only).
 * Cost: two passes over the counters. The compressed encoding allocates about 0.5 MB for the time of the call, and
 *   is made whole also to ask for its length. */
PICOLLO_STATUS picollo_snapshot_encode(const picollo_snapshot *snapshot, uint32_t encoding, void *buffer,
    size_t capacity, size_t *out_length);

/** Writes a snapshot as base64 text: the compressed encoding gives the HISTFAAA... of HdrHistogram's logs.
 *
 * Requires: encoding is PICOLLO_ENCODING_....
 * Returns: as picollo_snapshot_encode, and PICOLLO_ERR_OUT_OF_MEMORY for every encoding.
 * Cost: as picollo_snapshot_encode; allocates the text for the time of the call. */
PICOLLO_STATUS picollo_snapshot_encode_base64(const picollo_snapshot *snapshot, uint32_t encoding,
    char *buffer, size_t capacity, size_t *out_length);

/** Makes a snapshot of encoded data: HdrHistogram's V2, V1 or V0, as they are or compressed, of its histograms of integers or
 * doubles, or the native encoding; or any of them in base64, with white space around it ignored. Which it is tells the data
 * itself.
 *
 * What comes from others is checked from beginning to end before anything is made of it: no data makes this call
 * crash, hang or allocate more than max_counters allows, which is 8 bytes a counter for the result, at most 18 more
 * while it is inflated, and the bytes of base64.
 *
 * Requires: bytes leads to length bytes; max_counters is the largest number of counters that the result may have, or
 *   0 for PICOLLO_DEFAULT_MAX_COUNTERS.
 * Returns: PICOLLO_ERR_CORRUPT for what is none of these, or broken; PICOLLO_ERR_OUT_OF_MEMORY when the result would
 *   have more counters than max_counters, or there is no memory; PICOLLO_ERR_UNSUPPORTED for a later version of the
 *   native encoding.
 * Cost: a few passes over the data; allocates the result, and memory to inflate and decode into. */
PICOLLO_STATUS picollo_snapshot_decode(const void *bytes, size_t length, uint64_t max_counters,
    picollo_snapshot **out);

/** Makes a snapshot of the first of several encodings that follow one another, as picollo_snapshot_decode does of one, and reports
 * where the next one begins. They may be of different kinds.
 *
 *     for (size_t at = 0, taken; at < length; at += taken) {
 *         if (picollo_snapshot_decode_first(bytes + at, length - at, 0, &snapshot, &taken) != PICOLLO_OK) break;
 *         ...
 *     }
 *
 * Each says in front how long it is, and is held to it: an encoding without the checksum of its zlib stream (HdrHistogram.NET) takes
 * the length that it announces, and one with a part of the checksum is corrupt, whatever follows. But V0 that is not compressed has
 * counts to the end, and takes everything. Base64 ends at white space, which it takes too.
 *
 * Requires: as picollo_snapshot_decode.
 * Returns: PICOLLO_OK, with *out_taken at least 1 and at most length; otherwise as picollo_snapshot_decode, with
 *   nothing written.
 * Cost: as picollo_snapshot_decode, whatever follows; that of base64 looks for its end. */
PICOLLO_STATUS picollo_snapshot_decode_first(const void *bytes, size_t length, uint64_t max_counters,
    picollo_snapshot **out, size_t *out_taken);

/** Tells what the values of a snapshot have to be multiplied with for those of the histogram of doubles that it was decoded from:
 * HdrHistogram encodes its DoubleHistogram as one of integers and a ratio. It stays with copies, and no encoding here has it.
 *
 * Returns: PICOLLO_OK, with 1.0 for everything else, as written by whoever encoded it: it may be anything. */
PICOLLO_STATUS picollo_snapshot_value_ratio(const picollo_snapshot *snapshot, double *out_ratio);

/** Writes the percentile distribution of a snapshot as HdrHistogram for Java does (.hgrm), for its plotters: rows at
 * percentiles that get closer by half with each half of the distance to 100 %. Values are the upper ends of buckets,
 * with as many decimals as the layout has significant digits.
 *
 * Requires: ticks_per_half_distance is the number of rows in each half of the distance, at most 1,000,000, or 0 for
 *   5; value_scale is what values are divided by, positive, or 0 for 1; csv is PICOLLO_HGRM_COLUMNS or PICOLLO_HGRM_CSV.
 * Returns: PICOLLO_OK, also for an empty snapshot, which has no rows.
 * Cost: a microsecond for each row, and as much again. */
PICOLLO_STATUS picollo_snapshot_format_hgrm(const picollo_snapshot *snapshot,
    uint32_t ticks_per_half_distance, double value_scale, uint32_t csv, char *buffer, size_t capacity,
    size_t *out_length);

/** Makes a copy that is corrected for coordinated omission: for every value longer than the interval at which values were
 * expected, also those that a stalled caller did not send meanwhile, as by picollo_histogram_record_corrected. Buckets
 * stand for their upper ends, as in HdrHistogram. What was out of range is copied, not corrected.
 *
 * Returns: PICOLLO_ERR_UNSUPPORTED when there is a lot to correct and more than UINT64_MAX values were recorded.
 * Ownership: *out has no histogram behind it.
 * Cost: at most that of sorting the counters, however many values are added; allocates 16 bytes a counter. */
PICOLLO_STATUS picollo_snapshot_corrected(const picollo_snapshot *snapshot, uint64_t expected_interval,
    picollo_snapshot **out);

/* ----------------------------------------------------------------------------------------------------------
 * Logs of histograms (.hlog): the format of HdrHistogram's log tools, a line for each interval.
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
 * Headers are optional; comments, legends and empty lines may be anywhere, lines may end in any way, and case does not
 * matter in headers. Timestamps are absolute, or relative to a base time. Where BaseTime is missing, they are taken to
 * be relative to StartTime if the first one is more than a year before it, as in Java; where StartTime is missing, it is
 * the first timestamp. A version line or a StartTime after an interval begins another log, whose times are found anew.
 * Numbers may be written as in any culture (.NET), and the second field may be the end (C, which puts it where others have the
 * length).
 *
 * A log is written as text, into the caller's buffer: picollo_log_format_header once, and picollo_log_format_interval
 * for each interval.
 */

/** A line of a log, but for its histogram. Times are NaN as long as they are not known. */
typedef struct picollo_log_interval {
    /** When the interval begins, in seconds since 1970 (or since whatever the log's times count from). */
    double start_seconds;
    /** When it ends. */
    double end_seconds;
    /** The largest value in millions, as written in the log; NaN where it is no number. The histogram knows better. */
    double max;
    /** When the log starts, in seconds since 1970. */
    double log_start_seconds;
    /** What is added to the timestamps of the log. */
    double log_base_seconds;
    /** Bytes of the log that were read so far (of the copy, where the text is in UTF-16). */
    uint64_t position;
    /** The number of the line that was read last, from 1 on. */
    uint64_t line;
    /** What tells histograms of the same time apart; "" without one. UTF-8, NUL-terminated. It is the reader's, and there
     * until the next interval is read. */
    const char *tag;
    /** Bytes of the tag. */
    size_t tag_length;
} picollo_log_interval;

/** Makes a reader of a log, in UTF-8, or in UTF-16 of either order with its mark in front (HdrHistogram.NET writes it): that is copied
 * once, in UTF-8.
 *
 * Requires: text is not NULL: it leads to length bytes, which stay as they are until the reader is freed, with or
 *   without a NUL.
 * Ownership: *out borrows the text. Snapshots do not.
 * Cost: none to speak of: nothing is read yet; a text in UTF-16 is copied. */
PICOLLO_STATUS picollo_log_reader_create(const char *text, size_t length, picollo_log_reader **out);

/** Reads the next interval. Its histogram is not decoded, so that picking from a large log by tag and time costs little:
 * picollo_log_reader_decode does that, for those that are wanted.
 *
 * Returns: PICOLLO_END at the end of the log, and before a last line without a line end that cannot be read or whose
 *   histogram is cut, if only of its padding, since that is still being written, and before nothing but NULs;
 *   PICOLLO_ERR_CORRUPT for a line that is no interval: the next call goes on after it (a broken histogram is not
 *   noticed here); PICOLLO_ERR_OUT_OF_MEMORY for a tag; PICOLLO_ERR_NULL_POINTER (reader, out_interval), and then
 *   nothing is read. After the first three *out_interval is written as well: how far the log was read and its times,
 *   with NaN and "" in place of an interval.
 * Threads: any thread, one at a time with this reader.
 * Cost: that of reading a line; of a last line without a line end, that of decoding it. */
PICOLLO_STATUS picollo_log_reader_next(picollo_log_reader *reader, picollo_log_interval *out_interval);

/** Decodes the histogram of the interval that was read last. max_counters is as in picollo_snapshot_decode. Where it says no time of its own, its time is the end of the
 * interval. It may be done again.
 *
 * Returns: PICOLLO_ERR_EMPTY when no interval was read, the last line read was none, or at the end; otherwise as
 *   picollo_snapshot_decode.
 * Ownership: *out needs neither the reader nor the text.
 * Threads: any thread, one at a time with this reader.
 * Cost: that of picollo_snapshot_decode. */
PICOLLO_STATUS picollo_log_reader_decode(const picollo_log_reader *reader, uint64_t max_counters,
    picollo_snapshot **out);

/** Frees a reader. The text is the caller's again; snapshots stay. */
void picollo_log_reader_free(picollo_log_reader *reader);

/** Writes the lines that a log begins with: the comment, the version of the format, StartTime, and the names of the
 * fields.
 *
 * There is no BaseTime: readers take the timestamps of intervals to be relative to the start if the first one is more
 * than a year before it, and absolute otherwise. Who wants to be sure adds a line "#[BaseTime: 0.000 (seconds since
 * epoch)]", or another number, to be added to all timestamps.
 *
 * Requires: start_seconds is when the log starts, in seconds since 1970, or NaN to leave it out; comment is
 *   NUL-terminated UTF-8 of any number of lines, or NULL.
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT for a comment that is not UTF-8, an infinite start_seconds, and one beyond
 *   10^15.
 * Cost: microseconds. */
PICOLLO_STATUS picollo_log_format_header(double start_seconds, const char *comment, char *buffer,
    size_t capacity, size_t *out_length);

/** Writes the line of an interval, with its line break: the snapshot in PICOLLO_ENCODING_HDR_V2_COMPRESSED, as base64.
 *
 * Requires: start_seconds is when the interval begins, in seconds since 1970 or since the StartTime of the log (see
 *   picollo_log_format_header), and length_seconds how long it is; tag is NUL-terminated UTF-8, or NULL or "" for
 *   none, and holds no comma, space, line end or control character but the tab.
 * Returns: PICOLLO_ERR_INCOMPATIBLE as picollo_snapshot_encode; PICOLLO_ERR_INVALID_ARGUMENT for such a tag, and
 *   times that are not finite or beyond 10^15.
 * Cost: as picollo_snapshot_encode_base64, also to ask for the length. */
PICOLLO_STATUS picollo_log_format_interval(const picollo_snapshot *snapshot, double start_seconds,
    double length_seconds, const char *tag, char *buffer, size_t capacity, size_t *out_length);

/* ----------------------------------------------------------------------------------------------------------
 * Comparing: is B really faster than A, and by how much?
 *
 * A quantile of a snapshot is known only so well; how well, its interval tells. A comparison has the interval of the
 * difference of two quantiles, and a verdict: faster or slower when all of the interval lies beyond a margin, which is the
 * larger of a threshold and of what can be told apart at all, as the width of a bucket, and no evidence otherwise. Beside it stand Mann and Whitney's and
 * Kolmogorov and Smirnov's tests, and measures of how large the effect is. docs/comparing.md explains them.
 *
 *     picollo_comparison compared;
 *     if (picollo_compare(before, after, NULL, &compared) == PICOLLO_OK && compared.verdict == PICOLLO_VERDICT_SLOWER)
 *         printf("slower by %g to %g\n", compared.difference_lower, compared.difference_upper);
 *
 * All of it holds for observations that are independent of each other, and a histogram does not know the order in which
 * they came. What was measured in an order, in blocks of A and B next to each other, picollo_compare_blocks judges.
 */

/** The interval of the difference reaches into the margin: neither faster nor slower, as far as can be seen. Not the same as
 * equal: see smallest_detectable. */
#define PICOLLO_VERDICT_NO_EVIDENCE 0
/** B's values are smaller, by more than the margin. */
#define PICOLLO_VERDICT_FASTER 1
/** B's values are larger, by more than the margin. */
#define PICOLLO_VERDICT_SLOWER 2
/** Set when there are too few observations for an end of an interval. */
#define PICOLLO_COMPARISON_TOO_FEW (1 << 0)
/** Set when the whole interval of the difference lies inside the margin: the two are the same, as far as it matters. */
#define PICOLLO_COMPARISON_WITHIN_MARGIN (1 << 1)
/** Set when observations were out of range or lost: they are in none of the numbers, on either side. */
#define PICOLLO_COMPARISON_OUT_OF_RANGE (1 << 2)
/** Set when the buckets of the two differ: ranks are then compared by those of the coarser. */
#define PICOLLO_COMPARISON_LAYOUTS_DIFFER (1 << 4)
/** Set when the blocks depend on those before them: the interval is wider for it, up to all of their range. */
#define PICOLLO_COMPARISON_AUTOCORRELATED (1 << 5)
/** Set when the margin is what can be told apart at all, and not what matters: the option resolution, or the width of a bucket. */
#define PICOLLO_COMPARISON_MARGIN_IS_RESOLUTION (1 << 6)

/** Set when the whole interval of the difference lies inside a margin that is what can be told apart at all: below what this
 * measurement can tell, neither equal nor different. */
#define PICOLLO_COMPARISON_BELOW_RESOLUTION (1 << 7)
/** Set when other programs or the host disturbed too much of the measurement, so that nothing is proven: the verdict is no evidence. */
#define PICOLLO_COMPARISON_NOISY (1 << 8)

/** What to compare and what counts. */
typedef struct picollo_compare_options {
    uint32_t struct_size;
    /** 0. */
    uint32_t flags;
    /** Which quantile to compare, between 0 and 1. 0: 0.5, the median. */
    double quantile;
    /** Confidence of the intervals, between 0 and 1. 0: 0.95. */
    double confidence;
    /** Differences up to this share of A's quantile do not matter. 0: 0.01, one per cent; negative: no such threshold. */
    double relative_threshold;
    /** Differences up to this do not matter, in units of the values. */
    double absolute_threshold;
    /** How often smallest_detectable would be seen, between 0 and 1. 0: 0.8. */
    double power;
    /** Differences up to this cannot be told apart, in units of the values. 0: any can, but for the width of buckets. */
    double resolution;
} picollo_compare_options;
#define PICOLLO_COMPARE_OPTIONS_INIT {sizeof(picollo_compare_options), 0, 0, 0, 0, 0, 0, 0}

/** A quantile of a snapshot, and the interval that holds the quantile of what the observations are a sample of.
 *
 * The ends are order statistics: observation number lower_count and number upper_count, in ascending order. They are
 * chosen by the binomial distribution, whatever the values are distributed like; see picollo_snapshot_quantile_interval. */
typedef struct picollo_quantile_interval {
    /** The quantile asked for, between 0 and 1. */
    double quantile;
    /** The confidence asked for, between 0 and 1. */
    double confidence;
    /** The confidence that the interval has: a little more than was asked for, as observations come in ones. Less only where
     * there are too few of them, and an end is missing that is not a limit of all values. */
    double coverage;
    /** Observations in range. */
    uint64_t total_count;
    /** The number of the observation that is the quantile of the snapshot: the nearest rank. */
    uint64_t target_count;
    /** The midpoint of its bucket. */
    uint64_t value;
    /** The smallest value of the bucket of observation number lower_count; 0 where there is none. */
    uint64_t lower;
    /** The largest value of the bucket of observation number upper_count; UINT64_MAX where there is none. */
    uint64_t upper;
    /** The midpoint of the bucket that lower is the end of; 0 where there is none. */
    uint64_t lower_midpoint;
    /** The midpoint of the bucket that upper is the end of; UINT64_MAX where there is none. */
    uint64_t upper_midpoint;
    /** The number of the observation at the lower end; 0 where there are too few for one. */
    uint64_t lower_count;
    /** The number of the observation at the upper end; 0 where there are too few for one. */
    uint64_t upper_count;
    /** The width of the widest of the three buckets: what the snapshot does not tell apart. */
    uint64_t bucket_width;
} picollo_quantile_interval;

/** How snapshot B differs from snapshot A. See picollo_compare. */
typedef struct picollo_comparison {
    /** A's quantile and its interval. */
    picollo_quantile_interval a;
    /** B's quantile and its interval. */
    picollo_quantile_interval b;
    /** B's quantile less A's, of midpoints. */
    double difference;
    /** The lower end of the interval of the difference, of midpoints; minus infinity where there are too few observations. */
    double difference_lower;
    /** The upper end of the interval of the difference, of midpoints; infinity where there are too few observations. */
    double difference_upper;
    /** The width of the widest bucket that took part: the true difference may lie so much further out at either end. */
    double bucket_width;
    /** What the interval has to lie beyond: the larger of the threshold and of the bucket width. */
    double margin;
    /** The true difference that this many observations, so much spread, would have told from none four times out of five, or as
     * often as the options say; infinity where there are too few. */
    double smallest_detectable;
    /** Mann and Whitney's U: of all pairs, those in which B's value is the larger, ties counted half. */
    double mann_whitney_u;
    /** How many standard deviations U is from its expectation, with B's sign. */
    double mann_whitney_z;
    /** The probability of a U this far out, on either side, were there no difference. */
    double mann_whitney_p;
    /** The common-language effect: the probability that a value of B is larger than one of A, ties counted half. */
    double common_language;
    /** Cliff's delta: the probability that a value of B is larger than one of A less the probability that it is smaller. */
    double cliffs_delta;
    /** Kolmogorov and Smirnov's distance: the largest between the two cumulative distributions, at the ends of buckets. */
    double ks_distance;
    /** At most the probability of such a distance, were there no difference: conservative, as it takes no account of buckets. */
    double ks_p;
    /** Cohen's d: the difference of the means over the pooled standard deviation; NaN where that is zero. */
    double cohens_d;
    /** PICOLLO_VERDICT_...: what it amounts to. */
    uint32_t verdict;
    /** PICOLLO_COMPARISON_.... */
    uint32_t flags;
} picollo_comparison;

/** What a series of pairs of blocks says of the difference between A and B. */
typedef struct picollo_block_comparison {
    /** Pairs of blocks. */
    uint64_t block_count;
    /** The confidence asked for, between 0 and 1. */
    double confidence;
    /** The confidence that the interval has. */
    double coverage;
    /** The median of A's blocks; above an overhead, see [compare_blocks_above]. */
    double median_a;
    /** The median of B's blocks; above an overhead, see [compare_blocks_above]. */
    double median_b;
    /** The median of the differences within pairs, B less A. */
    double difference;
    /** The lower end of its interval; minus infinity where there are too few blocks for one. */
    double difference_lower;
    /** The upper end of its interval; infinity where there are too few blocks for one. */
    double difference_upper;
    /** What a difference has to exceed to count. */
    double margin;
    /** The true difference that would be told from none four times out of five, or as often as the options say; infinity where
     * there are too few blocks. */
    double smallest_detectable;
    /** The correlation of each difference with the next. */
    double lag1;
    /** How many times larger the variance of their mean is than that of as many independent ones. */
    double inflation;
    /** PICOLLO_VERDICT_.... */
    uint32_t verdict;
    /** PICOLLO_COMPARISON_.... */
    uint32_t flags;
    /** What can be told apart at all: the option. What is smaller, A or B or the difference, is not known. */
    double resolution;
} picollo_block_comparison;

/** What earlier runs say of a new one. */
typedef struct picollo_run_comparison {
    /** Earlier runs. */
    uint64_t run_count;
    /** The confidence asked for, between 0 and 1: one less the rate of alarms on unchanged code. */
    double confidence;
    /** The rate of alarms at most, whatever runs are distributed like, if only their order does not matter: 2 / (run_count +
     * 1). */
    double alarm_bound;
    /** Of the earlier runs. */
    double mean;
    /** The standard deviation of the earlier runs. */
    double deviation;
    /** The smallest of the earlier runs. */
    double lowest;
    /** The largest of the earlier runs. */
    double highest;
    /** The new run. */
    double value;
    /** The new run less the mean. */
    double difference;
    /** The lower end of its interval; minus infinity where there are too few runs for one. */
    double difference_lower;
    /** The upper end of its interval; infinity where there are too few runs for one. */
    double difference_upper;
    /** What a difference has to exceed to count. */
    double margin;
    /** The true difference that would be told from none four times out of five, or as often as the options say; infinity where
     * there are too few runs. */
    double smallest_detectable;
    /** The correlation of each run with the next. */
    double lag1;
    /** How many times larger the variance of their mean is than that of as many independent ones. */
    double inflation;
    /** PICOLLO_VERDICT_.... */
    uint32_t verdict;
    /** PICOLLO_COMPARISON_.... */
    uint32_t flags;
    /** What can be told apart at all: the option. */
    double resolution;
} picollo_run_comparison;

/** Tells a quantile, and the interval that holds the true one, of which the observations are a sample. It is made of order
 * statistics, chosen by the binomial distribution, so that it is exact whatever the values are distributed like.
 *
 * Requires: quantile is between 0 and 1, neither included; so is confidence, for which 0 stands for 0.95.
 * Returns: PICOLLO_ERR_EMPTY when nothing was recorded.
 * Cost: one pass over the counters, and some microseconds. */
PICOLLO_STATUS picollo_snapshot_quantile_interval(const picollo_snapshot *snapshot, double quantile,
    double confidence, picollo_quantile_interval *out);

/** Compares snapshot a, the older, with snapshot b, the newer. Their layouts may differ.
 *
 * Returns: PICOLLO_ERR_EMPTY when one of the two has no observations.
 * Cost: some passes over the counters of both: tens to hundreds of microseconds, whatever the number of
 *   observations. */
PICOLLO_STATUS picollo_compare(const picollo_snapshot *a, const picollo_snapshot *b,
    const picollo_compare_options *options, picollo_comparison *out);

/** Compares two series of blocks, a[i] measured next to b[i], such as times of A and of B, by the differences within pairs.
 * What changes slowly changes both. Tells also whether the differences depend on each other.
 *
 * Requires: a and b have length finite elements each; options are NULL for the defaults, and their quantile is not
 *   looked at: the median is compared.
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT for elements that are not finite; PICOLLO_ERR_EMPTY for a length of 0.
 * Cost: sorts three times; allocates 8 bytes a block for the time of the call. */
PICOLLO_STATUS picollo_compare_blocks(const double *a, const double *b, size_t length,
    const picollo_compare_options *options, picollo_block_comparison *out);

/** Compares a run with earlier ones of the same thing, the oldest first, one value of each, such as the median of what it measured:
 * whether it is beyond what the spread between those predicts. Runs on different days differ though the code does not, and no number
 * of observations within a run says by how much.
 *
 * Requires: earlier has length finite elements. Their quantile is not looked at, and where they do not name a
 *   confidence it is 0.99: of runs of unchanged code that are distributed normally one in a hundred stands out, and
 *   of others at most 2 in length + 1. With fewer than 5 earlier runs there is no interval, and
 *   PICOLLO_COMPARISON_TOO_FEW is set.
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT for values that are not finite; PICOLLO_ERR_EMPTY for a length of 0.
 * Cost: some passes over the runs. */
PICOLLO_STATUS picollo_compare_runs(const double *earlier, size_t length, double value,
    const picollo_compare_options *options, picollo_run_comparison *out);

/** Writes a comparison as text: what changed from summary a to summary b, as picollo_summary_format_diff writes it, and
 * below it intervals, effects and the verdict. See "Text" for the formats.
 *
 * Requires: a and b are summaries of the snapshots that were compared; format is PICOLLO_TEXT_.... Empty names read
 *   "Before" and "After" in Markdown and in a line.
 * Otherwise: as picollo_summary_format. */
PICOLLO_STATUS picollo_comparison_format(const picollo_comparison *comparison, const picollo_summary *a,
    const picollo_summary *b, const char *title, const char *name_a, const char *name_b, uint32_t format,
    char *buffer, size_t capacity, size_t *out_length);

/* ----------------------------------------------------------------------------------------------------------
 * Figures of counts of events, as instructions per cycle, and how well they are known.
 *
 *     const double counts[] = {3e6, 2e6, 5e6, 4e6}; (two scopes: instructions and cycles of each)
 *     picollo_figure_estimate ipc;
 *     if (picollo_figure_compute("ipc", "instructions cycles", counts, 2, 0, &ipc, NULL) == PICOLLO_OK)
 *         printf("%g instructions per cycle, %g to %g\n", ipc.value, ipc.lower, ipc.upper);
 *
 * docs/counters.md lists the figures, with their events, and says how intervals are made.
 */

/** There are too few scopes for an interval, fewer than two: its ends are NaN. */
#define PICOLLO_FIGURE_FEW_SCOPES (1 << 0)
/** In some scopes an event was not counted: they are left out. */
#define PICOLLO_FIGURE_PARTIAL (1 << 1)

/** A figure of many scopes: the figure of the sums of events, and the interval of its true value. */
typedef struct picollo_figure_estimate {
    /** The figure of the sums, never the mean of the scopes' own figures. */
    double value;
    /** The lower end of the interval; NaN where there are too few scopes. */
    double lower;
    /** Its upper end. */
    double upper;
    /** The confidence that was asked for. */
    double confidence;
    /** How many scopes are in it. */
    uint64_t scopes;
    /** PICOLLO_FIGURE_.... */
    uint32_t flags;
    /** 0. */
    uint32_t reserved;
} picollo_figure_estimate;

/** Estimates a figure of many scopes: of the sums of events, never the mean of the scopes' own figures, with the interval that holds the
 * true one. Scopes may be of unequal sizes.
 *
 * Requires: figure is not NULL, the name of a figure; events is not NULL, the names of the columns, with a space
 *   between; values has a row for each of scopes scopes and a column for each event, NaN where it was not counted;
 *   confidence is between 0 and 1, neither included, or 0 for 0.95.
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT (the name, an event of the figure that is none of the columns, confidence);
 *   PICOLLO_ERR_NOT_COUNTED where an event was counted in no scope: error says which; PICOLLO_ERR_EMPTY of no
 *   scopes, and where it would be divided by zero.
 * Cost: some tens of nanoseconds a scope. */
PICOLLO_STATUS picollo_figure_compute(const char *figure, const char *events, const double *values,
    size_t scopes, double confidence, picollo_figure_estimate *out, picollo_error *error);

/* ----------------------------------------------------------------------------------------------------------
 * Pictures of snapshots: in a terminal, as SVG, and as a report that is one HTML file. They are text (see there), need
 * nothing outside of them, and allocate nothing. docs/pictures.md shows them.
 *
 *     const picollo_snapshot *both[] = {before, after};
 *     const char *titles[] = {"before", "after"};
 *     picollo_report_format_html(both, titles, 2, "Requests", "ns", NULL, 0, &length);
 *     char *html = malloc(length + 1);
 *     picollo_report_format_html(both, titles, 2, "Requests", "ns", html, length + 1, &length);
 *
 * Axes begin and end where the observations do, or a little further out, and are logarithmic where those span much. Of
 * nothing a picture says "no observations". The unit is what values were recorded in: "ps", "ns", "us", "ms" and "s" make
 * times of the labels, any other stands at the axis, NULL and "" are none.
 */

/** Light, or dark where the reader prefers that. */
#define PICOLLO_THEME_AUTO 0
/** On white. */
#define PICOLLO_THEME_LIGHT 1
/** On black. */
#define PICOLLO_THEME_DARK 2
/** The value at each percentile, on a scale where every further nine (90, 99, 99.9, ...) has the same width. */
#define PICOLLO_PICTURE_PERCENTILES 0
/** Which share of the observations is in each of many equal parts of the axis of values. */
#define PICOLLO_PICTURE_DENSITY 1

/** The snapshots from left to right as columns, values upwards, and how many observations there are as the color. Not
 * for terminals. */
#define PICOLLO_PICTURE_HEAT_MAP 2

/** The density on one line without a line break, from the smallest observation to the bucket of the percentile at 99.9 in
 * equal parts of a logarithmic axis (a linear one where they lie close). What is above is left out, of up to a thousand
 * observations nothing. A part without observations is a space; in ASCII the others are shades (.:-=+*#%@). In a terminal
 * only. */
#define PICOLLO_PICTURE_SPARKLINE 3
/** Unicode's blocks and lines, of up to 3 bytes each. */
#define PICOLLO_CHARACTERS_UNICODE 0
/** Nothing but ASCII, besides what the caller gives. */
#define PICOLLO_CHARACTERS_ASCII 1

/** How an SVG looks. */
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

/** Writes a chart of some lines, with axes and labels, for a terminal.
 *
 * Requires: picture is PICOLLO_PICTURE_PERCENTILES, _DENSITY or _SPARKLINE; title and unit are NULL for none;
 *   columns and rows are those of the plot, without what is written around it, at most 240 and 100, more are the
 *   same, or 0 for 64 and 10; a sparkline has neither title, unit nor rows, and for 0 columns 40; ascii is
 *   PICOLLO_CHARACTERS_....
 * Cost: two passes over the counters, and some microseconds for each line. */
PICOLLO_STATUS picollo_snapshot_format_chart(const picollo_snapshot *snapshot, uint32_t picture,
    const char *title, const char *unit, uint32_t columns, uint32_t rows, uint32_t ascii, char *buffer,
    size_t capacity, size_t *out_length);

/** Writes a picture of one or more snapshots as an SVG document, which is also an element of HTML: with a title, axes,
 * units, a legend, and colors for light and for dark.
 *
 * Requires: snapshots leads to length pointers, titles to as many: titles may be NULL, and so may any of them;
 *   picture is PICOLLO_PICTURE_.... 64 KiB are mostly enough for curves of two snapshots.
 * Cost: a few passes over the counters of each snapshot, twice. */
PICOLLO_STATUS picollo_pictures_format_svg(const picollo_snapshot *const *snapshots,
    const char *const *titles, size_t length, uint32_t picture, const char *title, const char *unit,
    const picollo_picture_options *options, char *buffer, size_t capacity, size_t *out_length);

/** Writes a report of one or more snapshots: one HTML document with what was found in sentences, date (to the minute), host,
 * command, kernel and processor as far as they are known, tables, the pictures, comparisons with the first snapshot, and the
 * counts as JSON with their native encoding. It refers to nothing outside and runs no script.
 *
 * A heat map is drawn of three or more snapshots; there are curves and comparisons of the first eight.
 *
 * Requires: as picollo_pictures_format_svg; titles may be NULL.
 * Cost: as for all its pictures and encodings, twice. */
PICOLLO_STATUS picollo_report_format_html(const picollo_snapshot *const *snapshots, const char *const *titles,
    size_t length, const char *title, const char *unit, char *buffer, size_t capacity, size_t *out_length);

/* ----------------------------------------------------------------------------------------------------------
 * Histograms of doubles: ratios, temperatures, money, clock skew.
 *
 * Finite values of both signs and all magnitudes, each known within a relative error; zero is exact. NaN and infinities
 * are counted apart, as not_finite, and are part of nothing else. Any number of threads record, each by one atomic
 * addition, without a lock.
 *
 * Counts are for an interval: from one picollo_double_histogram_collect to the next. Collecting takes them out while
 * recording goes on; each record is in exactly one interval.
 *
 *     picollo_double_histogram *skew;
 *     picollo_double_statistics statistics;
 *     const double quantiles[] = {0.5, 0.99};
 *     double values[2];
 *     picollo_double_histogram_create(NULL, &skew);
 *     picollo_double_histogram_record(skew, -0.25);
 *     picollo_double_histogram_collect(skew, quantiles, 2, values, &statistics);
 *
 * For more than that of one interval (buckets, summaries, text) see picollo_double_snapshot.
 *
 * Memory is allocated when a value is the first of its magnitude: so records are not for signal handlers, other than
 * those of integer histograms.
 */

/** Quantiles as the aggregator of .NET's metrics has them: of n values in ascending order, number
 * min(max(0, floor(q * n)), n - 1), counted from 0, the product in floating point. Without it: number
 * max(1, ceil(q * n)), counted from 1, decided in integers, as all percentiles of this library. */
#define PICOLLO_DOUBLE_DOTNET_RANKS (1 << 0)

/** Keep sum, minimum and maximum exactly: the sum is rounded once, when it is read, whatever was added in which order.
 * A record then costs several atomic operations instead of one, and the histogram 26 KB more. */
#define PICOLLO_DOUBLE_EXACT_SUM (1 << 1)

/** What a histogram of doubles is made from. */
typedef struct picollo_double_options {
    uint32_t struct_size;
    /** PICOLLO_DOUBLE_... or 0. */
    uint32_t flags;
    /** Largest distance between a value and what is reported for it, in proportion. 0, negative or NaN: 0.001; clamped
     * to 1e-4 ..= 0.1. */
    double relative_error;
    /** Limit of all memory in bytes, 0 for none. What does not fit is counted as lost. */
    uint64_t max_bytes;
} picollo_double_options;
#define PICOLLO_DOUBLE_OPTIONS_INIT {sizeof(picollo_double_options), 0, 0, 0}

/** Totals and moments of doubles. What does not exist is NaN. */
typedef struct picollo_double_statistics {
    /** Observations with a finite value; saturates at UINT64_MAX. */
    uint64_t count;
    /** Observations that were NaN or infinite; not part of anything else here. */
    uint64_t not_finite;
    /** Observations that found no memory for their bucket; not part of anything else here. */
    uint64_t lost;
    /** Sum: of the buckets' midpoints, each within the relative error of its values, or exact and rounded once, if the
     * histogram keeps it. 0 when empty; infinite when it is beyond the largest double. */
    double sum;
    /** Smallest value, within the relative error, or exact; NaN when empty. */
    double min;
    /** Largest value, within the relative error, or exact; NaN when empty. */
    double max;
    /** The sum divided by the count, without its overflow; NaN when empty. */
    double mean;
    /** Population standard deviation of the midpoints; NaN when empty. */
    double stddev;
    /** The stated error of the layout. */
    double relative_error;
} picollo_double_statistics;

/** Makes an empty histogram of doubles.
 *
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT for max_bytes below what an empty histogram takes.
 * Cost: about 1 KB; then, by default, 8 KB for each power of two in which there is a value, and 512 bytes for each
 *   64 powers. */
PICOLLO_STATUS picollo_double_histogram_create(const picollo_double_options *options,
    picollo_double_histogram **out);

/** Frees a histogram of doubles. Registries hold references. */
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

/** Counts every value of an array. Does nothing when histogram or values is NULL.
 *
 * Requires: values leads to length values, aligned, which nobody changes meanwhile.
 * Threads: as picollo_double_histogram_record.
 * Cost: as picollo_double_histogram_record for each value, but for the call. */
void picollo_double_histogram_record_batch(picollo_double_histogram *histogram, const double *values,
    size_t length);

/** Takes out what was recorded since the last time, and starts a new interval, while others record: each record is in
 * this interval or in the next one, and those made before the call are in this one.
 *
 * Requires: quantiles, 0 ..= 1 in any order, and out_values have length elements each and do not overlap; both may
 *   be NULL with a length of 0.
 * Returns: PICOLLO_OK, also when nothing was recorded: values, extremes, mean and deviation are NaN then, the sum 0;
 *   PICOLLO_ERR_BUSY if a thread is stopped for seconds while it collects. On failure nothing was taken out.
 * Cost: looks at all counters there are, some microseconds for each power of two with values; allocates for the time
 *   of the call. */
PICOLLO_STATUS picollo_double_histogram_collect(picollo_double_histogram *histogram, const double *quantiles,
    size_t length, double *out_values, picollo_double_statistics *out_statistics);

/** Adds all counts of a snapshot, of any relative error; each bucket's count goes to the bucket of its midpoint. Sum and
 * extremes stay exact when both have them exact (PICOLLO_DOUBLE_EXACT_SUM) and nothing is lost for want of memory.
 *
 * Threads: as picollo_double_histogram_record, which it is a kind of.
 * Cost: as picollo_double_histogram_record for each bucket with counts. */
PICOLLO_STATUS picollo_double_histogram_add(picollo_double_histogram *histogram,
    const picollo_double_snapshot *other);

/** Tells how much memory the histogram takes now, in bytes, without its snapshots. */
PICOLLO_STATUS picollo_double_histogram_footprint(const picollo_double_histogram *histogram,
    size_t *out_bytes);

/* ----------------------------------------------------------------------------------------------------------
 * Snapshots of doubles: what was recorded in one interval, to read more than once.
 *
 * A snapshot holds the buckets that have counts, and nothing of the histogram that it was taken from: one may take from
 * several histograms in turn. It is made once and taken into as often as one likes:
 *
 *     picollo_double_snapshot *snapshot;
 *     picollo_double_summary summary;
 *     picollo_double_snapshot_create(NULL, &snapshot);            (of nothing yet)
 *     picollo_double_snapshot_update(snapshot, histogram, PICOLLO_INTERVAL_COLLECT);
 *     picollo_double_snapshot_summary(snapshot, &summary);
 *     picollo_double_summary_format(&summary, "Skew", PICOLLO_TEXT_MARKDOWN, text, sizeof text, &length);
 */

/** Look at the counts of the interval and leave them there; what is recorded meanwhile may be in it or not. */
#define PICOLLO_INTERVAL_LOOK 0
/** Take the counts of the interval out, and start a new one, as picollo_double_histogram_collect does. */
#define PICOLLO_INTERVAL_COLLECT 1

/** A run of doubles that share one count. */
typedef struct picollo_double_bucket {
    /** Smallest value of the bucket. */
    double lower;
    /** Largest value of the bucket. */
    double upper;
    /** What the bucket reports: the middle between its ends, within the error of every value in it. */
    double midpoint;
    /** How many observations fell into it. */
    uint64_t count;
} picollo_double_bucket;

/** A percentile of doubles. */
typedef struct picollo_double_percentile {
    /** The rank, 0 to 100: a hundred times the quantile. */
    double rank;
    /** What the observation is reported as; NaN in the summary of nothing. */
    double value;
    /** The number of the observation among all in ascending order, from 1; saturates at UINT64_MAX; 0 in the summary of nothing. */
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

/** Makes a snapshot of a histogram's present interval, and leaves the counts there; or an empty one, to merge into and for
 * picollo_double_snapshot_update.
 *
 * Requires: histogram is NULL for an empty one.
 * Returns: PICOLLO_ERR_BUSY if a thread is stopped for seconds while it collects.
 * Ownership: *out holds nothing of the histogram.
 * Cost: allocates less than 1 KB, and room for the buckets with counts; looks at all counters there are. */
PICOLLO_STATUS picollo_double_snapshot_create(const picollo_double_histogram *histogram,
    picollo_double_snapshot **out);

/** Frees a snapshot. */
void picollo_double_snapshot_free(picollo_double_snapshot *snapshot);

/** Takes the counts of a histogram's present interval, instead of those that the snapshot had.
 *
 * Requires: collect is PICOLLO_INTERVAL_LOOK or PICOLLO_INTERVAL_COLLECT.
 * Returns: PICOLLO_OK, also when nothing was recorded; PICOLLO_ERR_OUT_OF_MEMORY and PICOLLO_ERR_BUSY (a thread is
 *   stopped for seconds while it collects): nothing was taken out then.
 * Threads: any thread, one at a time with this snapshot, also while others record and collect.
 * Cost: looks at all counters there are; keeps its memory for the next time. */
PICOLLO_STATUS picollo_double_snapshot_update(picollo_double_snapshot *snapshot,
    picollo_double_histogram *histogram, uint32_t collect);

/** Tells the totals, the sum, the extremes and the moments.
 *
 * Returns: PICOLLO_OK, also when nothing was recorded: what does not exist is NaN.
 * Cost: two passes over the buckets with counts. */
PICOLLO_STATUS picollo_double_snapshot_statistics(const picollo_double_snapshot *snapshot,
    picollo_double_statistics *out);

/** Finds the values at quantiles, by the rule that the histogram was made with.
 *
 * Requires: quantiles, 0 ..= 1 in any order, and out have length elements each and do not overlap.
 * Returns: PICOLLO_ERR_EMPTY when nothing was recorded.
 * Cost: one pass over the buckets with counts for each run of ascending quantiles. */
PICOLLO_STATUS picollo_double_snapshot_quantiles(const picollo_double_snapshot *snapshot,
    const double *quantiles, size_t length, double *out);

/** Summarises: statistics and sixteen percentiles. A snapshot without counts has a summary too: totals and targets 0,
 * everything else NaN.
 *
 * Cost: three passes over the buckets with counts. */
PICOLLO_STATUS picollo_double_snapshot_summary(const picollo_double_snapshot *snapshot,
    picollo_double_summary *out);

/** Lists the buckets that have counts, in ascending order.
 *
 * Cost: one pass over the buckets with counts. */
PICOLLO_STATUS picollo_double_snapshot_buckets(const picollo_double_snapshot *snapshot,
    picollo_double_bucket *out, size_t capacity, size_t *out_length);

/** Adds the counts of another snapshot. Of another relative error, each bucket's count goes to the bucket of its
 * midpoint, and the errors add up. Sum and extremes stay exact if both are. An empty snapshot becomes a copy.
 *
 * Requires: into and other are not the same snapshot.
 * Returns: PICOLLO_ERR_OUT_OF_MEMORY: nothing was changed then.
 * Threads: any thread, one at a time with into.
 * Cost: sorts the buckets with counts of both. */
PICOLLO_STATUS picollo_double_snapshot_merge(picollo_double_snapshot *into,
    const picollo_double_snapshot *other);

/** Writes a summary of doubles as text, with the shortest digits that read back as the same double. The formats are
 * those of picollo_summary_format; 8192 bytes are enough for the Markdown of any summary with a short title.
 *
 * Requires: format is PICOLLO_TEXT_....
 * Cost: tens of microseconds. */
PICOLLO_STATUS picollo_double_summary_format(const picollo_double_summary *summary, const char *title,
    uint32_t format, char *buffer, size_t capacity, size_t *out_length);

/* ----------------------------------------------------------------------------------------------------------
 * Registries: histograms, counters and gauges with names and labels, written for Prometheus, OpenTelemetry and their like.
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
 * An observation is counted in the buckets whose bound is at or above the midpoint of its own bucket. So counts are exact
 * for bounds at which a bucket of the histogram ends, as those one below a power of two are, and otherwise off by those
 * observations alone that lie within the relative error of the bound. What was out of range is taken as just outside of
 * it, and what was above it is counted at +Inf alone. Lost and not finite observations are told by counters beside the
 * histogram, _lost and _not_finite, where there are any.
 */

/** OpenMetrics text, application/openmetrics-text; version=1.0.0; charset=utf-8. */
#define PICOLLO_EXPOSITION_OPENMETRICS 0
/** Prometheus' text, text/plain; version=0.0.4; charset=utf-8. */
#define PICOLLO_EXPOSITION_PROMETHEUS_TEXT 1

/** Prometheus' Protocol Buffers, application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily;
 * encoding=delimited. Native histograms, where PICOLLO_METRIC_NATIVE asks for them, are in no other. */
#define PICOLLO_EXPOSITION_PROMETHEUS_PROTOBUF 2

/** OpenTelemetry's protocol, OTLP, application/x-protobuf: an ExportMetricsServiceRequest with cumulative counts and
 * exponential histograms. */
#define PICOLLO_EXPOSITION_OTLP 3
/** Do not tell since when there are counts: no _created. */
#define PICOLLO_METRIC_NO_CREATED (1 << 0)

/** Prometheus is to have a native histogram, of exponential buckets, in its Protocol Buffers. Servers that read these then
 * drop the buckets at bounds, with whatever is built on them, unless they are told to keep both. */
#define PICOLLO_METRIC_NATIVE (1 << 1)
/** Write the counts since the histogram's last reset rather than since it was made. To collectors each reset is a restart. */
#define PICOLLO_METRIC_SINCE_RESET (1 << 2)

/** Prometheus is to have a summary: the quantiles 0.5, 0.9, 0.99 and 0.999 of all that is counted, instead of buckets. OTLP has
 * exponential buckets nevertheless. A label quantile is refused then. */
#define PICOLLO_METRIC_SUMMARY (1 << 3)

/** The counter has sixteen words. An addition goes to one of them, which the CPU chooses in a segment and where threads are
 * registered for restartable sequences, and otherwise the thread's stack. So threads seldom wait for each other. It takes
 * 1 KB. A read adds up the words. Histograms and gauges ignore this flag. */
#define PICOLLO_METRIC_STRIPED (1 << 4)

/** A name and a value that tell histograms of one name apart. The name is letters, digits and underscores, with neither
 * a digit nor two underscores first, and is not le; the value is any UTF-8. */
typedef struct picollo_label {
    /** Its name; NUL-terminated. */
    const char *name;
    /** Its value; NUL-terminated. */
    const char *value;
} picollo_label;

/** What a histogram is known as; only the name must be set. Strings are NUL-terminated UTF-8, NULL is the same as "", and all of it is copied. */
typedef struct picollo_metric_options {
    uint32_t struct_size;
    /** PICOLLO_METRIC_... or 0. */
    uint32_t flags;
    /** Values and bounds are divided by this before they are written: 1e9 for nanoseconds that are to be seconds. 0: 1. */
    double divisor;
    /** Number of labels. */
    uint64_t labels_length;
    /** Since when there are counts, in nanoseconds since 1970. 0: now. */
    uint64_t created_unix_nanos;
    /** Letters, digits, underscores and colons, and no digit first: request_seconds. Dots, hyphens and slashes are
     * OpenTelemetry's; Prometheus sees underscores for them. Several metrics of one kind may have one name, with different
     * labels. */
    const char *name;
    /** What it means, for people; the same for all of one name. */
    const char *help;
    /** Such as seconds, which the name has to end with, after an underscore; the same for all of one name. */
    const char *unit;
    /** The labels, in any order. */
    const picollo_label *labels;
    /** How many exponential buckets may have counts; where there are more, they become coarser. 0: 320; UINT32_MAX: any number. */
    uint32_t max_buckets;
    uint32_t reserved;
} picollo_metric_options;
#define PICOLLO_METRIC_OPTIONS_INIT {sizeof(picollo_metric_options), 0, 0, 0, 0, NULL, NULL, NULL, NULL, 0, 0}

/** Makes a registry of nothing.
 *
 * Cost: an allocation. */
PICOLLO_STATUS picollo_registry_create(picollo_registry **out);

/** Frees a registry, and gives back its references to histograms. */
void picollo_registry_free(picollo_registry *registry);

/** Adds a histogram. Until the next update it is written as empty.
 *
 * Requires: bounds leads to length values, ascending, up to 500: the largest values of the buckets, as recorded.
 *   With a length of 0 there are those one below each power of four in the histogram's range, which are exact.
 *   out_id is for picollo_registry_remove, or NULL.
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT for names, labels, units, bounds or a divisor that are not as
 *   picollo_metric_options says, or not UTF-8; where there is one of this name and these labels already; where kind,
 *   help or unit differ from those of the same name; and for a name that is written for another, as x_count is
 *   beside x and a_b is for a.b. Nothing has changed then.
 * Ownership: the registry holds a reference to the histogram, until it is removed or the registry freed.
 * Cost: allocates copies of what it is given. */
PICOLLO_STATUS picollo_registry_add(picollo_registry *registry, const picollo_histogram *histogram,
    const picollo_metric_options *metric, const uint64_t *bounds, size_t length, uint64_t *out_id);

/** Adds a histogram of doubles, of which updates look at the counts since its last collection: to collect it otherwise
 * starts the metric anew.
 *
 * Requires: as picollo_registry_add; without bounds there are those of each power of ten from 1e-6 to 1e6. With
 *   negative bounds or values there is no _count and _sum, as the standard has it.
 * Otherwise: as picollo_registry_add. */
PICOLLO_STATUS picollo_registry_add_double(picollo_registry *registry,
    const picollo_double_histogram *histogram, const picollo_metric_options *metric, const double *bounds,
    size_t length, uint64_t *out_id);

/** Takes a histogram out.
 *
 * Requires: id is one that picollo_registry_add or picollo_registry_add_double told.
 * Cost: looks through the registry. */
PICOLLO_STATUS picollo_registry_remove(picollo_registry *registry, uint64_t id);

/** Takes the counts of all metrics, while others record and reset: of histograms since they were made, so that no reset
 * reaches a collector (but see PICOLLO_METRIC_SINCE_RESET). Each is of one moment; they are read one after the other. Where
 * counts went down nevertheless, because a histogram of doubles was collected, the metric is written as created at the
 * update before.
 *
 * Returns: PICOLLO_ERR_BUSY, as picollo_snapshot_update, and PICOLLO_ERR_OUT_OF_MEMORY, when that was so for one of
 *   them: it keeps what was taken before, and the others are taken nevertheless.
 * Threads: any thread; other calls with this registry wait for it.
 * Cost: two passes over all counters; the first time, allocates 16 bytes a counter for each layout. */
PICOLLO_STATUS picollo_registry_update(picollo_registry *registry);

/** Writes what the last update has taken in a format of expositions. There is no NUL at the end, also of those that are
 * text.
 *
 * Requires: format is PICOLLO_EXPOSITION_.... Between asking for the length and writing there must be neither an
 *   update nor another metric, or the length may differ.
 * Cost: less than a microsecond for each bucket. */
PICOLLO_STATUS picollo_registry_encode(const picollo_registry *registry, uint32_t format, void *buffer,
    size_t capacity, size_t *out_length);

/** Finds the format for a request by its header Accept, and the Content-Type of the answer. Of what the header has, that
 * with the largest q is taken, and of several the first; where it has nothing of ours, it is Prometheus' text. OTLP is never
 * the answer: it is sent, not scraped.
 *
 * Requires: accept is NUL-terminated, of any bytes, or NULL for a request without. A capacity of 128 is enough.
 * Cost: some nanoseconds a byte. */
PICOLLO_STATUS picollo_registry_negotiate(const char *accept, uint32_t *out_format, char *buffer,
    size_t capacity, size_t *out_length);

/* ----------------------------------------------------------------------------------------------------------
 * Counters and gauges: what a registry has beside histograms.
 *
 *     picollo_metric_counter *requests;
 *     picollo_metric_options metric = PICOLLO_METRIC_OPTIONS_INIT;
 *     metric.name = "requests";
 *     picollo_registry_add_counter(registry, &metric, &requests, NULL);
 *     for each request:
 *         picollo_metric_counter_add(requests, 1)
 *     picollo_metric_counter_free(requests)
 *
 * Each is one word on a cache line of its own. Where many threads count all the time, ask for a striped counter
 * (PICOLLO_METRIC_STRIPED), or give each thread its own, with a label.
 */

/** Adds a new counter, at zero, to a registry. Its name may end with _total, which is no part of it.
 *
 * Requires: out_id is for picollo_registry_remove, or NULL. Of the metric, max_buckets and the flags that are about
 *   histograms mean nothing.
 * Returns: as picollo_registry_add.
 * Ownership: *out is the caller's, for picollo_metric_counter_free; the registry holds a reference of its own.
 * Cost: allocates copies of what it is given, and 128 bytes. */
PICOLLO_STATUS picollo_registry_add_counter(picollo_registry *registry, const picollo_metric_options *metric,
    picollo_metric_counter **out, uint64_t *out_id);

/** Adds a new gauge, at zero, to a registry.
 *
 * Ownership: *out is the caller's, for picollo_metric_gauge_free; the registry holds a reference of its own.
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

/** Gives back one reference. The counter goes on being written while a registry has it. */
void picollo_metric_counter_free(picollo_metric_counter *counter);

/** Sets a gauge.
 *
 * Requires: gauge is not NULL; this is not checked.
 * Threads: any thread, signal handlers.
 * Cost: a store. */
void picollo_metric_gauge_set(picollo_metric_gauge *gauge, double value);

/** Adds to a gauge, also what is negative. Of several threads that add at once, nothing is lost.
 *
 * Requires: gauge is not NULL; this is not checked.
 * Threads: any thread, signal handlers.
 * Cost: a compare-and-swap, again where another thread came first. */
void picollo_metric_gauge_add(picollo_metric_gauge *gauge, double value);

/** Reads a gauge while others set it.
 *
 * Cost: a load. */
PICOLLO_STATUS picollo_metric_gauge_read(const picollo_metric_gauge *gauge, double *out);

/** Gives back one reference. The gauge goes on being written while a registry has it. */
void picollo_metric_gauge_free(picollo_metric_gauge *gauge);

/* ----------------------------------------------------------------------------------------------------------
 * Exemplars: observations that are written with a metric, with what leads further, such as the trace that they belong to.
 *
 *     picollo_metric_exemplar slowest = {0};
 *     slowest.value = nanoseconds;                (as recorded: divided as the metric is)
 *     slowest.unix_nanos = when;
 *     memcpy(slowest.trace_id, trace_id, sizeof slowest.trace_id);
 *     picollo_registry_set_exemplars(registry, id, &slowest, 1);
 *
 * OpenMetrics has the latest in each bucket, Prometheus' Protocol Buffers these and, in native histograms, all that have a
 * time, OTLP all of them; Prometheus' older text has none.
 */

/** One observation that stands for others. Zeroes mean that there is none of it. Names and values of its labels are up to
 * 128 characters in all, the standard's limit, of which a trace's identifier takes 40 and a span's 23. */
typedef struct picollo_metric_exemplar {
    /** As recorded: it is divided as the metric's values are. */
    double value;
    /** When it was, in nanoseconds since 1970; 0 where that is not known. */
    uint64_t unix_nanos;
    /** The trace that it belongs to, as in W3C's traceparent; written as the label trace_id. */
    uint8_t trace_id[16];
    /** The span in it; written as the label span_id. */
    uint8_t span_id[8];
    /** Labels beside these, with other names. */
    const picollo_label *labels;
    /** Number of labels. */
    size_t labels_length;
} picollo_metric_exemplar;

/** Sets the exemplars that are written with a metric from now on, instead of those before. All of it is copied.
 *
 * Requires: id is that of a histogram or counter; exemplars leads to length of them, in any order, none of which
 *   takes those away that there were.
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT when there is no metric with this id, for values that are not finite, for
 *   labels that are not as picollo_label says, come twice or are too long; PICOLLO_ERR_UNSUPPORTED for gauges, which
 *   have none. Nothing has changed then.
 * Cost: allocates copies of what it is given; when written, each bucket at a bound looks through them. */
PICOLLO_STATUS picollo_registry_set_exemplars(picollo_registry *registry, uint64_t id,
    const picollo_metric_exemplar *exemplars, size_t length);

/* ----------------------------------------------------------------------------------------------------------
 * Counters of one word that many threads share.
 *
 * The words are the caller's own: uint32_t or uint64_t, aligned, zero at the beginning, used through these functions
 * only while several threads do. They differ in what they trade for speed:
 *
 * - picollo_scalable_counter_...: exact to a threshold of 2^threshold_bits; from there on it counts in steps of 2^k with
 *   probability 2^-k, so that the busier it is, the less threads contend for it. The expected count is exact; its
 *   standard deviation about 2^-((t + 1) / 2) * 1.15, 0.9 % for the default of 13 bits. (Dice, Lev and Moir, 2013.)
 * - picollo_capped_counter_...: the same with steps of at most 2^cap_bits, so that the relative error falls again at high
 *   counts.
 * - picollo_sensing_counter_...: exact as long as threads do not meet; where they do, as the scalable one.
 *
 * An exact counter of one word is what the language has anyway: atomic_fetch_add. A counter with PICOLLO_METRIC_STRIPED has many words.
 *
 * Words of 32 bits count modulo 2^32. Threads have random generators of their own, each seeded differently, in each
 * process anew. (The child of a fork goes on with the numbers of its parent.)
 */

/** Where scalable counters stop being exact, unless asked otherwise: 2^13 = 8192. */
#define PICOLLO_SCALABLE_THRESHOLD_BITS 13

/** Counts events, one or many, approximately (see the top of this section): whole steps of them are added as they are,
 * and of the rest a step, or nothing.
 *
 * Requires: counter is not NULL, which is not checked; threshold_bits is 1 ..= 31, or 0 for 13.
 * Threads: any thread, signal handlers of threads that have counted before among them.
 * Cost: an atomic addition below the threshold; above, ever more often a load and a random number. */
void picollo_scalable_counter_add_n32(uint32_t *counter, uint64_t count, uint32_t threshold_bits);

/** As picollo_scalable_counter_add_n32, in 64 bits.
 *
 * Otherwise: as picollo_scalable_counter_add_n32. */
void picollo_scalable_counter_add_n64(uint64_t *counter, uint64_t count, uint32_t threshold_bits);

/** Counts events as picollo_scalable_counter_add_n32 does, in steps of at most 2^cap_bits: from a count of
 * 2^(threshold_bits + cap_bits) on the relative error is sqrt(2^cap_bits / count).
 *
 * Requires: as picollo_scalable_counter_add_n32; cap_bits is 0 ..= 31, where 0 counts exactly; 10 leaves little
 *   contention.
 * Otherwise: as picollo_scalable_counter_add_n32. */
void picollo_capped_counter_add32(uint32_t *counter, uint64_t count, uint32_t threshold_bits,
    uint32_t cap_bits);

/** As picollo_capped_counter_add32, in 64 bits.
 *
 * Otherwise: as picollo_capped_counter_add32. */
void picollo_capped_counter_add64(uint64_t *counter, uint64_t count, uint32_t threshold_bits,
    uint32_t cap_bits);

/** Counts events exactly, where no other thread interferes at the same moment; where one does, as
 * picollo_scalable_counter_add_n32.
 *
 * Cost: a compare-and-swap and, above the threshold, a random number; where it fails, an atomic add at most.
 * Otherwise: as picollo_scalable_counter_add_n32. */
void picollo_sensing_counter_add32(uint32_t *counter, uint64_t count, uint32_t threshold_bits);

/** As picollo_sensing_counter_add32, in 64 bits.
 *
 * Otherwise: as picollo_sensing_counter_add32. */
void picollo_sensing_counter_add64(uint64_t *counter, uint64_t count, uint32_t threshold_bits);

/** Reads a counter of any of these kinds while others count.
 *
 * Returns: what was counted, or about that; 0 when counter is NULL.
 * Cost: a load. */
uint32_t picollo_counter_read32(const uint32_t *counter);

/** As picollo_counter_read32, in 64 bits.
 *
 * Otherwise: as picollo_counter_read32. */
uint64_t picollo_counter_read64(const uint64_t *counter);

/* ----------------------------------------------------------------------------------------------------------
 * Segments: publishing histograms and counters for others to read while the program runs.
 *
 * A segment is a file in memory, of this user alone. Whatever is recorded into a histogram in it can be read from outside, by
 * the command picollo, also after a crash. Recording takes what it takes elsewhere. Linux only.
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
 * Where it lies: in the directory that the options name, or PICOLLO_DIR, otherwise $RUNTIME_DIRECTORY/picollo,
 * $XDG_RUNTIME_DIR/picollo or /dev/shm/picollo-UID. The file is removed at an orderly end of the process that made it, unless
 * that has forked since or others have it.
 *
 * Forked children write into the segments that they inherit; others attach. What is asked for by the same name and labels is the
 * same. Segments are mapped as long as the process lives, so that things may be freed in any order.
 */

/** Leave the file where it is at an orderly end. */
#define PICOLLO_SEGMENT_KEEP (1 << 0)
/** Also in a directory that is not in memory: records may then wait for the disk. */
#define PICOLLO_SEGMENT_ON_DISK (1 << 1)

/** Histograms whose options name no mode have one set of cells, which all add to atomically, and not one for each CPU: less memory,
 * and less for viewers to read. */
#define PICOLLO_SEGMENT_INTERLOCKED (1 << 2)

/** picollo_histogram_reset works for histograms in it, unless they were made with PICOLLO_HISTOGRAM_NO_LIVE_RESET: three times the
 * memory, and interlocked where no mode is named. It does not for per-CPU ones. */
#define PICOLLO_SEGMENT_LIVE_RESET (1 << 3)

/** What a segment is to be. Strings are NUL-terminated UTF-8, and copied. */
typedef struct picollo_segment_options {
    uint32_t struct_size;
    /** PICOLLO_SEGMENT_... or 0. */
    uint32_t flags;
    /** The most that the file may come to take; 0: 128 MiB. Address space from the beginning, memory as histograms are made. */
    uint64_t max_bytes;
    /** 1 to 64 letters, digits, _ and -. NULL: as the program. */
    const char *name;
    /** Where it goes; made if it is not there. NULL: as at the head of this section. */
    const char *directory;
} picollo_segment_options;
#define PICOLLO_SEGMENT_OPTIONS_INIT {sizeof(picollo_segment_options), 0, 0, NULL, NULL}

/** Makes a segment of this process. Segments of the same name that nobody has any more are removed.
 *
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT for a name that is none, one that this process has already, a size that
 *   cannot be; PICOLLO_ERR_PERMISSION where the directory is not this user's alone; PICOLLO_ERR_UNSUPPORTED where it
 *   is not in memory, and elsewhere than on Linux; PICOLLO_ERR_OUT_OF_MEMORY; PICOLLO_ERR_OS. error says what to do.
 * Cost: some ten system calls. */
PICOLLO_STATUS picollo_segment_create(const picollo_segment_options *options, picollo_segment **out,
    picollo_error *error);

/** Opens a segment that another process has made, to write into.
 *
 * Requires: path is NULL, for that of the environment variable PICOLLO_SEGMENT, or a NUL-terminated path.
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT without a path; PICOLLO_ERR_PERMISSION for what is not this user's alone;
 *   PICOLLO_ERR_CORRUPT and PICOLLO_ERR_INCOMPATIBLE for what is no segment, or none that this build can use;
 *   PICOLLO_ERR_BUSY while it is being removed; PICOLLO_ERR_OUT_OF_MEMORY; PICOLLO_ERR_OS; PICOLLO_ERR_UNSUPPORTED
 *   elsewhere than on Linux.
 * Cost: some ten system calls. */
PICOLLO_STATUS picollo_segment_attach(const char *path, picollo_segment **out, picollo_error *error);

/** Frees the handle of a segment. What is in it stays, and so do the histograms and counters that it gave out. */
void picollo_segment_free(picollo_segment *segment);

/** Tells the path of a segment, for picollo_segment_attach in other processes. */
PICOLLO_STATUS picollo_segment_path(const picollo_segment *segment, char *buffer, size_t capacity,
    size_t *out_length);

/** The histogram of this name and these labels in a segment: the one that there is, or a new one.
 *
 * Any thread of any process records into it, in PICOLLO_MODE_INTERLOCKED (the default) and PICOLLO_MODE_PER_CPU: the former leaves
 * it to the library whether there are cells for each CPU, as there are on machines of up to 8 CPUs with restartable sequences. One in
 * single-writer mode is the thread's that made it.
 *
 * Requires: options is NULL, or as for picollo_histogram_create: dense, interlocked, per-CPU or single-writer, with
 *   64 bits. What says nothing about values means 1 % from 1 to 3600000000000, an hour in nanoseconds. Of the
 *   metric, max_buckets and the flags PICOLLO_METRIC_NATIVE and _SINCE_RESET mean nothing.
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT for options, names and labels that cannot be; PICOLLO_ERR_INCOMPATIBLE where
 *   there is one of that name with another layout or mode, or another thread's; PICOLLO_ERR_UNSUPPORTED for what
 *   cannot lie in a segment, saying what to use; PICOLLO_ERR_OUT_OF_MEMORY where something is full; PICOLLO_ERR_BUSY
 *   where another process is stopped in this call; PICOLLO_ERR_CORRUPT; PICOLLO_ERR_OS. Where the directory has only
 *   its last entry left, that is a histogram of all values with 1 %, picollo_overflow, which all share who come
 *   late.
 * Ownership: *out is the caller's, for picollo_histogram_free, which does nothing to it. picollo_histogram_reset is
 *   PICOLLO_ERR_UNSUPPORTED but in a segment with PICOLLO_SEGMENT_LIVE_RESET.
 * Threads: any thread, also in forked children.
 * Cost: some ten system calls; takes the memory of the histogram. */
PICOLLO_STATUS picollo_segment_histogram(const picollo_segment *segment, const picollo_metric_options *metric,
    const picollo_histogram_options *options, picollo_histogram **out, picollo_error *error);

/** The counter of this name and these labels in a segment: the one that there is, or a new one at zero. With
 * PICOLLO_METRIC_STRIPED it has many words, so that neither threads nor forked workers wait for each other.
 *
 * Returns: as picollo_segment_histogram; PICOLLO_ERR_INCOMPATIBLE also if one is striped and the other is not.
 * Requires: of the metric, what is about histograms means nothing.
 * Threads: any thread, also in forked children.
 * Otherwise: as picollo_segment_histogram. */
PICOLLO_STATUS picollo_segment_counter(const picollo_segment *segment, const picollo_metric_options *metric,
    picollo_metric_counter **out, picollo_error *error);

/** Takes the histogram or counter of this name and these labels out of a segment: viewers do not see it any more, unless they did before,
 * and who asks for it gets a new one. Its memory stays taken, and its place in the directory is not used again.
 *
 * Requires: as picollo_segment_histogram; of the metric name and labels mean something.
 * Returns: as picollo_segment_histogram; PICOLLO_ERR_INVALID_ARGUMENT also where there is nothing of that name, and
 *   PICOLLO_ERR_INCOMPATIBLE for another thread's.
 * Ownership: handles of it stay what they are; what is recorded through them is seen through them alone.
 * Threads: any thread, also in forked children.
 * Cost: some five system calls. */
PICOLLO_STATUS picollo_segment_retire(const picollo_segment *segment, const picollo_metric_options *metric,
    picollo_error *error);

/** Tells how many bytes a histogram takes in a segment, beside its entry in the directory, which is there already.
 *
 * Requires: options as for picollo_segment_histogram; flags is 0, or PICOLLO_SEGMENT_INTERLOCKED and _LIVE_RESET as
 *   of the segment.
 * Returns: PICOLLO_ERR_UNSUPPORTED for other flags, and for what cannot lie in a segment;
 *   PICOLLO_ERR_INVALID_ARGUMENT; PICOLLO_ERR_UNSUPPORTED elsewhere than on Linux. */
PICOLLO_STATUS picollo_segment_estimate(const picollo_histogram_options *options, uint32_t flags,
    uint64_t *out);

/* ----------------------------------------------------------------------------------------------------------
 * Clocks.
 *
 * Two clocks count ticks; what a tick is worth is told exactly. Either is good for intervals. The time stamp counter
 * is read in a few nanoseconds, without the system; where the machine has none that runs at one constant rate, the
 * monotonic clock stands in for it, and frequency and conversion follow.
 *
 * A scope measures from its begin to its end and records what it measured:
 *
 *     picollo_scope scope;
 *     picollo_scope_begin(histogram, PICOLLO_CLOCK_TSC, PICOLLO_UNIT_NANOS, &scope);
 *     work();
 *     picollo_scope_end(&scope);
 */

/** CLOCK_MONOTONIC: nanoseconds since some point in the past. */
#define PICOLLO_CLOCK_MONOTONIC 0

/** The CPU's time stamp counter (aarch64: the virtual counter). Where the machine has none that runs at one constant rate,
 * this is the monotonic clock: ticks, frequency and conversion change together, so that times stay right. */
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

/** A measurement under way. Its fields are for the library. */
typedef struct picollo_scope {
    /** Ticks at the beginning. */
    uint64_t start;
    /** PICOLLO_CLOCK_.... */
    uint32_t clock;
    /** PICOLLO_UNIT_.... */
    uint32_t unit;
    /** Where to record; NULL once it has ended. */
    picollo_histogram *histogram;
    void *reserved;
} picollo_scope;

/** Measures the frequency of the time stamp counter now. Scopes and conversions need no such call.
 *
 * Returns: PICOLLO_OK, also where the monotonic clock has to stand in for the counter; PICOLLO_ERR_UNSUPPORTED in a
 *   build without an operating system, which has no clock: ticks are 0 there.
 * Threads: any thread, any number of times.
 * Cost: up to 20 milliseconds the first time where the frequency has to be measured; then none to speak of. */
PICOLLO_STATUS picollo_clock_init(void);

/** Reads a clock.
 *
 * Requires: clock is PICOLLO_CLOCK_....
 * Returns: its ticks; 0 for an unknown clock.
 * Cost: some ten to thirty nanoseconds. */
uint64_t picollo_clock_ticks(uint32_t clock);

/** Reads a clock after everything that comes before it in the program, and before everything that comes after it: no
 * instruction of what is measured is still under way, and none has begun. picollo_clock_ticks lets the processor move the
 * reading by as much as it executes out of order, some hundred instructions.
 *
 * Requires: clock is PICOLLO_CLOCK_....
 * Returns: its ticks; 0 for an unknown clock.
 * Cost: as picollo_clock_ticks and some ten to twenty nanoseconds, and the wait for what is under way. */
uint64_t picollo_clock_ticks_ordered(uint32_t clock);

/** Tells how many ticks a clock makes in a second.
 *
 * Requires: clock is PICOLLO_CLOCK_....
 * Returns: PICOLLO_ERR_UNSUPPORTED as picollo_clock_init.
 * Cost: none to speak of after picollo_clock_init; before it, up to 20 milliseconds once. */
PICOLLO_STATUS picollo_clock_frequency(uint32_t clock, uint64_t *out_hertz);

/** Converts a difference of ticks: floor(ticks * units per second / frequency), exactly.
 * In the first 20 milliseconds after the first use of the time stamp counter, its frequency is not known yet: then the
 * system's clock converts a difference of two readings, to some 100 nanoseconds. No scope waits.
 *
 * Requires: clock is PICOLLO_CLOCK_..., unit is PICOLLO_UNIT_....
 * Returns: the converted difference, UINT64_MAX where it does not fit into 64 bits; 0 for an unknown clock or unit.
 * Cost: a division of 128 bits, at most. */
uint64_t picollo_clock_convert(uint32_t clock, uint64_t ticks, uint32_t unit);

/** Begins to measure. Does nothing when out is NULL.
 *
 * Requires: clock is PICOLLO_CLOCK_..., unit is PICOLLO_UNIT_...; histogram outlives the scope, or is NULL to
 *   measure without recording.
 * Ownership: nothing to free; a scope that never ends is simply not recorded.
 * Threads: any thread; the scope may end on another one.
 * Cost: one reading of the clock, which comes last. */
void picollo_scope_begin(picollo_histogram *histogram, uint32_t clock, uint32_t unit, picollo_scope *out);

/** Ends a measurement and records it. Ending it again measures, but does not record again.
 *
 * Requires: scope was begun.
 * Returns: the time since the beginning in the scope's unit, which is what was recorded; 0 when scope is NULL. With
 *   an unknown clock or unit nothing is recorded, and the answer is 0.
 * Threads: as picollo_histogram_record on the scope's histogram.
 * Cost: one reading of the clock, which comes first, a conversion and a record. */
uint64_t picollo_scope_end(picollo_scope *scope);

/* ----------------------------------------------------------------------------------------------------------
 * What collectors of exemplars take and give.
 */

/** Off the CPU by its own call: a lock, a disk, another process, sleep. */
#define PICOLLO_CAUSE_OWN_WAITING 1
/** Ready, and not running: preempted, or woken late. */
#define PICOLLO_CAUSE_RUN_QUEUE 2
/** The same, while the thread's group was throttled at some time: its quota of CPU time may be the reason. */
#define PICOLLO_CAUSE_RUN_QUEUE_OR_QUOTA 3
/** Not running because the group's quota of CPU time was used up. */
#define PICOLLO_CAUSE_THROTTLED 4
/** Off the CPU; which of these is not known. */
#define PICOLLO_CAUSE_OFF_CPU 5
/** Handling page faults. */
#define PICOLLO_CAUSE_PAGE_FAULTS 6
/** More instructions were executed. Only where they are counted, by PICOLLO_EXEMPLARS_COUNTERS. */
#define PICOLLO_CAUSE_MORE_INSTRUCTIONS 7
/** Instructions took more cycles. Only where they are counted. */
#define PICOLLO_CAUSE_SLOWER_INSTRUCTIONS 8
/** On the CPU, and nothing says why for longer. Page faults are in it where their times are not known, as is what a hypervisor took. */
#define PICOLLO_CAUSE_ON_CPU 9
/** In none of the accounts. */
#define PICOLLO_CAUSE_UNEXPLAINED 10
/** No cause makes up more than half. */
#define PICOLLO_CAUSE_SEVERAL 11
/** There is no evidence, or nothing that it could be compared with. */
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
/** There is evidence (in JSON, a reason that was not told). */
#define PICOLLO_MISSING_NOTHING 0
/** It was timed elsewhere, or by an event loop. */
#define PICOLLO_MISSING_TIMED_ELSEWHERE 1
/** It ended on another thread than it began on. */
#define PICOLLO_MISSING_OTHER_THREAD 2
/** It began before a fork. */
#define PICOLLO_MISSING_FORKED 3
/** Too many were slow at once: it was only kept. */
#define PICOLLO_MISSING_TOO_MANY 4
/** It held so many other scopes that its beginning was forgotten. */
#define PICOLLO_MISSING_OVERWRITTEN 5
/** What the system says contradicts itself. */
#define PICOLLO_MISSING_CONTRADICTORY 6
/** The system has no such accounts. */
#define PICOLLO_MISSING_UNSUPPORTED 7
/** Do not ask the kernel for its records of context switches, which make some times more precise. */
#define PICOLLO_EXEMPLARS_NO_RING (1 << 0)
/** Have it write down page faults as well, so that what they take is known, where the kernel lets: each takes some microsecond more. */
#define PICOLLO_EXEMPLARS_FAULT_TIMES (1 << 2)

/** Have each thread that is looked into count its instructions and cycles in user space, where it may, so that more work is told from
 * slower work. Making a collector tries that once, which takes what the first session of a process takes. A thread's first observation
 * that is looked into then allocates some kilobytes and opens two descriptors; preparing the thread does so before. */
#define PICOLLO_EXEMPLARS_COUNTERS (1 << 3)
/** Keep none of the slowest, whatever the field says: only the latest of each octave of values, and the causes of slow ones. */
#define PICOLLO_EXEMPLARS_NO_SLOWEST (1 << 1)
/** picollo_exemplars_end and _offer: the observation is kept. */
#define PICOLLO_EXEMPLAR_KEPT 1
/** A CPU that is not known. */
#define PICOLLO_CPU_UNKNOWN 4294967295

/** What a collector is to do. */
typedef struct picollo_exemplars_options {
    uint32_t struct_size;
    /** PICOLLO_EXEMPLARS_.... */
    uint32_t flags;
    /** Above which an observation is slow, as recorded; 0: the 99th percentile of the interval before, and in the first interval the
     * slowest only. */
    uint64_t threshold;
    /** What scopes record, PICOLLO_UNIT_...; 0: nanoseconds. */
    uint32_t unit;
    /** How many of the slowest are kept, up to 65,536; 0: 16. */
    uint32_t slowest;
    /** For how many threads of the process descriptors, rings and counters are kept at once; 0: 64. The waiting of others is not split. */
    uint32_t threads;
    /** How many slow observations a thread looks into in a second; 0: 1,000. Of more than these only the largest is kept. */
    uint32_t rate;
    /** How many ordinary observations are looked into in a second, to know what is usual; 0: 20, at most 1,000,000. */
    uint32_t controls;
    uint32_t reserved;
} picollo_exemplars_options;
#define PICOLLO_EXEMPLARS_OPTIONS_INIT {sizeof(picollo_exemplars_options), 0, 0, 0, 0, 0, 0, 0, 0}

/** A measurement under way, which may be copied elsewhere: the library keeps no pointer to it. Its fields are for the library, but label
 * and, for event loops, thread. */
typedef struct picollo_exemplar_scope {
    /** Ticks at the beginning. */
    uint64_t start;
    /** Ticks from which on it is kept for another reason; 0 for a control. */
    uint64_t due;
    /** The thread's checkpoint at the beginning. */
    uint64_t checkpoint;
    /** Of what it became; 0: nothing. */
    uint64_t number;
    uint64_t reserved[3];
    /** The thread that it began on. A caller may set it to NULL, where others work on this thread until the end, as in event loops: then
     * nothing that the thread does is taken for this one's. */
    void *thread;
    /** NULL once it has ended. */
    picollo_exemplars *exemplars;
    /** Of which kind it is, for the caller to set before the end: what is usual is told of each kind, of up to 16. 0 at the beginning. */
    uint32_t label;
    /** Whether it is a control. */
    uint32_t is_control;
} picollo_exemplar_scope;

/** What leads from an observation to its request. Zeroes: nothing does. */
typedef struct picollo_exemplar_context {
    /** Whatever the caller likes. */
    uint64_t words[2];
    /** The trace, as in W3C's traceparent. */
    uint8_t trace_id[16];
    /** The span in it. */
    uint8_t span_id[8];
} picollo_exemplar_context;

/** An observation that was kept. What is not known (known) is 0. */
typedef struct picollo_exemplar {
    /** As recorded. */
    uint64_t value;
    /** How long it took; 0 where values are no times. */
    uint64_t wall_nanos;
    /** When it began, in nanoseconds since 1970. */
    uint64_t unix_nanos;
    /** How long what is known of it lasted: from a checkpoint of its thread to its end. That was taken up to 300
     * microseconds before it; for one that holds many others, further before. */
    uint64_t window_nanos;
    /** What the thread ran in that. */
    uint64_t cpu_nanos;
    /** What it was ready and did not run. */
    uint64_t run_delay_nanos;
    /** What it was off the CPU. */
    uint64_t off_nanos;
    /** What of that it was off although it did not wait for anything. */
    uint64_t preempted_nanos;
    /** What handling page faults took. */
    uint64_t fault_nanos;
    /** What of its length is in excess of what is usual for its cause; 0 with PICOLLO_CAUSE_SEVERAL and _NOT_KNOWN. */
    uint64_t excess_nanos;
    /** What the thread executed in user space, in the window. */
    uint64_t instructions;
    /** In so many cycles. */
    uint64_t cycles;
    /** Instructions of a cycle that are usual for its kind; 0 where that is not known. */
    double usual_ipc;
    uint64_t reserved;
    /** What leads to its request. */
    picollo_exemplar_context context;
    /** Why it was slow, or took what it took: PICOLLO_CAUSE_.... */
    uint32_t cause;
    /** What is known: PICOLLO_KNOWN_.... */
    uint32_t known;
    /** Why there is no evidence: PICOLLO_MISSING_.... */
    uint32_t missing;
    /** Of which kind it is. */
    uint32_t label;
    /** The kernel's id of the thread that it ended on. */
    int32_t thread;
    /** The CPU that it ended on, or PICOLLO_CPU_UNKNOWN. */
    uint32_t cpu;
    /** How often the thread gave the CPU up, to wait. */
    uint32_t voluntary;
    /** How often it was taken off. */
    uint32_t involuntary;
    /** Page faults without reading from a disk. */
    uint32_t minor_faults;
    /** Page faults with. */
    uint32_t major_faults;
    /** How often its group was throttled since that was looked at last. */
    uint32_t throttled;
    /** Whether it is above the threshold of its interval. */
    uint32_t is_slow;
} picollo_exemplar;

/** An interval that has ended. */
typedef struct picollo_exemplar_interval {
    /** When it began, in nanoseconds since 1970. */
    uint64_t begin_unix_nanos;
    /** When it ended. */
    uint64_t end_unix_nanos;
    /** Above which an observation was slow, as recorded; 0 where that was not known: then the slowest are. */
    uint64_t threshold;
    /** What was recorded. */
    uint64_t observations;
    /** How many were slow. */
    uint64_t slow;
    /** Of how many of those causes are known. */
    uint64_t known;
    /** Ordinary observations that were looked into so far. */
    uint64_t controls;
    /** In excess of the usual, all slow ones together. */
    uint64_t excess_nanos;
    /** Observations that are kept. */
    uint64_t length;
} picollo_exemplar_interval;

/** What a cause has of an interval's excess. */
typedef struct picollo_exemplar_share {
    /** 0 to 1; 0 for PICOLLO_CAUSE_SEVERAL and _NOT_KNOWN. */
    double share;
    /** Of all slow observations whose evidence is known. */
    uint64_t excess_nanos;
    /** How many were slow because of it. */
    uint64_t observations;
    /** The median of its excess in these. */
    uint64_t typical_nanos;
} picollo_exemplar_share;

/* ----------------------------------------------------------------------------------------------------------
 * Exemplars that say why: the slowest observations of a histogram, with what leads to their requests and what became of their time.
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
 * A scope records how long it took, as picollo_scope_end does. What is slow is looked into on the spot: from the kernel's accounts of the
 * thread it is known what it ran, what it waited by its own call, and what it was ready and had no CPU. A random sample of ordinary
 * observations says what of that is usual; the excess is the cause. It needs no privileges, no PMU, and no other
 * thread. Where there is a PMU, PICOLLO_EXEMPLARS_COUNTERS tells more work from slower work. Linux only.
 *
 * The way of a scope that is not slow is two readings of the clock, a record and four comparisons. Every 100 to 300 microseconds a thread's
 * accounts are read when a scope begins, which is at most 1 % of its time. Nothing here makes a thread wait for another, but
 * picollo_exemplars_annotate and _collect. In the child of a fork a collector begins anew.
 */

/** Makes a collector of a histogram's observations, which records into it as well.
 *
 * Ownership: *out holds the histogram.
 * Cost: allocates room for all that it will keep: some 700 KB, and 200 bytes for each of the slowest. */
PICOLLO_STATUS picollo_exemplars_create(picollo_histogram *histogram,
    const picollo_exemplars_options *options, picollo_exemplars **out, picollo_error *error);

/** Begins to measure. Does nothing when out is NULL; where exemplars is, nothing will be recorded.
 *
 * Requires: out leads to a scope; exemplars is NULL or outlives it.
 * Ownership: nothing to free; a scope that never ends is simply not recorded.
 * Threads: any thread. A scope may end on another one: it is recorded, and nothing is known of where its time went.
 * Cost: hot. One reading of the clock; where the thread's last checkpoint is older than 100 to 300 microseconds,
 *   some microsecond more. */
void picollo_exemplars_begin(picollo_exemplars *exemplars, picollo_exemplar_scope *out);

/** Ends a measurement, records how long it took, and keeps it if it is slow, or an example of its octave of values. Ending it again does
 * nothing.
 *
 * Requires: scope was begun, with the same exemplars.
 * Returns: PICOLLO_EXEMPLAR_KEPT or 0; 0 for NULL (exemplars, scope). Only for what is kept it is worth while to
 *   look up a context for picollo_exemplars_annotate.
 * Threads: as picollo_histogram_record on the collector's histogram.
 * Cost: hot. One reading of the clock, a conversion, a record and two comparisons; some 2 microseconds for what is
 *   slow. */
uint32_t picollo_exemplars_end(picollo_exemplars *exemplars, picollo_exemplar_scope *scope);

/** Says what leads to the request of an observation that is kept.
 *
 * Requires: picollo_exemplars_end returned PICOLLO_EXEMPLAR_KEPT for scope.
 * Returns: PICOLLO_OK, also where slower ones have taken its place meanwhile; PICOLLO_ERR_FORKED in the child of a
 *   fork in whose parent another thread was at work on the collector.
 * Cost: looks through what is kept; waits for a thread that is doing something with it. */
PICOLLO_STATUS picollo_exemplars_annotate(picollo_exemplars *exemplars, const picollo_exemplar_scope *scope,
    const picollo_exemplar_context *context);

/** Records a value that was timed elsewhere, and keeps it as picollo_exemplars_end does. Nothing is known of what its thread did.
 *
 * Requires: value is in the collector's unit; context is NULL, or leads to what leads to its request.
 * Returns: PICOLLO_EXEMPLAR_KEPT or 0; 0 for NULL (exemplars).
 * Threads: as picollo_histogram_record on the collector's histogram.
 * Cost: a record and some nanoseconds; for what is slow as picollo_exemplars_end. */
uint32_t picollo_exemplars_offer(picollo_exemplars *exemplars, uint64_t value,
    const picollo_exemplar_context *context);

/** Makes ready what the calling thread's first slow observation would make: it opens /proc/thread-self/schedstat, without which waiting
 * and the run queue are not told apart, and with PICOLLO_EXEMPLARS_COUNTERS the thread's counters.
 *
 * Returns: PICOLLO_ERR_UNSUPPORTED where that cannot be had, or as many threads as the options say have it: the
 *   collector works all the same; for counters PICOLLO_ERR_BUSY where as many threads have them, and else as
 *   picollo_session_create: the collector works without them; PICOLLO_ERR_OUT_OF_MEMORY.
 * Cost: a system call, and some 14 KB, given back when the thread ends; with counters as picollo_session_create. */
PICOLLO_STATUS picollo_exemplars_prepare_thread(picollo_exemplars *exemplars, picollo_error *error);

/** Ends the interval and begins the next one. The calls below tell of the one that has ended.
 *
 * Returns: PICOLLO_ERR_OUT_OF_MEMORY, when nothing is lost, and the next call tells the same interval, or a longer
 *   one; PICOLLO_ERR_BUSY where the histogram cannot be read now, as well; PICOLLO_ERR_FORKED as
 *   picollo_exemplars_annotate.
 * Cost: reads the histogram, allocates anew what the next interval keeps, and judges what this one kept. */
PICOLLO_STATUS picollo_exemplars_collect(picollo_exemplars *exemplars, picollo_error *error);

/** Tells what was counted in the interval that has ended.
 *
 * Returns: PICOLLO_ERR_EMPTY before the first picollo_exemplars_collect; PICOLLO_ERR_FORKED as
 *   picollo_exemplars_annotate. */
PICOLLO_STATUS picollo_exemplars_interval(const picollo_exemplars *exemplars, picollo_exemplar_interval *out);

/** Tells what a cause has of the excess.
 *
 * Requires: cause is PICOLLO_CAUSE_....
 * Returns: as picollo_exemplars_interval. */
PICOLLO_STATUS picollo_exemplars_share(const picollo_exemplars *exemplars, uint32_t cause,
    picollo_exemplar_share *out);

/** Tells one of the observations that the ended interval kept: the slowest first, then the latest of each octave of values.
 *
 * Returns: PICOLLO_END behind the last; PICOLLO_ERR_EMPTY and PICOLLO_ERR_FORKED as picollo_exemplars_interval. */
PICOLLO_STATUS picollo_exemplars_get(const picollo_exemplars *exemplars, size_t index, picollo_exemplar *out);

/** Writes the interval that has ended: for people (PICOLLO_TEXT_HUMAN) the answer, the causes, and the slowest with what leads to their
 * requests; for reports (PICOLLO_TEXT_MARKDOWN) the same in tables; for pages and notebooks (PICOLLO_TEXT_HTML) a section with bars, that
 * refers to nothing outside and looks as the page does; for programs (PICOLLO_TEXT_JSON) all of it, exactly, as picollo report reads it.
 *
 * Requires: format is PICOLLO_TEXT_HUMAN, PICOLLO_TEXT_MARKDOWN, PICOLLO_TEXT_HTML or PICOLLO_TEXT_JSON; buffer,
 *   capacity and out_length as at the head of "Text". HTML has at most 50,000 bytes.
 * Returns: PICOLLO_ERR_UNSUPPORTED for other formats; PICOLLO_ERR_EMPTY and PICOLLO_ERR_FORKED as
 *   picollo_exemplars_interval. */
PICOLLO_STATUS picollo_exemplars_format(const picollo_exemplars *exemplars, uint32_t format, char *buffer,
    size_t capacity, size_t *out_length);

/** Makes the observations that the ended interval kept the exemplars of a registry's histogram, instead of those before: with their traces,
 * and their causes as the label cause, but for those of which nothing is known.
 *
 * Requires: id is that of the histogram's entry in registry.
 * Returns: PICOLLO_ERR_EMPTY as picollo_exemplars_interval; otherwise as picollo_registry_set_exemplars. */
PICOLLO_STATUS picollo_exemplars_publish(const picollo_exemplars *exemplars, picollo_registry *registry,
    uint64_t id);

/** Frees a collector.
 *
 * Requires: no scope of it is under way. */
void picollo_exemplars_free(picollo_exemplars *exemplars);

/* ----------------------------------------------------------------------------------------------------------
 * Events: what can be counted.
 */

/** Count in user space. Any of user, kernel and hypervisor overrides the session's choice. */
#define PICOLLO_EVENT_USER (1 << 0)
/** Count in the kernel. */
#define PICOLLO_EVENT_KERNEL (1 << 1)
/** Count in the hypervisor. */
#define PICOLLO_EVENT_HYPERVISOR (1 << 2)
/** Precision 0 to 3, times this: as p, pp and ppp of perf. Dropped where the machine does not offer it. */
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
    /** More of it; the address of a breakpoint. */
    uint64_t config1;
    /** More of it; the length of a breakpoint. */
    uint64_t config2;
    /** More of it. */
    uint64_t config3;
    /** What one count is worth in unit; 1 where the PMU gives none. 0 means 1, for events that are filled in by hand. */
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
    /** Counters for one event each; 0 where unknown. */
    uint32_t fixed_counters;
    /** Counters for any event; 0 where unknown. */
    uint32_t programmable_counters;
    /** /proc/sys/kernel/perf_event_paranoid; INT32_MIN where it cannot be read. */
    int32_t paranoid;
    /** 1: under a hypervisor. */
    uint32_t hypervisor;
    /** What is missing and how to get it; empty when all is well. */
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
 * - where libpfm4 is installed, names that none of these know: the processor's own, MEM_LOAD_RETIRED.L1_MISS, with libpfm4's
 *   attributes (:c=2:u). The display name begins with the PMU and two colons, and means the event of that PMU or none. A
 *   PMU that this processor cannot have is refused, unless the variable LIBPFM_FORCE_PMU names it.
 *
 * Modifiers may follow behind a colon: u user, k kernel, h hypervisor, p to ppp precision, H host, G guest, I not
 * while idle. Whether the event can be counted is found out by picollo_session_create.
 *
 * Requires: spec is not NULL.
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT for text that is no event name, and for letters that are no modifiers;
 *   PICOLLO_ERR_NO_SUCH_EVENT for one that this machine does not know, with the nearest that it does;
 *   PICOLLO_ERR_PERMISSION where the kernel's list of tracepoints may not be read; PICOLLO_ERR_OUT_OF_MEMORY;
 *   PICOLLO_ERR_OS.
 * Cost: microseconds for generic events; others read files of the kernel. Names that nothing else knows load
 *   libpfm.so.4, the first of them, which takes about a millisecond and stays loaded. */
PICOLLO_STATUS picollo_event_parse(const char *spec, picollo_event *out, picollo_error *error);

/** Looks what this machine can count, what is missing and how to get it.
 *
 * Returns: PICOLLO_OK, also where nothing can be counted: out says so.
 * Cost: opens a counter and closes it again, and reads files of the kernel: about a millisecond. Where counters may
 *   be read in user space, the first time also what the first picollo_session_create takes for a child process. */
PICOLLO_STATUS picollo_perf_probe(picollo_perf_info *out, picollo_error *error);

/* ----------------------------------------------------------------------------------------------------------
 * Sessions: performance counters.
 *
 * A session opens events for one target, scheduled together where the processor has room, each with a histogram of
 * its own:
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
 * picollo_session_create, _enable and _reset take a base: values and times from which to count. picollo_session_read
 * takes a reading of all events; deltas are between the last two readings, the first one since the base.
 * picollo_session_record never reads: it records the last deltas, or values since the base, once for each read. An
 * event that was not counted records nothing and is tallied in its info. A running counter is never reset: it gets a
 * new base.
 *
 * Reading in user space: PICOLLO_READ_AUTO does it where the kernel allows it and where a child process has tried the
 * instruction and lived, once in a process for each kind of counter. Should somebody forbid it later, while the session
 * is in use (0 written to /sys/devices/cpu/rdpmc, kernel.perf_user_access set to 0, a move to another hypervisor), the
 * next reading raises SIGSEGV (on aarch64 SIGILL), which ends the process. Nothing tells beforehand, so that no check
 * can prevent it. A program that must not risk that asks for PICOLLO_SESSION_SYSCALL_ONLY, or its user sets the
 * environment variable PICOLLO_RDPMC:
 *
 *     auto, on, 1   as above; also without the variable
 *     off, 0        never read in user space; so does every value that is not listed here
 *     force         read in user space without trying it in a child: for simulators, which make the fault good
 *
 * picollo_perf_probe tells whether counters are read in user space, and why not.
 *
 * Threads: PICOLLO_READ_AUTO and picollo_session_calibrate on the opening thread only; everything else on any
 *   thread, one at a time. After a fork the child can only free its copy: all else is PICOLLO_ERR_FORKED, because
 *   the counters are the parent's.
 */

/** Keep the events of the first group on the processor's counters all the time, as far as the processor can. Where it cannot, when they
 * are enabled or later, they are opened again without this and share counters like any others: no error, but
 * PICOLLO_EVENT_INFO_UNPINNED and a message. An interval that was lost over it is PICOLLO_ERR_NOT_COUNTED. Events that
 * find no room in the first group are not pinned, and flagged so. */
#define PICOLLO_SESSION_PINNED (1 << 0)
/** Count in the kernel too. */
#define PICOLLO_SESSION_KERNEL (1 << 1)
/** Do not start counting at once. */
#define PICOLLO_SESSION_DISABLED (1 << 2)
/** Count the threads and processes that the target starts from now on, too. */
#define PICOLLO_SESSION_INHERIT (1 << 3)

/** Events that cannot be opened stay as entries with their status, never counted; where the kernel may not be counted, user space is,
 * and the info says so. */
#define PICOLLO_SESSION_SKIP_UNAVAILABLE (1 << 4)
/** Fences around reads: everything before a read is counted, nothing after it. */
#define PICOLLO_SESSION_ORDERED (1 << 5)
/** Count on one CPU only. */
#define PICOLLO_SESSION_ON_CPU (1 << 6)
/** Subtract what reading itself adds, once a calibration has measured it, from values (not from raw ones). */
#define PICOLLO_SESSION_SUBTRACT (1 << 7)

/** Never read in user space, whatever the mode of a reading: no page is mapped, no child tries the instruction, no clock is
 * calibrated. For programs that must not be ended by a fault, should somebody forbid user reads while they run; and for sessions
 * that are to be made quickly. */
#define PICOLLO_SESSION_SYSCALL_ONLY (1 << 8)
/** The most events a session may have, so that a whole group's answer fits on the stack. */
#define PICOLLO_SESSION_MAX_EVENTS 64
/** In user space where that is possible and provably right, else by system call. Opening thread only. */
#define PICOLLO_READ_AUTO 0
/** By system call, on any thread. */
#define PICOLLO_READ_SYSCALL 1
/** Read in user space; for a delta, at both ends. */
#define PICOLLO_READING_FAST (1 << 0)
/** Provably not descheduled since the previous read. */
#define PICOLLO_READING_CLEAN (1 << 1)
/** The event shared a counter with others, so the value is extrapolated. */
#define PICOLLO_READING_SCALED (1 << 2)
/** Someone else reset the counter: the delta starts anew, and what was counted just before the reset is missing. */
#define PICOLLO_READING_RESYNC (1 << 3)
/** The times are from the last system call, not from this moment. */
#define PICOLLO_READING_TIMES_STALE (1 << 4)
/** Counted in user space only, though more was asked for. */
#define PICOLLO_EVENT_INFO_USER_ONLY (1 << 0)
/** Not kept on a counter all the time, though that was asked for: not pinned, or pinned and pushed off once. The message says which. */
#define PICOLLO_EVENT_INFO_UNPINNED (1 << 1)
/** Counted by other means than a perf event. */
#define PICOLLO_EVENT_INFO_SUBSTITUTED (1 << 2)
/** Can be read in user space. */
#define PICOLLO_EVENT_INFO_FAST (1 << 3)
/** Opened, but the processor counts nothing. */
#define PICOLLO_EVENT_INFO_SILENT (1 << 4)

/** What a session is made from. By default: the calling thread on any CPU, in user space, counting at once. */
typedef struct picollo_session_options {
    uint32_t struct_size;
    /** PICOLLO_SESSION_.... */
    uint32_t flags;
    /** Of the histograms, as in picollo_histogram_options; 0: 0.001. */
    double relative_error;
    /** 0: the calling thread; -1 with PICOLLO_SESSION_ON_CPU: everything on that CPU; else a thread's id, as gettid
     * tells it. */
    int32_t thread;
    /** Read only with PICOLLO_SESSION_ON_CPU; else any CPU. */
    int32_t cpu;
    /** Of the histograms: 32 or 64; 0: 64. */
    uint32_t counter_bits;
    uint32_t reserved;
} picollo_session_options;
#define PICOLLO_SESSION_OPTIONS_INIT {sizeof(picollo_session_options), 0, 0, 0, 0, 0, 0}

/** One event's count over an interval. */
typedef struct picollo_reading {
    /** The count, extrapolated where the event was multiplexed, less the overhead where the session subtracts it. */
    uint64_t value;
    /** The count as the kernel gave it. */
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

/** How an event came to be counted. */
typedef struct picollo_event_info {
    /** Records that found no count: the histogram's total and this add up to the number of records. */
    uint64_t not_counted_count;
    /** Events of its own that a pair of fast reads adds, after a calibration. */
    uint64_t overhead_fast;
    /** The same of a pair of reads by system call. */
    uint64_t overhead_syscall;
    /** 0, or why the event is not open. */
    int32_t status;
    /** The errno behind it; 0: none. */
    int32_t os_errno;
    /** Events of one group are scheduled together. UINT32_MAX: in none. */
    uint32_t group;
    /** PICOLLO_EVENT_INFO_.... */
    uint32_t flags;
    /** What there is to say about it; empty when all is as asked for. */
    char message[248];
} picollo_event_info;

/** Opens events, starts counting (without PICOLLO_SESSION_DISABLED), and takes a base.
 *
 * The events keep their order and number; the same event may be given twice. Those that find no room beside the
 * others get a group of their own, and are then scheduled by turns: see picollo_event_info.group.
 *
 * Requires: events leads to 1 to PICOLLO_SESSION_MAX_EVENTS events.
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT for options, events or their number outside their ranges;
 *   PICOLLO_ERR_UNSUPPORTED for unknown flags and options; and why an event cannot be counted:
 *   PICOLLO_ERR_NO_SUCH_EVENT, PICOLLO_ERR_PERMISSION, PICOLLO_ERR_UNSUPPORTED, PICOLLO_ERR_OS. With
 *   PICOLLO_SESSION_SKIP_UNAVAILABLE such events stay as entries without counts instead. error tells which event,
 *   and what to do about it.
 * Threads: any thread, which becomes the opening thread.
 * Cost: some system calls and the allocation of a histogram for each event. The first session of a process whose
 *   counters may be read in user space takes some hundred microseconds more, for a child process that tries it,
 *   whatever memory the process has (the child shares it; where a sandbox refuses that, it is forked, which takes
 *   some 0.1 s for each GB in small pages), and 2 to 50 ms where neither the kernel nor the processor says how fast
 *   its clock runs. Neither with PICOLLO_SESSION_SYSCALL_ONLY. */
PICOLLO_STATUS picollo_session_create(const picollo_session_options *options, const picollo_event *events,
    size_t length, picollo_session **out, picollo_error *error);

/** Opens the events that texts name: picollo_event_parse for each, and picollo_session_create for all.
 *
 * Requires: specs leads to length texts, 1 to PICOLLO_SESSION_MAX_EVENTS, each as for picollo_event_parse; options
 *   as for picollo_session_create.
 * Returns: as picollo_event_parse, also with PICOLLO_SESSION_SKIP_UNAVAILABLE, and as picollo_session_create. error
 *   tells which text, and what to do about it.
 * Threads: any thread, which becomes the opening thread.
 * Cost: that of both. */
PICOLLO_STATUS picollo_session_open(const char *const *specs, size_t length,
    const picollo_session_options *options, picollo_session **out, picollo_error *error);

/** Closes the events and frees the session. Histograms that picollo_session_histogram_ref gave out live on.
 *
 * Threads: any thread; also in a child after a fork.
 * Cost: some system calls for each event. */
void picollo_session_free(picollo_session *session);

/** Tells how many events there are: as many as were given. */
PICOLLO_STATUS picollo_session_length(const picollo_session *session, size_t *out);

/** Tells the event at a position, as it was given. */
PICOLLO_STATUS picollo_session_event(const picollo_session *session, size_t index, picollo_event *out);

/** Tells how an event came to be counted, or why it is not. */
PICOLLO_STATUS picollo_session_event_info(const picollo_session *session, size_t index,
    picollo_event_info *out);

/** Starts counting, and takes a new base. A processor that turns out to count nothing is no error:
 * PICOLLO_EVENT_INFO_SILENT says so.
 *
 * Returns: PICOLLO_ERR_OS; and where pinned events had to be opened again without pinning (PICOLLO_SESSION_PINNED),
 *   why that was refused: PICOLLO_ERR_NO_SUCH_EVENT, PICOLLO_ERR_PERMISSION, PICOLLO_ERR_UNSUPPORTED,
 *   PICOLLO_ERR_OS. These events are closed then, which their infos say, too; with PICOLLO_SESSION_SKIP_UNAVAILABLE
 *   only the infos say it. After an error nothing counts.
 * Cost: some system calls. */
PICOLLO_STATUS picollo_session_enable(picollo_session *session, picollo_error *error);

/** Stops counting. What was counted can still be read.
 *
 * Returns: PICOLLO_ERR_OS.
 * Cost: some system calls. */
PICOLLO_STATUS picollo_session_disable(picollo_session *session, picollo_error *error);

/** Measures what a pair of reads adds to each event by itself, and notes it in the infos. What was read and recorded
 * stays as it is, as if no time had passed.
 *
 * Returns: PICOLLO_ERR_UNSUPPORTED where another thread or a CPU is counted, which reading does not slow down;
 *   PICOLLO_ERR_WRONG_THREAD; PICOLLO_ERR_OUT_OF_MEMORY; PICOLLO_ERR_OS.
 * Threads: opening thread only.
 * Cost: some milliseconds. */
PICOLLO_STATUS picollo_session_calibrate(picollo_session *session, picollo_error *error);

/** Takes a reading of all events: of all of them, or an error that changes nothing.
 *
 * Requires: how is PICOLLO_READ_....
 * Returns: PICOLLO_OK, also when some events were not counted: their readings say so; PICOLLO_ERR_WRONG_THREAD;
 *   PICOLLO_ERR_OS; PICOLLO_ERR_FORKED.
 * Threads: PICOLLO_READ_AUTO opening thread only; PICOLLO_READ_SYSCALL any thread, one at a time.
 * Cost: one system call for each group. Where pinned events were pushed off their counters, some
 *   more, and an allocation if they have to be opened again. */
PICOLLO_STATUS picollo_session_read(picollo_session *session, uint32_t how, picollo_error *error);

/** Records the last reading of each event into its histogram. An event that was not counted records nothing, and is
 * tallied in picollo_event_info.not_counted_count.
 *
 * Requires: since is PICOLLO_SINCE_PREVIOUS for what was counted between the last two reads, or PICOLLO_SINCE_RESET
 *   for what was counted since the base.
 * Returns: PICOLLO_ERR_EMPTY when nothing was read since the base, or since the last record.
 * Cost: a record for each event; no system call, no allocation. */
PICOLLO_STATUS picollo_session_record(picollo_session *session, uint32_t since);

/** Tells the last reading of each event.
 *
 * Requires: since as for picollo_session_record. There are as many readings as events.
 * Returns: PICOLLO_ERR_EMPTY before the first read since the base.
 * Cost: none to speak of; no system call, no allocation. */
PICOLLO_STATUS picollo_session_readings(const picollo_session *session, uint32_t since, picollo_reading *out,
    size_t capacity, size_t *out_length);

/** Takes a new base, and resets the histograms. The counters themselves run on.
 *
 * Returns: PICOLLO_ERR_OS, which changes nothing; PICOLLO_ERR_BUSY against others that reset the same histogram;
 *   PICOLLO_ERR_FORKED. After PICOLLO_ERR_BUSY the event that error names has kept its histogram together with its
 *   not_counted_count, so that the two still add up to the records made; the base is new, and all other events are
 *   reset. To be tried again.
 * Cost: one system call for each group, and a copy of all counters of the histograms. */
PICOLLO_STATUS picollo_session_reset(picollo_session *session, picollo_error *error);

/** Gives out the histogram of an event, for reading: it is in single-writer mode, and picollo_session_record is the
 * writer.
 *
 * Requires: nobody else records into it.
 * Ownership: *out is a reference of its own, for picollo_histogram_free; it outlives the session.
 * Threads: any thread, one at a time. The histogram may be read on any thread at any time. */
PICOLLO_STATUS picollo_session_histogram_ref(const picollo_session *session, size_t index,
    picollo_histogram **out);

/* ----------------------------------------------------------------------------------------------------------
 * Benchmarks: which of two pieces of code is faster.
 *
 * A and B are run alternately, in blocks of four samples (A B B A or B A A B, by a coin), so that what changes slowly affects both
 * alike, and the differences within blocks are judged. A benchmark says what to run next, and how often. It warms up, finds the
 * number of calls that make a sample long enough for the clock (one number for both, so that the cost of calling cancels, unless they
 * differ fourfold), measures empty samples and subtracts their time. It ends when the answer can no longer change, or the budget is
 * spent:
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
 * For PICOLLO_BENCHMARK_EMPTY run what surrounds the calls of a and b: here a loop that takes no time, in a language with slower
 * loops a loop of calls that do nothing. The results of a and b have to be used, or the compiler may leave them out
 * (PICOLLO_BENCHMARK_NOTHING_A). Where in memory a loop lies changes its time by a third and more. So run a and b by one function that
 * is not inlined and calls through a pointer, or each by a function that is aligned to 64 bytes. What remains, two cycles a call, is
 * the resolution, below which no difference is reported. Times are in picoseconds a call.
 *
 * Between blocks the benchmark watches steal, CPU time and pressure of the machine, where the system reports them. A block is
 * disturbed where, in a tenth of a second or more around it, more than a twentieth of the time was taken: by the host, or by other
 * programs while something had to wait for a CPU. Disturbed blocks are left out. If more than half are disturbed, all count: A and B
 * took turns, so the disturbance is in both, and in the width of the interval. If that interval says nothing, the comparison has
 * PICOLLO_COMPARISON_NOISY and no verdict: a larger budget may help. PICOLLO_BENCHMARK_KEEP_DISTURBED counts all blocks.
 *
 * Without a PMU, picollo compare --why counts the instructions of two programs exactly. Under Valgrind, times of
 * benchmarks are not to be believed (PICOLLO_BENCHMARK_SIMULATED).
 */

/** Run A. */
#define PICOLLO_BENCHMARK_A 0
/** Run B. */
#define PICOLLO_BENCHMARK_B 1
/** Run as many calls of nothing: what is found in every sample and belongs to neither. */
#define PICOLLO_BENCHMARK_EMPTY 2
/** Subtract nothing: of samples so long that what surrounds them does not matter, as whole processes are. */
#define PICOLLO_BENCHMARK_NO_OVERHEAD (1 << 0)

/** Blocks that were disturbed from outside count like all others: where other programs belong to what is measured, as a server does
 * that A and B ask. */
#define PICOLLO_BENCHMARK_KEEP_DISTURBED (1 << 1)
/** Set when the budget was spent before as many blocks were measured as there should be at least. */
#define PICOLLO_BENCHMARK_BUDGET_SPENT (1 << 0)
/** Set when a call of A takes less than can be told: it does nothing, or the compiler left it out. */
#define PICOLLO_BENCHMARK_NOTHING_A (1 << 1)
/** Set when a call of B takes less than can be told: it does nothing, or the compiler left it out. */
#define PICOLLO_BENCHMARK_NOTHING_B (1 << 2)
/** Set where Valgrind executed it: its times say nothing, and there is no verdict. */
#define PICOLLO_BENCHMARK_SIMULATED (1 << 3)

/** How to measure. Begin with PICOLLO_BENCHMARK_OPTIONS_INIT, and change what should
 * not be the default. */
typedef struct picollo_benchmark_options {
    /** sizeof(picollo_benchmark_options). */
    uint32_t struct_size;
    /** PICOLLO_BENCHMARK_NO_OVERHEAD and PICOLLO_BENCHMARK_KEEP_DISTURBED, or 0. */
    uint32_t flags;
    /** Blocks before it may end by itself. 0: 20. */
    uint32_t min_blocks;
    /** Blocks at most. 0: 100,000. */
    uint32_t max_blocks;
    /** Calls in a sample. 0: as many as sample_seconds take. */
    uint64_t repetitions;
    /** Seconds at most; a sample that was begun is finished. 0: 5. One block, of four samples, is measured in any case: of
     * one call each where a call takes longer than all of it. */
    double budget_seconds;
    /** Seconds to warm up for, both together. 0: a tenth of the budget. */
    double warm_up_seconds;
    /** Seconds that a sample should take. 0: 0.0002, or a hundredth of the budget where that is less. An eighth of it at most. */
    double sample_seconds;
    /** 0: it ends when the answer can no longer change. Above: when half the width of the interval of the difference is at
     * most this share of A, or a tenth of the resolution. Negative: only with the budget. */
    double precision;
    /** Of the interval, between 0 and 1. 0: 0.95. */
    double confidence;
    /** Differences up to this share of A do not matter. 0: 0.01; negative: no such threshold. */
    double relative_threshold;
    /** Seconds a call that cannot be told apart. 0: half a nanosecond, two cycles, which where in memory a loop lies may
     * change, or a hundredth of what a call of nothing takes where that is more; with PICOLLO_BENCHMARK_NO_OVERHEAD
     * nothing. Negative: nothing. */
    double resolution_seconds;
} picollo_benchmark_options;
#define PICOLLO_BENCHMARK_OPTIONS_INIT {sizeof(picollo_benchmark_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/** How a benchmark went. Times are in picoseconds. */
typedef struct picollo_benchmark_outcome {
    /** The difference and the verdict, of picoseconds a call without the overhead. The two medians differ by exactly the difference,
     * and may be below zero where a call takes next to nothing. */
    picollo_block_comparison blocks;
    /** What an empty sample with A's number of calls took: the median, which was subtracted. */
    double overhead_a;
    /** What an empty sample with B's number of calls took: the median, which was subtracted. */
    double overhead_b;
    /** Calls of A in each sample. */
    uint64_t repetitions_a;
    /** Calls of B in each sample: as many as of A, unless the two differ fourfold. */
    uint64_t repetitions_b;
    /** Samples of each side: two a block. */
    uint64_t sample_count;
    /** Since the benchmark was made. */
    uint64_t elapsed;
    /** Half the interval of overhead_a, at 95 %. */
    double overhead_error_a;
    /** Half the interval of overhead_b, at 95 %. */
    double overhead_error_b;
    /** Empty samples. */
    uint64_t empty_count;
    /** [BENCHMARK_BUDGET_SPENT] and its siblings. */
    uint32_t flags;
    /** 0. */
    uint32_t reserved;
} picollo_benchmark_outcome;

/** What else the machine did meanwhile. NaN is what is not known. */
typedef struct picollo_benchmark_disturbance {
    /** Blocks that were measured. */
    uint64_t block_count;
    /** Of these, what was disturbed from outside. */
    uint64_t disturbed_count;
    /** Of these, what was left out of the verdict: none where more than half were disturbed, so that all count, or where they are to
     * be kept. */
    uint64_t left_out_count;
    /** Seconds that were looked at: since the benchmark was made, with the warm-up. */
    double seconds;
    /** Seconds that the host took from the CPUs that the program may run on. */
    double steal_seconds;
    /** Seconds of CPU time that other programs took on these CPUs. */
    double others_seconds;
    /** Seconds in which something, this program or another, had to wait for a CPU. */
    double pressure_seconds;
    /** The lowest frequency that was seen, of the CPU that the benchmark was made on: hertz. */
    double frequency_low;
    /** The highest. */
    double frequency_high;
    /** CPUs that the program may run on; 0: not known. */
    uint32_t cpu_count;
    /** 0. */
    uint32_t reserved;
} picollo_benchmark_disturbance;

/** How much of an event a call took. */
typedef struct picollo_benchmark_counts {
    /** Of A, without that of empty samples; NaN where nothing was counted. */
    double a;
    /** Of B, without that of empty samples; NaN where nothing was counted. */
    double b;
    /** 0, or why there is no count: the number of the status. */
    int32_t status;
    /** 0. */
    uint32_t reserved;
} picollo_benchmark_counts;

/** Makes a benchmark, which may count events beside the time, on the calling thread. Events that are not available stay
 * as entries without counts.
 *
 * Requires: events leads to length events.
 * Returns: with events as picollo_session_create.
 * Threads: any thread, which becomes the opening thread.
 * Cost: allocates two histograms and some lists, opens and reads two small files of the system; with events also as
 *   picollo_session_create. */
PICOLLO_STATUS picollo_benchmark_create(const picollo_benchmark_options *options, const picollo_event *events,
    size_t length, picollo_benchmark **out, picollo_error *error);

/** Frees a benchmark.
 *
 * Cost: with events some system calls. */
void picollo_benchmark_free(picollo_benchmark *benchmark);

/** Reports what to run now, and begins a sample: the clock is read last. A sample that was begun and not done is forgotten.
 *
 * Returns: PICOLLO_END at the end; with events as picollo_session_read.
 * Threads: opening thread only with events, else one at a time.
 * Cost: reads the clock; with events also as picollo_session_read. */
PICOLLO_STATUS picollo_benchmark_next(picollo_benchmark *benchmark, uint32_t *out_which,
    uint64_t *out_repetitions, picollo_error *error);

/** Ends the sample that was begun: the clock is read first.
 *
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT when none was begun; with events as picollo_session_read.
 * Threads: as picollo_benchmark_next.
 * Cost: reads the clock; now and then sorts the blocks. */
PICOLLO_STATUS picollo_benchmark_done(picollo_benchmark *benchmark, picollo_error *error);

/** Ends the sample that was begun, whose time the caller knows better.
 *
 * Requires: picoseconds is what the whole sample took.
 * Otherwise: as picollo_benchmark_done. */
PICOLLO_STATUS picollo_benchmark_done_after(picollo_benchmark *benchmark, uint64_t picoseconds,
    picollo_error *error);

/** Reports the part of the budget that is spent, 0 to 1. It may end long before that is 1.
 *
 * Threads: one at a time.
 * Cost: reads the clock. */
PICOLLO_STATUS picollo_benchmark_progress(const picollo_benchmark *benchmark, double *out);

/** Reports how it went, so far, and what else the machine did meanwhile. What is not known of that is NaN; elsewhere than on Linux
 * that is all of it, and no block is disturbed.
 *
 * Requires: out_noise may be NULL.
 * Returns: PICOLLO_ERR_EMPTY before the first block is done; PICOLLO_ERR_OUT_OF_MEMORY.
 * Threads: one at a time.
 * Cost: in the middle of a benchmark, sorts the blocks. */
PICOLLO_STATUS picollo_benchmark_result(const picollo_benchmark *benchmark, picollo_benchmark_outcome *out,
    picollo_benchmark_disturbance *out_noise);

/** Reports how much of an event a call took, by the event's position. The count has a status.
 *
 * Threads: one at a time. */
PICOLLO_STATUS picollo_benchmark_counter(const picollo_benchmark *benchmark, size_t index,
    picollo_benchmark_counts *out);

/** Gives out the histogram of A's or B's samples, for reading: picoseconds a call. It is in single-writer mode, and the
 * benchmark is the writer.
 *
 * Requires: which is PICOLLO_BENCHMARK_A or PICOLLO_BENCHMARK_B; nobody else records into the histogram.
 * Ownership: *out outlives the benchmark.
 * Threads: one at a time. */
PICOLLO_STATUS picollo_benchmark_histogram_ref(const picollo_benchmark *benchmark, uint32_t which,
    picollo_histogram **out);

/** Writes how it went: what changed in the times of single samples, the verdict by blocks, and the counters.
 *
 * Requires: format is PICOLLO_TEXT_MARKDOWN or _HUMAN. Empty names read "Before" and "After".
 * Returns: PICOLLO_ERR_UNSUPPORTED for the other formats of PICOLLO_TEXT_...; PICOLLO_ERR_EMPTY before the first block
 *   is done.
 * Threads: one at a time.
 * Cost: allocates snapshots for the time of the call. */
PICOLLO_STATUS picollo_benchmark_format(const picollo_benchmark *benchmark, const char *title,
    const char *name_a, const char *name_b, uint32_t format, char *buffer, size_t capacity,
    size_t *out_length);

/* ----------------------------------------------------------------------------------------------------------
 * Known work.
 *
 * Code whose cost is known in advance, to check clocks and counters against.
 */

/** Runs repetitions times 256 dependent additions: one cycle and one instruction apiece, and two instructions a
 * repetition for the loop, which run beside the chain.
 *
 * Cost: 256 cycles a repetition, on processors that add in one cycle. */
void picollo_work_add_chain_256(uint64_t repetitions);
#ifdef __cplusplus
}
#endif

#endif /* PICOLLO_H */
