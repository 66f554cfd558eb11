//! Taking samples of all events of a session at once, by system call.

use crate::error::{Error, Result, Status};
use crate::group::{MAX_EVENTS, Sample, Unreadable};
use crate::options::{SESSION_INHERIT, SESSION_ORDERED};
use crate::session::Session;
use crate::sys::{Errno, Sys};
use crate::tsc;

/// One sample per event, and which of them there are.
pub(crate) struct Samples {
    all: [Sample; MAX_EVENTS],
    taken: u64,
}

impl Samples {
    pub(crate) fn new() -> Samples {
        Samples { all: [Sample::default(); MAX_EVENTS], taken: 0 }
    }

    /// The sample of the event at a position, where there is one.
    pub(crate) fn get(&self, position: usize) -> Option<Sample> {
        (self.taken >> position & 1 != 0).then_some(self.all[position])
    }
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
        samples.taken = 0;
        let ordered = self.has(SESSION_ORDERED);
        if ordered {
            tsc::fence();
        }
        for (index, group) in self.opened.groups.iter().enumerate().filter(|(_, group)| group.members != 0) {
            match self.read_group(index, samples) {
                Ok(()) | Err(Unreadable::PinnedOut) => {}
                Err(unreadable) => return Err(self.unreadable(group.leader, unreadable)),
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
            tsc::fence();
        }
        Ok(())
    }

    #[cold]
    fn unreadable(&self, leader: usize, unreadable: Unreadable) -> Error {
        let name = self.entries[leader].event.name();
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
        error.with_errno(errno).with_event(leader)
    }
}
