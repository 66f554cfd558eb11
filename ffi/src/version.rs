//! Versions.

use core::ffi::c_char;

/// Version of this interface, counted up when a program built against an older header would no longer work.
pub const PICOLLO_ABI_VERSION: u32 = 2;

/// The version that this header is of: breaking changes. picollo_version is that of the library which the program runs with.
pub const PICOLLO_VERSION_MAJOR: u32 = 0;
/// The version that this header is of: additions.
pub const PICOLLO_VERSION_MINOR: u32 = 1;
/// The version that this header is of: corrections.
pub const PICOLLO_VERSION_PATCH: u32 = 0;

/// A number of the package's version.
const fn number(text: &str) -> u32 {
    let (bytes, mut at, mut number) = (text.as_bytes(), 0, 0);
    while at < bytes.len() {
        number = 10 * number + (bytes[at] - b'0') as u32;
        at += 1;
    }
    number
}

const _: () = assert!(
    PICOLLO_VERSION_MAJOR == number(env!("CARGO_PKG_VERSION_MAJOR"))
        && PICOLLO_VERSION_MINOR == number(env!("CARGO_PKG_VERSION_MINOR"))
        && PICOLLO_VERSION_PATCH == number(env!("CARGO_PKG_VERSION_PATCH"))
);

/// The ABI version of the library that the program runs with. Compare it with PICOLLO_ABI_VERSION, the one that the
/// program was compiled for.
///
/// Returns: the version; cannot fail.
#[unsafe(no_mangle)]
pub extern "C" fn picollo_abi_version() -> u32 {
    PICOLLO_ABI_VERSION
}

/// The version of the library that the program runs with, such as "0.1.0".
///
/// Returns: a static string; never NULL.
/// Ownership: the library's; do not free it.
#[unsafe(no_mangle)]
pub extern "C" fn picollo_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
