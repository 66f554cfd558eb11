//! Counters opened together, read together, each feeding a histogram.

#[cfg(picollo_linux)]
pub(crate) mod answers;
#[cfg(picollo_linux)]
pub(crate) mod control;
#[cfg(picollo_linux)]
pub(crate) mod cost;
#[cfg(picollo_linux)]
pub(crate) mod history;
pub(crate) mod options;
#[cfg(picollo_linux)]
pub(crate) mod pinning;
#[cfg(picollo_linux)]
pub(crate) mod read;
pub(crate) mod reading;
#[cfg_attr(not(picollo_linux), path = "../elsewhere/session.rs")]
pub(crate) mod session;
