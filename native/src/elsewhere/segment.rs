//! Segments where there are none: they need Linux. Everything answers `Unsupported`; there is nothing of which more could be asked.

use std::boxed::Box;
use std::path::{Path, PathBuf};
use std::vec::Vec;

use picollo_core::{
    Metric, MetricCounter, Options, SharedHistogram, SharedStripedCounter, SharedWriter, Since, Snapshot,
};

use crate::base::error::{Error, Result, Status};

#[path = "../segment/description.rs"]
mod description;

pub use description::{SegmentEntry, SegmentInfo, SegmentKind, SegmentOptions};

fn refusal() -> Error {
    Error::new(
        Status::Unsupported,
        format_args!("segments are there on Linux only; registries and logs work here"),
    )
}

/// What is never there.
#[derive(Clone, Copy, Debug)]
enum Never {}

/// A segment: there is none here.
#[derive(Clone, Copy, Debug)]
pub struct Segment(Never);

impl Segment {
    /// `Unsupported`.
    pub fn create(_: &SegmentOptions<'_>) -> Result<Segment> {
        Err(refusal())
    }

    /// `Unsupported`.
    pub fn attach(_: &Path) -> Result<Segment> {
        Err(refusal())
    }

    /// Nowhere.
    pub fn path(&self) -> &'static Path {
        match self.0 {}
    }

    /// None.
    pub fn histogram(&self, _: &Metric<'_>, _: &Options) -> Result<SharedHistogram> {
        match self.0 {}
    }

    /// None.
    pub fn single_writer(&self, _: &Metric<'_>, _: &Options) -> Result<SharedWriter> {
        match self.0 {}
    }

    /// None.
    ///
    /// # Safety
    /// As on Linux.
    #[doc(hidden)]
    pub unsafe fn histogram_unguarded(&self, _: &Metric<'_>, _: &Options) -> Result<SharedHistogram> {
        match self.0 {}
    }

    /// None.
    pub fn counter(&self, _: &Metric<'_>) -> Result<MetricCounter> {
        match self.0 {}
    }

    /// None.
    pub fn striped_counter(&self, _: &Metric<'_>) -> Result<SharedStripedCounter> {
        match self.0 {}
    }

    /// Nothing.
    pub fn retire(&self, _: &Metric<'_>) -> Result<()> {
        match self.0 {}
    }

    /// `Unsupported`.
    pub fn estimate(_: &Options, _: &SegmentOptions<'_>) -> Result<u64> {
        Err(refusal())
    }
}

/// Reads a segment: there is none here.
#[derive(Debug)]
pub struct Viewer(Never);

impl Viewer {
    /// `Unsupported`.
    pub fn open(_: &Path) -> Result<Viewer> {
        Err(refusal())
    }

    /// Nowhere.
    pub fn path(&self) -> &Path {
        match self.0 {}
    }

    /// Nothing.
    pub fn refresh(&mut self) -> Result<()> {
        match self.0 {}
    }

    /// Nothing.
    pub fn info(&self) -> Result<SegmentInfo> {
        match self.0 {}
    }

    /// None.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &SegmentEntry> {
        [].iter()
    }

    /// None.
    pub fn faults(&self) -> &[std::string::String] {
        match self.0 {}
    }

    /// None.
    pub fn length(&self) -> usize {
        match self.0 {}
    }

    /// None.
    pub fn entry(&self, _: usize) -> Result<&SegmentEntry> {
        match self.0 {}
    }

    /// None.
    pub fn counter(&self, _: usize) -> Result<u64> {
        match self.0 {}
    }

    /// None.
    pub fn snapshot(&mut self, _: usize) -> Result<Box<Snapshot>> {
        match self.0 {}
    }

    /// None.
    pub fn update(&mut self, _: usize, _: &mut Snapshot, _: Since) -> Result<()> {
        match self.0 {}
    }
}

/// A file, and what it is.
#[derive(Debug)]
#[allow(missing_docs)] // as on Linux
pub struct Listed {
    pub path: PathBuf,
    pub info: Result<SegmentInfo>,
}

/// There are none.
pub fn list_segments() -> Vec<Listed> {
    Vec::new()
}

/// `Unsupported`.
pub fn list_segments_in(_: &Path) -> Result<Vec<Listed>> {
    Err(refusal())
}

/// `Unsupported`.
pub fn find_segment_among(_: &str, _: Vec<Listed>) -> Result<PathBuf> {
    Err(refusal())
}

/// `Unsupported`.
pub fn find_segment(_: &str) -> Result<PathBuf> {
    Err(refusal())
}

/// `Unsupported`.
pub fn prune_segments(_: core::time::Duration) -> Result<Vec<PathBuf>> {
    Err(refusal())
}
