//! The data that the library keeps for each thread: a table of its shards, one for each thread-local histogram it
//! recorded into, and its random generator.
//!
//! The slot that points to the table costs a record two loads, and no call. It points to one of three tables without
//! entries while no table is usable: before the thread's first, while a cold path works on it, and after the thread's
//! destructors ran. A record that finds no entry takes the cold path, so the hot path has no other test.

use crate::threads::{entries, slot};
use core::cell::Cell;
use core::ptr;

use crate::cells::identity;
use crate::platform::atomics::{Ordering, fence};
use crate::platform::memory;
use crate::threads::random::xorshift;
use crate::threads::thread_registry;

/// The shards of one thread: the number of entries is a power of two. Only that thread reads it.
///
/// The entry of a histogram lies at its table index, modulo the number of entries. If the table is too small, that is
/// another entry, with a different epoch. So the hot path needs one comparison, and offsets in bytes need no shift.
#[repr(C, align(32))]
pub(crate) struct Table {
    /// The offset of the last entry.
    mask: usize,
    /// The state of the thread's generator; 0 in the shared tables.
    random: Cell<u64>,
    /// The smaller table that this one replaced. It is kept until the thread ends, because a signal handler may have
    /// replaced it during a record. Together the old tables are no larger than the last.
    previous: *mut Table,
    /// The first entry.
    first: Cell<Entry>,
}

/// A shard, valid while the epoch is that of the histogram.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    /// Never 0, except without a shard.
    pub(crate) epoch: u64,
    pub(crate) shard: *mut u8,
}

impl Entry {
    /// Replaces an entry. A fork may come at any moment. Then another thread of the child reads the entry, to take back
    /// the shard for the histogram of that epoch: so the shard is written before the epoch. `between` runs in between.
    #[inline]
    fn replace(entry: &Cell<Entry>, new: Entry, between: impl FnOnce()) {
        let entry = entry.as_ptr();
        // SAFETY: these are the words of the cell, which is borrowed; volatile, so that they are written one after the
        // other. Other threads read them only after this thread is gone.
        unsafe {
            (&raw mut (*entry).shard).write_volatile(new.shard);
            // If the memory that a fork copies has the second write, it also has the first.
            fence(Ordering::Release);
            between();
            (&raw mut (*entry).epoch).write_volatile(new.epoch);
        }
    }

    /// See [`Entry::replace`].
    pub(crate) fn set(entry: &Cell<Entry>, new: Entry) {
        Entry::replace(entry, new, || ());
    }
}

const NONE: Entry = Entry { epoch: 0, shard: ptr::null_mut() };

// SAFETY: the shared tables are never written.
unsafe impl Sync for Table {}

const fn table_without_shards() -> Table {
    Table { mask: 0, random: Cell::new(0), previous: ptr::null_mut(), first: Cell::new(NONE) }
}

/// For a thread before its first cold path.
pub(crate) static EMPTY: Table = table_without_shards();
/// For a thread inside a cold path. A record that interrupts it, from a signal handler or the allocator, must not wait
/// for its locks.
static BUSY: Table = table_without_shards();
/// For a thread after its destructors.
pub(crate) static ENDED: Table = table_without_shards();

/// Returns the offset of the entry for a table index.
pub(crate) const fn entry_offset(index: u32) -> usize {
    index as usize * size_of::<Entry>()
}

/// Returns the shard of the calling thread at an offset, if it belongs to the histogram with this epoch.
#[inline(always)]
pub(crate) fn shard(offset: usize, epoch: u64) -> Option<ptr::NonNull<u8>> {
    // SAFETY: the slot points to one of the static tables or to the newest table of this thread, which stays until the
    // thread's destructors change the slot. The masked offset is that of an entry.
    unsafe {
        let table = slot::get();
        let entry = (&raw const (*table).first).byte_add(offset & (*table).mask).cast::<Entry>();
        if (*entry).epoch == epoch { Some(ptr::NonNull::new_unchecked((*entry).shard)) } else { None }
    }
}

/// Returns the next number of the calling thread's generator, if it already has one.
#[inline(always)]
pub(crate) fn random() -> Option<u64> {
    // SAFETY: as for `shard`.
    let random = unsafe { &(*slot::get()).random };
    if random.get() == 0 {
        return None;
    }
    random.set(xorshift(random.get()));
    Some(random.get())
}

/// Creates the calling thread's generator. Returns its first number, or `None` if no thread can keep it.
#[cold]
#[inline(never)]
pub(crate) fn seed() -> Option<u64> {
    with_tables(|thread| {
        thread.make_room(0)?;
        // SAFETY: a table exists now, and it is ours.
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

/// Runs the cold path `work` on the tables of the calling thread. Returns `None`, without running it, inside another
/// cold path, after the thread's destructors, and if there is no memory to register those.
pub(crate) fn with_tables<R>(work: impl FnOnce(&Tables) -> R) -> Option<R> {
    let current = slot::get();
    if ptr::eq(current, &BUSY) || ptr::eq(current, &ENDED) {
        return None;
    }
    // A signal handler may run in between; it then has finished its own cold path, and left its table in `TABLES`.
    slot::set(&BUSY);
    // The first access registers the destructor, which allocates a few words; glibc ends the process if that fails.
    if ptr::eq(current, &EMPTY) && !memory::is_at_hand() {
        slot::set(&EMPTY);
        return None;
    }
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

/// Runs work that holds a lock of the cold paths. A record of the calling thread in between, from a signal handler or
/// the allocator, finds no table and goes to the shared counters.
pub(crate) fn undisturbed<R>(work: impl FnOnce() -> R) -> R {
    let current = slot::get();
    if ptr::eq(current, &BUSY) || ptr::eq(current, &ENDED) {
        return work();
    }
    slot::set(&BUSY);
    let result = work();
    // A signal handler that ran before the thread was busy may have left a newer table in `TABLES`. But the one here is
    // valid until the thread ends, and the next cold path uses the newer one.
    slot::set(current);
    result
}

impl Tables {
    /// Returns the entry at an offset, in a table that has it; `None` if memory is out.
    pub(crate) fn entry(&self, offset: usize) -> Option<&Cell<Entry>> {
        self.make_room(offset)?;
        let table = self.table.get();
        // SAFETY: the table is ours and has the entry; a cell has the layout of its content.
        unsafe { Some(&*(&raw const (*table).first).byte_add(offset)) }
    }

    fn make_room(&self, offset: usize) -> Option<()> {
        let old = self.table.get();
        // SAFETY: an existing table is ours, and stays until the thread ends.
        let (old_entries, random) = match unsafe { old.as_ref() } {
            Some(table) if offset <= table.mask => return Some(()),
            // SAFETY: as above.
            Some(table) => (unsafe { Table::entries(old) }, table.random.get()),
            // Added counts of many threads and processes must not all have the same error.
            None => (&[][..], identity::draw()[0]),
        };
        let length = (offset / size_of::<Entry>()).checked_add(1)?.checked_next_power_of_two()?.max(4);
        let block = memory::allocate_zeroed(Table::size(length)?, align_of::<Table>()).ok()?;
        let table = block.cast::<Table>().as_ptr();
        // SAFETY: the block has room for a table of `length` entries, which are zero: without shards.
        unsafe {
            table.write(Table {
                mask: entry_offset(length as u32 - 1),
                random: Cell::new(random),
                previous: old,
                first: Cell::new(NONE),
            });
            let first = (&raw mut (*table).first).cast::<Entry>();
            ptr::copy_nonoverlapping(old_entries.as_ptr(), first, old_entries.len());
        }
        match thread_registry::note_table(slot::place(), block.cast()) {
            Ok(noted) => {
                self.table.set(table);
                // A thread ended in this place without its destructors: it first recorded in a destructor of pthread
                // keys, after those, or a fork left it behind.
                if let Some(noted) = noted.filter(|noted| noted.as_ptr() != old) {
                    // SAFETY: these are its tables, which it does not use any more.
                    unsafe {
                        thread_registry::take_back(Table::entries(noted.as_ptr()));
                        Table::free(noted.as_ptr());
                    }
                }
                Some(())
            }
            Err(_) => {
                // SAFETY: this frees only the new table, and nothing points to it.
                unsafe {
                    (*table).previous = ptr::null_mut();
                    Table::free(table);
                }
                None
            }
        }
    }
}

impl Table {
    /// Returns the bytes of a table.
    fn size(length: usize) -> Option<usize> {
        (length - 1).checked_mul(size_of::<Entry>())?.checked_add(size_of::<Table>())
    }

    /// Frees a table and those that it replaced.
    ///
    /// # Safety
    /// Nothing may point to them any more.
    unsafe fn free(mut table: *mut Table) {
        while let Some(block) = ptr::NonNull::new(table) {
            // SAFETY: the tables have the size that they were allocated with; the rest is the caller's promise.
            unsafe {
                let length = Self::entries(block.as_ptr()).len();
                table = block.as_ref().previous;
                memory::free(block.cast(), Self::size(length).unwrap_or(0), align_of::<Table>());
            }
        }
    }

    /// Returns the entries, from the pointer to the whole block: a reference to the table includes only the first.
    ///
    /// # Safety
    /// `table` must point to a table as it was allocated, which stays and is not written while the entries are used.
    unsafe fn entries<'a>(table: *const Table) -> &'a [Entry] {
        // SAFETY: there are as many entries as the mask implies, the first of them in the table and the others after it
        // in the same block. The pointer covers all of them; the rest is the caller's promise.
        unsafe {
            let first = (&raw const (*table).first).cast::<Entry>();
            core::slice::from_raw_parts(first, (*table).mask / size_of::<Entry>() + 1)
        }
    }
}

impl Tables {
    /// Returns the shards to their histograms and frees the tables.
    fn end(&self) {
        slot::set(&ENDED);
        // This comes before the shards go to others.
        entries::empty();
        let table = self.table.replace(ptr::null_mut());
        // SAFETY: the tables are ours, and nothing points to them any more.
        unsafe {
            if !table.is_null() {
                thread_registry::end_thread(slot::place(), Table::entries(table));
                Table::free(table);
            }
        }
    }
}

impl Drop for Tables {
    fn drop(&mut self) {
        self.end();
    }
}

/// Does what the destructors of a thread do. Loom's `join` does not wait for those.
#[cfg(all(test, loom))]
pub(crate) fn end() {
    TABLES.with(Tables::end);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// The worst moment for a fork: the epoch of a histogram is never beside the shard of another.
    #[test]
    fn the_shard_comes_before_its_epoch() {
        let (old, new) = (ptr::without_provenance_mut(0x1000), ptr::without_provenance_mut(0x2000));
        let entry = Cell::new(Entry { epoch: 7, shard: old });
        let mut seen = None;
        Entry::replace(&entry, Entry { epoch: 8, shard: new }, || seen = Some(entry.get()));
        let seen = seen.unwrap();
        assert_eq!((seen.epoch, seen.shard), (7, new));
        assert_eq!((entry.get().epoch, entry.get().shard), (8, new));
    }
}
