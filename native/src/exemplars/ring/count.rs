//! How many rings this process has.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::os::thread::process;

/// The lower half counts; the upper one says in which process, since a child has its parent's number and none of its rings.
static RINGS: AtomicU64 = AtomicU64::new(0);

/// One that counts, until it is dropped.
#[derive(Debug)]
pub(crate) struct Counted(());

fn rings(word: u64) -> u64 {
    if word >> 32 == u64::from(process() as u32) { word & u64::from(u32::MAX) } else { 0 }
}

impl Counted {
    /// One more, where there are fewer than this.
    pub(crate) fn new(cap: usize) -> Option<Counted> {
        let cap = (cap as u64).min(u64::from(u32::MAX));
        let next = |word| {
            let rings = rings(word);
            (rings < cap).then(|| u64::from(process() as u32) << 32 | (rings + 1))
        };
        RINGS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).ok().map(|_| Counted(()))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        // In a child, those of its parent are not counted.
        let next = |word| (rings(word) > 0).then(|| word - 1);
        let _ = RINGS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
    }
}
