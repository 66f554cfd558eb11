//! Why was this one slow? Observations that are kept with what leads to their requests, and with what became of their time.

mod accounts;
#[cfg(test)]
mod alone_tests;
mod bracket;
mod cause;
mod cgroup;
mod checkpoints;
mod collector;
mod count;
mod counters;
mod evidence;
mod executed_text;
mod exemplar;
mod hints;
mod instructions;
mod interval;
mod json;
mod kept;
mod options;
mod quota;
mod ring;
mod schedstat;
mod scope;
mod text;
mod thread;
mod told;
mod usual;
mod verdict;
mod waiting;
mod written;

pub use cause::{Cause, Parts};
pub use collector::{Collector, Inner as CollectorInner};
pub use evidence::{
    Evidence, KNOWN_ACCOUNTS, KNOWN_COUNTERS, KNOWN_FAULT_TIMES, KNOWN_QUOTA, KNOWN_RING, KNOWN_RUN_DELAY,
    Missing,
};
pub use exemplar::{Context, Exemplar, NO_CPU};
pub use hints::Hints;
pub use interval::{Interval, Share};
pub use json::MISSING_NAMES;
pub use options::{
    EXEMPLARS_COUNTERS, EXEMPLARS_FAULT_TIMES, EXEMPLARS_NO_RING, ExemplarOptions, MAX_SLOWEST,
};
pub use scope::{ExemplarScope, RawScope};
pub use told::{MAX_COUNT, MAX_EXEMPLARS, MAX_UNITS_PER_SECOND, Told};
pub use verdict::Verdict;

pub use crate::base::reference::Reference;

/// Whether the kernel writes down this thread's switches, as collectors ask it to: if not, why, and what to do about it.
pub fn switch_records() -> crate::base::error::Result<()> {
    let sys = crate::os::sys::Kernel;
    ring::Ring::open(sys, usize::MAX).map(drop).map_err(|refused| refused.explain(&sys))
}
