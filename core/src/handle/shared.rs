//! A histogram of any kind, chosen at run time, behind one thin counted pointer.
//!
//! A language binding holds this type. The pointer leads to the [`Header`] that every kind begins with, so a record
//! needs one comparison and no second pointer.

use core::ffi::c_void;
use core::ptr::NonNull;

use crate::cells::header::Header;
use crate::cells::kind::Mode;
use crate::error::{Error, Result};
use crate::handle::options::Options;
use crate::handle::prefix::{PREFIX, Prefix};
use crate::handle::recorder::Recorder;
use crate::histograms::dense::init_at;
use crate::histograms::dense::single_writer::record_in_all_ways;
use crate::histograms::record::Record;
#[cfg(feature = "alloc")]
use crate::layout::bucket::ValueSelection;
use crate::layout::layout::Layout;
use crate::snapshot::merge::Merged;
use crate::snapshot::snapshot::{Since, Snapshot};
#[cfg(feature = "alloc")]
use crate::statistics::summary::Summary;

use crate::handle::dispatch::*;
pub use crate::handle::plan::Footprint;
pub(crate) use crate::handle::plan::Plan;

/// A counted reference to a histogram: cloning adds one, dropping removes one, and the last one frees it. Histograms in
/// the caller's memory are not counted: the memory must outlive every reference.
///
/// It is one pointer in size, and the same pointer that C sees. Any thread may hold, clone and drop one, and any number
/// of threads may record through it at once. To record from one thread, with a plain addition, use
/// [`SingleWriterHistogram`](crate::SingleWriterHistogram).
#[repr(transparent)]
pub struct SharedHistogram(pub(crate) NonNull<Header>);

// SAFETY: all access behind the pointer is through atomics, including the reference count.
unsafe impl Send for SharedHistogram {}
// SAFETY: as above.
unsafe impl Sync for SharedHistogram {}

impl SharedHistogram {
    /// The alignment of the memory passed to [`SharedHistogram::init_in`].
    pub const ALIGNMENT: usize = align_of::<Header>();

    /// Creates a histogram on the heap, for any number of recording threads.
    ///
    /// Fails with [`Error::InvalidArgument`] for a range without values, an unknown width, a limit below the size of an
    /// empty histogram, and [`Mode::SingleWriter`]; for that, use
    /// [`SingleWriterHistogram::create`](crate::SingleWriterHistogram::create). Fails with [`Error::Unsupported`] for
    /// features that this build does not have, and with [`Error::OutOfMemory`].
    pub fn create(options: &Options) -> Result<SharedHistogram> {
        refuse_single_writer(options.mode)?;
        // SAFETY: the mode is not [`Mode::SingleWriter`].
        unsafe { Self::create_unguarded(options) }
    }

    /// Does the same as [`SharedHistogram::create`] in any mode.
    ///
    /// # Safety
    /// In the mode [`Mode::SingleWriter`] only one thread at a time may record, through any reference; otherwise counts
    /// get lost. (Nothing worse happens: all accesses are atomic.)
    pub unsafe fn create_unguarded(options: &Options) -> Result<SharedHistogram> {
        Self::allocate(&Plan::new(options)?)
    }

    #[cfg(feature = "alloc")]
    fn allocate(plan: &Plan) -> Result<SharedHistogram> {
        let size = plan.size.checked_add(PREFIX).ok_or(Error::OutOfMemory)?;
        let block = crate::platform::memory::allocate_zeroed(size, align_of::<Prefix>())?;
        // SAFETY: the block has room for the prefix and the histogram after it, whose cells are already zero.
        unsafe {
            block.cast::<Prefix>().write(Prefix::new(size));
            let base = block.add(PREFIX).cast::<Header>();
            let header = Header::new(plan.layout, plan.kind, plan.live_reset);
            let made = with_type_of!(plan.kind, Type => Type::initialise(base, header, plan.max_bytes), _ => Err(Error::Unsupported));
            if made.is_err() {
                crate::platform::memory::free(block, size, align_of::<Prefix>());
            }
            made.map(|()| SharedHistogram(base))
        }
    }

    #[cfg(not(feature = "alloc"))]
    fn allocate(_: &Plan) -> Result<SharedHistogram> {
        Err(Error::Unsupported)
    }

    /// Returns the bytes that [`SharedHistogram::init_in`] needs, a multiple of [`SharedHistogram::ALIGNMENT`]. Fails
    /// with [`Error::Unsupported`] for kinds that cannot live there; dense kinds with one writer or interlocked writers
    /// can. With live reset it is half as much again as on the heap: see [`crate::Histogram::required_size`].
    pub fn required_size(options: &Options) -> Result<usize> {
        Plan::new(options)?.required_size()
    }

    /// Returns the future [`SharedHistogram::footprint`] of a histogram with these options. Fails as
    /// [`SharedHistogram::create`] does.
    pub fn estimate(options: &Options) -> Result<Footprint> {
        Plan::new(options)?.estimate()
    }

    /// Creates a histogram in the caller's memory, private or shared with other processes.
    ///
    /// Fails with [`Error::InvalidArgument`] if the memory is not aligned, and for [`Mode::SingleWriter`] as in
    /// [`SharedHistogram::create`]; with [`Error::BufferTooSmall`] if it is too small.
    ///
    /// # Safety
    /// `memory` must be valid for reads and writes of `size` bytes, used for nothing else, for as long as there is any
    /// reference to the histogram.
    pub unsafe fn init_in(memory: *mut u8, size: usize, options: &Options) -> Result<SharedHistogram> {
        refuse_single_writer(options.mode)?;
        // SAFETY: passed on; the mode is not [`Mode::SingleWriter`].
        unsafe { Self::init_in_unguarded(memory, size, options) }
    }

    /// Does the same as [`SharedHistogram::init_in`] in any mode.
    ///
    /// # Safety
    /// As there, and as for [`SharedHistogram::create_unguarded`], among all processes.
    pub unsafe fn init_in_unguarded(
        memory: *mut u8,
        size: usize,
        options: &Options,
    ) -> Result<SharedHistogram> {
        let plan = Plan::new(options)?;
        let header = Header::new(plan.layout, plan.kind, plan.live_reset);
        // This keeps the caller's own pointer. No reference to the memory has been made from it: a use of the pointer
        // could invalidate the reference, or the reference the pointer.
        // SAFETY: the memory is valid for writes and used for nothing else, as the caller promises.
        unsafe { init_at(memory, size, plan.required_size()?, header) }.map(SharedHistogram)
    }

    /// Attaches to a histogram that another process, or an earlier call, made in memory by
    /// [`SharedHistogram::init_in`].
    ///
    /// Fails with [`Error::InvalidArgument`] if the memory is not aligned, and for a single-writer histogram, which
    /// needs [`SingleWriterHistogram::attach`](crate::SingleWriterHistogram::attach). Fails with
    /// [`Error::BufferTooSmall`] if the memory is smaller than the histogram, with [`Error::Corrupt`] if it holds no
    /// histogram, and with [`Error::Incompatible`] if a build of another image version or word size made it.
    ///
    /// # Safety
    /// As for [`SharedHistogram::init_in`]; users of the shared memory are trusted not to change the header afterwards.
    pub unsafe fn attach(memory: *mut u8, size: usize) -> Result<SharedHistogram> {
        // SAFETY: passed on; nobody records through a single-writer one, because it is not returned.
        let attached = unsafe { Self::attach_unguarded(memory, size)? };
        if attached.is_single_writer() { Err(Error::InvalidArgument) } else { Ok(attached) }
    }

    /// Does the same as [`SharedHistogram::attach`] in any mode.
    ///
    /// # Safety
    /// As there, and as for [`SharedHistogram::create_unguarded`], among all processes.
    pub unsafe fn attach_unguarded(memory: *mut u8, size: usize) -> Result<SharedHistogram> {
        if !memory.addr().is_multiple_of(Self::ALIGNMENT) {
            return Err(Error::InvalidArgument);
        }
        if size < size_of::<Header>() {
            return Err(Error::BufferTooSmall);
        }
        let header = NonNull::new(memory.cast::<Header>()).ok_or(Error::InvalidArgument)?;
        // SAFETY: it is aligned, long enough and readable; every bit pattern is a header, but perhaps a broken one.
        let image = unsafe { header.as_ref() };
        image.check()?;
        let needed = with_type_of!(
            image.kind.with_unit(0),
            Type => Type::required_size(&image.layout, image.has_baseline()),
            _ => Err(Error::Corrupt)
        );
        match needed {
            Ok(needed) if size < needed => Err(Error::BufferTooSmall),
            Ok(_) => Ok(SharedHistogram(header)),
            Err(_) => Err(Error::Corrupt),
        }
    }

    /// Converts this reference to a pointer, which then owns it. See [`SharedHistogram::from_raw`].
    pub fn into_raw(self) -> NonNull<Header> {
        let header = self.0;
        core::mem::forget(self);
        header
    }

    /// Converts a pointer back to its reference.
    ///
    /// # Safety
    /// `header` must come from [`SharedHistogram::into_raw`], once for each call, unless the result is kept from being
    /// dropped. As for [`SharedHistogram::create_unguarded`], if it was made so.
    pub unsafe fn from_raw(header: NonNull<Header>) -> SharedHistogram {
        SharedHistogram(header)
    }

    /// The rule that maps values to counters.
    pub fn layout(&self) -> &Layout {
        // SAFETY: a reference keeps the histogram alive, and its layout never changes.
        unsafe { &(*self.0.as_ptr()).layout }
    }

    /// Returns the width of the cells, 32 or 64.
    pub fn counter_bits(&self) -> u32 {
        // SAFETY: as for `layout`.
        unsafe { (*self.0.as_ptr()).counter_bits() }
    }

    /// Returns a direct handle for recording into a thread-local histogram. Fails with [`Error::Unsupported`] for other
    /// modes (see [`SingleWriterHistogram::recorder`](crate::SingleWriterHistogram::recorder) for a single writer), and
    /// for cells that the target cannot load and store in one step. Fails with [`Error::OutOfMemory`] if there is no
    /// room for a shard.
    pub fn recorder(&self) -> Result<Recorder> {
        Recorder::new(self)
    }

    /// Returns cells for a recorder, and their owner.
    pub(crate) fn lend_cells(&self) -> Result<(NonNull<u8>, *mut c_void)> {
        as_what_it_is!(self.0, histogram => histogram.lend_cells())
    }

    /// Returns the cells that [`Recorder`] records into.
    pub(crate) fn lent_cells(&self, owner: *mut c_void) -> NonNull<u8> {
        as_what_it_is!(self.0, histogram => histogram.lent_cells(owner))
    }

    /// # Safety
    /// `owner` must be that of a recorder that is not used any more.
    pub(crate) unsafe fn give_back(&self, owner: *mut c_void) {
        // SAFETY: the caller's promise.
        as_what_it_is!(self.0, histogram => unsafe { histogram.give_back(owner) });
    }

    /// Counts the wrap of a cell.
    pub(crate) fn add_wrap(&self) {
        // SAFETY: a reference keeps the histogram alive.
        unsafe { self.0.as_ref() }.tallies.add_wraps(1);
    }

    /// Returns the pointer of this reference; the caller keeps the reference.
    pub fn as_raw(&self) -> NonNull<Header> {
        self.0
    }

    /// Counts one value.
    #[inline(always)]
    pub fn record(&self, value: u64) {
        // SAFETY: a reference keeps the histogram alive.
        unsafe { record_inlined(self.0, value) };
    }

    record_in_all_ways!(self, as_what_records(self.0));

    /// See [`Histogram::reset`].
    pub fn reset(&self) -> Result<()> {
        as_what_it_is!(self.0, histogram => histogram.reset())
    }

    /// Returns the bytes of memory in use.
    pub fn footprint(&self) -> usize {
        let prefix = if self.is_counted() { PREFIX } else { 0 };
        prefix + as_what_it_is!(self.0, histogram => histogram.footprint())
    }

    /// Copies the counts of this histogram into a snapshot. See [`Snapshot::update`].
    pub fn update(&self, snapshot: &mut Snapshot, since: Since) -> Result<()> {
        as_what_it_is!(self.0, histogram => snapshot.update(histogram, since))
    }

    /// Returns the counts since the last reset. It allocates a snapshot: to read repeatedly, keep one and update it.
    ///
    /// Fails with [`Error::OutOfMemory`], and with [`Error::Busy`] against competing resets.
    #[cfg(feature = "alloc")]
    pub fn snapshot(&self) -> Result<alloc::boxed::Box<Snapshot>> {
        let mut snapshot = Snapshot::boxed(*self.layout())?;
        self.update(&mut snapshot, Since::Reset)?;
        Ok(snapshot)
    }

    /// Returns percentiles, mean and counts since the last reset, for values in the middle of their buckets. It costs as
    /// much as a snapshot and fails in the same cases.
    #[cfg(feature = "alloc")]
    pub fn summary(&self) -> Result<Summary> {
        Ok(self.snapshot()?.summary(ValueSelection::Midpoint))
    }

    pub(crate) fn is_single_writer(&self) -> bool {
        // SAFETY: as for `layout`.
        unsafe { (*self.0.as_ptr()).kind }.mode() == Some(Mode::SingleWriter)
    }

    pub(crate) fn is_counted(&self) -> bool {
        // SAFETY: as for `layout`.
        unsafe { !(*self.0.as_ptr()).is_in_callers_memory() }
    }
}

/// Attaches to a per-CPU histogram in memory that processes share: see [`PerCpuImage`](crate::seam::PerCpuImage).
///
/// # Safety
/// `memory` must be valid for `size` bytes as long as there is any reference, and contain a table of this process
/// alone. Users of the shared memory are trusted not to change the header.
#[cfg(feature = "alloc")]
pub unsafe fn attach_per_cpu(memory: NonNull<u8>, size: usize) -> Result<SharedHistogram> {
    // SAFETY: passed on.
    unsafe { crate::histograms::per_cpu_image::PerCpuImage::attach(memory, size) }.map(SharedHistogram)
}

/// Does the same as [`SharedHistogram::update`] with everything that was ever counted.
#[cfg(feature = "alloc")]
pub fn update_since_creation(histogram: &SharedHistogram, snapshot: &mut Snapshot) -> Result<()> {
    as_what_it_is!(histogram.0, histogram => snapshot.update_since_creation(histogram))
}

/// Fails with [`Error::InvalidArgument`] for a mode that is not safe behind a shared reference.
pub(crate) fn refuse_single_writer(mode: Mode) -> Result<()> {
    if mode == Mode::SingleWriter { Err(Error::InvalidArgument) } else { Ok(()) }
}

impl Clone for SharedHistogram {
    fn clone(&self) -> Self {
        if self.is_counted() {
            // SAFETY: it is counted, and alive while this reference exists.
            unsafe { Prefix::before(self.0).as_ref() }.retain();
        }
        SharedHistogram(self.0)
    }
}

impl Drop for SharedHistogram {
    fn drop(&mut self) {
        if self.is_counted() {
            // SAFETY: it is counted, and this gives up our reference.
            unsafe { Prefix::release(Prefix::before(self.0)) };
        }
    }
}

impl core::fmt::Debug for SharedHistogram {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("SharedHistogram")
            .field("layout", self.layout())
            .field("counter_bits", &self.counter_bits())
            .finish_non_exhaustive()
    }
}
