//! What texts for programs have to say, written once: the names of fields and what stands in them, in their order. JSON and CSV visit
//! the same lists, each in its own way.

use core::fmt::{self, Display, Write};

use super::change::{percent_of_floats, percent_of_integers};
use super::{mean, selection_name, stddev, value};
#[cfg(feature = "alloc")]
use crate::doubles::{DoubleBucket, DoublePercentile, DoubleStatistics};
use crate::layout::bucket::Bucket;
use crate::statistics::compare::{Comparison, QuantileInterval};
use crate::statistics::summary::{Percentile, Summary};

/// What stands in a field.
#[derive(Clone, Copy)]
pub(super) enum Value {
    Integer(u64),
    /// An integer, where there is one.
    Maybe(Option<u64>),
    /// What is not finite does not exist.
    Double(f64),
    /// One of a few words that need no escapes.
    Word(&'static str),
}

impl Value {
    /// The same, or nothing at all.
    fn only_if(self, exists: bool) -> Value {
        if exists { self } else { Value::Maybe(None) }
    }
}

/// A field: its name, and what stands in it.
pub(super) type Field = (&'static str, Value);

/// A value as JSON: `null` where there is none.
pub(super) struct InJson(pub Value);

impl Display for InJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Word(word) => write!(f, "\"{word}\""),
            value => write(f, value, "null"),
        }
    }
}

/// A value as a field of CSV: an empty one where there is none.
pub(super) struct InCsv(pub Value);

impl Display for InCsv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Word(word) => f.write_str(word),
            value => write(f, value, ""),
        }
    }
}

/// The digits of a number: of a double the shortest that read back as the same.
fn write(f: &mut fmt::Formatter<'_>, value: Value, nothing: &str) -> fmt::Result {
    match value {
        Value::Integer(number) | Value::Maybe(Some(number)) => number.fmt(f),
        // `Debug` switches to an exponent where `Display` writes hundreds of zeros.
        Value::Double(number) if number.is_finite() => write!(f, "{number:?}"),
        _ => f.write_str(nothing),
    }
}

/// Writes fields as members of a JSON object, without its braces: commas stand between them only.
pub(super) fn write_members(out: &mut dyn Write, fields: &[Field]) -> fmt::Result {
    for (position, &(name, value)) in fields.iter().enumerate() {
        let comma = if position > 0 { "," } else { "" };
        write!(out, "{comma}\"{name}\":{}", InJson(value))?;
    }
    Ok(())
}

/// Writes the names of columns, a comma before each.
pub(super) fn write_columns(out: &mut dyn Write, names: &[Field], suffix: &str) -> fmt::Result {
    names.iter().try_for_each(|(name, _)| write!(out, ",{name}{suffix}"))
}

/// Writes what stands in them, a comma before each.
pub(super) fn write_cells(out: &mut dyn Write, fields: &[Field]) -> fmt::Result {
    fields.iter().try_for_each(|&(_, value)| write!(out, ",{}", InCsv(value)))
}

/// Beside the totals: in JSON only where it is so, in CSV 0 or 1.
pub(super) const APPROXIMATE: &str = "approximate";
/// Of a difference: Cohen's d.
pub(super) const D_VALUE: &str = "d_value";
/// Of a difference: how much more or less, in per cent.
pub(super) const CHANGE_PERCENT: &str = "change_percent";

/// What a summary says as a whole.
pub(super) fn totals(summary: &Summary) -> [Field; 11] {
    [
        ("total_count", Value::Integer(summary.total_count)),
        ("underflow_count", Value::Integer(summary.underflow_count)),
        ("overflow_count", Value::Integer(summary.overflow_count)),
        ("lost_count", Value::Integer(summary.lost_count)),
        ("mean", Value::Double(mean(summary))),
        ("stddev", Value::Double(stddev(summary))),
        ("relative_error", Value::Double(summary.relative_error)),
        ("min_trackable", Value::Integer(summary.min_trackable)),
        ("max_trackable", Value::Integer(summary.max_trackable)),
        ("timestamp_unix_nanos", Value::Integer(summary.timestamp_unix_nanos)),
        ("value_selection", Value::Word(selection_name(summary))),
    ]
}

/// How many of the totals have columns in the table of a difference: those that come first.
pub(super) const COMPARED_TOTALS: usize = 7;

/// A percentile, whatever its value is: what it is called in every text for programs.
fn of_percentile(rank: f64, value: Value, target_count: u64) -> [Field; 3] {
    [("rank", Value::Double(rank)), ("value", value), ("target_count", Value::Integer(target_count))]
}

/// A percentile of a summary.
pub(super) fn percentile(summary: &Summary, percentile: &Percentile) -> [Field; 3] {
    of_percentile(percentile.rank, Value::Maybe(value(summary, percentile)), percentile.target_count)
}

/// A percentile's bucket, where there is one.
pub(super) fn bucket(bucket: &Bucket, exists: bool) -> [Field; 6] {
    [
        ("lower", bucket.lower),
        ("upper", bucket.upper),
        ("step", bucket.step),
        ("count", bucket.count),
        ("storage_index", bucket.storage_index),
        ("logical_index", bucket.logical_index),
    ]
    .map(|(name, value)| (name, Value::Integer(value).only_if(exists)))
}

/// Per cent, where they exist.
fn percent(percent: Option<f64>) -> Value {
    Value::Double(percent.unwrap_or(f64::NAN))
}

/// How the totals of two summaries differ: in per cent.
pub(super) fn changes(a: &Summary, b: &Summary) -> [Field; 4] {
    [
        ("total_count", percent(percent_of_integers(Some(a.total_count), Some(b.total_count)))),
        ("mean", percent(percent_of_floats(mean(a), mean(b)))),
        ("stddev", percent(percent_of_floats(stddev(a), stddev(b)))),
        ("relative_error", percent(percent_of_floats(a.relative_error, b.relative_error))),
    ]
}

/// The same of two percentiles: rank, both values, and how they differ. The names are JSON's; columns are called `value_a` and
/// `value_b`.
pub(super) fn change(a: Option<u64>, b: Option<u64>, rank: f64) -> [Field; 4] {
    [
        ("rank", Value::Double(rank)),
        ("a", Value::Maybe(a)),
        ("b", Value::Maybe(b)),
        (CHANGE_PERCENT, percent(percent_of_integers(a, b))),
    ]
}

/// What a quantile's interval was asked for. Both sides were asked for the same.
pub(super) fn question(interval: &QuantileInterval) -> [Field; 2] {
    [("quantile", Value::Double(interval.quantile)), ("confidence", Value::Double(interval.confidence))]
}

/// What was found.
pub(super) fn answer(interval: &QuantileInterval) -> [Field; 11] {
    [
        ("coverage", Value::Double(interval.coverage)),
        ("total_count", Value::Integer(interval.total_count)),
        ("target_count", Value::Integer(interval.target_count)),
        ("value", Value::Integer(interval.value)),
        ("lower", Value::Integer(interval.lower)),
        ("upper", Value::Integer(interval.upper)),
        ("lower_midpoint", Value::Integer(interval.lower_midpoint)),
        ("upper_midpoint", Value::Integer(interval.upper_midpoint)),
        ("lower_count", Value::Integer(interval.lower_count)),
        ("upper_count", Value::Integer(interval.upper_count)),
        ("bucket_width", Value::Integer(interval.bucket_width)),
    ]
}

/// What a comparison says as a whole.
pub(super) fn comparison(compared: &Comparison) -> [Field; 16] {
    [
        ("difference", Value::Double(compared.difference)),
        ("difference_lower", Value::Double(compared.difference_lower)),
        ("difference_upper", Value::Double(compared.difference_upper)),
        ("bucket_width", Value::Double(compared.bucket_width)),
        ("margin", Value::Double(compared.margin)),
        ("smallest_detectable", Value::Double(compared.smallest_detectable)),
        ("mann_whitney_u", Value::Double(compared.mann_whitney_u)),
        ("mann_whitney_z", Value::Double(compared.mann_whitney_z)),
        ("mann_whitney_p", Value::Double(compared.mann_whitney_p)),
        ("common_language", Value::Double(compared.common_language)),
        ("cliffs_delta", Value::Double(compared.cliffs_delta)),
        ("ks_distance", Value::Double(compared.ks_distance)),
        ("ks_p", Value::Double(compared.ks_p)),
        ("cohens_d", Value::Double(compared.cohens_d)),
        ("verdict", Value::Word(compared.verdict().as_str())),
        ("flags", Value::Integer(compared.flags.into())),
    ]
}

/// How many observations of doubles there are. In CSV `total_count`: there `count` is the bucket's.
#[cfg(feature = "alloc")]
pub(super) fn double_count(statistics: &DoubleStatistics) -> Field {
    ("count", Value::Integer(statistics.count))
}

/// What else a summary of doubles says as a whole.
#[cfg(feature = "alloc")]
pub(super) fn double_totals(statistics: &DoubleStatistics) -> [Field; 8] {
    [
        ("not_finite", Value::Integer(statistics.not_finite)),
        ("lost", Value::Integer(statistics.lost)),
        ("sum", Value::Double(statistics.sum)),
        ("min", Value::Double(statistics.min)),
        ("max", Value::Double(statistics.max)),
        ("mean", Value::Double(statistics.mean)),
        ("stddev", Value::Double(statistics.stddev)),
        ("relative_error", Value::Double(statistics.relative_error)),
    ]
}

/// A percentile of doubles.
#[cfg(feature = "alloc")]
pub(super) fn double_percentile(percentile: &DoublePercentile) -> [Field; 3] {
    of_percentile(percentile.rank, Value::Double(percentile.value), percentile.target_count)
}

/// Its bucket.
#[cfg(feature = "alloc")]
pub(super) fn double_bucket(bucket: &DoubleBucket) -> [Field; 4] {
    [
        ("lower", Value::Double(bucket.lower)),
        ("upper", Value::Double(bucket.upper)),
        ("midpoint", Value::Double(bucket.midpoint)),
        ("count", Value::Integer(bucket.count)),
    ]
}
