//! Starts and stops a session, and checks that started events count.

use crate::event::info::EVENT_INFO_SILENT;
use crate::opening::group::Group;
use crate::session::read::Samples;
use crate::session::session::{Entry, SessionOn};
use crate::user_read::sys::Sys;
use picollo_native::seam::kernel::{kind, request};
use picollo_native::seam::sys::{Errno, persist};
use picollo_native::work;
use picollo_native::{ExplainedError, Result, Status};

impl<S: Sys> SessionOn<S> {
    /// [`Session::enable`].
    pub fn enable(&mut self) -> Result<()> {
        self.check()?;
        let result = self.start();
        if result.is_err() {
            // Half a session must not continue to count.
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
            self.mark_silent_events()?;
        }
        self.rebase()
    }

    /// [`Session::disable`].
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

    /// Starts or stops a group through its leader: members run exactly when it does, so they start and stop together.
    pub(crate) fn control(&self, index: usize, request: u64) -> Result<()> {
        let Group { leader, members, .. } = self.opened.groups[index];
        if members == 0 {
            return Ok(());
        }
        let fd = self.opened.slots[leader].fd;
        // SAFETY: ENABLE and DISABLE take an integer.
        persist(|| unsafe { self.opened.sys.ioctl(fd, request, 0) }).map_err(|Errno(errno)| {
            let name = self.slot_name(leader);
            let verb = if request == request::ENABLE { "started" } else { "stopped" };
            let error = std::io::Error::from_raw_os_error(errno);
            let why = format_args!("{name}: counting could not be {verb}: {error}");
            self.with_owner(leader, ExplainedError::new(Status::Os, why).with_errno(errno))
        })
    }

    /// Does a little work, checks whether hardware events counted it, and marks those that did not.
    fn mark_silent_events(&mut self) -> Result<()> {
        use kind::{CACHE, HARDWARE, RAW};
        let hardware = |entry: &Entry| {
            matches!(entry.event.r#type, HARDWARE | CACHE | RAW) && entry.info.status == 0 && entry.everywhere
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
                entry.info.add_remark(format_args!(
                    "not on the PMU at once: others use it, such as the NMI watchdog (sudo sysctl kernel.nmi_watchdog=0) or \
                     other profilers"
                ));
            } else if is_cycles && to.value == from.value {
                entry.info.flags |= EVENT_INFO_SILENT;
                entry.info.add_remark(format_args!(
                    "on the PMU, but it does not count: the virtual machine's PMU is there in name only"
                ));
            }
        }
        Ok(())
    }
}
