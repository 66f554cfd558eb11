//! Many histograms of one layout in one block of memory: per endpoint, per core, per hour of the day.
//!
//! One allocation, and an index instead of a pointer for each. Every element begins on a cache line of its own and ends
//! before the next one's, so that the writers of two never share one. Each is a histogram like any other: it can be
//! recorded into, reset and read by itself, and a reference to it keeps the whole array alive.

use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ops::Deref;
use core::ptr::NonNull;

use crate::cells::header::Header;
use crate::error::{Error, Result};
use crate::handle::options::Options;
use crate::handle::prefix::{self, PREFIX, Prefix};
use crate::handle::shared::SharedHistogram;
use crate::handle::shared::{Plan, refuse_single_writer};
use crate::handle::single_writer::sealed::Inside;
use crate::handle::single_writer::single_writer;
use crate::handle::single_writer::{Handle, SingleWriterHistogram};
use crate::platform::memory;

/// A counted reference to an array of histograms: cloning adds one, dropping takes one away, the last one, to the array
/// or to one of its histograms, frees all of it.
///
/// Of histograms that any number of threads record into ([`HistogramArray::create`]), or of [`SingleWriterHistogram`]s
/// ([`HistogramArray::create_single_writer`]), each with a writer of its own.
#[repr(transparent)]
pub struct HistogramArray<H: Handle = SharedHistogram>(NonNull<Prefix>, PhantomData<H>);

// SAFETY: all access to what is behind the pointer is through atomics, and the count of references is one too.
unsafe impl<H: Handle> Send for HistogramArray<H> {}
// SAFETY: as above.
unsafe impl<H: Handle> Sync for HistogramArray<H> {}

/// A histogram of an array, borrowed from it. To keep it, clone the [`SharedHistogram`] or [`SingleWriterHistogram`] that it
/// leads to.
pub struct Element<'a, H: Handle = SharedHistogram> {
    histogram: ManuallyDrop<H>,
    array: PhantomData<&'a HistogramArray<H>>,
}

impl<H: Handle> Deref for Element<'_, H> {
    type Target = H;

    #[inline(always)]
    fn deref(&self) -> &H {
        &self.histogram
    }
}

impl HistogramArray {
    /// An array of `length` empty histograms, each as [`SharedHistogram::create`] makes it of these options, whatever its
    /// storage, in any mode but [`crate::Mode::SingleWriter`]. A limit of memory is for each of them.
    ///
    /// [`Error::InvalidArgument`] also for a length of 0, [`Error::OutOfMemory`] also when no address space could hold it.
    pub fn create(options: &Options, length: usize) -> Result<HistogramArray> {
        refuse_single_writer(options.mode)?;
        // SAFETY: not of that mode.
        unsafe { Self::create_unguarded(options, length) }
    }

    /// As [`HistogramArray::create`], in any mode.
    ///
    /// # Safety
    /// As for [`SharedHistogram::create_unguarded`], for each histogram by itself.
    #[doc(hidden)]
    pub unsafe fn create_unguarded(options: &Options, length: usize) -> Result<HistogramArray> {
        Self::make(options, length)
    }
}

impl HistogramArray<SingleWriterHistogram> {
    /// As [`HistogramArray::create`], of histograms as [`SingleWriterHistogram::create`] makes them.
    pub fn create_single_writer(options: &Options, length: usize) -> Result<Self> {
        Self::make(&single_writer(options)?, length)
    }
}

impl<H: Handle> HistogramArray<H> {
    /// Of handles that fit the mode.
    fn make(options: &Options, length: usize) -> Result<Self> {
        let plan = Plan::new(options)?;
        if length == 0 {
            return Err(Error::InvalidArgument);
        }
        // Both are far below the largest `usize`.
        let stride = (PREFIX + plan.size()).next_multiple_of(align_of::<Prefix>());
        let size = stride.checked_mul(length).and_then(|size| size.checked_add(PREFIX));
        let size = size.filter(|&size| size <= isize::MAX as usize).ok_or(Error::OutOfMemory)?;
        let block = memory::allocate_zeroed(size, align_of::<Prefix>())?.cast::<Prefix>();
        // SAFETY: the block has room for its prefix and for `length` strides, each with room for the prefix of an element
        // and its histogram, whose cells are zero already.
        unsafe {
            block.write(Prefix::array(size, length, stride));
            for index in 0..length {
                let header = Prefix::header_of(block, index);
                let own = header.byte_sub(PREFIX).cast::<Prefix>();
                own.write(Prefix::element(PREFIX + index * stride));
                if let Err(error) = plan.make(header, Header::placed_in_array) {
                    prefix::free(block, index);
                    return Err(error);
                }
            }
        }
        Ok(HistogramArray(block, PhantomData))
    }

    /// The pointer that stands for this reference, which is given up to it. See [`HistogramArray::from_raw`].
    pub fn into_raw(self) -> NonNull<u8> {
        let block = self.0.cast();
        core::mem::forget(self);
        block
    }

    /// The reference that a pointer stands for.
    ///
    /// # Safety
    /// `raw` must come from [`HistogramArray::into_raw`] of an array of the same handles, once for each call, unless the
    /// result is kept from being dropped.
    #[inline(always)]
    pub unsafe fn from_raw(raw: NonNull<u8>) -> Self {
        HistogramArray(raw.cast(), PhantomData)
    }

    /// How many histograms there are, at least one.
    #[inline(always)]
    #[allow(clippy::len_without_is_empty, reason = "it never is")]
    pub fn len(&self) -> usize {
        // SAFETY: a reference keeps the array alive.
        unsafe { self.0.as_ref() }.length()
    }

    /// A histogram by its index; `None` where there is none. A comparison and a multiplication.
    #[inline(always)]
    pub fn get(&self, index: usize) -> Option<Element<'_, H>> {
        if index >= self.len() {
            return None;
        }
        // SAFETY: there is such an element; it lives as long as the array, which is borrowed, and is never dropped.
        let histogram = unsafe { SharedHistogram::from_raw(Prefix::header_of(self.0, index)) };
        let histogram = H::from_shared(histogram, Inside(()));
        Some(Element { histogram: ManuallyDrop::new(histogram), array: PhantomData })
    }

    /// All histograms, in the order of their indices.
    pub fn iter(&self) -> impl Iterator<Item = Element<'_, H>> {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// Bytes of memory in use now.
    pub fn footprint(&self) -> usize {
        PREFIX + self.iter().map(|histogram| histogram.unguarded(Inside(())).footprint()).sum::<usize>()
    }
}

impl<H: Handle> Clone for HistogramArray<H> {
    fn clone(&self) -> Self {
        // SAFETY: a reference keeps the array alive.
        unsafe { self.0.as_ref() }.retain();
        HistogramArray(self.0, PhantomData)
    }
}

impl<H: Handle> Drop for HistogramArray<H> {
    fn drop(&mut self) {
        // SAFETY: our reference, which is given up.
        unsafe { Prefix::release(self.0) };
    }
}

impl<H: Handle> core::fmt::Debug for HistogramArray<H> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let first = self.get(0);
        let first = first.as_deref().map(|histogram| histogram.unguarded(Inside(())));
        f.debug_struct("HistogramArray")
            .field("length", &self.len())
            .field("first", &first)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::cells::kind::Mode;
    use crate::cells::kind::Storage;
    use crate::handle::dispatch::is_offered;
    use crate::snapshot::snapshot::{Since, Snapshot};
    use std::boxed::Box;
    use std::vec::Vec;

    fn options(mode: Mode, storage: Storage) -> Options {
        Options { mode, storage, relative_error: 0.05, max_trackable: 1000, ..Options::default() }
    }

    fn total(histogram: &SharedHistogram) -> (u64, Box<Snapshot>) {
        let mut snapshot = Snapshot::boxed(*histogram.layout()).unwrap();
        histogram.update(&mut snapshot, Since::Reset).unwrap();
        (snapshot.counts().total, snapshot)
    }

    /// One thread records in all of these tests.
    fn create(options: &Options, length: usize) -> HistogramArray {
        // SAFETY: as just said.
        unsafe { HistogramArray::create_unguarded(options, length) }.unwrap()
    }

    /// Every kind there is.
    fn kinds() -> impl Iterator<Item = (Mode, Storage, u32)> {
        let with_both = |&mode: &Mode| Storage::ALL.iter().map(move |&storage| (mode, storage));
        let in_both = |(mode, storage)| [32, 64].map(|bits| (mode, storage, bits));
        let kinds = Mode::ALL.iter().flat_map(with_both).flat_map(in_both);
        kinds.filter(|&(mode, storage, bits)| is_offered(mode, storage, bits))
    }

    #[test]
    fn every_element_is_a_histogram_of_its_own() {
        assert!(kinds().count() >= 13);
        for (mode, storage, counter_bits) in kinds() {
            let options = Options { counter_bits, ..options(mode, storage) };
            let array = create(&options, 7);
            assert!(array.get(7).is_none() && array.get(usize::MAX).is_none());
            for (index, histogram) in array.iter().enumerate() {
                histogram.record_n(index as u64 * 100, index as u64 + 1);
                histogram.record(5000);
            }
            array.get(3).unwrap().reset().unwrap();
            for (index, histogram) in array.iter().enumerate() {
                let (counted, snapshot) = total(&histogram);
                let expected = if index == 3 { 0 } else { index as u64 + 1 };
                assert_eq!(counted, expected, "{mode:?} {storage:?}");
                assert_eq!(snapshot.counts().overflow, u64::from(index != 3));
                if index != 3 {
                    let bucket = snapshot.bucket_of(index as u64 * 100).unwrap();
                    assert_eq!(bucket.count, index as u64 + 1);
                }
            }
        }
    }

    #[test]
    fn each_of_single_writers_has_its_writer() {
        let array =
            HistogramArray::create_single_writer(&options(Mode::default(), Storage::Dense), 3).unwrap();
        let mut writers: Vec<_> = array.iter().map(|histogram| histogram.writer().unwrap()).collect();
        assert_eq!(array.get(1).unwrap().writer().err(), Some(Error::Busy));
        drop(array);
        std::thread::scope(|scope| {
            writers.iter_mut().for_each(|writer| {
                scope.spawn(|| (0..1000).for_each(|value| writer.record(value)));
            });
        });
        for writer in writers {
            let mut snapshot = Snapshot::boxed(*writer.histogram().layout()).unwrap();
            writer.histogram().update(&mut snapshot, Since::Reset).unwrap();
            assert_eq!(snapshot.counts().total, 1000);
        }
    }

    #[test]
    fn a_histogram_keeps_its_array_alive() {
        for (mode, storage, counter_bits) in kinds() {
            let array = create(&Options { counter_bits, ..options(mode, storage) }, 3);
            let kept: Vec<SharedHistogram> = array.iter().map(|histogram| histogram.clone()).collect();
            let again = array.clone();
            drop(array);
            drop(again);
            kept[2].record(7);
            let last = kept[2].clone();
            drop(kept);
            last.record(8);
            assert_eq!(total(&last).0, 2);
        }
    }

    #[test]
    fn no_two_share_a_cache_line() {
        let array = HistogramArray::create(&options(Mode::Interlocked, Storage::Dense), 4).unwrap();
        let single = SharedHistogram::create(&options(Mode::Interlocked, Storage::Dense)).unwrap();
        let starts: Vec<usize> =
            array.iter().map(|histogram| histogram.clone().into_raw().as_ptr().addr()).collect();
        for pair in starts.windows(2) {
            assert!(pair[0].is_multiple_of(64) && pair[1] - pair[0] >= single.footprint(), "{starts:?}");
        }
        // The references that were turned into pointers above are given back.
        for &start in &starts {
            let header = NonNull::new(core::ptr::with_exposed_provenance_mut(start)).unwrap();
            // SAFETY: from `into_raw`, once each.
            drop(unsafe { SharedHistogram::from_raw(header) });
        }
        assert_eq!(array.footprint(), PREFIX + 4 * single.footprint());
    }

    #[test]
    fn snapshots_tell_elements_apart() {
        let array = create(&options(Mode::SingleWriter, Storage::Dense), 2);
        let (first, second) = (array.get(0).unwrap(), array.get(1).unwrap());
        first.record(1);
        let (_, mut snapshot) = total(&first);
        second.record_n(1, 5);
        // Not a delta to what another histogram had.
        second.update(&mut snapshot, Since::PreviousUpdate).unwrap();
        assert_eq!(snapshot.counts().total, 5);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let good = options(Mode::Interlocked, Storage::Dense);
        let error = |options: &Options, length| HistogramArray::create(options, length).err();
        assert_eq!(error(&good, 0), Some(Error::InvalidArgument));
        let single = options(Mode::SingleWriter, Storage::Dense);
        assert_eq!(error(&single, 2), Some(Error::InvalidArgument), "has a constructor of its own");
        let local = options(Mode::ThreadLocal, Storage::Dense);
        let refused = HistogramArray::create_single_writer(&local, 2).err();
        assert_eq!(refused, Some(Error::InvalidArgument));
        assert_eq!(error(&good, usize::MAX), Some(Error::OutOfMemory));
        // What an address space of 32 bits can hold at most may be there.
        #[cfg(target_pointer_width = "64")]
        assert_eq!(error(&good, isize::MAX as usize / 3000), Some(Error::OutOfMemory));
        assert_eq!(error(&options(Mode::Scalable, Storage::Sparse), 2), Some(Error::Unsupported));
        let limited = Options { max_bytes: 300, ..options(Mode::Interlocked, Storage::Sparse) };
        assert_eq!(error(&limited, 2), Some(Error::InvalidArgument));
    }
}
