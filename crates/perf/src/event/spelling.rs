//! How modifiers and numbers are spelled, and the errors for wrong spellings.

use core::fmt::{self, Write};

use crate::event::modifiers::{
    ALL_MODIFIERS, EVENT_EXCLUDE_IDLE, EVENT_GUEST, EVENT_HOST, EVENT_HYPERVISOR, EVENT_KERNEL,
    EVENT_PRECISE, EVENT_PRECISE_MASK, EVENT_USER,
};
use picollo_native::ExplainedError;
use picollo_native::seam::failure;

/// The modifiers without a degree, and their letters.
const LETTERS: [(u32, u8); 6] = [
    (EVENT_USER, b'u'),
    (EVENT_KERNEL, b'k'),
    (EVENT_HYPERVISOR, b'h'),
    (EVENT_HOST, b'H'),
    (EVENT_GUEST, b'G'),
    (EVENT_EXCLUDE_IDLE, b'I'),
];

/// Modifiers the way they are parsed.
pub(crate) fn display_modifiers(modifiers: u32) -> impl fmt::Display {
    fmt::from_fn(move |f| {
        f.write_str(if modifiers & ALL_MODIFIERS == 0 { "" } else { ":" })?;
        for (_, letter) in LETTERS.into_iter().filter(|(bit, _)| modifiers & bit != 0) {
            f.write_char(letter.into())?;
        }
        (0..(modifiers & EVENT_PRECISE_MASK) / EVENT_PRECISE).try_for_each(|_| f.write_char('p'))
    })
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
    let why = fmt::from_fn(|f| match letters.chars().find(|&letter| !is_known(letter)) {
        None if letters.is_empty() => write!(f, "a modifier is missing after the colon: {MEANING}"),
        None => f.write_str("the highest precision is ppp"),
        Some(':') => f.write_str("write all modifiers after one colon, as in cycles:uk"),
        Some(letter) => write!(f, "'{letter}' is not a modifier. Modifiers are {MEANING}"),
    });
    malformed(spec, why)
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
pub(crate) fn malformed(spec: &str, why: impl fmt::Display) -> ExplainedError {
    failure!(InvalidArgument, "malformed event \"{spec:.120}\": {why}")
}
