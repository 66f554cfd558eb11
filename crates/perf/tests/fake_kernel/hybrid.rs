//! CPUs with two kinds of core: generic events are counted on both, and added up before they are scaled.

use crate::fake::*;
use picollo_native::*;
use picollo_perf::seam::SessionOn;
use picollo_perf::*;
use std::cell::Cell;
use std::rc::Rc;

const DEVICES: &str = "/sys/bus/event_source/devices";

fn machine() -> Fake {
    let fake = Fake::new();
    fake.device("cpu_core");
    fake.device("cpu_atom");
    fake.file(&format!("{DEVICES}/cpu_core/type"), "4\n");
    fake.file(&format!("{DEVICES}/cpu_atom/type"), "10\n");
    fake
}

#[test]
fn one_group_for_each_kind_of_core() {
    let fake = machine();
    let session = create(&fake, 0, &["cycles", "instructions", "page-faults"]).unwrap();
    let opened: Vec<(u64, i32)> =
        fake.events().iter().map(|event| (event.open.attr.config, event.leader)).collect();
    // cycles on both, instructions on both, and the software event beside the first.
    assert_eq!(
        opened,
        [(4 << 32, 100), (10 << 32, 101), (4 << 32 | 1, 100), (10 << 32 | 1, 101), (2, 100)],
        "{:?}",
        fake.opens()
    );
    assert_eq!(session.length().unwrap(), 3);
    // The session reports what was requested.
    assert_eq!(session.event(0).unwrap().config, 0);
    drop(session);
    assert_eq!(fake.open_descriptors(), 0);
}

#[test]
fn counts_and_times_are_added_up_and_scaled_once() {
    let fake = machine();
    let mut session = create(&fake, 0, &["cycles"]).unwrap();
    // Events count by their order: the second part counts twice as much.
    let here = Rc::new(Cell::new(4u64));
    let kind = here.clone();
    let state: std::cell::RefCell<[(u64, u64); 2]> = Default::default();
    let last: std::cell::RefCell<[Option<(u64, u64)>; 2]> = Default::default();
    fake.distort(move |fd, answer| {
        let part = (fd - 100) as usize;
        let (mut state, mut last) = (state.borrow_mut(), last.borrow_mut());
        let (value, running) = (answer[3], answer[2]);
        let before = last[part].unwrap_or((value, running));
        last[part] = Some((value, running));
        if (kind.get() == 4) == (part == 0) {
            state[part].0 += value - before.0;
            state[part].1 += running - before.1;
        }
        (answer[3], answer[2]) = (5000 + state[part].0, 5000 + state[part].1);
        Ok(answer.len() * 8)
    });
    session.reset().unwrap();
    let core = after(&fake, &mut session, 100, 1000, 1000)[0];
    assert_eq!((core.raw, core.value, core.flags, core.status), (100, 100, 0, 0));
    assert_eq!((core.time_enabled, core.time_running), (1000, 1000));
    // Half of the time on each, without a read in between: the parts run alternately, and nothing is counted twice.
    here.set(10);
    let atom = after(&fake, &mut session, 100, 1000, 1000)[0];
    assert_eq!((atom.raw, atom.value, atom.flags), (200, 200, 0));
    let all = readings(&session, false)[0];
    assert_eq!((all.raw, all.value, all.flags), (300, 300, 0));
    assert_eq!((all.time_enabled, all.time_running), (2000, 2000));
    // Multiplexed on its own PMU: scaled once.
    let half = after(&fake, &mut session, 100, 1000, 500)[0];
    assert_eq!((half.raw, half.value, half.flags), (200, 400, READING_SCALED));
    session.record(true).unwrap();
}

#[test]
fn an_event_that_one_kind_of_core_lacks() {
    let fake = machine();
    fake.refuse(|open| if open.attr.config >> 32 == 4 { Err(libc::ENOENT) } else { Ok(()) });
    let mut session = create(&fake, 0, &["branch-misses"]).unwrap();
    let info = session.event_info(0).unwrap();
    assert!(info.status == 0 && info.message().contains("1 of the 2 kinds of core"), "{}", info.message());
    assert_eq!(after(&fake, &mut session, 7, 10, 10)[0].value, 7);
    drop(session);
    // An event that all of them lack.
    fake.refuse(|_| Err(libc::ENOENT));
    let error = create(&fake, 0, &["cycles", "branch-misses"]).unwrap_err();
    assert_eq!((error.status(), error.event_index()), (Status::NoSuchEvent, 0));
    assert_eq!(fake.open_descriptors(), 0);
}

#[test]
fn one_named_pmu_and_too_many_parts() {
    // An event that names one PMU is opened only there.
    let fake = machine();
    let event = Event::parse_with(&&fake, "cycles").unwrap();
    let named = Event { config: 10 << 32, ..event };
    let session = SessionOn::with_sys(&fake, &SessionOptions::default(), &[named]).unwrap();
    assert_eq!(fake.open_descriptors(), 1);
    drop(session);
    // There is no room for so many parts: the machine chooses, as on any other.
    let fake = machine();
    let session = create(&fake, 0, &["cycles"; 40]).unwrap();
    assert_eq!(fake.open_descriptors(), 40);
    drop(session);
}

/// Arm before Linux 6.6 refuses generic events that name a PMU, and counts the plain ones on one kind of core.
#[test]
fn a_kernel_that_cannot_select_a_kind_of_core() {
    for errno in [libc::EINVAL, libc::ENOENT, libc::EOPNOTSUPP] {
        for flags in [0, SESSION_SKIP_UNAVAILABLE, SESSION_PINNED] {
            let fake = machine();
            fake.refuse(move |open| if open.attr.config >> 32 != 0 { Err(errno) } else { Ok(()) });
            let mut session = create(&fake, flags, &["cycles", "instructions", "page-faults"]).unwrap();
            let opened: Vec<(u64, i32)> =
                fake.events().iter().map(|event| (event.open.attr.config, event.leader)).collect();
            assert_eq!(opened, [(0, 100), (1, 100), (2, 100)], "{:?}", fake.opens());
            for index in 0..3 {
                let info = session.event_info(index).unwrap();
                assert_eq!((info.status, info.group, info.flags), (0, 0, 0), "{info:?}");
                assert_eq!(info.message().contains("one kind of core only"), index < 2, "{info:?}");
            }
            assert_eq!(values(&after(&fake, &mut session, 7, 10, 10)), [7, 14, 21]);
            drop(session);
            assert_eq!(fake.open_descriptors(), 0);
        }
    }
    // The error is the one for the plain event.
    let fake = machine();
    fake.refuse(|open| Err(if open.attr.config >> 32 != 0 { libc::EINVAL } else { libc::EACCES }));
    let error = create(&fake, 0, &["cycles"]).unwrap_err();
    assert_eq!((error.status(), error.event_index()), (Status::Permission, 0));
}

/// The remarks about an event's second part are reported.
#[test]
fn flags_and_messages_of_all_parts() {
    // Everything is as requested: no remarks.
    let fake = machine();
    let session = create(&fake, 0, &["cycles", "instructions"]).unwrap();
    assert!((0..2).all(|index| session.event_info(index).unwrap().message().is_empty()));
    drop(session);
    // The kernel may be counted on one kind of core only.
    fake.refuse(|open| {
        let denied = open.attr.config >> 32 == 10 && open.attr.flags & EXCLUDE_KERNEL == 0;
        if denied { Err(libc::EACCES) } else { Ok(()) }
    });
    let session = create(&fake, SESSION_KERNEL | SESSION_SKIP_UNAVAILABLE, &["cycles"]).unwrap();
    let info = session.event_info(0).unwrap();
    assert_eq!((info.status, info.flags), (0, EVENT_INFO_USER_ONLY));
    assert!(info.message().contains("on another kind of core: counted in user space only"), "{info:?}");
    drop(session);
    // Only one group is pinned.
    let fake = machine();
    let session = create(&fake, SESSION_PINNED, &["cycles"]).unwrap();
    let info = session.event_info(0).unwrap();
    assert_eq!((info.status, info.flags, info.group), (0, EVENT_INFO_UNPINNED, 0));
    assert!(info.message().contains("on another kind of core: not pinned"), "{info:?}");
    drop(session);
    // There is no room beside the first on one kind of core.
    let fake = machine();
    fake.refuse(|open| {
        let full = open.attr.config >> 32 == 10 && open.group >= 0;
        if full { Err(libc::EINVAL) } else { Ok(()) }
    });
    let session = create(&fake, 0, &["cycles", "instructions"]).unwrap();
    assert_eq!(session.event_info(0).unwrap().message(), "");
    let info = session.event_info(1).unwrap();
    assert!(info.message().contains("on another kind of core: not in the first group"), "{info:?}");
}

/// An error of a part is an error of its event.
#[test]
fn errors_of_parts() {
    let fake = machine();
    let mut session = create(&fake, 0, &["page-faults", "cycles"]).unwrap();
    // The software event leads, with the first part of cycles. The second part is alone, as it should be.
    assert_eq!(session.event_info(1).unwrap().message(), "");
    let second = fake.events().iter().position(|event| event.open.attr.config == 10 << 32).unwrap();
    fake.distort(
        move |fd, answer| if fd == 100 + second as i32 { Err(libc::EIO) } else { Ok(answer.len() * 8) },
    );
    let error = session.read(ReadMode::Auto).unwrap_err();
    assert_eq!((error.os_errno(), error.event_index()), (libc::EIO, 1), "{:?}", fake.opens());
    assert!(error.message().contains("CpuCycles"), "{error}");
}
