//! A [`Measurement`](criterion::measurement::Measurement) for criterion.
//!
//! Criterion keeps a mean for each batch of iterations. [`Picollo`] measures for it, and also fills a histogram of
//! times and one of each counter. They contain every iteration ([`Picollo::iter_each`]). If an iteration is too short
//! to measure alone, they contain the means of batches ([`Picollo::iter`]); the table shows which. At the end it can
//! save the run, and compare it with earlier ones.
//!
//! ```no_run
//! use criterion::Criterion;
//! use picollo_criterion::Picollo;
//!
//! let picollo = Picollo::new(&["instructions", "page-faults"])?;
//! let mut criterion = Criterion::default().with_measurement(picollo.clone());
//! criterion.bench_function("sort", |bencher| {
//!     picollo.iter(bencher, "sort", || std::hint::black_box([3, 1, 2]).sort());
//! });
//! let is_slower = picollo.finish()?;          // PICOLLO_SAVE=main, PICOLLO_AGAINST=main
//! # Ok::<(), picollo_native::ExplainedError>(())
//! ```

mod formatter;
mod measured;
mod measurement;
mod memory;

pub use measured::Per;
pub use measurement::{Picollo, Started, Taken};

// This makes the example in the README a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
