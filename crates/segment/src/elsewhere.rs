//! Segments on other platforms. They need Linux: everything returns `Unsupported`, and no segment exists.

use std::path::{Path, PathBuf};

use picollo_core::counters::{Metric, MetricCounter, SharedStripedCounter};
use picollo_core::recorders::Recorder;
use picollo_core::{Options, SharedHistogram, Since, SingleWriterHistogram, Snapshot};

use crate::description::{SegmentEntry, SegmentInfo, SegmentOptions};
use picollo_native::seam::failure;
use picollo_native::{ExplainedError, Result};

fn refusal() -> ExplainedError {
    failure!(Unsupported, "segments are there on Linux only; registries and logs work here")
}

/// A type without values: no segment exists here.
#[derive(Clone, Copy, Debug)]
enum Never {}

/// A segment; no value of it exists here.
#[derive(Clone, Copy, Debug)]
pub struct Segment(Never);

impl Segment {
    picollo_native::seam::refused! {
        pub fn create(_: &SegmentOptions<'_>) -> Result<Segment>;
        pub fn attach(_: &Path) -> Result<Segment>;
        pub fn histogram(&self, _: &Metric<'_>, _: &Options) -> Result<SharedHistogram>;
        pub fn single_writer(&self, _: &Metric<'_>, _: &Options) -> Result<Recorder<SingleWriterHistogram>>;
        pub fn counter(&self, _: &Metric<'_>) -> Result<MetricCounter>;
        pub fn striped_counter(&self, _: &Metric<'_>) -> Result<SharedStripedCounter>;
        pub fn retire(&self, _: &Metric<'_>) -> Result<()>;
        pub fn estimate(_: &Options, _: &SegmentOptions<'_>) -> Result<u64>;
    }

    /// Never called: no segment exists here.
    pub fn path(&self) -> &'static Path {
        match self.0 {}
    }

    /// Never called: no segment exists here.
    ///
    /// # Safety
    /// As on Linux.
    #[doc(hidden)]
    pub unsafe fn histogram_unguarded(&self, _: &Metric<'_>, _: &Options) -> Result<SharedHistogram> {
        match self.0 {}
    }
}

/// Reads a segment; no value of it exists here.
#[derive(Debug)]
pub struct Viewer(Never);

impl Viewer {
    picollo_native::seam::refused! {
        pub fn open(_: &Path) -> Result<Viewer>;
        pub fn refresh(&mut self) -> Result<()>;
        pub fn info(&self) -> Result<SegmentInfo>;
        pub fn entry(&self, _: usize) -> Result<&SegmentEntry>;
        pub fn counter(&self, _: usize) -> Result<u64>;
        pub fn snapshot(&mut self, _: usize) -> Result<Box<Snapshot>>;
        pub fn update(&mut self, _: usize, _: &mut Snapshot, _: Since) -> Result<()>;
    }

    /// Never called: no segment exists here.
    pub fn path(&self) -> &Path {
        match self.0 {}
    }

    /// Always empty.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &SegmentEntry> {
        [].iter()
    }

    /// Never called: no segment exists here.
    pub fn faults(&self) -> &[String] {
        match self.0 {}
    }

    /// Never called: no segment exists here.
    pub fn length(&self) -> usize {
        match self.0 {}
    }
}

/// A file, and its kind.
#[derive(Debug)]
#[allow(missing_docs)] // as on Linux
pub struct Listed {
    pub path: PathBuf,
    pub info: Result<SegmentInfo>,
}

/// Always empty.
pub fn segment_directories() -> Vec<Result<PathBuf>> {
    Vec::new()
}

/// Always empty.
pub fn list_segments() -> Vec<Listed> {
    Vec::new()
}

picollo_native::seam::refused! {
    pub fn prune_segments(_: core::time::Duration) -> Result<Vec<PathBuf>>;
}
