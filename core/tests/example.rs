//! The worked example of the manual: two generated distributions and what is read from them.

use picollo_core::{AtomicU32, AtomicU64, Histogram, Layout, Since, Snapshot, ValueSelection};

const LAYOUT: Layout = Layout::new(0.01, 2_000, 12_000);

/// The values of the first example (`x0 = 1`) and of the second (`x0 = 2`).
fn example_values(first: bool) -> Vec<u64> {
    let (mut x, base, spread, divisor, number) =
        if first { (1u64, 1990, 1500, 40, 100_000) } else { (2, 1800, 1700, 36, 150_000) };
    let mut next = || {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        base + (x >> 40) % spread + ((x >> 20) % 64).pow(3) / divisor
    };
    (0..number).map(|_| next()).collect()
}

#[test]
fn percentiles_of_the_example_in_every_storage() {
    static WIDE: Histogram<[AtomicU64; LAYOUT.cells()]> = Histogram::new(LAYOUT);
    let narrow: Histogram<[AtomicU32; LAYOUT.length()]> = Histogram::new(LAYOUT);
    let boxed = Histogram::<[AtomicU64]>::boxed(LAYOUT, true).unwrap();
    for value in example_values(true) {
        WIDE.record(value);
        narrow.record(value);
        boxed.record(value);
    }
    let mut snapshot: Snapshot<[u64; LAYOUT.snapshot_words()]> = Snapshot::new(LAYOUT);
    for source in 0..3 {
        match source {
            0 => snapshot.update(&*WIDE, Since::Reset).unwrap(),
            1 => snapshot.update(&*narrow, Since::Reset).unwrap(),
            _ => snapshot.update(&*boxed, Since::Reset).unwrap(),
        }
        let summary = snapshot.summary(ValueSelection::Midpoint);
        assert_eq!((summary.total_count, summary.underflow_count, summary.overflow_count), (99_940, 60, 0));
        let values = summary.percentiles.map(|p| p.value);
        assert_eq!(
            values,
            [2008, 2064, 2288, 2448, 2928, 3600, 5472, 7456, 7840, 8256, 8768, 9152, 9664, 9792, 9792, 9792]
        );
        assert_eq!((summary.mean * 100.0).round(), 433_291.0);
        assert_eq!((summary.stddev * 100.0).round(), 187_075.0);
        let p99 = summary.percentiles[11];
        assert_eq!((p99.bucket.storage_index, p99.bucket.logical_index, p99.bucket.count), (138, 519, 386));
        assert_eq!((p99.bucket.lower, p99.bucket.upper), (9_088, 9_215));
    }
}
