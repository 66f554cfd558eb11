//! The summary of a snapshot: totals, mean, deviation and the usual percentiles.

use core::fmt::{self, Display};

use crate::format::number::{Fixed, Grouped, NOT_AVAILABLE};
use crate::layout::bucket::{Bucket, ValueSelection};

/// The percentile ranks of a [`Summary`], ascending. This is their only list: `ci/describe.sh` writes it into the headers and the
/// bindings.
pub const SUMMARY_RANKS: [f64; 16] =
    [0.0, 1.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 92.5, 95.0, 97.5, 99.0, 99.9, 99.99, 99.999, 100.0];

/// Number of percentiles in a [`Summary`].
pub const SUMMARY_PERCENTILES: usize = SUMMARY_RANKS.len();

/// Returns the position of a rank in [`SUMMARY_RANKS`], for constants: another rank does not compile.
pub const fn position_of(rank: f64) -> usize {
    let mut at = 0;
    while SUMMARY_RANKS[at] != rank {
        at += 1;
    }
    at
}

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

/// Totals, mean, deviation and the usual percentiles of one snapshot.
#[derive(Clone, Copy, PartialEq, Debug)]
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
    /// At [`SUMMARY_RANKS`]. A rank of NaN: this percentile is not known, and texts leave it out.
    pub percentiles: [Percentile; SUMMARY_PERCENTILES],
}

impl Summary {
    /// Returns the value selection; midpoint if the code is unknown.
    pub fn selection(&self) -> ValueSelection {
        ValueSelection::try_from(self.value_selection).unwrap_or_default()
    }

    /// The percentiles that are known: all of them, unless a program gave this summary without some.
    pub fn known_percentiles(&self) -> impl Iterator<Item = &Percentile> {
        self.percentiles.iter().filter(|percentile| !percentile.rank.is_nan())
    }
}

/// One line: `99,940 values, 60 below the range: P50 3,528, P90 7,968, P99 9,152, max 20,096, mean 4,332.9`. Percentiles
/// that the count cannot support are left out.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = CountsInWords { total: self.total_count, outside: &outside(self) };
        write_short(f, counts, |at| Grouped::from(self.percentiles[at].value), Fixed::trimmed(self.mean, 1))
    }
}

/// `P99=9,152 [138 / 519]: [9,088, 9,216) 386`: rank and value, storage and logical index of the bucket, its half-open
/// range and its count. The very last bucket prints its open end as 18,446,744,073,709,551,616. Ranks have up to 6
/// decimals. A percentile of no observations has a target count of zero and prints `P99=n/a`.
impl fmt::Display for Percentile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rank, bucket) = (Fixed::rank(self.rank), &self.bucket);
        if self.target_count == 0 {
            return write!(f, "P{rank}={NOT_AVAILABLE}");
        }
        write!(
            f,
            "P{rank}={} [{} / {}]: [{}, {}) {}",
            Grouped::from(self.value),
            Grouped::from(bucket.storage_index),
            Grouped::from(bucket.logical_index),
            Grouped::from(bucket.lower),
            Grouped(u128::from(bucket.upper) + 1),
            Grouped::from(bucket.count),
        )
    }
}

/// The percentiles of a short text, as positions in the summary.
pub const SHORT: [usize; 5] =
    [position_of(50.0), position_of(90.0), position_of(99.0), position_of(99.9), position_of(100.0)];

/// Whether this many observations have one beyond a rank: P99.9 of 92 would be their maximum.
pub fn supports(count: u64, rank: f64) -> bool {
    // Ranks of summaries have at most three decimals.
    let beyond = 100_000 - (rank * 1000.0) as u64;
    rank >= 100.0 || u128::from(count) * u128::from(beyond) >= 100_000
}

/// `P99.9`, `min`, `max`.
pub struct Rank(pub f64);

impl Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0.0 => f.write_str("min"),
            100.0 => f.write_str("max"),
            rank => write!(f, "P{}", Fixed::rank(rank)),
        }
    }
}

/// `99,940 values, 60 below the range`.
pub struct CountsInWords<'a> {
    /// Observations in range.
    pub total: u64,
    /// Counts of observations outside all numbers, each with the words after the number.
    pub outside: &'a [(&'static str, u64)],
}

impl Display for CountsInWords<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.total {
            0 => f.write_str("no values")?,
            1 => f.write_str("1 value")?,
            total => write!(f, "{} values", Grouped::from(total))?,
        }
        for (what, count) in self.outside.iter().filter(|(_, count)| *count != 0) {
            write!(f, ", {} {what}", Grouped::from(*count))?;
        }
        Ok(())
    }
}

/// The observations that a summary lacks.
pub fn outside(summary: &Summary) -> [(&'static str, u64); 3] {
    [
        ("below the range", summary.underflow_count),
        ("above the range", summary.overflow_count),
        ("lost", summary.lost_count),
    ]
}

/// Writes a summary on one line: the counts, the percentiles that they support, and the mean.
pub(crate) fn write_short<V: Display>(
    f: &mut fmt::Formatter<'_>,
    counts: CountsInWords<'_>,
    value: impl Fn(usize) -> V,
    mean: impl Display,
) -> fmt::Result {
    counts.fmt(f)?;
    if counts.total == 0 {
        return Ok(());
    }
    let mut separator = ": ";
    for position in SHORT.into_iter().filter(|&position| supports(counts.total, SUMMARY_RANKS[position])) {
        write!(f, "{separator}{} {}", Rank(SUMMARY_RANKS[position]), value(position))?;
        separator = ", ";
    }
    write!(f, "{separator}mean {mean}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::layout::Layout;
    use crate::snapshot::snapshot::Snapshot;
    use std::string::ToString;

    #[test]
    fn the_last_bucket_of_all() {
        let layout = Layout::new(0.01, 0, u64::MAX);
        let bucket = Bucket { count: 1, ..layout.bucket_of(u64::MAX).unwrap() };
        let percentile = Percentile { rank: 99.999, value: u64::MAX, target_count: 1, bucket };
        let expected = "P99.999=18,446,744,073,709,551,615 [3,775 / 3,775]: \
             [18,302,628,885,633,695,744, 18,446,744,073,709,551,616) 1";
        assert_eq!(percentile.to_string(), expected);
    }

    #[test]
    fn on_one_line() {
        let percentiles =
            SUMMARY_RANKS.map(|rank| Percentile { rank, value: 5_000, ..Percentile::default() });
        let empty = Snapshot::boxed(Layout::new(0.01, 0, 10)).unwrap().summary(ValueSelection::Upper);
        let mut summary =
            Summary { total_count: 92, overflow_count: 1_000, mean: 1234.56, percentiles, ..empty };
        let expected = "92 values, 1,000 above the range: P50 5,000, P90 5,000, max 5,000, mean 1,234.6";
        assert_eq!(summary.to_string(), expected);
        summary.total_count = 0;
        assert_eq!(summary.to_string(), "no values, 1,000 above the range");
    }
}
