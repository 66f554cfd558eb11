//! Many hot writers: each adds to the shard of its current CPU, in a restartable sequence.
//!
//! A shard belongs to its CPU as long as the histogram lives. So threads may come and go, outnumber the CPUs, record in
//! signal handlers and continue after a fork, without any registration. A CPU gets its shard on its first record, in
//! pages from the kernel, which can be allocated anywhere. If a sequence is not possible, an atomic add goes to the
//! shared counters: without sequences in the system or the thread, on a CPU beyond those that the system reported,
//! after an interruption, and without a shard or memory for it.
//!
//! Readers sum shards and shared counters; the baseline of a reset is such a sum.

use core::ptr::{self, NonNull};

use crate::cells::cell::{Counter, Interlocked};
use crate::cells::header::{Headed, Header, banks_behind, copies};
use crate::cells::kind::{Kind, Mode, Storage};
use crate::cells::tallies::TallyCounts;
use crate::error::{Error, Result};
use crate::histograms::baseline;
use crate::histograms::body::Body;
use crate::histograms::dense::add_out_of_range;
use crate::histograms::record::Record;
use crate::layout::layout::Layout;
use crate::platform::atomics::Ordering::*;
use crate::platform::atomics::{AtomicPtr, AtomicU64};
use crate::platform::memory::size_with;
use crate::platform::pages;
use crate::platform::rseq::{self, Added};
use crate::snapshot::source::Source;

/// A per-CPU histogram: the header, a pointer to the shard of each CPU, the shared counters, and, with live reset,
/// twice as many words for the baseline.
#[repr(C)]
pub(crate) struct PerCpu {
    header: Header,
    extent: Extent,
    words: [AtomicU64],
}

/// On a separate cache line, so that the words begin on one, or on a page if the header is placed for it: see
/// [`crate::histograms::per_cpu_image`].
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Extent {
    /// The number of pointers in the table.
    pub(super) cpus: usize,
    /// How many of them point to shards beside the histogram, in memory that processes share. 0: shards are mapped on
    /// first touch.
    pub(super) placed: usize,
    /// Explicit, so that no padding byte copies stack content into memory that processes share.
    zero: [usize; ZERO_WORDS],
}

const ZERO_WORDS: usize = 64 / size_of::<usize>() - 2;

impl Extent {
    pub(super) const fn new(cpus: usize, placed: usize) -> Extent {
        Extent { cpus, placed, zero: [0; ZERO_WORDS] }
    }
}

/// The part of it before the words.
#[repr(C)]
pub(super) struct Fixed {
    pub(super) header: Header,
    pub(super) extent: Extent,
}

impl PerCpu {
    const WORDS: usize = size_of::<Fixed>();

    /// Returns the words that the pointers take.
    const fn table_words(cpus: usize) -> usize {
        (cpus * size_of::<AtomicPtr<AtomicU64>>()).div_ceil(size_of::<AtomicU64>())
    }

    const fn words(layout: &Layout, live_reset: bool, cpus: usize) -> usize {
        Self::table_words(cpus) + layout.length() * copies(live_reset)
    }

    /// Returns the bytes of a shard: whole pages, so that no two shards share a cache line.
    pub(super) fn shard_size(layout: &Layout) -> Result<usize> {
        Ok(size_with::<u8, AtomicU64>(0, layout.length())?.next_multiple_of(pages::PAGE))
    }

    #[inline(always)]
    fn table(&self) -> &rseq::Table {
        // SAFETY: the first words were made as this many pointers, and are used for nothing else.
        unsafe { core::slice::from_raw_parts(self.words.as_ptr().cast(), self.extent.cpus) }
    }

    /// Returns the shared counters.
    fn shared(&self) -> &[AtomicU64] {
        &self.words[Self::table_words(self.extent.cpus)..][..self.header.layout.length()]
    }

    fn banks(&self) -> Option<[&[AtomicU64]; 2]> {
        banks_behind(&self.words[Self::table_words(self.extent.cpus)..], self.header.layout.length())
    }

    fn shards(&self) -> impl Iterator<Item = &[AtomicU64]> {
        let length = self.header.layout.length();
        // Acquire, paired with `touch`: whoever finds the shard finds it zeroed.
        self.table().iter().filter_map(|shard| NonNull::new(shard.load(Acquire))).map(move |shard| {
            // SAFETY: a shard has this many cells, and lives as long as the histogram.
            unsafe { core::slice::from_raw_parts(shard.as_ptr(), length) }
        })
    }

    /// Creates the shard of the current CPU, if it has none. Two threads may run this at once, even on the same CPU:
    /// only one shard stays.
    fn touch(&self) {
        let Some(entry) = rseq::cpu().and_then(|cpu| self.table().get(cpu)) else { return };
        // A histogram that processes share already has all its shards.
        if !entry.load(Relaxed).is_null() || self.extent.placed != 0 {
            return;
        }
        let Ok(size) = Self::shard_size(&self.header.layout) else { return };
        let Some(block) = pages::map(size) else { return };
        let shard = block.cast::<AtomicU64>();
        #[cfg(loom)]
        for index in 0..self.header.layout.length() {
            // SAFETY: this is inside the block, which is ours.
            unsafe { shard.add(index).write(AtomicU64::new(0)) };
        }
        if entry.compare_exchange(ptr::null_mut(), shard.as_ptr(), Release, Relaxed).is_err() {
            // SAFETY: the block was mapped above and never published.
            unsafe { pages::unmap(block, size) };
        }
    }

    /// Records a value that the CPU's shard did not take: see the head of this file.
    ///
    /// It has the ABI of C and a thin pointer, for the same reasons as the cold path of a thread-local histogram.
    ///
    /// # Safety
    /// As for [`Body::from_header`].
    #[cold]
    #[inline(never)]
    unsafe extern "C" fn record_cold(header: *const Header, value: u64, count: u64) {
        // SAFETY: the caller's promise.
        let this = unsafe { &*Self::from_header(header) };
        let index = this.header.layout.recording_index(value);
        if !this.header.layout.contains(index) {
            return add_out_of_range::<Interlocked>(&this.header, index, count);
        }
        this.touch();
        this.header.tallies.add_wraps_if_any(this.shared()[index as usize].add_shared(count));
    }

    /// Counts one value whose logical index is known.
    #[inline(always)]
    pub(crate) fn count_at(&self, logical_index: u64, value: u64) {
        let index = self.header.layout.stored_at(logical_index);
        // SAFETY: shards have `layout.length()` cells.
        if !(self.header.layout.contains(index) && unsafe { rseq::count(self.table(), index as usize) }) {
            // SAFETY: this is our own header, with all the data after it.
            unsafe { Self::record_cold(ptr::from_ref(self).cast(), value, 1) };
        }
    }

    #[inline(always)]
    fn add_at(&self, index: u64, value: u64, count: u64) {
        let mut added = Added::Not;
        if self.header.layout.contains(index) {
            // SAFETY: shards have `layout.length()` cells.
            added = unsafe { rseq::add(self.table(), index as usize, count) };
        }
        match added {
            Added::Done => (),
            Added::Wrapped => self.header.tallies.add_wraps(1),
            // SAFETY: this is our own header, with all the data after it.
            Added::Not => unsafe { Self::record_cold(ptr::from_ref(self).cast(), value, count) },
        }
    }
}

impl Body for PerCpu {
    const KIND: Kind = Kind::new(Mode::PerCpu, Storage::Dense, 64);

    fn heap_size(layout: &Layout, live_reset: bool) -> Result<usize> {
        size_with::<Header, AtomicU64>(Self::WORDS, Self::words(layout, live_reset, rseq::cpus()))
    }

    unsafe fn initialise(base: NonNull<Header>, header: Header, _max_bytes: usize) -> Result<()> {
        // SAFETY: the caller promises room and alignment; zeroed bytes are already null pointers and words.
        unsafe {
            base.write(header);
            base.byte_add(core::mem::offset_of!(Fixed, extent)).cast().write(Extent::new(rseq::cpus(), 0));
            #[cfg(loom)]
            {
                let this = &*Self::from_header(base.as_ptr());
                let words = this.words.as_ptr().cast_mut();
                for cpu in 0..this.extent.cpus {
                    words.cast::<AtomicPtr<AtomicU64>>().add(cpu).write(AtomicPtr::new(ptr::null_mut()));
                }
                for index in Self::table_words(this.extent.cpus)..this.words.len() {
                    words.add(index).write(AtomicU64::new(0));
                }
            }
        }
        Ok(())
    }

    /// Unmaps the shards.
    unsafe fn dispose(header: NonNull<Header>) {
        // SAFETY: it is initialized and still alive. Nobody else uses its shards, which `touch` mapped with this size.
        unsafe {
            let this = &*Self::from_header(header.as_ptr());
            let size = Self::shard_size(&this.header.layout).unwrap_or(0);
            for shard in this.shards() {
                pages::unmap(NonNull::from(shard).cast(), size);
            }
        }
    }

    #[inline(always)]
    unsafe fn from_header(header: *const Header) -> *const Self {
        // SAFETY: it is readable, as the caller promises.
        let words = unsafe {
            Self::words(&(*header).layout, (*header).has_baseline(), (*header.cast::<Fixed>()).extent.cpus)
        };
        ptr::slice_from_raw_parts(header.cast::<u8>(), words) as *const Self
    }

    #[inline(always)]
    fn record(&self, value: u64) {
        self.count_at(self.header.layout.recording_logical_index(value), value);
    }

    fn record_batch(&self, values: &[u64]) {
        crate::layout::indices::for_each_index(&self.header.layout, values, |index, value, count| {
            self.add_at(index, value, count);
        });
    }

    fn reset(&self) -> Result<()> {
        let banks = self.banks().ok_or(Error::Unsupported)?;
        baseline::move_to_present(self, || core::iter::once((0, banks)))
    }

    fn footprint(&self) -> usize {
        let shard_size = Self::shard_size(&self.header.layout).unwrap_or(0);
        size_of_val(self) + self.shards().count() * shard_size
    }

    /// Grows by a shard for each possible CPU.
    fn growth(layout: &Layout, _live_reset: bool) -> Result<(usize, usize)> {
        match rseq::cpus() {
            0 => Ok((0, 0)),
            cpus => Ok((Self::shard_size(layout)?, cpus)),
        }
    }
}

impl Headed for PerCpu {
    #[inline(always)]
    fn header(&self) -> &Header {
        &self.header
    }
}

impl Record for PerCpu {
    #[inline(always)]
    fn record_n(&self, value: u64, count: u64) {
        self.add_at(self.header.layout.recording_index(value), value, count);
    }
}

impl Source for PerCpu {
    const COUNTER_BITS: u32 = 64;

    fn copy_counts(&self, start: usize, out: &mut [u64]) -> u64 {
        AtomicU64::load_many(&self.shared()[start..], out);
        self.shards().map(|shard| AtomicU64::add_many(&shard[start..], out)).sum()
    }

    fn copy_baseline(&self, out: &mut [u64], tallies: &mut TallyCounts) -> Result<u32> {
        self.header.copy_baseline(self.banks(), out, tallies)
    }
}
