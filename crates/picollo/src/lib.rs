//! Histograms that record in about a nanosecond, and everything that reads them.
//!
//! ```
//! use picollo::{Options, SharedHistogram};
//!
//! let latency = SharedHistogram::create(&Options::default())?; // all values, 0.1 %, any number of threads
//! for value in 0..100_000 {
//!     latency.record(value); // never fails, waits or allocates
//! }
//! println!("{}", latency.summary()?);
//! # Ok::<(), picollo::Error>(())
//! ```
//!
//! The root is that of `picollo_core`: histograms, snapshots, percentiles and summaries; and in modules counters,
//! histograms of doubles, and what fewer programs need. Each feature adds a module, which is a separate crate:
//!
//! | feature | module | for |
//! |---|---|---|
//! | `text` | `text` | tables, JSON, SVG and HTML |
//! | `stats` | `stats` | proven differences between snapshots; figures such as instructions per cycle |
//! | `codec` | `codec` | HdrHistogram's encodings and logs |
//! | `export` | `export` | Prometheus and OpenTelemetry; with `http` a server, with `otlp` a push |
//! | `perf` | `perf`, `native` | performance counters; clocks, scopes and known work |
//! | `segment` | `segment` | histograms that other processes watch, on Linux |
//! | `bench` | `bench` | which of two functions is faster, and saved runs |
//! | `why` | `why` | slow observations and their causes, on Linux |
//!
//! Without `std`, which is a default feature, the crate has histograms in your own memory, for targets without an
//! operating system.

#![no_std]

pub use picollo_core::*;

#[cfg(feature = "bench")]
pub use picollo_bench as bench;
#[cfg(feature = "codec")]
pub use picollo_codec as codec;
#[cfg(feature = "export")]
pub use picollo_export as export;
#[cfg(feature = "perf")]
pub use picollo_native as native;
#[cfg(feature = "perf")]
pub use picollo_perf as perf;
#[cfg(all(feature = "segment", target_os = "linux"))]
pub use picollo_segment as segment;
#[cfg(feature = "stats")]
pub use picollo_stats as stats;
#[cfg(feature = "text")]
pub use picollo_text as text;
#[cfg(all(feature = "why", target_os = "linux"))]
pub use picollo_why as why;

/// The Rust example of the README, kept working.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;

/// The snippets of the page for language models, and of that on exports.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/llms.txt")]
#[doc = include_str!("../../../docs/export.md")]
pub struct Snippets;

/// The example of the package.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Package;
