//! Layouts: how values map to buckets, and what that costs.
//!
//! A layout is plain numbers. Options, histograms and snapshots have one. It describes values in all objects with the
//! same layout, and needs none of them.
//!
//! picollo_layout_bucket_of replaces three calls of HdrHistogram: the lowest, highest and median equivalent value are
//! the bucket's lower, upper, and lower + step / 2. The next non-equivalent value is upper + 1. The calls return
//! PICOLLO_ERR_INVALID_ARGUMENT for a layout that this library did not fill in.

use picollo_core::layouts::Footprint;
use picollo_core::{Layout, SharedHistogram};

use crate::argument::{input, output};
use crate::failure::Outcome;
use crate::guard::exported;
use crate::histogram_options::{picollo_histogram_options, read_options};
use crate::snapshot::{self, picollo_bucket, picollo_snapshot};
use crate::snapshot_block::Block;
use crate::status::picollo_status;

/// The rule that maps values to counters.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_layout {
    /// Smallest value that is certainly counted.
    pub min_trackable: u64,
    /// Largest value that is certainly counted.
    pub max_trackable: u64,
    /// Logical index of the first counter.
    pub first_index: u64,
    /// Number of counters.
    pub length: u64,
    /// 0.5 / block size: the largest relative distance between a value and the midpoint of its bucket. With a unit
    /// above 1 this holds from a block of units on; smaller values are at most half a unit away.
    pub relative_error: f64,
    /// Binary logarithm of the block size.
    pub block_scale: u32,
    /// Significant digits (1 ..= 5) of the HdrHistogram with these buckets. 0 if there is no such HdrHistogram, or if
    /// it has 0 digits (then block_scale is 0).
    pub significant_digits: u32,
    /// Unit of the first two blocks of buckets: 1, or a power of two if an HdrHistogram with such a lowest
    /// discernible value was encoded. Values are divided by the unit, rounded down, and multiplied by it again.
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

/// The memory of a histogram, in bytes.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_footprint {
    /// Number of counters of the layout.
    pub counters: u64,
    /// Size of a new histogram.
    pub initial_bytes: u64,
    /// Size of a growth step: a shard per thread that records at the same time (thread-local), a shard per CPU
    /// (per-CPU), or a chunk of counters with its baseline (sparse). 0 if it does not grow.
    pub step_bytes: u64,
    /// Largest possible size; UINT64_MAX if there is no limit.
    pub max_bytes: u64,
    /// Size of a snapshot.
    pub snapshot_bytes: u64,
}

/// Reads a layout that C passed back.
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
/// Reports the layout of a histogram with these options.
///
/// Returns: as picollo_histogram_create.
fn picollo_layout_of_options(
    options: *const picollo_histogram_options,
    out: *mut picollo_layout,
) -> picollo_status {
    let (options, out) = (read_options(options)?, output(out)?);
    let layout = options.layout()?;
    // Refuses what no histogram can be made of.
    SharedHistogram::estimate(&options)?;
    out.deliver((&layout).into())
}

/// Reports the layout of a snapshot.
fn picollo_snapshot_layout(snapshot: *const picollo_snapshot, out: *mut picollo_layout) -> picollo_status {
    let (snapshot, out) = (snapshot::read(snapshot)?, output(out)?);
    out.deliver(snapshot.layout().into())
}

/// Finds the bucket of a value, in range or not. Its count is 0. Its storage_index is UINT64_MAX if the value is out
/// of range. Two values share a bucket if their lower is the same.
///
/// Requires: layout was filled in by this library; its relative_error, significant_digits and unit are ignored.
fn picollo_layout_bucket_of(
    layout: *const picollo_layout,
    value: u64,
    out: *mut picollo_bucket,
) -> picollo_status {
    let (layout, out) = (read(layout)?, output(out)?);
    let storage_index = layout.bucket_of(value).map_or(u64::MAX, |bucket| bucket.storage_index);
    out.deliver(picollo_bucket {
        lower: layout.lowest_equivalent(value),
        upper: layout.highest_equivalent(value),
        step: layout.size_of_equivalent_range(value),
        count: 0,
        storage_index,
        logical_index: layout.logical_index(value),
    })
}

/// Computes the layout with the same blocks and unit over another range, to add up snapshots of several ranges
/// (picollo_snapshot_create_from_layout).
///
/// Requires: as picollo_layout_bucket_of; min_trackable is below max_trackable; out may be layout.
/// Returns: PICOLLO_ERR_INVALID_ARGUMENT also if max_trackable is below the unit.
fn picollo_layout_with_range(
    layout: *const picollo_layout,
    min_trackable: u64,
    max_trackable: u64,
    out: *mut picollo_layout,
) -> picollo_status {
    let (layout, out) = (read(layout)?, output(out)?);
    out.deliver((&layout.with_range(min_trackable, max_trackable)?).into())
}

/// Reports how much memory a histogram of any mode and storage will take, without making one. See also
/// picollo_histogram_required_size (for the caller's memory) and picollo_histogram_footprint (of an existing
/// histogram).
///
/// Returns: as picollo_histogram_create.
fn picollo_histogram_estimate(
    options: *const picollo_histogram_options,
    out: *mut picollo_footprint,
) -> picollo_status {
    let (options, out) = (read_options(options)?, output(out)?);
    let layout = options.layout()?;
    let Footprint { initial, step, most } = SharedHistogram::estimate(&options)?;
    out.deliver(picollo_footprint {
        counters: layout.length() as u64,
        initial_bytes: initial as u64,
        step_bytes: step as u64,
        max_bytes: if most == usize::MAX { u64::MAX } else { most as u64 },
        snapshot_bytes: Block::required_size(&layout)? as u64,
    })
}

/// Counts the observations between two values, both included, in whole buckets: all buckets that contain a value of
/// the range.
///
/// Returns: PICOLLO_OK with 0 for an empty range, or one outside the snapshot's.
/// Cost: one pass over the counters of the range.
fn picollo_snapshot_count_between(
    snapshot: *const picollo_snapshot,
    lowest: u64,
    highest: u64,
    out: *mut u64,
) -> picollo_status {
    let (snapshot, out) = (snapshot::read(snapshot)?, output(out)?);
    out.deliver(snapshot.count_between(lowest, highest))
}
}
