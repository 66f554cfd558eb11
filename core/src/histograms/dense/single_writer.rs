//! Recording by the only writer: plain additions. The compiler ensures that there is no second writer.

use core::ptr;

use super::{Histogram, add_out_of_range};
use crate::cells::cell::{Counter, Place, SingleWriter, Unguarded};
use crate::cells::header::Header;
use crate::error::Result;
use crate::histograms::record::Record;
use crate::layout::indexer::Indexer;
use crate::layout::layout::Layout;
use crate::platform::atomics::AtomicU64;
use crate::snapshot::merge::Merged;
use crate::snapshot::snapshot::Snapshot;

/// Defines the ways to record other than `record`, by `&self` or `&mut self`. `$with` converts `$through` to a type
/// that records without checking the writer.
macro_rules! record_in_all_ways {
    ($([$mut:tt])? $self:ident, $with:ident($through:expr) $(, $inline:meta)?) => {
        /// Counts one value `count` times. A count of zero does nothing.
        $(#[$inline])?
        pub fn record_n(& $($mut)? $self, value: u64, count: u64) {
            $with!($through, histogram => histogram.record_n(value, count));
        }

        /// Counts every value of a slice.
        pub fn record_batch(& $($mut)? $self, values: &[u64]) {
            $with!($through, histogram => histogram.record_batch(values));
        }

        /// See [`crate::recorders::Record::record_corrected`].
        pub fn record_corrected(& $($mut)? $self, value: u64, expected_interval: u64) {
            $with!($through, histogram => histogram.record_corrected(value, expected_interval));
        }

        /// See [`crate::recorders::Record::record_corrected_n`].
        pub fn record_corrected_n(& $($mut)? $self, value: u64, count: u64, expected_interval: u64) {
            $with!($through, histogram => histogram.record_corrected_n(value, count, expected_interval));
        }

        /// See [`crate::recorders::Record::record_in_range`].
        pub fn record_in_range(& $($mut)? $self, value: u64, min: u64, max: u64) -> Result<()> {
            $with!($through, histogram => histogram.record_in_range(value, min, max))
        }

        /// See [`crate::recorders::Record::add_snapshot`].
        pub fn add_snapshot(& $($mut)? $self, other: &Snapshot) -> Merged {
            $with!($through, histogram => histogram.add_snapshot(other))
        }

        /// See [`crate::recorders::Record::add_snapshot_low_ends`].
        pub fn add_snapshot_low_ends(& $($mut)? $self, other: &Snapshot) -> Merged {
            $with!($through, histogram => histogram.add_snapshot_low_ends(other))
        }

        /// See [`crate::recorders::Record::add_snapshot_spreading`].
        pub fn add_snapshot_spreading(& $($mut)? $self, other: &Snapshot) -> Merged {
            $with!($through, histogram => histogram.add_snapshot_spreading(other))
        }
    };
}
pub(crate) use record_in_all_ways;

/// Runs an expression directly on a histogram, as `as_what_records` does on the one behind a header.
macro_rules! directly {
    ($through:expr, $histogram:ident => $body:expr) => {{
        let $histogram = &$through;
        $body
    }};
}
pub(crate) use directly;

impl<C: Counter> Histogram<[C], SingleWriter> {
    record_in_all_ways!([mut] self, directly(self.unguarded()), inline);

    /// Counts one value: a load, an add and a store of one cell. In a loop, [`Writer::record`] is faster.
    #[inline(always)]
    pub fn record(&mut self, value: u64) {
        self.unguarded().record(value);
    }

    /// Does the same as [`Histogram::record_batch`] by a given path.
    #[doc(hidden)]
    pub fn record_batch_by(&mut self, path: crate::layout::indices::BatchPath, values: &[u64]) {
        self.unguarded().record_batch_by(path, values);
    }

    /// Returns the writer, and a reference for everybody else: they read and reset while it records.
    ///
    /// ```
    /// use picollo_core::layouts::AtomicU64;
    /// use picollo_core::recorders::SingleWriter;
    /// use picollo_core::{Histogram, Layout, Since, Snapshot};
    ///
    /// const LAYOUT: Layout = Layout::new(0.01, 0, 1_000_000);
    /// let mut latency: Histogram<[AtomicU64; LAYOUT.cells()], SingleWriter> = Histogram::new(LAYOUT);
    /// let (mut writer, reader) = latency.split();
    /// std::thread::scope(|scope| {
    ///     scope.spawn(move || writer.record(1_234));
    ///     scope.spawn(move || reader.reset().unwrap());
    /// });
    /// ```
    pub fn split(&mut self) -> (Writer<'_, C>, &Self) {
        let this = &*self;
        (Writer { histogram: this, indexer: Indexer::new(this.layout()) }, this)
    }

    /// Returns the same histogram as a type that anybody can record into: for the writer's methods.
    #[inline(always)]
    fn unguarded(&self) -> &Histogram<[C], Unguarded> {
        // SAFETY: the two types have the same layout, because they are `repr(C)` and differ in a marker without a size.
        // The marker changes only who may call, and the callers ensure that.
        unsafe { &*(ptr::from_ref(self) as *const Histogram<[C], Unguarded>) }
    }
}

/// Counts a value for which the indexer has no index.
#[cold]
#[inline(never)]
fn count_outside(header: &Header, value: u64) {
    add_out_of_range::<Unguarded>(header, header.layout.recording_index(value), 1);
}

/// The only writer of a single-writer histogram, made by [`Histogram::split`]. You can send it to another thread, but
/// not clone it.
///
/// It is the fastest way to record in a loop. It has a copy of the map from values to cells, which the compiler keeps
/// in registers; [`Histogram::record`] has to reload it after each cell that it writes.
pub struct Writer<'a, C: Counter = AtomicU64> {
    histogram: &'a Histogram<[C], SingleWriter>,
    indexer: Indexer,
}

impl<'a, C: Counter> Writer<'a, C> {
    record_in_all_ways!([mut] self, directly(self.histogram.unguarded()), inline);

    /// Counts one value: a load, an add and a store of one cell.
    #[inline(always)]
    pub fn record(&mut self, value: u64) {
        let histogram = self.histogram.unguarded();
        match self.indexer.index(value) {
            Some(index) => {
                // SAFETY: the histogram has as many cells as its layout requires, and the indexer is of that layout.
                let place = unsafe { Place::<_, false>::new(histogram.cells.as_ptr(), index) };
                histogram.header.tallies.add_wraps_if_any(C::count_alone(place));
            }
            None => count_outside(&histogram.header, value),
        }
    }

    /// The rule that maps values to counters.
    pub fn layout(&self) -> &Layout {
        self.histogram.layout()
    }

    /// Returns the histogram, for reading and resetting.
    pub fn histogram(&self) -> &'a Histogram<[C], SingleWriter> {
        self.histogram
    }
}
