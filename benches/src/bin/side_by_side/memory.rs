//! The memory of the histograms, in bytes.

use std::sync::atomic::{AtomicU32, AtomicU64};

use picollo_benches::{print_table, values};
use picollo_core::layouts::Counter;
use picollo_core::{Histogram, Layout, Snapshot};

use crate::peers::{self, Hdr};
use crate::{ERROR, RANGES};

/// In memory from the caller it is more: see `Histogram::required_size`.
fn on_the_heap<C: Counter>(layout: &Layout, live_reset: bool) -> usize {
    Histogram::<[C]>::boxed(*layout, live_reset).unwrap().footprint()
}

pub fn run() {
    for max in RANGES {
        let layout = Layout::new(ERROR, 0, max);
        let mut rows = Vec::new();
        let mut row = |name, bytes: usize| rows.push((name, bytes as f64));
        row("picollo, 64-bit", on_the_heap::<AtomicU64>(&layout, true));
        row("picollo, 64-bit, no live reset", on_the_heap::<AtomicU64>(&layout, false));
        row("picollo, 32-bit", on_the_heap::<AtomicU32>(&layout, true));
        row("picollo, 32-bit, no live reset", on_the_heap::<AtomicU32>(&layout, false));
        row("picollo, snapshot", Snapshot::required_size(&layout).unwrap());
        if let Some(hdr) = Hdr::new(max, false) {
            // SAFETY: the histogram is alive.
            row("HdrHistogram_c", unsafe { peers::hdr_get_memory_size(hdr.handle) });
        }
        let hdr = hdrhistogram::Histogram::<u64>::new_with_bounds(1, max, 3).unwrap();
        row("hdrhistogram crate, u64, cells alone", hdr.distinct_values() * 8);
        let mut sketch =
            sketches_ddsketch::DDSketch::new(sketches_ddsketch::Config::new(ERROR, 1 << 16, 1.0));
        values::skewed(65_536, max).iter().for_each(|&value| sketch.add(value as f64));
        row("sketches-ddsketch, bins alone, after 65536 skewed values", sketch.length() * 8);
        print_table(&format!("Memory for values up to {max}, block size 1024"), "bytes", &rows);
    }
}
