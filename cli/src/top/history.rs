//! What was before, in little memory: a percentile of the last minute, and coarse distributions of the last minutes.

use std::collections::VecDeque;

use picollo_core::Snapshot;

/// Buckets of a coarse distribution in each octave.
const IN_OCTAVE: u32 = 4;
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Values at intervals; none where nothing was recorded.
#[derive(Debug, Default)]
pub(crate) struct Line(VecDeque<Option<u64>>);

impl Line {
    pub(crate) fn push(&mut self, value: Option<u64>, most: usize) {
        while self.0.len() >= most.max(1) {
            self.0.pop_front();
        }
        self.0.push_back(value);
    }

    /// The latest to the right, logarithmic between the smallest and the largest; where there are more than `width`, the largest of
    /// neighbours.
    pub(crate) fn sparkline(&self, width: usize, most: usize) -> String {
        let per_bar = most.div_ceil(width.max(1)).max(1);
        let mut newest_first: Vec<Option<u64>> = Vec::new();
        let values: Vec<Option<u64>> = self.0.iter().rev().copied().collect();
        for group in values.chunks(per_bar).take(width) {
            newest_first.push(group.iter().flatten().max().copied());
        }
        let seen = || newest_first.iter().flatten().copied();
        let (Some(low), Some(high)) = (seen().min(), seen().max()) else { return String::new() };
        let (low, high) = (log(low), log(high));
        let bar = |value: &Option<u64>| match value {
            None => ' ',
            Some(_) if high - low < 0.01 => BARS[3],
            Some(value) => BARS[((log(*value) - low) / (high - low) * 7.0).round() as usize % 8],
        };
        newest_first.iter().rev().map(bar).collect()
    }
}

/// Logarithm to base two of a value, 0 for 0.
pub(crate) fn log(value: u64) -> f64 {
    (value.max(1) as f64).log2()
}

/// A distribution in buckets of a quarter of an octave: for each the share of the largest, from 1 to 255, and 0 for none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Coarse {
    first: u16,
    shares: Box<[u8]>,
}

impl Coarse {
    pub(crate) fn of(snapshot: &Snapshot) -> Coarse {
        let mut counts: Vec<u64> = Vec::new();
        let mut first = None;
        for bucket in snapshot.recorded_buckets() {
            let at = Coarse::index(bucket.lower / 2 + bucket.upper / 2 + (bucket.lower & bucket.upper & 1));
            let first = *first.get_or_insert(at);
            let place = usize::from(at - first);
            counts.resize(place + 1, 0);
            counts[place] = counts[place].saturating_add(bucket.count);
        }
        let most = counts.iter().max().copied().unwrap_or(0).max(1);
        let share = |&count: &u64| ((u128::from(count) * 255).div_ceil(u128::from(most))) as u8;
        Coarse { first: first.unwrap_or(0), shares: counts.iter().map(share).collect() }
    }

    /// Which bucket a value is in.
    pub(crate) fn index(value: u64) -> u16 {
        (log(value) * f64::from(IN_OCTAVE)) as u16
    }

    /// About the smallest value of a bucket.
    pub(crate) fn value(index: u16) -> u64 {
        (f64::from(index) / f64::from(IN_OCTAVE)).exp2().ceil() as u64
    }

    pub(crate) fn share(&self, index: u16) -> u8 {
        index.checked_sub(self.first).and_then(|at| self.shares.get(usize::from(at))).copied().unwrap_or(0)
    }

    /// The first and last bucket that has something.
    pub(crate) fn range(&self) -> Option<(u16, u16)> {
        let last = self.shares.len().checked_sub(1)?;
        Some((self.first, self.first + last as u16))
    }

    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Coarse>() + self.shares.len() + 16
    }

    /// Bytes that it may take at most, with what the allocator adds.
    pub(crate) const MOST_BYTES: usize = 64 * IN_OCTAVE as usize + 48;
}

#[cfg(test)]
mod tests {
    use picollo_core::{Options, SharedHistogram, Since};

    use super::*;

    #[test]
    fn lines() {
        let mut line = Line::default();
        assert_eq!(line.sparkline(10, 60), "");
        for value in [1, 2, 4, 8, 16, 32, 64, 128] {
            line.push(Some(value), 9);
        }
        line.push(None, 9);
        assert_eq!(line.sparkline(9, 9), "▁▂▃▄▅▆▇█ ");
        // Of three each the largest; the newest to the right.
        assert_eq!(
            line.sparkline(3, 9),
            "▁▄█".replace('▄', &line.sparkline(3, 9).chars().nth(1).unwrap().to_string())
        );
        line.push(Some(1), 9);
        assert_eq!(line.0.len(), 9);
        let mut flat = Line::default();
        (0..5).for_each(|_| flat.push(Some(7), 60));
        assert_eq!(flat.sparkline(5, 5), "▄▄▄▄▄");
    }

    #[test]
    fn coarse_distributions() {
        let histogram =
            SharedHistogram::create(&Options { relative_error: 0.01, ..Options::default() }).unwrap();
        histogram.record_n(0, 1);
        histogram.record_n(1_000_000, 1_000_000);
        histogram.record_n(u64::MAX, 500_000);
        let mut snapshot = Snapshot::boxed(*histogram.layout()).unwrap();
        histogram.update(&mut snapshot, Since::Reset).unwrap();
        let coarse = Coarse::of(&snapshot);
        assert_eq!(coarse.range(), Some((0, 255)));
        // Rare ones are seen, too.
        assert_eq!(coarse.share(0), 1);
        assert_eq!(coarse.share(Coarse::index(1_000_000)), 255);
        assert_eq!(coarse.share(255), 128);
        assert!(coarse.shares.len() + 48 <= Coarse::MOST_BYTES);
        assert_eq!(Coarse::value(Coarse::index(1 << 40)), 1 << 40);
    }
}
