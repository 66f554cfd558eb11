//! `picollo_why.h`.

// The order of the header; blank lines keep it.
#[cfg_attr(not(feature = "std"), allow(dead_code))]
pub mod exemplar;

#[cfg(all(feature = "std", target_os = "linux"))]
pub mod exemplars;
