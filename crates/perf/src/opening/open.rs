//! Opens a session's events, in as few groups as the PMU allows, and reports what was given up.

use crate::event::event::Event;
use crate::event::info::{EVENT_INFO_SUBSTITUTED, EVENT_INFO_UNPINNED, EVENT_INFO_USER_ONLY, EventInfo};
use crate::machine::diagnose::{Refusal, Target};
use crate::machine::hybrid;
use crate::opening::attr::{Wish, request};
use crate::opening::group::{self, Group, Refused, Slot, counts_kernel};
use crate::opening::substitute::Substitute;
use crate::user_read::page;
use crate::user_read::sys::Sys;
use picollo_native::Result;
use picollo_native::seam::kernel::{Attr, flag, kind, software};
use picollo_native::seam::sys::{Errno, persist};
use picollo_native::seam::thread;

/// The opened events of a session, by position. Dropping them only closes them: a forked child may do nothing more to
/// its parent's counters.
pub(crate) struct Opened<S: Sys> {
    pub sys: S,
    pub slots: Vec<Slot>,
    /// Whether pages are mapped at all: the events count the opening thread and nothing else.
    pub maps: bool,
    /// The process that opened and mapped.
    pub process: u32,
    pub groups: Vec<Group>,
}

/// Clocks tick the same whether the kernel is excluded or not, but counting the kernel would need a right.
fn is_a_clock(event: &Event) -> bool {
    event.r#type == kind::SOFTWARE && matches!(event.config, software::CPU_CLOCK | software::TASK_CLOCK)
}

impl<S: Sys> Opened<S> {
    pub(crate) fn close(&mut self, position: usize) {
        // A forked child has no such pages, and may have something else at their addresses.
        let slot = &mut self.slots[position];
        if let Some(page) = slot.page.take()
            && thread::process() == self.process
        {
            // SAFETY: this process mapped it for this event and forgot it just now; every reader of pages has ended.
            unsafe { self.sys.unmap_page(page.pointer()) };
        }
        let fd = core::mem::replace(&mut slot.fd, -1);
        if fd >= 0 {
            // SAFETY: opened by this session, and forgotten just now.
            unsafe { self.sys.close(fd) };
        }
    }
}

impl<S: Sys> Drop for Opened<S> {
    fn drop(&mut self) {
        // Members close before leaders, so that the kernel need not promote them in between.
        for position in (0..self.slots.len()).rev() {
            self.close(position);
        }
    }
}

/// Whom to count, and how to open the events.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    /// The target as requested, for messages.
    pub target: Target,
    /// The target as passed to the kernel: never "the calling thread", since another thread may have to open events.
    pub whom: Target,
    pub wish: Wish,
    /// Accept less than was requested if nothing more is possible.
    pub lenient: bool,
    /// The thread that is counted, for substitutes; `None` if the target is not one thread.
    pub thread: Option<i32>,
}

/// A change to a request before it is made.
type Adjust = fn(&mut Attr);

/// Software events that happen in the kernel: under `exclude_kernel` they always read 0.
fn happens_in_kernel(event: &Event) -> bool {
    use software::{CGROUP_SWITCHES, CONTEXT_SWITCHES, CPU_MIGRATIONS};
    event.r#type == kind::SOFTWARE
        && matches!(event.config, CONTEXT_SWITCHES | CPU_MIGRATIONS | CGROUP_SWITCHES)
}

impl<S: Sys> Opened<S> {
    /// Opens the event at a position, in the first group that takes it, or else in a new group. The vectors have room.
    fn open(
        &mut self,
        plan: &Plan,
        position: usize,
        event: &Event,
        info: &mut EventInfo,
    ) -> Result<Option<Substitute>> {
        let chooses_rings = event.chooses_rings();
        let adjust: Adjust = if happens_in_kernel(event) || event.r#type == kind::TRACEPOINT && !chooses_rings
        {
            // Excluding the kernel would exclude everything: the user asks for occurrences, not for a ring.
            |attr| attr.flags &= !flag::EXCLUDE_KERNEL
        } else if is_a_clock(event) && !chooses_rings {
            |attr| attr.flags |= flag::EXCLUDE_KERNEL
        } else {
            |_| {}
        };
        let Err((errno, attr)) = self.place(plan, position, event, info, adjust) else { return Ok(None) };
        let denied = matches!(errno.0, libc::EACCES | libc::EPERM) && counts_kernel(&attr);
        if denied && happens_in_kernel(event) {
            let substitute = plan.thread.and_then(|thread| Substitute::find(&self.sys, event.config, thread));
            if let Some(substitute) = substitute {
                info.flags |= EVENT_INFO_SUBSTITUTED;
                info.add_remark(format_args!(
                    "counted through {} instead, because the kernel's own counter needs the right to count in the kernel",
                    substitute.source()
                ));
                return Ok(Some(substitute));
            }
        } else if denied
            && plan.lenient
            && attr.kind <= kind::BREAKPOINT
            && attr.kind != kind::TRACEPOINT
            && attr.flags & flag::EXCLUDE_USER == 0
        {
            let user_only: Adjust = |attr| attr.flags |= flag::EXCLUDE_KERNEL | flag::EXCLUDE_HV;
            if self.place(plan, position, event, info, user_only).is_ok() {
                info.flags |= EVENT_INFO_USER_ONLY;
                info.add_remark(format_args!(
                    "counted in user space only: counting in the kernel needs CAP_PERFMON or kernel.perf_event_paranoid of 1 or less"
                ));
                return Ok(None);
            }
        }
        let refusal = Refusal { name: event.name(), attr: &attr, target: plan.target, errno };
        Err(refusal.explain(&self.sys).with_event(position))
    }

    /// Opens the event on every kind of core that has it: the first at its position, the rest in further slots, which it
    /// returns. If no kind has it, the kernel may be unable to name the kinds. Then it opens the plain event, which means one of them.
    pub(crate) fn open_parts(
        &mut self,
        plan: &Plan,
        pmus: &hybrid::Pmus,
        position: usize,
        event: &Event,
        info: &mut EventInfo,
        next_slot: &mut usize,
    ) -> Result<(u64, Option<Substitute>)> {
        let (mut slots, mut opened) = (0, 0);
        let wanted = pmus.parts(event);
        if wanted == 1 {
            return self.open(plan, position, event, info).map(|substitute| (0, substitute));
        }
        for index in 0..wanted {
            let part = pmus.part(event, index);
            let slot = if opened == 0 { position } else { *next_slot };
            let mut part_info = EventInfo::new();
            if self.open(plan, slot, &part, &mut part_info).is_err() {
                continue;
            }
            if opened == 0 {
                *info = part_info;
            } else {
                slots |= 1 << slot;
                *next_slot += 1;
                info.add_part(&part_info);
            }
            opened += 1;
        }
        if opened == 0 {
            self.open(plan, position, event, info)?;
            info.add_remark(format_args!(
                "counted on one kind of core only: this kernel cannot select one (Arm before Linux 6.6)"
            ));
        } else if opened < wanted {
            info.add_remark(format_args!("counted on {opened} of the {wanted} kinds of core only"));
        }
        Ok((slots, None))
    }

    /// Whether the event may share a group. Events for two kinds of core never do.
    fn mixes(&self, index: usize, attr: &Attr) -> bool {
        // All members are checked, because the leader may be a software event.
        group::positions(self.groups[index].members).all(|member| {
            let other = &self.slots[member].attr;
            let both_extended = hybrid::is_extended(attr.kind) && hybrid::is_extended(other.kind);
            !both_extended || attr.config >> 32 == other.config >> 32
        })
    }

    /// Opens the event in the first group that takes it, or else in a new group.
    fn place(
        &mut self,
        plan: &Plan,
        position: usize,
        event: &Event,
        info: &mut EventInfo,
        adjust: Adjust,
    ) -> core::result::Result<(), Refused> {
        let mut attr = request(event, plan.wish, false);
        adjust(&mut attr);
        for index in 0..self.groups.len() {
            if !self.mixes(index, &attr) {
                continue;
            }
            let leader = self.slots[self.groups[index].leader].fd;
            match group::open(&self.sys, &attr, plan.whom, leader, self.maps) {
                Ok((fd, attr)) => {
                    self.keep(position, fd, attr)?;
                    self.groups[index].members |= 1 << position;
                    self.note_group(plan, info, index, &attr);
                    return Ok(());
                }
                // The group has no room, or does not take this kind of event.
                Err((Errno(libc::EINVAL), _)) => {}
                Err(refused) => return Err(refused),
            }
        }
        // Two pinned groups on one thread would keep each other off the PMU.
        let pinned = plan.wish.pinned && self.groups.is_empty();
        let mut attr = request(event, Wish { pinned, ..plan.wish }, true);
        adjust(&mut attr);
        let (fd, attr) = group::open(&self.sys, &attr, plan.whom, -1, self.maps)?;
        self.keep(position, fd, attr)?;
        self.groups.push(Group { leader: position, members: 1 << position, pinned });
        self.note_group(plan, info, self.groups.len() - 1, &attr);
        Ok(())
    }

    /// Records which group took the event, and what was given up for it.
    fn note_group(&self, plan: &Plan, info: &mut EventInfo, index: usize, attr: &Attr) {
        info.group = index as u32;
        if attr.kind > kind::BREAKPOINT && attr.flags & flag::EXCLUDE_ANY == 0 && !plan.wish.kernel {
            info.add_remark(format_args!(
                "counts everywhere, the kernel included: this PMU cannot leave anything out"
            ));
        }
        let unpinned = plan.wish.pinned && !self.groups[index].pinned;
        if unpinned {
            info.flags |= EVENT_INFO_UNPINNED;
        }
        // Events for a further kind of core belong in that kind's first group.
        if (0..index).any(|earlier| self.mixes(earlier, attr)) {
            let pinning = if unpinned { ", and not pinned, since only one group can be" } else { "" };
            info.add_remark(format_args!(
                "not in the first group{pinning}: that has no room for it, or the two do not mix"
            ));
        } else if unpinned {
            info.add_remark(format_args!("not pinned, since only one group can be"));
        }
    }

    /// Records a new descriptor with its id, or closes it if the kernel returns no id.
    pub(crate) fn keep(&mut self, position: usize, fd: i32, attr: Attr) -> core::result::Result<(), Refused> {
        match persist(|| self.sys.event_id(fd)) {
            Ok(id) => {
                // Before the first enabling: mapping republishes the page, which must not happen to a live counter.
                let page = if self.maps { page::map(&self.sys, &attr, fd) } else { None };
                self.slots[position] = Slot { fd, id, attr, page };
                Ok(())
            }
            Err(errno) => {
                // SAFETY: opened just now, and kept nowhere.
                unsafe { self.sys.close(fd) };
                Err((errno, attr))
            }
        }
    }
}
