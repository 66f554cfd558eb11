//! The results of a benchmark.

use core::fmt::{self, Write};

use picollo_core::layouts::ValueSelection;
use picollo_stats::{COMPARISON_NOISY, Verdict};
use picollo_text::{Conditions, CounterRow, Format, Unit, write_blocks, write_blocks_human};

use super::schedule::Phase;
use super::{
    BENCHMARK_BUDGET_SPENT, BENCHMARK_NOTHING_A, BENCHMARK_NOTHING_B, BENCHMARK_SIMULATED, Benchmark,
    BenchmarkCounter, BenchmarkNoise, BenchmarkResult, Side,
};
use picollo_native::seam::text::{get, set};
use picollo_native::{ExplainedError, Result, Status};
use picollo_perf::Event;
use picollo_perf::{READING_SCALED, Reading};

/// Reports that the times are meaningless, and what to use instead.
fn write_simulated(out: &mut (impl Write + ?Sized), title: &str, format: Format) -> fmt::Result {
    let [before, behind] = if format == Format::Markdown { ["**", "**\n\n"] } else { ["", "\n"] };
    if !title.is_empty() {
        out.write_str(before)?;
        title.chars().try_for_each(|c| out.write_char(if c.is_control() { ' ' } else { c }))?;
        out.write_str(behind)?;
    }
    out.write_str(
        "It ran under Valgrind, where times say nothing. picollo stat --counts PROGRAM counts instructions.",
    )
}

/// Totals of an event in the samples of each side.
#[derive(Clone, Copy, Default)]
pub(super) struct Totals {
    values: [f64; 3],
    samples: [f64; 3],
    calls: [f64; 3],
    status: i32,
    /// In some sample, the event was counted only part of the time.
    pub(super) is_scaled: bool,
}

impl Totals {
    pub(super) fn add(&mut self, side: Side, calls: u64, reading: &Reading) {
        if reading.status != 0 {
            self.status = reading.status;
            return;
        }
        self.is_scaled |= reading.flags & READING_SCALED != 0;
        let at = side as usize;
        self.values[at] += reading.value as f64;
        self.samples[at] += 1.0;
        self.calls[at] += calls as f64;
    }

    /// Count per call of one side.
    fn per_call(&self, side: Side) -> f64 {
        let at = side as usize;
        let empty = if self.samples[2] == 0.0 { 0.0 } else { self.values[2] / self.samples[2] };
        // Without samples this is 0 / 0.
        (self.values[at] - empty * self.samples[at]).max(0.0) / self.calls[at]
    }
}

impl Benchmark {
    /// The result so far. Errors: `Empty` before the first block is complete.
    pub fn result(&self) -> Result<BenchmarkResult> {
        let mut judged = self.judged;
        let length = self.blocks[0].len();
        if length == 0 {
            return Err(ExplainedError::new(Status::Empty, format_args!("no block has been measured yet")));
        }
        if self.judged_of != length {
            let mut disturbed = super::with_room(length)?;
            self.find_disturbed(&mut disturbed)?;
            judged = self.compare(&disturbed, &mut super::with_room(length)?)?;
        }
        let [repetitions_a, repetitions_b] = self.schedule.repetitions();
        let [(overhead_a, overhead_error_a), (overhead_b, overhead_error_b)] =
            [0, 1].map(|side| self.overhead.per_sample(side));
        let mut result = BenchmarkResult {
            blocks: judged,
            overhead_a,
            overhead_b,
            repetitions_a,
            repetitions_b,
            sample_count: 2 * length as u64,
            elapsed: self.elapsed(),
            overhead_error_a,
            overhead_error_b,
            empty_count: self.overhead.count() as u64,
            ..BenchmarkResult::default()
        };
        // Meaningless times give no verdict.
        if self.is_simulated {
            result.blocks.verdict = Verdict::NoEvidence as u32;
            result.flags = BENCHMARK_SIMULATED;
            return Ok(result);
        }
        for (is_set, flag) in [
            (self.schedule.phase() == Phase::End && length < self.limits.min_blocks, BENCHMARK_BUDGET_SPENT),
            (judged.median_a < judged.resolution, BENCHMARK_NOTHING_A),
            (judged.median_b < judged.resolution, BENCHMARK_NOTHING_B),
        ] {
            result.flags |= if is_set { flag } else { 0 };
        }
        Ok(result)
    }

    /// What else the machine did so far, and how many blocks were left out. Errors: as for [`Benchmark::result`].
    pub fn noise(&self) -> Result<BenchmarkNoise> {
        let judged = self.result()?.blocks;
        let length = self.blocks[0].len();
        let mut disturbed = super::with_room(length)?;
        self.find_disturbed(&mut disturbed)?;
        let is_unproven = judged.flags & COMPARISON_NOISY != 0;
        let block_count = length as u64;
        Ok(BenchmarkNoise {
            block_count,
            disturbed_count: disturbed.iter().filter(|&&is| is).count() as u64,
            left_out_count: if is_unproven { 0 } else { block_count - judged.block_count },
            ..self.trace.all()
        })
    }

    /// Number of counted events.
    pub fn counters(&self) -> usize {
        self.totals.len()
    }

    /// The event at a position. Errors: `InvalidArgument` if the position is out of range.
    pub fn event(&self, index: usize) -> Result<Event> {
        match &self.session {
            Some(session) => session.event(index),
            None => {
                Err(ExplainedError::new(Status::InvalidArgument, format_args!("the benchmark has no events")))
            }
        }
    }

    /// Count of an event per call. Errors: `InvalidArgument` if the position is out of range.
    pub fn counter(&self, index: usize) -> Result<BenchmarkCounter> {
        let totals = self.totals.get(index).ok_or_else(|| {
            let why = format_args!("there is no event {index}: the benchmark has {}", self.totals.len());
            ExplainedError::new(Status::InvalidArgument, why)
        })?;
        let (a, b) = (totals.per_call(Side::A), totals.per_call(Side::B));
        let is_missing = a.is_nan() || b.is_nan();
        let status = Some(totals.status).filter(|&status| is_missing && status != 0);
        Ok(BenchmarkCounter {
            a,
            b,
            status: status.map(|code| Status::from_code(code).unwrap_or(Status::Os)),
        })
    }

    /// Writes Markdown: changes in the times of single samples, the verdict by blocks, and the counters. Errors:
    /// `Empty` before the first block is complete; the inner result holds errors of the writer.
    pub fn write_markdown(
        &self,
        out: &mut (impl fmt::Write + ?Sized),
        title: &str,
        name_a: &str,
        name_b: &str,
    ) -> Result<fmt::Result> {
        self.write(out, title, name_a, name_b, Format::Markdown)
    }

    /// Writes the same for people, starting with the answer ([`Format::Human`]), or as Markdown. Errors: `Empty` before
    /// the first block is complete, `Unsupported` for other formats; the inner result holds errors of the writer.
    pub fn write(
        &self,
        out: &mut (impl fmt::Write + ?Sized),
        title: &str,
        name_a: &str,
        name_b: &str,
        format: Format,
    ) -> Result<fmt::Result> {
        if !matches!(format, Format::Markdown | Format::Human) {
            let why = format_args!("a benchmark is written as Markdown and for people");
            return Err(ExplainedError::new(Status::Unsupported, why));
        }
        let result = self.result()?;
        if self.is_simulated {
            return Ok(write_simulated(out, title, format));
        }
        let summary = |side| Ok::<_, ExplainedError>(self.snapshot(side)?.summary(ValueSelection::Midpoint));
        let (a, b) = (summary(Side::A)?, summary(Side::B)?);
        let mut events = super::with_room(self.totals.len())?;
        for index in 0..self.totals.len() {
            events.push((self.event(index)?, self.counter(index)?));
        }
        let known = |amount: f64| Some(amount).filter(|amount| !amount.is_nan());
        let mut rows: Vec<CounterRow<'_>> = super::with_room(events.len())?;
        rows.extend(events.iter().map(|(event, counter)| (event.name(), known(counter.a), known(counter.b))));
        let mut room = [0; 320];
        set(&mut room, format_args!("{}", self.noise()?));
        let noise = get(&room);
        let mut notes = super::with_room(3)?;
        notes.extend(Some(noise).filter(|noise| !noise.is_empty()));
        notes.extend((result.flags & (BENCHMARK_NOTHING_A | BENCHMARK_NOTHING_B) != 0).then_some(NOTHING));
        notes.extend((result.flags & BENCHMARK_BUDGET_SPENT != 0).then_some(BUDGET_SPENT));
        let overhead = [0, 1].map(|side| self.overhead.per_call(side));
        let is_known = self.overhead.count() != 0;
        let conditions = Conditions {
            calls: [result.repetitions_a, result.repetitions_b],
            overhead: overhead.map(|(call, _)| if is_known { call } else { f64::NAN }),
            overhead_error: overhead.map(|(_, error)| error),
            counters: &rows,
            notes: &notes,
        };
        let blocks = &result.blocks;
        let written = match format {
            Format::Markdown => write_blocks(blocks, &a, &b, &conditions, out, title, name_a, name_b),
            // Samples are in picoseconds, whatever the title says.
            _ => write_blocks_human(blocks, &a, &b, &conditions, out, title, name_a, name_b, Unit::new("ps")),
        };
        match written {
            Ok(()) => self.write_figures(out, [name_a, name_b], format),
            Err(error) => Ok(Err(error)),
        }
    }
}

const NOTHING: &str =
    "What takes less than the resolution does nothing, or was left out by the compiler: is its result used?";
const BUDGET_SPENT: &str = "The budget was spent before there were enough blocks: give it more.";
