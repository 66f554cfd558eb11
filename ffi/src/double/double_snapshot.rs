//! Snapshots of doubles: an interval that you can read more than once.
//!
//! A snapshot holds the buckets with counts, and no reference to a histogram, so it may be taken from several
//! histograms in turn. Make it once and update it as often as you like:
//!
//!     picollo_double_snapshot *snapshot;
//!     double median;
//!     const double half = 0.5;
//!     picollo_double_snapshot_create(NULL, &snapshot);            (empty)
//!     picollo_double_snapshot_update(snapshot, histogram, PICOLLO_INTERVAL_COLLECT);
//!     picollo_double_snapshot_quantiles(snapshot, &half, 1, &median);

use picollo_core::doubles::DoubleSnapshot;
pub use picollo_core::doubles::{
    DoubleBucket as picollo_double_bucket, DoublePercentile as picollo_double_percentile,
};

use crate::argument::{either, exclusive, input, list, output, room, slice};
use crate::counted::borrow;
use crate::double_histogram::{picollo_double_histogram, picollo_double_snapshot, picollo_double_statistics};
use crate::failure::{Failure, Outcome};
use crate::guard::{exported, guard_void};
use crate::memory;
use crate::status::picollo_status;

/// Copy the counts of the interval and leave them there. The copy may miss records that are made at the same time.
pub const PICOLLO_INTERVAL_LOOK: u32 = 0;
/// Take the counts of the interval out and start a new one, as picollo_double_histogram_collect does.
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
/// Makes a snapshot of a histogram's present interval, and leaves the counts there. Without a histogram it is empty,
/// for picollo_double_snapshot_merge and picollo_double_snapshot_update.
///
/// Requires: histogram may be NULL.
/// Returns: PICOLLO_ERR_BUSY if a thread is stopped for seconds while it collects.
/// Ownership: *out holds no reference to the histogram.
/// Cost: allocates less than 1 KB, and room for the buckets with counts; reads all existing counters.
fn picollo_double_snapshot_create(
    histogram: *const picollo_double_histogram,
    out: *mut *mut picollo_double_snapshot,
) -> picollo_status {
    let out = output(out)?;
    let mut snapshot = DoubleSnapshot::new();
    if !histogram.is_null() {
        borrow(histogram)?.peek(&mut snapshot)?;
    }
    out.deliver(memory::create(snapshot)?.as_ptr().cast())
}
}

/// Frees a snapshot.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_double_snapshot_free(snapshot: *mut picollo_double_snapshot) {
    // SAFETY: a handle leads to a snapshot in such a block, which the caller gives up.
    guard_void(|| unsafe { memory::destroy(snapshot.cast::<DoubleSnapshot>()) });
}

exported! {
/// Replaces the counts by those of a histogram's present interval.
///
/// Requires: collect is PICOLLO_INTERVAL_LOOK or PICOLLO_INTERVAL_COLLECT.
/// Returns: PICOLLO_OK, also if nothing was recorded; PICOLLO_ERR_OUT_OF_MEMORY and PICOLLO_ERR_BUSY (a thread is
///   stopped for seconds while it collects). A failed call takes nothing out.
/// Threads: any thread, one at a time per snapshot, also while others record and collect.
/// Cost: reads all existing counters; keeps its memory for the next time.
fn picollo_double_snapshot_update(
    snapshot: *mut picollo_double_snapshot,
    histogram: *mut picollo_double_histogram,
    collect: u32,
) -> picollo_status {
    let (snapshot, histogram) = (exclusive(snapshot.cast::<DoubleSnapshot>())?, borrow(histogram)?);
    if either(collect, PICOLLO_INTERVAL_LOOK, PICOLLO_INTERVAL_COLLECT)? {
        histogram.collect(snapshot)?;
    } else {
        histogram.peek(snapshot)?;
    }
    Ok(())
}

/// Reports the totals, the sum, the extremes and the moments. Numbers that do not exist are NaN.
///
/// Cost: two passes over the buckets with counts.
fn picollo_double_snapshot_statistics(
    snapshot: *const picollo_double_snapshot,
    out: *mut picollo_double_statistics,
) -> picollo_status {
    let (snapshot, out) = (read(snapshot)?, output(out)?);
    out.deliver(snapshot.statistics())
}

/// Finds the values at quantiles, by the rule that the histogram was made with.
///
/// Requires: quantiles are 0 ..= 1, in any order.
/// Returns: PICOLLO_ERR_EMPTY if nothing was recorded.
/// Cost: one pass over the buckets with counts per run of ascending quantiles.
fn picollo_double_snapshot_quantiles(
    snapshot: *const picollo_double_snapshot,
    quantiles: *const f64,
    length: usize,
    out: *mut f64,
) -> picollo_status {
    let (snapshot, quantiles, out) = (read(snapshot)?, slice(quantiles, length)?, room(out, length)?);
    Ok(snapshot.for_each_quantile(quantiles, length, |at, value| _ = out[at].write(value))?)
}

/// Lists the buckets with counts, in ascending order.
///
/// Cost: one pass over them.
fn picollo_double_snapshot_buckets(
    snapshot: *const picollo_double_snapshot,
    out: *mut picollo_double_bucket,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    let (snapshot, list) = (read(snapshot)?, list(out, capacity, out_length)?);
    list.fill(snapshot.buckets(), snapshot.buckets().count())
}

/// Adds the counts of another snapshot. If the relative errors differ, the count of each bucket goes to the bucket of
/// its midpoint, and the errors add up. Sum and extremes stay exact if both are exact. An empty snapshot becomes a
/// copy.
///
/// Requires: into and other are not the same snapshot.
/// Returns: PICOLLO_ERR_OUT_OF_MEMORY, and nothing has changed.
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
}
