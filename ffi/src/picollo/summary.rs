//! Summaries: totals, moments and the usual percentiles.

use core::ptr::NonNull;

pub use picollo_core::Summary as picollo_summary;
use picollo_core::{SUMMARY_PERCENTILES, ValueSelection};

use crate::argument::output;
use crate::counted::borrow;
use crate::guard::exported;
use crate::histogram::picollo_histogram;
use crate::snapshot;
use crate::snapshot::picollo_snapshot;
use crate::snapshot_block::Block;
use crate::status::picollo_status;

/// Number of percentiles in a summary, at the ranks 0 1 5 10 25 50 75 90 92.5 95 97.5 99 99.9 99.99 99.999 100.
pub const PICOLLO_SUMMARY_PERCENTILES: usize = 16;

const _: () = assert!(PICOLLO_SUMMARY_PERCENTILES == SUMMARY_PERCENTILES);

exported! {
/// Summarizes a snapshot. An empty one has a summary too: totals and targets are 0, mean and deviation are NaN.
///
/// Cost: two passes over the counters: tens of microseconds for 28,672.
fn picollo_snapshot_summary(
    snapshot: *const picollo_snapshot,
    value_selection: u32,
    out: *mut picollo_summary,
) -> picollo_status {
    let (snapshot, out) = (snapshot::read(snapshot)?, output(out)?);
    out.tell(snapshot.summary(ValueSelection::try_from(value_selection)?))
}

/// Summarizes a histogram since its reset. The call makes a snapshot and frees it again. To summarize often, or
/// without allocations, keep a picollo_snapshot, update it, and use picollo_snapshot_summary.
///
/// Returns: PICOLLO_ERR_BUSY if another program overwrites the shared memory.
/// Cost: allocates 16 bytes per counter temporarily; three passes over the counters.
fn picollo_histogram_summary(
    histogram: *const picollo_histogram,
    value_selection: u32,
    out: *mut picollo_summary,
) -> picollo_status {
    let (histogram, out) = (borrow(histogram)?, output(out)?);
    let selection = ValueSelection::try_from(value_selection)?;
    let temporary = Temporary(Block::create(&histogram)?);
    // SAFETY: it is alive until it is dropped.
    out.tell(unsafe { temporary.0.as_ref() }.counts().summary(selection))
}
}

/// Freed also when a panic passes.
struct Temporary(NonNull<Block>);

impl Drop for Temporary {
    fn drop(&mut self) {
        // SAFETY: from `Block::create`, and nobody else has it.
        unsafe { Block::free(self.0) };
    }
}
