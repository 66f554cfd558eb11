//! Correction for coordinated omission.
//!
//! A client that waits for an answer before it asks again sends no requests while an answer is slow. The correction
//! adds the time that those requests would have waited. After a value longer than the expected interval, it also counts
//! `value - interval`, `value - 2 * interval`, … while that is at least the interval.

#[cfg(feature = "alloc")]
use crate::error::{Error, Result};
use crate::layout::layout::Layout;
#[cfg(feature = "alloc")]
use crate::snapshot::rewrite::Rewrite;
#[cfg(feature = "alloc")]
use crate::snapshot::snapshot::Snapshot;

/// Reports the missing values below a recorded one, and how often each is missing. If there are more of them than
/// buckets below `value`, they come by bucket, in closed form, so the number of counters bounds the work.
pub(crate) fn missing_values(layout: &Layout, value: u64, interval: u64, mut add: impl FnMut(u64, u64)) {
    if interval == 0 || value <= interval {
        return;
    }
    // The k-th missing value is `value - k * interval`, for k in 1 ..= number.
    let number = value / interval - 1;
    let in_range =
        layout.bucket_of(value.min(layout.highest_recordable())).map_or(0, |top| top.storage_index + 1);
    if number <= in_range {
        for k in 1..=number {
            add(value - k * interval, 1);
        }
        return;
    }
    // Returns how many missing values are at least `bound`.
    let at_least = |bound: u64| if bound > value { 0 } else { ((value - bound) / interval).min(number) };
    let mut added = 0;
    let mut add_up_to = |upto: u64, representative: u64, add: &mut dyn FnMut(u64, u64)| {
        if upto > added {
            add(representative, upto - added);
            added = upto;
        }
    };
    // In this order: above the range, the buckets from the top down, below the range.
    if layout.highest_recordable() < value {
        add_up_to(at_least(layout.highest_recordable() + 1), value, &mut add);
    }
    for index in (0..in_range).rev() {
        let bucket = layout.bucket_at(index);
        if bucket.upper < interval {
            break;
        }
        add_up_to(at_least(bucket.lower), bucket.lower, &mut add);
    }
    add_up_to(number, layout.lowest_recordable().saturating_sub(1), &mut add);
}

/// The limit of the work: some seconds.
#[cfg(feature = "alloc")]
const MOST_STEPS: u64 = 1 << 30;

#[cfg(feature = "alloc")]
impl Snapshot {
    /// Returns a copy on the heap, corrected for coordinated omission. It contains what
    /// [`crate::recorders::Record::record_corrected`] would have counted if every value had been the upper end of its
    /// bucket (as HdrHistogram does). Out-of-range counts are copied, not corrected. However many values are missing, each
    /// recorded bucket takes at most one step for each bucket below it.
    ///
    /// Fails with [`Error::Unsupported`] if that needs more than 2^30 steps, as with many tens of thousands of recorded
    /// buckets and a short interval. Fails with [`Error::OutOfMemory`].
    pub fn corrected(&self, expected_interval: u64) -> Result<alloc::boxed::Box<Snapshot>> {
        if self.steps_to_correct(expected_interval) > MOST_STEPS {
            return Err(Error::Unsupported);
        }
        let mut copy = Snapshot::boxed(*self.layout())?;
        copy.set_timestamp_unix_nanos(self.timestamp_unix_nanos());
        copy.rewrite(|counts| self.correct(expected_interval, counts));
        Ok(copy)
    }

    /// Returns the most steps that [`Snapshot::correct`] may take.
    fn steps_to_correct(&self, interval: u64) -> u64 {
        let steps = |(index, _): (usize, u64)| {
            let upper = self.layout().bucket_at(index as u64).upper;
            upper.checked_div(interval).unwrap_or(0).min(index as u64 + 1)
        };
        self.recorded_counts().map(steps).sum()
    }

    fn correct(&self, interval: u64, counts: &mut Rewrite) {
        let layout = *self.layout();
        let before = self.counts();
        let (mut underflow, mut lost) = (before.underflow as u128, before.lost as u128);
        for (index, count) in self.recorded_counts() {
            lost += counts.add(index, count.into()).unwrap_or(0);
            let upper = layout.bucket_at(index as u64).upper;
            missing_values(&layout, upper, interval, |value, times| {
                let count = count as u128 * times as u128;
                // This is never above the range, because the recorded value was in it.
                match counts.add(layout.storage_index(value) as usize, count) {
                    Some(left) => lost = lost.saturating_add(left),
                    None => underflow = underflow.saturating_add(count),
                }
            });
        }
        let narrow = |count: u128| count.try_into().unwrap_or(u64::MAX);
        counts.take_over(self);
        (counts.underflow, counts.lost) = (narrow(underflow), narrow(lost));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::snapshot::Counts;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn layouts() -> impl Strategy<Value = Layout> {
        (0u32..8, 0u64..2000, 1u64..100_000)
            .prop_map(|(scale, min, width)| Layout::with_scale(scale, min, min + width).unwrap())
    }

    /// The correction as a loop.
    fn naive(value: u64, interval: u64) -> impl Iterator<Item = u64> {
        let mut value = value;
        core::iter::from_fn(move || {
            value = value.checked_sub(interval).filter(|&value| interval > 0 && value >= interval)?;
            Some(value)
        })
    }

    fn snapshot(layout: Layout, counts: &[(u64, u64)]) -> std::boxed::Box<Snapshot> {
        let mut snapshot = Snapshot::boxed(layout).unwrap();
        snapshot.rewrite(|rewrite| {
            for &(at, count) in counts {
                rewrite.add(at as usize % layout.length(), count.into()).unwrap();
            }
            (rewrite.underflow, rewrite.overflow, rewrite.lost) = (1, 2, 3);
        });
        snapshot
    }

    fn contents(snapshot: &Snapshot) -> (Vec<u64>, Counts) {
        (snapshot.buckets().map(|bucket| bucket.count).collect(), snapshot.counts())
    }

    proptest! {
        #[test]
        fn a_value_as_the_loop_has_it(
            layout in layouts(), value in 0u64..300_000, interval in prop_oneof![0u64..20, 0u64..5000]
        ) {
            let mut expected = std::collections::BTreeMap::new();
            for value in naive(value, interval) {
                *expected.entry(layout.bucket_of(value).map(|b| b.storage_index).ok_or(layout.is_below(value)))
                    .or_insert(0) += 1;
            }
            let mut reported = std::collections::BTreeMap::new();
            let mut calls = 0;
            missing_values(&layout, value, interval, |value, times| {
                *reported.entry(layout.bucket_of(value).map(|b| b.storage_index).ok_or(layout.is_below(value)))
                    .or_insert(0) += times;
                calls += 1;
            });
            prop_assert_eq!(reported, expected);
            prop_assert!(calls <= layout.length() + 2);
        }

        #[test]
        fn a_copy_as_the_loop_has_it(
            layout in layouts(),
            counts in prop::collection::vec((any::<u64>(), 1u64..1_000_000), 0..20),
            interval in prop_oneof![1u64..20, 1u64..5000, 1u64..200_000]
        ) {
            let source = snapshot(layout, &counts);
            let (mut expected, mut totals) = contents(&source);
            for bucket in source.recorded_buckets() {
                for value in naive(bucket.upper, interval) {
                    match expected.get_mut(layout.storage_index(value) as usize) {
                        Some(count) => { *count += bucket.count; totals.total += bucket.count; }
                        None => { prop_assert!(layout.is_below(value)); totals.underflow += bucket.count }
                    }
                }
            }
            prop_assert_eq!(contents(&source.corrected(interval).unwrap()), (expected, totals));
        }
    }

    #[test]
    fn what_would_take_minutes_is_refused() {
        let full = |digits| {
            let layout = Layout::with_significant_digits(digits, 0, u64::MAX).unwrap();
            let mut source = Snapshot::boxed(layout).unwrap();
            source.rewrite(|counts| {
                for index in 0..layout.length() {
                    let _ = counts.add(index, 16);
                }
            });
            source
        };
        assert_eq!(full(4).corrected(1).err(), Some(Error::Unsupported));
        let source = full(2);
        let copy = source.corrected(1).unwrap();
        assert_eq!(copy.counts().total, u64::MAX);
        assert!(copy.counts().lost > 0, "top buckets cannot hold what is missing");
        // Value 1 is missing once below each recorded value of 2 or more.
        assert_eq!(copy.bucket_of(1).unwrap().count, 16 * (source.layout().length() as u64 - 1));
        assert_eq!(copy.bucket_of(0).unwrap().count, 16);
    }

    #[test]
    fn an_interval_of_zero_changes_nothing() {
        let source = snapshot(Layout::with_scale(3, 0, 1000).unwrap(), &[(50, 10)]);
        assert_eq!(contents(&source.corrected(0).unwrap()), contents(&source));
    }
}
