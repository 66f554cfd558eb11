//! Totals beyond 2^64 - 1 saturate in reports, but the real counts still decide every rank.

use picollo_core::doubles::{DoubleHistogram, DoubleOptions, DoubleSnapshot, QuantileRule};
use picollo_core::layouts::{AtomicU64, ValueSelection};
use picollo_core::snapshots::{Counts, SUMMARY_RANKS};
use picollo_core::{Histogram, Layout, Since, Snapshot};
use picollo_stats::{CompareOptions, compare_snapshots, quantile_interval};
use proptest::prelude::*;

const LAYOUT: Layout = Layout::new(0.1, 0, 1 << 20);

fn snapshot(counts: &[(u64, u64)], base: bool) -> Box<Snapshot> {
    let histogram = Histogram::<[AtomicU64]>::boxed(LAYOUT, true).unwrap();
    let mut snapshot = Snapshot::boxed(LAYOUT).unwrap();
    if base {
        // This makes the counts differences.
        (0..1 << 20).step_by(1000).for_each(|value| histogram.record_n(value, value | 1));
        histogram.reset().unwrap();
    }
    counts.iter().for_each(|&(value, count)| histogram.record_n(value, count));
    snapshot.update(&*histogram, Since::Reset).unwrap();
    snapshot
}

/// Counts by bucket, with one entry per bucket, some of them near 2^64.
fn counts() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let count = prop_oneof![
        3 => (0u64..1000).prop_map(|less| u64::MAX - less),
        1 => 1u64..1000,
        2 => (0u32..64, any::<u64>()).prop_map(|(shift, count)| (count >> shift).max(1)),
    ];
    prop::collection::btree_map(0..LAYOUT.length() as u64, count, 1..40).prop_map(|counts| {
        counts.into_iter().map(|(index, count)| (LAYOUT.bucket_at(index).lower, count)).collect()
    })
}

/// The bucket of a rank in units of 1e-9 %, and the counts before it.
fn oracle(counts: &[(u64, u64)], units: u64) -> (u64, u128, u128) {
    let total: u128 = counts.iter().map(|&(_, count)| u128::from(count)).sum();
    let target = (u128::from(units) * total).div_ceil(100_000_000_000).max(1);
    let mut before = 0;
    for &(value, count) in counts {
        if before + u128::from(count) >= target {
            return (value, before, target);
        }
        before += u128::from(count);
    }
    unreachable!()
}

proptest! {
    #[test]
    fn ranks_are_those_of_the_counts(
        mut counts in counts(), mut ranks in prop::collection::vec(0u64..=100_000_000_000, 1..80),
        sorted in any::<bool>(), base in any::<bool>()
    ) {
        if base {
            // This prevents cells from wrapping.
            counts.iter_mut().for_each(|(_, count)| *count = (*count).min(u64::MAX - (1 << 21)));
        }
        let snapshot = snapshot(&counts, base);
        let total: u128 = counts.iter().map(|&(_, count)| u128::from(count)).sum();
        let told = u64::try_from(total).unwrap_or(u64::MAX);
        prop_assert_eq!(snapshot.counts(), Counts { total: told, ..Counts::default() });
        if sorted {
            ranks.sort_unstable();
        }
        // Ranks as a user writes them.
        let written: Vec<f64> = ranks.iter()
            .map(|units| format!("{}.{:09}", units / 1_000_000_000, units % 1_000_000_000).parse().unwrap()).collect();
        let mut percentiles = vec![Default::default(); ranks.len()];
        snapshot.percentiles(&written, ValueSelection::Lower, &mut percentiles).unwrap();
        let mut interpolated = vec![0; ranks.len()];
        snapshot.interpolated_percentiles(&written, &mut interpolated).unwrap();
        for ((&units, percentile), inside) in ranks.iter().zip(&percentiles).zip(interpolated) {
            let (value, _, target) = oracle(&counts, units);
            prop_assert_eq!(percentile.value, value, "{}", units);
            prop_assert_eq!(percentile.target_count, u64::try_from(target).unwrap_or(u64::MAX));
            prop_assert!(percentile.bucket.lower <= inside && inside <= percentile.bucket.upper);
        }
        let summary = snapshot.summary(ValueSelection::Lower);
        prop_assert_eq!(summary.total_count, told);
        for (rank, percentile) in SUMMARY_RANKS.iter().zip(&summary.percentiles) {
            let (value, _, target) = oracle(&counts, (rank * 1e9).round() as u64);
            prop_assert_eq!(percentile.value, value, "P{}", rank);
            prop_assert_eq!(percentile.target_count, u64::try_from(target).unwrap_or(u64::MAX));
        }
        let mut before = 0u128;
        for (&(value, count), middle) in counts.iter().zip(snapshot.bucket_percentiles(true, ValueSelection::Lower)) {
            let (rank, bucket) = (middle.rank, middle.bucket);
            let target = before + u128::from(count.div_ceil(2));
            prop_assert_eq!(middle.target_count, u64::try_from(target).unwrap_or(u64::MAX));
            let percent = |count: u128| count as f64 / total as f64 * 100.0;
            prop_assert_eq!(bucket.count, count);
            let (from, to) = (percent(before), percent(before + u128::from(count)));
            prop_assert!(from - 1e-9 <= rank && rank <= to + 1e-9, "{} in {} ..= {}", rank, from, to);
            before += u128::from(count);
            prop_assert!((snapshot.rank_of_value(value, false).unwrap() - to).abs() < 1e-9);
        }
        let median = quantile_interval(&snapshot, 0.5, 0.95).unwrap();
        let (value, ..) = oracle(&counts, 50_000_000_000);
        let bucket = snapshot.bucket_of(value).unwrap();
        prop_assert_eq!(median.value, bucket.equivalent_value(ValueSelection::Midpoint));
        prop_assert!(median.lower <= value && value <= median.upper);
    }

    #[test]
    fn steps_cover_everything_once(counts in counts(), width in 1u64 << 12..1 << 18, ticks in 1u32..20) {
        let snapshot = snapshot(&counts, false);
        let total: u128 = counts.iter().map(|&(_, count)| u128::from(count)).sum();
        let up_to = |to: u64| -> u128 {
            counts.iter().filter(|&&(value, _)| value <= to).map(|&(_, count)| u128::from(count)).sum()
        };
        for step in snapshot.linear_steps(width).unwrap().chain(snapshot.percentile_steps(ticks).unwrap()) {
            // A bucket is never divided: it belongs to the step that contains its first value.
            let cumulative = up_to(step.to);
            prop_assert_eq!(step.cumulative_count, u64::try_from(cumulative).unwrap_or(u64::MAX));
            prop_assert!((step.rank - cumulative as f64 / total as f64 * 100.0).abs() < 1e-9);
        }
        let last = snapshot.percentile_steps(ticks).unwrap().last().unwrap();
        prop_assert!((last.rank - 100.0).abs() < 1e-9 && last.rank_level == 100.0);
        let all = snapshot.linear_steps(width).unwrap().last().unwrap();
        prop_assert!((all.rank - 100.0).abs() < 1e-9);
    }

    #[test]
    fn doubles(counts in counts(), units in 0u64..=1_000_000_000) {
        let histogram = DoubleHistogram::new(&DoubleOptions { relative_error: 0.01, ..DoubleOptions::default() }).unwrap();
        // Each value is in a separate bucket.
        for (at, &(_, count)) in counts.iter().enumerate() {
            histogram.record_n(2f64.powi(at as i32), count);
        }
        let mut snapshot = DoubleSnapshot::new();
        histogram.collect(&mut snapshot).unwrap();
        let total: u128 = counts.iter().map(|&(_, count)| u128::from(count)).sum();
        prop_assert_eq!(snapshot.count(), u64::try_from(total).unwrap_or(u64::MAX));
        let (value, ..) = oracle(&counts, units * 100);
        let at = counts.iter().position(|&(other, _)| other == value).unwrap();
        let quantile = units as f64 / 1e9;
        let found = snapshot.quantile(quantile).unwrap();
        prop_assert!((found / 2f64.powi(at as i32) - 1.0).abs() < 0.01, "{} is {}", quantile, found);
        let sum: f64 = counts.iter().enumerate().map(|(at, &(_, count))| 2f64.powi(at as i32) * count as f64).sum();
        let mean = snapshot.statistics().mean / (sum / total as f64);
        prop_assert!((mean - 1.0).abs() < 0.011, "{} off", mean);
        prop_assert!(snapshot.summary().percentiles.is_sorted_by(|a, b| a.value <= b.value));
    }
}

/// An attack: the highest percentile of two full buckets is in the second.
#[test]
fn two_full_buckets() {
    let full = snapshot(&[(1, u64::MAX), (1000, u64::MAX)], false);
    let p99 = full.percentile(99.999, ValueSelection::Lower).unwrap();
    assert_eq!((p99.bucket.count, p99.target_count), (u64::MAX, u64::MAX));
    assert!(p99.value >= 960, "{}", p99.value);
    // The other one has half a bucket less, so the first bucket's share differs.
    let other = snapshot(&[(1, u64::MAX), (1000, u64::MAX / 2)], false);
    let compared = compare_snapshots(&full, &other, &CompareOptions::default()).unwrap();
    assert!((compared.ks_distance - (2.0 / 3.0 - 0.5)).abs() < 1e-9, "{}", compared.ks_distance);
    assert!((compared.common_language - (0.5 * 2.0 / 3.0 / 2.0 + 0.5 / 3.0 / 2.0 + 0.5 / 3.0)).abs() < 1e-9);
    // This is .NET's rule, in floating point.
    let options = DoubleOptions { quantile_rule: QuantileRule::DotNet, ..DoubleOptions::default() };
    let histogram = DoubleHistogram::new(&options).unwrap();
    [1.0, 2.0, 4.0].iter().for_each(|&value| histogram.record_n(value, u64::MAX));
    let mut doubles = DoubleSnapshot::new();
    histogram.collect(&mut doubles).unwrap();
    let quantiles = [0.0, 0.3, 0.5, 0.9, 1.0].map(|quantile| doubles.quantile(quantile).unwrap().round());
    assert_eq!(quantiles, [1.0, 1.0, 2.0, 4.0, 4.0]);
}
