//! What the blocks so far say: the verdict, of those that count: after the pilot, and not disturbed.

use picollo_core::{BlockComparison, COMPARISON_TOO_FEW, CompareOptions, compare_blocks_above};

use super::Benchmark;
use crate::base::error::{Error, Result, Status};

impl Benchmark {
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

    /// Judges the blocks so far, without the pilot and those that were disturbed. The scratch grows as it has to.
    pub(super) fn compare(&self, disturbed: &[bool], scratch: &mut Vec<f64>) -> Result<BlockComparison> {
        let options = CompareOptions {
            confidence: self.limits.confidence,
            relative_threshold: self.limits.relative_threshold,
            resolution: self.limits.resolution.unwrap_or_else(|| self.overhead.resolution()),
            ..CompareOptions::default()
        };
        let overhead = self.overhead.of_blocks();
        let first = self.pilot_block_count();
        let (of_a, of_b, disturbed) =
            (&self.blocks[0][first..], &self.blocks[1][first..], &disturbed[first..]);
        let length = disturbed.len();
        let lost = disturbed.iter().filter(|&&is| is).count();
        // Of what is to be sorted, and of the two sides.
        let room = if lost == 0 { length } else { 3 * length };
        scratch
            .try_reserve(room.saturating_sub(scratch.len()))
            .map_err(|_| Error::from(Status::OutOfMemory))?;
        scratch.resize(room, 0.0);
        let (scratch, sides) = scratch.split_at_mut(length);
        let of_all = compare_blocks_above(of_a, of_b, &overhead, scratch, &options)?;
        if lost == 0 || self.limits.keeps_disturbed {
            return Ok(of_all);
        }
        if 2 * lost > length {
            return Ok(of_all.unproven());
        }
        let (a, b) = sides.split_at_mut(length);
        for (kept, blocks) in [&mut *a, &mut *b].into_iter().zip([of_a, of_b]) {
            let counting = blocks.iter().zip(disturbed).filter(|(_, is)| !**is).map(|(time, _)| *time);
            kept.iter_mut().zip(counting).for_each(|(slot, time)| *slot = time);
        }
        let kept = length - lost;
        let found = compare_blocks_above(&a[..kept], &b[..kept], &overhead, scratch, &options)?;
        let is_too_few = found.flags & COMPARISON_TOO_FEW != 0 && of_all.flags & COMPARISON_TOO_FEW == 0;
        Ok(if is_too_few { of_all.unproven() } else { found })
    }
}
