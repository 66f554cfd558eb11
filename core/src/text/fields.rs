//! What texts for programs have to say, written once: the names of fields and what stands in them, in their order.

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

/// A field: its name, and what stands in it.
pub(super) type Field = (&'static str, Value);

/// Fields that are called as members of `$of` are, by what stands in them: those members, or what is given.
macro_rules! fields {
    ($of:ident: $($kind:ident { $($name:ident $(= $value:expr)?),* })*) => {
        [$($((stringify!($name), Value::$kind(fields!(@ $of $name $($value)?)))),*),*]
    };
    (@ $of:ident $name:ident) => { $of.$name };
    (@ $of:ident $name:ident $value:expr) => { $value };
}

/// A value as JSON: `null` where there is none.
pub(super) struct InJson(pub Value);

impl Display for InJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Word(word) => write!(f, "\"{word}\""),
            Value::Integer(number) | Value::Maybe(Some(number)) => number.fmt(f),
            // `Debug` switches to an exponent where `Display` writes hundreds of zeros. Its digits are the shortest that read back as the
            // same.
            Value::Double(number) if number.is_finite() => write!(f, "{number:?}"),
            _ => f.write_str("null"),
        }
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

/// What a summary says as a whole.
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

/// How the totals of two summaries differ: in per cent, where that exists.
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

/// The same of two percentiles: rank, both values, and how they differ.
pub(super) fn change(a: Option<u64>, b: Option<u64>, rank: f64) -> [Field; 4] {
    let percent = percent_of_integers(a, b).unwrap_or(f64::NAN);
    fields! { a: Double { rank = rank } Maybe { a = a, b = b } Double { change_percent = percent } }
}

/// What a quantile's interval was asked for, and what was found.
pub(super) fn interval(interval: &QuantileInterval) -> [Field; 13] {
    fields! { interval:
        Double { quantile, confidence, coverage }
        Integer {
            total_count, target_count, value, lower, upper, lower_midpoint, upper_midpoint, lower_count,
            upper_count, bucket_width
        }
    }
}

/// What a comparison says as a whole.
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

/// What a summary of doubles says as a whole.
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

/// Its bucket.
#[cfg(feature = "alloc")]
pub(super) fn double_bucket(bucket: &DoubleBucket) -> [Field; 4] {
    fields! { bucket: Double { lower, upper, midpoint } Integer { count } }
}
