//! Histograms of doubles against sorted arrays.
#![cfg(feature = "alloc")]

use picollo_core::Error;
use picollo_core::doubles::{DoubleHistogram, DoubleLayout, DoubleOptions, DoubleSnapshot, QuantileRule};
use proptest::prelude::*;

const ERRORS: [f64; 6] = [0.1, 0.03, 0.01, 0.001, 0.0002, 0.0001];

/// Doubles of all magnitudes and both signs: any bits, subnormal numbers, the neighbors of powers of two, and a few
/// values that repeat.
fn any_double() -> impl Strategy<Value = f64> {
    let bits = prop_oneof![
        4 => any::<u64>(),
        2 => (any::<u64>(), 0u32..52, 0u64..2).prop_map(|(b, shift, sign)| (b << 12 >> 12) >> shift | sign << 63),
        1 => (0u64..2, 0u64..2047, -2i64..3)
            .prop_map(|(sign, exponent, near)| (exponent << 52).saturating_add_signed(near) | sign << 63),
        2 => (1u64..2000, 0u64..2).prop_map(|(value, sign)| (value as f64 / 16.0).to_bits() | sign << 63),
        1 => Just(0.0f64.to_bits()),
        1 => Just((-0.0f64).to_bits()),
    ];
    bits.prop_map(f64::from_bits)
}

fn any_options() -> impl Strategy<Value = DoubleOptions> {
    (0..ERRORS.len(), any::<bool>(), any::<bool>()).prop_map(|(error, exact, dot_net)| DoubleOptions {
        relative_error: ERRORS[error],
        exact,
        quantile_rule: if dot_net { QuantileRule::DotNet } else { QuantileRule::NearestRank },
        max_bytes: 0,
    })
}

/// Whether `reported` is within `error` of `value`, without rounding: subnormal numbers are scaled up first.
fn is_within(error: f64, reported: f64, value: f64) -> bool {
    let scale = |x: f64| if value.abs() < 1e-200 { x * 2f64.powi(537) * 2f64.powi(537) } else { x };
    (scale(reported) - scale(value)).abs() <= error * scale(value).abs()
}

/// The observation at a quantile, found in the sorted array.
fn naive_quantile(sorted: &[f64], quantile_millionths: u64, rule: QuantileRule) -> f64 {
    let n = sorted.len();
    let at = match rule {
        QuantileRule::NearestRank => {
            // The first observation such that at least this share of all is at or below it.
            (0..n).find(|at| (at + 1) as u64 * 1_000_000 >= quantile_millionths * n as u64).unwrap()
        }
        QuantileRule::DotNet => {
            let rank = (quantile_millionths as f64 / 1e6 * n as f64).floor() as usize;
            rank.min(n - 1)
        }
    };
    sorted[at]
}

fn create(options: &DoubleOptions) -> DoubleHistogram {
    DoubleHistogram::new(options).unwrap()
}

fn collected(histogram: &DoubleHistogram) -> DoubleSnapshot {
    let mut snapshot = DoubleSnapshot::new();
    histogram.collect(&mut snapshot).unwrap();
    snapshot
}

fn recorded(options: &DoubleOptions, values: &[f64]) -> DoubleSnapshot {
    let histogram = create(options);
    histogram.record_batch(values);
    collected(&histogram)
}

/// The mean and the standard deviation, computed naively.
fn naive_moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().map(|value| value / n).sum::<f64>();
    let variance = values.iter().map(|value| (value - mean).powi(2) / n).sum::<f64>();
    (mean, variance.sqrt())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn quantiles_keep_their_promise(
        options in any_options(), values in proptest::collection::vec(any_double(), 1..200),
        quantiles in proptest::collection::vec(0u64..=1_000_000, 0..20)
    ) {
        let snapshot = recorded(&options, &values);
        let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        prop_assert_eq!(snapshot.count(), sorted.len() as u64);
        prop_assert_eq!(snapshot.not_finite(), (values.len() - sorted.len()) as u64);
        let asked: Vec<f64> = [0, 1_000_000].into_iter().chain(quantiles).map(|q| q as f64 / 1e6).collect();
        let mut reported = vec![f64::NAN; asked.len()];
        let result = snapshot.quantiles(&asked, &mut reported);
        if sorted.is_empty() {
            prop_assert_eq!(result, Err(Error::Empty));
            return Ok(());
        }
        prop_assert_eq!(result, Ok(()));
        for (quantile, reported) in asked.iter().zip(reported) {
            let value = naive_quantile(&sorted, (quantile * 1e6).round() as u64, options.quantile_rule);
            prop_assert!(is_within(options.relative_error, reported, value), "{quantile}: {value:e} as {reported:e}");
        }
        // Minimum and maximum, and every bucket.
        let (min, max) = (sorted[0], sorted[sorted.len() - 1]);
        let statistics = snapshot.statistics();
        if options.exact {
            prop_assert_eq!((statistics.min, statistics.max), (min, max));
        }
        prop_assert!(is_within(options.relative_error, statistics.min, min));
        prop_assert!(is_within(options.relative_error, statistics.max, max));
        let mut seen = 0;
        for bucket in snapshot.buckets() {
            let inside = sorted.iter().filter(|&&value| bucket.lower <= value && value <= bucket.upper);
            prop_assert_eq!(inside.count() as u64, bucket.count);
            seen += bucket.count;
        }
        prop_assert_eq!(seen, snapshot.count());
    }

    #[test]
    fn moments(
        options in any_options(), values in proptest::collection::vec(-1e6f64..1e6, 1..200), exponent in -900i32..900
    ) {
        let scale = 2f64.powi(exponent);
        let values: Vec<f64> = values.iter().map(|value| value * scale).collect();
        let statistics = recorded(&options, &values).statistics();
        let relative_error = DoubleLayout::new(options.relative_error).relative_error();
        prop_assert_eq!(statistics.relative_error, relative_error);
        // The scaling prevents the squares of the naive sums from overflowing or vanishing.
        let unscaled: Vec<f64> = values.iter().map(|value| value / scale).collect();
        let (mean, stddev) = naive_moments(&unscaled);
        let largest = unscaled.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        let magnitude: f64 = unscaled.iter().map(|value| value.abs() / values.len() as f64).sum();
        let bound = relative_error * magnitude + 1e-12 * largest;
        prop_assert!((statistics.mean / scale - mean).abs() <= bound);
        prop_assert!((statistics.sum / scale / values.len() as f64 - mean).abs() <= bound);
        // Each value is off by at most the error of the largest, and so is the deviation.
        prop_assert!((statistics.stddev / scale - stddev).abs() <= relative_error * largest + 1e-12 * largest);
        if options.exact {
            // The values are dyadic rationals with few bits, so integers hold their sum.
            let fine = |value: &f64| (value * 2f64.powi(40)).round();
            let whole: Vec<f64> = values.iter().map(|value| fine(&(value / scale)) * scale).collect();
            let exact: i128 = unscaled.iter().map(|value| fine(value) as i128).sum();
            prop_assert_eq!(recorded(&options, &whole).statistics().sum, exact as f64 * scale);
        }
    }

    #[test]
    fn intervals_and_merging(
        options in any_options(), intervals in proptest::collection::vec(
            proptest::collection::vec((any_double(), 0u64..5), 0..30), 1..6
        )
    ) {
        let (histogram, whole) = (create(&options), create(&options));
        let (mut merged, mut peeked) = (DoubleSnapshot::new(), DoubleSnapshot::new());
        for interval in &intervals {
            for &(value, count) in interval {
                histogram.record_n(value, count);
                whole.record_n(value, count);
            }
            histogram.peek(&mut peeked).unwrap();
            let snapshot = collected(&histogram);
            prop_assert!(peeked.buckets().eq(snapshot.buckets()));
            let total: u64 = interval.iter().map(|step| step.1).sum();
            prop_assert_eq!(snapshot.count() + snapshot.not_finite(), total);
            merged.merge(&snapshot).unwrap();
        }
        let whole = collected(&whole);
        prop_assert!(merged.buckets().eq(whole.buckets()));
        prop_assert_eq!(format!("{:?}", merged.statistics()), format!("{:?}", whole.statistics()));
        prop_assert_eq!(collected(&histogram).count(), 0);
        // Adding to another histogram gives the same.
        let again = create(&options);
        again.add_snapshot(&whole);
        let again = collected(&again);
        prop_assert!(again.buckets().eq(whole.buckets()));
        prop_assert_eq!(again.not_finite(), whole.not_finite());
    }

    #[test]
    fn merging_unlike_layouts(
        values in proptest::collection::vec(any_double(), 1..100), a in 0..ERRORS.len(), b in 0..ERRORS.len()
    ) {
        let [mut into, from] = [a, b].map(|error| {
            recorded(&DoubleOptions { relative_error: ERRORS[error], ..DoubleOptions::default() }, &values)
        });
        into.merge(&from).unwrap();
        let mut sorted: Vec<f64> = values.iter().chain(&values).copied().filter(|value| value.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        prop_assert_eq!(into.count(), sorted.len() as u64);
        let error = into.layout().relative_error() + from.layout().relative_error() * 1.1;
        for (bucket, value) in into.buckets().flat_map(|b| (0..b.count).map(move |_| b.midpoint)).zip(sorted) {
            prop_assert!(is_within(error, bucket, value), "{value:e} as {bucket:e}");
        }
    }
}

#[test]
fn compatible_ranks_are_those_of_dot_net() {
    // These are powers of two in the order of their exponents, so the exponent shows which observation was chosen.
    let powers: Vec<f64> = (0..100).map(|power| 2f64.powi(power)).collect();
    // 0.29 * 100 is 28.999999999999996.
    for (quantile_rule, expected) in [
        (QuantileRule::DotNet, [0, 0, 1, 28, 50, 95, 99, 99]),
        (QuantileRule::NearestRank, [0, 0, 0, 28, 49, 94, 98, 99]),
    ] {
        let snapshot = recorded(&DoubleOptions { quantile_rule, ..DoubleOptions::default() }, &powers);
        let chosen = |quantile| snapshot.quantile(quantile).unwrap().log2().floor() as i32;
        assert_eq!([0.0, 0.005, 0.01, 0.29, 0.5, 0.95, 0.99, 1.0].map(chosen), expected);
    }
}

#[test]
fn what_is_exact_on_one_side_alone_is_not_exact() {
    let one = |exact, value| recorded(&DoubleOptions { exact, ..DoubleOptions::default() }, &[value]);
    for (mut into, from) in [(one(true, 3.0), one(false, 5e6)), (one(false, 3.0), one(true, 5e6))] {
        into.merge(&from).unwrap();
        let statistics = into.statistics();
        let [sum, min, max] = [(statistics.sum, 5e6 + 3.0), (statistics.min, 3.0), (statistics.max, 5e6)];
        let close = [sum, min, max].iter().all(|&(found, value)| is_within(0.001, found, value));
        assert!(close, "{statistics:?}");
    }
}

#[test]
fn errors_and_emptiness() {
    let histogram = create(&DoubleOptions::default());
    let mut out = [0.0; 2];
    for bad in [f64::NAN, -1e-9, 1.000_000_1, f64::INFINITY] {
        histogram.record(1.0);
        assert_eq!(histogram.collect_statistics(&[0.5, bad], &mut out), Err(Error::InvalidArgument));
    }
    assert_eq!(histogram.collect_statistics(&[0.5; 3], &mut out), Err(Error::BufferTooSmall));
    assert_eq!(out, [0.0; 2]);
    let statistics = histogram.collect_statistics(&[0.5, 1.0], &mut out).unwrap();
    assert_eq!(statistics.count, 4, "a refused call takes nothing out");
    assert!(out.iter().all(|value| is_within(0.001, *value, 1.0)));
    histogram.record(f64::NAN);
    let nothing = histogram.collect_statistics(&[0.5, 1.0], &mut out).unwrap();
    assert_eq!((nothing.count, nothing.not_finite, nothing.sum), (0, 1, 0.0));
    assert!(
        out.iter().chain([&nothing.min, &nothing.max, &nothing.mean, &nothing.stddev]).all(|x| x.is_nan())
    );
    assert_eq!(DoubleSnapshot::new().quantile(0.5), Err(Error::Empty));
    assert_eq!(DoubleSnapshot::new().quantiles(&[], &mut []), Ok(()));
    let nothing = DoubleSnapshot::new().summary();
    assert!(nothing.percentiles.iter().all(|one| one.value.is_nan() && one.target_count == 0));
}

#[test]
fn extremes_do_not_overflow_the_moments() {
    for exact in [false, true] {
        let histogram = create(&DoubleOptions { exact, ..DoubleOptions::default() });
        histogram.record_n(f64::MAX, 1 << 63);
        let statistics = collected(&histogram).statistics();
        assert_eq!((statistics.sum, statistics.stddev), (f64::INFINITY, 0.0));
        assert!(is_within(0.001, statistics.mean, f64::MAX));
        histogram.record(f64::MAX);
        histogram.record(f64::MIN);
        let statistics = collected(&histogram).statistics();
        assert_eq!((statistics.sum, statistics.mean), (0.0, 0.0));
        assert!(is_within(0.001, statistics.stddev, f64::MAX));
        histogram.record_n(5e-324, 7);
        let statistics = collected(&histogram).statistics();
        assert_eq!((statistics.min, statistics.max, statistics.sum), (5e-324, 5e-324, 35e-324));
        assert_eq!((statistics.mean, statistics.stddev), (5e-324, 0.0));
    }
}

#[test]
fn the_limit_holds_and_what_does_not_fit_is_lost() {
    let empty = create(&DoubleOptions::default()).footprint() as u64;
    assert!(empty < 8192, "{empty}");
    let too_small = DoubleOptions { max_bytes: empty - 1, ..DoubleOptions::default() };
    assert_eq!(DoubleHistogram::new(&too_small).err(), Some(Error::InvalidArgument));
    // Room for one page and two rows, each with 512 counters for either interval.
    let max_bytes = empty + 512 + 2 * 8192;
    let histogram = create(&DoubleOptions { max_bytes, ..DoubleOptions::default() });
    for _ in 0..3 {
        for value in [1.0, 2.5, 4.0, 1.5, -1.0, 1e300, 0.0, f64::NAN] {
            histogram.record(value);
        }
        assert_eq!(histogram.footprint() as u64, max_bytes);
        let snapshot = collected(&histogram);
        assert_eq!((snapshot.count(), snapshot.not_finite(), snapshot.lost()), (4, 1, 3));
    }
}

/// Exact sums exclude values that find no memory, by every way to add them.
#[test]
fn exact_sums_are_of_what_is_counted() {
    let options = DoubleOptions { exact: true, ..DoubleOptions::default() };
    let empty = create(&options).footprint() as u64;
    // Room for one page and one row.
    let limited = DoubleOptions { max_bytes: empty + 512 + 8192, ..options };
    let values = [1.25, 1e300, -3.0];
    let roomy = recorded(&options, &values);
    let ways: [&dyn Fn(&DoubleHistogram); 4] = [
        &|into| values.iter().for_each(|&value| into.record(value)),
        &|into| values.iter().for_each(|&value| into.record_n(value, 1)),
        &|into| into.record_batch(&values),
        &|into| into.add_snapshot(&roomy),
    ];
    for (way, add) in ways.into_iter().enumerate() {
        let histogram = create(&limited);
        histogram.record(1.5);
        add(&histogram);
        let found = collected(&histogram).statistics();
        assert_eq!((found.count, found.lost), (2, 2), "{way}");
        // If a snapshot does not fit, the midpoints of its buckets are added.
        let middle = DoubleLayout::new(0.0).bucket_of(1.25).unwrap().midpoint;
        let least = if way == 3 { middle } else { 1.25 };
        assert_eq!((found.sum, found.min, found.max), (1.5 + least, least, 1.5), "{way}");
    }
}

/// Adding a snapshot with exact sums to a histogram that keeps them is like recording its values there.
#[test]
fn exact_sums_are_added_exactly() {
    let exact = DoubleOptions { relative_error: 0.1, exact: true, ..DoubleOptions::default() };
    let values = [1e300, -3.25, 0.1, 1e-300, -1e300, 5e-324, 7.0];
    for into_exact in [true, false] {
        let (from, into) = (create(&exact), create(&DoubleOptions { exact: into_exact, ..exact }));
        from.record_batch(&values);
        from.record(f64::NAN);
        into.record(-11.5);
        let snapshot = collected(&from);
        into.add_snapshot(&snapshot);
        into.add_snapshot(&snapshot);
        let statistics = collected(&into).statistics();
        assert_eq!((statistics.count, statistics.not_finite), (15, 2));
        let twice = 2.0 * (0.1 - 3.25 + 7.0) - 11.5;
        if into_exact {
            assert_eq!((statistics.sum, statistics.min, statistics.max), (twice, -1e300, 1e300));
        } else {
            assert!((statistics.sum - twice).abs() < 2.5, "{statistics:?}");
        }
        let nothing = collected(&into).statistics();
        assert_eq!((nothing.count, nothing.sum), (0, 0.0));
    }
}

/// A batch counts like its values, even if it is longer than one entry into a stripe allows.
#[test]
fn batches_of_any_length() {
    let all: Vec<f64> = (0..1000)
        .map(|i| match i % 97 {
            0 => f64::NAN,
            1 => f64::NEG_INFINITY,
            2 => -0.0,
            _ => f64::from(i) * 0.37 - 150.0,
        })
        .collect();
    for exact in [false, true] {
        for length in [0, 1, 2, 63, 64, 65, 127, 128, 129, 1000] {
            let options = DoubleOptions { relative_error: 0.01, exact, ..DoubleOptions::default() };
            let single = create(&options);
            all[..length].iter().for_each(|&value| single.record(value));
            let (batch, single) = (recorded(&options, &all[..length]), collected(&single));
            assert!(batch.buckets().eq(single.buckets()), "{length}");
            // NaN equals nothing, so this compares texts.
            assert_eq!(format!("{:?}", batch.statistics()), format!("{:?}", single.statistics()));
        }
    }
}
