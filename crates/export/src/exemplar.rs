//! Observations that stand for others.

use alloc::vec::Vec;

use super::error::{MetricError, refuse};
use super::family::Labels;
use super::memory::{list, push, text};

/// One observation that stands for others: its value, its time, and labels that lead further, such as `trace_id`.
#[derive(Clone, Debug)]
pub struct MetricExemplar {
    pub(super) value: f64,
    pub(super) unix_nanos: u64,
    pub(super) labels: Labels,
}

impl MetricExemplar {
    /// Makes an exemplar. The value is as recorded: its metric's divisor applies to it. A time of 0 means unknown.
    ///
    /// Refuses a value that is not finite, and labels that no metric could have. Names and values may have 128
    /// characters in total, the standard's limit.
    pub fn new(value: f64, unix_nanos: u64, labels: &[(&str, &str)]) -> Result<MetricExemplar, MetricError> {
        let characters: usize =
            labels.iter().map(|(name, value)| name.chars().count() + value.chars().count()).sum();
        if !value.is_finite() {
            refuse!("the value of an exemplar must be finite; got {value}");
        }
        if characters > 128 {
            refuse!(
                "the labels of an exemplar must have at most 128 characters, with trace_id and span_id; got \
                 {characters}"
            );
        }
        Ok(MetricExemplar { value, unix_nanos, labels: Labels::new(labels)? })
    }

    /// Like [`MetricExemplar::new`], with the identifiers of a trace and of a span in it, as in W3C's `traceparent`. They
    /// become the labels `trace_id` and `span_id`: together 63 of the 128 characters. A zero identifier is omitted.
    pub fn with_trace(
        value: f64,
        unix_nanos: u64,
        trace_id: [u8; 16],
        span_id: [u8; 8],
        labels: &[(&str, &str)],
    ) -> Result<MetricExemplar, MetricError> {
        let (trace_id, span_id) = (u128::from_be_bytes(trace_id), u64::from_be_bytes(span_id));
        let (trace, span) = (text(format_args!("{trace_id:032x}"))?, text(format_args!("{span_id:016x}"))?);
        let mut all = list(labels.iter().copied())?;
        for (name, hex, is_known) in [("trace_id", &trace, trace_id != 0), ("span_id", &span, span_id != 0)] {
            if is_known {
                push(&mut all, (name, &**hex))?;
            }
        }
        MetricExemplar::new(value, unix_nanos, &all)
    }
}

/// Divides values, and refuses those whose results are not finite.
pub(super) fn divided(
    mut exemplars: Vec<MetricExemplar>,
    divisor: f64,
) -> Result<Vec<MetricExemplar>, MetricError> {
    for exemplar in &mut exemplars {
        let value = exemplar.value;
        exemplar.value /= divisor;
        if !exemplar.value.is_finite() {
            refuse!(
                "the value of an exemplar must be finite after its division by {divisor:?}; got {value:?}"
            );
        }
    }
    Ok(exemplars)
}

/// The latest one; if several have the same time, the last of these.
pub(super) fn latest<'a>(exemplars: impl Iterator<Item = &'a MetricExemplar>) -> Option<&'a MetricExemplar> {
    exemplars.max_by_key(|exemplar| exemplar.unix_nanos)
}
