//! What to run when, and how often.

use super::options::Limits;
use super::{Side, Step};

/// How far a benchmark is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// A, B and nothing in turns, until they are warm and the number of calls in a sample is found.
    WarmUp,
    /// Nothing, as often as a sample calls A or B.
    Empty,
    /// Blocks, and now and then nothing between two of them.
    Measure,
    End,
}

/// The two orders of a block, in either of which a drift falls on both sides alike. A coin decides between them: a fixed sequence has a
/// period, and so may what disturbs.
const ORDERS: [[Side; BLOCK]; 2] =
    [[Side::A, Side::B, Side::B, Side::A], [Side::B, Side::A, Side::A, Side::B]];
pub(super) const BLOCK: usize = 4;

/// Samples of the warm-up at most: what takes no time never warms up.
const MAX_WARM_UP: usize = 20_000;

/// Calls in a sample at most: of what takes no time, where nothing takes none either.
const MAX_REPETITIONS: u64 = 1 << 40;

/// Blocks from one empty sample to the next.
const EMPTY_EVERY: usize = 5;

/// Costs that differ by less get the same number of calls, for then the overhead is the same and cancels exactly.
const UNLIKE: f64 = 4.0;

/// A sample is long enough when that was seen so often: once may have been an interruption, unless it took far too long for one.
const CONFIRMED: u32 = 2;
const NO_INTERRUPTION: u64 = 100;

/// How many calls of something make a sample, as far as is known.
#[derive(Clone, Copy)]
struct Search {
    repetitions: u64,
    /// How often this number was enough.
    enough: u32,
    /// Picoseconds a call: the least of samples that were long enough, or of the last one where none was; infinite before there
    /// was one.
    cost: f64,
}

pub(super) struct Schedule {
    phase: Phase,
    /// In samples of A and of B that count.
    repetitions: [u64; 2],
    is_fixed: bool,
    has_empty: bool,
    /// Of A, of B and of nothing.
    search: [Search; 3],
    /// Picoseconds.
    warmed: u64,
    /// In this phase, without the empty samples between blocks.
    position: usize,
    /// Empty samples since the warm-up.
    empties: usize,
    /// Where the coins are in their sequence (S. Vigna's SplitMix64).
    coins: u64,
    /// The order of this block.
    order: usize,
}

impl Schedule {
    /// `seed`: of the coins.
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

    /// Whether what comes next belongs to no block, or is the first of one.
    pub(super) fn is_between_blocks(&self) -> bool {
        self.phase != Phase::Measure || self.position.is_multiple_of(BLOCK)
    }

    /// Whether samples of A and of B have the same number of calls.
    pub(super) fn is_alike(&self) -> bool {
        self.repetitions[0] == self.repetitions[1]
    }

    /// Samples in a round of the warm-up. Where there is nothing to be found out of it, nothing is not warmed up.
    fn round(&self) -> usize {
        if self.has_empty && !self.is_fixed { 3 } else { 2 }
    }

    /// Whose number of calls the empty sample that is due has: where they are the same, it is both's.
    pub(super) fn empty_of(&self) -> usize {
        if self.is_alike() { 0 } else { self.empties % 2 }
    }

    /// Empty samples before the first block: as many again for a second number of calls.
    fn at_start(&self, limits: &Limits) -> usize {
        if self.is_alike() { limits.empty_samples } else { 2 * limits.empty_samples }
    }

    /// Whether an empty sample is due between two blocks.
    fn is_empty_due(&self, limits: &Limits) -> bool {
        let so_far = self.position / (BLOCK * EMPTY_EVERY);
        self.has_empty && self.position.is_multiple_of(BLOCK) && self.empties < self.at_start(limits) + so_far
    }

    /// What to run now.
    pub(super) fn step(&self, limits: &Limits) -> Option<Step> {
        let side = match self.phase {
            Phase::WarmUp => {
                let side = [Side::A, Side::B, Side::Empty][self.position % self.round()];
                return Some(Step { side, repetitions: self.search[side as usize].repetitions });
            }
            Phase::Empty => Side::Empty,
            Phase::Measure if self.is_empty_due(limits) => Side::Empty,
            Phase::Measure => ORDERS[self.order][self.position % BLOCK],
            Phase::End => return None,
        };
        let of = if side == Side::Empty { self.empty_of() } else { side as usize };
        Some(Step { side, repetitions: self.repetitions[of] })
    }

    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.position = 0;
    }

    /// A sample of the warm-up took so long. `is_spent`: so did all of the budget.
    pub(super) fn warmed(&mut self, side: Side, picos: u64, limits: &Limits, is_spent: bool) {
        self.warmed = self.warmed.saturating_add(picos);
        self.position += 1;
        if !self.is_fixed {
            self.search[side as usize].look(picos, limits.sample);
        }
        let round = self.round();
        let is_found = self.is_fixed || self.search[..round].iter().all(|search| search.enough >= CONFIRMED);
        let is_warm = self.warmed >= limits.warm_up || self.position >= MAX_WARM_UP;
        // Whole rounds, unless there is no time for that.
        if is_spent || (self.position.is_multiple_of(round) && is_found && is_warm) {
            if !self.is_fixed {
                self.choose(limits.sample as f64);
            }
            self.enter(if self.has_empty { Phase::Empty } else { Phase::Measure });
        }
    }

    /// How many calls a sample has.
    fn choose(&mut self, sample: f64) {
        let [a, b, nothing] = self.search.map(|search| search.cost);
        let nothing = if self.has_empty { nothing } else { 0.0 };
        // Not less than a call of nothing, of which there are samples too.
        let (a, b) = (a.max(nothing), b.max(nothing));
        let calls = |cost: f64| ((sample / cost.max(1e-6)) as u64).clamp(1, MAX_REPETITIONS);
        let both = calls((a + b) / 2.0);
        let is_alike = a.max(b) < UNLIKE * a.min(b) || a == b;
        self.repetitions = if is_alike { [both; 2] } else { [calls(a), calls(b)] };
    }

    /// An empty sample was taken.
    pub(super) fn empty_taken(&mut self, limits: &Limits, is_spent: bool) {
        self.empties += 1;
        let least = if self.is_alike() { 1 } else { 2 };
        let enough = if is_spent { least } else { self.at_start(limits) };
        if self.phase == Phase::Empty && self.empties >= enough {
            // What the budget had no time for is not made up for later.
            self.empties = self.empties.max(self.at_start(limits));
            self.enter(Phase::Measure);
        }
    }

    /// A sample that counts was taken; returns where in its block.
    pub(super) fn taken(&mut self) -> usize {
        self.position += 1;
        if self.position.is_multiple_of(BLOCK) {
            self.toss();
        }
        (self.position - 1) % BLOCK
    }

    /// Tosses the coin for a block.
    fn toss(&mut self) {
        self.coins = self.coins.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.coins;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        self.order = ((mixed ^ (mixed >> 31)) >> 63) as usize;
    }

    /// The budget is spent and not one block is measured: the first one anew, of one call a sample. False where it is that already.
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

impl Search {
    /// A sample took so long, and should have taken `wanted`.
    fn look(&mut self, picos: u64, wanted: u64) {
        let cost = picos as f64 / self.repetitions as f64;
        if picos >= wanted / 2 || self.repetitions >= MAX_REPETITIONS {
            let is_sure = picos / NO_INTERRUPTION >= wanted || self.repetitions >= MAX_REPETITIONS;
            self.cost = if self.enough == 0 { cost } else { self.cost.min(cost) };
            self.enough = if is_sure { CONFIRMED } else { self.enough.saturating_add(1) };
            return;
        }
        // Also where an interruption had made a shorter one look long enough.
        self.enough = 0;
        self.cost = cost;
        // Towards the target, but not too fast: short samples are mostly noise.
        let factor = (wanted as f64 / picos.max(1) as f64).clamp(2.0, 10.0);
        self.repetitions = ((self.repetitions as f64 * factor) as u64).min(MAX_REPETITIONS);
    }
}
