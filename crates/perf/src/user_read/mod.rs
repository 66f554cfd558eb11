//! Counters read in user space, if the reading can prove itself correct.

pub(crate) mod fault;
#[cfg(all(test, picollo_linux))]
pub(crate) mod model;
pub(crate) mod page;
pub(crate) mod pmc;
pub(crate) mod sys;
pub(crate) mod trial;
