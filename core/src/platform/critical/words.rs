//! Words for targets without compare-and-swap: plain loads and stores, and changes in a critical section.

use core::sync::atomic::Ordering;

use super::with;

/// A word that the hardware loads and stores in one step, but cannot change in one step.
macro_rules! without_compare_and_swap {
    ($(#[$attribute:meta])* $name:ident $(<$target:ident>)?, $word:ty) => {
        $(#[$attribute])*
        #[repr(transparent)]
        #[derive(Debug, Default)]
        pub struct $name $(<$target>)? (core::sync::atomic::$name $(<$target>)?);

        #[allow(dead_code, reason = "each word is used for some of these")]
        impl $(<$target>)? $name $(<$target>)? {
            /// A new word.
            pub const fn new(value: $word) -> Self {
                $name(core::sync::atomic::$name::new(value))
            }

            #[inline(always)]
            pub(crate) fn load(&self, ordering: Ordering) -> $word {
                self.0.load(ordering)
            }

            #[inline(always)]
            pub(crate) fn store(&self, value: $word, ordering: Ordering) {
                self.0.store(value, ordering);
            }

            /// Stores the result, if there is one: another core may be storing, which is how locks are released.
            fn update(&self, change: impl FnOnce($word) -> Option<$word>) -> $word {
                // Acquire and release are the strongest orderings that a separate load and store can have.
                with(|_| {
                    let old = self.0.load(Ordering::Acquire);
                    if let Some(new) = change(old) {
                        self.0.store(new, Ordering::Release);
                    }
                    old
                })
            }

            pub(crate) fn swap(&self, value: $word, _: Ordering) -> $word {
                self.update(|_| Some(value))
            }

            pub(crate) fn compare_exchange(
                &self, current: $word, new: $word, _: Ordering, _: Ordering,
            ) -> Result<$word, $word> {
                let old = self.update(|old| if old == current { Some(new) } else { None });
                if old == current { Ok(old) } else { Err(old) }
            }
        }
    };
}

without_compare_and_swap!(
    /// 32 bits, for targets without compare-and-swap.
    AtomicU32, u32
);
without_compare_and_swap!(
    /// A word, for targets without compare-and-swap.
    AtomicUsize, usize
);
#[cfg(feature = "alloc")]
without_compare_and_swap!(
    /// A pointer, for targets without compare-and-swap.
    AtomicPtr<T>, *mut T
);

macro_rules! with_arithmetic {
    ($name:ident, $word:ty) => {
        #[allow(dead_code, reason = "each word is used for some of these")]
        impl $name {
            pub(crate) fn fetch_add(&self, value: $word, _: Ordering) -> $word {
                self.update(|old| Some(old.wrapping_add(value)))
            }

            pub(crate) fn fetch_sub(&self, value: $word, _: Ordering) -> $word {
                self.update(|old| Some(old.wrapping_sub(value)))
            }
        }
    };
}
with_arithmetic!(AtomicU32, u32);
with_arithmetic!(AtomicUsize, usize);

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
