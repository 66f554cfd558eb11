//! What reading costs.

use crate::event::event::MAX_EVENTS;
use crate::session::options::ReadMode;
use crate::session::read::Samples;
use crate::session::reading::{READING_CLEAN, READING_FAST, READING_TIMES_STALE};
use crate::session::session::SessionOn;
use crate::user_read::sys::Sys;
use picollo_native::Result;
use picollo_native::seam::failure;
use picollo_native::seam::vectors::filled;

/// Reads that warm caches and branch predictors, and are not kept.
const WARM_UP: usize = 100;
/// Pairs that are kept, and how many of them an event has to be counted in.
const PAIRS: usize = 1000;
const LEAST: usize = 100;

impl<S: Sys> SessionOn<S> {
    /// [`Session::calibrate`].
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
        let mut costs = filled(self.entries.len() * PAIRS, 0)?;

        // Enabling takes a new base, so the counts so far are set aside and put back.
        let mut before = Samples::new();
        self.sample_all(&mut before)?;
        let working = self.tally.copy()?;
        let kept = core::mem::replace(&mut self.tally, working);
        let was_enabled = self.enabled;
        let result = if was_enabled { Ok(()) } else { self.enable() };
        let result = result.and_then(|()| self.measure_both(&mut costs));
        self.tally = kept;
        result.and(self.go_on(&before, was_enabled))
    }

    /// Measures both ways of reading, and records their costs. `costs` has room for the pairs of every event.
    fn measure_both(&mut self, costs: &mut [u64]) -> Result<()> {
        for how in [ReadMode::Auto, ReadMode::Syscall] {
            let wanted = if how == ReadMode::Auto { READING_FAST | READING_CLEAN } else { 0 };
            let mut counts = [0; MAX_EVENTS];
            for pair in 0..WARM_UP + PAIRS {
                // Both reads use the public call, so that the cost includes everything that a user's read does.
                self.read(how)?;
                self.read(how)?;
                if pair < WARM_UP {
                    continue;
                }
                let events = self.tally.histories.iter().zip(costs.chunks_exact_mut(PAIRS));
                for ((history, costs), count) in events.zip(&mut counts) {
                    let reading = history.reading(true, 0);
                    if reading.is_counted() && reading.flags & !READING_TIMES_STALE == wanted {
                        costs[*count] = reading.value;
                        *count += 1;
                    }
                }
            }
            for ((entry, costs), count) in
                self.entries.iter_mut().zip(costs.chunks_exact_mut(PAIRS)).zip(counts)
            {
                // Of fewer pairs nothing is concluded.
                if count < LEAST {
                    continue;
                }
                let (_, &mut tenth, _) = costs[..count].select_nth_unstable(count / 10);
                match how {
                    ReadMode::Auto => entry.info.overhead_fast = tenth,
                    ReadMode::Syscall => entry.info.overhead_syscall = tenth,
                }
            }
        }
        Ok(())
    }

    /// Continues as if nothing had been counted since these samples.
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
