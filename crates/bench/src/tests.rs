//! Tests of the schedule, of the judgment, and of former faults: differences between equal code, and endless
//! benchmarks. Each uses a machine with simulated time, so that nothing depends on chance; one runs for real.

use super::simulation::Random;
use super::*;
use picollo_native::work;
use picollo_stats::{
    COMPARISON_BELOW_RESOLUTION, COMPARISON_MARGIN_IS_RESOLUTION, COMPARISON_NOISY, COMPARISON_WITHIN_MARGIN,
    Verdict,
};

const MILLI: u64 = 1_000_000_000;

/// Runs a benchmark with the sample times of `time`, in picoseconds, on a clock that shows their sum.
fn run(options: &BenchmarkOptions, mut time: impl FnMut(Sample, u64) -> f64) -> (Benchmark, Vec<Sample>) {
    let mut benchmark = Benchmark::create(options, &[]).unwrap();
    benchmark.simulated = Some(0);
    let mut steps = Vec::new();
    while let Some(step) = benchmark.next().unwrap() {
        steps.push(step);
        let now = benchmark.elapsed();
        benchmark.done_after(time(step, now) as u64).unwrap();
        assert!(steps.len() < 1_000_000);
    }
    assert_eq!((benchmark.next().unwrap(), benchmark.progress()), (None, 1.0));
    (benchmark, steps)
}

/// The same for calls of A, of B and empty ones that take this many picoseconds, and up to `noise` more.
fn measured(
    options: &BenchmarkOptions,
    calls: [f64; 3],
    noise: f64,
) -> (BenchmarkResult, Benchmark, Vec<Sample>) {
    let mut random = Random(3);
    let (benchmark, steps) = run(options, |Sample { side, repetitions }, _| {
        (calls[side as usize] + noise * random.next()) * repetitions as f64
    });
    let result = benchmark.result().unwrap();
    check_rows(&result.blocks);
    (result, benchmark, steps)
}

/// Calls of A and of B take less than the resolution.
const NOTHING: u32 = BENCHMARK_NOTHING_A | BENCHMARK_NOTHING_B;

fn markdown(benchmark: &Benchmark) -> String {
    let mut text = String::new();
    benchmark.write_markdown(&mut text, "", "", "").unwrap().unwrap();
    text
}

/// The steps as letters; whole blocks, in either order, are dots.
fn in_blocks(steps: &[Sample]) -> String {
    let letters: String = steps.iter().map(|step| ['A', 'B', 'e'][step.side as usize]).collect();
    letters.replace("ABBA", ".").replace("BAAB", ".")
}

/// A coin decides the order of each block, differently for each benchmark: both are equally frequent in any context.
#[test]
fn the_order_is_left_to_chance() {
    let limits = Limits::new(&BenchmarkOptions { no_overhead: true, ..Default::default() }).unwrap();
    let orders = |seed| {
        let mut schedule = Schedule::new(1, false, seed);
        schedule.warmed(Side::A, u64::MAX, &limits, true);
        (0..10_000)
            .map(|_| {
                let sides: [Side; 4] = core::array::from_fn(|_| {
                    let side = schedule.step(&limits).unwrap().side;
                    schedule.taken();
                    side
                });
                assert!(sides[0] == sides[3] && sides[1] == sides[2] && sides[0] != sides[1], "{sides:?}");
                sides[0] == Side::A
            })
            .collect::<Vec<bool>>()
    };
    let one = orders(1);
    let count = |is: &dyn Fn(usize) -> bool| (0..one.len()).filter(|&at| is(at)).count();
    // Five standard deviations of a fair coin, for each block and for being the same as the block `lag` before.
    for lag in [0, 1, 2, 4, 8] {
        let same = count(&|at| if lag == 0 { one[at] } else { at >= lag && one[at] == one[at - lag] });
        assert!(same.abs_diff(5_000) < 250, "{lag}: {same}");
    }
    let two = orders(2);
    assert!(count(&|at| one[at] == two[at]).abs_diff(5_000) < 250, "another seed");
}

#[test]
fn what_is_run_when() {
    let options = BenchmarkOptions {
        repetitions: 3,
        max_blocks: 4,
        warm_up_seconds: 1e-12,
        precision: -1.0,
        ..BenchmarkOptions::default()
    };
    let (benchmark, steps) = run(&options, |_, _| 3e6);
    assert_eq!(in_blocks(&steps), format!("AB{}....", "e".repeat(16)));
    assert!(steps.iter().all(|step| step.repetitions == 3));
    let result = benchmark.result().unwrap();
    assert_eq!((result.blocks.block_count, result.sample_count), (4, 8));
    assert_eq!((result.overhead_a, result.overhead_b), (3_000_000.0, 3_000_000.0));
    assert_eq!((result.blocks.median_a, result.blocks.verdict), (0.0, 0), "all of it was overhead");
    assert_eq!(result.flags, NOTHING);
    assert_eq!((result.overhead_error_a, result.empty_count), (0.0, 16));
    assert_eq!(
        benchmark.snapshot(Side::A).unwrap().highest_recorded().unwrap().upper,
        0,
        "also of single samples"
    );
    // An empty sample follows every fifth block.
    let (_, steps) = run(&BenchmarkOptions { max_blocks: 11, ..options }, |_, _| 3e6);
    assert!(in_blocks(&steps).ends_with("e.....e.....e."), "{steps:?}");
    let without = BenchmarkOptions { no_overhead: true, ..options };
    let (benchmark, steps) = run(&without, |_, _| 3e6);
    assert_eq!(steps.len(), 2 + 16);
    assert_eq!(benchmark.result().unwrap().blocks.median_a, 1_000_000.0);
    // A result in between is that of all blocks so far.
    let mut benchmark = Benchmark::create(&without, &[]).unwrap();
    while benchmark.next().unwrap().is_some() {
        benchmark.done_after(3_000_000).unwrap();
        let counted = benchmark.result().map_or(0, |result| result.blocks.block_count);
        assert_eq!(counted, benchmark.blocks().0.len() as u64);
    }
}

#[test]
fn errors_of_the_overhead() {
    let mut overhead = Overhead::default();
    for picos in [1_000.0, 1_100.0, 1_200.0] {
        overhead.add(0, picos).unwrap();
        overhead.add(1, 10.0 * picos).unwrap();
    }
    for (calls, a, b, error) in [([10, 10], 110.0, 110.0, 0.0), ([10, 200], 110.0, 55.0, 10f64.hypot(5.0))] {
        overhead.settle(calls);
        assert_eq!(overhead.per_block(), picollo_stats::BlockOverhead { a, b, error }, "{calls:?}");
    }
}

#[test]
fn overhead_is_subtracted_and_drift_does_not_matter() {
    // A call of A takes 100 ns, and one of B 103. A sample adds 30 ns, and 0.5 ns per call. All get slower and slower.
    let (mut random, mut samples) = (Random(1), 0.0);
    let options =
        BenchmarkOptions { max_blocks: 500, min_blocks: 200, budget_seconds: 1e3, ..Default::default() };
    let (benchmark, steps) = run(&options, |Sample { side, repetitions }, _| {
        if side != Side::Empty {
            samples += 1.0;
        }
        let call = [100_000.0, 103_000.0, 0.0][side as usize] * (1.0 + samples / 10_000.0);
        30_000.0 + (call + 500.0) * repetitions as f64 + 1_000.0 * random.next()
    });
    let result = benchmark.result().unwrap();
    let repetitions = result.repetitions_a;
    assert!((1_000..2_000).contains(&repetitions), "{result:?}");
    assert_eq!(result.repetitions_b, repetitions);
    assert!((result.overhead_a - (30_000.0 + 500.0 * repetitions as f64)).abs() < 2_000.0, "{result:?}");
    let blocks = result.blocks;
    assert!((blocks.median_b / blocks.median_a - 1.03).abs() < 0.003, "{blocks:?}");
    assert_eq!(blocks.verdict, Verdict::Slower as u32, "{blocks:?}");
    assert_eq!(blocks.block_count, 500, "there is time");
    assert!(steps.iter().filter(|step| step.side == Side::Empty).count() > 16 + 200 / 5);
    let text = markdown(&benchmark);
    assert!(text.starts_with("| Percentile |") && text.contains("| Verdict "), "{text}");
}

#[test]
fn misuse() {
    let mut benchmark = Benchmark::create(&BenchmarkOptions::default(), &[]).unwrap();
    assert_eq!(benchmark.done().unwrap_err().status(), Status::InvalidArgument);
    assert_eq!(benchmark.result().unwrap_err().status(), Status::Empty);
    let first = benchmark.next().unwrap();
    assert_eq!(benchmark.next().unwrap(), first, "what was begun is forgotten");
    benchmark.done().unwrap();
    assert_eq!(benchmark.done().unwrap_err().status(), Status::InvalidArgument);
    assert_eq!(benchmark.counter(0).unwrap_err().status(), Status::InvalidArgument);
    assert_eq!(benchmark.event(0).unwrap_err().status(), Status::InvalidArgument);
    assert!(benchmark.histogram(Side::Empty).is_none());
    let default = BenchmarkOptions::default();
    for options in [
        BenchmarkOptions { budget_seconds: -1.0, ..default },
        BenchmarkOptions { warm_up_seconds: f64::NAN, ..default },
        BenchmarkOptions { sample_seconds: f64::INFINITY, ..default },
        BenchmarkOptions { precision: f64::NAN, ..default },
        BenchmarkOptions { relative_threshold: f64::NAN, ..default },
        BenchmarkOptions { confidence: 1.0, ..default },
        BenchmarkOptions { resolution_seconds: f64::NAN, ..default },
        BenchmarkOptions { resolution_seconds: f64::INFINITY, ..default },
    ] {
        assert_eq!(
            Benchmark::create(&options, &[]).err().map(|error| error.status()),
            Some(Status::InvalidArgument)
        );
    }
}

#[test]
fn for_real_with_counters() {
    let options = BenchmarkOptions {
        budget_seconds: 10.0,
        max_blocks: 40,
        warm_up_seconds: 0.01,
        precision: -1.0,
        ..BenchmarkOptions::default()
    };
    let events = [Event::parse("page-faults").unwrap(), Event::parse("instructions").unwrap()];
    let touch = |pages: usize| {
        // Fresh pages: each causes a page fault.
        let mut memory = vec![0u8; 0];
        memory.reserve_exact(pages << 12);
        core::hint::black_box(memory.as_mut_ptr());
    };
    let a = || work::add_chain_256(100);
    let b = || {
        work::add_chain_256(200);
        touch(1);
    };
    let done = benchmark(&options, &events, a, b).unwrap();
    let result = done.result().unwrap();
    // Twice the work. This machine may be busy, but not so busy in most of forty blocks.
    let ratio = result.blocks.median_b / result.blocks.median_a;
    assert!((1.5..3.0).contains(&ratio), "{result:?}");
    assert_eq!(result.blocks.verdict, Verdict::Slower as u32, "{result:?}");
    let faults = done.counter(0).unwrap();
    assert_eq!(faults.status, None);
    assert!(faults.a < 1.0, "{faults:?}");
    let instructions = done.counter(1).unwrap();
    if instructions.status.is_none() {
        assert!(instructions.b > 1.5 * instructions.a, "{instructions:?}");
    } else {
        eprintln!("SKIPPED the count of instructions: status {:?}", instructions.status);
        assert!(instructions.a.is_nan());
    }
    let mut text = String::new();
    done.write_markdown(&mut text, "", "x", "y").unwrap().unwrap();
    assert!(text.contains("| Per call") && text.contains("PageFaults"), "{text}");
}

/// If counters cannot be read at either end of a sample, the error names the event and the reason.
#[cfg(target_os = "linux")]
#[test]
fn errors_say_which_event_and_why() {
    let event = Event::parse("task-clock").unwrap();
    for fails_at_the_end in [false, true] {
        let mut benchmark = Benchmark::create(&BenchmarkOptions::default(), &[event]).unwrap();
        let session = benchmark.session.as_ref().unwrap();
        if session.event_info(0).unwrap().status != 0 {
            return eprintln!("SKIPPED: {}", session.event_info(0).unwrap().message());
        }
        let fd = picollo_perf::seam::descriptor(session, 0);
        if fails_at_the_end {
            benchmark.next().unwrap();
        }
        // Replaces the event by a descriptor that cannot be read.
        let mut pipe = [0; 2];
        // SAFETY: the array has room for both. This benchmark owns the replaced descriptor, and closes its replacement.
        unsafe {
            assert_eq!(libc::pipe(pipe.as_mut_ptr()), 0);
            assert_eq!(libc::dup2(pipe[1], fd), fd);
            pipe.iter().for_each(|&end| assert_eq!(libc::close(end), 0));
        }
        let error = if fails_at_the_end { benchmark.done() } else { benchmark.next().map(drop) }.unwrap_err();
        assert_eq!((error.status(), error.os_errno(), error.event_index()), (Status::Os, libc::EBADF, 0));
        assert!(error.message().starts_with("Software:TaskClock: "), "{error}");
    }
}

/// A benchmark ends when the answer can no longer change, when it reaches the requested precision, or with the budget.
/// Samples of A take a millisecond and up to 2 % more.
#[test]
fn when_it_ends() {
    let outcome = |precision, factor: f64, confidence| {
        let mut random = Random(3);
        let options = BenchmarkOptions {
            no_overhead: true,
            repetitions: 1,
            min_blocks: 10,
            budget_seconds: 4.0,
            confidence,
            precision,
            warm_up_seconds: 1e-9,
            ..BenchmarkOptions::default()
        };
        let (benchmark, _) = run(&options, |step, _| {
            let time = if step.side == Side::B { factor } else { 1.0 };
            time * (1e9 + random.next() * 2e7)
        });
        let blocks = benchmark.result().unwrap().blocks;
        // The statement covers all looks together, and each look has its own confidence.
        assert_eq!(blocks.confidence, confidence);
        assert!(blocks.coverage >= benchmark.look_confidence() && benchmark.look_confidence() >= confidence);
        (blocks.block_count, benchmark.look_confidence(), blocks)
    };
    // A fiftieth of the budget is 80 ms.
    let (count, confidence, found) = outcome(0.0, 2.6, 0.99);
    assert!((11..=30).contains(&count) && confidence >= 0.999, "{count} {confidence} {found:?}");
    assert_eq!(found.verdict(), Verdict::Slower);
    let (count, _, found) = outcome(0.0, 1.0, 0.99);
    assert!(count < 100 && found.flags & picollo_stats::COMPARISON_WITHIN_MARGIN != 0, "{count} {found:?}");
    // A difference equal to the margin takes the whole budget and a last look that loses little.
    let (count, confidence, _) = outcome(0.0, 1.01, 0.99);
    assert!(count > 900 && (confidence - 0.992).abs() < 1e-12, "{count} {confidence}");
    let (count, confidence, _) = outcome(-1.0, 2.6, 0.99);
    assert!(count > 500 && confidence == 0.99, "{count} {confidence}");
    let (count, _, found) = outcome(0.006, 2.6, 0.95);
    let half = (found.difference_upper - found.difference_lower) / 2.0;
    assert!((31..500).contains(&count) && half <= 0.006 * found.median_a, "{count} {found:?}");
    // The errors of all looks together stay within the stated error.
    let mut looks = Looks::new(0.99, 0.0, 10);
    let mut wrong = 1.0 - looks.last_confidence();
    for blocks in 0..100_000 {
        if looks.is_due(blocks) {
            wrong += 1.0 - looks.take(blocks);
        }
    }
    assert!(wrong < 0.01 && wrong > 0.0098, "{wrong}");
}

fn budget(seconds: f64) -> BenchmarkOptions {
    BenchmarkOptions { budget_seconds: seconds, ..BenchmarkOptions::default() }
}

/// The rows must agree: the medians differ by the difference, which lies inside its interval.
fn check_rows(blocks: &BlockComparison) {
    assert!((blocks.median_b - blocks.median_a - blocks.difference).abs() < 1e-6, "{blocks:?}");
    assert!(blocks.difference_lower <= blocks.difference && blocks.difference <= blocks.difference_upper);
}

/// B takes twice as long as A, except in the first disturbed blocks. Disturbed blocks are left out up to a half. If there are more, or if
/// too few would remain, all count, and the result is noisy unless all blocks prove something.
#[test]
fn disturbed_blocks_are_left_out() {
    let noisy = |blocks: &BlockComparison| blocks.flags & COMPARISON_NOISY != 0;
    for (length, disturbed, equal, keep_disturbed, counted, verdict, is_noisy) in [
        (40, 10, 10, false, 30, Verdict::Slower, false),
        (40, 20, 20, false, 20, Verdict::Slower, false),
        (40, 21, 21, false, 40, Verdict::NoEvidence, true),
        (40, 21, 21, true, 40, Verdict::NoEvidence, false),
        (40, 10, 0, true, 40, Verdict::Slower, false),
        (40, 30, 0, false, 40, Verdict::Slower, false),
        (40, 30, 40, false, 40, Verdict::NoEvidence, false),
        (10, 5, 0, false, 10, Verdict::Slower, false),
    ] {
        let options = BenchmarkOptions { no_overhead: true, keep_disturbed, ..BenchmarkOptions::default() };
        let mut benchmark = Benchmark::create(&options, &[]).unwrap();
        // Spread over all blocks, so that no block depends on the one before it. The time changes, and the ratio does not.
        let place = |at: usize| at * 3 % length;
        let a: Vec<f64> = (0..length).map(|at| 1e5 * (1 + at % 3) as f64).collect();
        let b = (0..length).map(|at| if place(at) < equal { a[at] } else { 2.0 * a[at] }).collect();
        benchmark.blocks = [a, b];
        let disturbed: Vec<bool> = (0..length).map(|at| place(at) < disturbed).collect();
        let blocks = benchmark.compare(&disturbed, &mut Vec::new()).unwrap();
        let found = (blocks.block_count, blocks.verdict(), noisy(&blocks));
        assert_eq!(found, (counted, verdict, is_noisy), "{disturbed:?} of {length}: {blocks:?}");
        let is_exact = blocks.difference_lower == blocks.difference_upper;
        assert_eq!(is_exact, verdict == Verdict::Slower || equal == length, "{blocks:?}");
    }
}

/// A look ends the benchmark if the answer can no longer change, or is as precise as asked.
#[test]
fn looks_end_it_if_enough_is_known() {
    let mut benchmark = Benchmark::create(&budget(1.0), &[]).unwrap();
    benchmark.look_confidence = 0.95;
    let known = BlockComparison {
        coverage: 0.96,
        median_a: 100.0,
        difference: 40.0,
        difference_lower: 30.0,
        difference_upper: 50.0,
        resolution: 50.0,
        verdict: Verdict::Slower as u32,
        ..BlockComparison::default()
    };
    let within = BlockComparison { verdict: 0, flags: COMPARISON_WITHIN_MARGIN, ..known };
    for (precision, judged, is_enough) in [
        (0.0, known, true),
        (0.0, BlockComparison { difference_lower: 29.0, ..known }, false),
        (0.0, BlockComparison { verdict: 0, ..known }, false),
        (0.0, BlockComparison { coverage: 0.94, ..known }, false),
        (0.0, within, true),
        (0.0, BlockComparison { flags: COMPARISON_WITHIN_MARGIN | COMPARISON_NOISY, ..within }, false),
        (0.1, known, true),
        (0.09, known, false),
        (0.09, BlockComparison { resolution: 100.0, ..known }, true),
    ] {
        (benchmark.limits.precision, benchmark.judged) = (precision, judged);
        assert_eq!(benchmark.is_enough(), is_enough, "{precision} {judged:?}");
    }
}

/// Calls get slower, by 3.5 ns of 20, about when the first empty samples are taken. The overhead subtracted from A must
/// still be the one subtracted from B.
#[test]
fn an_overhead_that_changes_is_of_both() {
    for window in [18, 19, 20, 21, 22, 24, 30] {
        let mut noise = Random(window);
        let (benchmark, _) = run(&budget(0.2), |Sample { side, repetitions }, now| {
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

/// One of two equal loops lies a little worse and always takes 30 ps longer. For an empty call that is far above one
/// per cent, but still nothing.
#[test]
fn what_placement_changes_is_below_the_resolution() {
    for own in [0.0, 1_000.0, 5_000.0, 20_000.0] {
        let calls = [20_000.0 + own, 20_030.0 + own, 20_000.0];
        let (result, benchmark, steps) = measured(&budget(0.2), calls, 20.0);
        assert_eq!(result.blocks.verdict, 0, "{result:?}");
        assert_eq!((result.blocks.margin, result.blocks.resolution), (500.0, 500.0));
        let below = COMPARISON_MARGIN_IS_RESOLUTION | COMPARISON_BELOW_RESOLUTION;
        assert_eq!(result.blocks.flags & below, below);
        let is_nothing = own == 0.0;
        assert_eq!(result.flags, if is_nothing { NOTHING } else { 0 });
        // The precision is reached at once: the budget need not be spent on nothing.
        assert_eq!(result.blocks.block_count, 20);
        assert!(steps.len() < 500, "{}", steps.len());
        let text = markdown(&benchmark);
        assert!(text.contains("below the resolution |"), "{text}");
        assert!(text.contains("±500 (resolution) |") && text.contains("| Overhead "), "{text}");
        if own == 0.0 {
            let (upper, lower) = text.split_once("\n\n").unwrap();
            assert!(lower.contains("<500") && !lower.contains("%)"), "{text}");
            assert!(!upper.lines().any(|line| line.contains("| P50") && line.contains('%')), "{text}");
            assert!(text.contains("is its result used?"), "{text}");
        }
    }
}

/// With their own resolution, users see differences that they know to exist. One per cent of an expensive call is more
/// than half a nanosecond.
#[test]
fn the_resolution_is_an_option() {
    let outcome = |resolution_seconds, overhead| {
        let options = BenchmarkOptions { resolution_seconds, ..budget(0.2) };
        let calls = [2_900.0, 3_200.0, 0.0].map(|call| overhead + call);
        let blocks = measured(&options, calls, 20.0).0.blocks;
        (blocks.verdict, blocks.resolution)
    };
    assert_eq!(outcome(0.0, 300.0), (0, 500.0));
    assert_eq!(outcome(1e-10, 300.0), (Verdict::Slower as u32, 100.0));
    assert_eq!(outcome(-1.0, 300.0), (Verdict::Slower as u32, 0.0));
    let (verdict, resolution) = outcome(0.0, 200_000.0);
    assert!(verdict == 0 && (resolution - 2_000.0).abs() < 1.0, "{resolution}");
}

/// Times that are mostly overhead and noise: if they were cut off at zero, all errors would lie on one side.
#[test]
fn times_below_nothing_are_not_cut_off() {
    let options =
        BenchmarkOptions { max_blocks: 400, resolution_seconds: -1.0, precision: -1.0, ..budget(10.0) };
    // Faster than the empty call, as a function that is called in another way may be.
    let blocks = measured(&options, [19_950.0, 19_910.0, 20_000.0], 60.0).0.blocks;
    let found = [blocks.median_a + 50.0, blocks.median_b + 90.0, blocks.difference + 40.0];
    assert!(found.iter().all(|off| off.abs() < 10.0), "{blocks:?}");
}

/// An interruption during the search for the number of calls must not leave either side with a few calls per sample.
#[test]
fn interrupted_calibration() {
    for interrupted in 0..40 {
        let mut taken = 0;
        let (benchmark, _) = run(&budget(0.2), |Sample { side, repetitions }, _| {
            let own = if side == Side::Empty { 0.0 } else { 10_000.0 };
            taken += 1;
            // Another program takes 3 ms.
            let extra = if taken == interrupted { 3.0 * MILLI as f64 } else { 0.0 };
            30_000.0 + (own + 20_000.0) * repetitions as f64 + extra
        });
        let result = benchmark.result().unwrap();
        assert_eq!(result.repetitions_a, result.repetitions_b);
        assert!(result.repetitions_a > 5_000, "{interrupted}: {result:?}");
        assert_eq!(result.blocks.verdict, 0);
    }
}

/// Both sides get the same number of calls unless samples of one of them would be far too short or too long.
#[test]
fn numbers_of_calls() {
    for (a, b, is_alike) in
        [(0.0, 0.0, true), (0.0, 55_000.0, true), (10_000.0, 95_000.0, true), (10_000.0, 105_000.0, false)]
    {
        let (result, _, steps) = measured(&budget(0.2), [20_000.0 + a, 20_000.0 + b, 20_000.0], 10.0);
        assert_eq!(result.repetitions_a == result.repetitions_b, is_alike, "{result:?}");
        let overhead = |calls: u64| {
            steps.iter().filter(|step| **step == Sample { side: Side::Empty, repetitions: calls }).count()
        };
        assert!(overhead(result.repetitions_a) >= 16 && overhead(result.repetitions_b) >= 16);
        let per_call = result.overhead_a / result.repetitions_a as f64;
        assert!((per_call - 20_005.0).abs() < 5.0, "{result:?}");
        assert!((result.blocks.difference - (b - a)).abs() < 20.0, "{result:?}");
        assert_eq!(result.blocks.verdict, if a == b { 0 } else { Verdict::Slower as u32 });
    }
}

/// The compiler removed A and B, but not the empty call, which then limits the number of calls.
#[test]
fn what_takes_no_time_ends_in_time() {
    for overhead in [0.0, 0.3, 300.0] {
        let mut longest = 0.0f64;
        let (benchmark, _) = run(&budget(0.2), |Sample { side, repetitions }, _| {
            let took = if side == Side::Empty { overhead * repetitions as f64 } else { 0.0 } + 20_000.0;
            longest = longest.max(took);
            took
        });
        let result = benchmark.result().unwrap();
        assert!(benchmark.elapsed() <= MILLI * 200, "{overhead}: {} ms", benchmark.elapsed() / MILLI);
        assert!(longest <= 10.0 * 2e8, "a sample takes what it should: {longest}");
        assert_eq!(result.blocks.verdict, 0);
        assert_eq!(result.flags, NOTHING);
        assert!(result.repetitions_a.max(result.repetitions_b) <= 1 << 40, "{result:?}");
    }
    for (calls, nothing) in
        [([20_000.0, 25_000.0], BENCHMARK_NOTHING_A), ([25_000.0, 20_000.0], BENCHMARK_NOTHING_B)]
    {
        let (result, benchmark, _) = measured(&budget(0.2), [calls[0], calls[1], 20_000.0], 20.0);
        assert_eq!(result.flags, nothing);
        assert!(markdown(&benchmark).contains("is its result used?"));
    }
}

/// If a call exceeds the budget, there is one block, and the result says so.
#[test]
fn longer_than_the_budget() {
    let (benchmark, steps) = run(&budget(0.1), |Sample { side, repetitions }, _| match side {
        Side::Empty => 30_000.0,
        _ => 1000.0 * MILLI as f64 * repetitions as f64,
    });
    let result = benchmark.result().unwrap();
    let calls: u64 = steps.iter().filter(|step| step.side != Side::Empty).map(|step| step.repetitions).sum();
    assert!(calls <= 5, "one of the warm-up, and a block of four: {steps:?}");
    assert_eq!((result.blocks.block_count, result.blocks.verdict), (1, 0));
    assert_eq!(result.flags, BENCHMARK_BUDGET_SPENT);
    let text = markdown(&benchmark);
    assert!(text.contains("The budget was spent before"), "{text}");

    // Code gets a thousand times slower when measured: the running sample ends, and all later ones have one call each.
    let mut empties = 0;
    let (benchmark, steps) = run(&budget(0.1), |Sample { side, repetitions }, _| {
        empties = if side == Side::Empty { empties + 1 } else { empties * u64::from(empties >= 16) };
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
    assert!(result.overhead_a < 1_000.0, "that of one call, too: {result:?}");
    let slow = steps.iter().rev().take_while(|step| step.side != Side::Empty).map(|step| step.repetitions);
    assert!(slow.filter(|&calls| calls > 1).count() <= 1, "{steps:?}");

    // It ends with the sample that exceeds the budget: in the third block, and the empty one behind the fifth block. A requested
    // number of calls stays.
    let fixed = BenchmarkOptions {
        repetitions: 7,
        warm_up_seconds: 1e-12,
        precision: -1.0,
        ..BenchmarkOptions::default()
    };
    for (budget_seconds, no_overhead, length) in
        [(0.105, true, 2 + 2 * 4 + 1), (0.385, false, 2 + 16 + 5 * 4 + 1), (0.005, false, 1 + 1 + 4)]
    {
        let options = BenchmarkOptions { budget_seconds, no_overhead, ..fixed };
        let (_, steps) = run(&options, |_, _| 10.0 * MILLI as f64);
        assert_eq!(steps.len(), length, "{budget_seconds}: {steps:?}");
        assert!(steps.iter().all(|step| step.repetitions == 7), "{steps:?}");
    }

    // A warm-up longer than the budget.
    let options = BenchmarkOptions { warm_up_seconds: 100.0, ..budget(0.1) };
    let (result, benchmark, _) = measured(&options, [1e6; 3], 0.0);
    assert!(benchmark.elapsed() < 105 * MILLI, "{} ms", benchmark.elapsed() / MILLI);
    assert_ne!(result.flags & BENCHMARK_BUDGET_SPENT, 0);

    // Requested samples longer than the budget.
    let options = BenchmarkOptions { sample_seconds: 10.0, ..budget(0.1) };
    let (_, benchmark, _) = measured(&options, [1e6; 3], 0.0);
    assert!(benchmark.elapsed() < 300 * MILLI, "{} ms", benchmark.elapsed() / MILLI);
}

/// Real differences are found, above half a nanosecond and above one per cent.
#[test]
fn planted() {
    for (short, long) in [(20_000.0, 21_000.0), (100_000.0, 105_000.0)] {
        for (a, b, verdict) in [(short, long, Verdict::Slower), (long, short, Verdict::Faster)] {
            let calls = [20_000.0 + a, 20_000.0 + b, 20_000.0];
            let (result, ..) = measured(&budget(1.0), calls, 0.02 * (20_000.0 + a));
            assert_eq!(result.blocks.verdict, verdict as u32);
        }
    }
    // Under Valgrind, times mean nothing.
    let (_, mut benchmark, _) = measured(&budget(1.0), [40_000.0, 41_000.0, 20_000.0], 400.0);
    benchmark.is_simulated = true;
    let result = benchmark.result().unwrap();
    assert_eq!((result.blocks.verdict, result.flags), (0, BENCHMARK_SIMULATED));
}

/// For real: closures that do nothing, which once ran for hours.
#[test]
fn nothing_against_nothing_ends() {
    let began = std::time::Instant::now();
    let done = benchmark(&budget(0.1), &[], || {}, || {}).unwrap();
    // Generous: it takes a tenth of a second, and once took hours.
    assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
    let result = done.result().unwrap();
    assert!(result.repetitions_a < 1 << 32, "{result:?}");
    check_rows(&result.blocks);
    // Returned values are kept from the optimizer.
    let mut calls = 0u64;
    let count = || {
        calls += 1;
        calls
    };
    let counted = benchmark(&budget(0.02), &[], count, || 7).unwrap();
    assert!(counted.result().unwrap().sample_count > 0 && calls > 0);
}
