//! Which blocks count: not those that were disturbed from outside. From a trace of what the machine was busy with, and from nothing
//! else.
//!
//! **The rule.** Around each block lies a window of a tenth of a second or more. The block is disturbed where more than a twentieth of
//! its window was taken: by the host (steal), or by other programs while something had to wait for a CPU (the smaller of their CPU
//! time and of the pressure, as neither alone takes anything: others may run where nobody else would, and a program may wait for
//! itself). Where the pressure is not known, others' CPU time counts as far as it is more than was left idle. Times in ticks may be a
//! tick wrong at either end, and count from there on.
//!
//! **Why it favours neither side.** It looks at a time, and in that at a whole block, which has both sides in it in an order and its
//! mirror. What is left out is both sides of a block. So of equal programs the differences are as often above zero as below it, whatever
//! is left out; and what is left of the disturbance falls on a slower side for longer, in proportion, which makes it no faster.
//! `simulation.rs` tries that.
//!
//! How often the program itself was interrupted is not looked at: the slower side has more of that.

use super::result::BenchmarkNoise;
use crate::base::error::Result;
use crate::base::vectors::{push, with_room};
use crate::clock::{Clock, Unit};
use crate::machine::load::{Load, Watch};

const SECOND: f64 = 1e12;
/// A window is at least so long, in picoseconds: ten ticks of most kernels.
const WINDOW: u64 = 100_000_000_000;
/// From one look to the next at least, in picoseconds: two ticks.
const EVERY: u64 = 20_000_000_000;
/// Looks take at most one part in so many of the time.
const SHARE: u64 = 50;
/// From one look at the frequency to the next: some kernels wait to measure it.
const EVERY_FREQUENCY: u64 = 500_000_000_000;
/// Looks that are kept; what goes on for longer is looked at less often.
const CAPACITY: usize = 2048;
/// So much of a window may be taken.
const THRESHOLD: f64 = 0.05;

/// How the machine was at one moment, in picoseconds since the benchmark was made.
#[derive(Clone, Copy)]
struct Moment {
    at: u64,
    load: Load,
}

/// All looks, in order.
pub(super) struct Trace {
    moments: Vec<Moment>,
    /// From one look to the next, at least.
    every: u64,
    /// No look before this.
    next: u64,
    next_frequency: u64,
    /// Of the kernel: seconds.
    tick: f64,
    /// Hertz, the lowest and the highest.
    frequency: Option<(u64, u64)>,
}

/// What happened between two looks, in seconds, and of how long that is known.
#[derive(Clone, Copy, Default)]
struct Took {
    /// The CPU times of all and of this program.
    of_cpus: f64,
    busy: f64,
    idle: f64,
    own: f64,
    of_steal: f64,
    steal: f64,
    of_waiting: f64,
    waited: f64,
}

/// A difference of two counters that both are known and do not run backwards.
fn since(before: Option<u64>, after: Option<u64>) -> Option<f64> {
    Some(after?.checked_sub(before?)? as f64 / 1e9)
}

impl Took {
    fn add(&mut self, before: &Moment, after: &Moment) {
        let seconds = after.at.saturating_sub(before.at) as f64 / SECOND;
        if let Some(waited) = since(before.load.waited, after.load.waited) {
            self.of_waiting += seconds;
            // Nothing waits for longer than there is.
            self.waited += waited.min(seconds);
        }
        // Sums over other CPUs have no difference.
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
            // Kernels are known to let it run backwards.
            self.idle += now.idle.saturating_sub(cpus.idle) as f64 / 1e9;
        }
    }

    /// How much was taken, as a share of the time; `None` where nothing is known of that.
    fn share(&self, tick: f64) -> Option<f64> {
        let rate = |amount: f64, of: f64| (of > 0.0).then(|| amount.max(0.0) / of);
        let steal = rate(self.steal - tick, self.of_steal);
        // As many CPUs may be a tick wrong as this program was on, and one more.
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
    /// `tick`: of the kernel, in nanoseconds.
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

    /// Whether it is time for a look.
    pub(super) fn is_due(&self, at: u64) -> bool {
        at >= self.next
    }

    pub(super) fn is_frequency_due(&self, at: u64) -> bool {
        at >= self.next_frequency
    }

    /// A look, which took so long. Allocates nothing.
    pub(super) fn add(&mut self, at: u64, load: Load, took: u64) {
        if self.moments.len() == CAPACITY {
            // Each second one, the first and what is to come among them.
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

    /// The first and the last look of the window around what lasted from `start` to `end`; `None` where there are not two.
    fn window(&self, start: u64, end: u64) -> Option<(usize, usize)> {
        let most = self.moments.len().checked_sub(1).filter(|&most| most > 0)?;
        let at = |look: usize| self.moments[look].at;
        let mut first = self.moments.partition_point(|moment| moment.at <= start).saturating_sub(1);
        let mut last = self.moments.partition_point(|moment| moment.at < end).min(most);
        while at(last) - at(first) < WINDOW && (first > 0 || last < most) {
            // On the side on which less has been looked at.
            let (before, after) = (start.saturating_sub(at(first)), at(last).saturating_sub(end));
            if first > 0 && (before <= after || last == most) {
                first -= 1;
            } else {
                last += 1;
            }
        }
        (first < last).then_some((first, last))
    }

    /// Whether a block that lasted from `start` to `end` was disturbed. What nothing is known of was not.
    pub(super) fn is_disturbed(&self, (start, end): (u64, u64)) -> bool {
        let share = self.window(start, end).and_then(|(first, last)| self.took(first, last).share(self.tick));
        share.is_some_and(|share| share > THRESHOLD)
    }

    /// All of it: everything but the numbers of blocks.
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
            // Sums of all of it differ in their last digits.
            pressure_seconds: known(took.waited.min(seconds), took.of_waiting),
            frequency_low: hertz.0,
            frequency_high: hertz.1,
            cpu_count: last.load.cpus.map_or(0, |cpus| cpus.count),
            ..BenchmarkNoise::default()
        }
    }
}

/// Watches runs of one thing, by the rule for blocks of a benchmark: see [`Benchmark::noise`](super::Benchmark::noise).
///
/// It leaves nothing out: of one thing alone, without another beside it, that would favour runs that are short.
pub struct NoiseWatch {
    clock: Clock,
    made: u64,
    began: u64,
    watch: Watch,
    trace: Trace,
    runs: Vec<(u64, u64)>,
}

impl NoiseWatch {
    /// Of the CPUs that the calling thread may run on. Errors: `OutOfMemory`.
    pub fn create() -> Result<NoiseWatch> {
        Clock::init();
        let (clock, watch) = (Clock::Tsc, Watch::machine()?);
        let (made, trace) = (clock.ticks(), Trace::new(watch.tick())?);
        let mut watch = NoiseWatch { clock, made, began: 0, watch, trace, runs: Vec::new() };
        watch.look();
        Ok(watch)
    }

    /// A run begins.
    pub fn begin(&mut self) {
        if self.trace.is_due(self.now()) {
            self.look();
        }
        self.began = self.now();
    }

    /// The run ends. Errors: `OutOfMemory`.
    pub fn end(&mut self) -> Result<()> {
        let run = (self.began, self.now());
        push(&mut self.runs, run)
    }

    /// What else the machine did so far. The blocks are the runs.
    pub fn noise(&mut self) -> BenchmarkNoise {
        self.look();
        BenchmarkNoise {
            block_count: self.runs.len() as u64,
            disturbed_count: self.runs.iter().filter(|&&run| self.trace.is_disturbed(run)).count() as u64,
            ..self.trace.all()
        }
    }

    fn now(&self) -> u64 {
        self.clock.convert(self.clock.ticks().saturating_sub(self.made), Unit::Picos)
    }

    fn look(&mut self) {
        let at = self.now();
        let load = self.watch.look(self.trace.is_frequency_due(at));
        self.trace.add(at, load, self.now().saturating_sub(at));
    }
}
