//! What this machine can count, and what is missing.

use core::fmt::Write;
use core::sync::atomic::Ordering;

use crate::event::event::Event;
use crate::machine::diagnose::{Refusal, Target};
use crate::machine::machine::{self, Machine};
use crate::machine::perf_info::PerfInfo;
use crate::opening::attr::{Wish, request};
use crate::opening::group;
use crate::user_read::sys::{Policy, Sys, UserReads};
use crate::user_read::trial::Finding;
use picollo_native::seam::kernel::{Attr, CAP_USER_READ, kind};
use picollo_native::seam::sys::{Errno, Kernel, Perf};
use picollo_native::seam::text;

/// Checks what this machine can count: opens a counter for CPU cycles, and lets a child read it in user space.
///
/// Cost: about a millisecond for the kernel's files. The first call in a process adds a few hundred microseconds for
/// the child.
pub fn probe() -> PerfInfo {
    probe_with(&Kernel)
}

/// [`probe`] on a given system.
#[doc(hidden)]
pub fn probe_with<S: Sys>(sys: &S) -> PerfInfo {
    let (mut info, accepted) = inspect(sys);
    if info.user_read_available == 1
        && let Some(attr) = accepted
        && let Some(why) = user_read_refused(sys, &attr)
    {
        info.user_read_available = 0;
        let rest = info.explanation;
        text::set_sentences(&mut info.explanation, format_args!("{why}{}", text::get(&rest)));
    }
    info
}

/// Why user reads are impossible though the kernel allows them: the environment, or what a child found out. `None`:
/// they are possible. `attr` is the request that the kernel accepted.
fn user_read_refused<S: UserReads>(sys: &S, attr: &Attr) -> Option<&'static str> {
    match sys.policy() {
        Policy::Off => return Some("Counters are read by system call: PICOLLO_RDPMC=off. "),
        Policy::Misspelt => {
            return Some(
                "Counters are read by system call: PICOLLO_RDPMC has a value that is none of auto, on, 1, force, off and 0, and is \
                 taken for off. ",
            );
        }
        Policy::Force => return None,
        Policy::Auto => {}
    }
    match sys.user_reads(attr) {
        Finding::Safe => None,
        Finding::Faults => Some(
            "Counters cannot be read in user space, though the kernel allows it: the instruction faults (a hypervisor without it, \
             or /sys/devices/cpu/rdpmc is 0). They are read by system call. ",
        ),
        Finding::Unknown if cfg!(not(any(target_arch = "x86_64", target_arch = "aarch64"))) => Some(
            "Counters are read by system call, because on this architecture nothing tries whether reading them in user space \
             faults. PICOLLO_RDPMC=force reads them without trying. ",
        ),
        // Even if this is 0, the page permits reads there; only its index stays 0.
        Finding::Unknown if cfg!(target_arch = "aarch64") => Some(
            "Counters are read by system call, because a child could not read one in user space: sudo sysctl \
             kernel.perf_user_access=1. If it is 1, all counters may be taken, or a sandbox refuses the child \
             (PICOLLO_RDPMC=force reads without trying). ",
        ),
        Finding::Unknown => Some(
            "Counters are read by system call, because a child could not read one in user space: all counters may be taken, or a \
             sandbox refuses the child (PICOLLO_RDPMC=force reads without trying). ",
        ),
    }
}

/// The kernel's answers, and the request for CPU cycles as it accepted it.
fn inspect<S: Sys>(sys: &S) -> (PerfInfo, Option<Attr>) {
    let machine = Machine::inspect(sys);
    let mut info = PerfInfo { hypervisor: machine.hypervisor.into(), ..PerfInfo::NOTHING };
    info.paranoid = machine.paranoid.unwrap_or(info.paranoid);
    let target = Target { pid: 0, cpu: -1 };
    // Every user may make this request.
    let cycles = Event::new(kind::HARDWARE, 0);
    let attr = request(&cycles, Wish { kernel: false, inherit: false, pinned: false }, true);
    let mut accepted = None;
    match group::open(sys, &attr, target, -1, true) {
        Ok((fd, attr)) => {
            accepted = Some(attr);
            info.pmu_available = 1;
            (info.fixed_counters, info.programmable_counters) = machine::counters();
            let user_read = user_read(sys, fd);
            info.user_read_available = user_read.is_ok().into();
            // SAFETY: opened just now.
            unsafe { sys.close(fd) };
            explain_limits(&mut info, &machine, user_read);
        }
        Err((errno, attr)) => {
            let error = Refusal { name: cycles.name(), attr: &attr, target, errno }.explain(sys);
            text::set_sentences(&mut info.explanation, format_args!("{}", error.message()));
        }
    }
    (info, accepted)
}

/// Whether the kernel lets an event be read in user space; `Err(None)` if it denies that.
fn user_read<S: Perf>(sys: &S, fd: i32) -> Result<(), Option<Errno>> {
    let page = sys.map_page(fd).map_err(Some)?;
    // SAFETY: mapped just now, and unmapped only below.
    let capabilities = unsafe { page.as_ref() }.capabilities.load(Ordering::Relaxed);
    // SAFETY: mapped above, and not used any more.
    unsafe { sys.unmap_page(page) };
    if capabilities & CAP_USER_READ != 0 { Ok(()) } else { Err(None) }
}

fn explain_limits(info: &mut PerfInfo, machine: &Machine, user_read: Result<(), Option<Errno>>) {
    let mut text = text::Writer::new(&mut info.explanation);
    let _ = match user_read {
        Ok(()) => Ok(()),
        Err(Some(Errno(libc::EPERM))) => write!(
            text,
            "Reading in user space needs locked memory: raise kernel.perf_event_mlock_kb or RLIMIT_MEMLOCK. "
        ),
        Err(_) if cfg!(target_arch = "aarch64") => {
            write!(text, "Counters cannot be read in user space: sudo sysctl kernel.perf_user_access=1. ")
        }
        Err(_) => write!(text, "Counters cannot be read in user space: echo 1 > /sys/devices/cpu/rdpmc. "),
    };
    if machine.paranoid.is_none_or(|level| level >= 2) {
        let _ = write!(
            text,
            "Only user space is counted without CAP_PERFMON: sudo sysctl kernel.perf_event_paranoid=1. "
        );
    }
    if machine.nmi_watchdog {
        let _ = write!(text, "The NMI watchdog holds one counter: sudo sysctl kernel.nmi_watchdog=0. ");
    }
}
