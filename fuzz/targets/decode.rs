//! Any bytes, as whatever they claim to be: binary, compressed, base64.
#![no_main]

use libfuzzer_sys::fuzz_target;
use picollo_fuzz::{Counting, check, decode};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(snapshot) = decode(bytes) {
        check(&snapshot);
    }
    // The same without an allocator: the same result, or too little memory for it.
    let mut memory = vec![0u8; 4096];
    let mut scratch = &mut memory[..];
    match picollo_core::Decoder::new(bytes, &mut scratch, 256) {
        Ok(decoder) => assert!(decode(bytes).is_ok() && decoder.layout().length() <= 256),
        Err(picollo_core::Error::OutOfMemory | picollo_core::Error::BufferTooSmall) => {}
        Err(_) => assert!(decode(bytes).is_err()),
    }
});
