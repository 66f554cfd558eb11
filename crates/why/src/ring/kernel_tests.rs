//! Tests with the real kernel. The thread's own CPU clock is the oracle: the remaining time was off the CPU.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering as Memory};
use std::time::Duration;

use super::*;
use crate::testing::{child_exit_code, own_cpu, page_faults, pin_to};

/// A ring, if the system allows one.
fn ring(faults: bool) -> Option<Ring> {
    let ring = Ring::open(Kernel, faults);
    ring.inspect_err(|refused| eprintln!("SKIPPED: {}", refused.explain())).ok()
}

fn raw() -> u64 {
    Kernel.raw_nanos()
}

/// How often this thread has left the CPU.
fn switches() -> u32 {
    Kernel.context_switches().unwrap() as u32
}

/// How many absences a ring holds: each has two records of 16 bytes, in one page.
fn holds() -> u32 {
    page_size() as u32 / 32
}

/// When some work began and ended, and how long the thread was off the CPU by its CPU clock.
fn timed(work: impl FnOnce()) -> (u64, u64, u64) {
    let cpu = || clock_nanos(libc::CLOCK_THREAD_CPUTIME_ID);
    let (begin, before) = (raw(), cpu());
    work();
    let (after, end) = (cpu(), raw());
    (begin, end, (end - begin).saturating_sub(after - before))
}

/// Within 5 % and a millisecond: on a busy machine, and in a guest, clocks of CPU time are not exact.
fn near(found: u64, expected: u64) -> bool {
    found.abs_diff(expected) <= expected / 20 + 1_000_000
}

#[test]
fn sleep_is_seen() {
    let Some(ring) = ring(false) else { return };
    for _ in 0..3 {
        let (begin, end, off) = timed(|| std::thread::sleep(Duration::from_millis(20)));
        let window = ring.window(begin, end);
        assert!(window.complete && window.outs >= 1, "{window:?}");
        assert!(window.off_nanos >= 19_000_000 && near(window.off_nanos, off), "{window:?} {off}");
        // It left the CPU by its own call.
        assert!(window.preempted_nanos <= window.off_nanos - 15_000_000, "{window:?}");
        // A window excludes what is before and after it.
        let (begin, end, off) = timed(|| ());
        let window = ring.window(begin, end);
        assert!(window.complete && near(window.off_nanos, off), "{window:?}");
    }
}

/// Another thread competes for the same CPU all the time.
#[test]
fn preemption_is_seen() {
    let (cpu, stop) = (own_cpu(), AtomicBool::new(false));
    let spin = |is_over: &dyn Fn() -> bool| {
        while !is_over() {
            std::hint::spin_loop();
        }
    };
    let watch = || {
        if !pin_to(cpu) {
            return eprintln!("SKIPPED: threads cannot be bound to a CPU here");
        }
        let Some(ring) = ring(false) else { return };
        for _ in 0..20 {
            let (before, from) = (switches(), raw());
            let (begin, end, off) = timed(|| spin(&|| raw() - from >= 60_000_000));
            let window = ring.window(begin, end);
            // Other programs may compete far more often.
            if !window.complete && switches() - before >= holds() {
                continue;
            }
            assert!(window.complete && near(window.off_nanos, off), "{window:?} {off}");
            assert!(off > 5_000_000, "the spinner did not run: {off}");
            return assert!(window.preempted_nanos * 10 >= window.off_nanos * 9, "{window:?}");
        }
        eprintln!("SKIPPED: this thread is preempted more often than a ring holds");
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            pin_to(cpu);
            spin(&|| stop.load(Memory::Relaxed));
        });
        let outcome = scope.spawn(watch).join();
        stop.store(true, Memory::Relaxed);
        outcome.unwrap();
    });
}

#[test]
fn windows_beyond_the_ring_are_incomplete() {
    let Some(ring) = ring(false) else { return };
    let holds = holds();
    let naps = |count| {
        // A very short sleep may end before the thread leaves the CPU, so this uses the kernel's count.
        let before = switches();
        while switches() - before < count {
            std::thread::sleep(Duration::from_micros(1));
        }
    };
    let (opened, before) = (raw(), switches());
    naps(holds / 2);
    // The window must match the kernel's count. If the thread leaves in between, the counts before and after differ.
    let exact = (0..100).any(|_| {
        let (least, window, most) = (switches() - before, ring.window(opened, raw()), switches() - before);
        assert!(window.complete && (least..=most).contains(&window.outs), "{least} {window:?} {most}");
        least == most
    });
    assert!(exact);
    assert!(!ring.window(opened - 10_000_000_000, raw()).complete);
    let (begin, end, _) = timed(|| naps(holds + 1));
    assert_eq!(ring.window(begin, end), Window::default());
    let (begin, end, off) = timed(|| std::thread::sleep(Duration::from_millis(2)));
    let window = ring.window(begin, end);
    assert!(window.complete && near(window.off_nanos, off), "{window:?}");
}

/// A program may disable its events at any time: then there are no more records, and windows are incomplete.
#[test]
fn disabled_events_are_noticed() {
    let Some(ring) = ring(false) else { return };
    let nap = || timed(|| std::thread::sleep(Duration::from_millis(2)));
    let prctl = |request| {
        // SAFETY: switches the events that this thread has opened.
        assert_eq!(unsafe { libc::prctl(request) }, 0);
    };
    let (begin, end, _) = nap();
    assert!(ring.window(begin, end).complete);
    prctl(libc::PR_TASK_PERF_EVENTS_DISABLE);
    let (begin, end, _) = nap();
    assert_eq!(ring.window(begin, end), Window::default());
    // Nor are they complete after enabling them again.
    prctl(libc::PR_TASK_PERF_EVENTS_ENABLE);
    let (begin, end, _) = nap();
    assert_eq!(ring.window(begin, end), Window::default());
    let ring = Ring::open(Kernel, false).unwrap();
    let (begin, end, off) = nap();
    assert!(near(ring.window(begin, end).off_nanos, off));
}

#[test]
fn other_threads_get_no_window() {
    let own = std::thread::spawn(|| {
        let ring = ring(false)?;
        let now = raw();
        assert!(ring.window(now, now).complete);
        Some((ring, now))
    });
    // The ring outlives its thread.
    let Some((ring, at)) = own.join().unwrap() else { return };
    assert_eq!(ring.window(at, at), Window::default());
    drop(ring);
}

#[test]
fn faults_are_timed() {
    let Some(ring) = ring(true) else { return };
    // On a busy machine, a window may miss a switch, and then has no faults.
    let watch = |pages| {
        let one = |_| {
            let mut counted = 0;
            let (begin, end, _) = timed(|| counted = page_faults(pages));
            let window = ring.window(begin, end);
            window.faults.map(|faults| (counted, end - begin, window, faults))
        };
        (0..20).find_map(one).unwrap()
    };
    let (counted, nanos, window, faults) = watch(100);
    assert!(window.complete && faults.complete && faults.unhandled == 0, "{window:?}");
    // The program itself may cause a few more.
    assert!((counted..counted + 20).contains(&(faults.timed as usize)), "{window:?} {counted}");
    assert!(faults.nanos > 50 * 100 && faults.nanos < nanos, "{window:?}");
    // If there are too many, the latest are known, and so are the switches.
    let (_, _, window, faults) = watch(2_000);
    assert!(window.complete && !faults.complete, "{window:?}");
    let holds = page_size() as u32 / 16 / 8 * 7;
    assert!((holds - 40..=holds).contains(&faults.timed), "{window:?}");
}

/// Runs a test again in a separate process with one thread, which may fork. Returns true in that process.
fn is_alone(test: &str) -> bool {
    const ALONE: &str = "PICOLLO_TEST_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let path = format!("{}::{test}", module_path!().split_once("::").unwrap().1);
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command.args([&path, "--exact", "--nocapture", "--test-threads=1"]).env(ALONE, "1").output();
    let output = output.unwrap();
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    false
}

/// A child sees no ring, leaves its own memory at that address alone, and may open a ring.
#[test]
fn a_child_does_not_touch_the_ring() {
    if !is_alone("a_child_does_not_touch_the_ring") {
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
        let mine = Ring::open(Kernel, false);
        drop(ring);
        // SAFETY: mapped above. If it is gone, the child dies here.
        unsafe { own.cast::<u8>().write_volatile(1) };
        let now = raw();
        wrong |= i32::from(!mine.as_ref().is_ok_and(|ring| ring.window(now, now).complete)) << 2;
        wrong
    });
    assert_eq!(code, 0);
    let ring = slot.take().unwrap();
    let window = ring.window(now, raw());
    assert!(window.complete && window.faults.is_some(), "{window:?}");
}
