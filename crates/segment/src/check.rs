//! Checks the bytes of a segment before anything in them is trusted. No byte may cause a panic.

use std::fs::File;
use std::io;

use super::description::SegmentKind;
use super::file;
use super::format::{self, Body, ENTRY_SIZE, HEADER_SIZE, Header, PAGE, structure};
use picollo_native::Status;

/// Why bytes are not trusted.
pub(crate) type Doubt = (Status, &'static str);

/// The part of a header that everything else depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    pub(crate) capacity: u64,
    pub(crate) max_entries: u32,
    /// Entries that a writer started to create.
    pub(crate) entries: u32,
}

/// Reads the header at the beginning of a file. Missing bytes are zero; the second value is the number of bytes read.
pub(crate) fn header(file: &File) -> io::Result<(Header, usize)> {
    let mut bytes = [0; size_of::<Header>()];
    let length = file::read_at(file, &mut bytes, 0)?;
    Ok((structure(&bytes), length))
}

impl Header {
    /// Whether the process that created the segment runs on this machine. In another PID namespace, its PID may belong
    /// to another process or to none, with another start time. There, only the lock on the file shows who is alive.
    pub(crate) fn is_by_the_living(&self) -> bool {
        self.start_time != 0
            && matches!(file::state_and_start(&self.pid.to_string()), Some((state, start))
                if start == self.start_time && !matches!(state, b'Z' | b'X' | b'x'))
            && format::read_field(&self.boot_id) == file::boot_id()
    }

    /// Whether another process created it and is alive. The caller itself does not count: it may have become another
    /// program by `exec`, which ended the mapping.
    pub(crate) fn is_by_another(&self) -> bool {
        self.pid != std::process::id() && self.is_by_the_living()
    }
}

impl Shape {
    /// Checks a header, possibly truncated, in a file of this length.
    pub(crate) fn from_header((header, length): &(Header, usize), file_length: u64) -> Result<Shape, Doubt> {
        use Status::{Corrupt, Incompatible};
        let entries = header.entries.load(core::sync::atomic::Ordering::Relaxed);
        let Header { capacity, max_entries, .. } = *header;
        let is_odd_directory = (header.header_size, header.entry_size) != (HEADER_SIZE, ENTRY_SIZE);
        for (is_wrong, status, why) in [
            (*length < size_of::<Header>(), Corrupt, "is cut off: it is shorter than a header"),
            (header.magic != format::MAGIC, Corrupt, "is no segment"),
            (
                header.byte_order != format::BYTE_ORDER,
                Incompatible,
                "was made by a machine with another order of bytes",
            ),
            (
                header.image_version != format::IMAGE_VERSION,
                Incompatible,
                "is of another version of the format; use the tools of that version",
            ),
            (
                header.word_bytes != format::WORD_BYTES,
                Incompatible,
                "was made by a program with other addresses (32 or 64 bits)",
            ),
            (
                is_odd_directory || max_entries > format::MOST_ENTRIES,
                Corrupt,
                "has a broken header: the directory cannot be so",
            ),
            (
                !(format::directory_end(max_entries)..=format::MOST_CAPACITY).contains(&capacity),
                Corrupt,
                "has a broken header: the capacity cannot be so",
            ),
            (capacity != file_length, Corrupt, "is cut off: its length is not the one in its header"),
            (entries > max_entries, Corrupt, "has a broken header: there are more entries than fit"),
        ] {
            if is_wrong {
                return Err((status, why));
            }
        }
        Ok(Shape { capacity, max_entries, entries })
    }
}

/// Checks that the object of an entry lies inside the allowed range.
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

/// Turns a reason into a sentence about an entry.
pub(crate) fn entry_message(index: usize, why: &str) -> String {
    format!("entry {index} {why}")
}

/// Memory for an image that the core can read: its lines have the alignment of a histogram's header.
#[derive(Default)]
pub(crate) struct Image(Vec<Line>);

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u64; 8]);

impl Image {
    /// Resizes to this many bytes, rounded up to whole lines.
    pub(crate) fn resize(&mut self, bytes: u64) -> Result<(), Status> {
        let lines = bytes.div_ceil(64) as usize;
        self.0.clear();
        self.0.try_reserve_exact(lines).map_err(|_| Status::OutOfMemory)?;
        self.0.resize(lines, Line([0; 8]));
        Ok(())
    }

    pub(crate) fn words(&mut self) -> &mut [u64] {
        // SAFETY: a line is eight words without padding.
        unsafe { core::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), self.0.len() * 8) }
    }
}
