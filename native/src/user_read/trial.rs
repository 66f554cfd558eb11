//! The child in which something is tried that may fault. `asm/trial.c` has what runs in it.
//!
//! It shares this process's address space, on a stack of its own, and this thread waits for its end: nothing is copied, however
//! much memory there is. Where that is refused (a sandbox that knows fork alone) or there is no code for it (other
//! architectures), an ordinary child is forked instead, which takes the longer the more memory there is.
//!
//! Neither has an exit signal: no handler of the host runs in it or because of it, and no `wait` of the host sees it.

use core::ffi::{c_int, c_void};

use crate::os::kernel::{Attr, flag, format, request};
use crate::os::sys::{Errno, page_size, persist};
use crate::user_read::page::CAPABILITIES_NEEDED;

/// What the child found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Finding {
    /// It read a counter and lived.
    Safe,
    /// Reading raised SIGSEGV, SIGILL or SIGBUS.
    Faults,
    /// It did not get as far as reading (no child, no event, no page, not on the PMU), or was killed by something else: a sandbox,
    /// the kernel when memory was out, an administrator. Nothing is known.
    Unknown,
}

/// What runs in the child; returns one of the three exit codes. It shares memory with this process, and the thread-local storage of
/// the waiting thread, so it may only do what a handler of signals may, and make no call that sets `errno`.
pub(crate) type Body = unsafe extern "C" fn(*mut c_void) -> c_int;

/// Exit codes of the child, as trial.c has them.
const SAFE: c_int = 0;
#[cfg(test)]
const UNKNOWN: c_int = 1;
const FAULTED: c_int = 2;

unsafe extern "C" {
    fn picollo_asm_trial_start(top: *mut c_void, body: Body, argument: *mut c_void) -> i64;
    fn picollo_asm_trial_run(body: Body, argument: *mut c_void);
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

/// Lets a child open an event like this one for itself, map it, and read its counter in user space.
pub(crate) fn read_one(attr: &Attr) -> Finding {
    // Not pinned: it is enough that it is on the PMU at the time.
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
    // SAFETY: the body is made for the child, and its argument outlives the child, for which this thread waits.
    let finding = unsafe { ask_child(picollo_asm_trial_counter, argument.cast()) };
    // Read through the pointer: a child of this address space has written to it.
    // SAFETY: the argument is live, and the child is gone.
    let page = unsafe { argument.read_volatile() }.page;
    if !page.is_null() {
        // SAFETY: the child mapped this one page into this address space, and nobody else knows it. The event goes with it.
        unsafe { libc::munmap(page, page_size()) };
    }
    finding
}

/// Runs a body in a child that nobody notices.
///
/// # Safety
/// The body keeps to what [`Body`] says, and `argument` is what it expects, until it ends.
pub(crate) unsafe fn ask_child(body: Body, argument: *mut c_void) -> Finding {
    let alone = Alone::new();
    // SAFETY: passed on.
    let started = match unsafe { start_sharing(body, argument) } {
        // Refused, or unknown here.
        Err(Errno(libc::EPERM | libc::EACCES | libc::EINVAL | libc::ENOSYS)) => {
            // SAFETY: passed on.
            unsafe { start_forked(body, argument) }
        }
        started => started,
    };
    drop(alone);
    match started {
        Ok(child) => judge(child),
        Err(_) => Finding::Unknown,
    }
}

/// Starts a child in this address space, and returns after its end.
///
/// # Safety
/// As for [`ask_child`].
unsafe fn start_sharing(body: Body, argument: *mut c_void) -> Result<i32, Errno> {
    // Room for the frame of a signal with the largest vector registers there are. Only what is touched takes memory.
    const STACK: usize = 256 << 10;
    let stack = Stack::new(STACK)?;
    // SAFETY: the stack is live and nobody else's until the call returns: this thread is suspended until the child has ended. Signals
    // are blocked, so that no handler of the host runs in the child. The rest is passed on.
    let child = unsafe { picollo_asm_trial_start(stack.top(), body, argument) };
    match i32::try_from(child) {
        Ok(child) if child > 0 => Ok(child),
        Ok(errno) => Err(Errno(-errno)),
        Err(_) => Err(Errno(libc::EINVAL)),
    }
}

/// Starts a child that is a copy of this process. It may still run when this returns.
///
/// # Safety
/// As for [`ask_child`].
unsafe fn start_forked(body: Body, argument: *mut c_void) -> Result<i32, Errno> {
    // All arguments are 0: no shared memory, no exit signal, the same stack in a copy. SAFETY: the child is a copy of this process
    // with this one thread; it leaves by exit_group and returns to no frame of the parent.
    let child = unsafe { libc::syscall(libc::SYS_clone, 0, 0, 0, 0, 0) };
    if child == 0 {
        // SAFETY: in the child, which this ends.
        unsafe { picollo_asm_trial_run(body, argument) };
    }
    if child > 0 { i32::try_from(child).map_err(|_| Errno(libc::EINVAL)) } else { Err(Errno::last()) }
}

/// Waits for a child, and says what its end means.
fn judge(child: i32) -> Finding {
    let mut status = 0;
    let waited = persist(|| {
        // SAFETY: waits for the child just made; __WALL because it has no exit signal.
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
        // Before its handlers, or where an emulator has none for it.
        () if matches!(libc::WTERMSIG(status), libc::SIGSEGV | libc::SIGILL | libc::SIGBUS) => {
            Finding::Faults
        }
        () => Finding::Unknown,
    }
}

/// Holds back signals: handlers of the host must not run in a child, whose process it is not and whose memory it may be.
struct Alone(Option<libc::sigset_t>);

impl Alone {
    fn new() -> Alone {
        // SAFETY: zeroed signal sets are valid, and are overwritten or filled by the calls.
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) = unsafe { core::mem::zeroed() };
        // SAFETY: as above.
        let masked = unsafe {
            libc::sigfillset(&raw mut all);
            // But for those that instructions raise: blocked, they would kill even where somebody answers them.
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
            // SAFETY: the set is the one that was in force.
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
        // SAFETY: the first page of the mapping just made. Without the guard it works as well.
        unsafe { libc::mprotect(bottom, page_size(), libc::PROT_NONE) };
        Ok(Stack { bottom, bytes })
    }

    /// Where a stack that grows downwards begins: a multiple of the page size.
    fn top(&self) -> *mut c_void {
        self.bottom.wrapping_byte_add(self.bytes)
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` at this length, and not used any more.
        unsafe { libc::munmap(self.bottom, self.bytes) };
    }
}

#[cfg(test)]
#[path = "trial_tests.rs"]
mod tests;
