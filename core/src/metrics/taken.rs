//! What an update takes of a histogram: cumulative counts at bounds, and a sum.

use alloc::vec::Vec;

use crate::doubles::DoubleSnapshot;
use crate::error::{Error, Result};
use crate::layout::bucket::ValueSelection;
use crate::snapshot::snapshot::Snapshot;

#[derive(Debug, Default)]
pub(super) struct Taken {
    /// Cumulative, for each bound.
    pub(super) counts: Vec<u64>,
    /// All of them.
    pub(super) total: u64,
    /// As recorded. `None` where a value was negative, so that the sum is not one that only grows.
    pub(super) sum: Option<f64>,
    /// In none of the others.
    pub(super) lost: u64,
    /// In none of the others.
    pub(super) not_finite: u64,
}

impl Taken {
    pub(super) fn nothing(bounds: usize) -> Result<Taken> {
        let mut counts = Vec::new();
        counts.try_reserve_exact(bounds).map_err(|_| Error::OutOfMemory)?;
        counts.resize(bounds, 0);
        Ok(Taken { counts, sum: Some(0.0), ..Taken::default() })
    }

    /// Whether anything became less.
    pub(super) fn take(&mut self, snapshot: &Snapshot, bounds: &[u64]) -> bool {
        let (layout, counts) = (snapshot.layout(), snapshot.counts());
        let below = (layout.lowest_recordable().saturating_sub(1), counts.underflow);
        let above = layout.highest_recordable().saturating_add(1);
        let weight = |value: u64, count: u64| u128::from(value) * u128::from(count);
        let mut sum = weight(above, counts.overflow);
        let inside = snapshot
            .recorded_buckets()
            .map(|bucket| (bucket.equivalent_value(ValueSelection::Midpoint), bucket.count));
        let all = (below.1 != 0).then_some(below).into_iter().chain(inside);
        let all = all.inspect(|&(value, count)| sum = sum.saturating_add(weight(value, count)));
        let (mut went_down, total) = self.accumulate(bounds, all);
        went_down |= self.set(total.saturating_add(counts.overflow), counts.lost, 0);
        self.sum = Some(sum as f64);
        went_down
    }

    /// Whether anything became less.
    pub(super) fn take_doubles(&mut self, snapshot: &DoubleSnapshot, bounds: &[f64]) -> bool {
        let inside = snapshot.buckets().map(|bucket| (bucket.midpoint, bucket.count));
        let (mut went_down, total) = self.accumulate(bounds, inside);
        went_down |= self.set(total, snapshot.lost(), snapshot.not_finite());
        let statistics = snapshot.statistics();
        // NaN, where there is none, is not below zero.
        self.sum = if statistics.min < 0.0 { None } else { Some(statistics.sum) };
        went_down
    }

    /// Counts what ascending values amount to at each bound, and all of it.
    fn accumulate<T: PartialOrd + Copy>(
        &mut self,
        bounds: &[T],
        values: impl Iterator<Item = (T, u64)>,
    ) -> (bool, u64) {
        let (mut values, mut total, mut went_down) = (values.peekable(), 0u64, false);
        for (cumulative, bound) in self.counts.iter_mut().zip(bounds) {
            while let Some((_, count)) = values.next_if(|(value, _)| value <= bound) {
                total = total.saturating_add(count);
            }
            went_down |= total < *cumulative;
            *cumulative = total;
        }
        (went_down, values.fold(total, |total, (_, count)| total.saturating_add(count)))
    }

    fn set(&mut self, total: u64, lost: u64, not_finite: u64) -> bool {
        let went_down = total < self.total || lost < self.lost || not_finite < self.not_finite;
        (self.total, self.lost, self.not_finite) = (total, lost, not_finite);
        went_down
    }
}
