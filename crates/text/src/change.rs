//! Differences between two summaries: relative changes and the effect size.

use core::fmt;

use picollo_core::Summary;
use picollo_core::seam::{Fixed, Grouped, NOT_AVAILABLE};
use picollo_core::snapshots::Moments;

/// The relative change `(b - a) / |a|` in percent with a sign and one decimal, rounded half away from zero.
///
/// It prints `0.0%` if it rounds to zero, and `n/a` if `a` is zero and `b` is not, or if either is missing.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Change {
    Unknown,
    /// Tenths of a percent, and whether it is a decrease.
    Tenths(bool, u128),
    /// In percent.
    Percent(f64),
}

impl Change {
    /// The change from one integer to another; exact.
    pub(super) fn from_integers(a: Option<u64>, b: Option<u64>) -> Change {
        let (Some(a), Some(b)) = (a, b) else { return Change::Unknown };
        let difference = u128::from(a.abs_diff(b));
        match (difference, u128::from(a)) {
            (0, _) => Change::Tenths(false, 0),
            (_, 0) => Change::Unknown,
            // Half away from zero: floor(x + 1/2) of the magnitude, with everything doubled.
            (_, base) => Change::Tenths(b < a, (2000 * difference + base) / (2 * base)),
        }
    }

    /// The change from one double to another; exact for whole numbers of at most 53 bits, else as exact as their
    /// percentage.
    pub(super) fn from_floats(a: f64, b: f64) -> Change {
        let whole = |number: f64| {
            let is_whole = (0.0..=9_007_199_254_740_992.0).contains(&number) && libm::trunc(number) == number;
            is_whole.then_some(number as u64)
        };
        if let (Some(a), Some(b)) = (whole(a), whole(b)) {
            return Change::from_integers(Some(a), Some(b));
        }
        // A change with too many digits to print has no meaning.
        let percent = percent_of_floats(a, b).filter(|percent| percent.abs() < 1e37);
        percent.map_or(Change::Unknown, Change::Percent)
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Change::Unknown => f.write_str(NOT_AVAILABLE),
            Change::Tenths(_, 0) => f.write_str("0.0%"),
            Change::Tenths(is_fall, tenths) => {
                let sign = if is_fall { '-' } else { '+' };
                write!(f, "{sign}{}.{}%", Grouped(tenths / 10), tenths % 10)
            }
            // A twentieth is the smallest number that does not round to zero.
            Change::Percent(percent) => {
                write!(f, "{}{}%", if percent >= 0.05 { "+" } else { "" }, Fixed::new(percent, 1))
            }
        }
    }
}

/// `(b - a) / |a| * 100`, for programs; `None` if it does not exist.
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

/// Cohen's d of two summaries; see [`picollo_stats::Comparison::cohens_d`].
///
/// NaN if either summary is empty or the pooled deviation is zero.
pub(super) fn cohens_d(a: &Summary, b: &Summary) -> f64 {
    let moments = |summary: &Summary| Moments { mean: super::mean(summary), stddev: summary.stddev };
    picollo_stats::cohens_d(a.total_count as f64, moments(a), b.total_count as f64, moments(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use proptest::prelude::*;
    use std::string::ToString;

    fn integers(a: u64, b: u64) -> std::string::String {
        Change::from_integers(Some(a), Some(b)).to_string()
    }

    #[test]
    fn signs_zeros_and_ties() {
        for (a, b, text) in [
            (0, 0, "0.0%"),
            (0, 1, "n/a"),
            (1, 0, "-100.0%"),
            (10_000, 10_005, "+0.1%"),
            (10_000, 9_995, "-0.1%"),
            (1, u64::MAX, "+1,844,674,407,370,955,161,400.0%"),
            (u64::MAX, 0, "-100.0%"),
        ] {
            assert_eq!(integers(a, b), text, "{a} {b}");
        }
        assert_eq!(Change::from_integers(None, Some(1)).to_string(), "n/a");
        assert_eq!(Change::from_integers(Some(1), None).to_string(), "n/a");
        for (a, b, text) in [
            (0.0, 0.0, "0.0%"),
            (0.0, -0.0, "0.0%"),
            (0.0, 5e-324, "n/a"),
            (f64::NAN, 1.0, "n/a"),
            (1.0, f64::INFINITY, "n/a"),
            // An increase is positive and a decrease negative, for negative values too.
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
            (1e-30, 1e-10, "+10,000,000,000,000,000,000,000.0%"),
            (2000.0, 2001.0, "+0.1%"),
            // The double 0.15 is less than 0.15.
            (2000.0, 2003.0, "+0.2%"),
            (2000.0, 1999.0, "-0.1%"),
            (2000.0, 2_000.999_999, "0.0%"),
        ] {
            assert_eq!(Change::from_floats(a, b).to_string(), text, "{a} {b}");
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
            let Change::Tenths(is_fall, tenths) = Change::from_integers(Some(a), Some(b)) else {
                return Err(TestCaseError::fail("a change exists"));
            };
            // |tenths / 1000 - d / a| <= 1 / 2000, the tie only upwards.
            let scaled = 1000 * i128::from(a.abs_diff(b));
            let error = 2 * (tenths as i128 * i128::from(a) - scaled);
            prop_assert!(-i128::from(a) < error && error <= i128::from(a));
            prop_assert!(tenths == 0 || is_fall == (b < a));
            let whole = |number: u64| number >> 11;
            prop_assert_eq!(
                Change::from_floats(whole(a) as f64, whole(b) as f64),
                Change::from_integers(Some(whole(a)), Some(whole(b)))
            );
            let Change::Percent(percent) = Change::from_floats(a as f64 * 1e-30, b as f64 * 1e-30) else {
                return Err(TestCaseError::fail("a change exists"));
            };
            let exact = if is_fall { -(tenths as f64) } else { tenths as f64 } / 10.0;
            prop_assert!((percent - exact).abs() <= 0.051 + exact.abs() * 1e-12, "{percent} {exact}");
        }

        #[test]
        fn no_bit_pattern_panics(a: u64, b: u64) {
            let (a, b) = (f64::from_bits(a), f64::from_bits(b));
            let _ = Change::from_floats(a, b).to_string();
        }
    }
}
