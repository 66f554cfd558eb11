//! Numbers for the buckets of a histogram of integers or doubles, which ascend as their values do.

use picollo_core::Layout;
use picollo_core::doubles::DoubleLayout;
use picollo_core::layouts::ValueSelection;

/// Which buckets the keys of a distribution stand for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Keys {
    /// Storage indices. Underflow has the key before the first, overflow the one after the last.
    Integers(Layout),
    /// The keys of the layout.
    Doubles(DoubleLayout),
}

impl Keys {
    /// The key of values below the range.
    pub(super) const UNDERFLOW: i32 = -1;

    /// The key of values above the range: one more than the last key that a bound can include.
    pub(super) fn overflow(&self) -> i32 {
        match self {
            Keys::Integers(layout) => layout.length() as i32,
            Keys::Doubles(layout) => layout.last_key() + 1,
        }
    }

    fn first(&self) -> i32 {
        match self {
            Keys::Integers(_) => Keys::UNDERFLOW,
            Keys::Doubles(layout) => -layout.last_key(),
        }
    }

    /// The midpoint of an integer's bucket, as recorded; for values out of range, the nearest value outside the range.
    #[inline(always)]
    pub(super) fn midpoint_of_integer(layout: &Layout, key: i32) -> u128 {
        if key >= 0 && (key as u64) < layout.length() as u64 {
            return layout.bucket_at(key as u64).equivalent_value(ValueSelection::Midpoint).into();
        }
        match key {
            Keys::UNDERFLOW => layout.lowest_recordable().saturating_sub(1).into(),
            _ => u128::from(layout.highest_recordable()) + 1,
        }
    }

    /// The value that represents a bucket, as recorded. It is exact: integers' midpoints have few binary digits.
    pub(super) fn midpoint(&self, key: i32) -> f64 {
        match self {
            Keys::Integers(layout) => Keys::midpoint_of_integer(layout, key) as f64,
            Keys::Doubles(layout) => layout.bucket_at(key, 0).midpoint,
        }
    }

    /// The first key whose midpoint satisfies `is`, if all that follow do too; [`Keys::overflow`] if no midpoint does.
    pub(super) fn first_where(&self, is: impl Fn(f64) -> bool) -> i32 {
        let (mut first, mut end) = (self.first(), self.overflow());
        while first < end {
            let middle = first + (end - first) / 2;
            if is(self.midpoint(middle)) { end = middle } else { first = middle + 1 }
        }
        first
    }

    /// The binary logarithm of the number of buckets in a power of two.
    pub(super) fn scale(&self) -> u32 {
        match self {
            Keys::Integers(layout) => layout.scale(),
            Keys::Doubles(layout) => layout.scale(),
        }
    }
}
