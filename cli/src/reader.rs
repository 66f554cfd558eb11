//! What programs publish, read again and again: of each entry what was recorded since the reading before. The one reader of segments:
//! an entry or a segment that cannot be read is told of, tried again at the next reading, and ends nothing else.

use std::collections::{HashMap, HashSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Arg, ArgMatches, value_parser};
use picollo_core::{Since, Snapshot};
use picollo_native::{Error, SegmentEntry, SegmentInfo, SegmentKind, Status, Viewer, unix_nanos};

use crate::failure::Failure;
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

/// Which segments.
#[derive(Clone, Debug, Default)]
pub(crate) enum Target {
    #[default]
    All,
    Path(PathBuf),
    /// A process, a segment's name, or a program.
    Named(String),
}

impl Target {
    pub(crate) fn of(text: Option<&str>) -> Target {
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

    /// Whether a file that cannot be read may be one of these, by its name: segment, process, and when that began.
    fn may_mean(&self, path: &Path) -> bool {
        let Target::Named(target) = self else { return true };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.split('.').take(2).any(|part| part == target)
    }

    /// Whether all that it means has one segment's name, so that titles need not say which.
    fn is_one_name(&self, info: &SegmentInfo) -> bool {
        match self {
            Target::All => false,
            Target::Path(_) => true,
            Target::Named(name) => *name != info.program || *name == info.name,
        }
    }
}

/// What was recorded since the reading before; at the first, since the beginning.
pub(crate) enum Reading {
    Histogram(Box<Snapshot>),
    /// How much was added, and all there is.
    Counter {
        added: u64,
        total: u64,
    },
}

#[derive(Default)]
pub(crate) struct Entry {
    pub(crate) about: SegmentEntry,
    pub(crate) title: String,
    /// `None` before it could be read once. Whoever takes it out has the next reading begin at the beginning again.
    pub(crate) reading: Option<Reading>,
    /// Whether the last reading was of this entry, and whether it was the first.
    pub(crate) is_read: bool,
    pub(crate) is_first: bool,
    /// The program has taken it out: the last reading was its last.
    pub(crate) is_retired: bool,
    /// Whatever the reader's owner knows it by; 0 until it is told.
    pub(crate) number: u64,
}

/// A segment that is looked at.
pub(crate) struct Open {
    viewer: Viewer,
    file: (u64, u64),
    pub(crate) info: SegmentInfo,
    pub(crate) entries: Vec<Entry>,
    /// Whatever the reader's owner calls it.
    pub(crate) label: String,
}

/// Reads all segments that are meant, also those that come later.
#[derive(Default)]
pub(crate) struct Reader {
    places: Places,
    pub(crate) target: Target,
    pid: Option<u32>,
    /// Entries with this in their title.
    wanted: String,
    /// Whether what ended before it was seen is read, once.
    reads_ended: bool,
    /// In the order in which they were made. Those that have ended stay until the next reading.
    pub(crate) segments: Vec<Open>,
    /// Files that need not be opened again: of another target, or ended.
    passed: HashMap<PathBuf, (u64, u64)>,
    looked_at: Option<Instant>,
    /// What could not be read the last time, a sentence each.
    pub(crate) troubles: Vec<String>,
    /// What was told of these, so that it is told once.
    told: HashSet<String>,
    /// From the reading before to the last.
    pub(crate) interval: Interval,
    read_at: Option<Instant>,
}

/// From when on, and for how long.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Interval {
    pub(crate) start_unix_nanos: u64,
    /// 0 for the first reading, which is since the beginning of each.
    pub(crate) seconds: f64,
}

/// The arguments that say what to read.
pub(crate) fn arguments() -> Vec<Arg> {
    let mut arguments = places::arguments().to_vec();
    arguments.extend([
        Arg::new("target").value_name("TARGET").help("path, process, segment or program"),
        option(
            "pid",
            "PID",
            "only this process: otherwise all that live and have one segment name are summed, as one service",
        )
        .value_parser(value_parser!(u32)),
    ]);
    arguments
}

/// The argument that says which entries.
pub(crate) fn matching() -> Arg {
    option("match", "TEXT", "only entries with this in their name or labels (a=b)")
}

fn file_of(path: &Path) -> Option<(u64, u64)> {
    path.metadata().ok().map(|data| (data.dev(), data.ino()))
}

impl Reader {
    pub(crate) fn new(target: Target, places: Places) -> Reader {
        Reader { places, target, reads_ended: true, ..Reader::default() }
    }

    /// Only what is live, of one process where that is given.
    pub(crate) fn of_live(places: Places, pid: Option<u32>) -> Reader {
        Reader { pid, reads_ended: false, ..Reader::new(Target::All, places) }
    }

    /// What the command line names, not read yet.
    pub(crate) fn wanted(matches: &ArgMatches) -> Reader {
        let target = Target::of(matches.get_one::<String>("target").map(String::as_str));
        Reader { pid: matches.get_one("pid").copied(), ..Reader::new(target, Places::of(matches)) }
    }

    /// As the command line says, read once. An error where there is nothing.
    pub(crate) fn of(matches: &ArgMatches) -> Result<Reader, Failure> {
        let text = |name| matches.get_one::<String>(name).map(String::as_str);
        let mut reader = Reader::wanted(matches);
        reader.wanted = text("match").unwrap_or_default().to_owned();
        reader.read();
        reader.choose(text("target"))?;
        reader.demand(matches)?;
        let mut entries = reader.segments.iter().flat_map(|segment| &segment.entries);
        if !entries.any(|entry| entry.is_read) && !reader.wanted.is_empty() {
            let (target, wanted) = (text("target").unwrap_or("anybody"), &reader.wanted);
            return Err(format!("nothing that {target} publishes has {wanted} in its name or labels").into());
        }
        Ok(reader)
    }

    /// Of what was found those that live, or the one that ended.
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
                Err(format!("{number} segments of {target} have ended; choose one of them by --pid: {pids}")
                    .into())
            }
        }
    }

    /// An error where nothing was found that could be read, or is of a target.
    pub(crate) fn demand(&self, matches: &ArgMatches) -> Result<(), Failure> {
        match (&self.segments[..], self.troubles.first(), matches.get_one::<String>("target")) {
            ([], Some(trouble), _) => Err(trouble.as_str().into()),
            ([], None, Some(target)) => {
                let of = self.pid.map_or(String::new(), |pid| format!(" and process {pid}"));
                let target = printable(target);
                Err(format!("no segment of {target}{of}; `picollo list` shows those that there are").into())
            }
            _ => Ok(()),
        }
    }

    /// Looks no more at those that have ended.
    fn pass(&mut self) {
        for ended in self.segments.extract_if(.., |segment| !segment.info.is_live) {
            self.passed.insert(ended.viewer.path().to_owned(), ended.file);
        }
    }

    #[cfg(test)]
    pub(crate) fn passed(&self) -> usize {
        self.passed.len()
    }

    /// Says on standard error what could not be read, each once; whether there was anything.
    pub(crate) fn tell(&mut self, command: &str) -> bool {
        for trouble in &self.troubles {
            // Bounded, since what is told comes from files.
            if self.told.len() < 1000 && self.told.insert(trouble.clone()) {
                Failure::Told(printable(trouble)).tell(command);
            }
        }
        !self.troubles.is_empty()
    }

    pub(crate) fn is_live(&self) -> bool {
        self.segments.iter().any(|segment| segment.info.is_live)
    }

    /// Reads everything that there is now, and can be read.
    pub(crate) fn read(&mut self) {
        self.troubles.clear();
        self.pass();
        self.look();
        let (now, now_unix_nanos) = (Instant::now(), unix_nanos());
        let seconds = self.read_at.replace(now).map_or(0.0, |before| (now - before).as_secs_f64());
        let start_unix_nanos = now_unix_nanos.saturating_sub((seconds * 1e9) as u64);
        self.interval = Interval { start_unix_nanos, seconds };
        for segment in &mut self.segments {
            segment.read(&self.wanted, &mut self.troubles);
        }
    }

    /// Opens what is new.
    pub(crate) fn look(&mut self) {
        // All directories of a machine are many.
        let patience = if self.places.are_others() { Duration::from_secs(5) } else { Duration::ZERO };
        if self.looked_at.is_some_and(|before| before.elapsed() < patience) {
            return;
        }
        self.looked_at = Some(Instant::now());
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
            // What is gone already is no trouble.
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
        // In the order in which they began, so that numbers do not depend on names of files.
        found.sort_by_key(|open| (open.info.created_unix_nanos, open.info.pid));
        self.segments.extend(found);
    }

    /// What is published in one name and with the same labels, unit and layout, by however many processes: one service's.
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
                // Another unit or layout: not to be added up.
                if !like.is_empty() {
                    title += &format!("#{}", segment.info.pid);
                }
                if let Some(sum) = Sum::of(entry, title, &segment.info) {
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
        // Whether it lives is asked before the counts: what was recorded until the end is read then.
        match self.viewer.refresh().and_then(|()| self.viewer.info()) {
            Ok(info) => self.info = info,
            Err(error) => {
                troubles.push(error.message().to_owned());
                // Cut off under us. Where something else is in its place, that is opened.
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
            // What was taken out can still be read to its end.
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
    fn take(&mut self, index: usize, viewer: &mut Viewer) -> Result<(), Error> {
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

/// What one or several processes publish in one name.
pub(crate) struct Sum {
    pub(crate) about: SegmentEntry,
    pub(crate) title: String,
    /// The name of their segments.
    pub(crate) segment: String,
    pub(crate) reading: Reading,
    pub(crate) pids: Vec<u32>,
}

impl Sum {
    fn of(entry: &Entry, title: String, info: &SegmentInfo) -> Option<Sum> {
        let reading = match entry.reading.as_ref()? {
            Reading::Histogram(snapshot) => Reading::Histogram(snapshot.boxed_copy().ok()?),
            &Reading::Counter { added, total } => Reading::Counter { added, total },
        };
        let segment = info.name.clone();
        Some(Sum { about: entry.about.clone(), title, segment, reading, pids: vec![info.pid] })
    }

    /// Adds another process's, where that can be added; whether it can.
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
