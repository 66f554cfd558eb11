//! Why a call could not be done, with the explanation.

use core::ffi::c_char;
use core::fmt;

use crate::base::text;

/// The kinds of failure, numbered as in the C ABI.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i32)]
#[non_exhaustive]
pub enum Status {
    /// A pointer that must not be NULL was.
    NullPointer = -1,
    /// An argument is outside its documented range.
    InvalidArgument = -2,
    /// The allocator or the kernel had no memory.
    OutOfMemory = -3,
    /// The caller's buffer is too small.
    BufferTooSmall = -4,
    /// This build, platform, mode or option does not offer it.
    Unsupported = -5,
    /// Layouts that cannot be combined losslessly.
    Incompatible = -6,
    /// Encoded data is malformed.
    Corrupt = -7,
    /// Nothing was read or recorded yet.
    Empty = -8,
    /// The call belongs on the thread that opened the session.
    WrongThread = -9,
    /// The operating system refused; see the errno.
    Os = -10,
    /// The operating system denied it for lack of rights.
    Permission = -11,
    /// The event is unknown to this machine, or there is no PMU.
    NoSuchEvent = -12,
    /// The event was never scheduled in the interval.
    NotCounted = -13,
    /// Bounded retries ran out; try again.
    Busy = -14,
    /// The session belongs to the process that forked this one.
    Forked = -15,
    /// A defect of the library, stopped at its boundary.
    Panic = -127,
}

impl Status {
    /// The number of the C ABI.
    pub const fn code(self) -> i32 {
        self as i32
    }

    /// One sentence for people.
    pub const fn as_str(self) -> &'static str {
        match self {
            Status::NullPointer => "a pointer is NULL",
            Status::InvalidArgument => "an argument is outside its documented range",
            Status::OutOfMemory => "out of memory",
            Status::BufferTooSmall => "the buffer is too small",
            Status::Unsupported => "not supported by this mode, option, platform or build",
            Status::Incompatible => "the layouts cannot be combined without loss",
            Status::Corrupt => "the encoded data is malformed",
            Status::Empty => "nothing was recorded",
            Status::WrongThread => "only the thread that opened the session may do this",
            Status::Os => "the operating system refused",
            Status::Permission => "permission denied",
            Status::NoSuchEvent => "no such event on this machine",
            Status::NotCounted => "the event was not counted in this interval",
            Status::Busy => "competing calls kept the operation from finishing; try again",
            Status::Forked => "the session belongs to the parent process; it can only be freed here",
            Status::Panic => "internal error",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A failure with its explanation: what, why, and what to do about it. Holds its text by value, so that making one never
/// allocates. Same layout as `picollo_error` in C.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Error {
    /// The number of its [`Status`].
    status: i32,
    /// The errno of the system call that failed; 0: none.
    os_errno: i32,
    /// Which of the events given; -1: none.
    event_index: i32,
    /// 0.
    reserved: u32,
    /// What happened, why, and what to do; NUL-terminated UTF-8.
    message: [c_char; 496],
}

/// The result of a call that can fail with an explanation.
pub type Result<T> = core::result::Result<T, Error>;

impl Error {
    /// A failure explained by `message`, which is cut behind a word, with an ellipsis, to 495 bytes.
    pub fn new(status: Status, message: fmt::Arguments<'_>) -> Self {
        let mut error =
            Error { status: status.code(), os_errno: 0, event_index: -1, reserved: 0, message: [0; 496] };
        text::set_sentences(&mut error.message, message);
        error
    }

    /// The same with the errno that the system gave.
    pub fn with_errno(mut self, errno: i32) -> Self {
        self.os_errno = errno;
        self
    }

    /// The same with the position of the event it is about.
    pub fn with_event(mut self, index: usize) -> Self {
        self.event_index = i32::try_from(index).unwrap_or(-1);
        self
    }

    /// The kind of failure.
    pub fn status(&self) -> Status {
        const ALL: [Status; 16] = [
            Status::NullPointer,
            Status::InvalidArgument,
            Status::OutOfMemory,
            Status::BufferTooSmall,
            Status::Unsupported,
            Status::Incompatible,
            Status::Corrupt,
            Status::Empty,
            Status::WrongThread,
            Status::Os,
            Status::Permission,
            Status::NoSuchEvent,
            Status::NotCounted,
            Status::Busy,
            Status::Forked,
            Status::Panic,
        ];
        ALL.into_iter().find(|status| status.code() == self.status).unwrap_or(Status::Os)
    }

    /// The errno of the system call that failed; 0: none.
    pub fn os_errno(&self) -> i32 {
        self.os_errno
    }

    /// Which of the events given; -1: none.
    pub fn event_index(&self) -> i32 {
        self.event_index
    }

    /// What happened, why, and what to do.
    pub fn message(&self) -> &str {
        text::get(&self.message)
    }
}

impl From<Status> for Error {
    fn from(status: Status) -> Self {
        Error::new(status, format_args!("{}", status.as_str()))
    }
}

impl From<picollo_core::Error> for Error {
    fn from(error: picollo_core::Error) -> Self {
        use picollo_core::Error as Core;
        let status = match error {
            Core::InvalidArgument => Status::InvalidArgument,
            Core::OutOfMemory => Status::OutOfMemory,
            Core::BufferTooSmall => Status::BufferTooSmall,
            Core::Incompatible => Status::Incompatible,
            Core::Corrupt => Status::Corrupt,
            Core::Empty => Status::Empty,
            Core::Busy => Status::Busy,
            // Includes what a later core may add: an answer we do not know is one we do not offer.
            _ => Status::Unsupported,
        };
        Error::new(status, format_args!("{}", error.as_str()))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("status", &self.status())
            .field("os_errno", &self.os_errno)
            .field("event_index", &self.event_index)
            .field("message", &self.message())
            .finish()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl core::error::Error for Error {}

const _: () = assert!(size_of::<Error>() == 512 && core::mem::offset_of!(Error, message) == 16);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carries_everything() {
        let error = Error::new(Status::Permission, format_args!("no {}", 1)).with_errno(13).with_event(4);
        assert_eq!(error.status(), Status::Permission);
        assert_eq!((error.os_errno(), error.event_index(), error.message()), (13, 4, "no 1"));
        assert_eq!(error.to_string(), "no 1");
    }

    #[test]
    fn core_errors_convert() {
        assert_eq!(Error::from(picollo_core::Error::Busy).status(), Status::Busy);
        assert_eq!(Error::from(picollo_core::Error::Unsupported).status(), Status::Unsupported);
        assert_eq!(Error::from(Status::Forked).status(), Status::Forked);
    }
}
