//! Exact decimal numbers, rounded once, half away from zero.

use core::fmt::{self, Write};

use super::buffer::BufferWriter;

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
    use crate::format::exact::{exact, naive_round};
    use proptest::prelude::*;
    use std::string::{String, ToString};

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
        fn roundings_are_those_of_all_digits(
            value in prop_oneof![
                -1e9f64..1e9,
                (-4_000_000i64..4_000_000, 0u32..8).prop_map(|(m, e)| m as f64 / f64::from(1 << e)),
                any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |value| value.is_finite()),
            ],
            decimals in -20i32..20,
        ) {
            let (whole, fraction) = exact(value);
            let (whole, fraction) = naive_round(&whole, &fraction, decimals);
            let rounded = Decimal::new(value).unwrap().rounded(decimals);
            // Only the first 41 digits of a large number are kept, and the last of these is rounded. With more
            // decimals, it is more likely that only nines, or a five, lie in between.
            if Decimal::new(value).unwrap().magnitude() + decimals >= 25 {
                return Ok(());
            }
            let text = written(rounded, 0).replace([',', '−'], "");
            let (got, got_fraction) = text.split_once('.').unwrap_or((&text, ""));
            let digits = |of: &[u8]| of.iter().map(ToString::to_string).collect::<String>();
            let (whole, fraction) = (digits(&whole), digits(&fraction));
            prop_assert_eq!(got.trim_start_matches('0'), whole.trim_start_matches('0'));
            prop_assert_eq!(got_fraction, fraction.trim_end_matches('0'));
            prop_assert_eq!(rounded.is_negative(), value < 0.0 && !rounded.is_zero());
        }
    }
}
