//! Picollo: histograms.
//!
//! A histogram records 64-bit values and returns percentiles with a bounded relative error. A record takes a few
//! nanoseconds, or less than two if it is inlined and a single thread writes.
//!
//!     #include <stdio.h>
//!     #include <picollo.h>
//!
//!     int main(void) {
//!         picollo_histogram *histogram;
//!         char text[4096];
//!         size_t length;
//!         if (picollo_histogram_create(NULL, &histogram) != PICOLLO_OK) return 1;
//!         for (uint64_t value = 1; value <= 100000; value++) picollo_histogram_record(histogram, value);
//!         picollo_histogram_format(histogram, "Values", PICOLLO_TEXT_MARKDOWN, text, sizeof text, &length);
//!         fputs(text, stdout);
//!         picollo_histogram_free(histogram);
//!     }
//!
//! This header has histograms, snapshots, percentiles, summaries and text. The first functions to know, by task:
//!
//! - Record values: picollo_histogram_create, _record, _record_batch, _free.
//! - Time code: picollo_scope_begin, picollo_scope_end.
//! - Read percentiles: picollo_histogram_format for people, picollo_histogram_summary for programs; for intervals and
//!   all counts picollo_snapshot_create, _update, _percentile_values.
//! - Merge: picollo_snapshot_merge, _subtract.
//! - Record without a call: picollo_inline.h.
//!
//! Each other topic has its own header, and picollo_all.h includes them all:
//!
//! - picollo_perf.h: count cycles, misses and faults.
//! - picollo_compare.h: decide whether B is faster than A, with benchmarks or with recorded values.
//! - picollo_why.h: explain slow observations.
//! - picollo_segment.h: let others watch while the program runs; the command `picollo top` shows the histograms.
//! - picollo_metrics.h: serve Prometheus or OpenTelemetry.
//! - picollo_log.h: store and send snapshots, and read and write logs of histograms.
//! - picollo_picture.h: draw charts in a terminal, as SVG and as HTML.
//! - picollo_double.h: record doubles.
//! - picollo_counter.h: count in one word that many threads share.
//!
//! Calls that can fail return a picollo_status. Each handle is freed once, with _free. NULL options are the defaults.
//! Everything else that holds for every function is at the end of this file, under "Rules".

// The sections in the order of the header. The blank lines keep rustfmt from sorting them.

pub mod status;

pub mod histogram;

pub mod snapshot;

pub mod summary;

pub mod text;

pub mod clock;

pub mod mapping;

pub mod merge;

pub mod steps;

pub mod interpolate;

pub mod recorder;

pub mod placement;

pub mod version;

pub mod rules;

pub mod histogram_options;
