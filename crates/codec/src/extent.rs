//! Finds where the first of several consecutive encodings ends.

use super::hdr::{Cookie, HEADER, without_double_header};
use super::native;

/// The bytes that the first encoding announces, at most all there are; all of them if it announces no length. This does
/// not check that it is a valid encoding.
///
/// Binary encodings begin with a length, except V0, which has counts to the end. Base64 ends at white space, which
/// belongs to it, so that nothing remains after the last one. But a form feed begins an encoding of doubles.
pub(crate) fn first(bytes: &[u8]) -> usize {
    match bytes.first() {
        Some(0x0c | 0x1c | 0x89) => {
            let head = without_double_header(bytes);
            let length =
                announced_length(head).and_then(|length| length.checked_add(bytes.len() - head.len()));
            length.map_or(bytes.len(), |length| length.min(bytes.len()))
        }
        _ => {
            let text = bytes.trim_ascii_start();
            let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
            let gap = text[end..].iter().take_while(|&&byte| byte.is_ascii_whitespace() && byte != 0x0c);
            bytes.len() - text.len() + end + gap.count()
        }
    }
}

/// The length that a binary encoding announces.
fn announced_length(bytes: &[u8]) -> Option<usize> {
    let announced = || usize::try_from(u32::from_be_bytes(*bytes.get(4..)?.first_chunk()?)).ok();
    match Cookie::read(bytes) {
        // Adds the cookie and the length in front.
        Some(Cookie::Compressed) => announced()?.checked_add(8),
        Some(Cookie::Plain { is_v0: false, .. }) => announced()?.checked_add(HEADER),
        Some(Cookie::Plain { is_v0: true, .. }) => None,
        None => native::announced_length(bytes),
    }
}
