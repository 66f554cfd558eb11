//! How well a figure of many scopes is known.

use super::formula::{EVENTS_OF_A_FORMULA, Formula, Unknown};
use super::student::quantile_above_t;
use crate::error::{Error, Result};

/// There are too few scopes for an interval: fewer than two.
pub const FIGURE_FEW_SCOPES: u32 = 1 << 0;
/// In some scopes an event was not counted: they are left out.
pub const FIGURE_PARTIAL: u32 = 1 << 1;

/// A figure of many scopes: the formula of the sums of events, and the interval of its true value.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
pub struct FigureEstimate {
    /// The formula of the sums, never the mean of the scopes' own figures.
    pub value: f64,
    /// The lower end of the interval; NaN where there are too few scopes.
    pub lower: f64,
    /// Its upper end.
    pub upper: f64,
    /// The confidence that was asked for.
    pub confidence: f64,
    /// How many scopes are in it.
    pub scopes: u64,
    /// FIGURE_ flags.
    pub flags: u32,
    /// 0.
    pub reserved: u32,
}

/// Estimates a figure. `values` has a row for each scope and a column for each of `events` events; NaN where one was not counted.
///
/// Scopes are clusters: they are of unequal sizes, and their counts belong together. The interval is the jackknife's, which leaves one
/// scope out at a time and needs no derivative of the formula: `(n-1)/n` times the sum of the squared deviations is the variance (J. W. Tukey,
/// 1958; W. G. Cochran, *Sampling Techniques*, 6.17). Where few large scopes make most of it, there are fewer degrees of freedom than scopes: the
/// effective number, 1.5 (sum of squares)^2 / sum of fourth powers of the deviations, less one, at most n - 1, gives the width by Student's
/// distribution. (With n - 1, 95 % intervals of 100 scopes of sizes that go with their figures held the truth in 91 % of simulated cases.)
/// It holds for scopes that are independent of each other.
///
/// Allocates nothing. Cost: twice as many evaluations as there are scopes.
///
/// # Errors
/// [`Error::InvalidArgument`] where there are no events or more than a formula may have, values that do not fill rows, or a confidence
/// beyond 0 to 1. In the inner result, why the figure is not known: an event that was counted in no scope, or a division by zero.
pub fn estimate_figure(
    formula: &Formula,
    values: &[f64],
    events: usize,
    confidence: f64,
) -> Result<core::result::Result<FigureEstimate, Unknown>> {
    check(values.len(), events, confidence)?;
    Ok(estimate_rows(formula, values.chunks_exact(events), events, confidence))
}

/// Whether these can be meant: the number of values, of events, and the confidence.
pub(super) fn check(values: usize, events: usize, confidence: f64) -> Result<()> {
    let confidence_is_one = confidence > 0.0 && confidence < 1.0;
    let fills_rows = (1..=EVENTS_OF_A_FORMULA).contains(&events) && values.is_multiple_of(events);
    if fills_rows && confidence_is_one { Ok(()) } else { Err(Error::InvalidArgument) }
}

/// Which events a formula has.
pub(super) fn used(formula: &Formula) -> [bool; EVENTS_OF_A_FORMULA] {
    core::array::from_fn(|event| {
        formula.evaluate(|other| (other != event).then_some(1.0)) == Err(Unknown::NotCounted(event))
    })
}

/// Whether a scope has all that is used of it.
pub(super) fn is_whole(row: &[f64], used: &[bool; EVENTS_OF_A_FORMULA]) -> bool {
    row.iter().zip(used).all(|(value, is_used)| !is_used || !value.is_nan())
}

/// The sums of some scopes.
pub(super) fn sums<'a>(rows: impl Iterator<Item = &'a [f64]>) -> [f64; EVENTS_OF_A_FORMULA] {
    let mut sums = [0.0; EVENTS_OF_A_FORMULA];
    for row in rows {
        for (sum, value) in sums.iter_mut().zip(row) {
            *sum += value;
        }
    }
    sums
}

/// The formula of the sums of some scopes, without one of them.
pub(super) fn of_sums(
    formula: &Formula,
    sums: &[f64; EVENTS_OF_A_FORMULA],
    without: &[f64],
    events: usize,
) -> core::result::Result<f64, Unknown> {
    formula.evaluate(|event| (event < events).then(|| sums[event] - without.get(event).unwrap_or(&0.0)))
}

/// Why nothing is known where no scope is whole.
pub(super) fn never_whole<'a>(
    rows: impl Iterator<Item = &'a [f64]> + Clone,
    used: &[bool; EVENTS_OF_A_FORMULA],
    events: usize,
) -> Unknown {
    let never = |&event: &usize| used[event] && rows.clone().all(|row| row[event].is_nan());
    match (0..events).find(never).or_else(|| used.iter().position(|&used| used)) {
        Some(event) => Unknown::NotCounted(event),
        None => Unknown::Undefined,
    }
}

/// [`estimate_figure`] of rows, wherever they are.
pub(super) fn estimate_rows<'a>(
    formula: &Formula,
    rows: impl Iterator<Item = &'a [f64]> + Clone,
    events: usize,
    confidence: f64,
) -> core::result::Result<FigureEstimate, Unknown> {
    let used = used(formula);
    let all = rows.clone().count();
    let scopes = rows.clone().filter(|row| is_whole(row, &used));
    let number = scopes.clone().count();
    if number == 0 {
        return Err(never_whole(rows, &used, events));
    }
    let sums = sums(scopes.clone());
    let value = of_sums(formula, &sums, &[], events)?;
    let flags = if number < all { FIGURE_PARTIAL } else { 0 };
    let others = scopes.map(|row| of_sums(formula, &sums, row, events).ok());
    Ok(with_interval(value, others, number, confidence, flags))
}

/// A value with its interval, from the values without one scope each; `None` where there is no value without it.
pub(super) fn with_interval(
    value: f64,
    others: impl Iterator<Item = Option<f64>>,
    number: usize,
    confidence: f64,
    flags: u32,
) -> FigureEstimate {
    let mut estimate = FigureEstimate {
        value,
        lower: f64::NAN,
        upper: f64::NAN,
        confidence,
        scopes: number as u64,
        flags,
        reserved: 0,
    };
    // Deviations from the value itself: their mean is small, and taking them from it can only widen.
    let (mut squares, mut fourths) = (0.0, 0.0);
    for other in others {
        match other {
            Some(other) if number > 1 => {
                let square = (other - value) * (other - value);
                squares += square;
                fourths += square * square;
            }
            // All of it hangs on one scope.
            _ => {
                estimate.flags |= FIGURE_FEW_SCOPES;
                return estimate;
            }
        }
    }
    let n = number as f64;
    let error = libm::sqrt(squares * (n - 1.0) / n);
    let effective = if fourths > 0.0 { 1.5 * squares * squares / fourths } else { n };
    let half = quantile_above_t((1.0 - confidence) / 2.0, (effective - 1.0).clamp(1.0, n - 1.0)) * error;
    (estimate.lower, estimate.upper) = (value - half, value + half);
    estimate
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn formula(text: &str) -> Formula {
        Formula::parse(text, |name| ["a", "b", "c"].iter().position(|known| *known == name)).unwrap()
    }

    /// A small generator of its own: the same numbers each time.
    struct Random(u64);

    impl Random {
        fn share(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
        }

        fn normal(&mut self) -> f64 {
            (0..12).map(|_| self.share()).sum::<f64>() - 6.0
        }
    }

    /// Of 4,000 samples of scopes of unequal sizes, whose figures go with their sizes, how many intervals hold the truth.
    fn coverage(scopes: usize, spread: f64, confidence: f64) -> f64 {
        let (mut random, mut held) = (Random(scopes as u64), 0);
        let ipc = formula("a / b");
        let draw = |random: &mut Random| {
            let cycles = libm::exp(spread * random.normal()) * 1e6;
            // Large scopes wait more.
            let ipc = 2.0 - 0.4 * libm::log(cycles / 1e6) / spread.max(0.1) + 0.3 * random.normal();
            [ipc * cycles, cycles]
        };
        // The truth: E[a] / E[b] = 2 + 0.3·0 - 0.4·E[z·e^(sz)] / E[e^(sz)] = 2 - 0.4·s.
        let truth = 2.0 - 0.4 * spread;
        for _ in 0..4000 {
            let values: Vec<f64> = (0..scopes).flat_map(|_| draw(&mut random)).collect();
            let found = estimate_figure(&ipc, &values, 2, confidence).unwrap().unwrap();
            held += u32::from(found.lower <= truth && truth <= found.upper);
        }
        f64::from(held) / 4000.0
    }

    #[test]
    fn intervals_hold_the_truth_as_often_as_they_say() {
        for (scopes, spread, confidence) in [
            (10, 0.3, 0.95),
            (20, 0.3, 0.95),
            (20, 0.5, 0.95),
            (50, 0.5, 0.99),
            (100, 0.8, 0.95),
            (400, 0.8, 0.9),
            (1000, 0.8, 0.95),
        ] {
            let found = coverage(scopes, spread, confidence);
            std::println!("{scopes} {spread} {confidence}: {found}");
            assert!(
                (found - confidence).abs() <= 0.02,
                "{scopes} scopes, {spread}: {found} and not {confidence}"
            );
        }
    }

    #[test]
    fn the_ratio_of_sums_and_not_the_mean_of_ratios() {
        let found = estimate_figure(&formula("a / b"), &[1.0, 1.0, 3.0, 99.0], 2, 0.95).unwrap().unwrap();
        assert_eq!((found.value, found.scopes, found.flags), (0.04, 2, 0));
        assert!(found.lower < 0.04 && 0.04 < found.upper);
    }

    #[test]
    fn equal_scopes_leave_no_doubt() {
        let found = estimate_figure(&formula("a / b"), &[1.0, 2.0].repeat(10), 2, 0.99).unwrap().unwrap();
        assert_eq!((found.lower, found.value, found.upper), (0.5, 0.5, 0.5));
    }

    #[test]
    fn what_was_not_counted_is_left_out_and_never_zero() {
        let (ratio, nan) = (formula("a / b"), f64::NAN);
        let found =
            estimate_figure(&ratio, &[1.0, 2.0, nan, 2.0, 5.0, nan, 3.0, 2.0], 2, 0.95).unwrap().unwrap();
        assert_eq!((found.value, found.scopes, found.flags), (1.0, 2, FIGURE_PARTIAL));
        // What the formula does not have may be missing.
        let found = estimate_figure(&ratio, &[1.0, 2.0, nan, 3.0, 2.0, nan], 3, 0.95).unwrap().unwrap();
        assert_eq!((found.scopes, found.flags), (2, 0));
        assert_eq!(estimate_figure(&ratio, &[1.0, nan, 2.0, nan], 2, 0.95), Ok(Err(Unknown::NotCounted(1))));
        assert_eq!(estimate_figure(&ratio, &[], 2, 0.95), Ok(Err(Unknown::NotCounted(0))));
        assert_eq!(estimate_figure(&ratio, &[1.0, 0.0], 2, 0.95), Ok(Err(Unknown::Undefined)));
        let one = estimate_figure(&ratio, &[1.0, 2.0], 2, 0.95).unwrap().unwrap();
        assert!(one.value == 0.5 && one.lower.is_nan() && one.flags == FIGURE_FEW_SCOPES);
        let one = estimate_figure(&ratio, &[1.0, 2.0, 1.0, 0.0], 2, 0.95).unwrap().unwrap();
        assert!(one.value == 1.0 && one.upper.is_nan() && one.flags == FIGURE_FEW_SCOPES);
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        let ratio = formula("a / b");
        for (values, events, confidence) in
            [(4, 3, 0.95), (4, 0, 0.95), (34, 17, 0.95), (4, 2, 0.0), (4, 2, 1.0), (4, 2, f64::NAN)]
        {
            let values = &[1.0; 40][..values];
            assert_eq!(estimate_figure(&ratio, values, events, confidence), Err(Error::InvalidArgument));
        }
    }
}
