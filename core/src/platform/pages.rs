//! Zeroed memory that can be allocated anywhere: in a signal handler, inside the allocator, in the child of a fork.
//!
//! If that matters (for the shards of [`crate::platform::rseq`]), the request bypasses the C library and goes to the
//! kernel. It takes no lock and does not change `errno`. Pages use no memory until they are touched, and then memory
//! near that processor.

use core::ptr::NonNull;

/// Sizes are rounded up to a multiple of this.
pub(crate) const PAGE: usize = 4096;

#[cfg(picollo_rseq)]
mod chosen {
    use super::*;
    use core::arch::asm;

    const MMAP: usize = 9;
    const MUNMAP: usize = 11;
    const READ_AND_WRITE: usize = 3;
    const PRIVATE_AND_ANONYMOUS: usize = 0x22;
    const NO_FILE: usize = usize::MAX;

    /// # Safety
    /// As for the system call.
    unsafe fn system_call(number: usize, arguments: [usize; 6]) -> usize {
        let answer;
        // SAFETY: a system call changes two registers besides its result; the rest is the caller's promise.
        unsafe {
            asm!(
                "syscall",
                inlateout("rax") number => answer,
                in("rdi") arguments[0],
                in("rsi") arguments[1],
                in("rdx") arguments[2],
                in("r10") arguments[3],
                in("r8") arguments[4],
                in("r9") arguments[5],
                lateout("rcx") _,
                lateout("r11") _,
                options(nostack)
            );
        }
        answer
    }

    /// Maps a zeroed block of `size > 0` bytes, aligned to a page; returns `None` if there is no memory.
    pub(crate) fn map(size: usize) -> Option<NonNull<u8>> {
        let arguments = [0, size, READ_AND_WRITE, PRIVATE_AND_ANONYMOUS, NO_FILE, 0];
        // SAFETY: this maps new memory at an unused address.
        let start = unsafe { system_call(MMAP, arguments) };
        // Results in the last page of the address space are error numbers.
        if start > usize::MAX - PAGE {
            None
        } else {
            NonNull::new(core::ptr::with_exposed_provenance_mut(start))
        }
    }

    /// Unmaps a block.
    ///
    /// # Safety
    /// The block must come from [`map`] with the same size, and not be used any more.
    pub(crate) unsafe fn unmap(block: NonNull<u8>, size: usize) {
        // SAFETY: these are whole pages that nobody uses, by the caller's promise.
        unsafe { system_call(MUNMAP, [block.as_ptr().addr(), size, 0, 0, 0, 0]) };
    }
}

/// Here nobody allocates where the allocator would not work.
#[cfg(not(picollo_rseq))]
mod chosen {
    use super::*;
    use crate::platform::memory;

    const ALIGN: usize = 64;

    pub(crate) fn map(size: usize) -> Option<NonNull<u8>> {
        memory::allocate_zeroed(size, ALIGN).ok()
    }

    pub(crate) unsafe fn unmap(block: NonNull<u8>, size: usize) {
        // SAFETY: the caller's promise.
        unsafe { memory::free(block, size, ALIGN) };
    }
}

pub(crate) use chosen::{map, unmap};
