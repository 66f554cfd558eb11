//! Base64, one piece at a time.

use core::fmt::{self, Write};

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::sink::Sink;
use picollo_core::{Error, Result};

/// Writers write padding; readers accept its absence.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Bytes in a piece, and its characters.
pub(crate) const PIECE: usize = 768;
const TEXT: usize = PIECE / 3 * 4;

/// Takes a piece off the front of a text. An empty text gives an empty piece.
pub(crate) fn read_piece<'p>(text: &mut &[u8], piece: &'p mut [u8; PIECE]) -> Result<&'p [u8]> {
    let (head, rest) = text.split_at(text.len().min(TEXT));
    *text = rest;
    let length = BASE64.decode_slice(head, piece).map_err(|_| Error::Corrupt)?;
    if !rest.is_empty() && length != PIECE {
        // There is padding in the middle.
        return Err(Error::Corrupt);
    }
    Ok(&piece[..length])
}

/// Writes bytes as text.
pub(crate) struct Base64Sink<'a, W: ?Sized> {
    out: &'a mut W,
    piece: [u8; PIECE],
    length: usize,
}

impl<'a, W: Write + ?Sized> Base64Sink<'a, W> {
    pub(crate) fn new(out: &'a mut W) -> Self {
        Base64Sink { out, piece: [0; PIECE], length: 0 }
    }

    /// Writes the rest.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.write_piece().map_err(|_| Error::BufferTooSmall)
    }

    fn write_piece(&mut self) -> fmt::Result {
        let mut text = [0; TEXT];
        let piece = &self.piece[..self.length];
        let length = BASE64.encode_slice(piece, &mut text).map_err(|_| fmt::Error)?;
        self.length = 0;
        self.out.write_str(core::str::from_utf8(&text[..length]).map_err(|_| fmt::Error)?)
    }
}

impl<W: Write + ?Sized> Sink for Base64Sink<'_, W> {
    fn write(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let (head, rest) = bytes.split_at(bytes.len().min(PIECE - self.length));
            self.piece[self.length..][..head.len()].copy_from_slice(head);
            self.length += head.len();
            bytes = rest;
            if self.length == PIECE {
                self.write_piece().map_err(|_| Error::BufferTooSmall)?;
            }
        }
        Ok(())
    }
}
