//! Counts what a thread executed: instructions and cycles in user space, in a separate session.
//!
//! The counters are read when a checkpoint is taken and when a slow observation ends, never on the hot path. The
//! session reports whether the counts between two readings are certain. If not (the counters were multiplexed or
//! reset), the window has a gap, and its counts are unknown.
//!
//! The session belongs to the thread and its process: a forked child forgets it without a system call.

use core::mem::ManuallyDrop;

use super::checkpoints::{Checkpoints, Remembered};
use super::exemplar::{Evidence, KNOWN_COUNTERS};
use picollo_native::Clock;
use picollo_native::seam::kernel::kind;
use picollo_native::seam::thread::process;
use picollo_native::work::add_chain_256;
use picollo_native::{ExplainedError, Result, Status};
use picollo_perf::Event;
use picollo_perf::Session;
use picollo_perf::seam::counts_in_kernel;
use picollo_perf::{READING_RESYNC, READING_SCALED, Reading};
use picollo_perf::{ReadMode, SessionOptions};

/// The kernel's numbers of the two generic events.
const INSTRUCTIONS: u64 = 1;
const CYCLES: u64 = 0;

/// Rounds of measuring the frequency of cycles over these dependent additions: 7 µs at 3.5 GHz. The fastest counts.
const ROUNDS: u32 = 4;
const ADDITIONS: u64 = 25_600;

/// Sums since the counters were opened.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    instructions: u64,
    cycles: u64,
    /// Number of uncertain readings.
    gaps: u64,
}

// SAFETY: all fields are numbers.
unsafe impl Remembered for Counts {}

/// The counters of the calling thread, if it has any.
#[derive(Debug, Default)]
pub(super) struct ThreadCounters {
    opened: Option<Counters>,
    /// Opening is tried once.
    was_refused: bool,
}

#[derive(Debug)]
struct Counters {
    session: ManuallyDrop<Session>,
    /// A reading failed: nothing is known from then on.
    is_lost: bool,
    sums: Counts,
    checkpoints: Box<Checkpoints<Counts>>,
    cycle_hertz: u64,
    process: u32,
}

/// Checks whether counters are available by opening and closing some. This includes the cost of a first session.
pub(super) fn try_opening() -> Result<()> {
    Counters::open().map(drop)
}

impl ThreadCounters {
    /// Opens the counters, unless they are open or were refused. Allocates a few kilobytes. Returns whether it has just
    /// opened them. It reports a refusal once.
    pub(super) fn open(&mut self) -> Result<bool> {
        if self.opened.is_some() || self.was_refused {
            return Ok(false);
        }
        let opened = Counters::open();
        self.was_refused = opened.is_err();
        self.opened = Some(opened?);
        Ok(true)
    }

    /// Whether the counters are open.
    pub(super) fn are_open(&self) -> bool {
        self.opened.is_some()
    }

    /// Reads the counters for a checkpoint.
    pub(super) fn check(&mut self, checkpoint: u64) {
        if let Some(counters) = &mut self.opened {
            let sums = counters.read();
            counters.checkpoints.insert(checkpoint, sums);
        }
    }

    /// Adds what was executed since a checkpoint if that is certain.
    pub(super) fn add_to(&mut self, checkpoint: u64, evidence: &mut Evidence) {
        let Some(counters) = &mut self.opened else { return };
        let now = counters.read();
        let Some((number, before)) = counters.checkpoints.before(checkpoint) else { return };
        if number != checkpoint || before.gaps != now.gaps {
            return;
        }
        let instructions = now.instructions.wrapping_sub(before.instructions);
        let cycles = now.cycles.wrapping_sub(before.cycles);
        // Some virtual machines have counters that do not count.
        if instructions == 0 || cycles == 0 {
            return;
        }
        evidence.known |= KNOWN_COUNTERS;
        (evidence.instructions, evidence.cycles) = (instructions, cycles);
        evidence.cycle_hertz = counters.cycle_hertz;
    }

    /// In a forked child, forgets the parent's counters.
    pub(super) fn forget(&mut self) {
        core::mem::forget(self.opened.take());
        self.was_refused = false;
    }
}

impl Counters {
    fn open() -> Result<Counters> {
        let checkpoints = Checkpoints::new().ok_or(ExplainedError::from(Status::OutOfMemory))?;
        let events = [Event::new(kind::HARDWARE, INSTRUCTIONS), Event::new(kind::HARDWARE, CYCLES)];
        // Nothing is recorded into the histograms of this session.
        let options = SessionOptions { relative_error: 0.1, counter_bits: 32, ..SessionOptions::default() };
        let session = Session::create(&options, &events)?;
        if counts_in_kernel(&session) {
            return Err(ExplainedError::new(
                Status::Unsupported,
                format_args!("this processor's counters do not tell user space from the kernel"),
            ));
        }
        let mut counters = Counters {
            session: ManuallyDrop::new(session),
            is_lost: false,
            sums: Counts::default(),
            checkpoints,
            cycle_hertz: 0,
            process: process(),
        };
        counters.measure_hertz();
        Ok(counters)
    }

    fn read(&mut self) -> Counts {
        let mut readings = [Reading::default(); 2];
        // After a failed reading, the next one would cover a longer time than it seems.
        self.is_lost |= self.session.read(ReadMode::Auto).is_err();
        let is_read = !self.is_lost && self.session.readings(true, &mut readings).is_ok();
        let is_certain =
            |one: &Reading| one.is_counted() && one.flags & (READING_SCALED | READING_RESYNC) == 0;
        match is_read && readings.iter().all(is_certain) {
            true => {
                self.sums.instructions = self.sums.instructions.wrapping_add(readings[0].raw);
                self.sums.cycles = self.sums.cycles.wrapping_add(readings[1].raw);
            }
            false => self.sums.gaps += 1,
        }
        self.sums
    }

    fn measure_hertz(&mut self) {
        for _ in 0..ROUNDS {
            let before = self.read();
            let began = Clock::Tsc.ticks();
            add_chain_256(ADDITIONS / 256);
            let ticks = Clock::Tsc.ticks().saturating_sub(began).max(1);
            let after = self.read();
            if before.gaps == after.gaps {
                let cycles = u128::from(after.cycles.wrapping_sub(before.cycles));
                let hertz = cycles * u128::from(Clock::Tsc.frequency()) / u128::from(ticks);
                self.cycle_hertz = self.cycle_hertz.max(u64::try_from(hertz).unwrap_or(u64::MAX));
            }
        }
    }
}

impl Drop for Counters {
    fn drop(&mut self) {
        if self.process == process() {
            // SAFETY: not used after this. A forked child skips this: its descriptors may be other files.
            unsafe { ManuallyDrop::drop(&mut self.session) };
        }
    }
}
