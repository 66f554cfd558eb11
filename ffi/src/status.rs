//! Status and errors.
//!
//! Every call that can fail returns a picollo_status: PICOLLO_OK, which is 0, or one of the negative numbers below. All of
//! those but PICOLLO_END are errors.
//! Numbers are never reused; a later version may return new ones. Each function lists what it returns. Any of them that
//! returns a status, and is not handed out as a hot one, may also return PICOLLO_ERR_PANIC, which is a defect of the
//! library and is worth a report.

use core::ffi::c_char;

use picollo_native::Status;

/// 0 is success; everything else is negative, and says that nothing was delivered.
pub type picollo_status = i32;

/// Done.
pub const PICOLLO_OK: picollo_status = 0;
/// There is no more: what is asked again and again for the next one has come to its end. No error.
pub const PICOLLO_END: picollo_status = -100;

/// A short English sentence for a status.
///
/// Returns: a static string, also for numbers that this version does not know; never NULL.
/// Ownership: the library's; do not free it.
#[unsafe(no_mangle)]
pub extern "C" fn picollo_status_str(status: picollo_status) -> *const c_char {
    let sentence = match status {
        PICOLLO_OK => c"ok",
        PICOLLO_END => c"there is no more",
        error => Status::from_code(error).map_or(c"unknown status", Status::as_c_str),
    };
    sentence.as_ptr()
}
