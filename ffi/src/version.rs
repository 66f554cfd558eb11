//! Versions.

use core::ffi::c_char;

/// Version of this interface, counted up when a program built against an older header would no longer work.
pub const PICOLLO_ABI_VERSION: u32 = 1;

/// The ABI version of the library that the program runs with. Compare it with PICOLLO_ABI_VERSION, the one that the
/// program was compiled for.
///
/// Returns: the version; cannot fail.
/// Threads: any thread.
/// Cost: none to speak of.
/// Since: 0.1
#[unsafe(no_mangle)]
pub extern "C" fn picollo_abi_version() -> u32 {
    PICOLLO_ABI_VERSION
}

/// The version of the library that the program runs with, such as "0.1.0".
///
/// Returns: a static string; never NULL.
/// Ownership: the library's; do not free it.
/// Threads: any thread.
/// Cost: none to speak of.
/// Since: 0.1
#[unsafe(no_mangle)]
pub extern "C" fn picollo_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
