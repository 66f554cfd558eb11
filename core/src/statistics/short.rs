//! A summary on one line, and the percentiles that short texts have.

use core::fmt::{self, Display};

use super::summary::{SUMMARY_RANKS, Summary, position_of};
use crate::format::number::{Fixed, Grouped};

/// The percentiles of a short text, as positions in the summary.
pub const SHORT: [usize; 5] =
    [position_of(50.0), position_of(90.0), position_of(99.0), position_of(99.9), position_of(100.0)];

/// Whether this many observations have one beyond a rank: P99.9 of 92 would be their maximum.
pub fn supports(count: u64, rank: f64) -> bool {
    // Ranks of summaries have at most three decimals.
    let beyond = 100_000 - (rank * 1000.0) as u64;
    rank >= 100.0 || u128::from(count) * u128::from(beyond) >= 100_000
}

/// `P99.9`, `min`, `max`.
pub struct Rank(pub f64);

impl Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0.0 => f.write_str("min"),
            100.0 => f.write_str("max"),
            rank => write!(f, "P{}", Fixed::rank(rank)),
        }
    }
}

/// `99,940 values, 60 below the range`.
pub struct CountsInWords<'a> {
    /// Observations in range.
    pub total: u64,
    /// Counts of observations outside all numbers, each with the words after the number.
    pub outside: &'a [(&'static str, u64)],
}

impl Display for CountsInWords<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.total {
            0 => f.write_str("no values")?,
            1 => f.write_str("1 value")?,
            total => write!(f, "{} values", Grouped::from(total))?,
        }
        for (what, count) in self.outside.iter().filter(|(_, count)| *count != 0) {
            write!(f, ", {} {what}", Grouped::from(*count))?;
        }
        Ok(())
    }
}

/// The observations that a summary lacks.
pub fn outside(summary: &Summary) -> [(&'static str, u64); 3] {
    [
        ("below the range", summary.underflow_count),
        ("above the range", summary.overflow_count),
        ("lost", summary.lost_count),
    ]
}

/// Writes a summary on one line: the counts, the percentiles that they support, and the mean.
pub(crate) fn write<V: Display>(
    f: &mut fmt::Formatter<'_>,
    counts: CountsInWords<'_>,
    value: impl Fn(usize) -> V,
    mean: impl Display,
) -> fmt::Result {
    counts.fmt(f)?;
    if counts.total == 0 {
        return Ok(());
    }
    let mut separator = ": ";
    for position in SHORT.into_iter().filter(|&position| supports(counts.total, SUMMARY_RANKS[position])) {
        write!(f, "{separator}{} {}", Rank(SUMMARY_RANKS[position]), value(position))?;
        separator = ", ";
    }
    write!(f, "{separator}mean {mean}")
}
