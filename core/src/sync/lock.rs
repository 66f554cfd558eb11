//! The lock of the cold paths.

#[cfg(loom)]
use loom::sync::Mutex;
#[cfg(not(loom))]
use std::sync::Mutex;

/// Data that one thread at a time works on.
pub(crate) struct Lock<T> {
    data: Mutex<T>,
    /// Shows thread sanitizers the order of the holders, which std keeps from them.
    #[cfg(picollo_tsan)]
    turn: super::AtomicUsize,
}

impl<T> Lock<T> {
    super::const_unless_loom! {
        pub(crate) const fn new(data: T) -> Lock<T> {
            Lock {
                data: Mutex::new(data),
                #[cfg(picollo_tsan)]
                turn: super::AtomicUsize::new(0),
            }
        }
    }

    /// Works on the data, which is as the last holder left it.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        // No code under the locks of this crate panics, so what a poisoned lock protects is still good.
        let mut data = self.data.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        #[cfg(picollo_tsan)]
        self.turn.load(super::Ordering::Acquire);
        let result = work(&mut data);
        #[cfg(picollo_tsan)]
        self.turn.store(1, super::Ordering::Release);
        result
    }
}
