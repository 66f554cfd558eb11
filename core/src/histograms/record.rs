//! Recording by any number of threads, whatever the mode and storage.

use crate::cells::cell::Counter;
use crate::cells::header::Headed;
use crate::cells::tallies::Tallies;
use crate::error::{Error, Result};
use crate::layout::bucket::ValueSelection;
use crate::layout::layout::Layout;
use crate::platform::atomics::Ordering::Relaxed;
use crate::snapshot::corrected::missing_values;
use crate::snapshot::merge::{Merged, Rule, place};
use crate::snapshot::snapshot::Snapshot;
use crate::snapshot::spread::Part;

/// Something that counts values, by shared reference. A single-writer [`crate::Histogram`] does not implement this: it
/// has methods of these names that take `&mut`, and so has its [`crate::Writer`].
pub trait Record: Headed {
    /// The rule that maps values to counters.
    fn layout(&self) -> &Layout {
        &self.header().layout
    }

    /// Counts one value `count` times. Events that do not fit into its cell are lost: see
    /// [`crate::snapshots::Counts::lost`].
    fn record_n(&self, value: u64, count: u64);

    /// Returns the tallies for events without a bucket, and the width of the cells that wraps are counted for.
    #[doc(hidden)]
    fn tallies(&self) -> (&Tallies, u32) {
        (&self.header().tallies, self.header().counter_bits())
    }

    /// Counts a value only if it lies between exact bounds, which may be tighter than the buckets at the ends of the
    /// range. A value outside is counted as underflow or overflow, and the call fails with [`Error::InvalidArgument`].
    fn record_in_range(&self, value: u64, min: u64, max: u64) -> Result<()> {
        let tally = if value < min {
            &self.tallies().0.underflow
        } else if value > max {
            &self.tallies().0.overflow
        } else {
            self.record_n(value, 1);
            return self.layout().bucket_of(value).map(drop).ok_or(Error::InvalidArgument);
        };
        tally.fetch_add(1, Relaxed);
        Err(Error::InvalidArgument)
    }

    /// Adds all counts of a snapshot, of any layout. Each bucket's count goes to the bucket of its midpoint. That is
    /// exact if the buckets are the same or coarser here; a finer layout gets each count in one of its buckets, within
    /// the error of the coarser. Counts outside the range here become underflow or overflow, as the result reports.
    /// Only snapshots report counts that did not fit into cells, as lost.
    fn add_snapshot(&self, other: &Snapshot) -> Merged {
        add_by(self, other, Rule::Whole(ValueSelection::Midpoint))
    }

    /// Does the same as [`Record::add_snapshot`], but each bucket's count goes to the bucket of its smallest value, as
    /// in the `add` of every HdrHistogram.
    fn add_snapshot_low_ends(&self, other: &Snapshot) -> Merged {
        add_by(self, other, Rule::Whole(ValueSelection::Lower))
    }

    /// Does the same as [`Record::add_snapshot`], but divides a bucket's count in proportion among the overlapping
    /// buckets here, without losing any to rounding; see [`Snapshot::merge_spreading`].
    fn add_snapshot_spreading(&self, other: &Snapshot) -> Merged {
        add_by(self, other, Rule::Spread)
    }

    /// Counts a value. If it is longer than the expected interval, it also counts the values that a stalled caller did
    /// not send meanwhile: `value - interval`, `value - 2 * interval`, … down to the interval (correction for
    /// coordinated omission). An interval of zero adds nothing. The number of counters bounds the work, however large
    /// `value / interval` is.
    fn record_corrected(&self, value: u64, expected_interval: u64) {
        self.record_corrected_n(value, 1, expected_interval);
    }

    /// Does the same as [`Record::record_corrected`], `count` times. Each value is counted at most `u64::MAX` times.
    fn record_corrected_n(&self, value: u64, count: u64, expected_interval: u64) {
        self.record_n(value, count);
        missing_values(self.layout(), value, expected_interval, |value, times| {
            self.record_n(value, times.saturating_mul(count));
        });
    }
}

/// Adds all counts of a snapshot, including those beside its buckets.
fn add_by<R: Record + ?Sized>(to: &R, other: &Snapshot, rule: Rule) -> Merged {
    let layout = *to.layout();
    let merged = place(&layout, other, rule, |part, count| {
        // Any value of the bucket, or on that side of the range.
        let value = match part {
            Part::In(index) => layout.bucket_at(index).lower,
            Part::Below => layout.lowest_recordable() - 1,
            Part::Above => layout.highest_recordable() + 1,
        };
        to.record_n(value, count);
        0
    });
    let ((tallies, bits), counts) = (to.tallies(), other.counts());
    for (tally, count) in [
        (&tallies.underflow, counts.underflow),
        (&tallies.overflow, counts.overflow),
        (&tallies.lost, counts.lost),
    ] {
        if count != 0 {
            tallies.add_wraps_beside(tally.add_shared(count), bits);
        }
    }
    merged
}
