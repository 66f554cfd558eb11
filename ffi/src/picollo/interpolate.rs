//! Inside a bucket: interpolation.
//!
//! A bucket has a count, but not the positions of its observations. Other calls report one value for the whole
//! bucket. These calls assume that the observations are evenly spread over it. For fine-grained measurements this is
//! mostly closer to the truth, and it is never off by more than the width of the bucket.

use crate::argument::{room, slice};
use crate::guard::exported;
use crate::snapshot::{picollo_snapshot, read};
use crate::status::picollo_status;

exported! {
/// Finds the interpolated percentiles at many ranks, in any order: the smallest value whose interpolated rank reaches
/// each. It is the inverse of picollo_snapshot_rank_of_value with PICOLLO_RANK_INTERPOLATED, and finds the same
/// buckets as picollo_snapshot_percentiles.
///
/// Otherwise: as picollo_snapshot_percentiles.
fn picollo_snapshot_interpolated_percentiles(
    snapshot: *const picollo_snapshot,
    ranks: *const f64,
    length: usize,
    out: *mut u64,
) -> picollo_status {
    let (snapshot, ranks, out) = (read(snapshot)?, slice(ranks, length)?, room(out, length)?);
    Ok(snapshot.for_each_interpolated(ranks, length, |at, value| _ = out[at].write(value))?)
}
}
