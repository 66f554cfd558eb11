//! The whole C interface: the bytes decide a sequence of calls, whose results c-tests/sequences compares with an oracle.
#![no_main]

use libfuzzer_sys::fuzz_target;
// What the driver calls.
use picollo as _;

// Named here, too: what a build script links is not handed to every target.
#[link(name = "picollo_sequences", kind = "static")]
unsafe extern "C" {
    fn picollo_run_sequence(bytes: *const u8, length: usize) -> i32;
}

fuzz_target!(|bytes: &[u8]| {
    // SAFETY: reads so many bytes.
    unsafe { picollo_run_sequence(bytes.as_ptr(), bytes.len()) };
});
