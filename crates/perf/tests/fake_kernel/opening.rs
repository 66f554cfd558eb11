//! Sessions on a kernel that refuses on purpose: fallbacks in their order, and nothing left open. Flags in transcripts:
//! d disabled, i inherit, P pinned, p precise, and what is excluded: u user, k kernel, h hypervisor, g guest.

use crate::fake::*;
use picollo_native::*;
use picollo_perf::seam::SessionOn;
use picollo_perf::*;

fn is_leader(open: &Open) -> bool {
    open.group < 0
}

#[test]
fn one_group_where_there_is_room() {
    let fake = Fake::new();
    let mut session = create(&fake, 0, &["cycles", "instructions", "page-faults"]).unwrap();
    assert_eq!(
        fake.transcript(),
        [
            "open 0:0x0 dkh group -1 = 100",
            "open 0:0x1 kh group 100 = 101",
            "open 1:0x2 kh group 100 = 102",
            "enable 100"
        ]
    );
    assert_eq!(values(&after(&fake, &mut session, 10, 100, 100)), [10, 20, 30]);
    drop(session);
    assert_eq!(fake.open_descriptors(), 0);
}

#[test]
fn attributes_as_asked_for() {
    let fake = Fake::new();
    let options = SessionOptions {
        flags: SESSION_INHERIT | SESSION_KERNEL | SESSION_ON_CPU,
        thread: 7,
        cpu: 3,
        ..Default::default()
    };
    let mut session = SessionOn::with_sys(&fake, &options, &events(&["cycles", "task-clock:u"])).unwrap();
    let opened = fake.events();
    assert!(opened.iter().all(|event| (event.open.pid, event.open.cpu) == (7, 3)));
    // Inherited events are read one by one.
    assert!(opened.iter().all(|event| event.open.attr.read_format == 7));
    assert_eq!(fake.opens(), ["open 0:0x0 dih group -1 = 100", "open 1:0x1 ikh group 100 = 101"]);
    fake.pass(4, 10, 10);
    session.read(ReadMode::Syscall).unwrap();
    assert_eq!((readings(&session, true)[0].value, readings(&session, true)[1].value), (4, 8));
}

#[test]
fn more_groups_where_the_pmu_is_small() {
    // Two hardware events per group; software events mix with all others.
    let fake = Fake::new();
    let groups = std::rc::Rc::new(std::cell::RefCell::new(std::collections::BTreeMap::new()));
    fake.refuse(move |open| {
        let mut groups = groups.borrow_mut();
        let count: u32 = *groups.get(&open.group).unwrap_or(&1);
        if is_leader(open) || open.attr.kind == 1 {
            return Ok(());
        }
        if count >= 2 {
            return Err(libc::EINVAL);
        }
        groups.insert(open.group, count + 1);
        Ok(())
    });
    let specs = ["cycles", "instructions", "branches", "branch-misses", "page-faults", "cache-misses"];
    let mut session = create(&fake, SESSION_PINNED, &specs).unwrap();
    let infos = infos(&session);
    let groups: Vec<u32> = infos.iter().map(|info| info.group).collect();
    assert_eq!(groups, [0, 0, 1, 1, 0, 2]);
    // Only one group may be pinned. The others report that they are not.
    let unpinned: Vec<u32> = infos.iter().map(|info| info.flags & EVENT_INFO_UNPINNED).collect();
    assert_eq!(unpinned, [0, 0, 2, 2, 0, 2]);
    assert!(
        infos[2].message().contains("not in the first group") && infos[2].message().contains("not pinned"),
        "{:?}",
        infos[2]
    );
    assert!(!infos[0].message().contains("group"), "{:?}", infos[0]);
    assert_eq!(fake.events().iter().filter(|event| event.open.attr.flags & PINNED != 0).count(), 1);
    assert_eq!(values(&after(&fake, &mut session, 1, 10, 10)), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn precision_and_guests_are_given_up_in_this_order() {
    let fake =
        Fake::refusing(
            |open| if open.attr.flags & EXCLUDE_GUEST == 0 { Err(libc::EOPNOTSUPP) } else { Ok(()) },
        );
    create(&fake, SESSION_DISABLED, &["cycles:pp"]).unwrap();
    assert_eq!(
        fake.opens(),
        [
            "open 0:0x0 dkhpp group -1 = errno 95",
            "open 0:0x0 dkh group -1 = errno 95",
            "open 0:0x0 dkhg group -1 = 100",
        ]
    );
    // If nothing helps, the first answer is the one to explain.
    let fake = Fake::refusing(|open| Err(if open.number == 0 { libc::EOPNOTSUPP } else { libc::EBUSY }));
    let error = create(&fake, 0, &["cycles:p"]).unwrap_err();
    assert_eq!((error.status(), error.os_errno()), (Status::Unsupported, libc::EOPNOTSUPP));
    // A refusal of another kind is final.
    let fake = Fake::refusing(|_| Err(libc::EBUSY));
    create(&fake, 0, &["cycles:pp"]).unwrap_err();
    assert_eq!(fake.opens().len(), 1);
}

#[test]
fn exclusion_is_given_up_for_pmus_beside_the_core_only() {
    let refuse = |open: &Open| {
        let excludes = open.attr.flags & (EXCLUDE_KERNEL | EXCLUDE_HV) != 0;
        if excludes || !is_leader(open) { Err(libc::EINVAL) } else { Ok(()) }
    };
    let fake =
        Fake::refusing(move |open| if open.attr.kind < 6 && is_leader(open) { Ok(()) } else { refuse(open) });
    let msr = Event::new(9, 0);
    let all = [events(&["page-faults"])[0], msr];
    let session = SessionOn::with_sys(&fake, &SessionOptions::default(), &all).unwrap();
    assert_eq!(
        fake.opens(),
        [
            "open 1:0x2 dkh group -1 = 100",
            "open 9:0x0 kh group 100 = errno 22",
            "open 9:0x0  group 100 = errno 22",
            "open 9:0x0 dkh group -1 = errno 22",
            "open 9:0x0 d group -1 = 101",
        ]
    );
    let info = session.event_info(1).unwrap();
    assert!(info.message().contains("counts everywhere"), "{info:?}");
    // The CPU's own events are not quietly counted in the kernel.
    let fake = Fake::refusing(refuse);
    let error = create(&fake, 0, &["cycles"]).unwrap_err();
    assert!(error.message().contains("the choice of rings"), "{error}");
    assert_eq!(fake.open_descriptors(), 0);
    // If not everybody may count everywhere, that is the error to report.
    let fake = Fake::refusing(|open| {
        Err(if open.attr.flags & EXCLUDE_KERNEL != 0 { libc::EINVAL } else { libc::EACCES })
    });
    let error = SessionOn::with_sys(&fake, &SessionOptions::default(), &[msr]).unwrap_err();
    assert_eq!((error.status(), error.os_errno()), (Status::Permission, libc::EACCES));
    assert!(error.message().contains("cannot leave the kernel out"), "{error}");
}

#[test]
fn kernel_counting_denied() {
    let fake = Fake::refusing(only_user_space);
    let error = create(&fake, SESSION_KERNEL, &["page-faults:u", "cycles"]).unwrap_err();
    assert_eq!(
        (error.status(), error.os_errno(), error.event_index()),
        (Status::Permission, libc::EACCES, 1)
    );
    assert!(error.message().contains("perf_event_paranoid=1"), "{error}");
    assert_eq!(fake.open_descriptors(), 0);
    let session =
        create(&fake, SESSION_KERNEL | SESSION_SKIP_UNAVAILABLE, &["cycles", "page-faults:u", "cycles:k"])
            .unwrap();
    let infos = infos(&session);
    assert_eq!(infos[0].flags & !EVENT_INFO_SILENT, EVENT_INFO_USER_ONLY);
    assert!(infos[0].message().contains("user space only"));
    assert_eq!((infos[1].flags, infos[1].status), (0, 0));
    // A request for the kernel alone does not get user space instead.
    assert_eq!((infos[2].flags, infos[2].status), (0, Status::Permission.code()));
    // A clock reads the same without the right, so nothing is reported missing.
    let session = create(&fake, SESSION_KERNEL, &["task-clock", "cpu-clock"]).unwrap();
    for index in 0..2 {
        let info = session.event_info(index).unwrap();
        assert_eq!((info.flags & !EVENT_INFO_SILENT, info.status, info.message()), (0, 0, ""));
    }
}

#[test]
fn what_happens_in_the_kernel_is_never_read_as_zero() {
    // With the right, these events are counted in the kernel, and only they.
    let fake = Fake::new();
    create(
        &fake,
        0,
        &["context-switches", "cpu-migrations", "cgroup-switches", "page-faults", "context-switches:u"],
    )
    .unwrap();
    let kernel: Vec<bool> =
        fake.opens().iter().map(|line| !line.split(' ').nth(2).unwrap().contains('k')).collect();
    assert_eq!(kernel, [true, true, true, false, true]);

    // Without it, other sources replace them, if there are any.
    let fake = Fake::refusing(only_user_space);
    fake.state().switches = 40;
    let mut session = create(&fake, 0, &["page-faults", "context-switches"]).unwrap();
    let info = session.event_info(1).unwrap();
    assert_eq!((info.flags, info.status, info.group), (EVENT_INFO_SUBSTITUTED, 0, u32::MAX));
    fake.state().switches = 47;
    let reading = after(&fake, &mut session, 1, 1, 1)[1];
    assert_eq!(
        (reading.value, reading.status, reading.time_enabled, reading.time_running),
        (7, 0, 7000, 7000)
    );
    session.disable().unwrap();
    fake.state().switches = 60;
    assert_eq!(read(&mut session)[1].status, Status::NotCounted.code());
    session.enable().unwrap();
    fake.state().switches = 61;
    session.read(ReadMode::Auto).unwrap();
    assert_eq!((readings(&session, true)[1].value, readings(&session, false)[1].value), (1, 1));

    // If there are no other sources, there is an explanation.
    for (spec, flags) in
        [("cpu-migrations", 0), ("cgroup-switches", 0), ("context-switches", SESSION_INHERIT)]
    {
        let error = create(&fake, flags, &[spec]).unwrap_err();
        assert_eq!(error.status(), Status::Permission, "{spec}");
        assert!(error.message().contains("counting in the kernel needs"), "{error}");
    }
    // The kernel's own file counts migrations.
    let thread =
        std::fs::read_link("/proc/thread-self").unwrap().file_name().unwrap().to_str().unwrap().to_string();
    let file =
        |count| format!("x (1, #threads: 1)\n-----\nse.nr_migrations   :   {count}\nnr_switches : 9\n");
    let path = format!("/proc/{thread}/sched");
    fake.file(&path, &file(5));
    let mut session = create(&fake, 0, &["cpu-migrations"]).unwrap();
    fake.file(&path, &file(8));
    fake.state().switches = 70;
    assert_eq!(read(&mut session)[0].value, 3);
    // If a thread has ended, that is not an error of the other events.
    fake.state().files.remove(&path);
    assert_eq!(read(&mut session)[0].status, Status::NotCounted.code());
}

/// The kernel's own files name a thread by its id, which another thread gets when it ends.
#[test]
fn a_substitute_counts_its_own_thread_only() {
    let fake = Fake::refusing(only_user_space);
    let switched = |count: u64| {
        let status = format!("voluntary_ctxt_switches:\t{count}\nnonvoluntary_ctxt_switches:\t0\n");
        fake.file("/proc/4711/status", &status);
    };
    fake.start_thread(4711);
    switched(5);
    fake.state().switches = 1;
    let options = SessionOptions { thread: 4711, ..Default::default() };
    let mut session = SessionOn::with_sys(&fake, &options, &events(&["context-switches"])).unwrap();
    switched(8);
    fake.state().switches = 2;
    session.read(ReadMode::Auto).unwrap();
    assert_eq!((readings(&session, true)[0].status, readings(&session, true)[0].value), (0, 3));
    fake.start_thread(4711);
    switched(80);
    fake.state().switches = 3;
    assert_eq!(read(&mut session)[0].status, Status::NotCounted.code());
    assert_eq!(readings(&session, false)[0].value, 3);
}

#[test]
fn tracepoints_are_not_asked_to_leave_the_kernel_out() {
    let fake = Fake::new();
    fake.file("/sys/kernel/tracing/events/sched/sched_switch/id", "314\n");
    let event = Event::parse_with(&&fake, "sched:sched_switch").unwrap();
    assert_eq!((event.r#type, event.config, event.name()), (2, 314, "Tracepoint:sched:sched_switch"));
    SessionOn::with_sys(&fake, &SessionOptions::default(), &[event]).unwrap();
    assert_eq!(fake.opens(), ["open 2:0x13a dh group -1 = 100"]);
}

/// Whatever is refused, at whichever step, nothing stays open, and the error names the event at fault.
#[test]
fn nothing_leaks() {
    let specs = ["cycles", "instructions", "page-faults", "branches"];
    for failing in 0..4 {
        for errno in [libc::EMFILE, libc::ENOENT, libc::EINVAL, libc::ENOSPC, libc::ENOMEM] {
            let fake = Fake::new();
            let config = events(&specs)[failing].config;
            let kind = events(&specs)[failing].r#type;
            fake.refuse(move |open| {
                if (open.attr.kind, open.attr.config) == (kind, config) { Err(errno) } else { Ok(()) }
            });
            let error = create(&fake, 0, &specs).unwrap_err();
            assert_eq!((error.event_index(), error.os_errno()), (failing as i32, errno));
            assert_eq!(fake.open_descriptors(), 0);
            let session = create(&fake, SESSION_SKIP_UNAVAILABLE, &specs).unwrap();
            for index in 0..4 {
                let info = session.event_info(index).unwrap();
                assert_eq!(info.os_errno, if index == failing { errno } else { 0 });
                assert_eq!(info.status != 0, index == failing);
                // An empty histogram would look like a measurement.
                let histogram = session.histogram(index).map(drop).map_err(|error| error.os_errno());
                assert_eq!(histogram, if index == failing { Err(errno) } else { Ok(()) });
            }
        }
        let fake = Fake::new();
        fake.state().failing_ids.insert(failing);
        let error = create(&fake, 0, &specs).unwrap_err();
        assert_eq!((error.event_index(), error.os_errno()), (failing as i32, libc::ENOTTY));
        assert_eq!(fake.open_descriptors(), 0);
    }
}

#[test]
fn a_session_that_cannot_start_does_not_count() {
    let fake = Fake::new();
    fake.state().failing_ioctls.insert(0x2400);
    let error = create(&fake, 0, &["cycles"]).unwrap_err();
    assert_eq!((error.status(), error.os_errno(), error.event_index()), (Status::Os, libc::EIO, 0));
    assert!(error.message().contains("could not be started"), "{error}");
    assert_eq!(fake.open_descriptors(), 0);
    // Nor can a session whose base cannot be read.
    let fake = Fake::new();
    let mut session = create(&fake, SESSION_DISABLED, &["cycles"]).unwrap();
    fake.distort(|_, _| Err(libc::EIO));
    session.enable().unwrap_err();
    assert!(!fake.events()[0].counting);
    fake.state().failing_ioctls.insert(0x2401);
    assert!(session.disable().unwrap_err().message().contains("could not be stopped"));
}
