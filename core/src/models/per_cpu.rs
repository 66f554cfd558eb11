//! Shards of CPUs, which threads make when they first run on a CPU.

use super::*;
use crate::platform::rseq::run_on;

/// Two threads, on the given CPUs. Each records once, perhaps before the CPU has a shard, and then once more.
fn two_threads(cpus: [usize; 2], meanwhile: impl FnOnce(&SharedHistogram)) -> SharedHistogram {
    let histogram = create(Mode::PerCpu, 64);
    let threads = cpus.map(|cpu| {
        beside(&histogram, move |histogram| {
            run_on(cpu);
            histogram.record(0);
            histogram.record(1);
        })
    });
    meanwhile(&histogram);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    histogram
}

/// A thread that comes to a CPU at the same time as another uses the other's shard, and its records there are found.
#[test]
fn a_shard_is_made_once() {
    model(3, || {
        let histogram = two_threads([0, 0], |_| ());
        assert_eq!(shared_counts(&histogram), (2, 2));
        run_on(0);
        let other = create(Mode::PerCpu, 64);
        other.record(0);
        assert_eq!(histogram.footprint(), other.footprint(), "one shard");
    });
}

/// A reader that meets an unfinished shard sees it whole or not at all, and later sees everything that it missed.
#[test]
fn a_shard_is_found_whole() {
    model(3, || {
        let mut monitor = None;
        let histogram = two_threads([0, 1], |histogram| {
            let mut deltas = snapshot(*histogram.layout());
            histogram.update(&mut deltas, Since::PreviousUpdate).unwrap();
            let (zeros, ones) = counts(&deltas);
            assert!(zeros <= 2 && ones <= 2);
            monitor = Some((deltas, zeros, ones));
        });
        let (mut deltas, zeros, ones) = monitor.unwrap();
        histogram.update(&mut deltas, Since::PreviousUpdate).unwrap();
        assert_eq!((zeros + counts(&deltas).0, ones + counts(&deltas).1), (2, 2));
    });
}

/// Every record is on one side of a reset, including those into a shard that the reset did not find yet.
#[test]
fn reset_beside_a_first_touch() {
    model(2, || {
        let histogram = two_threads([0, 1], |histogram| histogram.reset().unwrap());
        let (zeros, ones) = shared_counts(&histogram);
        assert!(zeros <= 2 && ones <= 2);
        histogram.reset().unwrap();
        assert_eq!(shared_counts(&histogram), (0, 0));
    });
}
