//! Starts commands and measures them.

use std::fmt::Display;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

use clap::ArgMatches;
use picollo_perf::{
    EVENT_INFO_USER_ONLY, Event, READING_SCALED, ReadMode, Reading, SESSION_INHERIT,
    SESSION_SKIP_UNAVAILABLE, Session, SessionOptions,
};
use serde_json::Value;

use crate::events::event_json;
use crate::failure::{Failure, plain};

/// The values of one run, in the order of the metrics; `None` if an event was not counted.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Run {
    pub(crate) values: Vec<Option<f64>>,
    pub(crate) wall: f64,
}

/// Splits a command into words. With `with_shell`, it becomes one for `sh -c`.
pub(crate) fn split(command: &str, with_shell: bool) -> Result<Vec<String>, Failure> {
    if with_shell {
        return Ok(vec!["sh".into(), "-c".into(), command.into()]);
    }
    match shlex::split(command) {
        Some(parts) if parts.is_empty() => {
            Err("a command is empty: give a program with its arguments".into())
        }
        Some(parts) => Ok(parts),
        None => Err(format!("{command}: a quotation mark has no partner: add the closing one").into()),
    }
}

/// Runs the two commands.
pub(crate) struct Runner {
    pub(crate) commands: Vec<Vec<String>>,
    shows_output: bool,
    ignores_failure: bool,
    input: Option<PathBuf>,
    session: Option<Session>,
    readings: Vec<Reading>,
    /// Which events were counted only part of the time, in any run.
    scaled: Vec<bool>,
}

impl Runner {
    /// Creates a runner for commands that are split into words.
    pub(crate) fn new(
        commands: Vec<Vec<String>>,
        matches: &ArgMatches,
        events: &[String],
    ) -> Result<Runner, Failure> {
        let session = if events.is_empty() {
            None
        } else {
            let events = events.iter().map(|event| Event::parse(event)).collect::<Result<Vec<_>, _>>()?;
            // This also counts processes that are started from now on.
            let flags = SESSION_INHERIT | SESSION_SKIP_UNAVAILABLE;
            Some(Session::create(&SessionOptions { flags, ..SessionOptions::default() }, &events)?)
        };
        Ok(Runner {
            commands,
            shows_output: matches.get_flag("show-output"),
            ignores_failure: matches.get_flag("ignore-failure"),
            input: matches.get_one::<String>("input").map(PathBuf::from),
            session,
            readings: vec![Reading::default(); events.len()],
            scaled: vec![false; events.len()],
        })
    }

    /// Runs a command to its end.
    pub(crate) fn run(&mut self, which: usize) -> Result<Run, Failure> {
        self.read()?;
        let parts = &self.commands[which];
        let mut command = Command::new(&parts[0]);
        command.arg0(&parts[0]).args(&parts[1..]).stdin(input(self.input.as_deref())?);
        if !self.shows_output {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        }
        let began = Instant::now();
        let child = command.spawn().map_err(|error| format!("{}: {}", parts[0], plain(&error)))?;
        let run_queue = time_on_run_queue(child.id());
        let wall = began.elapsed().as_secs_f64();
        let (status, usage) = wait(child.id()).map_err(|error| format!("{}: {}", parts[0], plain(&error)))?;
        check(status, parts, self.ignores_failure)?;
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        let (user, system) = (seconds(usage.ru_utime), seconds(usage.ru_stime));
        let mut values = [
            wall,
            user + system,
            user,
            system,
            usage.ru_maxrss as f64,
            (usage.ru_minflt + usage.ru_majflt) as f64,
            usage.ru_majflt as f64,
            usage.ru_nvcsw as f64,
            usage.ru_nivcsw as f64,
        ]
        .map(Some)
        .to_vec();
        values.push(run_queue);
        values.push(run_queue.map(|queue| (wall - user - system - queue).max(0.0)));
        self.read()?;
        if let Some(session) = &self.session {
            session.readings(true, &mut self.readings)?;
            for (scaled, reading) in self.scaled.iter_mut().zip(&self.readings) {
                *scaled |= reading.is_counted() && reading.flags & READING_SCALED != 0;
            }
            values.extend(
                self.readings.iter().map(|reading| reading.is_counted().then_some(reading.value as f64)),
            );
        }
        Ok(Run { values, wall })
    }

    fn read(&mut self) -> Result<(), Failure> {
        Ok(self.session.as_mut().map_or(Ok(()), |session| session.read(ReadMode::Syscall))?)
    }

    /// The events as JSON, under the names that the user gave.
    pub(crate) fn events_json(&self, names: &[String]) -> Value {
        let of = |(at, name): (usize, &String)| {
            let event = self.session.as_ref()?.event(at).ok()?;
            Some((name.clone(), event_json(&event)))
        };
        Value::Object(names.iter().enumerate().filter_map(of).collect())
    }

    /// Why events are not counted, or not in the kernel; each sentence once.
    pub(crate) fn missing(&self) -> Vec<String> {
        let Some(session) = &self.session else { return Vec::new() };
        let mut messages = Vec::new();
        for (at, reading) in self.readings.iter().enumerate() {
            let Ok(info) = session.event_info(at) else { continue };
            // The group in which an event is counted does not matter here.
            let matters = !reading.is_counted() || info.flags & EVENT_INFO_USER_ONLY != 0;
            let message = info.message().to_owned();
            if matters && !message.is_empty() && !messages.contains(&message) {
                messages.push(message);
            }
        }
        messages
    }

    /// A sentence about events that were counted only part of the time.
    pub(crate) fn multiplexed(&self) -> Option<String> {
        let session = self.session.as_ref()?;
        let scaled = (0..self.scaled.len()).filter(|&at| self.scaled[at]);
        let names: Vec<String> =
            scaled.filter_map(|at| Some(session.event(at).ok()?.name().to_owned())).collect();
        (!names.is_empty()).then(|| {
            format!(
                "{}: counted for a part of the time and scaled up, because there are fewer counters than events. Their figures are estimates: select fewer events.",
                names.join(", ")
            )
        })
    }
}

/// Waits for a child without reaping it, and returns for how many seconds it was ready but had no CPU.
fn time_on_run_queue(pid: u32) -> Option<f64> {
    // SAFETY: the structure holds only numbers, for which zeros are valid.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    // SAFETY: the structure is on the stack, and the call writes to nothing else.
    while unsafe { libc::waitid(libc::P_PID, pid, &mut info, libc::WEXITED | libc::WNOWAIT) } != 0 {
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return None;
        }
    }
    Some(on_run_queue(pid)? as f64 / 1e9)
}

/// Nanoseconds that a thread was ready but had no CPU, by its name in `/proc`.
pub(crate) fn on_run_queue(thread: impl Display) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{thread}/schedstat")).ok()?;
    text.split(' ').nth(1)?.parse().ok()
}

/// Standard input of a command: a file from its start, or nothing.
pub(crate) fn input(file: Option<&Path>) -> Result<Stdio, Failure> {
    match file {
        None => Ok(Stdio::null()),
        Some(file) => std::fs::File::open(file)
            .map(Stdio::from)
            .map_err(|error| Failure::for_file(file.display(), &error)),
    }
}

/// Checks that a command succeeded.
pub(crate) fn check(status: ExitStatus, parts: &[String], ignores_failure: bool) -> Result<(), Failure> {
    if status.success() || ignores_failure {
        return Ok(());
    }
    let how = match status.signal() {
        Some(signal) => format!("was killed by signal {signal}"),
        None => format!("failed with status {}", status.code().unwrap_or(-1)),
    };
    Err(format!(
        "{}: {how}; use --show-output to see its output, or --ignore-failure to continue",
        display_command(parts)
    )
    .into())
}

/// A command in the syntax of a shell.
pub(crate) fn display_command(parts: &[String]) -> String {
    shlex::try_join(parts.iter().map(String::as_str)).unwrap_or_else(|_| parts[0].clone())
}

/// Waits for a child and returns its resource usage, which the standard library does not offer.
fn wait(pid: u32) -> io::Result<(ExitStatus, libc::rusage)> {
    let mut status = 0;
    // SAFETY: the structure holds only numbers, for which zeros are valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both variables are on the stack, and nothing else is written. Nobody else waits for this child.
        let waited = unsafe { libc::wait4(pid as libc::pid_t, &mut status, 0, &mut usage) };
        if waited == pid as libc::pid_t {
            return Ok((ExitStatus::from_raw(status), usage));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}
