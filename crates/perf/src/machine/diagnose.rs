//! Explains why an event cannot be counted: the likely cause, and what to do about it.

use core::ffi::c_char;
use core::fmt::{self, Write};

use crate::machine::machine::Machine;
use picollo_native::seam::kernel::{Attr, CLOEXEC, flag, kind};
use picollo_native::seam::sys::{Errno, Files, Perf};
use picollo_native::seam::text;
use picollo_native::seam::valgrind;
use picollo_native::{ExplainedError, Status};

/// A refused `perf_event_open`.
pub struct Refusal<'a> {
    /// The event's display name.
    pub name: &'a str,
    /// The last request that was tried.
    pub attr: &'a Attr,
    pub target: Target,
    pub errno: Errno,
}

impl Refusal<'_> {
    fn counts_kernel(&self) -> bool {
        self.attr.flags & flag::EXCLUDE_KERNEL == 0
    }

    fn is_core_event(&self) -> bool {
        matches!(self.attr.kind, kind::HARDWARE | kind::CACHE | kind::RAW)
    }

    /// The error to give to the caller.
    pub fn explain<S: Files + Perf>(&self, sys: &S) -> ExplainedError {
        let machine = Machine::inspect(sys);
        let mut buffer = [0 as c_char; 496];
        let mut text = text::Writer::new(&mut buffer);
        // The writer cuts instead of failing.
        let _ = write!(text, "{}: ", self.name);
        let _ = self.write_cause(&mut text, sys, &machine);
        let message = text::get(&buffer);
        ExplainedError::new(status_for(self.errno), format_args!("{message}")).with_errno(self.errno.0)
    }

    fn write_cause(&self, text: &mut text::Writer<'_>, sys: &dyn Perf, machine: &Machine) -> fmt::Result {
        text.write_str(match self.errno.0 {
            libc::ENOENT => return self.not_there(text, machine),
            libc::EACCES => return self.denied(text, machine),
            libc::EPERM | libc::ENOSYS => return self.blocked(text, sys, machine),
            libc::EINVAL => return self.invalid(text, sys, machine),
            libc::EOPNOTSUPP => {
                "the PMU does not offer what was asked for (EOPNOTSUPP): precision, exclusion of a ring, or the event itself. \
                 Ask for less, or for another event"
            }
            libc::ENODEV => {
                "the kernel has no PMU ready for this event (ENODEV): its driver is missing or failed to start. See dmesg | \
                 grep -i pmu; software events such as task-clock work everywhere"
            }
            libc::ENXIO => {
                "the event needs a register that this machine hides (ENXIO), as virtual machines do with offcore and other \
                 extra registers. Leave the event out or run on the host"
            }
            libc::EBUSY => {
                "someone else has the PMU for itself (EBUSY): a profiler with exclusive events, oprofile, a virtualisation \
                 tool, or firmware. Stop it and try again"
            }
            libc::EMFILE => {
                "no file descriptor is left in this process (EMFILE); a session takes one per event. Raise the limit: ulimit -n \
                 65536, or RLIMIT_NOFILE, or LimitNOFILE= of the service"
            }
            libc::ENFILE => {
                "the whole system is out of file descriptors (ENFILE). Raise it: sysctl fs.file-max=2097152"
            }
            libc::ENOSPC if self.attr.kind == kind::BREAKPOINT => {
                "all hardware breakpoints of the target are taken (ENOSPC): x86 has 4, shared with debuggers. Free one"
            }
            libc::ENOSPC => "the PMU has no free counter for this (ENOSPC). Close another session",
            libc::E2BIG => {
                "this kernel is older than the event (E2BIG): it lacks the fields that the event needs, config3 most likely. \
                 Use a newer kernel or another event"
            }
            libc::EBADF => "the group's leader was closed by someone else (EBADF)",
            libc::ENOMEM => "the kernel has no memory for it (ENOMEM)",
            libc::EINTR | libc::EAGAIN => "the kernel kept asking to try again. Try later",
            libc::ESRCH => {
                let thread = self.target.pid;
                return write!(text, "there is no thread {thread} (ESRCH): it has ended, or the id is wrong");
            }
            errno => {
                let error = std::io::Error::from_raw_os_error(errno);
                return write!(text, "perf_event_open failed: {error}");
            }
        })
    }

    fn not_there(&self, text: &mut text::Writer<'_>, machine: &Machine) -> fmt::Result {
        if !self.is_core_event() {
            return write!(
                text,
                "the kernel knows no such event of type {} (ENOENT). /sys/bus/event_source/devices lists:{}",
                self.attr.kind,
                machine.devices()
            );
        }
        if machine.core_pmu {
            return text.write_str(
                "this CPU, or the part of it that the hypervisor shows, does not have the event (ENOENT). perf list and \
                 /sys/bus/event_source/devices/*/events name those it has",
            );
        }
        if machine.wsl {
            return text.write_str(
                "this WSL machine shows no PMU (ENOENT). In %UserProfile%\\.wslconfig write [wsl2] and \
                 hardwarePerformanceCounters=true, then run wsl --shutdown. It is the default since 0.50.2 where the host \
                 supports it, and may keep the machine from starting on Windows 10",
            );
        }
        let (what, remedy) = if machine.hypervisor {
            let what = match machine.container {
                true => "the virtual machine that this container runs in has no PMU",
                false => "this virtual machine has no PMU",
            };
            (
                what,
                "Enable it on the host (KVM: -cpu host,pmu=on; VMware: CPU performance counters; cloud: a metal instance)",
            )
        } else {
            ("the kernel found no PMU in this CPU", "See dmesg | grep -i -e pmu -e 'performance events'")
        };
        // The advice comes before the list of devices, because an event's information has room for only 247 bytes.
        let devices = machine.devices();
        write!(
            text,
            "{what} (ENOENT). {remedy}, or count task-clock and page-faults. The kernel lists:{devices}"
        )
    }

    fn denied(&self, text: &mut text::Writer<'_>, machine: &Machine) -> fmt::Result {
        let level = display_level(machine.paranoid);
        if self.target.pid == -1 {
            return write!(
                text,
                "counting everything on a CPU needs CAP_PERFMON or kernel.perf_event_paranoid of 0 or less (EACCES; it is \
                 {level}): sudo sysctl kernel.perf_event_paranoid=0"
            );
        }
        if self.attr.kind == kind::TRACEPOINT {
            return self.tracepoints(text, "EACCES", machine);
        }
        if self.counts_kernel() && machine.paranoid.is_none_or(|level| level >= 2) {
            let beside = self.attr.kind > kind::BREAKPOINT;
            let why = if beside { ", and this PMU cannot leave the kernel out" } else { "" };
            return write!(
                text,
                "counting in the kernel needs CAP_PERFMON or kernel.perf_event_paranoid of 1 or less (EACCES; it is {level}{why}): \
                 sudo sysctl kernel.perf_event_paranoid=1, or count user space only"
            );
        }
        if self.target.pid > 0 {
            return write!(
                text,
                "thread {} belongs to someone else (EACCES). Run as its user, or as root, or with CAP_PERFMON and CAP_SYS_PTRACE",
                self.target.pid
            );
        }
        if machine.paranoid.is_some_and(|level| level >= 3) {
            return write!(
                text,
                "kernel.perf_event_paranoid is {level}, which on Debian's and Ubuntu's kernels denies every use of counters \
                 (EACCES): sudo sysctl kernel.perf_event_paranoid=1, or CAP_PERFMON"
            );
        }
        write!(
            text,
            "a security module (SELinux, AppArmor, lockdown) denies the use of counters (EACCES; kernel.perf_event_paranoid is \
             {level}). See dmesg and the audit log, or run with CAP_PERFMON"
        )
    }

    fn tracepoints(&self, text: &mut text::Writer<'_>, code: &str, machine: &Machine) -> fmt::Result {
        write!(
            text,
            "tracepoints need CAP_PERFMON or kernel.perf_event_paranoid=-1 ({code}; it is {}): sudo sysctl \
             kernel.perf_event_paranoid=-1, or run as root",
            display_level(machine.paranoid)
        )
    }

    /// EPERM and ENOSYS: a filter before the system call refused it, or the kernel itself.
    fn blocked(&self, text: &mut text::Writer<'_>, sys: &dyn Perf, machine: &Machine) -> fmt::Result {
        let is_missing = self.errno.0 == libc::ENOSYS;
        if is_missing && valgrind::refuses_counters() {
            return text.write_str(
                "Valgrind executes this program, and counters would count Valgrind's work (ENOSYS). picollo stat --counts PROGRAM \
                 counts instructions exactly; PICOLLO_PERF_UNDER_VALGRIND=1 counts all the same",
            );
        }
        if !simplest_works(sys) && machine.seccomp {
            let code = if is_missing { "ENOSYS" } else { "EPERM" };
            return write!(
                text,
                "a seccomp filter blocks perf_event_open ({code}), as container runtimes do. Docker: --cap-add PERFMON, or a \
                 profile that allows it (--security-opt seccomp=…); where that does nothing, --security-opt seccomp=unconfined. \
                 Kubernetes: securityContext.seccompProfile"
            );
        }
        if is_missing {
            return text.write_str(
                "the kernel has no perf_event_open (ENOSYS): WSL 1 (use WSL 2), gVisor, or a kernel built without \
                 CONFIG_PERF_EVENTS",
            );
        }
        if self.attr.kind == kind::TRACEPOINT {
            return self.tracepoints(text, "EPERM", machine);
        }
        text.write_str(
            "denied (EPERM): by a security module or kernel lockdown, or because the event needs CAP_PERFMON (as kernel \
             breakpoints do). See dmesg and the audit log, or run as root",
        )
    }

    fn invalid(&self, text: &mut text::Writer<'_>, sys: &dyn Perf, machine: &Machine) -> fmt::Result {
        let Attr { kind, config, config1, bp_type, .. } = self.attr;
        if self.target == (Target { pid: -1, cpu: -1 }) {
            return text.write_str("everything on every CPU cannot be counted at once (EINVAL): name a CPU");
        }
        if let Some(offender) = self.offender(sys) {
            return write!(
                text,
                "the kernel refuses it together with {offender} (EINVAL), and takes it without"
            );
        }
        if *kind == kind::BREAKPOINT {
            let read_only = if *bp_type == 1 { " x86 has no read-only breakpoints: use rw." } else { "" };
            return write!(
                text,
                "the CPU cannot watch this place (EINVAL).{read_only} The address must be a multiple of the length; for execution \
                 the length is that of a pointer; and a kernel address needs kernel counting"
            );
        }
        write!(
            text,
            "the kernel refuses the event's numbers (EINVAL; type {kind}, config {config:#x}, config1 {config1:#x}): no such event on \
             this PMU, or not for this target"
        )?;
        match machine.nmi_watchdog {
            true => text.write_str(
                ". The NMI watchdog holds one counter: sudo sysctl kernel.nmi_watchdog=0 frees it",
            ),
            false => Ok(()),
        }
    }

    /// Finds the part of the request that the kernel refuses: without it, the event opens.
    fn offender(&self, sys: &dyn Perf) -> Option<&'static str> {
        let flags = [
            (flag::PINNED, "PINNED"),
            (flag::INHERIT, "INHERIT"),
            (flag::EXCLUDE_IDLE, "the modifier I (not while idle)"),
            (flag::EXCLUDE_HOST | flag::EXCLUDE_GUEST, "the modifiers H and G (host, guest)"),
            (flag::PRECISE_MASK, "the modifier p (precision)"),
            (
                flag::EXCLUDE_USER | flag::EXCLUDE_KERNEL | flag::EXCLUDE_HV,
                "the choice of rings (user, kernel, hypervisor)",
            ),
        ];
        for (bits, name) in flags {
            let smaller = Attr { flags: self.attr.flags & !bits, ..*self.attr };
            if smaller != *self.attr && opens(sys, &smaller, self.target) {
                return Some(name);
            }
        }
        if self.target.cpu >= 0
            && self.target.pid >= 0
            && opens(sys, self.attr, Target { cpu: -1, ..self.target })
        {
            return Some("the CPU that was named (is there such a CPU?)");
        }
        // Many PMUs beside the cores count only for whole CPUs, and cannot exclude anything either.
        let beside = self.attr.kind > kind::BREAKPOINT;
        let everything = Attr { flags: self.attr.flags & !flag::EXCLUDE_ANY, ..*self.attr };
        if beside && self.target.pid >= 0 && opens(sys, &everything, Target { pid: -1, cpu: 0 }) {
            return Some("a thread as target: it counts whole CPUs only (ON_CPU, thread -1)");
        }
        None
    }
}

/// Whether an event can be opened. It is closed again at once.
fn opens(sys: &dyn Perf, attr: &Attr, target: Target) -> bool {
    let attr = Attr { flags: attr.flags | flag::DISABLED, ..*attr };
    match sys.open(&attr, target.pid, target.cpu, -1, CLOEXEC) {
        Ok(fd) => {
            // SAFETY: opened just now.
            unsafe { sys.close(fd) };
            true
        }
        Err(_) => false,
    }
}

/// Whether the event with the fewest requirements can be opened: a software event, user only, on the calling thread.
fn simplest_works(sys: &dyn Perf) -> bool {
    let flags = flag::EXCLUDE_KERNEL | flag::EXCLUDE_HV;
    let clock = Attr { kind: kind::SOFTWARE, config: 1, flags, ..Attr::default() };
    opens(sys, &clock, Target { pid: 0, cpu: -1 })
}

/// The kind of failure that an errno of `perf_event_open` means.
fn status_for(errno: Errno) -> Status {
    match errno.0 {
        libc::ENOENT | libc::ENODEV | libc::ENXIO => Status::NoSuchEvent,
        libc::EACCES | libc::EPERM => Status::Permission,
        libc::ENOSYS | libc::EOPNOTSUPP => Status::Unsupported,
        libc::ENOMEM => Status::OutOfMemory,
        _ => Status::Os,
    }
}

/// The level of `perf_event_paranoid`, for people.
fn display_level(level: Option<i32>) -> impl fmt::Display {
    fmt::from_fn(move |f| match level {
        Some(level) => write!(f, "{level}"),
        None => f.write_str("unreadable"),
    })
}

/// The thread or CPU that an event counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Target {
    /// 0: the calling thread; -1: everything on the CPU.
    pub pid: i32,
    /// -1: wherever the target runs.
    pub cpu: i32,
}
