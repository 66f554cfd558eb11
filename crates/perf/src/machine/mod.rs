//! What this machine can count, and what prevents it.

#[cfg(picollo_linux)]
#[allow(missing_docs)] // only the hidden `seam` exposes it
pub mod diagnose;
#[cfg(picollo_linux)]
pub(crate) mod hybrid;
#[cfg(picollo_linux)]
pub(crate) mod machine;
pub(crate) mod perf_info;
pub(crate) mod place;
