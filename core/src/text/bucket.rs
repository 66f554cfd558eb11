//! One percentile or one listed bucket on a line.

use core::fmt;

use crate::format::number::{Fixed, Grouped, NOT_AVAILABLE};
use crate::layout::bucket::Bucket;
use crate::statistics::summary::Percentile;

/// `P99=9,152 [138 / 519]: [9,088, 9,216) 386`: rank and value, storage and logical index of the bucket, its half-open
/// range and its count. The very last bucket prints its open end as 18,446,744,073,709,551,616. Ranks have up to 6
/// decimals. A percentile of no observations has a target count of zero and prints `P99=n/a`.
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
/// This is a [`Percentile`] of the observation in the middle of the bucket, with up to 4 decimals in the rank. Empty
/// buckets are shown too.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ListedBucket(
    /// An item of [`crate::Snapshot::bucket_percentiles`]. A rank that is not finite prints `n/a`.
    pub Percentile,
);

impl fmt::Display for ListedBucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, Fixed::trimmed(self.0.rank, 4), self.0.value, &self.0.bucket)
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
    use crate::layout::layout::Layout;
    use crate::text::example;
    use std::string::ToString;

    #[test]
    fn worked_examples() {
        assert_eq!(example::first().percentiles[11].to_string(), "P99=9,152 [138 / 519]: [9,088, 9,216) 386");
        let snapshot = example::recorded(&example::first_values());
        let mut listed = ListedBucket(snapshot.bucket_percentiles(true, Default::default()).next().unwrap());
        assert_eq!(listed.to_string(), "P0.073=2,008 [0 / 381]: [2,000, 2,016) 146");
        listed.0.value = 2000;
        assert_eq!(listed.to_string(), "P0.073=2,000 [0 / 381]: [2,000, 2,016) 146");
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
}
