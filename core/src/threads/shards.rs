//! The shards of a histogram, and which of them have no owner.

use core::ptr::{self, NonNull};

use crate::cells::tallies::Tallies;
use crate::error::{Error, Result};
use crate::platform::atomics::AtomicPtr;
use crate::platform::atomics::Ordering::*;
use crate::platform::lock::Lock;
use crate::threads::tables;

/// A shard; its cells lie after it. The alignment prevents two writers from sharing a cache line, or a pair of lines
/// that the hardware fetches together.
#[repr(C, align(128))]
pub(crate) struct ShardHead {
    pub(crate) tallies: Tallies,
    /// The next of all shards of the histogram; it never changes after publication.
    pub(crate) next: *mut ShardHead,
    /// The next free shard, while this one is free; under the lock of the free list.
    pub(crate) next_free: *mut ShardHead,
}

/// The shards of a histogram, for any cell type.
#[repr(C, align(64))]
pub(crate) struct Shards {
    /// All shards, newest first. Only ever added to.
    pub(crate) all: AtomicPtr<ShardHead>,
    /// The shards without an owner.
    free: Lock<FreeList>,
    /// Unique among the histograms of this process, so that threads can identify their shards. Not 0.
    pub(crate) epoch: u64,
    /// The offset, in bytes, of this histogram's shard in a thread's table.
    pub(crate) table_offset: u32,
}

struct FreeList(*mut ShardHead);

// SAFETY: only the holder of the lock touches free shards.
unsafe impl Send for FreeList {}

impl Shards {
    pub(crate) fn new() -> Shards {
        Shards {
            all: AtomicPtr::new(ptr::null_mut()),
            free: Lock::new(FreeList(ptr::null_mut())),
            epoch: 0,
            table_offset: 0,
        }
    }

    /// Takes a free shard, if there is one, without changing its counts. The lock orders the adds of the last owner
    /// before ours. Fails with [`Error::Unsupported`] if nobody can take or return one any more: see [`Lock::with`].
    pub(crate) fn take_free(&self) -> Result<Option<NonNull<ShardHead>>> {
        let take = |FreeList(free): &mut FreeList| {
            let shard = NonNull::new(*free)?;
            // SAFETY: a shard on the list is alive, and its link is ours under the lock. (This uses the pointer: a
            // reference to the shard would include data that readers and its last owner use.)
            *free = unsafe { (*shard.as_ptr()).next_free };
            Some(shard)
        };
        tables::undisturbed(|| self.free.with(take)).ok_or(Error::Unsupported)
    }

    /// Makes a shard free for the next owner.
    ///
    /// # Safety
    /// The shard must be one of this histogram, and its owner must not use it any more.
    pub(crate) unsafe fn give_back(&self, shard: NonNull<ShardHead>) {
        tables::undisturbed(|| {
            self.free.with(|FreeList(free)| {
                // SAFETY: it is alive as long as the histogram, and its link is ours by the caller's promise. This uses
                // the pointer, because readers have references to the rest of it.
                unsafe { (*shard.as_ptr()).next_free = *free };
                *free = shard.as_ptr();
            })
        });
    }

    /// Adds a new shard for readers to find.
    pub(crate) fn publish(&self, mut shard: NonNull<ShardHead>) {
        let mut newest = self.all.load(Relaxed);
        loop {
            // SAFETY: it is not published yet, so it is ours alone.
            unsafe { shard.as_mut() }.next = newest;
            // Release: whoever finds the shard finds it initialized.
            match self.all.compare_exchange(newest, shard.as_ptr(), Release, Relaxed) {
                Ok(_) => return,
                Err(current) => newest = current,
            }
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = NonNull<ShardHead>> + '_ {
        // Acquire, paired with `publish`.
        let mut next = self.all.load(Acquire);
        core::iter::from_fn(move || {
            let shard = NonNull::new(next)?;
            // SAFETY: published shards stay as long as the histogram; `next` was written before publication.
            next = unsafe { (*shard.as_ptr()).next };
            Some(shard)
        })
    }
}
