//! Words for targets without compare-and-swap: plain loads and stores, and changes in a critical section.

use core::sync::atomic::Ordering;

use super::with;

/// A word that the hardware loads and stores in one step, but cannot change in one step.
macro_rules! without_compare_and_swap {
    ($(#[$attribute:meta])* $name:ident, $native:path, $word:ty) => {
        $(#[$attribute])*
        #[repr(transparent)]
        #[derive(Debug, Default)]
        pub struct $name($native);

        #[allow(dead_code, reason = "each word is used for some of these")]
        impl $name {
            /// A new word.
            pub const fn new(value: $word) -> $name {
                $name(<$native>::new(value))
            }

            #[inline(always)]
            pub(crate) fn load(&self, ordering: Ordering) -> $word {
                self.0.load(ordering)
            }

            #[inline(always)]
            pub(crate) fn store(&self, value: $word, ordering: Ordering) {
                self.0.store(value, ordering);
            }

            fn update(&self, change: impl FnOnce($word) -> $word) -> $word {
                // Acquire and release are the strongest orderings that a separate load and store can have.
                with(|_| {
                    let old = self.0.load(Ordering::Acquire);
                    self.0.store(change(old), Ordering::Release);
                    old
                })
            }

            pub(crate) fn swap(&self, value: $word, _: Ordering) -> $word {
                self.update(|_| value)
            }

            pub(crate) fn fetch_add(&self, value: $word, _: Ordering) -> $word {
                self.update(|old| old.wrapping_add(value))
            }

            pub(crate) fn fetch_sub(&self, value: $word, _: Ordering) -> $word {
                self.update(|old| old.wrapping_sub(value))
            }

            pub(crate) fn compare_exchange(
                &self, current: $word, new: $word, _: Ordering, _: Ordering,
            ) -> Result<$word, $word> {
                // If it fails, it writes nothing: another core may be storing, which is how locks are released.
                with(|_| {
                    let old = self.0.load(Ordering::Acquire);
                    if old != current {
                        return Err(old);
                    }
                    self.0.store(new, Ordering::Release);
                    Ok(old)
                })
            }
        }
    };
}

without_compare_and_swap!(
    /// 32 bits, for targets without compare-and-swap.
    AtomicU32, core::sync::atomic::AtomicU32, u32
);
without_compare_and_swap!(
    /// A word, for targets without compare-and-swap.
    AtomicUsize, core::sync::atomic::AtomicUsize, usize
);

/// A pointer, for targets without compare-and-swap.
#[cfg(feature = "alloc")]
#[repr(transparent)]
#[derive(Debug)]
pub struct AtomicPtr<T>(core::sync::atomic::AtomicPtr<T>);

#[cfg(feature = "alloc")]
impl<T> AtomicPtr<T> {
    pub(crate) const fn new(pointer: *mut T) -> AtomicPtr<T> {
        AtomicPtr(core::sync::atomic::AtomicPtr::new(pointer))
    }

    #[inline(always)]
    pub(crate) fn load(&self, ordering: Ordering) -> *mut T {
        self.0.load(ordering)
    }

    pub(crate) fn compare_exchange(
        &self,
        current: *mut T,
        new: *mut T,
        _: Ordering,
        _: Ordering,
    ) -> Result<*mut T, *mut T> {
        with(|_| {
            let old = self.0.load(Ordering::Acquire);
            if old != current {
                return Err(old);
            }
            self.0.store(new, Ordering::Release);
            Ok(old)
        })
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    /// Stores take no critical section, and critical sections on several cores do not exclude them.
    #[test]
    fn an_exchange_that_fails_undoes_no_store() {
        let word = AtomicU32::new(0);
        let done = core::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    assert!(
                        word.compare_exchange(u32::MAX, 7, Ordering::Relaxed, Ordering::Relaxed).is_err()
                    );
                }
            });
            let lost = (1..=1_000_000).find(|&value| {
                word.store(value, Ordering::Relaxed);
                (0..8).any(|_| word.load(Ordering::Relaxed) != value)
            });
            done.store(true, Ordering::Relaxed);
            assert_eq!(lost, None, "a store was undone");
        });
    }
}
