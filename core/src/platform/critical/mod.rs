//! Atomics for targets that lack them: each access that the hardware cannot do in one step is a critical section.

#[cfg(picollo_critical_32)]
pub(crate) mod words;

use core::cell::UnsafeCell;
use core::sync::atomic::Ordering;

#[cfg(not(feature = "critical-section"))]
compile_error!(
    "this target lacks atomics that Picollo needs: enable its feature `critical-section`, and link an implementation"
);
#[cfg(feature = "critical-section")]
use critical_section::with;
#[cfg(not(feature = "critical-section"))]
fn with<R>(_: impl FnOnce(()) -> R) -> R {
    unreachable!("the build fails above")
}

/// 64 bits, for targets that cannot load or store them in one step.
#[repr(C, align(8))]
#[derive(Debug, Default)]
pub struct AtomicU64(UnsafeCell<u64>);

// SAFETY: every access is inside a critical section.
unsafe impl Sync for AtomicU64 {}

impl AtomicU64 {
    /// A new word.
    pub const fn new(value: u64) -> AtomicU64 {
        AtomicU64(UnsafeCell::new(value))
    }

    fn update(&self, change: impl FnOnce(u64) -> u64) -> u64 {
        // SAFETY: critical sections exclude each other, and this is the only place that touches the word.
        with(|_| unsafe {
            let old = *self.0.get();
            *self.0.get() = change(old);
            old
        })
    }

    pub(crate) fn load(&self, _: Ordering) -> u64 {
        self.update(|value| value)
    }

    pub(crate) fn store(&self, value: u64, _: Ordering) {
        self.update(|_| value);
    }

    #[cfg(feature = "alloc")]
    pub(crate) fn swap(&self, value: u64, _: Ordering) -> u64 {
        self.update(|_| value)
    }

    pub(crate) fn fetch_add(&self, value: u64, _: Ordering) -> u64 {
        self.update(|old| old.wrapping_add(value))
    }

    pub(crate) fn compare_exchange(
        &self,
        current: u64,
        new: u64,
        _: Ordering,
        _: Ordering,
    ) -> Result<u64, u64> {
        let old = self.update(|old| if old == current { new } else { old });
        if old == current { Ok(old) } else { Err(old) }
    }

    #[cfg(feature = "alloc")]
    pub(crate) fn fetch_min(&self, value: u64, _: Ordering) -> u64 {
        self.update(|old| old.min(value))
    }

    #[cfg(feature = "alloc")]
    pub(crate) fn fetch_max(&self, value: u64, _: Ordering) -> u64 {
        self.update(|old| old.max(value))
    }
}
