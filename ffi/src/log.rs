//! Logs of histograms (.hlog): the format of HdrHistogram's log tools, a line for each interval.
//!
//! The whole log is in the caller's memory, read or mapped from its file:
//!
//!     picollo_log_reader *reader;
//!     picollo_log_interval interval;
//!     picollo_snapshot *snapshot;
//!     picollo_status status;
//!     if (picollo_log_reader_create(text, length, &reader) != PICOLLO_OK) return;
//!     while ((status = picollo_log_reader_next(reader, &interval)) == PICOLLO_OK || status == PICOLLO_ERR_CORRUPT) {
//!         if (status != PICOLLO_OK) continue;     (line interval.line cannot be read; reading goes on after it)
//!         ... interval.tag, interval.start_seconds: is it wanted? ...
//!         if (picollo_log_reader_decode(reader, 0, &snapshot) != PICOLLO_OK) continue;
//!         ... picollo_snapshot_percentiles(snapshot, ...) ...
//!         picollo_snapshot_free(snapshot);
//!     }
//!     picollo_log_reader_free(reader);
//!
//! Headers are optional; comments, legends and empty lines may be anywhere, lines may end in any way, and case does not
//! matter in headers. Timestamps are absolute, or relative to a base time. Where BaseTime is missing, they are taken to
//! be relative to StartTime if the first one is more than a year before it, as in Java; where StartTime is missing, it is
//! the first timestamp. A version line or a StartTime after an interval begins another log, whose times are found anew.
//! Numbers may be written as in any culture (.NET), and the second field may be the end (C, which puts it where others have the
//! length).
//!
//! A log is written as text, into the caller's buffer: picollo_log_format_header once, and picollo_log_format_interval
//! for each interval.

use core::ffi::c_char;

#[cfg(feature = "std")]
use picollo_core::log::from_utf16;
use picollo_core::log::{Header, Interval, Reader, write_header, write_interval};

use crate::argument::{exclusive, input, output, slice, text};
use crate::failure::{Failure, Outcome};
use crate::guard::{exported, guard_void};
use crate::handles::{picollo_log_reader, picollo_snapshot};
use crate::interchange;
use crate::memory::{self, Growing, growing};
use crate::snapshot;
use crate::status::picollo_status;
use crate::text::{try_write_text, write_collected};

/// A line of a log, but for its histogram. Times are NaN as long as they are not known.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_log_interval {
    /// When the interval begins, in seconds since 1970 (or since whatever the log's times count from).
    pub start_seconds: f64,
    /// When it ends.
    pub end_seconds: f64,
    /// The largest value in millions, as written in the log; NaN where it is no number. The histogram knows better.
    pub max: f64,
    /// When the log starts, in seconds since 1970.
    pub log_start_seconds: f64,
    /// What is added to the timestamps of the log.
    pub log_base_seconds: f64,
    /// Bytes of the log that were read so far (of the copy, where the text is in UTF-16).
    pub position: u64,
    /// The number of the line that was read last, from 1 on.
    pub line: u64,
    /// What tells histograms of the same time apart; "" without one. UTF-8, NUL-terminated. It is the reader's, and there
    /// until the next interval is read.
    pub tag: *const c_char,
    /// Bytes of the tag.
    pub tag_length: usize,
}

/// What a `picollo_log_reader` pointer leads to. The text is the caller's, who keeps it until the reader is freed.
struct Log {
    reader: Reader<'static>,
    /// The line that was read last.
    interval: Option<Interval<'static>>,
    /// Its tag with a NUL; nothing without an interval.
    tag: Growing,
    /// A text that was in UTF-16, which the two above borrow: dropped after them.
    #[cfg(feature = "std")]
    _copy: Option<String>,
}

impl Log {
    /// Goes on to the next interval. How far the log was read is told in any case.
    fn advance(&mut self) -> (picollo_log_interval, Outcome) {
        self.interval = None;
        self.tag.clear();
        let read = match self.reader.next() {
            None => Err(Failure::END),
            Some(Err(error)) => Err(error.into()),
            Some(Ok(interval)) => self.keep(interval),
        };
        let told = picollo_log_interval {
            start_seconds: self.interval.as_ref().map_or(f64::NAN, |interval| interval.start_seconds),
            end_seconds: self.interval.as_ref().map_or(f64::NAN, |interval| interval.end_seconds()),
            max: self.interval.as_ref().map_or(f64::NAN, |interval| interval.max),
            log_start_seconds: self.reader.start_seconds().unwrap_or(f64::NAN),
            log_base_seconds: self.reader.base_seconds().unwrap_or(f64::NAN),
            position: self.reader.position() as u64,
            line: self.reader.line(),
            tag: if self.tag.is_empty() { c"".as_ptr() } else { self.tag.as_ptr().cast() },
            tag_length: self.tag.len().saturating_sub(1),
        };
        (told, read)
    }

    /// Keeps an interval, with a copy of its tag that ends in a NUL.
    fn keep(&mut self, interval: Interval<'static>) -> Outcome {
        let tag = interval.tag.unwrap_or("");
        if tag.contains('\0') {
            return Err(picollo_core::Error::Corrupt.into());
        }
        self.tag.try_reserve(tag.len() + 1).map_err(|_| Failure::OUT_OF_MEMORY)?;
        self.tag.push_str(tag);
        self.tag.push('\0');
        self.interval = Some(interval);
        Ok(())
    }

    fn interval(&self) -> Outcome<&Interval<'static>> {
        Ok(self.interval.as_ref().ok_or(picollo_core::Error::Empty)?)
    }

    /// Decodes the histogram of the interval that was read last.
    fn decode(&self, max_counters: u64) -> Outcome<*mut picollo_snapshot> {
        let interval = self.interval()?;
        let mut block = interchange::decode(interval.histogram, max_counters)?;
        // SAFETY: fresh, and nobody else has it.
        let counts = unsafe { block.as_mut() }.counts_mut();
        if counts.timestamp_unix_nanos() == 0 {
            counts.set_timestamp_unix_nanos(interval.end_unix_nanos());
        }
        Ok(block.as_ptr().cast())
    }
}

exported! {
/// Makes a reader of a log, in UTF-8, or in UTF-16 of either order with its mark in front (HdrHistogram.NET writes it): that is copied
/// once, in UTF-8.
///
/// Requires: text is not NULL: it leads to length bytes, which stay as they are until the reader is freed, with or
///   without a NUL.
/// Ownership: *out borrows the text. Snapshots do not.
/// Cost: none to speak of: nothing is read yet; a text in UTF-16 is copied.
fn picollo_log_reader_create(
    text: *const c_char,
    length: usize,
    out: *mut *mut picollo_log_reader,
) -> picollo_status {
    // SAFETY: the caller's promises, passed on; the text is there for as long as the reader is.
    let (text, out) = unsafe { (slice(text.cast::<u8>(), length)?, output(out)?) };
    #[cfg(feature = "std")]
    let _copy = from_utf16(text)?;
    #[cfg(feature = "std")]
    let text = match &_copy {
        // SAFETY: its bytes stay where they are, and as they are, for as long as the reader beside it.
        Some(copy) => unsafe { core::slice::from_raw_parts(copy.as_ptr(), copy.len()) },
        None => text,
    };
    let log = Log {
        reader: Reader::new(text),
        interval: None,
        tag: growing()?,
        #[cfg(feature = "std")]
        _copy,
    };
    out.tell(memory::create(log)?.as_ptr().cast())
}

/// Reads the next interval. Its histogram is not decoded, so that picking from a large log by tag and time costs little:
/// picollo_log_reader_decode does that, for those that are wanted.
///
/// Returns: PICOLLO_END at the end of the log, and before a last line without a line end that cannot be read or whose
///   histogram is cut, if only of its padding, since that is still being written, and before nothing but NULs;
///   PICOLLO_ERR_CORRUPT for a line that is no interval: the next call goes on after it (a broken histogram is not
///   noticed here); PICOLLO_ERR_OUT_OF_MEMORY for a tag; PICOLLO_ERR_NULL_POINTER (reader, out_interval), and then
///   nothing is read. After the first three *out_interval is written as well: how far the log was read and its times,
///   with NaN and "" in place of an interval.
/// Threads: any thread, one at a time with this reader.
/// Cost: that of reading a line; of a last line without a line end, that of decoding it.
fn picollo_log_reader_next(
    reader: *mut picollo_log_reader,
    out_interval: *mut picollo_log_interval,
) -> picollo_status {
    let (log, out_interval) = (exclusive(reader.cast::<Log>())?, output(out_interval)?);
    let (told, read) = log.advance();
    out_interval.set(told);
    read
}

/// Decodes the histogram of the interval that was read last. max_counters is as in picollo_snapshot_decode. Where it says no time of its own, its time is the end of the
/// interval. It may be done again.
///
/// Returns: PICOLLO_ERR_EMPTY when no interval was read, the last line read was none, or at the end; otherwise as
///   picollo_snapshot_decode.
/// Ownership: *out needs neither the reader nor the text.
/// Threads: any thread, one at a time with this reader.
/// Cost: that of picollo_snapshot_decode.
fn picollo_log_reader_decode(
    reader: *const picollo_log_reader,
    max_counters: u64,
    out: *mut *mut picollo_snapshot,
) -> picollo_status {
    let (log, out) = (input(reader.cast::<Log>())?, output(out)?);
    out.tell(log.decode(max_counters)?)
}
}

/// Frees a reader. The text is the caller's again; snapshots stay.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_log_reader_free(reader: *mut picollo_log_reader) {
    // SAFETY: from picollo_log_reader_create, and given up by the caller.
    guard_void(|| unsafe { memory::destroy(reader.cast::<Log>()) });
}

exported! {
/// Writes the lines that a log begins with: the comment, the version of the format, StartTime, and the names of the
/// fields.
///
/// There is no BaseTime: readers take the timestamps of intervals to be relative to the start if the first one is more
/// than a year before it, and absolute otherwise. Who wants to be sure adds a line "#[BaseTime: 0.000 (seconds since
/// epoch)]", or another number, to be added to all timestamps.
///
/// Requires: start_seconds is when the log starts, in seconds since 1970, or NaN to leave it out; comment is
///   NUL-terminated UTF-8 of any number of lines, or NULL.
/// Returns: PICOLLO_ERR_INVALID_ARGUMENT for a comment that is not UTF-8, an infinite start_seconds, and one beyond
///   10^15.
/// Cost: microseconds.
fn picollo_log_format_header(
    start_seconds: f64,
    comment: *const c_char,
    buffer: *mut c_char,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    let comment = text(comment)?;
    let start_seconds = Some(start_seconds).filter(|seconds| !seconds.is_nan());
    let header = Header { comment, start_seconds, base_seconds: None };
    try_write_text(buffer, capacity, out_length, &|out| write_header(out, &header))
}

/// Writes the line of an interval, with its line break: the snapshot in PICOLLO_ENCODING_HDR_V2_COMPRESSED, as base64.
///
/// Requires: start_seconds is when the interval begins, in seconds since 1970 or since the StartTime of the log (see
///   picollo_log_format_header), and length_seconds how long it is; tag is NUL-terminated UTF-8, or NULL or "" for
///   none, and holds no comma, space, line end or control character but the tab.
/// Returns: PICOLLO_ERR_INCOMPATIBLE as picollo_snapshot_encode; PICOLLO_ERR_INVALID_ARGUMENT for such a tag, and
///   times that are not finite or beyond 10^15.
/// Cost: as picollo_snapshot_encode_base64, also to ask for the length.
fn picollo_log_format_interval(
    snapshot: *const picollo_snapshot,
    start_seconds: f64,
    length_seconds: f64,
    tag: *const c_char,
    buffer: *mut c_char,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    let (snapshot, tag) = (snapshot::read(snapshot)?, text(tag)?);
    write_collected(buffer, capacity, out_length, |out| {
        write_interval(out, snapshot, start_seconds, length_seconds, Some(tag))
    })
}
}
