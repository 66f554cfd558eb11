//! Compares snapshots of layouts with a unit to snapshots without a unit of shifted values.

use std::vec::Vec;

use proptest::prelude::*;

use crate::error::Error;
use crate::histograms::dense::Histogram;
use crate::layout::bucket::ValueSelection;
use crate::layout::layout::{Layout, SCALES_OF_DIGITS as SCALES};
use crate::platform::atomics::AtomicU64;
use crate::snapshot::merge::tests::snapshot;
use crate::snapshot::snapshot::{Counts, Since, Snapshot};

fn buckets(snapshot: &Snapshot) -> Vec<(u64, u64, u64)> {
    snapshot.recorded_buckets().map(|bucket| (bucket.lower, bucket.upper, bucket.count)).collect()
}

fn values() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let value = (any::<u64>(), 2u32..50).prop_map(|(value, shift)| value >> 1 >> shift.min(40));
    prop::collection::vec((value, 1u64..1000), 1..60)
}

/// Returns a layout with HdrHistogram's digits and a unit, if it has few enough counters for a quick test.
fn layout_with_unit(digits: usize, unit: u32, max: u64) -> Option<Layout> {
    let layout = Layout::with_scale(SCALES[digits], 0, max).ok()?.with_unit(unit).ok()?;
    (layout.length() < 1 << 19).then_some(layout)
}

/// The largest value of all the above.
const MAX: u64 = u64::MAX >> 3;

proptest! {
    #[test]
    fn as_without_a_unit_of_shifted_values(digits in 0usize..5, unit in 1u32..41, values in values(), rank in 0.0..100.0f64) {
        let Some(layout) = layout_with_unit(digits, unit, MAX) else { return Ok(()) };
        let shifted: Vec<(u64, u64)> = values.iter().map(|&(value, count)| (value >> unit, count)).collect();
        let without = snapshot(Layout::with_scale(SCALES[digits], 0, MAX >> unit).unwrap(), &shifted);
        let with = snapshot(layout, &values);
        let expected: Vec<_> =
            buckets(&without).into_iter().map(|(lower, upper, count)| (lower << unit, ((upper + 1) << unit) - 1, count)).collect();
        prop_assert_eq!(buckets(&with), expected);
        for rank in [0.0, rank, 50.0, 100.0] {
            let [one, other] = [&with, &without].map(|of| of.percentile(rank, ValueSelection::Lower).unwrap());
            prop_assert_eq!((one.value, one.target_count), (other.value << unit, other.target_count));
            let upper = with.percentile(rank, ValueSelection::Upper).unwrap();
            prop_assert_eq!(upper.value, one.value + (upper.bucket.step - 1));
            let midpoint = with.percentile(rank, ValueSelection::Midpoint).unwrap();
            prop_assert_eq!(midpoint.value, one.value + upper.bucket.step / 2);
        }
        let value = values[0].0;
        prop_assert_eq!(with.rank_of_value(value, false), without.rank_of_value(value >> unit, false));
        let bucket = with.bucket_of(value).unwrap();
        prop_assert!(bucket.lower <= value && value <= bucket.upper && bucket.count >= values[0].1);
        prop_assert_eq!(with.count_between(bucket.lower, bucket.upper), bucket.count);
        // The mean is that of the midpoints.
        let (mut sum, mut total) = (0.0, 0.0);
        for bucket in with.recorded_buckets() {
            sum += bucket.equivalent_value(ValueSelection::Midpoint) as f64 * bucket.count as f64;
            total += bucket.count as f64;
        }
        prop_assert!((with.moments().mean / (sum / total) - 1.0).abs() < 1e-12);
    }

    /// Tests all pairs of digits and units, by all rules.
    #[test]
    fn merges_conserve_counts(
        from in (0usize..5, 0u32..41), to in (0usize..5, 0u32..41), values in values(), max in prop_oneof![Just(MAX), 1000u64..1 << 50]
    ) {
        let layouts = (layout_with_unit(from.0, from.1, MAX), layout_with_unit(to.0, to.1, max));
        let (Some(from), Some(to)) = layouts else { return Ok(()) };
        let source = snapshot(from, &values);
        let count: u64 = values.iter().map(|(_, count)| count).sum();
        let merges: [fn(&mut Snapshot, &Snapshot) -> crate::snapshot::merge::Merged; 3] =
            [Snapshot::merge, Snapshot::merge_spreading, Snapshot::merge_low_ends];
        for merge in merges {
            let mut target = Snapshot::boxed(to).unwrap();
            let merged = merge(&mut target, &source);
            let counts = target.counts();
            prop_assert_eq!(counts.total + counts.underflow + counts.overflow, count);
            prop_assert_eq!((counts.lost, counts.underflow, merged.overflow), (0, 0, counts.overflow));
            // Blocks are no larger and the unit is no smaller: the result is as if recorded there, except for buckets
            // that the border of a range divides.
            if to.scale() <= from.scale() && to.unit() >= from.unit() && max == MAX {
                prop_assert_eq!(merged.refined, 0);
                prop_assert_eq!(buckets(&target), buckets(&snapshot(to, &values)));
                let mut back = snapshot(to, &values);
                back.subtract(&source).unwrap();
                prop_assert_eq!(back.counts(), Counts::default());
            }
        }
    }
}

#[test]
fn histograms_refuse_units() {
    let layout = Layout::with_scale(4, 0, 1000).unwrap().with_unit(2).unwrap();
    assert_eq!(Histogram::<[AtomicU64]>::boxed(layout, true).err(), Some(Error::InvalidArgument));
    let mut memory = std::vec![core::mem::MaybeUninit::uninit(); 10_000];
    let start = memory.as_ptr().align_offset(Histogram::<[AtomicU64]>::ALIGNMENT);
    let made = Histogram::<[AtomicU64]>::init_in(&mut memory[start..], layout, true);
    assert_eq!(made.err(), Some(Error::InvalidArgument));
    assert!(std::panic::catch_unwind(|| Histogram::<[AtomicU64; 1000]>::new(layout)).is_err());
}

#[test]
fn a_merge_counts_from_zero_whatever_the_base_held() {
    let layout = Layout::new(0.1, 0, 1000);
    let histogram = Histogram::<[AtomicU64]>::boxed(layout, true).unwrap();
    let mut taken = Snapshot::boxed(layout).unwrap();
    histogram.record_n(5, 3);
    taken.update(&*histogram, Since::Reset).unwrap();
    // Now the base holds three counts.
    taken.update(&*histogram, Since::PreviousUpdate).unwrap();
    taken.update_since_creation(&*histogram).unwrap();
    taken.merge(&snapshot(layout, &[(5, 1)]));
    assert_eq!((taken.bucket_of(5).unwrap().count, taken.counts().total), (4, 4));
}

#[test]
fn a_snapshot_in_an_array_is_updated_like_any_other() {
    const LAYOUT: Layout = Layout::new(0.1, 0, 1000);
    let histogram = Histogram::<[AtomicU64]>::boxed(LAYOUT, true).unwrap();
    histogram.record_n(5, 3);
    let mut taken = Snapshot::<[u64; LAYOUT.snapshot_words()]>::new(LAYOUT);
    taken.update(&*histogram, Since::Reset).unwrap();
    assert_eq!((taken.counts().total, taken.bucket_of(5).unwrap().count), (3, 3));
    assert!(std::panic::catch_unwind(|| Snapshot::<[u64; 3]>::new(LAYOUT)).is_err());
}
