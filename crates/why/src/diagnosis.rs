//! The cause of an observation, compared with the usual for its kind.
//!
//! For each part of the time, the excess over the usual is compared with that of the others. A cause is named if it
//! makes up more than half of the excess. It must still do so if it is as small, and all others are as large, as
//! ordinary observations vary. So a usual part that happens to exceed the mean a little is not a cause, and neither is
//! a part that it may hide.

use super::cause::{Cause, PARTS, Parts};
use super::exemplar::{Evidence, Exemplar, KNOWN_RING};
use super::instructions;
use super::json::ratio;
use super::usual::Ordinary;

/// The conclusion about an observation.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Diagnosis {
    /// Its cause, [`Cause::Several`] or [`Cause::NotKnown`].
    pub cause: Cause,
    /// Where its time went.
    #[serde(default)]
    pub parts: Parts,
    /// The excess of each part over the usual, in nanoseconds; 0 if it is less than usual.
    pub excess: Parts,
    /// Page faults beyond the usual.
    #[serde(skip)]
    pub faults: u64,
    /// The cause is unknown: time before it in the same window of accounts may be most of the apparent excess.
    #[serde(skip)]
    pub is_too_short: bool,
    /// Usual instructions per cycle; 0 if unknown.
    #[serde(with = "ratio", default)]
    pub usual_ipc: f64,
}

/// Smaller shares of the excess need no doubt: parts are only this accurate.
const LITTLE: f64 = 0.05;

impl Diagnosis {
    pub(super) const NOTHING: Diagnosis = Diagnosis {
        cause: Cause::NotKnown,
        parts: Parts([0; PARTS]),
        excess: Parts([0; PARTS]),
        faults: 0,
        is_too_short: false,
        usual_ipc: 0.0,
    };

    /// Judges an observation by the ordinary ones of its kind.
    pub fn new(exemplar: &Exemplar, ordinary: Option<&Ordinary>) -> Diagnosis {
        let Some(parts) = Parts::from_evidence(&exemplar.evidence, exemplar.wall_nanos) else {
            return Diagnosis::NOTHING;
        };
        let Some(ordinary) = ordinary else { return Diagnosis { parts, ..Diagnosis::NOTHING } };
        let mut usual = ordinary.mean;
        let mut deviation = ordinary.deviation;
        match_evidence(&parts, &mut usual, &mut deviation);
        let mut excess = Parts::default();
        for ((excess, &part), usual) in excess.0.iter_mut().zip(&parts.0).zip(usual) {
            *excess = (part as f64 - usual).max(0.0) as u64;
        }
        let all: f64 = excess.0.iter().map(|&nanos| nanos as f64).sum();
        let spread: f64 = deviation.iter().sum();
        let before = Before::new(&exemplar.evidence, exemplar.wall_nanos);
        // Time that may be from before the observation counts for the others, not for the part.
        let named = |before: Before| {
            Cause::ALL.into_iter().take(PARTS).find(|&cause| {
                let at = cause as usize - 1;
                let own = excess.0[at] as f64;
                let doubt = before.within(cause).min(own);
                let least = own - deviation[at] - doubt;
                let others = all - own + (spread - deviation[at]) + doubt;
                own * 2.0 > all && least > others
            })
        };
        let mut cause = named(before).unwrap_or(Cause::Several);
        let faults = (exemplar.evidence.faults() as f64 - ordinary.faults).max(0.0) as u64;
        // The doubt hides a cause, or decides between one cause and several. If it is small, none has much more than
        // half.
        let is_in_doubt = || named(Before::NONE).is_some() || !before.has_ring && before.nanos * 2.0 > all;
        if cause == Cause::Several && before.nanos > all * LITTLE && is_in_doubt() {
            return Diagnosis { parts, is_too_short: true, ..Diagnosis::NOTHING };
        }
        instructions::split(exemplar, ordinary, &mut excess, &mut cause);
        let usual_ipc = ordinary.execution.map_or(0.0, |usual| usual.ipc());
        Diagnosis { cause, parts, excess, faults, is_too_short: false, usual_ipc }
    }
}

/// Time in a window of accounts from before the observation. The thread may have been idle or waited for a CPU then,
/// which the window includes. [`Parts::from_evidence`] assumes work.
#[derive(Clone, Copy)]
struct Before {
    nanos: f64,
    has_ring: bool,
}

impl Before {
    const NONE: Before = Before { nanos: 0.0, has_ring: true };

    fn new(evidence: &Evidence, wall_nanos: u64) -> Before {
        // A thread that was on the CPU all the time did not wait before.
        let off = evidence.window_nanos.saturating_sub(evidence.cpu_nanos);
        let before = evidence.window_nanos.saturating_sub(wall_nanos).min(off);
        Before { nanos: before as f64, has_ring: evidence.knows(KNOWN_RING) }
    }

    /// How much of a cause's time may be from before the observation.
    fn within(self, cause: Cause) -> f64 {
        match cause {
            // If some of the time before was not work, more of the observation was.
            Cause::OnCpu | Cause::PageFaults | Cause::MoreInstructions | Cause::SlowerInstructions => 0.0,
            // The kernel's record of switches covers only the observation, but the account of the run queue does not.
            Cause::OwnWaiting | Cause::OffCpu | Cause::Unexplained if self.has_ring => 0.0,
            _ => self.nanos,
        }
    }
}

/// Ordinary observations with more or less evidence than this one have their time in other parts of the same sum: with
/// or without split waiting, with or without a quota. This moves the usual time to the parts that this one has.
fn match_evidence(parts: &Parts, usual: &mut [f64; PARTS], deviation: &mut [f64; PARTS]) {
    let mut shift = |from: Cause, to: Cause| {
        let (from, to) = (from as usize - 1, to as usize - 1);
        usual[to] += core::mem::take(&mut usual[from]);
        deviation[to] = deviation[to].hypot(core::mem::take(&mut deviation[from]));
    };
    if parts.get(Cause::OffCpu) > 0 {
        for from in [Cause::OwnWaiting, Cause::RunQueue, Cause::RunQueueOrQuota, Cause::Throttled] {
            shift(from, Cause::OffCpu);
        }
    } else {
        // This is most likely. Otherwise, the diagnosis is weaker than it could be.
        shift(Cause::OffCpu, Cause::OwnWaiting);
    }
    let queues = [Cause::RunQueue, Cause::RunQueueOrQuota, Cause::Throttled];
    if let Some(own) = queues.into_iter().find(|&cause| parts.get(cause) > 0) {
        queues.into_iter().filter(|&cause| cause != own).for_each(|cause| shift(cause, own));
    }
}

#[cfg(test)]
#[path = "diagnosis_tests.rs"]
pub(super) mod tests;
