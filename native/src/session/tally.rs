//! What a session has read so far: the histories of its counters, and how many readings there were. One value, so that all of it is
//! set aside together, and put back.

use crate::base::error::Result;
use crate::base::vectors::{filled, with_room};
use crate::opening::group::Sample;
use crate::session::history::History;
use crate::session::samples::Samples;

/// What was read since the base.
#[derive(Debug)]
pub(crate) struct Tally {
    /// By slot: an event's own, or that of a part of one.
    histories: Vec<History>,
    /// Readings since the base.
    reads: u64,
    /// The last of them is recorded.
    recorded: bool,
}

impl Tally {
    /// Of so many slots, before the first base.
    pub(crate) fn new(slots: usize) -> Result<Tally> {
        Ok(Tally { histories: filled(slots, History::default())?, reads: 0, recorded: false })
    }

    /// A copy that goes its own way.
    pub(crate) fn copy(&self) -> Result<Tally> {
        let mut histories = with_room(self.histories.len())?;
        histories.extend_from_slice(&self.histories);
        Ok(Tally { histories, ..*self })
    }

    /// Takes these samples for the base. Whose sample is missing starts where it was.
    pub(crate) fn rebase(&mut self, samples: &Samples) {
        for (slot, history) in self.histories.iter_mut().enumerate() {
            history.rebase(samples.get(slot).unwrap_or(history.last()));
        }
        (self.reads, self.recorded) = (0, false);
    }

    /// Takes a reading. Whose sample is missing has an empty interval.
    pub(crate) fn advance(&mut self, samples: &Samples) {
        for (slot, history) in self.histories.iter_mut().enumerate() {
            match samples.get(slot) {
                Some(sample) => history.advance(sample, samples.flags(slot)),
                None => history.advance_without(),
            }
        }
        self.end_reading();
    }

    /// One slot of a reading that [`Tally::end_reading`] ends.
    #[inline(always)]
    pub(crate) fn advance_one(&mut self, slot: usize, sample: Sample, flags: u32) {
        // Every slot has a history: to look is cheaper than to prove it.
        if let Some(history) = self.histories.get_mut(slot) {
            history.advance(sample, flags);
        }
    }

    /// Counts a reading, which is yet to be recorded.
    #[inline(always)]
    pub(crate) fn end_reading(&mut self) {
        self.reads += 1;
        self.recorded = false;
    }

    /// Forgets what a slot counted between two samples.
    pub(crate) fn skip(&mut self, slot: usize, from: Sample, to: Sample) {
        if let Some(history) = self.histories.get_mut(slot) {
            history.skip(from, to);
        }
    }

    /// The last sample of a slot.
    pub(crate) fn last(&self, slot: usize) -> Sample {
        self.histories[slot].last()
    }

    /// The history of a slot.
    pub(crate) fn history(&self, slot: usize) -> &History {
        &self.histories[slot]
    }

    /// How many slots there are.
    pub(crate) fn slots(&self) -> usize {
        self.histories.len()
    }

    /// Readings since the base.
    pub(crate) fn reads(&self) -> u64 {
        self.reads
    }

    /// Whether the last reading is recorded.
    pub(crate) fn is_recorded(&self) -> bool {
        self.recorded
    }

    /// Notes that the last reading is recorded.
    pub(crate) fn note_recorded(&mut self) {
        self.recorded = true;
    }
}
