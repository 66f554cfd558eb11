//! A recorder for the [`metrics`] crate: every `histogram!`, `counter!` and `gauge!` goes to Picollo, whatever library it is in.
//!
//! ```
//! let metrics = picollo_metrics::Builder::new().build()?;
//! let server = metrics.serve("127.0.0.1:0")?;
//! metrics.install()?;
//!
//! metrics::histogram!("request_seconds", "route" => "/").record(0.0123);
//! metrics::counter!("requests").increment(1);
//!
//! println!("http://{}/metrics", server.address());
//! let latency = metrics.histogram("request_seconds", &[("route", "/")]).expect("recorded above");
//! assert_eq!(latency.count(), 1);
//! assert!((latency.quantile(0.5) - 0.0123).abs() < 0.0123 * 0.01);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A histogram takes doubles; Picollo counts integers. A value is multiplied by a scale that its unit decides ([`scale_of`]; 10^9 where
//! none is described, so that seconds become nanoseconds), rounded, and divided again where it is read. What is lost by that is in
//! the documentation of [`scale_of`].

mod builder;
mod cache;
mod cells;
mod names;
mod recorder;
mod store;
mod units;

pub use builder::Builder;
pub use recorder::{Metrics, Recorded};
pub use units::scale_of;

// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
