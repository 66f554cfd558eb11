/* Generated from ffi/src by `PICOLLO_WRITE_HEADER=1 cargo test -p picollo-ffi`; change it there. */
/*
 * Picollo: histograms and performance counters.
 *
 * A histogram records 64-bit values in about a nanosecond each and answers percentiles with a bounded relative error. A
 * session counts what the processor and the kernel do (cycles, branch misses, page faults, ...), each event into a
 * histogram of its own.
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
 *         picollo_summary_format(&summary, "Squares", PICOLLO_TEXT_MARKDOWN, text, sizeof text, &length);
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
 * - Ownership: handles are opaque and counted. What _create returns is given back by _free, which takes NULL too. What is
 *   made from a handle keeps what it needs alive, so things may be freed in any order. Nothing else is ever the caller's
 *   to free, and the library keeps no pointer to the caller's memory after a call, but for _init_in and _attach.
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

/**
 * A histogram: a counted reference, which picollo_histogram_free gives back. Whatever is made from a histogram, such as
 * a snapshot, holds a reference of its own, so that things may be freed in any order.
 */
typedef struct picollo_histogram picollo_histogram;

/**
 * Frozen counts with their totals. Holds a reference to its histogram.
 *
 * Calls that take it as const may be made from any threads at once; picollo_snapshot_update, picollo_snapshot_merge (into
 * it) and picollo_snapshot_free must be alone with it.
 */
typedef struct picollo_snapshot picollo_snapshot;

/* ----------------------------------------------------------------------------------------------------------
 * Histograms.
 *
 * A histogram counts 64-bit values in buckets whose width grows with the value, so that every value is known with a
 * bounded relative error. Recording takes about a nanosecond; it never fails, waits, or loses anything silently: values
 * out of range are counted apart, as underflow and overflow.
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
     * Largest distance between a value and the midpoint of its bucket, in proportion. 0, negative or NaN: 0.001; clamped
     * to 1e-6 ..= 0.1. The block size is the smallest power of two that is at least 0.5 / relative_error.
     */
    double relative_error;
    /** 1 ..= 5: the buckets of an HdrHistogram with that many significant digits, whatever relative_error says. 0: unused. */
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
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (memory, out); PICOLLO_ERR_INVALID_ARGUMENT also for memory that is not
 *   aligned; PICOLLO_ERR_BUFFER_TOO_SMALL; otherwise as picollo_histogram_create.
 * Ownership: the memory stays the caller's. References to such a histogram are not counted: picollo_histogram_free does
 *   nothing to it, and the memory has to outlive its snapshots, recorders and scopes.
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
 * This is the call that is meant to be made millions of times a second; to save even the call, see picollo_recorder and
 * picollo_histogram_record_batch.
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
 * Returns: PICOLLO_OK when it was counted in a bucket; PICOLLO_ERR_INVALID_ARGUMENT when it was counted as underflow or
 *   overflow; PICOLLO_ERR_NULL_POINTER (histogram).
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
 * If index < length, add one to cell number index (of counter_bits bits) by a relaxed atomic load and store. Otherwise, and
 * when a 32-bit cell is all ones, call picollo_histogram_record(histogram, v) instead. The counts are the same.
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
 * Fills in a recorder for a dense histogram with one writer, or for a thread-local one, where the recorder owns a shard
 * until it is released, whatever happens to the thread.
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
 * max(1, ceil(rank / 100 * total)), decided in integers for ranks with up to nine decimals. Underflow, overflow and lost
 * counts are not part of it.
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
    /** How many values share the count: `upper - lower + 1`. */
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
    /** Nearest rank: `max(1, ceil(rank / 100 * total))`. Zero only in the summary of an empty snapshot. */
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
 * Requires: memory has size bytes, is aligned as picollo_snapshot_required_size says, and is used for nothing else, nor
 *   moved, until picollo_snapshot_free.
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
 *   against competing resets (deltas 0 only): the snapshot is empty then, and the next delta starts where it would have.
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
 * Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (snapshot, out); PICOLLO_ERR_INVALID_ARGUMENT for a value out of range.
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
 * Requires: non_empty_only is 1 to leave out buckets without counts, or 0; out has capacity elements, or is NULL to ask
 *   for the number of buckets alone.
 * Returns: PICOLLO_OK, with *out_length the number of buckets; PICOLLO_ERR_BUFFER_TOO_SMALL, with *out_length the number
 *   that is needed and nothing else written; PICOLLO_ERR_NULL_POINTER (snapshot, out_length);
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
 * Text goes into the caller's buffer, UTF-8 with a NUL at the end. *out_length is its length in bytes, without the NUL. When
 * buffer is too small, the answer is PICOLLO_ERR_BUFFER_TOO_SMALL with the same *out_length, and of the buffer only
 * buffer[0] is written, with 0. A buffer of NULL with a capacity of 0 asks for the length. So, to have room for sure:
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
 * Writes what changed from summary a, the older, to summary b, the newer, as text: both their numbers, the changes in per
 * cent, and the D-value (Cohen's d: the difference of the means over the pooled standard deviation).
 *
 * Requires: format is PICOLLO_TEXT_...; buffer has capacity bytes. Empty names read "Before" and "After" in Markdown and in
 *   a line.
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
 * Writes a percentile as text: P99=9,152 [138 / 519]: [9,088, 9,216) 386. That is rank and value; storage and logical index
 * of the bucket; its range, half open; its count. With a target_count of 0 it is P99=n/a.
 *
 * Requires: buffer has capacity bytes; 192 are enough for any percentile of a snapshot.
 * Returns: PICOLLO_OK; PICOLLO_ERR_BUFFER_TOO_SMALL; PICOLLO_ERR_NULL_POINTER (percentile, out_length, and buffer with a
 *   capacity above 0).
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
 * Requires: non_empty_only is 1 to leave out buckets without counts, or 0; value_selection is PICOLLO_VALUE_...; buffer has
 *   capacity bytes.
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
#ifdef __cplusplus
}
#endif

#endif /* PICOLLO_H */
