//! Sessions on the running kernel. Hardware breakpoints give exact counts without a PMU, so most tests run everywhere.

mod common;

use common::{Cell, create, page_faults, read, readings, skipped, watch};
use picollo_native::*;
use picollo_perf::*;

/// The number of values in an event's histogram.
fn total(session: &Session, index: usize) -> u64 {
    let histogram = session.histogram(index).unwrap();
    common::total(&histogram)
}

#[test]
fn groups_count_exactly_and_in_order() {
    let (a, b) = (Cell::new(), Cell::new());
    // Duplicates are fine, and every position has a separate histogram.
    let events = [watch(&a), Event::parse("page-faults").unwrap(), watch(&b), watch(&a)];
    let mut session = create(0, &events);
    assert_eq!(session.length().unwrap(), 4);
    assert_eq!(session.event(2).unwrap(), events[2]);
    assert!((0..4).all(|index| session.event_info(index).unwrap().group == 0));
    for round in 1..=10 {
        a.write(1234);
        b.write(round);
        page_faults(5);
        session.read(ReadMode::Auto).unwrap();
        session.record(true).unwrap();
        let deltas = readings(&session, true);
        assert_eq!((deltas[0].value, deltas[2].value, deltas[3].value), (1234, round, 1234));
        assert!(deltas[1].value >= 5, "{deltas:?}");
        assert!(deltas.iter().all(|delta| delta.time_enabled == deltas[0].time_enabled));
    }
    assert_eq!(readings(&session, false)[2].value, 55);
    assert_eq!((total(&session, 0), total(&session, 2)), (10, 10));
}

#[test]
fn another_thread_as_target() {
    use std::sync::mpsc::channel;
    let cell = Cell::new();
    let (send_id, id) = channel();
    let (go, gone) = channel::<()>();
    let (done, finished) = channel();
    std::thread::scope(|scope| {
        let cell = &cell;
        scope.spawn(move || {
            // SAFETY: a query.
            send_id.send(unsafe { libc::syscall(libc::SYS_gettid) } as i32).unwrap();
            gone.recv().unwrap();
            cell.write(321);
            done.send(()).unwrap();
            let _ = gone.recv();
        });
        let options = SessionOptions { thread: id.recv().unwrap(), ..SessionOptions::default() };
        let events = [watch(cell), Event::parse("context-switches").unwrap()];
        let mut session = Session::create(&options, &events).unwrap();
        cell.write(50);
        go.send(()).unwrap();
        finished.recv().unwrap();
        // The thread gives up its CPU some time after it reports that it is done.
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while session.read(ReadMode::Auto).is_ok() && readings(&session, false)[1].value == 0 {
            assert!(std::time::Instant::now() < deadline, "{:?}", readings(&session, false));
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert_eq!(readings(&session, false)[0].value, 321);
        // Reading does not slow the target down, so there is nothing to calibrate.
        assert_eq!(session.calibrate().unwrap_err().status(), Status::Unsupported);
        drop(go);
    });
    let error =
        Session::create(&SessionOptions { thread: i32::MAX - 1, ..Default::default() }, &[watch(&cell)])
            .unwrap_err();
    assert_eq!((error.status(), error.os_errno(), error.event_index()), (Status::Os, libc::ESRCH, 0));
    assert!(error.message().contains("there is no thread 2147483646"), "{error}");
}

/// A thread on another CPU than the requested one is enabled but not running, exactly as in multiplexing.
#[test]
fn multiplexed_counts_are_scaled() {
    on_a_busy_machine(|| {
        let Some((here, there)) = common::two_cpus() else {
            return skipped("this machine lets the test use one CPU only");
        };
        let cell = Cell::new();
        common::pin_to(here);
        let options =
            SessionOptions { flags: SESSION_ON_CPU, cpu: there as i32, ..SessionOptions::default() };
        let mut session = Session::create(&options, &[watch(&cell)]).unwrap();
        cell.write(100);
        common::busy(2_000_000);
        let away = read(&mut session)[0];
        assert_eq!(
            (away.status, away.value, away.raw, away.time_running),
            (Status::NotCounted.code(), 0, 0, 0),
            "{away:?}"
        );
        assert!(away.time_enabled > 1_000_000, "{away:?}");
        session.record(true).unwrap();
        assert_eq!((total(&session, 0), session.event_info(0).unwrap().not_counted_count), (0, 1));

        // Half here, half there: the count from there stands for the whole.
        common::busy(3_000_000);
        common::pin_to(there);
        cell.write(40);
        common::busy(3_000_000);
        let half = read(&mut session)[0];
        assert_eq!((half.status, half.raw, half.flags), (0, 40, READING_SCALED), "{half:?}");
        assert!(half.time_running < half.time_enabled && half.time_running > 0, "{half:?}");
        let exact = (40 * u128::from(half.time_enabled) + u128::from(half.time_running / 2))
            / u128::from(half.time_running);
        assert_eq!(u128::from(half.value), exact);

        // The whole interval there: exact again, although the counter's whole life was not.
        cell.write(30);
        let exact = read(&mut session)[0];
        assert_eq!((exact.value, exact.raw, exact.flags, exact.status), (30, 30, 0, 0), "{exact:?}");
    });
}

#[test]
fn inherited_events_count_children() {
    let cell = Cell::new();
    let mut session = create(SESSION_INHERIT, &[watch(&cell), Event::parse("task-clock").unwrap()]);
    std::thread::scope(|scope| {
        scope.spawn(|| cell.write(200)).join().unwrap();
    });
    cell.write(34);
    let reading = read(&mut session)[0];
    assert_eq!((reading.raw, reading.status), (234, 0), "{reading:?}");
    assert!(readings(&session, true)[1].raw > 0);
}

#[test]
fn calibration_leaves_no_trace() {
    on_a_busy_machine(|| {
        let cell = Cell::new();
        let mut session = create(SESSION_ORDERED, &[watch(&cell), Event::parse("task-clock").unwrap()]);
        cell.write(12);
        session.read(ReadMode::Auto).unwrap();
        let before = (readings(&session, true)[0], readings(&session, false)[0]);
        session.calibrate().unwrap();
        assert_eq!((readings(&session, true)[0], readings(&session, false)[0]), before);
        // Reading writes to no cell, but it takes time.
        assert_eq!(session.event_info(0).unwrap().overhead_syscall, 0);
        let nanos = session.event_info(1).unwrap().overhead_syscall;
        assert!((50..1_000_000).contains(&nanos), "a pair of reads takes {nanos} ns");
        session.record(true).unwrap();
        cell.write(3);
        let deltas = read(&mut session);
        assert_eq!((deltas[0].value, readings(&session, false)[0].value), (3, 15));
        // The calibration's own milliseconds are not in the times either.
        assert!(deltas[1].value < 5_000_000, "{deltas:?}");
    });
}

#[test]
fn options_are_checked() {
    let events = [Event::parse("dummy").unwrap()];
    let status = |options: SessionOptions| Session::create(&options, &events).map(drop).unwrap_err().status();
    let default = SessionOptions::default();
    assert_eq!(status(SessionOptions { flags: 1 << 9, ..default }), Status::Unsupported);
    assert_eq!(status(SessionOptions { thread: -1, ..default }), Status::InvalidArgument);
    assert_eq!(status(SessionOptions { thread: -2, ..default }), Status::InvalidArgument);
    assert_eq!(status(SessionOptions { flags: SESSION_ON_CPU, cpu: -1, ..default }), Status::InvalidArgument);
    assert_eq!(status(SessionOptions { counter_bits: 33, ..default }), Status::InvalidArgument);
    assert_eq!(Session::create(&default, &[]).unwrap_err().status(), Status::InvalidArgument);
    assert_eq!(Session::create(&default, &[events[0]; 65]).unwrap_err().status(), Status::InvalidArgument);
    let mut odd = events[0];
    odd.modifiers = 1 << 30;
    let error = Session::create(&default, &[events[0], odd]).unwrap_err();
    assert_eq!((error.status(), error.event_index()), (Status::InvalidArgument, 1));
    let session = create(0, &[events[0]; 64]);
    assert_eq!(session.length().unwrap(), 64);
    assert_eq!(session.event(64).unwrap_err().status(), Status::InvalidArgument);
    assert_eq!(session.event_info(usize::MAX).unwrap_err().status(), Status::InvalidArgument);
    assert_eq!(session.histogram(64).map(drop).unwrap_err().status(), Status::InvalidArgument);
    let coarse = SessionOptions { relative_error: 0.1, counter_bits: 32, ..default };
    let histogram = Session::create(&coarse, &events).unwrap().histogram(0).unwrap();
    assert_eq!((histogram.layout().block_size(), histogram.counter_bits()), (8, 32));
}

#[test]
fn hardware_events_count_or_say_why_not() {
    let events =
        ["cycles", "instructions", "branch-misses", "task-clock"].map(|name| Event::parse(name).unwrap());
    let info = probe();
    eprintln!("{info:?}");
    if info.pmu_available == 0 {
        skipped(&format!("no hardware counters: {}", info.explanation()));
        assert!(!info.explanation().is_empty());
        let error = Session::create(&SessionOptions::default(), &events).unwrap_err();
        assert_eq!(error.event_index(), 0);
        assert!(error.message().starts_with("Hardware:CpuCycles: "), "{error}");
        // Leniently, the events that can be counted are counted.
        let mut session = create(SESSION_SKIP_UNAVAILABLE, &events);
        // This much work takes more than 50 µs on the CPU, whoever else wants it.
        work::add_chain_256(10_000);
        session.read(ReadMode::Auto).unwrap();
        session.record(true).unwrap();
        assert!(readings(&session, true)[3].value >= 50_000);
        assert!(
            readings(&session, true)[..3].iter().all(|reading| reading.status != 0 && reading.value == 0)
        );
        assert_eq!(total(&session, 3), 1);
        let skipped = session.histogram(0).map(drop).unwrap_err();
        assert_eq!((skipped.status(), skipped.event_index()), (error.status(), 0));
        return;
    }
    let mut session = create(0, &events);
    work::add_chain_256(10_000);
    let reading = read(&mut session);
    assert!(reading[1].status != 0 || reading[1].value >= 2_560_000, "{reading:?}");
}

#[test]
fn a_pmu_beside_the_core_takes_a_separate_group_or_explains() {
    on_a_busy_machine(|| {
        let Ok(tsc) = Event::parse("msr/tsc/") else { return skipped("this machine has no msr PMU") };
        let cell = Cell::new();
        let options = SessionOptions { flags: SESSION_SKIP_UNAVAILABLE, ..SessionOptions::default() };
        let mut session = Session::create(&options, &[watch(&cell), tsc]).unwrap();
        let info = session.event_info(1).unwrap();
        if info.status != 0 {
            return skipped(&format!("msr/tsc/: {}", info.message()));
        }
        assert!(info.message().contains("counts everywhere"), "{info:?}");
        common::busy(1_000_000);
        session.read(ReadMode::Auto).unwrap();
        let hertz = Clock::Tsc.frequency();
        if hertz == Clock::Monotonic.frequency() {
            return skipped("the TSC is not used here");
        }
        let reading = readings(&session, true)[1];
        let expected =
            Clock::Monotonic.convert(reading.time_running, TimeUnit::Nanos) as f64 * hertz as f64 / 1e9;
        assert!((reading.value as f64 / expected - 1.0).abs() < 0.05, "{reading:?}, expected {expected}");
    });
}

#[test]
fn a_pmu_of_the_package_reports_that_it_counts_whole_cpus() {
    let Ok(energy) = Event::parse("power/energy-pkg/").or(Event::parse("power/energy-psys/")) else {
        return skipped("this machine has no power PMU");
    };
    assert_eq!(energy.unit(), "Joules");
    assert!(energy.scale > 0.0 && energy.scale < 1.0);
    let error = Session::create(&SessionOptions::default(), &[energy]).unwrap_err();
    if error.os_errno() != libc::EINVAL {
        return skipped(&format!("the power PMU refuses in another way: {error}"));
    }
    let options = SessionOptions { flags: SESSION_ON_CPU, thread: -1, cpu: 0, ..SessionOptions::default() };
    match Session::create(&options, &[energy]) {
        Ok(_) => assert!(error.message().contains("ON_CPU, thread -1"), "{error}"),
        Err(refused) => skipped(&format!("the power PMU cannot be used here: {refused}")),
    }
}

/// Repeats a test of times, because another process may take the CPU between two looks at a clock.
fn on_a_busy_machine(test: fn()) {
    if (0..4).all(|_| std::panic::catch_unwind(test).is_err()) {
        test();
    }
}
