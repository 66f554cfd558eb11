//! Recording without looking anything up.

use core::ffi::c_void;
use core::ptr::NonNull;

use crate::cells::cell::Counter;
use crate::cells::header::Header;
use crate::cells::one_step::Place;
use crate::error::Result;
use crate::handle::shared::SharedHistogram;
use crate::handle::single_writer::Claim;
use crate::platform::atomics::{AtomicU32, AtomicU64};

/// A direct handle for recording into a thread-local or single-writer histogram, by one thread at a time. It keeps the
/// histogram alive. For a thread-local histogram it owns a shard until it is dropped, whatever happens to threads; for a
/// single-writer one it is the writer.
///
/// Whoever records by other means than [`Recorder::record`] (a binding, inlined C) does what that does: with
/// `index = layout.storage_index(value)`, if `index <` [`Recorder::length`], adds one to the cell by a relaxed load and store. For
/// an index out of range, and a 32-bit cell that is all ones, it calls [`SharedHistogram::record`] instead.
#[derive(Debug)]
pub struct Recorder {
    /// Single-writer mode, where types keep to one writer: that this is it. First, so that it is dropped while the
    /// histogram is there.
    #[allow(dead_code, reason = "it is for being dropped")]
    claim: Option<Claim>,
    histogram: SharedHistogram,
    counters: NonNull<u8>,
    length: u64,
    /// What goes back when the recorder does; NULL in single-writer mode.
    owner: *mut c_void,
}

// SAFETY: the cells are atomic and alive as long as the histogram, which is counted; the owner is given back once.
unsafe impl Send for Recorder {}

impl Recorder {
    /// # Safety
    /// As for [`SharedHistogram::create_unguarded`], of a single-writer histogram of which this has no claim.
    pub(crate) unsafe fn of(histogram: &SharedHistogram, claim: Option<Claim>) -> Result<Recorder> {
        let (counters, owner) = histogram.lend_cells()?;
        Ok(Recorder { claim, histogram: histogram.clone(), counters, length: length_of(histogram), owner })
    }

    /// How many cells values are counted in without a call: [`crate::Layout::length`], or none where the layout has a unit.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The cells, [`crate::Layout::length`] of [`SharedHistogram::counter_bits`] each.
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

    /// Adds to a cell of this type, at an index that there is.
    #[inline(always)]
    fn count<C: Counter>(&self, index: usize) -> u64 {
        // SAFETY: the cells live as long as the histogram, and `record` has looked.
        C::count_alone::<false>(unsafe { Place::new(self.counters.cast::<C>().as_ptr(), index) })
    }

    /// The parts that stand for this recorder, which is given up to them: the histogram and the owner. A single-writer
    /// histogram stays without another writer.
    pub fn into_raw(self) -> (NonNull<Header>, *mut c_void) {
        let parts = (self.histogram.as_raw(), self.owner);
        core::mem::forget(self);
        parts
    }

    /// The recorder that its parts stand for.
    ///
    /// # Safety
    /// The parts must come from [`Recorder::into_raw`], once for each call. As for [`SharedHistogram::create_unguarded`],
    /// if the histogram was made so.
    pub unsafe fn from_raw(histogram: NonNull<Header>, owner: *mut c_void) -> Recorder {
        // SAFETY: the caller's promise; the reference that was given up is taken up again.
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
        // SAFETY: taken with the recorder, and not used any more.
        unsafe { self.histogram.give_back(self.owner) };
    }
}
