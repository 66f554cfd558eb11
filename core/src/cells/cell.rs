//! The cells that count, and the ways to add to them.
//!
//! A cell counts modulo `2^BITS` and is only ever added to; readers subtract. All accesses are relaxed atomics, so that
//! reading beside a writer is defined behavior. On the targets in use they compile to plain loads and stores.

use core::marker::PhantomData;

use crate::cells::kind::Mode;
use crate::cells::loads::{self, Sums};
use crate::platform::atomics::Ordering::*;
use crate::platform::atomics::{AtomicU32, AtomicU64};

mod sealed {
    pub trait Sealed {}
    impl Sealed for crate::platform::atomics::AtomicU32 {}
    impl Sealed for crate::platform::atomics::AtomicU64 {}
    impl Sealed for super::Interlocked {}
    impl Sealed for super::SingleWriter {}
    impl Sealed for super::Unguarded {}
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
        Self: Sized,
    {
        loads::load(cells, out);
    }
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

    #[cfg(picollo_wide_loads)]
    #[inline]
    fn load_and_sum(
        cells: &[Self],
        words: Option<&[AtomicU64]>,
        out: &mut [u64],
        base: Option<&[u64]>,
    ) -> Option<Sums> {
        crate::cells::summed::load(cells, words, out, base)
    }

    #[cfg(picollo_wide_loads)]
    #[inline]
    fn add_many(cells: &[Self], out: &mut [u64]) -> u64 {
        crate::cells::summed::add(cells, out).unwrap_or_else(|| loads::add_one_by_one(cells, out))
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

    macro_rules! add {
        ($name:ident, $cell:ty, $count:ty, $instruction:literal) => {
            #[inline(always)]
            pub(super) fn $name(cell: &$cell, count: $count) -> bool {
                // SAFETY: this adds to the cell, which is borrowed, aligned, and may be changed through shared references.
                unsafe {
                    asm!(
                        $instruction,
                        "jc {wrapped}",
                        cell = in(reg) cell.as_ptr(),
                        count = in(reg) count,
                        wrapped = label { return true },
                        options(nostack)
                    );
                }
                false
            }
        };
    }
    add!(add_64, AtomicU64, u64, "add qword ptr [{cell}], {count}");
    add!(add_32, AtomicU32, u32, "add dword ptr [{cell}], {count:e}");

    #[inline(always)]
    pub(super) fn count_32<const WRAPPING: bool>(place: Place<AtomicU32, WRAPPING>) -> bool {
        // SAFETY: as in `add!`: the cell exists. The index is separate, so that the instruction can use it, too.
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
}

/// As above, where an addition is several instructions.
#[cfg(not(picollo_one_step))]
mod one_step {
    use super::Place;
    use crate::platform::atomics::Ordering::Relaxed;
    use crate::platform::atomics::{AtomicU32, AtomicU64};

    macro_rules! add {
        ($name:ident, $cell:ty, $count:ty) => {
            #[inline(always)]
            pub(super) fn $name(cell: &$cell, count: $count) -> bool {
                let (sum, wrapped) = cell.load(Relaxed).overflowing_add(count);
                cell.store(sum, Relaxed);
                wrapped
            }
        };
    }
    add!(add_64, AtomicU64, u64);
    add!(add_32, AtomicU32, u32);

    #[inline(always)]
    pub(super) fn count_32<const WRAPPING: bool>(place: Place<AtomicU32, WRAPPING>) -> bool {
        add_32(place.cell(), 1)
    }
}

/// How writers add to the cells of a histogram.
pub trait WriteMode: sealed::Sealed + Send + Sync + 'static {
    /// The mode as an option.
    const MODE: Mode;
}

/// A way to write by shared reference, so that recording takes `&self`.
#[diagnostic::on_unimplemented(
    message = "recording in the mode `{Self}` needs the one writer",
    note = "a single-writer histogram is recorded into by `&mut`, or by the `Writer` that `Histogram::split` makes; the default mode, `Interlocked`, takes any number of threads"
)]
pub trait ManyWriters: WriteMode {
    /// Adds to a cell of the histogram. Returns how often the cell wrapped around.
    fn add<C: Counter>(cell: &C, count: u64) -> u64;

    /// Does the same as [`ManyWriters::add`] for values that were recorded one by one: see [`Counter::add_few_alone`].
    fn add_few<C: Counter>(cell: &C, count: u64) -> u64;

    /// Does the same as [`ManyWriters::add_few`] for one value.
    #[doc(hidden)]
    fn count<C: Counter>(place: Place<C>) -> u64;
}

/// Any number of threads, signal handlers and interrupt handlers write: one relaxed atomic add to one cell. Only a
/// 32-bit cell that wraps takes a second add. On targets without the atomics, a critical section replaces them.
#[derive(Clone, Copy, Debug)]
pub struct Interlocked;

impl WriteMode for Interlocked {
    const MODE: Mode = Mode::Interlocked;
}

impl ManyWriters for Interlocked {
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

/// One writer, any number of readers: a plain addition. The writer holds the histogram by `&mut`, or its
/// [`crate::Writer`], so the compiler rejects a second one.
///
/// With the default mode, threads share a histogram:
///
/// ```
/// use picollo_core::layouts::AtomicU64;
/// use picollo_core::recorders::Record;
/// use picollo_core::{Histogram, Layout};
/// # const LAYOUT: Layout = Layout::new(0.01, 0, 1_000);
/// # fn fill(into: &(impl Record + ?Sized)) {
/// #     into.record_n(1, 1);
/// # }
/// let histogram: Histogram<[AtomicU64; LAYOUT.cells()]> = Histogram::new(LAYOUT);
/// std::thread::scope(|scope| {
///     scope.spawn(|| histogram.record(1));
///     scope.spawn(|| histogram.record(2));
/// });
/// fill(&*histogram);
/// ```
///
/// The same does not compile with this mode: neither in two threads, whether they have the histogram or its writer,
///
/// ```compile_fail,E0499
/// # use picollo_core::layouts::AtomicU64;
/// # use picollo_core::recorders::SingleWriter;
/// # use picollo_core::{Histogram, Layout};
/// # const LAYOUT: Layout = Layout::new(0.01, 0, 1_000);
/// let mut histogram: Histogram<[AtomicU64; LAYOUT.cells()], SingleWriter> = Histogram::new(LAYOUT);
/// std::thread::scope(|scope| {
///     scope.spawn(|| histogram.record(1));
///     scope.spawn(|| histogram.record(2));
/// });
/// ```
///
/// ```compile_fail,E0499
/// # use picollo_core::layouts::AtomicU64;
/// # use picollo_core::recorders::SingleWriter;
/// # use picollo_core::{Histogram, Layout};
/// # const LAYOUT: Layout = Layout::new(0.01, 0, 1_000);
/// let mut histogram: Histogram<[AtomicU64; LAYOUT.cells()], SingleWriter> = Histogram::new(LAYOUT);
/// let (mut writer, reader) = histogram.split();
/// std::thread::scope(|scope| {
///     scope.spawn(|| writer.record(1));
///     scope.spawn(|| writer.record(2));
/// });
/// ```
///
/// nor through the trait [`crate::recorders::Record`].
///
/// ```compile_fail,E0277
/// # use picollo_core::layouts::AtomicU64;
/// # use picollo_core::recorders::{Record, SingleWriter};
/// # use picollo_core::{Histogram, Layout};
/// # const LAYOUT: Layout = Layout::new(0.01, 0, 1_000);
/// # fn fill(into: &(impl Record + ?Sized)) {
/// #     into.record_n(1, 1);
/// # }
/// let histogram: Histogram<[AtomicU64; LAYOUT.cells()], SingleWriter> = Histogram::new(LAYOUT);
/// fill(&*histogram);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SingleWriter;

impl WriteMode for SingleWriter {
    const MODE: Mode = Mode::SingleWriter;
}

/// [`SingleWriter`] if a contract, not the compiler, ensures that there is one writer: behind handles whose kind is
/// known only at run time. Two writers are memory-safe, but lose counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unguarded;

impl WriteMode for Unguarded {
    const MODE: Mode = Mode::SingleWriter;
}

impl ManyWriters for Unguarded {
    #[inline(always)]
    fn add<C: Counter>(cell: &C, count: u64) -> u64 {
        cell.add_alone(count)
    }

    #[inline(always)]
    fn add_few<C: Counter>(cell: &C, count: u64) -> u64 {
        cell.add_few_alone(count)
    }

    #[inline(always)]
    fn count<C: Counter>(place: Place<C>) -> u64 {
        C::count_alone(place)
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
