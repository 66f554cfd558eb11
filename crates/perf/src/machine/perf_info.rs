//! The report about a machine's counters.

use core::ffi::c_char;
use core::fmt;

use picollo_native::seam::text;

/// What this machine can count. Same layout as `picollo_perf_info` in C.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct PerfInfo {
    /// 1: CPU cycles can be counted here and now.
    pub pmu_available: u32,
    /// 1: counters can be read in user space.
    pub user_read_available: u32,
    /// Number of counters for one event each; 0 if unknown.
    pub fixed_counters: u32,
    /// Number of counters for any event; 0 if unknown.
    pub programmable_counters: u32,
    /// /proc/sys/kernel/perf_event_paranoid; `i32::MIN` if it cannot be read.
    pub paranoid: i32,
    /// 1: under a hypervisor.
    pub hypervisor: u32,
    /// Explains missing parts and how to get them; empty if nothing is missing.
    pub explanation: [c_char; 480],
}

const _: () = assert!(size_of::<PerfInfo>() == 504);

impl PerfInfo {
    /// Nothing is available, and nothing is known.
    pub(crate) const NOTHING: PerfInfo = PerfInfo {
        pmu_available: 0,
        user_read_available: 0,
        fixed_counters: 0,
        programmable_counters: 0,
        paranoid: i32::MIN,
        hypervisor: 0,
        explanation: [0; 480],
    };

    /// Missing parts and how to get them; empty if nothing is missing.
    pub fn explanation(&self) -> &str {
        text::get(&self.explanation)
    }
}

impl fmt::Debug for PerfInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PerfInfo")
            .field("pmu_available", &self.pmu_available)
            .field("user_read_available", &self.user_read_available)
            .field("fixed_counters", &self.fixed_counters)
            .field("programmable_counters", &self.programmable_counters)
            .field("paranoid", &self.paranoid)
            .field("hypervisor", &self.hypervisor)
            .field("explanation", &self.explanation())
            .finish()
    }
}
