/* Generated from ffi/src by ci/describe.sh; change it there. */
/*
 * Picollo: comparisons.
 *
 * Is B faster than A, and by how much? The first functions to know, by task:
 *
 * - Compare recorded values: picollo_compare, picollo_comparison_format.
 * - Measure two pieces of code: picollo_benchmark_create, _next, _done, _format.
 * - Compute figures such as instructions per cycle: picollo_figure_compute.
 *
 * What holds for every function is at the end of picollo.h.
 */
#ifndef PICOLLO_COMPARE_H
#define PICOLLO_COMPARE_H

#include "picollo.h"
#include "picollo_perf.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------------------------------------------------------
 * Comparing: is B really faster than A, and by how much?
 *
 * A quantile of a snapshot is only an estimate; its interval shows how good. A comparison has the interval of the
 * difference between two quantiles, and a verdict. The verdict is faster or slower if the whole interval lies beyond
 * a margin. Otherwise there is no evidence. The margin is the larger of a threshold and of the resolution, such as
 * the width of a bucket. A comparison also has the tests of Mann and Whitney and of Kolmogorov and Smirnov, and
 * effect sizes. docs/is-it-faster.md explains them.
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
    uint32_t flags; /**< 0. */
    double quantile; /**< Quantile to compare, between 0 and 1. 0: 0.5, the median. */
    double confidence; /**< Confidence of the intervals, between 0 and 1. 0: 0.95. */
    /** Differences up to this share of A's quantile do not matter. 0: 0.01, one per cent; negative: no such
     * threshold. */
    double relative_threshold;
    double absolute_threshold; /**< Differences up to this do not matter, in units of the values. */
    double power; /**< Probability of detecting a difference of smallest_detectable, between 0 and 1. 0: 0.8. */
    /** Differences up to this cannot be resolved, in units of the values. 0: only the width of buckets limits the
     * resolution. */
    double resolution;
} picollo_compare_options;
#define PICOLLO_COMPARE_OPTIONS_INIT {sizeof(picollo_compare_options), 0, 0, 0, 0, 0, 0, 0}

/** The difference between A and B in a series of pairs of blocks. */
typedef struct picollo_block_comparison {
    uint64_t block_count; /**< Pairs of blocks. */
    double confidence; /**< The requested confidence, between 0 and 1. */
    double coverage; /**< The confidence of this interval. */
    double median_a; /**< The median of A's blocks, without the overhead if there is one. */
    double median_b; /**< The median of B's blocks, without the overhead if there is one. */
    double difference; /**< The median of the differences within pairs, B minus A. */
    double difference_lower; /**< Lower end of its interval; minus infinity if there are too few blocks. */
    double difference_upper; /**< Upper end of its interval; infinity if there are too few blocks. */
    double margin; /**< A difference must exceed this to count. */
    /** The true difference that is detected with the probability in the options (default 0.8); infinity if there are
     * too few blocks. */
    double smallest_detectable;
    double lag1; /**< The correlation of each difference with the next. */
    double inflation; /**< The variance of their mean, divided by that of as many independent differences. */
    uint32_t verdict; /**< PICOLLO_VERDICT_.... */
    uint32_t flags; /**< PICOLLO_COMPARISON_.... */
    double resolution; /**< The option resolution. Smaller numbers, whether A, B or the difference, are unknown. */
} picollo_block_comparison;

/** A quantile of a snapshot, and the confidence interval for the quantile of the sampled distribution.
 *
 * The ends are order statistics: observations number lower_count and upper_count, in ascending order. The binomial
 * distribution determines them, whatever the distribution of the values; see picollo_snapshot_quantile_interval. */
typedef struct picollo_quantile_interval {
    double quantile; /**< The requested quantile, between 0 and 1. */
    double confidence; /**< The requested confidence, between 0 and 1. */
    /** The confidence of this interval. It is slightly higher than requested, because observations are discrete. It
     * is lower only if there are too few observations, so that an end is missing that is not a limit of all values. */
    double coverage;
    uint64_t total_count; /**< Observations in range. */
    uint64_t target_count; /**< Number of the observation that is the quantile of the snapshot: the nearest rank. */
    uint64_t value; /**< The midpoint of its bucket. */
    uint64_t lower; /**< The smallest value in the bucket of observation number lower_count; 0 if lower_count is 0. */
    /** The largest value in the bucket of observation number upper_count; UINT64_MAX if upper_count is 0. */
    uint64_t upper;
    uint64_t lower_midpoint; /**< The midpoint of the bucket that begins at lower; 0 if lower_count is 0. */
    uint64_t upper_midpoint; /**< The midpoint of the bucket that ends at upper; UINT64_MAX if upper_count is 0. */
    uint64_t lower_count; /**< Number of the observation at the lower end; 0 if there are too few. */
    uint64_t upper_count; /**< Number of the observation at the upper end; 0 if there are too few. */
    uint64_t bucket_width; /**< Width of the widest of the three buckets: the resolution of the snapshot. */
} picollo_quantile_interval;

/** How snapshot B differs from snapshot A. See picollo_compare. */
typedef struct picollo_comparison {
    picollo_quantile_interval a; /**< A's quantile and its interval. */
    picollo_quantile_interval b; /**< B's quantile and its interval. */
    double difference; /**< B's quantile minus A's, between midpoints. */
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
    double mann_whitney_z; /**< Distance of U from its expectation in standard deviations, with B's sign. */
    double mann_whitney_p; /**< Two-sided probability of such a U if there were no difference. */
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
    uint32_t verdict; /**< PICOLLO_VERDICT_...: what it amounts to. */
    uint32_t flags; /**< PICOLLO_COMPARISON_.... */
} picollo_comparison;

/** The difference between a new run and earlier ones. */
typedef struct picollo_run_comparison {
    uint64_t run_count; /**< Number of earlier runs. */
    /** The requested confidence, between 0 and 1: one minus the false positive rate on unchanged code. */
    double confidence;
    /** Upper bound of the false positive rate for any distribution of runs, if their order does not matter: 2 /
     * (run_count + 1). */
    double alarm_bound;
    double mean; /**< The mean of the earlier runs. */
    double deviation; /**< The standard deviation of the earlier runs. */
    double lowest; /**< The smallest of the earlier runs. */
    double highest; /**< The largest of the earlier runs. */
    double value; /**< The new run. */
    double difference; /**< The new run minus the mean. */
    double difference_lower; /**< Lower end of its interval; minus infinity if there are too few runs. */
    double difference_upper; /**< Upper end of its interval; infinity if there are too few runs. */
    double margin; /**< A difference must exceed this to count. */
    /** The true difference that is detected with the probability in the options (default 0.8); infinity if there are
     * too few runs. */
    double smallest_detectable;
    double lag1; /**< The correlation of each run with the next. */
    double inflation; /**< The variance of their mean, divided by that of as many independent runs. */
    uint32_t verdict; /**< PICOLLO_VERDICT_.... */
    uint32_t flags; /**< PICOLLO_COMPARISON_.... */
    double resolution; /**< The option resolution. */
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
 * Blocks that the host or other programs disturbed are left out. If more than half are disturbed, all count. If the
 * interval is then inconclusive, the comparison has PICOLLO_COMPARISON_NOISY and no verdict: a larger budget may help.
 * docs/is-it-faster.md has the rule. PICOLLO_BENCHMARK_KEEP_DISTURBED counts all blocks.
 *
 * Without a PMU, picollo compare --why counts the instructions of two programs exactly. Under Valgrind, times of
 * benchmarks are meaningless (PICOLLO_BENCHMARK_SIMULATED).
 */

/** Set when the budget was spent before the smallest number of blocks was measured. */
#define PICOLLO_BENCHMARK_BUDGET_SPENT (1 << 0)
/** Set when the time of a call of A is below the resolution: it does nothing, or the compiler removed it. */
#define PICOLLO_BENCHMARK_NOTHING_A (1 << 1)
/** Set when the time of a call of B is below the resolution: it does nothing, or the compiler removed it. */
#define PICOLLO_BENCHMARK_NOTHING_B (1 << 2)
/** Set when it ran under Valgrind: its times are meaningless, and there is no verdict. */
#define PICOLLO_BENCHMARK_SIMULATED (1 << 3)
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

/** A benchmark of two pieces of code. */
typedef struct picollo_benchmark picollo_benchmark;

/** Options of a benchmark. */
typedef struct picollo_benchmark_options {
    uint32_t struct_size; /**< sizeof(picollo_benchmark_options). */
    uint32_t flags; /**< PICOLLO_BENCHMARK_NO_OVERHEAD and PICOLLO_BENCHMARK_KEEP_DISTURBED, or 0. */
    uint32_t min_blocks; /**< Smallest number of blocks, unless the budget is spent. 0: 20. */
    uint32_t max_blocks; /**< Largest number of blocks. 0: 100,000. */
    uint64_t repetitions; /**< Calls per sample. 0: as many as fit into sample_seconds. */
    /** Time limit in seconds; a started sample is finished. 0: 5. At least one block, of four samples, is always
     * measured. If a call takes longer than the whole budget, its samples have one call each. */
    double budget_seconds;
    double warm_up_seconds; /**< Seconds to warm up, for both together. 0: a tenth of the budget. */
    /** Seconds per sample, at most an eighth of the budget. 0: 0.0002, or a hundredth of the budget if that is less. */
    double sample_seconds;
    /** 0: it ends when the answer can no longer change. Positive: it ends when half the width of the difference's
     * interval is at most this share of A, or a tenth of the resolution. Negative: it ends only with the budget. */
    double precision;
    double confidence; /**< Confidence of the interval, between 0 and 1. 0: 0.95. */
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
    double a; /**< Count of A without that of empty samples; NaN if nothing was counted. */
    double b; /**< Count of B without that of empty samples; NaN if nothing was counted. */
    int32_t status; /**< 0, or why there is no count: the number of the status. */
    uint32_t reserved; /**< 0. */
} picollo_benchmark_counts;

/** What else the machine did. Unknown numbers are NaN. */
typedef struct picollo_benchmark_disturbance {
    uint64_t block_count; /**< Measured blocks. */
    uint64_t disturbed_count; /**< Measured blocks that were disturbed from outside. */
    /** Measured blocks that were left out of the verdict. 0 if all count, because more than half were disturbed or
     * all were to be kept. */
    uint64_t left_out_count;
    double seconds; /**< Seconds that were watched: since the benchmark was made, with the warm-up. */
    double steal_seconds; /**< Seconds that the host took from the CPUs that the program may run on. */
    double others_seconds; /**< Seconds of CPU time that other programs took on these CPUs. */
    double pressure_seconds; /**< Seconds in which something, this program or another, had to wait for a CPU. */
    double frequency_low; /**< Lowest observed frequency of the CPU on which the benchmark was made, in hertz. */
    double frequency_high; /**< Highest observed frequency of that CPU, in hertz. */
    uint32_t cpu_count; /**< CPUs that the program may run on; 0: unknown. */
    uint32_t reserved; /**< 0. */
} picollo_benchmark_disturbance;

/** The results of a benchmark. Times are in picoseconds. */
typedef struct picollo_benchmark_outcome {
    /** The difference and the verdict, in picoseconds per call without the overhead. The two medians differ by
     * exactly the difference. They may be below zero if a call takes almost no time. */
    picollo_block_comparison blocks;
    double overhead_a; /**< Median time of an empty sample with A's number of calls, which was subtracted. */
    double overhead_b; /**< Median time of an empty sample with B's number of calls, which was subtracted. */
    uint64_t repetitions_a; /**< Calls of A in each sample. */
    uint64_t repetitions_b; /**< Calls of B in each sample: the same number, unless the two differ fourfold. */
    uint64_t sample_count; /**< Samples of each side: two per block. */
    uint64_t elapsed; /**< Since the benchmark was made. */
    double overhead_error_a; /**< Half the interval of overhead_a, at 95 %. */
    double overhead_error_b; /**< Half the interval of overhead_b, at 95 %. */
    uint64_t empty_count; /**< Number of empty samples. */
    uint32_t flags; /**< PICOLLO_BENCHMARK_... */
    uint32_t reserved; /**< 0. */
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
    double value; /**< The figure of the sums, not the mean of the scopes' figures. */
    double lower; /**< Lower end of the interval; NaN if there are too few scopes. */
    double upper; /**< Upper end of the interval; NaN if there are too few scopes. */
    double confidence; /**< The requested confidence. */
    uint64_t scopes; /**< Number of scopes. */
    uint32_t flags; /**< PICOLLO_FIGURE_.... */
    uint32_t reserved; /**< 0. */
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

#ifdef __cplusplus
}
#endif

#endif /* PICOLLO_COMPARE_H */
