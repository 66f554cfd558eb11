//! Services of the target and the system: atomics, memory, locks, and a way to distinguish threads.

#[cfg(all(test, target_os = "linux", not(any(loom, miri))))]
mod affinity;
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
pub(crate) mod stripe;
