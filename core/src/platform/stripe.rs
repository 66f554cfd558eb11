//! Selects the stripe of a thread that must not meet other threads, including those of other processes.
//!
//! Forked workers have their stacks at the same addresses, so [`stack_hash`] would send all of them to one stripe. At
//! any moment, a CPU runs only one thread. The thread may have moved to another CPU by the time of an addition, so the
//! addition is atomic.

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

#[cfg(feature = "alloc")]
use crate::platform::rseq;
use crate::platform::stack_hash;

/// Whether processes share stripes: then a call to find the CPU is worth its cost.
static BETWEEN_PROCESSES: AtomicBool = AtomicBool::new(false);

/// From now on threads are distinguished by their CPUs, as well as the system can, instead of by their stacks.
#[cfg(feature = "alloc")]
pub(crate) fn between_processes() {
    look();
    BETWEEN_PROCESSES.store(true, Relaxed);
}

/// Finds out whether threads have an area that contains their CPU.
#[cfg(feature = "alloc")]
pub(crate) fn look() {
    rseq::cpus();
}

/// Returns the stripe of the CPU below `stripes`, a power of two, if the CPU is known.
#[cfg(feature = "alloc")]
#[inline(always)]
pub(crate) fn of_cpu(stripes: usize) -> Option<usize> {
    rseq::cpu().map(|cpu| cpu & (stripes - 1))
}

/// Without an allocator nobody looks for the CPU.
#[cfg(not(feature = "alloc"))]
pub(crate) fn of_cpu(_: usize) -> Option<usize> {
    None
}

/// Returns a stripe if [`of_cpu`] has none: that of the CPU that the system reports, or that of the thread.
#[inline]
pub(crate) fn of_others(stripes: usize) -> usize {
    let cpu = if BETWEEN_PROCESSES.load(Relaxed) { asked_for() } else { None };
    cpu.map_or_else(|| stack_hash::of_this_thread(stripes), |cpu| cpu & (stripes - 1))
}

/// Returns the CPU that the C library reports, mostly without a system call.
#[cfg(all(feature = "std", target_os = "linux", not(any(loom, miri))))]
fn asked_for() -> Option<usize> {
    unsafe extern "C" {
        safe fn sched_getcpu() -> core::ffi::c_int;
    }
    usize::try_from(sched_getcpu()).ok()
}

#[cfg(not(all(feature = "std", target_os = "linux", not(any(loom, miri)))))]
fn asked_for() -> Option<usize> {
    None
}

#[cfg(all(test, feature = "std", target_os = "linux", not(any(loom, miri))))]
mod tests {
    use super::*;

    #[test]
    fn who_stays_on_a_cpu_has_its_stripe() {
        between_processes();
        // A separate thread, so that no other test has to stay on that CPU.
        std::thread::spawn(|| {
            // SAFETY: a set of CPUs is plain numbers, and lives here.
            unsafe {
                let mut allowed: libc::cpu_set_t = core::mem::zeroed();
                assert_eq!(libc::sched_getaffinity(0, size_of_val(&allowed), &raw mut allowed), 0);
                for cpu in (0..libc::CPU_SETSIZE as usize).filter(|&cpu| libc::CPU_ISSET(cpu, &allowed)) {
                    let mut one: libc::cpu_set_t = core::mem::zeroed();
                    libc::CPU_SET(cpu, &mut one);
                    assert_eq!(libc::sched_setaffinity(0, size_of_val(&one), &raw const one), 0);
                    assert_eq!((of_others(16), of_others(1), asked_for()), (cpu % 16, 0, Some(cpu)));
                    if let Some(stripe) = of_cpu(16) {
                        assert_eq!((stripe, of_cpu(1)), (cpu % 16, Some(0)));
                    }
                }
            }
        })
        .join()
        .unwrap();
    }
}
