//! Summaries and their differences on a single line, for logs.

use crate::BufferWriter;
use core::fmt::{self, Display, Write, from_fn};

use super::change::{Change, cohens_d};
use super::{Diff, mean, value};
use crate::escape::{Line, trim};
use picollo_core::Summary;
use picollo_core::seam::{Fixed, Grouped, Maybe, position_of};

/// The percentiles of a line, as positions in the summary.
pub(super) const SHOWN: [usize; 8] = [
    position_of(0.0),
    position_of(25.0),
    position_of(50.0),
    position_of(90.0),
    position_of(95.0),
    position_of(99.0),
    position_of(99.9),
    position_of(100.0),
];

/// `P25`, but `P999` for rank 99.9: the established shorthand omits the point after 99.
pub(super) fn label(rank: f64) -> impl Display {
    from_fn(move |f| {
        // Up to "99.999999"; anything longer is not a rank near 99 and is written unchanged.
        let mut bytes = [0; 9];
        let mut text = BufferWriter::new(&mut bytes);
        write!(text, "{}", Fixed::rank(rank))?;
        match text.as_str().strip_prefix("99.") {
            Some(decimals) if text.fits() => write!(f, "P99{decimals}"),
            _ => write!(f, "P{}", Fixed::rank(rank)),
        }
    })
}

/// Counts outside the percentiles, and whether each is shown even if it is zero.
fn missing(summary: &Summary) -> [(&'static str, u64, bool); 3] {
    [
        ("Underflow", summary.underflow_count, false),
        ("Overflow", summary.overflow_count, true),
        ("Lost", summary.lost_count, false),
    ]
}

fn write_title(out: &mut dyn Write, title: &str) -> fmt::Result {
    if trim(title).is_empty() { Ok(()) } else { write!(out, "{}: ", Line(title)) }
}

/// The beginning of a summary's line. Each of the other counts says whether it is shown even if it is zero.
pub(super) fn write_counts(
    out: &mut dyn Write,
    title: &str,
    total: u64,
    others: &[(&str, u64, bool)],
) -> fmt::Result {
    write_title(out, title)?;
    write!(out, "Total={}", Grouped::from(total))?;
    let mut shown = others.iter().filter(|(_, count, always)| *always || *count != 0);
    shown.try_for_each(|&(label, count, _)| write!(out, ", {label}={}", Grouped::from(count)))
}

pub(super) fn write(out: &mut dyn Write, summary: &Summary, title: &str) -> fmt::Result {
    write_counts(out, title, summary.total_count, &missing(summary))?;
    write!(out, ", Mean={}", Fixed::new(mean(summary), 1))?;
    let shown = SHOWN.iter().filter_map(|&position| summary.percentiles.get(position));
    for percentile in shown.filter(|percentile| !percentile.rank.is_nan()) {
        write!(out, ", {}={}", label(percentile.rank), Maybe(value(summary, percentile)))?;
    }
    Ok(())
}

pub(super) fn write_diff(out: &mut dyn Write, diff: &Diff<'_>) -> fmt::Result {
    let Diff { a, b, title, .. } = *diff;
    write_title(out, title)?;
    let (name_a, name_b) = diff.names_or_defaults();
    write!(out, "{} -> {}: Total=", Line(name_a), Line(name_b))?;
    write_integers(out, Some(a.total_count), Some(b.total_count))?;
    for ((label, of_a, always), (_, of_b, _)) in missing(a).into_iter().zip(missing(b)) {
        if always || (of_a, of_b) != (0, 0) {
            write!(out, ", {label}=")?;
            write_integers(out, Some(of_a), Some(of_b))?;
        }
    }
    let (mean_a, mean_b) = (mean(a), mean(b));
    let change = Change::from_floats(mean_a, mean_b);
    write!(out, ", Mean={} -> {} ({change})", Fixed::new(mean_a, 1), Fixed::new(mean_b, 1))?;
    for position in SHOWN {
        if let (Some(of_a), Some(of_b)) = (a.percentiles.get(position), b.percentiles.get(position))
            && !of_a.rank.is_nan()
            && !of_b.rank.is_nan()
        {
            write!(out, ", {}=", label(of_a.rank))?;
            write_integers(out, value(a, of_a), value(b, of_b))?;
        }
    }
    write!(out, ", D={}", Fixed::new(cohens_d(a, b), 2))
}

fn write_integers(out: &mut dyn Write, a: Option<u64>, b: Option<u64>) -> fmt::Result {
    write!(out, "{} -> {} ({})", Maybe(a), Maybe(b), Change::from_integers(a, b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn labels() {
        for (rank, text) in [
            (99.9, "P999"),
            (99.99, "P9999"),
            (99.0, "P99"),
            (97.5, "P97.5"),
            (0.0, "P0"),
            (99.999_999, "P99999999"),
            (f64::NAN, "Pn/a"),
            (1e300, "P1e300"),
        ] {
            assert_eq!(label(rank).to_string(), text);
        }
    }
}
