//! The counts of a snapshot, for reading: the differences of two copies, or one copy unchanged.

use core::ops::Range;

use crate::snapshot::sums::{self, PowerSums};

/// Counts by storage index.
#[derive(Clone, Copy, Debug)]
pub struct Cells<'a> {
    raw: &'a [u64],
    /// The counts to subtract from the raw counts: equally many, or empty if all are zero.
    base: &'a [u64],
}

/// Counters are read in blocks of this many; empty blocks are skipped.
pub const BLOCK: usize = 8;

#[allow(clippy::len_without_is_empty, reason = "there always are cells")]
impl<'a> Cells<'a> {
    pub(crate) fn new(raw: &'a [u64], base: &'a [u64]) -> Self {
        debug_assert!(base.is_empty() || base.len() == raw.len());
        Cells { raw, base }
    }

    /// The number of cells.
    pub fn len(&self) -> usize {
        self.raw.len()
    }

    /// Returns one count.
    #[inline(always)]
    pub(crate) fn at(&self, index: usize) -> u64 {
        let base = if self.base.is_empty() { 0 } else { self.base[index] };
        self.raw[index].wrapping_sub(base)
    }

    /// Returns up to [`sums::RUN`] counts, raw and base.
    #[inline(always)]
    fn run(&self, range: Range<usize>) -> (&'a [u64], &'a [u64]) {
        static ZERO: [u64; sums::RUN] = [0; sums::RUN];
        let base = if self.base.is_empty() { &ZERO[..range.len()] } else { &self.base[range.clone()] };
        (&self.raw[range], base)
    }

    /// Returns the sum of up to [`sums::RUN`] counts, modulo 2^64.
    pub(crate) fn wrapping_total(&self, range: Range<usize>) -> u64 {
        let (raw, base) = self.run(range);
        sums::wrapping_total(raw, base)
    }

    /// Returns sums of up to [`sums::RUN`] counts, weighted by their positions; `None` if a count is too large.
    pub(crate) fn power_sums(&self, range: Range<usize>) -> Option<PowerSums> {
        let (raw, base) = self.run(range);
        sums::power_sums(raw, base)
    }

    pub(crate) fn total(&self, range: Range<usize>) -> u128 {
        let (start, end) = (range.start, range.end);
        let runs = (start..end).step_by(sums::RUN).map(|start| {
            let (raw, base) = self.run(start..end.min(start + sums::RUN));
            sums::total(raw, base)
        });
        runs.sum()
    }

    /// Returns indices and counts of nonzero counts, in ascending order.
    pub(crate) fn recorded(self) -> Recorded<'a> {
        Recorded { cells: self, index: 0 }
    }

    /// Returns the counts of a block, with zeros after the last one.
    #[inline(always)]
    pub fn block(&self, start: usize) -> [u64; BLOCK] {
        let Some(raw) = self.raw[start..].first_chunk::<BLOCK>() else { return self.last_block(start) };
        match self.base.get(start..).and_then(|base| base.first_chunk::<BLOCK>()) {
            Some(base) => core::array::from_fn(|at| raw[at].wrapping_sub(base[at])),
            None => *raw,
        }
    }

    /// Returns the counts directly, if they are not differences.
    #[inline(always)]
    pub fn plain(&self) -> Option<&'a [u64]> {
        if self.base.is_empty() { Some(self.raw) } else { None }
    }

    #[cold]
    fn last_block(&self, start: usize) -> [u64; BLOCK] {
        core::array::from_fn(|at| if start + at < self.len() { self.at(start + at) } else { 0 })
    }

    /// Returns the index of the last nonzero count.
    pub(crate) fn last(&self) -> Option<usize> {
        (0..self.len()).rev().find(|&index| self.at(index) != 0)
    }

    /// Returns whether the counts of a run are all zero.
    #[inline(always)]
    fn is_empty_run(&self, start: usize) -> bool {
        let Some(raw) = self.raw[start..].first_chunk::<BLOCK>() else { return false };
        if self.base.is_empty() {
            return raw.iter().fold(0, |all, raw| all | raw) == 0;
        }
        match self.base[start..].first_chunk::<BLOCK>() {
            Some(base) => raw.iter().zip(base).fold(0, |all, (raw, base)| all | (raw ^ base)) == 0,
            None => false,
        }
    }
}

/// See [`Cells::recorded`].
#[derive(Clone, Debug)]
pub(crate) struct Recorded<'a> {
    cells: Cells<'a>,
    index: usize,
}

impl Iterator for Recorded<'_> {
    type Item = (usize, u64);

    #[inline]
    fn next(&mut self) -> Option<(usize, u64)> {
        while self.index < self.cells.len() {
            let index = self.index;
            let count = self.cells.at(index);
            self.index += 1;
            if count != 0 {
                return Some((index, count));
            }
            // Not at every zero, because zeros may be scattered among counts.
            if self.index.is_multiple_of(BLOCK) {
                while self.cells.is_empty_run(self.index) {
                    self.index += BLOCK;
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    proptest! {
        #[test]
        fn as_the_differences_are(
            counts in prop::collection::vec(prop_oneof![9 => Just(0u64), 1 => any::<u64>()], 0..100),
            base in any::<u64>(), from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>()
        ) {
            let base: Vec<_> = counts.iter().map(|count| base.wrapping_mul(*count | 1)).collect();
            let raw: Vec<_> = counts.iter().zip(&base).map(|(count, base)| count.wrapping_add(*base)).collect();
            let (from, to) = (from.index(counts.len() + 1), to.index(counts.len() + 1));
            let range = from.min(to)..from.max(to);
            for cells in [Cells::new(&raw, &base), Cells::new(&counts, &[])] {
                let naive: Vec<_> = counts.iter().copied().enumerate().filter(|&(_, count)| count != 0).collect();
                prop_assert_eq!(cells.recorded().collect::<Vec<_>>(), naive.clone());
                let blocks: Vec<_> = (0..counts.len()).step_by(BLOCK).flat_map(|start| cells.block(start)).collect();
                prop_assert_eq!(&blocks[..counts.len()], &counts[..]);
                prop_assert!(blocks[counts.len()..].iter().all(|&count| count == 0));
                prop_assert_eq!(cells.last(), naive.last().map(|&(index, _)| index));
                let part = &counts[range.clone()];
                prop_assert_eq!(cells.wrapping_total(range.clone()), part.iter().fold(0u64, |sum, n| sum.wrapping_add(*n)));
                prop_assert_eq!(cells.total(range.clone()), part.iter().map(|n| u128::from(*n)).sum::<u128>());
                prop_assert!(counts.iter().enumerate().all(|(index, &count)| cells.at(index) == count));
            }
        }
    }
}
