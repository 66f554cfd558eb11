//! What is left out and what is unproven, of blocks that are made up.

use super::*;

fn arguments() -> Arguments {
    Arguments {
        names: ["A".into(), "B".into()],
        budget: 1.0,
        precision: 0.0,
        min_blocks: 1,
        max_blocks: 100,
        warm_up: 1,
        threshold: 0.01,
        confidence: 0.99,
        events: Vec::new(),
        keeps_disturbed: false,
    }
}

/// Twenty blocks in which B takes twice as long, and ten in the middle in which it takes half as long.
fn measured(left_out: Vec<usize>, is_noisy: bool) -> Measured {
    let of = |side: usize, at: usize| {
        let wall = if side == 1 && (10..20).contains(&at) { 0.5 } else { (1 + side) as f64 };
        let mut values = vec![Some(0.0); 9];
        (values[WALL], values[1]) = (Some(wall + at as f64 * 1e-6), Some(0.1 * (1 + side) as f64));
        values
    };
    let blocks = (0..30).map(|at| [of(0, at), of(1, at)]).collect();
    let noise =
        BenchmarkNoise { block_count: 30, disturbed_count: 10, seconds: 5.0, ..BenchmarkNoise::default() };
    Measured { blocks, pilot: 0, left_out, noise, is_noisy }
}

#[test]
fn what_is_left_out_does_not_count() {
    let all = compare(&measured(Vec::new(), false), &arguments()).unwrap();
    assert_eq!(all[WALL].found.unwrap().verdict(), Verdict::NoEvidence);
    let quiet = compare(&measured((10..20).collect(), false), &arguments()).unwrap();
    let wall = quiet[WALL].found.unwrap();
    assert_eq!((wall.verdict(), wall.block_count), (Verdict::Slower, 20));
    assert!((wall.difference - 1.0).abs() < 1e-6);
}

/// Whatever it was that the pilot saw.
#[test]
fn the_pilot_is_not_judged() {
    let pilot = Measured { pilot: 20, ..measured(vec![22], false) };
    assert_eq!(pilot.counting().len(), 9);
    let wall = compare(&pilot, &arguments()).unwrap()[WALL].found.unwrap();
    assert_eq!((wall.verdict(), wall.block_count), (Verdict::Slower, 9));
}

/// Nothing is proven of the time, whatever it was; what the program did in it stands.
#[test]
fn noise_proves_nothing() {
    let noisy = compare(&measured(Vec::new(), true), &arguments()).unwrap();
    let wall = noisy[WALL].found.unwrap();
    assert_eq!((wall.verdict(), wall.flags & COMPARISON_NOISY), (Verdict::NoEvidence, COMPARISON_NOISY));
    assert_eq!(report::said(wall.verdict, wall.flags), "unproven: noisy");
    assert!(report::sentence(&arguments(), &noisy[WALL].metric, &wall).starts_with("Unproven: "));
    assert_eq!(noisy[1].found.unwrap().verdict(), Verdict::Slower, "CPU time");
    let told = noise(&measured(Vec::new(), true).noise);
    assert_eq!((&told["disturbed"], &told["seconds"]), (&json!(10), &json!(5.0)));
    assert!(told["steal_seconds"].is_null() && told["cpus"].is_null(), "what is not known is not 0: {told}");
}
