//! How two summaries differ: relative changes and the effect size.

use core::fmt;

use crate::format::number::{Grouped, NOT_AVAILABLE, parts};
use crate::statistics::moments::Moments;
use crate::statistics::summary::Summary;

/// The relative change `(b - a) / |a|` in per cent with a sign and one decimal, rounded half away from zero.
///
/// `0.0%` when it rounds to zero, `n/a` when `a` is zero and `b` is not, or when either is missing.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Change(Option<Tenths>);

/// Tenths of a per cent.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Tenths {
    negative: bool,
    tenths: u128,
}

impl Change {
    /// From one integer to another; exact.
    pub(super) fn of_integers(a: Option<u64>, b: Option<u64>) -> Change {
        Change(match (a, b) {
            (Some(a), Some(b)) => tenths(b < a, a.abs_diff(b).into(), a.into()),
            _ => None,
        })
    }

    /// From one double to another; exact unless their magnitudes differ by more than about 2^60.
    pub(super) fn of_floats(a: f64, b: f64) -> Change {
        Change(exact_tenths(a, b).unwrap_or_else(|| {
            // The cast rounds down, so with a half added to the nearest.
            let tenths = percent_of_floats(a, b)? * 10.0;
            if tenths.abs() >= u128::MAX as f64 {
                return None;
            }
            Some(Tenths { negative: tenths < 0.0, tenths: (tenths.abs() + 0.5) as u128 })
        }))
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str(NOT_AVAILABLE),
            Some(Tenths { tenths: 0, .. }) => f.write_str("0.0%"),
            Some(Tenths { negative, tenths }) => {
                let sign = if negative { '-' } else { '+' };
                write!(f, "{sign}{}.{}%", Grouped(tenths / 10), tenths % 10)
            }
        }
    }
}

/// `difference / |base|` in tenths of a per cent. The difference times 2000 plus the base must fit.
fn tenths(negative: bool, difference: u128, base: u128) -> Option<Tenths> {
    let tenths = match (difference, base) {
        (0, _) => 0,
        (_, 0) => return None,
        // Half away from zero: floor(x + 1/2) of the magnitude, with everything doubled.
        _ => (2000 * difference + base) / (2 * base),
    };
    Some(Tenths { negative: negative && tenths != 0, tenths })
}

/// The change between two doubles in integers; the outer `None` when they do not fit into the arithmetic.
fn exact_tenths(a: f64, b: f64) -> Option<Option<Tenths>> {
    // 2000 * (|a| + |b|) + |a| below 2^128.
    const BITS: u32 = 115;
    let (Some(a), Some(b)) = (parts(a), parts(b)) else {
        return Some(None);
    };
    let odd = |(negative, mantissa, exponent): (bool, u64, i32)| match mantissa {
        0 => (negative, 0, 0),
        _ => (negative, mantissa >> mantissa.trailing_zeros(), exponent + mantissa.trailing_zeros() as i32),
    };
    let ((negative_a, a, exponent_a), (negative_b, b, exponent_b)) = (odd(a), odd(b));
    // A zero has no exponent of its own: it takes the other's.
    let common = match (a, b) {
        (0, _) => exponent_b,
        (_, 0) => exponent_a,
        _ => exponent_a.min(exponent_b),
    };
    let scale = |mantissa: u64, exponent: i32| {
        let mantissa = u128::from(mantissa);
        let shift = exponent.saturating_sub(common).max(0) as u32;
        if mantissa == 0 {
            Some(0)
        } else if shift + (128 - mantissa.leading_zeros()) <= BITS {
            Some(mantissa << shift)
        } else {
            None
        }
    };
    let (a, b) = (scale(a, exponent_a)?, scale(b, exponent_b)?);
    // Positive where b is the larger of the two, whatever the sign of a.
    let (falls, difference) =
        if negative_a == negative_b { ((b < a) != negative_a, a.abs_diff(b)) } else { (negative_b, a + b) };
    Some(tenths(falls, difference, a))
}

/// `(b - a) / |a| * 100`, for programs; `None` where it does not exist.
pub(super) fn percent_of_floats(a: f64, b: f64) -> Option<f64> {
    let percent = if a == b { 0.0 } else { (b - a) / libm::fabs(a) * 100.0 };
    if a.is_finite() && b.is_finite() && percent.is_finite() { Some(percent) } else { None }
}

/// `(b - a) / a * 100`, for programs; the difference is exact.
pub(super) fn percent_of_integers(a: Option<u64>, b: Option<u64>) -> Option<f64> {
    let (a, b) = (a?, b?);
    match (a, b) {
        (0, 0) => Some(0.0),
        (0, _) => None,
        _ => Some((i128::from(b) - i128::from(a)) as f64 / a as f64 * 100.0),
    }
}

/// Cohen's d of two summaries; see [`crate::Comparison::cohens_d`].
///
/// NaN where either summary is empty or the pooled deviation is zero.
pub(super) fn cohens_d(a: &Summary, b: &Summary) -> f64 {
    let moments = |summary: &Summary| Moments { mean: super::mean(summary), stddev: summary.stddev };
    crate::statistics::compare::cohens_d(a.total_count as f64, moments(a), b.total_count as f64, moments(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::example;
    use proptest::prelude::*;
    use std::string::ToString;

    fn integers(a: u64, b: u64) -> std::string::String {
        Change::of_integers(Some(a), Some(b)).to_string()
    }

    #[test]
    fn signs_zeros_and_ties() {
        for (a, b, text) in [
            (0, 0, "0.0%"),
            (0, 1, "n/a"),
            (1, 0, "-100.0%"),
            (1, 1, "0.0%"),
            (9_664, 10_304, "+6.6%"),
            (10_000, 10_004, "0.0%"),
            (10_000, 9_996, "0.0%"),
            (10_000, 10_005, "+0.1%"),
            (10_000, 9_995, "-0.1%"),
            (10_000, 20_005, "+100.1%"),
            (1, u64::MAX, "+1,844,674,407,370,955,161,400.0%"),
            (u64::MAX, 0, "-100.0%"),
            (u64::MAX, u64::MAX - 1, "0.0%"),
        ] {
            assert_eq!(integers(a, b), text, "{a} {b}");
        }
        assert_eq!(Change::of_integers(None, Some(1)).to_string(), "n/a");
        assert_eq!(Change::of_integers(Some(1), None).to_string(), "n/a");
        for (a, b, text) in [
            (0.0, 0.0, "0.0%"),
            (0.0, -0.0, "0.0%"),
            (0.0, 5e-324, "n/a"),
            (f64::NAN, 1.0, "n/a"),
            (1.0, f64::INFINITY, "n/a"),
            // More is more, and less is less, also of less than nothing.
            (-2.0, -1.0, "+50.0%"),
            (-2.0, -3.0, "-50.0%"),
            (-2.0, 1.0, "+150.0%"),
            (-2.0, 0.0, "+100.0%"),
            (-2.0, -2.0, "0.0%"),
            (-1e-300, 1e10, "n/a"),
            (-1e10, 1e-300, "+100.0%"),
            (2.0, -1.0, "-150.0%"),
            (5e-324, f64::MAX, "n/a"),
            (f64::MAX, 5e-324, "-100.0%"),
            (1e-30, 1e-10, "+9,999,999,999,999,999,530,857.8%"),
            (2000.0, 2001.0, "+0.1%"),
            (2000.0, 1999.0, "-0.1%"),
            (2000.0, 2_000.999_999, "0.0%"),
        ] {
            assert_eq!(Change::of_floats(a, b).to_string(), text, "{a} {b}");
        }
    }

    #[test]
    fn effect_size() {
        let (a, b) = (example::first(), example::second());
        // By hand: sqrt((99940 * 1870.75^2 + 145798 * 2055.85^2) / 245738) = 1982.67, and 155.63 / 1982.67 = 0.0785.
        assert!((cohens_d(&a, &b) - 0.0785).abs() < 5e-5);
        assert_eq!(cohens_d(&a, &b), -cohens_d(&b, &a));
        assert_eq!(cohens_d(&a, &a), 0.0);
        let equal = Summary { stddev: 0.0, ..a };
        assert!(cohens_d(&equal, &equal).is_nan());
        assert!(cohens_d(&a, &example::empty()).is_nan());
        assert!(cohens_d(&example::empty(), &example::empty()).is_nan());
    }

    proptest! {
        #[test]
        fn rounding_is_to_the_nearest(a in 1u64.., b: u64, shift in 0u32..64) {
            let b = if b % 2 == 0 { b >> shift } else { a.wrapping_add(b >> shift) };
            let Change(Some(Tenths { negative, tenths })) = Change::of_integers(Some(a), Some(b)) else {
                return Err(TestCaseError::fail("a change exists"));
            };
            // |tenths / 1000 - d / a| <= 1 / 2000, the tie only upwards.
            let scaled = 1000 * i128::from(a.abs_diff(b));
            let error = 2 * (tenths as i128 * i128::from(a) - scaled);
            prop_assert!(-i128::from(a) < error && error <= i128::from(a));
            prop_assert!(tenths == 0 || negative == (b < a));
        }

        #[test]
        fn doubles_agree_with_integers(a in 0u64..1 << 53, b in 0u64..1 << 53, bits in 0u32..53, exponent in -1000i32..900) {
            let (a, b) = (a >> bits, b >> bits);
            let scale = libm::ldexp(1.0, exponent);
            prop_assert_eq!(Change::of_floats(a as f64 * scale, b as f64 * scale), Change::of_integers(Some(a), Some(b)));
            // Below zero the larger is the smaller.
            let Change(below) = Change::of_floats(-(a as f64) * scale, -(b as f64) * scale);
            let Change(above) = Change::of_integers(Some(a), Some(b));
            let mirrored = above.map(|Tenths { negative, tenths }| Tenths { negative: !negative && tenths != 0, tenths });
            prop_assert_eq!(below, mirrored);
        }

        #[test]
        fn near_ties_are_decided_exactly(tenths in 1u64..10_000, base in 1u64..1 << 30) {
            // a = 2000 base, b = a + (2 tenths - 1) base is (tenths - 1/2) tenths of a per cent: up; one ulp less: down.
            let a = (2000 * base) as f64;
            let b = a + ((2 * tenths - 1) * base) as f64;
            prop_assert_eq!(Change::of_floats(a, b).0.unwrap().tenths, u128::from(tenths));
            prop_assert_eq!(Change::of_floats(a, b.next_down()).0.unwrap().tenths, u128::from(tenths - 1));
        }

        #[test]
        fn no_bit_pattern_panics(a: u64, b: u64) {
            let (a, b) = (f64::from_bits(a), f64::from_bits(b));
            let _ = Change::of_floats(a, b).to_string();
        }
    }
}
