//! Sessions across fork, exec, lost rights and exhausted descriptors. A program with one thread and no test harness: forking
//! one with many threads would leave the children with locks that nobody unlocks.

#![allow(clippy::result_large_err)] // errors carry their text by value

mod common;

use std::collections::BTreeSet;

use common::{Cell, child_exit_code, create, may_change_this_machine, naps, readings, skipped, watch};
use picollo_native::*;

fn main() {
    let tests: [(&str, fn()); 7] = [
        ("a_forked_child_can_only_free", a_forked_child_can_only_free),
        ("descriptors_run_out", descriptors_run_out),
        ("descriptors_are_closed_on_exec", descriptors_are_closed_on_exec),
        ("a_foreign_reset_is_told", a_foreign_reset_is_told),
        ("paranoia_as_another_user", paranoia_as_another_user),
        ("seccomp_is_named", seccomp_is_named),
        ("tracepoints_count_what_happens_in_the_kernel", tracepoints_count_what_happens_in_the_kernel),
    ];
    // As the usual harness: only the tests that are named, when there are names before the options.
    let wanted: Vec<String> =
        std::env::args().skip(1).take_while(|argument| !argument.starts_with('-')).collect();
    let (mut passed, mut failed) = (0, 0);
    for (name, test) in tests {
        if !wanted.is_empty() && !wanted.iter().any(|part| name.contains(part)) {
            continue;
        }
        let outcome = std::panic::catch_unwind(test);
        println!("test {name} ... {}", if outcome.is_ok() { "ok" } else { "FAILED" });
        passed += i32::from(outcome.is_ok());
        failed += i32::from(outcome.is_err());
    }
    let verdict = if failed == 0 { "ok" } else { "FAILED" };
    println!("\ntest result: {verdict}. {passed} passed; {failed} failed");
    std::process::exit(i32::from(failed != 0));
}

/// This process's descriptors of counters.
fn counters() -> BTreeSet<i32> {
    let entries = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    let ours = entries.filter(|entry| {
        std::fs::read_link(entry.path()).is_ok_and(|target| target.to_string_lossy().contains("perf_event"))
    });
    ours.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn a_forked_child_can_only_free() {
    let cell = Cell::new();
    let mut session = create(0, &[watch(&cell)]);
    cell.write(10);
    let mut slot = Some(session);
    let code = child_exit_code(|| {
        let mut session = slot.take().unwrap();
        let mut out = [Reading::default()];
        let answers = [
            session.read(ReadMode::Auto),
            session.read(ReadMode::Syscall),
            session.record(true),
            session.readings(true, &mut out),
            session.reset(),
            session.enable(),
            session.disable(),
            session.calibrate(),
            session.length().map(drop),
            session.event(0).map(drop),
            session.event_info(0).map(drop),
            session.histogram(0).map(drop),
        ];
        let wrong = answers
            .iter()
            .filter(|answer| answer.as_ref().err().map(Error::status) != Some(Status::Forked))
            .count();
        drop(session);
        // A session of the child's own works.
        let cell = Cell::new();
        let mut own = create(0, &[watch(&cell)]);
        cell.write(6);
        own.read(ReadMode::Auto).unwrap();
        wrong as i32 + i32::from(readings(&own, true)[0].value != 6)
    });
    assert_eq!(code, 0);
    // The child's freeing changed nothing here: the counter still runs.
    session = slot.take().unwrap();
    cell.write(5);
    session.read(ReadMode::Auto).unwrap();
    assert_eq!(readings(&session, true)[0].value, 15);
}

fn descriptors_run_out() {
    let code = child_exit_code(|| {
        let limit = libc::rlimit { rlim_cur: 40, rlim_max: 40 };
        // SAFETY: sets a limit of this child.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) }, 0);
        let events = vec![Event::parse("dummy").unwrap(); 64];
        let error = Session::create(&SessionOptions::default(), &events).unwrap_err();
        assert_eq!((error.status(), error.os_errno()), (Status::Os, libc::EMFILE));
        assert!(error.message().contains("ulimit -n"), "{error}");
        // All descriptors came back.
        let session = create(0, &events[..20]);
        drop(session);
        0
    });
    assert_eq!(code, 0);
}

fn descriptors_are_closed_on_exec() {
    let session = create(0, &[Event::parse("dummy").unwrap(), Event::parse("task-clock").unwrap()]);
    let open = counters();
    assert_eq!(open.len(), 2);
    for fd in open {
        // SAFETY: a query.
        assert_eq!(unsafe { libc::fcntl(fd, libc::F_GETFD) } & libc::FD_CLOEXEC, libc::FD_CLOEXEC);
    }
    drop(session);
    assert!(counters().is_empty());
}

fn a_foreign_reset_is_told() {
    let cell = Cell::new();
    // In a child of its own, so that no other test opens descriptors at the same time.
    let code = child_exit_code(|| {
        let before = counters();
        let mut session = create(0, &[watch(&cell)]);
        let fd = *counters().difference(&before).next().unwrap();
        cell.write(100);
        session.read(ReadMode::Auto).unwrap();
        cell.write(10);
        // SAFETY: RESET takes an integer.
        assert_eq!(unsafe { libc::ioctl(fd, 0x2403, 0) }, 0);
        cell.write(7);
        session.read(ReadMode::Auto).unwrap();
        let (delta, all) = (readings(&session, true)[0], readings(&session, false)[0]);
        assert_eq!((delta.value, delta.flags & READING_RESYNC), (7, READING_RESYNC));
        assert_eq!((all.value, all.flags & READING_RESYNC), (107, READING_RESYNC));
        0
    });
    assert_eq!(code, 0);
}

const LEVEL: &str = "/proc/sys/kernel/perf_event_paranoid";

/// Puts the machine's own level back, whatever happens.
struct Restore(String);

impl Drop for Restore {
    fn drop(&mut self) {
        std::fs::write(LEVEL, &self.0).unwrap();
    }
}

/// Runs a closure as an ordinary user.
fn as_nobody(body: impl FnOnce() -> i32) -> i32 {
    child_exit_code(|| {
        // SAFETY: gives up this child's rights.
        unsafe {
            assert_eq!(libc::setgroups(0, std::ptr::null()), 0);
            assert_eq!(libc::setgid(65534), 0);
            assert_eq!(libc::setuid(65534), 0);
        }
        body()
    })
}

fn paranoia_as_another_user() {
    // SAFETY: a query.
    if unsafe { libc::geteuid() } != 0 {
        return skipped("only root can become another user and change kernel.perf_event_paranoid");
    }
    if !may_change_this_machine() {
        return skipped("changes kernel.perf_event_paranoid: only with PICOLLO_MAY_CHANGE_THIS_MACHINE=1");
    }
    let own = std::fs::read_to_string(LEVEL).unwrap();
    if std::fs::write(LEVEL, &own).is_err() {
        return skipped("kernel.perf_event_paranoid cannot be changed here");
    }
    let _restore = Restore(own);
    for level in 0..=4 {
        std::fs::write(LEVEL, level.to_string()).unwrap();
        assert_eq!(as_nobody(|| user_only_works(level)), 0, "level {level}");
        assert_eq!(as_nobody(|| kernel_is_denied_from_2(level)), 0, "level {level}");
        assert_eq!(as_nobody(|| whole_cpus_are_denied_from_1(level)), 0, "level {level}");
        assert_eq!(as_nobody(|| switches_are_counted_anyway(level)), 0, "level {level}");
        assert_eq!(as_nobody(|| a_foreign_process_is_denied(level)), 0, "level {level}");
        assert_eq!(as_nobody(|| i32::from(probe().paranoid != level)), 0, "level {level}");
    }
}

fn user_only_works(level: i32) -> i32 {
    let cell = Cell::new();
    let events = [watch(&cell), Event::parse("page-faults").unwrap()];
    let mut session = match Session::create(&SessionOptions::default(), &events) {
        Ok(session) => session,
        // Debian's and Ubuntu's kernels mean more by it than the mainline does.
        Err(error) if level >= 3 => {
            assert!(error.message().contains("perf_event_paranoid"), "{error}");
            skipped(&format!("at level {level} this kernel denies every use of counters"));
            return 0;
        }
        Err(error) => panic!("{error}"),
    };
    cell.write(77);
    session.read(ReadMode::Auto).unwrap();
    assert_eq!(readings(&session, true)[0].value, 77);
    0
}

fn kernel_is_denied_from_2(level: i32) -> i32 {
    let cell = Cell::new();
    let options = |flags| SessionOptions { flags, ..SessionOptions::default() };
    let events = [Event::parse("page-faults").unwrap(), watch(&cell)];
    let result = Session::create(&options(SESSION_KERNEL), &events);
    if level < 2 {
        // Watching memory in the kernel too is another matter, and needs the right at any level.
        if let Err(error) = result {
            assert_eq!((error.status(), error.event_index()), (Status::Permission, 1), "{error}");
        }
        return 0;
    }
    let error = result.unwrap_err();
    assert_eq!(
        (error.status(), error.os_errno(), error.event_index()),
        (Status::Permission, libc::EACCES, 0)
    );
    assert!(
        error.message().starts_with("Software:PageFaults: counting in the kernel needs CAP_PERFMON"),
        "{error}"
    );
    assert!(error.message().contains(&format!("it is {level}")), "{error}");
    assert!(error.message().contains("sysctl kernel.perf_event_paranoid=1"), "{error}");
    let Ok(mut session) = Session::create(&options(SESSION_KERNEL | SESSION_SKIP_UNAVAILABLE), &events)
    else {
        return 1;
    };
    let info = session.event_info(1).unwrap();
    if info.status == 0 {
        assert_eq!(info.flags, EVENT_INFO_USER_ONLY, "{info:?}");
        assert!(info.message().contains("user space only"), "{info:?}");
        cell.write(9);
        session.read(ReadMode::Auto).unwrap();
        assert_eq!(readings(&session, true)[1].value, 9);
    } else {
        assert!(level >= 3, "{info:?}");
    }
    0
}

fn whole_cpus_are_denied_from_1(level: i32) -> i32 {
    let options = SessionOptions { flags: SESSION_ON_CPU, thread: -1, cpu: 0, ..SessionOptions::default() };
    match Session::create(&options, &[Event::parse("task-clock").unwrap()]) {
        Ok(_) => assert!(level < 1),
        Err(error) => {
            assert!(level >= 1, "{error}");
            assert_eq!(error.status(), Status::Permission);
            assert!(
                error.message().contains("everything on a CPU") && error.message().contains("paranoid=0"),
                "{error}"
            );
        }
    }
    0
}

fn switches_are_counted_anyway(level: i32) -> i32 {
    let events =
        ["page-faults", "context-switches", "cpu-migrations"].map(|name| Event::parse(name).unwrap());
    let mut session = create(SESSION_DISABLED | SESSION_SKIP_UNAVAILABLE, &events);
    std::thread::sleep(std::time::Duration::from_millis(1));
    session.enable().unwrap();
    let switches = naps();
    session.read(ReadMode::Auto).unwrap();
    let first = readings(&session, true)[1];
    session.disable().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1));
    session.read(ReadMode::Auto).unwrap();
    let whole = readings(&session, false)[1];
    let info = session.event_info(1).unwrap();
    assert_eq!(info.flags & EVENT_INFO_SUBSTITUTED != 0, level >= 2, "{info:?}");
    assert!(first.status == 0 && switches.contains(&first.value), "level {level}: {first:?}, {info:?}");
    assert!(whole.value - first.value <= 5, "{first:?} {whole:?}");
    // Time passes for a thread's events while it runs, not while it sleeps.
    assert!((1..60_000_000).contains(&first.time_enabled), "{first:?}");
    assert_eq!(first.time_running, first.time_enabled);
    if level >= 2 {
        assert!(info.message().contains("getrusage"), "{info:?}");
        // From another thread it is found in /proc.
        session.enable().unwrap();
        let switches = naps();
        std::thread::scope(|scope| scope.spawn(|| session.read(ReadMode::Syscall)).join().unwrap()).unwrap();
        assert!(switches.contains(&readings(&session, true)[1].value));
        let migrations = session.event_info(2).unwrap();
        if migrations.status != 0 {
            skipped(&format!("cpu-migrations: {}", migrations.message()));
        } else if let Some((one, other)) = common::two_cpus() {
            session.reset().unwrap();
            for _ in 0..10 {
                common::pin_to(one);
                common::pin_to(other);
            }
            session.read(ReadMode::Auto).unwrap();
            let reading = readings(&session, true)[2];
            assert!((19..60).contains(&reading.value), "{reading:?}, {migrations:?}");
        }
    }
    0
}

fn a_foreign_process_is_denied(_level: i32) -> i32 {
    let options = SessionOptions { thread: 1, ..SessionOptions::default() };
    let error = Session::create(&options, &[Event::parse("task-clock").unwrap()]).unwrap_err();
    assert_eq!(error.status(), Status::Permission, "{error}");
    assert!(
        error.message().contains("thread 1 belongs to someone else") || error.message().contains("paranoid"),
        "{error}"
    );
    0
}

/// A real filter, as container runtimes install one.
fn seccomp_is_named() {
    for errno in [libc::EPERM, libc::ENOSYS] {
        let code = child_exit_code(|| {
            if !filter_perf_event_open(errno) {
                skipped("this kernel takes no seccomp filter");
                return 0;
            }
            let error = Session::create(&SessionOptions::default(), &[Event::parse("task-clock").unwrap()])
                .unwrap_err();
            let status = if errno == libc::EPERM { Status::Permission } else { Status::Unsupported };
            assert_eq!((error.status(), error.os_errno()), (status, errno));
            assert!(
                error.message().contains("seccomp") && error.message().contains("--cap-add PERFMON"),
                "{error}"
            );
            assert!(probe().explanation().contains("seccomp"));
            0
        });
        assert_eq!(code, 0);
    }
}

fn filter_perf_event_open(errno: i32) -> bool {
    let statement = |code: u32, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let mut filter = [
        // The number of the system call is the first word of what a filter sees.
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0),
        libc::sock_filter {
            code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
            jt: 0,
            jf: 1,
            k: libc::SYS_perf_event_open as u32,
        },
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | errno as u32),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program is live; it filters this child only.
    unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1u64, 0u64, 0u64, 0u64) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    }
}

/// In a mount namespace of its own, where tracefs can be mounted without anybody noticing.
fn tracepoints_count_what_happens_in_the_kernel() {
    let code = child_exit_code(|| {
        // SAFETY: concerns this child's view of the file system only.
        let mounted = unsafe {
            libc::unshare(libc::CLONE_NEWNS) == 0
                && libc::mount(
                    c"none".as_ptr(),
                    c"/".as_ptr(),
                    std::ptr::null(),
                    libc::MS_REC | libc::MS_PRIVATE,
                    std::ptr::null(),
                ) == 0
                && libc::mount(
                    c"none".as_ptr(),
                    c"/sys/kernel/tracing".as_ptr(),
                    c"tracefs".as_ptr(),
                    0,
                    std::ptr::null(),
                ) == 0
        };
        if !mounted {
            skipped("tracefs cannot be mounted here");
            return 0;
        }
        let event = Event::parse("sched:sched_switch").unwrap();
        assert_eq!(event.name(), "Tracepoint:sched:sched_switch");
        let mut session = create(0, &[event, Event::parse("context-switches").unwrap()]);
        let switches = naps();
        session.read(ReadMode::Auto).unwrap();
        let readings = readings(&session, true);
        assert!(switches.contains(&readings[0].value), "{readings:?}");
        assert!(readings[0].value.abs_diff(readings[1].value) <= 1, "{readings:?}");
        assert_eq!(Event::parse("sched:no_such_tracepoint").unwrap_err().status(), Status::NoSuchEvent);
        // Others may not, and are told what they lack.
        as_nobody(|| {
            if let Err(error) = Session::create(&SessionOptions::default(), &[event]) {
                assert_eq!(error.status(), Status::Permission, "{error}");
                assert!(error.message().contains("tracepoints need CAP_PERFMON"), "{error}");
            }
            let error = Event::parse("sched:sched_switch").unwrap_err();
            assert!(error.status() == Status::Permission && error.message().contains("as root"), "{error}");
            0
        })
    });
    assert_eq!(code, 0);
}
