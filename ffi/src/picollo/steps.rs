//! Steps through the counts of a snapshot, like HdrHistogram's iterators.
//!
//! A step ends at a value. It holds the counts of all buckets up to and including that value's, except those of
//! earlier steps. It never divides a bucket. Steps continue until they cover everything recorded; an empty snapshot
//! has no steps. picollo_snapshot_buckets lists single buckets. With a capacity of 0 the functions report how many steps
//! there are.

pub use picollo_core::snapshots::Step as picollo_step;

use crate::argument::list;
use crate::failure::{Failure, Outcome};
use crate::guard::exported;
use crate::snapshot;
use crate::snapshot::picollo_snapshot;
use crate::status::picollo_status;

/// Largest number of steps. Parameters that lead to more are PICOLLO_ERR_INVALID_ARGUMENT.
pub const PICOLLO_MAX_STEPS: usize = 16_777_216;

/// Fills the caller's array, or reports how long it must be. `steps` makes the same steps each time.
///
/// # Safety
/// `out` must be valid for writes of `capacity` steps, `out_length` for a write.
unsafe fn write_steps<I: Iterator<Item = picollo_step>>(
    steps: impl Fn() -> picollo_core::Result<I>,
    out: *mut picollo_step,
    capacity: usize,
    out_length: *mut usize,
) -> Outcome {
    let list = list(out, capacity, out_length)?;
    let length = steps()?.take(PICOLLO_MAX_STEPS + 1).count();
    if length > PICOLLO_MAX_STEPS {
        return Err(Failure::INVALID_ARGUMENT);
    }
    list.fill(steps()?, length)
}

exported! {
/// Lists steps of equal width, which end at width - 1, 2 * width - 1, ...
///
/// Requires: width is not 0.
/// Cost: two passes over the counters and the steps.
fn picollo_snapshot_linear_steps(
    snapshot: *const picollo_snapshot,
    width: u64,
    out: *mut picollo_step,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    let snapshot = snapshot::read(snapshot)?;
    write_steps(|| snapshot.linear_steps(width), out, capacity, out_length)
}

/// Lists steps of growing width, which end at first - 1, first * base - 1, first * base * base - 1, ..., rounded
/// down.
///
/// Requires: first is not 0, base is above 1.
/// Otherwise: as picollo_snapshot_linear_steps.
fn picollo_snapshot_logarithmic_steps(
    snapshot: *const picollo_snapshot,
    first: u64,
    base: f64,
    out: *mut picollo_step,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    let snapshot = snapshot::read(snapshot)?;
    write_steps(|| snapshot.logarithmic_steps(first, base), out, capacity, out_length)
}

/// Lists steps of percentiles. Their distance halves with each half of the remaining distance to 100 %, and the last
/// one is at 100. Each ends with a bucket, and several may end with the same one. They are the rows of
/// picollo_snapshot_format_hgrm.
///
/// Requires: ticks_per_half_distance is the number of steps in each half of the distance, not 0.
/// Otherwise: as picollo_snapshot_linear_steps.
fn picollo_snapshot_percentile_steps(
    snapshot: *const picollo_snapshot,
    ticks_per_half_distance: u32,
    out: *mut picollo_step,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    let snapshot = snapshot::read(snapshot)?;
    write_steps(|| snapshot.percentile_steps(ticks_per_half_distance), out, capacity, out_length)
}
}
