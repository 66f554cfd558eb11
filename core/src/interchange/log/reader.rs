//! Reading a log.

use super::is_space;
use crate::error::{Error, Result};
use crate::interchange::{Decoder, Scratch};

/// Timestamps further than this before the start of the log, in seconds, cannot be absolute.
const YEAR: f64 = 365.0 * 24.0 * 3600.0;

/// Reads a log line by line: an iterator over its intervals.
///
/// Headers are optional, and comments, legends and empty lines may be anywhere; lines end in any way; case does not matter
/// in headers. A line that cannot be read is an error, and reading goes on after it. Nothing is decoded until asked for.
///
/// Timestamps are absolute, or relative to a base time. Where a `BaseTime` is missing, they are taken to be relative to
/// the start time if the first one is more than a year before it, as in Java. Where a `StartTime` is missing, it is the
/// first timestamp.
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
    pub fn decoder<M: Scratch>(&self, scratch: &'a mut M, max_counters: u64) -> Result<Decoder<'a>> {
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
    /// Reads a log from its beginning.
    pub fn new(text: &'a [u8]) -> Reader<'a> {
        let at = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Reader { text, at, line: 0, start_seconds: None, base_seconds: None }
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

    fn next_line(&mut self) -> Option<&'a [u8]> {
        let rest = &self.text[self.at..];
        if rest.is_empty() {
            return None;
        }
        self.line += 1;
        let end = rest.iter().position(|&byte| byte == b'\n' || byte == b'\r').unwrap_or(rest.len());
        let gap = if rest[end..].starts_with(b"\r\n") { 2 } else { (end < rest.len()) as usize };
        self.at += end + gap;
        Some(rest[..end].trim_ascii())
    }

    fn read_comment(&mut self, line: &[u8]) {
        for (name, seconds) in
            [(&b"#[StartTime:"[..], &mut self.start_seconds), (&b"#[BaseTime:"[..], &mut self.base_seconds)]
        {
            let Some((head, rest)) = line.split_at_checked(name.len()) else { continue };
            if !head.eq_ignore_ascii_case(name) {
                continue;
            }
            let rest = rest.trim_ascii_start();
            let end = rest
                .iter()
                .position(|byte| matches!(byte, b' ' | b'\t' | b']' | b',' | b'('))
                .unwrap_or(rest.len());
            if let Some(number) = number(&rest[..end]) {
                *seconds = Some(number);
            }
        }
    }

    fn read_interval(&mut self, mut line: &'a [u8]) -> Result<Interval<'a>> {
        let mut tag = None;
        if let Some(rest) = line.strip_prefix(b"Tag=") {
            line = rest;
            tag = Some(core::str::from_utf8(field(&mut line)?).map_err(|_| Error::Corrupt)?);
        }
        let timestamp = number(field(&mut line)?).ok_or(Error::Corrupt)?;
        let length_seconds = number(field(&mut line)?).ok_or(Error::Corrupt)?;
        let max = number(field(&mut line)?).unwrap_or(f64::NAN);
        let histogram = line.trim_ascii();
        if histogram.is_empty() {
            return Err(Error::Corrupt);
        }
        let start = *self.start_seconds.get_or_insert(timestamp);
        let base = *self.base_seconds.get_or_insert(if timestamp < start - YEAR { start } else { 0.0 });
        Ok(Interval { start_seconds: timestamp + base, length_seconds, max, tag, histogram })
    }
}

impl<'a> Iterator for Reader<'a> {
    type Item = Result<Interval<'a>>;

    /// The next interval; [`Error::Corrupt`] for a line that is none, after which reading goes on.
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = self.next_line()?;
            match line.first() {
                None => {}
                Some(b'#') => self.read_comment(line),
                // The legend, with or without quotes.
                Some(b'"') => {}
                Some(_) if line.starts_with(b"StartTimestamp") => {}
                Some(_) => return Some(self.read_interval(line)),
            }
        }
    }
}

/// Takes a field off the front of a line: it ends at a comma or at white space, which may surround the comma.
fn field<'a>(line: &mut &'a [u8]) -> Result<&'a [u8]> {
    let text = line.trim_ascii_start();
    let end = text.iter().position(|&byte| byte == b',' || is_space(byte)).ok_or(Error::Corrupt)?;
    let (field, rest) = text.split_at(end);
    let rest = rest.trim_ascii_start();
    *line = rest.strip_prefix(b",").unwrap_or(rest);
    Ok(field)
}

/// A finite number.
fn number(text: &[u8]) -> Option<f64> {
    core::str::from_utf8(text).ok()?.parse().ok().filter(|number: &f64| number.is_finite())
}
