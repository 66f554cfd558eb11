//! Pinned groups for which the PMU has no room. The kernel takes such a group off for good. Reading it then returns end
//! of file until it is enabled again, even if there is room again.
//!
//! If this shows when the group is enabled, it is opened again without pinning. If it shows later, it is enabled once
//! more, and opened again without pinning if it does not stay, then or later. Either way, the infos report it.

use crate::event::info::{EVENT_INFO_UNPINNED, EventInfo};
use crate::machine::diagnose::Target;
use crate::opening::group::{self, Refused, Unreadable, positions};
use crate::opening::open::Opened;
use crate::opening::substitute::birth;
use crate::session::options::SESSION_SKIP_UNAVAILABLE;
use crate::session::read::{Fast, Samples};
use crate::session::session::SessionOn;
use crate::user_read::sys::Sys;
use picollo_native::Result;
use picollo_native::seam::kernel::{Attr, flag, request};
use picollo_native::seam::sys::Errno;

impl<S: Sys> SessionOn<S> {
    /// After enabling: opens pinned groups that found no room again, without pinning.
    pub(crate) fn unpin_where_needed(&mut self) -> Result<()> {
        for index in 0..self.opened.groups.len() {
            if self.is_pushed_off(index) {
                let result = self.unpin(index);
                if !self.has(SESSION_SKIP_UNAVAILABLE) {
                    result?;
                }
            }
        }
        Ok(())
    }

    fn is_pushed_off(&self, index: usize) -> bool {
        let group = &self.opened.groups[index];
        group.pinned
            && group.members != 0
            && self.read_group(index, &mut Samples::new()) == Err(Unreadable::PinnedOut)
    }

    /// After a reading: lets pinned groups that were off the PMU count again, and explains in the infos why the
    /// interval was not counted. Their next interval starts here.
    #[cold]
    pub(crate) fn bring_back(&mut self, pushed_off: u64) {
        for index in positions(pushed_off) {
            let group = self.opened.groups[index];
            if !group.pinned {
                continue;
            }
            let mut is_first = false;
            self.each_info(group.members, |info| {
                if info.flags & EVENT_INFO_UNPINNED == 0 {
                    is_first = true;
                    info.flags |= EVENT_INFO_UNPINNED;
                    info.add_remark(format_args!(
                        "pushed off the PMU for a while, though pinned: that interval was not counted"
                    ));
                }
            });
            if !self.enabled {
                continue;
            }
            // Leaves the error state. If either call fails, the next reading finds the group as it is.
            let _ = self.control(index, request::DISABLE).and_then(|()| self.control(index, request::ENABLE));
            if (!is_first || self.is_pushed_off(index)) && self.unpin(index).is_err() {
                // The infos report it.
                continue;
            }
            let mut fresh = Samples::new();
            if self.read_group(index, &mut fresh).is_ok() {
                for slot in positions(group.members) {
                    if let Some(sample) = fresh.get(slot) {
                        self.tally.skip(slot, self.tally.histories[slot].last, sample);
                    }
                }
            }
        }
    }

    /// Opens a group again without pinning, and starts it. If that fails, closes its events, and their infos say why.
    fn unpin(&mut self, index: usize) -> Result<()> {
        let members = self.opened.groups[index].members;
        // Nobody may read the pages of events that are about to be closed.
        self.fast = Fast::none();
        let mut replaced = self.opened.replace_members(index, self.plan.whom);
        if !self.is_same_thread() {
            // If the thread has ended, that explains all other refusals.
            let leader = self.opened.groups[index].leader;
            replaced = Err((leader, (Errno(libc::ESRCH), self.opened.slots[leader].attr)));
        }
        let result = match replaced {
            Ok(()) => {
                self.each_info(members, |info| {
                    info.flags |= EVENT_INFO_UNPINNED;
                    info.add_remark(format_args!(
                        "not pinned: the PMU cannot keep the group on it all the time, so it takes turns and values are scaled"
                    ));
                });
                self.control(index, request::ENABLE)
            }
            Err((slot, refused)) => {
                positions(members).for_each(|position| self.opened.close(position));
                self.opened.groups[index].members = 0;
                let error = self.refused_later(slot, refused);
                self.each_info(members, |info| info.fail(&error));
                Err(error)
            }
        };
        // The other groups lost their readers above, too.
        self.find_fast();
        result
    }

    /// Changes the infos of the events that these slots belong to.
    fn each_info(&mut self, slots: u64, mut change: impl FnMut(&mut EventInfo)) {
        for slot in positions(slots) {
            if let Some(position) = self.owner(slot) {
                change(&mut self.entries[position].info);
            }
        }
    }

    /// Whether the id that is counted still means the same thread. If so after events were opened, they count it.
    ///
    /// If the start of the thread was never known (no `/proc`, or `hidepid`), it counts as the same. The kernel itself
    /// refuses the id of a thread that has ended, unless another one has it.
    fn is_same_thread(&self) -> bool {
        let is_running = self.is_opener() && self.counts_opener();
        let is_old = || self.birth.is_none() || birth(&self.opened.sys, self.plan.whom.pid) == self.birth;
        self.plan.whom.pid < 0 || is_running || is_old()
    }
}

impl<S: Sys> Opened<S> {
    /// Opens a group again without pinning, or returns the slot of the event at fault.
    fn replace_members(&mut self, index: usize, whom: Target) -> core::result::Result<(), (usize, Refused)> {
        let members = self.groups[index].members;
        self.groups[index].pinned = false;
        // The old events close first, because the new group may need what they hold.
        positions(members).for_each(|position| self.close(position));
        let mut leader = -1;
        for position in positions(members) {
            let attr = self.slots[position].attr;
            let attr = Attr { flags: attr.flags & !flag::PINNED, ..attr };
            let opened = group::open(&self.sys, &attr, whom, leader, self.maps);
            opened
                .and_then(|(fd, attr)| self.keep(position, fd, attr))
                .map_err(|refused| (position, refused))?;
            if leader < 0 {
                leader = self.slots[position].fd;
            }
        }
        Ok(())
    }
}
