//! Logs of histograms (.hlog): the format of HdrHistogram's log tools, with a line per interval.
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
//! Headers are optional and ignore case. Comments, legends and empty lines may be anywhere, and lines may end in any
//! way. Timestamps are absolute, or relative to a base time. Without BaseTime they are relative to StartTime if the
//! first timestamp is more than a year before it, as in Java. Without StartTime the first timestamp replaces it. A
//! version line or a StartTime after an interval begins another log, with its own times. Numbers may follow any
//! culture (.NET). The second field may be the end of the interval (C) instead of its length.
//!
//! picollo_log_format_header once, and picollo_log_format_interval for each interval, write a log as text.

use core::ffi::c_char;

use picollo_codec::log::{Header, Interval, Reader, from_utf16, write_header, write_interval};

use crate::argument::{exclusive, input, output, slice, text};
use crate::failure::{Failure, Outcome};
use crate::guard::{exported, guard_void};
use crate::interchange;
use crate::memory;
use crate::snapshot;
use crate::snapshot::picollo_snapshot;
use crate::status::picollo_status;
use crate::text::{try_write_text, write_collected};

/// Reads a log of histograms (.hlog) in the caller's memory.
pub struct picollo_log_reader(());

/// A line of a log, without its histogram. Unknown times are NaN.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_log_interval {
    /// Start of the interval in seconds since 1970, or since the origin of the log's times.
    pub start_seconds: f64,
    /// End of the interval.
    pub end_seconds: f64,
    /// The largest value in millions, as written in the log; NaN if it is not a number. The histogram is more exact.
    pub max: f64,
    /// Start of the log, in seconds since 1970.
    pub log_start_seconds: f64,
    /// The number that is added to the timestamps of the log.
    pub log_base_seconds: f64,
    /// Bytes of the log read so far (of the copy, if the text is in UTF-16).
    pub position: u64,
    /// Number of the line that was read last, from 1.
    pub line: u64,
    /// Tag that distinguishes histograms of the same time; "" without a tag. UTF-8, NUL-terminated. It belongs to the
    /// reader, until the next interval is read.
    pub tag: *const c_char,
    /// Length of the tag in bytes.
    pub tag_length: usize,
}

/// The target of a `picollo_log_reader` pointer. The text is the caller's, who keeps it until the reader is freed.
struct Log {
    reader: Reader<'static>,
    /// The interval that was read last.
    interval: Option<Interval<'static>>,
    /// Its tag with a NUL; empty without an interval.
    tag: String,
    /// The copy of a text in UTF-16. The two above borrow it, so it is dropped after them.
    _copy: Option<String>,
}

impl Log {
    /// Reads the next interval. Reports in any case how far the log was read.
    fn advance(&mut self) -> (picollo_log_interval, Outcome) {
        self.interval = None;
        self.tag.clear();
        let read = match self.reader.next() {
            None => Err(Failure::END),
            Some(Err(error)) => Err(error.into()),
            Some(Ok(interval)) => self.keep(interval),
        };
        let reported = picollo_log_interval {
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
        (reported, read)
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
/// Makes a reader of a log in UTF-8, or in UTF-16 of either byte order with a byte order mark (as HdrHistogram.NET
/// writes it). UTF-16 is copied once, as UTF-8.
///
/// Requires: text is not NULL: it leads to length bytes, which do not change until the reader is freed. A NUL at the
///   end is optional.
/// Ownership: *out borrows the text. Snapshots do not.
/// Cost: allocates the reader; reads nothing yet, but copies UTF-16.
fn picollo_log_reader_create(
    text: *const c_char,
    length: usize,
    out: *mut *mut picollo_log_reader,
) -> picollo_status {
    // SAFETY: the caller's promises, passed on; the text is there for as long as the reader is.
    let (text, out) = unsafe { (slice(text.cast::<u8>(), length)?, output(out)?) };
    let _copy = from_utf16(text)?;
    let text = match &_copy {
        // SAFETY: its bytes stay where they are, and as they are, for as long as the reader beside it.
        Some(copy) => unsafe { core::slice::from_raw_parts(copy.as_ptr(), copy.len()) },
        None => text,
    };
    let log = Log { reader: Reader::new(text), interval: None, tag: String::new(), _copy };
    out.deliver(memory::create(log)?.as_ptr().cast())
}

/// Reads the next interval, but does not decode its histogram: picollo_log_reader_decode does that for the intervals
/// that you select. So selecting from a large log by tag and time is cheap.
///
/// The end of the log is also reported before a last line that is still being written: one without a line end that
/// cannot be read, or whose histogram is cut, even if only its padding is missing. Trailing NULs are the end, too.
///
/// Returns: PICOLLO_END at the end of the log; PICOLLO_ERR_CORRUPT for a line that is not an interval: the next call
///   continues after it (a damaged histogram is not noticed here); PICOLLO_ERR_OUT_OF_MEMORY for a tag;
///   PICOLLO_ERR_NULL_POINTER (reader, out_interval), and nothing is read. After the first three *out_interval is
///   written as well: position, line and the log's times, with NaN and "" for the interval.
/// Threads: any thread, one at a time with this reader.
/// Cost: that of reading a line; for a last line without a line end, also that of decoding it.
fn picollo_log_reader_next(
    reader: *mut picollo_log_reader,
    out_interval: *mut picollo_log_interval,
) -> picollo_status {
    let (log, out_interval) = (exclusive(reader.cast::<Log>())?, output(out_interval)?);
    let (reported, read) = log.advance();
    out_interval.set(reported);
    read
}

/// Decodes the histogram of the interval that was read last, any number of times. max_counters is as in
/// picollo_snapshot_decode. If the histogram holds no time, its time is the end of the interval.
///
/// Returns: PICOLLO_ERR_EMPTY if no interval was read, the last line was not an interval, or at the end; otherwise as
///   picollo_snapshot_decode.
/// Ownership: *out needs neither the reader nor the text.
/// Threads: any thread, one at a time with this reader.
/// Cost: as picollo_snapshot_decode.
fn picollo_log_reader_decode(
    reader: *const picollo_log_reader,
    max_counters: u64,
    out: *mut *mut picollo_snapshot,
) -> picollo_status {
    let (log, out) = (input(reader.cast::<Log>())?, output(out)?);
    out.deliver(log.decode(max_counters)?)
}
}

/// Frees a reader. The text is the caller's again; snapshots stay valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_log_reader_free(reader: *mut picollo_log_reader) {
    // SAFETY: from picollo_log_reader_create, and given up by the caller.
    guard_void(|| unsafe { memory::destroy(reader.cast::<Log>()) });
}

exported! {
/// Writes the first lines of a log: the comment, the version of the format, StartTime, and the names of the fields.
///
/// It writes no BaseTime: readers take timestamps to be relative to the start if the first one is more than a year
/// before it, and absolute otherwise. To be explicit, add a line "#[BaseTime: 0.000 (seconds since epoch)]", or
/// another number that is to be added to all timestamps.
///
/// Requires: start_seconds is the start of the log in seconds since 1970, or NaN to omit it; comment has any number
///   of lines.
/// Returns: PICOLLO_ERR_INVALID_ARGUMENT for an infinite start_seconds, or one beyond 10^15.
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

/// Writes the line of an interval, with its line break: the snapshot in PICOLLO_ENCODING_HDR_V2_COMPRESSED, as
/// base64.
///
/// Requires: start_seconds is the start of the interval in seconds since 1970, or since the StartTime of the log (see
///   picollo_log_format_header); length_seconds is its length; tag holds no comma, space, line end or control
///   character except the tab.
/// Returns: PICOLLO_ERR_INCOMPATIBLE as picollo_snapshot_encode; PICOLLO_ERR_INVALID_ARGUMENT for such a tag, and for
///   times that are infinite, NaN or beyond 10^15.
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
