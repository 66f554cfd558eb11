//! Sessions across forks and lost rights, and in sandboxes that refuse system calls. This program has one thread and no test harness: forking with many threads would leave locks that nobody unlocks.

#![allow(clippy::result_large_err)] // errors carry their text by value

mod common;

use common::system::{child_exit_code, counters, filter, mounts, refuse};
use common::{Cell, create, may_change_this_machine, named, naps, read, readings, run, skipped, watch};
use picollo_core::seam::process;
use picollo_native::*;
use picollo_perf::*;

fn main() {
    let tests = named![
        a_page_that_cannot_be_wiped_is_asked_for_once,
        descriptors_are_closed_on_exec,
        paranoia_as_another_user,
        seccomp_is_named,
        an_unknown_thread_is_not_counted,
        no_scope_waits_for_the_clock,
        tracepoints_count_what_happens_in_the_kernel,
    ];
    run(tests, || ());
}

/// There a process is known by its number. (The first test: this process has not asked yet.)
fn a_page_that_cannot_be_wiped_is_asked_for_once() {
    let code = child_exit_code(|| {
        let wiping = Some((2, libc::BPF_JEQ, libc::MADV_WIPEONFORK as u32));
        if !refuse(libc::SYS_madvise, wiping, libc::EINVAL) {
            return NO_FILTER;
        }
        assert_eq!(process(), std::process::id());
        // Whoever asks again is killed.
        filter(libc::SYS_madvise, None, libc::SECCOMP_RET_KILL_PROCESS);
        assert_eq!(process(), std::process::id());
        child_exit_code(|| i32::from(process() != std::process::id()))
    });
    match code {
        NO_FILTER => skipped("this kernel takes no seccomp filter"),
        code => assert_eq!(code, 0),
    }
}

/// The real ones: the fake kernel sees only the flag that it is given.
fn descriptors_are_closed_on_exec() {
    let _session = create(0, &[Event::parse("dummy").unwrap(), Event::parse("task-clock").unwrap()]);
    let open = counters();
    assert_eq!(open.len(), 2);
    for fd in open {
        // SAFETY: a query.
        assert_eq!(unsafe { libc::fcntl(fd, libc::F_GETFD) } & libc::FD_CLOEXEC, libc::FD_CLOEXEC);
    }
}

const LEVEL: &str = "/proc/sys/kernel/perf_event_paranoid";

/// Restores the machine's own level, whatever happens.
struct Restore(String);

impl Drop for Restore {
    fn drop(&mut self) {
        std::fs::write(LEVEL, &self.0).unwrap();
    }
}

/// Runs a closure as an ordinary user.
fn as_nobody(body: impl FnOnce()) -> i32 {
    child_exit_code(|| {
        // SAFETY: gives up this child's rights.
        unsafe {
            assert_eq!(libc::setgroups(0, std::ptr::null()), 0);
            assert_eq!(libc::setgid(65534), 0);
            assert_eq!(libc::setuid(65534), 0);
        }
        body();
        0
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
        let code = as_nobody(|| {
            user_only_works(level);
            kernel_is_denied_from_2(level);
            whole_cpus_are_denied_from_1(level);
            switches_are_counted_anyway(level);
            a_foreign_process_is_denied();
            assert_eq!(probe().paranoid, level);
        });
        assert_eq!(code, 0, "level {level}");
    }
}

fn user_only_works(level: i32) {
    let cell = Cell::new();
    let events = [watch(&cell), Event::parse("page-faults").unwrap()];
    let mut session = match Session::create(&SessionOptions::default(), &events) {
        Ok(session) => session,
        // Debian's and Ubuntu's kernels refuse more at this level than the mainline does.
        Err(error) if level >= 3 => {
            assert!(error.message().contains("perf_event_paranoid"), "{error}");
            return skipped(&format!("at level {level} this kernel denies every use of counters"));
        }
        Err(error) => panic!("{error}"),
    };
    cell.write(77);
    assert_eq!(read(&mut session)[0].value, 77);
}

fn kernel_is_denied_from_2(level: i32) {
    let cell = Cell::new();
    let options = |flags| SessionOptions { flags, ..SessionOptions::default() };
    let events = [Event::parse("page-faults").unwrap(), watch(&cell)];
    let result = Session::create(&options(SESSION_KERNEL), &events);
    if level < 2 {
        // Watching memory in the kernel too is a separate matter, and needs the right at any level.
        if let Err(error) = result {
            assert_eq!((error.status(), error.event_index()), (Status::Permission, 1), "{error}");
        }
        return;
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
    let mut session = create(SESSION_KERNEL | SESSION_SKIP_UNAVAILABLE, &events);
    let info = session.event_info(1).unwrap();
    if info.status == 0 {
        assert_eq!(info.flags, EVENT_INFO_USER_ONLY, "{info:?}");
        assert!(info.message().contains("user space only"), "{info:?}");
        cell.write(9);
        assert_eq!(read(&mut session)[1].value, 9);
    } else {
        assert!(level >= 3, "{info:?}");
    }
}

fn whole_cpus_are_denied_from_1(level: i32) {
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
}

fn switches_are_counted_anyway(level: i32) {
    let events =
        ["page-faults", "context-switches", "cpu-migrations"].map(|name| Event::parse(name).unwrap());
    let mut session = create(SESSION_DISABLED | SESSION_SKIP_UNAVAILABLE, &events);
    std::thread::sleep(std::time::Duration::from_millis(1));
    session.enable().unwrap();
    let switches = naps();
    let first = read(&mut session)[1];
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
        // From another thread, the count comes from /proc.
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
            let reading = read(&mut session)[2];
            assert!((19..60).contains(&reading.value), "{reading:?}, {migrations:?}");
        }
    }
}

fn a_foreign_process_is_denied() {
    let options = SessionOptions { thread: 1, ..SessionOptions::default() };
    let error = Session::create(&options, &[Event::parse("task-clock").unwrap()]).unwrap_err();
    assert_eq!(error.status(), Status::Permission, "{error}");
    assert!(
        error.message().contains("thread 1 belongs to someone else") || error.message().contains("paranoid"),
        "{error}"
    );
}

/// A real filter, like those of container runtimes. The kernel cuts names of threads at 15 bytes, and shows the rest of
/// a character in the file that says whether calls are filtered.
fn seccomp_is_named() {
    for (errno, status, name) in [
        (libc::EPERM, Status::Permission, c"plain"),
        (libc::ENOSYS, Status::Unsupported, c"\xff\xfe\\n"),
        (libc::EPERM, Status::Permission, c"aaaaaaaaaaaaaa\xc3\xa9"),
    ] {
        let code = child_exit_code(|| {
            // SAFETY: a live string.
            unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr()) };
            if !refuse(libc::SYS_perf_event_open, None, errno) {
                skipped("this kernel takes no seccomp filter");
                return 0;
            }
            let events = [Event::parse("task-clock").unwrap()];
            let error = Session::create(&SessionOptions::default(), &events).unwrap_err();
            assert_eq!((error.status(), error.os_errno()), (status, errno));
            for text in [error.message(), probe().explanation()] {
                assert!(text.contains("seccomp") && text.contains("--cap-add PERFMON"), "{name:?}: {text}");
            }
            0
        });
        assert_eq!(code, 0, "{name:?}");
    }
}

/// A sandbox may refuse to say which thread this is. To the kernel, -1 on a CPU would be every thread.
fn an_unknown_thread_is_not_counted() {
    let code = child_exit_code(|| {
        let event = Event::parse("task-clock").unwrap();
        if !refuse(libc::SYS_gettid, None, libc::EPERM) {
            return NO_FILTER;
        }
        for flags in [0, SESSION_ON_CPU] {
            let options = SessionOptions { flags, cpu: 0, ..SessionOptions::default() };
            let error = Session::create(&options, &[event]).unwrap_err();
            assert!(error.status() == Status::Os && error.message().contains("which thread"), "{error}");
        }
        0
    });
    match code {
        NO_FILTER => skipped("this kernel takes no seccomp filter"),
        code => assert_eq!(code, 0),
    }
}

/// How a child ends if any of these calls kills it; or [`NO_FILTER`].
fn without(calls: &[libc::c_long], body: &dyn Fn()) -> i32 {
    child_exit_code(|| {
        if !calls.iter().all(|&call| filter(call, None, libc::SECCOMP_RET_KILL_PROCESS)) {
            return NO_FILTER;
        }
        body();
        0
    })
}

const NO_FILTER: i32 = 99;

/// Processes that sleep are killed here. The first scopes do not sleep, in any unit; a request for the frequency does.
fn no_scope_waits_for_the_clock() {
    let sleeps = [libc::SYS_clock_nanosleep, libc::SYS_nanosleep];
    let of_scopes = without(&sleeps, &|| {
        for unit in [TimeUnit::Nanos, TimeUnit::Micros, TimeUnit::Picos, TimeUnit::Ticks] {
            let outer = Scope::begin(Clock::Tsc, unit);
            let inner = Scope::begin(Clock::Tsc, unit);
            let (inner, outer) = (inner.elapsed(), outer.elapsed());
            // Each is converted by clocks that are read anew, which may be off by a few hundred nanoseconds.
            let slack = if unit == TimeUnit::Picos { 1_000_000 } else { 1000 };
            assert!(unit == TimeUnit::Ticks || inner <= outer + slack, "{inner} of {outer} {unit:?}");
        }
        // Longer than it takes to settle the frequency.
        let began = std::time::Instant::now();
        let scope = Scope::begin(Clock::Tsc, TimeUnit::Nanos);
        while began.elapsed().as_millis() < 30 {}
        let (elapsed, outer) = (scope.elapsed(), began.elapsed().as_nanos() as u64);
        assert!(elapsed >= 29_990_000 && elapsed <= outer + 3000, "{elapsed} of {outer}");
    });
    match of_scopes {
        NO_FILTER => return skipped("this kernel takes no seccomp filter"),
        code => assert_eq!(code, 0),
    }
    let of_the_frequency = without(&sleeps, &|| Clock::init());
    if of_the_frequency == 0 {
        skipped("a frequency that has to be measured: the counter is not used, or names its own");
    } else {
        assert_eq!(of_the_frequency, -libc::SIGSYS);
    }
}

/// In a separate mount namespace, where tracefs can be mounted without anybody noticing.
fn tracepoints_count_what_happens_in_the_kernel() {
    let code = child_exit_code(|| {
        if !mounts(c"tracefs", c"/sys/kernel/tracing", c"") {
            skipped("tracefs cannot be mounted here");
            return 0;
        }
        let event = Event::parse("sched:sched_switch").unwrap();
        assert_eq!(event.name(), "Tracepoint:sched:sched_switch");
        let mut session = create(0, &[event, Event::parse("context-switches").unwrap()]);
        let switches = naps();
        let readings = read(&mut session);
        assert!(switches.contains(&readings[0].value), "{readings:?}");
        assert!(readings[0].value.abs_diff(readings[1].value) <= 1, "{readings:?}");
        assert_eq!(Event::parse("sched:no_such_tracepoint").unwrap_err().status(), Status::NoSuchEvent);
        // Others may not, and the error says what they lack.
        as_nobody(|| {
            if let Err(error) = Session::create(&SessionOptions::default(), &[event]) {
                assert_eq!(error.status(), Status::Permission, "{error}");
                assert!(error.message().contains("tracepoints need CAP_PERFMON"), "{error}");
            }
            let error = Event::parse("sched:sched_switch").unwrap_err();
            assert!(error.status() == Status::Permission && error.message().contains("as root"), "{error}");
        })
    });
    assert_eq!(code, 0);
}
