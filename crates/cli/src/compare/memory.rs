//! Saved runs: `--save` and `--against`.

use std::path::Path;

use picollo_bench::baseline::{Against, Baseline, Run, environment, judge, missing};
use picollo_core::{Options, Since, SingleWriterHistogram, Snapshot};
use picollo_stats::{COMPARISON_NOISY, RunComparison, Verdict};
use serde_json::{Value, json};

use super::metric::Kind;
use super::{Arguments, Measured};
use crate::failure::Failure;
use crate::table::printable;

/// The options for saved runs.
pub(super) struct Memory {
    save: Option<Baseline>,
    against: Option<Baseline>,
    /// Names of the baselines.
    names: [String; 2],
    /// Name of the benchmark in them.
    benchmark: String,
}

impl Memory {
    pub(super) fn new(
        directory: &str,
        save: Option<&str>,
        against: Option<&str>,
        benchmark: String,
    ) -> Result<Memory, Failure> {
        let open =
            |name: Option<&str>| name.map(|name| Baseline::new(Path::new(directory), name)).transpose();
        let names = [save, against].map(|name| name.unwrap_or_default().to_owned());
        Ok(Memory { save: open(save)?, against: open(against)?, names, benchmark })
    }

    /// Fails if there is no earlier run to compare with, before anything is run.
    pub(super) fn demand(&self) -> Result<(), Failure> {
        let Some(baseline) = &self.against else { return Ok(()) };
        let earlier = baseline.runs()?;
        match missing(&earlier, &self.benchmark, &environment()) {
            None => Ok(()),
            Some(why) => Err(Failure::Message(format!(
                "--fail-if-slower has no run to compare with: {}, {why}. Use --allow-missing for the first run, or --name for another name.",
                self.unknown()
            ))),
        }
    }

    fn unknown(&self) -> String {
        format!("{}: no earlier run of this machine has {}", self.names[1], printable(&self.benchmark))
    }

    /// Judges the newer command's blocks by earlier runs.
    pub(super) fn judge(
        &self,
        measured: &Measured,
        arguments: &Arguments,
    ) -> Result<Option<Against>, Failure> {
        let Some(baseline) = &self.against else { return Ok(None) };
        let earlier = baseline.runs()?;
        let options = arguments.judging(super::metric::TIME * 1e12);
        let mut against = judge(&earlier, &self.benchmark, &histogram(measured)?, &environment(), &options)?;
        // These runs did not alternate: a disturbance affects one side and not the other.
        if measured.is_disturbed
            && let Some(found) = &mut against.comparison
        {
            (found.verdict, found.flags) = (Verdict::NoEvidence as u32, found.flags | COMPARISON_NOISY);
        }
        Ok(Some(against))
    }

    /// Adds these blocks as a run, and reports that. A run that is slower than earlier ones is not saved: it would
    /// begin a slower history, in which later runs would no longer be reported as slower.
    pub(super) fn save(&self, measured: &Measured, is_out: bool) -> Result<String, Failure> {
        let Some(baseline) = &self.save else { return Ok(String::new()) };
        if is_out {
            return Ok("Not saved, because it is slower; use --save without --against.\n".into());
        }
        if measured.is_disturbed {
            return Ok("Not saved, because the machine was too noisy; use --keep-disturbed.\n".into());
        }
        let histograms = vec![(self.benchmark.clone(), histogram(measured)?)];
        let path = baseline.save(&Run { environment: environment(), histograms })?;
        let count = baseline.runs()?.len();
        let plural = if count == 1 { "" } else { "s" };
        Ok(format!("Saved as {}; {} has {count} run{plural}.\n", path.display(), self.names[0]))
    }

    /// The comparison with earlier runs, in sentences.
    pub(super) fn text(&self, against: &Against, is_second_look: bool) -> String {
        let name = &self.names[1];
        let mut text = match &against.comparison {
            None => format!("{} (--name changes the name)\n", self.unknown()),
            Some(found) => {
                let medians = [found.mean, found.value].map(|picos| Kind::Seconds.write(picos / 1e12));
                format!("{name}: {} earlier, {} now\n{name}: {found}\n", medians[0], medians[1])
            }
        };
        if is_second_look {
            text += &format!("{name}: slower in the first measurement; these times are from a second one\n");
        }
        for note in &against.notes {
            text += &format!("{name}: {note}\n");
        }
        text
    }

    /// The same as JSON: times in seconds.
    pub(super) fn json(&self, against: &Against, is_second_look: bool) -> Value {
        let comparison = against.comparison.as_ref().map(|found| {
            json!({
                "runs": found.run_count,
                "mean": found.mean / 1e12,
                "lowest": found.lowest / 1e12,
                "highest": found.highest / 1e12,
                "now": found.value / 1e12,
                "difference": found.difference / 1e12,
                "lower": found.difference_lower / 1e12,
                "upper": found.difference_upper / 1e12,
                "margin": found.margin / 1e12,
                "smallest_detectable": found.smallest_detectable / 1e12,
                "alarm_rate": 1.0 - found.confidence,
                "alarm_rate_at_most": found.alarm_bound,
                "verdict": super::report::verdict_text(found.verdict, found.flags),
            })
        });
        let looks = 1 + u32::from(is_second_look);
        json!({ "baseline": self.names[1], "comparison": comparison, "notes": against.notes, "looks": looks })
    }
}

/// Whether the run is slower than earlier ones.
pub(super) fn is_slower(against: &Against) -> bool {
    let verdict = |found: &RunComparison| Verdict::from_code(found.verdict);
    against.comparison.as_ref().map(verdict) == Some(Verdict::Slower)
}

/// Wall times of the newer command, in picoseconds, one per block: means of two runs.
pub(super) fn histogram(measured: &Measured) -> Result<Box<Snapshot>, Failure> {
    let histogram = SingleWriterHistogram::create(&Options::default())?;
    let mut recorder = histogram.recorder()?;
    for block in measured.counting() {
        let wall = block[1][super::WALL].unwrap_or_default();
        recorder.record((wall * 1e12) as u64);
    }
    let mut snapshot = Snapshot::boxed(*histogram.layout())?;
    histogram.update(&mut snapshot, Since::Reset)?;
    Ok(snapshot)
}
