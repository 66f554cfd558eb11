//! Checks that every observation is in its correct bucket.

use picollo_core::counters::Metric;
use picollo_core::doubles::{DoubleOptions, SharedDoubleHistogram};
use picollo_core::{Options, SharedHistogram};
use picollo_export::{Exposition, Registry};
use proptest::prelude::*;

use super::naive::*;
use super::read::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// For any layout, divisor and values, all observations are in the buckets that exact arithmetic gives.
    #[test]
    fn integers_as_counted_naively(
        values in prop::collection::vec(values(), 0..80),
        error in prop_oneof![Just(0.1), Just(0.01), Just(0.001), Just(0.0001)],
        (min, max) in prop_oneof![Just((0, u64::MAX)), Just((0, 1 << 40)), Just((1000, 1 << 30)), Just((1, 3_600_000_000_000))],
        divisor in prop_oneof![Just(1.0), Just(1e9), Just(1024.0), Just(0.1), Just(1e45)],
        max_buckets in prop_oneof![Just(0u32), Just(1), Just(7), Just(40), Just(u32::MAX)],
    ) {
        let histogram = SharedHistogram::create(&Options {
            relative_error: error, min_trackable: min, max_trackable: max, ..Options::default()
        }).unwrap();
        histogram.record_batch(&values);
        let layout = *histogram.layout();
        let stand_ins: Vec<f64> = values.iter().map(|&value| stand_in(&layout, value) / divisor).collect();
        let mut registry = Registry::new();
        let metric = Metric { name: "x", divisor, native: true, max_buckets, ..Metric::default() };
        registry.add(&histogram, &metric, &[]).unwrap();
        registry.update(0).unwrap();
        let finest = (i64::from(layout.scale()) - 3).min(8);
        let max_buckets = match max_buckets { 0 => 320, other => other as usize };
        check_against(&stand_ins, &mut registry, finest, max_buckets);
    }

    /// Doubles of all magnitudes and both signs.
    #[test]
    fn doubles_as_counted_naively(
        values in prop::collection::vec(prop_oneof![
            3 => any::<u64>().prop_map(f64::from_bits),
            3 => (-140i32..140, -2i64..3, any::<bool>()).prop_map(|(power, near, negative)| {
                let value = f64::from_bits(2f64.powi(power).to_bits().wrapping_add_signed(near));
                if negative { -value } else { value }
            }),
            1 => Just(0.0), 1 => Just(-0.0), 1 => Just(5e-324),
        ].prop_filter("finite", |value| value.is_finite()), 0..60),
        max_buckets in prop_oneof![Just(0u32), Just(5)],
    ) {
        let histogram = SharedDoubleHistogram::create(&DoubleOptions { relative_error: 0.01, ..Default::default() }).unwrap();
        histogram.record_batch(&values);
        let layout = histogram.layout();
        let stand_ins: Vec<f64> = values.iter().map(|&value| layout.bucket_of(value).unwrap().midpoint).collect();
        let mut registry = Registry::new();
        let metric = Metric { name: "x", native: true, max_buckets, ..Metric::default() };
        registry.add_double(&histogram, &metric, &[]).unwrap();
        registry.update(0).unwrap();
        check_against(&stand_ins, &mut registry, 3, if max_buckets == 0 { 320 } else { 5 });
    }
}

/// There are more observations than formats can hold: the excess is lost, and everything reported agrees.
#[test]
fn counts_beyond_what_formats_hold() {
    let histogram = histogram(0.01, 10_000);
    for value in [1, 50, 50_000] {
        histogram.record_n(value, u64::MAX / 4 + 1);
    }
    let mut registry = Registry::new();
    registry.add(&histogram, &Metric { name: "x", native: true, ..Metric::default() }, &[]).unwrap();
    registry.update(0).unwrap();
    let families = prometheus_families(&mut registry);
    let read = prometheus_histogram(&families[0].message(4).message(7)).1.unwrap();
    assert_eq!(read.total, i64::MAX as u64);
    assert_eq!(families[1].message(4).message(3).double(1), 2f64.powi(62), "what is lost");
}

#[test]
fn an_empty_registry() {
    let mut registry = Registry::new();
    assert!(prometheus_families(&mut registry).is_empty());
    assert!(otlp_metrics(&registry.encode_to_vec(Exposition::Otlp).unwrap()).1.is_empty());
}
