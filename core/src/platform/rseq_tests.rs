//! Threads that meet on CPUs, in the real sequence and in copies with a wide window. A copy that is not registered with
//! the kernel loses additions, so the window is wide enough to find faults in the others.

use core::arch::asm;
use core::ptr;
use std::sync::Barrier;
use std::vec::Vec;
use std::{eprintln, thread};

use super::chosen::{AREA, sequence};
use super::*;
use crate::platform::affinity::{allowed, pin};
use crate::platform::atomics::Ordering::Relaxed;

/// Adds one so slowly that other threads run in between. The addition is a load, a pause, and a store.
macro_rules! widened {
    ($name:ident, $arm:literal) => {
        unsafe fn $name(table: &Table, index: usize) -> bool {
            // SAFETY: as for `count`.
            unsafe {
                sequence!(
                    $arm,
                    [
                        "mov rdx, qword ptr [{shard} + 8 * {index}]",
                        "mov rcx, 200",
                        "775: pause",
                        "dec rcx",
                        "jnz 775b",
                        "inc rdx",
                        "mov qword ptr [{shard} + 8 * {index}], rdx"
                    ],
                    AREA.load(Relaxed),
                    table,
                    index,
                    { return false },
                    out("rcx") _,
                    out("rdx") _,
                );
            }
            true
        }
    };
}
widened!(count_slowly, "mov qword ptr fs:[{area} + 8], {shard}");
widened!(count_unregistered, "");

/// Returns whether there are areas here; prints a message if not.
fn is_there() -> bool {
    if cpus() == 0 || cpu().is_none() {
        eprintln!("SKIPPED: no restartable sequences here");
        return false;
    }
    true
}

/// Unregisters the calling thread's area, as for a thread that never had one.
fn unregister() {
    const UNREGISTER: libc::c_int = 1;
    const SIGNATURE: u32 = 0x5305_3053;
    // SAFETY: this is the area that the C library registered; the kernel rejects any size but the registered one.
    unsafe {
        let thread: usize;
        asm!("mov {}, qword ptr fs:[0]", out(reg) thread);
        let area = thread.wrapping_add(AREA.load(Relaxed));
        let mut sizes = (32..1024).step_by(4);
        assert!(sizes.any(|size| libc::syscall(libc::SYS_rseq, area, size, UNREGISTER, SIGNATURE) == 0));
    }
    assert_eq!(cpu(), None);
}

/// Shards of a few cells, one of which is shared.
struct Shards(Vec<AtomicPtr<AtomicU64>>);

const CELLS: usize = 4;

impl Shards {
    fn new() -> Shards {
        let shard = || Vec::leak((0..CELLS).map(|_| AtomicU64::new(0)).collect::<Vec<_>>()).as_mut_ptr();
        Shards((0..cpus()).map(|_| AtomicPtr::new(shard())).collect())
    }

    fn total(&self) -> u64 {
        let cells = self.0.iter().flat_map(|shard| {
            // SAFETY: the shard has this many cells, and they are freed with the shards.
            unsafe { core::slice::from_raw_parts(shard.load(Relaxed), CELLS) }
        });
        cells.map(|cell| cell.load(Relaxed)).sum()
    }
}

impl Drop for Shards {
    fn drop(&mut self) {
        for shard in &self.0 {
            // SAFETY: `new` leaked it as a vector with exactly this capacity, and nobody uses it any more.
            drop(unsafe { Vec::from_raw_parts(shard.load(Relaxed), CELLS, CELLS) });
        }
    }
}

/// Runs threads on separate or shared CPUs: threads with even numbers stay on one CPU, the others move among all.
/// Returns what they counted (in cells, or otherwise) and what the cells have.
fn meet(threads: usize, times: usize, count: unsafe fn(&Table, usize) -> bool) -> (u64, u64) {
    let (shards, barrier, allowed) = (Shards::new(), Barrier::new(threads), allowed());
    let elsewhere: u64 = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|number| {
                let (shards, barrier, allowed) = (&shards, &barrier, &allowed);
                scope.spawn(move || {
                    pin(allowed[number / 2 % allowed.len()]);
                    barrier.wait();
                    let mut elsewhere = 0;
                    for time in 0..times {
                        if number % 2 == 1 && time % 64 == 0 {
                            pin(allowed[(time / 64 + number) % allowed.len()]);
                        }
                        // SAFETY: the shards have this many cells.
                        elsewhere += u64::from(!unsafe { count(&shards.0, time % CELLS) });
                    }
                    elsewhere
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    ((threads * times) as u64 - elsewhere, shards.total())
}

#[test]
fn nothing_is_lost_where_threads_meet() {
    if is_there() {
        let (counted, found) = meet(8, 300_000, count);
        assert_eq!(counted, found);
        assert!(counted > 8 * 299_000, "{counted}: interrupted too often");
        let (counted, found) = meet(8, 300_000, |table, index| {
            // SAFETY: passed on.
            unsafe { add(table, index, 1) == Added::Done }
        });
        assert_eq!(counted, found);
    }
}

#[test]
fn nothing_is_lost_in_a_wide_window() {
    if is_there() {
        let (counted, found) = meet(8, 4_000, count_slowly);
        assert_eq!(counted, found);
    }
}

/// The control, without which the tests above prove nothing. Eight threads on two CPUs must meet in windows that take
/// nearly all of their time.
#[test]
fn unregistered_sequences_lose_additions() {
    if is_there() {
        let (counted, found) = meet(8, 4_000, count_unregistered);
        assert!(found < counted, "{found} of {counted}");
    }
}

#[test]
fn a_thread_without_an_area_adds_nothing() {
    if !is_there() {
        return;
    }
    let shards = Shards::new();
    thread::scope(|scope| {
        let without = scope.spawn(|| {
            unregister();
            // SAFETY: the shards have this many cells.
            unsafe { (count(&shards.0, 0), add(&shards.0, 0, 1)) }
        });
        assert_eq!(without.join().unwrap(), (false, Added::Not));
    });
    // SAFETY: as above.
    unsafe {
        assert_eq!((count(&[], 0), add(&[], 0, 1)), (false, Added::Not), "a CPU beyond the table");
        let untouched: Vec<_> = (0..cpus()).map(|_| AtomicPtr::new(ptr::null_mut())).collect();
        assert_eq!((count(&untouched, 0), add(&untouched, 0, 1)), (false, Added::Not));
    }
    assert_eq!(shards.total(), 0);
}

/// Runs `work` step by step: a signal follows each instruction.
fn step_through<R>(work: impl FnOnce() -> R) -> R {
    extern "C" fn nothing(_: libc::c_int) {}
    // SAFETY: the handler does nothing. The trap flag belongs to this thread, and is cleared again.
    unsafe {
        libc::signal(libc::SIGTRAP, nothing as *const () as libc::sighandler_t);
        asm!("pushfq", "or qword ptr [rsp], 0x100", "popfq");
        let result = work();
        asm!("pushfq", "and qword ptr [rsp], ~0x100", "popfq");
        result
    }
}

/// Every real sequence is registered with the kernel; the control is not.
#[test]
fn what_is_interrupted_adds_nothing() {
    if !is_there() {
        return;
    }
    let shards = Shards::new();
    // SAFETY: the shards have this many cells.
    let [one, several, unregistered] = step_through(|| unsafe {
        [count(&shards.0, 0), add(&shards.0, 0, 2) != Added::Not, count_unregistered(&shards.0, 0)]
    });
    assert_eq!([one, several, unregistered], [false, false, true]);
    assert_eq!(shards.total(), 1);
}

#[test]
fn a_wrap_is_reported() {
    if !is_there() {
        return;
    }
    pin(allowed()[0]);
    let shards = Shards::new();
    let mut left = [u64::MAX, 1, 0, 5].into_iter().map(|count| (count, count == 1)).collect::<Vec<_>>();
    left.reverse();
    while let Some(&(count, wraps)) = left.last() {
        // SAFETY: the shards have this many cells.
        match unsafe { add(&shards.0, 1, count) } {
            Added::Not => continue,
            added => assert_eq!(added == Added::Wrapped, wraps, "{count}"),
        }
        left.pop();
    }
    assert_eq!(shards.total(), 5);
}
