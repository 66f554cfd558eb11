//! Segments: files in memory that a running program writes its histograms into, and others read from outside.
//!
//! docs/segments.md has the format.

mod check;
mod counters;
mod counts;
mod description;
mod directory;
mod entries;
mod file;
mod format;
mod given;
mod housekeeping;
mod limits;
mod mapping;
mod viewer;
mod writer;

pub use description::{SegmentEntry, SegmentInfo, SegmentKind, SegmentOptions};
pub use housekeeping::{
    Listed, find_segment, find_segment_among, list_segments, list_segments_in, prune_segments,
};
pub use viewer::Viewer;
pub use writer::Segment;
