//! Reads a log.

#[cfg(feature = "alloc")]
use alloc::vec::Vec;

use super::encoding::{UTF8_MARK, is_utf16};
use super::is_space;
use super::number::{length_of_number, number};
#[cfg(feature = "alloc")]
use crate::{Codec, Decoder};
use picollo_core::{Error, Result};

const VERSION: &[u8] = b"#[Histogram log format version";
const START: &[u8] = b"#[StartTime:";

/// Timestamps that are more than this before the start of the log, in seconds, cannot be absolute.
const YEAR: f64 = 365.0 * 24.0 * 3600.0;

/// Java writes this for the start of an interval that was never set, in seconds.
const NO_TIME: f64 = 9_223_372_036_854_776.0;

/// Reads a log line by line: an iterator over its intervals.
///
/// Headers are optional. Comments, legends and empty lines may be anywhere; lines end in any way; case does not matter
/// in headers. An unreadable line is an error, and reading continues after it. Histograms are decoded on request.
///
/// Timestamps are absolute, or relative to a base time. If `BaseTime` is missing, they are relative to the start time
/// if the first one is more than a year before it, as in Java. If `StartTime` is missing, the first timestamp replaces
/// it. A version line or a `StartTime` after an interval begins another log with another base.
///
/// The reader accepts everything that implementations of HdrHistogram write: numbers with decimal commas and the like
/// (.NET, by its culture); the end of an interval where others have its length (C, recognized by an absolute timestamp
/// that is not above it); intervals without times (Java), which begin and end at 0.
///
/// If the last line has no line end, and is not an interval or has a truncated histogram (even within its padding), the
/// reader skips it: its writer is still running. It also skips NULs at the end. [`Reader::position`] is then where that
/// line begins. (Without an allocator, this checks only the length of histograms.)
///
/// ```
/// use picollo_codec::log::Reader;
///
/// let log = b"#[StartTime: 1441812279.474 (seconds since epoch), ...]\n\
///     Tag=A,0.127,1.007,2.769,HISTFAAAADN4nJNpmSzMwMAgxAABzFCaEURcm7yEwf4DRICJiZGFlWk//wnG1QJMTJv/MjIBAMP3CLI=\n";
/// let interval = Reader::new(log).next().unwrap()?;
/// assert_eq!(interval.tag, Some("A"));
/// assert_eq!(interval.start_seconds, 1441812279.601);
/// let snapshot = interval.decode(0)?;
/// # Ok::<(), picollo_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    line: u64,
    start_seconds: Option<f64>,
    base_seconds: Option<f64>,
    /// Whether this log has one, if the text holds several logs.
    has_interval: bool,
}

/// One line of a log: the encoded histogram of an interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval<'a> {
    /// When it begins, in seconds since 1970 (or since the origin of the log's times).
    pub start_seconds: f64,
    /// How long it is, in seconds.
    pub length_seconds: f64,
    /// The third field, as written: the largest value divided by a million. NaN if it is not a number. Readers should
    /// ignore it: the histogram is more accurate.
    pub max: f64,
    /// Distinguishes histograms of the same time.
    pub tag: Option<&'a str>,
    /// The histogram, encoded.
    pub histogram: &'a [u8],
}

impl<'a> Interval<'a> {
    /// When it ends, in seconds since 1970.
    pub fn end_seconds(&self) -> f64 {
        self.start_seconds + self.length_seconds
    }

    /// Checks the histogram. See [`Decoder::new`].
    #[cfg(feature = "alloc")]
    pub fn decoder(&self, scratch: &'a mut Vec<u8>, max_counters: u64) -> Result<Decoder<'a>> {
        Decoder::new(self.histogram, scratch, max_counters)
    }

    /// Decodes the histogram on the heap. Its time is the end of the interval. See [`Decoder::new`].
    #[cfg(feature = "alloc")]
    pub fn decode(&self, max_counters: u64) -> Result<alloc::boxed::Box<picollo_core::Snapshot>> {
        let mut snapshot = picollo_core::Snapshot::decode(self.histogram, max_counters)?;
        if snapshot.timestamp_unix_nanos() == 0 {
            snapshot.set_timestamp_unix_nanos(self.end_unix_nanos());
        }
        Ok(snapshot)
    }

    /// When it ends, in nanoseconds since 1970; 0 if that is before 1970.
    pub fn end_unix_nanos(&self) -> u64 {
        // The cast saturates at both ends. A double of this size cannot resolve more than microseconds.
        ((libm::round(self.end_seconds() * 1e6)) as u64).saturating_mul(1000)
    }
}

impl<'a> Reader<'a> {
    /// Reads a log from its beginning. The text must be UTF-8. UTF-16 ([`is_utf16`]) gives one [`Error::Unsupported`]
    /// and nothing else; `log::from_utf16` converts it.
    pub fn new(text: &'a [u8]) -> Reader<'a> {
        Reader { text, at: 0, line: 0, start_seconds: None, base_seconds: None, has_interval: false }
    }

    /// Continues in another text, as if it followed, to read logs a piece at a time. Pieces consist of whole lines,
    /// with their ends; a line without an end counts as the end of the log.
    pub fn on<'b>(&self, text: &'b [u8]) -> Reader<'b> {
        Reader {
            text,
            at: 0,
            line: self.line,
            start_seconds: self.start_seconds,
            base_seconds: self.base_seconds,
            has_interval: self.has_interval,
        }
    }

    /// When the log starts, in seconds since 1970, as far as the lines so far show: the last `StartTime`, else the
    /// first timestamp.
    pub fn start_seconds(&self) -> Option<f64> {
        self.start_seconds
    }

    /// The seconds that are added to timestamps, as far as the lines so far show.
    pub fn base_seconds(&self) -> Option<f64> {
        self.base_seconds
    }

    /// The number of the last line that was read, from 1 on; a line without characters may not be counted.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// The number of bytes that were read.
    pub fn position(&self) -> usize {
        self.at
    }

    /// The next line, and where the one after it begins.
    fn peek_line(&self) -> Option<(&'a [u8], usize)> {
        let rest = &self.text[self.at..];
        // A tail of NULs is space that the writer reserved in the file.
        if rest.iter().all(|&byte| byte == 0) {
            return None;
        }
        let end = rest.iter().position(|&byte| byte == b'\n' || byte == b'\r').unwrap_or(rest.len());
        let gap = if rest[end..].starts_with(b"\r\n") { 2 } else { (end < rest.len()) as usize };
        // Joined files have marks in the middle.
        let line = rest[..end].trim_ascii_start();
        let line = line.strip_prefix(UTF8_MARK).unwrap_or(line);
        Some((line.trim_ascii(), self.at + end + gap))
    }

    /// Whether a line that ends at `end` has no line end.
    fn is_unfinished(&self, end: usize) -> bool {
        end == self.text.len() && !matches!(self.text.last(), Some(b'\n' | b'\r'))
    }

    fn read_comment(&mut self, line: &[u8]) {
        let begins = [VERSION, START]
            .iter()
            .any(|name| line.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name)));
        if begins && self.has_interval {
            (self.start_seconds, self.base_seconds, self.has_interval) = (None, None, false);
        }
        for (name, seconds) in
            [(START, &mut self.start_seconds), (&b"#[BaseTime:"[..], &mut self.base_seconds)]
        {
            let Some((head, rest)) = line.split_at_checked(name.len()) else { continue };
            if !head.eq_ignore_ascii_case(name) {
                continue;
            }
            let rest = rest.trim_ascii_start();
            if let Some(number) = number(&rest[..length_of_number(rest)]) {
                *seconds = Some(number);
            }
        }
    }

    fn read_interval(&mut self, mut line: &'a [u8]) -> Result<Interval<'a>> {
        let mut tag = None;
        if let Some(rest) = line.strip_prefix(b"Tag=") {
            let end = rest.iter().position(|&byte| byte == b',').ok_or(Error::Corrupt)?;
            tag = Some(core::str::from_utf8(&rest[..end]).map_err(|_| Error::Corrupt)?);
            line = &rest[end + 1..];
        }
        // Three numbers and a histogram, which has no commas; if there are seven fields, the numbers contain commas.
        let commas = match line.iter().filter(|&&byte| byte == b',').count() {
            6 => 2,
            _ => 1,
        };
        let timestamp = number(field(&mut line, commas)?).ok_or(Error::Corrupt)?;
        let second = number(field(&mut line, commas)?).ok_or(Error::Corrupt)?;
        let max = number(field(&mut line, commas)?).unwrap_or(f64::NAN);
        let histogram = line.trim_ascii();
        if histogram.is_empty() || histogram.contains(&b',') {
            return Err(Error::Corrupt);
        }
        if timestamp >= NO_TIME && second <= -NO_TIME {
            return Ok(Interval { start_seconds: 0.0, length_seconds: 0.0, max, tag, histogram });
        }
        let start = *self.start_seconds.get_or_insert(timestamp);
        let base = *self.base_seconds.get_or_insert(if timestamp < start - YEAR { start } else { 0.0 });
        self.has_interval = true;
        let is_end = base == 0.0 && timestamp > YEAR && second >= timestamp;
        let length_seconds = if is_end { second - timestamp } else { second };
        Ok(Interval { start_seconds: timestamp + base, length_seconds, max, tag, histogram })
    }

    /// Whether the part of a line that was read may be complete. A histogram without its padding decodes, but every
    /// writer writes padding, so it is still to come.
    fn is_whole(interval: &Result<Interval<'a>>) -> bool {
        let Ok(interval) = interval else { return false };
        #[cfg(feature = "alloc")]
        if interval.decoder(&mut Vec::new(), 0).err() == Some(Error::Corrupt) {
            return false;
        }
        interval.histogram.len().is_multiple_of(4)
    }
}

impl<'a> Iterator for Reader<'a> {
    type Item = Result<Interval<'a>>;

    /// Returns the next interval, or [`Error::Corrupt`] for a line that is not an interval; reading continues after it.
    fn next(&mut self) -> Option<Self::Item> {
        if self.at == 0 && is_utf16(self.text) {
            self.at = self.text.len();
            return Some(Err(Error::Unsupported));
        }
        loop {
            let (line, end) = self.peek_line()?;
            let before = self.clone();
            let is_unfinished = self.is_unfinished(end);
            (self.at, self.line) = (end, self.line + 1);
            match line.first() {
                None => {}
                Some(b'#' | b'"' | b'S') if is_unfinished => {
                    *self = before;
                    return None;
                }
                Some(b'#') => self.read_comment(line),
                // The legend, with or without quotes.
                Some(b'"') => {}
                Some(_) if line.starts_with(b"StartTimestamp") => {}
                Some(_) => {
                    let interval = self.read_interval(line);
                    if is_unfinished && !Self::is_whole(&interval) {
                        *self = before;
                        return None;
                    }
                    return Some(interval);
                }
            }
        }
    }
}

/// Takes a field off the front of a line, up to comma number `commas`, or to white space, which may surround that
/// comma.
fn field<'a>(line: &mut &'a [u8], commas: usize) -> Result<&'a [u8]> {
    let text = line.trim_ascii_start();
    let mut left = commas;
    let ends = |&byte: &u8| {
        left -= (byte == b',') as usize;
        left == 0 || is_space(byte)
    };
    let end = text.iter().position(ends).ok_or(Error::Corrupt)?;
    let (field, rest) = text.split_at(end);
    let rest = rest.trim_ascii_start();
    *line = rest.strip_prefix(b",").unwrap_or(rest);
    Ok(field)
}
