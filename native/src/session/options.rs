//! What a session is made from, and how it is read.

#[cfg(picollo_linux)]
use crate::base::error::{Result, failure};
#[cfg(picollo_linux)]
use crate::machine::diagnose::Target;

/// Keep the events of the first group on the processor's counters all the time, as far as the processor can. Where it cannot, when they
/// are enabled or later, they are opened again without this and share counters like any others: no error, but
/// [`EVENT_INFO_UNPINNED`](crate::EVENT_INFO_UNPINNED) and a message. An interval that was lost over it is `NotCounted`. Events that
/// find no room in the first group are not pinned, and flagged so.
pub const SESSION_PINNED: u32 = 1 << 0;
/// Count in the kernel too.
pub const SESSION_KERNEL: u32 = 1 << 1;
/// Do not start counting at once.
pub const SESSION_DISABLED: u32 = 1 << 2;
/// Count the threads and processes that the target starts from now on, too.
pub const SESSION_INHERIT: u32 = 1 << 3;
/// Events that cannot be opened stay as entries with their status, never counted; where the kernel may not be counted, user space is,
/// and the info says so.
pub const SESSION_SKIP_UNAVAILABLE: u32 = 1 << 4;
/// Fences around reads: everything before a read is counted, nothing after it.
pub const SESSION_ORDERED: u32 = 1 << 5;
/// Count on one CPU only.
pub const SESSION_ON_CPU: u32 = 1 << 6;
/// Subtract what reading itself adds, once a calibration has measured it, from values (not from raw ones).
pub const SESSION_SUBTRACT: u32 = 1 << 7;
/// Never read in user space, whatever the mode of a reading: no page is mapped, no child tries the instruction, no clock is
/// calibrated. For programs that must not be ended by a fault, should somebody forbid user reads while they run; and for sessions
/// that are to be made quickly.
pub const SESSION_SYSCALL_ONLY: u32 = 1 << 8;

#[cfg(picollo_linux)]
const ALL_FLAGS: u32 = (SESSION_SYSCALL_ONLY << 1) - 1;

/// What a session is made from. All zero is a good default: the calling thread, user space, counting at once.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct SessionOptions {
    /// [`SESSION_PINNED`] and its siblings.
    pub flags: u32,
    /// 0: the calling thread; -1 with [`SESSION_ON_CPU`]: everything on that CPU; else a thread's kernel id.
    pub thread: i32,
    /// Used only with [`SESSION_ON_CPU`].
    pub cpu: i32,
    /// Of the histograms: 32 or 64; 0 means 64.
    pub counter_bits: u32,
    /// Of the histograms: 0 means 0.001.
    pub relative_error: f64,
}

/// How to read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum ReadMode {
    /// In user space where that is possible and provably right, else by system call. Opening thread only.
    Auto = 0,
    /// By system call, on any thread.
    Syscall = 1,
}

impl ReadMode {
    /// The mode with this number in the C ABI.
    pub const fn from_raw(raw: u32) -> Option<ReadMode> {
        match raw {
            0 => Some(ReadMode::Auto),
            1 => Some(ReadMode::Syscall),
            _ => None,
        }
    }
}

/// Whom the options mean, where they mean anything.
#[cfg(picollo_linux)]
pub(crate) fn check_options(options: &SessionOptions) -> Result<Target> {
    let invalid = |why| Err(failure!(InvalidArgument, "{why}"));
    if options.flags & !ALL_FLAGS != 0 {
        return Err(failure!(Unsupported, "unknown session flags: {:#x}", options.flags & !ALL_FLAGS));
    }
    let on_cpu = options.flags & SESSION_ON_CPU != 0;
    match (options.thread, options.cpu) {
        (..=-2, _) => invalid("a thread is 0, a kernel thread id, or -1 for everything on a CPU"),
        (-1, _) if !on_cpu => invalid("everything can be counted only on one CPU (ON_CPU)"),
        (_, ..=-1) if on_cpu => invalid("ON_CPU needs the number of a CPU"),
        (pid, cpu) => Ok(Target { pid, cpu: if on_cpu { cpu } else { -1 } }),
    }
}
