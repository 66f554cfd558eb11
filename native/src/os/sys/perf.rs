//! The system calls that open, read and map events.

use core::ptr::NonNull;

use super::{Errno, Kernel, page_size};
use crate::os::kernel::{Attr, Page, request};
use crate::os::valgrind;

/// Events of the kernel. Calls are single attempts: whoever calls decides about repeating them.
pub trait Perf {
    /// `perf_event_open`. On `E2BIG` the kernel writes the size that it knows into `attr.size`.
    fn open(&self, attr: &mut Attr, pid: i32, cpu: i32, group: i32, flags: u64) -> Result<i32, Errno>;
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
    /// The event's id, as group reads name it.
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
    fn open(&self, attr: &mut Attr, pid: i32, cpu: i32, group: i32, flags: u64) -> Result<i32, Errno> {
        if valgrind::refuses_counters() {
            return Err(Errno(libc::ENOSYS));
        }
        if attr.size as usize > size_of::<Attr>() {
            return Err(Errno(libc::E2BIG));
        }
        // One register each: as 64-bit numbers the flags would, on some 32-bit machines, go into the next pair of them.
        let [pid, cpu, group] = [pid, cpu, group].map(libc::c_long::from);
        let flags = flags as libc::c_ulong;
        // SAFETY: attr is live and at least attr.size bytes long, as just checked; the kernel writes only its size field. The
        // other arguments are integers.
        let fd = unsafe {
            libc::syscall(libc::SYS_perf_event_open, core::ptr::from_mut(attr), pid, cpu, group, flags)
        };
        if fd < 0 { Err(Errno::last()) } else { i32::try_from(fd).map_err(|_| Errno(libc::EBADF)) }
    }

    unsafe fn close(&self, fd: i32) {
        // SAFETY: the caller owns the descriptor. Linux frees it even when the call is interrupted: it must not be repeated.
        unsafe { libc::close(fd) };
    }

    fn read(&self, fd: i32, buffer: &mut [u64]) -> Result<usize, Errno> {
        // By number: the C library's function is a cancellation point, and a thread that is cancelled in Rust's code ends the process.
        // SAFETY: the buffer is live and as long as said.
        let bytes = unsafe { libc::syscall(libc::SYS_read, fd, buffer.as_mut_ptr(), size_of_val(buffer)) };
        usize::try_from(bytes).map_err(|_| Errno::last())
    }

    unsafe fn ioctl(&self, fd: i32, request: u64, argument: u64) -> Result<(), Errno> {
        // SAFETY: the request takes an integer, says the caller.
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
