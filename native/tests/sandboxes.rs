//! Sandboxes that refuse system calls, and what they make of the library. A program with one thread and no test harness: its tests
//! fork, and each child shuts itself in.

#![allow(clippy::result_large_err)] // errors carry their text by value

mod common;
#[path = "common/fake.rs"]
mod fake;

use common::{child_exit_code, create, skipped};
use picollo_native::seam::{Attr, Kernel, UserReads};
use picollo_native::*;

fn main() {
    let tests: [(&str, fn()); 3] = [
        ("seccomp_is_named_whatever_the_thread_is_called", seccomp_is_named_whatever_the_thread_is_called),
        ("a_machine_in_memory_is_tried_in_no_child", a_machine_in_memory_is_tried_in_no_child),
        ("a_page_that_cannot_be_wiped_is_asked_for_once", a_page_that_cannot_be_wiped_is_asked_for_once),
    ];
    let mut failed = 0;
    for (name, test) in tests {
        let outcome = std::panic::catch_unwind(test);
        println!("test {name} ... {}", if outcome.is_ok() { "ok" } else { "FAILED" });
        failed += i32::from(outcome.is_err());
    }
    println!("\ntest result: {} passed; {failed} failed", tests.len() as i32 - failed);
    std::process::exit(i32::from(failed != 0));
}

/// From now on this thread's system call of this number fails, if its third argument is this one, where one is given.
fn refuse(number: libc::c_long, third: Option<u32>, errno: i32) -> bool {
    filter(number, third, libc::SECCOMP_RET_ERRNO | errno as u32)
}

/// From now on that call of this thread has this end.
fn filter(number: libc::c_long, third: Option<u32>, end: u32) -> bool {
    let statement = |code: u32, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let unless = |k: u32, skip: u8| libc::sock_filter {
        code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
        jt: 0,
        jf: skip,
        k,
    };
    let load = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    // Where a filter sees the lower half of the third argument: behind number, architecture, instruction, and two arguments.
    let third_at = 32 + if cfg!(target_endian = "little") { 0 } else { 4 };
    let mut filter = vec![statement(load, 0), unless(number as u32, if third.is_some() { 3 } else { 1 })];
    if let Some(third) = third {
        filter.extend([statement(load, third_at), unless(third, 1)]);
    }
    filter.push(statement(libc::BPF_RET | libc::BPF_K, end));
    filter.push(statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW));
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program is live; it filters this child only.
    unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1u64, 0u64, 0u64, 0u64) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    }
}

/// The kernel cuts names at 15 bytes, and shows the rest of a character in the file that says whether calls are filtered.
fn seccomp_is_named_whatever_the_thread_is_called() {
    for name in [c"plain", c"aaaaaaaaaaaaaa\xc3\xa9", c"\xff\xfe\\n"] {
        let code = child_exit_code(|| {
            // SAFETY: a live string.
            unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr()) };
            if !refuse(libc::SYS_perf_event_open, None, libc::EPERM) {
                skipped("this kernel takes no seccomp filter");
                return 0;
            }
            let events = [Event::parse("task-clock").unwrap()];
            let error = Session::create(&SessionOptions::default(), &events).unwrap_err();
            assert_eq!(error.status(), Status::Permission);
            assert!(error.message().contains("seccomp"), "{name:?}: {error}");
            assert!(probe().explanation().contains("--cap-add PERFMON"), "{}", probe().explanation());
            0
        });
        assert_eq!(code, 0, "{name:?}");
    }
}

/// A process that makes a child is killed: by the machine itself, which is tried in one, and not by one in memory.
fn a_machine_in_memory_is_tried_in_no_child() {
    let shut_in = |body: &dyn Fn()| {
        child_exit_code(|| {
            #[cfg(target_arch = "x86_64")]
            let calls = [libc::SYS_clone, libc::SYS_clone3, libc::SYS_fork, libc::SYS_vfork];
            #[cfg(not(target_arch = "x86_64"))]
            let calls = [libc::SYS_clone, libc::SYS_clone3];
            if !calls.iter().all(|&call| filter(call, None, libc::SECCOMP_RET_KILL_PROCESS)) {
                return 99;
            }
            body();
            0
        })
    };
    let on_the_machine = shut_in(&|| {
        Kernel.user_reads(&Attr { kind: 1, config: 9, ..Attr::default() });
    });
    if on_the_machine == 99 {
        return skipped("this kernel takes no seccomp filter");
    }
    assert_eq!(on_the_machine, -libc::SIGSYS);
    let in_memory = shut_in(&|| {
        let fake = fake::Fake::new();
        fake.add_pmu(48);
        let mut session = fake::create(&fake, 0, &["cycles", "instructions"]).unwrap();
        assert_ne!(session.event_info(0).unwrap().flags & EVENT_INFO_FAST, 0);
        fake.pass(100, 1000, 1000);
        assert!(session.read_unmoved());
        session.calibrate().unwrap();
        assert_eq!(seam::probe_with(&&fake).user_read_available, 1);
    });
    assert_eq!(in_memory, 0);
}

/// Where `MADV_WIPEONFORK` is refused, a process is known by its number: one system call for each reading besides its own, not four.
fn a_page_that_cannot_be_wiped_is_asked_for_once() {
    const READS: usize = 1000;
    for (refused, most) in [(false, READS), (true, 2 * READS)] {
        // SAFETY: this program has one thread, so that its child may do everything.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let code = std::panic::catch_unwind(|| read_often(READS, refused)).unwrap_or(2);
            // SAFETY: ends the child without running destructors twice.
            unsafe { libc::_exit(code) };
        }
        assert!(child > 0);
        match count_calls(child) {
            Ok(calls) => {
                assert!((READS..=most).contains(&calls), "{calls} calls for {READS} readings, {refused}")
            }
            Err(why) => return skipped(&why),
        }
    }
}

/// In the child: reads, between two calls of `getppid`, which mark the place for who counts.
fn read_often(reads: usize, refused: bool) -> i32 {
    // SAFETY: asks to be traced by the parent, and waits for it.
    unsafe {
        if libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) != 0 {
            return 3;
        }
        libc::raise(libc::SIGSTOP);
    }
    if refused && !refuse(libc::SYS_madvise, Some(libc::MADV_WIPEONFORK as u32), libc::EINVAL) {
        return 4;
    }
    let mut session = create(0, &[Event::parse("page-faults").unwrap()]);
    // SAFETY: queries.
    unsafe { libc::getppid() };
    for _ in 0..reads {
        session.read(ReadMode::Auto).unwrap();
    }
    // SAFETY: as above.
    unsafe { libc::getppid() };
    // It still is the process that it was, and its children are not.
    let child =
        child_exit_code(|| i32::from(session.read(ReadMode::Auto).unwrap_err().status() != Status::Forked));
    session.read(ReadMode::Auto).unwrap();
    child
}

/// In the parent: the system calls between the two marks.
fn count_calls(child: i32) -> std::result::Result<usize, String> {
    let mut status = 0;
    let mut wait = || {
        // SAFETY: waits for the child.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        status
    };
    let stopped = wait();
    if !libc::WIFSTOPPED(stopped) {
        return Err(format!("a child cannot be traced here (status {stopped:#x})"));
    }
    // SAFETY: the child is stopped, and ends with this process should the test fail.
    unsafe {
        libc::ptrace(libc::PTRACE_SETOPTIONS, child, 0, libc::PTRACE_O_TRACESYSGOOD | libc::PTRACE_O_EXITKILL)
    };
    let (mut marks, mut calls, mut signal) = (0, 0, 0);
    loop {
        // SAFETY: the child is stopped.
        unsafe { libc::ptrace(libc::PTRACE_SYSCALL, child, 0, signal) };
        signal = 0;
        let status = wait();
        if libc::WIFEXITED(status) {
            return match (libc::WEXITSTATUS(status), marks) {
                (0, 2) => Ok(calls),
                (4, _) => Err("this kernel takes no seccomp filter".into()),
                (code, _) => panic!("the child ended with {code} after {marks} marks"),
            };
        }
        assert!(libc::WIFSTOPPED(status), "{status:#x}");
        if libc::WSTOPSIG(status) != libc::SIGTRAP | 0x80 {
            signal = libc::WSTOPSIG(status);
            continue;
        }
        // struct ptrace_syscall_info: what it is about in the first byte (1: a call begins), its number in the fourth word.
        let mut info = [0u64; 16];
        // SAFETY: the buffer is as long as said, and the child is stopped.
        if unsafe {
            libc::ptrace(libc::PTRACE_GET_SYSCALL_INFO, child, size_of_val(&info), info.as_mut_ptr())
        } < 0
        {
            // SAFETY: ends the child.
            unsafe { libc::kill(child, libc::SIGKILL) };
            wait();
            return Err("this kernel does not tell which call a traced process makes".into());
        }
        if info[0].to_ne_bytes()[0] != 1 {
            continue;
        }
        match info[3] as libc::c_long {
            libc::SYS_getppid => marks += 1,
            _ => calls += usize::from(marks == 1),
        }
    }
}
