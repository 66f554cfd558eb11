//! What a session is made from, and how it is read.

#[cfg(picollo_linux)]
use crate::machine::diagnose::Target;
#[cfg(picollo_linux)]
use picollo_native::Result;
#[cfg(picollo_linux)]
use picollo_native::seam::failure;

/// Keep the events of the first group on the processor's counters all the time, as far as possible. If it is not
/// possible, now or later, they are opened again without this flag and share counters. This is not an error, but sets
/// [`EVENT_INFO_UNPINNED`](crate::EVENT_INFO_UNPINNED) and a message. An interval that was lost by it is
/// `NotCounted`. Events without room in the first group are not pinned, and flagged too.
pub const SESSION_PINNED: u32 = 1 << 0;
/// Count in the kernel too.
pub const SESSION_KERNEL: u32 = 1 << 1;
/// Do not start counting at once.
pub const SESSION_DISABLED: u32 = 1 << 2;
/// Count the threads and processes that the target starts from now on, too.
pub const SESSION_INHERIT: u32 = 1 << 3;
/// Keep events that cannot be opened as entries with their status, never counted. If the kernel may not be counted,
/// count user space only, which the info shows.
pub const SESSION_SKIP_UNAVAILABLE: u32 = 1 << 4;
/// Fences around reads: everything before a read is counted, nothing after it.
pub const SESSION_ORDERED: u32 = 1 << 5;
/// Count on one CPU only.
pub const SESSION_ON_CPU: u32 = 1 << 6;
/// Subtract from values (not from raw ones) what reading adds, after a calibration has measured it.
pub const SESSION_SUBTRACT: u32 = 1 << 7;
/// Never read in user space, whatever the mode of a reading. No page is mapped, no child process tries the
/// instruction, and no clock is calibrated. Use it if no fault may end the program when somebody forbids user reads,
/// and to make sessions quickly.
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
    /// Bits of the histograms' counters: 32 or 64; 0 means 64.
    pub counter_bits: u32,
    /// The histograms' relative error; 0 means 0.001.
    pub relative_error: f64,
}

/// How to read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum ReadMode {
    /// In user space if that is possible and provably right, otherwise by system call. Opening thread only.
    Auto = 0,
    /// By system call, on any thread.
    Syscall = 1,
}

impl ReadMode {
    /// The mode with this number in the C ABI.
    pub fn from_raw(raw: u32) -> Option<ReadMode> {
        [ReadMode::Auto, ReadMode::Syscall].get(raw as usize).copied()
    }
}

/// The target that the options mean, if they are valid.
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
