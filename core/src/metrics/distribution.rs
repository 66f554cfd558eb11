//! What was taken of a histogram: its recorded buckets, and what expositions want to know of them.

use alloc::string::String;
use alloc::vec::Vec;

use super::exponential::{Edges, Exponential};
use super::keys::Keys;
use super::memory::{copy_of, push};
use super::number::Number;
use crate::doubles::{DoubleSnapshot, Entry};
use crate::error::{Error, Result};
use crate::layout::layout::Layout;
use crate::snapshot::snapshot::Snapshot;

/// As many bounds as a metric can have.
pub const MAX_BOUNDS: usize = 500;

/// Recorded buckets stop counting here, so that their differences are `i64`, as formats have them; what is above is lost.
const MOST: u64 = i64::MAX as u64;

/// The observations of a histogram at one moment: the buckets that have counts, and from them the counts at bounds and those in
/// exponential buckets. All observations are in each of these.
#[derive(Clone, Debug)]
pub struct Distribution {
    keys: Keys,
    divisor: f64,
    max_buckets: usize,
    edges: Edges,
    /// As they are written, ascending.
    pub(super) bounds: Vec<f64>,
    /// The same, as text has them.
    pub(super) bound_texts: Vec<String>,
    /// For each bound the key behind the last that it includes.
    limits: Vec<i32>,
    /// Ascending, with what was out of range.
    entries: Vec<Entry>,
    /// Cumulative, for each bound.
    pub(super) cumulative: Vec<u64>,
    pub(super) exponential: Exponential,
    /// All observations that are in the others.
    pub(super) total: u64,
    /// As it is written.
    pub(super) sum: f64,
    /// In none of the others.
    pub(super) lost: u64,
    /// In none of the others.
    pub(super) not_finite: u64,
}

/// What a distribution has beside its entries.
#[derive(Clone, Copy, Default)]
struct Beside {
    /// As it is written; of integers it follows from the entries.
    sum: Option<f64>,
    lost: u64,
    not_finite: u64,
}

impl Distribution {
    /// Nothing yet, of histograms with these buckets. Bounds are as recorded. [`Error::InvalidArgument`] for bounds that do not ascend
    /// when they are written, are not finite or too many.
    pub(super) fn new(keys: Keys, divisor: f64, bounds: &[f64], max_buckets: u32) -> Result<Distribution> {
        let written = |bound: &f64| bound / divisor;
        // Before any memory is taken for them.
        let ascend = bounds.windows(2).all(|pair| written(&pair[0]) < written(&pair[1]));
        if bounds.len() > MAX_BOUNDS || !ascend || !bounds.iter().map(written).all(f64::is_finite) {
            return Err(Error::InvalidArgument);
        }
        let mut limits = Vec::new();
        limits.try_reserve_exact(bounds.len()).map_err(|_| Error::OutOfMemory)?;
        limits.extend(bounds.iter().map(|&bound| keys.first_where(|midpoint| midpoint > bound)));
        let mut distribution = Distribution {
            keys,
            divisor,
            max_buckets: match max_buckets {
                0 => 320,
                u32::MAX => usize::MAX,
                buckets => buckets as usize,
            },
            edges: Edges::of(&keys, divisor)?,
            bounds: copy_of(bounds)?,
            bound_texts: Vec::new(),
            limits,
            entries: Vec::new(),
            cumulative: copy_of(&[0; MAX_BOUNDS][..bounds.len()])?,
            exponential: Exponential::default(),
            total: 0,
            sum: 0.0,
            lost: 0,
            not_finite: 0,
        };
        for bound in &mut distribution.bounds {
            *bound /= divisor;
            push(&mut distribution.bound_texts, Number(*bound).to_text()?)?;
        }
        distribution.count(Beside::default());
        Ok(distribution)
    }

    /// Takes the counts of a snapshot, whose layout has these counters. Returns whether anything became less.
    ///
    /// `spare` is memory for the entries; with [`Error::OutOfMemory`] nothing has changed.
    pub(super) fn take(&mut self, snapshot: &Snapshot, spare: &mut Vec<Entry>) -> Result<bool> {
        debug_assert!(
            matches!(self.keys, Keys::Integers(layout) if layout.same_counters(snapshot.layout())),
            "for another layout"
        );
        let counts = snapshot.counts();
        spare.clear();
        if counts.underflow != 0 {
            push(spare, Entry { key: Keys::UNDERFLOW, count: counts.underflow })?;
        }
        for (index, count) in snapshot.recorded_counts() {
            push(spare, Entry { key: index as i32, count })?;
        }
        if counts.overflow != 0 {
            push(spare, Entry { key: self.keys.overflow(), count: counts.overflow })?;
        }
        self.exchange(spare, Beside { lost: counts.lost, ..Beside::default() })
    }

    /// As [`Distribution::take`], of doubles.
    pub(super) fn take_doubles(&mut self, snapshot: &DoubleSnapshot, spare: &mut Vec<Entry>) -> Result<bool> {
        spare.clear();
        spare.try_reserve(snapshot.entries().len()).map_err(|_| Error::OutOfMemory)?;
        spare.extend_from_slice(snapshot.entries());
        let sum = Some(snapshot.statistics().sum / self.divisor);
        self.exchange(spare, Beside { sum, lost: snapshot.lost(), not_finite: snapshot.not_finite() })
    }

    /// Takes new entries for the old ones.
    fn exchange(&mut self, entries: &mut Vec<Entry>, beside: Beside) -> Result<bool> {
        self.exponential.reserve(&self.edges, &self.keys, entries)?;
        core::mem::swap(&mut self.entries, entries);
        Ok(self.count(beside))
    }

    /// Counts the entries. Returns whether anything became less.
    fn count(&mut self, mut beside: Beside) -> bool {
        let lost = &mut beside.lost;
        let (total, sum) = match self.keys {
            Keys::Integers(layout) => {
                let weight =
                    |key, count: u64| Keys::midpoint_of_integer(&layout, key).saturating_mul(count.into());
                let (total, sum) = total_and_sum(&mut self.entries, lost, weight);
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

    /// Counts what entries amount to at each bound. Whether any of it became less.
    fn accumulate(&mut self) -> bool {
        let (mut entries, mut total, mut went_down) = (self.entries.iter().peekable(), 0, false);
        for (cumulative, &limit) in self.cumulative.iter_mut().zip(&self.limits) {
            while let Some(entry) = entries.next_if(|entry| entry.key < limit) {
                total += entry.count;
            }
            went_down |= total < *cumulative;
            *cumulative = total;
        }
        went_down
    }

    /// How many exponential buckets may have counts.
    pub(super) fn max_buckets(&self) -> usize {
        self.max_buckets
    }

    /// The smallest and the largest value, within the error of the histogram, as they are written; nothing where there is none.
    pub(super) fn range(&self) -> Option<(f64, f64)> {
        let value = |entry: &Entry| self.keys.midpoint(entry.key) / self.divisor;
        Some((value(self.entries.first()?), value(self.entries.last()?)))
    }

    /// Whether there is a negative value or bound: a sum is then not one that only grows.
    pub(super) fn has_negative(&self) -> bool {
        self.bounds.first().is_some_and(|&bound| bound < 0.0)
            || self.range().is_some_and(|(min, _)| min < 0.0)
    }

    /// What came since an earlier one of the same metric; all of it, where that was of another one, or anything became less.
    pub(super) fn since(&self, earlier: &Distribution) -> Result<Distribution> {
        let mut difference = self.clone();
        if self.keys != earlier.keys || self.divisor != earlier.divisor {
            return Ok(difference);
        }
        let mut before = earlier.entries.iter().peekable();
        for entry in &mut difference.entries {
            match before.next_if(|before| before.key <= entry.key) {
                Some(before) if before.key == entry.key && before.count <= entry.count => {
                    entry.count -= before.count
                }
                // One that was there is missing, or has less.
                Some(_) => return Ok(self.clone()),
                None => {}
            }
        }
        if before.next().is_some() || self.lost < earlier.lost || self.not_finite < earlier.not_finite {
            return Ok(self.clone());
        }
        difference.entries.retain(|entry| entry.count != 0);
        difference.count(Beside {
            sum: Some(self.sum - earlier.sum),
            lost: self.lost - earlier.lost,
            not_finite: self.not_finite - earlier.not_finite,
        });
        Ok(difference)
    }
}

/// The sum of all counts, and of what they weigh. What is above [`MOST`] in all goes from the entries to the lost ones.
fn total_and_sum(entries: &mut [Entry], lost: &mut u64, weight: impl Fn(i32, u64) -> u128) -> (u64, u128) {
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

/// One below each power of four in the range.
pub(super) fn powers_of_four(layout: &Layout) -> Result<Vec<f64>> {
    let mut bounds = Vec::new();
    bounds.try_reserve_exact(31).map_err(|_| Error::OutOfMemory)?;
    // Below a unit no bucket ends.
    let range = layout.lowest_recordable().max((1 << layout.unit()) - 1)..layout.highest_recordable();
    let powers = (1..32).map(|power| (1u64 << (2 * power)) - 1).filter(|bound| range.contains(bound));
    bounds.extend(powers.map(|bound| bound as f64));
    Ok(bounds)
}
