//! Steps: ways through the counts of a snapshot, as HdrHistogram's iterators have them.
//!
//! A step ends at a value, and holds the counts of all buckets up to and including that value's, as far as no step before
//! it does: a bucket is never divided. All go on until everything recorded is covered; an empty snapshot has none. (All
//! buckets, and those with counts, are listed by picollo_snapshot_buckets.)
//!
//! The functions fill an array, and tell how many steps there are where it is too small:
//!
//!     size_t length = 0;
//!     picollo_snapshot_linear_steps(snapshot, 1000, NULL, 0, &length);
//!     picollo_step *steps = malloc(length * sizeof *steps);
//!     picollo_snapshot_linear_steps(snapshot, 1000, steps, length, &length);

pub use picollo_core::Step as picollo_step;

use crate::argument::list;
use crate::failure::{Failure, Outcome};
use crate::guard::exported;
use crate::handles::picollo_snapshot;
use crate::snapshot;
use crate::status::picollo_status;

/// Nobody gets more steps than this: parameters that ask for them are PICOLLO_ERR_INVALID_ARGUMENT.
pub const PICOLLO_MAX_STEPS: usize = 16_777_216;

/// Fills the caller's array, or tells how long it has to be. `steps` makes the same steps each time.
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
/// Lists steps of equal width: they end at width - 1, 2 * width - 1, ...
///
/// Requires: width is not 0.
/// Cost: twice that of one pass over the counters and the steps.
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

/// Lists steps of growing width: they end at first - 1, first * base - 1, first * base * base - 1, ..., rounded down.
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

/// Lists steps of percentiles, which get closer by half with each half of the distance to 100 %; the last one is at 100.
/// They end with a bucket each, and several may end with the same. These are the rows of picollo_snapshot_format_hgrm.
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
