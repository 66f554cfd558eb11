//! Readers that run concurrently with resets and with each other: they succeed, whatever the others do.
//!
//! Chance decides whether a reset overtakes a reader here, so these tests may miss a fault on a busy machine. Others test
//! the same rules step by step:
//! - `a_reader_that_is_always_overtaken_makes_resets_wait` in `platform/banks.rs` overtakes a reader at each attempt. All
//!   kinds read their baseline through that function: `copy_baseline` in `cells/header.rs` and in `histograms/sparse.rs`.
//! - Under loom, `models/banks.rs` runs readers beside resets in all orders, and `models/doubles.rs` two collections.
#![cfg(feature = "std")]

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use picollo_core::Options;
use picollo_core::doubles::{DoubleHistogram, DoubleOptions, DoubleSnapshot};

use crate::common::{KINDS, create};

/// Repeats an action in another thread meanwhile.
fn beside<R>(again: impl Fn() + Sync, work: impl FnOnce() -> R) -> R {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            while !done.load(Relaxed) {
                again();
            }
        });
        // The other thread ends even if the work fails.
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        done.store(true, Relaxed);
        other.join().unwrap();
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Resets without a pause, and readers that do not know a baseline yet.
#[test]
fn readers_beside_resets() {
    for (mode, storage) in KINDS {
        let histogram =
            create(&Options { mode, storage, relative_error: 1e-4, counter_bits: 64, ..Options::default() });
        (0..1000).for_each(|value| histogram.record(value << 30));
        beside(
            || histogram.reset().unwrap(),
            || {
                thread::scope(|scope| {
                    for _ in 0..2 {
                        scope.spawn(|| {
                            for _ in 0..if cfg!(miri) { 1 } else { 20 } {
                                let snapshot = histogram.snapshot().unwrap();
                                assert!(matches!(snapshot.counts().total, 0 | 1000));
                            }
                        });
                    }
                });
            },
        );
    }
}

/// Several readers only peek at doubles, and one collects.
#[test]
fn readers_of_doubles_beside_each_other() {
    for exact in [false, true] {
        let options = DoubleOptions { exact, ..DoubleOptions::default() };
        let histogram = DoubleHistogram::new(&options).unwrap();
        (-300..300).for_each(|power| histogram.record(f64::from(power).exp2()));
        let peek = || {
            let mut snapshot = DoubleSnapshot::new();
            histogram.peek(&mut snapshot).unwrap();
            snapshot.count()
        };
        beside(
            || assert_eq!(peek(), 600),
            || (0..if cfg!(miri) { 1 } else { 50 }).for_each(|_| assert_eq!(peek(), 600)),
        );
        let collect = || histogram.collect(&mut DoubleSnapshot::new()).unwrap();
        beside(collect, || {
            (0..if cfg!(miri) { 1 } else { 50 }).for_each(|_| assert!(matches!(peek(), 0 | 600)))
        });
    }
}
