//! The checkpoints that a thread remembers: each of the latest, and ever fewer of those before.
//!
//! An outer scope may last over thousands of inner ones, each of which may take a checkpoint; it still finds one that was taken shortly
//! before it began. Levels are like those of a binary counter: level `n` has the latest of those whose number 2^n divides.

/// What each level remembers.
const EACH: usize = 16;
/// Of the last 30,720 checkpoints something is left: they are 100 µs apart or more, which makes 3 seconds at least.
const LEVELS: usize = 12;

/// What may be remembered.
///
/// # Safety
/// All zeroes are a valid one.
pub(super) unsafe trait Remembered: Copy + Default {}

#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Place<T> {
    /// 0 where there is none.
    number: u64,
    checkpoint: T,
}

/// Checkpoints by their numbers, which are not 0 and grow by one.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Checkpoints<T>([[Place<T>; EACH]; LEVELS]);

impl<T: Remembered> Checkpoints<T> {
    /// None yet. `None` without memory.
    pub(super) fn new() -> Option<Box<Checkpoints<T>>> {
        // Not by way of the stack, which may be a signal handler's. What is never written takes no memory.
        // SAFETY: the layout is not empty.
        let zeroed = unsafe { std::alloc::alloc_zeroed(std::alloc::Layout::new::<Checkpoints<T>>()) };
        // SAFETY: of its layout, and zeroes are valid, as they are for all that is remembered.
        (!zeroed.is_null()).then(|| unsafe { Box::from_raw(zeroed.cast()) })
    }

    pub(super) fn put(&mut self, number: u64, checkpoint: T) {
        let levels = (number.trailing_zeros() as usize + 1).min(LEVELS);
        for (level, places) in self.0.iter_mut().enumerate().take(levels) {
            places[(number >> level) as usize % EACH] = Place { number, checkpoint };
        }
    }

    /// The one of this number, or the latest before it that is remembered: further before it by at most a seventh of what has come since. With its number.
    pub(super) fn before(&self, number: u64) -> Option<(u64, &T)> {
        self.0.iter().enumerate().find_map(|(level, places)| {
            let number = number >> level << level;
            let place = &places[(number >> level) as usize % EACH];
            (number != 0 && place.number == number).then_some((number, &place.checkpoint))
        })
    }

    /// Forgets all of them. What the first one's number is to come after, if all levels are to have it: there is one before each other then.
    pub(super) fn clear(&mut self, last: u64) -> u64 {
        self.0 = [[Place::default(); EACH]; LEVELS];
        last | ((1 << (LEVELS - 1)) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // SAFETY: a number.
    unsafe impl Remembered for u64 {}

    proptest! {
        #[test]
        fn one_shortly_before_is_found(last in 0u64..1 << 40, count in 1u64..40_000, back in 0.0..1.0) {
            let mut checkpoints = Checkpoints::new().unwrap();
            checkpoints.put(last, 0);
            let first = checkpoints.clear(last);
            for number in first + 1..=first + count {
                checkpoints.put(number, number);
            }
            let last = first + count;
            // As often near the last as far from it.
            let since = (count as f64).powf(back) as u64 - 1;
            let asked = last - since;
            match checkpoints.before(asked) {
                Some((number, found)) => {
                    prop_assert_eq!(number, *found);
                    let further = asked - *found;
                    prop_assert!(further * 7 <= since, "{further} before {asked}, {since} ago");
                    prop_assert!(*found > first);
                    prop_assert!(since >= EACH as u64 || further == 0);
                }
                None => prop_assert!(since >= (EACH as u64 - 1) << (LEVELS - 1)),
            }
        }
    }

    #[test]
    fn nothing_is_found_where_nothing_is() {
        let mut checkpoints = Checkpoints::new().unwrap();
        assert_eq!(checkpoints.before(0), None::<(u64, &u64)>);
        assert_eq!(checkpoints.before(7), None);
        checkpoints.put(1 << 20, 0);
        assert!(checkpoints.before(1 << 20).is_some());
        // Later ones have numbers of their own: the other's would be found only as one before them.
        assert!(checkpoints.before((1 << 20) + (1 << LEVELS)).is_none());
        assert_eq!(checkpoints.clear(1 << 20), (1 << 20) + (1 << (LEVELS - 1)) - 1);
        assert_eq!(checkpoints.before(1 << 20), None);
    }
}
