//! The benchmarks in a program, counted: what they wrote, a file for each sample, put together again.
//!
//! The library writes them (`native/src/benchmark/counted.rs`), and names each by a line of text: `picollo 1 PROCESS BENCHMARK LOST WHAT`.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use super::dump::Totals;
use super::judge::Range;
use super::{EVENTS, Simulator};
use crate::failure::Failure;

/// What callgrind writes before a name that a program gave.
const NAMED: &str = "desc: Trigger: Client Request: picollo ";
/// The form of names that is known here.
const FORM: &str = "1";

/// A benchmark in a program.
#[derive(Clone, Default, PartialEq, Debug)]
pub(crate) struct Counted {
    pub(crate) title: String,
    /// Of A and of B; empty where the program did not say.
    pub(crate) names: [String; 2],
    /// The part of the counts in which it said so: the last counts.
    named_in: u64,
    /// It came to its end.
    pub(crate) has_ended: bool,
    /// Its process had too many blocks.
    pub(crate) is_over: bool,
    /// By the number of the block, the side, and the number of calls: the samples of it.
    samples: BTreeMap<(u32, Side, u64), Vec<Totals>>,
}

/// What a sample is of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Side {
    A,
    B,
    Empty,
}

/// All benchmarks of a run, in the order in which they began.
#[derive(Clone, Default, PartialEq, Debug)]
pub(crate) struct Run {
    pub(crate) benchmarks: Vec<Counted>,
    /// Samples that could not be counted.
    pub(crate) lost: u64,
    /// Files that an unknown version of the library named.
    pub(crate) unknown: u64,
}

/// What an event takes, a call, in each block.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct PerCall {
    /// Of A and of B, with what calling costs.
    pub(crate) sides: [Vec<f64>; 2],
    /// Of a call of nothing; empty where there were none.
    pub(crate) empty: Vec<f64>,
}

impl PerCall {
    /// The range of one side, with what calling costs: the same on both.
    pub(crate) fn gross(&self, side: usize) -> Range<f64> {
        range(&self.sides[side])
    }

    /// The range of one side, without what calling costs.
    pub(crate) fn net(&self, side: usize) -> Range<f64> {
        let gross = self.gross(side);
        if self.empty.is_empty() {
            return gross;
        }
        let empty = range(&self.empty);
        Range { least: rounded(gross.least - empty.most), most: rounded(gross.most - empty.least) }
    }

    /// By how much B's is more. What calling costs is in both.
    pub(crate) fn difference(&self) -> Range<f64> {
        let [a, b] = [self.gross(0), self.gross(1)];
        Range { least: rounded(b.least - a.most), most: rounded(b.most - a.least) }
    }
}

/// Without what fractions of calls, a million of them at most, leave behind.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

fn range(values: &[f64]) -> Range<f64> {
    let fold = |of: fn(f64, f64) -> f64| values.iter().copied().reduce(of).unwrap_or(f64::NAN);
    Range { least: fold(f64::min), most: fold(f64::max) }
}

impl Counted {
    /// The numbers of calls in its samples: two, or one where the program gave it.
    pub(crate) fn calls(&self) -> Vec<u64> {
        self.calls_in(|_| true)
    }

    fn calls_in(&self, is_meant: impl Fn(u32) -> bool) -> Vec<u64> {
        let meant = self.samples.keys().filter(|&&(block, _, _)| is_meant(block));
        let mut calls: Vec<u64> = meant.map(|&(_, _, calls)| calls).collect();
        calls.sort_unstable();
        calls.dedup();
        calls
    }

    /// An event of a call, in the blocks of which all samples are there; `None` where it was not counted.
    pub(crate) fn per_call(&self, event: &str) -> Option<PerCall> {
        let blocks = self.samples.keys().map(|&(block, _, _)| block).max().unwrap_or(0);
        let has_empty = self.samples.keys().any(|&(_, side, _)| side == Side::Empty);
        let mut found = PerCall { sides: [Vec::new(), Vec::new()], empty: Vec::new() };
        for block in 1..=blocks {
            let of = |side| self.of_block(block, side, event);
            let (Some(a), Some(b)) = (of(Side::A), of(Side::B)) else { continue };
            let empty = of(Side::Empty);
            if has_empty && empty.is_none() {
                continue;
            }
            let [mut a, mut b, mut empty] = [Some(a), Some(b), empty];
            if self.calls_in(|one| one == block).len() == 1 {
                // With the same number of calls what surrounds them is what nothing takes.
                let surrounds = empty.take();
                [a, b] = [a, b].map(|side| Some(side? - surrounds.unwrap_or(0.0)));
            }
            found.sides[0].extend(a);
            found.sides[1].extend(b);
            found.empty.extend(empty);
        }
        (!found.sides[0].is_empty()).then_some(found)
    }

    /// An event of a call, in one block: what more calls take more, or all of it where each sample has as many.
    fn of_block(&self, block: u32, side: Side, event: &str) -> Option<f64> {
        let all = self.calls_in(|one| one == block);
        let sample = |calls: u64| {
            let samples = self.samples.get(&(block, side, calls))?;
            let counts: Vec<u64> = samples.iter().map(|totals| totals.of(event)).collect::<Option<_>>()?;
            // In both orders, and once more each where there is one number of calls.
            let is_whole = counts.len() == if all.len() == 1 { 4 } else { 2 };
            is_whole.then(|| counts.iter().sum::<u64>() as f64 / counts.len() as f64)
        };
        let found = match all[..] {
            [same] => sample(same)? / same as f64,
            [few, many] => (sample(many)? - sample(few)?) / (many - few) as f64,
            _ => return None,
        };
        Some(rounded(found))
    }

    /// The events of [`EVENTS`] that were counted.
    pub(crate) fn events(&self) -> impl Iterator<Item = (&'static str, &'static str, PerCall)> {
        EVENTS.iter().filter_map(|&(event, key, name)| Some((key, name, self.per_call(event)?)))
    }

    /// Takes what another run of the program has counted of the same benchmark, as further blocks.
    pub(crate) fn join(&mut self, other: Counted) {
        let last = self.samples.keys().map(|&(block, _, _)| block).max().unwrap_or(0);
        self.has_ended &= other.has_ended;
        self.is_over |= other.is_over;
        let later = other.samples.into_iter();
        self.samples
            .extend(later.map(|((block, side, calls), counts)| ((last + block, side, calls), counts)));
    }
}

/// A benchmark's place: the process id, when its program began to benchmark, and its number there.
type Place = (u64, u64, u64);

impl Run {
    /// Adds a file: its lines. Those that are not named so are of no interest.
    fn add(&mut self, of: &mut BTreeMap<Place, Counted>, text: &str) -> io::Result<()> {
        let head = text.lines().take_while(|line| !line.starts_with("totals:"));
        let (mut process_id, mut part, mut named) = (0, 0, None);
        for line in head {
            let number_in = |key| line.strip_prefix(key).and_then(|number| number.trim().parse().ok());
            process_id = number_in("pid:").unwrap_or(process_id);
            part = number_in("part:").unwrap_or(part);
            if line.starts_with("events:") {
                break;
            }
            named = named.or(line.strip_prefix(NAMED));
        }
        let Some(named) = named else { return Ok(()) };
        let words: Vec<&str> = named.splitn(5, ' ').collect();
        let [FORM, began, number, lost, what] = words[..] else {
            self.unknown += 1;
            return Ok(());
        };
        let number_of = |text: &str| text.parse::<u64>();
        let (Ok(began), Ok(number), Ok(lost)) = (number_of(began), number_of(number), number_of(lost)) else {
            self.unknown += 1;
            return Ok(());
        };
        self.lost = self.lost.max(lost);
        let counted = of.entry((began, process_id, number)).or_default();
        let words: Vec<&str> = what.split(' ').collect();
        match words[..] {
            ["begin"] => {}
            ["end"] => counted.has_ended = true,
            ["over"] => counted.is_over = true,
            ["names", ..] if part < counted.named_in => {}
            ["names", ..] => {
                counted.named_in = part;
                let mut names = what["names ".len()..].split('\t').map(str::to_owned);
                let mut name = || names.next().unwrap_or_default();
                counted.title = name();
                counted.names = [name(), name()];
            }
            ["sample", block, side, calls] => {
                let side = match side {
                    "a" => Side::A,
                    "b" => Side::B,
                    _ => Side::Empty,
                };
                let (Ok(block), Ok(calls)) = (block.parse(), calls.parse()) else {
                    self.unknown += 1;
                    return Ok(());
                };
                let mut totals = Totals::default();
                if totals.add(text.lines().map(|line| Ok(line.to_owned())))? {
                    counted.samples.entry((block, side, calls)).or_default().push(totals);
                }
            }
            _ => self.unknown += 1,
        }
        Ok(())
    }

    /// All files of a run.
    fn read(place: &Path) -> io::Result<Run> {
        let (mut run, mut of) = (Run::default(), BTreeMap::new());
        for entry in fs::read_dir(place)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with("log.") {
                continue;
            }
            run.add(&mut of, &String::from_utf8_lossy(&fs::read(entry.path())?))?;
        }
        run.benchmarks = of.into_values().collect();
        Ok(run)
    }
}

impl Simulator {
    /// One run of a program, of which its benchmarks are counted.
    pub(crate) fn count_benchmarks(&self, parts: &[String]) -> Result<Run, Failure> {
        self.execute(parts, None, Run::read)
    }
}

#[cfg(test)]
#[path = "benchmarks_tests.rs"]
mod tests;
