//! When to end: a pilot tells how many blocks it takes, and those after it are judged.
//!
//! An interval that is looked at again and again until it is narrow misses the truth more often than it says: where few differences happen
//! to lie close together, they may lie close together in the wrong place. So what decides how many blocks there are is not what is judged.
//! From the width of the pilot's interval follows how many blocks give one that is narrow enough, as in C. Stein, *A two-sample test for a
//! linear hypothesis whose power is independent of the variance*, 1945; as many are measured then, come what may, and those alone are
//! judged. Their number does not depend on them, so their interval is what that of any fixed number of blocks is, whatever times are
//! distributed like.
//!
//! Where the budget, or the most blocks that there may be, leave no room for that, there is no pilot: all that was measured is judged at
//! the end. So a benchmark that spends its budget loses nothing.
//!
//! `stopping_simulation.rs` tries how often verdicts are wrong.

use picollo_core::{BlockComparison, COMPARISON_NOISY};

use super::Benchmark;

/// It is precise enough, too, where half the interval is so much of the resolution.
const RESOLUTION_PRECISION: f64 = 0.1;

/// The pilot ends where half its interval is at most so many times what is enough: a sixth of all blocks are the pilot's then.
const PILOT: f64 = 2.0;

/// So many more than the pilot's width asks for: that width is a guess, and rather low, having been waited for.
const SPARE: f64 = 1.25;

/// What is to come may take so many times as long as what was, and still has room in the budget.
const ROOM: f64 = 2.0;

/// How far it is with ending by itself.
#[derive(Clone, Copy, Default)]
pub(super) struct Stopping {
    /// Blocks of the pilot; 0 before it has ended.
    pilot: usize,
    /// Blocks after it that have to count.
    planned: usize,
}

impl Stopping {
    /// How many blocks there will be, disturbed ones apart, if that is known.
    pub(super) fn all(&self) -> Option<usize> {
        (self.pilot > 0).then_some(self.pilot + self.planned)
    }
}

impl Benchmark {
    /// How many blocks only told how many it takes: the first of [`Benchmark::blocks`], which are not judged. 0 where all are judged: where
    /// it has not come so far, or the budget was spent first.
    pub fn pilot_block_count(&self) -> usize {
        // Too few would say less than all, should something have taken the time that there was.
        let judged = self.spans.len() - self.stopping.pilot;
        if judged >= self.limits.min_blocks { self.stopping.pilot } else { 0 }
    }

    /// After a judgement of the blocks so far: whether it can end. If not, when to judge again.
    pub(super) fn is_enough(&mut self) -> bool {
        let length = self.spans.len();
        // Not after each: sorting would take as long as measuring.
        self.next_check = length + (length / 8).max(1);
        // Where it is too noisy, it may still become quiet.
        if self.judged.flags & COMPARISON_NOISY != 0 {
            return false;
        }
        if self.stopping.pilot != 0 {
            return self.judged.block_count >= self.stopping.planned as u64;
        }
        if let Some(planned) = self.plan() {
            self.stopping = Stopping { pilot: length, planned };
            self.next_check = length + planned;
        }
        false
    }

    /// How many blocks after those so far are enough, where these tell that, and where there is room for them.
    fn plan(&self) -> Option<usize> {
        let BlockComparison { difference_lower, difference_upper, median_a, resolution, block_count, .. } =
            self.judged;
        let enough = (self.limits.precision * median_a.max(0.0)).max(resolution * RESOLUTION_PRECISION);
        let half = (difference_upper - difference_lower) / 2.0;
        if self.limits.precision < 0.0 || block_count < self.limits.min_blocks as u64 || half > PILOT * enough
        {
            return None;
        }
        // Widths go with the root of the number. Equal differences have none.
        let ratio = if half > 0.0 { half / enough } else { 0.0 };
        let planned = (SPARE * block_count as f64 * ratio * ratio).ceil() as usize;
        let planned = planned.max(self.limits.min_blocks);
        let length = self.spans.len();
        // With what comes between blocks, and without the warm-up.
        let (began, now) = (self.spans[0].0, self.elapsed());
        let a_block = now.saturating_sub(began) as f64 / length as f64;
        let left = self.limits.budget.saturating_sub(now);
        let has_room =
            length + planned <= self.limits.max_blocks && ROOM * planned as f64 * a_block <= left as f64;
        has_room.then_some(planned)
    }
}
