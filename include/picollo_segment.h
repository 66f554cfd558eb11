/* Generated from ffi/src by ci/describe.sh; change it there. */
/*
 * Picollo: segments: publish histograms and counters so that others can read them while the program runs.
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
 *
 * What holds for every function is at the end of picollo.h.
 */
#ifndef PICOLLO_SEGMENT_H
#define PICOLLO_SEGMENT_H

#include "picollo.h"
#include "picollo_metrics.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/** A file in memory that holds histograms and counters for others to read. The segment and its histograms and
 * counters may be freed in any order. */
typedef struct picollo_segment picollo_segment;

/** Options of a segment. Strings are NUL-terminated UTF-8, and copied. */
typedef struct picollo_segment_options {
    uint32_t struct_size;
    uint32_t flags; /**< PICOLLO_SEGMENT_... or 0. */
    /** Largest size of the file; 0: 128 MiB. It takes address space at once, but memory only as histograms are made. */
    uint64_t max_bytes;
    const char *name; /**< 1 to 64 letters, digits, _ and -. NULL: the name of the program. */
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

#ifdef __cplusplus
}
#endif

#endif /* PICOLLO_SEGMENT_H */
