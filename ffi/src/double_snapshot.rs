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

use crate::argument::{either, exclusive, input, list, output, room, slice, text};
use crate::counted::borrow;
use crate::double_histogram::picollo_double_statistics;
use crate::failure::{Failure, Outcome};
use crate::guard::{exported, guard_void};
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

exported! {
/// Makes a snapshot of a histogram's present interval, and leaves the counts there; or an empty one, to merge into and for
/// picollo_double_snapshot_update.
///
/// Requires: histogram is NULL for an empty one.
/// Returns: PICOLLO_ERR_BUSY if a thread is stopped for seconds while it collects.
/// Ownership: *out holds nothing of the histogram.
/// Cost: allocates less than 1 KB, and room for the buckets with counts; looks at all counters there are.
fn picollo_double_snapshot_create(
    histogram: *const picollo_double_histogram,
    out: *mut *mut picollo_double_snapshot,
) -> picollo_status {
    let out = output(out)?;
    let mut snapshot = DoubleSnapshot::new();
    if !histogram.is_null() {
        borrow(histogram)?.look(&mut snapshot)?;
    }
    out.tell(memory::create(snapshot)?.as_ptr().cast())
}
}

/// Frees a snapshot.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_double_snapshot_free(snapshot: *mut picollo_double_snapshot) {
    // SAFETY: a handle leads to a snapshot in such a block, which the caller gives up.
    guard_void(|| unsafe { memory::destroy(snapshot.cast::<DoubleSnapshot>()) });
}

exported! {
/// Takes the counts of a histogram's present interval, instead of those that the snapshot had.
///
/// Requires: collect is PICOLLO_INTERVAL_LOOK or PICOLLO_INTERVAL_COLLECT.
/// Returns: PICOLLO_OK, also when nothing was recorded; PICOLLO_ERR_OUT_OF_MEMORY and PICOLLO_ERR_BUSY (a thread is
///   stopped for seconds while it collects): nothing was taken out then.
/// Threads: any thread, one at a time with this snapshot, also while others record and collect.
/// Cost: looks at all counters there are; keeps its memory for the next time.
fn picollo_double_snapshot_update(
    snapshot: *mut picollo_double_snapshot,
    histogram: *mut picollo_double_histogram,
    collect: u32,
) -> picollo_status {
    let (snapshot, histogram) = (exclusive(snapshot.cast::<DoubleSnapshot>())?, borrow(histogram)?);
    if either(collect, PICOLLO_INTERVAL_LOOK, PICOLLO_INTERVAL_COLLECT)? {
        histogram.collect(snapshot)?;
    } else {
        histogram.look(snapshot)?;
    }
    Ok(())
}

/// Tells the totals, the sum, the extremes and the moments.
///
/// Returns: PICOLLO_OK, also when nothing was recorded: what does not exist is NaN.
/// Cost: two passes over the buckets with counts.
fn picollo_double_snapshot_statistics(
    snapshot: *const picollo_double_snapshot,
    out: *mut picollo_double_statistics,
) -> picollo_status {
    let (snapshot, out) = (read(snapshot)?, output(out)?);
    out.tell(snapshot.statistics())
}

/// Finds the values at quantiles, by the rule that the histogram was made with.
///
/// Requires: quantiles, 0 ..= 1 in any order, and out have length elements each and do not overlap.
/// Returns: PICOLLO_ERR_EMPTY when nothing was recorded.
/// Cost: one pass over the buckets with counts for each run of ascending quantiles.
fn picollo_double_snapshot_quantiles(
    snapshot: *const picollo_double_snapshot,
    quantiles: *const f64,
    length: usize,
    out: *mut f64,
) -> picollo_status {
    let (snapshot, quantiles, out) = (read(snapshot)?, slice(quantiles, length)?, room(out, length)?);
    Ok(snapshot.for_each_quantile(quantiles, length, |at, value| _ = out[at].write(value))?)
}

/// Summarises: statistics and sixteen percentiles. A snapshot without counts has a summary too: totals and targets 0,
/// everything else NaN.
///
/// Cost: three passes over the buckets with counts.
fn picollo_double_snapshot_summary(
    snapshot: *const picollo_double_snapshot,
    out: *mut picollo_double_summary,
) -> picollo_status {
    let (snapshot, out) = (read(snapshot)?, output(out)?);
    out.tell(snapshot.summary())
}

/// Lists the buckets that have counts, in ascending order.
///
/// Cost: one pass over the buckets with counts.
fn picollo_double_snapshot_buckets(
    snapshot: *const picollo_double_snapshot,
    out: *mut picollo_double_bucket,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    let (snapshot, list) = (read(snapshot)?, list(out, capacity, out_length)?);
    list.fill(snapshot.buckets(), snapshot.buckets().count())
}

/// Adds the counts of another snapshot. Of another relative error, each bucket's count goes to the bucket of its
/// midpoint, and the errors add up. Sum and extremes stay exact if both are. An empty snapshot becomes a copy.
///
/// Requires: into and other are not the same snapshot.
/// Returns: PICOLLO_ERR_OUT_OF_MEMORY: nothing was changed then.
/// Threads: any thread, one at a time with into.
/// Cost: sorts the buckets with counts of both.
fn picollo_double_snapshot_merge(
    into: *mut picollo_double_snapshot,
    other: *const picollo_double_snapshot,
) -> picollo_status {
    if into.cast_const() == other && !into.is_null() {
        return Err(Failure::INVALID_ARGUMENT);
    }
    // SAFETY: two different snapshots, as just checked; the rest is the caller's promise, passed on.
    let (into, other) = unsafe { (exclusive(into.cast::<DoubleSnapshot>())?, read(other)?) };
    Ok(into.merge(other)?)
}

/// Writes a summary of doubles as text, with the shortest digits that read back as the same double. The formats are
/// those of picollo_summary_format; 8192 bytes are enough for the Markdown of any summary with a short title.
///
/// Requires: format is PICOLLO_TEXT_....
/// Cost: tens of microseconds.
fn picollo_double_summary_format(
    summary: *const picollo_double_summary,
    title: *const c_char,
    format: u32,
    buffer: *mut c_char,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    let (summary, title) = (input(summary)?, text(title)?);
    let format = Format::try_from(format)?;
    write_text(buffer, capacity, out_length, &|out| summary.write(out, title, format))
}
}
