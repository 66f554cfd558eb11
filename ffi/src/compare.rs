//! Comparing: is B really faster than A, and by how much?
//!
//! A quantile of a snapshot is known only so well; how well, its interval tells. A comparison has the interval of the
//! difference of two quantiles, and a verdict: faster or slower when all of the interval lies beyond a margin, which is the
//! larger of a threshold and of what can be told apart at all, as the width of a bucket, and no evidence otherwise. Beside it stand Mann and Whitney's and
//! Kolmogorov and Smirnov's tests, and measures of how large the effect is. docs/comparing.md explains them.
//!
//!     picollo_comparison compared;
//!     if (picollo_compare(before, after, NULL, &compared) == PICOLLO_OK && compared.verdict == PICOLLO_VERDICT_SLOWER)
//!         printf("slower by %g to %g\n", compared.difference_lower, compared.difference_upper);
//!
//! All of it holds for observations that are independent of each other, and a histogram does not know the order in which
//! they came. What was measured in an order, in blocks of A and B next to each other, picollo_compare_blocks judges.

use core::ffi::c_char;

pub use picollo_core::{
    BlockComparison as picollo_block_comparison, Comparison as picollo_comparison,
    QuantileInterval as picollo_quantile_interval, RunComparison as picollo_run_comparison,
};
use picollo_core::{CompareOptions, compare_blocks, compare_runs, text::Format};

use crate::argument::{input, output, slice, text};
use crate::failure::{Failure, Outcome};
use crate::guard::exported;
use crate::handles::picollo_snapshot;
use crate::memory;
use crate::options;
use crate::snapshot;
use crate::status::picollo_status;
use crate::summary::picollo_summary;
use crate::text::write_text;

/// What to compare and what counts.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_compare_options {
    pub struct_size: u32,
    /// 0.
    pub flags: u32,
    /// Which quantile to compare, between 0 and 1. 0: 0.5, the median.
    pub quantile: f64,
    /// Confidence of the intervals, between 0 and 1. 0: 0.95.
    pub confidence: f64,
    /// Differences up to this share of A's quantile do not matter. 0: 0.01, one per cent; negative: no such threshold.
    pub relative_threshold: f64,
    /// Differences up to this do not matter, in units of the values.
    pub absolute_threshold: f64,
    /// How often smallest_detectable would be seen, between 0 and 1. 0: 0.8.
    pub power: f64,
    /// Differences up to this cannot be told apart, in units of the values. 0: any can, but for the width of buckets.
    pub resolution: f64,
}

// SAFETY: plain numbers in naturally aligned order (asserted in layout.rs), the size first.
unsafe impl options::Options for picollo_compare_options {
    const FIRST_SIZE: usize = 48;
}

/// What the caller asks for, as the core understands it.
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
/// Tells a quantile, and the interval that holds the true one, of which the observations are a sample. It is made of order
/// statistics, chosen by the binomial distribution, so that it is exact whatever the values are distributed like.
///
/// Requires: quantile is between 0 and 1, neither included; so is confidence, for which 0 stands for 0.95.
/// Returns: PICOLLO_ERR_EMPTY when nothing was recorded.
/// Cost: one pass over the counters, and some microseconds.
fn picollo_snapshot_quantile_interval(
    snapshot: *const picollo_snapshot,
    quantile: f64,
    confidence: f64,
    out: *mut picollo_quantile_interval,
) -> picollo_status {
    let (snapshot, out) = (snapshot::read(snapshot)?, output(out)?);
    out.tell(snapshot.quantile_interval(quantile, confidence)?)
}

/// Compares snapshot a, the older, with snapshot b, the newer. Their layouts may differ.
///
/// Returns: PICOLLO_ERR_EMPTY when one of the two has no observations.
/// Cost: some passes over the counters of both: tens to hundreds of microseconds, whatever the number of
///   observations.
fn picollo_compare(
    a: *const picollo_snapshot,
    b: *const picollo_snapshot,
    options: *const picollo_compare_options,
    out: *mut picollo_comparison,
) -> picollo_status {
    let (a, b, out) = (snapshot::read(a)?, snapshot::read(b)?, output(out)?);
    let options = read_options(options)?;
    out.tell(a.compare(b, &options)?)
}

/// Compares two series of blocks, a[i] measured next to b[i], such as times of A and of B, by the differences within pairs.
/// What changes slowly changes both. Tells also whether the differences depend on each other.
///
/// Requires: a and b have length finite elements each; options are NULL for the defaults, and their quantile is not
///   looked at: the median is compared.
/// Returns: PICOLLO_ERR_INVALID_ARGUMENT for elements that are not finite; PICOLLO_ERR_EMPTY for a length of 0.
/// Cost: sorts three times; allocates 8 bytes a block for the time of the call.
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
    out.tell(compare_blocks(a, b, &mut scratch, &options)?)
}

/// Compares a run with earlier ones of the same thing, the oldest first, one value of each, such as the median of what it measured:
/// whether it is beyond what the spread between those predicts. Runs on different days differ though the code does not, and no number
/// of observations within a run says by how much.
///
/// Requires: earlier has length finite elements. Their quantile is not looked at, and where they do not name a
///   confidence it is 0.99: of runs of unchanged code that are distributed normally one in a hundred stands out, and
///   of others at most 2 in length + 1. With fewer than 5 earlier runs there is no interval, and
///   PICOLLO_COMPARISON_TOO_FEW is set.
/// Returns: PICOLLO_ERR_INVALID_ARGUMENT for values that are not finite; PICOLLO_ERR_EMPTY for a length of 0.
/// Cost: some passes over the runs.
fn picollo_compare_runs(
    earlier: *const f64,
    length: usize,
    value: f64,
    options: *const picollo_compare_options,
    out: *mut picollo_run_comparison,
) -> picollo_status {
    let (earlier, out) = (slice(earlier, length)?, output(out)?);
    let options = read_options(options)?;
    out.tell(compare_runs(earlier, value, &options)?)
}

/// Writes a comparison as text: what changed from summary a to summary b, as picollo_summary_format_diff writes it, and
/// below it intervals, effects and the verdict. See "Text" for the formats.
///
/// Requires: a and b are summaries of the snapshots that were compared; format is PICOLLO_TEXT_.... Empty names read
///   "Before" and "After" in Markdown and in a line.
/// Otherwise: as picollo_summary_format.
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
    let (comparison, a, b) = (input(comparison)?, input(a)?, input(b)?);
    let (title, name_a, name_b) = (text(title)?, text(name_a)?, text(name_b)?);
    let format = Format::try_from(format)?;
    write_text(buffer, capacity, out_length, &|out| {
        comparison.write(a, b, out, title, name_a, name_b, format)
    })
}
}
