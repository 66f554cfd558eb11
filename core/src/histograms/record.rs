//! What everything that any number of threads may record into can do, whatever its mode and storage.

use crate::cells::cell::{Counter, Tallies};
use crate::cells::header::Headed;
use crate::error::{Error, Result};
use crate::layout::bucket::ValueSelection;
use crate::layout::layout::Layout;
use crate::platform::atomics::Ordering::Relaxed;
use crate::snapshot::merge::Merged;
use crate::snapshot::snapshot::Snapshot;
use crate::snapshot::spread::{Part, spread};

/// Something that counts values, by shared reference. A single-writer [`crate::Histogram`] is not: it has methods of these
/// names that take `&mut`, and so has its [`crate::Writer`].
pub trait Record: Headed {
    /// The rule that maps values to counters.
    fn layout(&self) -> &Layout {
        &self.header().layout
    }

    /// Counts one value `count` times. What its cell cannot hold is counted as lost: see [`crate::Counts::lost`].
    fn record_n(&self, value: u64, count: u64);

    /// Where events go that have no bucket, and the width of the cells that wraps are counted for.
    #[doc(hidden)]
    fn tallies(&self) -> (&Tallies, u32) {
        (&self.header().tallies, self.header().counter_bits())
    }

    /// Counts a value only when it lies between exact bounds, which may be tighter than the buckets at the ends of the
    /// range. Outside it is counted as underflow or overflow, with [`Error::InvalidArgument`].
    fn record_in_range(&self, value: u64, min: u64, max: u64) -> Result<()> {
        let tally = if value < min {
            &self.tallies().0.underflow
        } else if value > max {
            &self.tallies().0.overflow
        } else {
            self.record_n(value, 1);
            return if self.layout().bucket_of(value).is_some() {
                Ok(())
            } else {
                Err(Error::InvalidArgument)
            };
        };
        tally.fetch_add(1, Relaxed);
        Err(Error::InvalidArgument)
    }

    /// Adds all counts of a snapshot, of any layout. Each bucket's count goes to the bucket of its midpoint: exact for
    /// the same buckets and for coarser ones here; a finer layout here gets each count in one of its buckets, within the
    /// error of the coarser. What lies outside the range here is counted as underflow or overflow. What is returned tells
    /// how much of it there was; what cells had no room for shows in a snapshot only, as lost.
    fn add_snapshot(&self, other: &Snapshot) -> Merged {
        add_values(self, other, ValueSelection::Midpoint)
    }

    /// Like [`Record::add_snapshot`], but each bucket's count goes to the bucket of its smallest value, as in the `add` of every
    /// HdrHistogram.
    fn add_snapshot_low_ends(&self, other: &Snapshot) -> Merged {
        add_values(self, other, ValueSelection::Lower)
    }

    /// Like [`Record::add_snapshot`], but a bucket's count is divided among the buckets here that it has values of, in
    /// proportion, losing none to rounding; see [`Snapshot::merge_spreading`].
    fn add_snapshot_spreading(&self, other: &Snapshot) -> Merged {
        let merged = add_spreading(self, other);
        add_tallies(self.tallies(), other);
        merged
    }

    /// Counts a value, and, when it is longer than the interval at which values were expected, also those that a stalled
    /// caller did not send meanwhile: `value - interval`, `value - 2 * interval`, … down to the interval (correction for
    /// coordinated omission). An interval of zero adds nothing. The work is bounded by the number of counters, however
    /// large `value / interval` is.
    fn record_corrected(&self, value: u64, expected_interval: u64) {
        self.record_corrected_n(value, 1, expected_interval);
    }

    /// [`Record::record_corrected`], `count` times. What would be counted more than `u64::MAX` times is counted so often.
    fn record_corrected_n(&self, value: u64, count: u64, expected_interval: u64) {
        self.record_n(value, count);
        crate::snapshot::corrected::missing_values(
            self.layout(),
            value,
            expected_interval,
            |value, times| {
                self.record_n(value, times.saturating_mul(count));
            },
        );
    }
}

/// Adds each bucket's count at one of its values.
fn add_values<R: Record + ?Sized>(to: &R, other: &Snapshot, by: ValueSelection) -> Merged {
    let layout = *to.layout();
    let mut merged = Merged::default();
    for bucket in other.recorded_buckets() {
        let value = bucket.equivalent_value(by);
        to.record_n(value, bucket.count);
        let part = match layout.bucket_of(value) {
            Some(place) if place.step < bucket.step => &mut merged.refined,
            Some(_) => continue,
            None if layout.is_below(value) => &mut merged.underflow,
            None => &mut merged.overflow,
        };
        *part = part.saturating_add(bucket.count);
    }
    add_tallies(to.tallies(), other);
    merged
}

/// See [`Record::add_snapshot_spreading`].
fn add_spreading<R: Record + ?Sized>(to: &R, other: &Snapshot) -> Merged {
    let layout = *to.layout();
    let mut merged = Merged::default();
    for bucket in other.recorded_buckets() {
        spread(&layout, &bucket, |part, count| {
            let (value, tally) = match part {
                Part::In(index) => {
                    let place = layout.bucket_at(index);
                    let finer = place.step < bucket.step;
                    (place.lower, if finer { Some(&mut merged.refined) } else { None })
                }
                // Some value on that side: which one is not told.
                Part::Below => (bucket.lower, Some(&mut merged.underflow)),
                Part::Above => (bucket.upper, Some(&mut merged.overflow)),
            };
            to.record_n(value, count);
            if let Some(tally) = tally {
                *tally = tally.saturating_add(count);
            }
        });
    }
    merged
}

/// Adds what a snapshot has beside its buckets.
fn add_tallies((tallies, bits): (&Tallies, u32), other: &Snapshot) {
    let counts = other.counts();
    for (tally, count) in [
        (&tallies.underflow, counts.underflow),
        (&tallies.overflow, counts.overflow),
        (&tallies.lost, counts.lost),
    ] {
        if count != 0 {
            tallies.add_wraps_beside(tally.add_shared(count), bits);
        }
    }
}
