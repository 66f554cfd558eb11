//! What the target and the system give: atomics, memory, locks, a way to tell threads apart.

pub(crate) mod atomics;
pub(crate) mod banks;
#[cfg(all(
    not(loom),
    any(not(all(target_has_atomic = "32", target_has_atomic = "64")), picollo_no_atomic64, picollo_no_cas)
))]
pub(crate) mod critical;
#[cfg(feature = "std")]
pub(crate) mod lock;
pub(crate) mod memory;
#[cfg(feature = "std")]
pub(crate) mod process;
pub(crate) mod references;
pub(crate) mod seqlock;
pub(crate) mod stack_hash;
