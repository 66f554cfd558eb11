//! Data of each thread.

#[cfg(feature = "std")]
pub(crate) mod entries;
pub(crate) mod random;
#[cfg(feature = "std")]
pub(crate) mod shards;
#[cfg(feature = "std")]
pub(crate) mod slot;
#[cfg(feature = "std")]
pub(crate) mod tables;
#[cfg(feature = "std")]
pub(crate) mod thread_registry;
