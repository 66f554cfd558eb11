//! Summaries and their differences as Markdown tables.

use core::fmt::{self, Display, Write, from_fn};

use super::change::{Change, cohens_d};
use super::{Diff, mean, stddev, value};
use crate::escape::{Markdown, trim};
use crate::table::{self, Align, Cell, Rows};
use picollo_core::Summary;
use picollo_core::layouts::ValueSelection;
use picollo_core::seam::{Fixed, Grouped, Maybe};

/// The largest distance of values in a percentile's bucket from its reported value.
fn margin(selection: ValueSelection, step: u64) -> impl Display {
    let (sign, margin) = match selection {
        ValueSelection::Midpoint => ('±', step / 2),
        ValueSelection::Lower => ('+', step),
        ValueSelection::Upper => ('-', step),
    };
    from_fn(move |f| write!(f, "{sign}{}", Grouped::from(margin)))
}

/// The relative error with a percent sign.
pub(super) fn precision(error: f64) -> impl Display {
    from_fn(move |f| write!(f, "{}{}", Fixed::percentage(error), if error.is_finite() { "%" } else { "" }))
}

pub(super) fn write_heading(out: &mut dyn Write, title: &str) -> fmt::Result {
    if trim(title).is_empty() { Ok(()) } else { writeln!(out, "##### {}", Markdown(title)) }
}

pub(super) fn write(out: &mut dyn Write, summary: &Summary, title: &str) -> fmt::Result {
    write_heading(out, title)?;
    table::write(out, [Align::Left, Align::Right, Align::Left, Align::Right], &|row| rows(summary, row))
}

fn rows(summary: &Summary, row: Rows<'_>) -> fmt::Result {
    row([&"Percentile", &"Value", &"±", &"Count"])?;
    for percentile in summary.known_percentiles() {
        let value = value(summary, percentile);
        let margin = Cell(value.map(|_| margin(summary.selection(), percentile.bucket.step)));
        let count = Grouped::from(percentile.target_count);
        row([&Fixed::rank(percentile.rank), &Maybe(value), &margin, &count])?;
    }
    let outside = [("Underflow", summary.underflow_count), ("Overflow", summary.overflow_count)];
    for (label, count) in outside.into_iter().chain([("Lost", summary.lost_count)]) {
        if count != 0 {
            row([&label, &"", &"", &Grouped::from(count)])?;
        }
    }
    row([&"", &"", &"", &""])?;
    row([&"Mean:", &Fixed::new(mean(summary), 2), &"StDev:", &Fixed::new(stddev(summary), 2)])?;
    let total = Grouped::from(summary.total_count);
    row([&"Precision:", &precision(summary.relative_error), &"Total:", &total])?;
    if outside.iter().any(|&(_, count)| count != 0) {
        let (min, max) = (Grouped::from(summary.min_trackable), Grouped::from(summary.max_trackable));
        row([&"Range Min:", &min, &"Max:", &max])?;
    }
    Ok(())
}

/// Values below the resolution are unknown, so the table shows no change from or to them.
pub(super) fn write_diff(out: &mut dyn Write, diff: &Diff<'_>, resolution: f64) -> fmt::Result {
    write_heading(out, diff.title)?;
    table::write(out, [Align::Left, Align::Right, Align::Right, Align::Right], &|row| {
        diff_rows(diff, resolution, row)
    })
}

/// Whether a value is below the resolution. Without a resolution, none is.
pub(super) fn is_below(value: f64, resolution: f64) -> bool {
    resolution > 0.0 && value < resolution
}

/// A value, or a note that it is below the resolution.
pub(super) fn level(shown: impl Display, value: f64, resolution: f64) -> impl Display {
    from_fn(move |f| match is_below(value, resolution) {
        true => write!(f, "<{}", Fixed::trimmed(resolution, 1)),
        false => shown.fmt(f),
    })
}

fn diff_rows(diff: &Diff<'_>, resolution: f64, row: Rows<'_>) -> fmt::Result {
    let (Diff { a, b, .. }, (name_a, name_b)) = (*diff, diff.names_or_defaults());
    let known = |change: Change, a: f64, b: f64| {
        let is_known = !is_below(a, resolution) && !is_below(b, resolution);
        if is_known { change } else { Change::from_floats(f64::NAN, 0.0) }
    };
    row([&"Percentile", &Markdown(name_a), &Markdown(name_b), &"Δ%"])?;
    let both = a.percentiles.iter().zip(&b.percentiles);
    for (of_a, of_b) in both.filter(|(of_a, of_b)| !of_a.rank.is_nan() && !of_b.rank.is_nan()) {
        let (value_a, value_b) = (value(a, of_a), value(b, of_b));
        let number = |value: Option<u64>| value.map_or(f64::NAN, |value| value as f64);
        let level = |value| level(Maybe(value), number(value), resolution);
        let change = known(Change::from_integers(value_a, value_b), number(value_a), number(value_b));
        row([&ranks(of_a.rank, of_b.rank), &level(value_a), &level(value_b), &change])?;
    }
    row([&"", &"", &"", &""])?;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let level = |value| level(Fixed::new(value, 2), value, resolution);
    let change = known(Change::from_floats(mean_a, mean_b), mean_a, mean_b);
    row([&"Mean:", &level(mean_a), &level(mean_b), &change])?;
    let (stddev_a, stddev_b) = (stddev(a), stddev(b));
    let change = known(Change::from_floats(stddev_a, stddev_b), mean_a, mean_b);
    row([&"StDev:", &Fixed::new(stddev_a, 2), &Fixed::new(stddev_b, 2), &change])?;
    let change = Change::from_floats(a.relative_error, b.relative_error);
    row([&"Precision:", &precision(a.relative_error), &precision(b.relative_error), &change])?;
    let change = Change::from_integers(Some(a.total_count), Some(b.total_count));
    row([&"Total:", &Grouped::from(a.total_count), &Grouped::from(b.total_count), &change])?;
    row([&"D-value:", &"", &"", &Fixed::new(cohens_d(a, b), 2)])
}

/// The rank of two percentiles; it is the same in all summaries that this library makes.
fn ranks(a: f64, b: f64) -> impl Display {
    from_fn(move |f| {
        Fixed::rank(a).fmt(f)?;
        if a.total_cmp(&b).is_eq() { Ok(()) } else { write!(f, " / {}", Fixed::rank(b)) }
    })
}
