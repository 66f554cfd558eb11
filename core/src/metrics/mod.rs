//! Histograms, counters and gauges with names and labels, for a service that exposes them, and the formats of expositions.
//!
//! A [`Registry`] holds them and takes their counts into [`Family`]s, and encoders write these, wherever they come from.
//!
//! An observation is counted at a bound when the bound is at or above the midpoint of the observation's own bucket. So counts are
//! exact for bounds at which a bucket of the histogram ends, as those one below a power of two are, and otherwise off by observations
//! that lie within the relative error of the bound. What was out of range is taken as just outside of it: what was below it is
//! counted at all bounds from there on, what was above it at none but the last, which is infinite.
//!
//! In exponential buckets too an observation is where the midpoint of its own bucket is, the first double above, below or at the
//! quotient of midpoint and divisor: exactly, as the roots of two that divide the buckets are compared in integers.

mod distribution;
mod entries;
mod exemplar;
mod exponential;
mod family;
mod format;
mod handles;
mod keys;
mod memory;
mod name;
mod negotiate;
mod number;
mod otlp;
mod otlp_export;
mod output;
mod prometheus;
mod registry;
mod roots;
mod text;

pub use distribution::{Distribution, MAX_BOUNDS};
pub use exemplar::Exemplar;
pub use family::{Family, MetricKind, Point, Value};
pub use format::Exposition;
pub use handles::{MetricCounter, MetricGauge};
pub use negotiate::{Negotiated, negotiate};
pub use otlp::{Otlp, write_otlp};
pub use otlp_export::{OtlpExport, Temporality};
pub use registry::{Metric, Registry};

#[cfg(all(test, not(loom)))]
mod tests;
