//! How numbers are written: padded, in hexadecimal digits, or null.

use core::fmt;

use picollo_core::text::width;

/// Bytes in hexadecimal digits.
pub(super) struct Hex<'a>(pub &'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Pads what is written in another way.
pub(super) struct Right<T>(pub T, pub usize);

impl<T: fmt::Display> fmt::Display for Right<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let padding = self.1.saturating_sub(width(&self.0)?);
        write!(f, "{:padding$}", "")?;
        self.0.fmt(f)
    }
}

/// A value in JSON, or null.
pub(super) struct Optional<T>(pub Option<T>);

impl<T: fmt::Display> fmt::Display for Optional<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(value) => value.fmt(f),
            None => f.write_str("null"),
        }
    }
}
