//! Errors, and text in fixed memory.

pub(crate) mod error;
pub(crate) mod text;
#[cfg(feature = "std")]
pub(crate) mod vectors;
