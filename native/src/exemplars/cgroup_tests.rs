//! What `cpu.stat` says, in both versions, and what is asked of a group that goes.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::exemplars::ring::kernel_tests::alone;

/// Files in memory.
#[derive(Default)]
pub(super) struct Memory {
    pub files: RefCell<BTreeMap<String, String>>,
    open: RefCell<Vec<Option<String>>>,
    /// Reads give at most so much at once, where it is not 0.
    pub piece: Cell<usize>,
}

impl Memory {
    pub(super) fn with(files: &[(&str, &str)]) -> Memory {
        let memory = Memory::default();
        for (path, text) in files {
            memory.files.borrow_mut().insert((*path).into(), (*text).into());
        }
        memory
    }

    fn opened(&self) -> usize {
        self.open.borrow().iter().flatten().count()
    }
}

impl Source for &Memory {
    fn open(&self, path: &str) -> Result<i32, Errno> {
        if !self.files.borrow().contains_key(path) {
            return Err(Errno(libc::ENOENT));
        }
        self.open.borrow_mut().push(Some(path.into()));
        Ok(self.open.borrow().len() as i32 - 1)
    }
    fn read_at(&self, fd: i32, buffer: &mut [u8], offset: u64) -> Result<usize, Errno> {
        let path = self.open.borrow()[fd as usize].clone().expect("an open file");
        let files = self.files.borrow();
        // As a group that was removed.
        let text = files.get(&path).ok_or(Errno(libc::ENODEV))?;
        let rest = text.as_bytes().get(offset as usize..).unwrap_or_default();
        let length = rest.len().min(buffer.len()).min(if self.piece.get() == 0 {
            usize::MAX
        } else {
            self.piece.get()
        });
        buffer[..length].copy_from_slice(&rest[..length]);
        Ok(length)
    }
    fn close(&self, fd: i32) {
        self.open.borrow_mut()[fd as usize].take().expect("an open file");
    }
}

const NEW: &str = "usage_usec 77\nuser_usec 50\nsystem_usec 27\nnr_periods 100\nnr_throttled 7\nthrottled_usec 1234\nnr_bursts 0\nburst_usec 0\n";
const OLD: &str = "nr_periods 10\nnr_throttled 2\nthrottled_time 5999\nnr_bursts 0\nburst_time 0\n";
const UNCOUNTED: &str = "usage_usec 77\nuser_usec 50\nsystem_usec 27\n";

#[test]
fn both_versions_are_read() {
    let expected = |periods, throttled_periods, throttled_us| {
        Some(Throttled { periods, throttled_periods, throttled_us })
    };
    assert_eq!(parse(NEW.as_bytes()), expected(100, 7, 1234));
    assert_eq!(parse(OLD.as_bytes()), expected(10, 2, 5));
    assert_eq!(
        parse(b"nr_periods 0\nnr_throttled 0\nthrottled_usec 18446744073709551615"),
        expected(0, 0, u64::MAX)
    );
    // What is not there is not 0.
    for text in [
        UNCOUNTED,
        "",
        "nr_periods 1\nnr_throttled 1\n",
        "nr_periods 1\nthrottled_usec 1\n",
        "nr_periods x\nnr_throttled 1\nthrottled_usec 1\n",
        "nr_periods 99999999999999999999\nnr_throttled 1\nthrottled_usec 1\n",
        "nr_periods\nnr_throttled 1\nthrottled_usec 1\n",
    ] {
        assert_eq!(parse(text.as_bytes()), None, "{text}");
    }
}

const MOUNTS: &str = "22 1 0:21 / /proc rw - proc proc rw\n30 22 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";

#[test]
fn groups_above_count_too() {
    let memory = Memory::with(&[
        ("/proc/self/cgroup", "0::/app.slice/web.service\n"),
        ("/proc/self/mountinfo", MOUNTS),
        ("/sys/fs/cgroup/app.slice/web.service/cpu.stat", UNCOUNTED),
        ("/sys/fs/cgroup/app.slice/cpu.stat", NEW),
        ("/sys/fs/cgroup/cpu.stat", "nr_periods 1\nnr_throttled 1\nthrottled_usec 1\n"),
    ]);
    {
        let cgroup = Cgroup::open_in(&memory).unwrap();
        assert_eq!(memory.opened(), 2);
        let sum = Throttled { periods: 101, throttled_periods: 8, throttled_us: 1235 };
        assert_eq!(cgroup.read(), Some(sum));
        assert_eq!(cgroup.read(), Some(sum));
        // It is read anew each time.
        memory.files.borrow_mut().insert("/sys/fs/cgroup/app.slice/cpu.stat".into(), OLD.into());
        assert_eq!(cgroup.read().unwrap().periods, 11);
        memory.files.borrow_mut().remove("/sys/fs/cgroup/app.slice/cpu.stat");
        assert_eq!(cgroup.read(), None);
    }
    assert_eq!(memory.opened(), 0);
}

#[test]
fn what_counts_nothing_is_none() {
    let stat = |text: &str| {
        let memory = Memory::with(&[
            ("/proc/self/cgroup", "0::/\n"),
            ("/proc/self/mountinfo", MOUNTS),
            ("/sys/fs/cgroup/cpu.stat", text),
        ]);
        let found = Cgroup::open_in(&memory).map(|cgroup| cgroup.read());
        assert_eq!(memory.opened(), 0);
        found
    };
    assert!(stat(UNCOUNTED).is_none());
    assert!(stat(NEW).unwrap().is_some());
    assert!(Cgroup::open_in(&Memory::default()).is_none());
}

/// A tree of more groups than are read: the nearest ones.
#[test]
fn the_nearest_groups_are_read() {
    let memory = Memory::with(&[
        ("/proc/self/mountinfo", MOUNTS),
        ("/proc/self/cgroup", "0::/1/2/3/4/5/6/7/8/9/10\n"),
    ]);
    for depth in 0..=10 {
        let path: String = (1..=depth).map(|at| format!("/{at}")).collect();
        let text = format!("nr_periods {}\nnr_throttled 0\nthrottled_usec 0\n", 1 << depth);
        memory.files.borrow_mut().insert(format!("/sys/fs/cgroup{path}/cpu.stat"), text);
    }
    let cgroup = Cgroup::open_in(&memory).unwrap();
    assert_eq!(cgroup.read().unwrap().periods, 0b111_1111_1000);
}

proptest! {
    #[test]
    fn any_bytes_are_survived(text in prop::collection::vec(any::<u8>(), 0..300), cut in 0usize..120) {
        let _ = parse(&text);
        let whole = NEW.as_bytes();
        if let Some(found) = parse(&whole[..cut.min(whole.len())]) {
            prop_assert_eq!((found.periods, found.throttled_periods), (100, 7));
        }
    }
}

#[test]
fn this_machine_says_or_does_not() {
    match Cgroup::open() {
        None => eprintln!("SKIPPED: no throttling is counted for this process"),
        Some(cgroup) => {
            let (first, second) = (cgroup.read().unwrap(), cgroup.read().unwrap());
            assert!(second.periods >= first.periods && second.throttled_us >= first.throttled_us);
        }
    }
}

/// A group of a tenth of a CPU, made for this: what it is kept from is what the thread's CPU clock lacks.
#[test]
fn a_quota_is_seen() {
    if !std::env::var_os("PICOLLO_MAY_CHANGE_THIS_MACHINE").is_some_and(|value| value == "1") {
        return eprintln!("SKIPPED: making groups changes this machine (PICOLLO_MAY_CHANGE_THIS_MACHINE=1)");
    }
    if !alone(module_path!(), "a_quota_is_seen") {
        return;
    }
    let write = |folder: &str, file: &str, text: &str| std::fs::write(format!("{folder}/{file}"), text);
    let process = std::process::id();
    let mut tried = None;
    for (tree, own) in
        [("/sys/fs/cgroup/cpu", true), ("/sys/fs/cgroup/cpu,cpuacct", true), ("/sys/fs/cgroup", false)]
    {
        let group = format!("{tree}/picollo-quota-{process}");
        if std::fs::create_dir(&group).is_err() {
            continue;
        }
        let limited = match own {
            true => write(&group, "cpu.cfs_period_us", "50000")
                .and_then(|()| write(&group, "cpu.cfs_quota_us", "5000")),
            false => write(&group, "cpu.max", "5000 50000"),
        };
        if limited.and_then(|()| write(&group, "cgroup.procs", &process.to_string())).is_ok() {
            tried = Some((tree, group));
            break;
        }
        let _ = std::fs::remove_dir(&group);
    }
    let Some((tree, group)) = tried else {
        return eprintln!("SKIPPED: no group with a CPU quota can be made here");
    };
    let cpu = || crate::os::wall::clock_nanos(libc::CLOCK_THREAD_CPUTIME_ID);
    let wall = || crate::os::wall::clock_nanos(libc::CLOCK_MONOTONIC_RAW);
    let seen = Cgroup::open().map(|cgroup| {
        let (before, used, began) = (cgroup.read(), cpu(), wall());
        while wall() - began < 400_000_000 {
            std::hint::spin_loop();
        }
        (before, cgroup.read(), (wall() - began) - (cpu() - used))
    });
    let _ = write(tree, "cgroup.procs", &process.to_string());
    let removed = std::fs::remove_dir(&group);
    let (before, after, off) = seen.expect("a group with a quota is counted");
    let (before, after) = (before.unwrap(), after.unwrap());
    let throttled = (after.throttled_us - before.throttled_us) * 1_000;
    eprintln!("{before:?} {after:?}, off for {off} ns");
    assert!(after.periods > before.periods && after.throttled_periods >= before.throttled_periods + 4);
    // The rest of it, the thread waited for other threads.
    assert!(throttled > off / 2 && throttled < off + 60_000_000, "{throttled} of {off}");
    removed.unwrap();
}
