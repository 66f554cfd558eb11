//! The destination of encoders, and the few wire types of Protocol Buffers.

use core::fmt;
use core::mem::MaybeUninit;

use picollo_core::seam::room;
use picollo_core::seam::zigzag;

/// Fills memory that is large enough, or counts how much memory is needed.
pub(super) struct Output<'a> {
    /// `None` means that it only counts.
    bytes: Option<&'a mut [MaybeUninit<u8>]>,
    length: usize,
}

const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const LENGTH: u32 = 2;

impl<'a> Output<'a> {
    /// Fills memory from its beginning, and omits what does not fit.
    pub(super) fn into(bytes: &'a mut [u8]) -> Self {
        // SAFETY: only bytes are written there.
        Output::into_room(unsafe { room(bytes) })
    }

    /// The same for memory that may be uninitialized.
    pub(super) fn into_room(bytes: &'a mut [MaybeUninit<u8>]) -> Self {
        Output { bytes: Some(bytes), length: 0 }
    }

    /// The number of bytes that a function writes.
    pub(super) fn length_of(write: impl FnOnce(&mut Output)) -> usize {
        let mut counting = Output { bytes: None, length: 0 };
        write(&mut counting);
        counting.length
    }

    #[inline]
    pub(super) fn put(&mut self, bytes: &[u8]) {
        let end = self.length.saturating_add(bytes.len());
        if let Some(memory) = &mut self.bytes
            && let Some(room) = memory.get_mut(self.length..end)
        {
            room.write_copy_of_slice(bytes);
        }
        self.length = end;
    }

    /// Seven bits a byte, low ones first; the top bit means that more follow.
    #[inline]
    pub(super) fn varint(&mut self, mut value: u64) {
        if self.bytes.is_none() {
            self.length += varint_length(value);
            return;
        }
        let (mut bytes, mut length) = ([0; 10], 0);
        while value >= 0x80 {
            bytes[length] = value as u8 | 0x80;
            value >>= 7;
            length += 1;
        }
        bytes[length] = value as u8;
        self.put(&bytes[..=length]);
    }

    fn key(&mut self, field: u32, form: u32) {
        self.varint(u64::from(field << 3 | form));
    }

    pub(super) fn uint(&mut self, field: u32, value: u64) {
        self.key(field, VARINT);
        self.varint(value);
    }

    pub(super) fn sint(&mut self, field: u32, value: i64) {
        self.uint(field, zigzag(value));
    }

    pub(super) fn fixed64(&mut self, field: u32, value: u64) {
        self.key(field, FIXED64);
        self.put(&value.to_le_bytes());
    }

    pub(super) fn double(&mut self, field: u32, value: f64) {
        self.fixed64(field, value.to_bits());
    }

    pub(super) fn bytes(&mut self, field: u32, bytes: &[u8]) {
        self.key(field, LENGTH);
        self.varint(bytes.len() as u64);
        self.put(bytes);
    }

    /// Writes text; omits an empty one, because readers take a missing field for that.
    pub(super) fn text(&mut self, field: u32, text: &str) {
        if !text.is_empty() {
            self.bytes(field, text.as_bytes());
        }
    }

    pub(super) fn zeros(&mut self, number: usize) {
        let end = self.length.saturating_add(number);
        if let Some(memory) = &mut self.bytes
            && let Some(room) = memory.get_mut(self.length..end)
        {
            room.fill(MaybeUninit::new(0));
        }
        self.length = end;
    }

    /// Writes a message after its length. Most lengths take one byte. If one takes more, the message moves up, which
    /// costs much less than counting beforehand, once more for each enclosing message.
    pub(super) fn delimited(&mut self, write: impl FnOnce(&mut Output)) {
        let start = self.length;
        self.length += 1;
        write(self);
        let inside = start + 1..self.length;
        let length = inside.len() as u64;
        let begin = start + varint_length(length);
        let end = begin + inside.len();
        if let Some(memory) = &mut self.bytes
            && begin != inside.start
            && end <= memory.len()
        {
            memory.copy_within(inside, begin);
        }
        self.length = start;
        self.varint(length);
        self.length = end;
    }

    pub(super) fn message(&mut self, field: u32, write: impl FnOnce(&mut Output)) {
        self.key(field, LENGTH);
        self.delimited(write);
    }
}

const fn varint_length(value: u64) -> usize {
    // This divides the bits by seven, for as many as there are.
    ((value | 1).ilog2() as usize * 9 + 73) / 64
}

impl fmt::Write for Output<'_> {
    #[inline]
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.put(text.as_bytes());
        Ok(())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn bytes_of(write: impl Fn(&mut Output)) -> Vec<u8> {
        let mut bytes = std::vec![0; Output::length_of(&write)];
        let mut output = Output::into(&mut bytes);
        write(&mut output);
        assert_eq!(output.length, bytes.len());
        bytes
    }

    /// Examples from the documentation of Protocol Buffers.
    #[test]
    fn as_documented() {
        assert_eq!(bytes_of(|out| out.uint(1, 150)), [0x08, 0x96, 0x01]);
        assert_eq!(bytes_of(|out| out.text(2, "testing")), b"\x12\x07testing");
        assert_eq!(bytes_of(|out| out.text(2, "")), b"");
        assert_eq!(bytes_of(|out| out.message(3, |out| out.uint(1, 150))), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        assert_eq!(bytes_of(|out| out.sint(16, -1)), [0x80, 0x01, 0x01]);
        assert_eq!(bytes_of(|out| out.double(1, 1.0)), [0x09, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
        assert_eq!(bytes_of(|out| out.varint(u64::MAX)), [255, 255, 255, 255, 255, 255, 255, 255, 255, 1]);
    }

    /// Nested messages of all lengths: the contents move up for lengths of more than one byte.
    #[test]
    fn messages_in_messages() {
        for length in
            [0, 1, 124, 125, 126, 127, 128, 129, 16_380, 16_383, 16_384, 20_000, 2_097_151, 2_097_152]
        {
            let inside: Vec<u8> = (0..length).map(|at| (at * 7 % 251) as u8).collect();
            let delimited = |bytes: &[u8]| {
                let mut all = bytes_of(|out| out.varint(bytes.len() as u64));
                all.extend(bytes);
                all
            };
            let mut middle = delimited(&inside);
            middle.push(0);
            let mut expected = delimited(&middle);
            expected.push(7);
            let written = bytes_of(|out| {
                out.delimited(|out| {
                    out.delimited(|out| out.put(&inside));
                    out.zeros(1);
                });
                out.put(&[7]);
            });
            assert!(written == expected, "{length}");
        }
    }

    /// The output omits what does not fit, and does not touch what follows the memory.
    #[test]
    fn memory_that_is_too_small() {
        let mut bytes = [0; 200];
        let mut output = Output::into(&mut bytes);
        output.message(1, |out| out.message(2, |out| (0..300).for_each(|byte| out.put(&[byte as u8]))));
        output.zeros(1);
        assert_eq!(output.length, 3 + 3 + 300 + 1);
    }

    proptest! {
        #[test]
        fn lengths_are_those_of_the_bytes(value in any::<u64>(), shift in 0..64) {
            let value = value >> shift;
            let bytes = bytes_of(|out| out.varint(value));
            let read = bytes.iter().rev().fold(0u64, |value, byte| value << 7 | u64::from(byte & 0x7f));
            prop_assert_eq!(read, value);
            prop_assert!(bytes[..bytes.len() - 1].iter().all(|byte| byte & 0x80 != 0) && bytes[bytes.len() - 1] < 0x80);
        }
    }
}
