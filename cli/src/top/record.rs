//! `r`: what is shown goes into a .hlog, too.

use std::path::Path;

use super::watch::Watch;
use crate::failure::Failure;
use crate::{now_unix_nanos, record};

/// A log that is written.
pub(crate) struct Log {
    path: String,
    log: record::Log,
    intervals: u64,
    coarser: bool,
}

impl Log {
    /// A new file in this directory, named after the moment.
    pub(crate) fn start() -> Result<Log, Failure> {
        let path = format!("picollo-top-{}.hlog", now_unix_nanos() / 1_000_000_000);
        let log = record::Log::create(Path::new(&path), false, u64::MAX, 0)?;
        Ok(Log { path, log, intervals: 0, coarser: false })
    }

    /// The interval that was read last, of all histograms in which something happened.
    pub(crate) fn write(&mut self, watch: &Watch) -> Result<(), Failure> {
        let Some(seconds) = watch.seconds else { return Ok(()) };
        let start = now_unix_nanos().saturating_sub((seconds * 1e9) as u64);
        for (_, row) in &watch.rows {
            if let Some(snapshot) =
                row.snapshot.as_deref().filter(|_| row.last.count > 0 && !row.is_since_start)
            {
                self.log.write_snapshot(&row.title, snapshot, start, seconds)?;
            }
        }
        self.coarser |= !self.log.notes().is_empty();
        self.intervals += 1;
        Ok(())
    }

    /// What there is to say of it.
    pub(crate) fn about(&self) -> String {
        let coarser = if self.coarser { ", in the coarser digits that HdrHistogram has" } else { "" };
        format!("{}: {} intervals{coarser}", self.path, self.intervals)
    }
}
