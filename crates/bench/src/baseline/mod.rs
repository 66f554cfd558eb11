//! Saves runs of benchmarks, and compares new runs with them.
//!
//! A baseline is a directory with one file per run: a log of histograms (`.hlog`) in picoseconds, with one line per
//! benchmark, tagged with its name. Comments describe the machine. `docs/is-it-faster.md` has the format, and
//! `crates/bench/tests/baselines` has files that every reader must judge alike. Any reader of such logs can show them. Each
//! run adds evidence of how unchanged code performs on other days, so runs are added and never replaced. To forget one,
//! remove its file.
//!
//! The median of a run is judged by the medians of earlier runs: [`picollo_stats::compare_runs`]. Runs on a machine with
//! another processor are left out, and the answer says how many.

mod file;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use picollo_core::Snapshot;
use picollo_core::layouts::ValueSelection;
use picollo_stats::{CompareOptions, RunComparison, compare_runs};

use file::clean;
use picollo_native::{ExplainedError, Result, Status};

/// Facts about a run besides its histograms: pairs of key and text, such as `kernel` and `6.1.0`.
pub type Environment = Vec<(String, String)>;

/// Number of runs of a baseline that are used: the newest ones.
pub const MOST_RUNS: usize = 100;

/// Runs that were saved under a name.
#[derive(Clone, Debug)]
pub struct Baseline {
    directory: PathBuf,
}

/// A run to save: the histogram of each benchmark, in picoseconds, by its name.
#[derive(Debug, Default)]
pub struct Run {
    /// Facts about the machine.
    pub environment: Environment,
    /// In the order in which they are written.
    pub histograms: Vec<(String, Box<Snapshot>)>,
}

/// A saved run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SavedRun {
    /// Path of its file.
    pub path: PathBuf,
    /// Facts about the machine.
    pub environment: Environment,
    /// In the order of the file.
    pub medians: Vec<Median>,
}

/// The median of a benchmark in a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Median {
    /// Name of the benchmark.
    pub name: String,
    /// In picoseconds.
    pub value: f64,
    /// Width of the median's bucket.
    pub width: f64,
}

/// The result of comparing a new run of a benchmark with a baseline.
#[derive(Clone, PartialEq, Debug)]
pub struct Against {
    /// The verdict; `None` if no earlier run on this machine has the benchmark.
    pub comparison: Option<RunComparison>,
    /// Notes, a sentence each: runs that were left out, and how the machine differs from earlier runs.
    pub notes: Vec<String>,
}

impl Baseline {
    /// The baseline with this name in a directory, usually `.picollo` in the current one. It need not exist yet.
    ///
    /// Fails with `InvalidArgument` if the name is empty, begins with a dot, or has a slash or control character.
    pub fn new(directory: &Path, name: &str) -> Result<Baseline> {
        let is_odd = |c: char| c == '/' || c == '\\' || c.is_control();
        if name.is_empty() || name.starts_with('.') || name.contains(is_odd) || name.len() > 200 {
            return Err(ExplainedError::new(
                Status::InvalidArgument,
                format_args!(
                    "the name of a baseline must be that of a directory, without a dot at its start, such as main; got {name:?}"
                ),
            ));
        }
        Ok(Baseline { directory: directory.join(name) })
    }

    /// The directory of its runs.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Adds a run in a new file that appears completely or not at all. Returns its path.
    ///
    /// Histograms are written with three significant digits, in steps of a thousandth.
    ///
    /// Errors: `InvalidArgument` for a run without benchmarks, for duplicate names, and for values that a log cannot
    /// hold: out of range or at least 2^62; `Empty` for an empty histogram; `Os` if the file cannot be written.
    pub fn save(&self, run: &Run) -> Result<PathBuf> {
        file::save(&self.directory, run)
    }

    /// The newest [`MOST_RUNS`] runs, the oldest first; empty if the baseline does not exist.
    ///
    /// Errors: `Os` if a file cannot be read, `Corrupt` if it is not such a log or has another unit. None is skipped.
    pub fn runs(&self) -> Result<Vec<SavedRun>> {
        file::runs(&self.directory)
    }
}

impl Median {
    fn from_snapshot(name: String, snapshot: &Snapshot) -> Result<Median> {
        let median = snapshot.percentile(50.0, ValueSelection::Midpoint)?;
        Ok(Median { name, value: median.value as f64, width: median.bucket.step as f64 })
    }
}

fn value_of<'a>(environment: &'a Environment, key: &str) -> &'a str {
    environment.iter().find(|(of, _)| of == key).map_or("", |(_, value)| value)
}

/// Why no run has a benchmark.
fn unknown(earlier: &[SavedRun]) -> String {
    let Some(last) = earlier.last() else { return "the baseline has no run yet".to_owned() };
    let names: Vec<String> = last.medians.iter().take(3).map(|median| quoted(&median.name)).collect();
    let more = last.medians.len() - names.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let plural = if earlier.len() == 1 { "" } else { "s" };
    format!("the baseline has other benchmarks, in {} run{plural}: {}{more}", earlier.len(), names.join(", "))
}

/// The name on one line, for people.
fn quoted(name: &str) -> String {
    let printed =
        name.chars().map(|c| if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { '?' } else { c });
    format!("'{}'", printed.take(80).collect::<String>())
}

/// Whether both have the same value for a key, as written in files.
fn is_same(a: &Environment, b: &Environment, key: &str) -> bool {
    clean(value_of(a, key)) == clean(value_of(b, key))
}

/// The machine, its kernel and governor, and its load: `cpu`, `cpus`, `host`, `kernel`, `governor`, `load` (of the last
/// minute) and `pressure` (the share of the last ten seconds in which something waited for a CPU, in per cent). Unknown
/// values are empty. Callers that know the compiler add `compiler`.
pub fn environment() -> Environment {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let line = |path: &str| read(path).lines().next().unwrap_or_default().trim().to_string();
    let cpus = std::thread::available_parallelism().map_or_else(|_| String::new(), |count| count.to_string());
    let pressure = line("/proc/pressure/cpu");
    let pressure =
        pressure.split("avg10=").nth(1).and_then(|rest| rest.split(' ').next()).unwrap_or_default();
    [
        ("cpu", cpu(&read("/proc/cpuinfo"))),
        ("cpus", cpus),
        ("host", line("/proc/sys/kernel/hostname")),
        ("kernel", line("/proc/sys/kernel/osrelease")),
        ("governor", line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")),
        ("load", line("/proc/loadavg").split(' ').next().unwrap_or_default().to_string()),
        ("pressure", pressure.to_string()),
    ]
    .map(|(key, value)| (key.to_string(), value))
    .into()
}

/// Name of the processor, or its numbers if it has no name, as on Arm.
fn cpu(info: &str) -> String {
    let value = |key: &str| {
        let found = info.lines().find(|line| line.split(':').next().is_some_and(|of| of.trim() == key));
        found.and_then(|line| line.split_once(':')).map(|(_, value)| value.trim().to_string())
    };
    value("model name").unwrap_or_else(|| {
        let numbers = ["CPU implementer", "CPU variant", "CPU part", "CPU revision"]
            .map(|key| value(key).unwrap_or_default());
        numbers.join(" ").trim().to_string()
    })
}

/// Warns if unchanged code may be called slower or faster more often than this, for any distribution of runs.
const MUCH: f64 = 0.1;

/// If these differ, it is another machine, and its times are not compared.
const OF_MACHINE: [&str; 2] = ["cpu", "cpus"];
/// These may change times, so a note reports their changes.
const OF_SYSTEM: [&str; 4] = ["host", "kernel", "governor", "compiler"];

/// The earlier runs of a benchmark.
struct Earlier<'a> {
    /// Medians of the runs on this machine, and the width of their widest bucket.
    values: Vec<f64>,
    width: f64,
    /// Environments of these runs.
    counted: Vec<&'a Environment>,
    /// Number of runs on other machines.
    others: usize,
}

impl<'a> Earlier<'a> {
    fn for_benchmark(earlier: &'a [SavedRun], name: &str, environment: &Environment) -> Earlier<'a> {
        let mut found = Earlier { values: Vec::new(), width: 0.0, counted: Vec::new(), others: 0 };
        for run in earlier {
            let Some(median) = run.medians.iter().find(|median| median.name == name) else { continue };
            if OF_MACHINE.iter().any(|key| !is_same(&run.environment, environment, key)) {
                found.others += 1;
                continue;
            }
            found.width = found.width.max(median.width);
            found.values.push(median.value);
            found.counted.push(&run.environment);
        }
        found
    }
}

fn left_out(others: usize) -> String {
    let plural = if others == 1 { " was" } else { "s were" };
    format!("{others} earlier run{plural} left out, because the machine had another processor")
}

/// Why earlier runs cannot judge a run of a benchmark in this environment. `None` if one of them is of this machine, so
/// that [`judge`] can compare.
pub fn missing(earlier: &[SavedRun], name: &str, environment: &Environment) -> Option<String> {
    let Earlier { values, others, .. } = Earlier::for_benchmark(earlier, name, environment);
    let why = || if others > 0 { left_out(others) } else { unknown(earlier) };
    values.is_empty().then(why)
}

/// Judges a run of a benchmark, measured in this environment, by earlier runs.
///
/// Errors: `Empty` if nothing was recorded, and those of [`picollo_stats::compare_runs`] for options.
pub fn judge(
    earlier: &[SavedRun],
    name: &str,
    snapshot: &Snapshot,
    environment: &Environment,
    options: &CompareOptions,
) -> Result<Against> {
    let Median { value, width, .. } = Median::from_snapshot(String::new(), snapshot)?;
    let Earlier { values, width: widest, counted, others } =
        Earlier::for_benchmark(earlier, name, environment);
    let width = width.max(widest);
    let mut notes = Vec::new();
    if values.is_empty() && others == 0 {
        notes.push(unknown(earlier));
    }
    if others > 0 {
        notes.push(left_out(others));
    }
    for key in OF_SYSTEM {
        // Compares with all of them, not only the last: each takes part in the judgment.
        let unlike = counted.iter().filter(|before| !is_same(before, environment, key));
        let Some(newest) = unlike.clone().next_back() else { continue };
        let text_or_unknown =
            |value: &str| if value.is_empty() { "unknown".to_owned() } else { clean(value) };
        notes.push(format!(
            "{key} was {} in {} of {} earlier runs and is {}",
            if unlike.clone().all(|other| is_same(other, newest, key)) {
                text_or_unknown(value_of(newest, key))
            } else {
                "another".to_owned()
            },
            unlike.count(),
            counted.len(),
            text_or_unknown(value_of(environment, key))
        ));
    }
    let options = CompareOptions { resolution: options.resolution.max(width), ..*options };
    let comparison = if values.is_empty() { None } else { Some(compare_runs(&values, value, &options)?) };
    if let Some(found) = &comparison
        && found.verdict != 0
        && found.alarm_bound > MUCH
    {
        let share = found.alarm_bound * 100.0;
        notes.push(format!(
            "after {} runs, up to {share:.0}% of the runs of unchanged code may be called slower or faster: save more of them",
            found.run_count
        ));
    }
    Ok(Against { comparison, notes })
}
