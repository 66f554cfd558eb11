//! Versions.

use core::ffi::c_char;

/// Version of this interface, and the number of the SONAME. It increases when a program built against an older header would no longer
/// work.
pub const PICOLLO_ABI_VERSION: u32 = 3;

/// Major version of this header: breaking changes. picollo_version returns the version of the library at run time.
pub const PICOLLO_VERSION_MAJOR: u32 = 0;
/// Minor version of this header: additions.
pub const PICOLLO_VERSION_MINOR: u32 = 1;
/// Patch version of this header: corrections.
pub const PICOLLO_VERSION_PATCH: u32 = 0;

/// Parses a number of the package's version.
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

/// Returns the ABI version of the library at run time. Compare it with PICOLLO_ABI_VERSION, the version at compile
/// time. It cannot fail.
#[unsafe(no_mangle)]
pub extern "C" fn picollo_abi_version() -> u32 {
    PICOLLO_ABI_VERSION
}

/// Returns the version of the library at run time, such as "1.2.3": a static string, never NULL, not to be freed.
#[unsafe(no_mangle)]
pub extern "C" fn picollo_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
