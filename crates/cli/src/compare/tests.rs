//! Tests of left-out blocks and unproven results, with made-up blocks.

use super::*;

fn arguments() -> Arguments {
    Arguments {
        names: ["A".into(), "B".into()],
        warm_up: 1,
        options: BenchmarkOptions { confidence: 0.99, ..BenchmarkOptions::default() },
        events: Vec::new(),
        has_all: false,
    }
}

/// Twenty blocks in which B takes twice as much CPU time, and ten in the middle in which it takes half as much.
fn measured(left_out: Vec<usize>, wall: BlockComparison) -> Measured {
    let of = |side: usize, at: usize| {
        let cpu = if side == 1 && (10..20).contains(&at) { 0.5 } else { (1 + side) as f64 };
        let mut values = vec![Some(0.0); 11];
        values[1] = Some(cpu + (at * 7 % 10) as f64 * 1e-6);
        values
    };
    let blocks = (0..30).map(|at| [of(0, at), of(1, at)]).collect();
    let noise =
        BenchmarkNoise { block_count: 30, disturbed_count: 10, seconds: 5.0, ..BenchmarkNoise::default() };
    Measured { blocks, left_out, noise, wall, look_confidence: 0.992, is_disturbed: false }
}

#[test]
fn what_is_left_out_does_not_count() {
    let wall = BlockComparison::default();
    let all = compare(&measured(Vec::new(), wall), &arguments()).unwrap();
    assert_eq!(all[1].found.unwrap().verdict(), Verdict::NoEvidence);
    let quiet = compare(&measured((10..20).collect(), wall), &arguments()).unwrap();
    let cpu = quiet[1].found.unwrap();
    assert_eq!((cpu.verdict(), cpu.block_count, cpu.confidence), (Verdict::Slower, 20, 0.99));
    assert!((cpu.difference - 1.0).abs() < 1e-5 && cpu.coverage >= 0.992, "{cpu:?}");
}

/// The library's verdict on the wall time stands, whatever it was. The metrics of the program have their own verdicts.
#[test]
fn noise_proves_nothing() {
    let wall = BlockComparison { flags: COMPARISON_NOISY, ..BlockComparison::default() };
    let noisy = compare(&measured((10..20).collect(), wall), &arguments()).unwrap();
    let wall = noisy[WALL].found.unwrap();
    assert_eq!(report::verdict_text(wall.verdict, wall.flags), "unproven: noisy");
    assert!(report::sentence(&arguments(), &wall).starts_with("Unproven: "));
    assert_eq!(noisy[1].found.unwrap().verdict(), Verdict::Slower, "CPU time");
    let told = noise(&measured(Vec::new(), wall).noise);
    assert_eq!((&told["disturbed"], &told["seconds"]), (&json!(10), &json!(5.0)));
    assert!(told["steal_seconds"].is_null() && told["cpus"].is_null(), "what is not known is not 0: {told}");
}

#[test]
fn runs_of_the_newer_command_are_saved() {
    let mut measured = measured(Vec::new(), BlockComparison::default());
    for [a, b] in &mut measured.blocks {
        (a[WALL], b[WALL]) = (Some(1.0), Some(2.0));
    }
    let saved = memory::histogram(&measured).unwrap();
    assert!((saved.moments().mean / 2e12 - 1.0).abs() < 0.01);
    let found = picollo_stats::RunComparison { mean: 1e12, value: 2e12, ..Default::default() };
    let against = picollo_bench::baseline::Against { comparison: Some(found), notes: Vec::new() };
    let memory = Memory::new("", None, Some("main"), String::new()).unwrap();
    let told = &memory.json(&against, false)["comparison"];
    assert_eq!((&told["mean"], &told["now"]), (&json!(1.0), &json!(2.0)));
}

#[test]
fn picoseconds_are_seconds() {
    let wall = BlockComparison {
        median_a: 2e12,
        resolution: 2e7,
        difference_upper: f64::INFINITY,
        ..Default::default()
    };
    let wall = in_seconds(wall);
    assert_eq!((wall.median_a, wall.resolution, wall.difference_upper), (2.0, 2e-5, f64::INFINITY));
}

#[test]
fn budgets_are_durations_and_say_what_they_may_be() {
    for (text, seconds) in [("10", 10.0), ("0.5", 0.5), ("8s", 8.0), ("1m", 60.0), ("200ms", 0.2)] {
        assert_eq!(budget(text), Ok(seconds), "{text}");
    }
    for text in ["0", "1000001", "20d"] {
        assert_eq!(
            budget(text),
            Err(format!("{text} is not a budget: use more than 0 and at most 1000000 seconds, such as 8s"))
        );
    }
    for text in ["1e9", "nan", "-1", "inf", ""] {
        assert!(budget(text).unwrap_err().contains("is not a duration"), "{text}");
    }
    assert_eq!(share("0.95"), Ok(0.95));
    for text in ["0", "1", "-0.5", "nan", "inf", ""] {
        assert!(share(text).is_err(), "{text}");
    }
}
