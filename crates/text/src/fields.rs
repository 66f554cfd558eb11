//! The contents of texts for programs, defined once: the names and values of fields, in their order.

use core::fmt::{self, Display, Write, from_fn};

use super::change::{percent_of_floats, percent_of_integers};
use super::{mean, selection_name, stddev, value};
use picollo_core::Bucket;
#[cfg(feature = "alloc")]
use picollo_core::doubles::{DoubleBucket, DoublePercentile, DoubleStatistics};
use picollo_core::{Percentile, Summary};
use picollo_stats::{Comparison, QuantileInterval};

/// The value of a field.
#[derive(Clone, Copy)]
pub(super) enum Value {
    Integer(u64),
    /// An integer, if it exists.
    Maybe(Option<u64>),
    /// A number that is not finite is missing.
    Double(f64),
    /// A word from a small set, which needs no escapes.
    Word(&'static str),
}

/// A field: its name and its value.
pub(super) type Field = (&'static str, Value);

/// Fields with the names of members of `$of`, grouped by kind. Their values are those members, or a given expression.
macro_rules! fields {
    ($of:ident: $($kind:ident { $($name:ident $(= $value:expr)?),* })*) => {
        [$($((stringify!($name), Value::$kind(fields!(@ $of $name $($value)?)))),*),*]
    };
    (@ $of:ident $name:ident) => { $of.$name };
    (@ $of:ident $name:ident $value:expr) => { $value };
}

/// A value as JSON; `null` if it is missing.
pub(super) fn in_json(value: Value) -> impl Display {
    from_fn(move |f| match value {
        Value::Word(word) => write!(f, "\"{word}\""),
        Value::Integer(number) | Value::Maybe(Some(number)) => number.fmt(f),
        // `Debug` switches to an exponent where `Display` writes hundreds of zeros. Its digits are the shortest that
        // read back as the same number.
        Value::Double(number) if number.is_finite() => write!(f, "{number:?}"),
        _ => f.write_str("null"),
    })
}

/// Writes fields as members of a JSON object, without its braces; commas are only between them.
pub(super) fn write_members(out: &mut dyn Write, fields: &[Field]) -> fmt::Result {
    for (position, &(name, value)) in fields.iter().enumerate() {
        let comma = if position > 0 { "," } else { "" };
        write!(out, "{comma}\"{name}\":{}", in_json(value))?;
    }
    Ok(())
}

/// The fields of a summary as a whole.
pub(super) fn totals(summary: &Summary) -> [Field; 11] {
    fields! { summary:
        Integer { total_count, underflow_count, overflow_count, lost_count }
        Double { mean = mean(summary), stddev = stddev(summary), relative_error }
        Integer { min_trackable, max_trackable, timestamp_unix_nanos }
        Word { value_selection = selection_name(summary) }
    }
}

pub(super) fn percentile(summary: &Summary, percentile: &Percentile) -> [Field; 3] {
    fields! { percentile: Double { rank } Maybe { value = value(summary, percentile) } Integer { target_count } }
}

pub(super) fn bucket(bucket: &Bucket) -> [Field; 6] {
    fields! { bucket: Integer { lower, upper, step, count, storage_index, logical_index } }
}

/// The differences between the totals of two summaries, in percent where that exists.
pub(super) fn changes(a: &Summary, b: &Summary) -> [Field; 4] {
    let percent = |percent: Option<f64>| percent.unwrap_or(f64::NAN);
    fields! { a:
        Double {
            total_count = percent(percent_of_integers(Some(a.total_count), Some(b.total_count))),
            mean = percent(percent_of_floats(mean(a), mean(b))),
            stddev = percent(percent_of_floats(stddev(a), stddev(b))),
            relative_error = percent(percent_of_floats(a.relative_error, b.relative_error))
        }
    }
}

/// The change of a percentile: rank, both values, and their difference.
pub(super) fn change(a: Option<u64>, b: Option<u64>, rank: f64) -> [Field; 4] {
    let percent = percent_of_integers(a, b).unwrap_or(f64::NAN);
    fields! { a: Double { rank = rank } Maybe { a = a, b = b } Double { change_percent = percent } }
}

/// The request and the result of a quantile's interval.
pub(super) fn interval(interval: &QuantileInterval) -> [Field; 13] {
    fields! { interval:
        Double { quantile, confidence, coverage }
        Integer {
            total_count, target_count, value, lower, upper, lower_midpoint, upper_midpoint, lower_count,
            upper_count, bucket_width
        }
    }
}

/// The fields of a comparison as a whole.
pub(super) fn comparison(compared: &Comparison) -> [Field; 16] {
    fields! { compared:
        Double {
            difference, difference_lower, difference_upper, bucket_width, margin, smallest_detectable,
            mann_whitney_u, mann_whitney_z, mann_whitney_p, common_language, cliffs_delta, ks_distance, ks_p,
            cohens_d
        }
        Word { verdict = compared.verdict().as_str() }
        Integer { flags = compared.flags.into() }
    }
}

/// The fields of a summary of doubles as a whole.
#[cfg(feature = "alloc")]
pub(super) fn double_totals(statistics: &DoubleStatistics) -> [Field; 9] {
    fields! { statistics:
        Integer { count, not_finite, lost } Double { sum, min, max, mean, stddev, relative_error }
    }
}

/// A percentile of doubles.
#[cfg(feature = "alloc")]
pub(super) fn double_percentile(percentile: &DoublePercentile) -> [Field; 3] {
    fields! { percentile: Double { rank, value } Integer { target_count } }
}

/// The bucket of a percentile of doubles.
#[cfg(feature = "alloc")]
pub(super) fn double_bucket(bucket: &DoubleBucket) -> [Field; 4] {
    fields! { bucket: Double { lower, upper, midpoint } Integer { count } }
}
