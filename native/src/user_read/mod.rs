//! Counters read in user space, where the reading can prove itself.

#[cfg(picollo_linux)]
pub(crate) mod mapped;
#[cfg(all(test, picollo_linux))]
pub(crate) mod model;
pub(crate) mod page;
#[cfg(picollo_linux)]
pub(crate) mod pmc;
#[cfg(picollo_linux)]
pub(crate) mod policy;
#[cfg(picollo_linux)]
pub(crate) mod trial;
