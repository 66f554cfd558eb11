//! Percentiles, in one pass over the counts for many ranks.

use core::ops::{Add, Range};

use crate::error::{Error, Result};
use crate::layout::bucket::{Bucket, ValueSelection};
use crate::snapshot::snapshot::Snapshot;
use crate::snapshot::sums::RUN;
use crate::statistics::summary::Percentile;

/// Ranks have a resolution of 1e-9 percent: the target count is computed in integers.
const RANK_UNITS: f64 = 1e9;
pub(crate) const HUNDRED_PERCENT: u128 = 100_000_000_000;

/// Ranks that are not in ascending order are sorted in groups of this many, each taking a pass.
const GROUP: usize = 64;

/// The run of counts that contains the target is divided into runs of this many, and those into single counts.
pub(crate) const SHORT_RUN: usize = 32;

/// Returns the nearest rank: `max(1, ceil(rank / 100 * total))`, exact for ranks with up to nine decimals. Fails with
/// [`Error::InvalidArgument`] for NaN and ranks outside 0 ..= 100.
pub fn target_count(rank: f64, total: u128) -> Result<u128> {
    if !(0.0..=100.0).contains(&rank) {
        return Err(Error::InvalidArgument);
    }
    let units = rank_units(rank);
    // Units take 37 bits. A total takes 64 bits plus those of the number of counters, at most 26. Nearly every total
    // fits into 64 bits: then a short multiplication is enough.
    let product = u64::try_from(total).map_or_else(|_| units * total, |total| units * u128::from(total));
    Ok(product.div_ceil(HUNDRED_PERCENT).max(1))
}

/// Returns the count as reported, saturated.
pub fn saturated(count: u128) -> u64 {
    count.try_into().unwrap_or(u64::MAX)
}

/// Converts a rank to units of 1e-9 percent.
pub(crate) fn rank_units(rank: f64) -> u128 {
    u128::from(libm::round(rank * RANK_UNITS) as u64)
}

/// Finds, for ascending targets, the buckets where the cumulative count reaches them.
pub struct Cursor<'a> {
    snapshot: &'a Snapshot,
    index: usize,
    /// The counts before `index`.
    before: u128,
    /// Whether the sum of any counts fits into 64 bits.
    is_small: bool,
}

impl<'a> Cursor<'a> {
    /// Begins at the smallest observation.
    pub fn new(snapshot: &'a Snapshot) -> Self {
        Cursor { snapshot, index: 0, before: 0, is_small: snapshot.counts().total < u64::MAX }
    }

    /// Returns the index of the bucket that holds observation number `target`, 1 ..= total.
    pub fn find(&mut self, target: u128) -> usize {
        let cells = self.snapshot.cells();
        if self.is_small {
            let mut before = self.before as u64;
            search(&mut self.index, &mut before, target as u64, cells.len(), |range| {
                cells.wrapping_total(range)
            });
            self.before = before.into();
        } else {
            search(&mut self.index, &mut self.before, target, cells.len(), |range| cells.total(range));
        }
        self.index
    }
}

/// Moves to the index at which the counts reach `target`, if any does. `before` sums the counts before `index`, and
/// `total` sums a range.
#[inline(always)]
fn search<Sum: Copy + PartialOrd + Add<Output = Sum>>(
    index: &mut usize,
    before: &mut Sum,
    target: Sum,
    length: usize,
    total: impl Fn(Range<usize>) -> Sum,
) {
    let mut run = RUN;
    while *index < length {
        let end = (*index + run).min(length);
        let reached = *before + total(*index..end);
        if reached < target {
            (*index, *before) = (end, reached);
        } else if run == 1 {
            break;
        } else {
            // It is in this run: examine its parts.
            run = if run > SHORT_RUN { SHORT_RUN } else { 1 };
        }
    }
}

impl Snapshot {
    /// Returns the percentile at one rank. See [`Snapshot::percentiles`].
    pub fn percentile(&self, rank: f64, selection: ValueSelection) -> Result<Percentile> {
        let mut out = [Percentile::default()];
        self.percentiles(&[rank], selection, &mut out)?;
        Ok(out[0])
    }

    /// Returns the percentiles at ranks 0 ..= 100, in any order: for each the first bucket whose cumulative count
    /// reaches `max(1, ceil(rank / 100 * total))`. Underflow, overflow and lost counts are not part of it.
    ///
    /// This takes one pass over the counts for ascending ranks, otherwise one for every 64 ranks.
    ///
    /// Fails with [`Error::InvalidArgument`] for a rank out of range, with [`Error::Empty`] if nothing was recorded,
    /// and with [`Error::BufferTooSmall`] if `out` is shorter than `ranks`; then it writes nothing.
    pub fn percentiles(
        &self,
        ranks: &[f64],
        selection: ValueSelection,
        out: &mut [Percentile],
    ) -> Result<()> {
        self.for_each_percentile(ranks, selection, out.len(), |at, percentile| out[at] = percentile)
    }

    /// Returns only the values of [`Snapshot::percentiles`].
    pub fn percentile_values(&self, ranks: &[f64], selection: ValueSelection, out: &mut [u64]) -> Result<()> {
        self.for_each_percentile(ranks, selection, out.len(), |at, percentile| out[at] = percentile.value)
    }

    /// Reports [`Snapshot::percentiles`] one by one, each with its position, in any order.
    #[doc(hidden)] // For the C interface, whose arrays may hold nothing so far.
    pub fn for_each_percentile(
        &self,
        ranks: &[f64],
        selection: ValueSelection,
        capacity: usize,
        mut write: impl FnMut(usize, Percentile),
    ) -> Result<()> {
        self.find_ranks(ranks, capacity, |at, target, bucket, _| {
            let (value, target_count) = (bucket.equivalent_value(selection), saturated(target));
            write(at, Percentile { rank: ranks[at], value, target_count, bucket });
        })
    }

    /// Reports for each rank, in any order, its position, its target, the bucket that reaches it, and the counts below that
    /// bucket. Fails as [`Snapshot::percentiles`].
    #[inline(always)]
    pub(crate) fn find_ranks(
        &self,
        ranks: &[f64],
        capacity: usize,
        mut report: impl FnMut(usize, u128, Bucket, u128),
    ) -> Result<()> {
        let total = self.exact_total();
        let mut ascending = true;
        let mut last = 0;
        for &rank in ranks {
            let target = target_count(rank, total)?;
            ascending &= target >= last;
            last = target;
        }
        if ranks.len() > capacity {
            return Err(Error::BufferTooSmall);
        }
        if total == 0 {
            return if ranks.is_empty() { Ok(()) } else { Err(Error::Empty) };
        }
        let mut find = |cursor: &mut Cursor, at: usize, target: u128| {
            let bucket = self.bucket_at(cursor.find(target));
            report(at, target, bucket, cursor.before);
        };
        if ascending {
            let mut cursor = Cursor::new(self);
            for (at, &rank) in ranks.iter().enumerate() {
                find(&mut cursor, at, target_count(rank, total)?);
            }
            return Ok(());
        }
        for (group, ranks) in ranks.chunks(GROUP).enumerate() {
            let mut order = [(0u128, 0usize); GROUP];
            let order = &mut order[..ranks.len()];
            for (at, &rank) in ranks.iter().enumerate() {
                order[at] = (target_count(rank, total)?, group * GROUP + at);
            }
            order.sort_unstable();
            let mut cursor = Cursor::new(self);
            for &mut (target, at) in order {
                find(&mut cursor, at, target);
            }
        }
        Ok(())
    }

    /// Returns the percentage of observations at or below a value: those in buckets up to and including its bucket.
    /// With `interpolate`, that bucket contributes in proportion to the position of the value in it. The result is 0
    /// below the range and 100 above it. Fails with [`Error::Empty`] if nothing was recorded.
    pub fn rank_of_value(&self, value: u64, interpolate: bool) -> Result<f64> {
        let total = self.exact_total();
        if total == 0 {
            return Err(Error::Empty);
        }
        let Some(bucket) = self.bucket_of(value) else {
            return Ok(if self.layout().is_below(value) { 0.0 } else { 100.0 });
        };
        let before = self.cells().total(0..bucket.storage_index as usize) as f64;
        let share =
            if interpolate { ((value - bucket.lower) as f64 + 1.0) / bucket.step as f64 } else { 1.0 };
        Ok(((before + bucket.count as f64 * share) / total as f64 * 100.0).min(100.0))
    }

    /// The buckets that have counts (or all), in ascending order, each as the percentile of the observation in its middle: of `count`
    /// observations the one with number `ceil(count / 2)`. The target count is its number among all, `before + ceil(count / 2)`, and
    /// the rank that number over the total, NaN when nothing was recorded; an only observation is at rank 100. For an empty bucket it is
    /// the last observation before the bucket.
    pub fn bucket_percentiles(
        &self,
        recorded_only: bool,
        selection: ValueSelection,
    ) -> impl Iterator<Item = Percentile> + '_ {
        let (mut before, total) = (0u128, self.exact_total());
        self.buckets().filter(move |bucket| !recorded_only || bucket.count != 0).map(move |bucket| {
            let target = before + u128::from(bucket.count.div_ceil(2));
            before += u128::from(bucket.count);
            // Rounded once where 53 bits hold a hundred times the target.
            let rank = target as f64 * 100.0 / total as f64;
            let value = bucket.equivalent_value(selection);
            Percentile { rank, value, target_count: saturated(target), bucket }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn targets_are_exact() {
        assert_eq!(target_count(99.9, 1_000_000), Ok(999_000), "one too high in floating point");
        assert_eq!(target_count(99.999, 99_940), Ok(99_940));
        assert_eq!(target_count(99.9999999999, 1_000_000), Ok(1_000_000));
        assert_eq!((target_count(0.0, 5), target_count(-0.0, 5)), (Ok(1), Ok(1)));
        assert_eq!(target_count(100.0, u64::MAX.into()), Ok(u64::MAX.into()));
        // All counters are full.
        let most = u128::from(u64::MAX) << 26;
        assert_eq!(target_count(100.0, most), Ok(most));
        for rank in [f64::NAN, -1e-9, 100.000_000_001, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(target_count(rank, 5), Err(Error::InvalidArgument), "{rank}");
        }
    }

    proptest! {
        #[test]
        fn targets_of_decimal_ranks(nanos in 0u64..=100_000_000_000, total in 1u128..1 << 90) {
            // The rank as a user would write it, with nine decimals.
            let text = std::format!("{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000);
            let rank: f64 = text.parse().unwrap();
            let product = nanos as u128 * total;
            let mut expected = product / 100_000_000_000;
            if !product.is_multiple_of(100_000_000_000) { expected += 1 }
            prop_assert_eq!(target_count(rank, total).unwrap(), expected.max(1));
        }
    }
}
