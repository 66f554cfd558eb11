//! Sessions against a model, on a kernel whose counts are known.
#![allow(clippy::result_large_err)] // errors carry their text by value

#[path = "common/fake.rs"]
mod fake;

use fake::*;
use picollo_native::*;
use proptest::prelude::*;

/// One thing that can be done to a session, or that can happen to it.
#[derive(Clone, Debug)]
enum Step {
    Pass { count: u64, nanos: u64, running: u64 },
    Read,
    Record(bool),
    Reset,
    Enable,
    Disable,
    Calibrate,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0u64..1000, 1u64..1000, 0u64..1000)
            .prop_map(|(count, nanos, part)| Step::Pass { count, nanos, running: part.min(nanos) }),
        4 => Just(Step::Read),
        2 => any::<bool>().prop_map(Step::Record),
        1 => Just(Step::Reset),
        1 => Just(Step::Enable),
        1 => Just(Step::Disable),
        1 => Just(Step::Calibrate),
    ]
}

/// (count, enabled, running) of one event: what truly happened.
type Truth = (u64, u64, u64);

/// What a session should say, from the truth at the moments that matter.
fn expected(from: Truth, to: Truth) -> Reading {
    let (raw, enabled, running) = (to.0 - from.0, to.1 - from.1, to.2 - from.2);
    if running == 0 && raw != 0 {
        // Counted in no time: the clock was too coarse. The count is certain, the time is not.
        let flags = READING_TIMES_STALE;
        return Reading { value: raw, raw, time_enabled: enabled, time_running: enabled, flags, status: 0 };
    }
    if running == 0 {
        return Reading { time_enabled: enabled, status: Status::NotCounted.code(), ..Reading::default() };
    }
    let scaled = running < enabled;
    let value = if scaled { (raw * enabled + running / 2) / running } else { raw };
    let flags = if scaled { READING_SCALED } else { 0 };
    Reading { value, raw, time_enabled: enabled, time_running: running, flags, status: 0 }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// Whatever is done in whatever order, a session says what a list of the true counts says.
    #[test]
    fn sessions_agree_with_the_truth(steps in prop::collection::vec(step(), 1..60)) {
        let fake = Fake::new();
        let mut session = create(&fake, 0, &["page-faults", "task-clock"]).unwrap();
        let mut truth: [Truth; 2] = [(0, 0, 0); 2];
        let (mut base, mut previous, mut last) = (truth, truth, truth);
        let (mut counting, mut reads, mut recorded) = (true, 0, false);
        let (mut totals, mut not_counted) = ([0u64; 2], [0u64; 2]);
        for step in steps {
            match step {
                Step::Pass { count, nanos, running } => {
                    fake.pass(count, nanos, running);
                    for (position, truth) in truth.iter_mut().enumerate().filter(|_| counting) {
                        let (value, enabled, ran) = *truth;
                        *truth = (value + count * (position as u64 + 1), enabled + nanos, ran + running);
                    }
                }
                Step::Read => {
                    session.read(ReadMode::Auto).unwrap();
                    (previous, last) = (last, truth);
                    (reads, recorded) = (reads + 1, false);
                }
                Step::Record(deltas) => {
                    let possible = reads > 0 && !recorded;
                    prop_assert_eq!(session.record(deltas).is_ok(), possible);
                    recorded |= possible;
                    for position in (0..2).filter(|_| possible) {
                        let from = if deltas { previous } else { base };
                        let counted = expected(from[position], last[position]).status == 0;
                        if counted { totals[position] += 1 } else { not_counted[position] += 1 }
                    }
                }
                Step::Calibrate => session.calibrate().unwrap(),
                Step::Disable => {
                    session.disable().unwrap();
                    counting = false;
                }
                Step::Enable | Step::Reset => {
                    if matches!(step, Step::Enable) {
                        session.enable().unwrap();
                        counting = true;
                    } else {
                        session.reset().unwrap();
                        (totals, not_counted) = ([0; 2], [0; 2]);
                    }
                    (base, previous, last) = (truth, truth, truth);
                    (reads, recorded) = (0, false);
                }
            }
            if reads > 0 {
                for (deltas, from) in [(true, previous), (false, base)] {
                    let said = readings(&session, deltas);
                    for position in 0..2 {
                        prop_assert_eq!(said[position], expected(from[position], last[position]));
                    }
                }
            }
        }
        for position in 0..2 {
            let histogram = session.histogram(position).unwrap();
            prop_assert_eq!(total(&histogram), totals[position]);
            prop_assert_eq!(session.event_info(position).unwrap().not_counted_count, not_counted[position]);
        }
    }
}

fn total(histogram: &picollo_core::SingleWriterHistogram) -> u64 {
    let mut snapshot = picollo_core::Snapshot::boxed(*histogram.layout()).unwrap();
    histogram.update(&mut snapshot, picollo_core::Since::Reset).unwrap();
    snapshot.counts().total
}
