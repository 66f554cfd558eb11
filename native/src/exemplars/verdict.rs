//! The cause of an observation, beside what is usual for its kind.
//!
//! What is in excess of the usual in each part of its time is held against the others: a cause is named if it makes up more than half of the
//! excess, and does so as well when it is taken as small, and all others as large, as ordinary observations vary. So what is as usual, and
//! only happens to be a little more than the mean, is no cause, and neither is what hides behind it.

use super::cause::{Cause, PARTS, Parts};
use super::exemplar::{Evidence, Exemplar, KNOWN_RING};
use super::instructions;
use super::json::ratio;
use super::usual::Ordinary;

/// What is said of an observation.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Verdict {
    /// Its cause, [`Cause::Several`] or [`Cause::NotKnown`].
    pub cause: Cause,
    /// Where its time went.
    #[serde(default)]
    pub parts: Parts,
    /// What of that is more than usual, in nanoseconds; less than usual is 0.
    pub excess: Parts,
    /// Page faults beyond those that are usual.
    #[serde(skip)]
    pub faults: u64,
    /// It is not known since what came before it, in the same window of accounts, may have been most of what seems to be in excess.
    #[serde(skip)]
    pub is_too_short: bool,
    /// Instructions of a cycle that are usual; 0 where they are not known.
    #[serde(with = "ratio", default)]
    pub usual_ipc: f64,
}

/// A part of the excess that is not worth a doubt: parts are right to as much.
const LITTLE: f64 = 0.05;

impl Verdict {
    pub(super) const NOTHING: Verdict = Verdict {
        cause: Cause::NotKnown,
        parts: Parts([0; PARTS]),
        excess: Parts([0; PARTS]),
        faults: 0,
        is_too_short: false,
        usual_ipc: 0.0,
    };

    /// Of an observation, beside the ordinary ones of its kind.
    pub fn of(exemplar: &Exemplar, ordinary: Option<&Ordinary>) -> Verdict {
        let Some(parts) = Parts::of(&exemplar.evidence, exemplar.wall_nanos) else { return Verdict::NOTHING };
        let Some(ordinary) = ordinary else { return Verdict { parts, ..Verdict::NOTHING } };
        let mut usual = ordinary.mean;
        let mut deviation = ordinary.deviation;
        level(&parts, &mut usual, &mut deviation);
        let mut excess = Parts::default();
        for ((excess, &part), usual) in excess.0.iter_mut().zip(&parts.0).zip(usual) {
            *excess = (part as f64 - usual).max(0.0) as u64;
        }
        let all: f64 = excess.0.iter().map(|&nanos| nanos as f64).sum();
        let spread: f64 = deviation.iter().sum();
        let before = Before::of(&exemplar.evidence, exemplar.wall_nanos);
        // What of a part may be of the time before is taken as nothing of it, and as the others'.
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
        // Without the doubt there would be one; or it may be what tells several from one. Where it is little, none has much more than half.
        let is_in_doubt = || named(Before::NONE).is_some() || !before.has_ring && before.nanos * 2.0 > all;
        if cause == Cause::Several && before.nanos > all * LITTLE && is_in_doubt() {
            return Verdict { parts, is_too_short: true, ..Verdict::NOTHING };
        }
        instructions::split(exemplar, ordinary, &mut excess, &mut cause);
        let usual_ipc = ordinary.execution.map_or(0.0, |usual| usual.ipc());
        Verdict { cause, parts, excess, faults, is_too_short: false, usual_ipc }
    }
}

/// What a window of accounts has of the time before the observation. That may have been idleness, or waiting for a CPU, which is in them all the
/// same; [`Parts::of`] takes it for work.
#[derive(Clone, Copy)]
struct Before {
    nanos: f64,
    has_ring: bool,
}

impl Before {
    const NONE: Before = Before { nanos: 0.0, has_ring: true };

    fn of(evidence: &Evidence, wall_nanos: u64) -> Before {
        // Who was on the CPU all the time has waited for nothing before.
        let off = evidence.window_nanos.saturating_sub(evidence.cpu_nanos);
        let before = evidence.window_nanos.saturating_sub(wall_nanos).min(off);
        Before { nanos: before as f64, has_ring: evidence.knows(KNOWN_RING) }
    }

    /// How much of what a cause has may be of that time.
    fn within(self, cause: Cause) -> f64 {
        match cause {
            // If some of the time before was not work, more of the observation was.
            Cause::OnCpu | Cause::PageFaults | Cause::MoreInstructions | Cause::SlowerInstructions => 0.0,
            // The kernel's record of switches is of the observation alone, but not the account of the run queue.
            Cause::OwnWaiting | Cause::OffCpu | Cause::Unexplained if self.has_ring => 0.0,
            _ => self.nanos,
        }
    }
}

/// Ordinary observations of which more is known than of this one, or less, had their time in other parts of the same sum: waiting that is
/// split, and not; with a quota, and without. What is usual is laid out as this one is.
fn level(parts: &Parts, usual: &mut [f64; PARTS], deviation: &mut [f64; PARTS]) {
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
        // Most likely; if it was not, less is said than could be.
        shift(Cause::OffCpu, Cause::OwnWaiting);
    }
    let queues = [Cause::RunQueue, Cause::RunQueueOrQuota, Cause::Throttled];
    if let Some(own) = queues.into_iter().find(|&cause| parts.get(cause) > 0) {
        queues.into_iter().filter(|&cause| cause != own).for_each(|cause| shift(cause, own));
    }
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
pub(super) mod tests;
