//! The real kernel. The oracle is the thread's own CPU clock: what of the time it does not account for, the thread was off the CPU.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering as Memory};
use std::time::Duration;

use super::*;
use crate::os::wall::clock_nanos;

pub(super) const MANY: usize = usize::MAX;

/// A ring, where there are any to be had.
pub(super) fn ring(faults: bool) -> Option<Ring> {
    let ring = if faults { Ring::with_faults(Kernel, MANY) } else { Ring::open(Kernel, MANY) };
    ring.inspect_err(|refused| eprintln!("SKIPPED: {}", refused.explain(&Kernel))).ok()
}

pub(super) fn raw() -> u64 {
    Kernel.raw_nanos()
}

/// What the kernel says that this thread has done so far.
fn usage() -> libc::rusage {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the call fills in a structure of the right type, of which zero is a valid one.
    unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init()
    }
}

/// How often this thread has left the CPU.
fn left() -> u32 {
    let usage = usage();
    (usage.ru_nvcsw + usage.ru_nivcsw) as u32
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
    let cpu = {
        // SAFETY: a query.
        let cpu = unsafe { libc::sched_getcpu() };
        usize::try_from(cpu).unwrap_or(0)
    };
    let pin = move || {
        // SAFETY: a zeroed set is an empty one, and the calls stay inside it.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(cpu, &mut set);
            libc::sched_setaffinity(0, size_of_val(&set), &raw const set) == 0
        }
    };
    let stop = Arc::new(AtomicBool::new(false));
    let spinner = std::thread::spawn({
        let stop = stop.clone();
        move || {
            pin();
            while !stop.load(Memory::Relaxed) {
                std::hint::spin_loop();
            }
        }
    });
    let outcome = std::thread::spawn(move || {
        if !pin() {
            return eprintln!("SKIPPED: threads cannot be bound to a CPU here");
        }
        let Some(ring) = ring(false) else { return };
        for _ in 0..20 {
            let before = left();
            let (begin, end, off) = timed(|| {
                let from = raw();
                while raw() - from < 60_000_000 {
                    std::hint::spin_loop();
                }
            });
            let window = ring.window(begin, end);
            // Others of this machine may want the CPU far more often.
            if !window.complete && left() - before >= holds() {
                continue;
            }
            assert!(window.complete && near(window.off_nanos, off), "{window:?} {off}");
            assert!(off > 5_000_000, "the spinner did not run: {off}");
            assert!(window.preempted_nanos * 10 >= window.off_nanos * 9, "{window:?}");
            return;
        }
        eprintln!("SKIPPED: this thread is preempted more often than a ring holds");
    })
    .join();
    stop.store(true, Memory::Relaxed);
    spinner.join().unwrap();
    outcome.unwrap();
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

/// Pages that were not there before, and the kernel's count of them.
fn touch(pages: usize) -> usize {
    let count = || (usage().ru_minflt + usage().ru_majflt) as usize;
    let length = pages * page_size();
    let (protection, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping, used within its bounds and given back.
    unsafe {
        let memory = libc::mmap(std::ptr::null_mut(), length, protection, kind, -1, 0);
        assert_ne!(memory, libc::MAP_FAILED);
        libc::madvise(memory, length, libc::MADV_NOHUGEPAGE);
        let before = count();
        for page in 0..pages {
            memory.cast::<u8>().add(page * page_size()).write_volatile(1);
        }
        let faults = count() - before;
        libc::munmap(memory, length);
        faults
    }
}

#[test]
fn faults_are_timed() {
    let Some(ring) = ring(true) else { return };
    let mut counted = 0;
    let (begin, end, _) = timed(|| counted = touch(100));
    let window = ring.window(begin, end);
    let faults = window.faults.unwrap();
    assert!(window.complete && faults.complete && faults.unhandled == 0, "{window:?}");
    // A few more may be the program's own, around them.
    assert!((counted..counted + 20).contains(&(faults.timed as usize)), "{window:?} {counted}");
    assert!(faults.nanos > 50 * 100 && faults.nanos < end - begin, "{window:?}");
    // Of too many the latest are known, and the switches all the same.
    let (begin, end, _) = timed(|| counted = touch(2_000));
    let window = ring.window(begin, end);
    let faults = window.faults.unwrap();
    assert!(window.complete && !faults.complete, "{window:?}");
    let holds = page_size() as u32 / 16 / 8 * 7;
    assert!((holds - 40..=holds).contains(&faults.timed), "{window:?}");
}
