//! Summaries of doubles, in the layouts of the integer ones, with the shortest digits that read back as the same double.

use core::fmt::{self, Display, Write};

use super::fields::{self, write_cells, write_columns, write_members};
use super::line::{Label, SHOWN};
use super::markdown::{Precision, write_heading};
use super::{Format, human, json};
use crate::doubles::{DoublePercentile, DoubleSummary};
use crate::format::escape::{Csv, Json, Line, trim};
use crate::format::number::{Fixed, Grouped, NOT_AVAILABLE};
use crate::format::table::{self, Align, Rows};

impl DoubleSummary {
    /// Writes the summary under a title. Fails only where `out` does. See [`Format`] for what the formats are for, and
    /// [`write_c_string`](super::write_c_string) for a buffer.
    ///
    /// All doubles have the shortest digits that read back as the same double. What does not exist is `n/a`, `null` or an
    /// empty field.
    ///
    /// - Markdown: the table of an integer summary, with `±` as the distance from the value to the end of its bucket, rows
    ///   `Not finite` and `Lost` where there are any, and the rows `Min:`, `Max:` and `Sum:`.
    /// - Line: `Title: Total=1, NotFinite=2, Lost=3, Mean=4.5, P0=…`, the second and third where there are any.
    /// - JSON: title, the fields of [`DoubleStatistics`](crate::DoubleStatistics), and `percentiles` with the fields of
    ///   [`DoublePercentile`].
    /// - CSV: one row per percentile with the columns title, rank, value, target_count, lower, upper, midpoint, count (these
    ///   four of the bucket), total_count, not_finite, lost, sum, min, max, mean, stddev, relative_error.
    pub fn write(&self, mut out: &mut (impl Write + ?Sized), title: &str, format: Format) -> fmt::Result {
        let write = match format {
            Format::Markdown => write_markdown,
            Format::Line => write_line,
            Format::Json => write_json,
            Format::Csv => write_csv,
            Format::Human => return human::write_doubles(&mut out, self, title, false),
            Format::Full => return human::write_doubles(&mut out, self, title, true),
        };
        write(&mut out, self, title)
    }
}

/// The summary for people, without title and unit: a few lines with `{}`, all percentiles with `{:#}`.
impl Display for DoubleSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_full = f.alternate();
        human::write_doubles(f, self, "", is_full)
    }
}

/// The shortest digits that read back as the same double: in scientific notation where there would be many zeros.
struct Shortest(f64);

impl Display for Shortest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shortest(value) = *self;
        if value.is_nan() {
            f.write_str(NOT_AVAILABLE)
        } else if value == 0.0 {
            f.write_char('0')
        } else if value.is_finite() && !(1e-5..1e16).contains(&value.abs()) {
            write!(f, "{value:e}")
        } else {
            // "inf" for the sum of large values.
            write!(f, "{value}")
        }
    }
}

/// How far the values of a percentile's bucket may lie from the middle that it reports; nothing when there is none.
struct Margin<'a>(&'a DoublePercentile);

impl Display for Margin<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bucket = &self.0.bucket;
        // One of the ends is half a bucket away, the other a last digit less.
        let margin = (bucket.midpoint - bucket.lower).max(bucket.upper - bucket.midpoint);
        if self.0.target_count == 0 { Ok(()) } else { write!(f, "±{}", Shortest(margin)) }
    }
}

fn write_markdown(out: &mut dyn Write, summary: &DoubleSummary, title: &str) -> fmt::Result {
    write_heading(out, title)?;
    table::write(out, [Align::Left, Align::Right, Align::Left, Align::Right], &|row| rows(summary, row))
}

fn rows(summary: &DoubleSummary, row: Rows<'_>) -> fmt::Result {
    row([&"Percentile", &"Value", &"±", &"Count"])?;
    for percentile in &summary.percentiles {
        let count = Grouped::from(percentile.target_count);
        row([&Fixed::rank(percentile.rank), &Shortest(percentile.value), &Margin(percentile), &count])?;
    }
    let statistics = &summary.statistics;
    for (label, count) in [("Not finite", statistics.not_finite), ("Lost", statistics.lost)] {
        if count != 0 {
            row([&label, &"", &"", &Grouped::from(count)])?;
        }
    }
    row([&"", &"", &"", &""])?;
    row([&"Mean:", &Shortest(statistics.mean), &"StDev:", &Shortest(statistics.stddev)])?;
    let precision = Precision(statistics.relative_error);
    row([&"Precision:", &precision, &"Total:", &Grouped::from(statistics.count)])?;
    row([&"Min:", &Shortest(statistics.min), &"Max:", &Shortest(statistics.max)])?;
    row([&"Sum:", &Shortest(statistics.sum), &"", &""])
}

fn write_line(out: &mut dyn Write, summary: &DoubleSummary, title: &str) -> fmt::Result {
    if !trim(title).is_empty() {
        write!(out, "{}: ", Line(title))?;
    }
    let statistics = &summary.statistics;
    write!(out, "Total={}", Grouped::from(statistics.count))?;
    for (label, count) in [("NotFinite", statistics.not_finite), ("Lost", statistics.lost)] {
        if count != 0 {
            write!(out, ", {label}={}", Grouped::from(count))?;
        }
    }
    write!(out, ", Mean={}", Shortest(statistics.mean))?;
    for percentile in SHOWN.iter().filter_map(|&position| summary.percentiles.get(position)) {
        write!(out, ", {}={}", Label(percentile.rank), Shortest(percentile.value))?;
    }
    Ok(())
}

fn write_json(out: &mut dyn Write, summary: &DoubleSummary, title: &str) -> fmt::Result {
    write!(out, "{{\"title\":\"{}\",", Json(title))?;
    write_members(out, &[fields::double_count(&summary.statistics)])?;
    out.write_char(',')?;
    write_members(out, &fields::double_totals(&summary.statistics))?;
    json::write_list(out, &summary.percentiles, |out, percentile| {
        let bucket = fields::double_bucket(&percentile.bucket);
        let exists = percentile.target_count != 0;
        json::write_with_bucket(out, &fields::double_percentile(percentile), exists.then_some(&bucket))
    })?;
    out.write_char('}')
}

fn write_csv(out: &mut dyn Write, summary: &DoubleSummary, title: &str) -> fmt::Result {
    let (_, count) = fields::double_count(&summary.statistics);
    // `count` is the bucket's.
    let whole = ([("total_count", count)], fields::double_totals(&summary.statistics));
    let [first, ..] = &summary.percentiles;
    out.write_str("title")?;
    write_columns(out, &fields::double_percentile(first), "")?;
    write_columns(out, &fields::double_bucket(&first.bucket), "")?;
    write_columns(out, &whole.0, "")?;
    write_columns(out, &whole.1, "")?;
    out.write_char('\n')?;
    for percentile in &summary.percentiles {
        write!(out, "{}", Csv(title))?;
        write_cells(out, &fields::double_percentile(percentile))?;
        write_cells(out, &fields::double_bucket(&percentile.bucket))?;
        write_cells(out, &whole.0)?;
        write_cells(out, &whole.1)?;
        out.write_char('\n')?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doubles::{DoubleHistogram, DoubleOptions, DoubleSnapshot};
    use serde_json::Value;
    use std::string::{String, ToString};
    use std::vec::Vec;

    fn summary(values: &[f64]) -> DoubleSummary {
        let options = DoubleOptions { relative_error: 0.01, ..DoubleOptions::default() };
        let histogram = DoubleHistogram::new(&options).unwrap();
        histogram.record_batch(values);
        let mut snapshot = DoubleSnapshot::new();
        histogram.collect(&mut snapshot).unwrap();
        snapshot.summary()
    }

    fn text(summary: &DoubleSummary, format: Format) -> String {
        let mut text = String::new();
        summary.write(&mut text, "T, \"x\"", format).unwrap();
        text
    }

    #[test]
    fn table() {
        let mut values: Vec<f64> = (1..=100).map(|i| f64::from(i) * 0.5).collect();
        values.extend([f64::NAN, -3.0e-7, 0.0]);
        let text = text(&summary(&values), Format::Markdown);
        let expected = "\
##### T, \"x\"
| Percentile |                 Value | ±                     |              Count |
| :--------- | --------------------: | :-------------------- | -----------------: |
| 0          | -2.998858690261841e-7 | ±1.862645149230957e-9 |                  1 |
| 1          |                     0 | ±0                    |                  2 |
| 5          |              2.015625 | ±0.015625             |                  6 |
…
| 100        |                 50.25 | ±0.25                 |                102 |
| Not finite |                       |                       |                  1 |
|            |                       |                       |                    |
| Mean:      |     24.89786304853053 | StDev:                | 14.797813841596847 |
| Precision: |               0.7813% | Total:                |                102 |
| Min:       | -2.998858690261841e-7 | Max:                  |              50.25 |
| Sum:       |     2539.582030950114 |                       |                    |
";
        let (start, end) = expected.split_once("…\n").unwrap();
        assert!(text.starts_with(start) && text.ends_with(end), "{text}");
        assert_eq!(text.lines().count(), 1 + 2 + 16 + 6);
    }

    /// Of doubles in a unit: three digits. Of others four.
    #[test]
    fn for_people() {
        let all = summary(&[0.0012, 0.25, 3.0, f64::NAN]);
        let human = |title: &str, format| {
            let mut text = String::new();
            all.write(&mut text, title, format).unwrap();
            text
        };
        assert_eq!(
            human("Waits, s", Format::Human),
            "Waits: 3 values, 1 not finite\n   P50     max    mean\n252 ms  3.02 s  1.09 s"
        );
        assert_eq!(human("", Format::Human), all.to_string());
        let full = human("", Format::Full);
        assert!(full.contains("\nP50         0.252  0.001953      2\n") && full.ends_with("%"), "{full}");
    }

    #[test]
    fn line() {
        let all = [-1.0, f64::INFINITY, 1e300, 0.25];
        assert_eq!(
            text(&summary(&all), Format::Line),
            "T, \"x\": Total=3, NotFinite=1, Mean=3.3310244787203296e299, P0=-1.0078125, P25=-1.0078125, \
             P50=0.251953125, P90=9.993073436160989e299, P95=9.993073436160989e299, P99=9.993073436160989e299, \
             P999=9.993073436160989e299, P100=9.993073436160989e299"
        );
        assert_eq!(
            text(&summary(&[]), Format::Line),
            "T, \"x\": Total=0, Mean=n/a, P0=n/a, P25=n/a, P50=n/a, P90=n/a, P95=n/a, P99=n/a, P999=n/a, P100=n/a"
        );
    }

    #[test]
    fn json() {
        let value: Value = serde_json::from_str(&text(&summary(&[3.0, 1e-310]), Format::Json)).unwrap();
        assert_eq!((value["title"].as_str(), value["count"].as_u64()), (Some("T, \"x\""), Some(2)));
        assert_eq!(value["max"].as_f64(), Some(3.015625));
        let p100 = &value["percentiles"][15];
        assert_eq!(p100["bucket"]["lower"].as_f64(), Some(3.0));
        assert_eq!(p100["bucket"]["midpoint"], p100["value"]);
        let empty: Value = serde_json::from_str(&text(&summary(&[]), Format::Json)).unwrap();
        assert_eq!((&empty["mean"], &empty["percentiles"][0]["bucket"]), (&Value::Null, &Value::Null));
        assert_eq!(empty["sum"].as_f64(), Some(0.0));
        let huge: Value = serde_json::from_str(&text(&summary(&[f64::MAX; 3]), Format::Json)).unwrap();
        assert_eq!(huge["sum"], Value::Null, "infinite");
    }

    #[test]
    fn csv() {
        for (values, count) in [(&[2.0, 3.0][..], 2), (&[], 0)] {
            let text = text(&summary(values), Format::Csv);
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(lines.len(), 17);
            let columns = lines[0].split(',').count();
            for line in &lines[1..] {
                // The quoted title has a comma.
                let line = line.strip_prefix("\"T, \"\"x\"\"\",").unwrap();
                let fields: Vec<&str> = line.split(',').collect();
                assert_eq!((fields.len(), fields[7]), (columns - 1, count.to_string().as_str()));
            }
        }
    }

    #[test]
    fn digits() {
        for (value, text) in [
            (0.1, "0.1"),
            (-0.0, "0"),
            (1e15, "1000000000000000"),
            (1e16, "1e16"),
            (1e-5, "0.00001"),
            (9.5e-6, "9.5e-6"),
            (-5e-324, "-5e-324"),
            (f64::NAN, "n/a"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(Shortest(value).to_string(), text);
        }
    }
}
