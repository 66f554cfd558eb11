//! Status and errors.
//!
//! Every call that can fail returns a picollo_status: PICOLLO_OK, which is 0, or one of the negative numbers below. All of
//! those but PICOLLO_END are errors.
//! Numbers are never reused; a later version may return new ones. Each function lists what it returns. Any of them that
//! returns a status, and is not handed out as a hot one, may also return PICOLLO_ERR_PANIC, which is a defect of the
//! library and is worth a report.

use core::ffi::{CStr, c_char};

/// 0 is success; everything else is negative, and says that nothing was delivered.
pub type picollo_status = i32;

/// Done.
pub const PICOLLO_OK: picollo_status = 0;
/// There is no more: what is asked again and again for the next one has come to its end. No error.
pub const PICOLLO_END: picollo_status = -100;
/// A pointer is NULL that must not be.
pub const PICOLLO_ERR_NULL_POINTER: picollo_status = -1;
/// An argument is outside its documented range, or a pointer is not aligned for what it points to.
pub const PICOLLO_ERR_INVALID_ARGUMENT: picollo_status = -2;
/// The allocator had no memory; nothing was changed.
pub const PICOLLO_ERR_OUT_OF_MEMORY: picollo_status = -3;
/// The caller's buffer is too small; out_length, where there is one, tells how much is needed.
pub const PICOLLO_ERR_BUFFER_TOO_SMALL: picollo_status = -4;
/// This build, platform, mode or option does not offer it.
pub const PICOLLO_ERR_UNSUPPORTED: picollo_status = -5;
/// The layouts cannot be combined without loss, or the data were made by another version.
pub const PICOLLO_ERR_INCOMPATIBLE: picollo_status = -6;
/// Encoded data or an image in memory is malformed.
pub const PICOLLO_ERR_CORRUPT: picollo_status = -7;
/// Nothing was recorded or read, so there is nothing to tell.
pub const PICOLLO_ERR_EMPTY: picollo_status = -8;
/// Only the thread that opened the session may do this.
pub const PICOLLO_ERR_WRONG_THREAD: picollo_status = -9;
/// The operating system refused; picollo_error.os_errno says why.
pub const PICOLLO_ERR_OS: picollo_status = -10;
/// The operating system denied it for lack of rights.
pub const PICOLLO_ERR_PERMISSION: picollo_status = -11;
/// The event is unknown to this machine, or the machine offers no performance counters.
pub const PICOLLO_ERR_NO_SUCH_EVENT: picollo_status = -12;
/// The event was never scheduled in the interval, so its count is unknown rather than zero.
pub const PICOLLO_ERR_NOT_COUNTED: picollo_status = -13;
/// A bounded number of retries ran out against competing calls; try again.
pub const PICOLLO_ERR_BUSY: picollo_status = -14;
/// A session of the process that forked this one, or a registry that it was at work on: it can only be freed here.
pub const PICOLLO_ERR_FORKED: picollo_status = -15;
/// A defect of the library, stopped at its boundary.
pub const PICOLLO_ERR_PANIC: picollo_status = -127;

/// A short English sentence for a status.
///
/// Returns: a static string, also for numbers that this version does not know; never NULL.
/// Ownership: the library's; do not free it.
/// Threads: any thread.
/// Cost: none to speak of.
/// Since: 0.1
#[unsafe(no_mangle)]
pub extern "C" fn picollo_status_str(status: picollo_status) -> *const c_char {
    text(status).as_ptr()
}

fn text(status: picollo_status) -> &'static CStr {
    match status {
        PICOLLO_OK => c"ok",
        PICOLLO_END => c"there is no more",
        PICOLLO_ERR_NULL_POINTER => c"a pointer is NULL that must not be",
        PICOLLO_ERR_INVALID_ARGUMENT => c"an argument is outside its documented range",
        PICOLLO_ERR_OUT_OF_MEMORY => c"out of memory",
        PICOLLO_ERR_BUFFER_TOO_SMALL => c"the buffer is too small",
        PICOLLO_ERR_UNSUPPORTED => c"not supported by this build, platform, mode or option",
        PICOLLO_ERR_INCOMPATIBLE => c"the layouts cannot be combined without loss",
        PICOLLO_ERR_CORRUPT => c"the data are malformed",
        PICOLLO_ERR_EMPTY => c"nothing was recorded",
        PICOLLO_ERR_WRONG_THREAD => c"only the thread that opened the session may do this",
        PICOLLO_ERR_OS => c"the operating system refused",
        PICOLLO_ERR_PERMISSION => c"permission denied",
        PICOLLO_ERR_NO_SUCH_EVENT => c"no such event on this machine",
        PICOLLO_ERR_NOT_COUNTED => c"the event was not counted in this interval",
        PICOLLO_ERR_BUSY => c"competing calls kept it from finishing; try again",
        PICOLLO_ERR_FORKED => c"it belongs to the parent process; here it can only be freed",
        PICOLLO_ERR_PANIC => c"a defect of the library; please report it",
        _ => c"unknown status",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_a_sentence_of_its_own() {
        let mut known: Vec<&CStr> = (-15..=0)
            .chain([-100, -127])
            .map(text)
            .inspect(|text| assert_ne!(*text, c"unknown status"))
            .collect();
        known.sort_unstable();
        known.dedup();
        assert_eq!(known.len(), 18);
        for unknown in [1, -16, -99, -101, -126, -128, i32::MIN, i32::MAX] {
            assert_eq!(text(unknown), c"unknown status");
        }
    }
}
