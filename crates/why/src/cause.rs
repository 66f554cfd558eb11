//! Causes of slow observations: the parts that a window is split into.

use super::exemplar::{
    Evidence, KNOWN_ACCOUNTS, KNOWN_FAULT_TIMES, KNOWN_QUOTA, KNOWN_RING, KNOWN_RUN_DELAY,
};

/// The causes: description, number in the C ABI, name, meaning for first-time readers, and color on pages. Each color
/// has a contrast of 3 with white and with the dark page.
macro_rules! causes {
    ($($(#[$doc:meta])* $cause:ident = $number:literal: $name:literal, $meaning:literal, $color:literal;)*) => {
        /// Why an observation was slow. The numbers are those of the C ABI.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, serde::Deserialize)]
        #[serde(try_from = "String")]
        #[repr(u32)]
        pub enum Cause {
            $($(#[$doc])* $cause = $number,)*
        }

        impl Cause {
            /// All causes.
            pub const ALL: [Cause; 12] = [$(Cause::$cause),*];

            /// Name of the cause.
            pub const fn name(self) -> &'static str {
                match self { $(Cause::$cause => $name,)* }
            }

            /// Meaning of the cause for first-time readers.
            pub const fn meaning(self) -> &'static str {
                match self { $(Cause::$cause => $meaning,)* }
            }

            pub(super) const fn color(self) -> &'static str {
                match self { $(Cause::$cause => $color,)* }
            }
        }
    };
}

causes! {
    /// Off the CPU by its own call: a lock, a disk, another process, sleep.
    OwnWaiting = 1: "own waiting", "waited for something: a lock, a disk, another process", "#2b7bba";
    /// Runnable but not running: preempted, or woken late.
    RunQueue = 2: "run queue", "was ready to run, and others had the CPU", "#d55e00";
    /// The same, but the thread's group was throttled at some time. Its quota of CPU time may be the reason.
    RunQueueOrQuota = 3: "run queue or quota", "was ready to run; others had the CPU, or its quota was used up", "#c2557d";
    /// Not running because the group's quota of CPU time was used up.
    Throttled = 4: "throttled", "had used up the group's quota of CPU time", "#cf3f3f";
    /// Off the CPU; the reason is unknown.
    OffCpu = 5: "off CPU, not split", "did not run; whether it waited or was not let is not known", "#5d7f9e";
    /// Handling page faults.
    PageFaults = 6: "page faults", "got memory mapped", "#008a66";
    /// More instructions than usual. Only known with [`EXEMPLARS_COUNTERS`](super::EXEMPLARS_COUNTERS).
    MoreInstructions = 7: "more instructions", "executed more", "#8a63d2";
    /// More cycles per instruction than usual. Only known if they are counted.
    SlowerInstructions = 8: "slower instructions", "executed as much, more slowly", "#b0568f";
    /// On the CPU for longer, for an unknown reason. This includes page faults if their times are unknown, and time
    /// that a hypervisor took.
    OnCpu = 9: "on CPU, cause not known", "ran, and nothing says why for longer", "#9a6b00";
    /// Not in any of the accounts.
    Unexplained = 10: "unexplained", "is in none of the accounts", "#7a7a7a";
    /// No cause makes up more than half.
    Several = 11: "several", "no cause makes up more than half", "#7a7a7a";
    /// There is no evidence, or nothing to compare it with.
    #[default]
    NotKnown = 12: "not known", "without evidence", "#7a7a7a";
}

/// Number of causes that time is split among.
pub const PARTS: usize = 10;

impl Cause {
    /// The cause with this number in the C ABI.
    pub fn from_raw(raw: u32) -> Option<Cause> {
        Cause::ALL.get((raw as usize).checked_sub(1)?).copied()
    }

    pub(super) const fn index(self) -> usize {
        self as usize - 1
    }
}

/// Nanoseconds of each cause, [`Cause::OwnWaiting`] first.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(try_from = "std::collections::HashMap<Cause, u64>")]
pub struct Parts(pub [u64; PARTS]);

impl Parts {
    /// Splits an observation of `wall_nanos` into parts that add up to its length; `None` without accounts.
    pub fn from_evidence(evidence: &Evidence, wall_nanos: u64) -> Option<Parts> {
        if !evidence.knows(KNOWN_ACCOUNTS) {
            return None;
        }
        let mut parts = Parts::default();
        // The ring covers exactly the observation. The accounts do not: the clocks are not read at the same instant.
        // The ring does not show time that a host or an interrupt took. The kernel does not charge it to the thread,
        // nor does this.
        let (window, off) = match evidence.knows(KNOWN_RING) {
            true => (wall_nanos, evidence.off_nanos.min(wall_nanos)),
            false => (evidence.window_nanos, evidence.window_nanos.saturating_sub(evidence.cpu_nanos)),
        };
        let cpu = (window - off).min(evidence.cpu_nanos);
        let is_throttled = evidence.knows(KNOWN_QUOTA) && evidence.throttled > 0;
        match (evidence.knows(KNOWN_RUN_DELAY), evidence.voluntary > 0) {
            (true, waited) => {
                let ready = evidence.run_delay_nanos.min(off);
                let cause = match (is_throttled, evidence.is_throttled_within) {
                    (true, true) => Cause::Throttled,
                    (true, false) => Cause::RunQueueOrQuota,
                    (false, _) => Cause::RunQueue,
                };
                parts.add(cause, ready);
                // A thread that never gave up the CPU did not wait. The rest is in no account, like time stolen from a
                // machine.
                parts.add(if waited { Cause::OwnWaiting } else { Cause::Unexplained }, off - ready);
            }
            (false, _) => parts.add(Cause::OffCpu, off),
        }
        let faults = if evidence.knows(KNOWN_FAULT_TIMES) { evidence.fault_nanos.min(cpu) } else { 0 };
        parts.add(Cause::PageFaults, faults);
        parts.add(Cause::OnCpu, cpu - faults);
        parts.fit(wall_nanos);
        Some(parts)
    }

    /// Nanoseconds of this cause.
    pub const fn get(&self, cause: Cause) -> u64 {
        if cause.index() < PARTS { self.0[cause.index()] } else { 0 }
    }

    fn add(&mut self, cause: Cause, nanos: u64) {
        self.0[cause.index()] += nanos;
    }

    /// Removes the time before the observation: at most the time between two checkpoints, most likely spent running.
    fn fit(&mut self, wall_nanos: u64) {
        let sum: u64 = self.0.iter().sum();
        let Some(mut before) = sum.checked_sub(wall_nanos) else {
            return self.add(Cause::Unexplained, wall_nanos - sum);
        };
        for at in [Cause::OnCpu, Cause::Unexplained].map(Cause::index).into_iter().chain(0..PARTS) {
            let taken = before.min(self.0[at]);
            self.0[at] -= taken;
            before -= taken;
        }
    }
}
