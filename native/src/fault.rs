//! Whether reading a counter in user space faults on this machine, found out where it does no harm.
//!
//! The page may allow what the CPU then refuses: a hypervisor without the instruction, or an administrator who switched it off
//! after the event was opened. A fault would end the program. So once per process and kind of PMU a child opens an event, maps
//! its page and reads the counter; if it dies of a signal, this process stays with read(2). The child is made by a bare `clone`
//! without an exit signal: no handler of the host runs in it or because of it, and no `wait` of the host sees it.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::diagnose::Target;
use crate::group;
use crate::kernel::{Attr, format, kind, request};
use crate::page::{View, capture};
use crate::pmc::{Cpu, PmcSource};
use crate::sys::{Kernel, Sys};

/// What `PICOLLO_RDPMC` says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Policy {
    /// Read in user space where the child survived it.
    Auto,
    /// Never.
    Off,
    /// Without asking a child: for simulators, which make the fault good.
    Force,
}

impl Policy {
    pub(crate) fn of_environment() -> Policy {
        match std::env::var_os("PICOLLO_RDPMC") {
            Some(value) if value == "off" => Policy::Off,
            Some(value) if value == "force" => Policy::Force,
            _ => Policy::Auto,
        }
    }
}

/// What the child found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Finding {
    /// It read a counter and lived.
    Safe,
    /// It died of a signal.
    Faults,
    /// It did not get as far as reading: no event, no page, not on the PMU. Nothing is known.
    Unknown,
}

/// Answers so far: `kind << 2 | answer`, and 0 for none. A process meets few kinds of PMU.
static KNOWN: [AtomicU64; 8] = [const { AtomicU64::new(0) }; 8];
const SAFE: u64 = 1;
const FAULTS: u64 = 2;

/// Whether counters of the PMU that this request is for can be read in user space without a fault.
pub(crate) fn user_reads_are_safe(attr: &Attr) -> bool {
    user_reads(attr) == Finding::Safe
}

/// What reading a counter of the PMU that this request is for does. A child tells, the first time.
pub(crate) fn user_reads(attr: &Attr) -> Finding {
    let key = key_of(attr);
    for known in &KNOWN {
        match known.load(Ordering::Relaxed) {
            0 => break,
            answer if answer >> 2 == key => {
                return if answer & 3 == SAFE { Finding::Safe } else { Finding::Faults };
            }
            _ => {}
        }
    }
    let finding = ask_child(|| read_one(attr));
    let answer = match finding {
        Finding::Safe => SAFE,
        Finding::Faults => FAULTS,
        // Not kept: it may be known another time.
        Finding::Unknown => return finding,
    };
    for known in &KNOWN {
        // Threads that ask at the same time all find the same; whether it is noted twice does not matter.
        if known.compare_exchange(0, key << 2 | answer, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            break;
        }
    }
    finding
}

/// One number for each PMU: on hybrid CPUs the upper half of a generic event's config names it.
fn key_of(attr: &Attr) -> u64 {
    match attr.kind {
        kind::HARDWARE | kind::CACHE if attr.config >> 32 != 0 => attr.config >> 32,
        kind::HARDWARE | kind::CACHE | kind::RAW => kind::RAW.into(),
        other => other.into(),
    }
}

/// In the child: opens, maps and reads. The exit code.
fn read_one(attr: &Attr) -> i32 {
    let attr =
        Attr { flags: attr.flags | crate::kernel::flag::DISABLED, read_format: format::SINGLE, ..*attr };
    let Ok((fd, _)) = group::open(&Kernel, &attr, Target { pid: 0, cpu: -1 }, -1) else { return 1 };
    let Ok(page) = Kernel.map_page(fd) else { return 1 };
    // SAFETY: ENABLE takes an integer.
    if unsafe { Kernel.ioctl(fd, request::ENABLE, 0) }.is_err() {
        return 1;
    }
    // SAFETY: mapped above and never unmapped: the process ends.
    let page = unsafe { page.as_ref() };
    for _ in 0..1000 {
        let Some(fields) = capture(page, |index| Cpu.has(index)) else { continue };
        let Ok(readable) = fields.counter else { continue };
        Cpu.read(readable.index);
        // Only a read with the page unmoved around it was one of a counter that was there.
        if page.lock_relaxed() == fields.lock {
            return 0;
        }
    }
    1
}

/// Runs `body` in a child that nobody notices. The body may make system calls and touch its own memory, and nothing else: other
/// threads of this process may hold any lock.
pub(crate) fn ask_child(body: impl FnOnce() -> i32) -> Finding {
    // SAFETY: zeroed signal sets are valid, and are overwritten or filled by the calls.
    let (mut all, mut before): (libc::sigset_t, libc::sigset_t) = unsafe { core::mem::zeroed() };
    // Handlers of the host must not run in the child: signals wait until the parent is alone again. SAFETY: as above.
    let masked = unsafe {
        libc::sigfillset(&raw mut all);
        // But for those that instructions raise: blocked, they would kill even where a sandbox answers them.
        for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP, libc::SIGSYS] {
            libc::sigdelset(&raw mut all, signal);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before) == 0
    };
    // All arguments are 0: no shared memory, no exit signal, the same stack in a copy. SAFETY: the child is a copy of this process
    // with this one thread; it leaves by _exit and returns to no frame of the parent.
    let child = unsafe { libc::syscall(libc::SYS_clone, 0, 0, 0, 0, 0) };
    if child == 0 {
        quiet_death();
        let code = body();
        // SAFETY: ends the child without running anything of the host's.
        unsafe { libc::syscall(libc::SYS_exit_group, code) };
    }
    if masked {
        // SAFETY: the set is the one that was in force.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, core::ptr::null_mut()) };
    }
    let Ok(child) = i32::try_from(child) else { return Finding::Unknown };
    if child <= 0 {
        return Finding::Unknown;
    }
    let mut status = 0;
    loop {
        // SAFETY: waits for the child just made; __WALL because it has no exit signal.
        let waited = unsafe { libc::waitpid(child, &raw mut status, libc::__WALL) };
        if waited == child {
            break;
        }
        if std::io::Error::last_os_error().raw_os_error() != Some(libc::EINTR) {
            return Finding::Unknown;
        }
    }
    match () {
        () if libc::WIFSIGNALED(status) => Finding::Faults,
        () if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0 => Finding::Safe,
        () => Finding::Unknown,
    }
}

/// In the child: a fault ends it at once, without a dump, a handler or a message.
fn quiet_death() {
    let limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: plain system calls on this child alone, with live arguments; a zeroed sigaction is the default action.
    unsafe {
        libc::setrlimit(libc::RLIMIT_CORE, &raw const limit);
        let action: libc::sigaction = core::mem::zeroed();
        for signal in [libc::SIGSEGV, libc::SIGILL, libc::SIGBUS] {
            libc::sigaction(signal, &raw const action, core::ptr::null_mut());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_tells_by_its_end() {
        assert_eq!(ask_child(|| 0), Finding::Safe);
        assert_eq!(ask_child(|| 1), Finding::Unknown);
        // A fault that a handler of the host would have caught: Rust's own handler for stack overflows is installed here.
        let faulting = || {
            // SAFETY: none: it is meant to fault, in a child.
            unsafe { core::ptr::without_provenance_mut::<u8>(8).write_volatile(1) };
            0
        };
        assert_eq!(ask_child(faulting), Finding::Faults);
    }

    /// Without a PMU to allow it, the instruction itself faults: the very death that the child is for.
    #[test]
    fn a_forbidden_counter_read_is_found_out() {
        if cfg!(target_arch = "x86_64") || cfg!(target_arch = "aarch64") {
            // No event is mapped in the child, so user code may read none.
            let finding = ask_child(|| {
                Cpu.read(1);
                0
            });
            assert_eq!(finding, Finding::Faults);
        }
    }

    #[test]
    fn one_key_for_each_pmu() {
        let attr = |kind, config| Attr { kind, config, ..Attr::default() };
        assert_eq!(key_of(&attr(kind::HARDWARE, 1)), key_of(&attr(kind::RAW, 0x1c2)));
        assert_eq!(key_of(&attr(kind::HARDWARE, 10 << 32)), 10);
        assert_eq!(key_of(&attr(11, 0x3c)), 11);
    }
}
