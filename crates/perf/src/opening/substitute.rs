//! Counts that the kernel keeps for everybody, in place of the events for context switches and migrations. The kernel
//! counts those two only in the kernel, so they read 0 for users who may count user space only.

use crate::opening::group::Sample;
use picollo_native::seam::kernel::software;
use picollo_native::seam::sys::{Files, Threads};

/// A stand-in for a software event of one thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Substitute {
    what: What,
    /// The thread counted.
    thread: i32,
    /// Its start time, from its `stat`. The id alone does not identify it, because it is reused when the thread ends.
    birth: Option<u64>,
    /// The sums up to the last disable.
    before: Sample,
    /// The kernel's totals when it was enabled; `None` while disabled.
    started: Option<Sample>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    ContextSwitches,
    Migrations,
}

impl Substitute {
    /// Returns the stand-in for a software event, if there is one that can be read now.
    pub(crate) fn find<S: Files + Threads>(sys: &S, config: u64, thread: i32) -> Option<Substitute> {
        let what = match config {
            software::CONTEXT_SWITCHES => What::ContextSwitches,
            software::CPU_MIGRATIONS => What::Migrations,
            _ => return None,
        };
        let birth = birth(sys, thread);
        let substitute = Substitute { what, thread, birth, before: Sample::default(), started: None };
        substitute.total(sys, thread).map(|_| substitute)
    }

    /// The source of its counts, for people.
    pub(crate) fn source(&self) -> &'static str {
        match self.what {
            What::ContextSwitches => "getrusage and /proc/TID/status",
            What::Migrations => "/proc/TID/sched",
        }
    }

    /// The kernel's totals so far: the count, and the time that the thread has run, which perf counts as enabled.
    /// `None` once the thread has ended. `caller` is the calling thread.
    fn total<S: Files + Threads>(&self, sys: &S, caller: i32) -> Option<Sample> {
        let thread = self.thread;
        let value = match self.what {
            What::ContextSwitches if thread == caller => sys.context_switches().ok(),
            What::ContextSwitches => fields(
                sys,
                format_args!("/proc/{thread}/status"),
                &["voluntary_ctxt_switches", "nonvoluntary_ctxt_switches"],
            ),
            What::Migrations => fields(sys, format_args!("/proc/{thread}/sched"), &["se.nr_migrations"]),
        }?;
        let time = sys.thread_nanos(thread).ok().or_else(|| run_time(sys, thread))?;
        // Checked last: if it is the same thread now, it was the same thread all the time.
        if thread != caller && birth(sys, thread) != self.birth {
            return None;
        }
        Some(Sample { value, enabled: time, running: time })
    }

    pub(crate) fn enable<S: Files + Threads>(&mut self, sys: &S, caller: i32) {
        if self.started.is_none() {
            self.started = self.total(sys, caller);
        }
    }

    pub(crate) fn disable<S: Files + Threads>(&mut self, sys: &S, caller: i32) {
        self.before = self.sample(sys, caller).unwrap_or(self.before);
        self.started = None;
    }

    /// Count and times at this moment; `None` once the thread has ended.
    pub(crate) fn sample<S: Files + Threads>(&self, sys: &S, caller: i32) -> Option<Sample> {
        let mut sample = self.before;
        if let Some(started) = self.started {
            let total = self.total(sys, caller)?;
            sample.value += total.value.saturating_sub(started.value);
            sample.enabled += total.enabled.saturating_sub(started.enabled);
            sample.running = sample.enabled;
        }
        Some(sample)
    }
}

/// When a thread was started, in clock ticks since boot: the 22nd field of its `stat`, the 20th after its name.
pub(crate) fn birth(sys: &dyn Files, thread: i32) -> Option<u64> {
    let mut buffer = [0u8; 1024];
    let stat = sys.file(format_args!("/proc/{thread}/stat"), &mut buffer).ok()?;
    // The name is in parentheses. It may contain parentheses itself, and bytes that are not UTF-8.
    number(stat.rsplit(|&byte| byte == b')').next()?, 19)
}

/// Nanoseconds that a thread of any process has run: the first number of its `schedstat`.
fn run_time(sys: &dyn Files, thread: i32) -> Option<u64> {
    let mut buffer = [0u8; 128];
    number(sys.file(format_args!("/proc/{thread}/schedstat"), &mut buffer).ok()?, 0)
}

/// The n-th word of a text, as a number.
fn number(text: &[u8], at: usize) -> Option<u64> {
    core::str::from_utf8(text).ok()?.split_ascii_whitespace().nth(at)?.parse().ok()
}

/// The sum of the named fields of a file with a `name: number` on each line. All of them must be present.
fn fields(sys: &dyn Files, path: core::fmt::Arguments<'_>, names: &[&str]) -> Option<u64> {
    let mut buffer = [0u8; 8192];
    // The thread's own name is on the first line and need not be UTF-8.
    let lines = sys.file(path, &mut buffer).ok()?.split(|&byte| byte == b'\n');
    let (mut sum, mut found) = (0u64, 0);
    for (name, value) in lines.filter_map(|line| core::str::from_utf8(line).ok()?.split_once(':')) {
        if names.contains(&name.trim())
            && let Ok(value) = value.trim().parse::<u64>()
        {
            sum = sum.wrapping_add(value);
            found += 1;
        }
    }
    (found == names.len()).then_some(sum)
}
