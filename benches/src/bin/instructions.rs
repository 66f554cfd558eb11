//! Repeats inlined recording in a loop, whose instructions `ci/cost.sh instructions` counts: `instructions PATH TIMES`.

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, AtomicU64};

use picollo_benches::values;
use picollo_core::counters::Metric;
use picollo_core::layouts::Counter;
use picollo_core::recorders::SingleWriter;
use picollo_core::seam::BatchPath;
use picollo_core::{Histogram, Layout, Options, SharedHistogram};
use picollo_segment::{Segment, SegmentOptions, Viewer};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or_default();
    let times: usize = arguments.next().and_then(|times| times.parse().ok()).unwrap_or(1);
    let values = values::skewed(1000, 7_716_549_600);
    let layout = Layout::new(0.001, 0, u64::MAX);
    let mut wide = Histogram::<[AtomicU64], SingleWriter>::boxed(layout, true).unwrap();
    let mut narrow = Histogram::<[AtomicU32], SingleWriter>::boxed(layout, true).unwrap();
    let viewed = (path == "record-segment-viewed").then(viewed);
    for _ in 0..times {
        let values = black_box(&values[..]);
        match path.as_str() {
            "inlined-64" => inlined(&mut wide, values),
            "inlined-32" => inlined(&mut narrow, values),
            "writer-64" => by_writer(&mut wide, values),
            "writer-32" => by_writer(&mut narrow, values),
            "batch-bmi2" => wide.record_batch_by(BatchPath::Bmi2, values),
            "batch-plain" => wide.record_batch_by(BatchPath::Plain, values),
            "record-segment-viewed" => shared(&viewed.as_ref().unwrap().0, values),
            _ => std::process::exit(2),
        }
    }
}

// Separate functions, so that the registers of one path do not affect another.

#[inline(never)]
fn inlined<C: Counter>(histogram: &mut Histogram<[C], SingleWriter>, values: &[u64]) {
    values.iter().for_each(|&value| histogram.record(value));
}

/// A histogram in a segment that a viewer has opened and read.
fn viewed() -> (SharedHistogram, Viewer) {
    let options = SegmentOptions { interlocked: true, ..SegmentOptions::default() };
    let segment = Segment::create(&options).unwrap();
    let metric = Metric { name: "values", ..Metric::default() };
    let histogram = segment.histogram(&metric, &Options::default()).unwrap();
    let mut viewer = Viewer::open(segment.path()).unwrap();
    viewer.snapshot(0).unwrap();
    (histogram, viewer)
}

#[inline(never)]
fn shared(histogram: &SharedHistogram, values: &[u64]) {
    values.iter().for_each(|&value| histogram.record(value));
}

#[inline(never)]
fn by_writer<C: Counter>(histogram: &mut Histogram<[C], SingleWriter>, values: &[u64]) {
    let (mut writer, _) = histogram.split();
    values.iter().for_each(|&value| writer.record(value));
}
