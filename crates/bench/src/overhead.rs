//! The cost of an empty call, from a pool of empty samples before the first block and between blocks.

use picollo_stats::BlockOverhead;

use picollo_native::Result;
use picollo_native::seam::vectors::push;

/// About two cycles, in picoseconds per call: the same loop may take this much longer elsewhere in memory.
const RESOLUTION: f64 = 500.0;
/// Share of an empty call: the same function may take this much longer elsewhere in memory.
const RESOLUTION_SHARE: f64 = 0.01;

/// Empty samples. If A and B have the same number of calls, they share one pool; otherwise each has its own.
#[derive(Default)]
pub(super) struct Overhead {
    /// Picoseconds per sample.
    samples: [Vec<f64>; 2],
    /// Calls per sample.
    calls: [f64; 2],
    /// Medians in picoseconds per sample.
    median: [f64; 2],
    /// Half the intervals of the medians.
    error: [f64; 2],
}

impl Overhead {
    /// Adds a sample with this side's number of calls and its time in picoseconds.
    pub(super) fn add(&mut self, side: usize, picos: f64) -> Result<()> {
        push(&mut self.samples[side], picos)
    }

    /// Updates the medians for samples of this many calls. Medians are robust against an interrupt in one of them.
    pub(super) fn settle(&mut self, calls: [u64; 2]) {
        self.calls = calls.map(|calls| calls as f64);
        for side in 0..2 {
            let samples = &mut self.samples[side];
            if samples.is_empty() {
                continue;
            }
            samples.sort_unstable_by(f64::total_cmp);
            let length = samples.len();
            self.median[side] = (samples[(length - 1) / 2] + samples[length / 2]) / 2.0;
            // The order statistics of a median at 95 %, by the normal approximation.
            let off = (0.98 * (length as f64).sqrt()) as usize + 1;
            let (lower, upper) = ((length / 2).saturating_sub(off), (length / 2 + off).min(length - 1));
            self.error[side] = (samples[upper] - samples[lower]) / 2.0;
        }
        if self.is_shared() {
            (self.median[1], self.error[1]) = (self.median[0], self.error[0]);
        }
    }

    /// Changes samples to one call each, and scales the pools accordingly.
    pub(super) fn shorten(&mut self) {
        for (samples, calls) in self.samples.iter_mut().zip(self.calls) {
            samples.iter_mut().for_each(|picos| *picos /= calls);
        }
        self.settle([1; 2]);
    }

    fn is_shared(&self) -> bool {
        self.calls[0] == self.calls[1]
    }

    pub(super) fn count(&self) -> usize {
        self.samples[0].len() + self.samples[1].len()
    }

    /// Picoseconds per sample of one side, and half the interval.
    pub(super) fn per_sample(&self, side: usize) -> (f64, f64) {
        (self.median[side], self.error[side])
    }

    /// Picoseconds per call of one side, and half the interval. Both are zero without samples.
    pub(super) fn per_call(&self, side: usize) -> (f64, f64) {
        let calls = self.calls[side].max(1.0);
        (self.median[side] / calls, self.error[side] / calls)
    }

    /// The overhead per call of both sides. If they share a pool, it adds no error to their difference.
    pub(super) fn per_block(&self) -> BlockOverhead {
        let [(a, error_a), (b, error_b)] = [self.per_call(0), self.per_call(1)];
        BlockOverhead { a, b, error: if self.is_shared() { 0.0 } else { error_a.hypot(error_b) } }
    }

    /// The smallest difference that can be distinguished, in picoseconds per call.
    pub(super) fn resolution(&self) -> f64 {
        RESOLUTION.max(self.per_call(0).0.min(self.per_call(1).0) * RESOLUTION_SHARE)
    }
}
