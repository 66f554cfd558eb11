//! Checks what one thread sees of a histogram of any mode against a naive model.

use picollo_core::seam::record_exported;
use picollo_core::{Error, Options, SharedHistogram, Since, Snapshot};
use proptest::prelude::*;

use crate::common::{Sums, all_kinds, create};

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
        // Equal values are added together.
        1 => (value.clone(), 8usize..20).prop_map(|(value, length)| Step::Batch(vec![value; length])),
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

fn check(snapshot: &Snapshot, now: &Sums, then: &Sums, bits: u32) {
    let mut found = Sums::new(snapshot.layout());
    found.add(snapshot);
    assert_eq!(found.underflow, now.underflow - then.underflow);
    assert_eq!(found.overflow, now.overflow - then.overflow);
    assert_eq!(found.total() + found.lost, now.total() - then.total());
    assert!(bits == 32 || found.lost == 0);
    for (index, count) in found.buckets.into_iter().enumerate() {
        let truth = now.buckets[index] - then.buckets[index];
        // The sum of 32-bit cells from several shards may have more than 32 bits.
        let modulus = 1u128 << bits;
        assert_eq!(count % modulus, truth % modulus, "bucket {index}");
    }
}

fn run(options: &Options, steps: &[Step]) {
    let histogram = create(options);
    let layout = *histogram.layout();
    let (mut now, mut at_reset) = (Sums::new(&layout), Sums::new(&layout));
    let mut monitors: Vec<_> = (0..3).map(|_| (Snapshot::boxed(layout).unwrap(), None::<Sums>)).collect();
    for step in steps {
        match step {
            Step::Record(value) => {
                match value % 2 {
                    0 => histogram.record(*value),
                    // SAFETY: it is alive.
                    _ => unsafe { record_exported(histogram.as_raw(), *value) },
                }
                now.record(&layout, *value, 1);
            }
            Step::RecordN(value, count) => {
                histogram.record_n(*value, *count);
                now.record(&layout, *value, *count);
            }
            Step::Batch(values) => {
                histogram.record_batch(values);
                values.iter().for_each(|value| now.record(&layout, *value, 1));
            }
            Step::Corrected(value, interval) => {
                histogram.record_corrected(*value, *interval);
                let mut value = *value;
                now.record(&layout, value, 1);
                while value >= 2 * interval {
                    value -= interval;
                    now.record(&layout, value, 1);
                }
            }
            Step::InRange(value, min, max) => {
                let result = histogram.record_in_range(*value, *min, *max);
                let inside = (min..=max).contains(&value) && layout.bucket_of(*value).is_some();
                assert_eq!(result, if inside { Ok(()) } else { Err(Error::InvalidArgument) });
                match value {
                    value if value < min => now.underflow += 1,
                    value if value > max => now.overflow += 1,
                    value => now.record(&layout, *value, 1),
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
                check(snapshot, &now, then, options.counter_bits);
                *previous = Some(now.clone());
            }
        }
    }
}

proptest! {
    #[test]
    fn all_kinds_count_as_the_model(steps in steps(), unit in prop_oneof![Just(0u64), Just(8)]) {
        let range = Options { relative_error: 0.1, min_trackable: 20, max_trackable: 5_000_000, unit, ..Options::default() };
        all_kinds(range).for_each(|options| run(&options, &steps));
    }
}

/// The default width, and its consequences on this target.
#[test]
fn the_default_width_suits_the_target() {
    let histogram = SharedHistogram::create(&Options::default()).unwrap();
    let narrow = cfg!(picollo_critical_64);
    assert_eq!(histogram.counter_bits(), if narrow { 32 } else { 64 });
}
