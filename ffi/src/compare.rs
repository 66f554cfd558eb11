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
use picollo_core::{
    COMPARISON_APPROXIMATE, COMPARISON_AUTOCORRELATED, COMPARISON_BELOW_RESOLUTION,
    COMPARISON_LAYOUTS_DIFFER, COMPARISON_MARGIN_IS_RESOLUTION, COMPARISON_NOISY, COMPARISON_OUT_OF_RANGE,
    COMPARISON_TOO_FEW, COMPARISON_WITHIN_MARGIN, CompareOptions, Verdict, compare_blocks, compare_runs,
    text::Format,
};

use crate::argument::{input, output, slice, text};
use crate::failure::{Failure, Outcome};
use crate::guard::guard;
use crate::handles::picollo_snapshot;
use crate::memory;
use crate::options;
use crate::snapshot;
use crate::status::picollo_status;
use crate::summary::picollo_summary;
use crate::text::write_text;

/// Neither faster nor slower, as far as can be seen. Not the same as equal: see smallest_detectable.
pub const PICOLLO_VERDICT_NO_EVIDENCE: u32 = 0;
/// B's values are smaller, by more than the margin.
pub const PICOLLO_VERDICT_FASTER: u32 = 1;
/// B's values are larger, by more than the margin.
pub const PICOLLO_VERDICT_SLOWER: u32 = 2;

/// There are too few observations for an end of an interval.
pub const PICOLLO_COMPARISON_TOO_FEW: u32 = 1 << 0;
/// The whole interval of the difference lies inside the margin: the two are the same, as far as it matters.
pub const PICOLLO_COMPARISON_WITHIN_MARGIN: u32 = 1 << 1;
/// Observations were out of range or lost: they are in none of the numbers.
pub const PICOLLO_COMPARISON_OUT_OF_RANGE: u32 = 1 << 2;
/// Counts are estimates: of scalable histograms.
pub const PICOLLO_COMPARISON_APPROXIMATE: u32 = 1 << 3;
/// The precisions of the two differ: ranks are then compared by the buckets of the coarser.
pub const PICOLLO_COMPARISON_LAYOUTS_DIFFER: u32 = 1 << 4;
/// Blocks depend on those before them: the interval is wider for it, up to all of their range.
pub const PICOLLO_COMPARISON_AUTOCORRELATED: u32 = 1 << 5;
/// The margin is what can be told apart at all, and not what matters: the option resolution, or the width of a bucket.
pub const PICOLLO_COMPARISON_MARGIN_IS_RESOLUTION: u32 = 1 << 6;
/// The whole interval of the difference lies inside such a margin: below what this measurement can tell, which is neither
/// equal nor different.
pub const PICOLLO_COMPARISON_BELOW_RESOLUTION: u32 = 1 << 7;
/// Other programs or the host disturbed too much of the measurement: nothing is proven, and the verdict is no evidence,
/// whatever the interval says. Of benchmarks; see picollo_benchmark_noise.
pub const PICOLLO_COMPARISON_NOISY: u32 = 1 << 8;

const _: () = assert!(
    PICOLLO_VERDICT_NO_EVIDENCE == Verdict::NoEvidence as u32
        && PICOLLO_VERDICT_FASTER == Verdict::Faster as u32
        && PICOLLO_VERDICT_SLOWER == Verdict::Slower as u32
        && PICOLLO_COMPARISON_TOO_FEW == COMPARISON_TOO_FEW
        && PICOLLO_COMPARISON_WITHIN_MARGIN == COMPARISON_WITHIN_MARGIN
        && PICOLLO_COMPARISON_OUT_OF_RANGE == COMPARISON_OUT_OF_RANGE
        && PICOLLO_COMPARISON_APPROXIMATE == COMPARISON_APPROXIMATE
        && PICOLLO_COMPARISON_LAYOUTS_DIFFER == COMPARISON_LAYOUTS_DIFFER
        && PICOLLO_COMPARISON_AUTOCORRELATED == COMPARISON_AUTOCORRELATED
        && PICOLLO_COMPARISON_MARGIN_IS_RESOLUTION == COMPARISON_MARGIN_IS_RESOLUTION
        && PICOLLO_COMPARISON_BELOW_RESOLUTION == COMPARISON_BELOW_RESOLUTION
        && PICOLLO_COMPARISON_NOISY == COMPARISON_NOISY
);

/// What to compare and what counts. Begin with PICOLLO_COMPARE_OPTIONS_INIT, and change what should
/// not be the default.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_compare_options {
    /// sizeof(picollo_compare_options).
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
    // SAFETY: passed on.
    let Some(asked) = (unsafe { options::read(options) })? else { return Ok(CompareOptions::default()) };
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
    })
}

/// Tells a quantile, and the interval that holds the true one, of which the observations are a sample. It is made of order
/// statistics, chosen by the binomial distribution, so that it is exact whatever the values are distributed like.
///
/// Requires: quantile is between 0 and 1, neither included; so is confidence, for which 0 stands for 0.95.
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (snapshot, out); PICOLLO_ERR_INVALID_ARGUMENT (quantile, confidence);
///   PICOLLO_ERR_EMPTY when nothing was recorded.
/// Threads: any thread.
/// Cost: one pass over the counters, and some microseconds; allocates nothing.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_snapshot_quantile_interval(
    snapshot: *const picollo_snapshot,
    quantile: f64,
    confidence: f64,
    out: *mut picollo_quantile_interval,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        let (snapshot, out) = unsafe { (snapshot::read(snapshot)?, output(out)?) };
        out.set(snapshot.quantile_interval(quantile, confidence)?);
        Ok(())
    })
}

/// Compares snapshot a, the older, with snapshot b, the newer. Their layouts may differ.
///
/// Requires: options are NULL for the defaults.
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (a, b, out); PICOLLO_ERR_INVALID_ARGUMENT, PICOLLO_ERR_UNSUPPORTED
///   (options); PICOLLO_ERR_EMPTY when one of the two has no observations.
/// Threads: any thread.
/// Cost: some passes over the counters of both: tens to hundreds of microseconds, whatever the number of observations;
///   allocates nothing.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_compare(
    a: *const picollo_snapshot,
    b: *const picollo_snapshot,
    options: *const picollo_compare_options,
    out: *mut picollo_comparison,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        let (a, b, out) = unsafe { (snapshot::read(a)?, snapshot::read(b)?, output(out)?) };
        // SAFETY: as above.
        let options = unsafe { read_options(options)? };
        out.set(a.compare(b, &options)?);
        Ok(())
    })
}

/// Compares two series of blocks, a[i] measured next to b[i], such as times of A and of B, by the differences within pairs.
/// What changes slowly changes both. Tells also whether the differences depend on each other.
///
/// Requires: a and b have length finite elements each; options are NULL for the defaults, and their quantile is not
///   looked at: the median is compared.
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (out, and with a length above 0 a and b); PICOLLO_ERR_INVALID_ARGUMENT for
///   elements that are not finite, and with PICOLLO_ERR_UNSUPPORTED for options; PICOLLO_ERR_EMPTY for a length of 0;
///   PICOLLO_ERR_OUT_OF_MEMORY.
/// Threads: any thread.
/// Cost: sorts three times; allocates 8 bytes a block for the time of the call.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_compare_blocks(
    a: *const f64,
    b: *const f64,
    length: usize,
    options: *const picollo_compare_options,
    out: *mut picollo_block_comparison,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        let (a, b, out) = unsafe { (slice(a, length)?, slice(b, length)?, output(out)?) };
        // SAFETY: as above.
        let options = unsafe { read_options(options)? };
        let mut scratch = memory::numbers(length)?;
        out.set(compare_blocks(a, b, &mut scratch, &options)?);
        Ok(())
    })
}

/// Compares a run with earlier ones of the same thing, the oldest first, one value of each, such as the median of what it measured:
/// whether it is beyond what the spread between those predicts. Runs on different days differ though the code does not, and no number
/// of observations within a run says by how much.
///
/// Requires: earlier has length finite elements; options are NULL for the defaults. Their quantile is not looked at, and where they
///   do not name a confidence it is 0.99: of runs of unchanged code that are distributed normally one in a hundred stands out, and of
///   others at most 2 in length + 1. With fewer than 5 earlier runs there is no interval, and PICOLLO_COMPARISON_TOO_FEW is set.
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (out, and with a length above 0 earlier); PICOLLO_ERR_INVALID_ARGUMENT for
///   values that are not finite, and with PICOLLO_ERR_UNSUPPORTED for options; PICOLLO_ERR_EMPTY for a length of 0.
/// Threads: any thread.
/// Cost: some passes over the runs; allocates nothing.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_compare_runs(
    earlier: *const f64,
    length: usize,
    value: f64,
    options: *const picollo_compare_options,
    out: *mut picollo_run_comparison,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        let (earlier, out) = unsafe { (slice(earlier, length)?, output(out)?) };
        // SAFETY: as above.
        let options = unsafe { read_options(options)? };
        out.set(compare_runs(earlier, value, &options)?);
        Ok(())
    })
}

/// Writes a comparison as text: what changed from summary a to summary b, as picollo_summary_format_diff writes it, and
/// below it intervals, effects and the verdict. See "Text" for the formats; the CSV is one row of the comparison alone.
///
/// Requires: a and b are summaries of the snapshots that were compared; format is PICOLLO_TEXT_...; buffer has capacity
///   bytes. Empty names read "Before" and "After" in Markdown and in a line.
/// Returns: PICOLLO_ERR_NULL_POINTER (comparison, a, b, out_length, and buffer with a capacity above 0); otherwise as
///   picollo_summary_format, for title and names.
/// Threads: any thread.
/// Cost: as picollo_summary_format.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_comparison_format(
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
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        let (comparison, a, b) = unsafe { (input(comparison)?, input(a)?, input(b)?) };
        // SAFETY: as above.
        let (title, name_a, name_b) = unsafe { (text(title)?, text(name_a)?, text(name_b)?) };
        let format = Format::try_from(format)?;
        // SAFETY: as above.
        unsafe {
            write_text(buffer, capacity, out_length, &|out| {
                comparison.write(a, b, out, title, name_a, name_b, format)
            })
        }
    })
}
