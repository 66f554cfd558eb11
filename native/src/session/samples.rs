//! What one taking of samples has given.

use crate::event::event::MAX_EVENTS;
use crate::opening::group::Sample;
use crate::session::history::STANDING;
use crate::session::reading::{READING_CLEAN, READING_FAST, READING_TIMES_STALE};

/// One sample per event, and which of them there are.
pub(crate) struct Samples {
    pub all: [Sample; MAX_EVENTS],
    pub taken: u64,
    /// Read in user space.
    pub fast: u64,
    /// On the PMU without a break since the last reading.
    pub clean: u64,
    pub times_stale: u64,
    /// The last answer stood.
    pub standing: u64,
    /// Groups that are pinned and off the PMU for good, by index.
    pub pushed_off: u64,
}

impl Samples {
    pub(crate) fn new() -> Samples {
        Samples {
            all: [Sample::default(); MAX_EVENTS],
            taken: 0,
            fast: 0,
            clean: 0,
            times_stale: 0,
            standing: 0,
            pushed_off: 0,
        }
    }

    /// Without any, for the next taking. The memory is left as it is.
    pub(crate) fn clear(&mut self) {
        (self.taken, self.fast, self.clean) = (0, 0, 0);
        (self.times_stale, self.standing, self.pushed_off) = (0, 0, 0);
    }

    /// The sample of the event at a position, where there is one.
    pub(crate) fn get(&self, position: usize) -> Option<Sample> {
        (self.taken >> position & 1 != 0).then_some(self.all[position])
    }

    /// The flags of a reading that this sample is the end of, as far as it goes.
    pub(crate) fn flags(&self, position: usize) -> u32 {
        let flag = |set: u64, flag| if set >> position & 1 != 0 { flag } else { 0 };
        flag(self.fast, READING_FAST)
            | flag(self.clean, READING_CLEAN)
            | flag(self.times_stale, READING_TIMES_STALE)
            | flag(self.standing, STANDING)
    }
}
