//! The time stamp counter is not used here: only on Linux is it known whether it can be trusted.

/// The counter is not used.
pub(crate) fn is_used() -> bool {
    false
}

pub(crate) fn hertz_for(_: u64) -> Option<u64> {
    None
}

pub(crate) fn hertz() -> Option<u64> {
    None
}

pub(crate) fn read() -> u64 {
    0
}

pub(crate) fn read_ordered() -> u64 {
    0
}

/// Does nothing: the assembly code of the fences exists on Linux only.
pub(crate) fn fence() {}
