//! Checks who may record: by default any number of threads, none of which loses anything; in single-writer mode, one.

use std::sync::Barrier;
use std::thread;

use picollo_core::layouts::{AtomicU32, AtomicU64, Storage};
use picollo_core::recorders::{Record, SingleWriter};
use picollo_core::{Error, Histogram, Layout, Mode, Options, SharedHistogram, SingleWriterHistogram};

use crate::common::{Memory, contents};

const LAYOUT: Layout = Layout::new(0.05, 0, 1_000);
const RECORDS: u64 = if cfg!(debug_assertions) { 1_000_000 } else { 5_000_000 };

fn options() -> Options {
    Options { relative_error: 0.05, max_trackable: 1_000, ..Options::default() }
}

/// Two threads record at once into the same few cells. The closure is shared, like rayon's, so it changes nothing.
fn twice(record: impl Fn(u64) + Sync) {
    let start = Barrier::new(2);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                start.wait();
                (0..RECORDS).for_each(|value| record(value % 4));
            });
        }
    });
}

/// In single-writer mode, each of them loses about half on a machine of two cores.
#[test]
fn two_threads_lose_nothing_in_any_default() {
    static WIDE: Histogram<[AtomicU64; LAYOUT.cells()]> = Histogram::new(LAYOUT);
    static NARROW: Histogram<[AtomicU32; LAYOUT.cells()]> = Histogram::new(LAYOUT);
    twice(|value| WIDE.record(value));
    twice(|value| NARROW.record(value));
    let boxed = Histogram::<[AtomicU64]>::boxed(LAYOUT, true).unwrap();
    twice(|value| boxed.record(value));
    let shared = SharedHistogram::create(&options()).unwrap();
    twice(|value| shared.record(value));
    let sparse = SharedHistogram::create(&Options { storage: Storage::Sparse, ..options() }).unwrap();
    twice(|value| sparse.record(value));

    let snapshots =
        [WIDE.snapshot(), NARROW.snapshot(), boxed.snapshot(), shared.snapshot(), sparse.snapshot()];
    assert_eq!(snapshots.map(|snapshot| snapshot.unwrap().counts().total), [2 * RECORDS; 5]);
}

#[test]
fn shared_handles_refuse_the_mode() {
    let single = Options { mode: Mode::SingleWriter, ..options() };
    assert_eq!(SharedHistogram::create(&single).err(), Some(Error::InvalidArgument));
    for mode in [Mode::ThreadLocal, Mode::PerCpu] {
        let refused = SingleWriterHistogram::create(&Options { mode, ..options() });
        assert_eq!(refused.err(), Some(Error::InvalidArgument));
    }
}

#[test]
fn the_recorder_is_handed_out_once() {
    for storage in [Storage::Dense, Storage::Sparse] {
        let histogram = SingleWriterHistogram::create(&Options { storage, ..options() }).unwrap();
        let other = histogram.clone();
        let mut recorder = histogram.recorder().unwrap();
        assert_eq!(other.recorder().err(), Some(Error::Busy));
        // Readers and resets run at the same time.
        thread::scope(|scope| {
            scope.spawn(|| (0..1000).for_each(|value| recorder.record(value)));
            scope.spawn(|| other.footprint());
        });
        assert_eq!(other.snapshot().unwrap().counts().total, 1000);
        other.reset().unwrap();
        drop(histogram);
        // The recorder keeps the histogram alive, and the next one can follow it.
        drop(other);
        recorder.record_n(5, 2);
        let histogram = recorder.histogram().clone();
        drop(recorder);
        let mut recorder = histogram.recorder().unwrap();
        recorder.record_batch(&[5, 6]);
        assert_eq!(histogram.snapshot().unwrap().counts().total, 4);
    }
}

#[test]
fn a_recorder_has_the_cells_that_the_histogram_lends() {
    for (storage, is_lent) in [(Storage::Dense, true), (Storage::Sparse, false)] {
        let histogram = SingleWriterHistogram::create(&Options { storage, ..options() }).unwrap();
        let mut recorder = histogram.recorder().unwrap();
        assert_eq!(
            recorder.length() > 0,
            is_lent && (histogram.counter_bits() == 32 || cfg!(target_has_atomic = "64"))
        );
        (0..1000).for_each(|value| recorder.record(value));
        recorder.record(u64::MAX);
        drop(recorder);
        assert_eq!(histogram.snapshot().unwrap().counts().total, 1000);
        assert!(histogram.recorder().is_ok());
    }
}

/// The writer of narrow cells counts their wraps and the values out of range, as the histogram's own `record` does.
#[test]
fn the_writer_of_narrow_cells_counts_wraps() {
    let mut histogram = Histogram::<[AtomicU32], SingleWriter>::boxed(LAYOUT, true).unwrap();
    let (mut writer, reader) = histogram.split();
    writer.record_n(3, u32::MAX as u64);
    writer.record(3);
    writer.record(3);
    writer.record(u64::MAX);
    let seen = reader.snapshot().unwrap();
    assert_eq!(seen.bucket_of(3).unwrap().count, 1);
    assert_eq!((seen.counts().overflow, seen.counts().lost), (1, 1 << 32));
}

/// The single writer can record everything that a shared handle can, with the same counts.
#[test]
fn the_writers_record_all_that_others_do() {
    let other = Histogram::<[AtomicU64]>::boxed(LAYOUT, true).unwrap();
    other.record_n(77, 7);
    other.record(5_000);
    let filled = other.snapshot().unwrap();

    let expected = Histogram::<[AtomicU64]>::boxed(LAYOUT, true).unwrap();
    let mut mutable: Histogram<[AtomicU64; LAYOUT.cells()], SingleWriter> = Histogram::new(LAYOUT);
    let mut split = Histogram::<[AtomicU64], SingleWriter>::boxed(LAYOUT, true).unwrap();
    let shared = SingleWriterHistogram::create(&options()).unwrap();
    let mut by_handle = shared.recorder().unwrap();
    let (mut by_split, reader) = split.split();
    macro_rules! all_of_it {
        ($writer:expr) => {{
            $writer.record(5);
            $writer.record(u64::MAX);
            $writer.record_n(6, 3);
            $writer.record_batch(&[1, 2, 3, 2_000]);
            $writer.record_corrected(100, 10);
            $writer.record_corrected_n(100, 2, 20);
            let refused = $writer.record_in_range(100, 1, 50);
            let merged = [$writer.add_snapshot(&filled), $writer.add_snapshot_spreading(&filled)];
            (refused, merged)
        }};
    }
    let answers = all_of_it!(expected);
    assert_eq!(all_of_it!(mutable), answers);
    assert_eq!(all_of_it!(by_split), answers);
    assert_eq!(all_of_it!(by_handle), answers);
    let wanted = contents(&expected.snapshot().unwrap());
    for snapshot in [mutable.snapshot(), reader.snapshot(), shared.snapshot()] {
        assert_eq!(contents(&snapshot.unwrap()), wanted);
    }
    // The only owner may also clear the histogram.
    mutable.clear();
    assert_eq!(mutable.snapshot().unwrap().counts().total, 0);
}

#[test]
fn memory_of_the_caller_says_what_is_in_it() {
    let single = Options { mode: Mode::SingleWriter, ..options() };
    let mut memory = Memory::new(SingleWriterHistogram::required_size(&options()).unwrap());
    let (base, size) = (memory.start(), memory.size());
    // SAFETY: `base` has `size` bytes, only for these histograms, which the test outlives; one thread records.
    unsafe {
        assert_eq!(SharedHistogram::init_in(base, size, &single).err(), Some(Error::InvalidArgument));
        let histogram = SingleWriterHistogram::init_in(base, size, &options()).unwrap();
        assert_eq!(SharedHistogram::attach(base, size).err(), Some(Error::InvalidArgument));
        let attached = SingleWriterHistogram::attach(base, size).unwrap();
        assert_eq!(attached.recorder().err(), Some(Error::Unsupported), "another process may have it");
        let mut recorder = attached.recorder_unchecked();
        recorder.record(5);
        assert_eq!(histogram.snapshot().unwrap().counts().total, 1);
        // Images still number modes as before the default had number 0. (The adjacent width of a cell is the target's
        // default.)
        let kind = base.cast::<u32>().add(10);
        let bits = histogram.counter_bits();
        assert_eq!(kind.read(), bits << 16);
        SharedHistogram::init_in(base, size, &options()).unwrap();
        assert_eq!(kind.read(), bits << 16 | 1);
        assert_eq!(SingleWriterHistogram::attach(base, size).err(), Some(Error::InvalidArgument));
    }
}
