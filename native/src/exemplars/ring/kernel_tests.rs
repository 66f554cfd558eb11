//! The real kernel. The oracle is the thread's own CPU clock: what of the time it does not account for, the thread was off the CPU.

use std::sync::atomic::{AtomicBool, Ordering as Memory};
use std::time::Duration;

use super::*;
use crate::os::testing::{own_cpu, page_faults, pin_to};

pub(super) const MANY: usize = usize::MAX;

/// A ring, where there are any to be had.
pub(super) fn ring(faults: bool) -> Option<Ring> {
    let ring = if faults { Ring::with_faults(Kernel, MANY) } else { Ring::open(Kernel, MANY) };
    ring.inspect_err(|refused| eprintln!("SKIPPED: {}", refused.explain(&Kernel))).ok()
}

pub(super) fn raw() -> u64 {
    Kernel.raw_nanos()
}

/// How often this thread has left the CPU.
fn left() -> u32 {
    Kernel.context_switches().unwrap() as u32
}

/// How many absences a ring holds: two records of 16 bytes for each, in one page.
fn holds() -> u32 {
    page_size() as u32 / 32
}

/// When a piece of work began and ended, and how long it was off the CPU by the thread's CPU clock.
pub(super) fn timed(work: impl FnOnce()) -> (u64, u64, u64) {
    let cpu = || clock_nanos(libc::CLOCK_THREAD_CPUTIME_ID);
    let (begin, before) = (raw(), cpu());
    work();
    let (after, end) = (cpu(), raw());
    (begin, end, (end - begin).saturating_sub(after - before))
}

/// Within 5 %, and a millisecond: on a machine with other work, and in one that is a guest itself, clocks of CPU time are not exact.
pub(super) fn near(found: u64, expected: u64) -> bool {
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
        // It went by its own call.
        assert!(window.preempted_nanos <= window.off_nanos - 15_000_000, "{window:?}");
        // What is before it, and behind it, is not in it.
        let (begin, end, off) = timed(|| ());
        let window = ring.window(begin, end);
        assert!(window.complete && near(window.off_nanos, off), "{window:?}");
    }
}

/// Another thread wants the same CPU all the time.
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
            let (before, from) = (left(), raw());
            let (begin, end, off) = timed(|| spin(&|| raw() - from >= 60_000_000));
            let window = ring.window(begin, end);
            // Others of this machine may want the CPU far more often.
            if !window.complete && left() - before >= holds() {
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
fn more_than_the_ring_holds_is_not_known() {
    let Some(ring) = ring(false) else { return };
    let holds = holds();
    let naps = |count| {
        // A nap of no length is now and then over before it has begun: how often it left the CPU is the kernel's word.
        let before = left();
        while left() - before < count {
            std::thread::sleep(Duration::from_micros(1));
        }
    };
    let (opened, before) = (raw(), left());
    naps(holds / 2);
    // Exactly as often as the kernel says: it may leave in between, but then once more before and once more after.
    let exact = (0..100).any(|_| {
        let (least, window, most) = (left() - before, ring.window(opened, raw()), left() - before);
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

/// What the program may do to its events at any time: nothing is written from then on, and nothing is said.
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
    // Nor when it has gone on.
    prctl(libc::PR_TASK_PERF_EVENTS_ENABLE);
    let (begin, end, _) = nap();
    assert_eq!(ring.window(begin, end), Window::default());
    let ring = Ring::open(Kernel, MANY).unwrap();
    let (begin, end, off) = nap();
    assert!(near(ring.window(begin, end).off_nanos, off));
}

#[test]
fn only_its_own_thread_may_ask() {
    let own = std::thread::spawn(|| {
        let ring = ring(false)?;
        let now = raw();
        assert!(ring.window(now, now).complete);
        Some((ring, now))
    });
    // Its thread is gone, and the ring is not.
    let Some((ring, at)) = own.join().unwrap() else { return };
    assert_eq!(ring.window(at, at), Window::default());
    drop(ring);
}

#[test]
fn faults_are_timed() {
    let Some(ring) = ring(true) else { return };
    // Beside others a window may miss a switch, and then has no faults.
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
    // A few more may be the program's own, around them.
    assert!((counted..counted + 20).contains(&(faults.timed as usize)), "{window:?} {counted}");
    assert!(faults.nanos > 50 * 100 && faults.nanos < nanos, "{window:?}");
    // Of too many the latest are known, and the switches all the same.
    let (_, _, window, faults) = watch(2_000);
    assert!(window.complete && !faults.complete, "{window:?}");
    let holds = page_size() as u32 / 16 / 8 * 7;
    assert!((holds - 40..=holds).contains(&faults.timed), "{window:?}");
}
