//! What the blocks so far say, of those that count, and when to end: where the answer can no longer change, or the budget is spent.
//!
//! The blocks are judged again and again while they are measured. Who looks at an interval of 95 % until it says something is wrong in more
//! than 5 % of the cases. So the looks share what is stated: of the chance to be wrong, [`EARLY`] is for the looks before the last, the
//! first of which has half of that, the second a sixth, look `k` one part in `k (k + 1)`, which is all of it for any number of looks; the
//! rest is for the last look, when the budget is spent. Each look has an interval of its own confidence, which is exact for any
//! distribution, so that all of them together hold the truth as often as stated: whoever ends at any of them, for whatever reason, is wrong
//! at most as often. (The union bound; K. K. G. Lan and D. L. DeMets, *Discrete sequential boundaries for clinical trials*, 1983, call it
//! spending.) The last look loses little: its 99 % are 99.2 %, an interval that is 3 % wider.
//!
//! `simulation.rs` tries how often verdicts are wrong.

use picollo_core::{
    BlockComparison, COMPARISON_NOISY, COMPARISON_TOO_FEW, COMPARISON_WITHIN_MARGIN, CompareOptions, Verdict,
    compare_block_ratios, compare_blocks_above,
};

use super::Benchmark;
use crate::base::error::{Error, Result, Status};

/// The part of the chance to be wrong that the looks before the last share.
const EARLY: f64 = 0.2;

/// From one look to the next there are so many times as many blocks.
const GROWTH: f64 = 1.5;

/// No end before this part of the budget: what is fast would be judged by a moment.
const LEAST: u64 = 50;

/// A difference is known well enough where half its interval is at most this part of it.
const KNOWN: f64 = 0.25;

/// Where a precision is asked for, it is met, too, where half the interval is so much of the resolution.
const RESOLUTION_PRECISION: f64 = 0.1;

/// The looks at the blocks.
#[derive(Clone, Copy)]
pub(super) struct Looks {
    /// Of the interval at all looks together.
    confidence: f64,
    /// Whether there is only the last.
    is_one: bool,
    /// Those before the last that were had.
    count: u32,
    /// How many blocks there are at the next.
    next: usize,
}

impl Looks {
    pub(super) fn new(confidence: f64, precision: f64, min_blocks: usize) -> Looks {
        let confidence = if confidence == 0.0 { 0.95 } else { confidence };
        let mut looks = Looks { confidence, is_one: precision < 0.0, count: 0, next: usize::MAX };
        if !looks.is_one {
            // The fewest whose extremes are an interval of this confidence.
            let fewest = 1.0 - (1.0 - looks.of_next()).log2();
            looks.next = min_blocks.max(fewest.ceil() as usize);
        }
        looks
    }

    /// Whether it is time for one, with so many blocks.
    pub(super) fn is_due(&self, blocks: usize) -> bool {
        // A confidence that rounds to 1 is of no interval.
        blocks >= self.next && self.of_next() < 1.0
    }

    /// The confidence of the next look before the last.
    fn of_next(&self) -> f64 {
        let k = f64::from(self.count) + 1.0;
        1.0 - (1.0 - self.confidence) * EARLY / (k * (k + 1.0))
    }

    /// The confidence of the last look.
    pub(super) fn of_last(&self) -> f64 {
        if self.is_one { self.confidence } else { 1.0 - (1.0 - self.confidence) * (1.0 - EARLY) }
    }

    /// A look at so many blocks: its confidence.
    pub(super) fn look(&mut self, blocks: usize) -> f64 {
        let confidence = self.of_next();
        self.count += 1;
        self.next = (blocks as f64 * GROWTH).ceil() as usize;
        confidence
    }
}

impl Benchmark {
    /// A look at the blocks so far, of this confidence.
    pub(super) fn judge(&mut self, look_confidence: f64) -> Result<()> {
        // So that the last blocks lie between two looks, too.
        self.look();
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

    /// Which of the blocks so far were disturbed.
    pub(super) fn find_disturbed(&self, disturbed: &mut Vec<bool>) -> Result<()> {
        let room = self.spans.len().saturating_sub(disturbed.len());
        disturbed.try_reserve(room).map_err(|_| Error::from(Status::OutOfMemory))?;
        disturbed.clear();
        disturbed.extend(self.spans.iter().map(|&span| self.trace.is_disturbed(span)));
        Ok(())
    }

    /// Judges the blocks so far, without those that were disturbed. The scratch grows as it has to.
    pub(super) fn compare(&self, disturbed: &[bool], scratch: &mut Vec<f64>) -> Result<BlockComparison> {
        let options = CompareOptions {
            confidence: self.limits.confidence,
            relative_threshold: self.limits.relative_threshold,
            resolution: self.limits.resolution.unwrap_or_else(|| self.overhead.resolution()),
            look_confidence: self.look_confidence,
            ..CompareOptions::default()
        };
        let overhead = self.overhead.of_blocks();
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
        // Of what is to be sorted, and of the two sides.
        let room = if lost == 0 { length } else { 3 * length };
        scratch
            .try_reserve(room.saturating_sub(scratch.len()))
            .map_err(|_| Error::from(Status::OutOfMemory))?;
        scratch.resize(room, 0.0);
        let (scratch, sides) = scratch.split_at_mut(length);
        let of_all = compare(of_a, of_b, scratch)?;
        if lost == 0 || self.limits.keeps_disturbed {
            return Ok(of_all);
        }
        // All that there is: the disturbance is in both sides, and the interval is as wide as that makes it.
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

    /// Whether a look could end it: looks that cannot would use up the error of those that can.
    pub(super) fn may_look(&self) -> bool {
        self.looks.is_due(self.spans.len()) && self.elapsed() >= self.limits.budget / LEAST
    }

    /// A look before the last: whether the answer can no longer change.
    pub(super) fn look_at_blocks(&mut self) -> Result<bool> {
        let confidence = self.looks.look(self.spans.len());
        self.judge(confidence)?;
        Ok(self.is_enough())
    }

    fn is_enough(&self) -> bool {
        let blocks = &self.judged;
        // Where blocks depend on each other, few may be independent: then the ends of all are the interval of less than was asked for.
        if blocks.coverage < self.look_confidence {
            return false;
        }
        // It may still become quiet.
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
