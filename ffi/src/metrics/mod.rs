//! `picollo_metrics.h`.

// The order of the header; blank lines keep it.
pub mod registry;

pub mod metric;

pub mod metric_exemplar;
