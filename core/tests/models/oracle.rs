//! Property tests: a naive model that keeps every value checks histograms and snapshots.

use std::mem::MaybeUninit;

use picollo_core::layouts::{AtomicU32, AtomicU64, Counter, MAX_SCALE, ValueSelection};
use picollo_core::snapshots::SUMMARY_RANKS;
use picollo_core::{
    Error, Histogram, Layout, Options, Percentile, SharedHistogram, Since, SingleWriterHistogram, Snapshot,
};
use proptest::prelude::*;

use crate::common::Memory;

const SELECTIONS: [ValueSelection; 3] =
    [ValueSelection::Midpoint, ValueSelection::Lower, ValueSelection::Upper];

/// Values of every magnitude, equally likely.
fn any_value() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0u32..64).prop_map(|(value, shift)| value >> shift)
}

/// Layouts of every scale whose counters fit into a test's memory.
fn any_layout() -> impl Strategy<Value = Layout> {
    (0..=MAX_SCALE, any_value(), any_value())
        .prop_filter("an empty range", |(_, a, b)| a != b)
        .prop_map(|(scale, a, b)| Layout::with_scale(scale, a.min(b), a.max(b)).unwrap())
        .prop_filter("too large for a test", |layout| layout.length() <= 1 << 20)
}

/// Finds a value's bucket without any arithmetic on indices: it walks through blocks of equal steps.
fn naive_bucket(scale: u32, value: u64) -> (u64, u64) {
    let block = 1u128 << scale;
    let (mut start, mut step) = (0u128, 1u128);
    loop {
        // Blocks 0 and 1 have step 1 and begin at 0; each later one begins where the previous one ends.
        let end = if start == 0 { 2 * block } else { start + block * step };
        if u128::from(value) < end {
            let lower = start + (u128::from(value) - start) / step * step;
            return (lower as u64, (lower + (step - 1)) as u64);
        }
        (start, step) = (end, step * 2);
    }
}

/// The values in range, sorted, each as the ends of its bucket.
struct Oracle {
    sorted: Vec<(u64, u64)>,
    underflow: u64,
    overflow: u64,
}

impl Oracle {
    fn new(layout: &Layout, values: &[u64]) -> Oracle {
        let bottom = naive_bucket(layout.scale(), layout.min_trackable()).0;
        let top = naive_bucket(layout.scale(), layout.max_trackable()).1;
        let mut sorted: Vec<_> = values
            .iter()
            .filter(|&&value| value >= bottom && value <= top)
            .map(|&value| naive_bucket(layout.scale(), value))
            .collect();
        sorted.sort_unstable();
        let count =
            |wanted: &dyn Fn(u64) -> bool| values.iter().filter(|&&value| wanted(value)).count() as u64;
        Oracle { sorted, underflow: count(&|value| value < bottom), overflow: count(&|value| value > top) }
    }

    /// The bucket at a rank in millionths of a percent.
    fn bucket_at(&self, micros: u64) -> (u64, u64, u64) {
        let total = self.sorted.len() as u128;
        let mut target = 1;
        while target * 100_000_000 < u128::from(micros) * total {
            target += 1;
        }
        let (lower, upper) = self.sorted[target as usize - 1];
        (lower, upper, target as u64)
    }
}

fn midpoint_or_end((lower, upper): (u64, u64), selection: ValueSelection) -> u64 {
    match selection {
        ValueSelection::Lower => lower,
        ValueSelection::Upper => upper,
        ValueSelection::Midpoint => {
            (u128::from(lower) + (u128::from(upper) - u128::from(lower)).div_ceil(2)) as u64
        }
    }
}

fn filled<C: Counter>(layout: Layout, values: &[u64]) -> Box<Histogram<[C]>> {
    let histogram = Histogram::<[C]>::boxed(layout, true).unwrap();
    histogram.record_batch(values);
    histogram
}

fn recorded<C: Counter>(layout: Layout, values: &[u64]) -> Box<Snapshot> {
    filled::<C>(layout, values).snapshot().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn percentiles_in_any_order(
        layout in any_layout(),
        spread in 0u32..64,
        offsets in prop::collection::vec(any_value(), 1..300),
        micros in prop::collection::vec(0u64..=100_000_000, 0..150),
        narrow in any::<bool>(),
    ) {
        // Values around the range: most inside, some on either side.
        let values: Vec<u64> = offsets.iter().map(|o| layout.min_trackable().wrapping_add(o >> spread)).collect();
        let oracle = Oracle::new(&layout, &values);
        let snapshot = if narrow { recorded::<AtomicU32>(layout, &values) } else { recorded::<AtomicU64>(layout, &values) };
        let counts = snapshot.counts();
        prop_assert_eq!(
            (counts.total, counts.underflow, counts.overflow, counts.lost),
            (oracle.sorted.len() as u64, oracle.underflow, oracle.overflow, 0)
        );
        let ranks: Vec<f64> = micros.iter().map(|&micros| format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000).parse().unwrap()).collect();
        for selection in SELECTIONS {
            let mut percentiles = vec![Percentile::default(); ranks.len()];
            let mut only_values = vec![0; ranks.len()];
            let result = snapshot.percentiles(&ranks, selection, &mut percentiles);
            if oracle.sorted.is_empty() && !ranks.is_empty() {
                prop_assert_eq!(result, Err(Error::Empty));
                continue;
            }
            result.unwrap();
            snapshot.percentile_values(&ranks, selection, &mut only_values).unwrap();
            for (at, percentile) in percentiles.iter().enumerate() {
                let (lower, upper, target) = oracle.bucket_at(micros[at]);
                prop_assert_eq!(percentile.rank, ranks[at]);
                prop_assert_eq!((percentile.bucket.lower, percentile.bucket.upper), (lower, upper));
                prop_assert_eq!(percentile.target_count, target);
                prop_assert_eq!(percentile.value, midpoint_or_end((lower, upper), selection));
                prop_assert_eq!(only_values[at], percentile.value);
                let same = oracle.sorted.iter().filter(|&&bucket| bucket == (lower, upper)).count();
                prop_assert_eq!(percentile.bucket.count, same as u64);
            }
        }
    }

    #[test]
    fn summaries_and_buckets(layout in any_layout(), offsets in prop::collection::vec(any_value(), 0..300)) {
        let values: Vec<u64> = offsets.iter().map(|o| layout.min_trackable().wrapping_add(o >> 8)).collect();
        let oracle = Oracle::new(&layout, &values);
        let snapshot = recorded::<AtomicU64>(layout, &values);
        let summary = snapshot.summary(ValueSelection::Midpoint);
        let middles: Vec<f64> = oracle.sorted.iter().map(|&b| midpoint_or_end(b, ValueSelection::Midpoint) as f64).collect();
        let number = middles.len() as f64;
        let mean = middles.iter().map(|m| m / number).sum::<f64>();
        let variance = middles.iter().map(|m| (m - mean) * (m - mean) / number).sum::<f64>();
        if middles.is_empty() {
            prop_assert!(summary.mean.is_nan() && summary.stddev.is_nan());
            prop_assert!(summary.percentiles.iter().all(|p| p.target_count == 0));
        } else {
            prop_assert!((summary.mean - mean).abs() <= 1e-12 * mean.abs(), "{} {}", summary.mean, mean);
            prop_assert!((summary.stddev - variance.sqrt()).abs() <= 1e-7 * mean.abs(), "{} {}", summary.stddev, variance.sqrt());
        }
        prop_assert_eq!(summary.percentiles.map(|p| p.rank), SUMMARY_RANKS);
        let mut distinct = oracle.sorted.clone();
        distinct.dedup();
        let listed: Vec<_> = snapshot.recorded_buckets().map(|b| (b.lower, b.upper)).collect();
        prop_assert_eq!(&listed, &distinct);
        prop_assert_eq!(snapshot.buckets().count(), layout.length());
        for listed in snapshot.bucket_percentiles(true, ValueSelection::Lower) {
            // For an even number, this is the lower of the two in the middle; numbers begin at 1.
            let bucket = listed.bucket;
            let numbers: Vec<usize> =
                (0..oracle.sorted.len()).filter(|&at| oracle.sorted[at] == (bucket.lower, bucket.upper)).collect();
            let target = numbers[(numbers.len() - 1) / 2] + 1;
            prop_assert_eq!((listed.target_count, listed.value), (target as u64, bucket.lower));
            prop_assert_eq!(listed.rank, 100.0 * target as f64 / number);
        }
    }

    #[test]
    fn ranks_of_values(layout in any_layout(), offsets in prop::collection::vec(any_value(), 1..100), probe in any_value()) {
        let values: Vec<u64> = offsets.iter().map(|o| layout.min_trackable().wrapping_add(o >> 8)).collect();
        let oracle = Oracle::new(&layout, &values);
        let snapshot = recorded::<AtomicU64>(layout, &values);
        for value in [probe, values[0], layout.min_trackable(), layout.max_trackable()] {
            if oracle.sorted.is_empty() {
                prop_assert_eq!(snapshot.rank_of_value(value, false), Err(Error::Empty));
                continue;
            }
            let total = oracle.sorted.len() as f64;
            let up_to = oracle.sorted.iter().filter(|b| b.0 <= value).count() as f64;
            let rank = snapshot.rank_of_value(value, false).unwrap();
            prop_assert!((rank - up_to / total * 100.0).abs() < 1e-9, "{rank}");
            let below = oracle.sorted.iter().filter(|b| b.1 < value).count() as f64;
            let inside = snapshot.rank_of_value(value, true).unwrap();
            prop_assert!(inside >= below / total * 100.0 - 1e-9 && inside <= rank + 1e-9, "{inside}");
            let (_, upper) = naive_bucket(layout.scale(), value);
            if layout.bucket_of(value).is_some() {
                prop_assert_eq!(snapshot.rank_of_value(upper, true).unwrap(), snapshot.rank_of_value(upper, false).unwrap());
            }
        }
    }
}

#[test]
fn a_full_histogram_saturates_and_still_answers() {
    let layout = Layout::new(0.1, 0, 100);
    let histogram = filled::<AtomicU64>(layout, &[]);
    for value in 0..10 {
        histogram.record_n(value, u64::MAX);
    }
    let snapshot = histogram.snapshot().unwrap();
    assert_eq!(snapshot.counts().total, u64::MAX);
    let summary = snapshot.summary(ValueSelection::Upper);
    assert_eq!(summary.percentiles[0].value, 0);
    let [median, last] =
        [5, 15].map(|at| (summary.percentiles[at].value, summary.percentiles[at].target_count));
    assert_eq!((median, last), ((4, u64::MAX), (9, u64::MAX)), "decided by more than the total can say");
    assert_eq!(summary.mean, 4.5);
}

#[test]
fn moments_of_the_largest_values() {
    let layout = Layout::new(0.001, 0, u64::MAX);
    let histogram = filled::<AtomicU64>(layout, &[1 << 63; 1000]);
    let bucket = layout.bucket_of(1 << 63).unwrap();
    let summary = histogram.snapshot().unwrap().summary(ValueSelection::Midpoint);
    assert_eq!(summary.mean, (bucket.lower + bucket.step / 2) as f64);
    assert_eq!(summary.stddev, 0.0);
}

#[test]
fn bad_input_is_refused_and_nothing_is_written() {
    let layout = Layout::new(0.01, 0, 1000);
    let snapshot = recorded::<AtomicU64>(layout, &[1, 2, 3]);
    let (mut out, mut values) = ([Percentile { rank: -7.0, ..Percentile::default() }; 3], [7; 3]);
    for (ranks, error) in [
        (&[0.0, f64::NAN, 100.0][..], Error::InvalidArgument),
        (&[0.0, 50.0, 100.1], Error::InvalidArgument),
        (&[-0.1, 50.0, 100.0], Error::InvalidArgument),
        (&[0.0, f64::INFINITY, 1.0], Error::InvalidArgument),
        (&[1.0; 4], Error::BufferTooSmall),
    ] {
        assert_eq!(snapshot.percentiles(ranks, ValueSelection::Midpoint, &mut out), Err(error));
        assert_eq!(snapshot.interpolated_percentiles(ranks, &mut values), Err(error));
    }
    assert!(out.iter().all(|p| p.rank == -7.0) && values == [7; 3]);
    let empty = recorded::<AtomicU64>(layout, &[]);
    assert_eq!(empty.percentile(50.0, ValueSelection::Midpoint), Err(Error::Empty));
    assert_eq!(empty.percentiles(&[], ValueSelection::Midpoint, &mut []), Ok(()));
    assert_eq!(empty.interpolated_percentile(50.0), Err(Error::Empty));
    assert_eq!(empty.interpolated_percentiles(&[], &mut []), Ok(()));
    let mut other = Snapshot::boxed(Layout::new(0.001, 0, 1000)).unwrap();
    assert_eq!(other.update(&*filled::<AtomicU64>(layout, &[]), Since::Reset), Err(Error::Incompatible));
}

#[test]
fn histograms_in_borrowed_memory() {
    type Dense = Histogram<[AtomicU64]>;
    let layout = Layout::new(0.01, 0, 1000);
    let size = Dense::required_size(&layout, true).unwrap();
    let mut memory = vec![MaybeUninit::<u8>::uninit(); size + Dense::ALIGNMENT + 1];
    let start = memory.as_ptr().align_offset(Dense::ALIGNMENT);
    let (odd, short) = (start + 1..start + 1 + size, start..start + size - 1);
    for (place, error) in [(odd, Error::InvalidArgument), (short, Error::BufferTooSmall)] {
        assert_eq!(Dense::init_in(&mut memory[place], layout, true).err().unwrap(), error);
    }
    let histogram = Dense::init_in(&mut memory[start..start + size], layout, true).unwrap();
    assert_eq!(histogram.footprint(), size);
    histogram.record(7);
    assert_eq!(histogram.snapshot().unwrap().counts().total, 1);
    histogram.reset().unwrap();
    assert_eq!(histogram.snapshot().unwrap().counts().total, 0);

    let size = Snapshot::required_size(&layout).unwrap();
    let mut words = vec![MaybeUninit::<u8>::uninit(); size + 8];
    let start = words.as_ptr().align_offset(Snapshot::ALIGNMENT);
    let snapshot = Snapshot::init_in(&mut words[start..start + size], layout).unwrap();
    snapshot.update(histogram, Since::Reset).unwrap();
    assert_eq!(size_of_val(snapshot), size);
}

#[test]
fn without_live_reset() {
    let layout = Layout::new(0.01, 0, 1000);
    let histogram = Histogram::<[AtomicU64]>::boxed(layout, false).unwrap();
    histogram.record_batch(&[1, 2]);
    assert_eq!(histogram.reset(), Err(Error::Unsupported));
    assert_eq!(histogram.snapshot().unwrap().counts().total, 2);
    assert!(histogram.footprint() < filled::<AtomicU64>(layout, &[]).footprint() * 6 / 10);
}

#[test]
fn shared_histograms_are_counted() {
    let options = Options { relative_error: 0.01, max_trackable: 1000, ..Options::default() };
    for counter_bits in [0, 32, 64] {
        let histogram = SharedHistogram::create(&Options { counter_bits, ..options }).unwrap();
        let clone = histogram.clone();
        drop(histogram);
        clone.record(5);
        clone.record_n(5, 2);
        clone.record_batch(&[5, 6]);
        let snapshot = clone.snapshot().unwrap();
        assert_eq!(snapshot.counts().total, 5);
        assert_eq!(clone.summary(), Ok(snapshot.summary(ValueSelection::Midpoint)));
        assert!(clone.counter_bits() == counter_bits || counter_bits == 0);
    }
    for counter_bits in [1, 8, 33, u32::MAX] {
        let refused = SharedHistogram::create(&Options { counter_bits, ..options });
        assert_eq!(refused.map(|_| ()), Err(Error::InvalidArgument));
    }
}

#[test]
fn summaries_of_any_handle_are_since_the_last_reset() {
    let options = Options { relative_error: 0.01, max_trackable: 1000, ..Options::default() };
    let layout = options.layout().unwrap();
    let dense = filled::<AtomicU64>(layout, &[]);
    let shared = SharedHistogram::create(&options).unwrap();
    let alone = SingleWriterHistogram::create(&options).unwrap();
    let mut recorder = alone.recorder().unwrap();
    for value in [300, 701] {
        shared.reset().and_then(|()| alone.reset()).and_then(|()| dense.reset()).unwrap();
        shared.record(value);
        recorder.record(value);
        dense.record(value);
    }
    let expected = recorded::<AtomicU64>(layout, &[701]).summary(ValueSelection::Midpoint);
    for summary in [shared.summary(), alone.summary(), dense.summary()] {
        assert_eq!(summary.unwrap(), expected);
    }
}

#[test]
fn images_attach_only_when_they_are_whole() {
    let options = Options { relative_error: 0.01, max_trackable: 1000, ..Options::default() };
    let mut memory = Memory::for_options(&options);
    let (base, size) = (memory.start(), memory.size());
    // SAFETY: `base` has `size` bytes, used only for these histograms, which do not outlive the test.
    unsafe {
        assert_eq!(SharedHistogram::attach(base, size).map(|_| ()), Err(Error::Corrupt), "zeros");
        let histogram = SharedHistogram::init_in(base, size, &options).unwrap();
        histogram.record(7);
        let attached = SharedHistogram::attach(base, size).unwrap();
        attached.record(8);
        let mut snapshot = histogram.snapshot().unwrap();
        assert_eq!(snapshot.counts().total, 2);
        attached.reset().unwrap();
        histogram.update(&mut snapshot, Since::Reset).unwrap();
        assert_eq!(snapshot.counts().total, 0);
        assert_eq!(SharedHistogram::attach(base, size - 1).map(|_| ()), Err(Error::BufferTooSmall));
        assert_eq!(SharedHistogram::attach(base.add(8), size).map(|_| ()), Err(Error::InvalidArgument));
        for other in [0, 1, 4] {
            let version = base.add(60).cast::<u16>();
            let before = version.replace(other);
            assert_eq!(SharedHistogram::attach(base, size).err(), Some(Error::Incompatible));
            version.write(before);
        }
        // A change of these bits gives another valid image: a guaranteed range that ends elsewhere in the same buckets,
        // another mode or cell width, fields of this process alone (shard, epoch), and the flags, including the
        // baseline's.
        let free = |byte: usize| (16..32).contains(&byte) || (40..56).contains(&byte) || byte == 63;
        for bit in 0..64 * 8 {
            let byte = base.add(bit / 8);
            byte.write(byte.read() ^ (1 << (bit % 8)));
            let refused = SharedHistogram::attach_unguarded(base, size).map(|_| ());
            assert!(
                matches!(refused, Err(Error::Corrupt | Error::Incompatible | Error::BufferTooSmall))
                    || (refused.is_ok() && free(bit / 8)),
                "bit {bit}: {refused:?}"
            );
            byte.write(byte.read() ^ (1 << (bit % 8)));
        }
    }
}
