//! `picollo list`: who publishes.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use clap::{ArgMatches, Command};
use picollo_native::unix_nanos;
use picollo_segment::SegmentInfo;
use serde_json::{Value, json};

use crate::failure::{Failure, print};
use crate::places::{self, Places};
use crate::reader::{Open, Reader, Target};
use crate::show::human;
use crate::table::{Form, table};
use crate::values::{flag, subcommand};

const HELP: &str = "Lists the programs that publish histograms: those with segments, live and ended

The command searches the directories of this user: $PICOLLO_DIR, or $RUNTIME_DIRECTORY/picollo, $XDG_RUNTIME_DIR/picollo and \
/dev/shm/picollo-UID. A segment is live while a process maps it. Otherwise it has ended: its process crashed, or was configured to keep \
the file. Invalid files are reported on standard error, and the exit status is then 1.

With --all it also searches where others publish: the usual directories of all users, the configured directories of running processes, and \
containers, below /proc/PID/root. Directories that this user cannot read are skipped; root can read all. A process of a container has its \
number from inside the container.

  picollo list
  picollo list --json
  sudo picollo list --all
  picollo list --directory /proc/1234/root/dev/shm/picollo-0      the segments of one container";

pub(crate) fn command() -> Command {
    subcommand("list", HELP)
        .args(places::arguments())
        .arg(flag("json", "print JSON, in bytes and nanoseconds"))
}

pub(crate) fn run(matches: &ArgMatches) -> Result<u8, Failure> {
    let places = Places::from_matches(matches);
    let mut reader = Reader::new(Target::All, places.clone());
    reader.open_new();
    let failed = reader.report("list");
    let good = &reader.segments;
    if matches.get_flag("json") {
        let list: Vec<Value> = good.iter().map(json_of).collect();
        print(&format!("{:#}\n", Value::Array(list)))?;
    } else if good.is_empty() {
        print(if failed { "" } else { "no program publishes here\n" })?;
    } else {
        let now = unix_nanos();
        let mut headings = vec!["NAME", "PROGRAM", "PID", "SINCE", "ENTRIES", "MEMORY", "STATE"];
        let mut rows: Vec<Vec<String>> = good.iter().map(|open| row(&open.info, now)).collect();
        if places.are_others() {
            headings.extend(["USER", "DIRECTORY"]);
            rows.iter_mut().zip(good).for_each(|(row, open)| row.extend(whose(open.path())));
        }
        print(&table(&headings, &rows, &[0, 1, 6, 7, 8], Form::Text))?;
    }
    Ok(failed.into())
}

fn row(info: &SegmentInfo, now: u64) -> Vec<String> {
    let entries = match info.refused {
        0 => info.entries.to_string(),
        refused => format!("{} (+{refused} refused)", info.entries),
    };
    [
        info.name.clone(),
        info.program.clone(),
        info.pid.to_string(),
        age(now.saturating_sub(info.created_unix_nanos) / 1_000_000_000),
        entries,
        human(info.memory, "bytes"),
        state(info).to_owned(),
    ]
    .into()
}

pub(crate) fn state(info: &SegmentInfo) -> &'static str {
    if info.is_live { "live" } else { "ended" }
}

pub(crate) fn json_of(open: &Open) -> Value {
    let info = &open.info;
    json!({
        "name": info.name,
        "program": info.program,
        "pid": info.pid,
        "start_time_ticks": info.start_time,
        "boot_id": info.boot_id,
        "created_unix_nanos": info.created_unix_nanos,
        "identity": format!("{:016x}{:016x}", info.identity[0], info.identity[1]),
        "entries": info.entries,
        "refused": info.refused,
        "memory_bytes": info.memory,
        "capacity_bytes": info.capacity,
        "live": info.is_live,
        "path": open.path().to_string_lossy(),
    })
}

/// User and directory of a segment.
fn whose(path: &Path) -> [String; 2] {
    let user = path.symlink_metadata().map_or_else(|_| "?".into(), |data| places::name_of(data.uid()));
    let directory = path.parent().unwrap_or(path);
    [user, directory.to_string_lossy().into_owned()]
}

/// An age in its two largest units.
fn age(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds / 3600 % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn for_people() {
        let ages = [0, 59, 60, 3599, 3600, 86_399, 86_400, 1_000_000].map(age);
        assert_eq!(
            ages,
            ["0 s", "59 s", "1 min 0 s", "59 min 59 s", "1 h 0 min", "23 h 59 min", "1 d 0 h", "11 d 13 h"]
        );
    }
}
