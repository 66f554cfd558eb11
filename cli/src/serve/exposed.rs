//! A registry that has what all live segments have.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use picollo_core::{
    Metric, MetricCounter, MetricGauge, Options, Registry, SharedHistogram, Since, Snapshot, Storage,
};
use picollo_native::{SegmentKind, Viewer};

use super::naming::{Exported, Process, Processes};
use crate::failure::Failure;
use crate::places::Places;
use crate::table::printable;

/// What is left out of an exposition, and why.
const REASONS: [&str; 2] = ["conflict", "unreadable"];
const CONFLICT: usize = 0;
const UNREADABLE: usize = 1;

/// All that is published now, in a registry.
pub(crate) struct Exposed {
    /// Who tells what is left out.
    command: &'static str,
    places: Places,
    is_native: bool,
    registry: Arc<Mutex<Registry>>,
    processes: Processes,
    segments: Vec<Segment>,
    families: HashMap<String, Family>,
    live: MetricGauge,
    left_out: Vec<MetricGauge>,
    /// What was told, so that it is told once.
    told: HashSet<String>,
}

/// What all metrics of a name have in common.
struct Family {
    kind: SegmentKind,
    unit: String,
    help: String,
    members: usize,
}

struct Segment {
    path: PathBuf,
    identity: [u64; 2],
    label: String,
    viewer: Viewer,
    entries: Vec<Entry>,
}

struct Entry {
    /// In the registry; the name is its family's.
    registered: Option<(u64, String)>,
    copy: Option<Copied>,
}

/// What is read of an entry, and where that goes.
enum Copied {
    /// The registry has the histogram, to which the snapshot adds what came.
    Histogram(Box<Snapshot>, SharedHistogram),
    Counter(u64, MetricCounter),
}

fn told(error: impl std::fmt::Display) -> Failure {
    Failure::Told(format!("the metrics cannot be made: {error}"))
}

impl Exposed {
    pub(crate) fn new(command: &'static str, places: Places, is_native: bool) -> Result<Exposed, Failure> {
        let mut registry = Registry::new();
        let help = "Segments of live processes that are read";
        let live = Metric { name: "picollo_segments", help, ..Metric::default() };
        let (_, live) = registry.add_gauge(&live).map_err(told)?;
        let mut left_out = Vec::new();
        for reason in REASONS {
            let labels = [("reason", reason)];
            let help = "Histograms and counters that are not among these metrics: they have the name, but not the kind or unit of \
                        others, or cannot be read";
            let metric = Metric { name: "picollo_left_out", help, labels: &labels, ..Metric::default() };
            left_out.push(registry.add_gauge(&metric).map_err(told)?.1);
        }
        Ok(Exposed {
            command,
            places,
            is_native,
            registry: Arc::new(Mutex::new(registry)),
            processes: Processes::default(),
            segments: Vec::new(),
            families: HashMap::new(),
            live,
            left_out,
            told: HashSet::new(),
        })
    }

    pub(crate) fn registry(&self) -> Arc<Mutex<Registry>> {
        self.registry.clone()
    }

    /// Brings the registry to what is published now. What is left out is told on standard error, once.
    pub(crate) fn refresh(&mut self) -> Result<(), Failure> {
        let shared = self.registry.clone();
        let mut registry = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let mut left_out = [0usize; REASONS.len()];
        let mut listed = Vec::new();
        for one in self.places.list()? {
            match one.info {
                Ok(info) if info.is_live => listed.push((one.path, info)),
                Ok(_) => {}
                Err(error) => self.leave_out(UNREADABLE, error.message().to_owned(), &mut left_out),
            }
        }
        // In the order in which they began, so that numbers do not depend on names of files.
        listed.sort_by_key(|(_, info)| (info.created_unix_nanos, info.pid));
        let is_listed = |segment: &Segment| {
            listed.iter().any(|(path, info)| *path == segment.path && info.identity == segment.identity)
        };
        for mut segment in self.segments.extract_if(.., |segment| !is_listed(segment)).collect::<Vec<_>>() {
            for entry in &mut segment.entries {
                take_out(&mut registry, &mut self.families, entry);
            }
        }
        let present: Vec<Process> = listed.iter().map(|(path, info)| Process::of(path, info)).collect();
        self.processes.keep(|process| present.contains(process));
        for (path, info) in listed {
            if self.segments.iter().any(|segment| segment.path == path) {
                continue;
            }
            let process = Process::of(&path, &info);
            let label = self.processes.label(&info.program, process);
            match Viewer::open(&path) {
                Ok(viewer) => self.segments.push(Segment {
                    path,
                    identity: info.identity,
                    label,
                    viewer,
                    entries: Vec::new(),
                }),
                Err(error) => self.leave_out(UNREADABLE, error.message().to_owned(), &mut left_out),
            }
        }
        let mut segments = std::mem::take(&mut self.segments);
        for segment in &mut segments {
            if let Err(error) = segment.viewer.refresh() {
                self.leave_out(UNREADABLE, error.message().to_owned(), &mut left_out);
            }
            segment.entries.resize_with(segment.viewer.length(), || Entry { registered: None, copy: None });
            for index in 0..segment.entries.len() {
                if let Err((reason, why)) = self.copy(&mut registry, segment, index) {
                    self.leave_out(reason, why, &mut left_out);
                }
            }
        }
        self.segments = segments;
        self.live.set(self.segments.len() as f64);
        self.left_out.iter().zip(left_out).for_each(|(gauge, count)| gauge.set(count as f64));
        Ok(())
    }

    fn leave_out(&mut self, reason: usize, why: String, counts: &mut [usize; REASONS.len()]) {
        counts[reason] += 1;
        // Bounded, since what is told comes from files.
        if self.told.len() < 1000 && self.told.insert(why.clone()) {
            Failure::Told(format!("left out: {}", printable(&why))).tell(self.command);
        }
    }

    /// Reads one entry into the registry, which gets it if it has not yet.
    fn copy(
        &mut self,
        registry: &mut Registry,
        segment: &mut Segment,
        index: usize,
    ) -> Result<(), (usize, String)> {
        let Segment { viewer, entries, label, .. } = segment;
        let entry = &mut entries[index];
        let unreadable = |error: picollo_native::Error| (UNREADABLE, error.message().to_owned());
        if viewer.entry(index).map_err(unreadable)?.is_retired {
            take_out(registry, &mut self.families, entry);
            entry.copy = None;
            return Ok(());
        }
        match &mut entry.copy {
            Some(Copied::Histogram(snapshot, copy)) => {
                viewer.update(index, snapshot, Since::PreviousUpdate).map_err(unreadable)?;
                copy.add_snapshot(snapshot);
                return Ok(());
            }
            Some(Copied::Counter(seen, copy)) => {
                let now = viewer.counter(index).map_err(unreadable)?;
                copy.add(now.wrapping_sub(*seen));
                *seen = now;
                return Ok(());
            }
            None => {}
        }
        let about = viewer.entry(index).map_err(unreadable)?.clone();
        let Exported { name, unit, divisor, labels } = Exported::of(&about, label);
        let conflict = |what: &str| (CONFLICT, format!("{name} of {label}: {what}"));
        let help = match self.families.get(&name) {
            Some(known) if known.kind != about.kind => {
                return Err(conflict("others of this name are of another kind"));
            }
            Some(known) if known.unit != unit => {
                return Err(conflict("others of this name have another unit"));
            }
            Some(known) => known.help.clone(),
            None => about.help.clone(),
        };
        let labels: Vec<(&str, &str)> =
            labels.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let metric = Metric {
            name: &name,
            help: &help,
            unit: &unit,
            labels: &labels,
            divisor,
            created_unix_nanos: about.created_unix_nanos,
            native: self.is_native,
            ..Metric::default()
        };
        let refused = |_| {
            conflict(
                "there is one of this name and these labels, or it has a name that is written for another",
            )
        };
        let (id, copy) = match about.kind {
            SegmentKind::Histogram => {
                let snapshot = viewer.snapshot(index).map_err(unreadable)?;
                let copy = copy_of(&snapshot)
                    .map_err(|error| (UNREADABLE, format!("{name} of {label}: {error}")))?;
                (registry.add(&copy, &metric, &[]).map_err(refused)?, Copied::Histogram(snapshot, copy))
            }
            SegmentKind::Counter => {
                let now = viewer.counter(index).map_err(unreadable)?;
                let (id, copy) = registry.add_counter(&metric).map_err(refused)?;
                copy.add(now);
                (id, Copied::Counter(now, copy))
            }
        };
        entry.copy = Some(copy);
        entry.registered = Some((id, name.clone()));
        self.families.entry(name).or_insert(Family { kind: about.kind, unit, help, members: 0 }).members += 1;
        Ok(())
    }
}

/// A histogram with what a snapshot has, of its layout: small, as it has memory only for what was recorded.
fn copy_of(snapshot: &Snapshot) -> picollo_core::Result<SharedHistogram> {
    let layout = snapshot.layout();
    let options = Options {
        storage: Storage::Sparse,
        relative_error: layout.relative_error(),
        min_trackable: layout.min_trackable(),
        max_trackable: layout.max_trackable(),
        unit: 1 << layout.unit(),
        no_live_reset: true,
        ..Options::default()
    };
    let copy = SharedHistogram::create(&options)?;
    copy.add_snapshot(snapshot);
    Ok(copy)
}

fn take_out(registry: &mut Registry, families: &mut HashMap<String, Family>, entry: &mut Entry) {
    let Some((id, name)) = entry.registered.take() else { return };
    registry.remove(id);
    if let Some(family) = families.get_mut(&name) {
        family.members -= 1;
        if family.members == 0 {
            families.remove(&name);
        }
    }
}
