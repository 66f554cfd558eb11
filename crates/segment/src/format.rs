//! The layout of a segment. docs/segment-format.md documents it for authors of other readers.
//!
//! It consists of a header, a directory of entries of equal size, and their objects at multiples of [`PAGE`]. All
//! positions are offsets from the beginning of the file. All numbers use the byte order of the machine that created it.

use core::sync::atomic::{AtomicU32, AtomicU64};
use picollo_core::seam::STRIPES_IN_MEMORY;

pub(crate) const MAGIC: [u8; 8] = *b"PicoSegm";
pub(crate) const IMAGE_VERSION: u32 = 1;
pub(crate) const BYTE_ORDER: u32 = 0x0102_0304;
pub(crate) const WORD_BYTES: u32 = size_of::<usize>() as u32;
/// Alignment of objects, so that no two share a page. It is 4096 bytes even if pages are larger.
pub(crate) const PAGE: u64 = 4096;
pub(crate) const HEADER_SIZE: u32 = 4096;
pub(crate) const ENTRY_SIZE: u32 = 1024;
/// Maximum number of entries in a segment made by this build.
pub(crate) const MAX_ENTRIES: u32 = 4096;
/// Maximum number of entries that a reader accepts.
pub(crate) const MOST_ENTRIES: u32 = 16_384;
/// The largest object, for writers and readers.
pub(crate) const MOST_OBJECT: u64 = 64 << 20;
/// The largest segment.
pub(crate) const MOST_CAPACITY: u64 = if size_of::<usize>() < 8 { 1 << 30 } else { 1 << 40 };
/// Sizes of counters by mode, in bytes: each word has its own cache line, and one more line is zero.
pub(crate) const COUNTER_SIZES: [u64; 2] = [128, 1088];
/// Words of a striped counter, and the bytes from one to the next.
pub(crate) const STRIPES: (usize, usize) = STRIPES_IN_MEMORY;
/// Bytes of text in an entry.
pub(crate) const TEXT: usize = 948;
/// Maximum number of labels.
pub(crate) const MOST_LABELS: usize = 32;

/// New histograms without an explicit mode are interlocked.
pub(crate) const INTERLOCKED: u32 = 1;
/// New histograms can be reset; those without an explicit mode are interlocked.
pub(crate) const LIVE_RESET: u32 = 2;

/// A writer must know these flags before it attaches. It ignores unknown flags below them.
pub(crate) const MUST_BE_KNOWN: u32 = 0xffff_0000;

/// Flags that the options set for the histograms of a segment.
pub(crate) const fn flags(interlocked: bool, live_reset: bool) -> u32 {
    (if interlocked { INTERLOCKED } else { 0 }) | (if live_reset { LIVE_RESET } else { 0 })
}

/// Bytes of the file to lock with open file description locks: one while a process lives, one to create entries.
pub(crate) const LIFE_BYTE: i64 = 0;
pub(crate) const DIRECTORY_BYTE: i64 = 1;

/// The beginning of the file; the rest of [`HEADER_SIZE`] is zero.
#[repr(C)]
pub(crate) struct Header {
    pub(crate) magic: [u8; 8],
    pub(crate) image_version: u32,
    pub(crate) byte_order: u32,
    pub(crate) word_bytes: u32,
    pub(crate) header_size: u32,
    pub(crate) entry_size: u32,
    pub(crate) max_entries: u32,
    /// Size of the file in bytes.
    pub(crate) capacity: u64,
    pub(crate) identity: [u64; 2],
    /// Offset of the next object.
    pub(crate) used: AtomicU64,
    /// Entries that a writer started to create.
    pub(crate) entries: AtomicU32,
    /// Entries that were refused because the directory or the file is full.
    pub(crate) refused: AtomicU32,
    /// PID of the creator in its own namespace; `start_time` is its start, in ticks since the machine booted.
    pub(crate) pid: u32,
    /// See [`flags`].
    pub(crate) flags: u32,
    pub(crate) start_time: u64,
    pub(crate) created_unix_nanos: u64,
    pub(crate) boot_id: [u8; 40],
    pub(crate) name: [u8; 72],
    pub(crate) program: [u8; 128],
}

const _: () = assert!(size_of::<Header>() == 336 && core::mem::offset_of!(Header, used) == 56);

/// States of an entry; they only increase.
pub(crate) mod state {
    /// Unused.
    pub(crate) const EMPTY: u32 = 0;
    /// A process that holds the lock is creating the entry, or died while doing so.
    pub(crate) const BUILDING: u32 = 1;
    /// Complete and permanent.
    pub(crate) const PUBLISHED: u32 = 2;
    /// Found half-built, or retired.
    pub(crate) const FREED: u32 = 3;
}

const _: () = assert!(STRIPES.0 == 16 && STRIPES.1 == 64 && COUNTER_SIZES[mode::STRIPED as usize] > 16 * 64);

/// Modes of histograms and of counters, as in their images.
pub(crate) mod mode {
    pub(crate) const INTERLOCKED: u32 = 0;
    pub(crate) const SINGLE_WRITER: u32 = 1;
    pub(crate) const PER_CPU: u32 = 2;

    pub(crate) const ONE_WORD: u32 = 0;
    pub(crate) const STRIPED: u32 = 1;
}

/// An entry of the directory.
#[repr(C)]
pub(crate) struct Slot {
    pub(crate) state: AtomicU32,
    pub(crate) body: Body,
}

/// The part of an entry that never changes after publication.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Body {
    pub(crate) kind: u32,
    pub(crate) reserved: u32,
    pub(crate) offset: u64,
    pub(crate) size: u64,
    pub(crate) divisor: f64,
    pub(crate) created_unix_nanos: u64,
    /// See [`mode`].
    pub(crate) mode: u32,
    /// Owner of a single-writer histogram: process, its start time, thread.
    pub(crate) owner_pid: u32,
    pub(crate) owner_start_time: u64,
    pub(crate) owner_thread: u32,
    /// Lengths of the texts, which follow each other: name, unit, help, labels.
    pub(crate) name: u16,
    pub(crate) unit: u16,
    pub(crate) help: u16,
    pub(crate) labels: u16,
    pub(crate) text: [u8; TEXT],
}

const _: () = assert!(size_of::<Slot>() == ENTRY_SIZE as usize && core::mem::offset_of!(Slot, body) == 8);

/// Marks the structures of a segment.
///
/// # Safety
/// Any bytes must form a valid value: only numbers, without padding.
pub(crate) unsafe trait Plain {}
// SAFETY: consecutive numbers without padding.
unsafe impl Plain for Header {}
// SAFETY: as above.
unsafe impl Plain for Slot {}

/// Makes a structure from its leading bytes; missing bytes are zero.
pub(crate) fn structure<T: Plain>(bytes: &[u8]) -> T {
    let mut made = core::mem::MaybeUninit::<T>::zeroed();
    let length = bytes.len().min(size_of::<T>());
    // SAFETY: this many bytes exist and fit, and any bytes form a valid value.
    unsafe {
        made.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), length);
        made.assume_init()
    }
}

/// Offset where the directory ends and objects begin.
pub(crate) const fn directory_end(max_entries: u32) -> u64 {
    (HEADER_SIZE as u64 + max_entries as u64 * ENTRY_SIZE as u64).next_multiple_of(PAGE)
}

/// The names of an entry.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Names {
    pub(crate) name: String,
    pub(crate) unit: String,
    pub(crate) help: String,
    /// Sorted by name; the names are unique.
    pub(crate) labels: Vec<(String, String)>,
}

/// Concatenates the texts of an entry and returns their lengths. `None` if they do not fit.
pub(crate) fn pack(names: &Names) -> Option<([u16; 4], Vec<u8>)> {
    let mut labels = Vec::new();
    for (name, value) in &names.labels {
        for text in [name, value] {
            labels.extend_from_slice(&u16::try_from(text.len()).ok()?.to_ne_bytes());
            labels.extend_from_slice(text.as_bytes());
        }
    }
    let texts = [names.name.as_bytes(), names.unit.as_bytes(), names.help.as_bytes(), &labels];
    let text = texts.concat();
    if text.len() > TEXT {
        return None;
    }
    Some((texts.map(|text| text.len() as u16), text))
}

/// The texts of an entry, or why they are invalid.
pub(crate) fn unpack(body: &Body) -> Result<Names, &'static str> {
    let mut rest = &body.text[..];
    let mut next = |length: u16| {
        let (text, behind) =
            rest.split_at_checked(length.into()).ok_or("its texts are longer than an entry")?;
        rest = behind;
        Ok::<_, &'static str>(text)
    };
    let [name, unit, help] = [next(body.name)?, next(body.unit)?, next(body.help)?];
    let mut packed = next(body.labels)?;
    let mut labels = Vec::new();
    while !packed.is_empty() {
        let mut next = || {
            let (length, behind) = packed.split_first_chunk().ok_or("its labels are cut off")?;
            let (text, behind) = behind
                .split_at_checked(u16::from_ne_bytes(*length).into())
                .ok_or("its labels are cut off")?;
            packed = behind;
            utf8(text)
        };
        if labels.len() == MOST_LABELS {
            return Err("it has too many labels");
        }
        labels.push((next()?, next()?));
    }
    if name.is_empty() {
        return Err("it has no name");
    }
    Ok(Names { name: utf8(name)?, unit: utf8(unit)?, help: utf8(help)?, labels })
}

fn utf8(text: &[u8]) -> Result<String, &'static str> {
    Ok(without_controls(str::from_utf8(text).map_err(|_| "its texts are not UTF-8")?))
}

/// Replaces characters that would control a terminal or change the direction of writing.
pub(crate) fn without_controls(text: &str) -> String {
    text.chars().map(|one| if is_control(one) { char::REPLACEMENT_CHARACTER } else { one }).collect()
}

/// Whether this is a control character, or an invisible one that changes the direction of writing or joins characters.
pub(crate) fn is_control(one: char) -> bool {
    one.is_control()
        || matches!(one as u32, 0xad | 0x61c | 0x180e | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f
            | 0xfeff | 0xfff9..=0xfffb | 0xe0000..=0xe0fff)
}

/// The text of a field that ends at the first zero.
pub(crate) fn read_field(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    without_controls(&String::from_utf8_lossy(&bytes[..end]))
}

/// Fills a field with text, cut at a character boundary and always terminated by zero.
pub(crate) fn write_field(bytes: &mut [u8], text: &str) {
    let mut end = text.len().min(bytes.len() - 1);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    bytes[..end].copy_from_slice(&text.as_bytes()[..end]);
}

/// Whether this is a valid name of a segment and its file: up to 64 letters, digits, `_` and `-`.
pub(crate) fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// Splits the name of a file into segment, process, and the start time of the process.
pub(crate) fn file_name(name: &str) -> Option<(String, u32, u64)> {
    let mut parts = name.split('.');
    let (segment, pid, start) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || !is_name(segment) {
        return None;
    }
    Some((segment.to_owned(), pid.parse().ok()?, start.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn body(lengths: [u16; 4], text: &[u8]) -> Body {
        // SAFETY: the structure holds only numbers, for which zeros are valid.
        let mut body: Body = unsafe { core::mem::zeroed() };
        [body.name, body.unit, body.help, body.labels] = lengths;
        body.text[..text.len()].copy_from_slice(text);
        body
    }

    proptest! {
        #[test]
        fn texts_come_back(
            name in "[a-z]{1,20}", unit in "[a-z]{0,5}", help in "[ -~äö]{0,80}",
            labels in proptest::collection::vec(("[a-z]{1,8}", "[ -~é]{0,30}"), 0..8),
        ) {
            let names = Names { name, unit, help, labels };
            let (lengths, text) = pack(&names).unwrap();
            prop_assert_eq!(unpack(&body(lengths, &text)), Ok(names));
        }

        #[test]
        fn any_bytes_are_survived(lengths: [u16; 4], text in proptest::collection::vec(0u8.., 0..TEXT)) {
            let _ = unpack(&body(lengths, &text));
            let _ = unpack(&body(lengths.map(|length| length % 64), &text));
        }
    }

    #[test]
    fn too_much_text_is_refused() {
        let names = |help: usize| Names { name: "x".into(), help: "h".repeat(help), ..Names::default() };
        assert!(pack(&names(TEXT - 1)).is_some() && pack(&names(TEXT)).is_none());
        let labelled = |number| {
            let labels = vec![("l".to_owned(), "v".to_owned()); number];
            let (lengths, text) = pack(&Names { name: "x".into(), labels, ..Names::default() }).unwrap();
            unpack(&body(lengths, &text)).map(|names| names.labels.len())
        };
        assert_eq!(labelled(MOST_LABELS), Ok(MOST_LABELS));
        assert_eq!(labelled(MOST_LABELS + 1), Err("it has too many labels"));
    }

    #[test]
    fn control_characters_are_replaced() {
        assert_eq!(without_controls("a\u{1b}[1m\u{202e}é"), "a\u{fffd}[1m\u{fffd}é");
    }

    #[test]
    fn names_of_files() {
        assert_eq!(file_name("check-out.12.345"), Some(("check-out".into(), 12, 345)));
        for other in ["", "a", "a.1", "a.1.2.3", ".a.1.2", "a.x.2", "a b.1.2", "a.1.-2"] {
            assert_eq!(file_name(other), None, "{other}");
        }
        assert!(!is_name("") && !is_name("a/b") && !is_name(&"a".repeat(65)) && is_name("a_B-9"));
    }
}
