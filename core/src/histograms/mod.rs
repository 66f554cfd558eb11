//! The kinds of histograms, one file for each way to write.

pub(crate) mod approximate;
pub(crate) mod baseline;
pub(crate) mod body;
pub(crate) mod dense;
#[cfg(feature = "alloc")]
pub(crate) mod per_cpu;
#[cfg(feature = "alloc")]
pub(crate) mod per_cpu_image;
pub(crate) mod record;
#[cfg(feature = "std")]
pub(crate) mod sharded;
#[cfg(feature = "alloc")]
pub(crate) mod sparse;
pub(crate) mod striped;
