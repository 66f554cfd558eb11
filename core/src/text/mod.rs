//! Text for people and programs: summaries, their differences, percentiles and buckets.
//!
//! Everything is written piece by piece through [`core::fmt::Write`], without memory of its own, and is never an error
//! or a panic for any content of a [`Summary`]: what does not exist or is not finite is `n/a` for people and `null` or
//! an empty field for programs.
//!
//! | format | for | ends with | numbers |
//! |---|---|---|---|
//! | [`Markdown`](Format::Markdown) | reports and terminals | a line break | grouped, rounded |
//! | [`Line`](Format::Line) | logs | the last number | grouped, rounded |
//! | [`Json`](Format::Json) | programs | `}` | exact |
//! | [`Csv`](Format::Csv) | spreadsheets, pandas | a line break | exact |
//! | [`Human`](Format::Human), [`Full`](Format::Full) | people | the last number | with units, three digits |
//!
//! Rounded decimals are rounded half away from zero on the exact value. Titles and names are escaped for their format.
//!
//! Cost: some microseconds for a line or JSON, 15 to 20 for CSV or a table (which is formatted twice, to find the widths
//! of its columns).

mod blocks;
mod bucket;
mod change;
mod comparison;
mod csv;
#[cfg(feature = "alloc")]
mod double;
#[cfg(test)]
mod example;
mod fields;
mod human;
mod json;
mod line;
mod markdown;
pub mod picture;
mod unit;

use crate::format::escape;
use core::fmt::{self, Write};

pub use crate::format::buffer::{BufferWriter, Written, write_c_string};
#[doc(hidden)] // For what native writes.
pub use crate::format::escape::Json;
#[doc(hidden)] // As above.
pub use crate::format::number::Grouped;
#[doc(hidden)] // As above.
pub use crate::format::table::width;
pub use crate::interchange::hgrm::{DEFAULT_TICKS, HgrmFormat, MAX_TICKS};
pub use blocks::{Conditions, CounterRow};
pub use bucket::ListedBucket;
pub use human::Answer;
pub use unit::{Quantity, Unit};

use crate::error::{Error, Result};
use crate::layout::bucket::ValueSelection;
use crate::statistics::summary::{Percentile, SUMMARY_APPROXIMATE, Summary};

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
    /// All numbers are exact: integers up to `u64::MAX` (above 2^53 a parser that reads integers as such is needed, or
    /// they are rounded to doubles) and the shortest digits that read back as the same double. `value_selection` is
    /// `"midpoint"`, `"lower"` or `"upper"`; `approximate` is there, and `true`, only when the counts are estimates. In an
    /// empty summary mean, deviation, values and buckets are `null`.
    Json = 2,
    /// A header and one row per percentile, with plain exact numbers, `\n` line ends and quoting as in RFC 4180.
    ///
    /// The columns are named after the fields of [`Percentile`], [`Bucket`](crate::Bucket) (`lower` to `logical_index`;
    /// `count` is the bucket's) and [`Summary`]: title, rank, value, target_count, lower, upper, step, count,
    /// storage_index, logical_index, total_count, underflow_count, overflow_count, lost_count, mean, stddev,
    /// relative_error, min_trackable, max_trackable, timestamp_unix_nanos, value_selection, approximate (0 or 1). Every
    /// row repeats title and totals, so that tables can be concatenated; numbers that do not exist are empty fields.
    Csv = 3,
    /// A few lines for people, at most 80 columns wide and without a line break at the end.
    ///
    /// Of a summary the count, what was out of range or lost if anything was, P50, P90, P99, P99.9, the maximum and the mean;
    /// percentiles that the count cannot support are left out. Of differences, comparisons and benchmarks first the answer in a
    /// sentence, which says no more than the verdict. The title names the unit: see [`Unit::of_title`]. Numbers without a known
    /// one are as they are; see [`Quantity`] for the others.
    Human = 4,
    /// As [`Human`](Format::Human), with all percentiles and what else there is.
    Full = 5,
}

impl TryFrom<u32> for Format {
    type Error = Error;

    fn try_from(code: u32) -> Result<Self> {
        match code {
            0 => Ok(Format::Markdown),
            1 => Ok(Format::Line),
            2 => Ok(Format::Json),
            3 => Ok(Format::Csv),
            4 => Ok(Format::Human),
            5 => Ok(Format::Full),
            _ => Err(Error::InvalidArgument),
        }
    }
}

impl Summary {
    /// Writes the summary under a title. Fails only where `out` does. See [`Format`] for what is written, and
    /// [`write_c_string`] for a buffer.
    pub fn write(&self, mut out: &mut (impl Write + ?Sized), title: &str, format: Format) -> fmt::Result {
        let write = match format {
            Format::Markdown => markdown::write,
            Format::Line => line::write,
            Format::Json => json::write,
            Format::Csv => csv::write,
            Format::Human => return human::write(&mut out, self, title, false),
            Format::Full => return human::write(&mut out, self, title, true),
        };
        write(&mut out, self, title)
    }

    /// The summary for people, in this unit: a few lines with `{}`, all percentiles with `{:#}`. See [`Format::Human`].
    ///
    /// ```
    /// use picollo_core::text::Unit;
    /// use picollo_core::{Layout, Snapshot, ValueSelection};
    ///
    /// const LAYOUT: Layout = Layout::new(0.01, 0, 1_000_000);
    /// let nothing = Snapshot::<[u64; LAYOUT.snapshot_words()]>::new(LAYOUT);
    /// let summary = nothing.summary(ValueSelection::Midpoint);
    /// assert_eq!(summary.human("Latency", Unit::new("ns")).to_string(), "Latency: no values");
    /// ```
    pub const fn human<'a>(&'a self, title: &'a str, unit: Unit<'a>) -> Human<'a> {
        Human { summary: self, title, unit }
    }

    /// Writes how `other` (*b*, the newer) differs from this summary (*a*, the older). Fails only where `out` does.
    ///
    /// Changes are `(b - a) / a`, in per cent: where *a* is zero and *b* is not there is none, where both are it is 0. The
    /// D-value is Cohen's d, `(mean_b - mean_a)` over the standard deviation pooled by counts,
    /// `sqrt((n_a sd_a^2 + n_b sd_b^2) / (n_a + n_b))`; there is none where that is zero or a summary is empty.
    ///
    /// - Markdown: percentiles, mean, deviation, precision and total of both, and the D-value. Percentiles are paired by
    ///   position. Observations out of range and lost ones are not in the table.
    /// - Line: `Title: A -> B: Total=1 -> 2 (+100.0%), …, D=0.08`, with the parts of a summary's line.
    /// - JSON: `title`; `a` and `b`, each with its `name` and the keys of a summary but `percentiles`; `change_percent`
    ///   of total_count, mean, stddev and relative_error; `d_value`; and `percentiles`, each with `rank`, `a`, `b` and
    ///   `change_percent`.
    /// - CSV: one row per percentile with the columns title, name_a, name_b, rank, value_a, value_b, change_percent,
    ///   total_count, underflow_count, overflow_count and lost_count with `_a` and `_b`, mean_a, mean_b,
    ///   mean_change_percent, stddev_a, stddev_b, stddev_change_percent, relative_error_a, relative_error_b,
    ///   approximate_a, approximate_b, d_value.
    ///
    /// In Markdown and in a line, empty names read `Before` and `After`.
    pub fn write_diff(
        &self,
        other: &Summary,
        mut out: &mut (impl Write + ?Sized),
        title: &str,
        name_a: &str,
        name_b: &str,
        format: Format,
    ) -> fmt::Result {
        let write = match format {
            Format::Markdown => markdown::write_diff,
            Format::Line => line::write_diff,
            Format::Json => json::write_diff,
            Format::Csv => csv::write_diff,
            Format::Human | Format::Full => {
                let shown = human::Shown::new(self, other, title, (name_a, name_b), format == Format::Full);
                return human::write_diff(&mut out, &shown);
            }
        };
        write(&mut out, self, other, title, name_a, name_b)
    }

    /// Whether the counts are estimates, as those of scalable histograms are.
    pub const fn is_approximate(&self) -> bool {
        self.flags & SUMMARY_APPROXIMATE != 0
    }
}

/// The summary for people, without title and unit: see [`Summary::human`].
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.human("", Unit::NONE).fmt(f)
    }
}

/// A summary for people: see [`Summary::human`].
#[derive(Clone, Copy, Debug)]
pub struct Human<'a> {
    summary: &'a Summary,
    title: &'a str,
    unit: Unit<'a>,
}

impl fmt::Display for Human<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_full = f.alternate();
        human::write_of(f, self.summary, self.title, self.unit, is_full)
    }
}

/// The mean, NaN when there is none whatever the field holds.
fn mean(summary: &Summary) -> f64 {
    if summary.total_count == 0 { f64::NAN } else { summary.mean }
}

/// The standard deviation, NaN when there is none whatever the field holds.
fn stddev(summary: &Summary) -> f64 {
    if summary.total_count == 0 { f64::NAN } else { summary.stddev }
}

/// The value of one of a summary's percentiles, where it exists.
fn value(summary: &Summary, percentile: &Percentile) -> Option<u64> {
    if summary.total_count == 0 || percentile.target_count == 0 { None } else { Some(percentile.value) }
}

/// What people should know about the counts.
fn counts_are(summary: &Summary) -> &'static str {
    if summary.is_approximate() { "approximate" } else { "exact" }
}

/// The value selection, for programs.
fn selection_name(summary: &Summary) -> &'static str {
    match summary.selection() {
        ValueSelection::Midpoint => "midpoint",
        ValueSelection::Lower => "lower",
        ValueSelection::Upper => "upper",
    }
}

/// The names of two summaries, for people, who need something to tell them apart.
fn names<'a>(name_a: &'a str, name_b: &'a str) -> (&'a str, &'a str) {
    let or = |name: &'a str, default| if escape::trim(name).is_empty() { default } else { name };
    (or(name_a, "Before"), or(name_b, "After"))
}

#[cfg(test)]
mod tests;
#[cfg(all(test, feature = "alloc"))]
mod wire_tests;
