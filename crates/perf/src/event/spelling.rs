//! How modifiers and numbers are spelled, and the errors for wrong spellings.

use core::fmt::{self, Write};

use crate::event::modifiers::{
    ALL_MODIFIERS, EVENT_EXCLUDE_IDLE, EVENT_GUEST, EVENT_HOST, EVENT_HYPERVISOR, EVENT_KERNEL,
    EVENT_PRECISE, EVENT_PRECISE_MASK, EVENT_USER,
};
use picollo_native::ExplainedError;
use picollo_native::seam::failure;
use picollo_native::seam::text;

/// The modifiers without a degree, and their letters.
const LETTERS: [(u32, u8); 6] = [
    (EVENT_USER, b'u'),
    (EVENT_KERNEL, b'k'),
    (EVENT_HYPERVISOR, b'h'),
    (EVENT_HOST, b'H'),
    (EVENT_GUEST, b'G'),
    (EVENT_EXCLUDE_IDLE, b'I'),
];

/// Writes modifiers the way they are parsed.
pub(crate) struct Modifiers(pub u32);

impl fmt::Display for Modifiers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 & ALL_MODIFIERS == 0 {
            return Ok(());
        }
        f.write_char(':')?;
        for (bit, letter) in LETTERS {
            if self.0 & bit != 0 {
                f.write_char(letter.into())?;
            }
        }
        for _ in 0..(self.0 & EVENT_PRECISE_MASK) / EVENT_PRECISE {
            f.write_char('p')?;
        }
        Ok(())
    }
}

/// The modifiers that a run of letters means; `None` if they are no modifiers.
pub(crate) fn parse_modifiers(letters: &str) -> Option<u32> {
    let mut modifiers = 0;
    for letter in letters.bytes() {
        match letter {
            b'p' if modifiers & EVENT_PRECISE_MASK < EVENT_PRECISE_MASK => modifiers += EVENT_PRECISE,
            b'P' => modifiers |= EVENT_PRECISE_MASK,
            _ => modifiers |= LETTERS.iter().find(|(_, known)| *known == letter)?.0,
        }
    }
    (!letters.is_empty()).then_some(modifiers)
}

/// The error for letters that are no modifiers. It names the wrong letter.
pub(crate) fn bad_modifiers(spec: &str, letters: &str) -> ExplainedError {
    const MEANING: &str = "u user, k kernel, h hypervisor, p to ppp precision, P the most of it, H host, G guest, I not while idle";
    let is_known = |letter: char| parse_modifiers(letter.encode_utf8(&mut [0; 4])).is_some();
    let mut why = [0; 256];
    match letters.chars().find(|&letter| !is_known(letter)) {
        None if letters.is_empty() => {
            text::set(&mut why, format_args!("a modifier is missing after the colon: {MEANING}"));
        }
        None => text::set(&mut why, format_args!("the highest precision is ppp")),
        Some(':') => {
            text::set(&mut why, format_args!("write all modifiers after one colon, as in cycles:uk"));
        }
        Some(letter) => {
            text::set(&mut why, format_args!("'{letter}' is not a modifier. Modifiers are {MEANING}"));
        }
    }
    malformed(spec, text::get(&why))
}

/// A number as people write it: `0x` and hexadecimal, or decimal.
pub(crate) fn parse_number(digits: &str) -> Option<u64> {
    let (digits, radix) = match strip_prefix_ignoring_case(digits, "0x") {
        Some(rest) => (rest, 16),
        None => (digits, 10),
    };
    // from_str_radix would take a sign.
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u64::from_str_radix(digits, radix).ok()
}

pub(crate) fn strip_prefix_ignoring_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

/// An `InvalidArgument` that quotes the text.
pub(crate) fn malformed(spec: &str, why: &str) -> ExplainedError {
    failure!(InvalidArgument, "malformed event \"{spec:.120}\": {why}")
}
