//! `picollo show`: published data, since the beginning or by interval.

use std::time::{Duration, Instant};

use clap::{ArgMatches, Command, value_parser};
use picollo_core::Snapshot;
use picollo_core::layouts::ValueSelection;
use picollo_text::{Format, Unit, write_summary};
use serde_json::{Map, Value, json};

use crate::failure::{Failure, print, report};
use crate::list;
use crate::reader::{self, Interval, Reader, Reading, Sum, Target};
use crate::signals::{Blocked, Pace};
use crate::table::{Form, count, number, printable, table};
use crate::values::{self, flag, option, subcommand};

const HELP: &str = "Shows what programs have published: totals and percentiles of each histogram

TARGET is a path, a process, or the name of a segment or a program. Without TARGET, the output has everything that this user's programs \
publish. Live processes whose segments have the same name are one service. Their entries with the same name, labels, unit and layout are \
summed; --pid selects one process. If all processes of TARGET have ended, the output has their values until the end. If several have \
ended, --pid selects one.

With --every, the command prints a line for each histogram and interval. The line has the values of that interval, and the time in UTC at \
which the interval began. The command ends at SIGINT, SIGTERM or SIGHUP (unless it runs under nohup), after --count intervals, or when the \
programs have ended. Values in a unit of time are shown in a suitable unit. --raw and --json show them as recorded.

  picollo show checkout
  picollo show 1234 --match route=/pay
  picollo show checkout --every 10s --count 1
  picollo show checkout --every 1s --json | jq 'select(.p99 > 5e6)'";

pub(crate) const RANKS: [(f64, &str); 5] =
    [(50.0, "p50"), (90.0, "p90"), (99.0, "p99"), (99.9, "p99.9"), (100.0, "max")];

pub(crate) fn command() -> Command {
    subcommand("show", HELP).args(reader::arguments()).args([
        reader::matching(),
        option("every", "TIME", "print a line for each interval of this length, such as 1s or 5m")
            .value_parser(values::duration),
        option("count", "N", "end after this number of intervals")
            .requires("every")
            .value_parser(value_parser!(u64).range(1..)),
        flag("raw", "show values as recorded, with all digits"),
        flag("json", "print JSON, with values as recorded; with --every, one object for each line"),
    ])
}

pub(crate) fn run(matches: &ArgMatches) -> Result<u8, Failure> {
    let (is_json, is_raw) = (matches.get_flag("json"), matches.get_flag("raw"));
    if let Some(&every) = matches.get_one::<Duration>("every") {
        return lines(matches, every);
    }
    let mut reader = Reader::from_matches(matches)?;
    let sums = reader.sums();
    if is_json {
        let segments: Vec<Value> = reader.segments.iter().map(list::json_of).collect();
        let entries: Vec<Value> = sums.iter().map(json_of).collect::<Result<_, _>>()?;
        print(&format!("{:#}\n", json!({ "segments": segments, "entries": entries })))?;
    } else if reader.segments.is_empty() {
        print("no program publishes here\n")?;
    } else {
        let mut text = heading(&reader);
        let rows: Vec<Vec<String>> = sums.iter().map(|sum| row(sum, is_raw)).collect();
        let headings = [&["ENTRY", "COUNT"], &RANKS.map(|(_, name)| name)[..]].concat();
        text += &table(&headings, &rows, &[0], Form::Text);
        print(&text)?;
    }
    Ok(reader.report("show").into())
}

/// The processes of the output, if the user selected some.
fn heading(reader: &Reader) -> String {
    let (Some(first), false) = (reader.segments.first(), matches!(reader.target, Target::All)) else {
        return String::new();
    };
    let pids: Vec<String> = reader.segments.iter().map(|segment| segment.info.pid.to_string()).collect();
    let processes = match &pids[..] {
        [one] => format!("process {one}"),
        several => format!("{} processes: {}", several.len(), several.join(", ")),
    };
    format!("{} ({}, {processes}, {})\n", first.info.name, first.info.program, list::state(&first.info))
}

/// Shows what is recorded from now on, interval by interval.
fn lines(matches: &ArgMatches, every: Duration) -> Result<u8, Failure> {
    let blocked = Blocked::new();
    let mut reader = Reader::from_matches(matches)?;
    let mut pace = Pace::new(blocked, every);
    for _ in 0..matches.get_one::<u64>("count").copied().unwrap_or(u64::MAX) {
        if pace.wait_until(None::<Instant>) {
            break;
        }
        reader.read();
        reader.report("show");
        let mut text = String::new();
        for sum in reader.sums() {
            if matches.get_flag("json") {
                let mut object = json!({
                    "start_unix_nanos": reader.interval.start_unix_nanos,
                    "seconds": reader.interval.seconds,
                });
                if let (Some(object), Value::Object(entry)) = (object.as_object_mut(), json_of(&sum)?) {
                    object.extend(entry);
                }
                text += &format!("{object}\n");
            } else {
                text += &line(&sum, reader.interval, matches.get_flag("raw"));
            }
        }
        pace.blocked.released(|| print(&text))?;
        if !reader.is_live() && !matches!(reader.target, Target::All) {
            report("show", "the program has ended");
            break;
        }
    }
    Ok(0)
}

fn line(sum: &Sum, interval: Interval, is_raw: bool) -> String {
    let mut line = format!("{} {}", values::clock(interval.start_unix_nanos), printable(&sum.title));
    let rate = |count: u64| format!(" {}/s", number(count as f64 / interval.seconds.max(1e-9), 0, true));
    match &sum.reading {
        Reading::Counter { added, .. } => line += &rate(*added),
        Reading::Histogram(snapshot) => {
            line += &rate(snapshot.counts().total);
            for ((_, name), value) in RANKS.iter().zip(texts(sum, is_raw).into_iter().flatten()) {
                line += &format!(" {name} {value}");
            }
        }
    }
    line + "\n"
}

/// Values at [`RANKS`]; `None` if nothing was recorded.
pub(crate) fn percentiles(snapshot: &Snapshot) -> Option<[u64; RANKS.len()]> {
    let mut values = [0; RANKS.len()];
    let ranks = RANKS.map(|(rank, _)| rank);
    snapshot.percentile_values(&ranks, ValueSelection::Midpoint, &mut values).ok()?;
    (snapshot.counts().total > 0).then_some(values)
}

/// Adds the same to a JSON object, by name.
pub(crate) fn add_percentiles(object: &mut Value, snapshot: &Snapshot) {
    let values = percentiles(snapshot).map(|values| values.map(Value::from));
    for ((_, name), value) in RANKS.iter().zip(values.unwrap_or(RANKS.map(|_| Value::Null))) {
        object[name] = value;
    }
}

/// The same as text for people.
fn texts(sum: &Sum, is_raw: bool) -> Option<[String; RANKS.len()]> {
    let Reading::Histogram(snapshot) = &sum.reading else { return None };
    let text = |value: u64| if is_raw { value.to_string() } else { human(value, &sum.about.unit) };
    percentiles(snapshot).map(|values| values.map(text))
}

fn row(sum: &Sum, is_raw: bool) -> Vec<String> {
    let (total, none) = match &sum.reading {
        Reading::Counter { total, .. } => (*total, ""),
        Reading::Histogram(snapshot) => (snapshot.counts().total, "-"),
    };
    let mut row = vec![sum.title.clone(), count(total, true)];
    row.extend(texts(sum, is_raw).unwrap_or(RANKS.map(|_| none.into())));
    row
}

/// The JSON form of an entry, with values as recorded.
fn json_of(sum: &Sum) -> Result<Value, Failure> {
    let Sum { about, segment, pids, .. } = sum;
    let labels: Map<String, Value> =
        about.labels.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
    let mut object = json!({
        "segment": segment,
        "pids": pids,
        "name": about.name,
        "labels": labels,
        "unit": about.unit,
        "help": about.help,
        "divisor": about.divisor,
        "created_unix_nanos": about.created_unix_nanos,
        "memory_bytes": about.bytes,
        "writer_pid": about.writer,
    });
    match &sum.reading {
        Reading::Counter { added, total } => {
            object["kind"] = "counter".into();
            object["count"] = (*added).into();
            object["value"] = (*total).into();
        }
        Reading::Histogram(snapshot) => {
            object["kind"] = "histogram".into();
            object["count"] = snapshot.counts().total.into();
            let mut text = String::new();
            let written =
                write_summary(&snapshot.summary(ValueSelection::Midpoint), &mut text, "", Format::Json);
            let summary = written.ok().and_then(|()| serde_json::from_str(&text).ok());
            object["summary"] = summary.ok_or("a summary cannot be written")?;
            add_percentiles(&mut object, snapshot);
        }
    }
    Ok(object)
}

/// A value for people, in the library's form. An unknown unit is appended.
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
            (3_290_000, "ns", "3.29 ms"),
            (3_290, "microseconds", "3.29 ms"),
            (1234, "", "1,234"),
            (1234, "bytes", "1.23 kB"),
            (1234, "parcels", "1,234 parcels"),
            (12_345, "cycles", "12.3 k cycles"),
        ] {
            assert_eq!(human(value, unit), text);
        }
    }
}
