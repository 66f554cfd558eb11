//! Errors: why a call failed, with an explanation.

use core::ffi::{CStr, c_char};
use core::fmt;

use crate::base::text;

/// The kinds of failure: what each is, its number in the C ABI, and a sentence for people.
macro_rules! statuses {
    ($($(#[$doc:meta])* $status:ident = $number:literal: $sentence:literal;)*) => {
        /// The kinds of failure, numbered as in the C ABI.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(i32)]
        #[non_exhaustive]
        pub enum Status {
            $($(#[$doc])* $status = $number,)*
        }

        impl Status {
            const ALL: [Status; 16] = [$(Status::$status),*];

            /// One sentence for people.
            pub const fn as_c_str(self) -> &'static CStr {
                match self { $(Status::$status => $sentence,)* }
            }
        }
    };
}

statuses! {
    /// A pointer is NULL that must not be.
    NullPointer = -1: c"a pointer is NULL that must not be";
    /// An argument is outside its documented range, or a pointer is not aligned for what it points to.
    InvalidArgument = -2: c"an argument is outside its documented range";
    /// The allocator had no memory; nothing was changed.
    OutOfMemory = -3: c"out of memory";
    /// The caller's buffer is too small; out_length, if there is one, reports the necessary size.
    BufferTooSmall = -4: c"the buffer is too small";
    /// This build, platform, mode or option does not offer it.
    Unsupported = -5: c"not supported by this build, platform, mode or option";
    /// The layouts cannot be combined without loss, or the data were made by another version.
    Incompatible = -6: c"the layouts cannot be combined without loss";
    /// Encoded data or an image in memory is malformed.
    Corrupt = -7: c"the data are malformed";
    /// Nothing was recorded or read, so there is nothing to report.
    Empty = -8: c"nothing was recorded";
    /// Only the thread that opened the session may do this.
    WrongThread = -9: c"only the thread that opened the session may do this";
    /// The operating system refused; the errno says why.
    Os = -10: c"the operating system refused";
    /// The operating system denied it for lack of rights.
    Permission = -11: c"permission denied";
    /// The event is unknown to this machine, or the machine offers no performance counters.
    NoSuchEvent = -12: c"no such event on this machine";
    /// The event was never scheduled in the interval, so its count is unknown rather than zero.
    NotCounted = -13: c"the event was not counted in this interval";
    /// A bounded number of retries ran out against competing calls; try again.
    Busy = -14: c"competing calls kept it from finishing; try again";
    /// The object belongs to the parent of a fork, or another thread of the parent was changing it. Here it can only
    /// be freed.
    Forked = -15: c"it belongs to the parent process; here it can only be freed";
    /// A defect of the library, stopped at its boundary.
    Panic = -127: c"a defect of the library; please report it";
}

impl Status {
    /// The number of the C ABI.
    pub const fn code(self) -> i32 {
        self as i32
    }

    /// The status with this number in the C ABI.
    pub fn from_code(code: i32) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.code() == code)
    }

    /// One sentence for people.
    pub const fn as_str(self) -> &'static str {
        match self.as_c_str().to_str() {
            Ok(sentence) => sentence,
            Err(_) => "",
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
pub struct ExplainedError {
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
pub type Result<T> = core::result::Result<T, ExplainedError>;

impl ExplainedError {
    /// An error with this message. A longer message is cut to 495 bytes, with an ellipsis; after a word, unless it is long.
    // In one place: inlined, the half kilobyte that it fills would be code at each of hundreds of failures.
    #[cold]
    #[inline(never)]
    pub fn new(status: Status, message: fmt::Arguments<'_>) -> Self {
        let mut error = ExplainedError {
            status: status.code(),
            os_errno: 0,
            event_index: -1,
            reserved: 0,
            message: [0; 496],
        };
        text::set_sentences(&mut error.message, message);
        error
    }

    /// Adds the errno that the system returned.
    pub fn with_errno(mut self, errno: i32) -> Self {
        self.os_errno = errno;
        self
    }

    /// Adds the position of the event that the error is about.
    pub fn with_event(mut self, index: usize) -> Self {
        self.event_index = i32::try_from(index).unwrap_or(-1);
        self
    }

    /// The kind of failure.
    pub fn status(&self) -> Status {
        Status::from_code(self.status).unwrap_or(Status::Os)
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

/// An error of this kind, with a formatted message.
#[doc(hidden)]
#[macro_export]
macro_rules! failure {
    ($status:ident, $($words:tt)+) => {
        $crate::ExplainedError::new($crate::Status::$status, format_args!($($words)+))
    };
}

impl From<Status> for ExplainedError {
    #[cold]
    #[inline(never)]
    fn from(status: Status) -> Self {
        ExplainedError::new(status, format_args!("{}", status.as_str()))
    }
}

impl From<picollo_core::Error> for Status {
    fn from(error: picollo_core::Error) -> Self {
        use picollo_core::Error as Core;
        match error {
            Core::InvalidArgument => Status::InvalidArgument,
            Core::OutOfMemory => Status::OutOfMemory,
            Core::BufferTooSmall => Status::BufferTooSmall,
            Core::Incompatible => Status::Incompatible,
            Core::Corrupt => Status::Corrupt,
            Core::Empty => Status::Empty,
            Core::Busy => Status::Busy,
            // This includes errors that a later core may add: an unknown error is reported as unsupported.
            _ => Status::Unsupported,
        }
    }
}

impl From<picollo_core::Error> for ExplainedError {
    fn from(error: picollo_core::Error) -> Self {
        ExplainedError::new(error.into(), format_args!("{}", error.as_str()))
    }
}

impl fmt::Debug for ExplainedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExplainedError")
            .field("status", &self.status())
            .field("os_errno", &self.os_errno)
            .field("event_index", &self.event_index)
            .field("message", &self.message())
            .finish()
    }
}

impl fmt::Display for ExplainedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl core::error::Error for ExplainedError {}

const _: () =
    assert!(size_of::<ExplainedError>() == 512 && core::mem::offset_of!(ExplainedError, message) == 16);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carries_everything() {
        let error =
            ExplainedError::new(Status::Permission, format_args!("no {}", 1)).with_errno(13).with_event(4);
        assert_eq!(error.status(), Status::Permission);
        assert_eq!((error.os_errno(), error.event_index(), error.message()), (13, 4, "no 1"));
        assert_eq!(error.to_string(), "no 1");
    }

    #[test]
    fn core_errors_convert() {
        use picollo_core::Error as Core;
        let all = [
            (Core::InvalidArgument, Status::InvalidArgument),
            (Core::OutOfMemory, Status::OutOfMemory),
            (Core::BufferTooSmall, Status::BufferTooSmall),
            (Core::Unsupported, Status::Unsupported),
            (Core::Incompatible, Status::Incompatible),
            (Core::Corrupt, Status::Corrupt),
            (Core::Empty, Status::Empty),
            (Core::Busy, Status::Busy),
        ];
        assert!(all.into_iter().all(|(error, status)| ExplainedError::from(error).status() == status));
        assert_eq!(ExplainedError::from(Status::Forked).status(), Status::Forked);
    }
}
