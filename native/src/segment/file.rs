//! What is asked of the kernel for files: opening without being led astray, locks that nobody can leave behind, and room that is there.

use core::ffi::c_int;
use core::fmt;
use std::ffi::CString;
use std::format;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::string::String;

use crate::base::error::{Error, Result, Status};
use crate::os::sys::{Errno, persist};

/// What an error number is called for people.
pub(crate) fn strerror(errno: Errno) -> String {
    let text = std::format!("{}", std::io::Error::from_raw_os_error(errno.0));
    text.split(" (os error").next().unwrap_or_default().into()
}

/// Text of others as it is shown.
pub(crate) fn shown(path: &Path) -> String {
    super::format::quiet(&path.to_string_lossy())
}

/// The system refused something that has to do with a file.
pub(crate) fn refused(path: &Path, what: impl fmt::Display, errno: Errno) -> Error {
    let status = match errno.0 {
        libc::EACCES | libc::EPERM => Status::Permission,
        libc::ENOMEM | libc::ENOSPC | libc::EDQUOT => Status::OutOfMemory,
        _ => Status::Os,
    };
    Error::new(status, format_args!("{}: {what}: {}", shown(path), strerror(errno))).with_errno(errno.0)
}

/// A path as system calls want it.
fn c_path(path: &Path) -> Result<CString> {
    CString::new(path.as_os_str().as_bytes())
        .map_err(|_| Error::new(Status::InvalidArgument, format_args!("a path has a NUL in it")))
}

fn checked(answer: c_int) -> core::result::Result<c_int, Errno> {
    if answer < 0 { Err(Errno::last()) } else { Ok(answer) }
}

/// A directory that names are looked up in, so that nobody can put another in its place.
#[derive(Debug)]
pub(crate) struct Directory {
    pub(crate) path: PathBuf,
    fd: OwnedFd,
}

impl Directory {
    /// Opens a directory that is no link.
    pub(crate) fn open(path: &Path) -> core::result::Result<Directory, Errno> {
        let name = c_path(path).map_err(|_| Errno(libc::EINVAL))?;
        let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
        // SAFETY: the name is NUL-terminated.
        let fd = persist(|| checked(unsafe { libc::open(name.as_ptr(), flags) }))?;
        // SAFETY: just opened, and ours.
        Ok(Directory { path: path.into(), fd: unsafe { OwnedFd::from_raw_fd(fd) } })
    }

    pub(crate) fn stat(&self) -> core::result::Result<libc::stat64, Errno> {
        stat(self.fd.as_raw_fd())
    }

    /// Opens a file in it: never through a link, never waiting for a writer of a pipe, never as terminal of the process.
    pub(crate) fn open_file(&self, name: &str, flags: c_int) -> core::result::Result<OwnedFd, Errno> {
        let name = CString::new(name).map_err(|_| Errno(libc::EINVAL))?;
        open_at(self.fd.as_raw_fd(), &name, flags)
    }

    /// Gives a file another name, unless there is one of that name.
    pub(crate) fn rename(&self, from: &str, to: &str) -> core::result::Result<(), Errno> {
        let (Ok(from), Ok(to)) = (CString::new(from), CString::new(to)) else {
            return Err(Errno(libc::EINVAL));
        };
        let fd = self.fd.as_raw_fd();
        // SAFETY: both names are NUL-terminated. By number, since older C libraries have no wrapper.
        let answer = unsafe {
            libc::syscall(libc::SYS_renameat2, fd, from.as_ptr(), fd, to.as_ptr(), libc::RENAME_NOREPLACE)
        };
        checked(answer as c_int).map(|_| ())
    }

    pub(crate) fn unlink(&self, name: &str) -> core::result::Result<(), Errno> {
        let name = CString::new(name).map_err(|_| Errno(libc::EINVAL))?;
        // SAFETY: the name is NUL-terminated.
        checked(unsafe { libc::unlinkat(self.fd.as_raw_fd(), name.as_ptr(), 0) }).map(|_| ())
    }

    /// Which file has a name now, if any.
    pub(crate) fn file_at(&self, name: &str) -> Option<(u64, u64)> {
        let name = CString::new(name).ok()?;
        let mut stat = core::mem::MaybeUninit::<libc::stat64>::zeroed();
        // SAFETY: the name is NUL-terminated, and the call writes a stat at most.
        let answer = unsafe {
            libc::fstatat64(self.fd.as_raw_fd(), name.as_ptr(), stat.as_mut_ptr(), libc::AT_SYMLINK_NOFOLLOW)
        };
        // SAFETY: zeros are a stat.
        checked(answer).ok().map(|_| file_of(&unsafe { stat.assume_init() }))
    }
}

fn open_at(directory: c_int, name: &core::ffi::CStr, flags: c_int) -> core::result::Result<OwnedFd, Errno> {
    let flags = flags | libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK | libc::O_NOCTTY;
    // SAFETY: the name is NUL-terminated.
    let fd = persist(|| checked(unsafe { libc::openat(directory, name.as_ptr(), flags, 0o600) }))?;
    // SAFETY: just opened, and ours.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Opens a file by its path, as [`Directory::open_file`].
pub(crate) fn open(path: &Path, flags: c_int) -> core::result::Result<OwnedFd, Errno> {
    open_at(libc::AT_FDCWD, &c_path(path).map_err(|_| Errno(libc::EINVAL))?, flags)
}

/// Makes a directory for its owner alone.
pub(crate) fn make_directory(path: &Path) -> core::result::Result<(), Errno> {
    let name = c_path(path).map_err(|_| Errno(libc::EINVAL))?;
    // SAFETY: the name is NUL-terminated.
    checked(unsafe { libc::mkdir(name.as_ptr(), 0o700) }).map(|_| ())
}

pub(crate) fn stat(fd: c_int) -> core::result::Result<libc::stat64, Errno> {
    let mut stat = core::mem::MaybeUninit::<libc::stat64>::zeroed();
    // SAFETY: the call writes a stat at most.
    checked(unsafe { libc::fstat64(fd, stat.as_mut_ptr()) })?;
    // SAFETY: zeros are a stat, and the call filled it in besides.
    Ok(unsafe { stat.assume_init() })
}

/// Which file it is.
pub(crate) fn file_of(stat: &libc::stat64) -> (u64, u64) {
    (stat.st_dev, stat.st_ino)
}

/// The number of a file's kind of file system.
pub(crate) fn file_system(fd: c_int) -> core::result::Result<u32, Errno> {
    let mut stat = core::mem::MaybeUninit::<libc::statfs64>::zeroed();
    // SAFETY: the call writes a statfs at most.
    checked(unsafe { libc::fstatfs64(fd, stat.as_mut_ptr()) })?;
    // SAFETY: zeros are a statfs, and the call filled it in besides.
    Ok(unsafe { stat.assume_init() }.f_type as u32)
}

/// Numbers of file systems.
pub(crate) const TMPFS: u32 = 0x0102_1994;
/// Those that a reader asks nothing bad of: in memory, or on disks of this machine.
pub(crate) const LOCAL: [u32; 7] =
    [TMPFS, 0x8584_58f6, 0xef53, 0x5846_5342, 0x9123_683e, 0x794c_7630, 0x2fc1_2fc1];

/// Whether a lock of one byte of a file can be had.
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

/// Takes or gives back a lock of an open file description: `EAGAIN` where another description has one against it. The kernel drops
/// it with the last descriptor and the last mapping of the description.
pub(crate) fn lock(fd: c_int, byte: i64, lock: Lock) -> core::result::Result<(), Errno> {
    let flock = lock.at(byte);
    // SAFETY: the call reads the structure.
    match checked(unsafe { libc::fcntl(fd, libc::F_OFD_SETLK, &raw const flock) }) {
        Err(Errno(libc::EACCES)) => Err(Errno(libc::EAGAIN)),
        answer => answer.map(|_| ()),
    }
}

/// Whether another open file description has a lock on the byte. Works with a descriptor that can only read.
pub(crate) fn is_locked(fd: c_int, byte: i64) -> core::result::Result<bool, Errno> {
    let mut flock = Lock::Exclusive.at(byte);
    // SAFETY: the call reads and writes the structure.
    checked(unsafe { libc::fcntl(fd, libc::F_OFD_GETLK, &raw mut flock) })?;
    Ok(flock.l_type != libc::F_UNLCK as libc::c_short)
}

/// Reserves a range of a file, so that a store into it finds room. Straight from the kernel: the C library would write zeros where a
/// file system cannot do it. In small steps, between which the kernel can say no.
pub(crate) fn reserve(fd: c_int, start: u64, length: u64) -> core::result::Result<(), Errno> {
    const STEP: u64 = 1 << 20;
    let mut at = start;
    while at < start + length {
        let step = STEP.min(start + length - at);
        // SAFETY: numbers only.
        persist(|| checked(unsafe { libc::fallocate64(fd, 0, at as i64, step as i64) }))?;
        at += step;
    }
    Ok(())
}

/// Makes a file as long as said, of nothing.
pub(crate) fn set_length(fd: c_int, length: u64) -> core::result::Result<(), Errno> {
    // SAFETY: numbers only.
    persist(|| checked(unsafe { libc::ftruncate64(fd, length as i64) })).map(|_| ())
}

/// Reads at an offset, as much as there is.
pub(crate) fn read_at(fd: c_int, buffer: &mut [u8], offset: u64) -> core::result::Result<usize, Errno> {
    let mut done = 0;
    while done < buffer.len() {
        let rest = &mut buffer[done..];
        let at = i64::try_from(offset + done as u64).map_err(|_| Errno(libc::EINVAL))?;
        // SAFETY: the rest of the buffer is live and as long as said.
        let bytes =
            persist(|| match unsafe { libc::pread64(fd, rest.as_mut_ptr().cast(), rest.len(), at) } {
                bytes if bytes < 0 => Err(Errno::last()),
                bytes => Ok(bytes as usize),
            })?;
        if bytes == 0 {
            break;
        }
        done += bytes;
    }
    Ok(done)
}

/// Random bits.
pub(crate) fn random() -> [u64; 2] {
    let mut bits = [0u64; 2];
    // SAFETY: the buffer is live and as long as said. By number, since older C libraries have no wrapper.
    let bytes = unsafe { libc::syscall(libc::SYS_getrandom, bits.as_mut_ptr(), size_of_val(&bits), 1) };
    if bytes != size_of_val(&bits) as libc::c_long {
        // Before there is entropy: time, process and place differ where anything does.
        let time = crate::os::wall::unix_nanos();
        bits = [
            time,
            (u64::from(std::process::id()) << 32) ^ (&raw const bits).addr() as u64 ^ time.rotate_left(17),
        ];
    }
    bits
}

/// When a process of this machine began, in ticks since the machine did; 0 where that is not told.
pub(crate) fn start_time(process: &str) -> u64 {
    // The name, in parentheses, may have anything in it, parentheses too.
    let stat = std::fs::read(format!("/proc/{process}/stat")).unwrap_or_default();
    let behind = stat.iter().rposition(|&byte| byte == b')').map_or(&stat[..0], |at| &stat[at + 1..]);
    let field = str::from_utf8(behind).ok().and_then(|fields| fields.split_ascii_whitespace().nth(19));
    field.and_then(|field| field.parse().ok()).unwrap_or(0)
}

/// What this start of the machine is called.
pub(crate) fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().into()
}

/// What this process is called.
pub(crate) fn program() -> String {
    std::fs::read("/proc/self/comm")
        .map(|name| String::from_utf8_lossy(&name).trim_end().into())
        .unwrap_or_default()
}
