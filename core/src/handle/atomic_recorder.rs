//! Records by atomic additions, without a lookup.

use core::ptr::NonNull;

use crate::cells::cell::Counter;
use crate::cells::header::Header;
use crate::cells::kind::Kind;
use crate::error::{Error, Result};
use crate::handle::dispatch::{Atomic, Body};
use crate::handle::recorder::direct_length;
use crate::handle::shared::SharedHistogram;
use crate::platform::atomics::{AtomicU64, HAS_ATOMIC_64};

/// The cells of an interlocked histogram, for any number of threads. It borrows the histogram.
///
/// Code that records without [`AtomicRecorder::record`] (a binding, inlined C) must do the same. With
/// `index = layout.storage_index(value)`, if `index <` [`AtomicRecorder::length`], it adds one to the cell by one
/// relaxed atomic addition. For an index out of range it calls [`SharedHistogram::record`] instead.
#[derive(Clone, Copy, Debug)]
pub struct AtomicRecorder<'a> {
    histogram: &'a SharedHistogram,
    counters: NonNull<AtomicU64>,
    length: u64,
}

// SAFETY: the cells are atomic, and live as long as the histogram, which is borrowed.
unsafe impl Send for AtomicRecorder<'_> {}
// SAFETY: as above.
unsafe impl Sync for AtomicRecorder<'_> {}

impl SharedHistogram {
    /// Returns a direct handle for recording into an interlocked histogram with dense cells of 64 bits, for any number
    /// of threads. Fails with [`Error::Unsupported`] for other modes and storage, for 32-bit cells, whose wraps the
    /// library counts, and on targets without 64-bit atomics.
    pub fn atomic_recorder(&self) -> Result<AtomicRecorder<'_>> {
        if !HAS_ATOMIC_64 || self.kind().with_unit(0) != <Atomic<AtomicU64> as Body>::KIND {
            return Err(Error::Unsupported);
        }
        let counters = self.lent_cells(core::ptr::null_mut()).cast();
        Ok(AtomicRecorder { histogram: self, counters, length: direct_length(self) })
    }

    fn kind(&self) -> Kind {
        let header: *const Header = self.as_raw().as_ptr();
        // SAFETY: a reference keeps the histogram alive, and its kind never changes.
        unsafe { (*header).kind }
    }
}

impl AtomicRecorder<'_> {
    /// Returns how many cells can be used without a call: [`crate::Layout::length`], or 0 if the layout has a unit.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Returns the cells, of 64 bits each.
    pub fn counters(&self) -> NonNull<AtomicU64> {
        self.counters
    }

    /// Counts one value.
    #[inline]
    pub fn record(&self, value: u64) {
        let index = self.histogram.layout().recording_index(value);
        if index < self.length {
            // SAFETY: there are `length` cells, which live as long as the histogram.
            unsafe { self.counters.add(index as usize).as_ref() }.add_few_shared(1);
            return;
        }
        self.histogram.record(value);
    }
}

#[cfg(all(test, feature = "std", not(loom)))]
mod tests {
    use super::*;
    use crate::layouts::Storage;
    use crate::{Mode, Options};

    #[test]
    fn threads_add_to_the_same_cells() {
        let options =
            Options { min_trackable: 10, max_trackable: 5000, counter_bits: 64, ..Options::default() };
        let histogram = SharedHistogram::create(&options).unwrap();
        let lent = histogram.atomic_recorder();
        assert_eq!(lent.is_ok(), HAS_ATOMIC_64);
        let Ok(recorder) = lent else { return };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..20_000).for_each(|value| recorder.record(value % 6000)));
            }
        });
        let called = SharedHistogram::create(&options).unwrap();
        for _ in 0..4 {
            (0..20_000).for_each(|value| called.record(value % 6000));
        }
        let (inlined, called) = (histogram.snapshot().unwrap(), called.snapshot().unwrap());
        assert!(inlined.counts().underflow > 0 && inlined.counts().overflow > 0);
        assert_eq!(inlined.counts(), called.counts());
        assert!(inlined.buckets().eq(called.buckets()));
    }

    #[test]
    fn only_wide_interlocked_cells_are_lent() {
        let of = |options: &Options| SharedHistogram::create(options).unwrap().atomic_recorder().map(|_| ());
        let options = Options { max_trackable: 5000, counter_bits: 64, ..Options::default() };
        assert_eq!(of(&options), if HAS_ATOMIC_64 { Ok(()) } else { Err(Error::Unsupported) });
        assert_eq!(of(&Options { counter_bits: 32, ..options }), Err(Error::Unsupported));
        assert_eq!(of(&Options { storage: Storage::Sparse, ..options }), Err(Error::Unsupported));
        for mode in [Mode::ThreadLocal, Mode::PerCpu] {
            assert_eq!(of(&Options { mode, ..options }), Err(Error::Unsupported), "{mode:?}");
        }
    }
}
