//! Summaries of doubles, in the formats of the integer ones, with the shortest digits that read back the same.

use core::fmt::{self, Display, Write, from_fn};

use super::fields::{self, write_members};
use super::line::{SHOWN, label, write_counts};
use super::markdown::{precision, write_heading};
use super::{Format, human, json};
use crate::escape::Json;
use crate::table::{self, Align, Cell, Rows};
use picollo_core::doubles::{DoubleBucket, DoubleSummary};
use picollo_core::seam::{Fixed, Grouped, NOT_AVAILABLE};

/// Writes a summary of doubles under a title. Fails only if `out` fails. See [`Format`] for the purpose of each format, and
/// [`write_c_string`](crate::write_c_string) for a buffer.
///
/// All doubles have the shortest digits that read back as the same double. Missing numbers are `n/a` or `null`.
///
/// - Markdown: the table of an integer summary, with `±` as the distance from the value to the end of its bucket,
///   rows `Not finite` and `Lost` if there are any, and the rows `Min:`, `Max:` and `Sum:`.
/// - Line: `Title: Total=1, NotFinite=2, Lost=3, Mean=4.5, P0=…`, the second and third if there are any.
/// - JSON: title, the fields of [`DoubleStatistics`](picollo_core::doubles::DoubleStatistics), and `percentiles` with the fields of
///   [`DoublePercentile`](picollo_core::doubles::DoublePercentile).
pub fn write_double_summary(
    summary: &DoubleSummary,
    mut out: &mut (impl Write + ?Sized),
    title: &str,
    format: Format,
) -> fmt::Result {
    let write = match format {
        Format::Markdown => write_markdown,
        Format::Line => write_line,
        Format::Json => write_json,
        Format::Human => return human::write(&mut out, summary, title),
    };
    write(&mut out, summary, title)
}

/// The shortest digits that read back as the same double, in scientific notation if there would be many zeros.
fn shortest(value: f64) -> impl Display {
    from_fn(move |f| match value {
        0.0 => f.write_char('0'),
        _ if value.is_nan() => f.write_str(NOT_AVAILABLE),
        _ if value.is_finite() && !(1e-5..1e16).contains(&value.abs()) => write!(f, "{value:e}"),
        // This is "inf" for the sum of large values.
        _ => write!(f, "{value}"),
    })
}

/// The largest distance of values in a percentile's bucket from its midpoint.
fn margin(bucket: &DoubleBucket) -> impl Display {
    // One of the ends is half a bucket away, and the other is closer by one last digit.
    let margin = (bucket.midpoint - bucket.lower).max(bucket.upper - bucket.midpoint);
    from_fn(move |f| write!(f, "±{}", shortest(margin)))
}

fn write_markdown(out: &mut dyn Write, summary: &DoubleSummary, title: &str) -> fmt::Result {
    write_heading(out, title)?;
    table::write(out, [Align::Left, Align::Right, Align::Left, Align::Right], &|row| rows(summary, row))
}

fn rows(summary: &DoubleSummary, row: Rows<'_>) -> fmt::Result {
    row([&"Percentile", &"Value", &"±", &"Count"])?;
    for percentile in summary.known_percentiles() {
        let margin = Cell(Some(margin(&percentile.bucket)).filter(|_| percentile.target_count != 0));
        let count = Grouped::from(percentile.target_count);
        row([&Fixed::rank(percentile.rank), &shortest(percentile.value), &margin, &count])?;
    }
    let statistics = &summary.statistics;
    for (label, count) in [("Not finite", statistics.not_finite), ("Lost", statistics.lost)] {
        if count != 0 {
            row([&label, &"", &"", &Grouped::from(count)])?;
        }
    }
    row([&"", &"", &"", &""])?;
    row([&"Mean:", &shortest(statistics.mean), &"StDev:", &shortest(statistics.stddev)])?;
    let precision = precision(statistics.relative_error);
    row([&"Precision:", &precision, &"Total:", &Grouped::from(statistics.count)])?;
    row([&"Min:", &shortest(statistics.min), &"Max:", &shortest(statistics.max)])?;
    row([&"Sum:", &shortest(statistics.sum), &"", &""])
}

fn write_line(out: &mut dyn Write, summary: &DoubleSummary, title: &str) -> fmt::Result {
    let statistics = &summary.statistics;
    let others = [("NotFinite", statistics.not_finite, false), ("Lost", statistics.lost, false)];
    write_counts(out, title, statistics.count, &others)?;
    write!(out, ", Mean={}", shortest(statistics.mean))?;
    let shown = SHOWN.iter().filter_map(|&position| summary.percentiles.get(position));
    for percentile in shown.filter(|percentile| !percentile.rank.is_nan()) {
        write!(out, ", {}={}", label(percentile.rank), shortest(percentile.value))?;
    }
    Ok(())
}

fn write_json(out: &mut dyn Write, summary: &DoubleSummary, title: &str) -> fmt::Result {
    write!(out, "{{\"title\":\"{}\",", Json(title))?;
    write_members(out, &fields::double_totals(&summary.statistics))?;
    json::write_list(out, summary.known_percentiles(), |out, percentile| {
        let bucket = fields::double_bucket(&percentile.bucket);
        let exists = percentile.target_count != 0;
        json::write_with_bucket(out, &fields::double_percentile(percentile), exists.then_some(&bucket))
    })?;
    out.write_char('}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use picollo_core::doubles::{DoubleHistogram, DoubleOptions, DoubleSnapshot};
    use std::string::{String, ToString};

    fn summary(values: &[f64]) -> DoubleSummary {
        let options = DoubleOptions { relative_error: 0.01, ..DoubleOptions::default() };
        let histogram = DoubleHistogram::new(&options).unwrap();
        histogram.record_batch(values);
        let mut snapshot = DoubleSnapshot::new();
        histogram.collect(&mut snapshot).unwrap();
        snapshot.summary()
    }

    /// Doubles in a unit have three digits, others four.
    #[test]
    fn for_people() {
        let all = summary(&[0.0012, 0.25, 3.0, f64::NAN]);
        let human = |title: &str, format| {
            let mut text = String::new();
            write_double_summary(&all, &mut text, title, format).unwrap();
            text
        };
        assert_eq!(
            human("Waits, s", Format::Human),
            "Waits: 3 values, 1 not finite\n   P50     max    mean\n252 ms  3.02 s  1.09 s"
        );
        assert_eq!(
            human("", Format::Human),
            "3 values, 1 not finite\n  P50    max  mean\n0.252  3.016  1.09"
        );
        assert_eq!(all.to_string(), "3 values, 1 not finite: P50 0.252, max 3.016, mean 1.09");
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
            assert_eq!(shortest(value).to_string(), text);
        }
    }
}
