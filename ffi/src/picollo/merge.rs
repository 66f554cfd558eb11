//! Merging: adds and subtracts snapshots of any layouts, and reports what could not be placed exactly.
//!
//! By default (PICOLLO_PLACEMENT_MIDPOINT) the count of each bucket goes, as a whole, to the bucket that contains its
//! midpoint. Between equal buckets, and into coarser ones, this is exact: the result is the same as if the values had
//! been recorded there, in whatever order you merge. Into finer buckets it is right within the error of the coarser
//! ones. Counts outside the target's range become its underflow or overflow, so nothing vanishes.

pub use picollo_core::snapshots::Merged as picollo_merged;
use picollo_core::{SharedHistogram, Snapshot};

use crate::argument::{input, output};
use crate::counted::borrow;
use crate::failure::{Failure, Outcome};
use crate::guard::exported;
use crate::histogram::picollo_histogram;
use crate::mapping::{self, picollo_layout};
use crate::snapshot;
use crate::snapshot::picollo_snapshot;
use crate::snapshot_block::Block;
use crate::status::picollo_status;

/// The whole count of a bucket goes to the bucket of its midpoint.
pub const PICOLLO_PLACEMENT_MIDPOINT: u32 = 0;
/// The count of a bucket is divided in proportion among all buckets that share values with it. Rounding loses
/// nothing.
pub const PICOLLO_PLACEMENT_SPREAD: u32 = 1;
/// The whole count of a bucket goes to the bucket of its smallest value, as in the add of every HdrHistogram. So a
/// sum of intervals of a log equals HdrHistogram's.
pub const PICOLLO_PLACEMENT_LOW_ENDS: u32 = 2;

/// Writes a report, unless `out` is NULL.
///
/// # Safety
/// `out` must be NULL, or valid for a write.
unsafe fn report(merged: picollo_merged, out: *mut picollo_merged) -> Outcome {
    if !out.is_null() {
        output(out)?.set(merged);
    }
    Ok(())
}

/// Checks that a report can be written, before anything is changed.
///
/// # Safety
/// As for [`report`].
unsafe fn check_report(out: *mut picollo_merged) -> Outcome {
    if out.is_null() || out.is_aligned() { Ok(()) } else { Err(Failure::INVALID_ARGUMENT) }
}

exported! {
/// Adds all counts of another snapshot, of any layout; see picollo_histogram_add. Counts beyond 64 bits are reported
/// as lost. The next update replaces the sum.
///
/// Requires: into and other are not the same snapshot; out may be NULL.
/// Threads: any thread, one at a time with into.
/// Cost: one pass over the counters of other.
fn picollo_snapshot_merge(
    into: *mut picollo_snapshot,
    other: *const picollo_snapshot,
    placement: u32,
    out: *mut picollo_merged,
) -> picollo_status {
    let (into, other) = snapshot::pair(into, other)?;
    let merge = match placement {
        PICOLLO_PLACEMENT_MIDPOINT => Snapshot::merge,
        PICOLLO_PLACEMENT_SPREAD => Snapshot::merge_spreading,
        PICOLLO_PLACEMENT_LOW_ENDS => Snapshot::merge_low_ends,
        _ => return Err(Failure::INVALID_ARGUMENT),
    };
    check_report(out)?;
    let merged = merge(into.counts_mut(), other);
    report(merged, out)
}

/// Subtracts all counts of another snapshot, of any layout, from where picollo_snapshot_merge would have put them.
/// This includes its underflow, overflow and lost counts. So it undoes a merge, or finds what an interval added to an
/// earlier one. The next update replaces the difference.
///
/// Requires: from and other are not the same snapshot; out may be NULL.
/// Returns: PICOLLO_ERR_INVALID_ARGUMENT, with nothing changed, if a count would fall below zero.
/// Threads: any thread, one at a time with from.
/// Cost: two passes over the counters of other.
fn picollo_snapshot_subtract(
    from: *mut picollo_snapshot,
    other: *const picollo_snapshot,
    out: *mut picollo_merged,
) -> picollo_status {
    let (from, other) = snapshot::pair(from, other)?;
    check_report(out)?;
    let merged = from.counts_mut().subtract(other)?;
    report(merged, out)
}

/// Adds all counts of a snapshot, of any layout. This is exact if the buckets are the same, or coarser here. If they
/// are finer here, placement decides where each count goes. Counts outside the range become underflow or overflow;
/// underflow, overflow and lost counts are added to those here. Wraps of 32-bit counters are not in the report, but
/// snapshots report them as lost.
///
/// Requires: out may be NULL.
/// Threads: as picollo_histogram_record.
/// Cost: one pass over the counters of the snapshot.
fn picollo_histogram_add(
    histogram: *mut picollo_histogram,
    other: *const picollo_snapshot,
    placement: u32,
    out: *mut picollo_merged,
) -> picollo_status {
    let (histogram, other) = (borrow(histogram)?, snapshot::read(other)?);
    let add = match placement {
        PICOLLO_PLACEMENT_MIDPOINT => SharedHistogram::add_snapshot,
        PICOLLO_PLACEMENT_SPREAD => SharedHistogram::add_snapshot_spreading,
        PICOLLO_PLACEMENT_LOW_ENDS => SharedHistogram::add_snapshot_low_ends,
        _ => return Err(Failure::INVALID_ARGUMENT),
    };
    check_report(out)?;
    let merged = add(&histogram, other);
    report(merged, out)
}
}

#[cfg(feature = "std")]
exported! {
/// Makes an empty snapshot without a histogram, to merge others into, such as the intervals of a log.
///
/// Requires: layout was filled in by this library; picollo_layout_with_range makes one for another range.
/// Cost: allocates 8 bytes per counter.
fn picollo_snapshot_create_from_layout(
    layout: *const picollo_layout,
    out: *mut *mut picollo_snapshot,
) -> picollo_status {
    let (layout, out) = (mapping::read(layout)?, output(out)?);
    out.deliver(Block::from_layout(layout)?.as_ptr().cast())
}

/// Makes a copy without a histogram, to keep counts that the next update replaces, or to merge into.
///
/// Cost: allocates 8 bytes per counter, copies all counters.
fn picollo_snapshot_copy(
    snapshot: *const picollo_snapshot,
    out: *mut *mut picollo_snapshot,
) -> picollo_status {
    let (snapshot, out) = (input(snapshot.cast::<Block>())?, output(out)?);
    out.deliver(Block::new_copy(snapshot)?.as_ptr().cast())
}
}
