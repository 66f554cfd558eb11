//! Why was this one slow? Keeps observations with their requests' context and the evidence of where their time went.

#![cfg(target_os = "linux")]
// An error carries its explanation by value: code that builds one must not allocate, and none of it is hot.
#![allow(clippy::result_large_err)]

mod accounts;
mod bracket;
mod cause;
mod checkpoints;
mod collector;
mod count;
mod counters;
mod diagnosis;
mod exemplar;
mod hints;
mod instructions;
mod interval;
mod json;
mod kept;
mod quota;
mod ring;
mod scope;
#[cfg(test)]
#[path = "../../../native/tests/common/system.rs"]
pub(crate) mod testing;
mod text;
mod thread;
mod usual;
mod waiting;

pub use cause::{Cause, Parts};
pub use collector::{
    Collector, EXEMPLARS_COUNTERS, EXEMPLARS_FAULT_TIMES, EXEMPLARS_NO_RING, ExemplarOptions,
    Inner as CollectorInner, MAX_SLOWEST,
};
pub use diagnosis::Diagnosis;
pub use exemplar::{
    Context, Evidence, Exemplar, KNOWN_ACCOUNTS, KNOWN_COUNTERS, KNOWN_FAULT_TIMES, KNOWN_QUOTA, KNOWN_RING,
    KNOWN_RUN_DELAY, Missing, NO_CPU,
};
pub use hints::Hints;
pub use interval::{Interval, Share};
pub use scope::{ExemplarScope, RawScope};

pub use picollo_core::seam::Counted;

/// Checks whether the kernel records this thread's switches. If not, the error explains why and what to do.
pub fn switch_records() -> picollo_native::Result<()> {
    let opened = ring::Ring::open(picollo_native::seam::Kernel, false);
    opened.map(drop).map_err(|refused| refused.explain())
}

/// The example of the package.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Package;

/// The examples of the page on why observations are slow.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/why-slow.md")]
pub struct WhySlow;
