//! Whether the CPU quota of the process's group was used up during an observation.
//!
//! The numbers belong to the group, not to the thread. If they grew, a thread that waited for a CPU may have waited for
//! quota. A quota of any parent group has the same effect. So the numbers are summed over the process's group and its
//! parents, as far as this process can see them (in a container usually one). Groups without counts, such as those
//! without a CPU controller, are left out. If no group has counts, the quota is unknown.

use std::fs::File;
use std::os::unix::fs::FileExt;

use super::thread::ticks_of;
use picollo_native::Clock;
use picollo_native::Uncancelled;
use picollo_native::seam::groups::Groups;
use picollo_native::seam::vectors::with_room;

/// How often the group was throttled, as far as known.
#[derive(Debug)]
pub(super) struct Quota {
    group: Option<Cgroup>,
    /// The last successful reading, if any, and its time in ticks.
    throttled: Option<u64>,
    read: u64,
    /// Whether the last reading was successful.
    is_readable: bool,
    grown: Growth,
}

/// The last observed growth: its amount, and the times of the readings around it.
#[derive(Clone, Copy, Debug, Default)]
struct Growth {
    by: u64,
    since: u64,
    until: u64,
}

impl Quota {
    /// Paths take some kilobytes of the stack, which the caller should not keep.
    #[inline(never)]
    pub(super) fn open() -> Quota {
        let group = Cgroup::open();
        let mut quota =
            Quota { group, throttled: None, read: 0, is_readable: false, grown: Growth::default() };
        quota.refresh();
        quota
    }

    /// Reads the numbers again.
    pub(super) fn refresh(&mut self) {
        let now = self.group.as_ref().and_then(Cgroup::throttled);
        self.update(now, Clock::Tsc.ticks());
    }

    fn update(&mut self, now: Option<u64>, until: u64) {
        self.is_readable = now.is_some();
        let Some(now) = now else { return };
        let grown = self.throttled.map_or(0, |before| now.saturating_sub(before));
        if grown > 0 {
            self.grown = Growth { by: grown, since: self.read, until };
        }
        (self.throttled, self.read) = (Some(now), until);
    }

    /// How often the group may have been throttled between these ticks, and whether all of that was certainly within
    /// them. Growth that was certainly before or after does not count. `None` if the last reading failed.
    pub(super) fn within(&self, start: u64, end: u64) -> Option<(u32, bool)> {
        if !self.is_readable {
            return None;
        }
        let Growth { by, since, until } = self.grown;
        if by == 0 || until <= start || since >= end {
            return Some((0, false));
        }
        // A reading at the end of an observation is always a little later than the end.
        Some((
            u32::try_from(by).unwrap_or(u32::MAX),
            since >= start && until <= end.saturating_add(ticks_of(LATER_NANOS)),
        ))
    }
}

const LATER_NANOS: u64 = 50_000;

/// Maximum number of nested groups to read: the nearest ones.
const GROUPS: usize = 8;

/// The open files of the process's groups at the time of opening. A process that is moved later has other groups.
#[derive(Debug)]
struct Cgroup(Vec<File>);

impl Cgroup {
    /// Finds the groups; `None` if none has counts or is readable, or without memory.
    fn open() -> Option<Cgroup> {
        let _uncancelled = Uncancelled::new();
        Cgroup::from_groups(&Groups::for_process("cpu")?)
    }

    fn from_groups(groups: &Groups) -> Option<Cgroup> {
        let mut files = with_room(GROUPS).ok()?;
        groups.each("/cpu.stat", |path| {
            if files.len() < GROUPS
                && let Ok(file) = File::open(path)
                && read(&file).is_some()
            {
                files.push(file);
            }
        });
        (!files.is_empty()).then_some(Cgroup(files))
    }

    /// In how many periods the groups used up their quotas; `None` if one of them is unreadable. Takes one system call
    /// per group, does not allocate, and does not block.
    fn throttled(&self) -> Option<u64> {
        let _uncancelled = Uncancelled::new();
        self.0.iter().try_fold(0u64, |sum, file| Some(sum.wrapping_add(read(file)?)))
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        let _uncancelled = Uncancelled::new();
        self.0.clear();
    }
}

fn read(file: &File) -> Option<u64> {
    // The file has a dozen lines. A longer one is cut off, which loses only lines that newer kernels append.
    let mut buffer = [0; 1024];
    let length = file.read_at(&mut buffer, 0).ok()?;
    parse(buffer.get(..length)?)
}

/// Both versions of control groups have this line.
fn parse(text: &[u8]) -> Option<u64> {
    let line = text.split(|&byte| byte == b'\n').find_map(|line| line.strip_prefix(b"nr_throttled "))?;
    core::str::from_utf8(line).ok()?.trim_ascii().parse().ok()
}

#[cfg(test)]
#[path = "quota_tests.rs"]
mod tests;
