//! Counters opened together, read together, each feeding a histogram.

#[cfg(picollo_linux)]
pub(crate) mod answers;
#[cfg(picollo_linux)]
pub(crate) mod blame;
#[cfg(picollo_linux)]
pub(crate) mod calibrate;
#[cfg(picollo_linux)]
pub(crate) mod control;
#[cfg(picollo_linux)]
pub(crate) mod entry;
#[cfg(picollo_linux)]
pub(crate) mod fast;
#[cfg(picollo_linux)]
pub(crate) mod history;
pub(crate) mod options;
#[cfg(picollo_linux)]
pub(crate) mod overhead;
#[cfg(picollo_linux)]
pub(crate) mod pinning;
#[cfg(picollo_linux)]
pub(crate) mod read;
pub(crate) mod reading;
#[cfg(picollo_linux)]
pub(crate) mod samples;
#[cfg(picollo_linux)]
pub(crate) mod sampling;
#[cfg(picollo_linux)]
pub(crate) mod scale;
#[cfg_attr(not(picollo_linux), path = "../elsewhere/session.rs")]
pub(crate) mod session;
#[cfg(picollo_linux)]
pub(crate) mod slope;
#[cfg(picollo_linux)]
pub(crate) mod tally;
