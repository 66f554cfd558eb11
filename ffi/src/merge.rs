//! Merging: snapshots of any layouts, added and subtracted, with a report of what could not be placed exactly.
//!
//! Each bucket's count goes, whole, to the bucket that its midpoint falls into (PICOLLO_PLACEMENT_MIDPOINT). Between
//! the same buckets, and into coarser ones, that is exact: the result is what recording there would have given, in
//! whatever order things are merged. Into finer buckets it is right within the error of the coarser. What lies
//! outside the range is counted as underflow or overflow there; nothing vanishes.

pub use picollo_core::Merged as picollo_merged;
use picollo_core::{SharedHistogram, Snapshot};

use crate::argument::{input, output};
use crate::counted::borrow;
use crate::failure::{Failure, Outcome};
use crate::guard::exported;
use crate::handles::{picollo_histogram, picollo_snapshot};
use crate::mapping::{self, picollo_layout};
use crate::snapshot;
use crate::snapshot_block::Block;
use crate::status::picollo_status;

/// A bucket's count goes, whole, to the bucket of its midpoint.
pub const PICOLLO_PLACEMENT_MIDPOINT: u32 = 0;
/// A bucket's count is divided among all buckets that it has values of, in proportion, losing none to rounding.
pub const PICOLLO_PLACEMENT_SPREAD: u32 = 1;
/// A bucket's count goes, whole, to the bucket of its smallest value, as in the add of every HdrHistogram: a sum of intervals of a log
/// is theirs.
pub const PICOLLO_PLACEMENT_LOW_ENDS: u32 = 2;

/// Writes a report to those who want one.
///
/// # Safety
/// `out` must be NULL, or valid for a write.
unsafe fn report(merged: picollo_merged, out: *mut picollo_merged) -> Outcome {
    if !out.is_null() {
        output(out)?.set(merged);
    }
    Ok(())
}

/// Finds out a report that cannot be written to, before anything is changed.
///
/// # Safety
/// As for [`report`].
unsafe fn check_report(out: *mut picollo_merged) -> Outcome {
    if out.is_null() || out.is_aligned() { Ok(()) } else { Err(Failure::INVALID_ARGUMENT) }
}

exported! {
/// Adds all counts of another snapshot, of any layout, by the rule of picollo_histogram_add. What does not fit into 64
/// bits is counted as lost. The next update replaces what was merged.
///
/// Requires: into and other are not the same snapshot; placement is PICOLLO_PLACEMENT_...; out is NULL, or leads to
///   where a report goes of what could not be placed exactly.
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

/// Takes away all counts of another snapshot, of any layout, from where picollo_snapshot_merge would have put them; its
/// underflow, overflow and lost counts too. So it undoes a merge, and tells what an interval added to an earlier one. The
/// next update replaces what is left.
///
/// Requires: from and other are not the same snapshot; out is NULL, or leads to where the report goes.
/// Returns: PICOLLO_ERR_INVALID_ARGUMENT, with nothing changed, when there is less than is to be taken away.
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

/// Adds all counts of a snapshot, of any layout. Exact where the buckets are the same, or coarser here; where they are
/// finer here, each count goes to the bucket that holds the midpoint of its own, or its low end, or is spread. What lies outside the range
/// here is counted as underflow or overflow; underflow, overflow and lost counts are added to theirs. What wraps around
/// 32-bit counters is not in the report: a snapshot has it among the lost.
///
/// Requires: placement is PICOLLO_PLACEMENT_...; out may be NULL.
/// Threads: as picollo_histogram_record, which it is a kind of.
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

/// Makes an empty snapshot, with no histogram behind it: to merge others into, such as the intervals of a log, in the layout of
/// one of them.
///
/// Requires: layout was filled in by this library; see picollo_layout_with_range for another range.
/// Cost: allocates 8 bytes a counter.
fn picollo_snapshot_create_from_layout(
    layout: *const picollo_layout,
    out: *mut *mut picollo_snapshot,
) -> picollo_status {
    let (layout, out) = (mapping::read(layout)?, output(out)?);
    out.tell(Block::of_layout(layout)?.as_ptr().cast())
}

/// Makes a copy of a snapshot, with no histogram behind it: to keep what the next update replaces, and to merge into.
///
/// Cost: allocates 8 bytes a counter, copies all counters.
fn picollo_snapshot_copy(
    snapshot: *const picollo_snapshot,
    out: *mut *mut picollo_snapshot,
) -> picollo_status {
    let (snapshot, out) = (input(snapshot.cast::<Block>())?, output(out)?);
    out.tell(Block::copy_of(snapshot)?.as_ptr().cast())
}
}
