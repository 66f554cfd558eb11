//! Many writers, little memory, approximate counts: a histogram whose cells are the counters of [`crate::approximate`].
//!
//! Since the step follows from what the cell holds, nothing is subtracted from cells: readers drain them with `swap(0)`
//! into 64-bit counts, under a lock of their own, and all reading is on those.

use core::marker::PhantomData;
use core::ptr;
#[cfg(feature = "alloc")]
use core::ptr::NonNull;

use crate::cells::cell::{Counter, Tallies, TallyCounts};
use crate::cells::header::{Headed, Header};
use crate::cells::kind::{Kind, Mode, Storage};
use crate::cells::write_mode::Interlocked;
use crate::error::{Error, Result};
use crate::histograms::approximate::{SCALABLE_THRESHOLD_BITS, add_approximately, add_in_steps};
use crate::histograms::baseline;
use crate::histograms::body::Body;
use crate::histograms::record::Record;
use crate::layout::layout::Layout;
use crate::platform::atomics::AtomicU64;
use crate::platform::atomics::Ordering::*;
use crate::platform::memory::size_with;
use crate::platform::seqlock::Version;
use crate::snapshot::source::Source;
use crate::threads::random;

/// A lock among readers that drain, on a cache line of its own.
#[repr(C, align(64))]
struct Drains {
    version: Version,
}

/// A scalable histogram: header, cells, and behind them a word for each cell of what was drained, and, with live reset,
/// one of the baseline.
#[repr(C)]
pub(crate) struct Scalable<C> {
    header: Header,
    drains: Drains,
    cells: PhantomData<C>,
    words: [AtomicU64],
}

impl<C: Counter> Scalable<C> {
    const CELLS: usize = size_of::<Header>() + size_of::<Drains>();

    /// Words that the cells take.
    const fn cell_words(layout: &Layout) -> usize {
        layout.length().div_ceil(size_of::<AtomicU64>() / size_of::<C>())
    }

    fn words(layout: &Layout, live_reset: bool) -> usize {
        Self::cell_words(layout) + (layout.length() << live_reset as u32)
    }

    fn counters(&self) -> &[C] {
        // SAFETY: so many cells were made of the first words, which are used for nothing else.
        unsafe { core::slice::from_raw_parts(self.words.as_ptr().cast::<C>(), self.header.layout.length()) }
    }

    fn drained(&self) -> &[AtomicU64] {
        let layout = &self.header.layout;
        &self.words[Self::cell_words(layout)..][..layout.length()]
    }

    fn baseline(&self) -> Option<&[AtomicU64]> {
        let layout = &self.header.layout;
        let words = &self.words[Self::cell_words(layout) + layout.length()..];
        if self.header.has_baseline() { Some(&words[..layout.length()]) } else { None }
    }

    #[inline(always)]
    fn add_at(&self, index: u64, count: u64) {
        if !self.header.layout.contains(index) {
            return crate::histograms::dense::add_out_of_range::<Interlocked>(&self.header, index, count);
        }
        // SAFETY: there are `layout.length()` cells at the beginning of the words.
        let cell = unsafe { &*self.words.as_ptr().cast::<C>().add(index as usize) };
        let seen = cell.load();
        let wraps = if seen >> SCALABLE_THRESHOLD_BITS == 0 {
            cell.add_shared(count)
        } else if let Some(random) = random::next_of_thread() {
            add_in_steps(cell, count, seen.ilog2() + 1 - SCALABLE_THRESHOLD_BITS, random)
        } else {
            // SAFETY: our own header, with all that is behind it.
            return unsafe { Self::add_cold(ptr::from_ref(self).cast(), index, count) };
        };
        if wraps != 0 {
            // SAFETY: as above.
            unsafe { Self::add_wraps(ptr::from_ref(self).cast(), index, wraps) };
        }
    }

    /// The first step of a thread. This and the next are what [`crate::sharded`]'s cold path is, and for the same reasons.
    ///
    /// # Safety
    /// As for [`Body::from_header`]; `index` must be in range.
    #[cold]
    #[inline(never)]
    unsafe extern "C" fn add_cold(header: *const Header, index: u64, count: u64) {
        // SAFETY: the caller's promise.
        let this = unsafe { &*Self::from_header(header) };
        let wraps = add_approximately(&this.counters()[index as usize], count, SCALABLE_THRESHOLD_BITS);
        if wraps != 0 {
            // SAFETY: passed on.
            unsafe { Self::add_wraps(header, index, wraps) };
        }
    }

    /// What a 32-bit cell cannot hold goes to what was drained, so that nothing is lost. What 64 bits cannot hold is.
    ///
    /// # Safety
    /// As for [`Scalable::add_cold`].
    #[cold]
    #[inline(never)]
    unsafe extern "C" fn add_wraps(header: *const Header, index: u64, wraps: u64) {
        // SAFETY: the caller's promise.
        let this = unsafe { &*Self::from_header(header) };
        let wraps = if C::BITS == 64 {
            wraps
        } else {
            let (drained, more) = (wraps << 32, wraps >> 32);
            this.drained()[index as usize].add_shared(drained) + more
        };
        this.header.tallies.add_wraps_beside(wraps, 64);
    }

    /// Brings all that cells hold into the 64-bit counts. One reader at a time, so that a reader finds everything there
    /// that another one has taken out of the cells.
    fn drain(&self) -> Result<()> {
        self.drains.version.change(|| {
            for (cell, drained) in self.counters().iter().zip(self.drained()) {
                if Counter::load(cell) != 0 {
                    self.header.tallies.add_wraps_beside(drained.add_shared(cell.take()), 64);
                }
            }
        })
    }
}

impl<C: Counter> Body for Scalable<C> {
    const KIND: Kind = Kind::new(Mode::Scalable, Storage::Dense, C::BITS);

    fn heap_size(layout: &Layout, live_reset: bool) -> Result<usize> {
        size_with::<Header, AtomicU64>(Self::CELLS, Self::words(layout, live_reset))
    }

    #[cfg(feature = "alloc")]
    unsafe fn initialise(base: NonNull<Header>, header: Header, _max_bytes: usize) -> Result<()> {
        // SAFETY: room and alignment are the caller's promise; zeroed bytes are cells and words already.
        unsafe {
            base.write(header);
            base.add(1).cast::<Drains>().write(Drains { version: Version::new() });
            #[cfg(loom)]
            {
                let this = &*Self::from_header(base.as_ptr());
                let words = this.words.as_ptr().cast_mut();
                for index in 0..this.header.layout.length() {
                    words.cast::<C>().add(index).write(C::zero());
                }
                for index in Self::cell_words(&this.header.layout)..this.words.len() {
                    words.add(index).write(AtomicU64::new(0));
                }
            }
        }
        Ok(())
    }

    #[inline(always)]
    unsafe fn from_header(header: *const Header) -> *const Self {
        // SAFETY: readable, as the caller promises.
        let words = unsafe { Self::words(&(*header).layout, (*header).has_baseline()) };
        ptr::slice_from_raw_parts(header.cast::<u8>(), words) as *const Self
    }

    #[inline(always)]
    fn record(&self, value: u64) {
        self.record_n(value, 1);
    }

    fn record_batch(&self, values: &[u64]) {
        crate::layout::indices::for_each_index(&self.header.layout, values, |index, _, count| {
            self.add_at(index, count);
        });
    }

    fn reset(&self) -> Result<()> {
        let baseline = self.baseline().ok_or(Error::Unsupported)?;
        self.drain()?;
        baseline::move_to_present(self, core::iter::once((0, baseline)))
    }

    fn footprint(&self) -> usize {
        size_of_val(self)
    }
}

impl<C: Counter> Headed for Scalable<C> {
    #[inline(always)]
    fn header(&self) -> &Header {
        &self.header
    }
}

impl<C: Counter> Record for Scalable<C> {
    #[inline(always)]
    fn record_n(&self, value: u64, count: u64) {
        self.add_at(self.header.layout.recording_index(value), count);
    }

    /// What is read has 64 bits, whatever the cells have.
    fn tallies(&self) -> (&Tallies, u32) {
        (&self.header.tallies, Self::COUNTER_BITS)
    }
}

impl<C: Counter> Source for Scalable<C> {
    // Of what readers read.
    const COUNTER_BITS: u32 = 64;
    const APPROXIMATE: bool = true;

    fn prepare(&self) -> Result<()> {
        self.drain()
    }

    fn copy_counts(&self, start: usize, out: &mut [u64]) -> u64 {
        for (out, drained) in out.iter_mut().zip(&self.drained()[start..]) {
            *out = drained.load(Relaxed);
        }
        0
    }

    fn copy_baseline(&self, out: &mut [u64], tallies: &mut TallyCounts) -> Result<u32> {
        self.header.copy_baseline(self.baseline(), out, tallies)
    }
}
