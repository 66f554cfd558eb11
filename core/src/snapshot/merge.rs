//! Adds and subtracts the counts of snapshots of any layout.
//!
//! Each bucket's count goes, whole, to the bucket that contains its midpoint. For equal and for coarser buckets that is
//! exact: the result is the same as after recording there. A finer layout gets the count in one of its buckets, within
//! the error of the coarser layout. A midpoint out of range is an underflow or overflow.

use crate::error::{Error, Result};
use crate::layout::bucket::{Bucket, ValueSelection};
use crate::layout::layout::Layout;
use crate::snapshot::rewrite::Rewrite;
use crate::snapshot::snapshot::Snapshot;

/// What happened to the counts that were added or subtracted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Merged {
    /// Counts that went to a finer bucket, within the error of the bucket that they came from.
    pub refined: u64,
    /// Counts that were in the source's range and are an underflow here.
    pub underflow: u64,
    /// Counts that were in the source's range and are an overflow here.
    pub overflow: u64,
    /// Counts that did not fit, because no count exceeds `u64::MAX`. The result counts them as lost.
    pub lost: u64,
}

impl Merged {
    /// Returns whether every count is where recording its value here would have put it.
    pub const fn is_exact(&self) -> bool {
        self.refined == 0 && self.underflow == 0 && self.overflow == 0 && self.lost == 0
    }
}

/// The place that a bucket's count goes to.
enum Place {
    In(usize),
    Below,
    Above,
}

/// `by` selects the value of a bucket that decides.
fn place_of(layout: &Layout, bucket: &Bucket, by: ValueSelection) -> Place {
    let value = bucket.equivalent_value(by);
    let index = layout.storage_index(value);
    if layout.contains(index) {
        Place::In(index as usize)
    } else if layout.is_below(value) {
        Place::Below
    } else {
        Place::Above
    }
}

/// Adds to one of the reported parts.
fn put(part: &mut u64, count: u64) {
    *part = part.saturating_add(count);
}

/// A snapshot that others are merged into, and the report about their counts.
pub(crate) struct Merging<'a, 's> {
    counts: &'a mut Rewrite<'s>,
    merged: Merged,
}

impl Merging<'_, '_> {
    /// Adds a count from a bucket of width `step` to the bucket at a valid index.
    pub(crate) fn put_in(&mut self, index: usize, count: u64, step: u64) {
        let lost = self.counts.add(index, count.into()).unwrap_or(count.into()) as u64;
        if self.counts.layout().bucket_at(index as u64).step < step {
            put(&mut self.merged.refined, count - lost);
        }
        put(&mut self.merged.lost, lost);
    }

    pub(crate) fn put_below(&mut self, count: u64) {
        put(&mut self.merged.underflow, count);
    }

    pub(crate) fn put_above(&mut self, count: u64) {
        put(&mut self.merged.overflow, count);
    }
}

impl Snapshot {
    /// Adds all counts of another snapshot, of any layout, including its underflow, overflow and lost ones. The next
    /// update replaces the sum.
    ///
    /// Each bucket's count goes to the bucket of its midpoint. That is exact if the buckets are the same or coarser
    /// here (blocks no larger and the unit no smaller): the result depends neither on the order nor on earlier merges.
    /// A finer layout gets each count in one of its buckets.
    pub fn merge(&mut self, other: &Snapshot) -> Merged {
        self.merge_values(other, ValueSelection::Midpoint)
    }

    /// Does the same as [`Snapshot::merge`], but each bucket's count goes to the bucket of its smallest value, as in
    /// the `add` of every HdrHistogram. It is exact in the same cases, and sums of the intervals of a log equal theirs.
    pub fn merge_low_ends(&mut self, other: &Snapshot) -> Merged {
        self.merge_values(other, ValueSelection::Lower)
    }

    fn merge_values(&mut self, other: &Snapshot, by: ValueSelection) -> Merged {
        if self.layout().same_counters(other.layout()) {
            return self.merge_by(other, |merging| {
                for (index, count) in other.recorded_counts() {
                    let lost = merging.counts.add(index, count.into()).unwrap_or(count.into());
                    put(&mut merging.merged.lost, lost as u64);
                }
            });
        }
        let layout = *self.layout();
        self.merge_by(other, |merging| {
            for bucket in other.recorded_buckets() {
                match place_of(&layout, &bucket, by) {
                    Place::In(index) => merging.put_in(index, bucket.count, bucket.step),
                    Place::Below => merging.put_below(bucket.count),
                    Place::Above => merging.put_above(bucket.count),
                }
            }
        })
    }

    /// Adds all counts of another snapshot; `put_all` adds those of its buckets.
    pub(crate) fn merge_by(&mut self, other: &Snapshot, put_all: impl FnOnce(&mut Merging)) -> Merged {
        self.rewrite(|counts| {
            let mut merging = Merging { counts, merged: Merged::default() };
            put_all(&mut merging);
            let Merging { counts, merged } = merging;
            let theirs = other.counts();
            for (ours, theirs, placed) in [
                (&mut counts.underflow, theirs.underflow, merged.underflow),
                (&mut counts.overflow, theirs.overflow, merged.overflow),
                (&mut counts.lost, theirs.lost, merged.lost),
            ] {
                *ours = ours.saturating_add(theirs).saturating_add(placed);
            }
            merged
        })
    }

    /// Subtracts all counts of another snapshot, of any layout, including its underflow, overflow and lost ones, from
    /// where [`Snapshot::merge`] would have put them. The next update replaces the rest.
    ///
    /// Fails with [`Error::InvalidArgument`], with nothing changed, if there are too few counts here.
    pub fn subtract(&mut self, other: &Snapshot) -> Result<Merged> {
        let merged = self.check_subtraction(other)?;
        let layout = *self.layout();
        self.rewrite(|counts| {
            for bucket in other.recorded_buckets() {
                if let Place::In(index) = place_of(&layout, &bucket, ValueSelection::Midpoint) {
                    counts.take(index, bucket.count);
                }
            }
            let theirs = other.counts();
            for (ours, theirs, placed) in [
                (&mut counts.underflow, theirs.underflow, merged.underflow),
                (&mut counts.overflow, theirs.overflow, merged.overflow),
                (&mut counts.lost, theirs.lost, 0),
            ] {
                // This was checked. A tally at the limit stays a lower bound.
                if *ours != u64::MAX {
                    *ours -= theirs + placed;
                }
            }
        });
        Ok(merged)
    }

    /// Checks that there are enough counts to subtract, and reports where they go.
    fn check_subtraction(&self, other: &Snapshot) -> Result<Merged> {
        let mut merged = Merged::default();
        // Buckets come in ascending order, so those with the same destination come together.
        let mut at = (usize::MAX, 0u64);
        for bucket in other.recorded_buckets() {
            match place_of(self.layout(), &bucket, ValueSelection::Midpoint) {
                Place::In(index) => {
                    let so_far = if at.0 == index { at.1 } else { 0 };
                    let taken = so_far.checked_add(bucket.count).ok_or(Error::InvalidArgument)?;
                    if taken > self.count_at(index) {
                        return Err(Error::InvalidArgument);
                    }
                    at = (index, taken);
                    if self.layout().bucket_at(index as u64).step < bucket.step {
                        merged.refined = merged.refined.saturating_add(bucket.count);
                    }
                }
                Place::Below => merged.underflow = merged.underflow.saturating_add(bucket.count),
                Place::Above => merged.overflow = merged.overflow.saturating_add(bucket.count),
            }
        }
        let (ours, theirs) = (self.counts(), other.counts());
        for (ours, theirs, placed) in [
            (ours.underflow, theirs.underflow, merged.underflow),
            (ours.overflow, theirs.overflow, merged.overflow),
            (ours.lost, theirs.lost, 0),
        ] {
            if theirs.saturating_add(placed) > ours {
                return Err(Error::InvalidArgument);
            }
        }
        Ok(merged)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::layout::layout::MAX_SCALE;
    use crate::snapshot::snapshot::Counts;
    use proptest::prelude::*;
    use std::boxed::Box;
    use std::vec::Vec;

    /// What recording so often gives.
    pub(crate) fn snapshot(layout: Layout, values: &[(u64, u64)]) -> Box<Snapshot> {
        let mut snapshot = Snapshot::boxed(layout).unwrap();
        snapshot.rewrite(|counts| {
            for &(value, count) in values {
                match counts.add(layout.storage_index(value) as usize, count.into()) {
                    Some(_) => {}
                    None if layout.is_below(value) => {
                        counts.underflow = counts.underflow.saturating_add(count)
                    }
                    None => counts.overflow = counts.overflow.saturating_add(count),
                }
            }
        });
        snapshot
    }

    fn contents(snapshot: &Snapshot) -> (Vec<(u64, u64)>, Counts) {
        let counts = snapshot.recorded_buckets().map(|bucket| (bucket.lower, bucket.count)).collect();
        (counts, snapshot.counts())
    }

    fn value() -> impl Strategy<Value = u64> {
        (any::<u64>(), 0u32..64).prop_map(|(value, shift)| value >> shift)
    }

    fn values() -> impl Strategy<Value = Vec<(u64, u64)>> {
        prop::collection::vec((value(), 1u64..1 << 40), 0..60)
    }

    fn layout(scales: core::ops::RangeInclusive<u32>) -> impl Strategy<Value = Layout> {
        (scales, value(), value()).prop_filter_map("empty or large", |(scale, a, b)| {
            Layout::with_scale(scale, a.min(b), a.max(b)).ok().filter(|layout| layout.length() < 1 << 18)
        })
    }

    proptest! {
        #[test]
        fn finer_buckets_get_what_is_within_the_error(
            layout in layout(0..=MAX_SCALE), other in layout(0..=MAX_SCALE), values in values()
        ) {
            let source = snapshot(other, &values);
            let mut target = snapshot(layout, &[]);
            let merged = target.merge(&source);
            let mut expected = Vec::new();
            let mut refined = 0;
            for bucket in source.recorded_buckets() {
                let value = bucket.equivalent_value(ValueSelection::Midpoint);
                expected.push((value, bucket.count));
                if layout.bucket_of(value).is_some_and(|place| place.step < bucket.step) {
                    refined += bucket.count;
                }
            }
            let mut expected = contents(&snapshot(layout, &expected));
            expected.1.underflow += source.counts().underflow;
            expected.1.overflow += source.counts().overflow;
            prop_assert_eq!(contents(&target), expected);
            prop_assert_eq!(merged.refined, refined);
            let total = |counts: Counts| counts.total + counts.underflow + counts.overflow + counts.lost;
            prop_assert_eq!(total(target.counts()), total(source.counts()), "nothing vanishes");
        }

        #[test]
        fn subtracting_undoes_adding(layout in layout(0..=12), other in layout(0..=12), ours in values(), theirs in values()) {
            let (mut target, source) = (snapshot(layout, &ours), snapshot(other, &theirs));
            let before = contents(&target);
            let added = target.merge(&source);
            prop_assert_eq!(target.subtract(&source), Ok(added));
            prop_assert_eq!(contents(&target), before);
        }

        #[test]
        fn what_is_not_there_cannot_be_taken_away(layout in layout(0..=12), other in layout(0..=12), values in values()) {
            let source = snapshot(other, &values);
            let mut target = snapshot(layout, &[]);
            target.merge(&source);
            let before = contents(&target);
            let mut more = source.boxed_copy().unwrap();
            let Some(bucket) = source.recorded_buckets().next() else { return Ok(()) };
            more.rewrite(|counts| counts.add(bucket.storage_index as usize, 1));
            prop_assert_eq!(target.subtract(&more), Err(Error::InvalidArgument));
            prop_assert_eq!(contents(&target), before, "nothing changed");
        }
    }

    #[test]
    fn a_full_bucket_loses_and_tells() {
        let layout = Layout::with_scale(2, 0, 100).unwrap();
        for other in [layout, Layout::with_scale(3, 0, 100).unwrap()] {
            let mut target = snapshot(layout, &[(5, u64::MAX - 1)]);
            let source = snapshot(other, &[(5, 3), (6, 1)]);
            let merged = target.merge(&source);
            assert_eq!(merged, Merged { lost: 2, ..Merged::default() });
            assert_eq!(target.bucket_of(5).unwrap().count, u64::MAX);
            assert_eq!(target.counts(), Counts { total: u64::MAX, underflow: 0, overflow: 0, lost: 2 });
        }
    }

    #[test]
    fn underflow_overflow_and_lost_are_merged_too() {
        let layout = Layout::with_scale(2, 10, 100).unwrap();
        let mut source = snapshot(layout, &[(1, 2), (1000, 3)]);
        source.rewrite(|counts| counts.lost = 4);
        let mut target = snapshot(layout, &[(1, 1)]);
        target.merge(&source);
        assert_eq!(target.counts(), Counts { total: 0, underflow: 3, overflow: 3, lost: 4 });
        target.subtract(&source).unwrap();
        assert_eq!(target.counts(), Counts { total: 0, underflow: 1, overflow: 0, lost: 0 });
        assert_eq!(target.subtract(&source), Err(Error::InvalidArgument));
    }
}
