//! What made equal code look different, and what made benchmarks endless: one machine for each, whose time is made up, so that
//! nothing here is up to chance.

use super::*;
use picollo_core::{COMPARISON_BELOW_RESOLUTION, COMPARISON_MARGIN_IS_RESOLUTION, Verdict};

const MILLI: u64 = 1_000_000_000;

/// A sequence of its own, 0 to 1.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Runs a benchmark whose samples take what `time` says, in picoseconds, on a clock that shows the sum of them.
fn run(options: &BenchmarkOptions, mut time: impl FnMut(Step, u64) -> f64) -> (Benchmark, Vec<Step>) {
    let mut benchmark = Benchmark::create(options, &[]).unwrap();
    benchmark.simulated = Some(0);
    let mut steps = Vec::new();
    while let Some(step) = benchmark.next().unwrap() {
        steps.push(step);
        let now = benchmark.elapsed();
        benchmark.done_after(time(step, now) as u64).unwrap();
        assert!(steps.len() < 1_000_000);
    }
    (benchmark, steps)
}

fn budget(seconds: f64) -> BenchmarkOptions {
    BenchmarkOptions { budget_seconds: seconds, ..BenchmarkOptions::default() }
}

/// What the rows say must agree: the medians differ by the difference, which is inside its interval.
fn check_rows(blocks: &BlockComparison) {
    assert!((blocks.median_b - blocks.median_a - blocks.difference).abs() < 1e-6, "{blocks:?}");
    assert!(blocks.difference_lower <= blocks.difference && blocks.difference <= blocks.difference_upper);
}

/// Calls get slower, by 3.5 ns of 20, about when the first empty samples are taken: what is subtracted from A must not be another
/// overhead than what is subtracted from B.
#[test]
fn an_overhead_that_changes_is_of_both() {
    for window in [18, 19, 20, 21, 22, 24, 30] {
        let mut noise = Noise(window);
        let (benchmark, _) = run(&budget(0.2), |Step { side, repetitions }, now| {
            let call = if now < window * MILLI { 19_639.0 } else { 23_137.0 };
            let own = if side == Side::Empty { 0.0 } else { 5_000.0 };
            30_000.0 + (call + own + 40.0 * noise.next()) * repetitions as f64
        });
        let result = benchmark.result().unwrap();
        check_rows(&result.blocks);
        assert_eq!(result.blocks.verdict, 0, "{window}: {result:?}");
        assert_eq!((result.overhead_a, result.repetitions_a), (result.overhead_b, result.repetitions_b));
    }
}

/// One of two equal loops lies a little worse, and takes 30 ps longer, always: of a call that takes nothing that is far above one
/// per cent, and still nothing.
#[test]
fn what_placement_changes_is_below_the_resolution() {
    for own in [0.0, 1_000.0, 5_000.0, 20_000.0] {
        let mut noise = Noise(3);
        let (benchmark, steps) = run(&budget(0.2), |Step { side, repetitions }, _| {
            let call = [own, own + 30.0, 0.0][side as usize];
            (20_000.0 + call + 20.0 * noise.next()) * repetitions as f64
        });
        let result = benchmark.result().unwrap();
        check_rows(&result.blocks);
        assert_eq!(result.blocks.verdict, 0, "{result:?}");
        assert_eq!((result.blocks.margin, result.blocks.resolution), (500.0, 500.0));
        let below = COMPARISON_MARGIN_IS_RESOLUTION | COMPARISON_BELOW_RESOLUTION;
        assert_eq!(result.blocks.flags & below, below);
        let nothing = BENCHMARK_NOTHING_A | BENCHMARK_NOTHING_B;
        assert_eq!(result.flags, if own == 0.0 { nothing } else { 0 });
        // Precise enough at once: no need to spend the budget on nothing.
        assert_eq!(result.blocks.block_count, 20);
        assert!(steps.len() < 500, "{}", steps.len());
        let mut text = String::new();
        benchmark.write_markdown(&mut text, "", "", "").unwrap().unwrap();
        assert!(text.contains("below what this measurement can tell |"), "{text}");
        assert!(text.contains("±500 (resolution) |") && text.contains("| Overhead "), "{text}");
        if own == 0.0 {
            let (upper, lower) = text.split_once("\n\n").unwrap();
            assert!(lower.contains("<500") && !lower.contains("%)"), "{text}");
            assert!(!upper.lines().any(|line| line.contains("| P50") && line.contains('%')), "{text}");
            assert!(text.contains("is its result used?"), "{text}");
        }
    }
}

/// With a resolution of their own choice, users see what they know to be there; and one per cent of a dear call is more than half a
/// nanosecond.
#[test]
fn the_resolution_is_an_option() {
    let mut noise = Noise(5);
    let mut told = |resolution_seconds, overhead| {
        let options = BenchmarkOptions { resolution_seconds, ..budget(0.2) };
        let (benchmark, _) = run(&options, |Step { side, repetitions }, _| {
            let call = [2_900.0, 3_200.0, 0.0][side as usize];
            (overhead + call + 20.0 * noise.next()) * repetitions as f64
        });
        let blocks = benchmark.result().unwrap().blocks;
        (blocks.verdict, blocks.resolution)
    };
    assert_eq!(told(0.0, 300.0), (0, 500.0));
    assert_eq!(told(1e-10, 300.0), (Verdict::Slower as u32, 100.0));
    assert_eq!(told(-1.0, 300.0), (Verdict::Slower as u32, 0.0));
    let (verdict, resolution) = told(0.0, 200_000.0);
    assert!(verdict == 0 && (resolution - 2_000.0).abs() < 1.0, "{resolution}");
}

/// Times that are mostly overhead and noise: cut off at nothing, they would all be on one side.
#[test]
fn times_below_nothing_are_not_cut_off() {
    let mut noise = Noise(7);
    let options =
        BenchmarkOptions { max_blocks: 400, resolution_seconds: -1.0, precision: -1.0, ..budget(10.0) };
    let (benchmark, _) = run(&options, |Step { side, repetitions }, _| {
        // Less than the empty call, as a function may be that is called otherwise.
        let call = [19_950.0, 19_910.0, 20_000.0][side as usize];
        (call + 60.0 * (noise.next() - 0.5)) * repetitions as f64
    });
    let result = benchmark.result().unwrap();
    check_rows(&result.blocks);
    assert!(
        (result.blocks.median_a + 50.0).abs() < 10.0 && (result.blocks.median_b + 90.0).abs() < 10.0,
        "{result:?}"
    );
    assert!((result.blocks.difference + 40.0).abs() < 10.0, "{result:?}");
}

/// An interruption while the number of calls is looked for: it must not leave either side with a few calls a sample.
#[test]
fn interrupted_calibration() {
    for interrupted in 0..40 {
        let mut taken = 0;
        let (benchmark, _) = run(&budget(0.2), |Step { side, repetitions }, _| {
            let own = if side == Side::Empty { 0.0 } else { 10_000.0 };
            taken += 1;
            // 3 ms of someone else's.
            let extra = if taken == interrupted { 3.0 * MILLI as f64 } else { 0.0 };
            30_000.0 + (own + 20_000.0) * repetitions as f64 + extra
        });
        let result = benchmark.result().unwrap();
        assert_eq!(result.repetitions_a, result.repetitions_b);
        assert!(result.repetitions_a > 5_000, "{interrupted}: {result:?}");
        assert_eq!(result.blocks.verdict, 0);
    }
}

/// One number of calls for both, unless that would make samples of one of them far too short or too long.
#[test]
fn numbers_of_calls() {
    for (a, b, is_alike) in
        [(0.0, 0.0, true), (0.0, 55_000.0, true), (10_000.0, 95_000.0, true), (10_000.0, 105_000.0, false)]
    {
        let mut noise = Noise(9);
        let (benchmark, steps) = run(&budget(0.2), |Step { side, repetitions }, _| {
            (20_000.0 + [a, b, 0.0][side as usize] + 10.0 * noise.next()) * repetitions as f64
        });
        let result = benchmark.result().unwrap();
        assert_eq!(result.repetitions_a == result.repetitions_b, is_alike, "{result:?}");
        let overhead = |calls: u64| {
            steps.iter().filter(|step| **step == Step { side: Side::Empty, repetitions: calls }).count()
        };
        assert!(overhead(result.repetitions_a) >= 16 && overhead(result.repetitions_b) >= 16);
        assert!(
            (result.overhead_a - 20_005.0 * result.repetitions_a as f64).abs()
                < 5.0 * result.repetitions_a as f64
        );
        check_rows(&result.blocks);
        assert!((result.blocks.difference - (b - a)).abs() < 20.0, "{result:?}");
        assert_eq!(result.blocks.verdict, if a == b { 0 } else { Verdict::Slower as u32 });
    }
}

/// A and B were left out by the compiler; calling nothing was not: it bounds the number of calls.
#[test]
fn what_takes_no_time_ends_in_time() {
    for overhead in [0.0, 0.3, 300.0] {
        let mut longest = 0.0f64;
        let (benchmark, _) = run(&budget(0.2), |Step { side, repetitions }, _| {
            let took = if side == Side::Empty { overhead * repetitions as f64 } else { 0.0 } + 20_000.0;
            longest = longest.max(took);
            took
        });
        let result = benchmark.result().unwrap();
        assert!(benchmark.elapsed() <= MILLI * 200, "{overhead}: {} ms", benchmark.elapsed() / MILLI);
        assert!(longest <= 10.0 * 2e8, "a sample takes what it should: {longest}");
        assert_eq!(result.blocks.verdict, 0);
        assert_eq!(result.flags, BENCHMARK_NOTHING_A | BENCHMARK_NOTHING_B);
    }
}

/// What takes longer than the budget: one block, and it is said.
#[test]
fn longer_than_the_budget() {
    let (benchmark, steps) = run(&budget(0.1), |Step { side, repetitions }, _| match side {
        Side::Empty => 30_000.0,
        _ => 1000.0 * MILLI as f64 * repetitions as f64,
    });
    let result = benchmark.result().unwrap();
    let calls: u64 = steps.iter().filter(|step| step.side != Side::Empty).map(|step| step.repetitions).sum();
    assert!(calls <= 5, "one of the warm-up, and a block of four: {steps:?}");
    assert_eq!((result.blocks.block_count, result.blocks.verdict), (1, 0));
    assert_eq!(result.flags, BENCHMARK_BUDGET_SPENT);
    let mut text = String::new();
    benchmark.write_markdown(&mut text, "", "", "").unwrap().unwrap();
    assert!(text.contains("The budget was spent before"), "{text}");

    // What gets a thousand times slower when it is measured: the sample that was begun, and then one call each.
    let mut empties = 0;
    let (benchmark, steps) = run(&budget(0.1), |Step { side, repetitions }, _| {
        empties = if side == Side::Empty {
            empties + 1
        } else if empties >= 16 {
            empties
        } else {
            0
        };
        match side {
            Side::Empty => 30_000.0,
            _ if empties >= 16 => MILLI as f64 * repetitions as f64,
            _ => 1_000_000.0 * repetitions as f64,
        }
    });
    let result = benchmark.result().unwrap();
    assert_eq!(
        (result.blocks.block_count, result.repetitions_a, result.flags),
        (1, 1, BENCHMARK_BUDGET_SPENT)
    );
    let slow = steps.iter().rev().take_while(|step| step.side != Side::Empty).map(|step| step.repetitions);
    assert!(slow.filter(|&calls| calls > 1).count() <= 1, "{steps:?}");

    // A warm-up that asks for more than there is.
    let options = BenchmarkOptions { warm_up_seconds: 100.0, ..budget(0.1) };
    let (benchmark, _) = run(&options, |step, _| 1_000_000.0 * step.repetitions as f64);
    assert!(benchmark.elapsed() < 105 * MILLI, "{} ms", benchmark.elapsed() / MILLI);
    assert_eq!(benchmark.result().unwrap().flags & BENCHMARK_BUDGET_SPENT, BENCHMARK_BUDGET_SPENT);

    // Samples that are asked to be longer than the budget.
    let options = BenchmarkOptions { sample_seconds: 10.0, ..budget(0.1) };
    let (benchmark, _) = run(&options, |step, _| 1_000_000.0 * step.repetitions as f64);
    assert!(benchmark.elapsed() < 300 * MILLI, "{} ms", benchmark.elapsed() / MILLI);
}

/// A difference that is there is seen, above half a nanosecond and above one per cent.
#[test]
fn planted() {
    for (a, b) in [(20_000.0, 21_000.0), (100_000.0, 105_000.0), (1e6, 1.05e6)] {
        for verdict in [Verdict::Slower, Verdict::Faster] {
            let (a, b) = if verdict == Verdict::Slower { (a, b) } else { (b, a) };
            let mut noise = Noise(11);
            let (benchmark, _) = run(&budget(1.0), |Step { side, repetitions }, _| {
                let call = 20_000.0 + [a, b, 0.0][side as usize];
                call * (1.0 + 0.02 * noise.next()) * repetitions as f64
            });
            assert_eq!(benchmark.result().unwrap().blocks.verdict, verdict as u32);
        }
    }
}

/// For real: closures that do nothing, which ran for hours.
#[test]
fn nothing_against_nothing_ends() {
    let began = std::time::Instant::now();
    let done = benchmark(&budget(0.1), &[], || {}, || {}).unwrap();
    // Generous: it is a tenth of a second, and once was hours.
    assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
    let result = done.result().unwrap();
    assert!(result.repetitions_a < 1 << 32, "{result:?}");
    check_rows(&result.blocks);
    // And what is returned is kept.
    let mut calls = 0u64;
    let counted = benchmark(
        &budget(0.02),
        &[],
        || {
            calls += 1;
            calls
        },
        || 7,
    )
    .unwrap();
    assert!(counted.result().unwrap().sample_count > 0 && calls > 0);
}
