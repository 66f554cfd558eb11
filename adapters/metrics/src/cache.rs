//! The keys that a thread has used. They lead a macro to its handle without a lock, and without reading memory that
//! other threads write.

use std::cell::RefCell;
use std::thread::LocalKey;

use metrics::Key;

/// A power of two. A thread that uses more keys forgets some, and looks them up again under the lock.
const MOST: usize = 4096;
/// The largest distance of a key from its place.
const REACH: usize = 8;

pub(crate) struct Cache<H> {
    slots: Vec<Option<Slot<H>>>,
    used: usize,
    /// The slot of a full run that is replaced next.
    victim: usize,
}

struct Slot<H> {
    key: Key,
    recorder: u64,
    handle: H,
}

impl<H: Clone> Cache<H> {
    pub(crate) const fn new() -> Cache<H> {
        Cache { slots: Vec::new(), used: 0, victim: 0 }
    }

    /// The slots that may hold a key.
    #[inline]
    fn places(&self, recorder: u64, key: &Key) -> impl Iterator<Item = usize> + use<H> {
        let mask = self.slots.len().wrapping_sub(1);
        // The hashes of keys are sums without a final mixing step.
        let mixed = (key.get_hash() ^ recorder).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        (0..REACH.min(self.slots.len())).map(move |step| (mixed as usize + step) & mask)
    }

    #[inline]
    fn find(&self, recorder: u64, key: &Key) -> Option<&H> {
        for place in self.places(recorder, key) {
            let slot = self.slots[place].as_ref()?;
            if slot.recorder == recorder && slot.is(key) {
                return Some(&slot.handle);
            }
        }
        None
    }

    fn insert(&mut self, slot: Slot<H>) {
        if self.used * 2 >= self.slots.len() && self.slots.len() < MOST {
            let larger = (self.slots.len() * 2).max(16);
            let old = std::mem::take(&mut self.slots);
            self.slots.resize_with(larger, || None);
            self.used = 0;
            old.into_iter().flatten().for_each(|slot| self.insert(slot));
        }
        let mut places = self.places(slot.recorder, &slot.key);
        let free = places.find(|&place| self.slots[place].is_none());
        let place = free.unwrap_or_else(|| {
            self.victim += 1;
            self.places(slot.recorder, &slot.key).nth(self.victim % REACH).expect("a run is as long")
        });
        self.used += usize::from(self.slots[place].is_none());
        self.slots[place] = Some(slot);
    }
}

impl<H> Slot<H> {
    #[inline]
    fn is(&self, key: &Key) -> bool {
        // Keys in the same memory are equal, as those of literals are. Our own is alive, so nothing reused its memory.
        let (ours, theirs) = (self.key.labels().as_slice(), key.labels().as_slice());
        std::ptr::eq(self.key.name(), key.name()) && std::ptr::eq(ours, theirs) || self.key == *key
    }
}

/// The handle of a key, from this thread's cache if it is there.
#[inline]
pub(crate) fn cached<H: Clone>(
    cache: &'static LocalKey<RefCell<Cache<H>>>,
    recorder: u64,
    key: &Key,
    make: impl Fn() -> H,
) -> H {
    // The cache is gone while the thread ends, and in use while an allocator counts what we allocate.
    let known = cache.try_with(|cache| cache.try_borrow().ok()?.find(recorder, key).cloned());
    if let Ok(Some(handle)) = known {
        return handle;
    }
    let handle = make();
    let _ = cache.try_with(|cache| {
        if let Ok(mut cache) = cache.try_borrow_mut() {
            cache.insert(Slot { key: key.to_retained(), recorder, handle: handle.clone() });
        }
    });
    handle
}

#[cfg(test)]
mod tests {
    use super::*;

    thread_local!(static CACHE: RefCell<Cache<usize>> = const { RefCell::new(Cache::new()) });

    #[test]
    fn finds_what_it_made_however_many_keys_there_are() {
        let keys: Vec<Key> = (0..3 * MOST).map(|i| Key::from_name(format!("key_{i}"))).collect();
        for _ in 0..2 {
            for (number, key) in keys.iter().enumerate() {
                for recorder in [1, 2] {
                    assert_eq!(
                        cached(&CACHE, recorder, key, || 2 * number + recorder as usize),
                        2 * number + recorder as usize
                    );
                    // The second call follows immediately, so the key must be known.
                    assert_eq!(cached(&CACHE, recorder, key, || usize::MAX), 2 * number + recorder as usize);
                }
            }
        }
        CACHE.with_borrow(|cache| {
            assert_eq!(cache.slots.len(), MOST);
            assert_eq!(cache.used, cache.slots.iter().flatten().count());
        });
    }

    #[test]
    fn recorders_have_their_own() {
        let key = Key::from_static_name("same");
        for recorder in (0..64).chain(0..64) {
            assert_eq!(cached(&CACHE, recorder, &key, || recorder as usize), recorder as usize);
        }
    }

    #[test]
    fn few_keys_stay() {
        let keys: Vec<Key> = (0..200).map(|i| Key::from_name(format!("few_{i}"))).collect();
        for key in &keys {
            cached(&CACHE, 1, key, || 7);
        }
        let forgotten = keys.iter().filter(|key| cached(&CACHE, 1, key, || 8) == 8).count();
        assert!(forgotten <= 2, "{forgotten}");
    }
}
