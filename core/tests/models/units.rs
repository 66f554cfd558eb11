//! Histograms that count in units behave like those without a unit for shifted values.

use picollo_core::layouts::Storage;
use picollo_core::seam::record_exported;
use picollo_core::{Error, Mode, Options, SharedHistogram, SingleWriterHistogram, Snapshot};
use proptest::prelude::*;

const KINDS: [(Mode, Storage); 6] = [
    (Mode::Interlocked, Storage::Dense),
    (Mode::SingleWriter, Storage::Dense),
    (Mode::ThreadLocal, Storage::Dense),
    (Mode::PerCpu, Storage::Dense),
    (Mode::Interlocked, Storage::Sparse),
    (Mode::SingleWriter, Storage::Sparse),
];

/// Only one thread records here.
fn create(options: &Options) -> Result<SharedHistogram, Error> {
    // SAFETY: only one thread records.
    unsafe { SharedHistogram::create_unguarded(options) }
}

/// Storage indices and counts, and the counts outside of the buckets.
fn contents(snapshot: &Snapshot) -> (Vec<(u64, u64)>, picollo_core::snapshots::Counts) {
    let counts = snapshot.recorded_buckets().map(|bucket| (bucket.storage_index, bucket.count)).collect();
    (counts, snapshot.counts())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 1 } else { 64 }, ..ProptestConfig::default() })]

    #[test]
    fn as_without_a_unit_of_shifted_values(
        kind in 0usize..6, bits in 0u32..2, digits in 0u32..4, unit in 1u32..20, low in 0u64..5000, high in 1u64..1 << 30,
        values in prop::collection::vec((any::<u64>(), 0u32..64), 1..300), count in 1u64..1000
    ) {
        let (mode, storage) = KINDS[kind];
        let bits = if mode == Mode::PerCpu { 1 } else { bits };
        let ends = (low << unit, (low + high) << unit | 1);
        let with = Options {
            mode,
            storage,
            counter_bits: 32 << bits,
            significant_digits: if digits == 0 { Options::ZERO_DIGITS } else { digits },
            min_trackable: ends.0,
            max_trackable: ends.1,
            unit: 1 << unit,
            ..Options::default()
        };
        let without = Options { min_trackable: low, max_trackable: low + high, unit: 0, ..with };
        let with = create(&with).unwrap();
        let without = create(&without).unwrap();
        prop_assert_eq!((with.layout().unit(), with.layout().length()), (unit, without.layout().length()));
        prop_assert_eq!((with.footprint(), with.counter_bits()), (without.footprint(), 32 << bits));
        let equal = |with: &SharedHistogram, without: &SharedHistogram| {
            let (one, other) = (with.snapshot().unwrap(), without.snapshot().unwrap());
            prop_assert_eq!(contents(&one), contents(&other));
            Ok(())
        };
        let values: Vec<u64> = values.into_iter().map(|(value, shift)| value >> shift).collect();
        let shifted: Vec<u64> = values.iter().map(|value| value >> unit).collect();
        for (&value, &shifted) in values.iter().zip(&shifted) {
            with.record(value);
            without.record(shifted);
        }
        equal(&with, &without)?;
        with.record_batch(&values);
        without.record_batch(&shifted);
        with.record_n(values[0], count);
        without.record_n(shifted[0], count);
        equal(&with, &without)?;
        with.reset().unwrap();
        without.reset().unwrap();
        // The rest is common code: recorders, bounds, corrections.
        if let Ok(mut recorder) = with.recorder() {
            prop_assert_eq!(recorder.length(), 0);
            values.iter().for_each(|&value| recorder.record(value));
        } else {
            // SAFETY: it is alive.
            values.iter().for_each(|&value| unsafe { record_exported(with.as_raw(), value) });
        }
        shifted.iter().for_each(|&value| without.record(value));
        equal(&with, &without)?;
        for &value in &values {
            let inside = with.record_in_range(value, ends.0 + 1, ends.1);
            let expected = value > ends.0 && value <= ends.1;
            prop_assert_eq!(inside.is_ok(), expected);
        }
        let counts = with.snapshot().unwrap().counts();
        let total = counts.total + counts.underflow + counts.overflow;
        prop_assert_eq!(total, 2 * values.len() as u64);
    }

    /// Checks corrections against a loop of records.
    #[test]
    fn corrections_are_of_values_and_not_of_units(
        value in 1u64..10_000_000, interval in 5_000u64..1_000_000, times in 1u64..4, unit in 1u32..14
    ) {
        let options = Options { significant_digits: 2, max_trackable: 8_000_000, unit: 1 << unit, ..Options::default() };
        let (corrected, naive) = (create(&options).unwrap(), create(&options).unwrap());
        corrected.record_corrected_n(value, times, interval);
        corrected.record_corrected(value, interval);
        for _ in 0..=times {
            naive.record(value);
            let mut missing = value;
            while missing >= 2 * interval {
                missing -= interval;
                naive.record(missing);
            }
        }
        prop_assert_eq!(contents(&corrected.snapshot().unwrap()), contents(&naive.snapshot().unwrap()));
    }

    /// Adding a snapshot is like merging into a snapshot of that layout.
    #[test]
    fn snapshots_are_added(
        kind in 0usize..6, unit in 0u32..14, from in 0u32..14, digits in (1u32..4, 1u32..4),
        values in prop::collection::vec(0u64..1 << 40, 1..50)
    ) {
        let (mode, storage) = KINDS[kind];
        let options = |digits, unit: u32, max| {
            let unit = 1u64 << unit;
            // Per-CPU histograms have only cells of 64 bits, which are not the default everywhere.
            let counter_bits = if mode == Mode::PerCpu { 64 } else { 0 };
            Options { mode, storage, significant_digits: digits, max_trackable: max, unit, counter_bits, ..Options::default() }
        };
        let source = create(&options(digits.0, from, 0)).unwrap();
        source.record_batch(&values);
        let source = source.snapshot().unwrap();
        let adds = [SharedHistogram::add_snapshot, SharedHistogram::add_snapshot_low_ends, SharedHistogram::add_snapshot_spreading];
        let merges = [Snapshot::merge, Snapshot::merge_low_ends, Snapshot::merge_spreading];
        for (add, merge) in adds.into_iter().zip(merges) {
            let target = create(&options(digits.1, unit, 1 << 39)).unwrap();
            let mut expected = Snapshot::boxed_alone(*target.layout()).unwrap();
            prop_assert_eq!(add(&target, &source), merge(&mut expected, &source));
            prop_assert_eq!(contents(&target.snapshot().unwrap()), contents(&expected));
        }
    }
}

#[test]
fn lowest_discernible_values_become_powers_of_two() {
    let layout = |unit, digits, max| {
        Options { unit, significant_digits: digits, max_trackable: max, ..Options::default() }.layout()
    };
    for (unit, log) in [(0, 0), (1, 0), (2, 1), (3, 1), (20_000, 14), (1 << 40, 40)] {
        let layout = layout(unit, 3, 0).unwrap();
        assert_eq!((layout.unit(), layout.block_size()), (log, 1024));
    }
    // These are like the histograms of a well-known tool: a third of the counters less.
    let [with, without] = [20_000, 0].map(|unit| layout(unit, 2, 3_600_000_000_000).unwrap().length());
    assert!(with * 3 < without * 2, "{with} of {without}");
    assert_eq!(layout(1 << 51, 3, 0).unwrap().unit(), 51);
    assert_eq!(layout(1 << 52, 3, 0), Err(Error::InvalidArgument), "block and unit together");
    assert_eq!(layout(u64::MAX, 3, 0), Err(Error::InvalidArgument));
    assert_eq!(layout(4096, 3, 4095), Err(Error::InvalidArgument), "above the largest value");
    let whole = Options {
        whole_array: true,
        unit: 1024,
        significant_digits: 3,
        max_trackable: 5000,
        ..Options::default()
    };
    assert_eq!(whole.layout().unwrap().max_trackable(), (2 << 20) - 1);
    assert_eq!(create(&Options { unit: 1 << 62, ..Options::default() }).err(), Some(Error::InvalidArgument));
}

#[test]
fn recorders() {
    let options = Options { unit: 1000, significant_digits: 3, max_trackable: 1 << 30, ..Options::default() };
    let single = SingleWriterHistogram::create(&options).unwrap();
    let mut recorder = single.recorder().unwrap();
    recorder.record(5000);
    recorder.record_batch(&[5000; 100]);
    let taken = single.snapshot().unwrap();
    assert_eq!(taken.bucket_of(5000).unwrap().count, 101);
}

/// Histograms in memory that processes share. Builds that do not know units find another version there.
#[test]
fn images() {
    #[repr(align(64))]
    struct Memory([u8; 1 << 16]);

    let options = Options { unit: 1024, significant_digits: 2, max_trackable: 1 << 20, ..Options::default() };
    let version = core::mem::offset_of!(Offsets, version);
    for (options, expected) in [(options, 3), (Options { unit: 0, ..options }, 2)] {
        let mut memory = Box::new(Memory([0; 1 << 16]));
        let (start, size) = (memory.0.as_mut_ptr(), memory.0.len());
        assert!(SharedHistogram::required_size(&options).unwrap() <= size);
        // SAFETY: the memory is used for nothing else, and outlives everything made in it.
        let (made, attached) = unsafe {
            (
                SharedHistogram::init_in(start, size, &options).unwrap(),
                SharedHistogram::attach(start, size).unwrap(),
            )
        };
        made.record(5000);
        attached.record(5001);
        attached.reset().unwrap();
        attached.record(5000);
        assert_eq!(attached.layout(), made.layout());
        assert_eq!(attached.snapshot().unwrap().bucket_of(5000).unwrap().count, 1);
        drop((made, attached));
        // The fields for its unit must agree, or nobody can attach it.
        assert_eq!(memory.0[version], expected);
        for (at, value) in [
            (version, expected ^ 1),
            (core::mem::offset_of!(Offsets, kind) + 3, 9),
            (core::mem::offset_of!(Offsets, unit), 9),
        ] {
            let before = core::mem::replace(&mut memory.0[at], value);
            // SAFETY: as above.
            let refused = unsafe { SharedHistogram::attach(memory.0.as_mut_ptr(), size) }.err();
            assert_eq!(refused, Some(Error::Corrupt), "{at}");
            memory.0[at] = before;
        }
    }
}

/// The beginning of an image.
#[allow(dead_code, reason = "for its offsets")]
#[repr(C)]
struct Offsets {
    before: [u64; 4],
    scale: u32,
    unit: u32,
    kind: u32,
    table_offset: u32,
    epoch: u64,
    magic: u32,
    version: u16,
}
