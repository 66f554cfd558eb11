//! Memory that is allocated on first touch, by whichever writer comes first.
//!
//! No writer waits for another: each writer that finds no block allocates one. One publishes its block by
//! compare-and-swap; the others free theirs and use the winner's. Blocks live as long as their owner: no pointer
//! dangles.

use core::mem::{align_of, size_of};
use core::ptr::{self, NonNull};

use crate::cells::cell::Counter;
use crate::platform::atomics::Ordering::*;
use crate::platform::atomics::{AtomicPtr, AtomicUsize, const_unless_loom};
use crate::platform::memory;

/// The element type of a block.
///
/// # Safety
/// Zeroed bytes must be the value that [`Blank::blank`] makes (for loom, one by one), and dropping it must do nothing.
pub(crate) unsafe trait Blank: Sized {
    /// Returns the value that zeroed bytes represent.
    #[cfg_attr(not(loom), allow(dead_code, reason = "loom's atomics are more than their bytes"))]
    fn blank() -> Self;
}

// SAFETY: cells are words of zeros, without a destructor.
unsafe impl<C: Counter> Blank for C {
    fn blank() -> Self {
        C::zero()
    }
}

// SAFETY: a null pointer is zero on all targets, and dropping it frees nothing.
unsafe impl<T: Blank> Blank for FirstTouch<T> {
    fn blank() -> Self {
        FirstTouch::new()
    }
}

/// How much memory may be allocated, and how much is in use.
pub(crate) struct Budget {
    used: AtomicUsize,
    limit: usize,
}

impl Budget {
    /// Creates a budget with `used` bytes already spent.
    pub(crate) fn new(used: usize, limit: usize) -> Budget {
        Budget { used: AtomicUsize::new(used), limit }
    }

    /// Returns the bytes that are allocated now.
    pub(crate) fn used(&self) -> usize {
        self.used.load(Relaxed)
    }

    fn take(&self, size: usize) -> bool {
        let mut used = self.used.load(Relaxed);
        loop {
            match used.checked_add(size) {
                Some(sum) if sum <= self.limit => {
                    match self.used.compare_exchange(used, sum, Relaxed, Relaxed) {
                        Ok(_) => return true,
                        Err(current) => used = current,
                    }
                }
                _ => return false,
            }
        }
    }

    fn give_back(&self, size: usize) {
        self.used.fetch_sub(size, Relaxed);
    }
}

/// A pointer to a block of `T`s, or null. The owner knows how long its block is, or will be.
pub(crate) struct FirstTouch<T>(AtomicPtr<T>);

impl<T: Blank> FirstTouch<T> {
    const_unless_loom! {
        pub(crate) const fn new() -> FirstTouch<T> {
            FirstTouch(AtomicPtr::new(ptr::null_mut()))
        }
    }

    /// Returns the block if it was touched.
    #[inline(always)]
    pub(crate) fn get(&self) -> Option<NonNull<T>> {
        // Acquire, paired with `create`: whoever finds the block finds it zeroed.
        NonNull::new(self.0.load(Acquire))
    }

    /// Returns the block, and allocates it now if necessary. Returns `None`, with nothing changed, if the budget does
    /// not allow it or memory is out. If two writers touch the last block that fits at once, both may get `None`.
    #[cold]
    #[inline(never)]
    pub(crate) fn create(&self, length: usize, budget: &Budget) -> Option<NonNull<T>> {
        if let Some(block) = self.get() {
            return Some(block);
        }
        let size = Self::size(length);
        if !budget.take(size) {
            return self.get();
        }
        let Ok(block) = memory::allocate_zeroed(size, align_of::<T>()) else {
            budget.give_back(size);
            return self.get();
        };
        let block = block.cast::<T>();
        #[cfg(loom)]
        for index in 0..length {
            // SAFETY: this is inside the block, which is ours.
            unsafe { block.add(index).write(T::blank()) };
        }
        match self.0.compare_exchange(ptr::null_mut(), block.as_ptr(), Release, Acquire) {
            Ok(_) => Some(block),
            Err(winner) => {
                // SAFETY: the block was allocated above and never published.
                unsafe { Self::free_block(block, length) };
                budget.give_back(size);
                NonNull::new(winner)
            }
        }
    }

    /// Frees the block, if there is one.
    ///
    /// # Safety
    /// `length` must be the length that the block was created with, and nobody may use the block any more.
    pub(crate) unsafe fn free(&self, length: usize) {
        if let Some(block) = self.get() {
            // SAFETY: the caller's promise.
            unsafe { Self::free_block(block, length) };
        }
    }

    unsafe fn free_block(block: NonNull<T>, length: usize) {
        #[cfg(loom)]
        for index in 0..length {
            // SAFETY: `create` initialized it.
            unsafe { block.add(index).drop_in_place() };
        }
        // SAFETY: `create` allocated it with this size and alignment.
        unsafe { memory::free(block.cast(), Self::size(length), align_of::<T>()) };
    }

    /// The lengths are those of small blocks, so the product cannot overflow.
    const fn size(length: usize) -> usize {
        length * size_of::<T>()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::platform::atomics::AtomicU64;

    #[test]
    fn a_block_is_made_once_and_counted() {
        let (touched, budget) = (FirstTouch::<AtomicU64>::new(), Budget::new(100, 164));
        assert!(touched.get().is_none());
        let block = touched.create(8, &budget).unwrap();
        assert_eq!((touched.get(), touched.create(8, &budget)), (Some(block), Some(block)));
        assert_eq!(budget.used(), 164);
        let next = FirstTouch::<AtomicU64>::new();
        assert!(next.create(1, &budget).is_none() && next.get().is_none(), "over the limit");
        assert_eq!(budget.used(), 164);
        // SAFETY: no one uses it any more.
        unsafe { touched.free(8) };
    }

    // On 32 bits, the address space may have room for the largest block.
    #[cfg(target_pointer_width = "64")]
    #[test]
    fn what_cannot_be_allocated_is_not_counted() {
        let (touched, budget) = (FirstTouch::<AtomicU64>::new(), Budget::new(0, usize::MAX));
        assert!(touched.create(isize::MAX as usize / 8, &budget).is_none());
        assert_eq!(budget.used(), 0);
    }
}
