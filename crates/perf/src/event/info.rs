//! How an event of a session came to be counted, or why it is not.

use core::ffi::c_char;
use core::fmt;

use picollo_native::seam::text;
#[cfg(picollo_linux)]
use picollo_native::{ExplainedError, Status};

/// Counted only in user space, though more was requested.
pub const EVENT_INFO_USER_ONLY: u32 = 1 << 0;
/// Not kept on a counter all the time, though that was requested: never pinned, or pinned and lost once. The message
/// explains which.
pub const EVENT_INFO_UNPINNED: u32 = 1 << 1;
/// Counted by other means than a perf event.
pub const EVENT_INFO_SUBSTITUTED: u32 = 1 << 2;
/// Can be read in user space.
pub const EVENT_INFO_FAST: u32 = 1 << 3;
/// Opened, but the processor counts nothing.
pub const EVENT_INFO_SILENT: u32 = 1 << 4;

/// How an event is counted.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct EventInfo {
    /// Records without a count. The histogram's total and this add up to the number of records.
    pub not_counted_count: u64,
    /// Number of events that a pair of reads in user space adds, after a calibration.
    pub overhead_fast: u64,
    /// Number of events that a pair of reads by system call adds, after a calibration.
    pub overhead_syscall: u64,
    /// 0, or why the event is not open.
    pub status: i32,
    /// The errno of the reason, or 0.
    pub os_errno: i32,
    /// Events of one group are scheduled together. `u32::MAX`: in none.
    pub group: u32,
    /// [`EVENT_INFO_USER_ONLY`] and its siblings.
    pub flags: u32,
    /// Remarks about the event; empty if it is counted as requested.
    pub message: [c_char; 248],
}

impl EventInfo {
    /// Remarks about the event; empty if it is counted as requested.
    pub fn message(&self) -> &str {
        text::get(&self.message)
    }
}

#[cfg(picollo_linux)]
impl EventInfo {
    pub(crate) const NO_GROUP: u32 = u32::MAX;

    pub(crate) fn new() -> EventInfo {
        EventInfo {
            not_counted_count: 0,
            overhead_fast: 0,
            overhead_syscall: 0,
            status: 0,
            os_errno: 0,
            group: Self::NO_GROUP,
            flags: 0,
            message: [0; 248],
        }
    }

    /// Adds a sentence to the message.
    pub(crate) fn add_remark(&mut self, sentence: fmt::Arguments<'_>) {
        let before = self.message;
        match text::get(&before) {
            "" => text::set_sentences(&mut self.message, sentence),
            earlier => text::set_sentences(&mut self.message, format_args!("{earlier}; {sentence}")),
        }
    }

    /// Adds the remarks about a further part of the event, on another kind of core.
    pub(crate) fn add_part(&mut self, part: &EventInfo) {
        self.flags |= part.flags;
        if !part.message().is_empty() && !self.message().contains(part.message()) {
            self.add_remark(format_args!("on another kind of core: {}", part.message()));
        }
    }

    /// Why the event is not open.
    pub(crate) fn reason(&self) -> ExplainedError {
        let status = Status::from_code(self.status).unwrap_or(Status::Os);
        ExplainedError::new(status, format_args!("{}", self.message())).with_errno(self.os_errno)
    }

    /// Marks the event as not open, with this reason.
    pub(crate) fn fail(&mut self, error: &ExplainedError) {
        self.status = error.status().code();
        self.os_errno = error.os_errno();
        self.group = Self::NO_GROUP;
        text::set_sentences(&mut self.message, format_args!("{}", error.message()));
    }
}

impl fmt::Debug for EventInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventInfo")
            .field("not_counted_count", &self.not_counted_count)
            .field("overhead_fast", &self.overhead_fast)
            .field("overhead_syscall", &self.overhead_syscall)
            .field("status", &self.status)
            .field("os_errno", &self.os_errno)
            .field("group", &self.group)
            .field("flags", &self.flags)
            .field("message", &self.message())
            .finish()
    }
}

const _: () = assert!(size_of::<EventInfo>() == 288);
