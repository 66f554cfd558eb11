//! Comparing: is B really faster than A, and by how much?
//!
//! A quantile of a snapshot is only an estimate; its interval shows how good. A comparison has the interval of the
//! difference between two quantiles, and a verdict. The verdict is faster or slower if the whole interval lies beyond
//! a margin. Otherwise there is no evidence. The margin is the larger of a threshold and of the resolution, such as
//! the width of a bucket. A comparison also has the tests of Mann and Whitney and of Kolmogorov and Smirnov, and
//! effect sizes. docs/is-it-faster.md explains them.
//!
//!     picollo_comparison compared;
//!     if (picollo_compare(before, after, NULL, &compared) == PICOLLO_OK && compared.verdict == PICOLLO_VERDICT_SLOWER)
//!         printf("slower by %g to %g\n", compared.difference_lower, compared.difference_upper);
//!
//! All this assumes that observations are independent of each other. A histogram does not know their order. If you
//! measured in an order, in blocks of A and B next to each other, use picollo_compare_blocks.

use core::ffi::c_char;

pub use picollo_stats::{
    BlockComparison as picollo_block_comparison, Comparison as picollo_comparison,
    QuantileInterval as picollo_quantile_interval, RunComparison as picollo_run_comparison,
};
use picollo_stats::{CompareOptions, compare_blocks, compare_runs, compare_snapshots, quantile_interval};
use picollo_text::{Format, write_comparison};

use crate::argument::{input, output, slice, text};
use crate::failure::{Failure, Outcome};
use crate::guard::exported;
use crate::memory;
use crate::options;
use crate::snapshot;
use crate::snapshot::picollo_snapshot;
use crate::status::picollo_status;
use crate::summary::{for_text, picollo_summary};
use crate::text::write_text;

/// Options of a comparison.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_compare_options {
    pub struct_size: u32,
    /// 0.
    pub flags: u32,
    /// Quantile to compare, between 0 and 1. 0: 0.5, the median.
    pub quantile: f64,
    /// Confidence of the intervals, between 0 and 1. 0: 0.95.
    pub confidence: f64,
    /// Differences up to this share of A's quantile do not matter. 0: 0.01, one per cent; negative: no such
    /// threshold.
    pub relative_threshold: f64,
    /// Differences up to this do not matter, in units of the values.
    pub absolute_threshold: f64,
    /// Probability of detecting a difference of smallest_detectable, between 0 and 1. 0: 0.8.
    pub power: f64,
    /// Differences up to this cannot be resolved, in units of the values. 0: only the width of buckets limits the
    /// resolution.
    pub resolution: f64,
}

// SAFETY: plain numbers in naturally aligned order (asserted in layout.rs), the size first.
unsafe impl options::Options for picollo_compare_options {
    const FIRST_SIZE: usize = 48;
}

/// Converts the caller's options to those of the core.
///
/// # Safety
/// As for [`options::read`].
pub unsafe fn read_options(options: *const picollo_compare_options) -> Outcome<CompareOptions> {
    let Some(asked) = options::read(options)? else { return Ok(CompareOptions::default()) };
    if asked.flags != 0 {
        return Err(Failure::UNSUPPORTED);
    }
    Ok(CompareOptions {
        quantile: asked.quantile,
        confidence: asked.confidence,
        relative_threshold: asked.relative_threshold,
        absolute_threshold: asked.absolute_threshold,
        power: asked.power,
        resolution: asked.resolution,
        ..CompareOptions::default()
    })
}

exported! {
/// Reports a quantile and its confidence interval for the distribution that was sampled. The ends of the interval are
/// order statistics, chosen by the binomial distribution, so the interval is exact for any distribution of values.
///
/// Requires: quantile is strictly between 0 and 1; so is confidence, or it is 0 for 0.95.
/// Returns: PICOLLO_ERR_EMPTY if nothing was recorded.
/// Cost: one pass over the counters, and a few microseconds.
fn picollo_snapshot_quantile_interval(
    snapshot: *const picollo_snapshot,
    quantile: f64,
    confidence: f64,
    out: *mut picollo_quantile_interval,
) -> picollo_status {
    let (snapshot, out) = (snapshot::read(snapshot)?, output(out)?);
    out.deliver(quantile_interval(snapshot, quantile, confidence)?)
}

/// Compares snapshot a, the older, with snapshot b, the newer. Their layouts may differ.
///
/// Returns: PICOLLO_ERR_EMPTY if one of the two has no observations.
/// Cost: a few passes over the counters of both: tens to hundreds of microseconds, whatever the number of
///   observations.
fn picollo_compare(
    a: *const picollo_snapshot,
    b: *const picollo_snapshot,
    options: *const picollo_compare_options,
    out: *mut picollo_comparison,
) -> picollo_status {
    let (a, b, out) = (snapshot::read(a)?, snapshot::read(b)?, output(out)?);
    let options = read_options(options)?;
    out.deliver(compare_snapshots(a, b, &options)?)
}
}

#[cfg(feature = "std")]
exported! {
/// Compares two series of blocks by the differences within pairs: a[i] was measured next to b[i], such as times of A
/// and of B. Slow changes of the machine affect both. The result also shows whether the differences depend on each
/// other.
///
/// Requires: a and b have finite elements; options.quantile is ignored: the median is compared.
/// Returns: PICOLLO_ERR_INVALID_ARGUMENT for elements that are not finite; PICOLLO_ERR_EMPTY for a length of 0.
/// Cost: sorts three times; allocates 8 bytes per block temporarily.
fn picollo_compare_blocks(
    a: *const f64,
    b: *const f64,
    length: usize,
    options: *const picollo_compare_options,
    out: *mut picollo_block_comparison,
) -> picollo_status {
    let (a, b, out) = (slice(a, length)?, slice(b, length)?, output(out)?);
    let options = read_options(options)?;
    let mut scratch = memory::numbers(length)?;
    out.deliver(compare_blocks(a, b, &mut scratch, &options)?)
}
}

exported! {
/// Compares a run with earlier runs of the same thing, the oldest first. Each run has one value, such as the median
/// of its measurements. The result shows whether the new value is beyond what the spread of the earlier ones
/// predicts. Runs on different days differ even if the code does not, and more observations within a run do not show
/// by how much.
///
/// Requires: earlier has finite elements; options.quantile is ignored. The default confidence is 0.99: one in a
///   hundred runs of unchanged code stands out if they are distributed normally, and otherwise at most 2 in length +
///   1. With fewer than 5 earlier runs there is no interval, and PICOLLO_COMPARISON_TOO_FEW is set.
/// Returns: PICOLLO_ERR_INVALID_ARGUMENT for values that are not finite; PICOLLO_ERR_EMPTY for a length of 0.
/// Cost: a few passes over the runs.
fn picollo_compare_runs(
    earlier: *const f64,
    length: usize,
    value: f64,
    options: *const picollo_compare_options,
    out: *mut picollo_run_comparison,
) -> picollo_status {
    let (earlier, out) = (slice(earlier, length)?, output(out)?);
    let options = read_options(options)?;
    out.deliver(compare_runs(earlier, value, &options)?)
}

/// Writes a comparison as text: the changes from summary a to summary b, as picollo_summary_format_diff does, then
/// intervals, effect sizes and the verdict.
///
/// Requires: a and b are summaries of the compared snapshots.
/// Otherwise: as picollo_summary_format_diff.
fn picollo_comparison_format(
    comparison: *const picollo_comparison,
    a: *const picollo_summary,
    b: *const picollo_summary,
    title: *const c_char,
    name_a: *const c_char,
    name_b: *const c_char,
    format: u32,
    buffer: *mut c_char,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    let (comparison, a, b) = (input(comparison)?, for_text(a)?, for_text(b)?);
    let (title, name_a, name_b) = (text(title)?, text(name_a)?, text(name_b)?);
    let format = Format::try_from(format)?;
    write_text(buffer, capacity, out_length, &|out| {
        write_comparison(comparison, &a, &b, out, title, name_a, name_b, format)
    })
}
}
