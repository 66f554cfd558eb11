//! Runs of ascending entries.

use picollo_core::doubles::DoubleEntry;

/// Splits entries into those with keys below an end, and the rest. Keys ascend by at least one, so the distance from
/// the first key to the end bounds the first part. If most buckets have counts, there is little to search.
#[inline]
pub(super) fn split_below(entries: &[DoubleEntry], end: i32) -> (&[DoubleEntry], &[DoubleEntry]) {
    let first = entries.first().map_or(end, |first| first.key);
    let most = usize::try_from(i64::from(end) - i64::from(first)).unwrap_or(0).min(entries.len());
    // Usually this is all of them.
    let number = match entries[..most].last() {
        Some(last) if last.key >= end => entries[..most].partition_point(|entry| entry.key < end),
        _ => most,
    };
    entries.split_at(number)
}

/// The sum of counts; the caller knows that it fits.
#[inline]
pub(super) fn sum_of(entries: &[DoubleEntry]) -> u64 {
    entries.iter().map(|entry| entry.count).sum()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    proptest! {
        #[test]
        fn as_one_by_one(keys in prop::collection::btree_set(-50i32..50, 0..60), far in any::<i32>(), near in -60i32..60) {
            let entries: Vec<DoubleEntry> = keys.iter().map(|&key| DoubleEntry { key, count: key.unsigned_abs().into() }).collect();
            for end in [far, near, i32::MIN, i32::MAX] {
                let (below, others) = split_below(&entries, end);
                prop_assert!(below.iter().all(|entry| entry.key < end) && others.iter().all(|entry| entry.key >= end));
                prop_assert_eq!(below.len() + others.len(), entries.len());
                prop_assert_eq!(u128::from(sum_of(below)), below.iter().map(|entry| u128::from(entry.count)).sum::<u128>());
            }
        }
    }
}
