//! The baseline in two banks: readers beside a flip, and threads that take over a turn that never ends, or ends late.

use loom::sync::Arc;
use loom::thread;

use super::{Small, beside, counts, counts_since, layout, model, small, snapshot};
use crate::cells::cell::{Counter, Interlocked};
use crate::error::Error;
use crate::platform::atomics::AtomicU64;
use crate::platform::atomics::Ordering::Relaxed;
use crate::platform::banks::Banks;
use crate::snapshot::snapshot::{Counts, Since};

fn shared() -> Arc<Small<AtomicU64, Interlocked>> {
    small()
}

/// A snapshot counts from one side of each reset, whole. There are two resets, so that both banks are written: the
/// second one writes the bank that a slow reader may still be reading.
#[test]
fn snapshot_against_two_flips() {
    model(3, || {
        let histogram = shared();
        histogram.record(0);
        histogram.record(1);
        // This goes beside the buckets.
        histogram.record(9);
        let resetter = beside(&histogram, |histogram| {
            histogram.reset().unwrap();
            histogram.record_n(0, 2);
            histogram.record_n(1, 2);
            histogram.reset().unwrap();
        });
        let mut snapshot = snapshot(layout());
        match snapshot.update(&**histogram, Since::Reset) {
            Ok(()) => {
                let (first, second) = counts(&snapshot);
                // Before the resets both are 1 plus later records; after a reset they are only the later records.
                assert!(matches!((first, second), (0 | 2, 0 | 2) | (1 | 3, 1 | 3)), "{first} {second}");
                assert_eq!(snapshot.counts().overflow, first % 2);
            }
            Err(error) => assert_eq!((error, snapshot.counts()), (Error::Busy, Counts::default())),
        }
        resetter.join().unwrap();
        snapshot.update(&**histogram, Since::Reset).unwrap();
        assert_eq!(counts(&snapshot), (0, 0));
    });
}

/// A reset that never ends has no effect, at whatever point it is overtaken, and whatever it still writes after another
/// one has taken its turn. All events after that other reset are counted.
#[test]
fn overtaken() {
    model(3, || {
        let histogram = shared();
        let dying = beside(&histogram, |histogram| histogram.reset_and_die());
        histogram.record(0);
        histogram.record(1);
        histogram.reset().unwrap();
        assert_eq!(counts_since(&**histogram, Since::Reset), (0, 0));
        histogram.record(0);
        histogram.record(1);
        dying.join().unwrap();
        // This reader knows no baseline yet.
        assert_eq!(counts_since(&**histogram, Since::Reset), (1, 1));
    });
}

/// The same beside a writer: the counts read by the late reset are no newer than those read in the turn after its own,
/// so it writes nothing newer.
#[test]
fn overtaken_beside_a_writer() {
    model(3, || {
        let histogram = shared();
        let dying = beside(&histogram, |histogram| histogram.reset_and_die());
        let writer = beside(&histogram, |histogram| histogram.record(0));
        histogram.reset().unwrap();
        // The only reset that ends has filled the second bank.
        let baseline = || histogram.banks().map(|banks| Counter::load(&banks[1][0]));
        let before = baseline();
        dying.join().unwrap();
        writer.join().unwrap();
        assert_eq!(before, baseline());
    });
}

/// Records of a thread before its reset are before it, whoever else resets, and whoever takes its turn.
#[test]
fn two_resets() {
    model(3, || {
        let histogram = shared();
        let other = beside(&histogram, |histogram| _ = histogram.reset());
        histogram.record(1);
        if histogram.reset().is_ok() {
            let mut snapshot = snapshot(layout());
            if snapshot.update(&**histogram, Since::Reset).is_ok() {
                assert_eq!(counts(&snapshot), (0, 0));
            }
        }
        other.join().unwrap();
    });
}

/// All words that a reader sees come from one reset, even if resets that lost patience with it continue.
#[test]
fn a_reader_takes_a_turn() {
    model(3, || {
        let shared = Arc::new((Banks::new(), [0; 4].map(AtomicU64::new)));
        let resetter = beside(&shared, |shared| {
            for number in 1..=2 {
                let changed = shared.0.change(|turn| {
                    shared.1[2 * turn.bank()..][..2].iter().for_each(|word| word.store(number, Relaxed));
                    turn.stands()
                });
                changed.unwrap();
            }
        });
        let mut seen = (0, 0);
        let look = |bank: usize| {
            seen.0 = shared.1[2 * bank].load(Relaxed);
            // In loom, a thread that has waited continues when the others wait or end: here a reset may lose patience.
            thread::yield_now();
            seen.1 = shared.1[2 * bank + 1].load(Relaxed);
        };
        if shared.0.read_in_turn(look).is_ok() {
            assert_eq!(seen.0, seen.1);
        }
        resetter.join().unwrap();
    });
}
