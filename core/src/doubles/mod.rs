//! Histograms of doubles: finite values of both signs and all magnitudes, each reported within a relative error.
//!
//! The idea comes from the aggregator of .NET's `System.Diagnostics.Metrics`, which derives the counter from the bits
//! of the value: see [`DoubleLayout`]. The differences: values are reported as midpoints, so that the promised error
//! holds; it holds for subnormal numbers too; writers take no lock; and nothing is lost when an interval ends.
//!
//! There are two intervals: writers add to one, and the other waits. [`DoubleHistogram::collect`] swaps them and then
//! empties the one that writers have left. It atomically swaps each cell for zero. A writer that was already on its way
//! still adds to that interval. If it adds before the swap of its cell, the count belongs to this interval; if after,
//! the count stays there until the next collection, which empties both. So every record is read exactly once.

mod exact;
mod layout;
mod rows;
mod shared;
mod snapshot;
mod sum;
mod summary;

use alloc::boxed::Box;
use core::mem::size_of;

use crate::cells::first_touch::Budget;
use crate::error::{Error, Result};
use crate::platform::atomics::AtomicUsize;
use crate::platform::atomics::Ordering::*;
use crate::platform::lock::Exclusive;
use exact::{Entered, Exact, Stripes};
use rows::{Interval, Reading, Rows};
use snapshot::check_quantiles;

pub use layout::{DoubleBucket, DoubleLayout};
pub use shared::SharedDoubleHistogram;
pub use snapshot::{DoubleEntry, DoubleSnapshot, DoubleStatistics, QuantileRule};
pub use summary::{DoublePercentile, DoubleSummary};

/// Options of a [`DoubleHistogram`]. Zero means the default everywhere.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct DoubleOptions {
    /// Largest distance between a value and its reported value, in proportion: 0 means 0.001; clamped to 1e-4 ..= 0.1.
    pub relative_error: f64,
    /// Limit of all memory in bytes; 0 means no limit. Records that would need more are counted as lost.
    pub max_bytes: u64,
    /// Keep sum, minimum and maximum exactly. A record then costs several atomic operations instead of one.
    pub exact: bool,
    /// Which observation a quantile is.
    pub quantile_rule: QuantileRule,
}

/// Records that a batch makes per entry into a stripe; a reader that waits for it waits a few microseconds.
const ENTRY: usize = 64;

/// A histogram of doubles for any number of writing threads.
///
/// A record is one relaxed atomic add. It never fails, waits or takes a lock; only the first record in a power of two
/// allocates. NaN and infinities have a separate count, and so do values that find no memory.
pub struct DoubleHistogram {
    layout: DoubleLayout,
    rule: QuantileRule,
    /// The interval that writers add to.
    active: AtomicUsize,
    rows: Rows,
    /// One set for each interval, if sums are kept exactly.
    stripes: Option<Box<[Stripes; 2]>>,
    budget: Budget,
    /// Allows one reading at a time. Another can take over at any step, because the next one reads both intervals.
    readings: Exclusive,
}

// All shared access uses atomics.
const _: () = {
    const fn is_for_all_threads<T: Send + Sync>() {}
    is_for_all_threads::<DoubleHistogram>();
};

impl DoubleHistogram {
    /// Makes a new histogram. Returns [`Error::InvalidArgument`] if the empty histogram exceeds `max_bytes`, or
    /// [`Error::OutOfMemory`].
    pub fn new(options: &DoubleOptions) -> Result<DoubleHistogram> {
        let limit = match options.max_bytes {
            0 => usize::MAX,
            bytes => usize::try_from(bytes).unwrap_or(usize::MAX),
        };
        let exact = if options.exact { size_of::<[Stripes; 2]>() } else { 0 };
        let used = size_of::<DoubleHistogram>() + exact;
        if used > limit {
            return Err(Error::InvalidArgument);
        }
        Ok(DoubleHistogram {
            layout: DoubleLayout::new(options.relative_error),
            rule: options.quantile_rule,
            active: AtomicUsize::new(0),
            rows: Rows::new(),
            stripes: if options.exact { Some(Stripes::boxed()?) } else { None },
            budget: Budget::new(used, limit),
            readings: Exclusive::new(),
        })
    }

    /// The rule that maps values to buckets.
    pub fn layout(&self) -> DoubleLayout {
        self.layout
    }

    /// Counts one value. Any thread may call it.
    #[inline(always)]
    pub fn record(&self, value: f64) {
        self.record_n(value, 1);
    }

    /// Counts one value `count` times. A count of zero does nothing.
    #[inline]
    pub fn record_n(&self, value: f64, count: u64) {
        if self.stripes.is_some() {
            return self.record_exactly(value, count);
        }
        // Relaxed suffices: in the end both intervals are read, whichever one the writer saw.
        self.add(Interval(self.active.load(Relaxed)), value, count);
    }

    /// Counts every value of a slice. With exact sums, a batch costs less than separate records.
    pub fn record_batch(&self, values: &[f64]) {
        if self.stripes.is_none() {
            return values.iter().for_each(|&value| self.record(value));
        }
        for values in values.chunks(ENTRY) {
            self.add_together(|interval, entered| {
                for &value in values {
                    if self.add(interval, value, 1) && value.is_finite() {
                        entered.add(value, 1);
                    }
                }
            });
        }
    }

    /// Returns `false` if the value is lost; nothing else includes it then.
    #[inline(always)]
    fn add(&self, interval: Interval, value: f64, count: u64) -> bool {
        match self.layout.place_of(value) {
            Some(place) => self.rows.add(self.layout, interval, place, count, &self.budget),
            None => {
                self.add_beside(interval, value, count);
                true
            }
        }
    }

    #[cold]
    fn add_beside(&self, interval: Interval, value: f64, count: u64) {
        let tallies = self.rows.tallies(interval);
        let tally = if value == 0.0 { &tallies.zero } else { &tallies.not_finite };
        tallies.add(tally, count);
    }

    #[inline(never)]
    fn record_exactly(&self, value: f64, count: u64) {
        if !value.is_finite() || count == 0 {
            self.add(Interval(self.active.load(Relaxed)), value, count);
            return;
        }
        self.add_together(|interval, entered| {
            if self.add(interval, value, count) {
                entered.add(value, count);
            }
        });
    }

    /// Runs `add` with an interval and a stripe of it, so that a collection reads everything that it adds or nothing.
    #[inline(always)]
    fn add_together(&self, add: impl FnOnce(Interval, &Entered)) {
        let Some(stripes) = &self.stripes else { return };
        // If a collection comes between the first look and the entry, the second look shows it. If collections keep
        // coming, the writer records anyway; its record may then be read in two parts.
        let mut attempts = 3;
        let (interval, entered) = loop {
            let active = self.active.load(SeqCst);
            let entered = stripes[Interval(active).index()].enter();
            attempts -= 1;
            if self.active.load(SeqCst) == active || attempts == 0 {
                break (Interval(active), entered);
            }
            entered.leave();
        };
        add(interval, &entered);
        entered.leave();
    }

    /// Takes out what was recorded since the last collection, while writers continue, and starts a new interval. Any
    /// thread.
    ///
    /// Nothing is lost: records made during the call are in this interval or the next, and earlier ones are in this
    /// one.
    ///
    /// Returns [`Error::OutOfMemory`] if `into` cannot hold the counts, or [`Error::Busy`] if another thread has
    /// stopped for seconds in the middle of reading. Then nothing was taken out. If writers touch more buckets
    /// meanwhile and memory runs out, those buckets stay for the next interval.
    pub fn collect(&self, into: &mut DoubleSnapshot) -> Result<()> {
        self.read(Reading::Drain, into)
    }

    /// Reads what was recorded since the last collection and leaves it in place. Concurrent records may be missing.
    /// Errors as for [`DoubleHistogram::collect`].
    pub fn peek(&self, into: &mut DoubleSnapshot) -> Result<()> {
        self.read(Reading::Peek, into)
    }

    /// [`DoubleHistogram::collect`], with quantiles 0 ..= 1 to `out` and the statistics. Empty intervals give NaN.
    ///
    /// Returns [`Error::InvalidArgument`] and [`Error::BufferTooSmall`] as [`DoubleSnapshot::quantiles`] does, before
    /// it takes anything out.
    pub fn collect_statistics(&self, quantiles: &[f64], out: &mut [f64]) -> Result<DoubleStatistics> {
        check_quantiles(quantiles)?;
        let Some(out) = out.get_mut(..quantiles.len()) else {
            return Err(Error::BufferTooSmall);
        };
        let mut snapshot = DoubleSnapshot::new();
        self.collect(&mut snapshot)?;
        if snapshot.quantiles(quantiles, out).is_err() {
            out.fill(f64::NAN);
        }
        Ok(snapshot.statistics())
    }

    fn read(&self, reading: Reading, into: &mut DoubleSnapshot) -> Result<()> {
        self.readings.run(|| self.read_alone(reading, into))?
    }

    fn read_alone(&self, reading: Reading, into: &mut DoubleSnapshot) -> Result<()> {
        let active = Interval(self.active.load(Relaxed));
        let recorded = [active, active.other()].map(|interval| self.rows.recorded(self.layout, interval));
        into.start(self.layout, self.rule, self.stripes.as_ref().map(|_| Exact::NOTHING));
        into.entries.try_reserve(recorded[0] + recorded[1]).map_err(|_| Error::OutOfMemory)?;
        // Late writers added this after the last collection.
        self.read_interval(active.other(), reading, into);
        if reading == Reading::Drain {
            self.active.store(active.other().index(), SeqCst);
        }
        self.read_interval(active, reading, into);
        into.finish();
        Ok(())
    }

    fn read_interval(&self, interval: Interval, reading: Reading, into: &mut DoubleSnapshot) {
        if let (Some(stripes), Some(exact)) = (&self.stripes, &mut into.exact) {
            stripes[interval.index()].read(reading, exact);
        }
        self.rows.read(self.layout, interval, reading, &mut into.entries);
        let tallies = self.rows.tallies(interval);
        into.not_finite = into.not_finite.saturating_add(reading.take_or_load(&tallies.not_finite));
        into.lost = into.lost.saturating_add(reading.take_or_load(&tallies.lost));
    }

    /// Adds all counts of a snapshot, of any layout; each bucket's count goes to the bucket of its midpoint. Sum and
    /// extremes stay exact if both have exact ones and all counts fit. Otherwise it adds the midpoints to the sums
    /// here.
    pub fn add_snapshot(&self, other: &DoubleSnapshot) {
        // Adding a count of zero makes room without changing a count.
        let make_room = |bucket: DoubleBucket| self.add(Interval(0), bucket.midpoint, 0);
        match &other.exact {
            Some(exact) if self.stripes.is_some() && other.buckets().all(make_room) => {
                self.add_together(|interval, entered| {
                    for bucket in other.buckets() {
                        self.add(interval, bucket.midpoint, bucket.count);
                    }
                    entered.add_exact(exact);
                })
            }
            _ => other.buckets().for_each(|bucket| self.record_n(bucket.midpoint, bucket.count)),
        }
        let tallies = self.rows.tallies(Interval(self.active.load(Relaxed)));
        tallies.add(&tallies.not_finite, other.not_finite());
        tallies.lose(other.lost());
    }

    /// Bytes of memory in use now.
    pub fn footprint(&self) -> usize {
        self.budget.used()
    }
}

impl Drop for DoubleHistogram {
    fn drop(&mut self) {
        // SAFETY: nobody else can reach the histogram any more.
        unsafe { self.rows.free(self.layout) };
    }
}

impl core::fmt::Debug for DoubleHistogram {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("DoubleHistogram").field("layout", &self.layout).finish_non_exhaustive()
    }
}
