//! What the target and the system give: atomics, memory, locks, a way to tell threads apart.

pub(crate) mod atomics;
pub(crate) mod banks;
#[cfg(feature = "alloc")]
pub(crate) mod counted;
#[cfg(picollo_critical_64)]
pub(crate) mod critical;
pub(crate) mod lines;
#[cfg(feature = "alloc")]
pub(crate) mod lock;
pub(crate) mod memory;
#[cfg(feature = "alloc")]
pub(crate) mod pages;
#[cfg(feature = "std")]
pub(crate) mod process;
pub(crate) mod references;
#[cfg(feature = "alloc")]
pub(crate) mod rseq;
pub(crate) mod stack_hash;
pub(crate) mod stripe;
