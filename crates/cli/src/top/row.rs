//! One histogram or counter on the screen: its last interval, and what came before.

use std::collections::VecDeque;

use picollo_core::{Layout, Snapshot};
use picollo_segment::{SegmentEntry, SegmentKind};
use picollo_stats::{CompareOptions, Comparison, compare_snapshots};

use crate::reader::title;
use crate::show::{RANKS, percentiles};
use crate::table::printable;

const P99: usize = 2;
/// Distributions of the last minutes have four buckets per power of two.
const COARSE_SCALE: u32 = 2;
/// Maximum size of one of them, including the allocator's overhead.
pub(crate) const COARSE_BYTES: usize = 8 * 4 * 64 + 512;

/// Values of an interval.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Last {
    /// Including values out of range.
    pub(crate) count: u64,
    pub(crate) per_second: f64,
    /// At [`RANKS`]; `None` if nothing was recorded in range.
    pub(crate) values: Option<[u64; RANKS.len()]>,
    pub(crate) out_of_range: u64,
    pub(crate) lost: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Row {
    pub(crate) pid: u32,
    pub(crate) entry: SegmentEntry,
    /// Process, name and labels, with escaped control characters.
    pub(crate) title: String,
    pub(crate) is_live: bool,
    /// The last complete interval; before there is one, everything since the beginning.
    pub(crate) last: Last,
    pub(crate) is_since_start: bool,
    /// Count since the beginning.
    pub(crate) total: u64,
    /// For the last minute; `None` if nothing was recorded.
    pub(crate) p99s: VecDeque<Option<u64>>,
    /// Distributions of the last minutes.
    pub(crate) coarse: VecDeque<Box<Snapshot>>,
    /// Counts of the interval.
    pub(crate) snapshot: Option<Box<Snapshot>>,
    /// For an ended entry: everything since its beginning.
    pub(crate) whole: Option<Box<Snapshot>>,
    /// Records from the start of watching or between the last two marks; `since` has those after a mark.
    before: Option<Box<Snapshot>>,
    since: Option<Box<Snapshot>>,
}

impl Row {
    pub(crate) fn new(process: &str, pid: u32, entry: SegmentEntry) -> Row {
        Row {
            title: printable(&format!("{process}/{}", title(&entry))),
            pid,
            entry,
            is_live: true,
            is_since_start: true,
            ..Row::default()
        }
    }

    pub(crate) fn is_counter(&self) -> bool {
        self.entry.kind == SegmentKind::Counter
    }

    /// Updates a counter with its increase and its value.
    pub(crate) fn count(&mut self, count: u64, now: u64, seconds: f64) {
        self.last = Last { count, per_second: per_second(count, seconds), ..Last::default() };
        self.total = now;
    }

    /// Adds an interval. Keeps `points` values for the line, and `columns` distributions.
    pub(crate) fn take(&mut self, snapshot: &Snapshot, seconds: f64, points: usize, columns: usize) {
        self.snapshot = snapshot.boxed_copy().ok();
        let counts = snapshot.counts();
        let out_of_range = counts.underflow.saturating_add(counts.overflow);
        let count = counts.total.saturating_add(out_of_range).saturating_add(counts.lost);
        let values = percentiles(snapshot);
        self.last =
            Last { count, per_second: per_second(count, seconds), values, out_of_range, lost: counts.lost };
        self.total = if self.is_since_start { count } else { self.total.saturating_add(count) };
        if self.is_since_start {
            return;
        }
        push(&mut self.p99s, values.map(|values| values[P99]), points);
        if let Ok(coarse) = coarse_of(snapshot) {
            push(&mut self.coarse, coarse, columns);
        }
        if count > 0 {
            if self.before.is_none() {
                self.before = empty_like(snapshot);
            }
            if let Some(into) = self.since.as_mut().or(self.before.as_mut()) {
                into.merge(snapshot);
            }
        }
    }

    /// From now on, changes are relative to what came before: since the start of watching, or since the previous mark.
    pub(crate) fn mark(&mut self) {
        let before = self.since.take().or_else(|| self.before.take());
        // An empty histogram can be compared as soon as there is more.
        self.before = before.or_else(|| empty_like(self.snapshot.as_ref()?));
        self.since = self.before.as_deref().and_then(empty_like);
    }

    pub(crate) fn unmark(&mut self) {
        if let (Some(since), Some(before)) = (self.since.take(), &mut self.before) {
            before.merge(&since);
        }
    }

    pub(crate) fn has_mark(&self) -> bool {
        self.since.is_some()
    }

    /// Change of a quantile since the mark: an error if there are too few values, `None` without a mark.
    pub(crate) fn change(&self, quantile: f64) -> Option<picollo_core::Result<Comparison>> {
        let options = CompareOptions { quantile, ..CompareOptions::default() };
        Some(compare_snapshots(self.before.as_ref()?, self.since.as_ref()?, &options))
    }

    /// Marks the entry as ended, and keeps its data.
    pub(crate) fn end(&mut self, whole: Option<Box<Snapshot>>) {
        (self.is_live, self.whole) = (false, whole);
    }
}

fn per_second(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
}

/// Adds the latest value, and drops the oldest.
fn push<T>(queue: &mut VecDeque<T>, latest: T, most: usize) {
    while queue.len() >= most.max(1) {
        queue.pop_front();
    }
    queue.push_back(latest);
}

fn empty_like(snapshot: &Snapshot) -> Option<Box<Snapshot>> {
    Snapshot::boxed_alone(*snapshot.layout()).ok()
}

fn coarse_of(snapshot: &Snapshot) -> picollo_core::Result<Box<Snapshot>> {
    let layout = snapshot.layout();
    let layout = Layout::with_scale(COARSE_SCALE, layout.min_trackable(), layout.max_trackable())?;
    let mut coarse = Snapshot::boxed_alone(layout)?;
    coarse.merge(snapshot);
    Ok(coarse)
}
