//! File operations of the kernel: opening safely, locks that end with their holder, and reserving space.

use core::ffi::c_int;
use core::fmt;
use std::ffi::CString;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use picollo_native::{ExplainedError, Status};

/// A path in printable form, since others may have chosen it.
pub(crate) fn printable(path: &Path) -> String {
    super::format::without_controls(&path.to_string_lossy())
}

/// The error for a failed file operation.
pub(crate) fn error(path: &Path, what: impl fmt::Display, error: io::Error) -> ExplainedError {
    let errno = error.raw_os_error().unwrap_or(libc::EINVAL);
    let status = match errno {
        libc::EACCES | libc::EPERM => Status::Permission,
        libc::ENOMEM | libc::ENOSPC | libc::EDQUOT => Status::OutOfMemory,
        _ => Status::Os,
    };
    let why = format!("{error}");
    let why = why.split(" (os error").next().unwrap_or_default();
    ExplainedError::new(status, format_args!("{}: {what}: {why}", printable(path))).with_errno(errno)
}

fn checked(answer: c_int) -> io::Result<c_int> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

/// An open directory for looking up names, so that nobody can replace it by another one.
#[derive(Debug)]
pub(crate) struct Directory {
    pub(crate) path: PathBuf,
    pub(crate) file: File,
}

impl Directory {
    /// Opens a directory and rejects links.
    pub(crate) fn open(path: &Path) -> io::Result<Directory> {
        let flags = libc::O_DIRECTORY | libc::O_NOFOLLOW;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        Ok(Directory { path: path.into(), file })
    }

    /// Opens a file in this directory, with the flags of [`open`].
    pub(crate) fn open_file(&self, name: &str, flags: c_int) -> io::Result<File> {
        let name = CString::new(name)?;
        let (directory, flags) = (self.file.as_raw_fd(), flags | WITH_CARE | libc::O_CLOEXEC);
        // SAFETY: the name is NUL-terminated.
        let fd = checked(unsafe { libc::openat(directory, name.as_ptr(), flags, 0o600) })?;
        // SAFETY: just opened, and ours.
        Ok(unsafe { File::from_raw_fd(fd) })
    }

    /// Renames a file, and fails if the new name exists.
    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let (from, to, fd) = (CString::new(from)?, CString::new(to)?, self.file.as_raw_fd());
        // SAFETY: both names are NUL-terminated. This calls by number because older C libraries lack a wrapper.
        let answer = unsafe {
            libc::syscall(libc::SYS_renameat2, fd, from.as_ptr(), fd, to.as_ptr(), libc::RENAME_NOREPLACE)
        };
        checked(answer as c_int).map(|_| ())
    }

    pub(crate) fn unlink(&self, name: &str) -> io::Result<()> {
        let name = CString::new(name)?;
        // SAFETY: the name is NUL-terminated.
        checked(unsafe { libc::unlinkat(self.file.as_raw_fd(), name.as_ptr(), 0) }).map(|_| ())
    }

    /// Identity of the file that has this name now, if any.
    pub(crate) fn file_at(&self, name: &str) -> Option<(u64, u64)> {
        let name = CString::new(name).ok()?;
        let mut stat = core::mem::MaybeUninit::<libc::stat64>::zeroed();
        // SAFETY: the name is NUL-terminated, and the call writes at most one stat; all zeros are a valid one.
        let (answer, stat) = unsafe {
            let (fd, flags) = (self.file.as_raw_fd(), libc::AT_SYMLINK_NOFOLLOW);
            (libc::fstatat64(fd, name.as_ptr(), stat.as_mut_ptr(), flags), stat.assume_init())
        };
        (answer == 0).then_some((stat.st_dev, stat.st_ino))
    }
}

/// Never follow a link, never wait for the writer of a pipe, never make a terminal the controlling one.
const WITH_CARE: c_int = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;

/// Opens a file by its path with the flags above.
pub(crate) fn open(path: &Path, is_written: bool) -> io::Result<File> {
    OpenOptions::new().read(true).write(is_written).custom_flags(WITH_CARE).open(path)
}

/// Identity of a file.
pub(crate) fn file_of(data: &Metadata) -> (u64, u64) {
    (data.dev(), data.ino())
}

/// Type number of a file's file system.
pub(crate) fn file_system(file: &File) -> io::Result<u32> {
    let mut stat = core::mem::MaybeUninit::<libc::statfs64>::zeroed();
    // SAFETY: the call writes at most one statfs.
    checked(unsafe { libc::fstatfs64(file.as_raw_fd(), stat.as_mut_ptr()) })?;
    // SAFETY: all zeros are a valid statfs, and the call filled it in.
    Ok(unsafe { stat.assume_init() }.f_type as u32)
}

/// Type numbers of file systems.
pub(crate) const TMPFS: u32 = 0x0102_1994;
/// File systems that reading cannot harm: in memory, or on disks of this machine.
pub(crate) const LOCAL: [u32; 7] =
    [TMPFS, 0x8584_58f6, 0xef53, 0x5846_5342, 0x9123_683e, 0x794c_7630, 0x2fc1_2fc1];

/// Modes of a lock on one byte of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lock {
    Shared,
    Exclusive,
    None,
}

impl Lock {
    fn at(self, byte: i64) -> libc::flock64 {
        let kind = match self {
            Lock::Shared => libc::F_RDLCK,
            Lock::Exclusive => libc::F_WRLCK,
            Lock::None => libc::F_UNLCK,
        };
        libc::flock64 { l_type: kind as _, l_whence: libc::SEEK_SET as _, l_start: byte, l_len: 1, l_pid: 0 }
    }
}

/// Takes or releases a lock of an open file description. Fails with `WouldBlock` if another description holds a
/// conflicting lock. The kernel releases it with the last descriptor and the last mapping of the description.
pub(crate) fn lock(file: &File, byte: i64, lock: Lock) -> io::Result<()> {
    let flock = lock.at(byte);
    // SAFETY: the call reads the structure.
    match checked(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const flock) }) {
        Err(error) if error.raw_os_error() == Some(libc::EACCES) => Err(ErrorKind::WouldBlock.into()),
        answer => answer.map(|_| ()),
    }
}

/// Whether another open file description has a lock on the byte. A read-only descriptor suffices.
pub(crate) fn is_locked(file: &File, byte: i64) -> io::Result<bool> {
    let mut flock = Lock::Exclusive.at(byte);
    // SAFETY: the call reads and writes the structure.
    checked(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &raw mut flock) })?;
    Ok(flock.l_type != libc::F_UNLCK as libc::c_short)
}

/// Reserves a range of a file, so that stores into it cannot fail. It bypasses the C library, which writes zeros if the
/// file system lacks this call. It works in small steps, so that the kernel can refuse in between.
pub(crate) fn reserve(file: &File, start: u64, length: u64) -> io::Result<()> {
    const STEP: u64 = 1 << 20;
    let mut at = start;
    while at < start + length {
        let step = STEP.min(start + length - at);
        // SAFETY: numbers only.
        match checked(unsafe { libc::fallocate64(file.as_raw_fd(), 0, at as i64, step as i64) }) {
            Ok(_) => at += step,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads at an offset, up to the end of the file.
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < buffer.len() {
        match file.read_at(&mut buffer[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(bytes) => done += bytes,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

/// Random bits.
pub(crate) fn random() -> [u64; 2] {
    let mut bits = [0u64; 2];
    // SAFETY: the buffer is live, and this is its size. This calls by number because older C libraries lack a wrapper.
    let bytes = unsafe { libc::syscall(libc::SYS_getrandom, bits.as_mut_ptr(), size_of_val(&bits), 1) };
    if bytes != size_of_val(&bits) as libc::c_long {
        // Before the kernel has entropy, time, process and address are the best sources of differences.
        let time = picollo_native::unix_nanos();
        bits = [
            time,
            (u64::from(std::process::id()) << 32) ^ (&raw const bits).addr() as u64 ^ time.rotate_left(17),
        ];
    }
    bits
}

/// The state of a process on this machine, and its start in ticks since the machine booted. `None` if the process does
/// not exist or the kernel does not report it.
pub(crate) fn state_and_start(process: &str) -> Option<(u8, u64)> {
    let stat = std::fs::read(format!("/proc/{process}/stat")).ok()?;
    // The name, in parentheses, may contain anything, including parentheses.
    let end_of_name = stat.iter().rposition(|&byte| byte == b')')?;
    let fields = str::from_utf8(&stat[end_of_name + 1..]).ok()?;
    let mut fields = fields.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    Some((state, fields.nth(18)?.parse().ok()?))
}

/// Start time of a process on this machine, in ticks since the machine booted; 0 if unknown.
pub(crate) fn start_time(process: &str) -> u64 {
    state_and_start(process).map_or(0, |(_, start)| start)
}

/// Identifies this boot of the machine.
pub(crate) fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().into()
}

/// Name of this process.
pub(crate) fn program() -> String {
    std::fs::read("/proc/self/comm")
        .map(|name| String::from_utf8_lossy(&name).trim_end().into())
        .unwrap_or_default()
}
