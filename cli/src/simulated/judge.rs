//! What counts say: the same each time, they are exact; else they have a range.

use super::{Counts, EVENTS};

/// Runs where counts are not the same in each. Of two that are alike, seven counts of one are all below seven of the other, or all above, in one
/// of 1,716 cases (2 of 14 over 7), whatever they are distributed like. With three it would be one of ten.
pub(crate) const RUNS_OF_UNLIKE: usize = 7;

/// Whether each run has the same counts.
pub(crate) fn are_same(runs: &[Counts]) -> bool {
    runs.iter().all(|run| *run == runs[0])
}

/// The counts of one event in several runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Range<T = u64> {
    pub(crate) least: T,
    pub(crate) most: T,
}

impl Range {
    /// `None` where it was not counted in each.
    pub(crate) fn of(runs: &[Counts], event: &str) -> Option<Range> {
        let counts: Vec<u64> = runs.iter().map(|run| run.totals.of(event)).collect::<Option<_>>()?;
        Some(Range { least: *counts.iter().min()?, most: *counts.iter().max()? })
    }
}

impl<T: PartialOrd + Copy> Range<T> {
    pub(crate) fn is_exact(self) -> bool {
        self.least == self.most
    }
}

/// Which of two counts is larger.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// Always the same, both.
    Equal,
    /// B's is larger.
    More,
    /// B's is smaller.
    Less,
    /// Ranges overlap.
    Unknown,
}

impl Verdict {
    pub(crate) fn of<T: PartialOrd + Copy>(a: Range<T>, b: Range<T>) -> Verdict {
        if a.is_exact() && a == b {
            Verdict::Equal
        } else if b.least > a.most {
            Verdict::More
        } else if b.most < a.least {
            Verdict::Less
        } else {
            Verdict::Unknown
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Verdict::Equal => "equal",
            Verdict::More => "more",
            Verdict::Less => "less",
            Verdict::Unknown => "no evidence",
        }
    }
}

/// The smallest and the largest difference of B from A that their counts allow.
pub(crate) fn difference(a: Range, b: Range) -> (i128, i128) {
    (i128::from(b.least) - i128::from(a.most), i128::from(b.most) - i128::from(a.least))
}

/// How many processes there were, where it was always as many.
pub(crate) fn processes(runs: &[Counts]) -> Option<usize> {
    let first = runs.first()?.processes;
    runs.iter().all(|run| run.processes == first).then_some(first)
}

/// Those events that were counted.
pub(crate) fn counted(runs: &[Counts]) -> impl Iterator<Item = (&'static str, &'static str, Range)> {
    EVENTS.iter().filter_map(|&(event, key, name)| Some((key, name, Range::of(runs, event)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_told_apart_only_where_they_are() {
        let range = |least, most| Range { least, most };
        for (a, b, verdict, differences) in [
            (range(5, 5), range(5, 5), Verdict::Equal, (0, 0)),
            (range(5, 5), range(6, 6), Verdict::More, (1, 1)),
            (range(6, 6), range(5, 5), Verdict::Less, (-1, -1)),
            // The same range is no equality.
            (range(5, 6), range(5, 6), Verdict::Unknown, (-1, 1)),
            (range(5, 6), range(6, 7), Verdict::Unknown, (0, 2)),
            (range(5, 6), range(7, 9), Verdict::More, (1, 4)),
            (range(7, 9), range(5, 6), Verdict::Less, (-4, -1)),
            (range(0, u64::MAX), range(3, 3), Verdict::Unknown, (3 - i128::from(u64::MAX), 3)),
        ] {
            assert_eq!((Verdict::of(a, b), difference(a, b)), (verdict, differences), "{a:?} {b:?}");
        }
    }
}
