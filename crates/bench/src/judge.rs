//! Judges the blocks so far, and ends the benchmark if the answer can no longer change or the budget is spent.
//!
//! The blocks are judged repeatedly during the measurement. Looking at a 95 % interval until it shows something is
//! wrong in more than 5 % of the cases. So the looks share the stated chance of error. The looks before the last share
//! [`EARLY`] of it: the first gets half of that, the second a sixth, look `k` one part in `k (k + 1)`, which sums to
//! all of it for any number of looks. The last look, when the budget is spent, gets the rest. Each look has its own
//! interval with its own confidence, exact for any distribution, so that together they contain the truth as often as
//! stated. Ending at any look, for any reason, is wrong at most as often. (This is the union bound; K. K. G. Lan and D.
//! L. DeMets, *Discrete sequential boundaries for clinical trials*, 1983, call it spending.) The last look loses
//! little: 99 % becomes 99.2 %, an interval that is 3 % wider.
//!
//! `simulation.rs` tests how often verdicts are wrong.

use picollo_stats::{
    BlockComparison, COMPARISON_NOISY, COMPARISON_TOO_FEW, COMPARISON_WITHIN_MARGIN, CompareOptions, Verdict,
    compare_block_ratios, compare_blocks_above,
};

use super::Benchmark;
use picollo_native::{ExplainedError, Result, Status};

/// Share of the chance of error for the looks before the last.
const EARLY: f64 = 0.2;

/// Factor by which the number of blocks grows from one look to the next.
const GROWTH: f64 = 1.5;

/// The benchmark does not end before one part in this many of the budget: one moment must not decide about fast code.
const LEAST: u64 = 50;

/// A difference is known well enough if half its interval is at most this share of it.
const KNOWN: f64 = 0.25;

/// A requested precision is also met if half the interval is at most this share of the resolution.
const RESOLUTION_PRECISION: f64 = 0.1;

/// The schedule of looks at the blocks.
#[derive(Clone, Copy)]
pub(super) struct Looks {
    /// Confidence that the intervals of all looks share.
    confidence: f64,
    /// Whether there is only the last look.
    is_one: bool,
    /// Number of looks so far, without the last.
    count: u32,
    /// Number of blocks at the next look.
    next: usize,
}

impl Looks {
    pub(super) fn new(confidence: f64, precision: f64, min_blocks: usize) -> Looks {
        let confidence = if confidence == 0.0 { 0.95 } else { confidence };
        let mut looks = Looks { confidence, is_one: precision < 0.0, count: 0, next: usize::MAX };
        if !looks.is_one {
            // The smallest number of blocks whose extremes form an interval of this confidence.
            let fewest = 1.0 - (1.0 - looks.next_confidence()).log2();
            looks.next = min_blocks.max(fewest.ceil() as usize);
        }
        looks
    }

    /// Whether a look is due with this many blocks.
    pub(super) fn is_due(&self, blocks: usize) -> bool {
        // If the confidence rounds to 1, no interval has it.
        blocks >= self.next && self.next_confidence() < 1.0
    }

    /// The confidence of the next look, if it is not the last.
    fn next_confidence(&self) -> f64 {
        let k = f64::from(self.count) + 1.0;
        1.0 - (1.0 - self.confidence) * EARLY / (k * (k + 1.0))
    }

    /// The confidence of the last look.
    pub(super) fn last_confidence(&self) -> f64 {
        if self.is_one { self.confidence } else { 1.0 - (1.0 - self.confidence) * (1.0 - EARLY) }
    }

    /// Takes a look at this many blocks and returns its confidence.
    pub(super) fn take(&mut self, blocks: usize) -> f64 {
        let confidence = self.next_confidence();
        self.count += 1;
        self.next = (blocks as f64 * GROWTH).ceil() as usize;
        confidence
    }
}

impl Benchmark {
    /// Judges the blocks so far with this confidence.
    pub(super) fn judge(&mut self, look_confidence: f64) -> Result<()> {
        // This look at the machine ensures that the last blocks also lie between two looks.
        self.watch_machine();
        self.overhead.settle(self.schedule.repetitions());
        self.look_confidence = look_confidence;
        let mut disturbed = core::mem::take(&mut self.disturbed);
        let mut scratch = core::mem::take(&mut self.scratch);
        let judged =
            self.find_disturbed(&mut disturbed).and_then(|()| self.compare(&disturbed, &mut scratch));
        (self.disturbed, self.scratch) = (disturbed, scratch);
        self.judged = judged?;
        self.judged_of = self.spans.len();
        Ok(())
    }

    /// Finds out which of the blocks so far were disturbed.
    pub(super) fn find_disturbed(&self, disturbed: &mut Vec<bool>) -> Result<()> {
        let room = self.spans.len().saturating_sub(disturbed.len());
        disturbed.try_reserve(room).map_err(|_| ExplainedError::from(Status::OutOfMemory))?;
        disturbed.clear();
        disturbed.extend(self.spans.iter().map(|&span| self.trace.is_disturbed(span)));
        Ok(())
    }

    /// Judges the blocks so far, without those that were disturbed. The scratch grows as needed.
    pub(super) fn compare(&self, disturbed: &[bool], scratch: &mut Vec<f64>) -> Result<BlockComparison> {
        let options = CompareOptions {
            confidence: self.limits.confidence,
            relative_threshold: self.limits.relative_threshold,
            resolution: self.limits.resolution.unwrap_or_else(|| self.overhead.resolution()),
            look_confidence: self.look_confidence,
            ..CompareOptions::default()
        };
        let overhead = self.overhead.per_block();
        let compare = |a: &[f64], b: &[f64], scratch: &mut [f64]| {
            if self.limits.empty_samples == 0 {
                compare_block_ratios(a, b, scratch, &options)
            } else {
                compare_blocks_above(a, b, &overhead, scratch, &options)
            }
        };
        let [of_a, of_b] = &self.blocks;
        let length = disturbed.len();
        let lost = disturbed.iter().filter(|&&is| is).count();
        // Space for sorting, and for the two sides.
        let room = if lost == 0 { length } else { 3 * length };
        scratch
            .try_reserve(room.saturating_sub(scratch.len()))
            .map_err(|_| ExplainedError::from(Status::OutOfMemory))?;
        scratch.resize(room, 0.0);
        let (scratch, sides) = scratch.split_at_mut(length);
        let of_all = compare(of_a, of_b, scratch)?;
        if lost == 0 || self.limits.keeps_disturbed {
            return Ok(of_all);
        }
        // Uses all blocks: the disturbance affects both sides, and widens the interval accordingly.
        let of_all_blocks = || {
            let is_answer =
                of_all.verdict() != Verdict::NoEvidence || of_all.flags & COMPARISON_WITHIN_MARGIN != 0;
            if is_answer { of_all } else { of_all.unproven() }
        };
        if 2 * lost > length {
            return Ok(of_all_blocks());
        }
        let (a, b) = sides.split_at_mut(length);
        for (kept, blocks) in [&mut *a, &mut *b].into_iter().zip([of_a, of_b]) {
            let counting = blocks.iter().zip(disturbed).filter(|(_, is)| !**is).map(|(time, _)| *time);
            kept.iter_mut().zip(counting).for_each(|(slot, time)| *slot = time);
        }
        let kept = length - lost;
        let found = compare(&a[..kept], &b[..kept], scratch)?;
        let is_too_few = found.flags & COMPARISON_TOO_FEW != 0 && of_all.flags & COMPARISON_TOO_FEW == 0;
        Ok(if is_too_few { of_all_blocks() } else { found })
    }

    /// Whether a look could end the benchmark. Other looks would only use up the chance of error.
    pub(super) fn may_end_early(&self) -> bool {
        self.looks.is_due(self.spans.len()) && self.elapsed() >= self.limits.budget / LEAST
    }

    /// Takes a look before the last. Returns whether the answer can no longer change.
    pub(super) fn judge_early(&mut self) -> Result<bool> {
        let confidence = self.looks.take(self.spans.len());
        self.judge(confidence)?;
        Ok(self.is_enough())
    }

    pub(super) fn is_enough(&self) -> bool {
        let blocks = &self.judged;
        // If blocks depend on each other, few may be independent. Then even their extremes lack the requested
        // confidence.
        if blocks.coverage < self.look_confidence {
            return false;
        }
        // The machine may still become quiet.
        if blocks.flags & COMPARISON_NOISY != 0 {
            return false;
        }
        let half = (blocks.difference_upper - blocks.difference_lower) / 2.0;
        if self.limits.precision > 0.0 {
            let asked = self.limits.precision * blocks.median_a.max(0.0);
            return half <= asked.max(blocks.resolution * RESOLUTION_PRECISION);
        }
        let is_known = half <= KNOWN * blocks.difference.abs();
        blocks.flags & COMPARISON_WITHIN_MARGIN != 0 || blocks.verdict() != Verdict::NoEvidence && is_known
    }
}
