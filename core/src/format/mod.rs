//! Numbers and names as text. This module imports nothing from others.

pub(crate) mod buffer;
pub(crate) mod date;
#[cfg(test)]
pub(crate) mod exact;
pub(crate) mod number;
pub(crate) mod xml;
