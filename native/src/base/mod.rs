//! Errors, and text in fixed memory.

pub mod error;
#[cfg(not(picollo_linux))]
pub mod refused;
pub mod text;
#[cfg(feature = "std")]
pub mod vectors;
