//! Adds and subtracts the counts of snapshots of any layout.
//!
//! Each bucket's count goes, whole, to the bucket that contains its midpoint. For equal and for coarser buckets that is
//! exact: the result is the same as after recording there. A finer layout gets the count in one of its buckets, within
//! the error of the coarser layout. A midpoint out of range is an underflow or overflow.

use crate::error::{Error, Result};
use crate::layout::bucket::ValueSelection;
use crate::layout::layout::Layout;
use crate::snapshot::snapshot::Snapshot;
use crate::snapshot::spread::{Part, spread};

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

/// How the counts of buckets are placed in another layout.
#[derive(Clone, Copy)]
pub(crate) enum Rule {
    /// Each goes, whole, to the bucket of this value.
    Whole(ValueSelection),
    /// Each is divided in proportion: see [`spread`].
    Spread,
}

/// Reports where a layout has the counts of another snapshot, in ascending order. `add` returns how much of a part does
/// not fit.
pub(crate) fn place(
    layout: &Layout,
    other: &Snapshot,
    rule: Rule,
    mut add: impl FnMut(Part, u64) -> u64,
) -> Merged {
    let mut merged = Merged::default();
    for bucket in other.recorded_buckets() {
        let mut add_part = |part, count| {
            let lost = add(part, count);
            merged.lost = merged.lost.saturating_add(lost);
            let reported = match part {
                Part::In(index) if layout.bucket_at(index).step < bucket.step => &mut merged.refined,
                Part::In(_) => return,
                Part::Below => &mut merged.underflow,
                Part::Above => &mut merged.overflow,
            };
            *reported = reported.saturating_add(count - lost);
        };
        match rule {
            Rule::Whole(selection) => {
                let value = bucket.equivalent_value(selection);
                let part = match layout.storage_index(value) {
                    index if layout.contains(index) => Part::In(index),
                    _ if layout.is_below(value) => Part::Below,
                    _ => Part::Above,
                };
                add_part(part, bucket.count);
            }
            Rule::Spread => spread(layout, &bucket, add_part),
        }
    }
    merged
}

impl Snapshot {
    /// Adds all counts of another snapshot, of any layout, including its underflow, overflow and lost ones. The next
    /// update replaces the sum.
    ///
    /// Each bucket's count goes to the bucket of its midpoint. That is exact if the buckets are the same or coarser
    /// here (blocks no larger and the unit no smaller): the result depends neither on the order nor on earlier merges.
    /// A finer layout gets each count in one of its buckets.
    pub fn merge(&mut self, other: &Snapshot) -> Merged {
        self.merge_by(other, Rule::Whole(ValueSelection::Midpoint))
    }

    /// Does the same as [`Snapshot::merge`], but each bucket's count goes to the bucket of its smallest value, as in
    /// the `add` of every HdrHistogram. It is exact in the same cases, and sums of the intervals of a log equal theirs.
    pub fn merge_low_ends(&mut self, other: &Snapshot) -> Merged {
        self.merge_by(other, Rule::Whole(ValueSelection::Lower))
    }

    /// Does the same as [`Snapshot::merge`], but divides a bucket's count in proportion among the overlapping buckets
    /// here, and so is the part beyond the range.
    ///
    /// Rounding loses no count. The order of merges changes the result by at most one count for each border of a
    /// bucket.
    pub fn merge_spreading(&mut self, other: &Snapshot) -> Merged {
        self.merge_by(other, Rule::Spread)
    }

    fn merge_by(&mut self, other: &Snapshot, rule: Rule) -> Merged {
        let layout = *self.layout();
        self.rewrite(|counts| {
            // No index is out of range. If one were, the counts would be reported as lost.
            let mut add = |index, count: u64| counts.add(index, count.into()).unwrap_or(count.into()) as u64;
            let merged = if layout.same_counters(other.layout()) {
                let lost = other.recorded_counts().map(|(index, count)| add(index, count));
                Merged { lost: lost.fold(0, u64::saturating_add), ..Merged::default() }
            } else {
                place(&layout, other, rule, |part, count| match part {
                    Part::In(index) => add(index as usize, count),
                    Part::Below | Part::Above => 0,
                })
            };
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
        let (layout, rule) = (*self.layout(), Rule::Whole(ValueSelection::Midpoint));
        // Parts come in ascending order, so those of the same bucket come together.
        let (mut last, mut taken, mut is_enough) = (u64::MAX, 0, true);
        let merged = place(&layout, other, rule, |part, count| {
            if let Part::In(index) = part {
                taken = u128::from(count) + if index == last { taken } else { 0 };
                last = index;
                is_enough &= taken <= self.count_at(index as usize).into();
            }
            0
        });
        let (ours, theirs) = (self.counts(), other.counts());
        let beside = [
            (ours.underflow, theirs.underflow.saturating_add(merged.underflow)),
            (ours.overflow, theirs.overflow.saturating_add(merged.overflow)),
            (ours.lost, theirs.lost),
        ];
        if !is_enough || beside.iter().any(|(ours, theirs)| theirs > ours) {
            return Err(Error::InvalidArgument);
        }
        // A tally at the limit stays a lower bound.
        let rest = beside.map(|(ours, theirs)| if ours == u64::MAX { ours } else { ours - theirs });
        self.rewrite(|counts| {
            place(&layout, other, rule, |part, count| {
                if let Part::In(index) = part {
                    counts.take(index as usize, count);
                }
                0
            });
            [counts.underflow, counts.overflow, counts.lost] = rest;
        });
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
        (scales, value(), value(), 0u32..20).prop_filter_map("empty or large", |(scale, a, b, unit)| {
            let layout = Layout::with_scale(scale, a.min(b), a.max(b)).ok()?;
            Some(layout.with_unit(unit).unwrap_or(layout)).filter(|layout| layout.length() < 1 << 18)
        })
    }

    proptest! {
        /// Each count goes where one value of its bucket is, which is within the error.
        #[test]
        fn counts_go_where_one_value_is(
            layout in layout(0..=MAX_SCALE), other in layout(0..=MAX_SCALE), values in values()
        ) {
            let source = snapshot(other, &values);
            let merges = [Snapshot::merge, Snapshot::merge_low_ends];
            for (merge, selection) in merges.into_iter().zip([ValueSelection::Midpoint, ValueSelection::Lower]) {
                let mut target = snapshot(layout, &[]);
                let merged = merge(&mut target, &source);
                let (mut expected, mut refined) = (Vec::new(), 0);
                for bucket in source.recorded_buckets() {
                    let value = bucket.equivalent_value(selection);
                    expected.push((value, bucket.count));
                    if layout.bucket_of(value).is_some_and(|place| place.step < bucket.step) {
                        refined += bucket.count;
                    }
                }
                let mut expected = contents(&snapshot(layout, &expected));
                expected.1.underflow += source.counts().underflow;
                expected.1.overflow += source.counts().overflow;
                prop_assert_eq!(contents(&target), expected);
                prop_assert_eq!(merged.refined, if layout.same_counters(&other) { 0 } else { refined });
                let total = |counts: Counts| counts.total + counts.underflow + counts.overflow + counts.lost;
                prop_assert_eq!(total(target.counts()), total(source.counts()), "nothing vanishes");
            }
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
    fn a_full_bucket_reports_what_it_loses() {
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
