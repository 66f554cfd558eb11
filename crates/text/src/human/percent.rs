//! Shares and ratios for people.

use core::fmt::{Display, Write, from_fn};

use picollo_core::seam::{Decimal, NOT_AVAILABLE};

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

/// A percentage, with a plus sign if wanted, and without the percent sign.
pub(super) fn percent(value: f64, decimals: u32, is_signed: bool) -> impl Display {
    from_fn(move |f| {
        let Some(value) = Decimal::new(value) else { return f.write_str(NOT_AVAILABLE) };
        // For very large values, more digits are only noise.
        if value.magnitude() >= 9 {
            return write!(f, "{}10^{}", if value.is_negative() { "−" } else { "+" }, value.magnitude());
        }
        let rounded = value.rounded(decimals as i32);
        if is_signed && !rounded.is_negative() && !rounded.is_zero() {
            f.write_char('+')?;
        }
        rounded.write(f, if rounded.is_zero() { 0 } else { decimals })
    })
}

/// A single percentage.
pub(super) fn signed(value: f64) -> impl Display {
    percent(value, decimals_of(&[value]), true)
}

/// The same without a sign.
pub(super) fn unsigned(value: f64) -> impl Display {
    percent(libm::fabs(value), decimals_of(&[value]), false)
}

/// How many times larger the larger value is, with two significant digits, if the change exceeds half of its base.
pub(super) fn ratio(from: f64, to: f64) -> Option<impl Display> {
    let share = (to - from) / from;
    let is_far = from > 0.0 && to > 0.0 && libm::fabs(share) > 0.5 && share.is_finite();
    let value = Decimal::new(if to > from { to / from } else { from / to }).filter(|_| is_far)?;
    Some(from_fn(move |f| {
        if value.magnitude() >= 9 {
            return write!(f, "10^{} ×", value.magnitude());
        }
        let rounded = value.rounded((1 - value.significant(2).magnitude()).max(0));
        rounded.write(f, if rounded.magnitude() == 0 { 1 } else { 0 })?;
        f.write_str(" ×")
    }))
}
