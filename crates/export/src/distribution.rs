//! The counts of a histogram at one moment: its recorded buckets, and what expositions need from them.

use alloc::string::String;
use alloc::vec::Vec;

use super::entries::{split_below, sum_of};
use super::error::{MetricError, refuse};
use super::exponential::{Edges, Exponential};
use super::family::Family;
use super::keys::Keys;
use super::memory::{list, push, text};
use super::number::Number;
use picollo_core::doubles::{DoubleEntry, DoubleSnapshot};
use picollo_core::layouts::ValueSelection;
use picollo_core::seam::{BLOCK, Cells, Counted, cells};
use picollo_core::{Error, Layout, Result, Snapshot};

/// The largest number of bounds of a metric.
pub const MAX_BOUNDS: usize = 500;

/// Buckets stop counting here, so that differences fit into `i64`, as formats require; observations above are lost.
const MOST: u64 = i64::MAX as u64;

/// The observations of a histogram at one moment: the buckets that have counts, and from them the counts at bounds and
/// those in exponential buckets. Each of these contains all observations.
#[derive(Clone, Debug)]
pub struct Distribution {
    keys: Keys,
    divisor: f64,
    max_buckets: usize,
    /// All distributions of one layout and divisor in a registry share these edges; there may be thousands of both.
    edges: Counted<Edges>,
    /// As written, ascending.
    pub(super) bounds: Vec<f64>,
    /// The same bounds as text.
    pub(super) bound_texts: Vec<String>,
    /// For each bound, the key after the last one that it includes.
    limits: Vec<i32>,
    /// Ascending, including counts out of range.
    entries: Vec<DoubleEntry>,
    /// Cumulative counts, for each bound.
    pub(super) cumulative: Vec<u64>,
    pub(super) exponential: Exponential,
    /// All observations in the other fields.
    pub(super) total: u64,
    /// As written.
    pub(super) sum: f64,
    /// Not included in the other fields.
    pub(super) lost: u64,
    /// Not included in the other fields.
    pub(super) not_finite: u64,
}

/// The parts of a distribution besides its entries.
#[derive(Clone, Copy, Default)]
struct Beside {
    /// As written; for integers, the entries determine it.
    sum: Option<f64>,
    lost: u64,
    not_finite: u64,
}

impl Distribution {
    /// An empty distribution for histograms with these buckets, next to `others`. Bounds are as recorded. Refuses
    /// bounds that do not ascend as written, are not finite, or are too many.
    pub(super) fn new(
        keys: Keys,
        divisor: f64,
        bounds: &[f64],
        max_buckets: u32,
        others: &[Family],
    ) -> Result<Distribution, MetricError> {
        // This check comes before any memory is allocated for them.
        if bounds.len() > MAX_BOUNDS {
            refuse!("bounds must be at most {MAX_BOUNDS}; got {}", bounds.len());
        }
        let mut before = f64::NEG_INFINITY;
        for (at, &bound) in bounds.iter().enumerate() {
            let written = bound / divisor;
            if !written.is_finite() || written <= before {
                refuse!(
                    "bounds must be finite and ascend, also after their division by {divisor:?}; got {:?}",
                    &bounds[at.saturating_sub(1)..=at]
                );
            }
            before = written;
        }
        let like = |other: &&Distribution| other.keys == keys && other.divisor == divisor;
        let edges = match others.iter().flat_map(Family::distributions).map(|(_, other)| other).find(like) {
            Some(other) => other.edges.clone(),
            None => Counted::create(Edges::new(&keys, divisor)?)?,
        };
        let limits = bounds.iter().map(|&bound| keys.first_where(|midpoint| midpoint > bound));
        let mut distribution = Distribution {
            keys,
            divisor,
            max_buckets: match max_buckets {
                0 => 320,
                u32::MAX => usize::MAX,
                buckets => buckets as usize,
            },
            edges,
            bounds: list(bounds.iter().map(|bound| bound / divisor))?,
            bound_texts: Vec::new(),
            limits: list(limits)?,
            entries: Vec::new(),
            cumulative: list(bounds.iter().map(|_| 0))?,
            exponential: Exponential::default(),
            total: 0,
            sum: 0.0,
            lost: 0,
            not_finite: 0,
        };
        for &bound in &distribution.bounds {
            push(&mut distribution.bound_texts, text(Number(bound))?)?;
        }
        distribution.count(Beside::default());
        Ok(distribution)
    }

    /// Takes the counts of a snapshot whose layout has these counters. Returns whether any count decreased.
    ///
    /// `spare` is memory for the entries. With [`Error::OutOfMemory`], nothing has changed.
    pub(super) fn take(&mut self, snapshot: &Snapshot, spare: &mut Vec<DoubleEntry>) -> Result<bool> {
        debug_assert!(
            matches!(self.keys, Keys::Integers(layout) if layout.same_counters(snapshot.layout())),
            "for another layout"
        );
        let counts = snapshot.counts();
        spare.clear();
        if counts.underflow != 0 {
            push(spare, DoubleEntry { key: Keys::UNDERFLOW, count: counts.underflow })?;
        }
        append_recorded(cells(snapshot), spare)?;
        if counts.overflow != 0 {
            push(spare, DoubleEntry { key: self.keys.overflow(), count: counts.overflow })?;
        }
        self.exchange(spare, Beside { lost: counts.lost, ..Beside::default() })
    }

    pub(super) fn take_doubles(
        &mut self,
        snapshot: &DoubleSnapshot,
        spare: &mut Vec<DoubleEntry>,
    ) -> Result<bool> {
        spare.clear();
        spare.try_reserve(snapshot.entries().len()).map_err(|_| Error::OutOfMemory)?;
        spare.extend_from_slice(snapshot.entries());
        let sum = Some(snapshot.statistics().sum / self.divisor);
        self.exchange(spare, Beside { sum, lost: snapshot.lost(), not_finite: snapshot.not_finite() })
    }

    /// Replaces the old entries with new ones.
    fn exchange(&mut self, entries: &mut Vec<DoubleEntry>, beside: Beside) -> Result<bool> {
        self.exponential.reserve(&self.edges, &self.keys, entries)?;
        core::mem::swap(&mut self.entries, entries);
        Ok(self.count(beside))
    }

    /// Counts the entries. Returns whether any count decreased.
    fn count(&mut self, mut beside: Beside) -> bool {
        let lost = &mut beside.lost;
        let (total, sum) = match self.keys {
            Keys::Integers(layout) => {
                let (total, sum) = total_and_sum_by_blocks(&layout, &self.entries).unwrap_or_else(|| {
                    // Midpoints are up to 2^64, and the total of all counts is below 2^63.
                    let weight = |key, count| Keys::midpoint_of_integer(&layout, key) * u128::from(count);
                    total_and_sum(&mut self.entries, lost, weight)
                });
                (total, sum as f64 / self.divisor)
            }
            Keys::Doubles(_) => {
                (total_and_sum(&mut self.entries, lost, |_, _| 0).0, beside.sum.unwrap_or_default())
            }
        };
        let less = total < self.total || beside.lost < self.lost || beside.not_finite < self.not_finite;
        (self.total, self.sum) = (total, sum);
        (self.lost, self.not_finite) = (beside.lost, beside.not_finite);
        self.exponential.count(&self.edges, &self.keys, self.divisor, &self.entries, self.max_buckets);
        self.accumulate() || less
    }

    /// Adds up the entries at each bound. Returns whether any count decreased.
    fn accumulate(&mut self) -> bool {
        let (mut entries, mut total, mut went_down) = (&self.entries[..], 0, false);
        for (cumulative, &limit) in self.cumulative.iter_mut().zip(&self.limits) {
            let (below, rest) = split_below(entries, limit);
            entries = rest;
            total += sum_of(below);
            went_down |= total < *cumulative;
            *cumulative = total;
        }
        went_down
    }

    /// The value at this many thousandths of all observations, by nearest rank and within the error of the histogram,
    /// as written; NaN if there is no observation.
    pub(super) fn quantile(&self, thousandths: u32) -> f64 {
        let target = (u128::from(self.total) * u128::from(thousandths)).div_ceil(1000).max(1);
        let mut seen = 0;
        for entry in &self.entries {
            seen += u128::from(entry.count);
            if seen >= target {
                return self.keys.midpoint(entry.key) / self.divisor;
            }
        }
        f64::NAN
    }

    #[cfg(all(test, not(loom)))]
    pub(super) fn edges(&self) -> &Edges {
        &self.edges
    }

    /// The largest number of exponential buckets with counts.
    pub(super) fn max_buckets(&self) -> usize {
        self.max_buckets
    }

    /// The smallest and the largest value, within the error of the histogram, as written; `None` without observations.
    pub(super) fn range(&self) -> Option<(f64, f64)> {
        let value = |entry: &DoubleEntry| self.keys.midpoint(entry.key) / self.divisor;
        Some((value(self.entries.first()?), value(self.entries.last()?)))
    }

    /// Whether there is a negative value or bound; then the sum may decrease.
    pub(super) fn has_negative(&self) -> bool {
        self.bounds.first().is_some_and(|&bound| bound < 0.0)
            || self.range().is_some_and(|(min, _)| min < 0.0)
    }

    /// The difference to an earlier one; `None` if that belongs to another metric, or any count decreased.
    pub(super) fn since(&self, earlier: &Distribution) -> Option<Distribution> {
        if self.keys != earlier.keys || self.divisor != earlier.divisor {
            return None;
        }
        let mut difference = self.clone();
        let mut before = earlier.entries.iter().peekable();
        for entry in &mut difference.entries {
            match before.next_if(|before| before.key <= entry.key) {
                Some(before) if before.key == entry.key && before.count <= entry.count => {
                    entry.count -= before.count
                }
                // An earlier entry is missing, or has decreased.
                Some(_) => return None,
                None => {}
            }
        }
        if before.next().is_some() || self.lost < earlier.lost || self.not_finite < earlier.not_finite {
            return None;
        }
        difference.entries.retain(|entry| entry.count != 0);
        difference.count(Beside {
            sum: Some(self.sum - earlier.sum),
            lost: self.lost - earlier.lost,
            not_finite: self.not_finite - earlier.not_finite,
        });
        Some(difference)
    }
}

/// Appends the cells that have counts. In busy histograms, whether a cell has a count is nearly random. So this writes
/// each cell down, and the next one overwrites it if it is empty.
fn append_recorded(cells: Cells, entries: &mut Vec<DoubleEntry>) -> Result<()> {
    const ROOM: usize = 32 * BLOCK;
    let (mut some, mut number) = ([DoubleEntry { key: 0, count: 0 }; ROOM], 0);
    for start in (0..cells.len()).step_by(BLOCK) {
        let counts = cells.block(start);
        if counts.iter().fold(0, |all, count| all | count) == 0 {
            continue;
        }
        for (at, count) in counts.into_iter().enumerate() {
            some[number % ROOM] = DoubleEntry { key: (start + at) as i32, count };
            number += usize::from(count != 0);
        }
        if number > ROOM - BLOCK {
            append(entries, &some[..number])?;
            number = 0;
        }
    }
    append(entries, &some[..number])
}

fn append(entries: &mut Vec<DoubleEntry>, more: &[DoubleEntry]) -> Result<()> {
    entries.try_reserve(more.len()).map_err(|_| Error::OutOfMemory)?;
    entries.extend_from_slice(more);
    Ok(())
}

/// Below this many observations, a block's sums fit into 64 bits: no bucket in a block has a number above 20.
const FEW: u64 = 1 << 43;

/// Like [`total_and_sum`], block by block, where midpoints have equal steps; `None` if there are too many counts.
fn total_and_sum_by_blocks(layout: &Layout, entries: &[DoubleEntry]) -> Option<(u64, u128)> {
    let (all, total) = entries
        .iter()
        .fold((0, 0u64), |(all, sum), entry| (all | entry.count, sum.wrapping_add(entry.count)));
    // No count exceeds the combined bits, so this bounds the sum, which then has not wrapped around.
    let at_most = u128::from(all) * entries.len() as u128;
    if at_most > u128::from(u64::MAX) || total >= FEW {
        return None;
    }
    // Counts out of range come first and last.
    let first = entries.iter().take_while(|entry| entry.key < 0).count();
    let last = first + entries[first..].partition_point(|entry| (entry.key as u64) < layout.length() as u64);
    let outside = entries[..first].iter().chain(&entries[last..]);
    let mut sum: u128 =
        outside.map(|entry| Keys::midpoint_of_integer(layout, entry.key) * u128::from(entry.count)).sum();
    let mut inside = &entries[first..last];
    while let Some(one) = inside.first() {
        let block = (layout.first_index() + one.key as u64) >> layout.scale();
        // This holds for all blocks except the last, which ends with the keys.
        let end = ((block + 1) << layout.scale()) - layout.first_index();
        let (run, rest) = split_below(inside, end.min(i32::MAX as u64) as i32);
        inside = rest;
        let bucket = layout.bucket_at(run[0].key as u64);
        let (mut count, mut steps) = (0, 0);
        for entry in run {
            count += entry.count;
            steps += entry.count * (entry.key - run[0].key) as u64;
        }
        let lowest = bucket.equivalent_value(ValueSelection::Midpoint);
        sum += u128::from(lowest) * u128::from(count) + u128::from(bucket.step) * u128::from(steps);
    }
    Some((total, sum))
}

/// The sum of all counts, and their weighted sum. Counts above a total of [`MOST`] move from the entries to `lost`.
fn total_and_sum(
    entries: &mut [DoubleEntry],
    lost: &mut u64,
    weight: impl Fn(i32, u64) -> u128,
) -> (u64, u128) {
    let (mut total, mut sum) = (0, 0u128);
    for entry in entries {
        if entry.count > MOST - total {
            core::hint::cold_path();
            *lost = lost.saturating_add(entry.count - (MOST - total));
            entry.count = MOST - total;
        }
        total += entry.count;
        sum += weight(entry.key, entry.count);
    }
    (total, sum)
}

/// The value below each power of four in the range.
pub(super) fn powers_of_four(layout: &Layout) -> Result<Vec<f64>> {
    let mut bounds = Vec::new();
    bounds.try_reserve_exact(31).map_err(|_| Error::OutOfMemory)?;
    // No bucket ends below a unit.
    let range = layout.lowest_recordable().max((1 << layout.unit()) - 1)..layout.highest_recordable();
    let powers = (1..32).map(|power| (1u64 << (2 * power)) - 1).filter(|bound| range.contains(bound));
    bounds.extend(powers.map(|bound| bound as f64));
    Ok(bounds)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// If a count decreased, or the values mean something else, the later one began anew.
    #[test]
    fn only_counts_that_grew_have_a_difference() {
        let having = |scale, divisor, counts: &[(i32, u64)], lost, not_finite| {
            let keys = Keys::Integers(Layout::with_scale(scale, 0, 100).unwrap());
            let entries = counts.iter().map(|&(key, count)| DoubleEntry { key, count }).collect();
            let new = Distribution::new(keys, divisor, &[10.0], 100, &[]).unwrap();
            Distribution { lost, not_finite, entries, ..new }
        };
        let earlier = having(2, 1.0, &[(1, 3), (4, 3)], 3, 1);
        let since = having(2, 1.0, &[(1, 5), (2, 1), (4, 3)], 5, 1).since(&earlier).unwrap();
        assert_eq!((since.lost, since.not_finite, since.total), (2, 0, 3));
        assert_eq!(
            since.entries.iter().map(|entry| (entry.key, entry.count)).collect::<Vec<_>>(),
            [(1, 2), (2, 1)]
        );
        let more: &[(i32, u64)] = &[(1, 5), (4, 5)];
        for later in [
            having(3, 1.0, more, 5, 1),
            having(2, 2.0, more, 5, 1),
            having(2, 1.0, &[(1, 2), (4, 9)], 5, 1),
            having(2, 1.0, &[(2, 9), (4, 9)], 5, 1),
            having(2, 1.0, &[(1, 9)], 5, 1),
            having(2, 1.0, more, 2, 1),
            having(2, 1.0, more, 5, 0),
        ] {
            assert!(later.since(&earlier).is_none(), "{:?}", later.entries);
        }
    }

    proptest! {
        /// Both ways of adding give the same result.
        #[test]
        fn sums_by_blocks(
            scale in 0u32..8, unit in 0u32..4, min in 0u64..5000,
            counts in prop::collection::vec((0i32..3000, 1u64..1 << 30), 0..60), below in 0u64..9, above in 0u64..9,
        ) {
            let layout = Layout::with_scale(scale, min, 1 << 40).unwrap().with_unit(unit).unwrap();
            let mut entries: Vec<DoubleEntry> = counts
                .iter()
                .map(|&(key, count)| DoubleEntry { key: key % layout.length() as i32, count })
                .collect();
            entries.push(DoubleEntry { key: Keys::UNDERFLOW, count: below });
            entries.push(DoubleEntry { key: layout.length() as i32, count: above });
            entries.sort_by_key(|entry| entry.key);
            let weight = |key, count| Keys::midpoint_of_integer(&layout, key) * u128::from(count);
            let (by_blocks, mut lost) = (total_and_sum_by_blocks(&layout, &entries), 0);
            prop_assert_eq!(by_blocks, Some(total_and_sum(&mut entries, &mut lost, weight)));
            entries[0].count = 1 << 43;
            prop_assert_eq!(total_and_sum_by_blocks(&layout, &entries), None);
        }
    }
}
