//! `picollo report`: a page with pictures of a running program or of a log.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{ArgAction, ArgMatches, Command, value_parser};
use picollo_codec::log::{self, Interval};
use picollo_core::Snapshot;
use picollo_perf::Place;
use picollo_text::Unit;
use picollo_text::picture::Xml;
use picollo_text::picture::{
    Picture, Pictures, Series, write_facts, write_head, write_sentence, write_totals,
};

use crate::exemplars;
use crate::failure::{Failure, write_file};
use crate::hlog::source::Source;
use crate::hlog::{ANY_COUNTERS, NO_INTERVAL};
use crate::reader::{self, Reader, Reading, Sum};
use crate::table::{count, printable};
use crate::values::{self, option, subcommand};

const HELP: &str = "Writes one page with pictures, of a running program or of a log

The HTML file needs no other files. For each histogram it has a table, the curve of the percentiles, and the density. For three or more \
intervals, it also has a heat map over time. TARGET is a log (FILE.hlog, FILE.hlog.1 or FILE.hlog.gz), or a target of `picollo show`. In \
the second case the page covers the time since the program began. For a heat map of the future, first write a log with `picollo record`.

With --exemplars, the page also shows why slow requests were slow. The file has the intervals of a program's collector of exemplars as \
JSON, one or more. Without TARGET, the page has nothing else.

  picollo report checkout -o page.html
  picollo record checkout --for 1m -o now.hlog && picollo report now.hlog -o page.html
  picollo report checkout.hlog --match route=/pay -o page.html
  picollo report checkout --exemplars slow.json -o page.html";

/// Maximum number of columns of a heat map; for longer logs, neighbors are added.
const MOST_SLICES: usize = 240;
/// Maximum number of histograms on a page.
const MOST_HISTOGRAMS: usize = 100;
/// Maximum number of intervals of exemplars on a page.
const MOST_INTERVALS: usize = 100;

pub(crate) fn command() -> Command {
    let command = subcommand("report", HELP).args(reader::arguments()).mut_arg("target", |target| {
        target.required_unless_present("exemplars").help("a log, path, process, segment or program")
    });
    command.args([
        option("output", "PAGE.html", "the page; an existing file is overwritten")
            .short('o')
            .required(true)
            .value_parser(value_parser!(PathBuf)),
        option(
            "exemplars",
            "FILE.json",
            "show why slow requests were slow, from the JSON of a collector of exemplars; repeatable",
        )
        .action(ArgAction::Append)
        .value_parser(value_parser!(PathBuf)),
        option("match", "TEXT", "only histograms with this in their name or labels (a=b), or tag")
            .requires("target"),
        option("unit", "UNIT", "what a log's values are counted in").default_value("ns"),
        option("title", "TEXT", "the page's heading"),
    ])
}

/// A histogram as a sequence of slices.
struct Pictured {
    title: String,
    unit: String,
    slices: Vec<(String, Box<Snapshot>)>,
    /// The sum of all slices.
    all: Box<Snapshot>,
    /// Number of intervals per slice.
    merged: usize,
    waiting: usize,
}

impl Pictured {
    fn new(title: String, unit: &str, first: &Snapshot) -> Result<Pictured, Failure> {
        let all = Snapshot::boxed_alone(*first.layout())?;
        Ok(Pictured { title, unit: unit.into(), slices: Vec::new(), all, merged: 1, waiting: 0 })
    }

    fn add(&mut self, when: String, snapshot: &Snapshot) -> Result<(), Failure> {
        // A log may change its layout. The widest range holds all values.
        if snapshot.layout().max_trackable() > self.all.layout().max_trackable() {
            let mut wider = Snapshot::boxed_alone(*snapshot.layout())?;
            wider.merge(&self.all);
            self.all = wider;
        }
        self.all.merge(snapshot);
        match self.slices.last_mut() {
            Some((_, last)) if self.waiting > 0 => {
                last.merge(snapshot);
                self.waiting -= 1;
            }
            _ => {
                self.slices.push((when, snapshot.boxed_copy()?));
                self.waiting = self.merged - 1;
            }
        }
        if self.slices.len() > MOST_SLICES {
            let mut halved: Vec<(String, Box<Snapshot>)> = Vec::new();
            for (at, (when, slice)) in self.slices.drain(..).enumerate() {
                match halved.last_mut() {
                    Some((_, before)) if at % 2 == 1 => _ = before.merge(&slice),
                    _ => halved.push((when, slice)),
                }
            }
            // The number was odd, so the last slice had no neighbor.
            self.waiting += self.merged;
            self.merged *= 2;
            self.slices = halved;
        }
        Ok(())
    }
}

pub(crate) fn run(matches: &ArgMatches) -> Result<u8, Failure> {
    let text = |name| matches.get_one::<String>(name).map_or("", String::as_str);
    let (target, wanted) = (text("target"), text("match"));
    let is_log = target == "-" || is_log(target);
    // This comes before a program is followed for a while, so that an invalid file fails early.
    let (files, slow) = slow(matches)?;
    let pictured = if target.is_empty() && !files.is_empty() {
        Vec::new()
    } else if is_log {
        read_log(target, wanted, text("unit"))?
    } else {
        read_segments(matches)?
    };
    if pictured.is_empty() && (!target.is_empty() || files.is_empty()) {
        let what = if wanted.is_empty() { String::new() } else { format!(" with {wanted} in its name") };
        return Err(format!("{target} has no histogram{what} that recorded anything").into());
    }
    let of = if target.is_empty() { &*files } else { target };
    let heading = matches.get_one::<String>("title").map_or(of, String::as_str);
    let path = matches.get_one::<PathBuf>("output").cloned().unwrap_or_default();
    let page = page(heading, of, &pictured, &slow).map_err(|_| "the page cannot be written")?;
    write_file(&path, &page)?;
    Ok(0)
}

/// Whether a name is that of a log: the original, rotated (`.hlog.1`), or compressed.
fn is_log(target: &str) -> bool {
    let bare = target.strip_suffix(".gz").unwrap_or(target);
    let number = bare.rsplit_once('.').filter(|(_, number)| number.parse::<u32>().is_ok());
    number.map_or(bare, |(bare, _)| bare).ends_with(".hlog")
}

/// The names of the files with exemplars, and the sections about them.
fn slow(matches: &ArgMatches) -> Result<(String, String), Failure> {
    let (mut names, mut intervals) = (String::new(), Vec::new());
    for path in matches.get_many::<PathBuf>("exemplars").into_iter().flatten() {
        names += &format!("{}{}", if names.is_empty() { "" } else { ", " }, path.display());
        intervals.extend(exemplars::read(path)?);
    }
    let before = intervals.len().saturating_sub(MOST_INTERVALS);
    let mut html = String::new();
    if before > 0 {
        let (before, shown) = (count(before as u64, true), MOST_INTERVALS);
        html += &format!(
            "<p class=\"note\">The last {shown} intervals; {before} before them are not shown.</p>\n"
        );
    }
    for interval in &intervals[before..] {
        interval.write_html(&mut html).map_err(|_| "an interval cannot be written")?;
    }
    Ok((names, html))
}

fn read_segments(matches: &ArgMatches) -> Result<Vec<Pictured>, Failure> {
    let mut reader = Reader::from_matches(matches)?;
    reader.report("report");
    let mut found = Vec::new();
    for Sum { about, title, reading, .. } in reader.sums() {
        let Reading::Histogram(snapshot) = reading else { continue };
        if snapshot.counts().total > 0 && found.len() < MOST_HISTOGRAMS {
            let mut pictured = Pictured::new(title, &about.unit, &snapshot)?;
            pictured.add(values::clock(about.created_unix_nanos), &snapshot)?;
            found.push(pictured);
        }
    }
    Ok(found)
}

fn time_of_day(unix_nanos: u64) -> String {
    let clock = values::clock(unix_nanos);
    clock.get(11..19).unwrap_or_default().to_owned()
}

fn read_log(file: &str, wanted: &str, unit: &str) -> Result<Vec<Pictured>, Failure> {
    let mut source = Source::open(file)?;
    let name = printable(&source.name);
    let mut found: BTreeMap<String, Pictured> = BTreeMap::new();
    let mut state = log::Reader::new(&[]);
    while let Some(line) = source.line()? {
        let mut reader = state.on(line);
        while let Some(interval) = reader.next() {
            let taken = interval
                .map_err(|_| NO_INTERVAL.into())
                .and_then(|interval| take(&mut found, &interval, wanted, unit));
            taken.map_err(|fault| format!("{name}:{}: {}", reader.line(), fault.text()))?;
        }
        state = reader.on(&[]);
    }
    Ok(found.into_values().filter(|pictured| pictured.all.counts().total > 0).collect())
}

fn take(
    found: &mut BTreeMap<String, Pictured>,
    interval: &Interval<'_>,
    wanted: &str,
    unit: &str,
) -> Result<(), Failure> {
    let tag = interval.tag.unwrap_or("");
    if !tag.contains(wanted) || found.len() == MOST_HISTOGRAMS && !found.contains_key(tag) {
        return Ok(());
    }
    let mut scratch = Vec::new();
    let decoded = interval.decoder(&mut scratch, ANY_COUNTERS).and_then(|decoder| decoder.boxed());
    let snapshot = decoded.map_err(|error| format!("the histogram: {error}"))?;
    if !found.contains_key(tag) {
        let name = if tag.is_empty() { "untagged" } else { tag };
        found.insert(tag.into(), Pictured::new(name.into(), unit, &snapshot)?);
    }
    let pictured = found.get_mut(tag).ok_or("a tag that is gone")?;
    // Times before 1970 are relative, and are shown as they are.
    let nanos = (interval.start_seconds.max(0.0) * 1e9) as u64;
    pictured.add(time_of_day(nanos), &snapshot)
}

/// Styles for this page only.
const STYLE: &str = "@media print{h2{break-before:page}h2:first-of-type{break-before:auto}}";

fn page(heading: &str, target: &str, pictured: &[Pictured], slow: &str) -> Result<String, std::fmt::Error> {
    let mut html = String::new();
    write_head(&mut html, &printable(heading), STYLE)?;
    let place = Place::here();
    let [date, host, command, kernel, cpu] = place.facts();
    let version = concat!("picollo ", env!("CARGO_PKG_VERSION"));
    let (target, command) = (printable(target), printable(command.1));
    let facts = [date, ("Of", &*target), host, ("Command", &*command), kernel, cpu, ("Written by", version)];
    write_facts(&mut html, &facts)?;
    for one in pictured {
        let (title, unit) = (printable(&one.title), Unit::new(&one.unit));
        html += &format!("<h2>{}</h2>\n", Xml(&title));
        write_sentence(&mut html, "", &one.all, unit)?;
        let all = |_: usize| Series { title: &title, snapshot: &one.all };
        let slice = |at: usize| Series { title: &one.slices[at].0, snapshot: &one.slices[at].1 };
        let whole = Pictures { unit: &one.unit, width: 1200, height: 420, ..Pictures::new(1, &all) };
        write_totals(&mut html, &whole, unit)?;
        whole.write_svg(&mut html, Picture::Percentiles)?;
        whole.write_svg(&mut html, Picture::Density)?;
        if one.slices.len() >= 3 {
            let heat = Pictures { length: one.slices.len(), get: &slice, ..whole };
            heat.write_svg(&mut html, Picture::HeatMap)?;
        }
    }
    Ok(html + slow + "</body></html>\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use picollo_core::{Layout, Options, SharedHistogram, Since};

    #[test]
    fn long_logs_keep_all_counts_in_few_slices() {
        let layout = Layout::new(0.01, 0, 1 << 20);
        let histogram = SharedHistogram::create(&Options {
            relative_error: 0.01,
            max_trackable: 1 << 20,
            ..Options::default()
        })
        .unwrap();
        let mut snapshot = Snapshot::boxed(layout).unwrap();
        let mut pictured = Pictured::new("x".into(), "ns", &snapshot).unwrap();
        for number in 0..2000u64 {
            histogram.record(number);
            histogram.update(&mut snapshot, Since::PreviousUpdate).unwrap();
            pictured.add(number.to_string(), &snapshot).unwrap();
            assert!(pictured.slices.len() <= MOST_SLICES);
            let slices: u64 = pictured.slices.iter().map(|(_, slice)| slice.counts().total).sum();
            assert_eq!((slices, pictured.all.counts().total), (number + 1, number + 1));
        }
        // All except the last contain the same number of intervals.
        let (_, but_the_last) = pictured.slices.split_last().unwrap();
        for (at, (when, slice)) in but_the_last.iter().enumerate() {
            assert_eq!(
                (slice.counts().total, when.clone()),
                (pictured.merged as u64, (at * pictured.merged).to_string())
            );
        }
    }

    #[test]
    fn names_of_logs() {
        assert!(["a.hlog", "a.hlog.1", "a.hlog.gz", "a.hlog.12.gz"].iter().all(|name| is_log(name)));
        assert!(!["a", "hlog", "a.hlog.x", "a.gz", "a.1"].iter().any(|name| is_log(name)));
    }
}
