//! Text.
//!
//! "Rules" has those of buffers, under "Text, bytes and lists". To make enough room:
//!
//!     size_t length = 0;
//!     picollo_status status = picollo_summary_format(&summary, title, PICOLLO_TEXT_JSON, NULL, 0, &length);
//!     // status is PICOLLO_ERR_BUFFER_TOO_SMALL, as there is no buffer, and length is set.
//!     char *text = malloc(length + 1);
//!     status = picollo_summary_format(&summary, title, PICOLLO_TEXT_JSON, text, length + 1, &length); // PICOLLO_OK
//!
//! Text for people (PICOLLO_TEXT_HUMAN) uses the unit at the end of the title, in parentheses or after a comma:
//! "Latency (ns)", "Requests, us". "(ns)" is a unit without a title. The library knows ps, ns, us, ms, s and their
//! long names, bytes, cycles and instructions. Numbers with a known unit have three digits and a prefix, such as 4.51
//! us (with the letter mu) or 526 ns. All others are printed in full: 4,509,696. A summary:
//!
//!     Latency: 99,940 values, 60 below the range
//!         P50      P90      P99    P99.9      max     mean
//!     3.60 us  7.46 us  9.15 us  9.66 us  9.79 us  4.33 us
//!
//! Percentiles that the count cannot support, such as P99.9 of 92 values, are left out. Diffs, comparisons and
//! benchmarks begin with the answer in a sentence, which claims no more than the verdict.
//!
//! 4096 bytes are enough for the Markdown of any summary with a short title. Titles and names are escaped for the
//! format. Column widths count Unicode scalar values.

use core::ffi::c_char;
use core::fmt::{self, Write};

use picollo_core::layouts::ValueSelection;
use picollo_core::seam::{BufferWriter, write_c_string};
use picollo_text::{Format, write_diff, write_summary};

use crate::argument::{input, output, room, text};
use crate::counted::borrow;
use crate::failure::{Failure, Outcome};
use crate::guard::exported;
use crate::histogram::picollo_histogram;
use crate::snapshot::picollo_percentile;
use crate::status::picollo_status;
use crate::summary::{Temporary, for_text, picollo_summary};

/// A heading and a table, for reports and terminals. Numbers are grouped and rounded.
#[allow(dead_code)] // for C
pub const PICOLLO_TEXT_MARKDOWN: u32 = Format::Markdown as u32;
/// One line without a line break, for logs. Numbers are grouped and rounded.
#[allow(dead_code)] // for C
pub const PICOLLO_TEXT_LINE: u32 = Format::Line as u32;
/// One JSON object, for programs. Numbers are exact; missing values are null.
#[allow(dead_code)] // for C
pub const PICOLLO_TEXT_JSON: u32 = Format::Json as u32;

/// A few lines for people, at most 80 columns wide, without a line break at the end. See "Text for people".
#[allow(dead_code)] // for C
pub const PICOLLO_TEXT_HUMAN: u32 = Format::Human as u32;
/// Part of an HTML page: only for picollo_exemplars_format. For all other calls it is an unknown format.
#[allow(dead_code)] // for C
pub const PICOLLO_TEXT_HTML: u32 = 6;

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

/// Checks the arguments of [`write_text`]. Writes nothing yet.
///
/// # Safety As for [`write_text`].
unsafe fn check(buffer: *mut c_char, capacity: usize, out_length: *mut usize) -> Outcome {
    room(buffer, capacity)?;
    output(out_length).map(|_| ())
}

/// As [`write_text`], for a writer that can also fail for other reasons before it writes anything. `write` is called
/// twice, and may fail only the first time.
///
/// # Safety As for [`write_text`].
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

/// As [`try_write_text`], for text that is expensive to make: it is made once, on the heap, and then copied.
///
/// # Safety As for [`write_text`].
#[cfg(feature = "std")]
pub unsafe fn write_collected(
    buffer: *mut c_char,
    capacity: usize,
    out_length: *mut usize,
    write: impl FnOnce(&mut Collected) -> picollo_core::Result<()>,
) -> Outcome {
    check(buffer, capacity, out_length)?;
    let mut collected = Collected(String::new());
    write(&mut collected).map_err(|error| match error {
        // Only memory limits its length.
        picollo_core::Error::BufferTooSmall => Failure::OUT_OF_MEMORY,
        error => error.into(),
    })?;
    write_text(buffer, capacity, out_length, &|out| out.write_str(&collected.0))
}

/// Text on the heap. Writing fails if there is no memory.
#[cfg(feature = "std")]
pub struct Collected(String);

#[cfg(feature = "std")]
impl Write for Collected {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.try_reserve(text.len()).map_err(|_| fmt::Error)?;
        self.0.push_str(text);
        Ok(())
    }
}

exported! {
/// Writes a summary of a histogram since its reset as text, with the usual percentiles and PICOLLO_VALUE_MIDPOINT.
///
/// Returns: PICOLLO_ERR_BUSY if another program overwrites the shared memory.
/// Cost: as picollo_histogram_summary.
fn picollo_histogram_format(
    histogram: *const picollo_histogram,
    title: *const c_char,
    format: u32,
    buffer: *mut c_char,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    let (histogram, title) = (borrow(histogram)?, text(title)?);
    let format = Format::try_from(format)?;
    let temporary = Temporary::new(&histogram)?;
    let summary = temporary.counts().summary(ValueSelection::Midpoint);
    write_text(buffer, capacity, out_length, &|out| write_summary(&summary, out, title, format))
}

/// Writes a summary as text, with those of its percentiles that are at PICOLLO_DEFAULT_RANKS.
///
/// Requires: the percentiles that the summary refers to are still there.
/// Cost: microseconds for a line, tens of microseconds for a table.
fn picollo_summary_format(
    summary: *const picollo_summary,
    title: *const c_char,
    format: u32,
    buffer: *mut c_char,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    let (summary, title) = (for_text(summary)?, text(title)?);
    let format = Format::try_from(format)?;
    write_text(buffer, capacity, out_length, &|out| write_summary(&summary, out, title, format))
}

/// Writes the changes from summary a, the older, to summary b, the newer, as text: the numbers of both, the changes
/// in per cent, and the D-value (Cohen's d: the difference of the means divided by the pooled standard deviation).
///
/// Requires: if a name is empty, Markdown and the line read "Before" and "After".
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
    let (a, b) = (for_text(a)?, for_text(b)?);
    let (title, name_a, name_b) = (text(title)?, text(name_a)?, text(name_b)?);
    let format = Format::try_from(format)?;
    write_text(buffer, capacity, out_length, &|out| write_diff(&a, &b, out, title, name_a, name_b, format))
}

/// Writes a percentile as text: P99=9,152 [138 / 519]: [9,088, 9,216) 386. This shows rank and value; storage and
/// logical index of the bucket; its half-open range; its count. With a target_count of 0 the text is P99=n/a.
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
}
