//! Picollo: why was it slow?
//!
//! A collector keeps the slowest observations of a histogram, and where their time went. The first functions to know:
//! picollo_exemplars_create, _begin, _end, _collect, _format.
//!
//! What holds for every function is at the end of picollo.h.

// The sections in the order of the header. The blank lines keep rustfmt from sorting them.

#[cfg_attr(not(feature = "std"), allow(dead_code))]
pub mod exemplar;

#[cfg(all(feature = "std", target_os = "linux"))]
pub mod exemplars;
