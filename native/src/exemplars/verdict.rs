//! The cause of an observation, beside what is usual for its kind.
//!
//! What is in excess of the usual in each part of its time is held against the others: a cause is named if it makes up more than half of the
//! excess, and does so as well when it is taken as small, and all others as large, as ordinary observations vary. So what is as usual, and
//! only happens to be a little more than the mean, is no cause, and neither is what hides behind it.

use super::cause::{Cause, PARTS, Parts};
use super::evidence::KNOWN_RING;
use super::exemplar::Exemplar;
use super::instructions;
use super::usual::Ordinary;

/// What is said of an observation.
#[derive(Clone, Copy, Debug)]
pub struct Verdict {
    /// Its cause, [`Cause::Several`] or [`Cause::NotKnown`].
    pub cause: Cause,
    /// Where its time went.
    pub parts: Parts,
    /// What of that is more than usual, in nanoseconds; less than usual is 0.
    pub excess: Parts,
    /// Page faults beyond those that are usual.
    pub faults: u64,
    /// Instructions of a cycle that are usual; 0 where they are not known.
    pub usual_ipc: f64,
}

const NOTHING: Verdict = Verdict {
    cause: Cause::NotKnown,
    parts: Parts([0; PARTS]),
    excess: Parts([0; PARTS]),
    faults: 0,
    usual_ipc: 0.0,
};

impl Verdict {
    /// Of an observation, beside the ordinary ones of its kind.
    pub fn of(exemplar: &Exemplar, ordinary: Option<&Ordinary>) -> Verdict {
        let Some(parts) = Parts::of(&exemplar.evidence, exemplar.wall_nanos) else { return NOTHING };
        let Some(ordinary) = ordinary else { return Verdict { parts, ..NOTHING } };
        let mut usual = ordinary.mean;
        let mut deviation = ordinary.deviation;
        level(&parts, &mut usual, &mut deviation);
        let mut excess = Parts::default();
        for ((excess, &part), usual) in excess.0.iter_mut().zip(&parts.0).zip(usual) {
            *excess = (part as f64 - usual).max(0.0) as u64;
        }
        // What was before the observation is in its accounts, and may have been idleness: where that could be half of the excess, nothing is said.
        let before = exemplar.evidence.window_nanos.saturating_sub(exemplar.wall_nanos);
        let excess_nanos = excess.0.iter().fold(0u64, |sum, &nanos| sum.saturating_add(nanos));
        let was_off = exemplar.evidence.window_nanos > exemplar.evidence.cpu_nanos;
        if !exemplar.evidence.knows(KNOWN_RING) && was_off && before.saturating_mul(2) > excess_nanos {
            return Verdict { parts, ..NOTHING };
        }
        let all: f64 = excess.0.iter().map(|&nanos| nanos as f64).sum();
        let spread: f64 = deviation.iter().sum();
        let named = Cause::ALL.into_iter().take(PARTS).find(|cause| {
            let at = *cause as usize - 1;
            let own = excess.0[at] as f64;
            let least = own - deviation[at];
            let others = all - own + (spread - deviation[at]);
            own * 2.0 > all && least > others
        });
        let mut cause = named.unwrap_or(Cause::Several);
        instructions::split(exemplar, ordinary, &mut excess, &mut cause);
        Verdict {
            cause,
            parts,
            excess,
            faults: (exemplar.evidence.faults() as f64 - ordinary.faults).max(0.0) as u64,
            usual_ipc: ordinary.execution.map_or(0.0, |usual| usual.ipc()),
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
mod tests;
