//! Counts that 64 bits cannot hold: wraps count as lost, in every mode, by every way to add.

use std::collections::BTreeMap;

use picollo_core::doubles::{DoubleHistogram, DoubleOptions, DoubleSnapshot};
use picollo_core::layouts::Storage;
use picollo_core::snapshots::Counts;
use picollo_core::{Mode, Options, SharedHistogram, Since, Snapshot};
use proptest::prelude::*;

const MAX: u64 = u64::MAX;

fn options(mode: Mode, storage: Storage, counter_bits: u32) -> Options {
    Options {
        mode,
        storage,
        counter_bits,
        relative_error: 0.1,
        min_trackable: 5,
        max_trackable: 1000,
        ..Options::default()
    }
}

fn kinds() -> Vec<Options> {
    let mut kinds = Vec::new();
    for counter_bits in [32, 64] {
        for mode in [Mode::SingleWriter, Mode::Interlocked, Mode::ThreadLocal, Mode::PerCpu] {
            kinds.push(options(mode, Storage::Dense, counter_bits));
        }
        for mode in [Mode::SingleWriter, Mode::Interlocked] {
            kinds.push(options(mode, Storage::Sparse, counter_bits));
        }
    }
    // The thread-local mode needs threads, and the per-CPU mode needs cells of 64 bits.
    // SAFETY: nobody records.
    kinds.retain(|options| unsafe { SharedHistogram::create_unguarded(options) }.is_ok());
    kinds
}

fn create(options: &Options) -> (SharedHistogram, Box<Snapshot>) {
    // SAFETY: one thread does everything.
    let histogram = unsafe { SharedHistogram::create_unguarded(options) }.unwrap();
    let snapshot = Snapshot::boxed(*histogram.layout()).unwrap();
    (histogram, snapshot)
}

#[test]
fn a_wrap_is_lost_and_said() {
    for options in kinds() {
        for value in [7, 1, 5000] {
            let (histogram, mut snapshot) = create(&options);
            let mut update = |since| {
                histogram.update(&mut snapshot, since).unwrap();
                snapshot.counts()
            };
            histogram.record_n(value, MAX);
            histogram.record_n(value, MAX);
            let counts = update(Since::Reset);
            assert_eq!(counts.lost, MAX, "{value} {options:?}");
            // The wrap does not affect the next intervals.
            assert_eq!(update(Since::PreviousUpdate), Counts::default(), "{value} {options:?}");
            histogram.record(value);
            let counts = update(Since::PreviousUpdate);
            assert_eq!(
                (counts.total + counts.underflow + counts.overflow, counts.lost),
                (1, 0),
                "{options:?}"
            );
            histogram.reset().unwrap();
            assert_eq!(update(Since::Reset), Counts::default(), "{options:?}");
        }
    }
}

#[test]
fn adding_a_snapshot_wraps_aloud() {
    for options in kinds() {
        let (histogram, mut snapshot) = create(&options);
        let (source, mut full) = create(&self::options(Mode::Interlocked, Storage::Dense, 64));
        source.record_n(7, MAX - 100);
        source.record_n(1, MAX);
        source.record_n(5000, MAX);
        source.update(&mut full, Since::Reset).unwrap();
        histogram.add_snapshot(&full);
        histogram.update(&mut snapshot, Since::Reset).unwrap();
        assert_eq!((snapshot.counts().underflow, snapshot.counts().overflow), (MAX, MAX));
        if options.counter_bits == 64 {
            assert_eq!((snapshot.counts().total, snapshot.counts().lost), (MAX - 100, 0));
        }
        histogram.add_snapshot_spreading(&full);
        histogram.update(&mut snapshot, Since::Reset).unwrap();
        assert_eq!(snapshot.counts().lost, MAX, "{options:?}");
    }
}

#[cfg(feature = "std")]
#[test]
fn the_sum_of_shards_wraps_aloud() {
    for counter_bits in [32, 64] {
        let (histogram, mut snapshot) = create(&options(Mode::ThreadLocal, Storage::Dense, counter_bits));
        let barrier = std::sync::Barrier::new(3);
        let total = |snapshot: &mut Snapshot, since| {
            histogram.update(snapshot, since).unwrap();
            snapshot.counts()
        };
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    // Each thread has a separate shard, none of which wraps.
                    histogram.record(900);
                    barrier.wait();
                    histogram.record_n(7, 3 << 62);
                });
            }
        });
        let counts = total(&mut snapshot, Since::Reset);
        assert_eq!(counts.lost, MAX, "{counter_bits}");
        assert_eq!(total(&mut snapshot, Since::PreviousUpdate), Counts::default());
        histogram.reset().unwrap();
        assert_eq!(total(&mut snapshot, Since::Reset), Counts::default());
        histogram.record_n(7, 1);
        assert_eq!(total(&mut snapshot, Since::Reset), Counts { total: 1, ..Counts::default() });
        assert_eq!(total(&mut snapshot, Since::PreviousUpdate), Counts::default());
    }
}

#[derive(Clone, Debug)]
enum Step {
    RecordN(u64, u64),
    Batch(u64, usize),
    Reset,
    Update(Since),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let value = prop_oneof![Just(1u64), Just(7), Just(8), Just(500), Just(5000)];
    let count = prop_oneof![Just(MAX), MAX - 5..MAX, (1u64 << 63) - 3..(1 << 63) + 3, 0u64..5, any::<u64>()];
    let step = prop_oneof![
        6 => (value.clone(), count).prop_map(|(value, count)| Step::RecordN(value, count)),
        1 => (value, 0usize..20).prop_map(|(value, length)| Step::Batch(value, length)),
        1 => Just(Step::Reset),
        3 => prop_oneof![Just(Since::Reset), Just(Since::PreviousUpdate)].prop_map(Step::Update),
    ];
    prop::collection::vec(step, 1..30)
}

/// Counts since a moment, by value.
type Sums = BTreeMap<u64, u128>;

fn expected(sums: &Sums) -> (Vec<u64>, u64, u64, bool) {
    let of = |value: &u64| sums.get(value).copied().unwrap_or(0);
    let counts: Vec<u64> = [7, 8, 500].iter().map(|value| of(value) as u64).collect();
    let wraps = sums.values().any(|&sum| sum > MAX as u128);
    (counts, of(&1) as u64, of(&5000) as u64, wraps)
}

proptest! {
    /// Cells of 64 bits: for any records, exactly the missing counts are reported as lost.
    #[test]
    fn what_is_lost_is_said(steps in steps()) {
        for options in kinds() {
            if options.counter_bits == 32 {
                continue;
            }
            let (histogram, mut snapshot) = create(&options);
            let (mut since_reset, mut since_update, mut is_first) = (Sums::new(), Sums::new(), true);
            for step in &steps {
                match *step {
                    Step::RecordN(value, count) => {
                        histogram.record_n(value, count);
                        *since_reset.entry(value).or_default() += count as u128;
                        *since_update.entry(value).or_default() += count as u128;
                    }
                    Step::Batch(value, length) => {
                        // Single records are not checked, so they must not wrap.
                        let cells_are_small = !steps.iter().any(|step| matches!(step, Step::RecordN(v, n) if *v == value && *n > 5));
                        if cells_are_small {
                            histogram.record_batch(&vec![value; length]);
                            *since_reset.entry(value).or_default() += length as u128;
                            *since_update.entry(value).or_default() += length as u128;
                        }
                    }
                    Step::Reset => {
                        histogram.reset().unwrap();
                        since_reset.clear();
                    }
                    Step::Update(since) => {
                        // The first update counts since the reset.
                        let since_reset_too = since == Since::Reset || is_first;
                        let sums = if since_reset_too { &since_reset } else { &since_update };
                        is_first = false;
                        histogram.update(&mut snapshot, since).unwrap();
                        let (counts, underflow, overflow, wraps) = expected(sums);
                        let seen: Vec<u64> =
                            [7, 8, 500].iter().map(|&value| snapshot.bucket_of(value).unwrap().count).collect();
                        prop_assert_eq!(seen, counts, "{:?}", options);
                        let counts = snapshot.counts();
                        prop_assert_eq!((counts.underflow, counts.overflow), (underflow, overflow));
                        prop_assert_eq!(counts.lost, if wraps { MAX } else { 0 }, "{:?}", options);
                        since_update.clear();
                    }
                }
            }
        }
    }
}

#[test]
fn histograms_of_doubles_too() {
    let histogram = DoubleHistogram::new(&DoubleOptions::default()).unwrap();
    let mut snapshot = DoubleSnapshot::new();
    for value in [1.5, -2.5, 0.0, f64::NAN] {
        histogram.record_n(value, MAX);
        histogram.collect(&mut snapshot).unwrap();
        let not_finite = if value.is_nan() { MAX } else { 0 };
        assert_eq!((snapshot.count(), snapshot.lost()), (MAX - not_finite, 0), "{value}");
        histogram.record_n(value, MAX);
        histogram.record_n(value, MAX);
        histogram.collect(&mut snapshot).unwrap();
        assert_eq!(snapshot.lost(), MAX, "{value}");
        histogram.collect(&mut snapshot).unwrap();
        assert_eq!(snapshot.lost(), 0);
    }
    // Two snapshots have counts in the same bucket.
    histogram.record_n(1.5, MAX);
    histogram.collect(&mut snapshot).unwrap();
    let mut sum = DoubleSnapshot::new();
    sum.merge(&snapshot).unwrap();
    assert_eq!((sum.count(), sum.lost()), (MAX, 0));
    sum.merge(&snapshot).unwrap();
    assert_eq!((sum.count(), sum.lost()), (MAX, MAX));
    for _ in 0..2 {
        histogram.add_snapshot(&sum);
    }
    histogram.collect(&mut snapshot).unwrap();
    assert_eq!(snapshot.lost(), MAX);
}
