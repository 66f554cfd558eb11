//! The summary of a snapshot of doubles: totals, moments and sixteen percentiles.

use core::fmt;

use super::snapshot::{DoubleSnapshot, DoubleStatistics};
use crate::doubles::DoubleBucket;
use crate::format::number::Rounded;
use crate::statistics::percentile::saturated;
use crate::statistics::short::{self, CountsInWords};
use crate::statistics::summary::{SUMMARY_PERCENTILES, SUMMARY_RANKS};

/// A percentile of doubles.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
pub struct DoublePercentile {
    /// The rank, 0 to 100: a hundred times the quantile.
    pub rank: f64,
    /// The reported value of the observation; NaN in an empty summary.
    pub value: f64,
    /// Number of the observation among all in ascending order, from 1; saturates at `u64::MAX`; 0 in an empty
    /// summary.
    pub target_count: u64,
    /// The bucket of the observation, with its count.
    pub bucket: DoubleBucket,
}

/// Totals, moments and sixteen percentiles of one interval.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
pub struct DoubleSummary {
    /// Totals and moments.
    pub statistics: DoubleStatistics,
    /// At [`SUMMARY_RANKS`].
    pub percentiles: [DoublePercentile; SUMMARY_PERCENTILES],
}

impl DoubleSnapshot {
    /// Totals, moments and the percentiles at [`SUMMARY_RANKS`]. An empty snapshot has a summary too: totals and
    /// targets are 0, everything else is NaN.
    pub fn summary(&self) -> DoubleSummary {
        let nothing = DoubleBucket { lower: f64::NAN, upper: f64::NAN, midpoint: f64::NAN, count: 0 };
        let mut cursor = self.cursor();
        let percentiles = SUMMARY_RANKS.map(|rank| {
            let Some(target) = (if self.count() == 0 { None } else { self.target(rank / 100.0).ok() }) else {
                return DoublePercentile { rank, value: f64::NAN, target_count: 0, bucket: nothing };
            };
            let (value, bucket) = cursor.find(target);
            DoublePercentile { rank, value, target_count: saturated(target), bucket }
        });
        DoubleSummary { statistics: self.statistics(), percentiles }
    }
}

/// One line: `3 values, 1 not finite: P50 0.252, max 3.016, mean 1.09`, with four digits. Percentiles that the
/// count cannot support are left out.
impl fmt::Display for DoubleSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outside = [("not finite", self.statistics.not_finite), ("lost", self.statistics.lost)];
        let counts = CountsInWords { total: self.statistics.count, outside: &outside };
        short::write(f, counts, |at| Rounded(self.percentiles[at].value), Rounded(self.statistics.mean))
    }
}
