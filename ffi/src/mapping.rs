//! Layouts: how values map to buckets, and what that costs.
//!
//! A layout is plain numbers. It is asked for before a histogram is made, of a histogram, or of a snapshot; what it tells
//! of values holds for all that are in the same layout, and needs neither.
//!
//! What HdrHistogram calls the lowest, highest and median equivalent value of a value are the lower, the upper, and
//! lower + step / 2 of its bucket, as picollo_layout_bucket_of tells it; the next non-equivalent value is upper + 1. A layout that
//! this library did not fill in is PICOLLO_ERR_INVALID_ARGUMENT.

use picollo_core::{Footprint, Layout, SharedHistogram};

use crate::argument::{input, output};
use crate::failure::Outcome;
use crate::guard::exported;
use crate::handles::picollo_snapshot;
use crate::histogram_options::{picollo_histogram_options, read_options};
use crate::snapshot::{self, picollo_bucket};
use crate::snapshot_block::Block;
use crate::status::picollo_status;

/// The rule that maps values to counters.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_layout {
    /// Smallest value that is counted for sure.
    pub min_trackable: u64,
    /// Largest value that is counted for sure.
    pub max_trackable: u64,
    /// Logical index of the first counter.
    pub first_index: u64,
    /// Number of counters.
    pub length: u64,
    /// 0.5 / block size: the largest distance between a value and the midpoint of its bucket, in proportion. With a unit
    /// above 1 from a block of units on; smaller values are at most half a unit away.
    pub relative_error: f64,
    /// Binary logarithm of the block size.
    pub block_scale: u32,
    /// Significant digits (1 ..= 5) of the HdrHistogram that has these buckets; 0 where there is none, or, with a block_scale of 0, one
    /// of 0 digits.
    pub significant_digits: u32,
    /// What the first two blocks of buckets count in: a power of two, 2 or more in what an HdrHistogram with such a lowest
    /// discernible value encoded, and 1 otherwise. The layout is that of values divided by the unit, rounded down, and
    /// multiplied by it again.
    pub unit: u64,
}

impl From<&Layout> for picollo_layout {
    fn from(layout: &Layout) -> Self {
        picollo_layout {
            min_trackable: layout.min_trackable(),
            max_trackable: layout.max_trackable(),
            first_index: layout.first_index(),
            length: layout.length() as u64,
            relative_error: layout.relative_error(),
            block_scale: layout.scale(),
            significant_digits: layout.significant_digits(),
            unit: 1 << layout.unit(),
        }
    }
}

/// What a histogram takes, in bytes.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_footprint {
    /// Number of counters of the layout.
    pub counters: u64,
    /// When the histogram is made.
    pub initial_bytes: u64,
    /// What it grows by: a shard for each thread that records at the same time (thread-local), for each CPU that is recorded
    /// on (per-CPU), a chunk of counters and its baseline (sparse). 0 where it does not grow.
    pub step_bytes: u64,
    /// The most it can come to; UINT64_MAX where nothing limits it.
    pub max_bytes: u64,
    /// A snapshot of it.
    pub snapshot_bytes: u64,
}

/// The layout that C handed back.
///
/// # Safety
/// As for [`input`].
pub unsafe fn read(layout: *const picollo_layout) -> Outcome<Layout> {
    let layout = input(layout)?;
    // The unit follows from where the counters begin and how many there are.
    Ok(Layout::from_parts(
        layout.block_scale,
        layout.min_trackable,
        layout.max_trackable,
        layout.first_index,
        layout.length,
    )?)
}

exported! {
/// Tells the layout that a histogram with these options has.
///
/// Requires: options as for picollo_histogram_create.
/// Returns: as picollo_histogram_create.
fn picollo_layout_of_options(
    options: *const picollo_histogram_options,
    out: *mut picollo_layout,
) -> picollo_status {
    let (options, out) = (read_options(options)?, output(out)?);
    let layout = options.layout()?;
    // Refuses what no histogram can be made of.
    SharedHistogram::estimate(&options)?;
    out.tell((&layout).into())
}

/// Tells the layout of a snapshot.
fn picollo_snapshot_layout(snapshot: *const picollo_snapshot, out: *mut picollo_layout) -> picollo_status {
    let (snapshot, out) = (snapshot::read(snapshot)?, output(out)?);
    out.tell(snapshot.layout().into())
}

/// Finds the bucket of a value, whether the value is in range or not: the values that cannot be told from it. Its count
/// is 0; its storage_index is UINT64_MAX when the value is out of range. Two values share a bucket when its lower is the
/// same of both.
///
/// Requires: layout was filled in by this library; its relative_error, significant_digits and unit are not looked at.
fn picollo_layout_bucket_of(
    layout: *const picollo_layout,
    value: u64,
    out: *mut picollo_bucket,
) -> picollo_status {
    let (layout, out) = (read(layout)?, output(out)?);
    let storage_index = layout.bucket_of(value).map_or(u64::MAX, |bucket| bucket.storage_index);
    out.tell(picollo_bucket {
        lower: layout.lowest_equivalent(value),
        upper: layout.highest_equivalent(value),
        step: layout.size_of_equivalent_range(value),
        count: 0,
        storage_index,
        logical_index: layout.logical_index(value),
    })
}

/// Tells the layout with the same blocks and the same unit over another range: for sums of snapshots of several ranges
/// (picollo_snapshot_create_from_layout).
///
/// Requires: as picollo_layout_bucket_of; min_trackable is below max_trackable; out may be layout.
/// Returns: PICOLLO_ERR_INVALID_ARGUMENT also where max_trackable is below the unit.
fn picollo_layout_with_range(
    layout: *const picollo_layout,
    min_trackable: u64,
    max_trackable: u64,
    out: *mut picollo_layout,
) -> picollo_status {
    let (layout, out) = (read(layout)?, output(out)?);
    out.tell((&layout.with_range(min_trackable, max_trackable)?).into())
}

/// Tells how much memory a histogram with these options will take, of any mode and storage, without making one.
/// (picollo_histogram_required_size tells it for memory of the caller's; picollo_histogram_footprint for a histogram that
/// is there.)
///
/// Requires: options as for picollo_histogram_create.
/// Returns: as picollo_histogram_create.
fn picollo_histogram_estimate(
    options: *const picollo_histogram_options,
    out: *mut picollo_footprint,
) -> picollo_status {
    let (options, out) = (read_options(options)?, output(out)?);
    let layout = options.layout()?;
    let Footprint { initial, step, most } = SharedHistogram::estimate(&options)?;
    out.tell(picollo_footprint {
        counters: layout.length() as u64,
        initial_bytes: initial as u64,
        step_bytes: step as u64,
        max_bytes: if most == usize::MAX { u64::MAX } else { most as u64 },
        snapshot_bytes: Block::required_size(&layout)? as u64,
    })
}

/// Counts the observations between two values, of whole buckets: all that share a bucket with a value of the range, both
/// ends included.
///
/// Returns: PICOLLO_OK, with 0 for a range that is empty or not in the snapshot's.
/// Cost: one pass over the counters of the range.
fn picollo_snapshot_count_between(
    snapshot: *const picollo_snapshot,
    lowest: u64,
    highest: u64,
    out: *mut u64,
) -> picollo_status {
    let (snapshot, out) = (snapshot::read(snapshot)?, output(out)?);
    out.tell(snapshot.count_between(lowest, highest))
}
}
