/* Generated from ffi/src by ci/describe.sh; change it there. */
/*
 * Picollo: snapshots as bytes, and logs of histograms.
 *
 * The first functions to know, by task:
 *
 * - Store and send snapshots: picollo_snapshot_encode, _decode.
 * - Read a log: picollo_log_reader_create, picollo_log_reader_next, picollo_log_reader_decode.
 * - Write a log: picollo_log_format_header, picollo_log_format_interval.
 *
 * What holds for every function is at the end of picollo.h.
 */
#ifndef PICOLLO_LOG_H
#define PICOLLO_LOG_H

#include "picollo.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------------------------------------------------------
 * Interchange: snapshots as bytes, for files, networks and the tools of HdrHistogram.
 *
 * The library writes three encodings. It reads these and HdrHistogram's older ones, as bytes or as base64.
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

/** Reads a log of histograms (.hlog) in the caller's memory. */
typedef struct picollo_log_reader picollo_log_reader;

/** A line of a log, without its histogram. Unknown times are NaN. */
typedef struct picollo_log_interval {
    double start_seconds; /**< Start of the interval in seconds since 1970, or since the origin of the log's times. */
    double end_seconds; /**< End of the interval. */
    /** The largest value in millions, as written in the log; NaN if it is not a number. The histogram is more exact. */
    double max;
    double log_start_seconds; /**< Start of the log, in seconds since 1970. */
    double log_base_seconds; /**< The number that is added to the timestamps of the log. */
    uint64_t position; /**< Bytes of the log read so far (of the copy, if the text is in UTF-16). */
    uint64_t line; /**< Number of the line that was read last, from 1. */
    /** Tag that distinguishes histograms of the same time; "" without a tag. UTF-8, NUL-terminated. It belongs to the
     * reader, until the next interval is read. */
    const char *tag;
    size_t tag_length; /**< Length of the tag in bytes. */
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

#ifdef __cplusplus
}
#endif

#endif /* PICOLLO_LOG_H */
