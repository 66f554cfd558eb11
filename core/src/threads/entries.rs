//! The place in which a thread counts for the first few live thread-local histograms. The thread's storage has an entry
//! for each of them, so that a record finds its cells by one comparison without a table.
//!
//! An entry is a *limit* and a pointer to cells, both combined with the histogram's *key*. The key is a multiple of
//! `2^26`, more than any index, and its upper bits are a number that no other histogram of the process has. A record
//! takes `index | key`. If that is below the limit `length | key`, the value is in range and the entry is this
//! histogram's, filled by this thread:
//!
//! - the index of a value above the range is `length` or more, and below `2^26`;
//! - that of a value below the range has wrapped around: its upper bits are ones, which no key has, and stay so;
//! - an empty entry has the limit 0;
//! - an entry left by an earlier histogram has a limit below this one's key, because entries are taken under the lock
//!   that numbers histograms: each new owner of an entry has a higher number than all earlier ones.
//!
//! So nobody clears entries when a histogram goes. A thread may keep entries of dead histograms indefinitely, refill
//! them for the current owner, die unnoticed, or be left behind by a fork. Only a leftover of a histogram with a higher
//! number would be mistaken, so the order matters. Threads share nothing except the numbers.
//!
//! The pointer is that to the cells minus the key, so that `index | key` leads to the correct cell without another
//! instruction. It is computed with wrapping arithmetic, and points to a cell again before it is used.
//!
//! Signal handlers see entries at any moment. The cells are written before the limit: a handler in between sees the new
//! cells beside the limit of a dead histogram, or 0, and finds nothing. Once a record has passed the comparison, the
//! entry does not change as long as the histogram and the thread live.

use crate::layout::layout::MAX_INDEX;

/// The number of low bits of a key that are 0.
const INDEX_BITS: u32 = 26;
const _: () = assert!(MAX_INDEX < 1 << INDEX_BITS);

/// Returns the key of the histogram with this number; `None` if the numbers are too large to fit.
pub(crate) fn key_of(number: u64) -> Option<u64> {
    // The upper bits of a key are neither 0, as for histograms without an entry, nor all ones.
    (number != 0 && number < (1 << (64 - INDEX_BITS)) - 1).then_some(number << INDEX_BITS)
}

/// The entries that belong to live histograms. Under the lock of the registry.
pub(crate) struct Taken(u32);

impl Taken {
    pub(crate) const NONE: Taken = Taken(0);

    /// Takes an entry, if one is free.
    pub(crate) fn take(&mut self) -> Option<usize> {
        let free = self.0.trailing_ones() as usize;
        (free < COUNT).then(|| {
            self.0 |= 1 << free;
            free
        })
    }

    pub(crate) fn give_back(&mut self, entry: usize) {
        self.0 &= !(1 << entry);
    }
}

#[cfg(all(picollo_initial_exec, target_arch = "x86_64"))]
mod chosen {
    use core::arch::{asm, global_asm};

    pub const COUNT: usize = 16;
    /// A limit and a pointer.
    const SIZE: usize = 16;
    /// The entries, and the limit of one that stays empty.
    const BYTES: usize = COUNT * SIZE + 8;
    const _: () =
        assert!(BYTES + size_of::<usize>() <= 320, "what initial-exec storage may take, with the slot");

    macro_rules! entries {
        () => {
            crate::threads::slot::symbol!("entries")
        };
    }

    global_asm!(
        ".pushsection .tbss,\"awT\",%nobits",
        ".p2align 4",
        concat!(".globl ", entries!()),
        concat!(".hidden ", entries!()),
        concat!(".type ", entries!(), ", %object"),
        concat!(".size ", entries!(), ", {bytes}"),
        concat!(entries!(), ":"),
        ".zero {bytes}",
        ".popsection",
        bytes = const BYTES,
    );

    /// Returns the offset of an entry from the thread pointer; `None` means the entry that stays empty.
    pub fn place(entry: Option<usize>) -> i32 {
        let first: i64;
        // SAFETY: this reads an entry of the global offset table, which the loader has filled.
        unsafe {
            asm!(
                concat!("mov {first}, qword ptr [rip + ", entries!(), "@GOTTPOFF]"),
                first = out(reg) first,
                options(pure, readonly, nostack, preserves_flags)
            );
        }
        (first + (entry.unwrap_or(COUNT) * SIZE) as i64) as i32
    }

    #[inline(always)]
    pub fn cells(place: i32, keyed: u64) -> Option<*mut u8> {
        let cells;
        // The compiler assumes that both have side effects, so they stay in this order: a signal handler before the
        // comparison may fill the entry.
        // SAFETY: the place is that of an entry, and all threads have entries.
        unsafe {
            asm!(
                "cmp {keyed}, qword ptr fs:[{place}]",
                "jae {absent}",
                keyed = in(reg) keyed,
                place = in(reg) i64::from(place),
                absent = label { return None },
                options(nostack, readonly)
            );
            asm!(
                "mov {cells}, qword ptr fs:[{place} + 8]",
                place = in(reg) i64::from(place),
                cells = out(reg) cells,
                options(nostack, readonly, preserves_flags)
            );
        }
        Some(cells)
    }

    pub fn fill(place: i32, limit: u64, cells: *mut u8) {
        // SAFETY: the place is that of an entry, not the one that stays empty, as callers make sure.
        unsafe {
            asm!(
                "mov qword ptr fs:[{place} + 8], {cells}",
                "mov qword ptr fs:[{place}], {limit}",
                place = in(reg) i64::from(place),
                cells = in(reg) cells,
                limit = in(reg) limit,
                options(nostack, preserves_flags)
            );
        }
    }
}

/// For models and Miri: the same, in a thread-local variable.
#[cfg(any(loom, miri))]
mod chosen {
    use core::cell::Cell;

    pub const COUNT: usize = if cfg!(loom) { 2 } else { 16 };

    type Entries = [Cell<(u64, *mut u8)>; COUNT + 1];

    const fn empty() -> Entries {
        [const { Cell::new((0, core::ptr::null_mut())) }; COUNT + 1]
    }

    #[cfg(not(loom))]
    std::thread_local! {
        static ENTRIES: Entries = const { empty() };
    }
    #[cfg(loom)]
    loom::thread_local! {
        static ENTRIES: Entries = empty();
    }

    pub fn place(entry: Option<usize>) -> i32 {
        entry.unwrap_or(COUNT) as i32
    }

    pub fn cells(place: i32, keyed: u64) -> Option<*mut u8> {
        let (limit, cells) =
            ENTRIES.try_with(|entries| entries[place as usize].get()).unwrap_or(empty()[0].get());
        (keyed < limit).then_some(cells)
    }

    pub fn fill(place: i32, limit: u64, cells: *mut u8) {
        // Only loom ends entries.
        let _ = ENTRIES.try_with(|entries| entries[place as usize].set((limit, cells)));
    }
}

/// There are no entries here: records use the table.
#[cfg(not(any(all(picollo_initial_exec, target_arch = "x86_64"), loom, miri)))]
mod chosen {
    pub const COUNT: usize = 0;

    pub fn place(_: Option<usize>) -> i32 {
        0
    }

    #[inline(always)]
    pub fn cells(_: i32, _: u64) -> Option<*mut u8> {
        None
    }

    pub fn fill(_: i32, _: u64, _: *mut u8) {}
}

pub(crate) use chosen::{COUNT, cells, fill, place};

/// Empties the entries of the calling thread, which is ending.
pub(crate) fn empty() {
    for entry in 0..COUNT {
        fill(place(Some(entry)), 0, core::ptr::null_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_tell_every_index_apart() {
        let indices = [0, 1, 2, 1000, MAX_INDEX];
        let numbers = [1, 2, 3, 1 << 20, (1 << 38) - 3, (1 << 38) - 2];
        for (at, number) in numbers.into_iter().enumerate() {
            let key = key_of(number).unwrap();
            for length in indices.into_iter().filter(|&length| length > 0) {
                let limit = length | key;
                for index in indices {
                    assert_eq!(index | key < limit, index < length);
                    assert!(index.wrapping_sub(MAX_INDEX + 1) | key >= limit, "below the range");
                    for earlier in &numbers[..at] {
                        assert!(index | key >= length | key_of(*earlier).unwrap(), "of a dead histogram");
                    }
                }
            }
        }
        assert_eq!([0, (1 << 38) - 1, 1 << 38, u64::MAX].map(key_of), [None; 4]);
    }

    #[test]
    fn entries_are_taken_again() {
        let mut taken = Taken::NONE;
        for entry in 0..COUNT {
            assert_eq!(taken.take(), Some(entry));
        }
        assert_eq!(taken.take(), None);
        if COUNT > 0 {
            taken.give_back(1);
            assert_eq!((taken.take(), taken.take()), (Some(1), None));
        }
    }
}
