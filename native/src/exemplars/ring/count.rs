//! How many rings this process has, or of what else there may be so many.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::os::thread::process;

/// Of rings.
pub(super) static RINGS: AtomicU64 = AtomicU64::new(0);

/// One that counts, until it is dropped; with the process that it counts in.
///
/// The word's lower half counts; the upper one says in which process, since a child has its parent's number and none of what is counted.
#[derive(Debug)]
pub(crate) struct Counted {
    word: &'static AtomicU64,
    process: u64,
}

fn number(word: u64) -> u64 {
    if word >> 32 == u64::from(process() as u32) { word & u64::from(u32::MAX) } else { 0 }
}

impl Counted {
    /// One more, where there are fewer than this.
    pub(crate) fn new(word: &'static AtomicU64, cap: usize) -> Option<Counted> {
        let cap = (cap as u64).min(u64::from(u32::MAX));
        let next = |word| {
            let number = number(word);
            (number < cap).then(|| u64::from(process() as u32) << 32 | (number + 1))
        };
        word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next)
            .ok()
            .map(|_| Counted { word, process: process() })
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        // In a child, those of its parent are not counted, and it may have some of its own.
        if self.process != process() {
            return;
        }
        let next = |word| (number(word) > 0).then(|| word - 1);
        let _ = self.word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
    }
}
