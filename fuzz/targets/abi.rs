//! The whole C interface: the bytes determine a sequence of calls, which c-tests/sequences compares with a model.
#![no_main]

use libfuzzer_sys::fuzz_target;
// The driver calls this crate.
use picollo as _;

// The library is named here too, because what a build script links is not passed to every target.
#[link(name = "picollo_sequences", kind = "static")]
unsafe extern "C" {
    fn picollo_run_sequence(bytes: *const u8, length: usize) -> i32;
}

fuzz_target!(|bytes: &[u8]| {
    // SAFETY: it reads only `length` bytes.
    unsafe { picollo_run_sequence(bytes.as_ptr(), bytes.len()) };
});
