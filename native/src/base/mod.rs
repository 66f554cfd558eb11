//! Errors, and text in fixed memory.

pub(crate) mod error;
#[cfg(not(picollo_linux))]
pub(crate) mod refused;
pub(crate) mod text;
#[cfg(feature = "std")]
pub(crate) mod vectors;
