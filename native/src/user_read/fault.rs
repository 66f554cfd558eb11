//! Whether reading a counter in user space faults on this machine, found out where it does no harm.
//!
//! The page may allow what the CPU then refuses: a hypervisor without the instruction, or an administrator who switched it off
//! after the event was opened. A fault would end the program. So once per process and kind of PMU a child opens an event, maps
//! its page and reads the counter (`trial.rs`); where that faults, this process stays with read(2).
//!
//! It is a look ahead, not a guard: whoever forbids the instruction after it ends the process at its next reading. There is no guard
//! that costs nothing. The page of an event that is open already does not show the change, so that no check before the
//! instruction would notice it; a check of anything else would be out of date by the time of the instruction; restartable sequences
//! do not restart on faults; and a handler for SIGSEGV or SIGILL belongs to the program, never to a library.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::os::kernel::{Attr, kind};
use crate::user_read::trial::{Finding, read_one};

/// Answers so far, one word for each PMU: its key in the upper 48 bits, then how often a child found out nothing, [`USED`], and
/// [`SAFE`] or [`FAULTS`]. A process meets few kinds of PMU.
type Answers = [AtomicU64; 16];
static KNOWN: Answers = [const { AtomicU64::new(0) }; 16];
const SAFE: u64 = 1;
const FAULTS: u64 = 2;
const USED: u64 = 4;
const ONE_TRIAL: u64 = 8;
const KEY_SHIFT: u32 = 16;
/// So many children that found out nothing are enough: the counters are taken for good, or a sandbox is in the way.
const MOST_TRIALS: u64 = 32;

/// What reading a counter of the PMU that this request is for does. A child finds out, the first time. The request is one that
/// the kernel has taken before.
pub(crate) fn user_reads(attr: &Attr) -> Finding {
    remember(&KNOWN, key_of(attr), || read_one(attr))
}

/// What is known of a PMU, or else what `ask` finds out. That nothing is known is not for ever: it is asked again, a number of times.
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
    // Threads that ask at the same time do not wait for each other. Should they find different things, the fault counts.
    let finding = ask();
    match finding {
        Finding::Safe => answer.fetch_or(SAFE, Ordering::Relaxed),
        Finding::Faults => answer.fetch_or(FAULTS, Ordering::Relaxed),
        // A process has far fewer threads than it would take for this to run into the key.
        Finding::Unknown => answer.fetch_add(ONE_TRIAL, Ordering::Relaxed),
    };
    finding
}

/// One number for each PMU: on hybrid CPUs the upper half of a generic event's config names it.
fn key_of(attr: &Attr) -> u64 {
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
        // More kinds of PMU than any machine has: there it stays with read(2).
        let more =
            (100..150).filter(|&key| remember(&answers, key, || Finding::Safe) == Finding::Safe).count();
        assert_eq!(more, 13);
    }

    /// A child that the kernel killed for want of memory says nothing about the instruction.
    #[test]
    fn ignorance_is_not_for_ever() {
        let answers = none();
        for _ in 0..5 {
            assert_eq!(remember(&answers, 4, || Finding::Unknown), Finding::Unknown);
        }
        assert_eq!(remember(&answers, 4, || Finding::Safe), Finding::Safe);
        assert_eq!(remember(&answers, 4, unasked), Finding::Safe);
        // But it is bounded: every question costs a child.
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
        assert_eq!(key_of(&attr(kind::HARDWARE, 1)), key_of(&attr(kind::RAW, 0x1c2)));
        assert_eq!(key_of(&attr(kind::HARDWARE, 10 << 32)), 10);
        assert_eq!(key_of(&attr(11, 0x3c)), 11);
    }
}
