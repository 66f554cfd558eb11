//! Decides whether two snapshots differ, and by how much, with confidence intervals.
//!
//! Everything is computed from the counts of buckets, in one or a few passes over each snapshot, without extra memory,
//! and is valid for 10 to 10^12 observations. The results mean:
//!
//! - **The interval of the difference of a quantile** ([`Comparison::difference_lower`] and `difference_upper`)
//!   decides. The verdict is *slower* or *faster* if the whole interval lies beyond the margin. The margin is the
//!   larger of a threshold, below which a difference does not matter to anyone, and the width of a bucket, below which
//!   it is invisible. Without a margin, enough observations would make any difference evidence: at 10^9, a change of
//!   the room's temperature.
//! - **No evidence** is no evidence of equality. [`Comparison::smallest_detectable`] is the difference that would have
//!   been detected; [`COMPARISON_WITHIN_MARGIN`] reports that the whole interval lies inside the margin.
//! - **p-values** report how unlikely such ranks are if there is no difference at all, not how large it is.
//!
//! All of it takes observations for independent of each other. A histogram forgets their order, so that whoever measured has to
//! know: see [`compare_blocks`].

mod binomial;
mod blocks;
mod normal;
mod quantile;
mod ranks;
#[cfg(test)]
mod run_tests;
mod runs;
mod student;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod unit_tests;

pub use blocks::{
    BlockComparison, BlockOverhead, compare_block_ratios, compare_blocks, compare_blocks_above,
};
pub use quantile::{QuantileInterval, quantile_interval};
pub use runs::{FEWEST_RUNS, RunComparison, compare_runs};
pub(crate) use student::students_quantile;
#[cfg(test)]
pub(crate) use tests::Random;

use core::fmt;

use self::quantile::{DEFAULT_CONFIDENCE, difference, share_or};
use picollo_core::seam::Fixed;
use picollo_core::snapshots::Moments;
use picollo_core::{Error, Result, Snapshot};

/// Set when there are too few observations for an end of an interval.
pub const COMPARISON_TOO_FEW: u32 = 1 << 0;
/// Set when the whole interval of the difference lies inside the margin: any difference is too small to matter.
pub const COMPARISON_WITHIN_MARGIN: u32 = 1 << 1;
/// Set when observations were out of range or lost. The numbers exclude them, on either side.
pub const COMPARISON_OUT_OF_RANGE: u32 = 1 << 2;
/// Set when the buckets of the two differ. Ranks are then compared by the coarser buckets.
pub const COMPARISON_LAYOUTS_DIFFER: u32 = 1 << 4;
/// Set when blocks depend on the blocks before them. The interval is wider for this reason, up to the whole range of
/// differences.
pub const COMPARISON_AUTOCORRELATED: u32 = 1 << 5;
/// Set when the margin is the resolution instead of a threshold: the option resolution, or the width of a bucket.
pub const COMPARISON_MARGIN_IS_RESOLUTION: u32 = 1 << 6;
/// Set when the whole interval of the difference lies inside the resolution. This measurement cannot decide whether the
/// two are equal or different.
pub const COMPARISON_BELOW_RESOLUTION: u32 = 1 << 7;
/// Set when other programs or the host disturbed too much of the measurement. The verdict is no evidence.
pub const COMPARISON_NOISY: u32 = 1 << 8;

const DEFAULT_QUANTILE: f64 = 0.5;
const DEFAULT_THRESHOLD: f64 = 0.01;
pub(crate) const DEFAULT_POWER: f64 = 0.8;

/// The options of a comparison. Zero means the default everywhere.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct CompareOptions {
    /// The quantile to compare, between 0 and 1; 0: 0.5, the median.
    pub quantile: f64,
    /// The confidence of the intervals, between 0 and 1; 0: 0.95.
    pub confidence: f64,
    /// Differences up to this share of A's quantile do not matter; 0: 0.01, one per cent; negative: no such threshold.
    pub relative_threshold: f64,
    /// Differences up to this do not matter, in units of the values.
    pub absolute_threshold: f64,
    /// The probability of detecting a difference of [`Comparison::smallest_detectable`], between 0 and 1; 0: 0.8.
    pub power: f64,
    /// Differences up to this cannot be resolved, in units of the values: they get [`COMPARISON_BELOW_RESOLUTION`]. 0:
    /// only the width of buckets limits the resolution.
    pub resolution: f64,
    /// For series of blocks that are examined more than once: the confidence of this look's interval, such that all
    /// looks together have `confidence`. 0: this is the only look.
    pub look_confidence: f64,
}

/// The margin that a difference must exceed.
struct Margin {
    value: f64,
    /// [`COMPARISON_MARGIN_IS_RESOLUTION`] or 0.
    flags: u32,
}

impl CompareOptions {
    /// Returns the margin that a difference must exceed, for this value and buckets of this width.
    fn margin(&self, value: f64, width: f64) -> Result<Margin> {
        if self.relative_threshold.is_nan() || self.absolute_threshold.is_nan() || self.resolution.is_nan() {
            return Err(Error::InvalidArgument);
        }
        let share = if self.relative_threshold == 0.0 { DEFAULT_THRESHOLD } else { self.relative_threshold };
        let matters = (libm::fabs(value) * share.max(0.0)).max(self.absolute_threshold);
        let tells = width.max(self.resolution);
        let flags = if tells > matters { COMPARISON_MARGIN_IS_RESOLUTION } else { 0 };
        Ok(Margin { value: matters.max(tells), flags })
    }
}

/// The meaning of the difference, for values of which less is better, such as times.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u32)]
pub enum Verdict {
    /// The interval of the difference reaches into the margin. This does not mean equal: see `smallest_detectable`.
    #[default]
    NoEvidence = 0,
    /// B's values are smaller, by more than the margin.
    Faster = 1,
    /// B's values are larger, by more than the margin.
    Slower = 2,
}

/// The text instead of *no evidence* with [`COMPARISON_BELOW_RESOLUTION`].
pub(crate) const BELOW_RESOLUTION: &str = "below the resolution";

/// The text instead of *no evidence* with [`COMPARISON_NOISY`].
pub(crate) const NOISY: &str = "unproven: noisy";

/// Returns the verdict in words, with these flags.
pub const fn verdict_text(verdict: u32, flags: u32) -> &'static str {
    match Verdict::from_code(verdict) {
        Verdict::NoEvidence if flags & COMPARISON_NOISY != 0 => NOISY,
        Verdict::NoEvidence if flags & COMPARISON_BELOW_RESOLUTION != 0 => BELOW_RESOLUTION,
        verdict => verdict.as_str(),
    }
}

impl Verdict {
    /// Returns one or two words for people.
    pub const fn as_str(self) -> &'static str {
        match self {
            Verdict::NoEvidence => "no evidence",
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
        }
    }
}

impl Verdict {
    /// Returns the verdict with this number; no evidence if there is no such verdict.
    pub const fn from_code(code: u32) -> Verdict {
        match code {
            1 => Verdict::Faster,
            2 => Verdict::Slower,
            _ => Verdict::NoEvidence,
        }
    }
}

/// How snapshot B differs from snapshot A. See [`compare_snapshots`].
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[repr(C)]
pub struct Comparison {
    /// A's quantile and its interval.
    pub a: QuantileInterval,
    /// B's quantile and its interval.
    pub b: QuantileInterval,
    /// B's quantile minus A's, between midpoints.
    pub difference: f64,
    /// Lower end of the difference's interval, between midpoints; minus infinity if there are too few observations.
    pub difference_lower: f64,
    /// Upper end of the difference's interval, between midpoints; infinity if there are too few observations.
    pub difference_upper: f64,
    /// Width of the widest bucket involved. The true difference may lie this much further out at either end.
    pub bucket_width: f64,
    /// The interval must lie beyond this for a verdict: the larger of the threshold and the bucket width.
    pub margin: f64,
    /// The true difference that a measurement with this number and spread of observations detects with the
    /// probability in the options (default 0.8); infinity if there are too few.
    pub smallest_detectable: f64,
    /// Mann and Whitney's U: the number of pairs in which B's value is larger; ties count half.
    pub mann_whitney_u: f64,
    /// Distance of U from its expectation in standard deviations, with B's sign.
    pub mann_whitney_z: f64,
    /// Two-sided probability of such a U if there were no difference.
    pub mann_whitney_p: f64,
    /// The common-language effect: the probability that a value of B is larger than one of A; ties count half.
    pub common_language: f64,
    /// Cliff's delta: the probability that a value of B is larger than one of A, minus the probability that it is
    /// smaller.
    pub cliffs_delta: f64,
    /// Kolmogorov and Smirnov's distance: the largest between the two cumulative distributions, at the ends of
    /// buckets.
    pub ks_distance: f64,
    /// Upper bound of the probability of such a distance if there were no difference. It is conservative, because it
    /// ignores the buckets.
    pub ks_p: f64,
    /// Cohen's d: the difference of the means divided by the pooled standard deviation; NaN if that is zero.
    pub cohens_d: f64,
    /// A [`Verdict`] code: what it amounts to.
    pub verdict: u32,
    /// [`COMPARISON_TOO_FEW`] and its siblings.
    pub flags: u32,
}

impl Comparison {
    /// Returns the verdict.
    pub const fn verdict(&self) -> Verdict {
        Verdict::from_code(self.verdict)
    }
}

/// One line: `P50: +128 [+96, +160], slower`. The interval is `n/a` where there are too few observations.
impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "P{}: ", Fixed::rank(self.a.quantile * 100.0))?;
        write_change(f, [self.difference, self.difference_lower, self.difference_upper])?;
        write!(f, ", {}", verdict_text(self.verdict, self.flags))
    }
}

/// `+128 [+96, +160]`
pub(super) fn write_change(f: &mut fmt::Formatter<'_>, [difference, lower, upper]: [f64; 3]) -> fmt::Result {
    let sign = |value: f64| if value > 0.0 && value.is_finite() { "+" } else { "" };
    let number = |value: f64| Fixed::trimmed(value, 1);
    write!(f, "{}{} ", sign(difference), number(difference))?;
    write!(f, "[{}{}, {}{}]", sign(lower), number(lower), sign(upper), number(upper))
}

/// Returns the verdict on an interval, and adds to the margin's flags whether the whole interval is inside.
fn judge(lower: f64, upper: f64, margin: f64, flags: u32) -> (Verdict, u32) {
    if lower > margin {
        (Verdict::Slower, flags)
    } else if upper < -margin {
        (Verdict::Faster, flags)
    } else if -margin <= lower && upper <= margin {
        let is_resolution = flags & COMPARISON_MARGIN_IS_RESOLUTION != 0;
        let below = if is_resolution { COMPARISON_BELOW_RESOLUTION } else { 0 };
        (Verdict::NoEvidence, flags | COMPARISON_WITHIN_MARGIN | below)
    } else {
        (Verdict::NoEvidence, flags)
    }
}

/// Returns the difference for which the interval lies beyond the margin with probability `power`: J. Cohen,
/// *Statistical Power Analysis for the Behavioral Sciences*, with the standard error computed from the interval's
/// width.
fn smallest_detectable(lower: f64, upper: f64, margin: f64, confidence: f64, power: f64) -> f64 {
    let z_confidence = normal::quantile_above((1.0 - confidence) / 2.0);
    let z_power =
        if power > 0.5 { normal::quantile_above(1.0 - power) } else { -normal::quantile_above(power) };
    let error = (upper - lower) / (2.0 * z_confidence);
    margin + ((z_confidence + z_power) * error).max(0.0)
}

/// Computes the requested power back from the field `smallest_detectable`; `None` if it cannot be determined.
pub fn power_behind(
    lower: f64,
    upper: f64,
    margin: f64,
    confidence: f64,
    smallest_detectable: f64,
) -> Option<f64> {
    let z_confidence = normal::quantile_above((1.0 - confidence) / 2.0);
    let error = (upper - lower) / (2.0 * z_confidence);
    let z_power = (smallest_detectable - margin) / error - z_confidence;
    let is_known = 0.0 < confidence && confidence < 1.0 && error > 0.0 && smallest_detectable > margin;
    if is_known && z_power.is_finite() { Some(1.0 - normal::above(z_power)) } else { None }
}

/// Cohen's d: the difference of the means over the standard deviation pooled by counts,
/// `(mean_b - mean_a) / sqrt((n_a sd_a^2 + n_b sd_b^2) / (n_a + n_b))`: J. Cohen, *Statistical Power Analysis for the Behavioral
/// Sciences*, 2.2.
///
/// The result is NaN if either is empty or the pooled deviation is zero.
pub fn cohens_d(count_a: f64, a: Moments, count_b: f64, b: Moments) -> f64 {
    let total = count_a + count_b;
    let weigh = |count: f64, moments: Moments| libm::sqrt(count / total) * moments.stddev;
    // `hypot` neither overflows nor underflows, unlike the squares.
    let pooled = libm::hypot(weigh(count_a, a), weigh(count_b, b));
    let d = (b.mean - a.mean) / pooled;
    if pooled > 0.0 && pooled.is_finite() && d.is_finite() { d } else { f64::NAN }
}

/// Compares snapshot *A*, the older, with another one of any layout, *B*, the newer.
///
/// - The quantiles' intervals: see [`quantile_interval`].
/// - The interval of their difference: G. Y. Zou and A. Donner, Statistics in Medicine 27 (2008). It assumes that
///   both samples are independent of each other.
/// - Mann-Whitney, Cliff's delta, Kolmogorov-Smirnov: by bucket, those of the coarser layout if they differ.
///   p-values are those of the limit for many observations; with ten on each side Mann-Whitney's is off by a few
///   per cent of itself.
///
/// Observations out of range are left out, and [`COMPARISON_OUT_OF_RANGE`] reports this.
///
/// Cost: some passes over the counts of both, tens to hundreds of microseconds, for any number of observations.
///
/// Fails with [`Error::InvalidArgument`] for options out of range, and with [`Error::Empty`] if either is empty.
pub fn compare_snapshots(a: &Snapshot, b: &Snapshot, options: &CompareOptions) -> Result<Comparison> {
    let quantile = share_or(options.quantile, DEFAULT_QUANTILE)?;
    let confidence = share_or(options.confidence, DEFAULT_CONFIDENCE)?;
    let power = share_or(options.power, DEFAULT_POWER)?;
    options.margin(0.0, 0.0)?;
    let (first, second) = (a, b);
    let a = quantile_interval(first, quantile, confidence)?;
    let b = quantile_interval(second, quantile, confidence)?;
    let (difference, difference_lower, difference_upper) = difference(&a, &b);
    let bucket_width = a.bucket_width.max(b.bucket_width) as f64;
    let Margin { value: margin, flags } = options.margin(a.value as f64, bucket_width)?;
    let (verdict, mut flags) = judge(difference_lower, difference_upper, margin, flags);
    if !(a.is_bounded() && b.is_bounded()) {
        flags |= COMPARISON_TOO_FEW;
    }
    let is_partial = |snapshot: &Snapshot| {
        let counts = snapshot.counts();
        (counts.underflow, counts.overflow, counts.lost) != (0, 0, 0)
    };
    if is_partial(first) || is_partial(second) {
        flags |= COMPARISON_OUT_OF_RANGE;
    }
    if (first.layout().scale(), first.layout().unit()) != (second.layout().scale(), second.layout().unit()) {
        flags |= COMPARISON_LAYOUTS_DIFFER;
    }
    let (count_a, count_b) = (first.exact_total() as f64, second.exact_total() as f64);
    Ok(Comparison {
        a,
        b,
        difference,
        difference_lower,
        difference_upper,
        bucket_width,
        margin,
        smallest_detectable: smallest_detectable(
            difference_lower,
            difference_upper,
            margin,
            confidence,
            power,
        ),
        cohens_d: cohens_d(count_a, first.moments(), count_b, second.moments()),
        verdict: verdict as u32,
        flags,
        ..ranks::compare_ranks(first, second)
    })
}
