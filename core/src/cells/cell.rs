//! The cells that count, and the ways to add to them.
//!
//! A cell counts modulo `2^BITS` and is only ever added to; readers subtract. All accesses are relaxed atomics, so that
//! reading beside a writer is defined behavior. On the targets in use they compile to plain loads and stores.

use crate::cells::loads::{self, Sums};
use crate::cells::one_step::{self, Place};
use crate::platform::atomics::Ordering::*;
use crate::platform::atomics::{AtomicU32, AtomicU64, const_unless_loom};

mod sealed {
    pub trait Sealed {}
    impl Sealed for crate::platform::atomics::AtomicU32 {}
    impl Sealed for crate::platform::atomics::AtomicU64 {}
    impl Sealed for crate::cells::single_writer::SingleWriter {}
    impl Sealed for crate::cells::single_writer::Unguarded {}
    impl Sealed for crate::cells::write_mode::Interlocked {}
}

/// A storage cell: [`AtomicU32`] or [`AtomicU64`].
pub trait Counter: sealed::Sealed + Send + Sync + 'static {
    /// Width of the cell: it counts modulo `2^BITS`.
    const BITS: u32;
    /// A cell that has counted nothing.
    #[cfg(not(loom))]
    const ZERO: Self;

    /// A cell that has counted nothing.
    fn zero() -> Self;

    /// Returns the count, modulo `2^BITS`.
    fn load(&self) -> u64;
    /// Loads the counts of many cells, each as [`Counter::load`] does. If `cells` and `out` differ in length, the
    /// excess is ignored.
    fn load_many(cells: &[Self], out: &mut [u64])
    where
        Self: Sized;
    /// Does the same as [`Counter::load_many`], and adds the counts of `words`, if there are any. Also sums how far the
    /// counts exceed `base`, if there is one. Returns `None`, with nothing done, if this takes more than one pass.
    #[doc(hidden)]
    fn load_and_sum(
        _cells: &[Self],
        _words: Option<&[AtomicU64]>,
        _out: &mut [u64],
        _base: Option<&[u64]>,
    ) -> Option<Sums>
    where
        Self: Sized,
    {
        None
    }
    /// Adds the counts of many cells to those in `out`. Returns how many of the sums wrapped around.
    #[doc(hidden)]
    fn add_many(cells: &[Self], out: &mut [u64]) -> u64
    where
        Self: Sized,
    {
        loads::add_one_by_one(cells, out)
    }
    /// Replaces the count, modulo `2^BITS`. Only for cells that no one else writes: baselines and new histograms.
    fn store(&self, count: u64);
    /// Adds as the only writer. Returns how often the cell wrapped around.
    fn add_alone(&self, count: u64) -> u64;
    /// Adds as one of many writers. Returns how often the cell wrapped around.
    fn add_shared(&self, count: u64) -> u64;
    /// Adds values that were recorded one by one, as the only writer. Returns how often the cell wrapped around; for 64
    /// bits that takes centuries, and is not checked.
    fn add_few_alone(&self, count: u64) -> u64;
    /// Adds one as the only writer. Returns the same as [`Counter::add_few_alone`].
    #[doc(hidden)]
    fn count_alone<const WRAPPING: bool>(place: Place<Self, WRAPPING>) -> u64
    where
        Self: Sized;
    /// Does the same as [`Counter::add_few_alone`], as one of many writers.
    fn add_few_shared(&self, count: u64) -> u64;
    /// Adds to a count that was just read, if no other writer was faster. Returns how often the cell wrapped around, or
    /// its current count as the error.
    fn try_add(&self, seen: u64, count: u64) -> core::result::Result<u64, u64>;
    /// Replaces a count that was just read, if it is unchanged. Returns whether it was.
    fn replace(&self, seen: u64, count: u64) -> bool {
        self.try_add(seen, count.wrapping_sub(seen)).is_ok()
    }
}

impl Counter for AtomicU64 {
    const BITS: u32 = 64;
    #[cfg(not(loom))]
    const ZERO: Self = AtomicU64::new(0);

    fn zero() -> Self {
        AtomicU64::new(0)
    }

    #[inline(always)]
    fn load(&self) -> u64 {
        AtomicU64::load(self, Relaxed)
    }

    #[inline]
    fn load_many(cells: &[Self], out: &mut [u64]) {
        loads::load_64(cells, out);
    }

    #[inline]
    fn load_and_sum(
        cells: &[Self],
        words: Option<&[AtomicU64]>,
        out: &mut [u64],
        base: Option<&[u64]>,
    ) -> Option<Sums> {
        loads::load_and_sum_64(cells, words, out, base)
    }

    #[inline]
    fn add_many(cells: &[Self], out: &mut [u64]) -> u64 {
        loads::add_64(cells, out)
    }

    #[inline(always)]
    fn store(&self, count: u64) {
        AtomicU64::store(self, count, Relaxed);
    }

    #[inline(always)]
    fn add_alone(&self, count: u64) -> u64 {
        one_step::add_64(self, count) as u64
    }

    #[inline(always)]
    fn add_shared(&self, count: u64) -> u64 {
        self.fetch_add(count, Relaxed).overflowing_add(count).1 as u64
    }

    #[inline(always)]
    fn add_few_alone(&self, count: u64) -> u64 {
        AtomicU64::store(self, AtomicU64::load(self, Relaxed).wrapping_add(count), Relaxed);
        0
    }

    #[inline(always)]
    fn count_alone<const WRAPPING: bool>(place: Place<Self, WRAPPING>) -> u64 {
        place.cell().add_few_alone(1)
    }

    #[inline(always)]
    fn add_few_shared(&self, count: u64) -> u64 {
        self.fetch_add(count, Relaxed);
        0
    }

    #[inline(always)]
    fn try_add(&self, seen: u64, count: u64) -> core::result::Result<u64, u64> {
        let (sum, wrapped) = seen.overflowing_add(count);
        self.compare_exchange(seen, sum, Relaxed, Relaxed).map(|_| wrapped as u64)
    }
}

impl Counter for AtomicU32 {
    const BITS: u32 = 32;
    #[cfg(not(loom))]
    const ZERO: Self = AtomicU32::new(0);

    fn zero() -> Self {
        AtomicU32::new(0)
    }

    #[inline(always)]
    fn load(&self) -> u64 {
        AtomicU32::load(self, Relaxed) as u64
    }

    #[inline]
    fn load_many(cells: &[Self], out: &mut [u64]) {
        loads::load_32(cells, out);
    }

    #[inline(always)]
    fn store(&self, count: u64) {
        AtomicU32::store(self, count as u32, Relaxed);
    }

    #[inline(always)]
    fn add_alone(&self, count: u64) -> u64 {
        (count >> 32) + one_step::add_32(self, count as u32) as u64
    }

    #[inline(always)]
    fn add_few_alone(&self, count: u64) -> u64 {
        self.add_alone(count)
    }

    #[inline(always)]
    fn count_alone<const WRAPPING: bool>(place: Place<Self, WRAPPING>) -> u64 {
        one_step::count_32(place) as u64
    }

    #[inline(always)]
    fn add_few_shared(&self, count: u64) -> u64 {
        self.add_shared(count)
    }

    #[inline(always)]
    fn add_shared(&self, count: u64) -> u64 {
        wraps_of_32_bits(self.fetch_add(count as u32, Relaxed), count)
    }

    #[inline(always)]
    fn try_add(&self, seen: u64, count: u64) -> core::result::Result<u64, u64> {
        let seen = seen as u32;
        match self.compare_exchange(seen, seen.wrapping_add(count as u32), Relaxed, Relaxed) {
            Ok(_) => Ok(wraps_of_32_bits(seen, count)),
            Err(current) => Err(current as u64),
        }
    }
}

/// Returns how often a 32-bit cell wraps when `count` is added to `old`.
#[inline(always)]
fn wraps_of_32_bits(old: u32, count: u64) -> u64 {
    (count >> 32) + ((old as u64 + (count & 0xffff_ffff)) >> 32)
}

/// How writers add to the cells of a histogram.
pub trait WriteMode: sealed::Sealed + Send + Sync + 'static {
    /// The mode as an option.
    const MODE: crate::cells::kind::Mode;

    /// Adds to a cell of the histogram. Returns how often the cell wrapped around.
    fn add<C: Counter>(cell: &C, count: u64) -> u64;

    /// Does the same as [`WriteMode::add`] for values that were recorded one by one: see [`Counter::add_few_alone`].
    fn add_few<C: Counter>(cell: &C, count: u64) -> u64;

    /// Does the same as [`WriteMode::add_few`] for one value.
    #[doc(hidden)]
    fn count<C: Counter>(place: Place<C>) -> u64;
}

/// Converts wraps of a 64-bit count to wraps of `bits`.
pub(crate) const fn wraps_of_64_bits(wraps: u64, bits: u32) -> u64 {
    wraps << (64 - bits)
}

/// A way to write that any number of threads may use at once, so that recording takes `&self`.
#[diagnostic::on_unimplemented(
    message = "recording in the mode `{Self}` needs the one writer",
    note = "a single-writer histogram is recorded into by `&mut`, or by the `Writer` that `Histogram::split` makes; the default mode, `Interlocked`, takes any number of threads"
)]
pub trait ManyWriters: WriteMode {}

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

    /// Counts wraps after the cell has wrapped, whoever wrote the cell.
    #[cold]
    #[inline(never)]
    pub(crate) fn add_wraps(&self, wraps: u64) {
        self.wraps.fetch_add(wraps, Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_cell_and_its_wraps_lose_nothing(
            first in prop_oneof![any::<u64>(), 0xffff_fff0u64..0x1_0000_0010], second in any::<u64>(), n in 0u64..5
        ) {
            let (narrow, wide) = (AtomicU32::new(0), AtomicU64::new(0));
            let mut wraps = 0u128;
            let (mut truth, mut wide_total) = (0u128, 0u128);
            for (turn, count) in [first, n, second, n, first, second].into_iter().enumerate() {
                let few = turn % 4 >= 2 && count < 1 << 62;
                let (narrow_wraps, wide_wraps) = match (turn % 2 == 0, few) {
                    (true, false) => (narrow.add_alone(count), wide.add_alone(count)),
                    (false, false) => (narrow.add_shared(count), wide.add_shared(count)),
                    // For 64 bits, the wraps are not checked.
                    (true, true) => (narrow.add_few_alone(count), wide.add_alone(count)),
                    (false, true) => (narrow.add_few_shared(count), wide.add_shared(count)),
                };
                wraps += narrow_wraps as u128;
                wide_total += (wide_wraps as u128) << 64;
                truth += count as u128;
            }
            prop_assert_eq!((wraps << 32) + Counter::load(&narrow) as u128, truth);
            prop_assert_eq!(wide_total + Counter::load(&wide) as u128, truth);
        }
    }
}
