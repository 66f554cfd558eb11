//! What a call of nothing takes: empty samples, before the first block and between blocks, all in one pool.

use picollo_core::BlockOverhead;

use crate::error::{Error, Result, Status};

/// Picoseconds a call, about two cycles: so much longer may the same loop take elsewhere in memory.
const RESOLUTION: f64 = 500.0;
/// Of a call of nothing: so much longer may the same function take elsewhere in memory.
const RESOLUTION_SHARE: f64 = 0.01;

/// Empty samples. Where A and B have the same number of calls, there is one pool for both; else one for each.
#[derive(Default)]
pub(super) struct Overhead {
    /// Picoseconds a call.
    samples: [Vec<f64>; 2],
    /// Their medians, picoseconds a call.
    median: [f64; 2],
    /// Half the intervals of the medians.
    error: [f64; 2],
    is_shared: bool,
}

impl Overhead {
    /// A sample with the number of calls of this side took so many picoseconds a call.
    pub(super) fn add(&mut self, side: usize, per_call: f64) -> Result<()> {
        let samples = &mut self.samples[side];
        samples.try_reserve(1).map_err(|_| Error::from(Status::OutOfMemory))?;
        samples.push(per_call);
        Ok(())
    }

    /// Takes the medians anew: an interrupt in one of the samples must not count.
    pub(super) fn settle(&mut self, is_shared: bool) {
        self.is_shared = is_shared;
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
        if is_shared {
            (self.median[1], self.error[1]) = (self.median[0], self.error[0]);
        }
    }

    pub(super) fn count(&self) -> usize {
        self.samples[0].len() + self.samples[1].len()
    }

    /// Of a call of one side.
    pub(super) fn median(&self, side: usize) -> f64 {
        self.median[side]
    }

    /// Half the interval of that.
    pub(super) fn error(&self, side: usize) -> f64 {
        self.error[side]
    }

    /// Of a call of both. Where it is one and the same, it has no error as far as their difference goes.
    pub(super) fn of_blocks(&self) -> BlockOverhead {
        let error = if self.is_shared { 0.0 } else { self.error[0].hypot(self.error[1]) };
        BlockOverhead { a: self.median[0], b: self.median[1], error }
    }

    /// What cannot be told apart, picoseconds a call.
    pub(super) fn resolution(&self) -> f64 {
        RESOLUTION.max(self.median[0].min(self.median[1]) * RESOLUTION_SHARE)
    }
}
