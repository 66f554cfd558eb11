//! Counts how many objects of a kind this process has.

use core::sync::atomic::{AtomicU64, Ordering};

use picollo_native::seam::thread::process;

/// The lower half is the count. The upper half is the process, since a forked child inherits the number but no objects.
#[derive(Debug)]
pub(super) struct Count(AtomicU64);

/// Represents one counted object until it is dropped, and remembers its process.
#[derive(Debug)]
pub(super) struct Counted {
    of: &'static Count,
    process: u32,
}

fn count(word: u64) -> u64 {
    if word >> 32 == u64::from(process()) { word & u64::from(u32::MAX) } else { 0 }
}

impl Count {
    pub(super) const fn new() -> Count {
        Count(AtomicU64::new(0))
    }

    /// Counts one more, if there are fewer than `cap`.
    pub(super) fn add(&'static self, cap: usize) -> Option<Counted> {
        let cap = (cap as u64).min(u64::from(u32::MAX));
        let next = |word| {
            let count = count(word);
            (count < cap).then(|| u64::from(process()) << 32 | (count + 1))
        };
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, next)
            .ok()
            .map(|_| Counted { of: self, process: process() })
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        // A child does not count its parent's objects, and may have some itself.
        if self.process == process() {
            let next = |word| (count(word) > 0).then(|| word - 1);
            let _ = self.of.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        }
    }
}

#[test]
fn no_more_than_the_cap_are_counted() {
    static COUNT: Count = Count::new();
    let one = COUNT.add(1);
    assert!(one.is_some() && COUNT.add(1).is_none() && COUNT.add(2).is_some());
    drop(one);
    assert!(COUNT.add(1).is_some());
}
