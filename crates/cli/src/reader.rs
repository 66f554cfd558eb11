//! Reads published data repeatedly: for each entry, what was recorded since the previous reading. All commands use this
//! reader. An unreadable entry or segment is reported and tried again at the next reading, and does not affect others.

use std::collections::{HashMap, HashSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Arg, ArgMatches, value_parser};
use picollo_core::{Since, Snapshot};
use picollo_native::{ExplainedError, Status, unix_nanos};
use picollo_segment::{SegmentEntry, SegmentInfo, SegmentKind, Viewer};

use crate::failure::{self, Failure};
use crate::places::{self, Places};
use crate::table::printable;
use crate::values::option;

/// Name and labels as Prometheus writes them, without quotes.
pub(crate) fn title(entry: &SegmentEntry) -> String {
    if entry.labels.is_empty() {
        return entry.name.clone();
    }
    let labels: Vec<String> = entry.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
    format!("{}{{{}}}", entry.name, labels.join(","))
}

/// Selects segments.
#[derive(Clone, Debug, Default)]
pub(crate) enum Target {
    #[default]
    All,
    Path(PathBuf),
    /// A process, a segment's name, or a program.
    Named(String),
}

impl Target {
    pub(crate) fn parse(text: Option<&str>) -> Target {
        match text {
            None => Target::All,
            Some(path) if path.contains('/') => Target::Path(path.into()),
            Some(name) => Target::Named(name.into()),
        }
    }

    fn means(&self, info: &SegmentInfo) -> bool {
        match self {
            Target::Named(name) => {
                name.parse() == Ok(info.pid) || *name == info.name || *name == info.program
            }
            _ => true,
        }
    }

    /// Whether an unreadable file may be selected, by its name: segment, process, and start of the process.
    fn may_mean(&self, path: &Path) -> bool {
        let Target::Named(target) = self else { return true };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.split('.').take(2).any(|part| part == target)
    }

    /// Whether all selected segments have the same name, so that titles can omit it.
    fn is_one_name(&self, info: &SegmentInfo) -> bool {
        match self {
            Target::All => false,
            Target::Path(_) => true,
            Target::Named(name) => *name != info.program || *name == info.name,
        }
    }
}

/// The data since the previous reading; for the first one, since the beginning.
pub(crate) enum Reading {
    Histogram(Box<Snapshot>),
    /// The increase, and the total.
    Counter {
        added: u64,
        total: u64,
    },
}

#[derive(Default)]
pub(crate) struct Entry {
    pub(crate) about: SegmentEntry,
    pub(crate) title: String,
    /// `None` before the first successful reading. If somebody takes it, the next reading starts from the beginning.
    pub(crate) reading: Option<Reading>,
    /// Whether the last reading included this entry, and whether it was the first.
    pub(crate) is_read: bool,
    pub(crate) is_first: bool,
    /// The program retired the entry: the last reading was the final one.
    pub(crate) is_retired: bool,
    /// For use by the reader's owner; 0 at first.
    pub(crate) number: u64,
}

/// An open segment.
pub(crate) struct Open {
    viewer: Viewer,
    file: (u64, u64),
    pub(crate) info: SegmentInfo,
    pub(crate) entries: Vec<Entry>,
    /// For use by the reader's owner.
    pub(crate) label: String,
}

/// Reads all selected segments, including later ones.
#[derive(Default)]
pub(crate) struct Reader {
    places: Places,
    pub(crate) target: Target,
    pid: Option<u32>,
    /// Only entries with this in their title.
    wanted: String,
    /// Whether to read segments once that ended before they were seen.
    reads_ended: bool,
    /// In order of creation. Ended ones stay until the next reading.
    pub(crate) segments: Vec<Open>,
    /// Files that need not be opened again because they are not selected or have ended.
    passed: HashMap<PathBuf, (u64, u64)>,
    searched_at: Option<Instant>,
    /// Errors of the last reading, a sentence each.
    pub(crate) troubles: Vec<String>,
    /// Reported errors, so that each is reported once.
    reported: HashSet<String>,
    /// From the previous reading to the last.
    pub(crate) interval: Interval,
    read_at: Option<Instant>,
}

/// Start and duration.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Interval {
    pub(crate) start_unix_nanos: u64,
    /// 0 for the first reading, which covers everything from the beginning.
    pub(crate) seconds: f64,
}

/// Arguments that select segments.
pub(crate) fn arguments() -> Vec<Arg> {
    let mut arguments = places::arguments().to_vec();
    arguments.extend([
        Arg::new("target").value_name("TARGET").help("a path, process, segment or program"),
        option(
            "pid",
            "PID",
            "select only this process; by default, the live processes of one segment name are summed as one service",
        )
        .value_parser(value_parser!(u32)),
    ]);
    arguments
}

/// The argument that selects entries.
pub(crate) fn matching() -> Arg {
    option("match", "TEXT", "select only entries with this text in their name or labels (a=b)")
}

fn file_of(path: &Path) -> Option<(u64, u64)> {
    path.metadata().ok().map(|data| (data.dev(), data.ino()))
}

impl Reader {
    pub(crate) fn new(target: Target, places: Places) -> Reader {
        Reader { places, target, reads_ended: true, ..Reader::default() }
    }

    /// Reads only live segments, of one process if given.
    pub(crate) fn for_live(places: Places, pid: Option<u32>) -> Reader {
        Reader { pid, reads_ended: false, ..Reader::new(Target::All, places) }
    }

    /// A reader for the command line, before its first reading.
    pub(crate) fn wanted(matches: &ArgMatches) -> Reader {
        let target = Target::parse(matches.get_one::<String>("target").map(String::as_str));
        Reader { pid: matches.get_one("pid").copied(), ..Reader::new(target, Places::from_matches(matches)) }
    }

    /// A reader for the command line after its first reading. Fails if there is nothing to read.
    pub(crate) fn from_matches(matches: &ArgMatches) -> Result<Reader, Failure> {
        let text = |name| matches.get_one::<String>(name).map(String::as_str);
        let mut reader = Reader::wanted(matches);
        reader.wanted = text("match").unwrap_or_default().to_owned();
        reader.read();
        reader.choose(text("target"))?;
        reader.demand(matches)?;
        let mut entries = reader.segments.iter().flat_map(|segment| &segment.entries);
        if !entries.any(|entry| entry.is_read) && !reader.wanted.is_empty() {
            let (target, wanted) = (text("target").unwrap_or("anybody"), &reader.wanted);
            return Err(format!("no entry of {target} has {wanted} in its name or labels").into());
        }
        Ok(reader)
    }

    /// Keeps the live segments, or the only one that has ended.
    fn choose(&mut self, target: Option<&str>) -> Result<(), Failure> {
        let (true, Some(target)) = (!self.is_live(), target.map(printable)) else {
            self.pass();
            return Ok(());
        };
        match &self.segments[..] {
            [] | [_] => Ok(()),
            several => {
                let pids: Vec<String> = several.iter().map(|one| one.info.pid.to_string()).collect();
                let (number, pids) = (several.len(), pids.join(", "));
                Err(format!("{number} segments of {target} have ended; choose one with --pid: {pids}").into())
            }
        }
    }

    /// Fails if nothing readable was found.
    pub(crate) fn demand(&self, matches: &ArgMatches) -> Result<(), Failure> {
        match (&self.segments[..], self.troubles.first(), matches.get_one::<String>("target")) {
            ([], Some(trouble), _) => Err(trouble.as_str().into()),
            ([], None, Some(target)) => {
                let of = self.pid.map_or(String::new(), |pid| format!(" and process {pid}"));
                let target = printable(target);
                Err(format!("no segment of {target}{of}; `picollo list` shows the existing ones").into())
            }
            _ => Ok(()),
        }
    }

    /// Drops the segments that have ended.
    fn pass(&mut self) {
        for ended in self.segments.extract_if(.., |segment| !segment.info.is_live) {
            self.passed.insert(ended.viewer.path().to_owned(), ended.file);
        }
    }

    #[cfg(test)]
    pub(crate) fn passed(&self) -> usize {
        self.passed.len()
    }

    /// Reports errors on standard error, each once. Returns whether there were any.
    pub(crate) fn report(&mut self, command: &str) -> bool {
        for trouble in &self.troubles {
            // The number is limited because the errors come from files.
            if self.reported.len() < 1000 && self.reported.insert(trouble.clone()) {
                failure::report(command, printable(trouble));
            }
        }
        !self.troubles.is_empty()
    }

    pub(crate) fn is_live(&self) -> bool {
        self.segments.iter().any(|segment| segment.info.is_live)
    }

    /// Reads everything that is readable now.
    pub(crate) fn read(&mut self) {
        self.troubles.clear();
        self.pass();
        self.open_new();
        let (now, now_unix_nanos) = (Instant::now(), unix_nanos());
        let seconds = self.read_at.replace(now).map_or(0.0, |before| (now - before).as_secs_f64());
        let start_unix_nanos = now_unix_nanos.saturating_sub((seconds * 1e9) as u64);
        self.interval = Interval { start_unix_nanos, seconds };
        for segment in &mut self.segments {
            segment.read(&self.wanted, &mut self.troubles);
        }
    }

    /// Opens new segments.
    pub(crate) fn open_new(&mut self) {
        // Searching all directories of a machine takes long.
        let patience = if self.places.are_others() { Duration::from_secs(5) } else { Duration::ZERO };
        if self.searched_at.is_some_and(|before| before.elapsed() < patience) {
            return;
        }
        self.searched_at = Some(Instant::now());
        let paths = match &self.target {
            Target::Path(path) if self.segments.is_empty() => vec![path.clone()],
            Target::Path(_) => Vec::new(),
            _ => self.places.paths(&mut self.troubles),
        };
        let open: HashSet<(&Path, (u64, u64))> =
            self.segments.iter().map(|segment| (segment.viewer.path(), segment.file)).collect();
        let mut found = Vec::new();
        let mut passed = HashMap::new();
        for path in paths {
            // A file that is already gone is not an error.
            let file = file_of(&path);
            if file.is_none() && !matches!(self.target, Target::Path(_)) {
                continue;
            }
            let file = file.unwrap_or_default();
            if open.contains(&(path.as_path(), file)) {
                continue;
            }
            if self.passed.get(&path) == Some(&file) {
                passed.insert(path, file);
                continue;
            }
            match Viewer::open(&path).and_then(|viewer| Ok((viewer.info()?, viewer))) {
                Ok((info, viewer)) => {
                    let is_meant = self.target.means(&info) && self.pid.is_none_or(|pid| pid == info.pid);
                    if is_meant && (info.is_live || self.reads_ended) {
                        found.push(Open { viewer, file, info, entries: Vec::new(), label: String::new() });
                    } else {
                        passed.insert(path, file);
                    }
                }
                Err(error) if self.places.are_others() && error.status() == Status::Permission => {}
                Err(error) if self.target.may_mean(&path) => self.troubles.push(error.message().to_owned()),
                Err(_) => {}
            }
        }
        self.passed = passed;
        // Sorts by creation time, so that numbers do not depend on file names.
        found.sort_by_key(|open| (open.info.created_unix_nanos, open.info.pid));
        self.segments.extend(found);
    }

    /// Sums of entries with the same name, labels, unit and layout over all processes, which count as one service.
    pub(crate) fn sums(&self) -> Vec<Sum> {
        let mut sums: Vec<Sum> = Vec::new();
        let mut known: HashMap<String, Vec<usize>> = HashMap::new();
        for segment in &self.segments {
            for entry in segment.entries.iter().filter(|entry| entry.is_read) {
                let mut title = entry.title.clone();
                if !self.target.is_one_name(&segment.info) {
                    title = format!("{}/{title}", segment.info.name);
                }
                let like = known.entry(title.clone()).or_default();
                if like.iter().any(|&at| sums[at].add(entry, &segment.info)) {
                    continue;
                }
                // Another unit or layout cannot be added.
                if !like.is_empty() {
                    title += &format!("#{}", segment.info.pid);
                }
                if let Some(sum) = Sum::from_entry(entry, title, &segment.info) {
                    like.push(sums.len());
                    sums.push(sum);
                }
            }
        }
        sums
    }
}

impl Open {
    pub(crate) fn path(&self) -> &Path {
        self.viewer.path()
    }

    fn read(&mut self, wanted: &str, troubles: &mut Vec<String>) {
        self.entries.iter_mut().for_each(|entry| entry.is_read = false);
        // This comes before reading the counts, so that the counts include everything recorded until the end.
        match self.viewer.refresh().and_then(|()| self.viewer.info()) {
            Ok(info) => self.info = info,
            Err(error) => {
                troubles.push(error.message().to_owned());
                // The file was truncated. If another file has replaced it, that one is opened.
                self.info.is_live &= file_of(self.viewer.path()) == Some(self.file);
                return;
            }
        }
        troubles.extend(self.viewer.faults().iter().cloned());
        while self.entries.len() < self.viewer.length() {
            let Ok(about) = self.viewer.entry(self.entries.len()) else { break };
            self.entries.push(Entry { about: about.clone(), title: title(about), ..Entry::default() });
        }
        for (index, entry) in self.entries.iter_mut().enumerate() {
            if entry.is_retired || !entry.title.contains(wanted) {
                continue;
            }
            // A retired entry can still be read to its end.
            entry.is_retired = self.viewer.entry(index).is_ok_and(|about| about.is_retired);
            entry.is_first = entry.reading.is_none();
            match entry.take(index, &mut self.viewer) {
                Ok(()) => entry.is_read = true,
                Err(error) => troubles.push(error.message().to_owned()),
            }
        }
    }

    /// Everything since the beginning of an entry.
    pub(crate) fn since_start(&mut self, index: usize) -> Option<Box<Snapshot>> {
        self.viewer.snapshot(index).ok()
    }
}

impl Entry {
    fn take(&mut self, index: usize, viewer: &mut Viewer) -> Result<(), ExplainedError> {
        match (&mut self.reading, self.about.kind) {
            (Some(Reading::Histogram(snapshot)), _) => viewer.update(index, snapshot, Since::PreviousUpdate),
            (Some(Reading::Counter { added, total }), _) => {
                let now = viewer.counter(index)?;
                (*added, *total) = (now.wrapping_sub(*total), now);
                Ok(())
            }
            (none, SegmentKind::Histogram) => {
                *none = Some(Reading::Histogram(viewer.snapshot(index)?));
                Ok(())
            }
            (none, SegmentKind::Counter) => {
                let total = viewer.counter(index)?;
                *none = Some(Reading::Counter { added: total, total });
                Ok(())
            }
        }
    }
}

/// What one or several processes publish under one name.
pub(crate) struct Sum {
    pub(crate) about: SegmentEntry,
    pub(crate) title: String,
    /// Name of their segments.
    pub(crate) segment: String,
    pub(crate) reading: Reading,
    pub(crate) pids: Vec<u32>,
}

impl Sum {
    fn from_entry(entry: &Entry, title: String, info: &SegmentInfo) -> Option<Sum> {
        let reading = match entry.reading.as_ref()? {
            Reading::Histogram(snapshot) => Reading::Histogram(snapshot.boxed_copy().ok()?),
            &Reading::Counter { added, total } => Reading::Counter { added, total },
        };
        let segment = info.name.clone();
        Some(Sum { about: entry.about.clone(), title, segment, reading, pids: vec![info.pid] })
    }

    /// Adds the entry of another process if possible. Returns whether it was.
    fn add(&mut self, entry: &Entry, info: &SegmentInfo) -> bool {
        let (about, other) = (&mut self.about, &entry.about);
        if self.segment != info.name || about.unit != other.unit || about.divisor != other.divisor {
            return false;
        }
        match (&mut self.reading, &entry.reading) {
            (Reading::Histogram(snapshot), Some(Reading::Histogram(more)))
                if snapshot.layout() == more.layout() =>
            {
                snapshot.merge(more);
            }
            (Reading::Counter { added, total }, Some(Reading::Counter { added: more, total: all })) => {
                *added = added.wrapping_add(*more);
                *total = total.wrapping_add(*all);
            }
            _ => return false,
        }
        about.bytes += other.bytes;
        about.created_unix_nanos = about.created_unix_nanos.min(other.created_unix_nanos);
        self.pids.push(info.pid);
        true
    }
}
