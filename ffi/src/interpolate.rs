//! Inside a bucket: as if its observations lay evenly in it.
//!
//! A bucket tells how many observations lie between its ends, not where. Other calls report a value that stands for the
//! bucket. To spread its observations evenly over it is nearer to the truth where they are spread so, as those of
//! fine-grained measurements mostly are, and never further from it than the bucket is wide.

use crate::argument::{slice, slice_mut};
use crate::guard::guard;
use crate::handles::picollo_snapshot;
use crate::snapshot::read;
use crate::status::picollo_status;

/// Finds the interpolated percentiles at many ranks, in any order: for each the smallest value whose interpolated rank
/// reaches it. The inverse of picollo_snapshot_rank_of_value with PICOLLO_RANK_INTERPOLATED; in the same
/// buckets as picollo_snapshot_percentiles.
///
/// Requires: ranks and out have length elements each and do not overlap.
/// Returns: as picollo_snapshot_percentiles.
/// Threads: any thread.
/// Cost: as picollo_snapshot_percentiles.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_snapshot_interpolated_percentiles(
    snapshot: *const picollo_snapshot,
    ranks: *const f64,
    length: usize,
    out: *mut u64,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        let (snapshot, ranks, out) =
            unsafe { (read(snapshot)?, slice(ranks, length)?, slice_mut(out, length)?) };
        Ok(snapshot.interpolated_percentiles(ranks, out)?)
    })
}
