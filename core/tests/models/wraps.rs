//! Counts that 64 bits cannot hold: wraps count as lost, in every mode, by every way to add.

use picollo_core::doubles::{DoubleHistogram, DoubleOptions, DoubleSnapshot};
use picollo_core::snapshots::Counts;
use picollo_core::{Mode, Options, SharedHistogram, Since, Snapshot};
use proptest::prelude::*;

use crate::common::{self, Sums, all_kinds};

const MAX: u64 = u64::MAX;

fn range() -> Options {
    Options { relative_error: 0.1, min_trackable: 5, max_trackable: 1000, ..Options::default() }
}

fn create(options: &Options) -> (SharedHistogram, Box<Snapshot>) {
    let histogram = common::create(options);
    let snapshot = Snapshot::boxed(*histogram.layout()).unwrap();
    (histogram, snapshot)
}

#[test]
fn a_wrap_is_reported_as_lost() {
    for options in all_kinds(range()) {
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
            let recorded = counts.total + counts.underflow + counts.overflow;
            assert_eq!((recorded, counts.lost), (1, 0), "{options:?}");
            histogram.reset().unwrap();
            assert_eq!(update(Since::Reset), Counts::default(), "{options:?}");
        }
    }
}

#[test]
fn adding_a_snapshot_wraps_aloud() {
    for options in all_kinds(range()) {
        let (histogram, mut snapshot) = create(&options);
        let (source, mut full) = create(&Options { counter_bits: 64, ..range() });
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
        let (histogram, mut snapshot) = create(&Options { mode: Mode::ThreadLocal, counter_bits, ..range() });
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

fn check(snapshot: &Snapshot, sums: &Sums) -> Result<(), TestCaseError> {
    let counts = snapshot.counts();
    prop_assert_eq!((counts.underflow, counts.overflow), (sums.underflow as u64, sums.overflow as u64));
    for (index, &sum) in sums.buckets.iter().enumerate() {
        prop_assert_eq!(snapshot.bucket_at(index).count, sum as u64);
    }
    let is_lost = sums.buckets.iter().chain([&sums.underflow, &sums.overflow]).any(|&sum| sum > MAX.into());
    prop_assert_eq!(counts.lost, if is_lost { MAX } else { 0 });
    Ok(())
}

proptest! {
    /// Cells of 64 bits: for any records, exactly the missing counts are reported as lost.
    #[test]
    fn exactly_what_wrapped_is_lost(steps in steps()) {
        for options in all_kinds(range()).filter(|options| options.counter_bits == 64) {
            let (histogram, mut snapshot) = create(&options);
            let layout = histogram.layout();
            let nothing = Sums::new(layout);
            let (mut since_reset, mut since_update, mut is_first) = (nothing.clone(), nothing.clone(), true);
            for step in &steps {
                match *step {
                    Step::RecordN(value, count) => {
                        histogram.record_n(value, count);
                        [&mut since_reset, &mut since_update].into_iter().for_each(|sums| sums.record(layout, value, count));
                    }
                    Step::Batch(value, length) => {
                        // Single records are not checked, so they must not wrap.
                        let is_large = |step: &Step| matches!(step, Step::RecordN(v, n) if *v == value && *n > 5);
                        if !steps.iter().any(is_large) {
                            histogram.record_batch(&vec![value; length]);
                            [&mut since_reset, &mut since_update].into_iter().for_each(|sums| sums.record(layout, value, length as u64));
                        }
                    }
                    Step::Reset => {
                        histogram.reset().unwrap();
                        since_reset = nothing.clone();
                    }
                    Step::Update(since) => {
                        histogram.update(&mut snapshot, since).unwrap();
                        // The first update counts since the reset.
                        check(&snapshot, if since == Since::Reset || is_first { &since_reset } else { &since_update })?;
                        (is_first, since_update) = (false, nothing.clone());
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
