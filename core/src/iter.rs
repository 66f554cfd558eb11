//! Ways through the counts of a snapshot, as HdrHistogram has them: in steps of equal width, of growing width, and of
//! percentiles.
//!
//! A step ends at a value, and holds the counts of all buckets up to and including that value's, as far as no step before
//! it does: a bucket is never divided. All go on until everything recorded is covered, and read each count once.

use crate::{Bucket, Error, Result, Snapshot};

/// A step of an iteration.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Step {
    /// Where the step before ended; 0 for the first. (HdrHistogram's `valueIteratedFrom`.)
    pub from: u64,
    /// Where this one ends. Steps of percentiles end with a bucket. (`valueIteratedTo`.)
    pub to: u64,
    /// Counts that came with this step.
    pub added_count: u64,
    /// Counts of this and all steps before; saturates at `u64::MAX`.
    pub cumulative_count: u64,
    /// The percentage of all counts that is.
    pub rank: f64,
    /// The percentage at which a step of percentiles was due; `rank` for the other steps.
    pub rank_level: f64,
}

/// Adds up counts in ascending order.
#[derive(Clone, Debug)]
struct Walk<'a> {
    snapshot: &'a Snapshot,
    /// How many counters were added up.
    index: usize,
    count: u64,
    /// At the end of the step before.
    from: u64,
    count_before: u64,
}

impl<'a> Walk<'a> {
    fn new(snapshot: &'a Snapshot) -> Self {
        Walk { snapshot, index: 0, count: 0, from: 0, count_before: 0 }
    }

    fn add_up_to(&mut self, end: usize) {
        let (raw, base) = self.snapshot.raw_and_base();
        let end = end.min(raw.len());
        if self.index < end {
            let counts = raw[self.index..end].iter().zip(&base[self.index..end]);
            self.count =
                counts.fold(self.count, |sum, (raw, base)| sum.saturating_add(raw.wrapping_sub(*base)));
            self.index = end;
        }
    }

    /// A step that ends at a value, with what was added up.
    fn step(&mut self, to: u64) -> Step {
        let rank = 100.0 * self.count as f64 / self.snapshot.counts().total as f64;
        let step = Step {
            from: self.from,
            to,
            added_count: self.count - self.count_before,
            cumulative_count: self.count,
            rank,
            rank_level: rank,
        };
        (self.from, self.count_before) = (to, self.count);
        step
    }
}

/// Steps that end at given values: the state that [`Snapshot::linear_steps`] and [`Snapshot::logarithmic_steps`] share.
#[derive(Clone, Debug)]
struct ValueSteps<'a> {
    walk: Walk<'a>,
    top: Option<Bucket>,
}

impl<'a> ValueSteps<'a> {
    fn new(snapshot: &'a Snapshot) -> Self {
        ValueSteps { walk: Walk::new(snapshot), top: snapshot.highest_recorded() }
    }

    /// The step that ends at `to`, as long as there is anything to come: counts, or, where all were given, another step in
    /// the bucket where the last one ended, by `reaches`. (There it is so, and steps are to be the same.)
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
    /// The highest bucket that has counts.
    pub fn highest_recorded(&self) -> Option<Bucket> {
        let (raw, base) = self.raw_and_base();
        let index = raw.iter().zip(base).rposition(|(raw, base)| raw != base)?;
        Some(self.bucket_at(index))
    }

    /// The lowest bucket that has counts.
    pub fn lowest_recorded(&self) -> Option<Bucket> {
        self.recorded_buckets().next()
    }

    /// The buckets that hold any value of a range, in ascending order, empty ones too. The range is closed, so that it can
    /// end at `u64::MAX`.
    pub fn buckets_between(&self, lowest: u64, highest: u64) -> impl Iterator<Item = Bucket> + '_ {
        let layout = self.layout();
        let is_outside =
            lowest > highest || highest < layout.lowest_recordable() || lowest > layout.highest_recordable();
        let first =
            layout.storage_index(lowest.clamp(layout.lowest_recordable(), layout.highest_recordable()));
        let last =
            layout.storage_index(highest.clamp(layout.lowest_recordable(), layout.highest_recordable()));
        let indices = if is_outside { 0..0 } else { first as usize..last as usize + 1 };
        indices.map(|index| self.bucket_at(index))
    }

    /// Steps of equal width: they end at `width - 1`, `2 * width - 1`, …, until everything recorded is covered.
    ///
    /// There may be very many of them. [`Error::InvalidArgument`] for a width of 0.
    pub fn linear_steps(&self, width: u64) -> Result<impl Iterator<Item = Step> + '_> {
        let mut end = width.checked_sub(1).ok_or(Error::InvalidArgument)?;
        let mut steps = ValueSteps::new(self);
        Ok(core::iter::from_fn(move || {
            let step = steps.next(end, end);
            end = end.saturating_add(width);
            step
        }))
    }

    /// Steps of growing width: they end at `first - 1`, `first * base - 1`, `first * base * base - 1`, … (rounded down),
    /// until everything recorded is covered.
    ///
    /// [`Error::InvalidArgument`] for a first width of 0, and a base that is not above 1.
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
            // Slow growth does not stay where it is for want of digits.
            level = if level * base > level { level * base } else { level + level * f64::EPSILON };
            whole = level as u64;
            step
        }))
    }

    /// Steps of percentiles, which get closer by half with each half of the distance to 100 %, with
    /// `ticks_per_half_distance` of them each time; the last one is at 100. They end with a bucket each, and several may end
    /// with the same.
    ///
    /// This is HdrHistogram's, in floating point, so that the steps are the same. [`Error::InvalidArgument`] for 0 ticks.
    pub fn percentile_steps(&self, ticks_per_half_distance: u32) -> Result<impl Iterator<Item = Step> + '_> {
        if ticks_per_half_distance == 0 {
            return Err(Error::InvalidArgument);
        }
        let ticks = ticks_per_half_distance as f64;
        let total = self.counts().total;
        let mut walk = Walk::new(self);
        let mut buckets = self.recorded_counts();
        let mut upper = 0;
        let mut level = 0.0;
        let mut is_done = total == 0;
        Ok(core::iter::from_fn(move || {
            if is_done {
                return None;
            }
            if walk.count == total || level >= 100.0 {
                // One more step, to 100 %.
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
            // In the n-th half of the distance, steps are a tick of the 2^n-th part.
            let halves = libm::ilogb(100.0 / (100.0 - level)).clamp(0, 1100) + 1;
            level += 100.0 / libm::ldexp(ticks, halves);
            Some(step)
        }))
    }
}
