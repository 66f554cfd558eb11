//! Handles.
//!
//! What is behind them is private. They are made by _create and the like, and given back by _free.

/// A histogram: a counted reference, which picollo_histogram_free gives back; picollo_histogram_retain makes one
/// more. Whatever is made from a histogram, such as a snapshot, holds a reference of its own, so that things may be
/// freed in any order.
pub struct picollo_histogram(());

/// Frozen counts with their totals. Holds a reference to its histogram; one that was decoded or corrected has none.
///
/// Calls that take it as const may be made from any threads at once; picollo_snapshot_update, picollo_snapshot_merge
/// (into it) and picollo_snapshot_free must be alone with it.
pub struct picollo_snapshot(());

/// Reads a log of histograms (.hlog) that is in the caller's memory.
pub struct picollo_log_reader(());

/// A benchmark of two pieces of code.
pub struct picollo_benchmark(());

/// Performance counters of one target.
pub struct picollo_session(());

/// A histogram of doubles.
pub struct picollo_double_histogram(());

/// Counts of doubles, of one interval.
///
/// Calls that take it as const may be made from any threads at once; picollo_double_snapshot_update,
/// picollo_double_snapshot_merge (into it) and picollo_double_snapshot_free must be alone with it.
pub struct picollo_double_snapshot(());

/// A counter of a registry or a segment.
pub struct picollo_metric_counter(());

/// A gauge of a registry.
pub struct picollo_metric_gauge(());

/// Histograms, counters and gauges with names and labels. All calls may be made from any threads at once. In
/// the child of a fork it can be used, unless another thread of the parent was in the middle of a call with it: then all
/// calls but picollo_registry_free are refused with PICOLLO_ERR_FORKED, for ever.
pub struct picollo_registry(());

/// A file in memory that histograms and counters lie in, for others to read. It is freed in any order with what it gave out.
pub struct picollo_segment(());

/// Collects the slowest observations of a histogram, and why they were slow.
pub struct picollo_exemplars(());
