//! What a ring asks of the system, behind a trait so that tests can stand in for it.

use core::ptr::NonNull;

use crate::os::sys::{Errno, Files, Kernel, Perf};
use crate::os::wall::clock_nanos;

/// Events, and what of them is mapped.
pub(crate) trait System: Files + Perf {
    /// Maps the beginning of an event's ring for reading only, which makes it one that overwrites what is oldest. Children do not
    /// have it.
    fn map_ring(&self, fd: i32, length: usize) -> Result<NonNull<u8>, Errno>;
    /// Undoes [`System::map_ring`].
    ///
    /// # Safety
    /// The address came from `map_ring` of this very process with this length, and nothing uses it after this.
    unsafe fn unmap_ring(&self, at: NonNull<u8>, length: usize);
    /// `CLOCK_MONOTONIC_RAW`, by which records are dated.
    fn raw_nanos(&self) -> u64;
}

impl System for Kernel {
    fn map_ring(&self, fd: i32, length: usize) -> Result<NonNull<u8>, Errno> {
        let (read, shared) = (libc::PROT_READ, libc::MAP_SHARED);
        // SAFETY: a new mapping at an address of the kernel's choice touches nothing that exists.
        let at = unsafe { libc::mmap(core::ptr::null_mut(), length, read, shared, fd, 0) };
        if at == libc::MAP_FAILED {
            return Err(Errno::last());
        }
        // Mappings of events are marked so from the beginning; it is asked for all the same, because everything depends on it: a
        // failure changes nothing. SAFETY: the range is the mapping just made.
        unsafe { libc::madvise(at, length, libc::MADV_DONTFORK) };
        NonNull::new(at.cast()).ok_or(Errno(libc::ENOMEM))
    }

    unsafe fn unmap_ring(&self, at: NonNull<u8>, length: usize) {
        // SAFETY: the caller gives up exactly what map_ring has mapped.
        unsafe { libc::munmap(at.as_ptr().cast(), length) };
    }

    fn raw_nanos(&self) -> u64 {
        clock_nanos(libc::CLOCK_MONOTONIC_RAW)
    }
}
