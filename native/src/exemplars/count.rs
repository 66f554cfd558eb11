//! How many of a thing this process has.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::os::thread::process;

/// The lower half counts; the upper one says in which process, since a child has its parent's number and none of its things.
#[derive(Debug)]
pub(super) struct Count(AtomicU64);

/// One that counts, until it is dropped; with the process that it counts in.
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

    /// One more, where there are fewer than this.
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

impl Counted {
    /// Whether what counts is this process's, and not its parent's.
    pub(super) fn is_of_this_process(&self) -> bool {
        self.process == process()
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        // In a child, those of its parent are not counted, and it may have some of its own.
        if !self.is_of_this_process() {
            return;
        }
        let next = |word| (count(word) > 0).then(|| word - 1);
        let _ = self.of.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
    }
}
