//! How often, and how long, this process's group was kept from running by its CPU quota.
//!
//! The numbers are the group's, not the thread's: that they grew says that a thread which waited for a CPU may have waited for quota. A
//! quota of any group above has the same effect, so they are summed over the process's own group and those above it, as far as this
//! process can see them (in a container usually one). Groups for which the kernel counts nothing, such as those without a CPU controller,
//! are left out; when there is no other, there is nothing to be had.

mod places;

use crate::os::sys::{Errno, Kernel};
use places::Places;

/// What the groups' `cpu.stat` say since the groups were made.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Throttled {
    /// Periods of the quota in which the group had something to do.
    pub periods: u64,
    /// In so many of them it used up its quota.
    pub throttled_periods: u64,
    /// How long it was stopped, in microseconds: version 1 and most kernels sum this over the CPUs of the group.
    pub throttled_us: u64,
}

/// Files, behind a trait so that tests can stand in for them.
pub(crate) trait Source {
    fn open(&self, path: &str) -> Result<i32, Errno>;
    /// The number of bytes read; 0 at the end.
    fn read_at(&self, fd: i32, buffer: &mut [u8], offset: u64) -> Result<usize, Errno>;
    fn close(&self, fd: i32);
}

impl Source for Kernel {
    fn open(&self, path: &str) -> Result<i32, Errno> {
        // No std::fs: its paths are allocated.
        let mut name = [0u8; 512];
        if path.len() >= name.len() || path.as_bytes().contains(&0) {
            return Err(Errno(libc::ENAMETOOLONG));
        }
        name[..path.len()].copy_from_slice(path.as_bytes());
        // SAFETY: the name is NUL-terminated: it is shorter than its zeroed buffer.
        let fd = unsafe { libc::open(name.as_ptr().cast(), libc::O_RDONLY | libc::O_CLOEXEC) };
        if fd < 0 { Err(Errno::last()) } else { Ok(fd) }
    }

    fn read_at(&self, fd: i32, buffer: &mut [u8], offset: u64) -> Result<usize, Errno> {
        let offset = libc::off64_t::try_from(offset).map_err(|_| Errno(libc::EOVERFLOW))?;
        // SAFETY: the buffer is live and as long as said.
        let bytes = unsafe { libc::pread64(fd, buffer.as_mut_ptr().cast(), buffer.len(), offset) };
        usize::try_from(bytes).map_err(|_| Errno::last())
    }

    fn close(&self, fd: i32) {
        // SAFETY: who opened it gives it up, and closes it once.
        unsafe { libc::close(fd) };
    }
}

/// As many groups, one above the other, are read at most: the nearest ones.
const GROUPS: usize = 8;

/// The groups' files, kept open. Those of the groups that the process was in when it was opened: one that is moved later has others.
#[derive(Debug)]
pub(crate) struct Cgroup<S: Source = Kernel> {
    sys: S,
    files: [i32; GROUPS],
    length: usize,
}

impl Cgroup {
    /// Finds them; `None` where nothing is counted, or nothing can be seen. Reads two files of the system and what it finds; allocates
    /// nothing.
    pub(crate) fn open() -> Option<Cgroup> {
        Cgroup::open_in(Kernel)
    }
}

impl<S: Source> Cgroup<S> {
    fn open_in(sys: S) -> Option<Cgroup<S>> {
        let places = Places::find(&sys)?;
        let mut cgroup = Cgroup { sys, files: [-1; GROUPS], length: 0 };
        places.each(|file| {
            let Some(free) = cgroup.files.get_mut(cgroup.length) else { return };
            if let Ok(fd) = cgroup.sys.open(file) {
                match read(&cgroup.sys, fd) {
                    Some(_) => {
                        *free = fd;
                        cgroup.length += 1;
                    }
                    None => cgroup.sys.close(fd),
                }
            }
        });
        (cgroup.length > 0).then_some(cgroup)
    }

    /// The sums now; `None` when one of the groups no longer says. One system call for each group; allocates nothing, does not block.
    pub(crate) fn read(&self) -> Option<Throttled> {
        let mut sums = Throttled::default();
        for &fd in &self.files[..self.length] {
            let group = read(&self.sys, fd)?;
            sums.periods = sums.periods.wrapping_add(group.periods);
            sums.throttled_periods = sums.throttled_periods.wrapping_add(group.throttled_periods);
            sums.throttled_us = sums.throttled_us.wrapping_add(group.throttled_us);
        }
        Some(sums)
    }
}

impl<S: Source> Drop for Cgroup<S> {
    fn drop(&mut self) {
        for &fd in &self.files[..self.length] {
            self.sys.close(fd);
        }
    }
}

fn read<S: Source>(sys: &S, fd: i32) -> Option<Throttled> {
    // It has a dozen lines; what is cut would be what newer kernels add behind them.
    let mut buffer = [0; 1024];
    let length = sys.read_at(fd, &mut buffer, 0).ok()?;
    parse(buffer.get(..length)?)
}

/// The three numbers, if all are there: version 1 has the time in nanoseconds, version 2 in microseconds.
fn parse(text: &[u8]) -> Option<Throttled> {
    let number = |name: &str| {
        let line = text
            .split(|&byte| byte == b'\n')
            .find_map(|line| line.strip_prefix(name.as_bytes())?.strip_prefix(b" "))?;
        core::str::from_utf8(line).ok()?.trim_ascii().parse::<u64>().ok()
    };
    let throttled_us = number("throttled_usec").or_else(|| Some(number("throttled_time")? / 1000))?;
    Some(Throttled {
        periods: number("nr_periods")?,
        throttled_periods: number("nr_throttled")?,
        throttled_us,
    })
}

#[cfg(test)]
#[path = "cgroup_tests.rs"]
mod tests;
