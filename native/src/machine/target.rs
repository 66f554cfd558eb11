//! Whom events count, as it was asked for.

/// Whom an event counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Target {
    /// 0: the calling thread; -1: everything on the CPU.
    pub pid: i32,
    /// -1: wherever the target runs.
    pub cpu: i32,
}
