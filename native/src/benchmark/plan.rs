//! What of a benchmark is counted under Valgrind, one sample after the other, and how the command learns of it.

use core::ffi::{CStr, c_char};
use core::fmt::{self, Write};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::OnceLock;

use super::options::Limits;
use super::{BLOCK, Side, Step};
use crate::base::text;
use crate::clock::unix_nanos;
use crate::os::valgrind;

/// How many blocks are to be counted: set by the command.
const BLOCKS: &str = "PICOLLO_COUNT_BLOCKS";
/// How many calls a sample is to have; without it as many as there is time for.
const CALLS: &str = "PICOLLO_COUNT_CALLS";

/// Blocks of a process at most: each has twelve files.
const MAX_BLOCKS: u32 = 1000;
const MAX_CALLS: u64 = 1_000_000;

/// Empty samples before all others: an interpreter tries now and then to make a faster form of what surrounds the calls, after twice as many
/// samples each time.
const EMPTY: u32 = 600;

/// Calls in samples of the warm-up, one after the other until a sample takes long; as many more than one there are then in a sample.
const SIZES: [u64; 3] = [1, 10, 100];
/// Picoseconds under Valgrind.
const LONG: u64 = 50_000_000_000;

/// Bytes of a title, or of a name, in the name of a file.
const NAME: usize = 120;

/// The benchmark whose sample is collected now, 0 for none. There is one at a time, since files have what all threads collected.
static OPEN: AtomicU64 = AtomicU64::new(0);
static NUMBERS: AtomicU64 = AtomicU64::new(1);
static BLOCKS_BEGUN: AtomicU32 = AtomicU32::new(0);
/// Samples that should have been counted, and were not.
static LOST: AtomicU32 = AtomicU32::new(0);

/// What is counted, one sample after the other.
pub(super) struct Plan {
    number: u64,
    blocks: u32,
    has_empty: bool,
    /// Calls in a sample: of few, and of more. The same where the program, or the user, gave them.
    calls: [u64; 2],
    /// Nobody has to find out how many there are.
    is_given: bool,
    stage: Stage,
    sample: Sample,
    /// This sample was collected.
    is_collected: bool,
    /// The block is over the limit of a process.
    is_over: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// Empty samples of one call, of which so many are left.
    Empty {
        left: u32,
    },
    /// Samples of growing size, and the longest of this one so far, in picoseconds.
    WarmUp {
        size: usize,
        at: usize,
        longest: u64,
    },
    /// Blocks from 0 on, which is a rehearsal.
    Block {
        block: u32,
        at: usize,
    },
    End,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sample {
    Closed,
    /// On this thread.
    Open {
        thread: u64,
        is_counted: bool,
    },
}

impl Plan {
    pub(super) fn of(limits: &mut Limits) -> Option<Plan> {
        let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok().filter(|&number| number > 0);
        let blocks = number(BLOCKS)?.min(u64::from(MAX_BLOCKS)) as u32;
        // Neither time nor precision ends it.
        limits.budget = u64::MAX;
        limits.precision = -1.0;
        // Each is two of those that are timed: one for either order.
        limits.min_blocks = 2 * blocks as usize;
        limits.max_blocks = 2 * blocks as usize;
        let has_empty = limits.empty_samples != 0;
        let plan = Plan::new(
            NUMBERS.fetch_add(1, Ordering::Relaxed),
            blocks,
            has_empty,
            limits.repetitions,
            number(CALLS),
        );
        plan.mark(format_args!("begin"));
        Some(plan)
    }

    /// `fixed`: how many calls the program says that a sample has, or 0. `asked`: how many the user says.
    fn new(number: u64, blocks: u32, has_empty: bool, fixed: u64, asked: Option<u64>) -> Plan {
        let asked = asked.map(|calls| calls.min(MAX_CALLS));
        let calls = if fixed == 0 { asked.map_or([1, 2], |calls| [1, 1 + calls]) } else { [fixed; 2] };
        let stage = match (has_empty, fixed, asked) {
            (true, ..) => Stage::Empty { left: EMPTY },
            (false, 0, None) => Stage::WarmUp { size: 0, at: 0, longest: 0 },
            _ => Stage::Block { block: 0, at: 0 },
        };
        Plan {
            number,
            blocks,
            has_empty,
            calls,
            is_given: fixed != 0 || asked.is_some(),
            stage,
            sample: Sample::Closed,
            is_collected: false,
            is_over: false,
        }
    }

    /// The samples of a block: both orders, so that each side is once where the other is. (What an interpreter does beside a call depends on
    /// what it did before.)
    fn of_block(&self, at: usize) -> Option<Step> {
        let round = if self.has_empty { 6 } else { 4 };
        let [first, second] = match at / round {
            0 => [Side::A, Side::B],
            1 => [Side::B, Side::A],
            _ => return None,
        };
        let sides = [Side::Empty, first, second, second, first, Side::Empty];
        let in_round = at % round + usize::from(!self.has_empty);
        Some(Step { side: sides[in_round], repetitions: self.calls[usize::from(in_round >= 3)] })
    }

    /// What to run now, if anything.
    fn now(&self) -> Option<Step> {
        match self.stage {
            Stage::Empty { .. } => Some(Step { side: Side::Empty, repetitions: 1 }),
            Stage::WarmUp { size, at, .. } => {
                Some(Step { side: [Side::A, Side::B, Side::Empty][at], repetitions: SIZES[size] })
            }
            Stage::Block { at, .. } => self.of_block(at),
            Stage::End => None,
        }
    }

    pub(super) fn step(&mut self) -> Option<Step> {
        // What was begun and is not done is forgotten.
        self.stop();
        self.now()
    }

    /// Calls in samples that are judged.
    pub(super) fn calls(&self) -> u64 {
        self.calls[1]
    }

    pub(super) fn has_ended(&self) -> bool {
        self.stage == Stage::End
    }

    fn is_counted(&self) -> bool {
        matches!(self.stage, Stage::Block { block: 1.., .. })
    }

    #[inline(always)]
    pub(super) fn start(&mut self) {
        self.is_collected = false;
        // Those of the warm-up, too, so that a benchmark that runs in a sample finds always the same.
        if OPEN.compare_exchange(0, self.number, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            return;
        }
        let is_counted = self.is_counted() && !self.is_over;
        self.sample = Sample::Open { thread: valgrind::thread(), is_counted };
        if is_counted {
            valgrind::zero();
            valgrind::toggle();
        }
    }

    #[inline(always)]
    pub(super) fn stop(&mut self) {
        // On another thread it could not be stopped, but only begun there.
        let Sample::Open { thread, is_counted } = self.sample else { return };
        if thread == valgrind::thread() {
            if is_counted {
                valgrind::toggle();
            }
            OPEN.store(0, Ordering::Relaxed);
            self.sample = Sample::Closed;
            self.is_collected = is_counted;
        }
    }

    /// The sample is over. The position in its block, where it has one and is no call of nothing.
    pub(super) fn taken(&mut self, picos: u64) -> Option<usize> {
        self.stop();
        let step = self.now()?;
        match &mut self.stage {
            Stage::Empty { left: left @ 2.. } => {
                *left -= 1;
                None
            }
            Stage::Empty { .. } => {
                self.stage = match self.is_given {
                    true => Stage::Block { block: 0, at: 0 },
                    false => Stage::WarmUp { size: 0, at: 0, longest: 0 },
                };
                None
            }
            Stage::WarmUp { size, at, longest } => {
                *longest = picos.max(*longest);
                *at += 1;
                if *at == if self.has_empty { 3 } else { 2 } {
                    let is_enough = *longest >= LONG || *size + 1 == SIZES.len();
                    if is_enough {
                        self.calls = [1, 1 + SIZES[*size]];
                        self.stage = Stage::Block { block: 0, at: 0 };
                    } else {
                        (*size, *at, *longest) = (*size + 1, 0, 0);
                    }
                }
                None
            }
            &mut Stage::Block { block, at } => {
                if block > 0 {
                    self.tell(step, block, at);
                }
                self.stage = if self.of_block(at + 1).is_some() {
                    Stage::Block { block, at: at + 1 }
                } else if block < self.blocks && !self.is_over {
                    self.is_over = BLOCKS_BEGUN.fetch_add(1, Ordering::Relaxed) >= MAX_BLOCKS;
                    Stage::Block { block: block + 1, at: 0 }
                } else {
                    Stage::End
                };
                if self.stage == Stage::End {
                    self.mark(format_args!("end"));
                }
                let in_block = if self.has_empty { (at % 6).wrapping_sub(1) } else { at % BLOCK };
                (block > 0 && step.side != Side::Empty).then_some(in_block)
            }
            Stage::End => None,
        }
    }

    /// Writes what was collected of a sample.
    fn tell(&self, step: Step, block: u32, at: usize) {
        if self.is_over {
            if at == 0 {
                self.mark(format_args!("over"));
            }
        } else if self.is_collected {
            let side = ["a", "b", "empty"][step.side as usize];
            self.mark(format_args!("sample {block} {side} {}", step.repetitions));
        } else {
            LOST.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Writes what was collected, if anything, to a file: `picollo 1 PROCESS BENCHMARK LOST WHAT`. The process is the time at which its first
    /// benchmark began, since programs that follow each other in a process have the same number; LOST is how many samples have not been
    /// counted so far.
    ///
    /// Not while a sample of another benchmark is being collected: it would be torn in two.
    pub(super) fn mark(&self, what: fmt::Arguments<'_>) {
        static PROCESS: OnceLock<u64> = OnceLock::new();
        if OPEN.load(Ordering::Relaxed) != 0 {
            return;
        }
        let process = PROCESS.get_or_init(unix_nanos);
        let lost = LOST.load(Ordering::Relaxed);
        let mut name = [0 as c_char; 512];
        text::set(&mut name, format_args!("picollo 1 {process} {} {lost} {what}", self.number));
        // SAFETY: the writer ends its text with a NUL, within the buffer, which outlives the call.
        valgrind::dump(unsafe { CStr::from_ptr(name.as_ptr()) });
    }
}

impl Drop for Plan {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A title or a name, on one line and without the tabulators that part them.
pub(super) struct Name<'a>(pub(super) &'a str);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut room = NAME;
        for character in self.0.chars() {
            room = match room.checked_sub(character.len_utf8()) {
                Some(room) => room,
                None => break,
            };
            f.write_char(if character.is_control() { ' ' } else { character })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The samples of a plan, with what each takes.
    fn steps(plan: &mut Plan, time: impl Fn(Step) -> u64) -> Vec<(char, u64)> {
        let mut steps = Vec::new();
        while let Some(step) = plan.step() {
            steps.push((['A', 'B', 'e'][step.side as usize], step.repetitions));
            plan.start();
            plan.taken(time(step));
            assert!(steps.len() < 10_000);
        }
        assert_eq!((plan.step(), plan.stage), (None, Stage::End));
        steps
    }

    /// Without the empty samples that come first.
    fn told(steps: &[(char, u64)]) -> String {
        let first =
            steps.iter().take_while(|step| **step == ('e', 1)).count() / EMPTY as usize * EMPTY as usize;
        steps[first..]
            .iter()
            .map(|(side, calls)| format!("{side}{calls} "))
            .collect::<String>()
            .trim_end()
            .to_owned()
    }

    #[test]
    fn what_is_run_when() {
        let mut plan = Plan::new(1, 2, true, 0, None);
        assert_eq!(
            told(&steps(&mut plan, |_| 1000)),
            "A1 B1 e1 A10 B10 e10 A100 B100 e100 \
             e1 A1 B1 B101 A101 e101 e1 B1 A1 A101 B101 e101 e1 A1 B1 B101 A101 e101 e1 B1 A1 A101 B101 e101 \
             e1 A1 B1 B101 A101 e101 e1 B1 A1 A101 B101 e101"
        );
        // Long calls are not called often, whichever of the two is long.
        for (a, b, calls) in [(1, 1, 101), (LONG, 1, 2), (1, LONG, 2), (LONG / 10, 1, 11), (1, LONG / 9, 11)]
        {
            let mut plan = Plan::new(1, 1, true, 0, None);
            steps(&mut plan, |step| step.repetitions * [a, b, 0][step.side as usize]);
            assert_eq!(plan.calls, [1, calls], "{a} {b}");
        }
        let told = |empty, fixed, asked| told(&steps(&mut Plan::new(1, 1, empty, fixed, asked), |_| 1000));
        assert_eq!(told(false, 0, Some(7)), "A1 B1 B8 A8 B1 A1 A8 B8 A1 B1 B8 A8 B1 A1 A8 B8");
        // A program's own number is its number.
        assert_eq!(told(true, 3, None), told(true, 3, Some(9)));
        assert_eq!(
            told(true, 3, None),
            "e3 A3 B3 B3 A3 e3 e3 B3 A3 A3 B3 e3 e3 A3 B3 B3 A3 e3 e3 B3 A3 A3 B3 e3"
        );
        assert!(told(false, 0, Some(u64::MAX)).contains("A1000001"));
    }

    #[test]
    fn samples_that_are_judged_have_a_place_in_their_block() {
        for has_empty in [false, true] {
            let mut plan = Plan::new(1, 2, has_empty, 5, None);
            let mut places = Vec::new();
            while plan.step().is_some() {
                places.push(plan.taken(1));
            }
            let of_block: Vec<Option<usize>> = match has_empty {
                true => [None, Some(0), Some(1), Some(2), Some(3), None].repeat(2),
                false => [0, 1, 2, 3].map(Some).repeat(2),
            };
            let first = vec![None; of_block.len() + if has_empty { EMPTY as usize } else { 0 }];
            assert_eq!(places, [first, of_block.clone(), of_block].concat());
        }
    }

    #[test]
    fn names_are_one_line_and_end() {
        assert_eq!(Name("a\tb\nc").to_string(), "a b c");
        assert_eq!(Name(&"ä".repeat(500)).to_string(), "ä".repeat(60));
    }
}
