//! What reading costs, and what work costs without it.

use crate::base::error::{Error, Result, Status, failure};
use crate::event::event::MAX_EVENTS;
use crate::session::options::ReadMode;
use crate::session::read::Samples;
use crate::session::reading::{READING_CLEAN, READING_FAST, READING_TIMES_STALE};
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
        self.check()?;
        if !self.counts_opener() {
            return Err(failure!(
                Unsupported,
                "reading costs the reading thread, not the one that this session counts: there is no overhead"
            ));
        }
        if !self.is_opener() {
            return Err(failure!(
                WrongThread,
                "only the thread that opened the session, and that it counts, can measure what reading costs"
            ));
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
        let result = result.and_then(|()| self.measure_both(&mut costs, length));
        self.tally = kept;
        result.and(self.go_on(&before, was_enabled))
    }

    /// Measures both ways of reading, and notes what they cost.
    fn measure_both(&mut self, costs: &mut [u64], length: usize) -> Result<()> {
        for how in [ReadMode::Auto, ReadMode::Syscall] {
            let counts = self.measure(how, costs, length)?;
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
    fn measure(&mut self, how: ReadMode, costs: &mut [u64], length: usize) -> Result<[usize; MAX_EVENTS]> {
        let mut counts = [0; MAX_EVENTS];
        let wanted = if how == ReadMode::Auto { READING_FAST | READING_CLEAN } else { 0 };
        for pair in 0..WARM_UP + PAIRS {
            // Both reads go through the front door, so that all that a user's read does is in the cost.
            self.read(how)?;
            self.read(how)?;
            if pair < WARM_UP {
                continue;
            }
            for position in 0..length {
                let reading = self.tally.histories[position].reading(true, 0);
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
        for slot in 0..self.tally.histories.len() {
            if let (Some(before), Some(after)) = (before.get(slot), after.get(slot)) {
                self.tally.skip(slot, before, after);
            }
        }
        stopped
    }
}

/// Of fewer pairs nothing is concluded.
pub(crate) const LEAST: usize = 100;

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
    pub(crate) fn of(costs: &mut [u64]) -> Option<Overhead> {
        let counted = costs.len();
        if counted < LEAST {
            return None;
        }
        costs.sort_unstable();
        let (min, tenth, median) = (costs[0], costs[counted / 10], costs[counted / 2]);
        costs.iter_mut().for_each(|cost| *cost = cost.abs_diff(median));
        costs.sort_unstable();
        Some(Overhead { min, tenth, median, deviation: costs[counted / 2], pairs: counted as u64 })
    }
}

/// What repetitions of some work cost in one event.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Slope {
    /// Of one repetition.
    pub each: f64,
    /// Of everything else: the readings, calls, warming up. May be negative where the work overlaps with it.
    pub constant: f64,
    /// In how many rounds the event was counted, of those asked for.
    pub rounds: u32,
}

impl<S: Sys> Session<S> {
    /// Does `work` with N and with 2N repetitions by turns, `rounds` times each, and takes the difference of the medians of every
    /// event's raw counts. `None` for events that were not counted. Takes readings, and so moves the last deltas on.
    ///
    /// Errors: `InvalidArgument` for no repetitions or rounds; those of [`Session::read`].
    pub fn slope(
        &mut self,
        repetitions: u64,
        rounds: u32,
        mut work: impl FnMut(u64),
    ) -> Result<Vec<Option<Slope>>> {
        let twice = repetitions.checked_mul(2).filter(|_| repetitions != 0 && rounds != 0);
        let Some(twice) = twice else {
            return Err(failure!(
                InvalidArgument,
                "a slope needs repetitions, not more than half of all numbers, and rounds"
            ));
        };
        let length = self.length()?;
        // By event, then once and twice.
        let mut counts = vec![[const { Vec::new() }; 2]; length];
        for _ in 0..rounds {
            for (half, repetitions) in [repetitions, twice].into_iter().enumerate() {
                self.read(ReadMode::Auto)?;
                work(repetitions);
                self.read(ReadMode::Auto)?;
                for (slot, counts) in counts.iter_mut().enumerate() {
                    let reading = self.tally.histories[slot].reading(true, 0);
                    if reading.is_counted() {
                        counts[half].push(reading.value);
                    }
                }
            }
        }
        Ok(counts.iter_mut().map(|[once, twice]| of(repetitions, once, twice)).collect())
    }
}

fn of(repetitions: u64, once: &mut [u64], twice: &mut [u64]) -> Option<Slope> {
    let median = |counts: &mut [u64]| -> Option<f64> {
        counts.sort_unstable();
        counts.get(counts.len() / 2).map(|&count| count as f64)
    };
    let rounds = once.len().min(twice.len());
    let (once, twice) = (median(once)?, median(twice)?);
    Some(Slope {
        each: (twice - once) / repetitions as f64,
        constant: 2.0 * once - twice,
        rounds: rounds as u32,
    })
}

#[cfg(test)]
mod slope_tests {
    use super::*;

    #[test]
    fn medians_and_their_difference() {
        let slope = of(10, &mut [107, 107, 900], &mut [207, 5000, 207]).unwrap();
        assert_eq!((slope.each, slope.constant, slope.rounds), (10.0, 7.0, 3));
        assert_eq!(of(10, &mut [], &mut [1]), None);
    }

    /// A breakpoint counts exactly: so does the slope, whatever the readings cost.
    #[test]
    fn of_a_breakpoint() {
        let mut cell = 0u64;
        let place = &raw mut cell;
        let event = crate::event::event::Event::parse(&format!("mem:{place:p}/8:w")).unwrap();
        let mut session = match Session::create(&crate::session::options::SessionOptions::default(), &[event])
        {
            Ok(session) => session,
            Err(error) => return eprintln!("SKIPPED: no breakpoints: {error}"),
        };
        // SAFETY: the pointer is to a live variable that nothing else uses.
        let write = |count: u64| (0..count + 5).for_each(|n| unsafe { place.write_volatile(n) });
        let slope = session.slope(100, 5, write).unwrap()[0].unwrap();
        assert_eq!((slope.each, slope.constant, slope.rounds), (1.0, 5.0, 5));
        assert_eq!(session.slope(0, 5, write).unwrap_err().status(), Status::InvalidArgument);
    }
}
