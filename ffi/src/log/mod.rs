//! Picollo: snapshots as bytes, and logs of histograms.
//!
//! The first functions to know, by task:
//!
//! - Store and send snapshots: picollo_snapshot_encode, _decode.
//! - Read a log: picollo_log_reader_create, picollo_log_reader_next, picollo_log_reader_decode.
//! - Write a log: picollo_log_format_header, picollo_log_format_interval.
//!
//! What holds for every function is at the end of picollo.h.

// The sections in the order of the header. The blank lines keep rustfmt from sorting them.

pub mod interchange;

#[cfg(feature = "std")]
pub mod hlog;
