//! `picollo hiccup`: how late an idle thread was, that is, how long any thread of this machine might have been stalled.
//!
//! A thread sleeps for an interval, again and again, and records how much later than asked for it went on. A stall that is longer than the
//! interval would have delayed more than one sleep: what those would have found is recorded as well (Gil Tene's correction for coordinated
//! omission, as in jHiccup).

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command as Program, ExitStatus};
use std::time::{Duration, Instant};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use picollo_core::{Options, SharedHistogram, Since, Snapshot, ValueSelection};
use serde_json::{Value, json};

use crate::failure::{Failure, print};
use crate::now_unix_nanos;
use crate::record::Log;
use crate::show::human;
use crate::signals::Blocked;
use crate::table::{count, number};
use crate::values;
use crate::watch::RANKS;

const ABOUT: &str = "How late an idle thread was: the stalls that any thread here would have suffered";
const LONG_ABOUT: &str = "How late an idle thread was: the stalls that any thread here would have suffered

A thread that has nothing to do sleeps for an interval, again and again; how much too late it wakes up is recorded, corrected for what sleeps \
would have found during a long stall. Beside it: how much of the time the hypervisor ran something else (steal), and how long the thread was \
ready and waited for a CPU (run queue). It ends with SIGINT, after --for, or with the program behind --, whose exit status it returns.

  picollo hiccup --for 10
  picollo hiccup -o hiccups.hlog -- ./service --port 80";

pub(crate) fn command() -> Command {
    Command::new("hiccup").about(ABOUT).long_about(LONG_ABOUT).args([
        Arg::new("interval")
            .long("interval")
            .value_name("TIME")
            .value_parser(values::duration)
            .default_value("1ms")
            .help("how long a sleep is"),
        Arg::new("for")
            .long("for")
            .value_name("SECONDS")
            .value_parser(values::duration)
            .conflicts_with("program")
            .help("end after so long"),
        Arg::new("output")
            .short('o')
            .long("output")
            .value_name("FILE.hlog")
            .value_parser(value_parser!(PathBuf))
            .help("a log with a line for each second"),
        Arg::new("force").long("force").action(ArgAction::SetTrue).help("overwrite a log that exists"),
        Arg::new("json").long("json").action(ArgAction::SetTrue).help("for programs: nanoseconds"),
        Arg::new("program").value_name("CMD").num_args(1..).last(true).help("runs as long as this program"),
    ])
}

/// What the system says of the time since it was started.
#[derive(Clone, Copy, Default)]
struct Accounts {
    /// Ticks of all CPUs together, and those that the hypervisor took.
    ticks: u64,
    stolen: u64,
    /// Nanoseconds that this thread was ready and did not run; none where the kernel does not say.
    ready: Option<u64>,
}

impl Accounts {
    fn now() -> Accounts {
        let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
        let fields: Vec<u64> = stat
            .lines()
            .next()
            .unwrap_or_default()
            .split_ascii_whitespace()
            .skip(1)
            .map_while(|field| field.parse().ok())
            .collect();
        // What guests take is in the time of users as well.
        let ticks = fields.iter().take(8).sum();
        let scheduled = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        let ready = scheduled.split_ascii_whitespace().nth(1).and_then(|field| field.parse().ok());
        Accounts { ticks, stolen: fields.get(7).copied().unwrap_or(0), ready }
    }

    /// The share of the time of all CPUs that was stolen since.
    fn stolen_since(&self, before: &Accounts) -> Option<f64> {
        let ticks = self.ticks.saturating_sub(before.ticks);
        (ticks > 0).then(|| self.stolen.saturating_sub(before.stolen) as f64 / ticks as f64)
    }

    fn ready_since(&self, before: &Accounts) -> Option<u64> {
        Some(self.ready?.saturating_sub(before.ready?))
    }
}

pub(crate) fn run(matches: &ArgMatches) -> Result<u8, Failure> {
    let interval = matches.get_one::<Duration>("interval").copied().unwrap_or(Duration::from_millis(1));
    let path = matches.get_one::<PathBuf>("output");
    let mut log = path.map(|path| Log::create(path, matches.get_flag("force"), u64::MAX, 0)).transpose()?;
    // Before signals are held back, which a program would inherit.
    let program = start(matches)?;
    let blocked = Blocked::new();
    let end = matches.get_one::<Duration>("for").map(|&time| Instant::now() + time);
    let (snapshot, seconds, stolen, ready, status) = measure(interval, end, &blocked, program, &mut log)?;
    if let Some(log) = log {
        log.close()?;
    }
    if matches.get_flag("json") {
        let mut object = json!({
            "seconds": seconds,
            "interval_nanos": interval.as_nanos() as u64,
            "count": snapshot.counts().total,
            "steal": stolen,
            "run_queue_nanos": ready,
        });
        for (rank, name) in RANKS {
            let found = snapshot.percentile(rank, ValueSelection::Midpoint).ok();
            object[name] = found.map_or(Value::Null, |found| found.value.into());
        }
        print(&format!("{object:#}\n"))?;
    } else {
        print(&text_of(&snapshot, seconds, interval, stolen, ready))?;
    }
    Ok(status.map_or(0, |status| {
        use std::os::unix::process::ExitStatusExt;
        status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(1) as u8
    }))
}

fn start(matches: &ArgMatches) -> Result<Option<Child>, Failure> {
    let Some(mut words) = matches.get_many::<String>("program") else { return Ok(None) };
    let name = words.next().map_or("", String::as_str);
    let child = Program::new(name).args(words).spawn();
    child.map(Some).map_err(|error| Failure::of_file(name, &error))
}

type Measured = (Box<Snapshot>, f64, Option<f64>, Option<u64>, Option<ExitStatus>);

fn measure(
    interval: Duration,
    end: Option<Instant>,
    blocked: &Blocked,
    mut program: Option<Child>,
    log: &mut Option<Log>,
) -> Result<Measured, Failure> {
    /// How long a line of the log is, and how often the program is looked at.
    const SECOND: Duration = Duration::from_secs(1);
    // HdrHistogram's three digits, up to an hour.
    let options = Options { relative_error: 0.0005, max_trackable: 3_600_000_000_000, ..Options::default() };
    let histogram = SharedHistogram::create(&options).map_err(|error| format!("a histogram: {error}"))?;
    let new = || Snapshot::boxed(*histogram.layout()).map_err(|error| format!("a snapshot: {error}"));
    let (mut all, mut second) = (new()?, new()?);
    let expected = interval.as_nanos() as u64;
    let before = Accounts::now();
    let start = Instant::now();
    let (mut line_start, mut line_unix) = (start, now_unix_nanos());
    let mut status = None;
    loop {
        let asleep = Instant::now();
        let is_last = blocked.wait(Some(interval)) || end.is_some_and(|end| Instant::now() >= end);
        let slept = asleep.elapsed();
        // A sleep that a signal ended was none.
        if slept >= interval {
            histogram.record_corrected((slept - interval).as_nanos() as u64, expected);
        }
        if is_last || line_start.elapsed() >= SECOND || program.is_some() {
            status = match &mut program {
                Some(child) if is_last => Some(end_of(child)?),
                Some(child) => child.try_wait().map_err(|error| Failure::of_file("the program", &error))?,
                None => None,
            };
        }
        let is_last = is_last || status.is_some();
        if is_last || line_start.elapsed() >= SECOND {
            if let Some(log) = log {
                let seconds = line_start.elapsed().as_secs_f64();
                histogram.update(&mut second, Since::PreviousUpdate).map_err(|error| format!("{error}"))?;
                log.write_snapshot("hiccup", &second, line_unix, seconds)?;
            }
            (line_start, line_unix) = (Instant::now(), now_unix_nanos());
        }
        if is_last {
            let seconds = start.elapsed().as_secs_f64();
            let after = Accounts::now();
            histogram.update(&mut all, Since::Reset).map_err(|error| format!("{error}"))?;
            return Ok((all, seconds, after.stolen_since(&before), after.ready_since(&before), status));
        }
    }
}

/// A signal that ends this command ends the program, too.
fn end_of(child: &mut Child) -> Result<ExitStatus, Failure> {
    if let Ok(None) = child.try_wait() {
        // SAFETY: our own child, which was not waited for.
        unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGTERM) };
    }
    child.wait().map_err(|error| Failure::of_file("the program", &error))
}

fn text_of(
    snapshot: &Snapshot,
    seconds: f64,
    interval: Duration,
    stolen: Option<f64>,
    ready: Option<u64>,
) -> String {
    let mut text = format!(
        "How late a thread was that slept for {} at a time, {} s, {} observations:\n",
        human(interval.as_nanos() as u64, "ns"),
        number(seconds, 1, true),
        count(snapshot.counts().total, true)
    );
    for (rank, name) in RANKS {
        if let Ok(found) = snapshot.percentile(rank, ValueSelection::Midpoint) {
            text += &format!("  {name:<6} {:>9}\n", human(found.value, "ns"));
        }
    }
    let stolen =
        stolen.map_or("not known".into(), |share| format!("{:.2} % of the time of all CPUs", share * 100.0));
    text += &format!("  steal: {stolen}\n");
    let ready = ready.map_or("not known".into(), |nanos| {
        format!("{} in all, of {} s", human(nanos, "ns"), number(seconds, 1, true))
    });
    text + &format!("  run queue: {ready}\n")
}
