//! Snapshots: reading a histogram.
//!
//! A snapshot holds the counts of a histogram at one moment, so everything read from it is consistent while recording
//! goes on. Make it once and update it as often as you like, without allocations:
//!
//!     picollo_snapshot *snapshot;
//!     picollo_snapshot_create(histogram, &snapshot);
//!     for (;;) {
//!         wait_a_second();
//!         picollo_snapshot_update(snapshot, PICOLLO_SINCE_PREVIOUS);
//!         ... picollo_snapshot_percentiles, picollo_snapshot_summary ...
//!     }
//!     picollo_snapshot_free(snapshot);
//!
//! Ranks are percentages, 0 to 100. The percentile at a rank is the first bucket whose cumulative count reaches
//! max(1, ceil(rank / 100 * total)). For ranks with up to nine decimals this is computed in integers. Underflow,
//! overflow and lost counts are excluded.

use core::ptr::NonNull;

// In the order of the header.
pub use picollo_core::Bucket as picollo_bucket;
pub use picollo_core::snapshots::Counts as picollo_counts;

pub use picollo_core::Percentile as picollo_percentile;
use picollo_core::layouts::ValueSelection;
use picollo_core::{Since, Snapshot};

use crate::argument::{either, exclusive, input, list, output, room, slice};
use crate::counted::borrow;
use crate::failure::{Failure, Outcome};
use crate::guard::{exported, guard_void};
use crate::histogram::picollo_histogram;
use crate::snapshot_block::Block;
use crate::status::picollo_status;

/// Frozen counts with their totals. A snapshot holds a reference to its histogram, unless it was decoded, copied or
/// corrected.
///
/// Any number of threads may make calls that take it as const. picollo_snapshot_update, picollo_snapshot_merge (into
/// it), picollo_snapshot_subtract (from it) and picollo_snapshot_free need exclusive access.
pub struct picollo_snapshot(());

/// Counts since the reset; for sessions since the base.
pub const PICOLLO_SINCE_RESET: u32 = 0;
/// Counts since the previous update; for sessions between the last two reads.
pub const PICOLLO_SINCE_PREVIOUS: u32 = 1;

/// Include the value's own bucket completely.
pub const PICOLLO_RANK_WHOLE_BUCKETS: u32 = 0;
/// Include only the share of the value's own bucket up to the value.
pub const PICOLLO_RANK_INTERPOLATED: u32 = 1;

/// All buckets from the first to the last.
pub const PICOLLO_BUCKETS_ALL: u32 = 0;
/// Only buckets with counts.
pub const PICOLLO_BUCKETS_NON_EMPTY: u32 = 1;

/// The snapshot behind a handle.
///
/// # Safety
/// If not NULL, `snapshot` must be a handle that is neither changed nor freed during the call.
pub unsafe fn read<'a>(snapshot: *const picollo_snapshot) -> Outcome<&'a Snapshot> {
    // SAFETY: a handle leads to a block.
    unsafe { input(snapshot.cast::<Block>()) }.map(Block::counts)
}

/// Two snapshots, the first to be changed. [`Failure::INVALID_ARGUMENT`] if they are the same.
///
/// # Safety
/// As for [`read`]; the first must not be used by anyone else during the call.
pub unsafe fn pair<'a>(
    changed: *mut picollo_snapshot,
    other: *const picollo_snapshot,
) -> Outcome<(&'a mut Block, &'a Snapshot)> {
    if changed.cast_const() == other && !other.is_null() {
        return Err(Failure::INVALID_ARGUMENT);
    }
    // SAFETY: two different blocks, as just checked; the rest is the caller's promise, passed on.
    unsafe { Ok((exclusive(changed.cast::<Block>())?, read(other)?)) }
}

exported! {
/// Makes a snapshot and updates it with all counts since the reset.
///
/// Returns: PICOLLO_ERR_BUSY if another program overwrites the shared memory.
/// Cost: allocates 16 bytes per counter, copies all counters.
fn picollo_snapshot_create(
    histogram: *const picollo_histogram,
    out: *mut *mut picollo_snapshot,
) -> picollo_status {
    let (histogram, out) = (borrow(histogram)?, output(out)?);
    out.deliver(Block::create(&histogram)?.as_ptr().cast())
}

/// Replaces the counts by new ones from the histogram, while writers and other readers continue. Each update is the
/// start of the next delta. Deltas add up to everything that was recorded; resets do not affect them.
///
/// Returns: PICOLLO_ERR_UNSUPPORTED for a snapshot without histogram, such as a decoded one; PICOLLO_ERR_BUSY if
///   another program overwrites the shared memory (PICOLLO_SINCE_RESET only). Then the snapshot is empty, and the
///   next delta starts where it would have started.
/// Threads: any thread, one at a time per snapshot, also while others record and reset.
/// Cost: copies all counters: tens of microseconds for 28,672.
fn picollo_snapshot_update(snapshot: *mut picollo_snapshot, since: u32) -> picollo_status {
    let block = exclusive(snapshot.cast::<Block>())?;
    block.update(if either(since, PICOLLO_SINCE_RESET, PICOLLO_SINCE_PREVIOUS)? {
        Since::PreviousUpdate
    } else {
        Since::Reset
    })
}
}

/// Frees a snapshot and its reference to the histogram. The caller may reuse memory that it provided.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_snapshot_free(snapshot: *mut picollo_snapshot) {
    guard_void(|| {
        if let Some(block) = NonNull::new(snapshot.cast()) {
            // SAFETY: a handle leads to a block, which the caller gives up.
            unsafe { Block::free(block) };
        }
    });
}

exported! {
/// Reports the totals.
fn picollo_snapshot_counts(snapshot: *const picollo_snapshot, out: *mut picollo_counts) -> picollo_status {
    let (snapshot, out) = (read(snapshot)?, output(out)?);
    out.deliver(snapshot.counts())
}

/// Finds the percentiles at many ranks, in any order.
///
/// Returns: PICOLLO_ERR_EMPTY if nothing was recorded.
/// Cost: one pass over the counters for ascending ranks, otherwise one per 64 ranks.
fn picollo_snapshot_percentiles(
    snapshot: *const picollo_snapshot,
    ranks: *const f64,
    length: usize,
    value_selection: u32,
    out: *mut picollo_percentile,
) -> picollo_status {
    let (snapshot, ranks, out) = (read(snapshot)?, slice(ranks, length)?, room(out, length)?);
    let write = |at: usize, percentile| _ = out[at].write(percentile);
    Ok(snapshot.for_each_percentile(ranks, ValueSelection::try_from(value_selection)?, length, write)?)
}

/// Finds the percentiles' values only.
///
/// Otherwise: as picollo_snapshot_percentiles.
fn picollo_snapshot_percentile_values(
    snapshot: *const picollo_snapshot,
    ranks: *const f64,
    length: usize,
    value_selection: u32,
    out: *mut u64,
) -> picollo_status {
    let (snapshot, ranks, out) = (read(snapshot)?, slice(ranks, length)?, room(out, length)?);
    let write = |at: usize, percentile: picollo_percentile| _ = out[at].write(percentile.value);
    Ok(snapshot.for_each_percentile(ranks, ValueSelection::try_from(value_selection)?, length, write)?)
}

/// Reports the percentage of observations at or below a value: those in buckets up to and including the value's own.
/// The result is 0 below the range and 100 above.
///
/// Requires: interpolate is PICOLLO_RANK_WHOLE_BUCKETS or PICOLLO_RANK_INTERPOLATED.
/// Returns: PICOLLO_ERR_EMPTY if nothing was recorded.
/// Cost: one pass over the counters up to the value's.
fn picollo_snapshot_rank_of_value(
    snapshot: *const picollo_snapshot,
    value: u64,
    interpolate: u32,
    out_rank: *mut f64,
) -> picollo_status {
    let (snapshot, out_rank) = (read(snapshot)?, output(out_rank)?);
    out_rank.deliver(snapshot.rank_of_value(
        value,
        either(interpolate, PICOLLO_RANK_WHOLE_BUCKETS, PICOLLO_RANK_INTERPOLATED)?,
    )?)
}

/// Finds the bucket of a value, with its count.
///
/// Returns: PICOLLO_ERR_INVALID_ARGUMENT for a value out of range.
fn picollo_snapshot_bucket_of(
    snapshot: *const picollo_snapshot,
    value: u64,
    out: *mut picollo_bucket,
) -> picollo_status {
    let (snapshot, out) = (read(snapshot)?, output(out)?);
    out.deliver(snapshot.bucket_of(value).ok_or(Failure::INVALID_ARGUMENT)?)
}

/// Lists the buckets with their counts, in ascending order.
///
/// Cost: two passes over the counters.
fn picollo_snapshot_buckets(
    snapshot: *const picollo_snapshot,
    non_empty_only: u32,
    out: *mut picollo_bucket,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    let (snapshot, list) = (read(snapshot)?, list(out, capacity, out_length)?);
    if either(non_empty_only, PICOLLO_BUCKETS_ALL, PICOLLO_BUCKETS_NON_EMPTY)? {
        list.fill(snapshot.recorded_buckets(), snapshot.recorded_buckets().count())
    } else {
        list.fill(snapshot.buckets(), snapshot.layout().length())
    }
}
}
