//! Who is calling: the same thread, and the same process, as before?

use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::os::sys::page_size;

unsafe extern "C" {
    fn picollo_asm_thread_token() -> u64;
    fn picollo_asm_set_thread_token(token: u64);
}

/// A number that only the calling thread has, and no thread after it: never reused, unlike thread ids and addresses. A forked
/// child's first thread inherits its parent's; [`process`] tells those apart.
#[inline]
pub(crate) fn token() -> u64 {
    // SAFETY: reads a thread-local variable that C owns: a plain number, without a destructor, so that it can be read even while
    // the thread's other locals are being destroyed.
    let token = unsafe { picollo_asm_thread_token() };
    if token == 0 { new_token() } else { token }
}

#[cold]
fn new_token() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    // At a billion threads a second it lasts for five centuries.
    let token = NEXT.fetch_add(1, Ordering::Relaxed);
    // SAFETY: writes the same variable.
    unsafe { picollo_asm_set_thread_token(token) };
    token
}

/// The kernel's id of the calling thread.
pub(crate) fn kernel_id() -> i32 {
    // SAFETY: a query without arguments. (The raw number: older C libraries have no wrapper.)
    let id = unsafe { libc::syscall(libc::SYS_gettid) };
    i32::try_from(id).unwrap_or(0)
}

/// One page that every child finds zeroed after fork, whichever way it was forked. Null until it is decided; [`NEVER`] where the
/// kernel cannot do that.
static PAGE: AtomicPtr<AtomicU64> = AtomicPtr::new(core::ptr::null_mut());
/// Stands for a page that cannot be had, and stays zero: so that the usual path has nothing more to check.
static NEVER: AtomicU64 = AtomicU64::new(0);
/// How many stamps were given out on the way from the first ancestor to this process.
static STAMPS: AtomicU64 = AtomicU64::new(0);
/// Marks stamps that are process ids, where the kernel cannot zero the page.
const BY_PROCESS_ID: u64 = 1 << 63;

/// A number that this process has and that none of its ancestors had. Costs one load once it is known; one system call where the
/// kernel (before 4.14) or a sandbox cannot zero a page for children.
#[inline]
pub(crate) fn process() -> u64 {
    let page = PAGE.load(Ordering::Acquire);
    if !page.is_null() {
        // SAFETY: a published page stays mapped for the life of the process, and of its children; so does the static.
        let stamp = unsafe { &*page }.load(Ordering::Relaxed);
        if stamp != 0 {
            return stamp;
        }
    }
    first_stamp(page)
}

#[cold]
fn first_stamp(page: *mut AtomicU64) -> u64 {
    let page = if page.is_null() { decide() } else { page };
    if core::ptr::eq(page, &raw const NEVER) {
        return BY_PROCESS_ID | u64::from(std::process::id());
    }
    // SAFETY: as in `process`.
    let cell = unsafe { &*page };
    // The count is an ordinary variable, which a child inherits: its stamp comes after all of its ancestors'.
    let mine = STAMPS.fetch_add(1, Ordering::Relaxed) + 1;
    match cell.compare_exchange(0, mine, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => mine,
        Err(theirs) => theirs,
    }
}

/// Decides, once for the process and its children, between a page and none. A refusal is kept as well: to ask again would cost
/// three system calls each time, and two kinds of stamps in one process would not compare.
fn decide() -> *mut AtomicU64 {
    let page = map();
    let mine = page.unwrap_or((&raw const NEVER).cast_mut());
    // Release: whoever finds the page must find it mapped and zero.
    match PAGE.compare_exchange(core::ptr::null_mut(), mine, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => mine,
        Err(theirs) => {
            if let Some(page) = page {
                // SAFETY: the page lost the race, so nobody else knows it.
                unsafe { libc::munmap(page.cast(), page_size()) };
            }
            theirs
        }
    }
}

/// A new page that children find zeroed; `None` where there is none to be had.
fn map() -> Option<*mut AtomicU64> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new mapping at an address of the kernel's choice.
    let page = unsafe { libc::mmap(core::ptr::null_mut(), page_size(), protection, kind, -1, 0) };
    if page == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: the range is the page just mapped, which nobody else knows yet.
    if unsafe { libc::madvise(page, page_size(), libc::MADV_WIPEONFORK) } == 0 {
        return Some(page.cast());
    }
    // SAFETY: as above.
    unsafe { libc::munmap(page, page_size()) };
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::testing::{child_exit_code, filter, refuse};
    use std::collections::BTreeSet;

    #[test]
    fn tokens_are_never_reused() {
        let here = token();
        assert_eq!(token(), here);
        let tokens: BTreeSet<u64> = (0..50).map(|_| std::thread::spawn(token).join().unwrap()).collect();
        assert_eq!(tokens.len(), 50);
        assert!(!tokens.contains(&here));
    }

    #[test]
    fn stamps_are_the_processes() {
        let here = process();
        assert_ne!(here, 0);
        assert_eq!(std::thread::spawn(process).join().unwrap(), here);
        // The children make only system calls, and touch only memory of their own.
        let code = child_exit_code(|| {
            let child = process();
            let grandchild = child_exit_code(|| i32::from([here, child].contains(&process())));
            i32::from(child == here || child != process()) | grandchild << 1
        });
        assert_eq!(code, 0);
        assert_eq!(process(), here);
    }

    /// There a process is known by its number.
    #[test]
    fn a_page_that_cannot_be_wiped_is_asked_for_once() {
        let code = child_exit_code(|| {
            PAGE.store(core::ptr::null_mut(), Ordering::Relaxed);
            let wiping = Some((2, libc::BPF_JEQ, libc::MADV_WIPEONFORK as u32));
            if !refuse(libc::SYS_madvise, wiping, libc::EINVAL) {
                return 99;
            }
            let first = process();
            // Whoever asks again is killed.
            filter(libc::SYS_madvise, None, libc::SECCOMP_RET_KILL_PROCESS);
            let child = child_exit_code(|| i32::from(process() == first));
            i32::from(first & BY_PROCESS_ID == 0 || process() != first) | child << 1
        });
        match code {
            99 => eprintln!("SKIPPED: this kernel takes no seccomp filter"),
            code => assert_eq!(code, 0),
        }
    }
}
