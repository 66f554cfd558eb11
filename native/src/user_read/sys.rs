//! What stands between a session and the machine: the system's calls, and what of the CPU is used without them. Tests stand in for all
//! of it, so that readings in user space can be tested where there is no PMU, and nothing is tried in a child.

use crate::clock::tsc;
use crate::os::kernel::Attr;
use crate::os::sys::{Files, Kernel, Perf, Threads};
use crate::user_read::cpu::{Cpu, PmcSource};
use crate::user_read::fault;
use crate::user_read::policy::Policy;
use crate::user_read::trial::Finding;

/// Counters read in user space: whether they may be, and by what.
pub trait UserReads {
    /// Where the values of counters come from.
    type Source: PmcSource;
    /// What the user wishes.
    fn policy(&self) -> Policy;
    /// What reading a counter of the PMU that this request is for does. The request is one that the kernel has taken before.
    fn user_reads(&self, attr: &Attr) -> Finding;
    /// Where the values of this system's counters come from. Called for every reading.
    fn source(&self) -> Self::Source;
    /// Ticks a second of [`PmcSource::timestamp`]; `None` where they cannot be trusted to be times.
    fn tick_rate(&self) -> Option<u64>;
}

/// The machine itself: the environment's word, a child that tries it, the CPU's registers and its clock.
impl UserReads for Kernel {
    type Source = Cpu;

    fn policy(&self) -> Policy {
        Policy::of_process()
    }

    fn user_reads(&self, attr: &Attr) -> Finding {
        fault::user_reads(attr)
    }

    #[inline(always)]
    fn source(&self) -> Cpu {
        Cpu
    }

    fn tick_rate(&self) -> Option<u64> {
        tsc::hertz()
    }
}

/// All that a session needs of the machine. [`Kernel`] is the real one.
pub trait Sys: Files + Perf + Threads + UserReads {}

impl<S: Files + Perf + Threads + UserReads> Sys for S {}
