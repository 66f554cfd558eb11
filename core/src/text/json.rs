//! Summaries and their differences as one compact JSON object.

use core::fmt::{self, Write};

use super::change::cohens_d;
use super::fields::{self, APPROXIMATE, CHANGE_PERCENT, D_VALUE, InJson, Value, write_members};
use super::value;
use crate::format::escape::Json;
use crate::statistics::summary::{Percentile, Summary};

pub(super) fn write(out: &mut dyn Write, summary: &Summary, title: &str) -> fmt::Result {
    write!(out, "{{\"title\":\"{}\",", Json(title))?;
    write_totals(out, summary)?;
    write_list(out, &summary.percentiles, |out, percentile| write_percentile(out, summary, percentile))?;
    out.write_char('}')
}

/// The members that describe the summary as a whole.
fn write_totals(out: &mut dyn Write, summary: &Summary) -> fmt::Result {
    write_members(out, &fields::totals(summary))?;
    if summary.is_approximate() { write!(out, ",\"{APPROXIMATE}\":true") } else { Ok(()) }
}

/// The last member: percentiles, each of which `each` writes.
pub(super) fn write_list<P>(
    out: &mut dyn Write,
    percentiles: &[P],
    each: impl Fn(&mut dyn Write, &P) -> fmt::Result,
) -> fmt::Result {
    out.write_str(",\"percentiles\":[")?;
    for (position, percentile) in percentiles.iter().enumerate() {
        out.write_str(if position > 0 { "," } else { "" })?;
        each(out, percentile)?;
    }
    out.write_char(']')
}

fn write_percentile(out: &mut dyn Write, summary: &Summary, percentile: &Percentile) -> fmt::Result {
    let bucket = fields::bucket(&percentile.bucket, true);
    let exists = value(summary, percentile).is_some();
    write_with_bucket(out, &fields::percentile(summary, percentile), exists.then_some(&bucket))
}

/// A percentile, and its bucket as an object of its own.
pub(super) fn write_with_bucket(
    out: &mut dyn Write,
    percentile: &[fields::Field],
    bucket: Option<&[fields::Field]>,
) -> fmt::Result {
    out.write_char('{')?;
    write_members(out, percentile)?;
    out.write_str(",\"bucket\":")?;
    let Some(bucket) = bucket else { return out.write_str("null}") };
    out.write_char('{')?;
    write_members(out, bucket)?;
    out.write_str("}}")
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
    write!(out, ",\"{CHANGE_PERCENT}\":{{")?;
    write_members(out, &fields::changes(a, b))?;
    write!(out, "}},\"{D_VALUE}\":{}", InJson(Value::Double(cohens_d(a, b))))?;
    out.write_str(",\"percentiles\":[")?;
    for (position, (of_a, of_b)) in a.percentiles.iter().zip(&b.percentiles).enumerate() {
        out.write_str(if position > 0 { ",{" } else { "{" })?;
        write_members(out, &fields::change(value(a, of_a), value(b, of_b), of_a.rank))?;
        out.write_char('}')?;
    }
    out.write_str("]}")
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
