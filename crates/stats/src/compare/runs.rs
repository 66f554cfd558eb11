//! Compares a run to saved ones: is it out of line with earlier runs of the same code?
//!
//! Runs of unchanged code differ by more than the observations within them: another layout in memory, another host,
//! another temperature. Only other runs show by how much. So each run counts as one value, however many observations it
//! has. A new run stands out if it is beyond the prediction from the spread of the earlier ones.

#[cfg(doc)]
use super::Verdict;
use super::blocks::correlate;
use super::normal;
use super::quantile::share_or;
use super::student;
use super::{
    COMPARISON_AUTOCORRELATED, COMPARISON_TOO_FEW, CompareOptions, DEFAULT_POWER, Margin, judge, verdict_text,
};
use picollo_core::{Error, Result};

/// Fewer earlier runs than this give no interval, and so no verdict.
pub const FEWEST_RUNS: usize = 5;

/// The default of [`compare_runs`]: one alarm in a hundred runs of unchanged code.
const DEFAULT_CONFIDENCE: f64 = 0.99;

/// The smallest assumed number of independent runs, however much they depend on each other.
const INDEPENDENT: f64 = 3.0;

/// The difference between a new run and earlier ones.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[repr(C)]
pub struct RunComparison {
    /// Number of earlier runs.
    pub run_count: u64,
    /// The requested confidence, between 0 and 1: one minus the false positive rate on unchanged code.
    pub confidence: f64,
    /// Upper bound of the false positive rate for any distribution of runs, if their order does not matter: 2 /
    /// (run_count + 1).
    pub alarm_bound: f64,
    /// The mean of the earlier runs.
    pub mean: f64,
    /// The standard deviation of the earlier runs.
    pub deviation: f64,
    /// The smallest of the earlier runs.
    pub lowest: f64,
    /// The largest of the earlier runs.
    pub highest: f64,
    /// The new run.
    pub value: f64,
    /// The new run minus the mean.
    pub difference: f64,
    /// Lower end of its interval; minus infinity if there are too few runs.
    pub difference_lower: f64,
    /// Upper end of its interval; infinity if there are too few runs.
    pub difference_upper: f64,
    /// A difference must exceed this to count.
    pub margin: f64,
    /// The true difference that is detected with the probability in the options (default 0.8); infinity if there are
    /// too few runs.
    pub smallest_detectable: f64,
    /// The correlation of each run with the next.
    pub lag1: f64,
    /// The variance of their mean, divided by that of as many independent runs.
    pub inflation: f64,
    /// A [`Verdict`] code.
    pub verdict: u32,
    /// [`COMPARISON_TOO_FEW`] and its siblings.
    pub flags: u32,
    /// The option resolution.
    pub resolution: f64,
}

/// Compares a run with earlier ones of the same thing, oldest first: one value of each, such as the median of its
/// measurements.
///
/// The interval is Student's for one more value from the same distribution, `deviation * t * sqrt(1 + 1 / n)` either
/// way (G. J. Hahn and W. Q. Meeker, *Statistical Intervals*, 4.7), and never ends within the range of the earlier
/// runs. The former makes the alarm rate on unchanged code `1 - confidence` if runs are distributed normally. The
/// latter bounds it by `2 / (n + 1)` for any distribution. The margin is added. If runs depend on earlier ones, `n` is
/// the number of independent ones.
///
/// The option `quantile` is ignored, and the default confidence is 0.99. With fewer than [`FEWEST_RUNS`] there is no
/// interval and [`COMPARISON_TOO_FEW`] is set.
///
/// Cost: some passes over the runs; allocates nothing.
///
/// Fails with [`Error::Empty`] for no earlier runs, and with [`Error::InvalidArgument`] for values that are not finite
/// and options out of range.
pub fn compare_runs(earlier: &[f64], value: f64, options: &CompareOptions) -> Result<RunComparison> {
    let confidence = share_or(options.confidence, DEFAULT_CONFIDENCE)?;
    let power = share_or(options.power, DEFAULT_POWER)?;
    if !earlier.iter().chain([&value]).all(|value| value.is_finite()) {
        return Err(Error::InvalidArgument);
    }
    let count = earlier.len();
    if count == 0 {
        return Err(Error::Empty);
    }
    let n = count as f64;
    let mean = earlier.iter().map(|value| value / n).sum::<f64>();
    let squares = earlier.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
    let deviation = if count > 1 { libm::sqrt(squares / (n - 1.0)) } else { 0.0 };
    let lowest = earlier.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = earlier.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let correlation = correlate(count, |at| earlier[at]);
    let Margin { value: margin, flags } = options.margin(mean, 0.0)?;
    let difference = value - mean;
    let (mut half, mut smallest_detectable) = (f64::INFINITY, f64::INFINITY);
    if count >= FEWEST_RUNS {
        let independent =
            if correlation.is_significant { (n / correlation.inflation).max(INDEPENDENT) } else { n };
        let error = deviation * libm::sqrt(1.0 + 1.0 / independent);
        let t = student::quantile_above((1.0 - confidence) / 2.0, independent as u32 - 1);
        half = (t * error).min(f64::MAX);
        let z =
            if power > 0.5 { normal::quantile_above(1.0 - power) } else { -normal::quantile_above(power) };
        smallest_detectable = margin + half + (z * error).max(-half);
    }
    let lower = (difference - half).min(value - highest);
    let upper = (difference + half).max(value - lowest);
    let (verdict, mut flags) = judge(lower, upper, margin, flags);
    if count < FEWEST_RUNS {
        flags |= COMPARISON_TOO_FEW;
    }
    if correlation.is_significant {
        flags |= COMPARISON_AUTOCORRELATED;
    }
    Ok(RunComparison {
        run_count: count as u64,
        confidence,
        alarm_bound: (2.0 / (n + 1.0)).min(1.0),
        mean,
        deviation,
        lowest,
        highest,
        value,
        difference,
        difference_lower: lower,
        difference_upper: upper,
        margin,
        smallest_detectable,
        lag1: correlation.lag1,
        inflation: correlation.inflation,
        verdict: verdict as u32,
        flags,
        resolution: options.resolution.max(0.0),
    })
}

impl core::fmt::Display for RunComparison {
    /// Prints a sentence: the verdict and its subject.
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let base = libm::fabs(self.mean);
        let share = |value: f64| if base > 0.0 { value / base * 100.0 } else { 0.0 };
        let runs = self.run_count;
        if self.flags & COMPARISON_TOO_FEW != 0 {
            let plural = if runs == 1 { "" } else { "s" };
            return write!(out, "{runs} earlier run{plural} of {FEWEST_RUNS}: too few for a verdict");
        }
        write!(
            out,
            "{}: {:+.1}% [{:+.1}%, {:+.1}%] against {runs} earlier runs, which did not alternate with this one and spread over \
             {:.1}%; a change of {:.1}% would most likely be found",
            verdict_text(self.verdict, self.flags),
            share(self.difference),
            share(self.difference_lower),
            share(self.difference_upper),
            share(self.highest - self.lowest),
            share(self.smallest_detectable),
        )?;
        if self.flags & COMPARISON_AUTOCORRELATED != 0 {
            out.write_str("; runs depend on those before them")?;
        }
        Ok(())
    }
}
