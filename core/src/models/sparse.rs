//! Sparse histograms: chunks made by several threads at once, beside readers and resets.

use super::{beside, model, snapshot};
use crate::cells::kind::Storage;
use crate::handle::options::Options;
use crate::handle::shared::SharedHistogram;
use crate::snapshot::snapshot::{Since, Snapshot};

fn histogram() -> SharedHistogram {
    let options =
        Options { storage: Storage::Sparse, relative_error: 0.1, max_trackable: 100, ..Options::default() };
    SharedHistogram::create(&options).unwrap()
}

fn total(histogram: &SharedHistogram, snapshot: &mut Snapshot, since: Since) -> u64 {
    histogram.update(snapshot, since).unwrap();
    assert_eq!(snapshot.counts().lost, 0);
    snapshot.counts().total
}

#[test]
fn two_writers_create_the_same_chunk() {
    model(3, || {
        let histogram = histogram();
        let mut snapshot = snapshot(*histogram.layout());
        let other = beside(&histogram, |histogram| histogram.record(5));
        histogram.record(5);
        histogram.record(6);
        // A reader beside them sees some of it.
        assert!((2..=3).contains(&total(&histogram, &mut snapshot, Since::Reset)));
        other.join().unwrap();
        assert_eq!(total(&histogram, &mut snapshot, Since::Reset), 3);
        assert_eq!(snapshot.bucket_of(5).unwrap().count, 2);
        // It takes as much memory as with one writer.
        let alone = self::histogram();
        alone.record(5);
        assert_eq!(histogram.footprint(), alone.footprint());
    });
}

#[test]
fn a_first_touch_is_on_one_side_of_a_reset() {
    model(3, || {
        let histogram = histogram();
        let mut since_reset = snapshot(*histogram.layout());
        histogram.record(5);
        let writer = beside(&histogram, |histogram| {
            histogram.record(5);
            histogram.record(90);
        });
        histogram.reset().unwrap();
        let before = total(&histogram, &mut since_reset, Since::Reset);
        assert!(before <= 2, "what was recorded before is gone");
        writer.join().unwrap();
        let after = total(&histogram, &mut since_reset, Since::Reset);
        assert!(after >= before && after <= 2);
        // The counts that the reset removed and the later ones are all that was recorded.
        let mut fresh = snapshot(*histogram.layout());
        histogram.reset().unwrap();
        assert_eq!(total(&histogram, &mut fresh, Since::Reset), 0);
        histogram.record(5);
        assert_eq!(total(&histogram, &mut fresh, Since::Reset), 1);
    });
}

#[test]
fn deltas_add_up_beside_a_first_touch_and_a_reset() {
    model(3, || {
        let histogram = histogram();
        let mut snapshot = snapshot(*histogram.layout());
        let mut seen = total(&histogram, &mut snapshot, Since::PreviousUpdate);
        let writer = beside(&histogram, |histogram| {
            histogram.record(5);
            histogram.reset().unwrap();
            histogram.record(90);
        });
        histogram.record(6);
        seen += total(&histogram, &mut snapshot, Since::PreviousUpdate);
        writer.join().unwrap();
        seen += total(&histogram, &mut snapshot, Since::PreviousUpdate);
        assert_eq!(seen, 3);
    });
}
