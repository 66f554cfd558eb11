//! `picollo compare`: which of two commands is faster, and by how much.

pub(crate) mod counted;
mod figures;
mod memory;
pub(crate) mod metric;
mod report;
pub(crate) mod runner;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use picollo_core::{
    BlockComparison, COMPARISON_AUTOCORRELATED, COMPARISON_NOISY, CompareOptions, Verdict, compare_blocks,
};
use picollo_native::{
    BENCHMARK_KEEP_DISTURBED, BENCHMARK_NO_OVERHEAD, Benchmark, BenchmarkNoise, BenchmarkOptions, Side, probe,
};

use serde_json::{Value, json};

use crate::failure::{Failure, print};
use crate::progress::{Progress, bar};
use crate::stat::figures::Figures;
use memory::Memory;
use metric::{Kind, Metric, WALL};
use runner::{Run, Runner, split};

const ABOUT: &str = "Which of two commands is faster, and by how much";
const LONG_ABOUT: &str = "Which of two commands is faster, and by how much.

Runs the commands A and B in turns, in blocks (A B B A, then B A A B), until the budget is spent, or before where that is enough: the first \
blocks, a pilot, tell how many it takes to know the difference of their wall times as --precision says, and those after it are judged. Compares time, memory, page faults, context switches and what the processor counted, or with --event what that says, by the \
differences within blocks. Figures, as instructions per cycle, are told of both, with their difference (see picollo stat --help). Each difference is shown with its interval. Differences below the resolution (20 us, 256 KiB, one of what is \
counted) are below what this measurement can tell.

Blocks during which other programs or the host took more than a twentieth of the time are left out. Where that is more than half of them, the \
verdict on the wall time is unproven (noisy), and --fail-if-slower does not fail. --keep-disturbed counts them all the same: where other programs \
belong to what is measured, as a server that is asked.

Peak memory is at least that of this program itself, some 5 MiB, which a new process starts as on Linux.

  picollo compare 'gzip -1 -k -f data' 'gzip -6 -k -f data'
  picollo compare --budget 30 --threshold 0.02 './old' './new'
  picollo compare --shell 'sort < data | uniq' 'sort -u < data'
  picollo compare --event instructions --event branch-misses ./old ./new --json
  picollo compare --counts=valgrind ./old ./new
  picollo compare --save main './prog'                          add a run to what is remembered as main
  picollo compare --against main --fail-if-slower './prog'      and judge another one by five or more of them

With --save or --against one command is enough. Runs on different days differ though the program does not: a verdict against saved ones is \
never finer than the spread between them, and a slower run is measured a second time. Of two commands the new one, B, is saved and judged; where it \
is slower than A or than it was, both are run in turns a second time, and --fail-if-slower goes by that. With --fail-if-slower a baseline that has no \
such run of this machine is an error, unless --allow-missing says that it may be the first.

Where there is no PMU, as on most clouds, --counts=valgrind counts instructions all the same: exactly, in three runs of each, in a world that is \
the same each time (few variables, fixed addresses, one name for both programs).

Exit status: 0, 1 for an error, 2 for wrong usage, 3 with --fail-if-slower when B is slower, or executes more instructions.";

/// Exit status with --fail-if-slower.
pub(crate) const SLOWER: u8 = 3;

/// Where --fail-if-slower has nothing to go by.
const EXCUSED: &str = "--fail-if-slower: not failed, as nothing is proven on so noisy a machine.";

pub(crate) fn command() -> Command {
    let option = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    let count = || value_parser!(u32).range(1..i64::from(i32::MAX));
    Command::new("compare").about(ABOUT).long_about(LONG_ABOUT).args([
        Arg::new("a").value_name("CMD_A").required(true).help("a command with its arguments, as one argument"),
        Arg::new("b")
            .value_name("CMD_B")
            .required_unless_present_any(["save", "against"])
            .help("the one to compare it with"),
        flag("shell", "run the commands by sh -c, whose start is then part of the time"),
        option("budget", "S", "seconds at most").default_value("10").value_parser(positive),
        option("precision", "P", "end before the budget is spent, with as many blocks as make the difference known to about plus or minus this share of A's time; 0: only with the budget")
            .default_value("0.005")
            .value_parser(finite)
            .allow_hyphen_values(true),
        option("min-blocks", "N", "blocks, of two runs each, at least: in the pilot, and judged").default_value("10").value_parser(count()),
        option("max-blocks", "N", "blocks at most, with those of the pilot").default_value("100000").value_parser(count()),
        option("warm-up", "N", "runs of each before it counts").default_value("1").value_parser(count()),
        option("threshold", "T", "differences up to this share do not matter")
            .default_value("0.01")
            .value_parser(finite)
            .allow_hyphen_values(true),
        option("confidence", "C", "of the intervals; there are many of them").default_value("0.99").value_parser(share),
        option("event", "EVENT", "count this event too; may be given again").action(ArgAction::Append),
        option("figures", "FILE", "formulas of your own; may be given again")
            .action(ArgAction::Append)
            .value_parser(value_parser!(PathBuf)),
        option("name", "NAME", "what to call A, and given again B").action(ArgAction::Append),
        flag("show-output", "let the commands write; else what they write is dropped"),
        flag("ignore-failure", "go on when a command fails"),
        flag("fail-if-slower", "exit with status 3 when B is slower"),
        flag("keep-disturbed", "count blocks that other programs disturbed, too"),
        option("save", "NAME", "add the times of this run to the baseline of that name")
            .conflicts_with("counts"),
        option("against", "NAME", "judge the times by the runs in the baseline of that name")
            .conflicts_with("counts"),
        option("baselines", "DIRECTORY", "where baselines are").default_value(".picollo"),
        flag("allow-missing", "with --fail-if-slower and --against: pass where that baseline has no such run yet")
            .requires("against"),
        flag("json", "write JSON, with the times of all blocks"),
        flag("own-names", "with --counts: start programs by their own names, which cost instructions; else two programs have one name"),
    ]).args(crate::simulated::arguments())
}

fn finite(text: &str) -> Result<f64, String> {
    text.parse::<f64>().ok().filter(|number| number.is_finite()).ok_or_else(|| format!("{text} is no number"))
}

fn positive(text: &str) -> Result<f64, String> {
    finite(text)
        .ok()
        .filter(|number| 0.0 < *number && *number <= 1e6)
        .ok_or_else(|| format!("must be above 0: {text}"))
}

pub(crate) fn share(text: &str) -> Result<f64, String> {
    finite(text)
        .ok()
        .filter(|number| 0.0 < *number && *number < 1.0)
        .ok_or_else(|| format!("must be between 0 and 1: {text}"))
}

/// What the command line says.
struct Arguments {
    names: [String; 2],
    budget: f64,
    precision: f64,
    min_blocks: u32,
    max_blocks: u32,
    warm_up: u32,
    threshold: f64,
    confidence: f64,
    events: Vec<String>,
    keeps_disturbed: bool,
}

/// What A and B took in one block, metric by metric: the means of two runs each.
type Block = [Vec<Option<f64>>; 2];

/// What else the machine did, for programs; what is not known is null.
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

/// All blocks, and what else the machine did.
struct Measured {
    blocks: Vec<Block>,
    /// The first so many told how many it takes, and are not judged.
    pilot: usize,
    /// Those that are left out of the rest.
    left_out: Vec<usize>,
    noise: BenchmarkNoise,
    /// So many were disturbed that times prove nothing.
    is_noisy: bool,
}

impl Measured {
    fn counting(&self) -> Vec<&Block> {
        let counts = |at: &usize| !self.left_out.contains(at);
        (self.pilot..self.blocks.len()).filter(counts).map(|at| &self.blocks[at]).collect()
    }
}

/// A metric's comparison, with the blocks that it is of; `None` where it was not measured in every block.
struct Compared {
    metric: Metric,
    found: Option<BlockComparison>,
}

pub(crate) fn run(matches: &ArgMatches) -> Result<u8, Failure> {
    let number = |name: &str| matches.get_one::<f64>(name).copied().unwrap_or(0.0);
    let count = |name: &str| matches.get_one::<u32>(name).copied().unwrap_or(1);
    let texts =
        |name: &str| matches.get_many::<String>(name).into_iter().flatten().cloned().collect::<Vec<_>>();
    let mut names = texts("name");
    names.extend(["A", "B"].iter().skip(names.len()).map(|name| (*name).to_owned()));
    if matches.contains_id("counts") {
        return counted::run(matches, [names[0].clone(), names[1].clone()]);
    }
    let arguments = Arguments {
        names: [names[0].clone(), names[1].clone()],
        budget: number("budget"),
        precision: number("precision"),
        min_blocks: count("min-blocks"),
        max_blocks: count("max-blocks"),
        warm_up: count("warm-up"),
        threshold: number("threshold"),
        confidence: number("confidence"),
        events: events(texts("event")),
        keeps_disturbed: matches.get_flag("keep-disturbed"),
    };
    let sets = Figures::read(matches)?;
    if let Some(unread) = &sets.unread {
        eprintln!("picollo: {unread}");
    }
    let command = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let a = command("a").unwrap_or_default();
    // Alone it is both sides: how far they differ is what its own noise makes.
    let (is_alone, b) = (command("b").is_none(), command("b").unwrap_or(a));
    let directory = command("baselines").unwrap_or_default();
    // What it is called in a baseline: as the user says, else by the words of its command line.
    let benchmark = texts("name").into_iter().last().unwrap_or_else(|| b.to_owned());
    let memory = Memory::new(directory, command("save"), command("against"), benchmark)?;
    if matches.get_flag("fail-if-slower") && !matches.get_flag("allow-missing") {
        memory.demand()?;
    }
    let with_shell = matches.get_flag("shell");
    let mut runner = Runner::of(
        vec![split(a, with_shell)?, split(b, with_shell)?],
        matches.get_flag("show-output"),
        matches.get_flag("ignore-failure"),
        matches.get_one::<String>("input").map(PathBuf::from),
        &arguments.events,
    )?;
    let began = Instant::now();
    let mut measured = measure(&mut runner, &arguments)?;
    let mut compared = compare(&measured, &arguments)?;
    let mut against = memory.judge(&measured, &compared[WALL].metric, &arguments)?;
    let in_turns = |compared: &[Compared]| {
        !is_alone
            && compared[WALL].found.is_some_and(|found| Verdict::from_code(found.verdict) == Verdict::Slower)
    };
    let first_look = against.as_ref().map(|against| memory::is_slower(against) || in_turns(&compared));
    if first_look == Some(true) {
        // Once more, before anything fails: a disturbance does not last. With both commands that is a look at both, in turns, and it decides.
        measured = measure(&mut runner, &arguments)?;
        compared = compare(&measured, &arguments)?;
        against = memory.judge(&measured, &compared[WALL].metric, &arguments)?;
    }
    let took = began.elapsed();
    let Some(wall) = compared[WALL].found else { return Err("nothing was measured".into()) };
    let is_slower = match &against {
        Some(against) if is_alone => memory::is_slower(against),
        Some(_) => first_look == Some(true) && in_turns(&compared),
        None => in_turns(&compared),
    };
    let saved = memory.save(&measured, is_slower && against.is_some())?;
    let is_second_look = first_look == Some(true);
    let is_excused = measured.is_noisy && matches.get_flag("fail-if-slower");
    if matches.get_flag("json") {
        let remembered = against.as_ref().map(|against| memory.json(against, is_second_look));
        let figures = figures::json(&figures::of(&sets, &measured.counting(), &arguments));
        print(&report::json(&arguments, &runner, &measured, &compared, figures, remembered))?;
        if is_excused {
            eprintln!("picollo: {EXCUSED}");
        }
    } else {
        let mut text = String::new();
        if !is_alone {
            text += &report::text(&arguments, &runner, &measured, &compared, took);
            text += &figures::text(&figures::of(&sets, &measured.counting(), &arguments), &arguments);
            text += &report::sentence(&arguments, &compared[WALL].metric, &wall);
        }
        text += &against.as_ref().map(|against| memory.text(against, is_second_look)).unwrap_or_default();
        if measured.noise.disturbed_count != 0 {
            text += &format!("{}\n", measured.noise);
        }
        if is_excused {
            text += &format!("{EXCUSED}\n");
        }
        text += &saved;
        if wall.flags & COMPARISON_AUTOCORRELATED != 0 {
            text += "Runs depend on those before them: the interval is wider for it. Is the machine busy with something else?\n";
        }
        print(&text)?;
    }
    Ok(if is_slower && matches.get_flag("fail-if-slower") { SLOWER } else { 0 })
}

/// What is counted: what the user says, else what is usual, where there is a PMU.
fn events(asked: Vec<String>) -> Vec<String> {
    if asked.is_empty() && probe().pmu_available == 1 {
        return crate::stat::EVENTS.map(str::to_owned).to_vec();
    }
    asked
}

/// What the blocks say, metric by metric.
fn compare(measured: &Measured, arguments: &Arguments) -> Result<Vec<Compared>, Failure> {
    let (blocks, metrics) = (measured.counting(), metric::all(&arguments.events).into_iter().enumerate());
    metrics
        .map(|(at, metric)| {
            let found = judge(&blocks, at, &metric, arguments)?;
            // Others take the time, and hardly change what a program does in it.
            let is_unproven = measured.is_noisy && at == WALL;
            let found = if is_unproven { found.map(BlockComparison::unproven) } else { found };
            Ok(Compared { metric, found })
        })
        .collect()
}

/// Runs both, until enough is known.
fn measure(runner: &mut Runner, arguments: &Arguments) -> Result<Measured, Failure> {
    let mut last = [f64::NAN; 2];
    // The stepper has a round of its own before it counts.
    for _ in 1..arguments.warm_up {
        for (which, last) in last.iter_mut().enumerate() {
            *last = runner.run(which)?.wall;
        }
    }
    let options = BenchmarkOptions {
        flags: BENCHMARK_NO_OVERHEAD | if arguments.keeps_disturbed { BENCHMARK_KEEP_DISTURBED } else { 0 },
        budget_seconds: arguments.budget,
        precision: if arguments.precision > 0.0 { arguments.precision } else { -1.0 },
        // 0 is a tenth of the budget: as good as nothing.
        warm_up_seconds: 1e-9,
        repetitions: 1,
        confidence: arguments.confidence,
        min_blocks: arguments.min_blocks,
        max_blocks: arguments.max_blocks,
        ..BenchmarkOptions::default()
    };
    let failed = |error: picollo_native::Error| Failure::Told(error.to_string());
    let mut benchmark = Benchmark::create(&options, &[]).map_err(failed)?;
    let mut samples: Vec<(Side, Run)> = Vec::new();
    let mut progress = Progress::new(true);
    while let Some(step) = benchmark.next().map_err(failed)? {
        let (share, runs) = (benchmark.progress(), samples.len());
        progress.update(|_: Duration| {
            let times = ["A", "B"].iter().zip(last).filter(|(_, wall)| wall.is_finite());
            let times: Vec<String> =
                times.map(|(name, wall)| format!("{name} {}", Kind::Seconds.write(wall))).collect();
            format!("{} {runs} runs  {}", bar(share), times.join("  "))
        });
        let which = (step.side == Side::B) as usize;
        let run = runner.run(which)?;
        benchmark.done_after((run.wall * 1e12) as u64).map_err(failed)?;
        last[which] = run.wall;
        samples.push((step.side, run));
    }
    // Without the stepper's own round, of which there is only A where that takes longer than the budget, and without what was
    // begun of a block
    // when the budget was spent.
    samples.drain(..if samples.len() == 5 { 1 } else { 2.min(samples.len()) });
    let (blocks, _) = samples.as_chunks::<4>();
    let blocks: Vec<Block> = blocks.iter().map(block_of).collect();
    let noise = benchmark.noise().map_err(failed)?;
    let is_noisy = benchmark.result().map_err(failed)?.blocks.flags & COMPARISON_NOISY != 0;
    let pilot = benchmark.pilot_block_count();
    let is_left_out = |at: &usize| noise.left_out_count != 0 && benchmark.disturbed().get(*at) == Some(&true);
    let left_out = (pilot..blocks.len()).filter(is_left_out).collect();
    Ok(Measured { blocks, pilot, left_out, noise, is_noisy })
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
    arguments: &Arguments,
) -> Result<Option<BlockComparison>, Failure> {
    let of = |side: usize| blocks.iter().map(|block| block[side][at]).collect::<Option<Vec<f64>>>();
    let (Some(a), Some(b)) = (of(0), of(1)) else { return Ok(None) };
    if a.is_empty() {
        return Ok(None);
    }
    let options = CompareOptions {
        confidence: arguments.confidence,
        // 0 is the default of one per cent: no threshold at all is below that.
        relative_threshold: if arguments.threshold > 0.0 { arguments.threshold } else { -1.0 },
        resolution: metric.resolution,
        ..CompareOptions::default()
    };
    Ok(Some(compare_blocks(&a, &b, &mut vec![0.0; a.len()], &options)?))
}

#[cfg(test)]
mod tests;
