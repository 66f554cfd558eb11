//! Correction for coordinated omission.
//!
//! Someone who waits for an answer before asking again does not ask while an answer is slow. What those questions would
//! have waited is added: after a value longer than the interval at which values were expected, also
//! `value - interval`, `value - 2 * interval`, … while that is at least the interval.

use crate::error::{Error, Result};
use crate::layout::layout::Layout;
use crate::snapshot::rewrite::Rewrite;
use crate::snapshot::snapshot::Snapshot;

/// Tells the missing values below a recorded one, and how often each. Where there are more of them than buckets below
/// `value`, they come by bucket, in closed form, so that the work is bounded by the number of counters.
pub(crate) fn missing_values(layout: &Layout, value: u64, interval: u64, mut tell: impl FnMut(u64, u64)) {
    if interval == 0 || value <= interval {
        return;
    }
    // The k-th missing value is `value - k * interval`, for k in 1 ..= number.
    let number = value / interval - 1;
    let in_range =
        layout.bucket_of(value.min(layout.highest_recordable())).map_or(0, |top| top.storage_index + 1);
    if number <= in_range {
        for k in 1..=number {
            tell(value - k * interval, 1);
        }
        return;
    }
    // How many missing values are at least `bound`.
    let at_least = |bound: u64| if bound > value { 0 } else { ((value - bound) / interval).min(number) };
    let mut told = 0;
    let mut told_up_to = |upto: u64, representative: u64, tell: &mut dyn FnMut(u64, u64)| {
        if upto > told {
            tell(representative, upto - told);
            told = upto;
        }
    };
    // Above the range, the buckets from the top down, and below the range.
    if layout.highest_recordable() < value {
        told_up_to(at_least(layout.highest_recordable() + 1), value, &mut tell);
    }
    for index in (0..in_range).rev() {
        let bucket = layout.bucket_at(index);
        if bucket.upper < interval {
            break;
        }
        told_up_to(at_least(bucket.lower), bucket.lower, &mut tell);
    }
    told_up_to(number, layout.lowest_recordable().saturating_sub(1), &mut tell);
}

/// Steps for each counter that are taken without sorting.
const DIRECT_STEPS: u64 = 64;

impl Snapshot {
    /// A copy, corrected for coordinated omission, on the heap. See [`Snapshot::correct_into`].
    #[cfg(feature = "alloc")]
    pub fn corrected(&self, expected_interval: u64) -> Result<alloc::boxed::Box<Snapshot>> {
        let mut copy = Snapshot::boxed(*self.layout())?;
        self.correct_into(expected_interval, &mut copy)?;
        Ok(copy)
    }

    /// Makes another snapshot a corrected copy of this one: what [`crate::Record::record_corrected`] would have counted,
    /// had each bucket's values been recorded by it as the upper end of the bucket (as HdrHistogram does). What was out of
    /// range is copied, not corrected.
    ///
    /// The time is at most that of sorting the counters, however many values are missing, and no memory is allocated.
    ///
    /// [`Error::Incompatible`], with nothing changed, when the other snapshot has other counters;
    /// [`Error::Unsupported`] when there is a lot to correct, and more than `u64::MAX` values were recorded, or the copy is
    /// to replace a decoded snapshot, which has no room to work in.
    pub fn correct_into(&self, expected_interval: u64, copy: &mut Snapshot) -> Result<()> {
        if !self.layout().same_counters(copy.layout()) {
            return Err(Error::Incompatible);
        }
        let budget = DIRECT_STEPS.saturating_mul(self.layout().length() as u64);
        let is_little = self.steps_to_correct(expected_interval, budget) < budget;
        if !is_little && (self.counts().total == u64::MAX || !copy.has_base()) {
            return Err(Error::Unsupported);
        }
        copy.forget();
        copy.set_range_of(self.layout());
        copy.set_timestamp_unix_nanos(self.timestamp_unix_nanos());
        if is_little {
            copy.rewrite(|counts| self.correct_bucket_by_bucket(expected_interval, counts));
        } else {
            copy.rewrite(|counts| self.correct_all_together(expected_interval, counts));
        }
        Ok(())
    }

    /// How much [`Snapshot::correct_bucket_by_bucket`] would have to do, as far as the budget goes.
    fn steps_to_correct(&self, interval: u64, budget: u64) -> u64 {
        let mut steps = 0u64;
        for (index, _) in self.recorded_counts() {
            let upper = self.layout().bucket_at(index as u64).upper;
            let values = upper.checked_div(interval).unwrap_or(0);
            steps = steps.saturating_add(values.min(index as u64 + 1));
            if steps >= budget {
                break;
            }
        }
        steps
    }

    fn correct_bucket_by_bucket(&self, interval: u64, counts: &mut Rewrite) {
        let layout = *self.layout();
        let mut sums = Sums::new(self);
        for (index, count) in self.recorded_counts() {
            sums.lose(counts.add(index, count.into()).unwrap_or(0));
            let upper = layout.bucket_at(index as u64).upper;
            missing_values(&layout, upper, interval, |value, times| {
                let count = count as u128 * times as u128;
                // Never above the range, since the recorded value was in it.
                match counts.add(layout.storage_index(value) as usize, count) {
                    Some(left) => sums.lose(left),
                    None => sums.underflow = sums.underflow.saturating_add(count),
                }
            });
        }
        sums.note(self, counts);
    }

    /// Corrects in one descending pass. Let `V` be the upper ends of the recorded buckets, `c` their counts, `I` the
    /// interval. The missing values at or above a bound `b`, itself at least `I`, are
    ///
    /// ```text
    /// F(b) = sum over V >= b of c * floor((V - b) / I)
    ///      = sum c * floor(V / I) - sum c * floor(b / I) - sum of those c where V mod I < b mod I
    /// ```
    ///
    /// The first two sums are kept as the bound descends. The third is a prefix sum in the order of the remainders, which a
    /// Fenwick tree keeps. A bucket's missing values are the difference of `F` at its ends. With fewer than 2^64 values in
    /// all, none of it overflows 128 bits.
    ///
    /// A bound is one more than the upper end of the bucket below, so the places of the upper ends are those of the bounds
    /// too, but where the remainder becomes zero. The copy's two halves hold places and tree meanwhile.
    fn correct_all_together(&self, interval: u64, counts: &mut Rewrite) {
        let layout = *self.layout();
        let upper_at = |index: usize| layout.bucket_at(index as u64).upper;
        let lowest = layout.lowest_recordable();
        let (places, tree) = counts.words();
        for (index, (place, order)) in places.iter_mut().zip(&mut *tree).enumerate() {
            (*place, *order) = (upper_at(index) % interval, index as u64);
        }
        tree.sort_unstable_by_key(|&index| places[index as usize]);
        let lowest_place = tree.partition_point(|&index| places[index as usize] < lowest % interval);
        // Equal remainders share a place: the number of those up to and including them.
        let mut start = 0;
        while start < tree.len() {
            let remainder = places[tree[start] as usize];
            let run = tree[start..].iter().take_while(|&&index| places[index as usize] == remainder).count();
            for &index in &tree[start..start + run] {
                places[index as usize] = (start + run) as u64;
            }
            start += run;
        }
        tree.fill(0);

        let mut sums = Sums::new(self);
        let (mut quotients, mut number, mut missing_above) = (0u128, 0u128, 0u128);
        for index in (0..places.len()).rev() {
            let (upper, count) = (upper_at(index), self.count_at(index));
            if count != 0 {
                quotients += count as u128 * (upper / interval) as u128;
                number += count as u128;
                plant(tree, places[index] as usize, count);
            }
            places[index] = 0;
            sums.add(&mut places[index], count as u128);
            if upper < interval {
                continue;
            }
            let bound = layout.bucket_at(index as u64).lower.max(interval);
            let smaller_remainders = if bound.is_multiple_of(interval) {
                0
            } else {
                let place = if index == 0 { lowest_place as u64 } else { places[index - 1] };
                prefix_sum(tree, place as usize)
            };
            let missing = quotients - number * (bound / interval) as u128 - smaller_remainders as u128;
            sums.add(&mut places[index], missing - missing_above);
            missing_above = missing;
        }
        if interval < lowest {
            sums.underflow = sums.underflow.saturating_add(quotients - number - missing_above);
        }
        tree.fill(0);
        sums.note(self, counts);
    }
}

/// What a copy in the making has beside its buckets.
struct Sums {
    underflow: u128,
    lost: u128,
}

impl Sums {
    fn new(of: &Snapshot) -> Sums {
        let counts = of.counts();
        Sums { underflow: counts.underflow as u128, lost: counts.lost as u128 }
    }

    /// Adds to a bucket as much as fits.
    fn add(&mut self, to: &mut u64, count: u128) {
        let fits = count.min((u64::MAX - *to) as u128);
        *to += fits as u64;
        self.lose(count - fits);
    }

    fn lose(&mut self, count: u128) {
        self.lost = self.lost.saturating_add(count);
    }

    /// Tells the copy.
    fn note(&self, of: &Snapshot, copy: &mut Rewrite) {
        let narrow = |count: u128| count.try_into().unwrap_or(u64::MAX);
        copy.take_over(of);
        (copy.underflow, copy.lost) = (narrow(self.underflow), narrow(self.lost));
    }
}

/// Adds to a place, from 1 on, of a Fenwick tree.
fn plant(tree: &mut [u64], mut place: usize, count: u64) {
    while let Some(sum) = tree.get_mut(place - 1) {
        *sum += count;
        place += place & place.wrapping_neg();
    }
}

/// The sum of the places up to and including this one; 0 for none.
fn prefix_sum(tree: &[u64], mut place: usize) -> u64 {
    let mut sum = 0;
    while place > 0 {
        sum += tree[place - 1];
        place &= place - 1;
    }
    sum
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

    /// The loop.
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
            let mut told = std::collections::BTreeMap::new();
            let mut calls = 0;
            missing_values(&layout, value, interval, |value, times| {
                *told.entry(layout.bucket_of(value).map(|b| b.storage_index).ok_or(layout.is_below(value)))
                    .or_insert(0) += times;
                calls += 1;
            });
            prop_assert_eq!(told, expected);
            prop_assert!(calls <= layout.length() + 2);
        }

        #[test]
        fn a_copy_as_the_loop_has_it_both_ways(
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
            let mut copy = Snapshot::boxed(layout).unwrap();
            copy.rewrite(|counts| source.correct_bucket_by_bucket(interval, counts));
            prop_assert_eq!(contents(&copy), (expected.clone(), totals));
            copy.forget();
            copy.rewrite(|counts| source.correct_all_together(interval, counts));
            prop_assert_eq!(contents(&copy), (expected, totals));
        }

        #[test]
        fn huge_counts_agree_both_ways(
            counts in prop::collection::vec((any::<u64>(), 1u64..1 << 58), 0..30),
            interval in any::<u64>(), shift in 0u32..64, scale in 0u32..6
        ) {
            let interval = (interval >> shift).max(1);
            let source = snapshot(Layout::with_scale(scale, 1 << 10, u64::MAX).unwrap(), &counts);
            let (mut one, mut other) = (Snapshot::boxed(*source.layout()).unwrap(), Snapshot::boxed(*source.layout()).unwrap());
            one.rewrite(|counts| source.correct_bucket_by_bucket(interval, counts));
            other.rewrite(|counts| source.correct_all_together(interval, counts));
            prop_assert_eq!(contents(&one), contents(&other));
        }
    }

    #[test]
    fn a_full_histogram_takes_no_time() {
        // The closed form for each bucket would take 5 * 10^11 steps.
        let layout = Layout::with_significant_digits(4, 0, u64::MAX).unwrap();
        let mut source = Snapshot::boxed(layout).unwrap();
        source.rewrite(|counts| counts.words().0.fill(16));
        assert_eq!(source.counts().total, 16 * layout.length() as u64);
        let began = std::time::Instant::now();
        let copy = source.corrected(1).unwrap();
        assert!(began.elapsed() < std::time::Duration::from_secs(20), "{:?}", began.elapsed());
        assert_eq!(copy.counts().total, u64::MAX);
        assert!(copy.counts().lost > 0, "top buckets cannot hold what is missing");
        // Value 1 is missing once below each recorded value of 2 and more.
        assert_eq!(copy.bucket_of(1).unwrap().count, 16 * (layout.length() as u64 - 1));
        assert_eq!(copy.bucket_of(0).unwrap().count, 16);
    }

    #[test]
    fn what_cannot_be_corrected_is_said() {
        let layout = Layout::with_scale(3, 0, 1000).unwrap();
        let source = snapshot(layout, &[(50, 10)]);
        let mut other = Snapshot::boxed(Layout::with_scale(4, 0, 1000).unwrap()).unwrap();
        assert_eq!(source.correct_into(10, &mut other), Err(Error::Incompatible));
        let copy = source.corrected(0).unwrap();
        assert_eq!(contents(&copy), contents(&source), "an interval of zero changes nothing");
    }
}
