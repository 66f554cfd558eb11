//! Histograms, counters and gauges with names and labels, for services that expose them, and the exposition formats.
//!
//! A [`Registry`] holds them and copies their counts into [`Family`]s. Encoders write families from any source.
//!
//! A bound counts an observation if it is at or above the midpoint of the observation's own bucket. So counts are exact
//! for bounds at which a bucket of the histogram ends, such as those one below a power of two. Others are off by
//! observations within the relative error of the bound. Observations out of range count as just outside of it: an
//! underflow at all bounds from there on, an overflow only at the last bound, which is infinite.
//!
//! Exponential buckets also use the midpoint of the observation's own bucket, divided by the divisor and rounded to a
//! double. The assignment is exact, because the roots of two that divide the buckets are compared in integers.

extern crate alloc;

mod distribution;
mod entries;
mod error;
mod exemplar;
mod exponential;
mod family;
mod format;
#[cfg(feature = "http")]
pub mod http;
mod keys;
mod memory;
mod name;
mod negotiate;
mod number;
mod otlp;
mod output;
mod prometheus;
mod registry;
mod roots;
mod text;

pub use distribution::{Distribution, MAX_BOUNDS};
pub use error::MetricError;
pub use exemplar::MetricExemplar;
pub use family::{Family, MetricKind, Point, Value};
pub use format::Exposition;
pub use negotiate::{Negotiated, negotiate};
pub use otlp::{Otlp, write_otlp};
pub use registry::Registry;

#[cfg(all(test, not(loom)))]
mod tests;

/// The example of the package.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Package;
