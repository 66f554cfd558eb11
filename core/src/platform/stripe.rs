//! Selects the stripe that a thread uses.
//!
//! If many threads add to one value, it is divided into stripes, so that threads seldom meet. Any stripe is correct for
//! any thread; it only has to differ from those of most other threads. At any moment, a CPU runs only one thread, so the
//! CPU is the best choice. The thread may have moved to another CPU by the time of an addition, so the addition is atomic.

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

#[cfg(feature = "alloc")]
use crate::platform::rseq;

/// Whether processes share stripes: then a call to find the CPU is worth its cost.
static BETWEEN_PROCESSES: AtomicBool = AtomicBool::new(false);

/// From now on threads are distinguished by their CPUs, as well as the system can, instead of by their stacks: forked
/// workers have their stacks at the same addresses.
#[cfg(feature = "alloc")]
pub(crate) fn between_processes() {
    rseq::cpus();
    BETWEEN_PROCESSES.store(true, Relaxed);
}

/// Returns the stripe of the CPU below `stripes`, a power of two, if something has checked that threads know their CPU
/// ([`rseq::cpus`]).
#[cfg(feature = "alloc")]
#[inline(always)]
pub(crate) fn by_known_cpu(stripes: usize) -> Option<usize> {
    rseq::cpu().map(|cpu| cpu & (stripes - 1))
}

/// Without an allocator nobody looks for the CPU.
#[cfg(not(feature = "alloc"))]
pub(crate) fn by_known_cpu(_: usize) -> Option<usize> {
    None
}

/// Returns a stripe if [`by_known_cpu`] has none: that of the CPU that the system reports, or that of the thread's stack.
#[inline]
pub(crate) fn by_system_or_stack(stripes: usize) -> usize {
    let cpu = if BETWEEN_PROCESSES.load(Relaxed) { reported_cpu() } else { None };
    cpu.map_or_else(|| by_stack(stripes), |cpu| cpu & (stripes - 1))
}

/// Returns the CPU that the C library reports, mostly without a system call.
#[cfg(all(feature = "std", target_os = "linux", not(any(loom, miri))))]
fn reported_cpu() -> Option<usize> {
    unsafe extern "C" {
        safe fn sched_getcpu() -> core::ffi::c_int;
    }
    usize::try_from(sched_getcpu()).ok()
}

#[cfg(not(all(feature = "std", target_os = "linux", not(any(loom, miri)))))]
fn reported_cpu() -> Option<usize> {
    None
}

/// Returns a stripe below `stripes`, a power of two, for the calling thread: mostly the same one each time.
///
/// Threads have separate stacks, so the address of a local variable distinguishes them. That works on every platform,
/// and without a thread-local variable, which would cost more than it saves.
#[inline(always)]
pub(crate) fn by_stack(stripes: usize) -> usize {
    let local = 0u8;
    by_address((&raw const local).addr(), stripes)
}

/// Frames of one thread mostly lie within 64 KB of each other. Stacks mostly lie at equal distances. Multiplication by
/// the golden ratio (Fibonacci hashing) spreads them evenly over the upper bits, which select the stripe.
#[inline(always)]
fn by_address(address: usize, stripes: usize) -> usize {
    debug_assert!(stripes.is_power_of_two());
    let hash = (address as u64 >> 16).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((hash as u128 * stripes as u128) >> 64) as usize
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::vec::Vec;

    #[test]
    fn stacks_at_equal_distances_spread() {
        for distance in
            [64usize << 10, 128 << 10, 1 << 20, (2 << 20) + 4096, 2 << 20, 8 << 20, (8 << 20) + 4096]
        {
            // On 32 bits the upper part is cut off.
            for start in [0u64, 0x7f12_3456_7000, 0x7fff_f7e0_0000].map(|start| start as usize) {
                let found: BTreeSet<usize> =
                    (0..16).map(|at| by_address(start.wrapping_add(at * distance), 16)).collect();
                assert!(found.len() >= 8 && found.last() < Some(&16), "{distance} {found:?}");
            }
        }
    }

    #[test]
    fn threads_use_several_stripes() {
        let barrier = std::sync::Barrier::new(16);
        let found: BTreeSet<usize> = std::thread::scope(|scope| {
            let thread = || {
                barrier.wait();
                let stripe = by_stack(16);
                assert_eq!(by_stack(1), 0);
                barrier.wait();
                stripe
            };
            let threads: Vec<_> = (0..16).map(|_| scope.spawn(thread)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(found.last() < Some(&16) && found.len() >= 4, "{found:?}");
    }

    #[cfg(all(feature = "std", target_os = "linux", not(miri)))]
    #[test]
    fn who_stays_on_a_cpu_has_its_stripe() {
        between_processes();
        // A separate thread, so that no other test has to stay on that CPU.
        let checked = std::thread::spawn(|| {
            for cpu in crate::platform::affinity::allowed() {
                crate::platform::affinity::pin(cpu);
                let found = (by_system_or_stack(16), by_system_or_stack(1), reported_cpu());
                assert_eq!(found, (cpu % 16, 0, Some(cpu)));
                if let Some(stripe) = by_known_cpu(16) {
                    assert_eq!((stripe, by_known_cpu(1)), (cpu % 16, Some(0)));
                }
            }
        });
        checked.join().unwrap();
    }
}
