//! A layer for `tracing`: of each span name how long spans were open (total), entered (busy), open but not entered (idle), and entered
//! while no span inside them was on that thread (self).
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
//! One such layer for a subscriber: a second would take the times of the first. A span is recorded when it closes. Of one that several threads have entered at once, busy is the time in which any had, and self the
//! sum over threads. What a span inside another takes is taken from the self time of the other where both are entered on one thread.

mod layer;
mod stack;
mod times;

pub use layer::SpanTimes;
pub use times::Time;

// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
