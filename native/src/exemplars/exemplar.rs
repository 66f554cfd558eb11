//! One observation that is kept: what leads to its request, and what is known of where its time went.

use serde::{Deserialize, Serialize};

use super::json::{OfEvidence, cpu, hex};

/// What leads from an observation to its request. Zeroes: nothing does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Context {
    /// The trace, as in W3C's `traceparent`.
    #[serde(with = "hex")]
    pub trace_id: [u8; 16],
    /// The span in it.
    #[serde(with = "hex")]
    pub span_id: [u8; 8],
    /// What the caller likes.
    pub words: [u64; 2],
}

/// A CPU that is not known.
pub const NO_CPU: u32 = u32::MAX;

/// An observation with its context and evidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exemplar {
    /// What makes it one of its collector's: never reused, not 0.
    #[serde(skip)]
    pub number: u64,
    /// As recorded.
    pub value: u64,
    /// How long it took; 0 where its value is no time.
    pub wall_nanos: u64,
    /// When it began, in nanoseconds since 1970.
    pub unix_nanos: u64,
    /// The kernel's id of the thread that it ended on.
    pub thread: i32,
    /// Where it ended, or [`NO_CPU`].
    #[serde(with = "cpu")]
    pub cpu: u32,
    /// Of which kind it is.
    pub label: u32,
    /// What leads to its request.
    #[serde(flatten)]
    pub context: Context,
    /// What is known of where its time went.
    #[serde(flatten)]
    pub evidence: Evidence,
}

/// The accounts of the thread: [`Evidence::window_nanos`], [`Evidence::cpu_nanos`], switches and page faults.
pub const KNOWN_ACCOUNTS: u32 = 1 << 0;
/// [`Evidence::run_delay_nanos`].
pub const KNOWN_RUN_DELAY: u32 = 1 << 1;
/// [`Evidence::throttled`]: the thread's group has a quota of CPU time.
pub const KNOWN_QUOTA: u32 = 1 << 2;
/// [`Evidence::off_nanos`] and [`Evidence::preempted_nanos`], of a window without gaps.
pub const KNOWN_RING: u32 = 1 << 3;
/// [`Evidence::fault_nanos`].
pub const KNOWN_FAULT_TIMES: u32 = 1 << 4;
/// [`Evidence::instructions`] and [`Evidence::cycles`], counted all the time.
pub const KNOWN_COUNTERS: u32 = 1 << 5;

/// Why there are no accounts: each reason with its sentence for people.
macro_rules! missing {
    ($($(#[$doc:meta])* $why:ident = $number:literal: $sentence:literal;)*) => {
        /// Why there are no accounts.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[repr(u32)]
        pub enum Missing {
            $($(#[$doc])* $why = $number,)*
        }

        impl Missing {
            pub(super) const ALL: [Missing; 8] = [$(Missing::$why),*];

            pub(super) const fn sentence(self) -> &'static str {
                match self { $(Missing::$why => $sentence,)* }
            }
        }
    };
}

missing! {
    /// There is evidence (in JSON, an unreported reason).
    #[default]
    #[serde(rename = "not_told")]
    Nothing = 0: "";
    /// It was timed elsewhere, or by an event loop.
    TimedElsewhere = 1: "offered with a duration, as event loops do: the thread ran other requests meanwhile. A scope around the call \
         that blocks shows why that one was slow";
    /// It ended on another thread than it began on.
    OtherThread = 2: "ended on another thread than they were begun on";
    /// It began before a fork.
    Forked = 3: "begun before a fork";
    /// Too many observations were slow at the same time: it was kept without examination.
    TooMany = 4: "too many at once";
    /// It contained so many other scopes that its beginning was overwritten.
    Overwritten = 5: "so many other scopes in between that their beginning was forgotten";
    /// The numbers of the system contradict each other.
    Contradictory = 6: "accounts that contradict themselves";
    /// The system has no such accounting.
    Unsupported = 7: "a system without accounts";
}

/// What is known of where the time of an observation went. A number that is not known (`known`) is 0.
///
/// The accounts are of a window that begins with a checkpoint of the thread and ends with the observation. It was taken up to 300 µs before
/// that; where many others lay within the observation, further before, by at most a seventh of what came since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "OfEvidence", try_from = "OfEvidence")]
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
    /// What the thread executed in the window, in user space.
    pub instructions: u64,
    /// In so many cycles.
    pub cycles: u64,
    /// How many cycles a second had in user space when the thread's counters were opened; 0 where that is not known.
    pub cycle_hertz: u64,
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
    pub fn none(missing: Missing) -> Evidence {
        Evidence { missing, ..Evidence::default() }
    }

    /// Page faults of either kind.
    pub const fn faults(&self) -> u64 {
        self.minor_faults as u64 + self.major_faults as u64
    }

    /// Instructions of a cycle, where they were counted.
    pub fn ipc(&self) -> Option<f64> {
        (self.knows(KNOWN_COUNTERS) && self.cycles > 0).then(|| self.instructions as f64 / self.cycles as f64)
    }

    /// Whether all of this is known.
    pub const fn knows(&self, what: u32) -> bool {
        self.known & what == what
    }
}
