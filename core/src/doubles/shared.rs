//! A histogram of doubles behind one counted pointer: what a language binding and a registry hold.

use core::mem::{align_of, size_of};
use core::ops::Deref;
use core::ptr::NonNull;

use super::{DoubleHistogram, DoubleOptions};
use crate::error::Result;
use crate::platform::memory;
use crate::platform::references::References;

/// What the pointer leads to.
struct Counted {
    histogram: DoubleHistogram,
    references: References,
}

/// A counted reference to a [`DoubleHistogram`]: cloning adds one, dropping takes one away, the last one frees it.
///
/// One pointer in size, and the same pointer that C sees. Any thread may hold, clone and drop one. Unlike a standard `Arc`,
/// making one reports when there is no memory.
#[repr(transparent)]
pub struct SharedDoubleHistogram(NonNull<Counted>);

// SAFETY: the histogram is for any thread, and the count of references is atomic.
unsafe impl Send for SharedDoubleHistogram {}
// SAFETY: as above.
unsafe impl Sync for SharedDoubleHistogram {}

impl SharedDoubleHistogram {
    /// A new histogram on the heap. Errors as for [`DoubleHistogram::new`].
    pub fn create(options: &DoubleOptions) -> Result<SharedDoubleHistogram> {
        let histogram = DoubleHistogram::new(options)?;
        let block = memory::allocate_zeroed(size_of::<Counted>(), align_of::<Counted>())?.cast::<Counted>();
        // SAFETY: the block is ours, and of this size and alignment.
        unsafe { block.write(Counted { histogram, references: References::new(1) }) };
        Ok(SharedDoubleHistogram(block))
    }

    /// The pointer that stands for this reference, which is given up to it. See [`SharedDoubleHistogram::from_raw`].
    pub fn into_raw(self) -> NonNull<u8> {
        let block = self.0.cast();
        core::mem::forget(self);
        block
    }

    /// The reference that a pointer stands for.
    ///
    /// # Safety
    /// `raw` must come from [`SharedDoubleHistogram::into_raw`], once for each call, unless the result is kept from being
    /// dropped.
    #[inline(always)]
    pub unsafe fn from_raw(raw: NonNull<u8>) -> SharedDoubleHistogram {
        SharedDoubleHistogram(raw.cast())
    }

    fn counted(&self) -> &Counted {
        // SAFETY: a reference keeps it alive.
        unsafe { self.0.as_ref() }
    }
}

impl Deref for SharedDoubleHistogram {
    type Target = DoubleHistogram;

    #[inline(always)]
    fn deref(&self) -> &DoubleHistogram {
        &self.counted().histogram
    }
}

impl Clone for SharedDoubleHistogram {
    fn clone(&self) -> Self {
        self.counted().references.retain();
        SharedDoubleHistogram(self.0)
    }
}

impl Drop for SharedDoubleHistogram {
    fn drop(&mut self) {
        if self.counted().references.release() {
            // SAFETY: the last reference is gone; made by `create` with this size and alignment.
            unsafe {
                self.0.drop_in_place();
                memory::free(self.0.cast(), size_of::<Counted>(), align_of::<Counted>());
            }
        }
    }
}

impl core::fmt::Debug for SharedDoubleHistogram {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::doubles::DoubleSnapshot;

    #[test]
    fn the_last_reference_frees() {
        let first = SharedDoubleHistogram::create(&DoubleOptions::default()).unwrap();
        first.record(1.5);
        let second = first.clone();
        drop(first);
        let raw = second.into_raw();
        // SAFETY: from the line above, once.
        let third = unsafe { SharedDoubleHistogram::from_raw(raw) };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let own = third.clone();
                scope.spawn(move || (0..1000).for_each(|_| own.record(2.5)));
            }
        });
        let mut snapshot = DoubleSnapshot::new();
        third.collect(&mut snapshot).unwrap();
        assert_eq!(snapshot.count(), 4001);
        assert_eq!(third.counted().references.number(), 1);
    }

    #[test]
    fn what_cannot_be_is_reported() {
        let options = DoubleOptions { max_bytes: 1, ..DoubleOptions::default() };
        assert!(SharedDoubleHistogram::create(&options).is_err());
    }
}
