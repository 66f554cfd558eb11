//! Histograms with a bounded relative error, and everything that reads them.
//!
//! Without features it is computation alone, with neither an operating system nor an allocator nor a platform `libm`. `alloc` adds
//! what lies on the heap; `std` adds what belongs to threads and processes: thread-local histograms, registries, locks that know
//! their process, and numbers that tell processes apart.

#![no_std]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

mod approximate;
#[cfg(feature = "alloc")]
mod array;
mod banks;
mod batch;
mod block;
mod bucket;
mod bulk;
mod cells;
mod codec;
mod compare;
mod corrected;
mod counter;
mod equivalent;
mod error;
#[cfg(feature = "alloc")]
mod exponential;
#[cfg(feature = "alloc")]
mod first_touch;
mod histogram;
mod identity;
mod image;
mod interlocked;
mod interpolate;
mod iter;
mod layout;
#[cfg(feature = "alloc")]
mod memory;
mod merge;
#[cfg(feature = "alloc")]
mod metrics;
#[cfg(all(test, loom))]
mod models;
mod one_step;
mod options;
mod percentile;
mod random;
mod record;
mod recorder;
mod references;
#[cfg(feature = "std")]
mod registry;
mod scalable;
#[cfg(feature = "std")]
mod sharded;
mod shared;
mod single_writer;
mod snapshot;
mod source;
#[cfg(feature = "alloc")]
mod sparse;
mod spread;
mod stats;
mod stripe;
mod summary;
mod sync;
pub mod text;
#[cfg(feature = "std")]
mod thread;
mod version;

pub use approximate::{
    SCALABLE_THRESHOLD_BITS, StripedCounter, add_approximately, add_capped, add_interlocked, add_racing,
    add_sensing,
};
#[cfg(feature = "alloc")]
pub use array::{Element, HistogramArray};
#[doc(hidden)]
pub use batch::BatchPath;
pub use bucket::{Bucket, ValueSelection};
pub use codec::{DEFAULT_MAX_COUNTERS, Decoder, Encoding, Scratch, log};
pub use compare::{
    Autocorrelation, BlockComparison, BlockOverhead, COMPARISON_APPROXIMATE, COMPARISON_AUTOCORRELATED,
    COMPARISON_BELOW_RESOLUTION, COMPARISON_LAYOUTS_DIFFER, COMPARISON_MARGIN_IS_RESOLUTION,
    COMPARISON_OUT_OF_RANGE, COMPARISON_TOO_FEW, COMPARISON_WITHIN_MARGIN, CompareOptions, Comparison,
    QuantileInterval, Verdict, autocorrelation, compare_blocks, compare_blocks_above,
};
pub use counter::{Counter, ManyWriters, TallyCounts, WriteMode};
pub use error::{Error, Result};
#[cfg(feature = "alloc")]
pub use exponential::{
    DoubleBucket, DoubleHistogram, DoubleLayout, DoubleOptions, DoublePercentile, DoubleSnapshot,
    DoubleStatistics, DoubleSummary, QuantileRule, SharedDoubleHistogram,
};
pub use histogram::Histogram;
pub use histogram::single_writer::Writer;
pub use identity::{Identity, seed_identities};
pub use image::Header;
pub use interlocked::Interlocked;
pub use iter::Step;
pub use layout::{Layout, MAX_SCALE};
pub use merge::Merged;
#[cfg(feature = "alloc")]
pub use metrics::{Metric, Registry};
pub use options::{Mode, Options, Storage};
pub use record::Record;
pub use recorder::Recorder;
pub use shared::single_writer::{Handle, SharedWriter, SingleWriterHistogram};
pub use shared::{Footprint, SharedHistogram};
pub use single_writer::SingleWriter;
pub use snapshot::{Counts, Since, Snapshot};
pub use source::Source;
pub use stats::Moments;
pub use summary::{Percentile, SUMMARY_APPROXIMATE, SUMMARY_PERCENTILES, SUMMARY_RANKS, Summary};
#[doc(hidden)] // For the C interface.
#[cfg(feature = "std")]
pub use sync::Lock;
pub use sync::{AtomicU32, AtomicU64};
