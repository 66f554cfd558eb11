//! One percentile or one listed bucket on a line.

use core::fmt;

use super::number::{Fixed, Grouped, NOT_AVAILABLE};
use crate::{Bucket, Percentile, ValueSelection};

/// `P99=9,152 [138 / 519]: [9,088, 9,216) 386`: rank and value, storage and logical index of the bucket, its half-open
/// range and its count. The last bucket of all prints its open end as 18,446,744,073,709,551,616. Ranks have up to 6
/// decimals. A percentile of nothing, with a target count of zero, is `P99=n/a`.
impl fmt::Display for Percentile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rank = Fixed::rank(self.rank);
        match self.target_count {
            0 => write!(f, "P{rank}={NOT_AVAILABLE}"),
            _ => write(f, rank, self.value, &self.bucket),
        }
    }
}

/// A bucket in a list of buckets: `P0.073=2,008 [0 / 381]: [2,000, 2,016) 146`.
///
/// Like a [`Percentile`], but with the percentile rank at the middle of the bucket, and up to 4 decimals in it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ListedBucket {
    /// The bucket, with its count.
    pub bucket: Bucket,
    /// `(before + count / 2) / total * 100`, 0 to 100; shown as `n/a` where it is not finite.
    pub percentile: f64,
    /// Which value of the bucket is shown.
    pub selection: ValueSelection,
}

impl fmt::Display for ListedBucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = match self.selection {
            // The fields can hold anything, so the sum may not fit.
            ValueSelection::Midpoint => self.bucket.lower.saturating_add(self.bucket.step / 2),
            ValueSelection::Lower | ValueSelection::Upper => self.bucket.equivalent_value(self.selection),
        };
        write(f, Fixed::trimmed(self.percentile, 4), value, &self.bucket)
    }
}

fn write(f: &mut fmt::Formatter<'_>, rank: Fixed, value: u64, bucket: &Bucket) -> fmt::Result {
    write!(
        f,
        "P{rank}={} [{} / {}]: [{}, {}) {}",
        Grouped::from(value),
        Grouped::from(bucket.storage_index),
        Grouped::from(bucket.logical_index),
        Grouped::from(bucket.lower),
        Grouped(u128::from(bucket.upper) + 1),
        Grouped::from(bucket.count),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Layout;
    use crate::text::example;
    use std::string::ToString;

    #[test]
    fn worked_examples() {
        assert_eq!(example::first().percentiles[11].to_string(), "P99=9,152 [138 / 519]: [9,088, 9,216) 386");
        let (buckets, total) = example::first_buckets();
        let percentile = (buckets[0].count as f64 / 2.0) / total as f64 * 100.0;
        let mut listed = ListedBucket { bucket: buckets[0], percentile, selection: ValueSelection::Midpoint };
        assert_eq!(listed.to_string(), "P0.073=2,008 [0 / 381]: [2,000, 2,016) 146");
        listed.selection = ValueSelection::Lower;
        assert_eq!(listed.to_string(), "P0.073=2,000 [0 / 381]: [2,000, 2,016) 146");
        listed.selection = ValueSelection::Upper;
        assert_eq!(listed.to_string(), "P0.073=2,015 [0 / 381]: [2,000, 2,016) 146");
    }

    #[test]
    fn the_last_bucket_of_all() {
        let layout = Layout::new(0.01, 0, u64::MAX);
        let bucket = Bucket { count: 1, ..layout.bucket_of(u64::MAX).unwrap() };
        let percentile = Percentile { rank: 99.999, value: u64::MAX, target_count: 1, bucket };
        assert_eq!(
            percentile.to_string(),
            "P99.999=18,446,744,073,709,551,615 [3,775 / 3,775]: \
             [18,302,628,885,633,695,744, 18,446,744,073,709,551,616) 1"
        );
    }

    #[test]
    fn nothing_and_nonsense() {
        assert_eq!(Percentile { rank: 99.9, ..Percentile::default() }.to_string(), "P99.9=n/a");
        let bucket = Bucket {
            lower: u64::MAX,
            upper: u64::MAX,
            step: u64::MAX,
            count: u64::MAX,
            storage_index: u64::MAX,
            logical_index: u64::MAX,
        };
        let listed = ListedBucket { bucket, percentile: f64::NAN, selection: ValueSelection::Midpoint };
        assert!(listed.to_string().starts_with("Pn/a=18,446,744,073,709,551,615 ["));
    }
}
