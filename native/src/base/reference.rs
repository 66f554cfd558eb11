//! Reference references, as `Arc` has them, but where there is no memory that is an error.

use core::fmt;
use core::ops::Deref;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicUsize, Ordering, fence};
use std::alloc::{Layout, alloc, dealloc};

use super::error::{Error, Result, Status};

#[repr(C)]
struct Block<T> {
    /// First, so that what is behind a pointer to it lies at the same place for every kind.
    count: AtomicUsize,
    data: T,
}

/// A counted reference.
pub struct Reference<T>(NonNull<Block<T>>);

// SAFETY: as for `Arc`: it gives `&T` to several threads, and the last one drops it.
unsafe impl<T: Send + Sync> Send for Reference<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Reference<T> {}

impl<T> Reference<T> {
    /// The first one. `OutOfMemory`.
    pub fn new(data: T) -> Result<Reference<T>> {
        // SAFETY: the layout is not empty: it has a count.
        let block = NonNull::new(unsafe { alloc(Layout::new::<Block<T>>()) }.cast::<Block<T>>())
            .ok_or(Error::from(Status::OutOfMemory))?;
        // SAFETY: just allocated for it.
        unsafe { block.write(Block { count: AtomicUsize::new(1), data }) };
        Ok(Reference(block))
    }

    /// The reference as a pointer to what it refers to, which stands for it.
    pub fn into_raw(self) -> *const T {
        let this = core::mem::ManuallyDrop::new(self);
        &raw const **this
    }

    /// The reference that a pointer stands for.
    ///
    /// # Safety
    /// From [`Reference::into_raw`], once for each call.
    pub unsafe fn from_raw(data: *const T) -> Reference<T> {
        // SAFETY: it lies in a block, at its place.
        let block = unsafe { data.byte_sub(core::mem::offset_of!(Block<T>, data)) };
        // SAFETY: not NULL.
        Reference(unsafe { NonNull::new_unchecked(block.cast_mut().cast()) })
    }
}

impl<T> Deref for Reference<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the block is there as long as a reference is.
        unsafe { &self.0.as_ref().data }
    }
}

impl<T> Clone for Reference<T> {
    fn clone(&self) -> Reference<T> {
        // SAFETY: as above.
        let before = unsafe { self.0.as_ref() }.count.fetch_add(1, Ordering::Relaxed);
        // Whoever forgets that many is on the way to freeing what is in use.
        if before > usize::MAX / 2 {
            std::process::abort();
        }
        Reference(self.0)
    }
}

impl<T> Drop for Reference<T> {
    fn drop(&mut self) {
        // SAFETY: as above. Release: what this thread did with it comes before another drops it.
        if unsafe { self.0.as_ref() }.count.fetch_sub(1, Ordering::Release) != 1 {
            return;
        }
        // Acquire, paired with the releases of the others.
        fence(Ordering::Acquire);
        // SAFETY: that was the last one; allocated with this layout.
        unsafe {
            (&raw mut (*self.0.as_ptr()).data).drop_in_place();
            dealloc(self.0.as_ptr().cast(), Layout::new::<Block<T>>());
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Reference<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    #[repr(align(64))]
    struct Told<'a>(&'a AtomicU32, u8);

    impl Drop for Told<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn the_last_one_drops_it() {
        let dropped = AtomicU32::new(0);
        let first = Reference::new(Told(&dropped, 7)).unwrap();
        let second = first.clone();
        drop(first);
        assert_eq!((second.1, dropped.load(Ordering::Relaxed)), (7, 0));
        let raw = second.into_raw();
        // SAFETY: made just now.
        let third = unsafe { Reference::from_raw(raw) };
        assert!(core::ptr::eq(raw, &raw const *third) && raw.addr() % 64 == 0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let one = third.clone();
                scope.spawn(move || (0..1000).for_each(|_| drop(one.clone())));
            }
        });
        assert_eq!(dropped.load(Ordering::Relaxed), 0);
        drop(third);
        assert_eq!(dropped.load(Ordering::Relaxed), 1);
    }
}
