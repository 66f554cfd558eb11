//! The system calls that counting needs, behind traits so that tests can replace the kernel: one trait for files, one
//! for events, and one for what threads have used. The CPU's part is in `user_read/sys.rs`.

use core::fmt;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicUsize, Ordering};

use crate::base::text;
use crate::os::kernel::{Attr, Page, request};
use crate::os::valgrind;
use crate::os::wall::clock_nanos;

/// An error number of the operating system.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Errno(pub i32);

impl Errno {
    /// The error of this thread's last failed call.
    pub fn last() -> Errno {
        Errno(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO))
    }
}

/// The running kernel.
#[derive(Clone, Copy, Default, Debug)]
pub struct Kernel;

/// The size of a memory page, asked once.
pub fn page_size() -> usize {
    static SIZE: AtomicUsize = AtomicUsize::new(0);
    match SIZE.load(Ordering::Relaxed) {
        0 => {
            // SAFETY: a query without pointers.
            let size = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
            SIZE.store(size, Ordering::Relaxed);
            size
        }
        size => size,
    }
}

/// The limit of attempts for an interrupted call. After that, the interruption is its error.
const ATTEMPTS: u32 = 1000;

/// Repeats a call as long as it is interrupted.
pub fn persist<T>(mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    let mut result = call();
    for _ in 1..ATTEMPTS {
        match result {
            Err(Errno(libc::EINTR | libc::EAGAIN)) => result = call(),
            _ => break,
        }
    }
    result
}

/// Reads files, as far as events and explanations need it.
pub trait Files {
    /// Reads the beginning of a file, as far as the buffer goes. Returns the number of bytes read.
    fn read_file(&self, path: &str, buffer: &mut [u8]) -> Result<usize, Errno>;
    /// The same for a path that is composed.
    fn file<'a>(&self, path: fmt::Arguments<'_>, buffer: &'a mut [u8]) -> Result<&'a [u8], Errno> {
        let mut name = [0; 512];
        text::set(&mut name, path);
        let length = self.read_file(text::get(&name), buffer)?;
        Ok(&buffer[..length])
    }
    /// Calls `each` with the names in a directory.
    fn list(&self, path: &str, each: &mut dyn FnMut(&str)) -> Result<(), Errno>;
}

impl Files for Kernel {
    fn read_file(&self, path: &str, buffer: &mut [u8]) -> Result<usize, Errno> {
        // `std::fs` may allocate to convert the path, and this is called while reading counters.
        let name = Name::new(path)?;
        // SAFETY: the name is NUL-terminated.
        let fd = unsafe { libc::open(name.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
        if fd < 0 {
            return Err(Errno::last());
        }
        let mut length = 0;
        let result = loop {
            let rest = &mut buffer[length..];
            if rest.is_empty() {
                break Ok(length);
            }
            // SAFETY: the rest of the buffer is live and as long as stated.
            match unsafe { libc::read(fd, rest.as_mut_ptr().cast(), rest.len()) } {
                0 => break Ok(length),
                bytes if bytes > 0 => length += bytes as usize,
                _ if Errno::last() == Errno(libc::EINTR) => {}
                _ => break Err(Errno::last()),
            }
        };
        // SAFETY: opened above.
        unsafe { libc::close(fd) };
        result
    }

    fn list(&self, path: &str, each: &mut dyn FnMut(&str)) -> Result<(), Errno> {
        // `std::fs` would end the process if memory for a path or a name is short.
        let name = Name::new(path)?;
        // SAFETY: the name is NUL-terminated.
        let directory = unsafe { libc::opendir(name.as_ptr()) };
        if directory.is_null() {
            return Err(Errno::last());
        }
        let result = loop {
            // SAFETY: the C library's variable of this thread. Only this distinguishes the end from an error.
            unsafe { *libc::__errno_location() = 0 };
            // SAFETY: opened above, and used by this thread alone.
            let entry = unsafe { libc::readdir64(directory) };
            if entry.is_null() {
                break match Errno::last() {
                    Errno(0) => Ok(()),
                    error => Err(error),
                };
            }
            // SAFETY: an entry stays until the next call, and its name is NUL-terminated.
            let name = unsafe { core::ffi::CStr::from_ptr((&raw const (*entry).d_name).cast()) };
            if let Ok(name) = name.to_str()
                && name != "."
                && name != ".."
            {
                each(name);
            }
        };
        // SAFETY: opened above, and not used after this.
        unsafe { libc::closedir(directory) };
        result
    }
}

/// A path in the C library's form.
struct Name([u8; 512]);

impl Name {
    fn new(path: &str) -> Result<Name, Errno> {
        let mut name = Name([0; 512]);
        if path.len() >= name.0.len() || path.as_bytes().contains(&0) {
            return Err(Errno(libc::ENAMETOOLONG));
        }
        name.0[..path.len()].copy_from_slice(path.as_bytes());
        Ok(name)
    }

    /// NUL-terminated: the path is shorter than its zeroed buffer.
    fn as_ptr(&self) -> *const core::ffi::c_char {
        self.0.as_ptr().cast()
    }
}

/// Events of the kernel. Each call is a single attempt: the caller decides whether to repeat it.
pub trait Perf {
    /// `perf_event_open`.
    fn open(&self, attr: &Attr, pid: i32, cpu: i32, group: i32, flags: u64) -> Result<i32, Errno>;
    /// `close`.
    ///
    /// # Safety
    /// The descriptor is the caller's own, and is not used after this.
    unsafe fn close(&self, fd: i32);
    /// `read`; the number of bytes read.
    fn read(&self, fd: i32, buffer: &mut [u64]) -> Result<usize, Errno>;
    /// `ioctl` with an integer argument.
    ///
    /// # Safety
    /// The request takes no pointer.
    unsafe fn ioctl(&self, fd: i32, request: u64, argument: u64) -> Result<(), Errno>;
    /// The event's id, as in group reads.
    fn event_id(&self, fd: i32) -> Result<u64, Errno>;
    /// Maps the event's page, read-only and shared.
    fn map_page(&self, fd: i32) -> Result<NonNull<Page>, Errno>;
    /// Undoes [`Perf::map_page`].
    ///
    /// # Safety
    /// The page came from `map_page` of this very process, and nothing uses it after this.
    unsafe fn unmap_page(&self, page: NonNull<Page>);
}

impl Perf for Kernel {
    fn open(&self, attr: &Attr, pid: i32, cpu: i32, group: i32, flags: u64) -> Result<i32, Errno> {
        if valgrind::refuses_counters() {
            return Err(Errno(libc::ENOSYS));
        }
        if attr.size as usize > size_of::<Attr>() {
            return Err(Errno(libc::E2BIG));
        }
        // One register each: on some 32-bit machines, 64-bit flags would go into the next pair of registers.
        let [pid, cpu, group] = [pid, cpu, group].map(libc::c_long::from);
        let flags = flags as libc::c_ulong;
        // A copy, because the kernel writes the size that it knows if it refuses this one.
        let mut attr = *attr;
        // SAFETY: attr is live and at least attr.size bytes long, as just checked. The kernel writes only its size
        // field. The other arguments are integers.
        let fd = unsafe { libc::syscall(libc::SYS_perf_event_open, &raw mut attr, pid, cpu, group, flags) };
        if fd < 0 { Err(Errno::last()) } else { i32::try_from(fd).map_err(|_| Errno(libc::EBADF)) }
    }

    unsafe fn close(&self, fd: i32) {
        // SAFETY: the caller owns the descriptor. Linux frees it even if interrupted, so the call must not be repeated.
        unsafe { libc::close(fd) };
    }

    fn read(&self, fd: i32, buffer: &mut [u64]) -> Result<usize, Errno> {
        // By number: the C library's function is a cancellation point, which would end the process in Rust code.
        // SAFETY: the buffer is live and as long as stated.
        let bytes = unsafe { libc::syscall(libc::SYS_read, fd, buffer.as_mut_ptr(), size_of_val(buffer)) };
        usize::try_from(bytes).map_err(|_| Errno::last())
    }

    unsafe fn ioctl(&self, fd: i32, request: u64, argument: u64) -> Result<(), Errno> {
        // SAFETY: the caller guarantees that the request takes an integer.
        let result = unsafe { libc::ioctl(fd, request as _, argument as libc::c_ulong) };
        if result < 0 { Err(Errno::last()) } else { Ok(()) }
    }

    fn event_id(&self, fd: i32) -> Result<u64, Errno> {
        let mut id = 0u64;
        // SAFETY: this request writes one u64 through the pointer.
        let result = unsafe { libc::ioctl(fd, request::ID as _, &raw mut id) };
        if result < 0 { Err(Errno::last()) } else { Ok(id) }
    }

    fn map_page(&self, fd: i32) -> Result<NonNull<Page>, Errno> {
        let (read, shared) = (libc::PROT_READ, libc::MAP_SHARED);
        // SAFETY: a new mapping at an address of the kernel's choice touches nothing that exists.
        let page = unsafe { libc::mmap(core::ptr::null_mut(), page_size(), read, shared, fd, 0) };
        if page == libc::MAP_FAILED {
            return Err(Errno::last());
        }
        NonNull::new(page.cast()).ok_or(Errno(libc::ENOMEM))
    }

    unsafe fn unmap_page(&self, page: NonNull<Page>) {
        // SAFETY: the pointer came from map_page, which mapped exactly this much, and the caller gives it up.
        unsafe { libc::munmap(page.as_ptr().cast(), page_size()) };
    }
}

/// CPU time and context switches of threads so far.
pub trait Threads {
    /// Context switches of the calling thread so far, by `getrusage`.
    fn context_switches(&self) -> Result<u64, Errno>;
    /// Nanoseconds that a thread of this process has run.
    fn thread_nanos(&self, thread: i32) -> Result<u64, Errno>;
}

impl Threads for Kernel {
    fn context_switches(&self) -> Result<u64, Errno> {
        let mut usage = core::mem::MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the pointer is to memory of the right type, which is all that the call writes.
        if unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) } != 0 {
            return Err(Errno::last());
        }
        // SAFETY: zero is a valid rusage, and the call filled it in besides.
        let usage = unsafe { usage.assume_init() };
        Ok((usage.ru_nvcsw as u64).wrapping_add(usage.ru_nivcsw as u64))
    }

    fn thread_nanos(&self, thread: i32) -> Result<u64, Errno> {
        // The kernel's encoding of a thread's clock (its MAKE_THREAD_CPUCLOCK; pthread_getcpuclockid does the same).
        const PER_THREAD: i32 = 4;
        const SCHED: i32 = 2;
        match clock_nanos(!thread << 3 | PER_THREAD | SCHED) {
            // Every thread that could ask or be asked about has used some CPU time.
            0 => Err(Errno(libc::EINVAL)),
            nanos => Ok(nanos),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_descriptor_stays_open() {
        let open = || {
            let mut count = 0;
            Kernel.list("/proc/self/fd", &mut |_| count += 1).map(|()| count)
        };
        let before = open().unwrap();
        let mut buffer = [0; 64];
        for _ in 0..200 {
            assert_eq!(Kernel.read_file("/proc/self/stat", &mut buffer), Ok(64));
            Kernel.list("/proc/self", &mut |_| ()).unwrap();
        }
        // Other tests open some meanwhile.
        assert!(open().unwrap() < before + 100);
    }
}
