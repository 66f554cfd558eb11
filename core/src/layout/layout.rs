//! The rule that maps values to counters, separate from the counts.
//!
//! A layout divides the `u64` values into *blocks* of `B = 2^scale` buckets. Blocks 0 and 1 have buckets of one value;
//! each later block doubles the width (*step*) of its buckets. A bucket's width is then at most `1 / B` of its smallest
//! value, and its midpoint at most `0.5 / B` away, in proportion, from any value in it.
//!
//! The index of a value is read from its leading bits, as in a floating-point number. With
//! `e = bit length of (v | B) - 1 - scale`, the bucket is `v >> e` in a run that starts at `e << scale`. Or-ing `B`
//! makes `e` zero for all values below `B` without a branch, so small values index themselves.
//!
//! A layout may have a *unit* `2^u`, HdrHistogram's lowest discernible value. The rule then maps `v >> u`, and its
//! buckets are `2^u` times as wide. Recording code takes values that are already in units, so histograms without a unit
//! need no shift. The caller of that code shifts the values (`handle::units`).
//!
//! Everything is `const`, so the same calls size a static, a stack array, a caller's buffer and a heap box.

use crate::error::{Error, Result};
use crate::layout::bucket::Bucket;

/// The largest scale of a layout: the smallest block size for the smallest relative error, 1e-6.
pub const MAX_SCALE: u32 = 19;

/// The largest logical index of any value, whatever the scale.
pub(crate) const MAX_INDEX: u64 = index_of(MAX_SCALE, u64::MAX);

/// The largest sum of the binary logarithms of block and unit, as in HdrHistogram.
const MAX_UNIT: u32 = 61;

/// The block scales for 0 to 5 significant digits. `2^scale` is half of HdrHistogram's sub-bucket count, which is the
/// power of two at or above `2 * 10^digits`.
pub const SCALES_OF_DIGITS: [u32; 6] = [0, 4, 7, 10, 14, 17];

const DEFAULT_ERROR: f64 = 0.001;
const MIN_ERROR: f64 = 1e-6;
const MAX_ERROR: f64 = 0.1;

/// Defines which values can be recorded and which of them share a counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Layout {
    length: u64,
    first_index: u64,
    min_trackable: u64,
    max_trackable: u64,
    scale: u32,
    /// Binary logarithm of the unit.
    unit: u32,
}

impl Layout {
    /// Creates a layout for values from `min` to `max`, each at most `relative_error` from the midpoint of its bucket.
    ///
    /// `relative_error` is clamped to 1e-6 ..= 0.1; zero, negative or NaN means 0.001.
    ///
    /// # Panics
    /// If `min >= max`; in a `const` that is a compile error. See [`Layout::try_new`].
    pub const fn new(relative_error: f64, min: u64, max: u64) -> Layout {
        match Layout::try_new(relative_error, min, max) {
            Ok(layout) => layout,
            Err(_) => panic!("the smallest trackable value must be below the largest"),
        }
    }

    /// Does the same as [`Layout::new`], but returns [`Error::InvalidArgument`] if `min >= max`.
    pub const fn try_new(relative_error: f64, min: u64, max: u64) -> Result<Layout> {
        Layout::with_scale(scale_for(relative_error, MIN_ERROR), min, max)
    }

    /// Creates a layout with the buckets of an HdrHistogram of this many significant decimal digits (0 ..= 5) and unit
    /// magnitude 0. With 0 digits each bucket from 2 on is as wide as its smallest value: powers of two.
    pub const fn with_significant_digits(digits: u32, min: u64, max: u64) -> Result<Layout> {
        if digits as usize >= SCALES_OF_DIGITS.len() {
            return Err(Error::InvalidArgument);
        }
        Layout::with_scale(SCALES_OF_DIGITS[digits as usize], min, max)
    }

    /// Creates a layout with blocks of `2^scale` buckets, for `scale` up to [`MAX_SCALE`] and `min < max`.
    pub const fn with_scale(scale: u32, min: u64, max: u64) -> Result<Layout> {
        if scale > MAX_SCALE || min >= max {
            return Err(Error::InvalidArgument);
        }
        let first_index = index_of(scale, min);
        let length = index_of(scale, max) - first_index + 1;
        Ok(Layout { length, first_index, min_trackable: min, max_trackable: max, scale, unit: 0 })
    }

    /// Returns the layout of the same range whose first blocks have buckets of `2^unit` values, as in an HdrHistogram
    /// with this lowest discernible value. Snapshots decoded from such histograms have a unit, and so do histograms
    /// that ask for one by [`crate::Options::unit`]. Histograms whose type determines how they record have none.
    ///
    /// Returns [`Error::InvalidArgument`] if the largest value is below the unit, or if the binary logarithms of block
    /// and unit exceed 61 together.
    pub const fn with_unit(self, unit: u32) -> Result<Layout> {
        if unit > MAX_UNIT - self.scale || self.max_trackable >> unit == 0 {
            return Err(Error::InvalidArgument);
        }
        let first_index = index_of(self.scale, self.min_trackable >> unit);
        let length = index_of(self.scale, self.max_trackable >> unit) - first_index + 1;
        Ok(Layout { length, first_index, unit, ..self })
    }

    /// Returns this layout over another range. Fails as [`Layout::with_scale`] and [`Layout::with_unit`] do.
    pub const fn with_range(self, min: u64, max: u64) -> Result<Layout> {
        match Layout::with_scale(self.scale, min, max) {
            Ok(layout) => layout.with_unit(self.unit),
            Err(error) => Err(error),
        }
    }

    /// Returns the layout that extends to the largest value of an HdrHistogram with this highest trackable value. Its
    /// array continues to the end of a block, and has at least two blocks.
    /// `2^(max(floor(log2 highest), log2 block size + unit) + 1) - 1`.
    ///
    /// ```
    /// use picollo_core::Layout;
    ///
    /// const LAYOUT: Layout = Layout::new(0.0005, 0, 5000).with_whole_array();
    /// assert_eq!(LAYOUT.max_trackable(), 8191);
    /// ```
    pub const fn with_whole_array(self) -> Layout {
        let ones = u64::MAX >> (self.max_trackable | self.block_size() << self.unit).leading_zeros();
        match self.with_range(self.min_trackable, ones) {
            Ok(layout) => layout,
            // The extended range is larger than the existing one, so it is valid.
            Err(_) => unreachable!(),
        }
    }

    /// Returns the layout with these fields, and derives its unit: each unit gives a different first index and number
    /// of counters. Returns [`Error::InvalidArgument`] if no layout has these fields.
    pub const fn from_parts(scale: u32, min: u64, max: u64, first_index: u64, length: u64) -> Result<Layout> {
        let without = match Layout::with_scale(scale, min, max) {
            Ok(layout) => layout,
            Err(error) => return Err(error),
        };
        let mut unit = 0;
        while let Ok(layout) = without.with_unit(unit) {
            if layout.first_index == first_index && layout.length == length {
                return Ok(layout);
            }
            unit += 1;
        }
        Err(Error::InvalidArgument)
    }

    /// Returns the significant decimal digits (1 ..= 5) of the HdrHistogram with these buckets. Returns 0 if there is
    /// none, or if it has no digits and its block size is 1.
    pub const fn significant_digits(&self) -> u32 {
        let mut digits = SCALES_OF_DIGITS.len() - 1;
        while digits > 0 && SCALES_OF_DIGITS[digits] != self.scale {
            digits -= 1;
        }
        digits as u32
    }

    /// Returns the number of counters that the range needs.
    pub const fn length(&self) -> usize {
        self.length as usize
    }

    /// Returns the logical index of the first counter.
    pub const fn first_index(&self) -> u64 {
        self.first_index
    }

    /// Binary logarithm of the block size.
    pub const fn scale(&self) -> u32 {
        self.scale
    }

    /// Returns the number of buckets in a block.
    pub const fn block_size(&self) -> u64 {
        1 << self.scale
    }

    /// Returns the binary logarithm of the unit in which the first two blocks count. It is 0 except for data from an
    /// HdrHistogram with a lowest discernible value of 2 or more.
    pub const fn unit(&self) -> u32 {
        self.unit
    }

    /// Returns the stated error: half a bucket at the lower end of a block, `0.5 / block size`. With a unit it holds
    /// from a block of units on; smaller values are at most half a unit away.
    pub const fn relative_error(&self) -> f64 {
        0.5 / self.block_size() as f64
    }

    /// Smallest value of the guaranteed range.
    pub const fn min_trackable(&self) -> u64 {
        self.min_trackable
    }

    /// Largest value of the guaranteed range.
    pub const fn max_trackable(&self) -> u64 {
        self.max_trackable
    }

    /// Returns the smallest counted value. Whole buckets are counted, so it may lie below [`Layout::min_trackable`].
    pub const fn lowest_recordable(&self) -> u64 {
        self.bucket_at(0).lower
    }

    /// Returns the largest counted value; it may lie above [`Layout::max_trackable`].
    pub const fn highest_recordable(&self) -> u64 {
        self.bucket_at(self.length - 1).upper
    }

    /// Returns the index of a value among the counters of the full `u64` range.
    #[inline(always)]
    pub const fn logical_index(&self, value: u64) -> u64 {
        index_of(self.scale, value >> (self.unit & 63))
    }

    /// Returns the index of a value among the counters of this layout. It is `length()` or more if the value is out of
    /// range, below or above: one unsigned comparison catches both.
    #[inline(always)]
    pub const fn storage_index(&self, value: u64) -> u64 {
        self.stored_at(self.logical_index(value))
    }

    /// Computes half of [`Layout::logical_index`] for a value in units, for recording.
    #[inline(always)]
    pub(crate) const fn halfway(&self, value: u64) -> Halfway {
        Halfway::of(self.scale, value)
    }

    /// Returns the same as [`Layout::logical_index`] for a value in units, for recording.
    #[inline(always)]
    pub(crate) const fn recording_logical_index(&self, value: u64) -> u64 {
        index_of(self.scale, value)
    }

    /// Returns the same as [`Layout::storage_index`] for a value in units, for recording.
    #[inline(always)]
    pub(crate) const fn recording_index(&self, value: u64) -> u64 {
        self.stored_at(self.recording_logical_index(value))
    }

    /// Converts a logical index to a storage index.
    #[inline(always)]
    pub(crate) const fn stored_at(&self, logical_index: u64) -> u64 {
        logical_index.wrapping_sub(self.first_index)
    }

    /// Does the same as [`Layout::stored_at`] in 32 bits, with shorter instructions. Values below the range wrap
    /// around.
    #[inline(always)]
    pub(crate) const fn shortly_stored_at(&self, logical_index: u64) -> u64 {
        (logical_index as u32).wrapping_sub(self.first_index as u32) as u64
    }

    /// Returns whether an out-of-range storage index lies below the range: it then wrapped around, in 32 bits or in 64.
    #[inline]
    pub(crate) const fn lies_below(storage_index: u64) -> bool {
        storage_index > MAX_INDEX
    }

    /// Returns whether the index is among the counters, with one unsigned comparison.
    #[inline(always)]
    pub(crate) const fn contains(&self, storage_index: u64) -> bool {
        storage_index < self.length
    }

    /// Returns whether an out-of-range value lies below the range.
    #[inline]
    pub const fn is_below(&self, value: u64) -> bool {
        self.logical_index(value) < self.first_index
    }

    /// Returns the bucket at a storage index, with a count of zero; the last bucket if the index is too large.
    pub const fn bucket_at(&self, storage_index: u64) -> Bucket {
        let storage_index = if storage_index < self.length { storage_index } else { self.length - 1 };
        let logical_index = self.first_index + storage_index;
        let block = logical_index >> self.scale;
        let shift = if block > 1 { (block - 1) as u32 } else { 0 };
        // In blocks above the first, the block implies the leading bit.
        let lower = (logical_index - ((shift as u64) << self.scale)) << (shift + self.unit);
        let step = 1u64 << (shift + self.unit);
        Bucket { lower, upper: lower + (step - 1), step, count: 0, storage_index, logical_index }
    }

    /// Returns the bucket of a value, with a count of zero; `None` if the value is out of range.
    pub const fn bucket_of(&self, value: u64) -> Option<Bucket> {
        let index = self.storage_index(value);
        if index < self.length { Some(self.bucket_at(index)) } else { None }
    }

    /// Returns whether two layouts have the same counters, whatever their guaranteed ranges inside the outer buckets.
    pub const fn same_counters(&self, other: &Layout) -> bool {
        self.scale == other.scale
            && self.unit == other.unit
            && self.first_index == other.first_index
            && self.length == other.length
    }

    /// Returns whether the fields are consistent, for layouts of histograms in memory that others could write.
    pub(crate) const fn is_valid(&self) -> bool {
        match self.with_range(self.min_trackable, self.max_trackable) {
            Ok(layout) => layout.same_counters(self),
            Err(_) => false,
        }
    }
}

/// A logical index except for one shift. That shift remains while the code checks the kind of a histogram, so the value
/// stays in the register that it came in.
#[derive(Clone, Copy)]
pub(crate) struct Halfway {
    /// `e << scale`.
    pub(crate) block: u64,
    /// `e`.
    pub(crate) exponent: u64,
}

impl Halfway {
    /// `e = 63 - scale - leading_zeros(v | B)`.
    #[inline(always)]
    pub(crate) const fn of(scale: u32, value: u64) -> Halfway {
        let block_size = 1u64 << (scale & 63);
        let exponent = 63 - (value | block_size).leading_zeros() - scale;
        Halfway { block: (exponent << (scale & 31)) as u64, exponent: exponent as u64 }
    }

    /// Puts the fields in the registers of the third and fourth argument of a function. They are then in place for a
    /// call, which becomes a single jump.
    #[inline(always)]
    #[cfg_attr(any(not(target_arch = "x86_64"), windows, miri), allow(unused_mut))]
    pub(crate) fn in_place(mut self) -> Halfway {
        #[cfg(all(target_arch = "x86_64", not(windows), not(miri)))]
        // SAFETY: the block contains no instruction.
        unsafe {
            core::arch::asm!(
                "",
                inout("rdx") self.block,
                inout("rcx") self.exponent,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        self
    }

    /// Returns `(e << scale) + (v >> e)` of the same value. The sum is below 2^26, so 32-bit registers are enough, and
    /// their instructions are shorter.
    #[inline(always)]
    pub(crate) const fn logical_index(self, value: u64) -> u64 {
        (self.block as u32).wrapping_add((value >> (self.exponent & 63)) as u32) as u64
    }
}

const _: () = assert!(MAX_INDEX < 1 << 26);

/// Computes the logical index at once, in whole registers: loops over many values then need fewer moves.
#[inline(always)]
const fn index_of(scale: u32, value: u64) -> u64 {
    let block_size = 1u64 << (scale & 63);
    let exponent = 63 - (value | block_size).leading_zeros() - scale;
    ((exponent as u64) << (scale & 63)) + (value >> (exponent & 63))
}

/// Returns the smallest scale that keeps the promise `0.5 / 2^scale <= error`. The error is at least `min_error` and at
/// most 0.1; it is 0.001 if the argument is zero, negative or NaN.
pub(crate) const fn scale_for(relative_error: f64, min_error: f64) -> u32 {
    let error = if relative_error.is_nan() || relative_error <= 0.0 {
        DEFAULT_ERROR
    } else if relative_error < min_error {
        min_error
    } else if relative_error > MAX_ERROR {
        MAX_ERROR
    } else {
        relative_error
    };
    let mut scale = 0;
    while 0.5 / ((1u64 << scale) as f64) > error {
        scale += 1;
    }
    scale
}

impl Layout {
    /// Returns the width of a value's bucket: how many values share its count.
    pub const fn size_of_equivalent_range(&self, value: u64) -> u64 {
        // The leading bits that a bucket keeps, as in the index.
        let leading = 63 - (value >> self.unit() | self.block_size()).leading_zeros();
        1 << (leading - self.scale() + self.unit())
    }

    /// Returns the smallest value of a value's bucket.
    pub const fn lowest_equivalent(&self, value: u64) -> u64 {
        value & !(self.size_of_equivalent_range(value) - 1)
    }

    /// Returns the largest value of a value's bucket.
    pub const fn highest_equivalent(&self, value: u64) -> u64 {
        value | (self.size_of_equivalent_range(value) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_beyond_the_last_bucket_is_that_of_the_last() {
        let layout = Layout::new(0.01, 10_000, 30_000);
        let last = layout.bucket_at(layout.length() as u64 - 1);
        for index in [layout.length() as u64, 1 << 40, u64::MAX] {
            assert_eq!(layout.bucket_at(index), last);
        }
    }

    #[test]
    fn worked_examples() {
        for (error, min, max, scale, first, last, length) in [
            (0.01, 10_000, 30_000, 6, 526, 629, 104),
            (0.001, 0, u64::MAX, 9, 0, 28_671, 28_672),
            (0.0001, 100, 200, 13, 100, 200, 101),
            (0.01, 50, 100, 6, 50, 100, 51),
        ] {
            let layout = Layout::new(error, min, max);
            assert_eq!(layout.scale(), scale);
            assert_eq!(layout.first_index(), first);
            assert_eq!(layout.logical_index(max), last);
            assert_eq!(layout.length(), length);
        }
        let layout = Layout::new(0.01, 0, u64::MAX);
        assert_eq!(layout.bucket_of(127).unwrap().step, 1);
        assert_eq!(layout.logical_index(127), 127);
        assert_eq!((layout.logical_index(128), layout.logical_index(129)), (128, 128));
        assert_eq!(layout.bucket_of(128).unwrap().step, 2);
        let bucket = layout.bucket_of(1_000_000).unwrap();
        assert_eq!((bucket.logical_index, bucket.lower, bucket.upper), (954, 999_424, 1_007_615));
        assert_eq!(bucket.equivalent_value(crate::layout::bucket::ValueSelection::Midpoint), 1_003_520);
        assert_eq!(bucket.step / 2, 4_096);
        assert_eq!(layout.logical_index(u64::MAX), 3775);
    }

    #[test]
    fn errors_become_block_sizes() {
        let scale = |error| Layout::new(error, 0, 1).scale();
        assert_eq!([scale(0.0), scale(-1.0), scale(f64::NAN), scale(0.001)], [9; 4]);
        assert_eq!((scale(1.0), scale(0.1), scale(f64::INFINITY)), (3, 3, 3));
        assert_eq!((scale(1e-9), scale(1e-6)), (MAX_SCALE, MAX_SCALE));
        assert_eq!((scale(0.5 / 64.0), scale(0.5 / 64.0 - 1e-12)), (6, 7), "the error at a power of two");
        for digits in 0..=5 {
            let layout = Layout::with_significant_digits(digits, 0, 100).unwrap();
            assert_eq!(layout.block_size(), [1, 16, 128, 1024, 16384, 131_072][digits as usize]);
        }
        for digits in [6, u32::MAX] {
            assert_eq!(Layout::with_significant_digits(digits, 0, 100), Err(Error::InvalidArgument));
        }
    }

    #[test]
    fn bad_ranges_are_refused() {
        assert_eq!(Layout::try_new(0.01, 5, 5), Err(Error::InvalidArgument));
        assert_eq!(Layout::try_new(0.01, u64::MAX, 0), Err(Error::InvalidArgument));
        assert_eq!(Layout::with_scale(MAX_SCALE + 1, 0, 1), Err(Error::InvalidArgument));
        assert_eq!(Layout::with_scale(u32::MAX, 0, 1), Err(Error::InvalidArgument));
    }

    #[test]
    fn a_whole_array_is_what_there_is_room_for() {
        let whole = |scale, unit, max| {
            let layout =
                Layout::with_scale(scale, 0, max).unwrap().with_unit(unit).unwrap().with_whole_array();
            assert_eq!((layout.scale(), layout.unit(), layout.min_trackable()), (scale, unit, 0));
            assert_eq!(layout.highest_recordable(), layout.max_trackable(), "whole buckets");
            assert_eq!(layout.with_whole_array(), layout);
            (layout.max_trackable(), layout.length())
        };
        // As in Java: at least two blocks, then one more for each doubling.
        assert_eq!(whole(10, 0, 5000), (8191, 4 * 1024));
        assert_eq!(whole(10, 0, 2), (2047, 2 * 1024));
        assert_eq!((whole(10, 0, 2047), whole(10, 0, 2048)), ((2047, 2048), (4095, 3 * 1024)));
        assert_eq!(whole(10, 10, 5000), ((2 << 20) - 1, 2 * 1024));
        assert_eq!(whole(10, 14, 3_600_000_000_000), ((1 << 42) - 1, 19 * 1024));
        assert_eq!(whole(17, 0, u64::MAX), (u64::MAX, 48 << 17));
        assert_eq!(whole(0, 61, u64::MAX), (u64::MAX, 4));
        let moved = Layout::with_scale(10, 700, 5000).unwrap().with_whole_array();
        assert_eq!((moved.min_trackable(), moved.max_trackable()), (700, 8191));
    }

    #[test]
    fn another_range_keeps_blocks_and_unit() {
        let layout = Layout::with_scale(7, 0, 1 << 40).unwrap().with_unit(10).unwrap();
        let wide = layout.with_range(0, u64::MAX).unwrap();
        assert_eq!((wide.scale(), wide.unit(), wide.max_trackable()), (7, 10, u64::MAX));
        assert_eq!(wide.with_range(0, 1 << 40), Ok(layout));
        for (min, max) in [(5, 5), (0, 1023), (9, 8)] {
            assert_eq!(layout.with_range(min, max), Err(Error::InvalidArgument));
        }
    }

    /// By definition: the layout without a unit, for values shifted right, with its ends shifted left again.
    #[test]
    fn every_bucket_of_every_unit() {
        for scale in 0..=MAX_SCALE {
            for unit in 0..=40 {
                let without = Layout::with_scale(scale, 0, u64::MAX >> unit).unwrap();
                let Ok(layout) = Layout::with_scale(scale, 0, u64::MAX).unwrap().with_unit(unit) else {
                    assert!(scale + unit > 61);
                    continue;
                };
                assert_eq!((layout.length(), layout.unit()), (without.length(), unit));
                assert!(unit > 0 || layout.length() == (65 - scale as usize) << scale);
                // All values for some layouts; the block borders for the others.
                let step = if scale > 10 && unit % 8 != 3 { layout.block_size() / 4 } else { 1 };
                let mut next = 0u64;
                for index in (0..layout.length() as u64).step_by(step as usize) {
                    let (bucket, of) = (layout.bucket_at(index), without.bucket_at(index));
                    assert_eq!((bucket.lower, bucket.step), (of.lower << unit, of.step << unit));
                    assert_eq!(bucket.upper - bucket.lower, bucket.step - 1);
                    let middle = bucket.equivalent_value(Default::default());
                    let worst = (middle - bucket.lower).max(bucket.upper - middle) as f64;
                    assert!(unit > 0 || worst <= layout.relative_error() * bucket.lower as f64, "{bucket:?}");
                    for value in [bucket.lower, bucket.upper] {
                        assert_eq!(layout.storage_index(value), index);
                        assert_eq!(layout.lowest_equivalent(value), bucket.lower);
                        assert_eq!(layout.highest_equivalent(value), bucket.upper);
                        assert_eq!(layout.size_of_equivalent_range(value), bucket.step);
                    }
                    assert!(step > 1 || bucket.lower == next, "neighbours touch");
                    next = bucket.upper.wrapping_add(1);
                }
                assert_eq!(layout.bucket_at(layout.length() as u64 - 1).upper, u64::MAX);
            }
        }
    }

    #[test]
    fn units_follow_from_the_fields() {
        for scale in [0, 1, 4, 7, 10, 14, 17, 19] {
            let small = [(0, 1), (0, 2), (3, 7), (0, 1000)];
            let large = [(20_000, 3_600_000_000), (1 << 40, 1 << 41), (0, u64::MAX)];
            for (min, max) in small.into_iter().chain(large) {
                let without = Layout::with_scale(scale, min, max).unwrap();
                let units: std::vec::Vec<Layout> =
                    (0..64).filter_map(|unit| without.with_unit(unit).ok()).collect();
                assert_eq!(units.len() as u32, max.ilog2().min(61 - scale) + 1);
                for layout in units {
                    let found =
                        Layout::from_parts(scale, min, max, layout.first_index(), layout.length() as u64);
                    assert_eq!(found, Ok(layout));
                    let ends = [min, max].map(|value| layout.storage_index(value));
                    assert_eq!(ends, [0, layout.length() as u64 - 1]);
                }
                let (first, length) = (without.first_index(), without.length() as u64);
                assert!(Layout::from_parts(scale, min, max, first + 1, length).is_err());
                assert!(Layout::from_parts(scale, min, max, first, length + 1).is_err());
                assert!(Layout::from_parts(scale, min, max, u64::MAX, u64::MAX).is_err());
            }
        }
        assert!(Layout::from_parts(20, 0, 1, 0, 2).is_err());
        for unit in [62, 64, 128, u32::MAX] {
            let layout = Layout::with_scale(0, 0, u64::MAX).unwrap();
            assert_eq!(layout.with_unit(unit), Err(Error::InvalidArgument));
        }
    }

    #[test]
    fn one_comparison_catches_both_ends() {
        let layout = Layout::new(0.01, 2_000, 12_000);
        assert_eq!((layout.lowest_recordable(), layout.highest_recordable()), (2_000, 12_031));
        for value in [0, 1, 1_999, 12_032, u64::MAX] {
            assert!(!layout.contains(layout.storage_index(value)), "{value}");
            assert_eq!(layout.bucket_of(value), None);
            assert_eq!(layout.is_below(value), value < 2_000);
        }
        for value in [2_000, 12_000, 12_031] {
            assert!(layout.contains(layout.storage_index(value)), "{value}");
        }
    }
}
