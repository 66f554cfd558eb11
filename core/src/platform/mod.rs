//! Services of the target and the system: atomics, memory, locks, and a way to distinguish threads.

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
