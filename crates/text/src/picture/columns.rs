//! The data of curves.

use core::fmt;

use super::axis::Axis;
use picollo_core::Snapshot;

/// Fills `out` with the share of a snapshot's observations in each of equal parts of an axis. A bucket that covers
/// several parts has its share in each, in proportion to its visible width there. Returns the largest share.
pub(super) fn shares(snapshot: &Snapshot, axis: &Axis, out: &mut [f64]) -> f64 {
    shares_up_to(snapshot, u64::MAX, axis, out)
}

/// The same for buckets that begin at `last` or below; others are left out.
pub(super) fn shares_up_to(snapshot: &Snapshot, last: u64, axis: &Axis, out: &mut [f64]) -> f64 {
    out.fill(0.0);
    let parts = out.len() as f64;
    let mut total = 0.0;
    for bucket in snapshot.recorded_buckets().take_while(|bucket| bucket.lower <= last) {
        let count = bucket.count as f64;
        total += count;
        let from = (axis.place(bucket.lower as f64 - 0.5) * parts).clamp(0.0, parts);
        let to = (axis.place(bucket.upper as f64 + 0.5) * parts).clamp(from, parts);
        let (first, last) = (from as usize, (libm::ceil(to) as usize).max(from as usize + 1));
        let width = to - from;
        if width < 1e-9 || last == first + 1 {
            out[first.min(out.len() - 1)] += count;
            continue;
        }
        for (at, share) in out.iter_mut().enumerate().take(last).skip(first) {
            let covered = to.min(at as f64 + 1.0) - from.max(at as f64);
            *share += count * covered / width;
        }
    }
    let mut highest = 0.0f64;
    for share in out.iter_mut() {
        *share /= f64::max(total, 1.0);
        highest = highest.max(*share);
    }
    highest
}

/// The number of nines at which a curve of this many observations ends: in the middle of the last observation.
pub(super) fn nines(total: u64) -> f64 {
    libm::log10(total.max(1) as f64 * 2.0)
}

/// Calls `step` for each step of the percentile curve: the midpoint of each bucket, and how many nines are below it and
/// including it. The last step ends at [`nines`].
pub(super) fn steps(snapshot: &Snapshot, mut step: impl FnMut(f64, f64, f64) -> fmt::Result) -> fmt::Result {
    let total: f64 = snapshot.recorded_buckets().map(|bucket| bucket.count as f64).sum();
    let end = nines(snapshot.counts().total);
    let mut below = 0.0;
    let mut from = 0.0;
    for bucket in snapshot.recorded_buckets() {
        below += bucket.count as f64;
        let above = (total - below) / total;
        let to = if above > 0.0 { libm::fmin(-libm::log10(above), end) } else { end };
        let middle = bucket.lower as f64 + (bucket.upper - bucket.lower) as f64 / 2.0;
        step(middle, from, to)?;
        from = to;
    }
    Ok(())
}
