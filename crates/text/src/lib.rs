//! Text for people and programs: summaries, their differences, and percentiles.
//!
//! Everything is written piece by piece through [`core::fmt::Write`], without allocating memory. No content of a
//! [`Summary`] causes an error or a panic: numbers that are missing or not finite are `n/a` for people, and `null` or
//! an empty field for programs.
//!
//! | format | for | ends with | numbers |
//! |---|---|---|---|
//! | [`Markdown`](Format::Markdown) | reports and terminals | a line break | grouped, rounded |
//! | [`Line`](Format::Line) | logs | the last number | grouped, rounded |
//! | [`Json`](Format::Json) | programs | `}` | exact |
//! | [`Human`](Format::Human) | people | the last number | with units, three digits |
//!
//! Rounded decimals are rounded half away from zero on the exact value. Titles and names are escaped for their format.
//!
//! Cost: a few microseconds for a line or JSON, 15 to 20 for a table (which is formatted twice, to find the widths of
//! its columns).

#![no_std]
// The main file of a module has the module's name.
#![allow(clippy::module_inception)]

#[cfg(test)]
extern crate std;

mod blocks;
mod change;
mod comparison;
#[cfg(feature = "alloc")]
mod double;
mod escape;
#[cfg(test)]
mod example;
mod fields;
mod human;
mod json;
mod line;
mod markdown;
pub mod picture;
mod table;
mod unit;

use core::fmt::{self, Write};

pub use blocks::{Conditions, CounterRow, write_blocks, write_blocks_human};
pub use comparison::write_comparison;
#[cfg(feature = "alloc")]
pub use double::write_double_summary;
pub use human::Answer;
#[doc(inline)]
pub use picollo_core::seam::{BufferWriter, Written, write_c_string};
pub use unit::{Quantity, Unit};

use picollo_core::layouts::ValueSelection;
use picollo_core::{Percentile, Summary};

/// What the other crates of Picollo need of this one. It is not part of the interface, and changes without notice.
#[doc(hidden)]
pub mod seam {
    pub use crate::escape::{Json, Markdown};
    pub use crate::table::{Align, Rows, plain, width, write as write_table};
}

/// How a [`Summary`] is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u32)]
pub enum Format {
    /// A heading and a table.
    ///
    /// The title is left out, with its line, when it is empty or white space. Control characters become spaces, and
    /// what Markdown would interpret gets a backslash. Columns are as wide as their content in Unicode scalar values.
    #[default]
    Markdown = 0,
    /// A single line without a line break: `Title: Total=99,940, Overflow=0, Mean=4,332.9, P0=2,008, …`.
    ///
    /// `Title: ` is left out when the title is empty or white space; control characters in it become spaces.
    Line = 1,
    /// One compact JSON object with the keys of the fields of [`Summary`], in a stable order.
    ///
    /// All numbers are exact. Integers go up to `u64::MAX`; above 2^53, parsers must read them as integers, or they
    /// round to doubles. Doubles have the shortest digits that read back the same. `value_selection` is `"midpoint"`,
    /// `"lower"` or `"upper"`. In an empty summary mean, deviation, values and buckets are `null`.
    Json = 2,
    /// A few lines for people, at most 80 columns wide and without a line break at the end.
    ///
    /// A summary has the count, observations out of range or lost if there are any, P50, P90, P99, P99.9, the maximum
    /// and the mean. Percentiles that the count cannot support are left out. Differences, comparisons and benchmarks
    /// begin with the answer in a sentence, which states no more than the verdict. The title names the unit: see
    /// [`Unit::from_title`]. Numbers without a known unit are unchanged; see [`Quantity`] for the others.
    Human = 4,
}

picollo_core::seam::from_code!(Format { Markdown, Line, Json, Human });

/// Writes a summary under a title. Fails only if `out` fails. See [`Format`] for the formats, and
/// [`write_c_string`] for a buffer.
pub fn write_summary(
    summary: &Summary,
    mut out: &mut (impl Write + ?Sized),
    title: &str,
    format: Format,
) -> fmt::Result {
    let write = match format {
        Format::Markdown => markdown::write,
        Format::Line => line::write,
        Format::Json => json::write,
        Format::Human => return human::write(&mut out, summary, title),
    };
    write(&mut out, summary, title)
}

/// A summary for people, in this unit. See [`Format::Human`].
///
/// ```
/// use picollo_text::{Unit, human};
/// use picollo_core::layouts::ValueSelection;
/// use picollo_core::{Layout, Snapshot};
///
/// const LAYOUT: Layout = Layout::new(0.01, 0, 1_000_000);
/// let nothing = Snapshot::<[u64; LAYOUT.snapshot_words()]>::new(LAYOUT);
/// let summary = nothing.summary(ValueSelection::Midpoint);
/// assert_eq!(human(&summary, "Latency", Unit::new("ns")).to_string(), "Latency: no values");
/// ```
pub fn human(summary: &Summary, title: &str, unit: Unit<'_>) -> impl fmt::Display {
    fmt::from_fn(move |f| human::write_in_unit(f, summary, title, unit))
}

/// Writes the change from summary `a`, the older, to summary `b`, the newer. Fails only if `out` fails.
///
/// Changes are `(b - a) / a`, in percent. If *a* is zero and *b* is not, there is no change; if both are zero, it
/// is 0. The D-value is Cohen's d, `(mean_b - mean_a)` over the standard deviation pooled by counts, `sqrt((n_a
/// sd_a^2 + n_b sd_b^2) / (n_a + n_b))`. It is missing if that is zero or a summary is empty.
///
/// - Markdown: percentiles, mean, deviation, precision and total of both, and the D-value. Percentiles are paired by
///   position. Observations out of range and lost ones are not in the table.
/// - Line: `Title: A -> B: Total=1 -> 2 (+100.0%), …, D=0.08`, with the parts of a summary's line.
/// - JSON: `title`; `a` and `b`, each with its `name` and the keys of a summary except `percentiles`;
///   `change_percent` of total_count, mean, stddev and relative_error; `d_value`; and `percentiles`, each with
///   `rank`, `a`, `b` and `change_percent`.
///
/// In Markdown and in a line, empty names become `Before` and `After`.
#[allow(clippy::too_many_arguments, reason = "two summaries with their names")]
pub fn write_diff(
    a: &Summary,
    b: &Summary,
    mut out: &mut (impl Write + ?Sized),
    title: &str,
    name_a: &str,
    name_b: &str,
    format: Format,
) -> fmt::Result {
    let diff = Diff { a, b, title, names: (name_a, name_b), unit: Unit::NONE };
    match format {
        Format::Markdown => markdown::write_diff(&mut out, &diff, 0.0),
        Format::Line => line::write_diff(&mut out, &diff),
        Format::Json => json::write_diff(&mut out, &diff),
        Format::Human => human::write_diff(&mut out, &diff.for_people()),
    }
}
/// Two summaries and their names; for people, their unit too.
#[derive(Clone, Copy)]
struct Diff<'a> {
    a: &'a Summary,
    b: &'a Summary,
    title: &'a str,
    names: (&'a str, &'a str),
    unit: Unit<'a>,
}

impl<'a> Diff<'a> {
    /// Names that are not empty.
    fn names_or_defaults(&self) -> (&'a str, &'a str) {
        names(self.names.0, self.names.1)
    }

    /// For people, in the unit that the title names.
    fn for_people(&self) -> Diff<'a> {
        let (title, unit) = Unit::from_title(self.title);
        Diff { title, unit, names: self.names_or_defaults(), ..*self }
    }
}

/// The mean; NaN if it does not exist, whatever the field holds.
fn mean(summary: &Summary) -> f64 {
    if summary.total_count == 0 { f64::NAN } else { summary.mean }
}

/// The standard deviation; NaN if it does not exist, whatever the field holds.
fn stddev(summary: &Summary) -> f64 {
    if summary.total_count == 0 { f64::NAN } else { summary.stddev }
}

/// The value of one of a summary's percentiles, if it exists.
fn value(summary: &Summary, percentile: &Percentile) -> Option<u64> {
    if summary.total_count == 0 || percentile.target_count == 0 { None } else { Some(percentile.value) }
}

/// The value selection, for programs.
fn selection_name(summary: &Summary) -> &'static str {
    match summary.selection() {
        ValueSelection::Midpoint => "midpoint",
        ValueSelection::Lower => "lower",
        ValueSelection::Upper => "upper",
    }
}

/// The names of two summaries, for people, who need to distinguish them.
fn names<'a>(name_a: &'a str, name_b: &'a str) -> (&'a str, &'a str) {
    let or = |name: &'a str, default| if escape::trim(name).is_empty() { default } else { name };
    (or(name_a, "Before"), or(name_b, "After"))
}

#[cfg(test)]
mod tests;
#[cfg(all(test, feature = "alloc"))]
mod wire_tests;

/// The example of the package.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Package;
