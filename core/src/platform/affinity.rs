//! For tests: the CPUs that threads run on.

use std::vec::Vec;

/// Returns the CPUs that this process may run on.
pub(super) fn allowed() -> Vec<usize> {
    // SAFETY: a set of CPUs can be all zeros, and the system fills it.
    unsafe {
        let mut set: libc::cpu_set_t = core::mem::zeroed();
        libc::sched_getaffinity(0, size_of_val(&set), &mut set);
        (0..libc::CPU_SETSIZE as usize).filter(|&cpu| libc::CPU_ISSET(cpu, &set)).collect()
    }
}

/// Keeps the calling thread on a CPU.
pub(super) fn pin(cpu: usize) {
    // SAFETY: as above, for the calling thread.
    unsafe {
        let mut set: libc::cpu_set_t = core::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        assert_eq!(libc::sched_setaffinity(0, size_of_val(&set), &set), 0);
    }
}
