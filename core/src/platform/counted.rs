//! One pointer to something that the last of its counted references frees.

use core::mem::{align_of, size_of};
use core::ops::Deref;
use core::ptr::NonNull;

use crate::error::Result;
use crate::platform::memory;
use crate::platform::references::References;

/// What the pointer leads to: the value first, as those who read segments know.
#[repr(C)]
struct Block<T> {
    value: T,
    references: References,
}

/// A counted reference: cloning adds one, dropping takes one away, the last one frees what it leads to.
///
/// One pointer in size, and the same pointer that C sees. Unlike a standard `Arc`, making one reports when there is no memory.
#[repr(transparent)]
pub(crate) struct Counted<T>(NonNull<Block<T>>);

// SAFETY: shared between threads as `Arc` is, so it asks of the value what `Arc` does; the count of references is atomic.
unsafe impl<T: Send + Sync> Send for Counted<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Counted<T> {}

impl<T> Counted<T> {
    /// The first reference. [`crate::Error::OutOfMemory`].
    pub(crate) fn create(value: T) -> Result<Counted<T>> {
        let block =
            memory::allocate_zeroed(size_of::<Block<T>>(), align_of::<Block<T>>())?.cast::<Block<T>>();
        // SAFETY: the block is ours, and of this size and alignment.
        unsafe { block.write(Block { value, references: References::new(1) }) };
        Ok(Counted(block))
    }

    /// Bytes of [`Counted::init_at`].
    pub(crate) const SIZE: usize = size_of::<Block<T>>();

    /// Makes one in memory that outlives every reference, and is never freed: there are a quarter of all references that can be
    /// counted, so that neither processes that die with theirs nor forked ones that give back what they inherited come near the end.
    ///
    /// # Safety
    /// `memory` must be valid for writes of [`Counted::SIZE`] bytes, aligned for the value, and used for nothing else.
    pub(crate) unsafe fn init_at(memory: NonNull<u8>, value: T) {
        // SAFETY: the caller's promise.
        unsafe { memory.cast().write(Block { value, references: References::new(usize::MAX / 4) }) };
    }

    /// The pointer that stands for this reference, which is given up to it. See [`Counted::from_raw`].
    pub(crate) fn into_raw(self) -> NonNull<u8> {
        let block = self.0.cast();
        core::mem::forget(self);
        block
    }

    /// The reference that a pointer stands for.
    ///
    /// # Safety
    /// `raw` must come from [`Counted::into_raw`] of the same type, once for each call, unless the result is kept from being
    /// dropped.
    #[inline(always)]
    pub(crate) unsafe fn from_raw(raw: NonNull<u8>) -> Counted<T> {
        Counted(raw.cast())
    }

    fn block(&self) -> &Block<T> {
        // SAFETY: a reference keeps it alive.
        unsafe { self.0.as_ref() }
    }

    /// How many references there are.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn number(&self) -> usize {
        self.block().references.number()
    }
}

impl<T> Deref for Counted<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.block().value
    }
}

impl<T: core::fmt::Debug> core::fmt::Debug for Counted<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        (**self).fmt(f)
    }
}

impl<T> Clone for Counted<T> {
    fn clone(&self) -> Self {
        self.block().references.retain();
        Counted(self.0)
    }
}

impl<T> Drop for Counted<T> {
    fn drop(&mut self) {
        if self.block().references.release() {
            // SAFETY: the last reference is gone; made by `create` with this size and alignment.
            unsafe {
                self.0.drop_in_place();
                memory::free(self.0.cast(), size_of::<Block<T>>(), align_of::<Block<T>>());
            }
        }
    }
}
