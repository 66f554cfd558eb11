//! Mean, deviation, and the summary.

use crate::layout::bucket::{Bucket, ValueSelection};
use crate::snapshot::snapshot::Snapshot;
use crate::snapshot::sums::{PowerSums, RUN};
use crate::statistics::percentile::{SHORT_RUN, saturated, target_count};
use crate::statistics::summary::{Percentile, SUMMARY_PERCENTILES, SUMMARY_RANKS, Summary};

/// The mean and population standard deviation of a snapshot.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Moments {
    /// Mean of equivalent midpoints; NaN when empty.
    pub mean: f64,
    /// Population standard deviation of equivalent midpoints; NaN when empty.
    pub stddev: f64,
}

/// The running mean and squared deviations.
struct Accumulator {
    weight: f64,
    mean: f64,
    /// The sum of weighted squared distances from the mean.
    squares: f64,
}

impl Accumulator {
    const EMPTY: Accumulator = Accumulator { weight: 0.0, mean: 0.0, squares: 0.0 };

    /// Adds a part with its mean and squares: Chan's form of Welford's recurrence, which neither overflows nor cancels.
    fn add(&mut self, weight: f64, mean: f64, squares: f64) {
        let before = self.weight;
        self.weight += weight;
        let distance = mean - self.mean;
        let share = weight / self.weight;
        self.mean += distance * share;
        self.squares += squares + distance * distance * (before * share);
    }

    /// Adds a run of buckets of one step, whose first is `first`; `sums` counts in steps.
    fn add_run(&mut self, first: &Bucket, sums: PowerSums) {
        if sums.count == 0 {
            return;
        }
        let (count, step) = (sums.count as f64, first.step as f64);
        // In integers, so that nothing cancels: count^2 times the variance, in steps.
        let squares = if sums.count < 1 << 23 {
            (sums.count * sums.second - sums.first * sums.first) as f64
        } else {
            (sums.count as u128 * sums.second as u128 - sums.first as u128 * sums.first as u128) as f64
        };
        let start = first.equivalent_value(ValueSelection::Midpoint) as f64;
        self.add(count, start + step * (sums.first as f64 / count), squares / count * (step * step));
    }

    fn moments(&self) -> Moments {
        if self.weight == 0.0 {
            return Moments { mean: f64::NAN, stddev: f64::NAN };
        }
        Moments { mean: self.mean, stddev: libm::sqrt(self.squares / self.weight) }
    }
}

impl Snapshot {
    /// Returns the mean and population standard deviation of the buckets' midpoints, weighted by their counts.
    ///
    /// This takes one pass, in runs of buckets of the same width: exact in integers within a run, then West's and
    /// Chan's forms of Welford's recurrence.
    pub fn moments(&self) -> Moments {
        let mut sum = Accumulator::EMPTY;
        self.for_each_run(&mut sum, |_, _, _| ());
        sum.moments()
    }

    /// Sums the whole snapshot, and reports for each run of counts its range of indices and, if it fits, its total.
    fn for_each_run(&self, sum: &mut Accumulator, mut tell: impl FnMut(usize, usize, Option<u64>)) {
        let cells = self.cells();
        let layout = self.layout();
        let block = layout.block_size() as usize;
        let mut start = 0;
        while start < cells.len() {
            // Up to the end of the block, so that all buckets have the same step.
            let in_block = (layout.first_index() as usize + start) % block;
            let end = cells.len().min(start + RUN.min(block - in_block));
            let sums = cells.power_sums(start..end);
            match sums {
                Some(sums) => sum.add_run(&layout.bucket_at(start as u64), sums),
                None => {
                    for bucket in (start..end).map(|index| self.bucket_at(index)).filter(|b| b.count != 0) {
                        let value = bucket.equivalent_value(ValueSelection::Midpoint) as f64;
                        sum.add(bucket.count as f64, value, 0.0);
                    }
                }
            }
            tell(start, end, sums.map(|sums| sums.count));
            start = end;
        }
    }

    /// Returns totals, mean, deviation and the percentiles at [`SUMMARY_RANKS`]. An empty snapshot has a summary, too:
    /// totals and targets are 0, mean and deviation NaN.
    pub fn summary(&self, selection: ValueSelection) -> Summary {
        let counts = self.counts();
        let (moments, percentiles) = self.moments_and_percentiles(selection);
        Summary {
            total_count: counts.total,
            underflow_count: counts.underflow,
            overflow_count: counts.overflow,
            lost_count: counts.lost,
            mean: moments.mean,
            stddev: moments.stddev,
            relative_error: self.layout().relative_error(),
            min_trackable: self.layout().min_trackable(),
            max_trackable: self.layout().max_trackable(),
            timestamp_unix_nanos: self.timestamp_unix_nanos(),
            value_selection: selection as u32,
            flags: 0,
            percentiles,
        }
    }

    /// Returns the moments and percentiles of a summary, in one pass. The percentiles of an empty snapshot are empty.
    fn moments_and_percentiles(
        &self,
        selection: ValueSelection,
    ) -> (Moments, [Percentile; SUMMARY_PERCENTILES]) {
        let total = self.exact_total();
        let mut percentiles = SUMMARY_RANKS.map(|rank| Percentile { rank, ..Percentile::default() });
        if total == 0 {
            return (self.moments(), percentiles);
        }
        // The ranks are in range.
        let targets = SUMMARY_RANKS.map(|rank| target_count(rank, total).unwrap_or(1));
        let cells = self.cells();
        let mut pending = percentiles.iter_mut().zip(targets).peekable();
        let (mut sum, mut before) = (Accumulator::EMPTY, 0u128);
        self.for_each_run(&mut sum, |start, end, count| {
            let reached = count.map(|count| before + u128::from(count));
            let Some(target) = pending.peek().map(|&(_, target)| target) else { return };
            if let Some(reached) = reached
                && reached < target
            {
                before = reached;
                return;
            }
            // It is in this run, or the run's sum is unknown: examine its parts, and the counts of those that matter.
            for short in (start..end).step_by(SHORT_RUN) {
                let short = short..end.min(short + SHORT_RUN);
                let Some(target) = pending.peek().map(|&(_, target)| target) else { return };
                if count.is_some() {
                    let reached = before + u128::from(cells.wrapping_total(short.clone()));
                    if reached < target {
                        before = reached;
                        continue;
                    }
                }
                for index in short {
                    before += u128::from(cells.at(index));
                    while let Some((percentile, target)) = pending.next_if(|&(_, target)| target <= before) {
                        percentile.target_count = saturated(target);
                        percentile.bucket = self.bucket_at(index);
                        percentile.value = percentile.bucket.equivalent_value(selection);
                    }
                }
            }
        });
        (sum.moments(), percentiles)
    }
}

const _: () = {
    // The ranks of a summary are ascending, so it takes one pass.
    let mut at = 1;
    while at < SUMMARY_PERCENTILES {
        assert!(SUMMARY_RANKS[at - 1] < SUMMARY_RANKS[at]);
        at += 1;
    }
};
