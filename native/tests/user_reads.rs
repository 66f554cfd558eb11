//! Sessions whose counters are read in user space, on a machine in memory: every value is the one that the kernel would give, and where
//! the reading cannot prove that, the kernel is asked.
#![allow(clippy::result_large_err)] // errors carry their text by value

#[path = "common/fake.rs"]
mod fake;

use fake::*;
use picollo_native::seam::{Finding, Policy};
use picollo_native::*;
use proptest::prelude::*;

const BOTH: [&str; 2] = ["cycles", "instructions"];
/// What only the page or the way of reading says, not the count.
const HOW: u32 = READING_FAST | READING_CLEAN;

/// A machine whose counters have this width, before anything is opened.
fn machine(width: u32) -> Fake {
    let fake = Fake::new();
    fake.add_pmu(width);
    fake
}

/// A session of two events on it, whose first calls are forgotten.
fn open(fake: &Fake, flags: u32) -> Session<&Fake> {
    let session = create(fake, flags, &BOTH).unwrap();
    fake.taken_reads();
    fake.pmu(|pmu| pmu.touched.clear());
    session
}

/// Reads, and gives the delta of each event.
fn read(session: &mut Session<&Fake>) -> Vec<Reading> {
    session.read(ReadMode::Auto).unwrap();
    readings(session, true)
}

fn values(readings: &[Reading]) -> Vec<u64> {
    readings.iter().map(|reading| reading.value).collect()
}

#[test]
fn nothing_moves_and_the_kernel_is_not_asked() {
    let fake = machine(48);
    let mut session = open(&fake, 0);
    assert_eq!(fake.pmu(|pmu| pmu.asked), 1, "once for the group");
    for position in 0..2 {
        let info = session.event_info(position).unwrap();
        assert_eq!((info.flags & EVENT_INFO_FAST, info.group), (EVENT_INFO_FAST, 0));
    }
    for round in 1..100 {
        fake.pass(1000 * round, 10 * round, 10 * round);
        assert!(session.read_unmoved());
        for (reading, times) in readings(&session, true).iter().zip([1, 2]) {
            // The base was read by system call.
            let flags = if round == 1 { READING_CLEAN } else { HOW };
            let value = 1000 * round * times;
            let (time_enabled, time_running) = (10 * round, 10 * round);
            let expected = Reading { value, raw: value, time_enabled, time_running, flags, status: 0 };
            assert_eq!(*reading, expected);
        }
    }
    assert_eq!(fake.taken_reads(), 0);
    // Leader and member, once each reading, and nobody else's.
    assert_eq!(fake.pmu(|pmu| pmu.touched.clone()), [1, 2].repeat(99));
    let all = readings(&session, false);
    assert_eq!(values(&all), [1000 * 99 * 50, 2000 * 99 * 50]);
}

#[test]
fn counters_overflow_at_any_width() {
    for width in [32, 40, 48] {
        let fake = machine(width);
        let mut session = open(&fake, 0);
        let room = (1 << (width - 1)) - 1;
        // Up to the last, over the edge, and far over it.
        for step in [room / 2, room / 2, 1, 1, room - 1, room, room + 1, 3 << (width - 2), 5, 1 << width] {
            fake.pass(step, 100, 100);
            let said = read(&mut session);
            assert_eq!(values(&said), [step, 2 * step], "width {width}");
            assert!(said.iter().all(|reading| (reading.time_enabled, reading.status) == (100, 0)));
        }
        assert_eq!(fake.taken_reads(), 0, "each overflow arms the counter with a sign");
    }
}

#[test]
fn multiplexing_scales_what_was_read_in_user_space() {
    let fake = machine(48);
    let mut session = open(&fake, 0);
    fake.pass(100, 1000, 1000);
    assert_eq!(values(&read(&mut session)), [100, 200]);
    // Others have their turn, and the counters are others' when it is over.
    fake.off_pmu();
    fake.pass(0, 1000, 0);
    fake.on_pmu(5);
    fake.pass(50, 500, 500);
    let said = read(&mut session);
    for (reading, raw) in said.iter().zip([50, 100]) {
        let expected = Reading {
            value: 3 * raw,
            raw,
            time_enabled: 1500,
            time_running: 500,
            flags: READING_FAST | READING_SCALED,
            status: 0,
        };
        assert_eq!(*reading, expected);
    }
    assert_eq!(fake.taken_reads(), 0);
}

/// What has no counter has index 0: the kernel is asked, each time, and the reading after it is taken without it again.
#[test]
fn off_the_pmu_the_kernel_is_asked() {
    let fake = machine(48);
    let mut session = open(&fake, 0);
    fake.pass(100, 1000, 1000);
    fake.off_pmu();
    fake.pmu(|pmu| pmu.touched.clear());
    let said = read(&mut session);
    assert_eq!((values(&said), said[0].flags & HOW), (vec![100, 200], 0));
    fake.pass(0, 700, 0);
    let said = read(&mut session);
    assert!(
        said.iter().all(|reading| reading.status == Status::NotCounted.code() && reading.time_enabled == 700)
    );
    assert_eq!((fake.taken_reads(), fake.pmu(|pmu| pmu.touched.len())), (2, 0));
    fake.on_pmu(1);
    fake.pass(10, 100, 100);
    let said = read(&mut session);
    assert_eq!((values(&said), said[0].time_enabled, fake.taken_reads()), (vec![10, 20], 100, 0));
}

/// Stopped, the last answer stands, until something moves. (On arm64 an index of 0 may also mean that a counter is not to be read.)
#[test]
fn what_is_stopped_is_asked_once() {
    let fake = machine(48);
    let mut session = open(&fake, 0);
    fake.pass(100, 1000, 1000);
    read(&mut session);
    session.disable().unwrap();
    read(&mut session);
    assert_eq!(fake.taken_reads(), 1);
    for _ in 0..10 {
        assert!(read(&mut session).iter().all(|reading| reading.raw == 0));
    }
    assert_eq!(fake.taken_reads(), if cfg!(target_arch = "aarch64") { 10 } else { 0 });
    assert_eq!(values(&readings(&session, false)), [100, 200]);
}

#[test]
fn on_another_cpu_the_counters_are_others() {
    let fake = machine(48);
    let mut session = open(&fake, 0);
    fake.pass(100, 1000, 1000);
    read(&mut session);
    for first in [9, 1, 63, 20] {
        fake.on_pmu(first);
        fake.pass(7, 70, 70);
        fake.pmu(|pmu| pmu.touched.clear());
        let said = read(&mut session);
        assert_eq!((values(&said), said[0].flags), (vec![7, 14], READING_FAST), "moved: not clean");
        assert_eq!(fake.pmu(|pmu| pmu.touched.clone()), [first, first + 1]);
        fake.pass(3, 30, 30);
        let said = read(&mut session);
        assert_eq!((values(&said), said[0].flags), (vec![3, 6], HOW));
    }
    assert_eq!(fake.taken_reads(), 0);
}

/// The thread is moved between two counters of one reading, and counts on: both values are of one moment all the same.
#[test]
fn moved_in_the_middle_of_a_reading() {
    let fake = machine(48);
    let mut session = open(&fake, 0);
    for first in [9, 1, 20] {
        fake.pass(100, 1000, 1000);
        fake.interrupt(move |fake| {
            fake.on_pmu(first);
            fake.pass(7, 70, 70);
        });
        let said = read(&mut session);
        assert_eq!((values(&said), said[0].time_enabled), (vec![107, 214], 1070));
    }
    assert_eq!(fake.taken_reads(), 0);
    // At every look: then the kernel is asked, whose answer is one.
    fn restless(fake: &Fake) {
        fake.on_pmu(1);
        fake.interrupt(restless);
    }
    fake.pass(11, 10, 10);
    fake.interrupt(restless);
    assert_eq!((values(&read(&mut session)), fake.taken_reads()), (vec![11, 22], 1));
    fake.interrupt(|_| ());
    fake.pass(1, 10, 10);
    assert_eq!((values(&read(&mut session)), fake.taken_reads()), (vec![1, 2], 0));
}

/// Then the pages are wrong by the whole range of the counters, and the kernel's word is taken.
#[test]
fn somebody_else_resets_the_counters() {
    let fake = machine(48);
    let mut session = open(&fake, 0);
    fake.pass(1000, 1000, 1000);
    read(&mut session);
    fake.foreign_reset();
    fake.pass(7, 70, 70);
    let said = read(&mut session);
    assert_eq!((values(&said), said[0].flags & (READING_RESYNC | HOW)), (vec![7, 14], READING_RESYNC));
    assert_eq!(fake.taken_reads(), 1);
    fake.pass(5, 50, 50);
    let said = read(&mut session);
    assert_eq!((values(&said), said[0].flags & READING_CLEAN), (vec![5, 10], READING_CLEAN));
    assert_eq!(fake.taken_reads(), 0);
}

/// What must not be read is not touched, and what need not be tried is not.
#[test]
fn nothing_is_touched_where_it_may_fault() {
    for (policy, finding, flags, asked, touches) in [
        (Policy::Auto, Finding::Safe, 0, 1, true),
        (Policy::Auto, Finding::Faults, 0, 1, false),
        (Policy::Auto, Finding::Unknown, 0, 1, false),
        (Policy::Off, Finding::Safe, 0, 0, false),
        (Policy::Misspelt, Finding::Safe, 0, 0, false),
        (Policy::Force, Finding::Faults, 0, 0, true),
        (Policy::Force, Finding::Safe, SESSION_SYSCALL_ONLY, 0, false),
        (Policy::Auto, Finding::Safe, SESSION_INHERIT, 0, false),
    ] {
        let fake = machine(48);
        fake.pmu(|pmu| (pmu.policy, pmu.finding) = (policy, finding));
        let mut session = create(&fake, flags, &BOTH).unwrap();
        for _ in 0..3 {
            fake.pass(100, 1000, 1000);
            assert_eq!(values(&read(&mut session)), [100, 200]);
        }
        assert_eq!(
            fake.pmu(|pmu| (pmu.asked, !pmu.touched.is_empty())),
            (asked, touches),
            "{policy:?} {finding:?}"
        );
        let fast = session.event_info(0).unwrap().flags & EVENT_INFO_FAST != 0;
        assert_eq!(fast, touches, "{policy:?} {finding:?}");
    }
}

/// Times where the page tells none: by the clock's rate, and else those of the last system call.
#[test]
fn times_by_the_rate_of_the_clock() {
    for rate in [None, Some(2_000_000_000)] {
        let fake = machine(48);
        fake.pmu(|pmu| (pmu.tells_time, pmu.tick_rate) = (false, rate));
        let mut session = open(&fake, 0);
        fake.pass(100, 1000, 1000);
        let said = read(&mut session)[0];
        let stale = said.flags & READING_TIMES_STALE != 0;
        assert_eq!((said.value, stale), (100, rate.is_none()));
        assert_eq!(said.time_enabled, if stale { 0 } else { 1000 });
        assert_eq!(fake.taken_reads(), 0);
    }
}

#[test]
fn fences_stand_around_a_reading() {
    let fake = machine(48);
    let mut session = open(&fake, SESSION_ORDERED);
    fake.pass(100, 1000, 1000);
    read(&mut session);
    assert_eq!(fake.pmu(|pmu| pmu.touched.clone()), [FENCE, 1, 2, FENCE]);
    // By system call as well.
    fake.pmu(|pmu| pmu.touched.clear());
    session.read(ReadMode::Syscall).unwrap();
    assert_eq!(fake.pmu(|pmu| pmu.touched.clone()), [FENCE, FENCE]);
}

/// One thing that can be done to a session, or that can happen to it.
#[derive(Clone, Debug)]
enum Step {
    Pass { count: u64, nanos: u64 },
    On(u32),
    Off,
    Interrupt(u32),
    Read,
    Syscall,
    Reset,
    Enable,
    Disable,
    Calibrate,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        60 => (0u64..1 << 33, 1u64..1000).prop_map(|(count, nanos)| Step::Pass { count, nanos }),
        20 => (1u32..60).prop_map(Step::On),
        20 => Just(Step::Off),
        10 => (1u32..60).prop_map(Step::Interrupt),
        60 => Just(Step::Read),
        10 => Just(Step::Syscall),
        10 => Just(Step::Reset),
        10 => Just(Step::Enable),
        10 => Just(Step::Disable),
        1 => Just(Step::Calibrate),
    ]
}

/// The counters have not moved since the calibration, but they had before it: such an interval was interrupted.
#[test]
fn a_calibration_proves_nothing_of_what_was_before_it() {
    let fake = machine(48);
    let mut session = open(&fake, 0);
    fake.pass(100, 1000, 1000);
    assert_eq!(values(&read(&mut session)), [100, 200]);
    fake.off_pmu();
    fake.pass(0, 1000, 0);
    fake.on_pmu(5);
    session.calibrate().unwrap();
    let said = read(&mut session);
    let not_counted = Status::NotCounted.code();
    assert!(
        said.iter()
            .all(|said| (said.status, said.time_enabled, said.flags) == (not_counted, 1000, READING_FAST)),
        "{said:?}"
    );
    fake.off_pmu();
    fake.pass(0, 1000, 0);
    fake.on_pmu(5);
    fake.pass(50, 500, 500);
    session.calibrate().unwrap();
    let said = read(&mut session);
    assert!(said.iter().all(|said| said.flags == READING_FAST | READING_SCALED), "{said:?}");
    assert_eq!(values(&said), [150, 300]);
    // The next one is whole again.
    fake.pass(50, 500, 500);
    let said = read(&mut session);
    assert!(said.iter().all(|said| said.flags == HOW), "{said:?}");
    assert_eq!(values(&said), [50, 100]);
}

/// (count, enabled, running) of one event: what truly happened.
type Truth = (u64, u64, u64);

/// Whether a reading says what happened between two moments.
fn agrees(said: &Reading, from: Truth, to: Truth) -> bool {
    let (raw, enabled, running) = (to.0 - from.0, to.1 - from.1, to.2 - from.2);
    if (enabled, running) == (0, 0) {
        // Nothing happened: counted as nothing, or not counted, as it was read.
        return (said.value, said.raw, raw) == (0, 0, 0);
    }
    let Some(scaled) = (raw * enabled + running / 2).checked_div(running) else {
        return said.status == Status::NotCounted.code() && said.time_enabled == enabled;
    };
    (said.raw, said.value, said.status) == (raw, scaled, 0)
        && (said.time_enabled, said.time_running) == (enabled, running)
        && (said.flags & READING_SCALED != 0) == (running < enabled)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// Whatever happens in whatever order, a session says what truly was counted.
    #[test]
    fn sessions_agree_with_the_truth(width in 32u32..=48, steps in prop::collection::vec(step(), 1..60)) {
        let fake = machine(width);
        let mut session = open(&fake, 0);
        let mut truth: [Truth; 2] = [(0, 0, 0); 2];
        let (mut base, mut previous, mut last) = (truth, truth, truth);
        let (mut counting, mut on, mut reads) = (true, true, 0);
        for step in steps {
            match step {
                Step::Pass { count, nanos } => {
                    let (count, running) = if on { (count, nanos) } else { (0, 0) };
                    fake.pass(count, nanos, running);
                    for (position, truth) in truth.iter_mut().enumerate().filter(|_| counting) {
                        let (value, enabled, ran) = *truth;
                        *truth = (value + count * (position as u64 + 1), enabled + nanos, ran + running);
                    }
                }
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
                Step::Read | Step::Syscall => {
                    let auto = matches!(step, Step::Read);
                    session.read(if auto { ReadMode::Auto } else { ReadMode::Syscall }).unwrap();
                    (previous, last, reads) = (last, truth, reads + 1);
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
                    }
                    (base, previous, last, reads) = (truth, truth, truth, 0);
                }
            }
            // What was to happen in a reading that did not come must not happen after the next switch.
            fake.pmu(|pmu| if !on { pmu.calm() });
            if reads > 0 {
                for (deltas, from) in [(true, previous), (false, base)] {
                    for (position, said) in readings(&session, deltas).iter().enumerate() {
                        let (from, to) = (from[position], last[position]);
                        prop_assert!(agrees(said, from, to), "{said:?}, deltas {deltas}: {from:?} {to:?}");
                    }
                }
            }
        }
    }
}
