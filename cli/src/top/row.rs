//! One histogram or counter on the screen: what it was in the last interval, and before.

use std::collections::VecDeque;

use picollo_core::{CompareOptions, Comparison, Layout, Snapshot};
use picollo_native::{SegmentEntry, SegmentKind};

use crate::reader::title;
use crate::show::{RANKS, percentiles};
use crate::table::printable;

const P99: usize = 2;
/// Each distribution of the last minutes has four buckets for each power of two.
const COARSE_SCALE: u32 = 2;
/// The largest that one of them may be, with what the allocator adds.
pub(crate) const COARSE_BYTES: usize = 8 * 4 * 64 + 512;

/// What happened in an interval.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Last {
    /// Also those that were out of range.
    pub(crate) count: u64,
    pub(crate) per_second: f64,
    /// At [`RANKS`]; none where nothing was recorded in range.
    pub(crate) values: Option<[u64; RANKS.len()]>,
    pub(crate) out_of_range: u64,
    pub(crate) lost: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Row {
    pub(crate) pid: u32,
    pub(crate) entry: SegmentEntry,
    /// Process, name and labels, without anything that acts on a terminal.
    pub(crate) title: String,
    pub(crate) is_live: bool,
    /// Of an interval that is over; before there is one, since the beginning.
    pub(crate) last: Last,
    pub(crate) is_since_start: bool,
    /// Of all.
    pub(crate) total: u64,
    /// Of the last minute; `None` where nothing was recorded.
    pub(crate) p99s: VecDeque<Option<u64>>,
    /// Distributions of the last minutes.
    pub(crate) coarse: VecDeque<Box<Snapshot>>,
    /// The interval's counts.
    pub(crate) snapshot: Option<Box<Snapshot>>,
    /// Of one that ended: everything since its beginning.
    pub(crate) whole: Option<Box<Snapshot>>,
    /// What was recorded since this began to look, or between the last two marks; and where there is a mark, since then.
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

    /// Takes how much a counter has counted, and what it is at.
    pub(crate) fn count(&mut self, count: u64, now: u64, seconds: f64) {
        self.last = Last { count, per_second: per_second(count, seconds), ..Last::default() };
        self.total = now;
    }

    /// Takes what an interval has. `points` are kept of the line, `columns` of distributions.
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

    /// From now on changes are shown against what was before: since this began to look, or since the mark before.
    pub(crate) fn mark(&mut self) {
        let before = self.since.take().or_else(|| self.before.take());
        // Nothing so far is something to compare with as soon as there is more.
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

    /// How a quantile since the mark differs from before; an error where there is too little for that, and nothing without a mark.
    pub(crate) fn change(&self, quantile: f64) -> Option<picollo_core::Result<Comparison>> {
        let options = CompareOptions { quantile, ..CompareOptions::default() };
        Some(self.before.as_ref()?.compare(self.since.as_ref()?, &options))
    }

    /// No writer is left: what it had stays.
    pub(crate) fn end(&mut self, whole: Option<Box<Snapshot>>) {
        (self.is_live, self.whole) = (false, whole);
    }
}

fn per_second(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
}

/// Adds the latest, and forgets the oldest.
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
