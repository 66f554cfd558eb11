//! Sparse histograms: their memory, the effect of their limit, and their races at full speed.
#![cfg(feature = "alloc")]

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;

use picollo_core::layouts::Storage;
use picollo_core::{Error, Mode, Options, SharedHistogram, SingleWriterHistogram};

use crate::common::{contents, create};

fn options(mode: Mode, storage: Storage) -> Options {
    Options { mode, storage, ..Options::default() }
}

/// Ten values spread over the range, each in a different power of two.
fn ten_values() -> impl Iterator<Item = u64> {
    (0..10).map(|i| 3u64 << (6 * i))
}

#[test]
fn ten_live_values_take_under_five_per_cent() {
    for no_live_reset in [false, true] {
        for counter_bits in [32, 64] {
            for mode in [Mode::SingleWriter, Mode::Interlocked] {
                let [sparse, dense] = [Storage::Sparse, Storage::Dense].map(|storage| {
                    create(&Options { no_live_reset, counter_bits, ..options(mode, storage) })
                });
                let empty = sparse.footprint();
                ten_values().for_each(|value| sparse.record(value));
                let share = sparse.footprint() as f64 / dense.footprint() as f64;
                eprintln!(
                    "{mode:?}, {counter_bits} bits, live reset {}: empty {empty}, ten values {} of {} bytes ({:.1} %)",
                    !no_live_reset,
                    sparse.footprint(),
                    dense.footprint(),
                    share * 100.0
                );
                // Cells of half the size leave the directory unchanged, but the dense histogram is half as large.
                assert!(share < if counter_bits == 64 { 0.05 } else { 0.1 });
                if !no_live_reset {
                    sparse.reset().unwrap();
                    // With the baseline.
                    assert!(20 * sparse.footprint() < dense.footprint());
                }
            }
        }
    }
}

/// Resident memory of this process in bytes, if the system reports it.
fn resident() -> Option<usize> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(statm.split(' ').nth(1)?.parse::<usize>().ok()? * 4096)
}

#[test]
fn ten_thousand_of_them_take_under_a_hundred_megabytes() {
    let before = resident();
    let all: Vec<SharedHistogram> = (0..10_000)
        .map(|i| {
            let histogram = SharedHistogram::create(&options(Mode::Interlocked, Storage::Sparse)).unwrap();
            ten_values().for_each(|value| histogram.record(value + i));
            histogram
        })
        .collect();
    let footprint: usize = all.iter().map(SharedHistogram::footprint).sum();
    assert!(footprint < 100_000_000, "{footprint} bytes by footprint");
    match (before, resident()) {
        (Some(before), Some(after)) => {
            let taken = after.saturating_sub(before);
            eprintln!("10,000 sparse histograms: {footprint} bytes by footprint, {taken} bytes resident");
            assert!(taken < 100_000_000, "{taken} bytes resident");
        }
        _ => eprintln!("SKIPPED: resident memory, since there is no /proc/self/statm"),
    }
    assert_eq!(all[9_999].snapshot().unwrap().counts().total, 10);
}

#[test]
fn the_limit_holds_and_what_does_not_fit_is_lost() {
    for counter_bits in [32, 64] {
        let base = Options { counter_bits, ..options(Mode::Interlocked, Storage::Sparse) };
        let empty = SharedHistogram::create(&base).unwrap().footprint() as u64;
        let limited = |max_bytes| SharedHistogram::create(&Options { max_bytes, ..base });
        assert_eq!(limited(empty - 1).err(), Some(Error::InvalidArgument));
        let chunk = {
            let histogram = SharedHistogram::create(&base).unwrap();
            histogram.record(0);
            histogram.footprint() as u64 - empty
        };
        let histogram = limited(empty + 3 * chunk).unwrap();
        for _ in 0..2 {
            ten_values().for_each(|value| histogram.record(value));
        }
        histogram.record_n(1 << 62, 5);
        assert_eq!(histogram.footprint() as u64, empty + 3 * chunk);
        let counts = histogram.snapshot().unwrap().counts();
        assert_eq!((counts.total, counts.lost), (6, 14 + 5));
        // There is no room for the baseline either, so nothing changes.
        assert_eq!(histogram.reset(), Err(Error::OutOfMemory));
        assert_eq!(histogram.snapshot().unwrap().counts(), counts);
        // With room, a reset includes the lost counts.
        let histogram = limited(empty + 7 * chunk).unwrap();
        (0..20).for_each(|i| histogram.record(1 << (3 * i)));
        assert!(histogram.snapshot().unwrap().counts().lost > 0);
        let roomy = limited(empty + 100 * chunk).unwrap();
        ten_values().for_each(|value| roomy.record(value));
        roomy.reset().unwrap();
        assert_eq!(roomy.snapshot().unwrap().counts().total, 0);
        roomy.record(3);
        assert_eq!(roomy.snapshot().unwrap().counts().total, 1);
    }
}

#[test]
fn what_sparse_storage_does_not_offer() {
    for mode in [Mode::ThreadLocal, Mode::PerCpu] {
        assert_eq!(SharedHistogram::create(&options(mode, Storage::Sparse)).err(), Some(Error::Unsupported));
    }
    let options = options(Mode::SingleWriter, Storage::Sparse);
    assert_eq!(SharedHistogram::required_size(&options), Err(Error::Unsupported));
    assert_eq!(SingleWriterHistogram::create(&options).unwrap().recorder().unwrap().length(), 0);
    let no_reset = Options { no_live_reset: true, ..options };
    assert_eq!(SingleWriterHistogram::create(&no_reset).unwrap().reset(), Err(Error::Unsupported));
}

#[test]
fn threads_that_touch_the_same_chunks_at_once_lose_nothing() {
    let options = options(Mode::Interlocked, Storage::Sparse);
    let alone = create(&options);
    (0..64).for_each(|i| alone.record_n(1 << i, 2));
    for _ in 0..if cfg!(miri) { 5 } else { 1000 } {
        let (histogram, ready) = (create(&options), AtomicU32::new(0));
        thread::scope(|scope| {
            let record = || {
                // Threads that wake each other are too far apart.
                ready.fetch_add(1, Relaxed);
                while ready.load(Relaxed) < 2 {
                    thread::yield_now();
                }
                (0..64).for_each(|i| histogram.record(1 << i));
            };
            // The threads are joined explicitly: ThreadSanitizer does not see how a scope waits.
            let threads: Vec<_> = (0..2).map(|_| scope.spawn(record)).collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        });
        assert_eq!(contents(&histogram.snapshot().unwrap()), contents(&alone.snapshot().unwrap()));
        assert_eq!(histogram.footprint(), alone.footprint(), "losers free their chunks");
    }
}
