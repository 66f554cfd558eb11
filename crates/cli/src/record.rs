//! `picollo record`: a continuous log of what a program publishes.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{ArgMatches, Command, value_parser};
use picollo_codec::log::{Header, write_header, write_interval};
use picollo_core::{Layout, Snapshot};

use crate::failure::{Failure, report};
use crate::reader::{self, Interval, Reader, Reading};
use crate::signals::{Blocked, Pace};
use crate::table::printable;
use crate::values::{self, flag, option, subcommand};

const HELP: &str = "Records a program's histograms into a continuous log that HdrHistogram's tools read

TARGET is a path, a process, or the name of a segment or a program. For each interval, the log has a line for each histogram that recorded \
something. The tag is the histogram's name with its labels. Live processes whose segments have the same name are one service. Their \
histograms are summed; --pid selects one process. When all have ended, the command waits until a process publishes under that name again. \
It ends at SIGINT and SIGTERM, after it has written the current interval. Logs have no counters, and no values outside of a histogram's \
range.

Some layouts do not exist in HdrHistogram, such as that of 1 %, the default of segments. Their values are written with the next lower \
number of significant digits, at least one. No count is lost, and values are as precise as that number of digits. Standard error has the \
names of these histograms.

  picollo record checkout -o checkout.hlog
  picollo record checkout -o checkout.hlog --rotate 100MB --keep 10
  picollo hlog checkout.hlog --by-tag";

pub(crate) fn command() -> Command {
    subcommand("record", HELP).args(reader::arguments()).mut_arg("target", |target| target.required(true)).args([
        reader::matching(),
        option("interval", "TIME", "the length of an interval, such as 250ms or 5m").value_parser(values::duration).default_value("1s"),
        option("output", "FILE.hlog", "the log; an existing file is only overwritten with --force").short('o').required(true).value_parser(value_parser!(PathBuf)),
        option("rotate", "SIZE", "begin a new log at this size, such as 100MB: FILE.hlog.1 is then the previous log, and FILE.hlog.2 the one before").value_parser(values::size),
        option("keep", "N", "the number of previous logs to keep").value_parser(value_parser!(u32).range(1..10_000)).default_value("10"),
        option("for", "TIME", "end after this time, such as 10s or 1h").value_parser(values::duration),
        flag("force", "overwrite an existing log"),
    ])
}

pub(crate) fn run(matches: &ArgMatches) -> Result<u8, Failure> {
    let blocked = Blocked::new();
    let path = matches.get_one::<PathBuf>("output").cloned().unwrap_or_default();
    let interval = matches.get_one::<Duration>("interval").copied().unwrap_or(Duration::from_secs(1));
    let mut reader = Reader::from_matches(matches)?;
    let mut log = Log::create(
        &path,
        matches.get_flag("force"),
        matches.get_one::<u64>("rotate").copied().unwrap_or(u64::MAX),
        matches.get_one::<u32>("keep").copied().unwrap_or(10),
    )?;
    let end = matches.get_one::<Duration>("for").map(|&time| Instant::now() + time);
    let mut pace = Pace::new(blocked, interval);
    let mut was_live = true;
    loop {
        let is_last = pace.wait_until(end);
        reader.read();
        reader.report("record");
        for sum in reader.sums() {
            if let Reading::Histogram(snapshot) = &sum.reading {
                let Interval { start_unix_nanos, seconds } = reader.interval;
                log.write_snapshot(&sum.title, snapshot, start_unix_nanos, seconds)?;
            }
        }
        log.notes().into_iter().for_each(|note| report("record", note));
        match (was_live, reader.is_live()) {
            (true, false) => report("record", "the program has ended; waiting for another with that name"),
            (false, true) => report("record", "the program runs again; continuing"),
            _ => {}
        }
        was_live = reader.is_live();
        if is_last {
            return log.close().map(|()| 0);
        }
    }
}

/// The current file and its predecessors.
pub(crate) struct Log {
    path: PathBuf,
    file: File,
    size: u64,
    most: u64,
    keep: u32,
    /// Tag of each histogram.
    tags: HashMap<String, String>,
    /// Notes about layouts that were not shown yet.
    notes: Vec<String>,
}

impl Log {
    pub(crate) fn create(path: &Path, overwrites: bool, most: u64, keep: u32) -> Result<Log, Failure> {
        let mut options = OpenOptions::new();
        options.write(true).truncate(true).create(overwrites).create_new(!overwrites);
        let file = options.open(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => {
                Failure::Message(format!("{} exists; choose another name or use --force", path.display()))
            }
            _ => Failure::for_file(path.display(), &error),
        })?;
        Ok(Log { path: path.into(), file, size: 0, most, keep, tags: HashMap::new(), notes: Vec::new() })
    }

    /// Starts the log with its first interval: HdrHistogram's readers skip intervals before the start.
    fn begin(&mut self, start_unix_nanos: u64) -> Result<(), Failure> {
        let mut text = String::new();
        // Not later than the interval as written, in milliseconds.
        let start = (start_unix_nanos / 1_000_000).saturating_sub(1) as f64 / 1e3;
        let comment = concat!("Logged by picollo ", env!("CARGO_PKG_VERSION"));
        let header = Header { comment, start_seconds: Some(start), base_seconds: Some(0.0) };
        write_header(&mut text, &header).map_err(|_| "the time of the log is out of range")?;
        self.append(&text)
    }

    /// Appends text with one write, so that readers find whole lines.
    fn append(&mut self, text: &str) -> Result<(), Failure> {
        self.size += text.len() as u64;
        self.file.write_all(text.as_bytes()).map_err(|error| Failure::for_file(self.path.display(), &error))
    }

    /// Writes a line unless the snapshot is empty.
    pub(crate) fn write_snapshot(
        &mut self,
        title: &str,
        snapshot: &Snapshot,
        start_unix_nanos: u64,
        seconds: f64,
    ) -> Result<(), Failure> {
        if snapshot.counts().total == 0 {
            return Ok(());
        }
        let written = as_hdr(snapshot)?;
        let tag = self.tag(title, snapshot, written.as_deref())?;
        let written = written.as_deref().unwrap_or(snapshot);
        let mut text = String::new();
        write_interval(&mut text, written, start_unix_nanos as f64 / 1e9, seconds, Some(&tag))
            .map_err(|error| format!("{}: {error}", printable(title)))?;
        if self.size > 0 && self.size + text.len() as u64 > self.most {
            self.rotate()?;
        }
        if self.size == 0 {
            self.begin(start_unix_nanos)?;
        }
        self.append(&text)
    }

    /// Returns the unique tag of a histogram. The first time, it notes a different layout in logs.
    fn tag(
        &mut self,
        title: &str,
        snapshot: &Snapshot,
        written: Option<&Snapshot>,
    ) -> Result<String, Failure> {
        if let Some(tag) = self.tags.get(title) {
            return Ok(tag.clone());
        }
        if let Some(written) = written {
            let (from, to) = (snapshot.layout(), written.layout());
            let digits = to.significant_digits();
            let plural = if digits == 1 { "" } else { "s" };
            self.notes.push(format!(
                "{}: written with {digits} significant digit{plural} ({:.2} %), because HdrHistogram has no layout of {:.2} %",
                printable(title),
                to.relative_error() * 100.0,
                from.relative_error() * 100.0
            ));
        }
        let plain = tag_of(title);
        let mut tag = plain.clone();
        let mut number = 1;
        while self.tags.values().any(|known| *known == tag) {
            number += 1;
            tag = format!("{plain}#{number}");
        }
        self.tags.insert(title.into(), tag.clone());
        Ok(tag)
    }

    /// Histograms with another layout in the log; each is returned once.
    pub(crate) fn notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    fn rotate(&mut self) -> Result<(), Failure> {
        let name = |number: u32| {
            let mut name = self.path.clone().into_os_string();
            if number > 0 {
                name.push(format!(".{number}"));
            }
            PathBuf::from(name)
        };
        for number in (0..self.keep).rev() {
            let (from, to) = (name(number), name(number + 1));
            match fs::rename(&from, &to) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Failure::for_file(from.display(), &error));
                }
                _ => (),
            }
        }
        let create = OpenOptions::new().write(true).create_new(true).open(&self.path);
        self.file = create.map_err(|error| Failure::for_file(self.path.display(), &error))?;
        self.size = 0;
        Ok(())
    }

    pub(crate) fn close(mut self) -> Result<(), Failure> {
        if self.size == 0 {
            self.begin(picollo_native::unix_nanos())?;
        }
        self.file.sync_all().map_err(|error| Failure::for_file(self.path.display(), &error))
    }
}

/// Replaces characters that a tag cannot contain.
fn tag_of(title: &str) -> String {
    let allowed = |character: char| match character {
        ',' => ';',
        _ if character.is_whitespace() || character.is_control() => '_',
        _ => character,
    };
    title.chars().map(allowed).collect()
}

/// The same counts in a layout of HdrHistogram; `None` if they already have one.
fn as_hdr(snapshot: &Snapshot) -> Result<Option<Box<Snapshot>>, Failure> {
    let layout = snapshot.layout();
    if layout.significant_digits() != 0 {
        return Ok(None);
    }
    let digits = match layout.scale() {
        17.. => 5,
        14.. => 4,
        10.. => 3,
        7.. => 2,
        _ => 1,
    };
    let coarser = Layout::with_significant_digits(digits, 0, layout.max_trackable())
        .and_then(|layout| layout.with_unit(layout.unit()))
        .map(Layout::with_whole_array)
        .and_then(Snapshot::boxed_alone);
    let mut written = coarser.map_err(|error| format!("a layout for logs: {error}"))?;
    written.merge(snapshot);
    Ok(Some(written))
}

#[cfg(test)]
mod tests {
    use super::*;
    use picollo_core::{Options, SharedHistogram, Since};

    #[test]
    fn logs_have_the_next_coarser_layout_and_every_count() {
        for error in [0.1, 0.05, 0.01, 0.004, 0.001, 0.0001, 1e-6] {
            let options = Options { relative_error: error, max_trackable: 1 << 20, ..Options::default() };
            let histogram = SharedHistogram::create(&options).unwrap();
            (0..20).for_each(|power| histogram.record((3 << power) / 2));
            let mut snapshot = Snapshot::boxed(*histogram.layout()).unwrap();
            histogram.update(&mut snapshot, Since::Reset).unwrap();
            let Some(written) = as_hdr(&snapshot).unwrap() else {
                assert_ne!(snapshot.layout().significant_digits(), 0);
                continue;
            };
            assert_eq!(written.counts().total, 20);
            let (digits, exact) = (written.layout().significant_digits(), snapshot.layout().relative_error());
            assert!(digits == 1 || written.layout().relative_error() >= exact, "{error}");
            let finer = Layout::with_significant_digits((digits + 1).min(5), 0, 1 << 20).unwrap();
            assert!(digits == 5 || finer.relative_error() < exact, "{error}");
        }
    }

    #[test]
    fn tags() {
        assert_eq!(tag_of("request{route=/pay,method=GET}"), "request{route=/pay;method=GET}");
        assert_eq!(tag_of("a b\u{2028}\u{85}\u{1}c"), "a_b___c");
    }
}
