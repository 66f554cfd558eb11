//! Exemplars: observations that are written with a metric, with what leads further, such as the trace that they belong to.
//!
//!     picollo_metric_exemplar slowest = {0};
//!     slowest.value = nanoseconds;                (as recorded: divided as the metric is)
//!     slowest.unix_nanos = when;
//!     memcpy(slowest.trace_id, trace_id, sizeof slowest.trace_id);
//!     picollo_registry_set_exemplars(registry, id, &slowest, 1);
//!
//! OpenMetrics has the latest in each bucket, Prometheus' Protocol Buffers these and, in native histograms, all that have a
//! time, OTLP all of them; Prometheus' older text has none.

use picollo_core::Exemplar;

use crate::argument::slice;
use crate::failure::Failure;
use crate::guard::exported;
use crate::handles::picollo_registry;
use crate::registry::{labels_of, picollo_label, with};
use crate::status::picollo_status;

/// One observation that stands for others. Zeroes mean that there is none of it. Names and values of its labels are up to
/// 128 characters in all, the standard's limit, of which a trace's identifier takes 40 and a span's 23.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_metric_exemplar {
    /// As recorded: it is divided as the metric's values are.
    pub value: f64,
    /// When it was, in nanoseconds since 1970; 0 where that is not known.
    pub unix_nanos: u64,
    /// The trace that it belongs to, as in W3C's traceparent; written as the label trace_id.
    pub trace_id: [u8; 16],
    /// The span in it; written as the label span_id.
    pub span_id: [u8; 8],
    /// Labels beside these, with other names.
    pub labels: *const picollo_label,
    /// Number of labels.
    pub labels_length: usize,
}

exported! {
/// Sets the exemplars that are written with a metric from now on, instead of those before. All of it is copied.
///
/// Requires: id is that of a histogram or counter; exemplars leads to length of them, in any order, none of which
///   takes those away that there were.
/// Returns: PICOLLO_ERR_INVALID_ARGUMENT when there is no metric with this id, for values that are not finite, for
///   labels that are not as picollo_label says, come twice or are too long; PICOLLO_ERR_UNSUPPORTED for gauges, which
///   have none. Nothing has changed then.
/// Cost: allocates copies of what it is given; when written, each bucket at a bound looks through them.
fn picollo_registry_set_exemplars(
    registry: *mut picollo_registry,
    id: u64,
    exemplars: *const picollo_metric_exemplar,
    length: usize,
) -> picollo_status {
    let mut copies = Vec::new();
    let given = slice(exemplars, length)?;
    copies.try_reserve_exact(length).map_err(|_| Failure::OUT_OF_MEMORY)?;
    for of in given {
        let labels = labels_of(of.labels, of.labels_length)?;
        copies.push(Exemplar::with_trace(of.value, of.unix_nanos, of.trace_id, of.span_id, &labels)?);
    }
    with(registry, |registry| Ok(registry.set_exemplars(id, copies)?))
}
}
