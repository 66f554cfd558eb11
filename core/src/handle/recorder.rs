//! Records without a lookup.

use core::ffi::c_void;
use core::ptr::NonNull;

use crate::cells::cell::Counter;
use crate::cells::cell::Place;
use crate::cells::header::Header;
use crate::error::Result;
use crate::handle::shared::SharedHistogram;
use crate::handle::single_writer::Claim;
use crate::platform::atomics::{AtomicU32, AtomicU64};

/// A direct handle for recording into a thread-local or single-writer histogram, by one thread at a time. It keeps the
/// histogram alive. For a thread-local histogram it owns a shard until it is dropped, even if threads end. For a
/// single-writer histogram it is the writer.
///
/// Code that records without [`Recorder::record`] (a binding, inlined C) must do the same. With
/// `index = layout.storage_index(value)`, if `index <` [`Recorder::length`], it adds one to the cell by a relaxed load
/// and store. For other indices, and a 32-bit cell that is all ones, it calls [`SharedHistogram::record`] instead.
#[derive(Debug)]
pub struct Recorder {
    /// Single-writer mode, if types ensure one writer: proof that this is the writer. This is the first field, so that
    /// it is dropped while the histogram exists.
    #[allow(dead_code, reason = "it is for being dropped")]
    claim: Option<Claim>,
    histogram: SharedHistogram,
    counters: NonNull<u8>,
    length: u64,
    /// Returned to the histogram when the recorder is dropped; NULL in single-writer mode.
    owner: *mut c_void,
}

// SAFETY: the cells are atomic and alive as long as the histogram, which is counted; the owner is returned once.
unsafe impl Send for Recorder {}

impl Recorder {
    /// # Safety
    /// As for [`SharedHistogram::create_unguarded`], for a single-writer histogram without a claim here.
    pub(crate) unsafe fn of(histogram: &SharedHistogram, claim: Option<Claim>) -> Result<Recorder> {
        let (counters, owner) = histogram.lend_cells()?;
        Ok(Recorder { claim, histogram: histogram.clone(), counters, length: length_of(histogram), owner })
    }

    /// Returns how many cells can be used without a call: [`crate::Layout::length`], or 0 if the layout has a unit.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Returns the cells: [`crate::Layout::length`] cells of [`SharedHistogram::counter_bits`] each.
    pub fn counters(&self) -> NonNull<u8> {
        self.counters
    }

    /// Counts one value.
    #[inline]
    pub fn record(&mut self, value: u64) {
        let layout = self.histogram.layout();
        let index = layout.recording_index(value);
        if index < self.length {
            if self.histogram.counter_bits() == 64 {
                self.count::<AtomicU64>(index as usize);
            } else if self.count::<AtomicU32>(index as usize) != 0 {
                self.histogram.add_wrap();
            }
            return;
        }
        self.histogram.record(value);
    }

    /// Adds to a cell of this type, at a valid index.
    #[inline(always)]
    fn count<C: Counter>(&self, index: usize) -> u64 {
        // SAFETY: the cells live as long as the histogram, and `record` has checked the index.
        C::count_alone::<false>(unsafe { Place::new(self.counters.cast::<C>().as_ptr(), index) })
    }

    /// Converts this recorder to its parts, the histogram and the owner, which then own it. A single-writer histogram
    /// cannot get another writer.
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
        let counters = histogram.counters_of(owner);
        let length = length_of(&histogram);
        Recorder { claim: None, histogram, counters, length, owner }
    }
}

/// See [`Recorder::length`].
pub(crate) fn length_of(histogram: &SharedHistogram) -> u64 {
    let layout = histogram.layout();
    if layout.unit() == 0 { layout.length() as u64 } else { 0 }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        // SAFETY: it was taken with the recorder, and is not used any more.
        unsafe { self.histogram.give_back(self.owner) };
    }
}
