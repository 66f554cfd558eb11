//! Whom events are opened for, in words that mean the same on every thread.

use crate::machine::target::Target;

/// The thread or CPU to count. Never "the calling thread" in a session, which another thread may have to open events for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Whom {
    /// A thread's kernel id; -1: everything on the CPU. 0, the calling thread, is for events that are gone before anybody else
    /// has a say.
    pub pid: i32,
    /// -1: wherever the thread runs.
    pub cpu: i32,
    /// Who opens the event counts itself, wherever it runs: only such an event can be read in user space.
    pub own: bool,
}

impl Whom {
    /// The target as it is meant on the thread with this id.
    pub(crate) fn of(target: Target, caller: i32) -> Whom {
        let pid = if target.pid == 0 { caller } else { target.pid };
        Whom { pid, cpu: target.cpu, own: pid == caller && target.cpu == -1 }
    }
}

impl From<Target> for Whom {
    fn from(target: Target) -> Whom {
        Whom { pid: target.pid, cpu: target.cpu, own: target.pid == 0 && target.cpu == -1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_in_particular_is_the_caller() {
        let target = |pid, cpu| Target { pid, cpu };
        assert_eq!(Whom::of(target(0, -1), 7), Whom { pid: 7, cpu: -1, own: true });
        // Named by its number, it is the same thread.
        assert_eq!(Whom::of(target(7, -1), 7), Whom { pid: 7, cpu: -1, own: true });
        assert_eq!(Whom::of(target(8, -1), 7), Whom { pid: 8, cpu: -1, own: false });
        assert_eq!(Whom::of(target(0, 2), 7), Whom { pid: 7, cpu: 2, own: false });
        assert_eq!(Whom::of(target(-1, 2), 7), Whom { pid: -1, cpu: 2, own: false });
        assert_eq!(Whom::from(target(0, -1)), Whom { pid: 0, cpu: -1, own: true });
    }
}
