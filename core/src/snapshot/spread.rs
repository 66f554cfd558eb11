//! Adds the counts of another layout in proportion to the overlap of its buckets with those here.
//!
//! [`merge`](crate::Snapshot::merge) puts each bucket's count, whole, into the bucket of its midpoint. If the buckets here are finer,
//! that leaves spikes and gaps; spreading assumes instead that values lie evenly in their bucket. Either way no value
//! moves further than the width of its bucket.

use crate::layout::bucket::Bucket;
use crate::layout::layout::Layout;

/// The destination of a part of a bucket's count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    In(u64),
    Below,
    Above,
}

/// Divides a bucket's count among the buckets of a layout, in proportion to how many of its values they have. Each
/// border between two of them is rounded separately, so the parts add up to the count: nothing is lost, and a single
/// count goes to the middle.
pub(crate) fn spread(layout: &Layout, bucket: &Bucket, mut add: impl FnMut(Part, u64)) {
    let (lowest, highest) = (layout.lowest_recordable(), layout.highest_recordable());
    let mut added = 0;
    // Reports how much of the count lies in the first `width` values and was not reported yet.
    let mut add_up_to = |part: Part, width: u64| {
        let (count, step) = (u128::from(bucket.count), u128::from(bucket.step));
        // This is at most 2^64 * 2^63 + 2^62.
        let upto = ((count * u128::from(width) + step / 2) / step) as u64;
        if upto > added {
            add(part, upto - added);
            added = upto;
        }
        added < bucket.count
    };
    if bucket.lower < lowest {
        let width = if bucket.upper < lowest { bucket.step } else { lowest - bucket.lower };
        if !add_up_to(Part::Below, width) {
            return;
        }
    }
    if bucket.upper >= lowest && bucket.lower <= highest {
        let first = layout.storage_index(bucket.lower.max(lowest));
        let last = layout.storage_index(bucket.upper.min(highest));
        for index in first..=last {
            let end = layout.bucket_at(index).upper.min(bucket.upper);
            if !add_up_to(Part::In(index), end - bucket.lower + 1) {
                return;
            }
        }
    }
    add_up_to(Part::Above, bucket.step);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn parts(layout: &Layout, bucket: &Bucket) -> Vec<(Part, u64)> {
        let mut parts = Vec::new();
        spread(layout, bucket, |part, count| parts.push((part, count)));
        parts
    }

    #[test]
    fn worked_examples() {
        // 128 ..= 191 in a layout of blocks of two, in one with blocks of eight: 128 ..= 143, 144 ..= 159, …
        let coarse = Layout::with_scale(1, 0, 1000).unwrap();
        let fine = Layout::with_scale(3, 0, 1000).unwrap();
        let bucket = |count| Bucket { count, ..coarse.bucket_of(130).unwrap() };
        let first = fine.storage_index(128);
        assert_eq!((bucket(0).lower, bucket(0).upper, fine.bucket_of(130).unwrap().step), (128, 191, 16));
        let at = |offset, count| (Part::In(first + offset), count);
        assert_eq!(parts(&fine, &bucket(8)), [at(0, 2), at(1, 2), at(2, 2), at(3, 2)]);
        assert_eq!(parts(&fine, &bucket(1)), [at(1, 1)], "the middle");
        assert_eq!(parts(&fine, &bucket(2)), [at(0, 1), at(2, 1)]);
        assert_eq!(parts(&fine, &bucket(0)), []);
        let narrow = Layout::with_scale(3, 144, 159).unwrap();
        let parts = parts(&narrow, &bucket(100));
        assert_eq!(parts, [(Part::Below, 25), (Part::In(0), 25), (Part::Above, 50)]);
    }

    #[test]
    fn the_widest_bucket_and_the_largest_count() {
        let coarse = Layout::with_scale(0, 0, u64::MAX).unwrap();
        let bucket = Bucket { count: u64::MAX, ..coarse.bucket_of(u64::MAX).unwrap() };
        let fine = Layout::with_scale(9, 0, u64::MAX).unwrap();
        let parts = parts(&fine, &bucket);
        assert_eq!(parts.len(), 512);
        assert_eq!(parts.iter().map(|part| part.1 as u128).sum::<u128>(), u64::MAX as u128);
    }

    proptest! {
        #[test]
        fn parts_add_up_and_are_in_proportion(
            scales in (0u32..12, 0u32..12), value in any::<u64>(), shift in 0u32..64,
            range in (any::<u64>(), any::<u64>(), 0u32..64), count in prop_oneof![0u64..1000, any::<u64>()]
        ) {
            let from = Layout::with_scale(scales.0, 0, u64::MAX).unwrap();
            let (a, b) = (range.0 >> range.2, range.1 >> range.2);
            let to = Layout::with_scale(scales.1, a.min(b), a.max(b).max(a.min(b) + 1)).unwrap();
            let bucket = Bucket { count, ..from.bucket_of(value >> shift).unwrap() };
            let parts = parts(&to, &bucket);
            prop_assert_eq!(parts.iter().map(|part| part.1 as u128).sum::<u128>(), count as u128);
            for &(part, count) in &parts {
                let (lower, upper) = match part {
                    Part::In(index) => (to.bucket_at(index).lower, to.bucket_at(index).upper),
                    Part::Below => (0, to.lowest_recordable() - 1),
                    Part::Above => (to.highest_recordable() + 1, u64::MAX),
                };
                prop_assert!(lower <= bucket.upper && upper >= bucket.lower, "outside the bucket");
                let common = (upper.min(bucket.upper) - lower.max(bucket.lower)) as f64 + 1.0;
                let share = bucket.count as f64 * (common / bucket.step as f64);
                prop_assert!((count as f64 - share).abs() <= 1.0 + 1e-9 * share, "{count} for {share}");
            }
        }
    }
}
