//! `picollo_log.h`.

// The order of the header; blank lines keep it.
pub mod interchange;

pub mod hlog;
