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
//! less time; [`Histogram`] in a static, on the stack or in memory of your own; [`doubles`] for histograms of doubles.
//! A [`Snapshot`] reads all of them: percentiles, mean and counts ([`Snapshot::summary`]),
//! [buckets](Snapshot::buckets), the values since the last time ([`Since`]). Other crates have the rest:
//! `picollo-stats` proves differences, `picollo-codec` encodes, `picollo-text` has tables and pictures, and
//! `picollo-export` exports to Prometheus and OpenTelemetry.
//!
//! A [`Layout`] decides how values are counted: a relative error and a range. A [`Mode`] decides who may write, at what
//! cost. What fewer programs need is in modules: [`counters`], [`doubles`], [`layouts`], [`recorders`] and
//! [`snapshots`].
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
pub mod doubles;
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

pub use cells::kind::Mode;
pub use error::{Error, Result};
pub use handle::options::Options;
pub use handle::shared::SharedHistogram;
pub use handle::single_writer::SingleWriterHistogram;
pub use histograms::dense::Histogram;
pub use histograms::dense::single_writer::Writer;
pub use layout::bucket::Bucket;
pub use layout::layout::Layout;
pub use snapshot::snapshot::{Since, Snapshot};
pub use statistics::summary::{Percentile, Summary};

pub mod counters {
    //! Counters of one number, exact and approximate, and the metrics that describe numbers and histograms to others.
    //!
    //! A [`StripedCounter`] is exact, and fast with many threads. The functions add to a word of yours; the approximate
    //! ones cost much less than an atomic addition that many threads contend for. A [`MetricCounter`] or
    //! [`MetricGauge`] is a number that a registry (`picollo-export`) or a segment (`picollo-segment`) shows under the
    //! name in its [`Metric`].

    pub use crate::histograms::approximate::{
        SCALABLE_THRESHOLD_BITS, add_approximately, add_capped, add_interlocked, add_racing, add_sensing,
    };
    #[cfg(feature = "alloc")]
    pub use crate::histograms::striped::SharedStripedCounter;
    pub use crate::histograms::striped::StripedCounter;
    #[cfg(feature = "alloc")]
    pub use crate::metric::{Metric, MetricCounter, MetricGauge};
}

pub mod layouts {
    //! The choices of a layout, and the memory that a histogram occupies.
    //!
    //! [`ValueSelection`] is which value of a [bucket](crate::Bucket) represents the others. The cells of a
    //! [`Histogram`](crate::Histogram) are [`AtomicU32`] or [`AtomicU64`]. [`Storage`] decides whether a
    //! [`SharedHistogram`](crate::SharedHistogram) has all its cells from the start, and [`Footprint`] shows how much
    //! memory it will take. Every histogram begins with a [`Header`] and has an [`Identity`].

    pub use crate::cells::cell::Counter;
    pub use crate::cells::header::Header;
    pub use crate::cells::identity::{Identity, seed_identities};
    pub use crate::cells::kind::Storage;
    pub use crate::handle::plan::Footprint;
    pub use crate::layout::bucket::ValueSelection;
    pub use crate::layout::layout::MAX_SCALE;
    pub use crate::platform::atomics::{AtomicU32, AtomicU64};
}

pub mod recorders {
    //! Ways to record that are not methods of a histogram.
    //!
    //! [`Record`] is the trait of all histograms that many threads record into. [`Interlocked`] and [`SingleWriter`] are
    //! the modes of a [`Histogram`](crate::Histogram). A [`Recorder`] adds to cells directly, without looking up the
    //! histogram's mode or the thread's shard.

    pub use crate::cells::cell::{Interlocked, ManyWriters, SingleWriter, WriteMode};
    pub use crate::handle::atomic_recorder::AtomicRecorder;
    pub use crate::handle::recorder::Recorder;
    pub use crate::handle::single_writer::Handle;
    pub use crate::histograms::record::Record;
}

pub mod snapshots {
    //! What a [`Snapshot`](crate::Snapshot) is read from, what it consists of, and what is computed from it.
    //!
    //! A [`Source`] is a histogram that a snapshot can read. [`Counts`] are a snapshot's totals, [`Moments`] its mean and
    //! deviation, and a [`Step`] is one of an iteration over its counts. [`Merged`] reports what became of the counts of
    //! another snapshot.

    pub use crate::cells::tallies::TallyCounts;
    pub use crate::snapshot::merge::Merged;
    pub use crate::snapshot::rewrite::Rewrite;
    pub use crate::snapshot::snapshot::Counts;
    pub use crate::snapshot::source::Source;
    pub use crate::statistics::moments::Moments;
    pub use crate::statistics::steps::Step;
    pub use crate::statistics::summary::{SUMMARY_PERCENTILES, SUMMARY_RANKS};
}

/// What the other crates of Picollo need of this one. It is not part of the interface, and changes without notice.
#[doc(hidden)]
pub mod seam {
    pub use crate::error::from_code;
    pub use crate::format::buffer::{BufferWriter, Written, room, write_c_string};
    pub use crate::format::date::{Date, Day};
    pub use crate::format::number::{
        Decimal, Fixed, Grouped, Maybe, NOT_AVAILABLE, write_rounded, write_scientific, zigzag,
    };
    pub use crate::format::xml::write_escaped;
    pub use crate::handle::dispatch::record_exported;
    #[cfg(feature = "alloc")]
    pub use crate::handle::shared::{attach_per_cpu, update_since_creation};
    pub use crate::handle::single_writer::sealed::Inside;
    #[cfg(feature = "alloc")]
    pub use crate::histograms::per_cpu_image::{PerCpuImage, has_restartable_sequences};
    #[cfg(feature = "alloc")]
    pub use crate::histograms::striped::{STRIPES_IN_MEMORY, striped_counter_at};
    pub use crate::layout::indices::BatchPath;
    pub use crate::layout::layout::SCALES_OF_DIGITS;
    #[cfg(feature = "alloc")]
    pub use crate::metric::counter_at;
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
    pub use crate::snapshot::snapshot::cells;
    #[cfg(feature = "alloc")]
    pub use crate::snapshot::snapshot::forget_source;
    pub use crate::statistics::percentile::{Cursor, saturated, target_count};
    pub use crate::statistics::summary::{CountsInWords, Rank, SHORT, outside, position_of, supports};
}

/// The example of the package.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Package;
