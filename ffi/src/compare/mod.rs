//! Picollo: comparisons.
//!
//! Is B faster than A, and by how much? The first functions to know, by task:
//!
//! - Compare recorded values: picollo_compare, picollo_comparison_format.
//! - Measure two pieces of code: picollo_benchmark_create, _next, _done, _format.
//! - Compute figures such as instructions per cycle: picollo_figure_compute.
//!
//! What holds for every function is at the end of picollo.h.

// The sections in the order of the header. The blank lines keep rustfmt from sorting them.

pub mod comparison;

#[cfg(feature = "std")]
pub mod benchmark;

#[cfg(feature = "std")]
pub mod figure;
