//! Exponential buckets, as in Prometheus' native histograms and OpenTelemetry's exponential ones.
//!
//! At schema `s`, bucket `i` is `(base^(i - 1), base^i]` with `base = 2^(2^-s)`: Prometheus' numbers. OpenTelemetry has
//! the same buckets, closed above too, and numbers them one lower. So in both exactly `2^k` is in bucket `k * 2^s`, the
//! last of its power of two. Two neighbors, `2j - 1` and `2j`, form bucket `j` of the next coarser schema.

use alloc::vec::Vec;

use super::entries::{split_below, sum_of};
use super::keys::Keys;
use super::roots::ROOTS;
use picollo_core::doubles::DoubleEntry;
use picollo_core::{Error, Result};

/// The finest schema.
const FINEST: i32 = 8;
/// The coarsest schema: one bucket for 16 powers of two.
const COARSEST: i32 = -4;

/// Values of at most this magnitude are in the zero bucket: `2^-128`, as in Prometheus' own libraries. It is always
/// written, because an empty histogram without it looks like a classic one.
pub(super) const ZERO_THRESHOLD: f64 = f64::from_bits((1023 - 128) << 52);

/// A bucket's number and its count, which is not zero.
pub(super) type Numbered = (i32, u64);

/// Counts in exponential buckets.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Exponential {
    pub(super) schema: i32,
    /// Values of at most [`ZERO_THRESHOLD`].
    pub(super) zero: u64,
    /// By magnitude, ascending.
    pub(super) negative: Vec<Numbered>,
    pub(super) positive: Vec<Numbered>,
}

/// The bucket of a value above [`ZERO_THRESHOLD`] at the finest schema. It is exact, because it compares the double's
/// bits with the roots. Values beyond the doubles are in the last bucket.
fn number_of(value: f64) -> i32 {
    let bits = value.min(f64::MAX).to_bits();
    let exponent = (bits >> 52) as i32 - 1023;
    let mantissa = bits & ((1 << 52) - 1);
    exponent * 256 + ROOTS.partition_point(|&root| root < mantissa) as i32
}

/// The bucket that contains a bucket of the finest schema, in a schema that is coarser by `by`.
pub(super) const fn coarser(number: i32, by: u32) -> i32 {
    (number + (1 << by) - 1) >> by
}

/// The finest schema at which no observation is more than one bucket off. An observation counts at the midpoint of its
/// own bucket, and eight such buckets lie in one of these.
pub(super) fn schema_of(keys: &Keys) -> i32 {
    (keys.scale() as i32 - 3).clamp(COARSEST, FINEST)
}

/// Where exponential buckets begin and end among the keys of a histogram of integers. They depend only on the layout
/// and the divisor, so counting then needs no arithmetic. A histogram of doubles has too many buckets for that.
#[derive(Debug, Default)]
pub(super) struct Edges {
    /// The first key that does not count as zero.
    zero: i32,
    /// The number of the first bucket after zero.
    first: i32,
    /// For each bucket from there on, the key after its last one.
    ends: Vec<i32>,
}

impl Edges {
    /// Takes a few milliseconds if there are many buckets.
    pub(super) fn new(keys: &Keys, divisor: f64) -> Result<Edges> {
        if matches!(keys, Keys::Doubles(_)) {
            return Ok(Edges::default());
        }
        let by = (FINEST - schema_of(keys)) as u32;
        let number = |midpoint: f64| coarser(number_of(midpoint / divisor), by);
        let zero = keys.first_where(|midpoint| midpoint / divisor > ZERO_THRESHOLD);
        let overflow = keys.overflow();
        let (first, last) = match keys.midpoint(zero) / divisor {
            value if value > ZERO_THRESHOLD => (number(keys.midpoint(zero)), number(keys.midpoint(overflow))),
            _ => (0, -1),
        };
        let mut ends = Vec::new();
        ends.try_reserve_exact((last - first + 1) as usize).map_err(|_| Error::OutOfMemory)?;
        ends.extend((first..last).map(|bucket| {
            keys.first_where(|midpoint| midpoint / divisor > ZERO_THRESHOLD && number(midpoint) > bucket)
        }));
        if first <= last {
            ends.push(overflow + 1);
        }
        Ok(Edges { zero, first, ends })
    }
}

impl Exponential {
    /// Reserves room for all buckets that entries can be in, so that [`Exponential::count`] allocates nothing.
    pub(super) fn reserve(&mut self, edges: &Edges, keys: &Keys, entries: &[DoubleEntry]) -> Result<()> {
        let (negative, positive) = match keys {
            Keys::Integers(_) => (0, edges.ends.len().min(entries.len())),
            Keys::Doubles(_) => {
                let negative = entries.partition_point(|entry| entry.key < 0);
                (negative, entries.len() - negative)
            }
        };
        for (numbered, room) in [(&mut self.negative, negative), (&mut self.positive, positive)] {
            numbered.try_reserve(room.saturating_sub(numbered.len())).map_err(|_| Error::OutOfMemory)?;
        }
        Ok(())
    }

    /// Recounts the entries, in at most this many buckets with counts, if the coarsest schema allows it.
    pub(super) fn count(
        &mut self,
        edges: &Edges,
        keys: &Keys,
        divisor: f64,
        entries: &[DoubleEntry],
        max_buckets: usize,
    ) {
        self.schema = schema_of(keys);
        self.zero = 0;
        self.negative.clear();
        self.positive.clear();
        match keys {
            Keys::Integers(_) => self.count_integers(edges, entries),
            Keys::Doubles(_) => self.count_doubles(keys, divisor, entries),
        }
        while self.negative.len() + self.positive.len() > max_buckets && self.schema > COARSEST {
            self.schema -= 1;
            merge_neighbours(&mut self.negative);
            merge_neighbours(&mut self.positive);
        }
    }

    fn count_integers(&mut self, edges: &Edges, entries: &[DoubleEntry]) {
        let (zeros, mut entries) = split_below(entries, edges.zero);
        self.zero = sum_of(zeros);
        for (bucket, &end) in (edges.first..).zip(&edges.ends) {
            if entries.is_empty() {
                break;
            }
            let (inside, rest) = split_below(entries, end);
            entries = rest;
            let count = sum_of(inside);
            // This skips buckets without entries, and those whose counts were all lost.
            if count != 0 {
                self.positive.push((bucket, count));
            }
        }
    }

    fn count_doubles(&mut self, keys: &Keys, divisor: f64, entries: &[DoubleEntry]) {
        let by = (FINEST - self.schema) as u32;
        for entry in entries {
            let value = keys.midpoint(entry.key) / divisor;
            if value.abs() <= ZERO_THRESHOLD {
                self.zero += entry.count;
                continue;
            }
            let side = if value < 0.0 { &mut self.negative } else { &mut self.positive };
            let number = coarser(number_of(value.abs()), by);
            match side.last_mut() {
                Some(last) if last.0 == number => last.1 += entry.count,
                _ => side.push((number, entry.count)),
            }
        }
        // The entries came in ascending order of their values.
        self.negative.reverse();
    }
}

/// Converts ascending buckets to the next coarser schema.
fn merge_neighbours(numbered: &mut Vec<Numbered>) {
    numbered.iter_mut().for_each(|bucket| bucket.0 = coarser(bucket.0, 1));
    numbered.dedup_by(|later, first| {
        let same = later.0 == first.0;
        if same {
            first.1 += later.1;
        }
        same
    });
}
