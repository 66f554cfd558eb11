//! Events: how they are spelled, and what the kernel calls them.

#[cfg(picollo_linux)]
pub(crate) mod disputed;
pub(crate) mod event;
pub(crate) mod info;
pub(crate) mod modifiers;
#[cfg(picollo_linux)]
pub(crate) mod named;
#[cfg(picollo_linux)]
pub(crate) mod names;
#[cfg(picollo_linux)]
pub(crate) mod near;
#[cfg_attr(not(picollo_linux), path = "../elsewhere/event.rs")]
pub(crate) mod parse;
#[cfg(picollo_linux)]
pub(crate) mod pfm;
#[cfg(picollo_linux)]
pub(crate) mod processor;
#[cfg(picollo_linux)]
pub(crate) mod spelling;
#[cfg(picollo_linux)]
pub(crate) mod sysfs;
