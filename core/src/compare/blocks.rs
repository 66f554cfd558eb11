//! What needs the order in which values were measured: series of blocks.
//!
//! A histogram forgets the order of its observations, and all that is computed from it takes them for independent. Times that
//! were measured one after the other seldom are: the clock frequency changes, caches warm up, another process runs. So a
//! benchmark measures in blocks, A and B next to each other in each, and judges the differences within blocks, whose number is
//! that of the independent observations.

use super::normal;
use super::quantile::{DEFAULT_CONFIDENCE, order_statistics, share_or};
use super::{
    COMPARISON_AUTOCORRELATED, COMPARISON_TOO_FEW, CompareOptions, DEFAULT_POWER, judge, smallest_detectable,
};
use crate::{Error, Result};

/// How strongly a series depends on its own past.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Autocorrelation {
    /// The correlation of each value with the next, -1 to 1; 0 where all are equal.
    pub lag1: f64,
    /// How many times larger the variance of the mean is than that of as many independent values: 1 or more.
    pub inflation: f64,
    /// Whether the series is to be warned of: `lag1` is too large for chance (1 %), and the inflation above a tenth.
    pub is_significant: bool,
}

/// Lags that are looked at.
const MAX_LAG: usize = 1000;

/// Whether a series of measurements depends on its own past, in the order in which it was measured.
///
/// The first autocorrelation against its standard error `1 / sqrt(n)` (M. S. Bartlett, 1946), and the inflation of the mean's
/// variance, summed over pairs of lags as long as they are positive (C. J. Geyer, *Practical Markov chain Monte Carlo*, 1992).
///
/// [`Error::Empty`] for fewer than 4 values, [`Error::InvalidArgument`] where one is not finite.
pub fn autocorrelation(values: &[f64]) -> Result<Autocorrelation> {
    if values.len() < 4 {
        return Err(Error::Empty);
    }
    if !values.iter().all(|value| value.is_finite()) {
        return Err(Error::InvalidArgument);
    }
    Ok(correlate(values.len(), |at| values[at]))
}

fn correlate(length: usize, value: impl Fn(usize) -> f64) -> Autocorrelation {
    let n = length as f64;
    let mean = (0..length).map(&value).sum::<f64>() / n;
    let square_sum =
        |lag: usize| -> f64 { (lag..length).map(|at| (value(at) - mean) * (value(at - lag) - mean)).sum() };
    let squares = square_sum(0);
    if squares <= 0.0 || !squares.is_finite() {
        return Autocorrelation { lag1: 0.0, inflation: 1.0, is_significant: false };
    }
    let lag1 = square_sum(1) / squares;
    let mut sum = 1.0 + lag1;
    let mut lag = 2;
    if sum > 0.0 {
        while lag + 1 < length.min(MAX_LAG) / 2 {
            let pair = (square_sum(lag) + square_sum(lag + 1)) / squares;
            if pair <= 0.0 {
                break;
            }
            sum += pair;
            lag += 2;
        }
    }
    let inflation = (2.0 * sum - 1.0).max(1.0);
    // Without dependence its expectation is -1/n.
    let z = (lag1 + 1.0 / n) * libm::sqrt(n);
    Autocorrelation { lag1, inflation, is_significant: normal::above(z) < 0.01 && inflation > 1.1 }
}

/// What a series of pairs of blocks says of the difference between A and B.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[repr(C)]
pub struct BlockComparison {
    /// Pairs of blocks.
    pub block_count: u64,
    /// The confidence asked for, between 0 and 1.
    pub confidence: f64,
    /// The confidence that the interval has.
    pub coverage: f64,
    /// The median of A's blocks.
    pub median_a: f64,
    /// The median of B's blocks.
    pub median_b: f64,
    /// The median of the differences within pairs, B less A.
    pub difference: f64,
    /// The lower end of its interval; minus infinity where there are too few blocks for one.
    pub difference_lower: f64,
    /// The upper end of its interval; infinity where there are too few blocks for one.
    pub difference_upper: f64,
    /// What a difference has to exceed to count.
    pub margin: f64,
    /// The true difference that would be told from none four times out of five, or as often as the options say; infinity where
    /// there are too few blocks.
    pub smallest_detectable: f64,
    /// The correlation of each difference with the next.
    pub lag1: f64,
    /// How many times larger the variance of their mean is than that of as many independent ones.
    pub inflation: f64,
    /// A [`Verdict`] code.
    pub verdict: u32,
    /// [`COMPARISON_TOO_FEW`] and its siblings.
    pub flags: u32,
}

/// Halved only once, but first where the sum is beyond the largest double.
fn middle_of(lower: f64, upper: f64) -> f64 {
    let sum = lower + upper;
    if sum.is_finite() { sum / 2.0 } else { lower / 2.0 + upper / 2.0 }
}

/// Compares two series of blocks, `a[i]` measured next to `b[i]`, by the differences within pairs: whatever changes slowly
/// changes both.
///
/// The interval is that of the median of the differences, from their order statistics alone, as
/// [`Snapshot::quantile_interval`](crate::Snapshot::quantile_interval) has it; for the median this inverts the sign test. Of the
/// options, `quantile` is not looked at. The scratch is as long as the series, and left in disorder.
///
/// [`Error::InvalidArgument`] for series of different lengths, values that are not finite, and options out of range;
/// [`Error::BufferTooSmall`] for a scratch that is too short; [`Error::Empty`] for no blocks.
pub fn compare_blocks(
    a: &[f64],
    b: &[f64],
    scratch: &mut [f64],
    options: &CompareOptions,
) -> Result<BlockComparison> {
    let confidence = share_or(options.confidence, DEFAULT_CONFIDENCE)?;
    let power = share_or(options.power, DEFAULT_POWER)?;
    let length = a.len();
    if length != b.len() || !a.iter().chain(b).all(|value| value.is_finite()) {
        return Err(Error::InvalidArgument);
    }
    let scratch = scratch.get_mut(..length).ok_or(Error::BufferTooSmall)?;
    if length == 0 {
        return Err(Error::Empty);
    }
    let mut sorted = |value: &dyn Fn(usize) -> f64| {
        for (at, slot) in scratch.iter_mut().enumerate() {
            *slot = value(at);
        }
        scratch.sort_unstable_by(f64::total_cmp);
        let middle = middle_of(scratch[(length - 1) / 2], scratch[length / 2]);
        let (lower, upper, coverage) = order_statistics(length as u64, 0.5, confidence);
        let lower = if lower >= 1.0 { scratch[lower as usize - 1] } else { f64::NEG_INFINITY };
        let upper = scratch.get(upper as usize - 1).copied().unwrap_or(f64::INFINITY);
        (middle, lower, upper, coverage)
    };
    let median_a = sorted(&|at| a[at]).0;
    let median_b = sorted(&|at| b[at]).0;
    let (difference, lower, upper, coverage) = sorted(&|at| b[at] - a[at]);
    let margin = options.margin(median_a, 0.0)?;
    let correlation = correlate(length, |at| b[at] - a[at]);
    let (verdict, mut flags) = judge(lower, upper, margin);
    if correlation.is_significant {
        flags |= COMPARISON_AUTOCORRELATED;
    }
    if !(lower.is_finite() && upper.is_finite()) {
        flags |= COMPARISON_TOO_FEW;
    }
    Ok(BlockComparison {
        block_count: length as u64,
        confidence,
        coverage,
        median_a,
        median_b,
        difference,
        difference_lower: lower,
        difference_upper: upper,
        margin,
        smallest_detectable: smallest_detectable(lower, upper, margin, confidence, power),
        lag1: correlation.lag1,
        inflation: correlation.inflation,
        verdict: verdict as u32,
        flags,
    })
}
