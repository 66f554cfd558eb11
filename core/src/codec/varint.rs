//! Integers of one to nine bytes: seven bits each, low first, the top bit meaning that more follow. A ninth byte carries
//! all of the eight bits that are left, so that nine bytes hold any `u64`.

/// The longest encoding.
pub(crate) const MAX_BYTES: usize = 9;

/// Signed to unsigned, small magnitudes staying small: 0, -1, 1, -2, 2, … become 0, 1, 2, 3, 4, …
pub(crate) const fn zigzag(value: i64) -> u64 {
    ((value as u64) << 1) ^ (value >> 63) as u64
}

/// The reverse of [`zigzag`].
pub(crate) const fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// How many bytes [`write`] gives.
pub(crate) const fn length(value: u64) -> usize {
    let bits = 64 - (value | 1).leading_zeros() as usize;
    let bytes = bits.div_ceil(7);
    if bytes > MAX_BYTES { MAX_BYTES } else { bytes }
}

/// Encodes a value. Returns the bytes and how many of them count.
pub(crate) fn write(mut value: u64) -> ([u8; MAX_BYTES], usize) {
    let mut bytes = [0; MAX_BYTES];
    for (at, byte) in bytes.iter_mut().enumerate() {
        if value < 0x80 || at == MAX_BYTES - 1 {
            *byte = value as u8;
            return (bytes, at + 1);
        }
        *byte = value as u8 | 0x80;
        value >>= 7;
    }
    (bytes, MAX_BYTES)
}

/// Takes a value off the front of `bytes`; `None` when they end within it.
#[inline(always)]
pub(crate) fn read(bytes: &mut &[u8]) -> Option<u64> {
    // Most counts are small.
    match **bytes {
        [a, ref rest @ ..] if a < 0x80 => {
            *bytes = rest;
            Some(a as u64)
        }
        [a, b, ref rest @ ..] if b < 0x80 => {
            *bytes = rest;
            Some((a & 0x7f) as u64 | (b as u64) << 7)
        }
        _ => read_long(bytes),
    }
}

fn read_long(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for (at, &byte) in bytes.iter().enumerate().take(MAX_BYTES) {
        if byte < 0x80 || at == MAX_BYTES - 1 {
            *bytes = &bytes[at + 1..];
            return Some(value | (byte as u64) << (7 * at));
        }
        value |= ((byte & 0x7f) as u64) << (7 * at);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    #[test]
    fn worked_examples() {
        for (value, bytes) in [
            (0u64, &[0u8][..]),
            (127, &[0x7f]),
            (128, &[0x80, 1]),
            (u64::MAX, &[0xff; 9]),
            (1 << 56, &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1]),
            (1 << 63, &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80]),
        ] {
            let (encoded, length) = write(value);
            assert_eq!(&encoded[..length], bytes, "{value}");
        }
        assert_eq!([0, -1, 1, -2, 2].map(zigzag), [0, 1, 2, 3, 4]);
        assert_eq!((zigzag(i64::MIN), zigzag(i64::MAX)), (u64::MAX, u64::MAX - 1));
    }

    proptest! {
        #[test]
        fn round_trips(value in any::<u64>(), shift in 0u32..64, rest in any::<Vec<u8>>()) {
            let value = value >> shift;
            let (encoded, count) = write(value);
            prop_assert_eq!(count, length(value));
            let all = [&encoded[..count], &rest].concat();
            let mut left = &all[..];
            prop_assert_eq!(read(&mut left), Some(value));
            prop_assert_eq!(left, &rest[..]);
            for cut in 0..count {
                prop_assert_eq!(read(&mut &encoded[..cut]), None);
            }
            prop_assert_eq!(unzigzag(zigzag(value as i64)), value as i64);
            prop_assert_eq!(zigzag(unzigzag(value)), value);
        }
    }
}
