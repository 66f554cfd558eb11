//! A histogram of any kind, chosen at run time, behind one thin counted pointer.
//!
//! This is what a language binding holds. The pointer leads to the [`Header`] that every kind begins with, so that a
//! record needs one comparison and no second pointer.

use core::mem::MaybeUninit;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};

use crate::counter::SingleWriter;
use crate::image::{Header, kind};
use crate::{Error, Histogram, Layout, Merged, Mode, Options, Record, Result, Since, Snapshot, Storage};

const SINGLE_64: u32 = kind(Mode::SingleWriter, Storage::Dense, 64);
const SINGLE_32: u32 = kind(Mode::SingleWriter, Storage::Dense, 32);

/// In front of the header of a histogram on the heap; a whole cache line, so that the header stays aligned.
#[repr(C, align(64))]
struct Prefix {
    references: AtomicUsize,
    size: usize,
}

const PREFIX: usize = size_of::<Prefix>();

/// A counted reference to a histogram: cloning adds one, dropping takes one away, the last one frees it. Histograms in
/// the caller's memory are not counted: the memory must outlive every reference.
///
/// One pointer in size, and the same pointer that C sees. Any thread may hold, clone and drop one.
#[repr(transparent)]
pub struct SharedHistogram(NonNull<Header>);

// SAFETY: all access to what is behind the pointer is through atomics, and the count of references is one too.
unsafe impl Send for SharedHistogram {}
// SAFETY: as above.
unsafe impl Sync for SharedHistogram {}

/// Runs an expression on the histogram as what it is.
macro_rules! as_what_it_is {
    ($shared:expr, $histogram:ident => $body:expr) => {{
        let header: *const Header = $shared.0.as_ptr();
        // SAFETY: a reference keeps the histogram alive, and its kind was written with it.
        match unsafe { (*header).kind } {
            SINGLE_64 => {
                // SAFETY: of this kind.
                let $histogram = unsafe { &*Histogram::<[AtomicU64], SingleWriter>::from_header(header) };
                $body
            }
            _ => {
                // SAFETY: the only other kind.
                let $histogram = unsafe { &*Histogram::<[AtomicU32], SingleWriter>::from_header(header) };
                $body
            }
        }
    }};
}

impl SharedHistogram {
    /// Alignment of the memory given to [`SharedHistogram::init_in`].
    pub const ALIGNMENT: usize = align_of::<Header>();

    /// A new histogram on the heap.
    ///
    /// [`Error::InvalidArgument`] for a range without values or an unknown width, [`Error::Unsupported`] for what this
    /// build does not offer, [`Error::OutOfMemory`].
    pub fn create(options: &Options) -> Result<SharedHistogram> {
        let plan = Plan::new(options)?;
        Self::allocate(&plan)
    }

    #[cfg(feature = "alloc")]
    fn allocate(plan: &Plan) -> Result<SharedHistogram> {
        let size = plan.size.checked_add(PREFIX).ok_or(Error::OutOfMemory)?;
        let block = crate::memory::allocate_zeroed(size, align_of::<Prefix>())?;
        // SAFETY: the block has room for the prefix and the histogram behind it, whose cells are zero already.
        unsafe {
            block.cast::<Prefix>().write(Prefix { references: AtomicUsize::new(1), size });
            let header = block.add(PREFIX).cast::<Header>();
            header.write(Header::new(plan.layout, plan.kind, plan.live_reset));
            Ok(SharedHistogram(header))
        }
    }

    #[cfg(not(feature = "alloc"))]
    fn allocate(_: &Plan) -> Result<SharedHistogram> {
        Err(Error::Unsupported)
    }

    /// Bytes that [`SharedHistogram::init_in`] needs, a multiple of [`SharedHistogram::ALIGNMENT`].
    pub fn required_size(options: &Options) -> Result<usize> {
        Ok(Plan::new(options)?.size)
    }

    /// A new histogram in the caller's memory, private or shared with other processes.
    ///
    /// [`Error::InvalidArgument`] when it is not aligned, [`Error::BufferTooSmall`] when it is too small.
    ///
    /// # Safety
    /// `memory` must be valid for reads and writes of `size` bytes, used for nothing else, for as long as there is any
    /// reference to the histogram.
    pub unsafe fn init_in(memory: *mut u8, size: usize, options: &Options) -> Result<SharedHistogram> {
        let plan = Plan::new(options)?;
        // SAFETY: valid for writes, as the caller promises; uninitialised bytes are allowed here.
        let memory = unsafe { core::slice::from_raw_parts_mut(memory.cast::<MaybeUninit<u8>>(), size) };
        let base = memory.as_mut_ptr().cast::<Header>();
        match plan.kind {
            SINGLE_64 => {
                Histogram::<[AtomicU64], SingleWriter>::init_in(memory, plan.layout, plan.live_reset)?;
            }
            _ => {
                Histogram::<[AtomicU32], SingleWriter>::init_in(memory, plan.layout, plan.live_reset)?;
            }
        }
        NonNull::new(base).map(SharedHistogram).ok_or(Error::InvalidArgument)
    }

    /// A histogram that another process, or an earlier call, made in memory by [`SharedHistogram::init_in`].
    ///
    /// [`Error::InvalidArgument`] when the memory is not aligned, [`Error::BufferTooSmall`] when it is smaller than the
    /// histogram, [`Error::Corrupt`] when it holds none, [`Error::Incompatible`] when a build of another image version or
    /// word size made it.
    ///
    /// # Safety
    /// As for [`SharedHistogram::init_in`]; whoever shares the memory is trusted not to change the header afterwards.
    pub unsafe fn attach(memory: *mut u8, size: usize) -> Result<SharedHistogram> {
        if !memory.addr().is_multiple_of(Self::ALIGNMENT) {
            return Err(Error::InvalidArgument);
        }
        if size < size_of::<Header>() {
            return Err(Error::BufferTooSmall);
        }
        let header = NonNull::new(memory.cast::<Header>()).ok_or(Error::InvalidArgument)?;
        // SAFETY: aligned, long enough and readable; every bit pattern is a header, if perhaps a broken one.
        let image = unsafe { header.as_ref() };
        image.check()?;
        let needed = match image.kind {
            SINGLE_64 => {
                Histogram::<[AtomicU64], SingleWriter>::required_size(&image.layout, image.has_baseline())
            }
            SINGLE_32 => {
                Histogram::<[AtomicU32], SingleWriter>::required_size(&image.layout, image.has_baseline())
            }
            _ => return Err(Error::Corrupt),
        };
        if size < needed? {
            return Err(Error::BufferTooSmall);
        }
        Ok(SharedHistogram(header))
    }

    /// The pointer that stands for this reference, which is given up to it. See [`SharedHistogram::from_raw`].
    pub fn into_raw(self) -> NonNull<Header> {
        let header = self.0;
        core::mem::forget(self);
        header
    }

    /// The reference that a pointer stands for.
    ///
    /// # Safety
    /// `header` must come from [`SharedHistogram::into_raw`], once for each call, unless the result is kept from being
    /// dropped.
    pub unsafe fn from_raw(header: NonNull<Header>) -> SharedHistogram {
        SharedHistogram(header)
    }

    /// The rule that maps values to counters.
    pub fn layout(&self) -> &Layout {
        // SAFETY: a reference keeps the histogram alive, and its layout never changes.
        unsafe { &(*self.0.as_ptr()).layout }
    }

    /// Width of the cells, 32 or 64.
    pub fn counter_bits(&self) -> u32 {
        // SAFETY: as for `layout`.
        unsafe { (*self.0.as_ptr()).kind >> 16 }
    }

    /// The cells, for recording without a call into here; each is of [`SharedHistogram::counter_bits`].
    pub fn counters(&self) -> *const u8 {
        as_what_it_is!(self, histogram => histogram.counters().as_ptr().cast())
    }

    /// Counts one value.
    #[inline(always)]
    pub fn record(&self, value: u64) {
        as_what_it_is!(self, histogram => histogram.record(value));
    }

    /// Counts one value `count` times.
    pub fn record_n(&self, value: u64, count: u64) {
        as_what_it_is!(self, histogram => histogram.record_n(value, count));
    }

    /// Counts every value of a slice.
    pub fn record_batch(&self, values: &[u64]) {
        as_what_it_is!(self, histogram => histogram.record_batch(values));
    }

    /// See [`Record::record_corrected`].
    pub fn record_corrected(&self, value: u64, expected_interval: u64) {
        as_what_it_is!(self, histogram => histogram.record_corrected(value, expected_interval));
    }

    /// See [`Record::record_in_range`].
    pub fn record_in_range(&self, value: u64, min: u64, max: u64) -> Result<()> {
        as_what_it_is!(self, histogram => histogram.record_in_range(value, min, max))
    }

    /// See [`Record::add_snapshot`].
    pub fn add_snapshot(&self, other: &Snapshot) -> Merged {
        as_what_it_is!(self, histogram => histogram.add_snapshot(other))
    }

    /// See [`Histogram::reset`].
    pub fn reset(&self) -> Result<()> {
        as_what_it_is!(self, histogram => histogram.reset())
    }

    /// Bytes of memory in use.
    pub fn footprint(&self) -> usize {
        let prefix = if self.is_counted() { PREFIX } else { 0 };
        prefix + as_what_it_is!(self, histogram => histogram.footprint())
    }

    /// Takes the counts of this histogram into a snapshot. See [`Snapshot::update`].
    pub fn update(&self, snapshot: &mut Snapshot, since: Since) -> Result<()> {
        as_what_it_is!(self, histogram => snapshot.update(histogram, since))
    }

    fn is_counted(&self) -> bool {
        // SAFETY: as for `layout`.
        unsafe { !(*self.0.as_ptr()).is_in_callers_memory() }
    }

    fn prefix(&self) -> NonNull<Prefix> {
        // SAFETY: counted histograms have one; callers checked that this is one.
        unsafe { self.0.cast::<u8>().sub(PREFIX).cast() }
    }
}

impl Clone for SharedHistogram {
    fn clone(&self) -> Self {
        if self.is_counted() {
            // SAFETY: counted. Relaxed, since whoever clones has a reference already.
            unsafe { self.prefix().as_ref() }.references.fetch_add(1, Ordering::Relaxed);
        }
        SharedHistogram(self.0)
    }
}

impl Drop for SharedHistogram {
    fn drop(&mut self) {
        if !self.is_counted() {
            return;
        }
        let prefix = self.prefix();
        // SAFETY: counted, and alive until the count is zero.
        let (references, size) = unsafe { (&prefix.as_ref().references, prefix.as_ref().size) };
        if references.fetch_sub(1, Ordering::Release) == 1 {
            // What the other holders did happens before the memory goes.
            fence(Ordering::Acquire);
            #[cfg(feature = "alloc")]
            // SAFETY: the last reference is gone, and the block was allocated with this size and alignment.
            unsafe {
                crate::memory::free(prefix.cast(), size, align_of::<Prefix>());
            }
            let _ = size;
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

/// What options come to.
struct Plan {
    layout: Layout,
    kind: u32,
    live_reset: bool,
    size: usize,
}

impl Plan {
    fn new(options: &Options) -> Result<Plan> {
        let layout = options.layout()?;
        let bits = options.resolved_counter_bits()?;
        let live_reset = !options.no_live_reset;
        let kind = kind(options.mode, options.storage, bits);
        let size = match kind {
            SINGLE_64 => Histogram::<[AtomicU64], SingleWriter>::required_size(&layout, live_reset)?,
            SINGLE_32 => Histogram::<[AtomicU32], SingleWriter>::required_size(&layout, live_reset)?,
            _ => return Err(Error::Unsupported),
        };
        Ok(Plan { layout, kind, live_reset, size })
    }
}
