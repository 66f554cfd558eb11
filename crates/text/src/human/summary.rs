//! Summaries for people: a line with the counts, and a table of the values.

use core::fmt::{self, Display, Write};

use super::{SHORT, WIDTH, rank, supports, table, write_title, write_wrapped};
use crate::escape::{Line, trim};
use crate::unit::{Quantity, Unit};
use picollo_core::Summary;
#[cfg(feature = "alloc")]
use picollo_core::doubles::DoubleSummary;
use picollo_core::seam::{CountsInWords, outside};

/// A cell that may be empty.
struct Cell<T>(Option<T>);

impl<T: Display> Display for Cell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |value| value.fmt(f))
    }
}

/// What the text needs from a summary, of integers or of doubles.
pub(crate) trait Told {
    fn total(&self) -> u64;
    /// Counts of observations outside all numbers, each with the words after the number.
    fn outside(&self) -> [(&'static str, u64); 3];
    fn value(&self, position: usize, unit: Unit<'_>) -> Option<Quantity>;
    fn mean(&self, unit: Unit<'_>) -> Quantity;
}

impl Told for Summary {
    fn total(&self) -> u64 {
        self.total_count
    }

    fn outside(&self) -> [(&'static str, u64); 3] {
        outside(self)
    }

    fn value(&self, position: usize, unit: Unit<'_>) -> Option<Quantity> {
        let percentile = self.percentiles.get(position)?;
        crate::value(self, percentile).map(|value| unit.integer(value))
    }

    fn mean(&self, unit: Unit<'_>) -> Quantity {
        unit.number(crate::mean(self))
    }
}

#[cfg(feature = "alloc")]
impl Told for DoubleSummary {
    fn total(&self) -> u64 {
        self.statistics.count
    }

    fn outside(&self) -> [(&'static str, u64); 3] {
        [("not finite", self.statistics.not_finite), ("lost", self.statistics.lost), ("", 0)]
    }

    fn value(&self, position: usize, unit: Unit<'_>) -> Option<Quantity> {
        let found = self.percentiles.get(position).filter(|percentile| percentile.target_count > 0)?;
        Some(unit.number(found.value))
    }

    fn mean(&self, unit: Unit<'_>) -> Quantity {
        unit.number(self.statistics.mean)
    }
}

/// Like [`write_of`], in the unit that the title names.
pub(crate) fn write(out: &mut dyn Write, told: &dyn Told, title: &str) -> fmt::Result {
    let (title, unit) = Unit::of_title(title);
    write_of(out, told, title, unit)
}

/// Writes a summary without a line break at the end.
pub(crate) fn write_of(out: &mut dyn Write, told: &dyn Told, title: &str, unit: Unit<'_>) -> fmt::Result {
    write_counts(out, told, title)?;
    if told.total() == 0 {
        return Ok(());
    }
    let across = |row: table::Rows<'_, 6>| short(told, unit, row);
    if table::total(table::widths(&across)?) <= WIDTH {
        return table::write(out, 0, &across);
    }
    table::write(out, 1, &|row: table::Rows<'_, 2>| {
        for position in SHORT.into_iter().filter(|&position| is_shown(told, position)) {
            row([&rank(position), &Cell(told.value(position, unit))])?;
        }
        row([&"mean", &told.mean(unit)])
    })
}

/// Whether a short text has the percentile.
fn is_shown(told: &dyn Told, position: usize) -> bool {
    supports(told.total(), rank(position).0)
}

/// `Title: 99,940 values, 60 below the range`
fn write_counts(out: &mut dyn Write, told: &dyn Told, title: &str) -> fmt::Result {
    let outside = told.outside();
    let counts = CountsInWords { total: told.total(), outside: &outside };
    if trim(title).is_empty() {
        return write_wrapped(out, format_args!("{}", counts));
    }
    if title.chars().count() > WIDTH / 2 {
        write_title(out, title)?;
        return write_wrapped(out, format_args!("{}", counts));
    }
    write_wrapped(out, format_args!("{}: {}", Line(title), counts))
}

fn short(told: &dyn Told, unit: Unit<'_>, row: table::Rows<'_, 6>) -> fmt::Result {
    let shown = SHORT.map(|position| Some(position).filter(|&position| is_shown(told, position)));
    let names = shown.map(|position| Cell(position.map(rank)));
    let values = shown.map(|position| Cell(position.and_then(|position| told.value(position, unit))));
    let [a, b, c, d, e] = &names;
    row([a, b, c, d, e, &"mean"])?;
    let [a, b, c, d, e] = &values;
    row([a, b, c, d, e, &told.mean(unit)])
}
