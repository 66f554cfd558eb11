//! Segments where there are none: they need Linux. Everything answers `Unsupported`; there is nothing of which more could be asked.

use std::boxed::Box;
use std::path::{Path, PathBuf};
use std::string::String;
use std::vec::Vec;

use picollo_core::{Metric, MetricCounter, Options, SharedHistogram, SharedWriter, Since, Snapshot};

use crate::base::error::{Error, Result, Status};

fn refusal() -> Error {
    Error::new(
        Status::Unsupported,
        format_args!("segments are there on Linux only; registries and logs work here"),
    )
}

/// What [`Segment::create`] is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)] // as on Linux
pub struct SegmentOptions<'a> {
    pub name: &'a str,
    pub directory: &'a str,
    pub max_bytes: u64,
    pub keep: bool,
    pub on_disk: bool,
    pub interlocked: bool,
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
}

/// What an entry is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum SegmentKind {
    /// A histogram.
    Histogram = 1,
    /// A number that only grows.
    Counter = 2,
}

/// What a segment says of itself.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // as on Linux
pub struct SegmentInfo {
    pub name: String,
    pub program: String,
    pub pid: u32,
    pub start_time: u64,
    pub boot_id: String,
    pub created_unix_nanos: u64,
    pub identity: [u64; 2],
    pub entries: usize,
    pub refused: u64,
    pub memory: u64,
    pub capacity: u64,
    pub is_live: bool,
}

/// What is published as one entry.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)] // as on Linux
pub struct SegmentEntry {
    pub kind: SegmentKind,
    pub name: String,
    pub unit: String,
    pub help: String,
    pub labels: Vec<(String, String)>,
    pub divisor: f64,
    pub created_unix_nanos: u64,
    pub bytes: u64,
    pub writer: Option<u32>,
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
pub fn find_segment(_: &str) -> Result<PathBuf> {
    Err(refusal())
}

/// `Unsupported`.
pub fn prune_segments(_: core::time::Duration) -> Result<Vec<PathBuf>> {
    Err(refusal())
}
