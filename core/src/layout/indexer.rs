//! Maps values to cells in loops that keep the layout in registers.

use core::hint::black_box;

use crate::layout::layout::Layout;

/// A copy of the part of a [`Layout`] that recording needs. It computes the same index with fewer instructions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Indexer {
    block_size: u64,
    first_index: u64,
    length: u64,
    scale: u32,
}

impl Indexer {
    pub(crate) fn new(layout: &Layout) -> Indexer {
        // Hidden from the compiler, which would otherwise see a power of two and multiply by it with a shift.
        Indexer {
            block_size: black_box(layout.block_size()),
            first_index: layout.first_index(),
            length: layout.length() as u64,
            scale: layout.scale(),
        }
    }

    /// Returns the same as [`Layout::recording_index`] for a value in units; `None` if it is out of range.
    ///
    /// Here `(e << scale)` is a product. There are two shifts by variable counts. Such a shift takes one or two more
    /// instructions if the count must be in a specific register, as on x86-64 before BMI2.
    #[inline(always)]
    pub(crate) fn index(&self, value: u64) -> Option<usize> {
        // The position of the highest bit. This is not `ilog2` of a value known to be nonzero: `bsr` would then stand
        // alone. As zero leaves its register unchanged, each `bsr` would wait for the previous one.
        let exponent = (63 ^ (value | self.block_size).leading_zeros()) - self.scale;
        let logical = (exponent as u64).wrapping_mul(self.block_size) + (value >> (exponent & 63));
        let index = logical.wrapping_sub(self.first_index);
        if index < self.length { Some(index as usize) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::layout::MAX_SCALE;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn as_the_layout_has_it(
            scale in 0..=MAX_SCALE, ends in (any::<u64>(), any::<u64>(), 0u32..64, 0u32..64),
            value in any::<u64>(), shift in 0u32..64, unit in 0u32..40
        ) {
            let (a, b) = (ends.0 >> ends.2, ends.1 >> ends.3);
            prop_assume!(a != b);
            let layout = Layout::with_scale(scale, a.min(b), a.max(b)).unwrap();
            let layout = layout.with_unit(unit).unwrap_or(layout);
            let indexer = Indexer::new(&layout);
            // Any values, and those at the ends of the range and of buckets.
            let bucket = layout.bucket_at((value >> shift) % layout.length() as u64);
            let [low, high] = [bucket.lower, bucket.upper].map(|end| end >> layout.unit());
            for value in [value >> shift, low, high, low.wrapping_sub(1), high.wrapping_add(1), 0, u64::MAX] {
                let index = layout.recording_index(value);
                let expected = layout.contains(index).then_some(index as usize);
                prop_assert_eq!(indexer.index(value), expected);
                // In two steps, and in 32 bits, as when a single value is recorded.
                let logical = layout.halfway(value).in_place().logical_index(value);
                prop_assert_eq!(logical, layout.recording_logical_index(value));
                let short = layout.shortly_stored_at(logical);
                prop_assert_eq!(layout.contains(short).then_some(short as usize), expected);
                if expected.is_none() {
                    let is_below = logical < layout.first_index();
                    prop_assert_eq!((Layout::lies_below(short), Layout::lies_below(index)), (is_below, is_below));
                }
            }
        }
    }
}
