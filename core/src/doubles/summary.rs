//! The summary of a snapshot of doubles: totals, moments and the usual percentiles.

use core::fmt;

use super::snapshot::{Cursor, DoubleSnapshot, DoubleStatistics};
use crate::doubles::DoubleBucket;
use crate::error::{Error, Result};
use crate::format::number::Rounded;
use crate::statistics::percentile::saturated;
use crate::statistics::summary::{CountsInWords, SUMMARY_PERCENTILES, SUMMARY_RANKS, write_short};

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

impl DoublePercentile {
    /// A percentile of no observations, at no rank.
    pub const EMPTY: Self = DoublePercentile {
        rank: f64::NAN,
        value: f64::NAN,
        target_count: 0,
        bucket: DoubleBucket { lower: f64::NAN, upper: f64::NAN, midpoint: f64::NAN, count: 0 },
    };
}

/// Totals, moments and the usual percentiles of one interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DoubleSummary {
    /// Totals and moments.
    pub statistics: DoubleStatistics,
    /// At [`SUMMARY_RANKS`]. A rank of NaN: this percentile is not known, and texts leave it out.
    pub percentiles: [DoublePercentile; SUMMARY_PERCENTILES],
}

impl DoubleSummary {
    /// The percentiles that are known: all of them, unless a program gave this summary without some.
    pub fn known_percentiles(&self) -> impl Iterator<Item = &DoublePercentile> {
        self.percentiles.iter().filter(|percentile| !percentile.rank.is_nan())
    }
}

impl DoubleSnapshot {
    /// Totals, moments and the percentiles at [`SUMMARY_RANKS`]. An empty snapshot has a summary too: totals and
    /// targets are 0, everything else is NaN.
    pub fn summary(&self) -> DoubleSummary {
        let mut cursor = self.cursor();
        let percentiles = SUMMARY_RANKS.map(|rank| self.percentile(rank, &mut cursor));
        DoubleSummary { statistics: self.statistics(), percentiles }
    }

    /// Reports the percentiles at ranks 0 ..= 100 one by one, each with its position. If the snapshot is empty, their
    /// targets are 0 and everything else is NaN.
    ///
    /// Fails with [`Error::InvalidArgument`] for another rank.
    pub fn for_each_percentile(
        &self,
        ranks: &[f64],
        mut write: impl FnMut(usize, DoublePercentile),
    ) -> Result<()> {
        if ranks.iter().any(|rank| !(0.0..=100.0).contains(rank)) {
            return Err(Error::InvalidArgument);
        }
        let mut cursor = self.cursor();
        for (at, &rank) in ranks.iter().enumerate() {
            write(at, self.percentile(rank, &mut cursor));
        }
        Ok(())
    }

    fn percentile(&self, rank: f64, cursor: &mut Cursor<'_>) -> DoublePercentile {
        let target = if self.count() == 0 { None } else { self.target(rank / 100.0).ok() };
        let Some(target) = target else { return DoublePercentile { rank, ..DoublePercentile::EMPTY } };
        let (value, bucket) = cursor.find(target);
        DoublePercentile { rank, value, target_count: saturated(target), bucket }
    }
}

/// One line: `3 values, 1 not finite: P50 0.252, max 3.016, mean 1.09`, with four digits. Percentiles that the
/// count cannot support are left out.
impl fmt::Display for DoubleSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outside = [("not finite", self.statistics.not_finite), ("lost", self.statistics.lost)];
        let counts = CountsInWords { total: self.statistics.count, outside: &outside };
        write_short(f, counts, |at| Rounded(self.percentiles[at].value), Rounded(self.statistics.mean))
    }
}
