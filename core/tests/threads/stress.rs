//! Threads that come and go record known amounts, one thread resets at random, and three monitors continuously take
//! deltas. What each monitor saw must add up to what was recorded.
//!
//! `PICOLLO_STRESS_RECORDS` sets the records of each run (default 2 000 000; the long form is 100 000 000).
#![cfg(feature = "std")]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;

use picollo_core::snapshots::Counts;
use picollo_core::{Mode, Options, SharedHistogram, Since, Snapshot};

const MONITORS: usize = 3;
const MIN: u64 = 100;
const MAX: u64 = 1_000_000;

fn records() -> u64 {
    std::env::var("PICOLLO_STRESS_RECORDS")
        .map_or(2_000_000, |text| text.parse().expect("a number of records"))
}

struct Lcg(u64);

impl Lcg {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 20
    }

    /// Skewed values: some are out of range, and some fall into the same few buckets from all threads.
    fn value(&mut self) -> u64 {
        match self.next() % 8 {
            0 => 1000,
            1 => self.next() % 200,
            2 => self.next() % 2_000_000,
            _ => 200 + self.next() % 1000,
        }
    }
}

/// Counts in buckets, and counts outside of them.
#[derive(Clone, PartialEq, Debug)]
struct Sums {
    buckets: Vec<u64>,
    underflow: u64,
    overflow: u64,
    lost: u64,
}

impl Sums {
    fn new(histogram: &SharedHistogram) -> Sums {
        Sums { buckets: vec![0; histogram.layout().length()], underflow: 0, overflow: 0, lost: 0 }
    }

    fn record(&mut self, histogram: &SharedHistogram, value: u64, count: u64) {
        match histogram.layout().bucket_of(value) {
            Some(bucket) => self.buckets[bucket.storage_index as usize] += count,
            None if value < MIN => self.underflow += count,
            None => self.overflow += count,
        }
    }

    fn add(&mut self, snapshot: &Snapshot) {
        let Counts { total, underflow, overflow, lost } = snapshot.counts();
        let mut sum = 0;
        for bucket in snapshot.recorded_buckets() {
            self.buckets[bucket.storage_index as usize] += bucket.count;
            sum += bucket.count;
        }
        assert_eq!(sum, total, "a snapshot agrees with itself");
        self.underflow += underflow;
        self.overflow += overflow;
        self.lost += lost;
    }

    fn merge(&mut self, other: &Sums) {
        self.buckets.iter_mut().zip(&other.buckets).for_each(|(sum, count)| *sum += count);
        self.underflow += other.underflow;
        self.overflow += other.overflow;
    }

    fn total(&self) -> u64 {
        self.buckets.iter().sum()
    }
}

/// The life of a thread: some records by each of the ways to record.
fn live(histogram: &SharedHistogram, seed: u64, number: u64) -> Sums {
    let (mut lcg, mut sums) = (Lcg(seed), Sums::new(histogram));
    let mut left = number;
    while left > 0 {
        let some = left.min(1 + lcg.next() % 256);
        left -= some;
        match lcg.next() % 4 {
            0 => {
                let values: Vec<u64> = (0..some).map(|_| lcg.value()).collect();
                histogram.record_batch(&values);
                values.iter().for_each(|&value| sums.record(histogram, value, 1));
            }
            1 => {
                let value = lcg.value();
                histogram.record_n(value, some);
                sums.record(histogram, value, some);
            }
            _ => {
                for _ in 0..some {
                    let value = lcg.value();
                    histogram.record(value);
                    sums.record(histogram, value, 1);
                }
            }
        }
    }
    sums
}

/// Starts threads one after another until everything is recorded. Returns what they recorded.
fn keep_recording(histogram: &SharedHistogram, seed: u64, number: u64) -> Sums {
    let (mut lcg, mut truth) = (Lcg(seed), Sums::new(histogram));
    let mut left = number;
    while left > 0 {
        let some = left.min(number / 40 + 1 + lcg.next() % 5000);
        left -= some;
        let seed = lcg.next();
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

fn run(mode: Mode, counter_bits: u32, number: u64) {
    let options = Options {
        mode,
        counter_bits,
        relative_error: 0.02,
        min_trackable: MIN,
        max_trackable: MAX,
        ..Options::default()
    };
    // SAFETY: in single-writer mode there is one writer.
    let histogram = unsafe { SharedHistogram::create_unguarded(&options) }.unwrap();
    let writers = if mode == Mode::SingleWriter { 1 } else { 3 };
    // Narrow cells start slightly below their wrap.
    let head_start = if counter_bits == 32 { u32::MAX as u64 - number / 100 } else { 0 };
    for bucket in Snapshot::boxed(*histogram.layout()).unwrap().buckets() {
        histogram.record_n(bucket.lower, head_start);
    }
    let mut monitors: Vec<_> = (0..MONITORS)
        .map(|_| {
            let mut snapshot = Snapshot::boxed(*histogram.layout()).unwrap();
            histogram.update(&mut snapshot, Since::PreviousUpdate).unwrap();
            (snapshot, Sums::new(&histogram))
        })
        .collect();
    let (recorded, resets) = (AtomicBool::new(false), AtomicU64::new(0));
    let mut truth = Sums::new(&histogram);
    // All threads are joined explicitly: ThreadSanitizer does not see how a scope waits.
    let updates: u64 = thread::scope(|scope| {
        let (histogram, recorded) = (&histogram, &recorded);
        let watchers: Vec<_> = monitors
            .iter_mut()
            .map(|(snapshot, sums)| scope.spawn(|| watch(histogram, snapshot, sums, recorded)))
            .collect();
        let resetter = scope.spawn(|| {
            let mut lcg = Lcg(7);
            while !recorded.load(Relaxed) {
                histogram.reset().unwrap();
                resets.fetch_add(1, Relaxed);
                for _ in 0..lcg.next() % 50 {
                    thread::yield_now();
                }
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
        "{mode:?}, {counter_bits}-bit: {} in range, {} below and {} above, in {} updates and {} resets",
        truth.total(),
        truth.underflow,
        truth.overflow,
        updates,
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
    run(Mode::SingleWriter, 64, records());
    run(Mode::SingleWriter, 32, records());
}

#[test]
fn interlocked() {
    run(Mode::Interlocked, 64, records());
    run(Mode::Interlocked, 32, records());
}

#[test]
fn thread_local() {
    run(Mode::ThreadLocal, 64, records());
    run(Mode::ThreadLocal, 32, records());
}

#[test]
fn per_cpu() {
    run(Mode::PerCpu, 64, records());
}
