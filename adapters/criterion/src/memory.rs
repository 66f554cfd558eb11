//! The output at the end, and the baselines.

use std::fmt::Write;
use std::path::Path;

use picollo_bench::baseline::{Baseline, Environment, Run, environment, judge};
use picollo_core::Snapshot;
use picollo_core::layouts::ValueSelection;
use picollo_native::Result;
use picollo_stats::{CompareOptions, Verdict};

use crate::measurement::Picollo;

/// How much placement in memory changes times, as in a comparison of two functions; in picoseconds.
const RESOLUTION: f64 = 500.0;

fn percentile(snapshot: &Snapshot, rank: f64) -> u64 {
    snapshot.percentile(rank, ValueSelection::Midpoint).map_or(0, |found| found.value)
}

impl Picollo {
    /// A table of all histograms, in Markdown: times in nanoseconds, and counts of events.
    pub fn table(&self) -> String {
        let mut text = String::from(
            "| benchmark | of each | | P50 | P90 | P99 | max |\n| :-- | :-- | :-- | --: | --: | --: | --: |\n",
        );
        let all = self.inner.measured.borrow();
        for one in all.iter() {
            let mut row = |what: &str, snapshot: &Snapshot, write: &dyn Fn(u64) -> String| {
                let cells = [50.0, 90.0, 99.0, 100.0].map(|rank| write(percentile(snapshot, rank)));
                let name = one.name.replace('|', "\\|");
                let _ = writeln!(text, "| {name} | {} | {what} | {} |", one.per.as_str(), cells.join(" | "));
            };
            row("ns", &one.snapshot(), &|picos| format!("{:.2}", picos as f64 / 1e3));
            for (at, event) in self.inner.events.iter().enumerate() {
                if let Some(counted) = one.counted(at) {
                    row(event, &counted, &|count| count.to_string());
                }
            }
        }
        text
    }

    /// Prints the table, and does what the environment requests. Returns whether a benchmark is slower than its earlier
    /// runs, for the exit status of `main`:
    ///
    /// - `PICOLLO_AGAINST=NAME` compares the times with the runs in that baseline;
    /// - `PICOLLO_SAVE=NAME` adds them to it, except slower ones;
    /// - `PICOLLO_BASELINES=DIRECTORY` is the directory of baselines (`.picollo`).
    ///
    /// Errors: those of [`Baseline`].
    pub fn finish(&self) -> Result<bool> {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        print!("\n{}", self.table());
        let directory = variable("PICOLLO_BASELINES").unwrap_or_else(|| ".picollo".into());
        let mut slower = Vec::new();
        if let Some(name) = variable("PICOLLO_AGAINST") {
            slower =
                self.against(&Baseline::new(Path::new(&directory), &name)?, &mut |line| println!("{line}"))?;
        }
        if let Some(name) = variable("PICOLLO_SAVE")
            && let Some(path) = self.save(&Baseline::new(Path::new(&directory), &name)?, &slower)?
        {
            println!("saved as {}", path.display());
        }
        Ok(!slower.is_empty())
    }

    /// Compares the times with earlier runs, passes each result to `say`, and returns the names of slower benchmarks.
    pub fn against(&self, baseline: &Baseline, say: &mut dyn FnMut(&str)) -> Result<Vec<String>> {
        let (earlier, now) = (baseline.runs()?, here());
        let options = CompareOptions { resolution: RESOLUTION, ..CompareOptions::default() };
        let mut slower = Vec::new();
        for one in self.inner.measured.borrow().iter() {
            let found = judge(&earlier, &one.name, &one.snapshot(), &now, &options)?;
            match &found.comparison {
                None => say(&format!("{}: no earlier run of this machine has it", one.name)),
                Some(compared) => {
                    say(&format!("{}: {compared}", one.name));
                    if Verdict::from_code(compared.verdict) == Verdict::Slower {
                        slower.push(one.name.clone());
                    }
                }
            }
            found.notes.iter().for_each(|note| say(note));
        }
        Ok(slower)
    }

    /// Adds the times to a baseline, except these names; `None` if nothing remains.
    pub fn save(&self, baseline: &Baseline, without: &[String]) -> Result<Option<std::path::PathBuf>> {
        let all = self.inner.measured.borrow();
        let kept = all.iter().filter(|one| !without.contains(&one.name));
        let histograms: Vec<_> = kept.map(|one| (one.name.clone(), one.snapshot())).collect();
        if histograms.is_empty() {
            return Ok(None);
        }
        baseline.save(&Run { environment: here(), histograms }).map(Some)
    }
}

fn here() -> Environment {
    let mut found = environment();
    found.push(("compiler".into(), env!("PICOLLO_COMPILER").into()));
    found
}
