//! The structs and constants of collectors of exemplars.

pub use picollo_why::{Context as picollo_exemplar_context, RawScope as picollo_exemplar_scope};

use crate::options;

/// Collects the slowest observations of a histogram and the reasons for their slowness.
pub struct picollo_exemplars(());

/// Ignore the field slowest, and keep no list of the slowest. The collector keeps the latest observation of each
/// octave (power of two) of values, and the causes of slow observations.
pub const PICOLLO_EXEMPLARS_NO_SLOWEST: u32 = 1 << 1;

/// picollo_exemplars_end and _offer return this if the observation is kept.
pub const PICOLLO_EXEMPLAR_KEPT: u32 = 1;

/// An unknown CPU.
pub const PICOLLO_CPU_UNKNOWN: u32 = 0xffff_ffff;

/// Options of a collector.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_exemplars_options {
    pub struct_size: u32,
    /// PICOLLO_EXEMPLARS_....
    pub flags: u32,
    /// An observation is slow if its recorded value is above this. 0: the 99th percentile of the previous interval.
    /// In the first interval, the slowest that are kept count as slow.
    pub threshold: u64,
    /// Unit of what scopes record, PICOLLO_UNIT_...; 0: nanoseconds.
    pub unit: u32,
    /// How many of the slowest are kept, up to 65,536; 0: 16.
    pub slowest: u32,
    /// Number of threads whose descriptors, rings and counters are kept at the same time; 0: 64. For further threads,
    /// waiting is not divided into causes.
    pub threads: u32,
    /// Number of slow observations per second that a thread examines; 0: 1,000. Of further ones only the largest is
    /// kept.
    pub rate: u32,
    /// Number of ordinary observations per second that are examined, to learn what is usual; 0: 20, at most
    /// 1,000,000.
    pub controls: u32,
    pub reserved: u32,
}

// SAFETY: plain numbers in naturally aligned order without padding (asserted in layout.rs), the size first.
unsafe impl options::Options for picollo_exemplars_options {
    const FIRST_SIZE: usize = 40;
}

/// An observation that was kept. Unknown numbers (see known) are 0.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_exemplar {
    /// The value as recorded.
    pub value: u64,
    /// Its duration; 0 if values are not times.
    pub wall_nanos: u64,
    /// Its beginning, in nanoseconds since 1970.
    pub unix_nanos: u64,
    /// Length of the window of evidence: from a checkpoint of its thread to its end. The checkpoint is up to 300
    /// microseconds before its beginning, or more if it contains many other observations.
    pub window_nanos: u64,
    /// Time in the window that the thread ran.
    pub cpu_nanos: u64,
    /// Time that it was runnable without a CPU.
    pub run_delay_nanos: u64,
    /// Time that it was off the CPU.
    pub off_nanos: u64,
    /// Part of off_nanos during which it did not wait for anything.
    pub preempted_nanos: u64,
    /// Time to handle page faults.
    pub fault_nanos: u64,
    /// Part of its duration in excess of what is usual for its cause; 0 with PICOLLO_CAUSE_SEVERAL and _NOT_KNOWN.
    pub excess_nanos: u64,
    /// Instructions of the thread in user space, in the window.
    pub instructions: u64,
    /// Cycles of the thread in user space, in the window.
    pub cycles: u64,
    /// Usual instructions per cycle of its kind; 0 if unknown.
    pub usual_ipc: f64,
    pub reserved: u64,
    /// The link to its request.
    pub context: picollo_exemplar_context,
    /// The reason for its slowness or duration: PICOLLO_CAUSE_....
    pub cause: u32,
    /// Which fields are known: PICOLLO_KNOWN_....
    pub known: u32,
    /// Why there is no evidence: PICOLLO_MISSING_....
    pub missing: u32,
    /// Its kind.
    pub label: u32,
    /// The kernel's id of the thread on which it ended.
    pub thread: i32,
    /// The CPU on which it ended, or PICOLLO_CPU_UNKNOWN.
    pub cpu: u32,
    /// Voluntary context switches: the thread waited.
    pub voluntary: u32,
    /// Involuntary context switches: the thread was preempted.
    pub involuntary: u32,
    /// Page faults without a read from disk.
    pub minor_faults: u32,
    /// Page faults with a read from disk.
    pub major_faults: u32,
    /// How often its group was throttled since the last check.
    pub throttled: u32,
    /// Whether it is above the threshold of its interval.
    pub is_slow: u32,
}

/// An interval that has ended.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_exemplar_interval {
    /// Its beginning, in nanoseconds since 1970.
    pub begin_unix_nanos: u64,
    /// Its end, in nanoseconds since 1970.
    pub end_unix_nanos: u64,
    /// Observations above this were slow, as recorded. 0 if the threshold was unknown: then the slowest are.
    pub threshold: u64,
    /// Number of recorded observations.
    pub observations: u64,
    /// Number of slow observations.
    pub slow: u64,
    /// Number of slow observations with a known cause.
    pub known: u64,
    /// Number of ordinary observations examined so far.
    pub controls: u64,
    /// Total excess of all slow observations over the usual.
    pub excess_nanos: u64,
    /// Number of observations that are kept.
    pub length: u64,
}

/// The share of a cause in an interval's excess.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_exemplar_share {
    /// 0 to 1; 0 for PICOLLO_CAUSE_SEVERAL and _NOT_KNOWN.
    pub share: f64,
    /// Its excess in all slow observations with known evidence.
    pub excess_nanos: u64,
    /// Number of observations that it made slow.
    pub observations: u64,
    /// Median of its excess in these observations.
    pub typical_nanos: u64,
}
