//! Reading a log.

#[cfg(feature = "alloc")]
use alloc::vec::Vec;

use super::encoding::{UTF8_MARK, is_utf16};
use super::is_space;
use super::number::{length_of_number, number};
use crate::error::{Error, Result};
#[cfg(feature = "alloc")]
use crate::interchange::Decoder;

const VERSION: &[u8] = b"#[Histogram log format version";
const START: &[u8] = b"#[StartTime:";

/// Timestamps further than this before the start of the log, in seconds, cannot be absolute.
const YEAR: f64 = 365.0 * 24.0 * 3600.0;

/// What Java writes for the start of an interval that was never set, in seconds.
const NO_TIME: f64 = 9_223_372_036_854_776.0;

/// Reads a log line by line: an iterator over its intervals.
///
/// Headers are optional, and comments, legends and empty lines may be anywhere; lines end in any way; case does not matter
/// in headers. A line that cannot be read is an error, and reading goes on after it. Nothing is decoded until asked for.
///
/// Timestamps are absolute, or relative to a base time. Where a `BaseTime` is missing, they are taken to be relative to
/// the start time if the first one is more than a year before it, as in Java. Where a `StartTime` is missing, it is the
/// first timestamp. A version line or a `StartTime` after an interval begins another log, whose base is found anew.
///
/// All that implementations of HdrHistogram write is read: numbers with decimal commas and the like (.NET, by its culture);
/// the end of an interval where others have its length (C, told by a timestamp that is absolute and not above it);
/// intervals without times (Java), which begin and end at 0.
///
/// A last line without a line end that is no interval, or whose histogram is cut, be it before or within its padding, is not there
/// yet: its writer still runs. So are NULs at the end. [`Reader::position`] is then where it begins. (Without an allocator nothing but
/// the length of histograms is looked at here.)
///
/// ```
/// use picollo_core::log::Reader;
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
    /// Of this log, if there are several in the text.
    has_interval: bool,
}

/// One line of a log: the histogram of an interval, not decoded yet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval<'a> {
    /// When it begins, in seconds since 1970 (or since whatever the log's times count from).
    pub start_seconds: f64,
    /// How long it is, in seconds.
    pub length_seconds: f64,
    /// The third field, as written: the largest value divided by a million. NaN where it is not a number. No one relies on
    /// it: the histogram knows better.
    pub max: f64,
    /// Tells histograms of the same time apart.
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
    pub fn decode(
        &self,
        max_counters: u64,
    ) -> Result<alloc::boxed::Box<crate::snapshot::snapshot::Snapshot>> {
        let mut snapshot = crate::snapshot::snapshot::Snapshot::decode(self.histogram, max_counters)?;
        if snapshot.timestamp_unix_nanos() == 0 {
            snapshot.set_timestamp_unix_nanos(self.end_unix_nanos());
        }
        Ok(snapshot)
    }

    /// When it ends, in nanoseconds since 1970; 0 when before that.
    pub fn end_unix_nanos(&self) -> u64 {
        // Saturates at both ends. Microseconds are all that a double of this size can tell.
        ((libm::round(self.end_seconds() * 1e6)) as u64).saturating_mul(1000)
    }
}

impl<'a> Reader<'a> {
    /// Reads a log from its beginning. It is in UTF-8; in UTF-16 ([`is_utf16`]), which `log::from_utf16` makes UTF-8 of, all there
    /// is to read is one [`Error::Unsupported`].
    pub fn new(text: &'a [u8]) -> Reader<'a> {
        Reader { text, at: 0, line: 0, start_seconds: None, base_seconds: None, has_interval: false }
    }

    /// Goes on in another text, as if it followed: for logs that are read a piece at a time. Pieces are whole lines, with their ends;
    /// what has none is taken for the end of the log.
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

    /// When the log starts, in seconds since 1970, as far as is known by now: the last `StartTime`, else the first
    /// timestamp.
    pub fn start_seconds(&self) -> Option<f64> {
        self.start_seconds
    }

    /// What is added to timestamps, in seconds, as far as is known by now.
    pub fn base_seconds(&self) -> Option<f64> {
        self.base_seconds
    }

    /// The number of the line that was read last, from 1 on; a line without characters may not be counted.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// How many bytes were read.
    pub fn position(&self) -> usize {
        self.at
    }

    /// The next line, and where the one after it begins.
    fn peek_line(&self) -> Option<(&'a [u8], usize)> {
        let rest = &self.text[self.at..];
        // A tail of NULs is room that a file was given beforehand.
        if rest.iter().all(|&byte| byte == 0) {
            return None;
        }
        let end = rest.iter().position(|&byte| byte == b'\n' || byte == b'\r').unwrap_or(rest.len());
        let gap = if rest[end..].starts_with(b"\r\n") { 2 } else { (end < rest.len()) as usize };
        // Files that were joined have marks in the middle.
        let line = rest[..end].trim_ascii_start();
        let line = line.strip_prefix(UTF8_MARK).unwrap_or(line);
        Some((line.trim_ascii(), self.at + end + gap))
    }

    /// Whether a line that ends there has no line end.
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
        // Three numbers and a histogram, which has no commas: with seven fields the numbers have them.
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

    /// Whether what was read of a line may be all of it. A histogram without its padding decodes, but everybody writes padding: it is
    /// to come.
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

    /// The next interval; [`Error::Corrupt`] for a line that is none, after which reading goes on.
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

/// Takes a field off the front of a line: it ends at the so-many-th comma, or at white space, which may surround that comma.
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
