//! `picollo stat`: measures several runs of a command.

pub(crate) mod figures;
mod report;

use clap::{Arg, ArgMatches, Command, value_parser};
use picollo_bench::NoiseWatch;
use picollo_perf::probe;
use picollo_stats::{Figure, FigureCounts, FigureEstimate, estimate_figure};

use crate::compare::metric::{self, Metric};
use crate::compare::runner::{Run, Runner, display_command, split};
use crate::counts;
use crate::failure::{Failure, print_found};
use crate::progress::{Progress, bar};
use crate::values::{flag, option, subcommand};

const HELP: &str = "Shows what a command takes: time, memory, events, and figures such as instructions per cycle

The command runs several times. For each measure the output has the mean, the interval of the mean, and the standard deviation of the \
runs. On Linux a new process starts with the peak memory of this program. Smaller peaks are unknown, so the output shows a bound with a ≤. \
Figures are computed from the sums over all runs, never as a mean of ratios. A figure is omitted if its events are not counted here; --all \
shows why. --json has all counts, for your own figures.

  picollo stat sort /usr/share/dict/words
  picollo stat --runs 20 -e cycles,L1-dcache-load-misses ./program its arguments
  picollo stat --shell 'sort < data | uniq'
  picollo stat --counts ./program                 show where it executes instructions, exactly, without a PMU

With --counts the report has functions and source lines instead: what each of them executes, with inlined code under its own function. For \
Python programs it has the executed lines.

The exit status is 0 for success, 1 for an error, and 2 for wrong usage.";

/// Default events.
const EVENTS: [&str; 6] =
    ["cycles", "instructions", "branches", "branch-misses", "cache-references", "cache-misses"];

pub(crate) fn command() -> Command {
    subcommand("stat", HELP)
        .args([
            Arg::new("command")
                .value_name("COMMAND")
                .required(true)
                .num_args(1..)
                .trailing_var_arg(true)
                .allow_hyphen_values(true)
                .help("the command and its arguments"),
            flag("shell", "run COMMAND, which is one argument, with sh -c"),
            option("confidence", "C", "the confidence of each interval")
                .default_value("0.95")
                .value_parser(crate::compare::share),
            option("warm-up", "N", "the number of runs before the measurement")
                .default_value("1")
                .value_parser(value_parser!(u32).range(0..1000)),
            flag("all", "also show figures that are not known, and why"),
            flag("show-output", "show the output of the command, which is otherwise dropped"),
            flag("ignore-failure", "continue if the command fails"),
        ])
        .args(counts::arguments())
}

/// Events to count: the user's, or else the defaults if there is a PMU and they are shown.
pub(crate) fn events(matches: &ArgMatches, is_wanted: bool) -> Vec<String> {
    let asked = matches.get_many::<Vec<String>>("event").into_iter().flatten().flatten().cloned();
    let events: Vec<String> = asked.collect();
    match events[..] {
        [] if is_wanted && probe().pmu_available == 1 => EVENTS.map(str::to_owned).to_vec(),
        _ => events,
    }
}

/// A measured quantity in each run.
pub(crate) struct Measure {
    metric: Metric,
    /// `None` if it was not counted.
    pub(crate) values: Vec<Option<f64>>,
    mean: Option<FigureEstimate>,
}

/// The mean over the runs.
const MEAN: Figure =
    Figure { name: "mean", unit: "", events: &["value", "runs"], about: "", value: |sums| sums[0] / sums[1] };

impl Measure {
    pub(crate) fn new(metric: Metric, values: Vec<Option<f64>>, confidence: f64) -> Measure {
        let numbers: Vec<f64> = values.iter().map(|value| value.unwrap_or(f64::NAN)).collect();
        // The mean is a sum divided by the number of runs.
        let rows: Vec<f64> = numbers.iter().flat_map(|&number| [number, 1.0]).collect();
        let mean = estimate_figure(&MEAN, FigureCounts::in_order(&MEAN, &rows), confidence);
        let mean = mean.ok().and_then(Result::ok);
        // A mean of only some runs would not match the others.
        let mean = mean.filter(|_| values.iter().all(Option::is_some));
        Measure { metric, values, mean }
    }

    /// Standard deviation of the runs.
    fn spread(&self) -> Option<f64> {
        let mean = self.mean?.value;
        let squares: f64 = self.values.iter().flatten().map(|value| (value - mean) * (value - mean)).sum();
        (self.values.len() > 1).then(|| (squares / (self.values.len() - 1) as f64).sqrt())
    }
}

pub(crate) fn run(matches: &ArgMatches) -> Result<u8, Failure> {
    let words: Vec<String> = matches.get_many::<String>("command").into_iter().flatten().cloned().collect();
    let parts = match (matches.get_flag("shell"), words.as_slice()) {
        (true, [text]) => split(text, true)?,
        (true, _) => return Err("with --shell the command must be one argument; use quotation marks".into()),
        _ => words,
    };
    if matches.get_flag("counts") {
        return counts::stat(matches, &parts);
    }
    let events = events(matches, true);
    let confidence = matches.get_one::<f64>("confidence").copied().unwrap_or(0.95);
    let has_pmu = probe().pmu_available == 1;
    let mut runner = Runner::new(vec![parts.clone()], matches, &events)?;
    let warm_up = matches.get_one::<u32>("warm-up").copied().unwrap_or(1);
    let number = matches.get_one::<u32>("runs").copied().unwrap_or(10);
    let mut runs: Vec<Run> = Vec::new();
    let mut progress = Progress::new(true);
    let mut watch = NoiseWatch::create()?;
    for at in 0..warm_up + number {
        progress.update(|_| format!("{} run {at}", bar(f64::from(at) / f64::from(warm_up + number))));
        watch.begin();
        let run = runner.run(0)?;
        if at >= warm_up {
            watch.end()?;
            runs.push(run);
        }
    }
    drop(progress);
    let noise = watch.noise();
    let measures: Vec<Measure> = metric::all(&events)
        .into_iter()
        .enumerate()
        .map(|(at, metric)| Measure::new(metric, runs.iter().map(|run| run.values[at]).collect(), confidence))
        .collect();
    let derived = figures::compute(&measures, confidence);
    let mut notes = runner.missing();
    notes.extend(runner.multiplexed());
    if !has_pmu {
        notes.retain(|_| !events.is_empty());
        notes.push(
            "This machine has no PMU, so no processor events can be counted (picollo probe shows why). --counts counts instructions exactly.".into(),
        );
    }
    if noise.disturbed_count != 0 {
        let (disturbed, of) = (noise.disturbed_count, noise.block_count);
        let were = if disturbed == 1 { "was" } else { "were" };
        notes.push(format!("{disturbed} of {of} runs {were} disturbed{}.", noise.causes()));
    }
    let report = report::Report {
        command: display_command(&parts),
        parts: &parts,
        runs: runs.len(),
        measures,
        derived,
        notes,
        confidence,
        events: runner.events_json(&events),
        noise,
    };
    print_found(matches, || report.json(), || report.text(matches.get_flag("all")))?;
    Ok(0)
}
