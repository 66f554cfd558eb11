//! A reset, for whatever keeps its baseline in one bank: the present counts become what readers subtract.
//!
//! The baseline in two banks, in memory that processes share, has a protocol of its own: [`crate::histograms::dense`].

use crate::cells::cell::{Counter, wraps_between, wraps_of_64_bits};
use crate::error::Result;
use crate::snapshot::source::Source;

/// So many counts are copied at a time: what stays in the first-level cache, or, where there may be no more than a small
/// stack, a cache line of cells or two.
pub(crate) const STEP: usize = if cfg!(feature = "std") { 512 } else { 64 };

/// Makes the present counts of a source its baseline, under the version of its header. The baseline comes in parts, each with
/// the index that it begins at; what is in no part stays as it is.
///
/// [`crate::Error::Busy`], with nothing changed, against competing resets.
pub(crate) fn move_to_present<'a, S: Source + ?Sized, B: Counter>(
    source: &S,
    parts: impl Iterator<Item = (usize, &'a [B])>,
) -> Result<()> {
    let header = source.header();
    header.version.change(|| {
        // Before the counts, so that a wrap which is counted shows in them.
        let mut tallies = source.tallies();
        let mut wraps = header.baseline.load().wraps;
        let (mut counts, mut wraps_of_sums) = ([0; STEP], 0);
        for (start, part) in parts {
            for (step, cells) in part.chunks(STEP).enumerate() {
                let counts = &mut counts[..cells.len()];
                wraps_of_sums += source.copy_counts(start + step * STEP, counts);
                wraps += wraps_since(S::COUNTER_BITS, cells, counts);
                cells.iter().zip(counts).for_each(|(cell, count)| cell.store(*count));
            }
        }
        tallies.wraps = tallies.wraps.wrapping_add(wraps_of_64_bits(wraps_of_sums, S::COUNTER_BITS));
        tallies.know_wraps(wraps);
        header.baseline.store(tallies);
    })
}

/// How many wraps of cells show between a baseline and counts; those of 64 bits are tallied by whoever causes them.
pub(crate) fn wraps_since<B: Counter>(counter_bits: u32, baseline: &[B], counts: &[u64]) -> u64 {
    if counter_bits == 64 {
        return 0;
    }
    baseline.iter().zip(counts).map(|(base, count)| wraps_between(base.load(), *count)).sum()
}
