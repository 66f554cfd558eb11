//! What must hold of the bytes of a segment before anything in them is believed. No byte is a reason to panic.

use core::mem::offset_of;
use std::string::String;
use std::vec::Vec;

use super::description::SegmentKind;
use super::format::{self, Body, ENTRY_SIZE, HEADER_SIZE, Header, PAGE, Slot};
use crate::base::error::Status;

/// Why bytes are not believed.
pub(crate) type Doubt = (Status, &'static str);

/// What a header says, as far as all else depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    pub(crate) capacity: u64,
    pub(crate) max_entries: u32,
    /// Entries that were begun.
    pub(crate) entries: u32,
}

/// A number at a place inside of the bytes.
pub(crate) fn number<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes.get(at..).and_then(<[u8]>::first_chunk).copied().unwrap_or([0; N])
}

macro_rules! field {
    ($bytes:expr, $type:ty, $struct:ty, $field:ident) => {
        <$type>::from_ne_bytes($crate::segment::check::number($bytes, core::mem::offset_of!($struct, $field)))
    };
}
pub(crate) use field;

impl Shape {
    /// Of a header, or as much of it as there is, in a file of this length.
    pub(crate) fn of(bytes: &[u8], file_length: u64) -> Result<Shape, Doubt> {
        if bytes.len() < size_of::<Header>() {
            return Err((Status::Corrupt, "is cut off: it is shorter than a header"));
        }
        if number(bytes, offset_of!(Header, magic)) != format::MAGIC {
            return Err((Status::Corrupt, "is no segment"));
        }
        if field!(bytes, u32, Header, byte_order) != format::BYTE_ORDER {
            return Err((Status::Incompatible, "was made by a machine with another order of bytes"));
        }
        if field!(bytes, u32, Header, image_version) != format::IMAGE_VERSION {
            return Err((
                Status::Incompatible,
                "is of another version of the format; use the tools of that version",
            ));
        }
        if field!(bytes, u32, Header, word_bytes) != format::WORD_BYTES {
            return Err((Status::Incompatible, "was made by a program with other addresses (32 or 64 bits)"));
        }
        let shape = Shape {
            capacity: field!(bytes, u64, Header, capacity),
            max_entries: field!(bytes, u32, Header, max_entries),
            entries: field!(bytes, u32, Header, entries),
        };
        let sizes = (field!(bytes, u32, Header, header_size), field!(bytes, u32, Header, entry_size));
        if sizes != (HEADER_SIZE, ENTRY_SIZE) || shape.max_entries > format::MOST_ENTRIES {
            return Err((Status::Corrupt, "has a broken header: the directory cannot be so"));
        }
        if shape.capacity > format::MOST_CAPACITY || shape.capacity < format::directory_end(shape.max_entries)
        {
            return Err((Status::Corrupt, "has a broken header: the capacity cannot be so"));
        }
        if shape.capacity != file_length {
            return Err((Status::Corrupt, "is cut off: its length is not the one in its header"));
        }
        if shape.entries > shape.max_entries {
            return Err((Status::Corrupt, "has a broken header: there are more entries than fit"));
        }
        Ok(shape)
    }
}

/// The bytes of an entry as what they are.
pub(crate) fn body(bytes: &[u8; ENTRY_SIZE as usize]) -> Body {
    let mut body = core::mem::MaybeUninit::<Body>::zeroed();
    let from = &bytes[offset_of!(Slot, body)..];
    // SAFETY: as many bytes as the body has are behind the state, any of which are one: numbers only, without padding.
    unsafe {
        body.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(from.as_ptr(), size_of::<Body>());
        body.assume_init()
    }
}

/// Whether what an entry is of lies where it may.
pub(crate) fn place(body: &Body, shape: &Shape) -> Result<SegmentKind, &'static str> {
    let kind = match body.kind {
        kind if kind == SegmentKind::Histogram as u32 => SegmentKind::Histogram,
        kind if kind == SegmentKind::Counter as u32 => SegmentKind::Counter,
        _ => return Err("is of a kind that this version does not know"),
    };
    let is_inside = body.offset >= format::directory_end(shape.max_entries)
        && body.offset.is_multiple_of(PAGE)
        && body.size <= format::MOST_OBJECT
        && body.offset.checked_add(body.size).is_some_and(|end| end <= shape.capacity);
    if !is_inside {
        return Err("lies outside of the segment");
    }
    let is_known = match kind {
        SegmentKind::Counter => body.mode <= format::mode::STRIPED,
        SegmentKind::Histogram => body.mode <= format::mode::PER_CPU,
    };
    if !is_known {
        return Err("is of a mode that this version does not know");
    }
    if kind == SegmentKind::Counter && body.size != format::COUNTER_SIZES[body.mode as usize] {
        return Err("has the size of no counter");
    }
    if !(body.divisor.is_finite() && body.divisor > 0.0) {
        return Err("has a divisor that nothing can be divided by");
    }
    Ok(kind)
}

/// A text as a sentence of what is wrong.
pub(crate) fn of_entry(index: usize, why: &str) -> String {
    std::format!("entry {index} {why}")
}

/// Room for an image that the core can look at: its lines are aligned as headers of histograms are.
#[derive(Default)]
pub(crate) struct Image(Vec<Line>);

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u64; 8]);

impl Image {
    /// Has room for so many bytes, up to a multiple of a line.
    pub(crate) fn resize(&mut self, bytes: u64) -> Result<(), Status> {
        let lines = bytes.div_ceil(64) as usize;
        self.0.clear();
        self.0.try_reserve_exact(lines).map_err(|_| Status::OutOfMemory)?;
        self.0.resize(lines, Line([0; 8]));
        Ok(())
    }

    pub(crate) fn words(&mut self) -> &mut [u64] {
        // SAFETY: lines are words, eight each, without padding.
        unsafe { core::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), self.0.len() * 8) }
    }
}
