//! The system calls that counting needs, behind traits so that tests can stand in for the kernel: one for its files, one for its events,
//! one for what threads have used. What the CPU does besides is in `user_read/sys.rs`.

mod files;
mod perf;
mod threads;

use core::sync::atomic::{AtomicUsize, Ordering};

pub use files::Files;
pub use perf::Perf;
pub use threads::Threads;

/// An error number of the operating system.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Errno(pub i32);

impl Errno {
    /// The number that the last failed call of this thread left behind.
    pub(crate) fn last() -> Errno {
        Errno(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO))
    }
}

/// The running kernel.
#[derive(Clone, Copy, Default, Debug)]
pub struct Kernel;

/// The size of a memory page, asked once.
pub(crate) fn page_size() -> usize {
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

/// How often an interrupted call is repeated before that is an error of its own.
const ATTEMPTS: u32 = 1000;

/// Repeats a call as long as it asks for it.
pub(crate) fn persist<T>(mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    let mut result = call();
    for _ in 1..ATTEMPTS {
        match result {
            Err(Errno(libc::EINTR | libc::EAGAIN)) => result = call(),
            _ => break,
        }
    }
    result
}
