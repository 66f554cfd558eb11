//! Sessions against a model, on kernels whose counts are known: one that is asked by system call, and one whose
//! counters are read in user space.

use crate::fake::*;
use picollo_native::*;
use picollo_perf::*;
use proptest::prelude::*;

/// An action on a session, or an event that happens to it.
#[derive(Clone, Debug)]
enum Step {
    /// This much is counted. The event runs for a part of the time, if nothing else decides how much.
    Pass {
        count: u64,
        nanos: u64,
        part: u64,
    },
    /// The thread gets counters, from this index on.
    On(u32),
    Off,
    /// The same in the middle of the next reading.
    Interrupt(u32),
    Read(ReadMode),
    Record(bool),
    Reset,
    Enable,
    Disable,
    Calibrate,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        60 => (0u64..1 << 33, 1u64..1000, 0u64..1000).prop_map(|(count, nanos, part)| Step::Pass { count, nanos, part }),
        20 => (1u32..60).prop_map(Step::On),
        20 => Just(Step::Off),
        10 => (1u32..60).prop_map(Step::Interrupt),
        60 => Just(Step::Read(ReadMode::Auto)),
        10 => Just(Step::Read(ReadMode::Syscall)),
        30 => any::<bool>().prop_map(Step::Record),
        10 => Just(Step::Reset),
        10 => Just(Step::Enable),
        10 => Just(Step::Disable),
        2 => Just(Step::Calibrate),
    ]
}

/// (count, enabled, running) of one event: the true values.
type Truth = (u64, u64, u64);

/// The reading that a session should return by system call, from the truth at the moments that matter.
fn expected(from: Truth, to: Truth) -> Reading {
    let (raw, enabled, running) = (to.0 - from.0, to.1 - from.1, to.2 - from.2);
    if running == 0 && raw != 0 {
        // Something was counted in no time, because the clock was too coarse. The count is certain; the time is not.
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

/// Whether a reading matches the truth between two moments, whichever way it was taken.
fn agrees(reading: &Reading, from: Truth, to: Truth) -> bool {
    // If nothing happened, the reading is 0 or not counted, depending on how it was read.
    let nothing = (from.1, from.2) == (to.1, to.2) && (reading.value, reading.raw, from.0) == (0, 0, to.0);
    let how = READING_FAST | READING_CLEAN | READING_RESYNC | READING_TIMES_STALE;
    let flags = reading.flags & !how;
    nothing || Reading { flags, ..*reading } == expected(from, to)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    /// Whatever happens in whatever order, a session reports what a list of the true counts shows. `width`: of counters
    /// that are read in user space; below 32 there are no such counters.
    #[test]
    fn sessions_agree_with_the_truth(width in 16u32..=48, steps in prop::collection::vec(step(), 1..60)) {
        let fake = Fake::new();
        let has_pmu = width >= 32;
        if has_pmu {
            fake.add_pmu(width);
        }
        let events = if has_pmu { ["cycles", "instructions"] } else { ["page-faults", "task-clock"] };
        let mut session = create(&fake, 0, &events).unwrap();
        let mut truth: [Truth; 2] = [(0, 0, 0); 2];
        let (mut base, mut previous, mut last) = (truth, truth, truth);
        let (mut counting, mut on, mut reads, mut recorded) = (true, true, 0, false);
        let (mut totals, mut not_counted) = ([0u64; 2], [0u64; 2]);
        for step in steps {
            match step {
                Step::Pass { count, nanos, part } => {
                    let (count, running) = match (has_pmu, on) {
                        (true, true) => (count, nanos),
                        (true, false) => (0, 0),
                        (false, _) => (count % 1000, part.min(nanos)),
                    };
                    fake.pass(count, nanos, running);
                    for (position, truth) in truth.iter_mut().enumerate().filter(|_| counting) {
                        let (value, enabled, ran) = *truth;
                        *truth = (value + count * (position as u64 + 1), enabled + nanos, ran + running);
                    }
                }
                Step::On(_) | Step::Off | Step::Interrupt(_) if !has_pmu => {}
                Step::On(first) => {
                    fake.on_pmu(first);
                    on = counting;
                }
                Step::Off => {
                    fake.off_pmu();
                    on = false;
                }
                Step::Interrupt(first) if on => fake.interrupt(move |fake| fake.on_pmu(first)),
                Step::Interrupt(_) => {}
                Step::Read(how) => {
                    session.read(how).unwrap();
                    (previous, last) = (last, truth);
                    (reads, recorded) = (reads + 1, false);
                }
                Step::Record(deltas) => {
                    let possible = reads > 0 && !recorded;
                    prop_assert_eq!(session.record(deltas).is_ok(), possible);
                    recorded |= possible;
                    for position in (0..2).filter(|_| possible) {
                        let counted = readings(&session, deltas)[position].status == 0;
                        if counted { totals[position] += 1 } else { not_counted[position] += 1 }
                    }
                }
                Step::Calibrate => session.calibrate().unwrap(),
                Step::Disable => {
                    session.disable().unwrap();
                    (counting, on) = (false, false);
                }
                Step::Enable | Step::Reset => {
                    if matches!(step, Step::Enable) {
                        session.enable().unwrap();
                        (counting, on) = (true, true);
                    } else {
                        session.reset().unwrap();
                        (totals, not_counted) = ([0; 2], [0; 2]);
                    }
                    (base, previous, last) = (truth, truth, truth);
                    (reads, recorded) = (0, false);
                }
            }
            // An action for a reading that did not come must not happen after the next switch.
            if has_pmu && !on {
                fake.pmu(|pmu| pmu.calm());
            }
            if reads > 0 {
                for (deltas, from) in [(true, previous), (false, base)] {
                    for (position, reading) in readings(&session, deltas).iter().enumerate() {
                        let (from, to) = (from[position], last[position]);
                        let is_right = if has_pmu { agrees(reading, from, to) } else { *reading == expected(from, to) };
                        prop_assert!(is_right, "{reading:?}, deltas {deltas}: {from:?} {to:?}");
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
