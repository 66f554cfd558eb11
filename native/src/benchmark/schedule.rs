//! What to run when.

use super::options::Limits;
use super::{Side, Step};

/// How far a benchmark is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// A and B in turns, until they are warm and the number of calls in a sample is found.
    WarmUp,
    /// Nothing, as often as a sample of A and then of B calls it.
    Empty,
    /// Blocks.
    Measure,
    End,
}

/// One block after the other: the two orders in turns, so that neither side is always in the middle.
const ORDER: [Side; 8] = [Side::A, Side::B, Side::B, Side::A, Side::B, Side::A, Side::A, Side::B];
const BLOCK: usize = 4;

/// Samples of the warm-up at most: what takes no time never warms up.
const MAX_WARM_UP: usize = 20_000;

pub(super) struct Schedule {
    phase: Phase,
    repetitions: [u64; 2],
    is_fixed: bool,
    /// Whose samples are long enough.
    found: [bool; 2],
    /// Picoseconds.
    warmed: u64,
    /// In this phase.
    position: usize,
}

impl Schedule {
    pub(super) fn new(repetitions: u64) -> Schedule {
        let is_fixed = repetitions != 0;
        Schedule {
            phase: Phase::WarmUp,
            repetitions: [repetitions.max(1); 2],
            is_fixed,
            found: [is_fixed; 2],
            warmed: 0,
            position: 0,
        }
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    pub(super) fn repetitions(&self) -> [u64; 2] {
        self.repetitions
    }

    /// What to run now.
    pub(super) fn step(&self, empty_samples: usize) -> Option<Step> {
        let (side, of) = match self.phase {
            Phase::WarmUp if self.position.is_multiple_of(2) => (Side::A, 0),
            Phase::WarmUp => (Side::B, 1),
            Phase::Empty => (Side::Empty, (self.position / empty_samples.max(1)).min(1)),
            Phase::Measure => {
                let side = ORDER[self.position % ORDER.len()];
                (side, side as usize % 2)
            }
            Phase::End => return None,
        };
        Some(Step { side, repetitions: self.repetitions[of] })
    }

    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.position = 0;
    }

    /// A sample of the warm-up took so long.
    pub(super) fn warmed(&mut self, side: Side, picos: u64, limits: &Limits) {
        let at = side as usize % 2;
        self.warmed = self.warmed.saturating_add(picos);
        self.position += 1;
        if !self.found[at] {
            let repetitions = self.repetitions[at];
            if picos >= limits.sample / 2 {
                self.found[at] = true;
            } else {
                // Towards the target, but not too fast: short samples are mostly noise.
                let wanted = limits.sample as f64 / picos.max(1) as f64;
                let factor = wanted.clamp(2.0, 10.0);
                self.repetitions[at] = (repetitions as f64 * factor) as u64;
                // An empty function that was optimised away never takes long enough.
                self.found[at] = self.repetitions[at] >= 1 << 40;
            }
        }
        let is_warm = self.warmed >= limits.warm_up || self.position >= MAX_WARM_UP;
        // Whole rounds.
        if self.position.is_multiple_of(2) && self.found == [true; 2] && is_warm {
            self.enter(if limits.empty_samples == 0 { Phase::Empty.after() } else { Phase::Empty });
        }
        debug_assert!(!self.is_fixed || self.found == [true; 2]);
    }

    /// An empty sample was taken; tells for which side it was the last.
    pub(super) fn empty_taken(&mut self, samples: usize) -> Option<Side> {
        self.position += 1;
        if self.position == samples {
            return Some(Side::A);
        }
        if self.position >= 2 * samples {
            self.enter(Phase::Measure);
            return Some(Side::B);
        }
        None
    }

    /// A sample that counts was taken; tells whether it was the last of its block.
    pub(super) fn taken(&mut self) -> bool {
        self.position += 1;
        self.position.is_multiple_of(BLOCK)
    }

    pub(super) fn end(&mut self) {
        self.enter(Phase::End);
    }
}

impl Phase {
    fn after(self) -> Phase {
        match self {
            Phase::WarmUp => Phase::Empty,
            Phase::Empty => Phase::Measure,
            Phase::Measure | Phase::End => Phase::End,
        }
    }
}
