//! The dense histogram: one header, one cell per bucket.

pub(crate) mod single_writer;

use core::ffi::c_void;
use core::marker::PhantomData;
use core::mem::{MaybeUninit, align_of, size_of};
use core::ptr::{self, NonNull};

use crate::cells::cell::{Counter, ManyWriters, TallyCounts, WriteMode, wraps_between};
use crate::cells::header::Header;
use crate::cells::identity::Identity;
use crate::cells::identity::IdentityCell;
use crate::cells::kind::Storage;
use crate::cells::kind::kind;
use crate::cells::one_step::Place;
use crate::cells::write_mode::Interlocked;
use crate::error::{Error, Result};
use crate::histograms::record::Record;
use crate::layout::layout::Layout;
use crate::platform::atomics::{AtomicU64, HAS_ATOMIC_64};
use crate::platform::banks::Turn;
use crate::platform::memory::size_with;
use crate::platform::seqlock::Version;
use crate::snapshot::source::Source;

/// A dense histogram over cells `S`: `[AtomicU64; N]` or `[AtomicU32; N]` in a static or on the stack, and, through
/// any pointer to it, `[AtomicU64]` or `[AtomicU32]` of a length known at run time (in a box, or in borrowed memory).
///
/// `N` is [`Layout::cells`] for a histogram with live reset, [`Layout::length`] for one without.
///
/// ```
/// use picollo_core::{AtomicU64, Histogram, Layout};
///
/// const LAYOUT: Layout = Layout::new(0.01, 0, 1_000_000);
/// static LATENCY: Histogram<[AtomicU64; LAYOUT.cells()]> = Histogram::new(LAYOUT);
///
/// LATENCY.record(1_234);
/// ```
///
/// Recording never fails, waits or allocates; values out of range are counted apart, as underflow and overflow. In the
/// default mode, [`Interlocked`], any number of threads, signal handlers and interrupt handlers record, by one atomic add
/// of one cell.
///
/// In the mode [`crate::SingleWriter`] recording costs a load, an add and a store, and is for one writer: it takes
/// `&mut`, or the [`crate::Writer`] that [`Histogram::split`] makes, beside which any number of threads read and reset.
#[repr(C)]
pub struct Histogram<S: ?Sized = [AtomicU64], M = Interlocked> {
    header: Header,
    mode: PhantomData<M>,
    cells: S,
}

impl Layout {
    /// Cells of a histogram with live reset: the counters and their baseline.
    pub const fn cells(&self) -> usize {
        2 * self.length()
    }
}

impl<C: Counter, M: WriteMode, const N: usize> Histogram<[C; N], M> {
    /// An empty histogram, with live reset when `N` has room for it.
    ///
    /// # Panics
    /// When `N` is below [`Layout::length`], and for a layout with a unit, which is for snapshots; for a static that is a compile
    /// error.
    #[cfg(not(loom))]
    pub const fn new(layout: Layout) -> Self {
        assert!(N >= layout.length(), "the array has too few cells for the layout");
        assert!(layout.unit() == 0, "a histogram has no unit");
        Histogram {
            header: Header::new(layout, kind(M::MODE, Storage::Dense, C::BITS), N >= layout.cells()),
            mode: PhantomData,
            cells: [const { C::ZERO }; N],
        }
    }

    /// An empty histogram; loom's cells cannot be made at compile time.
    #[cfg(loom)]
    pub fn new(layout: Layout) -> Self {
        Histogram {
            header: Header::new(layout, kind(M::MODE, Storage::Dense, C::BITS), N >= layout.cells()),
            mode: PhantomData,
            cells: core::array::from_fn(|_| C::zero()),
        }
    }

    /// As in memory that processes share: with two banks for the baseline, and room for both.
    #[cfg(all(test, loom))]
    pub(crate) fn with_two_banks(layout: Layout) -> Self {
        assert!(N >= 3 * layout.length());
        let mut histogram = Self::new(layout);
        histogram.header = Header::new(layout, kind(M::MODE, Storage::Dense, C::BITS), true).with_two_banks();
        histogram
    }
}

/// Recording does not shift.
fn check_unit(layout: &Layout) -> Result<()> {
    if layout.unit() == 0 { Ok(()) } else { Err(Error::InvalidArgument) }
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
    /// Alignment of the memory given to [`Histogram::init_in`].
    pub const ALIGNMENT: usize = align_of::<Header>();

    /// Bytes that [`Histogram::init_in`] needs; a multiple of [`Histogram::ALIGNMENT`]: 256, and a cell for each counter, or,
    /// with live reset, three. (On the heap and in a static it is two. In memory that processes share, the baseline has two
    /// banks, so that none of them can die in the middle of writing it.) [`Error::OutOfMemory`] when no address space could
    /// hold it.
    pub const fn required_size(layout: &Layout, live_reset: bool) -> Result<usize> {
        Self::size_with_copies(layout, if live_reset { 3 } else { 1 })
    }

    /// Bytes of a histogram on the heap.
    pub(crate) const fn heap_size(layout: &Layout, live_reset: bool) -> Result<usize> {
        Self::size_with_copies(layout, 1 + live_reset as usize)
    }

    /// Bytes of a histogram with so many cells for each bucket, see [`Header::copies`].
    pub(crate) const fn size_with_copies(layout: &Layout, copies: usize) -> Result<usize> {
        // A layout has less than 2^26 buckets.
        size_with::<Header, C>(size_of::<Header>(), layout.length().saturating_mul(copies))
    }

    /// What it grows by, and how often: never.
    pub(crate) const fn growth(_: &Layout, _live_reset: bool) -> Result<(usize, usize)> {
        Ok((0, 0))
    }

    /// Makes an empty histogram in memory that the caller owns. [`Error::InvalidArgument`] when it is not aligned to
    /// [`Histogram::ALIGNMENT`], and for a layout with a unit; [`Error::BufferTooSmall`] when it has less than [`Histogram::required_size`] bytes.
    pub fn init_in(memory: &mut [MaybeUninit<u8>], layout: Layout, live_reset: bool) -> Result<&mut Self> {
        // SAFETY: the memory is ours for the borrow, and so is what was made in it.
        unsafe {
            let base = Self::init_at(memory.as_mut_ptr().cast(), memory.len(), layout, live_reset)?;
            Ok(&mut *Self::from_header(base.as_ptr()).cast_mut())
        }
    }

    /// As [`Histogram::init_in`], by a pointer, which is all that is used: no reference to a part of the memory comes between
    /// it and the one that is returned, which may be used for as long.
    ///
    /// # Safety
    /// `memory` must be valid for writes of `size` bytes, which may be uninitialised and which nobody else uses.
    pub(crate) unsafe fn init_at(
        memory: *mut u8,
        size: usize,
        layout: Layout,
        live_reset: bool,
    ) -> Result<NonNull<Header>> {
        check_unit(&layout)?;
        let needed = Self::required_size(&layout, live_reset)?;
        let base = NonNull::new(memory).ok_or(Error::InvalidArgument)?;
        if !memory.addr().is_multiple_of(Self::ALIGNMENT) {
            return Err(Error::InvalidArgument);
        }
        if size < needed {
            return Err(Error::BufferTooSmall);
        }
        let header = Header::new(layout, kind(M::MODE, Storage::Dense, C::BITS), live_reset);
        // SAFETY: valid and unused, as the caller promises, aligned and long enough as just checked. All-zero bytes are valid
        // cells.
        unsafe {
            base.write_bytes(0, needed);
            base.cast::<Header>().write(header.placed_in_callers_memory());
        }
        Ok(base.cast())
    }

    /// Makes an empty histogram on the heap. [`Error::OutOfMemory`] rather than an abort when there is no room,
    /// [`Error::InvalidArgument`] for a layout with a unit.
    #[cfg(feature = "alloc")]
    pub fn boxed(layout: Layout, live_reset: bool) -> Result<alloc::boxed::Box<Self>> {
        check_unit(&layout)?;
        let size = Self::heap_size(&layout, live_reset)?;
        let base = crate::platform::memory::allocate_zeroed(size, Self::ALIGNMENT)?;
        let header = Header::new(layout, kind(M::MODE, Storage::Dense, C::BITS), live_reset);
        // SAFETY: the block is ours, zeroed (valid cells), aligned, and of the size that the value of this length has,
        // which is what the box will free.
        unsafe {
            base.cast::<Header>().write(header);
            Ok(alloc::boxed::Box::from_raw(Self::from_header(base.as_ptr().cast()).cast_mut()))
        }
    }

    /// The histogram that begins with a header, its length taken from there.
    ///
    /// # Safety
    /// `header` must be the initialised header of a dense histogram of this cell type, with its cells behind it.
    pub(crate) unsafe fn from_header(header: *const Header) -> *const Self {
        // SAFETY: readable, as the caller promises.
        let cells = unsafe { (*header).cells() };
        ptr::slice_from_raw_parts(header.cast::<u8>(), cells) as *const Self
    }

    /// The counters alone, without the baseline.
    pub(crate) fn counters(&self) -> &[C] {
        &self.cells[..self.header.layout.length()]
    }

    /// Makes a histogram of zeroed memory.
    ///
    /// # Safety
    /// `base` must have [`Histogram::heap_size`] zeroed bytes, aligned like the header.
    #[cfg(feature = "alloc")]
    pub(crate) unsafe fn initialise(base: NonNull<Header>, header: Header, _max_bytes: usize) -> Result<()> {
        // SAFETY: room and alignment are the caller's promise.
        unsafe {
            base.write(header);
            #[cfg(loom)]
            for index in 0..base.as_ref().cells() {
                base.add(1).cast::<C>().add(index).write(C::zero());
            }
        }
        Ok(())
    }

    /// What is to be done before the memory is freed: nothing.
    #[cfg(feature = "alloc")]
    pub(crate) unsafe fn dispose(_: NonNull<Header>) {}

    /// Cells for a recorder, and their owner: the one writer of a histogram owns nothing besides.
    pub(crate) fn lend_cells(&self) -> Result<(NonNull<u8>, *mut c_void)> {
        let one_step = C::BITS < 64 || HAS_ATOMIC_64;
        if M::MODE != crate::cells::kind::Mode::SingleWriter || !one_step {
            return Err(Error::Unsupported);
        }
        Ok((self.lent_cells(ptr::null_mut()), ptr::null_mut()))
    }

    pub(crate) fn lent_cells(&self, _: *mut c_void) -> NonNull<u8> {
        NonNull::from(self.counters()).cast()
    }

    /// Takes back what was lent: nothing. Unsafe like its sibling of the thread-local histogram.
    pub(crate) unsafe fn give_back(&self, _: *mut c_void) {}

    /// A bank of the baseline, if there is one.
    pub(crate) fn bank(&self, bank: usize) -> Option<&[C]> {
        let length = self.header.layout.length();
        let start = length * (bank + 1);
        if self.header.copies() > bank + 1 { self.cells.get(start..start + length) } else { None }
    }

    /// The rule that maps values to counters.
    pub fn layout(&self) -> &Layout {
        &self.header.layout
    }

    /// Adds at the storage index of a value what was recorded value by value.
    #[inline(always)]
    fn add_few_at(&self, index: u64, value: u64, count: u64) {
        self.add_at(index, value, |place| M::add_few(place.cell(), count), count);
    }

    /// Adds at the storage index of a value.
    #[inline(always)]
    fn add_at(&self, index: u64, value: u64, add: impl FnOnce(Place<C>) -> u64, count: u64) {
        if self.header.layout.contains(index) {
            // SAFETY: every constructor makes at least `layout.length()` cells, and the layout never changes.
            let wraps = add(unsafe { Place::new(self.cells.as_ptr(), index as usize) });
            if wraps != 0 {
                self.header.tallies.add_wraps(wraps);
            }
        } else {
            add_out_of_range::<M>(&self.header, value, count);
        }
    }

    /// Starts counting anew for all later reads, whatever writers do meanwhile: the present counts become the baseline
    /// that readers subtract. Each event is on exactly one side of a reset. Any thread; writers are not disturbed.
    ///
    /// In the caller's memory a reset that does not come to an end, because its process was killed, is one that never
    /// happened; the next one waits for it, for a moment. (In an image that version 1 made, it leaves the histogram busy.)
    ///
    /// [`Error::Unsupported`] for a histogram without live reset, [`Error::Busy`] against competing resets.
    pub fn reset(&self) -> Result<()> {
        let baseline = self.bank(0).ok_or(Error::Unsupported)?;
        if self.header.has_two_banks() {
            return self.header.version.banks().change(|turn| self.fill_bank(turn));
        }
        self.header.version.change(|| {
            let mut tallies = self.header.tallies.load();
            let mut wraps = self.header.baseline.load().wraps;
            for (base, counter) in baseline.iter().zip(self.counters()) {
                let count = counter.load();
                if C::BITS < 64 {
                    wraps += wraps_between(base.load(), count);
                }
                base.store(count);
            }
            tallies.know_wraps(wraps);
            self.header.baseline.store(tallies);
        })
    }

    /// Makes the present counts the baseline of the bank that is not read. Whether that is still to become the one that is:
    /// see [`crate::banks`], also for why each step is where it is.
    fn fill_bank(&self, turn: &Turn) -> bool {
        // A turn is looked at, and cells are replaced, after so many at a time.
        const STEP: usize = 64;
        let Some((bank, read)) = self.bank(turn.bank()).zip(self.bank(1 - turn.bank())) else { return false };
        let mut tallies = self.header.tallies.load();
        let mut wraps = TallyCounts::of(self.header.bank_tallies(1 - turn.bank())).wraps;
        for (step, (bank, counters)) in bank.chunks(STEP).zip(self.counters().chunks(STEP)).enumerate() {
            let (mut found, mut counts) = ([0; STEP], [0; STEP]);
            wraps += loop {
                // See `Banks::glance`.
                #[cfg(loom)]
                for cell in bank {
                    cell.add_shared(0);
                }
                C::load_many(bank, &mut found);
                C::load_many(counters, &mut counts);
                let mut wraps = 0;
                if C::BITS < 64 {
                    let read = read[step * STEP..].iter().map(C::load);
                    wraps = read
                        .zip(&counts[..bank.len()])
                        .map(|(read, count)| wraps_between(read, *count))
                        .sum();
                }
                if !turn.stands() {
                    return false;
                }
                let mut cells = bank.iter().zip(&found).zip(&counts);
                if cells.all(|((cell, found), count)| found == count || cell.replace(*found, *count)) {
                    break wraps;
                }
            };
        }
        tallies.know_wraps(wraps);
        let bank = self.header.bank_tallies(turn.bank());
        loop {
            let found = TallyCounts::of(bank).words();
            if !turn.stands() {
                return false;
            }
            let mut words = bank.into_iter().zip(found).zip(tallies.words());
            if words.all(|((word, found), count)| found == count || word.replace(found, count)) {
                return true;
            }
        }
    }

    /// What a process does that is killed before the end of its reset.
    #[cfg(all(test, loom))]
    pub(crate) fn reset_and_die(&self) {
        if let Some(turn) = self.header.version.banks().take_a_turn() {
            self.fill_bank(&turn);
        }
    }

    /// Empties the histogram. For its only owner: faster than [`Histogram::reset`], and works without live reset.
    pub fn clear(&mut self) {
        for cell in &self.cells {
            cell.store(0);
        }
        self.header.tallies.store(TallyCounts::default());
        for bank in [0, 1] {
            self.header.bank_tallies(bank).into_iter().for_each(|word| Counter::store(word, 0));
        }
        self.header.version = Version::new();
        self.header.identity = IdentityCell::drawn();
    }

    /// Bytes of memory in use.
    pub fn footprint(&self) -> usize {
        size_of_val(self)
    }
}

impl<C: Counter, M: ManyWriters> Histogram<[C], M> {
    /// Counts one value.
    #[inline(always)]
    pub fn record(&self, value: u64) {
        self.add_at(self.header.layout.recording_index(value), value, M::count, 1);
    }

    /// Counts one value `count` times. A count of zero does nothing.
    #[inline]
    pub fn record_n(&self, value: u64, count: u64) {
        self.add_at(
            self.header.layout.recording_index(value),
            value,
            |place| M::add(place.cell(), count),
            count,
        );
    }

    /// Counts every value of a slice.
    pub fn record_batch(&self, values: &[u64]) {
        crate::layout::indices::for_each_index(&self.header.layout, values, |index, value, count| {
            self.add_few_at(index, value, count);
        });
    }

    /// As [`Histogram::record_batch`], by a given path.
    #[doc(hidden)]
    pub fn record_batch_by(&self, path: crate::layout::indices::BatchPath, values: &[u64]) {
        path.for_each_index(&self.header.layout, values, |index, value, count| {
            self.add_few_at(index, value, count);
        });
    }
}

/// A function of the header alone, so that a record need not know where the cells end.
#[cold]
#[inline(never)]
pub(crate) fn add_out_of_range<M: WriteMode>(header: &Header, value: u64, count: u64) {
    let tallies = &header.tallies;
    let tally = if header.layout.is_below(value) { &tallies.underflow } else { &tallies.overflow };
    tallies.add_wraps_beside(M::add(tally, count), header.counter_bits());
}

impl<C: Counter, M: ManyWriters> Record for Histogram<[C], M> {
    fn layout(&self) -> &Layout {
        self.layout()
    }

    fn record_n(&self, value: u64, count: u64) {
        self.record_n(value, count);
    }

    fn tallies(&self) -> (&crate::cells::cell::Tallies, u32) {
        (&self.header.tallies, C::BITS)
    }
}

impl<C: Counter, M: WriteMode> Source for Histogram<[C], M> {
    const COUNTER_BITS: u32 = C::BITS;

    fn layout(&self) -> &Layout {
        self.layout()
    }

    fn identity(&self) -> Identity {
        self.header.identity.get()
    }

    fn tallies(&self) -> TallyCounts {
        self.header.tallies.load()
    }

    fn copy_counts(&self, start: usize, out: &mut [u64]) -> u64 {
        let counters = &self.counters()[start..];
        C::load_many(&counters[..counters.len().min(out.len())], out);
        0
    }

    fn copy_baseline(&self, out: &mut [u64], tallies: &mut TallyCounts) -> Result<u32> {
        if !self.header.has_two_banks() {
            return self.header.copy_baseline(self.bank(0), out, tallies);
        }
        self.header.version.banks().read(|bank| {
            *tallies = TallyCounts::of(self.header.bank_tallies(bank));
            C::load_many(self.bank(bank).unwrap_or_default(), out);
        })
    }

    fn baseline_is(&self, version: u32) -> bool {
        if self.header.has_two_banks() {
            self.header.version.banks().is(version)
        } else {
            self.header.version.is(version)
        }
    }
}
