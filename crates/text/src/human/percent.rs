//! Shares and ratios for people.

use core::fmt::{self, Display, Write};

use picollo_core::seam::Decimal;
use picollo_core::seam::NOT_AVAILABLE;

/// The decimals that give the largest of these percentages three digits; at least one below 100. Adjacent numbers then
/// line up.
pub(super) fn decimals_of(percents: &[f64]) -> u32 {
    let largest = percents.iter().filter(|percent| percent.is_finite()).map(|percent| libm::fabs(*percent));
    match largest.fold(0.0, f64::max) {
        largest if largest >= 100.0 => 0,
        largest if largest >= 1.0 || largest == 0.0 => 1,
        largest if largest >= 0.1 => 2,
        largest if largest >= 0.01 => 3,
        _ => 4,
    }
}

/// A percentage, with a sign and without the percent sign.
pub(super) struct Percent {
    pub value: f64,
    pub decimals: u32,
    pub is_signed: bool,
}

impl Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(value) = Decimal::new(self.value) else { return f.write_str(NOT_AVAILABLE) };
        // For very large values, more digits are only noise.
        if value.magnitude() >= 9 {
            write!(f, "{}10^{}", if value.is_negative() { "−" } else { "+" }, value.magnitude())?;
            return Ok(());
        }
        let rounded = value.rounded(self.decimals as i32);
        if self.is_signed && !rounded.is_negative() && !rounded.is_zero() {
            f.write_char('+')?;
        }
        rounded.write(f, if rounded.is_zero() { 0 } else { self.decimals })
    }
}

/// A single percentage.
pub(super) fn signed(value: f64) -> Percent {
    Percent { value, decimals: decimals_of(&[value]), is_signed: true }
}

/// The same without a sign.
pub(super) fn unsigned(value: f64) -> Percent {
    let value = libm::fabs(value);
    Percent { value, decimals: decimals_of(&[value]), is_signed: false }
}

/// How many times larger the larger value is, with two significant digits, if the change exceeds half of its base.
pub(super) fn ratio(from: f64, to: f64) -> Option<Times> {
    let share = (to - from) / from;
    let is_far = from > 0.0 && to > 0.0 && libm::fabs(share) > 0.5 && share.is_finite();
    let ratio = if to > from { to / from } else { from / to };
    if is_far && ratio.is_finite() { Some(Times(ratio)) } else { None }
}

pub(super) struct Times(f64);

impl Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(value) = Decimal::new(self.0) else { return f.write_str(NOT_AVAILABLE) };
        if value.magnitude() >= 9 {
            return write!(f, "10^{} ×", value.magnitude());
        }
        let rounded = value.rounded((1 - value.significant(2).magnitude()).max(0));
        rounded.write(f, if rounded.magnitude() == 0 { 1 } else { 0 })?;
        f.write_str(" ×")
    }
}
