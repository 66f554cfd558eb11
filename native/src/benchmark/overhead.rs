//! What a call of nothing takes: empty samples, before the first block and between blocks, all in one pool.

use picollo_core::BlockOverhead;

use crate::base::error::Result;
use crate::base::vectors::push;

/// Picoseconds a call, about two cycles: so much longer may the same loop take elsewhere in memory.
const RESOLUTION: f64 = 500.0;
/// Of a call of nothing: so much longer may the same function take elsewhere in memory.
const RESOLUTION_SHARE: f64 = 0.01;

/// Empty samples. Where A and B have the same number of calls, there is one pool for both; else one for each.
#[derive(Default)]
pub(super) struct Overhead {
    /// Picoseconds a sample.
    samples: [Vec<f64>; 2],
    /// Calls in a sample.
    calls: [f64; 2],
    /// Their medians, picoseconds a sample.
    median: [f64; 2],
    /// Half the intervals of the medians.
    error: [f64; 2],
}

impl Overhead {
    /// A sample with the number of calls of this side took so many picoseconds.
    pub(super) fn add(&mut self, side: usize, picos: f64) -> Result<()> {
        push(&mut self.samples[side], picos)
    }

    /// Takes the medians anew, of samples of so many calls: an interrupt in one of them must not count.
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

    /// Samples have one call each from now on: of the pools, so much is that of a call.
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

    /// Picoseconds of a sample of one side.
    pub(super) fn of_sample(&self, side: usize) -> (f64, f64) {
        (self.median[side], self.error[side])
    }

    /// Picoseconds a call of one side, and half the interval of that. Nothing where there are no samples.
    pub(super) fn of_call(&self, side: usize) -> (f64, f64) {
        let calls = self.calls[side].max(1.0);
        (self.median[side] / calls, self.error[side] / calls)
    }

    /// Of a call of both. Where it is one and the same, it has no error as far as their difference goes.
    pub(super) fn of_blocks(&self) -> BlockOverhead {
        let [(a, error_a), (b, error_b)] = [self.of_call(0), self.of_call(1)];
        BlockOverhead { a, b, error: if self.is_shared() { 0.0 } else { error_a.hypot(error_b) } }
    }

    /// What cannot be told apart, picoseconds a call.
    pub(super) fn resolution(&self) -> f64 {
        RESOLUTION.max(self.of_call(0).0.min(self.of_call(1).0) * RESOLUTION_SHARE)
    }
}
