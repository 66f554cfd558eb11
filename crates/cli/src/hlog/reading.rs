//! Reads all logs and selects intervals.

use std::collections::BTreeSet;
use std::time::Duration;

use clap::ArgMatches;
use picollo_codec::log::{Interval, Reader};
use picollo_core::{Error, Snapshot};

use super::groups::{ANY_COUNTERS, Group, Groups};
use super::source::Source;
use crate::failure::{Failure, report};
use crate::progress::{Progress, format_bytes};
use crate::table::printable;
use crate::values::Time;

/// Maximum number of unreadable lines to report one by one.
const REPORTED: u64 = 10;
/// Maximum number of tags to remember for the message if no interval was selected.
const NAMED: usize = 100;
/// Times are written with three decimals. Half a millisecond is the rounding error of their sums.
const ROUNDING: f64 = 0.0005;

/// What to select, how to group it, and the data so far.
pub(super) struct Reading {
    /// If `None`, all tags.
    wanted: Option<Vec<String>>,
    start: Option<Time>,
    end: Option<Time>,
    by_tag: bool,
    /// In seconds.
    window: Option<f64>,
    skip_errors: bool,
    /// Beginning of the first log.
    pub(super) origin: Option<f64>,
    tags: BTreeSet<String>,
    seen: u64,
    skipped: u64,
    pub(super) groups: Groups,
}

/// Why a line is invalid.
type Fault = String;

/// The message for a line that has no interval.
pub(crate) const NO_INTERVAL: &str =
    "the line is not an interval of a log, which is [Tag=...,] begin, length, maximum and a histogram";

impl Reading {
    pub(super) fn new(matches: &ArgMatches) -> Reading {
        Reading {
            wanted: matches.get_many("tag").map(|tags| tags.cloned().collect()),
            start: matches.get_one("start").copied(),
            end: matches.get_one("end").copied(),
            by_tag: matches.get_flag("by-tag"),
            window: matches.get_one("window").map(Duration::as_secs_f64),
            skip_errors: matches.get_flag("skip-errors"),
            origin: None,
            tags: BTreeSet::new(),
            seen: 0,
            skipped: 0,
            groups: Groups::new(),
        }
    }

    pub(super) fn read(&mut self, files: &[String], mut progress: Progress) -> Result<(), Failure> {
        let sizes: Option<Vec<u64>> = files
            .iter()
            .map(|file| Some(std::fs::metadata(file).ok().filter(|_| file != "-")?.len()))
            .collect();
        let total = sizes.map(|sizes| sizes.iter().sum());
        let mut done = 0;
        for file in files {
            let mut source = Source::open(file)?;
            let name = source.name.clone();
            let mut state = Reader::new(&[]);
            while let Some(line) = source.line()? {
                let mut reader = state.on(line);
                // This is not a `for` loop because it asks the reader for its position.
                while let Some(interval) = reader.next() {
                    let result =
                        interval.map_err(|_| NO_INTERVAL.into()).and_then(|interval| self.take(&interval));
                    if let Err(fault) = result {
                        let what = format!("{name}:{}: {fault}", reader.line());
                        if !self.skip_errors {
                            return Err(
                                format!("{what}\n(use --skip-errors to continue after such lines)").into()
                            );
                        }
                        self.skipped += 1;
                        if self.skipped <= REPORTED {
                            progress.clear();
                            report("hlog", what);
                        }
                    }
                }
                done += line.len() as u64;
                // Compressed files contain more bytes than their size.
                let total = total.filter(|&total| done <= total);
                progress.update(|took| format!("{}  {}", format_bytes(done, total, took), printable(&name)));
                state = reader.on(&[]);
            }
        }
        if self.skipped > REPORTED {
            progress.clear();
            report("hlog", format!("{} more lines could not be read", self.skipped - REPORTED));
        }
        Ok(())
    }

    fn take(&mut self, interval: &Interval) -> Result<(), Fault> {
        let tag = interval.tag.unwrap_or("");
        if !self.picks(tag, interval.start_seconds) {
            return Ok(());
        }
        let group = self.group_of(tag, interval.start_seconds)?;
        let mut scratch = Vec::new();
        let snapshot: Result<(Box<Snapshot>, f64), Error> = interval
            .decoder(&mut scratch, ANY_COUNTERS)
            .and_then(|decoder| Ok((decoder.boxed()?, decoder.value_ratio())));
        let (snapshot, ratio) = snapshot.map_err(|error| format!("the histogram: {error}"))?;
        if self.groups.len() == 0 {
            self.groups.ratio = ratio;
        } else if self.groups.ratio != ratio {
            let known = self.groups.ratio;
            return Err(format!(
                "this is a histogram of doubles whose values are multiplied by {ratio}, and not by {known} as those before"
            ));
        }
        self.groups.add(group, &snapshot).map_err(|error| format!("the sum: {error}"))
    }

    fn picks(&mut self, tag: &str, start: f64) -> bool {
        self.seen += 1;
        if self.tags.len() < NAMED && !self.tags.contains(tag) {
            self.tags.insert(tag.to_owned());
        }
        let origin = *self.origin.get_or_insert(start);
        let seconds = |time: Time| match time {
            Time::Absolute(seconds) => seconds - ROUNDING,
            Time::Relative(seconds) => origin + seconds - ROUNDING,
        };
        self.wanted.as_ref().is_none_or(|tags| tags.iter().any(|known| known == tag))
            && self.start.is_none_or(|time| start >= seconds(time))
            && self.end.is_none_or(|time| start < seconds(time))
    }

    fn group_of(&self, tag: &str, start: f64) -> Result<Group, Fault> {
        let window = match self.window {
            None => 0,
            Some(width) => {
                let after = start - self.origin.unwrap_or(0.0);
                // A log may contain arbitrary times, even ones that fit in no window.
                if after.is_nan() || after.abs() >= 1e12 {
                    return Err(format!("{start:e} is not a time"));
                }
                ((after + ROUNDING) / width).floor() as i64
            }
        };
        Ok(Group { tag: if self.by_tag { tag.to_owned() } else { String::new() }, window })
    }

    /// Beginning and end of a window, in seconds after the origin.
    pub(super) fn span_of(&self, group: &Group) -> (f64, f64) {
        let width = self.window.unwrap_or(0.0);
        (group.window as f64 * width, (group.window + 1) as f64 * width)
    }

    /// Explains why there is nothing to show.
    pub(super) fn why_nothing(&self, files: usize) -> String {
        if self.seen == 0 {
            return format!(
                "there are no intervals in {}",
                if files > 1 { "these logs" } else { "this log" }
            );
        }
        let tags: Vec<String> =
            self.tags.iter().take(10).map(|tag| format!("'{}'", printable(tag))).collect();
        let more = if self.tags.len() > 10 { ", ..." } else { "" };
        let seen = crate::table::count(self.seen, true);
        format!("the options select none of the {seen} intervals; the tags are {}{more}", tags.join(", "))
    }
}
