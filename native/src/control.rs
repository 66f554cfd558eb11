//! Starting and stopping a session, and making sure that what was started counts.

use crate::error::{Error, Result, Status};
use crate::fast::Fast;
use crate::group::{Group, Unreadable, persist, positions};
use crate::kernel::{kind, request};
use crate::options::SESSION_SKIP_UNAVAILABLE;
use crate::reading::{EVENT_INFO_SILENT, EVENT_INFO_UNPINNED};
use crate::sampling::Samples;
use crate::session::{Entry, Session};
use crate::sys::{Errno, Sys};
use crate::work;

impl<S: Sys> Session<S> {
    /// Starts counting, and takes a new base.
    pub fn enable(&mut self) -> Result<()> {
        self.check()?;
        let result = self.start();
        if result.is_err() {
            // Half a session must not go on counting.
            let _ = self.stop();
        }
        result
    }

    fn start(&mut self) -> Result<()> {
        for index in 0..self.opened.groups.len() {
            self.control(index, request::ENABLE)?;
        }
        let caller = self.caller();
        for entry in &mut self.entries {
            if let Some(substitute) = &mut entry.substitute {
                substitute.enable(&self.opened.sys, caller);
            }
        }
        self.enabled = true;
        self.unpin_where_needed()?;
        if !self.proven && self.counts_opener() && self.is_opener() {
            self.proven = true;
            self.look_for_silence()?;
        }
        self.rebase()
    }

    /// Stops counting. What was counted stays readable.
    pub fn disable(&mut self) -> Result<()> {
        self.check()?;
        self.stop()
    }

    pub(crate) fn stop(&mut self) -> Result<()> {
        self.enabled = false;
        let mut result = Ok(());
        for index in 0..self.opened.groups.len() {
            result = result.and(self.control(index, request::DISABLE));
        }
        let caller = self.caller();
        for entry in &mut self.entries {
            if let Some(substitute) = &mut entry.substitute {
                substitute.disable(&self.opened.sys, caller);
            }
        }
        result
    }

    /// Starts or stops a group. Only the leader: its members run exactly when it does, so they start and stop together.
    fn control(&self, index: usize, request: u64) -> Result<()> {
        let Group { leader, members, .. } = self.opened.groups[index];
        if members == 0 {
            return Ok(());
        }
        let fd = self.opened.counters[leader].fd;
        // SAFETY: ENABLE and DISABLE take an integer.
        persist(|| unsafe { self.opened.sys.ioctl(fd, request, 0) }).map_err(|Errno(errno)| {
            let leader = self.owner(leader);
            let name = self.entries[leader].event.name();
            let verb = if request == request::ENABLE { "started" } else { "stopped" };
            let error = std::io::Error::from_raw_os_error(errno);
            let why = format_args!("{name}: counting could not be {verb}: {error}");
            Error::new(Status::Os, why).with_errno(errno).with_event(leader)
        })
    }

    /// A pinned group that the PMU had no room for reads as end of file. It would stay so for ever: open it again unpinned.
    fn unpin_where_needed(&mut self) -> Result<()> {
        for index in 0..self.opened.groups.len() {
            let group = self.opened.groups[index];
            if !group.pinned || self.read_group(index, &mut Samples::new()) != Err(Unreadable::PinnedOut) {
                continue;
            }
            // Nobody may look at the pages of events that are about to be closed.
            self.fast = Fast::none();
            if let Err((position, refused)) = self.opened.reopen_unpinned(index, self.target) {
                let position = self.owner(position);
                let name = self.entries[position].event.name();
                let error = self.opened.explain(name, position, self.target, refused);
                for slot in positions(group.members) {
                    let position = self.owner(slot);
                    self.entries[position].info.fail(&error);
                }
                if self.has(SESSION_SKIP_UNAVAILABLE) {
                    continue;
                }
                return Err(error);
            }
            for slot in positions(group.members) {
                let position = self.owner(slot);
                let info = &mut self.entries[position].info;
                info.flags |= EVENT_INFO_UNPINNED;
                info.say(format_args!(
                    "not pinned: the PMU cannot keep the group on it all the time, so it takes turns and values are scaled"
                ));
            }
            self.control(index, request::ENABLE)?;
            self.find_fast();
        }
        Ok(())
    }

    /// Works a little and looks whether hardware events noticed; marks those that did not.
    fn look_for_silence(&mut self) -> Result<()> {
        use kind::{CACHE, HARDWARE, RAW};
        let hardware = |entry: &Entry| {
            matches!(entry.event.r#type, HARDWARE | CACHE | RAW) && entry.info.status == 0 && entry.parts == 0
        };
        if !self.entries.iter().any(hardware) {
            return Ok(());
        }
        let (mut before, mut after) = (Samples::new(), Samples::new());
        self.sample_all(&mut before)?;
        work::add_chain_256(100);
        self.sample_all(&mut after)?;
        for (position, entry) in self.entries.iter_mut().enumerate().filter(|(_, entry)| hardware(entry)) {
            let (from, to) =
                (before.get(position).unwrap_or_default(), after.get(position).unwrap_or_default());
            let is_cycles = (entry.event.r#type, entry.event.config) == (HARDWARE, 0);
            if to.running == from.running {
                entry.info.flags |= EVENT_INFO_SILENT;
                entry.info.say(format_args!(
                    "not on the PMU at once: others use it, such as the NMI watchdog (sudo sysctl kernel.nmi_watchdog=0) or \
                     other profilers"
                ));
            } else if is_cycles && to.value == from.value {
                entry.info.flags |= EVENT_INFO_SILENT;
                entry.info.say(format_args!(
                    "on the PMU, but it does not count: the virtual machine's PMU is there in name only"
                ));
            }
        }
        Ok(())
    }
}
