//! Threads that come and go record known amounts, one thread resets at random, and three monitors continuously take
//! deltas. What each monitor saw must add up to what was recorded.
//!
//! `PICOLLO_STRESS_RECORDS` sets the records of each run (default 2 000 000; the long form is 100 000 000).
#![cfg(feature = "std")]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;

use picollo_core::layouts::Storage;
use picollo_core::snapshots::Counts;
use picollo_core::{Mode, Options, SharedHistogram, Since, Snapshot};

use crate::common::{Random, Sums, create, stress_records};

const MONITORS: usize = 3;

/// Skewed values: some are out of range, and some fall into the same few buckets from all threads.
fn value(random: &mut Random) -> u64 {
    match random.below(8) {
        0 => 1000,
        1 => random.below(200),
        2 => random.below(2_000_000),
        _ => 200 + random.below(1000),
    }
}

/// The life of a thread: some records by each of the ways to record.
fn live(histogram: &SharedHistogram, seed: u64, number: u64) -> Sums {
    let layout = histogram.layout();
    let (mut random, mut sums) = (Random(seed), Sums::new(layout));
    let mut left = number;
    while left > 0 {
        let some = left.min(1 + random.below(256));
        left -= some;
        match random.below(4) {
            0 => {
                let values: Vec<u64> = (0..some).map(|_| value(&mut random)).collect();
                histogram.record_batch(&values);
                values.iter().for_each(|&value| sums.record(layout, value, 1));
            }
            1 => {
                let value = value(&mut random);
                histogram.record_n(value, some);
                sums.record(layout, value, some);
            }
            _ => {
                for _ in 0..some {
                    let value = value(&mut random);
                    histogram.record(value);
                    sums.record(layout, value, 1);
                }
            }
        }
    }
    sums
}

/// Starts threads one after another until everything is recorded. Returns what they recorded.
fn keep_recording(histogram: &SharedHistogram, seed: u64, number: u64) -> Sums {
    let (mut random, mut truth) = (Random(seed), Sums::new(histogram.layout()));
    let mut left = number;
    while left > 0 {
        let some = left.min(number / 40 + 1 + random.below(5000));
        left -= some;
        let seed = random.next();
        let sums = thread::scope(|scope| scope.spawn(|| live(histogram, seed, some)).join().unwrap());
        truth.merge(&sums);
    }
    truth
}

fn watch(histogram: &SharedHistogram, snapshot: &mut Snapshot, sums: &mut Sums, done: &AtomicBool) -> u64 {
    let mut updates = 0;
    loop {
        let last = done.load(Relaxed);
        histogram.update(snapshot, Since::PreviousUpdate).unwrap();
        sums.add(snapshot);
        updates += 1;
        if last {
            return updates;
        }
        thread::yield_now();
    }
}

fn run(mode: Mode, counter_bits: u32) {
    run_stored(mode, Storage::Dense, counter_bits);
}

fn run_stored(mode: Mode, storage: Storage, counter_bits: u32) {
    let number = stress_records();
    let options = Options {
        mode,
        storage,
        counter_bits,
        relative_error: 0.02,
        min_trackable: 100,
        max_trackable: 1_000_000,
        ..Options::default()
    };
    let histogram = create(&options);
    let layout = histogram.layout();
    let writers = if mode == Mode::SingleWriter { 1 } else { 3 };
    // Narrow cells start slightly below their wrap.
    let head_start = if counter_bits == 32 { u32::MAX as u64 - number / 100 } else { 0 };
    for index in 0..layout.length() as u64 {
        histogram.record_n(layout.bucket_at(index).lower, head_start);
    }
    let mut monitors: Vec<_> = (0..MONITORS)
        .map(|_| {
            let mut snapshot = Snapshot::boxed(*layout).unwrap();
            histogram.update(&mut snapshot, Since::PreviousUpdate).unwrap();
            (snapshot, Sums::new(layout))
        })
        .collect();
    let (recorded, resets) = (AtomicBool::new(false), AtomicU64::new(0));
    let mut truth = Sums::new(layout);
    // All threads are joined explicitly: ThreadSanitizer does not see how a scope waits.
    let updates: u64 = thread::scope(|scope| {
        let (histogram, recorded) = (&histogram, &recorded);
        let watchers: Vec<_> = monitors
            .iter_mut()
            .map(|(snapshot, sums)| scope.spawn(|| watch(histogram, snapshot, sums, recorded)))
            .collect();
        let resetter = scope.spawn(|| {
            let mut random = Random(7);
            while !recorded.load(Relaxed) {
                histogram.reset().unwrap();
                resets.fetch_add(1, Relaxed);
                (0..random.below(50)).for_each(|_| thread::yield_now());
            }
        });
        let writers: Vec<_> = (0..writers)
            .map(|writer| scope.spawn(move || keep_recording(histogram, writer + 1, number / writers)))
            .collect();
        writers.into_iter().for_each(|writer| truth.merge(&writer.join().unwrap()));
        recorded.store(true, Relaxed);
        resetter.join().unwrap();
        watchers.into_iter().map(|watcher| watcher.join().unwrap()).sum()
    });
    for (_, sums) in &monitors {
        assert_eq!(*sums, truth);
    }
    println!(
        "{mode:?}, {storage:?}, {counter_bits}-bit: {} in range, {} below and {} above, in {updates} updates and {} resets",
        truth.total(),
        truth.underflow,
        truth.overflow,
        resets.into_inner()
    );

    // A reset now empties it, and the following records are on the later side.
    histogram.reset().unwrap();
    let mut snapshot = histogram.snapshot().unwrap();
    assert_eq!(snapshot.counts(), Counts::default());
    histogram.record(1000);
    histogram.update(&mut snapshot, Since::Reset).unwrap();
    assert_eq!((snapshot.counts().total, snapshot.counts().lost), (1, 0));
}

#[test]
fn single_writer() {
    run(Mode::SingleWriter, 64);
    run(Mode::SingleWriter, 32);
}

#[test]
fn interlocked() {
    run(Mode::Interlocked, 64);
    run(Mode::Interlocked, 32);
}

#[test]
fn thread_local() {
    run(Mode::ThreadLocal, 64);
    run(Mode::ThreadLocal, 32);
}

#[test]
fn sparse() {
    run_stored(Mode::Interlocked, Storage::Sparse, 64);
}

#[test]
fn per_cpu() {
    run(Mode::PerCpu, 64);
}
