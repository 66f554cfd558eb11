//! Checks what one thread sees of a histogram of any mode against a naive model.

use std::collections::BTreeMap;

use picollo_core::layouts::Storage;
use picollo_core::snapshots::Counts;
use picollo_core::{Error, Layout, Mode, Options, SharedHistogram, Since, Snapshot};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Record(u64),
    RecordN(u64, u64),
    Batch(Vec<u64>),
    Corrected(u64, u64),
    InRange(u64, u64, u64),
    Reset,
    Update(usize, Since),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let value = prop_oneof![0u64..300, any::<u64>(), Just(2_000u64)];
    let count = prop_oneof![0u64..5, 0xffff_fff0u64..0x1_0000_0010, 0u64..1 << 40];
    let step = prop_oneof![
        8 => value.clone().prop_map(Step::Record),
        4 => (value.clone(), count).prop_map(|(value, count)| Step::RecordN(value, count)),
        2 => proptest::collection::vec(value.clone(), 0..20).prop_map(Step::Batch),
        1 => (0u64..100_000, 1u64..1000).prop_map(|(value, interval)| Step::Corrected(value, interval)),
        // This includes the bounds themselves.
        1 => (value, 0u64..200, 200u64..400, 0usize..3)
            .prop_map(|(v, min, max, which)| Step::InRange([v, min, max][which], min, max)),
        2 => Just(Step::Reset),
        4 => (0usize..3, prop_oneof![Just(Since::Reset), Just(Since::PreviousUpdate)])
            .prop_map(|(monitor, since)| Step::Update(monitor, since)),
    ];
    proptest::collection::vec(step, 1..60)
}

/// Counts as sums of what was recorded; the code is too simple to be wrong.
#[derive(Clone, Default)]
struct Model {
    buckets: BTreeMap<u64, u128>,
    underflow: u64,
    overflow: u64,
}

impl Model {
    fn add(&mut self, layout: &Layout, value: u64, count: u64) {
        match layout.bucket_of(value) {
            Some(bucket) => *self.buckets.entry(bucket.storage_index).or_default() += count as u128,
            None if value < layout.min_trackable() => self.underflow += count,
            None => self.overflow += count,
        }
    }

    fn total(&self) -> u128 {
        self.buckets.values().sum()
    }
}

fn check(snapshot: &Snapshot, now: &Model, then: &Model, bits: u32) {
    let Counts { total, underflow, overflow, lost } = snapshot.counts();
    assert_eq!((underflow, overflow), (now.underflow - then.underflow, now.overflow - then.overflow));
    assert_eq!(total as u128 + lost as u128, now.total() - then.total(), "total {total}, lost {lost}");
    if bits == 64 {
        assert_eq!(lost, 0);
    }
    assert_eq!(total, snapshot.buckets().map(|bucket| bucket.count).sum::<u64>());
    for bucket in snapshot.buckets() {
        let index = bucket.storage_index;
        let truth = now.buckets.get(&index).unwrap_or(&0) - then.buckets.get(&index).unwrap_or(&0);
        // The sum of 32-bit cells from several shards may have more than 32 bits.
        let modulus = 1u128 << bits;
        assert_eq!(bucket.count as u128 % modulus, truth % modulus, "bucket {index}");
    }
}

fn run(mode: Mode, bits: u32, steps: &[Step]) {
    run_stored(mode, Storage::Dense, bits, steps);
}

fn run_stored(mode: Mode, storage: Storage, bits: u32, steps: &[Step]) {
    let options = Options {
        mode,
        storage,
        counter_bits: bits,
        relative_error: 0.1,
        min_trackable: 20,
        max_trackable: 5_000_000,
        ..Options::default()
    };
    // SAFETY: one thread does everything.
    let histogram = unsafe { SharedHistogram::create_unguarded(&options) }.unwrap();
    let layout = *histogram.layout();
    let mut now = Model::default();
    let mut at_reset = Model::default();
    let mut monitors: Vec<_> = (0..3).map(|_| (Snapshot::boxed(layout).unwrap(), None::<Model>)).collect();
    for step in steps {
        match step {
            Step::Record(value) => {
                histogram.record(*value);
                now.add(&layout, *value, 1);
            }
            Step::RecordN(value, count) => {
                histogram.record_n(*value, *count);
                now.add(&layout, *value, *count);
            }
            Step::Batch(values) => {
                histogram.record_batch(values);
                values.iter().for_each(|value| now.add(&layout, *value, 1));
            }
            Step::Corrected(value, interval) => {
                histogram.record_corrected(*value, *interval);
                let mut value = *value;
                now.add(&layout, value, 1);
                while value >= 2 * interval {
                    value -= interval;
                    now.add(&layout, value, 1);
                }
            }
            Step::InRange(value, min, max) => {
                let result = histogram.record_in_range(*value, *min, *max);
                let inside = (min..=max).contains(&value) && layout.bucket_of(*value).is_some();
                assert_eq!(result, if inside { Ok(()) } else { Err(Error::InvalidArgument) });
                match value {
                    value if value < min => now.underflow += 1,
                    value if value > max => now.overflow += 1,
                    value => now.add(&layout, *value, 1),
                }
            }
            Step::Reset => {
                histogram.reset().unwrap();
                at_reset = now.clone();
            }
            Step::Update(monitor, since) => {
                let (snapshot, previous) = &mut monitors[*monitor];
                histogram.update(snapshot, *since).unwrap();
                let then = match since {
                    Since::PreviousUpdate => previous.as_ref().unwrap_or(&at_reset),
                    Since::Reset => &at_reset,
                };
                check(snapshot, &now, then, bits);
                *previous = Some(now.clone());
            }
        }
    }
}

proptest! {
    #[test]
    fn single_writer(steps in steps()) {
        run(Mode::SingleWriter, 64, &steps);
        run(Mode::SingleWriter, 32, &steps);
    }

    #[test]
    fn interlocked(steps in steps()) {
        run(Mode::Interlocked, 64, &steps);
        run(Mode::Interlocked, 32, &steps);
    }
}

proptest! {
    #[test]
    fn sparse(steps in steps()) {
        for mode in [Mode::SingleWriter, Mode::Interlocked] {
            run_stored(mode, Storage::Sparse, 64, &steps);
            run_stored(mode, Storage::Sparse, 32, &steps);
        }
    }
}

#[cfg(feature = "std")]
proptest! {
    #[test]
    fn thread_local(steps in steps()) {
        run(Mode::ThreadLocal, 64, &steps);
        run(Mode::ThreadLocal, 32, &steps);
    }
}

proptest! {
    #[test]
    fn per_cpu(steps in steps()) {
        run(Mode::PerCpu, 64, &steps);
    }
}

/// The default width, and its consequences on this target.
#[test]
fn the_default_width_suits_the_target() {
    let histogram = SharedHistogram::create(&Options::default()).unwrap();
    let narrow = cfg!(picollo_critical_64);
    assert_eq!(histogram.counter_bits(), if narrow { 32 } else { 64 });
}
