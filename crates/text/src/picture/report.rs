//! Reports: a single HTML document without external files.

use core::fmt::{self, Display, Write, from_fn};

use super::frame::Name;
use super::xml::{Escaping, InScript, Xml};
use super::{Picture, Pictures, Series};
use crate::escape::{Json, trim};
use crate::human::{Answer, Rank, supports};
use crate::unit::{Quantity, Unit};
use crate::{Format, mean, stddev, value, write_summary};
use picollo_codec::{Codec, Encoding};
use picollo_core::Summary;
use picollo_core::layouts::ValueSelection;
use picollo_core::seam::{Fixed, Grouped, position_of};
use picollo_core::snapshots::SUMMARY_PERCENTILES;
use picollo_stats::{CompareOptions, Comparison, compare_snapshots};

/// The largest number of snapshots side by side.
const SIDE_BY_SIDE: usize = 8;

/// The names of snapshots without a title.
const NUMBERS: [&str; SIDE_BY_SIDE] = ["#1", "#2", "#3", "#4", "#5", "#6", "#7", "#8"];

/// The size of the report's pictures, in CSS pixels: as wide as the page.
const SIZE: (u32, u32) = (1200, 420);

/// The style of reports, on a screen and on paper.
pub const REPORT_STYLE: &str = "\
:root{color-scheme:light dark;--text:#1b1f24;--label:#57606a;--line:#dde1e6;--back:#fff;--mark:#0969da}
@media screen and (prefers-color-scheme:dark){:root{--text:#e6edf3;--label:#9aa7b4;--line:#2a323b;--back:#0f1419;--mark:#58a6ff}}
body{font:15px/1.45 system-ui,-apple-system,\"Segoe UI\",\"Liberation Sans\",sans-serif;color:var(--text);background:var(--back);\
max-width:1280px;margin:2em auto;padding:0 2vw}
h1{font-size:1.7em;margin:0 0 .3em;overflow-wrap:anywhere}h2{font-size:1.15em;margin:2em 0 .5em;overflow-wrap:anywhere}
p.note{color:var(--label);margin:.3em 0}
p.answer{font-size:1.15em;margin:.4em 0;padding-left:.7em;border-left:3px solid var(--mark);overflow-wrap:anywhere}
dl.facts{display:flex;flex-wrap:wrap;gap:.3em 2.2em;margin:1em 0;font-size:.92em}
dl.facts div{min-width:0}dl.facts dt{color:var(--label);font-size:.85em}dl.facts dd{margin:0;overflow-wrap:anywhere}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.92em;font-variant-numeric:tabular-nums}
th,td{padding:.28em .7em;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th{color:var(--label);font-weight:600;white-space:normal}
th:first-child,td:first-child{text-align:left;white-space:normal;overflow-wrap:break-word;min-width:7em;max-width:30em}
td.verdict{font-weight:600;white-space:normal}
svg{display:block;width:100%;height:auto;margin:.8em 0}
@page{margin:14mm}
@media print{body{max-width:none;margin:0;padding:0;font-size:10pt}.wide{overflow:visible}table{font-size:.82em}th,td{padding:.2em .45em}.screen{display:none}
h2{break-after:avoid}svg,tr,dl.facts,p.answer{break-inside:avoid}thead{display:table-header-group}}
";

/// Writes the beginning of a page for such tables and pictures, with more style; `</body></html>` ends it.
pub fn write_head(mut out: &mut (impl Write + ?Sized), title: &str, style: &str) -> fmt::Result {
    let out: &mut dyn Write = &mut out;
    writeln!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>{0}</title>\n<style>{REPORT_STYLE}{style}</style>\n\
         </head>\n<body>\n<h1>{0}</h1>",
        Xml(title)
    )
}

/// Writes facts about a measurement, each with its name, as an HTML list. It omits empty facts, and an empty list.
pub fn write_facts(mut out: &mut (impl Write + ?Sized), facts: &[(&str, &str)]) -> fmt::Result {
    let out: &mut dyn Write = &mut out;
    let known = || facts.iter().filter(|(_, fact)| !trim(fact).is_empty());
    if known().next().is_none() {
        return Ok(());
    }
    out.write_str("<dl class=\"facts\">\n")?;
    for (name, fact) in known() {
        writeln!(out, "<div><dt>{}</dt><dd>{}</dd></div>", Xml(name), Xml(fact))?;
    }
    out.write_str("</dl>\n")
}

/// Writes a one-sentence summary of a snapshot, as an HTML paragraph.
pub fn write_sentence(
    mut out: &mut (impl Write + ?Sized),
    title: &str,
    snapshot: &picollo_core::Snapshot,
    unit: Unit<'_>,
) -> fmt::Result {
    let out: &mut dyn Write = &mut out;
    let found = snapshot.summary(ValueSelection::Midpoint);
    out.write_str("<p class=\"answer\">")?;
    if !trim(title).is_empty() {
        write!(out, "<b>{}</b>: ", Xml(title))?;
    }
    let at = |position: usize| {
        let value = found.percentiles.get(position).and_then(|percentile| value(&found, percentile));
        value.map(|value| unit.integer(value))
    };
    let total = found.total_count;
    let half = if trim(title).is_empty() { "Half" } else { "half" };
    if let (Some(median), Some(most)) = (at(position_of(50.0)), at(position_of(100.0))) {
        write!(out, "{half} of {} values are at most {median}, ", Grouped::from(total))?;
        if let Some(high) = at(position_of(99.0)).filter(|_| supports(total, 99.0)) {
            write!(out, "99 of 100 at most {high}, ")?;
        }
        write!(out, "and the largest is {most}")?;
    } else {
        out.write_str("no values")?;
    }
    for (what, count) in picollo_core::seam::outside(&found) {
        if count != 0 {
            write!(out, "; {} {what}", Grouped::from(count))?;
        }
    }
    out.write_str(".</p>\n")
}

pub(super) fn write(out: &mut dyn Write, pictures: &Pictures<'_>) -> fmt::Result {
    let title = if trim(pictures.title).is_empty() { "Report" } else { pictures.title };
    write_head(out, title, "")?;
    let unit = Unit::new(pictures.unit);
    let beside = Pictures {
        length: pictures.length.min(SIDE_BY_SIDE),
        title: "",
        width: if pictures.width == 0 { SIZE.0 } else { pictures.width },
        height: if pictures.height == 0 { SIZE.1 } else { pictures.height },
        ..*pictures
    };
    if let (1, Some(only)) = (pictures.length, pictures.series().next()) {
        write_sentence(out, only.title, only.snapshot, unit)?;
    }
    write_answers(out, &beside, unit)?;
    write_facts(out, pictures.facts)?;
    let recorded = if unit.name().is_empty() { "" } else { "; recorded in " };
    let (number, name) = (pictures.length, Xml(unit.name()));
    writeln!(out, "<p class=\"note\">{number} snapshots{recorded}{name}.</p>")?;
    write_totals(out, pictures, unit)?;
    write_comparisons(out, &beside, unit)?;
    if beside.length < pictures.length {
        writeln!(out, "<p class=\"note\">Curves and percentiles below are of the first {SIDE_BY_SIDE}.</p>")?;
    }
    out.write_str("<h2>Percentiles</h2>\n")?;
    beside.write_svg(out, Picture::Percentiles)?;
    write_percentiles(out, &beside, unit)?;
    out.write_str("<h2>Density</h2>\n")?;
    beside.write_svg(out, Picture::Density)?;
    if pictures.length >= 3 {
        out.write_str("<h2>Heat map</h2>\n")?;
        Pictures { length: pictures.length, ..beside }.write_svg(out, Picture::HeatMap)?;
    }
    out.write_str(
        "<div class=\"screen\"><h2>Data</h2>\n<p class=\"note\">In this file, as JSON in the element <code>picollo-data</code>: for each \
         snapshot its summary, its buckets (lower end, upper end, count) and its native encoding in base64.</p></div>\n\
         <script type=\"application/json\" id=\"picollo-data\">\n",
    )?;
    write_data(&mut InScript(out), pictures)?;
    out.write_str("\n</script>\n</body>\n</html>\n")
}

fn summary(series: Series<'_>) -> Summary {
    series.snapshot.summary(ValueSelection::Midpoint)
}

/// A cell of a table with a number; with a dash if it is missing.
fn write_cell(out: &mut dyn Write, value: Option<Quantity>) -> fmt::Result {
    match value {
        Some(value) => write!(out, "<td>{value}</td>"),
        None => out.write_str("<td>–</td>"),
    }
}

/// A percentile, if the count supports it.
fn percentile(summary: &Summary, position: usize, unit: Unit<'_>) -> Option<Quantity> {
    let found = summary.percentiles.get(position);
    let found = found.filter(|percentile| supports(summary.total_count, percentile.rank));
    found.and_then(|percentile| value(summary, percentile)).map(|value| unit.integer(value))
}

/// The beginning of a table: the headings of its columns.
fn begin_table(out: &mut dyn Write, headings: &[&dyn Display]) -> fmt::Result {
    out.write_str("<div class=\"wide\"><table>\n<thead><tr>")?;
    headings.iter().try_for_each(|heading| write!(out, "<th>{heading}</th>"))
}

const BODY: &str = "</tr></thead>\n<tbody>\n";
const END_OF_TABLE: &str = "</tbody></table></div>\n";

/// Writes a table with a row for each snapshot, as HTML.
pub fn write_totals(out: &mut dyn Write, pictures: &Pictures<'_>, unit: Unit<'_>) -> fmt::Result {
    // Columns of zeros would not help.
    let is_partial = pictures.series().any(|series| {
        let counts = series.snapshot.counts();
        counts.underflow != 0 || counts.overflow != 0 || counts.lost != 0
    });
    let names = ["Snapshot", "Values", "Mean", "Std dev", "Min", "P50", "P90", "P99", "P99.9", "Max"];
    begin_table(out, &names.each_ref().map(|name| name as &dyn Display))?;
    write!(out, "{}{BODY}", if is_partial { "<th>Out of range</th><th>Lost</th>" } else { "" })?;
    for (at, series) in pictures.series().enumerate() {
        let found = summary(series);
        write!(out, "<tr><td>{}</td><td>{}</td>", Name(series, at), Grouped::from(found.total_count))?;
        for moment in [mean(&found), stddev(&found)] {
            write_cell(out, Some(unit.number(moment)).filter(|_| moment.is_finite()))?;
        }
        for rank in [0.0, 50.0, 90.0, 99.0, 99.9, 100.0] {
            write_cell(out, percentile(&found, position_of(rank), unit))?;
        }
        if is_partial {
            let outside = found.underflow_count.saturating_add(found.overflow_count);
            let lost = found.lost_count;
            write!(out, "<td>{}</td><td>{}</td>", Grouped::from(outside), Grouped::from(lost))?;
        }
        out.write_str("</tr>\n")?;
    }
    out.write_str(END_OF_TABLE)
}

/// Writes a table with a column for each snapshot.
fn write_percentiles(out: &mut dyn Write, pictures: &Pictures<'_>, unit: Unit<'_>) -> fmt::Result {
    begin_table(out, &[&"Percentile"])?;
    for (at, series) in pictures.series().enumerate() {
        write!(out, "<th>{}</th>", Name(series, at))?;
    }
    out.write_str(BODY)?;
    let summaries: [Option<Summary>; SIDE_BY_SIDE] =
        core::array::from_fn(|at| pictures.series().nth(at).map(summary));
    for (position, rank) in picollo_core::snapshots::SUMMARY_RANKS.into_iter().enumerate() {
        debug_assert!(position < SUMMARY_PERCENTILES);
        write!(out, "<tr><td>{}</td>", Rank(rank))?;
        for found in summaries.iter().flatten() {
            write_cell(out, percentile(found, position, unit))?;
        }
        out.write_str("</tr>\n")?;
    }
    out.write_str(END_OF_TABLE)
}

/// A probability, which is never shown as zero.
fn probability(p: f64) -> impl Display {
    from_fn(move |f| if p <= 0.0 { f.write_str("&lt; 1e-300") } else { Unit::NONE.number(p).fmt(f) })
}

/// The name of a snapshot in a sentence.
fn name<'a>(series: Series<'a>, at: usize) -> &'a str {
    let number = NUMBERS.get(at).copied().unwrap_or_default();
    if trim(series.title).is_empty() { number } else { series.title }
}

/// Compares each snapshot after the first with the first, if both have values.
fn compared<'a>(
    pictures: &'a Pictures<'_>,
) -> impl Iterator<Item = (Series<'a>, usize, Series<'a>, Option<Comparison>)> {
    let base = pictures.series().next();
    pictures.series().enumerate().skip(1).filter_map(move |(at, series)| {
        let base = base?;
        let found = compare_snapshots(base.snapshot, series.snapshot, &CompareOptions::default()).ok();
        Some((base, at, series, found))
    })
}

/// Writes the results of comparisons, in sentences.
fn write_answers(out: &mut dyn Write, pictures: &Pictures<'_>, unit: Unit<'_>) -> fmt::Result {
    for (base, at, series, found) in compared(pictures) {
        let Some(found) = found else { continue };
        out.write_str("<p class=\"answer\">")?;
        write!(Escaping(out), "{}", Answer::for_comparison(&found, name(base, 0), name(series, at), unit))?;
        out.write_str("</p>\n")?;
    }
    Ok(())
}

/// The numbers behind the sentences.
fn write_comparisons(out: &mut dyn Write, pictures: &Pictures<'_>, unit: Unit<'_>) -> fmt::Result {
    let Some(base) = pictures.series().next().filter(|_| pictures.length > 1) else { return Ok(()) };
    writeln!(out, "<h2>Comparison of medians with {}</h2>", Name(base, 0))?;
    begin_table(out, &[&"Snapshot", &"Median", &"Difference", &"From", &"To", &"Margin", &"Detectable"])?;
    write!(out, "<th>P(larger)</th><th>Mann-Whitney p</th><th>Verdict</th>{BODY}")?;
    for (_, at, series, found) in compared(pictures) {
        write!(out, "<tr><td>{}</td>", Name(series, at))?;
        let Some(found) = found else {
            out.write_str("<td colspan=\"9\">nothing to compare</td></tr>\n")?;
            continue;
        };
        write!(out, "<td>{}</td>", unit.integer(found.b.value))?;
        for difference in [found.difference, found.difference_lower, found.difference_upper] {
            write!(out, "<td>{}</td>", unit.number(difference).signed())?;
        }
        for size in [found.margin, found.smallest_detectable] {
            write!(out, "<td>{}</td>", unit.number(size))?;
        }
        writeln!(
            out,
            "<td>{}</td><td>{}</td><td class=\"verdict\">{}</td></tr>",
            Fixed::new(found.common_language, 3),
            probability(found.mann_whitney_p),
            picollo_stats::verdict_text(found.verdict, found.flags)
        )?;
    }
    out.write_str(END_OF_TABLE)?;
    if let Some(found) = compared(pictures).find_map(|(_, _, _, found)| found) {
        writeln!(
            out,
            "<p class=\"note\">From and to: the interval of the difference, at {} %. Detectable: the smallest difference that \
             would have been seen four times out of five.</p>",
            Fixed::trimmed(found.a.confidence * 100.0, 2)
        )?;
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
        write_summary(&summary(series), out, series.title, Format::Json)?;
        out.write_str(",\n\"buckets\":[")?;
        for (at, bucket) in series.snapshot.recorded_buckets().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(out, "{comma}[{},{},{}]", bucket.lower, bucket.upper, bucket.count)?;
        }
        out.write_str("],\n\"native_base64\":\"")?;
        // The native encoding can hold every snapshot, so `out` must have failed.
        series.snapshot.write_base64(Encoding::Native, out).map_err(|_| fmt::Error)?;
        out.write_str("\"}")?;
    }
    out.write_str("\n]}")
}
