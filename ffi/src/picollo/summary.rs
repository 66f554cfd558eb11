//! Summaries: totals and moments, and percentiles that the caller chooses.
//!
//! A summary leads to an array of percentiles, which is the caller's. PICOLLO_DEFAULT_RANKS are the usual ranks. A later
//! version may have more of them, and programs built against this one then still get those that they ask for:
//!
//!     static const double ranks[] = PICOLLO_DEFAULT_RANKS;
//!     picollo_percentile percentiles[PICOLLO_DEFAULT_RANKS_LENGTH];
//!     picollo_summary summary;
//!     picollo_histogram_summary(histogram, PICOLLO_VALUE_MIDPOINT, ranks, PICOLLO_DEFAULT_RANKS_LENGTH, percentiles,
//!         &summary);

use core::ptr::NonNull;

use picollo_core::layouts::ValueSelection;
use picollo_core::snapshots::SUMMARY_RANKS;
use picollo_core::{Percentile, SharedHistogram, Snapshot, Summary};

use crate::argument::{input, output, room, slice};
use crate::counted::borrow;
use crate::failure::Outcome;
use crate::guard::exported;
use crate::histogram::picollo_histogram;
use crate::snapshot::{self, picollo_percentile, picollo_snapshot};
use crate::snapshot_block::Block;
use crate::status::picollo_status;

/// Totals, mean and deviation of one snapshot, with the percentiles that were asked for.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_summary {
    /// Observations in range; saturates at UINT64_MAX.
    pub total_count: u64,
    /// Observations below the trackable range; not part of anything else here.
    pub underflow_count: u64,
    /// Observations above the trackable range; not part of anything else here.
    pub overflow_count: u64,
    /// Observations that were recorded but are missing from the buckets.
    pub lost_count: u64,
    /// Mean of equivalent midpoints; NaN when empty.
    pub mean: f64,
    /// Population standard deviation of equivalent midpoints; NaN when empty.
    pub stddev: f64,
    /// The layout's stated error: 0.5 / block size.
    pub relative_error: f64,
    /// Smallest value of the guaranteed range.
    pub min_trackable: u64,
    /// Largest value of the guaranteed range.
    pub max_trackable: u64,
    /// Time of the counts, in nanoseconds since 1970; 0 without a clock.
    pub timestamp_unix_nanos: u64,
    /// PICOLLO_VALUE_...: which value of its bucket each percentile reports.
    pub value_selection: u32,
    /// 0; reserved.
    pub flags: u32,
    /// The caller's array. Texts show those at PICOLLO_DEFAULT_RANKS. NULL if percentiles_length is 0.
    pub percentiles: *const picollo_percentile,
    /// Number of percentiles.
    pub percentiles_length: usize,
}

impl picollo_summary {
    /// The summary for texts: the percentiles at the ranks that they show. Those that are not given have a rank of NaN.
    ///
    /// # Safety
    /// `percentiles` must lead to `percentiles_length` percentiles during the call.
    pub unsafe fn for_text(&self) -> Outcome<Summary> {
        let given = slice(self.percentiles, self.percentiles_length)?;
        let unknown = Percentile { rank: f64::NAN, ..Percentile::default() };
        let find = |rank: f64| given.iter().find(|percentile| percentile.rank == rank).copied();
        Ok(Summary {
            total_count: self.total_count,
            underflow_count: self.underflow_count,
            overflow_count: self.overflow_count,
            lost_count: self.lost_count,
            mean: self.mean,
            stddev: self.stddev,
            relative_error: self.relative_error,
            min_trackable: self.min_trackable,
            max_trackable: self.max_trackable,
            timestamp_unix_nanos: self.timestamp_unix_nanos,
            value_selection: self.value_selection,
            flags: self.flags,
            percentiles: SUMMARY_RANKS.map(|rank| find(rank).unwrap_or(unknown)),
        })
    }
}

/// Reads a summary that a text needs.
///
/// # Safety
/// If not NULL, `summary` must lead to a summary, and this to its percentiles, during the call.
pub unsafe fn for_text(summary: *const picollo_summary) -> Outcome<Summary> {
    input(summary)?.for_text()
}

exported! {
/// Summarizes a snapshot, with the percentiles at these ranks. An empty one has a summary too: totals and targets are 0,
/// mean and deviation are NaN.
///
/// Requires: percentiles has room for length elements. out refers to it.
/// Returns: PICOLLO_ERR_INVALID_ARGUMENT also for a rank outside 0 ..= 100.
/// Cost: two passes over the counters: tens of microseconds for 28,672. Ranks other than PICOLLO_DEFAULT_RANKS take one
///   more.
fn picollo_snapshot_summary(
    snapshot: *const picollo_snapshot,
    value_selection: u32,
    ranks: *const f64,
    length: usize,
    percentiles: *mut picollo_percentile,
    out: *mut picollo_summary,
) -> picollo_status {
    summarize(snapshot::read(snapshot)?, value_selection, ranks, length, percentiles, out)
}

/// Summarizes a histogram since its reset. The call makes a snapshot and frees it again. To summarize often, or
/// without allocations, keep a picollo_snapshot, update it, and use picollo_snapshot_summary.
///
/// Requires: as picollo_snapshot_summary.
/// Returns: PICOLLO_ERR_BUSY if another program overwrites the shared memory; otherwise as picollo_snapshot_summary.
/// Cost: allocates 16 bytes per counter temporarily; three passes over the counters.
fn picollo_histogram_summary(
    histogram: *const picollo_histogram,
    value_selection: u32,
    ranks: *const f64,
    length: usize,
    percentiles: *mut picollo_percentile,
    out: *mut picollo_summary,
) -> picollo_status {
    let histogram = borrow(histogram)?;
    // What can be refused is refused before anything is allocated.
    ValueSelection::try_from(value_selection)?;
    output(out)?;
    let temporary = Temporary::new(&histogram)?;
    summarize(temporary.counts(), value_selection, ranks, length, percentiles, out)
}
}

/// Fills in a summary and its percentiles.
///
/// # Safety
/// The pointers are those of [`picollo_snapshot_summary`].
unsafe fn summarize(
    snapshot: &Snapshot,
    value_selection: u32,
    ranks: *const f64,
    length: usize,
    percentiles: *mut picollo_percentile,
    out: *mut picollo_summary,
) -> Outcome {
    let (ranks, room, out) = (slice(ranks, length)?, room(percentiles, length)?, output(out)?);
    let selection = ValueSelection::try_from(value_selection)?;
    let found = snapshot.summary(selection);
    if ranks == SUMMARY_RANKS {
        for (room, percentile) in room.iter_mut().zip(found.percentiles) {
            room.write(percentile);
        }
    } else if found.total_count == 0 {
        if ranks.iter().any(|rank| !(0.0..=100.0).contains(rank)) {
            return Err(crate::failure::Failure::INVALID_ARGUMENT);
        }
        for (room, &rank) in room.iter_mut().zip(ranks) {
            room.write(Percentile { rank, ..Percentile::default() });
        }
    } else {
        let write = |at: usize, percentile| _ = room[at].write(percentile);
        snapshot.for_each_percentile(ranks, selection, length, write)?;
    }
    out.deliver(picollo_summary {
        total_count: found.total_count,
        underflow_count: found.underflow_count,
        overflow_count: found.overflow_count,
        lost_count: found.lost_count,
        mean: found.mean,
        stddev: found.stddev,
        relative_error: found.relative_error,
        min_trackable: found.min_trackable,
        max_trackable: found.max_trackable,
        timestamp_unix_nanos: found.timestamp_unix_nanos,
        value_selection: found.value_selection,
        flags: found.flags,
        percentiles: if length == 0 { core::ptr::null() } else { percentiles },
        percentiles_length: length,
    })
}

/// A snapshot for one call. Freed also when a panic passes.
pub struct Temporary(NonNull<Block>);

impl Temporary {
    /// A snapshot of a histogram since its reset.
    pub fn new(histogram: &SharedHistogram) -> Outcome<Temporary> {
        Block::create(histogram).map(Temporary)
    }

    /// Its counts.
    pub fn counts(&self) -> &Snapshot {
        // SAFETY: it is alive until it is dropped.
        unsafe { self.0.as_ref() }.counts()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // SAFETY: from `Block::create`, and nobody else has it.
        unsafe { Block::free(self.0) };
    }
}
