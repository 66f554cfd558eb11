//! Memory that counts: cells, the tallies beside them, and the header of a histogram.

pub(crate) mod cell;
#[cfg(feature = "alloc")]
pub(crate) mod first_touch;
pub(crate) mod header;
pub(crate) mod identity;
pub(crate) mod kind;
pub(crate) mod loads;
#[cfg(picollo_wide_loads)]
mod summed;
pub(crate) mod tallies;
#[cfg(picollo_wide_loads)]
mod wide;
