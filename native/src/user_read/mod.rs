//! Counters read in user space, where the reading can prove itself.

pub(crate) mod cpu;
pub(crate) mod fault;
pub(crate) mod mapped;
#[cfg(all(test, picollo_linux))]
pub(crate) mod model;
pub(crate) mod page;
pub(crate) mod pmc;
pub(crate) mod policy;
pub(crate) mod rate;
pub(crate) mod sys;
pub(crate) mod trial;
