//! One pointer to a value that the last of its counted references frees.

use core::mem::{align_of, size_of};
use core::ops::Deref;
use core::ptr::NonNull;

use crate::error::Result;
use crate::platform::memory;
use crate::platform::references::References;

/// The block on the heap.
#[repr(C)]
struct Block<T> {
    /// This is the first field, so that a value in a segment begins in the same way.
    value: T,
    references: References,
}

/// A counted reference: cloning adds one, dropping removes one, and the last one frees the value.
///
/// It is one pointer in size, the same pointer that C sees. Unlike a standard `Arc`, it reports that there is no
/// memory.
#[repr(transparent)]
pub struct Counted<T>(NonNull<Block<T>>);

// SAFETY: it is shared between threads as an `Arc` is, and has the same bounds; the reference count is atomic.
unsafe impl<T: Send + Sync> Send for Counted<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Counted<T> {}

/// Defines `into_raw` and `from_raw` for a type around a [`Counted`].
macro_rules! stands_for_a_pointer {
    ($name:ident) => {
        /// Converts this reference to a pointer, which then owns it.
        #[doc = concat!("See [`", stringify!($name), "::from_raw`].")]
        pub fn into_raw(self) -> core::ptr::NonNull<u8> {
            self.0.into_raw()
        }

        /// Converts a pointer back to its reference.
        ///
        /// # Safety
        #[doc = concat!("`raw` must come from [`", stringify!($name), "::into_raw`], once for each call, unless the result is kept from")]
        /// being dropped.
        #[inline(always)]
        pub unsafe fn from_raw(raw: core::ptr::NonNull<u8>) -> $name {
            // SAFETY: the caller's promise.
            $name(unsafe { crate::platform::counted::Counted::from_raw(raw) })
        }
    };
}
pub(crate) use stands_for_a_pointer;

/// Values on the heap begin at an odd multiple of this many bytes.
const OFF: usize = 64;
/// Values in a segment begin at a multiple of this many bytes, so the address alone distinguishes the two. No file that
/// others can write decides whether memory is freed.
const PAGE: usize = 4096;

impl<T> Counted<T> {
    const SIZE: usize = OFF + size_of::<Block<T>>();
    const ALIGNMENT: usize = {
        assert!(align_of::<Block<T>>() <= OFF);
        2 * OFF
    };

    /// The first reference. [`crate::Error::OutOfMemory`].
    pub fn create(value: T) -> Result<Counted<T>> {
        let allocated = memory::allocate_zeroed(Self::SIZE, Self::ALIGNMENT)?;
        // SAFETY: the memory is ours, and has room for a block after the offset, a multiple of its alignment.
        unsafe {
            let block = allocated.add(OFF).cast::<Block<T>>();
            block.write(Block { value, references: References::new(1) });
            Ok(Counted(block))
        }
    }

    /// Creates an uncounted reference to a value in memory that outlives every reference and is never freed.
    ///
    /// # Safety
    /// `memory` must begin with a value, at the beginning of a page, as long as there is any reference.
    pub(crate) unsafe fn in_segment(memory: NonNull<u8>) -> Counted<T> {
        debug_assert!(memory.addr().get().is_multiple_of(PAGE));
        Counted(memory.cast())
    }

    fn is_counted(&self) -> bool {
        !self.0.addr().get().is_multiple_of(PAGE)
    }

    /// The pointer that stands for this reference, which is given up to it. See [`Counted::from_raw`].
    pub fn into_raw(self) -> NonNull<u8> {
        let block = self.0.cast();
        core::mem::forget(self);
        block
    }

    /// Converts a pointer back to its reference.
    ///
    /// # Safety
    /// `raw` must come from [`Counted::into_raw`] of the same type, once for each call, unless the result is kept from being
    /// dropped.
    #[inline(always)]
    pub unsafe fn from_raw(raw: NonNull<u8>) -> Counted<T> {
        Counted(raw.cast())
    }

    /// Returns the reference count, if there is one.
    fn references(&self) -> Option<&References> {
        // SAFETY: a reference keeps the block alive, and on the heap the block is complete.
        if self.is_counted() { Some(unsafe { &self.0.as_ref().references }) } else { None }
    }

    /// Returns the number of references.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn number(&self) -> usize {
        self.references().map_or(0, References::number)
    }
}

impl<T> Deref for Counted<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the value is at the beginning, and a reference keeps it alive.
        unsafe { self.0.cast().as_ref() }
    }
}

impl<T: core::fmt::Debug> core::fmt::Debug for Counted<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        (**self).fmt(f)
    }
}

impl<T> Clone for Counted<T> {
    fn clone(&self) -> Self {
        if let Some(references) = self.references() {
            references.retain();
        }
        Counted(self.0)
    }
}

impl<T> Drop for Counted<T> {
    fn drop(&mut self) {
        if self.references().is_some_and(References::release) {
            // SAFETY: the last reference is gone; `create` allocated the block with this size and alignment.
            unsafe {
                self.0.drop_in_place();
                memory::free(self.0.cast::<u8>().sub(OFF), Self::SIZE, Self::ALIGNMENT);
            }
        }
    }
}
