/* Generated from ffi/src by PICOLLO_WRITE_HEADER=1 cargo test -p picollo-ffi; change it there. */
/*
 * Picollo: histograms and performance counters.
 *
 * A histogram records 64-bit values in about a nanosecond each and answers percentiles with a bounded relative
 * error. A session counts what the processor and the kernel do (cycles, branch misses, page faults, ...), each event
 * into a histogram of its own.
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
 * What holds for every function, unless it says otherwise:
 *
 * - Names are picollo_<thing>_<verb>. Parameters come in the order: the thing itself, inputs, outputs, error detail.
 * - Errors: calls that can fail return a picollo_status, PICOLLO_OK or a negative number. Recording cannot fail.
 * - Outputs are written only on success. Exceptions are the lengths of text and lists, which are also told when the
 *   buffer is too small, and picollo_error, which is written only on failure.
 * - NULL is checked, and answered by PICOLLO_ERR_NULL_POINTER, or by doing nothing where there is no status. The hot
 *   functions that do not check say so. Pointers must be aligned for their type.
 * - Ownership: handles are opaque and counted. What _create returns is given back by _free, which takes NULL too.
 *   What is made from a handle keeps what it needs alive, so things may be freed in any order. Nothing else is ever
 *   the caller's to free, and the library keeps no pointer to the caller's memory after a call, but for _init_in and
 *   _attach.
 * - Threads: "any thread" calls may be made at the same time from several threads on the same object; "one at a time"
 *   calls need the caller's own exclusion; "opening thread only" is for the thread that made the object.
 * - Options begin with struct_size and zero means the default, so that options made for an older or a newer version of
 *   this header work: a struct_size below that of the first version is PICOLLO_ERR_INVALID_ARGUMENT, a non-zero field
 *   that this version does not know PICOLLO_ERR_UNSUPPORTED. All other structs never change.
 * - Text is UTF-8 and NUL-terminated. It goes into the caller's buffer.
 * - Ranges are closed: both ends belong to them.
 * - Signals: picollo_histogram_record and its _n and recorder forms are async-signal-safe; in single-writer mode a
 *   handler must not interrupt a record into the same histogram.
 */
#ifndef PICOLLO_H
#define PICOLLO_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------------------------------------------------------
 * Versions.
 */

/** Version of this interface, counted up when a program built against an older header would no longer work. */
#define PICOLLO_ABI_VERSION 1

/**
 * The ABI version of the library that the program runs with. Compare it with PICOLLO_ABI_VERSION, the one that the
 * program was compiled for.
 *
 * Returns: the version; cannot fail.
 * Threads: any thread.
 * Cost: none to speak of.
 * Since: 0.1
 */
uint32_t picollo_abi_version(void);

/**
 * The version of the library that the program runs with, such as "0.1.0".
 *
 * Returns: a static string; never NULL.
 * Ownership: the library's; do not free it.
 * Threads: any thread.
 * Cost: none to speak of.
 * Since: 0.1
 */
const char *picollo_version(void);

/* ----------------------------------------------------------------------------------------------------------
 * Status and errors.
 *
 * Every call that can fail returns a picollo_status: PICOLLO_OK, which is 0, or one of the negative numbers below.
 * Numbers are never reused; a later version may return new ones. Each function lists what it returns. Any of them that
 * returns a status, and is not handed out as a hot one, may also return PICOLLO_ERR_PANIC, which is a defect of the
 * library and is worth a report.
 */

/** 0 is success, everything else is negative. */
typedef int32_t picollo_status;

/**
 * A failure with its explanation: what, why, and what to do about it. Holds its text by value, so that making one never
 * allocates.
 */
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
/** A pointer is NULL that must not be. */
#define PICOLLO_ERR_NULL_POINTER (-1)
/** An argument is outside its documented range, or a pointer is not aligned for what it points to. */
#define PICOLLO_ERR_INVALID_ARGUMENT (-2)
/** The allocator had no memory; nothing was changed. */
#define PICOLLO_ERR_OUT_OF_MEMORY (-3)
/** The caller's buffer is too small; the call says how much it needs. */
#define PICOLLO_ERR_BUFFER_TOO_SMALL (-4)
/** This build, platform, mode or option does not offer it. */
#define PICOLLO_ERR_UNSUPPORTED (-5)
/** The layouts cannot be combined without loss, or the data were made by another version. */
#define PICOLLO_ERR_INCOMPATIBLE (-6)
/** Encoded data or an image in memory is malformed. */
#define PICOLLO_ERR_CORRUPT (-7)
/** Nothing was recorded, so there is nothing to tell. */
#define PICOLLO_ERR_EMPTY (-8)
/** Only the thread that opened the session may do this. */
#define PICOLLO_ERR_WRONG_THREAD (-9)
/** The operating system refused; picollo_error.os_errno says why. */
#define PICOLLO_ERR_OS (-10)
/** The operating system denied it for lack of rights. */
#define PICOLLO_ERR_PERMISSION (-11)
/** The event is unknown to this machine, or the machine offers no performance counters. */
#define PICOLLO_ERR_NO_SUCH_EVENT (-12)
/** The event was never scheduled in the interval, so its count is unknown rather than zero. */
#define PICOLLO_ERR_NOT_COUNTED (-13)
/** A bounded number of retries ran out against competing calls; try again. */
#define PICOLLO_ERR_BUSY (-14)
/** The session belongs to the process that forked this one: it can only be freed here. */
#define PICOLLO_ERR_FORKED (-15)
/** A defect of the library, stopped at its boundary. */
#define PICOLLO_ERR_PANIC (-127)

/**
 * A short English sentence for a status.
 *
 * Returns: a static string, also for numbers that this version does not know; never NULL.
 * Ownership: the library's; do not free it.
 * Threads: any thread.
 * Cost: none to speak of.
 * Since: 0.1
 */
const char *picollo_status_str(picollo_status status);

/* ----------------------------------------------------------------------------------------------------------
 * Handles.
 *
 * What is behind them is private. They are made by _create and the like, and given back by _free.
 */

/** A histogram of doubles: a counted reference, which picollo_double_histogram_free gives back. */
typedef struct picollo_double_histogram picollo_double_histogram;

/**
 * Counts of doubles, of one interval. Not counted: it is freed once.
 *
 * Calls that take it as const may be made from any threads at once; picollo_double_snapshot_update,
 * picollo_double_snapshot_merge (into it) and picollo_double_snapshot_free must be alone with it.
 */
typedef struct picollo_double_snapshot picollo_double_snapshot;

/**
 * A histogram: a counted reference, which picollo_histogram_free gives back. Whatever is made from a histogram, such
 * as a snapshot, holds a reference of its own, so that things may be freed in any order.
 */
typedef struct picollo_histogram picollo_histogram;

/** An array of histograms: a counted reference, which picollo_histogram_array_free gives back. */
typedef struct picollo_histogram_array picollo_histogram_array;

/** Performance counters of one target. Not counted: it is freed once. */
typedef struct picollo_session picollo_session;

/**
 * Frozen counts with their totals. Holds a reference to its histogram.
 *
 * Calls that take it as const may be made from any threads at once; picollo_snapshot_update, picollo_snapshot_merge
 * (into it) and picollo_snapshot_free must be alone with it.
 */
typedef struct picollo_snapshot picollo_snapshot;

/** An exact counter of many words. Not counted: it is freed once. */
typedef struct picollo_striped_counter picollo_striped_counter;

/* ----------------------------------------------------------------------------------------------------------
 * Histograms.
 *
 * A histogram counts 64-bit values in buckets whose width grows with the value, so that every value is known with a
 * bounded relative error. Recording takes about a nanosecond; it never fails, waits, or loses anything silently:
 * values out of range are counted apart, as underflow and overflow.
 *
 * Counts are only ever added to. A reset notes the counts of its moment, and readers subtract them. So any number of
 * threads may read and reset while one records.
 *
 *     picollo_histogram *latency;
 *     picollo_histogram_options options = {0};            (C++: {})
 *     options.struct_size = sizeof options;
 *     options.relative_error = 0.01;
 *     options.max_trackable = 1000000000;
 *     if (picollo_histogram_create(&options, &latency) != PICOLLO_OK) ...
 *     picollo_histogram_record(latency, 1234);
 *
 * To read a histogram, take a picollo_snapshot, or a picollo_summary straight away.
 */

/** One thread records at a time, any number of threads read: a plain addition. The default. */
#define PICOLLO_MODE_SINGLE_WRITER 0
/** Several threads at modest rates, signal handlers: an atomic addition. */
#define PICOLLO_MODE_INTERLOCKED 1
/** Many threads at high rates: a plain addition into the thread's own shard. */
#define PICOLLO_MODE_THREAD_LOCAL 2
/** Many threads, little memory, approximate counts. */
#define PICOLLO_MODE_SCALABLE 3
/** All counters are allocated at once. The default. */
#define PICOLLO_STORAGE_DENSE 0
/** Counters are allocated in small chunks on first touch. */
#define PICOLLO_STORAGE_SPARSE 1
/** Leave out the room for a reset: half the memory; picollo_histogram_reset is PICOLLO_ERR_UNSUPPORTED. */
#define PICOLLO_HISTOGRAM_NO_LIVE_RESET (1 << 0)

/**
 * What a histogram is made from. Set struct_size, zero the rest, and change what should not be the default.
 *
 * A range whose values lie far above zero, or a larger error, takes less memory: 28,672 counters for all 64-bit values
 * at 0.001, 104 for 10,000 to 30,000 at 0.01.
 */
typedef struct picollo_histogram_options {
    /** sizeof(picollo_histogram_options). */
    uint32_t struct_size;
    /** PICOLLO_MODE_...: who may record, and how. */
    uint32_t mode;
    /** PICOLLO_STORAGE_...: when memory is allocated. */
    uint32_t storage;
    /** Width of a counter: 32 or 64; 0 means 64. A 32-bit counter that wraps is told of as a lost count. */
    uint32_t counter_bits;
    /**
     * Largest distance between a value and the midpoint of its bucket, in proportion. 0, negative or NaN: 0.001;
     * clamped to 1e-6 ..= 0.1. The block size is the smallest power of two that is at least 0.5 / relative_error.
     */
    double relative_error;
    /**
     * 1 ..= 5: the buckets of an HdrHistogram with that many significant digits, whatever relative_error says. 0:
     * unused.
     */
    uint32_t significant_digits;
    /** PICOLLO_HISTOGRAM_NO_LIVE_RESET or 0. */
    uint32_t flags;
    /** Smallest value to count; smaller ones are underflow. Below max_trackable. */
    uint64_t min_trackable;
    /** Largest value to count; larger ones are overflow. 0: UINT64_MAX. Both ends include the whole bucket they are in. */
    uint64_t max_trackable;
    /** Sparse storage: limit on its memory, 0 for none. What does not fit is counted as lost. */
    uint64_t max_bytes;
} picollo_histogram_options;

/**
 * Makes an empty histogram on the heap.
 *
 * Requires: options is NULL, for all defaults, or leads to options with struct_size set.
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (out); PICOLLO_ERR_INVALID_ARGUMENT for struct_size below the first
 *   version's, min_trackable not below max_trackable, an unknown mode, storage or width, more than 5 digits;
 *   PICOLLO_ERR_UNSUPPORTED for what this version does not offer, unknown flags and fields among it;
 *   PICOLLO_ERR_OUT_OF_MEMORY.
 * Ownership: *out is the caller's, for picollo_histogram_free.
 * Threads: any thread.
 * Cost: allocates and zeroes 16 bytes a counter (64-bit; half of that for 32-bit, and half without live reset).
 * Since: 0.1
 */
picollo_status picollo_histogram_create(const picollo_histogram_options *options,
                                        picollo_histogram **out);

/**
 * Tells how much memory picollo_histogram_init_in needs for the same options.
 *
 * Requires: options as for picollo_histogram_create.
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (out_size, out_align); otherwise as picollo_histogram_create, with
 *   PICOLLO_ERR_UNSUPPORTED also for what cannot live in the caller's memory.
 * Threads: any thread.
 * Cost: none to speak of.
 * Since: 0.1
 */
picollo_status picollo_histogram_required_size(const picollo_histogram_options *options,
                                               size_t *out_size,
                                               size_t *out_align);

/**
 * Makes an empty histogram in the caller's memory: static, on a stack, from another allocator, or shared between
 * processes, where the others use picollo_histogram_attach. Dense histograms with one writer or interlocked ones.
 *
 * Requires: memory has size bytes, is aligned as picollo_histogram_required_size says, and is used for nothing else
 *   until the histogram and everything made from it are freed.
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (memory, out); PICOLLO_ERR_INVALID_ARGUMENT also for memory that is
 *   not aligned; PICOLLO_ERR_BUFFER_TOO_SMALL; otherwise as picollo_histogram_create.
 * Ownership: the memory stays the caller's. References to such a histogram are not counted: picollo_histogram_free
 *   does nothing to it, and the memory has to outlive its snapshots, recorders and scopes.
 * Threads: any thread.
 * Cost: zeroes the memory it needs; allocates nothing.
 * Since: 0.1
 */
picollo_status picollo_histogram_init_in(void *memory,
                                         size_t size,
                                         const picollo_histogram_options *options,
                                         picollo_histogram **out);

/**
 * Opens a histogram that picollo_histogram_init_in made in this memory, in this process or another one. The memory may
 * be at another address in each process.
 *
 * Requires: as for picollo_histogram_init_in; whoever else can write to the memory is trusted to do so through this
 *   library only.
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (memory, out); PICOLLO_ERR_INVALID_ARGUMENT for memory that is not
 *   aligned; PICOLLO_ERR_BUFFER_TOO_SMALL for memory that ends inside the histogram; PICOLLO_ERR_CORRUPT when there is
 *   no histogram, or a damaged one; PICOLLO_ERR_INCOMPATIBLE when another version or word size made it.
 * Ownership: as for picollo_histogram_init_in.
 * Threads: any thread. In single-writer mode there is one writer among all processes.
 * Cost: none to speak of.
 * Since: 0.1
 */
picollo_status picollo_histogram_attach(void *memory,
                                        size_t size,
                                        picollo_histogram **out);

/**
 * Gives back one reference. The memory goes with the last one: snapshots, recorders and sessions hold theirs. NULL is
 * allowed and does nothing.
 *
 * Requires: histogram is not used any more by whoever gives it back.
 * Threads: any thread.
 * Cost: frees the memory when it was the last reference.
 * Since: 0.1
 */
void picollo_histogram_free(picollo_histogram *histogram);

/**
 * Counts one value. Values out of range are counted as underflow or overflow.
 *
 * This is the call that is meant to be made millions of times a second; to save even the call, see picollo_recorder
 * and picollo_histogram_record_batch.
 *
 * Requires: histogram is not NULL; this is not checked.
 * Threads: as the mode says; in single-writer mode one thread at a time. Beside any number of readers and resets.
 * Cost: about that of calling an empty function: a dozen instructions, no call, lock, allocation or system call.
 * Since: 0.1
 */
void picollo_histogram_record(picollo_histogram *histogram,
                              uint64_t value);

/**
 * Counts one value count times. A count of 0 does nothing.
 *
 * Requires: histogram is not NULL; this is not checked.
 * Threads: as picollo_histogram_record.
 * Cost: as picollo_histogram_record.
 * Since: 0.1
 */
void picollo_histogram_record_n(picollo_histogram *histogram, uint64_t value, uint64_t count);

/**
 * Counts every value of an array. Same counts as calling picollo_histogram_record for each, in less time. Does nothing
 * when histogram or values is NULL.
 *
 * Requires: values leads to length values, aligned, which nobody changes meanwhile.
 * Threads: as picollo_histogram_record.
 * Cost: about a nanosecond a value.
 * Since: 0.1
 */
void picollo_histogram_record_batch(picollo_histogram *histogram,
                                    const uint64_t *values,
                                    size_t length);

/**
 * Counts a value and, when it is longer than the interval at which values were expected, also those that a stalled
 * caller did not send meanwhile: value - interval, value - 2 * interval, ... down to the interval (the correction for
 * coordinated omission). An expected_interval of 0 adds nothing. Does nothing when histogram is NULL.
 *
 * Threads: as picollo_histogram_record.
 * Cost: one record for each value added, at most one for each counter.
 * Since: 0.1
 */
void picollo_histogram_record_corrected(picollo_histogram *histogram,
                                        uint64_t value,
                                        uint64_t expected_interval);

/**
 * Counts a value when it lies between exact bounds, which may be tighter than the buckets at the ends of the range.
 * Otherwise it is counted as underflow or overflow, and the caller is told.
 *
 * Returns: PICOLLO_OK when it was counted in a bucket; PICOLLO_ERR_INVALID_ARGUMENT when it was counted as underflow
 *   or overflow; PICOLLO_ERR_NULL_POINTER (histogram).
 * Threads: as picollo_histogram_record.
 * Cost: somewhat more than picollo_histogram_record.
 * Since: 0.1
 */
picollo_status picollo_histogram_record_in_range(picollo_histogram *histogram,
                                                 uint64_t value,
                                                 uint64_t min,
                                                 uint64_t max);

/**
 * Starts counting anew: later reads count from here. Writers are not disturbed, and each event is on exactly one side
 * of the reset. What snapshots report as deltas is not affected.
 *
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (histogram); PICOLLO_ERR_UNSUPPORTED for a histogram made with
 *   PICOLLO_HISTOGRAM_NO_LIVE_RESET; PICOLLO_ERR_BUSY against competing resets.
 * Threads: any thread, at any time.
 * Cost: copies all counters.
 * Since: 0.1
 */
picollo_status picollo_histogram_reset(picollo_histogram *histogram);

/**
 * Tells how much memory the histogram takes now, in bytes, without its snapshots.
 *
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (histogram, out_bytes).
 * Threads: any thread.
 * Cost: none to speak of.
 * Since: 0.1
 */
picollo_status picollo_histogram_footprint(const picollo_histogram *histogram, size_t *out_bytes);

/**
 * Adds all counts of a snapshot, of any layout. Exact where the buckets are the same, or coarser here; where they are
 * finer here, each count goes to the bucket that holds the midpoint of its own. What lies outside the range here is
 * counted as underflow or overflow; underflow, overflow and lost counts are added to theirs.
 *
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (histogram, other).
 * Threads: as picollo_histogram_record, which it is a kind of.
 * Cost: one pass over the counters of the snapshot.
 * Since: 0.1
 */
picollo_status picollo_histogram_add(picollo_histogram *histogram,
                                     const picollo_snapshot *other);

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
 * the same.
 */

/** Version of the rule above and of picollo_recorder. */
#define PICOLLO_INLINE_VERSION 1

/**
 * What recording without a call needs. One thread at a time may record through it, alone or by turns with
 * picollo_histogram_record on the same histogram.
 *
 * Do not change it. Copies are fine while the one that was filled in is not released.
 */
typedef struct picollo_recorder {
    /** Number of cells. */
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
    /** NULL. */
    void *reserved;
} picollo_recorder;

/**
 * Fills in a recorder for a dense histogram with one writer, or for a thread-local one, where the recorder owns a
 * shard until it is released, whatever happens to the thread.
 *
 * Requires: inline_version is PICOLLO_INLINE_VERSION, as the caller was compiled with.
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (histogram, out); PICOLLO_ERR_UNSUPPORTED for another inline_version,
 *   and for a mode or storage that has no recorder; PICOLLO_ERR_OUT_OF_MEMORY where there is no room for a shard.
 * Ownership: the recorder holds a reference to the histogram until picollo_recorder_release.
 * Threads: any thread; see picollo_recorder for its use.
 * Cost: none to speak of; in thread-local mode it may allocate a shard.
 * Since: 0.1
 */
picollo_status picollo_histogram_recorder(picollo_histogram *histogram,
                                          uint32_t inline_version,
                                          picollo_recorder *out);

/**
 * Gives back what the recorder holds, and clears it. NULL is allowed, and so is a recorder that was released; both do
 * nothing.
 *
 * Requires: neither the recorder nor a copy of it is used to record any more.
 * Threads: any thread, once.
 * Cost: as picollo_histogram_free.
 * Since: 0.1
 */
void picollo_recorder_release(picollo_recorder *recorder);

/* ----------------------------------------------------------------------------------------------------------
 * Arrays of histograms: per endpoint, per core, per tenant.
 *
 * One call makes any number of histograms of one layout in one block of memory, each on cache lines of its own, so that
 * different threads may write to neighbours. An index finds each of them.
 *
 *     picollo_histogram_array *latency;
 *     picollo_histogram_array_create(&options, ENDPOINTS, &latency);
 *     picollo_histogram_array_record(latency, endpoint, 1234);
 *     picollo_histogram_summary(picollo_histogram_array_get(latency, endpoint), PICOLLO_VALUE_MIDPOINT, &summary);
 *
 * A histogram of an array is like any other: all calls take it. There are two ways to it: picollo_histogram_array_get
 * lends it, as long as the array is there; picollo_histogram_array_at gives a reference, which keeps the array there.
 */

/**
 * Makes an array of empty histograms.
 *
 * Requires: options as for picollo_histogram_create, which are those of every histogram; max_bytes is for each of them.
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (out); PICOLLO_ERR_INVALID_ARGUMENT also for a length of 0; otherwise
 *   as picollo_histogram_create.
 * Ownership: *out is the caller's, for picollo_histogram_array_free.
 * Threads: any thread.
 * Cost: one allocation, of the footprint of a histogram for each and 64 bytes; what zeroed memory costs.
 * Since: 0.1
 */
picollo_status picollo_histogram_array_create(const picollo_histogram_options *options,
                                              size_t length,
                                              picollo_histogram_array **out);

/**
 * Gives back one reference. The memory goes with the last one, to the array or to any of its histograms. NULL is allowed
 * and does nothing.
 *
 * Requires: neither array nor a histogram lent by picollo_histogram_array_get is used any more by whoever gives it back.
 * Threads: any thread.
 * Cost: frees the memory when it was the last reference.
 * Since: 0.1
 */
void picollo_histogram_array_free(picollo_histogram_array *array);

/**
 * Tells how many histograms there are.
 *
 * Returns: the length that the array was made with; 0 for NULL.
 * Threads: any thread.
 * Cost: none to speak of.
 * Since: 0.1
 */
size_t picollo_histogram_array_length(const picollo_histogram_array *array);

/**
 * Lends a histogram of the array, for as long as the array is there. It must not be freed.
 *
 * Returns: the histogram; NULL when index is not below the length, or array is NULL.
 * Ownership: the array's. What is made from the histogram, such as a snapshot, holds a reference of its own.
 * Threads: any thread.
 * Cost: that of a call and a multiplication; no atomic operation.
 * Since: 0.1
 */
picollo_histogram *picollo_histogram_array_get(const picollo_histogram_array *array, size_t index);

/**
 * Gives a reference to a histogram of the array, which keeps all of the array alive.
 *
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (array, out); PICOLLO_ERR_INVALID_ARGUMENT when index is not below the
 *   length.
 * Ownership: *out is the caller's, for picollo_histogram_free.
 * Threads: any thread.
 * Cost: an atomic addition.
 * Since: 0.1
 */
picollo_status picollo_histogram_array_at(const picollo_histogram_array *array,
                                          size_t index,
                                          picollo_histogram **out);

/**
 * Counts one value in a histogram of the array. Does nothing when index is not below the length.
 *
 * Requires: array is not NULL; this is not checked.
 * Threads: as picollo_histogram_record, for each histogram by itself.
 * Cost: as picollo_histogram_record, and a multiplication.
 * Since: 0.1
 */
void picollo_histogram_array_record(picollo_histogram_array *array, size_t index, uint64_t value);

/**
 * Tells how much memory the array takes now, in bytes, with all its histograms.
 *
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (array, out_bytes).
 * Threads: any thread.
 * Cost: looks at each histogram.
 * Since: 0.1
 */
picollo_status picollo_histogram_array_footprint(const picollo_histogram_array *array, size_t *out_bytes);

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
 *         picollo_snapshot_update(snapshot, 1);     (what was recorded since the last time)
 *         ... picollo_snapshot_percentiles, picollo_snapshot_summary ...
 *     }
 *     picollo_snapshot_free(snapshot);
 *
 * Ranks are percentages, 0 to 100. The percentile at a rank is the first bucket whose cumulative count reaches
 * max(1, ceil(rank / 100 * total)), decided in integers for ranks with up to nine decimals. Underflow, overflow and
 * lost counts are not part of it.
 */

/** A bucket reports lower + step / 2: at most step / 2 from every value in it, exact where step is 1. */
#define PICOLLO_VALUE_MIDPOINT 0
/** A bucket reports the smallest value in it. */
#define PICOLLO_VALUE_LOWER 1
/** A bucket reports the largest value in it. */
#define PICOLLO_VALUE_UPPER 2

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
    /** Nearest rank: max(1, ceil(rank / 100 * total)). Zero only in the summary of an empty snapshot. */
    uint64_t target_count;
    /** The bucket, with its count. */
    picollo_bucket bucket;
} picollo_percentile;

/** Totals of a snapshot. They saturate at UINT64_MAX. */
typedef struct picollo_counts {
    /** Observations in range. */
    uint64_t total;
    /** Observations below the range. */
    uint64_t underflow;
    /** Observations above the range. */
    uint64_t overflow;
    /** Observations missing from the buckets: wrapped 32-bit cells, or no memory for a cell. */
    uint64_t lost;
} picollo_counts;

/**
 * Makes a snapshot and updates it for the first time, to all counts since the reset.
 *
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (histogram, out); PICOLLO_ERR_OUT_OF_MEMORY; PICOLLO_ERR_BUSY against
 *   competing resets.
 * Ownership: *out is the caller's, for picollo_snapshot_free; it holds a reference to the histogram.
 * Threads: any thread, also while others record and reset.
 * Cost: allocates 16 bytes a counter, copies all counters.
 * Since: 0.1
 */
picollo_status picollo_snapshot_create(picollo_histogram *histogram,
                                       picollo_snapshot **out);

/**
 * Tells how much memory picollo_snapshot_init_in needs for this histogram.
 *
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (histogram, out_size, out_align).
 * Threads: any thread.
 * Cost: none to speak of.
 * Since: 0.1
 */
picollo_status picollo_snapshot_required_size(const picollo_histogram *histogram,
                                              size_t *out_size,
                                              size_t *out_align);

/**
 * Makes a snapshot in the caller's memory, and updates it for the first time.
 *
 * Requires: memory has size bytes, is aligned as picollo_snapshot_required_size says, and is used for nothing else,
 *   nor moved, until picollo_snapshot_free.
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (memory, histogram, out); PICOLLO_ERR_INVALID_ARGUMENT for memory that
 *   is not aligned; PICOLLO_ERR_BUFFER_TOO_SMALL; PICOLLO_ERR_BUSY against competing resets.
 * Ownership: the memory stays the caller's; the reference to the histogram is given back by picollo_snapshot_free.
 * Threads: any thread, also while others record and reset.
 * Cost: copies all counters; allocates nothing.
 * Since: 0.1
 */
picollo_status picollo_snapshot_init_in(void *memory,
                                        size_t size,
                                        picollo_histogram *histogram,
                                        picollo_snapshot **out);

/**
 * Takes the counts of the histogram anew, while writers and other readers go on. Every update is where the next delta
 * starts from: deltas add up to all that was recorded, whatever was reset meanwhile.
 *
 * Requires: deltas is 1 for what was recorded since the previous update, or 0 for what was recorded since the reset.
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (snapshot); PICOLLO_ERR_INVALID_ARGUMENT (deltas); PICOLLO_ERR_BUSY
 *   against competing resets (deltas 0 only): the snapshot is empty then, and the next delta starts where it would
 *   have.
 * Threads: any thread, one at a time with this snapshot, also while others record and reset.
 * Cost: copies all counters: tens of microseconds for 28,672; allocates nothing.
 * Since: 0.1
 */
picollo_status picollo_snapshot_update(picollo_snapshot *snapshot,
                                       uint32_t deltas);

/**
 * Frees a snapshot, and gives back its reference to the histogram. NULL is allowed and does nothing. Memory that the
 * caller provided stays the caller's, to be reused.
 *
 * Threads: any thread, once.
 * Cost: frees its memory.
 * Since: 0.1
 */
void picollo_snapshot_free(picollo_snapshot *snapshot);

/**
 * Tells the totals.
 *
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (snapshot, out).
 * Threads: any thread.
 * Cost: none to speak of.
 * Since: 0.1
 */
picollo_status picollo_snapshot_counts(const picollo_snapshot *snapshot, picollo_counts *out);

/**
 * Finds the percentiles at many ranks, in any order.
 *
 * Requires: ranks and out have length elements each and do not overlap; value_selection is PICOLLO_VALUE_....
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (snapshot, and with a length above 0 ranks and out);
 *   PICOLLO_ERR_INVALID_ARGUMENT for a rank that is NaN or outside 0 ..= 100, and for an unknown value_selection;
 *   PICOLLO_ERR_EMPTY when nothing was recorded.
 * Threads: any thread.
 * Cost: one pass over the counters for ranks in ascending order, otherwise one for every 64 ranks; allocates nothing.
 * Since: 0.1
 */
picollo_status picollo_snapshot_percentiles(const picollo_snapshot *snapshot,
                                            const double *ranks,
                                            size_t length,
                                            uint32_t value_selection,
                                            picollo_percentile *out);

/**
 * As picollo_snapshot_percentiles, the values alone.
 *
 * Returns: as picollo_snapshot_percentiles.
 * Threads: any thread.
 * Cost: as picollo_snapshot_percentiles.
 * Since: 0.1
 */
picollo_status picollo_snapshot_percentile_values(const picollo_snapshot *snapshot,
                                                  const double *ranks,
                                                  size_t length,
                                                  uint32_t value_selection,
                                                  uint64_t *out);

/**
 * Tells which percentage of the observations is at or below a value: those in buckets up to and including its own. 0
 * below the range, 100 above.
 *
 * Requires: interpolate is 0, or 1 to count of the value's own bucket only the share up to where the value lies in it.
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (snapshot, out_rank); PICOLLO_ERR_INVALID_ARGUMENT (interpolate);
 *   PICOLLO_ERR_EMPTY when nothing was recorded.
 * Threads: any thread.
 * Cost: one pass over the counters up to the value's; allocates nothing.
 * Since: 0.1
 */
picollo_status picollo_snapshot_rank_of_value(const picollo_snapshot *snapshot,
                                              uint64_t value,
                                              uint32_t interpolate,
                                              double *out_rank);

/**
 * Finds the bucket that a value falls into, with its count.
 *
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (snapshot, out); PICOLLO_ERR_INVALID_ARGUMENT for a value out of
 *   range.
 * Threads: any thread.
 * Cost: none to speak of.
 * Since: 0.1
 */
picollo_status picollo_snapshot_bucket_of(const picollo_snapshot *snapshot,
                                          uint64_t value,
                                          picollo_bucket *out);

/**
 * Lists the buckets with their counts, in ascending order.
 *
 * Requires: non_empty_only is 1 to leave out buckets without counts, or 0; out has capacity elements, or is NULL to
 *   ask for the number of buckets alone.
 * Returns: PICOLLO_OK, with *out_length the number of buckets; PICOLLO_ERR_BUFFER_TOO_SMALL, with *out_length the
 *   number that is needed and nothing else written; PICOLLO_ERR_NULL_POINTER (snapshot, out_length);
 *   PICOLLO_ERR_INVALID_ARGUMENT (non_empty_only).
 * Threads: any thread.
 * Cost: two passes over the counters; allocates nothing.
 * Since: 0.1
 */
picollo_status picollo_snapshot_buckets(const picollo_snapshot *snapshot,
                                        uint32_t non_empty_only,
                                        picollo_bucket *out,
                                        size_t capacity,
                                        size_t *out_length);

/**
 * Adds all counts of another snapshot, of any layout, by the rule of picollo_histogram_add. What does not fit into 64
 * bits is counted as lost. The next update replaces what was merged.
 *
 * Requires: into and other are not the same snapshot.
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (into, other); PICOLLO_ERR_INVALID_ARGUMENT when they are the same.
 * Threads: any thread, one at a time with into.
 * Cost: one pass over the counters of other; allocates nothing.
 * Since: 0.1
 */
picollo_status picollo_snapshot_merge(picollo_snapshot *into,
                                      const picollo_snapshot *other);

/* ----------------------------------------------------------------------------------------------------------
 * Inside a bucket: as if its observations lay evenly in it.
 *
 * A bucket tells how many observations lie between its ends, not where. The calls of picollo_snapshot report a value
 * that stands for the bucket; those here spread its observations evenly over it. That is nearer to the truth where they
 * are spread so, as those of fine-grained measurements mostly are, and never further from it than the bucket is wide.
 */

/**
 * Finds the interpolated percentiles at many ranks, in any order: for each the smallest value whose interpolated rank
 * reaches it. The inverse of picollo_snapshot_rank_of_value with interpolate 1; in the same buckets as
 * picollo_snapshot_percentiles.
 *
 * Requires: ranks and out have length elements each and do not overlap.
 * Returns: as picollo_snapshot_percentiles.
 * Threads: any thread.
 * Cost: as picollo_snapshot_percentiles.
 * Since: 0.1
 */
picollo_status picollo_snapshot_interpolated_percentiles(const picollo_snapshot *snapshot,
                                                         const double *ranks,
                                                         size_t length,
                                                         uint64_t *out);

/**
 * Adds all counts of a snapshot, of any layout, each bucket's spread over the buckets that it spans here, in proportion;
 * no count is lost to rounding. Where it spans one bucket alone it is the same as picollo_histogram_add.
 *
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (histogram, other).
 * Threads: as picollo_histogram_record, which it is a kind of.
 * Cost: as picollo_histogram_record_n for each bucket that gets counts.
 * Since: 0.1
 */
picollo_status picollo_histogram_add_spreading(picollo_histogram *histogram,
                                               const picollo_snapshot *other);

/**
 * Adds all counts of another snapshot, of any layout, by the rule of picollo_histogram_add_spreading. What does not fit
 * into 64 bits is counted as lost. The next update replaces what was merged.
 *
 * Requires: into and other are not the same snapshot.
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (into, other); PICOLLO_ERR_INVALID_ARGUMENT when they are the same.
 * Threads: any thread, one at a time with into.
 * Cost: one pass over the counters of both; allocates nothing.
 * Since: 0.1
 */
picollo_status picollo_snapshot_merge_spreading(picollo_snapshot *into,
                                                const picollo_snapshot *other);

/* ----------------------------------------------------------------------------------------------------------
 * Summaries: what most people want to know.
 */

/** Number of percentiles in a summary, at the ranks 0 1 5 10 25 50 75 90 92.5 95 97.5 99 99.9 99.99 99.999 100. */
#define PICOLLO_SUMMARY_PERCENTILES 16
/** Counts are estimates, because the histogram is a scalable one. */
#define PICOLLO_SUMMARY_APPROXIMATE (1 << 0)

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
    /** PICOLLO_SUMMARY_APPROXIMATE or 0. */
    uint32_t flags;
    /** At the ranks of PICOLLO_SUMMARY_PERCENTILES, ascending. */
    picollo_percentile percentiles[PICOLLO_SUMMARY_PERCENTILES];
} picollo_summary;

/**
 * Summarises a snapshot. One without counts has a summary too: totals and targets 0, mean and deviation NaN.
 *
 * Requires: value_selection is PICOLLO_VALUE_....
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (snapshot, out); PICOLLO_ERR_INVALID_ARGUMENT (value_selection).
 * Threads: any thread.
 * Cost: two passes over the counters: tens of microseconds for 28,672; allocates nothing.
 * Since: 0.1
 */
picollo_status picollo_snapshot_summary(const picollo_snapshot *snapshot,
                                        uint32_t value_selection,
                                        picollo_summary *out);

/**
 * Summarises a histogram as it is now, since its reset. Makes a snapshot and frees it again: to summarise often, or
 * without allocating, keep a picollo_snapshot, update it and use picollo_snapshot_summary.
 *
 * Requires: value_selection is PICOLLO_VALUE_....
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (histogram, out); PICOLLO_ERR_INVALID_ARGUMENT (value_selection);
 *   PICOLLO_ERR_OUT_OF_MEMORY; PICOLLO_ERR_BUSY against competing resets.
 * Threads: any thread, also while others record and reset.
 * Cost: allocates 16 bytes a counter for the time of the call; three passes over the counters.
 * Since: 0.1
 */
picollo_status picollo_histogram_summary(picollo_histogram *histogram,
                                         uint32_t value_selection,
                                         picollo_summary *out);

/* ----------------------------------------------------------------------------------------------------------
 * Text.
 *
 * Text goes into the caller's buffer, UTF-8 with a NUL at the end. *out_length is its length in bytes, without the
 * NUL. When buffer is too small, the answer is PICOLLO_ERR_BUFFER_TOO_SMALL with the same *out_length, and of the
 * buffer only buffer[0] is written, with 0. A buffer of NULL with a capacity of 0 asks for the length. So, to have
 * room for sure:
 *
 *     size_t length = 0;
 *     picollo_summary_format(&summary, title, PICOLLO_TEXT_JSON, NULL, 0, &length);
 *     char *text = malloc(length + 1);
 *     picollo_summary_format(&summary, title, PICOLLO_TEXT_JSON, text, length + 1, &length);
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
/** A header and one row for each percentile, as in RFC 4180. Numbers are exact; what does not exist is an empty field. */
#define PICOLLO_TEXT_CSV 3

/**
 * Writes a summary as text.
 *
 * Requires: format is PICOLLO_TEXT_...; buffer has capacity bytes.
 * Returns: PICOLLO_OK; PICOLLO_ERR_BUFFER_TOO_SMALL; PICOLLO_ERR_NULL_POINTER (summary, out_length, and buffer with a
 *   capacity above 0); PICOLLO_ERR_INVALID_ARGUMENT for a title that is not UTF-8 and for an unknown format.
 * Threads: any thread.
 * Cost: microseconds for a line, tens of microseconds for a table; allocates nothing.
 * Since: 0.1
 */
picollo_status picollo_summary_format(const picollo_summary *summary,
                                      const char *title,
                                      uint32_t format,
                                      char *buffer,
                                      size_t capacity,
                                      size_t *out_length);

/**
 * Writes what changed from summary a, the older, to summary b, the newer, as text: both their numbers, the changes
 * in per cent, and the D-value (Cohen's d: the difference of the means over the pooled standard deviation).
 *
 * Requires: format is PICOLLO_TEXT_...; buffer has capacity bytes. Empty names read "Before" and "After" in Markdown
 *   and in a line.
 * Returns: as picollo_summary_format, for a, b, title and names.
 * Threads: any thread.
 * Cost: as picollo_summary_format.
 * Since: 0.1
 */
picollo_status picollo_summary_format_diff(const picollo_summary *a,
                                           const picollo_summary *b,
                                           const char *title,
                                           const char *name_a,
                                           const char *name_b,
                                           uint32_t format,
                                           char *buffer,
                                           size_t capacity,
                                           size_t *out_length);

/**
 * Writes a percentile as text: P99=9,152 [138 / 519]: [9,088, 9,216) 386. That is rank and value; storage and
 * logical index of the bucket; its range, half open; its count. With a target_count of 0 it is P99=n/a.
 *
 * Requires: buffer has capacity bytes; 192 are enough for any percentile of a snapshot.
 * Returns: PICOLLO_OK; PICOLLO_ERR_BUFFER_TOO_SMALL; PICOLLO_ERR_NULL_POINTER (percentile, out_length, and buffer
 *   with a capacity above 0).
 * Threads: any thread.
 * Cost: a microsecond; allocates nothing.
 * Since: 0.1
 */
picollo_status picollo_percentile_format(const picollo_percentile *percentile,
                                         char *buffer,
                                         size_t capacity,
                                         size_t *out_length);

/**
 * Writes the buckets as text, each on a line of its own: P0.073=2,008 [0 / 381]: [2,000, 2,016) 146. As
 * picollo_percentile_format, with the rank at the middle of the bucket, (before + count / 2) / total * 100.
 *
 * Requires: non_empty_only is 1 to leave out buckets without counts, or 0; value_selection is PICOLLO_VALUE_...;
 *   buffer has capacity bytes.
 * Returns: PICOLLO_OK; PICOLLO_ERR_BUFFER_TOO_SMALL; PICOLLO_ERR_NULL_POINTER (snapshot, out_length, and buffer with a
 *   capacity above 0); PICOLLO_ERR_INVALID_ARGUMENT (non_empty_only, value_selection).
 * Threads: any thread.
 * Cost: a microsecond for each bucket listed; allocates nothing.
 * Since: 0.1
 */
picollo_status picollo_snapshot_format_buckets(const picollo_snapshot *snapshot,
                                               uint32_t non_empty_only,
                                               uint32_t value_selection,
                                               char *buffer,
                                               size_t capacity,
                                               size_t *out_length);

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

/**
 * Quantiles as the aggregator of .NET's metrics has them: of n values in ascending order, number
 * min(max(0, floor(q * n)), n - 1), counted from 0, the product in floating point. Without it: number
 * max(1, ceil(q * n)), counted from 1, decided in integers, as all percentiles of this library.
 */
#define PICOLLO_DOUBLE_DOTNET_RANKS (1 << 0)

/**
 * Keep sum, minimum and maximum exactly: the sum is rounded once, when it is read, whatever was added in which order.
 * A record then costs several atomic operations instead of one, and the histogram 27 KB more.
 */
#define PICOLLO_DOUBLE_EXACT_SUM (1 << 1)

/** What a histogram of doubles is made from. Set struct_size, zero the rest, and change what should not be the default. */
typedef struct picollo_double_options {
    /** sizeof(picollo_double_options). */
    uint32_t struct_size;
    /** PICOLLO_DOUBLE_... or 0. */
    uint32_t flags;
    /**
     * Largest distance between a value and what is reported for it, in proportion. 0, negative or NaN: 0.001; clamped
     * to 1e-4 ..= 0.1.
     */
    double relative_error;
    /** Limit of all memory in bytes, 0 for none. What does not fit is counted as lost. */
    uint64_t max_bytes;
} picollo_double_options;

/** Totals and moments of doubles. What does not exist is NaN. */
typedef struct picollo_double_statistics {
    /** Observations with a finite value; saturates at UINT64_MAX. */
    uint64_t count;
    /** Observations that were NaN or infinite; not part of anything else here. */
    uint64_t not_finite;
    /** Observations that found no memory for their bucket; not part of anything else here. */
    uint64_t lost;
    /**
     * Sum: of the buckets' midpoints, each within the relative error of its values, or exact and rounded once, if the
     * histogram keeps it. 0 when empty; infinite when it is beyond the largest double.
     */
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

/**
 * Makes an empty histogram of doubles.
 *
 * Requires: options is NULL, for all defaults, or leads to options with struct_size set.
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (out); PICOLLO_ERR_INVALID_ARGUMENT for struct_size below the first
 *   version's and for max_bytes below what an empty histogram takes; PICOLLO_ERR_UNSUPPORTED for unknown flags and
 *   fields; PICOLLO_ERR_OUT_OF_MEMORY.
 * Ownership: *out is the caller's, for picollo_double_histogram_free.
 * Threads: any thread.
 * Cost: about 1 KB; then, by default, 8 KB for each power of two in which there is a value, and 512 bytes for each 64
 *   powers.
 * Since: 0.1
 */
picollo_status picollo_double_histogram_create(const picollo_double_options *options,
                                               picollo_double_histogram **out);

/**
 * Gives back one reference. The memory goes with the last one: registries hold theirs. NULL is allowed and does
 * nothing.
 *
 * Requires: histogram is not used any more by whoever gives it back.
 * Threads: any thread.
 * Cost: frees the memory when it was the last reference.
 * Since: 0.1
 */
void picollo_double_histogram_free(picollo_double_histogram *histogram);

/**
 * Counts one value.
 *
 * Requires: histogram is not NULL; this is not checked.
 * Threads: any thread; not signal handlers.
 * Cost: an atomic addition, a few nanoseconds; the first value of a magnitude allocates. See
 *   PICOLLO_DOUBLE_EXACT_SUM.
 * Since: 0.1
 */
void picollo_double_histogram_record(picollo_double_histogram *histogram, double value);

/**
 * Counts one value count times. A count of 0 does nothing.
 *
 * Requires: histogram is not NULL; this is not checked.
 * Threads: as picollo_double_histogram_record.
 * Cost: as picollo_double_histogram_record.
 * Since: 0.1
 */
void picollo_double_histogram_record_n(picollo_double_histogram *histogram, double value, uint64_t count);

/**
 * Counts every value of an array. Does nothing when histogram or values is NULL.
 *
 * Requires: values leads to length values, aligned, which nobody changes meanwhile.
 * Threads: as picollo_double_histogram_record.
 * Cost: as picollo_double_histogram_record for each value, but for the call.
 * Since: 0.1
 */
void picollo_double_histogram_record_batch(picollo_double_histogram *histogram,
                                           const double *values,
                                           size_t length);

/**
 * Takes out what was recorded since the last time, and starts a new interval, while others record: each record is in
 * this interval or in the next one, and those made before the call are in this one.
 *
 * Requires: quantiles, 0 ..= 1 in any order, and out_values have length elements each and do not overlap; both may be
 *   NULL with a length of 0.
 * Returns: PICOLLO_OK, also when nothing was recorded: values, extremes, mean and deviation are NaN then, the sum 0;
 *   PICOLLO_ERR_NULL_POINTER (histogram, out_statistics, and with a length above 0 quantiles and out_values);
 *   PICOLLO_ERR_INVALID_ARGUMENT for a quantile that is NaN or outside 0 ..= 1; PICOLLO_ERR_OUT_OF_MEMORY;
 *   PICOLLO_ERR_BUSY against other collections. On failure nothing was taken out.
 * Threads: any thread, also while others record and collect.
 * Cost: looks at all counters there are, some microseconds for each power of two with values; allocates for the time
 *   of the call.
 * Since: 0.1
 */
picollo_status picollo_double_histogram_collect(picollo_double_histogram *histogram,
                                                const double *quantiles,
                                                size_t length,
                                                double *out_values,
                                                picollo_double_statistics *out_statistics);

/**
 * Adds all counts of a snapshot, of any relative error; each bucket's count goes to the bucket of its midpoint. Sum and
 * extremes stay exact when both have them exact (PICOLLO_DOUBLE_EXACT_SUM).
 *
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (histogram, other).
 * Threads: as picollo_double_histogram_record, which it is a kind of.
 * Cost: as picollo_double_histogram_record for each bucket with counts.
 * Since: 0.1
 */
picollo_status picollo_double_histogram_add(picollo_double_histogram *histogram,
                                            const picollo_double_snapshot *other);

/**
 * Tells how much memory the histogram takes now, in bytes, without its snapshots.
 *
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (histogram, out_bytes).
 * Threads: any thread.
 * Cost: none to speak of.
 * Since: 0.1
 */
picollo_status picollo_double_histogram_footprint(const picollo_double_histogram *histogram,
                                                  size_t *out_bytes);

/* ----------------------------------------------------------------------------------------------------------
 * Snapshots of doubles: what was recorded in one interval, to read more than once.
 *
 * A snapshot holds the buckets that have counts, and nothing of the histogram that it was taken from. It is made once
 * and taken into as often as one likes:
 *
 *     picollo_double_snapshot *snapshot;
 *     picollo_double_summary summary;
 *     picollo_double_snapshot_create(&snapshot);
 *     picollo_double_snapshot_update(snapshot, histogram, 1);     (takes the interval out of the histogram)
 *     picollo_double_snapshot_summary(snapshot, &summary);
 *     picollo_double_summary_format(&summary, "Skew", PICOLLO_TEXT_MARKDOWN, text, sizeof text, &length);
 */

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
    /** The number of the observation among all in ascending order, from 1; 0 in the summary of nothing. */
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

/**
 * Makes an empty snapshot.
 *
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (out); PICOLLO_ERR_OUT_OF_MEMORY.
 * Ownership: *out is the caller's, for picollo_double_snapshot_free.
 * Threads: any thread.
 * Cost: allocates less than 1 KB.
 * Since: 0.1
 */
picollo_status picollo_double_snapshot_create(picollo_double_snapshot **out);

/**
 * Frees a snapshot. NULL is allowed and does nothing.
 *
 * Threads: any thread, once.
 * Cost: frees its memory.
 * Since: 0.1
 */
void picollo_double_snapshot_free(picollo_double_snapshot *snapshot);

/**
 * Takes the counts of a histogram's present interval, instead of those that the snapshot had.
 *
 * Requires: collect is 1 to take them out and start a new interval, as picollo_double_histogram_collect does, or 0 to
 *   look at them and leave them there; what is recorded meanwhile may then be in it or not.
 * Returns: PICOLLO_OK, also when nothing was recorded; PICOLLO_ERR_NULL_POINTER (snapshot, histogram);
 *   PICOLLO_ERR_INVALID_ARGUMENT (collect); PICOLLO_ERR_OUT_OF_MEMORY and PICOLLO_ERR_BUSY, against other collections:
 *   nothing was taken out then.
 * Threads: any thread, one at a time with this snapshot, also while others record and collect.
 * Cost: looks at all counters there are; keeps its memory for the next time.
 * Since: 0.1
 */
picollo_status picollo_double_snapshot_update(picollo_double_snapshot *snapshot,
                                              picollo_double_histogram *histogram,
                                              uint32_t collect);

/**
 * Tells the totals, the sum, the extremes and the moments.
 *
 * Returns: PICOLLO_OK, also when nothing was recorded: what does not exist is NaN; PICOLLO_ERR_NULL_POINTER (snapshot,
 *   out).
 * Threads: any thread.
 * Cost: two passes over the buckets with counts; allocates nothing.
 * Since: 0.1
 */
picollo_status picollo_double_snapshot_statistics(const picollo_double_snapshot *snapshot,
                                                  picollo_double_statistics *out);

/**
 * Finds the values at quantiles, by the rule that the histogram was made with.
 *
 * Requires: quantiles, 0 ..= 1 in any order, and out_values have length elements each and do not overlap.
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (snapshot, and with a length above 0 quantiles and out_values);
 *   PICOLLO_ERR_INVALID_ARGUMENT for a quantile that is NaN or outside 0 ..= 1; PICOLLO_ERR_EMPTY when nothing was
 *   recorded.
 * Threads: any thread.
 * Cost: one pass over the buckets with counts for each run of ascending quantiles; allocates nothing.
 * Since: 0.1
 */
picollo_status picollo_double_snapshot_quantiles(const picollo_double_snapshot *snapshot,
                                                 const double *quantiles,
                                                 size_t length,
                                                 double *out_values);

/**
 * Summarises: statistics and sixteen percentiles. A snapshot without counts has a summary too: totals and targets 0,
 * everything else NaN.
 *
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (snapshot, out).
 * Threads: any thread.
 * Cost: three passes over the buckets with counts; allocates nothing.
 * Since: 0.1
 */
picollo_status picollo_double_snapshot_summary(const picollo_double_snapshot *snapshot,
                                               picollo_double_summary *out);

/**
 * Lists the buckets that have counts, in ascending order.
 *
 * Requires: out has capacity elements, or is NULL to ask for the number of buckets alone.
 * Returns: PICOLLO_OK, with *out_length the number of buckets; PICOLLO_ERR_BUFFER_TOO_SMALL, with *out_length the
 *   number that is needed and nothing else written; PICOLLO_ERR_NULL_POINTER (snapshot, out_length).
 * Threads: any thread.
 * Cost: one pass over the buckets with counts; allocates nothing.
 * Since: 0.1
 */
picollo_status picollo_double_snapshot_buckets(const picollo_double_snapshot *snapshot,
                                               picollo_double_bucket *out,
                                               size_t capacity,
                                               size_t *out_length);

/**
 * Adds the counts of another snapshot. Of another relative error, each bucket's count goes to the bucket of its
 * midpoint, and the errors add up. Sum and extremes stay exact if both are. An empty snapshot becomes a copy.
 *
 * Requires: into and other are not the same snapshot.
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (into, other); PICOLLO_ERR_INVALID_ARGUMENT when they are the same;
 *   PICOLLO_ERR_OUT_OF_MEMORY: nothing was changed then.
 * Threads: any thread, one at a time with into.
 * Cost: sorts the buckets with counts of both.
 * Since: 0.1
 */
picollo_status picollo_double_snapshot_merge(picollo_double_snapshot *into,
                                             const picollo_double_snapshot *other);

/**
 * Writes a summary of doubles as text, with the shortest digits that read back as the same double. The formats are
 * those of picollo_summary_format; 8192 bytes are enough for the Markdown of any summary with a short title.
 *
 * Requires: format is PICOLLO_TEXT_...; buffer has capacity bytes.
 * Returns: PICOLLO_OK; PICOLLO_ERR_BUFFER_TOO_SMALL; PICOLLO_ERR_NULL_POINTER (summary, out_length, and buffer with a
 *   capacity above 0); PICOLLO_ERR_INVALID_ARGUMENT for a title that is not UTF-8 and for an unknown format.
 * Threads: any thread.
 * Cost: tens of microseconds; allocates nothing.
 * Since: 0.1
 */
picollo_status picollo_double_summary_format(const picollo_double_summary *summary,
                                             const char *title,
                                             uint32_t format,
                                             char *buffer,
                                             size_t capacity,
                                             size_t *out_length);

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
 * - picollo_interlocked_counter_...: exact; an atomic addition to one word.
 * - picollo_striped_counter: exact; an atomic addition to one of sixteen words, 1 KB in all.
 * - picollo_racing_counter_...: loses what others add at the same moment, without a bound. To compare with.
 *
 * Words of 32 bits count modulo 2^32. Threads have random generators of their own, each seeded differently.
 */

/** Where scalable counters stop being exact, unless asked otherwise: 2^13 = 8192. */
#define PICOLLO_SCALABLE_THRESHOLD_BITS 13

/**
 * Counts one event, approximately: see the top of this section.
 *
 * Requires: counter is not NULL, which is not checked; threshold_bits is 1 ..= 31, or 0 for 13.
 * Threads: any thread, signal handlers of threads that have counted before among them.
 * Cost: an atomic addition below the threshold; above, ever more often a load and a random number.
 * Since: 0.1
 */
void picollo_scalable_counter_add32(uint32_t *counter, uint32_t threshold_bits);

/**
 * As picollo_scalable_counter_add32, in 64 bits.
 *
 * Requires: as picollo_scalable_counter_add32.
 * Threads: as picollo_scalable_counter_add32.
 * Cost: as picollo_scalable_counter_add32.
 * Since: 0.1
 */
void picollo_scalable_counter_add64(uint64_t *counter, uint32_t threshold_bits);

/**
 * As picollo_scalable_counter_add32, for many events at once: whole steps of them are added as they are, and of the
 * rest a step, or nothing.
 *
 * Requires: as picollo_scalable_counter_add32.
 * Threads: as picollo_scalable_counter_add32.
 * Cost: as picollo_scalable_counter_add32.
 * Since: 0.1
 */
void picollo_scalable_counter_add_n32(uint32_t *counter,
                                      uint64_t count,
                                      uint32_t threshold_bits);

/**
 * As picollo_scalable_counter_add_n32, in 64 bits.
 *
 * Requires: as picollo_scalable_counter_add32.
 * Threads: as picollo_scalable_counter_add32.
 * Cost: as picollo_scalable_counter_add32.
 * Since: 0.1
 */
void picollo_scalable_counter_add_n64(uint64_t *counter, uint64_t count, uint32_t threshold_bits);

/**
 * Counts events as picollo_scalable_counter_add_n32 does, in steps of at most 2^cap_bits: from a count of
 * 2^(threshold_bits + cap_bits) on the relative error is sqrt(2^cap_bits / count).
 *
 * Requires: as picollo_scalable_counter_add32; cap_bits is 0 ..= 31, where 0 counts exactly; 10 leaves little
 *   contention.
 * Threads: as picollo_scalable_counter_add32.
 * Cost: as picollo_scalable_counter_add32.
 * Since: 0.1
 */
void picollo_capped_counter_add32(uint32_t *counter,
                                  uint64_t count,
                                  uint32_t threshold_bits,
                                  uint32_t cap_bits);

/**
 * As picollo_capped_counter_add32, in 64 bits.
 *
 * Requires: as picollo_capped_counter_add32.
 * Threads: as picollo_scalable_counter_add32.
 * Cost: as picollo_scalable_counter_add32.
 * Since: 0.1
 */
void picollo_capped_counter_add64(uint64_t *counter,
                                  uint64_t count,
                                  uint32_t threshold_bits,
                                  uint32_t cap_bits);

/**
 * Counts events exactly, where no other thread interferes at the same moment; where one does, as
 * picollo_scalable_counter_add_n32.
 *
 * Requires: as picollo_scalable_counter_add32.
 * Threads: as picollo_scalable_counter_add32.
 * Cost: a compare-and-swap; where that fails, as picollo_scalable_counter_add32.
 * Since: 0.1
 */
void picollo_sensing_counter_add32(uint32_t *counter, uint64_t count, uint32_t threshold_bits);

/**
 * As picollo_sensing_counter_add32, in 64 bits.
 *
 * Requires: as picollo_scalable_counter_add32.
 * Threads: as picollo_scalable_counter_add32.
 * Cost: as picollo_sensing_counter_add32.
 * Since: 0.1
 */
void picollo_sensing_counter_add64(uint64_t *counter, uint64_t count, uint32_t threshold_bits);

/**
 * Counts events exactly.
 *
 * Requires: counter is not NULL; this is not checked.
 * Threads: any thread, signal handlers.
 * Cost: an atomic addition.
 * Since: 0.1
 */
void picollo_interlocked_counter_add32(uint32_t *counter, uint64_t count);

/**
 * As picollo_interlocked_counter_add32, in 64 bits.
 *
 * Requires: as picollo_interlocked_counter_add32.
 * Threads: any thread, signal handlers.
 * Cost: an atomic addition.
 * Since: 0.1
 */
void picollo_interlocked_counter_add64(uint64_t *counter, uint64_t count);

/**
 * Counts events without care for other threads: what they count at the same moment gets lost. Exact for one thread.
 *
 * Requires: counter is not NULL; this is not checked.
 * Threads: any thread, with losses.
 * Cost: an addition.
 * Since: 0.1
 */
void picollo_racing_counter_add32(uint32_t *counter,
                                  uint64_t count);

/**
 * As picollo_racing_counter_add32, in 64 bits.
 *
 * Requires: as picollo_racing_counter_add32.
 * Threads: any thread, with losses.
 * Cost: an addition.
 * Since: 0.1
 */
void picollo_racing_counter_add64(uint64_t *counter, uint64_t count);

/**
 * Reads a counter of any of these kinds while others count.
 *
 * Returns: what was counted, or about that; 0 when counter is NULL.
 * Threads: any thread.
 * Cost: a load.
 * Since: 0.1
 */
uint32_t picollo_counter_read32(const uint32_t *counter);

/**
 * As picollo_counter_read32, in 64 bits.
 *
 * Returns: as picollo_counter_read32.
 * Threads: any thread.
 * Cost: a load.
 * Since: 0.1
 */
uint64_t picollo_counter_read64(const uint64_t *counter);

/**
 * Makes an exact counter of many words, at zero.
 *
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (out); PICOLLO_ERR_OUT_OF_MEMORY.
 * Ownership: *out is the caller's, for picollo_striped_counter_free.
 * Threads: any thread.
 * Cost: allocates 1 KB.
 * Since: 0.1
 */
picollo_status picollo_striped_counter_create(picollo_striped_counter **out);

/**
 * Frees a counter. NULL is allowed and does nothing.
 *
 * Threads: any thread, once.
 * Cost: frees its memory.
 * Since: 0.1
 */
void picollo_striped_counter_free(picollo_striped_counter *counter);

/**
 * Counts events exactly, on one of the words.
 *
 * Requires: counter is not NULL; this is not checked.
 * Threads: any thread, signal handlers.
 * Cost: an atomic addition, to a word that threads mostly do not share.
 * Since: 0.1
 */
void picollo_striped_counter_add(picollo_striped_counter *counter, uint64_t count);

/**
 * Reads the counter while others count: the sum of its words, modulo 2^64. What is counted meanwhile may be in it or
 * not.
 *
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (counter, out).
 * Threads: any thread.
 * Cost: sixteen loads.
 * Since: 0.1
 */
picollo_status picollo_striped_counter_read(const picollo_striped_counter *counter,
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
/** The processor's time stamp counter; on aarch64 its virtual counter. */
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
    /** NULL. */
    void *reserved;
} picollo_scope;

/**
 * Finds out about the time stamp counter now rather than at its first use.
 *
 * Returns: PICOLLO_OK, also where the monotonic clock has to stand in for the counter.
 * Threads: any thread, any number of times.
 * Cost: some 20 milliseconds the first time where the frequency has to be measured; then none to speak of.
 * Since: 0.1
 */
picollo_status picollo_clock_init(void);

/**
 * Reads a clock.
 *
 * Requires: clock is PICOLLO_CLOCK_....
 * Returns: its ticks; 0 for an unknown clock.
 * Threads: any thread.
 * Cost: some ten to thirty nanoseconds.
 * Since: 0.1
 */
uint64_t picollo_clock_ticks(uint32_t clock);

/**
 * Tells how many ticks a clock makes in a second.
 *
 * Requires: clock is PICOLLO_CLOCK_....
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (out_hertz); PICOLLO_ERR_INVALID_ARGUMENT for an unknown clock.
 * Threads: any thread.
 * Cost: none to speak of, after picollo_clock_init.
 * Since: 0.1
 */
picollo_status picollo_clock_frequency(uint32_t clock,
                                       uint64_t *out_hertz);

/**
 * Converts a difference of ticks: floor(ticks * units per second / frequency), exactly.
 *
 * Requires: clock is PICOLLO_CLOCK_..., unit is PICOLLO_UNIT_....
 * Returns: the converted difference, UINT64_MAX where it does not fit into 64 bits; 0 for an unknown clock or unit.
 * Threads: any thread.
 * Cost: a division of 128 bits, at most.
 * Since: 0.1
 */
uint64_t picollo_clock_convert(uint32_t clock,
                               uint64_t ticks,
                               uint32_t unit);

/**
 * Begins to measure. Does nothing when out is NULL.
 *
 * Requires: clock is PICOLLO_CLOCK_..., unit is PICOLLO_UNIT_...; histogram outlives the scope, or is NULL to
 *   measure without recording.
 * Ownership: nothing to free; a scope that never ends is simply not recorded.
 * Threads: any thread; the scope may end on another one.
 * Cost: one reading of the clock, which comes last.
 * Since: 0.1
 */
void picollo_scope_begin(picollo_histogram *histogram,
                         uint32_t clock,
                         uint32_t unit,
                         picollo_scope *out);

/**
 * Ends a measurement and records it. Ending it again measures, but does not record again.
 *
 * Requires: scope was begun.
 * Returns: the time since the beginning in the scope's unit, which is what was recorded; 0 when scope is NULL. With
 *   an unknown clock or unit nothing is recorded, and the answer is 0.
 * Threads: as picollo_histogram_record on the scope's histogram.
 * Cost: one reading of the clock, which comes first, a conversion and a record.
 * Since: 0.1
 */
uint64_t picollo_scope_end(picollo_scope *scope);

/* ----------------------------------------------------------------------------------------------------------
 * Events: what can be counted.
 */

/** Count in user space. Any of user, kernel and hypervisor takes the place of the session's choice. */
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
    /** What one count is worth in unit; 1 where the PMU gives none. */
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

/**
 * Finds the event that a text names:
 *
 * - generic events in perf's spelling or a plain one: cycles, instructions, branch-misses, page-faults, task-clock,
 *   L1-dcache-load-misses, L1D-read-miss; case, - and _ do not matter; display names such as Hardware:CpuCycles work
 *   too;
 * - raw events of the processor: r01c2;
 * - breakpoints: mem:0xADDRESS/8:w (length 1, 2, 4 or 8, by default 4; r, w, rw or x, by default rw);
 * - tracepoints: sched:sched_switch;
 * - events of any PMU that the kernel lists: cpu/event=0x3c,umask=0x1/, msr/tsc/.
 *
 * Modifiers may follow behind a colon: u user, k kernel, h hypervisor, p to ppp precision, H host, G guest, I not
 * while idle. Whether the event can be counted is found out by picollo_session_create.
 *
 * Requires: spec is NUL-terminated UTF-8; error may be NULL.
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (spec, out); PICOLLO_ERR_INVALID_ARGUMENT for text that is no event
 *   name; PICOLLO_ERR_NO_SUCH_EVENT for one that this machine does not know; PICOLLO_ERR_PERMISSION where the
 *   kernel's list of tracepoints may not be read; PICOLLO_ERR_OS.
 * Threads: any thread.
 * Cost: microseconds for generic events; others read files of the kernel.
 * Since: 0.1
 */
picollo_status picollo_event_parse(const char *spec,
                                   picollo_event *out,
                                   picollo_error *error);

/**
 * Looks what this machine can count, what is missing and how to get it.
 *
 * Requires: error may be NULL.
 * Returns: PICOLLO_OK, also where nothing can be counted: out says so; PICOLLO_ERR_NULL_POINTER (out).
 * Threads: any thread.
 * Cost: opens a counter and closes it again, and reads files of the kernel: about a millisecond.
 * Since: 0.1
 */
picollo_status picollo_perf_probe(picollo_perf_info *out, picollo_error *error);

/* ----------------------------------------------------------------------------------------------------------
 * Sessions: performance counters.
 *
 * A session opens events for one target, scheduled together where the processor has room, each with a histogram of
 * its own:
 *
 *     picollo_event events[2];
 *     picollo_error error;
 *     picollo_session *session;
 *     picollo_event_parse("cycles", &events[0], &error);
 *     picollo_event_parse("branch-misses", &events[1], &error);
 *     if (picollo_session_create(NULL, events, 2, &session, &error) != PICOLLO_OK) puts(error.message), exit(1);
 *     for (...) {
 *         picollo_session_read(session, PICOLLO_READ_AUTO, NULL);
 *         work();
 *         picollo_session_read(session, PICOLLO_READ_AUTO, NULL);
 *         picollo_session_record(session, 1);
 *     }
 *
 * picollo_session_create, _enable and _reset take a base: values and times from which to count. picollo_session_read
 * takes a reading of all events; deltas are between the last two readings, the first one since the base.
 * picollo_session_record never reads: it records the last deltas, or values since the base, once for each read. An
 * event that was not counted records nothing and is tallied in its info. A running counter is never reset: it gets a
 * new base.
 *
 * Threads: PICOLLO_READ_AUTO and picollo_session_calibrate on the opening thread only; everything else on any
 *   thread, one at a time. After a fork the child can only free its copy: all else is PICOLLO_ERR_FORKED, because
 *   the counters are the parent's.
 */

/**
 * Keep the events on the processor's counters all the time. Where that cannot be, they are opened without it, and
 * their info says so.
 */
#define PICOLLO_SESSION_PINNED (1 << 0)
/** Count in the kernel too. */
#define PICOLLO_SESSION_KERNEL (1 << 1)
/** Do not start counting at once. */
#define PICOLLO_SESSION_DISABLED (1 << 2)
/** Count the threads and processes that the target starts from now on, too. */
#define PICOLLO_SESSION_INHERIT (1 << 3)

/**
 * Events that cannot be opened stay as entries with their status, never counted; where the kernel may not be
 * counted, user space is, and the info says so.
 */
#define PICOLLO_SESSION_SKIP_UNAVAILABLE (1 << 4)
/** Fences around reads: everything before a read is counted, nothing after it. */
#define PICOLLO_SESSION_ORDERED (1 << 5)
/** Count on one CPU only. */
#define PICOLLO_SESSION_ON_CPU (1 << 6)
/** Subtract what reading itself adds, as picollo_session_calibrate measured it, from values (not from raw). */
#define PICOLLO_SESSION_SUBTRACT (1 << 7)
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
/** Not pinned, though that was asked for. */
#define PICOLLO_EVENT_INFO_UNPINNED (1 << 1)
/** Counted by other means than a perf event. */
#define PICOLLO_EVENT_INFO_SUBSTITUTED (1 << 2)
/** Can be read in user space. */
#define PICOLLO_EVENT_INFO_FAST (1 << 3)
/** Opened, but the processor counts nothing. */
#define PICOLLO_EVENT_INFO_SILENT (1 << 4)
/** Most events that a session has. */
#define PICOLLO_SESSION_MAX_EVENTS 64

/**
 * What a session is made from. Set struct_size, zero the rest, and change what should not be the default: the
 * calling thread on any CPU, in user space, counting at once.
 */
typedef struct picollo_session_options {
    /** sizeof(picollo_session_options). */
    uint32_t struct_size;
    /** PICOLLO_SESSION_.... */
    uint32_t flags;
    /** Of the histograms, as in picollo_histogram_options; 0: 0.001. */
    double relative_error;
    /**
     * 0: the calling thread; -1 with PICOLLO_SESSION_ON_CPU: everything on that CPU; else a thread's id, as gettid
     * tells it.
     */
    int32_t thread;
    /** Read only with PICOLLO_SESSION_ON_CPU; else any CPU. */
    int32_t cpu;
    /** Of the histograms: 32 or 64; 0: 64. */
    uint32_t counter_bits;
    /** 0. */
    uint32_t reserved;
} picollo_session_options;

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

/**
 * Opens events, starts counting (without PICOLLO_SESSION_DISABLED), and takes a base.
 *
 * The events keep their order and number; the same event may be given twice. Those that find no room beside the
 * others get a group of their own, and are then scheduled by turns: see picollo_event_info.group.
 *
 * Requires: options is NULL, for all defaults, or leads to options with struct_size set; events leads to 1 to
 *   PICOLLO_SESSION_MAX_EVENTS events; error may be NULL.
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (events, out); PICOLLO_ERR_INVALID_ARGUMENT for options, events or
 *   their number outside their ranges; PICOLLO_ERR_UNSUPPORTED for unknown flags and options;
 *   PICOLLO_ERR_OUT_OF_MEMORY; and why an event cannot be counted: PICOLLO_ERR_NO_SUCH_EVENT,
 *   PICOLLO_ERR_PERMISSION, PICOLLO_ERR_UNSUPPORTED, PICOLLO_ERR_OS. With PICOLLO_SESSION_SKIP_UNAVAILABLE such
 *   events stay as entries without counts instead. error tells which event, and what to do about it.
 * Ownership: *out is the caller's, for picollo_session_free.
 * Threads: any thread, which becomes the opening thread.
 * Cost: some system calls and the allocation of a histogram for each event.
 * Since: 0.1
 */
picollo_status picollo_session_create(const picollo_session_options *options,
                                      const picollo_event *events,
                                      size_t length,
                                      picollo_session **out,
                                      picollo_error *error);

/**
 * Closes the events and frees the session. Histograms that picollo_session_histogram gave out live on. NULL is
 * allowed and does nothing.
 *
 * Requires: session is not used any more.
 * Threads: any thread; also in a child after a fork.
 * Cost: some system calls for each event.
 * Since: 0.1
 */
void picollo_session_free(picollo_session *session);

/**
 * Tells how many events there are: as many as were given.
 *
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (session, out); PICOLLO_ERR_FORKED.
 * Threads: any thread, one at a time.
 * Cost: none to speak of.
 * Since: 0.1
 */
picollo_status picollo_session_length(const picollo_session *session, size_t *out);

/**
 * Tells the event at a position, as it was given.
 *
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (session, out); PICOLLO_ERR_INVALID_ARGUMENT (index);
 *   PICOLLO_ERR_FORKED.
 * Threads: any thread, one at a time.
 * Cost: none to speak of.
 * Since: 0.1
 */
picollo_status picollo_session_event(const picollo_session *session, size_t index, picollo_event *out);

/**
 * Tells how an event came to be counted, or why it is not.
 *
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (session, out); PICOLLO_ERR_INVALID_ARGUMENT (index);
 *   PICOLLO_ERR_FORKED.
 * Threads: any thread, one at a time.
 * Cost: none to speak of.
 * Since: 0.1
 */
picollo_status picollo_session_event_info(const picollo_session *session,
                                          size_t index,
                                          picollo_event_info *out);

/**
 * Starts counting, and takes a new base.
 *
 * Requires: error may be NULL.
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (session); PICOLLO_ERR_NOT_COUNTED where the processor turned out to
 *   count nothing; PICOLLO_ERR_OS; PICOLLO_ERR_FORKED.
 * Threads: any thread, one at a time.
 * Cost: some system calls.
 * Since: 0.1
 */
picollo_status picollo_session_enable(picollo_session *session,
                                      picollo_error *error);

/**
 * Stops counting. What was counted can still be read.
 *
 * Requires: error may be NULL.
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (session); PICOLLO_ERR_OS; PICOLLO_ERR_FORKED.
 * Threads: any thread, one at a time.
 * Cost: some system calls.
 * Since: 0.1
 */
picollo_status picollo_session_disable(picollo_session *session, picollo_error *error);

/**
 * Measures what a pair of reads adds to each event by itself, and notes it in the infos. What was read and recorded
 * stays as it is, as if no time had passed.
 *
 * Requires: error may be NULL.
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (session); PICOLLO_ERR_UNSUPPORTED where another thread or a CPU is
 *   counted, which reading does not slow down; PICOLLO_ERR_WRONG_THREAD; PICOLLO_ERR_OUT_OF_MEMORY; PICOLLO_ERR_OS;
 *   PICOLLO_ERR_FORKED.
 * Threads: opening thread only.
 * Cost: some milliseconds.
 * Since: 0.1
 */
picollo_status picollo_session_calibrate(picollo_session *session,
                                         picollo_error *error);

/**
 * Takes a reading of all events: of all of them, or an error that changes nothing.
 *
 * Requires: how is PICOLLO_READ_...; error may be NULL.
 * Returns: PICOLLO_OK, also when some events were not counted: their readings say so; PICOLLO_ERR_NULL_POINTER
 *   (session); PICOLLO_ERR_INVALID_ARGUMENT (how); PICOLLO_ERR_WRONG_THREAD; PICOLLO_ERR_OS; PICOLLO_ERR_FORKED.
 * Threads: PICOLLO_READ_AUTO opening thread only; PICOLLO_READ_SYSCALL any thread, one at a time.
 * Cost: one system call for each group; allocates nothing.
 * Since: 0.1
 */
picollo_status picollo_session_read(picollo_session *session,
                                    uint32_t how,
                                    picollo_error *error);

/**
 * Records the last reading of each event into its histogram. An event that was not counted records nothing, and is
 * tallied in picollo_event_info.not_counted_count.
 *
 * Requires: deltas is 1 for what was counted between the last two reads, or 0 for what was counted since the base.
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (session); PICOLLO_ERR_INVALID_ARGUMENT (deltas); PICOLLO_ERR_EMPTY
 *   when nothing was read since the base, or since the last record; PICOLLO_ERR_FORKED.
 * Threads: any thread, one at a time.
 * Cost: a record for each event; no system call, no allocation.
 * Since: 0.1
 */
picollo_status picollo_session_record(picollo_session *session,
                                      uint32_t deltas);

/**
 * Tells the last reading of each event.
 *
 * Requires: deltas as for picollo_session_record; out has length elements, at least as many as the session has
 *   events. Further ones are left as they are.
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (session, out); PICOLLO_ERR_INVALID_ARGUMENT (deltas);
 *   PICOLLO_ERR_BUFFER_TOO_SMALL; PICOLLO_ERR_EMPTY before the first read since the base; PICOLLO_ERR_FORKED.
 * Threads: any thread, one at a time.
 * Cost: none to speak of; no system call, no allocation.
 * Since: 0.1
 */
picollo_status picollo_session_readings(const picollo_session *session,
                                        uint32_t deltas,
                                        picollo_reading *out,
                                        size_t length);

/**
 * Takes a new base, and resets the histograms. The counters themselves run on.
 *
 * Requires: error may be NULL.
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (session); PICOLLO_ERR_OS; PICOLLO_ERR_BUSY against others that
 *   reset the same histograms; PICOLLO_ERR_FORKED.
 * Threads: any thread, one at a time.
 * Cost: one system call for each group, and a copy of all counters of the histograms.
 * Since: 0.1
 */
picollo_status picollo_session_reset(picollo_session *session,
                                     picollo_error *error);

/**
 * Gives out the histogram of an event: one writer, which is picollo_session_record.
 *
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (session, out); PICOLLO_ERR_INVALID_ARGUMENT (index);
 *   PICOLLO_ERR_FORKED.
 * Ownership: *out is a reference of its own, for picollo_histogram_free; it outlives the session.
 * Threads: any thread, one at a time. The histogram may be read on any thread at any time.
 * Cost: none to speak of.
 * Since: 0.1
 */
picollo_status picollo_session_histogram(picollo_session *session, size_t index, picollo_histogram **out);

/* ----------------------------------------------------------------------------------------------------------
 * Known work.
 *
 * Code whose cost is known in advance, to check clocks and counters against.
 */

/**
 * Runs repetitions times 256 dependent additions: one cycle and one instruction apiece, and two instructions a
 * repetition for the loop, which run beside the chain.
 *
 * Threads: any thread.
 * Cost: 256 cycles a repetition, on processors that add in one cycle.
 * Since: 0.1
 */
void picollo_work_add_chain_256(uint64_t repetitions);
#ifdef __cplusplus
}
#endif

#endif /* PICOLLO_H */
