//! Readings of the events of a session.

/// Read in user space; for a delta, at both ends.
pub const READING_FAST: u32 = 1 << 0;
/// Provably not descheduled since the previous read.
pub const READING_CLEAN: u32 = 1 << 1;
/// The event shared a counter with others, so the value is extrapolated.
pub const READING_SCALED: u32 = 1 << 2;
/// Another program reset the counter. The delta starts anew, and the counts just before the reset are missing.
pub const READING_RESYNC: u32 = 1 << 3;
/// The times are from the last system call, not from this moment.
pub const READING_TIMES_STALE: u32 = 1 << 4;

/// One event's count over an interval. Same layout as `picollo_reading` in C.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[repr(C)]
pub struct Reading {
    /// The count, extrapolated if the event was multiplexed, minus the overhead if the session subtracts it.
    pub value: u64,
    /// The count as reported by the kernel.
    pub raw: u64,
    /// Nanoseconds of the interval in which the event was enabled.
    pub time_enabled: u64,
    /// Nanoseconds of the interval in which it was on the PMU.
    pub time_running: u64,
    /// [`READING_FAST`] and its siblings.
    pub flags: u32,
    /// 0, or the code of `NotCounted`, or why the event is not open. Anything but 0 means that there is no value.
    pub status: i32,
}

const _: () = assert!(size_of::<Reading>() == 40);

impl Reading {
    /// Whether there is a value.
    pub fn is_counted(&self) -> bool {
        self.status == 0
    }
}
