//! The right to record into a histogram, held by one thread at a time.

use core::ffi::c_void;
use core::ptr::{self, NonNull};

use crate::cells::cell::{Counter, Place};
use crate::cells::header::Header;
use crate::error::Result;
use crate::handle::shared::SharedHistogram;
use crate::handle::single_writer::sealed::{Inside, Sealed};
use crate::handle::single_writer::{Claim, Handle, SingleWriterHistogram};
use crate::histograms::dense::single_writer::{directly, record_in_all_ways};
use crate::platform::atomics::{AtomicU32, AtomicU64};
use crate::snapshot::merge::Merged;
use crate::snapshot::snapshot::Snapshot;

/// Records into a thread-local or single-writer histogram, by one thread at a time. It keeps the histogram alive. You
/// can send it to another thread, not clone it. For a thread-local histogram it owns a shard until it is dropped, even
/// if threads end. A single-writer histogram has only one.
///
/// [`Recorder::record`] adds to a cell directly; the other methods go through the histogram.
///
/// Code that records without [`Recorder::record`] (a binding, inlined C) must do the same. With
/// `index = layout.storage_index(value)`, if `index <` [`Recorder::length`], it adds one to the cell by a relaxed load
/// and store. For other indices, and a 32-bit cell that is all ones, it calls [`SharedHistogram::record`] instead.
#[derive(Debug)]
pub struct Recorder<H: Handle = SharedHistogram> {
    /// Single-writer mode, if types ensure one recorder: proof that this is the one. This is the first field, so that
    /// it is dropped while the histogram exists.
    #[allow(dead_code, reason = "it is for being dropped")]
    claim: Option<Claim>,
    histogram: H,
    counters: NonNull<u8>,
    length: u64,
    /// Returned to the histogram when the recorder is dropped; NULL in single-writer mode.
    owner: *mut c_void,
}

// SAFETY: the cells are atomic and alive as long as the histogram, which is counted; the owner is returned once.
unsafe impl<H: Handle + Send> Send for Recorder<H> {}

impl<H: Handle> Recorder<H> {
    record_in_all_ways!([mut] self, directly(*self.unguarded()), inline);

    /// Returns how many cells can be used without a call: [`crate::Layout::length`], or 0 if the layout has a unit or
    /// the histogram has no cells to lend.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Returns the cells, [`Recorder::length`] of [`SharedHistogram::counter_bits`] each.
    pub fn counters(&self) -> NonNull<u8> {
        self.counters
    }

    /// Counts one value.
    #[inline]
    pub fn record(&mut self, value: u64) {
        let histogram = self.unguarded();
        let index = histogram.layout().recording_index(value);
        if index < self.length {
            if histogram.counter_bits() == 64 {
                self.count::<AtomicU64>(index as usize);
            } else if self.count::<AtomicU32>(index as usize) != 0 {
                histogram.add_wrap();
            }
            return;
        }
        histogram.record(value);
    }

    /// Returns the histogram, for reading and resetting.
    pub fn histogram(&self) -> &H {
        &self.histogram
    }

    #[inline(always)]
    fn unguarded(&self) -> &SharedHistogram {
        self.histogram.unguarded(Inside(()))
    }

    /// Adds to a cell of this type, at a valid index.
    #[inline(always)]
    fn count<C: Counter>(&self, index: usize) -> u64 {
        // SAFETY: the cells live as long as the histogram, and `record` has checked the index.
        C::count_alone::<false>(unsafe { Place::new(self.counters.cast::<C>().as_ptr(), index) })
    }
}

impl Recorder<SingleWriterHistogram> {
    /// Returns a recorder. If the histogram has no cells to lend, it records through the histogram.
    pub(crate) fn for_single_writer(histogram: &SingleWriterHistogram, claim: Option<Claim>) -> Self {
        let shared = histogram.unguarded(Inside(()));
        // One writer has no shard, so nothing owns its cells.
        let (counters, length) = match shared.lend_cells() {
            Ok((counters, _)) => (counters, direct_length(shared)),
            Err(_) => (NonNull::dangling(), 0),
        };
        Recorder { claim, histogram: histogram.clone(), counters, length, owner: ptr::null_mut() }
    }
}

impl Recorder {
    pub(crate) fn new(histogram: &SharedHistogram) -> Result<Recorder> {
        let (counters, owner) = histogram.lend_cells()?;
        let length = direct_length(histogram);
        Ok(Recorder { claim: None, histogram: histogram.clone(), counters, length, owner })
    }

    /// Converts this recorder to its parts, the histogram and the owner, which then own it.
    pub fn into_raw(self) -> (NonNull<Header>, *mut c_void) {
        let parts = (self.histogram.as_raw(), self.owner);
        core::mem::forget(self);
        parts
    }

    /// Rebuilds a recorder from its parts.
    ///
    /// # Safety
    /// The parts must come from [`Recorder::into_raw`], once for each call. As for [`SharedHistogram::create_unguarded`],
    /// if the histogram was made so.
    pub unsafe fn from_raw(histogram: NonNull<Header>, owner: *mut c_void) -> Recorder {
        // SAFETY: the caller's promise; this takes back the reference that was given up.
        let histogram = unsafe { SharedHistogram::from_raw(histogram) };
        let counters = histogram.lent_cells(owner);
        let length = direct_length(&histogram);
        Recorder { claim: None, histogram, counters, length, owner }
    }
}

/// See [`Recorder::length`].
pub(crate) fn direct_length(histogram: &SharedHistogram) -> u64 {
    let layout = histogram.layout();
    if layout.unit() == 0 { layout.length() as u64 } else { 0 }
}

impl<H: Handle> Drop for Recorder<H> {
    fn drop(&mut self) {
        // SAFETY: it was taken with the recorder, and is not used any more.
        unsafe { self.unguarded().give_back(self.owner) };
    }
}
