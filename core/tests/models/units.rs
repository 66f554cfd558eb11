//! Histograms that count in units. `modes.rs` checks what they count.

use picollo_core::{Error, Mode, Options, SharedHistogram, SingleWriterHistogram, Snapshot};
use proptest::prelude::*;

use crate::common::{KINDS, Memory, contents, create};

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 1 } else { 64 }, ..ProptestConfig::default() })]

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
        let source = create(&options(digits.0, from, 0));
        source.record_batch(&values);
        let source = source.snapshot().unwrap();
        let adds = [SharedHistogram::add_snapshot, SharedHistogram::add_snapshot_low_ends, SharedHistogram::add_snapshot_spreading];
        let merges = [Snapshot::merge, Snapshot::merge_low_ends, Snapshot::merge_spreading];
        for (add, merge) in adds.into_iter().zip(merges) {
            let target = create(&options(digits.1, unit, 1 << 39));
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
    assert_eq!(layout(1 << 62, 0, 0), Err(Error::InvalidArgument));
}

#[test]
fn recorders() {
    let options = Options { unit: 1000, significant_digits: 3, max_trackable: 1 << 30, ..Options::default() };
    let single = SingleWriterHistogram::create(&options).unwrap();
    let mut recorder = single.recorder().unwrap();
    assert_eq!(recorder.length(), 0, "all goes through the histogram");
    recorder.record(5000);
    recorder.record_batch(&[5000; 100]);
    let taken = single.snapshot().unwrap();
    assert_eq!(taken.bucket_of(5000).unwrap().count, 101);
}

/// Histograms in memory that processes share. Builds that do not know units find another version there.
#[test]
fn images() {
    let options = Options { unit: 1024, significant_digits: 2, max_trackable: 1 << 20, ..Options::default() };
    let version = core::mem::offset_of!(Offsets, version);
    for (options, expected) in [(options, 3), (Options { unit: 0, ..options }, 2)] {
        let mut memory = Memory::for_options(&options);
        let (start, size) = (memory.start(), memory.size());
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
        // SAFETY: these are bytes of the memory.
        assert_eq!(unsafe { start.add(version).read() }, expected);
        for (at, value) in [
            (version, expected ^ 1),
            (core::mem::offset_of!(Offsets, kind) + 3, 9),
            (core::mem::offset_of!(Offsets, unit), 9),
        ] {
            // SAFETY: as above.
            unsafe {
                let before = start.add(at).replace(value);
                assert_eq!(SharedHistogram::attach(start, size).err(), Some(Error::Corrupt), "{at}");
                start.add(at).write(before);
            }
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
