//! Entries in the threads' storage: reused ones, and those of ended threads. See `threads::entries`. Models have two.

use loom::thread;

use super::{beside, create, model, shared_counts};
use crate::cells::kind::Mode;
use crate::threads::tables;

/// A thread has the entries of histograms that two other threads free, each of which makes the next one.
#[test]
fn taken_again() {
    model(3, || {
        let first = create(Mode::ThreadLocal, 64);
        let another = create(Mode::ThreadLocal, 64);
        first.record(0);
        another.record(0);
        let others = [first, another].map(|histogram| {
            thread::spawn(move || {
                drop(histogram);
                let next = create(Mode::ThreadLocal, 64);
                next.record(1);
                tables::end();
                next
            })
        });
        let next = others.map(|other| other.join().unwrap());
        for histogram in &next {
            histogram.record(0);
            histogram.record(1);
        }
        assert_eq!(next.each_ref().map(shared_counts), [(1, 2); 2]);
        tables::end();
    });
}

/// Histograms without an entry use the table, beside those with an entry.
#[test]
fn not_enough_for_all() {
    model(3, || {
        let histograms = [(); 3].map(|()| create(Mode::ThreadLocal, 64));
        for _ in 0..2 {
            histograms.iter().for_each(|histogram| histogram.record(1));
        }
        assert_eq!(histograms.each_ref().map(shared_counts), [(0, 2); 3]);
        tables::end();
    });
}

/// Records of a thread after its end do not go to its shard, which already has a new owner.
#[test]
fn a_record_after_the_end() {
    model(3, || {
        let histogram = create(Mode::ThreadLocal, 64);
        let late = beside(&histogram, |histogram| {
            histogram.record(1);
            tables::end();
            histogram.record(1);
        });
        histogram.recorder().unwrap().record(1);
        late.join().unwrap();
        assert_eq!(shared_counts(&histogram), (0, 3));
    });
}
