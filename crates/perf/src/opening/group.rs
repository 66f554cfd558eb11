//! Groups: events that are opened, scheduled and read together, and their targets.

use crate::event::event::MAX_EVENTS;
use crate::machine::diagnose::Target;
use crate::opening::attr::Step;
use crate::user_read::page::Mapped;
use picollo_native::seam::kernel::{Attr, CLOEXEC, flag, format, kind};
use picollo_native::seam::sys::{Errno, Perf, persist};

/// An opened event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// -1: not open.
    pub fd: i32,
    /// The kernel's id, never reused.
    pub id: u64,
    /// The request that opened it.
    pub attr: Attr,
    /// The page, if its counter may be read in user space.
    pub page: Option<Mapped>,
}

/// The kernel's figures for an event at one moment. Only the difference of two samples has a meaning.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Sample {
    pub value: u64,
    pub enabled: u64,
    pub running: u64,
}

/// Events under one leader.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    /// Position of the leader.
    pub leader: usize,
    /// Positions of all members, one bit each.
    pub members: u64,
    /// The kernel was asked to keep the group on the PMU.
    pub pinned: bool,
}

/// Why a group could not be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unreadable {
    /// End of file: the PMU had no room for the pinned group.
    PinnedOut,
    /// The system call failed.
    Errno(Errno),
    /// The answer is not what the kernel promises.
    Malformed,
}

/// The positions whose bits are set, lowest first.
pub(crate) fn positions(mut members: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let position = members.trailing_zeros() as usize;
        members &= members.wrapping_sub(1);
        (position < 64).then_some(position)
    })
}

impl Group {
    /// Reads all members into `samples`, by position. After a failure the samples are meaningless.
    pub(crate) fn read<S: Perf>(
        &self,
        sys: &S,
        slots: &[Slot],
        samples: &mut [Sample],
    ) -> Result<(), Unreadable> {
        if slots[self.leader].attr.read_format & format::GROUP == 0 {
            return self.read_singly(sys, slots, samples);
        }
        // nr, enabled, running, {value, id} for each.
        let mut answer = [0u64; 3 + 2 * MAX_EVENTS];
        let count = self.members.count_ones() as usize;
        let wanted = 3 + 2 * count;
        let fd = slots[self.leader].fd;
        // The buffer has exactly the wanted size. If the group has grown meanwhile, the kernel returns ENOSPC.
        let bytes = persist(|| sys.read(fd, &mut answer[..wanted])).map_err(Unreadable::Errno)?;
        if bytes == 0 {
            return Err(Unreadable::PinnedOut);
        }
        if bytes != wanted * 8 || answer[0] != count as u64 {
            return Err(Unreadable::Malformed);
        }
        let mut seen = 0u64;
        // The kernel answers in the order of opening, which is the order of positions, but it promises only ids.
        let mut expected = positions(self.members);
        for pair in answer[3..wanted].chunks_exact(2) {
            let is_id = |&position: &usize| slots[position].id == pair[1];
            let position = expected.next().filter(is_id).or_else(|| positions(self.members).find(is_id));
            let position = position.ok_or(Unreadable::Malformed)?;
            seen |= 1 << position;
            samples[position] = Sample { value: pair[0], enabled: answer[1], running: answer[2] };
        }
        if seen != self.members {
            return Err(Unreadable::Malformed);
        }
        Ok(())
    }

    /// Reads the members one by one: for inherited events, whose groups some kernels cannot read.
    fn read_singly<S: Perf>(
        &self,
        sys: &S,
        slots: &[Slot],
        samples: &mut [Sample],
    ) -> Result<(), Unreadable> {
        for position in positions(self.members) {
            let mut answer = [0u64; 4];
            let slot = slots[position];
            let bytes = persist(|| sys.read(slot.fd, &mut answer)).map_err(Unreadable::Errno)?;
            if bytes == 0 {
                return Err(Unreadable::PinnedOut);
            }
            let [value, enabled, running, id] = answer;
            if bytes != 32 || id != slot.id {
                return Err(Unreadable::Malformed);
            }
            samples[position] = Sample { value, enabled, running };
        }
        Ok(())
    }
}

/// A refused request: the errno, and the request as it was then.
pub(crate) type Refused = (Errno, Attr);

/// On aarch64 a request must ask for a counter that user code may read.
const ASKS_FOR_USER_READS: bool = cfg!(target_arch = "aarch64");

/// Whether to ask for it: a core counter that leaves this field free.
fn may_be_read(wanted: &Attr) -> bool {
    let core = matches!(wanted.kind, kind::HARDWARE | kind::CACHE | kind::RAW) && wanted.config1 == 0;
    core && wanted.flags & flag::INHERIT == 0
}

/// Opens one event. If refused, gives up what can be given up, in order. `leader` is a descriptor or -1. `may_map`:
/// the session can read the event in user space.
pub(crate) fn open(
    sys: &dyn Perf,
    wanted: &Attr,
    whom: Target,
    leader: i32,
    may_map: bool,
) -> Result<(i32, Attr), Refused> {
    if ASKS_FOR_USER_READS && may_map && may_be_read(wanted) {
        // Bit 1 asks for user reads, and bit 0 for 64 bits, which not every PMU has for every event.
        for config1 in [3, 2] {
            if let Ok(opened) = attempt(sys, Attr { config1, ..*wanted }, whom, leader) {
                return Ok(opened);
            }
        }
    }
    let first = match attempt(sys, *wanted, whom, leader) {
        Ok(opened) => return Ok(opened),
        Err(refused) => refused,
    };
    let mut attr = first.1;
    for step in Step::ORDER {
        if !matches!(first.0.0, libc::EINVAL | libc::EOPNOTSUPP) {
            break;
        }
        let Some(smaller) = step.apply(&attr) else { continue };
        match attempt(sys, smaller, whom, leader) {
            Ok(opened) => return Ok(opened),
            // Without exclusion the event could be opened, but not by this user: report that.
            Err((Errno(errno @ (libc::EACCES | libc::EPERM)), refused)) if step == Step::Exclude => {
                return Err((Errno(errno), refused));
            }
            Err(_) => {}
        }
        // Precision is given up for good; the other steps are tried separately.
        if step == Step::Precise {
            attr = smaller;
        }
    }
    Err(first)
}

/// Makes one request, and repeats it after signals.
fn attempt(sys: &dyn Perf, attr: Attr, whom: Target, leader: i32) -> Result<(i32, Attr), Refused> {
    let opened = persist(|| sys.open(&attr, whom.pid, whom.cpu, leader, CLOEXEC));
    opened.map(|fd| (fd, attr)).map_err(|errno| (errno, attr))
}

/// Whether a request counts in the kernel.
pub(crate) fn counts_kernel(attr: &Attr) -> bool {
    attr.flags & flag::EXCLUDE_KERNEL == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_reads_are_asked_for_where_they_can_be() {
        let cycles = Attr { kind: kind::HARDWARE, ..Attr::default() };
        assert!(may_be_read(&cycles));
        assert!(!may_be_read(&Attr { flags: flag::INHERIT, ..cycles }));
        assert!(!may_be_read(&Attr { kind: kind::SOFTWARE, ..cycles }));
        assert!(!may_be_read(&Attr { config1: 1, ..cycles }));
    }
}
