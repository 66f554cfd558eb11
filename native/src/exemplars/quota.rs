//! Whether the process's group was kept from running by its CPU quota while an observation lasted.
//!
//! The numbers are the group's, not the thread's: that they grew says that a thread which waited for a CPU may have waited for quota. A
//! quota of any group above has the same effect, so they are summed over the process's own group and those above it, as far as this
//! process can see them (in a container usually one). Groups for which the kernel counts nothing, such as those without a CPU controller,
//! are left out; when there is no other, there is nothing to be had.

use std::fs::File;
use std::os::unix::fs::FileExt;

use super::thread::ticks_of;
use crate::base::vectors::with_room;
use crate::clock::Clock;
use crate::os::cancel::Uncancelled;
use crate::os::groups::Groups;

/// How often the group was throttled, as far as it was looked at.
#[derive(Debug)]
pub(super) struct Quota {
    group: Option<Cgroup>,
    /// The last reading, where there was any, and when that was, in ticks.
    throttled: Option<u64>,
    read: u64,
    /// The last look was a reading.
    is_readable: bool,
    grown: Growth,
}

/// The last growth that was seen: by how much, and between which readings.
#[derive(Clone, Copy, Debug, Default)]
struct Growth {
    by: u64,
    since: u64,
    until: u64,
}

impl Quota {
    /// Paths take some kilobytes of the stack, which its caller is not to keep.
    #[inline(never)]
    pub(super) fn open() -> Quota {
        let group = Cgroup::open();
        let mut quota =
            Quota { group, throttled: None, read: 0, is_readable: false, grown: Growth::default() };
        quota.look();
        quota
    }

    /// Reads it again.
    pub(super) fn look(&mut self) {
        let now = self.group.as_ref().and_then(Cgroup::throttled);
        self.seen(now, Clock::Tsc.ticks());
    }

    fn seen(&mut self, now: Option<u64>, until: u64) {
        self.is_readable = now.is_some();
        let Some(now) = now else { return };
        let grown = self.throttled.map_or(0, |before| now.saturating_sub(before));
        if grown > 0 {
            self.grown = Growth { by: grown, since: self.read, until };
        }
        (self.throttled, self.read) = (Some(now), until);
    }

    /// How often the group may have been throttled between these ticks, as far as that is known not to have been before or after; and whether
    /// all of that is known to have been within. `None` where it cannot be read. As of the last look.
    pub(super) fn within(&self, start: u64, end: u64) -> Option<(u32, bool)> {
        if !self.is_readable {
            return None;
        }
        let Growth { by, since, until } = self.grown;
        if by == 0 || until <= start || since >= end {
            return Some((0, false));
        }
        // A look at the end of an observation is always a little later than it.
        Some((
            u32::try_from(by).unwrap_or(u32::MAX),
            since >= start && until <= end.saturating_add(ticks_of(LATER_NANOS)),
        ))
    }
}

const LATER_NANOS: u64 = 50_000;

/// As many groups, one above the other, are read at most: the nearest ones.
const GROUPS: usize = 8;

/// The groups' files, kept open. Those of the groups that the process was in when it was opened: one that is moved later has others.
#[derive(Debug)]
struct Cgroup(Vec<File>);

impl Cgroup {
    /// Finds them; `None` where nothing is counted, nothing can be seen, or there is no memory.
    fn open() -> Option<Cgroup> {
        let _uncancelled = Uncancelled::new();
        Cgroup::of(&Groups::of_process("cpu")?)
    }

    fn of(groups: &Groups) -> Option<Cgroup> {
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

    /// In how many periods the groups have used up their quotas; `None` when one of them no longer says. One system call for each group;
    /// allocates nothing, does not block.
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
    // It has a dozen lines; what is cut would be what newer kernels add behind them.
    let mut buffer = [0; 1024];
    let length = file.read_at(&mut buffer, 0).ok()?;
    parse(buffer.get(..length)?)
}

/// Both versions of control groups have it.
fn parse(text: &[u8]) -> Option<u64> {
    let line = text.split(|&byte| byte == b'\n').find_map(|line| line.strip_prefix(b"nr_throttled "))?;
    core::str::from_utf8(line).ok()?.trim_ascii().parse().ok()
}

#[cfg(test)]
#[path = "quota_tests.rs"]
mod tests;
