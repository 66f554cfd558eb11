//! Values that a layout does not tell apart, whether they can be recorded or not.

use crate::layout::layout::Layout;

impl Layout {
    /// Width of the bucket of a value: how many values share its count.
    pub const fn size_of_equivalent_range(&self, value: u64) -> u64 {
        // The leading bits that a bucket keeps, as in the index.
        let leading = 63 - (value >> self.unit() | self.block_size()).leading_zeros();
        1 << (leading - self.scale() + self.unit())
    }

    /// The smallest value of a value's bucket.
    pub const fn lowest_equivalent(&self, value: u64) -> u64 {
        value & !(self.size_of_equivalent_range(value) - 1)
    }

    /// The largest value of a value's bucket.
    pub const fn highest_equivalent(&self, value: u64) -> u64 {
        value | (self.size_of_equivalent_range(value) - 1)
    }

    /// The middle of a value's bucket: what stands for all of its values by default.
    pub const fn median_equivalent(&self, value: u64) -> u64 {
        self.lowest_equivalent(value) + self.size_of_equivalent_range(value) / 2
    }

    /// The smallest value of the next bucket; `None` for the last one.
    pub const fn next_non_equivalent(&self, value: u64) -> Option<u64> {
        self.highest_equivalent(value).checked_add(1)
    }

    /// Whether two values share a bucket.
    pub const fn are_equivalent(&self, a: u64, b: u64) -> bool {
        self.logical_index(a) == self.logical_index(b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::layout::MAX_SCALE;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn as_the_buckets_are(
            scale in 0..=MAX_SCALE, value in any::<u64>(), shift in 0u32..64, other in any::<u64>(), near in -3i64..3
        ) {
            let layout = Layout::with_scale(scale, 0, u64::MAX).unwrap();
            let value = value >> shift;
            let bucket = layout.bucket_of(value).unwrap();
            prop_assert_eq!(layout.lowest_equivalent(value), bucket.lower);
            prop_assert_eq!(layout.highest_equivalent(value), bucket.upper);
            prop_assert_eq!(layout.median_equivalent(value), bucket.equivalent_value(Default::default()));
            prop_assert_eq!(layout.size_of_equivalent_range(value), bucket.step);
            prop_assert_eq!(layout.next_non_equivalent(value), bucket.upper.checked_add(1));
            for other in [other, value.wrapping_add_signed(near), bucket.upper.wrapping_add(1)] {
                let same = bucket.lower <= other && other <= bucket.upper;
                prop_assert_eq!(layout.are_equivalent(value, other), same);
            }
            // Nor does it matter whether the value is in range.
            let narrow = Layout::with_scale(scale, 5, 6).unwrap();
            prop_assert_eq!(narrow.lowest_equivalent(value), bucket.lower);
        }
    }
}
