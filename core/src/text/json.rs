//! Summaries and their differences as one compact JSON object.

use core::fmt::{self, Display, Write};

use super::change::{cohens_d, percent_of_floats, percent_of_integers};
use super::{mean, selection_name, stddev, value};
use crate::format::escape::Json;
use crate::statistics::summary::{Percentile, Summary};

/// The shortest digits that read back as the same double; `null` where it does not exist or is not finite.
pub(super) struct Number(pub Option<f64>);

impl Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            // `Debug` switches to an exponent where `Display` writes hundreds of zeros.
            Some(value) if value.is_finite() => write!(f, "{value:?}"),
            _ => f.write_str("null"),
        }
    }
}

/// An integer or `null`.
struct Integer(Option<u64>);

impl Display for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(value) => value.fmt(f),
            None => f.write_str("null"),
        }
    }
}

pub(super) fn write(out: &mut dyn Write, summary: &Summary, title: &str) -> fmt::Result {
    write!(out, "{{\"title\":\"{}\",", Json(title))?;
    write_totals(out, summary)?;
    out.write_str(",\"percentiles\":[")?;
    for (position, percentile) in summary.percentiles.iter().enumerate() {
        write_comma(out, position)?;
        write_percentile(out, percentile, value(summary, percentile))?;
    }
    out.write_str("]}")
}

/// The members that describe the summary as a whole.
fn write_totals(out: &mut dyn Write, summary: &Summary) -> fmt::Result {
    write!(
        out,
        "\"total_count\":{},\"underflow_count\":{},\"overflow_count\":{},\"lost_count\":{},\"mean\":{},\"stddev\":{},\
         \"relative_error\":{},\"min_trackable\":{},\"max_trackable\":{},\"timestamp_unix_nanos\":{},\
         \"value_selection\":\"{}\"",
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
    )?;
    if summary.is_approximate() { out.write_str(",\"approximate\":true") } else { Ok(()) }
}

fn write_percentile(out: &mut dyn Write, percentile: &Percentile, value: Option<u64>) -> fmt::Result {
    write!(
        out,
        "{{\"rank\":{},\"value\":{},\"target_count\":{},\"bucket\":",
        Number(Some(percentile.rank)),
        Integer(value),
        percentile.target_count,
    )?;
    if value.is_none() {
        return out.write_str("null}");
    }
    let bucket = &percentile.bucket;
    write!(
        out,
        "{{\"lower\":{},\"upper\":{},\"step\":{},\"count\":{},\"storage_index\":{},\"logical_index\":{}}}}}",
        bucket.lower, bucket.upper, bucket.step, bucket.count, bucket.storage_index, bucket.logical_index,
    )
}

pub(super) fn write_diff(
    out: &mut dyn Write,
    a: &Summary,
    b: &Summary,
    title: &str,
    name_a: &str,
    name_b: &str,
) -> fmt::Result {
    write!(out, "{{\"title\":\"{}\"", Json(title))?;
    for (key, name, summary) in [("a", name_a, a), ("b", name_b, b)] {
        write!(out, ",\"{key}\":{{\"name\":\"{}\",", Json(name))?;
        write_totals(out, summary)?;
        out.write_char('}')?;
    }
    write!(
        out,
        ",\"change_percent\":{{\"total_count\":{},\"mean\":{},\"stddev\":{},\"relative_error\":{}}},\"d_value\":{}",
        Number(percent_of_integers(Some(a.total_count), Some(b.total_count))),
        Number(percent_of_floats(mean(a), mean(b))),
        Number(percent_of_floats(stddev(a), stddev(b))),
        Number(percent_of_floats(a.relative_error, b.relative_error)),
        Number(Some(cohens_d(a, b))),
    )?;
    out.write_str(",\"percentiles\":[")?;
    for (position, (of_a, of_b)) in a.percentiles.iter().zip(&b.percentiles).enumerate() {
        write_comma(out, position)?;
        let (value_a, value_b) = (value(a, of_a), value(b, of_b));
        write!(
            out,
            "{{\"rank\":{},\"a\":{},\"b\":{},\"change_percent\":{}}}",
            Number(Some(of_a.rank)),
            Integer(value_a),
            Integer(value_b),
            Number(percent_of_integers(value_a, value_b)),
        )?;
    }
    out.write_str("]}")
}

fn write_comma(out: &mut dyn Write, position: usize) -> fmt::Result {
    out.write_str(if position > 0 { "," } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::summary::SUMMARY_APPROXIMATE;
    use crate::text::{Format, example};
    use serde_json::{Value, json};
    use std::string::String;

    fn text(summary: &Summary, title: &str) -> String {
        let mut text = String::new();
        summary.write(&mut text, title, Format::Json).unwrap();
        text
    }

    #[test]
    fn worked_example() {
        let summary = example::first();
        let text = text(&summary, "say \"x\"\n");
        let start = "{\"title\":\"say \\\"x\\\"\\n\",\"total_count\":99940,\"underflow_count\":60,\"overflow_count\":0,\
             \"lost_count\":0,\"mean\":4332.90";
        assert!(text.starts_with(start), "{text}");
        assert!(!text.contains("approximate") && !text.contains(", ") && !text.contains(": "));
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["title"], "say \"x\"\n");
        assert_eq!(value["mean"].as_f64(), Some(summary.mean));
        assert_eq!(value["stddev"].as_f64(), Some(summary.stddev));
        assert_eq!(value["relative_error"], 0.0078125);
        assert_eq!(value["max_trackable"], 12_000);
        assert_eq!(value["value_selection"], "midpoint");
        assert_eq!(value["percentiles"].as_array().unwrap().len(), 16);
        let bucket = json!({
            "lower": 9088, "upper": 9215, "step": 128, "count": 386, "storage_index": 138, "logical_index": 519
        });
        let p99 = json!({ "rank": 99.0, "value": 9152, "target_count": 98941, "bucket": bucket });
        assert_eq!(value["percentiles"][11], p99);
    }

    #[test]
    fn nothing_and_extremes() {
        let value: Value = serde_json::from_str(&text(&example::empty(), "")).unwrap();
        assert_eq!(
            (&value["mean"], &value["stddev"], &value["title"]),
            (&Value::Null, &Value::Null, &json!(""))
        );
        assert_eq!(
            value["percentiles"][0],
            json!({ "rank": 0.0, "value": null, "target_count": 0, "bucket": null })
        );
        let odd = Summary {
            total_count: u64::MAX,
            mean: 1.0e300,
            stddev: f64::INFINITY,
            flags: SUMMARY_APPROXIMATE,
            value_selection: 2,
            ..example::first()
        };
        let value: Value = serde_json::from_str(&text(&odd, "")).unwrap();
        assert_eq!(value["total_count"].as_u64(), Some(u64::MAX));
        assert_eq!(value["mean"].as_f64(), Some(1.0e300));
        assert_eq!(value["stddev"], Value::Null);
        assert_eq!(value["approximate"], true);
        assert_eq!(value["value_selection"], "upper");
    }

    #[test]
    fn diff() {
        let mut text = String::new();
        example::first().write_diff(&example::second(), &mut text, "D", "x\\", "y", Format::Json).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&value["a"]["name"], &value["b"]["name"]), (&json!("x\\"), &json!("y")));
        assert_eq!(value["b"]["total_count"], 145_798);
        assert_eq!(value["percentiles"].as_array().unwrap().len(), 16);
        let change = 640.0 / 9664.0 * 100.0;
        let p999 = json!({ "rank": 99.9, "a": 9664, "b": 10304, "change_percent": change });
        assert_eq!(value["percentiles"][12], p999);
        let total = value["change_percent"]["total_count"].as_f64().unwrap();
        assert!((total - 45.8855).abs() < 1e-4);
        assert_eq!(value["change_percent"]["relative_error"], 0.0);
        assert!((value["d_value"].as_f64().unwrap() - 0.0785).abs() < 5e-5);
    }
}
