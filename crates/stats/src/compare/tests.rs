//! Known values, and calibration: how often results are correct in simulations with a known truth.

use super::*;
use picollo_core::layouts::{Footprint, Storage};
use picollo_core::{Layout, Options, SharedHistogram};
use std::boxed::Box;
use std::vec::Vec;

/// Returns what recording so often gives.
pub(crate) fn snapshot(layout: Layout, values: &[(u64, u64)]) -> Box<Snapshot> {
    let mut snapshot = Snapshot::boxed(layout).unwrap();
    snapshot.rewrite(|counts| {
        for &(value, count) in values {
            match counts.add(layout.storage_index(value) as usize, count.into()) {
                Some(_) => {}
                None if layout.is_below(value) => counts.underflow = counts.underflow.saturating_add(count),
                None => counts.overflow = counts.overflow.saturating_add(count),
            }
        }
    });
    snapshot
}

fn refill(snapshot: &mut Box<Snapshot>, values: &[(u64, u64)]) {
    *snapshot = self::snapshot(*snapshot.layout(), values);
}

fn once(values: &[u64]) -> Vec<(u64, u64)> {
    values.iter().map(|&value| (value, 1)).collect()
}

pub(super) fn near(actual: f64, expected: f64, tolerance: f64) {
    assert!((actual - expected).abs() <= tolerance, "{actual} is not {expected}");
}

/// Each value below 256 has a separate bucket.
const EXACT: Layout = Layout::new(0.001, 0, 4095);

#[test]
fn worked_by_hand() {
    // `scipy.stats.mannwhitneyu(b, a, method="asymptotic")`, `ks_2samp` and `scipy.special.kolmogorov`.
    let a = [1, 2, 3, 4, 5, 5, 6, 7, 8, 9];
    let b = [5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
    let (a, b) = (snapshot(EXACT, &once(&a)), snapshot(EXACT, &once(&b)));
    let compared = compare_snapshots(&a, &b, &CompareOptions::default()).unwrap();
    assert_eq!(compared.mann_whitney_u, 97.0);
    near(compared.mann_whitney_p, 0.003_390_032_608_760_542_3, 1e-12);
    near(compared.common_language, 97.0 / 110.0, 1e-15);
    near(compared.cliffs_delta, 2.0 * 97.0 / 110.0 - 1.0, 1e-15);
    near(compared.ks_distance, 60.0 / 110.0, 1e-15);
    near(compared.ks_p, 0.088_582_332_469_270_16, 1e-12);
    // binom.ppf(0.025, 10, 0.5) = 2, binom.ppf(0.975, 10, 0.5) + 1 = 9, with 1 - 2 * 11 / 1024.
    assert_eq!((compared.a.lower_count, compared.a.upper_count), (2, 9));
    assert_eq!((compared.a.lower, compared.a.value, compared.a.upper), (2, 5, 8));
    near(compared.a.coverage, 1.0 - 22.0 / 1024.0, 1e-15);
    assert_eq!(compared.difference, 5.0);
    // The distances below are sqrt((10 - 6)^2 + (8 - 5)^2).
    assert_eq!((compared.b.lower, compared.b.upper), (6, 14));
    near(compared.difference_lower, 0.0, 1e-15);
    assert_eq!(Verdict::from_code(compared.verdict), Verdict::NoEvidence, "0 is not beyond a bucket");
    // Unequal distances: the lower end is that of B's lower and A's upper one, 5 and 12, and the upper end that of 4 and 3.
    let a = snapshot(EXACT, &once(&[1, 2, 3, 4, 5, 6, 7, 8, 17, 18]));
    let b = snapshot(EXACT, &once(&[24, 25, 26, 27, 30, 31, 32, 33, 34, 35]));
    let compared = compare_snapshots(&a, &b, &CompareOptions::default()).unwrap();
    near(compared.difference_lower, 25.0 - 13.0, 1e-12);
    near(compared.difference_upper, 25.0 + 5.0, 1e-12);
}

#[test]
fn of_the_same_there_is_nothing_to_see() {
    let values = once(&(0..1000u64).collect::<Vec<_>>());
    let a = snapshot(EXACT, &values);
    let compared = compare_snapshots(&a, &a, &CompareOptions::default()).unwrap();
    assert_eq!((compared.difference, compared.cliffs_delta, compared.common_language), (0.0, 0.0, 0.5));
    assert_eq!((compared.mann_whitney_p, compared.ks_distance, compared.ks_p), (1.0, 0.0, 1.0));
    assert_eq!((compared.cohens_d, compared.verdict), (0.0, 0));
    // A single value has no spread at all.
    let one = snapshot(EXACT, &[(7, 1_000_000_000_000)]);
    let compared = compare_snapshots(&one, &one, &CompareOptions::default()).unwrap();
    assert_eq!((compared.mann_whitney_p, compared.mann_whitney_z, compared.ks_p), (1.0, 0.0, 1.0));
    assert!(compared.cohens_d.is_nan());
    assert_eq!(
        compared.flags,
        COMPARISON_WITHIN_MARGIN | COMPARISON_MARGIN_IS_RESOLUTION | COMPARISON_BELOW_RESOLUTION,
        "a bucket is more than 1 % of 7"
    );
}

#[test]
fn options_and_empty_ones() {
    let (some, none) = (snapshot(EXACT, &[(7, 10)]), snapshot(EXACT, &[]));
    let options = CompareOptions::default();
    assert_eq!(compare_snapshots(&some, &none, &options), Err(Error::Empty));
    assert_eq!(compare_snapshots(&none, &some, &options), Err(Error::Empty));
    assert_eq!(quantile_interval(&none, 0.5, 0.95), Err(Error::Empty));
    for wrong in [-1.0, 1.0, 1e-300 - 1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(quantile_interval(&some, wrong, 0.95), Err(Error::InvalidArgument));
        assert_eq!(quantile_interval(&some, 0.5, wrong), Err(Error::InvalidArgument));
        for options in [
            CompareOptions { quantile: wrong, ..options },
            CompareOptions { confidence: wrong, ..options },
            CompareOptions { power: wrong, ..options },
        ] {
            assert_eq!(compare_snapshots(&some, &some, &options), Err(Error::InvalidArgument));
            if options.quantile == 0.0 {
                assert_eq!(compare_blocks(&[1.0], &[1.0], &mut [0.0], &options), Err(Error::InvalidArgument));
            }
        }
    }
    for options in [
        CompareOptions { relative_threshold: f64::NAN, ..options },
        CompareOptions { absolute_threshold: f64::NAN, ..options },
        CompareOptions { resolution: f64::NAN, ..options },
    ] {
        assert_eq!(compare_snapshots(&some, &some, &options), Err(Error::InvalidArgument));
    }
    let margins = |options: &CompareOptions| {
        let a = snapshot(EXACT, &[(200, 10)]);
        compare_snapshots(&a, &a, options).unwrap().margin
    };
    assert_eq!(margins(&options), 2.0);
    assert_eq!(margins(&CompareOptions { relative_threshold: -1.0, ..options }), 1.0, "a bucket");
    assert_eq!(margins(&CompareOptions { absolute_threshold: 50.0, ..options }), 50.0);
}

/// A difference that equals the margin does not exceed it, so that equal blocks are not different without a margin.
#[test]
fn differences_of_the_margin_are_no_evidence() {
    const RESOLUTION: u32 = COMPARISON_MARGIN_IS_RESOLUTION | COMPARISON_BELOW_RESOLUTION;
    for (b, absolute_threshold, resolution, verdict, flags) in [
        (8.0, 0.0, 0.0, Verdict::NoEvidence, COMPARISON_WITHIN_MARGIN),
        (10.0, 2.0, 0.0, Verdict::NoEvidence, COMPARISON_WITHIN_MARGIN),
        (6.0, 2.0, 2.0, Verdict::NoEvidence, COMPARISON_WITHIN_MARGIN),
        (10.0, 0.0, 2.0, Verdict::NoEvidence, COMPARISON_WITHIN_MARGIN | RESOLUTION),
        (10.0, 1.5, 0.0, Verdict::Slower, 0),
        (6.0, 1.5, 0.0, Verdict::Faster, 0),
    ] {
        let options =
            CompareOptions { relative_threshold: -1.0, absolute_threshold, resolution, ..Default::default() };
        let found = compare_blocks(&[8.0; 10], &[b; 10], &mut [0.0; 10], &options).unwrap();
        assert_eq!((found.verdict(), found.flags), (verdict, flags), "{b} {absolute_threshold} {resolution}");
        let noisy = found.unproven();
        let decided = COMPARISON_WITHIN_MARGIN | COMPARISON_BELOW_RESOLUTION | COMPARISON_NOISY;
        assert_eq!((noisy.verdict(), noisy.flags & decided), (Verdict::NoEvidence, COMPARISON_NOISY));
    }
}

#[test]
fn too_few_for_an_interval() {
    // Five observations give at most 93.75 %.
    let five = snapshot(EXACT, &once(&[1, 2, 3, 4, 5]));
    let interval = quantile_interval(&five, 0.5, 0.0).unwrap();
    assert_eq!((interval.lower_count, interval.upper_count, interval.is_bounded()), (0, 0, false));
    assert_eq!((interval.lower, interval.value, interval.upper), (0, 3, u64::MAX));
    let six = snapshot(EXACT, &once(&[1, 2, 3, 4, 5, 6]));
    let interval = quantile_interval(&six, 0.5, 0.0).unwrap();
    assert_eq!((interval.lower_count, interval.upper_count), (1, 6));
    let compared = compare_snapshots(&five, &six, &CompareOptions::default()).unwrap();
    assert_eq!(compared.difference_lower, f64::NEG_INFINITY);
    assert_eq!(compared.smallest_detectable, f64::INFINITY);
    assert_eq!(std::format!("{compared}"), "P50: 0 [n/a, n/a], no evidence");
    assert_eq!((compared.verdict, compared.flags), (0, COMPARISON_TOO_FEW | COMPARISON_MARGIN_IS_RESOLUTION));
}

/// 10^12 observations: sums of pairs and of ties neither overflow nor lose significant digits.
#[test]
fn very_many() {
    const N: u64 = 1_000_000_000_000;
    // Two buckets: A half and half, B one in a million less in the first.
    let a = snapshot(EXACT, &[(100, N / 2), (101, N / 2)]);
    let b = snapshot(EXACT, &[(100, N / 2 - N / 1_000_000), (101, N / 2 + N / 1_000_000)]);
    let compared = compare_snapshots(&a, &b, &CompareOptions::default()).unwrap();
    near(compared.cliffs_delta, 1e-6, 1e-20);
    near(compared.ks_distance, 1e-6, 1e-20);
    // The difference of two shares, by the normal approximation: 1e-6 / sqrt(2 * 0.25 / N) = sqrt(2).
    near(compared.mann_whitney_z, core::f64::consts::SQRT_2, 1e-6);
    near(compared.mann_whitney_p, 0.157_299_207, 1e-6);
    assert!(compared.ks_p > compared.mann_whitney_p);
    assert_eq!(compared.verdict, 0);
    // Everything is significant; differences within a bucket do not matter.
    let c = snapshot(EXACT, &[(100, N / 2 - N / 1000), (101, N / 2 + N / 1000)]);
    let compared = compare_snapshots(&a, &c, &CompareOptions::default()).unwrap();
    assert!(compared.mann_whitney_p < 1e-300);
    assert_eq!(compared.verdict, 0);
    // The cube of these exceeds 128 bits.
    let [a, b] = [100, 101].map(|value| snapshot(EXACT, &[(value, 10 * N)]));
    assert_eq!(compare_snapshots(&a, &b, &CompareOptions::default()).unwrap().cliffs_delta, 1.0);
    // As many as possible.
    let most = snapshot(EXACT, &[(100, u64::MAX)]);
    let more = snapshot(EXACT, &[(200, u64::MAX)]);
    let compared = compare_snapshots(&most, &more, &CompareOptions::default()).unwrap();
    assert_eq!((compared.cliffs_delta, compared.common_language, compared.ks_distance), (1.0, 1.0, 1.0));
    assert_eq!((compared.verdict, compared.mann_whitney_p), (Verdict::Slower as u32, 0.0));
    near(compared.mann_whitney_z, (1.5f64).sqrt() * (2.0 * u64::MAX as f64).sqrt() / 1.5f64.sqrt(), 1e5);
}

#[test]
fn unlike_layouts_compare_as_if_recorded_alike() {
    let (fine, coarse) = (Layout::new(0.0005, 0, 1 << 30), Layout::new(0.05, 50, 1 << 40));
    let mut random = Random(3);
    let values_a: Vec<_> = (0..3000).map(|_| (1000 + random.next() % 100_000, 1)).collect();
    let values_b: Vec<_> = (0..5000).map(|_| (2000 + random.next() % 100_000, 1)).collect();
    let options = CompareOptions::default();
    let mixed =
        compare_snapshots(&snapshot(fine, &values_a), &snapshot(coarse, &values_b), &options).unwrap();
    let alike =
        compare_snapshots(&snapshot(coarse, &values_a), &snapshot(coarse, &values_b), &options).unwrap();
    let swapped =
        compare_snapshots(&snapshot(coarse, &values_b), &snapshot(fine, &values_a), &options).unwrap();
    for (mixed, alike, sign) in [(&mixed, &alike, 1.0), (&swapped, &alike, -1.0)] {
        assert_eq!(mixed.cliffs_delta, sign * alike.cliffs_delta);
        assert_eq!((mixed.ks_distance, mixed.ks_p), (alike.ks_distance, alike.ks_p));
        assert_eq!(mixed.mann_whitney_p, alike.mann_whitney_p);
        assert_eq!(mixed.mann_whitney_z, sign * alike.mann_whitney_z);
    }
    assert_eq!(mixed.flags & COMPARISON_LAYOUTS_DIFFER, COMPARISON_LAYOUTS_DIFFER);
    assert_eq!(alike.flags & COMPARISON_LAYOUTS_DIFFER, 0);
    let (one, two) = (snapshot(EXACT, &[(7, 10)]), snapshot(EXACT.with_unit(1).unwrap(), &[(7, 10)]));
    assert_ne!(compare_snapshots(&one, &two, &options).unwrap().flags & COMPARISON_LAYOUTS_DIFFER, 0);
}

#[test]
fn omitted_values_are_reported() {
    let mut options = Options {
        storage: Storage::Sparse,
        no_live_reset: true,
        min_trackable: 10,
        max_trackable: 1 << 30,
        ..Options::default()
    };
    // There is memory for the counters around one value.
    let Footprint { initial, step, .. } = SharedHistogram::estimate(&options).unwrap();
    options.max_bytes = (initial + step) as u64;
    let with = |values: &[u64]| {
        let histogram = SharedHistogram::create(&options).unwrap();
        values.iter().for_each(|&value| histogram.record(value));
        let mut snapshot = Snapshot::boxed(*histogram.layout()).unwrap();
        histogram.update(&mut snapshot, picollo_core::Since::Reset).unwrap();
        snapshot
    };
    let flags = |a: &Snapshot, b: &Snapshot| {
        compare_snapshots(a, b, &CompareOptions::default()).unwrap().flags & COMPARISON_OUT_OF_RANGE
    };
    let whole = with(&[50]);
    assert_eq!(flags(&whole, &whole), 0);
    for omitted in [5, 1 << 40, 1 << 29] {
        let part = with(&[50, omitted]);
        let reported = [flags(&part, &whole), flags(&whole, &part)];
        assert_eq!(reported, [COMPARISON_OUT_OF_RANGE; 2], "{omitted}");
    }
}

/// A smaller difference is detected less often. The probability can be computed back from the difference.
#[test]
fn powers_below_a_half() {
    for (power, z) in [(0.8, 0.841_6), (0.5, 0.0), (0.2, -0.841_6)] {
        let smallest = smallest_detectable(-1.96, 1.96, 5.0, 0.95, power);
        near(smallest, 5.0 + 1.96 + z, 1e-3);
        near(power_behind(-1.96, 1.96, 5.0, 0.95, smallest).unwrap(), power, 1e-3);
        let runs = CompareOptions { power, ..CompareOptions::default() };
        let runs = compare_runs(&[8.0, 9.0, 10.0, 11.0, 12.0], 10.0, &runs).unwrap();
        // One standard deviation of five runs and a new one is 1.732.
        near(runs.smallest_detectable, 0.1 + runs.difference_upper + 1.732 * z, 1e-3);
    }
    assert_eq!(smallest_detectable(-1.0, 1.0, 5.0, 0.95, 0.001), 5.0, "no difference is detected so seldom");
    assert_eq!(power_behind(-1.0, 1.0, 5.0, 0.95, 5.0), None);
}

// ---- simulations ----------------------------------------------------------------------------------------------------

/// splitmix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Between 0 and 1.
    pub(super) fn uniform(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    pub(crate) fn normal(&mut self) -> f64 {
        libm::sqrt(-2.0 * libm::log(self.uniform())) * libm::cos(core::f64::consts::TAU * self.uniform())
    }

    pub(super) fn exponential(&mut self) -> f64 {
        -libm::log(self.uniform())
    }
}

const LATENCIES: Layout = Layout::new(0.01, 100, 1_000_000);

fn sample(length: usize, mut draw: impl FnMut() -> f64) -> Vec<(u64, u64)> {
    (0..length).map(|_| (draw().clamp(100.0, 999_999.0) as u64, 1)).collect()
}

/// Without a difference: Mann-Whitney finds one in 5 % of the comparisons, Kolmogorov-Smirnov in at most as many, and
/// the verdict, without a threshold, also in at most as many.
#[test]
fn false_alarms() {
    for (length_a, length_b, seed) in [(100, 100, 1), (100, 237, 2)] {
        const ROUNDS: u32 = 10_000;
        let mut random = Random(seed);
        let (mut by_ranks, mut by_distance, mut by_interval) = (0, 0, 0);
        let options = CompareOptions { relative_threshold: -1.0, ..CompareOptions::default() };
        let (mut a, mut b) = (snapshot(LATENCIES, &[]), snapshot(LATENCIES, &[]));
        for _ in 0..ROUNDS {
            refill(&mut a, &sample(length_a, || 1000.0 + 2000.0 * random.exponential()));
            refill(&mut b, &sample(length_b, || 1000.0 + 2000.0 * random.exponential()));
            let compared = compare_snapshots(&a, &b, &options).unwrap();
            by_ranks += u32::from(compared.mann_whitney_p < 0.05);
            by_distance += u32::from(compared.ks_p < 0.05);
            by_interval += u32::from(compared.verdict != 0);
        }
        std::println!(
            "of {ROUNDS}: Mann-Whitney {by_ranks}, Kolmogorov-Smirnov {by_distance}, verdict {by_interval}"
        );
        assert!((400..=600).contains(&by_ranks), "{by_ranks}");
        assert!(by_distance <= 500, "{by_distance}");
        assert!(by_interval <= 500, "{by_interval}");
    }
}

/// The intervals hold the true values as often as stated, or a little more.
#[test]
fn intervals_hold_what_they_should() {
    const ROUNDS: u32 = 4_000;
    let mut random = Random(5);
    for (quantile, length) in [(0.5, 101), (0.9, 400), (0.25, 1000)] {
        let options = CompareOptions { quantile, ..CompareOptions::default() };
        // For an exponential distribution; B is 300 slower.
        let truth = 1000.0 - 2000.0 * f64::ln(1.0 - quantile);
        let (mut one, mut two) = (0, 0);
        let (mut a, mut b) = (snapshot(LATENCIES, &[]), snapshot(LATENCIES, &[]));
        for _ in 0..ROUNDS {
            refill(&mut a, &sample(length, || 1000.0 + 2000.0 * random.exponential()));
            refill(&mut b, &sample(length, || 1300.0 + 2000.0 * random.exponential()));
            let compared = compare_snapshots(&a, &b, &options).unwrap();
            one += u32::from(compared.a.lower as f64 <= truth && truth <= compared.a.upper as f64 + 1.0);
            two += u32::from(compared.difference_lower <= 300.0 && 300.0 <= compared.difference_upper);
        }
        let shares = [one, two].map(|held| f64::from(held) / f64::from(ROUNDS));
        std::println!("quantile {quantile} of {length}: {shares:?}");
        assert!((0.945..=0.985).contains(&shares[0]), "{shares:?}");
        assert!((0.94..=0.985).contains(&shares[1]), "{shares:?}");
    }
}

/// Known shifts are detected as often as theory predicts.
#[test]
fn power() {
    const ROUNDS: u32 = 2_000;
    const LENGTH: usize = 500;
    let fine = Layout::new(0.0005, 1000, 20_000);
    let mut random = Random(7);
    let (mut a, mut b) = (snapshot(fine, &[]), snapshot(fine, &[]));
    let (center, spread) = (10_000.0, 1000.0);
    // The median of n normal values has the variance pi/2 / n.
    let error = spread * (core::f64::consts::PI / LENGTH as f64).sqrt();
    for shift in [150.0, 250.0, 350.0] {
        let (mut by_ranks, mut by_interval, mut smallest) = (0, 0, 0.0);
        let mut margin = 0.0;
        for _ in 0..ROUNDS {
            refill(&mut a, &sample(LENGTH, || center + spread * random.normal()));
            refill(&mut b, &sample(LENGTH, || center + shift + spread * random.normal()));
            let compared = compare_snapshots(&a, &b, &CompareOptions::default()).unwrap();
            by_ranks += u32::from(compared.mann_whitney_p < 0.05);
            by_interval += u32::from(compared.verdict == Verdict::Slower as u32);
            smallest += compared.smallest_detectable / f64::from(ROUNDS);
            margin += compared.margin / f64::from(ROUNDS);
        }
        // G. E. Noether, Journal of the American Statistical Association 82 (1987).
        let dominance = 1.0 - normal::above(shift / spread / core::f64::consts::SQRT_2) - 0.5;
        let noether = 1.0 - normal::above(dominance * (6.0 * LENGTH as f64).sqrt() - 1.96);
        let theory = 1.0 - normal::above((shift - margin) / error - 1.96);
        let seen = [by_ranks, by_interval].map(|seen| f64::from(seen) / f64::from(ROUNDS));
        std::println!("shift {shift}: seen {seen:?}, theory {:?}, smallest {smallest}", [noether, theory]);
        near(seen[0], noether, 0.03);
        near(seen[1], theory, 0.06);
        // Detected with a power of 0.8, computed from the samples alone.
        near(smallest, margin + (1.96 + 0.8416) * error, 0.05 * smallest);
    }
}

fn correlated(values: &[f64]) -> blocks::Autocorrelation {
    blocks::correlate(values.len(), |at| values[at])
}

#[test]
fn dependent_series_are_found_out() {
    let mut random = Random(11);
    let mut alarms = 0;
    for _ in 0..1000 {
        let independent: Vec<f64> = (0..200).map(|_| random.normal()).collect();
        alarms += u32::from(correlated(&independent).is_significant);
        let mut last = 0.0;
        let dependent: Vec<f64> = (0..200)
            .map(|_| {
                last = 0.5 * last + random.normal();
                last
            })
            .collect();
        let found = correlated(&dependent);
        assert!(found.is_significant, "{found:?}");
        // The variance of the mean is (1 + 0.5) / (1 - 0.5) times as large.
        assert!((1.2..40.0).contains(&found.inflation), "{found:?}");
    }
    std::println!("{alarms} alarms of 1000");
    assert!(alarms <= 25, "{alarms}");
    let constant = correlated(&[5.0; 100]);
    assert_eq!((constant.lag1, constant.inflation, constant.is_significant), (0.0, 1.0, false));
}

#[test]
fn blocks_see_through_a_drift() {
    let mut random = Random(13);
    // The machine gets slower by 0.5 each block; B is 3 % slower than A throughout.
    let drift = |at: usize| 100.0 + at as f64 * 0.5;
    let a: Vec<f64> = (0..100).map(|at| drift(at) + random.normal()).collect();
    let b: Vec<f64> = (0..100).map(|at| drift(at) * 1.03 + random.normal()).collect();
    let mut scratch = [0.0; 100];
    let options = CompareOptions::default();
    let compared = compare_blocks(&a, &b, &mut scratch, &options).unwrap();
    assert_eq!(compared.verdict, Verdict::Slower as u32);
    assert!((3.0..5.0).contains(&compared.difference), "{compared:?}");
    assert!(
        compared.difference_lower < compared.difference && compared.difference < compared.difference_upper
    );
    assert_eq!(compared.block_count, 100);
    assert!(correlated(&a).is_significant);
    let back = compare_blocks(&b, &a, &mut scratch, &options).unwrap();
    assert_eq!((back.verdict, back.difference), (Verdict::Faster as u32, -compared.difference));
    let few = compare_blocks(&a[..5], &b[..5], &mut scratch, &options).unwrap();
    assert_eq!((few.verdict, few.flags & COMPARISON_TOO_FEW), (0, COMPARISON_TOO_FEW));
    let same = compare_blocks(&a, &a, &mut scratch, &options).unwrap();
    assert_eq!((same.difference, same.flags), (0.0, COMPARISON_WITHIN_MARGIN));
    for (a, b, room, error) in [
        (&a[..5], &b[..4], 5, Error::InvalidArgument),
        (&a[..5], &b[..5], 4, Error::BufferTooSmall),
        (&a[..0], &b[..0], 0, Error::Empty),
        (&[1.0][..], &[f64::INFINITY][..], 1, Error::InvalidArgument),
    ] {
        assert_eq!(compare_blocks(a, b, &mut scratch[..room], &options), Err(error));
    }
}

#[test]
fn medians_of_the_largest_doubles() {
    let (a, b) = ([f64::MAX, f64::MAX / 2.0], [f64::MAX, f64::MAX]);
    let compared = compare_blocks(&a, &b, &mut [0.0; 2], &CompareOptions::default()).unwrap();
    assert_eq!((compared.median_a, compared.median_b), (f64::MAX * 0.75, f64::MAX));
    assert_eq!(compared.difference, f64::MAX / 4.0);
}

/// A time never falls by more than all of it, and a disturbance common to both cancels.
#[test]
fn ratios_of_blocks() {
    let mut random = Random(17);
    // Both get slower together, threefold and more; B takes a fifth of A's time.
    let level: Vec<f64> = (0..40).map(|_| 1e6 * libm::exp(random.normal())).collect();
    let a: Vec<f64> = level.iter().map(|level| level * (1.0 + 0.01 * random.normal())).collect();
    let b: Vec<f64> = level.iter().map(|level| level / 5.0 * (1.0 + 0.01 * random.normal())).collect();
    let (mut scratch, options) =
        ([0.0; 40], CompareOptions { confidence: 0.99, ..CompareOptions::default() });
    let by_difference = compare_blocks(&a, &b, &mut scratch, &options).unwrap();
    let found = compare_block_ratios(&a, &b, &mut scratch, &options).unwrap();
    let share = |blocks: &BlockComparison, end: f64| end / blocks.median_a;
    assert!(share(&by_difference, by_difference.difference_lower) < -1.0, "{by_difference:?}");
    let ends =
        [found.difference_lower, found.difference, found.difference_upper].map(|end| share(&found, end));
    assert!(-0.81 < ends[0] && ends[0] < ends[1] && ends[1] < ends[2] && ends[2] < -0.79, "{ends:?}");
    near(found.median_b - found.median_a, found.difference, 1.0);
    assert_eq!((found.verdict(), found.block_count), (Verdict::Faster, 40));
    // Swapped, the ratio is the inverse, and the levels stay.
    let back = compare_block_ratios(&b, &a, &mut scratch, &options).unwrap();
    near(back.median_b / back.median_a * (found.median_b / found.median_a), 1.0, 0.01);
    near(back.median_a / found.median_b, 1.0, 0.01);
    // Zero has no ratio: the differences are used, and the medians agree with them.
    let (none, some) = ([0.0, 0.0, 4.0, 4.0, 0.0, 4.0, 0.0], [4.0, 0.0, 4.0, 4.0, 4.0, 0.0, 4.0]);
    let found = compare_block_ratios(&none, &some, &mut scratch, &options).unwrap();
    assert_eq!((found.median_b - found.median_a, found.difference), (found.difference, 0.0));
    // A block of B that took nothing has a ratio.
    let found = compare_block_ratios(&some.map(|_| 4.0), &none, &mut scratch, &options).unwrap();
    assert_eq!((found.difference, found.difference_lower), (-4.0, f64::NEG_INFINITY));
    for (a, b, error) in [(&[1.0][..], &[f64::NAN][..], Error::InvalidArgument), (&[], &[], Error::Empty)] {
        assert_eq!(compare_block_ratios(a, b, &mut scratch, &options), Err(error));
    }
    // One look of several has a separate confidence, and the result states the overall one.
    let look = CompareOptions { look_confidence: 0.9999, ..options };
    let wider = compare_block_ratios(&a, &b, &mut scratch, &look).unwrap();
    assert!(
        wider.coverage >= 0.9999 && wider.confidence == 0.99 && wider.difference_lower < found.difference
    );
}

#[test]
fn few_pairs_of_very_many() {
    let (a, b) = (snapshot(EXACT, &[(50, 5_804_893_137)]), snapshot(EXACT, &[(7, 1_942_046), (60, 3)]));
    let compared = compare_snapshots(&a, &b, &CompareOptions::default()).unwrap();
    assert_eq!(compared.mann_whitney_u, 3.0 * 5_804_893_137.0);
    near(compared.common_language, 3.0 / 1_942_049.0, 1e-21);
}

/// The same distribution twice, with its median between two buckets. The medians are a bucket apart half of the time,
/// and that is not a difference. Also tests buckets of different widths, and two precisions.
#[test]
fn medians_a_bucket_apart_are_not_different() {
    const ROUNDS: u32 = 500;
    let mut random = Random(21);
    let (mut apart, mut all) = (0, 0);
    for (error_a, error_b) in [(0.1, 0.1), (0.02, 0.02), (0.005, 0.005), (0.1, 0.005), (0.005, 0.1)] {
        let layouts = [error_a, error_b].map(|error| Layout::new(error, 1, 1_000_000));
        let [mut a, mut b] = layouts.map(|layout| snapshot(layout, &[]));
        // In the middle of an octave, and at the point from which buckets are wider.
        for near in [10_000, 8_191] {
            let bucket = layouts[0].bucket_of(near).unwrap();
            let center = bucket.upper as f64 + 0.5;
            for (length, spread) in [(30, 0.3), (100, 1.0), (100, 3.0), (1000, 0.3), (1000, 1.0)] {
                let mut told_apart = 0;
                for _ in 0..ROUNDS {
                    for side in [&mut a, &mut b] {
                        refill(
                            side,
                            &sample(length, || center + spread * bucket.step as f64 * random.normal()),
                        );
                    }
                    let compared = compare_snapshots(
                        &a,
                        &b,
                        &CompareOptions { relative_threshold: -1.0, ..CompareOptions::default() },
                    );
                    let compared = compared.unwrap();
                    apart += u32::from(compared.difference != 0.0);
                    told_apart += u32::from(compared.verdict != 0);
                }
                all += ROUNDS;
                // The interval promises 5 %; the actual rate is far lower.
                assert!(
                    told_apart <= ROUNDS / 20,
                    "{told_apart} of {ROUNDS}: {error_a} {error_b} {near} {length} {spread}"
                );
            }
        }
    }
    std::println!("medians apart in {apart} of {all}");
    assert!(apart > all / 4, "the question was asked: {apart} of {all}");
}

/// An overhead common to both cancels without an error; one that they do not share widens the interval.
#[test]
fn blocks_above_an_overhead() {
    let mut random = Random(31);
    let a: Vec<f64> = (0..60).map(|_| 20_000.0 + 40.0 * random.normal()).collect();
    let b: Vec<f64> = (0..60).map(|_| 20_000.0 + 40.0 * random.normal()).collect();
    let mut scratch = [0.0; 60];
    let options = CompareOptions { resolution: 500.0, ..CompareOptions::default() };
    let plain = compare_blocks(&a, &b, &mut scratch, &options).unwrap();
    let mut above = |a_overhead, b_overhead, error| {
        let overhead = BlockOverhead { a: a_overhead, b: b_overhead, error };
        compare_blocks_above(&a, &b, &overhead, &mut scratch, &options).unwrap()
    };
    let shared = above(19_900.0, 19_900.0, 0.0);
    assert_eq!(shared.difference, plain.difference);
    near(shared.difference_lower, plain.difference_lower, 1e-9);
    near(shared.difference_upper, plain.difference_upper, 1e-9);
    near(shared.median_b - shared.median_a, shared.difference, 1e-9);
    near((shared.median_a + shared.median_b) / 2.0, (plain.median_a + plain.median_b) / 2.0 - 19_900.0, 1e-6);
    assert_eq!((shared.margin, shared.resolution, shared.verdict), (500.0, 500.0, 0));
    let below = COMPARISON_WITHIN_MARGIN | COMPARISON_MARGIN_IS_RESOLUTION | COMPARISON_BELOW_RESOLUTION;
    assert_eq!(shared.flags, below);
    // Two overheads, 3.5 ns apart, each with an error: what was "faster" with exact ones is now no evidence.
    let certain = above(19_639.0, 23_137.0, 0.0);
    assert_eq!(certain.verdict, Verdict::Faster as u32, "as if the overheads were known exactly");
    let unsure = above(19_639.0, 23_137.0, 4_000.0);
    assert_eq!((unsure.verdict, unsure.flags), (0, COMPARISON_MARGIN_IS_RESOLUTION));
    near(unsure.difference - unsure.difference_lower, 4_000.0, 1.0);
    for wrong in [f64::NAN, f64::INFINITY, -1.0] {
        let overhead = BlockOverhead { a: 0.0, b: 0.0, error: wrong };
        assert_eq!(
            compare_blocks_above(&a, &b, &overhead, &mut scratch, &options),
            Err(Error::InvalidArgument)
        );
    }
}

/// A hundred times the noise is detected despite drift, with any confidence: the interval is at most the whole range.
#[test]
fn what_wanders_a_little_is_seen_all_the_same() {
    let a = [18_000.0; 20];
    let b: [f64; 20] = core::array::from_fn(|at| 106_770.0 + 5.0 * at as f64);
    for confidence in [0.9, 0.95, 0.99] {
        let options = CompareOptions { confidence, ..CompareOptions::default() };
        let compared = compare_blocks(&a, &b, &mut [0.0; 20], &options).unwrap();
        assert_eq!((compared.verdict, compared.flags), (Verdict::Slower as u32, COMPARISON_AUTOCORRELATED));
        assert_eq!((compared.difference_lower, compared.difference_upper), (88_770.0, 88_865.0));
        near(compared.coverage, 1.0 - 2.0 / 64.0, 1e-15);
    }
}

/// Drifting differences: as many ranks as there are independent values, and the whole range if hardly any are.
#[test]
fn dependent_differences_widen_the_interval() {
    let mut random = Random(37);
    let (mut wider, mut whole) = (0, 0);
    for (persistence, expected) in [(0.4, 0.05), (0.95, 0.6)] {
        let (mut wrong, mut blind) = (0, 0);
        const ROUNDS: u32 = 1000;
        for _ in 0..ROUNDS {
            let mut last = 0.0;
            let b: Vec<f64> = (0..100)
                .map(|_| {
                    last = persistence * last + random.normal();
                    1000.0 + last
                })
                .collect();
            let a = [1000.0; 100];
            let options = CompareOptions { relative_threshold: -1.0, ..CompareOptions::default() };
            let compared = compare_blocks(&a, &b, &mut [0.0; 100], &options).unwrap();
            wrong += u32::from(compared.verdict != 0);
            // For independent ones it is between the 40th and the 61st.
            let mut sorted = b.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            blind += u32::from(sorted[39] > 1000.0 || sorted[60] < 1000.0);
            if compared.flags & COMPARISON_AUTOCORRELATED != 0 {
                let ends = (compared.difference_lower + 1000.0, compared.difference_upper + 1000.0);
                let is_whole = (ends.0 - sorted[0]).abs() < 1e-9 && (ends.1 - sorted[99]).abs() < 1e-9;
                assert_eq!(is_whole, compared.inflation > 4.0, "{compared:?}");
                assert!(ends.0 < sorted[38] && ends.1 > sorted[61], "{compared:?}");
                whole += u32::from(is_whole);
                wider += u32::from(!is_whole);
            }
        }
        let share = |count: u32| f64::from(count) / f64::from(ROUNDS);
        std::println!("{persistence}: wrong {} of {ROUNDS}, taken for independent {blind}", wrong);
        assert!(share(wrong) <= 0.1 && share(blind) > expected, "{wrong} {blind}");
    }
    assert!(wider > 100 && whole > 100, "{wider} {whole}");
}
