//! What collectors of exemplars take and give.

use core::ffi::c_void;

use crate::handles::picollo_exemplars;
use crate::options;

/// Keep none of the slowest, whatever the field says: only the latest of each octave of values, and the causes of slow ones.
pub const PICOLLO_EXEMPLARS_NO_SLOWEST: u32 = 1 << 1;

/// picollo_exemplars_end and _offer: the observation is kept.
pub const PICOLLO_EXEMPLAR_KEPT: u32 = 1;

/// A CPU that is not known.
pub const PICOLLO_CPU_UNKNOWN: u32 = 0xffff_ffff;

/// What a collector is to do.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_exemplars_options {
    pub struct_size: u32,
    /// PICOLLO_EXEMPLARS_....
    pub flags: u32,
    /// Above which an observation is slow, as recorded; 0: the 99th percentile of the interval before, and in the first interval the
    /// slowest only.
    pub threshold: u64,
    /// What scopes record, PICOLLO_UNIT_...; 0: nanoseconds.
    pub unit: u32,
    /// How many of the slowest are kept, up to 65,536; 0: 16.
    pub slowest: u32,
    /// For how many threads of the process descriptors, rings and counters are kept at once; 0: 64. The waiting of others is not split.
    pub threads: u32,
    /// How many slow observations a thread looks into in a second; 0: 1,000. Of more than these only the largest is kept.
    pub rate: u32,
    /// How many ordinary observations are looked into in a second, to know what is usual; 0: 20, at most 1,000,000.
    pub controls: u32,
    pub reserved: u32,
}

// SAFETY: plain numbers in naturally aligned order without padding (asserted in layout.rs), the size first.
unsafe impl options::Options for picollo_exemplars_options {
    const FIRST_SIZE: usize = 40;
}

/// A measurement under way, which may be copied elsewhere: the library keeps no pointer to it. Its fields are for the library, but label
/// and, for event loops, thread.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_exemplar_scope {
    /// Ticks at the beginning.
    pub start: u64,
    /// Ticks from which on it is kept for another reason; 0 for a control.
    pub due: u64,
    /// The thread's checkpoint at the beginning.
    pub checkpoint: u64,
    /// Of what it became; 0: nothing.
    pub number: u64,
    pub reserved: [u64; 3],
    /// The thread that it began on. A caller may set it to NULL, where others work on this thread until the end, as in event loops: then
    /// nothing that the thread does is taken for this one's.
    pub thread: *mut c_void,
    /// NULL once it has ended.
    pub exemplars: *mut picollo_exemplars,
    /// Of which kind it is, for the caller to set before the end: what is usual is told of each kind, of up to 16. 0 at the beginning.
    pub label: u32,
    /// Whether it is a control.
    pub is_control: u32,
}

/// What leads from an observation to its request. Zeroes: nothing does.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_exemplar_context {
    /// Whatever the caller likes.
    pub words: [u64; 2],
    /// The trace, as in W3C's traceparent.
    pub trace_id: [u8; 16],
    /// The span in it.
    pub span_id: [u8; 8],
}

/// An observation that was kept. What is not known (known) is 0.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_exemplar {
    /// As recorded.
    pub value: u64,
    /// How long it took; 0 where values are no times.
    pub wall_nanos: u64,
    /// When it began, in nanoseconds since 1970.
    pub unix_nanos: u64,
    /// How long what is known of it lasted: from a checkpoint of its thread to its end. That was taken up to 300
    /// microseconds before it; for one that holds many others, further before.
    pub window_nanos: u64,
    /// What the thread ran in that.
    pub cpu_nanos: u64,
    /// What it was ready and did not run.
    pub run_delay_nanos: u64,
    /// What it was off the CPU.
    pub off_nanos: u64,
    /// What of that it was off although it did not wait for anything.
    pub preempted_nanos: u64,
    /// What handling page faults took.
    pub fault_nanos: u64,
    /// What of its length is in excess of what is usual for its cause; 0 with PICOLLO_CAUSE_SEVERAL and _NOT_KNOWN.
    pub excess_nanos: u64,
    /// What the thread executed in user space, in the window.
    pub instructions: u64,
    /// In so many cycles.
    pub cycles: u64,
    /// Instructions of a cycle that are usual for its kind; 0 where that is not known.
    pub usual_ipc: f64,
    pub reserved: u64,
    /// What leads to its request.
    pub context: picollo_exemplar_context,
    /// Why it was slow, or took what it took: PICOLLO_CAUSE_....
    pub cause: u32,
    /// What is known: PICOLLO_KNOWN_....
    pub known: u32,
    /// Why there is no evidence: PICOLLO_MISSING_....
    pub missing: u32,
    /// Of which kind it is.
    pub label: u32,
    /// The kernel's id of the thread that it ended on.
    pub thread: i32,
    /// The CPU that it ended on, or PICOLLO_CPU_UNKNOWN.
    pub cpu: u32,
    /// How often the thread gave the CPU up, to wait.
    pub voluntary: u32,
    /// How often it was taken off.
    pub involuntary: u32,
    /// Page faults without reading from a disk.
    pub minor_faults: u32,
    /// Page faults with.
    pub major_faults: u32,
    /// How often its group was throttled since that was looked at last.
    pub throttled: u32,
    /// Whether it is above the threshold of its interval.
    pub is_slow: u32,
}

/// An interval that has ended.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_exemplar_interval {
    /// When it began, in nanoseconds since 1970.
    pub begin_unix_nanos: u64,
    /// When it ended.
    pub end_unix_nanos: u64,
    /// Above which an observation was slow, as recorded; 0 where that was not known: then the slowest are.
    pub threshold: u64,
    /// What was recorded.
    pub observations: u64,
    /// How many were slow.
    pub slow: u64,
    /// Of how many of those causes are known.
    pub known: u64,
    /// Ordinary observations that were looked into so far.
    pub controls: u64,
    /// In excess of the usual, all slow ones together.
    pub excess_nanos: u64,
    /// Observations that are kept.
    pub length: u64,
}

/// What a cause has of an interval's excess.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_exemplar_share {
    /// 0 to 1; 0 for PICOLLO_CAUSE_SEVERAL and _NOT_KNOWN.
    pub share: f64,
    /// Of all slow observations whose evidence is known.
    pub excess_nanos: u64,
    /// How many were slow because of it.
    pub observations: u64,
    /// The median of its excess in these.
    pub typical_nanos: u64,
}
