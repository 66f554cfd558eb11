//! Allocation that can fail.

use core::ptr::NonNull;

use crate::{Error, Result};

/// A zeroed block of `size > 0` bytes.
pub(crate) fn allocate_zeroed(size: usize, align: usize) -> Result<NonNull<u8>> {
    let layout = core::alloc::Layout::from_size_align(size, align).map_err(|_| Error::OutOfMemory)?;
    debug_assert!(size > 0);
    // SAFETY: callers ask for a header at least, so the size is not zero.
    NonNull::new(unsafe { alloc::alloc::alloc_zeroed(layout) }).ok_or(Error::OutOfMemory)
}

/// Frees a block.
///
/// # Safety
/// The block must come from [`allocate_zeroed`] with the same size and alignment, and not be used any more.
pub(crate) unsafe fn free(block: NonNull<u8>, size: usize, align: usize) {
    // SAFETY: size and alignment were accepted when the block was allocated; the rest is the caller's promise.
    unsafe {
        alloc::alloc::dealloc(block.as_ptr(), core::alloc::Layout::from_size_align_unchecked(size, align))
    }
}
