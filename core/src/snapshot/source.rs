//! The input of a snapshot: counts that writers keep adding to, and the baseline of the last reset.

use crate::cells::header::Headed;
use crate::cells::identity::Identity;
use crate::cells::tallies::TallyCounts;
use crate::error::Result;
use crate::layout::layout::Layout;
use crate::snapshot::sums;

/// Something whose counts a [`crate::Snapshot`] can read.
///
/// Counts are cumulative and never cleared. They may fall behind by multiples of `2^COUNTER_BITS`, each counted in
/// [`TallyCounts::wraps`].
pub trait Source: Headed {
    /// The width of the cells.
    const COUNTER_BITS: u32;

    /// The rule that maps values to counters.
    fn layout(&self) -> &Layout {
        &self.header().layout
    }

    /// Distinguishes sources, and one source before and after it was cleared.
    fn identity(&self) -> Identity {
        self.header().identity.get()
    }

    /// Returns the counts beside the buckets. Read them first, so that no wrap is reported before its cell shows it.
    fn tallies(&self) -> TallyCounts {
        self.header().tallies.load()
    }

    /// Copies the counts from index `start` on. If they are sums of cells, returns how often those wrapped 64 bits.
    fn copy_counts(&self, start: usize, out: &mut [u64]) -> u64;

    /// Copies all counts, and sums how far they exceed `base`, or zero without a base. Returns how often sums of cells
    /// wrapped around, as [`Source::copy_counts`], and the total.
    #[doc(hidden)]
    fn copy_and_total(&self, out: &mut [u64], base: Option<&[u64]>) -> (u64, u128) {
        sums::copy_runs(out, base, |start, out| self.copy_counts(start, out))
    }

    /// Copies the whole baseline of the last reset, and returns its version. Fails with [`crate::Error::Busy`] if
    /// resets keep coming; the content of `out` is then undefined.
    fn copy_baseline(&self, out: &mut [u64], tallies: &mut TallyCounts) -> Result<u32>;

    /// Returns whether a baseline copied at `version` is still valid.
    fn baseline_is(&self, version: u32) -> bool {
        self.header().baseline_is(version)
    }
}
