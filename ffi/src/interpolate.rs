//! Inside a bucket: as if its observations lay evenly in it.
//!
//! A bucket tells how many observations lie between its ends, not where. Other calls report a value that stands for the
//! bucket. To spread its observations evenly over it is nearer to the truth where they are spread so, as those of
//! fine-grained measurements mostly are, and never further from it than the bucket is wide.

use crate::argument::{room, slice};
use crate::guard::exported;
use crate::handles::picollo_snapshot;
use crate::snapshot::read;
use crate::status::picollo_status;

exported! {
/// Finds the interpolated percentiles at many ranks, in any order: for each the smallest value whose interpolated rank
/// reaches it. The inverse of picollo_snapshot_rank_of_value with PICOLLO_RANK_INTERPOLATED; in the same
/// buckets as picollo_snapshot_percentiles.
///
/// Requires: ranks and out have length elements each and do not overlap.
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
