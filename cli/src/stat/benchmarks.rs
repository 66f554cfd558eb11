//! `picollo stat --counts=valgrind --benchmarks`: the instructions of a call of A and of B, in the benchmarks that a program has.

use clap::ArgMatches;
use picollo_core::text::Unit;
use serde_json::{Map, Value, json};

use crate::compare::SLOWER;
use crate::compare::counted::SIMULATED;
use crate::failure::{Failure, print};
use crate::progress::{Progress, bar};
use crate::simulated::benchmarks::{Counted, PerCall, Run};
use crate::simulated::judge::{RUNS_OF_UNLIKE, Range, Verdict};
use crate::simulated::{Settings, Simulator, shown};
use crate::table::{Form, count, printable, table};

pub(super) fn run(matches: &ArgMatches, parts: &[String]) -> Result<u8, Failure> {
    if !cfg!(target_arch = "x86_64") {
        return Err(
            "--benchmarks is for x86-64: elsewhere the library does not know how to speak to valgrind".into(),
        );
    }
    let blocks = matches.get_one::<u32>("blocks").copied().unwrap_or(RUNS_OF_UNLIKE as u32);
    let simulator =
        Simulator::new(Settings::of_benchmarks(matches, blocks, matches.get_one::<u32>("calls").copied()))?;
    // What is random is the same in all blocks of a run: only another run would show it.
    let number = matches.get_one::<u32>("runs").copied().unwrap_or(1);
    let mut runs = Vec::new();
    let mut progress = Progress::new(true);
    for at in 0..number {
        progress.update(|_| format!("{} run {at}", bar(f64::from(at) / f64::from(number))));
        runs.push(simulator.count_benchmarks(parts)?);
    }
    drop(progress);
    let found = Found::of(parts, runs)?;
    print(&if matches.get_flag("json") { found.json() } else { found.text() })?;
    let threshold = matches.get_one::<f64>("threshold").copied().unwrap_or(0.0);
    let is_slower = found.benchmarks.iter().any(|of| of.is_slower(threshold));
    Ok(if is_slower && matches.get_flag("fail-if-slower") { SLOWER } else { 0 })
}

struct Found<'a> {
    parts: &'a [String],
    runs: usize,
    benchmarks: Vec<Judged>,
    notes: Vec<String>,
}

/// A benchmark, with what its blocks say of each event.
struct Judged {
    counted: Counted,
    title: String,
    names: [String; 2],
    events: Vec<(&'static str, &'static str, PerCall)>,
}

impl<'a> Found<'a> {
    fn of(parts: &'a [String], runs: Vec<Run>) -> Result<Found<'a>, Failure> {
        let who = shown(parts);
        let (number, unknown) = (runs.len(), runs.iter().any(|run| run.unknown > 0));
        if unknown {
            return Err(
                format!("{who} has another version of the library, whose counts are not known here").into()
            );
        }
        let lost = runs.iter().map(|run| run.lost).max().unwrap_or(0);
        let mut all = runs.into_iter().map(|run| run.benchmarks);
        let mut counted = all.next().unwrap_or_default();
        for later in all {
            if later.len() != counted.len() {
                return Err(format!(
                    "{who}: has {} benchmarks in one run and {} in another, and they cannot be told apart",
                    counted.len(),
                    later.len()
                )
                .into());
            }
            for (first, later) in counted.iter_mut().zip(later) {
                first.join(later);
            }
        }
        if counted.is_empty() {
            return Err(format!(
                "{who}: no benchmark began in it. What is counted is what picollo.benchmark and its siblings run, in C \
                 picollo_benchmark_next and picollo_benchmark_done; without --benchmarks the whole program is counted"
            )
            .into());
        }
        let mut notes = Vec::new();
        if lost > 0 {
            notes.push(format!(
                "{lost} samples were not counted: another benchmark was counted at the same time, or they began on one thread and ended on another."
            ));
        }
        if counted.iter().any(|of| of.is_over) {
            notes.push("A process has 1,000 blocks at most; benchmarks after that are not counted. --blocks takes fewer of each.".into());
        }
        let benchmarks = counted.into_iter().enumerate().map(|(at, of)| Judged::of(at, of)).collect();
        Ok(Found { parts, runs: number, benchmarks, notes })
    }

    fn text(&self) -> String {
        let runs = if self.runs == 1 { "1 run".into() } else { format!("{} runs", self.runs) };
        let benchmarks = match self.benchmarks.len() {
            1 => "1 benchmark".into(),
            many => format!("{many} benchmarks"),
        };
        let mut text = format!("{}\n{runs}, {benchmarks}. {SIMULATED}\n", printable(&shown(self.parts)));
        for of in &self.benchmarks {
            text += &format!("\n{}", of.text());
        }
        for note in &self.notes {
            text += &format!("\n{note}\n");
        }
        text
    }

    fn json(&self) -> String {
        let benchmarks: Vec<Value> = self.benchmarks.iter().map(Judged::json).collect();
        let all = json!({
            "command": self.parts, "counts": "valgrind", "simulated": true, "run_count": self.runs,
            "benchmarks": benchmarks, "notes": self.notes,
        });
        format!("{all:#}\n")
    }
}

/// What the blocks say. Those of one that are not all the same need as many as make a chance find unlikely.
fn verdict(of: &PerCall) -> Verdict {
    let [a, b] = [of.gross(0), of.gross(1)];
    let is_known = (a.is_exact() && b.is_exact()) || of.sides[0].len() >= RUNS_OF_UNLIKE;
    if is_known { Verdict::of(a, b) } else { Verdict::Unknown }
}

impl Judged {
    fn of(at: usize, counted: Counted) -> Judged {
        let name = |side: usize| match counted.names[side].as_str() {
            "" => ["A", "B"][side].to_owned(),
            name => name.to_owned(),
        };
        let names = [name(0), name(1)];
        let title = match counted.title.as_str() {
            "" => format!("Benchmark {}", at + 1),
            title => title.to_owned(),
        };
        let events = counted.events().collect();
        Judged { counted, title, names, events }
    }

    fn is_slower(&self, threshold: f64) -> bool {
        self.events.first().is_some_and(|(_, _, of)| {
            verdict(of) == Verdict::More && of.difference().least > threshold * of.net(0).most
        })
    }

    fn text(&self) -> String {
        let Some((_, _, instructions)) = self.events.first() else {
            return format!(
                "{}: not counted. It has no block of which all samples were.\n",
                printable(&self.title)
            );
        };
        let calls: Vec<String> = self.counted.calls().iter().map(|&calls| count(calls, true)).collect();
        let mut text = format!(
            "{}\n{} blocks, of samples of {} calls{}\n",
            printable(&self.title),
            instructions.sides[0].len(),
            calls.join(" and "),
            if self.counted.has_ended { "" } else { ". It did not come to its end" },
        );
        let headings =
            ["Simulated, a call", &self.names[0], &self.names[1], "Difference", "Verdict"].map(str::to_owned);
        let rows: Vec<Vec<String>> = self
            .events
            .iter()
            .map(|(_, name, of)| {
                let verdict = verdict(of).as_str().to_owned();
                vec![(*name).into(), written(of.net(0)), written(of.net(1)), change(of), verdict]
            })
            .collect();
        text += &table(&headings, &rows, &[0, 4], Form::Text);
        text + &printable(&self.sentence(instructions)) + "\n"
    }

    fn sentence(&self, of: &PerCall) -> String {
        let [a, b] = &self.names;
        match verdict(of) {
            Verdict::Equal => format!("{a} and {b} execute equally many instructions a call, {}.", written(of.net(0))),
            Verdict::Unknown if of.sides[0].len() < RUNS_OF_UNLIKE => format!(
                "No evidence of a difference: counts are not the same in each block, and {} blocks are too few to judge by ranges.",
                of.sides[0].len()
            ),
            Verdict::Unknown => {
                "No evidence of a difference: counts are not the same in each block, and their ranges overlap.".into()
            }
            verdict => {
                let Range { least, most } = of.difference();
                let (less, more) = (least.abs().min(most.abs()), least.abs().max(most.abs()));
                let by = written(Range { least: less, most: more });
                format!("{b} executes {by} instructions a call {} than {a}{}.", verdict.as_str(), in_brackets(of))
            }
        }
    }

    fn json(&self) -> Value {
        let mut metrics = Map::new();
        for (key, _, of) in &self.events {
            let Range { least, most } = of.difference();
            let range = |range: Range<f64>| json!([range.least, range.most]);
            metrics.insert(
                (*key).into(),
                json!({
                    "a": range(of.net(0)), "b": range(of.net(1)),
                    "a_blocks": of.sides[0], "b_blocks": of.sides[1], "empty_blocks": of.empty,
                    "exact": of.gross(0).is_exact() && of.gross(1).is_exact(),
                    "difference_least": least, "difference_most": most,
                    "verdict": verdict(of).as_str(),
                }),
            );
        }
        let blocks = self.events.first().map_or(0, |(_, _, of)| of.sides[0].len());
        json!({
            "title": self.title, "names": self.names, "has_ended": self.counted.has_ended, "block_count": blocks,
            "calls": self.counted.calls(), "metrics": metrics,
        })
    }
}

/// A count of a call: whole where it is whole.
fn number(value: f64) -> String {
    if value.fract() == 0.0 {
        let sign = if value < 0.0 { "-" } else { "" };
        return format!("{sign}{}", count(value.abs() as u64, true));
    }
    if value.abs() < 1000.0 { format!("{value:.2}") } else { Unit::NONE.number(value).to_string() }
}

fn written(range: Range<f64>) -> String {
    if range.is_exact() {
        number(range.least)
    } else {
        format!("{} to {}", number(range.least), number(range.most))
    }
}

fn signed(value: f64) -> String {
    format!("{}{}", if value > 0.0 { "+" } else { "" }, number(value))
}

/// The difference in the middle in per cent of A: as many digits as it takes to see it. Nothing where A takes nothing.
fn in_brackets(of: &PerCall) -> String {
    let (a, range) = (of.net(0), of.difference());
    let share = f64::midpoint(range.least, range.most) / f64::midpoint(a.least, a.most) * 100.0;
    if !share.is_finite() || a.least <= 0.0 {
        return String::new();
    }
    let digits = (1..9)
        .find(|&digits| format!("{:.digits$}", share.abs()).contains(|digit| "123456789".contains(digit)));
    format!(" ({share:+.*}%)", digits.unwrap_or(1))
}

fn change(of: &PerCall) -> String {
    let range = of.difference();
    match (range.is_exact(), range.least == 0.0) {
        (true, true) => "0".into(),
        (true, false) => signed(range.least) + &in_brackets(of),
        (false, _) => format!("[{}, {}]", signed(range.least), signed(range.most)),
    }
}
