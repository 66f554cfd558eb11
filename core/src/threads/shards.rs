//! The shards of a histogram: which there are, and which of them have no owner.

use core::ptr::{self, NonNull};

use crate::cells::cell::Tallies;
use crate::error::{Error, Result};
use crate::platform::atomics::AtomicPtr;
use crate::platform::atomics::Ordering::*;
use crate::platform::lock::Lock;
use crate::threads::tables;

/// A shard; its cells lie behind it. Aligned so that no two writers share a cache line, nor a pair of lines that the
/// hardware fetches together.
#[repr(C, align(128))]
pub(crate) struct ShardHead {
    pub(crate) tallies: Tallies,
    /// The next of all shards of the histogram; never changes once it is one of them.
    pub(crate) next: *mut ShardHead,
    /// The next free one, while this one is free; under the lock of the free list.
    pub(crate) next_free: *mut ShardHead,
}

/// The shards of a histogram, of whatever cells.
#[repr(C, align(64))]
pub(crate) struct Shards {
    /// All shards, newest first. Only ever added to.
    pub(crate) all: AtomicPtr<ShardHead>,
    /// Those that have no owner.
    free: Lock<FreeList>,
    /// No other histogram of this process had it, so that threads tell their shards apart. Not 0.
    pub(crate) epoch: u64,
    /// Where a thread's table has its shard of this histogram, in bytes.
    pub(crate) table_offset: u32,
}

struct FreeList(*mut ShardHead);

// SAFETY: free shards are touched by none but the holder of the lock.
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

    /// Takes a free shard, if there is one, whose counts stay what they are. The lock orders the adds of the last owner before
    /// ours. [`Error::Unsupported`] where nobody can take one, nor give one back, any more: see [`Lock::with`].
    pub(crate) fn take_free(&self) -> Result<Option<NonNull<ShardHead>>> {
        let take = |FreeList(free): &mut FreeList| {
            let shard = NonNull::new(*free)?;
            // SAFETY: a shard on the list is alive, and its link ours under the lock. (By the pointer: a reference to the
            // shard would reach what readers and its last owner use.)
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
                // SAFETY: alive as long as the histogram, and its link ours by the caller's promise. By the pointer, since
                // readers have references to the rest of it.
                unsafe { (*shard.as_ptr()).next_free = *free };
                *free = shard.as_ptr();
            })
        });
    }

    /// Adds a new shard for readers to find.
    pub(crate) fn publish(&self, mut shard: NonNull<ShardHead>) {
        let mut newest = self.all.load(Relaxed);
        loop {
            // SAFETY: not published yet, so ours alone.
            unsafe { shard.as_mut() }.next = newest;
            // Release: whoever finds the shard finds it initialised.
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
            // SAFETY: published shards stay until the histogram goes; `next` was written before that.
            next = unsafe { (*shard.as_ptr()).next };
            Some(shard)
        })
    }
}
