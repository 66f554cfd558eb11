//! `picollo compare --counts=valgrind`: which of two commands executes more instructions, and how many.

use clap::ArgMatches;
use clap::parser::ValueSource;
use serde_json::{Map, Value, json};

use super::SLOWER;
use super::runner::split;
use crate::failure::{Failure, print};
use crate::progress::{Progress, bar};
use crate::simulated::judge::{self, Range, Verdict, counted, difference, processes};
use crate::simulated::{Counts, Settings, Simulator, shown};
use crate::table::{Form, count, printable, table};

/// What is said wherever counts of this kind are.
pub(crate) const SIMULATED: &str = "Counted by valgrind, which simulates the processor: exact, but programs may take other paths there (no AVX-512).";

pub(super) fn run(matches: &ArgMatches, names: [String; 2]) -> Result<u8, Failure> {
    let command = |name: &str| {
        split(matches.get_one::<String>(name).map_or("", String::as_str), matches.get_flag("shell"))
    };
    let commands = [command("a")?, command("b")?];
    let simulator = Simulator::new(Settings::of(matches))?;
    let runs = count_all(&simulator, &commands, matches.get_flag("own-names"))?;
    let found = Found::of(&names, &commands, &runs);
    print(&if matches.get_flag("json") { found.json() } else { found.text() })?;
    // Exact counts need no margin, unless somebody asks for one.
    let is_given = matches.value_source("threshold") == Some(ValueSource::CommandLine);
    let threshold = matches.get_one::<f64>("threshold").copied().filter(|_| is_given).unwrap_or(0.0);
    let is_slower = found.instructions.is_some_and(|[a, b]| {
        Verdict::of(a, b) == Verdict::More && difference(a, b).0 as f64 > threshold * a.most as f64
    });
    Ok(if is_slower && matches.get_flag("fail-if-slower") { SLOWER } else { 0 })
}

/// A and B in turns.
fn count_all(
    simulator: &Simulator,
    commands: &[Vec<String>; 2],
    own_names: bool,
) -> Result<[Vec<Counts>; 2], Failure> {
    let both: Vec<&[String]> = commands.iter().map(Vec::as_slice).collect();
    let programs = if own_names { vec![None, None] } else { simulator.make_alike(&both) };
    for parts in commands {
        simulator.warm_up(parts)?;
    }
    let mut runs = [Vec::new(), Vec::new()];
    let mut progress = Progress::new(true);
    let mut rounds = simulator.runs();
    while runs[0].len() < rounds {
        for (which, parts) in commands.iter().enumerate() {
            let done = runs[0].len() + runs[1].len();
            progress.update(|_| format!("{} {done} runs", bar(done as f64 / (2 * rounds) as f64)));
            runs[which].push(simulator.count(parts, programs[which].as_deref())?);
        }
        if !runs.iter().all(|of_side| judge::are_same(of_side)) {
            rounds = rounds.max(judge::RUNS_OF_UNLIKE);
        }
    }
    Ok(runs)
}

/// What was found.
struct Found<'a> {
    names: &'a [String; 2],
    commands: &'a [Vec<String>; 2],
    runs: &'a [Vec<Counts>; 2],
    processes: [Option<usize>; 2],
    /// `None` where a side has now more processes, now fewer.
    instructions: Option<[Range; 2]>,
    metrics: Vec<(&'static str, &'static str, [Range; 2])>,
}

impl<'a> Found<'a> {
    fn of(names: &'a [String; 2], commands: &'a [Vec<String>; 2], runs: &'a [Vec<Counts>; 2]) -> Found<'a> {
        let processes = [processes(&runs[0]), processes(&runs[1])];
        let metrics: Vec<_> = counted(&runs[0])
            .zip(counted(&runs[1]))
            .map(|((key, name, a), (_, _, b))| (key, name, [a, b]))
            .collect();
        let instructions = metrics.first().map(|&(_, _, ranges)| ranges);
        let instructions = instructions.filter(|_| processes.iter().all(Option::is_some));
        Found { names, commands, runs, processes, instructions, metrics }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (at, name) in self.names.iter().enumerate() {
            let processes = match self.processes[at] {
                Some(1) => "1 process".into(),
                Some(many) => format!("{many} processes"),
                None => format!(
                    "{:?} processes",
                    self.runs[at].iter().map(|run| run.processes).collect::<Vec<_>>()
                ),
            };
            text +=
                &format!("{}: {} ({processes})\n", printable(name), printable(&shown(&self.commands[at])));
        }
        text += &format!("{} runs of each. {SIMULATED}\n\n", self.runs[0].len());
        let headings =
            ["Simulated", &self.names[0], &self.names[1], "Difference", "Verdict"].map(str::to_owned);
        let row = |&(_, name, [a, b]): &(&str, &str, [Range; 2])| {
            let verdict = match self.instructions {
                Some(_) => Verdict::of(a, b).as_str(),
                None => "not compared",
            };
            vec![name.into(), written(a), written(b), change(a, b), verdict.into()]
        };
        let rows: Vec<Vec<String>> = self.metrics.iter().map(row).collect();
        text + &table(&headings, &rows, &[0, 4], Form::Text) + "\n" + &printable(&self.sentence()) + "\n"
    }

    fn sentence(&self) -> String {
        let [a_name, b_name] = self.names;
        let Some([a, b]) = self.instructions else {
            return format!(
                "{a_name} and {b_name} are not compared: the number of processes is not the same in each run."
            );
        };
        match Verdict::of(a, b) {
            Verdict::Equal => format!("{a_name} and {b_name} execute equally many instructions, {}.", written(a)),
            Verdict::Unknown => "No evidence of a difference: counts are not the same in each run, and their ranges overlap. What makes them differ (time, random \
                 numbers, threads, process ids) would have to be fixed."
                .into(),
            verdict => {
                let (least, most) = difference(a, b);
                let size = |difference: i128| count(difference.unsigned_abs() as u64, true);
                let (less, more) = (least.unsigned_abs().min(most.unsigned_abs()), least.unsigned_abs().max(most.unsigned_abs()));
                let by = if less == more {
                    size(least)
                } else {
                    format!("{} to {}", count(less as u64, true), count(more as u64, true))
                };
                format!("{b_name} executes {by} instructions {} than {a_name} ({}).", verdict.as_str(), share(a, b))
            }
        }
    }

    fn json(&self) -> String {
        let mut metrics = Map::new();
        for &(key, _, [a, b]) in &self.metrics {
            let event = crate::simulated::EVENTS
                .iter()
                .find(|(_, known, _)| *known == key)
                .map_or("", |event| event.0);
            let of = |side: usize| self.runs[side].iter().map(|run| run.totals.of(event)).collect::<Vec<_>>();
            let (least, most) = difference(a, b);
            let value = match self.instructions {
                None => Value::Null,
                Some(_) => json!({
                    "a": of(0), "b": of(1),
                    "exact": a.is_exact() && b.is_exact(),
                    "difference_least": least as i64, "difference_most": most as i64,
                    "verdict": Verdict::of(a, b).as_str(),
                }),
            };
            metrics.insert(key.into(), value);
        }
        let processes: Vec<Vec<usize>> =
            self.runs.iter().map(|runs| runs.iter().map(|run| run.processes).collect()).collect();
        let all = json!({
            "names": self.names, "commands": self.commands, "counts": "valgrind", "simulated": true,
            "processes": processes, "metrics": metrics,
        });
        format!("{all:#}\n")
    }
}

/// A count, or the range of those that are not the same each time.
pub(crate) fn written(range: Range) -> String {
    if range.is_exact() {
        count(range.least, true)
    } else {
        format!("{} to {}", count(range.least, true), count(range.most, true))
    }
}

fn signed(difference: i128) -> String {
    let sign = ["-", "", "+"][(difference.signum() + 1) as usize];
    format!("{sign}{}", count(difference.unsigned_abs() as u64, true))
}

/// The difference in the middle, in per cent of A: as many digits as it takes to see it.
fn share(a: Range, b: Range) -> String {
    let (least, most) = difference(a, b);
    let middle = (least + most) as f64 / 2.0 / (a.least as f64 / 2.0 + a.most as f64 / 2.0) * 100.0;
    if !middle.is_finite() {
        return "of none".into();
    }
    let digits = (1..9)
        .find(|&digits| format!("{:.digits$}", middle.abs()).contains(|digit| "123456789".contains(digit)));
    format!("{middle:+.*}%", digits.unwrap_or(1))
}

fn change(a: Range, b: Range) -> String {
    let (least, most) = difference(a, b);
    if least == most && least == 0 {
        "0".into()
    } else if least == most {
        format!("{} ({})", signed(least), share(a, b))
    } else {
        format!("[{}, {}]", signed(least), signed(most))
    }
}
