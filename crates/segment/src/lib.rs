//! Segments: files in memory that a running program writes its histograms into, and others read from outside.
//!
//! docs/segment-format.md has the format.

// An error carries its explanation by value: code that builds one must not allocate, and none of it is hot.
#![allow(clippy::result_large_err)]

#[cfg(target_os = "linux")]
mod check;
mod description;
#[cfg(target_os = "linux")]
mod directory;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod entries;
#[cfg(target_os = "linux")]
mod file;
#[cfg(target_os = "linux")]
mod format;
#[cfg(target_os = "linux")]
mod limits;
#[cfg(target_os = "linux")]
mod mapping;
#[cfg(target_os = "linux")]
mod viewer;
#[cfg(target_os = "linux")]
mod writer;

pub use description::{SegmentEntry, SegmentInfo, SegmentKind, SegmentOptions};
#[cfg(target_os = "linux")]
pub use directory::{Listed, list_segments, prune_segments, segment_directories};
#[cfg(not(target_os = "linux"))]
pub use elsewhere::{Listed, Segment, Viewer, list_segments, prune_segments, segment_directories};
#[cfg(target_os = "linux")]
pub use viewer::Viewer;
#[cfg(target_os = "linux")]
pub use writer::Segment;

/// The example of the package.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Package;
