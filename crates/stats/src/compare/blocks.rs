//! Statistics that need the order of measurements: series of blocks.
//!
//! A histogram forgets the order of its observations, so statistics from it assume that they are independent.
//! Successive times seldom are: the clock frequency changes, caches warm up, another process runs. So a benchmark
//! measures in blocks, with A and B next to each other in each. It judges the differences within blocks: each block
//! counts as one independent observation.

use super::normal;
use super::quantile::{DEFAULT_CONFIDENCE, order_statistics, share_or};
use super::{
    COMPARISON_AUTOCORRELATED, COMPARISON_BELOW_RESOLUTION, COMPARISON_NOISY, COMPARISON_TOO_FEW,
    COMPARISON_WITHIN_MARGIN, CompareOptions, DEFAULT_POWER, Margin, Verdict, judge, smallest_detectable,
    verdict_text, write_change,
};
use picollo_core::{Error, Result};

/// How strongly a series depends on its own past.
#[derive(Debug)]
pub(super) struct Autocorrelation {
    /// The correlation of each value with the next, -1 to 1; 0 where all are equal.
    pub(super) lag1: f64,
    /// How many times larger the variance of the mean is than that of as many independent values: 1 or more.
    pub(super) inflation: f64,
    /// Whether the series is to be warned of: `lag1` is too large for chance (1 %), and the inflation above a tenth.
    pub(super) is_significant: bool,
}

/// Up to this inflation the number of independent values is known well enough to use. A series that drifts throughout
/// has no such number: its interval is the whole range.
const MAX_INFLATION: f64 = 4.0;

/// The fewest values whose extremes are a 95 % interval of their median.
const FEWEST: usize = 6;

/// The number of lags considered.
const MAX_LAG: usize = 1000;

/// Returns whether a series of measurements, in the order of measurement, depends on its own past.
///
/// The first autocorrelation against its standard error `1 / sqrt(n)` (M. S. Bartlett, 1946), and the inflation of the mean's
/// variance, summed over pairs of lags as long as they are positive (C. J. Geyer, *Practical Markov chain Monte Carlo*, 1992).
pub(super) fn correlate(length: usize, value: impl Fn(usize) -> f64) -> Autocorrelation {
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
    // For independent values the expectation is -1/n.
    let z = (lag1 + 1.0 / n) * libm::sqrt(n);
    Autocorrelation { lag1, inflation, is_significant: normal::above(z) < 0.01 && inflation > 1.1 }
}

/// The difference between A and B in a series of pairs of blocks.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[repr(C)]
pub struct BlockComparison {
    /// Pairs of blocks.
    pub block_count: u64,
    /// The requested confidence, between 0 and 1.
    pub confidence: f64,
    /// The confidence of this interval.
    pub coverage: f64,
    /// The median of A's blocks, without the overhead if there is one.
    pub median_a: f64,
    /// The median of B's blocks, without the overhead if there is one.
    pub median_b: f64,
    /// The median of the differences within pairs, B minus A.
    pub difference: f64,
    /// Lower end of its interval; minus infinity if there are too few blocks.
    pub difference_lower: f64,
    /// Upper end of its interval; infinity if there are too few blocks.
    pub difference_upper: f64,
    /// A difference must exceed this to count.
    pub margin: f64,
    /// The true difference that is detected with the probability in the options (default 0.8); infinity if there are
    /// too few blocks.
    pub smallest_detectable: f64,
    /// The correlation of each difference with the next.
    pub lag1: f64,
    /// The variance of their mean, divided by that of as many independent differences.
    pub inflation: f64,
    /// A [`Verdict`] code.
    pub verdict: u32,
    /// [`COMPARISON_TOO_FEW`] and its siblings.
    pub flags: u32,
    /// The option resolution. Smaller numbers, whether A, B or the difference, are unknown.
    pub resolution: f64,
}

impl BlockComparison {
    /// Returns the verdict.
    pub const fn verdict(&self) -> Verdict {
        Verdict::from_code(self.verdict)
    }

    /// Returns the comparison without a verdict and with [`COMPARISON_NOISY`], for blocks that were disturbed too
    /// often.
    #[must_use]
    pub const fn unproven(self) -> BlockComparison {
        let decided = COMPARISON_WITHIN_MARGIN | COMPARISON_BELOW_RESOLUTION;
        BlockComparison {
            verdict: Verdict::NoEvidence as u32,
            flags: self.flags & !decided | COMPARISON_NOISY,
            ..self
        }
    }
}

/// One line: `median: -43 [-45, -41], faster`. The interval is `n/a` where there are too few blocks.
impl core::fmt::Display for BlockComparison {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("median: ")?;
        write_change(f, [self.difference, self.difference_lower, self.difference_upper])?;
        write!(f, ", {}", verdict_text(self.verdict, self.flags))
    }
}

/// Halves the sum once; halves both first if the sum exceeds the largest double.
fn middle_of(lower: f64, upper: f64) -> f64 {
    let sum = lower + upper;
    if sum.is_finite() { sum / 2.0 } else { lower / 2.0 + upper / 2.0 }
}

/// A cost in all blocks that belongs to neither side, such as the cost of a call.
///
/// It is the same in all blocks, and so is its error: no number of blocks makes that smaller.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct BlockOverhead {
    /// The overhead in each of A's blocks.
    pub a: f64,
    /// The overhead in each of B's blocks.
    pub b: f64,
    /// The possible error of `b - a`, either way; 0 if the two are the same overhead, which cancels.
    pub error: f64,
}

/// Compares two series of blocks, `a[i]` measured next to `b[i]`, by the differences within pairs: slow changes affect
/// both.
///
/// The interval is that of the median of the differences, from their order statistics alone, as in
/// [`quantile_interval`](super::quantile_interval); for the median this inverts the sign test. If
/// the differences depend on earlier ones, the order statistics are those of the number of independent values, down to
/// a quarter of all values. Below that the interval is their whole range. The option `quantile` is ignored. The scratch
/// is as long as the series, and its final content is undefined.
///
/// Fails with [`Error::InvalidArgument`] for series of different lengths, values that are not finite, and options out
/// of range; with [`Error::BufferTooSmall`] for a scratch that is too short; with [`Error::Empty`] for no blocks.
pub fn compare_blocks(
    a: &[f64],
    b: &[f64],
    scratch: &mut [f64],
    options: &CompareOptions,
) -> Result<BlockComparison> {
    compare(a, b, Kind::Differences, scratch, options)
}

/// Does the same as [`compare_blocks`] by the ratios within pairs. The time or memory of a whole run changes by a share
/// of itself, and never by more than all of it. The reported A, B and difference make B the median ratio times A. The
/// interval of the difference is that of the ratio, so it never reaches below minus A. If a block of A is zero or one
/// of B is negative, there is no ratio: the differences are used, and the medians differ by exactly `difference`.
///
/// Fails as [`compare_blocks`].
pub fn compare_block_ratios(
    a: &[f64],
    b: &[f64],
    scratch: &mut [f64],
    options: &CompareOptions,
) -> Result<BlockComparison> {
    let has_ratios = a.iter().zip(b).all(|(&a, &b)| a > 0.0 && b >= 0.0 && (b / a).is_finite());
    let kind = if has_ratios { Kind::Ratios } else { Kind::Above(BlockOverhead::default()) };
    compare(a, b, kind, scratch, options)
}

/// Does the same as [`compare_blocks`] for blocks that contain an overhead.
///
/// The differences are those of the unchanged blocks, so an overhead common to both cancels without an error. Otherwise
/// the overhead is subtracted, and its error widens the interval, by Zou and Donner's method for independent errors.
/// `median_a` and `median_b` exclude the overhead, and may be negative if there is hardly anything else. They differ by
/// exactly `difference`: each is moved by half of what the difference of medians deviates from the median of
/// differences.
///
/// Fails as [`compare_blocks`], and with [`Error::InvalidArgument`] for an infinite or NaN overhead or a negative
/// error.
pub fn compare_blocks_above(
    a: &[f64],
    b: &[f64],
    overhead: &BlockOverhead,
    scratch: &mut [f64],
    options: &CompareOptions,
) -> Result<BlockComparison> {
    let BlockOverhead { a: of_a, b: of_b, error } = *overhead;
    if !(of_a.is_finite() && of_b.is_finite() && error.is_finite() && error >= 0.0) {
        return Err(Error::InvalidArgument);
    }
    compare(a, b, Kind::Above(*overhead), scratch, options)
}

/// Returns the numbers, from 1, of the values between which the median of `length` lies, and the probability that it
/// does, for values with this correlation.
fn ends(length: usize, correlation: &Autocorrelation, confidence: f64) -> (f64, f64, f64) {
    let n = length as f64;
    let of_all = order_statistics(length as u64, 0.5, confidence);
    if !correlation.is_significant || of_all.0 < 1.0 {
        return of_all;
    }
    let independent = ((n / correlation.inflation) as usize).max(length.min(FEWEST));
    let (lower, _, coverage) = order_statistics(independent as u64, 0.5, confidence);
    if correlation.inflation > MAX_INFLATION || lower < 1.0 {
        // The whole range, which misses the median if all independent values lie on one side.
        return (1.0, n, 1.0 - libm::exp2(1.0 - independent as f64));
    }
    // At the same distance from either end, in shares.
    let lower = libm::floor(lower * n / independent as f64);
    (lower, n + 1.0 - lower, coverage)
}

/// How pairs are compared.
#[derive(Clone, Copy)]
enum Kind {
    Differences,
    /// By differences, with this overhead in both.
    Above(BlockOverhead),
    Ratios,
}

fn compare(
    a: &[f64],
    b: &[f64],
    kind: Kind,
    scratch: &mut [f64],
    options: &CompareOptions,
) -> Result<BlockComparison> {
    let confidence = share_or(options.confidence, DEFAULT_CONFIDENCE)?;
    let of_this_look = share_or(options.look_confidence, confidence)?;
    let power = share_or(options.power, DEFAULT_POWER)?;
    let length = a.len();
    if length != b.len() || !a.iter().chain(b).all(|value| value.is_finite()) {
        return Err(Error::InvalidArgument);
    }
    let scratch = scratch.get_mut(..length).ok_or(Error::BufferTooSmall)?;
    if length == 0 {
        return Err(Error::Empty);
    }
    let mut sort = |value: &dyn Fn(usize) -> f64| {
        for (at, slot) in scratch.iter_mut().enumerate() {
            *slot = value(at);
        }
        scratch.sort_unstable_by(f64::total_cmp);
        middle_of(scratch[(length - 1) / 2], scratch[length / 2])
    };
    let (mut median_a, mut median_b) = (sort(&|at| a[at]), sort(&|at| b[at]));
    // Sorted last, because the ends of the interval are read from it below.
    let pair = |at: usize| if matches!(kind, Kind::Ratios) { b[at] / a[at] } else { b[at] - a[at] };
    let mut difference = sort(&pair);
    let correlation = correlate(length, pair);
    let (lower, upper, coverage) = ends(length, &correlation, of_this_look);
    let mut lower = if lower >= 1.0 { scratch[lower as usize - 1] } else { f64::NEG_INFINITY };
    let mut upper = scratch.get(upper as usize - 1).copied().unwrap_or(f64::INFINITY);
    if let Kind::Ratios = kind {
        let ratio = difference;
        // Both are scaled by the same factor, so that they have this ratio.
        let middle = libm::sqrt(median_a) * libm::sqrt(median_b);
        if middle > 0.0 && ratio > 0.0 {
            median_a = middle / libm::sqrt(ratio);
        }
        median_b = median_a * ratio;
        let of_a = |ratio: f64| median_a * (ratio - 1.0);
        (difference, lower, upper) = (of_a(ratio), of_a(lower), of_a(upper));
    }
    if let Kind::Above(overhead) = kind {
        let shift = overhead.b - overhead.a;
        lower = difference - libm::hypot(difference - lower, overhead.error) - shift;
        upper = difference + libm::hypot(upper - difference, overhead.error) - shift;
        difference -= shift;
        median_a -= overhead.a;
        median_b -= overhead.b;
        let (middle, half) = (middle_of(median_a, median_b), difference / 2.0);
        (median_a, median_b) = (middle - half, middle + half);
    }
    let Margin { value: margin, flags } = options.margin(median_a, 0.0)?;
    let (verdict, mut flags) = judge(lower, upper, margin, flags);
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
        resolution: options.resolution.max(0.0),
        lag1: correlation.lag1,
        inflation: correlation.inflation,
        verdict: verdict as u32,
        flags,
    })
}
