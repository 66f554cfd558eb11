//! `picollo compare`: which of two commands is faster, and by how much.

mod figures;
mod memory;
pub(crate) mod metric;
mod report;
pub(crate) mod runner;

use std::time::{Duration, Instant};

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use picollo_bench::{Benchmark, BenchmarkNoise, BenchmarkOptions, Side};
use picollo_stats::{
    BlockComparison, COMPARISON_AUTOCORRELATED, COMPARISON_NOISY, CompareOptions, Verdict,
    compare_block_ratios,
};
use serde_json::{Value, json};

use crate::counts::{LINES, Why};
use crate::failure::{Failure, print_found};
use crate::progress::{Progress, bar};
use crate::stat;
use crate::values::{flag, option, subcommand};
use memory::Memory;
use metric::{Kind, Metric, WALL};
use report::Report;
use runner::{Run, Runner, split};

const HELP: &str = "Shows which of two commands is faster, and by how much

The commands A and B alternate in blocks (A B B A or B A A B, at random). The comparison ends when the answer can no longer change, or \
when the budget is spent. The answer is about the wall time. The output also has the CPU time, the peak memory and the events of --event. \
With --all it has everything that was measured, and the figures of both, such as instructions per cycle (see picollo stat --help). Each \
difference has its confidence interval. Differences below the resolution (20 us, 256 KiB, one event) are not judged.

A block is left out if other programs or the host took more than a twentieth of its time. If more than half of the blocks are disturbed, \
all of them count, because A and B alternated. If the interval then proves nothing, the verdict is unproven (noisy), and a larger \
--budget may help. --keep-disturbed always counts all blocks. Use it if other programs belong to the measurement, such as a server that \
answers requests.

On Linux a new process inherits the peak memory of the program that starts it. So a peak that is not above that of picollo itself is a \
bound, shown with a ≤.

  picollo compare 'gzip -1 -k -f data' 'gzip -6 -k -f data'
  picollo compare --budget 30 --threshold 0.02 './old' './new'
  picollo compare --shell 'sort < data | uniq' 'sort -u < data'
  picollo compare -e instructions,branch-misses ./old ./new --json
  picollo compare --why ./old ./new                             also show which function and line execute more
  picollo compare --counts ./old ./new                          compare exact instructions, not times
  picollo compare --save main './prog'                          add this run to the baseline main
  picollo compare --against main --fail-if-slower './prog'      judge this run by five or more saved runs

With --save or --against, one command is enough. An unchanged program has different times on different days. So a verdict against saved \
runs is never finer than the spread between them, and a slower run is measured a second time. If there are two commands, the new one, B, is \
saved and judged. If B is slower than A, or slower than its saved runs, both run a second time, and --fail-if-slower uses that result. If the \
baseline has no such run of this machine, --fail-if-slower reports an error. --allow-missing allows a first run.

With --why, the cause follows the verdict: the functions and source lines that execute more in B, exactly, also on machines without a PMU. \
Valgrind counts, and is about fifty times as slow. Python programs count their own lines. All runs get the same few environment variables, \
fixed addresses, and one name for both programs, so that counts repeat. If instructions do not explain the times, the output shows what else differs. --counts measures \
no times and compares instructions.

The exit status is 0 for success, 1 for an error, and 2 for wrong usage. With --fail-if-slower it is 3 if B is slower or executes more \
instructions.";

/// Exit status with --fail-if-slower.
pub(crate) const SLOWER: u8 = 3;

/// Printed if --fail-if-slower has no proof to use.
const EXCUSED: &str = "--fail-if-slower: passed, because this machine is too noisy to prove a difference.";

pub(crate) fn command() -> Command {
    let count = || value_parser!(u32).range(1..i64::from(i32::MAX));
    subcommand("compare", HELP).args([
        Arg::new("a").value_name("CMD_A").required(true).help("the first command with its arguments, as one argument"),
        Arg::new("b")
            .value_name("CMD_B")
            .required_unless_present_any(["save", "against"])
            .help("the second command, in the same form"),
        flag("shell", "run the commands with sh -c; the times include the start of sh"),
        option("budget", "TIME", "the longest time to measure, such as 8s or 1m").default_value("10s").allow_negative_numbers(true).value_parser(budget),
        option("precision", "P", "end when the difference is known to plus or minus this share of A's time; 0 uses the whole budget. By default, it ends when the answer can no longer change; with --save or --against, at 0.005")
            .value_parser(finite)
            .allow_hyphen_values(true),
        option("min-blocks", "N", "the smallest number of blocks; a block has two runs of each command").default_value("10").value_parser(count()),
        option("max-blocks", "N", "the largest number of blocks").default_value("100000").value_parser(count()),
        option("warm-up", "N", "the number of runs of each command before the measurement").default_value("1").value_parser(count()),
        option("threshold", "T", "ignore differences up to this share")
            .default_value("0.01")
            .value_parser(finite)
            .allow_hyphen_values(true),
        option("confidence", "C", "the confidence of each interval; a comparison has many").default_value("0.99").value_parser(share),
        option("name", "NAME", "a name for A in the output; repeat it for B").action(ArgAction::Append),
        flag("all", "show everything that is measured, and figures"),
        flag("show-output", "show the output of the commands, which is otherwise dropped"),
        flag("ignore-failure", "continue if a command fails"),
        flag("fail-if-slower", "exit with status 3 if B is slower"),
        flag("keep-disturbed", "also count blocks that other programs disturbed"),
        option("save", "NAME", "add the times of this run to the baseline NAME")
            .conflicts_with("counts"),
        option("against", "NAME", "judge the times by the runs in the baseline NAME")
            .conflicts_with("counts"),
        option("baselines", "DIRECTORY", "the directory of the baselines").default_value(".picollo"),
        flag("allow-missing", "with --fail-if-slower and --against: pass if the baseline has no such run yet")
            .requires("against"),
        flag("why", "show which functions and lines of B execute more, or what else differs").requires("b").group("counting"),
    ]).args(crate::counts::arguments()).mut_arg("runs", |runs| {
        runs.requires("counting").help("with counts: the number of runs; the default is 2, and 7 if counts differ")
    })
}

fn finite(text: &str) -> Result<f64, String> {
    text.parse::<f64>()
        .ok()
        .filter(|number| number.is_finite())
        .ok_or_else(|| format!("{text} is not a finite number: use one such as 0.01"))
}

/// Parses a budget in seconds, within the limits of a benchmark.
fn budget(text: &str) -> Result<f64, String> {
    let seconds = crate::values::age(text)?.as_secs_f64();
    Some(seconds).filter(|seconds| (1e-9..=1e6).contains(seconds)).ok_or_else(|| {
        format!("{text} is not a budget: use more than 0 and at most 1000000 seconds, such as 8s")
    })
}

pub(crate) fn share(text: &str) -> Result<f64, String> {
    finite(text)
        .ok()
        .filter(|&number| 0.0 < number && number < 1.0)
        .ok_or_else(|| format!("{text} is not between 0 and 1: use a share such as 0.95"))
}

/// The options of the command.
struct Arguments {
    names: [String; 2],
    warm_up: u32,
    options: BenchmarkOptions,
    events: Vec<String>,
    has_all: bool,
}

impl Arguments {
    /// Options for judging a metric that has this resolution.
    fn judging(&self, resolution: f64) -> CompareOptions {
        let BenchmarkOptions { confidence, relative_threshold, .. } = self.options;
        CompareOptions { confidence, relative_threshold, resolution, ..CompareOptions::default() }
    }
}

/// The values of A and B in one block, for each metric: means of two runs each.
type Block = [Vec<Option<f64>>; 2];

/// What else the machine did, as JSON; unknown values are null.
pub(crate) fn noise(noise: &BenchmarkNoise) -> Value {
    json!({
        "disturbed": noise.disturbed_count,
        "seconds": noise.seconds,
        "steal_seconds": noise.steal_seconds,
        "others_seconds": noise.others_seconds,
        "pressure_seconds": noise.pressure_seconds,
        "frequency_low": noise.frequency_low,
        "frequency_high": noise.frequency_high,
        "cpus": Some(noise.cpu_count).filter(|&count| count != 0),
    })
}

/// All blocks, the comparison of their wall times, and what else the machine did.
struct Measured {
    blocks: Vec<Block>,
    /// Positions of the blocks that are left out.
    left_out: Vec<usize>,
    noise: BenchmarkNoise,
    /// In seconds.
    wall: BlockComparison,
    /// Confidence of the final look, which all judgments use.
    look_confidence: f64,
    /// More than half of the blocks were disturbed: times are only meaningful in comparison.
    is_disturbed: bool,
}

impl Measured {
    fn counting(&self) -> Vec<&Block> {
        let counts = |at: &usize| !self.left_out.contains(at);
        (0..self.blocks.len()).filter(counts).map(|at| &self.blocks[at]).collect()
    }
}

/// The comparison of a metric; `None` if it was not measured in every block.
struct Compared {
    metric: Metric,
    found: Option<BlockComparison>,
}

pub(crate) fn run(matches: &ArgMatches) -> Result<u8, Failure> {
    let texts =
        |name: &str| matches.get_many::<String>(name).into_iter().flatten().cloned().collect::<Vec<_>>();
    let mut names = texts("name");
    names.extend(["A", "B"].iter().skip(names.len()).map(|name| (*name).to_owned()));
    if matches.get_flag("counts") {
        return by_counts(matches, &[names[0].clone(), names[1].clone()]);
    }
    let wants_events = ["all", "json"].iter().any(|name| matches.get_flag(name));
    let arguments = Arguments {
        names: [names[0].clone(), names[1].clone()],
        warm_up: matches.get_one("warm-up").copied().unwrap_or(1),
        options: options(matches),
        events: stat::events(matches, wants_events || matches.contains_id("export-json")),
        has_all: matches.get_flag("all"),
    };
    let command = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let a = command("a").unwrap_or_default();
    // A single command is compared with itself: the difference shows its own noise.
    let (is_alone, b) = (command("b").is_none(), command("b").unwrap_or(a));
    let directory = command("baselines").unwrap_or_default();
    // Name in a baseline: the user's, or else the words of the command line.
    let benchmark = texts("name").into_iter().last().unwrap_or_else(|| b.to_owned());
    let memory = Memory::new(directory, command("save"), command("against"), benchmark)?;
    if matches.get_flag("fail-if-slower") && !matches.get_flag("allow-missing") {
        memory.demand()?;
    }
    let with_shell = matches.get_flag("shell");
    let commands = vec![split(a, with_shell)?, split(b, with_shell)?];
    let mut runner = Runner::new(commands, matches, &arguments.events)?;
    let why = matches.get_flag("why").then(|| Why::count(matches, &arguments.names, &runner.commands, false));
    let why = why.transpose()?;
    let began = Instant::now();
    let mut measured = measure(&mut runner, &arguments)?;
    let mut compared = compare(&measured, &arguments)?;
    let mut against = memory.judge(&measured, &arguments)?;
    let in_turns = |measured: &Measured| !is_alone && measured.wall.verdict() == Verdict::Slower;
    let first_look = against.as_ref().map(|against| memory::is_slower(against) || in_turns(&measured));
    if first_look == Some(true) {
        // Measures again before failing: disturbances do not last. With two commands, the second look alternates and
        // decides.
        measured = measure(&mut runner, &arguments)?;
        compared = compare(&measured, &arguments)?;
        against = memory.judge(&measured, &arguments)?;
    }
    let took = began.elapsed();
    let wall = &measured.wall;
    let is_slower = match &against {
        Some(against) if is_alone => memory::is_slower(against),
        Some(_) => first_look == Some(true) && in_turns(&measured),
        None => in_turns(&measured),
    };
    let saved = memory.save(&measured, is_slower && against.is_some())?;
    let is_second_look = first_look == Some(true);
    let is_unproven = wall.flags & COMPARISON_NOISY != 0 || is_alone && measured.is_disturbed;
    let is_excused = is_unproven && !is_slower && matches.get_flag("fail-if-slower");
    let unexplained = why
        .as_ref()
        .map(|why| unexplained(matches, why, &arguments, &runner, &compared))
        .transpose()?
        .flatten();
    let report = Report { arguments: &arguments, runner: &runner, measured: &measured, compared: &compared };
    let json = || {
        let remembered = against.as_ref().map(|against| memory.json(against, is_second_look));
        let why = why.as_ref().map(|why| {
            let mut why = why.json();
            why["unexplained"] = unexplained
                .as_ref()
                .map(|(what, misses)| json!({ "what": what, "misses": misses.as_ref().map(Why::json) }))
                .into();
            why
        });
        report.json(remembered, why)
    };
    let text = || {
        let mut text = String::new();
        if !is_alone {
            text += &format!("{}\n", report::sentence(&arguments, wall));
            text += &report.text(took);
            if arguments.has_all || matches.contains_id("event") {
                text += &figures::text(&figures::compute(&measured, &arguments), &arguments);
            }
        }
        text += &against.as_ref().map(|against| memory.text(against, is_second_look)).unwrap_or_default();
        if measured.noise.disturbed_count != 0 {
            text += &format!("{}\n", measured.noise);
        }
        if is_excused {
            text += &format!("{EXCUSED}\n");
        }
        if let Some(why) = &why {
            text += &format!("\n{}", why.text(if unexplained.is_some() { 8 } else { LINES }));
        }
        if let Some((what, misses)) = &unexplained {
            text += &format!("{what}\n{}", misses.as_ref().map(|misses| misses.text(6)).unwrap_or_default());
        }
        text += &saved;
        if wall.flags & COMPARISON_AUTOCORRELATED != 0 {
            text += "Runs depend on earlier runs, so the interval is wider. Check whether the machine is busy with something else.\n";
        }
        text
    };
    print_found(matches, json, text)?;
    if is_excused && matches.get_flag("json") {
        eprintln!("picollo: {EXCUSED}");
    }
    Ok(if is_slower && matches.get_flag("fail-if-slower") { SLOWER } else { 0 })
}

/// Compares only instructions.
fn by_counts(matches: &ArgMatches, names: &[String; 2]) -> Result<u8, Failure> {
    let command = |name: &str| {
        split(matches.get_one::<String>(name).map_or("", String::as_str), matches.get_flag("shell"))
    };
    let why = Why::count(matches, names, &[command("a")?, command("b")?], false)?;
    print_found(matches, || format!("{:#}\n", why.json()), || why.text(LINES))?;
    // Exact counts need no margin unless the user asks for one.
    let is_given = matches.value_source("threshold") == Some(ValueSource::CommandLine);
    let threshold = matches.get_one::<f64>("threshold").copied().filter(|_| is_given).unwrap_or(0.0);
    let is_slower = why.more().is_some_and(|share| share > threshold);
    Ok(if is_slower && matches.get_flag("fail-if-slower") { SLOWER } else { 0 })
}

/// Finds other differences if B is slower or faster, and its instructions do not explain a tenth of that.
fn unexplained(
    matches: &ArgMatches,
    why: &Why,
    arguments: &Arguments,
    runner: &Runner,
    compared: &[Compared],
) -> Result<Option<(String, Option<Why>)>, Failure> {
    let Some(wall) = compared[WALL].found.filter(|wall| wall.verdict() != Verdict::NoEvidence) else {
        return Ok(None);
    };
    let share = wall.difference / wall.median_a;
    if why.share() * share > 0.0 && why.share().abs() * 10.0 >= share.abs() {
        return Ok(None);
    }
    let differ = report::differences(compared);
    let what = format!("That does not explain {:+.1} % of the time. {differ}", share * 100.0);
    // Shows where the processor would wait for memory with such caches.
    let misses = !why.counts_python();
    let misses = misses.then(|| Why::count(matches, &arguments.names, &runner.commands, true)).transpose()?;
    Ok(Some((what, misses)))
}

/// Converts the command line to options of the library.
fn options(matches: &ArgMatches) -> BenchmarkOptions {
    let number = |name: &str| matches.get_one::<f64>(name).copied();
    let count = |name: &str| matches.get_one::<u32>(name).copied().unwrap_or(1);
    let keeps_disturbed = matches.get_flag("keep-disturbed");
    let is_remembered = matches.contains_id("save") || matches.contains_id("against");
    BenchmarkOptions {
        no_overhead: true,
        keep_disturbed: keeps_disturbed,
        budget_seconds: number("budget").unwrap_or_default(),
        // Runs for later comparisons need a known precision, whatever the result is.
        precision: match number("precision") {
            Some(asked) if asked > 0.0 => asked,
            Some(_) => -1.0,
            None if is_remembered => 0.005,
            None => 0.0,
        },
        // 0 would be the library's default of one per cent; a negative value means no threshold.
        relative_threshold: number("threshold").filter(|&threshold| threshold > 0.0).unwrap_or(-1.0),
        resolution_seconds: metric::TIME,
        // 0 would be a tenth of the budget; this is practically nothing.
        warm_up_seconds: 1e-9,
        repetitions: 1,
        confidence: number("confidence").unwrap_or_default(),
        min_blocks: count("min-blocks"),
        max_blocks: count("max-blocks"),
        ..BenchmarkOptions::default()
    }
}

/// Compares the blocks, metric by metric.
fn compare(measured: &Measured, arguments: &Arguments) -> Result<Vec<Compared>, Failure> {
    let (blocks, metrics) = (measured.counting(), metric::all(&arguments.events).into_iter().enumerate());
    metrics
        .map(|(at, metric)| {
            let found = match at {
                WALL => Some(measured.wall),
                _ => judge(&blocks, at, &metric, measured, arguments)?,
            };
            Ok(Compared { metric, found })
        })
        .collect()
}

/// Runs both commands until enough is known.
fn measure(runner: &mut Runner, arguments: &Arguments) -> Result<Measured, Failure> {
    let mut last = [f64::NAN; 2];
    // The stepper adds one round before it counts.
    for _ in 1..arguments.warm_up {
        for (which, last) in last.iter_mut().enumerate() {
            *last = runner.run(which)?.wall;
        }
    }
    let mut benchmark = Benchmark::create(&arguments.options, &[])?;
    let mut samples: Vec<(Side, Run)> = Vec::new();
    let mut progress = Progress::new(true);
    while let Some(step) = benchmark.next()? {
        let (share, runs) = (benchmark.progress(), samples.len());
        progress.update(|_: Duration| {
            let times = ["A", "B"].iter().zip(last).filter(|(_, wall)| wall.is_finite());
            let times: Vec<String> =
                times.map(|(name, wall)| format!("{name} {}", Kind::Seconds.write(wall))).collect();
            format!("{} {runs} runs  {}", bar(share), times.join("  "))
        });
        let which = (step.side == Side::B) as usize;
        let run = runner.run(which)?;
        let counts = benchmark.is_measuring();
        benchmark.done_after((run.wall * 1e12) as u64)?;
        last[which] = run.wall;
        if counts {
            samples.push((step.side, run));
        }
    }
    // Drops an incomplete block if the budget was spent during it.
    let (blocks, _) = samples.as_chunks::<4>();
    let blocks: Vec<Block> = blocks.iter().map(block_of).collect();
    let noise = benchmark.noise()?;
    let is_left_out = |at: &usize| noise.left_out_count != 0 && benchmark.disturbed().get(*at) == Some(&true);
    let left_out = (0..blocks.len()).filter(is_left_out).collect();
    let wall = in_seconds(benchmark.result()?.blocks);
    let is_disturbed = 2 * noise.disturbed_count > noise.block_count && !arguments.options.keep_disturbed;
    let look_confidence = benchmark.look_confidence();
    Ok(Measured { blocks, left_out, noise, wall, look_confidence, is_disturbed })
}

/// Converts from picoseconds.
fn in_seconds(mut found: BlockComparison) -> BlockComparison {
    for time in [
        &mut found.median_a,
        &mut found.median_b,
        &mut found.difference,
        &mut found.difference_lower,
        &mut found.difference_upper,
        &mut found.margin,
        &mut found.smallest_detectable,
        &mut found.resolution,
    ] {
        *time /= 1e12;
    }
    found
}

fn block_of(samples: &[(Side, Run); 4]) -> Block {
    [Side::A, Side::B].map(|side| {
        let runs: Vec<&Run> = samples.iter().filter(|(of, _)| *of == side).map(|(_, run)| run).collect();
        let mean = |at: usize| {
            let values: Option<Vec<f64>> = runs.iter().map(|run| run.values[at]).collect();
            values.map(|values| values.iter().sum::<f64>() / values.len() as f64)
        };
        (0..runs[0].values.len()).map(mean).collect()
    })
}

fn judge(
    blocks: &[&Block],
    at: usize,
    metric: &Metric,
    measured: &Measured,
    arguments: &Arguments,
) -> Result<Option<BlockComparison>, Failure> {
    let of = |side: usize| blocks.iter().map(|block| block[side][at]).collect::<Option<Vec<f64>>>();
    let (Some(a), Some(b)) = (of(0), of(1)) else { return Ok(None) };
    if a.is_empty() {
        return Ok(None);
    }
    let options =
        CompareOptions { look_confidence: measured.look_confidence, ..arguments.judging(metric.resolution) };
    Ok(Some(compare_block_ratios(&a, &b, &mut vec![0.0; a.len()], &options)?))
}

#[cfg(test)]
mod tests;
