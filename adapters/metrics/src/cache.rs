//! The keys that a thread has used. They lead a macro to its handle without a lock, and without reading memory that
//! other threads write.

use std::cell::{Cell, RefCell};
use std::thread::LocalKey;

use hashbrown::HashTable;
use metrics::Key;

/// A thread that uses more keys forgets one for each further key, and looks it up again under the lock.
const MOST: usize = 4096;

// In a full cache, a key at or after this bucket is forgotten next.
thread_local!(static NEXT: Cell<usize> = const { Cell::new(0) });

pub(crate) type Cache<H> = HashTable<Slot<H>>;

pub(crate) struct Slot<H> {
    key: Key,
    recorder: u64,
    handle: H,
}

impl<H> Slot<H> {
    #[inline]
    fn is_for(&self, recorder: u64, key: &Key) -> bool {
        // Keys in the same memory are equal, as those of literals are. Our own is alive, so nothing reused its memory.
        let (ours, theirs) = (self.key.labels().as_slice(), key.labels().as_slice());
        let is_same = std::ptr::eq(self.key.name(), key.name()) && std::ptr::eq(ours, theirs);
        self.recorder == recorder && (is_same || self.key == *key)
    }
}

/// The hashes of keys are sums without a final mixing step.
#[inline]
fn hash(recorder: u64, key: &Key) -> u64 {
    (key.get_hash() ^ recorder).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32)
}

/// The handle of a key, from this thread's cache if it is there.
#[inline]
pub(crate) fn cached<H: Clone>(
    cache: &'static LocalKey<RefCell<Cache<H>>>,
    recorder: u64,
    key: &Key,
    make: impl Fn() -> H,
) -> H {
    let hashed = hash(recorder, key);
    // The cache is gone while the thread ends, and in use while an allocator counts what we allocate.
    let known = cache.try_with(|cache| {
        let cache = cache.try_borrow().ok()?;
        Some(cache.find(hashed, |slot| slot.is_for(recorder, key))?.handle.clone())
    });
    if let Ok(Some(handle)) = known {
        return handle;
    }
    let handle = make();
    let _ = cache.try_with(|cache| {
        let Ok(mut cache) = cache.try_borrow_mut() else { return };
        if cache.len() >= MOST {
            // The next one in the order of buckets, half of which are in use. After a round, all unused keys are gone.
            let buckets = cache.num_buckets();
            for place in (0..buckets).map(|step| (NEXT.get() + step) % buckets) {
                if let Ok(entry) = cache.get_bucket_entry(place) {
                    entry.remove();
                    NEXT.set(place + 1);
                    break;
                }
            }
        }
        let slot = Slot { key: key.to_retained(), recorder, handle: handle.clone() };
        cache.insert_unique(hashed, slot, |slot| hash(slot.recorder, &slot.key));
    });
    handle
}

#[cfg(test)]
mod tests {
    use super::*;

    thread_local!(static CACHE: RefCell<Cache<usize>> = const { RefCell::new(Cache::new()) });

    #[test]
    fn each_recorder_finds_its_keys_however_many_there_are() {
        let keys: Vec<Key> = (0..3 * MOST).map(|i| Key::from_name(format!("key_{i}"))).collect();
        for (number, key) in keys.iter().chain(&keys).enumerate() {
            for recorder in [1, 2] {
                let handle = 2 * (number % keys.len()) + recorder as usize;
                assert_eq!(cached(&CACHE, recorder, key, || handle), handle);
                // The second call follows immediately, so the key must be known.
                assert_eq!(cached(&CACHE, recorder, key, || usize::MAX), handle);
            }
        }
        assert_eq!(CACHE.with_borrow(Cache::len), MOST);
        // One key too many, in turn.
        let mut cycle = keys[..=MOST].iter().cycle();
        let mut misses = |calls| {
            let found = Cell::new(0);
            for key in cycle.by_ref().take(calls) {
                cached(&CACHE, 1, key, || found.replace(found.get() + 1));
            }
            found.get()
        };
        misses(4 * MOST);
        let missed = misses(4 * MOST);
        assert!(missed < MOST / 2, "{missed}");
    }
}
