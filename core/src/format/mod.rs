//! Numbers and names as text. Imports nothing from other rooms.

pub(crate) mod buffer;
pub(crate) mod decimal;
pub(crate) mod escape;
pub(crate) mod number;
pub(crate) mod table;
