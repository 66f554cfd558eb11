//! Snapshots of doubles: what was recorded in one interval, to read more than once.
//!
//! A snapshot holds the buckets that have counts, and nothing of the histogram that it was taken from: one may take from
//! several histograms in turn. It is made once and taken into as often as one likes:
//!
//!     picollo_double_snapshot *snapshot;
//!     picollo_double_summary summary;
//!     picollo_double_snapshot_create(NULL, &snapshot);            (of nothing yet)
//!     picollo_double_snapshot_update(snapshot, histogram, PICOLLO_INTERVAL_COLLECT);
//!     picollo_double_snapshot_summary(snapshot, &summary);
//!     picollo_double_summary_format(&summary, "Skew", PICOLLO_TEXT_MARKDOWN, text, sizeof text, &length);

use core::ffi::c_char;

use picollo_core::DoubleSnapshot;
use picollo_core::text::Format;
pub use picollo_core::{
    DoubleBucket as picollo_double_bucket, DoublePercentile as picollo_double_percentile,
    DoubleSummary as picollo_double_summary,
};

use crate::argument::{either, exclusive, input, list, output, slice, slice_mut, text};
use crate::counted::borrow;
use crate::double_histogram::picollo_double_statistics;
use crate::failure::{Failure, Outcome};
use crate::guard::{guard, guard_void};
use crate::handles::{picollo_double_histogram, picollo_double_snapshot};
use crate::memory;
use crate::status::picollo_status;
use crate::text::write_text;

/// Look at the counts of the interval and leave them there; what is recorded meanwhile may be in it or not.
pub const PICOLLO_INTERVAL_LOOK: u32 = 0;
/// Take the counts of the interval out, and start a new one, as picollo_double_histogram_collect does.
pub const PICOLLO_INTERVAL_COLLECT: u32 = 1;

/// The snapshot behind a handle.
///
/// # Safety
/// If not NULL, `snapshot` must be a handle that is neither changed nor freed during the call.
pub unsafe fn read<'a>(snapshot: *const picollo_double_snapshot) -> Outcome<&'a DoubleSnapshot> {
    // SAFETY: a handle leads to a snapshot; the rest is passed on.
    unsafe { input(snapshot.cast()) }
}

/// Makes a snapshot of a histogram's present interval, and leaves the counts there; or an empty one, to merge into and for
/// picollo_double_snapshot_update.
///
/// Requires: histogram is NULL for an empty one.
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (out); PICOLLO_ERR_OUT_OF_MEMORY; PICOLLO_ERR_BUSY against collections.
/// Ownership: *out is the caller's, for picollo_double_snapshot_free; it holds nothing of the histogram.
/// Threads: any thread, also while others record and collect.
/// Cost: allocates less than 1 KB, and room for the buckets with counts; looks at all counters there are.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_double_snapshot_create(
    histogram: *const picollo_double_histogram,
    out: *mut *mut picollo_double_snapshot,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promise, passed on.
        let out = unsafe { output(out)? };
        let mut snapshot = DoubleSnapshot::new();
        if !histogram.is_null() {
            // SAFETY: as above.
            unsafe { borrow(histogram)? }.look(&mut snapshot)?;
        }
        out.set(memory::create(snapshot)?.as_ptr().cast());
        Ok(())
    })
}

/// Frees a snapshot. NULL is allowed and does nothing.
///
/// Threads: any thread, once.
/// Cost: frees its memory.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_double_snapshot_free(snapshot: *mut picollo_double_snapshot) {
    // SAFETY: a handle leads to a snapshot in such a block, which the caller gives up.
    guard_void(|| unsafe { memory::destroy(snapshot.cast::<DoubleSnapshot>()) });
}

/// Takes the counts of a histogram's present interval, instead of those that the snapshot had.
///
/// Requires: collect is PICOLLO_INTERVAL_LOOK or PICOLLO_INTERVAL_COLLECT.
/// Returns: PICOLLO_OK, also when nothing was recorded; PICOLLO_ERR_NULL_POINTER (snapshot, histogram);
///   PICOLLO_ERR_INVALID_ARGUMENT (collect); PICOLLO_ERR_OUT_OF_MEMORY and PICOLLO_ERR_BUSY, against other collections:
///   nothing was taken out then.
/// Threads: any thread, one at a time with this snapshot, also while others record and collect.
/// Cost: looks at all counters there are; keeps its memory for the next time.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_double_snapshot_update(
    snapshot: *mut picollo_double_snapshot,
    histogram: *mut picollo_double_histogram,
    collect: u32,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        let (snapshot, histogram) =
            unsafe { (exclusive(snapshot.cast::<DoubleSnapshot>())?, borrow(histogram)?) };
        if either(collect, PICOLLO_INTERVAL_LOOK, PICOLLO_INTERVAL_COLLECT)? {
            histogram.collect(snapshot)?;
        } else {
            histogram.look(snapshot)?;
        }
        Ok(())
    })
}

/// Tells the totals, the sum, the extremes and the moments.
///
/// Returns: PICOLLO_OK, also when nothing was recorded: what does not exist is NaN; PICOLLO_ERR_NULL_POINTER (snapshot,
///   out).
/// Threads: any thread.
/// Cost: two passes over the buckets with counts; allocates nothing.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_double_snapshot_statistics(
    snapshot: *const picollo_double_snapshot,
    out: *mut picollo_double_statistics,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        let (snapshot, out) = unsafe { (read(snapshot)?, output(out)?) };
        out.set(snapshot.statistics());
        Ok(())
    })
}

/// Finds the values at quantiles, by the rule that the histogram was made with.
///
/// Requires: quantiles, 0 ..= 1 in any order, and out have length elements each and do not overlap.
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (snapshot, and with a length above 0 quantiles and out);
///   PICOLLO_ERR_INVALID_ARGUMENT for a quantile that is NaN or outside 0 ..= 1; PICOLLO_ERR_EMPTY when nothing was
///   recorded.
/// Threads: any thread.
/// Cost: one pass over the buckets with counts for each run of ascending quantiles; allocates nothing.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_double_snapshot_quantiles(
    snapshot: *const picollo_double_snapshot,
    quantiles: *const f64,
    length: usize,
    out: *mut f64,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        let (snapshot, quantiles, out) =
            unsafe { (read(snapshot)?, slice(quantiles, length)?, slice_mut(out, length)?) };
        Ok(snapshot.quantiles(quantiles, out)?)
    })
}

/// Summarises: statistics and sixteen percentiles. A snapshot without counts has a summary too: totals and targets 0,
/// everything else NaN.
///
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (snapshot, out).
/// Threads: any thread.
/// Cost: three passes over the buckets with counts; allocates nothing.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_double_snapshot_summary(
    snapshot: *const picollo_double_snapshot,
    out: *mut picollo_double_summary,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        let (snapshot, out) = unsafe { (read(snapshot)?, output(out)?) };
        out.set(snapshot.summary());
        Ok(())
    })
}

/// Lists the buckets that have counts, in ascending order.
///
/// Requires: out has capacity elements.
/// Returns: PICOLLO_OK; PICOLLO_ERR_BUFFER_TOO_SMALL; PICOLLO_ERR_NULL_POINTER (snapshot, out_length, and out with a
///   capacity above 0).
/// Threads: any thread.
/// Cost: one pass over the buckets with counts; allocates nothing.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_double_snapshot_buckets(
    snapshot: *const picollo_double_snapshot,
    out: *mut picollo_double_bucket,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        let (snapshot, list) = unsafe { (read(snapshot)?, list(out, capacity, out_length)?) };
        list.fill(snapshot.buckets(), snapshot.buckets().count())
    })
}

/// Adds the counts of another snapshot. Of another relative error, each bucket's count goes to the bucket of its
/// midpoint, and the errors add up. Sum and extremes stay exact if both are. An empty snapshot becomes a copy.
///
/// Requires: into and other are not the same snapshot.
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (into, other); PICOLLO_ERR_INVALID_ARGUMENT when they are the same;
///   PICOLLO_ERR_OUT_OF_MEMORY: nothing was changed then.
/// Threads: any thread, one at a time with into.
/// Cost: sorts the buckets with counts of both.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_double_snapshot_merge(
    into: *mut picollo_double_snapshot,
    other: *const picollo_double_snapshot,
) -> picollo_status {
    guard(|| {
        if into.cast_const() == other && !into.is_null() {
            return Err(Failure::INVALID_ARGUMENT);
        }
        // SAFETY: two different snapshots, as just checked; the rest is the caller's promise, passed on.
        let (into, other) = unsafe { (exclusive(into.cast::<DoubleSnapshot>())?, read(other)?) };
        Ok(into.merge(other)?)
    })
}

/// Writes a summary of doubles as text, with the shortest digits that read back as the same double. The formats are
/// those of picollo_summary_format; 8192 bytes are enough for the Markdown of any summary with a short title.
///
/// Requires: format is PICOLLO_TEXT_...; buffer has capacity bytes.
/// Returns: PICOLLO_OK; PICOLLO_ERR_BUFFER_TOO_SMALL; PICOLLO_ERR_NULL_POINTER (summary, out_length, and buffer with a
///   capacity above 0); PICOLLO_ERR_INVALID_ARGUMENT for a title that is not UTF-8 and for an unknown format.
/// Threads: any thread.
/// Cost: tens of microseconds; allocates nothing.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_double_summary_format(
    summary: *const picollo_double_summary,
    title: *const c_char,
    format: u32,
    buffer: *mut c_char,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        let (summary, title) = unsafe { (input(summary)?, text(title)?) };
        let format = Format::try_from(format)?;
        // SAFETY: the caller's promises, passed on.
        unsafe { write_text(buffer, capacity, out_length, &|out| summary.write(out, title, format)) }
    })
}
