//! Benchmarks: which of two pieces of code is faster, judged by interleaved blocks.
//!
//! A and B are run in turns, in blocks of four samples, `A B B A` and then `B A A B`, so that whatever changes slowly (the clock
//! frequency, other processes, the temperature) falls on both alike. A block yields one pair of times, and the differences within
//! pairs are judged: [`picollo_core::compare_blocks`]. Before that both are warmed up, the number of calls in a sample is found so
//! that the clock's resolution does not matter, and what an empty sample takes is measured, to be subtracted. It ends when the
//! interval of the difference is narrow enough, or the budget is spent. Looking at the interval's width as it goes does not favour
//! either side; looking for a verdict would.
//!
//! [`Benchmark`] is a stepper: it says what to run next, and is told when that is done. So it works in every language, without
//! callbacks. [`benchmark`] runs two closures with it.

mod options;
mod report;
mod result;
mod schedule;
#[cfg(test)]
mod tests;

pub use options::{BENCHMARK_NO_OVERHEAD, BenchmarkOptions};
pub use result::{BenchmarkCounter, BenchmarkResult, Side, Step};

use picollo_core::{BlockComparison, CompareOptions, SharedHistogram, Snapshot, compare_blocks};

use self::options::Limits;
use self::report::Totals;
use self::schedule::{Phase, Schedule};
use crate::{
    Clock, Error, Event, ReadMode, Reading, Result, SESSION_SKIP_UNAVAILABLE, Session, SessionOptions,
    Status, Unit,
};

/// A sample that was begun.
#[derive(Clone, Copy)]
struct Running {
    step: Step,
    start: u64,
}

/// A benchmark of two pieces of code, one sample at a time. See the [module](self).
///
/// Times are in picoseconds a call. With events, all on the opening thread.
pub struct Benchmark {
    limits: Limits,
    schedule: Schedule,
    clock: Clock,
    began: u64,
    running: Option<Running>,
    session: Option<Session>,
    readings: Vec<Reading>,
    /// What was counted, for each event.
    totals: Vec<Totals>,
    histograms: [SharedHistogram; 2],
    /// Of the samples of the block that is being taken, in picoseconds a call.
    block: [f64; 2],
    blocks: [Vec<f64>; 2],
    scratch: Vec<f64>,
    /// Of empty samples, in picoseconds.
    overhead: [f64; 2],
    empty: Vec<f64>,
    next_check: usize,
    judged: BlockComparison,
}

/// Blocks for which there is room from the start.
const ROOM: usize = 1024;

fn with_room<T>(length: usize) -> Result<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(length).map_err(|_| Error::from(Status::OutOfMemory))?;
    Ok(list)
}

impl Benchmark {
    /// A benchmark that counts these events beside the time, none or more. Events that are not available are without counts.
    ///
    /// Errors: `InvalidArgument` for options out of range; `OutOfMemory`; those of [`Session::create`].
    pub fn create(options: &BenchmarkOptions, events: &[Event]) -> Result<Benchmark> {
        let limits = Limits::of(options)?;
        Clock::init();
        let session = if events.is_empty() {
            None
        } else {
            let flags = SESSION_SKIP_UNAVAILABLE;
            Some(Session::create(&SessionOptions { flags, ..SessionOptions::default() }, events)?)
        };
        let mut readings = with_room(events.len())?;
        readings.resize(events.len(), Reading::default());
        let mut totals = with_room(events.len())?;
        totals.resize(events.len(), Totals::default());
        let create = || SharedHistogram::create(&picollo_core::Options::default());
        let mut benchmark = Benchmark {
            schedule: Schedule::new(limits.repetitions),
            clock: Clock::Tsc,
            began: 0,
            running: None,
            session,
            readings,
            totals,
            histograms: [create()?, create()?],
            block: [0.0; 2],
            blocks: [with_room(ROOM)?, with_room(ROOM)?],
            scratch: with_room(ROOM)?,
            overhead: [0.0; 2],
            empty: with_room(limits.empty_samples)?,
            next_check: limits.min_blocks,
            judged: BlockComparison::default(),
            limits,
        };
        benchmark.began = benchmark.clock.ticks();
        Ok(benchmark)
    }

    /// What to run now; `None` at the end. The clock is read last, so that the sample begins when this returns.
    ///
    /// A sample that was begun and is not done is forgotten.
    #[allow(clippy::should_implement_trait, reason = "it can fail")]
    pub fn next(&mut self) -> Result<Option<Step>> {
        self.running = None;
        let Some(step) = self.schedule.step(self.limits.empty_samples) else { return Ok(None) };
        if let Some(session) = &mut self.session {
            session.read(ReadMode::Auto)?;
        }
        self.running = Some(Running { step, start: self.clock.ticks_ordered() });
        Ok(Some(step))
    }

    /// Ends the sample. The clock is read first.
    ///
    /// Errors: `InvalidArgument` where none was begun, `OutOfMemory`, and those of [`Session::read`].
    pub fn done(&mut self) -> Result<()> {
        let end = self.clock.ticks_ordered();
        let start = self.running.map_or(end, |running| running.start);
        let picos = self.clock.convert(end.saturating_sub(start), Unit::Picos);
        self.done_after(picos)
    }

    /// Ends a sample that the caller measured by other means: it took so many picoseconds. As [`Benchmark::done`].
    pub fn done_after(&mut self, picos: u64) -> Result<()> {
        let Some(Running { step, .. }) = self.running.take() else {
            return Err(Error::new(
                Status::InvalidArgument,
                format_args!("no sample was begun: ask what is next before telling that it is done"),
            ));
        };
        let measured = matches!(self.schedule.phase(), Phase::Empty | Phase::Measure);
        if let Some(session) = &mut self.session {
            session.read(ReadMode::Auto)?;
            session.readings(true, &mut self.readings)?;
            if measured {
                for (totals, reading) in self.totals.iter_mut().zip(&self.readings) {
                    totals.add(step.side, step.repetitions, reading);
                }
            }
        }
        match self.schedule.phase() {
            Phase::WarmUp => self.schedule.warmed(step.side, picos, &self.limits),
            Phase::Empty => self.took_nothing(picos as f64)?,
            Phase::Measure => self.took(step, picos as f64)?,
            Phase::End => {}
        }
        Ok(())
    }

    /// An empty sample.
    fn took_nothing(&mut self, picos: f64) -> Result<()> {
        self.empty.push(picos);
        if let Some(side) = self.schedule.empty_taken(self.limits.empty_samples) {
            // The median: an interrupt in one of them must not count.
            self.empty.sort_unstable_by(f64::total_cmp);
            self.overhead[side as usize] = self.empty[self.empty.len() / 2];
            self.empty.clear();
        }
        Ok(())
    }

    /// A sample that counts.
    fn took(&mut self, step: Step, picos: f64) -> Result<()> {
        let side = step.side as usize % 2;
        let per_call = (picos - self.overhead[side]).max(0.0) / step.repetitions as f64;
        // Half up; far below the largest.
        self.histograms[side].record((per_call + 0.5) as u64);
        self.block[side] += per_call / 2.0;
        if !self.schedule.taken() {
            return Ok(());
        }
        for (blocks, time) in self.blocks.iter_mut().zip(&mut self.block) {
            blocks.try_reserve(1).map_err(|_| Error::from(Status::OutOfMemory))?;
            blocks.push(core::mem::take(time));
        }
        let length = self.blocks[0].len();
        let spent = self.clock.convert(self.clock.ticks().saturating_sub(self.began), Unit::Picos);
        let must_end = spent >= self.limits.budget || length >= self.limits.max_blocks;
        if must_end || length >= self.next_check {
            self.judge()?;
            // Not after each: sorting would take as long as measuring.
            self.next_check = length + (length / 8).max(1);
            let half_width = (self.judged.difference_upper - self.judged.difference_lower) / 2.0;
            if must_end || half_width <= self.limits.precision * self.judged.median_a {
                self.schedule.end();
            }
        }
        Ok(())
    }

    fn judge(&mut self) -> Result<()> {
        let length = self.blocks[0].len();
        let room = length.saturating_sub(self.scratch.len());
        self.scratch.try_reserve(room).map_err(|_| Error::from(Status::OutOfMemory))?;
        self.scratch.resize(length, 0.0);
        let options = CompareOptions {
            confidence: self.limits.confidence,
            relative_threshold: self.limits.relative_threshold,
            ..CompareOptions::default()
        };
        self.judged = compare_blocks(&self.blocks[0], &self.blocks[1], &mut self.scratch, &options)?;
        Ok(())
    }

    /// How far it is, 0 to 1: the part of the budget that is spent, or 1 at the end.
    pub fn progress(&self) -> f64 {
        if self.schedule.phase() == Phase::End {
            return 1.0;
        }
        let spent = self.clock.convert(self.clock.ticks().saturating_sub(self.began), Unit::Picos);
        let of_time = spent as f64 / self.limits.budget as f64;
        let of_blocks = self.blocks[0].len() as f64 / self.limits.max_blocks as f64;
        of_time.max(of_blocks).min(1.0)
    }

    /// The picoseconds that a call took, an observation for each sample. A reference of its own.
    pub fn histogram(&self, side: Side) -> Option<SharedHistogram> {
        self.histograms.get(side as usize).cloned()
    }

    /// The times of the blocks, in the order in which they were measured: picoseconds a call, of A and of B.
    pub fn blocks(&self) -> (&[f64], &[f64]) {
        (&self.blocks[0], &self.blocks[1])
    }

    fn snapshot(&self, side: Side) -> Result<Box<Snapshot>> {
        let histogram = &self.histograms[side as usize % 2];
        let mut snapshot = Snapshot::boxed(*histogram.layout())?;
        histogram.update(&mut snapshot, picollo_core::Since::Reset)?;
        Ok(snapshot)
    }
}

/// Runs `a` and `b` until the difference is known well enough, or the time is up. The result of a call should go through
/// [`core::hint::black_box`], or the compiler may leave it out.
///
/// ```
/// use picollo_native::{BenchmarkOptions, benchmark, work};
///
/// let options = BenchmarkOptions { budget_seconds: 0.2, ..BenchmarkOptions::default() };
/// let done = benchmark(&options, &[], || work::add_chain_256(10), || work::add_chain_256(20))?;
/// let mut text = String::new();
/// done.write_markdown(&mut text, "ps a call", "ten", "twenty").unwrap();
/// println!("{text}");
/// assert!(done.result()?.blocks.median_b > done.result()?.blocks.median_a);
/// # Ok::<(), picollo_native::Error>(())
/// ```
pub fn benchmark(
    options: &BenchmarkOptions,
    events: &[Event],
    mut a: impl FnMut(),
    mut b: impl FnMut(),
) -> Result<Benchmark> {
    let mut benchmark = Benchmark::create(options, events)?;
    while let Some(Step { side, repetitions }) = benchmark.next()? {
        match side {
            Side::A => (0..repetitions).for_each(|_| a()),
            Side::B => (0..repetitions).for_each(|_| b()),
            Side::Empty => (0..repetitions).for_each(|_| core::hint::black_box(())),
        }
        benchmark.done()?;
    }
    Ok(benchmark)
}
