//! Summaries and their differences as CSV: a header, then one row per percentile.
//!
//! Every row repeats what belongs to the summary as a whole, so that the tables of many summaries can be concatenated,
//! filtered and grouped without looking at two kinds of rows.

use core::fmt::{self, Write};

use super::change::cohens_d;
use super::fields::{
    self, APPROXIMATE, COMPARED_TOTALS, D_VALUE, Field, InCsv, Value, write_cells, write_columns,
};
use super::value;
use crate::format::escape::Csv;
use crate::layout::bucket::Bucket;
use crate::statistics::summary::{Percentile, Summary};

/// Behind the name of a total: how it changed.
const CHANGE_SUFFIX: &str = "_change_percent";

/// Whether counts are estimates: 0 or 1.
fn approximate(summary: &Summary) -> Field {
    (APPROXIMATE, Value::Integer(summary.is_approximate().into()))
}

pub(super) fn write(out: &mut dyn Write, summary: &Summary, title: &str) -> fmt::Result {
    let whole = (fields::totals(summary), [approximate(summary)]);
    out.write_str("title")?;
    write_columns(out, &fields::percentile(summary, &Percentile::default()), "")?;
    write_columns(out, &fields::bucket(&Bucket::default(), false), "")?;
    write_columns(out, &whole.0, "")?;
    write_columns(out, &whole.1, "")?;
    out.write_char('\n')?;
    for percentile in &summary.percentiles {
        write!(out, "{}", Csv(title))?;
        write_cells(out, &fields::percentile(summary, percentile))?;
        write_cells(out, &fields::bucket(&percentile.bucket, value(summary, percentile).is_some()))?;
        write_cells(out, &whole.0)?;
        write_cells(out, &whole.1)?;
        out.write_char('\n')?;
    }
    Ok(())
}

/// The columns behind the percentiles' own: each total of both, and how it changed where that is told in a row.
fn compared(a: &Summary, b: &Summary, mut each: impl FnMut(Field, &str) -> fmt::Result) -> fmt::Result {
    let changes = fields::changes(a, b);
    let totals = fields::totals(a).into_iter().zip(fields::totals(b)).take(COMPARED_TOTALS);
    for (of_a, of_b) in totals.chain([(approximate(a), approximate(b))]) {
        each(of_a, "_a")?;
        each(of_b, "_b")?;
        // Of counts and precisions a reader computes it.
        let told = matches!(of_a.0, "mean" | "stddev");
        if let Some(&(name, change)) = changes.iter().find(|(name, _)| told && *name == of_a.0) {
            each((name, change), CHANGE_SUFFIX)?;
        }
    }
    each((D_VALUE, Value::Double(cohens_d(a, b))), "")
}

pub(super) fn write_diff(
    out: &mut dyn Write,
    a: &Summary,
    b: &Summary,
    title: &str,
    name_a: &str,
    name_b: &str,
) -> fmt::Result {
    out.write_str("title,name_a,name_b")?;
    for (name, _) in fields::change(None, None, 0.0) {
        let side = if matches!(name, "a" | "b") { "value_" } else { "" };
        write!(out, ",{side}{name}")?;
    }
    compared(a, b, |(name, _), suffix| write!(out, ",{name}{suffix}"))?;
    out.write_char('\n')?;
    for (of_a, of_b) in a.percentiles.iter().zip(&b.percentiles) {
        write!(out, "{},{},{}", Csv(title), Csv(name_a), Csv(name_b))?;
        write_cells(out, &fields::change(value(a, of_a), value(b, of_b), of_a.rank))?;
        compared(a, b, |(_, value), _| write!(out, ",{}", InCsv(value)))?;
        out.write_char('\n')?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::summary::SUMMARY_APPROXIMATE;
    use crate::text::{Format, example};
    use std::collections::BTreeMap;
    use std::string::String;
    use std::vec::Vec;

    /// The rows of the text as maps from column to field.
    fn rows(text: &str) -> Vec<BTreeMap<String, String>> {
        let records = example::parse_csv(text);
        let (header, rows) = records.split_first().unwrap();
        let record = |row: &Vec<String>| {
            assert_eq!(row.len(), header.len());
            header.iter().cloned().zip(row.iter().cloned()).collect()
        };
        rows.iter().map(record).collect()
    }

    #[test]
    fn worked_example() {
        let summary = Summary { flags: SUMMARY_APPROXIMATE, value_selection: 7, ..example::first() };
        let mut text = String::new();
        summary.write(&mut text, "a, \"b\"\nc", Format::Csv).unwrap();
        let rows = rows(&text);
        assert_eq!(rows.len(), 16);
        for (row, percentile) in rows.iter().zip(&summary.percentiles) {
            assert_eq!(row["title"], "a, \"b\"\nc");
            assert_eq!(row["rank"].parse(), Ok(percentile.rank));
            assert_eq!(row["value"].parse(), Ok(percentile.value));
            assert_eq!(row["mean"].parse(), Ok(summary.mean));
            assert_eq!(row["approximate"], "1");
            assert_eq!(row["value_selection"], "midpoint");
        }
        let p99 = [
            ("lower", "9088"),
            ("upper", "9215"),
            ("step", "128"),
            ("count", "386"),
            ("total_count", "99940"),
        ];
        let more =
            [("storage_index", "138"), ("logical_index", "519"), ("target_count", "98941"), ("rank", "99.0")];
        for (column, field) in p99.into_iter().chain(more) {
            assert_eq!(rows[11][column], field, "{column}");
        }
    }

    #[test]
    fn nothing_recorded() {
        let mut text = String::new();
        example::empty().write(&mut text, "", Format::Csv).unwrap();
        let row = &rows(&text)[5];
        for column in ["title", "value", "lower", "logical_index", "mean", "stddev"] {
            assert_eq!(row[column], "", "{column}");
        }
        assert_eq!((row["rank"].as_str(), row["total_count"].as_str()), ("50.0", "0"));
    }

    #[test]
    fn diff() {
        let mut text = String::new();
        example::first().write_diff(&example::second(), &mut text, "D", "x,", "y", Format::Csv).unwrap();
        let rows = rows(&text);
        assert_eq!(rows.len(), 16);
        let row = &rows[12];
        for (column, field) in [
            ("title", "D"),
            ("name_a", "x,"),
            ("name_b", "y"),
            ("rank", "99.9"),
            ("value_a", "9664"),
            ("value_b", "10304"),
            ("underflow_count_a", "60"),
            ("total_count_b", "145798"),
            ("relative_error_b", "0.0078125"),
            ("approximate_b", "0"),
        ] {
            assert_eq!(row[column], field, "{column}");
        }
        assert_eq!(row["change_percent"].parse(), Ok(640.0 / 9664.0 * 100.0));
        assert!(row["d_value"].starts_with("0.0784") || row["d_value"].starts_with("0.0785"));
        assert_eq!(row["mean_b"].parse(), Ok(example::second().mean));
    }
}
