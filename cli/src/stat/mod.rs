//! `picollo stat`: what a command takes, in some runs of it.

mod benchmarks;
pub(crate) mod figures;
mod report;
mod simulated;

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use picollo_core::{FigureEstimate, Formula, estimate_figure};
use picollo_native::{NoiseWatch, probe};

use crate::compare::metric::{self, Kind};
use crate::compare::runner::{Run, Runner, split};
use crate::failure::{Failure, print};
use crate::progress::{Progress, bar};
use crate::simulated::{arguments, shown};
use figures::Figures;

const ABOUT: &str = "What a command takes: time, memory, events, and figures derived from them";
const LONG_ABOUT: &str = "What a command takes: time, memory, events, and figures derived from them, as instructions per cycle.

Runs the command some times, and tells of each measure the mean, the interval of the mean, and the spread of the runs (their standard deviation). \
Figures are the formula of the sums over all runs, never a mean of ratios; `picollo stat --figures FILE` has formulas of your own, one a line, as \
`ipc = instructions / cycles`, and so has every file in ~/.config/picollo/figures. A figure whose events are not counted here is left out, and \
with --all told why.

  picollo stat sort /usr/share/dict/words
  picollo stat --runs 20 --event L1-dcache-load-misses ./program its arguments
  picollo stat --shell 'sort < data | uniq'
  picollo stat --counts=valgrind ./program        counts instructions exactly, where there is no PMU
  picollo stat --counts=valgrind --benchmarks ./program

With --benchmarks it is the benchmarks in the program that are counted, those of picollo.benchmark and of its siblings in other languages: the \
instructions of a call of A and of B, exactly, so that a difference of one is found. The program says nothing else for it, and need not be built anew.

Exit status: 0, 1 for an error, 2 for wrong usage, 3 with --fail-if-slower when B of a benchmark executes more instructions.";

/// What is counted where nobody says what.
pub(crate) const EVENTS: [&str; 6] =
    ["cycles", "instructions", "branches", "branch-misses", "cache-references", "cache-misses"];

pub(crate) fn command() -> Command {
    let option = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    Command::new("stat")
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .args([
            Arg::new("command")
                .value_name("COMMAND")
                .required(true)
                .num_args(1..)
                .trailing_var_arg(true)
                .allow_hyphen_values(true)
                .help("the command and its arguments"),
            flag("shell", "COMMAND is one argument, for sh -c"),
            option("event", "EVENT", "count this event instead of those that are usual; may be given again")
                .action(ArgAction::Append),
            option("confidence", "C", "of the intervals")
                .default_value("0.95")
                .value_parser(crate::compare::share),
            option("warm-up", "N", "runs before it counts")
                .default_value("1")
                .value_parser(value_parser!(u32).range(0..1000)),
            option("figures", "FILE", "formulas of your own; may be given again")
                .action(ArgAction::Append)
                .value_parser(value_parser!(PathBuf)),
            flag("all", "tell of figures that are not known, too, and why"),
            flag("show-output", "let the command write; else what it writes is dropped"),
            flag("ignore-failure", "go on when the command fails"),
            flag("json", "write JSON, with the values of all runs"),
            flag("benchmarks", "with --counts: count the benchmarks in COMMAND, the instructions of a call of A and of B")
                .requires("counts"),
            option("blocks", "N", "with --benchmarks: blocks of each; else 7")
                .value_parser(value_parser!(u32).range(2..=1000))
                .requires("benchmarks"),
            option("calls", "N", "with --benchmarks: calls that are counted in a block of A, and of B; else 1, 10 or 100, by how long one takes")
                .value_parser(value_parser!(u32).range(1..=1_000_000))
                .requires("benchmarks"),
            flag("fail-if-slower", "with --benchmarks: exit with status 3 when B of any executes more instructions than A")
                .requires("benchmarks"),
            option("threshold", "T", "with --fail-if-slower: by more than this share of A; else by any")
                .value_parser(crate::compare::share)
                .requires("fail-if-slower"),
        ])
        .args(arguments())
        .mut_arg("runs", |arg| arg.help("runs: 10, or 3 where they are counted, of --benchmarks 1, unless this says otherwise"))
}

/// Something that was measured in each run.
pub(crate) struct Measure {
    name: String,
    key: String,
    kind: Kind,
    /// `None` where it was not counted.
    pub(crate) values: Vec<Option<f64>>,
    mean: Option<FigureEstimate>,
}

impl Measure {
    pub(crate) fn new(
        name: String,
        key: String,
        kind: Kind,
        values: Vec<Option<f64>>,
        confidence: f64,
    ) -> Measure {
        let numbers: Vec<f64> = values.iter().map(|value| value.unwrap_or(f64::NAN)).collect();
        // The mean is the ratio of a sum to the number of runs.
        let rows: Vec<f64> = numbers.iter().flat_map(|&number| [number, 1.0]).collect();
        let mean = Formula::parse("value / runs", |name| Some((name == "runs") as usize))
            .ok()
            .and_then(|formula| estimate_figure(&formula, &rows, 2, confidence).ok()?.ok());
        // Of some runs alone it would be of other runs than the rest.
        let mean = mean.filter(|_| values.iter().all(Option::is_some));
        Measure { name, key, kind, values, mean }
    }

    /// The standard deviation of the runs.
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
    if matches.get_flag("benchmarks") {
        return benchmarks::run(matches, &parts);
    }
    if matches.contains_id("counts") {
        return simulated::run(matches, &parts);
    }
    let mut events: Vec<String> =
        matches.get_many::<String>("event").into_iter().flatten().cloned().collect();
    let confidence = matches.get_one::<f64>("confidence").copied().unwrap_or(0.95);
    let has_pmu = probe().pmu_available == 1;
    if events.is_empty() && has_pmu {
        events.extend(EVENTS.map(str::to_owned));
    }
    let figures = Figures::read(matches)?;
    let mut runner = Runner::of(
        vec![parts.clone()],
        matches.get_flag("show-output"),
        matches.get_flag("ignore-failure"),
        matches.get_one::<String>("input").map(PathBuf::from),
        &events,
    )?;
    let warm_up = matches.get_one::<u32>("warm-up").copied().unwrap_or(1);
    let number = matches.get_one::<u32>("runs").copied().unwrap_or(10);
    let mut runs: Vec<Run> = Vec::new();
    let mut progress = Progress::new(true);
    let told = |error: picollo_native::Error| Failure::Told(error.to_string());
    let mut watch = NoiseWatch::create().map_err(told)?;
    for at in 0..warm_up + number {
        progress.update(|_| format!("{} run {at}", bar(f64::from(at) / f64::from(warm_up + number))));
        watch.begin();
        let run = runner.run(0)?;
        if at >= warm_up {
            watch.end().map_err(told)?;
            runs.push(run);
        }
    }
    drop(progress);
    let noise = watch.noise();
    let measures: Vec<Measure> = metric::all(&events)
        .into_iter()
        .enumerate()
        .map(|(at, metric)| {
            let values = runs.iter().map(|run| run.values[at]).collect();
            Measure::new(metric.name, metric.key, metric.kind, values, confidence)
        })
        .collect();
    let derived = figures.of(&measures, confidence);
    let mut notes = runner.missing();
    notes.extend(runner.multiplexed());
    if !has_pmu {
        notes.retain(|_| !events.is_empty());
        notes.push(
            "There is no PMU here, so nothing of the processor can be counted (picollo probe says why); --counts=valgrind counts instructions exactly.".into(),
        );
    }
    notes.extend(figures.unread);
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
    print(&if matches.get_flag("json") { report.json() } else { report.text(matches.get_flag("all")) })?;
    Ok(0)
}
