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
//! [buckets](Snapshot::buckets), the values since the last time ([`Since`]). Other crates have the rest: `picollo-stats` proves differences, `picollo-codec` encodes, `picollo-text`
//! has tables and pictures, and `picollo-export` exports to Prometheus and OpenTelemetry.
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
mod format;
mod handle;
mod histograms;
mod layout;
#[cfg(feature = "alloc")]
mod metric;
#[cfg(all(test, loom))]
mod models;
mod platform;
mod snapshot;
mod statistics;
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
    DoubleBucket, DoubleEntry, DoubleHistogram, DoubleLayout, DoubleOptions, DoublePercentile,
    DoubleSnapshot, DoubleStatistics, DoubleSummary, QuantileRule, SharedDoubleHistogram,
};
pub use error::{Error, Result};
pub use format::buffer::{BufferWriter, Written, write_c_string};
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
pub use histograms::record::Record;
#[cfg(feature = "alloc")]
pub use histograms::striped::SharedStripedCounter;
pub use histograms::striped::StripedCounter;
pub use layout::bucket::{Bucket, ValueSelection};
pub use layout::layout::{Layout, MAX_SCALE};
#[cfg(feature = "alloc")]
pub use metric::{Metric, MetricCounter, MetricGauge};
pub use platform::atomics::{AtomicU32, AtomicU64};
pub use snapshot::merge::Merged;
pub use snapshot::rewrite::Rewrite;
pub use snapshot::snapshot::{Counts, Since, Snapshot};
pub use snapshot::source::Source;
pub use statistics::moments::Moments;
pub use statistics::steps::Step;
pub use statistics::summary::{Percentile, SUMMARY_PERCENTILES, SUMMARY_RANKS, Summary};

/// What the other crates of Picollo need of this one. It is not part of the interface, and changes without notice.
#[doc(hidden)]
pub mod seam {
    pub use crate::error::from_code;
    pub use crate::format::buffer::room;
    pub use crate::format::date::{Date, Day};
    pub use crate::format::decimal::Decimal;
    pub use crate::format::number::{
        Fixed, Grouped, Maybe, NOT_AVAILABLE, write_rounded, write_scientific, zigzag,
    };
    pub use crate::format::xml::write_escaped;
    pub use crate::handle::single_writer::sealed::Inside;
    #[cfg(feature = "alloc")]
    pub use crate::histograms::per_cpu_image::{PerCpuImage, has_restartable_sequences};
    pub use crate::layout::indices::BatchPath;
    pub use crate::layout::layout::SCALES_OF_DIGITS;
    pub use crate::platform::banks::BaselineWord;
    #[cfg(feature = "alloc")]
    pub use crate::platform::counted::Counted;
    #[cfg(feature = "std")]
    pub use crate::platform::lock::{Lock, Refused};
    #[cfg(feature = "std")]
    pub use crate::platform::memory::is_at_hand;
    #[cfg(feature = "alloc")]
    pub use crate::platform::memory::{allocate_zeroed, free};
    #[cfg(feature = "std")]
    pub use crate::platform::process::process;
    pub use crate::snapshot::differences::{BLOCK, Cells};
    pub use crate::statistics::percentile::{Cursor, saturated, target_count};
    pub use crate::statistics::short::{CountsInWords, Rank, SHORT, outside, supports};
    pub use crate::statistics::summary::{position_of, write_at};
}
