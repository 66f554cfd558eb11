//! Statistics of a snapshot.

pub(crate) mod interpolate;
pub(crate) mod moments;
pub(crate) mod percentile;
pub(crate) mod steps;
pub(crate) mod summary;
