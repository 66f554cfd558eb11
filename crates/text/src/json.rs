//! Summaries and their differences as one compact JSON object.

use core::fmt::{self, Write};

use super::change::cohens_d;
use super::fields::{self, Value, in_json, write_members};
use super::{Diff, value};
use crate::escape::Json;
use picollo_core::{Percentile, Summary};

pub(super) fn write(out: &mut dyn Write, summary: &Summary, title: &str) -> fmt::Result {
    write!(out, "{{\"title\":\"{}\",", Json(title))?;
    write_totals(out, summary)?;
    write_list(out, summary.known_percentiles(), |out, percentile| {
        write_percentile(out, summary, percentile)
    })?;
    out.write_char('}')
}

/// The members for the summary as a whole.
fn write_totals(out: &mut dyn Write, summary: &Summary) -> fmt::Result {
    write_members(out, &fields::totals(summary))
}

/// The last member: percentiles, each of which `each` writes.
pub(super) fn write_list<'a, P: 'a>(
    out: &mut dyn Write,
    percentiles: impl Iterator<Item = &'a P>,
    each: impl Fn(&mut dyn Write, &P) -> fmt::Result,
) -> fmt::Result {
    out.write_str(",\"percentiles\":[")?;
    for (position, percentile) in percentiles.enumerate() {
        out.write_str(if position > 0 { "," } else { "" })?;
        each(out, percentile)?;
    }
    out.write_char(']')
}

fn write_percentile(out: &mut dyn Write, summary: &Summary, percentile: &Percentile) -> fmt::Result {
    let bucket = fields::bucket(&percentile.bucket);
    let exists = value(summary, percentile).is_some();
    write_with_bucket(out, &fields::percentile(summary, percentile), exists.then_some(&bucket))
}

/// A percentile, with its bucket as a separate object.
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

pub(super) fn write_diff(out: &mut dyn Write, diff: &Diff<'_>) -> fmt::Result {
    let Diff { a, b, title, names, .. } = *diff;
    write!(out, "{{\"title\":\"{}\"", Json(title))?;
    for (key, name, summary) in [("a", names.0, a), ("b", names.1, b)] {
        write!(out, ",\"{key}\":{{\"name\":\"{}\",", Json(name))?;
        write_totals(out, summary)?;
        out.write_char('}')?;
    }
    out.write_str(",\"change_percent\":{")?;
    write_members(out, &fields::changes(a, b))?;
    write!(out, "}},\"d_value\":{}", in_json(Value::Double(cohens_d(a, b))))?;
    out.write_str(",\"percentiles\":[")?;
    let both = a.percentiles.iter().zip(&b.percentiles);
    let both = both.filter(|(of_a, of_b)| !of_a.rank.is_nan() && !of_b.rank.is_nan());
    for (position, (of_a, of_b)) in both.enumerate() {
        out.write_str(if position > 0 { ",{" } else { "{" })?;
        write_members(out, &fields::change(value(a, of_a), value(b, of_b), of_a.rank))?;
        out.write_char('}')?;
    }
    out.write_str("]}")
}
