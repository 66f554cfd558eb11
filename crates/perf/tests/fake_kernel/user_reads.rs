//! Sessions whose counters are read in user space, on a machine in memory: every value is the one that the kernel would
//! return. If the reading cannot prove that, the kernel is asked.

use crate::fake::*;
use picollo_native::*;
use picollo_perf::seam::{Finding, Policy, SessionOn};
use picollo_perf::*;

const BOTH: [&str; 2] = ["cycles", "instructions"];
/// Flags that depend on the page or the way of reading, not on the count.
const HOW: u32 = READING_FAST | READING_CLEAN;

/// A machine whose counters have this width, before anything is opened.
fn machine(width: u32) -> Fake {
    let fake = Fake::new();
    fake.add_pmu(width);
    fake
}

/// A session of two events on it, whose first calls are forgotten.
fn open(fake: &Fake, flags: u32) -> SessionOn<&Fake> {
    let session = create(fake, flags, &BOTH).unwrap();
    fake.taken_reads();
    fake.pmu(|pmu| pmu.touched.clear());
    session
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
    // The leader and the member, once per reading, and no others.
    assert_eq!(fake.pmu(|pmu| pmu.touched.clone()), [1, 2].repeat(99));
    let all = readings(&session, false);
    assert_eq!(values(&all), [1000 * 99 * 50, 2000 * 99 * 50]);
}

/// When stopped, the last answer holds until something moves. (On arm64 an index of 0 may also mean: not to be read.)
#[test]
fn a_stopped_session_asks_the_kernel_once() {
    let fake = machine(48);
    let mut session = open(&fake, 0);
    after(&fake, &mut session, 100, 1000, 1000);
    session.disable().unwrap();
    read(&mut session);
    assert_eq!(fake.taken_reads(), 1);
    for _ in 0..10 {
        assert!(read(&mut session).iter().all(|reading| reading.raw == 0));
    }
    assert_eq!(fake.taken_reads(), if cfg!(target_arch = "aarch64") { 10 } else { 0 });
    assert_eq!(values(&readings(&session, false)), [100, 200]);
}

/// A counter that must not be read is not touched, and a read that needs no trial is not tried.
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
        (Policy::Auto, Finding::Safe, SESSION_ON_CPU, 0, false),
    ] {
        let fake = machine(48);
        fake.pmu(|pmu| (pmu.policy, pmu.finding) = (policy, finding));
        let mut session = create(&fake, flags, &BOTH).unwrap();
        for _ in 0..3 {
            assert_eq!(values(&after(&fake, &mut session, 100, 1000, 1000)), [100, 200]);
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

/// If the page has no times, they come from the clock's rate, or else from the last system call.
#[test]
fn times_by_the_rate_of_the_clock() {
    for rate in [None, Some(2_000_000_000)] {
        let fake = machine(48);
        fake.pmu(|pmu| (pmu.has_times, pmu.tick_rate) = (false, rate));
        let mut session = open(&fake, 0);
        let found = after(&fake, &mut session, 100, 1000, 1000)[0];
        let stale = found.flags & READING_TIMES_STALE != 0;
        assert_eq!((found.value, stale), (100, rate.is_none()));
        assert_eq!(found.time_enabled, if stale { 0 } else { 1000 });
        assert_eq!(fake.taken_reads(), 0);
    }
}

#[test]
fn fences_stand_around_a_reading() {
    let fake = machine(48);
    let mut session = open(&fake, SESSION_ORDERED);
    after(&fake, &mut session, 100, 1000, 1000);
    assert_eq!(fake.pmu(|pmu| pmu.touched.clone()), [FENCE, 1, 2, FENCE]);
    // The same by system call.
    fake.pmu(|pmu| pmu.touched.clear());
    session.read(ReadMode::Syscall).unwrap();
    assert_eq!(fake.pmu(|pmu| pmu.touched.clone()), [FENCE, FENCE]);
}

/// The counters have not moved since the calibration, but they moved before it, so the interval was interrupted.
#[test]
fn a_calibration_proves_nothing_about_earlier_intervals() {
    let fake = machine(48);
    let mut session = open(&fake, 0);
    assert_eq!(values(&after(&fake, &mut session, 100, 1000, 1000)), [100, 200]);
    fake.off_pmu();
    fake.pass(0, 1000, 0);
    fake.on_pmu(5);
    session.calibrate().unwrap();
    let found = read(&mut session);
    let not_counted = Status::NotCounted.code();
    assert!(
        found.iter()
            .all(|found| (found.status, found.time_enabled, found.flags) == (not_counted, 1000, READING_FAST)),
        "{found:?}"
    );
    fake.off_pmu();
    fake.pass(0, 1000, 0);
    fake.on_pmu(5);
    fake.pass(50, 500, 500);
    session.calibrate().unwrap();
    let found = read(&mut session);
    assert!(found.iter().all(|found| found.flags == READING_FAST | READING_SCALED), "{found:?}");
    assert_eq!(values(&found), [150, 300]);
    // The next one is whole again.
    let found = after(&fake, &mut session, 50, 500, 500);
    assert!(found.iter().all(|found| found.flags == HOW), "{found:?}");
    assert_eq!(values(&found), [50, 100]);
}
