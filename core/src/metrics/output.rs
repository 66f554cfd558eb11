//! Where encoders put their bytes, and the few forms that Protocol Buffers have.

use core::fmt;

use crate::interchange::varint::zigzag;

/// Fills memory that is large enough, or counts how large it has to be.
pub(super) struct Output<'a> {
    /// None: it counts.
    bytes: Option<&'a mut [u8]>,
    length: usize,
}

const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const LENGTH: u32 = 2;

impl<'a> Output<'a> {
    /// Fills memory from its beginning. What does not fit is left out.
    pub(super) fn into(bytes: &'a mut [u8]) -> Self {
        Output { bytes: Some(bytes), length: 0 }
    }

    /// How many bytes something writes.
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
            room.copy_from_slice(bytes);
        }
        self.length = end;
    }

    /// Seven bits a byte, low ones first, the top bit meaning that more follow.
    #[inline]
    pub(super) fn varint(&mut self, mut value: u64) {
        if self.bytes.is_none() {
            // A division of the bits by seven, for as many as there are.
            self.length += ((value | 1).ilog2() as usize * 9 + 73) / 64;
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

    /// Text; none where it is empty, as that is what it is then taken for.
    pub(super) fn text(&mut self, field: u32, text: &str) {
        if !text.is_empty() {
            self.bytes(field, text.as_bytes());
        }
    }

    /// What has its length in front of it. It is written twice: once to be counted, and once more unless all is.
    pub(super) fn delimited(&mut self, write: impl Fn(&mut Output)) {
        if self.bytes.is_none() {
            let before = self.length;
            write(self);
            self.varint((self.length - before) as u64);
        } else {
            self.varint(Output::length_of(&write) as u64);
            write(self);
        }
    }

    pub(super) fn message(&mut self, field: u32, write: impl Fn(&mut Output)) {
        self.key(field, LENGTH);
        self.delimited(write);
    }
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

    /// Examples of the documentation of Protocol Buffers.
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
