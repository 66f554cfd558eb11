//! Tests diagnoses with made-up evidence for which the truth is known.

use proptest::prelude::*;

use super::super::exemplar::{
    Evidence, KNOWN_ACCOUNTS, KNOWN_FAULT_TIMES, KNOWN_QUOTA, KNOWN_RING, KNOWN_RUN_DELAY, Missing,
};
use super::super::usual::{LEAST, Usual};
use super::*;
use crate::testing::Random;

const MS: u64 = 1_000_000;

/// An observation with these times of running, waiting and queuing, and with this evidence.
fn observed(cpu: u64, waiting: u64, queued: u64, known: u32) -> Exemplar {
    let wall = cpu + waiting + queued;
    let of = |bit: u32, value: u64| if known & bit != 0 { value } else { 0 };
    let evidence = Evidence {
        known,
        window_nanos: of(KNOWN_ACCOUNTS, wall),
        cpu_nanos: of(KNOWN_ACCOUNTS, cpu),
        run_delay_nanos: of(KNOWN_RUN_DELAY, queued),
        off_nanos: of(KNOWN_RING, waiting + queued),
        voluntary: u32::from(waiting > 0 && known & KNOWN_ACCOUNTS != 0),
        involuntary: u32::from(queued > 0 && known & KNOWN_ACCOUNTS != 0),
        ..Evidence::default()
    };
    Exemplar { value: wall, wall_nanos: wall, evidence, ..Exemplar::default() }
}

const ALL: u32 = KNOWN_ACCOUNTS | KNOWN_RUN_DELAY | KNOWN_RING;

pub(crate) fn usual_of(controls: impl IntoIterator<Item = Exemplar>) -> Usual {
    let mut usual = Usual::new().unwrap();
    controls.into_iter().for_each(|control| usual.add(&control));
    usual
}

/// Ordinary observations: 1 ms of work, with or without some waiting.
fn ordinary(waiting: u64, known: u32) -> Usual {
    usual_of((0..32).map(|i| observed(MS + i * 1000, waiting, 20_000, known)))
}

pub(crate) fn diagnosis(exemplar: &Exemplar, usual: &Usual) -> Diagnosis {
    Diagnosis::new(exemplar, usual.for_label(exemplar.label, u64::MAX).as_ref())
}

fn evidence() -> impl Strategy<Value = Evidence> {
    let number = || prop_oneof![Just(0), Just(u64::MAX), any::<u64>(), 0..100 * MS];
    (any::<u32>(), prop::array::uniform6(number()), prop::array::uniform4(0u32..5)).prop_map(
        |(known, [window, cpu, delay, off, preempted, fault], [voluntary, involuntary, minor, throttled])| {
            Evidence {
                known,
                missing: Missing::Nothing,
                window_nanos: window,
                cpu_nanos: cpu,
                run_delay_nanos: delay,
                off_nanos: off,
                preempted_nanos: preempted,
                fault_nanos: fault,
                throttled,
                voluntary,
                involuntary,
                minor_faults: minor,
                ..Evidence::default()
            }
        },
    )
}

proptest! {
    /// Parts add up for any evidence.
    #[test]
    fn parts_are_the_whole(evidence in evidence(), wall in prop_oneof![Just(0), Just(u64::MAX), any::<u64>()]) {
        match Parts::from_evidence(&evidence, wall) {
            Some(parts) => {
                prop_assert!(evidence.knows(KNOWN_ACCOUNTS));
                prop_assert_eq!(parts.0.iter().map(|&part| u128::from(part)).sum::<u128>(), u128::from(wall));
            }
            None => prop_assert!(!evidence.knows(KNOWN_ACCOUNTS)),
        }
    }

    /// No cause is named without evidence, for any duration and any usual values.
    #[test]
    fn no_verdict_without_evidence(evidence in evidence(), wall: u64, label in 0u32..3) {
        let exemplar = Exemplar { value: wall, wall_nanos: wall, label, evidence, ..Exemplar::default() };
        let named = diagnosis(&exemplar, &ordinary(0, ALL)).cause;
        let knows = |bits| evidence.knows(bits);
        prop_assert!(label == 0 && knows(KNOWN_ACCOUNTS) || named == Cause::NotKnown);
        let split = [Cause::OwnWaiting, Cause::RunQueue, Cause::RunQueueOrQuota, Cause::Throttled];
        prop_assert!(knows(KNOWN_RUN_DELAY) || !split.contains(&named), "{named:?}");
        prop_assert!(!knows(KNOWN_RUN_DELAY) || named != Cause::OffCpu);
        prop_assert!(evidence.voluntary > 0 || named != Cause::OwnWaiting);
        prop_assert!(knows(KNOWN_FAULT_TIMES) || named != Cause::PageFaults);
        prop_assert!(knows(KNOWN_QUOTA) && evidence.throttled > 0 || ![Cause::RunQueueOrQuota, Cause::Throttled].contains(&named));
        prop_assert!(![Cause::MoreInstructions, Cause::SlowerInstructions].contains(&named));
    }
}

/// From a shared machine whose host took 1.2 ms: the ring has no switch, and the CPU clock advanced by 10.69 ms.
#[test]
fn no_more_is_on_the_cpu_than_the_threads_clock_counted() {
    let evidence =
        Evidence { known: ALL, window_nanos: 12_100_000, cpu_nanos: 10_690_000, ..Evidence::default() };
    let parts = Parts::from_evidence(&evidence, 11_900_000).unwrap();
    assert_eq!((parts.get(Cause::OnCpu), parts.get(Cause::Unexplained)), (10_690_000, 1_210_000));
    // Page faults are part of the CPU time.
    let known = ALL | KNOWN_FAULT_TIMES;
    let parts =
        Parts::from_evidence(&Evidence { known, fault_nanos: 11_000_000, ..evidence }, 11_900_000).unwrap();
    assert_eq!((parts.get(Cause::OnCpu), parts.get(Cause::PageFaults)), (0, 10_690_000));
}

/// Planted observations, and the expected diagnosis if some evidence is withheld.
#[test]
fn withheld_evidence_gives_a_weaker_answer_and_no_other() {
    let planted = [
        ([0, 20, 0], Cause::OwnWaiting, Cause::OffCpu),
        ([0, 1, 20], Cause::RunQueue, Cause::OffCpu),
        ([8, 0, 0], Cause::OnCpu, Cause::OnCpu),
        ([10, 10, 10], Cause::Several, Cause::OffCpu),
    ];
    for usual_waiting in [0, 10 * MS] {
        for known in 0..8 {
            let bits = [KNOWN_ACCOUNTS, KNOWN_RUN_DELAY, KNOWN_RING].into_iter().enumerate();
            let known = bits.filter(|(at, _)| known >> at & 1 == 1).map(|(_, bit)| bit).sum();
            for ([cpu, waiting, queued], right, without_delay) in planted {
                let exemplar = observed(MS + cpu * MS, usual_waiting + waiting * MS, queued * MS, known);
                let expected = match known {
                    known if known & KNOWN_ACCOUNTS == 0 => Cause::NotKnown,
                    known if known & KNOWN_RUN_DELAY == 0 => without_delay,
                    _ => right,
                };
                // Controls with all evidence, with as little as the observation, and with the least.
                for controls in [ALL, known, KNOWN_ACCOUNTS] {
                    let found = diagnosis(&exemplar, &ordinary(usual_waiting, controls)).cause;
                    let allowed =
                        expected == found || controls & KNOWN_ACCOUNTS == 0 && found == Cause::NotKnown;
                    assert!(allowed, "{known:b} {controls:b} {exemplar:?}: {found:?}, not {expected:?}");
                }
            }
        }
    }
}

#[test]
fn a_request_that_always_waits_and_was_preempted_was_preempted() {
    let exemplar = observed(MS, 10 * MS, 2 * MS, ALL);
    assert_eq!(diagnosis(&exemplar, &ordinary(10 * MS, ALL)).cause, Cause::RunQueue);
    // Two kinds under one label have no usual values, and the diagnosis shows that.
    let mixed = usual_of((0..64).map(|i| observed(MS, i % 2 * 10 * MS, 0, ALL)));
    assert_eq!(diagnosis(&exemplar, &mixed).cause, Cause::Several);
    assert_eq!(diagnosis(&observed(4 * MS, 5 * MS, 0, ALL), &mixed).cause, Cause::Several);
}

/// A thread that did not give up its CPU was off it for another reason.
#[test]
fn only_who_waits_has_waited() {
    let mut exemplar = observed(MS, 30 * MS, 0, ALL);
    exemplar.evidence.voluntary = 0;
    assert_eq!(diagnosis(&exemplar, &ordinary(0, ALL)).cause, Cause::Unexplained);
}

/// The thread was idle before, within the same window of accounts, and then worked a quarter of a millisecond.
#[test]
fn idleness_before_a_short_observation_is_not_its_waiting() {
    let usual = usual_of((0..32).map(|i| observed(50_000 + i, 0, 0, KNOWN_ACCOUNTS | KNOWN_RUN_DELAY)));
    let mut short = observed(250_000, 0, 0, KNOWN_ACCOUNTS | KNOWN_RUN_DELAY);
    short.evidence.window_nanos += 200_000;
    short.evidence.voluntary = 1;
    let found = diagnosis(&short, &usual);
    assert!(found.cause == Cause::NotKnown && found.is_too_short);
    // It waited for a CPU all that time, or before: the account of the run queue always covers the window.
    let mut queued = observed(50_000, 0, 200_000, ALL);
    queued.evidence.window_nanos += 200_000;
    queued.evidence.run_delay_nanos += 150_000;
    assert_eq!(diagnosis(&queued, &usual).cause, Cause::NotKnown);
    // Like the other, but the kernel recorded that it waited within the observation.
    let mut waited = observed(50_000, 200_000, 0, ALL);
    waited.evidence.window_nanos += 200_000;
    assert_eq!(diagnosis(&waited, &usual).cause, Cause::OwnWaiting);
    // It worked all the time, before and during the observation.
    let mut worked = observed(250_000, 0, 0, KNOWN_ACCOUNTS | KNOWN_RUN_DELAY);
    worked.evidence.window_nanos += 200_000;
    worked.evidence.cpu_nanos += 200_000;
    assert_eq!(diagnosis(&worked, &usual).cause, Cause::OnCpu);
    // In a long observation, such a short time does not matter.
    let mut long = observed(MS, 20 * MS, 0, KNOWN_ACCOUNTS | KNOWN_RUN_DELAY);
    long.evidence.window_nanos += 200_000;
    assert_eq!(diagnosis(&long, &usual).cause, Cause::OwnWaiting);
    // Nor does it matter if the run queue has a little more than half only with the doubtful time.
    let mut halves = observed(20 * MS, 0, 20 * MS + 400_000, KNOWN_ACCOUNTS | KNOWN_RUN_DELAY);
    halves.evidence.window_nanos += 300_000;
    halves.evidence.cpu_nanos += 300_000;
    let found = diagnosis(&halves, &usual);
    assert!(found.cause == Cause::Several && !found.is_too_short, "{found:?}");
}

#[test]
fn too_few_controls_give_no_cause() {
    let exemplar = observed(MS, 30 * MS, 0, ALL);
    let few = |number| usual_of((0..number).map(|_| observed(MS, 0, 0, ALL)));
    assert_eq!(diagnosis(&exemplar, &few(LEAST - 1)).cause, Cause::NotKnown);
    assert_eq!(diagnosis(&exemplar, &few(LEAST)).cause, Cause::OwnWaiting);
    // Controls that were slow themselves do not count.
    let slow = usual_of((0..64).map(|_| observed(MS, 20 * MS, 0, ALL)));
    assert!(slow.for_label(0, 10 * MS).is_none());
}

#[test]
fn a_quota_is_a_cause_if_it_was_used_up() {
    let mut exemplar = observed(MS, 0, 50 * MS, ALL);
    exemplar.evidence.known |= KNOWN_QUOTA;
    assert_eq!(diagnosis(&exemplar, &ordinary(0, ALL)).cause, Cause::RunQueue);
    exemplar.evidence.throttled = 1;
    assert_eq!(diagnosis(&exemplar, &ordinary(0, ALL)).cause, Cause::RunQueueOrQuota);
    exemplar.evidence.is_throttled_within = true;
    assert_eq!(diagnosis(&exemplar, &ordinary(0, ALL)).cause, Cause::Throttled);
}

/// All parts vary by chance alike. Each named cause must be more than half of the excess over the true means, except in
/// one case of a hundred.
#[test]
fn verdicts_of_equal_things_are_wrong_as_seldom_as_stated() {
    let mut random = Random(42);
    for spread in [0.1, 0.3, 0.6, 1.0] {
        let mut drawn = |median: f64| random.around(median, spread) as u64;
        let mut draw = || observed(drawn(2e6), drawn(4e6), drawn(1e5), KNOWN_ACCOUNTS | KNOWN_RUN_DELAY);
        let (mut named, mut wrong) = (0, 0);
        for _ in 0..40 {
            let mut all: Vec<Exemplar> = (0..2000).map(|_| draw()).collect();
            let parts = |one: &Exemplar| {
                let (cpu, queued) = (one.evidence.cpu_nanos as f64, one.evidence.run_delay_nanos as f64);
                [cpu, queued, one.wall_nanos as f64 - cpu - queued]
            };
            let mean = [0, 1, 2].map(|at| all.iter().map(|one| parts(one)[at]).sum::<f64>() / 2000.0);
            let usual = usual_of(all[..64].iter().copied());
            all.sort_by_key(|one| one.value);
            for one in &all[1980..] {
                let found = diagnosis(one, &usual).cause;
                let excess = [0, 1, 2].map(|at| (parts(one)[at] - mean[at]).max(0.0));
                let causes = [Cause::OnCpu, Cause::RunQueue, Cause::OwnWaiting];
                if let Some(at) = causes.iter().position(|&cause| cause == found) {
                    named += 1;
                    wrong += u32::from(excess[at] * 2.0 <= excess.iter().sum());
                }
            }
        }
        println!("spread {spread}: {named} of 800 named, {wrong} wrongly");
        assert!(named > 0 && wrong * 100 <= named, "spread {spread}: {named} named, {wrong} wrongly");
    }
}
