//! `picollo watch`: a line for each histogram and interval.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use picollo_core::ValueSelection;
use serde_json::{Map, Value, json};

use crate::failure::{Failure, print};
use crate::follow::{Followed, Follower, Interval, Recorded, title};
use crate::places::{self, Places};
use crate::show::human;
use crate::signals::Blocked;
use crate::table::{number, printable};
use crate::values;

const ABOUT: &str = "A line for each histogram and interval, for pipes";
const LONG_ABOUT: &str = "A line for each histogram and interval, for pipes

TARGET is a path, a process, a segment's name or a program's; of several the one that lives. Each line is of what was recorded since the \
one before, with the time in UTC at which its interval began. It ends with SIGINT or SIGTERM, after --count intervals, or when the \
program has ended.

  picollo watch checkout
  picollo watch checkout --match route=/pay --interval 10
  picollo watch 1234 --json | jq 'select(.p99 > 5e6)'";

pub(crate) const RANKS: [(f64, &str); 5] =
    [(50.0, "p50"), (90.0, "p90"), (99.0, "p99"), (99.9, "p99.9"), (100.0, "max")];

pub(crate) fn command() -> Command {
    Command::new("watch").about(ABOUT).long_about(LONG_ABOUT).args(following()).args([
        Arg::new("count")
            .long("count")
            .value_name("N")
            .value_parser(value_parser!(u64).range(1..))
            .help("end after so many intervals"),
        Arg::new("json").long("json").action(ArgAction::SetTrue).help("an object a line: values as recorded"),
    ])
}

/// The arguments of commands that follow a program.
pub(crate) fn following() -> Vec<Arg> {
    let mut arguments = places::arguments().to_vec();
    arguments.extend([
        Arg::new("target").value_name("TARGET").required(true).help("path, process, segment or program"),
        Arg::new("match")
            .long("match")
            .value_name("TEXT")
            .help("only entries with this in their name or labels (a=b)"),
        Arg::new("interval")
            .long("interval")
            .value_name("SECONDS")
            .value_parser(values::duration)
            .default_value("1")
            .help("how long an interval is: seconds, or a number with ms, s, min or h"),
    ]);
    arguments
}

/// What these were.
pub(crate) fn follower(matches: &ArgMatches) -> Result<(Follower, Duration), Failure> {
    let text = |name| matches.get_one::<String>(name).map_or("", String::as_str);
    let interval = matches.get_one::<Duration>("interval").copied().unwrap_or(Duration::from_secs(1));
    let target = text("target");
    let wanted = text("match");
    let follower = Follower::new(Places::of(matches)?, target, wanted)?;
    if follower.entries.is_empty() && !wanted.is_empty() {
        return Err(format!("nothing that {target} publishes has {wanted} in its name or labels").into());
    }
    Ok((follower, interval))
}

/// Waits for the ends of intervals, which are not put off by what is done in between.
pub(crate) struct Pace {
    blocked: Blocked,
    interval: Duration,
    next: Instant,
}

impl Pace {
    pub(crate) fn new(blocked: Blocked, interval: Duration) -> Pace {
        Pace { blocked, interval, next: Instant::now() + interval }
    }

    /// Waits for the end of the interval; whether a signal came before.
    pub(crate) fn wait(&mut self) -> bool {
        self.wait_until(None)
    }

    /// Waits for the end of the interval; whether a signal came before, or the end of all.
    pub(crate) fn wait_until(&mut self, end: Option<Instant>) -> bool {
        let now = Instant::now();
        while self.next <= now {
            // Some were missed: the one that runs is longer.
            self.next += self.interval;
        }
        let until = end.map_or(self.next, |end| end.clamp(now, self.next));
        let is_last = self.blocked.wait(Some(until - now)) || end.is_some_and(|end| until >= end);
        self.next += self.interval;
        is_last
    }
}

pub(crate) fn run(matches: &ArgMatches) -> Result<u8, Failure> {
    let blocked = Blocked::new();
    let (mut follower, interval) = follower(matches)?;
    let mut pace = Pace::new(blocked, interval);
    let count = matches.get_one::<u64>("count").copied().unwrap_or(u64::MAX);
    let is_json = matches.get_flag("json");
    for _ in 0..count {
        if pace.wait() {
            break;
        }
        let is_live = follower.is_live();
        let interval = follower.advance()?;
        let mut text = String::new();
        for followed in &follower.entries {
            if is_json {
                text += &format!("{}\n", json_of(followed, interval));
            } else {
                text += &line(followed, interval);
            }
        }
        print(&text)?;
        if !is_live {
            if std::io::stderr().is_terminal() || is_json {
                eprintln!("picollo watch: the program has ended");
            }
            break;
        }
    }
    Ok(0)
}

fn line(followed: &Followed, interval: Interval) -> String {
    let Followed { entry, recorded, .. } = followed;
    let mut line = format!("{} {}", values::clock(interval.start_unix_nanos), printable(&title(entry)));
    let rate = |count: u64| format!(" {}/s", number(count as f64 / interval.seconds.max(1e-9), 0, true));
    match recorded {
        Recorded::Counter { added, .. } => line += &rate(*added),
        Recorded::Histogram(snapshot) => {
            line += &rate(snapshot.counts().total);
            for (rank, name) in RANKS {
                if let Ok(found) = snapshot.percentile(rank, ValueSelection::Midpoint) {
                    line += &format!(" {name} {}", human(found.value, &entry.unit));
                }
            }
        }
    }
    line + "\n"
}

fn json_of(followed: &Followed, interval: Interval) -> Value {
    let Followed { entry, recorded, .. } = followed;
    let labels: Map<String, Value> =
        entry.labels.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
    let mut object = json!({
        "start_unix_nanos": interval.start_unix_nanos,
        "seconds": interval.seconds,
        "name": entry.name,
        "labels": labels,
        "unit": entry.unit,
    });
    match recorded {
        Recorded::Counter { added, total } => {
            object["kind"] = "counter".into();
            object["added"] = (*added).into();
            object["value"] = (*total).into();
        }
        Recorded::Histogram(snapshot) => {
            let counts = snapshot.counts();
            object["kind"] = "histogram".into();
            object["count"] = counts.total.into();
            object["underflow"] = counts.underflow.into();
            object["overflow"] = counts.overflow.into();
            for (rank, name) in RANKS {
                let found = snapshot.percentile(rank, ValueSelection::Midpoint).ok();
                object[name] = found.map_or(Value::Null, |found| found.value.into());
            }
        }
    }
    object
}
