//! The checkpoints that a thread remembers: all recent ones, and ever fewer of the older ones.
//!
//! An outer scope may contain thousands of inner ones with checkpoints. It still finds one from shortly before its
//! start. Levels work like the bits of a binary counter: level `n` has the latest checkpoints whose number 2^n divides.

/// Checkpoints per level.
const EACH: usize = 16;
/// Covers the last 30,720 checkpoints: at least 3 seconds, as they are 100 µs or more apart.
const LEVELS: usize = 12;

/// A type that checkpoints can store.
///
/// # Safety
/// All zeros must be a valid value.
pub(super) unsafe trait Remembered: Copy + Default {}

#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Place<T> {
    /// 0 if the place is empty.
    number: u64,
    checkpoint: T,
}

/// Checkpoints by their numbers, which are not 0 and grow by one.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Checkpoints<T>([[Place<T>; EACH]; LEVELS]);

impl<T: Remembered> Checkpoints<T> {
    /// Creates an empty set; `None` without memory.
    pub(super) fn new() -> Option<Box<Checkpoints<T>>> {
        // Bypasses the stack, which may be a signal handler's. Pages that are never written use no memory.
        // SAFETY: the layout is not empty.
        let zeroed = unsafe { std::alloc::alloc_zeroed(std::alloc::Layout::new::<Checkpoints<T>>()) };
        // SAFETY: the memory has this layout, and zeros are valid for all types that implement [`Remembered`].
        (!zeroed.is_null()).then(|| unsafe { Box::from_raw(zeroed.cast()) })
    }

    pub(super) fn insert(&mut self, number: u64, checkpoint: T) {
        let levels = (number.trailing_zeros() as usize + 1).min(LEVELS);
        for (level, places) in self.0.iter_mut().enumerate().take(levels) {
            places[(number >> level) as usize % EACH] = Place { number, checkpoint };
        }
    }

    /// The checkpoint with this number, or the latest remembered one before it, and its number. It is earlier by at
    /// most a seventh of the checkpoints since then.
    pub(super) fn before(&self, number: u64) -> Option<(u64, &T)> {
        self.0.iter().enumerate().find_map(|(level, places)| {
            let number = number >> level << level;
            let place = &places[(number >> level) as usize % EACH];
            (number != 0 && place.number == number).then_some((number, &place.checkpoint))
        })
    }

    /// Forgets all checkpoints. Returns the number after which all levels will contain the next one, so that each later
    /// number has one before it.
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
            checkpoints.insert(last, 0);
            let first = checkpoints.clear(last);
            for number in first + 1..=first + count {
                checkpoints.insert(number, number);
            }
            let last = first + count;
            // Tests numbers near the last as often as numbers far from it.
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
    fn missing_checkpoints_are_not_found() {
        let mut checkpoints = Checkpoints::new().unwrap();
        assert_eq!(checkpoints.before(0), None::<(u64, &u64)>);
        assert_eq!(checkpoints.before(7), None);
        checkpoints.insert(1 << 20, 0);
        assert!(checkpoints.before(1 << 20).is_some());
        // Lookups round a number down to a multiple of at most 2^11, so that this one does not reach the earlier one.
        assert!(checkpoints.before((1 << 20) + (1 << LEVELS)).is_none());
        assert_eq!(checkpoints.clear(1 << 20), (1 << 20) + (1 << (LEVELS - 1)) - 1);
        assert_eq!(checkpoints.before(1 << 20), None);
    }
}
