//! The child that tries something that may fault. `asm/trial.c` has the code that runs in it.
//!
//! It shares this process's address space on a separate stack, and this thread waits for its end. So nothing is copied,
//! however much memory there is. If that is refused (a sandbox may permit no such child), or if there is no code for it
//! (other architectures), nothing is known.
//!
//! It has no exit signal: no handler of the host runs in it or because of it, and no `wait` of the host sees it.

use core::ffi::{c_int, c_void};

use crate::user_read::page::CAPABILITIES_NEEDED;
use picollo_native::seam::kernel::{Attr, flag, format, request};
use picollo_native::seam::sys::{Errno, page_size, persist};

/// The child's finding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Finding {
    /// It read a counter and survived.
    Safe,
    /// Reading raised SIGSEGV, SIGILL or SIGBUS.
    Faults,
    /// It did not get as far as reading (no child, no event, no page, not on the PMU), or something else killed it: a
    /// sandbox, the kernel when memory was short, an administrator. Nothing is known.
    Unknown,
}

/// The code that runs in the child; it returns an exit code. It shares memory with this process, and thread-local
/// storage with the waiting thread. So it may do only what a signal handler may, and no call that sets `errno`.
pub(crate) type Body = unsafe extern "C" fn(*mut c_void) -> c_int;

/// Exit codes of the child, as in trial.c.
const SAFE: c_int = 0;
#[cfg(test)]
const UNKNOWN: c_int = 1;
const FAULTED: c_int = 2;

unsafe extern "C" {
    fn picollo_asm_trial_start(top: *mut c_void, body: Body, argument: *mut c_void) -> i64;
    fn picollo_asm_trial_counter(trial: *mut c_void) -> c_int;
}

/// `struct trial` of trial.c.
#[repr(C)]
struct Trial {
    attributes: *mut Attr,
    page_bytes: u64,
    capabilities: u64,
    enable: u64,
    page: *mut c_void,
}

/// Lets a child open a separate event like this one, map it, and read its counter in user space.
pub(crate) fn read_one(attr: &Attr) -> Finding {
    // Not pinned: the event need only be on the PMU at the time.
    let flags = (attr.flags | flag::DISABLED) & !flag::PINNED;
    let mut attr = Attr { flags, read_format: format::SINGLE, ..*attr };
    let mut trial = Trial {
        attributes: &raw mut attr,
        page_bytes: page_size() as u64,
        capabilities: CAPABILITIES_NEEDED,
        enable: request::ENABLE,
        page: core::ptr::null_mut(),
    };
    let argument = &raw mut trial;
    // SAFETY: the body is made for the child. Its argument outlives the child, because this thread waits for the child.
    let finding = unsafe { ask_child(picollo_asm_trial_counter, argument.cast()) };
    // Read through the pointer, because a child in this address space has written to it.
    // SAFETY: the argument is live, and the child has ended.
    let page = unsafe { argument.read_volatile() }.page;
    if !page.is_null() {
        // SAFETY: the child mapped this page into this address space, and nobody else knows it. The event ends with it.
        unsafe { libc::munmap(page, page_size()) };
    }
    finding
}

/// Runs a body in a child that the host does not notice.
///
/// # Safety
/// The body obeys the rules of [`Body`], and `argument` is what it expects until it ends.
pub(crate) unsafe fn ask_child(body: Body, argument: *mut c_void) -> Finding {
    // Room for a signal's frame with the largest vector registers. Only the pages that are touched take memory.
    const STACK: usize = 256 << 10;
    let Ok(stack) = Stack::new(STACK) else { return Finding::Unknown };
    let alone = Alone::new();
    // SAFETY: the stack is live, and nobody else uses it until the call returns, because this thread is suspended until
    // the child has ended. Signals are blocked, so no handler of the host runs in the child. The rest is by the caller.
    let child = unsafe { picollo_asm_trial_start(stack.top(), body, argument) };
    drop(alone);
    match i32::try_from(child) {
        Ok(child) if child > 0 => judge(child),
        _ => Finding::Unknown,
    }
}

/// Waits for a child, and returns what its end means.
fn judge(child: i32) -> Finding {
    let mut status = 0;
    let waited = persist(|| {
        // SAFETY: waits for the child made just now. __WALL is needed because the child has no exit signal.
        let waited = unsafe { libc::waitpid(child, &raw mut status, libc::__WALL) };
        if waited == child { Ok(()) } else { Err(Errno::last()) }
    });
    match () {
        // Somebody else waited for it.
        () if waited.is_err() => Finding::Unknown,
        () if libc::WIFEXITED(status) => match libc::WEXITSTATUS(status) {
            SAFE => Finding::Safe,
            FAULTED => Finding::Faults,
            _ => Finding::Unknown,
        },
        // The fault came before the child's handlers were set, or an emulator did not call them.
        () if matches!(libc::WTERMSIG(status), libc::SIGSEGV | libc::SIGILL | libc::SIGBUS) => {
            Finding::Faults
        }
        () => Finding::Unknown,
    }
}

/// Blocks signals: the host's handlers must not run in a child, another process that may share the host's memory.
struct Alone(Option<libc::sigset_t>);

impl Alone {
    fn new() -> Alone {
        // SAFETY: zeroed signal sets are valid, and are overwritten or filled by the calls.
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) = unsafe { core::mem::zeroed() };
        // SAFETY: as above.
        let masked = unsafe {
            libc::sigfillset(&raw mut all);
            // Except for those that instructions raise: if blocked, they would kill even where somebody handles them.
            for signal in
                [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP, libc::SIGSYS]
            {
                libc::sigdelset(&raw mut all, signal);
            }
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before) == 0
        };
        Alone(masked.then_some(before))
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            // SAFETY: the set is the previous one.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before, core::ptr::null_mut()) };
        }
    }
}

/// A stack, with a page below it that nothing may touch.
struct Stack {
    bottom: *mut c_void,
    bytes: usize,
}

impl Stack {
    fn new(bytes: usize) -> Result<Stack, Errno> {
        let (protection, kind) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let bytes = bytes + page_size();
        // SAFETY: a new mapping at an address of the kernel's choice.
        let bottom = unsafe { libc::mmap(core::ptr::null_mut(), bytes, protection, kind, -1, 0) };
        if bottom == libc::MAP_FAILED {
            return Err(Errno::last());
        }
        // SAFETY: the first page of the mapping just made. The stack works without this guard as well.
        unsafe { libc::mprotect(bottom, page_size(), libc::PROT_NONE) };
        Ok(Stack { bottom, bytes })
    }

    /// The start of a stack that grows downward: a multiple of the page size.
    fn top(&self) -> *mut c_void {
        self.bottom.wrapping_byte_add(self.bytes)
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: `new` mapped it with this length, and it is not used after this.
        unsafe { libc::munmap(self.bottom, self.bytes) };
    }
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
#[path = "trial_tests.rs"]
mod tests;
