//! `picollo_compare.h`.

// The order of the header; blank lines keep it.
pub mod comparison;

#[cfg(feature = "std")]
pub mod figure;

pub mod benchmark;
