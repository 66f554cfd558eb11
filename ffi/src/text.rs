//! Text.
//!
//! Text goes into the caller's buffer, UTF-8 with a NUL at the end. *out_length is its length in bytes, without the
//! NUL. When buffer is too small, the answer is PICOLLO_ERR_BUFFER_TOO_SMALL with the same *out_length, and of the
//! buffer only buffer[0] is written, with 0. So, to have room for sure:
//!
//!     size_t length = 0;
//!     picollo_status status = picollo_summary_format(&summary, title, PICOLLO_TEXT_JSON, NULL, 0, &length);
//!     // status is PICOLLO_ERR_BUFFER_TOO_SMALL, as there is no buffer, and length is set.
//!     char *text = malloc(length + 1);
//!     status = picollo_summary_format(&summary, title, PICOLLO_TEXT_JSON, text, length + 1, &length); // PICOLLO_OK
//!
//! Text for people (PICOLLO_TEXT_HUMAN) is in the unit that the title ends with, in parentheses or behind a
//! comma: "Latency (ns)", "Requests, us"; "(ns)" is a unit without a title. Known are ps, ns, us, ms, s and their long names, bytes,
//! cycles and instructions. Of those numbers have three digits and a prefix, 4.51 us (with the letter mu) or 526 ns; all others are
//! as they are, 4,509,696. A summary:
//!
//!     Latency: 99,940 values, 60 below the range
//!         P50      P90      P99    P99.9      max     mean
//!     3.60 us  7.46 us  9.15 us  9.66 us  9.79 us  4.33 us
//!
//! Percentiles that the count cannot support, as P99.9 of 92, are left out. Diffs, comparisons and benchmarks begin with the answer
//! in a sentence, which says no more than the verdict does.
//!
//! 4096 bytes are enough for the Markdown of any summary with a short title. Titles and names are NUL-terminated UTF-8;
//! NULL is the same as "". They are escaped for the format, and column widths count Unicode scalar values.

use core::ffi::c_char;
use core::fmt::{self, Write};

use picollo_core::text::{BufferWriter, Format, ListedBucket, write_c_string};
use picollo_core::{Snapshot, ValueSelection};

use crate::argument::{either, input, output, room, text};
use crate::failure::{Failure, Outcome};
use crate::guard::exported;
use crate::handles::picollo_snapshot;
use crate::memory;
use crate::snapshot::{self, PICOLLO_BUCKETS_ALL, PICOLLO_BUCKETS_NON_EMPTY, picollo_percentile};
use crate::status::picollo_status;
use crate::summary::picollo_summary;

/// A heading and a table, for reports and terminals. Numbers are grouped and rounded.
pub const PICOLLO_TEXT_MARKDOWN: u32 = 0;
/// One line without a line break, for logs. Numbers are grouped and rounded.
pub const PICOLLO_TEXT_LINE: u32 = 1;
/// One JSON object, for programs. Numbers are exact; what does not exist is null.
pub const PICOLLO_TEXT_JSON: u32 = 2;

/// A few lines for people, at most 80 columns wide, without a line break at the end: the answer first, short, with three digits
/// and units that fit. See "Text for people".
pub const PICOLLO_TEXT_HUMAN: u32 = 4;
/// A part of a page, in HTML: of picollo_exemplars_format alone. For all others it is an unknown format.
pub const PICOLLO_TEXT_HTML: u32 = 6;

const _: () = assert!(
    PICOLLO_TEXT_MARKDOWN == Format::Markdown as u32
        && PICOLLO_TEXT_LINE == Format::Line as u32
        && PICOLLO_TEXT_JSON == Format::Json as u32
        && PICOLLO_TEXT_HUMAN == Format::Human as u32
);

/// Writes a text into the caller's buffer.
///
/// # Safety
/// `buffer` must be valid for writes of `capacity` bytes, and `out_length` for a write, during the call.
pub unsafe fn write_text(
    buffer: *mut c_char,
    capacity: usize,
    out_length: *mut usize,
    write: &dyn Fn(&mut dyn Write) -> fmt::Result,
) -> Outcome {
    let (buffer, out_length) = (room(buffer.cast::<u8>(), capacity)?, output(out_length)?);
    let written = write_c_string(buffer, write);
    out_length.set(written.length);
    if written.fits { Ok(()) } else { Err(Failure::BUFFER_TOO_SMALL) }
}

/// Whether [`write_text`] would take these. Nothing is written yet.
///
/// # Safety
/// As for [`write_text`].
unsafe fn check(buffer: *mut c_char, capacity: usize, out_length: *mut usize) -> Outcome {
    room(buffer, capacity)?;
    output(out_length).map(|_| ())
}

/// As [`write_text`], for what can also fail for other reasons, before anything is written. `write` is called twice, and
/// may fail the first time only.
///
/// # Safety
/// As for [`write_text`].
pub unsafe fn try_write_text(
    buffer: *mut c_char,
    capacity: usize,
    out_length: *mut usize,
    write: &dyn Fn(&mut dyn Write) -> picollo_core::Result<()>,
) -> Outcome {
    check(buffer, capacity, out_length)?;
    // Counts, and never fails itself.
    write(&mut BufferWriter::new(&mut []))?;
    write_text(buffer, capacity, out_length, &|out| write(out).map_err(|_| fmt::Error))
}

/// As [`try_write_text`], for what takes long to make: it is made once, on the heap, and then copied.
///
/// # Safety
/// As for [`write_text`].
pub unsafe fn write_collected(
    buffer: *mut c_char,
    capacity: usize,
    out_length: *mut usize,
    write: impl FnOnce(&mut Collected) -> picollo_core::Result<()>,
) -> Outcome {
    check(buffer, capacity, out_length)?;
    let mut collected = Collected(memory::growing()?);
    write(&mut collected).map_err(|error| match error {
        // It takes all there is memory for.
        picollo_core::Error::BufferTooSmall => Failure::OUT_OF_MEMORY,
        error => error.into(),
    })?;
    write_text(buffer, capacity, out_length, &|out| out.write_str(&collected.0))
}

/// Text on the heap. Writing fails where there is no memory.
pub struct Collected(memory::Growing);

impl Write for Collected {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.try_reserve(text.len()).map_err(|_| fmt::Error)?;
        self.0.push_str(text);
        Ok(())
    }
}

exported! {
/// Writes a summary as text.
///
/// Requires: format is PICOLLO_TEXT_....
/// Cost: microseconds for a line, tens of microseconds for a table.
fn picollo_summary_format(
    summary: *const picollo_summary,
    title: *const c_char,
    format: u32,
    buffer: *mut c_char,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    let (summary, title) = (input(summary)?, text(title)?);
    let format = Format::try_from(format)?;
    write_text(buffer, capacity, out_length, &|out| summary.write(out, title, format))
}

/// Writes what changed from summary a, the older, to summary b, the newer, as text: both their numbers, the changes
/// in per cent, and the D-value (Cohen's d: the difference of the means over the pooled standard deviation).
///
/// Requires: format is PICOLLO_TEXT_.... Empty names read "Before" and "After" in Markdown and in a line.
/// Otherwise: as picollo_summary_format.
fn picollo_summary_format_diff(
    a: *const picollo_summary,
    b: *const picollo_summary,
    title: *const c_char,
    name_a: *const c_char,
    name_b: *const c_char,
    format: u32,
    buffer: *mut c_char,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    let (a, b) = (input(a)?, input(b)?);
    let (title, name_a, name_b) = (text(title)?, text(name_a)?, text(name_b)?);
    let format = Format::try_from(format)?;
    write_text(buffer, capacity, out_length, &|out| a.write_diff(b, out, title, name_a, name_b, format))
}

/// Writes a percentile as text: P99=9,152 [138 / 519]: [9,088, 9,216) 386. That is rank and value; storage and
/// logical index of the bucket; its range, half open; its count. With a target_count of 0 it is P99=n/a.
///
/// Requires: a capacity of 192 is enough for any percentile of a snapshot.
/// Cost: a microsecond.
fn picollo_percentile_format(
    percentile: *const picollo_percentile,
    buffer: *mut c_char,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    let percentile = input(percentile)?;
    write_text(buffer, capacity, out_length, &|out| write!(out, "{percentile}"))
}

/// Writes the buckets as text, each on a line of its own: P0.073=2,008 [0 / 381]: [2,000, 2,016) 146. As
/// picollo_percentile_format, for the observation in the middle of the bucket: its number among all is before +
/// ceil(count / 2), and its rank that number / total * 100. So an only observation is at rank 100.
///
/// Requires: non_empty_only is PICOLLO_BUCKETS_ALL or PICOLLO_BUCKETS_NON_EMPTY; value_selection is
///   PICOLLO_VALUE_....
/// Cost: a microsecond for each bucket listed.
fn picollo_snapshot_format_buckets(
    snapshot: *const picollo_snapshot,
    non_empty_only: u32,
    value_selection: u32,
    buffer: *mut c_char,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    let snapshot = snapshot::read(snapshot)?;
    let (non_empty_only, selection) = (
        either(non_empty_only, PICOLLO_BUCKETS_ALL, PICOLLO_BUCKETS_NON_EMPTY)?,
        ValueSelection::try_from(value_selection)?,
    );
    let write = |out: &mut dyn Write| write_buckets(out, snapshot, non_empty_only, selection);
    write_text(buffer, capacity, out_length, &write)
}
}

fn write_buckets(
    out: &mut dyn Write,
    snapshot: &Snapshot,
    non_empty_only: bool,
    selection: ValueSelection,
) -> fmt::Result {
    for listed in snapshot.bucket_percentiles(non_empty_only, selection) {
        writeln!(out, "{}", ListedBucket(listed))?;
    }
    Ok(())
}
