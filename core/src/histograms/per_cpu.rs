//! Many hot writers: each adds to a shard of the CPU that it runs on, in a restartable sequence.
//!
//! A shard belongs to its CPU for as long as the histogram lives, so threads may come and go, be more than there are CPUs, record
//! in signal handlers and go on after a fork, and nobody has to be told. A CPU gets its shard when it is first recorded on, by pages
//! from the kernel, which may be asked for anywhere. What cannot be added in a sequence goes to the counters that all share, by
//! atomic adds: where the system has no such sequences, in threads that are not registered for them, on a CPU beyond those
//! that the system said there might be, when something came between, and when there was no shard yet or no memory for it.
//!
//! Readers add up shards and shared counters; the baseline of a reset is such a sum.

use core::ptr::{self, NonNull};

use crate::cells::cell::{Counter, TallyCounts};
use crate::cells::header::{Headed, Header, banks_behind, copies};
use crate::cells::kind::{Kind, Mode, Storage};
use crate::cells::write_mode::Interlocked;
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

/// A per-CPU histogram: header, a pointer to the shard of each CPU, the counters that all share, and, with live reset, twice as many
/// words for the baseline.
#[repr(C)]
pub(crate) struct PerCpu {
    header: Header,
    extent: Extent,
    words: [AtomicU64],
}

/// On a line of its own, so that the words begin on one, and on a page where the header is placed so: see
/// [`crate::histograms::per_cpu_image`].
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Extent {
    /// Pointers in the table.
    pub(super) cpus: usize,
    /// How many of them lead to shards that were placed beside the histogram, in memory that processes share; 0: shards are mapped when
    /// they are first touched.
    pub(super) placed: usize,
    /// Explicit, so that no byte of padding carries what was on the stack into memory that processes share.
    zero: [usize; ZERO_WORDS],
}

const ZERO_WORDS: usize = 64 / size_of::<usize>() - 2;

impl Extent {
    pub(super) const fn new(cpus: usize, placed: usize) -> Extent {
        Extent { cpus, placed, zero: [0; ZERO_WORDS] }
    }
}

/// So much of it that is not words.
#[repr(C)]
pub(super) struct Fixed {
    pub(super) header: Header,
    pub(super) extent: Extent,
}

impl PerCpu {
    const WORDS: usize = size_of::<Fixed>();

    /// Words that the pointers take.
    const fn table_words(cpus: usize) -> usize {
        (cpus * size_of::<AtomicPtr<AtomicU64>>()).div_ceil(size_of::<AtomicU64>())
    }

    const fn words(layout: &Layout, live_reset: bool, cpus: usize) -> usize {
        Self::table_words(cpus) + layout.length() * copies(live_reset)
    }

    /// Bytes of a shard: whole pages, so that no two share a line.
    pub(super) fn shard_size(layout: &Layout) -> Result<usize> {
        Ok(size_with::<u8, AtomicU64>(0, layout.length())?.next_multiple_of(pages::PAGE))
    }

    #[inline(always)]
    fn table(&self) -> &rseq::Table {
        // SAFETY: so many pointers were made of the first words, which are used for nothing else.
        unsafe { core::slice::from_raw_parts(self.words.as_ptr().cast(), self.extent.cpus) }
    }

    /// The counters that all share.
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
            // SAFETY: a shard has so many cells, and lives as long as the histogram.
            unsafe { core::slice::from_raw_parts(shard.as_ptr(), length) }
        })
    }

    /// Gives the CPU that the thread runs on its shard, if it has none. Two threads may come here at once, also on the same CPU: one
    /// shard stays.
    fn touch(&self) {
        let Some(entry) = rseq::cpu().and_then(|cpu| self.table().get(cpu)) else { return };
        // What processes share has all the shards that it will have.
        if !entry.load(Relaxed).is_null() || self.extent.placed != 0 {
            return;
        }
        let Ok(size) = Self::shard_size(&self.header.layout) else { return };
        let Some(block) = pages::map(size) else { return };
        let shard = block.cast::<AtomicU64>();
        #[cfg(loom)]
        for index in 0..self.header.layout.length() {
            // SAFETY: inside the block, which is ours.
            unsafe { shard.add(index).write(AtomicU64::new(0)) };
        }
        if entry.compare_exchange(ptr::null_mut(), shard.as_ptr(), Release, Relaxed).is_err() {
            // SAFETY: mapped above, and never shown to anyone.
            unsafe { pages::unmap(block, size) };
        }
    }

    /// What the shard of the CPU did not take: see the head of this file.
    ///
    /// With the ABI of C and by a thin pointer, as the cold path of a thread-local histogram, and for the same reasons.
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
        this.tell(this.shared()[index as usize].add_shared(count));
    }

    /// Counts one value, whose logical index is known.
    #[inline(always)]
    pub(crate) fn count_at(&self, logical_index: u64, value: u64) {
        let index = self.header.layout.stored_at(logical_index);
        // SAFETY: shards have `layout.length()` cells.
        if !(self.header.layout.contains(index) && unsafe { rseq::count(self.table(), index as usize) }) {
            // SAFETY: our own header, with all that is behind it.
            unsafe { Self::record_cold(ptr::from_ref(self).cast(), value, 1) };
        }
    }

    /// Counts the wraps of a cell.
    #[inline(always)]
    fn tell(&self, wraps: u64) {
        if wraps != 0 {
            self.header.tallies.add_wraps(wraps);
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
            Added::Wrapped => self.tell(1),
            // SAFETY: our own header, with all that is behind it.
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
        // SAFETY: room and alignment are the caller's promise; zeroed bytes are null pointers and words already.
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
        // SAFETY: initialised, and alive so far; nobody else has it, so nobody uses its shards, which `touch` mapped with this size.
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
        // SAFETY: readable, as the caller promises.
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

    /// By a shard for each CPU that there may be.
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
