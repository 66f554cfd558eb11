//! Logs of histograms (.hlog): the format of HdrHistogram's log tools, a line for each interval.
//!
//! The whole log is in the caller's memory, read or mapped from its file:
//!
//!     picollo_log_reader *reader;
//!     picollo_log_interval interval;
//!     picollo_snapshot *snapshot;
//!     picollo_status status;
//!     picollo_log_reader_create(text, length, &reader);
//!     while ((status = picollo_log_reader_next(reader, &interval)) != PICOLLO_END) {
//!         if (status != PICOLLO_OK) continue;     (a line that cannot be read; reading goes on after it)
//!         ... interval.tag, interval.start_seconds: is it wanted? ...
//!         if (picollo_log_reader_decode(reader, &snapshot) != PICOLLO_OK) continue;
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
use crate::guard::{guard, guard_void};
use crate::handles::{picollo_log_reader, picollo_snapshot};
use crate::interchange;
use crate::memory;
use crate::snapshot;
use crate::status::picollo_status;
use crate::text::{try_write_text, write_collected, write_text};

/// Bytes of picollo_log_interval.tag, the NUL among them.
pub const PICOLLO_LOG_TAG_SIZE: usize = 232;

/// A line of a log, but for its histogram.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_log_interval {
    /// When the interval begins, in seconds since 1970 (or since whatever the log's times count from).
    pub start_seconds: f64,
    /// When it ends.
    pub end_seconds: f64,
    /// The largest value in millions, as written in the log; NaN where it is no number. The histogram knows better.
    pub max: f64,
    /// What tells histograms of the same time apart; "" without one. UTF-8, NUL-terminated. A longer one is cut between
    /// characters; picollo_log_reader_tag has all of it.
    pub tag: [c_char; PICOLLO_LOG_TAG_SIZE],
}

/// What a `picollo_log_reader` pointer leads to. The text is the caller's, who keeps it until the reader is freed.
struct Log {
    reader: Reader<'static>,
    /// The line that was read last.
    interval: Option<Interval<'static>>,
    max_counters: u64,
    /// A text that was in UTF-16, which the two above borrow: dropped after them.
    #[cfg(feature = "std")]
    _copy: Option<String>,
}

impl Log {
    /// Goes on to the next interval.
    fn advance(&mut self) -> Outcome<picollo_log_interval> {
        self.interval = None;
        let interval = self.reader.next().ok_or(Failure::END)??;
        let tag = interval.tag.unwrap_or("");
        if tag.contains('\0') {
            return Err(picollo_core::Error::Corrupt.into());
        }
        let mut told = picollo_log_interval {
            start_seconds: interval.start_seconds,
            end_seconds: interval.end_seconds(),
            max: interval.max,
            tag: [0; PICOLLO_LOG_TAG_SIZE],
        };
        let tag = &tag[..tag.floor_char_boundary(PICOLLO_LOG_TAG_SIZE - 1)];
        told.tag.iter_mut().zip(tag.as_bytes()).for_each(|(to, &from)| *to = from as c_char);
        self.interval = Some(interval);
        Ok(told)
    }

    fn interval(&self) -> Outcome<&Interval<'static>> {
        Ok(self.interval.as_ref().ok_or(picollo_core::Error::Empty)?)
    }

    /// Decodes the histogram of the interval that was read last.
    fn decode(&self) -> Outcome<*mut picollo_snapshot> {
        let interval = self.interval()?;
        let mut block = interchange::decode(interval.histogram, self.max_counters)?;
        // SAFETY: fresh, and nobody else has it.
        let counts = unsafe { block.as_mut() }.counts_mut();
        if counts.timestamp_unix_nanos() == 0 {
            counts.set_timestamp_unix_nanos(interval.end_unix_nanos());
        }
        Ok(block.as_ptr().cast())
    }
}

/// Makes a reader of a log, in UTF-8, or in UTF-16 of either order with its mark in front (HdrHistogram.NET writes it): that is copied
/// once, in UTF-8.
///
/// Requires: text leads to length bytes, which stay as they are until the reader is freed. They need not end in a NUL.
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (out, and text with a length above 0); PICOLLO_ERR_OUT_OF_MEMORY.
/// Ownership: *out is the caller's, for picollo_log_reader_free; it borrows the text. Snapshots do not.
/// Threads: any thread.
/// Cost: none to speak of: nothing is read yet; a text in UTF-16 is copied.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_log_reader_create(
    text: *const c_char,
    length: usize,
    out: *mut *mut picollo_log_reader,
) -> picollo_status {
    guard(|| {
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
            max_counters: 0,
            #[cfg(feature = "std")]
            _copy,
        };
        out.set(memory::create(log)?.as_ptr().cast());
        Ok(())
    })
}

/// Sets a limit on the counters of the snapshots that are decoded from here on, as max_counters of
/// picollo_snapshot_decode does; 0 is the default.
///
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (reader).
/// Threads: any thread, one at a time with this reader.
/// Cost: none to speak of.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_log_reader_set_max_counters(
    reader: *mut picollo_log_reader,
    max_counters: u64,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promise, passed on.
        unsafe { exclusive(reader.cast::<Log>())? }.max_counters = max_counters;
        Ok(())
    })
}

/// Reads the next interval. Its histogram is not decoded, so that picking from a large log by tag and time costs little:
/// picollo_log_reader_decode does that, for those that are wanted.
///
/// Returns: PICOLLO_OK; PICOLLO_END at the end of the log, and before a last line without a line end that cannot be read or whose
///   histogram is cut, if only of its padding, since that is still being written, and before nothing but NULs
///   (picollo_log_reader_position tells where that is); PICOLLO_ERR_CORRUPT for a line that is no interval: the next call goes
///   on after it (a broken histogram is not noticed here); PICOLLO_ERR_NULL_POINTER (reader, out_interval), and then nothing is read.
/// Threads: any thread, one at a time with this reader.
/// Cost: that of reading a line; of a last line without a line end, that of decoding it.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_log_reader_next(
    reader: *mut picollo_log_reader,
    out_interval: *mut picollo_log_interval,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        let (log, out_interval) = unsafe { (exclusive(reader.cast::<Log>())?, output(out_interval)?) };
        out_interval.set(log.advance()?);
        Ok(())
    })
}

/// Decodes the histogram of the interval that was read last. Where it says no time of its own, its time is the end of the
/// interval. It may be done again.
///
/// Returns: PICOLLO_OK; PICOLLO_ERR_EMPTY when no interval was read, the last line read was none, or at the end; otherwise as
///   picollo_snapshot_decode; PICOLLO_ERR_NULL_POINTER (reader, out).
/// Ownership: *out is the caller's, for picollo_snapshot_free; it needs neither the reader nor the text.
/// Threads: any thread, one at a time with this reader.
/// Cost: that of picollo_snapshot_decode.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_log_reader_decode(
    reader: *const picollo_log_reader,
    out: *mut *mut picollo_snapshot,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        let (log, out) = unsafe { (input(reader.cast::<Log>())?, output(out)?) };
        out.set(log.decode()?);
        Ok(())
    })
}

/// Tells the whole tag of the interval that was read last, however long; "" without one.
///
/// Requires: buffer has capacity bytes.
/// Returns: PICOLLO_OK; PICOLLO_ERR_BUFFER_TOO_SMALL; PICOLLO_ERR_EMPTY as picollo_log_reader_decode;
///   PICOLLO_ERR_NULL_POINTER (reader, out_length, and buffer with a capacity above 0).
/// Threads: any thread, one at a time with this reader.
/// Cost: none to speak of.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_log_reader_tag(
    reader: *const picollo_log_reader,
    buffer: *mut c_char,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        unsafe {
            let tag = input(reader.cast::<Log>())?.interval()?.tag.unwrap_or("");
            write_text(buffer, capacity, out_length, &|out| out.write_str(tag))
        }
    })
}

/// Tells how far the log was read.
///
/// Returns: PICOLLO_OK, with *out_bytes how many bytes were read (of the copy, where the text is in UTF-16), and *out_line the number
///   of the line that was read last, from 1 on; PICOLLO_ERR_NULL_POINTER (reader, out_bytes, out_line).
/// Threads: any thread, one at a time with this reader.
/// Cost: none to speak of.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_log_reader_position(
    reader: *const picollo_log_reader,
    out_bytes: *mut u64,
    out_line: *mut u64,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        let (log, out_bytes, out_line) =
            unsafe { (input(reader.cast::<Log>())?, output(out_bytes)?, output(out_line)?) };
        out_bytes.set(log.reader.position() as u64);
        out_line.set(log.reader.line());
        Ok(())
    })
}

/// Tells the times of the log, in seconds since 1970, as far as they are known by now; NaN where they are not. After the
/// first interval both are.
///
/// Returns: PICOLLO_OK, with *out_start when the log starts, and *out_base what is added to its timestamps;
///   PICOLLO_ERR_NULL_POINTER (reader, out_start, out_base).
/// Threads: any thread, one at a time with this reader.
/// Cost: none to speak of.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_log_reader_times(
    reader: *const picollo_log_reader,
    out_start: *mut f64,
    out_base: *mut f64,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        let (log, out_start, out_base) =
            unsafe { (input(reader.cast::<Log>())?, output(out_start)?, output(out_base)?) };
        out_start.set(log.reader.start_seconds().unwrap_or(f64::NAN));
        out_base.set(log.reader.base_seconds().unwrap_or(f64::NAN));
        Ok(())
    })
}

/// Frees a reader. NULL is allowed and does nothing. The text is the caller's again; snapshots stay.
///
/// Threads: any thread, once.
/// Cost: none to speak of.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_log_reader_free(reader: *mut picollo_log_reader) {
    // SAFETY: from picollo_log_reader_create, and given up by the caller.
    guard_void(|| unsafe { memory::destroy(reader.cast::<Log>()) });
}

/// Writes the lines that a log begins with: the comment, the version of the format, StartTime, and the names of the
/// fields.
///
/// There is no BaseTime: readers take the timestamps of intervals to be relative to the start if the first one is more
/// than a year before it, and absolute otherwise. Who wants to be sure adds a line "#[BaseTime: 0.000 (seconds since
/// epoch)]", or another number, to be added to all timestamps.
///
/// Requires: start_seconds is when the log starts, in seconds since 1970, or NaN to leave it out; comment is
///   NUL-terminated UTF-8 of any number of lines, or NULL; buffer has capacity bytes.
/// Returns: PICOLLO_OK; PICOLLO_ERR_BUFFER_TOO_SMALL; PICOLLO_ERR_NULL_POINTER (out_length, and buffer with a capacity
///   above 0); PICOLLO_ERR_INVALID_ARGUMENT for a comment that is not UTF-8, an infinite start_seconds, and one beyond
///   10^15.
/// Threads: any thread.
/// Cost: microseconds; allocates nothing.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_log_format_header(
    start_seconds: f64,
    comment: *const c_char,
    buffer: *mut c_char,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promise, passed on.
        let comment = unsafe { text(comment)? };
        let start_seconds = Some(start_seconds).filter(|seconds| !seconds.is_nan());
        let header = Header { comment, start_seconds, base_seconds: None };
        // SAFETY: as above.
        unsafe { try_write_text(buffer, capacity, out_length, &|out| write_header(out, &header)) }
    })
}

/// Writes the line of an interval, with its line break: the snapshot in PICOLLO_ENCODING_HDR_V2_COMPRESSED, as base64.
///
/// Requires: start_seconds is when the interval begins, in seconds since 1970 or since the StartTime of the log (see
///   picollo_log_format_header), and length_seconds how long it is; tag is NUL-terminated UTF-8, or NULL or "" for
///   none, and holds no comma, space, line end or control character but the tab; buffer has capacity bytes.
/// Returns: PICOLLO_OK; PICOLLO_ERR_BUFFER_TOO_SMALL; PICOLLO_ERR_INCOMPATIBLE as picollo_snapshot_encode;
///   PICOLLO_ERR_NULL_POINTER (snapshot, out_length, and buffer with a capacity above 0); PICOLLO_ERR_INVALID_ARGUMENT
///   for such a tag, and times that are not finite or beyond 10^15; PICOLLO_ERR_OUT_OF_MEMORY.
/// Threads: any thread.
/// Cost: as picollo_snapshot_encode_base64, also to ask for the length.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_log_format_interval(
    snapshot: *const picollo_snapshot,
    start_seconds: f64,
    length_seconds: f64,
    tag: *const c_char,
    buffer: *mut c_char,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        let (snapshot, tag) = unsafe { (snapshot::read(snapshot)?, text(tag)?) };
        // SAFETY: as above.
        unsafe {
            write_collected(buffer, capacity, out_length, |out| {
                write_interval(out, snapshot, start_seconds, length_seconds, Some(tag))
            })
        }
    })
}
