//! Errors, and text in fixed memory.

pub(crate) mod error;
#[cfg(feature = "std")]
pub(crate) mod reference;
pub(crate) mod text;
#[cfg(feature = "std")]
pub(crate) mod vectors;
