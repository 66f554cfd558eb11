//! The rule that maps doubles to buckets.
//!
//! The index comes from the bits of a double: sign and exponent choose a *row* of `2^k` buckets, and the leading `k`
//! bits of the mantissa choose a bucket in it. All buckets of a row are equally wide, `2^-k` of the row's smallest
//! magnitude. So a bucket's midpoint is at most `2^-(k+1)` away, in proportion, from any value in it.
//!
//! Subnormal numbers have no implied leading bit, so the mantissa's top bits carry ever less information. They are
//! normalized first: each position of their leading bit is a row too, as if exponents continued downwards. Rows with
//! fewer than `k` bits below the leading one hold each value exactly. So the error holds for every finite double.

use crate::layout::layout::scale_for;

/// Rows of one sign: one for each leading bit of a subnormal number, then one for each exponent.
pub(super) const ROWS: usize = SUBNORMAL_ROWS + 2046;

const SUBNORMAL_ROWS: usize = 52;
const MANTISSA: u32 = 52;
const SIGN: u64 = 1 << 63;
const INFINITY: u64 = 0x7ff << MANTISSA;

const MIN_ERROR: f64 = 1e-4;

/// Which doubles share a counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DoubleLayout {
    /// Bits of the mantissa that choose a bucket in a row: 3 ..= 13.
    bits: u32,
}

/// A run of doubles that share one count.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
pub struct DoubleBucket {
    /// Smallest value of the bucket.
    pub lower: f64,
    /// Largest value of the bucket.
    pub upper: f64,
    /// The reported value: the middle between the ends, within the error of every value in the bucket.
    pub midpoint: f64,
    /// Number of observations.
    pub count: u64,
}

/// Where a finite double other than zero is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub(super) negative: bool,
    pub(super) row: usize,
    pub(super) column: usize,
}

impl DoubleLayout {
    /// A layout with at most `relative_error` between a double and its bucket's midpoint.
    ///
    /// `relative_error` is clamped to 1e-4 ..= 0.1; zero, negative or NaN means 0.001.
    pub const fn new(relative_error: f64) -> DoubleLayout {
        // ceil(log2(1 / error)) - 1: a row is divided as the blocks of integers are.
        DoubleLayout { bits: scale_for(relative_error, MIN_ERROR) }
    }

    /// The stated error: half a bucket at the lower end of a row, `2^-(k+1)`.
    pub const fn relative_error(&self) -> f64 {
        0.5 / (1u64 << self.bits) as f64
    }

    /// Binary logarithm of the number of buckets in a row.
    pub const fn scale(&self) -> u32 {
        self.bits
    }

    /// The largest key: that of the last bucket in the last row.
    pub const fn last_key(&self) -> i32 {
        (ROWS << self.bits) as i32
    }

    /// Buckets in a row.
    pub(super) const fn columns(&self) -> usize {
        1 << self.bits
    }

    /// Where a value is counted; `None` for zero and values that are not finite.
    #[inline(always)]
    pub(crate) fn place_of(&self, value: f64) -> Option<Place> {
        let bits = value.to_bits();
        let magnitude = bits & !SIGN;
        // One comparison covers everything that is not a normal number.
        let index = if magnitude.wrapping_sub(1 << MANTISSA) < INFINITY - (1 << MANTISSA) {
            // The exponent counts from 1, so its row comes after those of the subnormal numbers.
            (magnitude >> (MANTISSA - self.bits)) + ((SUBNORMAL_ROWS as u64 - 1) << self.bits)
        } else {
            self.subnormal_index(magnitude)?
        };
        let (row, column) = (index >> self.bits, index & ((1 << self.bits) - 1));
        Some(Place { negative: bits & SIGN != 0, row: row as usize, column: column as usize })
    }

    #[cold]
    fn subnormal_index(&self, magnitude: u64) -> Option<u64> {
        if magnitude == 0 || magnitude >= INFINITY {
            return None;
        }
        let row = 63 - magnitude.leading_zeros();
        let normalised = magnitude << (MANTISSA - row);
        // The row implies the leading bit, which is now at 2^52.
        Some((u64::from(row) << self.bits) + (normalised >> (MANTISSA - self.bits)) - (1 << self.bits))
    }

    /// The place as a number that is ordered as the values are; 0 stands for zero.
    pub(crate) const fn key_of(&self, place: Place) -> i32 {
        let key = 1 + ((place.row << self.bits) | place.column) as i32;
        if place.negative { -key } else { key }
    }

    /// The bucket with a key of a [`DoubleEntry`](crate::doubles::DoubleEntry).
    pub fn bucket_at(&self, key: i32, count: u64) -> DoubleBucket {
        if key == 0 {
            return DoubleBucket { lower: 0.0, upper: 0.0, midpoint: 0.0, count };
        }
        let index = u64::from(key.unsigned_abs() - 1);
        let (row, column) = (index >> self.bits, index & ((1 << self.bits) - 1));
        // Bits below the leading one. The exponent scales those of normal numbers separately.
        let fraction_bits = (row as u32).min(MANTISSA);
        let exponent = (row - u64::from(fraction_bits)) << MANTISSA;
        let leading = 1u64 << fraction_bits;
        let (fraction, width) = match fraction_bits.checked_sub(self.bits) {
            Some(shift) => (column << shift, 1u64 << shift),
            None => (column >> (self.bits - fraction_bits), 1),
        };
        // Inside a row, equal steps of the bits are equal steps of the value.
        let lower = exponent + (leading | fraction);
        let sign = if key < 0 { SIGN } else { 0 };
        let double = |magnitude: u64| f64::from_bits(magnitude | sign);
        let (near, far, midpoint) = (double(lower), double(lower + (width - 1)), double(lower + width / 2));
        let (lower, upper) = if key < 0 { (far, near) } else { (near, far) };
        DoubleBucket { lower, upper, midpoint, count }
    }

    /// The bucket that a value falls into, with a count of zero; `None` when it is not finite.
    pub fn bucket_of(&self, value: f64) -> Option<DoubleBucket> {
        if !value.is_finite() {
            return None;
        }
        Some(self.bucket_at(self.place_of(value).map_or(0, |place| self.key_of(place)), 0))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn layouts() -> impl Strategy<Value = DoubleLayout> {
        (3u32..=13).prop_map(|bits| DoubleLayout { bits })
    }

    /// Doubles of all magnitudes and both signs, including subnormal numbers and the neighbors of powers of two.
    pub(crate) fn any_finite() -> impl Strategy<Value = f64> {
        let bits = prop_oneof![
            4 => any::<u64>(),
            2 => (any::<u64>(), 0u32..64).prop_map(|(bits, shift)| (bits & ((1 << 52) - 1)) >> (shift % 52)),
            1 => (any::<u64>(), 0u64..2047, -2i64..3)
                .prop_map(|(sign, exponent, near)| ((exponent << 52).wrapping_add_signed(near)) | sign << 63),
        ];
        bits.prop_map(f64::from_bits).prop_filter("finite", |value| value.is_finite())
    }

    #[test]
    fn errors_become_mantissa_bits() {
        let bits = |error| DoubleLayout::new(error).bits;
        assert_eq!([bits(0.0), bits(-1.0), bits(f64::NAN), bits(0.001)], [9; 4]);
        assert_eq!((bits(1e-4), bits(1e-9)), (13, 13));
        assert_eq!((bits(0.1), bits(5.0), bits(f64::INFINITY)), (3, 3, 3));
        assert_eq!((bits(0.0078125), bits(0.0078124)), (6, 7), "at a power of two");
        for error in [0.1, 0.05, 0.01, 0.003, 0.001, 0.0002, 0.0001] {
            assert!(DoubleLayout::new(error).relative_error() <= error);
            let expected = f64::log2(1.0 / error).ceil() as u32 - 1;
            assert_eq!(bits(error), expected, "{error}");
        }
    }

    #[test]
    fn every_bucket_of_every_layout() {
        for bits in 3..=13 {
            let layout = DoubleLayout { bits };
            // Subnormal rows, some normal ones, and the last; all rows would take minutes.
            for row in (0..60).chain([1000, 1074, 1075, ROWS - 1]) {
                let mut next = None;
                for column in 0..layout.columns() {
                    let place = Place { negative: false, row, column };
                    let bucket = layout.bucket_at(layout.key_of(place), 0);
                    if row < bits as usize && column & ((1 << (bits as usize - row)) - 1) != 0 {
                        continue; // no value is ever counted there
                    }
                    if let Some(next) = next {
                        assert_eq!(bucket.lower, next, "neighbours touch");
                    }
                    next = Some(bucket.upper.next_up());
                    for value in [bucket.lower, bucket.midpoint, bucket.upper] {
                        assert_eq!(layout.place_of(value), Some(place), "{value:e}");
                        assert_eq!(layout.place_of(-value), Some(Place { negative: true, ..place }));
                    }
                }
                let following = layout.place_of(next.unwrap());
                assert_eq!(following.map(|place| place.row), Some(row + 1).filter(|&row| row < ROWS));
            }
        }
        assert_eq!(DoubleLayout::new(0.001).place_of(f64::MAX).unwrap().row, ROWS - 1);
    }

    #[test]
    fn zeros_and_what_is_not_finite() {
        let layout = DoubleLayout::new(0.01);
        for value in [0.0, -0.0, f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(layout.place_of(value), None);
        }
        let zero = layout.bucket_of(-0.0).unwrap();
        assert_eq!((zero.lower, zero.upper, zero.midpoint), (0.0, 0.0, 0.0));
        assert!(zero.midpoint.is_sign_positive());
        assert_eq!(layout.bucket_of(f64::NAN), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 5_000, ..ProptestConfig::default() })]

        #[test]
        fn keys_are_ordered_as_the_values(layout in layouts(), a in any_finite(), b in any_finite()) {
            let key = |value| layout.place_of(value).map_or(0, |place| layout.key_of(place));
            prop_assert!(!(a < b && key(a) > key(b)));
            prop_assert_eq!(key(-a), -key(a));
        }
    }
}
