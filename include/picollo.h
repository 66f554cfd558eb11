/* Generated from ffi/src by ci/describe.sh; change it there. */
/*
 * Picollo: histograms.
 *
 * A histogram records 64-bit values and returns percentiles with a bounded relative error. A record takes a few
 * nanoseconds, or less than two if it is inlined and a single thread writes.
 *
 *     #include <stdio.h>
 *     #include <picollo.h>
 *
 *     int main(void) {
 *         picollo_histogram *histogram;
 *         char text[4096];
 *         size_t length;
 *         if (picollo_histogram_create(NULL, &histogram) != PICOLLO_OK) return 1;
 *         for (uint64_t value = 1; value <= 100000; value++) picollo_histogram_record(histogram, value);
 *         picollo_histogram_format(histogram, "Values", PICOLLO_TEXT_MARKDOWN, text, sizeof text, &length);
 *         fputs(text, stdout);
 *         picollo_histogram_free(histogram);
 *     }
 *
 * This header has histograms, snapshots, percentiles, summaries and text. The first functions to know, by task:
 *
 * - Record values: picollo_histogram_create, _record, _record_batch, _free.
 * - Time code: picollo_scope_begin, picollo_scope_end.
 * - Read percentiles: picollo_histogram_format for people, picollo_histogram_summary for programs; for intervals and
 *   all counts picollo_snapshot_create, _update, _percentile_values.
 * - Merge: picollo_snapshot_merge, _subtract.
 * - Record without a call: picollo_inline.h.
 *
 * Each other topic has its own header, and picollo_all.h includes them all:
 *
 * - picollo_perf.h: count cycles, misses and faults.
 * - picollo_compare.h: decide whether B is faster than A, with benchmarks or with recorded values.
 * - picollo_why.h: explain slow observations.
 * - picollo_segment.h: let others watch while the program runs; the command picollo top shows the histograms.
 * - picollo_metrics.h: serve Prometheus or OpenTelemetry.
 * - picollo_log.h: store and send snapshots, and read and write logs of histograms.
 * - picollo_picture.h: draw charts in a terminal, as SVG and as HTML.
 * - picollo_double.h: record doubles.
 * - picollo_counter.h: count in one word that many threads share.
 *
 * Calls that can fail return a picollo_status. Each handle is freed once, with _free. NULL options are the defaults.
 * Everything else that holds for every function is at the end of this file, under "Rules".
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
 * Status and errors.
 *
 * Every call that can fail returns a picollo_status: PICOLLO_OK, which is 0, or one of the negative numbers below.
 * All negative numbers except PICOLLO_END are errors. Numbers are never reused; a later version may return new ones.
 * Every function that returns a status and is not hot may also return PICOLLO_ERR_PANIC. This is a defect of the
 * library; please report it.
 */

/** 0 is success. A negative number means that the call delivered nothing, unless its description says what it did. */
typedef int32_t picollo_status;

/** A failure with its explanation: what, why, and what to do about it. Holds its text by value, so that making one never
 * allocates. */
typedef struct picollo_error {
    int32_t status; /**< What the call returned. */
    int32_t os_errno; /**< The errno of the system call that failed; 0: none. */
    int32_t event_index; /**< Which of the events given; -1: none. */
    uint32_t reserved; /**< 0. */
    char message[496]; /**< What happened, why, and what to do; NUL-terminated UTF-8. */
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
 * Histograms.
 *
 * A histogram counts 64-bit values in buckets whose width grows with the value, so every value has a bounded
 * relative error. Recording never fails, never waits and loses nothing silently: values out of range are counted
 * separately, as underflow and overflow. By default any number of threads record, and a record takes a few
 * nanoseconds. Inlined in single-writer mode it takes less than two.
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
/** In chunks of 64 counters: the first use of a counter allocates its chunk. */
#define PICOLLO_STORAGE_SPARSE 1

/** The default: any number of threads record, also in signal handlers, each by an atomic addition. To record
 * without a call, use a picollo_atomic_recorder. */
#define PICOLLO_MODE_INTERLOCKED 0

/** One thread records at a time, and any number of threads read. A record is a plain addition. Inlined, it takes
 * half to a sixth of the time of the default mode. Two threads that record at the same time lose counts without notice. */
#define PICOLLO_MODE_SINGLE_WRITER 1
/** Many threads at high rates: a plain addition into the thread's own counters, its shard. A reader adds up all shards. */
#define PICOLLO_MODE_THREAD_LOCAL 2

/** Many threads at high rates, however many there are, and signal handlers. A record is a plain addition into the shard
 * of the current CPU, in a restartable sequence: if the kernel interrupts it, the record becomes an atomic addition.
 * This needs Linux on x86-64 and glibc 2.35 or later. Otherwise, and in threads that are not registered for it, a
 * record is an atomic addition, which is just as exact. Each CPU that was recorded on has a shard; threads have none.
 * Such histograms are dense, have 64-bit counters, and live on the heap or in a segment. They have no recorder
 * (PICOLLO_ERR_UNSUPPORTED). */
#define PICOLLO_MODE_PER_CPU 4

/** Omits the room for resets. The histogram takes a third of the memory, and picollo_histogram_reset returns
 * PICOLLO_ERR_UNSUPPORTED. */
#define PICOLLO_HISTOGRAM_NO_LIVE_RESET (1 << 0)

/** Raises max_trackable to the largest value that an HdrHistogram with these options can count: its array ends at a
 * power of two. For 5,000 and 3 digits this is 8,191. picollo_layout_of_options reports it. */
#define PICOLLO_HISTOGRAM_WHOLE_ARRAY (1 << 1)

/** For significant_digits: the buckets of an HdrHistogram with 0 significant digits, which are powers of two. (0 in
 * that field means that relative_error decides.) */
#define PICOLLO_ZERO_DIGITS 255

/** A histogram: a counted reference. picollo_histogram_retain adds one, picollo_histogram_free gives one back.
 * Everything made from a histogram, such as a snapshot, holds its own reference. */
typedef struct picollo_histogram picollo_histogram;

/** Options of a histogram.
 *
 * A narrower range far above zero, or a larger error, takes less memory: 28,672 counters for all 64-bit values at
 * 0.001, but 104 for 10,000 to 30,000 at 0.01. */
typedef struct picollo_histogram_options {
    uint32_t struct_size;
    uint32_t mode; /**< PICOLLO_MODE_...: who may record, and how. 0: PICOLLO_MODE_INTERLOCKED. */
    uint32_t storage; /**< PICOLLO_STORAGE_...: when memory is allocated. */
    /** Width of a counter: 32 or 64; 0: 64. If a 32-bit counter wraps around, the counts are reported as lost. */
    uint32_t counter_bits;
    /** Largest relative distance between a value and the midpoint of its bucket, clamped to 1e-6 ..= 0.1. 0, negative
     * or NaN: 0.001. Each power of two has a block of equal buckets. Their number, the block size, is the smallest
     * power of two that is at least 0.5 / relative_error. */
    double relative_error;
    /** 1 ..= 5, or PICOLLO_ZERO_DIGITS: the buckets of an HdrHistogram with so many significant digits;
     * relative_error is ignored. 0: relative_error decides. */
    uint32_t significant_digits;
    uint32_t flags; /**< PICOLLO_HISTOGRAM_NO_LIVE_RESET | PICOLLO_HISTOGRAM_WHOLE_ARRAY, or 0. */
    /** Smallest value to count; smaller values are underflow. It must be below max_trackable. */
    uint64_t min_trackable;
    /** Largest value to count; larger values are overflow. 0: UINT64_MAX. At both ends the whole bucket belongs to
     * the range. */
    uint64_t max_trackable;
    /** Sparse storage: limit of its memory; 0: no limit. Values that do not fit are counted as lost. */
    uint64_t max_bytes;
    /** HdrHistogram's lowest discernible value. Values are counted in units of the largest power of two that is at
     * most this, so small values need fewer counters. 0 or 1: no unit. At most max_trackable, and below 2^62 / block
     * size. With a unit a record takes longer, because inlined recorders then call the library (their length is 0). */
    uint64_t unit;
} picollo_histogram_options;
#define PICOLLO_HISTOGRAM_OPTIONS_INIT {sizeof(picollo_histogram_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/** Makes an empty histogram on the heap.
 *
 * Returns: PICOLLO_ERR_UNSUPPORTED for options that this version does not offer.
 * Cost: allocates and zeroes 24 bytes per counter: 8 for the count and 16 for resets. Half for 32-bit counters, a
 *   third without live reset. */
PICOLLO_STATUS picollo_histogram_create(const picollo_histogram_options *options, picollo_histogram **out);

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
 *   mode the addition is atomic. No lock. */
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

/** Adds a reference. */
picollo_histogram *picollo_histogram_retain(picollo_histogram *histogram);

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

/** Frozen counts with their totals. A snapshot holds a reference to its histogram, unless it was decoded, copied or
 * corrected.
 *
 * Any number of threads may make calls that take it as const. picollo_snapshot_update, picollo_snapshot_merge (into
 * it), picollo_snapshot_subtract (from it) and picollo_snapshot_free need exclusive access. */
typedef struct picollo_snapshot picollo_snapshot;

/** A run of values that share one count. */
typedef struct picollo_bucket {
    uint64_t lower; /**< Smallest value of the bucket. */
    uint64_t upper; /**< Largest value of the bucket. The range is closed, so the last bucket can end at UINT64_MAX. */
    uint64_t step; /**< Number of values that share the count: upper - lower + 1. */
    uint64_t count; /**< Number of observations. */
    uint64_t storage_index; /**< Index among the counters of its histogram. */
    uint64_t logical_index; /**< Index among the counters of a histogram of the full range. */
} picollo_bucket;

/** Totals of a snapshot. They saturate at UINT64_MAX; percentiles use the exact totals. */
typedef struct picollo_counts {
    uint64_t total; /**< Observations in range. */
    uint64_t underflow; /**< Observations below the range. */
    uint64_t overflow; /**< Observations above the range. */
    /** Observations missing from the numbers above, because a cell wrapped around or no memory was left for one. A
     * wrap loses 2^32 in 32-bit cells. In wider cells and in the numbers above it loses 2^64, so UINT64_MAX means
     * that many or more. */
    uint64_t lost;
} picollo_counts;

/** A percentile: the first bucket whose cumulative count reaches the rank's target. */
typedef struct picollo_percentile {
    double rank; /**< The requested rank, 0 to 100. */
    uint64_t value; /**< The bucket's equivalent value. */
    /** Nearest rank: max(1, ceil(rank / 100 * total)); saturates at UINT64_MAX. Zero only in the summary of an empty snapshot. */
    uint64_t target_count;
    picollo_bucket bucket; /**< The bucket, with its count. */
} picollo_percentile;

/** Makes a snapshot and updates it with all counts since the reset.
 *
 * Returns: PICOLLO_ERR_BUSY if another program overwrites the shared memory.
 * Cost: allocates 16 bytes per counter, copies all counters. */
PICOLLO_STATUS picollo_snapshot_create(const picollo_histogram *histogram, picollo_snapshot **out);

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
 * Summaries: totals and moments, and percentiles that the caller chooses.
 *
 * A summary leads to an array of percentiles, which is the caller's. PICOLLO_DEFAULT_RANKS are the usual ranks. A later
 * version may have more of them, and programs built against this one then still get those that they ask for:
 *
 *     static const double ranks[] = PICOLLO_DEFAULT_RANKS;
 *     picollo_percentile percentiles[PICOLLO_DEFAULT_RANKS_LENGTH];
 *     picollo_summary summary;
 *     picollo_histogram_summary(histogram, PICOLLO_VALUE_MIDPOINT, ranks, PICOLLO_DEFAULT_RANKS_LENGTH, percentiles,
 *         &summary);
 */

/** The usual ranks of percentiles, ascending: an initializer for an array of double. */
#define PICOLLO_DEFAULT_RANKS {0, 1, 5, 10, 25, 50, 75, 90, 92.5, 95, 97.5, 99, 99.9, 99.99, 99.999, 100}
/** Number of PICOLLO_DEFAULT_RANKS. */
#define PICOLLO_DEFAULT_RANKS_LENGTH 16

/** Totals, mean and deviation of one snapshot, with the percentiles that were asked for. */
typedef struct picollo_summary {
    uint64_t total_count; /**< Observations in range; saturates at UINT64_MAX. */
    uint64_t underflow_count; /**< Observations below the trackable range; not part of anything else here. */
    uint64_t overflow_count; /**< Observations above the trackable range; not part of anything else here. */
    uint64_t lost_count; /**< Observations that were recorded but are missing from the buckets. */
    double mean; /**< Mean of equivalent midpoints; NaN when empty. */
    double stddev; /**< Population standard deviation of equivalent midpoints; NaN when empty. */
    double relative_error; /**< The layout's stated error: 0.5 / block size. */
    uint64_t min_trackable; /**< Smallest value of the guaranteed range. */
    uint64_t max_trackable; /**< Largest value of the guaranteed range. */
    uint64_t timestamp_unix_nanos; /**< Time of the counts, in nanoseconds since 1970; 0 without a clock. */
    uint32_t value_selection; /**< PICOLLO_VALUE_...: which value of its bucket each percentile reports. */
    uint32_t flags; /**< 0; reserved. */
    /** The caller's array. Texts show those at PICOLLO_DEFAULT_RANKS. NULL if percentiles_length is 0. */
    const picollo_percentile *percentiles;
    size_t percentiles_length; /**< Number of percentiles. */
} picollo_summary;

/** Summarizes a snapshot, with the percentiles at these ranks. An empty one has a summary too: totals and targets are 0,
 * mean and deviation are NaN.
 *
 * Requires: percentiles has room for length elements. out refers to it.
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT also for a rank outside 0 ..= 100.
 * Cost: two passes over the counters: tens of microseconds for 28,672. Ranks other than PICOLLO_DEFAULT_RANKS take one
 *   more. */
PICOLLO_STATUS picollo_snapshot_summary(const picollo_snapshot *snapshot, uint32_t value_selection,
    const double *ranks, size_t length, picollo_percentile *percentiles, picollo_summary *out);

/** Summarizes a histogram since its reset. The call makes a snapshot and frees it again. To summarize often, or
 * without allocations, keep a picollo_snapshot, update it, and use picollo_snapshot_summary.
 *
 * Requires: as picollo_snapshot_summary.
 * Returns: PICOLLO_ERR_BUSY if another program overwrites the shared memory; otherwise as picollo_snapshot_summary.
 * Cost: allocates 16 bytes per counter temporarily; three passes over the counters. */
PICOLLO_STATUS picollo_histogram_summary(const picollo_histogram *histogram, uint32_t value_selection,
    const double *ranks, size_t length, picollo_percentile *percentiles, picollo_summary *out);

/* ----------------------------------------------------------------------------------------------------------
 * Text.
 *
 * "Rules" has those of buffers, under "Text, bytes and lists". To make enough room:
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

/** Writes a summary of a histogram since its reset as text, with the usual percentiles and PICOLLO_VALUE_MIDPOINT.
 *
 * Returns: PICOLLO_ERR_BUSY if another program overwrites the shared memory.
 * Cost: as picollo_histogram_summary. */
PICOLLO_STATUS picollo_histogram_format(const picollo_histogram *histogram, const char *title,
    uint32_t format, char *buffer, size_t capacity, size_t *out_length);

/** Writes a summary as text, with those of its percentiles that are at PICOLLO_DEFAULT_RANKS.
 *
 * Requires: the percentiles that the summary refers to are still there.
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

/* ----------------------------------------------------------------------------------------------------------
 * Clocks.
 *
 * Two clocks count ticks of an exactly known frequency, and both suit intervals. A read of the time stamp counter
 * takes ten to thirty nanoseconds, without a system call. If the machine has no counter with a constant rate, the monotonic
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
    uint64_t start; /**< Ticks at the beginning. */
    uint32_t clock; /**< PICOLLO_CLOCK_.... */
    uint32_t unit; /**< PICOLLO_UNIT_.... */
    picollo_histogram *histogram; /**< The histogram to record into; NULL after the end. */
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
    uint64_t min_trackable; /**< Smallest value that is certainly counted. */
    uint64_t max_trackable; /**< Largest value that is certainly counted. */
    uint64_t first_index; /**< Logical index of the first counter. */
    uint64_t length; /**< Number of counters. */
    /** 0.5 / block size: the largest relative distance between a value and the midpoint of its bucket. With a unit
     * above 1 this holds from a block of units on; smaller values are at most half a unit away. */
    double relative_error;
    uint32_t block_scale; /**< Binary logarithm of the block size. */
    /** Significant digits (1 ..= 5) of the HdrHistogram with these buckets. 0 if there is no such HdrHistogram, or if
     * it has 0 digits (then block_scale is 0). */
    uint32_t significant_digits;
    /** Unit of the first two blocks of buckets: 1, or a power of two if an HdrHistogram with such a lowest
     * discernible value was encoded. Values are divided by the unit, rounded down, and multiplied by it again. */
    uint64_t unit;
} picollo_layout;

/** The memory of a histogram, in bytes. */
typedef struct picollo_footprint {
    uint64_t counters; /**< Number of counters of the layout. */
    uint64_t initial_bytes; /**< Size of a new histogram. */
    /** Size of a growth step: a shard per thread that records at the same time (thread-local), a shard per CPU
     * (per-CPU), or a chunk of counters with its baseline (sparse). 0 if it does not grow. */
    uint64_t step_bytes;
    uint64_t max_bytes; /**< Largest possible size; UINT64_MAX if there is no limit. */
    uint64_t snapshot_bytes; /**< Size of a snapshot. */
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
    uint64_t refined; /**< Counts that went to a finer bucket, within the error of the bucket that they came from. */
    uint64_t underflow; /**< Counts that were in the source's range and are an underflow here. */
    uint64_t overflow; /**< Counts that were in the source's range and are an overflow here. */
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
 * Steps through the counts of a snapshot, like HdrHistogram's iterators.
 *
 * A step ends at a value. It holds the counts of all buckets up to and including that value's, except those of
 * earlier steps. It never divides a bucket. Steps continue until they cover everything recorded; an empty snapshot
 * has no steps. picollo_snapshot_buckets lists single buckets. With a capacity of 0 the functions report how many steps
 * there are.
 */

/** Largest number of steps. Parameters that lead to more are PICOLLO_ERR_INVALID_ARGUMENT. */
#define PICOLLO_MAX_STEPS 16777216

/** A step of an iteration. */
typedef struct picollo_step {
    uint64_t from; /**< End of the previous step; 0 for the first. (HdrHistogram's valueIteratedFrom.) */
    uint64_t to; /**< End of this step. Steps of percentiles end with a bucket. (valueIteratedTo.) */
    uint64_t added_count; /**< Counts in this step; saturates at UINT64_MAX. */
    uint64_t cumulative_count; /**< Counts in this and all previous steps; saturates at UINT64_MAX. */
    double rank; /**< The cumulative count as a percentage of all counts. */
    double rank_level; /**< The percentage at which a step of percentiles was due; for other steps the same as rank. */
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
 * Recording without a call.
 *
 * A recorder holds what a record needs, so the compiler can inline it. Include picollo_inline.h, which has examples, take
 * the recorder's writer, and call picollo_writer_record. Bindings for other languages may do the same. This is the rule for a value v:
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
 * A recorder adds without an atomic operation, so its mode must be requested: PICOLLO_MODE_THREAD_LOCAL, with a recorder
 * for each thread, or PICOLLO_MODE_SINGLE_WRITER, with one. For a histogram of the default mode that many threads share,
 * use picollo_atomic_recorder. The rule is the same, but one atomic addition increments the cell, and nothing is to be
 * released.
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
    uint64_t first_index; /**< Logical index of the first cell. */
    uint32_t block_scale; /**< Binary logarithm of the block size. */
    uint32_t counter_bits; /**< Width of a cell, 32 or 64. */
    void *counters; /**< The cells: uint32_t or uint64_t, by counter_bits. */
    picollo_histogram *histogram; /**< Takes the values that the cells cannot. */
    void *owner; /**< Private. */
    void *reserved;
} picollo_recorder;

/** A recorder for a histogram that any number of threads record into.
 *
 * Do not change its fields. All threads may share it, and copies are valid. It borrows the histogram, and there is
 * nothing to release. */
typedef struct picollo_atomic_recorder {
    /** Number of cells. 0 if the layout has a unit; then picollo_histogram_record takes every value. */
    uint64_t length;
    uint64_t first_index; /**< Logical index of the first cell. */
    uint32_t block_scale; /**< Binary logarithm of the block size. */
    uint32_t reserved;
    uint64_t *counters; /**< The cells. */
    picollo_histogram *histogram; /**< Takes the values that the cells cannot. */
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
 * Record with picollo_atomic_writer_record of picollo_inline.h.
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
 * In memory of the caller: static, on a stack, from another allocator, or shared between processes.
 *
 * Everything else works as for histograms and snapshots on the heap. docs/embedded.md has examples.
 */

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

/* ----------------------------------------------------------------------------------------------------------
 * Versions.
 */

/** Version of this interface, and the number of the SONAME. It increases when a program built against an older header would no longer
 * work. */
#define PICOLLO_ABI_VERSION 3
/** Major version of this header: breaking changes. picollo_version returns the version of the library at run time. */
#define PICOLLO_VERSION_MAJOR 0
/** Minor version of this header: additions. */
#define PICOLLO_VERSION_MINOR 1
/** Patch version of this header: corrections. */
#define PICOLLO_VERSION_PATCH 0

/** Returns the ABI version of the library at run time. Compare it with PICOLLO_ABI_VERSION, the version at compile
 * time. It cannot fail. */
uint32_t picollo_abi_version(void);

/** Returns the version of the library at run time, such as "1.2.3": a static string, never NULL, not to be freed. */
const char *picollo_version(void);

/* ----------------------------------------------------------------------------------------------------------
 * Rules: what holds for every function of all headers, unless it says otherwise.
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
 * - Ownership: handles are opaque. The caller owns every handle that a call returns and frees it once with _free (a
 *   server: with _stop), which ignores NULL. _retain adds a reference, which needs another _free, and returns the
 *   same handle; for NULL it returns NULL. An object keeps alive what it was made from, so objects may be freed in
 *   any order. A call that ends in _ref returns a reference to an existing object, for _free. The caller frees
 *   nothing else. After a call the library keeps no pointer to the caller's memory, except after _init_in, _attach
 *   and picollo_log_reader_create.
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

#ifdef __cplusplus
}
#endif

#endif /* PICOLLO_H */
