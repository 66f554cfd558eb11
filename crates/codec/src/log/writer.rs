//! Writes a log.

use core::fmt::Write;

use crate::hgrm::Fixed;
use crate::{Codec, Encoding};
use picollo_core::seam::Date;
use picollo_core::{Error, Result, Snapshot};

/// The third field is in millions: milliseconds if values are nanoseconds.
const MAX_UNIT: f64 = 1e6;

/// Bytes of a comment in one line; a longer comment continues in the next line.
const COMMENT: usize = 117;

/// The beginning of a log.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Header<'a> {
    /// A comment of any number of lines; an empty one is omitted.
    pub comment: &'a str,
    /// When the log starts, in seconds since 1970.
    pub start_seconds: Option<f64>,
    /// What readers are to add to the timestamps. Without it they take timestamps to be relative to the start if the first
    /// one is more than a year before it, and absolute otherwise.
    pub base_seconds: Option<f64>,
}

/// Writes the lines at the beginning of a log, and the names of the fields.
///
/// Returns [`Error::InvalidArgument`], before anything is written, for times that are not finite;
/// [`Error::BufferTooSmall`] if `out` accepts no more.
pub fn write_header(out: &mut (impl Write + ?Sized), header: &Header) -> Result<()> {
    for seconds in [header.start_seconds, header.base_seconds].into_iter().flatten() {
        check(seconds)?;
    }
    let mut write = || {
        // This comes first: C's reader has room for 127 bytes of a line, and takes the rest for another format.
        writeln!(out, "#[Histogram log format version 1.3]")?;
        for line in header.comment.split(['\n', '\r']).filter(|line| !line.trim().is_empty()) {
            let mut rest = line.trim_end();
            while !rest.is_empty() {
                let (head, tail) = rest.split_at(rest.floor_char_boundary(COMMENT));
                writeln!(out, "#[{head}]")?;
                rest = tail;
            }
        }
        if let Some(start) = header.start_seconds {
            let date = Date(libm::floor(start) as i64);
            writeln!(out, "#[StartTime: {} (seconds since epoch), {date}]", Fixed(start, 3))?;
        }
        if let Some(base) = header.base_seconds {
            writeln!(out, "#[BaseTime: {} (seconds since epoch)]", Fixed(base, 3))?;
        }
        writeln!(
            out,
            "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\""
        )
    };
    write().map_err(|_| Error::BufferTooSmall)
}

/// Writes the line of an interval: what was recorded from `start_seconds` (since 1970, or since the base time) until
/// `length_seconds` later.
///
/// The tag distinguishes histograms of the same time. It must not hold commas, spaces, line ends, or controls except
/// tabs.
///
/// Returns [`Error::InvalidArgument`], before anything is written, for such a tag or times that are not finite;
/// [`Error::Incompatible`] if the encoding cannot hold the snapshot (see [`Snapshot::encode`]);
/// [`Error::BufferTooSmall`] if `out` accepts no more.
pub fn write_interval(
    out: &mut (impl Write + ?Sized),
    snapshot: &Snapshot,
    start_seconds: f64,
    length_seconds: f64,
    tag: Option<&str>,
) -> Result<()> {
    check(start_seconds)?;
    check(length_seconds)?;
    let tag = tag.unwrap_or("");
    if tag
        .chars()
        .any(|c| matches!(c, ',' | ' ' | '\u{85}' | '\u{2028}' | '\u{2029}') || c.is_control() && c != '\t')
    {
        return Err(Error::InvalidArgument);
    }
    // This fails before anything is written.
    crate::v2::Plan::unmeasured(snapshot)?;
    let max = snapshot.highest_recorded().map_or(0, |bucket| bucket.upper) as f64 / MAX_UNIT;
    let mut write = || {
        if !tag.is_empty() {
            write!(out, "Tag={tag},")?;
        }
        write!(out, "{},{},{},", Fixed(start_seconds, 3), Fixed(length_seconds, 3), Fixed(max, 3))
    };
    write().map_err(|_| Error::BufferTooSmall)?;
    snapshot.write_base64(Encoding::HdrV2Compressed, out)?;
    out.write_char('\n').map_err(|_| Error::BufferTooSmall)
}

fn check(seconds: f64) -> Result<()> {
    // Beyond this, doubles cannot distinguish milliseconds, so it is not a time.
    if seconds.is_finite() && seconds.abs() < 1e15 { Ok(()) } else { Err(Error::InvalidArgument) }
}
