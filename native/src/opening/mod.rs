//! From an event to file descriptors that count it.

#[cfg(picollo_linux)]
pub(crate) mod attr;
#[cfg(picollo_linux)]
pub(crate) mod fault;
#[cfg(picollo_linux)]
pub(crate) mod group;
#[cfg(picollo_linux)]
pub(crate) mod open;
#[cfg(picollo_linux)]
pub(crate) mod probe;
#[cfg(picollo_linux)]
pub(crate) mod substitute;
#[cfg(picollo_linux)]
pub(crate) mod whom;
