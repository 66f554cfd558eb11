//! What threads have used, for events that the kernel denies and says otherwise.

use super::{Errno, Kernel};
use crate::os::wall::clock_nanos;

/// What threads have used so far.
pub trait Threads {
    /// Context switches of the calling thread so far, by `getrusage`.
    fn context_switches(&self) -> Result<u64, Errno>;
    /// Nanoseconds that a thread of this process has run.
    fn thread_nanos(&self, thread: i32) -> Result<u64, Errno>;
}

impl Threads for Kernel {
    fn context_switches(&self) -> Result<u64, Errno> {
        let mut usage = core::mem::MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the pointer is to memory of the right type, which is all that the call writes.
        if unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) } != 0 {
            return Err(Errno::last());
        }
        // SAFETY: zero is a valid rusage, and the call filled it in besides.
        let usage = unsafe { usage.assume_init() };
        Ok((usage.ru_nvcsw as u64).wrapping_add(usage.ru_nivcsw as u64))
    }

    fn thread_nanos(&self, thread: i32) -> Result<u64, Errno> {
        // How the kernel spells the clock of a thread (MAKE_THREAD_CPUCLOCK in its headers; pthread_getcpuclockid does the same).
        const PER_THREAD: i32 = 4;
        const SCHED: i32 = 2;
        match clock_nanos(!thread << 3 | PER_THREAD | SCHED) {
            // No thread that could ask or be asked has run for no time at all.
            0 => Err(Errno(libc::EINVAL)),
            nanos => Ok(nanos),
        }
    }
}
