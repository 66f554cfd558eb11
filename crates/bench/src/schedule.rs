//! What to run when, and how often.

use super::options::Limits;
use super::{Sample, Side};

/// How far a benchmark is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// A, B and empty samples alternate until both are warm and the number of calls in a sample is found.
    WarmUp,
    /// Empty samples, with as many calls as a sample of A or B.
    Empty,
    /// Blocks, and occasionally an empty sample between two of them.
    Measure,
    End,
}

/// The two orders of a block; in both, a drift affects A and B alike. A coin decides between them: a fixed sequence has
/// a period, which a disturbance may share.
const ORDERS: [[Side; BLOCK]; 2] =
    [[Side::A, Side::B, Side::B, Side::A], [Side::B, Side::A, Side::A, Side::B]];
pub(super) const BLOCK: usize = 4;

/// Maximum number of warm-up samples: code that takes no time never warms up.
const MAX_WARM_UP: usize = 20_000;

/// Maximum number of calls in a sample, for code that takes no time if empty calls take none either.
const MAX_REPETITIONS: u64 = 1 << 40;

/// Blocks from one empty sample to the next.
const EMPTY_EVERY: usize = 5;

/// Costs that differ by less get the same number of calls: the overhead is then the same and cancels exactly.
const UNLIKE: f64 = 4.0;

/// Confirmations for a sample to be long enough. One may be an interruption, unless it was far too long for that.
const CONFIRMED: u32 = 2;
const NO_INTERRUPTION: u64 = 100;

/// The search for the number of calls in a sample.
#[derive(Clone, Copy)]
struct Search {
    repetitions: u64,
    /// How often this number was enough.
    enough: u32,
    /// Picoseconds per call: the minimum of samples that were long enough, or the last sample if all were too short;
    /// infinite before the first.
    cost: f64,
}

pub(super) struct Schedule {
    phase: Phase,
    /// In samples of A and of B that belong to blocks.
    repetitions: [u64; 2],
    is_fixed: bool,
    has_empty: bool,
    /// For A, for B and for empty calls.
    search: [Search; 3],
    /// Picoseconds.
    warmed: u64,
    /// Samples in this phase, without the empty samples between blocks.
    position: usize,
    /// Empty samples since the warm-up.
    empties: usize,
    /// State of the coin's generator.
    coins: u64,
    /// The order of this block.
    order: usize,
}

impl Schedule {
    /// `seed`: of the coin's generator.
    pub(super) fn new(repetitions: u64, has_empty: bool, seed: u64) -> Schedule {
        let is_fixed = repetitions != 0;
        let first = Search { repetitions: repetitions.max(1), enough: 0, cost: f64::INFINITY };
        let mut schedule = Schedule {
            phase: Phase::WarmUp,
            repetitions: [repetitions.max(1); 2],
            is_fixed,
            has_empty,
            search: [first; 3],
            warmed: 0,
            position: 0,
            empties: 0,
            coins: seed,
            order: 0,
        };
        schedule.toss();
        schedule
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    pub(super) fn repetitions(&self) -> [u64; 2] {
        self.repetitions
    }

    /// Whether the next sample belongs to no block, or is the first of one.
    pub(super) fn is_between_blocks(&self) -> bool {
        self.phase != Phase::Measure || self.position.is_multiple_of(BLOCK)
    }

    /// Whether samples of A and of B have the same number of calls.
    pub(super) fn is_alike(&self) -> bool {
        self.repetitions[0] == self.repetitions[1]
    }

    /// Samples in a round of the warm-up. It includes an empty sample only if that helps to find the number of calls.
    fn round(&self) -> usize {
        if self.has_empty && !self.is_fixed { 3 } else { 2 }
    }

    /// The side whose number of calls the next empty sample has; 0 if both have the same.
    pub(super) fn side_of_empty(&self) -> usize {
        if self.is_alike() { 0 } else { self.empties % 2 }
    }

    /// Number of empty samples before the first block: twice as many if the sides have different numbers of calls.
    fn at_start(&self, limits: &Limits) -> usize {
        if self.is_alike() { limits.empty_samples } else { 2 * limits.empty_samples }
    }

    /// Whether an empty sample is due between two blocks.
    fn is_empty_due(&self, limits: &Limits) -> bool {
        let so_far = self.position / (BLOCK * EMPTY_EVERY);
        self.has_empty && self.position.is_multiple_of(BLOCK) && self.empties < self.at_start(limits) + so_far
    }

    /// The sample to run now.
    pub(super) fn step(&self, limits: &Limits) -> Option<Sample> {
        let side = match self.phase {
            Phase::WarmUp => {
                let side = [Side::A, Side::B, Side::Empty][self.position % self.round()];
                return Some(Sample { side, repetitions: self.search[side as usize].repetitions });
            }
            Phase::Empty => Side::Empty,
            Phase::Measure if self.is_empty_due(limits) => Side::Empty,
            Phase::Measure => ORDERS[self.order][self.position % BLOCK],
            Phase::End => return None,
        };
        let of = if side == Side::Empty { self.side_of_empty() } else { side as usize };
        Some(Sample { side, repetitions: self.repetitions[of] })
    }

    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.position = 0;
    }

    /// Handles a warm-up sample that took this long. `is_spent`: the budget is spent.
    pub(super) fn warmed(&mut self, side: Side, picos: u64, limits: &Limits, is_spent: bool) {
        self.warmed = self.warmed.saturating_add(picos);
        self.position += 1;
        if !self.is_fixed {
            self.search[side as usize].add(picos, limits.sample);
        }
        let round = self.round();
        let is_found = self.is_fixed || self.search[..round].iter().all(|search| search.enough >= CONFIRMED);
        let is_warm = self.warmed >= limits.warm_up || self.position >= MAX_WARM_UP;
        // Finishes the round, unless there is no time for that.
        if is_spent || (self.position.is_multiple_of(round) && is_found && is_warm) {
            if !self.is_fixed {
                self.choose(limits.sample as f64);
            }
            self.enter(if self.has_empty { Phase::Empty } else { Phase::Measure });
        }
    }

    /// Chooses the number of calls in a sample.
    fn choose(&mut self, sample: f64) {
        let [a, b, nothing] = self.search.map(|search| search.cost);
        let nothing = if self.has_empty { nothing } else { 0.0 };
        // At least the cost of an empty call, since empty samples have as many calls.
        let (a, b) = (a.max(nothing), b.max(nothing));
        let calls = |cost: f64| ((sample / cost.max(1e-6)) as u64).clamp(1, MAX_REPETITIONS);
        let both = calls((a + b) / 2.0);
        let is_alike = a.max(b) < UNLIKE * a.min(b) || a == b;
        self.repetitions = if is_alike { [both; 2] } else { [calls(a), calls(b)] };
    }

    /// Handles an empty sample.
    pub(super) fn empty_taken(&mut self, limits: &Limits, is_spent: bool) {
        self.empties += 1;
        let least = if self.is_alike() { 1 } else { 2 };
        let enough = if is_spent { least } else { self.at_start(limits) };
        if self.phase == Phase::Empty && self.empties >= enough {
            // Samples that did not fit in the budget are not made up for later.
            self.empties = self.empties.max(self.at_start(limits));
            self.enter(Phase::Measure);
        }
    }

    /// Handles a sample of a block, and returns its position in the block.
    pub(super) fn taken(&mut self) -> usize {
        self.position += 1;
        if self.position.is_multiple_of(BLOCK) {
            self.toss();
        }
        (self.position - 1) % BLOCK
    }

    /// Tosses the coin for a block.
    fn toss(&mut self) {
        self.order = (next_random(&mut self.coins) >> 63) as usize;
    }

    /// Restarts the first block with one call per sample because the budget is spent. Returns false if it was so
    /// already.
    pub(super) fn shorten(&mut self) -> bool {
        if self.is_fixed || self.repetitions == [1; 2] {
            return false;
        }
        self.repetitions = [1; 2];
        self.position = 0;
        true
    }

    pub(super) fn end(&mut self) {
        self.enter(Phase::End);
    }
}

/// S. Vigna's SplitMix64; similar seeds do no harm.
pub(super) fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

impl Search {
    /// Handles a sample that took `picos` and should have taken `wanted`.
    fn add(&mut self, picos: u64, wanted: u64) {
        let cost = picos as f64 / self.repetitions as f64;
        if picos >= wanted / 2 || self.repetitions >= MAX_REPETITIONS {
            let is_sure = picos / NO_INTERRUPTION >= wanted || self.repetitions >= MAX_REPETITIONS;
            self.cost = if self.enough == 0 { cost } else { self.cost.min(cost) };
            self.enough = if is_sure { CONFIRMED } else { self.enough.saturating_add(1) };
            return;
        }
        // An interruption may have made a shorter sample look long enough.
        self.enough = 0;
        self.cost = cost;
        // Approaches the target, but not too fast: short samples are mostly noise.
        let factor = (wanted as f64 / picos.max(1) as f64).clamp(2.0, 10.0);
        self.repetitions = ((self.repetitions as f64 * factor) as u64).min(MAX_REPETITIONS);
    }
}
