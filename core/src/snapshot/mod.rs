//! Frozen counts and their algebra.

pub(crate) mod corrected;
pub(crate) mod differences;
pub(crate) mod memory;
pub(crate) mod merge;
pub(crate) mod rewrite;
pub(crate) mod snapshot;
pub(crate) mod source;
pub(crate) mod spread;
pub(crate) mod sums;
#[cfg(all(test, not(loom)))]
mod unit_tests;
