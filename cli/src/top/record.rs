//! `r`: what is shown goes into a .hlog, too.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};

use picollo_core::{Layout, Snapshot, log};

use super::watch::Watch;
use crate::failure::{Failure, plain};
use crate::now_unix_nanos;

/// A log that is written.
pub(crate) struct Log {
    path: String,
    out: BufWriter<File>,
    intervals: u64,
    coarser: bool,
}

/// Text that goes into a file.
struct Into<'a> {
    out: &'a mut BufWriter<File>,
    failed: Option<std::io::Error>,
}

impl fmt::Write for Into<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.out.write_all(text.as_bytes()).map_err(|error| {
            self.failed = Some(error);
            fmt::Error
        })
    }
}

impl Log {
    /// A new file in this directory, named after the moment.
    pub(crate) fn start() -> Result<Log, Failure> {
        let seconds = now_unix_nanos() as f64 / 1e9;
        let path = format!("picollo-top-{seconds:.0}.hlog");
        let file = OpenOptions::new().write(true).create_new(true).open(&path);
        let out = BufWriter::new(file.map_err(|error| Failure::of_file(&path, &error))?);
        let mut log = Log { path, out, intervals: 0, coarser: false };
        let header = log::Header {
            comment: "Recorded by picollo top",
            start_seconds: Some(seconds),
            base_seconds: None,
        };
        log.put(|out| log::write_header(out, &header))?;
        Ok(log)
    }

    fn put(&mut self, write: impl FnOnce(&mut Into) -> picollo_core::Result<()>) -> Result<(), Failure> {
        let mut out = Into { out: &mut self.out, failed: None };
        let written = write(&mut out);
        match (out.failed, written) {
            (Some(error), _) => Err(Failure::Told(format!("{}: {}", self.path, plain(&error)))),
            (None, Err(error)) => Err(Failure::Told(format!("{}: {error}", self.path))),
            (None, Ok(())) => Ok(()),
        }
    }

    /// The interval that was read last, of all histograms in which something happened.
    pub(crate) fn write(&mut self, watch: &Watch) -> Result<(), Failure> {
        let Some(seconds) = watch.seconds else { return Ok(()) };
        let start = now_unix_nanos() as f64 / 1e9 - seconds;
        for (_, row) in &watch.rows {
            let Some(snapshot) =
                row.snapshot.as_deref().filter(|_| row.last.count > 0 && !row.is_since_start)
            else {
                continue;
            };
            let tag = tag(&row.title);
            let write = |out: &mut Into, snapshot: &Snapshot| {
                log::write_interval(out, snapshot, start, seconds, Some(&tag))
            };
            match coarser(snapshot).map_err(|error| error.to_string())? {
                None => self.put(|out| write(out, snapshot))?,
                Some(copy) => {
                    self.coarser = true;
                    self.put(|out| write(out, &copy))?;
                }
            }
        }
        self.intervals += 1;
        self.out.flush().map_err(|error| Failure::of_file(&self.path, &error))
    }

    /// What there is to say of it.
    pub(crate) fn about(&self) -> String {
        let coarser = if self.coarser { ", in the coarser digits that HdrHistogram has" } else { "" };
        format!("{}: {} intervals{coarser}", self.path, self.intervals)
    }
}

/// A name that a log can have.
fn tag(title: &str) -> String {
    title
        .chars()
        .map(|c| {
            if c == ',' {
                ';'
            } else if c.is_whitespace() {
                '_'
            } else {
                c
            }
        })
        .collect()
}

/// The counts in a layout that HdrHistogram has, where the snapshot's is none: that of the most digits that are not finer.
fn coarser(snapshot: &Snapshot) -> picollo_core::Result<Option<Box<Snapshot>>> {
    let layout = snapshot.layout();
    let digits = (1..=5).rev().find(|&digits| {
        Layout::with_significant_digits(digits, 0, u64::MAX).is_ok_and(|hdr| hdr.scale() <= layout.scale())
    });
    let hdr = Layout::with_significant_digits(digits.unwrap_or(0), 0, layout.max_trackable())?;
    if hdr.scale() == layout.scale() {
        return Ok(None);
    }
    let mut copy = Snapshot::boxed_alone(hdr)?;
    copy.merge(snapshot);
    Ok(Some(copy))
}
