//! Each refusal, and the library's explanation.

use crate::fake::*;
use picollo_native::*;
use picollo_perf::seam::{Finding, SessionOn, probe_with};
use picollo_perf::*;

/// The request that the kernel refused.
#[derive(Clone, Copy)]
enum Ask {
    Cycles,
    PageFaults,
    KernelPageFaults,
    Breakpoint,
    Tracepoint,
    Msr,
    EverythingOnCpu,
    ForeignThread,
}

fn request(ask: Ask) -> (SessionOptions, Event) {
    let default = SessionOptions::default();
    let named = |spec| Event::parse_with(&&Fake::new(), spec).unwrap();
    match ask {
        Ask::Cycles => (default, named("cycles")),
        Ask::PageFaults => (default, named("page-faults")),
        Ask::KernelPageFaults => (SessionOptions { flags: SESSION_KERNEL, ..default }, named("page-faults")),
        Ask::Breakpoint => (default, named("mem:0x1000/8:r")),
        Ask::Tracepoint => (default, Event::new(2, 314)),
        Ask::Msr => (default, Event::new(9, 0)),
        Ask::EverythingOnCpu => {
            (SessionOptions { flags: SESSION_ON_CPU, thread: -1, cpu: 0, ..default }, named("task-clock"))
        }
        Ask::ForeignThread => (SessionOptions { thread: 4711, ..default }, named("task-clock")),
    }
}

fn explain(fake: &Fake, errno: i32, ask: Ask) -> ExplainedError {
    let (options, event) = request(ask);
    fake.refuse(move |_| Err(errno));
    let error = SessionOn::with_sys(fake, &options, &[event]).unwrap_err();
    assert_eq!((error.os_errno(), error.event_index()), (errno, 0));
    assert!(error.message().starts_with(event.name()), "{error}");
    assert_eq!(fake.open_descriptors(), 0);

    // With the longest name, the text is only cut: it begins the same way, in valid UTF-8.
    let mut long = event;
    let name = &mut long.name;
    name[..127].fill(b'n' as _);
    name[127] = 0;
    let cut = SessionOn::with_sys(fake, &options, &[long]).unwrap_err();
    assert!(cut.message().len() <= 495 && cut.message().starts_with(&"n".repeat(127)));
    error
}

#[test]
fn every_errno_has_cause_and_remedy() {
    use Ask::*;
    use Status::{NoSuchEvent, Os, OutOfMemory, Permission, Unsupported};
    use libc::*;
    type Setting = fn(&Fake);
    let plain: Setting = |_| {};
    let none: Setting = Fake::without_pmu;
    let vm: Setting = |fake| {
        fake.without_pmu();
        fake.file("/sys/hypervisor/type", "xen");
    };
    let wsl: Setting = |fake| {
        fake.without_pmu();
        fake.file("/proc/sys/kernel/osrelease", "5.15.90.1-microsoft-standard-WSL2\n");
    };
    let docker: Setting =
        |fake| fake.file("/proc/thread-self/status", "Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n");
    let debian: Setting = |fake| fake.file("/proc/sys/kernel/perf_event_paranoid", "3\n");
    let open: Setting = |fake| fake.file("/proc/sys/kernel/perf_event_paranoid", "-1\n");
    let blind: Setting = |fake| drop(fake.state().files.remove("/proc/sys/kernel/perf_event_paranoid"));
    let watchdog: Setting = |fake| fake.file("/proc/sys/kernel/nmi_watchdog", "1\n");

    let table: &[(i32, Ask, Setting, Status, &str)] = &[
        (ENOENT, Cycles, plain, NoSuchEvent, "this CPU|perf list"),
        (ENOENT, Cycles, none, NoSuchEvent, "no PMU|software|task-clock"),
        (ENOENT, Cycles, vm, NoSuchEvent, "virtual machine has no PMU|-cpu host,pmu=on|page-faults"),
        (ENOENT, Cycles, wsl, NoSuchEvent, "hardwarePerformanceCounters=true|wsl --shutdown|Windows 10"),
        (ENOENT, Msr, plain, NoSuchEvent, "type 9|/sys/bus/event_source/devices|software cpu"),
        (
            EACCES,
            KernelPageFaults,
            plain,
            Permission,
            "in the kernel|it is 2|sysctl kernel.perf_event_paranoid=1",
        ),
        (EACCES, KernelPageFaults, blind, Permission, "in the kernel|it is unreadable"),
        (EACCES, PageFaults, debian, Permission, "is 3|Debian|sysctl kernel.perf_event_paranoid=1"),
        (EACCES, PageFaults, plain, Permission, "security module|is 2"),
        (EACCES, EverythingOnCpu, plain, Permission, "on a CPU|paranoid=0|it is 2"),
        (EACCES, ForeignThread, plain, Permission, "thread 4711|someone else|CAP_PERFMON"),
        (EACCES, Tracepoint, plain, Permission, "tracepoints|paranoid=-1"),
        (EPERM, Tracepoint, plain, Permission, "tracepoints|EPERM|paranoid=-1"),
        (EPERM, PageFaults, docker, Permission, "seccomp|EPERM|--cap-add PERFMON"),
        (EPERM, PageFaults, plain, Permission, "security module|lockdown"),
        (ENOSYS, PageFaults, docker, Unsupported, "seccomp|ENOSYS|--cap-add PERFMON"),
        (ENOSYS, PageFaults, plain, Unsupported, "WSL 1|gVisor|CONFIG_PERF_EVENTS"),
        (EINVAL, Cycles, plain, Os, "EINVAL|type 0, config 0x0"),
        (EINVAL, Cycles, watchdog, Os, "EINVAL|sysctl kernel.nmi_watchdog=0"),
        (EINVAL, Breakpoint, plain, Os, "read-only breakpoints|multiple of the length"),
        (EOPNOTSUPP, Cycles, plain, Unsupported, "EOPNOTSUPP|precision"),
        (ENODEV, Cycles, plain, NoSuchEvent, "ENODEV|dmesg"),
        (ENXIO, Cycles, plain, NoSuchEvent, "ENXIO|hides"),
        (EBUSY, Cycles, plain, Os, "EBUSY|Stop it"),
        (EMFILE, Cycles, plain, Os, "EMFILE|ulimit -n"),
        (ENFILE, Cycles, plain, Os, "ENFILE|fs.file-max"),
        (ENOSPC, Breakpoint, plain, Os, "breakpoints|4|Free one"),
        (ENOSPC, Cycles, open, Os, "ENOSPC|Close"),
        (E2BIG, Cycles, plain, Os, "E2BIG|older"),
        (ESRCH, ForeignThread, plain, Os, "no thread 4711"),
        (EBADF, Cycles, plain, Os, "EBADF|leader"),
        (ENOMEM, Cycles, plain, OutOfMemory, "ENOMEM"),
        (EINTR, Cycles, plain, Os, "try again"),
        (EDOM, Cycles, plain, Os, "perf_event_open failed|argument"),
    ];
    for &(errno, ask, setting, status, words) in table {
        let fake = Fake::new();
        setting(&fake);
        let error = explain(&fake, errno, ask);
        assert_eq!(error.status(), status, "{error}");
        for word in words.split('|') {
            assert!(error.message().contains(word), "missing {word:?} in: {error}");
        }
        // No message here is cut.
        assert!(error.message().len() < 440, "{} bytes: {error}", error.message().len());
    }
}

#[test]
fn the_offender_is_named() {
    type Objection = fn(&Open) -> bool;
    let table: [(&str, u32, Objection, &str); 4] = [
        ("cycles", SESSION_PINNED, |open| open.attr.flags & PINNED != 0, "PINNED"),
        ("cycles", SESSION_INHERIT, |open| open.attr.flags & INHERIT != 0, "INHERIT"),
        ("cycles:I", 0, |open| open.attr.flags & 1 << 7 != 0, "modifier I"),
        ("cycles", SESSION_ON_CPU, |open| open.cpu >= 0, "is there such a CPU?"),
    ];
    for (spec, flags, objects, name) in table {
        let fake = Fake::refusing(move |open| if objects(open) { Err(libc::EINVAL) } else { Ok(()) });
        let event = Event::parse_with(&&fake, spec).unwrap();
        let options = SessionOptions { flags, cpu: 99, ..SessionOptions::default() };
        let error = SessionOn::with_sys(&fake, &options, &[event]).unwrap_err();
        assert!(error.message().contains(name) && error.message().contains("takes it without"), "{error}");
        assert_eq!(error.status(), Status::Os);
        assert_eq!(fake.open_descriptors(), 0);
    }
    // A PMU that counts whole CPUs only.
    let fake = Fake::refusing(|open| if open.pid >= 0 { Err(libc::EINVAL) } else { Ok(()) });
    let error = SessionOn::with_sys(&fake, &SessionOptions::default(), &[Event::new(10, 2)]).unwrap_err();
    assert!(error.message().contains("ON_CPU, thread -1"), "{error}");
}

#[test]
fn the_probe_explains_the_machine() {
    let fake = Fake::new();
    fake.page(1 << 2);
    fake.file("/proc/sys/kernel/perf_event_paranoid", "1\n");
    let info = probe_with(&&fake);
    assert_eq!((info.pmu_available, info.user_read_available, info.paranoid), (1, 1, 1));
    assert_eq!(info.explanation(), "");
    assert_eq!(fake.open_descriptors(), 0);

    // The kernel denies reads in user space.
    fake.page(1 << 1);
    let info = probe_with(&&fake);
    assert_eq!((info.pmu_available, info.user_read_available), (1, 0));
    assert!(info.explanation().contains("user space"), "{info:?}");

    // Nobody knows whether reading faults. The text fits beside all others.
    let fake = Fake::new();
    fake.add_pmu(48);
    fake.pmu(|pmu| pmu.finding = Finding::Unknown);
    fake.file("/proc/sys/kernel/nmi_watchdog", "1\n");
    let info = probe_with(&&fake);
    assert_eq!((info.pmu_available, info.user_read_available), (1, 0));
    let is_tried = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));
    for word in [if is_tried { "sandbox" } else { "architecture" }, "PICOLLO_RDPMC=force", "nmi_watchdog=0"] {
        assert!(info.explanation().contains(word), "{info:?}");
    }
    assert!(info.explanation().len() < 479);

    // No locked memory left, a strict level, a watchdog: all of it at once still fits.
    let fake = Fake::new();
    fake.file("/proc/sys/kernel/nmi_watchdog", "1\n");
    let info = probe_with(&&fake);
    assert_eq!((info.user_read_available, info.paranoid), (0, 2));
    for word in ["RLIMIT_MEMLOCK", "perf_event_paranoid=1", "nmi_watchdog=0"] {
        assert!(info.explanation().contains(word), "{info:?}");
    }
    assert!(info.explanation().len() < 479);

    // No PMU.
    let fake = Fake::new();
    fake.without_pmu();
    fake.state().files.remove("/proc/sys/kernel/perf_event_paranoid");
    fake.refuse(|_| Err(libc::ENOENT));
    let info = probe_with(&&fake);
    assert_eq!((info.pmu_available, info.user_read_available, info.paranoid), (0, 0, i32::MIN));
    assert_eq!((info.fixed_counters, info.programmable_counters), (0, 0));
    assert!(info.explanation().contains("no PMU"), "{info:?}");
}

#[test]
fn tracepoints_are_looked_up() {
    let fake = Fake::new();
    let error = Event::parse_with(&&fake, "sched:sched_switch").unwrap_err();
    assert_eq!(error.status(), Status::NoSuchEvent);
    assert!(error.message().contains("mount -t tracefs"), "{error}");
    fake.file("/sys/kernel/debug/tracing/events/sched/sched_switch/id", "99\n");
    let event = Event::parse_with(&&fake, "sched:sched_switch:u").unwrap();
    assert_eq!(
        (event.config, event.modifiers, event.name()),
        (99, EVENT_USER, "Tracepoint:sched:sched_switch:u")
    );
    // tracefs comes first.
    fake.file("/sys/kernel/tracing/events/sched/sched_switch/id", "7\n");
    assert_eq!(Event::parse_with(&&fake, "sched:sched_switch").unwrap().config, 7);
    for path in ["sched:..", "..:x", "sched:a/b", "a:b:zz", ":x", "x:"] {
        let status = Event::parse_with(&&fake, path).unwrap_err().status();
        assert!(matches!(status, Status::InvalidArgument | Status::NoSuchEvent), "{path}");
    }
}
