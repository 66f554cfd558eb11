//! `picollo report`: one page with pictures of a running program, or of a log.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use picollo_core::log::{Interval, Reader};
use picollo_core::text::Unit;
use picollo_core::text::picture::{Picture, Pictures, REPORT_STYLE, Series, write_facts, write_sentence};
use picollo_core::{Snapshot, ValueSelection};
use picollo_native::{Place, SegmentKind, Viewer};

use crate::exemplars;
use crate::failure::{Failure, write_file};
use crate::follow::{Follower, Recorded, title, told};
use crate::hlog::source::Source;
use crate::hlog::sum::ANY_COUNTERS;
use crate::places::{self, Places};
use crate::show::human;
use crate::signals::Blocked;
use crate::table::{count, printable};
use crate::values;
use crate::watch::{Pace, RANKS};

const ABOUT: &str = "One page with pictures: of a running program, or of a log";
const LONG_ABOUT: &str = "One page with pictures: of a running program, or of a log

Writes an HTML file that needs nothing else: for each histogram a table, the curve of its percentiles, its density, and, where there are three \
intervals or more, a heat map over time. TARGET is a file that ends in .hlog or .hlog.gz, or what `picollo show` takes: then the page is \
of all since the program began, or with --for of the next seconds, interval by interval.

With --exemplars the page also says why the slow ones were slow: of the intervals that a program's collector of exemplars wrote as \
JSON, one or more in a file. Without TARGET it says nothing else.

  picollo report checkout -o page.html
  picollo report checkout --for 1min -o page.html
  picollo report checkout.hlog --match route=/pay -o page.html
  picollo report checkout --exemplars slow.json -o page.html";

/// Columns of a heat map; of longer logs neighbours are added up.
const MOST_SLICES: usize = 240;
/// Histograms on a page.
const MOST_HISTOGRAMS: usize = 100;
/// Intervals of exemplars on a page.
const MOST_INTERVALS: usize = 100;

pub(crate) fn command() -> Command {
    Command::new("report").about(ABOUT).long_about(LONG_ABOUT).args(places::arguments()).args([
        Arg::new("target")
            .value_name("TARGET")
            .required_unless_present("exemplars")
            .help("log, path, process, segment or program"),
        Arg::new("output")
            .short('o')
            .long("output")
            .value_name("PAGE.html")
            .required(true)
            .value_parser(value_parser!(PathBuf))
            .help("the page; one that exists is overwritten"),
        Arg::new("exemplars")
            .long("exemplars")
            .value_name("FILE.json")
            .action(ArgAction::Append)
            .value_parser(value_parser!(PathBuf))
            .help("why the slow ones were slow: JSON of a collector of exemplars; repeatable"),
        Arg::new("match")
            .long("match")
            .value_name("TEXT")
            .requires("target")
            .help("only histograms with this in their name or labels (a=b), or tag"),
        Arg::new("for")
            .long("for")
            .value_name("SECONDS")
            .requires("target")
            .value_parser(values::duration)
            .help("of what a program records from now on, for so long or until SIGINT"),
        Arg::new("interval")
            .long("interval")
            .value_name("SECONDS")
            .value_parser(values::duration)
            .default_value("1")
            .help("how long an interval is then"),
        Arg::new("unit")
            .long("unit")
            .value_name("UNIT")
            .default_value("ns")
            .help("what a log's values are counted in"),
        Arg::new("title").long("title").value_name("TEXT").help("the page's heading"),
    ])
}

/// A histogram, slice by slice.
struct Pictured {
    title: String,
    unit: String,
    slices: Vec<(String, Box<Snapshot>)>,
    /// All of them together.
    all: Box<Snapshot>,
    /// How many intervals a slice is of.
    merged: usize,
    waiting: usize,
}

impl Pictured {
    fn new(title: String, unit: &str, first: &Snapshot) -> Result<Pictured, Failure> {
        let all = Snapshot::boxed_alone(*first.layout()).map_err(no_memory)?;
        Ok(Pictured { title, unit: unit.into(), slices: Vec::new(), all, merged: 1, waiting: 0 })
    }

    fn add(&mut self, when: String, snapshot: &Snapshot) -> Result<(), Failure> {
        // A log may change its layout: the widest range holds all.
        if snapshot.layout().max_trackable() > self.all.layout().max_trackable() {
            let mut wider = Snapshot::boxed_alone(*snapshot.layout()).map_err(no_memory)?;
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
                self.slices.push((when, snapshot.boxed_copy().map_err(no_memory)?));
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
            // An odd number: the last had no neighbour.
            self.waiting += self.merged;
            self.merged *= 2;
            self.slices = halved;
        }
        Ok(())
    }
}

fn no_memory(error: picollo_core::Error) -> Failure {
    Failure::Told(format!("a snapshot: {error}"))
}

pub(crate) fn run(matches: &ArgMatches) -> Result<u8, Failure> {
    let text = |name| matches.get_one::<String>(name).map_or("", String::as_str);
    let (target, wanted) = (text("target"), text("match"));
    let is_log = target == "-" || target.ends_with(".hlog") || target.ends_with(".hlog.gz");
    // Before a program is followed for a while: a file that is none should not cost that.
    let (files, slow) = slow(matches)?;
    let pictured = if target.is_empty() && !files.is_empty() {
        Vec::new()
    } else if is_log {
        of_log(target, wanted, text("unit"))?
    } else if let Some(&time) = matches.get_one::<Duration>("for") {
        let interval = matches.get_one::<Duration>("interval").copied().unwrap_or(Duration::from_secs(1));
        of_next(Places::of(matches)?, target, wanted, time, interval)?
    } else {
        of_all(&Places::of(matches)?, target, wanted)?
    };
    if pictured.is_empty() && (!target.is_empty() || files.is_empty()) {
        let what = if wanted.is_empty() { String::new() } else { format!(" with {wanted} in its name") };
        return Err(format!("{target} has no histogram{what} that recorded anything").into());
    }
    let of = if target.is_empty() { &*files } else { target };
    let heading = matches.get_one::<String>("title").map_or(of, String::as_str);
    let path = matches.get_one::<PathBuf>("output").cloned().unwrap_or_default();
    write_file(&path, &page(heading, of, &pictured, &slow)?)?;
    Ok(0)
}

/// The names of the files of exemplars, and the sections that say what is in them.
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

fn of_all(places: &Places, target: &str, wanted: &str) -> Result<Vec<Pictured>, Failure> {
    let mut viewer = Viewer::open(&places.find(target)?).map_err(told)?;
    let mut found = Vec::new();
    for index in 0..viewer.length() {
        let entry = viewer.entry(index).map_err(told)?.clone();
        if entry.kind != SegmentKind::Histogram || !title(&entry).contains(wanted) {
            continue;
        }
        let snapshot = viewer.snapshot(index).map_err(told)?;
        if snapshot.counts().total > 0 && found.len() < MOST_HISTOGRAMS {
            let mut pictured = Pictured::new(title(&entry), &entry.unit, &snapshot)?;
            pictured.add(values::clock(entry.created_unix_nanos), &snapshot)?;
            found.push(pictured);
        }
    }
    Ok(found)
}

fn of_next(
    places: Places,
    target: &str,
    wanted: &str,
    time: Duration,
    interval: Duration,
) -> Result<Vec<Pictured>, Failure> {
    let blocked = Blocked::new();
    let mut follower = Follower::new(places, target, wanted)?;
    let end = Instant::now() + time;
    let mut pace = Pace::new(blocked, interval);
    let mut found: Vec<(usize, Pictured)> = Vec::new();
    loop {
        let is_last = pace.wait_until(Some(end)) || !follower.is_live();
        let interval = follower.advance()?;
        for followed in &follower.entries {
            let Recorded::Histogram(snapshot) = &followed.recorded else { continue };
            let known = found.iter().position(|(index, _)| *index == followed.index);
            let at = match known {
                Some(at) => at,
                None if found.len() == MOST_HISTOGRAMS => continue,
                None => {
                    let pictured = Pictured::new(title(&followed.entry), &followed.entry.unit, snapshot)?;
                    found.push((followed.index, pictured));
                    found.len() - 1
                }
            };
            found[at].1.add(time_of_day(interval.start_unix_nanos), snapshot)?;
        }
        if is_last {
            let recorded = found.into_iter().map(|(_, pictured)| pictured);
            return Ok(recorded.filter(|pictured| pictured.all.counts().total > 0).collect());
        }
    }
}

fn time_of_day(unix_nanos: u64) -> String {
    let clock = values::clock(unix_nanos);
    clock.get(11..19).unwrap_or_default().to_owned()
}

fn of_log(file: &str, wanted: &str, unit: &str) -> Result<Vec<Pictured>, Failure> {
    let mut source = Source::open(file)?;
    let name = printable(&source.name);
    let mut found: BTreeMap<String, Pictured> = BTreeMap::new();
    let mut state = Reader::new(&[]);
    while let Some(lines) = source.lines()? {
        let mut reader = state.on(lines);
        while let Some(interval) = reader.next() {
            let taken = interval
                .map_err(|_| "this is no interval of a log".to_owned())
                .and_then(|interval| take(&mut found, &interval, wanted, unit));
            taken.map_err(|fault| format!("{name}:{}: {fault}", reader.line()))?;
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
) -> Result<(), String> {
    let tag = interval.tag.unwrap_or("");
    if !tag.contains(wanted) || found.len() == MOST_HISTOGRAMS && !found.contains_key(tag) {
        return Ok(());
    }
    let mut scratch = Vec::new();
    let decoded = interval.decoder(&mut scratch, ANY_COUNTERS).and_then(|decoder| decoder.boxed());
    let snapshot = decoded.map_err(|error| format!("the histogram: {error}"))?;
    if !found.contains_key(tag) {
        let name = if tag.is_empty() { "untagged" } else { tag };
        let pictured = Pictured::new(name.into(), unit, &snapshot).map_err(|failure| failure.to_string())?;
        found.insert(tag.into(), pictured);
    }
    let pictured = found.get_mut(tag).ok_or("a tag that is gone")?;
    // Times before 1970 are relative: as they are.
    let nanos = (interval.start_seconds.max(0.0) * 1e9) as u64;
    pictured.add(time_of_day(nanos), &snapshot).map_err(|failure| failure.to_string())
}

fn escaped(text: &str) -> String {
    let mut result = String::new();
    for character in printable(text).chars() {
        match character {
            '&' => result += "&amp;",
            '<' => result += "&lt;",
            '>' => result += "&gt;",
            '"' => result += "&quot;",
            _ => result.push(character),
        }
    }
    result
}

/// What only this page has.
const STYLE: &str = "@media print{h2{break-before:page}h2:first-of-type{break-before:auto}}";

/// What was read, by what, and where.
fn facts(place: &Place, target: &str) -> Result<String, Failure> {
    let [date, host, command, kernel, cpu] = place.facts();
    let version = concat!("picollo ", env!("CARGO_PKG_VERSION"));
    let (target, command) = (printable(target), printable(command.1));
    let mut html = String::new();
    let all = [date, ("Of", &*target), host, ("Command", &*command), kernel, cpu, ("Written by", version)];
    write_facts(&mut html, &all).map_err(|_| "the facts cannot be written")?;
    Ok(html)
}

fn page(heading: &str, target: &str, pictured: &[Pictured], slow: &str) -> Result<String, Failure> {
    let heading = escaped(heading);
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{heading}</title><style>{REPORT_STYLE}{STYLE}</style></head>\n\
         <body><h1>{heading}</h1>\n",
    );
    html += &facts(&Place::here(), target)?;
    for one in pictured {
        html += &format!("<h2>{}</h2>\n", escaped(&one.title));
        let unit = Unit::new(&one.unit);
        write_sentence(&mut html, "", &one.all, unit).map_err(|_| "a sentence cannot be written")?;
        html += "<div class=\"wide\"><table><thead><tr><th>Values</th><th>Mean</th><th>Std dev</th>";
        RANKS.iter().for_each(|(_, name)| html += &format!("<th>{}</th>", name.replace('p', "P")));
        let moments = one.all.moments();
        html += &format!(
            "</tr></thead>\n<tbody><tr><td>{}</td><td>{}</td><td>{}</td>",
            count(one.all.counts().total, true),
            unit.number(moments.mean),
            unit.number(moments.stddev)
        );
        for (rank, _) in RANKS {
            let found = one.all.percentile(rank, ValueSelection::Midpoint);
            let value = found.map_or("–".into(), |found| human(found.value, &one.unit));
            html += &format!("<td>{}</td>", escaped(&value));
        }
        html += "</tr></tbody></table></div>\n";
        let all = Series { title: &one.title, snapshot: &one.all };
        let get = |_: usize| all;
        let whole = Pictures { unit: &one.unit, width: 1200, height: 420, ..Pictures::new(1, &get) };
        for picture in [Picture::Percentiles, Picture::Density] {
            whole.write_svg(&mut html, picture).map_err(|_| "a picture cannot be written")?;
        }
        if one.slices.len() >= 3 {
            let get = |at: usize| Series { title: &one.slices[at].0, snapshot: &one.slices[at].1 };
            let heat = Pictures {
                unit: &one.unit,
                width: 1200,
                height: 420,
                ..Pictures::new(one.slices.len(), &get)
            };
            heat.write_svg(&mut html, Picture::HeatMap).map_err(|_| "a picture cannot be written")?;
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
        // As many intervals in each, but for the last.
        let (_, but_the_last) = pictured.slices.split_last().unwrap();
        for (at, (when, slice)) in but_the_last.iter().enumerate() {
            assert_eq!(
                (slice.counts().total, when.clone()),
                (pictured.merged as u64, (at * pictured.merged).to_string())
            );
        }
    }
}
