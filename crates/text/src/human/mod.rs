//! Text for people: the answer first, then its basis, in units that fit, 80 columns wide.

mod answer;
#[cfg(test)]
mod answer_tests;
mod changes;
mod percent;
#[cfg(test)]
mod tests;

pub(super) use changes::{write_blocks, write_comparison, write_diff};

pub use answer::Answer;

use core::fmt::{self, Write};

use crate::escape::{Line, trim};
use crate::table::{Cell, plain as table};
use crate::unit::{Quantity, Unit};
use picollo_core::Summary;
#[cfg(feature = "alloc")]
use picollo_core::doubles::DoubleSummary;
use picollo_core::seam::{CountsInWords, SHORT, outside};
pub(super) use picollo_core::seam::{Rank, supports};
use picollo_core::snapshots::SUMMARY_RANKS;

/// Columns of a terminal.
const WIDTH: usize = 80;

/// The rank at a position in [`SUMMARY_RANKS`].
fn rank(position: usize) -> Rank {
    Rank(SUMMARY_RANKS.get(position).copied().unwrap_or(f64::NAN))
}

/// A title on a separate line, if there is one.
fn write_title(out: &mut dyn Write, title: &str) -> fmt::Result {
    if trim(title).is_empty() { Ok(()) } else { writeln!(out, "{}", Line(title)) }
}

/// Breaks lines at spaces before they are wider than a terminal. A word that is wider gets a separate line.
struct Wrapping<'a> {
    out: &'a mut dyn Write,
    column: usize,
    word: [u8; 4 * WIDTH],
    length: usize,
    width: usize,
}

impl<'a> Wrapping<'a> {
    fn new(out: &'a mut dyn Write) -> Wrapping<'a> {
        Wrapping { out, column: 0, word: [0; 4 * WIDTH], length: 0, width: 0 }
    }

    /// Writes the pending last word.
    fn finish(&mut self) -> fmt::Result {
        if self.column > 0 && self.width > 0 {
            let fits = self.column + 1 + self.width <= WIDTH;
            self.out.write_char(if fits { ' ' } else { '\n' })?;
            self.column = if fits { self.column + 1 } else { 0 };
        }
        let word = self.word.get(..self.length).and_then(|word| core::str::from_utf8(word).ok());
        self.out.write_str(word.unwrap_or_default())?;
        self.column += self.width;
        (self.length, self.width) = (0, 0);
        Ok(())
    }
}

impl Write for Wrapping<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            if c == ' ' {
                self.finish()?;
                continue;
            }
            let Some(room) = self.word.get_mut(self.length..self.length + c.len_utf8()) else {
                // The name is longer than a line.
                self.finish()?;
                self.column = self.column.saturating_add(1);
                self.out.write_char(c)?;
                continue;
            };
            c.encode_utf8(room);
            self.length += c.len_utf8();
            self.width += 1;
        }
        Ok(())
    }
}

/// Text in lines that fit a terminal, without a line break at the end.
fn write_wrapped(out: &mut dyn Write, text: fmt::Arguments<'_>) -> fmt::Result {
    let mut wrapping = Wrapping::new(out);
    wrapping.write_fmt(text)?;
    wrapping.finish()
}

/// What the text needs from a summary, of integers or of doubles.
pub(crate) trait Described {
    fn total(&self) -> u64;
    /// Counts of observations outside all numbers, each with the words after the number.
    fn outside(&self) -> [(&'static str, u64); 3];
    fn value(&self, position: usize, unit: Unit<'_>) -> Option<Quantity>;
    fn mean(&self, unit: Unit<'_>) -> Quantity;
}

impl Described for Summary {
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
impl Described for DoubleSummary {
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

/// Like [`write_in_unit`], in the unit that the title names.
pub(crate) fn write(out: &mut dyn Write, described: &dyn Described, title: &str) -> fmt::Result {
    let (title, unit) = Unit::from_title(title);
    write_in_unit(out, described, title, unit)
}

/// Writes a summary without a line break at the end.
pub(crate) fn write_in_unit(
    out: &mut dyn Write,
    described: &dyn Described,
    title: &str,
    unit: Unit<'_>,
) -> fmt::Result {
    write_counts(out, described, title)?;
    if described.total() == 0 {
        return Ok(());
    }
    let across = |row: table::Rows<'_, 6>| short(described, unit, row);
    if table::total(table::widths(&across)?) <= WIDTH {
        return table::write(out, 0, &across);
    }
    table::write(out, 1, &|row: table::Rows<'_, 2>| {
        for position in SHORT.into_iter().filter(|&position| is_shown(described, position)) {
            row([&rank(position), &Cell(described.value(position, unit))])?;
        }
        row([&"mean", &described.mean(unit)])
    })
}

/// Whether a short text has the percentile.
fn is_shown(described: &dyn Described, position: usize) -> bool {
    supports(described.total(), rank(position).0)
}

/// `Title: 99,940 values, 60 below the range`
fn write_counts(out: &mut dyn Write, described: &dyn Described, title: &str) -> fmt::Result {
    let outside = described.outside();
    let counts = CountsInWords { total: described.total(), outside: &outside };
    if trim(title).is_empty() || title.chars().count() > WIDTH / 2 {
        write_title(out, title)?;
        return write_wrapped(out, format_args!("{counts}"));
    }
    write_wrapped(out, format_args!("{}: {counts}", Line(title)))
}

fn short(described: &dyn Described, unit: Unit<'_>, row: table::Rows<'_, 6>) -> fmt::Result {
    let shown = SHORT.map(|position| Some(position).filter(|&position| is_shown(described, position)));
    let names = shown.map(|position| Cell(position.map(rank)));
    let values = shown.map(|position| Cell(position.and_then(|position| described.value(position, unit))));
    let [a, b, c, d, e] = &names;
    row([a, b, c, d, e, &"mean"])?;
    let [a, b, c, d, e] = &values;
    row([a, b, c, d, e, &described.mean(unit)])
}
