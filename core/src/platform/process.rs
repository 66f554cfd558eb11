//! Identifies this process, for data that a fork copies.
//!
//! The number that the system gives is not enough: in a new namespace, a child can have that of its parent. So on Linux each
//! process has a number of our own in a page that the kernel empties in the child of a fork, however it is made; a process that
//! finds the page empty takes the next number, counting on from those that it descends from. Where the kernel (before 4.14) or a
//! sandbox does not do that, the system's number stands in.

/// The number of this process, never 0: that of no process which it descends from. Loom's models have one process.
///
/// Costs one load once it is known; a system call where the system's number stands in.
#[inline]
pub fn process() -> u32 {
    #[cfg(all(target_os = "linux", not(any(loom, miri))))]
    return page::number();
    #[cfg(not(all(target_os = "linux", not(any(loom, miri)))))]
    if cfg!(all(any(unix, windows), not(loom))) { std::process::id().max(1) } else { 1 }
}

#[cfg(all(target_os = "linux", not(any(loom, miri))))]
mod page {
    #[cfg(not(target_env = "musl"))]
    use core::ffi::c_long;
    use core::ffi::{c_int, c_ulong, c_void};
    use core::ptr::null_mut;

    use crate::platform::atomics::Ordering::*;
    use crate::platform::atomics::{AtomicPtr, AtomicU32};

    /// One page that every child finds zeroed. Null until it is decided; [`NEVER`] where the kernel cannot do that.
    static PAGE: AtomicPtr<AtomicU32> = AtomicPtr::new(null_mut());
    /// Stands for a page that cannot be had, and stays zero: so that the usual path has nothing more to check.
    static NEVER: AtomicU32 = AtomicU32::new(0);
    /// The highest number so far, of this process and those that it descends from: an ordinary variable, which a child inherits.
    static HIGHEST: AtomicU32 = AtomicU32::new(0);

    const PROT_READ_WRITE: c_int = 3;
    /// On the few machines with other numbers the call fails.
    const MAP_PRIVATE_ANONYMOUS: c_int = 0x22;
    const MADV_WIPEONFORK: c_int = 18;
    const AT_PAGESZ: c_ulong = 6;

    #[cfg(target_env = "musl")]
    type Offset = i64;
    #[cfg(not(target_env = "musl"))]
    type Offset = c_long;

    unsafe extern "C" {
        fn getauxval(which: c_ulong) -> c_ulong;
        fn mmap(
            at: *mut c_void,
            size: usize,
            protection: c_int,
            kind: c_int,
            fd: c_int,
            from: Offset,
        ) -> *mut c_void;
        fn madvise(address: *mut c_void, size: usize, advice: c_int) -> c_int;
        fn munmap(address: *mut c_void, size: usize) -> c_int;
    }

    #[inline]
    pub(super) fn number() -> u32 {
        let page = PAGE.load(Acquire);
        if !page.is_null() {
            // SAFETY: a published page stays mapped for the life of the process, and of its children; so does the static.
            let number = unsafe { &*page }.load(Relaxed);
            if number != 0 {
                return number;
            }
        }
        first_number(page)
    }

    #[cold]
    fn first_number(page: *mut AtomicU32) -> u32 {
        let page = if page.is_null() { decide() } else { page };
        if core::ptr::eq(page, &raw const NEVER) {
            return std::process::id().max(1);
        }
        let next = HIGHEST.fetch_add(1, Relaxed).wrapping_add(1).max(1);
        // SAFETY: as in `number`. Another thread may have been faster.
        unsafe { &*page }.compare_exchange(0, next, Relaxed, Relaxed).err().unwrap_or(next)
    }

    /// Decides, once for the process and its children, between a page and none. A refusal is kept as well: to ask again would cost
    /// three system calls each time, and the number of a process must not change.
    fn decide() -> *mut AtomicU32 {
        // SAFETY: a query.
        let size = unsafe { getauxval(AT_PAGESZ) } as usize;
        let page = map(size);
        let mine = page.unwrap_or((&raw const NEVER).cast_mut());
        // Release: whoever finds the page must find it mapped and zero.
        match PAGE.compare_exchange(null_mut(), mine, AcqRel, Acquire) {
            Ok(_) => mine,
            Err(theirs) => {
                if let Some(page) = page {
                    // SAFETY: the page lost the race, so nobody else knows it.
                    unsafe { munmap(page.cast(), size) };
                }
                theirs
            }
        }
    }

    /// A new page that children find zeroed; `None` if the system refuses one.
    fn map(size: usize) -> Option<*mut AtomicU32> {
        // SAFETY: a new mapping at an address of the kernel's choice, and advice on it: nobody else knows it yet.
        unsafe {
            let page = mmap(null_mut(), size, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, -1, 0);
            if page.addr() == usize::MAX {
                return None;
            }
            if madvise(page, size, MADV_WIPEONFORK) == 0 {
                return Some(page.cast());
            }
            munmap(page, size);
        }
        None
    }
}

#[cfg(all(test, target_os = "linux", not(loom), not(miri)))]
mod tests {
    use super::*;

    /// Returns the result of `say` in a child of `clone`, unknown to the C library; `None` if no such child is allowed.
    fn in_child(flags: libc::c_long, say: impl FnOnce() -> Option<[u32; 2]>) -> Option<[u32; 2]> {
        let mut pipe = [0; 2];
        // SAFETY: system calls on memory of ours; the child makes only calls that are safe after a fork, and ends.
        unsafe {
            if libc::pipe(pipe.as_mut_ptr()) != 0 {
                return None;
            }
            // Without compare-and-swap, the child would wait forever for a critical section of another test.
            let flags = flags | libc::c_long::from(libc::SIGCHLD);
            let child = critical_section::with(|_| libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0));
            if child == 0 {
                let said = say();
                let written = said.map_or(0, |said| libc::write(pipe[1], (&raw const said).cast(), 8));
                libc::_exit((written != 8) as i32);
            }
            libc::close(pipe[1]);
            let mut said = [0u32; 2];
            let read = libc::read(pipe[0], (&raw mut said).cast(), 8);
            libc::close(pipe[0]);
            if child > 0 {
                libc::waitpid(child as i32, core::ptr::null_mut(), 0);
            }
            (child > 0 && read == 8).then_some(said)
        }
    }

    #[test]
    fn a_child_is_another_process() {
        let own = process();
        assert_eq!(process(), own);
        let [first, again] = in_child(0, || Some([process(), process()])).unwrap();
        assert!(first != 0 && first != own && first == again);
    }

    /// Both processes are number 1 in their namespaces.
    #[test]
    fn a_child_in_a_namespace_of_its_own_is_another_process() {
        const NEW: libc::c_long = libc::CLONE_NEWPID as libc::c_long;
        let own = process();
        let said = in_child(NEW, || {
            let parent = process();
            let [child, _] = in_child(NEW, || Some([process(); 2]))?;
            Some([parent, child])
        });
        let Some([parent, child]) = said else {
            return std::eprintln!("SKIPPED: processes cannot have namespaces of their own here");
        };
        assert!(parent != child && parent != own && child != own, "{own} {parent} {child}");
    }
}
