//! A layer for `tracing` that records times by span name: how long spans were open (total), entered (busy), open but
//! not entered (idle), and entered while no span inside them was on that thread (self).
//!
//! ```
//! use tracing_subscriber::layer::SubscriberExt;
//!
//! let layer = picollo_tracing::SpanTimes::new();
//! let times = layer.clone();
//! tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
//!     tracing::info_span!("request").in_scope(|| tracing::info_span!("query").in_scope(|| ()));
//! });
//! let query = times.snapshot("query", picollo_tracing::Time::Total).expect("there was one");
//! assert_eq!(query.counts().total, 1);
//! ```
//!
//! A subscriber can have only one such layer: a second would take the times of the first. A span is recorded when it
//! closes. If several threads enter it at once, busy is the time in which any had entered it, and self is the sum over
//! threads. The self time of a span excludes spans inside it on the same thread.

mod layer;
mod stack;
mod times;

pub use layer::SpanTimes;
pub use times::Time;

// This makes the example in the README a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
