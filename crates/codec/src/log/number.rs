//! Numbers in a log, as writers of any culture write them.

/// Parses a finite number with a point, a comma or U+066B before the decimals, and with any minus sign.
///
/// HdrHistogram.NET writes numbers in the culture of its thread.
pub(super) fn number(text: &[u8]) -> Option<f64> {
    let mut plain = [0; 64];
    let mut length = 0;
    for character in core::str::from_utf8(text).ok()?.chars() {
        let byte = match character {
            // These mark the direction of writing.
            '\u{200e}' | '\u{61c}' => continue,
            ',' | '\u{66b}' => b'.',
            '\u{2212}' => b'-',
            _ => u8::try_from(character).ok()?,
        };
        *plain.get_mut(length)? = byte;
        length += 1;
    }
    let number: f64 = core::str::from_utf8(&plain[..length]).ok()?.parse().ok()?;
    number.is_finite().then_some(number)
}

/// The length of the number at the beginning of a text. A comma is part of it if digits follow and nothing else has
/// separated decimals.
pub(super) fn length_of_number(text: &[u8]) -> usize {
    let end = text.iter().position(|byte| matches!(byte, b' ' | b'\t' | b']' | b'(')).unwrap_or(text.len());
    let Some(comma) = text[..end].iter().position(|&byte| byte == b',') else { return end };
    let decimals = &text[comma + 1..end];
    let is_decimal = !text[..comma].contains(&b'.') && decimals.first().is_some_and(u8::is_ascii_digit);
    match decimals.iter().position(|byte| !byte.is_ascii_digit()) {
        Some(digits) if is_decimal => comma + 1 + digits,
        None if is_decimal => end,
        _ => comma,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_all_cultures() {
        for (text, value) in [
            ("1.5", 1.5),
            ("1,5", 1.5),
            ("1\u{66b}5", 1.5),
            ("\u{2212}1,5", -1.5),
            ("\u{200e}-1.5", -1.5),
            ("\u{61c}-1\u{66b}5", -1.5),
            ("1e3", 1000.0),
        ] {
            assert_eq!(number(text.as_bytes()), Some(value), "{text:?}");
        }
        for text in ["", ",", "1,5,", "1.5,0", "1\u{2009}000", "inf", "nan", "1e999", "x", "\u{661}"] {
            assert_eq!(number(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(number(&[b'1'; 64]).map(f64::is_normal), Some(true));
        assert_eq!(number(&[b'1'; 65]), None);
        assert_eq!(number(b"1\xff"), None);
    }

    #[test]
    fn numbers_end() {
        for (text, number) in [
            ("12.5 (s)", "12.5"),
            ("12,5 (s)", "12,5"),
            ("12,5", "12,5"),
            ("12.5,7", "12.5"),
            ("12, Wed", "12"),
            ("12,Wed", "12"),
            ("12,5,7", "12,5"),
            ("12]", "12"),
            ("", ""),
        ] {
            assert_eq!(&text[..length_of_number(text.as_bytes())], number);
        }
    }
}
