//! Pinned groups: what happens to them if the PMU has no room, at once or later, and whom they count afterwards.

use crate::fake::*;
use picollo_native::*;
use picollo_perf::seam::SessionOn;
use picollo_perf::*;

const PAIR: [&str; 2] = ["cycles", "instructions"];
const NOT_COUNTED: i32 = Status::NotCounted.code();

/// Status and value of the first event.
fn status_and_value(readings: &[Reading]) -> (i32, u64) {
    (readings[0].status, readings[0].value)
}

/// The same in the last delta.
fn first(session: &SessionOn<&Fake>) -> (i32, u64) {
    status_and_value(&readings(session, true))
}

/// Runs something on another thread, while this one waits.
fn elsewhere<R: Send>(body: impl FnOnce() -> R) -> R {
    struct Lent<T>(T);
    // SAFETY: the lender waits for the thread to end, so nothing is used by two threads at once.
    unsafe impl<T> Send for Lent<T> {}
    impl<T: FnOnce() -> R, R> Lent<T> {
        fn run(self) -> R {
            self.0()
        }
    }
    let lent = Lent(body);
    std::thread::scope(|scope| scope.spawn(move || lent.run()).join().unwrap())
}

#[test]
fn no_room_at_once_is_opened_again_without() {
    let fake = Fake::new();
    fake.full(true);
    let mut session = create(&fake, SESSION_PINNED, &PAIR).unwrap();
    assert_eq!(
        fake.transcript(),
        [
            "open 0:0x0 dPkh group -1 = 100",
            "open 0:0x1 kh group 100 = 101",
            "enable 100",
            "close 100",
            "close 101",
            "open 0:0x0 dkh group -1 = 102",
            "open 0:0x1 kh group 102 = 103",
            "enable 102",
        ]
    );
    for info in infos(&session) {
        assert_eq!(info.flags & EVENT_INFO_UNPINNED, EVENT_INFO_UNPINNED);
        assert!(info.message().contains("not pinned"), "{info:?}");
    }
    after(&fake, &mut session, 5, 10, 10);
    assert_eq!(readings(&session, true)[1].value, 10);
    drop(session);
    assert_eq!(fake.open_descriptors(), 0);
}

/// Thrown off the PMU later, with room again: one interval is not counted, and the info says why. Then it counts again.
#[test]
fn thrown_off_and_back() {
    for (flags, how) in [(0, ReadMode::Auto), (0, ReadMode::Syscall), (SESSION_INHERIT, ReadMode::Auto)] {
        let fake = Fake::new();
        let mut session = create(&fake, flags | SESSION_PINNED, &PAIR).unwrap();
        assert!(infos(&session).iter().all(|info| info.flags & EVENT_INFO_UNPINNED == 0));
        fake.pass(5, 10, 10);
        session.read(how).unwrap();
        session.record(true).unwrap();
        assert_eq!(first(&session), (0, 5));
        fake.pass(70, 10, 10);
        fake.full(true);
        fake.full(false);
        fake.pass(300, 10, 10);
        session.read(how).unwrap();
        session.record(true).unwrap();
        // The reading is neither zero nor half an interval, and earlier counts remain.
        assert_eq!(first(&session), (NOT_COUNTED, 0));
        assert_eq!((readings(&session, false)[0].status, readings(&session, false)[0].value), (0, 5));
        for info in infos(&session) {
            assert_eq!((info.not_counted_count, info.status), (1, 0));
            assert_eq!(info.flags & EVENT_INFO_UNPINNED, EVENT_INFO_UNPINNED);
            assert!(info.message().contains("pushed off"), "{info:?}");
        }
        for _ in 0..3 {
            fake.pass(7, 10, 10);
            session.read(how).unwrap();
            session.record(true).unwrap();
            assert_eq!(first(&session), (0, 7));
        }
        assert_eq!(readings(&session, false)[0].value, 5 + 3 * 7);
        assert_eq!(readings(&session, false)[1].value, 2 * (5 + 3 * 7));
        assert!(infos(&session).iter().all(|info| info.not_counted_count == 1));
    }
}

/// Thrown off later, without room: opened again without pinning. So is a group that is thrown off a second time.
#[test]
fn thrown_off_for_good() {
    for room in [false, true] {
        let fake = Fake::new();
        let mut session = create(&fake, SESSION_PINNED, &PAIR).unwrap();
        after(&fake, &mut session, 5, 10, 10);
        for _ in 0..2 {
            fake.full(true);
            fake.full(!room);
            session.read(ReadMode::Auto).unwrap();
            if !room {
                break;
            }
        }
        assert_eq!(first(&session), (NOT_COUNTED, 0));
        assert!(fake.events().iter().all(|event| event.open.attr.flags & PINNED == 0), "{:?}", fake.opens());
        for info in infos(&session) {
            assert_eq!(info.flags & EVENT_INFO_UNPINNED, EVENT_INFO_UNPINNED);
            assert!(info.message().contains("not pinned"), "{info:?}");
        }
        // Another descriptor counts from 0, which is not taken for a fall.
        assert_eq!(status_and_value(&after(&fake, &mut session, 7, 10, 10)), (0, 7));
        let all = readings(&session, false)[0];
        assert_eq!((all.value, all.flags & READING_RESYNC), (12, 0));
        drop(session);
        assert_eq!(fake.open_descriptors(), 0);
    }
}

/// A reset finds the group thrown off. It is a base like any other.
#[test]
fn reset_brings_back() {
    let fake = Fake::new();
    let mut session = create(&fake, SESSION_PINNED, &PAIR).unwrap();
    fake.full(true);
    session.reset().unwrap();
    after(&fake, &mut session, 7, 10, 10);
    assert_eq!((first(&session), readings(&session, false)[0].value), ((0, 7), 7));
}

/// A stopped session stays as it is, and reports why nothing was counted.
#[test]
fn stopped_while_thrown_off() {
    let fake = Fake::new();
    let mut session = create(&fake, SESSION_PINNED, &PAIR).unwrap();
    fake.full(true);
    session.disable().unwrap();
    fake.full(false);
    session.read(ReadMode::Auto).unwrap();
    assert_eq!(first(&session), (NOT_COUNTED, 0));
    assert!(session.event_info(0).unwrap().message().contains("pushed off"));
    assert_eq!(status_and_value(&after(&fake, &mut session, 7, 10, 10)), (NOT_COUNTED, 0));
    session.enable().unwrap();
    assert_eq!(status_and_value(&after(&fake, &mut session, 7, 10, 10)), (0, 7));
}

/// A kernel whose threads are known: this one, and 4711.
fn with_threads() -> Fake {
    let fake = Fake::new();
    fake.start_thread(thread_id());
    fake.start_thread(4711);
    fake
}

/// Whoever enables or reads a session, it counts the thread that it was opened for.
#[test]
fn another_thread_opens_again_for_the_opener() {
    let own = thread_id();
    for (flags, thread) in [(0, 0), (0, own), (SESSION_INHERIT, 0), (SESSION_ON_CPU, 0), (0, 4711)] {
        let fake = with_threads();
        let flags = flags | SESSION_PINNED | SESSION_DISABLED;
        let options = SessionOptions { flags, thread, cpu: 1, ..Default::default() };
        let mut session = SessionOn::with_sys(&fake, &options, &events(&PAIR)).unwrap();
        let whom = fake.events()[0].thread;
        assert_eq!(whom, if thread == 0 { own } else { thread });
        // Another thread enables it, and there turns out to be no room.
        fake.full(true);
        elsewhere(|| session.enable().unwrap());
        assert_eq!(fake.events().len(), 2, "{:?}", fake.transcript());
        assert!(
            fake.events().iter().all(|event| event.thread == whom && event.open.attr.flags & PINNED == 0)
        );
        drop(session);

        // Another thread reads it, after it was thrown off.
        let fake = with_threads();
        let mut session = SessionOn::with_sys(&fake, &options, &events(&PAIR)).unwrap();
        session.enable().unwrap();
        fake.full(true);
        elsewhere(|| session.read(ReadMode::Syscall).unwrap());
        assert!(
            fake.events().iter().all(|event| event.thread == whom && event.open.attr.flags & PINNED == 0)
        );
        assert_eq!(status_and_value(&after(&fake, &mut session, 7, 10, 10)), (0, 7));
        drop(session);
        assert_eq!(fake.open_descriptors(), 0);
    }
}

/// The thread has ended, and another one has its id: that one is not counted in its place.
#[test]
fn a_thread_that_took_over_an_id_is_not_counted() {
    let fake = with_threads();
    let options = SessionOptions { flags: SESSION_PINNED, thread: 4711, ..Default::default() };
    let mut session = SessionOn::with_sys(&fake, &options, &events(&PAIR)).unwrap();
    session.disable().unwrap();
    fake.full(true);
    fake.start_thread(4711);
    let error = session.enable().unwrap_err();
    assert_eq!((error.os_errno(), error.event_index()), (libc::ESRCH, 0), "{error}");
    assert!(error.message().contains("4711"), "{error}");
    assert_eq!(fake.open_descriptors(), 0, "{:?}", fake.transcript());
    assert_eq!(read(&mut session)[1].status, error.status().code());

    // The opener itself, as another thread sees it.
    let fake = with_threads();
    let mut session = create(&fake, SESSION_PINNED, &PAIR).unwrap();
    fake.full(true);
    fake.start_thread(thread_id());
    elsewhere(|| session.read(ReadMode::Syscall).unwrap());
    assert!(
        readings(&session, true).iter().all(|reading| reading.status < 0 && reading.status != NOT_COUNTED)
    );
    assert!(infos(&session).iter().all(|info| info.os_errno == libc::ESRCH), "{:?}", infos(&session));
    assert_eq!(fake.open_descriptors(), 0);

    // The other thread gets the id while the events are being opened again.
    for opens in 1..=2 {
        let fake = with_threads();
        let mut session = SessionOn::with_sys(&fake, &options, &events(&PAIR)).unwrap();
        fake.full(true);
        fake.state().ending = Some((opens, 4711));
        session.read(ReadMode::Auto).unwrap();
        assert!(
            infos(&session).iter().all(|info| info.os_errno == libc::ESRCH),
            "{opens}: {:?}",
            infos(&session)
        );
        assert_eq!(fake.open_descriptors(), 0);
    }
}

/// Nothing shows when a thread was started, without `/proc` and with `hidepid`. It has not ended for that.
#[test]
fn a_thread_of_unknown_start_is_still_counted() {
    let options = SessionOptions { flags: SESSION_PINNED, thread: 4711, ..Default::default() };
    let fake = Fake::new();
    fake.full(true);
    let mut session = SessionOn::with_sys(&fake, &options, &events(&PAIR)).unwrap();
    assert!(infos(&session).iter().all(|info| info.flags & EVENT_INFO_UNPINNED != 0));
    assert!(fake.events().iter().all(|event| event.thread == 4711));
    assert_eq!(status_and_value(&after(&fake, &mut session, 7, 10, 10)), (0, 7));
    drop(session);
    // The errors are the kernel's own.
    let fake = Fake::refusing(|open| if open.number >= 2 { Err(libc::EMFILE) } else { Ok(()) });
    fake.full(true);
    let error = SessionOn::with_sys(&fake, &options, &events(&PAIR)).unwrap_err();
    assert_eq!((error.os_errno(), error.event_index()), (libc::EMFILE, 0), "{error}");
    assert_eq!(fake.open_descriptors(), 0);
}

#[test]
fn reopening_that_fails_closes_everything() {
    for refused in 3..5 {
        let fake = Fake::new();
        // The hardware group does not fit; the other group is unaffected.
        fake.full(true);
        fake.refuse(move |open| match open.number {
            _ if open.attr.kind == 9 && open.group >= 0 => Err(libc::EINVAL),
            number if number == refused + 2 => Err(libc::EBUSY),
            _ => Ok(()),
        });
        let mut all = events(&PAIR);
        all.push(Event::new(9, 0));
        let create =
            |flags| SessionOn::with_sys(&fake, &SessionOptions { flags, ..Default::default() }, &all);
        let error = create(SESSION_PINNED).unwrap_err();
        assert_eq!(
            (error.os_errno(), error.event_index()),
            (libc::EBUSY, refused as i32 - 3),
            "{:?}",
            fake.transcript()
        );
        assert_eq!(fake.open_descriptors(), 0);
    }
    // At once, and while reading.
    for at_once in [true, false] {
        let fake = Fake::new();
        fake.full(at_once);
        fake.refuse(|open| match open.number {
            _ if open.attr.kind == 9 && open.group >= 0 => Err(libc::EINVAL),
            5.. if open.attr.kind == 0 => Err(libc::EBUSY),
            _ => Ok(()),
        });
        let mut all = events(&PAIR);
        all.push(Event::new(9, 0));
        let options =
            SessionOptions { flags: SESSION_PINNED | SESSION_SKIP_UNAVAILABLE, ..Default::default() };
        let mut session = SessionOn::with_sys(&fake, &options, &all).unwrap();
        fake.full(true);
        after(&fake, &mut session, 1, 1, 1);
        let errnos: Vec<i32> = infos(&session).iter().map(|info| info.os_errno).collect();
        assert_eq!(errnos, [libc::EBUSY, libc::EBUSY, 0]);
        let statuses: Vec<i32> = readings(&session, true).iter().map(|reading| reading.status).collect();
        assert_eq!(statuses, [Status::Os.code(), Status::Os.code(), 0]);
        session.disable().unwrap();
        session.enable().unwrap();
        drop(session);
        assert_eq!(fake.open_descriptors(), 0);
    }
}
