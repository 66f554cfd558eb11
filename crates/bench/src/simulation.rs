//! Measures how often a benchmark is wrong by simulating programs for which the truth is known. Two programs with
//! made-up times run on one of two CPUs, with neighbors and a host. The clock and `/proc` are simulated accordingly.
//! The order, the interval, the rule for ending and the verdict are those of [`Benchmark`].
//!
//! `PICOLLO_SIMULATED=4000 cargo test --release -p picollo-native --lib simulation -- --nocapture` prints the tables of
//! docs/is-it-faster.md.

use std::sync::{Arc, Mutex};

use super::*;
use crate::load::{CpuSet, File, Source, Watch};
use picollo_stats::{COMPARISON_NOISY, CompareOptions, Verdict, compare_blocks};

const MILLI: f64 = 1e9;
const TICK: f64 = 10.0 * MILLI;

/// A random generator.
pub(super) struct Random(pub u64);

impl Random {
    /// Above 0, and below 1.
    pub(super) fn next(&mut self) -> f64 {
        ((schedule::next_random(&mut self.0) >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.next().ln()).sqrt() * (core::f64::consts::TAU * self.next()).cos()
    }

    /// Exponentially distributed with this mean.
    fn wait(&mut self, mean: f64) -> f64 {
        -mean * self.next().ln()
    }
}

/// Noise of a sample's time, as a factor.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Noise {
    /// Normal, by 2 %.
    Quiet,
    /// Log-normal, by 5 %.
    LogNormal,
    /// By 1 %, and each tenth sample is up to many times as long: Pareto's distribution without a variance.
    HeavyTail,
    /// By 1 %, plus an autoregressive 5 % that lasts for about 20 samples.
    Wanders,
    /// By 0.5 %, with a clock that ticks every hundredth of a millisecond: most differences are the same.
    Ticks,
    /// Alternates randomly between two times that differ by 1 %.
    TwoStates,
    /// By 1 %, and each eighth sample takes half as long again: a fixed order of eight would put it on one side.
    EachEighth,
}

const NOISES: [Noise; 7] = [
    Noise::Quiet,
    Noise::LogNormal,
    Noise::HeavyTail,
    Noise::Wanders,
    Noise::Ticks,
    Noise::TwoStates,
    Noise::EachEighth,
];

/// Other load on the machine, on and off for exponential times with these means in milliseconds. While it is on, the
/// program runs and waits alternately for about four milliseconds.
#[derive(Clone, Copy, Debug)]
struct Others {
    name: &'static str,
    on: f64,
    off: f64,
    /// The load is the host; otherwise two neighbors, one for each CPU.
    is_steal: bool,
    /// Whether the kernel reports the pressure.
    has_pressure: bool,
}

const fn others(name: &'static str, on: f64, off: f64, is_steal: bool) -> Others {
    Others { name, on, off, is_steal, has_pressure: true }
}

const NOBODY: Others = others("nothing", 0.001, 1e9, false);
const ALWAYS: Others = others("neighbours, always", 1e9, 0.001, false);
const OTHERS: [Others; 7] = [
    NOBODY,
    others("neighbours, 0.3 s of each 1.3", 300.0, 1000.0, false),
    others("neighbours, 50 ms of each 550", 50.0, 500.0, false),
    others("neighbours, 5 ms of each 55", 5.0, 50.0, false),
    ALWAYS,
    others("steal, 50 ms of each 550", 50.0, 500.0, true),
    others("steal, 0.5 s of each 1", 500.0, 500.0, true),
];

/// The machine at some moment. Times are in picoseconds.
struct World {
    random: Random,
    noise: Noise,
    others: Others,
    samples: u64,
    wandered: f64,
    now: f64,
    is_on: bool,
    toggles: f64,
    /// While the others are on: whether it is the program's turn, and until when.
    is_ours: bool,
    turns: f64,
    own: f64,
    /// Ticks of each CPU: whoever runs at a tick is charged for all of it.
    busy: [u64; 2],
    idle: [u64; 2],
    stolen: f64,
    waited: f64,
}

impl World {
    fn new(seed: u64, noise: Noise, others: Others) -> World {
        let mut random = Random(seed ^ 0x5DEE_CE66_0000);
        let is_on = random.next() < others.on / (others.on + others.off);
        let now = TICK * random.next();
        let (samples, wandered) = ((8.0 * random.next()) as u64, random.normal());
        World {
            random,
            noise,
            others,
            samples,
            wandered,
            now,
            is_on: !is_on,
            toggles: now,
            is_ours: true,
            turns: 0.0,
            own: 5.0 * MILLI,
            busy: [100; 2],
            idle: [100; 2],
            stolen: 0.0,
            waited: 0.0,
        }
    }

    /// CPU time of a sample that should take `time`.
    fn sample(&mut self, time: f64) -> f64 {
        let World { random, wandered, .. } = self;
        self.samples += 1;
        match self.noise {
            Noise::Quiet => time * (1.0 + 0.02 * random.normal()),
            Noise::LogNormal => time * (0.05 * random.normal()).exp(),
            Noise::HeavyTail => {
                let more = if random.next() < 0.1 { 0.02 * random.next().powf(-1.0 / 1.5) } else { 0.0 };
                time * (1.0 + 0.01 * random.normal() + more)
            }
            Noise::Wanders => {
                *wandered = 0.95 * *wandered + (1.0f64 - 0.95 * 0.95).sqrt() * random.normal();
                time * (0.01 * random.normal() + 0.05 * *wandered).exp()
            }
            Noise::Ticks => {
                let tick = MILLI / 100.0;
                (time * (1.0 + 0.005 * random.normal()) / tick + random.next()).floor() * tick
            }
            Noise::TwoStates => time * if random.next() < 0.5 { 1.0 } else { 1.01 },
            Noise::EachEighth => {
                time * (1.0 + 0.01 * random.normal()) * if self.samples % 8 == 3 { 1.5 } else { 1.0 }
            }
        }
    }

    /// Runs the program until this much work is done. Returns how long that took.
    fn run(&mut self, mut work: f64) -> f64 {
        let began = self.now;
        while work > 0.0 {
            if self.now >= self.toggles {
                self.is_on = !self.is_on;
                let mean = if self.is_on { self.others.on } else { self.others.off };
                self.toggles = self.now + self.random.wait(mean * MILLI);
            }
            if self.now >= self.turns {
                self.is_ours = !self.is_ours;
                self.turns = self.now + (3.0 + 2.0 * self.random.next()) * MILLI;
            }
            let runs = !self.is_on || self.is_ours;
            // Turns do not matter to a program that runs alone.
            let mut until = if self.is_on { self.toggles.min(self.turns) } else { self.toggles };
            if runs {
                until = until.min(self.now + work);
            }
            let step = until - self.now;
            let ticks = (until / TICK).floor() as u64 - (self.now / TICK).floor() as u64;
            let has_neighbours = self.is_on && !self.others.is_steal;
            if runs {
                self.own += step;
                work -= step;
                // A rounding error must not cost another round.
                work = if work < 1e-3 { 0.0 } else { work };
            } else if self.others.is_steal {
                self.stolen += step;
            }
            self.waited += if has_neighbours { step } else { 0.0 };
            if runs || has_neighbours {
                self.busy[0] += ticks;
            }
            (if has_neighbours { &mut self.busy } else { &mut self.idle })[1] += ticks;
            self.now = until;
        }
        self.now - began
    }
}

struct Planted(Arc<Mutex<World>>);

impl Source for Planted {
    fn read(&mut self, file: File, buffer: &mut [u8]) -> Option<usize> {
        let world = self.0.lock().unwrap();
        let text = match file {
            File::Stat => {
                let mut text = String::from("cpu  1 2 3 4 5 6 7 8 0 0\n");
                for cpu in 0..2 {
                    let stolen = if cpu == 0 { (world.stolen / TICK) as u64 } else { 3 };
                    text +=
                        &format!("cpu{cpu} {} 0 7 {} 0 1 1 {stolen} 0 0\n", world.busy[cpu], world.idle[cpu]);
                }
                text + "intr 5 0 0\n"
            }
            File::Pressure if !world.others.has_pressure => return None,
            File::Pressure => {
                format!("some avg10=0.00 avg60=0.00 avg300=0.00 total={}\n", (world.waited / 1e6) as u64)
            }
            File::Frequency => return None,
        };
        buffer[..text.len()].copy_from_slice(text.as_bytes());
        Some(text.len())
    }

    fn own(&mut self) -> Option<u64> {
        Some((self.0.lock().unwrap().own / 1e3) as u64)
    }

    fn allowed(&self) -> CpuSet {
        CpuSet::ALL
    }

    fn tick(&self) -> u64 {
        10_000_000
    }
}

/// A simulation: a call of A takes `call`, and one of B `factor` times that.
#[derive(Clone, Copy, Debug)]
struct Setting {
    noise: Noise,
    others: Others,
    call: f64,
    factor: f64,
    options: BenchmarkOptions,
}

impl Setting {
    fn run(&self, seed: u64) -> Benchmark {
        let world = Arc::new(Mutex::new(World::new(seed, self.noise, self.others)));
        let mut benchmark = Benchmark::create(&self.options, &[]).unwrap();
        benchmark.simulated = Some(0);
        benchmark.schedule = Schedule::new(
            benchmark.limits.repetitions,
            benchmark.limits.empty_samples != 0,
            seed.wrapping_mul(0x1234_5678_9ABC_DEF1),
        );
        benchmark.watch = Watch::planted(Planted(world.clone()));
        benchmark.trace = Trace::new(benchmark.watch.tick()).unwrap();
        benchmark.watch_machine();
        // The cost of calling code; for programs there are no empty samples.
        let calling = if benchmark.limits.empty_samples == 0 { 0.0 } else { 2_000.0 };
        while let Some(Sample { side, repetitions }) = benchmark.next().unwrap() {
            let call = [self.call, self.call * self.factor, 0.0][side as usize] + calling;
            let mut world = world.lock().unwrap();
            let work = world.sample(call * repetitions as f64);
            let took = world.run(work);
            drop(world);
            benchmark.done_after(took as u64).unwrap();
        }
        benchmark
    }

    fn all(&self, runs: u64) -> Tally {
        let mut tally = Tally { runs, ..Tally::default() };
        for seed in 0..runs {
            let benchmark = self.run(seed);
            let (result, noise) = (benchmark.result().unwrap(), benchmark.noise().unwrap());
            let blocks = &result.blocks;
            let truth = blocks.median_a * (self.factor - 1.0);
            tally.missed += u64::from(truth < blocks.difference_lower || blocks.difference_upper < truth);
            tally.faster += u64::from(blocks.verdict() == Verdict::Faster);
            tally.slower += u64::from(blocks.verdict() == Verdict::Slower);
            let is_noisy = blocks.flags & COMPARISON_NOISY != 0;
            tally.noisy += u64::from(is_noisy);
            tally.blocks += noise.block_count;
            tally.disturbed += noise.disturbed_count;
            tally.left_out += noise.left_out_count;
            tally.millis += result.elapsed / MILLI as u64;
            // The text, the numbers and the verdict must agree.
            assert_eq!(noise.left_out_count + blocks.block_count, noise.block_count);
            assert!(!is_noisy || (blocks.verdict == 0 && noise.disturbed_count > 0));
            assert!(noise.left_out_count == 0 || noise.left_out_count == noise.disturbed_count);
        }
        tally
    }
}

/// Totals of all runs: how often the interval missed the truth, which verdicts there were, the blocks and the time.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
struct Tally {
    runs: u64,
    missed: u64,
    faster: u64,
    slower: u64,
    noisy: u64,
    blocks: u64,
    disturbed: u64,
    left_out: u64,
    millis: u64,
}

impl Tally {
    fn share(&self, count: u64) -> f64 {
        count as f64 / self.runs as f64
    }

    fn wrong(&self) -> u64 {
        self.faster + self.slower
    }

    fn row(&self, name: &str) -> String {
        let per_cent = |count| 100.0 * self.share(count);
        format!(
            "| {name} | {:.2} % | {:.2} % | {:.2} % | {:.0} | {:.2} s | {:.0} % |\n",
            per_cent(self.missed),
            per_cent(self.faster),
            per_cent(self.slower),
            self.share(self.blocks),
            self.share(self.millis) / 1e3,
            100.0 * self.left_out as f64 / self.blocks as f64,
        )
    }
}

fn runs() -> u64 {
    std::env::var("PICOLLO_SIMULATED").ok().and_then(|runs| runs.parse().ok()).unwrap_or(300)
}

/// The largest number of runs expected if this share is the truth: four standard deviations above the mean.
fn at_most(runs: u64, share: f64) -> u64 {
    let mean = runs as f64 * share;
    (mean + 4.0 * (mean * (1.0 - share)).sqrt()) as u64
}

/// Options for two programs, with the defaults of `picollo compare` and this budget in seconds.
fn programs(budget_seconds: f64) -> BenchmarkOptions {
    BenchmarkOptions {
        no_overhead: true,
        repetitions: 1,
        min_blocks: 10,
        budget_seconds,
        warm_up_seconds: 1e-9,
        resolution_seconds: 2e-5,
        confidence: 0.99,
        ..BenchmarkOptions::default()
    }
}

/// Options for two pieces of code, with the defaults.
fn code(budget_seconds: f64) -> BenchmarkOptions {
    BenchmarkOptions { budget_seconds, ..BenchmarkOptions::default() }
}

/// Options without a margin and a resolution, at 95 %: any interval that misses the truth is a wrong verdict.
fn bare(options: BenchmarkOptions) -> BenchmarkOptions {
    BenchmarkOptions { relative_threshold: -1.0, resolution_seconds: -1.0, confidence: 0.95, ..options }
}

/// Programs of 1 ms, with a budget of half a second.
fn short(noise: Noise, factor: f64, precision: f64) -> Setting {
    let options = BenchmarkOptions { precision, ..bare(programs(0.5)) };
    Setting { noise, others: NOBODY, call: MILLI, factor, options }
}

/// Equal programs without a margin differ at most as often as stated, however the benchmark ends: by finding something,
/// by its precision, or with the budget.
#[test]
fn equals_differ_as_often_as_stated() {
    let (mut table, runs) = (String::from("\n"), runs());
    for noise in NOISES {
        for precision in [0.0, 0.005, -1.0] {
            let tally = short(noise, 1.0, precision).all(runs);
            table += &tally.row(&format!("{noise:?}, precision {precision}"));
            assert!(tally.wrong() <= at_most(runs, 0.05), "{noise:?} {precision}: {tally:?}\n{table}");
            // If most differences are zero, faster and slower must be about equally frequent.
            assert!(tally.faster.abs_diff(tally.slower) <= 4 * (tally.wrong().max(4)).isqrt(), "{tally:?}");
        }
    }
    println!("{table}");
}

/// The interval contains the ratio of B to A as often as stated, even though the benchmark ends once that looks clear.
#[test]
fn intervals_hold_the_truth_as_often_as_stated() {
    let (mut table, runs) = (String::from("\n"), runs());
    for noise in &NOISES[..4] {
        for (factor, precision) in [(1.01, 0.0), (1.05, 0.0), (3.0, 0.0), (3.0, 0.01)] {
            let tally = short(*noise, factor, precision).all(runs);
            table += &tally.row(&format!("{noise:?}, {factor} times, precision {precision}"));
            assert!(tally.missed <= at_most(runs, 0.05), "{noise:?} {factor}: {tally:?}\n{table}");
        }
    }
    println!("{table}");
}

/// With the usual margin of 1 %, programs that are equal or differ by the margin are hardly ever distinguished. Larger
/// differences are found, never in the wrong direction. Large ones take no time, and small ones get the whole budget.
#[test]
fn differences_are_found() {
    let (mut table, runs) = (String::from("\n"), (runs() / 6).max(20));
    for noise in &NOISES[..4] {
        for (form, options, call, stated, seconds) in [
            ("programs of 20 ms", programs(8.0), 20.0 * MILLI, 0.01, 8.1),
            ("programs of 2 ms", programs(4.0), 2.0 * MILLI, 0.01, 4.1),
            ("code of 1 µs", code(2.0), 1e6, 0.05, 2.1),
        ] {
            for factor in [1.0, 1.01, 1.03, 2.6] {
                let tally = Setting { noise: *noise, others: NOBODY, call, factor, options }.all(runs);
                table += &tally.row(&format!("{form}, {noise:?}, {factor} times"));
                assert!(tally.millis as f64 <= seconds * 1e3 * runs as f64, "{form} {factor}: {tally:?}");
                if factor < 1.02 {
                    assert!(tally.wrong() <= at_most(runs, stated), "{form} {factor}: {tally:?}\n{table}");
                    continue;
                }
                assert_eq!(tally.faster, 0, "{form} {factor}: {tally:?}\n{table}");
                // With this much noise, 8 s hold too few runs of 20 ms to distinguish 3 % from a margin of 1 %.
                let is_hard = factor < 2.0 && call > MILLI * 10.0 && *noise == Noise::LogNormal;
                assert!(is_hard || tally.slower * 100 >= 95 * runs, "{form} {factor}: {tally:?}\n{table}");
                // 2 ms against 5.2 ms: the 11 blocks that an answer takes, or a fiftieth of the budget.
                let is_quick = factor < 2.0 || call > MILLI * 10.0 || tally.millis < 500 * runs;
                assert!(is_quick, "{form} {factor}: {tally:?}\n{table}");
            }
        }
    }
    println!("{table}");
}

/// On a shared machine, equal programs differ as often as stated, whether disturbed blocks are left out or count. A
/// program that is 5 % slower is never reported as faster.
#[test]
fn verdicts_beside_others() {
    let (mut table, runs) = (String::from("\n"), runs() / 2);
    let samples = |options| BenchmarkOptions { sample_seconds: 5e-4, precision: -1.0, ..bare(options) };
    for others in OTHERS {
        let of = |factor, options| Setting { noise: Noise::Quiet, others, call: 1e6, factor, options };
        for (name, options, stated) in [
            ("no margin", samples(code(1.0)), 0.05),
            ("all kept", BenchmarkOptions { keep_disturbed: true, ..samples(code(1.0)) }, 0.05),
            ("as usual", code(2.0), 0.05),
        ] {
            let tally = of(1.0, options).all(runs);
            table += &tally.row(&format!("{}, equal, {name}", others.name));
            assert!(tally.wrong() <= at_most(runs, stated), "{others:?} {name}: {tally:?}\n{table}");
            // The rule favors neither side: half of the wrong verdicts go either way.
            assert!(tally.faster.abs_diff(tally.slower) <= 4 * tally.wrong().max(4).isqrt(), "{tally:?}");
        }
        for (name, call, options) in
            [("code", 1e6, code(2.0)), ("programs of 20 ms", 20.0 * MILLI, programs(8.0))]
        {
            let tally = Setting { call, ..of(1.05, options) }.all(runs / 4);
            table += &tally.row(&format!("{}, 5 % slower, {name}", others.name));
            assert_eq!(tally.faster, 0, "{others:?}: {tally:?}");
        }
    }
    println!("{table}");
}

/// Quiet machines lose nothing, and moderate noise is overcome. If all blocks are disturbed, the interval decides: a
/// factor of 400 shows on any machine; a difference of 2 % is unproven, with the cause.
#[test]
fn what_is_left_out_and_what_is_unproven() {
    let of = |others, factor, options| Setting { noise: Noise::Quiet, others, call: 1e6, factor, options };
    let quiet = of(NOBODY, 1.05, code(2.0)).all(20);
    assert_eq!((quiet.slower, quiet.noisy, quiet.disturbed), (20, 0, 0), "{quiet:?}");
    let long = BenchmarkOptions { precision: -1.0, ..code(1.0) };
    let moderate = of(OTHERS[2], 1.05, long).all(20);
    assert!(moderate.slower == 20 && moderate.left_out > 0, "{moderate:?}");
    let always = of(ALWAYS, 400.0, long).all(20);
    assert_eq!((always.slower, always.noisy, always.left_out), (20, 0, 0), "{always:?}");
    assert_eq!(always.disturbed, always.blocks);
    // Samples as long as a turn: some lose a whole turn, and others nothing.
    let long = BenchmarkOptions { sample_seconds: 4e-3, budget_seconds: 0.5, ..long };
    let close = of(ALWAYS, 1.02, long).all(20);
    assert!(close.noisy >= 15 && close.faster == 0 && close.left_out == 0, "{close:?}");
    let benchmark = (0..20).map(|seed| of(ALWAYS, 1.02, long).run(seed));
    let is_noisy = |benchmark: &Benchmark| benchmark.result().unwrap().blocks.flags & COMPARISON_NOISY != 0;
    let benchmark = benchmark.into_iter().find(is_noisy).unwrap();
    let noise = benchmark.noise().unwrap();
    assert!((noise.others_seconds / noise.seconds - 1.5).abs() < 0.1, "{noise:?}");
    assert!((noise.pressure_seconds / noise.seconds - 1.0).abs() < 0.01 && noise.cpu_count == 2, "{noise:?}");
    let mut text = String::new();
    benchmark.write_markdown(&mut text, "", "", "").unwrap().unwrap();
    assert!(
        text.contains(" unproven: noisy |") && text.contains("were disturbed: other programs took 0.7"),
        "{text}"
    );
}

/// If the kernel does not report the pressure, the rule uses the idle time.
#[test]
fn without_pressure() {
    for others in [NOBODY, OTHERS[1], ALWAYS] {
        let others = Others { has_pressure: false, ..others };
        let of = |factor, options| Setting { noise: Noise::Quiet, others, call: 1e6, factor, options };
        let equal = of(1.0, bare(code(1.0))).all(60);
        assert!(equal.wrong() <= at_most(60, 0.05), "{others:?}: {equal:?}");
        let slower = of(1.05, BenchmarkOptions { precision: -1.0, ..code(1.0) }).all(20);
        assert_eq!(slower.faster, 0, "{others:?}: {slower:?}");
        let (is_ever, is_always) = (others.on > 1.0, others.off < 1.0);
        assert_eq!(
            (slower.disturbed != 0, slower.disturbed == slower.blocks),
            (is_ever, is_always),
            "{others:?}: {slower:?}"
        );
    }
}

/// A rule that leaves out blocks by the times of one side, such as those in which A was interrupted, fails here.
#[test]
fn a_rule_that_looks_at_one_side_is_caught() {
    let (mut slower, runs) = (0, 40);
    for seed in 0..runs {
        let options = BenchmarkOptions { sample_seconds: 5e-4, precision: -1.0, ..bare(code(1.0)) };
        let setting = Setting { noise: Noise::Quiet, others: ALWAYS, call: 1e6, factor: 1.0, options };
        let benchmark = setting.run(seed);
        let (a, b) = benchmark.blocks();
        let left: Vec<usize> = (0..a.len()).filter(|&at| a[at] < 1.1e6).collect();
        let of = |side: &[f64]| left.iter().map(|&at| side[at]).collect::<Vec<f64>>();
        let options = CompareOptions { relative_threshold: -1.0, ..CompareOptions::default() };
        let found = compare_blocks(&of(a), &of(b), &mut vec![0.0; left.len()], &options).unwrap();
        slower += u64::from(found.verdict() == Verdict::Slower);
    }
    assert!(slower > at_most(runs, 0.05), "{slower} of {runs}");
}
