//! What a session can be asked for, and what it tells in flags.

use picollo_native::{ReadMode, SessionOptions};

use crate::failure::{Failure, Outcome};
use crate::options;

/// Keep the events of the first group on the processor's counters all the time, as far as the processor can. Where it
/// cannot, when they are enabled or later, they are opened again without this and share counters like any others: no
/// error, but PICOLLO_EVENT_INFO_UNPINNED and a message. An interval that was lost over it is
/// PICOLLO_ERR_NOT_COUNTED. Events that find no room in the first group are not pinned, and flagged so.
pub const PICOLLO_SESSION_PINNED: u32 = 1 << 0;
/// Count in the kernel too.
pub const PICOLLO_SESSION_KERNEL: u32 = 1 << 1;
/// Do not start counting at once.
pub const PICOLLO_SESSION_DISABLED: u32 = 1 << 2;
/// Count the threads and processes that the target starts from now on, too.
pub const PICOLLO_SESSION_INHERIT: u32 = 1 << 3;
/// Events that cannot be opened stay as entries with their status, never counted; where the kernel may not be
/// counted, user space is, and the info says so.
pub const PICOLLO_SESSION_SKIP_UNAVAILABLE: u32 = 1 << 4;
/// Fences around reads: everything before a read is counted, nothing after it.
pub const PICOLLO_SESSION_ORDERED: u32 = 1 << 5;
/// Count on one CPU only.
pub const PICOLLO_SESSION_ON_CPU: u32 = 1 << 6;
/// Subtract what reading itself adds, as picollo_session_calibrate measured it, from values (not from raw).
pub const PICOLLO_SESSION_SUBTRACT: u32 = 1 << 7;
/// Never read in user space, not even with PICOLLO_READ_AUTO: for programs that must not be ended by a fault, should
/// somebody forbid user reads while they run; and for sessions that are to be made quickly.
pub const PICOLLO_SESSION_SYSCALL_ONLY: u32 = 1 << 8;

/// In user space where that is possible and provably right, else by system call. Opening thread only.
pub const PICOLLO_READ_AUTO: u32 = 0;
/// By system call, on any thread.
pub const PICOLLO_READ_SYSCALL: u32 = 1;

/// Read in user space; for a delta, at both ends.
pub const PICOLLO_READING_FAST: u32 = 1 << 0;
/// Provably not descheduled since the previous read.
pub const PICOLLO_READING_CLEAN: u32 = 1 << 1;
/// The event shared a counter with others, so the value is extrapolated.
pub const PICOLLO_READING_SCALED: u32 = 1 << 2;
/// Someone else reset the counter: the delta starts anew, and what was counted just before the reset is missing.
pub const PICOLLO_READING_RESYNC: u32 = 1 << 3;
/// The times are from the last system call, not from this moment.
pub const PICOLLO_READING_TIMES_STALE: u32 = 1 << 4;

/// Counted in user space only, though more was asked for.
pub const PICOLLO_EVENT_INFO_USER_ONLY: u32 = 1 << 0;
/// Not kept on a counter all the time, though PICOLLO_SESSION_PINNED asked for it: not pinned, or pinned and pushed off
/// once. The message says which.
pub const PICOLLO_EVENT_INFO_UNPINNED: u32 = 1 << 1;
/// Counted by other means than a perf event.
pub const PICOLLO_EVENT_INFO_SUBSTITUTED: u32 = 1 << 2;
/// Can be read in user space.
pub const PICOLLO_EVENT_INFO_FAST: u32 = 1 << 3;
/// Opened, but the processor counts nothing.
pub const PICOLLO_EVENT_INFO_SILENT: u32 = 1 << 4;

/// Most events that a session has.
pub const PICOLLO_SESSION_MAX_EVENTS: usize = 64;

const _: () = {
    use picollo_native as native;
    assert!(
        PICOLLO_SESSION_PINNED == native::SESSION_PINNED
            && PICOLLO_SESSION_KERNEL == native::SESSION_KERNEL
            && PICOLLO_SESSION_DISABLED == native::SESSION_DISABLED
            && PICOLLO_SESSION_INHERIT == native::SESSION_INHERIT
            && PICOLLO_SESSION_SKIP_UNAVAILABLE == native::SESSION_SKIP_UNAVAILABLE
            && PICOLLO_SESSION_ORDERED == native::SESSION_ORDERED
            && PICOLLO_SESSION_ON_CPU == native::SESSION_ON_CPU
            && PICOLLO_SESSION_SUBTRACT == native::SESSION_SUBTRACT
            && PICOLLO_SESSION_SYSCALL_ONLY == native::SESSION_SYSCALL_ONLY
    );
    assert!(
        PICOLLO_READ_AUTO == ReadMode::Auto as u32
            && PICOLLO_READ_SYSCALL == ReadMode::Syscall as u32
            && PICOLLO_READING_FAST == native::READING_FAST
            && PICOLLO_READING_CLEAN == native::READING_CLEAN
            && PICOLLO_READING_SCALED == native::READING_SCALED
            && PICOLLO_READING_RESYNC == native::READING_RESYNC
            && PICOLLO_READING_TIMES_STALE == native::READING_TIMES_STALE
    );
    assert!(
        PICOLLO_EVENT_INFO_USER_ONLY == native::EVENT_INFO_USER_ONLY
            && PICOLLO_EVENT_INFO_UNPINNED == native::EVENT_INFO_UNPINNED
            && PICOLLO_EVENT_INFO_SUBSTITUTED == native::EVENT_INFO_SUBSTITUTED
            && PICOLLO_EVENT_INFO_FAST == native::EVENT_INFO_FAST
            && PICOLLO_EVENT_INFO_SILENT == native::EVENT_INFO_SILENT
            && PICOLLO_SESSION_MAX_EVENTS == native::MAX_EVENTS
    );
};

/// What a session is made from. Begin with PICOLLO_SESSION_OPTIONS_INIT, and change what should not be the
/// default: the calling thread on any CPU, in user space, counting at once.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_session_options {
    /// sizeof(picollo_session_options).
    pub struct_size: u32,
    /// PICOLLO_SESSION_....
    pub flags: u32,
    /// Of the histograms, as in picollo_histogram_options; 0: 0.001.
    pub relative_error: f64,
    /// 0: the calling thread; -1 with PICOLLO_SESSION_ON_CPU: everything on that CPU; else a thread's id, as gettid
    /// tells it.
    pub thread: i32,
    /// Read only with PICOLLO_SESSION_ON_CPU; else any CPU.
    pub cpu: i32,
    /// Of the histograms: 32 or 64; 0: 64.
    pub counter_bits: u32,
    /// 0.
    pub reserved: u32,
}

// SAFETY: plain numbers in naturally aligned order (asserted in layout.rs), the size first.
unsafe impl options::Options for picollo_session_options {
    const FIRST_SIZE: usize = 32;
}

/// What the caller asks for, as the sessions understand it.
///
/// # Safety
/// As for [`options::read`].
pub unsafe fn read_options(options: *const picollo_session_options) -> Outcome<SessionOptions> {
    // SAFETY: passed on.
    let Some(asked) = (unsafe { options::read(options) })? else { return Ok(SessionOptions::default()) };
    if asked.reserved != 0 {
        return Err(Failure::UNSUPPORTED);
    }
    Ok(SessionOptions {
        flags: asked.flags,
        thread: asked.thread,
        cpu: asked.cpu,
        counter_bits: asked.counter_bits,
        relative_error: asked.relative_error,
    })
}
