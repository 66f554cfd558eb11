//! What a program publishes, interval by interval.

use std::time::Instant;

use picollo_core::{Since, Snapshot};
use picollo_native::{Error, SegmentEntry, SegmentKind, Viewer};

use crate::failure::Failure;
use crate::now_unix_nanos;
use crate::places::Places;

pub(crate) fn told(error: Error) -> Failure {
    Failure::Told(error.message().to_owned())
}

/// Name and labels as Prometheus writes them, without quotes.
pub(crate) fn title(entry: &SegmentEntry) -> String {
    if entry.labels.is_empty() {
        return entry.name.clone();
    }
    let labels: Vec<String> = entry.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
    format!("{}{{{}}}", entry.name, labels.join(","))
}

/// What was recorded in an interval.
pub(crate) enum Recorded {
    Histogram(Box<Snapshot>),
    /// How much was added, and all there is.
    Counter {
        added: u64,
        total: u64,
    },
}

/// An entry, and what was recorded in the last interval.
pub(crate) struct Followed {
    pub(crate) index: usize,
    pub(crate) entry: SegmentEntry,
    pub(crate) recorded: Recorded,
}

/// From when to when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interval {
    pub(crate) start_unix_nanos: u64,
    pub(crate) seconds: f64,
}

/// A segment that is read again and again. The first interval begins when this was made; what is published later is new from its
/// beginning.
pub(crate) struct Follower {
    places: Places,
    target: String,
    wanted: String,
    viewer: Viewer,
    pub(crate) entries: Vec<Followed>,
    /// How many entries of the segment were looked at.
    seen: usize,
    at: Instant,
    at_unix_nanos: u64,
}

impl Follower {
    /// Finds what somebody means by `target`; of its entries those with `wanted` in name or labels.
    pub(crate) fn new(places: Places, target: &str, wanted: &str) -> Result<Follower, Failure> {
        let viewer = Viewer::open(&places.find(target)?).map_err(told)?;
        let (target, wanted) = (target.to_owned(), wanted.to_owned());
        let (at, at_unix_nanos) = (Instant::now(), now_unix_nanos());
        let mut follower =
            Follower { places, target, wanted, viewer, entries: Vec::new(), seen: 0, at, at_unix_nanos };
        follower.advance()?;
        Ok(follower)
    }

    pub(crate) fn into_viewer(self) -> Viewer {
        self.viewer
    }

    /// Ends the interval and begins the next.
    pub(crate) fn advance(&mut self) -> Result<Interval, Failure> {
        // What was taken out since the interval before has been read to its end in that one.
        let viewer = &self.viewer;
        self.entries.retain(|followed| viewer.entry(followed.index).is_ok_and(|entry| !entry.is_retired));
        self.viewer.refresh().map_err(told)?;
        let (at, at_unix_nanos) = (Instant::now(), now_unix_nanos());
        for followed in &mut self.entries {
            followed.take(&mut self.viewer)?;
        }
        for index in self.seen..self.viewer.length() {
            let entry = self.viewer.entry(index).map_err(told)?.clone();
            if title(&entry).contains(&self.wanted) {
                let recorded = match entry.kind {
                    SegmentKind::Counter => Recorded::Counter { added: 0, total: 0 },
                    SegmentKind::Histogram => {
                        let first = self.viewer.snapshot(index).map_err(told)?;
                        let empty = Snapshot::boxed(*first.layout());
                        Recorded::Histogram(empty.map_err(|_| "there is too little memory for a snapshot")?)
                    }
                };
                let mut followed = Followed { index, entry, recorded };
                followed.take(&mut self.viewer)?;
                self.entries.push(followed);
            }
            self.seen = index + 1;
        }
        let interval = Interval {
            start_unix_nanos: self.at_unix_nanos,
            seconds: at.duration_since(self.at).as_secs_f64(),
        };
        (self.at, self.at_unix_nanos) = (at, at_unix_nanos);
        Ok(interval)
    }

    /// Whether somebody may still record.
    pub(crate) fn is_live(&self) -> bool {
        self.viewer.info().is_ok_and(|info| info.is_live)
    }

    /// Goes over to a segment that was made later, if there is one that lives: whether there is. All that it has belongs to the interval that
    /// has begun.
    pub(crate) fn follow_on(&mut self) -> Result<bool, Failure> {
        let Ok(path) = self.places.find(&self.target) else { return Ok(false) };
        if path == self.viewer.path() {
            return Ok(false);
        }
        let Ok(viewer) = Viewer::open(&path) else { return Ok(false) };
        if !viewer.info().is_ok_and(|info| info.is_live) {
            return Ok(false);
        }
        self.viewer = viewer;
        self.entries.clear();
        self.seen = 0;
        Ok(true)
    }
}

impl Followed {
    fn take(&mut self, viewer: &mut Viewer) -> Result<(), Failure> {
        match &mut self.recorded {
            Recorded::Histogram(snapshot) => {
                viewer.update(self.index, snapshot, Since::PreviousUpdate).map_err(told)
            }
            Recorded::Counter { added, total } => {
                let now = viewer.counter(self.index).map_err(told)?;
                *added = now.wrapping_sub(*total);
                *total = now;
                Ok(())
            }
        }
    }
}
