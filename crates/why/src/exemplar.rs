//! An observation that is kept: the context of its request, and the evidence of where its time went.

use serde::{Deserialize, Serialize};

use super::json::{EvidenceFields, cpu, hex};

/// Links an observation to its request. All zero: no link. Same layout as `picollo_exemplar_context` in C.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[repr(C)]
pub struct Context {
    /// The trace, as in W3C's `traceparent`.
    #[serde(with = "hex")]
    pub trace_id: [u8; 16],
    /// The span in the trace.
    #[serde(with = "hex")]
    pub span_id: [u8; 8],
    /// Free for the caller.
    pub words: [u64; 2],
}

/// Marks an unknown CPU.
pub const NO_CPU: u32 = u32::MAX;

/// An observation with its context and evidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exemplar {
    /// Identifies the exemplar in its collector: never reused, not 0.
    #[serde(skip)]
    pub number: u64,
    /// The recorded value.
    pub value: u64,
    /// Its duration; 0 if the value is not a time.
    pub wall_nanos: u64,
    /// Its beginning, in nanoseconds since 1970.
    pub unix_nanos: u64,
    /// Kernel ID of the thread that it ended on.
    pub thread: i32,
    /// CPU that it ended on, or [`NO_CPU`].
    #[serde(with = "cpu")]
    pub cpu: u32,
    /// Its kind.
    pub label: u32,
    /// Leads to its request.
    #[serde(flatten)]
    pub context: Context,
    /// Evidence of where its time went.
    #[serde(flatten)]
    pub evidence: Evidence,
}

/// These fields of the evidence are known: [`Evidence::window_nanos`], [`Evidence::cpu_nanos`], the numbers of switches
/// and page faults.
pub const KNOWN_ACCOUNTS: u32 = 1 << 0;
/// [`Evidence::run_delay_nanos`] is known.
pub const KNOWN_RUN_DELAY: u32 = 1 << 1;
/// [`Evidence::throttled`] is known: the thread's group has a quota of CPU time.
pub const KNOWN_QUOTA: u32 = 1 << 2;
/// [`Evidence::off_nanos`] and [`Evidence::preempted_nanos`] are known: the window has no gaps.
pub const KNOWN_RING: u32 = 1 << 3;
/// [`Evidence::fault_nanos`] is known.
pub const KNOWN_FAULT_TIMES: u32 = 1 << 4;
/// [`Evidence::instructions`] and [`Evidence::cycles`] are known: they were counted all the time.
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
    /// Nothing is missing: there is evidence. In counts read from JSON: evidence is missing, and the JSON does not
    /// name the reason.
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

/// Evidence of where the time of an observation went. Unknown numbers (see `known`) are 0.
///
/// The accounts cover a window from a checkpoint of the thread to the end of the observation. The checkpoint is from up
/// to 300 µs before the observation. If the observation contains many others, it may be earlier by up to a seventh of
/// the checkpoints since then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "EvidenceFields", try_from = "EvidenceFields")]
pub struct Evidence {
    /// A set of `KNOWN_…`.
    pub known: u32,
    /// Why there are no accounts.
    pub missing: Missing,
    /// The length of the window.
    pub window_nanos: u64,
    /// CPU time of the thread in the window.
    pub cpu_nanos: u64,
    /// Time that the thread was ready but did not run.
    pub run_delay_nanos: u64,
    /// Time off the CPU, from the kernel's records of switches.
    pub off_nanos: u64,
    /// The part of that during which the thread did not wait for anything.
    pub preempted_nanos: u64,
    /// Time spent handling page faults.
    pub fault_nanos: u64,
    /// Instructions of the thread in the window, in user space.
    pub instructions: u64,
    /// Cycles for these instructions.
    pub cycles: u64,
    /// Cycles per second in user space, measured when the thread's counters were opened; 0 if unknown.
    pub cycle_hertz: u64,
    /// How often the thread's group was throttled between two readings that overlap the observation.
    pub throttled: u32,
    /// Both readings lie within the observation, so the group was throttled during it.
    pub is_throttled_within: bool,
    /// How often the thread gave up the CPU in order to wait.
    pub voluntary: u32,
    /// How often the thread lost the CPU.
    pub involuntary: u32,
    /// Page faults that did not read from a disk.
    pub minor_faults: u32,
    /// Page faults that did.
    pub major_faults: u32,
}

impl Evidence {
    /// No evidence, for this reason.
    pub fn none(missing: Missing) -> Evidence {
        Evidence { missing, ..Evidence::default() }
    }

    /// Page faults of both kinds.
    pub const fn faults(&self) -> u64 {
        self.minor_faults as u64 + self.major_faults as u64
    }

    /// Instructions per cycle, if they were counted.
    pub fn ipc(&self) -> Option<f64> {
        (self.knows(KNOWN_COUNTERS) && self.cycles > 0).then(|| self.instructions as f64 / self.cycles as f64)
    }

    /// Whether all of `what` is known.
    pub const fn knows(&self, what: u32) -> bool {
        self.known & what == what
    }
}
