//! Writes text into memory of a fixed size.

use core::fmt::{self, Write};
use core::mem::MaybeUninit;

/// Views the same bytes as possibly uninitialized memory.
///
/// # Safety
/// The caller may write only initialized bytes there.
pub unsafe fn room(bytes: &mut [u8]) -> &mut [MaybeUninit<u8>] {
    // SAFETY: both types have the same layout, and each byte stays initialized, as the caller promises.
    unsafe { &mut *(core::ptr::from_mut(bytes) as *mut [MaybeUninit<u8>]) }
}

/// Writes into bytes of a fixed size and continues to count when they are full.
///
/// It takes each piece of text whole or not at all, and nothing after the first piece that did not fit. So its content
/// is always a valid beginning of the text. Writing never fails. Over an empty slice it only counts:
///
/// ```
/// use core::fmt::Write;
/// # use picollo_core::seam::BufferWriter;
///
/// let mut counter = BufferWriter::new(&mut []);
/// write!(counter, "{}", 12_345).unwrap();
/// assert_eq!(counter.needed(), 5);
/// assert!(!counter.fits());
/// ```
#[derive(Debug)]
pub struct BufferWriter<'a> {
    buffer: &'a mut [MaybeUninit<u8>],
    written: usize,
    needed: usize,
}

impl<'a> BufferWriter<'a> {
    /// Creates a writer that fills `buffer` from its beginning. It reserves no byte for a NUL.
    pub fn new(buffer: &'a mut [u8]) -> BufferWriter<'a> {
        // SAFETY: the writer writes only text there.
        BufferWriter::into_room(unsafe { room(buffer) })
    }

    /// Does the same for memory that may be uninitialized.
    fn into_room(buffer: &'a mut [MaybeUninit<u8>]) -> BufferWriter<'a> {
        BufferWriter { buffer, written: 0, needed: 0 }
    }

    /// The length of the whole text in bytes, whether it fits or not; saturates at `usize::MAX`.
    pub const fn needed(&self) -> usize {
        self.needed
    }

    /// Returns whether the buffer holds the whole text.
    pub const fn fits(&self) -> bool {
        self.written == self.needed
    }

    /// Returns the written text: the whole text, or its beginning if it does not fit.
    pub fn as_str(&self) -> &str {
        let written = self.buffer.get(..self.written).unwrap_or_default();
        // SAFETY: all these bytes were written.
        core::str::from_utf8(unsafe { written.assume_init_ref() }).unwrap_or_default()
    }
}

impl Write for BufferWriter<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.fits()
            && let Some(room) =
                self.buffer.get_mut(self.written..).and_then(|rest| rest.get_mut(..text.len()))
        {
            room.write_copy_of_slice(text.as_bytes());
            self.written += text.len();
        }
        self.needed = self.needed.saturating_add(text.len());
        Ok(())
    }
}

/// The result of [`write_c_string`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Written {
    /// The length of the text in bytes, without the NUL.
    pub length: usize,
    /// Whether the text and its NUL are in the buffer.
    pub fits: bool,
}

/// Writes a text and a NUL into `buffer` as the C interface promises. If they do not fit, it writes only the first byte
/// (0, an empty text), if there is one. It never reads the buffer: C may pass uninitialized memory.
///
/// It calls `write` twice, first to count, and `write` must produce the same text both times. If `write` fails, the
/// text ends there. The caller is responsible for NULs inside the text.
pub fn write_c_string(
    buffer: &mut [MaybeUninit<u8>],
    write: &dyn Fn(&mut dyn Write) -> fmt::Result,
) -> Written {
    let mut counter = BufferWriter::new(&mut []);
    // The counter does not fail, so an error is the producer's decision to end its text.
    let _ = write(&mut counter);
    let length = counter.needed();
    if length >= buffer.len() {
        if let Some(first) = buffer.first_mut() {
            first.write(0);
        }
        return Written { length, fits: false };
    }
    let mut writer = BufferWriter::into_room(buffer);
    let _ = write(&mut writer);
    let _ = writer.write_str("\0");
    let fits = writer.fits();
    if let (false, Some(first)) = (fits, buffer.first_mut()) {
        // The second text was longer, against the contract, so the buffer has no terminator.
        first.write(0);
    }
    Written { length, fits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_and_in_order() {
        let mut bytes = [0xee; 7];
        let mut writer = BufferWriter::new(&mut bytes);
        for piece in ["abc", "", "äö"] {
            writer.write_str(piece).unwrap();
        }
        assert!(writer.fits());
        assert_eq!((writer.as_str(), writer.needed()), ("abcäö", 7));
        writer.write_str("").unwrap();
        assert!(writer.fits());

        let mut writer = BufferWriter::new(&mut bytes[..6]);
        for piece in ["abc", "äö", "d"] {
            writer.write_str(piece).unwrap();
        }
        assert!(!writer.fits());
        assert_eq!((writer.as_str(), writer.needed()), ("abc", 8), "nothing after the gap");
    }

    #[test]
    fn c_strings() {
        let write: &dyn Fn(&mut dyn Write) -> fmt::Result = &|out| write!(out, "{}-{}", 12, 34);
        for capacity in 0..=8 {
            let mut bytes = [0xeeu8; 8];
            // SAFETY: the function writes only text there.
            let filled = write_c_string(unsafe { room(&mut bytes[..capacity]) }, write);
            assert_eq!(filled, Written { length: 5, fits: capacity > 5 });
            match capacity {
                0 => assert_eq!(bytes, [0xee; 8]),
                1..=5 => assert_eq!(bytes, *b"\0\xee\xee\xee\xee\xee\xee\xee", "only the first byte"),
                _ => assert_eq!(bytes, *b"12-34\0\xee\xee"),
            }
        }
    }
}
