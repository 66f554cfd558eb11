//! The contents of compressed encodings: the input is deflated with a correct length and checksum, or one wrong bit.
#![no_main]

use libfuzzer_sys::fuzz_target;
use miniz_oxide::deflate::compress_to_vec_zlib;
use picollo_core::Error;
use picollo_fuzz::{check, counts, decode};

fuzz_target!(|bytes: &[u8]| {
    let [kind, flip, plain @ ..] = bytes else { return };
    // Making a compressor takes longer than everything else.
    let mut stream = if kind % 16 == 0 { compress_to_vec_zlib(plain, 1) } else { stored(plain) };
    if *flip != 0 {
        let at = usize::from(*flip) * 7 % stream.len();
        stream[at] ^= 1 << (kind % 8);
    }
    let cookie: u32 = [0x1c84_9314, 0x1c84_9322, 0x1c84_9389, 0x1c84_9314][usize::from(kind % 4)];
    let mut encoded = cookie.to_be_bytes().to_vec();
    encoded.extend((stream.len() as u32).to_be_bytes());
    encoded.extend(&stream);

    let inflated = decode(&encoded);
    if *flip == 0 {
        // Only the checksum may be missing.
        let end = encoded.len() - 4;
        let mut without = encoded[..end].to_vec();
        without[4..8].copy_from_slice(&(stream.len() as u32 - 4).to_be_bytes());
        match (&inflated, decode(&without)) {
            (Ok(a), Ok(b)) => assert_eq!((counts(a), a.layout()), (counts(&b), b.layout())),
            (Err(a), Err(b)) => assert_eq!(*a, b),
            (a, b) => panic!("{:?} with a checksum, {:?} without", a.as_ref().err(), b.err()),
        }
        assert_eq!(decode(&encoded[..end]).err(), Some(Error::Corrupt), "shorter than it says");
        // The same data inside an encoding of doubles.
        let doubles = [&0x0c72_124fu32.to_be_bytes()[..], &[0; 12], &encoded].concat();
        assert_eq!(
            decode(&doubles).map(|snapshot| counts(&snapshot)),
            inflated.as_ref().map(|snapshot| counts(snapshot)).map_err(|error| *error)
        );
    }
    if let Ok(snapshot) = &inflated {
        check(snapshot);
    }
    if *flip == 0 && plain.first() == Some(&0x1c) {
        // As for uncompressed data, except that nothing may follow the counts, and nothing is compressed twice.
        match (inflated, decode(plain)) {
            (Ok(a), Ok(b)) => assert_eq!((counts(&a), a.layout()), (counts(&b), b.layout())),
            (Err(Error::Corrupt), Ok(_)) => {}
            (Err(_), Err(_)) => {}
            (a, b) => panic!("{:?} compressed, {:?} as it is", a.err(), b.err()),
        }
    }
});

/// A zlib stream without compression.
fn stored(plain: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 1, 1];
    stream.extend((plain.len() as u16).to_le_bytes());
    stream.extend((!plain.len() as u16).to_le_bytes());
    stream.extend(plain);
    let (mut a, mut b) = (1u32, 0u32);
    for &byte in plain {
        a = (a + u32::from(byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    stream.extend((b << 16 | a).to_be_bytes());
    stream
}
