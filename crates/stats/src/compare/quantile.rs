//! The confidence interval of a quantile, and the difference of two quantiles.

use super::binomial::Binomial;
use picollo_core::layouts::ValueSelection;
use picollo_core::seam::{Cursor, saturated, target_count};
use picollo_core::{Error, Result, Snapshot};

/// A quantile of a snapshot, and the confidence interval for the quantile of the sampled distribution.
///
/// The ends are order statistics: observations number `lower_count` and `upper_count`, in ascending order. The binomial
/// distribution determines them, whatever the distribution of the values; see [`quantile_interval`].
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[repr(C)]
pub struct QuantileInterval {
    /// The requested quantile, between 0 and 1.
    pub quantile: f64,
    /// The requested confidence, between 0 and 1.
    pub confidence: f64,
    /// The confidence of this interval. It is slightly higher than requested, because observations are discrete. It
    /// is lower only if there are too few observations, so that an end is missing that is not a limit of all values.
    pub coverage: f64,
    /// Observations in range.
    pub total_count: u64,
    /// Number of the observation that is the quantile of the snapshot: the nearest rank.
    pub target_count: u64,
    /// The midpoint of its bucket.
    pub value: u64,
    /// The smallest value in the bucket of observation number lower_count; 0 if lower_count is 0.
    pub lower: u64,
    /// The largest value in the bucket of observation number upper_count; `u64::MAX` if upper_count is 0.
    pub upper: u64,
    /// The midpoint of the bucket that begins at lower; 0 if lower_count is 0.
    pub lower_midpoint: u64,
    /// The midpoint of the bucket that ends at upper; `u64::MAX` if upper_count is 0.
    pub upper_midpoint: u64,
    /// Number of the observation at the lower end; 0 if there are too few.
    pub lower_count: u64,
    /// Number of the observation at the upper end; 0 if there are too few.
    pub upper_count: u64,
    /// Width of the widest of the three buckets: the resolution of the snapshot.
    pub bucket_width: u64,
}

impl QuantileInterval {
    /// Returns whether there were enough observations for both ends.
    pub const fn is_bounded(&self) -> bool {
        self.lower_count != 0 && self.upper_count != 0
    }
}

/// The confidence if none is requested.
pub(super) const DEFAULT_CONFIDENCE: f64 = 0.95;

/// Returns a number between 0 and 1, both excluded; zero means the default.
pub(super) fn share_or(value: f64, default: f64) -> Result<f64> {
    if value == 0.0 {
        Ok(default)
    } else if 0.0 < value && value < 1.0 {
        Ok(value)
    } else {
        Err(Error::InvalidArgument)
    }
}

/// Returns the numbers, from 1, of the observations between which the quantile lies, and the probability that it does.
/// 0 and `n + 1` mean no limit.
pub(super) fn order_statistics(n: impl Into<u128>, quantile: f64, confidence: f64) -> (f64, f64, f64) {
    let tail = (1.0 - confidence) / 2.0;
    let below = Binomial::new(n, quantile);
    let lower = below.lower_quantile(tail);
    let upper = below.upper_quantile(tail) + 1.0;
    let outside = below.tails(lower - 1.0).0 + below.tails(upper - 1.0).1;
    (lower, upper, 1.0 - outside)
}

/// Returns a quantile of a snapshot and its confidence interval, from the order statistics alone: exact for any distribution.
///
/// How many of `n` independent observations lie below the true quantile is binomial. So the true quantile lies
/// between observation number `binom.ppf(tail)` and number `binom.isf(tail) + 1`, each missed with a probability of
/// at most `tail = (1 - confidence) / 2`: W. J. Conover, *Practical Nonparametric Statistics*, 3.2; H. A. David and
/// H. N. Nagaraja, *Order Statistics*, 7.1. The ends are those of buckets, so the interval includes the bucketing
/// error.
///
/// `quantile` is between 0 and 1, both excluded; so is `confidence`, and 0 means 0.95. Observations out of range
/// are left out.
///
/// Cost: a pass over the counts, and some microseconds.
///
/// Fails with [`Error::InvalidArgument`] for other numbers, and with [`Error::Empty`] if nothing was recorded.
pub fn quantile_interval(snapshot: &Snapshot, quantile: f64, confidence: f64) -> Result<QuantileInterval> {
    if !(0.0 < quantile && quantile < 1.0) {
        return Err(Error::InvalidArgument);
    }
    let confidence = share_or(confidence, DEFAULT_CONFIDENCE)?;
    let n = snapshot.exact_total();
    if n == 0 {
        return Err(Error::Empty);
    }
    let target = target_count(quantile * 100.0, n)?;
    let (lower, upper, coverage) = order_statistics(n, quantile, confidence);
    // The target is between them: the binomial's median is next to its mean. If no double holds the total, rounding
    // must not put them out of order.
    let lower_count = (lower as u128).min(target);
    let upper_count = if upper > n as f64 { 0 } else { (upper as u128).clamp(target, n) };
    // In ascending order, for one pass.
    let mut cursor = Cursor::new(snapshot);
    let mut bucket_width = 0;
    let mut find = |count: u128| {
        let bucket = snapshot.bucket_at(cursor.find(count));
        bucket_width = bucket_width.max(bucket.step);
        (bucket, bucket.equivalent_value(ValueSelection::Midpoint))
    };
    let (lower, lower_midpoint) = match lower_count {
        0 => (0, 0),
        count => {
            let (bucket, midpoint) = find(count);
            (bucket.lower, midpoint)
        }
    };
    let (_, value) = find(target);
    let (upper, upper_midpoint) = match upper_count {
        0 => (u64::MAX, u64::MAX),
        count => {
            let (bucket, midpoint) = find(count);
            (bucket.upper, midpoint)
        }
    };
    Ok(QuantileInterval {
        quantile,
        confidence,
        coverage,
        total_count: saturated(n),
        target_count: saturated(target),
        value,
        lower,
        upper,
        lower_midpoint,
        upper_midpoint,
        lower_count: saturated(lower_count),
        upper_count: saturated(upper_count),
        bucket_width,
    })
}

/// Returns the signed distance of two values.
fn distance(from: u64, to: u64) -> f64 {
    (i128::from(to) - i128::from(from)) as f64
}

/// Returns the difference of two quantiles, `b - a`, and its interval, between midpoints: G. Y. Zou and A. Donner,
/// *Construction of confidence limits about effect measures: a general approach* (Statistics in Medicine 27, 2008).
/// They put the limits of the difference at the root of the sum of the squared distances of the two quantiles from
/// theirs.
pub(super) fn difference(a: &QuantileInterval, b: &QuantileInterval) -> (f64, f64, f64) {
    let between = distance(a.value, b.value);
    let of_lower = |interval: &QuantileInterval| match interval.lower_count {
        0 => f64::INFINITY,
        _ => distance(interval.lower_midpoint, interval.value),
    };
    let of_upper = |interval: &QuantileInterval| match interval.upper_count {
        0 => f64::INFINITY,
        _ => distance(interval.value, interval.upper_midpoint),
    };
    let lower = between - libm::hypot(of_lower(b), of_upper(a));
    let upper = between + libm::hypot(of_upper(b), of_lower(a));
    (between, lower, upper)
}
