//! What this machine can count, and what prevents it.

#[cfg(picollo_linux)]
pub(crate) mod diagnose;
#[cfg(picollo_linux)]
pub(crate) mod hybrid;
#[cfg(picollo_linux)]
pub(crate) mod machine;
pub(crate) mod perf_info;
pub(crate) mod place;
