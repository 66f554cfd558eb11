//! The summary of a snapshot: totals, mean, deviation and sixteen percentiles.

use crate::layout::bucket::{Bucket, ValueSelection};

/// Number of percentiles in a [`Summary`].
pub const SUMMARY_PERCENTILES: usize = 16;

/// The percentile ranks of a [`Summary`], ascending.
pub const SUMMARY_RANKS: [f64; SUMMARY_PERCENTILES] =
    [0.0, 1.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 92.5, 95.0, 97.5, 99.0, 99.9, 99.99, 99.999, 100.0];

/// A percentile: the first bucket whose cumulative count reaches the rank's target.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[repr(C)]
pub struct Percentile {
    /// The requested rank, 0 to 100.
    pub rank: f64,
    /// The bucket's equivalent value.
    pub value: u64,
    /// Nearest rank: `max(1, ceil(rank / 100 * total))`; saturates at `u64::MAX`. Zero only in the summary of an empty snapshot.
    pub target_count: u64,
    /// The bucket, with its count.
    pub bucket: Bucket,
}

/// Totals, mean, deviation and sixteen percentiles of one snapshot.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
pub struct Summary {
    /// Observations in range; saturates at `u64::MAX`.
    pub total_count: u64,
    /// Observations below the trackable range; not part of anything else here.
    pub underflow_count: u64,
    /// Observations above the trackable range; not part of anything else here.
    pub overflow_count: u64,
    /// Observations that were recorded but are missing from the buckets.
    pub lost_count: u64,
    /// Mean of equivalent midpoints; NaN when empty.
    pub mean: f64,
    /// Population standard deviation of equivalent midpoints; NaN when empty.
    pub stddev: f64,
    /// The layout's stated error: 0.5 / block size.
    pub relative_error: f64,
    /// Smallest value of the guaranteed range.
    pub min_trackable: u64,
    /// Largest value of the guaranteed range.
    pub max_trackable: u64,
    /// Time of the counts, in nanoseconds since 1970; 0 without a clock.
    pub timestamp_unix_nanos: u64,
    /// A [`ValueSelection`] code: which value of its bucket each percentile reports.
    pub value_selection: u32,
    /// 0; reserved.
    pub flags: u32,
    /// At [`SUMMARY_RANKS`].
    pub percentiles: [Percentile; SUMMARY_PERCENTILES],
}

impl Summary {
    /// Returns the value selection; midpoint if the code is unknown.
    pub fn selection(&self) -> ValueSelection {
        ValueSelection::try_from(self.value_selection).unwrap_or_default()
    }
}
