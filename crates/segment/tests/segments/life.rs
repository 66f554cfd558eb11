//! Who writes, who ends, and what is left.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use picollo_core::Options;
use picollo_native::*;
use picollo_segment::*;

use crate::common::system::mounts;
use crate::common::{named, skipped};
use crate::setting::*;

pub const TESTS: &[(&str, fn())] = named![
    a_child_begins_with_the_pages_that_there_are,
    children_forked_beside_an_attach_go_on,
    attached_by_path,
    an_orderly_end_removes_the_file,
    a_crash_leaves_the_file,
    workers_outlive_the_maker,
    directories_of_others_are_refused,
    only_the_owner_may_open_files,
    disks_are_refused,
    a_full_file_system_is_an_error,
    a_small_control_group_is_an_error,
    descriptors_may_all_be_closed,
];

/// If the kernel can do that, a record in a child waits for no page.
fn a_child_begins_with_the_pages_that_there_are() {
    let segment = small("pages");
    let histogram = open(segment, "x");
    let memory = std::ptr::from_ref(&histogram).cast::<usize>();
    // SAFETY: a handle is one pointer, to the header.
    let page = unsafe { memory.read() } & !4095;
    let is_at_hand = || {
        let mut entry = [0; 8];
        let map = std::fs::File::open("/proc/self/pagemap").unwrap();
        std::os::unix::fs::FileExt::read_exact_at(&map, &mut entry, (page / 4096 * 8) as u64).unwrap();
        u64::from_ne_bytes(entry) >> 63 == 1
    };
    // SAFETY: a page of the mapping; the call only asks.
    let can = unsafe { libc::madvise(page as *mut libc::c_void, 4096, 23) } == 0;
    if !can {
        return skipped("pages at hand: this kernel has none");
    }
    in_child(|| assert!(is_at_hand()));
}

/// Whatever another thread of the parent was doing, a child can use segments.
fn children_forked_beside_an_attach_go_on() {
    // Among many, finding one takes a while.
    let segments: Vec<Segment> = (0..200).map(|at| small(&format!("beside{at}"))).collect();
    let path = segments[0].path();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                Segment::attach(path).unwrap();
            }
        });
        let all_well = (0..300).all(|_| {
            let child = start(|| {
                // SAFETY: a number. The alarm ends a child that hangs.
                unsafe { libc::alarm(60) };
                Segment::attach(path).unwrap();
                small("own");
            });
            wait(child) == 0
        });
        done.store(true, Ordering::Relaxed);
        assert!(all_well);
    });
}

fn attached_by_path() {
    let segment = small("attached");
    // SAFETY: this program has one thread.
    unsafe { std::env::set_var("PICOLLO_SEGMENT", segment.path()) };
    for by_environment in [false, true] {
        let path = if by_environment { Path::new("") } else { segment.path() };
        in_child(|| {
            // Not through the inherited mapping: the file has one mapping in a process.
            let attached = Segment::attach(path).unwrap();
            assert_eq!(attached.path(), segment.path());
            open(attached, "x").record_n(9, 3);
        });
    }
    // SAFETY: as above.
    unsafe { std::env::remove_var("PICOLLO_SEGMENT") };
    assert_eq!(refusal(Segment::attach(Path::new(""))), Status::InvalidArgument);
    assert_eq!(total(segment.path(), 0), 6);
}

fn an_orderly_end_removes_the_file() {
    let ends = |body: &dyn Fn()| {
        let child = start(|| {
            body();
            std::process::exit(0);
        });
        assert_eq!(wait(child), 0);
        files().len()
    };
    assert_eq!(ends(&|| _ = small("ends")), 0);
    let kept = ends(&|| {
        let options = SegmentOptions { keep: true, ..called("kept") };
        Segment::create(&options).unwrap();
    });
    assert_eq!(kept, 1, "asked to be kept");
    assert_eq!(ends(&|| _ = small("kept")), 0, "the next one removes it");
    // A worker's end removes nothing, nor does the end of a process that has workers.
    let segment = small("parent");
    in_child(|| std::process::exit(0));
    assert_eq!(ends(&|| _ = segment), 1);
}

fn a_crash_leaves_the_file() {
    // `start` ends children without cleaning up.
    in_child(|| {
        let segment = small("crashed");
        open(segment, "x").record_n(1, 42);
    });
    let listed = list_segments();
    let [one] = &listed[..] else { panic!("{listed:?}") };
    let info = one.info.as_ref().unwrap();
    assert_eq!((info.name.as_str(), info.is_live), ("crashed", false));
    assert_eq!(total(&one.path, 0), 42, "what it had recorded is there");
    let live = small("crashed-not");
    assert_eq!(prune_segments(Duration::from_secs(3600)).unwrap(), Vec::<std::path::PathBuf>::new());
    assert_eq!(prune_segments(Duration::ZERO).unwrap(), std::slice::from_ref(&one.path));
    assert!(live.path().exists() && !one.path.exists());
    // A file that was begun and never named.
    std::fs::write(directory().join(".crashed.1.2.abc"), "").unwrap();
    assert_eq!(prune_segments(Duration::ZERO).unwrap().len(), 1);
}

fn workers_outlive_the_maker() {
    let mut pipe = [0; 2];
    // SAFETY: room for two descriptors.
    assert_eq!(unsafe { libc::pipe(pipe.as_mut_ptr()) }, 0);
    let maker = start(|| {
        let segment = small("outlived");
        let histogram = open(segment, "x");
        start(|| {
            let mut byte = 0u8;
            // SAFETY: a live variable. The read waits until the test closes the pipe.
            unsafe { libc::close(pipe[1]) };
            // SAFETY: as above.
            unsafe { libc::read(pipe[0], (&raw mut byte).cast(), 1) };
            histogram.record(1);
        });
        std::process::exit(0);
    });
    assert_eq!(wait(maker), 0);
    let listed = list_segments();
    assert_eq!(listed.len(), 1);
    assert!(listed[0].info.as_ref().unwrap().is_live, "the worker has it");
    assert_eq!(prune_segments(Duration::ZERO).unwrap().len(), 0);
    // SAFETY: ours.
    unsafe {
        libc::close(pipe[1]);
        libc::close(pipe[0]);
    }
    let ended = (0..5000).any(|_| {
        std::thread::sleep(Duration::from_millis(1));
        !list_segments()[0].info.as_ref().unwrap().is_live
    });
    assert!(ended);
    assert_eq!(total(&listed[0].path, 0), 1);
}

fn directories_of_others_are_refused() {
    let path = directory();
    let attempt = || Segment::create(&called("x")).map(|_| ());
    let refused = |why: &str| {
        let error = attempt().unwrap_err();
        assert_eq!(error.status(), Status::Permission, "{error}");
        assert!(error.message().contains(path.to_str().unwrap()) && error.message().contains(why), "{error}");
        assert!(list_segments().is_empty());
        // Lookups of this user's segments return the error, unless there cannot be any segments.
        match &segment_directories()[..] {
            [] => assert_eq!(why, "another user"),
            [found] => assert!(found.as_ref().unwrap_err().message().contains(why), "{found:?}"),
            several => panic!("{several:?}"),
        }
    };
    std::fs::create_dir(&path).unwrap();
    for mode in [0o770, 0o702, 0o777] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        refused("others may write");
    }
    // SAFETY: a query.
    if unsafe { libc::geteuid() } == 0 {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
        std::os::unix::fs::chown(&path, Some(12345), None).unwrap();
        refused("another user");
    } else {
        skipped("the directory of another user: only root can make one");
    }
    std::fs::remove_dir(&path).unwrap();
    symlink("/dev/shm", &path).unwrap();
    refused("is a link");
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "").unwrap();
    refused("no directory");
    std::fs::remove_file(&path).unwrap();
    // SAFETY: this program has one thread.
    unsafe { std::env::set_var("PICOLLO_DIR", "relative") };
    assert_eq!(refusal(attempt()), Status::InvalidArgument);
    // SAFETY: as above.
    unsafe { std::env::set_var("PICOLLO_DIR", &path) };
    assert_eq!(attempt(), Ok(()));
    assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
}

fn only_the_owner_may_open_files() {
    // SAFETY: numbers only.
    let before = unsafe { libc::umask(0) };
    let segment = small("alone");
    // SAFETY: numbers only.
    unsafe { libc::umask(before) };
    assert_eq!(std::fs::metadata(segment.path()).unwrap().mode() & 0o777, 0o600);
    assert_eq!(files().len(), 1, "nothing is left of how it was made");
    assert_eq!(refusal(Segment::create(&called("alone"))), Status::InvalidArgument);
}

fn disks_are_refused() {
    let disk = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("segments-{}", std::process::id()));
    std::fs::create_dir_all(&disk).unwrap();
    std::fs::set_permissions(&disk, std::fs::Permissions::from_mode(0o700)).unwrap();
    // SAFETY: this program has one thread.
    unsafe { std::env::set_var("PICOLLO_DIR", &disk) };
    let options = called("disk");
    match Segment::create(&options) {
        Err(error) => {
            assert_eq!(error.status(), Status::Unsupported, "{error}");
            assert_eq!(std::fs::read_dir(&disk).unwrap().count(), 0, "nothing is left behind");
            let forced = Segment::create(&SegmentOptions { on_disk: true, ..options }).unwrap();
            open(forced, "x").record(1);
            assert_eq!(total(forced.path(), 0), 1);
        }
        Ok(_) => skipped("a disk: what is built is in memory"),
    }
    std::fs::remove_dir_all(&disk).unwrap();
}

/// In a separate mount namespace and a small file system.
fn a_full_file_system_is_an_error() {
    let path = directory();
    std::fs::create_dir(&path).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
    let child = start(|| {
        let target = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
        if !mounts(c"tmpfs", &target, c"size=300k,mode=0700") {
            // SAFETY: ends the child.
            unsafe { libc::_exit(77) };
        }
        let segment = small("full");
        let mut made = 0;
        let error = loop {
            match segment.histogram(&metric(&format!("x{made}")), &Options::default()) {
                // Everything that was reserved can be written.
                Ok(histogram) => {
                    (1..2_000_000_000).step_by(1 << 20).for_each(|value| histogram.record(value))
                }
                Err(error) => break error,
            }
            made += 1;
        };
        assert!((2..20).contains(&made), "{made}");
        assert_eq!((error.status(), error.os_errno()), (Status::OutOfMemory, libc::ENOSPC), "{error}");
        let mut viewer = view(segment);
        assert_eq!((viewer.length(), viewer.info().unwrap().refused), (made, 1));
        assert!((0..made).all(|index| viewer.snapshot(index).unwrap().counts().total == 1908));
        // There is not even room for a header.
        let filler =
            (0..300).map_while(|at| std::fs::write(path.join(at.to_string()), [0; 1000]).ok()).count();
        assert!(filler < 300);
        let error = Segment::create(&called("none")).unwrap_err();
        assert_eq!(error.status(), Status::OutOfMemory, "{error}");
    });
    match wait(child) {
        77 => skipped("a full file system: mounting one is not allowed here"),
        code => assert_eq!(code, 0),
    }
}

/// A control group below our own with a memory limit, if such a group may be made.
fn small_group() -> Option<std::path::PathBuf> {
    if std::env::var_os("PICOLLO_MAY_CHANGE_THIS_MACHINE").is_none_or(|may| may != "1") {
        return None;
    }
    let own = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let of =
        |start: &str| own.lines().find_map(|line| line.split_once(start).map(|(_, path)| path.to_owned()));
    let versions = [
        ("/sys/fs/cgroup/memory", of(":memory:"), "memory.limit_in_bytes"),
        ("/sys/fs/cgroup", of("0::"), "memory.max"),
    ];
    versions.into_iter().find_map(|(root, path, limit)| {
        let group =
            Path::new(&format!("{root}{}", path?)).join(format!("picollo-test-{}", std::process::id()));
        std::fs::create_dir(&group).ok()?;
        // The kernel's own files, if this is a control group at all.
        let is_limited =
            group.join(limit).exists() && std::fs::write(group.join(limit), (24 << 20).to_string()).is_ok();
        if !is_limited {
            let _ = std::fs::remove_dir(&group);
        }
        is_limited.then_some(group)
    })
}

/// If there is no room, that is an error, where it would otherwise end the process.
fn a_small_control_group_is_an_error() {
    let Some(group) = small_group() else {
        return skipped("a small control group: making one is not allowed here");
    };
    let child = start(|| {
        std::fs::write(group.join("cgroup.procs"), std::process::id().to_string()).unwrap();
        let options = SegmentOptions { max_bytes: 256 << 20, ..called("limited") };
        let segment = Segment::create(&options).unwrap();
        // A few MiB each.
        let large = Options { relative_error: 1e-4, max_trackable: 1 << 40, ..Options::default() };
        let error = (0..100)
            .find_map(|at| segment.histogram(&metric(&format!("x{at}")), &large).err())
            .expect("not all of them fit");
        assert_eq!(error.status(), Status::OutOfMemory, "{error}");
        assert!(error.message().contains("memory limit of this control group"), "{error}");
    });
    let code = wait(child);
    for _ in 0..100 {
        match std::fs::remove_dir(&group) {
            Ok(()) => break,
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
    assert_eq!(code, 0);
}

fn descriptors_may_all_be_closed() {
    in_child(|| {
        let segment = small("closed");
        let histogram = open(segment, "x");
        // As daemons do.
        // SAFETY: numbers only; closed descriptors are not used here.
        (3..1000).for_each(|fd| unsafe {
            libc::close(fd);
        });
        histogram.record(1);
        open(segment, "y").record(1);
        let viewer = view(segment);
        assert!(viewer.info().unwrap().is_live, "the mapping holds the lock");
        assert_eq!(total(segment.path(), 0) + total(segment.path(), 1), 2);
    });
}
