/* Generated from ffi/src by ci/describe.sh; change it there. */
/*
 * Picollo: histograms of doubles.
 *
 * The first functions to know, by task:
 *
 * - Record: picollo_double_histogram_create, picollo_double_histogram_record.
 * - Read: picollo_double_histogram_collect; for text and buckets picollo_double_snapshot_update and
 *   picollo_double_summary_format.
 *
 * What holds for every function is at the end of picollo.h.
 */
#ifndef PICOLLO_DOUBLE_H
#define PICOLLO_DOUBLE_H

#include "picollo.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/** A histogram of doubles. */
typedef struct picollo_double_histogram picollo_double_histogram;

/** Counts of doubles in one interval.
 *
 * Any number of threads may make calls that take it as const. picollo_double_snapshot_update,
 * picollo_double_snapshot_merge (into it) and picollo_double_snapshot_free need exclusive access. */
typedef struct picollo_double_snapshot picollo_double_snapshot;

/** Options of a histogram of doubles. */
typedef struct picollo_double_options {
    uint32_t struct_size;
    uint32_t flags; /**< PICOLLO_DOUBLE_... or 0. */
    /** Largest relative distance between a value and what is reported for it, clamped to 1e-4 ..= 0.1. 0, negative or
     * NaN: 0.001. */
    double relative_error;
    uint64_t max_bytes; /**< Limit of all memory in bytes; 0: no limit. Values that do not fit are counted as lost. */
} picollo_double_options;
#define PICOLLO_DOUBLE_OPTIONS_INIT {sizeof(picollo_double_options), 0, 0, 0}

/** Totals and moments of doubles. Numbers that do not exist are NaN. */
typedef struct picollo_double_statistics {
    uint64_t count; /**< Observations with a finite value; saturates at UINT64_MAX. */
    uint64_t not_finite; /**< Observations that were NaN or infinite; not part of anything else here. */
    uint64_t lost; /**< Observations that found no memory for their bucket; not part of anything else here. */
    /** Sum of the buckets' midpoints, each within the relative error of its values; or exact and rounded once, if the
     * histogram keeps it. 0 if empty; infinite beyond the largest double. */
    double sum;
    double min; /**< Smallest value, within the relative error, or exact; NaN when empty. */
    double max; /**< Largest value, within the relative error, or exact; NaN when empty. */
    double mean; /**< The sum divided by the count, computed without overflow; NaN if empty. */
    double stddev; /**< Population standard deviation of the midpoints; NaN when empty. */
    double relative_error; /**< The stated error of the layout. */
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
 *     double median;
 *     const double half = 0.5;
 *     picollo_double_snapshot_create(NULL, &snapshot);            (empty)
 *     picollo_double_snapshot_update(snapshot, histogram, PICOLLO_INTERVAL_COLLECT);
 *     picollo_double_snapshot_quantiles(snapshot, &half, 1, &median);
 */

/** Copy the counts of the interval and leave them there. The copy may miss records that are made at the same time. */
#define PICOLLO_INTERVAL_LOOK 0
/** Take the counts of the interval out and start a new one, as picollo_double_histogram_collect does. */
#define PICOLLO_INTERVAL_COLLECT 1

/** A run of doubles that share one count. */
typedef struct picollo_double_bucket {
    double lower; /**< Smallest value of the bucket. */
    double upper; /**< Largest value of the bucket. */
    /** The reported value: the middle between the ends, within the error of every value in the bucket. */
    double midpoint;
    uint64_t count; /**< Number of observations. */
} picollo_double_bucket;

/** A percentile of doubles. */
typedef struct picollo_double_percentile {
    double rank; /**< The rank, 0 to 100: a hundred times the quantile. */
    double value; /**< The reported value of the observation; NaN in an empty summary. */
    /** Number of the observation among all in ascending order, from 1; saturates at UINT64_MAX; 0 in an empty
     * summary. */
    uint64_t target_count;
    picollo_double_bucket bucket; /**< The bucket of the observation, with its count. */
} picollo_double_percentile;

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

/* ----------------------------------------------------------------------------------------------------------
 * Summaries of doubles: statistics, and percentiles that the caller chooses.
 *
 *     static const double ranks[] = PICOLLO_DEFAULT_RANKS;
 *     picollo_double_percentile percentiles[PICOLLO_DEFAULT_RANKS_LENGTH];
 *     picollo_double_summary summary;
 *     picollo_double_snapshot_summary(snapshot, ranks, PICOLLO_DEFAULT_RANKS_LENGTH, percentiles, &summary);
 *     picollo_double_summary_format(&summary, "Skew", PICOLLO_TEXT_MARKDOWN, text, sizeof text, &length);
 */

/** Statistics of one interval, with the percentiles that were asked for. */
typedef struct picollo_double_summary {
    picollo_double_statistics statistics; /**< Totals and moments. */
    /** The caller's array. Texts show those at PICOLLO_DEFAULT_RANKS. NULL if percentiles_length is 0. */
    const picollo_double_percentile *percentiles;
    size_t percentiles_length; /**< Number of percentiles. */
} picollo_double_summary;

/** Summarizes: statistics, and the percentiles at these ranks. An empty snapshot has a summary too: totals and targets
 * are 0, everything else is NaN.
 *
 * Requires: percentiles has room for length elements. out refers to it.
 * Cost: three passes over the buckets with counts, and one more for each rank below the one before it. */
PICOLLO_STATUS picollo_double_snapshot_summary(const picollo_double_snapshot *snapshot, const double *ranks,
    size_t length, picollo_double_percentile *percentiles, picollo_double_summary *out);

/** Writes a summary of doubles as text, with the shortest digits that read back as the same double, in the formats of
 * picollo_summary_format. 8192 bytes are enough for the Markdown of any summary with a short title.
 *
 * Cost: tens of microseconds. */
PICOLLO_STATUS picollo_double_summary_format(const picollo_double_summary *summary, const char *title,
    uint32_t format, char *buffer, size_t capacity, size_t *out_length);

#ifdef __cplusplus
}
#endif

#endif /* PICOLLO_DOUBLE_H */
