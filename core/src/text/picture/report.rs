//! Reports: one HTML document that needs nothing else.

use core::fmt::{self, Display, Write};

use super::frame::Name;
use super::unit::Unit;
use super::xml::{Escaping, InScript, Xml};
use super::{Picture, Pictures, Series};
use crate::format::escape::{Json, trim};
use crate::format::number::{Fixed, Grouped, NOT_AVAILABLE};
use crate::interchange::Encoding;
use crate::layout::bucket::ValueSelection;
use crate::statistics::compare::CompareOptions;
use crate::statistics::summary::{Percentile, SUMMARY_RANKS, Summary};
use crate::text::Format;

/// As many snapshots stand next to each other.
const SIDE_BY_SIDE: usize = 8;

const STYLE: &str = "\
:root{color-scheme:light dark;--text:#1b1f24;--label:#57606a;--line:#dde1e6;--back:#fff}
@media(prefers-color-scheme:dark){:root{--text:#e6edf3;--label:#9aa7b4;--line:#2a323b;--back:#0f1419}}
body{font:15px/1.45 system-ui,-apple-system,\"Segoe UI\",\"Liberation Sans\",sans-serif;color:var(--text);background:var(--back);\
max-width:72em;margin:2em auto;padding:0 1.2em}
h1{font-size:1.6em;margin:0 0 .2em}h2{font-size:1.15em;margin:2em 0 .6em}p.note{color:var(--label);margin:.3em 0}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.92em;font-variant-numeric:tabular-nums}
th,td{padding:.22em .6em;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th{color:var(--label);font-weight:600}th:first-child,td:first-child{text-align:left}
svg{display:block;max-width:100%;height:auto;margin:.8em 0}
pre{font:13px/1.4 ui-monospace,\"DejaVu Sans Mono\",monospace;overflow-x:auto;border-left:3px solid var(--line);padding-left:1em}
";

pub(super) fn write(out: &mut dyn Write, pictures: &Pictures<'_>) -> fmt::Result {
    let title = if trim(pictures.title).is_empty() { "Report" } else { pictures.title };
    writeln!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>{0}</title>\n<style>{STYLE}</style>\n\
         </head>\n<body>\n<h1>{0}</h1>",
        Xml(title)
    )?;
    let unit = Unit::new(pictures.unit, false);
    if unit.name.is_empty() {
        writeln!(out, "<p class=\"note\">{} snapshots.</p>", pictures.length)?;
    } else {
        writeln!(out, "<p class=\"note\">{} snapshots; values in {}.</p>", pictures.length, Xml(unit.name))?;
    }
    write_totals(out, pictures)?;
    let beside = Pictures { length: pictures.length.min(SIDE_BY_SIDE), title: "", ..*pictures };
    if beside.length < pictures.length {
        writeln!(out, "<p class=\"note\">Curves and percentiles below are of the first {SIDE_BY_SIDE}.</p>")?;
    }
    out.write_str("<h2>Percentiles</h2>\n")?;
    beside.write_svg(out, Picture::Percentiles)?;
    write_percentiles(out, &beside)?;
    out.write_str("<h2>Density</h2>\n")?;
    beside.write_svg(out, Picture::Density)?;
    if pictures.length >= 3 {
        out.write_str("<h2>Heat map</h2>\n")?;
        Pictures { title: "", ..*pictures }.write_svg(out, Picture::HeatMap)?;
    }
    write_comparisons(out, &beside)?;
    out.write_str(
        "<h2>Data</h2>\n<p class=\"note\">In this file, as JSON in the element <code>picollo-data</code>: for each snapshot its \
         summary, its buckets (lower end, upper end, count) and its native encoding in base64.</p>\n\
         <script type=\"application/json\" id=\"picollo-data\">\n",
    )?;
    write_data(&mut InScript(out), pictures)?;
    out.write_str("\n</script>\n</body>\n</html>\n")
}

fn summary(series: Series<'_>) -> Summary {
    series.snapshot.summary(ValueSelection::Midpoint)
}

fn value_at(summary: &Summary, rank: f64) -> Cell {
    let found = summary.percentiles.iter().find(|percentile| percentile.rank == rank);
    found.map_or(Cell::None, |percentile| cell(summary, percentile))
}

fn cell(summary: &Summary, percentile: &Percentile) -> Cell {
    crate::text::value(summary, percentile).map_or(Cell::None, Cell::Integer)
}

/// A number in a table.
#[derive(Clone, Copy)]
enum Cell {
    None,
    Integer(u64),
    Number(f64),
}

impl Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Cell::None => f.write_str(NOT_AVAILABLE),
            Cell::Integer(value) => Grouped::from(value).fmt(f),
            Cell::Number(value) => Fixed::new(value, 2).fmt(f),
        }
    }
}

/// A row for each snapshot.
fn write_totals(out: &mut dyn Write, pictures: &Pictures<'_>) -> fmt::Result {
    // Columns of zeros say nothing.
    let is_partial = pictures.series().any(|series| {
        let counts = series.snapshot.counts();
        counts.underflow != 0 || counts.overflow != 0 || counts.lost != 0
    });
    out.write_str("<div class=\"wide\"><table>\n<tr><th>Snapshot</th>")?;
    for heading in ["Observations", "Mean", "StDev", "Min", "P50", "P90", "P99", "P99.9", "Max", "Precision"]
    {
        write!(out, "<th>{heading}</th>")?;
    }
    out.write_str(if is_partial { "<th>Out of range</th><th>Lost</th></tr>\n" } else { "</tr>\n" })?;
    for (at, series) in pictures.series().enumerate() {
        let found = summary(series);
        write!(out, "<tr><td>{}</td><td>{}</td>", Name(series, at), Grouped::from(found.total_count))?;
        let at_rank = |rank| value_at(&found, rank);
        let cells = [
            Cell::Number(crate::text::mean(&found)),
            Cell::Number(crate::text::stddev(&found)),
            at_rank(0.0),
            at_rank(50.0),
            at_rank(90.0),
            at_rank(99.0),
            at_rank(99.9),
            at_rank(100.0),
        ];
        cells.iter().try_for_each(|cell| write!(out, "<td>{cell}</td>"))?;
        write!(out, "<td>{}%</td>", Fixed::percentage(found.relative_error))?;
        if is_partial {
            let outside = found.underflow_count.saturating_add(found.overflow_count);
            let lost = found.lost_count;
            write!(out, "<td>{}</td><td>{}</td>", Grouped::from(outside), Grouped::from(lost))?;
        }
        out.write_str("</tr>\n")?;
    }
    out.write_str("</table></div>\n")?;
    if pictures.series().any(|series| series.snapshot.is_approximate()) {
        out.write_str("<p class=\"note\">Counts are approximate.</p>\n")?;
    }
    Ok(())
}

/// A column for each snapshot.
fn write_percentiles(out: &mut dyn Write, pictures: &Pictures<'_>) -> fmt::Result {
    out.write_str("<div class=\"wide\"><table>\n<tr><th>Percentile</th>")?;
    for (at, series) in pictures.series().enumerate() {
        write!(out, "<th>{}</th>", Name(series, at))?;
    }
    out.write_str("</tr>\n")?;
    for rank in SUMMARY_RANKS {
        write!(out, "<tr><td>{}</td>", Fixed::rank(rank))?;
        for series in pictures.series() {
            let value = series.snapshot.percentile(rank, ValueSelection::Midpoint);
            let cell = value.map_or(Cell::None, |percentile| Cell::Integer(percentile.value));
            write!(out, "<td>{cell}</td>")?;
        }
        out.write_str("</tr>\n")?;
    }
    out.write_str("</table></div>\n")
}

/// Each but the first with the first.
fn write_comparisons(out: &mut dyn Write, pictures: &Pictures<'_>) -> fmt::Result {
    let mut first = None;
    for (at, series) in pictures.series().enumerate() {
        let Some(base) = first else {
            out.write_str(if pictures.length > 1 { "<h2>Comparison</h2>\n" } else { "" })?;
            first = Some(series);
            continue;
        };
        write!(out, "<p><b>{}</b> against <b>{}</b>: ", Name(series, at), Name(base, 0))?;
        match base.snapshot.compare(series.snapshot, &CompareOptions::default()) {
            Ok(compared) => {
                writeln!(out, "<b>{}</b></p>\n<pre>", compared.verdict().as_str())?;
                write!(Escaping(out), "{compared:#}")?;
                out.write_str("</pre>\n")?;
            }
            Err(_) => out.write_str("nothing to compare.</p>\n")?,
        }
    }
    Ok(())
}

fn write_data(out: &mut dyn Write, pictures: &Pictures<'_>) -> fmt::Result {
    write!(
        out,
        "{{\"title\":\"{}\",\"unit\":\"{}\",\"snapshots\":[",
        Json(pictures.title),
        Json(pictures.unit)
    )?;
    for (at, series) in pictures.series().enumerate() {
        out.write_str(if at > 0 { ",\n{\"summary\":" } else { "\n{\"summary\":" })?;
        summary(series).write(out, series.title, Format::Json)?;
        out.write_str(",\n\"buckets\":[")?;
        for (at, bucket) in series.snapshot.recorded_buckets().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(out, "{comma}[{},{},{}]", bucket.lower, bucket.upper, bucket.count)?;
        }
        out.write_str("],\n\"native_base64\":\"")?;
        // The native encoding can hold all that a snapshot does, so it is `out` that failed.
        series.snapshot.write_base64(Encoding::Native, out).map_err(|_| fmt::Error)?;
        out.write_str("\"}")?;
    }
    out.write_str("\n]}")
}
