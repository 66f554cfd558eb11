//! Tests of a run against earlier ones: known values, alarm rates in simulations, and rejected input.

use super::tests::{Random, near};
use super::*;
use std::format;
use std::vec::Vec;

fn against(earlier: &[f64], value: f64) -> RunComparison {
    compare_runs(earlier, value, &CompareOptions::default()).unwrap()
}

/// Without a margin, so that the rate is the stated one.
const BARE: CompareOptions = CompareOptions {
    quantile: 0.0,
    confidence: 0.0,
    relative_threshold: -1.0,
    absolute_threshold: 0.0,
    power: 0.0,
    resolution: 0.0,
    look_confidence: 0.0,
};

#[test]
fn worked_by_hand() {
    // Mean 100, deviation sqrt(2.5); t(4) at 0.995 is 4.604095.
    let earlier = [98.0, 99.0, 100.0, 101.0, 102.0];
    let half = 4.604_094_871 * f64::sqrt(2.5) * f64::sqrt(1.2);
    let found = against(&earlier, 110.0);
    near(found.mean, 100.0, 1e-12);
    near(found.deviation, f64::sqrt(2.5), 1e-12);
    near(found.difference_lower, 10.0 - half, 1e-6);
    near(found.difference_upper, 10.0 + half, 1e-6);
    near(found.margin, 1.0, 1e-12);
    near(found.alarm_bound, 1.0 / 3.0, 1e-15);
    assert_eq!((found.run_count, found.lowest, found.highest, found.confidence), (5, 98.0, 102.0, 0.99));
    assert_eq!(Verdict::from_code(found.verdict), Verdict::Slower);
}

#[test]
fn the_verdict_is_not_finer_than_the_spread() {
    let earlier = [98.0, 99.0, 100.0, 101.0, 102.0];
    let verdict = |value| Verdict::from_code(against(&earlier, value).verdict);
    // 100 + 1 + 7.974.
    assert_eq!(verdict(108.9), Verdict::NoEvidence);
    assert_eq!(verdict(109.0), Verdict::Slower);
    assert_eq!(verdict(91.1), Verdict::NoEvidence);
    assert_eq!(verdict(91.0), Verdict::Faster);
    // Student's interval is narrow for one outlier among many; the range is not.
    let mut many = [100.0; 60];
    many[30] = 110.0;
    let found = against(&many, 110.5);
    assert_eq!(Verdict::from_code(found.verdict), Verdict::NoEvidence);
    assert!(found.difference_lower <= 0.5, "{found:?}");
    assert_eq!(Verdict::from_code(against(&many, 111.5).verdict), Verdict::Slower);
    many[30] = 90.0;
    let found = against(&many, 89.5);
    assert_eq!(Verdict::from_code(found.verdict), Verdict::NoEvidence);
    assert!(found.difference_upper >= -0.5, "{found:?}");
    assert_eq!(Verdict::from_code(against(&many, 88.5).verdict), Verdict::Faster);
    // If runs do not differ, only the margin and the resolution remain.
    let equal = [100.0; 5];
    assert_eq!(Verdict::from_code(against(&equal, 101.5).verdict), Verdict::Slower);
    let options = CompareOptions { resolution: 2.0, ..CompareOptions::default() };
    let found = compare_runs(&equal, 101.5, &options).unwrap();
    assert_ne!(found.flags & COMPARISON_BELOW_RESOLUTION, 0);
}

#[test]
fn too_few_runs_give_no_verdict() {
    for count in 1..5 {
        let found = against(&[100.0; 5][..count], 1e9);
        assert_eq!(found.verdict, 0);
        assert_ne!(found.flags & COMPARISON_TOO_FEW, 0);
        assert!(found.smallest_detectable.is_infinite() && found.difference_lower.is_infinite());
        assert_eq!(found.run_count, count as u64);
    }
    assert_eq!(compare_runs(&[], 1.0, &BARE), Err(Error::Empty));
}

#[test]
fn what_is_refused_and_what_is_extreme() {
    for (earlier, value) in [(f64::NAN, 1.0), (1.0, f64::NAN), (f64::INFINITY, 1.0), (1.0, f64::NEG_INFINITY)]
    {
        assert_eq!(compare_runs(&[1.0, earlier], value, &BARE), Err(Error::InvalidArgument));
    }
    for options in [
        CompareOptions { confidence: 1.0, ..BARE },
        CompareOptions { confidence: -0.5, ..BARE },
        CompareOptions { power: 2.0, ..BARE },
        CompareOptions { relative_threshold: f64::NAN, ..BARE },
    ] {
        assert_eq!(compare_runs(&[1.0; 5], 1.0, &options), Err(Error::InvalidArgument));
    }
    // The sums of these exceed the largest double.
    for earlier in [[f64::MAX; 6], [0.0; 6], [-f64::MAX, f64::MAX, 0.0, 0.0, -f64::MAX, f64::MAX]] {
        let found = against(&earlier, 1.0);
        assert!(!found.difference_lower.is_nan() && !found.difference_upper.is_nan(), "{found:?}");
        let _ = format!("{found}");
    }
}

/// Alarms on equal runs come at the stated rate if runs are distributed normally. For other distributions they stay
/// below the bound: with outliers in one run of ten, and with a heavy tail to one side.
#[test]
fn alarms_come_at_the_stated_rate() {
    const ROUNDS: u32 = 20_000;
    let mut random = Random(3);
    for count in [5, 10, 50] {
        for (name, kind) in [("normal", 0), ("outliers", 1), ("heavy tail", 2)] {
            let mut draw = || match kind {
                0 => 1000.0 + random.normal(),
                1 if random.uniform() < 0.1 => 1000.0 + 20.0 * random.exponential(),
                1 => 1000.0 + random.normal(),
                _ => 1000.0 + f64::exp(1.5 * random.normal()),
            };
            let mut alarms = 0;
            let mut bound = 0.0;
            for _ in 0..ROUNDS {
                let earlier: Vec<f64> = (0..count).map(|_| draw()).collect();
                let found = compare_runs(&earlier, draw(), &BARE).unwrap();
                alarms += u32::from(found.verdict != 0);
                bound = found.alarm_bound;
            }
            let rate = f64::from(alarms) / f64::from(ROUNDS);
            std::println!("{count} runs, {name}: alarms {rate}, bound {bound}");
            assert!(rate <= bound, "{rate}");
            if kind == 0 {
                // Five standard errors around 1 %; below it if the range of the runs is wider than Student's interval.
                assert!(rate <= 0.0135, "{rate}");
                assert!(count == 50 || rate >= 0.0065, "{rate}");
            }
        }
    }
}

/// A detectable difference is found about as often as stated; the few runs make it inexact.
#[test]
fn what_is_detectable_is_detected() {
    const ROUNDS: u32 = 4_000;
    let mut random = Random(9);
    for count in [10, 40] {
        let mut found = 0;
        for _ in 0..ROUNDS {
            let earlier: Vec<f64> = (0..count).map(|_| 1000.0 + random.normal()).collect();
            let shift = against(&earlier, 1000.0).smallest_detectable;
            let compared = against(&earlier, 1000.0 + shift + random.normal());
            found += u32::from(Verdict::from_code(compared.verdict) == Verdict::Slower);
        }
        let share = f64::from(found) / f64::from(ROUNDS);
        std::println!("{count} runs: {share} of the detectable found");
        assert!((0.7..=0.9).contains(&share), "{share}");
    }
}

#[test]
fn runs_that_drift_widen_the_interval() {
    let drifting: Vec<f64> =
        (0..40).map(|at| 100.0 + f64::from(at) * 0.1 + f64::from(at % 3) * 0.01).collect();
    let mut shuffled = drifting.clone();
    let mut random = Random(1);
    for at in (1..shuffled.len()).rev() {
        shuffled.swap(at, (random.uniform() * (at + 1) as f64) as usize);
    }
    let (drift, plain) = (against(&drifting, 102.0), against(&shuffled, 102.0));
    assert_ne!(drift.flags & COMPARISON_AUTOCORRELATED, 0);
    assert_eq!(plain.flags & COMPARISON_AUTOCORRELATED, 0);
    assert!(drift.difference_upper > 2.0 * plain.difference_upper);
    assert!(format!("{drift}").ends_with("depend on those before them"));
}

#[test]
fn sentences() {
    let earlier = [98.0, 99.0, 100.0, 101.0, 102.0];
    assert_eq!(
        format!("{}", against(&earlier, 120.0)),
        "slower: +20.0% [+12.0%, +28.0%] against 5 earlier runs, which did not alternate with this one and spread over 4.0%; a change \
         of 10.4% would most likely be found"
    );
    assert_eq!(format!("{}", against(&earlier[..1], 1.0)), "1 earlier run of 5: too few for a verdict");
}
