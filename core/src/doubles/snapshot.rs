//! One interval's counts of doubles, and what can be read from them.

use alloc::vec::Vec;

use super::exact::Exact;
use super::layout::{DoubleBucket, DoubleLayout};
use super::sum::ExactSum;
use crate::error::{Error, Result};
use crate::statistics::percentile::{saturated, target_count};

/// Which observation a quantile is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u32)]
pub enum QuantileRule {
    /// Observation number `max(1, ceil(q * n))` of `n`, decided in integers: the rule of all percentiles here.
    #[default]
    NearestRank = 0,
    /// Observation number `min(max(0, floor(q * n)), n - 1)`, counted from 0, with the product in floating point: what
    /// the aggregator of .NET's metrics does.
    DotNet = 1,
}

/// A bucket's key and count.
#[derive(Clone, Copy, Debug)]
pub struct DoubleEntry {
    /// The number of the bucket: 0 for zeros, negative for negative values.
    pub key: i32,
    /// How many values are in it.
    pub count: u64,
}

/// The counts of one interval of a [`DoubleHistogram`](super::DoubleHistogram).
///
/// It holds the buckets that have counts, in ascending order, and no reference to its histogram.
#[derive(Clone, Debug)]
pub struct DoubleSnapshot {
    pub(super) layout: DoubleLayout,
    pub(super) rule: QuantileRule,
    pub(super) entries: Vec<DoubleEntry>,
    pub(super) count: u128,
    pub(super) not_finite: u64,
    pub(super) lost: u64,
    pub(super) exact: Option<Exact>,
}

/// Totals and moments of doubles. Numbers that do not exist are NaN.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
pub struct DoubleStatistics {
    /// Observations with a finite value; saturates at `u64::MAX`.
    pub count: u64,
    /// Observations that were NaN or infinite; not part of anything else here.
    pub not_finite: u64,
    /// Observations that found no memory for their bucket; not part of anything else here.
    pub lost: u64,
    /// Sum of the buckets' midpoints, each within the relative error of its values; or exact and rounded once, if the
    /// histogram keeps it. 0 if empty; infinite beyond the largest double.
    pub sum: f64,
    /// Smallest value, within the relative error, or exact; NaN when empty.
    pub min: f64,
    /// Largest value, within the relative error, or exact; NaN when empty.
    pub max: f64,
    /// The sum divided by the count, computed without overflow; NaN if empty.
    pub mean: f64,
    /// Population standard deviation of the midpoints; NaN when empty.
    pub stddev: f64,
    /// The stated error of the layout.
    pub relative_error: f64,
}

impl DoubleSnapshot {
    /// An empty snapshot, into which any histogram can be collected.
    pub const fn new() -> DoubleSnapshot {
        DoubleSnapshot {
            layout: DoubleLayout::new(0.0),
            rule: QuantileRule::NearestRank,
            entries: Vec::new(),
            count: 0,
            not_finite: 0,
            lost: 0,
            exact: None,
        }
    }

    /// Empties the snapshot for counts of this layout, and keeps its memory.
    pub(super) fn start(&mut self, layout: DoubleLayout, rule: QuantileRule, exact: Option<Exact>) {
        self.entries.clear();
        (self.layout, self.rule, self.exact) = (layout, rule, exact);
        (self.count, self.not_finite, self.lost) = (0, 0, 0);
    }

    fn is_empty(&self) -> bool {
        let exact = self.exact.as_ref().is_none_or(|exact| *exact == Exact::NOTHING);
        self.entries.is_empty() && (self.not_finite, self.lost) == (0, 0) && exact
    }

    /// Sorts entries that were appended in several ascending runs, and counts them.
    pub(super) fn finish(&mut self) {
        if !self.entries.is_sorted_by(|a, b| a.key < b.key) {
            let mut lost = self.lost;
            self.entries.sort_unstable_by_key(|entry| entry.key);
            self.entries.dedup_by(|later, first| {
                let same = later.key == first.key;
                if same {
                    let fits = later.count.min(u64::MAX - first.count);
                    first.count += fits;
                    lost = lost.saturating_add(later.count - fits);
                }
                same
            });
            self.lost = lost;
        }
        self.count = self.entries.iter().map(|entry| u128::from(entry.count)).sum();
    }

    /// The rule that maps values to buckets.
    pub fn layout(&self) -> DoubleLayout {
        self.layout
    }

    /// Observations with a finite value; saturates at `u64::MAX`.
    pub fn count(&self) -> u64 {
        saturated(self.count)
    }

    /// Observations that were NaN or infinite.
    pub fn not_finite(&self) -> u64 {
        self.not_finite
    }

    /// Observations that found no memory for their bucket, or no room in its count. Saturates at `u64::MAX`, also when
    /// a count wraps around 64 bits.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Keys and counts that are not zero, in ascending order.
    pub fn entries(&self) -> &[DoubleEntry] {
        &self.entries
    }

    /// The buckets that have counts, in ascending order.
    pub fn buckets(&self) -> impl DoubleEndedIterator<Item = DoubleBucket> + '_ {
        self.entries.iter().map(|entry| self.layout.bucket_at(entry.key, entry.count))
    }

    /// Adds the counts of another snapshot. If the layouts differ, each bucket's count goes to the bucket of its
    /// midpoint, and the errors add up. Sum and extremes stay exact if both are. Returns [`Error::OutOfMemory`] if
    /// there is no room, and then changes nothing.
    pub fn merge(&mut self, other: &DoubleSnapshot) -> Result<()> {
        self.entries.try_reserve(other.entries.len()).map_err(|_| Error::OutOfMemory)?;
        if self.is_empty() {
            self.start(other.layout, other.rule, other.exact.clone());
            self.entries.extend_from_slice(&other.entries);
            (self.count, self.not_finite, self.lost) = (other.count, other.not_finite, other.lost);
            return Ok(());
        }
        let layout = self.layout;
        self.entries.extend(other.buckets().map(|bucket| DoubleEntry {
            key: layout.place_of(bucket.midpoint).map_or(0, |place| layout.key_of(place)),
            count: bucket.count,
        }));
        self.finish();
        self.not_finite = self.not_finite.saturating_add(other.not_finite);
        self.lost = self.lost.saturating_add(other.lost);
        match (&mut self.exact, &other.exact) {
            (Some(exact), Some(other)) => exact.merge(other),
            (exact, _) => *exact = None,
        }
        Ok(())
    }

    /// Totals, sum, extremes, mean and deviation. It takes one pass over the buckets that have counts, and a second one
    /// for the deviation.
    pub fn statistics(&self) -> DoubleStatistics {
        let mut of_buckets = ExactSum::ZERO;
        for bucket in self.buckets() {
            of_buckets.add(bucket.midpoint, bucket.count);
        }
        of_buckets.carry();
        let sum = self.exact.as_ref().map_or(&of_buckets, |exact| &exact.sum);
        let (min, max) = self.range().unwrap_or((f64::NAN, f64::NAN));
        DoubleStatistics {
            count: self.count(),
            not_finite: self.not_finite,
            lost: self.lost,
            sum: sum.to_f64(),
            min,
            max,
            mean: sum.divided_by(self.count),
            stddev: self.deviation_from(of_buckets.divided_by(self.count)),
            relative_error: self.layout.relative_error(),
        }
    }

    /// The smallest and largest value, if there is one.
    fn range(&self) -> Option<(f64, f64)> {
        if let Some(range) = self.exact.as_ref().and_then(Exact::range) {
            return Some(range);
        }
        let mut buckets = self.buckets().map(|bucket| bucket.midpoint);
        let min = buckets.next()?;
        Some((min, buckets.next_back().unwrap_or(min)))
    }

    fn deviation_from(&self, mean: f64) -> f64 {
        // The division by a power of two prevents squares from overflowing or vanishing.
        let largest = self.buckets().fold(0.0f64, |largest, bucket| largest.max(bucket.midpoint.abs()));
        let exponent = libm::frexp(largest).1 + 1;
        let scaled = |value| libm::scalbn(value, -exponent);
        let (mut squares, mut weight) = (0.0, 0.0);
        for bucket in self.buckets() {
            let distance = scaled(bucket.midpoint) - scaled(mean);
            squares += bucket.count as f64 * (distance * distance);
            weight += bucket.count as f64;
        }
        // This is 0 / 0 if the snapshot is empty.
        libm::scalbn(libm::sqrt(squares / weight), exponent)
    }

    /// The value at a quantile in 0 ..= 1. See [`DoubleSnapshot::quantiles`].
    pub fn quantile(&self, quantile: f64) -> Result<f64> {
        let mut out = [0.0];
        self.quantiles(&[quantile], &mut out)?;
        Ok(out[0])
    }

    /// The values at quantiles in 0 ..= 1, in any order. The histogram's [`QuantileRule`] chooses the observation; the
    /// value is the midpoint of its bucket, clamped to the exact extremes if they are known. It is within the relative
    /// error of that observation. Each group of ascending quantiles takes one pass over the buckets.
    ///
    /// Returns [`Error::InvalidArgument`] for NaN or a quantile out of range, [`Error::Empty`] if nothing was recorded,
    /// and [`Error::BufferTooSmall`] if `out` is shorter than `quantiles`; then it writes nothing.
    pub fn quantiles(&self, quantiles: &[f64], out: &mut [f64]) -> Result<()> {
        self.for_each_quantile(quantiles, out.len(), |at, value| out[at] = value)
    }

    /// The same values one at a time, each with its index.
    #[doc(hidden)] // For the C interface, whose arrays may be uninitialized.
    pub fn for_each_quantile(
        &self,
        quantiles: &[f64],
        capacity: usize,
        mut write: impl FnMut(usize, f64),
    ) -> Result<()> {
        check_quantiles(quantiles)?;
        if capacity < quantiles.len() {
            return Err(Error::BufferTooSmall);
        }
        if self.count == 0 {
            return if quantiles.is_empty() { Ok(()) } else { Err(Error::Empty) };
        }
        let mut cursor = self.cursor();
        for (at, &quantile) in quantiles.iter().enumerate() {
            write(at, cursor.find(self.target(quantile)?).0);
        }
        Ok(())
    }

    /// The number of the observation, from 1, at a quantile in 0 ..= 1.
    pub(super) fn target(&self, quantile: f64) -> Result<u128> {
        match self.rule {
            QuantileRule::NearestRank => target_count(quantile * 100.0, self.count),
            // The cast saturates.
            QuantileRule::DotNet => Ok(((quantile * self.count as f64) as u128).min(self.count - 1) + 1),
        }
    }

    pub(super) fn cursor(&self) -> Cursor<'_> {
        Cursor { snapshot: self, index: 0, before: 0, range: self.range().unwrap_or_default() }
    }
}

impl Default for DoubleSnapshot {
    fn default() -> Self {
        DoubleSnapshot::new()
    }
}

/// Returns [`Error::InvalidArgument`] unless all are in 0 ..= 1.
pub(super) fn check_quantiles(quantiles: &[f64]) -> Result<()> {
    let valid = quantiles.iter().all(|quantile| (0.0..=1.0).contains(quantile));
    if valid { Ok(()) } else { Err(Error::InvalidArgument) }
}

/// Finds observations by their number, in one pass while the numbers ascend.
pub(super) struct Cursor<'a> {
    snapshot: &'a DoubleSnapshot,
    index: usize,
    /// Observations before `index`.
    before: u128,
    range: (f64, f64),
}

impl Cursor<'_> {
    /// The reported value of observation number `target`, 1 ..= count, and its bucket.
    pub(super) fn find(&mut self, target: u128) -> (f64, DoubleBucket) {
        let entries = &self.snapshot.entries;
        if target <= self.before {
            (self.index, self.before) = (0, 0);
        }
        while let Some(entry) = entries.get(self.index)
            && self.index + 1 < entries.len()
            && self.before + u128::from(entry.count) < target
        {
            self.before += u128::from(entry.count);
            self.index += 1;
        }
        let entry = entries[self.index];
        let bucket = self.snapshot.layout.bucket_at(entry.key, entry.count);
        (bucket.midpoint.clamp(self.range.0, self.range.1), bucket)
    }
}
