//! Which process this is, for what a fork copies.
//!
//! The number that the system gives is not enough: in a new namespace, a child can have that of its parent. So on Linux each
//! process has a number of our own in a page that the kernel empties in the child of a fork, however it is made; a process that
//! finds the page empty takes the next number, counting on from those that it descends from. Where the kernel does not do
//! that, the system's number stands in.

/// The number of this process, never 0: that of no process which it descends from. Loom's models have one process.
pub(crate) fn process() -> u32 {
    #[cfg(all(target_os = "linux", not(any(loom, miri))))]
    if let Some(number) = page::number() {
        return number;
    }
    if cfg!(all(any(unix, windows), not(loom))) { std::process::id().max(1) } else { 1 }
}

#[cfg(all(target_os = "linux", not(any(loom, miri))))]
mod page {
    use core::ffi::{c_int, c_ulong, c_void};

    use crate::platform::atomics::AtomicU32;
    use crate::platform::atomics::Ordering::*;

    const SIZE: usize = 4096;

    /// Zeroed, so memory without a file behind it, which is what the kernel asks for.
    #[repr(C, align(4096))]
    struct Page {
        number: AtomicU32,
        rest: [u8; SIZE - size_of::<AtomicU32>()],
    }

    static PAGE: Page = Page { number: AtomicU32::new(0), rest: [0; _] };
    /// The highest number so far, of this process and those that it descends from.
    static HIGHEST: AtomicU32 = AtomicU32::new(0);

    /// Whether the page is emptied in children.
    static STATE: AtomicU32 = AtomicU32::new(UNKNOWN);
    const UNKNOWN: u32 = 0;
    const EMPTIED: u32 = 1;
    const REFUSED: u32 = 2;

    const MADV_WIPEONFORK: c_int = 18;
    const AT_PAGESZ: c_ulong = 6;

    unsafe extern "C" {
        fn madvise(address: *mut c_void, length: usize, advice: c_int) -> c_int;
        fn getauxval(which: c_ulong) -> c_ulong;
    }

    pub(crate) fn number() -> Option<u32> {
        if STATE.load(Acquire) != EMPTIED && !prepare() {
            return None;
        }
        match PAGE.number.load(Relaxed) {
            0 => Some(take_number()),
            number => Some(number),
        }
    }

    /// Asks the kernel, once.
    #[cold]
    fn prepare() -> bool {
        if STATE.load(Acquire) == UNKNOWN {
            // SAFETY: no more than what it is. Larger pages would have more than ours in them, which is not to be emptied.
            let has_such_pages = unsafe { getauxval(AT_PAGESZ) } == SIZE as c_ulong;
            let page = (&raw const PAGE).cast_mut().cast();
            // SAFETY: a whole page of ours, in which there is nothing yet. Several threads may ask for the same.
            let is_emptied = has_such_pages && unsafe { madvise(page, SIZE, MADV_WIPEONFORK) } == 0;
            return decide(&STATE, is_emptied);
        }
        STATE.load(Acquire) == EMPTIED
    }

    /// The first answer is kept, if several threads asked at once: the number of a process must not change.
    fn decide(state: &AtomicU32, is_emptied: bool) -> bool {
        let answer = if is_emptied { EMPTIED } else { REFUSED };
        state.compare_exchange(UNKNOWN, answer, AcqRel, Acquire).err().unwrap_or(answer) == EMPTIED
    }

    #[test]
    fn the_first_answer_is_kept() {
        for first in [true, false] {
            let state = AtomicU32::new(UNKNOWN);
            assert_eq!(decide(&state, first), first);
            assert_eq!(decide(&state, !first), first);
        }
    }

    /// The first time in this process.
    #[cold]
    fn take_number() -> u32 {
        let next = HIGHEST.fetch_add(1, Relaxed).wrapping_add(1).max(1);
        match PAGE.number.compare_exchange(0, next, Relaxed, Relaxed) {
            Ok(_) => next,
            // Another thread was faster.
            Err(number) => number,
        }
    }
}

#[cfg(all(test, target_os = "linux", not(loom), not(miri)))]
mod tests {
    use super::*;

    /// What is said in a child of `clone`, which the C library knows nothing of; `None` where there may be no such child.
    fn in_child(flags: libc::c_long, say: impl FnOnce() -> Option<[u32; 2]>) -> Option<[u32; 2]> {
        let mut pipe = [0; 2];
        // SAFETY: system calls on memory of ours; the child calls nothing but what is safe after a fork, and ends.
        unsafe {
            if libc::pipe(pipe.as_mut_ptr()) != 0 {
                return None;
            }
            // Of a machine without compare-and-swap, the child would wait for ever for a critical section of another test.
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

    /// Both are number 1 in their namespaces.
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
