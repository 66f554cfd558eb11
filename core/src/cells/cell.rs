//! The cells that count, and the ways to add to them.
//!
//! A cell counts modulo `2^BITS` and is only ever added to; readers subtract. All accesses are relaxed atomics, so that
//! reading beside a writer is defined behavior. On the targets in use they compile to plain loads and stores.

use core::marker::PhantomData;

use crate::cells::loads::{self, Sums};
use crate::platform::atomics::Ordering::*;
use crate::platform::atomics::{AtomicU32, AtomicU64};

mod sealed {
    pub trait Sealed {}
    impl Sealed for crate::platform::atomics::AtomicU32 {}
    impl Sealed for crate::platform::atomics::AtomicU64 {}
    impl Sealed for crate::cells::single_writer::SingleWriter {}
    impl Sealed for crate::cells::single_writer::Unguarded {}
    impl Sealed for super::Interlocked {}
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

/// A cell at an index from a pointer. With `WRAPPING` the pointer alone may lead anywhere: pointer and index together
/// lead to the cell by wrapping arithmetic.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Place<'a, C, const WRAPPING: bool = false> {
    cells: *const C,
    index: usize,
    all: PhantomData<&'a C>,
}

impl<'a, C, const WRAPPING: bool> Place<'a, C, WRAPPING> {
    /// # Safety
    /// There must be a cell at the index, for as long as `'a`.
    #[inline(always)]
    pub(crate) unsafe fn new(cells: *const C, index: usize) -> Self {
        Place { cells, index, all: PhantomData }
    }

    #[inline(always)]
    pub(crate) fn cell(self) -> &'a C {
        // SAFETY: as promised.
        unsafe { &*if WRAPPING { self.cells.wrapping_add(self.index) } else { self.cells.add(self.index) } }
    }
}

/// Additions to a cell that also report whether it wrapped around: one instruction on x86-64.
///
/// A signal handler runs between instructions, never inside one. If a single writer adds with one instruction, a
/// handler of its thread may add to the same cell, and neither loses an addition. On x86-64, the compiler makes such an
/// instruction of a relaxed load, an addition and a relaxed store, unless the code needs the carry. With the carry it
/// makes three, hence the assembly. For the compiler, the assembly acts like a relaxed load and store of the cell.
/// Aligned words are read and written whole, and nothing else is ordered.
#[cfg(picollo_one_step)]
mod one_step {
    use core::arch::asm;

    use super::Place;
    use crate::platform::atomics::{AtomicU32, AtomicU64};

    #[inline(always)]
    pub(super) fn add_64(cell: &AtomicU64, count: u64) -> bool {
        // SAFETY: this adds to the cell, which is borrowed, aligned, and may be changed through shared references.
        unsafe {
            asm!(
                "add qword ptr [{cell}], {count}",
                "jc {wrapped}",
                cell = in(reg) cell.as_ptr(),
                count = in(reg) count,
                wrapped = label { return true },
                options(nostack)
            );
        }
        false
    }

    #[inline(always)]
    pub(super) fn count_32<const WRAPPING: bool>(place: Place<AtomicU32, WRAPPING>) -> bool {
        // SAFETY: as in `add_64`: the cell exists. The index is separate, so that the instruction can use it, too.
        unsafe {
            asm!(
                "inc dword ptr [{cells} + 4 * {index}]",
                "jz {wrapped}",
                cells = in(reg) place.cells,
                index = in(reg) place.index,
                wrapped = label { return true },
                options(nostack)
            );
        }
        false
    }

    #[inline(always)]
    pub(super) fn add_32(cell: &AtomicU32, count: u32) -> bool {
        // SAFETY: as in `add_64`.
        unsafe {
            asm!(
                "add dword ptr [{cell}], {count:e}",
                "jc {wrapped}",
                cell = in(reg) cell.as_ptr(),
                count = in(reg) count,
                wrapped = label { return true },
                options(nostack)
            );
        }
        false
    }
}

/// As above, where an addition is several instructions.
#[cfg(not(picollo_one_step))]
mod one_step {
    use super::Place;
    use crate::platform::atomics::Ordering::Relaxed;
    use crate::platform::atomics::{AtomicU32, AtomicU64};

    #[inline(always)]
    pub(super) fn add_64(cell: &AtomicU64, count: u64) -> bool {
        let (sum, wrapped) = cell.load(Relaxed).overflowing_add(count);
        cell.store(sum, Relaxed);
        wrapped
    }

    #[inline(always)]
    pub(super) fn count_32<const WRAPPING: bool>(place: Place<AtomicU32, WRAPPING>) -> bool {
        add_32(place.cell(), 1)
    }

    #[inline(always)]
    pub(super) fn add_32(cell: &AtomicU32, count: u32) -> bool {
        let (sum, wrapped) = cell.load(Relaxed).overflowing_add(count);
        cell.store(sum, Relaxed);
        wrapped
    }
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

/// A way to write that any number of threads may use at once, so that recording takes `&self`.
#[diagnostic::on_unimplemented(
    message = "recording in the mode `{Self}` needs the one writer",
    note = "a single-writer histogram is recorded into by `&mut`, or by the `Writer` that `Histogram::split` makes; the default mode, `Interlocked`, takes any number of threads"
)]
pub trait ManyWriters: WriteMode {}

/// Any number of threads, signal handlers and interrupt handlers write: one relaxed atomic add to one cell. Only a
/// 32-bit cell that wraps takes a second add. On targets without the atomics, a critical section replaces them.
#[derive(Clone, Copy, Debug)]
pub struct Interlocked;

impl WriteMode for Interlocked {
    const MODE: crate::cells::kind::Mode = crate::cells::kind::Mode::Interlocked;

    #[inline(always)]
    fn add<C: Counter>(cell: &C, count: u64) -> u64 {
        cell.add_shared(count)
    }

    #[inline(always)]
    fn add_few<C: Counter>(cell: &C, count: u64) -> u64 {
        cell.add_few_shared(count)
    }

    #[inline(always)]
    fn count<C: Counter>(place: Place<C>) -> u64 {
        place.cell().add_few_shared(1)
    }
}

impl ManyWriters for Interlocked {}

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
