//! `picollo_perf.h`.

// The order of the header; blank lines keep it.
pub mod event;

pub mod session;

pub mod work;

pub mod session_options;
