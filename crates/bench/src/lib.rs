//! Benchmarks: which of two pieces of code is faster, judged by interleaved blocks.
//!
//! A and B run alternately in blocks of four samples, `A B B A` or `B A A B`, so that slow changes (the clock
//! frequency, other processes, the temperature) affect both alike. A coin decides the order of each block. So for equal
//! code, the difference in each block is as likely above zero as below, whatever the machine does and however long that
//! lasts. A block yields one pair of times, and the differences within pairs are judged:
//! [`picollo_stats::compare_blocks_above`]. Before that, a warm-up finds a number of calls per sample for which the
//! clock's resolution does not matter. Both sides get the same number unless they differ fourfold. Then the cost of
//! calling is equal and cancels in the difference without an error. Empty samples, before the first block and between
//! blocks, measure this cost. It is subtracted from the times, but not from the differences.
//!
//! The place of code in memory changes times by about two cycles per call, which is no property of the code. Smaller
//! differences are not reported ([`BenchmarkOptions::resolution_seconds`]).
//!
//! Between blocks, the benchmark watches what others do to the machine. It leaves out both sides of disturbed blocks,
//! by a rule that uses only the time and not the measured values (`noise.rs`). If more than half of the blocks were
//! disturbed, all of them count: A and B alternated, so that the disturbance affects both and widens the interval. If
//! that is inconclusive, the verdict is *unproven: noisy* ([`COMPARISON_NOISY`]). [`Benchmark::noise`] reports the
//! cause.
//!
//! It ends when the answer can no longer change, or when the budget is spent (`judge.rs`).
//!
//! [`Benchmark`] is a stepper: it names the next sample, and the caller reports when that is done. So it works in every
//! language, without callbacks. [`benchmark`] uses it to run two closures.

// An error carries its explanation by value: code that builds one must not allocate, and none of it is hot.
#![allow(clippy::result_large_err)]

pub mod baseline;
mod figures;
mod judge;
mod load;
mod noise;
#[cfg(test)]
mod noise_tests;
mod options;
mod overhead;
mod report;
mod result;
mod schedule;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;

pub use figures::BenchmarkFigure;
pub use noise::NoiseWatch;
pub use options::BenchmarkOptions;
pub use result::{
    BENCHMARK_BUDGET_SPENT, BENCHMARK_NOTHING_A, BENCHMARK_NOTHING_B, BENCHMARK_SIMULATED, BenchmarkCounter,
    BenchmarkNoise, BenchmarkResult, Sample, Side,
};

use picollo_core::recorders::Recorder;
use picollo_core::{SingleWriterHistogram, Snapshot};
use picollo_stats::BlockComparison;
#[cfg(doc)]
use picollo_stats::COMPARISON_NOISY;

use self::judge::Looks;
use self::load::Watch;
use self::noise::Trace;
use self::options::Limits;
use self::overhead::Overhead;
use self::report::Totals;
use self::schedule::{BLOCK, Phase, Schedule};
use picollo_native::seam::valgrind;
use picollo_native::seam::vectors::{push, with_room};
use picollo_native::{Clock, TimeUnit};
use picollo_native::{ExplainedError, Result, Status};
use picollo_perf::Event;
use picollo_perf::Reading;
use picollo_perf::Session;
use picollo_perf::{ReadMode, SESSION_SKIP_UNAVAILABLE, SessionOptions};

/// A sample that has started.
#[derive(Clone, Copy)]
struct Running {
    step: Sample,
    start: u64,
}

/// A benchmark of two pieces of code, one sample at a time. See the [crate](self).
///
/// Times are in picoseconds per call. If it counts events, only the thread that created it may use it.
pub struct Benchmark {
    limits: Limits,
    schedule: Schedule,
    clock: Clock,
    began: u64,
    running: Option<Running>,
    session: Option<Session>,
    readings: Vec<Reading>,
    /// Totals for each event.
    totals: Vec<Totals>,
    histograms: [Recorder<SingleWriterHistogram>; 2],
    /// Side and time of each sample in the current block: picoseconds per call, including the overhead.
    block: [(usize, f64); BLOCK],
    /// Picoseconds per call, including the overhead.
    blocks: [Vec<f64>; 2],
    /// Start and end of each block, in picoseconds since the benchmark was made.
    spans: Vec<(u64, u64)>,
    /// Which of the blocks at the last judgment were disturbed.
    disturbed: Vec<bool>,
    block_began: u64,
    watch: Watch,
    trace: Trace,
    scratch: Vec<f64>,
    overhead: Overhead,
    looks: Looks,
    /// Confidence of the last judgment.
    look_confidence: f64,
    judged: BlockComparison,
    /// Number of blocks at the last judgment.
    judged_of: usize,
    /// Valgrind executed a sample, so that its time is meaningless.
    is_simulated: bool,
    /// Time of the simulated clock in tests.
    #[cfg(test)]
    simulated: Option<u64>,
}

/// Number of blocks to reserve memory for at the start.
const ROOM: usize = 1024;

impl Benchmark {
    /// Creates a benchmark that also counts these events, if any. Unavailable events have no counts.
    ///
    /// Errors: `InvalidArgument` for options out of range; `OutOfMemory`; those of [`Session::create`].
    pub fn create(options: &BenchmarkOptions, events: &[Event]) -> Result<Benchmark> {
        let limits = Limits::new(options)?;
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
        let looks = Looks::new(limits.confidence, limits.precision, limits.min_blocks);
        let create = || SingleWriterHistogram::create(&picollo_core::Options::default())?.recorder();
        #[cfg(not(test))]
        let watch = Watch::machine()?;
        // Tests simulate the noise: this machine may be busy.
        #[cfg(test)]
        let watch = Watch::unknown();
        // Tests use the same seed each time.
        let seed = if cfg!(test) { 0 } else { Clock::Tsc.ticks() };
        let mut benchmark = Benchmark {
            schedule: Schedule::new(limits.repetitions, limits.empty_samples != 0, seed),
            clock: Clock::Tsc,
            began: 0,
            running: None,
            session,
            readings,
            totals,
            histograms: [create()?, create()?],
            block: [(0, 0.0); BLOCK],
            blocks: [with_room(ROOM)?, with_room(ROOM)?],
            spans: with_room(ROOM)?,
            disturbed: with_room(ROOM)?,
            block_began: 0,
            trace: Trace::new(watch.tick())?,
            watch,
            scratch: with_room(ROOM)?,
            overhead: Overhead::default(),
            looks,
            look_confidence: looks.last_confidence(),
            judged: BlockComparison::default(),
            judged_of: 0,
            is_simulated: false,
            limits,
            #[cfg(test)]
            simulated: None,
        };
        benchmark.began = benchmark.clock.ticks();
        benchmark.watch_machine();
        Ok(benchmark)
    }

    /// Returns the next sample to run, or `None` at the end. The clock is read last: the sample begins at the return.
    ///
    /// A sample that was started but not finished is discarded.
    #[allow(clippy::should_implement_trait, reason = "it can fail")]
    pub fn next(&mut self) -> Result<Option<Sample>> {
        self.running = None;
        let Some(step) = self.schedule.step(&self.limits) else { return Ok(None) };
        if self.schedule.is_between_blocks() {
            self.watch_if_due();
        }
        if let Some(session) = &mut self.session {
            session.read(ReadMode::Auto)?;
        }
        self.running = Some(Running { step, start: self.clock.ticks_ordered() });
        Ok(Some(step))
    }

    /// Ends the sample. It reads the clock first.
    ///
    /// Errors: `InvalidArgument` if no sample was started, `OutOfMemory`, and those of [`Session::read`].
    pub fn done(&mut self) -> Result<()> {
        let end = self.clock.ticks_ordered();
        self.is_simulated |= self.running.is_some() && valgrind::is_running();
        let start = self.running.map_or(end, |running| running.start);
        let picos = self.clock.convert(end.saturating_sub(start), TimeUnit::Picos);
        self.done_after(picos)
    }

    /// Ends a sample that the caller timed by other means, in picoseconds. Otherwise like [`Benchmark::done`].
    pub fn done_after(&mut self, picos: u64) -> Result<()> {
        let Some(Running { step, .. }) = self.running.take() else {
            return Err(ExplainedError::new(
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
        #[cfg(test)]
        if let Some(now) = &mut self.simulated {
            *now += picos;
        }
        match (self.schedule.phase(), step.side) {
            (Phase::WarmUp, _) => self.schedule.warmed(step.side, picos, &self.limits, self.is_spent()),
            (Phase::Empty | Phase::Measure, Side::Empty) => self.add_empty(picos)?,
            (Phase::Measure, _) => self.add_sample(step, picos)?,
            (Phase::Empty | Phase::End, _) => {}
        }
        Ok(())
    }

    /// Picoseconds since the benchmark was made.
    fn elapsed(&self) -> u64 {
        #[cfg(test)]
        if let Some(now) = self.simulated {
            return now;
        }
        self.clock.convert(self.clock.ticks().saturating_sub(self.began), TimeUnit::Picos)
    }

    /// Looks at the machine if that is due, and starts the next block.
    fn watch_if_due(&mut self) {
        if self.trace.is_due(self.elapsed()) {
            self.watch_machine();
        }
        self.block_began = self.elapsed();
    }

    /// Looks at the machine without allocating.
    fn watch_machine(&mut self) {
        let at = self.elapsed();
        let load = self.watch.measure(self.trace.is_frequency_due(at));
        let took = self.elapsed().saturating_sub(at);
        self.trace.add(at, load, took);
    }

    fn is_spent(&self) -> bool {
        self.elapsed() >= self.limits.budget
    }

    /// Handles an empty sample.
    fn add_empty(&mut self, picos: u64) -> Result<()> {
        self.overhead.add(self.schedule.side_of_empty(), picos as f64)?;
        let is_spent = self.is_spent();
        self.schedule.empty_taken(&self.limits, is_spent);
        if self.blocks[0].is_empty() {
            self.overhead.settle(self.schedule.repetitions());
        } else if is_spent {
            self.judge_last()?;
        }
        Ok(())
    }

    /// Handles a sample of a block.
    fn add_sample(&mut self, step: Sample, picos: u64) -> Result<()> {
        let at = self.schedule.taken();
        self.block[at] = (step.side as usize % 2, picos as f64 / step.repetitions as f64);
        if at + 1 == BLOCK {
            return self.end_block();
        }
        if self.is_spent() {
            if !self.blocks[0].is_empty() {
                // The rest of the block would exceed the budget.
                return self.judge_last();
            }
            if self.schedule.shorten() {
                self.overhead.shorten();
            }
        }
        Ok(())
    }

    /// Handles the last sample of a block.
    fn end_block(&mut self) -> Result<()> {
        let mut times = [0.0; 2];
        for (side, per_call) in self.block {
            // The overhead stays in: if it is equal on both sides, it cancels in the difference without an error.
            times[side] += per_call / 2.0;
            // Rounded half up; far below the largest value.
            let net = (per_call - self.overhead.per_call(side).0).max(0.0);
            self.histograms[side].record((net + 0.5) as u64);
        }
        for (blocks, time) in self.blocks.iter_mut().zip(times) {
            push(blocks, time)?;
        }
        let span = (self.block_began, self.elapsed());
        push(&mut self.spans, span)?;
        let length = self.blocks[0].len();
        if self.is_spent() || length >= self.limits.max_blocks {
            return self.judge_last();
        }
        if self.may_end_early() && self.judge_early()? {
            self.schedule.end();
        }
        Ok(())
    }

    fn judge_last(&mut self) -> Result<()> {
        self.judge(self.looks.last_confidence())?;
        self.schedule.end();
        Ok(())
    }

    /// Progress from 0 to 1, as a share of the budget or of the maximum number of blocks; 1 at the end.
    pub fn progress(&self) -> f64 {
        if self.schedule.phase() == Phase::End {
            return 1.0;
        }
        let of_time = self.elapsed() as f64 / self.limits.budget as f64;
        let of_blocks = self.blocks[0].len() as f64 / self.limits.max_blocks as f64;
        of_time.max(of_blocks).min(1.0)
    }

    /// Picoseconds per call, with one value for each sample. The caller gets a separate reference.
    pub fn histogram(&self, side: Side) -> Option<SingleWriterHistogram> {
        self.histograms.get(side as usize).map(|writer| writer.histogram().clone())
    }

    /// Times of the blocks in order of measurement: picoseconds per call of A and of B, including the cost of calling.
    pub fn blocks(&self) -> (&[f64], &[f64]) {
        (&self.blocks[0], &self.blocks[1])
    }

    /// Which of [`Benchmark::blocks`] were disturbed from outside: at the end for all, before that for those judged
    /// last.
    pub fn disturbed(&self) -> &[bool] {
        &self.disturbed
    }

    /// Whether the warm-up is over, so that samples of A and B belong to blocks.
    pub fn is_measuring(&self) -> bool {
        self.schedule.phase() == Phase::Measure
    }

    /// Confidence of the interval at the final look. All looks together have the requested confidence. Other statistics
    /// that are judged once, at the end, with this confidence share it.
    pub fn look_confidence(&self) -> f64 {
        self.look_confidence
    }

    fn snapshot(&self, side: Side) -> Result<Box<Snapshot>> {
        let histogram = self.histograms[side as usize % 2].histogram();
        let mut snapshot = Snapshot::boxed(*histogram.layout())?;
        histogram.update(&mut snapshot, picollo_core::Since::Reset)?;
        Ok(snapshot)
    }
}

/// Runs `a` and `b` until the difference is known well enough, or the time is up. The optimizer keeps their return
/// values, and so the calls. Other code that it may remove, such as a loop whose result nobody uses, should go through
/// [`core::hint::black_box`]. A closure that returns nothing and does nothing is reported to take no time
/// ([`BENCHMARK_NOTHING_A`]).
///
/// ```
/// use picollo_native::work;
/// use picollo_bench::{BenchmarkOptions, benchmark};
///
/// let options = BenchmarkOptions { budget_seconds: 0.2, ..BenchmarkOptions::default() };
/// let done = benchmark(&options, &[], || work::add_chain_256(10), || work::add_chain_256(20))?;
/// let mut text = String::new();
/// done.write_markdown(&mut text, "ps a call", "ten", "twenty").unwrap();
/// println!("{text}");
/// assert!(done.result()?.blocks.median_b > done.result()?.blocks.median_a);
/// # Ok::<(), picollo_native::ExplainedError>(())
/// ```
pub fn benchmark<A, B>(
    options: &BenchmarkOptions,
    events: &[Event],
    mut a: impl FnMut() -> A,
    mut b: impl FnMut() -> B,
) -> Result<Benchmark> {
    let mut benchmark = Benchmark::create(options, events)?;
    while let Some(Sample { side, repetitions }) = benchmark.next()? {
        match side {
            Side::A => repeat(repetitions, &mut a),
            Side::B => repeat(repetitions, &mut b),
            Side::Empty => repeat(repetitions, &mut || ()),
        }
        benchmark.done()?;
    }
    Ok(benchmark)
}

/// A separate, aligned function for each closure: the same loop elsewhere in memory may take a third longer.
#[inline(never)]
fn repeat<R>(repetitions: u64, call: &mut impl FnMut() -> R) {
    align();
    for _ in 0..repetitions {
        core::hint::black_box(call());
    }
}

/// Aligns the code that follows to 64 bytes.
#[inline(always)]
fn align() {
    #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
    // SAFETY: a directive that fills the gap before the next instruction with instructions that do nothing.
    unsafe {
        core::arch::asm!(".p2align 6", options(nomem, nostack, preserves_flags));
    }
}

/// The example of the package.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Package;

/// The examples of the manual's page on Rust.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/languages/rust.md")]
pub struct Manual;
