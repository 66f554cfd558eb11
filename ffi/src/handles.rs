//! Handles.
//!
//! What is behind them is private. They are made by _create and the like, and given back by _free.

/// A histogram: a counted reference, which picollo_histogram_free gives back; picollo_histogram_retain makes one
/// more. Whatever is made from a histogram, such as a snapshot, holds a reference of its own, so that things may be
/// freed in any order.
pub struct picollo_histogram {
    _opaque: [u8; 0],
}

/// Frozen counts with their totals. Holds a reference to its histogram; one that was decoded or corrected has none.
///
/// Calls that take it as const may be made from any threads at once; picollo_snapshot_update, picollo_snapshot_merge
/// (into it) and picollo_snapshot_free must be alone with it.
pub struct picollo_snapshot {
    _opaque: [u8; 0],
}

/// Reads a log of histograms (.hlog) that is in the caller's memory. Not counted: it is freed once.
pub struct picollo_log_reader {
    _opaque: [u8; 0],
}

/// A benchmark of two pieces of code. Not counted: it is freed once.
pub struct picollo_benchmark {
    _opaque: [u8; 0],
}

/// Performance counters of one target. Not counted: it is freed once.
pub struct picollo_session {
    _opaque: [u8; 0],
}

/// A histogram of doubles: a counted reference, which picollo_double_histogram_free gives back.
pub struct picollo_double_histogram {
    _opaque: [u8; 0],
}

/// Counts of doubles, of one interval. Not counted: it is freed once.
///
/// Calls that take it as const may be made from any threads at once; picollo_double_snapshot_update,
/// picollo_double_snapshot_merge (into it) and picollo_double_snapshot_free must be alone with it.
pub struct picollo_double_snapshot {
    _opaque: [u8; 0],
}

/// An exact counter of many words, on the heap or in a segment. It is freed once.
pub struct picollo_striped_counter {
    _opaque: [u8; 0],
}

/// An array of histograms: a counted reference, which picollo_histogram_array_free gives back.
pub struct picollo_histogram_array {
    _opaque: [u8; 0],
}

/// A counter of a registry: a counted reference, which picollo_metric_counter_free gives back.
pub struct picollo_metric_counter {
    _opaque: [u8; 0],
}

/// A gauge of a registry: a counted reference, which picollo_metric_gauge_free gives back.
pub struct picollo_metric_gauge {
    _opaque: [u8; 0],
}

/// Histograms, counters and gauges with names and labels. Not counted: it is freed once. All calls may be made from any threads at once. In
/// the child of a fork it can be used, unless another thread of the parent was in the middle of a call with it: then all
/// calls but picollo_registry_free are refused with PICOLLO_ERR_FORKED, for ever.
pub struct picollo_registry {
    _opaque: [u8; 0],
}

/// Requests for an OpenTelemetry collector, and what it has accepted of a registry. Not counted: it is freed once. All calls may be made
/// from any threads at once; of forks the same holds as for registries.
pub struct picollo_otlp_export {
    _opaque: [u8; 0],
}

/// A file in memory that histograms and counters lie in, for others to read. Not counted: it is freed once, in any order with what it
/// gave out.
pub struct picollo_segment {
    _opaque: [u8; 0],
}

/// Reads a segment. Not counted: it is freed once.
pub struct picollo_viewer {
    _opaque: [u8; 0],
}

/// Collects the slowest observations of a histogram, and why they were slow: a counted reference, which picollo_exemplars_free gives back.
pub struct picollo_exemplars {
    _opaque: [u8; 0],
}
