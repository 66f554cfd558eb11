//! Summaries and their differences as CSV: a header, then one row per percentile.
//!
//! Every row repeats what belongs to the summary as a whole, so that the tables of many summaries can be concatenated,
//! filtered and grouped without looking at two kinds of rows.

use core::fmt::{self, Display, Write};

use super::change::{cohens_d, percent_of_floats, percent_of_integers};
use super::{mean, selection_name, stddev, value};
use crate::format::escape::Csv;
use crate::layout::bucket::Bucket;
use crate::statistics::summary::Summary;

/// A double or an empty field.
pub(super) struct Number(pub Option<f64>);

impl Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(value) if value.is_finite() => write!(f, "{value:?}"),
            _ => Ok(()),
        }
    }
}

/// An integer or an empty field.
struct Integer(Option<u64>);

impl Display for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |value| value.fmt(f))
    }
}

pub(super) fn write(out: &mut dyn Write, summary: &Summary, title: &str) -> fmt::Result {
    out.write_str(
        "title,rank,value,target_count,lower,upper,step,count,storage_index,logical_index,total_count,underflow_count,\
         overflow_count,lost_count,mean,stddev,relative_error,min_trackable,max_trackable,timestamp_unix_nanos,\
         value_selection,approximate\n",
    )?;
    for percentile in &summary.percentiles {
        let value = value(summary, percentile);
        let of_bucket = |of: fn(&Bucket) -> u64| Integer(value.map(|_| of(&percentile.bucket)));
        write!(
            out,
            "{},{},{},{},{},{},{},{},{},{}",
            Csv(title),
            Number(Some(percentile.rank)),
            Integer(value),
            percentile.target_count,
            of_bucket(|bucket| bucket.lower),
            of_bucket(|bucket| bucket.upper),
            of_bucket(|bucket| bucket.step),
            of_bucket(|bucket| bucket.count),
            of_bucket(|bucket| bucket.storage_index),
            of_bucket(|bucket| bucket.logical_index),
        )?;
        writeln!(
            out,
            ",{},{},{},{},{},{},{},{},{},{},{},{}",
            summary.total_count,
            summary.underflow_count,
            summary.overflow_count,
            summary.lost_count,
            Number(Some(mean(summary))),
            Number(Some(stddev(summary))),
            Number(Some(summary.relative_error)),
            summary.min_trackable,
            summary.max_trackable,
            summary.timestamp_unix_nanos,
            selection_name(summary),
            u8::from(summary.is_approximate()),
        )?;
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
    out.write_str(
        "title,name_a,name_b,rank,value_a,value_b,change_percent,total_count_a,total_count_b,underflow_count_a,\
         underflow_count_b,overflow_count_a,overflow_count_b,lost_count_a,lost_count_b,mean_a,mean_b,\
         mean_change_percent,stddev_a,stddev_b,stddev_change_percent,relative_error_a,relative_error_b,approximate_a,\
         approximate_b,d_value\n",
    )?;
    for (of_a, of_b) in a.percentiles.iter().zip(&b.percentiles) {
        let (value_a, value_b) = (value(a, of_a), value(b, of_b));
        write!(
            out,
            "{},{},{},{},{},{},{}",
            Csv(title),
            Csv(name_a),
            Csv(name_b),
            Number(Some(of_a.rank)),
            Integer(value_a),
            Integer(value_b),
            Number(percent_of_integers(value_a, value_b)),
        )?;
        for (of_a, of_b) in [
            (a.total_count, b.total_count),
            (a.underflow_count, b.underflow_count),
            (a.overflow_count, b.overflow_count),
            (a.lost_count, b.lost_count),
        ] {
            write!(out, ",{of_a},{of_b}")?;
        }
        for (of_a, of_b) in [(mean(a), mean(b)), (stddev(a), stddev(b))] {
            let change = percent_of_floats(of_a, of_b);
            write!(out, ",{},{},{}", Number(Some(of_a)), Number(Some(of_b)), Number(change))?;
        }
        writeln!(
            out,
            ",{},{},{},{},{}",
            Number(Some(a.relative_error)),
            Number(Some(b.relative_error)),
            u8::from(a.is_approximate()),
            u8::from(b.is_approximate()),
            Number(Some(cohens_d(a, b))),
        )?;
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
