//! Events counted beside the buckets: out of range, and those of cells that wrapped around.

use crate::cells::cell::Counter;
use crate::platform::atomics::Ordering::*;
use crate::platform::atomics::{AtomicU64, const_unless_loom};

/// Converts wraps of a 64-bit count to wraps of `bits`.
pub(crate) const fn wraps_of_64_bits(wraps: u64, bits: u32) -> u64 {
    wraps << (64 - bits)
}

/// Events counted beside the buckets, at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TallyCounts {
    /// Values below the range.
    pub underflow: u64,
    /// Values above the range.
    pub overflow: u64,
    /// How often a cell wrapped around, each time dropping `2^32` or `2^64` events, depending on the width of cells.
    /// For cells of 32 bits, a wrap of the 64-bit counts beside the buckets stands for `2^32` wraps.
    pub wraps: u64,
    /// Events for which there was no cell.
    pub lost: u64,
}

impl TallyCounts {
    /// Reads the counts of words in the order of [`Tallies`].
    pub(crate) fn of(words: [&AtomicU64; 4]) -> TallyCounts {
        let [underflow, overflow, wraps, lost] = words.map(Counter::load);
        TallyCounts { underflow, overflow, wraps, lost }
    }

    pub(crate) fn words(self) -> [u64; 4] {
        [self.underflow, self.overflow, self.wraps, self.lost]
    }

    /// Adds the counts of another set of tallies.
    #[cfg(feature = "std")]
    pub(crate) fn add(&mut self, other: TallyCounts) {
        self.underflow = self.underflow.wrapping_add(other.underflow);
        self.overflow = self.overflow.wrapping_add(other.overflow);
        self.wraps = self.wraps.wrapping_add(other.wraps);
        self.lost = self.lost.wrapping_add(other.lost);
    }

    /// Returns how often the counts here must have wrapped since an earlier read.
    pub(crate) fn wraps_beside_since(&self, earlier: &TallyCounts) -> u64 {
        let counts = |of: &TallyCounts| [of.underflow, of.overflow, of.lost];
        wraps_of_64_between(&counts(earlier), &counts(self))
    }

    /// Raises the wraps to at least the number that the cells show. A wrap shows in its cell before it is tallied.
    pub(crate) fn know_wraps(&mut self, known: u64) {
        if (self.wraps.wrapping_sub(known) as i64) < 0 {
            self.wraps = known;
        }
    }
}

/// Returns how often the 64-bit counts must have wrapped between two reads.
#[inline(always)]
pub(crate) fn wraps_of_64_between<'a>(earlier: impl IntoIterator<Item = &'a u64>, later: &[u64]) -> u64 {
    earlier.into_iter().zip(later).filter(|(earlier, later)| later < earlier).count() as u64
}

/// Returns how often a cell of 32 bits, or a sum of such cells, must have wrapped between two reads.
#[inline(always)]
pub(crate) fn wraps_between(earlier: u64, later: u64) -> u64 {
    let difference = later.wrapping_sub(earlier) as i64;
    if difference < 0 { difference.unsigned_abs().div_ceil(1 << 32) } else { 0 }
}

/// Events counted beside the buckets, on a separate cache line, away from the data that a record reads.
#[repr(C, align(64))]
pub struct Tallies {
    pub(crate) underflow: AtomicU64,
    pub(crate) overflow: AtomicU64,
    pub(crate) wraps: AtomicU64,
    pub(crate) lost: AtomicU64,
    /// Explicit, so that no padding byte copies stack content into memory that processes share.
    zero: [u64; 4],
}

#[cfg(not(loom))]
const _: () = assert!(core::mem::offset_of!(Tallies, zero) == 32 && size_of::<Tallies>() == 64);

impl Tallies {
    const_unless_loom! {
        pub(crate) const fn new() -> Tallies {
            Tallies {
                underflow: AtomicU64::new(0),
                overflow: AtomicU64::new(0),
                wraps: AtomicU64::new(0),
                lost: AtomicU64::new(0),
                zero: [0; 4],
            }
        }
    }

    /// Returns all four words in memory order.
    pub(crate) fn words(&self) -> [&AtomicU64; 4] {
        [&self.underflow, &self.overflow, &self.wraps, &self.lost]
    }

    /// Reads all tallies. Read the wraps before the cells, see [`crate::Snapshot::update`].
    pub(crate) fn load(&self) -> TallyCounts {
        TallyCounts {
            // Acquire, paired with the release in `add_wraps`: a reader that sees a wrap here also sees it in its cell.
            wraps: self.wraps.load(Acquire),
            underflow: self.underflow.load(Relaxed),
            overflow: self.overflow.load(Relaxed),
            lost: self.lost.load(Relaxed),
        }
    }

    pub(crate) fn store(&self, counts: TallyCounts) {
        self.wraps.store(counts.wraps, Relaxed);
        self.underflow.store(counts.underflow, Relaxed);
        self.overflow.store(counts.overflow, Relaxed);
        self.lost.store(counts.lost, Relaxed);
    }

    /// Counts wraps of the 64-bit counts beside the buckets, in a histogram with cells of `bits`.
    #[inline]
    pub(crate) fn add_wraps_beside(&self, wraps: u64, bits: u32) {
        if wraps != 0 {
            self.add_wraps(wraps_of_64_bits(wraps, bits));
        }
    }

    /// Counts wraps of a cell, which are rare.
    #[inline(always)]
    pub(crate) fn add_wraps_if_any(&self, wraps: u64) {
        if wraps != 0 {
            self.add_wraps(wraps);
        }
    }

    /// Counts wraps after the cell has wrapped, whoever wrote the cell.
    #[cold]
    #[inline(never)]
    pub(crate) fn add_wraps(&self, wraps: u64) {
        self.wraps.fetch_add(wraps, Release);
    }
}
