//! A session's reports about its events: how each is counted, what was read, and what is recorded.

use picollo_core::SingleWriterHistogram;

use crate::event::event::Event;
use crate::event::info::EventInfo;
use crate::opening::group::positions;
use crate::session::history::History;
use crate::session::options::SESSION_SUBTRACT;
use crate::session::reading::Reading;
use crate::session::session::{Entry, SessionOn};
use crate::user_read::sys::Sys;
use picollo_native::seam::failure;
use picollo_native::{ExplainedError, Result};

impl<S: Sys> SessionOn<S> {
    fn entry(&self, index: usize) -> Result<&Entry> {
        self.check()?;
        let count = self.entries.len();
        self.entries
            .get(index)
            .ok_or_else(|| failure!(InvalidArgument, "there is no event {index}: the session has {count}"))
    }

    /// [`Session::length`].
    pub fn length(&self) -> Result<usize> {
        self.check()?;
        Ok(self.entries.len())
    }

    /// [`Session::event`].
    pub fn event(&self, index: usize) -> Result<Event> {
        Ok(self.entry(index)?.event)
    }

    /// [`Session::event_info`].
    pub fn event_info(&self, index: usize) -> Result<EventInfo> {
        Ok(self.entry(index)?.info)
    }

    /// [`Session::histogram`].
    pub fn histogram(&self, index: usize) -> Result<SingleWriterHistogram> {
        let entry = self.entry(index)?;
        if entry.is_skipped {
            // Its empty histogram would look like a measurement.
            return Err(entry.info.reason().with_event(index));
        }
        Ok(entry.histogram.histogram().clone())
    }

    /// The reading of one event, after at least one read.
    fn reading(&self, position: usize, deltas: bool) -> Reading {
        let entry = &self.entries[position];
        if entry.info.status != 0 {
            return Reading { status: entry.info.status, ..Reading::default() };
        }
        let history = &self.tally.histories[position];
        let overhead = if self.has(SESSION_SUBTRACT) && self.counts_opener() {
            // Each way of reading has a separate overhead, and every read since the base has added one. For a pair of
            // different ways, the overhead in between is unknown, and nothing is subtracted.
            let (fast, syscall) = history.pairs(deltas);
            let (fast, syscall) = (
                entry.info.overhead_fast.saturating_mul(fast),
                entry.info.overhead_syscall.saturating_mul(syscall),
            );
            fast.saturating_add(syscall)
        } else {
            0
        };
        if entry.parts != 0 {
            let parts = positions(entry.parts | 1 << position).map(|slot| &self.tally.histories[slot]);
            return History::reading_of_parts(parts, deltas, overhead);
        }
        history.reading(deltas, overhead)
    }

    fn check_was_read(&self) -> Result<()> {
        self.check()?;
        if self.tally.reads == 0 {
            return Err(failure!(Empty, "nothing was read since the session was created, enabled or reset"));
        }
        Ok(())
    }

    /// [`Session::readings`].
    pub fn readings(&self, deltas: bool, out: &mut [Reading]) -> Result<()> {
        self.check_was_read()?;
        if out.len() < self.entries.len() {
            return Err(failure!(
                BufferTooSmall,
                "the session has {} events, and there is room for {}",
                self.entries.len(),
                out.len()
            ));
        }
        for (position, out) in out.iter_mut().enumerate().take(self.entries.len()) {
            *out = self.reading(position, deltas);
        }
        Ok(())
    }

    /// [`Session::record`].
    pub fn record(&mut self, deltas: bool) -> Result<()> {
        self.check_was_read()?;
        if self.tally.recorded {
            return Err(failure!(Empty, "the last reading is recorded already: read again first"));
        }
        for position in 0..self.entries.len() {
            let reading = self.reading(position, deltas);
            let entry = &mut self.entries[position];
            if reading.is_counted() {
                entry.histogram.record(reading.value);
            } else {
                entry.info.not_counted_count += 1;
            }
        }
        self.tally.recorded = true;
        Ok(())
    }

    /// [`Session::reset`].
    pub fn reset(&mut self) -> Result<()> {
        self.check()?;
        self.rebase()?;
        let mut result = Ok(());
        for (position, entry) in self.entries.iter_mut().enumerate() {
            match entry.histogram.histogram().reset() {
                // Reset both together: the histogram's total and this add up to the number of records.
                Ok(()) => entry.info.not_counted_count = 0,
                Err(error) => result = result.and(Err(ExplainedError::from(error).with_event(position))),
            }
        }
        result
    }
}
