//! The operations that a kind of histogram must offer, so that [`crate::SharedHistogram`] can hold it.
//!
//! Methods with a default here are the same for most kinds. Each kind must define the others, and the compiler lists
//! the missing ones. The layout, the identity and the tallies come from the header: see [`Record`] and [`Source`].

use core::ffi::c_void;
use core::ptr::NonNull;

use crate::cells::header::Header;
use crate::cells::kind::Kind;
use crate::error::{Error, Result};
use crate::histograms::record::Record;
use crate::layout::layout::Layout;
use crate::snapshot::source::Source;

/// A histogram whose kind is known only at run time, behind a thin pointer to the [`Header`] that it begins with.
///
/// Methods are not called through a table: [`crate::handle::dispatch`] compares the kind and calls them by type.
/// `record` must be inlined there.
// Without an allocator there are no handles, so only part of it is called.
#[cfg_attr(not(feature = "alloc"), allow(dead_code))]
pub(crate) trait Body: Record + Source {
    /// The kind in its header. No other type has it.
    const KIND: Kind;

    /// Returns the bytes of an empty histogram on the heap, without a prefix. Fails with [`Error::OutOfMemory`] if no
    /// address space could hold it.
    fn heap_size(layout: &Layout, live_reset: bool) -> Result<usize>;

    /// Makes an empty histogram from zeroed memory, which may grow to `max_bytes`. If it fails, the memory is freed
    /// without [`Body::dispose`].
    ///
    /// # Safety
    /// `base` must point to [`Body::heap_size`] zeroed bytes that do not move, aligned like the header, which must be
    /// of this kind.
    #[cfg(feature = "alloc")]
    unsafe fn initialise(base: NonNull<Header>, header: Header, max_bytes: usize) -> Result<()>;

    /// Returns the histogram that begins with a header, with the length from the header.
    ///
    /// # Safety
    /// `header` must be the initialized header of a histogram of this kind, with all its data after it.
    unsafe fn from_header(header: *const Header) -> *const Self;

    fn record(&self, value: u64);

    fn record_batch(&self, values: &[u64]);

    /// See [`crate::Histogram::reset`]. Mostly [`crate::histograms::baseline::move_to_present`].
    fn reset(&self) -> Result<()>;

    /// Returns the bytes of memory in use now, including its growth.
    fn footprint(&self) -> usize;

    /// Returns the step of its growth, and the largest number of steps. Default: no growth.
    fn growth(_: &Layout, _live_reset: bool) -> Result<(usize, usize)> {
        Ok((0, 0))
    }

    /// Cleans up before the memory is freed. Default: nothing.
    ///
    /// # Safety
    /// `header` must be that of an initialized histogram of this kind on the heap, without any other reference or
    /// recorder.
    #[cfg(feature = "alloc")]
    unsafe fn dispose(_header: NonNull<Header>) {}

    /// Returns the bytes of a histogram in the caller's memory, which processes may share. Default: it cannot live there.
    fn required_size(_: &Layout, _live_reset: bool) -> Result<usize> {
        Err(Error::Unsupported)
    }

    /// Returns cells for a recorder, which adds to them as their only writer, and their owner. Default, here and in the
    /// next two: it has no recorder.
    fn lend_cells(&self) -> Result<(NonNull<u8>, *mut c_void)> {
        Err(Error::Unsupported)
    }

    /// Returns the cells of a recorder, by their owner.
    fn lent_cells(&self, _owner: *mut c_void) -> NonNull<u8> {
        NonNull::dangling()
    }

    /// Takes back lent cells.
    ///
    /// # Safety
    /// `owner` must be that of a recorder that is not used any more.
    unsafe fn give_back(&self, _owner: *mut c_void) {}
}
