//! Recording in the caller's binary: Picollo, inlined, beside the `hdrhistogram` crate and the limit.

use std::sync::atomic::{AtomicU32, AtomicU64};

use picollo_benches::{contender, medians, opaque, print_table, skewed_values};
use picollo_core::{Histogram, Layout, SharedHistogram};

/// Three significant digits at most one bit apart: the same block size, 1024.
const ERROR: f64 = 0.0005;
fn main() {
    for max in [30_000, 1_000_000_000, 7_716_549_600, i64::MAX as u64] {
        record_up_to(max);
    }
}

fn record_up_to(max: u64) {
    let values = skewed_values(100_000, max);
    let layout = Layout::new(ERROR, 0, max);
    assert_eq!(layout.block_size(), 1024);
    let indices: Vec<u32> = values.iter().map(|&value| layout.storage_index(value) as u32).collect();
    let mut counts = vec![0u64; layout.length()];

    let wide = Histogram::<[AtomicU64]>::boxed(layout, true).unwrap();
    let narrow = Histogram::<[AtomicU32]>::boxed(layout, true).unwrap();
    let shared = SharedHistogram::create(&picollo_core::Options {
        relative_error: ERROR,
        max_trackable: max,
        ..Default::default()
    })
    .unwrap();
    let mut hdr_wide = hdrhistogram::Histogram::<u64>::new_with_bounds(1, max, 3).unwrap();
    let mut hdr_narrow = hdrhistogram::Histogram::<u32>::new_with_bounds(1, max, 3).unwrap();

    let values = &values;
    let mut contenders = [
        contender("increment of a precomputed index", || {
            for &index in opaque(&indices[..]) {
                counts[index as usize] += 1;
            }
        }),
        contender("picollo, 64-bit", || {
            for &value in opaque(&values[..]) {
                wide.record(value);
            }
        }),
        contender("picollo, 32-bit", || {
            for &value in opaque(&values[..]) {
                narrow.record(value);
            }
        }),
        contender("picollo, 64-bit, batch", || wide.record_batch(opaque(&values[..]))),
        contender("picollo, 32-bit, batch", || narrow.record_batch(opaque(&values[..]))),
        contender("picollo, kind chosen at run time", || {
            for &value in opaque(&values[..]) {
                shared.record(value);
            }
        }),
        contender("hdrhistogram crate, u64", || {
            for &value in opaque(&values[..]) {
                hdr_wide.record(value).unwrap();
            }
        }),
        contender("hdrhistogram crate, u32", || {
            for &value in opaque(&values[..]) {
                hdr_narrow.record(value).unwrap();
            }
        }),
    ];
    let medians = medians(&mut contenders, values.len(), 41);
    let title = format!("Recording skewed values up to {max}, block size 1024");
    print_table(&title, &contenders, &medians, 6);
}
