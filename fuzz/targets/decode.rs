//! Any bytes, as the encoding that they claim to be: binary, compressed, base64; alone, and as the first of several.
#![no_main]

use libfuzzer_sys::fuzz_target;
use picollo_codec::Codec;
use picollo_core::Snapshot;
use picollo_fuzz::{MAX_COUNTERS, check, counts, decode};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(snapshot) = decode(bytes) {
        check(&snapshot);
        // It may end before the input does, but it is the same.
        let (first, taken) = Snapshot::decode_first(bytes, MAX_COUNTERS).unwrap();
        assert!((1..=bytes.len()).contains(&taken));
        assert_eq!((first.layout(), counts(&first)), (snapshot.layout(), counts(&snapshot)));
    }
    // Consecutive encodings decode as each does alone.
    let mut rest = bytes;
    while let Ok((first, taken)) = Snapshot::decode_first(rest, MAX_COUNTERS) {
        assert!((1..=rest.len()).contains(&taken));
        let alone = decode(&rest[..taken]).unwrap();
        assert_eq!((first.layout(), counts(&first)), (alone.layout(), counts(&alone)));
        rest = &rest[taken..];
    }
});
