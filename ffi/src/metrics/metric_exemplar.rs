//! Exemplars: observations that are written with a metric and lead further, for example to a trace.
//!
//!     picollo_metric_exemplar slowest = {0};
//!     slowest.value = nanoseconds;                (as recorded: divided as the metric is)
//!     slowest.unix_nanos = when;
//!     memcpy(slowest.trace_id, trace_id, sizeof slowest.trace_id);
//!     picollo_registry_set_exemplars(registry, id, &slowest, 1, NULL);
//!
//! OpenMetrics has the latest in each bucket. Prometheus' Protocol Buffers have these and, in native histograms, all
//! that have a time. OTLP has all of them, and Prometheus' older text has no exemplars.

use picollo_export::MetricExemplar;

use crate::argument::slice;
use crate::failure::Failure;
use crate::guard::exported;
use crate::registry::{explain, picollo_label, picollo_registry, read_labels, with};
use crate::status::{picollo_error, picollo_status};

/// An observation that stands for others. Fields that are zero are left out. The names and values of its labels have
/// at most 128 characters together, which is the standard's limit. A trace's identifier takes 40 of them and a span's
/// 23.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_metric_exemplar {
    /// The value as recorded. It is divided like the metric's values.
    pub value: f64,
    /// Time of the observation, in nanoseconds since 1970; 0 if unknown.
    pub unix_nanos: u64,
    /// The trace, as in W3C's traceparent; written as the label trace_id.
    pub trace_id: [u8; 16],
    /// The span in the trace; written as the label span_id.
    pub span_id: [u8; 8],
    /// Further labels, with other names.
    pub labels: *const picollo_label,
    /// Number of labels.
    pub labels_length: usize,
}

exported! { explained(error)
/// Replaces the exemplars that are written with a metric. Everything is copied.
///
/// Requires: id is that of a histogram or counter; exemplars is an array in any order; a length of 0 removes all.
/// Returns: PICOLLO_ERR_INVALID_ARGUMENT, with nothing changed, for an unknown id, a value that is not finite, and
///   labels that violate picollo_label, are repeated, or are too long; PICOLLO_ERR_UNSUPPORTED for gauges, which have
///   no exemplars.
/// Cost: allocates copies of its arguments; every write of the metric searches them for each bound.
fn picollo_registry_set_exemplars(
    registry: *mut picollo_registry,
    id: u64,
    exemplars: *const picollo_metric_exemplar,
    length: usize,
    error: *mut picollo_error,
) -> picollo_status {
    let mut copies = Vec::new();
    let given = slice(exemplars, length)?;
    copies.try_reserve_exact(length).map_err(|_| Failure::OUT_OF_MEMORY)?;
    for one in given {
        let labels = read_labels(one.labels, one.labels_length)?;
        copies.push(MetricExemplar::with_trace(one.value, one.unix_nanos, one.trace_id, one.span_id, &labels).map_err(explain)?);
    }
    with(registry, |registry| registry.set_exemplars(id, copies).map_err(explain))
}
}
