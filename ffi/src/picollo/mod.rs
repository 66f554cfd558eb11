//! `picollo.h`.

// The order of the header; blank lines keep it.
pub mod version;

pub mod status;

pub mod histogram;

pub mod recorder;

pub mod snapshot;

pub mod mapping;

pub mod steps;

pub mod interpolate;

pub mod merge;

pub mod summary;

pub mod text;

pub mod clock;

pub mod histogram_options;
