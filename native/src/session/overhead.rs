//! What reading costs: the events that a pair of back-to-back reads adds to every interval.

use crate::base::error::{Error, Result, Status};
use crate::event::event::MAX_EVENTS;
use crate::os::sys::Sys;
use crate::session::history::History;
use crate::session::options::ReadMode;
use crate::session::reading::{READING_CLEAN, READING_FAST, READING_TIMES_STALE};
use crate::session::sampling::Samples;
use crate::session::session::Session;

/// Reads that warm caches and branch predictors before anything is kept.
const WARM_UP: usize = 100;
/// Pairs that are kept.
const PAIRS: usize = 1000;

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
        let kept = self.set_aside()?;
        let mut result = Ok(());
        for how in [ReadMode::Auto, ReadMode::Syscall] {
            result = result.and_then(|()| {
                let counts = self.measure(&read, how, &mut costs, length)?;
                for ((entry, costs), counted) in
                    self.entries.iter_mut().zip(costs.chunks_exact_mut(PAIRS)).zip(counts)
                {
                    let Some(overhead) = Overhead::of(&mut costs[..counted]) else { continue };
                    match how {
                        ReadMode::Auto => {
                            (entry.info.overhead_fast, entry.overhead_fast) = (overhead.tenth, overhead)
                        }
                        ReadMode::Syscall => {
                            (entry.info.overhead_syscall, entry.overhead_syscall) =
                                (overhead.tenth, overhead);
                        }
                    }
                }
                Ok(())
            });
        }
        let restored = self.put_back(kept);
        result.and(restored)
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
                let reading = self.histories[position].reading(true, 0);
                if reading.is_counted() && reading.flags & !READING_TIMES_STALE == wanted {
                    costs[position * PAIRS + counts[position]] = reading.value;
                    counts[position] += 1;
                }
            }
        }
        Ok(counts)
    }

    /// Keeps everything counted so far apart, and starts counting if need be.
    fn set_aside(&mut self) -> Result<Kept> {
        let mut histories = [History::default(); MAX_EVENTS];
        histories[..self.histories.len()].copy_from_slice(&self.histories);
        let mut before = Samples::new();
        self.sample_all(&mut before)?;
        let kept =
            Kept { histories, before, reads: self.reads, recorded: self.recorded, enabled: self.enabled };
        if !self.enabled {
            self.enable()?;
        }
        Ok(kept)
    }

    /// Goes on from what was kept, as if nothing had been counted in between.
    fn put_back(&mut self, kept: Kept) -> Result<()> {
        let stopped = if kept.enabled { Ok(()) } else { self.stop() };
        let length = self.histories.len();
        self.histories.copy_from_slice(&kept.histories[..length]);
        (self.reads, self.recorded) = (kept.reads, kept.recorded);
        let mut after = Samples::new();
        self.sample_all(&mut after)?;
        for (position, history) in self.histories.iter_mut().enumerate() {
            if let (Some(before), Some(after)) = (kept.before.get(position), after.get(position)) {
                history.skip(before, after);
            }
        }
        stopped
    }
}

/// What a pair of back-to-back reads costs, in counts of the event.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Overhead {
    /// The least of all pairs.
    pub min: u64,
    /// The tenth percentile: what is subtracted.
    pub tenth: u64,
    /// The median.
    pub median: u64,
    /// The median distance from the median.
    pub deviation: u64,
    /// How many pairs this is from; 0: it is not known.
    pub pairs: u64,
}

impl Overhead {
    /// Of these costs; `None` where they are too few to prove anything.
    fn of(costs: &mut [u64]) -> Option<Overhead> {
        let counted = costs.len();
        if counted < PAIRS / 10 {
            return None;
        }
        costs.sort_unstable();
        let (min, tenth, median) = (costs[0], costs[counted / 10], costs[counted / 2]);
        costs.iter_mut().for_each(|cost| *cost = cost.abs_diff(median));
        costs.sort_unstable();
        Some(Overhead { min, tenth, median, deviation: costs[counted / 2], pairs: counted as u64 })
    }
}

/// A session's counts while something else is counted.
struct Kept {
    histories: [History; MAX_EVENTS],
    before: Samples,
    reads: u64,
    recorded: bool,
    enabled: bool,
}
