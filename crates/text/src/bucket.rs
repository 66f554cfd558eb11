//! One listed bucket on a line.

use core::fmt;

use picollo_core::Percentile;
use picollo_core::seam::Fixed;
use picollo_core::seam::write_at;

/// A bucket in a list of buckets: `P0.073=2,008 [0 / 381]: [2,000, 2,016) 146`.
///
/// This is a [`Percentile`] of the observation in the middle of the bucket, with up to 4 decimals in the rank. Empty
/// buckets are shown too.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ListedBucket(
    /// An item of [`picollo_core::Snapshot::bucket_percentiles`]. A rank that is not finite prints `n/a`.
    pub Percentile,
);

impl fmt::Display for ListedBucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_at(f, Fixed::trimmed(self.0.rank, 4), self.0.value, &self.0.bucket)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
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
}
