//! `picollo stat`: measures several runs of a command.

pub(crate) mod figures;
mod report;

use clap::{Arg, ArgMatches, Command, value_parser};
use picollo_bench::NoiseWatch;
use picollo_perf::probe;
use picollo_stats::{Figure, FigureCounts, FigureEstimate, estimate_figure};

use crate::compare::metric::{self, Metric};
use crate::compare::runner::{Run, Runner, shown, split};
use crate::counts;
use crate::failure::{Failure, print_found};
use crate::progress::{Progress, bar};
use crate::values::{flag, option, subcommand};

const HELP: &str = "What a command takes: time, memory, events, and figures derived from them, as instructions per cycle

Runs the command some times, and tells of each measure the mean, the interval of the mean, and the spread of the runs (their standard deviation). \
Linux lets a new process begin with the peak memory of this program: what is not above that is shown as a bound, with a ≤. \
Figures are of the sums over all runs, never a mean of ratios. A figure whose events are not counted here is left out; --all says why. \
--json has all counts, for figures of your own.

  picollo stat sort /usr/share/dict/words
  picollo stat --runs 20 -e cycles,L1-dcache-load-misses ./program its arguments
  picollo stat --shell 'sort < data | uniq'
  picollo stat --counts ./program                 where its instructions go, exactly, and without a PMU

With --counts the report has functions and source lines instead: what each executes, its inlined parts by the functions that they are of. Of Python \
programs it has the lines that they execute.

Exit status: 0, 1 for an error, 2 for wrong usage.";

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
            flag("shell", "COMMAND is one argument, for sh -c"),
            option("confidence", "C", "of the intervals")
                .default_value("0.95")
                .value_parser(crate::compare::share),
            option("warm-up", "N", "runs before it counts")
                .default_value("1")
                .value_parser(value_parser!(u32).range(0..1000)),
            flag("all", "tell of figures that are not known, too, and why"),
            flag("show-output", "let the command write; else what it writes is dropped"),
            flag("ignore-failure", "go on when the command fails"),
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
        (true, _) => return Err("--shell takes the command as one argument, in quotation marks".into()),
        _ => words,
    };
    if matches.get_flag("counts") {
        return counts::stat(matches, &parts);
    }
    let events = events(matches, true);
    let confidence = matches.get_one::<f64>("confidence").copied().unwrap_or(0.95);
    let has_pmu = probe().pmu_available == 1;
    let mut runner = Runner::of(vec![parts.clone()], matches, &events)?;
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
    let derived = figures::of(&measures, confidence);
    let mut notes = runner.missing();
    notes.extend(runner.multiplexed());
    if !has_pmu {
        notes.retain(|_| !events.is_empty());
        notes.push(
            "There is no PMU here, so nothing of the processor can be counted (picollo probe says why); --counts counts instructions exactly.".into(),
        );
    }
    if noise.disturbed_count != 0 {
        let (disturbed, of) = (noise.disturbed_count, noise.block_count);
        let were = if disturbed == 1 { "was" } else { "were" };
        notes.push(format!("{disturbed} of {of} runs {were} disturbed{}.", noise.causes()));
    }
    let report = report::Report {
        command: shown(&parts),
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
