//! Tests the limits of rings: descriptors, locked memory, sandboxes, children. Each test runs in a separate process.

use std::process::Command;
use std::sync::{Arc, Barrier};
use std::time::Duration;

use super::kernel_tests::{MANY, near, raw, ring, timed};
use super::*;
use crate::testing::{child_exit_code, counters, refuse};

/// Runs this test again in a separate process. Returns true in that process. `test` is the caller's name.
fn alone(test: &str) -> bool {
    const NAME: &str = "PICOLLO_TEST_ALONE";
    let path = format!("{}::{test}", module_path!().split_once("::").unwrap().1);
    if std::env::var(NAME).is_ok_and(|name| name == path) {
        return true;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([&path, "--exact", "--nocapture", "--test-threads=1"]).env(NAME, &path);
    let output = command.output().unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    for line in text.lines().filter(|line| line.contains("SKIPPED")) {
        eprintln!("{line}");
    }
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    false
}

/// There are more threads than descriptors. Each has a separate ring and sees its own sleep.
#[test]
fn a_thousand_threads_keep_no_descriptors() {
    if !alone("a_thousand_threads_keep_no_descriptors") {
        return;
    }
    let limit = libc::rlimit { rlim_cur: 64, rlim_max: 64 };
    // SAFETY: a limit of this process, which only runs this test.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) }, 0);
    const THREADS: usize = 1_000;
    let all = Arc::new(Barrier::new(THREADS + 1));
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            let all = all.clone();
            std::thread::Builder::new()
                .stack_size(64 << 10)
                .spawn(move || {
                    let ring = Ring::open(Kernel, THREADS);
                    all.wait();
                    let (begin, end, _) = timed(|| std::thread::sleep(Duration::from_millis(1)));
                    let window =
                        ring.as_ref().map(|ring| ring.window(begin, end)).map_err(|refused| *refused);
                    all.wait();
                    all.wait();
                    window
                })
                .unwrap()
        })
        .collect();
    all.wait();
    all.wait();
    let open = counters().len();
    let one_more = Ring::open(Kernel, THREADS).map(drop);
    all.wait();
    let windows: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert_eq!(open, 0);
    match windows.iter().find_map(|window| window.err()) {
        None => {
            assert!(windows.iter().flatten().all(|window| window.complete && window.off_nanos > 900_000));
            assert_eq!(one_more.unwrap_err(), Refused::Cap);
            // The rings were released.
            assert!(Ring::open(Kernel, 1).is_ok());
        }
        Some(refused) => eprintln!("SKIPPED: {}", refused.explain(&Kernel)),
    }
}

/// A user without privileges who may lock next to no memory: opening fails at some point, existing rings still work.
#[test]
fn locked_memory_is_a_budget() {
    if !alone("locked_memory_is_a_budget") {
        return;
    }
    let limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // This user ID is unused, so that nobody shares its budget. SAFETY: limits and rights of this process, which only
    // runs this test.
    let nobody = unsafe {
        libc::setrlimit(libc::RLIMIT_MEMLOCK, &raw const limit) == 0
            && libc::setgid(65_534) == 0
            && libc::setuid(64_000_123) == 0
    };
    if !nobody {
        return eprintln!("SKIPPED: rights can only be given up by who has them");
    }
    let Some(first) = ring(false) else { return };
    let mut rings = vec![first];
    let refused = loop {
        match Ring::open(Kernel, 5_000) {
            Ok(ring) => rings.push(ring),
            Err(refused) => break refused,
        }
    };
    eprintln!("{} rings, then {refused:?}", rings.len());
    assert_eq!(refused, Refused::Memory(Errno(libc::EPERM)));
    assert!(refused.explain(&Kernel).message().contains("RLIMIT_MEMLOCK"));
    assert!(counters().is_empty());
    // Existing rings work, and releasing one makes room for another.
    let (begin, end, _) = timed(|| std::thread::sleep(Duration::from_millis(1)));
    assert!(rings.iter().all(|ring| ring.window(begin, end).off_nanos > 900_000));
    rings.pop();
    assert!(Ring::open(Kernel, 5_000).is_ok());
}

/// A sandbox as in containers. Existing rings still work.
#[test]
fn a_sandbox_refuses_and_is_named() {
    if !alone("a_sandbox_refuses_and_is_named") {
        return;
    }
    let before = ring(false);
    if !refuse(libc::SYS_perf_event_open, None, libc::EPERM) {
        return eprintln!("SKIPPED: this kernel takes no seccomp filter");
    }
    let refused = Ring::open(Kernel, MANY).unwrap_err();
    assert!(matches!(refused, Refused::Open { errno: Errno(libc::EPERM), .. }), "{refused:?}");
    let error = refused.explain(&Kernel);
    assert!(error.message().contains("seccomp"), "{error}");
    if let Some(ring) = before {
        let (begin, end, off) = timed(|| std::thread::sleep(Duration::from_millis(2)));
        assert!(near(ring.window(begin, end).off_nanos, off));
    }
}

/// A child sees no ring, leaves its own memory at that address alone, and may open a ring.
#[test]
fn a_child_leaves_it_alone() {
    if !alone("a_child_leaves_it_alone") {
        return;
    }
    let Some(ring) = ring(true) else { return };
    let mut slot = Some(ring);
    let now = raw();
    // The child makes system calls, and touches its own memory.
    let code = child_exit_code(|| {
        let ring = slot.take().unwrap();
        let mut wrong = i32::from(ring.window(now, now) != Window::default());
        let hole = ring.switches.0;
        let (protection, fixed) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_FIXED_NOREPLACE);
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | fixed;
        // SAFETY: a child has nothing at the ring's address; otherwise, this call fails.
        let own = unsafe { libc::mmap(hole.as_ptr().cast(), Mapping::length(), protection, kind, -1, 0) };
        wrong |= i32::from(own != hole.as_ptr().cast()) << 1;
        let mine = Ring::open(Kernel, 1);
        drop(ring);
        // SAFETY: mapped above. If it is gone, the child dies here.
        unsafe { own.cast::<u8>().write_volatile(1) };
        let now = raw();
        wrong |= i32::from(!mine.as_ref().is_ok_and(|ring| ring.window(now, now).complete)) << 2;
        wrong |= i32::from(Ring::open(Kernel, 1).err() != Some(Refused::Cap)) << 3;
        drop(mine);
        wrong |= i32::from(Ring::open(Kernel, 1).is_err()) << 4;
        wrong
    });
    assert_eq!(code, 0);
    let ring = slot.take().unwrap();
    let window = ring.window(now, raw());
    assert!(window.complete && window.faults.is_some(), "{window:?}");
}
