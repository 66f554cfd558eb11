//! Finds out, without harm, whether reading a counter in user space faults on this machine.
//!
//! The page may allow what the CPU then refuses: a hypervisor may lack the instruction, or an administrator may have
//! disabled it after the event was opened. A fault would end the program. So once per process and kind of PMU, a child
//! opens an event, maps its page and reads the counter (`trial.rs`). If that faults, this process uses read(2).
//!
//! This is a test in advance, not a guard. If somebody forbids the instruction later, the next reading ends the
//! process. No guard is free of cost. The page of an open event does not show the change, so no check before the
//! instruction would notice it. A check of anything else would be out of date when the instruction runs. Restartable
//! sequences do not restart on faults. A handler for SIGSEGV or SIGILL belongs to the program, never to a library.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::user_read::trial::{Finding, read_one};
use picollo_native::seam::kernel::{Attr, kind};

/// Answers so far, one word for each PMU. It has the PMU's key in the upper 48 bits, then the number of children that
/// found out nothing, [`USED`], and [`SAFE`] or [`FAULTS`]. A process meets few kinds of PMU.
type Answers = [AtomicU64; 16];
static KNOWN: Answers = [const { AtomicU64::new(0) }; 16];
const SAFE: u64 = 1;
const FAULTS: u64 = 2;
const USED: u64 = 4;
const ONE_TRIAL: u64 = 8;
const KEY_SHIFT: u32 = 16;
/// The limit of children that find out nothing: the counters are taken for good, or a sandbox is in the way.
const MOST_TRIALS: u64 = 32;

/// Whether reading a counter of this request's PMU faults. The first time, a child finds out. The kernel has accepted
/// the request before.
pub(crate) fn user_reads(attr: &Attr) -> Finding {
    remember(&KNOWN, pmu_key(attr), || read_one(attr))
}

/// The known answer for a PMU, or else the answer of `ask`, which is called again, up to a limit, if nothing was known.
fn remember(answers: &Answers, key: u64, ask: impl FnOnce() -> Finding) -> Finding {
    let new = key << KEY_SHIFT | USED;
    let is_mine =
        |answer: &&AtomicU64| match answer.compare_exchange(0, new, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => true,
            Err(taken) => taken >> KEY_SHIFT == key,
        };
    let Some(answer) = answers.iter().find(is_mine) else { return Finding::Unknown };
    let known = answer.load(Ordering::Relaxed);
    let trials = (known & ((1 << KEY_SHIFT) - 1)) / ONE_TRIAL;
    match () {
        () if known & FAULTS != 0 => return Finding::Faults,
        () if known & SAFE != 0 => return Finding::Safe,
        () if trials >= MOST_TRIALS => return Finding::Unknown,
        () => {}
    }
    // Threads that ask at the same time do not wait for each other. If their answers differ, the fault counts.
    let finding = ask();
    match finding {
        Finding::Safe => answer.fetch_or(SAFE, Ordering::Relaxed),
        Finding::Faults => answer.fetch_or(FAULTS, Ordering::Relaxed),
        // A process has far too few threads for this to overflow into the key.
        Finding::Unknown => answer.fetch_add(ONE_TRIAL, Ordering::Relaxed),
    };
    finding
}

/// One number for each PMU: on hybrid CPUs the upper half of a generic event's config names it.
fn pmu_key(attr: &Attr) -> u64 {
    match attr.kind {
        kind::HARDWARE | kind::CACHE if attr.config >> 32 != 0 => attr.config >> 32,
        kind::HARDWARE | kind::CACHE | kind::RAW => kind::RAW.into(),
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn none() -> Answers {
        [const { AtomicU64::new(0) }; 16]
    }

    fn unasked() -> Finding {
        panic!("this is known")
    }

    #[test]
    fn answers_are_kept_for_each_pmu() {
        let answers = none();
        assert_eq!(remember(&answers, 4, || Finding::Safe), Finding::Safe);
        assert_eq!(remember(&answers, 10, || Finding::Faults), Finding::Faults);
        assert_eq!(remember(&answers, u32::MAX.into(), || Finding::Safe), Finding::Safe);
        assert_eq!(remember(&answers, 4, unasked), Finding::Safe);
        assert_eq!(remember(&answers, 10, unasked), Finding::Faults);
        assert_eq!(remember(&answers, u32::MAX.into(), unasked), Finding::Safe);
        // More kinds of PMU than any machine has: the rest use read(2).
        let more =
            (100..150).filter(|&key| remember(&answers, key, || Finding::Safe) == Finding::Safe).count();
        assert_eq!(more, 13);
    }

    /// A child that the kernel killed for lack of memory shows nothing about the instruction.
    #[test]
    fn ignorance_is_not_for_ever() {
        let answers = none();
        for _ in 0..5 {
            assert_eq!(remember(&answers, 4, || Finding::Unknown), Finding::Unknown);
        }
        assert_eq!(remember(&answers, 4, || Finding::Safe), Finding::Safe);
        assert_eq!(remember(&answers, 4, unasked), Finding::Safe);
        // But the number of questions is bounded, because each costs a child.
        let mut asked = 0;
        for _ in 0..1000 {
            let finding = remember(&answers, 10, || {
                asked += 1;
                Finding::Unknown
            });
            assert_eq!(finding, Finding::Unknown);
        }
        assert_eq!(asked, MOST_TRIALS);
    }

    #[test]
    fn a_fault_outweighs_a_success() {
        let answers = none();
        let inner = || {
            assert_eq!(remember(&answers, 4, || Finding::Faults), Finding::Faults);
            Finding::Safe
        };
        remember(&answers, 4, inner);
        assert_eq!(remember(&answers, 4, unasked), Finding::Faults);
    }

    #[test]
    fn one_key_for_each_pmu() {
        let attr = |kind, config| Attr { kind, config, ..Attr::default() };
        assert_eq!(pmu_key(&attr(kind::HARDWARE, 1)), pmu_key(&attr(kind::RAW, 0x1c2)));
        assert_eq!(pmu_key(&attr(kind::HARDWARE, 10 << 32)), 10);
        assert_eq!(pmu_key(&attr(11, 0x3c)), 11);
    }
}
