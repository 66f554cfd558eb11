//! The example data of the documentation, summarised naively, and helpers for tests of the text.

use std::string::String;
use std::vec::Vec;

use crate::layout::bucket::{Bucket, ValueSelection};
use crate::layout::layout::Layout;
use crate::statistics::summary::{Percentile, SUMMARY_PERCENTILES, SUMMARY_RANKS, Summary};

/// The layout of both examples.
pub(crate) const fn layout() -> Layout {
    Layout::new(0.01, 2_000, 12_000)
}

fn values(seed: u64, length: usize, base: u64, spread: u64, divisor: u64) -> Vec<u64> {
    let mut x = seed;
    let mut next = || {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        base + (x >> 40) % spread + ((x >> 20) % 64).pow(3) / divisor
    };
    (0..length).map(|_| next()).collect()
}

/// The values behind [`first`], in the order of recording.
pub(crate) fn first_values() -> Vec<u64> {
    values(1, 100_000, 1_990, 1_500, 40)
}

/// "Before", or "Example" on its own.
pub(crate) fn first() -> Summary {
    summarise(&first_values())
}

/// The values behind [`second`].
pub(crate) fn second_values() -> Vec<u64> {
    values(2, 150_000, 1_800, 1_700, 36)
}

/// "After".
pub(crate) fn second() -> Summary {
    summarise(&second_values())
}

/// The summary of nothing.
pub(crate) fn empty() -> Summary {
    summarise(&[])
}

/// The recorded buckets of the first example, in order, and their total.
pub(crate) fn first_buckets() -> (Vec<Bucket>, u64) {
    let mut buckets: Vec<Bucket> = Vec::new();
    for bucket in sorted(&first_values()) {
        match buckets.last_mut() {
            Some(last) if last.lower == bucket.lower => last.count += 1,
            _ => buckets.push(Bucket { count: 1, ..bucket }),
        }
    }
    let total = buckets.iter().map(|bucket| bucket.count).sum();
    (buckets, total)
}

/// The bucket of each value in range, in order.
fn sorted(values: &[u64]) -> Vec<Bucket> {
    let mut buckets: Vec<Bucket> = values.iter().filter_map(|&value| layout().bucket_of(value)).collect();
    buckets.sort_by_key(|bucket| bucket.lower);
    buckets
}

fn summarise(values: &[u64]) -> Summary {
    let layout = layout();
    let buckets = sorted(values);
    let total = buckets.len();
    let midpoint = |bucket: &Bucket| bucket.equivalent_value(ValueSelection::Midpoint) as f64;
    let mean = buckets.iter().map(midpoint).sum::<f64>() / total as f64;
    let variance = buckets.iter().map(|bucket| (midpoint(bucket) - mean).powi(2)).sum::<f64>() / total as f64;
    let underflow = values.iter().filter(|&&value| layout.is_below(value)).count();
    let percentile = |rank: f64| {
        // Ranks of the summary have at most three decimals.
        let target = ((rank * 1000.0).round() as u64 * total as u64).div_ceil(100_000).max(1);
        let Some(bucket) = buckets.get(target as usize - 1) else {
            return Percentile { rank, ..Percentile::default() };
        };
        let count = buckets.iter().filter(|other| other.lower == bucket.lower).count() as u64;
        let value = bucket.equivalent_value(ValueSelection::Midpoint);
        Percentile { rank, value, target_count: target, bucket: Bucket { count, ..*bucket } }
    };
    let mut percentiles = [Percentile::default(); SUMMARY_PERCENTILES];
    for (slot, rank) in percentiles.iter_mut().zip(SUMMARY_RANKS) {
        *slot = percentile(rank);
    }
    Summary {
        total_count: total as u64,
        underflow_count: underflow as u64,
        overflow_count: (values.len() - total - underflow) as u64,
        lost_count: 0,
        mean,
        stddev: variance.sqrt(),
        relative_error: layout.relative_error(),
        min_trackable: layout.min_trackable(),
        max_trackable: layout.max_trackable(),
        timestamp_unix_nanos: 0,
        value_selection: 0,
        flags: 0,
        percentiles,
    }
}

/// A strict reader of RFC 4180 with `\n` line ends; panics on anything else.
pub(crate) fn parse_csv(text: &str) -> Vec<Vec<String>> {
    let mut records = Vec::new();
    let mut record = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut field = String::new();
        if let Some(mut quoted) = rest.strip_prefix('"') {
            loop {
                let (before, after) = quoted.split_once('"').expect("a closing quote");
                field.push_str(before);
                quoted = after;
                match quoted.strip_prefix('"') {
                    Some(after) => {
                        field.push('"');
                        quoted = after;
                    }
                    None => break,
                }
            }
            rest = quoted;
        } else {
            let end = rest.find([',', '\n']).expect("an end of the field");
            field.push_str(&rest[..end]);
            assert!(!field.contains(['"', '\r']), "{field:?} has to be quoted");
            rest = &rest[end..];
        }
        record.push(field);
        if let Some(after) = rest.strip_prefix(',') {
            rest = after;
        } else {
            rest = rest.strip_prefix('\n').expect("a comma or a line end");
            records.push(core::mem::take(&mut record));
        }
    }
    records
}
