//! `picollo list`: who publishes.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use clap::{Arg, ArgAction, ArgMatches, Command};
use picollo_native::{Listed, SegmentInfo};
use serde_json::{Value, json};

use crate::failure::{Failure, print};
use crate::now_unix_nanos;
use crate::places::{self, Places};
use crate::table::{Form, table};

const ABOUT: &str = "Who publishes histograms: programs with segments, live and ended";
const LONG_ABOUT: &str = "Who publishes histograms: programs with segments, live and ended

Looks into the directories of this user: $PICOLLO_DIR, or $RUNTIME_DIRECTORY/picollo, $XDG_RUNTIME_DIR/picollo and /dev/shm/picollo-UID. \
A segment is live while a process has it mapped, and ended otherwise: it crashed, or was asked to keep its file. What is not believed is \
told on standard error, and the exit status is 1 then.

With --all or --user it also looks where others publish: in the usual directories of all users, in those that running processes were told, and \
in containers, below /proc/PID/root. What this user may not read is left out; root may read all. Processes of a container are \
told as they see themselves.

  picollo list
  picollo list --json
  sudo picollo list --all
  picollo list --directory /proc/1234/root/dev/shm/picollo-0      those of one container";

pub(crate) fn command() -> Command {
    let json = Arg::new("json").long("json").action(ArgAction::SetTrue);
    Command::new("list")
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .args(places::arguments())
        .arg(json.help("for programs: bytes and nanoseconds"))
}

pub(crate) fn run(matches: &ArgMatches) -> Result<u8, Failure> {
    let places = Places::of(matches)?;
    let listed = places.list()?;
    let (mut good, mut failed) = (Vec::new(), 0);
    for Listed { path, info } in listed {
        match info {
            Ok(info) => good.push((path, info)),
            Err(error) => {
                Failure::Told(error.message().to_owned()).tell("list");
                failed = 1;
            }
        }
    }
    if matches.get_flag("json") {
        let list: Vec<Value> =
            good.iter().map(|(path, info)| json_of(&path.to_string_lossy(), info)).collect();
        print(&format!("{:#}\n", Value::Array(list)))?;
    } else if good.is_empty() {
        print("nobody publishes here\n")?;
    } else {
        let now = now_unix_nanos();
        let mut headings =
            ["NAME", "PROGRAM", "PID", "SINCE", "ENTRIES", "MEMORY", "STATE"].map(str::to_owned).to_vec();
        let mut rows: Vec<Vec<String>> = good.iter().map(|(_, info)| row(info, now)).collect();
        if places.are_others() {
            headings.extend(["USER", "DIRECTORY"].map(str::to_owned));
            let mut names = HashMap::new();
            for (row, (path, _)) in rows.iter_mut().zip(&good) {
                row.extend(whose(path, &mut names));
            }
        }
        print(&table(&headings, &rows, &[0, 1, 6, 7, 8], Form::Text))?;
    }
    Ok(failed)
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
        bytes(info.memory),
        state(info).to_owned(),
    ]
    .into()
}

pub(crate) fn state(info: &SegmentInfo) -> &'static str {
    if info.is_live { "live" } else { "ended" }
}

pub(crate) fn json_of(path: &str, info: &SegmentInfo) -> Value {
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
        "path": path,
    })
}

/// Whose a segment is, and where it lies.
fn whose(path: &Path, names: &mut HashMap<u32, String>) -> [String; 2] {
    let user = path.symlink_metadata().map_or_else(
        |_| "?".into(),
        |data| names.entry(data.uid()).or_insert_with(|| places::name_of(data.uid())).clone(),
    );
    let directory = path.parent().unwrap_or(path);
    [user, directory.to_string_lossy().into_owned()]
}

/// How long ago, in its two largest units.
fn age(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds / 3600 % 24),
    }
}

/// Bytes for people.
fn bytes(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
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
        assert_eq!([0, 1023, 1024, 1_048_576].map(bytes), ["0 B", "1023 B", "1.0 KiB", "1.0 MiB"]);
    }
}
