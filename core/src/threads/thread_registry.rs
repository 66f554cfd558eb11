//! The live thread-local histograms and threads. A thread that ends finds here which of its shards still have a
//! histogram, and a new thread finds whether one ended unnoticed in its place.
//!
//! Nothing is allocated or freed under the lock: the allocator may itself record, and then come back here.

use alloc::vec::Vec;
use core::ptr::NonNull;

use crate::error::{Error, Result};
use crate::platform::lock::Lock;
use crate::threads::entries::{self, Taken};
use crate::threads::shards::{ShardHead, Shards};
use crate::threads::tables::{self, Entry, Table};

struct Registry {
    /// The index of a histogram in every thread's table is its index here. Indices are reused, epochs never, so that an
    /// entry of an earlier histogram is recognizable.
    living: Vec<Option<Living>>,
    /// The epoch of the newest histogram.
    newest: u64,
    /// The taken entries in the threads' storage. A histogram that takes one is newer than all its earlier owners.
    taken: Taken,
    /// No index below this one is free.
    lowest_free: usize,
    /// The addresses of the threads' thread-local storage, in ascending order, and their newest tables. No two threads
    /// that live at the same time have the same address.
    threads: Vec<(usize, NonNull<Table>)>,
}

/// A live histogram.
#[derive(Clone, Copy)]
struct Living {
    epoch: u64,
    shards: NonNull<Shards>,
    entry: Option<usize>,
}

/// The data that identifies a histogram.
pub(crate) struct Found {
    /// Its index in every thread's table.
    pub(crate) index: u32,
    /// Unique among the histograms of this process. Not 0.
    pub(crate) epoch: u64,
    /// Its entry in every thread's storage, and its key there.
    pub(crate) entry: Option<(usize, u64)>,
}

const NONE: Registry =
    Registry { living: Vec::new(), newest: 0, taken: Taken::NONE, lowest_free: 0, threads: Vec::new() };

// SAFETY: the pointers are followed only while the histograms are registered, and their targets are thread-safe.
unsafe impl Send for Registry {}

#[cfg(not(loom))]
static REGISTRY: Lock<Registry> = Lock::new(NONE);
#[cfg(loom)]
loom::lazy_static! {
    static ref REGISTRY: Lock<Registry> = Lock::new(NONE);
}

/// Works on the registry under its lock. A record that interrupts this goes to the shared counters, so that it does not
/// wait for the lock. Returns `None` in a process that can no longer take it: see [`Lock::with`].
fn with<R>(work: impl FnOnce(&mut Registry) -> R) -> Option<R> {
    tables::undisturbed(|| REGISTRY.with(work))
}

/// Works on one of the registry's lists, with room for one more element. Fails with [`Error::OutOfMemory`], and with
/// [`Error::Unsupported`] in a process that can no longer take the registry.
fn with_room<T: Copy, R>(
    list: fn(&mut Registry) -> &mut Vec<T>,
    mut work: impl FnMut(&mut Registry) -> Result<R>,
) -> Result<R> {
    let mut spare = Vec::new();
    loop {
        let worked = with(|registry| {
            let list = list(registry);
            if list.len() == list.capacity() {
                if spare.capacity() <= list.len() {
                    return Err(list.len());
                }
                // The elements move, and their old memory is freed after the lock.
                spare.extend_from_slice(list);
                core::mem::swap(list, &mut spare);
            }
            Ok(work(registry))
        });
        match worked {
            None => return Err(Error::Unsupported),
            Some(Ok(result)) => return result,
            // Other threads may be faster and take the room, or make more: so retry.
            Some(Err(length)) => {
                spare = Vec::new();
                spare.try_reserve_exact((2 * length).max(4)).map_err(|_| Error::OutOfMemory)?;
            }
        }
    }
}

/// Registers a histogram. Returns the data that identifies it. Fails as [`with_room`] does.
pub(crate) fn enter(shards: NonNull<Shards>) -> Result<Found> {
    with_room(
        |registry| &mut registry.living,
        |registry| {
            let living = &mut registry.living;
            let mut index = registry.lowest_free;
            while living.get(index).is_some_and(Option::is_some) {
                index += 1;
            }
            // The offset in tables must fit into 32 bits, too.
            let code = u32::try_from(index).ok().filter(|&code| code < 1 << 28).ok_or(Error::OutOfMemory)?;
            if index == living.len() {
                living.push(None);
            }
            registry.lowest_free = index + 1;
            registry.newest += 1;
            let epoch = registry.newest;
            let key = entries::key_of(epoch);
            let entry = key.and_then(|key| Some((registry.taken.take()?, key)));
            living[index] = Some(Living { epoch, shards, entry: entry.map(|(entry, _)| entry) });
            Ok(Found { index: code, epoch, entry })
        },
    )
}

/// Removes a histogram: from now on, threads that end do not touch its shards. (If this process cannot take the
/// registry, neither can they.)
pub(crate) fn leave(index: u32) {
    // Freed after the lock. An unloaded library must leave nothing behind, so the last histogram takes the list.
    let _last = with(|registry| {
        if let Some(living) = registry.living.get_mut(index as usize) {
            if let Some(entry) = living.take().and_then(|living| living.entry) {
                registry.taken.give_back(entry);
            }
            registry.lowest_free = registry.lowest_free.min(index as usize);
        }
        while registry.living.last().is_some_and(Option::is_none) {
            registry.living.pop();
        }
        registry.living.is_empty().then(|| core::mem::take(&mut registry.living))
    });
}

/// Registers the newest table of the thread that lives at `place`. Returns the previous one, if any: its own, or that
/// of a thread that ended there.
pub(crate) fn note_table(place: usize, table: NonNull<Table>) -> Result<Option<NonNull<Table>>> {
    with_room(
        |registry| &mut registry.threads,
        |registry| {
            let threads = &mut registry.threads;
            Ok(match threads.binary_search_by_key(&place, |&(place, _)| place) {
                Ok(index) => Some(core::mem::replace(&mut threads[index].1, table)),
                Err(index) => {
                    threads.insert(index, (place, table));
                    None
                }
            })
        },
    )
}

/// Removes the thread that lives at `place`, and takes its shards back.
pub(crate) fn end_thread(place: usize, entries: &[Entry]) {
    // As in `leave`.
    let _last = with(|registry| {
        if let Ok(index) = registry.threads.binary_search_by_key(&place, |&(place, _)| place) {
            registry.threads.remove(index);
        }
        registry.threads.is_empty().then(|| core::mem::take(&mut registry.threads))
    });
    take_back(entries);
}

/// Takes back the shards of a thread that ended, for the histograms that still live.
pub(crate) fn take_back(entries: &[Entry]) {
    with(|registry| {
        for (entry, living) in entries.iter().zip(&registry.living) {
            if let Some(Living { epoch, shards, .. }) = living
                && *epoch == entry.epoch
                && let Some(shard) = NonNull::new(entry.shard.cast::<ShardHead>())
            {
                // SAFETY: the histogram cannot leave while we hold the lock, and the shard belongs to it, because the
                // epoch does. The thread will not use it any more.
                unsafe { shards.as_ref().give_back(shard) };
            }
        }
    });
}
