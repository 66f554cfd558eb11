//! An exact counter of many words.

use crate::platform::atomics::AtomicU64;
use crate::platform::atomics::Ordering::Relaxed;
use crate::platform::stripe;

/// The number of stripes of a [`StripedCounter`].
const STRIPES: usize = 16;

/// An exact counter of sixteen words, so that threads seldom meet. It takes 1 KB. A read sums all words, not at one
/// moment.
///
/// If threads are registered for restartable sequences and something has checked for that, the CPU selects the word;
/// otherwise the thread's stack does. All zeros are an empty counter.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct StripedCounter {
    stripes: [Stripe; STRIPES],
}

#[derive(Debug)]
#[repr(C, align(64))]
struct Stripe(AtomicU64);

impl StripedCounter {
    crate::platform::atomics::const_unless_loom! {
        /// Creates an empty counter.
        pub const fn new() -> StripedCounter {
            #[cfg(not(loom))]
            return StripedCounter { stripes: [const { Stripe(AtomicU64::new(0)) }; STRIPES] };
            #[cfg(loom)]
            StripedCounter { stripes: core::array::from_fn(|_| Stripe(AtomicU64::new(0))) }
        }
    }

    /// Adds to the stripe of the CPU or of the calling thread: one relaxed atomic addition, modulo 2^64.
    #[inline]
    pub fn add(&self, count: u64) {
        match stripe::by_known_cpu(STRIPES) {
            Some(stripe) => self.add_to(stripe, count),
            None => self.add_elsewhere(count),
        }
    }

    /// Out of line, so that it costs the others nothing.
    #[inline(never)]
    fn add_elsewhere(&self, count: u64) {
        self.add_to(stripe::by_system_or_stack(STRIPES), count);
    }

    #[inline(always)]
    fn add_to(&self, stripe: usize, count: u64) {
        self.stripes[stripe].0.fetch_add(count, Relaxed);
    }

    /// Returns the sum of all stripes, modulo 2^64. Concurrent additions may or may not be in it.
    pub fn load(&self) -> u64 {
        self.stripes.iter().fold(0, |sum, stripe| sum.wrapping_add(stripe.0.load(Relaxed)))
    }
}

impl Default for StripedCounter {
    fn default() -> Self {
        StripedCounter::new()
    }
}

#[cfg(feature = "alloc")]
pub use counted::{STRIPES_IN_MEMORY, SharedStripedCounter, striped_counter_at};

#[cfg(feature = "alloc")]
mod counted {
    use core::ops::Deref;
    use core::ptr::NonNull;

    use super::{STRIPES, StripedCounter};
    use crate::error::Result;
    use crate::platform::counted::{Counted, stands_for_a_pointer};
    use crate::platform::{rseq, stripe};

    /// A counted reference to a [`StripedCounter`] on the heap or in shared memory. Any thread may hold, clone and drop
    /// one.
    #[derive(Clone, Debug)]
    #[repr(transparent)]
    pub struct SharedStripedCounter(Counted<StripedCounter>);

    /// The number of words, and the bytes from one word to the next; the first word is at the beginning.
    pub const STRIPES_IN_MEMORY: (usize, usize) = (STRIPES, size_of::<super::Stripe>());

    /// Returns a reference to a counter in a segment, which is never freed. From then on the CPU selects the word.
    ///
    /// # Safety
    /// `memory` must hold a [`StripedCounter`] at the beginning of a page as long as there is any reference.
    pub unsafe fn striped_counter_at(memory: NonNull<u8>) -> SharedStripedCounter {
        stripe::between_processes();
        // SAFETY: the caller's promise; zeros are a valid counter.
        SharedStripedCounter(unsafe { Counted::in_segment(memory) })
    }

    impl SharedStripedCounter {
        /// Creates a counter at zero. Fails with [`crate::Error::OutOfMemory`].
        pub fn create() -> Result<SharedStripedCounter> {
            rseq::cpus();
            Counted::create(StripedCounter::new()).map(SharedStripedCounter)
        }

        stands_for_a_pointer!(SharedStripedCounter);
    }

    impl Deref for SharedStripedCounter {
        type Target = StripedCounter;

        #[inline(always)]
        fn deref(&self) -> &StripedCounter {
            &self.0
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn threads_lose_nothing() {
        let counter = SharedStripedCounter::create().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..100_000).for_each(|at| counter.add(at % 3)));
            }
        });
        assert_eq!((counter.load(), counter.clone().load()), (399_996, 399_996));
        // SAFETY: the pointer owns the reference that became it.
        assert_eq!(unsafe { SharedStripedCounter::from_raw(counter.into_raw()) }.load(), 399_996);
    }

    #[test]
    fn memory_of_the_callers() {
        #[repr(align(4096))]
        struct Room([u8; size_of::<StripedCounter>()]);
        let mut room = std::boxed::Box::new(Room([0; size_of::<StripedCounter>()]));
        let memory = core::ptr::NonNull::from(&mut room.0).cast();
        // SAFETY: it has this size and alignment, and outlives both references.
        let (first, second) = unsafe { (striped_counter_at(memory), striped_counter_at(memory)) };
        first.add(3);
        second.add(u64::MAX);
        drop(first);
        assert_eq!(second.load(), 2);
        drop(second);
        let (number, stride) = STRIPES_IN_MEMORY;
        let word = |at: usize| u64::from_ne_bytes(room.0[at..at + 8].try_into().unwrap());
        assert_eq!((0..number).fold(0, |sum: u64, at| sum.wrapping_add(word(at * stride))), 2);
    }
}
