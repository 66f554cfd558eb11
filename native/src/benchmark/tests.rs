//! The schedule and the judgement, with times that the tests make up; and once for real.

use super::*;
use crate::work;

/// Runs a benchmark whose samples take what `time` says, in picoseconds; tells the steps.
fn simulate(options: &BenchmarkOptions, mut time: impl FnMut(Step) -> u64) -> (Benchmark, Vec<Step>) {
    let mut benchmark = Benchmark::create(options, &[]).unwrap();
    let mut steps = Vec::new();
    while let Some(step) = benchmark.next().unwrap() {
        steps.push(step);
        benchmark.done_after(time(step)).unwrap();
        assert!(steps.len() < 1_000_000);
    }
    assert_eq!(benchmark.next().unwrap(), None);
    assert_eq!(benchmark.progress(), 1.0);
    (benchmark, steps)
}

/// Up to 1023 picoseconds more, a fixed sequence.
fn noise(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 54
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
    let (benchmark, steps) = simulate(&options, |_| 3_000_000);
    let told: String = steps.iter().map(|step| ['A', 'B', 'e'][step.side as usize]).collect();
    assert_eq!(told, format!("AB{}ABBABAABABBABAAB", "e".repeat(16)));
    assert!(steps.iter().all(|step| step.repetitions == 3));
    let result = benchmark.result().unwrap();
    assert_eq!((result.blocks.block_count, result.sample_count), (4, 8));
    assert_eq!((result.overhead_a, result.overhead_b), (3_000_000.0, 3_000_000.0));
    assert_eq!((result.blocks.median_a, result.blocks.verdict), (0.0, 0), "all of it was overhead");
    assert_eq!(result.flags, BENCHMARK_NOTHING_A | BENCHMARK_NOTHING_B);
    assert_eq!((result.overhead_error_a, result.empty_count), (0.0, 16));
    // An empty sample between blocks, after every fifth.
    let (_, steps) = simulate(&BenchmarkOptions { max_blocks: 11, ..options }, |_| 3_000_000);
    let told: String = steps.iter().map(|step| ['A', 'B', 'e'][step.side as usize]).collect();
    assert!(told.ends_with("eABBABAABABBABAABABBAeBAABABBABAABABBABAABeABBA"), "{told}");
    let without = BenchmarkOptions { flags: BENCHMARK_NO_OVERHEAD, ..options };
    let (benchmark, steps) = simulate(&without, |_| 3_000_000);
    assert_eq!(steps.len(), 2 + 16);
    assert_eq!(benchmark.result().unwrap().blocks.median_a, 1_000_000.0);
}

#[test]
fn overhead_is_subtracted_and_drift_does_not_matter() {
    // A call of A takes 100 ns and one of B 103; a sample 30 ns more and half a nanosecond a call, and all gets slower and slower.
    let mut state = 1;
    let mut samples = 0.0;
    let options = BenchmarkOptions { max_blocks: 500, min_blocks: 200, ..BenchmarkOptions::default() };
    let (benchmark, steps) = simulate(&options, |Step { side, repetitions }| {
        if side != Side::Empty {
            samples += 1.0;
        }
        let call = [100_000.0, 103_000.0, 0.0][side as usize] * (1.0 + samples / 10_000.0);
        30_000 + ((call + 500.0) * repetitions as f64) as u64 + noise(&mut state)
    });
    let result = benchmark.result().unwrap();
    let repetitions = result.repetitions_a;
    assert!((1_000..2_000).contains(&repetitions), "{result:?}");
    assert_eq!(result.repetitions_b, repetitions);
    assert!((result.overhead_a - (30_000.0 + 500.0 * repetitions as f64)).abs() < 2_000.0, "{result:?}");
    let blocks = result.blocks;
    assert!((blocks.median_b / blocks.median_a - 1.03).abs() < 0.003, "{blocks:?}");
    assert_eq!(blocks.verdict, picollo_core::Verdict::Slower as u32, "{blocks:?}");
    assert!(blocks.block_count < 500, "precise enough before");
    assert!(steps.iter().filter(|step| step.side == Side::Empty).count() > 16 + 200 / 5);
    assert_eq!(benchmark.pilot_block_count(), 200);
    assert_eq!(benchmark.blocks().0.len() as u64, 200 + blocks.block_count);
    let mut text = String::new();
    benchmark.write_markdown(&mut text, "ps a call", "", "").unwrap().unwrap();
    assert!(text.starts_with("##### ps a call\n| Percentile |") && text.contains("| Verdict "), "{text}");
}

#[test]
fn the_same_is_not_told_apart() {
    let mut state = 7;
    let options = BenchmarkOptions { max_blocks: 100, ..BenchmarkOptions::default() };
    let (benchmark, _) = simulate(&options, |step| match step.side {
        Side::Empty => 0,
        _ => step.repetitions * 1_000_000 + noise(&mut state) * step.repetitions * 50,
    });
    let blocks = benchmark.result().unwrap().blocks;
    assert_eq!(blocks.verdict, 0, "{blocks:?}");
    assert_eq!(blocks.block_count, 100, "not precise enough");
}

#[test]
fn what_takes_no_time_ends_too() {
    let options = BenchmarkOptions { max_blocks: 30, warm_up_seconds: 1e-12, ..BenchmarkOptions::default() };
    let (benchmark, _) = simulate(&options, |_| 0);
    let result = benchmark.result().unwrap();
    assert_eq!((result.blocks.median_a, result.blocks.verdict), (0.0, 0));
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
    let options = BenchmarkOptions { flags: 4, ..default };
    assert_eq!(Benchmark::create(&options, &[]).err().map(|error| error.status()), Some(Status::Unsupported));
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
        // Fresh pages: each is a fault.
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
    // Twice the work; this machine may be busy, but not that busy in most of forty blocks.
    let ratio = result.blocks.median_b / result.blocks.median_a;
    assert!((1.5..3.0).contains(&ratio), "{result:?}");
    assert_eq!(result.blocks.verdict, picollo_core::Verdict::Slower as u32, "{result:?}");
    let faults = done.counter(0).unwrap();
    assert_eq!(faults.status, 0);
    assert!(faults.a < 1.0, "{faults:?}");
    let instructions = done.counter(1).unwrap();
    if instructions.status == 0 {
        assert!(instructions.b > 1.5 * instructions.a, "{instructions:?}");
    } else {
        eprintln!("SKIPPED the count of instructions: status {}", instructions.status);
        assert!(instructions.a.is_nan());
    }
    let mut text = String::new();
    done.write_markdown(&mut text, "", "x", "y").unwrap().unwrap();
    assert!(text.contains("| Per call") && text.contains("PageFaults"), "{text}");
}

/// Where counters cannot be read, the error says which event it is about, and why: from either end of a sample.
#[cfg(picollo_linux)]
#[test]
fn errors_say_which_event_and_why() {
    let event = Event::parse("task-clock").unwrap();
    for fails_at_the_end in [false, true] {
        let mut benchmark = Benchmark::create(&BenchmarkOptions::default(), &[event]).unwrap();
        let session = benchmark.session.as_ref().unwrap();
        if session.event_info(0).unwrap().status != 0 {
            return eprintln!("SKIPPED: {}", session.event_info(0).unwrap().message());
        }
        let fd = session.opened.counters[0].fd;
        if fails_at_the_end {
            benchmark.next().unwrap();
        }
        // In the event's place something that cannot be read.
        let mut pipe = [0; 2];
        // SAFETY: the array has room for the two; what is replaced is this benchmark's own, which closes what takes its place.
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

/// Where there is no room for the blocks that a pilot asks for, all are judged, up to the end. Samples take a millisecond, by up to 1 % more.
#[test]
fn a_pilot_needs_room() {
    let told = |budget_seconds, max_blocks, keep: fn(&mut u64) -> u64| {
        let mut state = 3;
        let options = BenchmarkOptions {
            flags: BENCHMARK_NO_OVERHEAD,
            repetitions: 1,
            budget_seconds,
            max_blocks,
            precision: 0.001,
            warm_up_seconds: 0.2,
            ..BenchmarkOptions::default()
        };
        let mut benchmark = Benchmark::create(&options, &[]).unwrap();
        benchmark.simulated = Some(0);
        while benchmark.next().unwrap().is_some() {
            benchmark.done_after(1_000_000_000 + keep(&mut state)).unwrap();
        }
        let (measured, pilot) = (benchmark.blocks().0.len(), benchmark.pilot_block_count());
        let judged = benchmark.result().unwrap().blocks.block_count as usize;
        assert_eq!(judged, measured - pilot);
        let noise = benchmark.noise().unwrap();
        assert_eq!((noise.block_count as usize, noise.left_out_count), (judged, 0));
        (pilot, measured)
    };
    let some = |state: &mut u64| noise(state) * 10_000;
    // Equal differences are narrow at once, and the fewest blocks are enough.
    assert_eq!(told(5.0, 0, |_| 0), (20, 40));
    let (pilot, measured) = told(5.0, 0, some);
    assert!((20..=40).contains(&pilot) && measured > pilot + 20, "{pilot} {measured}");
    assert_eq!(told(5.0, measured as u32, some), (pilot, measured));
    assert_eq!(told(5.0, measured as u32 - 1, some).0, 0);
    // Four milliseconds a block after the warm-up, and as much again to spare.
    let all = 0.2 + 0.00402 * (pilot + 2 * (measured - pilot)) as f64;
    assert_eq!(told(all + 0.01, 0, some), (pilot, measured));
    let (pilot, measured) = told(all - 0.01, 0, some);
    assert!(pilot == 0 && measured > 40, "{pilot} {measured}");
}
