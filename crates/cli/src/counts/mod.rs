//! Exact counts without a PMU: which function and which line of B executes more than in A, and where one program's instructions go.

mod callgrind;
mod difference;
mod pythons;
mod run;
mod source;
mod world;

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, value_parser};
use serde_json::{Value, json};

use crate::compare::runner::display_command;
use crate::failure::{Failure, print_found, write_file};
use crate::progress::{Progress, bar};
use crate::table::{count, fit, printable};
use crate::values::{self, flag, option};
use difference::{Difference, LineDifference, Part, both, range};
use run::Counter;
use run::Unit;
pub(crate) use run::launch;
use source::{Line, Source, short};

/// Runs if counts are not the same in each, or may not be. Of two programs that are alike, seven counts of one are all below or all above seven of the
/// other in one of 1,716 cases (2 of 14 over 7), whatever their distribution. With two runs it would be one in three.
const RUNS_OF_UNLIKE: usize = 7;
/// Lines of a report without the verdict above it.
pub(crate) const LINES: usize = 15;

/// Options of commands that measure others.
pub(crate) fn arguments() -> Vec<Arg> {
    vec![
        option("event", "EVENT,...", "count these events instead of the default ones; repeatable")
            .short('e')
            .value_parser(values::events)
            .action(ArgAction::Append),
        flag("counts", "count instructions under Valgrind: exactly, without times, and about fifty times as slow; for Python programs, count lines")
            .conflicts_with("event")
            .group("counting"),
        option("runs", "N", "the number of runs; the default is 10, or with counts 2, and 7 if counts differ")
            .value_parser(value_parser!(u32).range(1..1000)),
        option("env", "NAME[=VALUE]", "with counts: pass this variable on; commands otherwise get PATH and a few fixed ones; repeatable")
            .action(ArgAction::Append)
            .requires("counting"),
        option("folded", "FILE", "with counts: write folded stacks for a flame graph into this file")
            .value_parser(value_parser!(PathBuf))
            .requires("counting"),
        option("input", "FILE", "the file that commands read from standard input; by default it is empty"),
        flag("json", "print JSON, with the values of all runs").conflicts_with("show-output"),
        option("export-json", "FILE", "also write the JSON into this file").value_parser(value_parser!(PathBuf)),
    ]
}

/// Runs one command, or two alternately. The median run of each is the first.
fn count_all(
    matches: &ArgMatches,
    commands: &[Vec<String>],
    unit: Option<Unit>,
) -> Result<(Unit, Vec<Vec<Source>>), Failure> {
    let counter = Counter::new(matches)?;
    let parts: Vec<&[String]> = commands.iter().map(Vec::as_slice).collect();
    let units = parts.iter().map(|parts| counter.unit(parts)).collect::<Result<Vec<_>, _>>()?;
    if units.iter().any(|&of| of != units[0]) {
        return Err(
            "one command is a Python program and the other is not, so one has counts of lines and the other of instructions: use --shell to count the instructions of both".into(),
        );
    }
    let unit = unit.unwrap_or(units[0]);
    let programs = match unit {
        Unit::PythonLines => vec![None; parts.len()],
        _ => world::alike(&parts, &counter.environment),
    };
    for parts in &parts {
        counter.warm_up(parts)?;
    }
    let asked = matches.get_one::<u32>("runs").map(|&runs| runs as usize);
    let (mut rounds, mut runs) = (asked.unwrap_or(2), vec![Vec::new(); parts.len()]);
    let mut progress = Progress::new(true);
    while runs[0].len() < rounds {
        let done = runs[0].len();
        for (at, parts) in parts.iter().enumerate() {
            progress.update(|_| format!("{} {done} runs counted", bar(done as f64 / rounds as f64)));
            runs[at].push(counter.count(parts, programs[at].as_ref(), unit)?);
        }
        // Counts of several processes or threads often have one of two values: two runs of A have one, and two of B the other.
        let is_alike = runs.iter().all(|of| of[0].total() == runs[0][0].total() || !of[0].is_parallel());
        if asked.is_none() && !(is_alike && runs.iter().all(|of| is_same(of))) {
            rounds = RUNS_OF_UNLIKE;
        }
    }
    for of in &mut runs {
        of.sort_by_key(Source::total);
        let middle = of.len() / 2;
        of.swap(0, middle);
    }
    Ok((unit, runs))
}

fn is_same(runs: &[Source]) -> bool {
    runs.iter().all(|run| run.functions == runs[0].functions)
}

fn signed(number: i128) -> String {
    let sign = ["-", "", "+"][(number.signum() + 1) as usize];
    format!("{sign}{}", count(number.unsigned_abs() as u64, true))
}

/// In per cent, with as many digits as it takes to see it.
fn share(part: i128, of: u64) -> String {
    let share = part as f64 / of as f64 * 100.0;
    if !share.is_finite() {
        return "from 0".into();
    }
    let is_seen =
        |&digits: &usize| format!("{:.digits$}", share.abs()).contains(|digit| "123456789".contains(digit));
    format!("{share:+.*} %", (1..9).find(is_seen).unwrap_or(1))
}

fn at(line: &Line) -> String {
    named(&format!("{}:{}", short(&line.0), line.1))
}

/// A name as reports print it. They are at most about 160 columns wide.
fn named(name: &str) -> String {
    fit(&printable(name), 40)
}

/// The first names of a list, and how many more there are.
fn listed(names: &[String]) -> String {
    let first: Vec<String> = names.iter().take(2).map(|name| named(name)).collect();
    let more = if names.len() > 2 { format!(" and {} more", names.len() - 2) } else { String::new() };
    first.join(", ") + &more
}

/// What to do if a tenth of the instructions has no function, or no line.
fn missing(source: &Source) -> Option<&'static str> {
    let sum = |is_one: &dyn Fn(&str) -> bool| -> u64 {
        let named = source.functions.iter().filter(|(name, _)| is_one(name));
        named.flat_map(|(_, of)| &of.lines).filter(|(line, _)| line.1 == 0).map(|(_, cost)| cost).sum()
    };
    if sum(&|name| name.ends_with("no symbols]")) * 10 > source.total() {
        return Some(
            "A program or library has no symbols: build it without strip, or install its debug symbols, to see functions.",
        );
    }
    (sum(&|name| !name.starts_with('[')) * 10 > source.total()).then_some(
        "Functions without lines have no debug information: build with -g, or debug = \"line-tables-only\" for Rust.",
    )
}

/// What the counts of two commands show.
pub(crate) struct Why {
    names: [String; 2],
    unit: Unit,
    runs: [Vec<Source>; 2],
    difference: Difference,
}

impl Why {
    pub(crate) fn count(
        matches: &ArgMatches,
        names: &[String; 2],
        commands: &[Vec<String>],
        with_misses: bool,
    ) -> Result<Why, Failure> {
        let (unit, mut runs) = count_all(matches, commands, with_misses.then_some(Unit::Misses))?;
        let b = runs.pop().unwrap_or_default();
        // One program is compared with one that does nothing.
        let a = runs.pop().unwrap_or_else(|| vec![Source::default()]);
        let why = Why { difference: Difference::between(&a, &b), names: names.clone(), unit, runs: [a, b] };
        if let (Some(file), false) = (matches.get_one::<PathBuf>("folded"), with_misses) {
            write_file(file, &why.folded())?;
        }
        Ok(why)
    }

    /// Whether there is one program, and nothing to compare it with.
    fn is_single(&self) -> bool {
        self.runs[0][0].processes == 0
    }

    fn folded(&self) -> String {
        let line = |(stack, of): (&String, [Option<&u64>; 2])| match of.map(|of| of.unwrap_or(&0)) {
            [_, b] if self.is_single() => format!("{stack} {b}\n"),
            [a, b] => format!("{stack} {a} {b}\n"),
        };
        both(&self.runs[0][0].stacks, &self.runs[1][0].stacks).map(line).collect()
    }

    fn notes(&self) -> Vec<&'static str> {
        let mut notes: Vec<_> = self.runs.iter().filter_map(|of| missing(&of[0])).collect();
        notes.dedup();
        notes
    }

    /// The share of A's instructions that B executes in addition, if that is proven.
    pub(crate) fn more(&self) -> Option<f64> {
        let (a, b) = (range(&self.runs[0]), range(&self.runs[1]));
        (b[0] > a[1]).then(|| (b[0] - a[1]) as f64 / a[1].max(1) as f64)
    }

    /// The difference as a share of A's instructions.
    pub(crate) fn share(&self) -> f64 {
        self.difference.total as f64 / self.runs[0][0].total().max(1) as f64
    }

    pub(crate) fn counts_python(&self) -> bool {
        self.unit == Unit::PythonLines
    }

    fn verdict(&self) -> String {
        let ([a_name, b_name], unit) = (self.names.each_ref().map(|name| named(name)), self.unit.name());
        let [execute, executes] =
            if self.unit == Unit::Misses { ["have", "has"] } else { ["execute", "executes"] };
        let [of_a, of_b] = self.runs.each_ref().map(|of| range(of));
        let [a, b] = self.runs.each_ref().map(|of| count(of[0].total(), true));
        let total = self.difference.total;
        let by = count(total.unsigned_abs() as u64, true);
        if self.is_single() {
            let processes = plural(self.runs[1][0].processes, "process", "processes");
            format!("{b_name} {executes} {by} {unit} in {processes}.")
        } else if self.difference.is_proven {
            let than = if total > 0 { "more" } else { "fewer" };
            let share = share(total, self.runs[0][0].total());
            format!("{b_name} {executes} {by} {unit} {than} than {a_name} ({share}): {a} and {b}.")
        } else if of_a[0] == of_a[1] && of_a == of_b {
            format!("{a_name} and {b_name} {execute} the same number of {unit}, {a}: +0.")
        } else {
            let [of_a, of_b] =
                [of_a, of_b].map(|of| format!("{} to {}", count(of[0], true), count(of[1], true)));
            format!("No evidence that {a_name} and {b_name} differ in {unit}: {of_a}, and {of_b}.")
        }
    }

    /// The report, of at most this many lines.
    pub(crate) fn text(&self, most: usize) -> String {
        let runs = &self.runs;
        let mut lines = vec![self.verdict()];
        let mut about = format!("{}. {}", self.unit.about(), plural(runs[1].len(), "run", "runs"));
        about += if self.is_single() { "" } else { " of each" };
        if runs[1].len() > 1 {
            about += if runs.iter().all(|of| is_same(of)) { ", all the same" } else { ", which differ" };
        }
        let [a, b] = runs.each_ref().map(|of| of[0].processes);
        if !self.is_single() && a.max(b) > 1 {
            about += &format!("; {a} and {b} processes");
        }
        lines.push(about + ".");
        for cause in self.difference.causes.iter().filter(|_| !self.is_single()).take(most / 6) {
            let below = cause.below.map(|below| format!(": {} with all that it calls", signed(below)));
            let [caller, callee] = [&cause.caller, &cause.callee].map(|name| named(name));
            let more = if cause.calls > 0 { "more" } else { "fewer" };
            let (times, below) = (cause.calls.unsigned_abs() as usize, below.unwrap_or_default());
            let times = plural(times, "time", "times");
            lines.push(format!("Cause: {caller} calls {callee} {times} {more}{below}."));
        }
        let notes = self.notes();
        let signed = |number: i128| match self.is_single() {
            true => count(number as u64, true),
            false => signed(number),
        };
        let mut rest = self.difference.total;
        for part in &self.difference.parts {
            let taken = part.lines.len().min(if self.is_single() { 1 } else { 2 });
            if lines.len() + 1 + taken + 1 + notes.len() > most {
                break;
            }
            rest -= part.difference();
            let what = self.about(part);
            lines.push(format!("{:>14}  {}{what}", signed(part.difference()), named(&part.function)));
            let is_known = |of: &&LineDifference| of.0.iter().chain(&of.1).any(|line| line.1 > 0);
            let mut largest: Vec<_> = part.lines.iter().filter(is_known).collect();
            largest.sort_by_key(|line| std::cmp::Reverse(line.2.abs()));
            for (a, b, more) in largest.into_iter().take(taken) {
                let place = match (a, b.as_ref().filter(|line| line.1 > 0)) {
                    (_, Some(line)) => at(line),
                    (Some(line), None) => format!("{} of {}, gone", at(line), named(&self.names[0])),
                    (None, None) => String::new(),
                };
                lines.push(format!("{:>18}  {place}", signed(*more)));
            }
        }
        lines.push(format!("{:>14}  everything else", if rest == 0 { "+0".into() } else { signed(rest) }));
        lines.extend(notes.into_iter().map(str::to_owned));
        lines.join("\n") + "\n"
    }

    /// The notes on a part, which stand in parentheses.
    fn about(&self, part: &Part) -> String {
        let mut what = Vec::new();
        match part.cost {
            [0, b] if self.is_single() => {
                what.push(format!("{:.1} %", b as f64 / self.difference.total as f64 * 100.0));
                if part.calls[1] > 0 {
                    what.push(format!("called {}", plural(part.calls[1] as usize, "time", "times")));
                }
            }
            [0, _] => what.push(format!("not in {}", named(&self.names[0]))),
            [_, 0] => what.push(format!("not in {}", named(&self.names[1]))),
            [a, _] => what.push(share(part.difference(), a)),
        }
        if let Some(was) = &part.was {
            what.push(format!("in place of {}", named(was)));
        }
        if part.varies {
            what.push("varies between runs of one program".into());
        }
        let [a, b] = part.calls;
        if a != b && a > 0 && b > 0 {
            let only = if part.is_only_called() && !part.varies { "only " } else { "" };
            let caller = part.caller.as_ref().map_or(String::new(), |(caller, more)| {
                format!(", {} from {}", signed(*more), named(caller))
            });
            what.push(format!("{only}called {} instead of {} times{caller}", count(b, true), count(a, true)));
        }
        if !part.inlined_into.is_empty() {
            what.push(format!("inlined into {}", listed(&part.inlined_into)));
        }
        // The first notes matter most, and JSON has all of them.
        while what.len() > 1 && what.join("; ").len() > 100 {
            what.pop();
        }
        format!("  ({})", what.join("; "))
    }

    pub(crate) fn json(&self) -> Value {
        let line =
            |line: &Option<Line>| line.as_ref().map(|(file, line, _)| json!({ "file": file, "line": line }));
        let parts: Vec<Value> = self.difference.parts.iter().map(|part| {
            let lines = part.lines.iter().map(|(a, b, more)| json!({ "a": line(a), "b": line(b), "difference": *more as i64 }));
            json!({
                "function": part.function, "was": part.was, "difference": part.difference() as i64, "a": part.cost[0], "b": part.cost[1],
                "calls": part.calls, "only_called": part.is_only_called(), "caller": part.caller.as_ref().map(|(name, _)| name),
                "inlined_into": part.inlined_into, "varies": part.varies, "lines": lines.collect::<Vec<_>>(),
            })
        }).collect();
        let causes: Vec<Value> = self.difference.causes.iter().map(|cause| {
            json!({ "caller": cause.caller, "callee": cause.callee, "calls": cause.calls as i64, "below": cause.below.map(|below| below as i64) })
        }).collect();
        let of = |side: usize| self.runs[side].iter().map(Source::total).collect::<Vec<_>>();
        json!({
            "names": self.names, "unit": self.unit.name(), "simulated": self.unit != Unit::PythonLines, "a": of(0), "b": of(1),
            "processes": [self.runs[0][0].processes, self.runs[1][0].processes], "exact": self.runs.iter().all(|of| is_same(of)),
            "difference": self.difference.total as i64, "causes": causes, "parts": parts,
            "notes": self.notes(),
        })
    }
}

fn plural(number: usize, one: &str, many: &str) -> String {
    format!("{} {}", count(number as u64, true), if number == 1 { one } else { many })
}

/// `picollo stat --counts`: where one program's instructions go.
pub(crate) fn stat(matches: &ArgMatches, parts: &[String]) -> Result<u8, Failure> {
    let why = Why::count(matches, &[String::new(), display_command(parts)], &[parts.to_vec()], false)?;
    print_found(matches, || format!("{:#}\n", why.json()), || why.text(LINES))?;
    Ok(0)
}
