//! Status and errors.
//!
//! Every call that can fail returns a picollo_status: PICOLLO_OK, which is 0, or one of the negative numbers below.
//! All negative numbers except PICOLLO_END are errors. Numbers are never reused; a later version may return new ones.
//! Every function that returns a status and is not hot may also return PICOLLO_ERR_PANIC. This is a defect of the
//! library; please report it.

use core::ffi::c_char;

pub use picollo_native::ExplainedError as picollo_error;
use picollo_native::Status;

/// 0 is success. A negative number means that the call delivered nothing, unless its description says what it did.
pub type picollo_status = i32;

/// Success.
pub const PICOLLO_OK: picollo_status = 0;
/// A series has ended: there is no next element. This is not an error.
pub const PICOLLO_END: picollo_status = -100;

/// Returns a short English sentence for a status, also for unknown numbers: a static string, never NULL, not to be
/// freed.
#[unsafe(no_mangle)]
pub extern "C" fn picollo_status_str(status: picollo_status) -> *const c_char {
    let sentence = match status {
        PICOLLO_OK => c"ok",
        PICOLLO_END => c"there is no more",
        error => Status::from_code(error).map_or(c"unknown status", Status::as_c_str),
    };
    sentence.as_ptr()
}
