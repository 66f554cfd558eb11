//! Integers of one to nine bytes: seven bits each, low first; the top bit means that more follow. A ninth byte carries
//! all eight remaining bits, so that nine bytes hold any `u64`.

pub(crate) use picollo_core::seam::zigzag;

use super::sink::Sink;
use picollo_core::Result;

/// The longest encoding.
pub(crate) const MAX_BYTES: usize = 9;

pub(crate) const fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// The number of bytes that [`Writer::write`] writes.
#[inline(always)]
pub(crate) const fn length(value: u64) -> usize {
    if value < 0x20_0000 {
        return 1 + (value >= 0x80) as usize + (value >= 0x4000) as usize;
    }
    // This divides the bits by seven, for as many as there are.
    let bytes = ((value | 1).ilog2() as usize * 9 + 73) / 64;
    if bytes > MAX_BYTES { MAX_BYTES } else { bytes }
}

/// Bytes that a [`Writer`] collects before it passes them on.
pub(crate) const PIECE: usize = 256;

/// Writes consecutive values into a sink, a few hundred bytes at a time.
pub(crate) struct Writer<'a, S> {
    sink: &'a mut S,
    bytes: &'a mut [u8; PIECE],
    length: usize,
}

impl<'a, S: Sink> Writer<'a, S> {
    pub(crate) fn new(sink: &'a mut S, bytes: &'a mut [u8; PIECE]) -> Self {
        Writer { sink, bytes, length: 0 }
    }

    /// Writes a value.
    #[inline(always)]
    pub(crate) fn write(&mut self, value: u64) -> Result<()> {
        if self.length > PIECE - MAX_BYTES {
            self.sink.write(&self.bytes[..self.length])?;
            self.length = 0;
        }
        let Some(bytes) = self.bytes[self.length..].first_chunk_mut::<MAX_BYTES>() else { return Ok(()) };
        // Neighbors tend to have the same length.
        if value < 0x80 {
            bytes[0] = value as u8;
            self.length += 1;
        } else if value < 0x4000 {
            bytes[0] = value as u8 | 0x80;
            bytes[1] = (value >> 7) as u8;
            self.length += 2;
        } else if value < 0x20_0000 {
            bytes[0] = value as u8 | 0x80;
            bytes[1] = (value >> 7) as u8 | 0x80;
            bytes[2] = (value >> 14) as u8;
            self.length += 3;
        } else {
            self.length += encode_long(bytes, value);
        }
        Ok(())
    }

    /// Writes the first `length` of some encoded bytes.
    #[inline(always)]
    pub(crate) fn write_encoded(&mut self, encoded: &[u8; 16], length: usize) -> Result<()> {
        debug_assert!(length <= encoded.len());
        if self.length > PIECE - encoded.len() {
            self.sink.write(&self.bytes[..self.length])?;
            self.length = 0;
        }
        if let Some(bytes) = self.bytes[self.length..].first_chunk_mut::<16>() {
            // Copying all is one instruction; the next write overwrites the excess.
            *bytes = *encoded;
            self.length += length;
        }
        Ok(())
    }

    /// Writes the rest.
    pub(crate) fn finish(self) -> Result<()> {
        self.sink.write(&self.bytes[..self.length])
    }
}

/// Writes a value of any length, and returns that length.
fn encode_long(bytes: &mut [u8; MAX_BYTES], mut value: u64) -> usize {
    for (at, byte) in bytes.iter_mut().enumerate() {
        if value < 0x80 || at == MAX_BYTES - 1 {
            *byte = value as u8;
            return at + 1;
        }
        *byte = value as u8 | 0x80;
        value >>= 7;
    }
    MAX_BYTES
}

/// Takes a value off the front of `bytes`; `None` if they end within it.
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
        [a, b, c, ref rest @ ..] if c < 0x80 => {
            *bytes = rest;
            Some((a & 0x7f) as u64 | ((b & 0x7f) as u64) << 7 | (c as u64) << 14)
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

/// The top bit of each byte.
const TOPS: u64 = 0x8080_8080_8080_8080;

/// Skips values at the front of `bytes`, eight bytes at a time, while they are even and complete. Returns how many it
/// skipped.
#[inline(always)]
pub(crate) fn skip_even(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    while let Some(eight) = bytes.first_chunk::<8>() {
        let word = u64::from_le_bytes(*eight);
        // The top bit is clear in the last byte of a value. Eight bytes without such a byte begin a long value.
        let last = !word & TOPS;
        if last == 0 {
            break;
        }
        let length = 8 - last.leading_zeros() as usize / 8;
        // A byte after a last byte is a first byte, and so is the very first; not the one after the last whole value.
        let first = (last << 1 | 1) & (u64::MAX >> (64 - 8 * length));
        if word & first != 0 {
            break;
        }
        number += last.count_ones() as u64;
        *bytes = &bytes[length..];
    }
    number
}

/// Calls the callback with all values. Returns `None` if the bytes end within one, or if the callback does.
#[inline(always)]
pub(crate) fn each(mut bytes: &[u8], mut report: impl FnMut(u64) -> Option<()>) -> Option<()> {
    // One at a time: neighbors tend to have the same length, and prediction is faster than any arithmetic.
    while !bytes.is_empty() {
        report(read(&mut bytes)?)?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn write(value: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut piece = [0; PIECE];
        let mut writer = Writer::new(&mut bytes, &mut piece);
        writer.write(value).unwrap();
        writer.finish().unwrap();
        bytes
    }

    proptest! {
        #[test]
        fn round_trips(value in any::<u64>(), shift in 0u32..64, rest in any::<Vec<u8>>()) {
            let value = value >> shift;
            let encoded = write(value);
            prop_assert_eq!(encoded.len(), length(value));
            let all = [&encoded[..], &rest].concat();
            let mut left = &all[..];
            prop_assert_eq!(read(&mut left), Some(value));
            prop_assert_eq!(left, &rest[..]);
            for cut in 0..encoded.len() {
                prop_assert_eq!(read(&mut &encoded[..cut]), None);
            }
            prop_assert_eq!(unzigzag(zigzag(value as i64)), value as i64);
            prop_assert_eq!(zigzag(unzigzag(value)), value);
        }

        #[test]
        fn each_as_read(values in prop::collection::vec((any::<u64>(), 0u32..64), 0..100), cut in 0usize..9) {
            let mut bytes = Vec::new();
            let mut piece = [0; PIECE];
            let mut writer = Writer::new(&mut bytes, &mut piece);
            for &(value, shift) in &values {
                writer.write(value >> shift).unwrap();
            }
            writer.finish().unwrap();
            bytes.truncate(bytes.len() - cut.min(bytes.len()));
            let (mut rest, mut naive) = (&bytes[..], Vec::new());
            let whole = loop {
                if rest.is_empty() { break Some(()) }
                match read(&mut rest) { Some(value) => naive.push(value), None => break None }
            };
            let mut reported = Vec::new();
            prop_assert_eq!(each(&bytes, |value| { reported.push(value); Some(()) }), whole);
            prop_assert_eq!(reported, naive);
        }

        #[test]
        fn skipped_as_read(values in prop::collection::vec((any::<u64>(), 0u32..64, 0..20), 0..50), cut in 0usize..9) {
            let mut bytes = Vec::new();
            for &(value, shift, odd) in &values {
                bytes.extend(write((value >> shift) & !1 | (odd == 0) as u64));
            }
            bytes.truncate(bytes.len() - cut.min(bytes.len()));
            let (mut read_on, mut skip_on) = (&bytes[..], &bytes[..]);
            let number = skip_even(&mut skip_on);
            for _ in 0..number {
                prop_assert_eq!(read(&mut read_on).unwrap() & 1, 0);
            }
            prop_assert_eq!(read_on, skip_on);
            // It stops only before a value that is odd, long, or near the end.
            let near: Vec<_> = (0..8).map_while(|_| read(&mut read_on)).collect();
            let is_far = skip_on.len() >= 16;
            prop_assert!(!is_far || near.iter().any(|&value| value & 1 == 1 || length(value) > 8));
        }
    }
}
