//! Segments: files in memory that a running program writes its histograms into, and others read from outside.
//!
//! docs/segment-format.md has the format.

#![cfg(target_os = "linux")]
// An error carries its explanation by value: code that builds one must not allocate, and none of it is hot.
#![allow(clippy::result_large_err)]

mod check;
mod description;
mod directory;
mod entries;
mod file;
mod format;
mod limits;
mod mapping;
mod viewer;
mod writer;

pub use description::{SegmentEntry, SegmentInfo, SegmentKind, SegmentOptions};
pub use directory::{Listed, list_segments, prune_segments, segment_directories};
pub use viewer::Viewer;
pub use writer::Segment;

/// The example of the package.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Package;
