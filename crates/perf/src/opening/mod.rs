//! From an event to file descriptors that count it.

pub(crate) mod attr;
pub(crate) mod group;
pub(crate) mod open;
pub(crate) mod probe;
pub(crate) mod substitute;
