//! Readings on a kernel that answers oddly on purpose: what must not be believed, and what must be tolerated.

use crate::fake::*;
use picollo_native::*;
use picollo_perf::seam::SessionOn;
use picollo_perf::*;

#[test]
fn interrupted_calls_are_repeated() {
    let fake = Fake::refusing(|open| match open.number {
        0 | 3 => Err(libc::EINTR),
        1 => Err(libc::EAGAIN),
        _ => Ok(()),
    });
    let mut session = create(&fake, 0, &["cycles", "instructions"]).unwrap();
    let mut calls = 0;
    fake.distort(move |_, answer| {
        calls += 1;
        match calls % 3 {
            1 => Err(libc::EINTR),
            2 => Err(libc::EAGAIN),
            _ => Ok(answer.len() * 8),
        }
    });
    assert_eq!(after(&fake, &mut session, 1, 1, 1)[0].value, 1);
    // But not forever.
    fake.distort(|_, _| Err(libc::EINTR));
    let error = session.read(ReadMode::Auto).unwrap_err();
    assert_eq!((error.status(), error.os_errno()), (Status::Os, libc::EINTR));
    let fake = Fake::refusing(|_| Err(libc::EAGAIN));
    let error = create(&fake, 0, &["cycles"]).unwrap_err();
    assert!(error.message().contains("try again"), "{error}");
}

/// Every way in which an answer can be wrong is an error that changes nothing.
#[test]
fn answers_are_checked() {
    type Distortion = fn(i32, &mut Vec<u64>) -> std::result::Result<usize, i32>;
    let wrong: [(&str, Distortion); 9] = [
        ("short", |_, answer| Ok(answer.len() * 8 - 8)),
        ("one byte short", |_, answer| Ok(answer.len() * 8 - 1)),
        ("header only", |_, _| Ok(24)),
        ("one event less", |_, answer| {
            answer[0] -= 1;
            Ok(answer.len() * 8)
        }),
        ("one event more", |_, answer| {
            answer[0] += 1;
            answer.extend([1, 2]);
            Ok(answer.len() * 8)
        }),
        ("a foreign id", |_, answer| {
            answer[4] += 1;
            Ok(answer.len() * 8)
        }),
        ("an id cut to 32 bits", |_, answer| {
            answer[6] &= 0xffff_ffff;
            Ok(answer.len() * 8)
        }),
        ("an id twice", |_, answer| {
            answer[6] = answer[4];
            Ok(answer.len() * 8)
        }),
        ("an error", |_, _| Err(libc::EBADF)),
    ];
    for (what, distortion) in wrong {
        let fake = Fake::new();
        let mut session = create(&fake, 0, &["cycles", "instructions", "branches"]).unwrap();
        fake.pass(3, 10, 10);
        session.read(ReadMode::Auto).unwrap();
        session.record(true).unwrap();
        let before = (readings(&session, true), readings(&session, false));
        fake.pass(3, 10, 10);
        fake.distort(distortion);
        let error = session.read(ReadMode::Auto).unwrap_err();
        assert_eq!((error.status(), error.event_index()), (Status::Os, 0), "{what}: {error}");
        assert_ne!(error.os_errno(), 0, "{what}");
        assert!(error.message().contains("Hardware:CpuCycles"), "{what}: {error}");
        assert_eq!((readings(&session, true), readings(&session, false)), before, "{what}");
        assert_eq!(session.record(true).unwrap_err().status(), Status::Empty, "{what}");
        session.reset().unwrap_err();
        assert_eq!(readings(&session, false), before.1, "{what}");
        fake.state().distort = None;
        assert_eq!(read(&mut session)[2].value, 9, "{what}");
    }
}

#[test]
fn answers_in_any_order() {
    let fake = Fake::new();
    let mut session = create(&fake, 0, &["cycles", "instructions", "branches", "branch-misses"]).unwrap();
    for rotation in 0..4 {
        fake.distort(move |_, answer| {
            answer[3..].rotate_left(2 * rotation);
            Ok(answer.len() * 8)
        });
        assert_eq!(values(&after(&fake, &mut session, 1, 1, 1)), [1, 2, 3, 4]);
    }
}

#[test]
fn silent_pmus_are_marked() {
    // The fake's counters stand still while the library works. As far as it can see, they are enabled and not running.
    let fake = Fake::new();
    let session = create(&fake, 0, &["cycles", "page-faults"]).unwrap();
    let info = session.event_info(0).unwrap();
    assert_eq!(info.flags & EVENT_INFO_SILENT, EVENT_INFO_SILENT);
    assert!(info.message().contains("nmi_watchdog"), "{info:?}");
    assert_eq!(session.event_info(1).unwrap().flags, 0);
    // Running, but counting nothing.
    let fake = Fake::new();
    let mut time = 0;
    fake.distort(move |_, answer| {
        time += 100;
        answer[1] += time;
        answer[2] += time;
        Ok(answer.len() * 8)
    });
    let session = create(&fake, 0, &["cycles", "branch-misses"]).unwrap();
    assert!(session.event_info(0).unwrap().message().contains("does not count"));
    assert_eq!(session.event_info(0).unwrap().flags, EVENT_INFO_SILENT);
    // Perhaps no branch is mispredicted, but cycles always pass.
    assert_eq!(session.event_info(1).unwrap().flags, 0);
    // Counting.
    let fake = Fake::new();
    let mut time = 0;
    fake.distort(move |_, answer| {
        time += 100;
        (1..=3).for_each(|word| answer[word] += time);
        Ok(answer.len() * 8)
    });
    let session = create(&fake, 0, &["cycles"]).unwrap();
    assert_eq!(session.event_info(0).unwrap().flags, 0);
}

/// A hand-made event with scale 0 has a scale of 1, and a session reports that.
#[test]
fn a_scale_that_was_left_out_is_one() {
    let fake = Fake::new();
    let [cycles, instructions] = events(&["cycles", "instructions"])[..] else { panic!() };
    let by_hand = [Event { scale: 0.0, ..cycles }, Event { scale: 0.5, ..instructions }];
    let mut session = SessionOn::with_sys(&fake, &SessionOptions::default(), &by_hand).unwrap();
    assert_eq!([0, 1].map(|index| session.event(index).unwrap().scale), [1.0, 0.5]);
    assert_eq!([-0.0, -2.0].map(|scale| Event { scale, ..cycles }.worth()), [1.0, -2.0]);
    fake.pass(10, 100, 100);
    session.read(ReadMode::Auto).unwrap();
    // Readings are counts, whatever the value of a count.
    let found = readings(&session, true);
    assert_eq!([found[0].value, found[1].value], [10, 20]);
    session.record(true).unwrap();
    let error = session.event(2).unwrap_err();
    assert_eq!(error.status(), Status::InvalidArgument);
}
