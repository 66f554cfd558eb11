//! Where time goes: the parts that a window is split into, and what they are called.

use super::evidence::{
    Evidence, KNOWN_ACCOUNTS, KNOWN_FAULT_TIMES, KNOWN_QUOTA, KNOWN_RING, KNOWN_RUN_DELAY,
};

/// Why an observation was slow. The numbers are those of the C ABI.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Cause {
    /// Off the CPU by its own call: a lock, a disk, another process, sleep.
    OwnWaiting = 1,
    /// Ready, and not running: preempted, or woken late.
    RunQueue = 2,
    /// The same, in a group that was throttled meanwhile.
    RunQueueOrQuota = 3,
    /// Not running because its group had used up its quota.
    Throttled = 4,
    /// Off the CPU, which of both is not known.
    OffCpu = 5,
    /// Handling page faults.
    PageFaults = 6,
    /// More was executed.
    MoreInstructions = 7,
    /// It was executed more slowly.
    SlowerInstructions = 8,
    /// On the CPU, and nothing says why.
    OnCpu = 9,
    /// In none of the accounts.
    Unexplained = 10,
    /// None of them makes up more than half.
    Several = 11,
    /// There is no evidence.
    NotKnown = 12,
}

/// Causes that time is split among.
pub const PARTS: usize = 10;

impl Cause {
    /// All of them.
    pub const ALL: [Cause; 12] = [
        Cause::OwnWaiting,
        Cause::RunQueue,
        Cause::RunQueueOrQuota,
        Cause::Throttled,
        Cause::OffCpu,
        Cause::PageFaults,
        Cause::MoreInstructions,
        Cause::SlowerInstructions,
        Cause::OnCpu,
        Cause::Unexplained,
        Cause::Several,
        Cause::NotKnown,
    ];

    /// The cause with this number in the C ABI.
    pub fn from_raw(raw: u32) -> Option<Cause> {
        Cause::ALL.get((raw as usize).checked_sub(1)?).copied()
    }

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::OwnWaiting => "own waiting",
            Cause::RunQueue => "run queue",
            Cause::RunQueueOrQuota => "run queue or quota",
            Cause::Throttled => "throttled",
            Cause::OffCpu => "off CPU, not split",
            Cause::PageFaults => "page faults",
            Cause::MoreInstructions => "more instructions",
            Cause::SlowerInstructions => "slower instructions",
            Cause::OnCpu => "on CPU, cause not known",
            Cause::Unexplained => "unexplained",
            Cause::Several => "several",
            Cause::NotKnown => "not known",
        }
    }

    /// What it means, for those who read it for the first time.
    pub const fn meaning(self) -> &'static str {
        match self {
            Cause::OwnWaiting => "waited for something: a lock, a disk, another process",
            Cause::RunQueue => "was ready to run, and others had the CPU",
            Cause::RunQueueOrQuota => "was ready to run; others had the CPU, or its quota was used up",
            Cause::Throttled => "had used up the group's quota of CPU time",
            Cause::OffCpu => "did not run; whether it waited or was not let is not known",
            Cause::PageFaults => "got memory mapped",
            Cause::MoreInstructions => "executed more",
            Cause::SlowerInstructions => "executed as much, more slowly",
            Cause::OnCpu => "ran, and nothing says why for longer",
            Cause::Unexplained => "is in none of the accounts",
            Cause::Several => "no cause makes up more than half",
            Cause::NotKnown => "without evidence",
        }
    }

    const fn index(self) -> usize {
        self as usize - 1
    }
}

/// Nanoseconds of each cause, [`Cause::OwnWaiting`] first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parts(pub [u64; PARTS]);

impl Parts {
    /// What an observation of so many nanoseconds is made of; `None` where there are no accounts. The parts add up to its length.
    pub fn of(evidence: &Evidence, wall_nanos: u64) -> Option<Parts> {
        if !evidence.knows(KNOWN_ACCOUNTS) {
            return None;
        }
        let mut parts = Parts::default();
        // The ring knows of the observation itself. As for the accounts, clocks are not read at the same instant.
        let (window, off) = match evidence.knows(KNOWN_RING) {
            true => (wall_nanos, evidence.off_nanos.min(wall_nanos)),
            false => (evidence.window_nanos, evidence.window_nanos.saturating_sub(evidence.cpu_nanos)),
        };
        let cpu = window - off;
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
                // Who never gave the CPU up did not wait: what is left then is in no account, such as time stolen from a whole machine.
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

    /// What of this cause.
    pub const fn get(&self, cause: Cause) -> u64 {
        if cause.index() < PARTS { self.0[cause.index()] } else { 0 }
    }

    fn add(&mut self, cause: Cause, nanos: u64) {
        self.0[cause.index()] += nanos;
    }

    /// Takes away what came before the observation: at most the time between two checkpoints, which the thread most likely ran.
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
