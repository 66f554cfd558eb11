//! A recorder for the [`metrics`] crate: every `histogram!`, `counter!` and `gauge!` goes to Picollo, in any library.
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
//! A histogram takes doubles, but Picollo counts integers. A scale multiplies the values, and the products are rounded;
//! reading divides them again. The unit decides the scale ([`scale_of`]). Without a described unit it is 10^9, so that
//! seconds become nanoseconds. The documentation of [`scale_of`] describes the loss.

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

// This makes the example in the README a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
