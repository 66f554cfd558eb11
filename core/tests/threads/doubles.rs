//! Writers and collectors of one histogram of doubles at full speed: every record is read exactly once.
//!
//! `PICOLLO_STRESS_RECORDS` sets the records of each run (default 2 000 000; the long form is 100 000 000).
#![cfg(feature = "alloc")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use picollo_core::doubles::{DoubleHistogram, DoubleOptions, DoubleSnapshot};

const WRITERS: u64 = 4;

/// Record number `i` of a writer: both signs, several magnitudes, and occasionally a value that is not finite.
fn value(writer: u64, i: u64) -> f64 {
    let magnitude = (1 + (i ^ writer) % 7) as f64 * 2f64.powi((i % 40) as i32 - 20);
    match i % 101 {
        0 => f64::NAN,
        1 => 0.0,
        _ if i.is_multiple_of(3) => -magnitude,
        _ => magnitude,
    }
}

fn writers_against_collectors(exact: bool) {
    let records = crate::common::stress_records();
    let options = DoubleOptions { relative_error: 0.01, exact, ..DoubleOptions::default() };
    let histogram = DoubleHistogram::new(&options).unwrap();
    let done = AtomicBool::new(false);
    let collect = || {
        let (mut total, mut interval, mut intervals) = (DoubleSnapshot::new(), DoubleSnapshot::new(), 0);
        let mut apart = 0;
        loop {
            let last = done.load(Ordering::Acquire);
            if histogram.collect(&mut interval).is_ok() {
                if exact {
                    let statistics = interval.statistics();
                    let range =
                        statistics.min * statistics.count as f64..=statistics.max * statistics.count as f64;
                    // The record of a writer that was stopped in the middle counts in two intervals.
                    apart += u64::from(statistics.count != 0 && !range.contains(&statistics.sum));
                }
                total.merge(&interval).unwrap();
                intervals += 1;
            }
            if last {
                assert!(
                    apart <= 1 + intervals / 100,
                    "{apart} of {intervals} sums are of other moments than the counts"
                );
                return (total, intervals);
            }
        }
    };
    let per_writer = records / WRITERS;
    let (total, intervals) = thread::scope(|scope| {
        let collectors = [scope.spawn(collect), scope.spawn(collect)];
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let histogram = &histogram;
                scope.spawn(move || (0..per_writer).for_each(|i| histogram.record(value(writer, i))))
            })
            .collect();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        done.store(true, Ordering::Release);
        let [first, second] = collectors.map(|collector| collector.join().unwrap());
        let mut total = first.0;
        total.merge(&second.0).unwrap();
        // A collector may leave counts for the other one, which had finished already.
        let mut rest = DoubleSnapshot::new();
        for _ in 0..2 {
            histogram.collect(&mut rest).unwrap();
            total.merge(&rest).unwrap();
        }
        (total, first.1 + second.1)
    });
    eprintln!("{intervals} intervals");
    // The same without threads, for one period of the values.
    let expected = DoubleHistogram::new(&options).unwrap();
    let period = 7 * 8 * 40 * 101 * 3;
    for writer in 0..WRITERS {
        for i in 0..period {
            let times = per_writer / period + u64::from(i < per_writer % period);
            expected.record_n(value(writer, i), times);
        }
    }
    let mut expected_total = DoubleSnapshot::new();
    expected.collect(&mut expected_total).unwrap();
    assert_eq!(total.count() + total.not_finite(), records);
    assert_eq!((total.not_finite(), total.lost()), (expected_total.not_finite(), 0));
    assert!(total.buckets().eq(expected_total.buckets()));
    if exact {
        assert_eq!(total.statistics(), expected_total.statistics());
    }
}

#[test]
fn nothing_is_lost() {
    writers_against_collectors(false);
}

#[test]
fn nothing_is_lost_of_exact_sums() {
    writers_against_collectors(true);
}
