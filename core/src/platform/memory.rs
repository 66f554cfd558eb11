//! Sizes of blocks, and allocation that can fail.

#[cfg(feature = "alloc")]
use core::ptr::NonNull;

use crate::error::{Error, Result};

/// Returns the size of a block of `fixed` bytes followed by `length` elements of `E`: a multiple of the alignment of
/// `Head`, which it begins with. Fails with [`Error::OutOfMemory`] if no address space could hold it.
pub(crate) const fn size_with<Head, E>(fixed: usize, length: usize) -> Result<usize> {
    match length.checked_mul(size_of::<E>()) {
        // This leaves room for the arithmetic of sizes, here and with the prefix.
        Some(bytes) if bytes < isize::MAX as usize - 2 * fixed => {
            Ok((fixed + bytes).next_multiple_of(align_of::<Head>()))
        }
        _ => Err(Error::OutOfMemory),
    }
}

/// Allocates a zeroed block of `size > 0` bytes.
#[cfg(feature = "alloc")]
pub fn allocate_zeroed(size: usize, align: usize) -> Result<NonNull<u8>> {
    let layout = core::alloc::Layout::from_size_align(size, align).map_err(|_| Error::OutOfMemory)?;
    debug_assert!(size > 0);
    // SAFETY: callers allocate at least a header, so the size is not zero.
    NonNull::new(unsafe { alloc::alloc::alloc_zeroed(layout) }).ok_or(Error::OutOfMemory)
}

/// Frees a block.
///
/// # Safety
/// The block must come from [`allocate_zeroed`] with the same size and alignment, and not be used any more.
#[cfg(feature = "alloc")]
pub unsafe fn free(block: NonNull<u8>, size: usize, align: usize) {
    // SAFETY: size and alignment were accepted when the block was allocated; the rest is the caller's promise.
    unsafe {
        alloc::alloc::dealloc(block.as_ptr(), core::alloc::Layout::from_size_align_unchecked(size, align))
    }
}

/// Returns whether the allocator has about a page left, for code that cannot handle a failed allocation of a few words.
/// (The size exceeds what allocators reserve for a thread, so the memory is there for the next allocation.)
#[cfg(feature = "std")]
pub fn is_at_hand() -> bool {
    const SIZE: usize = 2048;
    let Ok(block) = allocate_zeroed(SIZE, align_of::<u64>()) else { return false };
    // Nobody reads it, but the compiler must not remove it.
    let block = core::hint::black_box(block);
    // SAFETY: this block was just allocated.
    unsafe { free(block, SIZE, align_of::<u64>()) };
    true
}
