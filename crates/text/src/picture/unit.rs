//! Values with their units, as labels of axes.

use core::fmt::{Display, from_fn};

use crate::unit::{self, prefix};
use picollo_core::seam::Decimal;

/// The unit of values.
#[derive(Clone, Copy)]
pub(super) struct Unit<'a> {
    /// As it was given.
    pub(super) name: &'a str,
    /// For a unit of time, the power of ten of a second.
    seconds: Option<i32>,
    ascii: bool,
}

impl<'a> Unit<'a> {
    pub(super) fn new(name: &'a str, ascii: bool) -> Unit<'a> {
        let unit = unit::Unit::new(name);
        Unit { name: unit.name(), seconds: unit.seconds(), ascii }
    }

    /// Whether labels show the unit themselves.
    pub(super) fn is_time(&self) -> bool {
        self.seconds.is_some()
    }

    /// A value with enough decimals to distinguish it from another that is `step` away, in units that fit `like`.
    pub(super) fn label(self, value: f64, step: f64, like: f64) -> impl Display {
        from_fn(move |f| {
            if value == 0.0 {
                return f.write_str("0");
            }
            let base = self.seconds.unwrap_or(0);
            let magnitude = floor_log10(like.max(1.0)) + base;
            // Four digits are easier to read without a prefix.
            let is_plain = (0..4).contains(&magnitude);
            let power = if is_plain { 0 } else { (magnitude.div_euclid(3) * 3).clamp(-12, 18) };
            let decimals = (power - base - floor_log10(step)).clamp(0, 6);
            if let Some(value) = Decimal::new(value) {
                value.shifted(base - power).rounded(decimals).write(f, decimals as u32)?;
            }
            let prefix = prefix(power);
            let prefix = if self.ascii && prefix == "µ" { "u" } else { prefix };
            if self.is_time() { write!(f, " {prefix}s") } else { f.write_str(prefix) }
        })
    }

    /// A single value, with three or four digits.
    pub(super) fn rough(self, value: f64) -> impl Display {
        let step = power_of_ten(floor_log10(value.max(1.0)) - 2).max(1.0);
        self.label(value, step, value)
    }
}

/// The exponent of the largest power of ten that is at most a positive number; a tiny bit below a power counts as it.
pub(super) fn floor_log10(number: f64) -> i32 {
    libm::floor(libm::log10(number) + 1e-9) as i32
}

/// Exact up to `10^22`.
pub(super) fn power_of_ten(exponent: i32) -> f64 {
    let power = (0..exponent.unsigned_abs().min(300)).fold(1.0, |power, _| power * 10.0);
    if exponent < 0 { 1.0 / power } else { power }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn labels() {
        let (none, ns, s) = (Unit::new(" cycles", false), Unit::new("ns", false), Unit::new("s", true));
        for (unit, value, step, text) in [
            (none, 0.0, 1.0, "0"),
            (none, 9152.0, 1.0, "9,152"),
            (none, 10_000.0, 5_000.0, "10k"),
            (none, 12_500.0, 500.0, "12.5k"),
            (none, 18_446_744_073_709_551_615.0, 1e17, "18.4E"),
            (ns, 1.0, 1.0, "1 ns"),
            (ns, 1_500.0, 100.0, "1.5 µs"),
            (ns, 2e9, 2e9, "2 s"),
            (ns, 3.6e12, 1e11, "3,600 s"),
            (s, 20_000.0, 1e4, "20 ks"),
            (Unit::new("us", true), 5.0, 1.0, "5 us"),
        ] {
            assert_eq!(unit.label(value, step, value).to_string(), text);
        }
        assert_eq!(ns.label(500.0, 500.0, 2_000.0).to_string(), "0.5 µs");
        assert_eq!(none.rough(1_003_520.0).to_string(), "1.00M");
        assert_eq!(none.rough(7.0).to_string(), "7");
        assert!(ns.is_time() && !none.is_time());
    }
}
