//! What a collector is to do.

use crate::clock::Unit;

/// Do not ask the kernel for its records of context switches.
pub const EXEMPLARS_NO_RING: u32 = 1 << 0;
/// Have it write down page faults as well, so that what they take is known: each takes some microsecond more.
pub const EXEMPLARS_FAULT_TIMES: u32 = 1 << 2;

/// Have each thread that is looked into count its instructions and cycles, where there are counters, so that more work and slower work are
/// told apart.
pub const EXEMPLARS_COUNTERS: u32 = 1 << 3;

/// What a collector is to do. Zeroes are defaults.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExemplarOptions {
    /// `EXEMPLARS_…`.
    pub flags: u32,
    /// Above which an observation is slow, as recorded; 0: the 99th percentile of the interval before.
    pub threshold: u64,
    /// What scopes record; nanoseconds by default.
    pub unit: Option<Unit>,
    /// How many of the slowest are kept, up to 65,536; 16 by default.
    pub slowest: Option<u32>,
    /// Threads of the whole process that descriptors, rings and counters are kept for; 0: 64.
    pub threads: u32,
    /// Slow observations that are looked into, a second and thread; 0: 1,000.
    pub rate: u32,
    /// Ordinary observations that are looked into, a second; 0: 20.
    pub controls: u32,
}

/// Most of the slowest that are kept.
pub const MAX_SLOWEST: u32 = 65_536;
