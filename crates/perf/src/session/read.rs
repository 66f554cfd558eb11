//! Takes a reading, in user space if it proves correct, or else by system call. Every measurement takes this path, so
//! it has no allocation, no lock and no output.

use crate::event::event::MAX_EVENTS;
use crate::machine::hybrid;
use crate::opening::group::{Group, Sample, Unreadable, positions};
use crate::opening::open::Opened;
use crate::session::history::STANDING;
use crate::session::options::{ReadMode, SESSION_ORDERED};
use crate::session::reading::{READING_CLEAN, READING_FAST, READING_TIMES_STALE};
use crate::session::session::{Session, SessionOn};
use crate::user_read::page::{Mapped, View};
use crate::user_read::pmc::{Pmcs, Rate};
use crate::user_read::sys::{PmcSource, Policy, Sys};
use crate::user_read::trial::Finding;
use picollo_native::seam::failure;
use picollo_native::seam::sys::Errno;
use picollo_native::seam::thread;
use picollo_native::seam::vectors::with_room;
use picollo_native::{ExplainedError, Result};

impl Session {
    /// Takes a reading of all events, or returns an error, which changes nothing.
    pub fn read(&mut self, how: ReadMode) -> Result<()> {
        self.0.read(how)
    }

    /// Takes a reading in user space, if that is allowed and nothing has moved since the last reading. This is the
    /// usual case of [`ReadMode::Auto`], and its whole hot path. False changes nothing: [`Session::read`] then takes
    /// another way, or reports why not.
    pub fn read_unmoved(&mut self) -> bool {
        self.0.read_unmoved()
    }
}

impl<S: Sys> SessionOn<S> {
    #[inline]
    pub(crate) fn is_opener(&self) -> bool {
        thread::token() == self.opener.0
    }

    /// [`Session::read`].
    pub fn read(&mut self, how: ReadMode) -> Result<()> {
        if how == ReadMode::Auto && self.read_unmoved() {
            return Ok(());
        }
        self.read_slowly(how)
    }

    /// [`Session::read_unmoved`].
    #[inline]
    pub fn read_unmoved(&mut self) -> bool {
        if !self.fast.complete || !self.is_opener() || thread::process() != self.opened.process {
            return false;
        }
        let source = self.opened.sys.source();
        if !self.fast.groups.iter_mut().flatten().all(|pmcs| pmcs.read_unmoved(&source)) {
            return false;
        }
        for (pmcs, group) in self.fast.groups.iter().zip(&self.opened.groups) {
            let Some(pmcs) = pmcs else { continue };
            let (enabled, running) = pmcs.times();
            let stale = if pmcs.times_stale() { READING_TIMES_STALE } else { 0 };
            for (value, position) in pmcs.values().zip(positions(group.members)) {
                let sample = Sample { value, enabled, running };
                self.tally.advance_one(position, sample, READING_FAST | READING_CLEAN | stale);
            }
        }
        self.tally.end_reading();
        true
    }

    #[cold]
    fn read_slowly(&mut self, how: ReadMode) -> Result<()> {
        self.check()?;
        if how == ReadMode::Auto && !self.is_opener() {
            return Err(failure!(
                WrongThread,
                "only the thread that opened the session may read it in this mode; other threads can read it by system call"
            ));
        }
        let mut samples = Samples::new();
        match how {
            ReadMode::Auto => self.sample_with_fast(Way::Fast, &mut samples)?,
            ReadMode::Syscall => self.sample_all(&mut samples)?,
        }
        self.tally.advance(&samples);
        if samples.pushed_off != 0 {
            self.bring_back(samples.pushed_off);
        }
        Ok(())
    }
}

/// The ways to take a sample.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// By system call, without learning from it: on any thread.
    Syscall,
    /// By system call, from which the readers of counters learn. On the opening thread.
    Learn,
    /// In user space, or else as `Learn`. On the opening thread.
    Fast,
}

impl<S: Sys> SessionOn<S> {
    /// Reads one group.
    pub(crate) fn read_group(
        &self,
        index: usize,
        samples: &mut Samples,
    ) -> core::result::Result<(), Unreadable> {
        let group = &self.opened.groups[index];
        group.read(&self.opened.sys, &self.opened.slots, &mut samples.all)?;
        samples.taken |= group.members;
        Ok(())
    }

    /// Takes a sample of every event by system call, or returns an error. The samples are in the caller's memory,
    /// because they are too large to move on every reading.
    pub(crate) fn sample_all(&self, samples: &mut Samples) -> Result<()> {
        self.sample(&mut Fast::none(), Way::Syscall, samples)
    }

    /// The same in the given way.
    pub(crate) fn sample_with_fast(&mut self, way: Way, samples: &mut Samples) -> Result<()> {
        // Taken out meanwhile, because the rest of the session is borrowed.
        let mut fast = core::mem::replace(&mut self.fast, Fast::none());
        let result = self.sample(&mut fast, way, samples);
        self.fast = fast;
        result
    }

    fn sample(&self, fast: &mut Fast, way: Way, samples: &mut Samples) -> Result<()> {
        (samples.taken, samples.pushed_off, samples.flags) = (0, 0, [0; MAX_EVENTS]);
        let ordered = self.has(SESSION_ORDERED);
        let source = self.opened.sys.source();
        if ordered {
            source.fence();
        }
        for (index, group) in self.opened.groups.iter().enumerate().filter(|(_, group)| group.members != 0) {
            // Only the opening thread may read a counter: on another thread, it would be that thread's.
            let pmcs = fast.groups.get_mut(index).and_then(Option::as_mut);
            let mut pmcs = pmcs.filter(|_| way != Way::Syscall);
            if let Some(pmcs) = pmcs.as_deref_mut() {
                if way == Way::Fast && self.sample_in_user_space(pmcs, group, samples) {
                    continue;
                }
                pmcs.prepare(&source);
            }
            match self.read_group(index, samples) {
                Ok(()) => {}
                Err(Unreadable::PinnedOut) => {
                    samples.pushed_off |= 1 << index;
                    continue;
                }
                Err(unreadable) => return Err(self.unreadable(group.leader, unreadable)),
            }
            if let Some(pmcs) = pmcs {
                let leader = samples.all[group.leader];
                let values = &samples.all;
                pmcs.confirm((leader.enabled, leader.running), |member| {
                    positions(group.members).nth(member).map_or(0, |position| values[position].value)
                });
            }
        }
        for (position, entry) in self.entries.iter().enumerate() {
            if let Some(substitute) = &entry.substitute
                && let Some(sample) = substitute.sample(&self.opened.sys, self.caller())
            {
                samples.store(position, sample, 0);
            }
        }
        if ordered {
            source.fence();
        }
        Ok(())
    }

    /// Whether a group counts on one of several kinds of core.
    fn is_part(&self, group: &Group) -> bool {
        let attr = &self.opened.slots[group.leader].attr;
        hybrid::is_extended(attr.kind) && attr.config >> 32 != 0
    }

    /// Reads a group without the kernel, if the reading proves correct.
    fn sample_in_user_space(&self, pmcs: &mut Pmcs<Mapped>, group: &Group, samples: &mut Samples) -> bool {
        let last = |member: usize| {
            positions(group.members)
                .nth(member)
                .map_or(0, |position| self.tally.histories[position].last.value)
        };
        let source = self.opened.sys.source();
        let unmoved = pmcs.read_unmoved(&source);
        if !unmoved && pmcs.read_moved(&source, last).is_err() {
            // If a pinned group finds no room when the thread returns to its kind of core, its page does not change.
            let waits = self.is_part(group) && !group.pinned;
            if cfg!(target_arch = "aarch64") || self.enabled && !waits || !pmcs.stands() {
                return false;
            }
            // The group is stopped, or waits for its kind of core, and is off the PMU since the kernel was last asked:
            // the answer still holds. (On aarch64 an index of 0 may also mean that a running counter must not be read.)
            for position in positions(group.members) {
                samples.store(position, self.tally.histories[position].last, STANDING);
            }
            return true;
        }
        let (enabled, running) = pmcs.times();
        let clean = if unmoved { READING_CLEAN } else { 0 };
        let stale = if pmcs.times_stale() { READING_TIMES_STALE } else { 0 };
        for (value, position) in pmcs.values().zip(positions(group.members)) {
            samples.store(position, Sample { value, enabled, running }, READING_FAST | clean | stale);
        }
        true
    }

    #[cold]
    fn unreadable(&self, leader: usize, unreadable: Unreadable) -> ExplainedError {
        let name = self.slot_name(leader);
        let errno = match unreadable {
            Unreadable::Errno(Errno(errno)) => errno,
            Unreadable::PinnedOut | Unreadable::Malformed => libc::EIO,
        };
        let error = match unreadable {
            Unreadable::Malformed => failure!(
                Os,
                "{name}: the kernel's answer does not list the events that were opened; were descriptors mixed up?"
            ),
            _ => {
                let error = std::io::Error::from_raw_os_error(errno);
                failure!(Os, "{name}: the counters could not be read: {error}")
            }
        };
        self.with_owner(leader, error.with_errno(errno))
    }
}

/// One sample per event, and which of them were taken.
pub(crate) struct Samples {
    pub all: [Sample; MAX_EVENTS],
    /// Flags of a reading that ends with each sample, as far as the sample shows them.
    pub flags: [u32; MAX_EVENTS],
    pub taken: u64,
    /// The pinned groups that are off the PMU for good, by index.
    pub pushed_off: u64,
}

impl Samples {
    pub(crate) fn new() -> Samples {
        Samples { all: [Sample::default(); MAX_EVENTS], flags: [0; MAX_EVENTS], taken: 0, pushed_off: 0 }
    }

    /// The sample of the event at a position, if it was taken.
    pub(crate) fn get(&self, position: usize) -> Option<Sample> {
        (self.taken >> position & 1 != 0).then_some(self.all[position])
    }

    /// Stores a sample.
    fn store(&mut self, position: usize, sample: Sample, flags: u32) {
        (self.all[position], self.flags[position]) = (sample, flags);
        self.taken |= 1 << position;
    }
}

/// The groups of a session that can be read in user space.
#[derive(Debug)]
pub(crate) struct Fast {
    /// By group.
    pub groups: Vec<Option<Pmcs<Mapped>>>,
    /// Every event of the session is in such a group.
    pub complete: bool,
}

impl Fast {
    /// Without groups.
    pub(crate) const fn none() -> Fast {
        Fast { groups: Vec::new(), complete: false }
    }

    /// Finds the groups whose members are all mapped. `events` is the number of events in the session.
    pub(crate) fn find<S: Sys>(opened: &Opened<S>, ordered: bool, events: usize) -> Fast {
        let Ok(mut groups) = with_room(opened.groups.len()) else { return Fast::none() };
        groups.extend(opened.groups.iter().map(|group| Self::group(opened, group, ordered)));
        let found = opened.groups.iter().zip(&groups).filter(|(_, pmcs)| pmcs.is_some());
        let members = found.map(|(group, _)| group.members.count_ones() as usize).sum::<usize>();
        Fast { groups, complete: members == events }
    }

    fn group<S: Sys>(opened: &Opened<S>, group: &Group, ordered: bool) -> Option<Pmcs<Mapped>> {
        if group.members == 0 {
            return None;
        }
        let mut pages = with_room(group.members.count_ones() as usize).ok()?;
        for position in positions(group.members) {
            pages.push(opened.slots[position].page?);
        }
        let is_safe = || opened.sys.user_reads(&opened.slots[group.leader].attr) == Finding::Safe;
        if opened.sys.policy() == Policy::Auto && !is_safe() {
            return None;
        }
        // The clock is needed only if the page does not say how time passes, since finding its rate takes a while.
        let has_times = pages.first().is_some_and(|page| page.times().extends);
        let own_rate = if has_times { None } else { opened.sys.tick_rate().map(Rate::from_hertz) };
        Pmcs::try_new(pages, ordered, own_rate)
    }
}
