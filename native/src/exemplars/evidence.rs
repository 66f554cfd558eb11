//! What is known of where the time of an observation went.

/// The accounts of the thread: [`Evidence::window_nanos`], [`Evidence::cpu_nanos`], switches and faults.
pub const KNOWN_ACCOUNTS: u32 = 1 << 0;
/// [`Evidence::run_delay_nanos`].
pub const KNOWN_RUN_DELAY: u32 = 1 << 1;
/// The thread's group has a quota of CPU time, and how often it was throttled is known.
pub const KNOWN_QUOTA: u32 = 1 << 2;
/// [`Evidence::off_nanos`] and [`Evidence::preempted_nanos`], of a window without gaps.
pub const KNOWN_RING: u32 = 1 << 3;
/// [`Evidence::fault_nanos`].
pub const KNOWN_FAULT_TIMES: u32 = 1 << 4;

/// Why there are no accounts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u32)]
pub enum Missing {
    /// There are.
    #[default]
    Nothing = 0,
    /// It was timed elsewhere, or by an event loop.
    TimedElsewhere = 1,
    /// It ended on another thread than it began on.
    OtherThread = 2,
    /// It began in the parent of a fork.
    Forked = 3,
    /// So many observations were slow at the same time that it was only kept, and not looked into.
    TooMany = 4,
    /// The accounts at its beginning were overwritten by those of later scopes, within it.
    Overwritten = 5,
    /// What the system says contradicts itself.
    Contradictory = 6,
    /// The system has no such accounts.
    Unsupported = 7,
}

/// What is known of where the time of an observation went. A number that is not known (`known`) is 0.
///
/// The accounts are of a window that begins with a checkpoint of the thread and ends with the observation. It was taken up to 300 µs before
/// that; where many others lay within the observation, further before, by at most a seventh of what came since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// `KNOWN_…`.
    pub known: u32,
    /// Why there are no accounts.
    pub missing: Missing,
    /// The length of the window.
    pub window_nanos: u64,
    /// What the thread ran in it.
    pub cpu_nanos: u64,
    /// What it was ready and did not run.
    pub run_delay_nanos: u64,
    /// What it was off the CPU, by the kernel's records of switches.
    pub off_nanos: u64,
    /// What of that it was off although it did not wait for anything.
    pub preempted_nanos: u64,
    /// What the handling of page faults took.
    pub fault_nanos: u64,
    /// How often the thread's group was throttled, since that was looked at last.
    pub throttled: u32,
    /// It was looked at within the observation before, so that this was within it as well.
    pub is_throttled_within: bool,
    /// How often the thread gave the CPU up, to wait.
    pub voluntary: u32,
    /// How often it was taken off.
    pub involuntary: u32,
    /// Page faults without reading from a disk.
    pub minor_faults: u32,
    /// Page faults with.
    pub major_faults: u32,
}

impl Evidence {
    /// None, for this reason.
    pub const fn none(missing: Missing) -> Evidence {
        Evidence {
            known: 0,
            missing,
            window_nanos: 0,
            cpu_nanos: 0,
            run_delay_nanos: 0,
            off_nanos: 0,
            preempted_nanos: 0,
            fault_nanos: 0,
            throttled: 0,
            is_throttled_within: false,
            voluntary: 0,
            involuntary: 0,
            minor_faults: 0,
            major_faults: 0,
        }
    }

    /// Page faults of either kind.
    pub const fn faults(&self) -> u64 {
        self.minor_faults as u64 + self.major_faults as u64
    }

    /// Whether all of this is known.
    pub const fn knows(&self, what: u32) -> bool {
        self.known & what == what
    }
}
