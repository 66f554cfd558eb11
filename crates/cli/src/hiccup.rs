//! `picollo hiccup`: how late an idle thread was, which is how long any thread of this machine might have been stalled.
//!
//! A thread sleeps for an interval repeatedly, and records how late it woke up. A stall longer than the interval would
//! have delayed more than one sleep, so the delays of those are recorded as well (Gil Tene's correction for coordinated
//! omission, as in jHiccup).

use std::path::PathBuf;
use std::process::{Child, Command as Program, ExitStatus};
use std::time::{Duration, Instant};

use clap::{Arg, ArgMatches, Command, value_parser};
use picollo_bench::NoiseWatch;
use picollo_core::{Options, SharedHistogram, Since, Snapshot};
use picollo_native::unix_nanos;
use serde_json::json;

use crate::compare::runner::on_run_queue;
use crate::failure::{Failure, print};
use crate::record::Log;
use crate::show::{RANKS, add_percentiles, human, percentiles};
use crate::signals::Blocked;
use crate::table::{count, number};
use crate::values::{self, flag, option, subcommand};

const HELP: &str = "Shows how late an idle thread wakes up: the stalls that any thread here would suffer

An idle thread sleeps for an interval repeatedly. The command records how late it wakes up. After a long stall, it also records the delays \
of the sleeps that the stall prevented. The output also has the share of time in which the hypervisor ran something else (steal), and how \
long the thread was runnable without a CPU (run queue). The command ends at SIGINT, after --for, or with the program after --, whose exit \
status it returns.

  picollo hiccup --for 10
  picollo hiccup -o hiccups.hlog -- ./service --port 80";

pub(crate) fn command() -> Command {
    subcommand("hiccup", HELP).args([
        option("interval", "TIME", "the length of a sleep")
            .value_parser(values::duration)
            .default_value("1ms"),
        option("for", "TIME", "end after this time").value_parser(values::duration).conflicts_with("program"),
        option("output", "FILE.hlog", "write a log with a line for each second")
            .short('o')
            .value_parser(value_parser!(PathBuf)),
        flag("force", "overwrite an existing log"),
        flag("json", "print JSON, in nanoseconds"),
        Arg::new("program")
            .value_name("CMD")
            .num_args(1..)
            .last(true)
            .help("a program to start; the measurement ends with it"),
    ])
}

pub(crate) fn run(matches: &ArgMatches) -> Result<u8, Failure> {
    let interval = matches.get_one::<Duration>("interval").copied().unwrap_or(Duration::from_millis(1));
    let path = matches.get_one::<PathBuf>("output");
    let mut log = path.map(|path| Log::create(path, matches.get_flag("force"), u64::MAX, 0)).transpose()?;
    // This comes before blocking signals, which the program would inherit.
    let program = start(matches)?;
    let blocked = Blocked::new();
    let end = matches.get_one::<Duration>("for").map(|&time| Instant::now() + time);
    let (found, status) = measure(interval, end, &blocked, program, &mut log)?;
    if let Some(log) = log {
        log.close()?;
    }
    let text = if matches.get_flag("json") {
        let mut object = json!({
            "seconds": found.seconds,
            "interval_nanos": interval.as_nanos() as u64,
            "count": found.snapshot.counts().total,
            "steal": found.stolen,
            "run_queue_nanos": found.ready,
        });
        add_percentiles(&mut object, &found.snapshot);
        format!("{object:#}\n")
    } else {
        text_of(&found, interval)
    };
    blocked.released(|| print(&text))?;
    Ok(status.map_or(0, |status| {
        use std::os::unix::process::ExitStatusExt;
        status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(1) as u8
    }))
}

fn start(matches: &ArgMatches) -> Result<Option<Child>, Failure> {
    let Some(mut words) = matches.get_many::<String>("program") else { return Ok(None) };
    let name = words.next().map_or("", String::as_str);
    let child = Program::new(name).args(words).spawn();
    child.map(Some).map_err(|error| Failure::for_file(name, &error))
}

struct Measured {
    snapshot: Box<Snapshot>,
    seconds: f64,
    /// Share of CPU time that the hypervisor took.
    stolen: Option<f64>,
    /// Nanoseconds that the thread was ready but did not run.
    ready: Option<u64>,
}

fn measure(
    interval: Duration,
    end: Option<Instant>,
    blocked: &Blocked,
    mut program: Option<Child>,
    log: &mut Option<Log>,
) -> Result<(Measured, Option<ExitStatus>), Failure> {
    /// Duration of a log line, and how often the program is checked.
    const SECOND: Duration = Duration::from_secs(1);
    // HdrHistogram's three digits, up to an hour.
    let options = Options { relative_error: 0.0005, max_trackable: 3_600_000_000_000, ..Options::default() };
    let histogram = SharedHistogram::create(&options)?;
    let (mut all, mut second) =
        (Snapshot::boxed(*histogram.layout())?, Snapshot::boxed(*histogram.layout())?);
    let expected = interval.as_nanos() as u64;
    let (mut watch, ready) = (NoiseWatch::create()?, on_run_queue("thread-self"));
    let start = Instant::now();
    let (mut line_start, mut line_unix) = (start, unix_nanos());
    let mut status = None;
    loop {
        let asleep = Instant::now();
        let is_last = blocked.wait(Some(interval)) || end.is_some_and(|end| Instant::now() >= end);
        let slept = asleep.elapsed();
        // A sleep that a signal interrupted does not count.
        if slept >= interval {
            histogram.record_corrected((slept - interval).as_nanos() as u64, expected);
        }
        if is_last || line_start.elapsed() >= SECOND || program.is_some() {
            status = match &mut program {
                Some(child) if is_last => Some(end_of(child)?),
                Some(child) => child.try_wait().map_err(|error| Failure::for_file("the program", &error))?,
                None => None,
            };
        }
        let is_last = is_last || status.is_some();
        if is_last || line_start.elapsed() >= SECOND {
            if let Some(log) = log {
                let seconds = line_start.elapsed().as_secs_f64();
                histogram.update(&mut second, Since::PreviousUpdate)?;
                log.write_snapshot("hiccup", &second, line_unix, seconds)?;
            }
            (line_start, line_unix) = (Instant::now(), unix_nanos());
        }
        if is_last {
            let seconds = start.elapsed().as_secs_f64();
            histogram.update(&mut all, Since::Reset)?;
            let noise = watch.noise();
            let stolen = noise.steal_seconds / (noise.seconds * f64::from(noise.cpu_count));
            let stolen = Some(stolen).filter(|share| share.is_finite());
            let ready =
                on_run_queue("thread-self").zip(ready).map(|(after, before)| after.saturating_sub(before));
            return Ok((Measured { snapshot: all, seconds, stolen, ready }, status));
        }
    }
}

/// Ends the program if a signal ends this command.
fn end_of(child: &mut Child) -> Result<ExitStatus, Failure> {
    if let Ok(None) = child.try_wait() {
        // SAFETY: a child of this process that was not waited for.
        unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGTERM) };
    }
    child.wait().map_err(|error| Failure::for_file("the program", &error))
}

fn text_of(found: &Measured, interval: Duration) -> String {
    let seconds = number(found.seconds, 1, true);
    let mut text = format!(
        "Delays of a thread that sleeps {} at a time, for {seconds} s, {} observations:\n",
        human(interval.as_nanos() as u64, "ns"),
        count(found.snapshot.counts().total, true)
    );
    for ((_, name), value) in RANKS.iter().zip(percentiles(&found.snapshot).into_iter().flatten()) {
        text += &format!("  {name:<6} {:>9}\n", human(value, "ns"));
    }
    let stolen = found.stolen.map(|share| format!("{:.2} % of the time of its CPUs", share * 100.0));
    let ready = found.ready.map(|nanos| format!("{} in all, of {seconds} s", human(nanos, "ns")));
    for (name, known) in [("steal", stolen), ("run queue", ready)] {
        text += &format!("  {name}: {}\n", known.unwrap_or_else(|| "not known".into()));
    }
    text
}
