//! Decides which blocks were disturbed from outside, using only a trace of how busy the machine was.
//!
//! **The rule.** Each block has a window of at least a tenth of a second around it. The block is disturbed if more than
//! a twentieth of its window was taken by the host (steal) or by other programs while something had to wait for a CPU.
//! The latter is the smaller of others' CPU time and of the pressure. Neither alone takes anything: others may run on
//! idle CPUs, and threads of a program may wait for each other. If the pressure is unknown, others' CPU time counts as
//! far as it exceeds the idle time. Times in ticks may be a tick wrong at either end, so a tick is subtracted.
//!
//! **Why it favors neither side.** It looks only at a time, for whole blocks that contain both sides in one order and
//! its mirror image. It leaves out both sides of a block. So for equal programs, the differences are as often above
//! zero as below it, whatever is left out. The remaining disturbance affects a slower side for longer, in proportion,
//! which makes it no faster. `simulation.rs` tests this.
//!
//! The rule ignores how often the program itself was interrupted: the slower side is interrupted more often.

use super::result::BenchmarkNoise;
use crate::load::{Load, Watch};
use picollo_native::Result;
use picollo_native::seam::vectors::{push, with_room};
use picollo_native::{Clock, TimeUnit};

const SECOND: f64 = 1e12;
/// Minimum length of a window, in picoseconds: ten ticks of most kernels.
const WINDOW: u64 = 100_000_000_000;
/// Minimum interval between looks, in picoseconds: two ticks.
const EVERY: u64 = 20_000_000_000;
/// Looks take at most one part in this many of the time.
const SHARE: u64 = 50;
/// Minimum interval between looks at the frequency, in picoseconds: some kernels wait to measure it.
const EVERY_FREQUENCY: u64 = 500_000_000_000;
/// Maximum number of looks kept; a longer measurement is looked at less often.
const CAPACITY: usize = 2048;
/// Share of a window that may be taken without disturbing the block.
const THRESHOLD: f64 = 0.05;

/// State of the machine at one moment, in picoseconds since the benchmark was made.
#[derive(Clone, Copy)]
struct Moment {
    at: u64,
    load: Load,
}

/// All looks, in order.
pub(super) struct Trace {
    moments: Vec<Moment>,
    /// Minimum interval between looks.
    every: u64,
    /// Earliest time of the next look.
    next: u64,
    next_frequency: u64,
    /// Kernel tick in seconds.
    tick: f64,
    /// Lowest and highest frequency in hertz.
    frequency: Option<(u64, u64)>,
}

/// Events between two looks, in seconds. Fields with `of_` state for how long the others are known.
#[derive(Clone, Copy, Default)]
struct Took {
    /// For the CPU times of all programs and of this one.
    of_cpus: f64,
    busy: f64,
    idle: f64,
    own: f64,
    of_steal: f64,
    steal: f64,
    of_waiting: f64,
    waited: f64,
}

/// The difference of two counters if both are known and did not run backwards.
fn since(before: Option<u64>, after: Option<u64>) -> Option<f64> {
    Some(after?.checked_sub(before?)? as f64 / 1e9)
}

impl Took {
    fn add(&mut self, before: &Moment, after: &Moment) {
        let seconds = after.at.saturating_sub(before.at) as f64 / SECOND;
        if let Some(waited) = since(before.load.waited, after.load.waited) {
            self.of_waiting += seconds;
            // Nothing can wait for longer than the interval.
            self.waited += waited.min(seconds);
        }
        // Sums over different CPUs have no meaningful difference.
        let same =
            before.load.cpus.zip(after.load.cpus).filter(|(before, after)| before.which == after.which);
        let Some((cpus, now)) = same else { return };
        if let Some(steal) = since(cpus.steal, now.steal) {
            self.of_steal += seconds;
            self.steal += steal;
        }
        if let (Some(busy), Some(own)) =
            (since(Some(cpus.busy), Some(now.busy)), since(before.load.own, after.load.own))
        {
            self.of_cpus += seconds;
            self.busy += busy;
            self.own += own;
            // Some kernels let idle time run backwards.
            self.idle += now.idle.saturating_sub(cpus.idle) as f64 / 1e9;
        }
    }

    /// The share of the time that was taken; `None` if nothing is known.
    fn share(&self, tick: f64) -> Option<f64> {
        let rate = |amount: f64, of: f64| (of > 0.0).then(|| amount.max(0.0) / of);
        let steal = rate(self.steal - tick, self.of_steal);
        // Each CPU that this program ran on may be a tick wrong, and one more.
        let running = rate(self.own, self.of_cpus).unwrap_or(0.0).max(1.0) + 1.0;
        let others = self.busy - self.own - tick * running;
        let taken = match (rate(others, self.of_cpus), rate(self.waited, self.of_waiting)) {
            (Some(others), Some(waited)) => Some(others.min(waited)),
            (Some(_), None) => rate(others - self.idle, self.of_cpus),
            (None, _) => None,
        };
        match (steal, taken) {
            (None, None) => None,
            (steal, taken) => Some(steal.unwrap_or(0.0) + taken.unwrap_or(0.0)),
        }
    }
}

impl Trace {
    /// `tick`: the kernel's, in nanoseconds.
    pub(super) fn new(tick: u64) -> Result<Trace> {
        Ok(Trace {
            moments: with_room(CAPACITY)?,
            every: EVERY,
            next: 0,
            next_frequency: 0,
            tick: tick as f64 / 1e9,
            frequency: None,
        })
    }

    /// Whether a look is due.
    pub(super) fn is_due(&self, at: u64) -> bool {
        at >= self.next
    }

    pub(super) fn is_frequency_due(&self, at: u64) -> bool {
        at >= self.next_frequency
    }

    /// Adds a look and the time that it took. Allocates nothing.
    pub(super) fn add(&mut self, at: u64, load: Load, took: u64) {
        if self.moments.len() == CAPACITY {
            // Keeps every second look, so that the first and the new one remain.
            let mut number = 0;
            self.moments.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.every *= 2;
        }
        self.moments.push(Moment { at, load });
        self.next = at.saturating_add(self.every.max(took.saturating_mul(SHARE)));
        if self.is_frequency_due(at) {
            self.next_frequency = at.saturating_add(EVERY_FREQUENCY.max(took.saturating_mul(SHARE)));
        }
        if let Some(hertz) = load.hertz {
            let (low, high) = self.frequency.unwrap_or((hertz, hertz));
            self.frequency = Some((low.min(hertz), high.max(hertz)));
        }
    }

    fn took(&self, first: usize, last: usize) -> Took {
        let mut took = Took::default();
        for pair in self.moments[first..=last].windows(2) {
            took.add(&pair[0], &pair[1]);
        }
        took
    }

    /// The first and the last look of the window around `start` to `end`; `None` if there are not two.
    fn window(&self, start: u64, end: u64) -> Option<(usize, usize)> {
        let most = self.moments.len().checked_sub(1).filter(|&most| most > 0)?;
        let at = |look: usize| self.moments[look].at;
        let mut first = self.moments.partition_point(|moment| moment.at <= start).saturating_sub(1);
        let mut last = self.moments.partition_point(|moment| moment.at < end).min(most);
        while at(last) - at(first) < WINDOW && (first > 0 || last < most) {
            // Extends the side that covers less time.
            let (before, after) = (start.saturating_sub(at(first)), at(last).saturating_sub(end));
            if first > 0 && (before <= after || last == most) {
                first -= 1;
            } else {
                last += 1;
            }
        }
        (first < last).then_some((first, last))
    }

    /// Whether a block from `start` to `end` was disturbed. If nothing is known, it was not.
    pub(super) fn is_disturbed(&self, (start, end): (u64, u64)) -> bool {
        let share = self.window(start, end).and_then(|(first, last)| self.took(first, last).share(self.tick));
        share.is_some_and(|share| share > THRESHOLD)
    }

    /// The noise of the whole trace, without the numbers of blocks.
    pub(super) fn all(&self) -> BenchmarkNoise {
        let (Some(first), Some(last)) = (self.moments.first(), self.moments.last()) else {
            return BenchmarkNoise::default();
        };
        let took = self.took(0, self.moments.len() - 1);
        let known = |amount: f64, of: f64| if of > 0.0 { amount.max(0.0) } else { f64::NAN };
        let hertz = self.frequency.map_or((f64::NAN, f64::NAN), |(low, high)| (low as f64, high as f64));
        let seconds = (last.at - first.at) as f64 / SECOND;
        BenchmarkNoise {
            seconds,
            steal_seconds: known(took.steal, took.of_steal),
            others_seconds: known(took.busy - took.own, took.of_cpus),
            // Rounding may make the sum a little larger than the whole.
            pressure_seconds: known(took.waited.min(seconds), took.of_waiting),
            frequency_low: hertz.0,
            frequency_high: hertz.1,
            cpu_count: last.load.cpus.map_or(0, |cpus| cpus.count),
            ..BenchmarkNoise::default()
        }
    }
}

/// Watches runs of one program by the rule for blocks: see [`Benchmark::noise`](super::Benchmark::noise).
///
/// It leaves no run out: without a second program for comparison, that would favor short runs.
pub struct NoiseWatch {
    clock: Clock,
    made: u64,
    began: u64,
    pub(super) watch: Watch,
    pub(super) trace: Trace,
    runs: Vec<(u64, u64)>,
}

impl NoiseWatch {
    /// Watches the CPUs that the calling thread may run on. Errors: `OutOfMemory`.
    pub fn create() -> Result<NoiseWatch> {
        Clock::init();
        let (clock, watch) = (Clock::Tsc, Watch::machine()?);
        let (made, trace) = (clock.ticks(), Trace::new(watch.tick())?);
        let mut watch = NoiseWatch { clock, made, began: 0, watch, trace, runs: Vec::new() };
        watch.watch_machine();
        Ok(watch)
    }

    /// Marks the start of a run.
    pub fn begin(&mut self) {
        if self.trace.is_due(self.now()) {
            self.watch_machine();
        }
        self.began = self.now();
    }

    /// Marks the end of a run. Errors: `OutOfMemory`.
    pub fn end(&mut self) -> Result<()> {
        let run = (self.began, self.now());
        push(&mut self.runs, run)
    }

    /// Reports what else the machine did so far. The blocks are the runs.
    pub fn noise(&mut self) -> BenchmarkNoise {
        self.watch_machine();
        BenchmarkNoise {
            block_count: self.runs.len() as u64,
            disturbed_count: self.runs.iter().filter(|&&run| self.trace.is_disturbed(run)).count() as u64,
            ..self.trace.all()
        }
    }

    fn now(&self) -> u64 {
        self.clock.convert(self.clock.ticks().saturating_sub(self.made), TimeUnit::Picos)
    }

    fn watch_machine(&mut self) {
        let at = self.now();
        let load = self.watch.measure(self.trace.is_frequency_due(at));
        self.trace.add(at, load, self.now().saturating_sub(at));
    }
}
