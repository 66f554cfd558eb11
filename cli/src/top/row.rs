//! One histogram or counter on the screen: what it was in the last interval, and before.

use std::collections::VecDeque;

use picollo_core::{CompareOptions, Comparison, Snapshot, ValueSelection};
use picollo_native::{SegmentEntry, SegmentKind};

use super::history::{Coarse, Line};
use crate::table::printable;

pub(crate) const RANKS: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 100.0];
pub(crate) const RANK_NAMES: [&str; 5] = ["p50", "p90", "p99", "p99.9", "max"];
const P99: usize = 2;

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

/// Counts from a moment on, for comparisons.
#[derive(Debug)]
pub(crate) struct Mark {
    before: Box<Snapshot>,
    since: Box<Snapshot>,
}

#[derive(Debug)]
pub(crate) struct Row {
    /// The segment's name, and further `-2` where there are several.
    pub(crate) process: String,
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
    pub(crate) p99s: Line,
    pub(crate) coarse: VecDeque<Coarse>,
    /// The interval's counts, and what they are counted from.
    pub(crate) snapshot: Option<Box<Snapshot>>,
    /// Everything seen since this began to look, or since the mark.
    gathered: Option<Box<Snapshot>>,
    mark: Option<Mark>,
}

/// Why there is nothing to compare.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Change {
    /// No mark, or no histogram.
    None,
    TooFew,
    Found(Box<Comparison>),
}

impl Row {
    pub(crate) fn new(process: &str, pid: u32, entry: SegmentEntry) -> Row {
        let labels: Vec<String> =
            entry.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        Row {
            title: printable(&format!("{process}/{}{labels}", entry.name)),
            process: process.into(),
            pid,
            entry,
            is_live: true,
            last: Last::default(),
            is_since_start: true,
            total: 0,
            p99s: Line::default(),
            coarse: VecDeque::new(),
            snapshot: None,
            gathered: None,
            mark: None,
        }
    }

    pub(crate) fn is_counter(&self) -> bool {
        self.entry.kind == SegmentKind::Counter
    }

    /// Takes a counter's value.
    pub(crate) fn count(&mut self, now: u64, seconds: f64) {
        let count = now.wrapping_sub(if self.is_since_start { 0 } else { self.total });
        self.last = Last { count, per_second: per_second(count, seconds), ..Last::default() };
        self.total = now;
    }

    /// Takes what `snapshot` has now. `points` are kept of the line, `columns` of distributions.
    pub(crate) fn take(&mut self, seconds: f64, points: usize, columns: usize) {
        let Some(snapshot) = &self.snapshot else { return };
        let counts = snapshot.counts();
        let out_of_range = counts.underflow.saturating_add(counts.overflow);
        let count = counts.total.saturating_add(out_of_range).saturating_add(counts.lost);
        let mut values = [0; RANKS.len()];
        let is_there = counts.total > 0
            && snapshot.percentile_values(&RANKS, ValueSelection::Midpoint, &mut values).is_ok();
        self.last = Last {
            count,
            per_second: per_second(count, seconds),
            values: is_there.then_some(values),
            out_of_range,
            lost: counts.lost,
        };
        self.total = if self.is_since_start { count } else { self.total.saturating_add(count) };
        if self.is_since_start {
            return;
        }
        self.p99s.push(is_there.then_some(values[P99]), points);
        while self.coarse.len() >= columns.max(1) {
            self.coarse.pop_front();
        }
        self.coarse.push_back(Coarse::of(snapshot));
        let into = match &mut self.mark {
            Some(mark) => Some(&mut mark.since),
            None => {
                if self.gathered.is_none() {
                    self.gathered = Snapshot::boxed_alone(*snapshot.layout()).ok();
                }
                self.gathered.as_mut()
            }
        };
        if let (Some(into), true) = (into, count > 0) {
            into.merge(snapshot);
        }
    }

    /// From now on changes are shown against what was before: since this began to look, or since the mark before.
    pub(crate) fn mark(&mut self) {
        let before = match self.mark.take() {
            Some(mark) => Some(mark.since),
            // Nothing so far, which is something to compare with as soon as there is more.
            None => {
                self.gathered.take().or_else(|| Snapshot::boxed_alone(*self.snapshot.as_ref()?.layout()).ok())
            }
        };
        if let Some(before) = before
            && let Ok(since) = Snapshot::boxed_alone(*before.layout())
        {
            self.mark = Some(Mark { before, since });
        }
    }

    pub(crate) fn unmark(&mut self) {
        if let Some(mut mark) = self.mark.take() {
            mark.before.merge(&mark.since);
            self.gathered = Some(mark.before);
        }
    }

    pub(crate) fn has_mark(&self) -> bool {
        self.mark.is_some()
    }

    /// How a quantile since the mark differs from before.
    pub(crate) fn change(&self, quantile: f64) -> Change {
        let Some(mark) = &self.mark else { return Change::None };
        let options = CompareOptions { quantile, ..CompareOptions::default() };
        match mark.before.compare(&mark.since, &options) {
            Ok(found) => Change::Found(Box::new(found)),
            Err(_) => Change::TooFew,
        }
    }

    /// No writer is left, or the file cannot be read any more: what it had stays.
    pub(crate) fn end(&mut self) {
        self.is_live = false;
    }
}

fn per_second(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
}
