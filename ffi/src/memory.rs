//! Blocks of memory from the allocator, which may have none. A build without `std` has no allocator.

#[cfg(feature = "std")]
use std::alloc::{Layout, alloc, dealloc};

use core::ptr::NonNull;

use crate::failure::{Failure, Outcome};

/// A block of `size` bytes, not none, with anything in it.
#[cfg(feature = "std")]
pub fn allocate(size: usize, align: usize) -> Outcome<NonNull<u8>> {
    let layout = Layout::from_size_align(size, align).map_err(|_| Failure::OUT_OF_MEMORY)?;
    if size == 0 {
        return Err(Failure::INVALID_ARGUMENT);
    }
    // SAFETY: the size is not zero.
    NonNull::new(unsafe { alloc(layout) }).ok_or(Failure::OUT_OF_MEMORY)
}

/// Frees a block.
///
/// # Safety
/// `block` must come from [`allocate`] with the same size and alignment, and not be used any more.
#[cfg(feature = "std")]
pub unsafe fn free(block: NonNull<u8>, size: usize, align: usize) {
    // SAFETY: the same size and alignment made a layout when the block was allocated.
    unsafe { dealloc(block.as_ptr(), Layout::from_size_align_unchecked(size, align)) }
}

/// There is no allocator.
#[cfg(not(feature = "std"))]
pub fn allocate(_: usize, _: usize) -> Outcome<NonNull<u8>> {
    Err(Failure::UNSUPPORTED)
}

/// Nothing is ever allocated, so that there is nothing to free.
///
/// # Safety
/// As with an allocator.
#[cfg(not(feature = "std"))]
pub unsafe fn free(_: NonNull<u8>, _: usize, _: usize) {}
