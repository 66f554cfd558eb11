//! Numbers and names as text. This module imports nothing from others.

pub(crate) mod buffer;
pub(crate) mod date;
pub(crate) mod number;
pub(crate) mod xml;
