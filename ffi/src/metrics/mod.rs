//! Picollo: metrics for Prometheus, OpenTelemetry and similar systems.
//!
//! The first functions to know, by task:
//!
//! - Export histograms: picollo_registry_create, _add, _update, _encode.
//! - Count: picollo_registry_add_counter, picollo_metric_counter_add.
//! - Set a gauge: picollo_registry_add_gauge, picollo_metric_gauge_set.
//! - Serve them to scrapers: picollo_server_start, _stop.
//!
//! What holds for every function is at the end of picollo.h.

// The sections in the order of the header. The blank lines keep rustfmt from sorting them.

pub mod registry;

pub mod metric;

pub mod metric_exemplar;

pub mod server;
