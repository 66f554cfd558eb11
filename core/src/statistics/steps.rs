//! Iterations over the counts of a snapshot, as in HdrHistogram: in steps of equal width, of growing width, and of
//! percentiles.
//!
//! A step ends at a value. It holds the counts of all buckets up to and including that value's bucket, without earlier
//! steps: no bucket is divided. All iterations continue until everything recorded is covered, and read each count once.

use crate::error::{Error, Result};
use crate::layout::bucket::Bucket;
use crate::snapshot::snapshot::Snapshot;
use crate::statistics::percentile::saturated;

/// A step of an iteration.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
pub struct Step {
    /// End of the previous step; 0 for the first. (HdrHistogram's valueIteratedFrom.)
    pub from: u64,
    /// End of this step. Steps of percentiles end with a bucket. (valueIteratedTo.)
    pub to: u64,
    /// Counts in this step; saturates at `u64::MAX`.
    pub added_count: u64,
    /// Counts in this and all previous steps; saturates at `u64::MAX`.
    pub cumulative_count: u64,
    /// The cumulative count as a percentage of all counts.
    pub rank: f64,
    /// The percentage at which a step of percentiles was due; for other steps the same as rank.
    pub rank_level: f64,
}

/// Sums counts in ascending order.
#[derive(Clone, Debug)]
struct Walk<'a> {
    snapshot: &'a Snapshot,
    /// The number of counters summed.
    index: usize,
    count: u128,
    /// The sum of all counts.
    total: u128,
    /// The end of the previous step.
    from: u64,
    count_before: u128,
}

impl<'a> Walk<'a> {
    fn new(snapshot: &'a Snapshot) -> Self {
        Walk { snapshot, index: 0, count: 0, total: snapshot.exact_total(), from: 0, count_before: 0 }
    }

    fn add_up_to(&mut self, end: usize) {
        let cells = self.snapshot.cells();
        let end = end.min(cells.len());
        if self.index < end {
            self.count += cells.total(self.index..end);
            self.index = end;
        }
    }

    /// Returns a step that ends at a value, with the sums so far.
    fn step(&mut self, to: u64) -> Step {
        let rank = 100.0 * self.count as f64 / self.total as f64;
        let step = Step {
            from: self.from,
            to,
            added_count: saturated(self.count - self.count_before),
            cumulative_count: saturated(self.count),
            rank,
            rank_level: rank,
        };
        (self.from, self.count_before) = (to, self.count);
        step
    }
}

/// Steps that end at given values: the common state of [`Snapshot::linear_steps`] and [`Snapshot::logarithmic_steps`].
#[derive(Clone, Debug)]
struct ValueSteps<'a> {
    walk: Walk<'a>,
    top: Option<Bucket>,
}

impl<'a> ValueSteps<'a> {
    fn new(snapshot: &'a Snapshot) -> Self {
        ValueSteps { walk: Walk::new(snapshot), top: snapshot.highest_recorded() }
    }

    /// Returns the step that ends at `to`, as long as anything remains: counts, or, after all counts, another step in
    /// the bucket of the last one, according to `reaches`. (HdrHistogram does this, and the steps must be the same.)
    fn next(&mut self, to: u64, reaches: u64) -> Option<Step> {
        let top = self.top?;
        let layout = self.walk.snapshot.layout();
        let last = (self.walk.index as u64).checked_sub(1).map(|last| layout.bucket_at(last));
        if last.is_some_and(|last| last.storage_index >= top.storage_index && reaches > last.upper) {
            self.top = None;
            return None;
        }
        let end = if layout.is_below(to) { 0 } else { layout.storage_index(to).saturating_add(1) };
        self.walk.add_up_to(usize::try_from(end).unwrap_or(usize::MAX));
        if to == u64::MAX {
            self.top = None;
        }
        Some(self.walk.step(to))
    }
}

impl Snapshot {
    /// Returns the highest bucket that has counts.
    pub fn highest_recorded(&self) -> Option<Bucket> {
        Some(self.bucket_at(self.cells().last()?))
    }

    /// Returns the lowest bucket that has counts.
    pub fn lowest_recorded(&self) -> Option<Bucket> {
        self.recorded_buckets().next()
    }

    /// How many observations share a bucket with a value of a range. The range is closed, so that it can end at `u64::MAX`.
    /// Saturates at `u64::MAX`.
    pub fn count_between(&self, lowest: u64, highest: u64) -> u64 {
        let layout = self.layout();
        let (bottom, top) = (layout.lowest_recordable(), layout.highest_recordable());
        if lowest > highest || highest < bottom || lowest > top {
            return 0;
        }
        let [first, last] =
            [lowest, highest].map(|value| layout.storage_index(value.clamp(bottom, top)) as usize);
        saturated(self.cells().total(first..last + 1))
    }

    /// Iterates in steps of equal width: they end at `width - 1`, `2 * width - 1`, …, until all records are covered.
    ///
    /// There may be very many steps. Fails with [`Error::InvalidArgument`] for a width of 0.
    pub fn linear_steps(&self, width: u64) -> Result<impl Iterator<Item = Step> + '_> {
        let mut end = width.checked_sub(1).ok_or(Error::InvalidArgument)?;
        let mut steps = ValueSteps::new(self);
        Ok(core::iter::from_fn(move || {
            let step = steps.next(end, end);
            end = end.saturating_add(width);
            step
        }))
    }

    /// Iterates in steps of growing width: they end at `first - 1`, `first * base - 1`, `first * base * base - 1`, …
    /// (rounded down), until everything recorded is covered.
    ///
    /// Fails with [`Error::InvalidArgument`] for a first width of 0, and a base that is not above 1.
    pub fn logarithmic_steps(&self, first: u64, base: f64) -> Result<impl Iterator<Item = Step> + '_> {
        if first == 0 || !base.is_finite() || base <= 1.0 {
            return Err(Error::InvalidArgument);
        }
        let mut level = first as f64;
        let mut whole = first;
        let mut steps = ValueSteps::new(self);
        Ok(core::iter::from_fn(move || {
            let layout = self.layout();
            let end = if level >= u64::MAX as f64 { u64::MAX } else { whole - 1 };
            let step = steps.next(end, layout.lowest_equivalent(whole));
            // Slow growth must not stop for lack of digits.
            level = if level * base > level { level * base } else { level + level * f64::EPSILON };
            whole = level as u64;
            step
        }))
    }

    /// Iterates in steps of percentiles. With each half of the distance to 100 % the steps are half as wide, and there
    /// are `ticks_per_half_distance` of them; the last one is at 100. Each ends with a bucket, and several may end with
    /// the same.
    ///
    /// This is HdrHistogram's algorithm, in floating point, so the steps are the same. Fails with
    /// [`Error::InvalidArgument`] for 0 ticks.
    pub fn percentile_steps(&self, ticks_per_half_distance: u32) -> Result<impl Iterator<Item = Step> + '_> {
        if ticks_per_half_distance == 0 {
            return Err(Error::InvalidArgument);
        }
        let ticks = ticks_per_half_distance as f64;
        let mut walk = Walk::new(self);
        let total = walk.total;
        let mut buckets = self.recorded_counts();
        let mut upper = 0;
        let mut level = 0.0;
        let mut is_done = total == 0;
        Ok(core::iter::from_fn(move || {
            if is_done {
                return None;
            }
            if walk.count == total || level >= 100.0 {
                // Adds one more step, to 100 %.
                let highest = self.highest_recorded()?;
                walk.add_up_to(usize::MAX);
                is_done = true;
                level = 100.0;
                upper = highest.upper;
            } else {
                while walk.index == 0 || 100.0 * walk.count as f64 / (total as f64) < level {
                    let Some((index, _)) = buckets.next() else { break };
                    walk.add_up_to(index + 1);
                    upper = self.layout().bucket_at(index as u64).upper;
                }
            }
            let step = Step { rank_level: level, ..walk.step(upper) };
            // In the n-th half of the distance, a step is a tick of the 2^n-th part.
            let halves = libm::ilogb(100.0 / (100.0 - level)).clamp(0, 1100) + 1;
            let next = level + 100.0 / libm::ldexp(ticks, halves);
            // Near 100, with counts of more bits than a double, steps get too small to advance.
            level = if next > level { next } else { 100.0 };
            Some(step)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::layout::Layout;
    use crate::snapshot::merge::tests::snapshot;
    use proptest::prelude::*;
    use std::boxed::Box;
    use std::vec::Vec;

    fn snapshots() -> impl Strategy<Value = Box<Snapshot>> {
        let values = prop::collection::vec((0u64..110_000, 1u64..1 << 40), 0..100);
        (0u32..8, 0u64..2000, 1u64..100_000, values, any::<bool>()).prop_map(
            |(scale, min, width, mut values, are_small)| {
                // Sums of small counts are often exactly the share at which a step is due.
                let most = if are_small { 2 } else { u64::MAX };
                values.iter_mut().for_each(|(_, count)| *count = (*count).min(most));
                snapshot(Layout::with_scale(scale, min, min + width).unwrap(), &values)
            },
        )
    }

    /// HdrHistogram's iterator of percentiles, state by state.
    fn percentiles_as_there(snapshot: &Snapshot, ticks: u32) -> Vec<(u64, u64, f64)> {
        let total = snapshot.counts().total;
        let (mut steps, mut level, mut so_far) = (Vec::new(), 0.0f64, 0u64);
        let last = snapshot.highest_recorded();
        for bucket in snapshot.buckets() {
            so_far += bucket.count;
            if bucket.count == 0 {
                continue;
            }
            let is_last = last == Some(bucket);
            while 100.0 * so_far as f64 / total as f64 >= level {
                steps.push((bucket.upper, so_far, level));
                let halves = ((100.0 / (100.0 - level)).ln() / 2.0f64.ln()) as i64 + 1;
                level += 100.0 / (f64::from(ticks) * 2.0f64.powi(halves as i32));
                if is_last {
                    steps.push((bucket.upper, so_far, 100.0));
                    break;
                }
            }
        }
        steps
    }

    proptest! {
        #[test]
        fn percentiles(snapshot in snapshots(), ticks in 1u32..200) {
            let steps = snapshot.percentile_steps(ticks).unwrap();
            let steps: Vec<_> = steps.map(|step| (step.to, step.cumulative_count, step.rank_level)).collect();
            prop_assert_eq!(steps, percentiles_as_there(&snapshot, ticks));
        }

        #[test]
        fn equal_and_growing_widths_cover_everything(
            snapshot in snapshots(), width in 1u64..5000, base in 1.0001f64..20.0
        ) {
            let linear: Vec<_> = snapshot.linear_steps(width).unwrap().collect();
            let logarithmic: Vec<_> = snapshot.logarithmic_steps(width, base).unwrap().collect();
            for (at, step) in linear.iter().enumerate() {
                prop_assert_eq!(step.to, (at as u64 + 1) * width - 1);
            }
            for steps in [linear, logarithmic] {
                let (mut cumulative, mut from) = (0, 0);
                for step in steps {
                    cumulative += step.added_count;
                    prop_assert_eq!((step.from, step.cumulative_count), (from, cumulative));
                    prop_assert_eq!(step.rank, step.rank_level);
                    let naive = snapshot.buckets().filter(|bucket| bucket.lower <= step.to).map(|bucket| bucket.count);
                    prop_assert_eq!(cumulative, naive.sum::<u64>());
                    from = step.to;
                }
                prop_assert_eq!(cumulative, snapshot.counts().total);
            }
        }

        #[test]
        fn ranges(snapshot in snapshots(), a in 0u64..120_000, b in 0u64..120_000) {
            let naive = snapshot.buckets().filter(|bucket| a <= b && bucket.lower <= b && bucket.upper >= a);
            prop_assert_eq!(snapshot.count_between(a, b), naive.map(|bucket| bucket.count).sum::<u64>());
            prop_assert_eq!(snapshot.count_between(0, u64::MAX), snapshot.counts().total, "everything recorded");
        }
    }

    #[test]
    fn the_ends_of_the_world() {
        let layout = Layout::with_scale(0, 0, u64::MAX).unwrap();
        let full = snapshot(layout, &[(0, 1), (u64::MAX, 1)]);
        let linear: Vec<_> =
            full.linear_steps(1 << 62).unwrap().map(|step| (step.to, step.added_count)).collect();
        assert_eq!(linear, [((1 << 62) - 1, 1), ((1 << 63) - 1, 0), ((3 << 62) - 1, 1), (u64::MAX, 0)]);
        let logarithmic: Vec<_> = full.logarithmic_steps(1, 1e30).unwrap().map(|step| step.to).collect();
        assert_eq!(logarithmic, [0, u64::MAX]);
        let whole: Vec<_> = full.linear_steps(u64::MAX).unwrap().map(|step| step.to).collect();
        assert_eq!(whole, [u64::MAX - 1, u64::MAX]);
        assert_eq!(full.lowest_recorded().unwrap().lower, 0);
        assert_eq!(full.highest_recorded().unwrap().upper, u64::MAX);
    }

    #[test]
    fn counts_of_more_bits_than_a_double() {
        // The share of the first bucket rounds to 100 %.
        let layout = Layout::with_scale(2, 0, 100).unwrap();
        for ticks in [1, 5, 100] {
            let full = snapshot(layout, &[(5, u64::MAX / 2), (50, 1)]);
            let limit = 56 * ticks as usize + 2;
            let steps: Vec<_> = full.percentile_steps(ticks).unwrap().take(limit + 1).collect();
            assert!(steps.len() <= limit, "{ticks} ticks do not end");
            let last = steps.last().unwrap();
            assert_eq!((last.rank_level, last.to), (100.0, full.highest_recorded().unwrap().upper));
        }
    }

    #[test]
    fn what_makes_no_steps() {
        let empty = snapshot(Layout::with_scale(0, 0, 100).unwrap(), &[]);
        assert_eq!(empty.linear_steps(1).unwrap().count(), 0);
        assert_eq!(empty.logarithmic_steps(1, 2.0).unwrap().count(), 0);
        assert_eq!(empty.percentile_steps(5).unwrap().count(), 0);
        assert_eq!((empty.lowest_recorded(), empty.highest_recorded()), (None, None));
        assert_eq!(empty.linear_steps(0).err(), Some(Error::InvalidArgument));
        assert_eq!(empty.percentile_steps(0).err(), Some(Error::InvalidArgument));
        for base in [1.0, 0.5, -2.0, f64::NAN, f64::INFINITY] {
            assert_eq!(empty.logarithmic_steps(1, base).err(), Some(Error::InvalidArgument));
        }
        assert_eq!(empty.logarithmic_steps(0, 2.0).err(), Some(Error::InvalidArgument));
    }
}
