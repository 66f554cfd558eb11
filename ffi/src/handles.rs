//! Handles.
//!
//! Their content is private. Functions such as _create return them, and _free takes them back.

/// A histogram: a counted reference. picollo_histogram_retain adds one, picollo_histogram_free gives one back.
/// Everything made from a histogram, such as a snapshot, holds its own reference.
pub struct picollo_histogram(());

/// Frozen counts with their totals. A snapshot holds a reference to its histogram, unless it was decoded, copied or
/// corrected.
///
/// Any number of threads may make calls that take it as const. picollo_snapshot_update, picollo_snapshot_merge (into
/// it), picollo_snapshot_subtract (from it) and picollo_snapshot_free need exclusive access.
pub struct picollo_snapshot(());

/// Reads a log of histograms (.hlog) in the caller's memory.
pub struct picollo_log_reader(());

/// A benchmark of two pieces of code.
pub struct picollo_benchmark(());

/// Performance counters of one target.
pub struct picollo_session(());

/// A histogram of doubles.
pub struct picollo_double_histogram(());

/// Counts of doubles in one interval.
///
/// Any number of threads may make calls that take it as const. picollo_double_snapshot_update,
/// picollo_double_snapshot_merge (into it) and picollo_double_snapshot_free need exclusive access.
pub struct picollo_double_snapshot(());

/// A counter of a registry or a segment.
pub struct picollo_metric_counter(());

/// A gauge of a registry.
pub struct picollo_metric_gauge(());

/// Histograms, counters and gauges with names and labels. The child of a fork can use it, unless another thread of
/// the parent was inside a call on it. In that case all calls except picollo_registry_free return PICOLLO_ERR_FORKED
/// from then on.
pub struct picollo_registry(());

/// A file in memory that holds histograms and counters for others to read. The segment and its histograms and
/// counters may be freed in any order.
pub struct picollo_segment(());

/// Collects the slowest observations of a histogram and the reasons for their slowness.
pub struct picollo_exemplars(());
