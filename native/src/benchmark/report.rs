//! What a benchmark found.

use core::fmt;

use picollo_core::{BlockComparison, ValueSelection, text::CounterRow};

use super::{Benchmark, Side};
use crate::{Error, Event, Reading, Result, Status, Unit};

/// How a benchmark went. Times are in picoseconds.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[repr(C)]
pub struct BenchmarkResult {
    /// The difference and the verdict, of picoseconds a call.
    pub blocks: BlockComparison,
    /// What an empty sample with A's number of calls took, which was subtracted.
    pub overhead_a: f64,
    /// What an empty sample with B's number of calls took, which was subtracted.
    pub overhead_b: f64,
    /// Calls of A in each sample.
    pub repetitions_a: u64,
    /// Calls of B in each sample.
    pub repetitions_b: u64,
    /// Samples of each side: two a block.
    pub sample_count: u64,
    /// Since the benchmark was made.
    pub elapsed: u64,
}

/// How much of an event a call took.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[repr(C)]
pub struct BenchmarkCounter {
    /// Of A, without that of empty samples; NaN where nothing was counted.
    pub a: f64,
    /// Of B, without that of empty samples; NaN where nothing was counted.
    pub b: f64,
    /// 0, or why there is no count: the number of the status.
    pub status: i32,
    /// 0.
    pub reserved: u32,
}

/// What was counted in the samples of each side.
#[derive(Clone, Copy, Default)]
pub(super) struct Totals {
    values: [f64; 3],
    samples: [f64; 3],
    calls: [f64; 3],
    status: i32,
}

impl Totals {
    pub(super) fn add(&mut self, side: Side, calls: u64, reading: &Reading) {
        if reading.status != 0 {
            self.status = reading.status;
            return;
        }
        let at = side as usize;
        self.values[at] += reading.value as f64;
        self.samples[at] += 1.0;
        self.calls[at] += calls as f64;
    }

    /// Of a call of one side.
    fn per_call(&self, side: Side) -> f64 {
        let at = side as usize;
        let empty = if self.samples[2] == 0.0 { 0.0 } else { self.values[2] / self.samples[2] };
        // Without samples it is 0 over 0.
        (self.values[at] - empty * self.samples[at]).max(0.0) / self.calls[at]
    }
}

impl Benchmark {
    /// How it went so far. Errors: `Empty` before the first block is done.
    pub fn result(&self) -> Result<BenchmarkResult> {
        let mut judged = self.judged;
        let length = self.blocks[0].len();
        if length == 0 {
            return Err(Error::new(Status::Empty, format_args!("no block has been measured yet")));
        }
        if judged.block_count != length as u64 {
            let mut scratch = super::with_room(length)?;
            scratch.resize(length, 0.0);
            let options = picollo_core::CompareOptions {
                confidence: self.limits.confidence,
                relative_threshold: self.limits.relative_threshold,
                ..Default::default()
            };
            judged = picollo_core::compare_blocks(&self.blocks[0], &self.blocks[1], &mut scratch, &options)?;
        }
        let [repetitions_a, repetitions_b] = self.schedule.repetitions();
        let [overhead_a, overhead_b] = self.overhead;
        let elapsed = self.clock.convert(self.clock.ticks().saturating_sub(self.began), Unit::Picos);
        Ok(BenchmarkResult {
            blocks: judged,
            overhead_a,
            overhead_b,
            repetitions_a,
            repetitions_b,
            sample_count: 2 * length as u64,
            elapsed,
        })
    }

    /// How many events are counted.
    pub fn counters(&self) -> usize {
        self.totals.len()
    }

    /// The event at a position. Errors: `InvalidArgument` where there is none.
    pub fn event(&self, index: usize) -> Result<Event> {
        match &self.session {
            Some(session) => session.event(index),
            None => Err(Error::new(Status::InvalidArgument, format_args!("the benchmark has no events"))),
        }
    }

    /// How much of an event a call took. Errors: `InvalidArgument` where there is none at that position.
    pub fn counter(&self, index: usize) -> Result<BenchmarkCounter> {
        let totals = self.totals.get(index).ok_or_else(|| {
            let why = format_args!("there is no event {index}: the benchmark has {}", self.totals.len());
            Error::new(Status::InvalidArgument, why)
        })?;
        let (a, b) = (totals.per_call(Side::A), totals.per_call(Side::B));
        let status = if a.is_nan() || b.is_nan() { totals.status } else { 0 };
        Ok(BenchmarkCounter { a, b, status, reserved: 0 })
    }

    /// Writes as Markdown: what changed in the times of single samples, the verdict by blocks, and the counters. Errors: `Empty`
    /// before the first block is done; the writer's own are within.
    pub fn write_markdown(
        &self,
        out: &mut (impl fmt::Write + ?Sized),
        title: &str,
        name_a: &str,
        name_b: &str,
    ) -> Result<fmt::Result> {
        let result = self.result()?;
        let summary = |side| Ok::<_, Error>(self.snapshot(side)?.summary(ValueSelection::Midpoint));
        let (a, b) = (summary(Side::A)?, summary(Side::B)?);
        let mut events = super::with_room(self.totals.len())?;
        for index in 0..self.totals.len() {
            events.push((self.event(index)?, self.counter(index)?));
        }
        let known = |amount: f64| Some(amount).filter(|amount| !amount.is_nan());
        let mut rows: Vec<CounterRow<'_>> = super::with_room(events.len())?;
        rows.extend(events.iter().map(|(event, counter)| (event.name(), known(counter.a), known(counter.b))));
        Ok(result.blocks.write_markdown(&a, &b, &rows, out, title, name_a, name_b))
    }
}
