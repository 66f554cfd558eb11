//! The dense histogram: one header, one cell per bucket.

use core::ffi::c_void;
use core::marker::PhantomData;
use core::mem::{MaybeUninit, align_of, size_of};
use core::ptr;

use crate::block::size_with;
use crate::counter::{Counter, SingleWriter, TallyCounts, WriteMode, wraps_between};
use crate::image::{Header, kind};
use crate::one_step::Place;
use crate::record::Record;
use crate::source::Source;
use crate::sync::{AtomicU64, HAS_ATOMIC_64};
use crate::{Error, Layout, Result, Storage};

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
/// Recording costs a load, an add and a store of one cell. It never fails, waits or allocates; values out of range are
/// counted apart, as underflow and overflow. In the default mode one thread records, and any number of threads read;
/// recording from two threads at once is memory-safe but loses counts. In the mode [`crate::Interlocked`] any number of
/// threads record, each by one atomic add.
#[repr(C)]
pub struct Histogram<S: ?Sized = [AtomicU64], M = SingleWriter> {
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
    /// When `N` is below [`Layout::length`]; for a static that is a compile error.
    #[cfg(not(loom))]
    pub const fn new(layout: Layout) -> Self {
        assert!(N >= layout.length(), "the array has too few cells for the layout");
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
}

impl<C: Counter, M: WriteMode, const N: usize> core::ops::Deref for Histogram<[C; N], M> {
    type Target = Histogram<[C], M>;

    #[inline(always)]
    fn deref(&self) -> &Self::Target {
        self
    }
}

impl<C: Counter, M: WriteMode> Histogram<[C], M> {
    /// Alignment of the memory given to [`Histogram::init_in`].
    pub const ALIGNMENT: usize = align_of::<Header>();

    /// Bytes that a histogram takes, all told; a multiple of [`Histogram::ALIGNMENT`]. [`Error::OutOfMemory`] when no
    /// address space could hold it.
    pub const fn required_size(layout: &Layout, live_reset: bool) -> Result<usize> {
        size_with::<Header, C>(size_of::<Header>(), layout.length() << live_reset as u32)
    }

    /// What it grows by, and how often: never.
    pub(crate) const fn growth(_: &Layout, _live_reset: bool) -> Result<(usize, usize)> {
        Ok((0, 0))
    }

    /// Makes an empty histogram in memory that the caller owns. [`Error::InvalidArgument`] when it is not aligned to
    /// [`Histogram::ALIGNMENT`], [`Error::BufferTooSmall`] when it has less than [`Histogram::required_size`] bytes.
    pub fn init_in(memory: &mut [MaybeUninit<u8>], layout: Layout, live_reset: bool) -> Result<&mut Self> {
        let size = Self::required_size(&layout, live_reset)?;
        let base = memory.as_mut_ptr().cast::<u8>();
        if !base.addr().is_multiple_of(Self::ALIGNMENT) {
            return Err(Error::InvalidArgument);
        }
        if memory.len() < size {
            return Err(Error::BufferTooSmall);
        }
        let header = Header::new(layout, kind(M::MODE, Storage::Dense, C::BITS), live_reset).with_new_epoch();
        // SAFETY: the memory is ours for the borrow, aligned and `size` bytes long as just checked. All-zero bytes are
        // valid cells, and the header is written before the reference is made.
        unsafe {
            ptr::write_bytes(base, 0, size);
            base.cast::<Header>().write(header.placed_in_callers_memory());
            Ok(&mut *Self::from_header(base.cast()).cast_mut())
        }
    }

    /// Makes an empty histogram on the heap. [`Error::OutOfMemory`] rather than an abort when there is no room.
    #[cfg(feature = "alloc")]
    pub fn boxed(layout: Layout, live_reset: bool) -> Result<alloc::boxed::Box<Self>> {
        let size = Self::required_size(&layout, live_reset)?;
        let base = crate::memory::allocate_zeroed(size, Self::ALIGNMENT)?;
        let header = Header::new(layout, kind(M::MODE, Storage::Dense, C::BITS), live_reset).with_new_epoch();
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
    /// `base` must have [`Histogram::required_size`] zeroed bytes, aligned like the header.
    #[cfg(feature = "alloc")]
    pub(crate) unsafe fn initialise(
        base: ptr::NonNull<Header>,
        header: Header,
        _max_bytes: usize,
    ) -> Result<()> {
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
    pub(crate) unsafe fn dispose(_: ptr::NonNull<Header>) {}

    /// Cells for a recorder, and their owner: the one writer of a histogram owns nothing besides.
    pub(crate) fn lend_cells(&self) -> Result<(ptr::NonNull<u8>, *mut c_void)> {
        let one_step = C::BITS < 64 || HAS_ATOMIC_64;
        if M::MODE != crate::Mode::SingleWriter || !one_step {
            return Err(Error::Unsupported);
        }
        Ok((self.lent_cells(ptr::null_mut()), ptr::null_mut()))
    }

    pub(crate) fn lent_cells(&self, _: *mut c_void) -> ptr::NonNull<u8> {
        ptr::NonNull::from(self.counters()).cast()
    }

    /// Takes back what was lent: nothing. Unsafe like its sibling of the thread-local histogram.
    pub(crate) unsafe fn give_back(&self, _: *mut c_void) {}

    fn baseline(&self) -> Option<&[C]> {
        let length = self.header.layout.length();
        if self.header.has_baseline() { self.cells.get(length..2 * length) } else { None }
    }

    /// The rule that maps values to counters.
    pub fn layout(&self) -> &Layout {
        &self.header.layout
    }

    /// Counts one value.
    #[inline(always)]
    pub fn record(&self, value: u64) {
        self.add_at(self.header.layout.storage_index(value), value, M::count, 1);
    }

    /// Counts one value `count` times. A count of zero does nothing.
    #[inline]
    pub fn record_n(&self, value: u64, count: u64) {
        self.add_at(
            self.header.layout.storage_index(value),
            value,
            |place| M::add(place.cell(), count),
            count,
        );
    }

    /// Counts every value of a slice.
    pub fn record_batch(&self, values: &[u64]) {
        crate::batch::for_each_index(&self.header.layout, values, |index, value, count| {
            self.add_few_at(index, value, count);
        });
    }

    /// As [`Histogram::record_batch`], by a given path.
    #[doc(hidden)]
    pub fn record_batch_by(&self, path: crate::BatchPath, values: &[u64]) {
        path.for_each_index(&self.header.layout, values, |index, value, count| {
            self.add_few_at(index, value, count);
        });
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
    /// [`Error::Unsupported`] for a histogram without live reset, [`Error::Busy`] against competing resets.
    pub fn reset(&self) -> Result<()> {
        let baseline = self.baseline().ok_or(Error::Unsupported)?;
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

    /// Empties the histogram. For its only owner: faster than [`Histogram::reset`], and works without live reset.
    pub fn clear(&mut self) {
        for cell in &self.cells {
            cell.store(0);
        }
        self.header.tallies.store(TallyCounts::default());
        self.header.baseline.store(TallyCounts::default());
        self.header.epoch = self.header.epoch.wrapping_add(1);
    }

    /// Bytes of memory in use.
    pub fn footprint(&self) -> usize {
        size_of_val(self)
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

impl<C: Counter, M: WriteMode> Record for Histogram<[C], M> {
    fn layout(&self) -> &Layout {
        self.layout()
    }

    fn record_n(&self, value: u64, count: u64) {
        self.record_n(value, count);
    }

    fn tallies(&self) -> (&crate::counter::Tallies, u32) {
        (&self.header.tallies, C::BITS)
    }
}

impl<C: Counter, M: WriteMode> Source for Histogram<[C], M> {
    const COUNTER_BITS: u32 = C::BITS;

    fn layout(&self) -> &Layout {
        self.layout()
    }

    fn identity(&self) -> (usize, u64) {
        ((&raw const self.header).addr(), self.header.epoch)
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
        self.header.copy_baseline(self.baseline(), out, tallies)
    }

    fn baseline_is(&self, version: u32) -> bool {
        self.header.version.is(version)
    }
}
