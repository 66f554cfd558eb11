//! A registry with the data of all live segments.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use picollo_core::counters::{Metric, MetricCounter, MetricGauge};
use picollo_core::layouts::Storage;
use picollo_core::{Layout, Options, SharedHistogram, Snapshot};
use picollo_export::{MetricError, Registry};

use super::bounds::Bounds;
use super::naming::{Exported, Process, Processes, process_of};
use crate::failure::Failure;
use crate::places::Places;
use crate::reader::{Entry, Reader, Reading};

/// Why entries are left out of an exposition.
const REASONS: [&str; 2] = ["conflict", "unreadable"];

/// Options of what to serve.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    /// The command that reports what is left out.
    pub(crate) command: &'static str,
    pub(crate) places: Places,
    /// Only this process.
    pub(crate) pid: Option<u32>,
    /// Does not sum processes that publish under one name.
    pub(crate) by_process: bool,
    pub(crate) is_native: bool,
    pub(crate) bounds: Bounds,
}

/// A registry with everything that is published now.
pub(crate) struct Exposed {
    wanted: Wanted,
    reader: Reader,
    registry: Arc<Mutex<Registry>>,
    processes: Processes,
    series: HashMap<u64, Series>,
    by_name: HashMap<Key, u64>,
    /// For each metric name, the first help text.
    helps: HashMap<String, String>,
    live: MetricGauge,
    left_out: [MetricGauge; REASONS.len()],
}

/// Distinguishes series: the added labels, and the entry's name and labels.
type Key = (Vec<(String, String)>, String, Vec<(String, String)>);

/// The sum of one or several processes. What a process recorded stays in the sum when it ends.
struct Series {
    family: String,
    unit: String,
    copy: Copied,
    is_present: bool,
}

enum Copied {
    Histogram(SharedHistogram, Layout),
    Counter(MetricCounter),
}

impl Exposed {
    pub(crate) fn new(wanted: Wanted) -> Result<Exposed, Failure> {
        let mut registry = Registry::new();
        let help = "Segments of live processes that are read";
        let live = Metric { name: "picollo_segments", help, ..Metric::default() };
        let (_, live) = registry.add_gauge(&live)?;
        let mut gauge = |reason| {
            let labels = [("reason", reason)];
            let help = "Histograms and counters that are not among these metrics: they have the name, but not the kind, unit or layout \
                        of others, or cannot be read";
            let metric = Metric { name: "picollo_left_out", help, labels: &labels, ..Metric::default() };
            registry.add_gauge(&metric).map(|(_, gauge)| gauge)
        };
        let left_out = [gauge(REASONS[0])?, gauge(REASONS[1])?];
        Ok(Exposed {
            reader: Reader::for_live(wanted.places.clone(), wanted.pid),
            wanted,
            registry: Arc::new(Mutex::new(registry)),
            processes: Processes::default(),
            series: HashMap::new(),
            by_name: HashMap::new(),
            helps: HashMap::new(),
            live,
            left_out,
        })
    }

    pub(crate) fn registry(&self) -> Arc<Mutex<Registry>> {
        self.registry.clone()
    }

    /// Updates the registry. It reports left-out entries on standard error, each once.
    pub(crate) fn refresh(&mut self) {
        self.reader.read();
        let unreadable = self.reader.troubles.len();
        let mut segments = std::mem::take(&mut self.reader.segments);
        let live = segments.iter().filter(|open| open.info.is_live);
        let present: Vec<Process> = live.map(|open| process_of(open.path(), &open.info)).collect();
        self.processes.keep(|process| present.contains(process));
        let shared = self.registry.clone();
        let mut registry = shared.lock().unwrap_or_else(PoisonError::into_inner);
        self.series.values_mut().for_each(|series| series.is_present = false);
        for open in &mut segments {
            if open.label.is_empty() {
                open.label = if self.wanted.by_process {
                    self.processes.label(&open.info.program, process_of(open.path(), &open.info))
                } else {
                    open.info.name.clone()
                };
            }
            let mut added = vec![("segment".to_owned(), open.info.name.clone())];
            if self.wanted.by_process {
                added.push(("process".to_owned(), open.label.clone()));
            }
            let is_live = open.info.is_live;
            for entry in &mut open.entries {
                if let Err(conflict) = self.add(&mut registry, entry, &added, is_live) {
                    // The next reading starts from the beginning: it may be the first that is accepted.
                    entry.reading = None;
                    self.reader.troubles.push(format!("left out: {conflict}"));
                }
            }
        }
        self.take_out(&mut registry);
        self.live.set(present.len() as f64);
        let conflicts = self.reader.troubles.len() - unreadable;
        self.left_out[0].set(conflicts as f64);
        self.left_out[1].set(unreadable as f64);
        self.reader.segments = segments;
        self.reader.report(self.wanted.command);
    }

    /// Adds what was recorded since the previous scrape to its series.
    fn add(
        &mut self,
        registry: &mut Registry,
        entry: &mut Entry,
        added: &[(String, String)],
        is_live: bool,
    ) -> Result<(), String> {
        let is_there = is_live && !entry.is_retired;
        if !entry.is_read || entry.number == 0 && !is_there {
            if let Some(series) = self.series.get_mut(&entry.number) {
                series.is_present |= is_there;
            }
            return Ok(());
        }
        let Some(reading) = &entry.reading else { return Ok(()) };
        // A removed series is created anew, with everything.
        if !self.series.contains_key(&entry.number) {
            entry.number = self.series_of(registry, entry, added)?;
        }
        let Some(series) = self.series.get_mut(&entry.number) else { return Ok(()) };
        match (&series.copy, reading) {
            (Copied::Histogram(copy, _), Reading::Histogram(snapshot)) => _ = copy.add_snapshot(snapshot),
            (Copied::Counter(copy), Reading::Counter { added, .. }) => copy.add(*added),
            _ => {}
        }
        series.is_present |= is_there;
        Ok(())
    }

    /// The series of an entry, created if needed.
    fn series_of(
        &mut self,
        registry: &mut Registry,
        entry: &Entry,
        added: &[(String, String)],
    ) -> Result<u64, String> {
        let about = &entry.about;
        let key: Key = (added.to_vec(), about.name.clone(), about.labels.clone());
        let Exported { name, unit, divisor, labels } = Exported::new(about, added);
        let conflict =
            |what: &str| format!("{name} of {} (there {}): {what}", added[added.len() - 1].1, entry.title);
        if let Some(&id) = self.by_name.get(&key)
            && let Some(known) = self.series.get(&id)
        {
            let is_alike = match (&known.copy, &entry.reading) {
                (Copied::Histogram(_, layout), Some(Reading::Histogram(snapshot))) => {
                    layout == snapshot.layout()
                }
                (Copied::Counter(_), Some(Reading::Counter { .. })) => true,
                _ => false,
            };
            return match is_alike && known.unit == about.unit {
                true => Ok(id),
                false => Err(conflict(
                    "others of this name have another kind, unit or layout; use --by-process to separate them",
                )),
            };
        }
        let help = self.helps.get(&name).unwrap_or(&about.help).clone();
        let labels: Vec<(&str, &str)> =
            labels.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let metric = Metric {
            name: &name,
            help: &help,
            unit: &unit,
            labels: &labels,
            divisor,
            created_unix_nanos: about.created_unix_nanos,
            native: self.wanted.is_native,
            ..Metric::default()
        };
        let refused = |error: MetricError| conflict(&error.to_string());
        let (id, copy) = match &entry.reading {
            Some(Reading::Histogram(snapshot)) => {
                let copy = empty_like(snapshot).map_err(|error| conflict(&error.to_string()))?;
                let bounds = self.wanted.bounds.for_layout(snapshot.layout(), divisor);
                let id = registry.add(&copy, &metric, &bounds).map_err(refused)?;
                (id, Copied::Histogram(copy, *snapshot.layout()))
            }
            _ => {
                let (id, copy) = registry.add_counter(&metric).map_err(refused)?;
                (id, Copied::Counter(copy))
            }
        };
        self.helps.entry(name.clone()).or_insert(help);
        self.by_name.insert(key, id);
        let series = Series { family: name, unit: about.unit.clone(), copy, is_present: false };
        self.series.insert(id, series);
        Ok(id)
    }

    /// Removes the series without processes.
    fn take_out(&mut self, registry: &mut Registry) {
        registry.retain(|id| self.series.get(&id).is_none_or(|series| series.is_present));
        let before = self.series.len();
        self.series.retain(|_, series| series.is_present);
        if self.series.len() < before {
            self.by_name.retain(|_, id| self.series.contains_key(id));
            self.helps.retain(|name, _| self.series.values().any(|series| series.family == *name));
        }
    }
}

/// An empty histogram with a snapshot's layout. It is sparse, so it only uses memory for recorded values.
fn empty_like(snapshot: &Snapshot) -> picollo_core::Result<SharedHistogram> {
    let layout = snapshot.layout();
    SharedHistogram::create(&Options {
        storage: Storage::Sparse,
        relative_error: layout.relative_error(),
        min_trackable: layout.min_trackable(),
        max_trackable: layout.max_trackable(),
        unit: 1 << layout.unit(),
        no_live_reset: true,
        ..Options::default()
    })
}
