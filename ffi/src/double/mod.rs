//! `picollo_double.h`.

// The order of the header; blank lines keep it.
pub mod double_histogram;

pub mod double_snapshot;
