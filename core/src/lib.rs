//! Histograms with a bounded relative error, and everything that reads them.
//!
//! ```
//! # #[cfg(feature = "std")] {
//! use picollo_core::{Options, SharedHistogram};
//!
//! let latency = SharedHistogram::create(&Options::default())?; // all values, 0.1 %, any number of threads
//! for value in 0..100_000 {
//!     latency.record(value); // never fails, waits or allocates
//! }
//! println!("{}", latency.summary()?);
//! # }
//! # Ok::<(), picollo_core::Error>(())
//! ```
//!
//! **Start here**: [`SharedHistogram`] for any number of threads; [`SingleWriterHistogram`] if one thread records, in
//! less time; [`Histogram`] in a static, on the stack or in memory of your own; [`SharedDoubleHistogram`] for doubles.
//! A [`Snapshot`] reads all of them: percentiles, mean and counts ([`Snapshot::summary`]),
//! [buckets](Snapshot::buckets), the values since the last time ([`Since`]), proven differences
//! ([`compare_snapshots`]), encodings ([`Encoding`], [`log`]), tables and pictures ([`text`]). A [`Registry`] exports
//! them to Prometheus and OpenTelemetry.
//!
//! A [`Layout`] decides how values are counted: a relative error and a range. A [`Mode`] decides who may write, at what
//! cost.
//!
//! Without features the crate only computes, with neither an operating system nor an allocator nor a platform `libm`.
//! `alloc` adds the types on the heap. `std` adds support for threads and processes: thread-local histograms,
//! registries, locks that know their process, and numbers that identify processes. Clocks, performance counters and
//! benchmarks are in `picollo_native`.

#![no_std]
// The main file of a module has the module's name.
#![allow(clippy::module_inception)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

mod cells;
#[cfg(feature = "alloc")]
mod doubles;
mod error;
mod figures;
mod format;
mod handle;
mod histograms;
#[cfg_attr(not(feature = "alloc"), allow(dead_code, reason = "decoding needs an allocator"))]
mod interchange;
mod layout;
#[cfg(feature = "alloc")]
mod metric;
#[cfg(feature = "alloc")]
mod metrics;
#[cfg(all(test, loom))]
mod models;
mod platform;
mod snapshot;
mod statistics;
pub mod text;
mod threads;

pub use cells::cell::{Counter, ManyWriters, TallyCounts, WriteMode};
pub use cells::header::Header;
pub use cells::identity::{Identity, seed_identities};
pub use cells::kind::Mode;
pub use cells::kind::Storage;
pub use cells::single_writer::SingleWriter;
pub use cells::write_mode::Interlocked;
#[cfg(feature = "alloc")]
pub use doubles::{
    DoubleBucket, DoubleHistogram, DoubleLayout, DoubleOptions, DoublePercentile, DoubleSnapshot,
    DoubleStatistics, DoubleSummary, QuantileRule, SharedDoubleHistogram,
};
pub use error::{Error, Result};
pub use figures::{
    FIGURE_EVENTS, FIGURE_FEW_SCOPES, FIGURE_PARTIAL, FIGURES, Figure, FigureCounts, FigureEstimate, Unknown,
    estimate_figure, estimate_figure_difference, event_of_figure,
};
#[cfg(feature = "alloc")]
pub use handle::atomic_recorder::AtomicRecorder;
pub use handle::options::Options;
pub use handle::recorder::Recorder;
pub use handle::shared::{Footprint, SharedHistogram};
pub use handle::single_writer::{Handle, SharedWriter, SingleWriterHistogram};
pub use histograms::approximate::{
    SCALABLE_THRESHOLD_BITS, add_approximately, add_capped, add_interlocked, add_racing, add_sensing,
};
pub use histograms::dense::Histogram;
pub use histograms::dense::single_writer::Writer;
#[cfg(feature = "alloc")]
#[doc(hidden)]
pub use histograms::per_cpu_image::{PerCpuImage, has_restartable_sequences};
pub use histograms::record::Record;
#[cfg(feature = "alloc")]
pub use histograms::striped::SharedStripedCounter;
pub use histograms::striped::StripedCounter;
#[cfg(feature = "alloc")]
pub use interchange::Decoder;
pub use interchange::{Codec, DEFAULT_MAX_COUNTERS, Encoding, log};
pub use layout::bucket::{Bucket, ValueSelection};
#[doc(hidden)]
pub use layout::indices::BatchPath;
pub use layout::layout::{Layout, MAX_SCALE};
#[cfg(feature = "alloc")]
pub use metric::{Metric, MetricCounter, MetricGauge};
#[cfg(feature = "alloc")]
pub use metrics::{
    Distribution, Exemplar, Exposition, Family, MAX_BOUNDS, MetricKind, Negotiated, Otlp, OtlpExport, Point,
    Registry, Temporality, Value, negotiate, write_otlp,
};
pub use platform::atomics::{AtomicU32, AtomicU64};
#[doc(hidden)]
pub use platform::banks::BaselineWord;
#[doc(hidden)] // For native's collectors.
#[cfg(feature = "alloc")]
pub use platform::counted::Counted;
#[doc(hidden)] // For the C interface.
#[cfg(feature = "std")]
pub use platform::lock::{Lock, Refused};
#[doc(hidden)] // For what native keeps of threads.
#[cfg(feature = "std")]
pub use platform::memory::is_at_hand;
#[doc(hidden)] // The same.
#[cfg(feature = "std")]
pub use platform::process::process;
pub use snapshot::merge::Merged;
pub use snapshot::snapshot::{Counts, Since, Snapshot};
pub use snapshot::source::Source;
pub use statistics::compare::{
    BlockComparison, BlockOverhead, COMPARISON_AUTOCORRELATED, COMPARISON_BELOW_RESOLUTION,
    COMPARISON_LAYOUTS_DIFFER, COMPARISON_MARGIN_IS_RESOLUTION, COMPARISON_NOISY, COMPARISON_OUT_OF_RANGE,
    COMPARISON_TOO_FEW, COMPARISON_WITHIN_MARGIN, CompareOptions, Comparison, FEWEST_RUNS, QuantileInterval,
    RunComparison, Verdict, compare_block_ratios, compare_blocks, compare_blocks_above, compare_runs,
    compare_snapshots, quantile_interval,
};
pub use statistics::moments::Moments;
pub use statistics::steps::Step;
pub use statistics::summary::{Percentile, SUMMARY_PERCENTILES, SUMMARY_RANKS, Summary};
