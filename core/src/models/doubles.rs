//! Histograms of doubles: rows made by several threads at once, and collections beside writers and each other.

use std::vec::Vec;

use loom::sync::Arc;

use super::{beside, model};
use crate::doubles::{DoubleHistogram, DoubleOptions, DoubleSnapshot};

fn histogram(exact: bool) -> Arc<DoubleHistogram> {
    let options = DoubleOptions { relative_error: 0.1, exact, ..DoubleOptions::default() };
    Arc::new(DoubleHistogram::new(&options).unwrap())
}

fn collect(histogram: &DoubleHistogram, total: &mut DoubleSnapshot) -> u64 {
    let mut snapshot = DoubleSnapshot::new();
    histogram.collect(&mut snapshot).unwrap();
    total.merge(&snapshot).unwrap();
    snapshot.count()
}

/// Returns counts by bucket, as (midpoint, count).
fn counts(snapshot: &DoubleSnapshot) -> Vec<(f64, u64)> {
    snapshot.buckets().map(|bucket| (bucket.midpoint, bucket.count)).collect()
}

#[test]
fn two_writers_create_the_same_row() {
    model(3, || {
        let histogram = histogram(false);
        let before = histogram.footprint();
        let other = beside(&histogram, |histogram| histogram.record(1.0));
        histogram.record(1.9);
        other.join().unwrap();
        let mut total = DoubleSnapshot::new();
        collect(&histogram, &mut total);
        assert_eq!(counts(&total), [(1.0625, 1), (1.9375, 1)]);
        // One page of 64 pointers and one row of 8 cells for each interval, whoever lost.
        assert_eq!(
            histogram.footprint() - before,
            64 * size_of::<loom::sync::atomic::AtomicPtr<u64>>()
                + 16 * size_of::<loom::sync::atomic::AtomicU64>()
        );
    });
}

#[test]
fn what_is_recorded_during_a_collection_is_in_this_interval_or_the_next() {
    model(3, || {
        let histogram = histogram(false);
        histogram.record(1.0);
        let writer = beside(&histogram, |histogram| {
            histogram.record(1.0);
            histogram.record(1.9);
        });
        let (mut total, mut seen) = (DoubleSnapshot::new(), 0);
        let first = collect(&histogram, &mut total);
        assert!(first >= 1, "what was recorded before");
        seen += first;
        writer.join().unwrap();
        seen += collect(&histogram, &mut total);
        assert_eq!((seen, counts(&total)), (3, std::vec![(1.0625, 2), (1.9375, 1)]));
    });
}

#[test]
fn a_late_writer_loses_nothing_over_several_intervals() {
    model(3, || {
        let histogram = histogram(false);
        histogram.record_n(1.0, 10);
        let writer = beside(&histogram, |histogram| histogram.record(1.0));
        let mut total = DoubleSnapshot::new();
        let mut seen = 0;
        for _ in 0..3 {
            seen += collect(&histogram, &mut total);
        }
        writer.join().unwrap();
        seen += collect(&histogram, &mut total);
        assert_eq!((seen, counts(&total)), (11, std::vec![(1.0625, 11)]));
    });
}

#[test]
fn two_collectors_share_what_there_is() {
    model(3, || {
        let histogram = histogram(false);
        histogram.record_n(1.0, 2);
        // Busy is a valid result: then nothing was taken out.
        let try_to_collect = |histogram: &Arc<DoubleHistogram>| {
            let mut snapshot = DoubleSnapshot::new();
            if histogram.collect(&mut snapshot).is_ok() { snapshot.count() } else { 0 }
        };
        let other = beside(&histogram, try_to_collect);
        let seen = try_to_collect(&histogram) + other.join().unwrap();
        assert_eq!(seen + collect(&histogram, &mut DoubleSnapshot::new()), 2);
    });
}

#[test]
fn exact_sums_go_with_their_counts() {
    model(3, || {
        let histogram = histogram(true);
        let writer = beside(&histogram, |histogram| histogram.record(-3.0));
        let (mut total, mut snapshot) = (DoubleSnapshot::new(), DoubleSnapshot::new());
        histogram.collect(&mut snapshot).unwrap();
        let statistics = snapshot.statistics();
        // A record is counted completely or not at all.
        let expected = if statistics.count == 1 { (1, -3.0) } else { (0, 0.0) };
        assert_eq!((statistics.count, statistics.sum), expected);
        assert_eq!(statistics.min.is_nan(), statistics.count == 0);
        total.merge(&snapshot).unwrap();
        writer.join().unwrap();
        histogram.collect(&mut snapshot).unwrap();
        total.merge(&snapshot).unwrap();
        let statistics = total.statistics();
        assert_eq!((statistics.count, statistics.sum), (1, -3.0));
        assert_eq!((statistics.min, statistics.max), (-3.0, -3.0));
    });
}
