//! Taking samples of all events of a session at once: in user space where that proves itself, else by system call.

use crate::base::error::{Error, Result, Status};
use crate::machine::hybrid;
use crate::opening::group::{Group, Sample, Unreadable, positions};
use crate::os::sys::Errno;
use crate::session::fast::Fast;
use crate::session::options::{SESSION_INHERIT, SESSION_ORDERED};
use crate::session::samples::Samples;
use crate::session::session::Session;
use crate::user_read::cpu::PmcSource;
use crate::user_read::mapped::Mapped;
use crate::user_read::pmc::Pmcs;
use crate::user_read::sys::Sys;

/// Which of the two ways a sample is taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// System calls, and nothing learnt: on any thread.
    Syscall,
    /// System calls that tell the readers of counters where they stand. On the opening thread.
    Learn,
    /// In user space, else as above. On the opening thread.
    Fast,
}

impl<S: Sys> Session<S> {
    /// Reads one group.
    pub(crate) fn read_group(
        &self,
        index: usize,
        samples: &mut Samples,
    ) -> core::result::Result<(), Unreadable> {
        let (group, sys, counters) = (&self.opened.groups[index], &self.opened.sys, &self.opened.counters);
        if self.has(SESSION_INHERIT) {
            group.read_singly(sys, counters, &mut samples.all)?;
        } else {
            group.read(sys, counters, &mut samples.all)?;
        }
        samples.taken |= group.members;
        Ok(())
    }

    /// A sample of every event by system call: all of them, or an error. Into the caller's memory: they are too large to be moved
    /// about on the way to every reading.
    pub(crate) fn sample_all(&self, samples: &mut Samples) -> Result<()> {
        self.sample(&mut Fast::none(), Way::Syscall, samples)
    }

    /// The same, after which the next reading in user space knows where it stands, if this is the opening thread.
    pub(crate) fn sample_and_learn(&mut self, samples: &mut Samples) -> Result<()> {
        let way = if self.is_opener() { Way::Learn } else { Way::Syscall };
        self.sample_with_fast(way, samples)
    }

    /// A sample of every event, in user space where that proves itself. On the opening thread.
    pub(crate) fn sample_fast_or_learn(&mut self, samples: &mut Samples) -> Result<()> {
        self.sample_with_fast(Way::Fast, samples)
    }

    fn sample_with_fast(&mut self, way: Way, samples: &mut Samples) -> Result<()> {
        // Taken out for the time being, because the rest of the session is looked at meanwhile.
        let mut fast = core::mem::replace(&mut self.fast, Fast::none());
        let result = self.sample(&mut fast, way, samples);
        self.fast = fast;
        result
    }

    fn sample(&self, fast: &mut Fast, way: Way, samples: &mut Samples) -> Result<()> {
        samples.clear();
        let ordered = self.has(SESSION_ORDERED);
        let source = self.opened.sys.source();
        if ordered {
            source.fence();
        }
        for (index, group) in self.opened.groups.iter().enumerate().filter(|(_, group)| group.members != 0) {
            // Only the opening thread may touch a counter: on any other it would be another thread's.
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
                samples.all[position] = sample;
                samples.taken |= 1 << position;
            }
        }
        if ordered {
            source.fence();
        }
        Ok(())
    }

    /// Whether a group counts on one of several kinds of core.
    fn is_part(&self, group: &Group) -> bool {
        let attr = &self.opened.attrs[group.leader];
        hybrid::is_extended(attr.kind) && attr.config >> 32 != 0
    }

    /// Reads a group without the kernel, if that proves itself.
    fn sample_in_user_space(&self, pmcs: &mut Pmcs<Mapped>, group: &Group, samples: &mut Samples) -> bool {
        let last = |member: usize| {
            positions(group.members).nth(member).map_or(0, |position| self.tally.last(position).value)
        };
        let source = self.opened.sys.source();
        let unmoved = pmcs.read_unmoved(&source);
        if !unmoved && pmcs.read_moved(&source, last).is_err() {
            // A pinned group that finds no room when the thread comes back to its kind of core leaves its page as it was.
            let waits = self.is_part(group) && !group.pinned;
            if cfg!(target_arch = "aarch64") || self.enabled && !waits || !pmcs.stands() {
                return false;
            }
            // Stopped, or waiting for the thread to come to its kind of core, and off the PMU ever since the kernel was last asked:
            // its answer stands. (On aarch64 an index of 0 may also mean that a running counter is not to be read.)
            for position in positions(group.members) {
                samples.all[position] = self.tally.last(position);
            }
            samples.taken |= group.members;
            samples.standing |= group.members;
            return true;
        }
        let (enabled, running) = pmcs.times();
        for (value, position) in pmcs.values().zip(positions(group.members)) {
            samples.all[position] = Sample { value, enabled, running };
        }
        samples.taken |= group.members;
        samples.fast |= group.members;
        samples.clean |= if unmoved { group.members } else { 0 };
        samples.times_stale |= if pmcs.times_stale() { group.members } else { 0 };
        true
    }

    #[cold]
    fn unreadable(&self, leader: usize, unreadable: Unreadable) -> Error {
        let name = self.name_of(leader);
        let errno = match unreadable {
            Unreadable::Errno(Errno(errno)) => errno,
            Unreadable::PinnedOut | Unreadable::Malformed => libc::EIO,
        };
        let error = match unreadable {
            Unreadable::Malformed => Error::new(
                Status::Os,
                format_args!(
                    "{name}: the kernel's answer does not list the events that were opened; were descriptors mixed up?"
                ),
            ),
            _ => {
                let error = std::io::Error::from_raw_os_error(errno);
                Error::new(Status::Os, format_args!("{name}: the counters could not be read: {error}"))
            }
        };
        self.blame(leader, error.with_errno(errno))
    }
}
