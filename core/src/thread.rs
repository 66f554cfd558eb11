//! What the library keeps for each thread: a table of its shards, one for each thread-local histogram it recorded into,
//! and its random generator.
//!
//! The slot that leads to the table costs a record two loads, and no call. It points to one of three tables without
//! entries while there is no table to use: before the thread's first, while a cold path works on it, and after the
//! thread's destructors ran. A record that finds no entry takes the cold path, so the hot path has no other test.

mod slot;

use core::cell::Cell;
use core::ptr;

use crate::memory;
use crate::sync::Ordering::Relaxed;

/// One thread's shards, by the table index of their histograms. Only that thread looks into it.
#[repr(C, align(16))]
pub(crate) struct Table {
    length: usize,
    /// State of the thread's generator; 0 in the tables without entries.
    random: Cell<u64>,
    /// The smaller table that this one replaced. Kept until the thread ends, since a signal handler may have replaced it
    /// under a record; together they are no larger than the last.
    previous: *mut Table,
    /// So that tables are the same size on all targets.
    _reserved: usize,
}

// SAFETY: the shared tables have no entries and are never written.
unsafe impl Sync for Table {}

/// A shard, while the epoch is that of the histogram.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) epoch: u64,
    pub(crate) shard: *mut u8,
}

const fn table_without_entries() -> Table {
    Table { length: 0, random: Cell::new(0), previous: ptr::null_mut(), _reserved: 0 }
}

/// Before a thread's first cold path.
static EMPTY: Table = table_without_entries();
/// While a cold path is under way. A record that interrupts it, from a signal handler or the allocator, must not wait for
/// its locks.
static BUSY: Table = table_without_entries();
/// After the destructors of the thread.
static ENDED: Table = table_without_entries();

/// The shard of the calling thread at a table index, if it is that of the histogram with this epoch.
#[inline(always)]
pub(crate) fn shard(index: u32, epoch: u64) -> Option<ptr::NonNull<u8>> {
    // SAFETY: the slot leads to one of the static tables or to the newest table of this thread, which stays until the
    // thread's destructors point the slot elsewhere.
    unsafe {
        let table = slot::get();
        if (index as usize) < (*table).length {
            let entry = entries(table).add(index as usize);
            if (*entry).epoch == epoch {
                return Some(ptr::NonNull::new_unchecked((*entry).shard));
            }
        }
        None
    }
}

/// Entries lie behind their table.
fn entries(table: *const Table) -> *mut Entry {
    table.wrapping_add(1).cast::<Entry>().cast_mut()
}

/// The next number of the calling thread's generator, never 0 (xorshift, Marsaglia 2003). Each thread is seeded
/// differently. `None` where there is no thread to keep it.
#[inline]
pub(crate) fn random() -> Option<u64> {
    // SAFETY: as for `shard`.
    let random = unsafe { &(*slot::get()).random };
    if random.get() == 0 {
        return seed();
    }
    random.set(xorshift(random.get()));
    Some(random.get())
}

#[inline(always)]
pub(crate) const fn xorshift(mut state: u64) -> u64 {
    state ^= state << 13;
    state ^= state >> 7;
    state ^ (state << 17)
}

#[cold]
#[inline(never)]
fn seed() -> Option<u64> {
    with_tables(|thread| {
        thread.make_room(0)?;
        // SAFETY: there is a table now, and it is ours.
        Some(unsafe { (*thread.table.get()).random.get() })
    })
    .flatten()
}

/// The owner of a thread's tables.
pub(crate) struct Tables {
    table: Cell<*mut Table>,
}

#[cfg(not(loom))]
std::thread_local! {
    static TABLES: Tables = const { Tables { table: Cell::new(ptr::null_mut()) } };
}
#[cfg(loom)]
loom::thread_local! {
    static TABLES: Tables = Tables { table: Cell::new(ptr::null_mut()) };
}

/// Runs the cold path `work` on the tables of the calling thread. `None`, without running it, inside another cold path
/// and after the thread's destructors.
pub(crate) fn with_tables<R>(work: impl FnOnce(&Tables) -> R) -> Option<R> {
    let current = slot::get();
    if ptr::eq(current, &BUSY) || ptr::eq(current, &ENDED) {
        return None;
    }
    // A signal handler may come between; then it has finished its own cold path, and left its table in `TABLES`.
    slot::set(&BUSY);
    // The first access registers the destructor, which may allocate.
    let result = TABLES.try_with(|tables| {
        let result = work(tables);
        let table = tables.table.get();
        slot::set(if table.is_null() { &EMPTY } else { table });
        result
    });
    if result.is_err() {
        slot::set(&ENDED);
    }
    result.ok()
}

impl Tables {
    /// The entry at `index`, after [`Tables::make_room`] for it.
    pub(crate) fn entry(&self, index: u32) -> &Cell<Entry> {
        let table = self.table.get();
        // SAFETY: the table is ours and has room, as asserted; a cell has the layout of its content.
        unsafe {
            assert!((index as usize) < (*table).length);
            &*entries(table).add(index as usize).cast::<Cell<Entry>>()
        }
    }

    /// Makes sure of a table with an entry for `index`, or `None` when memory is out.
    pub(crate) fn make_room(&self, index: u32) -> Option<()> {
        let old = self.table.get();
        // SAFETY: a table that is there is ours.
        let (old_length, random) = match unsafe { old.as_ref() } {
            Some(old) => (old.length, old.random.get()),
            None => (0, new_seed()),
        };
        if (index as usize) < old_length {
            return Some(());
        }
        let length = (index as usize + 1).next_power_of_two().max(4);
        let block = memory::allocate_zeroed(Self::size(length)?, align_of::<Table>()).ok()?;
        let table = block.cast::<Table>().as_ptr();
        // SAFETY: the block has room for the table and `length` entries, zeroed: epochs that no histogram has.
        unsafe {
            table.write(Table { length, random: Cell::new(random), previous: old, _reserved: 0 });
            if !old.is_null() {
                ptr::copy_nonoverlapping(entries(old), entries(table), old_length);
            }
        }
        self.table.set(table);
        Some(())
    }

    fn size(length: usize) -> Option<usize> {
        length.checked_mul(size_of::<Entry>())?.checked_add(size_of::<Table>())
    }
}

impl Drop for Tables {
    fn drop(&mut self) {
        slot::set(&ENDED);
        let mut table = self.table.get();
        if table.is_null() {
            return;
        }
        // SAFETY: the tables are ours, of the size they were allocated with, and nothing leads to them any more.
        unsafe {
            let entries = core::slice::from_raw_parts(entries(table), (*table).length);
            crate::registry::take_back(entries);
            while !table.is_null() {
                let (previous, length) = ((*table).previous, (*table).length);
                if let (Some(block), Some(size)) = (ptr::NonNull::new(table), Self::size(length)) {
                    memory::free(block.cast(), size, align_of::<Table>());
                }
                table = previous;
            }
        }
    }
}

/// A seed that no other thread got (a Weyl sequence through the finaliser of splitmix64, which maps only 0 to 0).
fn new_seed() -> u64 {
    #[cfg(loom)]
    loom::lazy_static! { static ref NEXT: crate::AtomicU64 = crate::AtomicU64::new(1); }
    #[cfg(not(loom))]
    static NEXT: crate::AtomicU64 = crate::AtomicU64::new(1);
    let mut seed = NEXT.fetch_add(1, Relaxed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    seed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    seed = (seed ^ (seed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    seed ^ (seed >> 31)
}
