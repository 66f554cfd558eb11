//! Counts that the kernel keeps for everybody, in place of two events that it counts in the kernel only: context switches and
//! migrations read 0 for those who may count user space alone.

use core::ffi::c_char;

use crate::error::{Error, Result, Status};
use crate::group::Sample;
use crate::kernel::software;
use crate::sys::{Errno, Sys};
use crate::text;

/// A stand-in for a software event of one thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Substitute {
    what: What,
    /// The thread counted.
    thread: i32,
    /// Collected until the last disable.
    before: Sample,
    /// The kernel's total and the time when it was enabled; `None` while disabled.
    started: Option<(u64, u64)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    ContextSwitches,
    Migrations,
}

impl Substitute {
    /// The stand-in for a software event, where there is one that can be read now.
    pub(crate) fn find<S: Sys>(sys: &S, config: u64, thread: i32) -> Option<Substitute> {
        let what = match config {
            software::CONTEXT_SWITCHES => What::ContextSwitches,
            software::CPU_MIGRATIONS => What::Migrations,
            _ => return None,
        };
        let substitute = Substitute { what, thread, before: Sample::default(), started: None };
        substitute.total(sys, thread).is_ok().then_some(substitute)
    }

    /// Where its counts come from, for people.
    pub(crate) fn source(&self) -> &'static str {
        match self.what {
            What::ContextSwitches => "getrusage and /proc/TID/status",
            What::Migrations => "/proc/TID/sched",
        }
    }

    /// The kernel's total so far. `caller` is the calling thread.
    fn total<S: Sys>(&self, sys: &S, caller: i32) -> core::result::Result<u64, Errno> {
        let thread = self.thread;
        match self.what {
            What::ContextSwitches if thread == caller => sys.context_switches(),
            What::ContextSwitches => fields(
                sys,
                format_args!("/proc/{thread}/status"),
                &["voluntary_ctxt_switches", "nonvoluntary_ctxt_switches"],
            ),
            What::Migrations => fields(sys, format_args!("/proc/{thread}/sched"), &["se.nr_migrations"]),
        }
    }

    fn failed(&self, errno: Errno) -> Error {
        let why = format_args!("thread {} can no longer be asked for its counts; has it ended?", self.thread);
        Error::new(Status::Os, why).with_errno(errno.0)
    }

    pub(crate) fn enable<S: Sys>(&mut self, sys: &S, caller: i32, now: u64) -> Result<()> {
        if self.started.is_none() {
            self.started = Some((self.total(sys, caller).map_err(|errno| self.failed(errno))?, now));
        }
        Ok(())
    }

    pub(crate) fn disable<S: Sys>(&mut self, sys: &S, caller: i32, now: u64) -> Result<()> {
        self.before = self.sample(sys, caller, now)?;
        self.started = None;
        Ok(())
    }

    /// Count and times at this moment.
    pub(crate) fn sample<S: Sys>(&self, sys: &S, caller: i32, now: u64) -> Result<Sample> {
        let mut sample = self.before;
        if let Some((total, since)) = self.started {
            let current = self.total(sys, caller).map_err(|errno| self.failed(errno))?;
            sample.value += current.saturating_sub(total);
            sample.enabled += now.saturating_sub(since);
            sample.running = sample.enabled;
        }
        Ok(sample)
    }
}

/// The sum of the named fields of a file with a `name: number` on each line; all must be there.
fn fields<S: Sys>(
    sys: &S,
    path: core::fmt::Arguments<'_>,
    names: &[&str],
) -> core::result::Result<u64, Errno> {
    let mut name = [0 as c_char; 64];
    text::set(&mut name, path);
    let mut buffer = [0u8; 8192];
    let length = sys.read_file(text::get(&name), &mut buffer)?;
    // The thread's own name is on the first line and need not be UTF-8.
    let (mut sum, mut found) = (0u64, 0);
    for line in buffer[..length].split(|&byte| byte == b'\n') {
        let Ok(line) = core::str::from_utf8(line) else { continue };
        if let Some((name, value)) = line.split_once(':')
            && names.contains(&name.trim())
            && let Ok(value) = value.trim().parse::<u64>()
        {
            sum = sum.wrapping_add(value);
            found += 1;
        }
    }
    if found == names.len() { Ok(sum) } else { Err(Errno(libc::ENODATA)) }
}
