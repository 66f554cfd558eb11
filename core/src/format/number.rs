//! Numbers for people: grouped integers, and exact decimals, rounded once, half away from zero.
//!
//! A double is an integer times a power of two, so integer arithmetic decides how its decimals round. `{:.4}` would
//! round ties to even, and multiplying by 100 first would round twice.

use core::fmt::{self, Write};

use super::buffer::BufferWriter;

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
            f.write_str(if negative { "-" } else { "" })?;
            // At most 17 digits, which read back as the same double.
            let large = Decimal::shortest(self.value);
            return write_scientific(f, large.shifted(if self.factor == 100 { 2 } else { 0 }), 17);
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

/// The number of digits kept of a double. An exact tie of four digits or fewer has at most this many digits. No other
/// number is so close to a tie that more digits are needed to see on which side it lies.
const DIGITS: usize = 41;

/// The minus sign of numbers for people.
pub(crate) const MINUS: &str = "−";

/// A finite number: `0.d1d2d3… × 10^point`, with `d1` not 0; without digits it is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    negative: bool,
    digits: [u8; DIGITS],
    length: usize,
    /// Digits before the decimal point.
    point: i32,
}

impl From<u64> for Decimal {
    fn from(value: u64) -> Self {
        let mut text = [0; DIGITS];
        let mut out = BufferWriter::new(&mut text);
        // This fits: at most 20 digits.
        let _ = write!(out, "{value}");
        Decimal::parsed(out.as_str(), 0)
    }
}

impl Decimal {
    const ZERO: Decimal = Decimal { negative: false, digits: [0; DIGITS], length: 0, point: 0 };

    /// Returns `None` if the value is not finite.
    pub fn new(value: f64) -> Option<Decimal> {
        if !value.is_finite() {
            return None;
        }
        Some(Decimal {
            negative: value < 0.0,
            ..Decimal::scientific(format_args!("{:.*e}", DIGITS - 1, value.abs()))
        })
    }

    /// Returns the shortest digits that distinguish a finite number from its neighbors, without its sign.
    pub fn shortest(value: f64) -> Decimal {
        Decimal::scientific(format_args!("{:e}", value.abs()))
    }

    /// Parses digits with an exponent.
    fn scientific(number: fmt::Arguments<'_>) -> Decimal {
        // One digit, the point, the others, and an exponent such as e-308.
        let mut text = [0; DIGITS + 8];
        let mut out = BufferWriter::new(&mut text);
        let _ = out.write_fmt(number);
        let (digits, exponent) = out.as_str().split_once('e').unwrap_or(("0", "0"));
        Decimal::parsed(digits, exponent.parse().unwrap_or(0))
    }

    /// Parses digits with or without a point, times a power of ten. Only zero begins with a zero.
    fn parsed(text: &str, exponent: i32) -> Decimal {
        let mut decimal = Decimal::ZERO;
        for (slot, digit) in decimal.digits.iter_mut().zip(text.bytes().filter(u8::is_ascii_digit)) {
            *slot = digit - b'0';
            decimal.length += 1;
        }
        decimal.point = text.find('.').unwrap_or(text.len()) as i32 + exponent;
        decimal.trimmed()
    }

    /// Removes zeros at the end.
    fn trimmed(mut self) -> Decimal {
        while let Some(0) = self.length.checked_sub(1).and_then(|last| self.digits.get(last)) {
            self.length -= 1;
        }
        if self.length == 0 { Decimal::ZERO } else { self }
    }

    /// Whether it is zero.
    pub const fn is_zero(&self) -> bool {
        self.length == 0
    }

    /// Whether it is below zero.
    pub const fn is_negative(&self) -> bool {
        self.negative
    }

    /// Returns it without its sign.
    pub const fn abs(self) -> Decimal {
        Decimal { negative: false, ..self }
    }

    /// Returns the power of ten of the first digit; 0 for zero.
    pub const fn magnitude(&self) -> i32 {
        if self.length == 0 { 0 } else { self.point - 1 }
    }

    /// The number of digits after the point.
    pub fn decimals(&self) -> u32 {
        (self.length as i32 - self.point).max(0) as u32
    }

    /// Multiplies by a power of ten.
    pub const fn shifted(self, power: i32) -> Decimal {
        if self.length == 0 { self } else { Decimal { point: self.point + power, ..self } }
    }

    /// Rounds to this many significant digits.
    pub fn significant(self, digits: i32) -> Decimal {
        self.rounded(digits - self.point)
    }

    /// Rounds to this many decimals; a negative number makes zeros before the point.
    pub fn rounded(mut self, decimals: i32) -> Decimal {
        let kept = self.point.saturating_add(decimals);
        if kept < 0 {
            return Decimal::ZERO;
        }
        let kept = kept as usize;
        if kept >= self.length {
            return self;
        }
        let is_up = self.digits.get(kept).is_some_and(|&digit| digit >= 5);
        self.length = kept;
        if !is_up {
            return self.trimmed();
        }
        while let Some(last) = self.length.checked_sub(1).and_then(|last| self.digits.get_mut(last)) {
            if *last < 9 {
                *last += 1;
                return self;
            }
            self.length -= 1;
        }
        // The digits were nines that carried, or no digit was kept: the result is a one in front.
        self.digits = [0; DIGITS];
        self.digits[0] = 1;
        self.length = 1;
        self.point += 1;
        self
    }

    /// Writes the number without further rounding, with at least `decimals` decimals and grouped thousands.
    pub fn write(&self, out: &mut dyn Write, decimals: u32) -> fmt::Result {
        out.write_str(if self.negative { MINUS } else { "" })?;
        self.write_digits(out, decimals, ",")
    }

    /// Does the same as [`Decimal::write`], without a sign.
    pub fn write_digits(&self, out: &mut dyn Write, decimals: u32, separator: &str) -> fmt::Result {
        // Digits that are not kept are zeros.
        let digit = |at: i32| match usize::try_from(at) {
            Ok(at) if at < self.length => self.digits.get(at).copied().unwrap_or(0),
            _ => 0,
        };
        let whole = self.point.max(1);
        for at in 0..whole {
            out.write_str(if at > 0 && (whole - at) % 3 == 0 { separator } else { "" })?;
            out.write_char(char::from(b'0' + digit(at + self.point - whole)))?;
        }
        let decimals = decimals.max(self.decimals());
        if decimals > 0 {
            out.write_char('.')?;
        }
        (0..decimals as i32).try_for_each(|at| out.write_char(char::from(b'0' + digit(at + self.point))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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

    /// Rounds a double as taught in school, half up, from all its digits: at most 309 before and 1074 after the point.
    /// Returns the digits before and after the point, without zeros at the ends.
    fn naive_round(value: f64, decimals: i32) -> (String, String) {
        let text = format!("{:.1074}", value.abs());
        let (whole, fraction) = text.split_once('.').unwrap();
        // One more digit in front, for the carry.
        let mut all: Vec<u8> = ["0", whole, fraction].concat().bytes().map(|byte| byte - b'0').collect();
        let point = whole.len() + 1;
        let at = point as i32 + decimals;
        if at < 0 {
            return (String::new(), String::new());
        }
        let is_up = all.get(at as usize).is_some_and(|&digit| digit >= 5);
        all.iter_mut().skip(at as usize).for_each(|digit| *digit = 0);
        for digit in all[..at as usize].iter_mut().rev().take_while(|_| is_up) {
            *digit = (*digit + 1) % 10;
            if *digit != 0 {
                break;
            }
        }
        let digits = |digits: &[u8]| digits.iter().map(ToString::to_string).collect::<String>();
        let (whole, fraction) = (digits(&all[..point]), digits(&all[point..]));
        (whole.trim_start_matches('0').into(), fraction.trim_end_matches('0').into())
    }

    #[test]
    fn fixed_decimals() {
        for (value, decimals, text) in [
            (-0.125, 2, "-0.13"),
            // The nearest double is below 0.285, although 0.285 * 100 suggests otherwise. The same holds for 1.005.
            (0.285, 2, "0.28"),
            (1.005, 2, "1.00"),
            (-0.0, 1, "0.0"),
            (-0.01, 1, "0.0"),
            (-1_234_567.125, 2, "-1,234,567.13"),
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
        for (value, text) in
            [(0.0, "0.0"), (f64::NAN, "n/a"), (1e300, "1e302"), (f64::MAX, "1.7976931348623157e310")]
        {
            assert_eq!(Fixed::percentage(value).to_string(), text);
        }
    }

    fn written(decimal: Decimal, decimals: u32) -> String {
        let mut text = String::new();
        decimal.write(&mut text, decimals).unwrap();
        text
    }

    #[test]
    fn digits_and_points() {
        for (value, decimals, text) in [
            (0.0, 0, "0"),
            (-0.0, 2, "0.00"),
            (0.5, 0, "1"),
            (-0.5, 0, "−1"),
            (1234567.0, 0, "1,234,567"),
            (1e15, 1, "1,000,000,000,000,000.0"),
        ] {
            let decimal = Decimal::new(value).unwrap().rounded(decimals as i32);
            assert_eq!(written(decimal, decimals), text, "{value:?}");
        }
        assert_eq!(written(Decimal::from(u64::MAX), 0), "18,446,744,073,709,551,615");
        assert_eq!(written(Decimal::from(u64::MAX).significant(3), 0), "18,400,000,000,000,000,000");
        assert_eq!(Decimal::new(f64::NAN), None);
        assert_eq!(Decimal::new(f64::NEG_INFINITY), None);
        assert_eq!((Decimal::from(0).magnitude(), Decimal::from(999).magnitude()), (0, 2));
    }

    proptest! {
        #[test]
        fn grouping_is_inserting_commas(value: u128, shift in 0u32..128) {
            let value = value >> shift;
            prop_assert_eq!(Grouped(value).to_string(), naive_grouping(&value.to_string()));
        }

        #[test]
        fn roundings_are_those_of_all_digits(
            value in prop_oneof![
                -1e9f64..1e9,
                // This makes many ties: a few bits after the point.
                (-4_000_000_000i64..4_000_000_000, 0u32..8).prop_map(|(m, e)| m as f64 / f64::from(1 << e)),
                any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |value| value.is_finite()),
            ],
            decimals in -20i32..20,
        ) {
            let decimal = Decimal::new(value).unwrap();
            // Only the first 41 digits of a large number are kept, and the last of these is rounded. With more
            // decimals, it is more likely that only nines, or a five, lie in between.
            if decimal.magnitude() + decimals >= 25 {
                return Ok(());
            }
            let (whole, fraction) = naive_round(value, decimals);
            let rounded = decimal.rounded(decimals);
            let text = written(rounded, 0);
            prop_assert_eq!(rounded.is_negative(), value < 0.0 && !rounded.is_zero());
            prop_assert_eq!(rounded.is_negative(), text.starts_with(MINUS));
            let (found, found_fraction) = text.trim_start_matches(MINUS).split_once('.').unwrap_or((&text, ""));
            let found = found.trim_start_matches(MINUS);
            prop_assert_eq!(found, naive_grouping(if whole.is_empty() { "0" } else { &whole }));
            prop_assert_eq!(found_fraction, &fraction);
            // The fast form for a few decimals is the same, with its own sign and all zeros.
            if (0..=6).contains(&decimals) && value.abs() < u128::MAX as f64 {
                let (sign, width) = (if rounded.is_negative() { "-" } else { "" }, decimals as usize);
                let point = if decimals > 0 { "." } else { "" };
                prop_assert_eq!(
                    Fixed::new(value, decimals as u32).to_string(),
                    format!("{sign}{found}{point}{fraction:0<width$}")
                );
            }
        }
    }
}
