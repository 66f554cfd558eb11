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

/// Whether the allocator has a page or so left, for code that cannot bear to be refused a few words. (More than allocators keep
/// for a thread in advance, so that it is there for whatever is allocated next.)
#[cfg(feature = "std")]
pub(crate) fn is_at_hand() -> bool {
    const SIZE: usize = 2048;
    let Ok(block) = allocate_zeroed(SIZE, align_of::<u64>()) else { return false };
    // Nobody looks at it; but it is not to be optimised away.
    let block = core::hint::black_box(block);
    // SAFETY: the block just allocated.
    unsafe { free(block, SIZE, align_of::<u64>()) };
    true
}
