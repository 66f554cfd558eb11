//! Pinned groups for which the PMU has no room. The kernel takes such a group off for good. Reading it then returns end
//! of file until it is enabled again, even if there is room again.
//!
//! If this shows when the group is enabled, it is opened again without pinning. If it shows later, it is enabled once
//! more, and opened again without pinning if it does not stay, then or later. Either way, the infos report it.

use crate::event::info::EVENT_INFO_UNPINNED;
use crate::opening::group::{self, Refused, Unreadable, Whom, positions};
use crate::opening::open::Opened;
use crate::session::options::SESSION_SKIP_UNAVAILABLE;
use crate::session::read::{Fast, Samples};
use crate::session::session::SessionOn;
use crate::user_read::sys::Sys;
use picollo_native::Result;
use picollo_native::seam::kernel::{ATTR_SIZE_5, Attr, flag, format, kind, request, software};
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
            for slot in positions(group.members) {
                let Some(position) = self.owner(slot) else { continue };
                let info = &mut self.entries[position].info;
                if info.flags & EVENT_INFO_UNPINNED == 0 {
                    is_first = true;
                    info.flags |= EVENT_INFO_UNPINNED;
                    info.say(format_args!(
                        "pushed off the PMU for a while, though pinned: that interval was not counted"
                    ));
                }
            }
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
        // The running thread has not ended. About any other thread, only the kernel knows.
        let certain = self.whom.pid < 0 || self.is_opener() && self.counts_opener();
        let result = match self.opened.reopen_unpinned(index, self.whom, certain) {
            Ok(()) => {
                for slot in positions(members) {
                    let Some(position) = self.owner(slot) else { continue };
                    let info = &mut self.entries[position].info;
                    info.flags |= EVENT_INFO_UNPINNED;
                    info.say(format_args!(
                        "not pinned: the PMU cannot keep the group on it all the time, so it takes turns and values are scaled"
                    ));
                }
                self.control(index, request::ENABLE)
            }
            Err((slot, refused)) => {
                let error = self.refused_later(slot, refused);
                for slot in positions(members) {
                    if let Some(position) = self.owner(slot) {
                        self.entries[position].info.fail(&error);
                    }
                }
                Err(error)
            }
        };
        // The other groups lost their readers above, too.
        self.find_fast();
        result
    }
}

impl<S: Sys> Opened<S> {
    /// Opens a pinned group again without pinning. If that fails, the group has no members, and the error names the
    /// slot of the event at fault. `certain`: the thread that is counted has not ended.
    fn reopen_unpinned(
        &mut self,
        index: usize,
        whom: Whom,
        certain: bool,
    ) -> core::result::Result<(), (usize, Refused)> {
        let leader = self.groups[index].leader;
        let anchor = if certain { Ok(None) } else { self.anchor(whom, self.counters[leader].fd).map(Some) };
        let result = match anchor {
            Ok(anchor) => {
                let result = self.replace_members(index, whom);
                let result = match anchor {
                    // If the thread has ended, that explains all other refusals.
                    Some(anchor) => self.joins(whom, anchor).map_err(|refused| (leader, refused)).and(result),
                    None => result,
                };
                if let Some(anchor) = anchor {
                    // SAFETY: opened by `anchor`, and not used after this.
                    unsafe { self.sys.close(anchor) };
                }
                result
            }
            Err(refused) => Err((leader, refused)),
        };
        if result.is_err() {
            positions(self.groups[index].members).for_each(|position| self.close(position));
            self.groups[index].members = 0;
        }
        result
    }

    fn replace_members(&mut self, index: usize, whom: Whom) -> core::result::Result<(), (usize, Refused)> {
        let members = self.groups[index].members;
        self.groups[index].pinned = false;
        // The old events close first, because the new group may need what they hold.
        positions(members).for_each(|position| self.close(position));
        let mut leader = -1;
        for position in positions(members) {
            let attr = Attr { flags: self.attrs[position].flags & !flag::PINNED, ..self.attrs[position] };
            let opened = group::open(&self.sys, &attr, whom, leader);
            opened
                .and_then(|(fd, attr)| self.keep(position, fd, attr))
                .map_err(|refused| (position, refused))?;
            if leader < 0 {
                leader = self.counters[position].fd;
            }
        }
        Ok(())
    }

    /// Opens an event of the thread that the group of `old` counts, if that thread has not ended. The id proves
    /// nothing, because another thread may have it by now. But the kernel takes events into a group only if they count
    /// the same thread. If an event opened by id joins the old group, the id has meant that thread until now. If later
    /// another event joins the anchor, it still does, and everything opened in between counts that thread, too.
    fn anchor(&self, whom: Whom, old: i32) -> core::result::Result<i32, Refused> {
        let (anchor, _) = group::open(&self.sys, &dummy(), whom, -1)?;
        self.joins(whom, old).map(|()| anchor).inspect_err(|_| {
            // SAFETY: opened just now, and kept nowhere.
            unsafe { self.sys.close(anchor) };
        })
    }

    /// Whether an event of this thread may join a group.
    fn joins(&self, whom: Whom, leader: i32) -> core::result::Result<(), Refused> {
        match group::open(&self.sys, &dummy(), whom, leader) {
            Ok((fd, _)) => {
                // SAFETY: opened just now, and kept nowhere.
                unsafe { self.sys.close(fd) };
                Ok(())
            }
            // The group is another thread's or, in newer kernels, that of a thread that has ended.
            Err((Errno(libc::EINVAL | libc::ENODEV), attr)) => Err((Errno(libc::ESRCH), attr)),
            Err(refused) => Err(refused),
        }
    }
}

/// A request for an event that counts nothing and needs no counter.
fn dummy() -> Attr {
    Attr {
        kind: kind::SOFTWARE,
        size: ATTR_SIZE_5,
        config: software::DUMMY,
        read_format: format::SINGLE,
        flags: flag::DISABLED | flag::EXCLUDE_KERNEL | flag::EXCLUDE_HV,
        ..Attr::default()
    }
}
