//! Naive counting, for comparison.

use picollo_core::layouts::ValueSelection;
use picollo_core::{Layout, Options, SharedHistogram};
use picollo_export::{Exposition, Registry};
use proptest::prelude::*;

use super::powers::is_at_most;
use super::read::*;

/// The bucket of a positive value: searches with [`is_at_most`], and uses the powers of two for coarser schemas.
pub fn number_of(value: f64, schema: i64) -> i64 {
    let fine = schema.max(0) as u32;
    let guess = (value.log2() * f64::from(1 << fine)).ceil() as i64;
    let number = (guess - 1..=guess + 1).find(|&number| is_at_most(value, number, fine)).unwrap();
    assert!(!is_at_most(value, number - 1, fine));
    if schema >= 0 {
        number
    } else {
        number.div_euclid(1 << -schema) + i64::from(number.rem_euclid(1 << -schema) != 0)
    }
}

/// Counts values in the buckets of a schema.
pub fn naive(values: impl Iterator<Item = (f64, u64)>, schema: i64) -> Read {
    let mut read = Read { schema, ..Read::default() };
    let (mut negative, mut positive) = (std::collections::BTreeMap::new(), std::collections::BTreeMap::new());
    for (value, count) in values.filter(|value| value.1 > 0) {
        read.total += count;
        match value {
            value if value.abs() <= 2f64.powi(-128) => read.zero += count,
            value if value < 0.0 => *negative.entry(number_of(-value, schema)).or_insert(0) += count,
            value => *positive.entry(number_of(value, schema)).or_insert(0) += count,
        }
    }
    (read.negative, read.positive) = (negative.into_iter().collect(), positive.into_iter().collect());
    read
}

/// An empty histogram for values up to a maximum.
pub fn histogram(relative_error: f64, max_trackable: u64) -> SharedHistogram {
    SharedHistogram::create(&Options {
        relative_error,
        max_trackable,
        counter_bits: 64,
        ..Options::default()
    })
    .unwrap()
}

/// The value that stands in if only the bucket is known: its midpoint, or the value just outside of the range.
pub fn stand_in(layout: &Layout, value: u64) -> f64 {
    match layout.bucket_of(value) {
        Some(bucket) => bucket.equivalent_value(ValueSelection::Midpoint) as f64,
        None if layout.is_below(value) => (layout.lowest_recordable() - 1) as f64,
        None => (u128::from(layout.highest_recordable()) + 1) as f64,
    }
}

/// Checks all formats of a registry with one histogram against naive counting. Returns the schema.
pub fn check_against(stand_ins: &[f64], registry: &mut Registry, finest: i64, max_buckets: usize) -> i64 {
    let family = &prometheus_families(registry)[0];
    let (classic, read) = prometheus_histogram(&family.messages(4)[0].message(7));
    for (bound, count) in classic {
        let truth = stand_ins.iter().filter(|&&value| value <= bound).count();
        assert_eq!(count, truth as u64, "{bound}");
    }
    let read = read.unwrap();
    assert_eq!(read, naive(stand_ins.iter().map(|&value| (value, 1)), read.schema));
    let buckets = |schema| {
        let naive = naive(stand_ins.iter().map(|&value| (value, 1)), schema);
        naive.negative.len() + naive.positive.len()
    };
    assert!(read.schema <= finest && (buckets(read.schema) <= max_buckets || read.schema == -4));
    assert!(read.schema == finest || buckets(read.schema + 1) > max_buckets, "as fine as may be");
    let otlp = registry.encode_to_vec(Exposition::Otlp).unwrap();
    let (_, metrics) = otlp_metrics(&otlp);
    let exponential = metrics[0].message(10);
    assert_eq!(exponential.uint(2), 2, "cumulative");
    let point = &exponential.messages(1)[0];
    let read = otlp_histogram(point);
    assert_eq!(read, naive(stand_ins.iter().map(|&value| (value, 1)), read.schema));
    let side = |field| point.message(field).packed(2).len();
    assert!(side(8) + side(9) <= 16 * max_buckets || read.schema == -4);
    if !stand_ins.is_empty() {
        let extreme = |pick: fn(f64, f64) -> f64| stand_ins.iter().copied().reduce(pick).unwrap();
        assert_eq!((point.double(12), point.double(13)), (extreme(f64::min), extreme(f64::max)));
    } else {
        assert!(point.one(12).is_none() && point.one(13).is_none());
    }
    read.schema
}

pub fn values() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => (any::<u64>(), 0u32..64).prop_map(|(value, shift)| value >> shift),
        2 => (0u32..64, -2i64..3).prop_map(|(power, near)| (1u64 << power).wrapping_add_signed(near)),
        1 => 0u64..10,
    ]
}
