//! What a way to write has to offer, so that [`crate::SharedHistogram`] can hold it.
//!
//! What has a default here is what most share; what has none each way decides for itself, and the compiler lists what one
//! lacks. The layout, the identity and the tallies follow from the header: see [`Record`] and [`Source`].

use core::ffi::c_void;
use core::ptr::NonNull;

use crate::cells::header::Header;
use crate::cells::kind::Kind;
use crate::error::{Error, Result};
use crate::histograms::record::Record;
use crate::layout::layout::Layout;
use crate::snapshot::source::Source;

/// A histogram whose kind is known at run time only, behind a thin pointer to the [`Header`] that it begins with.
///
/// Methods are not called through a table: [`crate::handle::dispatch`] compares the kind and calls them by type. `record`
/// is to be inlined there.
// Without an allocator there are no handles, so only some of it is called.
#[cfg_attr(not(feature = "alloc"), allow(dead_code))]
pub(crate) trait Body: Record + Source {
    /// What its header says. No other type has it.
    const KIND: Kind;

    /// Bytes of an empty histogram on the heap, without a prefix. [`Error::OutOfMemory`] when no address space could hold
    /// it.
    fn heap_size(layout: &Layout, live_reset: bool) -> Result<usize>;

    /// Makes an empty histogram of zeroed memory, which may come to take `max_bytes`. When it fails, the memory is freed
    /// without [`Body::dispose`].
    ///
    /// # Safety
    /// `base` must lead to [`Body::heap_size`] zeroed bytes that stay where they are, aligned like the header, which must be
    /// of this kind.
    #[cfg(feature = "alloc")]
    unsafe fn initialise(base: NonNull<Header>, header: Header, max_bytes: usize) -> Result<()>;

    /// The histogram that begins with a header, its length taken from there.
    ///
    /// # Safety
    /// `header` must be the initialised header of a histogram of this kind, with all that belongs behind it.
    unsafe fn from_header(header: *const Header) -> *const Self;

    fn record(&self, value: u64);

    fn record_batch(&self, values: &[u64]);

    /// See [`crate::Histogram::reset`]. Mostly [`crate::histograms::baseline::move_to_present`].
    fn reset(&self) -> Result<()>;

    /// Bytes of memory in use now, with all that it has grown by.
    fn footprint(&self) -> usize;

    /// What it grows by, and how often at most. Default: never.
    fn growth(_: &Layout, _live_reset: bool) -> Result<(usize, usize)> {
        Ok((0, 0))
    }

    /// What is to be done before the memory is freed. Default: nothing.
    ///
    /// # Safety
    /// `header` must be that of an initialised histogram of this kind on the heap, to which there is no other reference, nor
    /// any recorder.
    #[cfg(feature = "alloc")]
    unsafe fn dispose(_header: NonNull<Header>) {}

    /// Bytes of a histogram in the caller's memory, which processes may share. Default, here and in the next two: it cannot
    /// live there.
    fn required_size(_: &Layout, _live_reset: bool) -> Result<usize> {
        Err(Error::Unsupported)
    }

    /// Makes an empty histogram in the caller's memory, by this pointer alone.
    ///
    /// # Safety
    /// `memory` must be valid for writes of `size` bytes, which may be uninitialised and which nobody else uses.
    unsafe fn init_at(
        _memory: *mut u8,
        _size: usize,
        _: Layout,
        _live_reset: bool,
    ) -> Result<NonNull<Header>> {
        Err(Error::Unsupported)
    }

    /// Bytes that an image in the caller's memory takes, as its header says: of any version that is attached.
    fn size_of_image(_: &Header) -> Result<usize> {
        Err(Error::Corrupt)
    }

    /// Cells for a recorder, which adds to them as their only writer, and their owner. Default, here and in the next two: it
    /// has no recorder.
    fn lend_cells(&self) -> Result<(NonNull<u8>, *mut c_void)> {
        Err(Error::Unsupported)
    }

    /// The cells of a recorder, by their owner.
    fn lent_cells(&self, _owner: *mut c_void) -> NonNull<u8> {
        NonNull::dangling()
    }

    /// Takes back what was lent.
    ///
    /// # Safety
    /// `owner` must be that of a recorder which is not used any more.
    unsafe fn give_back(&self, _owner: *mut c_void) {}
}
