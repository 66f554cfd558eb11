//! The memory of a dense histogram: its place, its size, and operations for handles.

use core::ffi::c_void;
use core::mem::{MaybeUninit, align_of, size_of};
use core::ptr::{self, NonNull};

use super::Histogram;
use crate::cells::cell::{Counter, ManyWriters, WriteMode};
use crate::cells::header::{Header, copies};
use crate::cells::kind::{Kind, Mode};
use crate::error::{Error, Result};
use crate::histograms::body::Body;
#[cfg(feature = "alloc")]
use crate::layout::bucket::ValueSelection;
use crate::layout::layout::Layout;
use crate::platform::atomics::HAS_ATOMIC_64;
use crate::platform::memory::size_with;
#[cfg(feature = "alloc")]
use crate::snapshot::snapshot::{Since, Snapshot};
#[cfg(feature = "alloc")]
use crate::statistics::summary::Summary;

/// Rejects units for histograms that are recorded into by type, because those do not shift.
fn check_unit(layout: &Layout) -> Result<()> {
    if layout.unit() == 0 { Ok(()) } else { Err(Error::InvalidArgument) }
}

/// Makes an empty dense histogram in the caller's memory, by this pointer alone: no reference to a part of the memory is
/// made between it and the returned one, which may be used as long as the pointer. `needed` is
/// [`Histogram::required_size`]. Fails as [`Histogram::init_in`].
///
/// # Safety
/// `memory` must be valid for writes of `size` bytes, which may be uninitialized and which nobody else uses.
pub(crate) unsafe fn init_at(
    memory: *mut u8,
    size: usize,
    needed: usize,
    header: Header,
) -> Result<NonNull<Header>> {
    let base = NonNull::new(memory).ok_or(Error::InvalidArgument)?;
    if !memory.addr().is_multiple_of(align_of::<Header>()) {
        return Err(Error::InvalidArgument);
    }
    if size < needed {
        return Err(Error::BufferTooSmall);
    }
    // SAFETY: the memory is valid and unused, as the caller promises, and aligned and long enough as just checked.
    // All-zero bytes are valid cells.
    unsafe {
        base.write_bytes(0, needed);
        base.cast::<Header>().write(header.placed_in_callers_memory());
    }
    Ok(base.cast())
}

impl<C: Counter, M: WriteMode> Histogram<[C], M> {
    /// The alignment of the memory passed to [`Histogram::init_in`].
    pub const ALIGNMENT: usize = align_of::<Header>();

    /// Returns the bytes of a histogram, wherever it is; a multiple of [`Histogram::ALIGNMENT`]: 256, and one cell for
    /// each counter, or three with live reset. Fails with [`Error::OutOfMemory`] if no address space could hold it.
    pub const fn required_size(layout: &Layout, live_reset: bool) -> Result<usize> {
        // A layout has fewer than 2^26 buckets.
        size_with::<Header, C>(size_of::<Header>(), layout.length().saturating_mul(copies(live_reset)))
    }

    /// Makes an empty histogram in memory that the caller owns. Fails with [`Error::InvalidArgument`] if it is not
    /// aligned to [`Histogram::ALIGNMENT`], and for a layout with a unit; with [`Error::BufferTooSmall`] if it has
    /// fewer than [`Histogram::required_size`] bytes.
    pub fn init_in(memory: &mut [MaybeUninit<u8>], layout: Layout, live_reset: bool) -> Result<&mut Self> {
        check_unit(&layout)?;
        let size = Self::required_size(&layout, live_reset)?;
        let header = Header::new(layout, Self::DENSE, live_reset);
        // SAFETY: the memory is ours for the borrow, and so is the histogram in it.
        unsafe {
            let base = init_at(memory.as_mut_ptr().cast(), memory.len(), size, header)?;
            Ok(&mut *Self::at_header(base.as_ptr()).cast_mut())
        }
    }

    /// Returns the counts since the last reset. See [`SharedHistogram::snapshot`](crate::SharedHistogram::snapshot).
    #[cfg(feature = "alloc")]
    pub fn snapshot(&self) -> Result<alloc::boxed::Box<Snapshot>> {
        let mut snapshot = Snapshot::boxed(*self.layout())?;
        snapshot.update(self, Since::Reset)?;
        Ok(snapshot)
    }

    /// Returns percentiles, mean and counts since the last reset. See
    /// [`SharedHistogram::summary`](crate::SharedHistogram::summary).
    #[cfg(feature = "alloc")]
    pub fn summary(&self) -> Result<Summary> {
        Ok(self.snapshot()?.summary(ValueSelection::Midpoint))
    }

    /// Makes an empty histogram on the heap. Returns [`Error::OutOfMemory`] instead of aborting if there is no room,
    /// and [`Error::InvalidArgument`] for a layout with a unit.
    #[cfg(feature = "alloc")]
    pub fn boxed(layout: Layout, live_reset: bool) -> Result<alloc::boxed::Box<Self>> {
        check_unit(&layout)?;
        let size = Self::required_size(&layout, live_reset)?;
        let base = crate::platform::memory::allocate_zeroed(size, Self::ALIGNMENT)?;
        let header = Header::new(layout, Self::DENSE, live_reset);
        // SAFETY: the block is ours, zeroed (valid cells), aligned, and has the size of a value of this length, which
        // the box will free.
        unsafe {
            base.cast::<Header>().write(header);
            Ok(alloc::boxed::Box::from_raw(Self::at_header(base.as_ptr().cast()).cast_mut()))
        }
    }
}

impl<C: Counter, M: ManyWriters> Body for Histogram<[C], M> {
    const KIND: Kind = Self::DENSE;

    fn heap_size(layout: &Layout, live_reset: bool) -> Result<usize> {
        Self::required_size(layout, live_reset)
    }

    #[cfg(feature = "alloc")]
    unsafe fn initialise(base: NonNull<Header>, header: Header, _max_bytes: usize) -> Result<()> {
        // SAFETY: the caller promises room and alignment.
        unsafe {
            base.write(header);
            #[cfg(loom)]
            for index in 0..base.as_ref().cells() {
                base.add(1).cast::<C>().add(index).write(C::zero());
            }
        }
        Ok(())
    }

    #[inline(always)]
    unsafe fn from_header(header: *const Header) -> *const Self {
        // SAFETY: passed on.
        unsafe { Self::at_header(header) }
    }

    #[inline(always)]
    fn record(&self, value: u64) {
        self.record(value);
    }

    fn record_batch(&self, values: &[u64]) {
        self.record_batch(values);
    }

    fn reset(&self) -> Result<()> {
        self.reset()
    }

    fn footprint(&self) -> usize {
        self.footprint()
    }

    fn required_size(layout: &Layout, live_reset: bool) -> Result<usize> {
        Self::required_size(layout, live_reset)
    }

    /// The only writer of a histogram owns nothing else. Several writers cannot use plain additions.
    fn lend_cells(&self) -> Result<(NonNull<u8>, *mut c_void)> {
        let one_step = C::BITS < 64 || HAS_ATOMIC_64;
        match M::MODE {
            Mode::SingleWriter if one_step => Ok((self.lent_cells(ptr::null_mut()), ptr::null_mut())),
            _ => Err(Error::Unsupported),
        }
    }

    fn lent_cells(&self, _: *mut c_void) -> NonNull<u8> {
        NonNull::from(self.counters()).cast()
    }
}
