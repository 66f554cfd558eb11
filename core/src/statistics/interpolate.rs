//! Percentiles inside a bucket, as if its observations lay evenly in it.
//!
//! This is the inverse of [`Snapshot::rank_of_value`] with interpolation, which gives value `v` of a bucket the share
//! `(v - lower + 1) / step` of its count.

use crate::error::Result;
use crate::layout::bucket::Bucket;
use crate::snapshot::snapshot::Snapshot;
use crate::statistics::percentile::{HUNDRED_PERCENT, rank_units};

impl Snapshot {
    /// Returns the interpolated percentile at one rank. See [`Snapshot::interpolated_percentiles`].
    pub fn interpolated_percentile(&self, rank: f64) -> Result<u64> {
        let mut out = [0];
        self.interpolated_percentiles(&[rank], &mut out)?;
        Ok(out[0])
    }

    /// Returns the interpolated percentiles at ranks 0 ..= 100, in any order: for each the smallest value whose
    /// interpolated rank reaches it. They are in the same buckets as [`Snapshot::percentiles`], and closer to the truth
    /// if the values of a bucket are spread evenly. Otherwise they are at most a bucket's width away from it.
    ///
    /// It takes as many passes over the counts as [`Snapshot::percentiles`], and fails in the same cases.
    pub fn interpolated_percentiles(&self, ranks: &[f64], out: &mut [u64]) -> Result<()> {
        self.for_each_interpolated(ranks, out.len(), |at, value| out[at] = value)
    }

    /// Reports the same one by one, each with its position, in any order.
    #[doc(hidden)] // For the C interface, whose arrays may hold nothing so far.
    pub fn for_each_interpolated(
        &self,
        ranks: &[f64],
        capacity: usize,
        mut write: impl FnMut(usize, u64),
    ) -> Result<()> {
        let total = self.exact_total();
        self.find_ranks(ranks, capacity, |at, _, bucket, before| {
            write(at, value_inside(&bucket, before, rank_units(ranks[at]) * total));
        })
    }
}

/// Returns the smallest value of the bucket at which the count reaches `target`, in units of 1e-11, with `before`
/// counts below the bucket.
fn value_inside(bucket: &Bucket, before: u128, target: u128) -> u64 {
    let wanted = target.saturating_sub(before * HUNDRED_PERCENT);
    let all = u128::from(bucket.count) * HUNDRED_PERCENT;
    if wanted >= all {
        return bucket.upper;
    }
    // The fraction, below 1, with 64 bits, rounded up; then a share of the step, rounded up.
    let (mut rest, mut fraction) = (wanted, 0u128);
    for _ in 0..64 {
        rest <<= 1;
        fraction <<= 1;
        if rest >= all {
            rest -= all;
            fraction |= 1;
        }
    }
    let fraction = fraction + u128::from(rest != 0);
    let values = (fraction * u128::from(bucket.step)).div_ceil(1 << 64) as u64;
    bucket.lower + values.clamp(1, bucket.step) - 1
}

#[cfg(all(test, not(loom)))]
mod tests {
    use crate::layout::bucket::ValueSelection;
    use crate::layout::layout::Layout;
    use crate::snapshot::merge::tests::snapshot;
    use proptest::prelude::*;

    #[test]
    fn worked_examples() {
        // 1024 ..= 1151 in one bucket of 128.
        let layout = Layout::with_scale(3, 0, 10_000).unwrap();
        let even = snapshot(layout, &[(1030, 128)]);
        assert_eq!(even.bucket_of(1030).map(|bucket| (bucket.lower, bucket.step)), Some((1024, 128)));
        for (rank, value) in
            [(0.0, 1024), (0.78125, 1024), (0.8, 1025), (50.0, 1087), (99.9, 1151), (100.0, 1151)]
        {
            assert_eq!(even.interpolated_percentile(rank), Ok(value), "{rank}");
        }
        // This is exact if buckets have one value.
        let exact = snapshot(layout, &[(3, 1), (5, 1), (9, 2)]);
        for (rank, value) in [(0.0, 3), (25.0, 3), (26.0, 5), (50.0, 5), (50.1, 9), (100.0, 9)] {
            assert_eq!(exact.interpolated_percentile(rank), Ok(value), "{rank}");
        }
    }

    #[test]
    fn the_widest_bucket_and_the_largest_count() {
        let layout = Layout::with_scale(0, 0, u64::MAX).unwrap();
        let widest = snapshot(layout, &[(u64::MAX, u64::MAX)]);
        assert_eq!(widest.interpolated_percentile(100.0), Ok(u64::MAX));
        assert_eq!(widest.interpolated_percentile(0.0), Ok(1 << 63));
        assert_eq!(widest.interpolated_percentile(50.0), Ok((1 << 63) + (1 << 62) - 1));
    }

    proptest! {
        #[test]
        fn the_inverse_of_the_interpolated_rank(
            values in proptest::collection::vec((0u64..1 << 30, 1u64..100), 1..40), scale in 0u32..8,
            mut ranks in proptest::collection::vec(0u64..=1_000_000, 1..20), sorted in any::<bool>()
        ) {
            let layout = Layout::with_scale(scale, 0, 1 << 30).unwrap();
            let snapshot = snapshot(layout, &values);
            if sorted {
                ranks.sort_unstable();
            }
            let ranks: std::vec::Vec<f64> = ranks.iter().map(|&rank| rank as f64 / 1e4).collect();
            let mut out = std::vec![0; ranks.len()];
            snapshot.interpolated_percentiles(&ranks, &mut out).unwrap();
            for (&rank, &value) in ranks.iter().zip(&out) {
                let bucket = snapshot.percentile(rank, ValueSelection::Midpoint).unwrap().bucket;
                prop_assert!(bucket.lower <= value && value <= bucket.upper, "the same bucket");
                let reached = snapshot.rank_of_value(value, true).unwrap();
                prop_assert!(reached >= rank - 1e-9, "{rank} at {value} is {reached}");
                if value > bucket.lower {
                    let below = snapshot.rank_of_value(value - 1, true).unwrap();
                    prop_assert!(below < rank + 1e-9, "{rank}: {} is enough", value - 1);
                }
            }
        }
    }
}
