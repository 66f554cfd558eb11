//! Verdicts on a machine that is disturbed: one of two CPUs whose time is made up, with neighbours and a host, and `/proc` as its
//! kernel would write it. How often equal programs are told apart, and whether a difference is found.
//!
//! `PICOLLO_SIMULATED=4000 cargo test -p picollo-native --lib noise_simulation -- --nocapture` prints the table of docs/comparing.md.

use std::sync::{Arc, Mutex};

use super::*;
use crate::machine::load::{CpuSet, File, Source, Watch};
use picollo_core::{COMPARISON_NOISY, CompareOptions, Verdict, compare_blocks};

const MILLI: f64 = 1e9;
const TICK: f64 = 10.0 * MILLI;

/// A sequence of its own, 0 to 1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Exponential, of this mean.
    fn wait(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.next()).ln()
    }
}

/// What disturbs: on and off for times that are exponential, of these means in milliseconds. While it is on, the program runs and
/// waits in turns of four milliseconds or so.
#[derive(Clone, Copy, Debug)]
struct Noise {
    name: &'static str,
    on: f64,
    off: f64,
    /// The host; else two neighbours, one for each CPU.
    is_steal: bool,
    /// Whether the kernel tells the pressure.
    has_pressure: bool,
}

/// Some part of the time, with somebody on each CPU.
struct World {
    random: Random,
    noise: Noise,
    /// Picoseconds, as all times.
    now: f64,
    is_on: bool,
    toggles: f64,
    /// While it is on: whether it is the program's turn, and until when.
    is_ours: bool,
    turns: f64,
    own: f64,
    /// Ticks of each CPU: whoever is there at a tick is charged for all of it.
    busy: [u64; 2],
    idle: [u64; 2],
    stolen: f64,
    waited: f64,
}

impl World {
    fn new(seed: u64, noise: Noise) -> World {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        // The first numbers are alike for seeds that are.
        (0..8).for_each(|_| _ = random.next());
        let is_on = random.next() < noise.on / (noise.on + noise.off);
        let mut world = World {
            random,
            noise,
            now: 0.0,
            is_on: !is_on,
            toggles: 0.0,
            is_ours: true,
            turns: 0.0,
            own: 5.0 * MILLI,
            busy: [100; 2],
            idle: [100; 2],
            stolen: 0.0,
            waited: 0.0,
        };
        world.now = TICK * world.random.next();
        world.toggles = world.now;
        world
    }

    /// Runs the program until so much is done of it, and tells how long that took.
    fn run(&mut self, mut work: f64) -> f64 {
        let began = self.now;
        while work > 0.0 {
            if self.now >= self.toggles {
                self.is_on = !self.is_on;
                let mean = if self.is_on { self.noise.on } else { self.noise.off };
                self.toggles = self.now + self.random.wait(mean * MILLI);
            }
            if self.now >= self.turns {
                self.is_ours = !self.is_ours;
                self.turns = self.now + (3.0 + 2.0 * self.random.next()) * MILLI;
            }
            let runs = !self.is_on || self.is_ours;
            let mut until = self.toggles.min(self.turns);
            if runs {
                until = until.min(self.now + work);
            }
            let step = until - self.now;
            let ticks = (until / TICK).floor() as u64 - (self.now / TICK).floor() as u64;
            let has_neighbours = self.is_on && !self.noise.is_steal;
            if runs {
                self.own += step;
                work -= step;
                // Not for the want of a digit.
                work = if work < 1e-3 { 0.0 } else { work };
            } else if self.noise.is_steal {
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
            File::Pressure if !world.noise.has_pressure => return None,
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

/// A benchmark of something that takes a microsecond, and of something that takes so many times that.
fn simulate(seed: u64, noise: Noise, factor: f64, options: &BenchmarkOptions) -> Benchmark {
    let world = Arc::new(Mutex::new(World::new(seed, noise)));
    let mut benchmark = Benchmark::create(options, &[]).unwrap();
    benchmark.simulated = Some(0);
    benchmark.watch = Watch::planted(Planted(world.clone()));
    benchmark.trace = Trace::new(benchmark.watch.tick()).unwrap();
    benchmark.look();
    let mut random = Random(seed ^ 0x5DEE_CE66);
    (0..8).for_each(|_| _ = random.next());
    while let Some(Step { side, repetitions }) = benchmark.next().unwrap() {
        let call = [1e6, 1e6 * factor, 0.0][side as usize] + 2_000.0;
        // What samples differ by on a quiet machine.
        let work = call * repetitions as f64 * (1.0 + 0.02 * random.next());
        let took = world.lock().unwrap().run(work);
        benchmark.done_after(took as u64).unwrap();
    }
    benchmark
}

/// In how many of the runs it was said that B is faster, slower, or that it is too noisy to tell; and of the blocks, those left out.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
struct Said {
    runs: u64,
    faster: u64,
    slower: u64,
    noisy: u64,
    blocks: u64,
    left_out: u64,
}

fn all(runs: u64, noise: Noise, factor: f64, options: &BenchmarkOptions) -> Said {
    let mut said = Said { runs, ..Said::default() };
    for seed in 0..runs {
        let benchmark = simulate(seed, noise, factor, options);
        let (result, noise) = (benchmark.result().unwrap(), benchmark.noise().unwrap());
        let blocks = &result.blocks;
        said.faster += u64::from(blocks.verdict() == Verdict::Faster);
        said.slower += u64::from(blocks.verdict() == Verdict::Slower);
        said.noisy += u64::from(blocks.flags & COMPARISON_NOISY != 0);
        said.blocks += noise.block_count;
        said.left_out += noise.disturbed_count;
        // The words, the numbers and the verdict say the same.
        let is_noisy = blocks.flags & COMPARISON_NOISY != 0;
        assert_eq!(noise.left_out_count + blocks.block_count, noise.block_count);
        assert!(!is_noisy || (blocks.verdict == 0 && noise.left_out_count == 0 && noise.disturbed_count > 0));
        assert!(options.flags != 0 || is_noisy || noise.left_out_count == noise.disturbed_count);
    }
    said
}

const QUIET: Noise = Noise { name: "nothing", on: 0.001, off: 1e9, is_steal: false, has_pressure: true };
const NOISES: [Noise; 7] = [
    QUIET,
    Noise {
        name: "neighbours, 0.3 s of each 1.3",
        on: 300.0,
        off: 1000.0,
        is_steal: false,
        has_pressure: true,
    },
    Noise {
        name: "neighbours, 50 ms of each 550",
        on: 50.0,
        off: 500.0,
        is_steal: false,
        has_pressure: true,
    },
    Noise { name: "neighbours, 5 ms of each 55", on: 5.0, off: 50.0, is_steal: false, has_pressure: true },
    Noise { name: "neighbours, always", on: 1e9, off: 0.001, is_steal: false, has_pressure: true },
    Noise { name: "steal, 50 ms of each 550", on: 50.0, off: 500.0, is_steal: true, has_pressure: true },
    Noise { name: "steal, 0.5 s of each 1", on: 500.0, off: 500.0, is_steal: true, has_pressure: true },
];

/// Without a margin and a resolution, and always of the same length, so that the rate is the stated one: one in twenty, either way.
fn bare() -> BenchmarkOptions {
    BenchmarkOptions {
        budget_seconds: 1.0,
        sample_seconds: 5e-4,
        precision: -1.0,
        relative_threshold: -1.0,
        resolution_seconds: -1.0,
        ..BenchmarkOptions::default()
    }
}

fn usual() -> BenchmarkOptions {
    BenchmarkOptions { budget_seconds: 2.0, ..BenchmarkOptions::default() }
}

fn runs() -> u64 {
    std::env::var("PICOLLO_SIMULATED").ok().and_then(|runs| runs.parse().ok()).unwrap_or(150)
}

/// At most so many of so many, where one in twenty is the truth: four standard deviations.
fn at_most(runs: u64) -> f64 {
    let mean = runs as f64 / 20.0;
    mean + 4.0 * (mean * 0.95).sqrt()
}

/// Of equal programs as many verdicts are wrong as stated at most, whatever disturbs; and what is 5 % slower is never the faster one.
#[test]
fn verdicts_under_noise() {
    let runs = runs();
    let share = |count: u64, of: u64| format!("{:.1} %", count as f64 / of as f64 * 100.0);
    let mut table = String::new();
    for noise in NOISES {
        let without_margin = all(runs, noise, 1.0, &bare());
        let kept = all(runs, noise, 1.0, &BenchmarkOptions { flags: BENCHMARK_KEEP_DISTURBED, ..bare() });
        let equal = all(runs, noise, 1.0, &usual());
        let slower = all(runs, noise, 1.05, &usual());
        let wrong = |said: &Said| said.faster + said.slower;
        table += &format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} |\n",
            noise.name,
            share(without_margin.left_out, without_margin.blocks),
            share(wrong(&without_margin), runs),
            share(wrong(&kept), runs),
            share(wrong(&equal), runs),
            share(slower.slower, runs),
            slower.faster,
            share(slower.noisy, runs),
        );
        for equals in [&without_margin, &kept, &equal] {
            assert!(wrong(equals) as f64 <= at_most(runs), "{noise:?}: {equals:?}");
            // Neither side is preferred: half of what is wrong, either way.
            let off = equals.faster.abs_diff(equals.slower) as f64;
            assert!(off <= 4.0 * (wrong(equals).max(4) as f64).sqrt(), "{noise:?}: {equals:?}");
        }
        assert_eq!(slower.faster, 0, "{noise:?}: {slower:?}");
    }
    println!("{table}");
}

/// Quiet machines lose nothing, moderate noise is overcome, and what is always disturbed is unproven, and says by what.
#[test]
fn what_is_left_out_and_what_is_unproven() {
    let quiet = all(20, QUIET, 1.05, &usual());
    assert_eq!((quiet.slower, quiet.noisy, quiet.left_out), (20, 0, 0), "{quiet:?}");
    let moderate = all(20, NOISES[2], 1.05, &usual());
    assert!(moderate.slower == 20 && moderate.left_out > 0, "{moderate:?}");
    let options = BenchmarkOptions { budget_seconds: 0.5, ..BenchmarkOptions::default() };
    let always = all(20, NOISES[4], 1.05, &options);
    assert_eq!((always.slower, always.noisy, always.left_out), (0, 20, always.blocks), "{always:?}");
    let benchmark = simulate(3, NOISES[4], 1.05, &options);
    let noise = benchmark.noise().unwrap();
    assert!((noise.others_seconds / noise.seconds - 1.5).abs() < 0.1, "{noise:?}");
    assert!((noise.pressure_seconds / noise.seconds - 1.0).abs() < 0.01 && noise.cpu_count == 2, "{noise:?}");
    let mut text = String::new();
    benchmark.write_markdown(&mut text, "", "", "").unwrap().unwrap();
    assert!(
        text.contains(" unproven: noisy |") && text.contains("were disturbed: other programs took 0.7"),
        "{text}"
    );
    // Who knows better.
    let kept = BenchmarkOptions { flags: BENCHMARK_KEEP_DISTURBED, ..usual() };
    let benchmark = simulate(3, NOISES[4], 1.5, &kept);
    assert_eq!(benchmark.result().unwrap().blocks.verdict(), Verdict::Slower);
    assert_eq!(benchmark.noise().unwrap().left_out_count, 0);
    // What becomes quiet before the budget is spent is no longer unproven.
    let steal = all(40, NOISES[6], 1.05, &BenchmarkOptions { budget_seconds: 5.0, ..usual() });
    assert!(steal.slower > 30 && steal.faster == 0, "{steal:?}");
}

/// Where the kernel does not tell the pressure, the rule goes by what was left idle.
#[test]
fn without_pressure() {
    for noise in [QUIET, NOISES[1], NOISES[4]] {
        let noise = Noise { has_pressure: false, ..noise };
        let equal = all(60, noise, 1.0, &bare());
        assert!((equal.faster + equal.slower) as f64 <= at_most(60), "{noise:?}: {equal:?}");
        let slower = all(20, noise, 1.05, &usual());
        assert_eq!((slower.faster, slower.slower + slower.noisy), (0, 20), "{noise:?}: {slower:?}");
        assert_eq!(
            (slower.left_out != 0, slower.noisy == 20),
            (noise.on > 1.0, noise.off < 1.0),
            "{noise:?}: {slower:?}"
        );
    }
}

/// Were blocks left out for what one side took, such as those in which A was interrupted, these simulations would show it.
#[test]
fn a_rule_that_looks_at_one_side_is_caught() {
    let (mut slower, runs) = (0, 40);
    for seed in 0..runs {
        let kept = BenchmarkOptions { flags: BENCHMARK_KEEP_DISTURBED, ..bare() };
        let benchmark = simulate(seed, NOISES[4], 1.0, &kept);
        let (a, b) = benchmark.blocks();
        let is_quiet = |at: &usize| a[*at] < 1.1e6;
        let left: Vec<usize> = (0..a.len()).filter(is_quiet).collect();
        let of = |side: &[f64]| left.iter().map(|&at| side[at]).collect::<Vec<f64>>();
        let options = CompareOptions { relative_threshold: -1.0, ..CompareOptions::default() };
        let found = compare_blocks(&of(a), &of(b), &mut vec![0.0; left.len()], &options).unwrap();
        slower += u64::from(found.verdict() == Verdict::Slower);
    }
    assert!(slower as f64 > at_most(runs), "{slower} of {runs}");
}
