//! An entry of a segment for tests, which change what they want to have otherwise.

use std::sync::OnceLock;

use picollo_core::{Metric, Options};
use picollo_native::{Segment, SegmentEntry, SegmentOptions, Viewer};

/// A histogram in nanoseconds without labels.
pub(crate) fn entry(name: &str) -> SegmentEntry {
    static PUBLISHED: OnceLock<SegmentEntry> = OnceLock::new();
    let published = PUBLISHED.get_or_init(|| {
        let directory = format!("/dev/shm/picollo-sample-{}", std::process::id());
        let options = SegmentOptions {
            name: "sample",
            directory: &directory,
            max_bytes: 6 << 20,
            ..SegmentOptions::default()
        };
        let segment = Segment::create(&options).unwrap();
        let metric = Metric { name: "sample", unit: "ns", divisor: 1.0, ..Metric::default() };
        segment.histogram(&metric, &Options::default()).unwrap();
        let entry = Viewer::open(segment.path()).unwrap().entry(0).unwrap().clone();
        std::fs::remove_dir_all(directory).unwrap();
        entry
    });
    SegmentEntry { name: name.into(), ..published.clone() }
}
