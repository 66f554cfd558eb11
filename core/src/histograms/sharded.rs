//! Many hot writers: each thread adds to a separate shard.
//!
//! A shard is a set of single-writer cells. It belongs to one thread, or to one recorder, at a time, and outlives it:
//! the next owner gets it uncleared. So counts only ever grow, nothing is folded or lost when a thread ends, and there
//! are never more shards than there were owners at once. Two kinds of records go to shared counters, by atomic adds:
//! those without a thread (after the destructors of their thread, or inside another record's cold path), and those
//! without memory for a shard.
//!
//! Readers sum shards and shared counters in 64 bits; the baseline of a reset is such a sum.

use core::ffi::c_void;
use core::marker::PhantomData;
use core::ptr::{self, NonNull};

use crate::cells::cell::{Counter, Place};
use crate::cells::header::{Headed, Header, banks_behind, copies};
use crate::cells::kind::{Kind, Mode, Storage};
use crate::cells::tallies::{Tallies, TallyCounts};
use crate::error::{Error, Result};
use crate::histograms::baseline;
use crate::histograms::body::Body;
use crate::histograms::record::Record;
use crate::layout::layout::Layout;
use crate::platform::atomics::Ordering::*;
use crate::platform::atomics::{AtomicU32, AtomicU64, HAS_ATOMIC_64};
use crate::platform::lines::start_on_a_line;
use crate::platform::memory::{self, size_with};
use crate::snapshot::source::Source;
use crate::snapshot::sums;
use crate::threads::shards::{ShardHead, Shards};
use crate::threads::{entries, tables, thread_registry};

/// A thread-local histogram: the header, shards, the shared counters, and, with live reset, as many words for the
/// baseline.
#[repr(C)]
pub(crate) struct Sharded<C> {
    header: Header,
    shards: Shards,
    cells: PhantomData<C>,
    words: [AtomicU64],
}

impl<C: Counter> Sharded<C> {
    fn shard_size(layout: &Layout) -> Result<usize> {
        size_with::<ShardHead, C>(size_of::<ShardHead>(), layout.length())
    }

    /// Allocates a shard and publishes it to readers.
    fn new_shard(&self) -> Result<NonNull<ShardHead>> {
        let size = Self::shard_size(&self.header.layout)?;
        let shard = memory::allocate_zeroed(size, align_of::<ShardHead>())?.cast::<ShardHead>();
        // SAFETY: the block has room for the head and the cells, and zeroed bytes are already cells.
        unsafe {
            let (next, next_free) = (ptr::null_mut(), ptr::null_mut());
            shard.write(ShardHead { tallies: Tallies::new(), next, next_free });
            #[cfg(loom)]
            for index in 0..self.header.layout.length() {
                shard.add(1).cast::<C>().add(index).write(C::zero());
            }
        }
        self.shards.publish(shard);
        Ok(shard)
    }

    /// Returns a shard for a new owner: a free one if possible, otherwise a new one.
    fn take_shard(&self) -> Result<NonNull<ShardHead>> {
        match self.shards.take_free()? {
            Some(shard) => Ok(shard),
            None => self.new_shard(),
        }
    }

    fn cells_in(&self, shard: NonNull<ShardHead>) -> &[C] {
        // SAFETY: the shard belongs to this histogram and lives as long; its cells lie after its head.
        unsafe { core::slice::from_raw_parts(shard.add(1).cast::<C>().as_ptr(), self.header.layout.length()) }
    }

    /// Returns the shard of the calling thread, if its table has one.
    #[inline(always)]
    fn present_shard(&self) -> Option<NonNull<ShardHead>> {
        tables::shard(self.shards.table_offset as usize, self.shards.epoch).map(NonNull::cast)
    }

    /// Returns the shard of the calling thread, creates it if necessary, and fills the thread's entry with it. Returns
    /// `None` if the shared counters must be used instead.
    fn own_shard(&self) -> Option<NonNull<ShardHead>> {
        if let Some(shard) = self.present_shard() {
            return Some(shard);
        }
        let (offset, epoch) = (self.shards.table_offset as usize, self.shards.epoch);
        tables::with_tables(|tables| {
            let entry = tables.entry(offset)?;
            // A signal handler may have been here first.
            if entry.get().epoch != epoch {
                let shard = self.take_shard().ok()?;
                tables::Entry::set(entry, tables::Entry { epoch, shard: shard.as_ptr().cast() });
            }
            let shard = NonNull::new(entry.get().shard)?.cast();
            self.fill_entry(shard);
            Some(shard)
        })
        .flatten()
    }

    /// Makes the entry of the calling thread point to its shard.
    fn fill_entry(&self, shard: NonNull<ShardHead>) {
        let key = self.header.key;
        if key != 0 {
            // SAFETY: the cells lie after the head.
            let cells = unsafe { shard.add(1) }.cast::<C>().as_ptr().wrapping_sub(key as usize);
            entries::fill(self.header.entry, self.header.layout.length() as u64 | key, cells.cast());
        }
    }

    /// Adds to the thread's cell: through its entry, or as `elsewhere` does, which gets the index with the key.
    #[inline(always)]
    fn add(
        &self,
        logical_index: u64,
        add: impl FnOnce(Place<C, true>) -> u64,
        elsewhere: impl FnOnce(*const Header, u64),
    ) {
        let keyed = self.header.layout.stored_at(logical_index) | self.header.key;
        if let Some(cells) = entries::cells(self.header.entry, keyed) {
            // SAFETY: an index below the entry's limit belongs to this histogram, and is in range. The entry's pointer
            // is that to the cells minus the key.
            // A wrap happens once in 2^32 records; any thread may tally it.
            let place = unsafe { Place::new(cells.cast(), keyed as usize) };
            self.header.tallies.add_wraps_if_any(add(place));
        } else {
            elsewhere(ptr::from_ref(self).cast(), keyed);
        }
    }

    /// Counts one value whose logical index is known.
    #[inline(always)]
    pub(crate) fn count_at(&self, logical_index: u64, value: u64) {
        self.add(logical_index, C::count_alone, |header, keyed| {
            // SAFETY: this is our own header, with all the data after it.
            unsafe {
                match (entries::COUNT, C::BITS) {
                    (0, _) => Self::count_by_table(header, value, keyed),
                    (_, 64) => count_64_by_table(header, value, keyed),
                    _ => count_32_by_table(header, value, keyed),
                }
            }
        });
    }

    /// Counts one value through the thread's table: for histograms without an entry, and threads whose entry is not
    /// filled.
    ///
    /// # Safety
    /// As for [`Body::from_header`].
    #[inline(always)]
    unsafe fn count_by_table(header: *const Header, value: u64, keyed: u64) {
        // SAFETY: the caller's promise.
        let this = unsafe { &*Self::from_header(header) };
        // An out-of-range index stays out of range: the key lacks some bits of an index that has wrapped around.
        let index = keyed ^ this.header.key;
        if this.header.layout.contains(index)
            && let Some(shard) = this.present_shard()
        {
            // SAFETY: shards have `layout.length()` cells after their head.
            let place = unsafe { Place::<_, false>::new(shard.add(1).cast::<C>().as_ptr(), index as usize) };
            this.header.tallies.add_wraps_if_any(C::count_alone(place));
        } else {
            // SAFETY: the caller's promise.
            unsafe { Self::record_cold(header, value, 1) };
        }
    }

    /// Handles the first record of a thread, values out of range, and threads that cannot have a shard.
    ///
    /// It has the ABI of C, under which nothing unwinds, so that the call is the last instruction of a hot path. It
    /// takes a thin pointer, so that a hot path need not know where the words end.
    ///
    /// # Safety
    /// As for [`Body::from_header`].
    #[cold]
    #[inline(never)]
    unsafe extern "C" fn record_cold(header: *const Header, value: u64, count: u64) {
        // SAFETY: the caller's promise.
        let this = unsafe { &*Self::from_header(header) };
        let layout = &this.header.layout;
        let index = layout.recording_index(value);
        let shard = this.own_shard();
        // SAFETY: it is alive as long as the histogram.
        let tallies = shard.map_or(&this.header.tallies, |shard| unsafe { &(*shard.as_ptr()).tallies });
        let tally = if layout.contains(index) {
            match shard {
                Some(shard) => {
                    return tallies.add_wraps_if_any(this.cells_in(shard)[index as usize].add_alone(count));
                }
                None => &this.words[index as usize],
            }
        } else if Layout::lies_below(index) {
            &tallies.underflow
        } else {
            &tallies.overflow
        };
        let wraps = match shard {
            Some(_) => tally.add_alone(count),
            None => tally.add_shared(count),
        };
        tallies.add_wraps_beside(wraps, C::BITS);
    }

    fn banks(&self) -> Option<[&[AtomicU64]; 2]> {
        banks_behind(&self.words, self.header.layout.length())
    }
}

macro_rules! by_table {
    ($name:ident, $section:literal, $cell:ty) => {
        start_on_a_line!($section);

        /// See [`Sharded::count_by_table`]. Like the cold path, it is out of line and has the ABI of C.
        ///
        /// # Safety
        /// As there.
        #[inline(never)]
        #[cfg_attr(target_os = "linux", unsafe(link_section = $section))]
        unsafe extern "C" fn $name(header: *const Header, value: u64, keyed: u64) {
            // SAFETY: the caller's promise.
            unsafe { Sharded::<$cell>::count_by_table(header, value, keyed) };
        }
    };
}
by_table!(count_64_by_table, ".text.picollo_count_64_by_table", AtomicU64);
by_table!(count_32_by_table, ".text.picollo_count_32_by_table", AtomicU32);

impl<C: Counter> Body for Sharded<C> {
    const KIND: Kind = Kind::new(Mode::ThreadLocal, Storage::Dense, C::BITS);

    fn heap_size(layout: &Layout, live_reset: bool) -> Result<usize> {
        let words = layout.length() * copies(live_reset);
        size_with::<Header, AtomicU64>(size_of::<Header>() + size_of::<Shards>(), words)
    }

    /// Also registers it, and gives it an entry in the threads' storage, if one is left.
    unsafe fn initialise(base: NonNull<Header>, header: Header, _max_bytes: usize) -> Result<()> {
        // SAFETY: the caller promises room and alignment; zeroed bytes are already words.
        unsafe {
            base.write(header);
            let shards = base.add(1).cast::<Shards>();
            shards.write(Shards::new());
            #[cfg(loom)]
            for index in 0..base.as_ref().cells() {
                shards.add(1).cast::<AtomicU64>().add(index).write(AtomicU64::new(0));
            }
            let found = thread_registry::enter(shards)?;
            // Nobody else reads these yet: threads that come from the registry check the epoch first.
            (*shards.as_ptr()).epoch = found.epoch;
            (*shards.as_ptr()).table_offset = tables::entry_offset(found.index) as u32;
            (*base.as_ptr()).entry = entries::place(found.entry.map(|(entry, _)| entry));
            (*base.as_ptr()).key = found.entry.map_or(0, |(_, key)| key);
        }
        Ok(())
    }

    /// Takes the histogram out of the registry and frees the shards.
    unsafe fn dispose(header: NonNull<Header>) {
        // A pointer, because a part of it is dropped below, which no shared reference allows.
        // SAFETY: it is initialized and still alive.
        let whole = unsafe { Self::from_header(header.as_ptr()) }.cast_mut();
        // SAFETY: as above.
        let this = unsafe { &*whole };
        thread_registry::leave(this.shards.table_offset / tables::entry_offset(1) as u32);
        // From here on no thread finds the shards. Threads that end do not find the histogram in the registry. Entries
        // left in tables have an epoch that is never reused, and those in the threads' storage have an earlier key.
        let size = Self::shard_size(&this.header.layout).unwrap_or(0);
        let mut next = this.shards.all.load(Acquire);
        while let Some(shard) = NonNull::new(next) {
            // SAFETY: `new_shard` made it with this size, and nobody uses it.
            unsafe {
                next = shard.as_ref().next;
                memory::free(shard.cast(), size, align_of::<ShardHead>());
            }
        }
        // SAFETY: nobody uses the lock now or later.
        unsafe { ptr::drop_in_place(&raw mut (*whole).shards) };
    }

    #[inline(always)]
    unsafe fn from_header(header: *const Header) -> *const Self {
        // SAFETY: it is readable, as the caller promises.
        let words = unsafe { (*header).cells() };
        ptr::slice_from_raw_parts(header.cast::<u8>(), words) as *const Self
    }

    #[inline(always)]
    fn record(&self, value: u64) {
        self.count_at(self.header.layout.recording_logical_index(value), value);
    }

    fn record_batch(&self, values: &[u64]) {
        let Some(shard) = self.own_shard() else {
            return values.iter().for_each(|&value| self.record(value));
        };
        let cells = self.cells_in(shard);
        crate::layout::indices::for_each_index(&self.header.layout, values, |index, value, count| {
            if let Some(cell) = cells.get(index as usize) {
                // SAFETY: it is alive as long as the histogram.
                unsafe { shard.as_ref() }.tallies.add_wraps_if_any(cell.add_few_alone(count));
            } else {
                // SAFETY: this is our own header, with all the data after it.
                unsafe { Self::record_cold(ptr::from_ref(self).cast(), value, count) };
            }
        });
    }

    fn reset(&self) -> Result<()> {
        let banks = self.banks().ok_or(Error::Unsupported)?;
        baseline::move_to_present(self, || core::iter::once((0, banks)))
    }

    /// Includes shards, but not the tables of the threads.
    fn footprint(&self) -> usize {
        let shard_size = Self::shard_size(&self.header.layout).unwrap_or(0);
        size_of_val(self) + self.shards.iter().count() * shard_size
    }

    /// Grows by a shard for each thread that records.
    fn growth(layout: &Layout, _live_reset: bool) -> Result<(usize, usize)> {
        Ok((Self::shard_size(layout)?, usize::MAX))
    }

    /// Lends a separate shard.
    fn lend_cells(&self) -> Result<(NonNull<u8>, *mut c_void)> {
        if C::BITS == 64 && !HAS_ATOMIC_64 {
            return Err(Error::Unsupported);
        }
        let owner = self.take_shard()?.as_ptr().cast();
        Ok((self.lent_cells(owner), owner))
    }

    fn lent_cells(&self, owner: *mut c_void) -> NonNull<u8> {
        NonNull::new(owner)
            .map_or(NonNull::dangling(), |owner| NonNull::from(self.cells_in(owner.cast())).cast())
    }

    unsafe fn give_back(&self, owner: *mut c_void) {
        if let Some(shard) = NonNull::new(owner) {
            // SAFETY: the caller's promise.
            unsafe { self.shards.give_back(shard.cast()) };
        }
    }
}

impl<C: Counter> Headed for Sharded<C> {
    #[inline(always)]
    fn header(&self) -> &Header {
        &self.header
    }
}

impl<C: Counter> Record for Sharded<C> {
    #[inline(always)]
    fn record_n(&self, value: u64, count: u64) {
        let index = self.header.layout.recording_logical_index(value);
        self.add(
            index,
            |place| place.cell().add_alone(count),
            // SAFETY: this is our own header, with all the data after it.
            |header, _| unsafe { Self::record_cold(header, value, count) },
        );
    }
}

impl<C: Counter> Source for Sharded<C> {
    const COUNTER_BITS: u32 = C::BITS;

    fn tallies(&self) -> TallyCounts {
        let mut sum = self.header.tallies.load();
        for shard in self.shards.iter() {
            // SAFETY: it is alive as long as the histogram.
            sum.add(unsafe { &(*shard.as_ptr()).tallies }.load());
        }
        sum
    }

    fn copy_counts(&self, start: usize, out: &mut [u64]) -> u64 {
        AtomicU64::load_many(&self.words[start..], out);
        self.shards.iter().map(|shard| C::add_many(&self.cells_in(shard)[start..], out)).sum()
    }

    /// Takes one pass if there is one shard.
    fn copy_and_total(&self, out: &mut [u64], base: Option<&[u64]>) -> (u64, u128) {
        let mut shards = self.shards.iter();
        if let (Some(shard), None) = (shards.next(), shards.next())
            && let Some(summed) = C::load_and_sum(self.cells_in(shard), Some(&self.words), out, base)
        {
            return (summed.wraps, sums::total_of(summed, out, base));
        }
        sums::copy_runs(out, base, |start, out| self.copy_counts(start, out))
    }

    fn copy_baseline(&self, out: &mut [u64], tallies: &mut TallyCounts) -> Result<u32> {
        self.header.copy_baseline(self.banks(), out, tallies)
    }
}
