//! Numbers for people: grouped integers, and decimals rounded half away from zero.
//!
//! A double is an integer times a power of two, so integer arithmetic decides how its decimals round. `{:.4}` would
//! round ties to even, and multiplying by 100 first would round twice.

use core::fmt::{self, Write};

use super::decimal::Decimal;

/// Stands for a number that does not exist.
pub const NOT_AVAILABLE: &str = "n/a";

/// Most decimals that [`Fixed`] can show; `10^MAX_DECIMALS` leaves room in the 128-bit arithmetic of [`round`].
const MAX_DECIMALS: u32 = 6;

/// An integer with its digits grouped by commas.
pub struct Grouped(pub u128);

impl Grouped {
    /// The longest text: the 39 digits of `u128::MAX` and 12 commas.
    const CAPACITY: usize = 39 + 12;
}

impl From<u64> for Grouped {
    fn from(value: u64) -> Self {
        Grouped(value.into())
    }
}

impl fmt::Display for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Filled from the end; the first `start` bytes stay unused.
        let mut text = [b','; Grouped::CAPACITY];
        let mut start = text.len();
        let mut rest = self.0;
        let mut digits = 0;
        for byte in text.iter_mut().rev() {
            start -= 1;
            if digits == 3 {
                digits = 0;
                continue;
            }
            *byte = b'0' + (rest % 10) as u8;
            rest /= 10;
            digits += 1;
            if rest == 0 {
                break;
            }
        }
        let text = text.get(start..).and_then(|text| core::str::from_utf8(text).ok());
        f.write_str(text.unwrap_or_default())
    }
}

/// A grouped integer that may be missing.
pub struct Maybe(pub Option<u64>);

impl fmt::Display for Maybe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(value) => Grouped::from(value).fmt(f),
            None => f.write_str(NOT_AVAILABLE),
        }
    }
}

/// A double with grouped integer digits and a fixed number of decimals, rounded exactly, half away from zero.
///
/// It shows `n/a` if the value is not finite, and scientific notation from 2^128 on. Zero has no sign.
pub struct Fixed {
    value: f64,
    factor: u8,
    decimals: u32,
    least_decimals: u32,
}

impl Fixed {
    /// Shows exactly `decimals` (at most 6) decimals.
    pub const fn new(value: f64, decimals: u32) -> Fixed {
        Fixed { value, factor: 1, decimals, least_decimals: decimals }
    }

    /// Shows up to `decimals` decimals, without trailing zeros.
    pub const fn trimmed(value: f64, decimals: u32) -> Fixed {
        Fixed { value, factor: 1, decimals, least_decimals: 0 }
    }

    /// Shows a percentile rank, with up to 6 decimals.
    pub const fn rank(rank: f64) -> Fixed {
        Fixed::trimmed(rank, 6)
    }

    /// Shows exactly 100 times the value, with 1 to 4 decimals.
    pub const fn percentage(value: f64) -> Fixed {
        Fixed { value, factor: 100, decimals: 4, least_decimals: 1 }
    }
}

impl fmt::Display for Fixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((negative, mantissa, exponent)) = parts(self.value) else {
            return f.write_str(NOT_AVAILABLE);
        };
        let decimals = self.decimals.min(MAX_DECIMALS);
        let Some((integer, mut fraction)) = round(mantissa * u64::from(self.factor), exponent, decimals)
        else {
            // This is far beyond any value that can be recorded, so one more rounding does not matter.
            let product = self.value * f64::from(self.factor);
            return if product.is_finite() { write!(f, "{product:e}") } else { f.write_str(NOT_AVAILABLE) };
        };
        if negative && (integer, fraction) != (0, 0) {
            f.write_char('-')?;
        }
        Grouped(integer).fmt(f)?;
        let mut shown = decimals;
        while shown > self.least_decimals && fraction % 10 == 0 {
            fraction /= 10;
            shown -= 1;
        }
        match shown {
            0 => Ok(()),
            _ => write!(f, ".{fraction:0width$}", width = shown as usize),
        }
    }
}

/// A double with four significant digits, or all before the point, without zeros at the end; `n/a` if it is not finite.
#[cfg(feature = "alloc")]
pub struct Rounded(pub f64);

#[cfg(feature = "alloc")]
impl fmt::Display for Rounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Decimal::new(self.0) {
            Some(value) => write_rounded(f, value),
            None => f.write_str(NOT_AVAILABLE),
        }
    }
}

/// Four significant digits, or all before the point, without zeros at the end.
pub fn write_rounded(out: &mut dyn Write, value: Decimal) -> fmt::Result {
    let rounded = value.rounded((3 - value.magnitude()).max(0));
    if (-5..16).contains(&rounded.magnitude()) {
        rounded.write(out, 0)
    } else {
        write_scientific(out, value, 4)
    }
}

/// As many significant digits, and an exponent.
pub fn write_scientific(out: &mut dyn Write, value: Decimal, digits: i32) -> fmt::Result {
    let rounded = value.significant(digits);
    rounded.shifted(-rounded.magnitude()).write(out, 0)?;
    write!(out, "e{}", rounded.magnitude())
}

/// Maps signed to unsigned so that small magnitudes stay small: 0, -1, 1, -2, 2, … become 0, 1, 2, 3, 4, …
pub const fn zigzag(value: i64) -> u64 {
    ((value as u64) << 1) ^ (value >> 63) as u64
}

/// Returns the sign, the mantissa below 2^53, and the binary exponent of a finite double.
fn parts(value: f64) -> Option<(bool, u64, i32)> {
    const FRACTION: u64 = (1 << 52) - 1;
    if !value.is_finite() {
        return None;
    }
    let bits = value.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let (mantissa, exponent) = match exponent {
        0 => (bits & FRACTION, -1074),
        _ => (bits & FRACTION | (FRACTION + 1), exponent - 1075),
    };
    Some((bits >> 63 != 0, mantissa, exponent))
}

/// Returns `mantissa * 2^exponent`, for a mantissa below 2^60, as its integer part and its first `decimals` (at most 6)
/// decimals, rounded half up. Returns `None` if the integer part does not fit.
fn round(mantissa: u64, exponent: i32, decimals: u32) -> Option<(u128, u32)> {
    let mantissa = u128::from(mantissa);
    if mantissa == 0 {
        return Some((0, 0));
    }
    let shift = exponent.unsigned_abs();
    if exponent >= 0 {
        return if shift <= mantissa.leading_zeros() { Some((mantissa << shift, 0)) } else { None };
    }
    if shift > 127 {
        // The mantissa times 10^6 has fewer than 80 bits, so the value is below half of the last decimal.
        return Some((0, 0));
    }
    let power = 10u128.pow(decimals);
    let integer = mantissa >> shift;
    let remainder = mantissa & ((1 << shift) - 1);
    let fraction = (remainder * power + (1 << (shift - 1))) >> shift;
    if fraction == power { Some((integer + 1, 0)) } else { Some((integer, fraction as u32)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::exact::{exact, naive_round};
    use proptest::prelude::*;
    use std::string::{String, ToString};
    use std::{format, vec::Vec};

    /// Groups by inserting commas from the right.
    fn naive_grouping(digits: &str) -> String {
        let mut reversed = Vec::new();
        for (position, digit) in digits.chars().rev().enumerate() {
            if position > 0 && position % 3 == 0 {
                reversed.push(',');
            }
            reversed.push(digit);
        }
        reversed.iter().rev().collect()
    }

    /// Rounds from all digits of the double, one by one.
    fn naive_decimals(value: f64, decimals: usize) -> String {
        let (whole, fraction) = exact(value);
        let (whole, fraction) = naive_round(&whole, &fraction, decimals as i32);
        let digits = |digits: &[u8]| digits.iter().map(ToString::to_string).collect::<String>();
        let (whole, fraction) = (digits(&whole), digits(&fraction[..decimals]));
        let sign = if value < 0.0 && format!("{whole}{fraction}").contains(|c| c != '0') { "-" } else { "" };
        let point = if decimals > 0 { "." } else { "" };
        let whole = whole.trim_start_matches('0');
        format!("{sign}{}{point}{fraction}", naive_grouping(if whole.is_empty() { "0" } else { whole }))
    }

    /// Returns the value, or a smaller one if the value would be in scientific notation.
    fn below_2_to_128(value: f64) -> f64 {
        match value.abs() {
            magnitude if magnitude < u128::MAX as f64 => value,
            magnitude if magnitude.is_finite() => 1.0 / value,
            _ => 0.5,
        }
    }

    #[test]
    fn ties_go_away_from_zero_on_the_exact_value() {
        for (value, decimals, text) in [
            (-0.125, 2, "-0.13"),
            // The nearest double is below 0.285, although 0.285 * 100 suggests otherwise. The same holds for 1.005.
            (0.285, 2, "0.28"),
            (1.005, 2, "1.00"),
            (-0.0, 1, "0.0"),
            (1e300, 2, "1e300"),
            (-f64::MAX, 2, "-1.7976931348623157e308"),
            (f64::NAN, 2, "n/a"),
            (f64::INFINITY, 2, "n/a"),
            (f64::NEG_INFINITY, 2, "n/a"),
        ] {
            assert_eq!(Fixed::new(value, decimals).to_string(), text, "{value:?}");
        }
    }

    #[test]
    fn trailing_zeros() {
        for (rank, text) in [
            (0.0, "0"),
            (100.0, "100"),
            (92.5, "92.5"),
            (99.999, "99.999"),
            (99.999_999, "99.999999"),
            (99.999_999_9, "100"),
            (10.0, "10"),
            (f64::NAN, "n/a"),
        ] {
            assert_eq!(Fixed::rank(rank).to_string(), text);
        }
        for (scale, text) in
            [(0, "50.0"), (3, "6.25"), (6, "0.7813"), (9, "0.0977"), (12, "0.0122"), (19, "0.0001")]
        {
            assert_eq!(Fixed::percentage(0.5 / f64::from(1 << scale)).to_string(), text);
        }
        assert_eq!(Fixed::percentage(0.0).to_string(), "0.0");
        assert_eq!(Fixed::percentage(f64::NAN).to_string(), "n/a");
        assert_eq!(Fixed::percentage(1e300).to_string(), "1e302");
        assert_eq!(Fixed::percentage(f64::MAX).to_string(), "n/a");
    }

    proptest! {
        #[test]
        fn grouping_is_inserting_commas(value: u128, shift in 0u32..128) {
            let value = value >> shift;
            prop_assert_eq!(Grouped(value).to_string(), naive_grouping(&value.to_string()));
        }

        #[test]
        fn decimals_are_those_of_the_exact_expansion(
            value in prop_oneof![
                -1e6f64..1e6,
                // This makes many ties: a few bits after the point.
                (-4_000_000_000i64..4_000_000_000, 0u32..8).prop_map(|(m, e)| m as f64 / f64::from(1 << e)),
                any::<u64>().prop_map(|bits| below_2_to_128(f64::from_bits(bits))),
            ],
            decimals in 0usize..=6,
        ) {
            prop_assert_eq!(Fixed::new(value, decimals as u32).to_string(), naive_decimals(value, decimals));
        }
    }
}
