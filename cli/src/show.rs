//! `picollo show`: what a program has published, since it began or in the next seconds.

use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command};
use picollo_core::text::{Format, Unit};
use picollo_core::{Snapshot, ValueSelection};
use picollo_native::{SegmentEntry, SegmentKind, Viewer};
use serde_json::{Map, Value, json};

use crate::failure::{Failure, print};
use crate::follow::{Follower, Recorded, title, told};
use crate::list;
use crate::places::{self, Places};
use crate::signals::Blocked;
use crate::table::{Form, count, table};
use crate::values;
use crate::watch::RANKS;

const ABOUT: &str = "What a program has published: totals and percentiles of each histogram";
const LONG_ABOUT: &str = "What a program has published: totals and percentiles of each histogram

TARGET is a path, a process, a segment's name or a program's; of several the one that lives. Values whose unit is one of time are \
shown in a unit that fits; with --raw and --json all are as recorded. What is asked of one that has ended is what it had recorded.

  picollo show checkout
  picollo show 1234 --match route=/pay
  picollo show checkout --for 10
  picollo show checkout --match request --json | jq '.entries[].p99'";

pub(crate) fn command() -> Command {
    Command::new("show").about(ABOUT).long_about(LONG_ABOUT).args(places::arguments()).args([
        Arg::new("target").value_name("TARGET").required(true).help("path, process, segment or program"),
        Arg::new("match")
            .long("match")
            .value_name("TEXT")
            .help("only entries with this in their name or labels (a=b)"),
        Arg::new("for").long("for").value_name("SECONDS").value_parser(values::duration).help(
            "what is recorded from now on, for so long or until SIGINT, instead of since the program began",
        ),
        Arg::new("raw").long("raw").action(ArgAction::SetTrue).help("values as recorded, with all digits"),
        Arg::new("json").long("json").action(ArgAction::SetTrue).help("for programs: values as recorded"),
    ])
}

/// What was read of an entry.
enum Reading {
    Histogram(Box<Snapshot>),
    Counter(u64),
}

pub(crate) fn run(matches: &ArgMatches) -> Result<u8, Failure> {
    let target = matches.get_one::<String>("target").map_or("", String::as_str);
    let wanted = matches.get_one::<String>("match").map_or("", String::as_str);
    let places = Places::of(matches)?;
    let mut viewer;
    let mut readings = Vec::new();
    if let Some(&time) = matches.get_one::<Duration>("for") {
        let blocked = Blocked::new();
        let mut follower = Follower::new(places, target, wanted)?;
        blocked.wait(Some(time));
        follower.advance()?;
        for followed in follower.entries.drain(..) {
            let reading = match followed.recorded {
                Recorded::Histogram(snapshot) => Reading::Histogram(snapshot),
                Recorded::Counter { added, .. } => Reading::Counter(added),
            };
            readings.push((followed.entry, reading));
        }
        viewer = follower.into_viewer();
    } else {
        viewer = Viewer::open(&places.find(target)?).map_err(told)?;
        read_all(&mut viewer, wanted, &mut readings)?;
    }
    if readings.is_empty() && !wanted.is_empty() {
        return Err(format!("nothing that {target} publishes has {wanted} in its name or labels").into());
    }
    let info = viewer.info().map_err(told)?;
    if matches.get_flag("json") {
        let mut object = list::json_of(&viewer.path().to_string_lossy(), &info);
        let entries =
            readings.iter().map(|(entry, reading)| json_of(entry, reading)).collect::<Result<_, _>>()?;
        object["entries"] = Value::Array(entries);
        print(&format!("{object:#}\n"))?;
        return Ok(0);
    }
    let mut text =
        format!("{} ({}, process {}, {})\n", info.name, info.program, info.pid, list::state(&info));
    let mut rows = Vec::new();
    for (entry, reading) in &readings {
        rows.push(row(entry, reading, matches.get_flag("raw"))?);
    }
    let mut headings = vec!["ENTRY".to_owned(), "COUNT".to_owned()];
    headings.extend(RANKS.map(|(_, name)| name.to_owned()));
    text += &table(&headings, &rows, &[0], Form::Text);
    print(&text)?;
    Ok(0)
}

/// Everything since the program began.
fn read_all(
    viewer: &mut Viewer,
    wanted: &str,
    readings: &mut Vec<(SegmentEntry, Reading)>,
) -> Result<(), Failure> {
    for index in 0..viewer.length() {
        let entry = viewer.entry(index).map_err(told)?.clone();
        if !title(&entry).contains(wanted) {
            continue;
        }
        let reading = match entry.kind {
            SegmentKind::Histogram => Reading::Histogram(viewer.snapshot(index).map_err(told)?),
            SegmentKind::Counter => Reading::Counter(viewer.counter(index).map_err(told)?),
        };
        readings.push((entry, reading));
    }
    Ok(())
}

fn row(entry: &SegmentEntry, reading: &Reading, is_raw: bool) -> Result<Vec<String>, Failure> {
    let mut row = vec![title(entry)];
    match reading {
        Reading::Counter(value) => {
            row.push(count(*value, true));
            row.extend(RANKS.map(|_| String::new()));
        }
        Reading::Histogram(snapshot) => {
            row.push(count(snapshot.counts().total, true));
            for (rank, _) in RANKS {
                row.push(match snapshot.percentile(rank, ValueSelection::Midpoint) {
                    Ok(found) if is_raw => found.value.to_string(),
                    Ok(found) => human(found.value, &entry.unit),
                    Err(_) => "-".into(),
                });
            }
        }
    }
    Ok(row)
}

fn json_of(entry: &SegmentEntry, reading: &Reading) -> Result<Value, Failure> {
    let labels: Map<String, Value> =
        entry.labels.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
    let mut object = json!({
        "name": entry.name,
        "labels": labels,
        "unit": entry.unit,
        "help": entry.help,
        "divisor": entry.divisor,
        "created_unix_nanos": entry.created_unix_nanos,
        "memory_bytes": entry.bytes,
        "writer_pid": entry.writer,
    });
    match reading {
        Reading::Counter(value) => {
            object["kind"] = "counter".into();
            object["value"] = (*value).into();
        }
        Reading::Histogram(snapshot) => {
            object["kind"] = "histogram".into();
            let mut text = String::new();
            let written = snapshot.summary(ValueSelection::Midpoint).write(&mut text, "", Format::Json);
            let summary = written.ok().and_then(|()| serde_json::from_str(&text).ok());
            object["summary"] = summary.ok_or("a summary cannot be written")?;
            for (rank, name) in RANKS {
                let found = snapshot.percentile(rank, ValueSelection::Midpoint).ok();
                object[name] = found.map_or(Value::Null, |found| found.value.into());
            }
        }
    }
    Ok(object)
}

/// A value for people: as the library writes it, with the name of a unit that it does not know.
pub(crate) fn human(value: u64, unit: &str) -> String {
    let known = Unit::new(unit);
    let text = known.integer(value).to_string();
    if known.is_known() && !known.is_counted() || unit.is_empty() { text } else { format!("{text} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_for_people() {
        for (value, unit, text) in [
            (0, "ns", "0 ns"),
            (999, "ns", "999 ns"),
            (3_290_000, "ns", "3.29 ms"),
            (3_290, "microseconds", "3.29 ms"),
            (45_600, "ns", "45.6 µs"),
            (999_499, "ns", "999 µs"),
            (999_999, "ns", "1.00 ms"),
            (9_996, "ns", "10.0 µs"),
            (999_999_999, "ns", "1.00 s"),
            (4_509_696, "ps", "4.51 µs"),
            (999, "picoseconds", "999 ps"),
            (0, "ms", "0 ms"),
            (5, "s", "5 s"),
            (7_200_000_000_000, "ns", "7,200 s"),
            (1234, "", "1,234"),
            (1234, "bytes", "1.23 kB"),
            (1234, "parcels", "1,234 parcels"),
            (12_345, "cycles", "12.3 k cycles"),
        ] {
            assert_eq!(human(value, unit), text);
        }
    }
}
