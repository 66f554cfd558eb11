//! What the blocks so far say: the verdict, of those that count.

use picollo_core::{
    BlockComparison, COMPARISON_NOISY, COMPARISON_TOO_FEW, CompareOptions, compare_blocks_above,
};

use super::Benchmark;
use crate::base::error::{Error, Result, Status};

/// It is precise enough, too, where half the interval is so much of the resolution.
const RESOLUTION_PRECISION: f64 = 0.1;

impl Benchmark {
    /// Whether the difference is known well enough.
    pub(super) fn is_precise(&self) -> bool {
        let BlockComparison { difference_lower, difference_upper, median_a, resolution, .. } = self.judged;
        let enough = (self.limits.precision * median_a.max(0.0)).max(resolution * RESOLUTION_PRECISION);
        // Where it is too noisy, it may still become quiet.
        let is_enough = self.judged.block_count >= self.limits.min_blocks as u64
            && self.judged.flags & COMPARISON_NOISY == 0;
        is_enough && self.limits.precision >= 0.0 && (difference_upper - difference_lower) / 2.0 <= enough
    }

    pub(super) fn judge(&mut self) -> Result<()> {
        // So that the last blocks lie between two looks, too.
        self.look();
        self.overhead.settle(self.schedule.repetitions());
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
            ..CompareOptions::default()
        };
        let overhead = self.overhead.of_blocks();
        let length = disturbed.len();
        let lost = disturbed.iter().filter(|&&is| is).count();
        // Of what is to be sorted, and of the two sides.
        let room = if lost == 0 { length } else { 3 * length };
        scratch
            .try_reserve(room.saturating_sub(scratch.len()))
            .map_err(|_| Error::from(Status::OutOfMemory))?;
        scratch.resize(room, 0.0);
        let (scratch, sides) = scratch.split_at_mut(length);
        let of_all = compare_blocks_above(&self.blocks[0], &self.blocks[1], &overhead, scratch, &options)?;
        if lost == 0 || self.limits.keeps_disturbed {
            return Ok(of_all);
        }
        if 2 * lost > length {
            return Ok(of_all.unproven());
        }
        let (a, b) = sides.split_at_mut(length);
        for (kept, blocks) in [&mut *a, &mut *b].into_iter().zip(&self.blocks) {
            let counting = blocks.iter().zip(disturbed).filter(|(_, is)| !**is).map(|(time, _)| *time);
            kept.iter_mut().zip(counting).for_each(|(slot, time)| *slot = time);
        }
        let kept = length - lost;
        let found = compare_blocks_above(&a[..kept], &b[..kept], &overhead, scratch, &options)?;
        let is_too_few = found.flags & COMPARISON_TOO_FEW != 0 && of_all.flags & COMPARISON_TOO_FEW == 0;
        Ok(if is_too_few { of_all.unproven() } else { found })
    }
}
