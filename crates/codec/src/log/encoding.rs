//! Logs that are not in UTF-8: HdrHistogram.NET writes UTF-16, and so do Windows shells that redirect output.

/// An optional mark at the beginning of UTF-8 text.
pub(super) const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";

/// Returns how to read a 16-bit unit in the order that the mark at the beginning states; `None` if there is no mark.
fn byte_order(text: &[u8]) -> Option<fn([u8; 2]) -> u16> {
    match text {
        [0xff, 0xfe, ..] => Some(u16::from_le_bytes),
        [0xfe, 0xff, ..] => Some(u16::from_be_bytes),
        _ => None,
    }
}

/// Whether a text begins with the mark of UTF-16, in either byte order. [`super::Reader`] reads only UTF-8.
pub fn is_utf16(text: &[u8]) -> bool {
    byte_order(text).is_some()
}

/// Converts a text that begins with the mark of UTF-16 to UTF-8. Returns `None` for any other text, which callers read
/// as it is, and [`Error::OutOfMemory`](picollo_core::Error::OutOfMemory) if there is no room.
///
/// Half of a character at the end is left out, because the other half is to come. Other halves become U+FFFD.
#[cfg(feature = "alloc")]
pub fn from_utf16(text: &[u8]) -> picollo_core::Result<Option<alloc::string::String>> {
    let Some(unit) = byte_order(text) else { return Ok(None) };
    let mut units = text[2..].as_chunks::<2>().0;
    if let Some((last, before)) = units.split_last()
        && (0xd800..0xdc00).contains(&unit(*last))
    {
        units = before;
    }
    let mut out = alloc::string::String::new();
    // A unit takes at most three bytes, and a pair of units four.
    out.try_reserve_exact(3 * units.len()).map_err(|_| picollo_core::Error::OutOfMemory)?;
    let characters = char::decode_utf16(units.iter().map(|bytes| unit(*bytes)));
    out.extend(characters.map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER)));
    Ok(Some(out))
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn utf16(text: &str, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
        core::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(order).collect()
    }

    #[test]
    fn both_orders() {
        let text = "#[\u{e4} \u{20ac} \u{1f40c}]\r\n1,5;\u{feff}";
        for order in [u16::to_le_bytes, u16::to_be_bytes] {
            let bytes = utf16(text, order);
            assert!(is_utf16(&bytes));
            assert_eq!(from_utf16(&bytes).unwrap().unwrap(), text);
            // Halves of characters.
            let snail = utf16("a\u{1f40c}", order);
            for cut in 4..8 {
                assert_eq!(from_utf16(&snail[..cut]).unwrap().unwrap(), "a", "cut at {cut}");
            }
            let lone = [&order(0xfeff)[..], &order(0xdc00), &order(0xd800), &order(0x61)].concat();
            assert_eq!(from_utf16(&lone).unwrap().unwrap(), "\u{fffd}\u{fffd}a");
            assert_eq!(from_utf16(&order(0xfeff)).unwrap().unwrap(), "");
        }
        for text in [&b""[..], b"\xff", b"\xef\xbb\xbf1", b"1.5"] {
            assert!(!is_utf16(text));
            assert_eq!(from_utf16(text).unwrap(), None);
        }
    }
}
