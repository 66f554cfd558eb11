//! Benchmarks: which of two pieces of code is faster, judged by interleaved blocks.
//!
//! A and B are run in turns, in blocks of four samples, `A B B A` or `B A A B`, so that whatever changes slowly (the clock frequency,
//! other processes, the temperature) falls on both alike. Which of the two a block is, a coin decides: so of equal code the difference of a block
//! is as likely above zero as below, each time anew, whatever the machine does and however long that lasts. A block yields one pair of times, and the differences within
//! pairs are judged: [`picollo_core::compare_blocks_above`]. Before that both are warmed up, and the number of calls in a sample is
//! found so that the clock's resolution does not matter: the same for both unless they differ fourfold, so that what calling costs
//! is the same in both and goes out with the difference, without an error. Empty samples, before the first block and between blocks,
//! tell how much that is; it is subtracted from the times, but not from the differences.
//!
//! What the place of code in memory changes, about two cycles a call, is no property of the code. Differences below that are not
//! told ([`BenchmarkOptions::resolution_seconds`]).
//!
//! What others did to the machine meanwhile is watched between blocks. Blocks that were disturbed are left out, both sides of them,
//! by a rule that looks at the time alone and not at what was measured (`noise.rs`). Where more than half were, all of them count: A and B
//! took turns, so that the disturbance is in both, and the interval is as wide as it makes it. Where that interval says nothing, the
//! verdict is *unproven: noisy* ([`COMPARISON_NOISY`]). [`Benchmark::noise`] tells what disturbed.
//!
//! It ends when the answer can no longer change, or when the budget is spent (`judge.rs`).
//!
//! [`Benchmark`] is a stepper: it says what to run next, and is told when that is done. So it works in every language, without
//! callbacks. [`benchmark`] runs two closures with it.

mod figures;
mod judge;
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
pub use options::{BENCHMARK_KEEP_DISTURBED, BENCHMARK_NO_OVERHEAD, BenchmarkOptions};
pub use result::{
    BENCHMARK_BUDGET_SPENT, BENCHMARK_NOTHING_A, BENCHMARK_NOTHING_B, BENCHMARK_SIMULATED, BenchmarkCounter,
    BenchmarkNoise, BenchmarkResult, Side, Step,
};

#[cfg(doc)]
use picollo_core::COMPARISON_NOISY;
use picollo_core::{BlockComparison, SharedWriter, SingleWriterHistogram, Snapshot};

use self::judge::Looks;
use self::noise::Trace;
use self::options::Limits;
use self::overhead::Overhead;
use self::report::Totals;
use self::schedule::{BLOCK, Phase, Schedule};
use crate::base::error::{Error, Result, Status};
use crate::base::vectors::{push, with_room};
use crate::clock::{Clock, Unit};
use crate::event::event::Event;
use crate::machine::load::Watch;
use crate::os::valgrind;
use crate::session::options::{ReadMode, SESSION_SKIP_UNAVAILABLE, SessionOptions};
use crate::session::reading::Reading;
use crate::session::session::Session;

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
    histograms: [SharedWriter; 2],
    /// The samples of the block that is being taken: picoseconds a call, with the overhead.
    block: [(usize, f64); BLOCK],
    /// Picoseconds a call, with the overhead.
    blocks: [Vec<f64>; 2],
    /// When each began and ended: picoseconds since the benchmark was made.
    spans: Vec<(u64, u64)>,
    /// Those that were disturbed, of the blocks that were judged last.
    disturbed: Vec<bool>,
    block_began: u64,
    watch: Watch,
    trace: Trace,
    scratch: Vec<f64>,
    overhead: Overhead,
    looks: Looks,
    /// The confidence of the look that judged.
    look_confidence: f64,
    judged: BlockComparison,
    /// How many blocks there were then.
    judged_of: usize,
    /// Valgrind executed a sample that the clock timed, whose time says nothing.
    is_simulated: bool,
    /// What the clock says, in tests that make up its time.
    #[cfg(test)]
    simulated: Option<u64>,
}

/// Blocks for which there is room from the start.
const ROOM: usize = 1024;

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
        let looks = Looks::new(limits.confidence, limits.precision, limits.min_blocks);
        let create = || SingleWriterHistogram::create(&picollo_core::Options::default())?.writer();
        #[cfg(not(test))]
        let watch = Watch::machine()?;
        // Tests plant what they want to see: this machine may be busy.
        #[cfg(test)]
        let watch = Watch::unknown();
        // In tests the same each time.
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
            look_confidence: looks.of_last(),
            judged: BlockComparison::default(),
            judged_of: 0,
            is_simulated: false,
            limits,
            #[cfg(test)]
            simulated: None,
        };
        benchmark.began = benchmark.clock.ticks();
        benchmark.look();
        Ok(benchmark)
    }

    /// What to run now; `None` at the end. The clock is read last, so that the sample begins when this returns.
    ///
    /// A sample that was begun and is not done is forgotten.
    #[allow(clippy::should_implement_trait, reason = "it can fail")]
    pub fn next(&mut self) -> Result<Option<Step>> {
        self.running = None;
        let Some(step) = self.schedule.step(&self.limits) else { return Ok(None) };
        if self.schedule.is_between_blocks() {
            self.look_around();
        }
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
        self.is_simulated |= self.running.is_some() && valgrind::is_running();
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
        #[cfg(test)]
        if let Some(now) = &mut self.simulated {
            *now += picos;
        }
        match (self.schedule.phase(), step.side) {
            (Phase::WarmUp, _) => self.schedule.warmed(step.side, picos, &self.limits, self.is_spent()),
            (Phase::Empty | Phase::Measure, Side::Empty) => self.took_nothing(picos)?,
            (Phase::Measure, _) => self.took(step, picos)?,
            (Phase::Empty | Phase::End, _) => {}
        }
        Ok(())
    }

    /// Picoseconds since it began.
    fn elapsed(&self) -> u64 {
        #[cfg(test)]
        if let Some(now) = self.simulated {
            return now;
        }
        self.clock.convert(self.clock.ticks().saturating_sub(self.began), Unit::Picos)
    }

    /// Between blocks: a look at the machine where it is time, and the beginning of the next block.
    fn look_around(&mut self) {
        if self.trace.is_due(self.elapsed()) {
            self.look();
        }
        self.block_began = self.elapsed();
    }

    /// A look at the machine. Allocates nothing.
    fn look(&mut self) {
        let at = self.elapsed();
        let load = self.watch.look(self.trace.is_frequency_due(at));
        let took = self.elapsed().saturating_sub(at);
        self.trace.add(at, load, took);
    }

    fn is_spent(&self) -> bool {
        self.elapsed() >= self.limits.budget
    }

    /// An empty sample.
    fn took_nothing(&mut self, picos: u64) -> Result<()> {
        self.overhead.add(self.schedule.empty_of(), picos as f64)?;
        let is_spent = self.is_spent();
        self.schedule.empty_taken(&self.limits, is_spent);
        if self.blocks[0].is_empty() {
            self.overhead.settle(self.schedule.repetitions());
        } else if is_spent {
            self.judge_last()?;
        }
        Ok(())
    }

    /// A sample that counts.
    fn took(&mut self, step: Step, picos: u64) -> Result<()> {
        let at = self.schedule.taken();
        self.block[at] = (step.side as usize % 2, picos as f64 / step.repetitions as f64);
        if at + 1 == BLOCK {
            return self.took_block();
        }
        if self.is_spent() {
            if !self.blocks[0].is_empty() {
                // What is left of the block would be over the budget.
                return self.judge_last();
            }
            if self.schedule.shorten() {
                self.overhead.shorten();
            }
        }
        Ok(())
    }

    /// The last sample of a block.
    fn took_block(&mut self) -> Result<()> {
        let mut times = [0.0; 2];
        for (side, per_call) in self.block {
            // With the overhead in it: the same on both sides goes out with the difference, and without an error.
            times[side] += per_call / 2.0;
            // Half up; far below the largest.
            let net = (per_call - self.overhead.of_call(side).0).max(0.0);
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
        if self.may_look() && self.look_at_blocks()? {
            self.schedule.end();
        }
        Ok(())
    }

    fn judge_last(&mut self) -> Result<()> {
        self.judge(self.looks.of_last())?;
        self.schedule.end();
        Ok(())
    }

    /// How far it is, 0 to 1: the part of the budget that is spent, or of the most blocks; 1 at the end.
    pub fn progress(&self) -> f64 {
        if self.schedule.phase() == Phase::End {
            return 1.0;
        }
        let of_time = self.elapsed() as f64 / self.limits.budget as f64;
        let of_blocks = self.blocks[0].len() as f64 / self.limits.max_blocks as f64;
        of_time.max(of_blocks).min(1.0)
    }

    /// The picoseconds that a call took, an observation for each sample. A reference of its own.
    pub fn histogram(&self, side: Side) -> Option<SingleWriterHistogram> {
        self.histograms.get(side as usize).map(|writer| writer.histogram().clone())
    }

    /// The times of the blocks, in the order in which they were measured: picoseconds a call, of A and of B, with what calling
    /// costs in them.
    pub fn blocks(&self) -> (&[f64], &[f64]) {
        (&self.blocks[0], &self.blocks[1])
    }

    /// Which of [`Benchmark::blocks`] were disturbed from outside: at the end of all of them, before it of those that were looked at.
    pub fn disturbed(&self) -> &[bool] {
        &self.disturbed
    }

    /// Whether samples of A and B belong to blocks by now, and no longer to the warm-up.
    pub fn is_measuring(&self) -> bool {
        self.schedule.phase() == Phase::Measure
    }

    /// The confidence of the interval at the look that ended it. All looks together have the confidence that was asked for, and so
    /// has whatever else is judged once, at the end, with this one.
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

/// Runs `a` and `b` until the difference is known well enough, or the time is up. What they return is kept from the optimiser, so
/// that a call whose result is returned is not left out; what else the compiler may leave out, such as a loop whose result nobody
/// sees, should go through [`core::hint::black_box`]. A closure that returns nothing and does nothing is told to take nothing
/// ([`BENCHMARK_NOTHING_A`]).
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
pub fn benchmark<A, B>(
    options: &BenchmarkOptions,
    events: &[Event],
    mut a: impl FnMut() -> A,
    mut b: impl FnMut() -> B,
) -> Result<Benchmark> {
    let mut benchmark = Benchmark::create(options, events)?;
    while let Some(Step { side, repetitions }) = benchmark.next()? {
        match side {
            Side::A => repeat(repetitions, &mut a),
            Side::B => repeat(repetitions, &mut b),
            Side::Empty => repeat(repetitions, &mut || ()),
        }
        benchmark.done()?;
    }
    Ok(benchmark)
}

/// A function of its own for each closure, and aligned: the same loop elsewhere in memory may take a third longer.
#[inline(never)]
fn repeat<R>(repetitions: u64, call: &mut impl FnMut() -> R) {
    align();
    for _ in 0..repetitions {
        core::hint::black_box(call());
    }
}

/// What follows begins at a multiple of 64 bytes.
#[inline(always)]
fn align() {
    #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
    // SAFETY: a directive that fills the gap before what follows with instructions that do nothing.
    unsafe {
        core::arch::asm!(".p2align 6", options(nomem, nostack, preserves_flags));
    }
}
