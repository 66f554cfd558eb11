//! Blocks of memory from the allocator, which may fail. A build without `std` has no allocator.

#[cfg(feature = "std")]
use std::alloc::{Layout, alloc, dealloc};

use core::ptr::NonNull;

use crate::failure::{Failure, Outcome};

/// An uninitialized block of `size` bytes, which must not be 0.
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

/// Moves a value into a new block.
pub fn create<T>(value: T) -> Outcome<NonNull<T>> {
    let block = allocate(size_of::<T>(), align_of::<T>())?.cast::<T>();
    // SAFETY: a fresh block of this size and alignment.
    unsafe { block.write(value) };
    Ok(block)
}

/// Drops a value and frees its block. NULL does nothing.
///
/// # Safety
/// If not NULL, `value` must come from [`create`], and not be used any more.
pub unsafe fn destroy<T>(value: *mut T) {
    if let Some(block) = NonNull::new(value) {
        // SAFETY: allocated with this size and alignment, holds a value, and is given up by the caller.
        unsafe {
            block.drop_in_place();
            free(block.cast(), size_of::<T>(), align_of::<T>());
        }
    }
}

/// Scratch numbers, all zero.
#[cfg(feature = "std")]
pub fn numbers(length: usize) -> Outcome<Vec<f64>> {
    let mut numbers = Vec::new();
    numbers.try_reserve_exact(length).map_err(|_| Failure::OUT_OF_MEMORY)?;
    numbers.resize(length, 0.0);
    Ok(numbers)
}

/// There is no allocator.
#[cfg(not(feature = "std"))]
pub fn allocate(_: usize, _: usize) -> Outcome<NonNull<u8>> {
    Err(Failure::UNSUPPORTED)
}

/// Nothing is ever allocated, so there is nothing to free.
///
/// # Safety
/// As with an allocator.
#[cfg(not(feature = "std"))]
pub unsafe fn free(_: NonNull<u8>, _: usize, _: usize) {}
