//! Segments: files in memory that a running program writes its histograms into, and others read from outside.
//!
//! docs/segment-format.md has the format.

// An error carries its explanation by value: code that builds one must not allocate, and none of it is hot.
#![allow(clippy::result_large_err)]

#[cfg(picollo_linux)]
mod check;
mod description;
#[cfg(picollo_linux)]
mod directory;
#[cfg(not(picollo_linux))]
mod elsewhere;
#[cfg(picollo_linux)]
mod entries;
#[cfg(picollo_linux)]
mod file;
#[cfg(picollo_linux)]
mod format;
#[cfg(picollo_linux)]
mod limits;
#[cfg(picollo_linux)]
mod mapping;
#[cfg(picollo_linux)]
mod viewer;
#[cfg(picollo_linux)]
mod writer;

pub use description::{SegmentEntry, SegmentInfo, SegmentKind, SegmentOptions};
#[cfg(picollo_linux)]
pub use directory::{Listed, list_segments, prune_segments, segment_directories};
#[cfg(not(picollo_linux))]
pub use elsewhere::{Listed, Segment, Viewer, list_segments, prune_segments, segment_directories};
#[cfg(picollo_linux)]
pub use viewer::Viewer;
#[cfg(picollo_linux)]
pub use writer::Segment;
