//! Text in fixed buffers: NUL-terminated UTF-8, cut at a character boundary if it does not fit. Nothing here allocates.

use core::ffi::c_char;
use core::fmt::{self, Write};

/// Writes text into a fixed buffer, which stays NUL-terminated throughout.
pub struct Writer<'a> {
    buffer: &'a mut [c_char],
    length: usize,
    full: bool,
}

impl<'a> Writer<'a> {
    /// Starts with an empty text. The rest of the buffer is zeroed: it may end up in a file or another process.
    pub fn new(buffer: &'a mut [c_char]) -> Self {
        buffer.fill(0);
        Writer { buffer, length: 0, full: false }
    }

    /// Whether something was cut.
    #[cfg(test)]
    pub fn is_full(&self) -> bool {
        self.full
    }
}

impl Write for Writer<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.full {
            return Ok(());
        }
        // One byte is reserved for the NUL.
        let room = self.buffer.len().saturating_sub(self.length + 1);
        let mut taken = text.len().min(room);
        while !text.is_char_boundary(taken) {
            taken -= 1;
        }
        // A NUL inside would end the text early for every reader, and hide everything after it.
        for &byte in &text.as_bytes()[..taken] {
            self.buffer[self.length] = if byte == 0 { b'?' } else { byte } as c_char;
            self.length += 1;
        }
        self.full = taken < text.len();
        Ok(())
    }
}

/// Replaces the buffer's text.
pub fn set(buffer: &mut [c_char], text: fmt::Arguments<'_>) {
    // A Writer never fails; it cuts.
    let _ = Writer::new(buffer).write_fmt(text);
}

/// Replaces the buffer's text by sentences for people. A text that is too long ends with an ellipsis, after a whole word
/// unless that would lose more than 64 bytes.
pub fn set_sentences(buffer: &mut [c_char], text: fmt::Arguments<'_>) {
    const ELLIPSIS: &str = "…";
    let mut writer = Writer::new(buffer);
    let _ = writer.write_fmt(text);
    if !writer.full {
        return;
    }
    let room = buffer.len().saturating_sub(1 + ELLIPSIS.len());
    let kept = get(buffer);
    // A word ends where white space follows it: within the room, or right after it.
    let end = kept.char_indices().rfind(|&(at, character)| at <= room && character.is_whitespace());
    let mut end = end.map_or(0, |(at, _)| kept[..at].trim_end().len());
    if end == 0 || room > end + 64 {
        // A long word: its beginning may be the value that the sentence is about.
        end = room.min(kept.len());
        while !kept.is_char_boundary(end) {
            end -= 1;
        }
    }
    if room >= end && buffer.len() > ELLIPSIS.len() {
        buffer[end..].fill(0);
        for (place, &byte) in buffer[end..].iter_mut().zip(ELLIPSIS.as_bytes()) {
            *place = byte as c_char;
        }
    }
}

/// Returns the buffer's text: up to the first NUL or the end, and only as far as it is valid UTF-8.
pub fn get(buffer: &[c_char]) -> &str {
    // SAFETY: c_char is i8 or u8; both have the size, alignment and valid bit patterns of u8, and the length is the same.
    let bytes = unsafe { core::slice::from_raw_parts(buffer.as_ptr().cast::<u8>(), buffer.len()) };
    let bytes = &bytes[..bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len())];
    match core::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => core::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cuts_at_a_character() {
        let mut buffer = [1 as c_char; 6];
        set(&mut buffer, format_args!("abc{}", "äö"));
        assert_eq!(get(&buffer), "abcä");
        assert_eq!(buffer[5], 0);
        let mut writer = Writer::new(&mut buffer);
        let _ = write!(writer, "12345");
        assert!(!writer.is_full());
        let _ = write!(writer, "6");
        assert!(writer.is_full());
        // Nothing smaller may be appended after a cut.
        assert_eq!(get(&buffer), "12345");
    }

    #[test]
    fn sentences_end_with_a_word() {
        let cut = |size: usize, text: &str| {
            let mut buffer = vec![7 as c_char; size];
            set_sentences(&mut buffer, format_args!("{text}"));
            get(&buffer).to_owned()
        };
        assert_eq!(cut(12, "short enough"), "short…");
        assert_eq!(cut(13, "short enough"), "short enough");
        assert_eq!(cut(16, "one two three four"), "one two…");
        assert_eq!(cut(17, "one two three four"), "one two three…");
        assert_eq!(cut(9, "endlessness"), "endle…");
        let long = "x".repeat(99);
        assert_eq!(cut(72, &format!("got {long}")), format!("got {}…", &long[..64]));
        assert_eq!(cut(70, &format!("got {long}")), "got…");
        assert_eq!(cut(9, "äöüäöü"), "äö…");
        assert_eq!(cut(4, "äöüäöü"), "…");
        assert_eq!(cut(3, "äöü"), "ä");
        assert_eq!(cut(0, "x"), "");
    }

    #[test]
    fn foreign_bytes_are_survived() {
        assert_eq!(get(&[]), "");
        assert_eq!(get(&[b'a' as c_char, 0xffu8 as c_char, b'b' as c_char]), "a");
        assert_eq!(get(&[b'a' as c_char; 3]), "aaa");
        let mut buffer = [0 as c_char; 0];
        set(&mut buffer, format_args!("x"));
    }

    proptest! {
        #[test]
        fn sentences_are_whole_or_cut_behind_a_word(text in "([a-zä]{1,9} ?){0,12}", size in 1usize..60) {
            let mut buffer = vec![7 as c_char; size];
            set_sentences(&mut buffer, format_args!("{text}"));
            let kept = get(&buffer);
            prop_assert!(kept.len() < size && buffer[kept.len()..].iter().all(|&byte| byte == 0));
            if text.len() < size {
                prop_assert_eq!(kept, text);
            } else if let Some(words) = kept.strip_suffix('…') {
                prop_assert!(text.starts_with(words));
                // Only a word longer than the room is cut.
                prop_assert!(text[words.len()..].starts_with(' ') || !words.contains(' '), "{kept}");
            } else {
                prop_assert!(size <= 3, "no room for an ellipsis: {kept}");
            }
        }

        #[test]
        fn keeps_a_prefix(text in ".{0,40}", size in 1usize..40) {
            let mut buffer = vec![7 as c_char; size];
            set(&mut buffer, format_args!("{text}"));
            let kept = get(&buffer);
            prop_assert!(kept.len() < size);
            prop_assert!(text.replace('\0', "?").starts_with(kept));
            // At most one character was cut needlessly.
            prop_assert!(kept.len() == text.len() || kept.len() + 4 >= size);
        }
    }
}
