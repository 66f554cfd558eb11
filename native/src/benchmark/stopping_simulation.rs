//! How often a benchmark that ends by itself is wrong, where the truth is known: of two programs whose times are made up, on a clock that
//! shows their sum. No process is started. The interval, the rule for ending and the verdict are those of [`Benchmark`].
//!
//! `PICOLLO_SIMULATED=20000 cargo test --release -p picollo-native --lib stopping_simulation -- --nocapture` prints the tables of
//! docs/comparing.md.

use super::*;
use picollo_core::Verdict;

/// A sequence of its own (S. Vigna's SplitMix64), seeds that are alike being no harm.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Above 0, and below 1.
    fn next(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.next().ln()).sqrt() * (core::f64::consts::TAU * self.next()).cos()
    }
}

/// What a run takes besides what it should, as a factor.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Noise {
    /// Normal, by 2 %.
    Quiet,
    /// Log-normal, by 5 %.
    LogNormal,
    /// By 1 %, and each tenth run takes up to many times as long: Pareto's distribution without a variance.
    HeavyTail,
    /// By 1 %, and in bursts of some twenty runs half as long again.
    Bursts,
    /// By 0.5 %, on a clock that ticks once in a hundredth of what a run takes: most differences are the same.
    Ticks,
    /// Now one time and now another that is 1 % longer, with nothing in between.
    TwoStates,
}

/// How likely a burst begins, and ends, with a run.
const START: f64 = 0.01;
const END: f64 = 0.05;

struct World {
    random: Random,
    noise: Noise,
    is_burst: bool,
}

impl World {
    /// A run that should take so much: what it took.
    fn run(&mut self, time: f64) -> f64 {
        let World { random, noise, is_burst } = self;
        match noise {
            Noise::Quiet => time * (1.0 + 0.02 * random.normal()),
            Noise::LogNormal => time * (0.05 * random.normal()).exp(),
            Noise::HeavyTail => {
                let more = if random.next() < 0.1 { 0.02 * random.next().powf(-1.0 / 1.5) } else { 0.0 };
                time * (1.0 + 0.01 * random.normal() + more)
            }
            Noise::Bursts => {
                *is_burst ^= random.next() < if *is_burst { END } else { START };
                time * (1.0 + 0.01 * random.normal()) * if *is_burst { 1.5 } else { 1.0 }
            }
            // Of the clock, which does not know what a run should take.
            Noise::Ticks => (time * (1.0 + 0.005 * random.normal()) / TICK + random.next()).floor() * TICK,
            Noise::TwoStates => time * if random.next() < 0.5 { 1.0 } else { 1.01 },
        }
    }
}

/// Picoseconds that a run of A should take, and those between two ticks of a coarse clock.
const RUN: f64 = 1e9;
const TICK: f64 = RUN / 100.0;

/// What is simulated: B takes `factor` times as long as A.
#[derive(Clone, Copy, Debug)]
struct Setting {
    noise: Noise,
    factor: f64,
    options: BenchmarkOptions,
}

impl Setting {
    fn world(&self, seed: u64) -> World {
        let mut random = Random(seed ^ 0x5DEE_CE66_0000);
        let is_burst = random.next() < START / (START + END);
        World { random, noise: self.noise, is_burst }
    }

    fn time(&self, side: Side) -> f64 {
        [RUN, RUN * self.factor, 0.0][side as usize]
    }

    fn run(&self, seed: u64) -> Benchmark {
        let mut world = self.world(seed);
        let mut benchmark = Benchmark::create(&self.options, &[]).unwrap();
        benchmark.simulated = Some(0);
        while let Some(Step { side, .. }) = benchmark.next().unwrap() {
            benchmark.done_after(world.run(self.time(side)) as u64).unwrap();
        }
        benchmark
    }

    /// The median of the differences in blocks: what the interval is of. Of equals it is nothing.
    fn truth(&self) -> f64 {
        if self.factor == 1.0 {
            return 0.0;
        }
        let mut world = self.world(u64::MAX);
        let mut pair = |side| {
            let time = self.time(side);
            (world.run(time) + world.run(time)) / 2.0
        };
        let mut differences: Vec<f64> = (0..1_000_000).map(|_| pair(Side::B) - pair(Side::A)).collect();
        *differences.select_nth_unstable_by(500_000, f64::total_cmp).1
    }

    fn confidence(&self) -> f64 {
        if self.options.confidence == 0.0 { 0.95 } else { self.options.confidence }
    }

    fn all(&self, runs: u64) -> Said {
        let truth = self.truth();
        let mut said = Said { runs, ..Said::default() };
        for seed in 0..runs {
            let benchmark = self.run(seed);
            let blocks = benchmark.result().unwrap().blocks;
            said.missed += u64::from(truth < blocks.difference_lower || blocks.difference_upper < truth);
            said.faster += u64::from(blocks.verdict() == Verdict::Faster);
            said.slower += u64::from(blocks.verdict() == Verdict::Slower);
            let measured = benchmark.blocks().0.len();
            said.measured += measured as u64;
            said.early += u64::from(!benchmark.is_spent() && measured < benchmark.limits.max_blocks);
            let half = (blocks.difference_upper - blocks.difference_lower) / 2.0;
            said.half += if half.is_finite() { half / blocks.median_a } else { 0.0 };
        }
        said
    }
}

/// In how many of the runs the interval missed the truth, and which verdict there was.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
struct Said {
    runs: u64,
    missed: u64,
    faster: u64,
    slower: u64,
    /// Blocks, and how many of the runs ended before they had to.
    measured: u64,
    early: u64,
    /// The sum of half the intervals, in shares of A.
    half: f64,
}

impl Said {
    /// Of all runs, in per cent.
    fn share(&self, count: u64) -> f64 {
        count as f64 / self.runs as f64 * 100.0
    }

    fn row(&self, name: &str) -> String {
        let rate = self.missed as f64 / self.runs as f64;
        format!(
            "| {name} | {:.2} ± {:.2} % | {:.2} % | {:.1} % | {:.0} % | {:.0} | {:.2} % |\n",
            self.share(self.missed),
            (rate * (1.0 - rate) / self.runs as f64).sqrt() * 100.0,
            self.share(self.faster),
            self.share(self.slower),
            self.share(self.early),
            self.measured as f64 / self.runs as f64,
            self.half / self.runs as f64 * 100.0,
        )
    }
}

fn runs() -> u64 {
    std::env::var("PICOLLO_SIMULATED").ok().and_then(|runs| runs.parse().ok()).unwrap_or(400)
}

/// Without a margin, so that each interval that misses is a verdict; as `picollo compare` does it.
fn bare(precision: f64, min_blocks: u32, max_blocks: u32, confidence: f64) -> BenchmarkOptions {
    BenchmarkOptions {
        flags: BENCHMARK_NO_OVERHEAD,
        min_blocks,
        max_blocks,
        repetitions: 1,
        budget_seconds: 1e4,
        warm_up_seconds: 1e-9,
        precision,
        confidence,
        relative_threshold: -1.0,
        ..BenchmarkOptions::default()
    }
}

const NOISES: [Noise; 6] =
    [Noise::Quiet, Noise::LogNormal, Noise::HeavyTail, Noise::Bursts, Noise::Ticks, Noise::TwoStates];

#[test]
fn explore() {
    for (confidence, min, max) in [(0.95, 20, 1000), (0.95, 40, 40), (0.95, 100, 100), (0.95, 300, 300), (0.99, 10, 1000), (0.99, 200, 200)] {
        println!("confidence {confidence} min {min} max {max}");
        for noise in [Noise::Quiet, Noise::Bursts] {
            for factor in [1.0, 3.0] {
                for precision in [0.004, 0.008] {
                    let setting = Setting { noise, factor, options: bare(precision * if factor > 1.0 {3.0} else {1.0}, min, max, confidence) };
                    print!("{}", setting.all(runs()).row(&format!("{noise:?} {factor} {precision}")));
                }
            }
        }
    }
}
