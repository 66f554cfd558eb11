//! How far the first of several encodings goes that follow one another.

use super::hdr::{Cookie, HEADER, without_double_header};
use super::native;

/// The bytes that the first encoding takes, as far as it tells: no more than there are, and all of them where it does not. Whether
/// it is one at all is not looked into.
///
/// Binary ones have a length in front, but V0, which has counts to the end. Base64 ends at white space, which belongs to it, so that
/// after the last one nothing is left; but a form feed is what an encoding of doubles begins with.
pub(crate) fn first(bytes: &[u8]) -> usize {
    match bytes.first() {
        Some(0x0c | 0x1c | 0x89) => {
            let head = without_double_header(bytes);
            let length = length_of(head).and_then(|length| length.checked_add(bytes.len() - head.len()));
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

/// What a binary encoding says of its length.
fn length_of(bytes: &[u8]) -> Option<usize> {
    let announced = || usize::try_from(u32::from_be_bytes(*bytes.get(4..)?.first_chunk()?)).ok();
    match Cookie::read(bytes) {
        // Cookie and length are in front.
        Some(Cookie::Compressed) => announced()?.checked_add(8),
        Some(Cookie::Plain { is_v0: false, .. }) => announced()?.checked_add(HEADER),
        Some(Cookie::Plain { is_v0: true, .. }) => None,
        None => native::length_of(bytes),
    }
}
