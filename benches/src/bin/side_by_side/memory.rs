//! Bytes of memory that the histograms take.

use std::sync::atomic::{AtomicU32, AtomicU64};

use picollo_benches::{Report, Section, values};
use picollo_core::{Histogram, Layout, Snapshot};

use crate::peers::{self, Hdr};
use crate::{ERROR, RANGES};

pub fn run(report: &mut Report) {
    for max in RANGES {
        let layout = Layout::new(ERROR, 0, max);
        let mut section = Section::new(format!("Memory for values up to {max}, block size 1024"), "bytes");
        let mut row = |name: &str, bytes: usize| section.rows.push((name.into(), bytes as f64));
        row("picollo, 64-bit", Histogram::<[AtomicU64]>::required_size(&layout, true).unwrap());
        row(
            "picollo, 64-bit, no live reset",
            Histogram::<[AtomicU64]>::required_size(&layout, false).unwrap(),
        );
        row("picollo, 32-bit", Histogram::<[AtomicU32]>::required_size(&layout, true).unwrap());
        row(
            "picollo, 32-bit, no live reset",
            Histogram::<[AtomicU32]>::required_size(&layout, false).unwrap(),
        );
        row("picollo, snapshot", Snapshot::required_size(&layout).unwrap());
        if let Some(hdr) = Hdr::new(max, false) {
            // SAFETY: a histogram that is alive.
            row("HdrHistogram_c", unsafe { peers::static_hdr_get_memory_size(hdr.handle) });
        }
        let hdr = hdrhistogram::Histogram::<u64>::new_with_bounds(1, max, 3).unwrap();
        row("hdrhistogram crate, u64, cells alone", hdr.distinct_values() * 8);
        let mut sketch =
            sketches_ddsketch::DDSketch::new(sketches_ddsketch::Config::new(ERROR, 1 << 16, 1.0));
        values::skewed(65_536, max).iter().for_each(|&value| sketch.add(value as f64));
        row("sketches-ddsketch, bins alone, after 65536 skewed values", sketch.length() * 8);
        report.add(section);
    }
}
