//! Zlib streams (RFC 1950) that hold their bytes uncompressed, which needs neither a compressor nor its memory.

use super::sink::Sink;
use picollo_core::{Error, Result};

/// The largest number of bytes in a block.
const BLOCK: usize = 0xffff;

/// The length of the stream for this many bytes; the number is not zero.
pub(crate) const fn stream_length(length: usize) -> usize {
    2 + 5 * length.div_ceil(BLOCK) + length + 4
}

/// Wraps the bytes written to it, for another sink. The number of bytes must be known beforehand.
pub(crate) struct Stored<'a, S> {
    sink: &'a mut S,
    left: usize,
    left_in_block: usize,
    adler: (u32, u32),
}

impl<'a, S: Sink> Stored<'a, S> {
    pub(crate) fn new(sink: &'a mut S, length: usize) -> Result<Self> {
        // Deflate at the fastest level; the two bytes are a multiple of 31.
        sink.write(&[0x78, 0x01])?;
        Ok(Stored { sink, left: length, left_in_block: 0, adler: (1, 0) })
    }

    /// Writes the checksum.
    pub(crate) fn finish(self) -> Result<()> {
        debug_assert!(self.left == 0 && self.left_in_block == 0, "fewer bytes than announced");
        self.sink.write(&(self.adler.1 << 16 | self.adler.0).to_be_bytes())
    }
}

impl<S: Sink> Sink for Stored<'_, S> {
    fn write(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            if self.left_in_block == 0 {
                if self.left == 0 {
                    // These are more bytes than announced.
                    return Err(Error::BufferTooSmall);
                }
                self.left_in_block = self.left.min(BLOCK);
                self.left -= self.left_in_block;
                let [low, high] = (self.left_in_block as u16).to_le_bytes();
                self.sink.write(&[(self.left == 0) as u8, low, high, !low, !high])?;
            }
            let (head, rest) = bytes.split_at(bytes.len().min(self.left_in_block));
            self.left_in_block -= head.len();
            let (mut a, mut b) = self.adler;
            for &byte in head {
                a = (a + byte as u32) % 65_521;
                b = (b + a) % 65_521;
            }
            self.adler = (a, b);
            self.sink.write(head)?;
            bytes = rest;
        }
        Ok(())
    }
}

#[cfg(all(test, feature = "compression"))]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn streams_that_others_read() {
        for length in [1, 2, 1000, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, 200_000] {
            let bytes: Vec<u8> = (0..length).map(|at| (at.wrapping_mul(at) >> 3) as u8).collect();
            let mut stream = Vec::new();
            let mut stored = Stored::new(&mut stream, length).unwrap();
            for piece in bytes.chunks(777) {
                stored.write(piece).unwrap();
            }
            assert_eq!(stored.write(&[0]), Err(Error::BufferTooSmall), "more than announced");
            stored.finish().unwrap();
            assert_eq!(stream.len(), stream_length(length));
            assert!(miniz_oxide::inflate::decompress_to_vec_zlib(&stream).unwrap() == bytes);
        }
    }
}
