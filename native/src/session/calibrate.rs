//! Measuring what reading costs.

use crate::base::error::{Error, Result, Status};
use crate::event::event::MAX_EVENTS;
use crate::session::options::ReadMode;
use crate::session::overhead::{LEAST, Overhead};
use crate::session::reading::{READING_CLEAN, READING_FAST, READING_TIMES_STALE};
use crate::session::samples::Samples;
use crate::session::session::Session;
use crate::user_read::sys::Sys;

/// Reads that warm caches and branch predictors before anything is kept.
const WARM_UP: usize = 100;
/// Pairs that are kept.
const PAIRS: usize = 10 * LEAST;

impl<S: Sys> Session<S> {
    /// Measures the overhead of a pair of reads for every event and each way of reading, and notes it in the infos: the tenth
    /// percentile of a thousand back-to-back pairs, leaving out those in which the event was not on the PMU throughout. Values
    /// and bases of the session stay as they are, as if no time had passed. Takes some milliseconds; a stopped session is started
    /// for it and stopped again.
    ///
    /// Errors: `Unsupported` where another thread or a CPU is counted, which reading does not slow down; `WrongThread` elsewhere
    /// than on the opening thread.
    pub fn calibrate(&mut self) -> Result<()> {
        self.calibrate_through(Session::read)
    }

    /// [`Session::calibrate`] through another entry point than [`Session::read`], such as an exported one, whose cost then is in
    /// the overhead.
    pub fn calibrate_through(
        &mut self,
        read: impl Fn(&mut Session<S>, ReadMode) -> Result<()>,
    ) -> Result<()> {
        self.check()?;
        if !self.counts_opener() {
            let why = format_args!(
                "reading costs the reading thread, not the one that this session counts: there is no overhead"
            );
            return Err(Error::new(Status::Unsupported, why));
        }
        if !self.is_opener() {
            let why = format_args!(
                "only the thread that opened the session, and that it counts, can measure what reading costs"
            );
            return Err(Error::new(Status::WrongThread, why));
        }
        let length = self.length()?;
        let mut costs: Vec<u64> = Vec::new();
        costs.try_reserve_exact(length * PAIRS).map_err(|_| Error::from(Status::OutOfMemory))?;
        costs.resize(length * PAIRS, 0);

        // Enabling takes a new base. What was counted so far is set aside and put back.
        let mut before = Samples::new();
        self.sample_all(&mut before)?;
        let working = self.tally.copy()?;
        let kept = core::mem::replace(&mut self.tally, working);
        let was_enabled = self.enabled;
        let result = if was_enabled { Ok(()) } else { self.enable() };
        let result = result.and_then(|()| self.measure_both(&read, &mut costs, length));
        self.tally = kept;
        result.and(self.go_on(&before, was_enabled))
    }

    /// Measures both ways of reading, and notes what they cost.
    fn measure_both(
        &mut self,
        read: &impl Fn(&mut Session<S>, ReadMode) -> Result<()>,
        costs: &mut [u64],
        length: usize,
    ) -> Result<()> {
        for how in [ReadMode::Auto, ReadMode::Syscall] {
            let counts = self.measure(read, how, costs, length)?;
            for ((entry, costs), counted) in
                self.entries.iter_mut().zip(costs.chunks_exact_mut(PAIRS)).zip(counts)
            {
                let Some(overhead) = Overhead::of(&mut costs[..counted]) else { continue };
                match how {
                    ReadMode::Auto => {
                        (entry.info.overhead_fast, entry.overhead_fast) = (overhead.tenth, overhead)
                    }
                    ReadMode::Syscall => {
                        (entry.info.overhead_syscall, entry.overhead_syscall) = (overhead.tenth, overhead);
                    }
                }
            }
        }
        Ok(())
    }

    /// What a pair of reads costs in an event, after a calibration: in user space, or by system call. No samples: not known.
    ///
    /// Errors: `InvalidArgument` for an event that there is not.
    pub fn overhead(&self, index: usize, fast: bool) -> Result<Overhead> {
        self.event_info(index)?;
        let entry = &self.entries[index];
        Ok(if fast { entry.overhead_fast } else { entry.overhead_syscall })
    }

    /// The costs of pairs, event by event, and how many there are of each.
    fn measure(
        &mut self,
        read: &impl Fn(&mut Session<S>, ReadMode) -> Result<()>,
        how: ReadMode,
        costs: &mut [u64],
        length: usize,
    ) -> Result<[usize; MAX_EVENTS]> {
        let mut counts = [0; MAX_EVENTS];
        let wanted = if how == ReadMode::Auto { READING_FAST | READING_CLEAN } else { 0 };
        for pair in 0..WARM_UP + PAIRS {
            // Both reads go through the front door, so that all that a user's read does is in the cost.
            read(self, how)?;
            read(self, how)?;
            if pair < WARM_UP {
                continue;
            }
            for position in 0..length {
                let reading = self.tally.history(position).reading(true, 0);
                if reading.is_counted() && reading.flags & !READING_TIMES_STALE == wanted {
                    costs[position * PAIRS + counts[position]] = reading.value;
                    counts[position] += 1;
                }
            }
        }
        Ok(counts)
    }

    /// Goes on as if nothing had been counted since these samples.
    fn go_on(&mut self, before: &Samples, was_enabled: bool) -> Result<()> {
        let stopped = if was_enabled { Ok(()) } else { self.stop() };
        let mut after = Samples::new();
        self.sample_all(&mut after)?;
        for slot in 0..self.tally.slots() {
            if let (Some(before), Some(after)) = (before.get(slot), after.get(slot)) {
                self.tally.skip(slot, before, after);
            }
        }
        stopped
    }
}
