//! Picollo: histograms of doubles.
//!
//! The first functions to know, by task:
//!
//! - Record: picollo_double_histogram_create, picollo_double_histogram_record.
//! - Read: picollo_double_histogram_collect; for text and buckets picollo_double_snapshot_update and
//!   picollo_double_summary_format.
//!
//! What holds for every function is at the end of picollo.h.

// The sections in the order of the header. The blank lines keep rustfmt from sorting them.

pub mod double_histogram;

pub mod double_snapshot;

pub mod double_summary;
