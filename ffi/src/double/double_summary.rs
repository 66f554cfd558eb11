//! Summaries of doubles: statistics, and percentiles that the caller chooses.
//!
//!     static const double ranks[] = PICOLLO_DEFAULT_RANKS;
//!     picollo_double_percentile percentiles[PICOLLO_DEFAULT_RANKS_LENGTH];
//!     picollo_double_summary summary;
//!     picollo_double_snapshot_summary(snapshot, ranks, PICOLLO_DEFAULT_RANKS_LENGTH, percentiles, &summary);
//!     picollo_double_summary_format(&summary, "Skew", PICOLLO_TEXT_MARKDOWN, text, sizeof text, &length);

use core::ffi::c_char;

use picollo_core::doubles::{DoublePercentile, DoubleSummary};
use picollo_core::snapshots::SUMMARY_RANKS;
use picollo_text::{Format, write_double_summary};

use crate::argument::{input, output, room, slice, text};
use crate::double_histogram::{picollo_double_snapshot, picollo_double_statistics};
use crate::double_snapshot::{picollo_double_percentile, read};
use crate::failure::Outcome;
use crate::guard::exported;
use crate::status::picollo_status;
use crate::text::write_text;

/// Statistics of one interval, with the percentiles that were asked for.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_double_summary {
    /// Totals and moments.
    pub statistics: picollo_double_statistics,
    /// The caller's array. Texts show those at PICOLLO_DEFAULT_RANKS. NULL if percentiles_length is 0.
    pub percentiles: *const picollo_double_percentile,
    /// Number of percentiles.
    pub percentiles_length: usize,
}

impl picollo_double_summary {
    /// The summary for texts: the percentiles at the ranks that they show. Those that are not given have a rank of NaN.
    ///
    /// # Safety
    /// `percentiles` must lead to `percentiles_length` percentiles during the call.
    unsafe fn for_text(&self) -> Outcome<DoubleSummary> {
        let given = slice(self.percentiles, self.percentiles_length)?;
        let find = |rank: f64| given.iter().find(|percentile| percentile.rank == rank).copied();
        let percentiles = SUMMARY_RANKS.map(|rank| find(rank).unwrap_or(DoublePercentile::EMPTY));
        Ok(DoubleSummary { statistics: self.statistics, percentiles })
    }
}

exported! {
/// Summarizes: statistics, and the percentiles at these ranks. An empty snapshot has a summary too: totals and targets
/// are 0, everything else is NaN.
///
/// Requires: percentiles has room for length elements. out refers to it.
/// Cost: three passes over the buckets with counts, and one more for each rank below the one before it.
fn picollo_double_snapshot_summary(
    snapshot: *const picollo_double_snapshot,
    ranks: *const f64,
    length: usize,
    percentiles: *mut picollo_double_percentile,
    out: *mut picollo_double_summary,
) -> picollo_status {
    let (snapshot, ranks) = (read(snapshot)?, slice(ranks, length)?);
    let (room, out) = (room(percentiles, length)?, output(out)?);
    snapshot.for_each_percentile(ranks, |at, percentile| _ = room[at].write(percentile))?;
    out.deliver(picollo_double_summary {
        statistics: snapshot.statistics(),
        percentiles: if length == 0 { core::ptr::null() } else { percentiles },
        percentiles_length: length,
    })
}

/// Writes a summary of doubles as text, with the shortest digits that read back as the same double, in the formats of
/// picollo_summary_format. 8192 bytes are enough for the Markdown of any summary with a short title.
///
/// Cost: tens of microseconds.
fn picollo_double_summary_format(
    summary: *const picollo_double_summary,
    title: *const c_char,
    format: u32,
    buffer: *mut c_char,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    let (summary, title) = (input(summary)?.for_text()?, text(title)?);
    let format = Format::try_from(format)?;
    write_text(buffer, capacity, out_length, &|out| write_double_summary(&summary, out, title, format))
}
}
