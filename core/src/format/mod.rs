//! Numbers and names as text. This module imports nothing from others.

pub(crate) mod buffer;
pub(crate) mod decimal;
pub(crate) mod escape;
pub(crate) mod number;
pub(crate) mod table;
