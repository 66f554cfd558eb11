//! Numbers as text.

use core::fmt::{self, Display, Write};

use picollo_core::seam::BufferWriter;

/// A number in the standard's canonical form, which is that of Go: the shortest digits that read back as the same
/// double, with a decimal point from 0.0001 to 100000.0, and with a two-digit exponent beyond.
pub(super) struct Number(pub(super) f64);

impl Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Number(value) = *self;
        if value == 0.0 {
            return f.write_str("0.0");
        }
        if (1e-4..1e6).contains(&value.abs()) {
            return write!(f, "{value:?}");
        }
        if !value.is_finite() {
            return f.write_str(if value.is_nan() {
                "NaN"
            } else if value > 0.0 {
                "+Inf"
            } else {
                "-Inf"
            });
        }
        // The longest number has a sign, 17 digits, a point, a sign and an exponent.
        let mut bytes = [0; 32];
        let mut shortest = BufferWriter::new(&mut bytes);
        write!(shortest, "{value:e}")?;
        let (digits, exponent) = shortest.as_str().split_once('e').unwrap_or((shortest.as_str(), "0"));
        let (sign, exponent) = match exponent.strip_prefix('-') {
            Some(exponent) => ('-', exponent),
            None => ('+', exponent),
        };
        write!(f, "{digits}e{sign}{exponent:0>2}")
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn numbers() {
        for (value, text) in [
            (0.0, "0.0"),
            (-0.0, "0.0"),
            (1.0, "1.0"),
            (-2.5, "-2.5"),
            (0.001, "0.001"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (100_000.0, "100000.0"),
            (1e6, "1e+06"),
            (-1e6, "-1e+06"),
            (1_048_575.0, "1.048575e+06"),
            (1e10, "1e+10"),
            (1.5e-300, "1.5e-300"),
            (-2.2250738585072014e-308, "-2.2250738585072014e-308"),
            (u64::MAX as f64, "1.8446744073709552e+19"),
            (f64::INFINITY, "+Inf"),
            (f64::NEG_INFINITY, "-Inf"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(Number(value).to_string(), text);
        }
    }
}
