//! Summaries and their differences as Markdown tables.

use core::fmt::{self, Display, Write};

use super::change::{Change, cohens_d};
use super::{counts_are, mean, names, stddev, value};
use crate::format::escape::{Markdown, trim};
use crate::format::number::{Fixed, Grouped, Maybe};
use crate::format::table::{self, Align, Rows};
use crate::layout::bucket::ValueSelection;
use crate::statistics::summary::{Percentile, Summary};

/// How far the values of a percentile's bucket may lie from the value that it reports; nothing when there is none.
struct Margin(Option<(ValueSelection, u64)>);

impl Display for Margin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, margin) = match self.0 {
            None => return Ok(()),
            Some((ValueSelection::Midpoint, step)) => ('±', step / 2),
            Some((ValueSelection::Lower, step)) => ('+', step),
            Some((ValueSelection::Upper, step)) => ('-', step),
        };
        write!(f, "{sign}{}", Grouped::from(margin))
    }
}

/// The relative error with a per cent sign.
pub(super) struct Precision(pub f64);

impl Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Fixed::percentage(self.0).fmt(f)?;
        f.write_str(if self.0.is_finite() { "%" } else { "" })
    }
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
    for percentile in &summary.percentiles {
        let value = value(summary, percentile);
        let margin = value.map(|_| (summary.selection(), percentile.bucket.step));
        row([
            &Fixed::rank(percentile.rank),
            &Maybe(value),
            &Margin(margin),
            &Grouped::from(percentile.target_count),
        ])?;
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
    row([&"Precision:", &Precision(summary.relative_error), &"Total:", &total])?;
    if summary.is_approximate() {
        row([&"Counts:", &counts_are(summary), &"", &""])?;
    }
    if outside.iter().any(|&(_, count)| count != 0) {
        let (min, max) = (Grouped::from(summary.min_trackable), Grouped::from(summary.max_trackable));
        row([&"Range Min:", &min, &"Max:", &max])?;
    }
    Ok(())
}

pub(super) fn write_diff(
    out: &mut dyn Write,
    a: &Summary,
    b: &Summary,
    title: &str,
    name_a: &str,
    name_b: &str,
) -> fmt::Result {
    write_diff_above(out, a, b, 0.0, title, names(name_a, name_b))
}

/// As [`write_diff`], of values that are not known where they are below the resolution: no change is shown from or to those.
pub(super) fn write_diff_above(
    out: &mut dyn Write,
    a: &Summary,
    b: &Summary,
    resolution: f64,
    title: &str,
    names: (&str, &str),
) -> fmt::Result {
    write_heading(out, title)?;
    table::write(out, [Align::Left, Align::Right, Align::Right, Align::Right], &|row| {
        diff_rows(a, b, resolution, names, row)
    })
}

/// Whether a value is less than can be told. Without a resolution any can.
pub(super) fn is_below(value: f64, resolution: f64) -> bool {
    resolution > 0.0 && value < resolution
}

/// A value, or that it is below what can be told.
pub(super) struct Level<T> {
    pub shown: T,
    pub value: f64,
    pub resolution: f64,
}

impl<T: Display> Display for Level<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if is_below(self.value, self.resolution) {
            write!(f, "<{}", Fixed::trimmed(self.resolution, 1))
        } else {
            self.shown.fmt(f)
        }
    }
}

fn diff_rows(
    a: &Summary,
    b: &Summary,
    resolution: f64,
    (name_a, name_b): (&str, &str),
    row: Rows<'_>,
) -> fmt::Result {
    let known = |change: Change, a: f64, b: f64| {
        let is_known = !is_below(a, resolution) && !is_below(b, resolution);
        if is_known { change } else { Change::of_floats(f64::NAN, 0.0) }
    };
    row([&"Percentile", &Markdown(name_a), &Markdown(name_b), &"Δ%"])?;
    for (of_a, of_b) in a.percentiles.iter().zip(&b.percentiles) {
        let (value_a, value_b) = (value(a, of_a), value(b, of_b));
        let number = |value: Option<u64>| value.map_or(f64::NAN, |value| value as f64);
        let level = |value| Level { shown: Maybe(value), value: number(value), resolution };
        let change = known(Change::of_integers(value_a, value_b), number(value_a), number(value_b));
        row([&Ranks(of_a, of_b), &level(value_a), &level(value_b), &change])?;
    }
    row([&"", &"", &"", &""])?;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let level = |value| Level { shown: Fixed::new(value, 2), value, resolution };
    let change = known(Change::of_floats(mean_a, mean_b), mean_a, mean_b);
    row([&"Mean:", &level(mean_a), &level(mean_b), &change])?;
    let (stddev_a, stddev_b) = (stddev(a), stddev(b));
    let change = known(Change::of_floats(stddev_a, stddev_b), mean_a, mean_b);
    row([&"StDev:", &Fixed::new(stddev_a, 2), &Fixed::new(stddev_b, 2), &change])?;
    let (error_a, error_b) = (a.relative_error, b.relative_error);
    row([&"Precision:", &Precision(error_a), &Precision(error_b), &Change::of_floats(error_a, error_b)])?;
    let change = Change::of_integers(Some(a.total_count), Some(b.total_count));
    row([&"Total:", &Grouped::from(a.total_count), &Grouped::from(b.total_count), &change])?;
    if a.is_approximate() || b.is_approximate() {
        row([&"Counts:", &counts_are(a), &counts_are(b), &""])?;
    }
    row([&"D-value:", &"", &"", &Fixed::new(cohens_d(a, b), 2)])
}

/// The rank of two percentiles: the same one in all summaries that this library makes.
struct Ranks<'a>(&'a Percentile, &'a Percentile);

impl Display for Ranks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ranks(a, b) = *self;
        Fixed::rank(a.rank).fmt(f)?;
        if a.rank.total_cmp(&b.rank).is_eq() { Ok(()) } else { write!(f, " / {}", Fixed::rank(b.rank)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::bucket::Bucket;
    use crate::statistics::summary::SUMMARY_APPROXIMATE;
    use crate::text::{Format, example};
    use std::string::String;

    fn table(summary: &Summary, title: &str) -> String {
        let mut text = String::new();
        summary.write(&mut text, title, Format::Markdown).unwrap();
        text
    }

    fn diff_table(a: &Summary, b: &Summary, names: (&str, &str)) -> String {
        let mut text = String::new();
        a.write_diff(b, &mut text, "Example diff", names.0, names.1, Format::Markdown).unwrap();
        text
    }

    #[test]
    fn worked_example() {
        assert_eq!(
            table(&example::first(), "Example"),
            "\
##### Example
| Percentile |    Value | ±      |    Count |
| :--------- | -------: | :----- | -------: |
| 0          |    2,008 | ±8     |        1 |
| 1          |    2,064 | ±16    |    1,000 |
| 5          |    2,288 | ±16    |    4,997 |
| 10         |    2,448 | ±16    |    9,994 |
| 25         |    2,928 | ±16    |   24,985 |
| 50         |    3,600 | ±16    |   49,970 |
| 75         |    5,472 | ±32    |   74,955 |
| 90         |    7,456 | ±32    |   89,946 |
| 92.5       |    7,840 | ±32    |   92,445 |
| 95         |    8,256 | ±64    |   94,943 |
| 97.5       |    8,768 | ±64    |   97,442 |
| 99         |    9,152 | ±64    |   98,941 |
| 99.9       |    9,664 | ±64    |   99,841 |
| 99.99      |    9,792 | ±64    |   99,931 |
| 99.999     |    9,792 | ±64    |   99,940 |
| 100        |    9,792 | ±64    |   99,940 |
| Underflow  |          |        |       60 |
|            |          |        |          |
| Mean:      | 4,332.91 | StDev: | 1,870.75 |
| Precision: |  0.7813% | Total: |   99,940 |
| Range Min: |    2,000 | Max:   |   12,000 |
"
        );
    }

    #[test]
    fn worked_diff() {
        let text = diff_table(&example::first(), &example::second(), ("Before", "After"));
        let lines: std::vec::Vec<&str> = text.lines().collect();
        let visible = [
            "##### Example diff",
            "| Percentile |   Before |    After |     Δ% |",
            "| :--------- | -------: | -------: | -----: |",
            "| 0          |    2,008 |    2,008 |   0.0% |",
            "| 99.9       |    9,664 |   10,304 |  +6.6% |",
            "| 100        |    9,792 |   10,432 |  +6.5% |",
            "|            |          |          |        |",
            "| Mean:      | 4,332.91 | 4,488.54 |  +3.6% |",
            "| StDev:     | 1,870.75 | 2,055.85 |  +9.9% |",
            "| Precision: |  0.7813% |  0.7813% |   0.0% |",
            "| Total:     |   99,940 |  145,798 | +45.9% |",
            "| D-value:   |          |          |   0.08 |",
        ];
        assert_eq!(lines.len(), 1 + 2 + 16 + 6);
        assert_eq!(lines[..4], visible[..4]);
        assert_eq!(lines[15], visible[4]);
        assert_eq!(lines[18..], visible[5..]);
        let ranks: std::vec::Vec<f64> =
            lines[3..19].iter().map(|line| line[2..12].trim().parse().unwrap()).collect();
        assert_eq!(ranks, crate::statistics::summary::SUMMARY_RANKS);
    }

    #[test]
    fn nothing_recorded() {
        let text = table(&example::empty(), "");
        assert!(text.starts_with("| Percentile |   Value | ±      | Count |\n"), "no heading: {text}");
        assert!(text.contains("| 0          |     n/a |        |     0 |\n"));
        assert!(text.contains("| 99.999     |     n/a |        |     0 |\n"));
        assert!(text.contains("| Mean:      |     n/a | StDev: |   n/a |\n| Precision: |"));
        let text = diff_table(&example::empty(), &example::first(), ("", "\n"));
        assert!(text.contains("| Percentile |  Before |    After |   Δ% |\n"), "default names: {text}");
        assert!(text.contains("| 50         |     n/a |    3,600 |  n/a |\n"), "{text}");
        assert!(text.contains("| D-value:   |         |          |  n/a |\n"));
    }

    #[test]
    fn optional_rows() {
        let mut summary = Summary { underflow_count: 0, ..example::first() };
        let rows = |summary: &Summary| {
            let text = table(summary, "T");
            let labels: std::vec::Vec<String> =
                text.lines().skip(19).map(|line| line[2..12].trim().into()).collect();
            labels.join(",")
        };
        assert_eq!(rows(&summary), ",Mean:,Precision:");
        summary.lost_count = 1;
        assert_eq!(rows(&summary), "Lost,,Mean:,Precision:");
        summary.overflow_count = 1;
        summary.flags = SUMMARY_APPROXIMATE | 0x8000_0000;
        assert_eq!(rows(&summary), "Overflow,Lost,,Mean:,Precision:,Counts:,Range Min:");
        assert!(table(&summary, "T").contains("\n| Counts:    | approximate |        |          |\n"));
        let text = diff_table(&summary, &example::first(), ("A", "B"));
        assert!(text.contains("\n| Counts:    | approximate |    exact |      |\n"), "{text}");
    }

    #[test]
    fn margins() {
        for (code, margin) in [(0, "| ±4,096 |"), (1, "| +8,192 |"), (2, "| -8,192 |"), (3, "| ±4,096 |")] {
            let mut summary = Summary { value_selection: code, ..example::first() };
            for percentile in &mut summary.percentiles {
                percentile.bucket = Bucket { step: 8_192, ..percentile.bucket };
            }
            assert!(table(&summary, "").contains(margin));
        }
    }

    #[test]
    fn hostile_names() {
        let text = diff_table(&example::first(), &example::second(), ("a|b\n", "*ä*"));
        assert!(text.contains("| Percentile |     a\\|b |    \\*ä\\* |     Δ% |\n"), "{text}");
    }
}
