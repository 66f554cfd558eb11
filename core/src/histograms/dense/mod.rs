//! The dense histogram: one header, one cell per bucket.

mod memory;
pub(crate) mod single_writer;

pub(crate) use memory::init_at;

use core::marker::PhantomData;

use crate::cells::cell::{Counter, Interlocked, ManyWriters, Place, WriteMode};
use crate::cells::header::{Headed, Header, banks_behind, copies};
use crate::cells::identity::IdentityCell;
use crate::cells::kind::{Kind, Storage};
use crate::cells::tallies::TallyCounts;
use crate::error::{Error, Result};
use crate::histograms::baseline;
use crate::histograms::record::Record;
use crate::layout::layout::Layout;
use crate::platform::atomics::AtomicU64;
use crate::platform::banks::Banks;
use crate::snapshot::source::Source;
use crate::snapshot::sums;

/// A dense histogram over cells `S`: `[AtomicU64; N]` or `[AtomicU32; N]` in a static or on the stack. Through any
/// pointer to it, also `[AtomicU64]` or `[AtomicU32]` of a length known at run time (in a box, or in borrowed memory).
///
/// `N` is [`Layout::cells`] for a histogram with live reset, [`Layout::length`] for one without.
///
/// ```
/// use picollo_core::layouts::AtomicU64;
/// use picollo_core::{Histogram, Layout};
///
/// const LAYOUT: Layout = Layout::new(0.01, 0, 1_000_000);
/// static LATENCY: Histogram<[AtomicU64; LAYOUT.cells()]> = Histogram::new(LAYOUT);
///
/// LATENCY.record(1_234);
/// ```
///
/// Recording never fails, waits or allocates; values out of range are counted separately, as underflow and overflow. In
/// the default mode, [`Interlocked`], any number of threads, signal handlers and interrupt handlers record, by one
/// atomic add to one cell.
///
/// In the mode [`crate::recorders::SingleWriter`] recording costs a load, an add and a store, and allows one writer. It
/// takes `&mut`, or the [`crate::Writer`] from [`Histogram::split`], while any number of threads read and reset.
#[repr(C)]
pub struct Histogram<S: ?Sized = [AtomicU64], M = Interlocked> {
    header: Header,
    mode: PhantomData<M>,
    cells: S,
}

impl Layout {
    /// Returns the cells of a histogram with live reset: the counters, and two banks for their baseline.
    pub const fn cells(&self) -> usize {
        copies(true) * self.length()
    }
}

impl<C: Counter, M: WriteMode, const N: usize> Histogram<[C; N], M> {
    /// Creates an empty histogram, with live reset if `N` has room for it.
    ///
    /// # Panics
    /// If `N` is below [`Layout::length`], and for a layout with a unit, which is for snapshots and
    /// [`crate::Options::unit`]; for a static that is a compile error.
    #[cfg(not(loom))]
    pub const fn new(layout: Layout) -> Self {
        assert!(N >= layout.length(), "the array has too few cells for the layout");
        assert!(layout.unit() == 0, "a histogram of this type has no unit");
        let header = Header::new(layout, Histogram::<[C], M>::DENSE, N >= layout.cells());
        Histogram { header, mode: PhantomData, cells: [const { C::ZERO }; N] }
    }

    /// Creates an empty histogram; loom's cells cannot be made at compile time.
    #[cfg(loom)]
    pub fn new(layout: Layout) -> Self {
        let header = Header::new(layout, Histogram::<[C], M>::DENSE, N >= layout.cells());
        Histogram { header, mode: PhantomData, cells: core::array::from_fn(|_| C::zero()) }
    }
}

impl<C: Counter, M: WriteMode, const N: usize> core::ops::Deref for Histogram<[C; N], M> {
    type Target = Histogram<[C], M>;

    #[inline(always)]
    fn deref(&self) -> &Self::Target {
        self
    }
}

impl<C: Counter, M: WriteMode, const N: usize> core::ops::DerefMut for Histogram<[C; N], M> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Self::Target {
        self
    }
}

impl<C: Counter, M: WriteMode> Histogram<[C], M> {
    /// The kind in headers of this type.
    pub(super) const DENSE: Kind = Kind::new(M::MODE, Storage::Dense, C::BITS);

    /// Returns the histogram that begins with a header, with the length from the header.
    ///
    /// # Safety
    /// `header` must be the initialized header of a dense histogram of this cell type, with its cells after it.
    pub(super) unsafe fn at_header(header: *const Header) -> *const Self {
        // SAFETY: it is readable, as the caller promises.
        let cells = unsafe { (*header).cells() };
        core::ptr::slice_from_raw_parts(header.cast::<u8>(), cells) as *const Self
    }

    /// Returns only the counters, without the baseline.
    pub(crate) fn counters(&self) -> &[C] {
        &self.cells[..self.header.layout.length()]
    }

    /// The rule that maps values to counters.
    pub fn layout(&self) -> &Layout {
        &self.header.layout
    }

    /// Starts counting anew for all later reads, regardless of concurrent writers: the present counts become the
    /// baseline that readers subtract. Each event is on exactly one side of a reset. Any thread may call this, and
    /// writers are not disturbed.
    ///
    /// A reset that does not finish has no effect: its process was killed, or a fork left its thread behind. The next
    /// reset waits briefly for it.
    ///
    /// Fails with [`Error::Unsupported`] for a histogram without live reset, and with [`Error::Busy`] in memory that
    /// another program overwrites.
    pub fn reset(&self) -> Result<()> {
        let banks = self.banks().ok_or(Error::Unsupported)?;
        baseline::move_to_present(self, || core::iter::once((0, banks)))
    }

    /// Returns the banks of the baseline, if there is one.
    pub(crate) fn banks(&self) -> Option<[&[C]; 2]> {
        if self.header.has_baseline() { banks_behind(&self.cells, self.header.layout.length()) } else { None }
    }

    /// Acts like a process that is killed before the end of its reset.
    #[cfg(all(test, loom))]
    pub(crate) fn reset_and_die(&self) {
        if let (Some(banks), Some(turn)) = (self.banks(), self.header.banks.take_a_turn()) {
            baseline::fill(self, core::iter::once((0, banks)), &turn);
        }
    }

    /// Empties the histogram, for its only owner: faster than [`Histogram::reset`], and works without live reset.
    pub fn clear(&mut self) {
        for cell in &self.cells {
            cell.store(0);
        }
        self.header.tallies.store(TallyCounts::default());
        for bank in [0, 1] {
            self.header.bank_tallies(bank).into_iter().for_each(|word| Counter::store(word, 0));
        }
        self.header.banks = Banks::new();
        self.header.identity = IdentityCell::drawn();
    }

    /// Returns the bytes of memory in use.
    pub fn footprint(&self) -> usize {
        size_of_val(self)
    }
}

impl<C: Counter, M: ManyWriters> Histogram<[C], M> {
    /// Counts one value whose logical index is known. (Other kinds need the value itself.)
    #[inline(always)]
    pub(crate) fn count_at(&self, logical_index: u64, _value: u64) {
        self.add_at(self.header.layout.shortly_stored_at(logical_index), M::count, 1);
    }

    /// Adds values that were recorded one by one, at their storage index.
    #[inline(always)]
    fn add_few_at(&self, index: u64, count: u64) {
        self.add_at(index, |place| M::add_few(place.cell(), count), count);
    }

    /// Adds at the storage index of a value.
    #[inline(always)]
    fn add_at(&self, index: u64, add: impl FnOnce(Place<C>) -> u64, count: u64) {
        if self.header.layout.contains(index) {
            // SAFETY: every constructor makes at least `layout.length()` cells, and the layout never changes.
            let place = unsafe { Place::new(self.cells.as_ptr(), index as usize) };
            self.header.tallies.add_wraps_if_any(add(place));
        } else {
            add_out_of_range::<M>(&self.header, index, count);
        }
    }

    /// Counts one value.
    #[inline(always)]
    pub fn record(&self, value: u64) {
        self.add_at(self.header.layout.recording_index(value), M::count, 1);
    }

    /// Counts one value `count` times. A count of zero does nothing.
    #[inline]
    pub fn record_n(&self, value: u64, count: u64) {
        self.add_at(self.header.layout.recording_index(value), |place| M::add(place.cell(), count), count);
    }

    /// Counts every value of a slice.
    pub fn record_batch(&self, values: &[u64]) {
        crate::layout::indices::for_each_index(&self.header.layout, values, |index, _, count| {
            self.add_few_at(index, count);
        });
    }

    /// Does the same as [`Histogram::record_batch`] by a given path.
    #[doc(hidden)]
    pub fn record_batch_by(&self, path: crate::layout::indices::BatchPath, values: &[u64]) {
        path.for_each_index(&self.header.layout, values, |index, _, count| {
            self.add_few_at(index, count);
        });
    }
}

/// Counts a value without a cell, by its out-of-range storage index. It needs only the header, so that a record need
/// not know where the cells end.
#[cold]
#[inline(never)]
pub(crate) fn add_out_of_range<M: ManyWriters>(header: &Header, index: u64, count: u64) {
    let tallies = &header.tallies;
    let tally = if Layout::lies_below(index) { &tallies.underflow } else { &tallies.overflow };
    tallies.add_wraps_beside(M::add(tally, count), header.counter_bits());
}

impl<C: Counter, M: WriteMode> Headed for Histogram<[C], M> {
    #[inline(always)]
    fn header(&self) -> &Header {
        &self.header
    }
}

impl<C: Counter, M: ManyWriters> Record for Histogram<[C], M> {
    fn record_n(&self, value: u64, count: u64) {
        self.record_n(value, count);
    }
}

impl<C: Counter, M: WriteMode> Source for Histogram<[C], M> {
    const COUNTER_BITS: u32 = C::BITS;

    fn copy_counts(&self, start: usize, out: &mut [u64]) -> u64 {
        let counters = &self.counters()[start..];
        C::load_many(&counters[..counters.len().min(out.len())], out);
        0
    }

    fn copy_and_total(&self, out: &mut [u64], base: Option<&[u64]>) -> (u64, u128) {
        match C::load_and_sum(self.counters(), None, out, base) {
            Some(summed) => (0, sums::total_of(summed, out, base)),
            None => sums::copy_runs(out, base, |start, out| self.copy_counts(start, out)),
        }
    }

    fn copy_baseline(&self, out: &mut [u64], tallies: &mut TallyCounts) -> Result<u32> {
        self.header.copy_baseline(self.banks(), out, tallies)
    }
}
